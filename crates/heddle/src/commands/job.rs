//! `heddle job`.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::given;
use super::work::first;
use crate::cli::{ActivateJobs, CompleteJob, FailJob, ListJobs};
use crate::client::{Client, Query, escaped, text};
use crate::output;

pub(crate) async fn list(client: &Client, options: &ListJobs, as_json: bool) -> Result<()> {
    let workflow = match &options.workflow {
        Some(name) => Some(text(&client.workflow(name).await?, "/id").to_owned()),
        None => None,
    };
    let query = Query::default()
        .maybe("type", options.job_type.as_deref())
        .maybe("state", options.state.as_deref())
        .maybe("workflowId", workflow.as_deref())
        .maybe("runId", options.run.as_deref())
        .maybe("worker", options.worker.as_deref());
    let rows = client.list("/api/jobs", &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "jobs": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        let or =
            |name: &str, other: &str| row.pointer(name).and_then(Value::as_str).unwrap_or(other).to_owned();
        [
            or("/id", ""),
            or("/type", ""),
            or("/state", ""),
            or("/worker", "-"),
            row.pointer("/retries").map(Value::to_string).unwrap_or_default(),
            first(row, &["runId", "caseId"]).unwrap_or_default().to_owned(),
        ]
    };
    output::table(
        ["ID", "TYPE", "STATE", "WORKER", "RETRIES", "OF"],
        &rows.iter().map(cells).collect::<Vec<_>>(),
    );
    Ok(())
}

pub(crate) async fn activate(client: &Client, options: &ActivateJobs, as_json: bool) -> Result<()> {
    let body = json!({
        "types": options.types, "worker": options.worker, "maxJobs": options.max_jobs,
        "lockMs": options.lock_ms, "waitMs": options.wait_ms,
    });
    let jobs = client.post("/api/jobs/activate", &body).await?;
    if as_json {
        output::json(&json!({ "jobs": jobs }));
        return Ok(());
    }
    let rows = jobs.as_array().cloned().unwrap_or_default();
    let number = |row: &Value, name: &str| row.pointer(name).map(Value::to_string).unwrap_or_default();
    let cells = |row: &Value| {
        [
            text(row, "/id").to_owned(),
            text(row, "/type").to_owned(),
            number(row, "/epoch"),
            text(row, "/lockedUntil").to_owned(),
            first(row, &["runId", "caseId"]).unwrap_or_default().to_owned(),
        ]
    };
    output::table(["ID", "TYPE", "EPOCH", "LOCKED UNTIL", "OF"], &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}

pub(crate) async fn complete(client: &Client, options: &CompleteJob, as_json: bool) -> Result<()> {
    let variables = given::object("--variables", options.variables.as_deref())?;
    let mut body = Map::from_iter([("epoch".to_owned(), json!(options.epoch))]);
    body.extend(variables.map(|variables| ("variables".to_owned(), variables)));
    let path = format!("/api/jobs/{}/complete", escaped(&options.job));
    told(client.post(&path, &Value::Object(body)).await?, &options.job, as_json);
    Ok(())
}

pub(crate) async fn fail(client: &Client, options: &FailJob, as_json: bool) -> Result<()> {
    let members = [
        ("epoch", Some(json!(options.epoch))),
        ("message", Some(json!(options.message))),
        ("details", options.details.clone().map(Value::from)),
        ("retries", options.retries.map(Value::from)),
        ("retryAfterMs", options.retry_after_ms.map(Value::from)),
    ];
    let members = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let path = format!("/api/jobs/{}/fail", escaped(&options.job));
    told(client.post(&path, &Value::Object(members.collect())).await?, &options.job, as_json);
    Ok(())
}

fn told(done: Value, job: &str, as_json: bool) {
    if as_json {
        return output::json(&done);
    }
    output::line(&output::plain(&format!("The job {job} is {}.", text(&done, "/state"))));
}
