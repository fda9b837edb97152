//! Event listeners: timers, messages, signals, variables and what users raise.

use super::CaseMachine;
use crate::core::compute::Scopes;
use crate::core::tasks::timer_fault;
use crate::core::{StepFault, expression};
use crate::event::{EventKind, ItemState, SubscriptionKind};
use crate::{LocalId, Rejection};
use heddle_cmmn::plan::{Item, ItemEvent, ItemIx, Source, Work};
use heddle_feel::{Context, Ref};
use heddle_settings::{Schedule, Setting};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;

impl CaseMachine<'_> {
    /// Opens what a listener waits for; one that is not to be there now waits for nothing.
    pub(super) fn listen(&mut self, id: LocalId, ix: ItemIx) -> Result<(), Rejection> {
        match self.try_listen(id, ix) {
            Ok(()) => Ok(()),
            Err(fault) => self.stopped(id, fault),
        }
    }

    fn try_listen(&mut self, id: LocalId, ix: ItemIx) -> Result<(), StepFault> {
        let Some(item) = self.plan_item(ix) else { return Ok(()) };
        if !self.is_there(item, id)? {
            return Ok(());
        }
        match &item.work {
            Work::Timer { start: Some(_), .. } => Ok(()),
            Work::Timer { start: None, .. } => self.set_timer(id, ix, item),
            Work::Message { name, key } => {
                let scope = self.inner(id);
                let name = self.named(item, "name", name, scope)?;
                let key = match key {
                    Some(key) => Some(self.named(item, "correlationKey", key, scope)?),
                    None => self.state.correlation_key.clone(),
                };
                self.subscribe(id, SubscriptionKind::Message, &name, key);
                Ok(())
            }
            Work::Signal { name } => {
                let scope = self.inner(id);
                let name = self.named(item, "name", name, scope)?;
                self.subscribe(id, SubscriptionKind::Signal, &name, None);
                Ok(())
            }
            // These wait for what is said or set in the case itself.
            Work::UserEvent { .. } | Work::Variable { .. } | Work::Reactivation { .. } => Ok(()),
            Work::Stage { .. }
            | Work::Milestone { .. }
            | Work::Human { .. }
            | Work::Process { .. }
            | Work::Case { .. }
            | Work::Decision { .. }
            | Work::Job { .. }
            | Work::Script { .. }
            | Work::Task => Ok(()),
        }
    }

    fn named(
        &self,
        item: &Item,
        member: &str,
        setting: &Setting,
        scope: LocalId,
    ) -> Result<String, StepFault> {
        let text = self.text(Some(setting), scope)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| expression(format!("{member} of the listener `{}` is null or empty", item.id)))
    }

    fn subscribe(&mut self, id: LocalId, kind: SubscriptionKind, name: &str, key: Option<String>) {
        let subscription_id = self.next_id();
        let spot = self.spot(id);
        let opened = EventKind::SubscriptionOpened {
            subscription_id,
            kind,
            name: name.into(),
            correlation_key: key,
            trigger: None,
        };
        self.emit(spot, opened);
    }

    /// Whether a listener is to be there by its condition.
    fn is_there(&self, item: &Item, id: LocalId) -> Result<bool, StepFault> {
        match &item.extra.available {
            Some(condition) => self.part(condition, self.inner(id)),
            None => Ok(true),
        }
    }

    fn set_timer(&mut self, id: LocalId, ix: ItemIx, item: &Item) -> Result<(), StepFault> {
        let Work::Timer { timer, .. } = &item.work else { return Ok(()) };
        let next = self.slot.take_if(|(own, _)| *own == ix).and_then(|(_, schedule)| schedule);
        let schedule = match next {
            Some(schedule) => schedule,
            None => {
                let scope = self.inner(id);
                let schedule = timer.schedule_on(self.now, &self.variables(scope), &self.steps);
                let schedule = schedule.map_err(|fault| timer_fault(fault, ""))?;
                self.admit_schedule(&schedule)?;
                schedule
            }
        };
        let timer_id = self.next_id();
        let Schedule { due_at, cycle } = schedule;
        let spot = self.spot(id);
        let cycle = cycle.map(Box::new);
        self.emit(spot, EventKind::TimerScheduled { timer_id, due_at, cycle, trigger: None });
        Ok(())
    }

    /// Lets timers run whose start this was.
    pub(super) fn start_timers(&mut self, fits: impl Fn(&Source) -> bool) -> Result<(), Rejection> {
        for place in 0..self.conditional.len() {
            let Some(ix) = self.conditional.get(place).copied() else { break };
            let Some(item) = self.plan_item(ix) else { continue };
            let Work::Timer { start: Some(start), .. } = &item.work else { continue };
            if !fits(&start.source) {
                continue;
            }
            for id in self.available(ix) {
                let runs = self.state.timers.iter().any(|own| own.host == id);
                if runs {
                    continue;
                }
                let set = self
                    .is_there(item, id)
                    .and_then(|is_there| if is_there { self.set_timer(id, ix, item) } else { Ok(()) });
                if let Err(fault) = set {
                    self.stopped(id, fault)?;
                }
            }
        }
        Ok(())
    }

    /// Instances of an item that are available.
    pub(super) fn available(&self, ix: ItemIx) -> Vec<LocalId> {
        let is_available =
            |id: &LocalId| self.state.item(*id).is_some_and(|own| own.state == ItemState::Available);
        self.live(ix).iter().copied().filter(is_available).collect()
    }

    /// Opens and closes the waits of listeners whose being there depends on data.
    pub(super) fn settle_listeners(&mut self) -> Result<(), Rejection> {
        if self.conditional.is_empty() {
            return Ok(());
        }
        let timers = self.state.timers.iter().map(|own| own.host);
        let waiting: HashSet<LocalId> =
            timers.chain(self.state.subscriptions.iter().map(|own| own.host)).collect();
        for place in 0..self.conditional.len() {
            let Some(ix) = self.conditional.get(place).copied() else { break };
            let Some(item) = self.plan_item(ix).filter(|own| own.extra.available.is_some()) else { continue };
            for id in self.available(ix) {
                let waits = waiting.contains(&id);
                match self.is_there(item, id) {
                    Ok(true) if !waits => self.listen(id, ix)?,
                    Ok(false) if waits => self.close_waits(id),
                    Ok(_) => {}
                    Err(fault) => self.stopped(id, fault)?,
                }
            }
        }
        Ok(())
    }

    /// Withdraws what an instance waits for from outside.
    pub(super) fn close_waits(&mut self, id: LocalId) {
        let timers = self.state.timers.iter().filter(|own| own.host == id);
        let timers = timers.map(|own| EventKind::TimerCancelled { timer_id: own.id });
        let open = self.state.subscriptions.iter().filter(|own| own.host == id);
        let open = open.map(|own| EventKind::SubscriptionClosed { subscription_id: own.id });
        let closed: Vec<EventKind> = timers.chain(open).collect();
        for kind in closed {
            let spot = self.spot(id);
            self.emit(spot, kind);
        }
    }

    /// Checks that nothing suspends a listener that waits.
    fn must_wait(&self, id: LocalId) -> Result<(), Rejection> {
        let own = self.item(id)?;
        let waits = own.state == ItemState::Available;
        if waits { Ok(()) } else { Err(Rejection::ItemSuspended(own.item.to_string())) }
    }

    pub(super) fn fire_timer(&mut self, timer_id: LocalId) -> Result<(), Rejection> {
        let found = self.state.timers.iter().find(|timer| timer.id == timer_id);
        let timer = found.ok_or(Rejection::UnknownTimer(timer_id))?.clone();
        if self.now < timer.due_at {
            return Err(Rejection::NotDue(timer.due_at));
        }
        let id = timer.host;
        self.must_wait(id)?;
        let (ix, _) = self.item_of(id)?;
        let spot = self.spot(id);
        self.emit(spot, EventKind::TimerFired { timer_id, due_at: timer.due_at, skipped: false });
        let schedule = Schedule { due_at: timer.due_at, cycle: timer.cycle.map(|cycle| *cycle) };
        if schedule.cycle.is_some() {
            // A case that is full keeps no timer that goes on for ever.
            let least = self.cx.budget.least_period_millis;
            let next = schedule.next_after(self.now, least).filter(|_| !self.is_full());
            self.slot = Some((ix, next));
        }
        let occurred = self.transit(id, ItemEvent::Occur, None);
        self.slot = None;
        occurred
    }

    pub(super) fn deliver(
        &mut self,
        subscription: LocalId,
        kind: SubscriptionKind,
        payload: Value,
    ) -> Result<(), Rejection> {
        let mut open = self.state.subscriptions.iter();
        let found = open.find(|own| own.id == subscription && own.kind == kind);
        let own = found.ok_or(Rejection::UnknownSubscription(subscription))?.clone();
        self.must_wait(own.host)?;
        let spot = self.spot(own.host);
        let told = payload.clone();
        let received = match kind {
            SubscriptionKind::Signal => EventKind::SignalReceived { name: own.name, payload: told },
            SubscriptionKind::Message | SubscriptionKind::Condition => {
                EventKind::MessageReceived { name: own.name, correlation_key: own.key, payload: told }
            }
        };
        self.emit(spot, received);
        self.occur(own.host, payload)
    }

    /// A listener occurs, with data.
    pub(super) fn occur(&mut self, id: LocalId, payload: Value) -> Result<(), Rejection> {
        self.take(id, payload)?;
        self.transit(id, ItemEvent::Occur, None)
    }

    /// Takes the data of an event; what cannot be taken is an incident of its listener.
    pub(super) fn take(&mut self, id: LocalId, payload: Value) -> Result<(), Rejection> {
        match self.taken(id, payload) {
            Ok(()) => Ok(()),
            Err(fault) => self.trouble(id, fault),
        }
    }

    /// Takes the data of an event: by the mapping of its listener; otherwise members that are called as case file items
    /// change those, and the others become variables.
    fn taken(&mut self, id: LocalId, payload: Value) -> Result<(), StepFault> {
        if payload.is_null() {
            return Ok(());
        }
        let (_, item) = self.item_of(id)?;
        let scope = self.inner(id);
        let outputs = &item.extra.mappings.outputs;
        let values = if outputs.is_empty() {
            match payload {
                Value::Object(values) => values,
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    Map::new()
                }
            }
        } else {
            let mut own = Context::new();
            for (name, value) in payload.as_object().into_iter().flatten() {
                own.put(Arc::from(name.as_str()), Ref::Json(value).into_value());
            }
            own.put(Arc::from("payload"), Ref::Json(&payload).into_value());
            let scopes = Scopes { inner: scope, around: scope };
            self.mapped(outputs, Map::new(), &own, scopes, &mut Vec::new())?
        };
        self.leave_behind(scope, values, true)
    }

    /// A variable got another value: what listens for it occurs.
    pub(super) fn variable_set(&mut self, name: &str, before: bool, after: bool) -> Result<(), Rejection> {
        for place in 0..self.variables.len() {
            let Some(ix) = self.variables.get(place).copied() else { break };
            let Some(item) = self.plan_item(ix) else { continue };
            let Work::Variable { name: own, change } = &item.work else { continue };
            let fits = match change.as_deref() {
                None => true,
                Some("create") => !before && after,
                Some("update") => before && after,
                Some("delete") => before && !after,
                Some("update-create") => after,
                // A kind of change that nobody knows never comes.
                Some(_) => false,
            };
            if **own != *name || !fits {
                continue;
            }
            for id in self.available(ix) {
                match self.is_there(item, id) {
                    Ok(true) => self.transit(id, ItemEvent::Occur, None)?,
                    Ok(false) => {}
                    Err(fault) => self.stopped(id, fault)?,
                }
            }
        }
        Ok(())
    }

    /// Whether a user's event is taken now.
    pub(super) fn admit_occurrence(&self, id: LocalId, item: &Item) -> Result<(), Rejection> {
        let wrong = |state| Rejection::WrongTransition {
            item: item.id.to_string(),
            state,
            transition: "occur".to_owned(),
        };
        if let Work::UserEvent { roles } = &item.work {
            self.admit_roles(&item.id, roles)?;
        }
        match self.is_there(item, id) {
            Ok(true) => {}
            Ok(false) | Err(StepFault::Incident(..)) => return Err(wrong("not available by its condition")),
            Err(StepFault::Rejected(rejection)) => return Err(rejection),
        }
        let ended = self.state.life != crate::state::Life::Active;
        match &item.work {
            Work::Reactivation { available } => {
                let scope = self.inner(id);
                let holds = match available {
                    None => true,
                    Some(condition) => {
                        let value = self.evaluate(condition, &self.variables(scope));
                        matches!(value, Ok((heddle_feel::Value::Boolean(true), _)))
                    }
                };
                if ended && holds { Ok(()) } else { Err(wrong("not available by its condition")) }
            }
            _ if ended => Err(Rejection::AlreadyEnded),
            _ => Ok(()),
        }
    }
}
