//! Complex gateways (clause 13.4.5): activated when their condition holds, and reset when the other tokens have come.

use super::leave::Completion;
use super::{At, Machine, StepFault, expression};
use crate::core::eval::{Variables, brief, prefixed};
use crate::event::{EventKind, IncidentCode, Phase, Resolution};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{Element, FlowIx, JoinRule, NodeIx};
use heddle_feel::to_json;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A complex gateway in one scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    gateway: NodeIx,
    scope: LocalId,
}

impl Machine<'_> {
    /// A token has come to a complex gateway.
    pub(super) fn arrive_complex(&mut self, gateway: NodeIx, scope: LocalId) -> Result<(), Rejection> {
        let place = Place { gateway, scope };
        match self.opened(place) {
            Some(id) if self.waits_for_reset(id) => self.try_reset(place, id, false).map(|_| ()),
            // A gateway that an incident stopped takes nothing more.
            Some(_) => Ok(()),
            None => self.try_start(place).map(|_| ()),
        }
    }

    /// Activates or resets one complex gateway when nothing else can move; answers whether there was one.
    pub(super) fn fire_complex(&mut self) -> Result<bool, Rejection> {
        if self.is_stopped() || self.halted {
            return Ok(false);
        }
        let reset = self.state.flow.active.iter().filter(|own| own.element == Element::ComplexGateway);
        let reset = reset.filter_map(|own| Some((own.id, own.scope, self.graph.find(&own.node)?)));
        let reset: Vec<(LocalId, LocalId, NodeIx)> = reset.collect();
        for (id, scope, gateway) in reset {
            if self.waits_for_reset(id) && self.try_reset(Place { gateway, scope }, id, true)? {
                return Ok(true);
            }
        }
        for (gateway, scope) in self.held() {
            let place = Place { gateway, scope };
            let complex = matches!(self.graph.node(gateway).join, JoinRule::Complex(_));
            if complex && self.opened(place).is_none() && self.try_start(place)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes the flows of a complex gateway that was activated. It stays until it is reset.
    pub(super) fn depart_complex(&mut self, ix: NodeIx, id: LocalId) -> Result<(), StepFault> {
        let scope = self.instance(id)?.scope;
        let place = Place { gateway: ix, scope };
        let counts = self.counts(place, true);
        let flows = self.choose_complex(place, &counts)?;
        for flow in flows {
            self.take(flow, scope);
        }
        self.touched.push(scope);
        Ok(())
    }

    /// Whether a complex gateway has no more to do than to wait for the other tokens of its round.
    fn waits_for_reset(&self, id: LocalId) -> bool {
        let stopped = self.state.incidents.iter().any(|own| own.instance == Some(id));
        !stopped && self.state.instance(id).is_some_and(|own| own.stage.is_done_or_work())
    }

    /// The instance of a complex gateway in a scope: there is one from its activation to its reset.
    fn opened(&self, place: Place) -> Option<LocalId> {
        let node = &self.graph.node(place.gateway).id;
        let mut inside = self.state.flow.active.iter();
        inside.find(|own| own.scope == place.scope && own.node == *node).map(|own| own.id)
    }

    fn try_start(&mut self, place: Place) -> Result<bool, Rejection> {
        let Place { gateway, scope } = place;
        match self.is_activated(place) {
            Ok(false) => Ok(false),
            Ok(true) => {
                let incoming = self.graph.incoming(gateway).iter().copied();
                let via: Vec<FlowIx> = incoming.filter(|&flow| self.has_token(flow, scope)).collect();
                self.settle_place(place);
                self.settle_deadlock(gateway, scope);
                self.activate(gateway, scope, &via)?;
                Ok(true)
            }
            Err(fault) => self.place_fault(place, fault).map(|()| false),
        }
    }

    fn is_activated(&self, place: Place) -> Result<bool, StepFault> {
        let Some(condition) = self.graph.node(place.gateway).activation.clone() else { return Ok(true) };
        let counts = self.counts(place, true);
        match self.evaluate(&condition.expression, &self.over(place.scope, &counts))? {
            (heddle_feel::Value::Boolean(truth), _) => Ok(truth),
            (other, notes) => Err(expression(format!(
                "the activation condition `{}` of `{}` gives {}, not true or false{}",
                condition.expression.source(),
                self.graph.node(place.gateway).id,
                brief(&to_json(&other)),
                prefixed(&notes)
            ))),
        }
    }

    fn over<'v>(&'v self, scope: LocalId, before: &'v Map<String, Value>) -> Variables<'v> {
        Variables { before: Some(before), ..self.variables(scope) }
    }

    /// Variables that the conditions of a complex gateway see of it: `activationCount`, the tokens on its
    /// incoming flows; `activationCounts`, those on each, by its id; `waitingForStart`.
    fn counts(&self, place: Place, waiting_for_start: bool) -> Map<String, Value> {
        let mut total = 0_u64;
        let mut counts = Map::new();
        for &flow in self.graph.incoming(place.gateway) {
            let id = &self.graph.flow(flow).id;
            let on_it = |token: &&crate::state::Token| token.scope == place.scope && token.flow == *id;
            let count = self.state.flow.tokens.iter().filter(on_it).count() as u64;
            total += count;
            counts.insert(id.to_string(), count.into());
        }
        Map::from_iter([
            ("activationCount".to_owned(), Value::from(total)),
            ("activationCounts".to_owned(), Value::Object(counts)),
            ("waitingForStart".to_owned(), Value::Bool(waiting_for_start)),
        ])
    }

    /// The flows of the first phase: all that hold, else the default one.
    fn choose_complex(&self, place: Place, counts: &Map<String, Value>) -> Result<Vec<FlowIx>, StepFault> {
        let node = self.graph.node(place.gateway);
        let outgoing = self.graph.outgoing(place.gateway);
        let mut taken = Vec::new();
        for &flow in outgoing.iter().filter(|&&flow| node.default_flow != Some(flow)) {
            if self.holds_over(flow, &self.over(place.scope, counts), false)? {
                taken.push(flow);
            }
        }
        if taken.is_empty() {
            taken.extend(node.default_flow);
        }
        if taken.is_empty() && !outgoing.is_empty() {
            let message = format!("no outgoing flow of `{}` holds and there is no default flow", node.id);
            return Err(StepFault::Incident(IncidentCode::NoMatchingFlow, message));
        }
        Ok(taken)
    }

    /// The flows of the second phase: those whose conditions hold now. A flow without a condition was taken in the first.
    fn choose_again(&self, place: Place, counts: &Map<String, Value>) -> Result<Vec<FlowIx>, StepFault> {
        let node = self.graph.node(place.gateway);
        let mut taken = Vec::new();
        for &flow in self.graph.outgoing(place.gateway) {
            let has_condition = self.graph.flow(flow).condition.is_some();
            if has_condition
                && node.default_flow != Some(flow)
                && self.holds_over(flow, &self.over(place.scope, counts), false)?
            {
                taken.push(flow);
            }
        }
        Ok(taken)
    }

    /// Resets the gateway once every flow that had no token in the first phase has one, or can get none any more; answers
    /// whether it did.
    fn try_reset(&mut self, place: Place, id: LocalId, quiescent: bool) -> Result<bool, Rejection> {
        let Place { gateway, scope } = place;
        let JoinRule::Complex(upstream) = &self.graph.node(gateway).join else { return Ok(false) };
        let consumed = self.instance(id)?.via.clone();
        let was = |flow: FlowIx| consumed.contains(&self.graph.flow(flow).id);
        let (full, empty): (Vec<_>, Vec<_>) =
            upstream.iter().partition(|(flow, _)| was(*flow) || self.has_token(*flow, scope));
        if !empty.is_empty() {
            let reaches = |sets: &[&(FlowIx, heddle_bpmn_graph::Bits)], ix: NodeIx| {
                sets.iter().any(|(_, before)| before.contains(ix))
            };
            // A token that is on its way to an empty flow is waited for, unless a full one can be its way, too.
            let expected =
                || self.places(scope, gateway).any(|ix| reaches(&empty, ix) && !reaches(&full, ix));
            if !quiescent || expected() {
                return Ok(false);
            }
        }
        let rest: Vec<FlowIx> = full.iter().map(|(flow, _)| *flow).filter(|flow| !was(*flow)).collect();
        self.reset(place, id, &rest)
    }

    fn reset(&mut self, place: Place, id: LocalId, rest: &[FlowIx]) -> Result<bool, Rejection> {
        let Place { gateway, scope } = place;
        let mut flows = Vec::new();
        if !rest.is_empty() {
            let counts = self.counts(place, false);
            // A reset that consumes no token gives none.
            flows = match self.choose_again(place, &counts) {
                Ok(flows) => flows,
                Err(fault) => return self.place_fault(place, fault).map(|()| false),
            };
            let withdrawn: Vec<Arc<str>> =
                rest.iter().map(|&flow| self.graph.flow(flow).id.clone()).collect();
            let at = At { node: Some(gateway), ..At::scope(scope) };
            self.emit(at, EventKind::TokensWithdrawn { flows: withdrawn });
        }
        self.settle_place(place);
        self.finish(id, Completion::default())?;
        self.touched.push(scope);
        for flow in flows {
            self.take(flow, scope);
        }
        // Tokens of the next round have waited on the flows.
        let waiting = self.graph.incoming(gateway).iter().copied();
        let waiting = waiting.filter(|&flow| self.has_token(flow, scope));
        let waiting: Vec<(FlowIx, LocalId)> = waiting.map(|flow| (flow, scope)).collect();
        self.ready.extend(waiting);
        Ok(true)
    }

    fn incident_at(&self, place: Place) -> Option<LocalId> {
        let node = &self.graph.node(place.gateway).id;
        let own = self.state.incidents.iter().find(|own| {
            own.code == IncidentCode::ExpressionError
                && own.instance.is_none()
                && own.scope == place.scope
                && own.node.as_ref() == Some(node)
        });
        own.map(|own| own.id)
    }

    /// A condition of the gateway that decides nothing: one incident, while its tokens wait.
    fn place_fault(&mut self, place: Place, fault: StepFault) -> Result<(), Rejection> {
        match fault {
            StepFault::Rejected(rejection) => Err(rejection),
            StepFault::Incident(IncidentCode::ExpressionError, _) if self.incident_at(place).is_some() => {
                Ok(())
            }
            StepFault::Incident(code, message) => {
                let at = At { node: Some(place.gateway), ..At::scope(place.scope) };
                self.raise(at, code, &message, Phase::Tokens);
                Ok(())
            }
        }
    }

    fn settle_place(&mut self, place: Place) {
        if let Some(incident_id) = self.incident_at(place) {
            let at = At { node: Some(place.gateway), ..At::scope(place.scope) };
            let by = self.actor();
            self.emit(at, EventKind::IncidentResolved { incident_id, resolution: Resolution::Obsolete, by });
        }
    }

    /// Whether a complex gateway waits for a first activation that can never come.
    pub(super) fn waits_in_vain(&self, gateway: NodeIx, scope: LocalId) -> bool {
        let place = Place { gateway, scope };
        let JoinRule::Complex(upstream) = &self.graph.node(gateway).join else { return false };
        self.opened(place).is_none()
            && self.incident_at(place).is_none()
            && !self.places(scope, gateway).any(|ix| upstream.iter().any(|(_, before)| before.contains(ix)))
    }
}
