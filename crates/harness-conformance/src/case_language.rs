//! The words of the step language that are about cases.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::language::{list, text};

/// Words of the language, and the transitions of the standard that they ask for.
const TRANSITIONS: [(&str, &str); 10] = [
    ("manual_start", "manualStart"),
    ("enable", "enable"),
    ("disable", "disable"),
    ("reenable", "reenable"),
    ("terminate", "terminate"),
    ("suspend", "suspend"),
    ("resume", "resume"),
    ("reactivate", "reactivate"),
    ("occur", "occur"),
    ("close", "close"),
];

/// Name of the language for the case itself, and for the planning table of its plan.
pub(super) const CASE: &str = "case";

/// A change of a case file item.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileChange {
    /// Id of the item.
    pub item: String,
    /// Standard event.
    pub event: String,
    /// Value of the item, or of its child.
    #[serde(default)]
    pub value: Value,
    /// Id of the child that is added or removed.
    #[serde(default)]
    pub child: Option<String>,
    /// Id of the item that is referred to.
    #[serde(default)]
    pub reference: Option<String>,
}

/// An item and the table that it is planned by.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Planned {
    /// Id of the discretionary item.
    pub item: String,
    /// Id of the stage or human task with the table; `case` for the case plan model.
    #[serde(rename = "in")]
    pub place: String,
}

/// A step about a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CaseStep {
    /// Asks for a transition of an item, or of the case itself.
    Transition { transition: &'static str, item: String },
    /// Completes the case by hand.
    CompleteCase,
    /// Plans a discretionary item.
    Plan(Planned),
    /// Changes the case file.
    File(FileChange),
    /// States of the live instances of items.
    Items(BTreeMap<String, Vec<String>>),
    /// Numbers of the instances of items by their states.
    Count(BTreeMap<String, BTreeMap<String, usize>>),
    /// States in which instances of items ended, in order.
    Ended(BTreeMap<String, Vec<String>>),
    /// Milestones that have occurred.
    Milestones(Vec<String>),
    /// Discretionary items that may be planned, by the tables' places.
    Planning(BTreeMap<String, Vec<String>>),
    /// Values of case file items.
    CaseFile(Map<String, Value>),
    /// An open incident, of a code if one is named.
    Incident(Option<String>),
}

impl CaseStep {
    /// Reads a word with its argument; none when it is not about cases.
    pub(super) fn read(word: &str, argument: &Value) -> Result<Option<Self>> {
        if let Some((_, transition)) = TRANSITIONS.iter().find(|(own, _)| *own == word) {
            return Ok(Some(Self::Transition { transition, item: text(argument)? }));
        }
        Ok(Some(match word {
            "complete_case" => Self::CompleteCase,
            "plan" => Self::Plan(of(argument)?),
            "file" => Self::File(of(argument)?),
            "items" => Self::Items(of(argument)?),
            "count" => Self::Count(of(argument)?),
            "ended" => Self::Ended(of(argument)?),
            "milestones" => Self::Milestones(list(argument)?),
            "planning" => Self::Planning(of(argument)?),
            "caseFile" => Self::CaseFile(of(argument)?),
            "incident" => Self::Incident(argument.as_str().map(str::to_owned)),
            _ => return Ok(None),
        }))
    }
}

fn of<T: serde::de::DeserializeOwned>(argument: &Value) -> Result<T> {
    serde_json::from_value(argument.clone()).with_context(|| format!("not as agreed: {argument}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_about_cases_are_read_and_others_are_not_theirs() {
        let read = |word: &str, argument: Value| CaseStep::read(word, &argument).unwrap();
        let start = CaseStep::Transition { transition: "manualStart", item: "A".into() };
        assert_eq!(read("manual_start", json!("A")), Some(start));
        let planned = Planned { item: "D".into(), place: CASE.into() };
        assert_eq!(read("plan", json!({"item": "D", "in": "case"})), Some(CaseStep::Plan(planned)));
        assert_eq!(read("incident", json!(true)), Some(CaseStep::Incident(None)));
        assert_eq!(read("incident", json!("LIMIT")), Some(CaseStep::Incident(Some("LIMIT".into()))));
        assert_eq!(read("milestones", json!([])), Some(CaseStep::Milestones(Vec::new())));
        assert_eq!(read("dance", json!(1)), None);
        assert!(CaseStep::read("file", &json!({"item": "a", "event": "create", "more": 1})).is_err());
        assert!(CaseStep::read("suspend", &json!(1)).is_err());
    }
}
