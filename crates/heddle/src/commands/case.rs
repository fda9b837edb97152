//! `heddle case`.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::given;
use crate::cli::{CaseEvents, CaseFile, ListCases, MoveCase, OneCase, StartCase};
use crate::client::{Client, Query, escaped, is_id, text};
use crate::failure::Failure;
use crate::output;

pub(crate) async fn start(client: &Client, options: &StartCase, as_json: bool) -> Result<()> {
    let members = [
        ("caseTypeId", Some(Value::from(case_type(client, &options.case_type).await?))),
        ("file", given::object("--file", options.file.as_deref())?),
        ("input", given::object("--input", options.input.as_deref())?),
        ("roles", roles(&options.roles)?),
        ("version", options.of.map(Value::from)),
        ("definitionId", options.definition.clone().map(Value::from)),
        ("businessKey", options.business_key.clone().map(Value::from)),
        ("correlationKey", options.correlation_key.clone().map(Value::from)),
    ];
    let case = client.post("/api/cases", &object(members)).await?;
    told(&case, as_json);
    Ok(())
}

pub(crate) async fn list(client: &Client, options: &ListCases, as_json: bool) -> Result<()> {
    let case_type = match &options.case_type {
        Some(name) => Some(case_type(client, name).await?),
        None => None,
    };
    let query = Query::default()
        .maybe("caseTypeId", case_type.as_deref())
        .maybe("state", options.state.as_deref())
        .maybe("hasIncident", options.incidents.then_some("true"));
    let rows = client.list("/api/cases", &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "cases": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        let incident = row.get("hasIncident").and_then(Value::as_bool) == Some(true);
        let key = row.get("businessKey").and_then(Value::as_str).unwrap_or("-");
        [
            text(row, "/id").to_owned(),
            text(row, "/state").to_owned(),
            if incident { "incident".to_owned() } else { String::new() },
            text(row, "/createdAt").to_owned(),
            key.to_owned(),
        ]
    };
    output::table(["ID", "STATE", "", "CREATED", "KEY"], &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}

pub(crate) async fn get(client: &Client, options: &OneCase, as_json: bool) -> Result<()> {
    let case = client.get(&path(&options.case)?).await?;
    if as_json {
        output::json(&case);
    } else {
        show(&case);
    }
    Ok(())
}

pub(crate) async fn transition(client: &Client, options: &MoveCase, as_json: bool) -> Result<()> {
    let (path, word) = (path(&options.case)?, escaped(&options.transition));
    let path = match &options.item {
        Some(item) => format!("{path}/plan-items/{}/{word}", escaped(item)),
        None => format!("{path}/{word}"),
    };
    let members = [
        ("host", options.host.clone().map(Value::from)),
        ("payload", given::json("--payload", options.payload.as_deref())?),
        ("reason", options.reason.clone().map(Value::from)),
    ];
    told(&client.post(&path, &object(members)).await?, as_json);
    Ok(())
}

pub(crate) async fn file(client: &Client, options: &CaseFile, as_json: bool) -> Result<()> {
    let path = path(&options.case)?;
    let case = match (&options.item, given::json("--value", options.value.as_deref())?) {
        (Some(item), Some(value)) => {
            let transition = options.transition.clone().map(Value::from);
            let at = (!options.at.is_empty()).then(|| Value::from(options.at.clone()));
            let body = object([("value", Some(value)), ("transition", transition), ("at", at)]);
            client.put(&format!("{path}/file/{}", escaped(item)), &body).await?
        }
        _ => client.get(&path).await?,
    };
    let file = case.get("file").cloned().unwrap_or_default();
    if as_json {
        output::json(&file);
    } else {
        for (name, value) in file.as_object().into_iter().flatten() {
            output::line(&output::plain(&format!("{name:<20}{value}")));
        }
    }
    Ok(())
}

pub(crate) async fn events(client: &Client, options: &CaseEvents, as_json: bool) -> Result<()> {
    let path = format!("{}/events", path(&options.case)?);
    let query = Query::default().with("after", &options.after.to_string());
    let rows = client.list(&path, &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "events": rows }));
        return Ok(());
    }
    for row in &rows {
        let number = row.get("sequence").map(Value::to_string).unwrap_or_default();
        let (kind, item) = (text(row, "/type"), text(row, "/nodeId"));
        output::line(&output::plain(&format!("{number:>6}  {}  {kind:<24}{item}", text(row, "/at"))));
    }
    Ok(())
}

/// People by the roles that they fill; none when nobody is named.
fn roles(given: &[String]) -> Result<Option<Value>> {
    let mut people: Map<String, Value> = Map::new();
    for text in given {
        let Some((role, user)) =
            text.split_once('=').filter(|(role, user)| !role.is_empty() && !user.is_empty())
        else {
            return Err(Failure::Configuration(format!("--role is ROLE=USER, and not `{text}`")).into());
        };
        let others = people.entry(role).or_insert_with(|| json!([]));
        if let Some(others) = others.as_array_mut() {
            others.push(user.into());
        }
    }
    Ok((!people.is_empty()).then_some(Value::Object(people)))
}

/// Members that are given.
fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let given = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(given.collect::<Map<_, _>>())
}

fn path(case: &str) -> Result<String> {
    match is_id(case) {
        true => Ok(format!("/api/cases/{}", case.to_lowercase())),
        false => Err(Failure::Refused(format!("`{case}` is no case's id")).into()),
    }
}

/// Id of a case type by its slug or id.
async fn case_type(client: &Client, name: &str) -> Result<String> {
    if is_id(name) {
        return Ok(name.to_lowercase());
    }
    let rows = client.list("/api/case-types", &Query::default().with("q", name), usize::MAX).await?;
    let found = rows.iter().find(|row| text(row, "/slug") == name).map(|row| text(row, "/id").to_owned());
    Ok(found.ok_or_else(|| Failure::NotFound(format!("there is no case type `{name}`")))?)
}

fn told(case: &Value, as_json: bool) {
    match as_json {
        true => output::json(case),
        false => output::line(&format!("{}  {}", text(case, "/id"), text(case, "/state"))),
    }
}

fn show(case: &Value) {
    let row = |name: &str, value: &str| output::line(&output::plain(&format!("{name:<14}{value}")));
    let given = |name: &str, pointer: &str| {
        if let Some(value) = case.pointer(pointer).and_then(Value::as_str) {
            row(name, value);
        }
    };
    row("case", text(case, "/id"));
    row("state", text(case, "/state"));
    row("case type", text(case, "/caseTypeId"));
    row("version", &case.get("version").map(Value::to_string).unwrap_or_default());
    given("business key", "/businessKey");
    given("correlation", "/correlationKey");
    given("created", "/createdAt");
    given("ended", "/endedAt");
    let members =
        |of: &Value, name: &str| of.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    for item in members(case, "planItems") {
        let name = item.get("name").and_then(Value::as_str).unwrap_or_else(|| text(&item, "/planItemId"));
        row(
            "item",
            &format!("{}  {}  {name} ({})", text(&item, "/id"), text(&item, "/state"), text(&item, "/type")),
        );
        for criterion in members(&item, "missing") {
            let parts = members(&criterion, "onParts");
            let parts =
                parts.iter().map(|part| format!("{} {}", text(part, "/source"), text(part, "/event")));
            let condition = criterion.pointer("/ifPart/text").and_then(Value::as_str).map(str::to_owned);
            let missing: Vec<String> = parts.chain(condition).collect();
            row("", &format!("  waits for {}", missing.join(" and ")));
        }
    }
    for item in members(case, "planning") {
        row("may plan", &format!("{}  into {}", text(&item, "/planItemId"), text(&item, "/hostId")));
    }
    for task in members(case, "humanTasks") {
        row("task", &format!("{}  {}  {}", text(&task, "/id"), text(&task, "/state"), text(&task, "/name")));
    }
    for incident in members(case, "incidents") {
        let (id, node) = (text(&incident, "/id"), text(&incident, "/nodeId"));
        row("incident", &format!("{id}  at {node}: {}", text(&incident, "/message")));
    }
    for name in ["file", "variables"] {
        if let Some(value) = case.get(name).filter(|value| !value.is_null()) {
            row(name, &value.to_string());
        }
    }
}
