//! The chain of audit events on real databases: what is sealed verifies, and whatever is done to it is named.

use std::sync::Arc;

use diesel::QueryDsl as _;
use heddle_identity::InstallationKey;
use heddle_identity::audit_chain::{AuditChain, Part, SEALED_AT_ONCE, Verification};
use heddle_identity::chain::{Checkpoint, FaultReason, INSTALLATION_TRAIL};
use heddle_identity::ports::{AuditChainStore as _, AuditFilter, InstallationStore as _};
use heddle_kernel::{FixedClock, Timestamp};
use heddle_policy::AccessFilter;
use heddle_store::Db;
use heddle_store::schema::audit_unsealed;
use heddle_store_identity::IdentityStore;
use heddle_testkit::on_both;

use crate::world::*;

/// The whole of a chain.
const ALL: Part = Part { after: 0, most: u64::MAX };

pub(crate) fn chain(db: &Db) -> AuditChain {
    let store = Arc::new(IdentityStore::new(db.clone(), Vec::new()));
    let key = InstallationKey::new([3; 32]).unwrap();
    AuditChain::new(store, &key, Arc::new(FixedClock::at(NOW))).unwrap()
}

pub(crate) async fn sql(db: &Db, text: &str) {
    heddle_store::write_tx!(db, |conn| {
        use diesel_async::SimpleAsyncConnection as _;
        Ok(conn.batch_execute(text).await?)
    })
    .unwrap_or_else(|error| panic!("{text}: {error}"));
}

/// Events of an organisation, sealed.
async fn sealed(db: &Db, chain: &AuditChain, events: u128) {
    let store = IdentityStore::new(db.clone(), Vec::new());
    for n in 1..=events {
        store.audit(&audit(n, Some(ACME), "run.started")).await.unwrap();
    }
    chain.seal_all(ACME).await.unwrap();
}

async fn fault(chain: &AuditChain, anchor: Option<&Checkpoint>) -> Option<(i64, FaultReason)> {
    let found = chain.verify(ACME, ALL, anchor).await.unwrap();
    found.fault.map(|fault| (fault.sequence, fault.reason))
}

#[tokio::test]
async fn every_event_gets_a_place_once_whichever_comes_first() {
    on_both!(|db| {
        let (one, other) = (chain(&db), chain(&db));
        let store = IdentityStore::new(db.clone(), Vec::new());
        // The later id is committed first, and sealed before the earlier one comes.
        store.audit(&audit(9, Some(ACME), "run.started")).await.unwrap();
        one.seal_all(ACME).await.unwrap();
        store.audit(&audit(4, Some(ACME), "run.started")).await.unwrap();
        store.audit(&audit(5, None, "licence.installed")).await.unwrap();
        assert_eq!(one.unsealed_trail(None).await.unwrap(), Some(INSTALLATION_TRAIL));
        assert_eq!(one.unsealed_trail(Some(INSTALLATION_TRAIL)).await.unwrap(), Some(ACME));
        // Two servers at once.
        let (first, second) = tokio::join!(one.seal(ACME), other.seal(ACME));
        assert_eq!(first.unwrap().0 + second.unwrap().0, 1);
        one.seal_all(INSTALLATION_TRAIL).await.unwrap();
        assert_eq!(one.unsealed_trail(None).await.unwrap(), None);
        let rows = store.sealed(ACME, 0, 9).await.unwrap();
        let places: Vec<_> = rows.iter().map(|row| (row.id.0.as_u128(), row.sequence)).collect();
        assert_eq!(places, [(9, Some(1)), (4, Some(2))]);
        for trail in [ACME, INSTALLATION_TRAIL] {
            let found = other.verify(trail, ALL, None).await.unwrap();
            assert_eq!((found.fault, found.unsealed, found.is_more), (None, 0, false));
            assert_eq!(found.head.map(|head| head.statement.sequence), Some(found.through));
        }
    });
}

#[tokio::test]
async fn an_event_that_is_written_again_keeps_its_place_and_holds_nobody_up() {
    on_both!(|db| {
        let chain = chain(&db);
        sealed(&db, &chain, 2).await;
        let store = IdentityStore::new(db.clone(), Vec::new());
        for n in [2, 3] {
            store.audit(&audit(n, Some(ACME), "run.started")).await.unwrap();
        }
        let all = AccessFilter::everything();
        let listed = store.audit_events(Some(ACME), &AuditFilter::default(), &all, &page(9)).await.unwrap();
        let ids: Vec<_> = listed.items.iter().map(|event| event.id.0.as_u128()).collect();
        assert_eq!(ids, [3, 2, 1], "each once, with a place or without");
        assert_eq!(chain.seal(ACME).await.unwrap().0, 0);
        assert_eq!(chain.seal(ACME).await.unwrap().0, 1);
        let found = chain.verify(ACME, ALL, None).await.unwrap();
        assert_eq!((found.fault, found.checked, found.unsealed), (None, 3, 0));
    });
}

#[tokio::test]
async fn a_chain_is_verified_part_by_part() {
    on_both!(|db| {
        let chain = chain(&db);
        sealed(&db, &chain, 7).await;
        let (mut after, mut parts) = (0, Vec::new());
        loop {
            let found: Verification = chain.verify(ACME, Part { after, most: 3 }, None).await.unwrap();
            assert_eq!(found.fault, None);
            parts.push((found.after, found.through, found.checked));
            after = found.through;
            if !found.is_more {
                break;
            }
        }
        assert_eq!(parts, [(0, 3, 3), (3, 6, 3), (6, 7, 1)]);
        assert!(chain.verify(ACME, Part { after: 8, most: 3 }, None).await.is_err(), "there is no record 8");
        sql(&db, "UPDATE audit_events SET outcome = 'denied' WHERE sequence = 5").await;
        let found = chain.verify(ACME, Part { after: 3, most: 3 }, None).await.unwrap();
        assert_eq!((found.through, found.fault.map(|fault| fault.sequence)), (4, Some(5)));
        assert_eq!(chain.verify(ACME, Part { after: 5, most: 3 }, None).await.unwrap().fault, None);
    });
}

#[tokio::test]
async fn whatever_is_done_to_a_stored_chain_is_named() {
    on_both!(|db| {
        let chain = chain(&db);
        sealed(&db, &chain, 6).await;
        let store = IdentityStore::new(db.clone(), Vec::new());
        let anchor = store.head(ACME).await.unwrap().unwrap();
        sql(&db, "CREATE TABLE kept_events AS SELECT * FROM audit_events").await;
        sql(&db, "CREATE TABLE kept_checkpoints AS SELECT * FROM audit_checkpoints").await;
        let is_sqlite = db.postgres().is_none();
        let either = |sqlite: &'static str, postgres: &'static str| if is_sqlite { sqlite } else { postgres };
        let nothing = either("zeroblob(16)", "'00000000-0000-0000-0000-000000000063'");
        let flip = |column: &str, value: &str| {
            format!("UPDATE audit_events SET {column} = {value} WHERE sequence = 3")
        };
        use FaultReason::{Changed, Forged, Missing, Truncated, Unsigned};
        let mut cases = vec![
            (flip("id", nothing), (3, Changed)),
            (flip("organization_id", nothing), (3, Missing)),
            (flip("at", either("at + 1", "at + interval '1 microsecond'")), (3, Changed)),
            (flip("details", "'{\"more\":1}'"), (3, Changed)),
            (flip("hash", either("zeroblob(32)", "decode(repeat('00', 32), 'hex')")), (3, Changed)),
            (flip("hash", either("zeroblob(1)", "'\\x00'")), (3, Changed)),
            (flip("sequence", "70"), (3, Missing)),
            ("DELETE FROM audit_events WHERE sequence = 1".to_owned(), (1, Missing)),
            ("DELETE FROM audit_events WHERE sequence = 4".to_owned(), (4, Missing)),
            ("DELETE FROM audit_events WHERE sequence >= 5".to_owned(), (5, Truncated)),
            (
                "UPDATE audit_events SET sequence = 99 WHERE sequence = 2; \
                 UPDATE audit_events SET sequence = 2 WHERE sequence = 4; \
                 UPDATE audit_events SET sequence = 4 WHERE sequence = 99"
                    .to_owned(),
                (2, Changed),
            ),
            // The end with its checkpoint: the anchor knows.
            (
                "DELETE FROM audit_events WHERE sequence >= 4; DELETE FROM audit_checkpoints".to_owned(),
                (4, Truncated),
            ),
            ("DELETE FROM audit_events; DELETE FROM audit_checkpoints".to_owned(), (1, Truncated)),
            ("UPDATE audit_checkpoints SET sequence = 5".to_owned(), (5, Forged)),
            ("UPDATE audit_checkpoints SET key_id = 'other'".to_owned(), (6, Forged)),
            ("DELETE FROM audit_checkpoints".to_owned(), (6, Unsigned)),
        ];
        for column in [
            "actor_kind",
            "actor_id",
            "actor_display",
            "actor_credential",
            "action",
            "resource_type",
            "resource_id",
            "target_type",
            "target_id",
            "outcome",
            "request_id",
            "client_ip",
        ] {
            cases.push((flip(column, "'another'"), (3, Changed)));
        }
        if is_sqlite {
            cases.push((flip("details", "'no JSON'"), (3, FaultReason::Unreadable)));
            cases.push((flip("id", "zeroblob(3)"), (3, FaultReason::Unreadable)));
        }
        assert_eq!(fault(&chain, Some(&anchor)).await, None);
        for (change, expected) in cases {
            sql(&db, &change).await;
            let found = fault(&chain, Some(&anchor)).await;
            assert_eq!(found, Some(expected), "{change}");
            sql(
                &db,
                "DELETE FROM audit_events; INSERT INTO audit_events SELECT * FROM kept_events; \
                 DELETE FROM audit_checkpoints; INSERT INTO audit_checkpoints SELECT * FROM kept_checkpoints",
            )
            .await;
        }
        assert_eq!(fault(&chain, Some(&anchor)).await, None);
    });
}

#[tokio::test]
async fn a_record_before_the_beginning_is_named() {
    on_both!(|db| {
        let chain = chain(&db);
        sealed(&db, &chain, 3).await;
        for sequence in [0, -7] {
            // Into the chain past whoever seals: the last record once more, under another id and number.
            let id = if db.postgres().is_none() { "randomblob(16)" } else { "gen_random_uuid()" };
            sql(
                &db,
                &format!(
                    "CREATE TABLE one_more AS SELECT * FROM audit_events WHERE sequence = 3; \
                     UPDATE one_more SET id = {id}, sequence = {sequence}; \
                     INSERT INTO audit_events SELECT * FROM one_more; DROP TABLE one_more"
                ),
            )
            .await;
            assert_eq!(fault(&chain, None).await, Some((sequence, FaultReason::Misplaced)));
            sql(&db, "DELETE FROM audit_events WHERE sequence <= 0").await;
            assert_eq!(fault(&chain, None).await, None);
        }
    });
}

#[tokio::test]
async fn what_somebody_else_put_at_the_end_is_not_signed() {
    on_both!(|db| {
        let chain = chain(&db);
        sealed(&db, &chain, 3).await;
        let store = IdentityStore::new(db.clone(), Vec::new());
        store.audit(&audit(9, Some(ACME), "run.started")).await.unwrap();
        sql(&db, "CREATE TABLE kept_events AS SELECT * FROM audit_events").await;
        sql(&db, "CREATE TABLE kept_checkpoints AS SELECT * FROM audit_checkpoints").await;
        let zeros = if db.postgres().is_none() { "zeroblob(32)" } else { "decode(repeat('00', 32), 'hex')" };
        let cases = [
            (format!("UPDATE audit_checkpoints SET hash = {zeros}"), (3, FaultReason::Forged)),
            (format!("UPDATE audit_events SET hash = {zeros} WHERE sequence = 3"), (3, FaultReason::Changed)),
            ("DELETE FROM audit_events WHERE sequence = 3".to_owned(), (3, FaultReason::Truncated)),
            ("DELETE FROM audit_checkpoints".to_owned(), (1, FaultReason::Unsigned)),
        ];
        for (change, expected) in cases {
            sql(&db, &change).await;
            assert!(chain.seal(ACME).await.is_err(), "{change}");
            assert_eq!(fault(&chain, None).await, Some(expected), "{change}");
            sql(
                &db,
                "DELETE FROM audit_events; INSERT INTO audit_events SELECT * FROM kept_events; \
                 DELETE FROM audit_checkpoints; INSERT INTO audit_checkpoints SELECT * FROM kept_checkpoints",
            )
            .await;
        }
        // The place that comes next.
        let id = if db.postgres().is_none() { "randomblob(16)" } else { "gen_random_uuid()" };
        sql(
            &db,
            &format!(
                "CREATE TABLE one_more AS SELECT * FROM audit_events WHERE sequence = 3; \
                 UPDATE one_more SET id = {id}, sequence = 4; \
                 INSERT INTO audit_events SELECT * FROM one_more; DROP TABLE one_more"
            ),
        )
        .await;
        assert!(chain.seal(ACME).await.is_err(), "it is told that it is taken");
        sql(&db, "DELETE FROM audit_events WHERE sequence = 4").await;
        assert_eq!(chain.seal(ACME).await.unwrap().0, 1, "as it was, it goes on");
        assert_eq!(fault(&chain, None).await, None);
    });
}

#[tokio::test]
async fn an_event_that_cannot_be_read_hides_no_other_and_has_its_place() {
    on_both!(|db| {
        if db.postgres().is_none() {
            let chain = chain(&db);
            let store = IdentityStore::new(db.clone(), Vec::new());
            for n in 1..=3 {
                store.audit(&audit(n, Some(ACME), "run.started")).await.unwrap();
            }
            sql(&db, "UPDATE audit_unsealed SET details = 'no JSON' WHERE resource_id = '2'").await;
            let all = AccessFilter::everything();
            let found =
                store.audit_events(Some(ACME), &AuditFilter::default(), &all, &page(9)).await.unwrap();
            let told: Vec<_> =
                found.items.iter().map(|event| (event.id.0.as_u128(), event.unreadable.is_some())).collect();
            assert_eq!(told, [(3, false), (2, true), (1, false)]);
            chain.seal_all(ACME).await.unwrap();
            assert_eq!(fault(&chain, None).await, None);
            // Whoever mends it afterwards changes what was sealed.
            sql(&db, "UPDATE audit_events SET details = '{}' WHERE resource_id = '2'").await;
            assert_eq!(fault(&chain, None).await, Some((2, FaultReason::Changed)));
        }
    });
}

#[tokio::test]
async fn what_is_over_is_dropped_behind_a_signed_checkpoint() {
    on_both!(|db| {
        let chain = chain(&db);
        let store = IdentityStore::new(db.clone(), Vec::new());
        sealed(&db, &chain, 4).await;
        let later = |n: i64| Timestamp::from_micros(NOW.micros() + n);
        for n in 5..=6 {
            let mut entry = audit(n, Some(ACME), "run.started");
            entry.at = later(10);
            store.audit(&entry).await.unwrap();
        }
        chain.seal_all(ACME).await.unwrap();
        assert_eq!(chain.drop_before(ACME, NOW).await.unwrap(), 0, "none is older");
        assert_eq!(chain.drop_before(ACME, later(5)).await.unwrap(), 4);
        assert_eq!(chain.drop_before(ACME, later(5)).await.unwrap(), 0);
        let found = chain.verify(ACME, ALL, None).await.unwrap();
        assert_eq!((found.fault, found.after, found.through, found.checked), (None, 4, 6, 2));
        assert_eq!(found.dropped.map(|dropped| dropped.statement.dropped), Some(4));
        // A further record at the beginning is no end of its time.
        sql(&db, "DELETE FROM audit_events WHERE sequence = 5").await;
        assert_eq!(fault(&chain, None).await, Some((5, FaultReason::Missing)));
        assert!(chain.drop_before(ACME, later(20)).await.is_err(), "what does not verify is not dropped");
        // All may go; the chain goes on behind.
        let fresh = self::chain(&db);
        sealed_anew(&db, &fresh).await;
    });
}

/// A chain of which everything was dropped goes on.
async fn sealed_anew(db: &Db, chain: &AuditChain) {
    let store = IdentityStore::new(db.clone(), Vec::new());
    store.audit(&audit(70, Some(OTHER), "run.started")).await.unwrap();
    chain.seal_all(OTHER).await.unwrap();
    assert_eq!(chain.drop_before(OTHER, Timestamp::from_micros(NOW.micros() + 1)).await.unwrap(), 1);
    let found = chain.verify(OTHER, ALL, None).await.unwrap();
    assert_eq!((found.fault, found.after, found.checked), (None, 1, 0));
    store.audit(&audit(71, Some(OTHER), "run.started")).await.unwrap();
    chain.seal_all(OTHER).await.unwrap();
    let found = chain.verify(OTHER, ALL, None).await.unwrap();
    assert_eq!((found.fault, found.after, found.through), (None, 1, 2));
}

#[tokio::test]
async fn events_of_before_are_sealed_in_batches_with_few_checkpoints() {
    on_both!(|db| {
        let chain = chain(&db);
        let store = IdentityStore::new(db.clone(), Vec::new());
        let many = u128::try_from(SEALED_AT_ONCE).unwrap() + 20;
        for n in 1..=many {
            store.audit(&audit(n, Some(ACME), "run.started")).await.unwrap();
        }
        assert_eq!(chain.seal(ACME).await.unwrap().0, SEALED_AT_ONCE);
        assert_eq!(chain.seal(ACME).await.unwrap().0, 20);
        assert_eq!(chain.seal(ACME).await.unwrap().0, 0);
        let found = chain.verify(ACME, ALL, None).await.unwrap();
        assert_eq!((found.fault, found.checked), (None, u64::try_from(many).unwrap()));
        let kept = store.checkpoints(ACME, 0, i64::MAX).await.unwrap();
        assert_eq!(kept.len(), 1, "of a thousand records the newest checkpoint stays");
    });
}

/// SQLite's planner is told how large tables are: left to itself it went through all events of an organisation at each sealing,
/// and through all of its subscriptions for each event that is waited for.
#[tokio::test]
async fn sqlite_looks_where_the_few_are_that_are_asked_for() {
    on_both!(|db| {
        if db.sqlite().is_none() {
            return;
        }
        for (query, wanted) in [
            (
                "SELECT * FROM audit_events WHERE organization_id = ? AND sequence > ? ORDER BY sequence LIMIT ?",
                "audit_events_by_sequence (organization_id=? AND sequence>?)",
            ),
            (
                "SELECT * FROM audit_events WHERE organization_id = ? AND action = ? AND id < ? ORDER BY id DESC LIMIT ?",
                "audit_events_by_action (organization_id=? AND action=? AND id<?)",
            ),
            (
                "SELECT * FROM audit_events WHERE organization_id = ? AND actor_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
                "audit_events_by_actor (organization_id=? AND actor_id=? AND id<?)",
            ),
            (
                "SELECT * FROM audit_events WHERE organization_id = ? AND resource_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
                "audit_events_by_resource (organization_id=? AND resource_id=? AND id<?)",
            ),
            (
                "SELECT * FROM audit_events WHERE organization_id = ? AND target_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
                "audit_events_by_target (organization_id=? AND target_id=? AND id<?)",
            ),
            (
                "SELECT run_id, subscription_id FROM run_subscriptions WHERE organization_id = ? AND kind = ? AND name = ? ORDER BY run_id, subscription_id",
                "run_subscriptions_by_name (organization_id=? AND kind=? AND name=?)",
            ),
            (
                "SELECT * FROM run_subscriptions WHERE organization_id = ? AND kind = ? AND name = ? AND correlation_key IS NULL",
                "run_subscriptions_by_name (organization_id=? AND kind=? AND name=? AND correlation_key=?)",
            ),
            (
                "SELECT * FROM members WHERE organization_id = ? AND user_id = ?",
                "(organization_id=? AND user_id=?)",
            ),
            (
                "SELECT * FROM workflow_sources WHERE organization_id = ? AND sha256 = ?",
                "workflow_sources_by_source",
            ),
        ] {
            let plan: Vec<Step> = heddle_store::read!(&db, |conn| {
                let explained = diesel::sql_query(format!("EXPLAIN QUERY PLAN {query}"));
                Ok(diesel_async::RunQueryDsl::load(explained, conn).await?)
            })
            .unwrap();
            let first = plan.first().map_or("", |step| step.detail.as_str());
            assert!(first.starts_with("SEARCH") && first.contains(wanted), "{query}: {first}");
        }
    });
}

#[derive(diesel::QueryableByName)]
struct Step {
    #[diesel(sql_type = diesel::sql_types::Text)]
    detail: String,
}

#[test]
fn every_column_moves_with_an_event() {
    let all = audit_unsealed::table.select(audit_unsealed::all_columns);
    let text = diesel::debug_query::<diesel::sqlite::Sqlite, _>(&all).to_string();
    let moved = heddle_store_identity::MOVED.map(|column| format!("`audit_unsealed`.`{column}`")).join(", ");
    assert!(text.starts_with(&format!("SELECT {moved} FROM")), "{text}");
}
