//! Vector databases over HTTP: files in, cited passages out, and who may see what.

mod bad_input;
mod files;
mod nodes;
mod queries;
mod rights;

use heddle_testkit::{Answer, Client, eventually};
use serde_json::{Value, json};

/// Path of the list.
pub(crate) const DATABASES: &str = "/api/vector-databases";

/// A file and the job that read it.
pub(crate) struct Ingested {
    /// The file.
    pub file: String,
    /// The job.
    pub job: String,
}

/// A vector database of words with one file that is found.
pub(crate) async fn one(client: &Client, name: &str) -> Ingested {
    made(client, name).await;
    let upload = client.post(&files_of(name), text_file("first.txt", "The loom weaves cloth of wool.")).await;
    let upload = upload.expect(202).data();
    let job = text(&upload["job"]["id"]);
    assert_eq!(over(client, &job).await["state"], "completed");
    Ingested { file: text(&upload["files"][0]["id"]), job }
}

/// Makes a vector database of words.
pub(crate) async fn made(client: &Client, name: &str) -> Value {
    let body = json!({ "name": name, "embeddingModelId": null, "metadataSchema": {
        "year": { "type": "number" }, "kind": { "type": "string" } } });
    client.post(DATABASES, body).await.expect(201).data()
}

fn at(name: &str) -> String {
    format!("{DATABASES}/{name}")
}

fn files_of(name: &str) -> String {
    format!("{}/files", at(name))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

pub(crate) fn text_file(name: &str, content: &str) -> Value {
    json!({ "files": [{ "name": name, "text": content }] })
}

/// A part of a form: its name, the name of its file, its media type and its content.
struct Part<'a>(&'a str, Option<&'a str>, Option<&'a str>, &'a [u8]);

/// Sends a form.
async fn form(client: &Client, path: &str, parts: &[Part<'_>]) -> Answer {
    let mut bytes = Vec::new();
    for Part(name, file, media, content) in parts {
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        let media = media.map(|media| format!("content-type: {media}\r\n")).unwrap_or_default();
        let head = format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"{file}\r\n{media}\r\n");
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(content);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"--b--\r\n");
    client.request("POST", path).body("multipart/form-data; boundary=b", bytes).send().await
}

/// The job, once it has ended.
async fn over(client: &Client, job: &str) -> Value {
    eventually(&format!("the end of the job {job}"), async || {
        let found = client.get(&format!("{DATABASES}/ingestion-jobs/{job}")).await.expect(200).data();
        let state = found["state"].as_str().unwrap();
        (!matches!(state, "queued" | "running" | "cancelling")).then_some(found)
    })
    .await
}

/// Uploads files as JSON and waits until they are read; their ids.
pub(crate) async fn ingested(client: &Client, name: &str, body: Value) -> Vec<String> {
    let upload = client.post(&files_of(name), body).await.expect(202).data();
    let job = over(client, upload["job"]["id"].as_str().unwrap()).await;
    assert_eq!(job["state"], "completed", "{job}");
    upload["files"].as_array().unwrap().iter().map(|file| text(&file["id"])).collect()
}

/// The answer to a query.
async fn asked(client: &Client, name: &str, body: Value) -> Value {
    client.post(&format!("{}/query", at(name)), body).await.expect(200).data()
}

/// Ids of the files that a query finds.
async fn found(client: &Client, name: &str, words: &str) -> Vec<String> {
    let answer = asked(client, name, json!({ "query": words, "limit": 100 })).await;
    let mut files: Vec<String> =
        answer["passages"].as_array().unwrap().iter().map(|one| text(&one["fileId"])).collect();
    files.sort();
    files.dedup();
    files
}

/// The file as its list shows it.
async fn file(client: &Client, name: &str, id: &str) -> Value {
    let files = client.get(&format!("{}?limit=200", files_of(name))).await.expect(200).data();
    let found = files.as_array().unwrap().iter().find(|file| file["id"] == id).cloned();
    found.unwrap_or_else(|| panic!("no file {id}"))
}
