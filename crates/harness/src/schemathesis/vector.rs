//! Known-good calls of vector databases.

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::document::{Operation, unique};
use crate::vectors::{self, Text};
use heddle_harness_kit::client::Client;

/// Path parameters of a database that is searched by words, of its own for each call, with a file where one is asked for.
pub(super) async fn path(client: &Client, operation: &Operation) -> Result<Map<String, Value>> {
    let name = format!("made-{}", unique());
    vectors::create(client, &name).await?;
    let mut path = Map::new();
    for parameter in operation.parameters() {
        let value = match parameter {
            "name" => name.clone(),
            "fileId" => {
                let uploaded = vectors::upload(client, &name, &texts(1)).await?;
                vectors::ids(&uploaded).pop().context("an upload without a file")?
            }
            "jobId" => {
                let uploaded = vectors::upload(client, &name, &texts(1)).await?;
                let job = uploaded.pointer("/job/id").and_then(Value::as_str);
                job.context("an upload without a job")?.to_owned()
            }
            other => anyhow::bail!("no rule for {other}"),
        };
        path.insert(parameter.to_owned(), json!(value));
    }
    Ok(path)
}

/// The body of an operation; none where a sample of its schema does, or where it takes none.
pub(super) fn body(label: &str) -> Option<Value> {
    Some(match label {
        "POST /api/vector-databases" => {
            json!({"name": format!("made-{}", unique()), "displayName": "Made", "embeddingModelId": null})
        }
        "PATCH /api/vector-databases/{name}" => json!({"displayName": "Renamed"}),
        "POST /api/vector-databases/{name}/files" => texts(1),
        "PATCH /api/vector-databases/{name}/files/{fileId}" => json!({"title": "Renamed"}),
        "POST /api/vector-databases/{name}/query" => {
            json!({"query": "heddle", "mode": "keyword", "limit": 3})
        }
        _ => return None,
    })
}

/// The body of an upload of so many texts that differ from all others.
fn texts(count: usize) -> Value {
    let text = |number: usize| Text {
        name: format!("heddle-{number}.txt"),
        text: format!("The heddle {} lifts the warp of the loom.\n\n", unique()).repeat(200),
    };
    vectors::texts(&(0..count).map(text).collect::<Vec<Text>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_differ_from_one_call_to_the_next() {
        assert_ne!(texts(1), texts(1));
        assert!(body("POST /api/vector-databases/{name}/files").is_some());
        assert!(body("GET /api/vector-databases").is_none());
    }
}
