//! Decisions about incidents and waiting nodes: retry, skip, move.

use super::leave::Completion;
use super::{At, Machine};
use crate::command::SkipTarget;
use crate::event::{CancelReason, EventKind, IncidentCode, Phase, Resolution};
use crate::state::IncidentState;
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{FlowIx, JoinRule, Work};
use serde_json::{Map, Value};

impl Machine<'_> {
    fn incident(&self, id: LocalId) -> Result<IncidentState, Rejection> {
        self.state.incidents.iter().find(|own| own.id == id).cloned().ok_or(Rejection::UnknownIncident(id))
    }

    fn resolve(&mut self, own: &IncidentState, resolution: Resolution) -> Result<(), Rejection> {
        let at = match own.instance {
            Some(id) => self.at(id)?.1,
            None => {
                let node = own.node.as_deref().map(|node| self.node(node)).transpose()?;
                At { node, ..At::scope(own.scope) }
            }
        };
        let by = self.actor();
        self.emit(at, EventKind::IncidentResolved { incident_id: own.id, resolution, by });
        Ok(())
    }

    pub(super) fn retry(&mut self, id: LocalId, variables: Map<String, Value>) -> Result<(), Rejection> {
        let own = self.incident(id)?;
        self.set_values(own.scope, variables);
        self.resolve(&own, Resolution::Retry)?;
        if own.code == IncidentCode::LoopLimit {
            // Who tries again what was done most often lets it begin anew.
            self.anew = own.instance;
            if let (Some(instance), Some(failure)) = (own.instance, &own.failure) {
                return self.fail_anew(instance, failure);
            }
        }
        if let Some(instance) = own.instance
            && self.reopen_job(instance)?
        {
            return Ok(());
        }
        if let (Some(instance), Phase::Leave) = (own.instance, own.phase)
            && let Some(node) = self.repeating(instance)?
        {
            // What is tried again is one slot; the event waits for the next.
            return self.let_go(node, instance);
        }
        match (own.instance, own.phase) {
            (Some(instance), _) if own.code == IncidentCode::CallFailed => self.call_anew(instance),
            (Some(instance), Phase::Enter) => {
                let (ix, _) = self.at(instance)?;
                self.enter(ix, instance)
            }
            (Some(instance), Phase::Leave) => self.leave(instance),
            // A condition that the instance listens to is evaluated again with the others.
            (Some(_), Phase::Tokens) => Ok(()),
            (None, Phase::Enter) => {
                self.touched.push(own.scope);
                self.open_root_listeners()
            }
            (None, _) => {
                self.touched.push(own.scope);
                Ok(())
            }
        }
    }

    pub(super) fn skip(&mut self, target: SkipTarget, output: Map<String, Value>) -> Result<(), Rejection> {
        match target {
            SkipTarget::Incident(id) => {
                let own = self.incident(id)?;
                match own.instance {
                    Some(instance) => self.skip_instance(instance, Some(&own), output),
                    None if own.code == IncidentCode::Deadlock => self.skip_deadlock(&own, output),
                    None if own.phase == Phase::Enter => {
                        // The event sub-processes that could not listen stay out of the run.
                        self.resolve(&own, Resolution::Skip)?;
                        self.set_values(own.scope, output);
                        self.touched.push(own.scope);
                        Ok(())
                    }
                    None => Err(Rejection::CannotSkip(id)),
                }
            }
            SkipTarget::Node(instance) => {
                let own = self.state.incidents.iter().find(|own| own.instance == Some(instance)).cloned();
                self.skip_instance(instance, own.as_ref(), output)
            }
        }
    }

    fn skip_instance(
        &mut self,
        id: LocalId,
        incident: Option<&IncidentState>,
        output: Map<String, Value>,
    ) -> Result<(), Rejection> {
        let (ix, at) = self.at(id)?;
        // Which event would have come nobody can say, nor which flow would have been taken: the node itself is done.
        let node = self.graph.node(ix);
        if self.instance(id)?.restored {
            return Err(Rejection::NotWaiting(id));
        }
        if let (Work::EventSubProcess { .. }, Some(own)) = (&node.work, incident)
            && own.phase == Phase::Enter
        {
            // The event sub-processes within it that could not listen stay out of it, as they do of a run.
            self.resolve(own, Resolution::Skip)?;
            self.set_values(id, output);
            self.touched.push(id);
            return Ok(());
        }
        let on_its_way_out = incident.is_some_and(|own| own.phase == Phase::Leave);
        let complex = matches!(node.join, JoinRule::Complex(_));
        if on_its_way_out
            || complex
            || node.split.waits()
            || matches!(node.work, Work::EventSubProcess { .. })
        {
            return Err(incident.map_or(Rejection::NotWaiting(id), |own| Rejection::CannotSkip(own.id)));
        }
        if let Some(own) = incident {
            self.resolve(own, Resolution::Skip)?;
        }
        self.task_withdrawn(id)?;
        self.empty_scope(id, CancelReason::Moved)?;
        let value = (!output.is_empty()).then(|| Value::Object(output.clone()));
        self.set_values(at.scope.unwrap_or(LocalId::ROOT), output);
        self.leave_with(id, Completion { skipped: true, output: value })
    }

    /// A join goes on with the tokens that it has.
    fn skip_deadlock(&mut self, own: &IncidentState, output: Map<String, Value>) -> Result<(), Rejection> {
        let join = self.node(own.node.as_deref().unwrap_or_default())?;
        let via: Vec<FlowIx> = if matches!(self.graph.node(join).join, JoinRule::Quantity(_)) {
            self.tokens_before(join, own.scope)
        } else {
            let incoming = self.graph.incoming(join).iter().copied();
            incoming.filter(|&flow| self.has_token(flow, own.scope)).collect()
        };
        self.resolve(own, Resolution::Skip)?;
        self.set_values(own.scope, output);
        self.activate(join, own.scope, &via)
    }

    pub(super) fn move_token(&mut self, id: LocalId, target: &str) -> Result<(), Rejection> {
        // The token of an instance is that of its body.
        let id = self.activity_of(id)?;
        let (ix, at) = self.at(id)?;
        let invalid = || Rejection::InvalidTarget(target.to_owned());
        let to = self.graph.find(target).ok_or_else(invalid)?;
        let node = self.graph.node(to);
        if let Work::AdHoc { scope, rules } = &self.graph.node(ix).work
            && node.scope == *scope
        {
            // Somebody begins an activity of an ad-hoc sub-process.
            let restored = self.instance(id)?.restored;
            let open = self.state.scope(id).is_some() && !self.is_body(ix, id) && !restored;
            let free = open && !(rules.sequential && self.is_busy(id));
            if !free || !self.can_begin(to, *scope) {
                return Err(invalid());
            }
            return self.activate(to, id, &[]);
        }
        let never =
            matches!(node.work, Work::Start(_) | Work::Boundary { .. } | Work::EventSubProcess { .. });
        // What compensates has no place in the flow: nothing comes in, nothing goes out.
        let beside = node.for_compensation || self.instance(id)?.compensates.is_some();
        if never || beside || node.scope != self.graph.node(ix).scope {
            return Err(invalid());
        }
        self.cancel(id, CancelReason::Moved)?;
        self.activate(to, at.scope.unwrap_or(LocalId::ROOT), &[])
    }
}
