//! SQLite: one connection that writes, a few that read, each with a thread of its own.

use std::fs::File;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use crate::durable::{Commits, Syncing};
use crate::error::Error;
use crate::generations::{Generations, Writing};
use crate::options::{Durability, OpenError, Options};

mod log;
mod memory;

use log::{checkpoint, copy_back};

/// A connection to SQLite whose statements run on a thread of its own.
pub type SqliteConn = SyncConnectionWrapper<SqliteConnection, Worker>;

/// Longest wait for a lock of the file that a process that goes down still holds.
const LOCK_PATIENCE: Duration = Duration::from_secs(3);

type Job = Box<dyn FnOnce() + Send>;

/// A thread that runs one connection's statements in the order in which they were sent.
///
/// The order matters when a caller goes away in the middle of a transaction: the statement it had already
/// sent still runs before the `ROLLBACK` with which the next writer begins, never inside the next
/// transaction. A shared pool of blocking threads gives no such order.
pub struct Worker {
    jobs: mpsc::Sender<Job>,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

impl Worker {
    fn start() -> Self {
        let (jobs, inbox) = mpsc::channel::<Job>();
        // Without a thread the inbox is dropped here, and every call answers that the worker is gone.
        let started = std::thread::Builder::new().name("heddle-sqlite".to_owned()).spawn(move || {
            for job in inbox {
                // A panic fails its own call (whose answer is dropped), not the thread.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
            }
        });
        if let Err(error) = started {
            tracing::error!(%error, "no thread for a database connection");
        }
        Self { jobs }
    }
}

impl SpawnBlocking for Worker {
    fn spawn_blocking<'a, R>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> BoxFuture<'a, Result<R, Box<dyn std::error::Error + Send + Sync + 'static>>>
    where
        R: Send + 'static,
    {
        let (answer, answered) = tokio::sync::oneshot::channel();
        // If the thread is gone the job is dropped with its `answer`, which `answered` then tells.
        let _ = self.jobs.send(Box::new(move || {
            let _ = answer.send(task());
        }));
        Box::pin(async move { answered.await.map_err(Box::from) })
    }

    fn get_runtime() -> Self {
        Self::start()
    }
}

/// The SQLite database: cheap to clone.
#[derive(Clone)]
pub struct SqliteDb(Arc<Inner>);

impl std::fmt::Debug for SqliteDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteDb").finish_non_exhaustive()
    }
}

struct Inner {
    /// The connection that copies the log back; closed before the one that writes, as all are before the lock is free.
    copier: tokio::sync::Mutex<SqliteConn>,
    write: tokio::sync::Mutex<SqliteConn>,
    /// Told of each commit, and of the end.
    log: Arc<Notify>,
    /// Whether the writer's connection may stand inside a transaction that nobody ended.
    open: Arc<AtomicBool>,
    /// Commits on their way to the disk; none where they need not be to be answered.
    commits: Option<Commits>,
    read: Readers,
    generations: Generations,
    path: PathBuf,
    _syncing: Option<Syncing>,
    _lock: Option<File>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.log.notify_one();
    }
}

struct Readers {
    free: Semaphore,
    idle: Mutex<Vec<SqliteConn>>,
}

impl Readers {
    fn idle(&self) -> MutexGuard<'_, Vec<SqliteConn>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reading connection, given back when dropped.
pub struct Reader<'a> {
    conn: Option<SqliteConn>,
    readers: &'a Readers,
    _permit: SemaphorePermit<'a>,
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Reader<'_> {
    /// The connection.
    ///
    /// # Errors
    /// Never, in truth: the connection is there until the reader is dropped.
    pub fn conn(&mut self) -> Result<&mut SqliteConn, Error> {
        self.conn.as_mut().ok_or(Error::Unavailable("the reading connection is gone".to_owned()))
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        if let Some(conn) = self.conn.take() {
            self.readers.idle().push(conn);
        }
    }
}

/// The connection that writes, held by one task at a time in the order of asking.
pub struct Writer<'a> {
    conn: tokio::sync::MutexGuard<'a, SqliteConn>,
    open: &'a Arc<AtomicBool>,
    commits: Option<&'a Commits>,
    log: &'a Notify,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl Deref for Writer<'_> {
    type Target = SqliteConn;

    fn deref(&self) -> &SqliteConn {
        &self.conn
    }
}

impl DerefMut for Writer<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConn {
        &mut self.conn
    }
}

impl Writer<'_> {
    /// Begins the transaction, taking the write lock at once.
    ///
    /// # Errors
    /// When the database can't be written now.
    pub async fn begin(&mut self) -> Result<(), Error> {
        self.commits.map_or(Ok(()), Commits::check)?;
        let open = Arc::clone(self.open);
        Ok(self.conn.spawn_blocking(move |conn| begin(conn, &open)).await?)
    }

    /// Commits when the body succeeded, else rolls back and passes its error on. Others write while the commit gets to the
    /// disk.
    ///
    /// # Errors
    /// The body's, or the commit's.
    pub async fn finish<T>(mut self, result: Result<T, Error>) -> Result<T, Error> {
        let open = Arc::clone(self.open);
        match result {
            Ok(value) => {
                let commits = self.commits.cloned();
                let number =
                    self.conn.spawn_blocking(move |conn| commit(conn, &open, commits.as_ref())).await?;
                self.log.notify_one();
                let commits = self.commits;
                drop(self);
                OnDisk { commits, number }.reached().await?;
                Ok(value)
            }
            Err(error) => {
                let rolled_back = self
                    .conn
                    .spawn_blocking(move |conn| {
                        rollback(conn, &open);
                        Ok(())
                    })
                    .await;
                if let Err(error) = rolled_back {
                    tracing::warn!(%error, "a transaction could not be rolled back yet");
                }
                Err(error)
            }
        }
    }
}

fn begin(conn: &mut SqliteConnection, open: &AtomicBool) -> diesel::QueryResult<()> {
    if open.load(Ordering::Relaxed) {
        rollback(conn, open);
    }
    conn.batch_execute("BEGIN IMMEDIATE")?;
    open.store(true, Ordering::Relaxed);
    Ok(())
}

/// Commits; gives the number of the commit where it is to get to the disk.
fn commit(
    conn: &mut SqliteConnection,
    open: &AtomicBool,
    commits: Option<&Commits>,
) -> diesel::QueryResult<Option<u64>> {
    match conn.batch_execute("COMMIT") {
        Ok(()) => {
            open.store(false, Ordering::Relaxed);
            Ok(commits.map(Commits::note))
        }
        Err(error) => {
            rollback(conn, open);
            Err(error)
        }
    }
}

/// A commit on its way to the disk.
#[derive(Debug)]
pub struct OnDisk<'a> {
    commits: Option<&'a Commits>,
    number: Option<u64>,
}

impl OnDisk<'_> {
    /// Waits until it is there, where it is to get there.
    ///
    /// # Errors
    /// When the disk refused.
    pub async fn reached(self) -> Result<(), Error> {
        match self.commits.zip(self.number) {
            Some((commits, number)) => commits.reached(number).await,
            None => Ok(()),
        }
    }
}

/// Ends the transaction. That it fails means that SQLite has already rolled back by itself, as it does for a
/// full disk and for an I/O error.
fn rollback(conn: &mut SqliteConnection, open: &AtomicBool) {
    let _ = conn.batch_execute("ROLLBACK");
    open.store(false, Ordering::Relaxed);
}

/// Runs `work` in a savepoint of the current transaction; its failure undoes its own statements alone.
///
/// # Errors
/// The outer error says that the whole transaction is gone (SQLite rolls back by itself for a full disk):
/// then nothing of the batch may be reported as done. The inner one is the work's own.
pub fn savepoint<T, E>(
    conn: &mut SqliteConnection,
    work: impl FnOnce(&mut SqliteConnection) -> Result<T, E>,
) -> Result<Result<T, E>, Error> {
    conn.batch_execute("SAVEPOINT heddle")?;
    let result = work(conn);
    let end = if result.is_ok() { "RELEASE heddle" } else { "ROLLBACK TO heddle; RELEASE heddle" };
    conn.batch_execute(end)?;
    Ok(result)
}

/// Undoes what the transaction of a [`SqliteDb::batch`] has written so far, and begins it anew.
///
/// # Errors
/// The database's; the batch fails then.
pub fn anew(conn: &mut SqliteConnection) -> Result<(), Error> {
    // Some errors have ended the transaction already; an open one shows at the next statement.
    let _ = conn.batch_execute("ROLLBACK");
    Ok(conn.batch_execute("BEGIN IMMEDIATE")?)
}

impl SqliteDb {
    /// Opens or makes the file, and takes it for this process.
    pub(crate) async fn open(path: &Path, options: &Options) -> Result<Self, OpenError> {
        let commits = || match options.durability {
            Durability::Full => Commits::of(path).map(Some),
            Durability::Process => Ok(None),
        };
        Self::with(path, options.readers, commits).await
    }

    async fn with(
        path: &Path,
        readers: usize,
        commits: impl FnOnce() -> std::io::Result<Option<(Commits, Syncing)>>,
    ) -> Result<Self, OpenError> {
        let lock = lock_file(path).await?;
        let write = connect(path, Role::Writer).await?;
        let copier = connect(path, Role::Copier).await?;
        let mut idle = Vec::new();
        for _ in 0..readers.max(1) {
            idle.push(connect(path, Role::Reader).await?);
        }
        let log = Arc::new(Notify::new());
        let commits = commits().map_err(|source| OpenError::File { path: path.to_owned(), source })?;
        let (commits, syncing) = commits.unzip();
        let db = Self(Arc::new(Inner {
            copier: tokio::sync::Mutex::new(copier),
            write: tokio::sync::Mutex::new(write),
            log: Arc::clone(&log),
            open: Arc::new(AtomicBool::new(false)),
            commits,
            read: Readers { free: Semaphore::new(idle.len()), idle: Mutex::new(idle) },
            generations: Generations::default(),
            path: path.to_owned(),
            _syncing: syncing,
            _lock: Some(lock),
        }));
        tokio::spawn(copy_back(Arc::downgrade(&db.0), log));
        Ok(db)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The generation of a thing. Looked at before a read, it says later whether what was read still holds.
    #[must_use]
    pub fn generation(&self, thing: &impl Hash) -> u64 {
        self.0.generations.of(thing)
    }

    /// Raises the generations of things now and when the guard goes: to be held around whatever changes them.
    #[must_use]
    pub fn writing<T: Hash>(&self, things: impl IntoIterator<Item = T>) -> Writing {
        let db = self.clone();
        let turn = move || {
            let another = async move {
                db.behind_writes().await;
            };
            another.boxed()
        };
        self.0.generations.writing(things, Box::new(turn))
    }

    /// Runs `work` on a reading connection in one call: one way to its thread and back, whatever number of statements
    /// it has. Each statement sees what was committed before it.
    ///
    /// # Errors
    /// The work's, or the database's.
    pub async fn read<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, Error> + Send + 'static,
    {
        let mut reader = self.reader().await?;
        reader.conn()?.spawn_blocking(move |conn| Ok(work(conn))).await?
    }

    /// Waits for a connection that reads.
    ///
    /// # Errors
    /// Never in practice: the pool is not closed while it lives.
    pub async fn reader(&self) -> Result<Reader<'_>, Error> {
        let gone = || Error::Unavailable("no reading connection".to_owned());
        let permit = self.0.read.free.acquire().await.or(Err(gone()))?;
        let conn = self.0.read.idle().pop().ok_or_else(gone)?;
        Ok(Reader { conn: Some(conn), readers: &self.0.read, _permit: permit })
    }

    /// Waits for the connection that writes; first come, first served.
    pub async fn writer(&self) -> Writer<'_> {
        let (open, commits, log) = (&self.0.open, self.0.commits.as_ref(), &*self.0.log);
        Writer { conn: self.0.write.lock().await, open, commits, log }
    }

    /// Runs statements that give no rows, on the connection that writes.
    ///
    /// # Errors
    /// When the database refuses one.
    pub async fn execute_batch(&self, statements: &str) -> Result<(), Error> {
        let statements = statements.to_owned();
        self.batch(move |conn| Ok(conn.batch_execute(&statements)?)).await
    }

    /// Runs `work` on the writer's connection in one call inside one immediate transaction.
    ///
    /// The work runs to its end even if the caller goes away.
    ///
    /// # Errors
    /// The work's (all is rolled back), or the database's.
    pub async fn batch<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, Error> + Send + 'static,
    {
        let (value, on_disk) = self.written(work).await?;
        on_disk.reached().await?;
        Ok(value)
    }

    /// Waits until the writes before it have ended: for whoever can't wait for one of them itself any more.
    pub async fn behind_writes(&self) {
        // Whatever becomes of the turn: it came behind them.
        let _ = self.turn(|_| Ok(())).await;
    }

    /// Waits until everything that was committed is on the disk: for an answer, or something done outside, that rests on what
    /// was read.
    ///
    /// # Errors
    /// When the disk refused.
    pub async fn settled(&self) -> Result<(), Error> {
        match &self.0.commits {
            Some(commits) => commits.settled().await,
            None => Ok(()),
        }
    }

    /// Runs the transaction of a batch; the second part of the answer waits until it is on the disk. Others write meanwhile.
    ///
    /// # Errors
    /// As [`batch`](Self::batch).
    pub async fn written<T, F>(&self, work: F) -> Result<(T, OnDisk<'_>), Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, Error> + Send + 'static,
    {
        let commits = self.0.commits.as_ref();
        commits.map_or(Ok(()), Commits::check)?;
        let (value, number) = self.turn(work).await?;
        Ok((value, OnDisk { commits, number }))
    }

    /// The transaction of a batch, which may not be on the disk yet: with the number of its commit.
    async fn turn<T, F>(&self, work: F) -> Result<(T, Option<u64>), Error>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, Error> + Send + 'static,
    {
        let mut writer = self.writer().await;
        let (open, commits) = (Arc::clone(writer.open), writer.commits.cloned());
        let done = writer
            .conn
            .spawn_blocking(move |conn| {
                begin(conn, &open)?;
                Ok(match work(conn) {
                    Ok(value) => commit(conn, &open, commits.as_ref())
                        .map(|number| (value, number))
                        .map_err(Error::from),
                    Err(error) => {
                        rollback(conn, &open);
                        Err(error)
                    }
                })
            })
            .await?;
        writer.log.notify_one();
        done
    }
}

/// One process owns the file: what it has cached of identities is then true until it writes itself.
async fn lock_file(path: &Path) -> Result<File, OpenError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let open =
        || std::fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&name);
    let file = open().map_err(|source| OpenError::File { path: path.to_owned(), source })?;
    let started = tokio::time::Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(std::fs::TryLockError::Error(source)) => {
                return Err(OpenError::File { path: path.to_owned(), source });
            }
            Err(std::fs::TryLockError::WouldBlock) if started.elapsed() > LOCK_PATIENCE => {
                return Err(OpenError::InUse { path: path.to_owned() });
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                tokio::time::sleep(Duration::from_millis(25)).await;
            }
        }
    }
}

/// Use of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Writer,
    Reader,
    /// Copies the log back.
    Copier,
}

async fn connect(path: &Path, role: Role) -> Result<SqliteConn, OpenError> {
    let Some(url) = path.to_str().map(str::to_owned) else {
        return Err(OpenError::Address("the path is not UTF-8".to_owned()));
    };
    heddle_sqlite_log::install().map_err(|e| OpenError::Connect(e.to_string()))?;
    let mut worker = Worker::start();
    let opened = worker.spawn_blocking(move || {
        let mut conn = SqliteConnection::establish(&url).map_err(|e| OpenError::Connect(e.to_string()))?;
        conn.batch_execute(&pragmas(role)).map_err(|e| OpenError::Connect(e.to_string()))?;
        if role == Role::Writer {
            // What is left of the log of a process that ended is copied back and synced, before anything is answered behind it:
            // a disk that once refused to take it may have forgotten that.
            checkpoint(&mut conn, "TRUNCATE").map_err(|e| OpenError::Connect(e.to_string()))?;
        }
        Ok(conn)
    });
    let conn = opened.await.map_err(|e| OpenError::Connect(e.to_string()))??;
    Ok(SyncConnectionWrapper::with_runtime(conn, worker))
}

/// Pages of the log behind which a commit copies them back itself, since nobody else came to it.
const MOST_LOG_PAGES: i64 = 65_536;

/// Most bytes of the file that readers see as memory: more than any file has. SQLite is built to allow it
/// (`.cargo/config.toml`).
const MAPPED: u64 = 1 << 40;

/// The page size takes effect on a new file alone, and only before the switch to the write-ahead log. It is small, since a
/// commit writes whole pages, and most of its rows have a page each. Readers read the file as memory of the system's: each row
/// of a list stands on pages of its own when there are many, to copy those takes longer than to look at them, and whatever a
/// reader keeps itself it must forget whenever something is committed. What is in the log alone it does keep. No commit waits
/// for the disk by itself ([`Commits`] does); what copies the log back does.
fn pragmas(role: Role) -> String {
    let (kibibytes, own) = match role {
        Role::Writer => (12_288, format!("PRAGMA wal_autocheckpoint = {MOST_LOG_PAGES};")),
        Role::Reader => (1_024, format!("PRAGMA query_only = ON; PRAGMA mmap_size = {MAPPED};")),
        Role::Copier => (256, "PRAGMA wal_autocheckpoint = 0;".to_owned()),
    };
    format!(
        "PRAGMA busy_timeout = 5000; PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; \
         PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; \
         PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -{kibibytes}; {own}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durable::tests::held;

    #[derive(diesel::QueryableByName)]
    struct Count {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        rows: i64,
    }

    #[derive(diesel::QueryableByName)]
    struct Mapped {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        mmap_size: i64,
    }

    #[test]
    fn readers_see_the_whole_file_as_memory_however_large_it_is_and_who_writes_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mapped = |role| {
            let mut conn = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
            conn.batch_execute(&pragmas(role)).unwrap();
            let found: Mapped =
                diesel::RunQueryDsl::get_result(diesel::sql_query("PRAGMA mmap_size"), &mut conn).unwrap();
            u64::try_from(found.mmap_size).unwrap()
        };
        assert_eq!([Role::Writer, Role::Reader, Role::Copier].map(mapped), [0, MAPPED, 0]);
    }

    /// Kibibytes of a file that this process sees as memory, and those of them that are in memory.
    #[cfg(target_os = "linux")]
    fn seen(path: &Path) -> [u64; 2] {
        let (mut sums, mut is_of_file) = ([0, 0], false);
        for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
            let number = || line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap();
            match line.split_whitespace().next().unwrap() {
                "Size:" if is_of_file => sums[0] += number(),
                "Rss:" if is_of_file => sums[1] += number(),
                word if !word.ends_with(':') => is_of_file = line.ends_with(path.to_str().unwrap()),
                _ => {}
            }
        }
        sums
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_commit_takes_nothing_down_of_what_a_reader_sees_and_a_file_that_grows_or_shrinks_is_seen_anew() {
        heddle_sqlite_log::install().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("a.db");
        let conn = |role| {
            let mut conn = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
            conn.batch_execute(&pragmas(role)).unwrap();
            conn
        };
        let mut writer = conn(Role::Writer);
        let mut write = |words: &str| writer.batch_execute(words).unwrap();
        let rows = |from: u32| {
            format!(
                "WITH RECURSIVE n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i < {from} + 1999) \
                 INSERT INTO t SELECT i, zeroblob(3000) FROM n; PRAGMA wal_checkpoint(TRUNCATE);"
            )
        };
        write("CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)");
        write(&rows(1));
        let mut reader = conn(Role::Reader);
        let mut read = |words: &str| {
            let found: Count =
                diesel::RunQueryDsl::get_result(diesel::sql_query(words), &mut reader).unwrap();
            found.rows
        };
        let bytes = "SELECT sum(length(b)) AS rows FROM t";
        assert_eq!(read(bytes), 6_000_000);
        let [size, resident] = seen(&path);
        assert!(size > 7_000 && resident > 7_000, "{size} {resident}");
        // Whoever reads next sees what was committed, and what was seen is there still.
        write("UPDATE t SET b = zeroblob(7) WHERE n = 1");
        assert_eq!(read("SELECT length(b) AS rows FROM t WHERE n = 1"), 7);
        assert_eq!(seen(&path)[0], size);
        assert!(seen(&path)[1] > 7_000, "{:?}", seen(&path));
        write(&rows(2_001));
        assert_eq!(read(bytes), 11_997_007);
        let grown = seen(&path)[0];
        assert!(grown > size + 7_000, "{size} {grown}");
        write("DELETE FROM t WHERE n > 100; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
        assert_eq!(read(bytes), 297_007);
        assert!(seen(&path)[0] < 1_000, "{:?}", seen(&path));
        write(&rows(2_001));
        assert_eq!(read(bytes), 6_297_007);
    }

    fn insertion(conn: &mut SqliteConnection) -> Result<(), Error> {
        Ok(conn.batch_execute("CREATE TABLE IF NOT EXISTS t (n INTEGER); INSERT INTO t VALUES (1)")?)
    }

    #[tokio::test]
    async fn a_batch_is_answered_behind_its_sync_and_the_next_one_is_written_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let (commits, syncing, begun, lets) = held();
        let path = folder.path().join("a.db");
        let db = SqliteDb::with(&path, 1, || Ok(Some((commits, syncing)))).await.unwrap();
        let batch = |db: &SqliteDb| {
            let db = db.clone();
            tokio::spawn(async move { db.batch(insertion).await })
        };
        let first = batch(&db);
        // Kept until the end: a disk whose news nobody hears refuses.
        let _begun =
            tokio::task::spawn_blocking(move || begun.recv().map(|()| begun)).await.unwrap().unwrap();
        // Written, and seen by whoever reads; nobody was told that it is done.
        let second = batch(&db);
        let count = |conn: &mut SqliteConnection| -> Result<Count, Error> {
            Ok(diesel::RunQueryDsl::get_result(diesel::sql_query("SELECT count(*) AS rows FROM t"), conn)?)
        };
        while db.read(count).await.unwrap().rows < 2 {
            tokio::task::yield_now().await;
        }
        assert!(!first.is_finished() && !second.is_finished());
        lets.send(true).unwrap();
        first.await.unwrap().unwrap();
        // The disk refuses: the second is not known to be there, and nothing is written any more.
        lets.send(false).unwrap();
        assert!(matches!(second.await.unwrap(), Err(Error::Unavailable(_))));
        assert!(matches!(db.batch(insertion).await, Err(Error::Unavailable(_))));
        let mut writer = db.writer().await;
        assert!(matches!(writer.begin().await, Err(Error::Unavailable(_))));
    }
}
