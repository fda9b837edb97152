//! The DMN Technology Compatibility Kit, in the process itself: a decision needs no server.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, bail};
use heddle_dmn::model::DecisionModel;
use heddle_dmn::tck::{self, Verdict};
use heddle_dmn::{EvalOptions, compile, xml};

use super::dmn_http;
use super::report::{self, Outcome, Report};
use heddle_harness_kit::server::Backend;
use heddle_harness_kit::{out, workspace};

/// Options of `conformance dmn-tck`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folders with `*-test-*.xml` and their models, searched recursively.
    #[arg(long, required = true)]
    dir: Vec<PathBuf>,
    /// Prints JSON before the last line.
    #[arg(long)]
    json: bool,
    /// Sends so many models, spread over all of them, through a started server instead: created, published, and each
    /// case a run of a business rule task.
    #[arg(long, value_name = "MODELS")]
    http: Option<usize>,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite, requires = "http")]
    backend: Backend,
}

/// Runs the suite; `false` when a case failed.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let report = match options.http {
        Some(sample) => dmn_http::judge(&options.dir, sample, options.backend).await?,
        None => judge(&options.dir)?,
    };
    report.print(options.json)?;
    Ok(report.clean())
}

/// The suite of some folders.
pub(crate) fn judge(folders: &[PathBuf]) -> Result<Report> {
    let mut report = Report { suite: "dmn-tck", backend: None, cases: Vec::new() };
    let options = EvalOptions::new(SystemTime::now().into());
    for folder in folders {
        if !folder.is_dir() {
            bail!("there is no folder {}", folder.display());
        }
        for path in workspace::files(folder)?.into_iter().filter(|path| is_test(path)) {
            let relative = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            judge_file(&path, &relative, &options, &mut report)?;
        }
    }
    if report.cases.is_empty() {
        out::line("no test cases found");
    }
    Ok(report)
}

/// Whether a file holds test cases.
pub(crate) fn is_test(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.ends_with(".xml") && name.contains("-test-")
}

fn judge_file(path: &Path, relative: &str, options: &EvalOptions, report: &mut Report) -> Result<()> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut add = |case: usize, outcome: Outcome, milliseconds: u128| {
        let model = relative.to_owned();
        report.cases.push(report::Result { model, case, outcome, milliseconds });
    };
    let began = Instant::now();
    let file = match tck::read(&bytes) {
        Ok(file) => file,
        Err(error) => {
            add(1, Outcome::Failed { reason: format!("no test cases: {error}") }, 0);
            return Ok(());
        }
    };
    let models = match models(path, &file.model_name) {
        Ok(models) => models,
        Err(error) => {
            add(1, Outcome::Failed { reason: format!("{error:#}") }, 0);
            return Ok(());
        }
    };
    let compiled = compile(&models);
    for (number, case) in tck::run(&file, &compiled.model, options).into_iter().enumerate() {
        let outcome = match case.verdict {
            Verdict::Passed => Outcome::Passed,
            Verdict::Failed(reason) => Outcome::Failed { reason: format!("{}: {reason}", case.id) },
            Verdict::Skipped(reason) => Outcome::Skipped { reason: format!("{}: {reason}", case.id) },
        };
        add(number + 1, outcome, began.elapsed().as_millis());
    }
    Ok(())
}

/// The model that a test names, then the others beside it, which it may import.
pub(crate) fn models(test: &Path, name: &str) -> Result<Vec<DecisionModel>> {
    let folder = test.parent().context("a test stands in a folder")?;
    let model = |path: &Path| -> Result<DecisionModel> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(xml::read(&bytes).with_context(|| format!("{}", path.display()))?.model)
    };
    let mut models = vec![model(&folder.join(name))?];
    // A neighbour that is no model is nothing that this test imports.
    models.extend(neighbours(folder, name)?.iter().filter_map(|path| model(path).ok()));
    Ok(models)
}

/// The other models of a folder.
pub(crate) fn neighbours(folder: &Path, name: &str) -> Result<Vec<PathBuf>> {
    let mut others = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let dmn = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("dmn"));
        if dmn && path.file_name().is_some_and(|file| file != name) {
            others.push(path);
        }
    }
    others.sort();
    Ok(others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_found_by_their_names_and_judged() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "m.dmn",
            r#"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" name="m" namespace="urn:m">
            <decision id="d" name="d"><variable name="d"/><literalExpression><text>1 + 1</text></literalExpression>
            </decision></definitions>"#,
        );
        let case = |id: &str, value: &str| {
            format!(
                r#"<testCase id="{id}"><resultNode name="d" type="decision"><expected><value
                xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xsd:decimal"
                xmlns:xsd="http://www.w3.org/2001/XMLSchema">{value}</value></expected></resultNode></testCase>"#
            )
        };
        let head = r#"<testCases xmlns="http://www.omg.org/spec/DMN/20160719/testcase"><modelName>m.dmn</modelName>"#;
        write("m-test-01.xml", &format!("{head}{}{}</testCases>", case("a", "2"), case("b", "3")));
        write("other.xml", "<a/>");
        let report = judge(&[folder.path().to_path_buf()]).unwrap();
        assert_eq!(report.summary(), "suite=dmn-tck total=2 passed=1 failed=1");
        let Outcome::Failed { reason } = &report.cases[1].outcome else { panic!("the second case fails") };
        assert!(reason.starts_with("b: "), "{reason}");
    }
}
