//! A reader of event streams.
#![expect(clippy::expect_used, clippy::panic, reason = "a test whose stream is no event stream must fail")]

use std::time::Duration;

use serde_json::Value;

use crate::client::Client;

/// Longest wait for the next event.
const PATIENCE: Duration = Duration::from_secs(20);

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// `id`, where it is a sequence number.
    pub id: Option<u64>,
    /// `id` as it stands, where there is one.
    pub place: Option<String>,
    /// `event`.
    pub event: String,
    /// `data`.
    pub data: Value,
}

/// An open stream.
#[derive(Debug)]
pub struct Stream {
    response: reqwest::Response,
    text: Vec<u8>,
}

impl Stream {
    /// Opens the stream of a run behind an event.
    pub async fn open(client: &Client, workflow: &str, run: &str, after: Option<u64>) -> Self {
        let request = client.request("GET", &format!("/api/workflows/{workflow}/runs/{run}/events/stream"));
        let request = match after {
            Some(id) => request.header("last-event-id", &id.to_string()),
            None => request,
        };
        Self::of(request).await
    }

    /// Opens the stream over all runs with a query, behind the event of a place.
    pub async fn open_all(client: &Client, query: &str, place: Option<&str>) -> Self {
        let request = client.request("GET", &format!("/api/runs/events/stream?{query}"));
        let request = match place {
            Some(place) => request.header("last-event-id", place),
            None => request,
        };
        Self::of(request).await
    }

    async fn of(request: crate::client::Request) -> Self {
        let response = request.open().await.expect("a stream");
        assert_eq!(response.status().as_u16(), 200);
        let media = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        assert_eq!(media, Some("text/event-stream"));
        Self { response, text: Vec::new() }
    }

    /// The next event; none when the stream has ended.
    pub async fn next(&mut self) -> Option<Event> {
        // Signs of life don't count.
        let next = tokio::time::timeout(PATIENCE, self.read()).await;
        next.unwrap_or_else(|_| panic!("no event within {PATIENCE:?}"))
    }

    async fn read(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.text.windows(2).position(|pair| pair == b"\n\n") {
                let frame: Vec<u8> = self.text.drain(..end + 2).collect();
                match parse(&String::from_utf8(frame).expect("UTF-8")) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            match self.response.chunk().await {
                Ok(Some(bytes)) => self.text.extend_from_slice(&bytes),
                // A server that ends may cut the connection.
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// The events up to the first of a type, that one included.
    pub async fn until(&mut self, event: &str) -> Vec<Event> {
        let mut all = Vec::new();
        loop {
            let Some(next) = self.next().await else { panic!("the stream ended before `{event}`: {all:?}") };
            let found = next.event == event;
            all.push(next);
            if found {
                return all;
            }
        }
    }

    /// All events up to the end.
    pub async fn rest(&mut self) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        all
    }
}

/// One event; none for a comment.
fn parse(frame: &str) -> Option<Event> {
    let mut event = Event { id: None, place: None, event: "message".to_owned(), data: Value::Null };
    let mut data = Vec::new();
    for line in frame.lines().filter(|line| !line.is_empty() && !line.starts_with(':')) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => (event.id, event.place) = (value.parse().ok(), Some(value.to_owned())),
            "event" => event.event = value.to_owned(),
            "data" => data.push(value),
            other => panic!("an unknown field `{other}`"),
        }
    }
    if data.is_empty() {
        return None;
    }
    event.data = serde_json::from_str(&data.join("\n")).expect("JSON");
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_id_type_and_data() {
        let event = parse("id: 3\nevent: node.completed\ndata: {\"a\":\ndata: 1}\n\n");
        let expected = Event {
            id: Some(3),
            place: Some("3".to_owned()),
            event: "node.completed".to_owned(),
            data: serde_json::json!({"a": 1}),
        };
        assert_eq!(event, Some(expected));
        assert_eq!(parse(": heartbeat\n\n"), None);
    }
}
