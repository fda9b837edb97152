//! Exports against the standard's schema, and through bpmn-moddle: no complaint that the source did not cause.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::report::{self, Outcome, Report};
use super::roundtrip::{self, Source};
use super::scene::Scene;
use heddle_harness_kit::npm::{self, Package};
use heddle_harness_kit::server::Backend;

const SCRIPT: &str = include_str!("moddle.mjs");

/// Options of `conformance bpmn-schema`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folders with .bpmn, .bpmn20.xml and .xml files, searched recursively.
    #[arg(long, required = true)]
    dir: Vec<PathBuf>,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Takes the exports from this folder, under the sources' paths, without a server.
    #[arg(long)]
    exports: Option<PathBuf>,
}

/// Reading of one file by bpmn-moddle.
#[derive(Debug, Deserialize)]
struct Reading {
    file: PathBuf,
    /// Warnings, by what they complain about.
    warnings: Vec<String>,
}

/// The schema and the second reader.
struct Tools {
    moddle: Package,
    schema: PathBuf,
}

/// Runs the suite; `false` when an export is worse than its source.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let mut scene = match options.exports {
        Some(_) => None,
        None => Some(Scene::start(options.backend).await?),
    };
    let backend = options.exports.is_none().then_some(options.backend.name());
    let report = judged(&mut scene, &options.dir, backend, options.exports.as_deref()).await?;
    if let Some(scene) = scene {
        scene.end().await?;
    }
    report.print(false)?;
    Ok(report.clean())
}

/// The whole suite of some folders against a server on SQLite.
pub(crate) async fn judge_all(folders: &[PathBuf]) -> Result<Report> {
    let mut scene = Some(Scene::start(Backend::Sqlite).await?);
    let backend = Some(Backend::Sqlite.name());
    let report = judged(&mut scene, folders, backend, None).await?;
    if let Some(scene) = scene {
        scene.end().await?;
    }
    Ok(report)
}

async fn judged(
    scene: &mut Option<Scene>,
    folders: &[PathBuf],
    backend: Option<&'static str>,
    exports: Option<&Path>,
) -> Result<Report> {
    let (sources, _) = roundtrip::sources(folders)?;
    let tools = Tools::install()?;
    let work = tempfile::tempdir().context("no folder for the exports")?;
    let mut failures: BTreeMap<usize, String> = BTreeMap::new();
    for (number, source) in sources.iter().enumerate() {
        let exported = match (exports, &mut *scene) {
            (Some(folder), _) => std::fs::read_to_string(folder.join(&source.relative))
                .map_err(|error| format!("no export: {error}")),
            (None, Some(scene)) => roundtrip::through(scene, source, number).await,
            (None, None) => Err("there is no server".to_owned()),
        };
        match exported {
            Ok(text) => roundtrip::keep(work.path(), &place(number), text.as_bytes())?,
            Err(reason) => {
                failures.insert(number, reason);
            }
        }
    }
    judge(&tools, &sources, work.path(), &mut failures)?;
    let mut report = Report { suite: "bpmn-schema", backend, cases: Vec::new() };
    for (number, source) in sources.iter().enumerate() {
        let outcome = match failures.remove(&number) {
            Some(reason) => Outcome::Failed { reason },
            None => Outcome::Passed,
        };
        let model = source.relative.to_string_lossy().into_owned();
        report.cases.push(report::Result { model, case: 1, outcome, milliseconds: 0 });
    }
    Ok(report)
}

fn place(number: usize) -> PathBuf {
    PathBuf::from(format!("{number}.bpmn"))
}

/// Validates and reads every export; what is worse than its source becomes a failure.
fn judge(
    tools: &Tools,
    sources: &[Source],
    work: &Path,
    failures: &mut BTreeMap<usize, String>,
) -> Result<()> {
    let numbers: Vec<usize> = (0..sources.len()).filter(|number| !failures.contains_key(number)).collect();
    let exports: Vec<PathBuf> = numbers.iter().map(|number| work.join(place(*number))).collect();
    // Node runs in another folder.
    let originals: Vec<PathBuf> =
        numbers.iter().map(|number| std::path::absolute(&sources[*number].path)).collect::<Result<_, _>>()?;
    let (before, after) = (tools.readings(&originals)?, tools.readings(&exports)?);
    for (index, number) in numbers.iter().enumerate() {
        let found = tools.complaint(&exports[index])?;
        if let Some(found) = found
            && tools.complaint(&originals[index])?.is_none()
        {
            failures.insert(*number, format!("the export breaks the schema: {found}"));
            continue;
        }
        let (own, other) = (before.get(&originals[index]), after.get(&exports[index]));
        let added = added(own.map_or(&[], Vec::as_slice), other.map_or(&[], Vec::as_slice));
        if let Some(warning) = added {
            failures.insert(*number, format!("bpmn-moddle warns of the export only: {warning}"));
        }
    }
    Ok(())
}

/// The first warning that stands more often in the second list.
fn added<'w>(before: &[String], after: &'w [String]) -> Option<&'w str> {
    let count = |list: &[String], warning: &str| list.iter().filter(|own| *own == warning).count();
    after.iter().find(|warning| count(after, warning) > count(before, warning)).map(String::as_str)
}

impl Tools {
    /// Installs bpmn-moddle; xmllint must be on the path.
    fn install() -> Result<Self> {
        let moddle = npm::moddle()?;
        let schema = moddle.module.join("resources/bpmn/xsd/BPMN20.xsd");
        let xmllint = Command::new("xmllint").arg("--version").stderr(Stdio::null()).status();
        if !xmllint.is_ok_and(|status| status.success()) {
            bail!("xmllint cannot be started; it is part of libxml2-utils");
        }
        Ok(Self { moddle, schema })
    }

    /// Complaint of the schema about a file; none when it is valid.
    fn complaint(&self, path: &Path) -> Result<Option<String>> {
        let mut command = Command::new("xmllint");
        command.args(["--noout", "--nonet", "--schema"]).arg(&self.schema).arg(path);
        let output = command.stdin(Stdio::null()).output().context("xmllint cannot be started")?;
        if output.status.success() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let first = text.lines().find(|line| line.contains("error")).unwrap_or_default();
        Ok(Some(first.rsplit('/').next().unwrap_or(first).trim().to_owned()))
    }

    /// Warnings of bpmn-moddle by file.
    fn readings(&self, files: &[PathBuf]) -> Result<BTreeMap<PathBuf, Vec<String>>> {
        let list = self.moddle.folder.join("files.json");
        std::fs::write(&list, serde_json::to_vec(files)?).context("the list cannot be written")?;
        let mut command = self.moddle.node("read.mjs", SCRIPT)?;
        let output = command.arg(&list).output().context("node cannot be started")?;
        if !output.status.success() {
            bail!("node {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
        }
        let readings: Vec<Reading> =
            serde_json::from_slice(&output.stdout).context("bpmn-moddle's answer")?;
        Ok(readings.into_iter().map(|reading| (reading.file, reading.warnings)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_counts_when_the_source_has_fewer_of_it() {
        let list = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        assert_eq!(added(&list(&["a", "b"]), &list(&["b", "a"])), None);
        assert_eq!(added(&list(&["a", "b"]), &list(&["a"])), None);
        assert_eq!(added(&list(&["a"]), &list(&["a", "a"])), Some("a"));
        assert_eq!(added(&list(&[]), &list(&["c"])), Some("c"));
    }
}
