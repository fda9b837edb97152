//! Findings about a definition, for people: element with its name, what is wrong, and what to do.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use crate::client::text;
use crate::output;

/// Findings about a definition, each once.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    rows: Vec<Value>,
    names: BTreeMap<String, String>,
}

impl Findings {
    /// The findings of a report, or of a preview, about a definition.
    pub(crate) fn of(report: &Value, definition: &Value) -> Self {
        let mut found = Self { names: BTreeMap::new(), rows: Vec::new() };
        names(definition, &mut found.names);
        found.add(report);
        found
    }

    /// Adds those of another report that are not known yet. What does not keep a definition from being published is no
    /// error here: it is published all the same.
    pub(crate) fn add(&mut self, report: &Value) {
        let runs = report.get("executable").and_then(Value::as_bool) == Some(true);
        let key = |one: &Value| {
            ["/code", "/elementId", "/message", "/path"].map(|pointer| text(one, pointer).to_owned())
        };
        let mut known: HashSet<_> = self.rows.iter().map(key).collect();
        let more = report.get("diagnostics").and_then(Value::as_array).into_iter().flatten();
        for one in more.filter(|one| known.insert(key(one))) {
            let mut one = one.clone();
            let is_error = text(&one, "/severity") == "error";
            if let (true, true, Some(members)) = (runs, is_error, one.as_object_mut()) {
                members.insert("severity".to_owned(), json!("warning"));
            }
            self.rows.push(one);
        }
    }

    /// Leaves out findings that do not hold any more.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Value) -> bool) {
        self.rows.retain(keep);
    }

    /// Whether one of them is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.rows.iter().any(|one| text(one, "/severity") == "error")
    }

    /// The findings as they are told to programs, with the names of their elements.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let named = |one: &Value| {
            let mut one = one.clone();
            let name = self.name(&one).map(str::to_owned);
            if let (Some(name), Some(members)) = (name, one.as_object_mut()) {
                members.entry("elementName").or_insert_with(|| json!(name));
            }
            one
        };
        self.rows.iter().map(named).collect()
    }

    /// Prints errors and warnings, errors first.
    pub(crate) fn print(&self) {
        for severity in ["error", "warning"] {
            for one in self.rows.iter().filter(|one| text(one, "/severity") == severity) {
                output::line(&output::plain(&format!("  {}", sentence(one, self.name(one)))));
                if let Some(remedy) = one.get("remedy").and_then(Value::as_str) {
                    output::line(&output::plain(&format!("           {remedy}")));
                }
            }
        }
    }

    fn name(&self, one: &Value) -> Option<&str> {
        self.names.get(text(one, "/elementId")).map(String::as_str)
    }
}

/// A finding in one line: severity, element with its name (else its place), and message.
pub(crate) fn sentence(one: &Value, name: Option<&str>) -> String {
    let (id, place) = (text(one, "/elementId"), text(one, "/path"));
    let name = name.or_else(|| one.get("elementName").and_then(Value::as_str));
    let at = |pointer: &str| one.pointer(pointer).and_then(Value::as_u64);
    let about = match (id, name) {
        ("", _) => place.to_owned(),
        (id, Some(name)) if !name.is_empty() => format!("{id} \"{name}\""),
        (id, _) => id.to_owned(),
    };
    let about = match (about.is_empty(), at("/line"), at("/column")) {
        (true, Some(line), Some(column)) => format!("line {line}, column {column}: "),
        (true, _, _) => String::new(),
        (false, Some(line), Some(column)) => format!("{about} (line {line}, column {column}): "),
        (false, _, _) => format!("{about}: "),
    };
    format!("{:<8} {about}{}", text(one, "/severity"), text(one, "/message"))
}

/// Names of all elements of a definition by their ids.
fn names(value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            let member =
                |name: &str| members.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            if let (Some(id), Some(name)) = (member("id"), member("displayName").or_else(|| member("name"))) {
                found.entry(id.to_owned()).or_insert_with(|| name.to_owned());
            }
            members.values().for_each(|inner| names(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| names(inner, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_told_with_its_elements_name_and_only_once() {
        let definition =
            json!({ "nodes": [{ "id": "c1", "displayName": "Ask the bank", "bpmn": { "name": "other" } }] });
        let wrong = json!({ "severity": "error", "code": "x", "elementId": "c1", "message": "Not there.", "remedy": "Take it out." });
        let line = json!({ "severity": "warning", "code": "y", "message": "Odd.", "line": 3, "column": 7 });
        let mut found = Findings::of(&json!({ "diagnostics": [wrong, wrong] }), &definition);
        found.add(&json!({ "diagnostics": [wrong, line] }));
        assert_eq!(found.rows().len(), 2);
        assert_eq!(found.rows()[0]["elementName"], "Ask the bank");
        assert!(found.has_errors());
        assert_eq!(sentence(&wrong, found.name(&wrong)), "error    c1 \"Ask the bank\": Not there.");
        assert_eq!(sentence(&line, None), "warning  line 3, column 7: Odd.");
    }
}
