//! The embedded index of passages, as the use cases ask for it. Searches run in their organisation's turn on the threads that
//! compute; what writes to the disk runs on threads that may wait for it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use heddle_installation::error::StartError;
use heddle_passages::{AllowList, Builder, Error, Index, Key, Language, Passage, Settings, Shelf};
use heddle_usecase::{Admission, Compute, computed};
use heddle_vectors::ports::{
    Given, IndexError, IndexSpec, IndexedPassage, LegScores, PassageHit, PassageIndex, Search,
};
use heddle_vectors::records::{Backend, IndexKey, PassageId, PassageRange};
use parking_lot::Mutex;

/// The index of this node.
pub(crate) struct EmbeddedIndex {
    /// The shelf; none where another process has it, beside which a command works.
    shelf: Option<Arc<Shelf>>,
    compute: Arc<dyn Compute>,
    /// Indexes that are being built anew; each is taken out while something is added to it.
    builders: Mutex<HashMap<IndexKey, Builder>>,
}

impl EmbeddedIndex {
    /// Over the directory of the indexes; opened ones take at most so many bytes of memory, about.
    ///
    /// # Errors
    /// `Vectors` when the directory can't be used. Where another process has it, no index answers.
    pub(crate) fn open(directory: &Path, bytes: u64, compute: Arc<dyn Compute>) -> Result<Self, StartError> {
        let failed =
            |error| StartError::Vectors(format!("the indexes in `{}`: {error}", directory.display()));
        // What shares the cores fairly has to see the work of a search. A pool that is there already stays: of several
        // servers in one process the first one made it.
        if !heddle_passages::search_on_calling_thread() {
            tracing::debug!("the pool of threads that indexes share is there already");
        }
        let shelf = match Shelf::open(directory, bytes) {
            Ok(shelf) => Some(Arc::new(shelf)),
            Err(Error::InUse) => None,
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { shelf, compute, builders: Mutex::default() })
    }

    fn shelf(&self) -> Result<Arc<Shelf>, IndexError> {
        let elsewhere = || IndexError::Unavailable(Error::InUse.to_string());
        self.shelf.clone().ok_or_else(elsewhere)
    }

    /// Does something with an opened index where waiting for the disk holds nobody up.
    async fn with<T: Send + 'static>(
        &self,
        key: IndexKey,
        spec: &IndexSpec,
        work: impl FnOnce(&Index) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, IndexError> {
        let (shelf, own, settings) = (self.shelf()?, key_of(key)?, settings(spec));
        waiting(move || work(&*shelf.index(&own, settings)?)).await
    }

    fn taken(&self, key: IndexKey) -> Result<Builder, IndexError> {
        let missing = || IndexError::Rebuild("nothing was begun".to_owned());
        self.builders.lock().remove(&key).ok_or_else(missing)
    }
}

/// Runs work that may wait for the disk.
async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, IndexError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(failed),
        Err(error) => Err(IndexError::Unavailable(error.to_string())),
    }
}

fn key_of(key: IndexKey) -> Result<Key, IndexError> {
    let generation = u64::try_from(key.generation).unwrap_or_default();
    Key::new(key.tenant.to_string(), key.database.to_string(), generation).map_err(failed)
}

fn settings(spec: &IndexSpec) -> Settings {
    let language = spec.language.as_deref().map_or(Language::default(), Language::of_tag);
    Settings { dims: spec.model.as_ref().map(|(_, _, dims)| *dims), language }
}

fn failed(error: Error) -> IndexError {
    let words = error.to_string();
    match error {
        // What is owed after a crash is applied by whoever asks where the index stands.
        Error::Rebuild(_) | Error::Gap { .. } | Error::Behind { .. } | Error::Duplicate(_) => {
            IndexError::Rebuild(words)
        }
        Error::BadVector { .. } | Error::BadQuery(_) => IndexError::Unfit(words),
        Error::Reopen | Error::BadKey(_) | Error::InUse | Error::Io(_) | Error::Engine(_) => {
            IndexError::Unavailable(words)
        }
    }
}

fn passage(one: &IndexedPassage) -> Passage {
    Passage { id: one.id.0, text: one.text.clone(), vector: one.vector.clone() }
}

fn allowed(ranges: &[PassageRange]) -> AllowList {
    AllowList::of_ranges(ranges.iter().map(|range| range.ids()).collect())
}

/// Number of a commit, as the index counts them.
fn number(sequence: i64) -> u64 {
    u64::try_from(sequence).unwrap_or_default()
}

/// Passages of both legs, each once.
fn merged(near: Vec<heddle_passages::Hit>, words: Vec<heddle_passages::Hit>) -> Vec<PassageHit> {
    let mut found: HashMap<u64, LegScores> = HashMap::new();
    for hit in near.into_iter().chain(words) {
        let scores = found.entry(hit.id).or_default();
        scores.semantic = scores.semantic.or(hit.semantic.map(|leg| leg.score));
        scores.keyword = scores.keyword.or(hit.keyword.map(|leg| leg.score));
    }
    found.into_iter().map(|(id, scores)| PassageHit { id: PassageId(id), scores }).collect()
}

#[async_trait]
impl PassageIndex for EmbeddedIndex {
    async fn sequence(&self, key: IndexKey, spec: &IndexSpec) -> Result<i64, IndexError> {
        let sequence = self.with(key, spec, |index| Ok(index.sequence())).await?;
        Ok(i64::try_from(sequence).unwrap_or(i64::MAX))
    }

    async fn apply(
        &self,
        key: IndexKey,
        spec: &IndexSpec,
        remove: &[PassageRange],
        add: &[IndexedPassage],
        given: Given,
    ) -> Result<(), IndexError> {
        let (removed, puts) = (allowed(remove), add.iter().map(passage).collect());
        let until = if given.is_last { given.until } else { given.since };
        self.with(key, spec, move |index| index.apply(number(given.since), number(until), removed, puts))
            .await
    }

    async fn rebuild_begin(&self, key: IndexKey, spec: &IndexSpec) -> Result<(), IndexError> {
        self.builders.lock().remove(&key);
        let (shelf, own, settings) = (self.shelf()?, key_of(key)?, settings(spec));
        // What served before is not that of the rows: nothing is answered from it until the end.
        let builder = waiting(move || {
            shelf.remove(&own)?;
            shelf.build(&own, settings)
        })
        .await?;
        self.builders.lock().insert(key, builder);
        Ok(())
    }

    async fn rebuild_add(&self, key: IndexKey, add: &[IndexedPassage]) -> Result<(), IndexError> {
        let mut builder = self.taken(key)?;
        let passages: Vec<Passage> = add.iter().map(passage).collect();
        let builder = waiting(move || {
            for passage in passages {
                builder.push(passage)?;
            }
            Ok(builder)
        })
        .await?;
        self.builders.lock().insert(key, builder);
        Ok(())
    }

    async fn rebuild_end(&self, key: IndexKey, sequence: i64) -> Result<(), IndexError> {
        let (shelf, builder) = (self.shelf()?, self.taken(key)?);
        waiting(move || shelf.install(builder, number(sequence)).map(drop)).await
    }

    async fn search(
        &self,
        key: IndexKey,
        spec: &IndexSpec,
        search: &Search,
    ) -> Result<Vec<PassageHit>, IndexError> {
        let (shelf, own, settings) = (self.shelf()?, key_of(key)?, settings(spec));
        let asked = search.clone();
        let work = move || {
            let index = shelf.index(&own, settings)?;
            let allow = asked.allow.as_deref().map(allowed);
            let (vector, words) = (asked.vector.as_deref(), asked.words.as_deref());
            let legs = index.legs(vector, words, asked.candidates as usize, allow.as_ref());
            legs.map(|(near, words)| merged(near, words))
        };
        match computed(&*self.compute, key.tenant, Admission::Refuse, work).await {
            Ok(found) => found.map_err(failed),
            Err(error) => Err(IndexError::Unavailable(error.in_words())),
        }
    }

    async fn remove(&self, key: IndexKey) -> Result<(), IndexError> {
        self.builders.lock().remove(&key);
        let (shelf, own) = (self.shelf()?, key_of(key)?);
        waiting(move || shelf.remove(&own)).await
    }

    async fn has(&self, backend: Backend) -> bool {
        match backend {
            Backend::Embedded => true,
            Backend::Pgvector => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::{TenantId, VectorDatabaseId};
    use heddle_usecase::InPlace;
    use uuid::Uuid;

    fn key(generation: i64) -> IndexKey {
        let id = Uuid::from_u128(7);
        IndexKey { tenant: TenantId(id), database: VectorDatabaseId(id), generation }
    }

    fn spec() -> IndexSpec {
        IndexSpec { backend: Backend::Embedded, model: None, language: None }
    }

    fn one(id: u64, text: &str) -> IndexedPassage {
        IndexedPassage { id: PassageId(id), text: text.to_owned(), vector: None }
    }

    fn words(text: &str, allow: Option<Vec<PassageRange>>) -> Search {
        Search {
            words: Some(text.to_owned()),
            allow: allow.map(Arc::from),
            candidates: 10,
            ..Search::default()
        }
    }

    async fn found(index: &EmbeddedIndex, search: Search) -> Vec<u64> {
        let hits = index.search(key(1), &spec(), &search).await.unwrap();
        let mut ids: Vec<u64> = hits.iter().map(|hit| hit.id.0).collect();
        ids.sort_unstable();
        ids
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_index_follows_its_rows_and_says_when_it_can_not() {
        let folder = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open(folder.path(), 1 << 20, Arc::new(InPlace)).unwrap();
        assert!(matches!(index.sequence(key(1), &spec()).await, Err(IndexError::Rebuild(_))));
        index.rebuild_begin(key(1), &spec()).await.unwrap();
        index.rebuild_add(key(1), &[one(1, "a red filter"), one(2, "a green filter")]).await.unwrap();
        index.rebuild_end(key(1), 3).await.unwrap();
        assert_eq!(index.sequence(key(1), &spec()).await.unwrap(), 3);
        assert_eq!(found(&index, words("filter", None)).await, [1, 2]);
        let only = Some(vec![PassageRange::of(2, 1)]);
        assert_eq!(found(&index, words("filter", only)).await, [2]);
        let given = Given { since: 3, until: 4, is_last: true };
        index.apply(key(1), &spec(), &[PassageRange::of(1, 1)], &[one(3, "filter")], given).await.unwrap();
        assert_eq!(found(&index, words("filter", None)).await, [2, 3]);
        assert!(matches!(index.sequence(key(2), &spec()).await, Err(IndexError::Rebuild(_))));
        index.remove(key(1)).await.unwrap();
        assert!(matches!(index.sequence(key(1), &spec()).await, Err(IndexError::Rebuild(_))));
    }
}
