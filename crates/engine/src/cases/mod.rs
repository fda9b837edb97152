//! The machine of a case: one command, and the rounds of sentries until nothing changes any more.

mod commands;
mod completion;
mod conditions;
mod file;
mod items;
mod listen;
mod pending;
mod planning;
mod planning_view;
mod sentries;
mod view;
mod work;

pub use heddle_cmmn::life::{LifeCycle, TRANSITIONS, To, Transitions, transition};
pub use view::{
    CaseView, CriterionView, FileView, ItemView, MissingPart, PartSource, PlanningView, case_view,
};

use crate::core::{Core, Spot, StepFault, Trouble};
use crate::event::{EventKind, IncidentCode, ItemState, Phase};
use crate::state::{CaseState, ItemInstance, Life};
use crate::step::unsettles;
use crate::{Command, LocalId, Rejection};
use heddle_cmmn::plan::{
    CasePlan, CriterionIx, FileEvent, FileIx, Item, ItemEvent, ItemIx, PLAN_MODEL, Work,
};
use heddle_settings::Schedule;
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};
use std::ops::{Deref, DerefMut};

/// Most standard events and entries of one step: what goes on beyond it would go on without end.
const MOST_ROUNDS: u32 = 10_000;

/// Work that is left to do in a round.
enum Todo {
    /// An item that has come to be and needs no entry criterion.
    Enter(LocalId),
    /// An item that has come to be, whose if-parts are looked at.
    Look(LocalId),
    /// An item that goes on: its work ended while it was suspended, or has yet to begin.
    TakeUp(LocalId),
    /// A standard event of an item.
    Moved(Moved),
    /// A standard event of a case file item.
    Changed(FileIx, FileEvent),
    /// A variable that got another value: whether it was there, and whether it is.
    Set { name: String, before: bool, after: bool },
}

/// Standard event of an item.
struct Moved {
    id: LocalId,
    item: ItemIx,
    event: ItemEvent,
    /// Criterion by which it came.
    criterion: Option<CriterionIx>,
    /// Instance of the stage around it. Of many instances of an item the first ones may be forgotten when their turn comes.
    parent: Option<LocalId>,
}

/// The machine of a case.
pub(crate) struct CaseMachine<'p> {
    plan: &'p CasePlan,
    core: Core<'p>,
    todo: VecDeque<Todo>,
    /// Whether data have changed that if-parts may see.
    dirty: bool,
    /// Instances of stages that may be complete.
    touched: Vec<LocalId>,
    rounds: u32,
    /// Instances that have not ended, by their items.
    live: Vec<Vec<LocalId>>,
    /// The same, by the stages around them and by rising ids.
    within: HashMap<LocalId, Vec<LocalId>>,
    /// Items of all instances.
    places: HashMap<LocalId, ItemIx>,
    /// On-parts that have occurred in this step, of sentries that ask for all of them at once.
    fleeting: HashMap<(LocalId, CriterionIx), Vec<u32>>,
    /// Listeners of which it depends on data or on other items whether they listen.
    conditional: Vec<ItemIx>,
    /// Listeners for variables.
    variables: Vec<ItemIx>,
    /// Next slot of the timer that fires, for the instance that comes behind it; none where there is none.
    slot: Option<(ItemIx, Option<Schedule>)>,
}

/// The item of an id within another one: a stage that stands in the plan several times has items of the same ids each time.
fn place(plan: &CasePlan, parent: Option<ItemIx>, id: &str) -> Option<ItemIx> {
    let first = *plan.item_ids.get(id)?;
    let item = |ix: ItemIx| plan.items.get(ix as usize);
    if parent.is_none() || item(first)?.parent == parent {
        return Some(first);
    }
    let mut within = parent.and_then(item)?.children.iter().copied();
    within.find(|ix| item(*ix).is_some_and(|own| *own.id == *id))
}

/// Items of all instances of a case.
fn places(plan: &CasePlan, case: &CaseState) -> HashMap<LocalId, ItemIx> {
    let mut found = HashMap::with_capacity(case.items.len());
    // Each stands behind the stage around it.
    for own in &case.items {
        let parent = own.parent.and_then(|id| found.get(&id).copied());
        if let Some(ix) = place(plan, parent, &own.item) {
            found.insert(own.id, ix);
        }
    }
    found
}

impl<'p> Deref for CaseMachine<'p> {
    type Target = Core<'p>;

    fn deref(&self) -> &Core<'p> {
        &self.core
    }
}

impl DerefMut for CaseMachine<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.core
    }
}

impl<'p> CaseMachine<'p> {
    pub(crate) fn new(plan: &'p CasePlan, core: Core<'p>) -> Self {
        let numbered = || (0..).zip(&plan.items);
        let depends = |item: &Item| {
            item.extra.available.is_some() || matches!(item.work, Work::Timer { start: Some(_), .. })
        };
        let conditional = numbered().filter(|(_, item): &(ItemIx, &Item)| depends(item));
        let conditional = conditional.map(|(ix, _)| ix).collect();
        let variables = numbered().filter(|(_, item)| matches!(item.work, Work::Variable { .. }));
        let variables = variables.map(|(ix, _)| ix).collect();
        let mut live = vec![Vec::new(); plan.items.len()];
        let mut within: HashMap<LocalId, Vec<LocalId>> = HashMap::new();
        let places = core.state.case.as_deref().map(|case| places(plan, case)).unwrap_or_default();
        for own in core.state.case.iter().flat_map(|case| &case.items).filter(|own| !own.state.is_ended()) {
            if let Some(own_live) = places.get(&own.id).and_then(|ix| live.get_mut(*ix as usize)) {
                own_live.push(own.id);
                if let Some(parent) = own.parent {
                    within.entry(parent).or_default().push(own.id);
                }
            }
        }
        Self {
            plan,
            core,
            todo: VecDeque::new(),
            dirty: false,
            touched: Vec::new(),
            rounds: 0,
            live,
            within,
            places,
            fleeting: HashMap::new(),
            conditional,
            variables,
            slot: None,
        }
    }

    /// Carries out a command, until nothing changes any more.
    pub(crate) fn finished(mut self, command: Command) -> Result<Core<'p>, Rejection> {
        self.core.admit_command(&command)?;
        let again = matches!(command, Command::Retry { .. } | Command::Resume);
        self.remark(&command);
        self.execute(command)?;
        if again {
            self.reconsider();
        }
        self.take_pending();
        self.settle()?;
        self.leave_pending();
        Ok(self.core)
    }

    /// Rounds until a fixed point: standard events and what they cause, then data, then the ends of stages.
    fn settle(&mut self) -> Result<(), Rejection> {
        while self.state.life == Life::Active && !self.halted && !self.steps.is_stopped() {
            if let Some(exceeded) = self.spent().filter(|_| self.has_more()) {
                self.halt_spent(&exceeded.to_string());
                break;
            }
            if let Some(todo) = self.todo.pop_front() {
                self.rounds += 1;
                if self.rounds > MOST_ROUNDS {
                    self.halt_loop(&todo);
                    self.todo.push_front(todo);
                    break;
                }
                self.go_on(todo)?;
            } else if self.dirty {
                self.dirty = false;
                self.rounds += 1;
                self.data_round()?;
            } else if !self.close_stages()? {
                break;
            }
        }
        Ok(())
    }

    fn go_on(&mut self, todo: Todo) -> Result<(), Rejection> {
        match todo {
            Todo::Enter(id) => self.entry_met(id, None),
            Todo::Look(id) => self.look_at_new(id),
            Todo::TakeUp(id) => self.take_up(id),
            Todo::Moved(moved) => self.item_moved(&moved),
            Todo::Changed(file, event) => self.file_changed(file, event),
            Todo::Set { name, before, after } => self.variable_set(&name, before, after),
        }
    }

    /// Stops rounds that have no end; the incident names what was to happen next.
    fn halt_loop(&mut self, next: &Todo) {
        let about = match next {
            Todo::Enter(id) | Todo::Look(id) | Todo::TakeUp(id) => {
                self.state.item(*id).map(|own| own.item.to_string()).unwrap_or_default()
            }
            Todo::Moved(moved) => {
                self.plan_item(moved.item).map(|own| own.id.to_string()).unwrap_or_default()
            }
            Todo::Changed(file, _) => {
                self.plan.file.get(*file as usize).map(|own| own.id.to_string()).unwrap_or_default()
            }
            Todo::Set { name, .. } => name.clone(),
        };
        let message =
            format!("the items of the case start each other without end, {MOST_ROUNDS} times, at `{about}`");
        self.raise_at_case(IncidentCode::SentryLoop, &message);
        self.halted = true;
    }

    /// Whether a round has anything left to do.
    fn has_more(&self) -> bool {
        self.dirty || !self.todo.is_empty() || !self.touched.is_empty()
    }

    /// Stops a round behind a budget; one incident tells of it, however many commands meet it.
    fn halt_spent(&mut self, message: &str) {
        let known = |own: &crate::state::IncidentState| {
            own.instance == Some(LocalId::ROOT) && own.code == IncidentCode::Limit
        };
        if self.state.incidents.iter().any(known) {
            self.halted = true;
        } else {
            self.raise_at_case(IncidentCode::Limit, message);
        }
    }

    /// Looks at everything again that may have been left behind an incident or a suspension.
    fn reconsider(&mut self) {
        self.dirty = true;
        let case = self.state.case.as_deref();
        let items: Vec<(LocalId, ItemState)> =
            case.map(|case| case.items.iter().map(|own| (own.id, own.state)).collect()).unwrap_or_default();
        for (id, state) in items {
            let Some(own) = self.places.get(&id).and_then(|ix| self.plan_item(*ix)) else { continue };
            match (&own.work, state) {
                (Work::Stage { .. }, ItemState::Active) => self.touched.push(id),
                (_, ItemState::Available) if own.entry.is_empty() && !self.is_listener(own) => {
                    self.todo.push_back(Todo::Enter(id));
                }
                _ => {}
            }
        }
    }

    /// Keeps what the caller said about the decision, at the item that it is about.
    fn remark(&mut self, command: &Command) {
        let Some(remark) = &self.cx.remark else { return };
        let instance = match command {
            Command::Retry { incident_id, .. } => {
                self.state.incidents.iter().find(|own| own.id == *incident_id).and_then(|own| own.instance)
            }
            Command::Skip { target: crate::SkipTarget::Node(id), .. } => Some(*id),
            Command::Transition { target: crate::ItemTarget::Instance(id), .. } => Some(*id),
            _ => None,
        };
        let (decision, feedback) = (remark.decision.into(), remark.feedback.clone());
        let spot = instance.map_or_else(Spot::default, |id| self.spot(id));
        let by = self.actor();
        self.emit(spot, EventKind::DecisionTaken { decision, feedback, by });
    }

    /// Adds an event to the history.
    fn emit(&mut self, spot: Spot, kind: EventKind) {
        let resumes = |event: ItemEvent| {
            matches!(event, ItemEvent::Resume | ItemEvent::ParentResume | ItemEvent::Reactivate)
        };
        self.dirty |= unsettles(&kind)
            || match &kind {
                EventKind::CaseFileChanged { .. } => true,
                // What was suspended has not seen what changed meanwhile.
                EventKind::ItemTransitioned { event, .. } => resumes(*event),
                _ => false,
            };
        self.follow(&spot, &kind);
        if let EventKind::VariablesSet { values } = &kind
            && !self.variables.is_empty()
        {
            let scope = spot.scope.unwrap_or(LocalId::ROOT);
            for (name, value) in values {
                let old = self.state.scope(scope).and_then(|own| own.variables.get(name));
                if old != Some(value) {
                    let (before, after) = (old.is_some_and(|old| !old.is_null()), !value.is_null());
                    self.todo.push_back(Todo::Set { name: name.clone(), before, after });
                }
            }
        }
        self.core.record(spot, kind);
    }

    /// Follows which instances there are.
    fn follow(&mut self, spot: &Spot, kind: &EventKind) {
        let Some(id) = spot.instance else { return };
        if let (EventKind::ItemCreated(created), Some(node)) = (kind, &spot.node) {
            let parent = created.parent.and_then(|id| self.places.get(&id));
            let Some(ix) = place(self.plan, parent.copied(), node) else { return };
            self.places.insert(id, ix);
            if let Some(own) = self.live.get_mut(ix as usize) {
                own.push(id);
            }
            if let Some(parent) = created.parent {
                self.within.entry(parent).or_default().push(id);
            }
        } else if let EventKind::ItemTransitioned { to, from, .. } = kind {
            let parent = self.state.item(id).and_then(|own| own.parent).filter(|_| to.is_ended());
            if let Some(around) = parent.and_then(|parent| self.within.get_mut(&parent))
                && let Ok(at) = around.binary_search(&id)
            {
                around.remove(at);
            }
            let Some(own) = self.places.get(&id).and_then(|ix| self.live.get_mut(*ix as usize)) else {
                return;
            };
            if to.is_ended() {
                own.retain(|one| *one != id);
            } else if from.is_ended() {
                own.push(id);
            }
        }
    }

    /// Place of an item instance in the history.
    fn spot(&self, id: LocalId) -> Spot {
        match self.state.owner(id) {
            Some(own) => Spot {
                node: Some(own.node.clone()),
                instance: Some(id),
                scope: Some(own.scope),
                attempt: (own.attempt > 1).then_some(own.attempt),
            },
            None => Spot { scope: Some(LocalId::ROOT), ..Spot::default() },
        }
    }

    /// Place of a scope's own event.
    fn scope_spot(&self, scope: LocalId) -> Spot {
        let node = self.state.scope(scope).and_then(|own| own.node.clone());
        Spot { node, scope: Some(scope), ..Spot::default() }
    }

    fn case(&self) -> Result<&CaseState, Rejection> {
        self.state.case.as_deref().ok_or(Rejection::NotStarted)
    }

    fn item(&self, id: LocalId) -> Result<&ItemInstance, Rejection> {
        self.state.item(id).ok_or(Rejection::UnknownInstance(id))
    }

    fn plan_item(&self, ix: ItemIx) -> Option<&'p Item> {
        self.plan.items.get(ix as usize)
    }

    /// An instance with its item in the plan.
    fn item_of(&self, id: LocalId) -> Result<(ItemIx, &'p Item), Rejection> {
        let own = self.item(id)?;
        let wrong = || Rejection::WrongGraph(own.item.to_string());
        let ix = *self.places.get(&id).ok_or_else(wrong)?;
        Ok((ix, self.plan_item(ix).ok_or_else(wrong)?))
    }

    /// Life cycle of an item.
    const fn cycle(&self, ix: ItemIx, item: &Item) -> LifeCycle {
        LifeCycle::of(&item.work, ix == PLAN_MODEL)
    }

    const fn is_listener(&self, item: &Item) -> bool {
        matches!(LifeCycle::of(&item.work, false), LifeCycle::Occurrence)
            && !matches!(item.work, Work::Milestone { .. })
    }

    /// Instances of an item that have not ended.
    fn live(&self, ix: ItemIx) -> &[LocalId] {
        self.live.get(ix as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// The scope in which an instance's settings are evaluated: its own, if it has one, else the one around it.
    fn inner(&self, id: LocalId) -> LocalId {
        if self.state.scope(id).is_some() {
            return id;
        }
        self.state.owner(id).map_or(LocalId::ROOT, |own| own.scope)
    }

    /// Sets variables as seen from a scope.
    fn set_values(&mut self, scope: LocalId, values: Map<String, Value>) {
        for (owner, values) in self.spread(scope, values) {
            let spot = self.scope_spot(owner);
            self.emit(spot, EventKind::VariablesSet { values });
        }
    }

    fn raise(
        &mut self,
        id: LocalId,
        code: IncidentCode,
        message: &str,
        phase: Phase,
        failure: Option<Value>,
    ) {
        let spot = self.spot(id);
        let node = spot.node.clone();
        let raised = self.incident_event(node.as_deref(), Trouble { code, message, phase, failure });
        self.emit(spot, raised);
    }

    fn raise_at_case(&mut self, code: IncidentCode, message: &str) {
        self.raise(LocalId::ROOT, code, message, Phase::Tokens, None);
    }

    /// Turns what stopped an instance into an incident, beside which the case goes on.
    fn trouble(&mut self, id: LocalId, fault: StepFault) -> Result<(), Rejection> {
        match fault {
            StepFault::Rejected(rejection) => Err(rejection),
            StepFault::Incident(code, message) => {
                self.raise(id, code, &message, Phase::Tokens, None);
                Ok(())
            }
        }
    }
}
