//! Findings on content that the engine does not execute yet: settings of a node's `configuration`, and the
//! data and correlations of the model. None is accepted and then ignored.

use super::compile::Builder;
use super::{Element, calls, element};
use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{Bpmn, Conversation, CorrelationKey, Process, WorkflowDefinition, nodes};
use serde_json::{Map, Value};

/// A member that would change what a node does, with why it is not executed and what can be done instead.
struct Refusal {
    member: &'static str,
    reason: &'static str,
    remedy: &'static str,
}

const fn refusal(member: &'static str, reason: &'static str, remedy: &'static str) -> Refusal {
    Refusal { member, reason, remedy }
}

const JOBS: &str = "jobs for external workers are not there yet";
const NO_JOB: &str = "Take the setting (`null`) or the vendor's word out, and let a user task do the step, which a program can \
                      complete by `POST /api/workflows/{workflowId}/runs/{runId}/human-tasks/{nodeId}/complete`, or a \
                      receive task that waits for what a program sends to `POST /api/case-events`.";
const MAPPED: &str = "Take the mapping (`null`) or the vendor's word out: every node sees all variables. Values that have to \
                      be computed are computed in a script task in FEEL before or after the step; script and business \
                      rule tasks have `inputs` and `outputs` of their own.";
const RULES_ONLY: &str = "Make it a business rule task, or take the setting (`null`) out.";

/// Members that would change what a node does.
const REFUSED: &[Refusal] = &[
    refusal("jobType", JOBS, NO_JOB),
    refusal("headers", JOBS, NO_JOB),
    refusal("inputs", "input mappings are not executed yet", MAPPED),
    refusal("outputs", "output mappings are not executed yet", MAPPED),
    refusal("propagateAllInputs", "input mappings are not executed yet", MAPPED),
    refusal("propagateAllOutputs", "output mappings are not executed yet", MAPPED),
    refusal(
        "loop",
        "loops over a collection are not executed yet",
        "Model the repetition with gateways and sequence flows, or let one FEEL expression work on the whole list.",
    ),
    refusal(
        "resultVariable",
        "results are not put into a variable yet",
        "Make it a script or business rule task, or take the setting (`null`) out.",
    ),
    refusal("resultMapping", "only a business rule task has the result of a decision", RULES_ONLY),
    refusal("decisionRef", "only a business rule task evaluates a decision", RULES_ONLY),
    refusal(
        "source",
        "only a script task has a script",
        "Make it a script task, or take the setting (`null`) out.",
    ),
];

const OWN_VERSION: &str = "Take the setting (`null`) out, and put the decision that is meant with \
                           `PUT /api/workflows/{workflowId}/dmn/logic`.";

/// Members that every node may have: other checks know them.
const EVERYWHERE: &[&str] = &["kind", "retry", "version", "versionTag", "versionPolicy"];

/// Members of the nodes that have settings of their own.
const fn own_settings(element: Element) -> &'static [&'static str] {
    match element {
        Element::UserTask => &[
            "assignee",
            "candidateUsers",
            "candidateGroups",
            "laneCandidates",
            "dueDate",
            "followUpDate",
            "priority",
            "form",
            "outcomes",
        ],
        Element::StartEvent => &[
            "inputSchema",
            "form",
            "correlationKey",
            "errorCodeVariable",
            "errorMessageVariable",
            "escalationCodeVariable",
        ],
        Element::BoundaryEvent => {
            &["correlationKey", "errorCodeVariable", "errorMessageVariable", "escalationCodeVariable"]
        }
        Element::IntermediateCatchEvent | Element::ReceiveTask => &["correlationKey"],
        Element::EndEvent => &["correlationKey", "payload", "errorMessage"],
        Element::IntermediateThrowEvent | Element::SendTask => &["correlationKey", "payload"],
        Element::BusinessRuleTask | Element::ScriptTask | Element::CallActivity => computes(element),
        Element::Task
        | Element::ServiceTask
        | Element::ManualTask
        | Element::SubProcess
        | Element::Transaction
        | Element::AdHocSubProcess
        | Element::ComplexGateway
        | Element::ExclusiveGateway
        | Element::InclusiveGateway
        | Element::ParallelGateway
        | Element::EventBasedGateway => &[],
    }
}

/// The elements with settings of their own.
const WITH_SETTINGS: &[Element] = &[
    Element::UserTask,
    Element::StartEvent,
    Element::ReceiveTask,
    Element::SendTask,
    Element::BusinessRuleTask,
    Element::ScriptTask,
    Element::CallActivity,
];

/// Members of one mapping of `inputs` or `outputs`.
const OF_A_MAPPING: &[&str] = &["name", "value"];

/// The members among them that tasks that compute, and calls, do honour.
const fn computes(element: Element) -> &'static [&'static str] {
    match element {
        Element::BusinessRuleTask => &["inputs", "outputs", "resultVariable", "resultMapping", "decisionRef"],
        Element::ScriptTask => &["inputs", "outputs", "resultVariable", "source"],
        Element::CallActivity => calls::SETTINGS,
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
        for Refusal { member, reason, remedy } in
            REFUSED.iter().filter(|one| given(one.member) && !computed.contains(&one.member))
        {
            let sentence = format!("{member}: {reason}");
            self.refuse_with(id, "unsupportedSetting", sentence, "10.3.1", remedy);
        }
        if element == Element::BusinessRuleTask {
            self.check_version(id, settings);
        }
        if given("followUpDate") && element == Element::UserTask {
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
                self.refuse_with(id, "unsupportedSetting", sentence, "10.3.3.1", OWN_VERSION);
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
                self.refuse_with(id, "unsupportedSetting", sentence, "10.3.3.1", OWN_VERSION);
            }
        }
    }

    /// Warns of what is said of a process or sub-process without effect.
    pub(super) fn check_content_data(&mut self, content: &Process) {
        let id = content.id.as_deref().unwrap_or_default();
        if some(&content.input_sets) || some(&content.output_sets) {
            let sentence = "the input and output sets of a process hold nothing back: what a run is started with is \
                            checked against `inputSchema`";
            self.warn(id, "dataSetsUnused", sentence, "10.4.2");
        }
        if some(&content.data_stores) {
            let sentence = "a data store keeps its values as long as the run: each run has one of its own";
            self.warn(id, "dataStoreOfRun", sentence, "10.4.1");
        }
        if some(&content.resources) {
            let sentence =
                "resource roles of a process are not evaluated: roles and grants say who may do what";
            self.warn(id, "resourceRolesUnused", sentence, "10.3.1");
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

/// Reason for which a setting is not executed at an element of that name; none for one that is.
pub(super) fn refused_setting(
    element_type: &str,
    member: &str,
    value: Option<&Value>,
) -> Option<&'static str> {
    let kind = ElementKind::named(element_type);
    if let Some(reason) = kind.and_then(element::refusal) {
        return Some(reason);
    }
    let element = kind.and_then(Element::of);
    let other_version = match member {
        "version" | "versionTag" => true,
        "versionPolicy" => {
            value.and_then(Value::as_str).is_some_and(|own| !matches!(own, "deployment" | "latest"))
        }
        _ => false,
    };
    if other_version && element == Some(Element::BusinessRuleTask) {
        return Some("a decision has the version of the definition that holds it");
    }
    let computed = element.map_or(&[][..], computes);
    let found = REFUSED.iter().find(|one| one.member == member && !computed.contains(&member));
    found.map(|one| one.reason)
}

/// Members of `configuration` that the node's element does not have: an error for one that none has, a warning for one
/// that only others have.
///
/// Versions that were published with such a member run on, so that this is no part of the compilation.
#[must_use]
pub fn unknown_settings(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for at in nodes(definition) {
        let (Some(settings), Some(element)) = (&at.node.configuration, at.node.kind().and_then(Element::of))
        else {
            continue;
        };
        let id = at.node.element_id().unwrap_or_default();
        for (member, value) in settings.iter().filter(|(_, value)| asks(value)) {
            let place = format!("{}.configuration.{member}", at.path);
            let one = unknown_setting(element, member);
            found.extend(one.map(|one| one.with_element(id).with_path(place)));
            if matches!(member.as_str(), "inputs" | "outputs") {
                found.extend(unknown_parts(value, member, &at.path).map(|one| one.with_element(id)));
            }
        }
    }
    found
}

fn unknown_setting(element: Element, member: &str) -> Option<Diagnostic> {
    let own = own_settings(element);
    let refused = REFUSED.iter().any(|one| one.member == member);
    if refused || own.contains(&member) || EVERYWHERE.contains(&member) {
        return None;
    }
    let name = element.name();
    let listed = match own {
        [] => format!("a {name} has no settings of its own"),
        own => format!("a {name} has {}", own.join(", ")),
    };
    if WITH_SETTINGS.iter().any(|other| own_settings(*other).contains(&member)) {
        let sentence = format!("{member}: it has no effect at a {name}; {listed}");
        return Some(diagnostic::warning("settingUnused", sentence).with_clause("10.3.1"));
    }
    let sentence = format!("{member}: there is no such setting; {listed}");
    Some(diagnostic::error("unknownSetting", sentence).with_clause("10.3.1"))
}

/// Members of the single mappings that would be ignored.
fn unknown_parts<'v>(
    value: &'v Value,
    list: &'v str,
    path: &'v str,
) -> impl Iterator<Item = Diagnostic> + 'v {
    let items = value.as_array().into_iter().flatten().enumerate();
    items.flat_map(move |(at, item)| {
        let members = item.as_object().into_iter().flat_map(Map::keys);
        members.filter(|member| !OF_A_MAPPING.contains(&member.as_str())).map(move |member| {
            let sentence =
                format!("{list}[{at}].{member}: there is no such member; a mapping has name and value");
            diagnostic::error("unknownSetting", sentence)
                .with_path(format!("{path}.configuration.{list}[{at}].{member}"))
                .with_clause("10.3.1")
        })
    })
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
