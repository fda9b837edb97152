//! Queries: what can't act is refused, and what is put in order anew is as much as is asked for.

use std::sync::Mutex;

use heddle_kernel::BuildId;
use heddle_policy::capability::VectorDatabaseQuery;

use super::*;
use crate::ports::{
    FoundPassage, LegScores, MockEmbedder, MockPassageIndex, MockPassageStore, MockReranker, MockVectorStore,
    PassageHit, Position,
};
use crate::records::{Locator, ModelUse, Passage, PassageId, PassageRange, QueryMode, Span};
use crate::{Answer, Fusion, Indexer, Query, QueryPorts, Rerank, UseCaseError, VectorQueries};

/// Passages of the database.
const PASSAGES: u64 = 200;

fn embedded() -> VectorDatabase {
    let mut database = database();
    let (id, revision) = ("m".to_owned(), "1".to_owned());
    database.recipe.model = Some(ModelUse { id, dimensions: 2, revision });
    database
}

/// A passage that was found. The first ten are like each other, and so are the others.
fn found(id: PassageId, with_vectors: bool) -> FoundPassage {
    let vector = if id.0 < 10 { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
    let passage = Passage {
        id,
        file: file_id(1),
        build: BuildId(Uuid::from_u128(1)),
        ordinal: 0,
        text: id.to_string(),
        prefix: String::new(),
        context: None,
        tokens: 1,
        locator: Locator::default(),
        vector: with_vectors.then_some(vector),
    };
    let of = PassageRange::of(0, PASSAGES);
    FoundPassage { passage, file_name: "a.txt".to_owned(), title: "A".to_owned(), metadata: Map::new(), of }
}

/// The same with the piece that five passages share.
fn within_five(mut found: FoundPassage) -> FoundPassage {
    let piece = found.passage.id.0 / 5;
    found.passage.context = Some(format!("piece {piece}"));
    found.passage.locator.context = Some(Span { start_char: piece * 50, end_char: piece * 50 + 50 });
    found
}

/// Asks a database whose passages are all found by their words, the first of them best. With the numbers of texts that were
/// put in order anew.
async fn asked(database: VectorDatabase, query: Query) -> (Result<Answer, UseCaseError>, Vec<usize>) {
    let shares = database.recipe.chunking.id == "parent-child";
    let mut store = MockVectorStore::new();
    store.expect_database().returning(move |_, _| Ok(database.clone()));
    let mut passages = MockPassageStore::new();
    passages.expect_position().returning(|_, _| Ok(Position { sequence: 0, generation: 1, fields: 0 }));
    passages.expect_found().returning(move |_, _, _, ids, with_vectors| {
        let shared = |found| if shares { within_five(found) } else { found };
        Ok(ids.iter().map(|id| shared(found(*id, with_vectors))).collect())
    });
    let mut embedder = MockEmbedder::new();
    embedder.expect_embed().returning(|_, _, texts, _| Ok(vec![vec![1.0, 0.0]; texts.len()]));
    let mut index = MockPassageIndex::new();
    index.expect_sequence().returning(|_, _| Ok(0));
    index.expect_search().returning(|_, _, search| {
        let scores = |id: u64| LegScores { semantic: None, keyword: Some(PASSAGES as f32 - id as f32) };
        let hit = |id| PassageHit { id: PassageId(id), scores: scores(id) };
        Ok((0..PASSAGES.min(search.candidates.into())).map(hit).collect())
    });
    let counts = Arc::new(Mutex::new(Vec::new()));
    let mut reranker = MockReranker::new();
    let told = Arc::clone(&counts);
    reranker.expect_rerank().returning(move |_, _, _, texts| {
        told.lock().unwrap().push(texts.len());
        Ok(vec![1.0; texts.len()])
    });
    let passages = Arc::new(passages);
    let queries = VectorQueries::new(QueryPorts {
        store: Arc::new(store),
        passages: passages.clone(),
        embedder: Arc::new(embedder),
        reranker: Some(Arc::new(reranker)),
        indexer: Indexer::new(passages, Arc::new(index)),
    });
    let context = context();
    let name = super::database().name;
    let authorized = context.snapshot().authorize_one::<VectorDatabaseQuery>(name, ()).unwrap();
    let answer = queries.query(&authorized, &context, &query).await;
    let counts = counts.lock().unwrap().clone();
    (answer, counts)
}

fn words() -> Query {
    Query { text: "loom".to_owned(), mode: Some(QueryMode::Keyword), ..Query::default() }
}

fn ids(answer: &Answer) -> Vec<u64> {
    answer.passages.iter().map(|one| one.found.passage.id.0).collect()
}

#[tokio::test]
async fn a_manner_that_can_not_act_is_refused_by_its_name() {
    let fused = Query { fusion: Some(Fusion::default()), ..words() };
    let semantic = Query { mode: Some(QueryMode::Semantic), ..fused.clone() };
    let diverse = Query { mmr_lambda: Some(0.5), ..words() };
    let preset = Query { mode: None, ..fused.clone() };
    for (database, query, field) in [
        (embedded(), fused, "fusion"),
        (embedded(), semantic, "fusion"),
        (database(), preset.clone(), "fusion"),
        (database(), diverse.clone(), "diversity"),
    ] {
        let (answer, _) = asked(database, query).await;
        let Err(UseCaseError::Invalid(problems)) = answer else { panic!("{field}: {answer:?}") };
        let fields: Vec<_> = problems.iter().map(|one| (one.field.as_deref(), one.reason)).collect();
        assert_eq!(fields, [(Some(field), "notAllowed")]);
    }
    // Where they can act they do, in every mode.
    assert!(asked(embedded(), preset).await.0.is_ok());
    let two =
        async |query: Query| ids(&asked(embedded(), Query { limit: Some(2), ..query }).await.0.unwrap());
    assert_eq!(two(words()).await, [0, 1]);
    assert_eq!(two(diverse).await, [0, 10], "the second differs from the first");
}

#[tokio::test]
async fn as_many_as_are_asked_for_are_put_in_order_anew() {
    let reranked = |limit, candidates| {
        let deployment = "order".to_owned();
        Query { limit, rerank: Some(Rerank { deployment, candidates }), ..words() }
    };
    for (limit, candidates, texts, passages) in
        [(None, None, 50, 8), (Some(100), None, 100, 100), (Some(100), Some(60), 60, 60)]
    {
        let (answer, counts) = asked(database(), reranked(limit, candidates)).await;
        assert_eq!((counts, answer.unwrap().passages.len()), (vec![texts], passages), "{limit:?}");
    }
}

#[tokio::test]
async fn a_piece_that_passages_share_is_answered_once_and_as_many_as_are_asked_for() {
    let mut shared = database();
    shared.recipe.chunking.id = "parent-child".to_owned();
    let (answer, _) = asked(shared, words()).await;
    let answer = answer.unwrap();
    assert_eq!(ids(&answer), [0, 5, 10, 15, 20, 25, 30, 35]);
    for (at, one) in (0..).zip(&answer.passages) {
        assert_eq!(one.text(), format!("piece {at}"));
        assert_eq!(one.span(), Span { start_char: at * 50, end_char: at * 50 + 50 });
    }
}

/// Scores are brought to one range among the candidates: these are the same however many passages are asked for.
#[tokio::test]
async fn the_score_of_a_passage_does_not_depend_on_how_many_are_asked_for() {
    let mut scores = Vec::new();
    for limit in [2, 8, 100] {
        let query = Query { limit: Some(limit), mode: Some(QueryMode::Hybrid), ..words() };
        let answer = asked(embedded(), query).await.0.unwrap();
        assert_eq!(answer.passages.len(), limit as usize);
        scores.push(answer.passages[1].score);
    }
    assert!(scores.iter().all(|score| *score == scores[0]), "{scores:?}");
}
