//! Errors: thrown by an end event or met by an activity, caught by the innermost scope that can (clauses 10.5.6 and
//! 13.5.4).

use super::edges::LOOP_LIMIT;
use super::leave::Completion;
use super::{At, Machine, StepFault, expression};
use crate::event::{CancelReason, EventKind, RunError};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{CaughtVariables, ErrorReference, NodeIx, Start, Trigger, Work};
use serde_json::{Map, Value};
use std::sync::Arc;

/// An error that an activity met, or an error or escalation that an event throws.
pub(super) struct Thrown {
    /// Code.
    pub code: Arc<str>,
    /// Message; absent is none.
    pub message: Option<String>,
    /// Variables for whoever catches it.
    pub values: Map<String, Value>,
}

/// Error or escalation, by its code, for which a catcher is looked for.
#[derive(Clone, Copy)]
pub(super) enum Sought<'c> {
    Error(&'c str),
    Escalation(&'c str),
}

impl Sought<'_> {
    /// Whether an event catches it: by its code, or as one that catches all.
    fn is_caught_by(self, trigger: &Trigger) -> Option<Fit> {
        let (wanted, code) = match (self, trigger) {
            (Self::Error(wanted), Trigger::Error(code))
            | (Self::Escalation(wanted), Trigger::Escalation(code)) => (wanted, code),
            // One of several triggers is as good as a trigger of its own; all of several cannot come at once.
            (own, Trigger::Several(several)) if !several.parallel => {
                let fits = several.triggers.iter().filter_map(|trigger| own.is_caught_by(trigger));
                return fits.min_by_key(|fit| *fit as u8);
            }
            (Self::Error(_) | Self::Escalation(_), _) => return None,
        };
        match code {
            None => Some(Fit::Any),
            Some(code) => (**code == *wanted).then_some(Fit::Code),
        }
    }
}

/// Fit of an event that catches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Code,
    Any,
}

/// Event that catches an error or escalation.
#[derive(Clone, Copy)]
pub(super) enum Catcher {
    /// The start event of an event sub-process of this scope.
    Listener { start: NodeIx, scope: LocalId },
    /// A boundary event of this node instance.
    Boundary { event: NodeIx, host: LocalId },
}

impl Machine<'_> {
    /// Lets an error that an activity met be caught by its boundary events or further out; answers whether anything does.
    pub(super) fn error_at(&mut self, id: LocalId, thrown: Thrown) -> Result<bool, Rejection> {
        let catcher = self.catcher(id, true, Sought::Error(&thrown.code))?;
        for passed in self.outwards(id, true, catcher)? {
            // A node whose flow has been taken most often has not failed itself.
            if passed == id && *thrown.code == *LOOP_LIMIT {
                continue;
            }
            if self.fail_along(passed, &thrown.code, thrown.message.as_deref().unwrap_or_default())? {
                return Ok(true);
            }
        }
        match catcher {
            Some(catcher) => self.catch(catcher, thrown).map(|()| true),
            None => Ok(false),
        }
    }

    /// The activities that an error leaves before it is caught, from the innermost one on: each may have flows for its
    /// failure.
    fn outwards(&self, id: LocalId, own: bool, catcher: Option<Catcher>) -> Result<Vec<LocalId>, Rejection> {
        let (mut id, mut own, mut found) = (id, own, Vec::new());
        loop {
            let active = self.instance(id)?;
            if matches!(catcher, Some(Catcher::Boundary { host, .. }) if host == id) {
                return Ok(found);
            }
            if own && active.iteration.is_none() && !active.restored {
                found.push(id);
            }
            let outer = active.scope;
            let ends = matches!(catcher, Some(Catcher::Listener { scope, .. }) if scope == outer);
            if ends || outer == LocalId::ROOT {
                return Ok(found);
            }
            (id, own) = (outer, true);
        }
    }

    /// Ends the throwing event and goes outwards until an event sub-process or a boundary event catches.
    pub(super) fn throw_error(&mut self, id: LocalId, error: &ErrorReference) -> Result<(), StepFault> {
        let (ix, _) = self.at(id)?;
        let thrown = self.thrown(id, error)?;
        let catcher = self.catcher(id, false, Sought::Error(&thrown.code))?;
        let passed = self.outwards(id, false, catcher)?;
        self.finish(id, Completion::default())?;
        for activity in passed {
            if self.fail_along(activity, &thrown.code, thrown.message.as_deref().unwrap_or_default())? {
                return Ok(());
            }
        }
        match catcher {
            Some(catcher) => Ok(self.catch(catcher, thrown)?),
            None => {
                let told = error.message.is_some().then_some(thrown.message).flatten();
                Ok(self.fail(ix, &error.code, told)?)
            }
        }
    }

    /// Error or escalation that an event throws, with its message and its variables.
    pub(super) fn thrown(&mut self, id: LocalId, reference: &ErrorReference) -> Result<Thrown, StepFault> {
        let scope = self.inner(id)?;
        let message = match &reference.message {
            Some(setting) => self.text(Some(setting), scope)?,
            None => reference.name.as_deref().map(str::to_owned),
        };
        let values = match &reference.payload {
            None => Map::new(),
            Some(setting) => match self.setting(setting, scope)? {
                Value::Null => Map::new(),
                Value::Object(values) => values,
                other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                    let found = heddle_kernel::shortened(&other.to_string()).into_owned();
                    return Err(expression(format!("payload: {found} is no context of variables")));
                }
            },
        };
        self.admit_own(scope, &values)?;
        Ok(Thrown { code: reference.code.clone(), message, values })
    }

    /// The innermost event that catches: of the node instance itself, where its `own` boundary events count, and then
    /// outwards. What is restored for compensation has completed and catches nothing.
    pub(super) fn catcher(
        &self,
        id: LocalId,
        own: bool,
        sought: Sought<'_>,
    ) -> Result<Option<Catcher>, Rejection> {
        let (mut id, mut own) = (id, own);
        loop {
            let active = self.instance(id)?;
            let ix = self.node(&active.node)?;
            // The boundary events of one of several instances are those of their body.
            if own && active.iteration.is_none() && !active.restored {
                let events = self.graph.node(ix).boundary.iter().filter_map(|&event| {
                    let Work::Boundary { trigger, .. } = &self.graph.node(event).work else { return None };
                    Some((event, sought.is_caught_by(trigger)?))
                });
                if let Some(event) = best(events) {
                    return Ok(Some(Catcher::Boundary { event, host: id }));
                }
            }
            let scope = active.scope;
            if let Some(start) = self.listener(scope, ix, sought)? {
                return Ok(Some(Catcher::Listener { start, scope }));
            }
            if scope == LocalId::ROOT {
                return Ok(None);
            }
            (id, own) = (scope, true);
        }
    }

    /// The start event of the event sub-process of a scope that catches. One from which the error or escalation
    /// comes does not catch it, nor does any once one has interrupted the scope.
    fn listener(
        &self,
        scope: LocalId,
        from: NodeIx,
        sought: Sought<'_>,
    ) -> Result<Option<NodeIx>, Rejection> {
        let Some(content) = self.content(scope)? else { return Ok(None) };
        let listeners = &self.graph.scope(content).listeners;
        if listeners.is_empty() || self.is_interrupted(scope) {
            return Ok(None);
        }
        Ok(best(listeners.iter().filter_map(|&start| {
            let Work::Start(Start { trigger: Some(trigger), event_sub_process, .. }) =
                &self.graph.node(start).work
            else {
                return None;
            };
            let fit = sought.is_caught_by(trigger)?;
            (*event_sub_process != Some(from)).then_some((start, fit))
        })))
    }

    /// Whether an interrupting event sub-process runs in the scope.
    pub(super) fn is_interrupted(&self, scope: LocalId) -> bool {
        let interrupting = |node: &str| {
            let Some(ix) = self.graph.find(node) else { return false };
            let Work::EventSubProcess { start, .. } = self.graph.node(ix).work else { return false };
            matches!(&self.graph.node(start).work, Work::Start(start) if start.interrupting)
                && !self.starts_compensation(start)
        };
        let inside = self.state.flow.active.iter().filter(|own| own.scope == scope && !own.restored);
        inside.map(|own| &own.node).any(|node| interrupting(node))
    }

    /// Whether a catcher ends what it is attached to.
    pub(super) fn interrupts(&self, catcher: Catcher) -> bool {
        let (Catcher::Listener { start: event, .. } | Catcher::Boundary { event, .. }) = catcher;
        matches!(
            &self.graph.node(event).work,
            Work::Boundary { interrupting: true, .. } | Work::Start(Start { interrupting: true, .. })
        )
    }

    /// Lets an event catch what was thrown.
    pub(super) fn catch(&mut self, catcher: Catcher, thrown: Thrown) -> Result<(), Rejection> {
        match catcher {
            Catcher::Listener { start, scope } => {
                let values = self.caught(start, thrown);
                self.start_event_sub_process(start, scope, |machine, _, inner| {
                    machine.set_values(inner, values);
                    None
                })
            }
            Catcher::Boundary { event: boundary, host } => {
                let outer = self.instance(host)?.scope;
                let event = self.create(boundary, outer, &[]);
                if self.interrupts(catcher) {
                    let errors = matches!(
                        &self.graph.node(boundary).work,
                        Work::Boundary { trigger: Trigger::Error(_), .. }
                    );
                    let reason = if errors { CancelReason::Error } else { CancelReason::Interrupted };
                    self.cancel(host, reason)?;
                }
                let values = self.caught(boundary, thrown);
                self.set_values(outer, values);
                self.arrived(boundary, event)
            }
        }
    }

    /// The variables that tell about what an event catches: those that its settings name, else the default ones.
    pub(super) fn caught(&self, event: NodeIx, thrown: Thrown) -> Map<String, Value> {
        let node = self.graph.node(event);
        let trigger = self.trigger_of(event);
        let parts = trigger.as_ref().map(Trigger::parts).unwrap_or_default();
        let escalation = parts.iter().any(|own| matches!(own, Trigger::Escalation(_)))
            && !parts.iter().any(|own| matches!(own, Trigger::Error(_)));
        let default = || {
            if escalation {
                return CaughtVariables { code: Some("escalationCode".into()), message: None };
            }
            CaughtVariables { code: Some("errorCode".into()), message: Some("errorMessage".into()) }
        };
        let names = node.caught.as_deref().cloned().unwrap_or_else(default);
        let mut values = thrown.values;
        if let Some(name) = names.code {
            values.insert(name.to_string(), Value::from(&*thrown.code));
        }
        if let Some(name) = names.message {
            values.insert(name.to_string(), thrown.message.map_or(Value::Null, Value::from));
        }
        values
    }

    fn fail(&mut self, ix: NodeIx, code: &Arc<str>, told: Option<String>) -> Result<(), Rejection> {
        self.cancel_contents(LocalId::ROOT, CancelReason::Error, None)?;
        self.close_waits(LocalId::ROOT, true);
        let node_id = self.graph.node(ix).id.clone();
        let mut message = format!("the error `{code}` thrown by `{node_id}` is not caught");
        if let Some(told) = told {
            message = format!("{message}: {}", heddle_kernel::shortened(&told));
        }
        let error = RunError { code: code.clone(), message, node_id };
        self.emit(At::RUN, EventKind::RunFailed { error });
        Ok(())
    }
}

/// The catcher of the code, else the one of any.
fn best(catchers: impl Iterator<Item = (NodeIx, Fit)>) -> Option<NodeIx> {
    let mut any = None;
    for (ix, fit) in catchers {
        match fit {
            Fit::Code => return Some(ix),
            Fit::Any => any = any.or(Some(ix)),
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Command, RunContext, State, step};
    use heddle_bpmn_graph::compile;
    use serde_json::json;

    /// A run that waits in a task of a sub-process, with these boundary events on the task and on the sub-process.
    fn waiting(on_task: &str, around: &str) -> (std::sync::Arc<heddle_bpmn_graph::Graph>, State, RunContext) {
        let boundary = |id: &str, host: &str, error: &str| {
            let definition = if error == "any" {
                json!({"type": "error"})
            } else {
                json!({"type": "error", "reference": error})
            };
            json!({"id": id, "type": "boundaryEvent", "bpmn": {"attachedToRef": host, "eventDefinitions": [definition]}})
        };
        let inner =
            json!({"nodes": [{"id": "w", "type": "userTask"}, boundary("b1", "w", on_task)], "edges": []});
        let definition = json!({
            "nodes": [
                {"id": "s", "type": "startEvent"},
                {"id": "p", "type": "subProcess", "bpmn": {"subProcess": inner}},
                boundary("b2", "p", around)
            ],
            "edges": [{"id": "f", "source": "s", "target": "p"}],
            "bpmn": {"errors": [{"id": "e1", "code": "one"}, {"id": "e2", "code": "two"}]}
        });
        let compiled = compile(&serde_json::from_value(definition).unwrap());
        assert!(compiled.is_executable(), "{:?}", compiled.diagnostics);
        let graph = compiled.processes[0].clone();
        let cx = RunContext {
            run_id: heddle_kernel::RunId(uuid::Uuid::from_u128(1)),
            now: "2024-01-01T00:00:00Z".parse().unwrap(),
            correlation_key: None,
            actor: None,
            decisions: None,
            elsewhere: None,
            hops: 0,
            budget: Budget::DEFAULT,
            remark: None,
            stores: std::collections::BTreeMap::new(),
            roles: Vec::new(),
            people: std::collections::BTreeMap::new(),
        };
        let trigger = crate::Trigger::Manual { start_node: None };
        let done = step(&graph, &State::new(), Command::Start { trigger, input: Map::new() }, &cx).unwrap();
        (graph, done.state, cx)
    }

    #[test]
    fn an_error_that_an_activity_meets_is_caught_at_it_or_further_out_or_not_at_all() {
        for (on_task, around, caught) in [
            ("e1", "any", Some("b1")),
            ("any", "e1", Some("b1")),
            ("e2", "e1", Some("b2")),
            ("e2", "any", Some("b2")),
            ("e2", "e2", None),
        ] {
            let (graph, state, cx) = waiting(on_task, around);
            let id = state.tasks()[0].node_instance_id;
            let mut machine = Machine::new(&graph, crate::core::Core::new(state.clone(), &cx));
            let values = Map::from_iter([("amount".to_owned(), json!(5))]);
            let thrown = Thrown { code: "one".into(), message: Some("no".to_owned()), values };
            assert_eq!(machine.error_at(id, thrown).ok(), Some(caught.is_some()));
            let Some(event) = caught else {
                assert_eq!(machine.state, state, "what nothing catches changes nothing");
                continue;
            };
            machine.run_to_quiescence().unwrap();
            let done =
                machine.events.iter().filter(|own| matches!(own.kind, EventKind::NodeCompleted { .. }));
            assert!(done.map(|own| own.node_id.as_deref()).any(|id| id == Some(event)), "{on_task} {around}");
            let variables = machine.state.variables().unwrap();
            let wanted = json!({"amount": 5, "errorCode": "one", "errorMessage": "no"});
            assert_eq!(Value::Object(variables.clone()), wanted);
        }
    }
}
