//! Passage index by the PostgreSQL extension pgvector, beside the one of this server's files.
//!
//! Vectors of a generation of a database stand in a partition of their own, which all nodes share: as `halfvec`, half the
//! size, which is what is scanned, and exactly, by which what was found is scored. Below 20,000 passages every vector is
//! looked at; above, an HNSW graph is built beside, and scanned on (`hnsw.iterative_scan = strict_order`) until there is
//! enough. What a filter allows is looked at in full where it is that few, and where a scan of the graph gave too little: a
//! filter never costs an answer.
//!
//! Words stay with the index of this server's files, whose ranking is BM25: PostgreSQL's own (`ts_rank_cd`) knows nothing of how
//! rare a word is. Each part carries the number of the last commit that it has, and the words are never ahead of the vectors.
//!
//! The extension is the operator's to make (`CREATE EXTENSION vector`); where it is absent, or older than 0.8, this node has
//! the index of its files alone.

mod fault;
mod partition;
mod rows;
mod search;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use heddle_store::{Db, PgDb, StoreError};
use heddle_vectors::ports::{
    Given, IndexError, IndexSpec, IndexedPassage, LegScores, PassageHit, PassageIndex, Search,
};
use heddle_vectors::records::{Backend, IndexKey, PassageId, PassageRange};

use self::fault::Fault;
use self::partition::{Beginning, Extension, Partition};

/// Part of an index that a rebuilding builds.
#[derive(Debug, Clone)]
enum Begun {
    /// Words alone, where there are no vectors, or where they are whole and had this commit: other nodes use them.
    Words(Option<i64>),
    /// The vectors as well, under this epoch.
    Whole(Partition, i64),
}

/// Passage indexes of both keepers: of this server's files, and of PostgreSQL where it has the extension.
#[derive(Clone)]
pub struct PassageIndexes {
    embedded: Arc<dyn PassageIndex>,
    postgres: Option<PgDb>,
    /// The extension, once it was found.
    extension: Arc<OnceLock<Extension>>,
    begun: Arc<Mutex<BTreeMap<IndexKey, Begun>>>,
}

impl std::fmt::Debug for PassageIndexes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PassageIndexes").finish_non_exhaustive()
    }
}

impl PassageIndexes {
    /// The index of this server's files, and that of the database, if it is a PostgreSQL.
    #[must_use]
    pub fn new(db: &Db, embedded: Arc<dyn PassageIndex>) -> Self {
        Self { embedded, postgres: db.postgres().cloned(), extension: Arc::default(), begun: Arc::default() }
    }

    /// Sentence for the operator on why this node has no index by pgvector; none where it has one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lacking(&self) -> Result<Option<String>, StoreError> {
        let Some(postgres) = &self.postgres else {
            return Ok(Some("the database is SQLite, which has no pgvector".to_owned()));
        };
        Ok(Extension::find(postgres).await?.err())
    }

    /// Whether the vectors of a key are found along a graph by now: below some thousands of passages they never are.
    ///
    /// # Errors
    /// Those of [`PassageIndex::sequence`].
    pub async fn has_graph(&self, key: IndexKey, spec: &IndexSpec) -> Result<bool, IndexError> {
        match self.partition(key, spec).await? {
            Some(partition) => Ok(partition.has_graph().await?),
            None => Ok(false),
        }
    }

    /// The partition of a key, where the spec asks for one.
    async fn partition(&self, key: IndexKey, spec: &IndexSpec) -> Result<Option<Partition>, Fault> {
        let Some((id, revision, dimensions)) = &spec.model else { return Ok(None) };
        let postgres = self.postgres.as_ref().ok_or_else(|| absent("the database is SQLite".to_owned()))?;
        let extension = match self.extension.get() {
            Some(extension) => extension.clone(),
            None => {
                let found = Extension::find(postgres).await?.map_err(absent)?;
                self.extension.get_or_init(|| found).clone()
            }
        };
        let model = format!("{id} {revision}");
        Ok(Some(Partition::new(postgres.clone(), extension, key, model, *dimensions)?))
    }

    fn begun(&self, key: IndexKey) -> Option<Begun> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    fn note(&self, key: IndexKey, begun: Option<Begun>) {
        let mut all = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        match begun {
            Some(begun) => all.insert(key, begun),
            None => all.remove(&key),
        };
    }

    /// Begins the part of the vectors anew, unless it is whole: another node may have built it.
    async fn begin(&self, key: IndexKey, spec: &IndexSpec) -> Result<Begun, Fault> {
        let Some(partition) = self.partition(key, spec).await? else { return Ok(Begun::Words(None)) };
        let own = match self.begun(key) {
            Some(Begun::Whole(_, epoch)) => Some(epoch),
            Some(Begun::Words(_)) | None => None,
        };
        let vectors = partition.sequence(own).await.ok();
        let words = self.embedded.sequence(key, &of_words(spec)).await.ok();
        // Both whole, and begun anew all the same: the commits that the one behind lacks are not kept any more.
        let stale = vectors.filter(|vectors| words.is_some_and(|words| *vectors <= words));
        Ok(match partition.begin(own, stale).await? {
            Beginning::Anew(epoch) => Begun::Whole(partition, epoch),
            Beginning::Kept(has) => Begun::Words(Some(has)),
        })
    }
}

fn absent(why: String) -> Fault {
    Fault::Index(IndexError::Unavailable(why))
}

/// The spec of the part that has the words.
fn of_words(spec: &IndexSpec) -> IndexSpec {
    IndexSpec { backend: Backend::Embedded, model: None, language: spec.language.clone() }
}

/// Passages as the part that has the words takes them.
fn words_of(add: &[IndexedPassage]) -> Vec<IndexedPassage> {
    let bare = |one: &IndexedPassage| IndexedPassage { id: one.id, text: one.text.clone(), vector: None };
    add.iter().map(bare).collect()
}

#[async_trait]
impl PassageIndex for PassageIndexes {
    async fn sequence(&self, key: IndexKey, spec: &IndexSpec) -> Result<i64, IndexError> {
        match spec.backend {
            Backend::Embedded => self.embedded.sequence(key, spec).await,
            Backend::Pgvector => {
                let own = match self.begun(key) {
                    Some(Begun::Whole(_, epoch)) => Some(epoch),
                    Some(Begun::Words(_)) | None => None,
                };
                let vectors = match self.partition(key, spec).await? {
                    Some(partition) => Some(partition.sequence(own).await?),
                    None => None,
                };
                let words = self.embedded.sequence(key, &of_words(spec)).await?;
                // Vectors go first, always: words beyond them are of another history, such as before a restored backup.
                if vectors.is_some_and(|vectors| words > vectors) {
                    return Err(IndexError::Rebuild("the words are ahead of the vectors".to_owned()));
                }
                Ok(words)
            }
        }
    }

    async fn apply(
        &self,
        key: IndexKey,
        spec: &IndexSpec,
        remove: &[PassageRange],
        add: &[IndexedPassage],
        given: Given,
    ) -> Result<(), IndexError> {
        match spec.backend {
            Backend::Embedded => self.embedded.apply(key, spec, remove, add, given).await,
            Backend::Pgvector => {
                // The process may end between the two: then the smaller number stands, and the one behind catches up.
                if let Some(partition) = self.partition(key, spec).await? {
                    partition.apply(remove, add, given).await?;
                }
                self.embedded.apply(key, &of_words(spec), remove, &words_of(add), given).await
            }
        }
    }

    async fn rebuild_begin(&self, key: IndexKey, spec: &IndexSpec) -> Result<(), IndexError> {
        match spec.backend {
            Backend::Embedded => {
                self.note(key, None);
                self.embedded.rebuild_begin(key, spec).await
            }
            Backend::Pgvector => {
                let begun = self.begin(key, spec).await?;
                self.note(key, Some(begun));
                self.embedded.rebuild_begin(key, &of_words(spec)).await
            }
        }
    }

    async fn rebuild_add(&self, key: IndexKey, add: &[IndexedPassage]) -> Result<(), IndexError> {
        match self.begun(key) {
            None => self.embedded.rebuild_add(key, add).await,
            Some(Begun::Words(_)) => self.embedded.rebuild_add(key, &words_of(add)).await,
            Some(Begun::Whole(partition, epoch)) => {
                partition.add(epoch, add).await?;
                self.embedded.rebuild_add(key, &words_of(add)).await
            }
        }
    }

    async fn rebuild_end(&self, key: IndexKey, sequence: i64) -> Result<(), IndexError> {
        let words = match self.begun(key) {
            Some(Begun::Whole(partition, epoch)) => {
                partition.end(epoch, sequence).await?;
                sequence
            }
            // Words are never ahead of the vectors; what they have already they take once more.
            Some(Begun::Words(Some(has))) => sequence.min(has),
            Some(Begun::Words(None)) | None => sequence,
        };
        self.note(key, None);
        self.embedded.rebuild_end(key, words).await
    }

    async fn search(
        &self,
        key: IndexKey,
        spec: &IndexSpec,
        search: &Search,
    ) -> Result<Vec<PassageHit>, IndexError> {
        match spec.backend {
            Backend::Embedded => self.embedded.search(key, spec, search).await,
            Backend::Pgvector => {
                let mut hits: BTreeMap<PassageId, LegScores> = BTreeMap::new();
                if let Some(vector) = &search.vector {
                    let partition = self.partition(key, spec).await?;
                    let partition = partition.ok_or_else(|| {
                        IndexError::Unfit("a vector, where there are words alone".to_owned())
                    })?;
                    for hit in partition.search(vector, search).await? {
                        hits.entry(hit.id).or_default().semantic = hit.scores.semantic;
                    }
                }
                if search.words.is_some() {
                    let words = Search { vector: None, ..search.clone() };
                    for hit in self.embedded.search(key, &of_words(spec), &words).await? {
                        hits.entry(hit.id).or_default().keyword = hit.scores.keyword;
                    }
                }
                Ok(hits.into_iter().map(|(id, scores)| PassageHit { id, scores }).collect())
            }
        }
    }

    async fn remove(&self, key: IndexKey) -> Result<(), IndexError> {
        self.note(key, None);
        if let Some(postgres) = &self.postgres {
            Partition::remove(postgres, key).await?;
        }
        self.embedded.remove(key).await
    }

    async fn has(&self, backend: Backend) -> bool {
        match backend {
            Backend::Embedded => self.embedded.has(backend).await,
            Backend::Pgvector => match self.lacking().await {
                Ok(None) => true,
                Ok(Some(why)) => {
                    tracing::info!(why, "there is no index by pgvector");
                    false
                }
                Err(error) => {
                    tracing::warn!(%error, "whether there is an index by pgvector is not known");
                    false
                }
            },
        }
    }
}
