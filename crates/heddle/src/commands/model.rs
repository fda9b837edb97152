//! `heddle model`, `heddle chat`, `heddle embed` and `heddle usage`.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use crate::cli::{
    AskModel, ConnectProvider, EmbedTexts, ImportModels, ListDeployments, ListModelConnections, ListModels,
    OneModelConnection, ShowUsage,
};
use crate::client::{Client, Query, is_id, text};
use crate::failure::Failure;
use crate::output;

const CONNECTIONS: &str = "/api/model-providers/connections";

pub(crate) async fn types(client: &Client, as_json: bool) -> Result<()> {
    let found = client.get("/api/model-providers/types").await?;
    if as_json {
        output::json(&json!({ "types": found }));
        return Ok(());
    }
    let cells = |row: &Value| {
        let abilities = row.get("capabilities").and_then(Value::as_object).into_iter().flatten();
        let abilities: Vec<&str> =
            abilities.filter(|(_, has)| **has == json!(true)).map(|(name, _)| name.as_str()).collect();
        [
            text(row, "/id").to_owned(),
            text(row, "/displayName").to_owned(),
            text(row, "/defaultBaseUrl").to_owned(),
            abilities.join(" "),
        ]
    };
    let rows: Vec<_> = found.as_array().into_iter().flatten().map(cells).collect();
    output::table(["TYPE", "NAME", "ADDRESS", "ABILITIES"], &rows);
    Ok(())
}

pub(crate) async fn connections(
    client: &Client,
    options: &ListModelConnections,
    as_json: bool,
) -> Result<()> {
    let query = Query::default().maybe("type", options.kind.as_deref()).maybe("q", options.query.as_deref());
    let rows = client.list(CONNECTIONS, &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "connections": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        let last = match row.pointer("/lastTest/ok").and_then(Value::as_bool) {
            None => "-".to_owned(),
            Some(true) => format!("ok {}", text(row, "/lastTest/testedAt")),
            Some(false) => format!("failed {}", text(row, "/lastTest/testedAt")),
        };
        [text(row, "/id").to_owned(), text(row, "/name").to_owned(), text(row, "/type").to_owned(), last]
    };
    output::table(["ID", "NAME", "TYPE", "LAST TEST"], &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}

pub(crate) async fn connect(client: &Client, options: &ConnectProvider, as_json: bool) -> Result<()> {
    let mut body = Map::new();
    body.insert("name".to_owned(), json!(options.name));
    body.insert("type".to_owned(), json!(options.kind));
    if let Some(url) = &options.base_url {
        body.insert("baseUrl".to_owned(), json!(url));
    }
    if let Some(file) = &options.key_file {
        body.insert("apiKey".to_owned(), json!(key_in(file)?));
    }
    let made = client.post(CONNECTIONS, &Value::Object(body)).await?;
    if as_json {
        output::json(&made);
    } else {
        let line = format!("Connected {}; `heddle model discover` asks for its models.", options.name);
        output::line(&output::plain(&line));
    }
    Ok(())
}

/// The key in a file, without the end of its line.
fn key_in(file: &Path) -> Result<String> {
    let read = match file.as_os_str() == "-" {
        true => input()?,
        false => std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))?,
    };
    let key = read.trim();
    if key.is_empty() {
        return Err(Failure::Configuration("the file holds no key".to_owned()).into());
    }
    Ok(key.to_owned())
}

/// All of the standard input.
fn input() -> Result<String> {
    let mut all = String::new();
    std::io::stdin().lock().read_to_string(&mut all).context("the standard input can't be read")?;
    Ok(all)
}

/// Path of a connection to a provider by its name or id.
async fn path_of(client: &Client, name: &str) -> Result<String> {
    if is_id(name) {
        return Ok(format!("{CONNECTIONS}/{}", name.to_lowercase()));
    }
    // The search is for a part of the text; only the whole name counts.
    let rows = client.list(CONNECTIONS, &Query::default().with("q", name), usize::MAX).await?;
    let found = rows.into_iter().find(|row| text(row, "/name") == name);
    let found =
        found.ok_or_else(|| Failure::NotFound(format!("there is no connection `{name}` to a provider")))?;
    Ok(format!("{CONNECTIONS}/{}", text(&found, "/id")))
}

pub(crate) async fn discover(client: &Client, options: &OneModelConnection, as_json: bool) -> Result<()> {
    let path = format!("{}/models/discover", path_of(client, &options.connection).await?);
    let done = client.post(&path, &Value::Null).await?;
    if as_json {
        output::json(&done);
        return Ok(());
    }
    let cells = |row: &Value| {
        let deployed = if text(row, "/deploymentId").is_empty() { "" } else { "deployed" };
        [text(row, "/model").to_owned(), abilities(row), deployed.to_owned()]
    };
    let rows: Vec<_> = done.get("items").and_then(Value::as_array).into_iter().flatten().map(cells).collect();
    output::table(["MODEL", "ABILITIES", ""], &rows);
    Ok(())
}

/// Abilities of a model, in words.
fn abilities(row: &Value) -> String {
    let list = row.get("capabilities").and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
}

pub(crate) async fn import(client: &Client, options: &ImportModels, as_json: bool) -> Result<()> {
    let path = format!("{}/models/import", path_of(client, &options.connection).await?);
    let model = |name: &String| match name.split_once('=') {
        Some((model, alias)) => json!({ "model": model, "alias": alias }),
        None => json!({ "model": name }),
    };
    let body =
        json!({ "models": options.models.iter().map(model).collect::<Vec<_>>(), "atomic": options.atomic });
    let done = client.post(&path, &body).await?;
    if as_json {
        output::json(&done);
        return Ok(());
    }
    for row in done.get("imported").and_then(Value::as_array).into_iter().flatten() {
        output::line(&output::plain(&format!("{} is `{}`", text(row, "/model"), text(row, "/alias"))));
    }
    for row in done.get("skipped").and_then(Value::as_array).into_iter().flatten() {
        output::line(&output::plain(&format!("{}: {}", text(row, "/model"), text(row, "/message"))));
    }
    Ok(())
}

pub(crate) async fn deployments(client: &Client, options: &ListDeployments, as_json: bool) -> Result<()> {
    let query = Query::default()
        .maybe("capability", options.capability.as_deref())
        .maybe("state", options.state.as_deref());
    let rows = client.list("/api/model-providers/deployments", &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "deployments": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        [
            text(row, "/id").to_owned(),
            text(row, "/alias").to_owned(),
            text(row, "/model").to_owned(),
            text(row, "/state").to_owned(),
            abilities(row),
        ]
    };
    let head = ["ID", "ALIAS", "MODEL", "STATE", "ABILITIES"];
    output::table(head, &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}

pub(crate) async fn list(client: &Client, options: &ListModels, as_json: bool) -> Result<()> {
    let query = Query::default().maybe("capability", options.capability.as_deref());
    let rows = client.list("/api/models", &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "models": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        [
            text(row, "/id").to_owned(),
            text(row, "/provider").to_owned(),
            text(row, "/state").to_owned(),
            abilities(row),
        ]
    };
    output::table(["MODEL", "PROVIDER", "STATE", "ABILITIES"], &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}

pub(crate) async fn chat(client: &Client, options: &AskModel, as_json: bool) -> Result<()> {
    let question = match &options.question {
        Some(question) => question.clone(),
        None => input()?,
    };
    let mut messages = Vec::new();
    messages.extend(options.system.iter().map(|text| json!({ "role": "system", "content": text })));
    messages.push(json!({ "role": "user", "content": question }));
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(options.model));
    body.insert("messages".to_owned(), json!(messages));
    if let Some(most) = options.max_tokens {
        body.insert("max_tokens".to_owned(), json!(most));
    }
    if let Some(temperature) = options.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    let answer = client.post("/api/chat", &Value::Object(body)).await?;
    if as_json {
        output::json(&answer);
        return Ok(());
    }
    let said = text(&answer, "/choices/0/message/content");
    // Lines of an answer are lines; what else steers a terminal comes through nowhere.
    for line in said.lines() {
        output::line(&output::plain(line));
    }
    let of = |pointer| answer.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let (asked, told) = (of("/usage/prompt_tokens"), of("/usage/completion_tokens"));
    output::note(&format!("{asked} tokens asked, {told} answered"));
    Ok(())
}

pub(crate) async fn embed(client: &Client, options: &EmbedTexts, as_json: bool) -> Result<()> {
    let texts = match options.texts.is_empty() {
        true => input()?.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect(),
        false => options.texts.clone(),
    };
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(options.model));
    body.insert("input".to_owned(), json!(texts));
    if let Some(dimensions) = options.dimensions {
        body.insert("dimensions".to_owned(), json!(dimensions));
    }
    let answer = client.post("/api/embeddings", &Value::Object(body)).await?;
    if as_json {
        output::json(&answer);
        return Ok(());
    }
    for row in answer.get("data").and_then(Value::as_array).into_iter().flatten() {
        output::line(&row.get("embedding").map(Value::to_string).unwrap_or_default());
    }
    Ok(())
}

pub(crate) async fn usage(client: &Client, options: &ShowUsage, as_json: bool) -> Result<()> {
    let query = Query::default()
        .with("by", &options.by)
        .maybe("from", options.from.as_deref())
        .maybe("to", options.to.as_deref());
    let rows = client.list("/api/usage", &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "usage": rows }));
        return Ok(());
    }
    let number =
        |row: &Value, name: &str| row.get(name).and_then(Value::as_i64).unwrap_or_default().to_string();
    let cells = |row: &Value| {
        [
            text(row, "/key").to_owned(),
            number(row, "calls"),
            number(row, "failed"),
            number(row, "inputTokens"),
            number(row, "outputTokens"),
            number(row, "costMicros"),
        ]
    };
    let head = ["KEY", "CALLS", "FAILED", "TOKENS IN", "TOKENS OUT", "COST (MICROS)"];
    output::table(head, &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}
