//! Every file of a folder imported with `isExecutable` set and published: which of the models that people have can be
//! executed as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::deployment::{Deployment, Refused, attribute, executable, process_tags, start_tags};
use super::report::{self, Outcome, Report};
use super::scene::Scene;
use heddle_harness_kit::client::Client;
use heddle_harness_kit::server::Backend;
use heddle_harness_kit::{out, workspace};

/// Options of `conformance bpmn-vendor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folders with models, searched recursively.
    #[arg(long, required = true)]
    dir: Vec<PathBuf>,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Prints JSON before the last line.
    #[arg(long)]
    json: bool,
    /// Tries only files whose name contains this text.
    #[arg(long)]
    only: Option<String>,
    /// Fails when fewer can be executed.
    #[arg(long)]
    at_least: Option<usize>,
}

/// A file of the folders.
struct Source {
    /// Path of the file below its folder.
    name: String,
    /// Content of the file, with `isExecutable` set.
    bytes: Vec<u8>,
    /// Ids of the processes in it.
    processes: BTreeSet<String>,
    /// Ids that its call activities name.
    calls: BTreeSet<String>,
}

/// Tries the files; `false` when fewer can be executed than demanded.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let sources = read(&options.dir)?;
    let scene = Scene::start(options.backend).await?;
    let report = Report { suite: "bpmn-vendor", backend: Some(options.backend.name()), cases: Vec::new() };
    let report = judged(scene, &sources, report, options.only.as_deref()).await?;
    report.print(options.json)?;
    let enough = options.at_least.is_none_or(|least| report.passed() >= least);
    if !enough {
        out::note(format_args!("fewer than {} can be executed", options.at_least.unwrap_or_default()));
    }
    Ok(enough && !report.cases.is_empty())
}

/// All files of folders against a server on SQLite.
pub(crate) async fn judge(suite: &'static str, folders: &[PathBuf]) -> Result<Report> {
    let sources = read(folders)?;
    let report = Report { suite, backend: Some(Backend::Sqlite.name()), cases: Vec::new() };
    judged(Scene::start(Backend::Sqlite).await?, &sources, report, None).await
}

async fn judged(
    mut scene: Scene,
    sources: &[Source],
    mut report: Report,
    only: Option<&str>,
) -> Result<Report> {
    let mut homes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, source) in sources.iter().enumerate() {
        source.processes.iter().for_each(|id| homes.entry(id).or_default().push(index));
    }
    for (index, source) in sources.iter().enumerate() {
        if only.is_some_and(|only| !source.name.contains(only)) {
            continue;
        }
        scene.refresh().await.context("the server cannot be replaced")?;
        let began = Instant::now();
        let called = called_first(sources, &homes, index);
        let outcome = match publish(&scene, &called, source, index).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::Failed { reason: format!("{error:#}") },
        };
        report.cases.push(report::Result {
            model: source.name.clone(),
            case: 1,
            outcome,
            milliseconds: began.elapsed().as_millis(),
        });
    }
    scene.end().await?;
    Ok(report)
}

/// The files that one calls, directly or not, the deepest first. An id that several files have is the first one's.
fn called_first<'s>(
    sources: &'s [Source],
    homes: &BTreeMap<&str, Vec<usize>>,
    index: usize,
) -> Vec<&'s Source> {
    let mut order = vec![index];
    let mut next = 0;
    while let Some(source) = order.get(next).and_then(|index| sources.get(*index)) {
        for id in source.calls.iter().filter(|id| !source.processes.contains(*id)) {
            if let Some(home) = homes.get(id.as_str()).and_then(|homes| homes.first())
                && !order.contains(home)
            {
                order.push(*home);
            }
        }
        next += 1;
    }
    order.iter().skip(1).rev().filter_map(|index| sources.get(*index)).collect()
}

/// Publishes a file behind those that it calls, and takes all of them away again, so that each stands as in an organisation of
/// its own. A called file that is refused says so in a case of its own.
async fn publish(scene: &Scene, called: &[&Source], source: &Source, number: usize) -> Result<Outcome> {
    let key = format!("model-{number}");
    let mut place = Place::default();
    let tried = place.publish(scene.client(), called, source, &key).await;
    let Place { before, own } = place;
    let removed = own.remove(scene.client()).await.and(before.remove(scene.client()).await);
    let outcome = match tried? {
        Ok(()) => Outcome::Passed,
        Err(Refused(reason)) => Outcome::Failed { reason },
    };
    removed.context("the model cannot be cleared away")?;
    Ok(outcome)
}

/// Deployments that stand in the organisation while one file is tried.
#[derive(Default)]
struct Place {
    /// Files that it calls.
    before: Deployment,
    /// The file.
    own: Deployment,
}

impl Place {
    async fn publish(
        &mut self,
        client: &Client,
        called: &[&Source],
        source: &Source,
        key: &str,
    ) -> Result<Result<(), Refused>> {
        for (count, source) in called.iter().enumerate() {
            let mut alone = Deployment::default();
            let key = format!("{key}-called-{count}");
            if alone.add(client, &source.name, &source.bytes, &key).await?.is_ok() {
                let told = alone.publish(client).await;
                self.before.workflows.append(&mut alone.workflows);
                if let Err(Refused(reason)) = told? {
                    out::note(format_args!("{} is called and {reason}", source.name));
                }
            }
        }
        if let Err(refused) = self.own.add(client, &source.name, &source.bytes, key).await? {
            return Ok(Err(refused));
        }
        self.own.publish(client).await
    }
}

fn read(folders: &[PathBuf]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for folder in folders {
        if !folder.is_dir() {
            bail!("there is no folder {}", folder.display());
        }
        for path in workspace::files(folder)? {
            let is_model = path
                .extension()
                .is_some_and(|end| end.eq_ignore_ascii_case("bpmn") || end.eq_ignore_ascii_case("xml"));
            if is_model {
                let bytes =
                    std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let name = path.strip_prefix(folder).unwrap_or(Path::new("")).to_string_lossy().into_owned();
                sources.push(Source::new(name, bytes));
            }
        }
    }
    Ok(sources)
}

impl Source {
    fn new(name: String, bytes: Vec<u8>) -> Self {
        let bytes = executable(bytes);
        let (processes, calls) = names(&String::from_utf8_lossy(&bytes));
        Self { name, bytes, processes, calls }
    }
}

/// Ids of the processes of a text, and those that its call activities name.
fn names(text: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let ids = process_tags(text).into_iter().filter_map(|tag| attribute(tag, "id"));
    let called = |tag: &str| {
        let of = if tag.contains("calledElement ") { attribute(tag, "processId") } else { None };
        attribute(tag, "calledElement").or(of).map(str::to_owned)
    };
    (ids.map(str::to_owned).collect(), start_tags(text).filter_map(called).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, text: &str) -> Source {
        Source::new(name.to_owned(), text.as_bytes().to_vec())
    }

    #[test]
    fn what_is_called_comes_before_what_calls_it() {
        let sources = [
            source("a", r#"<process id="a"><callActivity id="x" calledElement="b"/></process>"#),
            source(
                "b",
                r#"<process id="b"><callActivity id="x"><zeebe:calledElement processId="c"/></callActivity></process>"#,
            ),
            source("c", r#"<process id="c"><callActivity id="x" calledElement="a"/></process>"#),
            source("d", r#"<process id="d"><callActivity id="x" calledElement="nowhere"/></process>"#),
        ];
        let mut homes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, source) in sources.iter().enumerate() {
            source.processes.iter().for_each(|id| homes.entry(id).or_default().push(index));
        }
        let names = |index: usize| -> Vec<&str> {
            called_first(&sources, &homes, index).into_iter().map(|own| own.name.as_str()).collect()
        };
        assert_eq!(names(0), ["c", "b"]);
        assert_eq!(names(3), Vec::<&str>::new());
    }
}
