//! Dead letters: work that was set aside, read, tried again and dropped by operators.

use heddle_kernel::{EventId, Page, PageRequest, TenantId, UserId};
use heddle_policy::capability::{DeadLetterDelete, DeadLetterList, DeadLetterRetry};
use heddle_policy::{Authorized, AuthorizedList, Key, RequestContext, resource};
use heddle_usecase::{Journal, StoreError};

use super::Runs;
use crate::plan::Initiator;
use crate::ports::{LetterFilter, Transaction};
use crate::records::{DeadLetter, RefusedStart, Work};
use crate::{JournalFor, Problem, UseCaseError};

impl Runs {
    /// A page of the dead letters that the caller may read, the newest first.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor; `Unavailable`.
    pub async fn dead_letters(
        &self,
        authorized: &AuthorizedList<DeadLetterList>,
        context: &RequestContext,
        filter: &LetterFilter,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, UseCaseError> {
        Ok(self.ports.work.letters(context.tenant(), filter, authorized.filter(), page).await?)
    }

    /// Key of a dead letter, for the gate.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn dead_letter_key(
        &self,
        tenant: TenantId,
        id: EventId,
    ) -> Result<Key<resource::DeadLetter>, UseCaseError> {
        Ok(self.ports.work.letter(tenant, id).await?.key())
    }

    /// Puts the work of a dead letter back, as new. A start is tried at once, with the version that is active now.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`noPlace`) when the work has no place any more, `Conflict` (`refused`) when the start
    /// refuses its event again.
    pub async fn retry_dead_letter(
        &self,
        authorized: &Authorized<DeadLetterRetry>,
        context: &RequestContext,
        record: &JournalFor<'_, DeadLetter>,
    ) -> Result<DeadLetter, UseCaseError> {
        let letter = self.ports.work.letter(authorized.tenant(), authorized.id()).await?;
        let unit = record(&letter).changing(Some(&letter), None);
        match &letter.work {
            Work::Start(refused) => self.start_again(&letter, refused, context, unit).await?,
            Work::Thrown(_) | Work::Timer(_) | Work::TimerStart(_) | Work::Kept(_) | Work::Errand(_) => {
                if let Work::Errand(errand) = &letter.work
                    && !self.is_wanted(errand).await?
                {
                    return Err(no_place(StoreError::Stale));
                }
                let restored = self.ports.work.restore(&letter, context.now(), &unit).await;
                restored.map_err(no_place)?;
                self.ports.hub.outbox_changed();
                self.ports.hub.message_awaited();
                self.ports.hub.timer_set(context.now());
                if let Work::Errand(_) = &letter.work {
                    self.ports.hub.errand_asked();
                }
            }
        }
        Ok(letter)
    }

    /// Whether a user has dropped such a dead letter: to do it again is done already. Who sees a letter depends on its
    /// workflow, which went with it, so nobody else learns of it.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn has_dropped_dead_letter(
        &self,
        tenant: TenantId,
        by: UserId,
        id: EventId,
    ) -> Result<bool, UseCaseError> {
        Ok(self.ports.work.has_dropped(tenant, by, id).await?)
    }

    /// Drops a dead letter. To drop it again is fine for the user who did.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn drop_dead_letter(
        &self,
        authorized: &Authorized<DeadLetterDelete>,
        unit: &Journal,
    ) -> Result<(), UseCaseError> {
        let found = self.ports.work.letter(authorized.tenant(), authorized.id()).await;
        let unit = unit.deleting(found)?;
        Ok(self.ports.work.discard(authorized.tenant(), authorized.id(), &unit).await?)
    }

    async fn start_again(
        &self,
        letter: &DeadLetter,
        refused: &RefusedStart,
        context: &RequestContext,
        unit: Journal,
    ) -> Result<(), UseCaseError> {
        let before = &refused.binding;
        let starts = self.ports.runs.matching_starts(letter.tenant, before.kind, &before.name).await?;
        let same = starts.into_iter().find(|now| {
            (now.workflow, &now.process_id, &now.node_id)
                == (before.workflow, &before.process_id, &before.node_id)
                && now.definition_kind == before.definition_kind
        });
        let binding = same.ok_or_else(|| no_place(StoreError::Stale))?;
        let event = &refused.event;
        let by = Initiator { now: context.now(), user: event.received_by, hops: event.hops };
        let write = self.begin_by(&binding, event, by).await.map_err(|error| match error {
            UseCaseError::Invalid(problems) => {
                let again = |problem: Problem| Problem { reason: "refused", ..problem };
                UseCaseError::Conflict(problems.into_iter().map(again).collect())
            }
            other => other,
        })?;
        let unit = Transaction {
            tenant: Some(letter.tenant),
            runs: vec![write],
            settled: Some(letter.id),
            unit,
            ..Transaction::default()
        };
        // Somebody else retried or dropped it in the meantime.
        self.commit(unit).await.map_err(|error| match error {
            StoreError::Stale => UseCaseError::NotFound,
            other => other.into(),
        })
    }
}

fn no_place(error: StoreError) -> UseCaseError {
    match error {
        StoreError::Stale => {
            let message = "There is no place for it any more: what it belongs to has ended or changed.";
            UseCaseError::conflict("noPlace", message)
        }
        other => other.into(),
    }
}
