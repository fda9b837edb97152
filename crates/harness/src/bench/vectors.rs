//! Benchmark of nearest vectors, beside libraries that are known for them.

use std::ffi::OsStr;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::{example, output, searching};
use heddle_harness_kit::pip::Environment;
use heddle_harness_kit::{out, workspace};

const SCRIPT: &str = include_str!("vectors.py");
const PEERS: &str = "numpy hnswlib faiss-cpu";
/// Number of vectors that the bars were set for.
const USUAL: u64 = 100_000;
const MILLION: u64 = 1_000_000;

/// Options of `bench vectors`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Vectors of 384 dimensions.
    #[arg(long, default_value_t = USUAL)]
    count: u64,
    /// Queries.
    #[arg(long, default_value_t = 1_000)]
    queries: u64,
    /// Leaves the libraries beside it out, which need python3, pip and a C++ compiler.
    #[arg(long)]
    alone: bool,
    #[command(flatten)]
    over: searching::Served,
}

#[derive(Deserialize)]
struct Figures {
    build_s: f64,
    memory_mb: u64,
    disk_mb: u64,
    apply_s: f64,
    rescored: Figure,
    codes: Figure,
    filter_1_percent: Figure,
    changed: Figure,
    int8_scan: Option<Figure>,
}

#[derive(Deserialize)]
struct Figure {
    recall: f64,
    ms: f64,
}

#[derive(Deserialize)]
struct Peer {
    peer: String,
    recall: f64,
    ms: f64,
    build_s: f64,
}

/// Measures; whether the bars hold.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let mut holds = true;
    if !options.over.http {
        holds &= library(&options)?;
    }
    if !options.over.library {
        holds &= searching::run(&options.over).await?;
    }
    Ok(holds)
}

/// The library's figures, and the peers' beside them; whether the bars hold.
fn library(options: &Options) -> Result<bool> {
    let folder = workspace::target_dir()?.join("bench-vectors");
    std::fs::create_dir_all(&folder)?;
    let (count, queries) = (options.count.to_string(), options.queries.to_string());
    let mut arguments = vec![OsStr::new(&count), OsStr::new(&queries)];
    if !options.alone {
        arguments.push(folder.as_os_str());
    }
    let line = example("heddle-passages", "bench-vectors", &[], &arguments)?;
    let figures: Figures = serde_json::from_str(&line).context("the benchmark printed no figures")?;
    let holds = report(&figures, options.count);
    if !options.alone {
        let peers = Environment::install("peers-vectors", PEERS)?;
        let lines = output(peers.python("vectors.py", SCRIPT)?.arg(&folder))?;
        for line in lines.lines() {
            let Peer { peer, recall, ms, build_s } =
                serde_json::from_str(line).context("the peers printed no figures")?;
            out::line(format_args!(
                "subject=vectors peer={peer} recall@10={recall:.4} cpu_ms={ms:.3} build_s={build_s:.1} \
                 query_ratio={:.2} build_ratio={:.1}",
                ms / figures.rescored.ms,
                build_s / figures.build_s
            ));
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(holds)
}

/// Prints the figures; whether they hold.
fn report(figures: &Figures, count: u64) -> bool {
    let Figures { build_s, memory_mb, disk_mb, apply_s, .. } = figures;
    out::line(format_args!(
        "subject=vectors count={count} build_s={build_s:.2} memory_mb={memory_mb} disk_mb={disk_mb} \
         change_a_tenth_s={apply_s:.2}"
    ));
    // Recall and CPU milliseconds, where the count is one that bars are set for.
    let (most, most_filtered) = match count {
        USUAL => (Some(0.4), Some(0.3)),
        MILLION => (Some(7.0), None),
        _other => (None, None),
    };
    let mut holds = count != MILLION || *memory_mb <= 250;
    let bars = [
        ("rescored", Some(&figures.rescored), Some(0.9995), most),
        ("codes", Some(&figures.codes), None, None),
        ("filter-1-percent", Some(&figures.filter_1_percent), Some(0.9995), most_filtered),
        ("changed", Some(&figures.changed), Some(0.9995), most),
        ("int8-scan", figures.int8_scan.as_ref(), None, None),
    ];
    for (name, figure, least, most) in bars {
        let Some(Figure { recall, ms }) = figure else { continue };
        let held = least.is_none_or(|least| *recall >= least) && most.is_none_or(|most| *ms <= most);
        holds &= held;
        let verdict = if held { "" } else { " FAILED" };
        out::line(format_args!("subject=vectors leg={name} recall@10={recall:.4} cpu_ms={ms:.3}{verdict}"));
    }
    holds
}
