//! Connections: list, pick, create, change, delete, test.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use heddle_kernel::{ConnectionId, IdSource, Page, PageRequest, Patch, Revision, WebhookId, shortened};
use heddle_policy::capability::{
    ConnectionCreate, ConnectionDelete, ConnectionList, ConnectionRead, ConnectionTest, ConnectionUpdate,
    WebhookRead,
};
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, RequestContext};
use heddle_usecase::{Journal, StoreError, check_revision};
use serde_json::{Map, Value, json};

use crate::opening::Opening;
use crate::ports::{
    ConnectionFilter, ConnectionStore, ConnectionWrite, Deleted, Ping, SealError, Sealer, Tester, Use,
    Workflows,
};
use crate::records::{Connection, SecretState, TestResult};
use crate::secret::{SealedSecret, Secret, SecretPlace};
use crate::sending::may_send;
use crate::types::{ConnectionKind, ConnectionType, is_plain};
use crate::{JournalFor, Problem, Problems, UseCaseError};

/// The most connections of an organisation.
const MOST: u64 = 1_000;
/// The most labels of a connection.
const LABELS: usize = 50;

/// A connection to create.
#[derive(Debug, Clone)]
pub struct NewConnection {
    /// Name: 1 to 200 characters, unique in the organisation.
    pub name: String,
    /// The type.
    pub kind: ConnectionKind,
    /// Purpose: at most 1,000 characters.
    pub description: Option<String>,
    /// Free labels, at most 50: keys of 1 to 63 letters, digits, `.`, `_`, `/` and `-`, values of at most 200 characters.
    pub labels: BTreeMap<String, String>,
    /// Configuration as the type has it.
    pub config: Map<String, Value>,
    /// Secrets by name.
    pub secrets: BTreeMap<String, Secret>,
}

/// A change of a connection; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct ConnectionPatch {
    /// A new name.
    pub name: Option<String>,
    /// Another description.
    pub description: Patch<String>,
    /// Other labels, all of them; null takes them away.
    pub labels: Patch<BTreeMap<String, String>>,
    /// Members of the configuration to set; null takes one away.
    pub config: Map<String, Value>,
    /// Secrets to set by name; null takes one away.
    pub secrets: BTreeMap<String, Patch<Secret>>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

/// A changed connection.
#[derive(Debug, Clone)]
pub struct UpdatedConnection {
    /// The connection as it is now.
    pub connection: Connection,
    /// Names of what changed, sorted: `name`, `config.host`, `secrets.password`, ...; for the audit trail, without values.
    pub changed: Vec<String>,
}

/// A connection to pick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionOption {
    /// Id of the connection.
    pub id: ConnectionId,
    /// Name of the connection.
    pub name: String,
    /// Type of the connection.
    pub kind: ConnectionKind,
    /// Purpose of the connection.
    pub description: Option<String>,
}

/// The use cases of connections.
pub struct Connections {
    store: Arc<dyn ConnectionStore>,
    sealer: Arc<dyn Sealer>,
    tester: Arc<dyn Tester>,
    workflows: Arc<dyn Workflows>,
    ids: Arc<dyn IdSource>,
    opening: Opening,
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

impl Connections {
    /// Builds the use cases on their ports.
    #[must_use]
    pub fn new(
        store: Arc<dyn ConnectionStore>,
        sealer: Arc<dyn Sealer>,
        tester: Arc<dyn Tester>,
        workflows: Arc<dyn Workflows>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        let opening = Opening::new(store.clone(), sealer.clone());
        Self { store, sealer, tester, workflows, ids, opening }
    }

    /// A page of the connections that the caller may read, by name.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedList<ConnectionList>,
        context: &RequestContext,
        filter: &ConnectionFilter,
        page: &PageRequest,
    ) -> Result<Page<Connection>, UseCaseError> {
        Ok(self.store.list(context.tenant(), filter, authorized.filter(), page).await?)
    }

    /// A page of the connections that the caller may pick, by name: those that they may read. The types stand in
    /// [`ConnectionType::ALL`].
    ///
    /// # Errors
    /// As [`Self::list`].
    pub async fn options(
        &self,
        authorized: &AuthorizedList<ConnectionList>,
        context: &RequestContext,
        filter: &ConnectionFilter,
        page: &PageRequest,
    ) -> Result<Page<ConnectionOption>, UseCaseError> {
        let page = self.list(authorized, context, filter, page).await?;
        Ok(page.map(|connection| ConnectionOption {
            id: connection.id,
            name: connection.name,
            kind: connection.kind,
            description: connection.description,
        }))
    }

    /// A connection.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn get(
        &self,
        authorized: &Authorized<ConnectionRead>,
        context: &RequestContext,
    ) -> Result<Connection, UseCaseError> {
        Ok(self.store.get(context.tenant(), authorized.id()).await?)
    }

    /// Creates a connection. Nothing is called: a service that is down can be configured.
    ///
    /// # Errors
    /// `Invalid` with every member that breaks a rule, `Conflict` (`notUnique`, `quotaExceeded`), `Unavailable`.
    pub async fn create(
        &self,
        _: &AuthorizedKind<ConnectionCreate>,
        context: &RequestContext,
        new: NewConnection,
        record: &JournalFor<'_, Connection>,
    ) -> Result<Connection, UseCaseError> {
        let now = context.now();
        let states = new
            .secrets
            .iter()
            .map(|(name, secret)| (name.clone(), SecretState { updated_at: now, hint: secret.hint() }));
        let connection = Connection {
            tenant: context.tenant(),
            id: ConnectionId(self.ids.next(now)),
            name: new.name,
            kind: new.kind,
            description: new.description,
            labels: new.labels,
            config: new.config,
            secrets: states.collect(),
            revision: Revision::FIRST,
            last_test: None,
            created_at: now,
            created_by: context.user_id(),
            updated_at: now,
            updated_by: context.user_id(),
        };
        let mut problems = Problems::default();
        check(&mut problems, &connection);
        for (name, secret) in &new.secrets {
            ConnectionType::of(connection.kind).check_secret(&mut problems, name, secret);
        }
        problems.finish()?;
        let sent = new.secrets.into_iter().map(|(name, secret)| (name, Patch::Value(secret))).collect();
        let sealed = self.seal(&connection, &sent)?;
        let write = ConnectionWrite { connection: &connection, sealed: &sealed };
        let journal = record(&connection).changing(None, Some(&connection));
        self.store
            .insert(write, MOST, &journal)
            .await
            .map_err(|error| name_taken(error, "connection", &connection.name))?;
        Ok(connection)
    }

    /// Changes what the patch names. What says to whom secrets go (host, address, user, trust) changes only together with
    /// every secret that stays.
    ///
    /// # Errors
    /// `NotFound`; `Invalid`, also with `secretNeeded` at each secret that must be sent again; `Conflict`
    /// (`revisionMismatch`, `notUnique`); `Forbidden` (`exceedsOwnRights`) when webhooks would send elsewhere what the
    /// caller may not read; `Unavailable`.
    pub async fn update(
        &self,
        authorized: &Authorized<ConnectionUpdate>,
        context: &RequestContext,
        patch: ConnectionPatch,
        record: &JournalFor<'_, UpdatedConnection>,
    ) -> Result<UpdatedConnection, UseCaseError> {
        let before = self.store.get(context.tenant(), authorized.id()).await?;
        check_revision(patch.revision, before.revision)?;
        let mut after = before.clone();
        let mut problems = Problems::default();
        let secrets = apply(&mut after, patch, context, &mut problems);
        check(&mut problems, &after);
        pointed_elsewhere(&mut problems, &before, &after, &secrets);
        problems.finish()?;
        self.may_point(context, &before, &after).await?;
        let changed = changed(&before, &after, &secrets);
        if changed.is_empty() {
            // Nothing to write; an audit event of a change that was none would mislead.
            return Ok(UpdatedConnection { connection: before, changed });
        }
        after.revision = before.revision.next();
        after.updated_at = context.now();
        after.updated_by = context.user_id();
        let sealed = self.seal(&after, &secrets)?;
        let updated = UpdatedConnection { connection: after, changed };
        let journal = record(&updated).changing(Some(&before), Some(&updated.connection));
        let write = ConnectionWrite { connection: &updated.connection, sealed: &sealed };
        self.store
            .update(write, before.revision, &journal)
            .await
            .map_err(|error| name_taken(error, "connection", &updated.connection.name))?;
        Ok(updated)
    }

    /// Deletes a connection with its secrets.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`inUse` with `usedBy`, `revisionMismatch`); `Unavailable`.
    pub async fn delete(
        &self,
        authorized: &Authorized<ConnectionDelete>,
        context: &RequestContext,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let id = authorized.id();
        let journal = journal.deleting(self.store.get(context.tenant(), id).await)?;
        let deleted = match self.store.delete(context.tenant(), id, expected, &journal).await {
            Err(StoreError::Stale) => {
                let present = self.store.get(context.tenant(), id).await?;
                check_revision(expected, present.revision)?;
                Err(StoreError::Stale)
            }
            other => other,
        };
        match deleted? {
            Deleted::Now | Deleted::Before => Ok(()),
            Deleted::InUse(uses) => Err(in_use(&uses, context)),
        }
    }

    /// Calls the service with what is stored, and keeps the result. A service that fails is a result, not an error.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`secretUnreadable`); `Busy` when four tests of the organisation run; `Unavailable`.
    pub async fn test(
        &self,
        authorized: &Authorized<ConnectionTest>,
        context: &RequestContext,
        record: &JournalFor<'_, TestResult>,
    ) -> Result<TestResult, UseCaseError> {
        let (tenant, id, now) = (context.tenant(), authorized.id(), context.now());
        let _place = self.opening.begin_test(tenant)?;
        let opened = self.opening.open(tenant, id).await?;
        let message_id = format!("msg_{}", self.ids.next(now).simple());
        let ping = Ping { message_id, tenant, webhook: None, at: now };
        let tested = self.tester.test(&opened, &ping).await;
        let result = TestResult {
            ok: tested.ok,
            phase: tested.phase,
            latency_ms: tested.latency_ms,
            message: tested.message,
            tested_at: now,
        };
        self.store.tested(tenant, id, &result, &record(&result)).await?;
        Ok(result)
    }

    /// The webhooks that send over a connection, which was changed: what waits for them is worth another try.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn webhooks_over(&self, connection: &Connection) -> Result<Vec<WebhookId>, UseCaseError> {
        if connection.kind != ConnectionKind::Webhook {
            return Ok(Vec::new());
        }
        let over = self.store.subscriptions_over(connection.tenant, connection.id).await?;
        Ok(over.into_iter().map(|subscription| subscription.id).collect())
    }

    /// Opening of these connections, for work in the background.
    #[must_use]
    pub fn opening(&self) -> Opening {
        self.opening.clone()
    }

    /// Checks that a connection is pointed elsewhere only by who may read all that webhooks send over it: else a change of
    /// the connection would give what no webhook of theirs may.
    async fn may_point(
        &self,
        context: &RequestContext,
        before: &Connection,
        after: &Connection,
    ) -> Result<(), UseCaseError> {
        let targets = ConnectionType::of(after.kind).targets_changed(&before.config, &after.config);
        let (ConnectionKind::Webhook, Some(target)) = (after.kind, targets.first()) else { return Ok(()) };
        for subscription in self.store.subscriptions_over(before.tenant, before.id).await? {
            let named = subscription.workflows.as_deref();
            let kinds = self.workflows.kinds(before.tenant, named.unwrap_or_default()).await?;
            if may_send(context, named, &kinds).is_err() {
                let message = "Webhooks send events over this connection that the caller may not read.";
                let problem = Problem::at(format!("config.{target}"), "exceedsOwnRights", message);
                return Err(UseCaseError::Forbidden(problem));
            }
        }
        Ok(())
    }

    /// The secrets of a change, sealed in their places.
    fn seal(
        &self,
        connection: &Connection,
        secrets: &BTreeMap<String, Patch<Secret>>,
    ) -> Result<BTreeMap<String, Option<SealedSecret>>, UseCaseError> {
        let mut sealed = BTreeMap::new();
        for (field, patch) in secrets {
            let place =
                SecretPlace { tenant: connection.tenant, connection: connection.id, field: field.clone() };
            match patch {
                Patch::Absent => {}
                Patch::Null => {
                    sealed.insert(field.clone(), None);
                }
                Patch::Value(secret) => {
                    let form = self.sealer.seal(&place, secret).map_err(|error| unsealed(&error))?;
                    sealed.insert(field.clone(), Some(form));
                }
            }
        }
        Ok(sealed)
    }
}

fn unsealed(error: &SealError) -> UseCaseError {
    UseCaseError::Internal(error.to_string())
}

/// Applies a patch; gives the secrets that it changes.
fn apply(
    connection: &mut Connection,
    patch: ConnectionPatch,
    context: &RequestContext,
    problems: &mut Problems,
) -> BTreeMap<String, Patch<Secret>> {
    let of = ConnectionType::of(connection.kind);
    if let Some(name) = patch.name {
        connection.name = name;
    }
    connection.description = patch.description.apply_to(connection.description.take());
    connection.labels = match patch.labels {
        Patch::Absent => std::mem::take(&mut connection.labels),
        Patch::Null => BTreeMap::new(),
        Patch::Value(labels) => labels,
    };
    for (name, value) in patch.config {
        match value {
            Value::Null if of.field(&name).is_some() => {
                connection.config.remove(&name);
            }
            // An unknown member is told as such, also when it is null.
            value => {
                connection.config.insert(name, value);
            }
        }
    }
    for (name, secret) in &patch.secrets {
        match secret {
            Patch::Absent => {}
            Patch::Null if of.secret(name).is_none() => {
                let message = format!("A connection of type {} has no such secret.", connection.kind);
                problems.push(Problem::at(format!("secrets.{name}"), "unknownField", message));
            }
            Patch::Null => {
                connection.secrets.remove(name);
            }
            Patch::Value(secret) => {
                of.check_secret(problems, name, secret);
                let state = SecretState { updated_at: context.now(), hint: secret.hint() };
                connection.secrets.insert(name.clone(), state);
            }
        }
    }
    patch.secrets
}

/// Adds what is wrong with a connection as it shall be.
fn check(problems: &mut Problems, connection: &Connection) {
    heddle_usecase::name(problems, "name", &connection.name, 200);
    heddle_usecase::text(problems, "description", connection.description.as_deref(), 1_000);
    labels(problems, &connection.labels);
    let of = ConnectionType::of(connection.kind);
    of.check_config(problems, &connection.config);
    of.check_secrets(problems, &connection.config, connection.secrets.keys().map(String::as_str));
}

fn labels(problems: &mut Problems, labels: &BTreeMap<String, String>) {
    if labels.len() > LABELS {
        problems.add("labels", "tooMany", format!("At most {LABELS}."));
        return;
    }
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-');
    for (key, value) in labels {
        // A key of a megabyte is not said back.
        let field = format!("labels.{}", shortened(key));
        if !(1..=63).contains(&key.len()) || !key.bytes().all(legal) {
            let message = "A key has 1 to 63 letters of ASCII, digits, `.`, `_`, `/` and `-`.";
            problems.add(&field, "wrongFormat", message);
        }
        heddle_usecase::length(problems, &field, value, 0..=200);
        if !is_plain(value) {
            problems.add(&field, "wrongFormat", "No control characters, and none that can't be seen.");
        }
    }
}

/// Adds each secret that stays while the connection is pointed elsewhere: whoever may change a connection must not learn
/// what is sealed in it by sending it to themselves.
fn pointed_elsewhere(
    problems: &mut Problems,
    before: &Connection,
    after: &Connection,
    sent: &BTreeMap<String, Patch<Secret>>,
) {
    let targets = ConnectionType::of(after.kind).targets_changed(&before.config, &after.config);
    if targets.is_empty() {
        return;
    }
    let targets: Vec<String> = targets.iter().map(|name| format!("config.{name}")).collect();
    let stays = |name: &str| sent.get(name).is_none_or(Patch::is_absent);
    for name in before.secrets.keys().filter(|name| stays(name)) {
        let message =
            format!("`{}` changes: send the secret again, or null to take it away.", targets.join("`, `"));
        let problem = Problem::at(format!("secrets.{name}"), "secretNeeded", message);
        problems.push(problem.with("changed", json!(targets)));
    }
}

fn changed(before: &Connection, after: &Connection, sent: &BTreeMap<String, Patch<Secret>>) -> Vec<String> {
    let mut changed = BTreeSet::new();
    let members = [
        ("name", before.name == after.name),
        ("description", before.description == after.description),
        ("labels", before.labels == after.labels),
    ];
    changed.extend(members.iter().filter(|(_, same)| !same).map(|(name, _)| (*name).to_owned()));
    for name in before.config.keys().chain(after.config.keys()) {
        if before.config.get(name) != after.config.get(name) {
            changed.insert(format!("config.{name}"));
        }
    }
    for (name, secret) in sent {
        // A secret that is sent is written, also when it is the one that is there: nobody is told whether it was.
        let is_change = match secret {
            Patch::Absent => false,
            Patch::Null => before.secrets.contains_key(name),
            Patch::Value(_) => true,
        };
        if is_change {
            changed.insert(format!("secrets.{name}"));
        }
    }
    changed.into_iter().collect()
}

/// The conflict of a connection in use: webhooks that the caller may read by their names, the others by their number.
fn in_use(uses: &[Use], context: &RequestContext) -> UseCaseError {
    let snapshot = context.snapshot();
    let is_shown = |one: &&Use| {
        let id = one.id.parse::<WebhookId>().ok();
        id.is_some_and(|id| snapshot.authorize_one::<WebhookRead>(id, ()).is_ok())
    };
    let (shown, hidden): (Vec<&Use>, Vec<&Use>) = uses.iter().partition(is_shown);
    let mut used_by: Vec<Value> =
        shown.iter().map(|one| json!({ "type": one.kind, "id": one.id, "name": one.name })).collect();
    if let Some(first) = hidden.first() {
        used_by.push(json!({ "type": first.kind, "count": hidden.len() }));
    }
    let message = "The connection is in use; change or delete what uses it first.";
    UseCaseError::Conflict(vec![Problem::new("inUse", message).with("usedBy", used_by)])
}

/// The error of a name that is taken, at the member.
pub(crate) fn name_taken(error: StoreError, what: &str, name: &str) -> UseCaseError {
    match error {
        StoreError::Duplicate(columns) if columns.contains("name") => {
            let message = format!("Another {what} has the name `{name}`.");
            UseCaseError::Conflict(vec![Problem::at("name", "notUnique", message)])
        }
        other => other.into(),
    }
}
