//! Models over HTTP: connections to providers and deployments, calls in each wire, faults of providers, and what is counted.

mod faults;
mod life;
mod messages;
mod nodes;
mod reindexing;
mod rights;
mod upstream;
mod usage;
mod wires;

use heddle_testkit::Client;
use heddle_testkit::TestApp;
use heddle_testkit::db::TestDb;
use serde_json::{Value, json};

use upstream::Upstream;

const CONNECTIONS: &str = "/api/model-providers/connections";
const DEPLOYMENTS: &str = "/api/model-providers/deployments";

/// A connection to a provider that leads nowhere, and a deployment over it; their ids.
pub(crate) async fn two(client: &Client, name: &str) -> (String, String) {
    let connection =
        connect(client, name, json!({ "type": "ollama", "baseUrl": "http://127.0.0.1:9" })).await;
    let deployment = deploy(client, &connection, json!({ "model": "m", "alias": name })).await;
    (connection, deployment)
}

/// A service that may call providers on this machine.
async fn service(db: &TestDb) -> TestApp {
    TestApp::with(db, |config| config.egress_loopback = true).await
}

/// A connection; its id.
async fn connect(client: &Client, name: &str, more: Value) -> String {
    let mut body = json!({ "name": name });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post(CONNECTIONS, body).await.expect(201).id()
}

/// A deployment over a connection; its id.
async fn deploy(client: &Client, connection: &str, body: Value) -> String {
    client.post(&format!("{CONNECTIONS}/{connection}/deployments"), body).await.expect(201).id()
}

/// A deployment `small` of a provider that speaks as OpenAI does; its id.
async fn small(client: &Client, upstream: &Upstream) -> String {
    over(client, upstream, "small", json!({})).await
}

/// A deployment over a connection of its own to a provider that speaks as OpenAI does; its id.
async fn over(client: &Client, upstream: &Upstream, alias: &str, more: Value) -> String {
    let body = json!({ "type": "custom", "baseUrl": format!("{}/v1", upstream.url()), "apiKey": "a-key-of-some-length" });
    let connection = connect(client, alias, body).await;
    let mut body = json!({ "model": "m", "alias": alias });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    deploy(client, &connection, body).await
}

/// The body of a question to a model.
fn question(model: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": "What is a loom?" }] })
}

/// The same as a stream.
fn streamed(model: &str) -> Value {
    let mut body = question(model);
    body["stream"] = json!(true);
    body
}

/// Data of each event of a stream, whole.
fn events(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
}

/// Text that the pieces of a stream say together.
fn said(events: &[String]) -> String {
    let pieces = events.iter().filter_map(|event| serde_json::from_str::<Value>(event).ok());
    pieces
        .filter_map(|piece| piece.pointer("/choices/0/delta/content")?.as_str().map(str::to_owned))
        .collect()
}
