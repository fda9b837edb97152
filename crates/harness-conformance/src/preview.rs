//! Every file of a folder through transform/preview: none may break the server.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::deployment;
use super::scene::Scene;
use heddle_harness_kit::server::Backend;
use heddle_harness_kit::{out, workspace};

/// Options of `conformance bpmn-preview`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folders with .bpmn files, searched recursively.
    #[arg(long, required = true)]
    dir: Vec<PathBuf>,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Prints each refused file with its reason.
    #[arg(long)]
    verbose: bool,
    /// Fails when a file is refused, not only when the server breaks.
    #[arg(long)]
    all_accepted: bool,
}

/// Runs the suite; `false` when a file broke the server, or was refused where none may be.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let mut files = Vec::new();
    for folder in &options.dir {
        if !folder.is_dir() {
            bail!("there is no folder {}", folder.display());
        }
        let models = workspace::files(folder)?;
        files.extend(models.into_iter().filter(|path| {
            path.extension()
                .is_some_and(|end| end.eq_ignore_ascii_case("bpmn") || end.eq_ignore_ascii_case("xml"))
        }));
    }
    let mut scene = Scene::start(options.backend).await?;
    let (mut accepted, mut refused, mut broken) = (0_usize, 0_usize, 0_usize);
    for path in &files {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match scene
            .client()
            .post("/api/workflows/transform/preview", &deployment::source(&name, &bytes))
            .await
        {
            Ok(answer) if answer.ok() && answer.body["data"]["definition"].is_object() => accepted += 1,
            Ok(answer) if answer.status < 500 && !answer.ok() => {
                refused += 1;
                if options.verbose || options.all_accepted {
                    out::line(format_args!("{}: {}", path.display(), answer.refusal()));
                }
            }
            Ok(answer) => {
                broken += 1;
                out::line(format_args!("BROKEN {}: {} {}", path.display(), answer.status, answer.refusal()));
            }
            Err(error) => {
                broken += 1;
                out::line(format_args!("BROKEN {}: {error:#}", path.display()));
                scene.refresh().await?;
            }
        }
    }
    scene.end().await?;
    out::line(format_args!(
        "accepted={accepted}, refused with a reason={refused}, broke the server={broken}"
    ));
    let failed = if options.all_accepted { broken + refused } else { broken };
    let total = files.len();
    out::line(format_args!("suite=bpmn-preview total={total} passed={} failed={failed}", total - failed));
    Ok(failed == 0 && total > 0)
}
