//! The indexer: brings an index up to a commit of its database. Rows are the truth, so an index that can't be trusted is
//! built anew from them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use heddle_usecase::StoreError;
use tokio::sync::Mutex as Turn;

use crate::ports::{
    Change, ChangesSince, Given, IndexError, IndexSpec, IndexedPassage, PassageIndex, PassageStore,
};
use crate::records::{IndexKey, Passage, PassageRange, VectorDatabase};

/// Commits that are read at once.
const CHANGES: u32 = 256;
/// Passages that are given to an index at once.
const PASSAGES: u64 = 2_048;
/// Files of which passages are read in a row when an index is built anew.
const FILES: u32 = 256;
/// Buildings anew in one following, after which something else is wrong.
const REBUILDS: u32 = 3;

/// Time for which commits gather before an index is brought up to them in the background once more: each time is a commit of
/// its own to it.
const GATHER: Duration = Duration::from_millis(250);

/// Reason for which an index did not follow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FollowError {
    /// The rows can't be read, or the database is gone.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index does not answer.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// Work that takes longer than somebody waits; it goes on in the background.
    #[error("the index is being brought up to date")]
    StillBehind,
    /// The work ended without a result.
    #[error("the work on the index was given up")]
    GivenUp,
}

type Turns = Mutex<HashMap<IndexKey, Weak<Turn<()>>>>;
/// Indexes that are followed in the background, each with whether there has been news since it began.
type Followed = Mutex<HashMap<IndexKey, bool>>;

/// Brings indexes up to date.
#[derive(Clone)]
pub struct Indexer {
    store: Arc<dyn PassageStore>,
    index: Arc<dyn PassageIndex>,
    turns: Arc<Turns>,
    followed: Arc<Followed>,
}

/// An index that is followed in the background. It is so no longer when this goes, whatever the reason.
struct Following {
    followed: Arc<Followed>,
    key: IndexKey,
}

impl Following {
    /// Whether there is news; where there is none it is followed no longer.
    fn has_news(&self) -> bool {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        match followed.get_mut(&self.key) {
            Some(is_news) if *is_news => {
                *is_news = false;
                true
            }
            Some(_) | None => {
                followed.remove(&self.key);
                false
            }
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.followed.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
        }
    }
}

impl std::fmt::Debug for Indexer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Indexer").finish_non_exhaustive()
    }
}

/// Form of the index of a generation of a database; none for a generation that it does not have.
#[must_use]
pub fn spec_of(database: &VectorDatabase, generation: i64) -> Option<IndexSpec> {
    let recipe = database.recipe_of(generation)?;
    let model = recipe.model.as_ref().map(|one| (one.id.clone(), one.revision.clone(), one.dimensions));
    Some(IndexSpec { backend: database.backend, model, language: None })
}

/// Passage as an index needs it: with what stands in front of its text.
fn indexed(passage: Passage) -> IndexedPassage {
    let text = if passage.prefix.is_empty() {
        passage.text
    } else {
        format!("{}\n{}", passage.prefix, passage.text)
    };
    IndexedPassage { id: passage.id, text, vector: passage.vector }
}

impl Indexer {
    /// Builds the indexer on its ports.
    #[must_use]
    pub fn new(store: Arc<dyn PassageStore>, index: Arc<dyn PassageIndex>) -> Self {
        Self { store, index, turns: Arc::default(), followed: Arc::default() }
    }

    /// The index.
    #[must_use]
    pub fn index(&self) -> &dyn PassageIndex {
        &*self.index
    }

    /// Brings an index to a commit, and waits no longer than so long; what is begun goes on in the background.
    ///
    /// # Errors
    /// `StillBehind`, and those of [`Self::follow`].
    pub async fn follow_within(
        &self,
        key: IndexKey,
        spec: &IndexSpec,
        commit: i64,
        wait: Duration,
    ) -> Result<(), FollowError> {
        if self.index.sequence(key, spec).await == Ok(commit) {
            return Ok(());
        }
        let (own, spec) = (self.clone(), spec.clone());
        let work = tokio::spawn(async move { own.follow(key, &spec, commit).await });
        match tokio::time::timeout(wait, work).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(FollowError::GivenUp),
            Err(_) => Err(FollowError::StillBehind),
        }
    }

    /// Brings an index up to its database in the background, so that the next query need not: at once, where that was not done
    /// just now, and what comes within a moment together. A query brings it further itself, where it must.
    pub fn follow_soon(&self, key: IndexKey, spec: IndexSpec) {
        {
            let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(is_news) = followed.get_mut(&key) {
                *is_news = true;
                return;
            }
            followed.insert(key, false);
        }
        let (own, following) = (self.clone(), Following { followed: Arc::clone(&self.followed), key });
        tokio::spawn(async move {
            loop {
                if let Err(error) = own.follow_now(key, &spec).await {
                    tracing::debug!(%error, database = %key.database, "an index does not follow yet");
                }
                tokio::time::sleep(GATHER).await;
                if !following.has_news() {
                    return;
                }
            }
        });
    }

    /// Brings an index to where its database is now.
    async fn follow_now(&self, key: IndexKey, spec: &IndexSpec) -> Result<(), FollowError> {
        let commit = self.store.position(key.tenant, key.database).await?.sequence;
        self.follow(key, spec, commit).await
    }

    /// Brings an index to a commit of its database, or beyond it.
    ///
    /// # Errors
    /// `Store` with `NotFound` when the database is gone; `Index`.
    pub async fn follow(&self, key: IndexKey, spec: &IndexSpec, commit: i64) -> Result<(), FollowError> {
        let turn = self.turn(key);
        let _turn = turn.lock().await;
        let mut rebuilds = 0;
        loop {
            let reason = match self.index.sequence(key, spec).await {
                Ok(at) => match self.step(key, spec, at, commit).await {
                    Ok(true) => return Ok(()),
                    Ok(false) => continue,
                    Err(FollowError::Index(IndexError::Rebuild(reason))) => reason,
                    Err(error) => return Err(error),
                },
                Err(IndexError::Rebuild(reason)) => reason,
                Err(error) => return Err(error.into()),
            };
            rebuilds += 1;
            if rebuilds > REBUILDS {
                return Err(IndexError::Unavailable(format!("it does not stay built: {reason}")).into());
            }
            tracing::info!(database = %key.database, generation = key.generation, reason, "an index is built anew");
            self.rebuild(key, spec).await?;
        }
    }

    fn turn(&self, key: IndexKey) -> Arc<Turn<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(&key).and_then(Weak::upgrade) {
            return turn;
        }
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::new(Turn::new(()));
        turns.insert(key, Arc::downgrade(&turn));
        turn
    }

    /// Applies commits behind one; gives whether the index is there. `Rebuild` when they can't be followed.
    async fn step(&self, key: IndexKey, spec: &IndexSpec, at: i64, commit: i64) -> Result<bool, FollowError> {
        if at == commit {
            return Ok(true);
        }
        let ahead = || FollowError::Index(IndexError::Rebuild("it is ahead of its database".to_owned()));
        if at > commit {
            // It may have been brought further by another query; further than its database is another history.
            let present = self.store.position(key.tenant, key.database).await?.sequence;
            return if at <= present { Ok(true) } else { Err(ahead()) };
        }
        match self.store.changes(key.tenant, key.database, at, CHANGES).await? {
            ChangesSince::Gap => {
                Err(FollowError::Index(IndexError::Rebuild("it is too far behind".to_owned())))
            }
            ChangesSince::All(changes) if changes.is_empty() => Err(ahead()),
            ChangesSince::All(changes) => {
                self.apply(key, spec, at, &changes).await?;
                Ok(false)
            }
        }
    }

    /// Applies commits in their order, as many at once as have not too many passages.
    async fn apply(
        &self,
        key: IndexKey,
        spec: &IndexSpec,
        at: i64,
        changes: &[Change],
    ) -> Result<(), FollowError> {
        let mut given = at;
        let mut remove: Vec<PassageRange> = Vec::new();
        let mut add: BTreeSet<PassageRange> = BTreeSet::new();
        let mut count = 0;
        for change in changes {
            if change.generation == key.generation {
                if let Some(range) = change.removed {
                    add.remove(&range);
                    remove.push(range);
                }
                if let Some(range) = change.added {
                    add.insert(range);
                    count += range.len();
                }
            }
            if count >= PASSAGES {
                self.give(key, spec, &remove, &add, given, change.sequence).await?;
                (remove, add, count) = (Vec::new(), BTreeSet::new(), 0);
                given = change.sequence;
            }
        }
        if let Some(last) = changes.last().filter(|last| last.sequence > given) {
            self.give(key, spec, &remove, &add, given, last.sequence).await?;
        }
        Ok(())
    }

    /// Gives passages to an index in parts; it carries the commit with the last of them.
    async fn give(
        &self,
        key: IndexKey,
        spec: &IndexSpec,
        remove: &[PassageRange],
        add: &BTreeSet<PassageRange>,
        at: i64,
        commit: i64,
    ) -> Result<(), FollowError> {
        let (mut is_begun, mut part) = (false, Vec::new());
        for range in add.iter().flat_map(|range| parts(*range)) {
            let passages = self.store.passages(key.tenant, key.database, range).await?;
            part.extend(passages.into_iter().map(indexed));
            if part.len() as u64 >= PASSAGES {
                // Until the last part it carries the commit of before, and takes these once more if it must.
                let given = Given { since: at, until: commit, is_last: false };
                let removed = if is_begun { &[] } else { remove };
                self.index.apply(key, spec, removed, &part, given).await?;
                part.clear();
                is_begun = true;
            }
        }
        // Another node may have put in what goes since the first part.
        let gone: Vec<PassageRange> = remove.iter().filter(|range| !add.contains(range)).copied().collect();
        let given = Given { since: at, until: commit, is_last: true };
        Ok(self.index.apply(key, spec, if is_begun { &gone } else { remove }, &part, given).await?)
    }

    /// Builds an index anew from the rows as they are; what is committed meanwhile is applied afterwards.
    async fn rebuild(&self, key: IndexKey, spec: &IndexSpec) -> Result<(), FollowError> {
        let commit = self.store.position(key.tenant, key.database).await?.sequence;
        self.index.rebuild_begin(key, spec).await?;
        let mut after = None;
        let mut part = Vec::new();
        loop {
            let files = self.store.live(key.tenant, key.database, key.generation, after, FILES).await?;
            for range in files.iter().flat_map(|file| parts(file.passages)) {
                let passages = self.store.passages(key.tenant, key.database, range).await?;
                part.extend(passages.into_iter().map(indexed));
                if part.len() as u64 >= PASSAGES {
                    self.index.rebuild_add(key, &part).await?;
                    part.clear();
                }
            }
            match files.last() {
                Some(last) if files.len() >= FILES as usize => after = Some(last.file),
                Some(_) | None => break,
            }
        }
        if !part.is_empty() {
            self.index.rebuild_add(key, &part).await?;
        }
        Ok(self.index.rebuild_end(key, commit).await?)
    }
}

/// Parts of a range that are read at once.
fn parts(range: PassageRange) -> impl Iterator<Item = PassageRange> {
    let starts = (range.first..range.end.max(range.first)).step_by(PASSAGES as usize);
    starts.map(move |first| PassageRange { first, end: (first + PASSAGES).min(range.end) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};

    use heddle_kernel::{BuildId, TenantId, VectorDatabaseId};
    use uuid::Uuid;

    use crate::ports::{MockPassageIndex, MockPassageStore, Position};
    use crate::records::{Backend, Locator, PassageId};

    #[tokio::test(start_paused = true)]
    async fn news_of_a_moment_are_followed_together_and_a_failure_is_no_end() {
        let commit = Arc::new(AtomicI64::new(1));
        let (mut store, mut index) = (MockPassageStore::new(), MockPassageIndex::new());
        let (now, asked) = (Arc::clone(&commit), Arc::new(AtomicI64::new(0)));
        let count = Arc::clone(&asked);
        store.expect_position().returning(move |_, _| {
            match count.fetch_add(1, Ordering::Relaxed) {
                // The second time the database is away.
                1 => Err(StoreError::Unavailable("away".to_owned())),
                _ => Ok(Position { sequence: now.load(Ordering::Relaxed), generation: 0, fields: 0 }),
            }
        });
        // The index is there already: what counts is how often it is looked at.
        let there = Arc::clone(&commit);
        index.expect_sequence().returning(move |_, _| Ok(there.load(Ordering::Relaxed)));
        let indexer = Indexer::new(Arc::new(store), Arc::new(index));
        let id = Uuid::from_u128(1);
        let key = IndexKey { tenant: TenantId(id), database: VectorDatabaseId(id), generation: 0 };
        let spec = IndexSpec { backend: Backend::Embedded, model: None, language: None };
        let looks = || asked.load(Ordering::Relaxed);
        let moment = || tokio::time::sleep(Duration::from_millis(1));
        indexer.follow_soon(key, spec.clone());
        moment().await;
        assert_eq!(looks(), 1, "the first is followed at once");
        for _ in 0..9 {
            indexer.follow_soon(key, spec.clone());
        }
        moment().await;
        assert_eq!(looks(), 1, "the others wait");
        tokio::time::sleep(GATHER).await;
        assert_eq!(looks(), 2, "and are followed by one look");
        indexer.follow_soon(key, spec.clone());
        tokio::time::sleep(GATHER * 2).await;
        assert_eq!(looks(), 3, "what failed is tried with the next");
        tokio::time::sleep(GATHER * 9).await;
        assert_eq!((looks(), indexer.followed.lock().unwrap().len()), (3, 0), "without news nobody looks");
        indexer.follow_soon(key, spec);
        moment().await;
        assert_eq!(looks(), 4);
    }

    #[tokio::test]
    async fn what_is_too_much_at_once_is_given_in_parts_each_passage_once() {
        let (mut store, mut index) = (MockPassageStore::new(), MockPassageIndex::new());
        let id = Uuid::from_u128(1);
        let key = IndexKey { tenant: TenantId(id), database: VectorDatabaseId(id), generation: 0 };
        let spec = IndexSpec { backend: Backend::Embedded, model: None, language: None };
        let reached = Arc::new(AtomicI64::new(4));
        let (gone, come) = (PassageRange::of(0, 10), PassageRange::of(10, 5_000));
        let change = |sequence, removed, added| Change { sequence, generation: 0, removed, added };
        let changes = vec![change(5, None, None), change(6, Some(gone), Some(come))];
        store
            .expect_changes()
            .withf(|_, _, since, _| *since == 4)
            .returning(move |_, _, _, _| Ok(ChangesSince::All(changes.clone())));
        store.expect_passages().returning(|_, _, range| {
            let one = |id| Passage {
                id: PassageId(id),
                file: crate::tests::file_id(1),
                build: BuildId(Uuid::from_u128(1)),
                ordinal: 0,
                text: String::new(),
                prefix: String::new(),
                context: None,
                tokens: 0,
                locator: Locator::default(),
                vector: None,
            };
            Ok(range.ids().map(one).collect())
        });
        let at = Arc::clone(&reached);
        index.expect_sequence().returning(move |_, _| Ok(at.load(Ordering::Relaxed)));
        let given = Arc::new(Mutex::new(Vec::new()));
        let (to, at) = (Arc::clone(&given), Arc::clone(&reached));
        index.expect_apply().returning(move |_, _, removed, added, given| {
            let ids: Vec<u64> = added.iter().map(|one| one.id.0).collect();
            to.lock().unwrap().push((removed.to_vec(), ids, given));
            at.store(if given.is_last { given.until } else { given.since }, Ordering::Relaxed);
            Ok(())
        });
        let indexer = Indexer::new(Arc::new(store), Arc::new(index));
        indexer.follow(key, &spec, 6).await.unwrap();
        let given = given.lock().unwrap();
        let ids: Vec<u64> = given.iter().flat_map(|(_, ids, _)| ids.clone()).collect();
        assert_eq!(ids, come.ids().collect::<Vec<u64>>());
        let parts: Vec<(usize, Given)> =
            given.iter().map(|(removed, _, given)| (removed.len(), *given)).collect();
        let part = |is_last| Given { since: 4, until: 6, is_last };
        assert_eq!(parts, [(1, part(false)), (0, part(false)), (1, part(true))]);
    }

    #[test]
    fn a_range_is_cut_without_a_gap() {
        let all: Vec<_> = parts(PassageRange::of(5, 5_000)).collect();
        assert_eq!(all.first().map(|one| one.first), Some(5));
        assert_eq!(all.last().map(|one| one.end), Some(5_005));
        assert!(all.windows(2).all(|pair| pair[0].end == pair[1].first));
        assert_eq!(parts(PassageRange::of(5, 0)).count(), 0);
    }
}
