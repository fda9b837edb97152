//! Calls between instances, runs and cases of each other: a called run is started, its caller is told of its end, and it is cancelled when nothing waits for
//! it any more. Each is a piece of background work that its cause left in the outbox with its step, and each is done by
//! one transaction that takes the piece away: so that it happens once, whatever ends in between.

use heddle_engine::{CalledVersion, Command, Status, Trigger};
use heddle_kernel::{DefinitionKind, EventId, RunId, TenantId, WorkflowId};
use heddle_policy::capability::RunRead;
use heddle_policy::{Authorized, InstanceKey};
use heddle_usecase::StoreError;
use serde_json::Map;
use std::sync::Arc;

use super::Runs;
use super::start::Model;
use crate::UseCaseError;
use crate::compiled::CompiledVersion;
use crate::plan::{CallEscalation, CallNotice, CallRequest, Initiator, NewInstance, StartRun, call_of};
use crate::ports::{RunWrite, Standing, Transaction};
use crate::records::{CalledRun, Caller, Outgoing, Run, TriggerKind, TriggerRecord, WorkKey};

/// Most tries of a delivery when the run changes under it.
const ATTEMPTS: usize = 5;
/// Most versions that are looked through for a tag.
const MOST_VERSIONS: i32 = 200;
/// Most called runs that are shown beside a run.
const MOST_SHOWN: i64 = 1_000;

/// Target of a call.
struct Target {
    definition: Definition,
    version: i32,
    model: Model,
}

/// Definition in which the target of a call is looked for.
#[derive(Clone, Copy)]
struct Definition {
    tenant: TenantId,
    kind: DefinitionKind,
    id: WorkflowId,
}

impl Definition {
    const fn of(run: &Run) -> Self {
        Self { tenant: run.tenant, kind: run.kind, id: run.workflow }
    }

    /// Word for what is defined.
    const fn word(kind: DefinitionKind) -> &'static str {
        match kind {
            DefinitionKind::Workflow => "workflow",
            DefinitionKind::Case => "case type",
        }
    }

    /// Word for what is started of it.
    const fn part(kind: DefinitionKind) -> &'static str {
        match kind {
            DefinitionKind::Workflow => "process",
            DefinitionKind::Case => "case",
        }
    }
}

/// Reason for which a call has no target.
enum NoTarget {
    /// There is none, in words.
    Missing(String),
    /// The look for it failed.
    Failed(UseCaseError),
}

impl From<UseCaseError> for NoTarget {
    fn from(error: UseCaseError) -> Self {
        Self::Failed(error)
    }
}

impl From<StoreError> for NoTarget {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

fn missing(sentence: impl Into<String>) -> NoTarget {
    NoTarget::Missing(sentence.into())
}

impl Runs {
    /// Runs that a run has called, the first ones first, and as many as are shown.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn called(&self, authorized: &Authorized<RunRead>) -> Result<Vec<CalledRun>, UseCaseError> {
        self.called_of(&authorized.key().into()).await
    }

    /// The same of an instance of either kind.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn called_of(&self, key: &InstanceKey) -> Result<Vec<CalledRun>, UseCaseError> {
        Ok(self.ports.runs.called_by(key, MOST_SHOWN).await?)
    }

    /// Whether the caller of a run waits for it still.
    pub(super) async fn is_awaited(&self, run: &Run) -> Result<bool, UseCaseError> {
        let Some(parent) = &run.trigger.parent else { return Ok(false) };
        match self.ports.runs.load_any(run.tenant, parent.run).await {
            Ok(caller) => Ok(caller.snapshot.waits_for(run.id)),
            Err(StoreError::NotFound) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Starts the run of a call.
    pub(super) async fn start_called(&self, thrown: &Outgoing) -> Result<(), UseCaseError> {
        let request: CallRequest = read(thrown)?;
        let (called, kind) = (request.call.run_id, request.call.kind);
        let caller = match self.ports.runs.load_any(thrown.tenant, thrown.run).await {
            Ok(run) if request.is_detached || run.snapshot.waits_for(called) => run,
            // Whoever called it does not wait for it any more.
            Ok(_) | Err(StoreError::NotFound) => return self.forget_thrown(thrown).await,
            Err(error) => return Err(error.into()),
        };
        let now = self.ports.clock.now();
        let by = Initiator { now, user: None, hops: thrown.hops };
        let begun = match self.target(&caller, &request).await {
            Ok(target) => self.begin_called(&caller, request, target, by).await,
            Err(NoTarget::Missing(message)) => return self.call_failed(thrown, called, message).await,
            Err(NoTarget::Failed(error)) => Err(error),
        };
        let write = match begun {
            Ok(write) => write,
            Err(error) if is_of_the_call(&error) => {
                let what = match kind {
                    DefinitionKind::Workflow => "run",
                    DefinitionKind::Case => "case",
                };
                let message = format!("The {what} cannot be started: {}", error.in_words());
                return self.call_failed(thrown, called, message).await;
            }
            Err(error) => return Err(error),
        };
        let unit = Transaction {
            tenant: Some(thrown.tenant),
            runs: vec![write],
            delivered: Some(thrown.id),
            ..Transaction::default()
        };
        match self.commit(unit).await {
            Ok(()) => Ok(()),
            Err(error) => match self.ports.runs.load_any(thrown.tenant, called).await {
                // Another node was faster.
                Ok(_) => self.forget_thrown(thrown).await,
                Err(StoreError::NotFound) if error == StoreError::Stale => Ok(()),
                Err(_) => Err(error.into()),
            },
        }
    }

    /// Tells a run that waits for a called run of the end of that.
    pub(super) async fn tell_caller(&self, thrown: &Outgoing) -> Result<(), UseCaseError> {
        let CallNotice { called, caller } = read(thrown)?;
        // A call that is not started yet, or is being started, is looked at first: what it began is there by then.
        let pending = self.ports.work.find(&call_key(thrown.tenant, called)).await?.is_some();
        let ending = match self.ports.runs.load_any(thrown.tenant, called).await {
            Ok(run) if run.state.is_terminal() => ending(&run),
            Ok(_) => return self.forget_thrown(thrown).await,
            Err(StoreError::NotFound) if pending => return self.forget_thrown(thrown).await,
            Err(StoreError::NotFound) => Command::FailCall {
                run_id: called,
                code: None,
                message: "The called run is not there any more.".to_owned(),
                output: Map::new(),
            },
            Err(error) => return Err(error.into()),
        };
        match self.settle_call(thrown, caller, |run| waiting(run, called).then(|| ending.clone())).await {
            // What it brings is more than the caller may hold: that is the caller's incident.
            Err(UseCaseError::Invalid(problems)) => {
                let message = UseCaseError::Invalid(problems).in_words();
                self.fail_caller(thrown, caller, called, message).await
            }
            other => other,
        }
    }

    /// Gives the caller an escalation that a called run let go. A suspended caller gets it when it is resumed.
    pub(super) async fn escalate_to_caller(&self, thrown: &Outgoing) -> Result<(), UseCaseError> {
        let CallEscalation { called, caller, code, values } = read(thrown)?;
        let command = Command::EscalateCall { run_id: called, code, variables: values };
        let choose = |run: &Run| run.snapshot.waits_for(called).then(|| command.clone());
        match self.settle_call(thrown, caller, choose).await {
            Err(UseCaseError::Conflict(_)) => Err(UseCaseError::Busy),
            other => other,
        }
    }

    /// Cancels a called run that nothing waits for any more; one that is not started yet is not.
    pub(super) async fn cancel_called(&self, thrown: &Outgoing) -> Result<(), UseCaseError> {
        let CallNotice { called, .. } = read(thrown)?;
        self.ports.work.forget(&call_key(thrown.tenant, called)).await?;
        let reason = "Nothing waits for it any more.";
        self.settle_call(thrown, called, |run| {
            let active = !run.state.is_terminal();
            active.then(|| Command::Cancel { reason: Some(reason.to_owned()) })
        })
        .await
    }

    /// Carries out on a run what a piece of work says, and takes the piece away in the same transaction; without anything
    /// to do it is taken away alone.
    async fn settle_call<C>(&self, thrown: &Outgoing, run: RunId, choose: C) -> Result<(), UseCaseError>
    where
        C: Fn(&Run) -> Option<Command> + Send + Sync,
    {
        let by = Initiator { now: self.ports.clock.now(), user: None, hops: 0 };
        for _ in 0..ATTEMPTS {
            let _held = self.locks.hold(run).await;
            let before = match self.ports.runs.load_any(thrown.tenant, run).await {
                Ok(before) => before,
                Err(StoreError::NotFound) => return self.forget_thrown(thrown).await,
                Err(error) => return Err(error.into()),
            };
            let Some(command) = choose(&before) else { return self.forget_thrown(thrown).await };
            let write = self.step_of(before, command, by).await?;
            let unit = Transaction {
                tenant: Some(thrown.tenant),
                runs: vec![write],
                delivered: Some(thrown.id),
                ..Transaction::default()
            };
            match self.commit(unit).await {
                Err(StoreError::Stale) => {}
                other => return Ok(other?),
            }
        }
        Err(UseCaseError::Busy)
    }

    /// Tells the caller that its call came to nothing.
    async fn call_failed(
        &self,
        thrown: &Outgoing,
        called: RunId,
        message: String,
    ) -> Result<(), UseCaseError> {
        self.fail_caller(thrown, thrown.run, called, message).await
    }

    async fn fail_caller(
        &self,
        thrown: &Outgoing,
        caller: RunId,
        called: RunId,
        message: String,
    ) -> Result<(), UseCaseError> {
        let failed = Command::FailCall { run_id: called, code: None, message, output: Map::new() };
        let choose = |run: &Run| run.snapshot.waits_for(called).then(|| failed.clone());
        match self.settle_call(thrown, caller, choose).await {
            // A suspended run is told when it is resumed; then it looks again.
            Err(UseCaseError::Conflict(_)) => Err(UseCaseError::Busy),
            other => other,
        }
    }

    async fn forget_thrown(&self, thrown: &Outgoing) -> Result<(), UseCaseError> {
        Ok(self.ports.work.forget(&WorkKey::Thrown(thrown.tenant, thrown.id)).await?)
    }

    /// The rows of a called run.
    async fn begin_called(
        &self,
        caller: &Run,
        request: CallRequest,
        target: Target,
        by: Initiator,
    ) -> Result<RunWrite, UseCaseError> {
        let CallRequest { node_id, node_instance_id, call, .. } = request;
        let parent = Caller::of(caller, node_id, node_instance_id);
        let record = TriggerRecord {
            kind: TriggerKind::Call,
            name: None,
            node_id: None,
            event_id: None,
            parent: Some(parent),
        };
        let inherited = caller.business_key.as_ref().filter(|_| call.inherit_business_key);
        let beginning = NewInstance {
            tenant: caller.tenant,
            kind: target.definition.kind,
            workflow: target.definition.id,
            version: target.version,
            trigger: Trigger::Manual { start_node: None },
            record,
            request: StartRun {
                input: call.input,
                business_key: call.business_key.or_else(|| inherited.cloned()),
                correlation_key: call.correlation_key,
                ..StartRun::default()
            },
        };
        self.begin_as(call.run_id, beginning, target.model, by).await
    }

    /// Target of a call: what the caller's own definition has under the name, else a published definition of the kind by
    /// its id, by the id of a process or case that it alone has, or by its slug.
    async fn target(&self, caller: &Run, request: &CallRequest) -> Result<Target, NoTarget> {
        let (name, version) = (&*request.call.called, request.call.version.as_ref());
        let (tenant, kind) = (caller.tenant, request.call.kind);
        if kind == caller.kind {
            let own = self.version_of(caller).await?;
            if own.plan(name).is_some() {
                return self.own_target(caller, own, name, version).await;
            }
        }
        let (definition, is_part) = self.published(caller, kind, name).await?;
        let latest = match self.ports.versions.of(definition.kind)?.standing(tenant, definition.id).await {
            Ok(Standing { is_archived: true, .. }) => {
                let word = Definition::word(definition.kind);
                return Err(missing(format!("The {word} that `{name}` names is archived.")));
            }
            Ok(Standing { latest: Some(latest), .. }) => latest,
            Ok(Standing { latest: None, .. }) | Err(StoreError::NotFound) => return Err(unknown(kind, name)),
            Err(error) => return Err(error.into()),
        };
        let number = match version {
            None | Some(CalledVersion::Latest) => latest,
            Some(CalledVersion::Number(number)) => *number,
            Some(CalledVersion::Tag(tag)) => self.tagged(definition, latest, tag).await?,
            Some(CalledVersion::Deployment) => self.deployed_with(caller, definition, name).await?,
        };
        self.of_version(definition, number, is_part.then_some(name)).await
    }

    /// Version of a definition that was active when the caller's version was published.
    async fn deployed_with(&self, caller: &Run, definition: Definition, name: &str) -> Result<i32, NoTarget> {
        let own = self.ports.versions.of(caller.kind)?;
        let at = own.published_at(caller.tenant, caller.workflow, caller.version).await?;
        let versions = self.ports.versions.of(definition.kind)?;
        let found = versions.version_at(definition.tenant, definition.id, at).await?;
        found.ok_or_else(|| missing(format!("`{name}` was published after the version that calls it.")))
    }

    /// A process, global task or case of the caller's own definition: in the caller's version, unless the call means
    /// another.
    async fn own_target(
        &self,
        caller: &Run,
        own: Arc<CompiledVersion>,
        name: &str,
        version: Option<&CalledVersion>,
    ) -> Result<Target, NoTarget> {
        let definition = Definition::of(caller);
        let number = match version {
            None | Some(CalledVersion::Deployment) => caller.version,
            Some(CalledVersion::Number(number)) => *number,
            Some(CalledVersion::Latest) => self.latest_or(definition, caller.version).await?,
            Some(CalledVersion::Tag(tag)) => {
                let latest = self.latest_or(definition, caller.version).await?;
                self.tagged(definition, latest, tag).await?
            }
        };
        if number == caller.version
            && let Some(plan) = own.plan(name)
        {
            return Ok(Target { definition, version: number, model: Model { compiled: own, plan } });
        }
        self.of_version(definition, number, Some(name)).await
    }

    /// The active version of a definition, or another where it has none.
    async fn latest_or(&self, of: Definition, other: i32) -> Result<i32, NoTarget> {
        let standing = self.ports.versions.of(of.kind)?.standing(of.tenant, of.id).await?;
        Ok(standing.latest.unwrap_or(other))
    }

    async fn of_version(
        &self,
        definition: Definition,
        number: i32,
        part: Option<&str>,
    ) -> Result<Target, NoTarget> {
        let (word, of) = (Definition::word(definition.kind), Definition::part(definition.kind));
        let versions = self.ports.versions.of(definition.kind)?;
        let compiled = match versions.plan(definition.tenant, definition.id, number).await {
            Ok(compiled) => compiled,
            Err(UseCaseError::NotFound) => {
                return Err(missing(format!("The {word} has no version {number}.")));
            }
            Err(error) => return Err(error.into()),
        };
        let plan = match part {
            Some(id) => compiled.plan(id).ok_or_else(|| {
                missing(format!("Version {number} of the {word} has no executable {of} `{id}`."))
            })?,
            None => match compiled.startable(None) {
                Ok(plan) => plan,
                Err(error) => return Err(missing(error.in_words())),
            },
        };
        Ok(Target { definition, version: number, model: Model { compiled, plan } })
    }

    /// The definition that a name means, and whether it is the name of a process or case of it. A run that calls means a
    /// workflow, and where there is none of the name, a case type; a case says which.
    async fn published(
        &self,
        caller: &Run,
        kind: DefinitionKind,
        name: &str,
    ) -> Result<(Definition, bool), NoTarget> {
        if let Some(found) = self.named_definition(caller.tenant, kind, name).await? {
            return Ok(found);
        }
        let (run, case) = (DefinitionKind::Workflow, DefinitionKind::Case);
        if (caller.kind, kind) == (run, run)
            && let Some(found) = self.named_definition(caller.tenant, case, name).await?
        {
            return Ok(found);
        }
        Err(unknown(kind, name))
    }

    /// The definition of a kind that a name means; none when there is none.
    async fn named_definition(
        &self,
        tenant: TenantId,
        kind: DefinitionKind,
        name: &str,
    ) -> Result<Option<(Definition, bool)>, NoTarget> {
        let of = |id: WorkflowId| Definition { tenant, kind, id };
        let Ok(versions) = self.ports.versions.of(kind) else { return Ok(None) };
        if let Ok(id) = name.parse::<WorkflowId>() {
            return match versions.standing(tenant, id).await {
                Ok(_) => Ok(Some((of(id), false))),
                Err(StoreError::NotFound) => Ok(None),
                Err(error) => Err(error.into()),
            };
        }
        let found = versions.callable(tenant, name).await?;
        match (found.processes.as_slice(), found.slug) {
            ([only], _) => Ok(Some((of(*only), true))),
            ([], Some(slug)) => Ok(Some((of(slug), false))),
            ([], None) => Ok(None),
            (several, _) => {
                let (word, part) = (Definition::word(kind), Definition::part(kind));
                Err(missing(format!(
                    "{} published {word}s have a {part} `{name}`: name the {word} by its id or slug.",
                    several.len()
                )))
            }
        }
    }

    /// The last version with a tag.
    async fn tagged(&self, of: Definition, latest: i32, tag: &str) -> Result<i32, NoTarget> {
        let versions = latest.saturating_sub(MOST_VERSIONS - 1).max(1)..=latest;
        let found = self.ports.versions.of(of.kind)?.tagged(of.tenant, of.id, versions, tag).await?;
        found.ok_or_else(|| {
            let word = Definition::word(of.kind);
            missing(format!("None of the last {MOST_VERSIONS} versions of the {word} has the tag `{tag}`."))
        })
    }
}

/// Nothing of a kind has a name.
fn unknown(kind: DefinitionKind, name: &str) -> NoTarget {
    let (word, part) = (Definition::word(kind), Definition::part(kind));
    missing(format!("No published {word} has the id, a {part} or the slug `{name}`."))
}

/// Key of the piece of work that starts a called run.
fn call_key(tenant: TenantId, called: RunId) -> WorkKey {
    let id: EventId = call_of(called);
    WorkKey::Thrown(tenant, id)
}

fn read<T: serde::de::DeserializeOwned>(thrown: &Outgoing) -> Result<T, UseCaseError> {
    serde_json::from_value(thrown.payload.clone())
        .map_err(|error| UseCaseError::Internal(format!("the call {} does not read: {error}", thrown.id)))
}

/// Whether a run can be told of the end of a called run: one that is suspended is told when it is resumed.
fn waiting(run: &Run, called: RunId) -> bool {
    run.snapshot.status() != Status::Suspended && run.snapshot.waits_for(called)
}

/// Command to its caller for the end of a called run.
fn ending(run: &Run) -> Command {
    let (run_id, state) = (run.id, &run.snapshot);
    let output = state.variables().cloned().unwrap_or_default();
    match (state.status(), state.error()) {
        // What a case gives back is what it says; of a run it is the variables of its process.
        (Status::Completed, _) => {
            Command::CompleteCall { run_id, output: state.output().cloned().unwrap_or_default() }
        }
        (_, Some(error)) => Command::FailCall {
            run_id,
            code: Some(error.code.to_string()),
            message: error.message.clone(),
            output,
        },
        (_, None) => Command::FailCall {
            run_id,
            code: None,
            message: "The called run was cancelled.".to_owned(),
            output: Map::new(),
        },
    }
}

/// Whether an error is the call's own: another try meets it again.
const fn is_of_the_call(error: &UseCaseError) -> bool {
    match error {
        UseCaseError::NotFound
        | UseCaseError::Invalid(_)
        | UseCaseError::Conflict(_)
        | UseCaseError::Forbidden(_)
        | UseCaseError::Unauthenticated => true,
        UseCaseError::LimitReached { .. }
        | UseCaseError::Throttled { .. }
        | UseCaseError::RateLimited { .. }
        | UseCaseError::Busy
        | UseCaseError::QueueFull { .. }
        | UseCaseError::Abandoned { .. }
        | UseCaseError::Unavailable(_)
        | UseCaseError::Internal(_) => false,
    }
}
