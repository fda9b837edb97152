//! Commands of `heddle workflow` that are BPMN's own; the rest is done as for case types, and the import is apart.

use std::path::Path;

use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::drafted::{self, WORKFLOWS};
use super::import;
use crate::cli::{ExportFormat, ExportWorkflow, ValidateWorkflows};
use crate::client::{Client, Query, text};
use crate::failure::Failure;

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
    let body = options.profile.as_ref().map_or_else(|| json!({}), |profile| json!({ "profile": profile }));
    drafted::validate(client, &WORKFLOWS, &options.what, &body, as_json).await
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
    let document = client.get_with(&path, &query).await;
    let document = document.map_err(|error| drafted::absent(error, &options.workflow, &options.of))?;
    let content = match options.format {
        ExportFormat::Json => drafted::definition(&document, slug, &options.of)?,
        ExportFormat::Bpmn | ExportFormat::Dmn | ExportFormat::Bpel => drafted::content(&document)?,
        ExportFormat::Source => {
            let content = document.get("contentBase64").and_then(Value::as_str);
            STANDARD.decode(content.context("the document has no bytes")?)?
        }
    };
    drafted::write_out(&document, slug, content, options.output.as_deref(), as_json)
}
