//! Precision and recall of the checks of protection on a labelled set: valid numbers and keys, and others that differ in a
//! digit.

use heddle_guardrails::labelled::{KINDS, samples, score, table};
use heddle_harness_kit::out;

/// Least precision and recall of each kind.
const LEAST: f64 = 0.99;

/// Options of the measurement.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Samples of each kind, half of them valid.
    #[arg(long, default_value_t = 20_000)]
    samples: u32,
    /// Seed of the set: the same seed gives the same set.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Prints precision and recall; false when one is too low.
pub(crate) fn run(options: &Options) -> anyhow::Result<bool> {
    let set = samples(options.seed, options.samples);
    out::line(table(&set));
    let holds = |kind: &str| {
        let score = score(&set, kind);
        score.precision() >= LEAST && score.recall() >= LEAST
    };
    Ok(KINDS.into_iter().all(holds))
}
