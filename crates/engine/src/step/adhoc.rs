//! Ad-hoc sub-processes (clause 13.3.5).

use super::loops::told;
use super::{At, Machine, StepFault, expression};
use crate::event::{BodyKind, CancelReason, EventKind, JobKind, Phase};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{AdHoc, JobTask, NodeIx, ScopeIx, Setting, Work};
use heddle_feel::Context;
use heddle_settings::inside::{
    AGENT_STATE, TOOL_CALL, TOOL_RESULT, TURN_AGAIN, TURN_LOCAL, TURN_NEXT, TURN_VALUES,
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Fate of an ad-hoc sub-process in which nothing runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quiet {
    /// End of it; so ends any other scope.
    Ends,
    /// Wait: its completion condition does not hold.
    Waits,
    /// Beginning of its next activity, which has happened.
    WentOn,
}

impl Machine<'_> {
    /// Opens an ad-hoc sub-process and begins its activities: all of them, or the first.
    pub(super) fn open_ad_hoc(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        content: ScopeIx,
        rules: &AdHoc,
    ) -> Result<(), StepFault> {
        let begin = match &rules.active {
            None if rules.agent.is_some() => Vec::new(),
            None => self.graph.scope(content).starts.clone(),
            Some(active) => self.active_elements(active, id, content)?,
        };
        self.open_content(ix, id, content)?;
        let names = begin.iter().map(|&own| Value::from(&*self.graph.node(own).id));
        let items = if rules.sequential { names.collect() } else { Vec::new() };
        let (_, at) = self.at(id)?;
        let total = Some(begin.len() as u64);
        self.emit(at, EventKind::BodyOpened { kind: BodyKind::AdHoc, total, items });
        if let Some(agent) = &rules.agent {
            // Variables of these names around it are none of what the agent said or called.
            let own = [AGENT_STATE, TOOL_CALL, TOOL_RESULT];
            let values = own.into_iter().map(|name| (name.to_owned(), Value::Null)).collect();
            self.emit(At { node: Some(ix), ..At::scope(id) }, EventKind::VariablesSet { values });
            return self.open_job(id, JobKind::Task, agent);
        }
        if rules.sequential {
            return Ok(());
        }
        for node in begin {
            // One that completes at once may have ended the sub-process.
            let ended = |body: &crate::state::BodyState| body.completed > 0;
            let own = self.state.instance(id);
            if own.is_none_or(|own| own.body.as_deref().is_none_or(ended)) || self.halted {
                break;
            }
            self.activate(node, id, &[])?;
        }
        Ok(())
    }

    /// The inner nodes that a setting names.
    fn active_elements(
        &self,
        active: &Setting,
        id: LocalId,
        content: ScopeIx,
    ) -> Result<Vec<NodeIx>, StepFault> {
        let (value, notes) = self.noted(active, self.inner(id)?)?;
        let items = match &value {
            Value::Array(items) if !items.is_empty() => items,
            other => {
                let told = told(other, &notes);
                return Err(expression(format!("activeElements gives {told}, no list of activities")));
            }
        };
        let node = |item: &Value| {
            let found = item.as_str().and_then(|name| self.graph.find(name));
            found.filter(|&own| self.can_begin(own, content)).ok_or_else(|| {
                let item = told(item, &[]);
                expression(format!("activeElements: {item} is no activity of the ad-hoc sub-process"))
            })
        };
        items.iter().map(node).collect()
    }

    /// Whether a node can be begun by itself in the content of an ad-hoc sub-process.
    pub(super) fn can_begin(&self, ix: NodeIx, content: ScopeIx) -> bool {
        let node = self.graph.node(ix);
        let special =
            matches!(node.work, Work::Start(_) | Work::Boundary { .. } | Work::EventSubProcess { .. });
        node.scope == content && !special && !node.for_compensation
    }

    /// The rules of the ad-hoc sub-process whose content a scope of the graph is.
    fn ad_hoc_of(&self, content: ScopeIx) -> Option<&Arc<AdHoc>> {
        match &self.graph.node(self.graph.scope(content).node?).work {
            Work::AdHoc { rules, .. } => Some(rules),
            _ => None,
        }
    }

    /// Says what becomes of a scope in which nothing is left, and begins the next activity of an ad-hoc sub-process.
    pub(super) fn quiet(&mut self, scope: LocalId) -> Result<Quiet, Rejection> {
        if scope == LocalId::ROOT {
            return Ok(Quiet::Ends);
        }
        let Some(content) = self.content(scope)? else { return Ok(Quiet::Ends) };
        let Some(rules) = self.ad_hoc_of(content).cloned() else { return Ok(Quiet::Ends) };
        let Some(body) = self.instance(scope)?.body.as_deref() else { return Ok(Quiet::Ends) };
        if body.completed > 0 {
            return Ok(Quiet::Ends);
        }
        if let Some(agent) = &rules.agent {
            return self.next_turn(scope, agent);
        }
        let iteration = body.started;
        let next = usize::try_from(iteration).ok().and_then(|at| body.items.get(at)).and_then(Value::as_str);
        if let Some(next) = next {
            let next = self.node(next)?;
            let (_, at) = self.at(scope)?;
            self.emit(at, EventKind::BodyAdvanced { iteration, completed: false, output: None });
            self.activate(next, scope, &[])?;
            return Ok(Quiet::WentOn);
        }
        Ok(if rules.completion.is_some() { Quiet::Waits } else { Quiet::Ends })
    }

    /// Opens the next turn of an agent, unless one is open or an incident stands in its way.
    fn next_turn(&mut self, id: LocalId, agent: &JobTask) -> Result<Quiet, Rejection> {
        let is_open = self.state.jobs.iter().any(|own| own.owner == id);
        if is_open || self.state.incidents.iter().any(|own| own.instance == Some(id)) {
            return Ok(Quiet::Waits);
        }
        if let Err(fault) = self.open_job(id, JobKind::Task, agent) {
            self.fault(id, fault, Phase::Enter)?;
        }
        Ok(Quiet::Waits)
    }

    /// Takes out of values for a scope what an agent alone says of itself: no tool makes its calls, approvals or caps.
    pub(super) fn keep_from_agent(&self, scope: LocalId, values: &mut Map<String, Value>) {
        let is_agent = |ix: NodeIx| self.graph.node(ix).work.agent().is_some();
        if values.contains_key(AGENT_STATE) && self.at(scope).is_ok_and(|(ix, _)| is_agent(ix)) {
            values.remove(AGENT_STATE);
        }
    }

    /// Does what a turn of an agent gives: its own variables, and the activity that begins, or the end with what it leaves
    /// behind.
    pub(super) fn agent_turn(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        mut given: Map<String, Value>,
    ) -> Result<(), Rejection> {
        if let Some(Value::Object(values)) = given.remove(TURN_LOCAL) {
            self.emit(At { node: Some(ix), ..At::scope(id) }, EventKind::VariablesSet { values });
        }
        if let Some(Value::String(name)) = given.remove(TURN_NEXT) {
            let content = self.graph.node(ix).work.content();
            let next = self.graph.find(&name);
            let next = next.filter(|&own| content.is_some_and(|content| self.can_begin(own, content)));
            return self.activate(next.ok_or(Rejection::InvalidTarget(name))?, id, &[]);
        }
        let graph = self.graph;
        if let Some(agent) = graph.node(ix).work.agent().filter(|_| given.contains_key(TURN_AGAIN)) {
            return self.next_turn(id, agent).map(drop);
        }
        if let Some(Value::Object(values)) = given.remove(TURN_VALUES) {
            self.give(id, values)?;
        }
        self.cancel_contents(id, CancelReason::Completed, None)?;
        self.close_waits(id, true);
        self.leave(id)
    }

    /// Whether the end of this activity ends the ad-hoc sub-process around it: its completion condition holds now.
    pub(super) fn ends_ad_hoc(&self, ix: NodeIx, scope: LocalId) -> Result<bool, StepFault> {
        let node = self.graph.node(ix);
        // What compensates is no activity of the sub-process, and one that is restored has ended.
        if node.for_compensation || self.state.instance(scope).is_some_and(|own| own.restored) {
            return Ok(false);
        }
        let Some(rules) = self.ad_hoc_of(node.scope) else { return Ok(false) };
        let Some(condition) = rules.completion.as_ref().filter(|_| node.element.is_activity()) else {
            return Ok(false);
        };
        self.truth(condition, "completion condition", &Context::new(), scope)
    }

    /// Ends an ad-hoc sub-process whose completion condition holds: at once, or when what runs in it has ended.
    pub(super) fn end_ad_hoc(&mut self, ix: NodeIx, scope: LocalId) -> Result<(), Rejection> {
        let rules = self.ad_hoc_of(self.graph.node(ix).scope);
        if rules.is_some_and(|rules| rules.cancel_remaining) {
            self.cancel_contents(scope, CancelReason::Completed, None)?;
            self.close_waits(scope, true);
            return self.leave(scope);
        }
        let (_, at) = self.at(scope)?;
        let iteration = self.instance(scope)?.body.as_deref().map_or(0, |body| body.started);
        self.emit(at, EventKind::BodyAdvanced { iteration, completed: true, output: None });
        self.touched.push(scope);
        Ok(())
    }
}
