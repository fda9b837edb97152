//! `heddle connection`.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::{ListConnections, TestConnection};
use crate::client::{Client, Query, text};
use crate::failure::Failure;
use crate::output;

pub(crate) async fn list(client: &Client, options: &ListConnections, as_json: bool) -> Result<()> {
    let query = Query::default().maybe("type", options.kind.as_deref()).maybe("q", options.query.as_deref());
    let rows = client.list("/api/connections", &query, options.limit).await?;
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

/// Tests a connection; one that fails the test ends the command with a failure, so that scripts see it.
pub(crate) async fn test(client: &Client, options: &TestConnection, as_json: bool) -> Result<()> {
    let path = format!("{}/test", client.connection_path(&options.connection).await?);
    let done = client.post(&path, &Value::Null).await?;
    let ok = done.get("ok").and_then(Value::as_bool) == Some(true);
    let took = done.get("latencyMs").and_then(Value::as_i64).unwrap_or_default();
    if as_json {
        output::json(&done);
    } else if ok {
        let told = format!("{} works ({took} ms): {}", options.connection, text(&done, "/message"));
        output::line(&output::plain(&told));
    }
    if ok {
        return Ok(());
    }
    let message = format!(
        "`{}` failed at {} after {took} ms: {}",
        options.connection,
        text(&done, "/phase"),
        text(&done, "/message")
    );
    Err(Failure::Refused(message).into())
}
