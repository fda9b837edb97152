//! Random changes, filters and restarts beside a map of passages.

use std::collections::BTreeMap;
use std::ops::Range;

use heddle_passages::{AllowList, Index, Passage, Query, Shape, dot, unit};
use proptest::prelude::*;

use crate::{DIMS, Numbers, SETTINGS, VOCABULARY, key, passage, shelf};

const IDS: u64 = 60;

#[derive(Debug, Clone)]
enum Step {
    Apply(Vec<Range<u64>>, Vec<u64>),
    Restart,
    Ask(Option<Vec<Range<u64>>>, u64),
}

fn range() -> impl Strategy<Value = Range<u64>> {
    (0..IDS, 0..20_u64).prop_map(|(first, length)| first..first + length)
}

fn step() -> impl Strategy<Value = Step> {
    let ranges = prop::collection::vec(range(), 0..4);
    let apply = (prop::collection::vec(range(), 0..3), prop::collection::vec(0..IDS, 0..12));
    prop_oneof![
        3 => apply.prop_map(|(removed, puts)| Step::Apply(removed, puts)),
        1 => Just(Step::Restart),
        3 => (prop::option::of(ranges), any::<u64>()).prop_map(|(allow, seed)| Step::Ask(allow, seed)),
    ]
}

type Rows = BTreeMap<u64, Passage>;

fn check_near(index: &Index, rows: &Rows, allow: Option<&AllowList>, seed: u64) {
    let query = Numbers(seed).vector(DIMS);
    let direction = unit(&query, DIMS as usize, String::new).unwrap();
    let cosine = |passage: &Passage| {
        dot(&direction, &unit(passage.vector.as_ref().unwrap(), DIMS as usize, String::new).unwrap())
    };
    let allowed = rows.values().filter(|row| allow.is_none_or(|allow| allow.contains(row.id)));
    let mut expected: Vec<(u64, f32)> = allowed.map(|row| (row.id, cosine(row))).collect();
    expected.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    for limit in [3, 20] {
        let query = Query { allow, ..Query::new(Shape::Semantic(&query), limit) };
        // So many candidates that all of them are scored exactly.
        let hits = index.search(&Query { candidates: Some(IDS as usize + 20), ..query }).unwrap();
        let found: Vec<(u64, f32)> = hits.iter().map(|hit| (hit.id, hit.score)).collect();
        assert_eq!(found, expected[..limit.min(expected.len())]);
    }
}

fn check_words(index: &Index, rows: &Rows, allow: Option<&AllowList>, seed: u64) {
    let mut numbers = Numbers(seed);
    let words = [VOCABULARY[numbers.below(8) as usize], VOCABULARY[numbers.below(8) as usize]];
    let text = words.join(" ");
    let fits = |row: &&Passage| words.iter().any(|word| row.text.split(' ').any(|other| other == *word));
    let allowed = rows.values().filter(fits).filter(|row| allow.is_none_or(|allow| allow.contains(row.id)));
    let expected: Vec<u64> = allowed.map(|row| row.id).collect();
    let ask = |limit, allow| {
        let query = Query { candidates: Some(limit), allow, ..Query::new(Shape::Keyword(&text), limit) };
        index.search(&query).unwrap()
    };
    let mut found: Vec<u64> = ask(1000, allow).iter().map(|hit| hit.id).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
    // A filter changes no score, and the best of what is allowed are found however many others are better.
    let all = ask(1000, None);
    let best: Vec<f32> = (all.iter().filter(|hit| allow.is_none_or(|allow| allow.contains(hit.id))))
        .map(|hit| hit.score)
        .take(4)
        .collect();
    let few: Vec<f32> = ask(4, allow).iter().map(|hit| hit.score).collect();
    assert_eq!(few, best);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_index_answers_as_the_rows_do(steps in prop::collection::vec(step(), 1..14)) {
        let root = tempfile::tempdir().unwrap();
        let mut rows = Rows::new();
        let mut opened = shelf(root.path());
        opened.rebuild(&key(), SETTINGS, 1, std::iter::empty::<Result<Passage, ()>>()).unwrap();
        let mut sequence = 1;
        for (version, step) in (1..).zip(steps) {
            match step {
                Step::Apply(removed, puts) => {
                    let index = opened.index(&key(), SETTINGS).unwrap();
                    let puts: Vec<Passage> = puts.into_iter().map(|id| passage(id, version)).collect();
                    let removed = AllowList::of_ranges(removed);
                    rows.retain(|id, _| !removed.contains(*id));
                    rows.extend(puts.iter().map(|put| (put.id, put.clone())));
                    index.apply(sequence, sequence + 3, removed.clone(), puts.clone()).unwrap();
                    sequence += 3;
                    // The same once more is passed over.
                    index.apply(sequence - 3, sequence, removed, vec![]).unwrap();
                    prop_assert_eq!(index.sequence(), sequence);
                    prop_assert_eq!(index.vectors(), Some(rows.len() as u64));
                }
                Step::Restart => {
                    drop(opened);
                    opened = shelf(root.path());
                }
                Step::Ask(allow, seed) => {
                    let allow = allow.map(AllowList::of_ranges);
                    let index = opened.index(&key(), SETTINGS).unwrap();
                    check_near(&index, &rows, allow.as_ref(), seed);
                    check_words(&index, &rows, allow.as_ref(), seed);
                }
            }
        }
    }
}
