//! A provider on this machine that answers by a script, and keeps what it was asked.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// An answer of the script.
#[derive(Clone)]
pub(super) struct Reply {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    pieces: Vec<String>,
    wait: Duration,
    end: End,
}

/// End of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// In order.
    Whole,
    /// The connection is closed before the answer is whole.
    Cut,
    /// Nothing more comes, and the connection stays.
    Stalled,
}

impl Reply {
    fn of(status: &'static str, pieces: Vec<String>) -> Self {
        Self { status, headers: Vec::new(), pieces, wait: Duration::ZERO, end: End::Whole }
    }

    /// JSON.
    pub(super) fn json(body: &Value) -> Self {
        Self::of("200 OK", vec![body.to_string()]).with("content-type", "application/json")
    }

    /// A failure.
    pub(super) fn failing(status: &'static str, message: &str) -> Self {
        let body = json!({ "error": { "message": message, "type": "error", "code": "c" } });
        Self::of(status, vec![body.to_string()]).with("content-type", "application/json")
    }

    /// A chat completion that says a text.
    pub(super) fn chat(text: &str) -> Self {
        Self::json(&completion(text))
    }

    /// Events of a stream, as they stand.
    pub(super) fn events(events: &[&str]) -> Self {
        let pieces = events.iter().map(|event| format!("{event}\n\n")).collect();
        Self::of("200 OK", pieces).with("content-type", "text/event-stream")
    }

    /// A stream of a chat that says words, to its end.
    pub(super) fn words(words: &[&str]) -> Self {
        let mut events: Vec<String> = words.iter().map(|word| chunk(word)).collect();
        events.push(last());
        events.push("data: [DONE]".to_owned());
        Self::events(&events.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The same with a header.
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The same behind a wait before anything comes.
    pub(super) fn late(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// The same, cut at its end.
    pub(super) fn cut(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    /// The same, behind which nothing comes.
    pub(super) fn stalled(mut self) -> Self {
        self.end = End::Stalled;
        self
    }
}

/// A chat completion.
pub(super) fn completion(text: &str) -> Value {
    json!({ "id": "up-1", "object": "chat.completion", "created": 1, "model": "m", "system_fingerprint": "fp",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18 } })
}

/// An event with a piece of text.
pub(super) fn chunk(text: &str) -> String {
    let body = json!({ "id": "up-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": null }] });
    format!("data: {body}")
}

/// The event with the end of a choice.
pub(super) fn last() -> String {
    let body = json!({ "id": "up-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    format!("data: {body}")
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// Line and headers.
    pub head: String,
    /// Body; null where it is no JSON.
    pub body: Value,
}

#[derive(Default)]
struct Shared {
    script: Mutex<VecDeque<Reply>>,
    usual: Mutex<Option<Reply>>,
    asked: Mutex<Vec<Asked>>,
    left: AtomicUsize,
}

/// A provider.
pub(super) struct Upstream {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Upstream {
    /// A provider that answers every request alike, once its script is over.
    pub(super) async fn answering(usual: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        *shared.usual.lock().unwrap() = Some(usual);
        let own = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&own)));
            }
        });
        Self { address, shared }
    }

    /// Address of the provider.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers the next requests so, one each.
    pub(super) fn then(&self, replies: impl IntoIterator<Item = Reply>) {
        self.shared.script.lock().unwrap().extend(replies);
    }

    /// Requests so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// The last request.
    pub(super) fn last(&self) -> Asked {
        self.asked().pop().expect("a request")
    }

    /// Number of answers whose reader went away before their end.
    pub(super) fn left(&self) -> usize {
        self.shared.left.load(Ordering::SeqCst)
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    let mut buffer = Vec::new();
    while let Some(asked) = read(&mut stream, &mut buffer).await {
        shared.asked.lock().unwrap().push(asked);
        let next = shared.script.lock().unwrap().pop_front();
        let reply = next.or_else(|| shared.usual.lock().unwrap().clone()).expect("an answer");
        match answer(&mut stream, &reply).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(_) => {
                shared.left.fetch_add(1, Ordering::SeqCst);
                return;
            }
        }
    }
}

/// The next request of a connection.
async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Asked> {
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(buffer).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
            });
            let whole = head.len() + 4 + length.unwrap_or(0);
            if buffer.len() >= whole {
                let body = buffer[head.len() + 4..whole].to_vec();
                buffer.drain(..whole);
                let body = serde_json::from_slice(&body).unwrap_or_default();
                return Some(Asked { head: head.to_owned(), body });
            }
        }
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => buffer.extend_from_slice(&piece[..count]),
        }
    }
}

/// Writes an answer; whether the connection goes on. An error where the reader went away.
async fn answer(stream: &mut TcpStream, reply: &Reply) -> std::io::Result<bool> {
    tokio::time::sleep(reply.wait).await;
    let mut head = format!("HTTP/1.1 {}\r\ntransfer-encoding: chunked\r\n", reply.status);
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).await?;
    for piece in &reply.pieces {
        stream.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes()).await?;
    }
    match reply.end {
        End::Whole => {
            stream.write_all(b"0\r\n\r\n").await?;
            Ok(true)
        }
        End::Cut => Ok(false),
        End::Stalled => {
            let mut rest = [0; 64];
            loop {
                if stream.read(&mut rest).await? == 0 {
                    return Err(std::io::ErrorKind::ConnectionAborted.into());
                }
            }
        }
    }
}
