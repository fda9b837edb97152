//! Views of a run's state for the outside.

use crate::LocalId;
use crate::event::{IncidentCode, RunError, SubscriptionKind};
use crate::state::{IncidentState, Life, NodeInstance, State, Status, Token};
use heddle_bpmn_graph::{Element, Graph};
use heddle_kernel::{TaskId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A node that is active: `activeNodes[]` of the API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveNode {
    /// The node.
    pub node_id: Arc<str>,
    /// The node instance; absent where tokens wait at a join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_instance_id: Option<LocalId>,
    /// The BPMN element.
    #[serde(rename = "type")]
    pub element: Element,
    /// `active`, or `failed` while an incident is open.
    pub state: NodeState,
    /// Instant since which it is active.
    pub since: Timestamp,
    /// Subject of its wait; absent for a sub-process whose content runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<WaitingFor>,
}

/// Whether a node instance is in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeState {
    /// Active instance: it waits or its content runs.
    Active,
    /// An incident stopped it.
    Failed,
}

/// Subject of a node instance's wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingFor {
    /// Kind of wait.
    pub kind: WaitKind,
    /// Name of the message, signal or task, or code of the incident.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Key that a message must carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_key: Option<String>,
    /// Due time of a timer or a human task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// The human task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The incident.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incident_id: Option<LocalId>,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Decisions that can be taken on it.
    pub options: Vec<String>,
}

/// Kinds of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WaitKind {
    /// A human task is open.
    HumanTask,
    /// A timer is set.
    Timer,
    /// A message is awaited.
    Message,
    /// A signal is awaited.
    Signal,
    /// An incident is open.
    Incident,
    /// Somebody has to say `continue`.
    Decision,
    /// A join waits for tokens on its other incoming flows.
    Join,
}

/// An open human task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenTask {
    /// The task.
    pub task_id: TaskId,
    /// The user task's node.
    pub node_id: Arc<str>,
    /// Node instance of the user task.
    pub node_instance_id: LocalId,
    /// Name of the task.
    pub name: Option<Arc<str>>,
    /// User who works on it; absent when nobody does.
    pub assignee: Option<String>,
    /// Users who may claim it.
    pub candidate_users: Vec<String>,
    /// Groups whose members may claim it.
    pub candidate_groups: Vec<String>,
    /// Due time; absent when there is none.
    pub due_at: Option<Timestamp>,
    /// 0 to 100.
    pub priority: Option<u8>,
    /// JSON Schema of the values.
    pub form: Option<Arc<Value>>,
    /// Outcomes to choose from.
    pub outcomes: Vec<Arc<str>>,
    /// Instant of creation.
    pub created_at: Timestamp,
}

/// A timer that is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenTimer {
    /// The timer.
    pub id: LocalId,
    /// The timer event.
    pub node_id: Arc<str>,
    /// Instant from which it may fire.
    pub due_at: Timestamp,
}

/// An open subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenSubscription {
    /// The subscription.
    pub id: LocalId,
    /// Message or signal.
    pub kind: SubscriptionKind,
    /// Name of the message or signal.
    pub name: Arc<str>,
    /// The key that a message must carry; absent when any does.
    pub correlation_key: Option<String>,
    /// The event or receive task.
    pub node_id: Arc<str>,
}

/// An open incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Incident {
    /// The incident.
    pub id: LocalId,
    /// Kind of the incident.
    pub code: IncidentCode,
    /// Cause of the incident, as a sentence.
    pub message: String,
    /// The node.
    pub node_id: Option<Arc<str>>,
    /// The node instance; absent for tokens on flows.
    pub node_instance_id: Option<LocalId>,
    /// The attempt that failed, from 1.
    pub attempt: u32,
    /// Instant at which it was raised.
    pub raised_at: Timestamp,
}

impl State {
    /// The run's state.
    #[must_use]
    pub const fn status(&self) -> Status {
        match self.life {
            Life::New => Status::Running,
            Life::Active => Status::Waiting,
            Life::Suspended => Status::Suspended,
            Life::Completed => Status::Completed,
            Life::Failed => Status::Failed,
            Life::Cancelled => Status::Cancelled,
        }
    }

    /// The id of the process that runs.
    #[must_use]
    pub const fn process_id(&self) -> &Arc<str> {
        &self.process
    }

    /// The variables of the process.
    #[must_use]
    pub fn variables(&self) -> Option<&Map<String, Value>> {
        self.scopes.first().map(|scope| &scope.variables)
    }

    /// The variables of the process at the run's end; none before, or when it did not complete.
    #[must_use]
    pub fn output(&self) -> Option<&Map<String, Value>> {
        if self.life == Life::Completed { self.variables() } else { None }
    }

    /// Outputs of nodes: node id → `{output, outcome}`.
    #[must_use]
    pub const fn node_outputs(&self) -> &Value {
        &self.outputs
    }

    /// The error that ended the run.
    #[must_use]
    pub const fn error(&self) -> Option<&RunError> {
        self.error.as_ref()
    }

    /// The run's correlation key.
    #[must_use]
    pub fn correlation_key(&self) -> Option<&str> {
        self.correlation_key.as_deref()
    }

    /// Instant of the run's start; none before it.
    #[must_use]
    pub const fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    /// Instant of the run's end; none before it.
    #[must_use]
    pub const fn ended_at(&self) -> Option<Timestamp> {
        self.ended_at
    }

    /// The sequence of the last event.
    #[must_use]
    pub const fn last_sequence(&self) -> u64 {
        self.sequence
    }

    /// Whether an incident is open.
    #[must_use]
    pub const fn has_incident(&self) -> bool {
        !self.incidents.is_empty()
    }

    /// Instant since which the longest waiting node waits.
    #[must_use]
    pub fn waiting_since(&self) -> Option<Timestamp> {
        self.active.iter().map(|active| active.since).chain(self.tokens.iter().map(|token| token.since)).min()
    }

    /// The open human tasks.
    #[must_use]
    pub fn tasks(&self) -> Vec<OpenTask> {
        let open = |active: &NodeInstance| {
            let task = active.task.as_deref()?.clone();
            Some(OpenTask {
                task_id: task.id,
                node_id: active.node.clone(),
                node_instance_id: active.id,
                name: task.name,
                assignee: task.assignee,
                candidate_users: task.candidate_users,
                candidate_groups: task.candidate_groups,
                due_at: task.due_at,
                priority: task.priority,
                form: task.form,
                outcomes: task.outcomes,
                created_at: active.since,
            })
        };
        self.active.iter().filter_map(open).collect()
    }

    /// The timers that may fire when they are due; none while the run is suspended, so that they fire after it
    /// is resumed.
    #[must_use]
    pub fn timers(&self) -> Vec<OpenTimer> {
        let timers = if self.life == Life::Active { self.timers.as_slice() } else { &[] };
        let open = |timer: &crate::state::TimerState| OpenTimer {
            id: timer.id,
            node_id: timer.node.clone(),
            due_at: timer.due_at,
        };
        timers.iter().map(open).collect()
    }

    /// The open subscriptions; none while the run is suspended.
    #[must_use]
    pub fn subscriptions(&self) -> Vec<OpenSubscription> {
        let subscriptions = if self.life == Life::Active { self.subscriptions.as_slice() } else { &[] };
        let open = |own: &crate::state::SubscriptionState| OpenSubscription {
            id: own.id,
            kind: own.kind,
            name: own.name.clone(),
            correlation_key: own.key.clone(),
            node_id: own.node.clone(),
        };
        subscriptions.iter().map(open).collect()
    }

    /// The open incidents.
    #[must_use]
    pub fn incidents(&self) -> Vec<Incident> {
        let open = |own: &IncidentState| Incident {
            id: own.id,
            code: own.code,
            message: own.message.clone(),
            node_id: own.node.clone(),
            node_instance_id: own.instance,
            attempt: own.attempt,
            raised_at: own.at,
        };
        self.incidents.iter().map(open).collect()
    }

    /// The active nodes. A gateway that waits for events has one entry per event, a node with several open
    /// waits only its own. Tokens at joins appear in [`State::view`].
    #[must_use]
    pub fn active_nodes(&self) -> Vec<ActiveNode> {
        let mut found = Vec::with_capacity(self.active.len());
        for active in &self.active {
            let incident = self.incidents.iter().find(|own| own.instance == Some(active.id));
            if let Some(incident) = incident {
                found.push(entry(active, NodeState::Failed, Some(of_incident(incident))));
            } else if active.element == Element::EventBasedGateway {
                self.awaited(active, &mut found);
            } else {
                found.push(entry(active, NodeState::Active, self.wait_of(active)));
            }
        }
        found
    }

    /// The active nodes and the tokens that wait at joins of the graph.
    #[must_use]
    pub fn view(&self, graph: &Graph) -> Vec<ActiveNode> {
        let mut found = self.active_nodes();
        let mut joins: Vec<(Arc<str>, LocalId)> = Vec::new();
        for token in &self.tokens {
            let Some(flow) = graph.find_flow(&token.flow) else { continue };
            let node = graph.node(graph.flow(flow).target);
            let key = (node.id.clone(), token.scope);
            if !joins.contains(&key) {
                joins.push(key);
                found.push(self.held(&node.id, node.element, token));
            }
        }
        found
    }

    fn held(&self, node: &Arc<str>, element: Element, token: &Token) -> ActiveNode {
        let about = |own: &&IncidentState| {
            own.instance.is_none() && own.scope == token.scope && own.node.as_ref() == Some(node)
        };
        let incident = self.incidents.iter().find(about);
        let join = || WaitingFor { options: Vec::new(), ..waiting(WaitKind::Join, None, 1) };
        ActiveNode {
            node_id: node.clone(),
            node_instance_id: None,
            element,
            state: if incident.is_some() { NodeState::Failed } else { NodeState::Active },
            since: token.since,
            waiting_for: Some(incident.map_or_else(join, of_incident)),
        }
    }

    /// One entry per event that a gateway waits for.
    fn awaited(&self, gateway: &NodeInstance, found: &mut Vec<ActiveNode>) {
        let before = found.len();
        let entry_for = |node: &Arc<str>, wait: WaitingFor| ActiveNode {
            node_id: node.clone(),
            ..entry(gateway, NodeState::Active, Some(wait))
        };
        for timer in self.timers.iter().filter(|timer| timer.host == gateway.id) {
            let wait =
                WaitingFor { due_at: Some(timer.due_at), ..waiting(WaitKind::Timer, None, gateway.attempt) };
            found.push(entry_for(&timer.node, wait));
        }
        for own in self.subscriptions.iter().filter(|own| own.host == gateway.id) {
            found.push(entry_for(&own.node, of_subscription(own, gateway.attempt)));
        }
        if found.len() == before {
            found.push(entry(gateway, NodeState::Active, None));
        }
    }

    fn wait_of(&self, active: &NodeInstance) -> Option<WaitingFor> {
        if let Some(task) = &active.task {
            let mut wait = waiting(WaitKind::HumanTask, task.name.as_deref(), active.attempt);
            let outcomes = task.outcomes.iter().map(|outcome| outcome.to_string());
            wait.options = outcomes.chain(wait.options).collect();
            return Some(WaitingFor { due_at: task.due_at, task_id: Some(task.id), ..wait });
        }
        // What boundary events wait for is not what the activity waits for.
        let own = |node: &Arc<str>, host: LocalId| host == active.id && *node == active.node;
        if let Some(timer) = self.timers.iter().find(|timer| own(&timer.node, timer.host)) {
            let wait = waiting(WaitKind::Timer, None, active.attempt);
            return Some(WaitingFor { due_at: Some(timer.due_at), ..wait });
        }
        if let Some(own) = self.subscriptions.iter().find(|sub| own(&sub.node, sub.host)) {
            return Some(of_subscription(own, active.attempt));
        }
        if active.element == Element::ReceiveTask {
            let mut wait = waiting(WaitKind::Decision, None, active.attempt);
            wait.options.insert(0, "continue".to_owned());
            return Some(wait);
        }
        None
    }
}

fn waiting(kind: WaitKind, name: Option<&str>, attempt: u32) -> WaitingFor {
    WaitingFor {
        kind,
        name: name.map(str::to_owned),
        correlation_key: None,
        due_at: None,
        task_id: None,
        incident_id: None,
        attempt,
        options: vec!["skip".to_owned(), "move".to_owned()],
    }
}

fn of_subscription(own: &crate::state::SubscriptionState, attempt: u32) -> WaitingFor {
    let kind = match own.kind {
        SubscriptionKind::Message => WaitKind::Message,
        SubscriptionKind::Signal => WaitKind::Signal,
    };
    WaitingFor { correlation_key: own.key.clone(), ..waiting(kind, Some(&own.name), attempt) }
}

fn of_incident(own: &IncidentState) -> WaitingFor {
    let options: &[&str] = match own.code {
        IncidentCode::ActivationLimit => &["retry"],
        IncidentCode::Limit if own.instance.is_none() => &["retry"],
        IncidentCode::Deadlock => &["retry", "skip"],
        IncidentCode::ExpressionError
        | IncidentCode::NoMatchingFlow
        | IncidentCode::DecisionError
        | IncidentCode::Limit => &["retry", "skip", "move"],
    };
    let name = match own.code {
        IncidentCode::ExpressionError => "EXPRESSION_ERROR",
        IncidentCode::NoMatchingFlow => "NO_MATCHING_FLOW",
        IncidentCode::ActivationLimit => "ACTIVATION_LIMIT",
        IncidentCode::Limit => "LIMIT",
        IncidentCode::Deadlock => "DEADLOCK",
        IncidentCode::DecisionError => "DECISION_ERROR",
    };
    WaitingFor {
        incident_id: Some(own.id),
        options: options.iter().map(|&option| option.to_owned()).collect(),
        ..waiting(WaitKind::Incident, Some(name), own.attempt)
    }
}

fn entry(active: &NodeInstance, state: NodeState, waiting_for: Option<WaitingFor>) -> ActiveNode {
    ActiveNode {
        node_id: active.node.clone(),
        node_instance_id: Some(active.id),
        element: active.element,
        state,
        since: active.since,
        waiting_for,
    }
}
