//! Rates of reading, writing, validating and compiling definitions on one core.
//!
//! `cargo run --release -p heddle-bpmn --example bench-definitions -- [--only FIGURE] FILE...` prints one figure per line, in
//! documents per second of processor time, so that a busy machine changes little.

use std::error::Error;
use std::hint::black_box;
use std::io::Write as _;
use std::path::PathBuf;

use heddle_bpmn::xml;
use heddle_bpmn_graph as graph;
use heddle_bpmn_layout as layout;
use heddle_bpmn_validate::{Profile, constraints, soundness, structure};
use rustix::time::{ClockId, clock_gettime};

/// Seconds of processor time for one round of a figure; the best of the rounds counts.
const SPAN: f64 = 0.5;
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let only = (arguments.first().is_some_and(|first| first == "--only") && arguments.len() > 1)
        .then(|| arguments.drain(..2).next_back().unwrap_or_default());
    for path in arguments.into_iter().map(PathBuf::from) {
        let bytes = std::fs::read(&path)?;
        let definition = xml::read(&bytes)?.definition;
        xml::write(&definition)?;
        let json = serde_json::to_vec(&definition)?;
        let mut runnable = definition.clone();
        for process in runnable.bpmn.iter_mut().flat_map(|bpmn| bpmn.processes.iter_mut().flatten()) {
            process.executable = Some(true);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut figure = |what: &str, call: &mut dyn FnMut() -> bool| -> std::io::Result<()> {
            if only.as_ref().is_some_and(|only| only != what) {
                return Ok(());
            }
            writeln!(out, "{name} {what} {:.0} documents/s", rate(call))
        };
        figure("read", &mut || black_box(xml::read(black_box(&bytes))).is_ok())?;
        figure("write", &mut || black_box(xml::write(black_box(&definition))).is_ok())?;
        figure("validate", &mut || {
            let definition = black_box(&definition);
            black_box((structure(definition), constraints(definition, Profile::Publication)));
            true
        })?;
        figure("soundness", &mut || {
            black_box(soundness(black_box(&definition)));
            true
        })?;
        figure("compile", &mut || {
            black_box(graph::compile(black_box(&runnable)));
            true
        })?;
        figure("json", &mut || {
            serde_json::from_slice::<heddle_bpmn::model::WorkflowDefinition>(black_box(&json)).is_ok()
        })?;
        figure("layout", &mut || !layout::lay_out(black_box(&definition)).is_empty())?;
    }
    Ok(())
}

/// Calls per second of this thread's processor time.
fn rate(call: &mut dyn FnMut() -> bool) -> f64 {
    let seconds = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let round = |call: &mut dyn FnMut() -> bool| {
        let start = seconds();
        let mut count = 0_u32;
        while seconds() - start < SPAN && call() {
            count += 1;
        }
        f64::from(count) / (seconds() - start)
    };
    (0..ROUNDS).map(|_| round(call)).fold(0.0, f64::max)
}
