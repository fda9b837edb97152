//! Whole answers.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{ANSWER_TOOL, AT_A_STOP, Tokens, answers_by_tool, finish};
use crate::error::{AnswerFault, WireError};
use crate::family::{Family, Target};
use crate::message::{FunctionCall, ToolCall};
use crate::refusal;
use crate::request::ChatRequest;
use crate::response::{Answer, ChatResponse, Made, completion};
use crate::spoken::json;

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    model: String,
    #[serde(default)]
    content: Option<Vec<Value>>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    stop_sequence: Option<String>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Option<Value>,
}

/// The answer.
pub(crate) fn chat_response(
    target: &Target,
    request: &ChatRequest,
    answer: &Answer,
    body: &[u8],
) -> Result<ChatResponse, WireError> {
    let body: Body = json(body)?;
    if let Some(error) = body.error {
        return Err(refusal::of_error(Family::Anthropic, &error));
    }
    let by_tool = answers_by_tool(target, request)?;
    let mut made = Made::default();
    let mut answered = false;
    for block in body.content.ok_or(AnswerFault::Malformed)? {
        answered |= take(block, by_tool, answered, &mut made)?;
    }
    let reason = body.stop_reason.ok_or(AnswerFault::Truncated)?;
    made.finish = Some(finish(&reason, answered && made.calls.is_empty()));
    made.stop = body.stop_sequence.filter(|_| reason == AT_A_STOP);
    let model = if body.model.is_empty() { target.model.as_str() } else { &body.model };
    completion(answer, model, vec![made], body.usage.map(|tokens| tokens.counted()))
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    error: Option<Value>,
}

/// The tokens of a prompt, as they were counted.
pub(crate) fn count_response(body: &[u8]) -> Result<u64, WireError> {
    let body: Counted = json(body)?;
    if let Some(error) = body.error {
        return Err(refusal::of_error(Family::Anthropic, &error));
    }
    body.input_tokens.ok_or_else(|| AnswerFault::Malformed.into())
}

/// Takes a block; tells whether it was the answer in JSON.
fn take(block: Value, by_tool: bool, answered: bool, made: &mut Made) -> Result<bool, WireError> {
    let text = |name: &str| block.get(name).and_then(Value::as_str).ok_or(AnswerFault::Malformed);
    match text("type")? {
        "text" if answered => {}
        "text" => made.text.push_str(text("text")?),
        "thinking" => {
            made.reasoning.push_str(text("thinking")?);
            made.thinking.push(block);
        }
        "redacted_thinking" => made.thinking.push(block),
        "tool_use" => {
            let input = block.get("input").filter(|input| input.is_object()).ok_or(AnswerFault::Malformed)?;
            if by_tool && text("name")? == ANSWER_TOOL {
                // The answer replaces what was said before it, which is no JSON.
                made.text = input.to_string();
                return Ok(true);
            }
            made.calls.push(ToolCall {
                id: text("id")?.to_owned(),
                kind: "function".to_owned(),
                function: FunctionCall { name: text("name")?.to_owned(), arguments: input.to_string() },
                extra: Map::new(),
            });
        }
        _ => return Err(AnswerFault::Malformed.into()),
    }
    Ok(false)
}
