//! Benchmark of reading, writing, validating and compiling definitions on one core, beside bpmn-moddle.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{example, output};
use heddle_harness_kit::npm;
use heddle_harness_kit::{out, workspace};

const SCRIPT: &str = include_str!("moddle.mjs");
/// The least that a core is to do, by figure, for the reference model B.2.0 with its 99 shapes.
const BARS: [(&str, f64); 4] =
    [("read", 1_500.0), ("write", 3_000.0), ("validate", 2_000.0), ("compile", 5_000.0)];
const REFERENCE: &str = "B.2.0.bpmn";

/// Options of `bench bpmn`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// BPMN documents; the reference model B.2.0 of the suites when none is named.
    file: Vec<PathBuf>,
    /// Leaves bpmn-moddle out, which needs npm and node.
    #[arg(long)]
    alone: bool,
}

/// Measures; rates are documents per second of processor time.
pub(crate) fn run(options: Options) -> Result<bool> {
    let files = if options.file.is_empty() { vec![reference()?] } else { options.file };
    let peer = if options.alone { None } else { Some(npm::moddle()?) };
    for file in files {
        let file = file.canonicalize().with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own = rates(&own(&file)?)?;
        let peer = match &peer {
            Some(moddle) => rates(&output(moddle.node("bench.mjs", SCRIPT)?.arg(&file))?)?,
            None => BTreeMap::new(),
        };
        for (figure, rate) in &own {
            let bar = BARS.iter().find(|(bar, _)| bar == figure && name == REFERENCE);
            let bar = bar.map(|(_, bar)| format!(" bar={bar:.0}")).unwrap_or_default();
            out::line(format_args!("file={name} figure={figure} value={rate:.0} unit=documents/cpu-s{bar}"));
        }
        for (figure, rate) in &peer {
            out::line(format_args!(
                "file={name} figure={figure} peer=bpmn-moddle value={rate:.0} unit=documents/cpu-s"
            ));
            if let Some(own) = own.get(figure) {
                out::line(format_args!("file={name} figure={figure} ratio={:.1} unit=times", own / rate));
            }
        }
    }
    Ok(true)
}

fn reference() -> Result<PathBuf> {
    let file = workspace::suites().join("bpmn/miwg").join(REFERENCE);
    if !file.is_file() {
        bail!("{} is absent: name a file, or set HEDDLE_SUITES", file.display());
    }
    Ok(file)
}

/// The lines of the example, without the file's name.
fn own(file: &Path) -> Result<String> {
    let lines = example("heddle-bpmn", "bench-definitions", &[], &[file.as_os_str()])?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let rest = lines.lines().filter_map(|line| line.strip_prefix(&name)).map(str::trim_start);
    Ok(rest.collect::<Vec<_>>().join("\n"))
}

/// Lines of a figure and its rate.
fn rates(lines: &str) -> Result<BTreeMap<String, f64>> {
    let rate = |line: &str| -> Option<(String, f64)> {
        let mut words = line.split_ascii_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    lines.lines().map(|line| rate(line).with_context(|| format!("`{line}` is no figure"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_figure_and_its_rate() {
        let rates = rates("read 1500 documents/s\nwrite 2.5").unwrap();
        assert_eq!(rates, BTreeMap::from([("read".to_owned(), 1_500.0), ("write".to_owned(), 2.5)]));
        assert!(super::rates("nothing").is_err());
    }
}
