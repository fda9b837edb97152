//! Data of activities and events: objects, inputs and outputs, sets and associations (clauses 10.4 and 13.3.2).

use super::{At, Machine, StepFault};
use crate::core::budgets::Leaving;
use crate::event::{EventKind, Trigger};
use crate::state::Stage;
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{Association, Element, NodeIx, Place, ProcessSets, ScopeIx};
use heddle_feel::to_json;
use serde_json::{Map, Value};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Variable with the states of data objects, beside them: name of the object to its state.
const STATES: &str = "dataStates";

/// Node instances that may wait for data.
#[derive(Debug)]
pub(super) struct DataWaits {
    /// Those that are to be looked at.
    queue: VecDeque<LocalId>,
    /// Whether something has changed since that they may see.
    stirred: bool,
}

impl DataWaits {
    /// All of them are to be looked at.
    pub(super) const fn new() -> Self {
        Self { queue: VecDeque::new(), stirred: true }
    }

    /// Follows an event: data, a new one that waits, or one that does not stand behind anything else any more.
    pub(super) const fn follow(&mut self, kind: &EventKind) {
        self.stirred |= matches!(
            kind,
            EventKind::VariablesSet { .. }
                | EventKind::NodeStaged { .. }
                | EventKind::TimerFired { .. }
                | EventKind::TimerCancelled { .. }
                | EventKind::IncidentResolved { .. }
        );
    }
}

impl Machine<'_> {
    /// Gives a sub-process its data objects and properties, which are empty at first.
    pub(super) fn open_data(&mut self, ix: NodeIx, id: LocalId, content: ScopeIx) {
        let own = &self.graph.scope(content).data;
        if own.is_empty() {
            return;
        }
        let present = self.state.scope(id).map(|scope| &scope.variables);
        let missing = own.iter().filter(|name| present.is_none_or(|known| !known.contains_key(&***name)));
        let values: Map<String, Value> = missing.map(|name| (name.to_string(), Value::Null)).collect();
        if !values.is_empty() {
            self.emit(At { node: Some(ix), ..At::scope(id) }, EventKind::VariablesSet { values });
        }
    }

    /// Checks that what a process is started with makes one of its input sets whole. An event that starts it has data of its
    /// own.
    pub(super) fn admit_input(&self, trigger: &Trigger, input: &Map<String, Value>) -> Result<(), Rejection> {
        match trigger {
            Trigger::Manual { .. } => {}
            Trigger::Message { .. } | Trigger::Timer { .. } | Trigger::Signal { .. } => return Ok(()),
        }
        let is_there = |name: &str| input.get(name).is_some_and(|value| !value.is_null());
        let missing = ProcessSets::missing(&self.graph.sets().inputs, is_there);
        if missing.is_empty() {
            return Ok(());
        }
        Err(Rejection::NoInputSet(missing.into_iter().map(str::to_owned).collect()))
    }

    /// Names of the variables without a value that no output set of the process can do without; empty where one is whole.
    pub(super) fn missing_outputs(&self) -> Vec<&str> {
        let variables = self.state.variables();
        let is_there =
            |name: &str| variables.and_then(|own| own.get(name)).is_some_and(|value| !value.is_null());
        ProcessSets::missing(&self.graph.sets().outputs, is_there)
    }

    /// Whether a node instance has the data that it needs: one of its input sets is available, or it has none.
    pub(super) fn has_data(&self, ix: NodeIx, id: LocalId) -> Result<bool, Rejection> {
        let Some(data) = &self.graph.node(ix).data else { return Ok(true) };
        if data.input_sets.is_empty() {
            return Ok(true);
        }
        let scope = self.instance(id)?.scope;
        let filled = |input: &Arc<str>| {
            let fills =
                |own: &&Association| own.target.as_ref().is_some_and(|target| target.variable == *input);
            let mut sources = data.inputs.iter().filter(fills).flat_map(|own| &own.sources);
            sources.all(|source| !source.written || self.is_there(source, scope))
        };
        Ok(data.input_sets.iter().any(|set| set.iter().all(filled)))
    }

    /// Whether a place has a value, in the state in which it is read.
    fn is_there(&self, place: &Place, scope: LocalId) -> bool {
        let variables = self.variables(scope);
        let filled = variables.find(&place.variable).is_some_and(|value| !value.is_null());
        let state = |wanted: &Arc<str>| {
            let states = variables.find(STATES).and_then(|states| states.get(&*place.variable));
            states.and_then(Value::as_str) == Some(&**wanted)
        };
        filled && place.state.as_ref().is_none_or(state)
    }

    /// Enters the next node instance that waited for data and has it now; answers whether there was one. All that wait are
    /// looked at once for each time that something changed which they may see.
    pub(super) fn enter_with_data(&mut self) -> Result<bool, Rejection> {
        if !self.graph.waits_for_data() || self.halted {
            return Ok(false);
        }
        loop {
            while let Some(id) = self.data_waits.queue.pop_front() {
                // What went before it may have withdrawn it.
                if self.state.instance(id).is_none_or(|own| own.stage != Stage::Before) {
                    continue;
                }
                let (ix, _) = self.at(id)?;
                if self.has_data(ix, id)? {
                    self.enter(ix, id)?;
                    return Ok(true);
                }
            }
            if !self.data_waits.stirred {
                return Ok(false);
            }
            self.data_waits = DataWaits { queue: self.waiting_for_data(), stirred: false };
            // The step stops at its next token when this was too much.
            let _ = self.charge_places(self.data_waits.queue.len());
        }
    }

    /// Node instances that wait for data, and neither at a commit point nor behind an incident.
    fn waiting_for_data(&self) -> VecDeque<LocalId> {
        let state = &self.state;
        let timers = state.timers.iter().map(|timer| timer.host);
        let elsewhere: HashSet<LocalId> =
            timers.chain(state.incidents.iter().filter_map(|incident| incident.instance)).collect();
        let waits =
            |own: &&crate::state::NodeInstance| own.stage == Stage::Before && !elsewhere.contains(&own.id);
        state.flow.active.iter().filter(waits).map(|own| own.id).collect()
    }

    /// Moves data into a node instance, by its data input associations.
    pub(super) fn data_in(&mut self, ix: NodeIx, id: LocalId) -> Result<(), StepFault> {
        let Some(data) = self.graph.node(ix).data.clone() else { return Ok(()) };
        self.open_scope(ix, id);
        let empty = data.own.iter().map(|name| (name.to_string(), Value::Null));
        let mut values: Map<String, Value> = empty.collect();
        // What mappings have put there stays.
        if let Some(scope) = self.state.scope(id) {
            values.retain(|name, _| !scope.variables.contains_key(name));
        }
        let around = self.instance(id)?.scope;
        self.set_own(ix, id, values)?;
        for association in &data.inputs {
            let moved = self.moved(association, around, id)?;
            let mut own = Map::new();
            let mut outer = Map::new();
            for (name, value) in moved {
                let is_own = data.own.iter().any(|known| **known == *name);
                if is_own {
                    own.insert(name, value)
                } else {
                    outer.insert(name, value)
                };
            }
            self.set_own(ix, id, own)?;
            self.admit_own(around, &outer)?;
            self.set_values(around, outer);
        }
        Ok(())
    }

    /// Moves data out of a node instance, by its data output associations. What the activity gave nothing for stays as it
    /// was.
    pub(super) fn data_out(&mut self, ix: NodeIx, id: LocalId) -> Result<(), StepFault> {
        let Some(data) = self.graph.node(ix).data.clone() else { return Ok(()) };
        let (inner, around) = (self.inner(id)?, self.instance(id)?.scope);
        self.fill_outputs(ix, id)?;
        for association in &data.outputs {
            let moved = self.moved(association, inner, around)?;
            let told = self.admit_store(association, &moved)?;
            self.admit(around, &Leaving { told, output: None, values: &moved })?;
            self.write_store(id, association, &moved)?;
            self.set_values(around, moved);
            if let Some(Place { variable, state: Some(state), .. }) = &association.target {
                self.set_state(around, variable, state)?;
            }
        }
        Ok(())
    }

    /// Gives the data outputs that are empty what the node gave: the member of that name, or, where nobody chose the
    /// members, as of a message or a script, all of it for the only output.
    fn fill_outputs(&mut self, ix: NodeIx, id: LocalId) -> Result<(), StepFault> {
        let node = self.graph.node(ix);
        let Some(data) = &node.data else { return Ok(()) };
        let given = self.state.outputs.get(&*node.id).and_then(|entry| entry.get("output"));
        let (Some(given), Some(own)) = (given.filter(|given| !given.is_null()), self.state.scope(id)) else {
            return Ok(());
        };
        let chosen = matches!(node.element, Element::UserTask | Element::Task | Element::ManualTask);
        let empty = |name: &str| own.variables.get(name).is_some_and(Value::is_null);
        let wanted: Vec<&Arc<str>> = data
            .outputs
            .iter()
            .flat_map(|own| &own.sources)
            .map(|source| &source.variable)
            .filter(|name| empty(name))
            .collect();
        let mut values = Map::new();
        for name in &wanted {
            let whole = (wanted.len() == 1 && !chosen).then_some(given);
            if let Some(value) = given.get(&***name).or(whole) {
                self.charge_copy(value)?;
                values.insert(name.to_string(), value.clone());
            }
        }
        self.set_own(ix, id, values)
    }

    /// Payload of a throwing event or a send task without a setting for it: its data input, or all of them by name.
    pub(super) fn data_payload(&self, ix: NodeIx, id: LocalId) -> Result<Value, StepFault> {
        let (Some(data), Some(own)) = (&self.graph.node(ix).data, self.state.scope(id)) else {
            return Ok(Value::Null);
        };
        let mut inputs = Map::new();
        for target in data.inputs.iter().filter_map(|own| own.target.as_ref()) {
            if let Some(value) = own.variables.get(&*target.variable) {
                self.charge_copy(value)?;
                inputs.insert(target.variable.to_string(), value.clone());
            }
        }
        Ok(match inputs.len() {
            0 => Value::Null,
            1 => inputs.into_iter().next().map_or(Value::Null, |(_, value)| value),
            _ => Value::Object(inputs),
        })
    }

    fn set_own(&mut self, ix: NodeIx, id: LocalId, values: Map<String, Value>) -> Result<(), StepFault> {
        if values.is_empty() {
            return Ok(());
        }
        self.admit_own(id, &values)?;
        self.emit(At { node: Some(ix), ..At::scope(id) }, EventKind::VariablesSet { values });
        Ok(())
    }

    /// Keeps the state of a data object where the object is.
    fn set_state(&mut self, scope: LocalId, variable: &str, state: &str) -> Result<(), StepFault> {
        let owner = self.variables(scope).owner(variable);
        let states = self.state.scope(owner).and_then(|own| own.variables.get(STATES)).cloned();
        self.charge_copy(states.as_ref().unwrap_or(&Value::Null))?;
        let mut states = match states {
            Some(Value::Object(states)) => states,
            _ => Map::new(),
        };
        states.insert(variable.to_owned(), state.into());
        let values = Map::from_iter([(STATES.to_owned(), Value::Object(states))]);
        self.admit_own(owner, &values)?;
        self.emit(At::scope(owner), EventKind::VariablesSet { values });
        Ok(())
    }

    /// Variables that an association sets: evaluated as `from` sees them, with the rest of what gets only a member as
    /// `to` sees it.
    fn moved(
        &self,
        association: &Association,
        from: LocalId,
        to: LocalId,
    ) -> Result<Map<String, Value>, StepFault> {
        let mut values = Map::new();
        let target = association.target.as_ref();
        match (&association.transformation, association.sources.as_slice(), target) {
            (Some(transformation), _, Some(target)) => {
                let (value, _) = self.evaluate(transformation, &self.variables(from))?;
                values.insert(target.variable.to_string(), to_json(&value));
            }
            (None, [source], Some(target)) if association.assignments.is_empty() => {
                if let Some(value) = self.variables(from).find(&source.variable).filter(|own| !own.is_null())
                {
                    self.charge_copy(value)?;
                    values.insert(target.variable.to_string(), value.clone());
                }
            }
            (Some(_) | None, _, _) => {}
        }
        for assignment in &association.assignments {
            let (value, _) = self.evaluate(&assignment.from, &self.variables(from))?;
            let mut place = assignment.to.clone();
            if let Some(target) = target.filter(|target| target.variable != place.variable) {
                // A place within the target.
                place.members.insert(0, place.variable.to_string());
                place.variable = target.variable.clone();
            }
            let before = values.get(&*place.variable).or_else(|| self.variables(to).find(&place.variable));
            before.filter(|_| !place.members.is_empty()).map_or(Ok(()), |own| self.charge_copy(own))?;
            let whole = place.put(before, to_json(&value));
            values.insert(place.variable.to_string(), whole);
        }
        Ok(values)
    }
}
