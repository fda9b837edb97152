//! Records for tests.

use std::sync::LazyLock;

use diesel::ExpressionMethods;
use diesel_async::RunQueryDsl;
use heddle_kernel::{
    IdSource, ModelConnectionId, ModelDeploymentId, PageRequest, Revision, SequentialIds, TenantId,
    Timestamp, UserId,
};
use heddle_models::ports::{ConnectionWrite, DeploymentChange, ModelStore, Most};
use heddle_models::records::{
    Budget, BudgetPeriod, BudgetScope, CallOutcome, CallTokens, Cap, Capabilities, Capability,
    ConnectionSettings, Defaults, Deployment, DeploymentState, Limits, Memory, ModelConnection, Observed,
    Reservation, Settlement, Timeouts, UsageRow,
};
use heddle_models::types::ProviderKind;
use heddle_store::{At, Db, Id, write_tx};
use heddle_store_models::SqlModelStore;
use heddle_usecase::Journal;
use uuid::Uuid;

static IDS: LazyLock<SequentialIds> = LazyLock::new(SequentialIds::default);

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    organizations (id) {
        id -> DbUuid,
        slug -> Text,
        display_name -> Text,
        revision -> BigInt,
        created_at -> DbInstant,
        updated_at -> DbInstant,
        search -> Text,
    }
}

pub(crate) const MOST: Most = Most { own: 100, licensed: None };

/// An instant, in seconds.
pub(crate) const fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_795_000_000 + seconds) * 1_000_000)
}

pub(crate) fn uuid() -> Uuid {
    IDS.next(at(0))
}

pub(crate) fn page(limit: u32) -> PageRequest {
    PageRequest { limit, cursor: None }
}

/// A new organisation.
pub(crate) async fn organization(db: &Db) -> TenantId {
    let tenant = TenantId(uuid());
    write_tx!(db, |conn| {
        diesel::insert_into(organizations::table)
            .values((
                organizations::id.eq(Id::from(tenant)),
                organizations::slug.eq(tenant.to_string()),
                organizations::display_name.eq("Acme"),
                organizations::revision.eq(1),
                organizations::created_at.eq(At(at(0))),
                organizations::updated_at.eq(At(at(0))),
                organizations::search.eq(""),
            ))
            .execute(conn)
            .await?;
        Ok(())
    })
    .unwrap();
    tenant
}

/// A connection that was added.
pub(crate) async fn connection(store: &SqlModelStore, tenant: TenantId, name: &str) -> ModelConnection {
    connection_to(store, tenant, name, ProviderKind::Ollama).await
}

/// A connection of a type that was added.
pub(crate) async fn connection_to(
    store: &SqlModelStore,
    tenant: TenantId,
    name: &str,
    kind: ProviderKind,
) -> ModelConnection {
    let user = UserId(uuid());
    let connection = ModelConnection {
        tenant,
        id: ModelConnectionId(uuid()),
        name: name.to_owned(),
        kind,
        settings: ConnectionSettings::default(),
        api_key: None,
        timeouts: Timeouts::default(),
        limits: Limits::default(),
        enabled: true,
        revision: Revision::FIRST,
        last_test: None,
        discovered_at: None,
        created_at: at(0),
        created_by: user,
        updated_at: at(0),
        updated_by: user,
    };
    let write = ConnectionWrite { connection: &connection, sealed: None };
    store.insert_connection(write, 100, &Journal::default()).await.unwrap();
    connection
}

/// A deployment over a connection.
pub(crate) fn deployment(of: &ModelConnection, alias: &str) -> Deployment {
    Deployment {
        tenant: of.tenant,
        id: ModelDeploymentId(uuid()),
        alias: alias.to_owned(),
        connection_id: of.id,
        model: format!("model of {alias}"),
        capabilities: Capabilities::of([Capability::Chat, Capability::Tools]),
        context_length: Some(8_192),
        dimensions: None,
        defaults: Defaults::default(),
        limits: Limits {
            budget: Some(Budget { period: BudgetPeriod::Day, cost_micros: Some(5), tokens: None }),
            ..Limits::default()
        },
        timeouts: Timeouts::default(),
        fallbacks: Vec::new(),
        prices: None,
        memory: Memory::default(),
        preload: false,
        enabled: true,
        state: DeploymentState::Ready,
        state_detail: None,
        observed: Observed::default(),
        model_revision: None,
        revision: Revision::FIRST,
        created_at: at(0),
        created_by: of.created_by,
        updated_at: at(0),
        updated_by: of.created_by,
    }
}

/// Deployments that were added.
pub(crate) async fn inserted(store: &SqlModelStore, all: &[Deployment]) {
    let change = DeploymentChange { insert: all.to_vec(), ..DeploymentChange::default() };
    store.change_deployments(all[0].tenant, &change, MOST, &Journal::default()).await.unwrap();
}

/// A reservation of tokens of a deployment's budget.
pub(crate) fn reservation(of: &Deployment, most: i64, tokens: i64, from: i64) -> Reservation {
    let cap = Cap {
        scope: BudgetScope::Deployment(of.id),
        period_start: at(0),
        cost_micros: None,
        tokens: Some(most),
    };
    Reservation {
        tenant: of.tenant,
        id: uuid(),
        caps: vec![cap],
        cost_micros: 0,
        tokens,
        at: at(from),
        expires_at: at(from + 60),
    }
}

/// The end of a call.
pub(crate) fn end(of: &Deployment, tokens: i64, reservation: Option<Reservation>) -> Settlement {
    let usage = UsageRow {
        tenant: of.tenant,
        id: uuid(),
        at: at(10),
        principal: of.created_by,
        deployment: of.id,
        requested: of.id,
        connection: of.connection_id,
        workflow: None,
        request_id: "r".to_owned(),
        operation: "chat".into(),
        model_revision: None,
        tokens: CallTokens { input: tokens, output: 0, cached: 0, reasoning: 0 },
        estimated: false,
        cost_micros: 3,
        price_version: Some(1),
        first_token_ms: Some(1),
        total_ms: 2,
        attempts: 1,
        outcome: CallOutcome::Completed,
        fault: None,
    };
    Settlement { usage, reservation, journal: Journal::default() }
}
