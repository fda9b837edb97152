//! A real engine: what it says is not judged, but that it is said whole, in the right form and counted.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::services::Service;
use super::{KEY, Lines, PROMPT, content, stream};
use crate::doors::COUNT;
use crate::place::{Place, data, refusal};

/// The wires that the engine speaks, each with the address that a connection has.
const WIRES: [Wire; 2] = [
    Wire { name: "engine llama-cpp", kind: "llama-cpp", path: "/v1" },
    Wire { name: "engine anthropic", kind: "anthropic", path: "" },
];

struct Wire {
    name: &'static str,
    kind: &'static str,
    path: &'static str,
}

/// Runs the checks.
pub(super) async fn checks(place: &Place, engine: &Service, lines: &mut Lines) -> Result<()> {
    for wire in WIRES {
        let url = format!("{}{}", engine.url, wire.path);
        let connection = place.connection(wire.name, wire.kind, &url, Some(KEY)).await?;
        lines.tell(&format!("{} test", wire.name), tested(place, &connection, true).await);
        let alias = wire.name.replace(' ', "-");
        let model = match wire.kind {
            "llama-cpp" => {
                let found = discovered(place, &connection).await;
                let model = found.as_ref().cloned().unwrap_or_else(|_| "smollm2".to_owned());
                lines.tell(&format!("{} discover", wire.name), found);
                model
            }
            _other => "smollm2".to_owned(),
        };
        let deployment = place.deployment(&connection, &alias, &model, &json!({})).await?;
        lines.tell(&format!("{} chat", wire.name), chat(place, &alias).await);
        lines.tell(&format!("{} stream", wire.name), streamed(place, &alias).await);
        lines.tell(&format!("{} tokens", wire.name), tokens(place, &alias).await);
        if wire.kind == "llama-cpp" {
            lines.tell(&format!("{} schema", wire.name), schema(place, &alias).await);
            lines.tell(&format!("{} same seed, same words", wire.name), twice(place, &alias).await);
        }
        lines.tell(&format!("{} usage", wire.name), counted(place, &deployment).await);
    }
    let wrong = place
        .connection("engine wrong key", "llama-cpp", &format!("{}/v1", engine.url), Some("wrong"))
        .await?;
    lines.tell("engine wrong key test", tested(place, &wrong, false).await);
    place.deployment(&wrong, "engine-wrong", "smollm2", &json!({})).await?;
    lines.tell("engine wrong key chat", let_in(place).await);
    Ok(())
}

fn asked(alias: &str, more: &Value) -> Value {
    let mut body = json!({"model": alias, "max_tokens": 12, "temperature": 0,
        "messages": [{"role": "user", "content": format!("Say hello. {PROMPT}")}]});
    if let (Some(members), Some(more)) = (body.as_object_mut(), more.as_object()) {
        members.extend(more.clone());
    }
    body
}

async fn tested(place: &Place, connection: &str, good: bool) -> Result<String> {
    let path = format!("/api/model-providers/connections/{connection}/test");
    let told = data(place.act(&path).await?)?;
    ensure!(told.get("ok").and_then(Value::as_bool) == Some(good), "{told}");
    if !good {
        ensure!(told.get("phase").and_then(Value::as_str) == Some("auth"), "another phase: {told}");
    }
    Ok(told.get("message").and_then(Value::as_str).unwrap_or_default().to_owned())
}

async fn discovered(place: &Place, connection: &str) -> Result<String> {
    let path = format!("/api/model-providers/connections/{connection}/models/discover");
    let told = data(place.act(&path).await?)?;
    let model = told
        .pointer("/items/0/model")
        .and_then(Value::as_str)
        .with_context(|| format!("no model: {told}"))?;
    let context = told.pointer("/items/0/contextLength").and_then(Value::as_u64);
    ensure!(context == Some(8_192), "its context is {context:?}");
    Ok(model.to_owned())
}

async fn chat(place: &Place, alias: &str) -> Result<String> {
    let told = data(place.chat(&asked(alias, &json!({}))).await?)?;
    let text = content(&told)?;
    let number = |path: &str| told.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    let (input, output) = (number("/usage/prompt_tokens"), number("/usage/completion_tokens"));
    ensure!(!text.is_empty() && input > 0 && (1..=12).contains(&output), "{told}");
    ensure!(number("/usage/total_tokens") == input + output, "the sum is another: {told}");
    Ok(text)
}

async fn streamed(place: &Place, alias: &str) -> Result<String> {
    let body = asked(alias, &json!({"stream": true, "stream_options": {"include_usage": true}}));
    let stream = stream(&place.chat(&body).await?)?;
    stream.whole()?;
    ensure!(stream.usage.is_some(), "no usage is told");
    Ok(stream.text)
}

/// Tokens of a question before it is asked: the engine's count where its wire has one, else an estimate.
async fn tokens(place: &Place, alias: &str) -> Result<String> {
    let answer = place.post(COUNT.path, &COUNT.question(alias, &format!("Say hello. {PROMPT}"))).await?;
    ensure!(answer.status == 200, "{}", refusal(&answer));
    let told = answer.json();
    let tokens = told.get("input_tokens").and_then(Value::as_u64).unwrap_or_default();
    ensure!(tokens > 0, "{told}");
    Ok(format!("{tokens} tokens"))
}

async fn schema(place: &Place, alias: &str) -> Result<String> {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["greeting", "count"],
        "properties": {"greeting": {"type": "string", "maxLength": 12}, "count": {"type": "integer"}}});
    let format = json!({"response_format": {"type": "json_schema",
        "json_schema": {"name": "greeting", "strict": true, "schema": schema}}, "max_tokens": 80});
    let text = content(&data(place.chat(&asked(alias, &format)).await?)?)?;
    let value: Value = serde_json::from_str(&text).with_context(|| format!("no JSON: {text}"))?;
    let right =
        value.get("greeting").is_some_and(Value::is_string) && value.get("count").is_some_and(Value::is_i64);
    ensure!(right && value.as_object().is_some_and(|members| members.len() == 2), "{value}");
    Ok(text)
}

async fn twice(place: &Place, alias: &str) -> Result<String> {
    let mut texts = Vec::new();
    for _ in 0..2 {
        texts.push(content(&data(place.chat(&asked(alias, &json!({"seed": 7}))).await?)?)?);
    }
    ensure!(texts.first() == texts.last(), "{texts:?}");
    Ok(texts.swap_remove(0))
}

async fn counted(place: &Place, deployment: &str) -> Result<String> {
    let counted = place.comes_to(deployment, 2).await?;
    ensure!(counted.calls >= 2 && counted.failed == 0, "{counted:?}");
    Ok(format!("{} calls", counted.calls))
}

/// A provider's refusal of a key is a failure of the service's, never the caller's 401.
async fn let_in(place: &Place) -> Result<String> {
    let answer = place.chat(&asked("engine-wrong", &json!({}))).await?;
    ensure!(answer.status == 503, "{}", refusal(&answer));
    ensure!(!answer.text().contains("wrong-key"), "the key is shown");
    Ok(refusal(&answer))
}
