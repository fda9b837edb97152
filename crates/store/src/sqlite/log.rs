//! The write-ahead log: copied back beside the writer, and the memory of pages given back when nobody writes.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;
use tokio::sync::Notify;

use super::{Inner, Reader, rollback};

/// Pages of the write-ahead log behind which it is copied back beside the writer: 32 MiB, twice as many in files of
/// earlier programs. A page that many commits change is copied once for all of them.
const LOG_PAGES: i64 = 8_192;
/// Pages that the writer copies back at most while others wait for it.
const REST_PAGES: i64 = 1_024;
/// Time for which commits gather before somebody looks how long the log is.
const LOOK: Duration = Duration::from_millis(20);
/// Time without a commit after which connections give back the pages that they keep.
const IDLE: Duration = Duration::from_secs(10);

/// Answer of a checkpoint.
#[derive(Debug, Clone, Copy, diesel::QueryableByName)]
pub(super) struct Log {
    /// Pages in the log; -1 while it can't be told.
    #[diesel(sql_type = diesel::sql_types::BigInt, column_name = "log")]
    pages: i64,
    /// Those of them that are copied back.
    #[diesel(sql_type = diesel::sql_types::BigInt, column_name = "checkpointed")]
    copied: i64,
}

/// Makes a checkpoint in a mode: `NOOP` only looks, `PASSIVE` copies what no reader stands in the way of.
pub(super) fn checkpoint(conn: &mut SqliteConnection, mode: &str) -> diesel::QueryResult<Log> {
    diesel::RunQueryDsl::get_result(diesel::sql_query(format!("PRAGMA wal_checkpoint({mode})")), conn)
}

impl Inner {
    /// Copies the log back where it is long, and has not been so at the same length before: `tried` are the pages at the
    /// last try after which the log went on.
    async fn copy_back(&self, tried: &mut i64) -> diesel::QueryResult<()> {
        if self.commits.as_ref().is_some_and(|commits| commits.check().is_err()) {
            return Ok(());
        }
        let mut copier = self.copier.lock().await;
        let before = *tried;
        let log = copier.spawn_blocking(move |conn| {
            let log = checkpoint(conn, "NOOP")?;
            let is_tried = (before..before + REST_PAGES).contains(&log.pages);
            if log.pages < LOG_PAGES || is_tried {
                Ok((log, false))
            } else {
                Ok((checkpoint(conn, "PASSIVE")?, true))
            }
        });
        let (log, is_copied) = log.await?;
        if log.pages < LOG_PAGES {
            *tried = 0;
        }
        // A reader that stands in the way keeps the writer out of it, too.
        if !is_copied || log.pages - log.copied > REST_PAGES {
            return Ok(());
        }
        *tried = log.pages;
        let open = Arc::clone(&self.open);
        let mut writer = self.write.lock().await;
        let rest = writer.spawn_blocking(move |conn| {
            if open.load(Ordering::Relaxed) {
                rollback(conn, &open);
            }
            checkpoint(conn, "PASSIVE")
        });
        rest.await.map(drop)
    }

    /// Gives back the memory of pages that the writer and the readers that are free keep.
    async fn give_back(&self) -> diesel::QueryResult<()> {
        let shrink = |conn: &mut SqliteConnection| conn.batch_execute("PRAGMA shrink_memory");
        self.write.lock().await.spawn_blocking(shrink).await?;
        let mut free = Vec::new();
        while let Ok(permit) = self.read.free.try_acquire()
            && let Some(conn) = self.read.idle().pop()
        {
            free.push(Reader { conn: Some(conn), readers: &self.read, _permit: permit });
        }
        for reader in &mut free {
            if let Some(conn) = &mut reader.conn {
                conn.spawn_blocking(shrink).await?;
            }
        }
        Ok(())
    }
}

/// Copies the log back whenever it is long, and gives memory back when nobody writes, as long as the database is open.
///
/// A commit that does it lets everybody wait for some 4,000 pages and a sync of the file: a twentieth of a second, several
/// times a second under load. Done by a connection of its own it takes nobody's time; the writer then copies the few
/// pages that were written meanwhile, so that its next commit begins the log anew.
pub(super) async fn copy_back(db: Weak<Inner>, told: Arc<Notify>) {
    let (mut tried, mut is_failing, mut is_resting) = (0, false, false);
    loop {
        if is_resting {
            told.notified().await;
        } else if tokio::time::timeout(IDLE, told.notified()).await.is_err() {
            let Some(inner) = db.upgrade() else { return };
            if let Err(error) = inner.give_back().await {
                tracing::debug!(%error, "connections keep their pages");
            }
            is_resting = true;
            continue;
        }
        is_resting = false;
        tokio::time::sleep(LOOK).await;
        let Some(inner) = db.upgrade() else { return };
        match inner.copy_back(&mut tried).await {
            Ok(()) => is_failing = false,
            Err(error) if !is_failing => {
                tracing::warn!(%error, "the write-ahead log is not copied back: it grows until it can be");
                is_failing = true;
            }
            Err(_) => {}
        }
    }
}
