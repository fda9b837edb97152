//! The port of background work in memory.

use std::collections::HashMap;

use async_trait::async_trait;
use heddle_kernel::{EventId, Page, PageRequest, TenantId, Timestamp, UserId};
use heddle_policy::{AccessFilter, resource};
use heddle_usecase::{Journal, StoreError};
use uuid::Uuid;

use super::memory::{Memory, Tables};
use crate::ports::{LetterFilter, Queue, Turn, WorkStore};
use crate::records::{
    BindingKind, DeadLetter, DueTimer, InboxState, PendingWork, Setback, Tries, Work, WorkKey, WorkMark,
};

impl Tables {
    /// Everything in a queue with the instant from which it may be tried.
    fn queued(&self, queue: Queue) -> Vec<(Timestamp, Work)> {
        match queue {
            Queue::Outbox => {
                self.outgoing.iter().map(|one| (one.created_at, Work::Thrown(one.clone()))).collect()
            }
            Queue::Timers => {
                let due = self.timers.iter().map(|(run, row)| DueTimer {
                    tenant: self.runs[run].tenant,
                    run: *run,
                    timer_id: row.timer_id.clone(),
                    node_id: row.node_id.clone(),
                    due_at: row.due_at,
                });
                due.map(|timer| (timer.due_at, Work::Timer(timer))).collect()
            }
            Queue::Starts => {
                let due = self.bindings.iter().filter_map(|one| Some((one.next_due_at?, one.clone())));
                due.map(|(at, one)| (at, Work::TimerStart(one))).collect()
            }
            Queue::Kept => {
                let wanted = self.inbox.iter().filter(|event| {
                    let key = event.correlation_key.as_deref();
                    event.state == InboxState::Buffered
                        && !self.listening(BindingKind::Message, &event.event_type, key).is_empty()
                });
                wanted.map(|event| (event.received_at, Work::Kept(event.clone()))).collect()
            }
        }
    }

    fn ready(&self, queue: Queue) -> Vec<(Timestamp, PendingWork)> {
        let tried = |(at, work): (Timestamp, Work)| {
            let (tries, not_before) = self.tried.get(&work.key()).copied().unwrap_or((Tries::default(), at));
            (not_before, PendingWork { work, tries })
        };
        let mut all: Vec<_> = self.queued(queue).into_iter().map(tried).collect();
        all.sort_by_key(|(at, _)| *at);
        all
    }

    fn remove_work(&mut self, key: &WorkKey) {
        self.tried.remove(key);
        self.outgoing.retain(|one| Work::Thrown(one.clone()).key() != *key);
        self.timers.retain(
            |(run, row)| !matches!(key, WorkKey::Timer(_, of, id) if of == run && *id == row.timer_id),
        );
        self.bindings
            .retain(|one| one.kind != BindingKind::Timer || Work::TimerStart(one.clone()).key() != *key);
    }
}

#[async_trait]
impl WorkStore for Memory {
    async fn pending(
        &self,
        queue: Queue,
        now: Timestamp,
        turn: Turn,
    ) -> Result<Vec<PendingWork>, StoreError> {
        let tables = self.0.lock();
        let expired =
            |work: &Work| matches!(work, Work::Kept(event) if event.expires_at.is_some_and(|end| end <= now));
        let ready = tables.ready(queue).into_iter().filter(|(at, one)| *at <= now && !expired(&one.work));
        let mut ready: Vec<PendingWork> = ready.map(|(_, one)| one).collect();
        let limit = usize::try_from(turn.limit).unwrap();
        if ready.len() > limit {
            let mut taken: HashMap<TenantId, i64> = HashMap::new();
            ready.retain(|one| {
                let taken = taken.entry(one.work.tenant()).or_default();
                *taken += 1;
                *taken <= turn.share
            });
        }
        ready.truncate(limit);
        Ok(ready)
    }

    async fn next_due(&self, queue: Queue, after: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.0.lock().ready(queue).into_iter().map(|(at, _)| at).filter(|at| *at > after).min())
    }

    async fn find(&self, key: &WorkKey) -> Result<Option<PendingWork>, StoreError> {
        let tables = self.0.lock();
        let all = Queue::ALL.iter().flat_map(|queue| tables.ready(*queue));
        Ok(all.map(|(_, one)| one).find(|one| one.work.key() == *key))
    }

    async fn forget(&self, key: &WorkKey) -> Result<(), StoreError> {
        self.0.lock().remove_work(key);
        Ok(())
    }

    async fn mark(&self, node: Uuid, queue: Queue, mark: &WorkMark, _: Timestamp) -> Result<(), StoreError> {
        let mut tables = self.0.lock();
        tables.marks_written += 1;
        tables.marks.insert((node, queue), mark.clone());
        Ok(())
    }

    async fn unmark(&self, node: Uuid, queue: Queue) -> Result<(), StoreError> {
        self.0.lock().marks.remove(&(node, queue));
        Ok(())
    }

    async fn left_behind(&self, node: Uuid, _: Timestamp) -> Result<Vec<WorkMark>, StoreError> {
        let mut tables = self.0.lock();
        let own = |(of, _): &(Uuid, Queue), _: &mut WorkMark| *of == node;
        Ok(tables.marks.extract_if(own).map(|(_, mark)| mark).collect())
    }

    async fn record(&self, setbacks: Vec<Setback>) -> Result<(), StoreError> {
        let mut tables = self.0.lock();
        for setback in setbacks {
            match setback {
                Setback::Later { work, tries, not_before } => {
                    tables.tried.insert(work.key(), (tries, not_before));
                }
                Setback::Aside(mut letter) => {
                    letter.workflow =
                        letter.workflow.or_else(|| Some(tables.runs.get(&letter.run?)?.workflow));
                    tables.remove_work(&letter.work.key());
                    tables.letters.push(*letter);
                }
            }
        }
        Ok(())
    }

    async fn letters(
        &self,
        tenant: TenantId,
        filter: &LetterFilter,
        access: &AccessFilter<resource::DeadLetter>,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StoreError> {
        let tables = self.0.lock();
        let shown = tables.letters.iter().rev().filter(|letter| {
            letter.tenant == tenant
                && access.permits(&letter.key())
                && filter.kind.is_none_or(|kind| kind == letter.work.kind())
        });
        Ok(Page::from_surplus(shown.cloned().collect(), page.limit, |letter: &DeadLetter| letter.id))
    }

    async fn letter(&self, tenant: TenantId, id: EventId) -> Result<DeadLetter, StoreError> {
        let tables = self.0.lock();
        let found = tables.letters.iter().find(|letter| (letter.tenant, letter.id) == (tenant, id));
        found.cloned().ok_or(StoreError::NotFound)
    }

    async fn restore(&self, letter: &DeadLetter, now: Timestamp, unit: &Journal) -> Result<(), StoreError> {
        let mut tables = self.0.lock();
        match &letter.work {
            Work::Thrown(thrown) => tables.outgoing.push(thrown.clone()),
            Work::TimerStart(binding) => {
                let due = crate::records::StartBinding { next_due_at: Some(now), ..binding.clone() };
                tables.bindings.push(due);
            }
            Work::Timer(_) | Work::Kept(_) | Work::Start(_) | Work::Errand(_) => {
                return Err(StoreError::Stale);
            }
        }
        tables.letters.retain(|one| one.id != letter.id);
        tables.journals.push(unit.clone());
        Ok(())
    }

    async fn discard(&self, tenant: TenantId, id: EventId, unit: &Journal) -> Result<(), StoreError> {
        self.letter(tenant, id).await?;
        let mut tables = self.0.lock();
        tables.letters.retain(|one| one.id != id);
        tables.journals.push(unit.clone());
        Ok(())
    }

    async fn has_dropped(&self, _: TenantId, by: UserId, id: EventId) -> Result<bool, StoreError> {
        let (by, id) = (by.to_string(), id.to_string());
        let dropped = |unit: &Journal| {
            unit.audit.as_ref().is_some_and(|entry| {
                entry.action == "dead_letter.dropped"
                    && entry.resource_id.as_deref() == Some(id.as_str())
                    && entry.actor.id.as_deref() == Some(by.as_str())
            })
        };
        Ok(self.0.lock().journals.iter().any(dropped))
    }
}
