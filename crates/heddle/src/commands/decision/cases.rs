//! Test cases of decisions: inputs and what is expected of them.

use std::path::Path;

use anyhow::{Context as _, Result};
use heddle_dmn::Model;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::commands::given;

/// A case as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// Name for people; the case's number without one.
    name: Option<String>,
    /// Name or id of the decision; may be left out when there is but one.
    decision: Option<String>,
    /// Inputs by name.
    #[serde(default)]
    input: Map<String, Value>,
    /// Value that the decision must give.
    expected: Value,
    #[serde(skip)]
    number: usize,
}

/// Result of a case.
#[derive(Debug, Serialize)]
pub(super) struct CaseResult {
    name: String,
    /// Whether the value was the expected one.
    pub passed: bool,
    expected: Value,
    /// Value that was given; null when there was none.
    actual: Value,
    /// Reasons for nulls, and why there was no value.
    reasons: Vec<String>,
}

/// Reads a file of cases: a list.
///
/// # Errors
/// What is wrong with it, with line and column.
pub(super) fn read(file: &Path) -> Result<Vec<Case>> {
    let text = given::text(file)?;
    let shown = super::shown(file);
    let mut cases: Vec<Case> = serde_json::from_str(&text)
        .with_context(|| format!("`{shown}` is no list of cases with `input` and `expected`"))?;
    for (at, case) in cases.iter_mut().enumerate() {
        case.number = at + 1;
    }
    Ok(cases)
}

/// Evaluates a case. What can't be evaluated has failed, and the others go on.
pub(super) fn run(case: &Case, model: &Model) -> CaseResult {
    let name = case.name.clone().unwrap_or_else(|| format!("case {}", case.number));
    let decision = case.decision.clone().map_or_else(|| super::only(model), Ok);
    let outcome = decision.and_then(|decision| super::outcome(model, &decision, &case.input, false));
    let (actual, reasons, given) = match outcome {
        Ok(outcome) => {
            let reasons = outcome.reasons.iter().map(super::why).collect();
            (heddle_feel::to_json(&outcome.value), reasons, true)
        }
        Err(error) => (Value::Null, vec![crate::failure::sentence(&error)], false),
    };
    let passed = given && same(&actual, &case.expected);
    CaseResult { name, passed, expected: case.expected.clone(), actual, reasons }
}

impl CaseResult {
    /// One line for people.
    pub(super) fn sentence(&self) -> String {
        if self.passed {
            return format!("passed: {}", self.name);
        }
        let mut text = format!("FAILED: {}: expected {}, got {}", self.name, self.expected, self.actual);
        if !self.reasons.is_empty() {
            text += &format!(" ({})", self.reasons.join("; "));
        }
        text
    }
}

/// Equality of values: numbers by what they are, not by how they are written.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_compared_by_what_they_are() {
        for (one, other, equal) in [
            (json!(1), json!(1.0), true),
            (json!({"a": [1.50, "x"]}), json!({"a": [1.5, "x"]}), true),
            (json!({"a": 1}), json!({"a": 1, "b": null}), false),
            (json!([1]), json!([1, 2]), false),
            (json!("1"), json!(1), false),
            (json!(null), json!(false), false),
        ] {
            assert_eq!(same(&one, &other), equal, "{one} {other}");
        }
    }
}
