//! Settings of a node's `configuration` that the engine does not execute yet: none is accepted and then ignored.

use super::Element;
use super::compile::Builder;
use serde_json::{Map, Value};

/// Members that would change what a node does, with why they cannot be executed.
const REFUSED: &[(&str, &str)] = &[
    ("jobType", "jobs for external workers are not there yet"),
    ("headers", "jobs for external workers are not there yet"),
    ("inputs", "input mappings are not executed yet"),
    ("outputs", "output mappings are not executed yet"),
    ("propagateAllInputs", "input mappings are not executed yet"),
    ("propagateAllOutputs", "output mappings are not executed yet"),
    ("loop", "loops over a collection are not executed yet"),
    ("resultVariable", "results are not put into a variable yet"),
    ("resultMapping", "decisions are not evaluated by nodes yet"),
    ("decisionRef", "decisions are not evaluated by nodes yet"),
];

/// Whether a value asks for anything.
fn asks(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    }
}

impl Builder<'_> {
    /// Refuses settings that would be ignored, and warns of those without a bearing on the flow.
    pub(super) fn check_settings(&mut self, id: &str, element: Element, settings: &Map<String, Value>) {
        let given = |member: &str| settings.get(member).is_some_and(asks);
        for (member, reason) in REFUSED.iter().filter(|(member, _)| given(member)) {
            self.refuse(id, "unsupportedSetting", format!("{member}: {reason}"), "10.3.1");
        }
        if given("followUpDate") {
            self.warn(id, "settingUnused", "followUpDate: work lists do not show it yet", "10.3.4.1");
        }
        if given("retry") {
            self.warn(id, "settingUnused", "retry: nothing at this node is tried again", "10.3.1");
        }
        if given("form") && element == Element::StartEvent {
            self.warn(
                id,
                "settingUnused",
                "form: what a run is started with is checked against `inputSchema`",
                "10.5.2",
            );
        }
    }
}
