//! How fast documents are read and written on one core.
//!
//! `cargo run --release -p heddle-bpmn --example bench -- FILE...` prints one figure per line.

use std::error::Error;
use std::hint::black_box;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Time for one figure.
const SPAN: Duration = Duration::from_secs(2);

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    for path in std::env::args_os().skip(1).map(PathBuf::from) {
        let bytes = std::fs::read(&path)?;
        let definition = heddle_bpmn::xml::read(&bytes)?.definition;
        heddle_bpmn::xml::write(&definition)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let read = rate(|| black_box(heddle_bpmn::xml::read(black_box(&bytes))).is_ok());
        writeln!(out, "{name} read {read:.0} documents/s")?;
        let write = rate(|| black_box(heddle_bpmn::xml::write(black_box(&definition))).is_ok());
        writeln!(out, "{name} write {write:.0} documents/s")?;
    }
    Ok(())
}

/// Calls in a second.
fn rate(mut call: impl FnMut() -> bool) -> f64 {
    let start = Instant::now();
    let mut count = 0_u32;
    while start.elapsed() < SPAN && call() {
        count += 1;
    }
    f64::from(count) / start.elapsed().as_secs_f64()
}
