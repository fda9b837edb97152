//! `heddle workflow`.

use std::path::Path;

use anyhow::{Context as _, Result};
use heddle_server::acting::Acting;
use heddle_server::demo::{self, Source};
use heddle_server::operator::{self, Exported};
use heddle_server::{Composition, Config};
use serde_json::{Value, json};

use super::{acting, operate};
use crate::cli::{ExportWorkflow, ImportWorkflows};
use crate::output;

pub(crate) async fn export(config: Config, options: ExportWorkflow, as_json: bool) -> Result<()> {
    let bar = output::progress("exporting", 1);
    let core = operate(config).await?;
    let exported = export_from(&core, &options).await;
    core.stop().await;
    bar.finish_and_clear();
    let exported = exported?;
    for diagnostic in &exported.diagnostics {
        tracing::warn!(element = diagnostic.element_id, "{}", diagnostic.message);
    }
    let Some(path) = &options.output else {
        if as_json {
            output::json(&json!({ "slug": exported.slug, "content": exported.content }));
        } else {
            output::line(exported.content.trim_end());
        }
        return Ok(());
    };
    std::fs::write(path, &exported.content).with_context(|| format!("`{}`", path.display()))?;
    if as_json {
        output::json(&json!({ "slug": exported.slug, "file": path, "bytes": exported.content.len() }));
    } else {
        output::line(&format!("Wrote {} to {}.", exported.slug, path.display()));
    }
    Ok(())
}

async fn export_from(core: &Composition, options: &ExportWorkflow) -> Result<Exported> {
    let acting = acting(core, &options.place).await?;
    Ok(operator::export(&core.app, &acting, &options.workflow, &options.of).await?)
}

pub(crate) async fn import(config: Config, options: ImportWorkflows, as_json: bool) -> Result<()> {
    let bar = output::progress("importing", options.files.len() as u64);
    let core = operate(config).await?;
    let mut made = Vec::new();
    let done = async {
        let acting = acting(&core, &options.place).await?;
        for file in &options.files {
            let row = import_one(&core, &acting, file, options.publish).await;
            made.push(row.with_context(|| format!("`{}`", file.display()))?);
            bar.inc(1);
        }
        Ok(())
    };
    let done: Result<()> = done.await;
    core.stop().await;
    bar.finish_and_clear();
    // What was made before a file failed stays, and is told.
    if as_json {
        output::json(&json!({ "workflows": made }));
    } else {
        for row in &made {
            let member = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            output::line(&format!("{}  {}  {}", member("id"), member("slug"), member("file")));
        }
    }
    done
}

async fn import_one(core: &Composition, acting: &Acting, file: &Path, publish: bool) -> Result<Value> {
    let bytes = std::fs::read(file).context("cannot be read")?;
    let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, name) = (text(file.file_stem()), text(file.file_name()));
    let slug = heddle_usecase::slug_from(&stem, "workflow");
    let source = Source {
        slug: &slug,
        display_name: &stem,
        description: "",
        file_name: &name,
        bytes: &bytes,
        publish,
    };
    let id = demo::import(&core.app, acting, &source).await?;
    Ok(json!({ "id": id, "slug": slug, "file": file, "published": publish }))
}
