//! Work that the service does itself, agents, and protection before and after nodes.

use super::activity::{JobTask, Listener, ListenerPlace, ListenerWork, Listeners};
use super::compile::Builder;
use super::events::Refused;
use super::{Element, NodeIx, Setting, Throw, Work};
use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{Node, NodeBpmn, WorkflowDefinition, nodes};
use heddle_guardrails::{Policy, Stage};
use heddle_settings::inside::{InsideKind, add_to_header, tool};
use heddle_settings::service::{Place, ServiceKind, is_own_type, kind_of_name, kind_of_type, service_kind};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Most tools of an agent.
const MOST_TOOLS: usize = 100;

/// The service's own kind that a node names; none for another kind.
pub(super) fn kind_of(node: &Node) -> Option<&'static ServiceKind> {
    service_kind(node.configuration.as_ref()?)
}

/// The service's own kind that a node names, where its element can have it.
pub(super) fn kind_at(node: &Node, element: Element) -> Option<&'static ServiceKind> {
    kind_of(node).filter(|kind| is_at(kind, element))
}

/// Whether a node is an agent.
pub(super) fn agent_of(node: &Node) -> bool {
    kind_of(node).is_some_and(|kind| kind.inside == Some(InsideKind::Agent))
}

/// Whether an element can have work of a kind.
pub(super) const fn is_at(kind: &ServiceKind, element: Element) -> bool {
    match kind.place {
        Place::Task => matches!(element, Element::ServiceTask),
        Place::AdHoc => matches!(element, Element::AdHocSubProcess),
        Place::Beside => false,
    }
}

/// The elements that can have work of a kind, in words; none for work that no node is.
pub(super) const fn place_of(kind: &ServiceKind) -> Option<&'static str> {
    match kind.place {
        Place::Task => Some("service tasks"),
        Place::AdHoc => Some("ad-hoc sub-processes"),
        Place::Beside => None,
    }
}

/// The service's own kind of a job; none for the job of a worker.
fn kind_of_job(task: &JobTask) -> Option<&'static ServiceKind> {
    let Setting::Literal(Value::String(job_type)) = &task.job_type else { return None };
    kind_of_name(kind_of_type(job_type)?)
}

/// Whether a job does its own protection.
fn protects_itself(task: &JobTask) -> bool {
    kind_of_job(task).is_some_and(|kind| kind.inside.is_some())
}

/// Sides of a node at which protection looks.
#[derive(Clone, Copy, Default)]
struct Sides {
    before: bool,
    after: bool,
}

/// Sides of a node at which data go in from the run, and come out of it from outside. What asks models or judges values is
/// protected where it is done, and a sub-process by what is in it.
fn sides(work: &Work) -> Sides {
    const BOTH: Sides = Sides { before: true, after: true };
    match work {
        Work::Job(task) if protects_itself(task) => Sides::default(),
        Work::User(_) | Work::Decision(_) | Work::Script(_) | Work::Job(_) | Work::Call(_) => BOTH,
        Work::Throw(Throw::Message(_) | Throw::Job(_)) | Work::End(Throw::Message(_) | Throw::Job(_)) => {
            Sides { before: true, after: false }
        }
        Work::Receive(_) | Work::Catch(_) => Sides { before: false, after: true },
        Work::Start(start) => Sides { before: false, after: start.event_sub_process.is_none() },
        Work::Throw(_)
        | Work::End(_)
        | Work::Boundary { .. }
        | Work::Pass
        | Work::SubProcess(_)
        | Work::Transaction(_)
        | Work::AdHoc { .. }
        | Work::EventSubProcess { .. } => Sides::default(),
    }
}

/// Settings of what the service does itself with which a version is not published. Versions that were published with them
/// run on, so that this is no part of the compilation.
#[must_use]
pub fn service_settings(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let protection = definition.protection.as_ref();
    let checks = protection.and_then(|own| own.custom_checks.as_deref()).unwrap_or_default();
    // What is wrong with it is told elsewhere.
    let policy = Policy::read(protection.and_then(|own| own.preset.as_deref()), checks);
    let mut found = Vec::new();
    for at in nodes(definition) {
        let (Some(settings), Some(element)) = (&at.node.configuration, at.node.kind().and_then(Element::of))
        else {
            continue;
        };
        let Some(kind) = kind_at(at.node, element).and_then(|kind| kind.inside) else { continue };
        let id = at.node.element_id().unwrap_or_default();
        for fault in kind.unpublishable(id, settings, policy.as_ref().ok()) {
            let one = diagnostic::error("wrongSetting", fault.sentence).with_clause("10.3.3.1");
            let place = format!("{}.configuration.{}", at.path, fault.member);
            found.push(one.with_element(id).with_path(place));
        }
    }
    found
}

impl Builder<'_> {
    /// The job of what the service does itself; none where the node asks for no such work.
    pub(super) fn inside_job(
        &mut self,
        ix: NodeIx,
        element: Element,
        node: &Node,
    ) -> Result<Option<JobTask>, Refused> {
        let kind = kind_at(node, element).filter(|kind| kind.place == Place::Task);
        let (Some(kind), Some(settings)) = (kind, &node.configuration) else { return Ok(None) };
        let id = self.nodes.get(ix as usize).map(|node| node.id.to_string()).unwrap_or_default();
        match kind.read(&id, settings) {
            Ok(mut task) => {
                if kind.inside.is_some() {
                    self.tell_protection(&mut task);
                }
                Ok(Some(task))
            }
            Err(wrong) => Err(self.all_but_last(ix, wrong)),
        }
    }

    /// Adds what the definition protects by to the header of a job.
    fn tell_protection(&self, task: &mut JobTask) {
        if !self.policy.is_on() {
            return;
        }
        let Some(protection) = &self.definition.protection else { return };
        let mut own = Map::new();
        if let Some(preset) = &protection.preset {
            own.insert("preset".to_owned(), preset.clone().into());
        }
        if let Some(checks) = &protection.custom_checks {
            own.insert("customChecks".to_owned(), checks.clone().into());
        }
        add_to_header(task, "protection", Value::Object(own));
    }

    /// The turns of an agent, with the tools that its inner activities are.
    pub(super) fn agent(&mut self, node: &Node, bpmn: &NodeBpmn) -> Result<Arc<JobTask>, Refused> {
        let id = node.element_id().unwrap_or_default();
        let empty = Map::new();
        let settings = node.configuration.as_ref().unwrap_or(&empty);
        let read = kind_of(node).map(|kind| kind.read(id, settings));
        let mut task = match read.unwrap_or_else(|| Err(Vec::new())) {
            Ok(task) => task,
            Err(mut wrong) => {
                let last = wrong.pop().unwrap_or_default();
                for (code, sentence, clause) in wrong {
                    self.refuse(id, code, sentence, clause);
                }
                return Err(last);
            }
        };
        for member in ["maxToolCalls", "maxTotalTokens", "timeoutSeconds"] {
            if settings.get(member).is_none_or(Value::is_null) {
                let sentence = format!("{member}: the agent has no cap of its own; the usual one holds");
                self.warn(id, "capMissing", &sentence, "10.3.5");
            }
        }
        let inner = bpmn.sub_process.iter().flat_map(|content| content.nodes.iter().flatten());
        let inner: Vec<&Node> = inner.collect();
        let mut tools: Vec<Value> = Vec::new();
        for own in &inner {
            let Some(told) = own.configuration.as_ref().and_then(|own| own.get("tool")) else { continue };
            let name = own.element_id().unwrap_or_default();
            let read = tool(name, told)?;
            self.check_approval(&read, &inner)?;
            if tools.iter().any(|other| other.get("name") == read.get("name")) {
                let sentence = format!("two tools of the agent have the name of the tool `{name}`");
                return Err(("wrongTool", sentence, "10.3.5"));
            }
            tools.push(read);
        }
        if tools.len() > MOST_TOOLS {
            return Err(("wrongTool", format!("an agent has at most {MOST_TOOLS} tools"), "10.3.5"));
        }
        if tools.is_empty() {
            let sentence = "the agent has no tools: give inner activities a `tool` with a description";
            self.warn(id, "agentWithoutTools", sentence, "10.3.5");
        }
        add_to_header(&mut task, "tools", Value::Array(tools));
        self.tell_protection(&mut task);
        Ok(Arc::new(task))
    }

    /// Checks that the approval of a tool is an inner human task which can say no.
    fn check_approval(&self, tool: &Value, inner: &[&Node]) -> Result<(), Refused> {
        let Some(wanted) = tool.get("approval").and_then(Value::as_str) else { return Ok(()) };
        let task = inner.iter().find(|own| own.element_id() == Some(wanted) && own.is(ElementKind::UserTask));
        let outcomes = task.and_then(|own| own.configuration.as_ref()?.get("outcomes")?.as_array());
        let is_there = |name: &str| {
            outcomes.is_some_and(|all| {
                all.iter().any(|own| own.as_str().or_else(|| own.get("name")?.as_str()) == Some(name))
            })
        };
        if !(is_there("approve") && is_there("reject")) {
            let sentence = format!(
                "tool.approval: `{wanted}` must be a user task of the same agent with the outcomes `approve` and `reject`"
            );
            return Err(("wrongTool", sentence, "10.3.5"));
        }
        // Its outcome of before would stand for the decision that nobody made.
        let ends = |bpmn: &NodeBpmn| {
            bpmn.attached_to_ref.as_deref() == Some(wanted) && bpmn.cancel_activity != Some(false)
        };
        if inner.iter().any(|own| own.bpmn.as_deref().is_some_and(ends)) {
            let sentence = format!(
                "tool.approval: a boundary event ends `{wanted}` without a decision: take one that does not interrupt it"
            );
            return Err(("wrongTool", sentence, "10.3.5"));
        }
        Ok(())
    }

    /// Adds the protection of the definition around the work of a node.
    pub(super) fn protect(&mut self, ix: NodeIx, work: Option<&Work>) {
        if !self.policy.is_on() {
            return;
        }
        let (Some(node), Some(work)) = (self.nodes.get(ix as usize), work) else { return };
        let sides = sides(work);
        let id = node.id.to_string();
        let names = |list: Option<Vec<String>>| list.filter(|names| !names.is_empty());
        let mappings = node.mappings.as_deref();
        let inputs =
            names(mappings.map(|own| own.inputs.iter().map(|one| one.0.variable.to_string()).collect()));
        let outputs =
            names(mappings.map(|own| own.outputs.iter().map(|one| one.0.variable.to_string()).collect()));
        let listener = |stage: Stage, names: Option<&[String]>| {
            let mut task = InsideKind::protection(&id, stage.as_str(), names)?;
            self.tell_protection(&mut task);
            let place = if stage == Stage::Input { ListenerPlace::Start } else { ListenerPlace::End };
            Some(Listener { place, work: ListenerWork::Job(Arc::new(task)), timer: None })
        };
        let before = (sides.before && self.policy.concerns(&id, Stage::Input))
            .then(|| listener(Stage::Input, inputs.as_deref()))
            .flatten();
        let after = (sides.after && self.policy.concerns(&id, Stage::Output))
            .then(|| listener(Stage::Output, outputs.as_deref()))
            .flatten();
        if before.is_none() && after.is_none() {
            return;
        }
        // What other listeners set before the work is looked at, too, and they see nothing behind it that was not.
        let mut all: Vec<Listener> = after.into_iter().collect();
        all.extend(node.listeners.iter().flat_map(|own| own.all.iter().cloned()));
        all.extend(before);
        if let Some(node) = self.nodes.get_mut(ix as usize) {
            node.listeners = Some(Arc::new(Listeners { all }));
        }
    }

    /// Refuses a job of a reserved type that the settings name themselves.
    pub(super) fn check_reserved(&mut self, id: &str, task: &JobTask) {
        if matches!(&task.job_type, Setting::Literal(Value::String(own)) if is_own_type(own)) {
            let sentence =
                "jobType: the type is one of the service's own jobs, which no worker gets".to_owned();
            self.refuse(id, "wrongSetting", sentence, "10.3.3.1");
        }
    }
}
