//! Views of a case for the outside: what every item waits for, and why it is not available or not active.

use super::conditions::FileContext;
use super::file;
use super::planning_view::planning;
use super::{LifeCycle, transition};
use crate::LocalId;
use crate::event::{ItemState, ItemType};
use crate::state::{CaseState, ItemInstance, State, SubscriptionState, TimerState};
use crate::view::{Incident, WaitKind, WaitingFor};
use heddle_cmmn::life::word;
use heddle_cmmn::plan::{CasePlan, FileEvent, FileItem, Item, ItemEvent, ItemIx, PLAN_MODEL, Source, Work};
use heddle_feel::{EvalContext, Layers, Ref, Scope, to_json};
use heddle_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// A case as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseView {
    /// State of the case plan model.
    pub state: ItemState,
    /// Instances of items, in the order in which they came to be; of those that ended the last few of each item.
    pub items: Vec<ItemView>,
    /// Case file items, in document order.
    pub file: Vec<FileView>,
    /// Items that may be planned.
    pub planning: Vec<PlanningView>,
    /// Transitions of the case that are possible.
    pub options: Vec<String>,
}

/// An instance of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemView {
    /// The item.
    pub item_id: Arc<str>,
    /// The instance.
    pub instance_id: LocalId,
    /// Name of the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Type of the item.
    #[serde(rename = "type")]
    pub item_type: ItemType,
    /// State of it.
    pub state: ItemState,
    /// Instant since which it is in that state.
    pub since: Timestamp,
    /// Instance of the stage around it; absent for the case plan model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<LocalId>,
    /// Number of it among the instances of the item in its stage, from 1.
    pub number: u32,
    /// Whether its stage cannot complete without it.
    pub required: bool,
    /// Whether somebody planned it.
    pub planned: bool,
    /// Whether it is there for the next time that an entry criterion is met.
    pub repeats: bool,
    /// Subject of its wait; absent where it waits for nothing, or for what `criteria` say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<WaitingFor>,
    /// Entry criteria of an item that is available: what each of them misses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<CriterionView>,
    /// Transitions that a user may ask for.
    pub options: Vec<String>,
}

/// A criterion that is not met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CriterionView {
    /// The criterion.
    pub id: Arc<str>,
    /// Sentry of the criterion.
    pub sentry: Arc<str>,
    /// On-parts that have not occurred.
    pub missing: Vec<MissingPart>,
    /// Text of the if-part; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Arc<str>>,
    /// Value of the if-part now: true, false, or null for data that is not there yet; a text says why it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// An on-part that has not occurred.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingPart {
    /// Source of it.
    pub source: PartSource,
    /// Id of the item or case file item.
    pub source_id: Arc<str>,
    /// Transition of the standard.
    pub event: String,
    /// Exit criterion by which the item must have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_criterion: Option<Arc<str>>,
}

/// Kind of the source of an on-part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PartSource {
    /// Plan item.
    PlanItem,
    /// Case file item.
    CaseFileItem,
}

/// A case file item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileView {
    /// The item.
    pub id: Arc<str>,
    /// Name of it.
    pub name: Arc<str>,
    /// Item around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<Arc<str>>,
    /// State: `available`, `discarded`, or absent where it was never created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Whether there may be several.
    pub several: bool,
    /// Value of it, or values where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// References.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Value>,
    /// Transitions that are possible.
    pub options: Vec<FileEvent>,
}

/// A discretionary item that stands in the planning table of something active.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanningView {
    /// The discretionary item.
    pub item_id: Arc<str>,
    /// Name of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Type of it.
    #[serde(rename = "type")]
    pub item_type: ItemType,
    /// Stage or human task with the planning table.
    pub host_id: LocalId,
    /// Roles of which the user must fill one of each list.
    pub roles: Vec<Vec<Arc<str>>>,
    /// Whether it may be planned now.
    pub applicable: bool,
    /// Reason why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Case that is looked at.
pub(super) struct Looking<'v> {
    pub plan: &'v CasePlan,
    pub state: &'v State,
    pub case: &'v CaseState,
    pub now: Timestamp,
    /// Items of all instances.
    pub places: HashMap<LocalId, ItemIx>,
    /// Numbers of instances that have not ended, by the stages around them and by the ids of their items.
    pub there: HashMap<(Option<LocalId>, &'v str), usize>,
    waits: Waits<'v>,
}

/// Subjects of waits by who waits; of several the first one counts.
struct Waits<'v> {
    incidents: HashMap<LocalId, Incident>,
    timers: HashMap<LocalId, &'v TimerState>,
    subscriptions: HashMap<LocalId, &'v SubscriptionState>,
}

impl<'v> Waits<'v> {
    fn of(state: &'v State) -> Self {
        let incidents = state.incidents().into_iter().rev();
        Self {
            incidents: incidents.filter_map(|own| Some((own.node_instance_id?, own))).collect(),
            timers: state.timers.iter().rev().map(|own| (own.host, own)).collect(),
            subscriptions: state.subscriptions.iter().rev().map(|own| (own.host, own)).collect(),
        }
    }
}

/// The case as it stands at an instant; none for a run of a process.
#[must_use]
pub fn case_view(plan: &CasePlan, state: &State, now: Timestamp) -> Option<CaseView> {
    let case = state.case.as_deref()?;
    let model = case.item(LocalId::ROOT)?;
    let mut there: HashMap<_, usize> = HashMap::new();
    for own in case.items.iter().filter(|own| !own.state.is_ended()) {
        *there.entry((own.parent, &*own.item)).or_default() += 1;
    }
    let (places, waits) = (super::places(plan, case), Waits::of(state));
    let looking = Looking { plan, state, case, now, places, there, waits };
    Some(CaseView {
        state: model.state,
        items: case.items.iter().filter_map(|own| looking.item(own)).collect(),
        file: plan.file.iter().enumerate().map(|(ix, own)| looking.file(ix, own)).collect(),
        planning: planning(&looking),
        options: looking.options(model, true, None),
    })
}

/// Transitions that a user may ask for.
const ASKED: [ItemEvent; 10] = [
    ItemEvent::ManualStart,
    ItemEvent::Disable,
    ItemEvent::Reenable,
    ItemEvent::Complete,
    ItemEvent::Occur,
    ItemEvent::Terminate,
    ItemEvent::Suspend,
    ItemEvent::Resume,
    ItemEvent::Reactivate,
    ItemEvent::Close,
];

impl Looking<'_> {
    fn item(&self, own: &ItemInstance) -> Option<ItemView> {
        let ix = *self.places.get(&own.id)?;
        let item = self.plan.items.get(ix as usize)?;
        let waits = own.state == ItemState::Available && !item.entry.is_empty();
        let criteria = item.entry.iter().filter(|_| waits).filter_map(|ix| self.criterion(own, *ix));
        Some(ItemView {
            item_id: item.id.clone(),
            instance_id: own.id,
            name: item.name.clone(),
            item_type: super::items::item_type(item, ix),
            state: own.state,
            since: own.since,
            parent_id: own.parent,
            number: own.number,
            required: own.required,
            planned: own.planned,
            repeats: own.repeats,
            waiting_for: self.state.item_wait(own, &self.waits),
            criteria: criteria.collect(),
            options: self.options(own, ix == PLAN_MODEL, Some(item)),
        })
    }

    /// Transitions of an instance that a user may ask for; roles are another matter.
    fn options(&self, own: &ItemInstance, is_case: bool, item: Option<&Item>) -> Vec<String> {
        let cycle = match item {
            Some(item) => LifeCycle::of(&item.work, is_case),
            None => LifeCycle::Case,
        };
        let ended = self.case.item(LocalId::ROOT).is_none_or(|case| case.state != ItemState::Active);
        let takes = |event: ItemEvent| match (item.map(|item| &item.work), event) {
            (Some(Work::Milestone { .. }), ItemEvent::Occur) => false,
            (Some(Work::Reactivation { .. }), event) => ended && event == ItemEvent::Occur,
            (Some(_), _) if ended && !is_case => false,
            // What a form asks for is given where the task itself is completed.
            (Some(Work::Human { task, .. }), ItemEvent::Complete) => task.form.is_none(),
            (Some(Work::Stage { .. } | Work::Task) | None, ItemEvent::Complete) => true,
            (Some(_), ItemEvent::Complete) => false,
            _ => true,
        };
        let possible =
            |event: &ItemEvent| takes(*event) && transition(cycle, own.state, own.before, *event).is_some();
        ASKED.into_iter().filter(possible).map(word).collect()
    }

    fn criterion(&self, own: &ItemInstance, ix: u32) -> Option<CriterionView> {
        let criterion = self.plan.criteria.get(ix as usize)?;
        let sentry = self.plan.sentries.get(criterion.sentry as usize)?;
        let owner = own.parent.unwrap_or(LocalId::ROOT);
        let known =
            self.case.memory(owner, &criterion.id).map(|own| own.parts.as_slice()).unwrap_or_default();
        let missing = (0..).zip(&sentry.on).filter(|(part, _)| !known.contains(part));
        let missing = missing.filter_map(|(_, on)| self.missing(&on.source)).collect();
        Some(CriterionView {
            id: criterion.id.clone(),
            sentry: sentry.id.clone(),
            missing,
            condition: sentry.condition.as_ref().map(|own| own.text.clone()),
            value: sentry.condition.as_ref().map(|own| self.value(own, owner)),
        })
    }

    fn missing(&self, source: &Source) -> Option<MissingPart> {
        Some(match source {
            Source::Item { item, event, exit } => MissingPart {
                source: PartSource::PlanItem,
                source_id: self.plan.items.get(*item as usize)?.id.clone(),
                event: word(*event),
                exit_criterion: exit
                    .and_then(|ix| self.plan.criteria.get(ix as usize))
                    .map(|own| own.id.clone()),
            },
            Source::File { item, event } => MissingPart {
                source: PartSource::CaseFileItem,
                source_id: self.plan.file.get(*item as usize)?.id.clone(),
                event: file_word(*event),
                exit_criterion: None,
            },
        })
    }

    /// The value of a condition now; a text says why it cannot be told.
    pub(super) fn value(&self, condition: &heddle_cmmn::plan::Condition, scope: LocalId) -> Value {
        let seen = Seen { state: self.state, scope };
        let context = condition.context.and_then(|ix| {
            let name = &*self.plan.file.get(ix as usize)?.name;
            Some(FileContext { name, value: self.file_value(ix)? })
        });
        let evaluated = match &context {
            Some(context) => {
                condition.expression.evaluate(&Layers(&[context, &seen]), &EvalContext { now: self.now })
            }
            None => condition.expression.evaluate(&seen, &EvalContext { now: self.now }),
        };
        match evaluated {
            Ok(evaluated) => to_json(&evaluated.value),
            Err(limit) => Value::from(limit.to_string()),
        }
    }

    fn file_value(&self, ix: u32) -> Option<&Value> {
        let item = self.plan.file.get(ix as usize)?;
        let around = match item.parent {
            Some(parent) => self.file_value(parent)?,
            None => &self.case.file,
        };
        around.get(&*item.name).filter(|value| !value.is_null())
    }

    fn file(&self, ix: usize, own: &FileItem) -> FileView {
        let value = u32::try_from(ix).ok().and_then(|ix| self.file_value(ix));
        let several = file::is_many(own);
        let there = value.is_some_and(|value| !several || value.as_array().is_none_or(|all| !all.is_empty()));
        let state = match there {
            true => Some("available"),
            false => self.case.discarded.contains(&own.id).then_some("discarded"),
        };
        let mut options = Vec::new();
        if !there || several {
            options.push(FileEvent::Create);
        }
        if there {
            options.extend([FileEvent::Update, FileEvent::Replace, FileEvent::Delete]);
            options.extend([FileEvent::AddReference, FileEvent::RemoveReference]);
            if !own.children.is_empty() {
                options.extend([FileEvent::AddChild, FileEvent::RemoveChild]);
            }
        }
        let parent = own.parent.and_then(|ix| self.plan.file.get(ix as usize));
        FileView {
            id: own.id.clone(),
            name: own.name.clone(),
            parent_id: parent.map(|own| own.id.clone()),
            state: state.map(str::to_owned),
            several,
            value: value.cloned(),
            references: self.case.references.get(&own.id).cloned().unwrap_or_default(),
            options,
        }
    }
}

/// Scope that an instance sees.
struct Seen<'s> {
    state: &'s State,
    scope: LocalId,
}

impl Scope for Seen<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        let case = self.state.case.as_deref();
        let own = self.state.variable_at(Some(self.scope), name);
        let file = || (name == "caseFile").then(|| case.map(|case| &case.file)).flatten();
        let nodes = || (name == "nodes").then(|| self.state.node_outputs());
        own.or_else(file).or_else(nodes).map(Ref::Json)
    }
}

fn file_word(event: FileEvent) -> String {
    match serde_json::to_value(event) {
        Ok(Value::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}

impl State {
    /// State of a case; none for a run of a process.
    #[must_use]
    pub fn case_state(&self) -> Option<ItemState> {
        self.item(LocalId::ROOT).map(|own| own.state)
    }

    /// Values of the case file; none for a run of a process.
    #[must_use]
    pub fn case_file(&self) -> Option<&Value> {
        self.case.as_deref().map(|case| &case.file)
    }

    /// Items of the case that wait or are at work.
    pub(crate) fn waiting_items(&self) -> impl Iterator<Item = &ItemInstance> {
        let items = self.case.iter().flat_map(|case| &case.items).filter(|own| own.parent.is_some());
        items.filter(|own| matches!(own.state, ItemState::Active | ItemState::Enabled | ItemState::Failed))
    }

    /// Subject of an item's wait: what it does not do by itself.
    fn item_wait(&self, own: &ItemInstance, waits: &Waits<'_>) -> Option<WaitingFor> {
        if own.state.is_ended() {
            return None;
        }
        let wait = |kind: WaitKind, name: Option<&str>| WaitingFor {
            kind,
            name: name.map(str::to_owned),
            correlation_key: None,
            due_at: None,
            task_id: None,
            incident_id: None,
            attempt: own.attempt,
            options: Vec::new(),
        };
        if let Some(incident) = waits.incidents.get(&own.id) {
            let mut found = wait(WaitKind::Incident, Some(&incident.message));
            found.options.clone_from(&incident.options);
            return Some(WaitingFor { incident_id: Some(incident.id), ..found });
        }
        if let Some(task) = self.task_of(own.id) {
            let found = wait(WaitKind::HumanTask, task.name.as_deref());
            return Some(WaitingFor { due_at: task.due_at, task_id: Some(task.id), ..found });
        }
        if let Some(job) = self.job_of(own.id) {
            let found = wait(WaitKind::Job, Some(&job.job_type));
            return Some(WaitingFor { due_at: job.not_before, attempt: job.attempt, ..found });
        }
        if self.call_of(own.id).is_some() {
            return Some(wait(WaitKind::Call, None));
        }
        if let Some(timer) = waits.timers.get(&own.id) {
            return Some(WaitingFor { due_at: Some(timer.due_at), ..wait(WaitKind::Timer, None) });
        }
        let open = waits.subscriptions.get(&own.id)?;
        let kind = match open.kind {
            crate::SubscriptionKind::Message => WaitKind::Message,
            crate::SubscriptionKind::Signal => WaitKind::Signal,
            crate::SubscriptionKind::Condition => WaitKind::Condition,
        };
        Some(WaitingFor { correlation_key: open.key.clone(), ..wait(kind, Some(&open.name)) })
    }
}
