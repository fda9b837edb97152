//! Work of each node, or the reason for its refusal.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::activity::JobTask;
use super::calculation::{self, DecisionTask, ScriptTask};
use super::compile::{Builder, Raw};
use super::events::{Refusals, Refused, caught};
use super::inside;
use super::meaning::{Edition, Lanes};
use super::resources;
use super::settings::{Setting, UserTask};
use super::words::{self, Script};
use super::{Element, Instantiates, NodeIx, ScopeIx, Start, Throw, Trigger, Work, element};
use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::model::{Node, NodeBpmn};
use heddle_settings::ReadCall;
use heddle_settings::service::kind_of_name;
use std::sync::Arc;

impl Builder<'_> {
    /// The work of a node; `None` when it was refused.
    pub(super) fn work(&mut self, ix: NodeIx, raw: &Raw<'_>) -> Option<Work> {
        let node = raw.node;
        let id = self.nodes[ix as usize].id.clone();
        let element = self.nodes[ix as usize].element;
        let before = self.diagnostics.len();
        let activity = node.bpmn.as_deref().and_then(|bpmn| bpmn.activity.as_ref());
        self.nodes[ix as usize].for_compensation =
            element.is_activity() && activity.and_then(|own| own.for_compensation) == Some(true);
        match caught(node) {
            Ok(own) => self.nodes[ix as usize].caught = own.map(Arc::new),
            Err(refused) => self.refuse_all(&id, refused),
        }
        if let Some(bpmn) = node.bpmn.as_deref() {
            self.check_activity(&id, element, bpmn);
        }
        self.repetition(ix, element, node);
        self.check_implementation(&id, element, node);
        self.check_extensions(&id, node, raw.event_sub_process.is_some());
        let work = match self.job_or_work(ix, element, raw) {
            Ok(work) => Some(work),
            Err(refused) => {
                self.refuse_all(&id, refused);
                None
            }
        };
        if let (Some(work), Some(settings)) = (&work, &node.configuration) {
            self.check_form(&id, work, settings);
        }
        self.around(ix, node.configuration.as_ref(), work.as_ref());
        self.protect(ix, work.as_ref());
        let errors = self.diagnostics[before..].iter().any(Diagnostic::is_error);
        if errors {
            // A task that is refused does not complete at once.
            let mut at = 0;
            self.diagnostics.retain(|found| {
                at += 1;
                at <= before || found.code != "taskCompletesAtOnce"
            });
        }
        work.filter(|_| !errors)
    }

    /// The job of a worker, where the settings or the model ask for one, else the work of the element.
    fn job_or_work(&mut self, ix: NodeIx, element: Element, raw: &Raw<'_>) -> Result<Work, Refusals> {
        if let Some(task) = self.inside_job(ix, element, raw.node)? {
            return Ok(Work::Job(Arc::new(task)));
        }
        let asked = match &raw.node.configuration {
            Some(settings) if element.may_be_a_job() => JobTask::read(settings)?,
            _ => None,
        };
        let decided = raw.node.element_id().is_some_and(|id| self.decisions.contains_key(id));
        let job = match asked {
            None if !decided => words::service(element, raw.node)?,
            asked => asked,
        };
        let Some(job) = job.map(Arc::new) else { return self.work_of(ix, element, raw) };
        let id = self.nodes[ix as usize].id.clone();
        self.needs_worker(&id, &job);
        self.check_reserved(&id, &job);
        if !matches!(element, Element::EndEvent | Element::IntermediateThrowEvent) {
            return Ok(Work::Job(job));
        }
        let mut events = raw.node.bpmn.iter().flat_map(|bpmn| bpmn.event_definitions.iter().flatten());
        if events.any(|event| event.kind() != Some("message")) {
            let sentence = "jobType: only a message event is the job of a worker".to_owned();
            return Err(("wrongSetting", sentence, "10.5.5.3").into());
        }
        let throw = Throw::Job(job);
        Ok(if element == Element::EndEvent { Work::End(throw) } else { Work::Throw(throw) })
    }

    fn work_of(&mut self, ix: NodeIx, element: Element, raw: &Raw<'_>) -> Result<Work, Refusals> {
        let node = raw.node;
        let empty = NodeBpmn::default();
        let bpmn = node.bpmn.as_deref().unwrap_or(&empty);
        Ok(match element {
            Element::StartEvent => Work::Start(self.start(raw, bpmn)?),
            Element::EndEvent => Work::End(self.throw(node, true)?),
            Element::IntermediateThrowEvent => Work::Throw(self.throw(node, false)?),
            Element::IntermediateCatchEvent => Work::Catch(self.catch(node)?),
            Element::BoundaryEvent => self.boundary(ix, raw, bpmn)?,
            Element::Task | Element::ManualTask => self.bare(ix, element),
            Element::ServiceTask | Element::ScriptTask => self.script(ix, element, node)?,
            Element::BusinessRuleTask | Element::SendTask if computes_feel(node) => {
                self.script(ix, element, node)?
            }
            Element::BusinessRuleTask => {
                let linked = node.element_id().and_then(|id| self.decisions.get(id)).copied();
                match DecisionTask::read(node.configuration.as_ref(), linked)? {
                    Some(decision) => Work::Decision(Arc::new(decision)),
                    None => self.bare(ix, element),
                }
            }
            Element::SendTask => match bpmn.message_ref.as_deref() {
                None if self.flow_message(node).is_none() => self.bare(ix, element),
                reference => Work::Throw(Throw::Message(Arc::new(self.message(node, reference)?))),
            },
            Element::ReceiveTask => {
                let starts = bpmn.instantiate == Some(true);
                self.nodes[ix as usize].instantiates = starts.then_some(Instantiates::First);
                Work::Receive(match bpmn.message_ref.as_deref() {
                    None if !starts && self.flow_message(node).is_none() => None,
                    reference => Some(Arc::new(self.message(node, reference)?)),
                })
            }
            Element::UserTask => Work::User(Arc::new(self.user_task(raw, bpmn)?)),
            // What a gateway does is its join and split rule.
            Element::ExclusiveGateway | Element::InclusiveGateway | Element::ParallelGateway => Work::Pass,
            Element::ComplexGateway => {
                let text = bpmn.activation_condition.as_deref().filter(|text| !text.trim().is_empty());
                if text.is_some() {
                    let condition = self.condition_of(text, None, "10.6.5")?;
                    self.nodes[ix as usize].activation = Some(Arc::new(condition));
                }
                Work::Pass
            }
            Element::CallActivity => {
                let read = ReadCall::read(node.configuration.as_ref(), bpmn.called_element.as_deref());
                let ReadCall { task, mappings } = read?;
                self.nodes[ix as usize].mappings = mappings;
                Work::Call(Arc::new(task))
            }
            Element::AdHocSubProcess => self.ad_hoc(raw, bpmn)?,
            Element::Transaction => self.transaction(raw, bpmn),
            Element::EventBasedGateway => {
                self.nodes[ix as usize].instantiates = event_based(bpmn)?;
                Work::Pass
            }
            Element::SubProcess => self.sub_process(raw, bpmn)?,
        })
    }

    /// The script of a task: FEEL, a script that is translated to it, or the job of a worker.
    fn script(&mut self, ix: NodeIx, element: Element, node: &Node) -> Result<Work, Refusals> {
        let settings = node.configuration.as_ref();
        let activity = node.bpmn.as_ref().and_then(|bpmn| bpmn.activity.as_ref());
        let script = activity.and_then(|own| own.script.as_deref());
        let format = activity.and_then(|own| own.script_format.as_deref());
        if element == Element::ScriptTask {
            match words::script(settings, script, format)? {
                Some(Script::Feel(task)) => return Ok(Work::Script(Arc::new(task))),
                Some(Script::Job(job)) => {
                    let id = self.nodes[ix as usize].id.clone();
                    self.needs_worker(&id, &job);
                    return Ok(Work::Job(Arc::new(job)));
                }
                None => {}
            }
        } else if !computes_feel(node) {
            return Ok(self.bare(ix, element));
        }
        Ok(match ScriptTask::read(settings, script, format)? {
            Some(script) => Work::Script(Arc::new(script)),
            None => self.bare(ix, element),
        })
    }

    fn sub_process(&mut self, raw: &Raw<'_>, bpmn: &NodeBpmn) -> Result<Work, Refused> {
        let scope: ScopeIx = raw.content.unwrap_or_default();
        match (bpmn.is_transaction == Some(true), bpmn.triggered_by_event == Some(true)) {
            (false, false) => Ok(Work::SubProcess(scope)),
            // The start event is known when all nodes are compiled.
            (false, true) => Ok(Work::EventSubProcess { scope, start: NodeIx::MAX }),
            (true, false) => Ok(self.transaction(raw, bpmn)),
            (true, true) => {
                let sentence = "an event sub-process is no transaction".to_owned();
                Err(("unsupportedElement", sentence, "10.3.5"))
            }
        }
    }

    /// Refuses a node for each of several reasons but the last, which is given back.
    pub(super) fn all_but_last(&mut self, ix: NodeIx, mut wrong: Vec<Refused>) -> Refused {
        let id = self.nodes[ix as usize].id.clone();
        let last = wrong.pop().unwrap_or_default();
        for (code, sentence, clause) in wrong {
            self.refuse(&id, code, sentence, clause);
        }
        last
    }

    fn start(&self, raw: &Raw<'_>, bpmn: &NodeBpmn) -> Result<Start, Refusals> {
        let mut refused = Refusals::default();
        let interrupting = bpmn.is_interrupting != Some(false);
        let trigger = refused.part(self.start_trigger(raw, interrupting));
        let settings = raw.node.configuration.as_ref();
        let initiator = settings.and_then(|own| refused.part(calculation::text(own, "initiator"))).flatten();
        let event_sub_process = raw.event_sub_process;
        let (trigger, initiator) = (trigger.flatten(), initiator.map(Arc::from));
        refused.unless_any(Start { trigger, interrupting, event_sub_process, initiator })
    }

    fn start_trigger(&self, raw: &Raw<'_>, interrupting: bool) -> Result<Option<Trigger>, Refusals> {
        let trigger = self.trigger(raw.node)?;
        let wrong = |sentence: &str| Err(Refusals::from(("unsupportedEvent", sentence.to_owned(), "10.5.2")));
        match (&trigger, raw.event_sub_process) {
            (None, Some(_)) => wrong("the start event of an event sub-process needs a trigger"),
            (Some(_), None) if raw.scope != super::ROOT => {
                wrong("the start event of an embedded sub-process must have no trigger")
            }
            (Some(Trigger::Link(_)), _) => wrong("a link starts nothing"),
            (Some(Trigger::Several(several)), None)
                if several.triggers.iter().any(|own| {
                    !matches!(
                        own,
                        Trigger::Message(_)
                            | Trigger::Timer(_)
                            | Trigger::Signal(_)
                            | Trigger::Conditional(_)
                    )
                }) =>
            {
                wrong("a process is started by messages, timers, signals and conditions alone")
            }
            (Some(Trigger::Error(_)), None) => wrong("an error cannot start a process"),
            (Some(Trigger::Error(_)), Some(_)) if !interrupting => {
                wrong("an error start event always interrupts")
            }
            (Some(Trigger::Escalation(_)), None) => wrong("an escalation cannot start a process"),
            (Some(Trigger::Compensation), None) => wrong("compensation cannot start a process"),
            (Some(Trigger::Cancel), _) => {
                wrong("a cancel event stands at the boundary of a transaction only")
            }
            _ => Ok(trigger),
        }
    }

    fn catch(&self, node: &Node) -> Result<Trigger, Refusals> {
        let wrong = |sentence: &str| Err(Refusals::from(("unsupportedEvent", sentence.to_owned(), "10.5.4")));
        match self.trigger(node)? {
            None => wrong("a catch event needs an event definition"),
            Some(Trigger::Error(_)) => wrong("an error is caught at a boundary only"),
            Some(Trigger::Escalation(_)) => {
                wrong("an escalation is caught at a boundary or by an event sub-process only")
            }
            Some(Trigger::Compensation) => {
                wrong("compensation is caught at a boundary or by an event sub-process only")
            }
            Some(Trigger::Cancel) => wrong("a cancel event is caught at the boundary of a transaction only"),
            Some(Trigger::Timer(timer)) if timer.is_endless() => {
                wrong("the cycle of a catch event needs a count or an end, else the event never completes")
            }
            Some(trigger) => Ok(trigger),
        }
    }

    fn boundary(&mut self, ix: NodeIx, raw: &Raw<'_>, bpmn: &NodeBpmn) -> Result<Work, Refusals> {
        let mut refused = Refusals::default();
        let interrupting = bpmn.cancel_activity != Some(false);
        let trigger = refused.part(self.boundary_trigger(raw.node, interrupting));
        let host = refused.part(self.host(raw, bpmn));
        match (trigger, host) {
            (Some(trigger), Some(Some(host))) => {
                self.nodes[host as usize].boundary.push(ix);
                Ok(Work::Boundary { host, interrupting, trigger })
            }
            (Some(_), Some(None)) => Ok(Work::Pass),
            (None, _) | (_, None) => Err(refused),
        }
    }

    fn boundary_trigger(&self, node: &Node, interrupting: bool) -> Result<Trigger, Refusals> {
        let wrong = |sentence: &str| Err(Refusals::from(("unsupportedEvent", sentence.to_owned(), "10.5.4")));
        match self.trigger(node)? {
            None => wrong("a boundary event needs a trigger"),
            Some(Trigger::Link(_)) => wrong("a link is no boundary event"),
            Some(Trigger::Error(_)) if !interrupting => wrong("an error boundary event always interrupts"),
            Some(Trigger::Cancel) if !interrupting => wrong("a cancel boundary event always interrupts"),
            Some(trigger) => Ok(trigger),
        }
    }

    /// The activity of a boundary event; none when it is refused itself: what is wrong with the event is told all the same.
    fn host(&self, raw: &Raw<'_>, bpmn: &NodeBpmn) -> Result<Option<NodeIx>, Refused> {
        let id = bpmn.attached_to_ref.as_deref();
        let Some(host) = id.and_then(|id| self.node_ids.get(id)).copied() else {
            if id.and_then(|id| self.refused.get(id)) == Some(&raw.scope) {
                return Ok(None);
            }
            let sentence = "the boundary event is attached to no activity".to_owned();
            return Err(("danglingReference", sentence, "10.5.4"));
        };
        let activity = &self.nodes[host as usize];
        if !activity.element.is_activity() || activity.scope != raw.scope {
            let sentence = "a boundary event stands on an activity of its own scope".to_owned();
            return Err(("unsupportedEvent", sentence, "10.5.4"));
        }
        Ok(Some(host))
    }

    fn user_task(&mut self, raw: &Raw<'_>, bpmn: &NodeBpmn) -> Result<UserTask, Refused> {
        let id = raw.node.element_id().unwrap_or_default();
        let kept;
        let configuration = match (self.meaning.edition, raw.node.configuration.as_ref()) {
            (Edition::First, Some(own)) if own.contains_key("followUpDate") => {
                let mut own = own.clone();
                own.remove("followUpDate");
                kept = own;
                Some(&kept)
            }
            (Edition::First | Edition::Second, own) => own,
        };
        match UserTask::read(configuration, raw.lane) {
            Ok(mut task) => {
                let roles = bpmn.resources.as_deref().unwrap_or_default();
                let bound = self.extensions.bindings.of_activity(id);
                resources::assign(&mut task, roles, self.resources, bound)
                    .map_err(|sentence| ("wrongSetting", format!("resources: {sentence}"), "10.3.4.1"))?;
                match raw.lane.filter(|_| task.is_open()).map(|lane| (self.meaning.lanes, lane)) {
                    Some((Lanes::Groups, lane)) => {
                        task.candidate_groups = Some(Setting::Literal(lane.into()));
                    }
                    Some((Lanes::Drawn, lane)) => {
                        let sentence = format!(
                            "the task is for everybody who may complete tasks: its lane `{lane}` names no candidates"
                        );
                        let found = diagnostic::info("laneNotCandidates", sentence).with_clause("10.8");
                        self.diagnostics.push(found.with_element(id));
                    }
                    None => {}
                }
                Ok(task)
            }
            Err(mut wrong) => {
                let last = wrong.pop().unwrap_or_default();
                wrong.into_iter().for_each(|one| self.refuse(id, "wrongSetting", one, "10.3.4.1"));
                Err(("wrongSetting", last, "10.3.4.1"))
            }
        }
    }

    /// A task without an executor, which completes at once.
    fn bare(&mut self, ix: NodeIx, element: Element) -> Work {
        if matches!(
            element,
            Element::ServiceTask | Element::SendTask | Element::ScriptTask | Element::BusinessRuleTask
        ) {
            let id = self.nodes[ix as usize].id.clone();
            let sentence = format!("the {} has no implementation and completes at once", element.name());
            self.diagnostics.push(diagnostic::info("taskCompletesAtOnce", sentence).with_element(&*id));
        }
        Work::Pass
    }

    /// Compensation and default flows, which every activity can carry.
    fn check_activity(&mut self, id: &str, element: Element, bpmn: &NodeBpmn) {
        let Some(activity) = &bpmn.activity else { return };
        if !element.is_activity() && activity.default_flow.is_some() {
            self.warn(id, "defaultFlowUnused", "only an activity has a default flow in `activity`", "10.3.1");
        }
    }

    /// Settings that ask for an executor which is not there.
    fn check_implementation(&mut self, id: &str, element: Element, node: &Node) {
        let kind = node.configuration.as_ref().and_then(|own| own.get("kind")).and_then(|kind| kind.as_str());
        match kind {
            Some(kind) if element == Element::UserTask && kind.starts_with("human.") => {}
            Some("dmn") if element == Element::BusinessRuleTask => {}
            Some("feel") if element.may_compute() => {}
            Some("workflow") if element == Element::CallActivity => {}
            Some(kind) if kind_of_name(kind).is_some_and(|own| inside::is_at(own, element)) => {}
            Some(kind) => {
                let place = match kind {
                    "feel" => Some("script, service, send and business rule tasks"),
                    "dmn" => Some("business rule tasks"),
                    "workflow" => Some("call activities"),
                    kind if kind.starts_with("human.") => Some("user tasks"),
                    kind => kind_of_name(kind).and_then(inside::place_of),
                };
                let sentence = match place {
                    Some(place) => format!("the kind `{kind}` is executed at {place} only"),
                    None => format!("there is no executor for the kind `{kind}` yet"),
                };
                self.refuse(id, "unsupportedImplementation", sentence, "10.3.3.1");
            }
            None => {}
        }
        let bpmn = node.bpmn.as_deref();
        if element == Element::SendTask
            && let Some(operation) = bpmn.and_then(|bpmn| bpmn.operation_ref.as_deref())
            && bpmn.is_some_and(|bpmn| bpmn.message_ref.is_some())
        {
            let sentence = format!(
                "the message is sent to whoever waits for it, and the operation `{operation}` is not called"
            );
            self.warn(id, "operationUnused", &sentence, "10.3.3.1");
        }
        if let Some(settings) = &node.configuration {
            self.check_settings(id, element, settings);
        }
    }
}

/// Whether the settings of a task hold a FEEL expression.
fn computes_feel(node: &Node) -> bool {
    let source = node.configuration.as_ref().and_then(|own| own.get("source"));
    source.is_some_and(|source| !source.is_null())
}

/// Events that an event-based gateway needs to start an instance; none for one that starts none.
fn event_based(bpmn: &NodeBpmn) -> Result<Option<Instantiates>, Refused> {
    let kind = bpmn.event_gateway_type.as_deref().unwrap_or("Exclusive");
    match (bpmn.instantiate == Some(true), kind) {
        (false, kind) if kind.eq_ignore_ascii_case("exclusive") => Ok(None),
        (true, kind) if kind.eq_ignore_ascii_case("exclusive") => Ok(Some(Instantiates::First)),
        (true, kind) if kind.eq_ignore_ascii_case("parallel") => Ok(Some(Instantiates::All)),
        (false, kind) if kind.eq_ignore_ascii_case("parallel") => {
            let sentence = "a parallel event-based gateway starts an instance: set `instantiate`".to_owned();
            Err(("wrongGateway", sentence, "10.6.6"))
        }
        (_, kind) => {
            let sentence = format!("`{kind}` is no type of an event-based gateway");
            Err(("wrongGateway", sentence, "10.6.6"))
        }
    }
}

/// Refusal of a node that has no place in a graph: code and sentence.
pub(super) fn unknown(node: &Node) -> (&'static str, String) {
    match (node.kind().and_then(element::refusal), node.element_type()) {
        (Some(reason), _) => ("unsupportedElement", reason.to_owned()),
        (None, None | Some("")) => ("unknownElement", "the node has no type".to_owned()),
        (None, Some(word)) => ("unknownElement", format!("`{word}` is no flow node of BPMN 2.0.2")),
    }
}
