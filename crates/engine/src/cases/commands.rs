//! Commands to a case.

use super::file::Change;
use super::items::{Creation, Transition};
use super::{CaseMachine, LifeCycle, Moved, Todo, transition};
use crate::core::eval::prefixed;
use crate::core::jobs::Failure;
use crate::core::{Spot, StepFault, expression};
use crate::event::{EventKind, ItemCreated, ItemState, ItemType, RunStarted, SubscriptionKind, Trigger};
use crate::state::Life;
use crate::{Command, ItemTarget, LocalId, Rejection, SkipTarget};
use heddle_cmmn::life::word;
use heddle_cmmn::plan::{Item, ItemEvent, ItemIx, PLAN_MODEL, Rule, Source, Work};
use serde_json::{Map, Value};

/// Most items that the refusal of a completion names.
const MOST_TOLD: usize = 20;

impl CaseMachine<'_> {
    pub(super) fn execute(&mut self, command: Command) -> Result<(), Rejection> {
        match command {
            Command::Start { trigger, input } => self.start(trigger, input),
            Command::CompleteTask { task_id, outcome, values, comment } => {
                self.complete_task(task_id, outcome, values, comment)
            }
            Command::AssignTask { task_id, assignee } => self.assign_task(task_id, assignee),
            Command::CompleteJob { job_id, variables } => self.complete_job(job_id, variables),
            Command::FailJob { job_id, message, details, retries, retry_after_ms, notes } => {
                self.fail_job(job_id, Failure { message, details, retries, retry_after_ms, notes })
            }
            Command::ThrowJobError { job_id, code, message, variables } => {
                self.throw_job_error(job_id, code, message, variables)
            }
            // Of an item that is suspended, alone or with the case, it is kept anyway.
            Command::EndJob { job_id, end } => self.execute(Command::ending(job_id, end)),
            Command::SetJobRetries { job_id, retries } => self.set_job_retries(job_id, retries),
            Command::CompleteCall { run_id, output } => self.complete_call(run_id, output),
            Command::FailCall { run_id, code, message, output: _ } => self.fail_call(run_id, code, &message),
            Command::EscalateCall { run_id, code, variables } => self.escalate_call(run_id, &code, variables),
            Command::FireTimer { timer_id } => self.fire_timer(timer_id),
            Command::DeliverMessage { subscription_id, payload } => {
                self.deliver(subscription_id, SubscriptionKind::Message, payload)
            }
            Command::DeliverSignal { subscription_id, payload } => {
                self.deliver(subscription_id, SubscriptionKind::Signal, payload)
            }
            Command::Cancel { reason } | Command::CancelCompensating { reason } => {
                self.case_moves(ItemEvent::Terminate, reason)
            }
            Command::Suspend => self.case_moves(ItemEvent::Suspend, None),
            Command::Resume => self.case_moves(ItemEvent::Resume, None),
            Command::CompleteCase => self.case_moves(ItemEvent::Complete, None),
            Command::CloseCase => self.case_moves(ItemEvent::Close, None),
            Command::ReactivateCase => self.case_moves(ItemEvent::Reactivate, None),
            Command::Retry { incident_id, variables } => self.retry(incident_id, variables),
            Command::Skip { target: SkipTarget::Incident(id), output } => match self.incident(id)?.instance {
                Some(instance) => match self.skip(instance, output) {
                    Err(Rejection::NotWaiting(_)) => Err(Rejection::CannotSkip(id)),
                    done => done,
                },
                None => Err(Rejection::CannotSkip(id)),
            },
            Command::Skip { target: SkipTarget::Node(id), output } => self.skip(id, output),
            Command::SetVariables { scope, values } => {
                self.set_variables(scope.unwrap_or(LocalId::ROOT), values)
            }
            Command::Transition { target, transition } => self.move_item(&target, transition),
            Command::PlanItem { host, item } => self.plan_discretionary(host, &item),
            Command::SetFile { item, event, at, value } => {
                let ix = self.file_item(&item)?;
                self.change_file(ix, Change { event, at, value })
            }
            Command::RaiseEvent { target, payload } => self.raise_event(&target, payload),
            Command::Continue { node_instance_id, .. } => Err(Rejection::NotWaiting(node_instance_id)),
            Command::Guarded { job_id, hits, then } => self.guarded(job_id, hits, *then),
            Command::Move { .. } => Err(Rejection::OtherKind("a case")),
        }
    }

    fn start(&mut self, trigger: Trigger, input: Map<String, Value>) -> Result<(), Rejection> {
        let (mut input, mut filed) = self.brought(&trigger, input);
        match input.remove("caseFile") {
            None | Some(Value::Null) => {}
            Some(Value::Object(members)) => filed.extend(members),
            Some(_) => {
                let (item, reason) =
                    ("caseFile".to_owned(), "it is an object by the names of its items".to_owned());
                return Err(Rejection::WrongFileChange { item, reason });
            }
        }
        let started = RunStarted {
            process_id: self.plan.id.clone(),
            trigger,
            input,
            correlation_key: self.cx.correlation_key.clone(),
            by: self.actor(),
        };
        self.emit(Spot::default(), EventKind::RunStarted(Box::new(started)));
        let people =
            self.cx.people.iter().map(|(role, users)| (role.as_str().into(), users.clone())).collect();
        self.emit(Spot::default(), EventKind::CaseOpened { people });
        let Some(model) = self.plan_item(PLAN_MODEL) else {
            return Err(Rejection::WrongGraph(self.plan.id.to_string()));
        };
        self.open_model(model);
        // What is in the case sees its file from the first; the standard events of that come behind its own.
        self.file_at_start(filed)?;
        let behind = std::mem::take(&mut self.todo);
        let (id, item) = (LocalId::ROOT, PLAN_MODEL);
        let moved = Moved { id, item, event: ItemEvent::Create, criterion: None, parent: None };
        self.todo.push_back(Todo::Moved(moved));
        if !model.exit.is_empty() {
            self.look_at(LocalId::ROOT);
        }
        if let Some(name) = model.extra.settings.get("initiator").and_then(Value::as_str) {
            let who = self.actor().map_or(Value::Null, |user| user.to_string().into());
            self.set_values(LocalId::ROOT, Map::from_iter([(name.to_owned(), who)]));
        }
        let event = ItemEvent::Create;
        self.hear(id, model, &Transition { event, from: None, to: ItemState::Active })?;
        self.open_stage(LocalId::ROOT, model)?;
        self.todo.extend(behind);
        Ok(())
    }

    /// Creates the instance of the case plan model.
    fn open_model(&mut self, model: &Item) {
        self.activations += 1;
        let created = ItemCreated {
            item_type: ItemType::CasePlanModel,
            name: model.name.clone(),
            parent: None,
            required: false,
            repeats: false,
            planned: false,
            by: None,
        };
        let spot = Spot {
            node: Some(model.id.clone()),
            instance: Some(LocalId::ROOT),
            scope: Some(LocalId::ROOT),
            attempt: None,
        };
        self.emit(spot, EventKind::ItemCreated(Box::new(created)));
    }

    /// Variables and values of case file items that a start brings. What an event brings goes where its start event says,
    /// and otherwise as that of a listener: members that are called as case file items, and are no parameters, are these.
    fn brought(
        &self,
        trigger: &Trigger,
        mut input: Map<String, Value>,
    ) -> (Map<String, Value>, Map<String, Value>) {
        let Trigger::Message { name, .. } = trigger else { return (input, Map::new()) };
        let start = self.plan.starts.iter().find(|own| *own.event_type == **name);
        if let Some(target) = start.and_then(|own| own.target.as_ref()) {
            // A payload that is no object comes as the member of this name.
            let bare = input.get("payload").filter(|own| input.len() == 1 && !own.is_object()).cloned();
            let whole = target.put(None, bare.unwrap_or_else(|| Value::Object(std::mem::take(&mut input))));
            input = Map::from_iter([(target.variable.to_string(), whole)]);
        }
        let is_filed = |name: &str| {
            let filed = self.plan.file_ids.get(name).and_then(|ix| self.plan.file.get(*ix as usize));
            filed.is_some_and(|own| own.parent.is_none() && *own.name == *name)
                && self.plan.inputs.iter().all(|own| *own.name != *name)
        };
        input.into_iter().partition(|(name, _)| !is_filed(name))
    }

    /// Creates the case file items with which the case begins: those that are given, and those that input parameters are
    /// bound to.
    fn file_at_start(&mut self, filed: Map<String, Value>) -> Result<(), Rejection> {
        let mut given = Vec::new();
        for (item, value) in filed {
            let Ok(ix) = self.file_item(&item) else {
                let reason = "the case file has no such item".to_owned();
                return Err(Rejection::WrongFileChange { item, reason });
            };
            given.push((ix, value));
        }
        let plan = self.plan;
        for own in &plan.inputs {
            let Some(ix) = own.bound else { continue };
            let variables = self.variables(LocalId::ROOT);
            let Some(value) = variables.find(&own.name).filter(|value| !value.is_null()).cloned() else {
                continue;
            };
            // What is written is computed of the parameter's own value.
            let refined = match &own.refinement {
                Some(refinement) => match self.evaluate(refinement, &variables) {
                    Ok((heddle_feel::Value::Null, notes)) => Err(expression(format!(
                        "the bindingRefinement of the input `{}` gives null{}",
                        own.name,
                        prefixed(&notes)
                    ))),
                    Ok((value, _)) => Ok(heddle_feel::to_json(&value)),
                    Err(fault) => Err(fault),
                },
                None => Ok(value),
            };
            match refined {
                Ok(value) => given.push((ix, value)),
                Err(fault) => self.trouble(LocalId::ROOT, fault)?,
            }
        }
        // Each behind the one around it.
        given.sort_by_key(|(ix, _)| *ix);
        for (ix, value) in given {
            match self.write_given(ix, value) {
                Ok(()) => {}
                Err(fault) => self.trouble(LocalId::ROOT, fault)?,
            }
        }
        Ok(())
    }

    fn set_variables(&mut self, scope: LocalId, values: Map<String, Value>) -> Result<(), Rejection> {
        if self.state.scope(scope).is_none() {
            return Err(Rejection::UnknownInstance(scope));
        }
        let spot = self.scope_spot(scope);
        self.emit(spot, EventKind::VariablesSet { values });
        Ok(())
    }

    /// The case itself makes a transition.
    fn case_moves(&mut self, event: ItemEvent, reason: Option<String>) -> Result<(), Rejection> {
        let by = self.actor();
        match event {
            ItemEvent::Complete => {
                let (_, item) = self.item_of(LocalId::ROOT)?;
                self.admit_completion(LocalId::ROOT, item)?;
                self.end_case(event, None, None)
            }
            ItemEvent::Terminate if self.cx.actor.is_none() && self.state.life == Life::Suspended => {
                // The service ends what nobody waits for any more, suspended or not.
                self.transit(LocalId::ROOT, ItemEvent::Resume, None)?;
                self.end_case(event, None, reason)
            }
            ItemEvent::Terminate | ItemEvent::Fault => self.end_case(event, None, reason),
            ItemEvent::Suspend => {
                self.transit(LocalId::ROOT, event, None)?;
                self.emit(Spot::default(), EventKind::RunSuspended { by });
                Ok(())
            }
            ItemEvent::Resume => {
                self.transit(LocalId::ROOT, event, None)?;
                self.emit(Spot::default(), EventKind::RunResumed { by });
                Ok(())
            }
            ItemEvent::Close => {
                self.transit(LocalId::ROOT, event, None)?;
                self.emit(Spot::default(), EventKind::CaseClosed { by });
                Ok(())
            }
            ItemEvent::Reactivate => {
                if self.reopen()? {
                    return self.bring_back(None);
                }
                self.reconsider();
                Ok(())
            }
            _ => Err(self.wrong_case_transition(event)),
        }
    }

    fn wrong_case_transition(&self, event: ItemEvent) -> Rejection {
        let state = self.state.item(LocalId::ROOT).map_or("not there", |own| own.state.as_str());
        Rejection::WrongTransition { item: self.plan.id.to_string(), state, transition: word(event) }
    }

    /// Makes a case active again; answers whether it had ended.
    fn reopen(&mut self) -> Result<bool, Rejection> {
        let ended = self.state.life != Life::Suspended;
        self.transit(LocalId::ROOT, ItemEvent::Reactivate, None)?;
        let by = self.actor();
        self.emit(Spot::default(), EventKind::CaseReactivated { by });
        // What happened to the case is no reason to complete it.
        self.touched.clear();
        Ok(ended)
    }

    /// Creates anew what comes back with a case that had ended: what waits for events and criteria, while what was done stays
    /// done; or what its rules say, beside what waits for the listener that reactivates it.
    fn bring_back(&mut self, listener: Option<ItemIx>) -> Result<(), Rejection> {
        let Some(model) = self.plan_item(PLAN_MODEL) else { return Ok(()) };
        for &ix in &model.children {
            let Some(item) = self.plan_item(ix).filter(|_| self.live(ix).is_empty()) else { continue };
            let comes = item.discretionary.is_none() && (!item.entry.is_empty() || self.is_listener(item));
            if self.plan.reactivation.is_some() && !self.awaits(item, listener) {
                self.come(ix, LocalId::ROOT)?;
            } else if comes {
                let repeats = !matches!(item.control.repetition, Rule::No) && !item.entry.is_empty();
                self.create(ix, LocalId::ROOT, Creation { repeats, ..Creation::default() })?;
            }
        }
        Ok(())
    }

    /// Whether an entry criterion of an item waits for this listener to occur.
    fn awaits(&self, item: &Item, listener: Option<ItemIx>) -> bool {
        let fits = |source: &Source| matches!(source, Source::Item { item, event: ItemEvent::Occur, .. } if Some(*item) == listener);
        let sentries = item.entry.iter().filter_map(|ix| self.criterion(*ix));
        sentries.flat_map(|(_, sentry)| &sentry.on).any(|on| fits(&on.source))
    }

    /// Items of an id: several, where the stage around them stands in the plan several times.
    pub(super) fn items_of(&self, id: &str) -> Vec<ItemIx> {
        if !self.plan.item_ids.contains_key(id) {
            return Vec::new();
        }
        (0..).zip(&self.plan.items).filter(|(_, own)| *own.id == *id).map(|(ix, _)| ix).collect()
    }

    /// The instance that a command is about: of an item the first one for which the transition is possible.
    fn target(&self, target: &ItemTarget, event: ItemEvent) -> Result<LocalId, Rejection> {
        match target {
            ItemTarget::Instance(id) => self.item(*id).map(|own| own.id),
            ItemTarget::Item(name) => {
                let unknown = || Rejection::UnknownItem(name.clone());
                let named = self.items_of(name);
                let ix = *named.first().ok_or_else(unknown)?;
                let item = self.plan_item(ix).ok_or_else(unknown)?;
                let cycle = LifeCycle::of(&item.work, ix == PLAN_MODEL);
                let can = |id: &&LocalId| {
                    let own = self.state.item(**id);
                    own.is_some_and(|own| transition(cycle, own.state, own.before, event).is_some())
                };
                let mut there: Vec<LocalId> = named.iter().flat_map(|ix| self.live(*ix)).copied().collect();
                there.sort_unstable();
                if let Some(id) = there.iter().find(can).or(there.first()) {
                    return Ok(*id);
                }
                // The last one that ended says why it is not possible.
                let case = self.case()?;
                let ended = case.items.iter().rev().find(|own| *own.item == **name);
                ended.map(|own| own.id).ok_or_else(unknown)
            }
        }
    }

    /// Lets an item make a transition that a user may ask for.
    fn move_item(&mut self, target: &ItemTarget, event: ItemEvent) -> Result<(), Rejection> {
        let id = self.target(target, event)?;
        let (ix, item) = self.item_of(id)?;
        if ix == PLAN_MODEL {
            return self.case_moves(event, None);
        }
        let state = self.item(id)?.state;
        // What is disabled is enabled by being enabled again.
        let event = match (event, state) {
            (ItemEvent::Enable, ItemState::Disabled) => ItemEvent::Reenable,
            (event, _) => event,
        };
        let wrong = || {
            Err(Rejection::WrongTransition {
                item: item.id.to_string(),
                state: state.as_str(),
                transition: word(event),
            })
        };
        if self.state.life != Life::Active && !matches!(item.work, Work::Reactivation { .. }) {
            return Err(Rejection::AlreadyEnded);
        }
        match event {
            ItemEvent::Occur if matches!(item.work, Work::Milestone { .. }) => wrong(),
            ItemEvent::Occur => self.raise_at(id, item, Value::Null),
            ItemEvent::Complete => self.complete_by_hand(id, item),
            ItemEvent::Reactivate if state == ItemState::Failed => self.work_again(id),
            ItemEvent::ManualStart => {
                self.transit(id, event, None)?;
                self.work(id)
            }
            ItemEvent::Disable
            | ItemEvent::Reenable
            | ItemEvent::Terminate
            | ItemEvent::Suspend
            | ItemEvent::Resume
            | ItemEvent::Reactivate => self.transit(id, event, None),
            ItemEvent::Fault => {
                self.transit(id, event, None)?;
                // Nobody goes on with what has failed.
                self.withdraw_works(id);
                Ok(())
            }
            // These follow of themselves: from criteria, from rules, and from what is around the item.
            ItemEvent::Close
            | ItemEvent::Create
            | ItemEvent::Enable
            | ItemEvent::Exit
            | ItemEvent::ParentResume
            | ItemEvent::ParentSuspend
            | ItemEvent::ParentTerminate
            | ItemEvent::Start => wrong(),
        }
    }

    /// Completes a stage, a human task or one without a type by hand; what others do ends when they have done it.
    fn complete_by_hand(&mut self, id: LocalId, item: &Item) -> Result<(), Rejection> {
        let state = self.item(id)?.state;
        match &item.work {
            Work::Stage { .. } if state == ItemState::Active => {
                self.admit_completion(id, item)?;
                self.complete_stage(id)
            }
            Work::Task if state == ItemState::Active => self.finish(id, Map::new(), true),
            Work::Human { .. } if state == ItemState::Active => {
                match self.state.task_of(id).map(|task| (task.id, task.form.is_some())) {
                    // What a form asks for is given, and checked, where the task itself is completed.
                    Some((_, true)) => Err(Rejection::WrongTransition {
                        item: item.id.to_string(),
                        state: "a task with a form, which is completed by its own id",
                        transition: word(ItemEvent::Complete),
                    }),
                    Some((task_id, false)) => self.complete_task(task_id, None, Map::new(), None),
                    None => self.finish(id, Map::new(), true),
                }
            }
            _ => Err(Rejection::WrongTransition {
                item: item.id.to_string(),
                state: state.as_str(),
                transition: word(ItemEvent::Complete),
            }),
        }
    }

    /// Checks that a stage may be completed by hand.
    fn admit_completion(&self, id: LocalId, item: &Item) -> Result<(), Rejection> {
        if self.item(id)?.state != ItemState::Active {
            return Ok(());
        }
        let waits_for = match self.blockers(id, true, MOST_TOLD) {
            Ok(blockers) => blockers,
            Err(StepFault::Rejected(rejection)) => return Err(rejection),
            Err(StepFault::Incident(_, message)) => vec![message],
        };
        if waits_for.is_empty() {
            return Ok(());
        }
        Err(Rejection::NotCompletable { item: item.id.to_string(), waits_for })
    }

    fn raise_event(&mut self, target: &ItemTarget, payload: Value) -> Result<(), Rejection> {
        let id = self.target(target, ItemEvent::Occur)?;
        let (_, item) = self.item_of(id)?;
        self.raise_at(id, item, payload)
    }

    /// A user lets a listener occur. One for the reactivation of the case does that first.
    fn raise_at(&mut self, id: LocalId, item: &Item, payload: Value) -> Result<(), Rejection> {
        let state = self.item(id)?.state;
        if state != ItemState::Available || !self.is_listener(item) {
            return Err(Rejection::WrongTransition {
                item: item.id.to_string(),
                state: state.as_str(),
                transition: word(ItemEvent::Occur),
            });
        }
        self.admit_occurrence(id, item)?;
        let Work::Reactivation { .. } = item.work else { return self.occur(id, payload) };
        let (ix, _) = self.item_of(id)?;
        if self.reopen()? {
            // The rules see the data of the event.
            self.take(id, payload)?;
            self.bring_back(Some(ix))?;
        }
        self.transit(id, ItemEvent::Occur, None)?;
        // It is there for the next end, too.
        if self.live(ix).is_empty() && item.parent == Some(PLAN_MODEL) {
            self.create(ix, LocalId::ROOT, Creation::default())?;
        }
        Ok(())
    }
}
