//! Models of our own, written as modelers export them, from their import to the end of their runs.

use std::path::PathBuf;

use anyhow::Result;

use super::execution;
use super::scene::Scene;
use heddle_harness_kit::server::Backend;
use heddle_harness_kit::workspace;

/// Options of `conformance models`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folder with expectations.json instead of our own models.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Runs only models whose id contains this text.
    #[arg(long)]
    only: Option<String>,
}

/// Runs the models; `false` when one did not end as it should.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let folder = options.dir.unwrap_or_else(|| workspace::root().join("crates/harness-conformance/models"));
    let scene = Scene::start(options.backend).await?;
    let report =
        execution::judged(scene, &folder, options.only.as_deref(), Some(options.backend.name())).await?;
    let report = super::report::Report { suite: "models", ..report };
    report.print(false)?;
    Ok(report.clean())
}

#[cfg(test)]
mod tests {
    use super::super::deployment;
    use super::super::language::{Step, read_suite};
    use heddle_harness_kit::workspace;

    #[test]
    fn the_models_and_their_steps_can_be_read() {
        let folder = workspace::root().join("crates/harness-conformance/models");
        for (folder, model) in read_suite(&folder).unwrap() {
            for file in &model.files {
                let text = std::fs::read_to_string(folder.join(file)).unwrap();
                assert!(!deployment::process_tags(&text).is_empty(), "{file}");
                assert!(text.contains("BPMNShape"), "{file} has a diagram, as every export has");
            }
            for decisions in model.decisions.values() {
                assert!(folder.join(decisions).is_file(), "{decisions}");
            }
            for step in model.cases.iter().flat_map(|case| &case.steps) {
                Step::read(step).unwrap();
            }
        }
    }
}
