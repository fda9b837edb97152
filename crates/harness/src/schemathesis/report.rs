//! NDJSON report of the tool: statuses seen for each operation.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// Operations about things that no call of the document makes: work is set aside by the background, or where a start
/// refuses an event; a job is one that a worker holds; an evaluation needs a model of decisions; a second factor is removed
/// after a code of this minute; a sign-in by a provider needs one, and leads on, and an account is unlinked from one by
/// which somebody signed in; and a stream without an end is left out. Their success is held by the server's own tests.
const MADE_BY_NO_CALL: [&str; 13] = [
    "DELETE /api/dead-letters/{deadLetterId}",
    "POST /api/dead-letters/{deadLetterId}/retry",
    "POST /api/jobs/{jobId}/complete",
    "POST /api/jobs/{jobId}/fail",
    "POST /api/jobs/{jobId}/error",
    "POST /api/jobs/{jobId}/extend",
    "POST /api/workflows/{workflowId}/dmn/evaluate",
    "DELETE /api/auth/totp",
    "GET /api/auth/oidc/{provider}/start",
    "GET /api/auth/oidc/{provider}/callback",
    "DELETE /api/users/{userId}/providers/{provider}",
    "GET /api/runs/events/stream",
    // Without the files of a model that embeds.
    "POST /api/embeddings",
];

/// Statuses that were seen, per operation, with how often.
#[derive(Debug, Default)]
pub(crate) struct Seen(pub BTreeMap<String, BTreeMap<u16, u64>>);

impl Seen {
    /// Adds one report.
    pub(crate) fn read(&mut self, path: &Path) -> Result<()> {
        let text = std::fs::read_to_string(path).with_context(|| format!("no report {}", path.display()))?;
        for line in text.lines() {
            self.add(&serde_json::from_str(line).context("the report is not as expected")?);
        }
        Ok(())
    }

    fn add(&mut self, line: &Value) {
        let recorder = &line["ScenarioFinished"]["recorder"];
        let Some(label) = recorder["label"].as_str() else { return };
        let method = label.split(' ').next().unwrap_or_default();
        let statuses = self.0.entry(label.to_owned()).or_default();
        for interaction in recorder["interactions"].as_object().into_iter().flatten().map(|(_, value)| value)
        {
            // Calls with a method that the path does not have count for no operation.
            if interaction["request"]["method"].as_str() != Some(method) {
                continue;
            }
            if let Some(status) =
                interaction["response"]["status_code"].as_u64().and_then(|code| u16::try_from(code).ok())
            {
                *statuses.entry(status).or_default() += 1;
            }
        }
    }

    /// Calls in all.
    pub(crate) fn calls(&self) -> u64 {
        self.0.values().flat_map(BTreeMap::values).sum()
    }

    /// Operations of the list without a success; a redirect counts where it is what the operation does.
    pub(crate) fn without_success(&self, operations: &BTreeSet<String>) -> Vec<String> {
        let succeeded = |label: &String| {
            self.0
                .get(label)
                .is_some_and(|statuses| statuses.keys().any(|status| (200..300).contains(status)))
        };
        operations
            .iter()
            .filter(|label| !succeeded(label) && !MADE_BY_NO_CALL.contains(&label.as_str()))
            .map(|label| format!("{label}: {:?}", self.0.get(label).cloned().unwrap_or_default()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn successes_are_counted_per_operation_and_method() {
        let scenario = |label: &str, calls: &[(&str, u16)]| {
            let interactions: serde_json::Map<String, Value> = calls
                .iter()
                .enumerate()
                .map(|(number, (method, status))| {
                    (
                        number.to_string(),
                        json!({"request": {"method": method}, "response": {"status_code": status}}),
                    )
                })
                .collect();
            json!({"ScenarioFinished": {"recorder": {"label": label, "interactions": interactions}}})
        };
        let mut seen = Seen::default();
        seen.add(&json!({"EngineStarted": {}}));
        seen.add(&scenario("GET /a", &[("GET", 404), ("GET", 200)]));
        seen.add(&scenario("PUT /a", &[("PUT", 400), ("TRACE", 200)]));
        seen.add(&json!({"ScenarioFinished": {"recorder": {"label": "GET /b", "interactions": {"1": {"request": {"method": "GET"}}}}}}));
        assert_eq!(seen.calls(), 3);
        let operations = ["GET /a", "PUT /a", "GET /b", "GET /c"].map(str::to_owned).into();
        let without = seen.without_success(&operations);
        assert_eq!(without, ["GET /b: {}", "GET /c: {}", "PUT /a: {400: 1}"]);
    }
}
