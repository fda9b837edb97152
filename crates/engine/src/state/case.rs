//! State that CMMN adds to an instance: items, what sentries remember, and the case file.

use super::{Life, ScopeState, State, first, is_first};
use crate::LocalId;
use crate::event::{Event, EventKind, IncidentCode, ItemCreated, ItemState, Pending};
use heddle_cmmn::plan::{FileEvent, ItemEvent};
use heddle_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Ended instances of one item in one stage that are kept to be looked at.
const MOST_ENDED: usize = 16;

/// A case: its items and its file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct CaseState {
    /// Instances of items by rising ids, the case plan model first; of those that ended the last few.
    #[serde(rename = "i", default)]
    pub items: Vec<ItemInstance>,
    /// Memories of sentries, by whom they are kept for and by the ids of the criteria.
    #[serde(rename = "m", default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<Memory>,
    /// Counts of the instances of items.
    #[serde(rename = "t", default, skip_serializing_if = "Vec::is_empty")]
    pub tallies: Vec<Tally>,
    /// Values of the case file: an object by the names of its items.
    #[serde(rename = "f", default = "super::no_outputs", skip_serializing_if = "super::is_empty_object")]
    pub file: Value,
    /// Case file items that were deleted and not created again.
    #[serde(rename = "d", default, skip_serializing_if = "Vec::is_empty")]
    pub discarded: Vec<Arc<str>>,
    /// References of case file items, by their ids.
    #[serde(rename = "l", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub references: BTreeMap<Arc<str>, Vec<Value>>,
    /// Users who fill the roles, by the ids of the roles.
    #[serde(rename = "r", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub people: BTreeMap<Arc<str>, Vec<String>>,
    /// Output parameters at its end, where they are not all of the variables.
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Map<String, Value>>,
    /// Ends of work that instances have not left behind: of those that are suspended, or could not complete.
    #[serde(rename = "g", default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Given>,
    /// Rest of a round that a budget stopped.
    #[serde(rename = "u", default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<Pending>,
    /// Whether it was reactivated behind an end: rules say what comes to be in it since then.
    #[serde(rename = "b", default, skip_serializing_if = "std::ops::Not::not")]
    pub reactivated: bool,
}

/// End of the work of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Given {
    #[serde(rename = "w")]
    pub owner: LocalId,
    /// Values that it gave.
    #[serde(rename = "v", default, skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Value>,
    /// Failure of it.
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<(IncidentCode, String)>,
}

/// An instance of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ItemInstance {
    #[serde(rename = "i")]
    pub id: LocalId,
    /// Id of the item.
    #[serde(rename = "n")]
    pub item: Arc<str>,
    #[serde(rename = "s")]
    pub state: ItemState,
    /// State before what is around it was suspended.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ItemState>,
    /// Instance of the stage around it.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<LocalId>,
    #[serde(rename = "r", default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Whether it is there for the next time that an entry criterion is met.
    #[serde(rename = "w", default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
    /// Whether it is a discretionary item that somebody planned.
    #[serde(rename = "d", default, skip_serializing_if = "std::ops::Not::not")]
    pub planned: bool,
    /// Number of it among the instances of the item in its stage, from 1.
    #[serde(rename = "c", default = "first", skip_serializing_if = "is_first")]
    pub number: u32,
    #[serde(rename = "t", default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    #[serde(rename = "a")]
    pub since: Timestamp,
}

/// Memory of a sentry at one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// Instance for which it is kept: of an entry criterion the stage, of an exit criterion the item.
    #[serde(rename = "w")]
    pub owner: LocalId,
    #[serde(rename = "c")]
    pub criterion: Arc<str>,
    /// Numbers of the on-parts that have occurred.
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<u32>,
    /// Whether the if-part held when it was looked at last, of a sentry with nothing else.
    #[serde(rename = "h", default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
}

/// Counts of the instances of an item in a stage; in the order of their stages and items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    #[serde(rename = "p")]
    pub parent: LocalId,
    #[serde(rename = "n")]
    pub item: Arc<str>,
    #[serde(rename = "c")]
    pub created: u32,
    #[serde(rename = "d", default, skip_serializing_if = "is_none")]
    pub completed: u32,
    /// Ended instances that are kept.
    #[serde(rename = "e", default, skip_serializing_if = "is_none")]
    pub ended: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_none(count: &u32) -> bool {
    *count == 0
}

impl CaseState {
    fn place(&self, id: LocalId) -> Option<usize> {
        self.items.binary_search_by_key(&id, |own| own.id).ok()
    }

    pub(crate) fn item(&self, id: LocalId) -> Option<&ItemInstance> {
        self.place(id).and_then(|place| self.items.get(place))
    }

    fn item_mut(&mut self, id: LocalId) -> Option<&mut ItemInstance> {
        self.place(id).and_then(|place| self.items.get_mut(place))
    }

    /// The instances of the stages around an item, from the innermost one on.
    pub(crate) fn around(&self, id: LocalId) -> impl Iterator<Item = &ItemInstance> {
        let first = self.item(id).and_then(|own| own.parent);
        std::iter::successors(first.and_then(|id| self.item(id)), |own| self.item(own.parent?))
    }

    pub(crate) fn memory(&self, owner: LocalId, criterion: &str) -> Option<&Memory> {
        self.memory_place(owner, criterion).ok().and_then(|place| self.memories.get(place))
    }

    fn memory_mut(&mut self, owner: LocalId, criterion: &Arc<str>) -> Option<&mut Memory> {
        let place = self.memory_place(owner, criterion).unwrap_or_else(|place| {
            let criterion = criterion.clone();
            self.memories.insert(place, Memory { owner, criterion, parts: Vec::new(), held: false });
            place
        });
        self.memories.get_mut(place)
    }

    fn memory_place(&self, owner: LocalId, criterion: &str) -> Result<usize, usize> {
        self.memories.binary_search_by(|own| (own.owner, &*own.criterion).cmp(&(owner, criterion)))
    }

    fn tally_place(&self, parent: LocalId, item: &str) -> Result<usize, usize> {
        self.tallies.binary_search_by(|own| (own.parent, &*own.item).cmp(&(parent, item)))
    }

    pub(crate) fn tally(&self, parent: LocalId, item: &str) -> Option<&Tally> {
        self.tally_place(parent, item).ok().and_then(|place| self.tallies.get(place))
    }

    fn count(&mut self, parent: LocalId, item: &Arc<str>) -> Option<&mut Tally> {
        let place = self.tally_place(parent, item).unwrap_or_else(|place| {
            self.tallies
                .insert(place, Tally { parent, item: item.clone(), created: 0, completed: 0, ended: 0 });
            place
        });
        self.tallies.get_mut(place)
    }

    /// Values that the work of an instance gave and the instance has not left behind.
    pub(crate) fn given(&self, owner: LocalId) -> Option<&Given> {
        self.given.iter().find(|own| own.owner == owner)
    }

    /// Number of what there is in the state beside values.
    pub(crate) fn places(&self) -> usize {
        self.items.len() + self.memories.len() + self.tallies.len() + self.given.len() + self.pending.len()
    }

    fn create(&mut self, id: LocalId, item: &Arc<str>, created: &ItemCreated, at: Timestamp) {
        let mut number = 1;
        let mut state = ItemState::Available;
        match created.parent {
            None => state = ItemState::Active,
            Some(parent) => {
                let mut ended = 0;
                if let Some(tally) = self.count(parent, item) {
                    tally.created = tally.created.saturating_add(1);
                    (number, ended) = (tally.created, tally.ended as usize);
                }
                if ended >= MOST_ENDED {
                    self.forget_ended(parent, item);
                }
            }
        }
        self.items.push(ItemInstance {
            id,
            item: item.clone(),
            state,
            before: None,
            parent: created.parent,
            required: created.required,
            repeats: created.repeats,
            planned: created.planned,
            number,
            attempt: 1,
            since: at,
        });
    }

    /// Forgets the first ended instances of an item in a stage, with what was in them.
    fn forget_ended(&mut self, parent: LocalId, item: &Arc<str>) {
        let ended = self.items.iter().filter(|own| own.parent == Some(parent) && own.item == *item);
        let ended: Vec<LocalId> = ended.filter(|own| own.state.is_ended()).map(|own| own.id).collect();
        let keep = MOST_ENDED - 1;
        let gone = ended.len().saturating_sub(keep);
        let mut gone: Vec<LocalId> = ended.into_iter().take(gone).collect();
        if let Some(tally) = self.count(parent, item) {
            tally.ended = keep as u32;
        }
        while let Some(id) = gone.pop() {
            self.items.retain(|own| {
                if own.parent == Some(id) {
                    gone.push(own.id);
                }
                own.id != id
            });
            self.tallies.retain(|own| own.parent != id);
        }
    }

    fn transition(&mut self, id: LocalId, to: ItemState, event: ItemEvent, at: Timestamp) {
        let Some(own) = self.item_mut(id) else { return };
        own.before = match event {
            ItemEvent::ParentSuspend => Some(own.state),
            _ => None,
        };
        if event == ItemEvent::Reactivate {
            own.attempt = own.attempt.saturating_add(1);
        }
        if own.state == ItemState::Available {
            own.repeats = false;
        }
        (own.state, own.since) = (to, at);
        let counted = own.parent.zip(Some(own.item.clone())).filter(|_| to.is_ended());
        if to.is_ended() {
            let first = self.memories.partition_point(|memory| memory.owner < id);
            let behind = self.memories.partition_point(|memory| memory.owner <= id);
            self.memories.drain(first..behind);
            self.given.retain(|given| given.owner != id);
        }
        if let Some((parent, item)) = counted
            && let Some(tally) = self.count(parent, &item)
        {
            tally.ended = tally.ended.saturating_add(1);
            tally.completed = tally.completed.saturating_add(u32::from(to == ItemState::Completed));
        }
    }

    fn change_file(&mut self, item: &Arc<str>, event: FileEvent, path: &[Value], value: &Value) {
        match event {
            FileEvent::Create | FileEvent::Update | FileEvent::Replace => {
                put(&mut self.file, path, value);
                self.discarded.retain(|own| own != item);
            }
            FileEvent::Delete => {
                take(&mut self.file, path);
                if !self.discarded.contains(item) {
                    self.discarded.push(item.clone());
                }
                self.references.remove(item);
            }
            FileEvent::AddReference => {
                self.references.entry(item.clone()).or_default().push(value.clone());
            }
            FileEvent::RemoveReference => {
                if let Some(own) = self.references.get_mut(item) {
                    own.retain(|one| one != value);
                }
            }
            // The child tells of itself.
            FileEvent::AddChild | FileEvent::RemoveChild => {}
        }
    }
}

/// Puts a value at a path; what is missing on the way comes to be.
fn put(whole: &mut Value, path: &[Value], value: &Value) {
    let mut place = whole;
    for step in path {
        place = match step {
            Value::Number(number) => {
                let at = number.as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX);
                if !place.is_array() {
                    *place = Value::Array(Vec::new());
                }
                let Value::Array(items) = place else { return };
                // A new one comes behind the others.
                if at >= items.len() {
                    items.push(Value::Null);
                }
                let last = items.len() - 1;
                match items.get_mut(at.min(last)) {
                    Some(item) => item,
                    None => return,
                }
            }
            name => {
                if !place.is_object() {
                    *place = Value::Object(Map::new());
                }
                let Value::Object(members) = place else { return };
                members.entry(name.as_str().unwrap_or_default()).or_insert(Value::Null)
            }
        };
    }
    *place = value.clone();
}

/// The value at a path.
pub(crate) fn at_path<'v>(whole: &'v Value, path: &[Value]) -> Option<&'v Value> {
    path.iter().try_fold(whole, |place, step| match step {
        Value::Number(number) => place.get(usize::try_from(number.as_u64()?).ok()?),
        name => place.get(name.as_str()?),
    })
}

/// Takes away what stands at a path.
fn take(whole: &mut Value, path: &[Value]) {
    let Some((last, rest)) = path.split_last() else { return };
    let mut place = Some(whole);
    for step in rest {
        place = place.and_then(|place| match step {
            Value::Number(number) => {
                place.get_mut(usize::try_from(number.as_u64().unwrap_or(u64::MAX)).unwrap_or(usize::MAX))
            }
            name => place.get_mut(name.as_str().unwrap_or_default()),
        });
    }
    match (place, last) {
        (Some(Value::Array(items)), Value::Number(number)) => {
            let at = number.as_u64().and_then(|at| usize::try_from(at).ok()).filter(|at| *at < items.len());
            if let Some(at) = at {
                items.remove(at);
            }
        }
        (Some(Value::Object(members)), Value::String(name)) => {
            members.remove(name);
        }
        _ => {}
    }
}

impl State {
    /// Applies an event about a case.
    pub(crate) fn apply_case(&mut self, event: &Event) {
        let had_ended = self.ended_at.is_some();
        match &event.kind {
            EventKind::CaseOpened { people } => {
                let file = super::no_outputs();
                let opened = CaseState { people: people.clone(), file, ..CaseState::default() };
                self.case = Some(Box::new(opened));
                return;
            }
            EventKind::CaseReactivated { .. } => {
                (self.life, self.ended_at, self.error) = (Life::Active, None, None);
            }
            EventKind::CaseClosed { .. } => {
                self.life = Life::Closed;
                // One that was suspended ends with it.
                self.ended_at = self.ended_at.or(Some(event.at));
            }
            EventKind::CallDetached { run_id } => self.calls.retain(|own| own.run != *run_id),
            _ => {}
        }
        let Some(case) = self.case.as_deref_mut() else { return };
        match &event.kind {
            EventKind::CaseReactivated { .. } => {
                (case.output, case.reactivated) = (None, case.reactivated || had_ended);
            }
            EventKind::RoundPending { left } if left.is_empty() => case.pending.clear(),
            EventKind::RoundPending { left } => case.pending.extend_from_slice(left),
            EventKind::CaseFileChanged { item, event, path, value } => {
                case.change_file(item, *event, path, value);
            }
            _ => {}
        }
        let Some(id) = event.node_instance_id else { return };
        match &event.kind {
            EventKind::ItemCreated(created) => {
                let Some(item) = &event.node_id else { return };
                case.create(id, item, created, event.at);
                self.counter = self.counter.max(id.0);
            }
            EventKind::ItemTransitioned { to, event: transition, .. } => {
                case.transition(id, *to, *transition, event.at);
            }
            EventKind::SentrySatisfied { criterion, by_condition: true, .. } => {
                if let Some(memory) = case.memory_mut(id, criterion) {
                    memory.held = true;
                }
            }
            EventKind::SentrySatisfied { criterion, .. } | EventKind::SentryReset { criterion } => {
                if let Ok(place) = case.memory_place(id, criterion) {
                    case.memories.remove(place);
                }
            }
            EventKind::OnPartOccurred { criterion, part } => {
                if let Some(memory) = case.memory_mut(id, criterion)
                    && !memory.parts.contains(part)
                {
                    memory.parts.push(*part);
                }
            }
            _ => {}
        }
    }

    /// Keeps how the work of an item ended, until the item leaves that behind; new work begins without it.
    pub(crate) fn apply_work(&mut self, event: &Event) {
        let Some((owner, case)) = event.node_instance_id.zip(self.case.as_deref_mut()) else { return };
        let is_idle = case.item(owner).is_some_and(|own| own.state == ItemState::Suspended);
        let failed = |code: IncidentCode, message: &str| Some((code, message.to_owned()));
        let (values, failure) = match &event.kind {
            EventKind::TaskCompleted { values, .. } => (values.clone(), None),
            EventKind::JobCompleted { variables, .. } => (variables.clone(), None),
            EventKind::CallCompleted { output, .. } => (output.clone(), None),
            // What is at work fails with it; what is suspended fails when it goes on.
            EventKind::CallFailed { message, .. } if is_idle => {
                (Map::new(), failed(IncidentCode::CallFailed, message))
            }
            EventKind::JobFailed { message, retries: 0, .. } if is_idle => {
                (Map::new(), failed(IncidentCode::JobFailed, message))
            }
            EventKind::TaskCreated(_) | EventKind::JobCreated(_) | EventKind::RunCalled(_) => {
                return case.given.retain(|own| own.owner != owner);
            }
            EventKind::JobRetriesSet { retries, .. } if *retries > 0 => {
                return case.given.retain(|own| own.owner != owner);
            }
            _ => return,
        };
        case.given.retain(|own| own.owner != owner);
        case.given.push(Given { owner, values, failure });
    }

    /// The instance of an item of the case.
    pub(crate) fn item(&self, id: LocalId) -> Option<&ItemInstance> {
        self.case.as_deref().and_then(|case| case.item(id))
    }

    /// The innermost open scope around an item.
    fn scope_of_item(&self, id: LocalId) -> LocalId {
        let Some(case) = self.case.as_deref() else { return LocalId::ROOT };
        let open = |own: &ItemInstance| self.scope(own.id).map(|scope: &ScopeState| scope.id);
        case.around(id).find_map(open).unwrap_or(LocalId::ROOT)
    }

    /// The node instance or the item instance of this id.
    pub(crate) fn owner(&self, id: LocalId) -> Option<Owner<'_>> {
        if let Some(own) = self.instance(id) {
            let (scope, since, attempt) = (own.scope, own.since, own.attempt);
            return Some(Owner { id, node: &own.node, scope, since, attempt, is_idle: false });
        }
        let own = self.item(id)?;
        let (since, attempt) = (own.since, own.attempt);
        let is_idle = own.state == ItemState::Suspended;
        Some(Owner { id, node: &own.item, scope: self.scope_of_item(id), since, attempt, is_idle })
    }
}

/// Node instance or item instance that waits for something.
pub(crate) struct Owner<'s> {
    pub id: LocalId,
    /// Id of the node or item.
    pub node: &'s Arc<str>,
    /// Scope around it.
    pub scope: LocalId,
    pub since: Timestamp,
    pub attempt: u32,
    /// Whether it is suspended, so that nothing reaches it.
    pub is_idle: bool,
}
