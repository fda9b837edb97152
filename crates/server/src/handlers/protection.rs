//! Catalogue of the protection of workflows.

use heddle_api::operations::ops;
use heddle_api::wire::protection::{
    ProtectionAction, ProtectionCatalog, ProtectionCheck, ProtectionEngine, ProtectionPreset, ProtectionRule,
    ProtectionStage,
};
use heddle_guardrails::catalog::{self, Entry, PresetEntry, PresetRule};
use heddle_guardrails::{Action, Engine, Stage};

use crate::call::Call;
use crate::reply::{HandlerResult, Response};

/// GET /api/workflows/protection/catalog
pub(crate) async fn catalog(_: Call<ops::GetProtectionCatalog>) -> HandlerResult {
    let known = catalog::catalog();
    let presets = known.presets.into_iter().map(preset).collect();
    let checks = known.checks.into_iter().map(check).collect();
    Response::data(200, ProtectionCatalog { presets, checks })
}

fn preset(of: PresetEntry) -> ProtectionPreset {
    let rule = |of: PresetRule| ProtectionRule {
        check_id: of.check_id,
        stages: of.stages.into_iter().map(stage).collect(),
        action: action(of.action),
    };
    ProtectionPreset {
        id: of.id.to_owned(),
        description: of.description.to_owned(),
        rules: of.rules.into_iter().map(rule).collect(),
    }
}

fn check(of: Entry) -> ProtectionCheck {
    ProtectionCheck {
        id: of.id.to_owned(),
        title: of.title.to_owned(),
        description: of.description.to_owned(),
        stages: of.stages.into_iter().map(stage).collect(),
        engine: match of.engine {
            Engine::Deterministic => ProtectionEngine::Deterministic,
            Engine::Model => ProtectionEngine::Model,
        },
        actions: of.actions.into_iter().map(action).collect(),
        default_threshold: of.default_threshold,
        configuration_schema: of.configuration_schema,
    }
}

const fn stage(of: Stage) -> ProtectionStage {
    match of {
        Stage::Input => ProtectionStage::Input,
        Stage::Output => ProtectionStage::Output,
        Stage::ToolCall => ProtectionStage::ToolCall,
        Stage::ToolResult => ProtectionStage::ToolResult,
    }
}

const fn action(of: Action) -> ProtectionAction {
    match of {
        Action::Flag => ProtectionAction::Flag,
        Action::Redact => ProtectionAction::Redact,
        Action::Review => ProtectionAction::Review,
        Action::Block => ProtectionAction::Block,
    }
}
