//! Creation and transitions of items (clauses 8.4 and 8.6).

use super::{CaseMachine, LifeCycle, Moved, Todo, transition};
use crate::core::budgets::Exceeded;
use crate::core::{Spot, StepFault, expression};
use crate::event::{EventKind, IncidentCode, ItemCreated, ItemState, ItemType, Phase, Resolution};
use crate::{LocalId, Rejection, size};
use heddle_cmmn::life::word;
use heddle_cmmn::plan::{CriterionIx, Item, ItemEvent, ItemIx, LifecycleListener, PLAN_MODEL, Rule, Work};
use heddle_feel::size_of_json;
use serde_json::{Map, Value};

/// Events of an element's instance until it is at work: it is created, has its scope with its numbers, and begins.
const EVENTS_OF_ELEMENT: u64 = 5;

/// Creation of an instance.
#[derive(Clone, Copy, Default)]
pub(super) struct Creation {
    /// Whether it is there for the next time that an entry criterion is met.
    pub repeats: bool,
    /// Whether somebody planned it.
    pub planned: bool,
    /// Whether it is begun by what makes it, one of several for the elements of a collection.
    pub is_element: bool,
}

/// Transition of an instance, as its listeners hear it; what comes to be had no state before.
pub(super) struct Transition {
    pub(super) event: ItemEvent,
    pub(super) from: Option<ItemState>,
    pub(super) to: ItemState,
}

impl CaseMachine<'_> {
    /// An instance of an item comes to be in a stage; it is available.
    pub(super) fn create(
        &mut self,
        ix: ItemIx,
        parent: LocalId,
        creation: Creation,
    ) -> Result<LocalId, Rejection> {
        let Some(item) = self.plan_item(ix) else { return Err(Rejection::UnknownItem(ix.to_string())) };
        self.activations += 1;
        let id = self.next_id();
        let around = self.inner(parent);
        // Whether it is required is asked once and kept; what cannot be told holds its stage.
        let asked = self.rule(&item.control.required, around);
        let required = asked.as_ref().copied().unwrap_or(true);
        let created = ItemCreated {
            item_type: item_type(item, ix),
            name: item.name.clone(),
            parent: Some(parent),
            required,
            repeats: creation.repeats,
            planned: creation.planned,
            by: self.actor().filter(|_| creation.planned),
        };
        let spot =
            Spot { node: Some(item.id.clone()), instance: Some(id), scope: Some(around), attempt: None };
        self.emit(spot, EventKind::ItemCreated(Box::new(created)));
        if let Err(fault) = asked {
            self.trouble(id, fault)?;
        }
        let created = ItemEvent::Create;
        let moved = Moved { id, item: ix, event: created, criterion: None, parent: Some(parent) };
        self.todo.push_back(Todo::Moved(moved));
        self.hear(id, item, &Transition { event: created, from: None, to: ItemState::Available })?;
        if self.is_listener(item) {
            self.listen(id, ix)?;
        } else if item.entry.is_empty() && !creation.is_element {
            self.todo.push_back(Todo::Enter(id));
        }
        if !(item.entry.is_empty() && item.exit.is_empty()) {
            self.look_at(id);
        }
        Ok(id)
    }

    /// A plan item comes to be in a stage that opens, or in a case that is reactivated; its rules may say otherwise there.
    pub(super) fn come(&mut self, ix: ItemIx, stage: LocalId) -> Result<(), Rejection> {
        let Some(item) = self.plan_item(ix).filter(|own| own.discretionary.is_none()) else { return Ok(()) };
        let Some(at_once) = self.comes(item, stage)? else { return Ok(()) };
        let id = self.create(ix, stage, Creation::default())?;
        if at_once && !item.entry.is_empty() {
            self.todo.push_back(Todo::Enter(id));
        }
        Ok(())
    }

    /// Whether an item that comes to be begins at once; none where it does not come to be.
    fn comes(&mut self, item: &Item, stage: LocalId) -> Result<Option<bool>, Rejection> {
        let again = self.case().is_ok_and(|case| case.reactivated);
        let Some(default) = self.plan.reactivation.as_ref().filter(|_| again) else { return Ok(Some(false)) };
        let scope = self.inner(stage);
        for own in item.control.reactivation.as_deref().into_iter().chain([default]) {
            for (rule, way) in [(&own.activate, Some(true)), (&own.ignore, None), (&own.anew, Some(false))] {
                // Null is data that is not there.
                let holds = match rule {
                    Rule::When(condition) => self.part(condition, scope),
                    Rule::No | Rule::Yes => self.rule(rule, scope),
                };
                match holds {
                    Ok(true) => return Ok(way),
                    Ok(false) => {}
                    // Nothing is done twice that nobody asked for.
                    Err(fault) => return self.trouble(stage, fault).map(|()| None),
                }
            }
        }
        Ok(Some(false))
    }

    /// Makes a transition, if the life cycle allows it.
    pub(super) fn transit(
        &mut self,
        id: LocalId,
        event: ItemEvent,
        criterion: Option<CriterionIx>,
    ) -> Result<(), Rejection> {
        let (ix, item) = self.item_of(id)?;
        let own = self.item(id)?;
        let from = own.state;
        let Some(to) = transition(self.cycle(ix, item), from, own.before, event) else {
            let transition = word(event);
            return Err(Rejection::WrongTransition {
                item: item.id.to_string(),
                state: from.as_str(),
                transition,
            });
        };
        let parent = own.parent;
        self.activations += 1;
        if to.is_ended() || (to == ItemState::Failed && ix == PLAN_MODEL) {
            self.withdraw(id, item, event);
        }
        let by = criterion.is_none().then(|| self.actor()).flatten();
        let told = criterion.and_then(|ix| self.plan.criteria.get(ix as usize)).map(|own| own.id.clone());
        let spot = self.spot(id);
        self.emit(spot, EventKind::ItemTransitioned { from, to, event, criterion: told, by });
        self.todo.push_back(Todo::Moved(Moved { id, item: ix, event, criterion, parent }));
        self.touched.extend(parent);
        let goes_on = matches!(event, ItemEvent::Resume | ItemEvent::ParentResume);
        if goes_on && to == ItemState::Active && self.has_to_go_on(id, item) {
            self.todo.push_back(Todo::TakeUp(id));
        }
        if to == ItemState::Completed
            && let Some(status) = item.extra.settings.get("businessStatus")
        {
            // The case has the status of what was completed last, as a variable.
            self.set_values(LocalId::ROOT, Map::from_iter([("businessStatus".to_owned(), status.clone())]));
        }
        self.hear(id, item, &Transition { event, from: Some(from), to })?;
        if matches!(item.work, Work::Stage { .. }) {
            self.propagate(id, ix, event, to)?;
        }
        if to.is_ended() && ix != PLAN_MODEL {
            self.come_again(id, ix, item, event)?;
        }
        Ok(())
    }

    /// Passes a stage's transition on to what is in it.
    fn propagate(
        &mut self,
        id: LocalId,
        ix: ItemIx,
        event: ItemEvent,
        to: ItemState,
    ) -> Result<(), Rejection> {
        match event {
            ItemEvent::Suspend | ItemEvent::ParentSuspend => self.pass_on(id, ItemEvent::ParentSuspend),
            ItemEvent::Resume | ItemEvent::ParentResume => self.pass_on(id, ItemEvent::ParentResume),
            ItemEvent::Reactivate if ix == PLAN_MODEL => self.pass_on(id, ItemEvent::ParentResume),
            _ if to.is_ended() || (to == ItemState::Failed && ix == PLAN_MODEL) => self.end_contents(id),
            _ => Ok(()),
        }
    }

    /// Children of a stage's instance that have not ended, by rising ids.
    pub(super) fn children(&self, id: LocalId) -> Vec<LocalId> {
        self.within.get(&id).cloned().unwrap_or_default()
    }

    fn pass_on(&mut self, id: LocalId, event: ItemEvent) -> Result<(), Rejection> {
        for child in self.children(id) {
            let (ix, item) = self.item_of(child)?;
            let own = self.item(child)?;
            if transition(self.cycle(ix, item), own.state, own.before, event).is_some() {
                self.transit(child, event, None)?;
            }
        }
        Ok(())
    }

    /// Ends what is in a stage that has ended; listeners for the reactivation of a case stay.
    fn end_contents(&mut self, id: LocalId) -> Result<(), Rejection> {
        for child in self.children(id) {
            let (_, item) = self.item_of(child)?;
            let event = match item.work {
                Work::Reactivation { .. } => continue,
                _ => self.exit_event(item),
            };
            self.transit(child, event, None)?;
        }
        Ok(())
    }

    /// The transition by which an item ends with what is around it, or by a criterion.
    pub(super) fn exit_event(&self, item: &Item) -> ItemEvent {
        match LifeCycle::of(&item.work, item.parent.is_none()) {
            LifeCycle::Occurrence => ItemEvent::ParentTerminate,
            LifeCycle::Case | LifeCycle::Work => ItemEvent::Exit,
        }
    }

    /// Withdraws what an instance waits for, and its own variables.
    fn withdraw(&mut self, id: LocalId, item: &Item, event: ItemEvent) {
        self.withdraw_works(id);
        if self.is_listener(item) {
            self.close_waits(id);
        }
        self.settle_incidents(id, false);
        // The listeners of a transition to its end see them still.
        let heard = event == ItemEvent::Complete && !item.extra.listeners.is_empty();
        if self.state.scope(id).is_some() && id != LocalId::ROOT && !heard {
            let spot = self.scope_spot(id);
            self.emit(spot, EventKind::ScopeClosed {});
        }
    }

    /// Withdraws the human task, the job or the called run of an instance.
    pub(super) fn withdraw_works(&mut self, id: LocalId) {
        for withdrawn in self.works_of(id) {
            let spot = self.spot(id);
            self.emit(spot, withdrawn);
        }
    }

    /// Settles the incidents of an instance, or those alone that kept it from beginning.
    fn settle_incidents(&mut self, id: LocalId, only_entry: bool) {
        let goes = |own: &&crate::state::IncidentState| {
            own.instance == Some(id) && (!only_entry || own.phase == Phase::Enter)
        };
        let own = self.state.incidents.iter().filter(goes);
        let found: Vec<LocalId> = own.map(|own| own.id).collect();
        for incident_id in found {
            let (spot, by) = (self.spot(id), self.actor());
            self.emit(
                spot,
                EventKind::IncidentResolved { incident_id, resolution: Resolution::Obsolete, by },
            );
        }
    }

    /// Listeners of a transition: what they compute is set at once.
    pub(super) fn hear(&mut self, id: LocalId, item: &Item, heard: &Transition) -> Result<(), Rejection> {
        let Transition { event, from, to } = *heard;
        if item.extra.listeners.is_empty() {
            return Ok(());
        }
        let is = |wanted: &Option<std::sync::Arc<str>>, state: Option<ItemState>| {
            wanted.as_deref().is_none_or(|wanted| state.is_some_and(|state| wanted == state.as_str()))
        };
        let fits = |own: &&LifecycleListener| {
            (own.events.is_empty() || own.events.contains(&event))
                && is(&own.from, from)
                && is(&own.to, Some(to))
        };
        for listener in item.extra.listeners.iter().filter(fits) {
            let scope = self.inner(id);
            let name = listener.variable.as_ref().map(|target| target.variable.clone());
            let heard = self.heard(&listener.source, name.as_ref(), scope).and_then(|mut values| {
                if let Some(target) = listener.variable.as_ref().filter(|own| !own.members.is_empty()) {
                    let before = self.core.variables(scope).find(&target.variable).cloned();
                    let value = values.remove(&*target.variable).unwrap_or_default();
                    values.insert(target.variable.to_string(), target.put(before.as_ref(), value));
                }
                self.core.admit_own(scope, &values)?;
                Ok(values)
            });
            match heard {
                Ok(values) => self.set_values(scope, values),
                Err(fault) => self.trouble(id, fault)?,
            }
        }
        if to.is_ended() && id != LocalId::ROOT && self.state.scope(id).is_some() {
            let spot = self.scope_spot(id);
            self.emit(spot, EventKind::ScopeClosed {});
        }
        Ok(())
    }

    /// Entry that is met: an instance has everything that it needs, by its criterion or from the first.
    pub(super) fn entry_met(&mut self, id: LocalId, criterion: Option<CriterionIx>) -> Result<(), Rejection> {
        let Some(own) = self.state.item(id).filter(|own| own.state == ItemState::Available) else {
            return Ok(());
        };
        let (repeats, parent) = (own.repeats, own.parent.unwrap_or(LocalId::ROOT));
        let (ix, item) = self.item_of(id)?;
        let scope = self.inner(id);
        if repeats {
            // The rule is asked when the criterion is met again.
            match self.rule(&item.control.repetition, scope) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(fault) => return self.stopped(id, fault),
            }
        }
        // One that has an element has its own scope already.
        let collection = item.control.repeats.collection.as_ref();
        if let Some(setting) = collection.filter(|_| self.state.scope(id).is_none()) {
            return match self.setting(setting, scope) {
                Ok(Value::Array(elements)) => self.each(id, ix, parent, elements, criterion),
                Ok(other) => {
                    let found = heddle_kernel::shortened(&other.to_string()).into_owned();
                    self.stopped(
                        id,
                        expression(format!("the collection of `{}` gives {found}, no list", item.id)),
                    )
                }
                Err(fault) => self.stopped(id, fault),
            };
        }
        // One of a collection has its numbers from there.
        if collection.is_none() {
            self.number(id, item, None);
        }
        self.begin(id, criterion)
    }

    /// Checks that a step has room for an instance of each element: all of them come to be, or none.
    fn admit_elements(&self, elements: &[Value]) -> Result<(), StepFault> {
        let count = elements.len() as u64;
        let most = u64::from(self.cx.budget.activations);
        // Each comes to be and begins.
        let value = u64::from(self.activations).saturating_add(count.saturating_mul(2));
        if value > most {
            let budget = "activations";
            return Err(Exceeded { budget, most, value }.into());
        }
        let bytes: u64 = elements.iter().map(size_of_json).sum();
        Ok(self.admit_told(bytes.saturating_add(count.saturating_mul(EVENTS_OF_ELEMENT * size::EVENT)))?)
    }

    /// Makes one instance for each element of a collection; the one that is there has the first.
    fn each(
        &mut self,
        first: LocalId,
        ix: ItemIx,
        parent: LocalId,
        elements: Vec<Value>,
        criterion: Option<CriterionIx>,
    ) -> Result<(), Rejection> {
        let Some(item) = self.plan_item(ix) else { return Ok(()) };
        if elements.is_empty() && item.entry.is_empty() {
            // There is nothing to do for it.
            let event = self.exit_event(item);
            return self.transit(first, event, criterion);
        }
        if let Err(fault) = self.admit_elements(&elements) {
            return self.stopped(first, fault);
        }
        for (index, element) in elements.into_iter().enumerate() {
            let creation = Creation { is_element: true, ..Creation::default() };
            let id = if index == 0 { first } else { self.create(ix, parent, creation)? };
            self.open_scope(id);
            self.number(id, item, Some((index, element)));
            if self.halted {
                // It begins when that is settled which stopped one before it.
                self.todo.push_back(Todo::Enter(id));
            } else {
                self.begin(id, criterion)?;
            }
        }
        Ok(())
    }

    /// Gives an instance the variables that number it.
    fn number(&mut self, id: LocalId, item: &Item, element: Option<(usize, Value)>) {
        let repeats = &item.control.repeats;
        let mut values = Map::new();
        if let Some(name) = &repeats.counter_variable {
            let number = self.state.item(id).map_or(1, |own| own.number);
            values.insert(name.to_string(), number.into());
        }
        if let Some(name) = &repeats.index_variable {
            let counted = self.state.item(id).map_or(0, |own| own.number.saturating_sub(1));
            let index = element.as_ref().map_or_else(|| counted.into(), |(index, _)| Value::from(*index));
            values.insert(name.to_string(), index);
        }
        if let (Some(name), Some((_, element))) = (&repeats.element_variable, element) {
            values.insert(name.to_string(), element);
        }
        self.open_with(id, values);
    }

    /// Gives an instance variables of its own.
    pub(super) fn open_with(&mut self, id: LocalId, values: Map<String, Value>) {
        if values.is_empty() {
            return;
        }
        self.open_scope(id);
        let spot = self.scope_spot(id);
        self.emit(spot, EventKind::VariablesSet { values });
    }

    /// Opens the scope of an instance, unless it is open.
    pub(super) fn open_scope(&mut self, id: LocalId) {
        if self.state.scope(id).is_none() {
            let node = self.state.item(id).map(|own| own.item.clone());
            self.emit(Spot { node, scope: Some(id), ..Spot::default() }, EventKind::ScopeOpened {});
        }
    }

    /// Starts, enables or lets occur what was available; the next instance is there from now on, if it repeats.
    fn begin(&mut self, id: LocalId, criterion: Option<CriterionIx>) -> Result<(), Rejection> {
        let (ix, item) = self.item_of(id)?;
        let scope = self.inner(id);
        let parent = self.item(id)?.parent.unwrap_or(LocalId::ROOT);
        let again = if item.entry.is_empty() || matches!(item.control.repetition, Rule::No) {
            false
        } else {
            match self.rule(&item.control.repetition, scope) {
                Ok(again) => again,
                Err(fault) => return self.stopped(id, fault),
            }
        };
        let event = match &item.work {
            Work::Milestone { variable } => {
                if let Some(name) = variable {
                    self.set_values(scope, Map::from_iter([(name.to_string(), true.into())]));
                }
                ItemEvent::Occur
            }
            _ => match self.rule(&item.control.manual, scope) {
                Ok(true) => ItemEvent::Enable,
                Ok(false) => ItemEvent::Start,
                Err(fault) => return self.stopped(id, fault),
            },
        };
        // What kept it from beginning is settled.
        self.settle_incidents(id, true);
        self.transit(id, event, criterion)?;
        if again && self.has_room(ix, item, parent) && self.state.life == crate::state::Life::Active {
            self.create(ix, parent, Creation { repeats: true, ..Creation::default() })?;
        }
        if event == ItemEvent::Start {
            self.work(id)?;
        }
        Ok(())
    }

    /// Whether one more instance of an item may be there.
    pub(super) fn has_room(&self, ix: ItemIx, item: &Item, parent: LocalId) -> bool {
        let Some(most) = item.control.repeats.max_instances else { return true };
        let own = self.live(ix).iter().filter_map(|id| self.state.item(*id));
        let there = own.filter(|own| own.parent == Some(parent)).count();
        there < most as usize
    }

    /// Repetition without an entry criterion: an instance that ends comes again, if its rule says so.
    fn come_again(
        &mut self,
        id: LocalId,
        ix: ItemIx,
        item: &Item,
        event: ItemEvent,
    ) -> Result<(), Rejection> {
        let ends = matches!(event, ItemEvent::Complete | ItemEvent::Occur | ItemEvent::Terminate);
        let rule = &item.control.repetition;
        let from_collection = item.control.repeats.collection.is_some();
        // A cycle of a timer comes again as long as it has a slot.
        let is_over = matches!(&self.slot, Some((own, None)) if *own == ix);
        if !ends || is_over || from_collection || !item.entry.is_empty() || matches!(rule, Rule::No) {
            return Ok(());
        }
        let parent = self.item(id)?.parent.unwrap_or(LocalId::ROOT);
        let is_open = self.state.item(parent).is_some_and(|own| own.state == ItemState::Active);
        if !is_open || !self.has_room(ix, item, parent) {
            return Ok(());
        }
        let scope = self.inner(parent);
        match self.rule(rule, scope) {
            Ok(true) => {
                let planned = item.discretionary.is_some();
                self.create(ix, parent, Creation { planned, ..Creation::default() }).map(drop)
            }
            Ok(false) => Ok(()),
            Err(fault) => self.trouble(parent, fault),
        }
    }

    /// An instance cannot begin: it stays, behind an incident that is tried again.
    pub(super) fn stopped(&mut self, id: LocalId, fault: StepFault) -> Result<(), Rejection> {
        match fault {
            StepFault::Rejected(rejection) => Err(rejection),
            StepFault::Incident(code, message) => {
                let known = |own: &&crate::state::IncidentState| {
                    own.instance == Some(id) && own.phase == Phase::Enter && own.code == code
                };
                // One incident tells it, however often the criterion is met.
                if code == IncidentCode::Limit || !self.state.incidents.iter().any(|own| known(&own)) {
                    self.raise(id, code, &message, Phase::Enter, None);
                }
                Ok(())
            }
        }
    }
}

/// Type of an item.
pub(super) const fn item_type(item: &Item, ix: ItemIx) -> ItemType {
    match &item.work {
        Work::Stage { .. } if ix == PLAN_MODEL => ItemType::CasePlanModel,
        Work::Stage { .. } => ItemType::Stage,
        Work::Milestone { .. } => ItemType::Milestone,
        Work::Timer { .. } => ItemType::TimerEventListener,
        Work::UserEvent { .. } => ItemType::UserEventListener,
        Work::Message { .. } => ItemType::MessageEventListener,
        Work::Signal { .. } => ItemType::SignalEventListener,
        Work::Variable { .. } => ItemType::VariableEventListener,
        Work::Reactivation { .. } => ItemType::ReactivationEventListener,
        Work::Human { .. } => ItemType::HumanTask,
        Work::Process { .. } => ItemType::ProcessTask,
        Work::Case { .. } => ItemType::CaseTask,
        Work::Decision { .. } => ItemType::DecisionTask,
        Work::Job { .. } => ItemType::JobTask,
        Work::Script { .. } => ItemType::ScriptTask,
        Work::Task => ItemType::Task,
    }
}
