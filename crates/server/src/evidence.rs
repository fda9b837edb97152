//! The recorded results of conformance suites: written by `cargo xtask conformance --record`, committed, embedded.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::OnceLock;

use heddle_api::wire::conformance::{
    CaseCounts, CaseResult, CaseStatus, ConformanceReport, ElementTests, SuiteResult,
};
use serde::Deserialize;

/// Recorded runs of BPMN suites.
const BPMN: &[&str] = &[
    include_str!("../conformance/bpmn-execution.json"),
    include_str!("../conformance/bpmn-roundtrip.json"),
    include_str!("../conformance/bpmn-constraints.json"),
    include_str!("../conformance/bpmn-control.json"),
    include_str!("../conformance/bpmn-schema.json"),
];

/// Recorded runs of the DMN Technology Compatibility Kit.
const DMN: &[&str] = &[
    include_str!("../conformance/dmn-tck-level-2.json"),
    include_str!("../conformance/dmn-tck-level-3.json"),
    include_str!("../conformance/dmn-tck-non-compliant.json"),
];

/// A recorded run, as the file has it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Recorded {
    suite: String,
    about: String,
    source_sha256: String,
    commit: String,
    recorded_on: String,
    cases: Vec<RecordedCase>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RecordedCase {
    id: String,
    status: CaseStatus,
    #[serde(default)]
    reason: Option<String>,
}

/// The evidence for BPMN.
///
/// # Errors
/// A fault of ours when an embedded file has not the recorded form; a test reads them all.
pub fn bpmn() -> Result<&'static ConformanceReport, &'static str> {
    static READ: OnceLock<Result<ConformanceReport, String>> = OnceLock::new();
    let read = READ.get_or_init(|| read(heddle_bpmn::conformance::SPECIFICATION, BPMN));
    read.as_ref().map_err(String::as_str)
}

/// The evidence for DMN.
///
/// # Errors
/// As [`bpmn`].
pub fn dmn() -> Result<&'static ConformanceReport, &'static str> {
    static READ: OnceLock<Result<ConformanceReport, String>> = OnceLock::new();
    let read = READ.get_or_init(|| read(heddle_dmn::conformance::SPECIFICATION, DMN));
    read.as_ref().map_err(String::as_str)
}

fn read(specification: &str, files: &[&str]) -> Result<ConformanceReport, String> {
    let suites: Result<Vec<SuiteResult>, String> = files.iter().map(|file| suite(file)).collect();
    let suites = suites?;
    let sum = |of: fn(&CaseCounts) -> u64| suites.iter().map(|suite| of(&suite.counts)).sum();
    Ok(ConformanceReport {
        specification: specification.to_owned(),
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
        summary: CaseCounts {
            total: sum(|counts| counts.total),
            passed: sum(|counts| counts.passed),
            failed: sum(|counts| counts.failed),
            skipped: sum(|counts| counts.skipped),
        },
        suites,
    })
}

fn suite(file: &str) -> Result<SuiteResult, String> {
    let recorded: Recorded = serde_json::from_str(file).map_err(|error| error.to_string())?;
    let count =
        |status: CaseStatus| recorded.cases.iter().filter(|case| case.status == status).count() as u64;
    let counts = CaseCounts {
        total: recorded.cases.len() as u64,
        passed: count(CaseStatus::Passed),
        failed: count(CaseStatus::Failed),
        skipped: count(CaseStatus::Skipped),
    };
    let case = |case: RecordedCase| CaseResult { id: case.id, status: case.status, reason: case.reason };
    Ok(SuiteResult {
        name: recorded.suite,
        about: recorded.about,
        source_sha256: recorded.source_sha256,
        commit: recorded.commit,
        recorded_on: recorded.recorded_on,
        counts,
        cases: recorded.cases.into_iter().map(case).collect(),
    })
}

/// Which elements of the standard the suites' models use.
const ELEMENTS: &str = include_str!("../conformance/elements.json");

/// The index as the file has it: elements, and by suite and model the places of its elements in that list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    elements: Vec<String>,
    suites: BTreeMap<String, HashMap<String, Vec<usize>>>,
}

/// The recorded results by element.
type Tests = HashMap<String, Vec<ElementTests>>;

/// How the recorded cases ended whose models use an element; empty where none does.
///
/// # Errors
/// As [`bpmn`].
pub fn tests(element: &str) -> Result<Vec<ElementTests>, &'static str> {
    static JOINED: OnceLock<Result<Tests, String>> = OnceLock::new();
    let report = bpmn()?;
    let joined = JOINED.get_or_init(|| join(report, ELEMENTS));
    let joined = joined.as_ref().map_err(String::as_str)?;
    Ok(joined.get(element).cloned().unwrap_or_default())
}

/// The day of the latest recorded run of a report.
#[must_use]
pub fn recorded_on(report: &ConformanceReport) -> String {
    report.suites.iter().map(|suite| &suite.recorded_on).max().cloned().unwrap_or_default()
}

fn join(report: &ConformanceReport, index: &str) -> Result<Tests, String> {
    let index: Index = serde_json::from_str(index).map_err(|error| error.to_string())?;
    let mut joined = Tests::new();
    for suite in &report.suites {
        let Some(models) = index.suites.get(&suite.name) else { continue };
        for case in &suite.cases {
            let model = case.id.rsplit_once(" #").map_or(case.id.as_str(), |(model, _)| model);
            let used = models.get(model).into_iter().flatten();
            for name in used.filter_map(|place| index.elements.get(*place)) {
                let tests = joined.entry(name.clone()).or_default();
                if tests.last().is_none_or(|last| last.suite != suite.name) {
                    let counts = CaseCounts { total: 0, passed: 0, failed: 0, skipped: 0 };
                    tests.push(ElementTests { suite: suite.name.clone(), counts });
                }
                if let Some(last) = tests.last_mut() {
                    count(&mut last.counts, case.status);
                }
            }
        }
    }
    Ok(joined)
}

fn count(counts: &mut CaseCounts, status: CaseStatus) {
    counts.total += 1;
    match status {
        CaseStatus::Passed => counts.passed += 1,
        CaseStatus::Failed => counts.failed += 1,
        CaseStatus::Skipped => counts.skipped += 1,
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
    fn the_embedded_runs_are_read() {
        let (bpmn, dmn) = (bpmn().unwrap(), dmn().unwrap());
        assert_eq!((bpmn.suites.len(), dmn.suites.len()), (BPMN.len(), DMN.len()));
        for suite in bpmn.suites.iter().chain(&dmn.suites) {
            assert!(suite.counts.passed > 0 && suite.source_sha256.len() == 64, "{}", suite.name);
            let failed = suite.cases.iter().filter(|case| case.status != CaseStatus::Passed);
            assert!(failed.clone().all(|case| case.reason.is_some()), "{}", suite.name);
        }
    }

    #[test]
    fn results_are_joined_with_the_elements_of_their_models() {
        let file = r#"{"suite": "s", "about": "a", "sourceSha256": "0", "commit": "c", "recordedOn": "2026-01-02",
            "cases": [{"id": "one #1", "status": "passed"}, {"id": "one #2", "status": "failed", "reason": "x"},
            {"id": "two #1", "status": "skipped", "reason": "x"}]}"#;
        let index = r#"{"elements": ["task", "userTask"], "suites": {"s": {"one": [1], "two": [0, 1]}}}"#;
        let joined = join(&read("BPMN", &[file]).unwrap(), index).unwrap();
        let counts = |element: &str| {
            let counts = &joined[element][0].counts;
            [counts.total, counts.passed, counts.failed, counts.skipped]
        };
        assert_eq!((counts("userTask"), counts("task")), ([3, 1, 1, 1], [1, 0, 0, 1]));
        // Every recorded case of the indexed suites is of a model that the index knows.
        let index: Index = serde_json::from_str(ELEMENTS).unwrap();
        for suite in bpmn().unwrap().suites.iter().filter(|suite| index.suites.contains_key(&suite.name)) {
            let models = &index.suites[&suite.name];
            for case in &suite.cases {
                let model = case.id.rsplit_once(" #").unwrap().0;
                assert!(models.contains_key(model), "{} {}", suite.name, case.id);
            }
        }
        let used = tests("userTask").unwrap();
        assert_eq!(used.len(), 2);
        assert!(used.iter().all(|one| one.counts.passed > 0));
        assert!(tests("choreographyTask").unwrap().iter().all(|one| one.suite == "bpmn-roundtrip"));
        assert_eq!(recorded_on(bpmn().unwrap()).len(), "2026-01-02".len());
    }

    #[test]
    fn a_page_escapes_what_cases_are_called() {
        let file = r#"{"suite": "s<b>", "about": "a", "sourceSha256": "0", "commit": "c", "recordedOn": "d",
            "cases": [{"id": "one", "status": "passed"}, {"id": "t&o", "status": "failed", "reason": "\"<x>\""}]}"#;
        let page = page(&read("BPMN", &[file]).unwrap());
        assert!(
            page.contains("s&lt;b&gt;") && page.contains("t&amp;o") && page.contains("&quot;&lt;x&gt;&quot;")
        );
        assert!(page.find("t&amp;o").unwrap() < page.find("<td>one</td>").unwrap(), "failures come first");
        assert!(page.contains("1 of 2 cases passed, 1 failed, 0 skipped."));
    }
}
