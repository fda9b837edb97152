//! PostgreSQL's statistics of tables that grow fast.
//!
//! PostgreSQL looks at its tables once a minute. Until then it takes a new one for nearly empty, where each index is as
//! good as any other and a look through the whole table the best, and a statement that was prepared meanwhile keeps such
//! a plan: each write of a busy first minute would go through all that was written before. So the tables that have grown
//! much since somebody looked are looked at while somebody works, until they are so large that the database's own
//! pace is enough. Whatever plans were kept are made anew then.

use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use diesel::{QueryableByName, sql_query};
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};

use crate::error::Error;

/// Time between two looks at which tables have grown.
const PAUSE: Duration = Duration::from_secs(1);

/// Connections given out between two looks, from which on somebody is taken to write: what runs in the background of an
/// idle server asks for fewer.
const BUSY: u64 = 50;

/// The tables of the schema of which more rows are new than were there at the last look, and 250. A table has its
/// statistics after each doubling, so that a row costs no more of them however many there are.
const GROWN: &str = "SELECT c.oid::regclass::text AS name \
     FROM pg_stat_user_tables AS s JOIN pg_class AS c ON c.oid = s.relid \
     WHERE s.schemaname = current_schema() AND s.n_mod_since_analyze > 250 + greatest(c.reltuples, 0) \
         AND c.reltuples < 100000 \
     ORDER BY 1";

/// A table by its name, quoted where it has to be.
#[derive(QueryableByName)]
struct Grown {
    #[diesel(sql_type = diesel::sql_types::Text)]
    name: String,
}

/// Looks at what has grown for as long as somebody has the database: they count the connections that they are `given`.
pub(crate) async fn keep(pool: Pool<AsyncPgConnection>, given: Weak<AtomicU64>) {
    let mut seen = 0;
    loop {
        tokio::time::sleep(PAUSE).await;
        let Some(now) = given.upgrade().map(|count| AtomicU64::load(&count, Ordering::Relaxed)) else {
            return;
        };
        if now >= seen + BUSY {
            seen = now;
            if let Err(error) = look(&pool).await {
                tracing::debug!(%error, "statistics of tables are as they were");
            }
        }
    }
}

/// Has the database look at the tables that have grown.
async fn look(pool: &Pool<AsyncPgConnection>) -> Result<(), Error> {
    let mut conn = pool.get().await.map_err(|error| Error::Unavailable(error.to_string()))?;
    let grown: Vec<Grown> = sql_query(GROWN).load(&mut conn).await?;
    for table in &grown {
        // A sample of some thousand rows tells which index is the better one; one that somebody else looks at is left to
        // them. The two are one transaction, as what is sent at once is, so that a failure leaves none open.
        let analyze =
            format!("SET LOCAL default_statistics_target = 10; ANALYZE (SKIP_LOCKED) {}", table.name);
        // A table that can't be looked at (another dropped it, or it is another's) keeps none behind it waiting.
        if let Err(error) = conn.batch_execute(&analyze).await {
            tracing::debug!(%error, table = table.name, "statistics of a table are as they were");
        }
    }
    Ok(())
}
