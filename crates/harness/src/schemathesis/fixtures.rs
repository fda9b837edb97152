//! Things that exist, so that each operation has a call that succeeds.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::document::{Document, Operation, unique};
use super::{models, vector};
use heddle_harness_kit::client::Client;
use heddle_harness_kit::out;
use heddle_harness_kit::prepare;

use crate::vectors;

/// Known-good calls and real path parameters, by operation.
#[derive(Debug, Default)]
pub(crate) struct Fixtures {
    /// Calls for the hooks, in a list for each operation.
    pub cases: BTreeMap<String, Vec<Value>>,
    /// Path parameters for the configuration, which generated calls use.
    pub parameters: BTreeMap<String, Map<String, Value>>,
    /// The caller's organisation: a generated one would be refused before anything else is looked at.
    pub organization: Option<String>,
}

/// Makes fixtures on one server.
pub(crate) struct Maker<'a> {
    client: &'a Client,
    document: &'a Document,
    /// A published workflow that a run ends at once in, with its import source claimed.
    quick: String,
    /// A published workflow with one human task.
    human: String,
    /// A published case type with one human task.
    case_type: String,
}

type Parameters = Map<String, Value>;

impl<'a> Maker<'a> {
    /// Publishes the workflows and the case type that the others are made from.
    pub(crate) async fn new(client: &'a Client, document: &'a Document) -> Result<Self> {
        let quick = imported(client).await?;
        let human = prepare::publish(client, &format!("human-{}", unique()), prepare::HUMAN_TASK).await?;
        let case = format!("case-{}", unique());
        let case_type = prepare::publish_case(client, &case, prepare::HUMAN_CASE).await?;
        Ok(Self { client, document, quick, human, case_type })
    }

    /// Adds the calls of an operation; one that no call can be made for is left to the generated ones.
    pub(crate) async fn add(&self, operation: &Operation, into: &mut Fixtures) -> Result<()> {
        let label = operation.label();
        let path = match self.path(operation).await {
            Ok(path) => path,
            Err(error) => {
                out::note(format_args!("no known-good call for {label}: {error:#}"));
                return Ok(());
            }
        };
        let mut case = json!({ "path": path });
        if let Some(body) = self.body(operation, &path).await? {
            case["body"] = body;
        }
        if let Some(query) = query(operation) {
            case["query"] = query;
        }
        into.cases.entry(label.clone()).or_default().push(case);
        // What a generated DELETE hits is gone for the next one, so those keep their generated ids.
        if !path.is_empty() && operation.method != "DELETE" {
            let own =
                if operation.method == "GET" { path } else { self.path(operation).await.unwrap_or(path) };
            into.parameters.insert(label, own);
        }
        Ok(())
    }

    /// Path parameters of things that exist; each call makes its own where the operation changes or ends them.
    async fn path(&self, operation: &Operation) -> Result<Parameters> {
        let names = operation.parameters();
        if names.is_empty() {
            return Ok(Map::new());
        }
        if names.contains(&"workflowId") {
            return self.workflow_path(operation).await;
        }
        if names.contains(&"caseTypeId") || names.contains(&"caseId") {
            return self.case_path(operation).await;
        }
        if operation.path.starts_with(vectors::PATH) {
            return vector::path(self.client, operation).await;
        }
        if operation.path.starts_with(models::PATH) {
            return models::path(self.client, operation).await;
        }
        let [name] = names.as_slice() else { anyhow::bail!("no rule for {names:?}") };
        let id = match *name {
            "sessionId" => self.session().await?,
            "taskId" => self.task().await?,
            "eventId" => self.event().await?,
            "token" => self.hook().await?,
            "userId" if operation.path.starts_with("/api/members") => self.member(operation).await?,
            _ => {
                let collection = operation.path.split("/{").next().unwrap_or_default();
                self.fresh(collection).await?
            }
        };
        Ok([((*name).to_owned(), json!(id))].into_iter().collect())
    }

    async fn workflow_path(&self, operation: &Operation) -> Result<Parameters> {
        let changes = operation.method != "GET";
        let names = operation.parameters();
        let mut path = Map::new();
        if names.contains(&"runId") {
            let (workflow, input) = if changes { (&self.human, json!({})) } else { (&self.quick, json!({})) };
            let run = prepare::start(self.client, workflow, &input).await?;
            path.insert("workflowId".to_owned(), json!(workflow));
            path.insert("runId".to_owned(), run["id"].clone());
        } else {
            let own = matches!(
                (operation.method.as_str(), operation.path.rsplit('/').next()),
                ("DELETE" | "PATCH", Some("{workflowId}"))
                    | ("PUT", Some("draft" | "logic"))
                    | ("POST", Some("publish"))
            );
            let id = if own {
                prepare::create(self.client, &format!("draft-{}", unique()), prepare::HUMAN_TASK).await?
            } else {
                self.quick.clone()
            };
            path.insert("workflowId".to_owned(), json!(id));
        }
        if names.contains(&"nodeId") {
            path.insert("nodeId".to_owned(), json!("work"));
        }
        Ok(path)
    }

    /// Path parameters of a case type, of its own where the operation changes it, or of a case that was just started.
    async fn case_path(&self, operation: &Operation) -> Result<Parameters> {
        let mut path = Map::new();
        for name in operation.parameters() {
            let value = match name {
                "caseTypeId" if operation.method == "GET" || operation.path.ends_with("/validate") => {
                    self.case_type.clone()
                }
                "caseTypeId" => {
                    let case = format!("draft-case-{}", unique());
                    prepare::import_case(self.client, &case, prepare::HUMAN_CASE).await?
                }
                "caseId" => {
                    let key = format!("case-{}", unique());
                    let case = prepare::start_case(self.client, &self.case_type, &key).await?;
                    case["id"].as_str().context("a started case has an id")?.to_owned()
                }
                "planItemId" => "work".to_owned(),
                "itemId" => "note".to_owned(),
                "transition" => "suspend".to_owned(),
                other => anyhow::bail!("no rule for {other}"),
            };
            path.insert(name.to_owned(), json!(value));
        }
        Ok(path)
    }

    /// The body of an operation on cases and their types; none where a sample of its schema does.
    async fn case_body(&self, label: &str, path: &Parameters) -> Result<Option<Value>> {
        Ok(Some(match label {
            "POST /api/case-types/import/cmmn" | "POST /api/case-types/import/cmmn/preview" => {
                let case = format!("imported-case-{}", unique());
                let content = prepare::case_document(&case, prepare::HUMAN_CASE);
                json!({"fileName": format!("{case}.cmmn"), "content": content})
            }
            "POST /api/case-types" => json!({
                "slug": format!("case-{}", unique()), "displayName": "Made", "description": ""}),
            "PATCH /api/case-types/{caseTypeId}" => json!({"displayName": "Renamed"}),
            "PUT /api/case-types/{caseTypeId}/draft" => {
                let id = path.get("caseTypeId").and_then(Value::as_str).unwrap_or_default();
                let case_type = self.client.get(&format!("/api/case-types/{id}")).await?.data()?;
                json!({"definition": case_type["definition"]})
            }
            "POST /api/case-types/{caseTypeId}/validate"
            | "POST /api/case-types/{caseTypeId}/publish"
            | "POST /api/cases/{caseId}/{transition}"
            | "POST /api/cases/{caseId}/plan-items/{planItemId}/{transition}" => json!({}),
            "POST /api/cases" => json!({"caseTypeId": self.case_type, "file": {"note": {"text": "a"}}}),
            "PUT /api/cases/{caseId}/file/{itemId}" => json!({"value": {"text": "a"}}),
            _ => return Ok(None),
        }))
    }

    async fn body(&self, operation: &Operation, path: &Parameters) -> Result<Option<Value>> {
        let label = operation.label();
        let of_kind = || vector::body(&label).or_else(|| models::body(&label));
        if let Some(body) = self.case_body(&label, path).await?.or_else(of_kind) {
            return Ok(Some(body));
        }
        let key = format!("key-{}", unique());
        let body = match label.as_str() {
            "POST /api/workflows" => json!({
                "slug": format!("made-{}", unique()), "displayName": "Made", "description": "",
                "definition": prepare::definition(self.client, "made", prepare::ONE_TASK).await?}),
            "PATCH /api/workflows/{workflowId}" => json!({"displayName": "Renamed"}),
            "PUT /api/workflows/{workflowId}/draft" => {
                json!({"definition": prepare::definition(self.client, "made", prepare::ONE_TASK).await?})
            }
            "POST /api/workflows/{workflowId}/validate"
            | "POST /api/workflows/{workflowId}/publish"
            | "POST /api/workflows/{workflowId}/runs"
            | "POST /api/workflows/{workflowId}/runs/{runId}/human-tasks/{nodeId}/complete" => json!({}),
            "POST /api/workflows/{workflowId}/runs/{runId}/decision" => {
                json!({"decision": "approve", "nodeId": "work"})
            }
            "POST /api/workflows/transform/preview" => json!({"source": {
                "format": "bpmn", "fileName": "a.bpmn", "content": prepare::document("a", prepare::ONE_TASK)}}),
            "POST /api/case-events" => {
                json!({"correlationKey": key, "eventType": "note", "idempotencyKey": key, "payload": {}})
            }
            "POST /api/signals" => json!({"name": "note", "payload": {}, "idempotencyKey": key}),
            "POST /api/test/clock" => json!({"advance": "PT1S"}),
            "POST /api/grants" => self.grant().await?,
            "POST /api/connections" => connection("http"),
            "POST /api/webhooks" => self.webhook().await?,
            "PATCH /api/organizations/{organizationId}"
            | "PATCH /api/groups/{groupId}"
            | "PATCH /api/connections/{id}"
            | "PATCH /api/webhooks/{webhookId}"
            | "PATCH /api/roles/{roleId}"
            | "PATCH /api/users/{userId}" => self.rename(operation, path).await?,
            "POST /api/licence/validate" | "PUT /api/licence" => match self.licence().await? {
                Some(text) => json!({ "licence": text }),
                None => return Ok(self.document.sample(operation)),
            },
            _ => return Ok(self.document.sample(operation)),
        };
        Ok(Some(body))
    }

    /// Makes one more of a collection out of a sample body.
    async fn fresh(&self, collection: &str) -> Result<String> {
        let create = Operation { method: "POST".to_owned(), path: collection.to_owned() };
        let body = self.body_of_create(&create).await?;
        let data = self
            .client
            .post(collection, &body)
            .await?
            .data()
            .with_context(|| format!("POST {collection}"))?;
        id_of(&data).with_context(|| format!("POST {collection} gives no id: {data}"))
    }

    async fn body_of_create(&self, create: &Operation) -> Result<Value> {
        match create.path.as_str() {
            "/api/grants" => self.grant().await,
            "/api/connections" => Ok(connection("http")),
            "/api/webhooks" => self.webhook().await,
            _ => self.document.sample(create).with_context(|| format!("{} takes no JSON", create.label())),
        }
    }

    /// A grant to a new user, in whichever of the documented shapes the sample has.
    async fn grant(&self) -> Result<Value> {
        let operation = Operation { method: "POST".to_owned(), path: "/api/grants".to_owned() };
        let mut body = self.document.sample(&operation).context("POST /api/grants takes no JSON")?;
        let user = Box::pin(self.fresh("/api/users")).await?;
        fill(&mut body, &user);
        Ok(body)
    }

    /// A webhook over a connection of its own.
    async fn webhook(&self) -> Result<Value> {
        let made = self.client.post("/api/connections", &connection("webhook")).await?.data()?;
        let over = made["id"].as_str().context("a connection without an id")?;
        Ok(json!({"name": format!("made-{}", unique()), "connectionId": over, "eventTypes": ["run.failed"]}))
    }

    /// A change of the name alone, by the name that the thing carries.
    async fn rename(&self, operation: &Operation, path: &Parameters) -> Result<Value> {
        let id = path.values().next().and_then(Value::as_str).unwrap_or_default();
        let collection = operation.path.split("/{").next().unwrap_or_default();
        let data = self.client.get(&format!("{collection}/{id}")).await?.data()?;
        let member =
            ["displayName", "name", "description"].into_iter().find(|member| data.get(*member).is_some());
        Ok(json!({member.context("nothing to rename")?: format!("Renamed {}", unique())}))
    }

    /// A second session of the caller's own.
    async fn session(&self) -> Result<String> {
        let token = self.client.second_session().await?;
        let other = Client::with_token(&self.client.address(), &token)?;
        let data = other.get("/api/auth/session").await?.data()?;
        let id = data["session"]["id"]
            .as_str()
            .or_else(|| data["sessionId"].as_str())
            .or_else(|| data["id"].as_str());
        id.map(str::to_owned).with_context(|| format!("a session without an id: {data}"))
    }

    async fn task(&self) -> Result<String> {
        let run = prepare::start(self.client, &self.human, &json!({})).await?;
        let nodes = run["activeNodes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let task = nodes.iter().find_map(|node| node["waitingFor"]["taskId"].as_str());
        task.map(str::to_owned).with_context(|| format!("no open task in {run}"))
    }

    async fn event(&self) -> Result<String> {
        let key = format!("key-{}", unique());
        let body = json!({"correlationKey": key, "eventType": "note", "idempotencyKey": key, "payload": {}});
        let data = self.client.post("/api/case-events", &body).await?.data()?;
        data["event"]["id"].as_str().map(str::to_owned).context("a case event without an id")
    }

    /// The token of a hook at which calls come in: the end of its address.
    async fn hook(&self) -> Result<String> {
        // It takes whatever is sent: a generated call has no signature.
        let name = format!("made-{}", unique());
        let body = json!({"name": name, "eventType": "called", "correlationKey": "\"k\""});
        let made = self.client.post("/api/incoming-hooks", &body).await?.data()?;
        let token = made["path"].as_str().and_then(|path| path.rsplit('/').next());
        token.map(str::to_owned).context("a hook without an address")
    }

    /// A user, made a member first where the operation removes one.
    async fn member(&self, operation: &Operation) -> Result<String> {
        let user = self.fresh("/api/users").await?;
        if operation.method == "DELETE" {
            let put = Operation { method: "PUT".to_owned(), path: operation.path.clone() };
            let body = self.document.sample(&put).unwrap_or_else(|| json!({"roles": ["viewer"]}));
            self.client.call(Method::PUT, &format!("/api/members/{user}"), Some(&body)).await?.data()?;
        }
        Ok(user)
    }

    /// The installed licence's text, if the API shows it.
    async fn licence(&self) -> Result<Option<String>> {
        let data = self.client.get("/api/licence").await?.data()?;
        Ok(["licence", "text", "token"].iter().find_map(|key| data[*key].as_str()).map(str::to_owned))
    }
}

/// A connection that leads to a port of this machine where nobody listens: its test ends at once.
fn connection(kind: &str) -> Value {
    let (config, secrets) = match kind {
        "webhook" => (
            json!({"url": "http://127.0.0.1:9"}),
            json!({"signingSecret": "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"}),
        ),
        _ => (json!({"baseUrl": "http://127.0.0.1:9"}), json!({})),
    };
    json!({"name": format!("made-{}", unique()), "type": kind, "config": config, "secrets": secrets})
}

/// Query parameters without which a call cannot succeed, or would not end.
fn query(operation: &Operation) -> Option<Value> {
    match operation.label().as_str() {
        "DELETE /api/workflows/{workflowId}/runs/{runId}" => Some(json!({"reason": "no longer needed"})),
        "GET /api/vector-databases/address-availability" => {
            Some(json!({"name": format!("made-{}", unique())}))
        }
        _ => None,
    }
}

/// The id of what was made: its own, or that of the first thing inside.
fn id_of(data: &Value) -> Option<String> {
    let own = data["id"].as_str();
    let inner = || data.as_object().into_iter().flatten().find_map(|(_, member)| member["id"].as_str());
    own.or_else(inner).map(str::to_owned)
}

/// Puts a user's id wherever a sample names its subject.
fn fill(body: &mut Value, user: &str) {
    let Some(members) = body.as_object_mut() else { return };
    for (name, value) in members.iter_mut() {
        match (name.as_str(), &value) {
            ("userId" | "subjectId" | "principalId", _) => *value = json!(user),
            ("subject" | "principal" | "grantee", Value::Object(_)) => {
                if let Some(subject) = value.as_object_mut() {
                    subject.insert("id".to_owned(), json!(user));
                    for kind in ["type", "kind"] {
                        if subject.contains_key(kind) {
                            subject.insert(kind.to_owned(), json!("user"));
                        }
                    }
                }
            }
            ("subjectType" | "principalType", _) => *value = json!("user"),
            _ => {}
        }
    }
}

/// A decision model, so that there is one to be exported.
const DECISION: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" id="m" name="m" namespace="urn:m">
  <decision id="d" name="d"><variable name="d"/><literalExpression><text>1</text></literalExpression></decision>
  </definitions>"#;

/// A workflow made from an imported file, so that its source can be read again.
async fn imported(client: &Client) -> Result<String> {
    let name = format!("imported-{}", unique());
    let source = json!({"source": {
        "format": "bpmn", "fileName": format!("{name}.bpmn"), "content": prepare::document(&name, prepare::ONE_TASK)}});
    let mut preview =
        client.post("/api/workflows/transform/preview", &source).await?.data().context("preview")?;
    let import = preview["import"].take();
    let mut definition = preview["definition"].take();
    if definition["imports"].as_array().is_none_or(Vec::is_empty) {
        definition["imports"] = json!([import]);
    }
    definition["dmn"] = json!({ "sourceXml": DECISION });
    let body = json!({"slug": name, "displayName": name, "description": "", "definition": definition});
    let created = client.post("/api/workflows", &body).await?.data().context("create")?;
    let id = created["id"].as_str().context("a created workflow has an id")?.to_owned();
    client.post(&format!("/api/workflows/{id}/publish"), &json!({})).await?.data().context("publish")?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_at_the_top_or_inside() {
        assert_eq!(id_of(&json!({"id": "a", "user": {"id": "b"}})).as_deref(), Some("a"));
        assert_eq!(id_of(&json!({"secret": "s", "user": {"id": "b"}})).as_deref(), Some("b"));
        assert_eq!(id_of(&json!({"secret": "s"})), None);
    }

    #[test]
    fn a_grants_subject_is_filled_in_whichever_shape() {
        let mut body = json!({"principal": {"kind": "everyone"}, "userId": "z", "effect": "allow"});
        fill(&mut body, "u");
        assert_eq!(body, json!({"principal": {"kind": "user", "id": "u"}, "userId": "u", "effect": "allow"}));
    }
}
