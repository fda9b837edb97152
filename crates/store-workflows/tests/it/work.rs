//! Background work: who may be tried, marks, setbacks, and dead letters.

use heddle_kernel::{CaseId, CaseTypeId, DefinitionKind, EventId, TenantId};
use heddle_policy::{AccessFilter, resource};
use heddle_store::Db;
use heddle_store_workflows::SqlWorkStore;
use heddle_testkit::on_both;
use heddle_usecase::{Journal, StoreError};
use heddle_workflows::ports::{LetterFilter, Queue, RunStore, RunWrite, Transaction, Turn, WorkStore};
use heddle_workflows::records::{
    BindingKind, DeadLetter, InboxEvent, MarkedWork, Outgoing, Run, SetAsideReason, Setback, Tries, Work,
    WorkKind, WorkMark, Workflow,
};

use crate::commit::thrown;
use crate::inbox::receive;
use crate::support::*;

const TRIES: Tries = Tries { attempts: 2, crashes: 1 };

fn later(work: &Work, seconds: i64) -> Setback {
    Setback::Later { work: work.clone(), tries: TRIES, not_before: at(seconds) }
}

fn letter(work: Work) -> DeadLetter {
    DeadLetter {
        instance_kind: DefinitionKind::Workflow,
        tenant: work.tenant(),
        id: id(EventId),
        reason: SetAsideReason::Failed,
        message: "why".to_owned(),
        tries: TRIES,
        workflow: work.workflow(),
        run: work.run(),
        created_at: at(7),
        work,
    }
}

/// A run that threw so many messages.
async fn throwing(runs: &impl RunStore, flow: &Workflow, count: usize) -> (Run, Vec<Outgoing>) {
    let from = run(flow);
    let sent: Vec<_> = (0..count).map(|_| thrown(&from, "m")).collect();
    let write = RunWrite { outgoing: sent.clone(), ..begin(from.clone()) };
    commit(runs, unit_of(write)).await.unwrap();
    (from, sent)
}

/// One piece of each queue: message, timer, timer start, and kept event; and the workflow.
async fn one_of_each(db: &Db) -> (Workflow, Vec<(Queue, Work)>) {
    let (workflows, runs) = stores(db);
    let flow = published(&workflows, tenant(), "a").await;
    let mut slot = binding(&flow, BindingKind::Timer, "");
    slot.next_due_at = Some(at(0));
    let flow = bind(&workflows, &flow, std::slice::from_ref(&slot)).await;
    let from = run(&flow);
    let sent = thrown(&from, "m");
    let write = RunWrite {
        outgoing: vec![sent.clone()],
        timers_added: vec![timer("t", at(0))],
        subscriptions_added: vec![subscription(BindingKind::Message, "paid", Some("k"))],
        ..begin(from)
    };
    commit(&runs, unit_of(write)).await.unwrap();
    let kept = InboxEvent { expires_at: None, ..event(flow.tenant, "e") };
    receive(&runs, kept.clone()).await;
    let mut all = Vec::new();
    for queue in Queue::ALL {
        let [one] = &pending(db, *queue, 0, 9).await[..] else { panic!("{queue}") };
        assert_eq!(one.tries, Tries::default());
        all.push((*queue, one.work.clone()));
    }
    assert_eq!(all[0].1, Work::Thrown(sent));
    assert_eq!(all[3].1, Work::Kept(kept));
    (flow, all)
}

#[tokio::test]
async fn a_row_that_cannot_be_read_stops_none_behind_it_and_hides_nothing_that_is_due() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (_, sent) = throwing(&runs, &flow, 2).await;
        execute(&db, "UPDATE outbox SET payload = substr(payload, 2)").await;
        let work = SqlWorkStore::new(db.clone());
        let (_, whole) = throwing(&runs, &flow, 1).await;
        let found = pending(&db, Queue::Outbox, 9, 9).await;
        assert_eq!(
            found.into_iter().map(|one| one.work).collect::<Vec<_>>(),
            [Work::Thrown(whole[0].clone())]
        );
        work.record(vec![later(&Work::Thrown(whole[0].clone()), 5)]).await.unwrap();
        // Two that were due long before are there still.
        assert_eq!(work.next_due(Queue::Outbox, at(1)).await.unwrap(), Some(at(5)));
        assert_eq!(count(&db, "outbox").await, sent.len() as i64 + 1);
    });
}

#[tokio::test]
async fn what_failed_waits_for_its_time_and_keeps_its_tries() {
    on_both!(|db| {
        let work = SqlWorkStore::new(db.clone());
        let (_, all) = one_of_each(&db).await;
        work.record(all.iter().map(|(_, work)| later(work, 5)).collect()).await.unwrap();
        for (queue, piece) in &all {
            assert!(pending(&db, *queue, 4, 9).await.is_empty(), "{queue}");
            assert_eq!(work.next_due(*queue, at(4)).await.unwrap(), Some(at(5)), "{queue}");
            let [again] = &pending(&db, *queue, 5, 9).await[..] else { panic!("{queue}") };
            assert_eq!((again.work.key(), again.tries), (piece.key(), TRIES), "{queue}");
            assert_eq!(work.find(&piece.key()).await.unwrap().map(|one| one.tries), Some(TRIES), "{queue}");
        }
    });
}

#[tokio::test]
async fn what_is_set_aside_becomes_a_letter_once_and_is_put_back_as_new() {
    on_both!(|db| {
        let work = SqlWorkStore::new(db.clone());
        let (flow, all) = one_of_each(&db).await;
        let (filter, everything) = (LetterFilter::default(), AccessFilter::everything());
        let listed = async || work.letters(flow.tenant, &filter, &everything, &page(9)).await.unwrap().items;
        for (queue, piece) in &all {
            let aside = letter(piece.clone());
            work.record(vec![Setback::Aside(Box::new(aside.clone()))]).await.unwrap();
            assert!(pending(&db, *queue, 99, 9).await.is_empty(), "{queue}");
            let [read] = &listed().await[..] else { panic!("{queue}") };
            assert_eq!((read.workflow, &read.work), (Some(flow.id), piece), "its workflow is known");
            assert_eq!((read.tries, read.reason, read.created_at), (TRIES, SetAsideReason::Failed, at(7)));
            assert_eq!(work.letter(flow.tenant, aside.id).await.unwrap(), *read);
            assert_eq!(work.letter(tenant(), aside.id).await, Err(StoreError::NotFound));

            let unit = unit(flow.tenant, at(8));
            work.restore(read, at(50), &unit).await.unwrap();
            assert!(listed().await.is_empty(), "{queue}");
            let [again] = &pending(&db, *queue, 50, 9).await[..] else { panic!("{queue}") };
            assert_eq!((again.work.key(), again.tries), (piece.key(), Tries::default()), "{queue}");
            assert_eq!(work.restore(read, at(50), &unit).await, Err(StoreError::NotFound), "{queue}");
        }
        // A row that is gone makes no letter.
        let gone = letter(Work::Thrown(Outgoing { id: id(EventId), ..thrown(&run(&flow), "m") }));
        work.record(vec![Setback::Aside(Box::new(gone))]).await.unwrap();
        assert!(listed().await.is_empty());
    });
}

#[tokio::test]
async fn a_letter_whose_place_is_taken_or_gone_stays() {
    on_both!(|db| {
        let (_, runs) = stores(&db);
        let work = SqlWorkStore::new(db.clone());
        let (flow, all) = one_of_each(&db).await;
        let timer = all[1].1.clone();
        let aside = letter(timer);
        work.record(vec![Setback::Aside(Box::new(aside.clone()))]).await.unwrap();
        let run = runs.load_any(flow.tenant, aside.run.unwrap()).await.unwrap();
        let over = step(&run);
        let over = RunWrite { run: Run { ended_at: Some(at(9)), ..over.run }, ..over };
        commit(&runs, unit_of(over)).await.unwrap();
        assert_eq!(work.restore(&aside, at(9), &Journal::default()).await, Err(StoreError::Stale));
        assert!(work.letter(flow.tenant, aside.id).await.is_ok());
        work.discard(flow.tenant, aside.id, &unit(flow.tenant, at(9))).await.unwrap();
        let again = work.discard(flow.tenant, aside.id, &Journal::default()).await;
        assert_eq!(again, Err(StoreError::NotFound));
    });
}

#[tokio::test]
async fn letters_are_written_and_settled_with_a_unit() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let work = SqlWorkStore::new(db.clone());
        let flow = published(&workflows, tenant(), "a").await;
        let aside = letter(Work::Thrown(thrown(&run(&flow), "m")));
        let unit = |letters, settled| Transaction { letters, settled, ..unit_of(begin(run(&flow))) };
        commit(&runs, unit(vec![aside.clone()], None)).await.unwrap();
        assert_eq!(work.letter(flow.tenant, aside.id).await.unwrap().work, aside.work);
        commit(&runs, unit(Vec::new(), Some(aside.id))).await.unwrap();
        assert_eq!(commit(&runs, unit(Vec::new(), Some(aside.id))).await, Err(StoreError::Stale));
        let foreign = DeadLetter { tenant: tenant(), ..aside };
        assert_eq!(commit(&runs, unit(vec![foreign], None)).await, Err(StoreError::NotFound));
        assert_eq!(count(&db, "runs").await, 2);
    });
}

#[tokio::test]
async fn letters_are_listed_newest_first_by_filter_and_right() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let work = SqlWorkStore::new(db.clone());
        let flow = published(&workflows, tenant(), "a").await;
        let other = Workflow { tenant: flow.tenant, ..published(&workflows, flow.tenant, "b").await };
        let (mut ids, mut of_runs) = (Vec::new(), Vec::new());
        for (n, of) in [&flow, &other, &flow].into_iter().enumerate() {
            let aside = DeadLetter {
                workflow: Some(of.id),
                created_at: at(i64::try_from(n).unwrap()),
                ..letter(Work::Thrown(thrown(&run(of), "m")))
            };
            ids.push(aside.id);
            of_runs.extend(aside.run);
            commit(&runs, Transaction { letters: vec![aside], ..unit_of(begin(run(of))) }).await.unwrap();
        }
        let list = async |filter: LetterFilter, access: AccessFilter<resource::DeadLetter>| {
            let found = work.letters(flow.tenant, &filter, &access, &page(9)).await.unwrap();
            found.items.iter().map(|letter| letter.id).collect::<Vec<_>>()
        };
        let all = || AccessFilter::<resource::DeadLetter>::everything();
        assert_eq!(list(LetterFilter::default(), all()).await, [ids[2], ids[1], ids[0]]);
        let of = LetterFilter { workflow: Some(other.id), ..LetterFilter::default() };
        assert_eq!(list(of, all()).await, [ids[1]]);
        let kind = LetterFilter { kind: Some(WorkKind::Timer), ..LetterFilter::default() };
        assert!(list(kind, all()).await.is_empty());
        let denied = all().but_within::<resource::Workflow>([flow.id]);
        assert_eq!(list(LetterFilter::default(), denied).await, [ids[1]]);
        assert_eq!(list(LetterFilter::default(), all().but([ids[1]])).await, [ids[2], ids[0]]);
        let denied = all().but_within::<resource::Run>([of_runs[0]]);
        assert_eq!(list(LetterFilter::default(), denied).await, [ids[2], ids[1]]);
        let first = work.letters(flow.tenant, &LetterFilter::default(), &all(), &page(2)).await.unwrap();
        let next = heddle_kernel::PageRequest { limit: 2, cursor: first.next };
        let second = work.letters(flow.tenant, &LetterFilter::default(), &all(), &next).await.unwrap();
        assert_eq!(second.items.iter().map(|letter| letter.id).collect::<Vec<_>>(), [ids[0]]);
    });
}

#[tokio::test]
async fn a_mark_takes_the_place_of_the_last_and_is_found_by_its_node() {
    on_both!(|db| {
        let work = SqlWorkStore::new(db.clone());
        let (_, all) = one_of_each(&db).await;
        let pieces = |n: usize| {
            let marked = |(_, work): &(Queue, Work)| MarkedWork {
                key: work.key(),
                tries: TRIES,
                due_micros: work.due_micros(),
            };
            all.iter().take(n).map(marked).collect::<Vec<_>>()
        };
        let mark = |n: usize| WorkMark { single: n == 1, pieces: pieces(n) };
        let (node, other) = (uuid::Uuid::from_u128(1), uuid::Uuid::from_u128(2));
        work.mark(node, Queue::Outbox, &mark(4), at(10)).await.unwrap();
        work.mark(node, Queue::Outbox, &mark(1), at(11)).await.unwrap();
        work.mark(node, Queue::Timers, &mark(2), at(11)).await.unwrap();
        work.unmark(node, Queue::Timers).await.unwrap();
        work.mark(other, Queue::Outbox, &mark(3), at(12)).await.unwrap();
        assert_eq!(work.left_behind(node, at(0)).await.unwrap(), [mark(1)]);
        assert!(work.left_behind(node, at(12)).await.unwrap().is_empty(), "each once; the other node lives");
        assert_eq!(work.left_behind(node, at(13)).await.unwrap(), [mark(3)], "the other node is given up");
    });
}

#[tokio::test]
async fn where_more_waits_than_a_round_takes_the_organisations_share_it_in_turn() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let work = SqlWorkStore::new(db.clone());
        let mut tenants: Vec<TenantId> = Vec::new();
        for count in [40, 3, 30] {
            let flow = published(&workflows, tenant(), "a").await;
            throwing(&runs, &flow, count).await;
            tenants.push(flow.tenant);
        }
        let take = async |limit, after| {
            let found = work.pending(Queue::Outbox, at(0), Turn { limit, share: 5, after }).await.unwrap();
            tenants
                .iter()
                .map(|of| found.iter().filter(|one| one.work.tenant() == *of).count())
                .collect::<Vec<_>>()
        };
        assert_eq!(take(20, None).await, [5, 3, 5]);
        assert_eq!(take(100, None).await, [40, 3, 30], "what fits is taken whole");
        // The first comes last when it was served last.
        assert_eq!(take(8, Some(tenants[0])).await, [0, 3, 5]);
        assert_eq!(take(8, Some(tenants[2])).await, [5, 3, 0]);
    });
}

#[tokio::test]
async fn letters_of_a_kind_that_is_denied_as_a_whole_are_not_listed() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let work = SqlWorkStore::new(db.clone());
        let flow = published(&workflows, tenant(), "a").await;
        let (mut ids, mut of_runs) = (Vec::new(), Vec::new());
        for instance_kind in [DefinitionKind::Workflow, DefinitionKind::Case] {
            let aside = DeadLetter { instance_kind, ..letter(Work::Thrown(thrown(&run(&flow), "m"))) };
            let aside = DeadLetter { workflow: Some(flow.id), ..aside };
            ids.push(aside.id);
            of_runs.extend(aside.run);
            commit(&runs, Transaction { letters: vec![aside], ..unit_of(begin(run(&flow))) }).await.unwrap();
        }
        let all = AccessFilter::<resource::DeadLetter>::everything;
        let case_type = CaseTypeId::from(flow.id);
        for (access, expected) in [
            (all().but_within_all::<resource::CaseType>(), vec![ids[0]]),
            (all().but_within_all::<resource::Workflow>(), vec![ids[1]]),
            (all().but_within::<resource::CaseType>([case_type]), vec![]),
            (all().but_within_all::<resource::Case>(), vec![ids[0]]),
            (all().but_within::<resource::Case>([CaseId::from(of_runs[1])]), vec![ids[0]]),
        ] {
            let found = work.letters(flow.tenant, &LetterFilter::default(), &access, &page(9)).await.unwrap();
            let found: Vec<EventId> = found.items.iter().map(|letter| letter.id).collect();
            assert_eq!(found, expected, "{access:?}");
        }
    });
}
