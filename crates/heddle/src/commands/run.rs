//! `heddle run`.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::given;
use crate::cli::{CancelRun, ExportRuns, ListRuns, OneRun, RetryRun, StartRun, TailRun};
use crate::client::{Client, Query, text};
use crate::failure::{self, Failure, Refusal, Unreachable};
use crate::output;

/// Tries to go on with a stream that was cut.
const TRIES: u32 = 10;
/// Time between them.
const PAUSE: Duration = Duration::from_secs(1);
/// The ways to start a process that has no single start event without a trigger.
const STARTS: &str = "`--start-node ID` starts there without an event; `heddle event send TYPE --correlation-key KEY` \
    (POST /api/case-events) starts what waits for a message";
/// Number of runs that are asked for at once.
const PAGE: usize = 200;

pub(crate) async fn start(client: &Client, options: &StartRun, as_json: bool) -> Result<()> {
    let input = given::object("--input", options.input.as_deref())?;
    let path = client.workflow_path(&options.workflow).await?;
    let members = [
        ("input", input),
        ("version", options.of.map(Value::from)),
        ("processId", options.process.clone().map(Value::from)),
        ("startNodeId", options.start_node.clone().map(Value::from)),
        ("businessKey", options.business_key.clone().map(Value::from)),
        ("correlationKey", options.correlation_key.clone().map(Value::from)),
        ("wait", options.wait.clone().map(Value::from)),
    ];
    let body: Map<_, _> =
        members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let run = client.post(&format!("{path}/runs"), &Value::Object(body)).await;
    let run = run.map_err(|error| match error.downcast_ref::<Refusal>() {
        Some(refusal) if refusal.is_about("startNodeId") => failure::advised(error, "required", STARTS),
        Some(_) | None => error,
    })?;
    if as_json {
        output::json(&run);
    } else {
        output::line(&format!("{}  {}", text(&run, "/id"), text(&run, "/state")));
    }
    if !client.has_server() && !matches!(text(&run, "/state"), "completed" | "failed" | "cancelled") {
        output::note("No server runs: timers and messages wait until the next one does.");
    }
    Ok(())
}

pub(crate) async fn list(client: &Client, options: &ListRuns, as_json: bool) -> Result<()> {
    let path = client.workflow_path(&options.workflow).await?;
    let query = Query::default()
        .maybe("state", options.state.as_deref())
        .maybe("hasIncident", options.incidents.then_some("true"));
    let rows = client.list(&format!("{path}/runs"), &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "runs": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        let incident = row.get("hasIncident").and_then(Value::as_bool) == Some(true);
        let key = row.get("businessKey").and_then(Value::as_str).unwrap_or("-");
        let version = row.get("version").and_then(Value::as_i64).unwrap_or_default();
        [
            text(row, "/id").to_owned(),
            text(row, "/state").to_owned(),
            if incident { "incident".to_owned() } else { String::new() },
            version.to_string(),
            text(row, "/createdAt").to_owned(),
            key.to_owned(),
        ]
    };
    output::table(
        ["ID", "STATE", "", "VERSION", "CREATED", "KEY"],
        &rows.iter().map(cells).collect::<Vec<_>>(),
    );
    Ok(())
}

pub(crate) async fn get(client: &Client, options: &OneRun, as_json: bool) -> Result<()> {
    let path = client.run_path(&options.run, options.workflow.as_deref()).await?;
    let run = client.get_with(&path, &Query::default().with("include", "variables")).await?;
    if as_json {
        output::json(&run);
    } else {
        show(&run);
    }
    Ok(())
}

/// Writes the runs of a workflow, page after page: an installation may have more of them than memory.
pub(crate) async fn export(client: &Client, options: &ExportRuns, as_json: bool) -> Result<()> {
    let path = client.workflow_path(&options.workflow).await?;
    let query = Query::default().maybe("state", options.state.as_deref());
    let place = |file: &Path| format!("`{}`", file.display());
    let mut file = match &options.output {
        Some(name) => Some(BufWriter::new(File::create(name).with_context(|| place(name))?)),
        None => None,
    };
    let (mut cursor, mut written) = (None::<String>, 0_usize);
    loop {
        let page = client.page(&format!("{path}/runs"), &query, PAGE, cursor.as_deref()).await?;
        for row in &page.rows {
            let Some(one) = whole(client, &format!("{path}/runs/{}", text(row, "/id"))).await? else {
                continue;
            };
            match &mut file {
                Some(file) => writeln!(file, "{one}").context("the runs can't be written")?,
                None => output::json(&one),
            }
            written += 1;
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let (Some(mut file), Some(name)) = (file, &options.output) else { return Ok(()) };
    file.flush().with_context(|| place(name))?;
    if as_json {
        output::json(&json!({ "file": name, "runs": written }));
    } else {
        output::line(&format!("Wrote {written} runs of {} to {}.", options.workflow, name.display()));
    }
    Ok(())
}

/// A run with its variables and events; none when it was removed since the list was read.
async fn whole(client: &Client, path: &str) -> Result<Option<Value>> {
    let run = client.get_with(path, &Query::default().with("include", "variables")).await;
    let run = match run {
        Err(error) if error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.status == 404) => {
            return Ok(None);
        }
        other => other?,
    };
    let events = client.list(&format!("{path}/events"), &Query::default(), usize::MAX).await?;
    Ok(Some(json!({ "run": run, "events": events })))
}

fn show(run: &Value) {
    let row = |name: &str, value: &str| output::line(&output::plain(&format!("{name:<14}{value}")));
    let given = |name: &str, pointer: &str| {
        if let Some(value) = run.pointer(pointer).and_then(Value::as_str) {
            row(name, value);
        }
    };
    row("run", text(run, "/id"));
    row("state", text(run, "/state"));
    row("workflow", text(run, "/workflowId"));
    row("version", &run.get("version").map(Value::to_string).unwrap_or_default());
    given("business key", "/businessKey");
    given("correlation", "/correlationKey");
    given("created", "/createdAt");
    given("ended", "/endedAt");
    given("error", "/error/message");
    let members = |name: &str| run.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    for node in members("activeNodes") {
        let kind = node.pointer("/waitingFor/kind").and_then(Value::as_str).unwrap_or("-");
        row("waits at", &format!("{}  for {kind} since {}", text(&node, "/nodeId"), text(&node, "/since")));
    }
    for task in members("humanTasks") {
        row("task", &format!("{}  {}  {}", text(&task, "/id"), text(&task, "/state"), text(&task, "/name")));
    }
    for incident in members("incidents") {
        let (id, node) = (text(&incident, "/id"), text(&incident, "/nodeId"));
        row("incident", &format!("{id}  at {node}: {}", text(&incident, "/message")));
    }
    for name in ["variables", "output"] {
        if let Some(value) = run.get(name).filter(|value| !value.is_null()) {
            row(name, &value.to_string());
        }
    }
}

pub(crate) async fn retry(client: &Client, options: &RetryRun, as_json: bool) -> Result<()> {
    let variables = given::object("--variables", options.variables.as_deref())?;
    let path = client.run_path(&options.run.run, options.run.workflow.as_deref()).await?;
    let run = client.get(&path).await?;
    let incidents: Vec<String> = match &options.incident {
        Some(id) => vec![id.clone()],
        None => {
            let all = run.get("incidents").and_then(Value::as_array).into_iter().flatten();
            all.map(|incident| text(incident, "/id").to_owned()).collect()
        }
    };
    if incidents.is_empty() {
        let message = format!("the run {} has no incident", options.run.run);
        return Err(Failure::Refused(message).into());
    }
    for id in &incidents {
        let mut body = json!({ "decision": "retry", "incidentId": id });
        if let (Some(variables), Some(members)) = (&variables, body.as_object_mut()) {
            members.insert("variables".to_owned(), variables.clone());
        }
        client.post(&format!("{path}/decision"), &body).await?;
    }
    tell(client, &path, &options.run.run, as_json).await
}

pub(crate) async fn cancel(client: &Client, options: &CancelRun, as_json: bool) -> Result<()> {
    let path = client.run_path(&options.run.run, options.run.workflow.as_deref()).await?;
    let query = Query::default()
        .maybe("reason", options.reason.as_deref())
        .maybe("purge", options.purge.then_some("true"));
    client.delete_with(&path, &query).await?;
    if !options.purge {
        return tell(client, &path, &options.run.run, as_json).await;
    }
    if as_json {
        output::json(&json!({ "id": options.run.run, "removed": true }));
    } else {
        output::line(&format!("The run {} is removed with its history.", options.run.run));
    }
    Ok(())
}

/// Tells in which state a run is now.
async fn tell(client: &Client, path: &str, id: &str, as_json: bool) -> Result<()> {
    let run = client.get(path).await?;
    if as_json {
        output::json(&run);
    } else {
        output::line(&format!("The run {id} is {}.", text(&run, "/state")));
    }
    Ok(())
}

pub(crate) async fn tail(client: &Client, options: &TailRun, as_json: bool) -> Result<()> {
    let path = client.run_path(&options.run.run, options.run.workflow.as_deref()).await?;
    let mut seen = options.after;
    if !client.has_server() {
        let query = Query::default().with("after", &seen.to_string());
        for event in client.list(&format!("{path}/events"), &query, usize::MAX).await? {
            print(&event, as_json);
        }
        output::note("No server runs: nothing more happens until one does.");
        return Ok(());
    }
    let mut failed = 0;
    loop {
        match follow(client, &path, &mut seen, as_json).await {
            Ok(true) => return Ok(()),
            Ok(false) => failed = 0,
            Err(error) if error.downcast_ref::<Unreachable>().is_some() && failed < TRIES => failed += 1,
            Err(error) => return Err(error),
        }
        // The server was stopped, or the way to it was cut: it goes on behind the last event seen.
        tokio::time::sleep(PAUSE).await;
    }
}

/// Prints events until the stream ends; whether the run has ended.
async fn follow(client: &Client, path: &str, seen: &mut u64, as_json: bool) -> Result<bool> {
    let mut stream = client.stream(&format!("{path}/events/stream"), *seen).await?;
    let mut waiting = Vec::new();
    while let Ok(Some(bytes)) = stream.chunk().await {
        waiting.extend_from_slice(&bytes);
        while let Some(frame) = next_frame(&mut waiting) {
            let frame = Frame::read(&frame);
            if frame.event == "end" {
                return Ok(true);
            }
            if let Some(data) = frame.data {
                let event = serde_json::from_str(data).context("an event is no JSON")?;
                print(&event, as_json);
                *seen = frame.id.unwrap_or(*seen);
            }
        }
    }
    Ok(false)
}

/// The next frame of a stream, without its empty line; none while it is not whole.
fn next_frame(waiting: &mut Vec<u8>) -> Option<String> {
    let end = waiting.windows(2).position(|pair| pair == b"\n\n")?;
    let frame: Vec<u8> = waiting.drain(..end + 2).collect();
    Some(String::from_utf8_lossy(&frame).trim_end().to_owned())
}

/// A frame of a stream of events.
#[derive(Debug, Default, PartialEq, Eq)]
struct Frame<'a> {
    id: Option<u64>,
    event: &'a str,
    data: Option<&'a str>,
}

impl<'a> Frame<'a> {
    fn read(text: &'a str) -> Self {
        let mut frame = Self::default();
        for line in text.lines() {
            match line.split_once(": ") {
                Some(("id", id)) => frame.id = id.parse().ok(),
                Some(("event", event)) => frame.event = event,
                Some(("data", data)) => frame.data = Some(data),
                // A sign of life.
                Some(_) | None => {}
            }
        }
        frame
    }
}

fn print(event: &Value, as_json: bool) {
    if as_json {
        return output::json(event);
    }
    let sequence = event.get("sequence").and_then(Value::as_u64).unwrap_or_default();
    let node = event.get("nodeId").and_then(Value::as_str).unwrap_or("-");
    let data = event.get("data").filter(|data| data.as_object().is_none_or(|members| !members.is_empty()));
    let data = data.map(Value::to_string).unwrap_or_default();
    let (at, kind) = (text(event, "/at"), text(event, "/type"));
    output::line(output::plain(&format!("{sequence:>5}  {at}  {kind:<24}{node:<20}{data}")).trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_come() {
        let mut waiting = b"id: 1\nevent: run.started\ndata: {\"a\": 1}\n\n: heartbeat\n\nevent: en".to_vec();
        let first = next_frame(&mut waiting).unwrap();
        assert_eq!(
            Frame::read(&first),
            Frame { id: Some(1), event: "run.started", data: Some("{\"a\": 1}") }
        );
        assert_eq!(Frame::read(&next_frame(&mut waiting).unwrap()), Frame::default());
        assert_eq!(next_frame(&mut waiting), None);
        waiting.extend_from_slice(b"d\ndata: {}\n\n");
        assert_eq!(Frame::read(&next_frame(&mut waiting).unwrap()).event, "end");
    }
}
