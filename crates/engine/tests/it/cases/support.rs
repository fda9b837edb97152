//! Plans built by hand, and a case that checks at every step that its state is the fold of its events.

#![expect(clippy::indexing_slicing, reason = "a trial fails where its sample does not fit")]

use heddle_cmmn::plan::{
    CasePlan, Condition, Criterion, Discretion, Extra, FileEvent, FileItem, Item, ItemEvent, ItemIx,
    Multiplicity, OnPart, Reactivation, Role, Rule, Sentry, Source, Work,
};
use heddle_engine::{
    Actor, Budget, CaseView, Command, Event, IncidentCode, ItemTarget, LocalId, Rejection, RunContext, State,
    Status, Trigger, apply, case_view, step,
};
use heddle_feel::{Dialect, Expression};
use heddle_kernel::{Timestamp, UserId};
use heddle_settings::{CallTask, JobTask, Setting, TimerDefinition, TimerKind, UserTask};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A plan under construction.
pub(crate) struct Plan {
    items: Vec<Item>,
    criteria: Vec<Criterion>,
    sentries: Vec<Sentry>,
    file: Vec<FileItem>,
    roles: Vec<Role>,
    reactivation: Option<Reactivation>,
}

pub(crate) fn feel(source: &str) -> Expression {
    Expression::compile(source, Dialect::Heddle).unwrap()
}

pub(crate) fn when(source: &str) -> Condition {
    Condition { expression: feel(source), context: None, text: source.into() }
}

/// A rule: `yes`, or a condition.
pub(crate) fn rule(source: &str) -> Rule {
    if source == "yes" { Rule::Yes } else { Rule::When(Box::new(when(source))) }
}

fn reactivation(rules: [&str; 3]) -> Reactivation {
    let [activate, ignore, anew] =
        rules.map(|source| if source.is_empty() { Rule::No } else { rule(source) });
    Reactivation { activate, ignore, anew }
}

pub(crate) fn human() -> Work {
    Work::Human { task: Arc::new(UserTask::default()), performer: None }
}

pub(crate) fn user_event() -> Work {
    Work::UserEvent { roles: Vec::new() }
}

pub(crate) fn milestone() -> Work {
    Work::Milestone { variable: None }
}

pub(crate) fn stage() -> Work {
    Work::Stage { auto_complete: false }
}

pub(crate) fn auto_stage() -> Work {
    Work::Stage { auto_complete: true }
}

pub(crate) fn timer(kind: TimerKind, text: &str) -> Work {
    Work::Timer { timer: Arc::new(TimerDefinition::parse(kind, text).unwrap()), start: None }
}

pub(crate) fn call(name: &str) -> Arc<CallTask> {
    Arc::new(CallTask {
        called: Setting::Literal(name.into()),
        version: None,
        all_in: true,
        all_out: true,
        business_key: None,
        inherit: true,
        correlation_key: None,
    })
}

pub(crate) fn job(name: &str) -> Work {
    let job = JobTask {
        job_type: Setting::Literal(name.into()),
        retries: Some(Setting::Literal(1.into())),
        back_off: Vec::new(),
        priority: None,
        headers: Map::new(),
        result_variable: None,
        arguments: None,
    };
    Work::Job { job: Arc::new(job) }
}

fn word<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_value(Value::from(text)).unwrap()
}

impl Plan {
    /// A case whose plan model completes by itself when nothing required is left, or when nothing at all is.
    pub(crate) fn new(auto_complete: bool) -> Self {
        let mut plan = Self {
            items: Vec::new(),
            criteria: Vec::new(),
            sentries: Vec::new(),
            file: Vec::new(),
            roles: Vec::new(),
            reactivation: None,
        };
        plan.push("case", None, Work::Stage { auto_complete });
        plan
    }

    fn push(&mut self, id: &str, parent: Option<ItemIx>, work: Work) {
        self.items.push(Item {
            id: id.into(),
            definition: id.into(),
            name: Some(id.into()),
            parent,
            work,
            entry: Vec::new(),
            exit: Vec::new(),
            control: Default::default(),
            discretionary: None,
            children: Vec::new(),
            table: Vec::new(),
            extra: Extra { blocking: true, ..Extra::default() },
        });
    }

    pub(crate) fn ix(&self, id: &str) -> ItemIx {
        let place = self.items.iter().position(|own| *own.id == *id);
        u32::try_from(place.unwrap_or_else(|| panic!("no item {id}"))).unwrap()
    }

    /// An item in a stage.
    pub(crate) fn item(mut self, id: &str, parent: &str, work: Work) -> Self {
        let (parent, ix) = (self.ix(parent), u32::try_from(self.items.len()).unwrap());
        self.push(id, Some(parent), work);
        self.items[parent as usize].children.push(ix);
        self
    }

    /// Items of the case plan model itself.
    pub(crate) fn top(self, id: &str, work: Work) -> Self {
        self.item(id, "case", work)
    }

    /// Human tasks of the case plan model, parted by white space.
    pub(crate) fn tasks(self, ids: &str) -> Self {
        ids.split_whitespace().fold(self, |plan, id| plan.top(id, human()))
    }

    /// An item that may be planned from a stage or a human task.
    pub(crate) fn discretionary(
        mut self,
        id: &str,
        host: &str,
        roles: &[&str],
        applies: Option<&str>,
    ) -> Self {
        let host = self.ix(host);
        let stage = match self.items[host as usize].work {
            Work::Stage { .. } => host,
            _ => self.items[host as usize].parent.unwrap(),
        };
        let ix = u32::try_from(self.items.len()).unwrap();
        self.push(id, Some(stage), human());
        self.items[stage as usize].children.push(ix);
        self.items[host as usize].table.push(ix);
        let roles = roles.iter().map(|role| Arc::from(*role)).collect::<Vec<Arc<str>>>();
        let roles = if roles.is_empty() { Vec::new() } else { vec![roles] };
        let applicable = applies.into_iter().map(when).collect();
        self.items[ix as usize].discretionary = Some(Discretion { applicable, roles });
        self
    }

    /// Changes an item.
    pub(crate) fn with(mut self, id: &str, change: impl FnOnce(&mut Item)) -> Self {
        let ix = self.ix(id);
        change(&mut self.items[ix as usize]);
        self
    }

    /// A case file item; its path names those around it, as `order.line`.
    pub(crate) fn file(mut self, path: &str, multiplicity: Multiplicity) -> Self {
        let (around, name) =
            path.rsplit_once('.').map_or((None, path), |(around, name)| (Some(around), name));
        let ix = u32::try_from(self.file.len()).unwrap();
        let parent = around.map(|around| {
            let name = around.rsplit('.').next().unwrap();
            self.file.iter().position(|own| *own.name == *name).unwrap()
        });
        if let Some(parent) = parent {
            self.file[parent].children.push(ix);
        }
        let parent = parent.map(|parent| u32::try_from(parent).unwrap());
        let (id, name) = (format!("file-{name}").into(), name.into());
        let (children, targets, properties) = (Vec::new(), Vec::new(), Vec::new());
        self.file.push(FileItem { id, name, parent, children, targets, multiplicity, properties });
        self
    }

    /// The rules of an item in a case that is reactivated: conditions for `activate`, `ignore` and `anew`, each of which may
    /// be empty.
    pub(crate) fn reactivated(self, item: &str, rules: [&str; 3]) -> Self {
        let rules = reactivation(rules);
        let mut plan = self.with(item, |own| own.control.reactivation = Some(Box::new(rules)));
        plan.reactivation.get_or_insert_default();
        plan
    }

    /// The rules of items whose own say nothing.
    pub(crate) fn reactivated_else(mut self, rules: [&str; 3]) -> Self {
        self.reactivation = Some(reactivation(rules));
        self
    }

    pub(crate) fn role(mut self, id: &str, name: &str) -> Self {
        self.roles.push(Role { id: id.into(), name: name.into() });
        self
    }

    /// On-parts such as `a complete, @order create, s exit by a-exit`; with `@` it is a case file item.
    fn parts(&self, text: &str) -> Vec<OnPart> {
        let part = |text: &str| {
            let mut words = text.split_whitespace();
            let (source, event) = (words.next().unwrap(), words.next().unwrap());
            let exit = words.nth(1).map(|id| {
                let place = self.criteria.iter().position(|own| *own.id == *id).unwrap();
                u32::try_from(place).unwrap()
            });
            let source = match source.strip_prefix('@') {
                Some(name) => {
                    let item = self.file.iter().position(|own| *own.name == *name).unwrap();
                    Source::File { item: u32::try_from(item).unwrap(), event: word::<FileEvent>(event) }
                }
                None => Source::Item { item: self.ix(source), event: word::<ItemEvent>(event), exit },
            };
            OnPart { id: None, source }
        };
        text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(part).collect()
    }

    fn criterion(
        mut self,
        item: &str,
        on: &str,
        condition: Option<&str>,
        is_exit: bool,
        on_event: bool,
    ) -> Self {
        let (on, condition) = (self.parts(on), condition.map(when));
        let sentry = u32::try_from(self.sentries.len()).unwrap();
        let ix = u32::try_from(self.criteria.len()).unwrap();
        let own = self.ix(item);
        let kind = if is_exit { "exit" } else { "entry" };
        let list = &mut self.items[own as usize];
        let list = if is_exit { &mut list.exit } else { &mut list.entry };
        let id =
            if list.is_empty() { format!("{item}-{kind}") } else { format!("{item}-{kind}{}", list.len()) };
        list.push(ix);
        self.sentries.push(Sentry { id: format!("s{sentry}").into(), on, condition, on_event });
        self.criteria.push(Criterion { id: id.into(), item: own, is_exit, sentry });
        self
    }

    pub(crate) fn entry(self, item: &str, on: &str) -> Self {
        self.criterion(item, on, None, false, false)
    }

    pub(crate) fn entry_if(self, item: &str, on: &str, condition: &str) -> Self {
        self.criterion(item, on, Some(condition), false, false)
    }

    /// An entry criterion whose on-parts must all occur in one step.
    pub(crate) fn entry_at_once(self, item: &str, on: &str) -> Self {
        self.criterion(item, on, None, false, true)
    }

    pub(crate) fn exit(self, item: &str, on: &str) -> Self {
        self.criterion(item, on, None, true, false)
    }

    pub(crate) fn exit_if(self, item: &str, on: &str, condition: &str) -> Self {
        self.criterion(item, on, Some(condition), true, false)
    }

    /// Lets a timer run from a transition on.
    pub(crate) fn starts(mut self, timer: &str, on: &str) -> Self {
        let trigger = self.parts(on).into_iter().next();
        let ix = self.ix(timer);
        if let Work::Timer { start, .. } = &mut self.items[ix as usize].work {
            *start = trigger;
        }
        self
    }

    pub(crate) fn build(self) -> Arc<CasePlan> {
        let (mut on_item, mut on_file) = (HashMap::<_, Vec<u32>>::new(), HashMap::<_, Vec<u32>>::new());
        let mut on_data = Vec::new();
        for (ix, criterion) in (0..).zip(&self.criteria) {
            let sentry = &self.sentries[criterion.sentry as usize];
            for on in &sentry.on {
                let list = match &on.source {
                    Source::Item { item, .. } => on_item.entry(*item).or_default(),
                    Source::File { item, .. } => on_file.entry(*item).or_default(),
                };
                if !list.contains(&ix) {
                    list.push(ix);
                }
            }
            if sentry.condition.is_some() {
                on_data.push(ix);
            }
        }
        let item_ids = (0..).zip(&self.items).map(|(ix, own)| (own.id.clone(), ix)).collect();
        let named =
            (0..).zip(&self.file).flat_map(|(ix, own)| [(own.id.clone(), ix), (own.name.clone(), ix)]);
        Arc::new(CasePlan {
            id: "the-case".into(),
            name: None,
            file_ids: named.collect(),
            items: self.items,
            criteria: self.criteria,
            sentries: self.sentries,
            file: self.file,
            roles: self.roles,
            inputs: Vec::new(),
            outputs: Vec::new(),
            starts: Vec::new(),
            item_ids,
            on_item,
            on_file,
            on_data,
            reactivation: self.reactivation,
        })
    }

    /// Starts a case with these variables.
    pub(crate) fn start(self, input: Value) -> Case {
        let mut case = Case::new(self.build());
        case.begin(input);
        case
    }
}

/// A case in memory.
pub(crate) struct Case {
    pub plan: Arc<CasePlan>,
    pub state: State,
    pub now: Timestamp,
    pub log: Vec<Event>,
    pub key: Option<String>,
    pub actor: Option<UserId>,
    pub roles: Vec<String>,
    pub people: BTreeMap<String, Vec<String>>,
    pub budget: Budget,
}

impl Case {
    pub(crate) fn new(plan: Arc<CasePlan>) -> Self {
        Self {
            plan,
            state: State::new(),
            now: "2024-01-01T00:00:00Z".parse().unwrap(),
            log: Vec::new(),
            key: None,
            actor: None,
            roles: Vec::new(),
            people: BTreeMap::new(),
            budget: Budget::DEFAULT,
        }
    }

    pub(crate) fn begin(&mut self, input: Value) {
        let input = input.as_object().cloned().unwrap_or_default();
        self.give(Command::Start { trigger: Trigger::Manual { start_node: None }, input }).unwrap();
    }

    fn context(&self) -> RunContext {
        RunContext {
            run_id: crate::support::RUN,
            now: self.now,
            correlation_key: self.key.clone(),
            actor: self.actor.map(|user_id| Actor { user_id }),
            decisions: None,
            elsewhere: None,
            hops: 0,
            budget: self.budget,
            remark: None,
            stores: BTreeMap::new(),
            roles: self.roles.clone(),
            people: self.people.clone(),
        }
    }

    /// Gives a command; checks that replay and JSON lead to the same state, and that it is a fixed point.
    pub(crate) fn give(&mut self, command: Command) -> Result<(), Rejection> {
        let before = self.state.last_sequence();
        let done = step(&self.plan, &self.state, command, &self.context())?;
        assert!(done.events.iter().map(|event| event.sequence).eq(before + 1..=done.state.last_sequence()));
        self.log.extend(done.events);
        self.state = done.state;
        self.check();
        Ok(())
    }

    fn check(&self) {
        let json = serde_json::to_string(&self.log).unwrap();
        let events: Vec<Event> = serde_json::from_str(&json).unwrap();
        assert_eq!(events, self.log);
        let mut replayed = State::new();
        events.iter().for_each(|event| apply(&mut replayed, event));
        assert_eq!(replayed, self.state);
        let json = serde_json::to_string(&self.state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&json).unwrap(), self.state);
        if self.state.status() != Status::Waiting || self.state.has_incident() {
            return;
        }
        // A round in which nothing happens changes nothing.
        let nothing = Command::SetVariables { scope: None, values: Map::new() };
        let again = step(&self.plan, &self.state, nothing, &self.context()).unwrap();
        assert_eq!(again.events.len(), 1, "{:#?}", again.events);
    }

    pub(crate) fn status(&self) -> Status {
        self.state.status()
    }

    pub(crate) fn view(&self) -> CaseView {
        case_view(&self.plan, &self.state, self.now).unwrap()
    }

    /// States of the instances of an item, in the order in which they came to be.
    pub(crate) fn states(&self, item: &str) -> Vec<&'static str> {
        let view = self.view();
        view.items.iter().filter(|own| *own.item_id == *item).map(|own| own.state.as_str()).collect()
    }

    /// The only instance of an item, or the last one.
    pub(crate) fn at(&self, item: &str) -> &'static str {
        self.states(item).last().copied().unwrap_or("absent")
    }

    pub(crate) fn instance(&self, item: &str) -> LocalId {
        let view = self.view();
        view.items.iter().rev().find(|own| *own.item_id == *item).unwrap().instance_id
    }

    /// Lets an item make a transition.
    pub(crate) fn go(&mut self, item: &str, transition: &str) -> Result<(), Rejection> {
        let target = ItemTarget::Item(item.to_owned());
        self.give(Command::Transition { target, transition: word(transition) })
    }

    pub(crate) fn complete(&mut self, item: &str) {
        self.complete_with(item, json!({}));
    }

    pub(crate) fn complete_with(&mut self, item: &str, values: Value) {
        let tasks = self.state.tasks();
        let task =
            tasks.iter().find(|task| *task.node_id == *item).unwrap_or_else(|| panic!("no task {item}"));
        let values = values.as_object().cloned().unwrap();
        let task_id = task.task_id;
        self.give(Command::CompleteTask { task_id, outcome: None, values, comment: None }).unwrap();
    }

    pub(crate) fn set(&mut self, values: Value) {
        let values = values.as_object().cloned().unwrap();
        self.give(Command::SetVariables { scope: None, values }).unwrap();
    }

    pub(crate) fn put(&mut self, item: &str, event: &str, at: &[u32], value: Value) -> Result<(), Rejection> {
        let (item, event, at) = (item.to_owned(), word(event), at.to_vec());
        self.give(Command::SetFile { item, event, at, value })
    }

    pub(crate) fn plan(&mut self, item: &str) -> Result<(), Rejection> {
        self.give(Command::PlanItem { host: None, item: item.to_owned() })
    }

    pub(crate) fn raise(&mut self, item: &str, payload: Value) -> Result<(), Rejection> {
        self.give(Command::RaiseEvent { target: ItemTarget::Item(item.to_owned()), payload })
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

    pub(crate) fn incidents(&self) -> Vec<(IncidentCode, String)> {
        let named = |node: Option<Arc<str>>| node.map(|node| node.to_string()).unwrap_or_default();
        self.state.incidents().into_iter().map(|own| (own.code, named(own.node_id))).collect()
    }

    pub(crate) fn retry(&mut self, variables: Value) {
        let incident_id = self.state.incidents()[0].id;
        let variables = variables.as_object().cloned().unwrap();
        self.give(Command::Retry { incident_id, variables }).unwrap();
    }

    pub(crate) fn variable(&self, name: &str) -> Value {
        self.state.variables().and_then(|own| own.get(name)).cloned().unwrap_or_default()
    }
}
