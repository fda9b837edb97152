//! The suites of executable models, of BPMN and of CMMN.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use super::cases;
use super::language;
use super::report::{self, Outcome, Report};
use super::scene::Scene;
use heddle_harness_kit::out;
use heddle_harness_kit::server::Backend;

/// Options of `conformance bpmn-execution` and `conformance cmmn-execution`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folder with expectations.json, searched recursively.
    #[arg(long)]
    dir: PathBuf,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Prints JSON before the last line.
    #[arg(long)]
    json: bool,
    /// Address of a server that runs already with --test-clock; none is started then.
    #[arg(long, requires = "token")]
    server: Option<String>,
    /// Bearer token for --server.
    #[arg(long)]
    token: Option<String>,
    /// Runs only models whose id contains this text.
    #[arg(long)]
    only: Option<String>,
    /// Fails when fewer cases pass.
    #[arg(long)]
    at_least: Option<usize>,
}

/// Runs the suite; `false` when fewer cases passed than demanded.
pub(crate) async fn run(suite: &'static str, options: Options) -> Result<bool> {
    let scene = match (&options.server, &options.token) {
        (Some(server), Some(token)) => Scene::given(server, token)?,
        _ => Scene::start(options.backend).await?,
    };
    let backend = options.server.is_none().then(|| options.backend.name());
    let report = judged(scene, &options.dir, options.only.as_deref(), backend).await?;
    let report = Report { suite, ..report };
    report.print(options.json)?;
    let enough = options.at_least.is_none_or(|least| report.passed() >= least);
    if !enough {
        out::note(format_args!("fewer than {} cases passed", options.at_least.unwrap_or_default()));
    }
    Ok(enough)
}

/// The whole suite of some folders against a server on SQLite.
pub(crate) async fn judge(suite: &'static str, folders: &[PathBuf]) -> Result<Report> {
    let backend = Some(Backend::Sqlite.name());
    let mut cases = Vec::new();
    for folder in folders {
        let report = judged(Scene::start(Backend::Sqlite).await?, folder, None, backend).await?;
        cases.extend(report.cases);
    }
    Ok(Report { suite, backend, cases })
}

/// Every case of a folder's models.
pub(super) async fn judged(
    mut scene: Scene,
    folder: &Path,
    only: Option<&str>,
    backend: Option<&'static str>,
) -> Result<Report> {
    let mut report = Report { suite: "bpmn-execution", backend, cases: Vec::new() };
    for (folder, model) in language::read_suite(folder)? {
        if only.is_some_and(|only| !model.id.contains(only)) {
            continue;
        }
        for (number, case) in model.cases.iter().enumerate() {
            scene.refresh().await.context("the server cannot be replaced")?;
            let began = Instant::now();
            let outcome = match cases::run(&mut scene, &folder, &model, case).await {
                Ok(outcome) => outcome,
                Err(error) => Outcome::Failed { reason: format!("{error:#}") },
            };
            report.cases.push(report::Result {
                model: model.id.clone(),
                case: number + 1,
                outcome,
                milliseconds: began.elapsed().as_millis(),
            });
        }
    }
    scene.end().await?;
    Ok(report)
}
