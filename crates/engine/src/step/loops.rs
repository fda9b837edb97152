//! Loops and multi-instance activities (clauses 13.3.6 and 13.3.7).
//!
//! A node with a marker becomes the body of its instances: it holds the boundary events and a scope with the counters, and
//! each instance is a node instance of the same node in that scope. Bodies go on when no token can move, one step of theirs
//! at a time, so that very many instances are no deep recursion.

use super::error::Thrown;
use super::leave::Completion;
use super::{At, Machine, StepFault, expression};
use crate::event::{BodyKind, CancelReason, EventKind, IncidentCode, Phase};
use crate::state::{BodyState, Stage};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::choreography::Direction;
use heddle_bpmn_graph::{
    Behavior, Collection, ImplicitThrow, Marker, MultiInstance, NodeIx, StandardLoop, Trigger, Work,
};
use heddle_feel::{Context, Expression, Layers, Ref, size_of_json, to_json};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Effects of the end of an instance.
#[derive(Default)]
struct Effects {
    /// Value that it gives for the output collection.
    output: Option<Value>,
    /// Whether it ends the activity.
    ends: bool,
    /// Events that it throws.
    thrown: Vec<ImplicitThrow>,
}

impl Machine<'_> {
    /// Makes a node instance the body of its loop or of its instances, which the step starts later.
    pub(super) fn open_marker(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        marker: &Arc<Marker>,
    ) -> Result<(), StepFault> {
        if self.instance(id)?.body.is_some() {
            self.bodies.push_back(id);
            return Ok(());
        }
        let stage = self.instance(id)?.stage;
        if self.graph.node(ix).continuations.before && stage.is_work() {
            return self.wait_to_continue(ix, id, Stage::Before);
        }
        let waits = self.boundary(ix, id)?;
        let around = self.instance(id)?.scope;
        let (kind, total, items) = match &**marker {
            Marker::Standard(own) => (BodyKind::Loop, own.maximum, Vec::new()),
            Marker::Multi(own) => {
                let (total, items) = self.instances(own, around)?;
                (BodyKind::Instances, Some(total), items)
            }
        };
        self.open(waits, id);
        // A condition at its border may hold already.
        self.settle_conditions()?;
        if self.state.instance(id).is_none() {
            return Ok(());
        }
        if !stage.is_work() {
            self.stage(id, Stage::Work)?;
        }
        self.open_scope(ix, id);
        let (_, at) = self.at(id)?;
        self.emit(at, EventKind::BodyOpened { kind, total, items });
        self.bodies.push_back(id);
        Ok(())
    }

    /// Number of instances of a multi-instance activity, and the items of its collection.
    fn instances(&mut self, own: &MultiInstance, scope: LocalId) -> Result<(u64, Vec<Value>), StepFault> {
        let number = match &own.cardinality {
            None => None,
            Some(setting) => {
                let (value, notes) = self.noted(setting, scope)?;
                let number = value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..1e15).contains(n));
                let Some(number) = number else {
                    let told = told(&value, &notes);
                    return Err(expression(format!("the cardinality gives {told}, no number of instances")));
                };
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is a whole number from 0"
                )]
                Some(number as u64)
            }
        };
        let items = match &own.collection {
            None => Vec::new(),
            Some(collection) => {
                let mut items = self.items(collection, scope)?;
                if let Some(number) = number {
                    let wanted = usize::try_from(number).unwrap_or(usize::MAX);
                    if wanted > items.len() {
                        let most = items.len();
                        let message =
                            format!("the cardinality gives {number}, and the collection has {most} items");
                        return Err(expression(message));
                    }
                    items.truncate(wanted);
                }
                items
            }
        };
        let total = number.unwrap_or(items.len() as u64);
        let most = u64::from(self.cx.budget.activations);
        if !own.sequential && total > most {
            let message = format!("the budget `activations` allows {most} instances at once and not {total}");
            return Err(StepFault::Incident(IncidentCode::Limit, message));
        }
        self.admit_kept(items.iter().map(size_of_json).sum())?;
        Ok((total, items))
    }

    fn items(&self, collection: &Collection, scope: LocalId) -> Result<Vec<Value>, StepFault> {
        let (value, notes) = match collection {
            Collection::Setting(setting) => self.noted(setting, scope)?,
            Collection::Variable(names) => {
                let variables = self.variables(scope);
                let Some(value) = names.iter().find_map(|name| variables.find(name)) else {
                    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
                    let names = names.join("` or `");
                    return Err(expression(format!("the collection: there is no variable `{names}`")));
                };
                self.charge_copy(value)?;
                (value.clone(), Vec::new())
            }
        };
        match value {
            Value::Array(items) => Ok(items),
            other => {
                Err(expression(format!("the collection gives {}, no list of items", told(&other, &notes))))
            }
        }
    }

    /// Whether a node instance is the body of its marker, rather than one of the instances.
    pub(super) fn is_body(&self, ix: NodeIx, id: LocalId) -> bool {
        self.graph.node(ix).marker.is_some()
            && self.state.instance(id).is_some_and(|own| own.iteration.is_none())
    }

    /// The activity that a node instance stands for: the body for one of its instances.
    pub(super) fn activity_of(&self, id: LocalId) -> Result<LocalId, Rejection> {
        let own = self.instance(id)?;
        Ok(if own.iteration.is_some() { own.scope } else { id })
    }

    /// All bodies may go on.
    pub(super) fn wake_bodies(&mut self) {
        let bodies = self.state.flow.active.iter();
        let bodies = bodies.filter(|own| own.body.as_ref().is_some_and(|body| body.kind != BodyKind::AdHoc));
        self.bodies = bodies.map(|own| own.id).collect();
    }

    /// Lets a body start what it can, or end.
    pub(super) fn advance_body(&mut self, id: LocalId) -> Result<(), Rejection> {
        if self.halted {
            self.bodies.clear();
            return Ok(());
        }
        if !self.is_going_on(id) {
            return Ok(());
        }
        match self.start_more(id) {
            Ok(true) => self.leave(id),
            Ok(false) => Ok(()),
            Err(fault) => self.fault(id, fault, Phase::Enter),
        }
    }

    /// Whether a body is there, does its work, and does not wait behind an incident.
    fn is_going_on(&self, id: LocalId) -> bool {
        let failed = || self.state.incidents.iter().any(|own| own.instance == Some(id));
        let own = self.state.instance(id);
        own.is_some_and(|own| own.body.is_some() && own.stage.is_work()) && !failed()
    }

    pub(super) fn body(&self, id: LocalId) -> Result<&BodyState, Rejection> {
        self.instance(id)?.body.as_deref().ok_or(Rejection::UnknownInstance(id))
    }

    /// Starts the next instances; answers whether there is none left, so that the body is over.
    fn start_more(&mut self, id: LocalId) -> Result<bool, StepFault> {
        let (ix, _) = self.at(id)?;
        let Some(marker) = self.graph.node(ix).marker.clone() else { return Ok(true) };
        match &*marker {
            Marker::Standard(own) => {
                let body = self.body(id)?;
                if body.running() > 0 {
                    return Ok(false);
                }
                if !body.has_more() || !self.goes_round(own, id)? {
                    return Ok(true);
                }
                self.start_instance(ix, id, None)?;
                Ok(false)
            }
            Marker::Multi(own) => loop {
                let body = self.body(id)?;
                if !body.has_more() || (own.sequential && body.running() > 0) {
                    return Ok(body.running() == 0);
                }
                self.start_instance(ix, id, Some(own))?;
                if own.sequential || self.halted || !self.is_going_on(id) {
                    return Ok(false);
                }
            },
        }
    }

    /// Whether a standard loop goes round once more.
    fn goes_round(&self, own: &StandardLoop, id: LocalId) -> Result<bool, StepFault> {
        let Some(condition) = &own.condition else { return Ok(true) };
        if !own.test_before && self.body(id)?.completed == 0 {
            return Ok(true);
        }
        self.truth(condition, "loop condition", &Context::new(), id)
    }

    /// Value of a condition that must be true or false.
    pub(super) fn truth(
        &self,
        condition: &Expression,
        name: &str,
        own: &Context,
        scope: LocalId,
    ) -> Result<bool, StepFault> {
        match self.evaluate(condition, &Layers(&[own, &self.variables(scope)]))? {
            (heddle_feel::Value::Boolean(truth), _) => Ok(truth),
            (other, notes) => {
                let (text, told) = (condition.source(), told(&to_json(&other), &notes));
                Err(expression(format!("the {name} `{text}` gives {told}, not true or false")))
            }
        }
    }

    fn start_instance(
        &mut self,
        ix: NodeIx,
        body: LocalId,
        multi: Option<&MultiInstance>,
    ) -> Result<(), StepFault> {
        if let Some(stop) = self.next_stop() {
            self.stop_at_limit(ix, &stop);
            return Ok(());
        }
        let state = self.body(body)?;
        let iteration = state.started;
        let place = usize::try_from(iteration).unwrap_or(usize::MAX);
        let mut values = Map::new();
        if let Some(multi) = multi {
            let item = state.items.get(place).cloned();
            values.insert("loopCounter".to_owned(), iteration.into());
            if let (Some(name), Some(item)) = (&multi.element_variable, item) {
                values.insert(name.to_string(), item);
            }
            self.admit_kept(crate::size::of_members(&values))?;
        }
        let id = self.create_as(ix, body, &[], Some(iteration));
        if !values.is_empty() {
            self.open_scope(ix, id);
            self.emit(At { node: Some(ix), ..At::scope(id) }, EventKind::VariablesSet { values });
        }
        Ok(self.enter(ix, id)?)
    }

    /// An instance of a body has done all but its end. Whatever can fail is done before anything changes, so that it can
    /// be tried again.
    pub(super) fn iteration_done(
        &mut self,
        id: LocalId,
        iteration: u64,
        ending: Completion,
    ) -> Result<(), StepFault> {
        let (ix, at) = self.at(id)?;
        let body = at.scope.unwrap_or(LocalId::ROOT);
        let marker = self.graph.node(ix).marker.clone();
        let Effects { output, ends, thrown } = match marker.as_deref() {
            Some(Marker::Multi(own)) => self.effects(own, id, &ending)?,
            Some(Marker::Standard(_)) | None => Effects::default(),
        };
        self.finish(id, ending)?;
        let (_, at) = self.at(body)?;
        self.emit(at, EventKind::BodyAdvanced { iteration, completed: true, output });
        let payload = self.body(body)?.counters();
        let payload = payload.into_iter().filter(|(name, _)| name.starts_with("number"));
        let mut payload: Map<String, Value> = payload.map(|(name, value)| (name.to_owned(), value)).collect();
        payload.insert("loopCounter".to_owned(), iteration.into());
        for event in &thrown {
            self.throw_implicit(ix, body, event, &payload)?;
        }
        // What was thrown may have ended the activity from outside.
        if self.state.instance(body).is_none() {
            return Ok(());
        }
        if ends {
            self.cancel_contents(body, CancelReason::Completed, None)?;
            return Ok(self.leave(body)?);
        }
        self.bodies.push_back(body);
        Ok(())
    }

    fn effects(
        &mut self,
        own: &MultiInstance,
        id: LocalId,
        ending: &Completion,
    ) -> Result<Effects, StepFault> {
        let (scope, body) = (self.inner(id)?, self.instance(id)?.scope);
        let mut after = self.body(body)?.clone_counts();
        let is_first = after.completed == 0;
        after.completed += 1;
        let mut context = Context::new();
        for (name, value) in after.counters() {
            context.put(Arc::from(name), Ref::Json(&value).into_value());
        }
        if let Some(Value::Object(members)) = &ending.output {
            for (name, value) in members {
                context.put(Arc::from(name.as_str()), Ref::Json(value).into_value());
            }
        }
        let output = match &own.output_element {
            None => None,
            Some(setting) => {
                let (value, _) = self.setting_over(setting, &context, scope)?;
                let value = to_json(&value);
                let bytes = size_of_json(&value);
                self.admit_given(bytes, after.bytes)?;
                Some(value)
            }
        };
        let mut effects = Effects { output, ..Effects::default() };
        match &own.behavior {
            Behavior::All => {}
            Behavior::None(event) => effects.thrown.push(event.clone()),
            Behavior::One(event) => effects.thrown.extend(is_first.then(|| event.clone())),
            Behavior::Complex(all) => {
                for one in all {
                    if self.truth(&one.condition, "condition of the complex behavior", &context, scope)? {
                        effects.thrown.extend(one.events.iter().cloned());
                        effects.ends = true;
                    }
                }
            }
        }
        if let Some(condition) = &own.completion {
            effects.ends |= self.truth(condition, "completion condition", &context, scope)?;
        }
        Ok(effects)
    }

    /// Throws an event for the boundary events of an activity. None of them interrupts it: the instance that throws has
    /// just ended, and its marker says what becomes of the others (clause 10.3.8).
    fn throw_implicit(
        &mut self,
        ix: NodeIx,
        body: LocalId,
        event: &ImplicitThrow,
        payload: &Map<String, Value>,
    ) -> Result<(), Rejection> {
        let graph = self.graph;
        let scope = self.instance(body)?.scope;
        let payload = Value::Object(payload.clone());
        let mut caught = false;
        for &own in &graph.node(ix).boundary {
            let Work::Boundary { trigger, .. } = &graph.node(own).work else { continue };
            let Some(name) = caught_name(trigger, event) else { continue };
            caught = true;
            let instance = self.create(own, scope, &[]);
            let (_, at) = self.at(instance)?;
            let payload = payload.clone();
            match event {
                ImplicitThrow::Signal(_) => self.emit(at, EventKind::SignalReceived { name, payload }),
                ImplicitThrow::Message(_) => {
                    self.emit(at, EventKind::MessageReceived { name, correlation_key: None, payload });
                }
                ImplicitThrow::Escalation(_) => {
                    let thrown = Thrown { code: name.clone(), message: None, values: Map::new() };
                    let values = self.caught(own, thrown);
                    self.set_values(scope, values);
                    self.emit(
                        at,
                        EventKind::EscalationThrown { code: name, values: Map::new(), caught: true },
                    );
                }
            }
            self.leave(instance)?;
        }
        if caught || self.state.instance(body).is_none() {
            return Ok(());
        }
        let (_, at) = self.at(body)?;
        match event {
            ImplicitThrow::Signal(Some(name)) => {
                if let Err(exceeded) = self.admit_hop() {
                    return self.fault(body, exceeded.into(), Phase::Enter);
                }
                self.emit(at, EventKind::SignalSent { name: name.clone(), payload: payload.clone() });
                self.signal_own(name, &payload)
            }
            ImplicitThrow::Message(name) => {
                if let Err(exceeded) = self.admit_hop() {
                    return self.fault(body, exceeded.into(), Phase::Enter);
                }
                let correlation_key = self.state.correlation_key.clone();
                self.emit(
                    at,
                    EventKind::MessageSent {
                        name: name.clone(),
                        correlation_key,
                        correlation_key_id: None,
                        payload,
                    },
                );
                self.exchanged(at, Direction::Sent, name);
                Ok(())
            }
            // Nobody has to catch a default signal or an escalation.
            ImplicitThrow::Signal(None) | ImplicitThrow::Escalation(_) => Ok(()),
        }
    }

    /// Ends a body: gives what its instances gave to the scope around it, and takes its outgoing flows.
    pub(super) fn close_body(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        ending: Completion,
    ) -> Result<(), StepFault> {
        let node = self.graph.node(ix);
        let active = self.instance(id)?;
        let around = active.scope;
        if !active.stage.is_work() {
            return self.depart(id, ending);
        }
        let name = match node.marker.as_deref() {
            Some(Marker::Multi(own)) => own.output_collection.clone(),
            Some(Marker::Standard(_)) | None => None,
        };
        if let (Some(name), Some(body)) = (name, active.body.as_deref()) {
            // A total may be far above what has begun one after another.
            let begun = usize::try_from(body.started).unwrap_or_default();
            let mut given = body.outputs.clone();
            given.resize(begun.max(given.len()), Value::Null);
            let values = Map::from_iter([(name.to_string(), Value::Array(given))]);
            self.admit_own(around, &values)?;
            self.set_values(around, values);
        }
        if node.continuations.after {
            return self.wait_to_continue(ix, id, Stage::After);
        }
        self.depart(id, ending)
    }
}

impl BodyState {
    /// Copy of its numbers alone.
    const fn clone_counts(&self) -> Self {
        Self {
            kind: self.kind,
            items: Vec::new(),
            total: self.total,
            started: self.started,
            completed: self.completed,
            withdrawn: self.withdrawn,
            bytes: self.bytes,
            outputs: Vec::new(),
        }
    }
}

/// The name under which a boundary event catches an implicit event, if it does.
fn caught_name(trigger: &Trigger, event: &ImplicitThrow) -> Option<Arc<str>> {
    match (trigger, event) {
        (Trigger::Signal(own), ImplicitThrow::Signal(None)) => Some(own.clone()),
        (Trigger::Signal(own), ImplicitThrow::Signal(Some(name))) => (own == name).then(|| own.clone()),
        (Trigger::Message(own), ImplicitThrow::Message(name)) => (own.name == *name).then(|| name.clone()),
        (Trigger::Escalation(None), ImplicitThrow::Escalation(code)) => {
            Some(code.clone().unwrap_or_else(|| "".into()))
        }
        (Trigger::Escalation(Some(own)), ImplicitThrow::Escalation(Some(code))) => {
            (own == code).then(|| own.clone())
        }
        (Trigger::Several(several), _) if !several.parallel => {
            several.triggers.iter().find_map(|own| caught_name(own, event))
        }
        _ => None,
    }
}

/// A value as a sentence tells it, with the reasons for null.
pub(super) fn told(value: &Value, notes: &[String]) -> String {
    let text = heddle_kernel::shortened(&value.to_string()).into_owned();
    if notes.is_empty() { text } else { format!("{text} ({})", notes.join("; ")) }
}
