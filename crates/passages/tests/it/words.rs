//! Words: the formula, and texts that look like something else.

use heddle_passages::{AllowList, Error, Passage, Query, Shape};

use crate::{VOCABULARY, WORDS_ALONE, built, key, passage, passages, shelf};

/// BM25 with k1 1.2 and b 0.75 (Robertson and Zaragoza 2009), of texts of fewer than 40 words.
fn bm25(rows: &[Passage], words: &[&str], row: &Passage) -> f32 {
    let (k1, b) = (1.2, 0.75);
    let length = |row: &Passage| row.text.split(' ').count() as f64;
    let average = rows.iter().map(length).sum::<f64>() / rows.len() as f64;
    let count = |row: &Passage, word: &str| row.text.split(' ').filter(|other| *other == word).count() as f64;
    let score = |word: &&str| {
        let fitting = rows.iter().filter(|row| count(row, word) > 0.0).count() as f64;
        let idf = (1.0 + (rows.len() as f64 - fitting + 0.5) / (fitting + 0.5)).ln();
        let times = count(row, word);
        idf * (k1 + 1.0) * times / (times + k1 * (1.0 - b + b * length(row) / average))
    };
    words.iter().map(score).sum::<f64>() as f32
}

#[test]
fn scores_are_those_of_the_formula() {
    let root = tempfile::tempdir().unwrap();
    // The words are their own stems but for two, which are the same stem wherever they are.
    let rows = passages(0..400);
    let index = built(root.path(), rows.clone());
    for words in [["loom", "reed"], ["warp", "weft"]] {
        let hits = index.search(&Query::new(Shape::Keyword(&words.join(" ")), 400)).unwrap();
        assert!(hits.len() > 50);
        for hit in hits {
            let expected = bm25(&rows, &words, &rows[hit.id as usize]);
            assert!((hit.score - expected).abs() < 1e-3 * expected, "{hit:?} {expected}");
        }
    }
}

#[test]
fn passages_that_were_removed_do_not_count_once_they_are_many() {
    let root = tempfile::tempdir().unwrap();
    let rows = passages(0..400);
    let index = built(root.path(), rows.clone());
    // A common word becomes a rare one, and what is left is shorter.
    let (gone, left): (Vec<Passage>, Vec<Passage>) =
        rows.into_iter().partition(|row| row.id >= 40 && row.text.contains("loom"));
    assert!(gone.len() > 100);
    index.apply(1, 2, gone.iter().map(|row| row.id).collect(), Vec::new()).unwrap();
    let words = ["loom", "reed"];
    let hits = index.search(&Query::new(Shape::Keyword(&words.join(" ")), 400)).unwrap();
    assert!(hits.len() > 50);
    for hit in hits {
        let row = left.iter().find(|row| row.id == hit.id).unwrap();
        let expected = bm25(&left, &words, row);
        assert!((hit.score - expected).abs() < 1e-3 * expected, "{hit:?} {expected}");
    }
}

#[test]
fn a_word_is_found_however_it_is_written_and_signs_by_what_stands_beside_them() {
    let root = tempfile::tempdir().unwrap();
    let texts = [
        "Akte Mu\u{308}ller, Haupt\u{ad}straße",
        "an o\u{fb03}ce, Ｗｅｆｔ™",
        "京の東で都を見る",
        "東京都の税",
        "税関",
        "학교에서 배운다",
    ];
    let rows = (0..).zip(texts).map(|(id, text)| {
        let text = text.to_owned();
        Ok::<_, ()>(Passage { id, text, vector: None })
    });
    let index = shelf(root.path()).rebuild(&key(), WORDS_ALONE, 1, rows).unwrap();
    let ids = |text: &str| {
        let hits = index.search(&Query::new(Shape::Keyword(text), 10)).unwrap();
        let mut ids: Vec<u64> = hits.iter().map(|hit| hit.id).collect();
        ids.sort_unstable();
        ids
    };
    for (query, expected) in [
        ("Müller", vec![0]),
        ("HAUPTSTRASSE", vec![0]),
        ("office", vec![1]),
        ("weft", vec![1]),
        ("税", vec![3, 4]),
        ("都", vec![2, 3]),
        // Each of its signs stands in the other one, too, and none beside the same.
        ("東京都", vec![3]),
        ("학교", vec![5]),
        ("배", vec![5]),
    ] {
        assert_eq!(ids(query), expected, "{query}");
    }
}

#[test]
fn a_query_is_a_text_and_never_a_syntax() {
    let root = tempfile::tempdir().unwrap();
    let index = built(root.path(), passages(0..50));
    let ids = |text: &str| {
        let hits = index.search(&Query::new(Shape::Keyword(text), 50)).unwrap();
        let mut ids: Vec<u64> = hits.iter().map(|hit| hit.id).collect();
        ids.sort_unstable();
        ids
    };
    let plain = ids("loom");
    assert!(!plain.is_empty());
    for text in ["-loom", "loom*", "\"loom", "text:loom", "id:[0 TO 9] OR loom)", "+loom^1e9 ~", "LOOM\0"] {
        assert_eq!(ids(text), plain, "{text}");
    }
    assert_eq!(ids("NOT loom AND NOT weft"), ids("loom weft"));
    for text in ["", " ", "*", "\"\"", "id:7", "🧵", "zzz"] {
        assert_eq!(ids(text), [0_u64; 0], "{text}");
    }
    let long = VOCABULARY.join(" ").repeat(100);
    assert_eq!(ids(&long), (0..50).collect::<Vec<u64>>());
    let endless = "loom ".repeat(20_000);
    let refused = index.search(&Query::new(Shape::Keyword(&endless), 1));
    assert!(matches!(refused, Err(Error::BadQuery(_))));
}

#[test]
fn both_legs_say_what_they_found() {
    let root = tempfile::tempdir().unwrap();
    let index = built(root.path(), passages(0..200));
    let row = passage(42, 0);
    let vector = row.vector.unwrap();
    let (near, words) = index.legs(Some(&vector), Some(&row.text), 20, None).unwrap();
    assert_eq!((near.len(), words.len()), (20, 20));
    assert_eq!((near[0].id, near[0].semantic.map(|leg| leg.rank)), (42, Some(1)));
    assert!(words.iter().all(|hit| hit.keyword.is_some() && hit.semantic.is_none()));
    for leg in [&near, &words] {
        assert!(leg.is_sorted_by(|one, next| one.score >= next.score));
    }
    let none = AllowList::default();
    let (near, words) = index.legs(Some(&vector), Some(&row.text), 20, Some(&none)).unwrap();
    assert!(near.is_empty() && words.is_empty());
}
