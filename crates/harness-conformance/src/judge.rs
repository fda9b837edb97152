//! Judgement of a case: the state of its runs against the expected one.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::language::Expect;

/// A run as its representation, with its workflow and its events.
#[derive(Debug, Clone)]
pub(crate) struct Observed {
    /// Index of its workflow in the deployment.
    pub workflow: usize,
    /// GET run.
    pub run: Value,
}

impl Observed {
    /// Id of the run; empty when absent.
    pub(crate) fn id(&self) -> &str {
        self.run["id"].as_str().unwrap_or_default()
    }

    /// State of the run, as the API names it; empty when absent.
    pub(crate) fn state(&self) -> &str {
        self.run["state"].as_str().unwrap_or_default()
    }

    /// Whether it has not ended.
    pub(crate) fn active(&self) -> bool {
        ["queued", "running", "waiting", "suspended"].contains(&self.state())
    }

    /// Whether it failed or somebody has to look at it.
    pub(crate) fn troubled(&self) -> bool {
        self.state() == "failed" || self.run["hasIncident"].as_bool() == Some(true)
    }

    /// Whether it has not ended and nothing went wrong. A join whose tokens can no longer come is told as an
    /// incident, but the instance does what the model says: it waits.
    pub(crate) fn waits(&self) -> bool {
        let incidents = self.run["incidents"].as_array().map(Vec::as_slice).unwrap_or_default();
        let stuck = !incidents.is_empty() && incidents.iter().all(|incident| incident["code"] == "DEADLOCK");
        self.active() && (stuck || !self.troubled())
    }

    /// Whether a call activity of it is to go on by itself: it waits for more called runs than there are active ones.
    pub(crate) fn waits_for_an_end_among(&self, runs: &[Self]) -> bool {
        let calls =
            self.waiting_for("job").filter(|node| node["type"].as_str() == Some("callActivity")).count();
        let called = |run: &&Self| run.active() && run.run["parentRunId"].as_str() == Some(self.id());
        calls > runs.iter().filter(called).count()
    }

    /// Active nodes that wait for a thing of that kind.
    pub(crate) fn waiting_for(&self, kind: &str) -> impl Iterator<Item = &Value> {
        let nodes = self.run["activeNodes"].as_array().map(Vec::as_slice).unwrap_or_default();
        nodes.iter().filter(move |node| node["waitingFor"]["kind"].as_str() == Some(kind))
    }
}

/// Judges the state of the runs that the case started. `refusal` says why none could be.
pub(crate) fn state(expected: &str, started: &[&Observed], refusal: Option<&str>) -> Result<(), String> {
    let summary = || {
        if let Some(refusal) = refusal {
            return refusal.to_owned();
        }
        let runs: Vec<String> = started
            .iter()
            .map(|run| {
                let incident = run.run["incidents"].as_array().and_then(|incidents| incidents.first());
                let told = incident.or_else(|| run.run.get("error").filter(|error| !error.is_null()));
                told.map_or_else(|| run.state().to_owned(), |told| format!("{} {told}", run.state()))
            })
            .collect();
        if runs.is_empty() { "no run".to_owned() } else { runs.join(", ") }
    };
    let holds = match expected {
        "completed" => {
            refusal.is_none() && !started.is_empty() && started.iter().all(|run| run.state() == "completed")
        }
        "active" => refusal.is_none() && started.iter().any(|run| run.waits()),
        "error" => refusal.is_some() || started.iter().any(|run| run.troubled()),
        "not-active" => refusal.is_none() && !started.is_empty() && started.iter().all(|run| !run.active()),
        other => return Err(format!("unknown state `{other}`")),
    };
    if holds { Ok(()) } else { Err(format!("expected {expected}, found {}", summary())) }
}

/// Judges the completed activities per name: all `SCRIPT_*`, and others where they are listed.
pub(crate) fn completed(expect: &Expect, counted: &BTreeMap<String, u64>) -> Result<(), String> {
    let Some(expected) = &expect.completed_by_name else { return Ok(()) };
    let found: BTreeMap<&str, u64> = counted
        .iter()
        .filter(|(name, _)| name.starts_with("SCRIPT_") || expected.contains_key(*name))
        .map(|(name, count)| (name.as_str(), *count))
        .collect();
    let wanted: BTreeMap<&str, u64> = expected
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(name, count)| (name.as_str(), *count))
        .collect();
    if found == wanted { Ok(()) } else { Err(format!("expected completions {wanted:?}, found {found:?}")) }
}

/// Judges the variables that a run ended with: those that are expected are there.
pub(crate) fn output(expected: &Map<String, Value>, found: Option<&Value>) -> Result<(), String> {
    for (name, value) in expected {
        let own = found.and_then(|output| output.get(name)).unwrap_or(&Value::Null);
        if own != value {
            return Err(format!("expected the variable `{name}` to be {value}, found {own}"));
        }
    }
    Ok(())
}

/// Judges the order of what completed: the expected nodes come in that order, with others between them.
pub(crate) fn history(expected: &[String], found: &[String]) -> Result<(), String> {
    let mut left = found.iter();
    match expected.iter().find(|node| !left.any(|own| own == *node)) {
        None => Ok(()),
        Some(missing) => Err(format!("`{missing}` did not complete in its turn: {}", found.join(" "))),
    }
}

/// Counts completed nodes of a run by name: that of the definition, else, for a global task, the one with which the node
/// was activated.
pub(crate) fn count(events: &[Value], names: &BTreeMap<String, String>, into: &mut BTreeMap<String, u64>) {
    let activated = events.iter().filter(|event| event["type"].as_str() == Some("node.activated"));
    let told: BTreeMap<&str, &str> = activated
        .filter_map(|event| Some((event["nodeId"].as_str()?, event["data"]["name"].as_str()?)))
        .collect();
    for event in events {
        if event["type"].as_str() != Some("node.completed") {
            continue;
        }
        let id = event["nodeId"].as_str();
        let name = id.and_then(|id| names.get(id).map(String::as_str).or_else(|| told.get(id).copied()));
        if let Some(name) = name {
            *into.entry(name.trim().to_owned()).or_default() += 1;
        }
    }
}

/// Two multisets of texts.
pub(crate) fn multiset(expected: &[String], found: &[String]) -> Result<(), String> {
    let sorted = |texts: &[String]| {
        let mut texts = texts.to_vec();
        texts.sort();
        texts
    };
    let (expected, found) = (sorted(expected), sorted(found));
    if expected == found { Ok(()) } else { Err(format!("expected tasks {expected:?}, found {found:?}")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(state: &str, incident: bool) -> Observed {
        Observed { workflow: 0, run: json!({"id": "r", "state": state, "hasIncident": incident}) }
    }

    #[test]
    fn states_are_judged() {
        for (expected, runs, refusal, holds) in [
            ("completed", vec![run("completed", false)], None, true),
            ("completed", vec![run("completed", false), run("waiting", false)], None, false),
            ("completed", vec![], None, false),
            ("completed", vec![], Some("refused"), false),
            ("active", vec![run("waiting", false)], None, true),
            ("active", vec![run("waiting", true)], None, false),
            ("active", vec![run("completed", false)], None, false),
            ("error", vec![], Some("refused"), true),
            ("error", vec![run("failed", false)], None, true),
            ("error", vec![run("waiting", true)], None, true),
            ("error", vec![run("completed", false)], None, false),
            ("not-active", vec![run("failed", true)], None, true),
            ("not-active", vec![run("waiting", true)], None, false),
            ("asleep", vec![run("waiting", true)], None, false),
        ] {
            let started: Vec<&Observed> = runs.iter().collect();
            assert_eq!(state(expected, &started, refusal).is_ok(), holds, "{expected} {runs:?} {refusal:?}");
        }
    }

    #[test]
    fn completions_are_counted_by_name_and_compared_where_they_matter() {
        let names = [("a", "SCRIPT_task1"), ("b", "LOG"), ("c", "MARKER"), ("d", " SCRIPT_task2\n")]
            .map(|(id, name)| (id.to_owned(), name.to_owned()))
            .into();
        let events =
            ["a", "a", "b", "c", "d", "unknown"].map(|id| json!({"type": "node.completed", "nodeId": id}));
        let mut counted = BTreeMap::new();
        count(&events, &names, &mut counted);
        count(&[json!({"type": "node.activated", "nodeId": "a"})], &names, &mut counted);
        let expect = |value: Value| -> Expect {
            serde_json::from_value(json!({"state": "completed", "completed_by_name": value})).unwrap()
        };
        for (value, holds) in [
            (json!({"SCRIPT_task1": 2, "SCRIPT_task2": 1}), true),
            (json!({"SCRIPT_task1": 2, "SCRIPT_task2": 1, "MARKER": 1}), true),
            (json!({"SCRIPT_task1": 2, "SCRIPT_task2": 1, "MARKER": 2}), false),
            (json!({"SCRIPT_task1": 2}), false),
            (json!({"SCRIPT_task1": 2, "SCRIPT_task2": 1, "SCRIPT_task3": 1}), false),
            (json!({}), false),
        ] {
            assert_eq!(completed(&expect(value.clone()), &counted).is_ok(), holds, "{value}");
        }
        let silent: Expect = serde_json::from_value(json!({"state": "completed"})).unwrap();
        assert!(completed(&silent, &counted).is_ok());
    }

    #[test]
    fn tasks_are_compared_as_multisets() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert!(multiset(&texts(&["a", "b", "a"]), &texts(&["a", "a", "b"])).is_ok());
        assert!(multiset(&texts(&["a", "b"]), &texts(&["a", "a", "b"])).is_err());
    }

    #[test]
    fn a_join_that_waits_for_ever_is_active_and_another_incident_is_not() {
        for (code, holds) in [("DEADLOCK", true), ("EXPRESSION", false)] {
            let run = json!({"state": "waiting", "hasIncident": true, "incidents": [{"code": code}]});
            assert_eq!(state("active", &[&Observed { workflow: 0, run }], None).is_ok(), holds, "{code}");
        }
    }

    #[test]
    fn waiting_nodes_are_found_by_kind() {
        let observed = Observed {
            workflow: 0,
            run: json!({"activeNodes": [
                {"nodeId": "t", "waitingFor": {"kind": "humanTask"}}, {"nodeId": "w", "waitingFor": {"kind": "timer"}}]}),
        };
        let found: Vec<&str> =
            observed.waiting_for("humanTask").filter_map(|node| node["nodeId"].as_str()).collect();
        assert_eq!(found, ["t"]);
    }
}
