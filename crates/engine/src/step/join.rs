//! Tokens that arrive: join rules, the inclusive gateway's (clause 13.4.3) among them, deadlocks, and budgets that are used up.

use super::{At, Machine};
use crate::event::{EventKind, IncidentCode, Phase, Resolution};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{Bits, FlowIx, JoinRule, NodeIx, Upstream};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl Machine<'_> {
    /// A token has come to the end of its flow.
    pub(super) fn arrive(&mut self, flow: FlowIx, scope: LocalId) -> Result<(), Rejection> {
        if !self.has_token(flow, scope) {
            return Ok(());
        }
        let target = self.graph.flow(flow).target;
        if self.halted {
            self.ready.clear();
            return Ok(());
        }
        if let Some(stop) = self.next_stop() {
            self.stop_at_limit(target, &stop);
            return Ok(());
        }
        match &self.graph.node(target).join {
            JoinRule::Pass => self.activate(target, scope, &[flow]),
            JoinRule::All(_) => {
                let incoming = self.graph.incoming(target);
                if incoming.iter().all(|&flow| self.has_token(flow, scope)) {
                    return self.activate(target, scope, incoming);
                }
                Ok(())
            }
            JoinRule::Quantity(_) => {
                let wanted = self.graph.node(target).quantities.start as usize;
                let via = self.tokens_before(target, scope);
                if via.len() < wanted {
                    return Ok(());
                }
                self.settle_deadlock(target, scope);
                self.activate(target, scope, &via)
            }
            JoinRule::Complex(_) => self.arrive_complex(target, scope),
            // Whether an inclusive join may go on is known only when nothing else can move.
            JoinRule::Inclusive(_) => Ok(()),
        }
    }

    /// The flows of the tokens that stand before a node in a scope, one entry per token, as many as it takes at most.
    pub(super) fn tokens_before(&self, ix: NodeIx, scope: LocalId) -> Vec<FlowIx> {
        let tokens = &self.state.flow.tokens;
        // The step stops at its next token when this was too much.
        let _ = self.charge_places(tokens.len());
        let inside = tokens.iter().filter(|token| token.scope == scope);
        let flows = inside.filter_map(|token| self.graph.find_flow(&token.flow));
        let most = self.graph.node(ix).quantities.start as usize;
        flows.filter(|&flow| self.graph.flow(flow).target == ix).take(most).collect()
    }

    /// The joins that hold tokens, each once per scope.
    pub(super) fn held(&self) -> Vec<(NodeIx, LocalId)> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        for token in &self.state.flow.tokens {
            let Some(flow) = self.graph.find_flow(&token.flow) else { continue };
            let key = (self.graph.flow(flow).target, token.scope);
            if self.graph.node(key.0).join.upstream().is_some() && seen.insert(key) {
                found.push(key);
            }
        }
        found
    }

    /// Whether tokens stand still behind the incident of a budget.
    pub(super) fn is_stopped(&self) -> bool {
        let of_budget = |code| matches!(code, IncidentCode::ActivationLimit | IncidentCode::Limit);
        self.state.incidents.iter().any(|own| of_budget(own.code))
    }

    /// Reason why no further token may move in this step.
    pub(super) fn next_stop(&self) -> Option<String> {
        if let Some(exceeded) = self.spent() {
            let livelock = "; a livelock (a cycle without a wait state) may be the cause";
            let hint = if exceeded.budget == "activations" { livelock } else { "" };
            return Some(format!("{exceeded}{hint}"));
        }
        self.steps.charge(1).err()?;
        let most = self.cx.budget.steps;
        Some(format!(
            "the budget `steps` allows {most} and they are used up; very many tokens may be the cause"
        ))
    }

    /// Activates one inclusive join that no other token can reach; answers whether there was one.
    pub(super) fn fire_inclusive(&mut self) -> Result<bool, Rejection> {
        if self.state.flow.tokens.is_empty() || self.is_stopped() {
            return Ok(false);
        }
        for (join, scope) in self.held() {
            let upstream = match &self.graph.node(join).join {
                JoinRule::Inclusive(upstream) => upstream,
                // These are decided when a token arrives.
                JoinRule::Pass | JoinRule::All(_) | JoinRule::Complex(_) | JoinRule::Quantity(_) => continue,
            };
            let Some(via) = self.ready_inclusive(join, upstream, scope) else { continue };
            if let Some(stop) = self.next_stop() {
                self.stop_at_limit(join, &stop);
                return Ok(false);
            }
            self.settle_deadlock(join, scope);
            self.activate(join, scope, &via)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The flows with tokens of an inclusive join that may go on: for every token elsewhere from which an
    /// empty incoming flow can be reached, one of the flows that have a token can be reached, too.
    fn ready_inclusive(&self, join: NodeIx, upstream: &Upstream, scope: LocalId) -> Option<Vec<FlowIx>> {
        let has = |flow: FlowIx| self.has_token(flow, scope);
        let (full, empty): (Vec<_>, Vec<_>) = upstream.iter().partition(|(flow, _)| has(*flow));
        let reaches =
            |sets: &[&(FlowIx, Bits)], ix: NodeIx| sets.iter().any(|(_, upstream)| upstream.contains(ix));
        let blocked = self.places(scope, join).any(|ix| reaches(&empty, ix) && !reaches(&full, ix));
        (!blocked).then(|| full.iter().map(|(flow, _)| *flow).collect())
    }

    /// The nodes in a scope where tokens are: in node instances, or before other joins.
    pub(super) fn places(&self, scope: LocalId, join: NodeIx) -> impl Iterator<Item = NodeIx> {
        // What is compensated gives no token.
        let active = self.state.flow.active.iter().filter(move |own| own.scope == scope && !own.restored);
        let active = active.filter_map(|own| self.graph.find(&own.node));
        let tokens = self.state.flow.tokens.iter().filter(move |token| token.scope == scope);
        let tokens = tokens.filter_map(|token| self.graph.find_flow(&token.flow));
        active.chain(tokens.map(|flow| self.graph.flow(flow).target)).filter(move |ix| *ix != join)
    }

    /// Raises an incident for each join that can never go on: a parallel one of which one flow, an inclusive
    /// one of which all flows without a token cannot be reached by any node instance of the scope.
    pub(super) fn detect_deadlocks(&mut self) {
        if !self.graph.has_joins() || self.is_stopped() {
            return;
        }
        // Where what is, by scopes: very many scopes may hold tokens.
        let (mut inside, mut tokens) = (HashMap::new(), HashSet::new());
        for own in self.state.flow.active.iter().filter(|own| !own.restored) {
            inside.entry(own.scope).or_insert_with(Vec::new).extend(self.graph.find(&own.node));
        }
        for token in &self.state.flow.tokens {
            tokens.extend(self.graph.find_flow(&token.flow).map(|flow| (flow, token.scope)));
        }
        for (join, scope) in self.held() {
            if self.deadlock_of(join, scope).is_some() {
                continue;
            }
            let rule = &self.graph.node(join).join;
            let Some(paths) = rule.upstream() else { continue };
            let here: &[NodeIx] = inside.get(&scope).map(Vec::as_slice).unwrap_or_default();
            let reached = |upstream: &Bits| here.iter().any(|&ix| upstream.contains(ix));
            let all = matches!(rule, JoinRule::Quantity(_));
            let missing: Vec<_> =
                paths.iter().filter(|(flow, _)| all || !tokens.contains(&(*flow, scope))).collect();
            let stuck = match rule {
                // One that runs may lead back to itself.
                JoinRule::Quantity(_) => {
                    !here.contains(&join) && !missing.iter().any(|(_, upstream)| reached(upstream))
                }
                JoinRule::Pass => false,
                JoinRule::Complex(_) => self.waits_in_vain(join, scope),
                JoinRule::All(_) => missing.iter().any(|(_, upstream)| !reached(upstream)),
                JoinRule::Inclusive(_) => !missing.iter().any(|(_, upstream)| reached(upstream)),
            };
            if stuck {
                let never = missing.iter().filter(|(_, upstream)| !reached(upstream));
                let flows: Vec<&str> = never.map(|(flow, _)| &*self.graph.flow(*flow).id).collect();
                let message = format!(
                    "`{}` waits for tokens that can no longer come: {}",
                    self.graph.node(join).id,
                    flows.join(", ")
                );
                let at = At { node: Some(join), ..At::scope(scope) };
                self.raise(at, IncidentCode::Deadlock, &message, Phase::Tokens);
            }
        }
    }

    fn deadlock_of(&self, join: NodeIx, scope: LocalId) -> Option<LocalId> {
        let id: &Arc<str> = &self.graph.node(join).id;
        let own = self.state.incidents.iter().find(|own| {
            own.code == IncidentCode::Deadlock && own.scope == scope && own.node.as_ref() == Some(id)
        });
        own.map(|own| own.id)
    }

    /// Closes the incident of a join that goes on after all.
    pub(super) fn settle_deadlock(&mut self, join: NodeIx, scope: LocalId) {
        if let Some(incident_id) = self.deadlock_of(join, scope) {
            let at = At { node: Some(join), ..At::scope(scope) };
            let by = self.actor();
            self.emit(at, EventKind::IncidentResolved { incident_id, resolution: Resolution::Obsolete, by });
        }
    }

    /// A budget is used up: the tokens stand still until the incident is retried. The incident is the process's own,
    /// because tokens of any scope may stand still behind it.
    pub(super) fn stop_at_limit(&mut self, next: NodeIx, message: &str) {
        self.ready.clear();
        self.halted = true;
        if !self.is_stopped() {
            let at = At { node: Some(next), ..At::scope(LocalId::ROOT) };
            self.raise(at, IncidentCode::Limit, message, Phase::Tokens);
        }
    }
}
