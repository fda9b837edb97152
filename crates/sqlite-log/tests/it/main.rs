//! SQLite with the file system, as a program that is killed leaves its files.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that can't go on has failed")]

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;

use diesel::connection::SimpleConnection as _;
use diesel::sql_types::{BigInt, Text};
use diesel::{Connection as _, QueryableByName, RunQueryDsl as _, SqliteConnection, sql_query};

/// Allocator that SQLite is built to call.
#[used]
static ALLOCATOR: unsafe extern "C" fn(usize) -> *mut c_void = tikv_jemalloc_sys::malloc;

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    text: String,
}

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Text)]
    integrity_check: String,
}

type Rows = BTreeMap<i64, String>;

fn open(path: &Path) -> SqliteConnection {
    heddle_sqlite_log::install().unwrap();
    SqliteConnection::establish(path.to_str().unwrap()).unwrap()
}

/// A database whose connection keeps ten pages: longer transactions write frames before they end, read them, and write
/// them anew.
fn small(path: &Path) -> SqliteConnection {
    let mut conn = open(path);
    conn.batch_execute(
        "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 200; \
         PRAGMA cache_size = 10; CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT NOT NULL); CREATE INDEX i ON t (text)",
    )
    .unwrap();
    conn
}

fn rows(conn: &mut SqliteConnection) -> Rows {
    let rows: Vec<Row> = sql_query("SELECT id, text FROM t").load(conn).unwrap();
    rows.into_iter().map(|row| (row.id, row.text)).collect()
}

/// Rows of what a kill leaves now: file and log are read anew, each checksum is compared.
fn left(path: &Path) -> Rows {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    for end in ["", "-wal"] {
        std::fs::copy(format!("{}{end}", path.display()), format!("{}{end}", copy.display())).unwrap();
    }
    let mut conn = open(&copy);
    let answers: Vec<Answer> = sql_query("PRAGMA integrity_check").load(&mut conn).unwrap();
    assert_eq!(answers[0].integrity_check, "ok");
    rows(&mut conn)
}

fn text(number: i64) -> String {
    format!("{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64.cast_signed())).repeat(20)
}

fn insert(conn: &mut SqliteConnection, ids: std::ops::Range<i64>, known: &mut Rows) {
    for id in ids {
        sql_query(format!("INSERT INTO t VALUES ({id}, '{}')", text(id))).execute(conn).unwrap();
        known.insert(id, text(id));
    }
}

#[test]
fn each_commit_is_there_after_a_kill_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut conn = small(&path);
    let mut reader = open(&path);
    let mut known = Rows::new();
    for round in 0..12_i64 {
        let first = round * 1_000;
        // Longer than what the connection keeps: its frames are read, and written anew by the updates.
        conn.batch_execute("BEGIN").unwrap();
        let mut next = known.clone();
        insert(&mut conn, first..first + 40 * (1 + round % 4), &mut next);
        for id in (first..first + 40).step_by(3) {
            sql_query(format!("UPDATE t SET text = '{}' WHERE id = {id}", text(id + 7)))
                .execute(&mut conn)
                .unwrap();
            next.insert(id, text(id + 7));
        }
        conn.batch_execute("SAVEPOINT s").unwrap();
        insert(&mut conn, first + 500..first + 560, &mut Rows::new());
        conn.batch_execute("ROLLBACK TO s; RELEASE s").unwrap();
        assert!(left(&path) == known, "round {round}, before the commit");
        assert!(rows(&mut reader) == known);
        if round % 3 == 2 {
            conn.batch_execute("ROLLBACK").unwrap();
        } else {
            conn.batch_execute("COMMIT").unwrap();
            known = next;
        }
        assert!(rows(&mut reader) == known);
        assert!(left(&path) == known, "round {round}");
        // A short one behind it, of a page or two.
        insert(&mut conn, first + 900..first + 901, &mut known);
        assert!(left(&path) == known, "round {round}, a short commit");
        assert!(rows(&mut reader) == known);
        if round % 5 == 4 {
            drop(conn);
            conn = open(&path);
            conn.batch_execute("PRAGMA cache_size = 10").unwrap();
        }
    }
}

#[test]
fn what_a_writer_took_back_never_stands_over_what_another_one_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (mut first, mut known) = (small(&path), Rows::new());
    // Texts keep their length and have no index: a transaction that takes no page is taken back without a look at the log.
    first.batch_execute("DROP INDEX i").unwrap();
    insert(&mut first, 0..400, &mut known);
    let mut second = open(&path);
    let update = |conn: &mut SqliteConnection, ids: std::ops::Range<i64>, by: i64, known: &mut Rows| {
        for id in ids {
            sql_query(format!("UPDATE t SET text = '{}' WHERE id = {id}", text(id + by)))
                .execute(conn)
                .unwrap();
            known.insert(id, text(id + by));
        }
    };
    for round in 1..20_i64 {
        first.batch_execute("BEGIN").unwrap();
        update(&mut first, 0..200 + 7 * round, 1_000 * round, &mut Rows::new());
        first.batch_execute("ROLLBACK").unwrap();
        update(&mut second, 10 * round..10 * round + 20, 2_000 * round, &mut known);
        assert!(rows(&mut first) == known, "round {round}");
        assert!(left(&path) == known, "round {round}");
        update(&mut first, 10 * round..10 * round + 2, 3_000 * round, &mut known);
        assert!(rows(&mut second) == known, "round {round}");
    }
}

#[test]
fn what_was_taken_back_in_a_database_of_ones_own_is_not_written_once_others_are_let_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (mut first, mut known) = (small(&path), Rows::new());
    insert(&mut first, 0..400, &mut known);
    // The writer's lock is not asked for there, nor given back.
    first
        .batch_execute(
            "DROP INDEX i; PRAGMA locking_mode = EXCLUSIVE; BEGIN; UPDATE t SET text = upper(text)",
        )
        .unwrap();
    first.batch_execute("ROLLBACK; PRAGMA locking_mode = NORMAL").unwrap();
    assert!(rows(&mut first) == known);
    let mut second = open(&path);
    sql_query("UPDATE t SET text = 'a' WHERE id < 300").execute(&mut second).unwrap();
    known.range_mut(..300).for_each(|(_, text)| *text = "a".to_owned());
    assert!(rows(&mut first) == known);
    assert!(left(&path) == known);
}

#[cfg(target_os = "linux")]
#[test]
fn a_commit_of_many_pages_is_written_by_few_calls() {
    let writes = || {
        let counts = std::fs::read_to_string("/proc/self/io").unwrap();
        let line = counts.lines().find_map(|line| line.strip_prefix("syscw: ")).unwrap();
        line.parse::<u64>().unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut conn = small(&path);
    conn.batch_execute("PRAGMA cache_size = 1000; PRAGMA wal_autocheckpoint = 0; BEGIN").unwrap();
    insert(&mut conn, 0..600, &mut Rows::new());
    let (before, length) = (writes(), std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len());
    conn.batch_execute("COMMIT").unwrap();
    let calls = writes() - before;
    let frames = (std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len() - length) / 4_120;
    assert!(frames > 100, "{frames} frames");
    assert!(calls < frames / 10, "{frames} frames in {calls} calls");
}
