//! `heddle vector-database` and `heddle query`.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::given;
use crate::cli::{
    CreateVectorDatabase, ListVectorDatabases, OneVectorDatabase, QueryPassages, UpdateVectorDatabase,
    VectorDatabaseMembers,
};
use crate::client::{Client, Query, escaped, text};
use crate::failure::Failure;
use crate::output;

/// Path of the list.
pub(super) const DATABASES: &str = "/api/vector-databases";
/// Characters of a passage that are shown to people.
const SHOWN: usize = 400;

/// Path of a vector database.
pub(super) fn path_of(name: &str) -> String {
    format!("{DATABASES}/{}", escaped(name))
}

pub(crate) async fn list(client: &Client, options: &ListVectorDatabases, as_json: bool) -> Result<()> {
    let query = Query::default().maybe("q", options.query.as_deref());
    let rows = client.list(DATABASES, &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "vectorDatabases": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        let model = row.pointer("/embeddingModel/id").and_then(Value::as_str).unwrap_or("-");
        [
            text(row, "/name").to_owned(),
            text(row, "/state").to_owned(),
            model.to_owned(),
            count(row, "/counts/files"),
            count(row, "/counts/failedFiles"),
            count(row, "/counts/passages"),
        ]
    };
    let head = ["NAME", "STATE", "MODEL", "FILES", "FAILED", "PASSAGES"];
    output::table(head, &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}

/// Number of a member, as text.
pub(super) fn count(row: &Value, pointer: &str) -> String {
    row.pointer(pointer).and_then(Value::as_u64).unwrap_or_default().to_string()
}

pub(crate) async fn create(client: &Client, options: &CreateVectorDatabase, as_json: bool) -> Result<()> {
    let mut body = members(&options.members)?;
    body.insert("name".to_owned(), json!(options.name));
    if let Some(backend) = &options.backend {
        body.insert("backend".to_owned(), json!(backend));
    }
    let made = client.post(DATABASES, &Value::Object(body)).await?;
    told(&made, &format!("Created {}.", options.name), as_json);
    Ok(())
}

pub(crate) async fn update(client: &Client, options: &UpdateVectorDatabase, as_json: bool) -> Result<()> {
    let body = members(&options.members)?;
    if body.is_empty() {
        return Err(Failure::Configuration("there is nothing to change: name a member".to_owned()).into());
    }
    let made = client.patch(&path_of(&options.name), &Value::Object(body)).await?;
    let line = match text(&made, "/reindexJobId") {
        "" => format!("Changed {}.", options.name),
        job => format!("Changed {}; the job {job} indexes it anew.", options.name),
    };
    told(&made, &line, as_json);
    Ok(())
}

pub(crate) async fn get(client: &Client, options: &OneVectorDatabase, as_json: bool) -> Result<()> {
    // The search is for a part of the text; only the whole name counts.
    let rows = client.list(DATABASES, &Query::default().with("q", &options.name), usize::MAX).await?;
    let found = rows.into_iter().find(|row| text(row, "/name") == options.name);
    let missing = || Failure::NotFound(format!("there is no vector database `{}`", options.name));
    let found = found.ok_or_else(missing)?;
    if as_json {
        output::json(&found);
    } else {
        output::line(&serde_json::to_string_pretty(&found)?);
    }
    Ok(())
}

pub(crate) async fn delete(client: &Client, options: &OneVectorDatabase, as_json: bool) -> Result<()> {
    client.delete(&path_of(&options.name)).await?;
    told(&json!({ "deleted": options.name }), &format!("Deleted {}.", options.name), as_json);
    Ok(())
}

pub(crate) async fn query(client: &Client, options: &QueryPassages, as_json: bool) -> Result<()> {
    let mut body = json!({ "query": options.text });
    if let Some(members) = body.as_object_mut() {
        let filter = given::object("--filter", options.filter.as_deref())?;
        members.extend(filter.map(|filter| ("filter".to_owned(), filter)));
        members.extend(options.mode.as_ref().map(|mode| ("mode".to_owned(), json!(mode))));
        members.extend(options.limit.map(|limit| ("limit".to_owned(), json!(limit))));
    }
    let answer = client.post(&format!("{}/query", path_of(&options.database)), &body).await?;
    if as_json {
        output::json(&answer);
        return Ok(());
    }
    let passages = answer.get("passages").and_then(Value::as_array).into_iter().flatten();
    for passage in passages {
        let score = passage.get("score").and_then(Value::as_f64).unwrap_or_default();
        output::line(&output::plain(&format!("{score:.3}  {}", text(passage, "/citation/label"))));
        let shown: String = text(passage, "/text").split_whitespace().collect::<Vec<_>>().join(" ");
        output::line(&output::plain(&format!("       {}", shown.chars().take(SHOWN).collect::<String>())));
    }
    Ok(())
}

/// Members that were given, as a body has them.
fn members(options: &VectorDatabaseMembers) -> Result<Map<String, Value>> {
    let mut body = Map::new();
    let texts = [("displayName", &options.display_name), ("description", &options.description)];
    for (name, value) in texts {
        body.extend(value.as_ref().map(|value| (name.to_owned(), json!(value))));
    }
    match options.model.as_deref() {
        None => {}
        Some("none") => drop(body.insert("embeddingModelId".to_owned(), Value::Null)),
        Some(model) => drop(body.insert("embeddingModelId".to_owned(), json!(model))),
    }
    body.extend(options.methodology.as_ref().map(|id| ("methodologyId".to_owned(), json!(id))));
    let chosen = given::object("--options", options.options.as_deref())?;
    body.extend(chosen.map(|chosen| ("methodologyOptions".to_owned(), chosen)));
    let mut schema = Map::new();
    for field in &options.fields {
        let Some((name, kind)) = field.split_once('=') else {
            let message = format!("--field `{field}`: NAME=TYPE is needed, such as year=number");
            return Err(Failure::Configuration(message).into());
        };
        schema.insert(name.to_owned(), json!({ "type": kind }));
    }
    if !schema.is_empty() {
        body.insert("metadataSchema".to_owned(), Value::Object(schema));
    }
    Ok(body)
}

fn told(made: &Value, line: &str, as_json: bool) {
    match as_json {
        true => output::json(made),
        false => output::line(&output::plain(line)),
    }
}
