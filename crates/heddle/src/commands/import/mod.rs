//! `heddle workflow import`, and `heddle workflow validate` of files.

mod compose;
mod findings;
mod sources;

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};

pub(crate) use findings::{Findings, sentence};

use self::compose::Unit;
use super::several_of;
use crate::cli::ImportWorkflows;
use crate::client::{Client, Query, text};
use crate::failure::{Failure, Refusal};
use crate::output;

/// Outcome of files that belong together.
#[derive(Debug, Default)]
struct Row {
    files: Vec<PathBuf>,
    slug: Option<String>,
    id: Option<String>,
    /// Whether the workflow is new; none while there is none.
    created: Option<bool>,
    version: Option<i64>,
    findings: Findings,
    notes: Vec<String>,
    error: Option<anyhow::Error>,
}

impl Row {
    fn failed(path: PathBuf, error: anyhow::Error) -> Self {
        Self { files: vec![path], error: Some(error), ..Self::default() }
    }

    fn name(&self) -> String {
        self.files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    }

    fn json(&self) -> Value {
        let mut row = json!({
            "file": self.files.first(), "files": self.files, "slug": self.slug, "id": self.id,
            "created": self.created, "published": self.version.is_some(), "version": self.version,
            "diagnostics": self.findings.rows(), "notes": self.notes,
        });
        if let (Some(error), Some(members)) = (&self.error, row.as_object_mut()) {
            let told = output::described(error);
            members.insert("error".to_owned(), told.get("error").cloned().unwrap_or_default());
        }
        row
    }

    fn print(&self) {
        let became = match (&self.slug, &self.id, self.created) {
            (Some(slug), Some(id), Some(true)) => format!(" -> {slug}  {id}  created"),
            (Some(slug), Some(id), Some(false)) => format!(" -> {slug}  {id}  updated"),
            _ => String::new(),
        };
        let rest = match (&self.error, self.version) {
            (Some(error), _) => format!("  failed: {}", crate::failure::sentence(error)),
            (None, Some(version)) => format!(", published as version {version}"),
            (None, None) => String::new(),
        };
        output::line(&format!("{}{became}{rest}", self.name()));
        self.findings.print();
        for note in &self.notes {
            output::line(&output::plain(&format!("  note     {note}")));
        }
    }
}

/// Imports files and folders: all are tried, and what became of each is told.
pub(crate) async fn import(client: &Client, options: &ImportWorkflows, as_json: bool) -> Result<()> {
    let (found, unread) = sources::collect(&options.files);
    let bar = output::progress("importing", 2 * found.len() as u64);
    let mut rows: Vec<Row> = unread.into_iter().map(|one| Row::failed(one.path, one.error)).collect();
    let (units, refused) = compose::units(client, found, || bar.inc(1)).await;
    rows.extend(refused.into_iter().map(|one| Row::failed(one.path, one.error)));
    if options.slug.is_some() && units.len() > 1 {
        bar.finish_and_clear();
        let message = "--slug names one workflow, and these files become several";
        return Err(Failure::Configuration(message.to_owned()).into());
    }
    for unit in units {
        let files = unit.files.len() as u64;
        rows.push(import_one(client, unit, options).await);
        bar.inc(files);
    }
    bar.finish_and_clear();
    tell(&rows, as_json)
}

/// Validates files and folders without storing anything.
pub(crate) async fn validate(client: &Client, paths: &[PathBuf], as_json: bool) -> Result<()> {
    let (found, unread) = sources::collect(paths);
    let bar = output::progress("validating", found.len() as u64);
    let mut rows: Vec<Row> = unread.into_iter().map(|one| Row::failed(one.path, one.error)).collect();
    let (units, refused) = compose::units(client, found, || bar.inc(1)).await;
    bar.finish_and_clear();
    rows.extend(refused.into_iter().map(|one| Row::failed(one.path, one.error)));
    for unit in units {
        let Unit { files, findings, notes, .. } = unit;
        let wrong = || Failure::Refused("it can't be published as it is".to_owned()).into();
        let error = findings.has_errors().then(wrong);
        rows.push(Row { files, findings, notes, error, ..Row::default() });
    }
    tell(&rows, as_json)
}

/// Tells what became of all, those that failed last, and ends without success when there are any.
fn tell(rows: &[Row], as_json: bool) -> Result<()> {
    let (done, failed): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.error.is_none());
    if as_json {
        let rows: Vec<_> = done.iter().chain(&failed).map(|row| row.json()).collect();
        output::json(&json!({ "workflows": rows, "failed": failed.len() }));
    } else {
        done.iter().chain(&failed).for_each(|row| row.print());
        if rows.len() > 1 {
            output::line(&format!("{} of {} done", done.len(), rows.len()));
        }
    }
    let codes = failed.iter().filter_map(|row| row.error.as_ref()).map(crate::failure::code);
    let names: Vec<_> = failed.iter().map(|row| row.name()).collect();
    several_of(codes, rows.len(), &names)
}

async fn import_one(client: &Client, unit: Unit, options: &ImportWorkflows) -> Row {
    let slug = options.slug.clone().unwrap_or_else(|| heddle_usecase::slug_from(&unit.stem, "workflow"));
    let Unit { files, stem, definition, only_decisions, findings, notes } = unit;
    let mut row = Row { files, slug: Some(slug.clone()), findings, notes, ..Row::default() };
    let stored = Stored { slug, name: stem, definition, only_decisions };
    if let Err(error) = store(client, stored, options, &mut row).await {
        row.error = Some(error);
    }
    row
}

/// Definition to be stored under a slug.
struct Stored {
    slug: String,
    name: String,
    definition: Value,
    only_decisions: bool,
}

async fn store(client: &Client, stored: Stored, options: &ImportWorkflows, row: &mut Row) -> Result<()> {
    if stored.name.is_empty() && options.slug.is_none() {
        let message = "standard input has no name: say the slug with --slug";
        return Err(Failure::Configuration(message.to_owned()).into());
    }
    let present = if options.update { client.workflow_if_any(&stored.slug).await? } else { None };
    let id = match present {
        Some(workflow) => {
            let id = text(&workflow, "/id").to_owned();
            (row.id, row.created) = (Some(id.clone()), Some(false));
            replace(client, &id, stored, row).await?;
            id
        }
        None => {
            let name = if stored.name.is_empty() { &stored.slug } else { &stored.name };
            let body = json!({
                "slug": stored.slug, "displayName": name, "description": "", "definition": stored.definition,
            });
            let made =
                client.post("/api/workflows", &body).await.map_err(|error| taken(error, &stored.slug))?;
            let id = text(&made, "/id").to_owned();
            (row.id, row.created) = (Some(id.clone()), Some(true));
            id
        }
    };
    let report = client.post(&format!("/api/workflows/{id}/validate"), &json!({})).await?;
    // What is stored decides; of what was said before it was, the remarks stay.
    row.findings.retain(|one| text(one, "/severity") != "error");
    row.findings.add(&report);
    if options.publish {
        publish(client, &id, row).await?;
    }
    Ok(())
}

/// Replaces the draft of a workflow that is there. Decisions alone leave the rest of it, and a model without decisions
/// keeps those that are there.
async fn replace(client: &Client, id: &str, stored: Stored, row: &mut Row) -> Result<()> {
    let path = format!("/api/workflows/{id}");
    let present = client.get_with(&path, &Query::default().with("version", "draft")).await?;
    let draft = present.get("definition").filter(|draft| draft.is_object());
    let decisions = |definition: &Value| definition.get("dmn").filter(|dmn| !dmn.is_null()).cloned();
    let mut definition = stored.definition;
    match (draft, stored.only_decisions) {
        (Some(draft), true) => {
            let dmn = decisions(&definition);
            definition = draft.clone();
            if let (Some(members), Some(dmn)) = (definition.as_object_mut(), dmn) {
                members.insert("dmn".to_owned(), dmn);
            }
        }
        (Some(draft), false) => {
            let kept = decisions(draft).filter(|_| decisions(&definition).is_none());
            if let (Some(members), Some(dmn)) = (definition.as_object_mut(), kept) {
                members.insert("dmn".to_owned(), dmn);
                row.notes.push("the decision model of the draft is kept".to_owned());
            }
        }
        (None, _) => {}
    }
    let revision = present.get("revision").cloned().unwrap_or_default();
    client.put(&format!("{path}/draft"), &json!({ "definition": definition, "revision": revision })).await?;
    Ok(())
}

async fn publish(client: &Client, id: &str, row: &mut Row) -> Result<()> {
    let stays = "the draft stays: correct the file and import it again with --update";
    if row.findings.has_errors() {
        return Err(Failure::Refused(format!("not published, {stays}")).into());
    }
    match client.post(&format!("/api/workflows/{id}/publish"), &json!({})).await {
        Ok(version) => {
            row.version = version.get("number").and_then(Value::as_i64);
            Ok(())
        }
        Err(error) => Err(error.context(format!("not published, {stays}"))),
    }
}

/// A slug that another workflow has: what to do about it is said.
fn taken(error: anyhow::Error, slug: &str) -> anyhow::Error {
    let is_slug = |one: &Value| text(one, "/field") == "slug" && text(one, "/reason") == "notUnique";
    match error.downcast_ref::<Refusal>() {
        Some(refusal) if refusal.details.iter().any(is_slug) => {
            let message = format!("there is a workflow `{slug}` already; --update replaces its draft");
            Failure::Refused(message).into()
        }
        _ => error,
    }
}
