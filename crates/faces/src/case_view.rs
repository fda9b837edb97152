//! Cases as the caller sees them: what every item waits for, and why it is not there yet.

use heddle_api::wire;
use heddle_cases::{CaseState, CaseView};
use heddle_cmmn::plan::CasePlan;
use heddle_engine::{CriterionView, ItemState, ItemType, ItemView, PlanningView, case_view};
use heddle_kernel::{DefinitionKind, RunId, Timestamp};
use heddle_workflows::plan::human_task;
use heddle_workflows::records::Run;
use serde_json::Value;

use crate::literals::case_state;
use crate::run_view;

/// Fault of ours: the plan of a case does not read.
#[derive(Debug, thiserror::Error)]
#[error("the plan of the case {0} does not read")]
pub struct PlanLost(pub RunId);

/// Row of a list: without what is in the case, which may be large.
pub fn row(case: &Run) -> wire::cases::Case {
    let state = &case.snapshot;
    let ended = case.state.is_terminal();
    let tasks = if ended { Vec::new() } else { state.tasks() };
    let incidents = if ended { Vec::new() } else { state.incidents() };
    wire::cases::Case {
        id: case.id.to_string(),
        case_type_id: case.workflow.to_string(),
        version: case.version,
        definition_id: case.process_id.clone(),
        state: case_state(CaseState::of(case)),
        has_incident: case.has_incident,
        revision: case.revision.0,
        business_key: case.business_key.clone(),
        correlation_key: case.correlation_key.clone(),
        parent_run_id: run_view::parent_of(case, DefinitionKind::Workflow),
        parent_case_id: run_view::parent_of(case, DefinitionKind::Case),
        root_id: case.root().to_string(),
        file: None,
        variables: None,
        plan_items: None,
        planning: None,
        human_tasks: tasks.into_iter().map(|open| run_view::task(&human_task(case, open))).collect(),
        incidents: incidents.into_iter().map(|own| run_view::incident(own, &[])).collect(),
        created_at: case.created_at,
        created_by: case.created_by.map(|user| user.to_string()),
        updated_at: case.updated_at,
        ended_at: case.ended_at,
    }
}

/// A case with its plan.
///
/// # Errors
/// A fault of ours for a case without its plan, or of another kind: what it waits for can't be told.
pub fn whole(view: &CaseView, now: Timestamp) -> Result<wire::cases::Case, PlanLost> {
    let state = &view.case.snapshot;
    let lost = || PlanLost(view.case.id);
    let plan = view.plan.as_deref().ok_or_else(lost)?;
    let seen = case_view(plan, state, now).ok_or_else(lost)?;
    // The case plan model is the case itself.
    let items = seen.items.iter().filter(|item| item.item_type != ItemType::CasePlanModel);
    Ok(wire::cases::Case {
        file: Some(state.case_file().and_then(Value::as_object).cloned().unwrap_or_default()),
        variables: Some(state.variables().cloned().unwrap_or_default()),
        plan_items: Some(items.map(|item| plan_item(plan, item)).collect()),
        planning: Some(seen.planning.iter().map(plannable).collect()),
        ..row(&view.case)
    })
}

fn plan_item(plan: &CasePlan, item: &ItemView) -> wire::cases::PlanItem {
    let known = plan.item_ids.get(&item.item_id).and_then(|ix| plan.items.get(*ix as usize));
    let in_stage = item.parent_id.filter(|parent| *parent != heddle_engine::LocalId::ROOT);
    let words = item.options.iter();
    wire::cases::PlanItem {
        id: item.instance_id.to_string(),
        plan_item_id: item.item_id.to_string(),
        definition_id: known.map(|known| known.definition.to_string()).unwrap_or_default(),
        name: item.name.as_deref().map(str::to_owned),
        r#type: type_of(item.item_type),
        state: item_state(item.state),
        parent_id: in_stage.map(|parent| parent.to_string()),
        required: item.required,
        number: item.number,
        planned: item.planned,
        since: item.since,
        waiting_for: item.waiting_for.clone().map(run_view::waiting_for),
        missing: item.criteria.iter().map(missing).collect(),
        options: words.filter_map(|word| wire::cases::PlanItemTransition::parse(word)).collect(),
    }
}

fn missing(criterion: &CriterionView) -> wire::cases::MissingCriterion {
    let parts = criterion.missing.iter().map(|part| wire::cases::MissingOnPart {
        source: part.source_id.to_string(),
        event: part.event.clone(),
    });
    let value = criterion.value.clone().unwrap_or_default();
    let unmet = criterion.condition.as_ref().filter(|_| value != Value::Bool(true));
    wire::cases::MissingCriterion {
        criterion_id: criterion.id.to_string(),
        on_parts: parts.collect(),
        if_part: unmet.map(|text| wire::cases::MissingIfPart { text: text.to_string(), value }),
    }
}

fn plannable(item: &PlanningView) -> wire::cases::PlannableItem {
    let words =
        |roles: &Vec<std::sync::Arc<str>>| -> Vec<String> { roles.iter().map(ToString::to_string).collect() };
    wire::cases::PlannableItem {
        plan_item_id: item.item_id.to_string(),
        name: item.name.as_deref().map(str::to_owned),
        r#type: type_of(item.item_type),
        host_id: item.host_id.to_string(),
        roles: item.roles.iter().map(words).collect(),
        applicable: item.applicable,
        reason: item.reason.clone(),
    }
}

/// The word of the standard.
fn type_of(item: ItemType) -> String {
    let word = serde_json::to_value(item).ok();
    word.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// State of an item. The case plan model alone is ever closed, and with it nothing in it goes on.
const fn item_state(state: ItemState) -> wire::cases::PlanItemState {
    match state {
        ItemState::Available => wire::cases::PlanItemState::Available,
        ItemState::Enabled => wire::cases::PlanItemState::Enabled,
        ItemState::Disabled => wire::cases::PlanItemState::Disabled,
        ItemState::Active => wire::cases::PlanItemState::Active,
        ItemState::Suspended => wire::cases::PlanItemState::Suspended,
        ItemState::Failed => wire::cases::PlanItemState::Failed,
        ItemState::Completed => wire::cases::PlanItemState::Completed,
        ItemState::Terminated | ItemState::Closed => wire::cases::PlanItemState::Terminated,
    }
}
