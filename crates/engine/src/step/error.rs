//! Errors: thrown by an end event, caught by the innermost scope that can (clause 13.5.4).

use super::leave::Completion;
use super::{At, Machine};
use crate::event::{CancelReason, EventKind, RunError};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{ErrorReference, NodeIx, Start, Trigger, Work};
use serde_json::{Map, Value};
use std::sync::Arc;

/// An error that an activity met.
pub(super) struct Thrown {
    /// Error code.
    pub code: Arc<str>,
    /// Message; absent is none.
    pub message: Option<String>,
    /// Variables for whoever catches it.
    pub values: Map<String, Value>,
}

impl Machine<'_> {
    /// Lets an error that an activity met be caught by its boundary events or further out; answers whether anything does.
    pub(super) fn error_at(&mut self, _id: LocalId, _thrown: Thrown) -> Result<bool, Rejection> {
        Ok(false)
    }

    /// Ends the throwing event and goes outwards until an event sub-process or a boundary event catches.
    pub(super) fn throw_error(&mut self, id: LocalId, error: &ErrorReference) -> Result<(), Rejection> {
        let (ix, at) = self.at(id)?;
        self.finish(id, Completion::default())?;
        let mut scope = at.scope.unwrap_or(LocalId::ROOT);
        let mut from = None;
        loop {
            if let Some(start) = self.error_listener(scope, from, error)? {
                let caught = caught(error);
                return self.start_event_sub_process(start, scope, |machine, _, inner| {
                    machine.set_values(inner, caught);
                    None
                });
            }
            if scope == LocalId::ROOT {
                break;
            }
            let (host, host_at) = self.at(scope)?;
            let outer = host_at.scope.unwrap_or(LocalId::ROOT);
            // The boundary events of several instances are those of their body.
            let is_instance = self.instance(scope)?.iteration.is_some();
            if let Some(boundary) = self.error_boundary(host, error).filter(|_| !is_instance) {
                let event = self.create(boundary, outer, &[]);
                self.cancel(scope, CancelReason::Error)?;
                self.set_values(outer, caught(error));
                return self.leave(event);
            }
            let message = error.name.as_deref().unwrap_or_default();
            if !is_instance && self.fail_along(scope, &error.code, message)? {
                return Ok(());
            }
            from = Some(host);
            scope = outer;
        }
        self.fail(ix, error)
    }

    fn fail(&mut self, ix: NodeIx, error: &ErrorReference) -> Result<(), Rejection> {
        self.cancel_contents(LocalId::ROOT, CancelReason::Error, None)?;
        self.close_waits(LocalId::ROOT, true);
        let node_id = self.graph.node(ix).id.clone();
        let message = format!("the error `{}` thrown by `{node_id}` is not caught", error.code);
        let error = RunError { code: error.code.clone(), message, node_id };
        self.emit(At::RUN, EventKind::RunFailed { error });
        Ok(())
    }

    /// The start event of the event sub-process of a scope that catches the error. One from which the error
    /// comes does not catch it, nor does any once one has interrupted the scope.
    fn error_listener(
        &self,
        scope: LocalId,
        from: Option<NodeIx>,
        error: &ErrorReference,
    ) -> Result<Option<NodeIx>, Rejection> {
        let Some(content) = self.content(scope)? else { return Ok(None) };
        let listeners = &self.graph.scope(content).listeners;
        if listeners.is_empty() || self.is_interrupted(scope) {
            return Ok(None);
        }
        let code = |&start: &NodeIx| {
            let Work::Start(Start { trigger: Some(Trigger::Error(code)), event_sub_process, .. }) =
                &self.graph.node(start).work
            else {
                return None;
            };
            (*event_sub_process != from || from.is_none()).then_some((start, code.as_deref()))
        };
        Ok(best(listeners.iter().filter_map(code), error))
    }

    /// Whether an interrupting event sub-process runs in the scope.
    pub(super) fn is_interrupted(&self, scope: LocalId) -> bool {
        let interrupting = |node: &str| {
            let Some(ix) = self.graph.find(node) else { return false };
            let Work::EventSubProcess { start, .. } = self.graph.node(ix).work else { return false };
            matches!(&self.graph.node(start).work, Work::Start(start) if start.interrupting)
        };
        self.state.flow.active.iter().any(|own| own.scope == scope && interrupting(&own.node))
    }

    fn error_boundary(&self, host: NodeIx, error: &ErrorReference) -> Option<NodeIx> {
        let code = |&event: &NodeIx| {
            let Work::Boundary { trigger: Trigger::Error(code), .. } = &self.graph.node(event).work else {
                return None;
            };
            Some((event, code.as_deref()))
        };
        best(self.graph.node(host).boundary.iter().filter_map(code), error)
    }
}

/// The catcher of the error's code, else the one of any error.
fn best<'c>(
    catchers: impl Iterator<Item = (NodeIx, Option<&'c str>)>,
    error: &ErrorReference,
) -> Option<NodeIx> {
    let mut any = None;
    for (ix, code) in catchers {
        match code {
            Some(code) if *code == *error.code => return Some(ix),
            None => any = any.or(Some(ix)),
            Some(_) => {}
        }
    }
    any
}

/// The variables that tell about a caught error.
fn caught(error: &ErrorReference) -> Map<String, Value> {
    let message = error.name.as_deref().map_or(Value::Null, Value::from);
    Map::from_iter([
        ("errorCode".to_owned(), Value::from(&*error.code)),
        ("errorMessage".to_owned(), message),
    ])
}
