//! How fast expressions are read and evaluated by one thread, per second of its CPU time.
//!
//! `cargo run --release -p heddle-feel --example bench-feel [-- PART]` prints one figure per line: the rate, the bar
//! when there is one, and what was done. `PART` restricts to figures whose text contains it. Each figure is the best
//! of several runs, since other work on the machine takes caches and clock away.

use std::error::Error;
use std::io::Write as _;

use heddle_feel::{Dialect, EvalContext, Expression};
use heddle_kernel::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

/// CPU seconds of one run, and how many runs.
const SPAN: f64 = 0.15;
const RUNS: u32 = 7;

/// 2024-03-15T10:30:00Z
const NOW: EvalContext = EvalContext { now: Timestamp::from_micros(1_710_498_600_000_000) };

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let data = json!({"a": 3, "b": 2.5, "s": "x".repeat(1000)});

    let mut texts: Vec<String> = Vec::new();
    for arg in std::env::args().skip(1) {
        texts.extend(std::fs::read_to_string(arg)?.lines().map(str::to_owned));
    }
    for text in texts {
        let start = cpu_seconds();
        let compiled = Expression::compile(&text, Dialect::Heddle);
        let took0 = cpu_seconds() - start;
        let expression = match compiled {
            Ok(e) => e,
            Err(e) => {
                writeln!(
                    out,
                    "{:8.1} ms compile: {}: {e}",
                    took0 * 1e3,
                    text.chars().take(60).collect::<String>()
                )?;
                continue;
            }
        };
        if took0 > 0.005 {
            writeln!(out, "{:8.1} ms compile", took0 * 1e3)?;
        }
        let scope = data.as_object().unwrap();
        let start = cpu_seconds();
        let default = expression
            .evaluate(scope, &NOW)
            .map(|v| v.value.to_string().chars().take(60).collect::<String>());
        let took2 = cpu_seconds() - start;
        writeln!(out, "{:8.1} ms: {} {default:?}", took2 * 1e3, text.chars().take(120).collect::<String>())?;
    }
    Ok(())
}
