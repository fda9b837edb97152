//! Nearest vectors: many of them, by codes and exact scores.

use heddle_passages::{AllowList, Error, Key, Passage, Query, Scan, Settings, Shape};

use crate::{Numbers, SETTINGS, WORDS_ALONE, built, passage, passages, shelf};

const MANY: u64 = 4_000;
const WIDE: u32 = 96;

/// Vectors around a few centres.
fn clustered(count: u64) -> Vec<Vec<f32>> {
    let mut numbers = Numbers(5);
    let centres: Vec<Vec<f32>> = (0..40).map(|_| numbers.vector(WIDE)).collect();
    let near = |_| {
        let centre = centres[numbers.below(40) as usize].clone();
        centre.into_iter().map(|value| value + 0.6 * numbers.normal()).collect()
    };
    (0..count).map(near).collect()
}

#[test]
fn the_nearest_of_many_are_the_right_ones_before_and_after_changes() {
    let root = tempfile::tempdir().unwrap();
    let settings = Settings { dims: Some(WIDE), ..SETTINGS };
    let key = Key::new("o", "d", 1).unwrap();
    let vectors = clustered(MANY + 100);
    let (queries, vectors) = vectors.split_at(100);
    let row = |id: u64| Passage { id, text: String::new(), vector: Some(vectors[id as usize].clone()) };
    let shelf = shelf(root.path());
    let built = (0..MANY).map(|id| Ok::<_, ()>(row(id)));
    let index = shelf.rebuild(&key, settings, 1, built).unwrap();
    let mut scan = Scan::new(WIDE as usize);
    (0..MANY).for_each(|id| scan.put(id, &vectors[id as usize]).unwrap());
    let recall = |index: &heddle_passages::Index, scan: &Scan, allow: Option<&AllowList>| {
        let mut right = 0;
        for query in queries {
            let expected = scan.search(query, 10, MANY as usize, allow).unwrap();
            let found = index.search(&Query { allow, ..Query::new(Shape::Semantic(query), 10) }).unwrap();
            let expected: Vec<u64> = expected.into_iter().map(|(id, _)| id).collect();
            right += found.iter().filter(|hit| expected.contains(&hit.id)).count();
            assert_eq!(found.len(), expected.len());
        }
        right as f64 / 1000.0
    };
    assert!(recall(&index, &scan, None) >= 0.999);
    let allow: AllowList = (0..MANY).filter(|id| id % 100 == 7).collect();
    assert_eq!(recall(&index, &scan, Some(&allow)), 1.0);
    // A tenth goes, a tenth comes back with other content, and everything is read from disk again.
    let gone: AllowList = (0..MANY).filter(|id| id % 10 == 3).collect();
    let back: Vec<u64> = (0..MANY).filter(|id| id % 20 == 3).collect();
    let other = |id: u64| Passage { vector: Some(vectors[(MANY - 1 - id) as usize].clone()), ..row(id) };
    index.apply(1, 2, gone, back.iter().map(|id| other(*id)).collect()).unwrap();
    (0..MANY).filter(|id| id % 10 == 3).for_each(|id| assert!(scan.remove(id)));
    back.iter().for_each(|id| scan.put(*id, &vectors[(MANY - 1 - id) as usize]).unwrap());
    assert!(recall(&index, &scan, None) >= 0.999);
    drop((index, shelf));
    let shelf = crate::shelf(root.path());
    let index = shelf.index(&key, settings).unwrap();
    assert!(recall(&index, &scan, None) >= 0.999);
    assert_eq!(recall(&index, &scan, Some(&allow)), 1.0);
}

#[test]
fn the_last_of_the_candidates_are_as_right_as_the_first() {
    let root = tempfile::tempdir().unwrap();
    let settings = Settings { dims: Some(WIDE), ..SETTINGS };
    let vectors = clustered(MANY + 100);
    let (queries, vectors) = vectors.split_at(100);
    let rows = (0..).zip(vectors).map(|(id, vector)| {
        let vector = Some(vector.clone());
        Ok::<_, ()>(Passage { id, text: String::new(), vector })
    });
    let index = shelf(root.path()).rebuild(&crate::key(), settings, 1, rows).unwrap();
    let mut scan = Scan::new(WIDE as usize);
    (0..).zip(vectors).for_each(|(id, vector)| scan.append(id, vector).unwrap());
    let most = 200;
    let nearest = |query: &Vec<f32>| -> Vec<u64> {
        let found = scan.search(query, most, MANY as usize, None).unwrap();
        found.into_iter().map(|(id, _)| id).collect()
    };
    let truth: Vec<Vec<u64>> = queries.iter().map(nearest).collect();
    for wanted in [10, 50, most] {
        let mut right = 0;
        for (query, nearest) in queries.iter().zip(&truth) {
            let (near, _) = index.legs(Some(query), None, wanted, None).unwrap();
            assert_eq!(near.len(), wanted);
            right += near.iter().filter(|hit| nearest[..wanted].contains(&hit.id)).count();
        }
        // By their codes alone the best 10 hold fewer than nine of the nearest, and the best 200 fewer than 195.
        let recall = right as f64 / (queries.len() * wanted) as f64;
        assert!(recall >= 0.995, "{recall} of {wanted}");
    }
}

#[test]
fn dead_rows_are_left_behind() {
    let root = tempfile::tempdir().unwrap();
    let index = built(root.path(), passages(0..2_000));
    let file = |epoch: u32| crate::directory(root.path()).join(format!("vectors-{epoch}"));
    assert!(file(0).exists());
    for round in 1..=4 {
        let puts = (0..2_000).map(|id| passage(id, round)).collect();
        index.apply(round, round + 1, AllowList::default(), puts).unwrap();
    }
    assert!(!file(0).exists());
    assert!(file(1).exists());
    let query = passage(77, 4).vector.unwrap();
    let hits = index.search(&Query::new(Shape::Semantic(&query), 1)).unwrap();
    assert_eq!(hits[0].id, 77);
    assert!((hits[0].score - 1.0).abs() < 1e-5);
    drop(index);
    // What a compaction that was cut short left is cleared up.
    std::fs::write(file(2), b"half").unwrap();
    let index = shelf(root.path()).index(&crate::key(), SETTINGS).unwrap();
    assert_eq!(index.search(&Query::new(Shape::Semantic(&query), 1)).unwrap(), hits);
    assert!(file(1).exists() && !file(2).exists());
    let endless = index.search(&Query::new(Shape::Semantic(&query), usize::MAX));
    assert!(matches!(endless, Err(Error::BadQuery(_))));
}

#[test]
fn parts_of_what_comes_next_are_taken_under_the_number_of_before() {
    let root = tempfile::tempdir().unwrap();
    let index = built(root.path(), passages(0..60));
    let nearest = |index: &heddle_passages::Index, id: u64| {
        let vector = passage(id, 0).vector.unwrap();
        index.search(&Query::new(Shape::Semantic(&vector), 1)).unwrap()[0].id
    };
    let ten = |first: u64| (first..first + 10).map(|id| passage(id, 0)).collect::<Vec<_>>();
    index.apply(1, 1, AllowList::from_iter(0..10), ten(60)).unwrap();
    index.apply(1, 1, AllowList::default(), ten(70)).unwrap();
    assert_eq!(index.sequence(), 1);
    index.apply(1, 2, AllowList::default(), ten(80)).unwrap();
    // What is in is passed over, and so is a part of what is in; what is not in has to come in its order.
    index.apply(1, 2, AllowList::from_iter(0..90), Vec::new()).unwrap();
    index.apply(1, 1, AllowList::from_iter(0..90), Vec::new()).unwrap();
    assert!(matches!(index.apply(3, 3, AllowList::default(), ten(90)), Err(Error::Gap { at: 2, since: 3 })));
    for id in [10, 59, 60, 69, 70, 79, 80, 89] {
        assert_eq!(nearest(&index, id), id);
    }
    assert_ne!(nearest(&index, 5), 5);
    // A commit that changes nothing here is reached without writing, and is there when it is opened again.
    let files = |name: &str| std::fs::read(crate::directory(root.path()).join("words").join(name)).unwrap();
    let before = files("meta.json");
    index.apply(2, 7, AllowList::default(), Vec::new()).unwrap();
    assert_eq!(files("meta.json"), before);
    drop(index);
    let index = shelf(root.path()).index(&crate::key(), SETTINGS).unwrap();
    assert_eq!((index.sequence(), index.owed()), (7, None));
    assert_eq!(nearest(&index, 89), 89);
}

#[test]
fn what_is_no_direction_is_refused_and_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let index = built(root.path(), passages(0..5));
    let bad = |vector: Option<Vec<f32>>| {
        let puts = vec![passage(9, 0), Passage { vector, ..passage(1, 1) }];
        index.apply(1, 2, AllowList::default(), puts)
    };
    let mut unsound = vec![1.0; 12];
    unsound[3] = f32::NAN;
    let mut endless = vec![1.0; 12];
    endless[3] = f32::INFINITY;
    for vector in [None, Some(vec![]), Some(vec![1.0; 13]), Some(vec![0.0; 12]), Some(unsound), Some(endless)]
    {
        assert!(matches!(bad(vector.clone()), Err(Error::BadVector { .. })));
        if let Some(vector) = vector {
            let refused = index.search(&Query::new(Shape::Semantic(&vector), 3));
            assert!(matches!(refused, Err(Error::BadVector { .. })));
        }
    }
    assert_eq!((index.sequence(), index.vectors()), (1, Some(5)));
}

#[test]
fn an_index_of_words_has_no_vectors() {
    let root = tempfile::tempdir().unwrap();
    let shelf = shelf(root.path());
    let rows = (0..5).map(|id| Ok::<_, ()>(Passage { vector: None, ..passage(id, 0) }));
    let index = shelf.rebuild(&crate::key(), WORDS_ALONE, 1, rows).unwrap();
    let query = Query::new(Shape::Semantic(&[1.0; 12]), 3);
    assert!(matches!(index.search(&query), Err(Error::BadQuery(_))));
    assert!(matches!(index.unit_vectors(&[1]), Err(Error::BadQuery(_))));
    assert!(matches!(shelf.index(&crate::key(), SETTINGS), Err(Error::Rebuild(_))));
}

#[test]
fn likeness_of_what_was_found_can_be_asked_for() {
    let root = tempfile::tempdir().unwrap();
    let index = built(root.path(), passages(0..300));
    let query = passage(7, 0).vector.unwrap();
    let found = index.search(&Query::new(Shape::Semantic(&query), 10)).unwrap();
    let ids: Vec<u64> = found.iter().map(|hit| hit.id).chain([9_999]).collect();
    let vectors = index.unit_vectors(&ids).unwrap();
    assert_eq!(vectors.last(), Some(&None));
    let query = heddle_passages::unit(&query, 12, || "the query".to_owned()).unwrap();
    for (hit, vector) in found.iter().zip(vectors.iter().flatten()) {
        assert!((heddle_passages::dot(&query, vector) - hit.score).abs() < 1e-5);
    }
}
