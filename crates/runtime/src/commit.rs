//! Group commit: while one batch is being written the next one gathers, so that many callers share one sync of the
//! disk and one caller waits for little more than one.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{Committer, RunStore, Transaction};
use tokio::sync::{Mutex, mpsc, oneshot};

type Waiting = (Transaction, oneshot::Sender<Result<(), StoreError>>);

/// Options of the committer: sizes of its batches and its queue.
#[derive(Debug, Clone, Copy)]
pub struct CommitOptions {
    /// The most units of one batch.
    pub batch: usize,
    /// Most units that wait before callers are held back.
    pub queue: usize,
    /// Number of batches that are written side by side: one where the database has one writer.
    pub writers: usize,
}

impl Default for CommitOptions {
    fn default() -> Self {
        Self { batch: 1024, queue: 4096, writers: 1 }
    }
}

/// Writes units in batches.
pub struct GroupCommitter {
    queue: mpsc::Sender<Waiting>,
}

impl std::fmt::Debug for GroupCommitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupCommitter").finish_non_exhaustive()
    }
}

impl GroupCommitter {
    /// Starts the writers on the present runtime; they end when the committer is dropped and the queue is empty.
    #[must_use]
    pub fn start(store: Arc<dyn RunStore>, options: CommitOptions) -> Self {
        let (queue, waiting) = mpsc::channel(options.queue.max(1));
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..options.writers.max(1) {
            tokio::spawn(write_batches(Arc::clone(&store), Arc::clone(&waiting), options.batch.max(1)));
        }
        Self { queue }
    }
}

async fn write_batches(store: Arc<dyn RunStore>, waiting: Arc<Mutex<mpsc::Receiver<Waiting>>>, most: usize) {
    loop {
        let mut batch = Vec::new();
        // One writer gathers at a time; the others write.
        if waiting.lock().await.recv_many(&mut batch, most).await == 0 {
            return;
        }
        let (units, callers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let count = units.len();
        let mut answers = store.commit(units).await;
        // A store that answers too little has not said that the rest is durable.
        answers.resize_with(count, || Err(StoreError::Unavailable("no answer".to_owned())));
        for (caller, answer) in callers.into_iter().zip(answers) {
            // A caller that went away does not need the answer; the write stands.
            let _ = caller.send(answer);
        }
    }
}

#[async_trait]
impl Committer for GroupCommitter {
    async fn commit(&self, unit: Transaction) -> Result<(), StoreError> {
        let gone = || StoreError::Unavailable("the writer has stopped".to_owned());
        let (answer, answered) = oneshot::channel();
        if self.queue.send((unit, answer)).await.is_err() {
            return Err(gone());
        }
        answered.await.unwrap_or_else(|_| Err(gone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_workflows::ports::MockRunStore;

    #[tokio::test]
    async fn callers_that_wait_share_a_batch_and_each_gets_its_own_answer() {
        let (first, rest) = (std::sync::atomic::AtomicBool::new(true), Arc::new(tokio::sync::Notify::new()));
        let mut store = MockRunStore::new();
        let batches = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let seen = Arc::clone(&batches);
        store.expect_commit().returning(move |units| {
            seen.lock().push(units.len());
            first.store(false, std::sync::atomic::Ordering::SeqCst);
            units
                .iter()
                .map(|unit| if unit.delivered.is_some() { Err(StoreError::Stale) } else { Ok(()) })
                .collect()
        });
        rest.notify_one();
        let committer = GroupCommitter::start(Arc::new(store), CommitOptions::default());
        let stale = Transaction {
            delivered: Some(heddle_kernel::EventId(uuid::Uuid::nil())),
            ..Transaction::default()
        };
        let (one, two, three) = tokio::join!(
            committer.commit(Transaction::default()),
            committer.commit(stale),
            committer.commit(Transaction::default())
        );
        assert!(one.is_ok() && three.is_ok());
        assert!(matches!(two, Err(StoreError::Stale)));
        assert_eq!(*batches.lock(), [3]);
    }
}
