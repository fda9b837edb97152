//! Multiple and parallel multiple events, and links (clause 10.5.5).

use super::fire::{Arrival, Came};
use super::leave::Completion;
use super::wait::Wait;
use super::{At, Machine, StepFault};
use crate::event::{CancelReason, EventKind, JobKind, Phase};
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{NodeIx, Several, Start, Throw, Trigger, Work};
use serde_json::Value;
use std::sync::Arc;

impl Machine<'_> {
    /// Waits of an event with several triggers: one for each that comes from outside or from the data. Of an event that
    /// needs all of them, those that are open are the ones that have not come yet.
    pub(super) fn wait_for_several(
        &self,
        node: NodeIx,
        several: &Several,
        scope: LocalId,
    ) -> Result<Vec<Wait>, StepFault> {
        let mut waits = Vec::new();
        for (number, trigger) in (0..).zip(&several.triggers) {
            let wait = self.wait_for_one(node, trigger, scope)?;
            waits.extend(wait.map(|wait| Wait { trigger: Some(number), ..wait }));
        }
        Ok(waits)
    }

    /// Trigger to which an event listens: a catching, boundary or start event, or a receive task.
    pub(super) fn trigger_of(&self, node: NodeIx) -> Option<Trigger> {
        match &self.graph.node(node).work {
            Work::Start(Start { trigger, .. }) => trigger.clone(),
            Work::Catch(trigger) | Work::Boundary { trigger, .. } => Some(trigger.clone()),
            Work::Receive(message) => message.clone().map(Trigger::Message),
            Work::End(_)
            | Work::Throw(_)
            | Work::Pass
            | Work::User(_)
            | Work::Decision(_)
            | Work::Script(_)
            | Work::Job(_)
            | Work::Call(_)
            | Work::SubProcess(_)
            | Work::Transaction(_)
            | Work::AdHoc { .. }
            | Work::EventSubProcess { .. } => None,
        }
    }

    /// The trigger of an event, or one of its several.
    pub(super) fn listened(&self, node: NodeIx, number: Option<u32>) -> Option<Trigger> {
        let trigger = self.trigger_of(node)?;
        trigger.parts().get(number.unwrap_or(0) as usize).cloned()
    }

    /// Whether an event is still waited for on behalf of a host.
    pub(super) fn awaits(&self, node: NodeIx, host: LocalId) -> bool {
        let id = &self.graph.node(node).id;
        self.state.timers.iter().any(|own| own.host == host && own.node == *id)
            || self.state.subscriptions.iter().any(|own| own.host == host && own.node == *id)
    }

    /// A trigger of an event has come: the event occurs, unless it needs others, too.
    pub(super) fn come(&mut self, came: Came, arrival: Arrival) -> Result<(), Rejection> {
        let Came { node, host, subscription } = came;
        if !self.trigger_of(node).is_some_and(|trigger| trigger.needs_all()) {
            return self.occur(node, host, arrival);
        }
        let at = self.wait_at(node, host);
        if let Some(subscription_id) = subscription {
            self.emit(at, EventKind::SubscriptionClosed { subscription_id });
        }
        let values = self.note(at, arrival);
        let scope = self.scope_of_host(host);
        self.merge(scope, values);
        if self.awaits(node, host) {
            return Ok(());
        }
        self.occur(node, host, Arrival::All)?;
        self.listen_again(node, host)
    }

    /// The scope in which a host stands, or which it is.
    fn scope_of_host(&self, host: LocalId) -> LocalId {
        if self.state.scope(host).is_some() {
            return host;
        }
        self.state.instance(host).map_or(LocalId::ROOT, |own| own.scope)
    }

    /// An event that does not interrupt and needs several triggers waits for all of them once more.
    fn listen_again(&mut self, node: NodeIx, host: LocalId) -> Result<(), Rejection> {
        let work = &self.graph.node(node).work;
        let stays = if let Work::Boundary { interrupting, .. } = work {
            !interrupting && self.state.instance(host).is_some()
        } else if let Work::Start(Start { interrupting, event_sub_process: Some(_), .. }) = work {
            !interrupting && self.state.scope(host).is_some()
        } else {
            false
        };
        let Some(trigger) = self.trigger_of(node).filter(|_| stays && !self.is_full()) else { return Ok(()) };
        match self.wait_for(node, &trigger, self.scope_of_host(host)) {
            Ok(waits) => {
                self.open(waits, host);
                Ok(())
            }
            Err(StepFault::Rejected(rejection)) => Err(rejection),
            Err(StepFault::Incident(code, message)) => {
                let at = self.at(host).map_or_else(|_| At::scope(host), |(_, at)| at);
                self.raise(At { node: Some(node), ..at }, code, &message, Phase::Tokens);
                Ok(())
            }
        }
    }

    /// Throws one after another in document order; what ends the event or its scope comes last.
    pub(super) fn throw_several(&mut self, ix: NodeIx, id: LocalId, all: &[Throw]) -> Result<(), StepFault> {
        let scope = self.inner(id)?;
        // What cannot be sent stops the event before anything is sent, or a retry would send it twice.
        for throw in all {
            self.check_throw(throw, ix, id, scope)?;
        }
        let mut signals: Vec<(Arc<str>, Value)> = Vec::new();
        let mut ending = None;
        for throw in all {
            match throw {
                Throw::None => {}
                Throw::Message(_) | Throw::Signal(_) => {
                    signals.extend(self.throw(throw, ix, id, scope)?);
                }
                Throw::Terminate
                | Throw::Error(_)
                | Throw::Escalation(_)
                | Throw::Compensation(_)
                | Throw::Cancel
                | Throw::Link(_)
                | Throw::Job(_)
                | Throw::Several(_) => ending = ending.or(Some(throw)),
            }
        }
        let Some(ending) = ending else {
            self.leave(id)?;
            return Ok(self.signal_all(&signals)?);
        };
        self.signal_all(&signals)?;
        // A listener of the run itself may have interrupted the event.
        if self.state.instance(id).is_none() {
            return Ok(());
        }
        match ending {
            Throw::Terminate => {
                let around = self.instance(id)?.scope;
                self.cancel_contents(around, CancelReason::Terminated, Some(id))?;
                Ok(self.leave(id)?)
            }
            Throw::Error(error) => Ok(self.throw_error(id, error)?),
            Throw::Escalation(escalation) => self.throw_escalation(id, escalation),
            Throw::Compensation(what) => self.throw_compensation(id, what),
            Throw::Cancel => self.cancel_transaction(id),
            Throw::Link(name) => self.follow_link(ix, id, name),
            Throw::Job(task) => self.open_job(id, JobKind::Task, task),
            Throw::None | Throw::Message(_) | Throw::Signal(_) | Throw::Several(_) => Ok(self.leave(id)?),
        }
    }

    /// Evaluates what one of several throws needs, without throwing it.
    fn check_throw(
        &mut self,
        throw: &Throw,
        ix: NodeIx,
        id: LocalId,
        scope: LocalId,
    ) -> Result<(), StepFault> {
        match throw {
            Throw::Message(settings) => {
                let payload = self.payload(settings, ix, id, scope)?;
                self.sent_key(settings, scope, &payload)?;
            }
            Throw::Signal(settings) => {
                self.payload(settings, ix, id, scope)?;
            }
            Throw::Error(reference) | Throw::Escalation(reference) => {
                self.thrown(id, reference)?;
            }
            Throw::Job(task) => {
                let scope = self.inner(id)?;
                self.planned_job(JobKind::Task, task, scope)?;
            }
            Throw::None
            | Throw::Terminate
            | Throw::Compensation(_)
            | Throw::Cancel
            | Throw::Link(_)
            | Throw::Several(_) => {}
        }
        Ok(())
    }

    fn signal_all(&mut self, signals: &[(Arc<str>, Value)]) -> Result<(), Rejection> {
        signals.iter().try_for_each(|(name, payload)| self.signal_own(name, payload))
    }

    /// Goes on at the catching link of a name.
    pub(super) fn follow_link(&mut self, ix: NodeIx, id: LocalId, name: &str) -> Result<(), StepFault> {
        let scope = self.instance(id)?.scope;
        let Some(catch) = self.graph.link_target(ix) else {
            return Err(Rejection::WrongGraph(name.to_owned()).into());
        };
        self.finish(id, Completion::default())?;
        Ok(self.activate(catch, scope, &[])?)
    }
}
