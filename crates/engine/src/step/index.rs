//! Index of what is looked for again and again in a run with very many node instances, tokens, waits or incidents.

use crate::LocalId;
use crate::event::{Event, EventKind};
use crate::state::State;
use heddle_bpmn_graph::{Graph, NodeIx};
use std::collections::{BTreeSet, HashMap};

/// Tokens, node instances, waits and incidents from which on an index pays.
const LEAST: usize = 64;

/// Waits of one host: the events that wait, and the ids of what they wait for.
#[derive(Debug, Clone, Default)]
pub(super) struct Hosted {
    pub timers: Vec<(NodeIx, LocalId)>,
    pub subscriptions: Vec<(NodeIx, LocalId)>,
}

/// Content of a scope.
#[derive(Debug, Default)]
struct Inside {
    nodes: BTreeSet<LocalId>,
    tokens: usize,
}

/// Index of a run's state that follows its events.
#[derive(Debug, Default)]
pub(super) struct Index {
    hosts: HashMap<LocalId, Hosted>,
    incidents: HashMap<LocalId, Vec<LocalId>>,
    scopes: HashMap<LocalId, Inside>,
}

impl Index {
    /// The index of a state that is large enough to need one.
    pub(super) fn of(state: &State, graph: &Graph) -> Option<Self> {
        let flow = &state.flow;
        let waits = state.timers.len() + state.subscriptions.len();
        if flow.tokens.len() + flow.active.len() + waits + state.incidents.len() < LEAST {
            return None;
        }
        let mut index = Self::default();
        for own in &flow.active {
            index.scopes.entry(own.scope).or_default().nodes.insert(own.id);
        }
        for token in &flow.tokens {
            index.scopes.entry(token.scope).or_default().tokens += 1;
        }
        for own in &state.timers {
            if let Some(node) = graph.find(&own.node) {
                index.hosts.entry(own.host).or_default().timers.push((node, own.id));
            }
        }
        for own in &state.subscriptions {
            if let Some(node) = graph.find(&own.node) {
                index.hosts.entry(own.host).or_default().subscriptions.push((node, own.id));
            }
        }
        for own in &state.incidents {
            if let Some(instance) = own.instance {
                index.incidents.entry(instance).or_default().push(own.id);
            }
        }
        Some(index)
    }

    /// Follows an event that has been applied. `before` and `after` are the numbers of all tokens.
    pub(super) fn follow(&mut self, event: &Event, graph: &Graph, [before, after]: [usize; 2]) {
        let scope = event.scope_id.unwrap_or(LocalId::ROOT);
        if before != after {
            let inside = self.scopes.entry(scope).or_default();
            inside.tokens = (inside.tokens + after).saturating_sub(before);
        }
        let host = event.node_instance_id.unwrap_or(scope);
        let node = event.node_id.as_deref().and_then(|id| graph.find(id));
        self.content(event, scope, host, node);
    }

    /// Content of scopes and hosts, and incidents, as an event of a node changes them.
    fn content(&mut self, event: &Event, scope: LocalId, host: LocalId, node: Option<NodeIx>) {
        match &event.kind {
            EventKind::NodeActivated { .. } | EventKind::NodeRestored { .. } => {
                self.scopes.entry(scope).or_default().nodes.extend(event.node_instance_id);
            }
            EventKind::NodeCompleted { .. }
            | EventKind::NodeCompensated { .. }
            | EventKind::BodyClosed { .. }
            | EventKind::NodeCancelled { .. } => {
                if let (Some(inside), Some(id)) = (self.scopes.get_mut(&scope), event.node_instance_id) {
                    inside.nodes.remove(&id);
                }
            }
            EventKind::ScopeClosed {} => {
                self.scopes.remove(&scope);
            }
            EventKind::TimerScheduled { timer_id, .. } => {
                let own = node.map(|node| (node, *timer_id));
                self.hosts.entry(host).or_default().timers.extend(own);
            }
            EventKind::TimerFired { timer_id, .. } | EventKind::TimerCancelled { timer_id } => {
                if let Some(own) = self.hosts.get_mut(&host) {
                    own.timers.retain(|(_, id)| id != timer_id);
                }
            }
            EventKind::SubscriptionOpened { subscription_id, .. } => {
                let own = node.map(|node| (node, *subscription_id));
                self.hosts.entry(host).or_default().subscriptions.extend(own);
            }
            EventKind::SubscriptionClosed { subscription_id } => {
                if let Some(own) = self.hosts.get_mut(&host) {
                    own.subscriptions.retain(|(_, id)| id != subscription_id);
                }
            }
            EventKind::IncidentRaised { incident_id, .. } => {
                if let Some(instance) = event.node_instance_id {
                    self.incidents.entry(instance).or_default().push(*incident_id);
                }
            }
            EventKind::IncidentResolved { incident_id, .. } => {
                if let Some(own) = event.node_instance_id.and_then(|id| self.incidents.get_mut(&id)) {
                    own.retain(|id| id != incident_id);
                }
            }
            // An ended run holds nothing.
            EventKind::RunCompleted { .. } | EventKind::RunFailed { .. } | EventKind::RunCancelled { .. } => {
                *self = Self::default()
            }
            EventKind::CaseOpened { .. }
            | EventKind::CaseFileChanged { .. }
            | EventKind::CaseReactivated { .. }
            | EventKind::CaseClosed { .. }
            | EventKind::ItemCreated(_)
            | EventKind::ItemTransitioned { .. }
            | EventKind::SentrySatisfied { .. }
            | EventKind::SentryReset { .. }
            | EventKind::OnPartOccurred { .. }
            | EventKind::CallDetached { .. }
            | EventKind::RoundPending { .. }
            | EventKind::ChoreographyAdvanced { .. }
            | EventKind::ChoreographyViolated(_)
            | EventKind::RunStarted(_)
            | EventKind::RunCancelling { .. }
            | EventKind::RunSuspended { .. }
            | EventKind::RunResumed { .. }
            | EventKind::NodeStaged { .. }
            | EventKind::BodyOpened { .. }
            | EventKind::BodyAdvanced { .. }
            | EventKind::CompensationRecorded { .. }
            | EventKind::CompensationStarted { .. }
            | EventKind::CompensationEnded { .. }
            | EventKind::FlowTaken { .. }
            | EventKind::TokensWithdrawn { .. }
            | EventKind::ScopeOpened {}
            | EventKind::VariablesSet { .. }
            | EventKind::ConditionChanged { .. }
            | EventKind::MessageReceived { .. }
            | EventKind::MessageSent { .. }
            | EventKind::SignalReceived { .. }
            | EventKind::SignalSent { .. }
            | EventKind::EscalationThrown { .. }
            | EventKind::TaskCreated(_)
            | EventKind::TaskAssigned { .. }
            | EventKind::TaskCompleted { .. }
            | EventKind::TaskCancelled { .. }
            | EventKind::JobCreated(_)
            | EventKind::JobCompleted { .. }
            | EventKind::JobFailed { .. }
            | EventKind::JobErrorThrown { .. }
            | EventKind::JobKept { .. }
            | EventKind::ProtectionViolated(_)
            | EventKind::JobRetriesSet { .. }
            | EventKind::JobCancelled { .. }
            | EventKind::RunCalled(_)
            | EventKind::CallCompleted { .. }
            | EventKind::CallFailed { .. }
            | EventKind::CallCancelled { .. }
            | EventKind::DecisionEvaluated(_)
            | EventKind::ScriptEvaluated { .. }
            | EventKind::DataStoreWritten { .. }
            | EventKind::DecisionTaken { .. } => {}
        }
    }

    /// Waits of a host.
    pub(super) fn waits(&self, host: LocalId) -> Hosted {
        self.hosts.get(&host).cloned().unwrap_or_default()
    }

    /// Open incidents of a node instance.
    pub(super) fn incidents(&self, instance: LocalId) -> Vec<LocalId> {
        self.incidents.get(&instance).cloned().unwrap_or_default()
    }

    /// Node instances of a scope, by rising ids.
    pub(super) fn nodes(&self, scope: LocalId) -> Vec<LocalId> {
        self.scopes.get(&scope).map(|inside| inside.nodes.iter().copied().collect()).unwrap_or_default()
    }

    /// Tokens on the flows of a scope.
    pub(super) fn tokens(&self, scope: LocalId) -> usize {
        self.scopes.get(&scope).map_or(0, |inside| inside.tokens)
    }

    /// Whether tokens or node instances are in a scope.
    pub(super) fn is_busy(&self, scope: LocalId) -> bool {
        self.scopes.get(&scope).is_some_and(|inside| inside.tokens > 0 || !inside.nodes.is_empty())
    }
}
