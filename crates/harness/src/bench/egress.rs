//! Benchmark of the guarded way out beside a bare client, and of sealing secrets and opening them.

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::example;
use heddle_harness_kit::out;

/// Most CPU microseconds that a guarded request may cost beyond a bare one.
const ADDED: f64 = 50.0;
/// Most CPU microseconds of opening a sealed secret.
const UNSEAL: f64 = 10.0;
/// Most CPU microseconds of sealing a secret, or of wrapping its key anew: the system is asked for randomness.
const SEAL: f64 = 20.0;

#[derive(Deserialize)]
struct Figures {
    open: Pair,
    fresh: Pair,
    seal_us: f64,
    unseal_us: f64,
    rewrap_us: f64,
}

#[derive(Deserialize)]
struct Pair {
    bare_us: f64,
    guarded_us: f64,
}

/// Measures; whether the bars hold.
pub(crate) fn run() -> Result<bool> {
    let line = example("heddle-egress", "bench-egress", &[], &[])?;
    let Figures { open, fresh, seal_us, unseal_us, rewrap_us } =
        serde_json::from_str(&line).context("the benchmark printed no figures")?;
    let mut holds = true;
    for (name, pair) in [("open-connection", open), ("new-connection", fresh)] {
        let Pair { bare_us, guarded_us } = pair;
        let added = guarded_us - bare_us;
        holds &= added <= ADDED;
        out::line(format_args!(
            "subject=egress case={name} bare={bare_us:.1} guarded={guarded_us:.1} added={added:.1} bar={ADDED} \
             unit=cpu-us/request"
        ));
    }
    for (name, value, bar) in
        [("seal", seal_us, SEAL), ("unseal", unseal_us, UNSEAL), ("rewrap", rewrap_us, SEAL)]
    {
        holds &= value <= bar;
        out::line(format_args!("subject=seal case={name} value={value:.2} bar={bar} unit=cpu-us"));
    }
    Ok(holds)
}
