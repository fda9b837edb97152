//! Statistics of tables that grow fast, on PostgreSQL.

use std::time::{Duration, Instant};

use diesel::{QueryableByName, sql_query};
use diesel_async::RunQueryDsl;
use heddle_testkit::db::TestDb;

#[derive(QueryableByName)]
struct Told {
    #[diesel(sql_type = diesel::sql_types::Double)]
    rows: f64,
}

/// The database's own look is switched off for these tables, so that nobody but the server has looked.
const TABLES: &str = "CREATE TABLE grows (id integer) WITH (autovacuum_enabled = off); \
     CREATE TABLE rests (id integer) WITH (autovacuum_enabled = off); \
     INSERT INTO grows SELECT generate_series(1, 1000); INSERT INTO rests SELECT generate_series(1, 100)";

#[tokio::test]
async fn a_table_that_has_grown_is_looked_at_while_somebody_works_and_a_small_one_is_not() {
    let Some(test_db) = TestDb::postgres_empty().await else { return };
    let db = test_db.db().postgres().unwrap();
    db.execute_batch(TABLES).await.unwrap();
    let rows = |table: &'static str| async move {
        let mut conn = db.conn().await.unwrap();
        let text = format!("SELECT reltuples::float8 AS rows FROM pg_class WHERE oid = '{table}'::regclass");
        sql_query(text).get_result::<Told>(&mut conn).await.unwrap().rows
    };
    let begun = Instant::now();
    // Asking is the work that somebody does.
    while rows("grows").await < 1_000.0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nobody looks at the table");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(rows("rests").await < 0.0, "a table of a hundred rows is left to the database");
}
