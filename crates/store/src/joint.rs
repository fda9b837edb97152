//! Reads that several callers share.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};

/// Reads of what many ask for at the same time: cheap to clone.
///
/// Of one thing one read is under way, and whoever asks meanwhile shares the next, which begins behind it. So each read
/// begins after all those have asked who get its answer: nobody is told less than was written when they asked, and a
/// flood of callers with one token costs the database one read at a time.
pub struct JointReads<K, V>(Arc<Mutex<Reads<K, V>>>);

struct Reads<K, V> {
    /// The last read of each thing that is under way or will be.
    last: HashMap<K, Read<V>>,
    /// Number of the next read.
    next: u64,
}

struct Read<V> {
    number: u64,
    has_begun: bool,
    answer: Shared<BoxFuture<'static, V>>,
}

impl<K, V> Clone for JointReads<K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K, V> Default for JointReads<K, V> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Reads { last: HashMap::new(), next: 0 })))
    }
}

impl<K, V> std::fmt::Debug for JointReads<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JointReads").finish_non_exhaustive()
    }
}

impl<K: Hash + Eq + Clone + Send + 'static, V: Clone + Send + Sync + 'static> JointReads<K, V> {
    /// The answer of a read that begins from now on: `read`, or that of somebody who asked for the same shortly before. It
    /// goes on when the caller goes away, since others may wait for it.
    ///
    /// # Panics
    /// Outside of a runtime, and when the read itself does.
    pub async fn ask<F>(&self, key: K, read: impl FnOnce() -> F + Send + 'static) -> V
    where
        F: Future<Output = V> + Send + 'static,
    {
        self.joined(key, read).await
    }

    fn joined<F>(&self, key: K, read: impl FnOnce() -> F + Send + 'static) -> Shared<BoxFuture<'static, V>>
    where
        F: Future<Output = V> + Send + 'static,
    {
        let mut reads = self.lock();
        let before = match reads.last.get(&key) {
            Some(last) if !last.has_begun => return last.answer.clone(),
            last => last.map(|last| last.answer.clone()),
        };
        let number = reads.next;
        reads.next += 1;
        let (own, of) = (self.clone(), key.clone());
        let answer = async move {
            if let Some(before) = before {
                // One that panicked has told those who waited for it.
                let _ = AssertUnwindSafe(before).catch_unwind().await;
            }
            own.begun(&of, number);
            let _end = End { reads: own, key: of, number };
            read().await
        };
        let answer = answer.boxed().shared();
        reads.last.insert(key, Read { number, has_begun: false, answer: answer.clone() });
        drop(reads);
        tokio::spawn(answer.clone());
        answer
    }

    fn begun(&self, key: &K, number: u64) {
        if let Some(read) = self.lock().last.get_mut(key).filter(|read| read.number == number) {
            read.has_begun = true;
        }
    }
}

impl<K, V> JointReads<K, V> {
    fn lock(&self) -> MutexGuard<'_, Reads<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// End of a read, however it ends: nobody waits for it any more, unless another is behind it.
struct End<K: Hash + Eq, V> {
    reads: JointReads<K, V>,
    key: K,
    number: u64,
}

impl<K: Hash + Eq, V> Drop for End<K, V> {
    fn drop(&mut self) {
        let mut reads = self.reads.lock();
        if reads.last.get(&self.key).is_some_and(|read| read.number == self.number) {
            reads.last.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Semaphore;

    use super::*;

    /// A value that is read when a permit is there; each read counts.
    #[derive(Clone)]
    struct Thing {
        value: Arc<AtomicU32>,
        reads: Arc<AtomicU32>,
        permits: Arc<Semaphore>,
    }

    impl Thing {
        fn new() -> Self {
            Self { value: Arc::default(), reads: Arc::default(), permits: Arc::new(Semaphore::new(0)) }
        }

        /// A database tells what stands there when the read begins.
        async fn read(self) -> u32 {
            self.reads.fetch_add(1, Ordering::SeqCst);
            let value = self.value.load(Ordering::SeqCst);
            self.permits.acquire().await.unwrap().forget();
            value
        }

        fn ask(&self, reads: &JointReads<&'static str, u32>) -> tokio::task::JoinHandle<u32> {
            let (reads, thing) = (reads.clone(), self.clone());
            tokio::spawn(async move { reads.ask("thing", move || thing.read()).await })
        }

        async fn has_begun(&self, reads: u32) {
            while self.reads.load(Ordering::SeqCst) < reads {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test]
    async fn whoever_asks_behind_a_write_is_told_it_and_many_share_one_read() {
        let (thing, reads) = (Thing::new(), JointReads::default());
        let first = thing.ask(&reads);
        thing.has_begun(1).await;
        thing.value.store(1, Ordering::SeqCst);
        let later: Vec<_> = (0..10).map(|_| thing.ask(&reads)).collect();
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        thing.permits.add_permits(2);
        assert_eq!(first.await.unwrap(), 0, "the write came behind its read");
        for told in later {
            assert_eq!(told.await.unwrap(), 1, "asked behind the write");
        }
        assert_eq!(thing.reads.load(Ordering::SeqCst), 2, "the ten share one");
        assert!(reads.lock().last.is_empty(), "nothing is kept");
    }

    #[tokio::test]
    async fn who_goes_away_takes_the_read_from_nobody() {
        let (thing, reads) = (Thing::new(), JointReads::default());
        let first = thing.ask(&reads);
        thing.has_begun(1).await;
        let (gone, stays) = (thing.ask(&reads), thing.ask(&reads));
        tokio::task::yield_now().await;
        first.abort();
        gone.abort();
        thing.permits.add_permits(2);
        assert_eq!(stays.await.unwrap(), 0);
        assert!(reads.lock().last.is_empty());
    }

    #[tokio::test]
    async fn a_read_that_panics_is_its_callers_alone() {
        let reads: JointReads<&'static str, u32> = JointReads::default();
        let own = reads.clone();
        let panicked = tokio::spawn(async move { own.ask("thing", || async { panic!("broken") }).await });
        assert!(panicked.await.is_err());
        assert_eq!(reads.ask("thing", || async { 7 }).await, 7);
    }
}
