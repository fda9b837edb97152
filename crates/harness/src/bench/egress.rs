//! Benchmark of the guarded way out beside a bare client, and of opening a sealed secret.

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::example;
use heddle_harness::out;

/// Most CPU microseconds that a guarded request may cost beyond a bare one.
const ADDED: f64 = 50.0;
/// Most CPU microseconds of opening a sealed secret.
const UNSEAL: f64 = 10.0;

#[derive(Deserialize)]
struct Figures {
    open: Pair,
    fresh: Pair,
    unseal_us: f64,
}

#[derive(Deserialize)]
struct Pair {
    bare_us: f64,
    guarded_us: f64,
}

/// Measures; whether the bars hold.
pub(crate) fn run() -> Result<bool> {
    let line = example("heddle-egress", "bench-egress", &[], &[])?;
    let Figures { open, fresh, unseal_us } =
        serde_json::from_str(&line).context("the benchmark printed no figures")?;
    let mut holds = unseal_us <= UNSEAL;
    for (name, pair) in [("open-connection", open), ("new-connection", fresh)] {
        let Pair { bare_us, guarded_us } = pair;
        let added = guarded_us - bare_us;
        holds &= added <= ADDED;
        out::line(format_args!(
            "subject=egress case={name} bare={bare_us:.1} guarded={guarded_us:.1} added={added:.1} bar={ADDED} \
             unit=cpu-us/request"
        ));
    }
    out::line(format_args!("subject=seal case=unseal value={unseal_us:.2} bar={UNSEAL} unit=cpu-us"));
    Ok(holds)
}
