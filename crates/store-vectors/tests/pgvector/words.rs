//! An index of words in memory, in the place of the one of files.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use heddle_vectors::ports::{
    Given, IndexError, IndexSpec, IndexedPassage, LegScores, PassageHit, PassageIndex, Search,
};
use heddle_vectors::records::{Backend, IndexKey, PassageId, PassageRange};

#[derive(Debug, Default)]
struct Index {
    sequence: Option<i64>,
    texts: BTreeMap<PassageId, String>,
}

/// Indexes by key.
#[derive(Debug, Default)]
pub(crate) struct Words(Mutex<BTreeMap<IndexKey, Index>>);

impl Words {
    fn with<T>(&self, key: IndexKey, work: impl FnOnce(&mut Index) -> T) -> Result<T, IndexError> {
        let mut all = self.0.lock().unwrap();
        let index = all.get_mut(&key).ok_or_else(|| IndexError::Rebuild("no words".to_owned()))?;
        Ok(work(index))
    }
}

fn add_to(index: &mut Index, add: &[IndexedPassage]) {
    for one in add {
        assert!(one.vector.is_none(), "vectors are not the words' part");
        index.texts.insert(one.id, one.text.clone());
    }
}

#[async_trait]
impl PassageIndex for Words {
    async fn sequence(&self, key: IndexKey, spec: &IndexSpec) -> Result<i64, IndexError> {
        assert!(spec.backend == Backend::Embedded && spec.model.is_none());
        self.with(key, |index| index.sequence)?.ok_or_else(|| IndexError::Rebuild("begun".to_owned()))
    }

    async fn apply(
        &self,
        key: IndexKey,
        _spec: &IndexSpec,
        remove: &[PassageRange],
        add: &[IndexedPassage],
        given: Given,
    ) -> Result<(), IndexError> {
        self.with(key, |index| {
            let has = index.sequence.unwrap_or_default();
            assert!(given.since <= has, "there is a gap");
            if has >= given.until {
                return;
            }
            index.texts.retain(|id, _| !remove.iter().any(|range| range.contains(*id)));
            add_to(index, add);
            if given.is_last {
                index.sequence = Some(given.until);
            }
        })
    }

    async fn rebuild_begin(&self, key: IndexKey, _spec: &IndexSpec) -> Result<(), IndexError> {
        self.0.lock().unwrap().insert(key, Index::default());
        Ok(())
    }

    async fn rebuild_add(&self, key: IndexKey, add: &[IndexedPassage]) -> Result<(), IndexError> {
        self.with(key, |index| add_to(index, add))
    }

    async fn rebuild_end(&self, key: IndexKey, sequence: i64) -> Result<(), IndexError> {
        self.with(key, |index| index.sequence = Some(sequence))
    }

    async fn search(
        &self,
        key: IndexKey,
        _spec: &IndexSpec,
        search: &Search,
    ) -> Result<Vec<PassageHit>, IndexError> {
        let words = search.words.clone().unwrap_or_default();
        self.with(key, |index| {
            let of = index.texts.iter().filter(|(_, text)| text.contains(&words));
            let scores = LegScores { semantic: None, keyword: Some(1.0) };
            of.map(|(id, _)| PassageHit { id: *id, scores }).collect()
        })
    }

    async fn remove(&self, key: IndexKey) -> Result<(), IndexError> {
        self.0.lock().unwrap().remove(&key);
        Ok(())
    }

    async fn has(&self, backend: Backend) -> bool {
        backend == Backend::Embedded
    }
}
