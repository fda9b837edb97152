//! Each node of a level as nodes of the graph: joins, the activity, splits, and what boundary events add.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::{Body, Entry, Info, Level, Role, has_condition, link_name};
use crate::context::{Context, Frame};
use crate::graph::{Branch, Graph, Join, Kind, Outcome, Split, Way};
use crate::names::clean;
use crate::tree::{Activity, Fault, On, Scope, What};
use crate::{events, handlers, steps, structure};
use heddle_bpmn::element::{ElementKind as K, Joining, Splitting};
use std::collections::HashMap;

/// Role of a node at the start of its level, and in the creation of the instance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Starting {
    pub starting: bool,
    pub creating: bool,
    pub pick: bool,
}

/// A graph with the nodes at which each BPMN node is entered and left.
pub(super) struct Made {
    pub graph: Graph,
    pub entry: HashMap<usize, u32>,
    pub exit: HashMap<usize, u32>,
}

impl<'d> Body<'d> {
    /// Adds a node: a join where several flows come in, the node itself, and a split where several go out.
    pub(super) fn add(&mut self, context: &mut Context<'d>, made: &mut Made, at: usize, starting: Starting) {
        let info = self.nodes[at].clone();
        if info.kind == Some(K::BoundaryEvent) && matches!(self.roles[at], Role::Side(own) if own == at) {
            let node = made.graph.node(Kind::Step, Some(info.element), None);
            made.entry.insert(at, node);
            self.leave(made, at, node, &info);
            return;
        }
        if info.kind == Some(K::BoundaryEvent) {
            return;
        }
        let (joining, splitting) = info.node.token_rules();
        let join = match joining {
            Joining::Pass => Join::Exclusive,
            Joining::All => Join::Parallel,
            Joining::Inclusive | Joining::Complex => Join::Inclusive,
        };
        let split = match splitting {
            Splitting::Direct => None,
            Splitting::All => Some(Split::Parallel),
            Splitting::First => Some(Split::Exclusive),
            Splitting::Events => Some(Split::Event(starting.starting && starting.creating)),
            Splitting::Every => Some(Split::Inclusive),
            Splitting::Complex => {
                let (code, message) = steps::no_mapping(&info);
                context.refuse([info.element], code, message);
                Some(Split::Inclusive)
            }
        };
        let incoming = self.incoming[at].len() + usize::from(starting.starting);
        let mut entry = None;
        let mut last = None;
        if incoming > 1 {
            let node = made.graph.node(Kind::Join(join), Some(info.element), None);
            entry = Some(node);
            last = Some(node);
        }
        if split.is_some() {
            context.gateways.insert(info.element);
        }
        let node = match split {
            Some(split) => self.gateway(context, made, at, &info, split),
            None => self.step(context, made, at, &info, starting),
        };
        if let Some(last) = last {
            made.graph.edge(last, node, Branch::default());
        }
        made.entry.insert(at, entry.unwrap_or(node));
    }

    fn gateway(
        &self,
        context: &mut Context<'d>,
        made: &mut Made,
        at: usize,
        info: &Info<'d>,
        split: Split,
    ) -> u32 {
        let outgoing = &self.outgoing[at];
        let conditional = outgoing.iter().any(|flow| has_condition(self.flows[*flow].edge));
        let parallel = info.bool(|bpmn| bpmn.event_gateway_type.as_deref().map(|word| word == "Parallel"));
        if matches!(split, Split::Event(_)) && parallel == Some(true) {
            let message = "a parallel event-based gateway has no mapping to WS-BPEL";
            context.refuse([info.element], "parallelEventGateway", message);
        }
        let single =
            outgoing.len() < 2 && !(conditional && matches!(split, Split::Exclusive | Split::Inclusive));
        let kind = if single && !matches!(split, Split::Event(_)) || outgoing.is_empty() {
            Kind::Step
        } else {
            Kind::Split(split)
        };
        let node = made.graph.node(kind, Some(info.element), None);
        made.exit.insert(at, node);
        node
    }

    fn step(
        &mut self,
        context: &mut Context<'d>,
        made: &mut Made,
        at: usize,
        info: &Info<'d>,
        starting: Starting,
    ) -> u32 {
        let triggered = self.incoming[at]
            .first()
            .is_some_and(|flow| self.nodes[self.flows[*flow].from].splitting() == Splitting::Events)
            || (starting.starting && starting.pick);
        let interrupting: Vec<usize> = self.boundaries[at]
            .iter()
            .copied()
            .filter(|boundary| self.is_interrupting(*boundary) && !self.is_compensation(*boundary))
            .collect();
        if triggered {
            let node = made.graph.node(Kind::Step, Some(info.element), None);
            self.leave(made, at, node, info);
            return node;
        }
        let activity = self.activity(context, at, info, starting);
        if interrupting.is_empty() {
            let node = made.graph.node(Kind::Step, Some(info.element), Some(activity));
            self.leave(made, at, node, info);
            return node;
        }
        let outcome = self.outcome(context, info, &interrupting, activity);
        let kind = Kind::Split(Split::Outcome(Box::new(outcome)));
        let node = made.graph.node(kind, Some(info.element), None);
        let normal = made.graph.node(Kind::Step, None, None);
        made.graph.edge(node, normal, Branch { is_default: true, ..Branch::default() });
        self.leave(made, at, normal, info);
        for boundary in interrupting {
            let info = self.nodes[boundary].clone();
            let way = made.graph.node(Kind::Step, Some(info.element), None);
            made.graph.edge(node, way, Branch::default());
            self.leave(made, boundary, way, &info);
        }
        node
    }

    /// The exit of a node, which splits where several flows leave it.
    fn leave(&self, made: &mut Made, at: usize, node: u32, info: &Info<'d>) {
        let outgoing = &self.outgoing[at];
        let conditional = outgoing.iter().any(|flow| has_condition(self.flows[*flow].edge));
        let exit = if conditional || outgoing.len() > 1 {
            let split = if conditional { Split::Inclusive } else { Split::Parallel };
            let exit = made.graph.node(Kind::Split(split), Some(info.element), None);
            made.graph.edge(node, exit, Branch::default());
            exit
        } else {
            node
        };
        made.exit.insert(at, exit);
    }

    fn activity(
        &mut self,
        context: &mut Context<'d>,
        at: usize,
        info: &Info<'d>,
        starting: Starting,
    ) -> Activity {
        match info.kind {
            Some(K::StartEvent) => self.start(context, info, starting),
            Some(K::EndEvent) => events::throw(context, info, true),
            Some(K::IntermediateThrowEvent) if link_name(info).is_some() => Activity::default(),
            Some(K::IntermediateThrowEvent) => events::throw(context, info, false),
            Some(K::IntermediateCatchEvent) if link_name(info).is_some() => Activity::default(),
            Some(K::IntermediateCatchEvent) => events::catch(context, info, false),
            Some(K::ReceiveTask) if starting.starting && starting.creating => {
                let bpmn = info.node.bpmn.as_deref();
                let operation = bpmn.and_then(|bpmn| bpmn.operation_ref.as_deref());
                let message = bpmn.and_then(|bpmn| bpmn.message_ref.as_deref());
                let call = events::receive(context, info, operation, message);
                events::received(context, info, call, true)
            }
            _ => self.guarded(context, at, info),
        }
    }

    fn start(&self, context: &mut Context<'d>, info: &Info<'d>, starting: Starting) -> Activity {
        if self.level == Level::Handler {
            return Activity::default();
        }
        let list = events::definitions(info);
        if list.is_empty() {
            if self.level == Level::SubProcess || !starting.creating {
                return Activity::default();
            }
            let On::Message(call) = events::generated_start(context, info, true).on else {
                return Activity::default();
            };
            return info.activity(context, What::Receive(call, true));
        }
        if self.level == Level::Process && list.iter().all(|one| one.kind() == Some("message")) {
            return events::catch(context, info, true);
        }
        self.refuse_start(context, info);
        Activity::default()
    }

    /// The activity with the boundary events that do not interrupt it, and its compensation.
    fn guarded(&mut self, context: &mut Context<'d>, at: usize, info: &Info<'d>) -> Activity {
        let mut compensation = None;
        let mut side = Vec::new();
        for boundary in self.boundaries[at].clone() {
            let own = self.nodes[boundary].clone();
            if self.is_compensation(boundary) {
                compensation = self.compensation(context, boundary, &own);
            } else if !self.is_interrupting(boundary) {
                side.push((boundary, own));
            }
        }
        let mut activity = steps::activity(context, info, compensation);
        let name = context.scopes.get(info.id).cloned();
        if !side.is_empty() {
            let mut scope = Scope { body: activity, ..Scope::default() };
            for (boundary, own) in side {
                self.side_path(context, boundary, &own, &mut scope);
            }
            activity = Activity::new(What::Scope(Box::new(scope))).of(info.id);
        }
        if let (Some(name), What::Scope(_)) = (name, &activity.what) {
            activity.name = name;
        }
        activity
    }

    fn compensation(
        &mut self,
        context: &mut Context<'d>,
        boundary: usize,
        own: &Info<'d>,
    ) -> Option<Activity> {
        let Some(handler) = self.compensates.get(&boundary).copied() else {
            let message = "the compensation event leads to no activity";
            context.refuse([own.element], "compensation", message);
            return None;
        };
        let info = self.nodes[handler].clone();
        Some(self.guarded(context, handler, &info))
    }

    fn side_path(&mut self, context: &mut Context<'d>, boundary: usize, own: &Info<'d>, scope: &mut Scope) {
        let definitions = events::definitions(own);
        let [definition] = definitions else {
            let message = "a boundary event with several event definitions, or none, has no mapping";
            context.refuse([own.element], "multipleEvent", message);
            return;
        };
        let trigger = match events::trigger(context, own, definition, true) {
            Ok(trigger) => trigger,
            Err((code, message)) => {
                context.refuse([own.element], code, message);
                return;
            }
        };
        let message =
            "the activity's scope waits for the path of the event to end; in BPMN it goes on without";
        context.inform(own.element, "eventHandler", message);
        context.frames.push(Frame::default());
        let graph = self.graph(context, Entry::Boundary(boundary));
        let body = structure::solve(context, graph);
        let frame = context.frames.pop().unwrap_or_default();
        if let Some(parent) = context.frames.last_mut() {
            parent.terminate = parent.terminate.take().or(frame.terminate);
        }
        let handler = handlers::compensations(context, body, frame.compensations);
        let handler = Scope { variables: frame.variables, body: handler, ..Scope::default() };
        scope.events.push((trigger, Activity::new(What::Scope(Box::new(handler)))));
    }

    /// The scope of an activity whose boundary events interrupt it.
    fn outcome(
        &mut self,
        context: &mut Context<'d>,
        info: &Info<'d>,
        list: &[usize],
        body: Activity,
    ) -> Outcome {
        let name = match (&body.what, context.scopes.get(info.id)) {
            (_, Some(known)) => known.clone(),
            _ => context.names.unique(&format!("{}_scope", clean(info.id))),
        };
        let mut body = body;
        if body.name == name {
            body.name = context.names.unique(&name);
        }
        let mut ways: Vec<Way> = Vec::new();
        for boundary in list {
            let own = self.nodes[*boundary].clone();
            let way = self.way(context, &own);
            if way.trigger.is_none() && ways.iter().any(|other| other.fault == way.fault) {
                let message = "the same error is caught twice at one activity";
                context.refuse([own.element], "duplicateCatch", message);
            }
            ways.push(way);
        }
        let variable = context.names.unique(&format!("{}_outcome", clean(info.id)));
        let scope = Scope { body, ..Scope::default() };
        Outcome { scope, name, element: info.id.to_owned(), ways, variable }
    }

    fn way(&self, context: &mut Context<'d>, own: &Info<'d>) -> Way {
        let element = own.id.to_owned();
        let nothing = Way { element: element.clone(), fault: None, trigger: None };
        let [definition] = events::definitions(own) else {
            let message = "a boundary event with several event definitions, or none, has no mapping";
            context.refuse([own.element], "multipleEvent", message);
            return nothing;
        };
        if definition.kind() == Some("error") {
            let fault = events::error_name(context, definition.reference.as_deref()).map(Fault::Error);
            return Way { element, fault, trigger: None };
        }
        match events::trigger(context, own, definition, true) {
            Ok(trigger) => {
                if matches!(trigger.on, On::Every(_)) {
                    context.refuse([own.element], "timer", "a recurring time cannot interrupt");
                }
                let fault = Some(Fault::Own(context.names.unique("interrupt")));
                Way { element, fault, trigger: Some(trigger) }
            }
            Err((code, message)) => {
                context.refuse([own.element], code, message);
                nothing
            }
        }
    }
}
