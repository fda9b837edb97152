//! Defaults of a deployment, each for the calls that know it.

use serde_json::{Map, Value};

use crate::records::{Capability, Deployment};

/// Members that chats alone have.
const OF_CHATS: &[&str] = &[
    "cachedContent",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "modalities",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "safetySettings",
    "seed",
    "service_tier",
    "stop",
    "temperature",
    "think",
    "thinking",
    "thinkingConfig",
    "tool_choice",
    "tools",
    "top_k",
    "top_logprobs",
    "top_p",
    "verbosity",
];
/// Members that embeddings alone have.
const OF_EMBEDDINGS: &[&str] = &["dimensions", "encoding_format", "input_type", "taskType", "title"];

/// Defaults by what is called.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallDefaults {
    /// Those of chats.
    pub(crate) chat: Map<String, Value>,
    /// Those of embeddings.
    pub(crate) embeddings: Map<String, Value>,
}

impl CallDefaults {
    /// The defaults of a deployment. Of one that both chats and embeds, neither call is given what only the other has; of
    /// one that does one thing all are given, so that what it does not know is told.
    pub(crate) fn of(deployment: &Deployment) -> Self {
        let can = |one| deployment.capabilities.has(one);
        let does_both = can(Capability::Chat) && can(Capability::Embeddings);
        let without = |others: &[&str]| {
            let all = deployment.defaults.0.iter();
            let own = all.filter(|(name, _)| !does_both || !others.contains(&name.as_str()));
            own.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        Self { chat: without(OF_EMBEDDINGS), embeddings: without(OF_CHATS) }
    }
}

/// Whether vectors by the defaults of two deployments may stand for each other: their form aside, whatever shapes them is the
/// same.
pub(crate) fn same_shape(one: &Deployment, other: &Deployment) -> bool {
    let shaping = OF_EMBEDDINGS.iter().filter(|name| **name != "encoding_format");
    shaping.into_iter().all(|name| one.defaults.0.get(*name) == other.defaults.0.get(*name))
}
