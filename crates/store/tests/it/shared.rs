//! Audit events and idempotency keys.

use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::{EventId, TenantId, Timestamp};
use heddle_store::journal::JournalRows;
use heddle_store::schema::audit_unsealed;
use heddle_store::{Db, Id, Json, StoreError, audit, idempotency, journal, read, write_tx};
use heddle_testkit::on_both;
use heddle_usecase::{Actor, ActorKind, AuditEntry, IdempotencyRecord, Journal, Outcome};
use serde_json::json;
use uuid::Uuid;

const TENANT: TenantId = TenantId(Uuid::from_u128(7));
const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

fn entry(n: u128, tenant: Option<TenantId>) -> AuditEntry {
    AuditEntry {
        id: EventId(Uuid::from_u128(n)),
        tenant,
        at: NOW,
        actor: Actor {
            kind: ActorKind::User,
            id: Some("u".to_owned()),
            display: "Ada".to_owned(),
            credential: None,
        },
        action: "workflow.created".to_owned(),
        resource_type: "workflow".to_owned(),
        resource_id: None,
        target: None,
        outcome: Outcome::Succeeded,
        request_id: "r".to_owned(),
        client_ip: Some("::1".to_owned()),
        details: json!({"b": [1, null], "a": "ä"}),
    }
}

fn answer(body: &str, created_at: Timestamp) -> IdempotencyRecord {
    IdempotencyRecord {
        tenant: TENANT,
        operation: "createWorkflow".to_owned(),
        key: "k".to_owned(),
        body_sha256: "00".to_owned(),
        status: 201,
        body: body.as_bytes().to_vec(),
        etag: Some("1".to_owned()),
        location: Some("/k".to_owned()),
        created_at,
    }
}

async fn write(db: &Db, unit: &Journal) -> Result<(), StoreError> {
    write_tx!(db, |conn| journal::write(conn, unit).await)
}

async fn find(db: &Db, now: Timestamp) -> Option<IdempotencyRecord> {
    idempotency::find(db, TENANT, "createWorkflow", &["k".to_owned()], now).await.unwrap()
}

#[tokio::test]
async fn an_audit_event_is_kept_whole() {
    on_both!(|db| {
        write(&db, &Journal { audit: Some(entry(1, Some(TENANT))), ..Journal::default() }).await.unwrap();
        write(&db, &Journal { audit: Some(entry(2, None)), ..Journal::default() }).await.unwrap();
        let rows: Vec<(Id, String, Option<String>, Json)> = read!(&db, |conn| Ok(audit_unsealed::table
            .order(audit_unsealed::id)
            .select((
                audit_unsealed::organization_id,
                audit_unsealed::outcome,
                audit_unsealed::resource_id,
                audit_unsealed::details
            ))
            .load(conn)
            .await?))
        .unwrap();
        let details = Json(json!({"a": "ä", "b": [1, null]}));
        let row = |tenant: TenantId| (Id::from(tenant), "succeeded".to_owned(), None, details.clone());
        assert_eq!(rows, [row(TENANT), row(audit::INSTALLATION)]);
    });
}

#[tokio::test]
async fn the_first_answer_stays_until_it_expires() {
    on_both!(|db| {
        let unit = |body, at| Journal { idempotency: Some(answer(body, at)), ..Journal::default() };
        write(&db, &unit("first", NOW)).await.unwrap();
        assert_eq!(find(&db, NOW).await, Some(answer("first", NOW)));

        let second = Journal { audit: Some(entry(1, Some(TENANT))), ..unit("second", NOW.plus_seconds(60)) };
        assert_eq!(write(&db, &second).await, Err(StoreError::Duplicate("idempotency_keys.key".to_owned())));
        assert_eq!(find(&db, NOW).await, Some(answer("first", NOW)));
        let audited: i64 =
            read!(&db, |conn| Ok(audit_unsealed::table.count().get_result(conn).await?)).unwrap();
        assert_eq!(audited, 0, "the whole unit is undone");

        let later = NOW.plus_seconds(idempotency::KEPT_SECONDS);
        assert_eq!(find(&db, later).await, None);
        let third = IdempotencyRecord { etag: None, ..answer("third", later) };
        write(&db, &Journal { idempotency: Some(third.clone()), ..Journal::default() }).await.unwrap();
        assert_eq!(find(&db, later).await, Some(third));

        assert_eq!(idempotency::sweep(&db, later).await, Ok(0));
        assert_eq!(idempotency::sweep(&db, later.plus_seconds(idempotency::KEPT_SECONDS)).await, Ok(1));
    });
}

#[tokio::test]
async fn the_blocking_forms_write_the_same() {
    let test_db = heddle_testkit::db::TestDb::sqlite().await;
    let unit = Journal {
        audit: Some(entry(1, Some(TENANT))),
        idempotency: Some(answer("x", NOW)),
        ..Journal::default()
    };
    let again = unit.clone();
    test_db.db().sqlite_batch(move |conn| JournalRows::from(unit).write_blocking(conn)).await.unwrap();
    assert_eq!(find(test_db.db(), NOW).await, Some(answer("x", NOW)));
    let twice = test_db.db().sqlite_batch(move |conn| JournalRows::from(again).write_blocking(conn)).await;
    assert_eq!(
        twice.map_err(StoreError::from),
        Err(StoreError::Duplicate("idempotency_keys.key".to_owned()))
    );
    let ids: Vec<Id> = read!(test_db.db(), |conn| Ok(audit_unsealed::table
        .filter(audit_unsealed::organization_id.eq(Id::from(TENANT)))
        .select(audit_unsealed::id)
        .load(conn)
        .await?))
    .unwrap();
    assert_eq!(ids, [Id(Uuid::from_u128(1))]);
}
