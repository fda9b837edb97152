//! Shelf: whose index is whose, and how many stay open.

use std::sync::Arc;

use heddle_passages::{AllowList, Error, Key, Passage, Query, Rebuild, Shape, Shelf};

use crate::{SETTINGS, key, passage, passages, shelf};

fn rows(ids: std::ops::Range<u64>) -> impl Iterator<Item = Result<Passage, ()>> {
    passages(ids).into_iter().map(Ok)
}

#[test]
fn one_does_not_answer_for_another() {
    let root = tempfile::tempdir().unwrap();
    let shelf = shelf(root.path());
    let mine = Key::new("one", "database", 1).unwrap();
    let theirs = Key::new("other", "database", 1).unwrap();
    shelf.rebuild(&mine, SETTINGS, 1, rows(0..20)).unwrap();
    assert!(matches!(shelf.index(&theirs, SETTINGS), Err(Error::Rebuild(Rebuild::Missing))));
    shelf.rebuild(&theirs, SETTINGS, 1, rows(100..110)).unwrap();
    let all = VOCABULARY_ALL.join(" ");
    let ids = |key: &Key| {
        let hits =
            shelf.index(key, SETTINGS).unwrap().search(&Query::new(Shape::Keyword(&all), 100)).unwrap();
        let mut ids: Vec<u64> = hits.iter().map(|hit| hit.id).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(&mine), (0..20).collect::<Vec<u64>>());
    assert_eq!(ids(&theirs), (100..110).collect::<Vec<u64>>());
    // Files that somebody moved there are another's.
    shelf.remove(&mine).unwrap();
    std::fs::rename(root.path().join("other/database/1"), root.path().join("one/database/1")).unwrap();
    assert!(matches!(shelf.index(&mine, SETTINGS), Err(Error::Rebuild(Rebuild::Foreign(_)))));
    for name in ["", "..", "a/b", "a\\b", "ä", &"x".repeat(101)] {
        assert!(matches!(Key::new(name, "database", 1), Err(Error::BadKey(_))));
    }
}

const VOCABULARY_ALL: [&str; 8] = crate::VOCABULARY;

#[test]
fn what_was_not_used_for_longest_is_closed() {
    let root = tempfile::tempdir().unwrap();
    let keys: Vec<Key> = (0..6).map(|at| Key::new("o", format!("d{at}"), 1).unwrap()).collect();
    let alone = {
        let shelf = shelf(root.path());
        keys.iter().for_each(|key| {
            shelf.rebuild(key, SETTINGS, 1, rows(0..50)).unwrap();
        });
        shelf.memory() / 6
    };
    assert!(alone > 0);
    let shelf = Shelf::open(root.path(), alone * 3 + alone / 2).unwrap();
    let held = shelf.index(&keys[0], SETTINGS).unwrap();
    for key in &keys {
        shelf.index(key, SETTINGS).unwrap();
        assert!(shelf.memory() <= alone * 4);
    }
    // Who is held stays the only one of its kind, however long nobody asks for it.
    assert!(Arc::ptr_eq(&held, &shelf.index(&keys[0], SETTINGS).unwrap()));
    held.apply(1, 2, AllowList::default(), vec![passage(1, 9)]).unwrap();
    for key in &keys {
        let index = shelf.index(key, SETTINGS).unwrap();
        assert_eq!(index.vectors(), Some(50));
    }
}

#[test]
fn one_process_holds_the_root() {
    let root = tempfile::tempdir().unwrap();
    let first = shelf(root.path());
    assert!(matches!(Shelf::open(root.path(), 1), Err(Error::InUse)));
    drop(first);
    shelf(root.path());
}

#[test]
fn what_is_built_takes_the_place_at_once() {
    let root = tempfile::tempdir().unwrap();
    let shelf = shelf(root.path());
    let old = shelf.rebuild(&key(), SETTINGS, 1, rows(0..10)).unwrap();
    let mut builder = shelf.build(&key(), SETTINGS).unwrap();
    for id in 50..53 {
        builder.push(passage(id, 0)).unwrap();
    }
    assert!(matches!(builder.push(passage(51, 1)), Err(Error::Duplicate(51))));
    assert_eq!(shelf.index(&key(), SETTINGS).unwrap().vectors(), Some(10));
    let new = shelf.install(builder, 7).unwrap();
    assert_eq!((new.sequence(), new.vectors()), (7, Some(3)));
    // The one before answers and changes nothing any more.
    let query = passage(1, 0).vector.unwrap();
    assert!(matches!(old.search(&Query::new(Shape::Semantic(&query), 1)), Err(Error::Reopen)));
    assert!(matches!(old.apply(1, 9, AllowList::default(), vec![]), Err(Error::Reopen)));
    // Rows that cannot be read leave it as it is.
    let broken = rows(0..3).chain([Err(())]);
    assert!(shelf.rebuild(&key(), SETTINGS, 8, broken).is_err());
    assert_eq!(shelf.index(&key(), SETTINGS).unwrap().sequence(), 7);
    assert!(matches!(new.apply(8, 9, AllowList::default(), vec![]), Err(Error::Gap { at: 7, since: 8 })));
    assert!(shelf.disk_bytes(&key()).unwrap() > 0);
    shelf.remove_database("organisation", "database").unwrap();
    assert_eq!(shelf.disk_bytes(&key()).unwrap(), 0);
    assert!(matches!(shelf.index(&key(), SETTINGS), Err(Error::Rebuild(Rebuild::Missing))));
}

#[test]
fn searches_go_on_while_changes_are_applied() {
    let root = tempfile::tempdir().unwrap();
    let shelf = shelf(root.path());
    let index = shelf.rebuild(&key(), SETTINGS, 1, rows(0..200)).unwrap();
    // Each change moves all passages from one range of ids to the other: a query sees one of them, never both.
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 1..12_u64 {
                let (from, to) = if round % 2 == 1 { (0, 1000) } else { (1000, 0) };
                let puts = (0..200).map(|id| passage(to + id, 0)).collect();
                let gone = AllowList::from_iter(from..from + 200);
                index.apply(round, round + 1, gone, puts).unwrap();
            }
        });
        let query = passage(3, 0).vector.unwrap();
        let text = VOCABULARY_ALL.join(" ");
        while !writer.is_finished() {
            let (near, words) = index.legs(Some(&query), Some(&text), 300, None).unwrap();
            assert_eq!((near.len(), words.len()), (200, 200));
            let low = near.iter().chain(&words).filter(|hit| hit.id < 1000).count();
            assert!(low == 0 || low == 400, "{low}");
        }
    });
}
