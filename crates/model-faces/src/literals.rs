//! Literals that the wire and the domain both have, one to one. Both directions come from one list and are exhaustive, so
//! that a literal that one side lacks does not compile.

use heddle_api::wire::{connections, model_connections, model_deployments, usage};
use heddle_models::records::{BudgetPeriod, Capability, DeploymentState, MemoryPolicy, Phase, UsageAxis};
use heddle_models_wire::Family;

macro_rules! alike {
    ($($domain:ident = $module:ident::$wire:ident ($to_wire:ident $(, $to_domain:ident)?) { $($variant:ident),+ })+) => {$(
        /// The literal on the wire.
        #[must_use]
        pub const fn $to_wire(of: $domain) -> $module::$wire {
            match of {
                $($domain::$variant => $module::$wire::$variant,)+
            }
        }

        alike! { @back $domain $module $wire [$($to_domain)?] $($variant)+ }
    )+};
    (@back $domain:ident $module:ident $wire:ident [] $($variant:ident)+) => {};
    (@back $domain:ident $module:ident $wire:ident [$to_domain:ident] $($variant:ident)+) => {
        /// Meaning of the literal on the wire.
        #[must_use]
        pub const fn $to_domain(of: $module::$wire) -> $domain {
            match of {
                $($module::$wire::$variant => $domain::$variant,)+
            }
        }
    };
}

alike! {
    Capability = model_connections::ModelCapability (capability, capability_of) {
        Chat, Embeddings, JsonSchema, Rerank, Stream, Tools, Vision
    }
    BudgetPeriod = model_connections::BudgetPeriod (budget_period, budget_period_of) { Day, Month }
    Phase = connections::TestPhase (test_phase) { Dns, Connect, Tls, Auth, Request }
    DeploymentState = model_deployments::DeploymentState (deployment_state, deployment_state_of) {
        Ready, Loading, Unloaded, Missing, Error
    }
    MemoryPolicy = model_deployments::MemoryPolicy (memory_policy, memory_policy_of) { OnDemand, Pinned, Unloaded }
    UsageAxis = usage::UsageAxis (usage_axis, usage_axis_of) { Day, Deployment, User, Workflow }
}

/// The family of a provider on the wire; models inside the service have none.
#[must_use]
pub const fn family(of: Option<Family>) -> model_connections::ModelFamily {
    use model_connections::ModelFamily as To;
    match of {
        Some(Family::OpenAi) => To::OpenAiCompatible,
        Some(Family::AzureOpenAi) => To::AzureOpenAi,
        Some(Family::Anthropic) => To::Anthropic,
        Some(Family::Gemini) => To::Gemini,
        Some(Family::Ollama) => To::Ollama,
        None => To::Local,
    }
}
