//! The installation's row, set-up, the audit trail and the kept answers.

use heddle_identity::ports::{AuditEvent, AuditFilter, InstallationStore, LimitOutcome, NewUser, SetUp};
use heddle_identity::records::{InstallationState, NODE_SECONDS};
use heddle_kernel::{PageRequest, Revision, Stored, Timestamp};
use heddle_policy::AccessFilter;
use heddle_store::StoreError;
use heddle_store::schema::audit_unsealed;
use heddle_store_identity::IdentityStore;
use heddle_testkit::on_both;
use heddle_usecase::{ActorKind, IdempotencyRecord, Journal, Outcome, Target};
use uuid::Uuid;

use crate::world::*;

#[tokio::test]
async fn the_row_is_written_once_and_then_replaced() {
    on_both!(|db| {
        let store = IdentityStore::new(db.clone(), Vec::new());
        assert_eq!(store.load().await, Ok(None));
        let state = installation();
        let unborn = store.update(&state, Revision::FIRST, &Journal::default()).await;
        assert_eq!(unborn, Err(StoreError::NotFound));
        store.insert(&state, &Journal::default()).await.unwrap();
        assert_eq!(store.load().await, Ok(Some(state.clone())));
        assert_eq!(
            store.insert(&state, &journal(5)).await,
            Err(StoreError::Duplicate("installation.one".to_owned()))
        );
        let changed = InstallationState {
            revision: Revision(2),
            setup_token_sha256: None,
            licence: Some("licence".to_owned()),
            high_water_mark: Timestamp::from_micros(NOW.micros() + 1),
            ..state
        };
        store.update(&changed, Revision::FIRST, &journal(6)).await.unwrap();
        assert_eq!(store.load().await, Ok(Some(changed.clone())));
        assert_eq!(store.update(&changed, Revision::FIRST, &journal(7)).await, Err(StoreError::Stale));
        for (n, written) in [(5, false), (6, true), (7, false)] {
            assert_eq!(was_written(&store, n).await, written, "{n}");
        }
    });
}

#[tokio::test]
async fn set_up_happens_once() {
    on_both!(|db| {
        let store = world(&db).await;
        let usage = store.usage().await.unwrap();
        assert_eq!((usage.organizations, usage.users), (1, 1));
        assert!(was_written(&store, 1).await);
        let again = SetUp {
            organization: first_organization(),
            user: NewUser { user: user(BOB, ACME, "Bob"), membership: membership(ACME, BOB, &[OWNER]) },
            state: installation(),
            expected: Revision(2),
        };
        assert!(matches!(store.set_up(&again, &journal(2)).await, Err(StoreError::Duplicate(_))));
        assert!(!was_written(&store, 2).await);
    });
}

#[tokio::test]
async fn set_up_with_another_revision_writes_nothing() {
    on_both!(|db| {
        let store = IdentityStore::new(db.clone(), Vec::new());
        store.insert(&installation(), &Journal::default()).await.unwrap();
        let late = SetUp {
            organization: first_organization(),
            user: NewUser { user: user(ADA, ACME, "Ada"), membership: membership(ACME, ADA, &[OWNER]) },
            state: installation(),
            expected: Revision(9),
        };
        assert_eq!(store.set_up(&late, &Journal::default()).await, Err(StoreError::Stale));
        assert_eq!(store.usage().await.unwrap().users, 0);
    });
}

#[tokio::test]
async fn servers_are_counted_while_they_are_seen_and_refused_at_the_limit() {
    on_both!(|db| {
        let store = IdentityStore::new(db.clone(), Vec::new());
        let shared = db.postgres().is_some();
        let (one, two, three) = (Uuid::from_u128(1), Uuid::from_u128(2), Uuid::from_u128(3));
        let later = |seconds: i64| NOW.plus_seconds(seconds);
        assert_eq!(store.join(one, NOW, Some(1)).await, Ok(LimitOutcome::Done));
        assert_eq!(store.join(one, later(1), Some(1)).await, Ok(LimitOutcome::Done), "it came back");
        assert_eq!(store.nodes(later(1)).await, Ok(1));
        // A file has one server; a database that is shared has as many as come.
        let second = store.join(two, later(2), Some(1)).await;
        let wanted = if shared { LimitOutcome::LimitReached { used: 1 } } else { LimitOutcome::Done };
        assert_eq!(second, Ok(wanted));
        assert_eq!(store.nodes(later(2)).await, Ok(1));
        if shared {
            assert_eq!(store.join(two, later(3), Some(2)).await, Ok(LimitOutcome::Done));
            assert_eq!(store.join(three, later(4), None).await, Ok(LimitOutcome::Done));
            assert_eq!(store.nodes(later(4)).await, Ok(3), "a lower limit ends nothing that runs");
            store.leave(three).await.unwrap();
            store.stay(one, later(NODE_SECONDS)).await.unwrap();
            // The second was killed: in time it counts no more, and makes room.
            assert_eq!(store.nodes(later(NODE_SECONDS + 4)).await, Ok(1));
            let third = store.join(three, later(NODE_SECONDS + 4), Some(2)).await;
            assert_eq!(third, Ok(LimitOutcome::Done));
            store.stay(two, later(NODE_SECONDS + 5)).await.unwrap();
            assert_eq!(store.nodes(later(NODE_SECONDS + 5)).await, Ok(3), "it was not gone after all");
        }
    });
}

#[tokio::test]
async fn of_two_servers_that_begin_at_once_one_has_the_last_place() {
    on_both!(|db| {
        if db.postgres().is_some() {
            let store = IdentityStore::new(db.clone(), Vec::new());
            let begin = async |node: u128| store.join(Uuid::from_u128(node), NOW, Some(1)).await.unwrap();
            let (first, second) = tokio::join!(begin(1), begin(2));
            let refused = LimitOutcome::LimitReached { used: 1 };
            assert_eq!([first, second].iter().filter(|outcome| **outcome == refused).count(), 1);
        }
    });
}

#[tokio::test]
async fn an_event_with_literals_of_a_later_version_is_shown_as_it_is_beside_the_others() {
    on_both!(|db| {
        let store = IdentityStore::new(db.clone(), Vec::new());
        for n in 1..=3 {
            store.audit(&audit(n, Some(ACME), "run.started")).await.unwrap();
        }
        heddle_store::write_tx!(&db, |conn| {
            use diesel::{ExpressionMethods as _, QueryDsl as _};
            use diesel_async::RunQueryDsl as _;
            let one = audit_unsealed::resource_id.eq("2");
            diesel::update(audit_unsealed::table.filter(one))
                .set((audit_unsealed::actor_kind.eq("robot"), audit_unsealed::outcome.eq("postponed")))
                .execute(conn)
                .await?;
            Ok(())
        })
        .unwrap();
        let all = AccessFilter::everything();
        let events = store.audit_events(Some(ACME), &AuditFilter::default(), &all, &page(9)).await.unwrap();
        let shown: Vec<_> = events.items.into_iter().map(|event| (event.actor_kind, event.outcome)).collect();
        let known = (Stored::Known(ActorKind::User), Stored::Known(Outcome::Succeeded));
        let other = (Stored::Other("robot".to_owned()), Stored::Other("postponed".to_owned()));
        assert_eq!(shown, [known.clone(), other, known]);
    });
}

#[tokio::test]
async fn audit_events_are_filtered_and_paged() {
    let event = |n: &u128| event_id(NOW.plus_seconds(i64::try_from(*n).unwrap()), *n);
    let number = |event: &AuditEvent| event.id.0.as_u128() & 0xff;
    on_both!(|db| {
        let store = IdentityStore::new(db.clone(), Vec::new());
        for n in 1..=7 {
            let mut entry = audit(n, Some(ACME), if n % 2 == 0 { "run.started" } else { "workflow.created" });
            entry.at = NOW.plus_seconds(i64::try_from(n).unwrap());
            entry.id = event(&n);
            entry.outcome = if n == 7 { Outcome::Denied } else { Outcome::Succeeded };
            entry.target = (n < 3).then(|| Target { kind: "made".to_owned(), id: "5".to_owned() });
            store.audit(&entry).await.unwrap();
            if n == 4 {
                crate::chain::chain(&db).seal_all(ACME).await.unwrap();
            }
        }
        store.audit(&audit(8, Some(OTHER), "run.started")).await.unwrap();
        store.audit(&audit(9, None, "run.started")).await.unwrap();

        let everything = AccessFilter::everything();
        let some = |list: &[u128]| AccessFilter::only(list.iter().map(event));
        let but_three = AccessFilter::everything().but([event(&3)]);
        let text = |text: &str| Some(text.to_owned());
        let none = AuditFilter::default;
        let cases = [
            (none(), &everything, vec![7, 6, 5, 4, 3, 2, 1]),
            (AuditFilter { action: text("run.started"), ..none() }, &everything, vec![6, 4, 2]),
            (AuditFilter { action: text("workflow.*"), ..none() }, &everything, vec![7, 5, 3, 1]),
            (AuditFilter { action: text("r%n.*"), ..none() }, &everything, vec![]),
            (AuditFilter { action: text("run"), ..none() }, &everything, vec![]),
            (AuditFilter { actor: text(&ADA.to_string()), ..none() }, &everything, vec![7, 6, 5, 4, 3, 2, 1]),
            (AuditFilter { actor: text("x"), ..none() }, &everything, vec![]),
            (
                AuditFilter { resource_type: text("thing"), resource_id: text("3"), ..none() },
                &everything,
                vec![3],
            ),
            // A thing is found whether it was acted on or made.
            (AuditFilter { resource_id: text("5"), ..none() }, &everything, vec![5, 2, 1]),
            (AuditFilter { resource_id: text("5"), action: text("run.*"), ..none() }, &everything, vec![2]),
            (
                AuditFilter { resource_type: text("made"), resource_id: text("5"), ..none() },
                &everything,
                vec![2, 1],
            ),
            (AuditFilter { resource_id: text("5"), ..none() }, &but_three, vec![5, 2, 1]),
            (AuditFilter { resource_type: text("made"), ..none() }, &everything, vec![]),
            (AuditFilter { outcome: text("denied"), ..none() }, &everything, vec![7]),
            (
                AuditFilter { from: Some(NOW.plus_seconds(2)), to: Some(NOW.plus_seconds(4)), ..none() },
                &everything,
                vec![3, 2],
            ),
            (AuditFilter { from: Some(NOW.plus_seconds(6)), ..none() }, &everything, vec![7, 6]),
            (AuditFilter { to: Some(NOW.plus_seconds(3)), ..none() }, &everything, vec![2, 1]),
            (
                AuditFilter { from: Some(NOW.plus_seconds(2)), action: text("workflow.*"), ..none() },
                &everything,
                vec![7, 5, 3],
            ),
            (
                AuditFilter { to: Some(NOW.plus_seconds(3)), resource_id: text("5"), ..none() },
                &everything,
                vec![2, 1],
            ),
            (none(), &some(&[2, 3, 8]), vec![3, 2]),
            (none(), &but_three, vec![7, 6, 5, 4, 2, 1]),
            (none(), &AccessFilter::default(), vec![]),
        ];
        // Some have a place in the chain and some have none; then all have.
        for (place, (filter, reach, wanted)) in cases.iter().chain(&cases).enumerate() {
            if place == cases.len() {
                crate::chain::chain(&db).seal_all(ACME).await.unwrap();
            }
            let mut found = Vec::new();
            let mut request = page(2);
            loop {
                let part = store.audit_events(Some(ACME), filter, reach, &request).await.unwrap();
                found.extend(part.items.iter().map(number));
                let Some(next) = part.next else { break };
                assert_eq!(part.items.len(), 2);
                request = PageRequest { cursor: Some(next), ..request };
            }
            assert_eq!(&found, wanted, "{filter:?} {reach:?}");
        }
        let own = store.audit_events(None, &none(), &everything, &page(9)).await.unwrap();
        assert_eq!(own.items.iter().map(|event| event.id.0.as_u128()).collect::<Vec<_>>(), [9]);
        let foreign = PageRequest { limit: 2, cursor: Some(heddle_kernel::Cursor::after(&"x")) };
        assert_eq!(
            store.audit_events(Some(ACME), &none(), &everything, &foreign).await,
            Err(StoreError::InvalidCursor)
        );
    });
}

#[tokio::test]
async fn events_about_a_type_and_of_several_actions_are_found_however_usual_they_are() {
    let event = |n: u128| event_id(NOW.plus_seconds(i64::try_from(n).unwrap()), n);
    on_both!(|db| {
        let store = IdentityStore::new(db.clone(), Vec::new());
        let events = [
            ("workflow.run_started", "workflow"),
            ("workflow.updated", "workflow"),
            ("role.updated", "role"),
            // Usual by its action alone.
            ("workflow.run_started", "role"),
            ("workflow.human_task_completed", "run"),
            ("human_task.completed", "run"),
            ("access.denied", "run"),
            ("workflow.run_started", "workflow"),
        ];
        for (n, (action, kind)) in (1..).zip(events) {
            let mut entry = audit(n, Some(ACME), action);
            entry.at = NOW.plus_seconds(i64::try_from(n).unwrap());
            entry.id = event(n);
            entry.resource_type = kind.to_owned();
            store.audit(&entry).await.unwrap();
            if n == 6 {
                crate::chain::chain(&db).seal_all(ACME).await.unwrap();
            }
        }
        let text = |text: &str| Some(text.to_owned());
        let none = AuditFilter::default;
        let cases = [
            (AuditFilter { resource_type: text("workflow"), ..none() }, vec![8, 2, 1]),
            (AuditFilter { resource_type: text("role"), ..none() }, vec![4, 3]),
            (AuditFilter { resource_type: text("run"), ..none() }, vec![7, 6, 5]),
            (AuditFilter { resource_type: text("user"), ..none() }, vec![]),
            (AuditFilter { action: text("workflow.*"), ..none() }, vec![8, 5, 4, 2, 1]),
            (AuditFilter { action: text("work.*"), ..none() }, vec![]),
            (AuditFilter { action: text("workflow.*"), resource_type: text("role"), ..none() }, vec![4]),
            (AuditFilter { resource_type: text("run"), to: Some(NOW.plus_seconds(7)), ..none() }, vec![6, 5]),
            (
                AuditFilter { resource_type: text("run"), actor: text(&ADA.to_string()), ..none() },
                vec![7, 6, 5],
            ),
        ];
        // Some have a place in the chain and some have none; then all have.
        for (place, (filter, wanted)) in cases.iter().chain(&cases).enumerate() {
            if place == cases.len() {
                crate::chain::chain(&db).seal_all(ACME).await.unwrap();
            }
            let (mut found, mut request) = (Vec::new(), page(2));
            loop {
                let all = AccessFilter::everything();
                let part = store.audit_events(Some(ACME), filter, &all, &request).await.unwrap();
                found.extend(part.items.iter().map(|event| event.id.0.as_u128() & 0xff));
                let Some(next) = part.next else { break };
                request = PageRequest { cursor: Some(next), ..request };
            }
            assert_eq!(&found, wanted, "{filter:?}");
        }
    });
}

#[tokio::test]
async fn a_kept_answer_is_found_until_it_expires() {
    on_both!(|db| {
        let store = IdentityStore::new(db.clone(), Vec::new());
        let record = IdempotencyRecord {
            tenant: ACME,
            operation: "op".to_owned(),
            key: "k".to_owned(),
            body_sha256: "h".to_owned(),
            status: 201,
            body: vec![0, 255],
            etag: None,
            location: None,
            created_at: NOW,
        };
        let journal = Journal { idempotency: Some(record.clone()), ..Journal::default() };
        store.insert(&installation(), &journal).await.unwrap();
        assert_eq!(
            store.idempotent(ACME, "op", &["mine".to_owned(), "k".to_owned()], NOW).await,
            Ok(Some(record))
        );
        for (tenant, operation, key, seconds) in
            [(OTHER, "op", "k", 0), (ACME, "x", "k", 0), (ACME, "op", "x", 0), (ACME, "op", "k", 24 * 3600)]
        {
            let found =
                store.idempotent(tenant, operation, &[key.to_owned()], NOW.plus_seconds(seconds)).await;
            assert_eq!(found, Ok(None), "{operation} {key}");
        }
    });
}
