//! Vector databases as a caller has them: made, filled, waited for and asked.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

pub(crate) mod blobs;
pub(crate) mod documents;
pub(crate) mod retrieval;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use heddle_harness_kit::client::{Answer, Client, encode};
use heddle_harness_kit::server::{Backend, Surroundings};
use heddle_harness_kit::workspace;
use serde_json::{Value, json};

/// Path of all vector databases.
pub(crate) const PATH: &str = "/api/vector-databases";
/// States in which nothing more becomes of a file.
const ENDED: [&str; 3] = ["ready", "failed", "cancelled"];
/// Pause between two looks at files under way.
const LOOK: Duration = Duration::from_millis(100);
/// Longest pause between two looks.
const LOOK_AT_MOST: Duration = Duration::from_secs(1);

/// A text to upload.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    /// Name of the file.
    pub name: String,
    /// The text itself.
    pub text: String,
}

/// Path of one database.
pub(crate) fn path(name: &str) -> String {
    format!("{PATH}/{}", encode(name))
}

/// Path of the files of one database.
pub(crate) fn files_path(name: &str) -> String {
    format!("{}/files", path(name))
}

/// Makes a database that is searched by words alone, which needs no model.
pub(crate) async fn create(client: &Client, name: &str) -> Result<()> {
    create_as(client, &json!({"name": name, "embeddingModelId": null})).await
}

/// Keeper of the passage index on a database under the server.
pub(crate) const fn keeper(backend: Backend) -> &'static str {
    match backend {
        Backend::Sqlite | Backend::Postgres => "embedded",
        Backend::Pgvector => "pgvector",
    }
}

/// Makes a database as its body says.
pub(crate) async fn create_as(client: &Client, body: &Value) -> Result<()> {
    client.post(PATH, body).await?.data().with_context(|| format!("the database {body}"))?;
    Ok(())
}

/// The body of an upload of texts.
pub(crate) fn texts(texts: &[Text]) -> Value {
    let files = texts.iter();
    let files = files.map(|one| json!({"name": one.name, "mediaType": "text/plain", "text": one.text}));
    json!({"files": files.collect::<Vec<Value>>()})
}

/// The body of an upload of one file as it is.
pub(crate) fn bytes(name: &str, media: &str, content: &[u8]) -> Value {
    use base64::Engine as _;
    let content = base64::engine::general_purpose::STANDARD.encode(content);
    json!({"files": [{"name": name, "mediaType": media, "contentBase64": content}]})
}

/// Uploads; the answer's `data`: the job and its files.
pub(crate) async fn upload(client: &Client, name: &str, body: &Value) -> Result<Value> {
    client.post(&files_path(name), body).await?.data().context("the upload")
}

/// Ids of the files of an upload.
pub(crate) fn ids(uploaded: &Value) -> Vec<String> {
    let files = uploaded["files"].as_array().into_iter().flatten();
    files.filter_map(|file| file["id"].as_str().map(str::to_owned)).collect()
}

/// Whether nothing more becomes of a file.
pub(crate) fn has_ended(file: &Value) -> bool {
    file["state"].as_str().is_some_and(|state| ENDED.contains(&state))
}

/// Every file of a database, once nothing more becomes of any of them.
pub(crate) async fn settled(client: &Client, name: &str, patience: Duration) -> Result<Vec<Value>> {
    let began = Instant::now();
    loop {
        let looked = Instant::now();
        let files = client.all(&files_path(name)).await?;
        let Some(open) = files.iter().find(|file| !has_ended(file)) else { return Ok(files) };
        if began.elapsed() > patience {
            let count = files.iter().filter(|file| !has_ended(file)).count();
            bail!("{count} files are under way after {} s, such as {open}", patience.as_secs());
        }
        // To look at all of many files takes the server's time, which they need themselves.
        tokio::time::sleep((looked.elapsed() * 10).clamp(LOOK, LOOK_AT_MOST)).await;
    }
}

/// Asks a database; the answer as it came.
pub(crate) async fn ask(client: &Client, name: &str, body: &Value) -> Result<Answer> {
    client.post(&format!("{}/query", path(name)), body).await
}

/// The passages that a good answer has.
pub(crate) async fn passages(client: &Client, name: &str, body: &Value) -> Result<Vec<Value>> {
    let mut data = ask(client, name, body).await?.data().with_context(|| format!("the query {body}"))?;
    match data["passages"].take() {
        Value::Array(passages) => Ok(passages),
        other => bail!("an answer without passages: {other}"),
    }
}

/// Surroundings of a server that has the embedding model of `cargo xtask setup`, where it was fetched.
pub(crate) fn with_model() -> Result<Surroundings> {
    let models = workspace::target_dir()?.join("models");
    if !models.is_dir() {
        return Ok(Surroundings::default());
    }
    let models = models.to_str().context("the models' directory is not UTF-8")?.to_owned();
    Ok(Surroundings { variables: vec![("HEDDLE_VECTORS_MODEL_DIR", models)], ..Surroundings::default() })
}

/// Id of an embedding model that can be used here, if there is one.
pub(crate) async fn model(client: &Client) -> Result<Option<String>> {
    let models = client.get(&format!("{PATH}/embedding-models")).await?.data()?;
    let models = models.as_array().context("a list of models")?;
    let ready = models.iter().find(|model| model["state"] == "ready");
    Ok(ready.and_then(|model| model["id"].as_str()).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_uploads_have_every_file_with_its_type() {
        let one = Text { name: "a.txt".to_owned(), text: "warp".to_owned() };
        assert_eq!(
            texts(&[one]),
            json!({"files": [{"name": "a.txt", "mediaType": "text/plain", "text": "warp"}]})
        );
        assert_eq!(bytes("b.pdf", "application/pdf", b"%PDF")["files"][0]["contentBase64"], "JVBERg==");
        assert_eq!(files_path("a b"), "/api/vector-databases/a%20b/files");
    }

    #[test]
    fn a_file_has_ended_when_it_is_ready_or_never_will_be() {
        for (state, ended) in [("ready", true), ("failed", true), ("cancelled", true), ("embedding", false)] {
            assert_eq!(has_ended(&json!({"state": state})), ended, "{state}");
        }
    }
}
