//! `heddle task`, `heddle event` and `heddle dead-letter`.

use anyhow::Result;
use heddle_server::operator;
use serde_json::{Map, Value, json};

use super::given;
use crate::cli::{
    AssignTask, CompleteTask, ListLetters, ListTasks, OneLetter, Payload, SendEvent, SendSignal,
};
use crate::client::{Client, Query, text};
use crate::failure::advised;
use crate::output;

pub(crate) async fn tasks(client: &Client, options: &ListTasks, as_json: bool) -> Result<()> {
    let workflow = match &options.workflow {
        Some(name) => Some(text(&client.workflow(name).await?, "/id").to_owned()),
        None => None,
    };
    let query = Query::default()
        .with("state", &options.state)
        .maybe("assignee", options.mine.then_some("me"))
        .maybe("candidate", options.candidate.then_some("me"))
        .maybe("workflowId", workflow.as_deref())
        .maybe("runId", options.run.as_deref());
    let rows = client.list("/api/human-tasks", &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "tasks": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        let or =
            |name: &str, other: &str| row.pointer(name).and_then(Value::as_str).unwrap_or(other).to_owned();
        [
            or("/id", ""),
            or("/name", ""),
            or("/state", ""),
            or("/assignee", "-"),
            or("/dueAt", "-"),
            first(row, &["runId", "caseId"]).unwrap_or_default().to_owned(),
        ]
    };
    output::table(
        ["ID", "NAME", "STATE", "ASSIGNEE", "DUE", "RUN OR CASE"],
        &rows.iter().map(cells).collect::<Vec<_>>(),
    );
    Ok(())
}

pub(crate) async fn assign(client: &Client, options: &AssignTask, as_json: bool) -> Result<()> {
    let task = client.task(&options.task, options.run.as_deref()).await?;
    let assignee = (!options.nobody).then(|| options.user.as_deref().unwrap_or("me"));
    let path = format!("/api/human-tasks/{}/assign", text(&task, "/id"));
    let task = client.post(&path, &json!({ "assignee": assignee })).await?;
    if as_json {
        output::json(&task);
    } else {
        let name = text(&task, "/name");
        let line = match assignee {
            Some("me") => format!("Assigned \"{name}\" to the account."),
            Some(user) => format!("Assigned \"{name}\" to {user}."),
            None => format!("Released \"{name}\": it is assigned to nobody."),
        };
        output::line(&output::plain(&line));
    }
    Ok(())
}

pub(crate) async fn complete(client: &Client, options: &CompleteTask, as_json: bool) -> Result<()> {
    let values = given::object("--values", options.values.as_deref())?;
    let task = client.task(&options.task, options.run.as_deref()).await?;
    let mut body = Map::new();
    let members = [("outcome", options.outcome.clone().map(Value::from)), ("values", values)];
    let members = members.into_iter().chain([("comment", options.comment.clone().map(Value::from))]);
    body.extend(members.filter_map(|(name, value)| Some((name.to_owned(), value?))));
    let path = format!("/api/human-tasks/{}/complete", text(&task, "/id"));
    let done = client.post(&path, &Value::Object(body)).await.map_err(|error| {
        let task = text(&task, "/id");
        let way =
            format!("`heddle task assign {task}` makes it the account's, where the account may assign it");
        advised(error, "notCandidate", &way)
    })?;
    if as_json {
        output::json(&done);
    } else {
        let name = text(&done, "/task/name");
        let what = if done.get("case").is_some() { "case" } else { "run" };
        let (id, state) = (text(&done, &format!("/{what}/id")), text(&done, &format!("/{what}/state")));
        output::line(&output::plain(&format!("Completed \"{name}\"; the {what} {id} is {state}.")));
    }
    Ok(())
}

pub(crate) async fn send(client: &Client, options: &SendEvent, as_json: bool) -> Result<()> {
    let (payload, key) = carried(&options.payload)?;
    let body = json!({
        "eventType": options.name, "correlationKey": options.correlation_key, "payload": payload,
        "idempotencyKey": key,
    });
    told(client.post("/api/case-events", &body).await?, "The event", as_json);
    Ok(())
}

pub(crate) async fn signal(client: &Client, options: &SendSignal, as_json: bool) -> Result<()> {
    let (payload, key) = carried(&options.payload)?;
    let body = json!({ "name": options.name, "payload": payload, "idempotencyKey": key });
    told(client.post("/api/signals", &body).await?, "The signal", as_json);
    Ok(())
}

fn carried(options: &Payload) -> Result<(Value, String)> {
    let payload = given::json("--payload", options.payload.as_deref())?.unwrap_or_else(|| json!({}));
    let key = match &options.idempotency_key {
        Some(key) => key.clone(),
        None => operator::random_password()?,
    };
    Ok((payload, key))
}

fn told(done: Value, what: &str, as_json: bool) {
    if as_json {
        return output::json(&done);
    }
    let ids = |name: &str| done.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let all = [("runs", ids("workflowRunIds")), ("cases", ids("caseIds"))];
    if all.iter().all(|(_, ids)| ids.is_empty()) {
        output::line(&format!("{what} was taken; no run has it yet."));
    }
    for (name, ids) in all.iter().filter(|(_, ids)| !ids.is_empty()) {
        output::line(&format!("{what} went to these {name}:"));
        ids.iter().filter_map(Value::as_str).for_each(output::line);
    }
}

/// The first of some members that has a text.
pub(super) fn first<'r>(row: &'r Value, members: &[&str]) -> Option<&'r str> {
    members.iter().find_map(|name| row.get(name)?.as_str())
}

pub(crate) async fn letters(client: &Client, options: &ListLetters, as_json: bool) -> Result<()> {
    let query = Query::default().maybe("kind", options.kind.as_deref());
    let rows = client.list("/api/dead-letters", &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "deadLetters": rows }));
        return Ok(());
    }
    if rows.is_empty() {
        output::line("There are no dead letters.");
        return Ok(());
    }
    let cells = |row: &Value| {
        let of = first(row, &["runId", "caseId", "workflowId", "caseTypeId"]).unwrap_or("-");
        let text = |name: &str| text(row, name).to_owned();
        [text("/id"), text("/createdAt"), text("/kind"), text("/reason"), of.to_owned(), text("/message")]
    };
    output::table(
        ["ID", "SINCE", "KIND", "REASON", "OF", "MESSAGE"],
        &rows.iter().map(cells).collect::<Vec<_>>(),
    );
    Ok(())
}

pub(crate) async fn retry(client: &Client, options: &OneLetter, as_json: bool) -> Result<()> {
    let path = format!("{}/retry", client.letter_path(&options.letter)?);
    let letter = client.post(&path, &Value::Null).await?;
    if as_json {
        output::json(&letter);
    } else {
        output::line(&format!("The {} is back and will be tried again.", text(&letter, "/kind")));
    }
    Ok(())
}

pub(crate) async fn discard(client: &Client, options: &OneLetter, as_json: bool) -> Result<()> {
    client.delete(&client.letter_path(&options.letter)?).await?;
    if as_json {
        output::json(&json!({ "id": options.letter, "dropped": true }));
    } else {
        output::line("Dropped.");
    }
    Ok(())
}
