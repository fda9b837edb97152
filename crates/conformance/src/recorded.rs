//! The recorded results of conformance suites: written by `cargo xtask conformance --record`, committed, embedded.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// Folder of the recorded results below the workspace.
pub const FOLDER: &str = "crates/conformance/recorded";

/// Recorded runs of BPMN suites.
const BPMN: &[&str] = &[
    include_str!("../recorded/bpmn-execution.json"),
    include_str!("../recorded/bpmn-vendor.json"),
    include_str!("../recorded/bpmn-roundtrip.json"),
    include_str!("../recorded/bpmn-constraints.json"),
    include_str!("../recorded/bpmn-control.json"),
    include_str!("../recorded/bpmn-schema.json"),
];

/// Recorded runs of the DMN Technology Compatibility Kit.
const DMN: &[&str] = &[
    include_str!("../recorded/dmn-tck-level-2.json"),
    include_str!("../recorded/dmn-tck-level-3.json"),
    include_str!("../recorded/dmn-tck-non-compliant.json"),
];

/// Which elements of the standard the suites' models use.
const ELEMENTS: &str = include_str!("../recorded/elements.json");

/// Outcome of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CaseStatus {
    /// As the suite expects.
    Passed,
    /// Not as the suite expects, or its model is refused.
    Failed,
    /// The suite allows its model to be refused, and it was.
    Skipped,
}

impl CaseStatus {
    /// The literal of a recorded file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// A recorded run, as the file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Recorded {
    /// The suite's name, which is the file's too.
    pub suite: String,
    /// Subject of the suite, for people.
    pub about: String,
    /// SHA-256 over the suite's files, in hex.
    pub source_sha256: String,
    /// Commit of the code that was tried.
    pub commit: String,
    /// Day of the run, such as `2026-11-21`.
    pub recorded_on: String,
    /// The cases.
    pub cases: Vec<RecordedCase>,
}

/// A case of a recorded run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordedCase {
    /// Id within the suite: the model's path, and ` #` with the number of the case in it.
    pub id: String,
    /// Outcome of the case.
    pub status: CaseStatus,
    /// Reason why it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl RecordedCase {
    /// The model of the case.
    #[must_use]
    pub fn model(&self) -> &str {
        self.id.rsplit_once(" #").map_or(self.id.as_str(), |(model, _)| model)
    }
}

/// Numbers of cases by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Cases that ended as the suite expects.
    pub passed: u64,
    /// Cases that ended otherwise.
    pub failed: u64,
    /// Cases whose model the suite allows to be refused, and was.
    pub skipped: u64,
}

impl Counts {
    /// All of them.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.passed + self.failed + self.skipped
    }

    const fn add(&mut self, status: CaseStatus) {
        match status {
            CaseStatus::Passed => self.passed += 1,
            CaseStatus::Failed => self.failed += 1,
            CaseStatus::Skipped => self.skipped += 1,
        }
    }
}

impl Recorded {
    /// Numbers of the run's cases by outcome.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.cases.iter().for_each(|case| counts.add(case.status));
        counts
    }
}

type Read = Result<Vec<Recorded>, String>;

fn read(files: &[&str]) -> Read {
    let read = |file: &&str| serde_json::from_str(file).map_err(|error: serde_json::Error| error.to_string());
    files.iter().map(read).collect()
}

/// The recorded runs of BPMN suites.
///
/// # Errors
/// A fault of ours when an embedded file has not the recorded form; a test reads them all.
pub fn bpmn() -> Result<&'static [Recorded], &'static str> {
    static READ: OnceLock<Read> = OnceLock::new();
    READ.get_or_init(|| read(BPMN)).as_deref().map_err(String::as_str)
}

/// The recorded runs of the DMN Technology Compatibility Kit.
///
/// # Errors
/// As [`bpmn`].
pub fn dmn() -> Result<&'static [Recorded], &'static str> {
    static READ: OnceLock<Read> = OnceLock::new();
    READ.get_or_init(|| read(DMN)).as_deref().map_err(String::as_str)
}

/// Day of the latest of the runs.
#[must_use]
pub fn latest(runs: &[Recorded]) -> String {
    runs.iter().map(|run| &run.recorded_on).max().cloned().unwrap_or_default()
}

/// The index as the file has it: elements, and by suite and model the places of its elements in that list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    elements: Vec<String>,
    suites: BTreeMap<String, HashMap<String, Vec<usize>>>,
}

/// The cases of one suite whose models use an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// The suite.
    pub suite: String,
    /// Numbers of these cases by outcome.
    pub counts: Counts,
}

type ByElement = HashMap<String, Vec<Used>>;

/// Outcomes of the recorded cases whose models use an element of BPMN, by suite; empty where none does.
///
/// # Errors
/// As [`bpmn`].
pub fn using(element: &str) -> Result<&'static [Used], &'static str> {
    static JOINED: OnceLock<Result<ByElement, String>> = OnceLock::new();
    let runs = bpmn()?;
    let joined = JOINED.get_or_init(|| join(runs, ELEMENTS)).as_ref().map_err(String::as_str)?;
    Ok(joined.get(element).map(Vec::as_slice).unwrap_or_default())
}

fn join(runs: &[Recorded], index: &str) -> Result<ByElement, String> {
    let index: Index = serde_json::from_str(index).map_err(|error| error.to_string())?;
    let mut joined = ByElement::new();
    for run in runs {
        let Some(models) = index.suites.get(&run.suite) else { continue };
        for case in &run.cases {
            let used = models.get(case.model()).into_iter().flatten();
            for name in used.filter_map(|place| index.elements.get(*place)) {
                let list = joined.entry(name.clone()).or_default();
                if list.last().is_none_or(|last| last.suite != run.suite) {
                    list.push(Used { suite: run.suite.clone(), counts: Counts::default() });
                }
                if let Some(last) = list.last_mut() {
                    last.counts.add(case.status);
                }
            }
        }
    }
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_runs_are_read() {
        let (bpmn, dmn) = (bpmn().unwrap(), dmn().unwrap());
        assert_eq!((bpmn.len(), dmn.len()), (BPMN.len(), DMN.len()));
        for run in bpmn.iter().chain(dmn) {
            assert!(run.counts().passed > 0 && run.source_sha256.len() == 64, "{}", run.suite);
            assert_eq!(run.counts().total(), run.cases.len() as u64);
            let failed = run.cases.iter().filter(|case| case.status != CaseStatus::Passed);
            assert!(failed.clone().all(|case| case.reason.is_some()), "{}", run.suite);
        }
    }

    #[test]
    fn results_are_joined_with_the_elements_of_their_models() {
        let file = r#"{"suite": "s", "about": "a", "sourceSha256": "0", "commit": "c", "recordedOn": "2026-01-02",
            "cases": [{"id": "one #1", "status": "passed"}, {"id": "one #2", "status": "failed", "reason": "x"},
            {"id": "two #1", "status": "skipped", "reason": "x"}]}"#;
        let index = r#"{"elements": ["task", "userTask"], "suites": {"s": {"one": [1], "two": [0, 1]}}}"#;
        let joined = join(&read(&[file]).unwrap(), index).unwrap();
        let counts = |element: &str| {
            let counts = joined[element][0].counts;
            [counts.total(), counts.passed, counts.failed, counts.skipped]
        };
        assert_eq!((counts("userTask"), counts("task")), ([3, 1, 1, 1], [1, 0, 0, 1]));
        // Every recorded case of the indexed suites is of a model that the index knows.
        let index: Index = serde_json::from_str(ELEMENTS).unwrap();
        for run in bpmn().unwrap().iter().filter(|run| index.suites.contains_key(&run.suite)) {
            let models = &index.suites[&run.suite];
            for case in &run.cases {
                assert!(models.contains_key(case.model()), "{} {}", run.suite, case.id);
            }
        }
        let used = using("userTask").unwrap();
        assert_eq!(used.len(), 2);
        assert!(used.iter().all(|one| one.counts.passed > 0));
        assert!(using("choreographyTask").unwrap().iter().all(|one| one.suite == "bpmn-roundtrip"));
        assert_eq!(latest(bpmn().unwrap()).len(), "2026-01-02".len());
    }
}
