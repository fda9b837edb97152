//! Read, write and read again: nothing of a CMMN document may be lost.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use heddle_cmmn::xml;

use super::canonical::CASE_MODELS;
use super::report::Report;
use super::roundtrip::{self, Format, Source};
use heddle_harness_kit::out;

const CMMN: Format = Format { name: "CMMN", ending: "cmmn", xml_ending: ".cmmn.xml", models: &CASE_MODELS };

/// Options of `conformance cmmn-roundtrip`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folders with .cmmn, .cmmn.xml and .xml files, searched recursively.
    #[arg(long, required = true)]
    dir: Vec<PathBuf>,
    /// Writes what was written into this folder, for a look.
    #[arg(long)]
    keep: Option<PathBuf>,
}

/// Runs the suite; `false` when a file lost something.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let (report, others) = judged(&options.dir, options.keep.as_ref())?;
    if others > 0 {
        out::line(format_args!("{others} XML files are not CMMN"));
    }
    report.print(false)?;
    Ok(report.clean())
}

/// The whole suite of some folders.
pub(crate) fn judge_all(folders: &[PathBuf]) -> Result<Report> {
    Ok(judged(folders, None)?.0)
}

fn judged(folders: &[PathBuf], keep: Option<&PathBuf>) -> Result<(Report, usize)> {
    let (sources, others) = roundtrip::sources_of(&CMMN, folders)?;
    let mut report = Report { suite: "cmmn-roundtrip", backend: None, cases: Vec::new() };
    for source in &sources {
        let began = Instant::now();
        let outcome = written(source).and_then(|written| {
            if let Some(folder) = keep {
                roundtrip::keep(folder, &source.relative, written.as_bytes())
                    .map_err(|error| format!("{error:#}"))?;
            }
            roundtrip::judge(&source.bytes, written.as_bytes())
        });
        report.cases.push(roundtrip::result(source, outcome, began));
    }
    Ok((report, others))
}

/// The document that a source becomes; both readings must agree.
fn written(source: &Source) -> Result<String, String> {
    let first = xml::read(&source.bytes).map_err(|error| format!("it is not read: {error}"))?;
    let written = xml::write(&first.definition).map_err(|error| format!("it is not written: {error}"))?;
    let again = xml::read(written.xml.as_bytes())
        .map_err(|error| format!("what was written is not read: {error}"))?;
    if again.definition != first.definition {
        return Err("the definition read again is another".to_owned());
    }
    Ok(written.xml)
}
