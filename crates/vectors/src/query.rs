//! Queries: passages with citations. What a caller may not see is taken out before an index cuts, what was deleted is never
//! answered, and no query is answered in another manner than it asked for unless it allows that.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use heddle_kernel::{BuildId, FileId};
use heddle_policy::capability::VectorDatabaseQuery;
use heddle_policy::resource::{Place as _, ResourceId as _, Within};
use heddle_policy::{Action, Authorized, Ownership, RequestContext, ResourceType};
use heddle_usecase::StoreError;
use serde_json::Value;

use crate::allowed::{Allowances, Asked};
use crate::databases::{MOST_PASSAGES, denies, model_fault};
use crate::filter::Filter;
use crate::fusion::{Fusion, diverse, fused, single};
use crate::indexer::{FollowError, Indexer, spec_of};
use crate::ports::{
    Asker, EmbedError, Embedder, FoundPassage, IndexError, LegScores, Neighbours, PassageHit, PassageStore,
    Priority, Reranker, Search, VectorStore, embed_one,
};
use crate::records::{Locator, Passage, PassageId, PassageRange, QueryMode, Span, VectorDatabase};
use crate::{Problem, Problems, UseCaseError};

/// The most characters of a query.
const TEXT: usize = 4_000;
/// Passages of an answer where nobody says how many.
const LIMIT: u32 = 8;
/// Methodology whose passages share pieces.
const PARENT_CHILD: &str = "parent-child";
/// The least candidates of each leg: as many as the longest answer needs, so that scores, which are brought to one range
/// among the candidates, do not depend on how many passages are asked for.
const CANDIDATES: u32 = 2 * MOST_PASSAGES;
/// Candidates that are put in order anew where nobody says how many, and fewer are asked for.
const RERANKED: u32 = 50;
/// The most candidates that are put in order anew.
const MOST_RERANKED: u32 = 200;
/// The most passages before and behind each.
const NEIGHBOURS: u32 = 3;
/// The most bytes of the texts of an answer.
const ANSWER: usize = 64 * 1024 * 1024;
/// Time that a query waits for its index.
const WAIT: Duration = Duration::from_secs(20);

/// Reranking by a deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rerank {
    /// Alias of the deployment.
    pub deployment: String,
    /// Passages that are put in order anew.
    pub candidates: Option<u32>,
}

impl Rerank {
    /// Passages that are put in order anew for an answer of so many at most.
    fn most(&self, limit: u32) -> u32 {
        self.candidates.unwrap_or(RERANKED.max(limit))
    }
}

/// A query.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Text to look for.
    pub text: String,
    /// The most passages; the database's preset where none is said.
    pub limit: Option<u32>,
    /// Manner; the database's preset where none is said, else the best that it can.
    pub mode: Option<QueryMode>,
    /// Filter.
    pub filter: Option<Value>,
    /// Least score.
    pub min_score: Option<f64>,
    /// Manner of the fusion, of `Hybrid` alone.
    pub fusion: Option<Fusion>,
    /// Weight of likeness to the query against difference from each other; the database must have a model.
    pub mmr_lambda: Option<f64>,
    /// Reranking.
    pub rerank: Option<Rerank>,
    /// Passages before and behind each.
    pub neighbours: u32,
    /// Whether words alone may be looked for when the model does not answer.
    pub allow_degraded: bool,
}

/// Scores of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scores {
    /// Likeness of meaning.
    pub semantic: Option<f32>,
    /// Score of the words.
    pub keyword: Option<f32>,
    /// Score of the reranking.
    pub rerank: Option<f32>,
}

/// A passage of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Cited {
    /// The passage with its file.
    pub found: FoundPassage,
    /// Score by which it is in its place.
    pub score: f32,
    /// Scores by what gave them.
    pub scores: Scores,
    /// Place in the answer, from 1.
    pub rank: u32,
    /// Text of its citation for people: title, page and heading.
    pub label: String,
    /// Passages beside it with their distance, in the order of the file.
    pub neighbours: Vec<(i32, Passage)>,
}

impl Cited {
    /// Text of the answer: that around it where its methodology has such.
    #[must_use]
    pub fn text(&self) -> &str {
        self.found.passage.context.as_deref().unwrap_or(&self.found.passage.text)
    }

    /// Place of that text in the file. What was cut before such places were kept has that of the passage itself.
    #[must_use]
    pub fn span(&self) -> Span {
        let Passage { context, locator, .. } = &self.found.passage;
        let own = Span { start_char: locator.start_char, end_char: locator.end_char };
        context.as_ref().and(locator.context).unwrap_or(own)
    }

    /// Piece whose text is answered, where passages may share one.
    fn piece(&self) -> Option<(FileId, BuildId, Span)> {
        let Passage { file, build, locator, .. } = &self.found.passage;
        Some((*file, *build, locator.context?))
    }
}

/// Answer to a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Passages, the best first.
    pub passages: Vec<Cited>,
    /// Manner in which they were found.
    pub mode: QueryMode,
    /// Model that embedded the query.
    pub model: Option<String>,
    /// Commit of the database up to which all is seen.
    pub sequence: i64,
    /// Time of the embedding.
    pub embed: Duration,
    /// Time of the search.
    pub search: Duration,
    /// Time of all.
    pub total: Duration,
    /// Reason for which words alone were looked for.
    pub degraded: Option<String>,
}

/// Ports of queries.
#[derive(Clone)]
pub struct QueryPorts {
    /// Databases.
    pub store: Arc<dyn VectorStore>,
    /// Passages.
    pub passages: Arc<dyn PassageStore>,
    /// Models.
    pub embedder: Arc<dyn Embedder>,
    /// Reranking; none where no deployment can.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Indexes.
    pub indexer: Indexer,
}

impl std::fmt::Debug for QueryPorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueryPorts").finish_non_exhaustive()
    }
}

/// The use case of queries.
#[derive(Clone)]
pub struct VectorQueries {
    ports: QueryPorts,
    allowances: Arc<Allowances>,
}

impl std::fmt::Debug for VectorQueries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VectorQueries").finish_non_exhaustive()
    }
}

/// Files that a caller may not see, among those of a database.
pub(crate) enum Denied {
    /// All of them.
    All,
    /// These.
    Some(BTreeSet<FileId>),
}

impl Denied {
    /// Whether a file is one of them.
    pub(crate) fn has(&self, file: FileId) -> bool {
        match self {
            Self::All => true,
            Self::Some(files) => files.contains(&file),
        }
    }
}

/// A query as it is carried out.
struct Plan {
    mode: QueryMode,
    limit: u32,
    candidates: u32,
    filter: Option<Filter>,
    vector: Option<Vec<f32>>,
    embed: Duration,
    degraded: Option<String>,
}

impl VectorQueries {
    /// Builds the use case on its ports.
    #[must_use]
    pub fn new(ports: QueryPorts) -> Self {
        Self { ports, allowances: Arc::default() }
    }

    /// Passages of a database that answer a query. Documents that are denied to the caller are as if they were not there.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` with every member that breaks a rule (`unknownField`, ...); `Conflict` (`noEmbeddingModel`,
    /// `modelMissing`); `Unavailable` while a model or the index does not answer.
    pub async fn query(
        &self,
        authorized: &Authorized<VectorDatabaseQuery>,
        context: &RequestContext,
        query: &Query,
    ) -> Result<Answer, UseCaseError> {
        let begun = Instant::now();
        let database = self.ports.store.database(context.tenant(), &authorized.id()).await?;
        check(query)?;
        let plan = self.plan(context, &database, query).await?;
        let denied = not_to_find(context, &database);
        let (sequence, passages, search) = match denied {
            Denied::All => (database.sequence, Vec::new(), Duration::ZERO),
            Denied::Some(denied) => self.search(context, &database, query, &plan, &denied).await?,
        };
        let model = plan.vector.as_ref().and(database.recipe.model.as_ref()).map(|model| model.id.clone());
        let Plan { mode, embed, degraded, .. } = plan;
        Ok(Answer { passages, mode, model, sequence, embed, search, total: begun.elapsed(), degraded })
    }

    /// Settles the manner of a query and embeds it.
    async fn plan(
        &self,
        context: &RequestContext,
        database: &VectorDatabase,
        query: &Query,
    ) -> Result<Plan, UseCaseError> {
        let model = database.recipe.model.as_ref();
        let preset = if model.is_some() { QueryMode::Hybrid } else { QueryMode::Keyword };
        let mut mode = query.mode.or(database.defaults.mode).unwrap_or(preset);
        let filter =
            query.filter.as_ref().map(|filter| Filter::read(filter, &database.schema)).transpose()?;
        let limit = query.limit.or(database.defaults.limit).unwrap_or(LIMIT);
        let reranked = query.rerank.as_ref().map_or(0, |rerank| rerank.most(limit));
        let candidates = CANDIDATES.max(reranked);
        acts(query, mode, model.is_some())?;
        let (mut vector, mut embed, mut degraded) = (None, Duration::ZERO, None);
        if mode != QueryMode::Keyword {
            let Some(model) = model else {
                let message = "The database has no embedding model: words alone can be looked for.";
                let problem = Problem::at("mode", "noEmbeddingModel", message);
                return Err(UseCaseError::Conflict(vec![problem]));
            };
            let begun = Instant::now();
            let (embedder, asker) = (&*self.ports.embedder, Asker::of_request(context));
            match embed_one(embedder, &asker, model, &query.text, Priority::Interactive).await {
                Ok(made) => vector = Some(made),
                Err(error @ (EmbedError::Missing(_) | EmbedError::Unavailable { .. }))
                    if query.allow_degraded =>
                {
                    mode = QueryMode::Keyword;
                    degraded = Some(error.to_string());
                }
                Err(error) => return Err(model_fault(error)),
            }
            embed = begun.elapsed();
        }
        Ok(Plan { mode, limit, candidates, filter, vector, embed, degraded })
    }

    /// Searches the generation that serves, at the commit of this moment or a later one.
    async fn search(
        &self,
        context: &RequestContext,
        database: &VectorDatabase,
        query: &Query,
        plan: &Plan,
        denied: &BTreeSet<FileId>,
    ) -> Result<(i64, Vec<Cited>, Duration), UseCaseError> {
        let begun = Instant::now();
        let at = self.ports.passages.position(database.tenant, database.id).await?;
        let sequence = at.sequence;
        if at.generation != database.generation {
            // Another generation began to serve between the two readings, by another model perhaps.
            let message = "The database has just been indexed anew; ask again.".to_owned();
            return Err(UseCaseError::Unavailable(StoreError::Unavailable(message)));
        }
        let asked = Asked { at, filter: plan.filter.as_ref(), denied };
        let allowance = self.allowances.of(&*self.ports.passages, database, asked).await?;
        if allowance.passages.as_ref().is_some_and(|passages| passages.is_empty()) {
            return Ok((sequence, Vec::new(), begun.elapsed()));
        }
        let hits = self.hits(database, query, plan, sequence, allowance.passages.clone()).await?;
        let scored = match plan.mode {
            QueryMode::Hybrid => fused(&hits, query.fusion.unwrap_or_default()),
            QueryMode::Semantic => single(&hits, true),
            QueryMode::Keyword => single(&hits, false),
        };
        let mut cited = self.cited(database, query, plan, &hits, &scored).await?;
        // What a file got since its passages were looked up is in none of the lists.
        cited.retain(|one| !allowance.but.contains(&one.found.passage.file));
        one_of_each_piece(&mut cited);
        self.rerank(context, query, plan.limit, &mut cited).await?;
        if let Some(least) = query.min_score {
            cited.retain(|one| f64::from(one.score) >= least);
        }
        let mut cited = diversified(cited, query.mmr_lambda, plan.limit as usize);
        for (rank, one) in (1..).zip(&mut cited) {
            one.rank = rank;
        }
        self.add_neighbours(database, query.neighbours, &mut cited).await?;
        check_size(&cited, ANSWER)?;
        Ok((sequence, cited, begun.elapsed()))
    }

    async fn hits(
        &self,
        database: &VectorDatabase,
        query: &Query,
        plan: &Plan,
        sequence: i64,
        allow: Option<Arc<[PassageRange]>>,
    ) -> Result<Vec<PassageHit>, UseCaseError> {
        let key = database.index_key();
        let Some(spec) = spec_of(database, key.generation) else {
            return Err(UseCaseError::Internal("the generation that serves has no recipe".to_owned()));
        };
        let words = (plan.mode != QueryMode::Semantic).then(|| query.text.clone());
        let search = Search { vector: plan.vector.clone(), words, allow, candidates: plan.candidates };
        // What an index finds damaged while it searches is built anew, and searched once more.
        for last in [false, true] {
            let followed = self.ports.indexer.follow_within(key, &spec, sequence, WAIT).await;
            followed.map_err(not_followed)?;
            match self.ports.indexer.index().search(key, &spec, &search).await {
                Ok(hits) => return Ok(hits),
                Err(IndexError::Rebuild(_)) if !last => {}
                Err(error) => return Err(not_followed(error.into())),
            }
        }
        Err(UseCaseError::Unavailable(StoreError::Unavailable("the index is being built anew".to_owned())))
    }

    /// The best of what was found, as far as it can be found now.
    async fn cited(
        &self,
        database: &VectorDatabase,
        query: &Query,
        plan: &Plan,
        hits: &[PassageHit],
        scored: &[(PassageId, f32)],
    ) -> Result<Vec<Cited>, UseCaseError> {
        let pieces = shares_pieces(database);
        let looks_on = query.mmr_lambda.is_some() || query.rerank.is_some() || query.min_score.is_some();
        let most = if looks_on || pieces {
            plan.candidates
        } else {
            // Some may have gone since the index was searched.
            plan.limit.saturating_mul(2)
        };
        let ids: Vec<PassageId> = scored.iter().take(most as usize).map(|(id, _)| *id).collect();
        let (store, with_vectors) = (&self.ports.passages, query.mmr_lambda.is_some());
        let found =
            store.found(database.tenant, database.id, database.generation, &ids, with_vectors).await?;
        let mut found: HashMap<PassageId, FoundPassage> =
            found.into_iter().map(|one| (one.passage.id, one)).collect();
        let legs: HashMap<PassageId, LegScores> = hits.iter().map(|hit| (hit.id, hit.scores)).collect();
        let mut cited = Vec::with_capacity(ids.len());
        for (id, score) in scored {
            let Some(one) = found.remove(id) else { continue };
            let LegScores { semantic, keyword } = legs.get(id).copied().unwrap_or_default();
            let label = label(&one.title, &one.passage.locator);
            let scores = Scores { semantic, keyword, rerank: None };
            cited.push(Cited { found: one, score: *score, scores, rank: 0, label, neighbours: Vec::new() });
        }
        Ok(cited)
    }

    async fn rerank(
        &self,
        context: &RequestContext,
        query: &Query,
        limit: u32,
        cited: &mut Vec<Cited>,
    ) -> Result<(), UseCaseError> {
        let Some(rerank) = &query.rerank else { return Ok(()) };
        let Some(reranker) = &self.ports.reranker else {
            let message = "No deployment of this installation reranks.";
            let problem = Problem::at("rerank.deployment", "modelMissing", message);
            return Err(UseCaseError::Conflict(vec![problem]));
        };
        cited.truncate(rerank.most(limit) as usize);
        let texts: Vec<String> = cited.iter().map(|one| one.found.passage.text.clone()).collect();
        let scores = reranker.rerank(context, &rerank.deployment, &query.text, &texts).await;
        let scores = scores.map_err(|error| match model_fault(error) {
            UseCaseError::Conflict(mut problems) => {
                for problem in &mut problems {
                    problem.field = Some("rerank.deployment".to_owned());
                }
                UseCaseError::Conflict(problems)
            }
            other => other,
        })?;
        if scores.len() != cited.len() || !scores.iter().all(|score| score.is_finite()) {
            return Err(UseCaseError::conflict(
                "modelRefused",
                "The deployment gave no score for each passage.",
            ));
        }
        for (one, score) in cited.iter_mut().zip(scores) {
            one.score = score;
            one.scores.rerank = Some(score);
        }
        cited.sort_by(|one, other| other.score.total_cmp(&one.score));
        Ok(())
    }

    async fn add_neighbours(
        &self,
        database: &VectorDatabase,
        each: u32,
        cited: &mut [Cited],
    ) -> Result<(), UseCaseError> {
        if each == 0 || cited.is_empty() {
            return Ok(());
        }
        let of: Vec<Neighbours> = cited
            .iter()
            .map(|one| Neighbours { of: one.found.passage.id, within: one.found.of, each })
            .collect();
        let beside = self.ports.passages.neighbours(database.tenant, database.id, &of).await?;
        let mut beside: HashMap<PassageId, Vec<Passage>> = beside.into_iter().collect();
        for one in cited {
            let id = one.found.passage.id;
            let distance = |other: &Passage| {
                let apart = i64::try_from(other.id.0).ok()?.checked_sub(i64::try_from(id.0).ok()?)?;
                i32::try_from(apart).ok()
            };
            let passages = beside.remove(&id).unwrap_or_default();
            let placed = passages.into_iter().filter_map(|other| Some((distance(&other)?, other)));
            one.neighbours = placed.collect();
        }
        Ok(())
    }
}

fn check(query: &Query) -> Result<(), UseCaseError> {
    let mut problems = Problems::default();
    let count = query.text.chars().count();
    if query.text.trim().is_empty() {
        problems.add("query", "required", "A text to look for.");
    } else if count > TEXT {
        problems.add("query", "tooLong", format!("At most {TEXT} characters; these are {count}."));
    }
    if query.limit.is_some_and(|limit| !(1..=MOST_PASSAGES).contains(&limit)) {
        problems.add("limit", "outOfRange", format!("1 to {MOST_PASSAGES}."));
    }
    if query.neighbours > NEIGHBOURS {
        problems.add("includeNeighbours", "outOfRange", format!("0 to {NEIGHBOURS}."));
    }
    if query.min_score.is_some_and(|score| !score.is_finite()) {
        problems.add("minScore", "wrongType", "A number.");
    }
    if query.mmr_lambda.is_some_and(|lambda| !(0.0..=1.0).contains(&lambda)) {
        problems.add("diversity.mmrLambda", "outOfRange", "0 to 1.");
    }
    match query.fusion {
        Some(Fusion::MinMax { alpha }) if !(0.0..=1.0).contains(&alpha) => {
            problems.add("fusion.alpha", "outOfRange", "0 to 1.");
        }
        Some(Fusion::Rrf { k }) if !(1..=1_000).contains(&k) => {
            problems.add("fusion.k", "outOfRange", "1 to 1000.");
        }
        Some(_) | None => {}
    }
    let reranked = query.rerank.as_ref().and_then(|rerank| rerank.candidates);
    if reranked.is_some_and(|candidates| !(1..=MOST_RERANKED).contains(&candidates)) {
        problems.add("rerank.candidates", "outOfRange", format!("1 to {MOST_RERANKED}."));
    }
    problems.finish()
}

/// Checks that what a query says of its manner can act in a mode, and by the vectors of the database.
fn acts(query: &Query, mode: QueryMode, has_vectors: bool) -> Result<(), UseCaseError> {
    let mut problems = Problems::default();
    if query.fusion.is_some() && mode != QueryMode::Hybrid {
        let message = format!("It is of the mode `hybrid`; the mode of the query is `{mode}`.");
        problems.add("fusion", "notAllowed", message);
    }
    if query.mmr_lambda.is_some() && !has_vectors {
        let message = "The database has no embedding model: nothing says how passages differ.";
        problems.add("diversity", "notAllowed", message);
    }
    problems.finish()
}

/// Documents of a database that rules deny to a caller. A right to query needs none on documents, and a deny on one, or on
/// reading what is in the database, is heard nevertheless.
pub(crate) fn denied(context: &RequestContext, database: &VectorDatabase) -> Denied {
    denied_to(Action::List, context, database)
}

/// Documents of a database in which a query of a caller does not look: those that it may not see, and those that are denied
/// to queries alone.
fn not_to_find(context: &RequestContext, database: &VectorDatabase) -> Denied {
    match (denied(context, database), denied_to(Action::Query, context, database)) {
        (Denied::Some(mut unseen), Denied::Some(unasked)) => {
            unseen.extend(unasked);
            Denied::Some(unseen)
        }
        (Denied::All, _) | (_, Denied::All) => Denied::All,
    }
}

fn denied_to(action: Action, context: &RequestContext, database: &VectorDatabase) -> Denied {
    let extent = denies(context, ResourceType::Document, action);
    let parents = Within::<heddle_policy::resource::VectorDatabase>::of(database.name.clone()).parents();
    let unknown = FileId(uuid::Uuid::nil()).rule_id();
    if !extent.permits(&unknown, &parents, Ownership::Unknown) {
        return Denied::All;
    }
    Denied::Some(extent.denied.iter().filter_map(FileId::of_rule).collect())
}

/// Text of a citation for people.
fn label(title: &str, locator: &Locator) -> String {
    let mut label = title.to_owned();
    if let Some(page) = locator.page {
        label.push_str(&format!(", p. {page}"));
    } else if let Some(slide) = locator.slide {
        label.push_str(&format!(", slide {slide}"));
    } else if let Some(sheet) = &locator.sheet {
        label.push_str(&format!(", sheet {sheet}"));
    }
    if let Some(heading) = locator.heading_path.last() {
        label.push_str(&format!(", {heading}"));
    }
    label
}

/// Whether passages of a database may be answered by one piece that they share.
fn shares_pieces(database: &VectorDatabase) -> bool {
    database.recipe.chunking.id == PARENT_CHILD
}

/// Leaves the best passage of each piece: its text is answered once.
fn one_of_each_piece(cited: &mut Vec<Cited>) {
    let mut seen = HashSet::new();
    cited.retain(|one| one.piece().is_none_or(|piece| seen.insert(piece)));
}

fn diversified(cited: Vec<Cited>, lambda: Option<f64>, limit: usize) -> Vec<Cited> {
    let Some(lambda) = lambda else { return cited.into_iter().take(limit).collect() };
    let chosen = {
        let vector = |one: &'_ Cited| one.found.passage.vector.clone().unwrap_or_default();
        let vectors: Vec<Vec<f32>> = cited.iter().map(vector).collect();
        let scored: Vec<(f32, &[f32])> =
            cited.iter().zip(&vectors).map(|(one, vector)| (one.score, vector.as_slice())).collect();
        #[expect(clippy::cast_possible_truncation, reason = "a weight from 0 to 1")]
        let lambda = lambda as f32;
        diverse(&scored, lambda, limit)
    };
    let mut places: Vec<Option<Cited>> = cited.into_iter().map(Some).collect();
    chosen.into_iter().filter_map(|place| places.get_mut(place).and_then(Option::take)).collect()
}

/// Refuses an answer whose texts are longer together than is allowed.
fn check_size(cited: &[Cited], most: usize) -> Result<(), UseCaseError> {
    let beside = |one: &Cited| one.neighbours.iter().map(|(_, other)| other.text.len()).sum::<usize>();
    let bytes: usize = cited.iter().map(|one| one.text().len() + beside(one)).sum();
    if bytes <= most {
        return Ok(());
    }
    let (has, may) = (bytes.div_ceil(1024 * 1024), most / 1024 / 1024);
    let message = format!("The passages have {has} MiB together, and {may} are allowed: ask for fewer.");
    Err(UseCaseError::invalid("limit", "tooLong", message))
}

fn not_followed(error: FollowError) -> UseCaseError {
    match error {
        FollowError::Store(error) => error.into(),
        FollowError::Index(IndexError::Unfit(why)) => UseCaseError::conflict("modelRefused", why),
        FollowError::Index(IndexError::Rebuild(_) | IndexError::Unavailable(_))
        | FollowError::StillBehind
        | FollowError::GivenUp => UseCaseError::Unavailable(StoreError::Unavailable(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_checked_as_a_whole() {
        let wrong = Query {
            text: "x".repeat(4_001),
            limit: Some(0),
            min_score: Some(f64::NAN),
            fusion: Some(Fusion::MinMax { alpha: f32::NAN }),
            mmr_lambda: Some(2.0),
            neighbours: 4,
            ..Query::default()
        };
        let Err(UseCaseError::Invalid(problems)) = check(&wrong) else { panic!("taken") };
        let fields: Vec<_> = problems.iter().filter_map(|one| one.field.as_deref()).collect();
        let all = ["query", "limit", "includeNeighbours", "minScore", "diversity.mmrLambda", "fusion.alpha"];
        assert_eq!(fields, all);
        assert!(check(&Query { text: "+(a OR".to_owned(), ..Query::default() }).is_ok());
    }

    #[test]
    fn a_citation_names_page_and_heading() {
        let locator = Locator {
            page: Some(3),
            heading_path: vec!["Care".to_owned(), "Filter".to_owned()],
            ..Locator::default()
        };
        assert_eq!(label("Manual", &locator), "Manual, p. 3, Filter");
    }
}
