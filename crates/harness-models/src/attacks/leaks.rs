//! Keys and prompts that must be seen nowhere: a provider says back what it was sent, and refuses with it.

use anyhow::Result;
use heddle_harness_kit::client::Method;
use serde_json::json;

use super::{Ground, Told};
use crate::doors::{COUNT, DOORS};

/// Key of the connection.
const KEY: &str = "sk-canary-of-an-attack-0123456789";
/// Words of the question.
const PROMPT: &str = "canary-of-an-attacked-prompt";

/// Has the provider say back the key in answers and refusals, points a connection elsewhere without its key, and looks
/// for both in every answer, list, event and log. `log` gives what the server wrote so far.
///
/// # Errors
/// When the ground cannot be prepared.
pub async fn leaky(ground: &Ground, log: impl AsyncFn() -> String) -> Result<Told> {
    let mut told = Told::default();
    let connection = ground.connection(&ground.owner, KEY).await?;
    for model in ["leaky", "status-401", "status-500", "silent"] {
        let alias = ground.alias(model);
        let waits = json!({"timeouts": {"firstTokenMs": 500, "totalMs": 2_000}});
        ground.owner.deployment(&connection, &alias, model, &waits).await?;
        for door in DOORS.into_iter().chain([COUNT]) {
            let path = door.path;
            let answer = ground.owner.post(path, &door.question(&alias, PROMPT)).await;
            // Tokens are counted here: the provider has no count of its own.
            let wanted: &[u16] = if door == COUNT { &[200] } else { &[400, 429, 503] };
            told.status(format_args!("{model} by {path}"), &answer, wanted);
            let text = answer.map(|answer| answer.text()).unwrap_or_default();
            told.must(!text.contains(KEY), format_args!("{model} by {path} shows the key: {text}"));
        }
    }
    told.must(sent_key(ground), "the provider was never sent the key: nothing was tried");
    let path = format!("/api/model-providers/connections/{connection}");
    let elsewhere = json!({"baseUrl": "http://127.0.0.1:9/v1", "revision": 1});
    let moved = ground.owner.caller.request(&Method::PATCH, &path).json(&elsewhere).send().await;
    told.status("another address without the key", &moved, &[400]);
    for path in [
        path.as_str(),
        "/api/model-providers/connections?limit=200",
        "/api/model-providers/deployments?limit=200",
        "/api/audit-events?limit=200",
        "/api/usage?by=deployment",
        "/metrics",
    ] {
        let text = ground.owner.get(path).await?.text();
        told.must(!text.contains(KEY), format_args!("{path} shows the key"));
        told.must(!text.contains(PROMPT), format_args!("{path} shows the prompt"));
    }
    let text = log().await;
    told.must(!text.contains(KEY), "the log shows the key");
    told.must(!text.contains(PROMPT), "the log shows the prompt");
    Ok(told)
}

/// Whether the provider got the key, as it must: else the looks prove nothing.
fn sent_key(ground: &Ground) -> bool {
    ground.mock.seen().kept().iter().any(|kept| kept.head.contains(KEY) && kept.body.contains(PROMPT))
}
