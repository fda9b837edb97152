//! Answers: what the name of a model says.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::http::{Connection, Request};

/// Bytes of a line that does not end.
const LINE: usize = 32 * 1024 * 1024;
/// Depth of an answer without a bottom.
const DEPTH: usize = 200_000;
/// Numbers of a vector.
const DIMENSIONS: usize = 8;

/// Behaviour of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// Answers at once; a stream has three pieces.
    Instant,
    /// Streams so many pieces, each at once.
    Chunks(u32),
    /// Answers after so many milliseconds.
    Slow(u64),
    /// Says nothing at all, not even a head.
    Silent,
    /// Begins and goes on no more.
    Stalled,
    /// Sends a piece that is no JSON.
    Malformed,
    /// Ends its stream without a reason to.
    Truncated,
    /// Breaks the connection off within a piece.
    Disconnected,
    /// Sends a line without an end.
    LongLine,
    /// Streams without an end.
    Endless,
    /// Answers with JSON without a bottom.
    Deep,
    /// Calls a tool with arguments that are no JSON.
    ToolNotJson,
    /// Answers with the request that it had.
    Echo,
    /// Refuses, and says back the key and the question in its refusal.
    Leaky,
    /// Refuses with a status.
    Status(u16),
}

impl Says {
    /// Behaviour of the model that a request names.
    pub(super) fn of(body: &[u8]) -> Self {
        let name = member(body, b"\"model\"").unwrap_or_default();
        let number = |prefix: &str| name.strip_prefix(prefix).and_then(|number| number.parse::<u64>().ok());
        if let Some(count) = number("chunks-") {
            return Self::Chunks(u32::try_from(count).unwrap_or(u32::MAX));
        }
        if let Some(millis) = number("slow-") {
            return Self::Slow(millis);
        }
        if let Some(status) = number("status-") {
            return Self::Status(u16::try_from(status).unwrap_or(500));
        }
        match name {
            "silent" => Self::Silent,
            "stalled" => Self::Stalled,
            "malformed" => Self::Malformed,
            "truncated" => Self::Truncated,
            "disconnected" => Self::Disconnected,
            "long-line" => Self::LongLine,
            "endless" => Self::Endless,
            "deep" => Self::Deep,
            "tool-not-json" => Self::ToolNotJson,
            "echo" => Self::Echo,
            "leaky" => Self::Leaky,
            _instant => Self::Instant,
        }
    }

    /// Whether the request is kept: those that answer at once are measured.
    pub(super) const fn is_kept(self) -> bool {
        !matches!(self, Self::Instant | Self::Chunks(_))
    }
}

/// A text member of a body, found without reading the rest.
fn member<'a>(body: &'a [u8], name: &[u8]) -> Option<&'a str> {
    let after = body.windows(name.len()).position(|window| window == name)? + name.len();
    let value =
        body.get(after..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
    let length = value.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(value.get(..length)?).ok()
}

fn streams(body: &[u8]) -> bool {
    let name = b"\"stream\"";
    let Some(at) = body.windows(name.len()).position(|window| window == name) else { return false };
    let rest = body.get(at + name.len()..).unwrap_or_default().trim_ascii_start();
    rest.strip_prefix(b":").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"true"))
}

/// Answers a request; whether the connection goes on. An error when the caller went away.
pub(super) async fn answer(connection: &mut Connection, request: &Request, says: Says) -> Result<bool> {
    if request.path.starts_with("/v1/models") {
        let models =
            json!({"object": "list", "data": [{"id": "instant", "object": "model", "owned_by": "mock"}]});
        return whole(connection, 200, &models.to_string()).await;
    }
    if request.path.starts_with("/v1/embeddings") {
        return whole(connection, 200, &embeddings(&request.body)).await;
    }
    if let Says::Slow(millis) = says {
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }
    match says {
        Says::Silent => connection.gone().await.map(|()| false),
        Says::Deep => whole(connection, 200, &deep()).await,
        Says::Status(status) => refusal(connection, status, "It is not to be had.").await,
        Says::Leaky => refusal(connection, 400, &said_back(request)).await,
        Says::Echo => whole(connection, 200, &completion(&said_back(request), request)).await,
        Says::ToolNotJson => tool(connection, request).await,
        Says::Instant | Says::Slow(_) if !streams(&request.body) => {
            whole(connection, 200, &completion("Hello.", request)).await
        }
        Says::Instant | Says::Slow(_) => stream(connection, 3).await,
        Says::Chunks(count) if streams(&request.body) => stream(connection, count).await,
        Says::Chunks(_) => whole(connection, 200, &completion("Hello.", request)).await,
        Says::Stalled
        | Says::Malformed
        | Says::Truncated
        | Says::Disconnected
        | Says::LongLine
        | Says::Endless => broken(connection, says).await,
    }
}

/// An answer in one piece.
async fn whole(connection: &mut Connection, status: u16, body: &str) -> Result<bool> {
    let mut bytes = format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body.as_bytes());
    connection.write(&bytes).await.map(|()| true)
}

async fn refusal(connection: &mut Connection, status: u16, message: &str) -> Result<bool> {
    let body =
        json!({"error": {"message": message, "type": "invalid_request_error", "code": null}}).to_string();
    let wait = if status == 429 { "retry-after: 1\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\n{wait}content-length: {}\r\n\r\n",
        body.len()
    );
    connection.write(format!("{head}{body}").as_bytes()).await.map(|()| true)
}

/// The request as it came, its head with the key included.
fn said_back(request: &Request) -> String {
    let beginning = request.body.get(..request.body.len().min(4_096)).unwrap_or_default();
    format!("{}{}", request.head, String::from_utf8_lossy(beginning))
}

fn completion(text: &str, request: &Request) -> String {
    let model = member(&request.body, b"\"model\"").unwrap_or("instant");
    json!({"id": "chatcmpl-mock", "object": "chat.completion", "created": 1_790_000_000, "model": model,
        "system_fingerprint": "fp_mock",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text, "refusal": null},
            "logprobs": null, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 0}}})
    .to_string()
}

fn embeddings(body: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let count = value.get("input").and_then(serde_json::Value::as_array).map_or(1, Vec::len).min(10_000);
    let vector = vec![0.125_f32; DIMENSIONS];
    let data: Vec<serde_json::Value> =
        (0..count).map(|index| json!({"object": "embedding", "index": index, "embedding": vector})).collect();
    json!({"object": "list", "data": data, "model": "instant",
        "usage": {"prompt_tokens": count, "total_tokens": count}})
    .to_string()
}

async fn tool(connection: &mut Connection, request: &Request) -> Result<bool> {
    let call = json!([{"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "lookup", "arguments": "{\"city\": \"Ber"}}]);
    if streams(&request.body) {
        begin(connection).await?;
        let delta = json!({"role": "assistant", "content": null, "tool_calls": call});
        connection.chunk(&event(&delta, None)).await?;
        connection.chunk(&event(&json!({}), Some("tool_calls"))).await?;
        return end(connection).await;
    }
    let body = json!({"id": "chatcmpl-mock", "object": "chat.completion", "created": 1_790_000_000, "model": "tool-not-json",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": null, "tool_calls": call},
            "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}});
    whole(connection, 200, &body.to_string()).await
}

async fn begin(connection: &mut Connection) -> Result<()> {
    let head = "HTTP/1.1 200 Said\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    connection.write(head.as_bytes()).await
}

fn event(delta: &serde_json::Value, finish: Option<&str>) -> Vec<u8> {
    let chunk = json!({"id": "chatcmpl-mock", "object": "chat.completion.chunk", "created": 1_790_000_000,
        "model": "instant", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    format!("data: {chunk}\n\n").into_bytes()
}

async fn stream(connection: &mut Connection, count: u32) -> Result<bool> {
    begin(connection).await?;
    let piece = event(&json!({"content": "word "}), None);
    for _ in 0..count {
        connection.chunk(&piece).await?;
        // Each piece is one of its own for whoever reads.
        tokio::task::yield_now().await;
    }
    connection.chunk(&event(&json!({}), Some("stop"))).await?;
    end(connection).await
}

async fn end(connection: &mut Connection) -> Result<bool> {
    let usage = json!({"id": "chatcmpl-mock", "object": "chat.completion.chunk", "created": 1_790_000_000,
        "model": "instant", "choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}});
    connection.chunk(format!("data: {usage}\n\ndata: [DONE]\n\n").as_bytes()).await?;
    connection.write(b"0\r\n\r\n").await.map(|()| true)
}

/// A stream that goes wrong behind its second piece.
async fn broken(connection: &mut Connection, says: Says) -> Result<bool> {
    begin(connection).await?;
    for _ in 0..2 {
        connection.chunk(&event(&json!({"content": "word "}), None)).await?;
    }
    match says {
        Says::Stalled => connection.gone().await.map(|()| false),
        Says::Malformed => {
            connection.chunk(b"data: {\"choices\": [{\"delta\": {\"content\": }\n\n").await?;
            end(connection).await
        }
        Says::Disconnected => connection.write(b"40\r\ndata: {\"choi").await.map(|()| false),
        Says::LongLine => {
            connection.chunk(b"data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"").await?;
            let part = vec![b'a'; 64 * 1024];
            for _ in 0..LINE / part.len() {
                connection.chunk(&part).await?;
            }
            end(connection).await
        }
        Says::Endless => loop {
            connection.chunk(&event(&json!({"content": "word "}), None)).await?;
            tokio::task::yield_now().await;
        },
        // Truncated: the body ends as bodies do, and nothing in it says why.
        _truncated => connection.write(b"0\r\n\r\n").await.map(|()| true),
    }
}

fn deep() -> String {
    format!("{{\"choices\":{}{}}}", "[".repeat(DEPTH), "]".repeat(DEPTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_does_what_its_name_says() {
        for (name, says) in [
            ("instant", Says::Instant),
            ("anything", Says::Instant),
            ("chunks-500", Says::Chunks(500)),
            ("slow-150", Says::Slow(150)),
            ("status-429", Says::Status(429)),
            ("leaky", Says::Leaky),
        ] {
            let body = json!({"messages": [], "model": name}).to_string();
            assert_eq!(Says::of(body.as_bytes()), says, "{name}");
            let spaced = format!("{{ \"model\" : \"{name}\" }}");
            assert_eq!(Says::of(spaced.as_bytes()), says, "{name}");
        }
        assert!(streams(b"{\"stream\" : true}") && !streams(b"{\"stream\":false}") && !streams(b"{}"));
    }
}
