//! Conditional events (clause 10.5.5.2): evaluated when they begin to listen and after every change of data.

use super::fire::{Arrival, Came};
use super::wait::{Wait, What};
use super::{At, Machine, StepFault, expression};
use crate::core::budgets::reached;
use crate::core::eval::{brief, prefixed};
use crate::event::{EventKind, IncidentCode, Phase, Resolution, SubscriptionKind};
use crate::state::{Life, SubscriptionState};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{Condition, NodeIx, Trigger};
use heddle_feel::{EvalContext, Scope, to_json};
use serde_json::{Map, Value};

/// Whether an event changes what conditions can see, or begins to listen to one.
pub(crate) const fn unsettles(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::VariablesSet { .. }
            | EventKind::TaskCompleted { .. }
            | EventKind::JobCompleted { .. }
            | EventKind::CallCompleted { .. }
            | EventKind::MessageReceived { .. }
            | EventKind::SignalReceived { .. }
            | EventKind::DecisionEvaluated(_)
            | EventKind::ScriptEvaluated { .. }
            | EventKind::NodeCompleted { output: Some(_), .. }
            | EventKind::BodyOpened { .. }
            | EventKind::BodyAdvanced { .. }
            | EventKind::NodeCancelled { .. }
            | EventKind::SubscriptionOpened { kind: SubscriptionKind::Condition, .. }
    )
}

impl Machine<'_> {
    /// Wait of an event for its condition.
    pub(super) fn wait_for_condition(&self, node: NodeIx, condition: &Condition) -> Wait {
        let name = condition.expression.source().into();
        let what = What::Subscription { kind: SubscriptionKind::Condition, name, key: None };
        Wait { node, what, trigger: None }
    }

    /// Evaluates the conditions that are listened to, if anything has changed that they may see. One that begins to hold
    /// occurs.
    pub(super) fn settle_conditions(&mut self) -> Result<(), Rejection> {
        if !self.graph.has_conditions() {
            self.unsettled = false;
            return Ok(());
        }
        while self.unsettled && !self.halted && self.state.life == Life::Active {
            self.unsettled = false;
            let _ = self.charge_places(self.state.subscriptions.len());
            let listens = |own: &&SubscriptionState| own.kind == SubscriptionKind::Condition;
            let ids: Vec<LocalId> =
                self.state.subscriptions.iter().filter(listens).map(|own| own.id).collect();
            for id in ids {
                // One that interrupts may have withdrawn the next.
                let Some(own) = self.state.subscription(id).cloned() else { continue };
                let node = self.node(&own.node)?;
                if let Some(stop) = self.next_stop() {
                    self.unsettled = true;
                    self.stop_at_limit(node, &stop);
                    return Ok(());
                }
                self.settle_condition(node, &own)?;
            }
        }
        Ok(())
    }

    fn settle_condition(&mut self, node: NodeIx, own: &SubscriptionState) -> Result<(), Rejection> {
        let holds = match self.condition_of(node, own) {
            Ok(holds) => holds,
            Err(fault) => return self.condition_fault(node, own.host, fault),
        };
        self.settle_condition_fault(node, own.host);
        if holds == own.held {
            return Ok(());
        }
        let at = self.wait_at(node, own.host);
        self.emit(at, EventKind::ConditionChanged { subscription_id: own.id, holds });
        if holds {
            let came = Came { node, host: own.host, subscription: Some(own.id) };
            return self.come(came, Arrival::Condition);
        }
        Ok(())
    }

    /// Whether the condition of a subscription holds, as its host sees the data. Null is data that is not there yet.
    fn condition_of(&self, node: NodeIx, own: &SubscriptionState) -> Result<bool, StepFault> {
        let Some(Trigger::Conditional(condition)) = self.listened(node, own.trigger) else {
            return Err(expression(format!("`{}` waits for no condition", own.node)));
        };
        let scope = if self.state.scope(own.host).is_some() {
            own.host
        } else {
            self.state.instance(own.host).map_or(LocalId::ROOT, |host| host.scope)
        };
        self.condition_holds(&condition, &self.variables(scope))
    }

    pub(super) fn condition_holds(
        &self,
        condition: &Condition,
        variables: &dyn Scope,
    ) -> Result<bool, StepFault> {
        let (value, notes) = self.evaluate(&condition.expression, variables)?;
        truth_of(condition, &value, &notes)
    }

    /// Whether a condition holds for the input with which a run is to start. Null is data that is not there.
    pub(super) fn starts_by_condition(
        &self,
        condition: &Condition,
        input: &Map<String, Value>,
    ) -> Result<bool, StepFault> {
        let context = EvalContext { now: self.now };
        match condition.expression.evaluate_on(input, &context, &self.steps) {
            Ok(evaluated) => truth_of(condition, &evaluated.value, &[]),
            Err(limit) => Err(reached(limit, |limit| expression(limit.to_string()))),
        }
    }

    /// Place of the incident of a condition: at the host, or at the process.
    fn condition_at(&self, node: NodeIx, host: LocalId) -> At {
        match self.at(host) {
            Ok((_, at)) => At { node: Some(node), ..at },
            Err(_) => At { node: Some(node), ..At::scope(host) },
        }
    }

    fn incident_of_condition(&self, node: NodeIx, at: At) -> Option<LocalId> {
        let id = &self.graph.node(node).id;
        let own = self.state.incidents.iter().find(|own| {
            own.phase == Phase::Tokens
                && own.code == IncidentCode::ExpressionError
                && own.instance == at.instance
                && own.node.as_ref() == Some(id)
                && Some(own.scope) == at.scope
        });
        own.map(|own| own.id)
    }

    /// A condition that cannot be evaluated: one incident, until it can be or its host is gone.
    fn condition_fault(&mut self, node: NodeIx, host: LocalId, fault: StepFault) -> Result<(), Rejection> {
        let at = self.condition_at(node, host);
        match fault {
            StepFault::Rejected(rejection) => Err(rejection),
            StepFault::Incident(IncidentCode::ExpressionError, _)
                if self.incident_of_condition(node, at).is_some() =>
            {
                Ok(())
            }
            StepFault::Incident(code, message) => {
                self.raise(at, code, &message, Phase::Tokens);
                Ok(())
            }
        }
    }

    fn settle_condition_fault(&mut self, node: NodeIx, host: LocalId) {
        if self.state.incidents.is_empty() {
            return;
        }
        let at = self.condition_at(node, host);
        if let Some(incident_id) = self.incident_of_condition(node, at) {
            let by = self.actor();
            self.emit(at, EventKind::IncidentResolved { incident_id, resolution: Resolution::Obsolete, by });
        }
    }
}

/// Truth of a condition's value, which has these notes. Null is data that is not there yet.
fn truth_of(condition: &Condition, value: &heddle_feel::Value, notes: &[String]) -> Result<bool, StepFault> {
    match value {
        heddle_feel::Value::Boolean(truth) => Ok(*truth),
        heddle_feel::Value::Null => Ok(false),
        other => Err(expression(format!(
            "the condition `{}` gives {}, not true or false{}",
            condition.expression.source(),
            brief(&to_json(other)),
            prefixed(notes)
        ))),
    }
}
