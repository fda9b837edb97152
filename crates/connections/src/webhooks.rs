//! Webhooks: list, read, create, change, delete, test; and what a dispatcher of their events needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_kernel::{ConnectionId, IdSource, Page, PageRequest, Revision, TenantId, WebhookId, WorkflowId};
use heddle_policy::capability::{
    ConnectionRead, WebhookCreate, WebhookDelete, WebhookList, WebhookRead, WebhookTest, WebhookUpdate,
};
use heddle_policy::{Authorized, AuthorizedKind, AuthorizedList, RequestContext};
use heddle_usecase::{Journal, StoreError, check_revision};

use crate::manage::name_taken;
use crate::opening::Opening;
use crate::ports::{ConnectionStore, Deleted, Ping, Tester, WebhookFilter, WebhookStore, Workflows};
use crate::records::{EVERY_EVENT, OpenConnection, PauseReason, Subscription, TestResult, Webhook};
use crate::sending::may_send;
use crate::types::ConnectionKind;
use crate::{JournalFor, Problem, Problems, UseCaseError};

/// The most webhooks of an organisation: every event is held against all of them.
const MOST: u64 = 100;
/// The most workflows that a webhook names.
const WORKFLOWS: usize = 200;

/// A webhook to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWebhook {
    /// Name: 1 to 200 characters, unique in the organisation.
    pub name: String,
    /// Connection of type webhook.
    pub connection_id: ConnectionId,
    /// Types of the events, without repeats; `*` alone stands for all.
    pub event_types: Vec<String>,
    /// The workflows, and the case types, whose events are sent; none: of all workflows that there are and will be, and of no
    /// case type.
    pub workflows: Option<Vec<WorkflowId>>,
    /// Whether it begins paused.
    pub paused: bool,
}

/// A change of a webhook; what is absent stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebhookPatch {
    /// A new name.
    pub name: Option<String>,
    /// Another connection.
    pub connection_id: Option<ConnectionId>,
    /// Other types of events, all of them.
    pub event_types: Option<Vec<String>>,
    /// Other workflows and case types, all of them; null: of all workflows, and of no case type.
    pub workflows: heddle_kernel::Patch<Vec<WorkflowId>>,
    /// Whether events wait.
    pub paused: Option<bool>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

/// A changed webhook.
#[derive(Debug, Clone)]
pub struct UpdatedWebhook {
    /// The webhook as it is now.
    pub webhook: Webhook,
    /// Names of what changed.
    pub changed: Vec<&'static str>,
}

/// A webhook with its opened connection: all that a delivery needs.
#[derive(Debug, Clone)]
pub struct Receiver {
    /// The webhook.
    pub webhook: Webhook,
    /// Connection over which its events are sent.
    pub connection: OpenConnection,
}

/// The use cases of webhooks.
pub struct Webhooks {
    store: Arc<dyn WebhookStore>,
    connections: Arc<dyn ConnectionStore>,
    workflows: Arc<dyn Workflows>,
    opening: Opening,
    tester: Arc<dyn Tester>,
    ids: Arc<dyn IdSource>,
    event_types: &'static [&'static str],
}

impl std::fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhooks").finish_non_exhaustive()
    }
}

/// The ports of webhooks.
#[derive(Clone)]
pub struct Ports {
    /// Store of webhooks.
    pub webhooks: Arc<dyn WebhookStore>,
    /// Store of connections.
    pub connections: Arc<dyn ConnectionStore>,
    /// The workflows.
    pub workflows: Arc<dyn Workflows>,
    /// Sender of pings.
    pub tester: Arc<dyn Tester>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ports").finish_non_exhaustive()
    }
}

impl Webhooks {
    /// Builds the use cases on their ports. `event_types` are the types of events that there are.
    #[must_use]
    pub fn new(
        ports: Ports,
        opening: Opening,
        ids: Arc<dyn IdSource>,
        event_types: &'static [&'static str],
    ) -> Self {
        let Ports { webhooks, connections, workflows, tester } = ports;
        Self { store: webhooks, connections, workflows, opening, tester, ids, event_types }
    }

    /// A page of the webhooks that the caller may read, by name.
    ///
    /// # Errors
    /// `Invalid` for a foreign cursor, `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedList<WebhookList>,
        context: &RequestContext,
        filter: &WebhookFilter,
        page: &PageRequest,
    ) -> Result<Page<Webhook>, UseCaseError> {
        Ok(self.store.list(context.tenant(), filter, authorized.filter(), page).await?)
    }

    /// A webhook.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn get(
        &self,
        authorized: &Authorized<WebhookRead>,
        context: &RequestContext,
    ) -> Result<Webhook, UseCaseError> {
        Ok(self.store.get(context.tenant(), authorized.id()).await?)
    }

    /// Creates a webhook. It sends what its creator may read: who may not read all runs names workflows, and each must be
    /// one that they may read with its runs.
    ///
    /// # Errors
    /// `Invalid` with every member that breaks a rule; `Forbidden` (`exceedsOwnRights`); `Conflict` (`notUnique`,
    /// `quotaExceeded`); `Unavailable`.
    pub async fn create(
        &self,
        _: &AuthorizedKind<WebhookCreate>,
        context: &RequestContext,
        new: NewWebhook,
        record: &JournalFor<'_, Webhook>,
    ) -> Result<Webhook, UseCaseError> {
        let now = context.now();
        let mut webhook = Webhook {
            tenant: context.tenant(),
            id: WebhookId(self.ids.next(now)),
            name: new.name,
            connection_id: new.connection_id,
            event_types: new.event_types,
            workflows: new.workflows,
            paused: new.paused.then_some(PauseReason::Caller),
            last_delivery: None,
            revision: Revision::FIRST,
            created_at: now,
            created_by: context.user_id(),
            updated_at: now,
            updated_by: context.user_id(),
        };
        self.check(context, &webhook, None).await?;
        sort(&mut webhook);
        let journal = record(&webhook).changing(None, Some(&webhook));
        self.store.insert(&webhook, MOST, &journal).await.map_err(|error| match error {
            // What is made can lack nothing but its connection, which somebody deleted since it was looked at.
            StoreError::NotFound => UseCaseError::Invalid(vec![no_connection()]),
            other => refused(other, &webhook),
        })?;
        Ok(webhook)
    }

    /// Changes what the patch names. Whoever changes what is sent, or to whom, must be able to read all that it sends from
    /// then on.
    ///
    /// # Errors
    /// `NotFound`; as [`Self::create`]; `Conflict` (`revisionMismatch`).
    pub async fn update(
        &self,
        authorized: &Authorized<WebhookUpdate>,
        context: &RequestContext,
        patch: WebhookPatch,
        record: &JournalFor<'_, UpdatedWebhook>,
    ) -> Result<UpdatedWebhook, UseCaseError> {
        let before = self.store.get(context.tenant(), authorized.id()).await?;
        check_revision(patch.revision, before.revision)?;
        let mut after = before.clone();
        apply(&mut after, patch);
        self.check(context, &after, Some(&before)).await?;
        sort(&mut after);
        let changed = changed(&before, &after);
        if changed.is_empty() {
            return Ok(UpdatedWebhook { webhook: before, changed });
        }
        after.revision = before.revision.next();
        after.updated_at = context.now();
        after.updated_by = context.user_id();
        let updated = UpdatedWebhook { webhook: after, changed };
        let journal = record(&updated).changing(Some(&before), Some(&updated.webhook));
        self.store
            .update(&updated.webhook, before.revision, &journal)
            .await
            .map_err(|error| refused(error, &updated.webhook))?;
        Ok(updated)
    }

    /// Deletes a webhook; what waits to be sent by it is not sent.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`revisionMismatch`); `Unavailable`.
    pub async fn delete(
        &self,
        authorized: &Authorized<WebhookDelete>,
        context: &RequestContext,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let id = authorized.id();
        let journal = journal.deleting(self.store.get(context.tenant(), id).await)?;
        match self.store.delete(context.tenant(), id, expected, &journal).await {
            Err(StoreError::Stale) => {
                let present = self.store.get(context.tenant(), id).await?;
                check_revision(expected, present.revision)?;
                Err(StoreError::Stale.into())
            }
            Err(error) => Err(error.into()),
            Ok(Deleted::Now | Deleted::Before | Deleted::InUse(_)) => Ok(()),
        }
    }

    /// Sends a signed `ping` now, also when it is paused. A receiver that fails is a result, not an error; neither it nor
    /// the state of the last delivery is kept.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`secretUnreadable`); `Busy` when four tests of the organisation run; `Unavailable`.
    pub async fn test(
        &self,
        authorized: &Authorized<WebhookTest>,
        context: &RequestContext,
        record: &JournalFor<'_, TestResult>,
    ) -> Result<TestResult, UseCaseError> {
        let (tenant, id, now) = (context.tenant(), authorized.id(), context.now());
        let _place = self.opening.begin_test(tenant)?;
        let receiver = self.receiver(tenant, id).await?;
        let message_id = format!("msg_{}", self.ids.next(now).simple());
        let ping = Ping { message_id, tenant, webhook: Some(id), at: now };
        let tested = self.tester.test(&receiver.connection, &ping).await;
        let result = TestResult {
            ok: tested.ok,
            phase: tested.phase,
            latency_ms: tested.latency_ms,
            message: tested.message,
            tested_at: now,
        };
        self.store.tested(tenant, id, &record(&result)).await?;
        Ok(result)
    }

    /// A webhook with its opened connection: for deliveries.
    ///
    /// # Errors
    /// `NotFound` when it is gone; `Conflict` (`secretUnreadable`); `Unavailable`.
    pub async fn receiver(&self, tenant: TenantId, id: WebhookId) -> Result<Receiver, UseCaseError> {
        let webhook = self.store.get(tenant, id).await?;
        let connection = self.opening.open(tenant, webhook.connection_id).await?;
        Ok(Receiver { webhook, connection })
    }

    /// All webhooks of an organisation as a dispatcher must know them.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn subscriptions(&self, tenant: TenantId) -> Result<Vec<Subscription>, StoreError> {
        self.store.subscriptions(tenant).await
    }

    /// Everything that is wrong with a webhook as it shall be.
    async fn check(
        &self,
        context: &RequestContext,
        webhook: &Webhook,
        before: Option<&Webhook>,
    ) -> Result<(), UseCaseError> {
        let mut problems = Problems::default();
        heddle_usecase::name(&mut problems, "name", &webhook.name, 200);
        event_types(&mut problems, self.event_types, &webhook.event_types);
        let known = before.and_then(|before| before.workflows.as_deref()).unwrap_or_default();
        let named = webhook.workflows.as_deref();
        let mut kinds = BTreeMap::new();
        if let Some(named) = named {
            workflows(&mut problems, named);
            if named.len() <= WORKFLOWS {
                kinds = self.workflows.kinds(context.tenant(), named).await?;
                // A workflow that was deleted since may stay named; none that is not there is added.
                let is_missing = |id: &WorkflowId| !known.contains(id) && !kinds.contains_key(id);
                for (at, _) in named.iter().enumerate().filter(|(_, id)| is_missing(id)) {
                    let message = "The organisation has no such workflow or case type.";
                    problems.push(Problem::at(format!("workflows[{at}]"), "notFound", message));
                }
            }
        }
        let same_connection = before.is_some_and(|before| before.connection_id == webhook.connection_id);
        if !same_connection {
            self.check_connection(context, &mut problems, webhook.connection_id).await?;
        }
        problems.finish()?;
        let same = before.is_some_and(|before| {
            same_connection
                && before.workflows == webhook.workflows
                && before.event_types == webhook.event_types
        });
        if same { Ok(()) } else { may_send(context, named, &kinds).map_err(UseCaseError::Forbidden) }
    }

    async fn check_connection(
        &self,
        context: &RequestContext,
        problems: &mut Problems,
        id: ConnectionId,
    ) -> Result<(), UseCaseError> {
        if context.snapshot().authorize_one::<ConnectionRead>(id, ()).is_err() {
            let message = "The caller may not read the connection.";
            return Err(UseCaseError::Forbidden(Problem::at("connectionId", "exceedsOwnRights", message)));
        }
        match self.connections.get(context.tenant(), id).await {
            Ok(connection) if connection.kind == ConnectionKind::Webhook => {}
            Ok(connection) => problems.add(
                "connectionId",
                "notAllowed",
                format!("A connection of type webhook is needed; this is one of type {}.", connection.kind),
            ),
            Err(StoreError::NotFound) => {
                problems.push(no_connection());
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

fn no_connection() -> Problem {
    Problem::at("connectionId", "notFound", "The organisation has no such connection.")
}

fn event_types(problems: &mut Problems, known: &[&str], types: &[String]) {
    if types.is_empty() {
        problems.add("eventTypes", "empty", "At least one type of events is needed; `*` stands for all.");
    }
    if types.len() > known.len() + 1 {
        problems.add("eventTypes", "tooMany", "More than there are types of events.");
        return;
    }
    for (at, one) in types.iter().enumerate() {
        let field = format!("eventTypes[{at}]");
        if types.iter().take(at).any(|before| before == one) {
            problems.add(&field, "notUnique", "It stands there already.");
        } else if one == EVERY_EVENT && types.len() > 1 {
            problems.add(&field, "notAllowed", "`*` stands for all types and stands alone.");
        } else if one != EVERY_EVENT && !known.contains(&one.as_str()) {
            problems.add(&field, "unknownValue", "There is no such type of events.");
        }
    }
}

fn workflows(problems: &mut Problems, ids: &[WorkflowId]) {
    if ids.is_empty() {
        problems.add("workflows", "empty", "At least one workflow is needed; null stands for all.");
    }
    if ids.len() > WORKFLOWS {
        problems.add("workflows", "tooMany", format!("At most {WORKFLOWS}."));
        return;
    }
    for (at, id) in ids.iter().enumerate() {
        if ids.iter().take(at).any(|before| before == id) {
            problems.add(&format!("workflows[{at}]"), "notUnique", "It stands there already.");
        }
    }
}

fn apply(webhook: &mut Webhook, patch: WebhookPatch) {
    if let Some(name) = patch.name {
        webhook.name = name;
    }
    if let Some(connection) = patch.connection_id {
        webhook.connection_id = connection;
    }
    if let Some(types) = patch.event_types {
        webhook.event_types = types;
    }
    webhook.workflows = patch.workflows.apply_to(webhook.workflows.take());
    webhook.paused = match patch.paused {
        None => webhook.paused,
        Some(false) => None,
        // A pause that is there keeps its reason.
        Some(true) => webhook.paused.or(Some(PauseReason::Caller)),
    };
}

fn sort(webhook: &mut Webhook) {
    webhook.event_types.sort_unstable();
    if let Some(workflows) = &mut webhook.workflows {
        workflows.sort_unstable();
    }
}

fn changed(before: &Webhook, after: &Webhook) -> Vec<&'static str> {
    let members = [
        ("connectionId", before.connection_id == after.connection_id),
        ("eventTypes", before.event_types == after.event_types),
        ("name", before.name == after.name),
        ("paused", before.paused == after.paused),
        ("workflows", before.workflows == after.workflows),
    ];
    members.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
}

/// The error of a webhook that was not written.
fn refused(error: StoreError, webhook: &Webhook) -> UseCaseError {
    match error {
        StoreError::Duplicate(_) => name_taken(error, "webhook", &webhook.name),
        other => other.into(),
    }
}
