//! `heddle file` and `heddle ingestion-job`.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::given;
use super::vector::{DATABASES, count, path_of};
use crate::cli::{ListFiles, ListIngestionJobs, OneFile, OneIngestionJob, UploadFiles};
use crate::client::{Client, Form, Query, escaped, is_id, text};
use crate::failure::Failure;
use crate::output;

/// Time between two looks at a job that is waited for.
const LOOK: Duration = Duration::from_millis(500);

fn files_of(database: &str) -> String {
    format!("{}/files", path_of(database))
}

fn job_path(job: &str) -> Result<String> {
    if !is_id(job) {
        return Err(Failure::Refused(format!("`{job}` is no ingestion job's id")).into());
    }
    Ok(format!("{DATABASES}/ingestion-jobs/{}", job.to_lowercase()))
}

/// Media type by the ending of a name; none where the service tells it by the content.
fn media_type(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_lowercase();
    Some(match ending.as_str() {
        "txt" => "text/plain",
        "md" | "markdown" => "text/markdown",
        "html" | "htm" => "text/html",
        "csv" => "text/csv",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "eml" => "message/rfc822",
        _ => return None,
    })
}

pub(crate) async fn upload(client: &Client, options: &UploadFiles, as_json: bool) -> Result<()> {
    let mut form = Form::default();
    for path in &options.files {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.ok_or_else(|| Failure::Refused(format!("`{}` is no file", path.display())))?;
        let bytes = std::fs::read(path).with_context(|| format!("`{}`", path.display()))?;
        form.file(&name, media_type(path), &bytes);
    }
    if let Some(metadata) = given::object("--metadata", options.metadata.as_deref())? {
        form.text("metadata", &metadata.to_string());
    }
    if let Some(title) = &options.title {
        form.text("title", title);
    }
    let accepted = client.upload(&files_of(&options.database), form).await?;
    if !options.wait {
        if as_json {
            output::json(&accepted);
        } else {
            output::line(&format!("Taken; the job {} reads the files.", text(&accepted, "/job/id")));
        }
        return Ok(());
    }
    let path = job_path(text(&accepted, "/job/id"))?;
    let job = waited_for(client, &path).await?;
    if as_json {
        output::json(&job);
    } else {
        output::line(&summary(&job));
    }
    match text(&job, "/state") {
        "completed" => Ok(()),
        state => {
            let why = text(&job, "/error/message");
            Err(Failure::Refused(format!("the job ended as `{state}`: {why}")).into())
        }
    }
}

/// The job, once it has ended.
async fn waited_for(client: &Client, path: &str) -> Result<Value> {
    loop {
        let job = client.get(path).await?;
        if matches!(text(&job, "/state"), "completed" | "completedWithErrors" | "failed" | "cancelled") {
            return Ok(job);
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn summary(job: &Value) -> String {
    format!(
        "{}: {} of {} files ready, {} failed, {} passages",
        text(job, "/state"),
        count(job, "/files/ready"),
        count(job, "/files/total"),
        count(job, "/files/failed"),
        count(job, "/passages/done"),
    )
}

pub(crate) async fn list(client: &Client, options: &ListFiles, as_json: bool) -> Result<()> {
    let query =
        Query::default().maybe("state", options.state.as_deref()).maybe("q", options.query.as_deref());
    let rows = client.list(&files_of(&options.database), &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "files": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        let state = match text(row, "/error/code") {
            "" => text(row, "/state").to_owned(),
            code => format!("{} ({code})", text(row, "/state")),
        };
        [
            text(row, "/id").to_owned(),
            text(row, "/name").to_owned(),
            state,
            count(row, "/bytes"),
            count(row, "/passages"),
        ]
    };
    output::table(["ID", "NAME", "STATE", "BYTES", "PASSAGES"], &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}

/// A file by its id or its whole name.
async fn found(client: &Client, options: &OneFile) -> Result<Value> {
    let by_id = is_id(&options.file);
    let query = match by_id {
        true => Query::default(),
        false => Query::default().with("q", &options.file),
    };
    let rows = client.list(&files_of(&options.database), &query, usize::MAX).await?;
    let member = if by_id { "/id" } else { "/name" };
    let found = rows.into_iter().find(|row| text(row, member).eq_ignore_ascii_case(&options.file));
    let missing = || format!("there is no file `{}` in `{}`", options.file, options.database);
    Ok(found.ok_or_else(|| Failure::NotFound(missing()))?)
}

pub(crate) async fn show(client: &Client, options: &OneFile, as_json: bool) -> Result<()> {
    let file = found(client, options).await?;
    if as_json {
        output::json(&file);
    } else {
        output::line(&serde_json::to_string_pretty(&file)?);
    }
    Ok(())
}

pub(crate) async fn delete(client: &Client, options: &OneFile, as_json: bool) -> Result<()> {
    let id = match is_id(&options.file) {
        true => options.file.to_lowercase(),
        false => text(&found(client, options).await?, "/id").to_owned(),
    };
    client.delete(&format!("{}/{}", files_of(&options.database), escaped(&id))).await?;
    if as_json {
        output::json(&json!({ "deleted": id }));
    } else {
        output::line(&output::plain(&format!("Deleted {}.", options.file)));
    }
    Ok(())
}

pub(crate) async fn list_jobs(client: &Client, options: &ListIngestionJobs, as_json: bool) -> Result<()> {
    let query = Query::default()
        .maybe("vectorDatabase", options.database.as_deref())
        .maybe("state", options.state.as_deref());
    let rows = client.list(&format!("{DATABASES}/ingestion-jobs"), &query, options.limit).await?;
    if as_json {
        output::json(&json!({ "ingestionJobs": rows }));
        return Ok(());
    }
    let cells = |row: &Value| {
        let progress = row.get("progress").and_then(Value::as_f64).unwrap_or_default() * 100.0;
        [
            text(row, "/id").to_owned(),
            text(row, "/vectorDatabase").to_owned(),
            text(row, "/kind").to_owned(),
            text(row, "/state").to_owned(),
            format!("{progress:.0} %"),
            count(row, "/files/failed"),
        ]
    };
    let head = ["ID", "DATABASE", "KIND", "STATE", "DONE", "FAILED"];
    output::table(head, &rows.iter().map(cells).collect::<Vec<_>>());
    Ok(())
}

pub(crate) async fn get_job(client: &Client, options: &OneIngestionJob, as_json: bool) -> Result<()> {
    let job = client.get(&job_path(&options.job)?).await?;
    if as_json {
        output::json(&job);
    } else {
        output::line(&serde_json::to_string_pretty(&job)?);
    }
    Ok(())
}

pub(crate) async fn cancel_job(client: &Client, options: &OneIngestionJob, as_json: bool) -> Result<()> {
    client.delete(&job_path(&options.job)?).await?;
    if as_json {
        output::json(&json!({ "cancelled": options.job }));
    } else {
        output::line(&output::plain(&format!("Cancelled {}.", options.job)));
    }
    Ok(())
}
