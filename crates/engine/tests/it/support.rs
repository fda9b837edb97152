//! Small models as text, and a run that checks at every step that its state is the fold of its events.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn_graph::{Compiled, Graph, compile};
use heddle_engine::{
    Budget, Command, Event, EventKind, IncidentCode, LocalId, Rejection, Remark, RunContext, State, Status,
    SubscriptionKind, Trigger, apply, step,
};
use heddle_kernel::{RunId, TaskId, Timestamp};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A definition under construction.
#[derive(Clone, Default)]
pub(crate) struct Model {
    nodes: Vec<Value>,
    edges: Vec<Value>,
}

impl Model {
    /// Nodes as `id:type`, parted by white space.
    pub(crate) fn nodes(mut self, text: &str) -> Self {
        for word in text.split_whitespace() {
            let (id, kind) = word.split_once(':').unwrap();
            self.nodes.push(json!({"id": id, "type": kind, "displayName": id}));
        }
        self
    }

    /// One node with more members.
    pub(crate) fn node(mut self, id: &str, kind: &str, more: Value) -> Self {
        let mut node = json!({"id": id, "type": kind, "displayName": id});
        node.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.nodes.push(node);
        self
    }

    /// A sub-process with its content.
    pub(crate) fn sub(self, id: &str, content: Self, more: Value) -> Self {
        let mut bpmn = more;
        bpmn["subProcess"] = json!({"nodes": content.nodes, "edges": content.edges});
        self.node(id, "subProcess", json!({ "bpmn": bpmn }))
    }

    /// An activity, its compensation event `host-c`, and the task of this type that compensates it.
    pub(crate) fn undo(mut self, host: &str, handler: &str, kind: &str) -> Self {
        let event = format!("{host}-c");
        self.edges.push(json!({"type": "association", "source": event, "target": handler}));
        self.node(&event, "boundaryEvent", boundary(host, "compensate", true)).node(
            handler,
            kind,
            json!({"bpmn": {"activity": {"forCompensation": true}}}),
        )
    }

    /// The same with another type of a node.
    pub(crate) fn retype(mut self, id: &str, kind: &str) -> Self {
        let node = self.nodes.iter_mut().find(|own| own["id"] == id).unwrap();
        node["type"] = kind.into();
        self
    }

    /// Chains of flows such as `a > b > c`, parted by semicolons; a flow's id is `a-b`.
    pub(crate) fn flows(mut self, text: &str) -> Self {
        for chain in text.split(';') {
            let names: Vec<&str> = chain.split('>').map(str::trim).collect();
            for pair in names.windows(2) {
                self.edges.push(
                    json!({"id": format!("{}-{}", pair[0], pair[1]), "source": pair[0], "target": pair[1]}),
                );
            }
        }
        self
    }

    /// A flow with a condition `left operator value`.
    pub(crate) fn flow_if(mut self, from: &str, to: &str, condition: &str) -> Self {
        let mut words = condition.splitn(3, ' ');
        let (left, operator, value) = (words.next(), words.next(), words.next());
        self.edges.push(json!({
            "id": format!("{from}-{to}"), "source": from, "target": to,
            "condition": {"left": left, "operator": operator, "value": value}
        }));
        self
    }

    pub(crate) fn edge(mut self, from: &str, to: &str, more: Value) -> Self {
        let mut edge = json!({"id": format!("{from}-{to}"), "source": from, "target": to});
        edge.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.edges.push(edge);
        self
    }

    pub(crate) fn json(&self) -> Value {
        let names = |names: &[&str]| -> Vec<Value> {
            names
                .iter()
                .map(|name| json!({"id": name, "name": name, "code": format!("{name}-code")}))
                .collect()
        };
        json!({
            "nodes": self.nodes, "edges": self.edges,
            "bpmn": {"messages": names(&["m1", "m2"]), "signals": names(&["s1"]), "errors": names(&["e1", "e2"]), "escalations": names(&["x1", "x2"])}
        })
    }

    pub(crate) fn compile(&self) -> Compiled {
        let definition: WorkflowDefinition = serde_json::from_value(self.json()).unwrap();
        compile(&definition)
    }

    pub(crate) fn graph(&self) -> Arc<Graph> {
        let compiled = self.compile();
        assert!(compiled.is_executable(), "{:#?}", compiled.diagnostics);
        compiled.processes[0].clone()
    }

    /// Starts a run with these variables.
    pub(crate) fn run(&self, input: Value) -> Run {
        let mut run = Run::new(self.graph());
        run.start(input).unwrap();
        run
    }
}

/// An event definition of a node: `message m1`, `timer PT1H`, `cycle R3/PT1H`, `date ..`, `signal s1`,
/// `error e1`, `terminate`.
pub(crate) fn event(text: &str) -> Value {
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    let definition = match kind {
        "timer" => json!({"type": "timer", "timeDuration": rest}),
        "cycle" => json!({"type": "timer", "timeCycle": rest}),
        "date" => json!({"type": "timer", "timeDate": rest}),
        "compensate" if !rest.is_empty() => json!({"type": kind, "activityRef": rest}),
        "compensateSoon" => json!({"type": "compensate", "waitForCompletion": false}),
        _ if rest.is_empty() => json!({ "type": kind }),
        _ => json!({"type": kind, "reference": rest}),
    };
    json!({"bpmn": {"eventDefinitions": [definition]}})
}

/// A boundary event of a host.
pub(crate) fn boundary(host: &str, text: &str, interrupting: bool) -> Value {
    let mut more = event(text);
    more["bpmn"]["attachedToRef"] = host.into();
    more["bpmn"]["cancelActivity"] = interrupting.into();
    more
}

pub(crate) const RUN: RunId = RunId(uuid::Uuid::from_u128(0x0189_0a5d_ac96_774b_bcce_b302_099a_8057));

/// A run in memory.
pub(crate) struct Run {
    pub graph: Arc<Graph>,
    pub state: State,
    pub now: Timestamp,
    pub log: Vec<Event>,
    pub key: Option<String>,
    pub decisions: Option<heddle_dmn::Model>,
    pub hops: u32,
    pub budget: Budget,
    pub remark: Option<Remark>,
    /// Values of the data stores.
    pub stores: std::collections::BTreeMap<String, Value>,
}

impl Run {
    pub(crate) fn new(graph: Arc<Graph>) -> Self {
        let now = "2024-01-01T00:00:00Z".parse().unwrap();
        Self {
            graph,
            state: State::new(),
            now,
            log: Vec::new(),
            key: None,
            decisions: None,
            hops: 0,
            budget: Budget::DEFAULT,
            remark: None,
            stores: std::collections::BTreeMap::new(),
        }
    }

    pub(crate) fn start(&mut self, input: Value) -> Result<(), Rejection> {
        let input = input.as_object().cloned().unwrap_or_default();
        self.give(Command::Start { trigger: Trigger::Manual { start_node: None }, input })
    }

    /// The context of a command that is given now.
    pub(crate) fn context(&self) -> RunContext {
        RunContext {
            run_id: RUN,
            now: self.now,
            correlation_key: self.key.clone(),
            actor: None,
            decisions: self.decisions.clone(),
            elsewhere: None,
            hops: self.hops,
            budget: self.budget,
            remark: self.remark.clone(),
            stores: self.stores.clone(),
            roles: Vec::new(),
            people: std::collections::BTreeMap::new(),
        }
    }

    /// Gives a command, and checks that replay and JSON lead to the same state.
    pub(crate) fn give(&mut self, command: Command) -> Result<(), Rejection> {
        let cx = self.context();
        let before = self.state.last_sequence();
        let done = step(&self.graph, &self.state, command, &cx)?;
        assert!(done.events.iter().map(|event| event.sequence).eq(before + 1..=done.state.last_sequence()));
        self.log.extend(done.events);
        self.state = done.state;
        self.check();
        Ok(())
    }

    pub(crate) fn check(&self) {
        let json = serde_json::to_string(&self.log).unwrap();
        let events: Vec<Event> = serde_json::from_str(&json).unwrap();
        assert_eq!(events, self.log);
        let mut replayed = State::new();
        events.iter().for_each(|event| apply(&mut replayed, event));
        assert_eq!(replayed, self.state);
        let json = serde_json::to_string(&self.state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&json).unwrap(), self.state);
    }

    pub(crate) fn status(&self) -> Status {
        self.state.status()
    }

    /// Ids of the nodes with an open human task, sorted.
    pub(crate) fn tasks(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.state.tasks().iter().map(|task| task.node_id.to_string()).collect();
        ids.sort();
        ids
    }

    pub(crate) fn task_id(&self, node: &str) -> TaskId {
        let tasks = self.state.tasks();
        tasks.iter().find(|task| &*task.node_id == node).unwrap_or_else(|| panic!("no task {node}")).task_id
    }

    pub(crate) fn complete(&mut self, node: &str) {
        self.complete_with(node, None, json!({})).unwrap();
    }

    pub(crate) fn complete_with(
        &mut self,
        node: &str,
        outcome: Option<&str>,
        values: Value,
    ) -> Result<(), Rejection> {
        let task_id = self.task_id(node);
        let values = values.as_object().cloned().unwrap_or_default();
        self.give(Command::CompleteTask {
            task_id,
            outcome: outcome.map(str::to_owned),
            values,
            comment: None,
        })
    }

    /// Moves the clock and fires what becomes due, in due order.
    pub(crate) fn advance(&mut self, seconds: i64) {
        let until = self.now.plus_seconds(seconds);
        while let Some(timer) = self
            .state
            .timers()
            .into_iter()
            .filter(|timer| timer.due_at <= until)
            .min_by_key(|timer| (timer.due_at, timer.id))
        {
            self.now = self.now.max(timer.due_at);
            self.give(Command::FireTimer { timer_id: timer.id }).unwrap();
        }
        self.now = until;
    }

    fn subscription(&self, kind: SubscriptionKind, name: &str) -> Option<LocalId> {
        let mut open = self.state.subscriptions().into_iter();
        open.find(|own| own.kind == kind && &*own.name == name).map(|own| own.id)
    }

    pub(crate) fn message(&mut self, name: &str, payload: Value) {
        let subscription_id = self.subscription(SubscriptionKind::Message, name).unwrap();
        self.give(Command::DeliverMessage { subscription_id, payload }).unwrap();
    }

    pub(crate) fn signal(&mut self, name: &str, payload: Value) {
        let subscription_id = self.subscription(SubscriptionKind::Signal, name).unwrap();
        self.give(Command::DeliverSignal { subscription_id, payload }).unwrap();
    }

    /// Names of the open subscriptions, sorted.
    pub(crate) fn waits(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.state.subscriptions().iter().map(|own| own.name.to_string()).collect();
        names.sort();
        names
    }

    /// Ids of the completed activities, sorted.
    pub(crate) fn done(&self) -> Vec<String> {
        let activity = |event: &&Event| matches!(&event.kind, EventKind::NodeCompleted { element, .. } if element.is_activity());
        let done = self.log.iter().filter(activity).filter_map(|event| event.node_id.as_ref());
        let mut ids: Vec<String> = done.map(|id| id.to_string()).collect();
        ids.sort();
        ids
    }

    pub(crate) fn incidents(&self) -> Vec<(IncidentCode, String)> {
        let node = |node: Option<Arc<str>>| node.map(|node| node.to_string()).unwrap_or_default();
        self.state.incidents().into_iter().map(|own| (own.code, node(own.node_id))).collect()
    }

    pub(crate) fn incident_id(&self) -> LocalId {
        self.state.incidents()[0].id
    }

    /// The instance of an active node.
    pub(crate) fn instance(&self, node: &str) -> LocalId {
        let nodes = self.state.active_nodes();
        nodes.iter().find(|own| &*own.node_id == node).and_then(|own| own.node_instance_id).unwrap()
    }

    pub(crate) fn variables(&self) -> Value {
        Value::Object(self.state.variables().cloned().unwrap_or_default())
    }

    /// Texts of the event types, in order.
    pub(crate) fn types(&self) -> Vec<String> {
        let json = serde_json::to_value(&self.log).unwrap();
        json.as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}
