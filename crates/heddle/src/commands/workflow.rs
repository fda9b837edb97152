//! `heddle workflow`, but for the import.

use std::path::Path;

use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::import::{self, Findings};
use crate::cli::{
    ExportFormat, ExportWorkflow, ListWorkflows, OneWorkflow, PublishWorkflow, ValidateWorkflows,
};
use crate::client::{Client, Query, text};
use crate::failure::{Failure, Refusal};
use crate::output;

pub(crate) async fn list(client: &Client, options: &ListWorkflows, as_json: bool) -> Result<()> {
    let query =
        Query::default().maybe("q", options.search.as_deref()).maybe("state", options.state.as_deref());
    let rows = client.list("/api/workflows", &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "workflows": rows }));
        return Ok(());
    }
    let count = |row: &Value, name: &str| row.pointer(name).and_then(Value::as_i64).unwrap_or_default();
    let cells = |row: &Value| {
        let version = row.get("publishedVersion").and_then(Value::as_i64);
        let changed = row.get("hasUnpublishedChanges").and_then(Value::as_bool) == Some(true);
        let version = version.map_or_else(|| "-".to_owned(), |number| number.to_string());
        [
            text(row, "/slug").to_owned(),
            text(row, "/state").to_owned(),
            if changed { format!("{version}+draft") } else { version },
            count(row, "/runCounts/active").to_string(),
            count(row, "/runCounts/incidents").to_string(),
            text(row, "/displayName").to_owned(),
        ]
    };
    let rows: Vec<_> = rows.iter().map(cells).collect();
    output::table(["SLUG", "STATE", "VERSION", "ACTIVE", "INCIDENTS", "NAME"], &rows);
    Ok(())
}

pub(crate) async fn get(client: &Client, options: &OneWorkflow, as_json: bool) -> Result<()> {
    let workflow = client.get(&client.workflow_path(&options.workflow).await?).await?;
    if as_json {
        output::json(&workflow);
        return Ok(());
    }
    let row = |name: &str, value: &str| output::line(&output::plain(&format!("{name:<14}{value}")));
    row("workflow", text(&workflow, "/slug"));
    row("id", text(&workflow, "/id"));
    row("name", text(&workflow, "/displayName"));
    row("description", text(&workflow, "/description"));
    row("state", text(&workflow, "/state"));
    let version = workflow.get("publishedVersion").and_then(Value::as_i64);
    row("version", &version.map_or_else(|| "none".to_owned(), |number| number.to_string()));
    if workflow.get("hasUnpublishedChanges").and_then(Value::as_bool) == Some(true) {
        row("draft", "has changes that are not published");
    }
    let counts = workflow.get("runCounts").and_then(Value::as_object).into_iter().flatten();
    let counts: Vec<_> = counts.map(|(name, count)| format!("{count} {name}")).collect();
    row("runs", &counts.join(", "));
    row("updated", text(&workflow, "/updatedAt"));
    Ok(())
}

pub(crate) async fn validate(client: &Client, options: &ValidateWorkflows, as_json: bool) -> Result<()> {
    let is_file = |what: &String| what == super::given::STANDARD_INPUT || Path::new(what).exists();
    let has_form = |what: &String| what.contains(['/', '.']);
    if options.what.iter().any(|what| is_file(what) || has_form(what)) {
        if options.profile.is_some() {
            let message =
                "--profile holds for workflows that are there; files are held against what can be executed";
            return Err(Failure::Configuration(message.to_owned()).into());
        }
        let paths: Vec<_> = options.what.iter().map(std::path::PathBuf::from).collect();
        return import::validate(client, &paths, as_json).await;
    }
    let mut rows = Vec::new();
    let mut failed = 0;
    for name in &options.what {
        let workflow = client.workflow(name).await?;
        let path = format!("/api/workflows/{}", text(&workflow, "/id"));
        let body =
            options.profile.as_ref().map_or_else(|| json!({}), |profile| json!({ "profile": profile }));
        let report = client.post(&format!("{path}/validate"), &body).await?;
        let whole = client.get_with(&path, &Query::default().with("version", "draft")).await?;
        let found = Findings::of(&report, whole.get("definition").unwrap_or(&Value::Null));
        failed += usize::from(found.has_errors());
        if !as_json {
            let word = if found.has_errors() { "has errors" } else { "can be published" };
            output::line(&format!("{}  {word}", text(&workflow, "/slug")));
            found.print();
        }
        let (valid, executable) = (report.get("valid").cloned(), report.get("executable").cloned());
        rows.push(json!({
            "slug": text(&workflow, "/slug"), "id": text(&workflow, "/id"), "valid": valid,
            "executable": executable, "diagnostics": found.rows(),
        }));
    }
    if as_json {
        output::json(&json!({ "workflows": rows }));
    }
    super::several((0..failed).map(|_| 1), options.what.len())
}

pub(crate) async fn publish(client: &Client, options: &PublishWorkflow, as_json: bool) -> Result<()> {
    let workflow = client.workflow(&options.workflow).await?;
    let path = format!("/api/workflows/{}", text(&workflow, "/id"));
    let body = options.note.as_ref().map_or_else(|| json!({}), |note| json!({ "changeNote": note }));
    let published = match client.post(&format!("{path}/publish"), &body).await {
        Ok(published) => published,
        Err(error) => return Err(unpublished(client, &path, error, as_json).await),
    };
    if as_json {
        output::json(&published);
    } else {
        let number = published.get("number").and_then(Value::as_i64).unwrap_or_default();
        output::line(&format!("Published {} as version {number}.", text(&workflow, "/slug")));
    }
    Ok(())
}

/// Error of a publication that was refused for what is in the draft: each finding stands with its element and remedy.
async fn unpublished(client: &Client, path: &str, error: anyhow::Error, as_json: bool) -> anyhow::Error {
    if as_json || error.downcast_ref::<Refusal>().is_none_or(|refusal| refusal.status != 400) {
        return error;
    }
    let report = client.post(&format!("{path}/validate"), &json!({})).await;
    let whole = client.get_with(path, &Query::default().with("version", "draft")).await;
    let (Ok(report), Ok(whole)) = (report, whole) else { return error };
    let found = Findings::of(&report, whole.get("definition").unwrap_or(&Value::Null));
    if !found.has_errors() {
        return error;
    }
    found.print();
    Failure::Refused("the draft can't be executed as it is; it stays as a draft".to_owned()).into()
}

pub(crate) async fn export(client: &Client, options: &ExportWorkflow, as_json: bool) -> Result<()> {
    let workflow = client.workflow(&options.workflow).await?;
    let (id, slug) = (text(&workflow, "/id"), text(&workflow, "/slug"));
    let mut query = Query::default().with("version", &options.of);
    if options.format == ExportFormat::Source {
        if options.of != "draft" {
            let message = "--of: the imported file is kept for the draft alone";
            return Err(Failure::Refused(message.to_owned()).into());
        }
        query = Query::default();
    }
    let path = match options.format {
        ExportFormat::Bpmn => format!("/api/workflows/{id}/export/bpmn"),
        ExportFormat::Dmn => format!("/api/workflows/{id}/export/dmn"),
        ExportFormat::Bpel => format!("/api/workflows/{id}/export/bpel"),
        ExportFormat::Json => format!("/api/workflows/{id}"),
        ExportFormat::Source => format!("/api/workflows/{id}/import-source"),
    };
    let document = client.get_with(&path, &query).await.map_err(|error| absent(error, options))?;
    let content = match options.format {
        ExportFormat::Json => {
            let missing =
                || Failure::NotFound(format!("`{slug}` has no definition in the version `{}`", options.of));
            let definition = document.get("definition").filter(|definition| !definition.is_null());
            serde_json::to_string_pretty(definition.ok_or_else(missing)?)?.into_bytes()
        }
        ExportFormat::Bpmn | ExportFormat::Dmn | ExportFormat::Bpel => {
            let content = document.get("content").and_then(Value::as_str);
            content.context("the document is no text")?.as_bytes().to_vec()
        }
        ExportFormat::Source => {
            let content = document.get("contentBase64").and_then(Value::as_str);
            STANDARD.decode(content.context("the document has no bytes")?)?
        }
    };
    for found in document.get("diagnostics").and_then(Value::as_array).into_iter().flatten() {
        output::note(&output::plain(&import::sentence(found, None)));
    }
    let Some(path) = &options.output else {
        let content = String::from_utf8(content).context("the file is no text: name one with --output")?;
        if as_json {
            output::json(&json!({ "slug": slug, "content": content }));
        } else {
            output::line(content.trim_end());
        }
        return Ok(());
    };
    std::fs::write(path, &content).with_context(|| format!("`{}`", path.display()))?;
    if as_json {
        output::json(&json!({ "slug": slug, "file": path, "bytes": content.len() }));
    } else {
        output::line(&format!("Wrote {slug} to {}.", path.display()));
    }
    Ok(())
}

/// A workflow that is there, without what was asked for.
fn absent(error: anyhow::Error, options: &ExportWorkflow) -> anyhow::Error {
    match error.downcast_ref::<Refusal>() {
        Some(refusal) if refusal.status == 404 => {
            let ExportWorkflow { workflow, of, .. } = options;
            Failure::NotFound(format!("`{workflow}` has nothing to export in the version `{of}`")).into()
        }
        _ => error,
    }
}

pub(crate) async fn archive(client: &Client, options: &OneWorkflow, as_json: bool) -> Result<()> {
    let path = client.workflow_path(&options.workflow).await?;
    let changed = client.patch(&path, &json!({ "archived": true })).await?;
    if as_json {
        output::json(&changed);
    } else {
        output::line(&format!("Archived {}: nothing starts it any more.", options.workflow));
    }
    Ok(())
}

pub(crate) async fn delete(client: &Client, options: &OneWorkflow, as_json: bool) -> Result<()> {
    let workflow = client.workflow(&options.workflow).await?;
    let (id, slug) = (text(&workflow, "/id"), text(&workflow, "/slug"));
    client.delete(&format!("/api/workflows/{id}")).await?;
    if as_json {
        output::json(&json!({ "id": id, "slug": slug, "deleted": true }));
    } else {
        output::line(&format!("Deleted {slug}."));
    }
    Ok(())
}
