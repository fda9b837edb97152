//! Results of a suite, as lines and as JSON.

use serde::Serialize;

use heddle_harness_kit::out;

/// Outcome of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub(crate) enum Outcome {
    /// As expected.
    Passed,
    /// Not as expected.
    Failed { reason: String },
    /// The model may be refused, and was.
    Skipped { reason: String },
}

/// One judged case.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Result {
    /// The model.
    pub model: String,
    /// The case, counted from 1 within its model.
    pub case: usize,
    /// Outcome of the case.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Duration of the case, in milliseconds.
    pub milliseconds: u128,
}

/// All cases of a suite.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// The suite.
    pub suite: &'static str,
    /// The database under the server; none when the server was given.
    pub backend: Option<&'static str>,
    /// Cases in the order they ran.
    pub cases: Vec<Result>,
}

impl Report {
    /// Cases as expected.
    pub(crate) fn passed(&self) -> usize {
        self.cases.iter().filter(|case| case.outcome == Outcome::Passed).count()
    }

    /// Cases not as expected.
    pub(crate) fn failed(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed { .. })).count()
    }

    /// Whether there were cases and none failed.
    pub(crate) fn clean(&self) -> bool {
        !self.cases.is_empty() && self.failed() == 0
    }

    /// The line that ends the report.
    pub(crate) fn summary(&self) -> String {
        format!(
            "suite={} total={} passed={} failed={}",
            self.suite,
            self.cases.len(),
            self.passed(),
            self.failed()
        )
    }

    /// Writes the report; the summary is the last line either way.
    pub(crate) fn print(&self, json: bool) -> anyhow::Result<()> {
        if json {
            out::line(serde_json::to_string_pretty(self)?);
        } else {
            for case in &self.cases {
                match &case.outcome {
                    Outcome::Passed => {}
                    Outcome::Failed { reason } => {
                        out::line(format_args!("FAILED {} #{}: {reason}", case.model, case.case))
                    }
                    Outcome::Skipped { reason } => {
                        out::line(format_args!("skipped {} #{}: {reason}", case.model, case.case))
                    }
                }
            }
        }
        out::line(self.summary());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_outcomes() {
        let case = |outcome: Outcome| Result { model: "m".to_owned(), case: 1, outcome, milliseconds: 1 };
        let report = Report {
            suite: "bpmn-execution",
            backend: Some("sqlite"),
            cases: vec![
                case(Outcome::Passed),
                case(Outcome::Failed { reason: "no".to_owned() }),
                case(Outcome::Skipped { reason: "may be refused".to_owned() }),
            ],
        };
        assert_eq!(report.summary(), "suite=bpmn-execution total=3 passed=1 failed=1");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["cases"][1]["outcome"], "failed");
        assert_eq!(json["cases"][1]["reason"], "no");
    }
}
