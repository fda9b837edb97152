//! Timers and subscriptions: what is waited for.

use super::index::Hosted;
use super::{At, Machine, StepFault};
use crate::LocalId;
pub(super) use crate::core::tasks::timer_fault;
use crate::event::{EventKind, SubscriptionKind};
use heddle_bpmn_graph::{MessageSettings, NodeIx, Schedule, ScopeIx, Start, Trigger, Work};
use std::sync::Arc;

/// A wait that is ready to be opened.
pub(super) struct Wait {
    /// The event that waits.
    pub node: NodeIx,
    pub what: What,
    /// Number of the trigger, of an event with several.
    pub trigger: Option<u32>,
}

pub(super) enum What {
    Timer(Schedule),
    Subscription { kind: SubscriptionKind, name: Arc<str>, key: Option<String> },
}

impl Machine<'_> {
    /// Waits of an event: one, or one for each of several triggers.
    pub(super) fn wait_for(
        &self,
        node: NodeIx,
        trigger: &Trigger,
        scope: LocalId,
    ) -> Result<Vec<Wait>, StepFault> {
        match trigger {
            Trigger::Several(several) => self.wait_for_several(node, several, scope),
            one => Ok(self.wait_for_one(node, one, scope)?.into_iter().collect()),
        }
    }

    /// Wait of one trigger; an error waits for nothing that comes from outside.
    pub(super) fn wait_for_one(
        &self,
        node: NodeIx,
        trigger: &Trigger,
        scope: LocalId,
    ) -> Result<Option<Wait>, StepFault> {
        Ok(match trigger {
            Trigger::Message(message) => Some(self.message(node, message, scope)?),
            Trigger::Signal(name) => {
                let what =
                    What::Subscription { kind: SubscriptionKind::Signal, name: name.clone(), key: None };
                Some(Wait { node, what, trigger: None })
            }
            Trigger::Timer(timer) => {
                let schedule = timer.schedule_on(self.now, &self.variables(scope), &self.steps);
                let schedule = schedule.map_err(|fault| timer_fault(fault, ""))?;
                self.admit_schedule(&schedule)?;
                Some(Wait { node, what: What::Timer(schedule), trigger: None })
            }
            Trigger::Conditional(condition) => Some(self.wait_for_condition(node, condition)),
            Trigger::Several(_)
            | Trigger::Error(_)
            | Trigger::Escalation(_)
            | Trigger::Compensation
            | Trigger::Cancel
            | Trigger::Link(_) => None,
        })
    }

    pub(super) fn message(
        &self,
        node: NodeIx,
        message: &MessageSettings,
        scope: LocalId,
    ) -> Result<Wait, StepFault> {
        let key = self.awaited_key(message, scope)?;
        let what = What::Subscription { kind: SubscriptionKind::Message, name: message.name.clone(), key };
        Ok(Wait { node, what, trigger: None })
    }

    /// Waits of the event sub-processes of a scope.
    pub(super) fn listeners(&self, content: ScopeIx, scope: LocalId) -> Result<Vec<Wait>, StepFault> {
        let mut waits = Vec::new();
        for &start in &self.graph.scope(content).listeners {
            if let Work::Start(Start { trigger: Some(trigger), .. }) = &self.graph.node(start).work {
                waits.extend(self.wait_for(start, trigger, scope)?);
            }
        }
        Ok(waits)
    }

    /// Opens waits for a node instance, or, when start events wait, for a scope.
    pub(super) fn open(&mut self, waits: Vec<Wait>, host: LocalId) {
        for Wait { node, what, trigger } in waits {
            let at = self.wait_at(node, host);
            match what {
                What::Timer(schedule) => self.schedule_part(at, schedule, trigger),
                What::Subscription { kind, name, key } => {
                    let subscription_id = self.next_id();
                    let correlation_key = key;
                    self.emit(
                        at,
                        EventKind::SubscriptionOpened {
                            subscription_id,
                            kind,
                            name,
                            correlation_key,
                            trigger,
                        },
                    );
                }
            }
        }
    }

    pub(super) fn schedule(&mut self, at: At, schedule: Schedule) {
        self.schedule_part(at, schedule, None);
    }

    /// The same for one of several triggers.
    pub(super) fn schedule_part(&mut self, at: At, schedule: Schedule, trigger: Option<u32>) {
        let timer_id = self.next_id();
        let Schedule { due_at, cycle } = schedule;
        self.emit(at, EventKind::TimerScheduled { timer_id, due_at, cycle: cycle.map(Box::new), trigger });
    }

    /// Whether an event starts an event sub-process, so that its waits are those of a scope.
    fn listens_for_scope(&self, node: NodeIx) -> bool {
        matches!(self.graph.node(node).work, Work::Start(Start { event_sub_process: Some(_), .. }))
    }

    /// Place of a wait in the history: at its host, or, for an event sub-process, at its scope.
    pub(super) fn wait_at(&self, node: NodeIx, host: LocalId) -> At {
        if self.listens_for_scope(node) {
            return At { node: Some(node), ..At::scope(host) };
        }
        let scope = self.state.instance(host).map(|active| active.scope);
        At { node: Some(node), instance: Some(host), scope, attempt: None }
    }

    /// Withdraws what is waited for on behalf of a host: all of it, or only what its event sub-processes do.
    pub(super) fn close_waits(&mut self, host: LocalId, only_listeners: bool) {
        if self.state.timers.is_empty() && self.state.subscriptions.is_empty() {
            return;
        }
        let goes = |machine: &Self, node: NodeIx| !only_listeners || machine.listens_for_scope(node);
        let Hosted { timers, subscriptions } = match self.index() {
            Some(index) => index.waits(host),
            None => self.waits_of(host),
        };
        let timers: Vec<_> = timers.into_iter().filter(|(node, _)| goes(self, *node)).collect();
        let subscriptions: Vec<_> = subscriptions.into_iter().filter(|(node, _)| goes(self, *node)).collect();
        for (node, timer_id) in timers {
            let at = self.wait_at(node, host);
            self.emit(at, EventKind::TimerCancelled { timer_id });
        }
        for (node, subscription_id) in subscriptions {
            let at = self.wait_at(node, host);
            self.emit(at, EventKind::SubscriptionClosed { subscription_id });
        }
    }

    /// Withdraws what one event of a host waits for.
    pub(super) fn close_waits_of(&mut self, node: NodeIx, host: LocalId) {
        let Hosted { timers, subscriptions } = self.waits_of(host);
        let at = self.wait_at(node, host);
        for (_, timer_id) in timers.into_iter().filter(|(own, _)| *own == node) {
            self.emit(at, EventKind::TimerCancelled { timer_id });
        }
        for (_, subscription_id) in subscriptions.into_iter().filter(|(own, _)| *own == node) {
            self.emit(at, EventKind::SubscriptionClosed { subscription_id });
        }
    }

    /// Whether nothing is waited for on behalf of a host.
    pub(super) fn awaits_nothing(&self, host: LocalId) -> bool {
        !self.state.timers.iter().any(|own| own.host == host)
            && !self.state.subscriptions.iter().any(|own| own.host == host)
    }

    fn waits_of(&self, host: LocalId) -> Hosted {
        let timers = self.state.timers.iter().filter(|own| own.host == host);
        let subscriptions = self.state.subscriptions.iter().filter(|own| own.host == host);
        Hosted {
            timers: timers.filter_map(|own| Some((self.graph.find(&own.node)?, own.id))).collect(),
            subscriptions: subscriptions
                .filter_map(|own| Some((self.graph.find(&own.node)?, own.id)))
                .collect(),
        }
    }
}
