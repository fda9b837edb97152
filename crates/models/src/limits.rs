//! Rules of limits, waits, prices and residency that callers send.

use heddle_models_local::{ContextWish, Runtime};

use crate::Problems;
use crate::records::{Limits, Memory, MemoryPolicy, ProviderKind, Timeouts};

/// The most of a minute.
const PER_MINUTE: u64 = 1_000_000_000;
/// The most that run at a time.
const AT_ONCE: u32 = 10_000;
/// The longest wait, in milliseconds: an hour.
const LONGEST: u32 = 3_600_000;
/// The longest residency without a call, in seconds: thirty days.
const IDLE: u32 = 2_592_000;

fn within(problems: &mut Problems, field: &str, value: Option<u64>, least: u64, most: u64) {
    if let Some(value) = value
        && !(least..=most).contains(&value)
    {
        problems.add(field, "outOfRange", format!("A whole number from {least} to {most}."));
    }
}

/// Adds what is wrong with limits.
pub(crate) fn check_limits(problems: &mut Problems, limits: &Limits) {
    let Limits { requests_per_minute, tokens_per_minute, concurrency, queue_timeout_ms, budget } = limits;
    within(problems, "limits.requestsPerMinute", requests_per_minute.map(u64::from), 1, PER_MINUTE);
    within(problems, "limits.tokensPerMinute", *tokens_per_minute, 1, PER_MINUTE);
    within(problems, "limits.concurrency", concurrency.map(u64::from), 1, u64::from(AT_ONCE));
    within(problems, "limits.queueTimeoutMs", queue_timeout_ms.map(u64::from), 0, u64::from(LONGEST));
    let Some(budget) = budget else { return };
    if budget.cost_micros.is_none() && budget.tokens.is_none() {
        problems.add("limits.budget", "required", "A budget bounds `costMicros`, `tokens` or both.");
    }
    for (field, value) in
        [("limits.budget.costMicros", budget.cost_micros), ("limits.budget.tokens", budget.tokens)]
    {
        if value.is_some_and(|value| value < 0) {
            problems.add(field, "outOfRange", "A whole number of 0 or more.");
        }
    }
}

/// Adds what is wrong with waits.
pub(crate) fn check_timeouts(problems: &mut Problems, timeouts: &Timeouts) {
    let Timeouts { connect_ms, first_token_ms, between_tokens_ms, total_ms } = timeouts;
    for (field, value) in [
        ("timeouts.connectMs", connect_ms),
        ("timeouts.firstTokenMs", first_token_ms),
        ("timeouts.betweenTokensMs", between_tokens_ms),
        ("timeouts.totalMs", total_ms),
    ] {
        within(problems, field, value.map(u64::from), 1, u64::from(LONGEST));
    }
}

/// Adds what is wrong with a wanted residency.
pub(crate) fn check_memory(problems: &mut Problems, memory: &Memory) {
    within(problems, "idleTtlSeconds", memory.idle_ttl_seconds.map(u64::from), 1, u64::from(IDLE));
    within(problems, "contextLength", memory.context_length.map(u64::from), 1, 100_000_000);
    within(problems, "maxBytes", memory.max_bytes, 1, 1 << 50);
    if memory.idle_ttl_seconds.is_some() && memory.policy != MemoryPolicy::OnDemand {
        problems.add("idleTtlSeconds", "notAllowed", "Only a model on demand is let go when it idles.");
    }
}

/// Adds what the runtime of a type can't be told of a wanted residency.
pub(crate) fn check_wishes(problems: &mut Problems, kind: ProviderKind, memory: &Memory) {
    let Some(runtime) = Runtime::of_type(kind.as_str()) else { return };
    let (told, name) = (runtime.wishes(), runtime.name());
    if memory.idle_ttl_seconds.is_some() && !told.idle {
        let message = format!("{name} can't be told for how long a model stays without a call.");
        problems.add("idleTtlSeconds", "notSupported", message);
    }
    if memory.context_length.is_some() {
        match told.context {
            ContextWish::Always => {}
            ContextWish::WhenHeld if memory.policy == MemoryPolicy::Pinned => {}
            ContextWish::WhenHeld => {
                let message = format!("{name} reads a model with a context of one's own when it is pinned.");
                problems.add("contextLength", "notSupported", message);
            }
            ContextWish::Never => {
                let message = format!("{name} can't be told with which context a model is read.");
                problems.add("contextLength", "notSupported", message);
            }
        }
    }
    if memory.max_bytes.is_some() && !told.bytes {
        let message = format!("{name} does not tell how large its models are before they are read.");
        problems.add("maxBytes", "notSupported", message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wish_that_a_runtime_cannot_be_told_is_refused_by_its_name() {
        let fields = |kind: ProviderKind, memory: Memory| -> Vec<String> {
            let mut problems = Problems::default();
            check_wishes(&mut problems, kind, &memory);
            problems.into_iter().filter_map(|problem| problem.field).collect()
        };
        let all = Memory {
            policy: MemoryPolicy::OnDemand,
            idle_ttl_seconds: Some(60),
            context_length: Some(4_096),
            max_bytes: Some(1),
        };
        let pinned = Memory { policy: MemoryPolicy::Pinned, idle_ttl_seconds: None, ..all.clone() };
        let none = Memory::default();
        assert!(fields(ProviderKind::Ollama, all.clone()).is_empty());
        assert_eq!(fields(ProviderKind::LmStudio, all.clone()), ["idleTtlSeconds", "contextLength"]);
        assert!(fields(ProviderKind::LmStudio, pinned).is_empty());
        for kind in [ProviderKind::LlamaCpp, ProviderKind::Vllm] {
            assert_eq!(fields(kind, all.clone()), ["idleTtlSeconds", "contextLength", "maxBytes"], "{kind}");
            assert!(fields(kind, none.clone()).is_empty());
        }
    }
}
