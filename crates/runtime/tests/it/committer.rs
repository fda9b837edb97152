//! Group commit.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use futures::future::join_all;
use futures::poll;
use heddle_kernel::EventId;
use heddle_runtime::{CommitOptions, GroupCommitter};
use heddle_usecase::StoreError;
use heddle_workflows::ports::{Committer as _, MockRunStore, Transaction, WriteTurn};
use uuid::Uuid;

use crate::{Log, log};

/// A unit that can be told from others.
fn unit(number: u128) -> Transaction {
    Transaction { delivered: Some(EventId(Uuid::from_u128(number))), ..Transaction::default() }
}

fn number(unit: &Transaction) -> u128 {
    unit.delivered.map_or(0, |event| event.0.as_u128())
}

type Answers = Vec<Result<(), StoreError>>;

/// A store that notes its batches and answers as told.
fn store(answer: impl Fn(&[u128]) -> Answers + Send + Sync + 'static) -> (MockRunStore, Log<Vec<u128>>) {
    let (mut store, batches) = (MockRunStore::new(), log());
    let seen = Arc::clone(&batches);
    store.expect_commit_in_turn().returning(move |units, _| {
        let numbers: Vec<u128> = units.iter().map(number).collect();
        seen.lock().push(numbers.clone());
        answer(&numbers)
    });
    (store, batches)
}

fn all_well(numbers: &[u128]) -> Answers {
    numbers.iter().map(|_| Ok(())).collect()
}

fn start(store: MockRunStore, options: CommitOptions) -> GroupCommitter {
    GroupCommitter::start(Arc::new(store), options)
}

/// A store whose batch with the first unit takes until it is let go.
fn slow_store() -> (MockRunStore, Log<Vec<u128>>, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (mut store, batches) = (MockRunStore::new(), log());
    let (begun, begins) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let note = |log: &Log<Vec<u128>>, units: &[Transaction]| {
        let numbers: Vec<u128> = units.iter().map(number).collect();
        log.lock().push(numbers.clone());
        all_well(&numbers)
    };
    let seen = Arc::clone(&batches);
    let first = |units: &Vec<Transaction>, _: &WriteTurn| units.iter().any(|unit| number(unit) == 1);
    store.expect_commit_in_turn().withf(first).returning(move |units, _| {
        let answers = note(&seen, &units);
        begun.send(()).unwrap();
        tokio::task::block_in_place(|| gone.recv().unwrap());
        answers
    });
    let seen = Arc::clone(&batches);
    store.expect_commit_in_turn().returning(move |units, _| note(&seen, &units));
    (store, batches, begins, go)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_one_batch_is_written_the_next_gathers_in_the_order_of_its_callers() {
    let (store, batches, begins, go) = slow_store();
    let committer = start(store, CommitOptions::default());
    let mut first = Box::pin(committer.commit(unit(1)));
    assert!(poll!(&mut first).is_pending());
    begins.recv().unwrap();
    let mut waiting: Vec<_> = (2..6).map(|number| Box::pin(committer.commit(unit(number)))).collect();
    for call in &mut waiting {
        assert!(poll!(call).is_pending());
    }
    go.send(()).unwrap();
    first.await.unwrap();
    assert!(join_all(waiting).await.iter().all(Result::is_ok));
    assert_eq!(*batches.lock(), [vec![1], vec![2, 3, 4, 5]]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_two_writers_a_slow_batch_holds_up_nobody() {
    let (store, batches, begins, go) = slow_store();
    let committer = start(store, CommitOptions { writers: 2, ..CommitOptions::default() });
    let mut first = Box::pin(committer.commit(unit(1)));
    assert!(poll!(&mut first).is_pending());
    begins.recv().unwrap();
    committer.commit(unit(2)).await.unwrap();
    assert!(poll!(&mut first).is_pending());
    go.send(()).unwrap();
    first.await.unwrap();
    assert_eq!(*batches.lock(), [[1], [2]]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn few_wait_for_the_batch_before_them_and_many_go_beside_it() {
    let (store, batches, begins, go) = slow_store();
    let patience = Duration::from_secs(3_600);
    let committer =
        start(store, CommitOptions { writers: 2, beside: 3, patience, ..CommitOptions::default() });
    let mut first = Box::pin(committer.commit(unit(1)));
    assert!(poll!(&mut first).is_pending());
    begins.recv().unwrap();
    let mut two: Vec<_> = [2, 3].map(|number| Box::pin(committer.commit(unit(number)))).into();
    for call in &mut two {
        assert!(poll!(call).is_pending());
        tokio::task::yield_now().await;
    }
    // The third makes it worth its while, and none of them waits for the first.
    committer.commit(unit(4)).await.unwrap();
    assert!(join_all(two).await.iter().all(Result::is_ok));
    assert!(poll!(&mut first).is_pending());
    let mut last = Box::pin(committer.commit(unit(5)));
    assert!(poll!(&mut last).is_pending());
    go.send(()).unwrap();
    first.await.unwrap();
    last.await.unwrap();
    assert_eq!(*batches.lock(), [vec![1], vec![2, 3, 4], vec![5]]);
}

/// A store that writes one batch at a time, of which these are the first units: each is written at once, and is on the disk
/// when that is let go.
fn store_with_disk(
    firsts: [u128; 3],
) -> (MockRunStore, Log<Vec<u128>>, mpsc::Receiver<WriteTurn>, tokio::sync::watch::Sender<bool>) {
    let (mut store, batches) = (MockRunStore::new(), log());
    let (turns, taken) = mpsc::channel();
    let (disk, synced) = tokio::sync::watch::channel(false);
    // An expectation is locked while it is carried out: each batch has its own.
    for first in firsts {
        let is_it = move |units: &Vec<Transaction>, _: &WriteTurn| units.first().map(number) == Some(first);
        let (seen, turns, synced) = (Arc::clone(&batches), turns.clone(), synced.clone());
        store.expect_commit_in_turn().withf(is_it).returning(move |units, turn| {
            let numbers: Vec<u128> = units.iter().map(number).collect();
            seen.lock().push(numbers.clone());
            turns.send(turn).unwrap();
            let mut synced = synced.clone();
            tokio::task::block_in_place(|| {
                let on_disk = synced.wait_for(|synced| *synced);
                tokio::runtime::Handle::current().block_on(on_disk).map(drop).unwrap();
            });
            all_well(&numbers)
        });
    }
    (store, batches, taken, disk)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn units_gather_while_a_batch_is_written_and_go_on_while_it_waits_for_the_disk() {
    let (store, batches, turns, disk) = store_with_disk([1, 2, 6]);
    let options =
        CommitOptions { behind: 2, beside: 2, patience: Duration::ZERO, ..CommitOptions::default() };
    let committer = start(store, options);
    let mut calls = vec![Box::pin(committer.commit(unit(1)))];
    assert!(poll!(&mut calls[0]).is_pending());
    let first = turns.recv().unwrap();
    // However many wait, and however long: none goes beside a batch that is written.
    for number in 2..6 {
        let mut call = Box::pin(committer.commit(unit(number)));
        assert!(poll!(&mut call).is_pending());
        tokio::task::yield_now().await;
        calls.push(call);
    }
    assert_eq!(*batches.lock(), [vec![1]]);
    // It waits for the disk: the others are one batch, and so are those behind them.
    drop(first);
    let second = turns.recv().unwrap();
    assert_eq!(*batches.lock(), [vec![1], vec![2, 3, 4, 5]]);
    for number in 6..8 {
        let mut call = Box::pin(committer.commit(unit(number)));
        assert!(poll!(&mut call).is_pending());
        calls.push(call);
    }
    drop(second);
    let third = turns.recv().unwrap();
    assert_eq!(*batches.lock(), [vec![1], vec![2, 3, 4, 5], vec![6, 7]]);
    for call in &mut calls {
        assert!(poll!(call).is_pending(), "nobody is answered before the disk has it");
    }
    drop(third);
    disk.send(true).unwrap();
    assert!(join_all(calls).await.iter().all(Result::is_ok));
}

#[tokio::test]
async fn a_batch_has_a_limit() {
    let (store, batches) = store(all_well);
    let committer = start(store, CommitOptions { batch: 2, ..CommitOptions::default() });
    let answers = join_all((1..8).map(|number| committer.commit(unit(number)))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert!(batches.lock().iter().all(|batch| batch.len() <= 2), "{batches:?}");
    let mut written: Vec<u128> = batches.lock().concat();
    written.sort_unstable();
    assert_eq!(written, (1..8).collect::<Vec<_>>());
}

#[tokio::test]
async fn options_of_zero_are_taken_as_one() {
    let (store, batches) = store(all_well);
    let committer = start(store, CommitOptions { batch: 0, writers: 0, ..CommitOptions::default() });
    committer.commit(unit(1)).await.unwrap();
    assert_eq!(*batches.lock(), [[1]]);
}

#[tokio::test]
async fn one_unit_that_fails_spares_the_others() {
    let (store, batches) = store(|numbers| {
        numbers.iter().map(|number| if *number == 2 { Err(StoreError::Stale) } else { Ok(()) }).collect()
    });
    let committer = start(store, CommitOptions::default());
    let answers = join_all((1..4).map(|number| committer.commit(unit(number)))).await;
    assert!(matches!(answers.as_slice(), [Ok(()), Err(StoreError::Stale), Ok(())]), "{answers:?}");
    assert_eq!(*batches.lock(), [[1, 2, 3]]);
}

#[tokio::test]
async fn what_a_store_does_not_answer_is_not_durable() {
    let (store, _) = store(|_| vec![Ok(())]);
    let committer = start(store, CommitOptions::default());
    let answers = join_all((1..4).map(|number| committer.commit(unit(number)))).await;
    let [Ok(()), Err(StoreError::Unavailable(_)), Err(StoreError::Unavailable(_))] = answers.as_slice()
    else {
        panic!("{answers:?}")
    };
}

#[tokio::test]
async fn a_store_that_fails_fails_its_batch_and_the_next_is_tried_again() {
    let down = || StoreError::Unavailable("no space".to_owned());
    let (store, _) = store(move |numbers| {
        numbers.iter().map(|_| if numbers.contains(&1) { Err(down()) } else { Ok(()) }).collect()
    });
    let committer = start(store, CommitOptions::default());
    let answers = join_all([committer.commit(unit(1)), committer.commit(unit(2))]).await;
    for answer in answers {
        assert!(matches!(answer, Err(StoreError::Unavailable(why)) if why == "no space"));
    }
    committer.commit(unit(3)).await.unwrap();
}

#[tokio::test]
async fn a_caller_that_goes_away_takes_nothing_back() {
    let (store, batches) = store(all_well);
    let committer = start(store, CommitOptions::default());
    {
        let mut gone = Box::pin(committer.commit(unit(1)));
        assert!(poll!(&mut gone).is_pending());
    }
    committer.commit(unit(2)).await.unwrap();
    assert_eq!(*batches.lock(), [[1, 2]]);
}

#[tokio::test]
async fn what_waits_when_the_committer_goes_is_still_written() {
    let (store, batches) = store(all_well);
    let committer = start(store, CommitOptions { batch: 1, ..CommitOptions::default() });
    {
        let mut calls: Vec<_> = (1..4).map(|number| Box::pin(committer.commit(unit(number)))).collect();
        for call in &mut calls {
            assert!(poll!(call).is_pending());
        }
    }
    drop(committer);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(*batches.lock(), [[1], [2], [3]]);
}

#[tokio::test]
async fn without_a_writer_callers_are_told_so_and_do_not_wait() {
    let (store, _) = store(|_| panic!("the writer ends"));
    let committer = start(store, CommitOptions::default());
    for number in [1, 2] {
        let answer = committer.commit(unit(number)).await;
        assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
    }
}
