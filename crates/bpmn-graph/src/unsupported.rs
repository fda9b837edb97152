//! Findings on content that the engine does not execute there: settings of a node's `configuration`, and the
//! data and correlations of the model. None is accepted and then ignored.

use super::bindings;
use super::calls::global_tasks;
use super::compile::Builder;
use super::correlation::{Correlations, keys};
use super::inside;
use super::meaning::Edition;
use super::words::OF_A_LISTENER;
use super::{DataStore, Element, Graph, Throw, Work, element};
use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{Bpmn, CorrelationKey, Edge, Process, WorkflowDefinition, graphs, nodes};
use heddle_settings::service::{Place, ServiceKind, service_kind};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// A member that would change what some elements do, with why it is not executed at others and what can be done instead.
struct Refusal {
    member: &'static str,
    /// Whether an element honours it.
    at: fn(Element) -> bool,
    reason: &'static str,
    remedy: &'static str,
}

const fn refusal(
    member: &'static str,
    at: fn(Element) -> bool,
    reason: &'static str,
    remedy: &'static str,
) -> Refusal {
    Refusal { member, at, reason, remedy }
}

const NO_JOB: &str = "only a service, send, script or business rule task, a call activity and an event that throws a \
                      message can be the job of a worker";
const MAKE_A_JOB: &str = "Make it a service task, or take the setting (`null`) out.";
const ONLY_CALLS: &str = "only a call activity calls a process";
const NO_CALL: &str = "Take the setting (`null`) out, or make it a call activity.";
const RULES_ONLY: &str = "Make it a business rule task, or take the setting (`null`) out.";
const MAPPED: &str = "Put the mapping at the task before or behind the gateway.";
const CAUGHT: &str = "Put the setting at the boundary or start event that catches.";

const fn calls(element: Element) -> bool {
    matches!(element, Element::CallActivity)
}

const fn decides(element: Element) -> bool {
    matches!(element, Element::BusinessRuleTask)
}

const fn gives_result(element: Element) -> bool {
    element.may_compute()
}

const fn maps(element: Element) -> bool {
    !element.is_gateway()
}

const fn repeats(element: Element) -> bool {
    element.is_activity()
}

const fn catches(element: Element) -> bool {
    matches!(element, Element::BoundaryEvent | Element::StartEvent)
}

const fn starts(element: Element) -> bool {
    matches!(element, Element::StartEvent)
}

const fn chooses(element: Element) -> bool {
    matches!(element, Element::AdHocSubProcess)
}

/// Members that would change what a node does.
const REFUSED: &[Refusal] = &[
    refusal("jobType", Element::may_be_a_job, NO_JOB, MAKE_A_JOB),
    refusal("headers", Element::may_be_a_job, NO_JOB, MAKE_A_JOB),
    refusal("inputs", maps, "a gateway has no variables of its own", MAPPED),
    refusal("outputs", maps, "a gateway has no variables of its own", MAPPED),
    refusal("propagateAllInputs", calls, ONLY_CALLS, NO_CALL),
    refusal("propagateAllOutputs", calls, ONLY_CALLS, NO_CALL),
    refusal("inheritBusinessKey", calls, ONLY_CALLS, NO_CALL),
    refusal("businessKey", calls, ONLY_CALLS, NO_CALL),
    refusal("ref", calls, ONLY_CALLS, NO_CALL),
    refusal("calledElement", calls, ONLY_CALLS, NO_CALL),
    refusal(
        "loop",
        repeats,
        "only an activity has a loop",
        "Put the setting at the activity that is to be repeated, or take it (`null`) out.",
    ),
    refusal(
        "activeElements",
        chooses,
        "only an ad-hoc sub-process has inner activities to choose from",
        "Take the setting (`null`) out, or make it an ad-hoc sub-process.",
    ),
    refusal(
        "resultVariable",
        gives_result,
        "only a task that computes has a result",
        "Make it a script or business rule task, or take the setting (`null`) out.",
    ),
    refusal("resultMapping", decides, "only a business rule task has the result of a decision", RULES_ONLY),
    refusal("decisionRef", decides, "only a business rule task evaluates a decision", RULES_ONLY),
    refusal(
        "source",
        Element::may_compute,
        "only a script, service, send or business rule task evaluates an expression",
        "Make it a script task, or take the setting (`null`) out.",
    ),
    refusal(
        "initiator",
        starts,
        "only a start event knows who started the run",
        "Put the setting at the start event, or take it (`null`) out.",
    ),
    refusal("errorCodeVariable", catches, "only an event that catches has something caught", CAUGHT),
    refusal("errorMessageVariable", catches, "only an event that catches has something caught", CAUGHT),
    refusal("escalationCodeVariable", catches, "only an event that catches has something caught", CAUGHT),
];

const OWN_VERSION: &str = "Take the setting (`null`) out, and put the decision that is meant with \
                           `PUT /api/workflows/{workflowId}/dmn/logic`.";

/// Members that every node may have: other checks know them.
const EVERYWHERE: &[&str] = &["kind", "retry", "listeners", "asyncBefore", "asyncAfter", "tool"];

/// Members of jobs: which form a node has, its other settings say.
const OF_JOBS: &[&str] = &["retry", "headers", "priority"];
/// Members of what a node does by itself, which a worker does where the node is a job.
const BESIDE_A_JOB: &[&str] = &[
    "source",
    "decisionRef",
    "resultMapping",
    "payload",
    "correlationKey",
    "errorMessage",
    "ref",
    "calledElement",
    "version",
    "versionTag",
    "versionPolicy",
    "propagateAllInputs",
    "propagateAllOutputs",
    "businessKey",
    "inheritBusinessKey",
];

const OF_USER_TASKS: &[&str] = &[
    "assignee",
    "candidateUsers",
    "candidateGroups",
    "laneCandidates",
    "dueDate",
    "followUpDate",
    "priority",
    "form",
    "outcomes",
    "inputs",
    "outputs",
];
const OF_START_EVENTS: &[&str] = &[
    "inputSchema",
    "form",
    "correlationKey",
    "initiator",
    "outputs",
    "errorCodeVariable",
    "errorMessageVariable",
    "escalationCodeVariable",
];
const OF_BOUNDARY_EVENTS: &[&str] =
    &["correlationKey", "outputs", "errorCodeVariable", "errorMessageVariable", "escalationCodeVariable"];
const OF_THROWING_EVENTS: &[&str] =
    &["correlationKey", "payload", "errorMessage", "jobType", "headers", "priority", "inputs"];
const OF_SEND_TASKS: &[&str] = &[
    "correlationKey",
    "payload",
    "jobType",
    "headers",
    "priority",
    "source",
    "resultVariable",
    "inputs",
    "outputs",
];
const OF_SERVICE_TASKS: &[&str] =
    &["jobType", "headers", "priority", "source", "resultVariable", "inputs", "outputs"];
const OF_RULE_TASKS: &[&str] = &[
    "decisionRef",
    "version",
    "versionTag",
    "versionPolicy",
    "resultVariable",
    "resultMapping",
    "jobType",
    "headers",
    "priority",
    "source",
    "inputs",
    "outputs",
];
const OF_CALLS: &[&str] = &[
    "ref",
    "calledElement",
    "version",
    "versionTag",
    "versionPolicy",
    "propagateAllInputs",
    "propagateAllOutputs",
    "businessKey",
    "inheritBusinessKey",
    "correlationKey",
    "jobType",
    "headers",
    "priority",
    "inputs",
    "outputs",
];

/// Members of the nodes that have settings of their own.
const fn own_settings(element: Element) -> &'static [&'static str] {
    match element {
        Element::UserTask => OF_USER_TASKS,
        Element::StartEvent => OF_START_EVENTS,
        Element::BoundaryEvent => OF_BOUNDARY_EVENTS,
        Element::IntermediateCatchEvent | Element::ReceiveTask => &["correlationKey", "inputs", "outputs"],
        Element::EndEvent | Element::IntermediateThrowEvent => OF_THROWING_EVENTS,
        Element::SendTask => OF_SEND_TASKS,
        Element::ServiceTask | Element::ScriptTask => OF_SERVICE_TASKS,
        Element::BusinessRuleTask => OF_RULE_TASKS,
        Element::CallActivity => OF_CALLS,
        Element::AdHocSubProcess => &["activeElements", "inputs", "outputs"],
        Element::Task | Element::ManualTask | Element::SubProcess | Element::Transaction => {
            &["inputs", "outputs"]
        }
        Element::ComplexGateway
        | Element::ExclusiveGateway
        | Element::InclusiveGateway
        | Element::ParallelGateway
        | Element::EventBasedGateway => &[],
    }
}

/// Elements that between them have all settings of their own that there are.
const WITH_SETTINGS: &[Element] = &[
    Element::UserTask,
    Element::StartEvent,
    Element::ReceiveTask,
    Element::SendTask,
    Element::BusinessRuleTask,
    Element::ScriptTask,
    Element::CallActivity,
    Element::AdHocSubProcess,
];

/// Members of one mapping of `inputs` or `outputs`.
const OF_A_MAPPING: &[&str] = &["name", "value"];

/// Whether a value asks for anything.
pub(super) fn asks(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    }
}

/// Most data stores of a process.
const MOST_STORES: usize = 64;

impl Builder<'_> {
    /// Tells of the data stores that runs share, of those that each run has for itself, and of too many.
    pub(super) fn check_stores(&mut self, graph: &Graph) {
        for DataStore { name, .. } in graph.stores() {
            let sentence = format!(
                "the data store `{name}` is the organisation's: the runs of all workflows that name it share its value"
            );
            let found = diagnostic::info("dataStoreShared", sentence).with_clause("10.4.1");
            self.diagnostics.push(found.with_element(&*graph.id));
        }
        if graph.stores().len() > MOST_STORES {
            let sentence = format!("the process reads and writes more than {MOST_STORES} data stores");
            self.refuse(&graph.id, "tooManyDataStores", sentence, "10.4.1");
        }
    }

    /// Warns of a data store without a name, which nothing outside of the run can mean.
    fn check_unnamed_stores(&mut self, content: &Process) {
        let ids = content.data_stores.iter().flatten().filter_map(|item| item.id.as_deref());
        let unnamed = |id: &&str| self.data.place(id).is_some_and(|place| place.store.is_none());
        let ids: Vec<&str> = ids.filter(unnamed).collect();
        for id in ids {
            let sentence =
                "a data store without a name keeps its values as long as the run; give it a name to share it";
            self.warn(id, "dataStoreOfRun", sentence, "10.4.1");
        }
    }

    /// Refuses settings that would be ignored, and warns of those without a bearing on the flow.
    pub(super) fn check_settings(&mut self, id: &str, element: Element, settings: &Map<String, Value>) {
        let given = |member: &str| settings.get(member).is_some_and(asks);
        let service = service_kind(settings);
        let is_own = |member: &str| service.is_some_and(|kind| kind.has(member));
        for Refusal { member, reason, remedy, .. } in
            REFUSED.iter().filter(|one| given(one.member) && !(one.at)(element) && !is_own(one.member))
        {
            let sentence = format!("{member}: {reason}");
            self.refuse_with(id, "unsupportedSetting", sentence, "10.3.1", remedy);
        }
        if element == Element::BusinessRuleTask {
            self.check_version(id, settings);
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

    /// Warns of settings that the element has and this form of it does not: those of jobs where no worker does the work,
    /// and those of the work where one does.
    pub(super) fn check_form(&mut self, id: &str, work: &Work, settings: &Map<String, Value>) {
        let is_agent = matches!(work, Work::AdHoc { rules, .. } if rules.agent.is_some());
        let is_job =
            is_agent || matches!(work, Work::Job(_) | Work::Throw(Throw::Job(_)) | Work::End(Throw::Job(_)));
        let (dead, reason) = if is_job {
            (BESIDE_A_JOB, "it has no effect here: a worker does the work, as the job that the node is")
        } else {
            (OF_JOBS, "it has no effect here: the node is not the job of a worker")
        };
        let service = service_kind(settings);
        let is_own = |member: &str| service.is_some_and(|kind| kind.has(member));
        for &member in dead.iter().filter(|member| settings.get(**member).is_some_and(asks)) {
            if is_own(member) {
                continue;
            }
            // A human task has a priority of its own, and only what may be a job is not refused its headers.
            if member == "priority" && matches!(work, Work::User(_)) {
                continue;
            }
            self.warn(id, "settingUnused", &format!("{member}: {reason}"), "10.3.1");
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
    pub(super) fn check_content_data(&mut self, is_process: bool, content: &Process) {
        let id = content.id.as_deref().unwrap_or_default();
        let looked_at = is_process && self.meaning.edition == Edition::Second;
        if !looked_at && (some(&content.input_sets) || some(&content.output_sets)) {
            let sentence = "the input and output sets of a process hold nothing back: what a run is started with is \
                            checked against `inputSchema`";
            self.warn(id, "dataSetsUnused", sentence, "10.4.2");
        }
        if some(&content.data_stores) && self.meaning.edition == Edition::First {
            let sentence = "a data store keeps its values as long as the run: each run has one of its own";
            self.warn(id, "dataStoreOfRun", sentence, "10.4.1");
        }
        if self.meaning.edition == Edition::Second {
            self.check_unnamed_stores(content);
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
            let key = correlation.name.as_deref().unwrap_or_default();
            if (own.is_none() || own != before) && !self.correlations.is_used(key) {
                let sentence =
                    "the correlation subscription finds no run: no message tells its correlation key";
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
    let found = REFUSED.iter().find(|one| one.member == member)?;
    element.is_some_and(|element| !(found.at)(element)).then_some(found.reason)
}

/// Members of `configuration` that the node's element does not have: an error for one that none has, a warning for one
/// that only others have.
///
/// Versions that were published with such a member run on, so that this is no part of the compilation.
#[must_use]
pub fn unknown_settings(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let mut found = idle_tools(definition);
    for at in nodes(definition) {
        let (Some(settings), Some(element)) = (&at.node.configuration, at.node.kind().and_then(Element::of))
        else {
            continue;
        };
        let id = at.node.element_id().unwrap_or_default();
        let service = inside::kind_at(at.node, element);
        for (member, value) in settings.iter().filter(|(_, value)| asks(value)) {
            let place = format!("{}.configuration.{member}", at.path);
            let one = match service {
                Some(kind) if kind.members.iter().any(|own| own.name == member) => None,
                Some(kind) if kind.place == Place::Task => unknown_member(kind, member),
                Some(_) | None => unknown_setting(element, member),
            };
            found.extend(one.map(|one| one.with_element(id).with_path(place)));
            let parts = match member.as_str() {
                "inputs" | "outputs" => OF_A_MAPPING,
                "listeners" => OF_A_LISTENER,
                _ => continue,
            };
            found.extend(unknown_parts(value, member, parts, &at.path).map(|one| one.with_element(id)));
        }
    }
    found
}

/// Warnings of tools that no agent has.
fn idle_tools(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let all = nodes(definition);
    let agents = all.iter().filter(|at| inside::agent_of(at.node));
    let contents = agents.filter_map(|at| at.node.bpmn.as_deref()?.sub_process.as_deref());
    let tools =
        contents.flat_map(|content| content.nodes.iter().flatten().filter_map(|node| node.element_id()));
    let tools: HashSet<&str> = tools.collect();
    let told = |settings: &Map<String, Value>| settings.get("tool").is_some_and(asks);
    let is_idle = |node: &heddle_bpmn::model::Node| {
        let is_tool = node.element_id().is_some_and(|id| tools.contains(id));
        node.configuration.as_ref().is_some_and(told) && !is_tool
    };
    let idle = all.iter().filter(|at| is_idle(at.node));
    let warning = |id: &str, path: &str| {
        let sentence = "tool: it has no effect here: only an activity of an agent is a tool";
        let found = diagnostic::warning("settingUnused", sentence).with_clause("10.3.5");
        found.with_element(id).with_path(format!("{path}.configuration.tool"))
    };
    idle.map(|at| warning(at.node.element_id().unwrap_or_default(), &at.path)).collect()
}

/// Whether a definition asks for protection: by a preset, or by checks of its own.
fn protects(definition: &WorkflowDefinition) -> bool {
    definition.protection.as_ref().is_some_and(|own| {
        own.preset.as_deref().is_some_and(|preset| preset != "off") || some(&own.custom_checks)
    })
}

/// Whether a definition holds what means something else in a version that was published under earlier rules.
#[must_use]
pub fn depends_on_edition(definition: &WorkflowDefinition) -> bool {
    let branched = |edge: &Edge| edge.branch.as_deref().is_some_and(|own| !own.trim().is_empty());
    if protects(definition)
        || bindings::are_in(definition)
        || definition.bpmn.as_deref().is_some_and(|bpmn| some(&bpmn.data_stores))
        || graphs(definition).into_iter().any(|graph| graph.edges.iter().any(branched))
    {
        return true;
    }
    let keeps = |own: &Process| some(&own.data_stores) || some(&own.input_sets) || some(&own.output_sets);
    if graphs(definition).into_iter().filter_map(|graph| graph.process).any(keeps) {
        return true;
    }
    let follows_up = |settings: &Map<String, Value>| settings.get("followUpDate").is_some_and(asks);
    nodes(definition).into_iter().any(|at| at.node.configuration.as_ref().is_some_and(follows_up))
}

/// A call activity that calls no process of its own definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallElsewhere {
    /// Id of a process or a case, or slug or id of a definition.
    pub name: String,
    /// Id of the activity.
    pub element_id: String,
    /// Path of the name in the definition.
    pub path: String,
}

/// The call activities of a definition that call no process of it: what they name must be there, published, when they are
/// reached. One whose name is computed tells it only then.
#[must_use]
pub fn calls_elsewhere(definition: &WorkflowDefinition) -> Vec<CallElsewhere> {
    let bpmn = definition.bpmn.as_deref();
    let processes = bpmn.and_then(|bpmn| bpmn.processes.as_deref()).unwrap_or_default();
    let globals = bpmn.map(|bpmn| global_tasks(bpmn).0).unwrap_or_default();
    let own: HashSet<&str> =
        processes.iter().chain(&globals).filter_map(|process| process.id.as_deref()).collect();
    let mut found = Vec::new();
    for at in nodes(definition).iter().filter(|at| at.node.is(ElementKind::CallActivity)) {
        let settings = at.node.configuration.as_ref();
        let text = |member: &str| settings.and_then(|own| own.get(member)).and_then(Value::as_str);
        let given = |member: &str| text(member).filter(|own| !own.is_empty());
        if given("jobType").is_some() {
            continue;
        }
        let called = at.node.bpmn.as_deref().and_then(|bpmn| bpmn.called_element.as_deref());
        let Some(wanted) = given("ref").or(given("calledElement")).or(called) else { continue };
        let wanted = wanted.trim();
        let computed = wanted.starts_with(['=', '$', '#']);
        if !wanted.is_empty() && !computed && !own.contains(wanted) {
            let element_id = at.node.element_id().unwrap_or_default().to_owned();
            let path = format!("{}.bpmn.calledElement", at.path);
            found.push(CallElsewhere { name: wanted.to_owned(), element_id, path });
        }
    }
    found
}

/// The finding about a member that a node kind of the service does not have.
fn unknown_member(kind: &ServiceKind, member: &str) -> Option<Diagnostic> {
    // What is known and not executed there is told by the compilation.
    if kind.has(member) || EVERYWHERE.contains(&member) || REFUSED.iter().any(|one| one.member == member) {
        return None;
    }
    let own: Vec<&str> = kind.members.iter().map(|own| own.name).collect();
    let sentence =
        format!("{member}: there is no such setting; the kind `{}` has {}", kind.name, own.join(", "));
    Some(diagnostic::error("unknownSetting", sentence).with_clause("10.3.1"))
}

fn unknown_setting(element: Element, member: &str) -> Option<Diagnostic> {
    let own = own_settings(element);
    // What the compilation refuses or honours is known.
    let known = REFUSED.iter().any(|one| one.member == member);
    if known || own.contains(&member) || EVERYWHERE.contains(&member) {
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
    parts: &'static [&'static str],
    path: &'v str,
) -> impl Iterator<Item = Diagnostic> + 'v {
    let items = value.as_array().into_iter().flatten().enumerate();
    items.flat_map(move |(at, item)| {
        let members = item.as_object().into_iter().flat_map(Map::keys);
        members.filter(move |member| !parts.contains(&member.as_str())).map(move |member| {
            let sentence =
                format!("{list}[{at}].{member}: there is no such member; there are {}", parts.join(", "));
            diagnostic::error("unknownSetting", sentence)
                .with_path(format!("{path}.configuration.{list}[{at}].{member}"))
                .with_clause("10.3.1")
        })
    })
}

/// Warns of the correlation keys that no message can tell, each one by itself.
pub(super) fn correlation_keys(bpmn: &Bpmn, correlations: &Correlations) -> Vec<Diagnostic> {
    let unused = |key: &CorrelationKey| {
        let sentence = "the correlation key is not computed: no message has a retrieval expression for each of its \
                        properties";
        let mut found = diagnostic::warning("correlationUnused", sentence).with_clause("8.4.2");
        found.element_id.clone_from(&key.id);
        found
    };
    let used = |key: &&CorrelationKey| !correlations.is_used(key.id.as_deref().unwrap_or_default());
    keys(bpmn).into_iter().filter(used).map(unused).collect()
}
