//! Whole answers.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{End, MessageForm, usage_json};
use crate::error::{AnswerFault, WireError};
use crate::estimate::tokens_of_bytes;
use crate::message::Content;
use crate::response::{AssistantMessage, FinishReason};
use crate::spoken::{arguments, call_id, json as read};
use crate::usage::{OpenAiUsage, Usage};

#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<OpenAiUsage>,
    /// Words of the service about an answer that is no language model's.
    #[serde(default)]
    heddle: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: u32,
    message: AssistantMessage,
    #[serde(default, deserialize_with = "crate::response::finish")]
    finish_reason: Option<FinishReason>,
    /// The text that ended it, where the provider tells it.
    #[serde(default)]
    stop_reason: Option<Value>,
}

/// The answer.
pub(super) fn whole(form: &MessageForm, completion: &[u8]) -> Result<Bytes, WireError> {
    let whole: Whole = read(completion)?;
    let choice = whole.choices.into_iter().min_by_key(|choice| choice.index).ok_or(AnswerFault::Malformed)?;
    let finish = choice.finish_reason.ok_or(AnswerFault::Truncated)?;
    let id = whole.id.unwrap_or_default();
    let said = Said::of(form, &choice.message, &id)?;
    let usage = whole.usage.map_or(
        Usage { input: form.input, output: tokens_of_bytes(said.weight), ..Usage::default() },
        |usage| usage.counted(),
    );
    let stop = form.stopped_by(choice.stop_reason.as_ref());
    let end = End::of(finish, said.calls, said.refused, stop);
    let mut body = json!({
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": whole.model.unwrap_or_default(),
        "content": said.blocks,
        "stop_reason": end.reason,
        "stop_sequence": end.stop,
        "usage": usage_json(usage),
    });
    if let (Some(heddle), Some(members)) = (whole.heddle, body.as_object_mut()) {
        members.insert("heddle".into(), heddle);
    }
    Ok(Bytes::from(body.to_string()))
}

/// Words of the model as blocks.
struct Said {
    blocks: Vec<Value>,
    calls: bool,
    refused: bool,
    /// Bytes of text and arguments.
    weight: u64,
}

impl Said {
    fn of(form: &MessageForm, message: &AssistantMessage, answer: &str) -> Result<Self, WireError> {
        let mut blocks = Vec::new();
        if form.thoughts {
            match (&message.thinking_blocks, message.reasoning_content.as_deref()) {
                (Some(signed), _) if !signed.is_empty() => blocks.extend(signed.iter().cloned()),
                (_, Some(text)) if !text.is_empty() => {
                    blocks.push(json!({"type": "thinking", "thinking": text, "signature": ""}));
                }
                (_, _) => {}
            }
        }
        let mut text = message.content.as_ref().map(Content::text).unwrap_or_default();
        let refusal = message.refusal.as_deref().unwrap_or_default();
        text.push_str(refusal);
        let mut weight = text.len();
        if !text.is_empty() {
            blocks.push(json!({"type": "text", "text": text}));
        }
        for (number, call) in message.calls().iter().enumerate() {
            let Ok(input) = arguments(&call.function, "") else { return Err(AnswerFault::Malformed.into()) };
            let id = if call.id.is_empty() { call_id(answer, number) } else { call.id.clone() };
            weight += call.function.arguments.len();
            blocks.push(json!({"type": "tool_use", "id": id, "name": call.function.name, "input": input}));
        }
        let calls = !message.calls().is_empty();
        Ok(Self { blocks, calls, refused: !refusal.is_empty(), weight: weight as u64 })
    }
}
