//! Durability of SQLite's commits: the log is brought to the disk beside the writer.
//!
//! SQLite's own `synchronous=FULL` lets the writing connection wait for the disk inside each commit, and everybody who wants
//! to write with it. Here a commit only writes to the log; whoever made it is answered when the log has been synced behind
//! it, and meanwhile the next transaction is under way. What was committed later stands later in the log, so that an answer
//! never holds on something that a loss of power takes back. A reader may see a commit some milliseconds before it is on
//! the disk: what it then writes is answered behind it, and what rests on a read alone waits for it ([`Commits::settled`]).

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::error::Error;

/// State of the log on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Synced {
    /// Number of the last commit that is there.
    through: u64,
    /// Whether the disk refused: of nothing further is it known.
    is_lost: bool,
}

#[derive(Debug, Default)]
struct Written {
    /// Number of the last commit.
    number: u64,
    closed: bool,
}

#[derive(Debug)]
struct Shared {
    written: Mutex<Written>,
    news: Condvar,
    synced: watch::Sender<Synced>,
}

impl Shared {
    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a commit behind one; none when there will be no more.
    fn behind(&self, number: u64) -> Option<u64> {
        let mut written = self.written();
        while written.number == number && !written.closed {
            written = self.news.wait(written).unwrap_or_else(PoisonError::into_inner);
        }
        (written.number != number).then_some(written.number)
    }
}

/// The commits of a database file, and how far they are on the disk.
#[derive(Debug, Clone)]
pub(crate) struct Commits(Arc<Shared>);

/// End of the thread, however it comes: nothing further is known to be on the disk.
struct End<'a>(&'a Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.synced.send_modify(|synced| synced.is_lost = true);
    }
}

/// Ends the syncing with the database.
#[derive(Debug)]
pub(crate) struct Syncing(Commits);

impl Drop for Syncing {
    fn drop(&mut self) {
        self.0.0.written().closed = true;
        self.0.0.news.notify_one();
    }
}

impl Commits {
    /// Syncs the log of a database that is open on a thread of its own, for as long as the second half lives. That the log's
    /// file is there gets to the disk with the first header that SQLite writes to it.
    ///
    /// # Errors
    /// When there is no log at this path.
    pub(crate) fn of(database: &Path) -> std::io::Result<(Self, Syncing)> {
        // SQLite follows a link before it names the log.
        let mut log = database.canonicalize()?.into_os_string();
        log.push("-wal");
        let log = File::open(&log)?;
        Ok(Self::synced_by(move || log.sync_data()))
    }

    fn synced_by(mut sync: impl FnMut() -> std::io::Result<()> + Send + 'static) -> (Self, Syncing) {
        let commits = Self(Arc::new(Shared {
            written: Mutex::default(),
            news: Condvar::new(),
            synced: watch::Sender::new(Synced::default()),
        }));
        let shared = Arc::clone(&commits.0);
        let started = std::thread::Builder::new().name("heddle-sync".to_owned()).spawn(move || {
            let end = End(&shared);
            let mut done = 0;
            while let Some(number) = shared.behind(done) {
                if let Err(error) = sync() {
                    drop(end);
                    tracing::error!(
                        %error,
                        "the disk did not take the database's log: what is written from now on is refused, until the server is started anew"
                    );
                    return;
                }
                done = number;
                shared.synced.send_modify(|synced| synced.through = number);
            }
        });
        if let Err(error) = started {
            tracing::error!(%error, "no thread that syncs the database's log");
            commits.0.synced.send_modify(|synced| synced.is_lost = true);
        }
        (commits.clone(), Syncing(commits))
    }

    /// Notes a commit that is in the log; its number.
    pub(crate) fn note(&self) -> u64 {
        let number = {
            let mut written = self.0.written();
            written.number += 1;
            written.number
        };
        self.0.news.notify_one();
        number
    }

    /// Waits until a commit is on the disk.
    ///
    /// # Errors
    /// `Unavailable` when the disk refused: whether the commit is there shows when the server starts anew.
    pub(crate) async fn reached(&self, number: u64) -> Result<(), Error> {
        let mut synced = self.0.synced.subscribe();
        let end = synced.wait_for(|synced| synced.through >= number || synced.is_lost);
        let is_there = end.await.is_ok_and(|synced| synced.through >= number);
        if is_there { Ok(()) } else { Err(lost()) }
    }

    /// Waits until everything that a reader can see is on the disk.
    ///
    /// # Errors
    /// `Unavailable` when the disk refused.
    pub(crate) async fn settled(&self) -> Result<(), Error> {
        let number = self.0.written().number;
        self.reached(number).await
    }

    /// Whether commits still get to the disk.
    ///
    /// # Errors
    /// `Unavailable` when the disk refused one.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.0.synced.borrow().is_lost { Err(lost()) } else { Ok(()) }
    }
}

fn lost() -> Error {
    Error::Unavailable("the disk did not take the database's log".to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use futures::FutureExt as _;
    use std::sync::mpsc;

    /// A disk whose syncs wait to be let through, each with its outcome.
    pub(crate) fn held() -> (Commits, Syncing, mpsc::Receiver<()>, mpsc::Sender<bool>) {
        let (begins, begun) = mpsc::channel();
        let (lets, waits) = mpsc::channel();
        let (commits, syncing) = Commits::synced_by(move || {
            begins.send(()).map_err(std::io::Error::other)?;
            match waits.recv() {
                Ok(true) => Ok(()),
                Ok(false) => Err(std::io::Error::other("full")),
                Err(gone) => Err(std::io::Error::other(gone)),
            }
        });
        (commits, syncing, begun, lets)
    }

    #[tokio::test]
    async fn a_commit_is_answered_by_a_sync_that_began_behind_it() {
        let (commits, _syncing, begun, lets) = held();
        let first = commits.note();
        begun.recv().unwrap();
        // The sync of the first is under way: it says nothing of these two.
        let (second, third) = (commits.note(), commits.note());
        lets.send(true).unwrap();
        commits.reached(first).await.unwrap();
        begun.recv().unwrap();
        assert!(commits.reached(second).now_or_never().is_none());
        lets.send(true).unwrap();
        commits.reached(second).await.unwrap();
        commits.reached(third).await.unwrap();
        // Nothing more is written: what is seen is there.
        commits.settled().now_or_never().unwrap().unwrap();
        commits.note();
        assert!(commits.settled().now_or_never().is_none());
        begun.recv().unwrap();
        lets.send(true).unwrap();
        commits.settled().await.unwrap();
    }

    #[tokio::test]
    async fn a_disk_that_refuses_is_told_to_all_who_wait_and_to_all_who_come() {
        let (commits, _syncing, begun, lets) = held();
        let first = commits.note();
        commits.check().unwrap();
        begun.recv().unwrap();
        lets.send(false).unwrap();
        assert!(matches!(commits.reached(first).await, Err(Error::Unavailable(_))));
        assert!(matches!(commits.check(), Err(Error::Unavailable(_))));
        let next = commits.note();
        assert!(matches!(commits.reached(next).await, Err(Error::Unavailable(_))));
    }

    #[tokio::test]
    async fn a_thread_that_dies_lets_nobody_wait() {
        let (commits, _syncing) = Commits::synced_by(|| panic!("a fault of ours"));
        let first = commits.note();
        assert!(matches!(commits.reached(first).await, Err(Error::Unavailable(_))));
    }

    #[tokio::test]
    async fn what_was_written_before_the_end_is_synced() {
        let (commits, syncing, begun, lets) = held();
        let first = commits.note();
        drop(syncing);
        begun.recv().unwrap();
        lets.send(true).unwrap();
        commits.reached(first).await.unwrap();
        assert!(begun.recv().is_err());
    }
}
