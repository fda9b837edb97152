//! Answers of models as they are read.

use serde_json::{Value, json};

/// A call of a tool that a model asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub id: String,
    pub name: String,
    /// Arguments as the model wrote them.
    pub arguments: String,
}

fn first(answer: &Value) -> Option<&Value> {
    answer.pointer("/choices/0/message")
}

/// The text of an answer; none where it has none.
pub(crate) fn text(answer: &Value) -> Option<String> {
    match first(answer)?.get("content")? {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            Some(texts.collect::<Vec<_>>().join(""))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// The texts of messages, one after another. What a model says beside a call is nothing that it was given.
pub(crate) fn contents(messages: &Value) -> String {
    let text = |message: &Value| match message.get("content")? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let all = messages.as_array().into_iter().flatten();
    let all = all.filter(|message| message.get("tool_calls").is_none()).filter_map(text);
    all.collect::<Vec<_>>().join("\n\n")
}

/// The message of an answer as it stands in a conversation from then on.
pub(crate) fn message(answer: &Value) -> Value {
    let mut message = first(answer).cloned().unwrap_or_default();
    if let Some(own) = message.as_object_mut() {
        own.entry("role").or_insert_with(|| "assistant".into());
    }
    message
}

/// The calls of tools that an answer asks for.
pub(crate) fn calls(answer: &Value) -> Vec<Call> {
    let calls = first(answer).and_then(|message| message.get("tool_calls")).and_then(Value::as_array);
    let call = |own: &Value| {
        let text = |pointer: &str| own.pointer(pointer).and_then(Value::as_str);
        let arguments = match own.pointer("/function/arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        Some(Call { id: text("/id")?.to_owned(), name: text("/function/name")?.to_owned(), arguments })
    };
    calls.into_iter().flatten().filter_map(call).collect()
}

/// The reason for which an answer ended.
pub(crate) fn finish(answer: &Value) -> &str {
    answer.pointer("/choices/0/finish_reason").and_then(Value::as_str).unwrap_or("stop")
}

/// The usage of an answer, as the node gives it.
pub(crate) fn usage(answer: &Value) -> Value {
    let number = |pointer: &str| answer.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    json!({
        "inputTokens": number("/usage/prompt_tokens"),
        "outputTokens": number("/usage/completion_tokens"),
        "cachedTokens": number("/usage/prompt_tokens_details/cached_tokens"),
        "reasoningTokens": number("/usage/completion_tokens_details/reasoning_tokens"),
    })
}

/// Tokens of an answer and what was asked.
pub(crate) fn tokens(answer: &Value) -> u64 {
    let number = |pointer: &str| answer.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    number("/usage/prompt_tokens").saturating_add(number("/usage/completion_tokens"))
}

/// JSON in the text of an answer: all of it, or what stands in a fence or between braces.
pub(crate) fn json_of(text: &str) -> Option<Value> {
    let own = text.trim();
    if let Ok(value) = serde_json::from_str(own) {
        return Some(value);
    }
    let fenced = own.split_once("```").map(|parts| parts.1.trim_start_matches("json"));
    if let Some(value) = fenced.and_then(|rest| serde_json::from_str(rest.split("```").next()?.trim()).ok()) {
        return Some(value);
    }
    let (from, to) = (own.find(['{', '['])?, own.rfind(['}', ']'])?);
    serde_json::from_str(own.get(from..=to)?).ok()
}
