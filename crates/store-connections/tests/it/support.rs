//! Records for tests.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_connections::ConnectionKind;
use heddle_connections::ports::{ConnectionStore, ConnectionWrite};
use heddle_connections::records::{Connection, SecretState, Webhook};
use heddle_connections::secret::SealedSecret;
use heddle_kernel::{
    ConnectionId, EventId, IdSource, PageRequest, Revision, SequentialIds, TenantId, Timestamp, UserId,
    WebhookId,
};
use heddle_store::{At, Db, Id, StoreError, read, write_tx};
use heddle_store_connections::SqlConnectionStore;
use heddle_usecase::{Actor, AuditEntry, Journal, Outcome};
use serde_json::{Value, json};

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

/// An instant, in seconds.
pub(crate) const fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_700_000_000 + seconds) * 1_000_000)
}

pub(crate) fn id<T>(make: fn(uuid::Uuid) -> T) -> T {
    make(IDS.next(at(0)))
}

pub(crate) fn page(limit: u32) -> PageRequest {
    PageRequest { limit, cursor: None }
}

/// A new organisation.
pub(crate) async fn organization(db: &Db) -> TenantId {
    let tenant = id(TenantId);
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

pub(crate) async fn delete_organization(db: &Db, tenant: TenantId) {
    let row = organizations::table.find(Id::from(tenant));
    write_tx!(db, |conn| {
        diesel::delete(row).execute(conn).await?;
        Ok(())
    })
    .unwrap();
}

#[derive(diesel::QueryableByName)]
struct Count {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    counted: i64,
}

/// Rows of a table.
pub(crate) async fn rows(db: &Db, table: &str) -> i64 {
    let statement = format!("SELECT COUNT(*) AS counted FROM {table}");
    let counted: Result<Count, StoreError> =
        read!(db, |conn| Ok(diesel::sql_query(&statement).get_result(conn).await?));
    counted.unwrap().counted
}

/// A journal whose audit event tells whether it was written.
pub(crate) fn unit(tenant: TenantId) -> Journal {
    let audit = AuditEntry {
        id: id(EventId),
        tenant: Some(tenant),
        at: at(5),
        actor: Actor::system("test"),
        action: "tested".to_owned(),
        resource_type: "connection".to_owned(),
        resource_id: None,
        target: None,
        outcome: Outcome::Succeeded,
        request_id: "r".to_owned(),
        client_ip: None,
        details: json!({}),
    };
    Journal { audit: Some(audit), ..Journal::default() }
}

pub(crate) fn connection(tenant: TenantId, name: &str) -> Connection {
    let user = id(UserId);
    let Value::Object(config) = json!({"url": "https://a.test/hook"}) else { panic!("no object") };
    let state = SecretState { updated_at: at(0), hint: Some("…a1b2".to_owned()) };
    Connection {
        tenant,
        id: id(ConnectionId),
        name: name.to_owned(),
        kind: ConnectionKind::Webhook,
        description: Some("The way to Acme".to_owned()),
        labels: BTreeMap::from([("team".to_owned(), "Orders".to_owned())]),
        config,
        secrets: BTreeMap::from([("signingSecret".to_owned(), state)]),
        revision: Revision::FIRST,
        last_test: None,
        created_at: at(0),
        created_by: user,
        updated_at: at(0),
        updated_by: user,
    }
}

pub(crate) fn sealed(key: &str, text: &str) -> SealedSecret {
    SealedSecret { key: key.to_owned(), text: text.to_owned() }
}

/// Secrets to write, by one name.
pub(crate) fn secrets(name: &str, secret: Option<SealedSecret>) -> BTreeMap<String, Option<SealedSecret>> {
    BTreeMap::from([(name.to_owned(), secret)])
}

pub(crate) async fn insert(store: &SqlConnectionStore, connection: &Connection) -> Result<(), StoreError> {
    let sealed = secrets("signingSecret", Some(sealed("k1", &format!("sealed {}", connection.name))));
    store.insert(ConnectionWrite { connection, sealed: &sealed }, 1_000, &unit(connection.tenant)).await
}

/// A connection that is there.
pub(crate) async fn inserted(store: &SqlConnectionStore, tenant: TenantId, name: &str) -> Connection {
    let connection = connection(tenant, name);
    insert(store, &connection).await.unwrap();
    connection
}

pub(crate) fn webhook(of: &Connection, name: &str) -> Webhook {
    Webhook {
        tenant: of.tenant,
        id: id(WebhookId),
        name: name.to_owned(),
        connection_id: of.id,
        event_types: vec!["run.started".to_owned()],
        workflows: None,
        paused: None,
        last_delivery: None,
        revision: Revision::FIRST,
        created_at: at(0),
        created_by: of.created_by,
        updated_at: at(0),
        updated_by: of.created_by,
    }
}
