//! A world in memory: the use cases over one double of all ports.

use std::collections::BTreeSet;
use std::sync::Arc;

use heddle_kernel::{
    FixedClock, IdSource as _, Patch, RequestId, RunId, SequentialIds, SessionId, TenantId, Timestamp,
    UserId, WorkflowId,
};
use heddle_policy::capability::{WorkflowCreate, WorkflowPublish, WorkflowRun};
use heddle_policy::facts::GrantFacts;
use heddle_policy::{
    Authorized, AuthorizedKind, Capability, Facts, Principal, RequestContext, RequestFacts, SessionKind,
    Snapshot, resource,
};
use heddle_usecase::{IdempotencyRecord, Journal};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::memory::Memory;
use super::people::People;
use super::{Told, uuid};
use crate::UseCaseError;
use crate::background::Background;
use crate::definitions::{Definitions, NewWorkflow, PublishRequest};
use crate::limits::Limits;
use crate::models::CompiledVersions;
use crate::ports::{Kinds, Notifier, Queue};
use crate::records::{Draft, Run};
use crate::runs::{RunPorts, Runs, StartRun};

/// Instant at which everything happens, unless the clock is moved.
pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_750_000_000_000_000);

/// Notice that others got after a commit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Notice {
    Run(RunId, u64),
    Timer(Timestamp),
    Thrown,
    Awaited,
    Errand,
}

/// Keeps what it is told.
#[derive(Debug, Default)]
pub(crate) struct Notices(Mutex<BTreeSet<Notice>>);

impl Notices {
    pub(crate) fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.0.lock()).into_iter().collect()
    }
}

impl Notifier for Notices {
    fn run_changed(&self, _: TenantId, run: RunId, last_sequence: u64) {
        self.0.lock().insert(Notice::Run(run, last_sequence));
    }

    fn timer_set(&self, due_at: Timestamp) {
        self.0.lock().insert(Notice::Timer(due_at));
    }

    fn outbox_changed(&self) {
        self.0.lock().insert(Notice::Thrown);
    }

    fn message_awaited(&self) {
        self.0.lock().insert(Notice::Awaited);
    }

    fn errand_asked(&self) {
        self.0.lock().insert(Notice::Errand);
    }
}

/// Caller with their rights.
pub(crate) struct Caller {
    name: &'static str,
    role: &'static str,
    tenant: u128,
    groups: Vec<String>,
    grants: Vec<GrantFacts>,
    narrow_to: Option<Vec<String>>,
}

/// A member of the first organisation with a system role, in the group `buyers`.
pub(crate) fn caller(name: &'static str, role: &'static str) -> Caller {
    Caller { name, role, tenant: 1, groups: vec!["buyers".to_owned()], grants: Vec::new(), narrow_to: None }
}

impl Caller {
    /// Sets the caller's only groups.
    pub(crate) fn groups(mut self, groups: &[&str]) -> Self {
        self.groups = groups.iter().map(|&group| group.to_owned()).collect();
        self
    }

    /// Moves the caller to another organisation.
    pub(crate) const fn elsewhere(mut self) -> Self {
        self.tenant = 2;
        self
    }

    /// Narrows the role to these permissions.
    pub(crate) fn narrowed_to(mut self, permissions: &[&str]) -> Self {
        self.narrow_to = Some(permissions.iter().map(|&one| one.to_owned()).collect());
        self
    }

    /// Adds a grant or deny.
    pub(crate) fn grant(mut self, grant: GrantFacts) -> Self {
        self.grants.push(grant);
        self
    }

    /// The id of a user of this name.
    pub(crate) fn id(name: &str) -> UserId {
        UserId(uuid(name.bytes().fold(7, |id, byte| id * 256 + u128::from(byte))))
    }

    pub(crate) fn context(self) -> RequestContext {
        let mut facts =
            Facts::member(Self::id(self.name), TenantId(uuid(self.tenant))).with_system_role(self.role);
        facts.grants = self.grants;
        facts.narrow_to = self.narrow_to;
        let ids = SequentialIds::default();
        let principal = Principal {
            user_id: Self::id(self.name),
            session: SessionKind::Session(SessionId(ids.next(NOW))),
            email: format!("{}@example.test", self.name),
            display: self.name.to_owned(),
            groups: self.groups,
        };
        let request = RequestFacts { request_id: RequestId::made(ids.next(NOW)), now: NOW, client_ip: None };
        RequestContext::of_caller(&Snapshot::new(&facts, NOW), principal, request)
    }
}

/// Leave to do `C` to all of its kind.
pub(crate) fn of_kind<C: Capability>(context: &RequestContext) -> AuthorizedKind<C> {
    context.snapshot().authorize_kind().unwrap()
}

/// Leave to do `C` to a workflow.
pub(crate) fn on_workflow<C>(context: &RequestContext, id: WorkflowId) -> Authorized<C>
where
    C: Capability<On = resource::Workflow>,
{
    context.snapshot().authorize_one(id, ()).unwrap()
}

/// Leave to do `C` to a run.
pub(crate) fn on_run<C: Capability<On = resource::Run>>(
    context: &RequestContext,
    run: &Run,
) -> Authorized<C> {
    context.snapshot().authorize_key(run.key().run().unwrap()).unwrap()
}

/// A journal that says nothing.
pub(crate) fn unrecorded<T>(_: &T) -> Journal {
    Journal::default()
}

/// A journal that can be told from others by its key.
pub(crate) fn journal(key: &str) -> Journal {
    let record = IdempotencyRecord {
        tenant: TenantId(uuid(1)),
        operation: "operation".to_owned(),
        key: key.to_owned(),
        body_sha256: String::new(),
        status: 200,
        body: Vec::new(),
        etag: None,
        location: None,
        created_at: NOW,
    };
    Journal { idempotency: Some(record), ..Journal::default() }
}

/// Member and reason of each problem that a refusal tells.
pub(crate) fn reasons<T: std::fmt::Debug>(result: Result<T, UseCaseError>) -> Vec<Told> {
    match result {
        Err(UseCaseError::Invalid(problems) | UseCaseError::Conflict(problems)) => {
            problems.into_iter().map(|problem| (problem.field, problem.reason)).collect()
        }
        Err(UseCaseError::Forbidden(problem)) => vec![(problem.field, problem.reason)],
        other => panic!("{other:?}"),
    }
}

/// The members of a JSON object.
pub(crate) fn input(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// The use cases over one memory.
pub(crate) struct World {
    pub memory: Arc<Memory>,
    pub notices: Arc<Notices>,
    pub clock: Arc<FixedClock>,
    pub definitions: Definitions,
    pub runs: Arc<Runs>,
    pub background: Background,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::limited(Limits::default())
    }

    /// A world with limits of its own.
    pub(crate) fn limited(limits: Limits) -> Self {
        let (memory, notices) = (Arc::new(Memory::default()), Arc::new(Notices::default()));
        let (clock, ids) = (Arc::new(FixedClock::at(NOW)), Arc::new(SequentialIds::default()));
        let models = Arc::new(CompiledVersions::new(memory.clone()));
        let ports = RunPorts {
            compute: Arc::new(heddle_usecase::InPlace),
            runs: memory.clone(),
            jobs: memory.clone(),
            work: memory.clone(),
            limits: Arc::new(limits),
            committer: memory.clone(),
            hub: notices.clone(),
            versions: Kinds::workflows(models.clone()),
            ids: ids.clone(),
            clock: clock.clone(),
            directory: Arc::new(People),
        };
        let definitions = Definitions::new(memory.clone(), ids, &models, notices.clone(), Arc::new(People));
        let runs = Arc::new(Runs::new(ports.clone()));
        let background = Background::new(Arc::clone(&runs), ports, uuid(77));
        Self { memory, notices, clock, definitions, runs, background }
    }

    /// The same world after the process ended: what was written is there, nothing else.
    pub(crate) async fn reopened(&self) -> Background {
        let ports = RunPorts {
            compute: Arc::new(heddle_usecase::InPlace),
            runs: self.memory.clone(),
            jobs: self.memory.clone(),
            work: self.memory.clone(),
            limits: Arc::new(Limits::default()),
            committer: self.memory.clone(),
            hub: self.notices.clone(),
            versions: Kinds::workflows(Arc::new(CompiledVersions::new(self.memory.clone()))),
            // Ids go on where they stood.
            ids: Arc::new(heddle_kernel::SequentialIds::default()),
            clock: self.clock.clone(),
            directory: Arc::new(People),
        };
        let background = Background::new(Arc::new(Runs::new(ports.clone())), ports, uuid(77));
        background.recover().await.unwrap();
        background
    }

    /// Delivers what was thrown and what is kept; the number of pieces.
    pub(crate) async fn deliver(&self) -> Result<usize, UseCaseError> {
        let thrown = self.background.round(Queue::Outbox).await?.done;
        Ok(thrown + self.background.round(Queue::Kept).await?.done)
    }

    /// A new workflow with this draft.
    pub(crate) async fn draft(&self, slug: &str, definition: &Value) -> WorkflowId {
        let context = caller("olga", "owner").context();
        let new = NewWorkflow {
            slug: slug.to_owned(),
            display_name: slug.to_owned(),
            description: String::new(),
            folder_id: Patch::Absent,
            draft: Draft::Value(definition.clone()),
        };
        let may = of_kind::<WorkflowCreate>(&context);
        self.definitions.create(&may, &context, new, &unrecorded).await.unwrap().definition.id
    }

    /// Publishes the draft.
    pub(crate) async fn publish(&self, id: WorkflowId) {
        let context = caller("olga", "owner").context();
        let may = on_workflow::<WorkflowPublish>(&context, id);
        let request = PublishRequest::default();
        self.definitions.publish(&may, &context, request, &unrecorded).await.unwrap();
    }

    /// A published workflow.
    pub(crate) async fn published(&self, slug: &str, definition: &Value) -> WorkflowId {
        let id = self.draft(slug, definition).await;
        self.publish(id).await;
        id
    }

    /// Starts a run as the owner.
    pub(crate) async fn start(&self, workflow: WorkflowId, request: StartRun) -> Run {
        let context = caller("olga", "owner").context();
        let may = on_workflow::<WorkflowRun>(&context, workflow);
        self.runs.start(&may, &context, request, &unrecorded).await.unwrap()
    }

    /// A world with one published workflow and one run of it, which messages find by `order-1`.
    pub(crate) async fn running(definition: &Value) -> (Self, Run) {
        let world = Self::new();
        let workflow = world.published("w", definition).await;
        let request = StartRun { correlation_key: Some("order-1".to_owned()), ..StartRun::default() };
        let run = world.start(workflow, request).await;
        (world, run)
    }
}
