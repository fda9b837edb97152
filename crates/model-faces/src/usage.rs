//! Usage of models by their calls, as records and as answers.

use heddle_api::wire::usage as to;
use heddle_models::records::{UsageKey, UsageTotal};

/// Sums over the calls of a day, or of a thing, as they are shown.
#[must_use]
pub fn row(of: &UsageTotal) -> to::UsageRow {
    let sums = &of.sums;
    to::UsageRow {
        key: match &of.key {
            UsageKey::Day(day) => day.clone(),
            UsageKey::Id(id) => id.to_string(),
        },
        calls: sums.calls,
        failed: sums.failed,
        aborted: sums.aborted,
        input_tokens: sums.tokens.input,
        output_tokens: sums.tokens.output,
        cached_tokens: sums.tokens.cached,
        reasoning_tokens: sums.tokens.reasoning,
        cost_micros: sums.cost_micros,
        total_ms: sums.total_ms,
    }
}
