//! Benchmark of the quality of retrieval, on collections that say what is relevant.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::{example, questions};
use heddle_harness_kit::{out, workspace};

/// Options of `bench retrieval`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder with a folder for each collection; that of the suites when it is left out.
    #[arg(long)]
    data: Option<PathBuf>,
    #[command(flatten)]
    over: questions::Served,
}

#[derive(Deserialize)]
struct Figure {
    collection: String,
    mode: String,
    ndcg: f64,
    ms: f64,
}

/// Least nDCG at 10 by collection and mode: what the same engines reach elsewhere, less a hundredth.
const LEAST: [(&str, &str, f64); 5] = [
    ("scifact", "keyword", 0.675),
    ("scifact", "semantic", 0.64),
    ("scifact", "hybrid", 0.72),
    ("cranfield", "keyword", 0.36),
    ("cranfield", "hybrid", 0.415),
];

/// Least nDCG at 10 of a collection in a mode, if there is a bar.
pub(super) fn least(collection: &str, mode: &str) -> Option<f64> {
    LEAST.iter().find(|(of, by, _)| *of == collection && *by == mode).map(|bar| bar.2)
}

/// Measures; whether the bars hold.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let data = options.data.unwrap_or_else(|| workspace::suites().join("retrieval"));
    let holds = library(&data)?;
    if options.over.library {
        return Ok(holds);
    }
    Ok(questions::run(&options.over, &data).await? && holds)
}

/// The library's own figures; whether the bars hold.
fn library(data: &Path) -> Result<bool> {
    let lines =
        example("heddle-passages", "bench-retrieval", &[], &[OsStr::new("--data"), data.as_os_str()])?;
    let mut holds = true;
    for line in lines.lines() {
        let Figure { collection, mode, ndcg, ms } =
            serde_json::from_str(line).context("the benchmark printed no figures")?;
        let verdict = match least(&collection, &mode) {
            Some(least) if ndcg < least => {
                holds = false;
                format!(" FAILED: below {least}")
            }
            Some(least) => format!(" bar={least}"),
            None => String::new(),
        };
        out::line(format_args!(
            "subject=retrieval collection={collection} mode={mode} ndcg@10={ndcg:.4} cpu_ms={ms:.3}{verdict}"
        ));
    }
    Ok(holds)
}
