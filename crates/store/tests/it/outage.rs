//! What callers see while the database is gone, and that they go on when it is back.

use std::time::Instant;

use diesel_async::SimpleAsyncConnection;
use heddle_kernel::Timestamp;
use heddle_store::{Db, StoreError, write_tx};
use heddle_testkit::db::{Cluster, TestDb, options};

#[tokio::test(flavor = "multi_thread")]
async fn postgres_stopped_and_started_again() {
    let Some(cluster) = Cluster::private().unwrap() else { return };
    let db = Db::open(&cluster.address(), &options()).await.unwrap();
    db.migrate(&heddle_testkit::db::migrations(), Timestamp::from_micros(0)).await.unwrap();
    for _ in 0..2 {
        // Several connections idle in the pool when the server goes.
        let pings = (0..4).map(|_| db.ping());
        for ping in futures::future::join_all(pings).await {
            ping.unwrap();
        }
        cluster.stop().unwrap();
        for _ in 0..6 {
            let started = Instant::now();
            assert!(matches!(db.ping().await, Err(StoreError::Unavailable(_))));
            let write: Result<(), _> = write_tx!(&db, |_conn| Ok(()));
            assert!(matches!(write, Err(StoreError::Unavailable(_))));
            assert!(started.elapsed().as_secs() < 12);
        }
        cluster.start().unwrap();
        for _ in 0..6 {
            db.ping().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_in_the_middle_of_a_transaction() {
    let Some(cluster) = Cluster::private().unwrap() else { return };
    let db = Db::open(&cluster.address(), &options()).await.unwrap();
    let cut: Result<(), _> = write_tx!(&db, |conn| {
        conn.batch_execute("CREATE TABLE t (n integer)").await?;
        cluster.stop().unwrap();
        conn.batch_execute("INSERT INTO t VALUES (1)").await?;
        Ok(())
    });
    assert!(matches!(cut, Err(StoreError::Unavailable(_))), "{cut:?}");
    cluster.start().unwrap();
    write_tx!(&db, |conn| Ok(conn.batch_execute("CREATE TABLE t (n integer)").await?)).unwrap();
}

#[tokio::test]
async fn nobody_listens_at_the_address() {
    let db = Db::open("postgres://nobody:s3cret@127.0.0.1:1/none", &options()).await.unwrap();
    let Err(StoreError::Unavailable(told)) = db.ping().await else { panic!("nobody answers there") };
    assert!(
        told.starts_with("PostgreSQL at 127.0.0.1:1, database none: ") && told.contains("refused"),
        "{told}"
    );
    assert!(!told.contains("s3cret"), "{told}");
}

#[tokio::test]
async fn a_database_that_takes_no_write_says_so() {
    for test_db in TestDb::both().await {
        test_db.db().take_write().await.unwrap();
    }
    let test_db = TestDb::sqlite().await;
    let only_reads = test_db.db().sqlite_batch(|conn| {
        Ok(diesel::connection::SimpleConnection::batch_execute(conn, "PRAGMA query_only = ON")?)
    });
    only_reads.await.unwrap();
    assert!(matches!(test_db.db().take_write().await, Err(StoreError::Unavailable(_))));
    test_db.db().ping().await.unwrap();
}

#[tokio::test]
async fn sqlite_without_room_is_unavailable_and_recovers() {
    let test_db = TestDb::sqlite().await;
    let db = test_db.db();
    let write = |bytes: usize| {
        let insert = format!(
            "INSERT INTO import_sources (organization_id, sha256, media_type, file_name, bytes, expires_at)
             VALUES (x'01', 'a', 'm', 'f', zeroblob({bytes}), NULL);
             DELETE FROM import_sources"
        );
        async move { write_tx!(db, |conn| Ok(conn.batch_execute(&insert).await?)) }
    };
    db.sqlite_batch(|conn| {
        Ok(diesel::connection::SimpleConnection::batch_execute(conn, "PRAGMA max_page_count = 1")?)
    })
    .await
    .unwrap();
    let full = write(4 << 20).await;
    assert!(matches!(full, Err(StoreError::Unavailable(_))), "{full:?}");
    write(10).await.unwrap();
}
