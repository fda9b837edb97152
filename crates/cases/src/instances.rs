//! Cases: started, read, listed, moved on, and their file.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_cmmn::plan::CasePlan;
use heddle_engine::{Command, Status};
use heddle_execution::InstanceKey;
use heddle_execution::compiled::Plan;
use heddle_execution::plan::{StartOf, StartRun};
use heddle_execution::ports::{RunFilter, RunSort};
use heddle_execution::records::{Run, RunState};
use heddle_execution::runs::{CASE_FILE, EventFilter, Runs, StoredEvent, item_completion};
use heddle_kernel::{
    CaseId, CaseTypeId, DefinitionKind, Page, PageRequest, Revision, TenantId, Timestamp, UserId, WorkflowId,
};
use heddle_policy::capability::{CaseCompleteTask, CaseCreate, CaseList, CaseRead, CaseUpdate};
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, Key, RequestContext, Within, resource};
use serde_json::{Map, Value};

use crate::commands::{CaseTransition, FileChange, ItemChange, is_plan_model};
use crate::{JournalFor, Problem, UseCaseError};

/// Lifecycle state of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseState {
    /// Something can happen in it.
    Active,
    /// Ended by itself, or by hand.
    Completed,
    /// Ended from outside, or by an exit criterion.
    Terminated,
    /// Ended by an error.
    Failed,
    /// Held.
    Suspended,
    /// Ended for good.
    Closed,
}

impl CaseState {
    /// State of a case.
    #[must_use]
    pub const fn of(case: &Run) -> Self {
        match case.snapshot.status() {
            Status::Running | Status::Waiting => Self::Active,
            Status::Completed => Self::Completed,
            Status::Cancelled => Self::Terminated,
            Status::Failed => Self::Failed,
            Status::Suspended => Self::Suspended,
            Status::Closed => Self::Closed,
        }
    }

    /// State of its row: what a case is while it is active, a waiting run is.
    const fn row(self) -> RunState {
        match self {
            Self::Active => RunState::Waiting,
            Self::Completed => RunState::Completed,
            Self::Terminated => RunState::Cancelled,
            Self::Failed => RunState::Failed,
            Self::Suspended => RunState::Suspended,
            Self::Closed => RunState::Closed,
        }
    }
}

/// A case to start.
#[derive(Debug, Clone, Default)]
pub struct StartCase {
    /// The version; none is the active one.
    pub version: Option<i32>,
    /// The case within the definition; none is the primary one, or the only one.
    pub definition_id: Option<String>,
    /// The caller's own name for it.
    pub business_key: Option<String>,
    /// Correlation key by which case events find it.
    pub correlation_key: Option<String>,
    /// Values of case file items, by their names or ids.
    pub file: Option<Map<String, Value>>,
    /// Values of input parameters, by their names; they become variables.
    pub input: Map<String, Value>,
    /// Users who fill roles, by the ids or names of the roles: ids or e-mail addresses.
    pub roles: BTreeMap<String, Vec<String>>,
}

/// A case with the plan that it follows.
#[derive(Debug, Clone)]
pub struct CaseView {
    /// The case.
    pub case: Run,
    /// Plan of the case; none when its version does not read.
    pub plan: Option<Arc<CasePlan>>,
}

impl CaseView {
    /// Id of the case.
    #[must_use]
    pub fn id(&self) -> CaseId {
        self.case.id.into()
    }

    /// Case type of the case.
    #[must_use]
    pub fn case_type(&self) -> CaseTypeId {
        self.case.workflow.into()
    }
}

/// Filter for cases.
#[derive(Debug, Clone, Default)]
pub struct CaseFilter {
    /// Case type of the cases; all when absent.
    pub case_type: Option<CaseTypeId>,
    /// State of the cases.
    pub state: Option<CaseState>,
    /// Presence (or absence) of an incident.
    pub has_incident: Option<bool>,
    /// Business key of the cases.
    pub business_key: Option<String>,
    /// Correlation key of the cases.
    pub correlation_key: Option<String>,
    /// User who started them.
    pub started_by: Option<UserId>,
    /// Created at or after this instant.
    pub from: Option<Timestamp>,
    /// Created before this instant.
    pub to: Option<Timestamp>,
    /// Those with an incident first; else the newest.
    pub incidents_first: bool,
}

impl From<CaseFilter> for RunFilter {
    fn from(filter: CaseFilter) -> Self {
        Self {
            workflow: filter.case_type.map(WorkflowId::from),
            state: filter.state.map(CaseState::row),
            has_incident: filter.has_incident,
            business_key: filter.business_key,
            correlation_key: filter.correlation_key,
            started_by: filter.started_by,
            from: filter.from,
            to: filter.to,
            sort: if filter.incidents_first { RunSort::Incidents } else { RunSort::Newest },
            ..Self::default()
        }
    }
}

/// The use cases of cases.
pub struct Cases {
    runs: Arc<Runs>,
}

impl std::fmt::Debug for Cases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cases").finish_non_exhaustive()
    }
}

impl Cases {
    /// The face of cases on what runs.
    #[must_use]
    pub const fn new(runs: Arc<Runs>) -> Self {
        Self { runs }
    }

    /// Key of a case: what is asked for before anything is decided about it.
    ///
    /// # Errors
    /// `NotFound`, also for a run; `Unavailable`.
    pub async fn key_of(&self, tenant: TenantId, case: CaseId) -> Result<Key<resource::Case>, UseCaseError> {
        self.runs.key_of_case(tenant, case).await
    }

    /// Starts a case. The answer is its state when nothing can move any more, already durable. The right to create cases is
    /// asked of all, and a deny on the case type, or on what stands within it, is asked here.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden`; `Conflict` (`notPublished`, `archived`); `Invalid` for an unknown version, case, case file
    /// item, role or user; `RateLimited`.
    pub async fn start(
        &self,
        authorized: &AuthorizedKind<CaseCreate>,
        context: &RequestContext,
        case_type: CaseTypeId,
        start: StartCase,
        record: &JournalFor<'_, CaseView>,
    ) -> Result<CaseView, UseCaseError> {
        may_start(context, case_type)?;
        let of =
            StartOf { tenant: authorized.tenant(), kind: DefinitionKind::Case, definition: case_type.into() };
        let mut input = start.input;
        if input.contains_key(CASE_FILE) {
            let message = "Values of the case file have their own member, `file`.";
            return Err(UseCaseError::invalid("input.caseFile", "notAllowed", message));
        }
        input.extend(start.file.map(|file| (CASE_FILE.to_owned(), Value::Object(file))));
        let request = StartRun {
            input,
            version: start.version,
            process_id: start.definition_id,
            business_key: start.business_key,
            correlation_key: start.correlation_key,
            people: start.roles,
            ..StartRun::default()
        };
        let told = |case: &Run| record(&self.now(case.clone()));
        let case = self.runs.start_instance(of, context, request, &told).await?;
        self.view(case).await
    }

    /// A page of the cases that the caller may read, without what is in them.
    ///
    /// # Errors
    /// `NotFound` for the case type, `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedList<CaseList>,
        context: &RequestContext,
        filter: CaseFilter,
        page: &PageRequest,
    ) -> Result<Page<Run>, UseCaseError> {
        let access = authorized.filter().into();
        self.runs.instances(context.tenant(), None, &access, &filter.into(), page).await
    }

    /// One case.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn get(&self, authorized: &Authorized<CaseRead>) -> Result<CaseView, UseCaseError> {
        self.loaded(&authorized.key().into()).await
    }

    /// A page of a case's events, in order.
    ///
    /// # Errors
    /// `NotFound`, `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn events(
        &self,
        authorized: &Authorized<CaseRead>,
        filter: &EventFilter,
        page: &PageRequest,
    ) -> Result<Page<StoredEvent>, UseCaseError> {
        self.runs.instance_events(&authorized.key().into(), filter, page).await
    }

    /// Moves a case through its life cycle. `seen` is the revision that the caller saw.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` for a transition that its state does not have, or `revisionMismatch`; `Unavailable`.
    pub async fn change(
        &self,
        authorized: &Authorized<CaseUpdate>,
        context: &RequestContext,
        seen: Option<Revision>,
        transition: &CaseTransition,
        record: &JournalFor<'_, CaseView>,
    ) -> Result<CaseView, UseCaseError> {
        let key = InstanceKey::from(authorized.key());
        let plan = self.plan(&key).await?;
        let told = |case: &Run| record(&with(case.clone(), &plan));
        let choose = |_: &Run| Ok(Some(transition.clone().into()));
        let case = self.runs.act(&key, context, seen, choose, &told).await?;
        Ok(with(case, &plan))
    }

    /// Moves a plan item through its life cycle, or plans a discretionary one.
    ///
    /// # Errors
    /// `NotFound` for the case; `Forbidden` when the caller fills none of the roles that it is for, or completes a human task
    /// that is for others (`notCandidate`), or any without that right (`denied`); `Conflict` for a transition that the item's state does not have; `Invalid`;
    /// `Unavailable`.
    pub async fn change_item(
        &self,
        authorized: &Authorized<CaseUpdate>,
        context: &RequestContext,
        seen: Option<Revision>,
        change: &ItemChange,
        record: &JournalFor<'_, CaseView>,
    ) -> Result<CaseView, UseCaseError> {
        let key = InstanceKey::from(authorized.key());
        let plan = self.plan(&key).await?;
        if is_plan_model(&plan, &change.item) {
            let message = "The case itself is moved by its own transitions.";
            return Err(UseCaseError::conflict("notAnItem", message));
        }
        let command = change.command(&plan)?;
        let told = |case: &Run| record(&with(case.clone(), &plan));
        let choose = |case: &Run| {
            let command = item_completion(context, case, command.clone())?;
            if matches!(command, Command::CompleteTask { .. }) {
                may_complete(authorized, context)?;
            }
            Ok(Some(command))
        };
        let case = self.runs.act(&key, context, seen, choose, &told).await?;
        Ok(with(case, &plan))
    }

    /// Changes the case file; the standard's events follow from it.
    ///
    /// # Errors
    /// `NotFound` for the case or the item; `Conflict`; `Invalid` for a value that the item does not take; `Unavailable`.
    pub async fn change_file(
        &self,
        authorized: &Authorized<CaseUpdate>,
        context: &RequestContext,
        seen: Option<Revision>,
        change: &FileChange,
        record: &JournalFor<'_, CaseView>,
    ) -> Result<CaseView, UseCaseError> {
        let key = InstanceKey::from(authorized.key());
        let plan = self.plan(&key).await?;
        let told = |case: &Run| record(&with(case.clone(), &plan));
        let choose = |case: &Run| change.command(&plan, case);
        let case = self.runs.act(&key, context, seen, choose, &told).await?;
        Ok(with(case, &plan))
    }

    /// A case with the plan that it follows.
    ///
    /// # Errors
    /// `Unavailable`; `Internal` when the stored version lacks the case.
    pub async fn view(&self, case: Run) -> Result<CaseView, UseCaseError> {
        let plan = self.runs.model_of(&case).await?;
        Ok(CaseView { plan: plan.case().cloned(), case })
    }

    /// A case after a step, with its plan as far as that is at hand.
    #[must_use]
    pub fn now(&self, case: Run) -> CaseView {
        let plan = self.runs.plan_now(&case).and_then(|plan| plan.case().cloned());
        CaseView { case, plan }
    }

    async fn loaded(&self, key: &InstanceKey) -> Result<CaseView, UseCaseError> {
        self.view(self.runs.instance(key).await?).await
    }

    async fn plan(&self, key: &InstanceKey) -> Result<Arc<CasePlan>, UseCaseError> {
        let case = self.runs.instance(key).await?;
        match self.runs.model_of(&case).await? {
            Plan::Case(plan) => Ok(plan),
            Plan::Process(_) => {
                Err(UseCaseError::Internal(format!("the case {} follows a process", case.id)))
            }
        }
    }
}

fn with(case: Run, plan: &Arc<CasePlan>) -> CaseView {
    CaseView { case, plan: Some(Arc::clone(plan)) }
}

/// Checks that no deny stands on the cases of a case type. Who may create cases of any type is asked before.
fn may_start(context: &RequestContext, case_type: CaseTypeId) -> Result<(), UseCaseError> {
    let nobody = CaseId(uuid::Uuid::nil());
    let key = context.snapshot().claimed::<resource::Case>(nobody, Within::of(case_type));
    match context.snapshot().authorize_key::<CaseCreate>(key) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = "The caller may not start cases of this type.";
            Err(UseCaseError::Forbidden(Problem::at("caseTypeId", "denied", message)))
        }
    }
}

/// Checks that the caller may complete human tasks of a case: an item whose work one is asks for what the task itself does.
fn may_complete(authorized: &Authorized<CaseUpdate>, context: &RequestContext) -> Result<(), UseCaseError> {
    match context.snapshot().authorize_key::<CaseCompleteTask>(authorized.key().clone()) {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = "The caller may not complete human tasks of this case.";
            Err(UseCaseError::Forbidden(Problem::new("denied", message)))
        }
    }
}
