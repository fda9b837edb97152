//! The passage index by pgvector, on a PostgreSQL that has it: held against looking at every vector.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod words;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use heddle_kernel::{TenantId, VectorDatabaseId};
use heddle_store_vectors::PassageIndexes;
use heddle_testkit::db::TestDb;
use heddle_vectors::ports::{Given, IndexError, IndexSpec, IndexedPassage, PassageIndex, Search};
use heddle_vectors::records::{Backend, IndexKey, PassageId, PassageRange};
use uuid::Uuid;

use self::words::Words;

const DIMENSIONS: u32 = 8;

fn spec() -> IndexSpec {
    let model = Some(("model".to_owned(), "1".to_owned(), DIMENSIONS));
    IndexSpec { backend: Backend::Pgvector, model, language: Some("en".to_owned()) }
}

fn key() -> IndexKey {
    IndexKey { tenant: TenantId(Uuid::now_v7()), database: VectorDatabaseId(Uuid::now_v7()), generation: 1 }
}

/// A vector of length 1 that scatters with its number.
fn vector(number: u64) -> Vec<f32> {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut values: Vec<f32> = (0..DIMENSIONS)
        .map(|_| {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
        })
        .collect();
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.iter_mut().for_each(|value| *value /= length);
    values
}

fn passage(id: u64, text: &str) -> IndexedPassage {
    IndexedPassage { id: PassageId(id), text: text.to_owned(), vector: Some(vector(id)) }
}

fn asked(number: u64, allow: Option<Vec<PassageRange>>) -> Search {
    Search { vector: Some(vector(number)), words: None, allow: allow.map(Arc::from), candidates: 10 }
}

/// The ten nearest of some ids, by looking at each.
fn nearest(ids: impl Iterator<Item = u64>, to: u64) -> Vec<PassageId> {
    let to = vector(to);
    let cosine = |id: u64| {
        vector(id).iter().zip(&to).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum::<f64>() as f32
    };
    let mut all: Vec<(f32, u64)> = ids.map(|id| (cosine(id), id)).collect();
    all.sort_by(|one, other| other.0.total_cmp(&one.0));
    all.into_iter().take(10).map(|(_, id)| PassageId(id)).collect()
}

async fn found(index: &PassageIndexes, key: IndexKey, search: &Search) -> Vec<PassageId> {
    let mut hits = index.search(key, &spec(), search).await.unwrap();
    let score = |id: PassageId, hits: &BTreeMap<PassageId, f32>| hits.get(&id).copied().unwrap_or(f32::MIN);
    let scores: BTreeMap<PassageId, f32> =
        hits.iter().map(|hit| (hit.id, hit.scores.semantic.unwrap_or(f32::MIN))).collect();
    hits.sort_by(|one, other| score(other.id, &scores).total_cmp(&score(one.id, &scores)));
    hits.into_iter().map(|hit| hit.id).collect()
}

async fn build(index: &PassageIndexes, key: IndexKey, ids: std::ops::Range<u64>, sequence: i64) {
    index.rebuild_begin(key, &spec()).await.unwrap();
    let all: Vec<IndexedPassage> = ids.map(|id| passage(id, "warp and weft")).collect();
    for part in all.chunks(5_000) {
        index.rebuild_add(key, part).await.unwrap();
    }
    index.rebuild_end(key, sequence).await.unwrap();
}

#[tokio::test]
async fn answers_are_those_of_looking_at_every_vector_and_filters_cost_none() {
    let Some(db) = TestDb::postgres_with_vectors().await else { return };
    let index = PassageIndexes::new(db.db(), Arc::new(Words::default()));
    assert!(index.has(Backend::Pgvector).await);
    let key = key();
    build(&index, key, 0..2_000, 5).await;
    assert_eq!(index.sequence(key, &spec()).await.unwrap(), 5);
    for number in 9_000..9_020 {
        assert_eq!(found(&index, key, &asked(number, None)).await, nearest(0..2_000, number));
        let allow = vec![PassageRange::of(10, 5), PassageRange::of(1_500, 9), PassageRange::of(5_000, 9)];
        let few = (10..15).chain(1_500..1_509);
        assert_eq!(found(&index, key, &asked(number, Some(allow))).await, nearest(few, number));
    }
    let hits = index.search(key, &spec(), &asked(7, None)).await.unwrap();
    let own = hits.iter().find(|hit| hit.id == PassageId(7)).unwrap();
    assert!((own.scores.semantic.unwrap() - 1.0).abs() < 1e-5, "the cosine is exact: {own:?}");
    assert!(found(&index, key, &asked(7, Some(Vec::new()))).await.is_empty());
}

#[tokio::test]
async fn parts_of_a_commit_are_all_there_whichever_node_gives_them() {
    let Some(db) = TestDb::postgres_with_vectors().await else { return };
    let nodes = [(); 2].map(|()| PassageIndexes::new(db.db(), Arc::new(Words::default())));
    let [one, other] = &nodes;
    let key = key();
    build(one, key, 0..100, 3).await;
    // The other one's words are behind the vectors, which the first has brought to 5 alone.
    other.rebuild_begin(key, &spec()).await.unwrap();
    other.rebuild_end(key, 3).await.unwrap();
    let whole = |since, until| Given { since, until, is_last: true };
    one.apply(key, &spec(), &[PassageRange::of(0, 10)], &[passage(100, "weft")], whole(3, 5)).await.unwrap();
    let all: Vec<IndexedPassage> = (101..401).map(|id| passage(id, "weft")).collect();
    let mut parts = all.chunks(100).peekable();
    let mut gone: &[PassageRange] = &[PassageRange { first: 0, end: 20 }];
    while let Some(part) = parts.next() {
        let given = Given { since: 3, until: 6, is_last: parts.peek().is_none() };
        other.apply(key, &spec(), gone, part, given).await.unwrap();
        gone = &[];
    }
    for number in [0, 50, 100, 101, 200, 201, 300, 301, 400] {
        let live = 20..401;
        assert_eq!(found(other, key, &asked(number, None)).await, nearest(live.clone(), number), "{number}");
        assert_eq!(found(one, key, &asked(number, None)).await, nearest(live, number), "{number}");
    }
    assert_eq!(other.sequence(key, &spec()).await.unwrap(), 6);
    assert_eq!(one.sequence(key, &spec()).await.unwrap(), 5, "its own words lack what came since");
}

#[tokio::test]
async fn commits_are_applied_once_and_what_was_removed_is_not_found() {
    let Some(db) = TestDb::postgres_with_vectors().await else { return };
    let words = Arc::new(Words::default());
    let index = PassageIndexes::new(db.db(), words.clone());
    let key = key();
    build(&index, key, 0..100, 1).await;
    let new = [passage(200, "shuttle"), passage(50, "replaced")];
    let once = Given { since: 1, until: 4, is_last: true };
    // The second time something else is said to have changed, which is not looked at.
    let other = [passage(300, "another"), passage(60, "replaced")];
    for (removed, new) in [(0..20, &new), (20..100, &other)] {
        let removed = PassageRange { first: removed.start, end: removed.end };
        index.apply(key, &spec(), &[removed], new, once).await.unwrap();
        assert_eq!(index.sequence(key, &spec()).await.unwrap(), 4);
        let live = (20..100).chain([200]);
        assert_eq!(found(&index, key, &asked(3, None)).await, nearest(live, 3));
    }
    let both = Search { words: Some("shuttle".to_owned()), ..asked(200, None) };
    let hits = index.search(key, &spec(), &both).await.unwrap();
    let hit = hits.iter().find(|hit| hit.id == PassageId(200)).unwrap();
    assert!(hit.scores.semantic.is_some() && hit.scores.keyword.is_some(), "{hit:?}");
    // A node that comes later has the vectors already, and needs the words alone.
    let other = PassageIndexes::new(db.db(), Arc::new(Words::default()));
    assert!(matches!(other.sequence(key, &spec()).await, Err(IndexError::Rebuild(_))));
    other.rebuild_begin(key, &spec()).await.unwrap();
    assert_eq!(found(&index, key, &asked(30, None)).await.len(), 10, "the first node answers meanwhile");
    other.rebuild_add(key, &[passage(20, "heddle")]).await.unwrap();
    other.rebuild_end(key, 9).await.unwrap();
    assert_eq!(other.sequence(key, &spec()).await.unwrap(), 4, "the vectors lack what came since");
    let bad = Search { vector: Some(vec![f32::NAN; 8]), ..asked(1, None) };
    assert!(matches!(index.search(key, &spec(), &bad).await, Err(IndexError::Unfit(_))));
    let short = Search { vector: Some(vec![1.0]), ..asked(1, None) };
    assert!(matches!(index.search(key, &spec(), &short).await, Err(IndexError::Unfit(_))));
}

#[tokio::test]
async fn one_node_builds_and_another_waits_until_it_is_gone() {
    let Some(db) = TestDb::postgres_with_vectors().await else { return };
    let first = PassageIndexes::new(db.db(), Arc::new(Words::default()));
    let second = PassageIndexes::new(db.db(), Arc::new(Words::default()));
    let key = key();
    first.rebuild_begin(key, &spec()).await.unwrap();
    assert!(matches!(second.rebuild_begin(key, &spec()).await, Err(IndexError::Unavailable(_))));
    assert!(matches!(second.sequence(key, &spec()).await, Err(IndexError::Unavailable(_))));
    assert!(matches!(first.search(key, &spec(), &asked(1, None)).await, Err(IndexError::Rebuild(_))));
    let postgres = db.db().postgres().unwrap();
    let long_ago = "UPDATE vector_partitions SET touched_at = now() - interval '2 minutes'";
    postgres.execute_batch(long_ago).await.unwrap();
    second.rebuild_begin(key, &spec()).await.unwrap();
    let late = first.rebuild_add(key, &[passage(1, "late")]).await;
    assert!(matches!(late, Err(IndexError::Rebuild(_))), "{late:?}");
    assert!(matches!(first.rebuild_end(key, 3).await, Err(IndexError::Rebuild(_))));
    second.rebuild_add(key, &[passage(2, "in time")]).await.unwrap();
    second.rebuild_end(key, 3).await.unwrap();
    assert_eq!(found(&second, key, &asked(2, None)).await, [PassageId(2)]);
    second.remove(key).await.unwrap();
    second.remove(key).await.unwrap();
    assert!(matches!(second.search(key, &spec(), &asked(2, None)).await, Err(IndexError::Rebuild(_))));
}

#[tokio::test]
async fn commits_that_are_not_kept_any_more_make_the_vectors_anew() {
    let Some(db) = TestDb::postgres_with_vectors().await else { return };
    let index = PassageIndexes::new(db.db(), Arc::new(Words::default()));
    let key = key();
    build(&index, key, 0..50, 1).await;
    build(&index, key, 100..150, 70).await;
    assert_eq!(index.sequence(key, &spec()).await.unwrap(), 70);
    assert_eq!(found(&index, key, &asked(1, None)).await, nearest(100..150, 1));
    let mut other = spec();
    other.model = Some(("model".to_owned(), "2".to_owned(), DIMENSIONS));
    assert!(matches!(index.sequence(key, &other).await, Err(IndexError::Rebuild(_))));
    let postgres = db.db().postgres().unwrap();
    postgres.execute_batch("DROP TABLE vector_dense").await.unwrap();
    assert!(matches!(index.search(key, &spec(), &asked(1, None)).await, Err(IndexError::Rebuild(_))));
}

#[tokio::test]
async fn an_organisation_finds_none_of_anothers_under_the_same_ids() {
    let Some(db) = TestDb::postgres_with_vectors().await else { return };
    let index = PassageIndexes::new(db.db(), Arc::new(Words::default()));
    let one = key();
    let other = IndexKey { database: VectorDatabaseId(Uuid::now_v7()), ..key() };
    build(&index, one, 0..30, 1).await;
    build(&index, other, 1_000..1_030, 1).await;
    assert_eq!(found(&index, one, &asked(1_001, None)).await, nearest(0..30, 1_001));
    assert_eq!(found(&index, other, &asked(1, None)).await, nearest(1_000..1_030, 1));
    let stolen = IndexKey { tenant: other.tenant, ..one };
    assert!(index.search(stolen, &spec(), &asked(1, None)).await.is_err());
}

#[tokio::test]
async fn a_graph_is_built_beside_many_passages_and_a_narrow_filter_stays_exact() {
    const MANY: u64 = 21_000;
    let Some(db) = TestDb::postgres_with_vectors().await else { return };
    let index = PassageIndexes::new(db.db(), Arc::new(Words::default()));
    let key = key();
    build(&index, key, 0..MANY, 1).await;
    let began = Instant::now();
    while !index.has_graph(key, &spec()).await.unwrap() {
        assert!(began.elapsed() < Duration::from_secs(120), "no graph is built");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (mut same, mut all) = (0, 0);
    for number in 50_000..50_020 {
        let exact = nearest(0..MANY, number);
        let near = found(&index, key, &asked(number, None)).await;
        assert_eq!(near.len(), 10);
        same += near.iter().filter(|id| exact.contains(id)).count();
        all += exact.len();
        let narrow: Vec<PassageRange> = (0..MANY).step_by(100).map(|id| PassageRange::of(id, 1)).collect();
        let few = nearest((0..MANY).step_by(100), number);
        assert_eq!(found(&index, key, &asked(number, Some(narrow))).await, few);
        let wide = vec![PassageRange::of(0, 20_500)];
        assert_eq!(found(&index, key, &asked(number, Some(wide))).await.len(), 10);
    }
    assert!(same * 100 >= all * 95, "{same} of {all}");
}

#[tokio::test]
async fn without_the_extension_the_server_says_what_is_missing() {
    let sqlite = TestDb::sqlite().await;
    let index = PassageIndexes::new(sqlite.db(), Arc::new(Words::default()));
    assert!(!index.has(Backend::Pgvector).await && index.has(Backend::Embedded).await);
    let Some(plain) = TestDb::postgres().await else { return };
    let index = PassageIndexes::new(plain.db(), Arc::new(Words::default()));
    if let Some(why) = index.lacking().await.unwrap() {
        assert!(why.contains("CREATE EXTENSION vector"), "{why}");
        assert!(!index.has(Backend::Pgvector).await);
        let told = index.sequence(key(), &spec()).await;
        assert!(matches!(&told, Err(IndexError::Unavailable(why)) if why.contains("vector")), "{told:?}");
    }
}
