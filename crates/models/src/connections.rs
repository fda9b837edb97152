//! Connections to providers: list, create, change, delete, test.

use std::sync::Arc;

use heddle_kernel::{IdSource, ModelConnectionId, Page, PageRequest, Patch, Revision};
use heddle_policy::capability::{
    DeploymentDelete, ModelConnectionCreate, ModelConnectionDelete, ModelConnectionList, ModelConnectionRead,
    ModelConnectionTest, ModelConnectionUpdate, ModelProviderList,
};
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, RequestContext, RuleId};
use heddle_usecase::secret::{SealedSecret, Secret};
use heddle_usecase::{Journal, StoreError, check_revision};
use serde_json::json;

use crate::keys::Opening;
use crate::limits::{check_limits, check_timeouts};
use crate::names::{in_use, taken};
use crate::ports::{
    ConnectionFilter, ConnectionWrite, Deleted, Dependents, Fault, FaultKind, KeyPlace, KeySealer,
    ModelStore, Runtimes,
};
use crate::records::{
    ConnectionSettings, Deployment, Limits, ModelConnection, OpenModelConnection, Phase, SecretState,
    TestResult, Timeouts,
};
use crate::types::{Provider, ProviderKind, SECRET, check_key, check_settings};
use crate::{JournalFor, Problem, Problems, UseCaseError};

/// The most connections of an organisation.
const MOST: u64 = 200;

/// A connection to create.
#[derive(Debug, Clone)]
pub struct NewModelConnection {
    /// Name: 1 to 200 characters, unique in the organisation.
    pub name: String,
    /// The type.
    pub kind: ProviderKind,
    /// Address, headers and the like.
    pub settings: ConnectionSettings,
    /// The key.
    pub api_key: Option<Secret>,
    /// Waits.
    pub timeouts: Timeouts,
    /// Limits.
    pub limits: Limits,
    /// Whether its deployments are called.
    pub enabled: bool,
}

/// A change of a connection; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct ModelConnectionPatch {
    /// A new name.
    pub name: Option<String>,
    /// Another address; null is that of the type.
    pub base_url: Patch<String>,
    /// Other headers, all of them; null takes them away.
    pub headers: Patch<std::collections::BTreeMap<String, String>>,
    /// Another version of the interface.
    pub api_version: Patch<String>,
    /// Another authority.
    pub certificate_authority: Patch<String>,
    /// Another key; null takes it away.
    pub api_key: Patch<Secret>,
    /// Other waits, all of them.
    pub timeouts: Patch<Timeouts>,
    /// Other limits, all of them.
    pub limits: Patch<Limits>,
    /// Whether its deployments are called.
    pub enabled: Option<bool>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

/// A changed connection.
#[derive(Debug, Clone)]
pub struct UpdatedModelConnection {
    /// The connection as it is now.
    pub connection: ModelConnection,
    /// Names of what changed, sorted, for the audit trail, without values.
    pub changed: Vec<&'static str>,
}

/// A test beyond the listing of models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestProbe {
    /// Outcome of the test.
    pub result: TestResult,
    /// Number of the models that the provider listed, where it listed them.
    pub models: Option<u64>,
}

/// Ports of the use cases of connections.
#[derive(Clone)]
pub struct ConnectionPorts {
    /// Rows.
    pub store: Arc<dyn ModelStore>,
    /// Sealing.
    pub sealer: Arc<dyn KeySealer>,
    /// Providers.
    pub runtimes: Arc<dyn Runtimes>,
    /// Things that name deployments.
    pub dependents: Arc<dyn Dependents>,
    /// Ids.
    pub ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for ConnectionPorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectionPorts").finish_non_exhaustive()
    }
}

/// The use cases of connections.
#[derive(Debug)]
pub struct ModelConnections {
    ports: ConnectionPorts,
    opening: Opening,
}

impl ModelConnections {
    /// Builds the use cases on their ports.
    #[must_use]
    pub fn new(ports: ConnectionPorts) -> Self {
        let opening = Opening::new(ports.store.clone(), ports.sealer.clone());
        Self { ports, opening }
    }

    /// Opening of these connections; all use cases that share it share the bound of the tests that run at a time.
    #[must_use]
    pub fn opening(&self) -> Opening {
        self.opening.clone()
    }

    /// The types of providers that the caller may read, in the order of their words.
    pub fn types(&self, authorized: &AuthorizedList<ModelProviderList>) -> Vec<&'static Provider> {
        let filter = authorized.filter();
        if filter.is_empty() {
            return Vec::new();
        }
        let (listed, denied) = (filter.listed(), filter.denied());
        let names = |ids: &[RuleId], kind: ProviderKind| ids.iter().any(|id| id.to_string() == kind.as_str());
        let permits = |provider: &&'static Provider| {
            (filter.all() || names(&listed, provider.kind)) && !names(&denied, provider.kind)
        };
        Provider::all().filter(permits).collect()
    }

    /// A page of the connections that the caller may read, by name.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedList<ModelConnectionList>,
        context: &RequestContext,
        filter: &ConnectionFilter,
        page: &PageRequest,
    ) -> Result<Page<ModelConnection>, UseCaseError> {
        Ok(self.ports.store.connections(context.tenant(), filter, authorized.filter(), page).await?)
    }

    /// A connection.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn get(
        &self,
        authorized: &Authorized<ModelConnectionRead>,
        context: &RequestContext,
    ) -> Result<ModelConnection, UseCaseError> {
        Ok(self.ports.store.connection(context.tenant(), authorized.id()).await?)
    }

    /// Creates a connection. Nothing is called: a provider that is down can be configured.
    ///
    /// # Errors
    /// `Invalid` with every member that breaks a rule, `Conflict` (`notUnique`, `quotaExceeded`), `Unavailable`.
    pub async fn create(
        &self,
        _: &AuthorizedKind<ModelConnectionCreate>,
        context: &RequestContext,
        new: NewModelConnection,
        record: &JournalFor<'_, ModelConnection>,
    ) -> Result<ModelConnection, UseCaseError> {
        let now = context.now();
        let state = new.api_key.as_ref().map(|key| SecretState { updated_at: now, hint: key.hint() });
        let connection = ModelConnection {
            tenant: context.tenant(),
            id: ModelConnectionId(self.ports.ids.next(now)),
            name: new.name,
            kind: new.kind,
            settings: new.settings,
            api_key: state,
            timeouts: new.timeouts,
            limits: new.limits,
            enabled: new.enabled,
            revision: Revision::FIRST,
            last_test: None,
            discovered_at: None,
            created_at: now,
            created_by: context.user_id(),
            updated_at: now,
            updated_by: context.user_id(),
        };
        let mut problems = Problems::default();
        check(&mut problems, &connection, new.api_key.as_ref());
        if connection.kind == ProviderKind::Local {
            let message = "The connection to the models inside the service is made by sync-local.";
            problems.add("type", "notAllowed", message);
        }
        problems.finish()?;
        let sealed = self.sealed(&connection, new.api_key.map_or(Patch::Absent, Patch::Value))?;
        let write = ConnectionWrite { connection: &connection, sealed: sealed.as_ref() };
        let journal = record(&connection).changing(None, Some(&connection));
        let written = self.ports.store.insert_connection(write, MOST, &journal).await;
        written.map_err(|error| taken(error, "connection"))?;
        Ok(connection)
    }

    /// Changes what the patch names. What says to whom the key goes (address, authority) changes only together with the
    /// key.
    ///
    /// # Errors
    /// `NotFound`; `Invalid`, also with `secretNeeded` at the key when it must be sent again; `Conflict`
    /// (`revisionMismatch`, `notUnique`); `Unavailable`.
    pub async fn update(
        &self,
        authorized: &Authorized<ModelConnectionUpdate>,
        context: &RequestContext,
        patch: ModelConnectionPatch,
        record: &JournalFor<'_, UpdatedModelConnection>,
    ) -> Result<UpdatedModelConnection, UseCaseError> {
        let before = self.ports.store.connection(context.tenant(), authorized.id()).await?;
        check_revision(patch.revision, before.revision)?;
        let mut after = before.clone();
        let key = apply(&mut after, patch, context);
        let mut problems = Problems::default();
        check(&mut problems, &after, key.value());
        pointed_elsewhere(&mut problems, &before, &after, &key);
        problems.finish()?;
        let changed = changed(&before, &after, &key);
        if changed.is_empty() {
            // Nothing to write; an audit event of a change that was none would mislead.
            return Ok(UpdatedModelConnection { connection: before, changed });
        }
        after.revision = before.revision.next();
        after.updated_at = context.now();
        after.updated_by = context.user_id();
        let sealed = self.sealed(&after, key)?;
        let updated = UpdatedModelConnection { connection: after, changed };
        let journal = record(&updated).changing(Some(&before), Some(&updated.connection));
        let write = ConnectionWrite { connection: &updated.connection, sealed: sealed.as_ref() };
        let written = self.ports.store.update_connection(write, before.revision, &journal).await;
        written.map_err(|error| taken(error, "connection"))?;
        Ok(updated)
    }

    /// Deletes a connection with its key and catalogue; with `cascade` its deployments too, where nothing names them and
    /// the caller may delete each.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`inUse` with `usedBy`, `revisionMismatch`); `Forbidden`; `Unavailable`.
    pub async fn delete(
        &self,
        authorized: &Authorized<ModelConnectionDelete>,
        context: &RequestContext,
        expected: Option<Revision>,
        cascade: bool,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let (tenant, id) = (context.tenant(), authorized.id());
        let journal = journal.deleting(self.ports.store.connection(tenant, id).await)?;
        let mut with = Vec::new();
        if cascade {
            let deployments = self.ports.store.deployments_of(tenant, id).await?;
            self.may_go(context, &deployments).await?;
            with.extend(deployments.into_iter().map(|deployment| deployment.id));
        }
        let deleted = match self.ports.store.delete_connection(tenant, id, expected, &with, &journal).await {
            Err(StoreError::Stale) => {
                let present = self.ports.store.connection(tenant, id).await?;
                check_revision(expected, present.revision)?;
                Err(StoreError::Stale)
            }
            other => other,
        };
        match deleted? {
            Deleted::Now | Deleted::Before => Ok(()),
            Deleted::InUse(uses) => Err(in_use("connection", &uses, context)),
        }
    }

    /// Whether deployments may be deleted together with their connection.
    async fn may_go(&self, context: &RequestContext, all: &[Deployment]) -> Result<(), UseCaseError> {
        for deployment in all {
            if context.snapshot().authorize_one::<DeploymentDelete>(deployment.id, ()).is_err() {
                let message = "The connection has deployments that the caller may not delete.";
                return Err(UseCaseError::forbidden("exceedsOwnRights", message));
            }
            let uses = self.ports.dependents.uses(context.tenant(), deployment.id, &deployment.alias).await?;
            if !uses.is_empty() {
                return Err(in_use("connection", &uses, context));
            }
        }
        Ok(())
    }

    /// Asks the provider for its models, and keeps the result; nothing that costs is called. A provider that fails is a
    /// result, not an error.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`secretUnreadable`); `Busy` when four tests of the organisation run; `Unavailable`.
    pub async fn test(
        &self,
        authorized: &Authorized<ModelConnectionTest>,
        context: &RequestContext,
        record: &JournalFor<'_, TestProbe>,
    ) -> Result<TestProbe, UseCaseError> {
        let (tenant, id) = (context.tenant(), authorized.id());
        let _place = self.opening.begin(tenant)?;
        let opened = self.opening.open(tenant, id).await?;
        let began = tokio::time::Instant::now();
        let listed = self.ports.runtimes.models(&opened).await;
        let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let models = listed.as_ref().ok().map(|models| models.len() as u64);
        let (ok, phase, message) = match &listed {
            Ok(models) => (true, Phase::Request, format!("The provider lists {} models.", models.len())),
            Err(fault) => (false, fault.phase, told(fault, &opened)),
        };
        let result = TestResult { ok, phase, latency_ms, message, tested_at: context.now() };
        let probe = TestProbe { result, models };
        self.ports.store.tested(tenant, id, &probe.result, &record(&probe)).await?;
        Ok(probe)
    }

    /// The key of a change, sealed in its place; none: it stays.
    fn sealed(
        &self,
        connection: &ModelConnection,
        key: Patch<Secret>,
    ) -> Result<Option<Option<SealedSecret>>, UseCaseError> {
        let place = KeyPlace { tenant: connection.tenant, connection: connection.id };
        match key {
            Patch::Absent => Ok(None),
            Patch::Null => Ok(Some(None)),
            Patch::Value(secret) => {
                let sealed = self.ports.sealer.seal(place, &secret);
                sealed
                    .map(|sealed| Some(Some(sealed)))
                    .map_err(|error| UseCaseError::Internal(error.to_string()))
            }
        }
    }
}

/// Words for people about a fault, with what helps.
fn told(fault: &Fault, connection: &OpenModelConnection) -> String {
    let hint = match fault.kind {
        FaultKind::NotAllowed => " The operator allows addresses of the own network by `egress.allow`.",
        FaultKind::Unreachable if connection.connection.kind.provider().is_local => {
            " Is the runtime started, and does it listen at this address?"
        }
        FaultKind::Unknown
        | FaultKind::Unreachable
        | FaultKind::Untrusted
        | FaultKind::Timeout
        | FaultKind::Broken
        | FaultKind::TooLarge => "",
    };
    format!("{}{hint}", fault.message)
}

/// Applies a patch; gives what becomes of the key.
fn apply(
    connection: &mut ModelConnection,
    patch: ModelConnectionPatch,
    context: &RequestContext,
) -> Patch<Secret> {
    if let Some(name) = patch.name {
        connection.name = name;
    }
    let settings = &mut connection.settings;
    settings.base_url = patch.base_url.apply_to(settings.base_url.take());
    settings.api_version = patch.api_version.apply_to(settings.api_version.take());
    settings.certificate_authority =
        patch.certificate_authority.apply_to(settings.certificate_authority.take());
    match patch.headers {
        Patch::Absent => {}
        Patch::Null => settings.headers.clear(),
        Patch::Value(headers) => settings.headers = headers,
    }
    match patch.timeouts {
        Patch::Absent => {}
        Patch::Null => connection.timeouts = Timeouts::default(),
        Patch::Value(timeouts) => connection.timeouts = timeouts,
    }
    match patch.limits {
        Patch::Absent => {}
        Patch::Null => connection.limits = Limits::default(),
        Patch::Value(limits) => connection.limits = limits,
    }
    connection.enabled = patch.enabled.unwrap_or(connection.enabled);
    match &patch.api_key {
        Patch::Absent => {}
        Patch::Null => connection.api_key = None,
        Patch::Value(key) => {
            connection.api_key = Some(SecretState { updated_at: context.now(), hint: key.hint() });
        }
    }
    patch.api_key
}

/// Adds what is wrong with a connection as it shall be.
fn check(problems: &mut Problems, connection: &ModelConnection, key: Option<&Secret>) {
    heddle_usecase::name(problems, "name", &connection.name, 200);
    let provider = connection.kind.provider();
    check_settings(provider, &connection.settings, problems);
    check_key(provider, key, connection.api_key.is_some(), problems);
    check_timeouts(problems, &connection.timeouts);
    check_limits(problems, &connection.limits);
    if connection.limits.budget.is_some() {
        let message = "Budgets are those of deployments and of the organisation.";
        problems.add("limits.budget", "notAllowed", message);
    }
}

/// Adds the key that stays while the connection is pointed elsewhere: whoever may change a connection must not learn what
/// is sealed in it by sending it to themselves.
fn pointed_elsewhere(
    problems: &mut Problems,
    before: &ModelConnection,
    after: &ModelConnection,
    key: &Patch<Secret>,
) {
    let preset = before.kind.provider().default_base_url;
    let address = |settings: &ConnectionSettings| {
        settings.base_url.as_deref().or(preset).map(|url| url.trim_end_matches('/').to_owned())
    };
    let mut targets = Vec::new();
    if address(&before.settings) != address(&after.settings) {
        targets.push("baseUrl");
    }
    if before.settings.certificate_authority != after.settings.certificate_authority {
        targets.push("certificateAuthority");
    }
    if targets.is_empty() || before.api_key.is_none() || !key.is_absent() {
        return;
    }
    let message = format!("`{}` changes: send the key again, or null to take it away.", targets.join("`, `"));
    problems.push(Problem::at(SECRET, "secretNeeded", message).with("changed", json!(targets)));
}

fn changed(before: &ModelConnection, after: &ModelConnection, key: &Patch<Secret>) -> Vec<&'static str> {
    let (old, new) = (&before.settings, &after.settings);
    // A key that is sent is written, also when it is the one that is there: nobody is told whether it was.
    let key = match key {
        Patch::Absent => false,
        Patch::Null => before.api_key.is_some(),
        Patch::Value(_) => true,
    };
    let members = [
        ("apiKey", key),
        ("apiVersion", old.api_version != new.api_version),
        ("baseUrl", old.base_url != new.base_url),
        ("certificateAuthority", old.certificate_authority != new.certificate_authority),
        ("enabled", before.enabled != after.enabled),
        ("headers", old.headers != new.headers),
        ("limits", before.limits != after.limits),
        ("name", before.name != after.name),
        ("timeouts", before.timeouts != after.timeouts),
    ];
    members.iter().filter(|(_, is_changed)| *is_changed).map(|(name, _)| *name).collect()
}
