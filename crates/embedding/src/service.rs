//! A model shared between callers: threads of its own, a queue in two ranks, bounds, and a memory of queries.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use moka::sync::Cache;
use parking_lot::{Condvar, Mutex};
use sha2::{Digest as _, Sha256};
use tokio::sync::{Semaphore, oneshot};

use crate::model::{Placed, Prepared, batches};
use crate::{EmbedError, Embedding, Model};

/// Requests of the background that are held at once, for each thread: the others wait for their place.
const HELD_PER_THREAD: usize = 2;

/// Rank of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Work that nobody waits for. Of it as much is held as the threads need; whoever brings more waits.
    Background,
    /// Somebody waits for the answer: it goes in front of what waits, and behind the 256 tokens at most that a thread is at.
    Interactive,
}

/// Settings of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Threads that compute, at least 1. No more than these compute at any time.
    pub threads: usize,
    /// Requests of those who wait for an answer that may be there at once; one more is refused as `Busy`.
    pub waiting: usize,
    /// Embeddings of queries that are remembered; those not asked for the longest go.
    pub remembered: u64,
}

impl Default for Settings {
    fn default() -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self { threads: (processors / 2).max(1), waiting: 256, remembered: 4096 }
    }
}

/// A model with its threads. They end with the last clone.
#[derive(Debug, Clone)]
pub struct Service {
    owner: Arc<Owner>,
}

#[derive(Debug)]
struct Owner {
    shared: Arc<Shared>,
    background: Semaphore,
    interactive: Semaphore,
    queries: Cache<[u8; 32], Arc<Embedding>>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.close();
    }
}

#[derive(Debug)]
struct Shared {
    model: Arc<Model>,
    queue: Mutex<Queue>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    interactive: VecDeque<Work>,
    background: VecDeque<Work>,
    is_closed: bool,
}

#[derive(Debug)]
enum Work {
    /// Texts that are not yet cut into tokens.
    Texts(Vec<String>, Arc<Gathering>),
    /// Some texts of a request.
    Batch(Vec<Prepared>, Arc<Gathering>),
}

/// A request in work: what is there, and who waits for it.
#[derive(Debug)]
struct Gathering {
    priority: Priority,
    state: Mutex<Gathered>,
}

#[derive(Debug)]
struct Gathered {
    embeddings: Vec<Option<Embedding>>,
    reply: Option<oneshot::Sender<Result<Vec<Embedding>, EmbedError>>>,
}

impl Service {
    /// Starts the threads.
    ///
    /// # Errors
    /// A thread can't be started.
    pub fn start(model: Arc<Model>, settings: Settings) -> io::Result<Self> {
        let threads = settings.threads.max(1);
        let shared = Arc::new(Shared { model, queue: Mutex::default(), more: Condvar::new() });
        let owner = Owner {
            shared: Arc::clone(&shared),
            background: Semaphore::new(threads * HELD_PER_THREAD),
            interactive: Semaphore::new(settings.waiting.max(1)),
            queries: Cache::new(settings.remembered),
        };
        // The owner is there already: those that were started end with it if the next one can't be.
        for number in 0..threads {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name(format!("embedding-{number}")).spawn(move || shared.work())?;
        }
        Ok(Self { owner: Arc::new(owner) })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Arc<Model> {
        &self.owner.shared.model
    }

    /// Embeddings of texts, in their order. In the background it waits for a place first; whoever stops waiting leaves no
    /// work behind but the batch that is computed.
    ///
    /// # Errors
    /// `Busy` when too many wait for an answer; `Closed`, `Untokenizable`, `Failed`.
    pub async fn embed(&self, texts: Vec<String>, priority: Priority) -> Result<Vec<Embedding>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let _place = match priority {
            Priority::Background => {
                self.owner.background.acquire().await.map_err(|_closed| EmbedError::Closed)?
            }
            Priority::Interactive => {
                self.owner.interactive.try_acquire().map_err(|_full| EmbedError::Busy)?
            }
        };
        let (reply, answer) = oneshot::channel();
        let embeddings = texts.iter().map(|_| None).collect();
        let state = Mutex::new(Gathered { embeddings, reply: Some(reply) });
        let gathering = Arc::new(Gathering { priority, state });
        if !self.owner.shared.put(priority, [Work::Texts(texts, gathering)]) {
            return Err(EmbedError::Closed);
        }
        match answer.await {
            Ok(answer) => answer,
            Err(_dropped) if self.owner.shared.queue.lock().is_closed => Err(EmbedError::Closed),
            Err(_dropped) => Err(EmbedError::Failed),
        }
    }

    /// The embedding of a query, which is remembered within a scope, such as an organisation: none learns by the time that
    /// it takes what another asked.
    ///
    /// # Errors
    /// Those of [`Self::embed`].
    pub async fn embed_query(&self, scope: &str, text: &str) -> Result<Arc<Embedding>, EmbedError> {
        let key = self.key(scope, text);
        if let Some(known) = self.owner.queries.get(&key) {
            return Ok(known);
        }
        let embedded = self.embed(vec![text.to_owned()], Priority::Interactive).await?;
        let embedding = Arc::new(embedded.into_iter().next().ok_or(EmbedError::Failed)?);
        self.owner.queries.insert(key, Arc::clone(&embedding));
        Ok(embedding)
    }

    /// Ends the service: what waits is answered with `Closed`, and the threads end after the batches that they are at.
    pub fn close(&self) {
        self.owner.background.close();
        self.owner.shared.close();
    }

    fn key(&self, scope: &str, text: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in [self.model().id(), self.model().manifest().revision(), scope, text] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

impl Shared {
    /// Puts work at the end of its rank; `false` when the service is closed.
    fn put(&self, priority: Priority, work: impl IntoIterator<Item = Work>) -> bool {
        let mut queue = self.queue.lock();
        if queue.is_closed {
            return false;
        }
        match priority {
            Priority::Background => queue.background.extend(work),
            Priority::Interactive => queue.interactive.extend(work),
        }
        drop(queue);
        self.more.notify_all();
        true
    }

    fn close(&self) {
        let left = {
            let mut queue = self.queue.lock();
            queue.is_closed = true;
            (std::mem::take(&mut queue.interactive), std::mem::take(&mut queue.background))
        };
        // Whoever waits is woken by its end, without the lock.
        drop(left);
        self.more.notify_all();
    }

    /// The life of a thread.
    fn work(&self) {
        while let Some(work) = self.next() {
            let done = catch_unwind(AssertUnwindSafe(|| self.perform(work)));
            if done.is_err() {
                // Its request was dropped with it, which its caller learns as `Failed`.
                tracing::error!("the computation of an embedding panicked");
            }
        }
    }

    fn next(&self) -> Option<Work> {
        let mut queue = self.queue.lock();
        loop {
            if queue.is_closed {
                return None;
            }
            if let Some(work) = queue.interactive.pop_front() {
                return Some(work);
            }
            if let Some(work) = queue.background.pop_front() {
                return Some(work);
            }
            self.more.wait(&mut queue);
        }
    }

    fn perform(&self, work: Work) {
        let (batch, gathering) = match work {
            Work::Batch(batch, gathering) => (batch, gathering),
            Work::Texts(texts, gathering) => {
                if gathering.is_forsaken() {
                    return;
                }
                let prepared = match self.model.prepare(&texts) {
                    Ok(prepared) => prepared,
                    Err(error) => return gathering.fail(error),
                };
                let mut batches = batches(prepared).into_iter();
                let Some(first) = batches.next() else { return gathering.fail(EmbedError::Failed) };
                let rest: Vec<Work> =
                    batches.map(|batch| Work::Batch(batch, Arc::clone(&gathering))).collect();
                if !rest.is_empty() && !self.put(gathering.priority, rest) {
                    return gathering.fail(EmbedError::Closed);
                }
                (first, gathering)
            }
        };
        if gathering.is_forsaken() {
            return;
        }
        match self.model.compute(batch) {
            Ok(embeddings) => gathering.add(embeddings),
            Err(error) => gathering.fail(error),
        }
    }
}

impl Gathering {
    /// Whether nobody waits any more.
    fn is_forsaken(&self) -> bool {
        self.state.lock().reply.as_ref().is_none_or(oneshot::Sender::is_closed)
    }

    fn fail(&self, error: EmbedError) {
        let reply = self.state.lock().reply.take();
        answer(reply, Err(error));
    }

    fn add(&self, embeddings: Vec<Placed>) {
        let mut state = self.state.lock();
        for Placed { at, embedding } in embeddings {
            if let Some(place) = state.embeddings.get_mut(at) {
                *place = Some(embedding);
            }
        }
        if state.embeddings.iter().any(Option::is_none) {
            return;
        }
        let all = std::mem::take(&mut state.embeddings).into_iter().flatten().collect();
        let reply = state.reply.take();
        drop(state);
        answer(reply, Ok(all));
    }
}

/// Tells who waits, if somebody does.
fn answer(
    reply: Option<oneshot::Sender<Result<Vec<Embedding>, EmbedError>>>,
    told: Result<Vec<Embedding>, EmbedError>,
) {
    if let Some(reply) = reply {
        // Whoever went away misses nothing.
        let _ = reply.send(told);
    }
}
