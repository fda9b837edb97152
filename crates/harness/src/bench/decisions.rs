//! Benchmark of reading and evaluating expressions and decisions on one core, beside feelin.

use anyhow::Result;

use super::{example, output};
use heddle_harness_kit::npm::Package;
use heddle_harness_kit::{out, workspace};

const SCRIPT: &str = include_str!("feelin.mjs");

/// Options of `bench dmn`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Leaves feelin out, which needs npm and node.
    #[arg(long)]
    alone: bool,
}

/// Measures; rates are per second of processor time.
pub(crate) fn run(options: Options) -> Result<bool> {
    let expressions = example("heddle-feel", "bench-feel", &[], &[])?;
    for line in expressions.lines() {
        out::line(format_args!("subject=feel {}", line.trim()));
    }
    let kit = workspace::suites().join("dmn-tck");
    if kit.is_dir() {
        let decisions = example("heddle-dmn", "bench-decisions", &["tck"], &[kit.as_os_str()])?;
        decisions.lines().for_each(|line| out::line(format_args!("subject=dmn {line}")));
    } else {
        out::line(format_args!("skipped: the kit is absent ({})", kit.display()));
    }
    if !options.alone {
        let feelin = Package::install("feelin", "feelin@^8")?;
        let lines = output(&mut feelin.node("bench.mjs", SCRIPT)?)?;
        for line in lines.lines() {
            out::line(format_args!("subject=feel peer=feelin {line}"));
            ratio(&expressions, line);
        }
    }
    Ok(true)
}

/// Our rate for the same work in times of the peer's; `parse and evaluate` is the sum of both our times.
fn ratio(own: &str, peer: &str) {
    let Some((rate, what)) = peer.split_once("/s ") else { return };
    let find = |what: &str| {
        let line = own.lines().find(|line| line.trim_end().ends_with(&format!(" {what}")))?;
        line.trim().split_once("/s")?.0.parse::<f64>().ok()
    };
    let own = match what.strip_prefix("parse and evaluate ") {
        Some(text) => find(&format!("parse {text}"))
            .zip(find(&format!("evaluate {text}")))
            .map(|(parse, evaluate)| 1.0 / (1.0 / parse + 1.0 / evaluate)),
        None => find(what),
    };
    if let (Some(own), Ok(rate)) = (own, rate.trim().parse::<f64>()) {
        out::line(format_args!("subject=feel ratio={:.0} unit=times {what}", own / rate));
    }
}
