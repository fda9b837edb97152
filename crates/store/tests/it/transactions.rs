//! Transactions, batches, and what a failure leaves behind.

use std::time::Duration;

use diesel::{ExpressionMethods, QueryDsl, QueryableByName, SqliteConnection, sql_query, sql_types};
use diesel_async::RunQueryDsl;
use heddle_kernel::{TenantId, Timestamp};
use heddle_store::schema::tombstones;
use heddle_store::{
    At, Db, Durability, Error, Id, OpenError, Options, StoreError, read, savepoint, write_tx,
};
use heddle_testkit::db::TestDb;
use heddle_testkit::on_both;
use uuid::Uuid;

const TENANT: TenantId = TenantId(Uuid::from_u128(1));
const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_123_456);

macro_rules! tombstone {
    ($n:expr) => {
        diesel::insert_into(tombstones::table).values((
            tombstones::organization_id.eq(Id::from(TENANT)),
            tombstones::kind.eq("workflow"),
            tombstones::id.eq(Id(Uuid::from_u128($n))),
            tombstones::deleted_at.eq(At(NOW)),
        ))
    };
}

async fn insert(db: &Db, n: u128) -> Result<(), StoreError> {
    write_tx!(db, |conn| {
        tombstone!(n).execute(conn).await?;
        Ok(())
    })
}

async fn count(db: &Db) -> i64 {
    read!(db, |conn| Ok(tombstones::table.count().get_result(conn).await?)).unwrap()
}

fn insert_blocking(conn: &mut SqliteConnection, n: u128) -> Result<(), Error> {
    diesel::RunQueryDsl::execute(tombstone!(n), conn)?;
    Ok(())
}

/// Memory of a thing is good as long as its generation stands still, also when a writer goes away in the middle.
#[tokio::test]
async fn a_write_raises_the_generation_of_its_thing_before_and_after() {
    on_both!(|db| {
        let Some(sqlite) = db.sqlite() else { return };
        let (own, other) = (("workflow", 1), ("workflow", 2));
        let before = (sqlite.generation(&own), sqlite.generation(&other));
        let guard = sqlite.writing([own]);
        let during = sqlite.generation(&own);
        assert!(during > before.0);
        guard.done();
        let after = sqlite.generation(&own);
        assert!(after > during);
        assert_eq!(sqlite.generation(&other), before.1);
        // One that went away: its commit may still be under way, and another writer's turn comes after it.
        drop(sqlite.writing([own]));
        let dropped = sqlite.generation(&own);
        while sqlite.generation(&own) == dropped {
            tokio::task::yield_now().await;
        }
    });
}

#[tokio::test]
async fn one_call_of_several_statements_reads_what_was_committed() {
    on_both!(|db| {
        let Some(sqlite) = db.sqlite() else { return };
        insert(&db, 1).await.unwrap();
        let found = sqlite.read(|conn| {
            let rows: i64 = diesel::RunQueryDsl::get_result(tombstones::table.count(), conn)?;
            let refused = insert_blocking(conn, 2).is_err();
            Ok((rows, refused))
        });
        assert_eq!(found.await.unwrap(), (1, true), "a reading connection writes nothing");
    });
}

#[tokio::test]
async fn a_body_that_fails_leaves_nothing() {
    on_both!(|db| {
        let failed: Result<(), _> = write_tx!(&db, |conn| {
            tombstone!(1).execute(conn).await?;
            Err(StoreError::Stale.into())
        });
        assert_eq!(failed, Err(StoreError::Stale));
        assert_eq!(count(&db).await, 0);
        insert(&db, 1).await.unwrap();
        assert_eq!(count(&db).await, 1);
    });
}

#[tokio::test]
async fn a_duplicate_is_told_with_its_columns_and_the_next_write_works() {
    on_both!(|db| {
        insert(&db, 1).await.unwrap();
        let twice = insert(&db, 1).await;
        assert_eq!(twice, Err(StoreError::Duplicate("tombstones.kind, tombstones.id".to_owned())));
        insert(&db, 2).await.unwrap();
    });
}

#[tokio::test]
async fn ids_and_instants_come_back_as_they_went() {
    on_both!(|db| {
        for (n, micros) in
            [(1, 0), (2, -62_135_596_800_000_000), (3, 253_402_300_799_999_999), (4, NOW.micros())]
        {
            let at = At(Timestamp::from_micros(micros));
            let row: (Id, At) = write_tx!(&db, |conn| {
                tombstone!(n).execute(conn).await?;
                let row = tombstones::table.find((Id::from(TENANT), "workflow", Id(Uuid::from_u128(n))));
                Ok(diesel::update(row)
                    .set(tombstones::deleted_at.eq(at))
                    .returning((tombstones::id, tombstones::deleted_at))
                    .get_result(conn)
                    .await?)
            })
            .unwrap();
            assert_eq!(row, (Id(Uuid::from_u128(n)), at));
        }
    });
}

#[tokio::test]
async fn readers_see_what_was_committed_before() {
    on_both!(|db| {
        for n in 1..=20 {
            insert(&db, n).await.unwrap();
            assert_eq!(count(&db).await, i64::try_from(n).unwrap());
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn many_that_read_and_then_write_do_not_fail() {
    on_both!(|db| {
        let tasks: Vec<_> = (0..40)
            .map(|n| {
                let db = db.clone();
                tokio::spawn(async move {
                    write_tx!(&db, |conn| {
                        let _: i64 = tombstones::table.count().get_result(conn).await?;
                        tombstone!(n).execute(conn).await?;
                        Ok(())
                    })
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(count(&db).await, 40);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_leaves_no_open_transaction() {
    on_both!(|db| {
        for round in 0_u128..30 {
            let gone = write_tx_then_wait(&db, round);
            let patience = Duration::from_micros(u64::try_from(round).unwrap() * 60);
            let _ = tokio::time::timeout(patience, gone).await;
            insert(&db, 1000 + round).await.unwrap();
            let rows: Vec<Id> = read!(&db, |conn| Ok(tombstones::table
                .filter(tombstones::id.lt(Id(Uuid::from_u128(1000))))
                .select(tombstones::id)
                .load(conn)
                .await?))
            .unwrap();
            assert!(rows.is_empty(), "{rows:?}");
        }
        assert_eq!(count(&db).await, 30);
    });
}

/// Writes a row and never comes to the commit.
async fn write_tx_then_wait(db: &Db, n: u128) -> Result<(), StoreError> {
    write_tx!(db, |conn| {
        tombstone!(n).execute(conn).await?;
        std::future::pending::<()>().await;
        Ok(())
    })
}

#[tokio::test]
async fn a_batch_is_one_transaction_and_a_savepoint_spares_the_others() {
    let test_db = TestDb::sqlite().await;
    let db = test_db.db();
    let results = db
        .sqlite_batch(|conn| {
            let mut results = Vec::new();
            for n in [1, 2, 1, 3] {
                results.push(savepoint(conn, |conn| insert_blocking(conn, n))?.is_ok());
            }
            Ok(results)
        })
        .await
        .unwrap();
    assert_eq!(results, [true, true, false, true]);
    assert_eq!(count(db).await, 3);

    let failed: Result<(), _> = db
        .sqlite_batch(|conn| {
            insert_blocking(conn, 4)?;
            Err(StoreError::Stale.into())
        })
        .await;
    assert!(matches!(failed, Err(Error::Store(StoreError::Stale))));
    assert_eq!(count(db).await, 3);
}

#[tokio::test]
async fn a_batch_whose_transaction_is_lost_is_not_half_done() {
    let test_db = TestDb::sqlite().await;
    let db = test_db.db();
    let lost = db
        .sqlite_batch(|conn| {
            savepoint(conn, |conn| insert_blocking(conn, 1))?.unwrap();
            // What SQLite does by itself when the disk is full.
            let inner = savepoint(conn, |conn| {
                diesel::connection::SimpleConnection::batch_execute(conn, "ROLLBACK").unwrap();
                Err::<(), _>(StoreError::Stale)
            })?;
            assert!(inner.is_err());
            savepoint(conn, |conn| insert_blocking(conn, 2))?.unwrap();
            Ok(())
        })
        .await;
    assert!(lost.is_err());
    assert_eq!(count(db).await, 0);
    insert(db, 3).await.unwrap();
}

#[tokio::test]
async fn the_log_is_copied_back_while_nobody_commits() {
    let test_db = TestDb::sqlite().await;
    let Db::Sqlite(db) = test_db.db() else { panic!("another database") };
    // More than the log may hold, and far less than a commit would copy back by itself.
    for _ in 0..40 {
        let megabyte = "CREATE TABLE IF NOT EXISTS ballast (bytes BLOB) STRICT; \
             INSERT INTO ballast VALUES (randomblob(1000000));";
        db.execute_batch(megabyte).await.unwrap();
    }
    let copied = async {
        while std::fs::metadata(db.path()).unwrap().len() < 30_000_000 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), copied).await.unwrap();
    db.execute_batch("INSERT INTO ballast VALUES (x'00');").await.unwrap();
}

#[tokio::test]
async fn a_panic_in_a_batch_costs_only_the_batch() {
    let test_db = TestDb::sqlite().await;
    let db = test_db.db();
    let panicked: Result<(), _> = db
        .sqlite_batch(|conn| {
            insert_blocking(conn, 1)?;
            panic!("in the batch");
        })
        .await;
    assert!(matches!(panicked.map_err(StoreError::from), Err(StoreError::Unavailable(_))));
    insert(db, 2).await.unwrap();
    assert_eq!(count(db).await, 1);
}

#[derive(QueryableByName)]
struct Pragma {
    #[diesel(sql_type = sql_types::Text)]
    value: String,
}

#[tokio::test]
async fn sqlite_is_set_as_promised() {
    for durability in [Durability::Full, Durability::Process] {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("sqlite:{}", folder.path().join("a b.db").display());
        let db = Db::open(&address, &Options { durability, ..Options::default() }).await.unwrap();
        db.migrate(&heddle_testkit::db::migrations(), NOW).await.unwrap();
        for (pragma, wanted) in [
            ("journal_mode", "wal"),
            ("page_size", "4096"),
            ("foreign_keys", "1"),
            ("busy_timeout", "5000"),
            // A commit itself waits for no disk, the copying of the log does; `durable.rs` brings commits to the disk.
            ("synchronous", "1"),
        ] {
            let column = if pragma == "busy_timeout" { "timeout" } else { pragma };
            let query = format!("SELECT CAST({column} AS TEXT) AS value FROM pragma_{pragma}");
            let asked: Pragma = write_tx!(&db, |conn| Ok(sql_query(query).get_result(conn).await?)).unwrap();
            assert_eq!(asked.value, wanted, "{pragma}");
        }
        let write = read!(&db, |conn| Ok(sql_query("DELETE FROM tombstones").execute(conn).await?));
        assert!(write.is_err(), "a reading connection does not write");
    }
}

#[tokio::test]
async fn a_file_has_one_owner_and_strange_addresses_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", folder.path().join("x.db").display());
    let first = Db::open(&address, &Options::default()).await.unwrap();
    tokio::time::pause();
    assert!(matches!(Db::open(&address, &Options::default()).await, Err(OpenError::InUse { .. })));
    drop(first);
    Db::open(&address, &Options::default()).await.unwrap();
    for wrong in ["", "mysql://x", "x.db"] {
        assert!(matches!(Db::open(wrong, &Options::default()).await, Err(OpenError::Address(_))), "{wrong}");
    }
    let nowhere = format!("sqlite:{}", folder.path().join("no/such/folder/x.db").display());
    assert!(matches!(Db::open(&nowhere, &Options::default()).await, Err(OpenError::File { .. })));
}
