//! The step language of `expectations.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::case_language::CaseStep;

/// One deployment with the cases that run on it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Model {
    /// Name of the model in reports.
    pub id: String,
    /// Files of one deployment, relative to the folder of `expectations.json`.
    pub files: Vec<String>,
    /// Files of decisions, each put into the draft of the model whose file is its key.
    #[serde(default)]
    pub decisions: BTreeMap<String, String>,
    /// Whether `isExecutable` is set before the import, where no process of a file has it.
    #[serde(default)]
    pub set_executable: bool,
    /// Note of the suite; one with "count as skipped" lets the model be refused.
    #[serde(default)]
    pub note: Option<String>,
    /// Cases that run on the deployment.
    pub cases: Vec<Case>,
}

/// One start with what happens next.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Case {
    /// Start of the run; none when nothing is started, but a timer does it.
    #[serde(default)]
    pub start: Option<Start>,
    /// The start must be refused.
    #[serde(default)]
    pub expect_start_error: Option<Value>,
    /// Steps after the start, in order.
    #[serde(default)]
    pub steps: Vec<Value>,
    /// Expectation that is judged at the end.
    #[serde(default)]
    pub expect: Option<Expect>,
}

/// Start of an instance, by process, by case or by message.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
pub(crate) struct Start {
    /// Id of the process to start.
    #[serde(default)]
    pub process: Option<String>,
    /// Id of the case to start.
    #[serde(default)]
    pub case: Option<String>,
    /// Name of the message that starts it.
    #[serde(default)]
    pub message: Option<String>,
    /// Values of case file items that are there before the first plan item.
    #[serde(default)]
    pub file: Map<String, Value>,
    /// Input, or the message's payload.
    #[serde(default)]
    pub variables: Map<String, Value>,
}

/// State expected of the runs at the end of a case.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Expect {
    /// `completed`, `active`, `error` or `not-active`.
    pub state: String,
    /// Completed activity instances per name.
    #[serde(default)]
    pub completed_by_name: Option<BTreeMap<String, u64>>,
    /// Variables that the first run ends with, among others.
    #[serde(default)]
    pub output: Map<String, Value>,
    /// Nodes that completed in the first run, in the order in which they did; others may stand between them.
    #[serde(default)]
    pub history: Vec<String>,
}

/// End that a worker gives to a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JobEnd {
    /// Completion.
    Completed,
    /// Failure with this message.
    Failed(String),
    /// BPMN error of this code.
    Error(String),
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// The multiset of active user tasks.
    Tasks(Vec<String>),
    /// Assigns one instance of a task to the caller, who is then its candidate.
    Claim(String),
    /// Completes one instance of a task.
    Complete(String, Map<String, Value>),
    /// Completes all open instances of a task.
    CompleteAll(String),
    /// Completes each of them as it comes up.
    CompleteAnyOrder(Vec<String>),
    /// Correlates a message with this case.
    Message { name: String, element: Option<String>, refused: bool, payload: Map<String, Value> },
    /// A worker takes one job of the type and ends it.
    Job { job_type: String, end: JobEnd, variables: Map<String, Value> },
    /// Broadcasts a signal.
    Signal(String, Map<String, Value>),
    /// Continues a receive task without its message.
    Trigger(String),
    /// Starts another instance.
    Start(Start),
    /// Moves the clock by an ISO 8601 duration.
    Advance(String),
    /// `completed` or `active`.
    State(String),
    /// Instances ever started, per process id.
    Instances(BTreeMap<String, u64>),
    /// A word that is about a case.
    Case(CaseStep),
}

/// Way in which a step about a case is taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Manner {
    /// Refusal that is demanded of it.
    pub refused: bool,
    /// Case role of whoever acts.
    pub role: Option<String>,
}

impl Manner {
    /// Reads the modifiers of a step.
    pub(crate) fn read(step: &Value) -> Self {
        Self {
            refused: step.get("expect_error").is_some_and(|value| value != &Value::Bool(false)),
            role: step.get("as").and_then(Value::as_str).map(str::to_owned),
        }
    }
}

impl Step {
    /// Reads one step; an unknown word is an error, so that nothing is passed over.
    pub(crate) fn read(value: &Value) -> Result<Self> {
        let step = value.as_object().context("a step is an object")?;
        const MODIFIERS: [&str; 7] = ["element", "expect_error", "variables", "note", "fail", "error", "as"];
        let mut words = step.keys().filter(|key| !MODIFIERS.contains(&key.as_str()));
        let (Some(word), None) = (words.next(), words.next()) else { bail!("a step has one word: {value}") };
        let argument = &step[word];
        let variables = step.get("variables").and_then(Value::as_object).cloned().unwrap_or_default();
        let read = match word.as_str() {
            "tasks" => Self::Tasks(list(argument)?),
            "claim" => Self::Claim(text(argument)?),
            "complete" => Self::Complete(text(argument)?, variables),
            "complete_all" => Self::CompleteAll(text(argument)?),
            "complete_any_order" => Self::CompleteAnyOrder(list(argument)?),
            "message" => Self::Message {
                name: text(argument)?,
                element: step.get("element").map(text).transpose()?,
                refused: Manner::read(value).refused,
                payload: variables,
            },
            "job" => {
                let end = match (step.get("fail"), step.get("error")) {
                    (None, None) => JobEnd::Completed,
                    (Some(message), None) => JobEnd::Failed(text(message)?),
                    (None, Some(code)) => JobEnd::Error(text(code)?),
                    (Some(_), Some(_)) => bail!("a job ends in one way: {value}"),
                };
                Self::Job { job_type: text(argument)?, end, variables }
            }
            "signal" => Self::Signal(text(argument)?, variables),
            "trigger" => Self::Trigger(text(argument)?),
            "start" => Self::Start(serde_json::from_value(argument.clone())?),
            "advance" => Self::Advance(text(argument)?),
            "state" => Self::State(text(argument)?),
            "instances" => Self::Instances(serde_json::from_value(argument.clone())?),
            other => match CaseStep::read(other, argument)? {
                Some(step) => Self::Case(step),
                None => bail!("unknown step `{other}`"),
            },
        };
        Ok(read)
    }
}

/// A text.
pub(super) fn text(value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("not a text: {value}"))
}

/// A list of texts.
pub(super) fn list(value: &Value) -> Result<Vec<String>> {
    value.as_array().with_context(|| format!("not a list: {value}"))?.iter().map(text).collect()
}

/// The models of every `expectations.json` below a folder, with the folder each stands in.
pub(crate) fn read_suite(folder: &Path) -> Result<Vec<(PathBuf, Model)>> {
    if !folder.is_dir() {
        bail!("there is no folder {}", folder.display());
    }
    let mut found = Vec::new();
    for path in heddle_harness_kit::workspace::files(folder)? {
        if path.file_name().is_some_and(|name| name == "expectations.json") {
            let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let models: Vec<Model> = serde_json::from_slice(&text)
                .with_context(|| format!("{} is not as agreed", path.display()))?;
            let home = path.parent().unwrap_or(folder).to_path_buf();
            found.extend(models.into_iter().map(|model| (home.clone(), model)));
        }
    }
    if found.is_empty() {
        bail!("no expectations.json below {}", folder.display());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_word_of_the_language_is_read() {
        let none = Map::new;
        for (value, expected) in [
            (json!({"tasks": ["a", "a"]}), Step::Tasks(vec!["a".into(), "a".into()])),
            (json!({"claim": "a"}), Step::Claim("a".into())),
            (json!({"complete": "a"}), Step::Complete("a".into(), none())),
            (json!({"complete_all": "a"}), Step::CompleteAll("a".into())),
            (json!({"complete_any_order": ["a"]}), Step::CompleteAnyOrder(vec!["a".into()])),
            (
                json!({"message": "m", "element": "e", "expect_error": true}),
                Step::Message { name: "m".into(), element: Some("e".into()), refused: true, payload: none() },
            ),
            (json!({"signal": "s"}), Step::Signal("s".into(), none())),
            (
                json!({"job": "j", "error": "OUT"}),
                Step::Job { job_type: "j".into(), end: JobEnd::Error("OUT".into()), variables: none() },
            ),
            (json!({"trigger": "t"}), Step::Trigger("t".into())),
            (json!({"advance": "PT1S"}), Step::Advance("PT1S".into())),
            (json!({"state": "active"}), Step::State("active".into())),
            (json!({"instances": {"p": 2}}), Step::Instances([("p".to_owned(), 2)].into())),
            (
                json!({"start": {"process": "p", "variables": {"x": 1}}}),
                Step::Start(Start {
                    process: Some("p".into()),
                    case: None,
                    message: None,
                    file: none(),
                    variables: json!({"x": 1}).as_object().unwrap().clone(),
                }),
            ),
            (json!({"complete_case": true, "as": "clerk"}), Step::Case(CaseStep::CompleteCase)),
        ] {
            assert_eq!(Step::read(&value).unwrap(), expected, "{value}");
        }
    }

    #[test]
    fn what_is_unknown_or_ambiguous_is_an_error() {
        for value in [
            json!({"dance": 1}),
            json!({}),
            json!({"tasks": [], "state": "active"}),
            json!({"complete": 1}),
            json!(1),
        ] {
            assert!(Step::read(&value).is_err(), "{value}");
        }
    }

    #[test]
    fn suites_are_found_in_nested_folders() {
        let root = tempfile::tempdir().unwrap();
        assert!(read_suite(root.path()).is_err());
        std::fs::create_dir_all(root.path().join("a/b")).unwrap();
        let model = json!([{"id": "m", "files": ["m.bpmn"], "cases": [{"start": null, "steps": []}]}]);
        std::fs::write(root.path().join("a/b/expectations.json"), model.to_string()).unwrap();
        let models = read_suite(root.path()).unwrap();
        assert_eq!(models.len(), 1);
        assert_eq!(models[0].0, root.path().join("a/b"));
        assert!(models[0].1.cases[0].start.is_none());
    }

    /// The number of the cases of a suite, every step of which is read.
    fn cases(folder: &Path) -> usize {
        let models = read_suite(folder).unwrap();
        for step in models.iter().flat_map(|(_, model)| &model.cases).flat_map(|case| &case.steps) {
            Step::read(step).unwrap();
        }
        models.iter().map(|(_, model)| model.cases.len()).sum()
    }

    #[test]
    fn the_given_suites_are_read_whole() {
        for (folder, expected) in [("bpmn/execution", 156), ("cmmn/execution", 8)] {
            let folder = heddle_harness_kit::workspace::suites().join(folder);
            if !folder.is_dir() {
                assert!(std::env::var_os("CI").is_none(), "the suites are absent");
                eprintln!("skipped: the suites are absent");
                return;
            }
            assert_eq!(cases(&folder), expected);
        }
    }

    #[test]
    fn our_own_suite_is_read_whole_and_its_files_are_there() {
        let folder = heddle_harness_kit::workspace::root().join("docs/cmmn-suite");
        assert!(cases(&folder) >= 120);
        for (folder, model) in read_suite(&folder).unwrap() {
            for file in &model.files {
                assert!(folder.join(file).is_file(), "{}: {file}", model.id);
            }
        }
    }
}
