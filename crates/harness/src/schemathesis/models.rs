//! Known-good calls of providers, deployments and models.

use anyhow::{Context, Result};
use heddle_harness_kit::client::Client;
use serde_json::{Map, Value, json};

use super::document::{Operation, unique};

/// Beginning of the paths of operations on providers.
pub(super) const PATH: &str = "/api/model-providers";
const CONNECTIONS: &str = "/api/model-providers/connections";
const DEPLOYMENTS: &str = "/api/model-providers/deployments";
/// Deployment of the answerer inside the service.
const ANSWERS: &str = "built-in-answers";

/// Path parameters of a connection or a deployment of its own, or of those inside the service where the operation asks a
/// provider.
pub(super) async fn path(client: &Client, operation: &Operation) -> Result<Map<String, Value>> {
    let asks = ["/discover", "/import", "/test", "/models", "/refresh-revision"];
    let asks = asks.iter().any(|end| operation.path.ends_with(end));
    let mut path = Map::new();
    for parameter in operation.parameters() {
        let id = match parameter {
            "connectionId" if asks => local(client, &format!("{CONNECTIONS}?type=local")).await?,
            "connectionId" => connection(client).await?,
            "deploymentId" if asks => local(client, &format!("{DEPLOYMENTS}?q={ANSWERS}")).await?,
            "deploymentId" => {
                let over = connection(client).await?;
                let body = json!({"model": "m", "alias": format!("made-{}", unique())});
                made(client, &format!("{CONNECTIONS}/{over}/deployments"), &body).await?
            }
            other => anyhow::bail!("no rule for {other}"),
        };
        path.insert(parameter.to_owned(), json!(id));
    }
    Ok(path)
}

/// A connection that leads to a port of this machine where nobody listens.
async fn connection(client: &Client) -> Result<String> {
    made(client, CONNECTIONS, &new_connection()).await
}

fn new_connection() -> Value {
    json!({"name": format!("made-{}", unique()), "type": "ollama", "baseUrl": "http://127.0.0.1:9"})
}

async fn made(client: &Client, collection: &str, body: &Value) -> Result<String> {
    let data = client.post(collection, body).await?.data().with_context(|| format!("POST {collection}"))?;
    data.get("id").and_then(Value::as_str).map(str::to_owned).context("no id")
}

/// The first of a list, with the models inside the service deployed.
async fn local(client: &Client, list: &str) -> Result<String> {
    client.post(&format!("{DEPLOYMENTS}/sync-local"), &json!({})).await?.data().context("sync-local")?;
    let data = client.get(list).await?.data()?;
    data.pointer("/0/id")
        .and_then(Value::as_str)
        .map(str::to_owned)
        .with_context(|| format!("none in {list}"))
}

/// The body of an operation; none where a sample of its schema does, or where it takes none.
pub(super) fn body(label: &str) -> Option<Value> {
    Some(match label {
        "POST /api/model-providers/connections" => new_connection(),
        "PATCH /api/model-providers/connections/{connectionId}" => {
            json!({"name": format!("made-{}", unique())})
        }
        "POST /api/model-providers/connections/{connectionId}/models/import" => {
            json!({"models": [{"model": "heddle-extractive"}]})
        }
        "POST /api/model-providers/connections/{connectionId}/deployments" => {
            json!({"model": "m", "alias": format!("made-{}", unique())})
        }
        "PATCH /api/model-providers/deployments/{deploymentId}" => {
            json!({"alias": format!("made-{}", unique())})
        }
        "PUT /api/model-providers/deployments/{deploymentId}/memory" => json!({"policy": "onDemand"}),
        "PUT /api/model-providers/deployments/{deploymentId}/preload" => json!({"enabled": false}),
        "POST /api/model-providers/connections/{connectionId}/test"
        | "POST /api/model-providers/connections/{connectionId}/models/discover"
        | "POST /api/model-providers/deployments/{deploymentId}/refresh-revision"
        | "POST /api/model-providers/deployments/sync-local" => json!({}),
        "POST /api/chat" => json!({"model": ANSWERS, "messages": [
            {"role": "system", "content": "Context:\n[1] A loom weaves cloth of wool and linen."},
            {"role": "user", "content": "What does a loom weave?"}]}),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_differ_from_one_call_to_the_next() {
        let label = "POST /api/model-providers/connections";
        assert_ne!(body(label), body(label));
        assert!(body("GET /api/models").is_none());
    }
}
