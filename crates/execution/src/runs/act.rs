//! Actions on one instance of either kind by its key: for the façades of runs and cases, which say what.

use heddle_engine::Command;
use heddle_kernel::{DefinitionKind, Page, PageRequest, Revision, TenantId, WorkflowId};
use heddle_policy::{InstanceFilter, InstanceKey, RequestContext};
use heddle_usecase::{Journal, check_revision};

use super::Runs;
use super::advance::Said;
use crate::compiled::Plan;
use crate::plan::Initiator;
use crate::ports::RunFilter;
use crate::records::Run;
use crate::told::RunStanding;
use crate::{JournalFor, UseCaseError};

impl Runs {
    /// Carries out a command on an instance, and records how it stood before and stands behind it. `choose` sees the
    /// instance as it is and says what to do; with nothing to do the instance is the answer as it is. `seen` is the revision
    /// that the caller saw. The engine knows the caller's groups and roles as their case roles.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`revisionMismatch`, and what the engine rejects); what `choose` says.
    pub async fn act<C>(
        &self,
        key: &InstanceKey,
        context: &RequestContext,
        seen: Option<Revision>,
        choose: C,
        record: &JournalFor<'_, Run>,
    ) -> Result<Run, UseCaseError>
    where
        C: Fn(&Run) -> Result<Option<Command>, UseCaseError> + Send + Sync,
    {
        let by = Initiator::new(context.now(), Some(context.user_id()));
        let roles = context.principal().groups.as_slice();
        let before = parking_lot::Mutex::new(None);
        let checked = |run: &Run| {
            *before.lock() = Some(RunStanding::of(run));
            check_revision(seen, run.revision)?;
            choose(run)
        };
        let told = |run: &Run| {
            let before = *before.lock();
            record(run).changing(before.as_ref(), Some(&RunStanding::of(run)))
        };
        let said = Said { roles, ..Said::default() };
        self.advance_with(key, by, said, checked, &told).await
    }

    /// An instance.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn instance(&self, key: &InstanceKey) -> Result<Run, UseCaseError> {
        self.load(key).await
    }

    /// The compiled model that an instance follows.
    ///
    /// # Errors
    /// `Unavailable`; `Internal` when the stored version lacks it.
    pub async fn model_of(&self, run: &Run) -> Result<Plan, UseCaseError> {
        self.plan_of(run).await
    }

    /// A page of the instances of a kind that the filters let through, of one definition or of all. The inputs are not
    /// read: they are null.
    ///
    /// # Errors
    /// `NotFound` for the definition, `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn instances(
        &self,
        tenant: TenantId,
        definition: Option<WorkflowId>,
        access: &InstanceFilter,
        filter: &RunFilter,
        page: &PageRequest,
    ) -> Result<Page<Run>, UseCaseError> {
        Ok(match definition {
            Some(definition) => self.ports.runs.list(tenant, definition, filter, access, page).await?,
            None => self.ports.runs.list_all(tenant, filter, access, page).await?,
        })
    }

    /// Removes an ended instance with its history; done again it is done. `seen` is the revision that the caller saw.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`active`, `awaited`, `revisionMismatch`).
    pub async fn purge_instance(
        &self,
        key: &InstanceKey,
        seen: Option<Revision>,
        unit: &Journal,
    ) -> Result<(), UseCaseError> {
        let id = key.id();
        let _held = self.locks.hold(id).await;
        self.recent.forget(id);
        match self.load(key).await {
            Ok(run) => {
                check_revision(seen, run.revision)?;
                if !run.state.is_terminal() {
                    let message = match run.kind {
                        DefinitionKind::Workflow => "The run is active; cancel it first.",
                        DefinitionKind::Case => "The case is open; terminate or close it first.",
                    };
                    return Err(UseCaseError::conflict("active", message));
                }
                if self.is_awaited(&run).await? {
                    let message = "What called it has not been told of its end yet.";
                    return Err(UseCaseError::conflict("awaited", message));
                }
                let unit = unit.clone().changing(Some(&RunStanding::of(&run)), None);
                Ok(self.ports.runs.purge(key, &unit).await?)
            }
            Err(UseCaseError::NotFound) if self.ports.runs.was_purged(key).await? => Ok(()),
            Err(error) => Err(error),
        }
    }
}
