//! Port to the passage index: a cache of the rows, one for each generation of a database.

use std::sync::Arc;

use async_trait::async_trait;

use crate::records::{Backend, IndexKey, PassageId, PassageRange};

/// Reason for which an index does not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// Index that is not there, of another form or generation, or damaged: it must be built anew from the rows.
    #[error("the index must be built anew: {0}")]
    Rebuild(String),
    /// Index that does not answer for the moment.
    #[error("the index is not available: {0}")]
    Unavailable(String),
    /// The query does not fit it: dimensions of the vector, a value that is no number.
    #[error("the query does not fit the index: {0}")]
    Unfit(String),
}

/// Form of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    /// Keeper.
    pub backend: Backend,
    /// Id and revision of the model, with the dimensions of its vectors; none: words alone.
    pub model: Option<(String, String, u32)>,
    /// Language by which words are reduced to stems: a code such as `en`.
    pub language: Option<String>,
}

/// Passage as an index needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedPassage {
    /// Id of the passage.
    pub id: PassageId,
    /// Text with what stands in front of it (title, headings): the words.
    pub text: String,
    /// Vector, of length 1; none where words alone count.
    pub vector: Option<Vec<f32>>,
}

/// Commits of which an index is given what changed, or a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    /// The commit behind which they come: at least this one the index has.
    pub since: i64,
    /// The last of them.
    pub until: i64,
    /// Whether it is all of what changed, or the last part of it.
    pub is_last: bool,
}

/// Search in an index.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Search {
    /// Vector of the query: the dense leg; none leaves it out.
    pub vector: Option<Vec<f32>>,
    /// Words of the query: the keyword leg; none leaves it out. It is a text, never a syntax.
    pub words: Option<String>,
    /// Ids that alone may be answered, in rising order and apart from each other; none: all. Both legs keep to it before
    /// they cut.
    pub allow: Option<Arc<[PassageRange]>>,
    /// Candidates of each leg.
    pub candidates: u32,
}

/// Scores of a passage by leg; a leg that did not find it has none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LegScores {
    /// Cosine, exact.
    pub semantic: Option<f32>,
    /// BM25.
    pub keyword: Option<f32>,
}

/// Passage that an index found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassageHit {
    /// Id of the passage.
    pub id: PassageId,
    /// Scores of it.
    pub scores: LegScores,
}

/// Index of passages. Each key has one, and no call touches that of another key.
///
/// `apply` and `rebuild_*` of one key are called one behind the other, never at once; `search` beside them sees the state
/// before or after a call.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait PassageIndex: Send + Sync {
    /// Number of the last commit that the index has applied.
    ///
    /// # Errors
    /// `Rebuild`, `Unavailable`.
    async fn sequence(&self, key: IndexKey, spec: &IndexSpec) -> Result<i64, IndexError>;

    /// Removes and adds what changed behind a commit up to another, or a part of it; with the last part it carries the number
    /// of the other. A passage that is added and there already is replaced; one that is removed and not there is no fault.
    /// What it has already it passes over. Each part all or nothing, also when the process ends; between two of them it
    /// carries the number of before, and has some of what comes.
    ///
    /// # Errors
    /// `Rebuild`, `Unavailable`.
    async fn apply(
        &self,
        key: IndexKey,
        spec: &IndexSpec,
        remove: &[PassageRange],
        add: &[IndexedPassage],
        given: Given,
    ) -> Result<(), IndexError>;

    /// Begins anew: the index is empty and carries no number until [`Self::rebuild_end`]; a search until then is `Rebuild`.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn rebuild_begin(&self, key: IndexKey, spec: &IndexSpec) -> Result<(), IndexError>;

    /// Adds passages to what was begun.
    ///
    /// # Errors
    /// `Rebuild`, `Unavailable`.
    async fn rebuild_add(&self, key: IndexKey, add: &[IndexedPassage]) -> Result<(), IndexError>;

    /// Ends what was begun: the index carries the number of a commit from then on.
    ///
    /// # Errors
    /// `Rebuild`, `Unavailable`.
    async fn rebuild_end(&self, key: IndexKey, sequence: i64) -> Result<(), IndexError>;

    /// The best passages of each leg, each once with the scores of the legs that found it, in no order.
    ///
    /// # Errors
    /// `Rebuild`, `Unavailable`, `Unfit`.
    async fn search(
        &self,
        key: IndexKey,
        spec: &IndexSpec,
        search: &Search,
    ) -> Result<Vec<PassageHit>, IndexError>;

    /// Removes an index and its bytes; one that is not there is no fault.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn remove(&self, key: IndexKey) -> Result<(), IndexError>;

    /// Whether this keeper is here: a node without the PostgreSQL extension has no such.
    async fn has(&self, backend: Backend) -> bool;
}
