//! The recorded results of conformance suites as a report for programs and for people.

use std::fmt::Write as _;
use std::sync::OnceLock;

use heddle_api::wire::conformance::{
    CaseCounts, CaseResult, CaseStatus, ConformanceReport, ElementTests, SuiteResult,
};
use heddle_conformance::recorded::{self, Counts, Recorded, RecordedCase};

/// The evidence for BPMN.
///
/// # Errors
/// A fault of ours when an embedded file has not the recorded form; a test reads them all.
pub fn bpmn() -> Result<&'static ConformanceReport, &'static str> {
    static MADE: OnceLock<ConformanceReport> = OnceLock::new();
    let runs = recorded::bpmn()?;
    Ok(MADE.get_or_init(|| report(heddle_conformance::bpmn::SPECIFICATION, runs)))
}

/// The evidence for DMN.
///
/// # Errors
/// As [`bpmn`].
pub fn dmn() -> Result<&'static ConformanceReport, &'static str> {
    static MADE: OnceLock<ConformanceReport> = OnceLock::new();
    let runs = recorded::dmn()?;
    Ok(MADE.get_or_init(|| report(heddle_conformance::dmn::SPECIFICATION, runs)))
}

/// Recorded results, by suite, of the cases whose models use an element; empty where none does.
///
/// # Errors
/// As [`bpmn`].
pub fn tests(element: &str) -> Result<Vec<ElementTests>, &'static str> {
    let used = recorded::using(element)?.iter();
    Ok(used.map(|one| ElementTests { suite: one.suite.clone(), counts: counted(one.counts) }).collect())
}

fn report(specification: &str, runs: &[Recorded]) -> ConformanceReport {
    let suites: Vec<SuiteResult> = runs.iter().map(suite).collect();
    let sum = |of: fn(&CaseCounts) -> u64| suites.iter().map(|suite| of(&suite.counts)).sum();
    ConformanceReport {
        specification: specification.to_owned(),
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
        summary: CaseCounts {
            total: sum(|counts| counts.total),
            passed: sum(|counts| counts.passed),
            failed: sum(|counts| counts.failed),
            skipped: sum(|counts| counts.skipped),
        },
        suites,
    }
}

fn suite(run: &Recorded) -> SuiteResult {
    SuiteResult {
        name: run.suite.clone(),
        about: run.about.clone(),
        source_sha256: run.source_sha256.clone(),
        commit: run.commit.clone(),
        recorded_on: run.recorded_on.clone(),
        counts: counted(run.counts()),
        cases: run.cases.iter().map(case).collect(),
    }
}

fn case(case: &RecordedCase) -> CaseResult {
    CaseResult { id: case.id.clone(), status: status(case.status), reason: case.reason.clone() }
}

const fn status(status: recorded::CaseStatus) -> CaseStatus {
    match status {
        recorded::CaseStatus::Passed => CaseStatus::Passed,
        recorded::CaseStatus::Failed => CaseStatus::Failed,
        recorded::CaseStatus::Skipped => CaseStatus::Skipped,
    }
}

const fn counted(counts: Counts) -> CaseCounts {
    CaseCounts {
        total: counts.total(),
        passed: counts.passed,
        failed: counts.failed,
        skipped: counts.skipped,
    }
}

/// The report as a page for people: counts first, then each case that did not pass with its reason, then the others.
#[must_use]
pub fn page(report: &ConformanceReport) -> String {
    let mut html = String::from(HEAD);
    let title = format!("{}, Heddle {}", report.specification, report.engine_version);
    // Writing to a String can't fail.
    let _ = write!(html, "<title>{0}</title></head><body><h1>{0}</h1>", escaped(&title));
    let _ = write!(html, "<p>{}</p>", counts(&report.summary));
    for suite in &report.suites {
        let _ = write!(
            html,
            "<h2>{}</h2><p>{}</p><p>{}</p><p class=\"small\">Code {}, {}, files {}</p><table><tr><th>Case</th>\
             <th>Result</th><th>Reason</th></tr>",
            escaped(&suite.name),
            escaped(&suite.about),
            counts(&suite.counts),
            escaped(&suite.commit),
            escaped(&suite.recorded_on),
            escaped(&suite.source_sha256)
        );
        let (passed, others): (Vec<_>, Vec<_>) =
            suite.cases.iter().partition(|case| case.status == CaseStatus::Passed);
        for case in others.into_iter().chain(passed) {
            let word = case.status.as_str();
            let _ = write!(
                html,
                "<tr class=\"{word}\"><td>{}</td><td>{word}</td><td>{}</td></tr>",
                escaped(&case.id),
                escaped(case.reason.as_deref().unwrap_or_default())
            );
        }
        html.push_str("</table>");
    }
    html.push_str("</body></html>\n");
    html
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><style>body{font:15px/1.5 \
                    sans-serif;margin:2em auto;max-width:70em;padding:0 1em}table{border-collapse:collapse;width:100%}\
                    th,td{border-bottom:1px solid #ddd;padding:.25em .5em;text-align:left;vertical-align:top}\
                    .failed td:nth-child(2){color:#a00}.passed td:nth-child(2){color:#060}.small{color:#666;\
                    font-size:12px;word-break:break-all}</style>";

fn counts(counts: &CaseCounts) -> String {
    format!(
        "{} of {} cases passed, {} failed, {} skipped.",
        counts.passed, counts.total, counts.failed, counts.skipped
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_escapes_what_cases_are_called() {
        let run = serde_json::from_str(
            r#"{"suite": "s<b>", "about": "a", "sourceSha256": "0", "commit": "c", "recordedOn": "d",
            "cases": [{"id": "one", "status": "passed"}, {"id": "t&o", "status": "failed", "reason": "\"<x>\""}]}"#,
        );
        let page = page(&report("BPMN", &[run.unwrap()]));
        assert!(
            page.contains("s&lt;b&gt;") && page.contains("t&amp;o") && page.contains("&quot;&lt;x&gt;&quot;")
        );
        assert!(page.find("t&amp;o").unwrap() < page.find("<td>one</td>").unwrap(), "failures come first");
        assert!(page.contains("1 of 2 cases passed, 1 failed, 0 skipped."));
    }
}
