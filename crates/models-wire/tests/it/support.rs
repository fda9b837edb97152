//! Shorthands of the tests.

use bytes::Bytes;
use heddle_models_wire::{Answer, ChatRequest, ChatResponse, Family, StreamEvent, Target, WireError};
use serde_json::Value;

pub(crate) fn request(body: Value) -> ChatRequest {
    ChatRequest::read(Bytes::from(body.to_string())).unwrap()
}

pub(crate) fn target(family: Family) -> Target {
    Target::new(family, "their-model")
}

pub(crate) fn answer() -> Answer {
    Answer { id: "chatcmpl-1".into(), created: 1_700_000_000, include_usage: false }
}

/// The body that goes to a provider.
pub(crate) fn said(family: Family, body: Value) -> Value {
    let sent = target(family).chat(&request(body)).unwrap();
    serde_json::from_slice(&sent.body).unwrap()
}

/// The member at which a request is refused.
pub(crate) fn refused(family: Family, body: Value) -> String {
    let error = ChatRequest::read(Bytes::from(body.to_string()))
        .and_then(|request| target(family).chat(&request))
        .unwrap_err();
    assert_eq!(error.failure().status(), 400, "{error}");
    error.at().unwrap().to_owned()
}

pub(crate) fn hello() -> Value {
    serde_json::json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
}

/// A body with more members.
pub(crate) fn with(mut body: Value, more: Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

pub(crate) fn answered(family: Family, body: &Value) -> Result<ChatResponse, WireError> {
    let request = request(hello());
    target(family).chat_response(&request, &answer(), Bytes::from(body.to_string()))
}

/// Outcome of a stream.
#[derive(Debug, PartialEq)]
pub(crate) struct Streamed {
    pub(crate) chunks: Vec<Value>,
    pub(crate) done: bool,
    pub(crate) error: Option<WireError>,
}

/// Reads a stream in pieces of a size.
pub(crate) fn streamed(target: &Target, request: &ChatRequest, stream: &[u8], size: usize) -> Streamed {
    let cuts: Vec<usize> = (size..stream.len()).step_by(size.max(1)).collect();
    cut(target, request, stream, &cuts)
}

/// Reads a stream that is cut at places.
pub(crate) fn cut(target: &Target, request: &ChatRequest, stream: &[u8], cuts: &[usize]) -> Streamed {
    let answer = Answer { include_usage: request.include_usage(), ..answer() };
    let mut decoder = target.stream(request, answer);
    let mut events = Vec::new();
    let mut from = 0;
    let mut result = Ok(());
    for to in cuts.iter().copied().chain([stream.len()]) {
        result = result.and_then(|()| decoder.push(&stream[from..to], &mut events));
        from = to;
    }
    let result = result.and_then(|()| decoder.finish(&mut events));
    if let Err(error) = &result {
        assert_eq!(decoder.push(b"data: more\n\n", &mut Vec::new()).as_ref(), Err(error));
    }
    let mut out = Streamed { chunks: Vec::new(), done: false, error: result.err() };
    for event in events {
        assert!(!out.done, "nothing follows the end");
        match event {
            StreamEvent::Chunk(chunk) => {
                assert!(!chunk.json.contains(&b'\n'));
                out.chunks.push(serde_json::from_slice(&chunk.json).unwrap());
            }
            StreamEvent::Done => out.done = true,
        }
    }
    out
}

/// The text of one member of all pieces.
pub(crate) fn text(chunks: &[Value], member: &str) -> String {
    chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"][member].as_str()).collect()
}

/// The reasons in the chunks.
pub(crate) fn ends(chunks: &[Value]) -> Vec<String> {
    chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["finish_reason"].as_str().map(str::to_owned))
        .collect()
}

/// The calls of tools, put together as a client does it: id, name, arguments.
pub(crate) fn calls(chunks: &[Value]) -> Vec<[String; 3]> {
    let mut calls: Vec<[String; 3]> = Vec::new();
    for chunk in chunks {
        for piece in chunk["choices"][0]["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = piece["index"].as_u64().unwrap() as usize;
            if calls.len() <= index {
                calls.resize(index + 1, Default::default());
            }
            let part = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            calls[index][0].push_str(&part(&piece["id"]));
            calls[index][1].push_str(&part(&piece["function"]["name"]));
            calls[index][2].push_str(&part(&piece["function"]["arguments"]));
        }
    }
    calls
}
