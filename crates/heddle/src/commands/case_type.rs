//! Commands of `heddle case-type` that are CMMN's own; the rest is done as for workflows.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::drafted::{self, CASE_TYPES};
use super::given;
use super::import::Findings;
use crate::cli::{CaseTypeFormat, ExportCaseType, ImportCaseTypes, ValidateCaseTypes};
use crate::client::{Client, Query, text};
use crate::failure::Failure;
use crate::output;

/// Path that files are taken in at.
const IMPORT: &str = "/api/case-types/import/cmmn";

/// The body that has a file.
fn file(path: &Path) -> Result<Value> {
    let content = given::text(path)?;
    let name = path.file_name().filter(|_| path.as_os_str() != given::STANDARD_INPUT);
    let name = name.map(|name| name.to_string_lossy().into_owned());
    Ok(name.map_or_else(
        || json!({ "content": &content }),
        |name| json!({ "content": &content, "fileName": name }),
    ))
}

pub(crate) async fn import(client: &Client, options: &ImportCaseTypes, as_json: bool) -> Result<()> {
    if options.slug.is_some() && options.files.len() > 1 {
        let message = "--slug names one case type: give one file";
        return Err(Failure::Configuration(message.to_owned()).into());
    }
    let mut rows = Vec::new();
    for path in &options.files {
        let mut body = file(path)?;
        let previewed = client.post(&format!("{IMPORT}/preview"), &body).await?;
        let slug = options.slug.clone().unwrap_or_else(|| text(&previewed, "/slug").to_owned());
        let present = if options.update { client.named_if_any(CASE_TYPES.path, &slug).await? } else { None };
        let word = if present.is_some() { "Updated" } else { "Created" };
        let made = match &present {
            Some(found) => {
                let draft = json!({ "definition": previewed.get("definition") });
                client.put(&format!("{}/draft", CASE_TYPES.path_of(found)), &draft).await?;
                found.clone()
            }
            None => {
                if let Some(members) = body.as_object_mut() {
                    members.insert("slug".to_owned(), json!(slug));
                }
                client.post(IMPORT, &body).await?
            }
        };
        if !as_json {
            output::line(&format!("{word} {slug}."));
            Findings::of(&previewed, previewed.get("definition").unwrap_or(&Value::Null)).print();
        }
        rows.push(
            json!({ "slug": slug, "id": text(&made, "/id"), "diagnostics": previewed.get("diagnostics") }),
        );
        if options.publish {
            drafted::publish(client, &CASE_TYPES, &slug, None, false).await?;
        }
    }
    if as_json {
        output::json(&json!({ "caseTypes": rows }));
    }
    Ok(())
}

pub(crate) async fn validate(client: &Client, options: &ValidateCaseTypes, as_json: bool) -> Result<()> {
    let is_file = |what: &&String| what.as_str() == given::STANDARD_INPUT || Path::new(what).exists();
    let (files, names): (Vec<&String>, Vec<&String>) = options.what.iter().partition(is_file);
    if files.is_empty() {
        return drafted::validate(client, &CASE_TYPES, &options.what, &json!({}), as_json).await;
    }
    if !names.is_empty() {
        let message = "files and case types that are there are held against the rules one kind at a time";
        return Err(Failure::Configuration(message.to_owned()).into());
    }
    let mut rows = Vec::new();
    let mut failed = 0;
    for name in &files {
        let report = client.post(&format!("{IMPORT}/preview"), &file(Path::new(name))?).await?;
        let found = Findings::of(&report, report.get("definition").unwrap_or(&Value::Null));
        failed += usize::from(found.has_errors());
        if !as_json {
            let word = if found.has_errors() { "has errors" } else { "can be published" };
            output::line(&format!("{name}  {word}"));
            found.print();
        }
        rows.push(
            json!({ "file": name, "executable": report.get("executable"), "diagnostics": found.rows() }),
        );
    }
    if as_json {
        output::json(&json!({ "files": rows }));
    }
    super::several((0..failed).map(|_| 1), files.len())
}

pub(crate) async fn export(client: &Client, options: &ExportCaseType, as_json: bool) -> Result<()> {
    let found = CASE_TYPES.find(client, &options.case_type).await?;
    let (path, slug) = (CASE_TYPES.path_of(&found), text(&found, "/slug"));
    let path = match options.format {
        CaseTypeFormat::Cmmn => format!("{path}/export/cmmn"),
        CaseTypeFormat::Json => path,
    };
    let document = client.get_with(&path, &Query::default().with("version", &options.of)).await;
    let document = document.map_err(|error| drafted::absent(error, &options.case_type, &options.of))?;
    let content = match options.format {
        CaseTypeFormat::Cmmn => drafted::content(&document)?,
        CaseTypeFormat::Json => drafted::definition(&document, slug, &options.of)?,
    };
    drafted::write_out(&document, slug, content, options.output.as_deref(), as_json)
}
