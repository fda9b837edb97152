//! Errands: lanes, leases, order, what is left behind, what is set aside, and bounds of what waits.

use std::sync::Arc;

use diesel::{ExpressionMethods as _, QueryDsl as _};
use diesel_async::{RunQueryDsl as _, SimpleAsyncConnection as _};
use heddle_kernel::{EventId, TenantId};
use heddle_policy::AccessFilter;
use heddle_store::{Db, Id, PgDb, schema, write_tx};
use heddle_store_workflows::{SqlErrandStore, SqlWorkStore};
use heddle_testkit::db::TestDb;
use heddle_testkit::on_both;
use heddle_usecase::errand::{
    AsideReason, Backlog, Claim, Errand, ErrandKind, ErrandStore, Held, Holder, Lane, MOST_TRIMMED,
    NewErrand, Settled, Settlement, Written,
};
use heddle_usecase::{Journal, StoreError};
use heddle_workflows::ports::{LetterFilter, Transaction, WorkStore};
use heddle_workflows::quotas::{QuotaSource, Quotas};
use heddle_workflows::records::{SetAsideReason, Work, WorkKind, Workflow};
use uuid::Uuid;

use crate::support::*;

const KIND: ErrandKind = ErrandKind::Webhook;

fn node(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn holder(number: u128, now: i64) -> Holder {
    Holder { node: node(number), now: at(now), until: at(now + 60) }
}

fn lane(tenant: TenantId, target: &str, line: Option<&str>) -> Lane {
    Lane { tenant, kind: KIND, target: target.to_owned(), line: line.map(str::to_owned) }
}

fn errands(lane: &Lane, count: usize) -> Vec<NewErrand> {
    let errand = |n: usize| NewErrand {
        id: id(EventId),
        lane: lane.clone(),
        workflow: None,
        run: None,
        name: format!("e{n}"),
        payload: format!("{{\"n\":{n},\"long\":\"{}\"}}", "x".repeat(2000)),
        created_at: at(0),
    };
    (0..count).map(errand).collect()
}

/// Writes errands as a commit does: with a run that begins.
async fn asked(db: &Db, of: &Workflow, errands: Vec<NewErrand>) {
    let (_, runs) = stores(db);
    let unit = Transaction { errands, ..unit_of(begin(run(of))) };
    commit(&runs, unit).await.unwrap();
}

async fn claimed(store: &SqlErrandStore, lane: &Lane, most: i64, by: Holder) -> Vec<Errand> {
    store.claim(&[Claim { lane: lane.clone(), most }], by).await.unwrap().taken
}

fn names(errands: &[Errand]) -> Vec<&str> {
    errands.iter().map(|one| one.errand.name.as_str()).collect()
}

async fn settle(store: &SqlErrandStore, errand: &Errand, by: Holder, settlement: Settlement) -> Written {
    let settled = Settled { errand: errand.clone(), settlement };
    let written = store.settle(&[settled], by.node, by.now).await.unwrap();
    assert_eq!(written.len(), 1);
    written[0]
}

async fn ready(store: &SqlErrandStore, now: i64) -> Vec<Lane> {
    store.look(KIND, at(now), None, 100).await.unwrap().ready.into_iter().map(|one| one.lane).collect()
}

async fn world(db: &Db) -> (SqlErrandStore, Workflow) {
    let (workflows, _) = stores(db);
    (SqlErrandStore::new(db.clone()), published(&workflows, tenant(), "a").await)
}

#[tokio::test]
async fn a_lane_in_order_is_one_node_s_and_waits_behind_its_first() {
    on_both!(|db| {
        let (store, flow) = world(&db).await;
        let lane = lane(flow.tenant, "c", Some("w"));
        let sent = errands(&lane, 4);
        asked(&db, &flow, sent.clone()).await;
        assert_eq!(ready(&store, 0).await, std::slice::from_ref(&lane));
        let mine = claimed(&store, &lane, 2, holder(1, 0)).await;
        assert_eq!(names(&mine), ["e0", "e1"]);
        assert_eq!(mine[0].errand, sent[0], "all of it comes back");
        // Nobody gets past the first, whoever asks.
        for by in [holder(1, 1), holder(2, 1)] {
            assert!(claimed(&store, &lane, 9, by).await.is_empty());
        }
        assert!(ready(&store, 1).await.is_empty());
        assert_eq!(store.look(KIND, at(1), None, 100).await.unwrap().next_due, Some(at(60)));
        settle(&store, &mine[0], holder(1, 1), Settlement::Done).await;
        assert!(claimed(&store, &lane, 9, holder(2, 1)).await.is_empty(), "the second is held, too");
        // The second fails and is the first now: those behind it wait for its next try.
        let later = Settlement::Later { not_before: at(30), attempts: 1 };
        settle(&store, &mine[1], holder(1, 2), later).await;
        assert!(claimed(&store, &lane, 9, holder(2, 29)).await.is_empty());
        let rest = claimed(&store, &lane, 9, holder(2, 30)).await;
        assert_eq!((names(&rest), rest[0].attempts), (vec!["e1", "e2", "e3"], 1));
        assert!(!rest[0].is_suspect);
        let held: Vec<_> = rest[1..].iter().map(Held::of).collect();
        store.release(&held, node(2), at(31)).await.unwrap();
        settle(&store, &rest[0], holder(2, 31), Settlement::Done).await;
        assert_eq!(names(&claimed(&store, &lane, 9, holder(1, 31)).await), ["e2", "e3"]);
    });
}

#[tokio::test]
async fn a_lane_without_an_order_is_shared_and_one_that_fails_holds_up_none() {
    on_both!(|db| {
        let (store, flow) = world(&db).await;
        let lane = lane(flow.tenant, "host", None);
        asked(&db, &flow, errands(&lane, 5)).await;
        let mine = claimed(&store, &lane, 2, holder(1, 0)).await;
        let others = claimed(&store, &lane, 2, holder(2, 0)).await;
        assert_eq!((mine.len(), others.len()), (2, 2));
        let later = Settlement::Later { not_before: at(500), attempts: 1 };
        settle(&store, &mine[0], holder(1, 1), later).await;
        let last = claimed(&store, &lane, 9, holder(1, 1)).await;
        let all: Vec<_> = [&mine[..], &others[..], &last[..]].concat();
        let mut told = names(&all);
        told.sort_unstable();
        assert_eq!(told, ["e0", "e1", "e2", "e3", "e4"], "each is taken once");
        assert_eq!(claimed(&store, &lane, 9, holder(1, 501)).await.len(), 5, "the leases ran out by then");
    });
}

#[tokio::test]
async fn what_is_said_under_an_old_lease_has_no_effect_and_crashes_are_counted() {
    on_both!(|db| {
        let (store, flow) = world(&db).await;
        let lane = lane(flow.tenant, "c", Some("w"));
        asked(&db, &flow, errands(&lane, 1)).await;
        let first = claimed(&store, &lane, 1, holder(1, 0)).await;
        // The process ends; the same node begins anew and is told what it left behind.
        assert_eq!(store.recover(node(1), at(5)).await, Ok(1));
        assert_eq!(store.recover(node(2), at(5)).await, Ok(0));
        let second = claimed(&store, &lane, 1, holder(2, 5)).await;
        assert_eq!((second[0].is_suspect, second[0].crashes), (true, 0), "it may have been another's fault");
        settle(&store, &first[0], holder(1, 6), Settlement::Done).await;
        assert_eq!(store.renew(&[Held::of(&first[0])], holder(1, 6)).await, Ok(Vec::new()));
        let mine = Held::of(&second[0]);
        assert_eq!(store.renew(&[mine], holder(2, 50)).await, Ok(vec![mine]));
        assert!(claimed(&store, &lane, 1, holder(1, 66)).await.is_empty(), "the lease lasts longer");
        let third = claimed(&store, &lane, 1, holder(1, 111)).await;
        assert_eq!((third[0].is_suspect, third[0].crashes), (true, 1));
        let again = Settlement::Later { not_before: at(112), attempts: 1 };
        settle(&store, &third[0], holder(1, 112), again).await;
        let fourth = claimed(&store, &lane, 1, holder(1, 112)).await;
        assert_eq!((fourth[0].is_suspect, fourth[0].crashes, fourth[0].attempts), (false, 1, 1));
    });
}

#[tokio::test]
async fn what_does_not_read_goes_and_is_told() {
    on_both!(|db| {
        let (store, flow) = world(&db).await;
        let lane = lane(flow.tenant, "c", Some("w"));
        asked(&db, &flow, errands(&lane, 2)).await;
        let first = claimed(&store, &lane, 1, holder(1, 0)).await;
        store.release(&[Held::of(&first[0])], node(1), at(0)).await.unwrap();
        write_tx!(&db, |conn| {
            let row = schema::errands::table.filter(schema::errands::id.eq(Id::from(first[0].errand.id)));
            diesel::update(row).set(schema::errands::payload.eq(vec![0xff_u8])).execute(conn).await?;
            Ok(())
        })
        .unwrap();
        let claim = Claim { lane: lane.clone(), most: 9 };
        let found = store.claim(&[claim], holder(1, 1)).await.unwrap();
        assert_eq!((names(&found.taken), found.unreadable), (vec!["e1"], vec![(lane, 1)]));
    });
}

#[tokio::test]
async fn after_a_crash_the_first_of_a_lane_alone_is_under_suspicion() {
    on_both!(|db| {
        let (store, flow) = world(&db).await;
        let lane = lane(flow.tenant, "c", Some("w"));
        asked(&db, &flow, errands(&lane, 4)).await;
        assert_eq!(claimed(&store, &lane, 3, holder(1, 0)).await.len(), 3);
        assert_eq!(store.recover(node(1), at(5)).await, Ok(3));
        let first = claimed(&store, &lane, 1, holder(1, 5)).await;
        assert!(first[0].is_suspect);
        settle(&store, &first[0], holder(1, 6), Settlement::Done).await;
        let rest = claimed(&store, &lane, 9, holder(1, 6)).await;
        let told: Vec<_> = rest.iter().map(|one| (one.errand.name.as_str(), one.is_suspect)).collect();
        assert_eq!(told, [("e1", false), ("e2", false), ("e3", false)], "they were not begun");
    });
}

#[tokio::test]
async fn an_errand_that_is_set_aside_is_a_dead_letter_that_can_be_put_back() {
    on_both!(|db| {
        let (store, flow) = world(&db).await;
        let work = SqlWorkStore::new(db.clone());
        let lane = lane(flow.tenant, "c", Some("w"));
        let mut sent = errands(&lane, 2);
        sent[0].workflow = Some(flow.id);
        asked(&db, &flow, sent.clone()).await;
        let mine = claimed(&store, &lane, 1, holder(1, 0)).await;
        let aside = Settlement::Aside {
            reason: AsideReason::Failed,
            message: "The receiver answered 500.".to_owned(),
            attempts: 11,
            crashes: 0,
        };
        // Somebody else has it by now: no letter.
        let stale = Errand { epoch: 7, ..mine[0].clone() };
        assert_eq!(settle(&store, &stale, holder(1, 1), aside.clone()).await, Written::Lost);
        assert_eq!(count(&db, "dead_letters").await, 0);
        // One without room for its letter waits in its place, and the answer says so.
        let full: Arc<dyn QuotaSource> = Arc::new(Quotas { dead_letters: 0, ..Quotas::DEFAULT });
        let full = store.clone().with_quotas(full);
        assert_eq!(settle(&full, &mine[0], holder(1, 1), aside.clone()).await, Written::Waits);
        assert!(ready(&store, 1).await.is_empty(), "those behind it wait");
        let mine = claimed(&store, &lane, 1, holder(1, 3601)).await;
        assert_eq!(names(&mine), ["e0"]);
        assert_eq!(settle(&store, &mine[0], holder(1, 3601), aside).await, Written::Settled);
        let filter = LetterFilter { kind: Some(WorkKind::Webhook), ..LetterFilter::default() };
        let letters =
            work.letters(flow.tenant, &filter, &AccessFilter::everything(), &page(9)).await.unwrap();
        let [letter] = &letters.items[..] else { panic!("{letters:?}") };
        assert_eq!((letter.reason, letter.tries.attempts), (SetAsideReason::Failed, 11));
        assert_eq!((letter.id, letter.workflow), (sent[0].id, Some(flow.id)));
        assert_eq!(letter.work, Work::Errand(Box::new(sent[0].clone())));
        // The lane goes on, and what is put back stands behind the others.
        let denied = AccessFilter::everything().but_within::<heddle_policy::resource::Workflow>([flow.id]);
        let hidden = work.letters(flow.tenant, &filter, &denied, &page(9)).await.unwrap();
        assert!(hidden.items.is_empty(), "a deny on the workflow holds for the letter");
        work.restore(letter, at(3602), &Journal::default()).await.unwrap();
        assert_eq!(work.restore(letter, at(3602), &Journal::default()).await, Err(StoreError::NotFound));
        assert_eq!(names(&claimed(&store, &lane, 9, holder(1, 3602)).await), ["e1", "e0"]);
    });
}

#[tokio::test]
async fn a_flood_in_one_lane_hides_no_other_and_is_bounded() {
    on_both!(|db| {
        let (store, flow) = world(&db).await;
        let flood = lane(flow.tenant, "slow", Some("paused"));
        asked(&db, &flow, errands(&flood, 2500)).await;
        let other = lane(flow.tenant, "fast", Some("other"));
        asked(&db, &flow, errands(&other, 1)).await;
        let first = claimed(&store, &flood, 1, holder(1, 0)).await;
        let held = Settlement::Later { not_before: at(600), attempts: 0 };
        settle(&store, &first[0], holder(1, 0), held).await;
        assert_eq!(ready(&store, 1).await, std::slice::from_ref(&other));
        // Page by page, every lane is seen once.
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let look = store.look(KIND, at(700), after, 1).await.unwrap();
            seen.extend(look.ready.into_iter().map(|one| one.lane.target));
            after = look.reached;
            if after.is_none() {
                break;
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, ["fast", "slow"]);
        store.hasten(&flood, at(2)).await.unwrap();
        assert_eq!(ready(&store, 2).await.len(), 2, "going on looks at once");
        let bound = Backlog { most: 1200, since: at(-1) };
        assert_eq!(store.trim(&flood, Some(bound)).await, Ok(1300));
        assert_eq!(names(&claimed(&store, &flood, 1, holder(1, 2)).await), ["e1300"], "the oldest went");
        let old = Backlog { most: 5000, since: at(1) };
        assert_eq!(store.trim(&flood, Some(old)).await, Ok(1199), "what is held stays");
        assert_eq!(store.trim(&other, None).await, Ok(1));
        assert_eq!(count(&db, "errands").await, 1);
    });
}

#[tokio::test]
async fn what_waits_is_bounded_in_rounds() {
    on_both!(|db| {
        let (store, flow) = world(&db).await;
        let flood = lane(flow.tenant, "slow", Some("paused"));
        let all = usize::try_from(MOST_TRIMMED).unwrap() + 1500;
        let light = errands(&flood, all).into_iter().map(|one| NewErrand { payload: "{}".to_owned(), ..one });
        asked(&db, &flow, light.collect()).await;
        assert_eq!(claimed(&store, &flood, 1, holder(1, 0)).await.len(), 1);
        // Of those that stand before the last 500 the first one is held, and stays.
        let bound = Backlog { most: 500, since: at(-1) };
        assert_eq!(store.trim(&flood, Some(bound)).await, Ok(MOST_TRIMMED), "one round");
        assert_eq!(store.trim(&flood, Some(bound)).await, Ok(999));
        assert_eq!(store.trim(&flood, Some(bound)).await, Ok(0));
        assert_eq!(count(&db, "errands").await, 501);
        assert_eq!(store.trim(&flood, None).await, Ok(500));
        assert_eq!(store.trim(&flood, None).await, Ok(0));
    });
}

#[tokio::test]
async fn what_another_node_is_at_is_hastened_when_that_ends() {
    on_both!(|db| {
        let (store, flow) = world(&db).await;
        for lane in [lane(flow.tenant, "c", Some("w")), lane(flow.tenant, "host", None)] {
            asked(&db, &flow, errands(&lane, 1)).await;
            let mine = claimed(&store, &lane, 1, holder(1, 0)).await;
            // Somebody goes on with it elsewhere, while it is being tried as it was before.
            store.hasten(&lane, at(1)).await.unwrap();
            assert!(ready(&store, 1).await.is_empty(), "it is held");
            let hour = Settlement::Later { not_before: at(3600), attempts: 0 };
            assert_eq!(settle(&store, &mine[0], holder(1, 2), hour.clone()).await, Written::Settled);
            let again = claimed(&store, &lane, 1, holder(2, 2)).await;
            assert_eq!(again.len(), 1, "nobody waits for an hour");
            // Once: the next end counts as it is said.
            settle(&store, &again[0], holder(2, 3), hour).await;
            assert!(claimed(&store, &lane, 1, holder(2, 3)).await.is_empty());
            let last = claimed(&store, &lane, 1, holder(2, 3600)).await;
            settle(&store, &last[0], holder(2, 3600), Settlement::Done).await;
        }
    });
}

/// Events of an organisation's webhook leave in the order in which they were committed, whichever node writes them first:
/// another node that is about to commit is waited for. SQLite has one writer, and no such thing.
#[tokio::test]
async fn errands_in_order_are_written_in_the_order_of_commits() {
    let Some(here) = TestDb::postgres().await else { return };
    let db = here.db();
    let Db::Postgres(other_node) = db else { panic!("not PostgreSQL") };
    let (store, flow) = world(db).await;
    let lane = lane(flow.tenant, "c", Some("w"));
    let mut both = errands(&lane, 2);
    (both[0].name, both[1].name) = ("second".to_owned(), "first".to_owned());
    let (second, first) = (both.remove(0), both.remove(0));
    let mut conn = other_node.conn().await.unwrap();
    PgDb::begin(&mut conn).await.unwrap();
    let key = flow.tenant.0.as_bytes().last_chunk::<4>().copied().map(i32::from_be_bytes).unwrap();
    conn.batch_execute(&format!("SELECT pg_advisory_xact_lock(1212502094, {key})")).await.unwrap();
    let late = tokio::spawn({
        let (db, flow) = (db.clone(), flow.clone());
        async move { asked(&db, &flow, vec![second]).await }
    });
    // An organisation without webhooks, and what nobody sends in order, waits for nobody.
    asked(db, &flow, Vec::new()).await;
    asked(db, &flow, errands(&Lane { line: None, ..lane.clone() }, 1)).await;
    let waiting = "pg_locks WHERE NOT granted AND locktype = 'advisory' AND classid = 1212502094";
    while count(db, waiting).await == 0 {
        assert!(!late.is_finished(), "the commit waits for the one before it");
    }
    heddle_store::errands::insert_row(&mut *conn, &schema::ErrandRow::of(first, at(0)).unwrap())
        .await
        .unwrap();
    PgDb::finish(&mut conn, Ok(())).await.unwrap();
    late.await.unwrap();
    assert_eq!(names(&claimed(&store, &lane, 9, holder(1, 1)).await), ["first", "second"]);
}
