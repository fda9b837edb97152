//! PostgreSQL: a pool whose connections are looked at before they are given out again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deadpool::managed::QueueMode;
use diesel_async::pooled_connection::deadpool::{Hook, HookError, Object, Pool};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection, TransactionManager};
use futures::FutureExt;

use crate::error::Error;
use crate::options::{OpenError, Options};
use crate::outage::{Outages, caused};
use crate::statistics;

/// A connection to PostgreSQL.
pub type PgConn = AsyncPgConnection;

/// Longest wait for a connection, made or taken from the pool.
const PATIENCE: Duration = Duration::from_secs(5);
/// A connection that idled longer is asked whether it still lives before it is given out.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);

/// Age from which on a connection is exchanged for a new one while the process is heavy.
const OLD: Duration = Duration::from_secs(20);
/// Resident bytes from which on it is.
const HEAVY: u64 = 120 << 20;
/// Time for which a look at them counts.
const LOOK: Duration = Duration::from_secs(1);

/// Weight of the process, looked at now and then.
///
/// The buffers of a connection stay as large as the largest message was, and its statements as many as were ever asked:
/// after a flood of large rows a pool keeps hundreds of megabytes. A new connection has none of it, and costs some
/// milliseconds, which only a heavy process spends.
#[derive(Debug, Default)]
struct Weight(Mutex<Option<(Instant, bool)>>);

impl Weight {
    fn is_heavy(&self) -> bool {
        let mut looked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *looked {
            Some((at, heavy)) if at.elapsed() < LOOK => heavy,
            _ => {
                let heavy = resident().is_some_and(|bytes| bytes > HEAVY);
                *looked = Some((Instant::now(), heavy));
                heavy
            }
        }
    }
}

/// Resident bytes of the process, where the system tells them.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

type Manager = <AsyncPgConnection as AsyncConnection>::TransactionManager;

/// The PostgreSQL database: cheap to clone.
#[derive(Clone)]
pub struct PgDb {
    pool: Pool<AsyncPgConnection>,
    outages: Arc<Outages>,
    /// Number of connections given out; who looks after the statistics of tables ends with the last of these.
    given: Arc<AtomicU64>,
}

impl std::fmt::Debug for PgDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PgDb").finish_non_exhaustive()
    }
}

impl PgDb {
    pub(crate) fn new(url: &str, options: &Options) -> Result<Self, OpenError> {
        let mut config = ManagerConfig::<AsyncPgConnection>::default();
        // A closed socket is always noticed; the hook below asks those that idled.
        config.recycling_method = RecyclingMethod::Fast;
        config.custom_setup = Box::new(|url| establish(url).boxed());
        let manager = AsyncDieselConnectionManager::new_with_config(url, config);
        let weight = Arc::new(Weight::default());
        let pool = Pool::builder(manager)
            .max_size(options.connections.max(1))
            // The one that was used last has the plans of what is asked often: each connection makes its own, and that takes
            // longer than most answers.
            .queue_mode(QueueMode::Lifo)
            .pre_recycle(Hook::async_fn(move |conn: &mut AsyncPgConnection, metrics| {
                let (idle, age) = (metrics.last_used(), metrics.age());
                let weight = Arc::clone(&weight);
                async move {
                    if age > OLD && weight.is_heavy() {
                        return Err(HookError::message("the connection is exchanged for a lighter one"));
                    }
                    if idle > TRUSTED_IDLE {
                        let asked = tokio::time::timeout(PATIENCE, conn.batch_execute("SELECT 1")).await;
                        if !matches!(asked, Ok(Ok(()))) {
                            return Err(HookError::message("the connection died while it was idle"));
                        }
                    }
                    Ok(())
                }
                .boxed()
            }))
            .build()
            .map_err(|error| OpenError::Connect(error.to_string()))?;
        let given = Arc::new(AtomicU64::new(0));
        let db = Self { pool, outages: Arc::new(Outages::of(url)), given };
        db.keep_statistics();
        Ok(db)
    }

    /// Has the statistics of tables kept while somebody has the database.
    fn keep_statistics(&self) {
        tokio::spawn(statistics::keep(self.pool.clone(), Arc::downgrade(&self.given)));
    }

    /// A connection, within five seconds.
    ///
    /// # Errors
    /// When the server can't be reached or all connections stay busy.
    pub async fn conn(&self) -> Result<Object<AsyncPgConnection>, Error> {
        match tokio::time::timeout(PATIENCE, self.pool.get()).await {
            Ok(Ok(conn)) => {
                self.given.fetch_add(1, Ordering::Relaxed);
                self.outages.answers();
                Ok(conn)
            }
            Ok(Err(error)) => {
                let cause = caused(&error);
                // The pool's own words say nothing to an operator.
                let cause = cause.trim_start_matches("Error occurred while creating a new object: ");
                Err(Error::Unavailable(self.outages.failed(cause)))
            }
            Err(_) => Err(Error::Unavailable(self.outages.failed("no connection within five seconds"))),
        }
    }

    /// Host, port and database, without user and password.
    #[must_use]
    pub fn place(&self) -> &str {
        self.outages.place()
    }

    /// Runs statements that give no rows.
    ///
    /// # Errors
    /// When the server can't be reached or refuses one.
    pub async fn execute_batch(&self, statements: &str) -> Result<(), Error> {
        Ok(self.conn().await?.batch_execute(statements).await?)
    }

    /// Closes all connections; later calls fail.
    pub fn close(&self) {
        self.pool.close();
    }

    /// Begins a transaction.
    ///
    /// # Errors
    /// When the connection is lost.
    pub async fn begin(conn: &mut AsyncPgConnection) -> Result<(), Error> {
        Ok(Manager::begin_transaction(conn).await?)
    }

    /// Commits when the body succeeded, else rolls back and passes its error on.
    ///
    /// # Errors
    /// The body's, or the commit's.
    pub async fn finish<T>(conn: &mut AsyncPgConnection, result: Result<T, Error>) -> Result<T, Error> {
        match result {
            Ok(value) => {
                Manager::commit_transaction(conn).await?;
                Ok(value)
            }
            Err(error) => {
                // A connection that can't roll back is thrown away when it goes back to the pool.
                if let Err(error) = Manager::rollback_transaction(conn).await {
                    tracing::warn!(%error, "a transaction could not be rolled back");
                }
                Err(error)
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the service's own database is the operator's choice")]
async fn establish(url: &str) -> diesel::ConnectionResult<AsyncPgConnection> {
    let late = || diesel::ConnectionError::BadConnection("no answer within five seconds".to_owned());
    let setup = async {
        // Connected here rather than by diesel, which keeps of an error only its first words and not the cause.
        let refused = |error: tokio_postgres::Error| diesel::ConnectionError::BadConnection(caused(&error));
        let (client, connection) =
            tokio_postgres::connect(url, tokio_postgres::NoTls).await.map_err(refused)?;
        let mut conn = AsyncPgConnection::try_from_client_and_connection(client, connection).await?;
        // A transaction that nobody ends must not hold its locks for ever. A page is read by one process: to begin another
        // takes longer than most pages, and those that a plan of many rows asks for begin whether there are any or not.
        conn.batch_execute(
            "SET idle_in_transaction_session_timeout = '60s'; SET lock_timeout = '10s'; SET jit = off; \
             SET max_parallel_workers_per_gather = 0",
        )
        .await
        .map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
        Ok(conn)
    };
    tokio::time::timeout(PATIENCE, setup).await.unwrap_or_else(|_| Err(late()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_of_the_process_is_told_by_the_system() {
        let before = resident().unwrap();
        assert!(before > 1 << 20);
        let ballast = vec![1_u8; 64 << 20];
        assert!(resident().unwrap() > before + (32 << 20), "{}", ballast.len());
        let weight = Weight::default();
        *weight.0.lock().unwrap() = Some((Instant::now(), true));
        assert!(weight.is_heavy(), "a look counts for a while");
    }
}
