//! Commands on what is drafted, published and versioned: the same for workflows and for case types.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::import::{self, Findings};
use crate::cli::ListWorkflows;
use crate::client::{Client, Query, text};
use crate::failure::{Failure, Refusal};
use crate::output;

/// A kind of what is drafted: where it is asked for, and the words for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shelf {
    /// Path of the list.
    pub path: &'static str,
    /// One of them.
    pub word: &'static str,
    /// Member of the output that has them all.
    pub member: &'static str,
    /// Member that counts what was started of one.
    pub counts: &'static str,
    /// Word for what was started.
    pub instances: &'static str,
}

/// Workflows.
pub(crate) const WORKFLOWS: Shelf = Shelf {
    path: "/api/workflows",
    word: "workflow",
    member: "workflows",
    counts: "runCounts",
    instances: "runs",
};

/// Case types.
pub(crate) const CASE_TYPES: Shelf = Shelf {
    path: "/api/case-types",
    word: "case type",
    member: "caseTypes",
    counts: "caseCounts",
    instances: "cases",
};

impl Shelf {
    /// One by its slug or id.
    ///
    /// # Errors
    /// `NotFound`; [`Refusal`], [`crate::failure::Unreachable`].
    pub(crate) async fn find(&self, client: &Client, name: &str) -> Result<Value> {
        let found = client.named_if_any(self.path, name).await?;
        Ok(found.ok_or_else(|| Failure::NotFound(format!("there is no {} `{name}`", self.word)))?)
    }

    /// Path of one that was found.
    pub(crate) fn path_of(&self, found: &Value) -> String {
        format!("{}/{}", self.path, text(found, "/id"))
    }
}

pub(crate) async fn list(
    client: &Client,
    shelf: &Shelf,
    options: &ListWorkflows,
    as_json: bool,
) -> Result<()> {
    let query =
        Query::default().maybe("q", options.search.as_deref()).maybe("state", options.state.as_deref());
    let rows = client.list(shelf.path, &query, options.limit).await?;
    if as_json {
        output::json(&json!({ shelf.member: rows }));
        return Ok(());
    }
    let count = |row: &Value, name: &str| {
        row.get(shelf.counts).and_then(|counts| counts.get(name)).and_then(Value::as_i64).unwrap_or_default()
    };
    let cells = |row: &Value| {
        let version = row.get("publishedVersion").and_then(Value::as_i64);
        let changed = row.get("hasUnpublishedChanges").and_then(Value::as_bool) == Some(true);
        let version = version.map_or_else(|| "-".to_owned(), |number| number.to_string());
        [
            text(row, "/slug").to_owned(),
            text(row, "/state").to_owned(),
            if changed { format!("{version}+draft") } else { version },
            count(row, "active").to_string(),
            count(row, "incidents").to_string(),
            text(row, "/displayName").to_owned(),
        ]
    };
    let rows: Vec<_> = rows.iter().map(cells).collect();
    output::table(["SLUG", "STATE", "VERSION", "ACTIVE", "INCIDENTS", "NAME"], &rows);
    Ok(())
}

pub(crate) async fn get(client: &Client, shelf: &Shelf, name: &str, as_json: bool) -> Result<()> {
    let found = shelf.find(client, name).await?;
    let found = client.get(&shelf.path_of(&found)).await?;
    if as_json {
        output::json(&found);
        return Ok(());
    }
    let row = |name: &str, value: &str| output::line(&output::plain(&format!("{name:<14}{value}")));
    row(shelf.word, text(&found, "/slug"));
    row("id", text(&found, "/id"));
    row("name", text(&found, "/displayName"));
    row("description", text(&found, "/description"));
    row("state", text(&found, "/state"));
    let version = found.get("publishedVersion").and_then(Value::as_i64);
    row("version", &version.map_or_else(|| "none".to_owned(), |number| number.to_string()));
    if found.get("hasUnpublishedChanges").and_then(Value::as_bool) == Some(true) {
        row("draft", "has changes that are not published");
    }
    let counts = found.get(shelf.counts).and_then(Value::as_object).into_iter().flatten();
    let counts: Vec<_> = counts.map(|(name, count)| format!("{count} {name}")).collect();
    row(shelf.instances, &counts.join(", "));
    row("updated", text(&found, "/updatedAt"));
    Ok(())
}

/// Holds the drafts of these against the rules; the body says which.
pub(crate) async fn validate(
    client: &Client,
    shelf: &Shelf,
    names: &[String],
    body: &Value,
    as_json: bool,
) -> Result<()> {
    let mut rows = Vec::new();
    let mut failed = 0;
    for name in names {
        let found = shelf.find(client, name).await?;
        let path = shelf.path_of(&found);
        let report = client.post(&format!("{path}/validate"), body).await?;
        let whole = client.get_with(&path, &Query::default().with("version", "draft")).await?;
        let findings = Findings::of(&report, whole.get("definition").unwrap_or(&Value::Null));
        failed += usize::from(findings.has_errors());
        if !as_json {
            let word = if findings.has_errors() { "has errors" } else { "can be published" };
            output::line(&format!("{}  {word}", text(&found, "/slug")));
            findings.print();
        }
        let (valid, executable) = (report.get("valid").cloned(), report.get("executable").cloned());
        rows.push(json!({
            "slug": text(&found, "/slug"), "id": text(&found, "/id"), "valid": valid,
            "executable": executable, "diagnostics": findings.rows(),
        }));
    }
    if as_json {
        output::json(&json!({ shelf.member: rows }));
    }
    super::several((0..failed).map(|_| 1), names.len())
}

pub(crate) async fn publish(
    client: &Client,
    shelf: &Shelf,
    name: &str,
    note: Option<&str>,
    as_json: bool,
) -> Result<()> {
    let found = shelf.find(client, name).await?;
    let path = shelf.path_of(&found);
    let body = note.map_or_else(|| json!({}), |note| json!({ "changeNote": note }));
    let published = match client.post(&format!("{path}/publish"), &body).await {
        Ok(published) => published,
        Err(error) => return Err(unpublished(client, &path, error, as_json).await),
    };
    if as_json {
        output::json(&published);
    } else {
        let number = published.get("number").and_then(Value::as_i64).unwrap_or_default();
        output::line(&format!("Published {} as version {number}.", text(&found, "/slug")));
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

pub(crate) async fn archive(client: &Client, shelf: &Shelf, name: &str, as_json: bool) -> Result<()> {
    let found = shelf.find(client, name).await?;
    let changed = client.patch(&shelf.path_of(&found), &json!({ "archived": true })).await?;
    if as_json {
        output::json(&changed);
    } else {
        output::line(&format!("Archived {name}: nothing starts it any more."));
    }
    Ok(())
}

pub(crate) async fn delete(client: &Client, shelf: &Shelf, name: &str, as_json: bool) -> Result<()> {
    let found = shelf.find(client, name).await?;
    let (id, slug) = (text(&found, "/id"), text(&found, "/slug"));
    client.delete(&shelf.path_of(&found)).await?;
    if as_json {
        output::json(&json!({ "id": id, "slug": slug, "deleted": true }));
    } else {
        output::line(&format!("Deleted {slug}."));
    }
    Ok(())
}

/// The definition in an answer, as a file.
///
/// # Errors
/// `NotFound` when there is none in that version.
pub(crate) fn definition(document: &Value, slug: &str, of: &str) -> Result<Vec<u8>> {
    let missing = || Failure::NotFound(format!("`{slug}` has no definition in the version `{of}`"));
    let definition = document.get("definition").filter(|definition| !definition.is_null());
    Ok(serde_json::to_string_pretty(definition.ok_or_else(missing)?)?.into_bytes())
}

/// The text of a document in an answer.
///
/// # Errors
/// When it is no text.
pub(crate) fn content(document: &Value) -> Result<Vec<u8>> {
    let content = document.get("content").and_then(Value::as_str);
    Ok(content.context("the document is no text")?.as_bytes().to_vec())
}

/// Something that is there, without what was asked for.
pub(crate) fn absent(error: anyhow::Error, name: &str, of: &str) -> anyhow::Error {
    match error.downcast_ref::<Refusal>() {
        Some(refusal) if refusal.status == 404 => {
            Failure::NotFound(format!("`{name}` has nothing to export in the version `{of}`")).into()
        }
        _ => error,
    }
}

/// Writes an exported file where it is wanted, with what was found on the way.
///
/// # Errors
/// When it can't be written.
pub(crate) fn write_out(
    document: &Value,
    slug: &str,
    content: Vec<u8>,
    output: Option<&Path>,
    as_json: bool,
) -> Result<()> {
    for found in document.get("diagnostics").and_then(Value::as_array).into_iter().flatten() {
        output::note(&output::plain(&import::sentence(found, None)));
    }
    let Some(path) = output else {
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
