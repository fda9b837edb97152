//! Connections and webhooks: how they come, change and go, what is never shown, and who may do what.

mod deliveries;
mod keys;
mod life;
mod rules;
mod secrets;
mod webhooks;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use heddle_testkit::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Text that stands in every secret, and must stand nowhere else.
pub(crate) const CANARY: &str = "canary-4f1d-of-a-secret";
/// A key of signatures.
pub(crate) const SIGNING_KEY: &str = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";

/// A connection, and a webhook that goes over another one; their ids. Both lead nowhere.
pub(crate) async fn two(client: &Client) -> (String, String) {
    let body = json!({ "name": "single", "type": "http", "config": { "baseUrl": "http://127.0.0.1:9" } });
    let connection = client.post("/api/connections", body).await.expect(201).id();
    let over = receiver_of(client, "single receiver", "http://127.0.0.1:9/hook").await;
    let body = json!({ "name": "single", "connectionId": over, "eventTypes": ["run.failed"] });
    let webhook = client.post("/api/webhooks", body).await.expect(201).id();
    (connection, webhook)
}

/// A connection to a receiver of webhooks; its id.
async fn receiver_of(client: &Client, name: &str, url: &str) -> String {
    let body = json!({ "name": name, "type": "webhook", "config": { "url": url },
        "secrets": { "signingSecret": SIGNING_KEY } });
    client.post("/api/connections", body).await.expect(201).id()
}

/// Path of a connection.
fn at(id: &str) -> String {
    format!("/api/connections/{id}")
}

/// A connection with a bearer token; its id.
async fn bearer(client: &Client, name: &str, base_url: &str) -> String {
    let body = json!({ "name": name, "type": "http",
        "config": { "baseUrl": base_url, "authentication": "bearer" }, "secrets": { "token": CANARY } });
    client.post("/api/connections", body).await.expect(201).id()
}

/// Ids or names of a list.
fn members(list: &Value, name: &str) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten().map(|one| one[name].as_str().unwrap().to_owned());
    texts.collect()
}

/// A service on this machine that answers every request with one status, and keeps what it was sent.
struct Service {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Service {
    async fn answering(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                tokio::spawn(async move { answer(stream, status, &kept).await });
            }
        });
        Self { address, seen }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn answer(mut stream: TcpStream, status: &str, kept: &Mutex<Vec<String>>) {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while !is_whole(&bytes) {
        match stream.read(&mut piece).await {
            Ok(read) if read > 0 => bytes.extend_from_slice(&piece[..read]),
            _ => return,
        }
    }
    kept.lock().unwrap().push(String::from_utf8_lossy(&bytes).into_owned());
    // What a service says is nobody's to read through a test.
    let body = "canary-of-an-answer";
    let answer =
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    let _ = stream.write_all(answer.as_bytes()).await;
}

fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    body.len() >= length.unwrap_or(0)
}
