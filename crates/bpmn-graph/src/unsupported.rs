//! Findings on content that the engine does not execute yet: settings of a node's `configuration`, and the
//! data and correlations of the model. None is accepted and then ignored.

use super::Element;
use super::compile::Builder;
use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::model::{Bpmn, Conversation, CorrelationKey, Node, Process};
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
    ("resultMapping", "only a business rule task has the result of a decision"),
    ("decisionRef", "only a business rule task evaluates a decision"),
    ("source", "only a script task has a script"),
];

/// Members that other checks know.
const ALSO_KNOWN: &[&str] =
    &["kind", "version", "versionTag", "versionPolicy", "retry", "followUpDate", "form"];

/// The members among them that tasks that compute do honour.
const fn computes(element: Element) -> &'static [&'static str] {
    match element {
        Element::BusinessRuleTask => &["inputs", "outputs", "resultVariable", "resultMapping", "decisionRef"],
        Element::ScriptTask => &["inputs", "outputs", "resultVariable", "source"],
        _ => &[],
    }
}

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
        let computed = computes(element);
        for (member, reason) in
            REFUSED.iter().filter(|(member, _)| given(member) && !computed.contains(member))
        {
            self.refuse(id, "unsupportedSetting", format!("{member}: {reason}"), "10.3.1");
        }
        if element == Element::BusinessRuleTask {
            self.check_version(id, settings);
        }
        if !computed.is_empty() {
            let known = |member: &str| computed.contains(&member) || ALSO_KNOWN.contains(&member);
            for member in settings.keys().filter(|member| !known(member) && given(member)) {
                let refused = REFUSED.iter().any(|(name, _)| name == member);
                if !refused {
                    let sentence = format!("{member}: the task has no such setting");
                    self.warn(id, "settingUnused", &sentence, "10.3.3.1");
                }
            }
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

    /// A decision is that of the definition, whatever version another engine would have looked for.
    fn check_version(&mut self, id: &str, settings: &Map<String, Value>) {
        for member in ["version", "versionTag"] {
            if settings.get(member).is_some_and(asks) {
                let sentence =
                    format!("{member}: a decision has the version of the definition that holds it");
                self.refuse(id, "unsupportedSetting", sentence, "10.3.3.1");
            }
        }
        match settings.get("versionPolicy").and_then(Value::as_str) {
            None | Some("deployment") => {}
            Some("latest") => {
                let sentence = "versionPolicy: the decision evaluated is the one that this definition holds";
                self.warn(id, "settingUnused", sentence, "10.3.3.1");
            }
            Some(other) => {
                let sentence = format!("versionPolicy: `{other}` is none that a decision can have");
                self.refuse(id, "unsupportedSetting", sentence, "10.3.3.1");
            }
        }
    }

    /// Warns of the data of a node that moves nothing.
    pub(super) fn check_data(&mut self, node: &Node) {
        let Some(bpmn) = node.bpmn.as_deref() else { return };
        let id = node.element_id().unwrap_or_default();
        if some(&bpmn.data_associations) {
            let sentence = "data associations move no data: all variables are visible to the node";
            self.warn(id, "dataAssociationsUnused", sentence, "10.4.2");
        }
        if some(&bpmn.input_sets) || some(&bpmn.output_sets) {
            let sentence = "input and output sets hold nothing back: the node does not wait for their data";
            self.warn(id, "dataSetsUnused", sentence, "10.4.2");
        } else if some(&bpmn.data_inputs) || some(&bpmn.data_outputs) {
            let sentence = "data inputs and outputs hold nothing: all variables are visible to the node";
            self.warn(id, "dataSetsUnused", sentence, "10.4.2");
        }
    }

    /// The same for a process, with its correlation subscriptions.
    pub(super) fn check_content_data(&mut self, content: &Process) {
        let id = content.id.as_deref().unwrap_or_default();
        if some(&content.input_sets)
            || some(&content.output_sets)
            || some(&content.data_inputs)
            || some(&content.data_outputs)
        {
            let sentence = "the data inputs, data outputs and sets of a process hold nothing: what a run is started \
                            with is checked against `inputSchema`";
            self.warn(id, "dataSetsUnused", sentence, "10.4.2");
        }
        let mut before = None;
        for correlation in content.correlations.iter().flatten() {
            // The bindings of one subscription share its id.
            let own = correlation.id.as_deref().filter(|own| !own.is_empty());
            if own.is_none() || own != before {
                let sentence = "the correlation subscription finds no run: messages are told apart by the \
                                `correlationKey` of their nodes";
                self.warn(own.unwrap_or(id), "correlationUnused", sentence, "8.4.2");
            }
            before = own;
        }
    }
}

fn some<T>(list: &Option<Vec<T>>) -> bool {
    list.as_ref().is_some_and(|list| !list.is_empty())
}

/// Warns of the correlation keys of collaborations and conversations, each one by itself.
pub(super) fn correlation_keys(bpmn: &Bpmn) -> Vec<Diagnostic> {
    let mut keys: Vec<&CorrelationKey> = Vec::new();
    let mut open: Vec<&Conversation> = bpmn.conversations.iter().flatten().collect();
    for collaboration in bpmn.collaborations.iter().flatten() {
        keys.extend(collaboration.correlation_keys.iter().flatten());
        open.extend(collaboration.conversations.iter().flatten());
    }
    while let Some(conversation) = open.pop() {
        keys.extend(conversation.correlation_keys.iter().flatten());
        open.extend(conversation.conversations.iter().flatten());
    }
    let unused = |key: &CorrelationKey| {
        let sentence = "the correlation key is not computed: messages are told apart by the `correlationKey` of \
                        their nodes";
        let mut found = diagnostic::warning("correlationUnused", sentence).with_clause("8.4.2");
        found.element_id.clone_from(&key.id);
        found
    };
    keys.into_iter().map(unused).collect()
}
