//! Databases for tests: a SQLite file or a PostgreSQL schema of its own for each test.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't have its database must fail")]

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

pub use heddle_harness_kit::postgres::Cluster;
use heddle_kernel::Timestamp;
use heddle_store::{Db, Durability, Migrations, Options, backup};

/// Runs one async body on a fresh, migrated database of each kind:
/// `on_both!(|db| { ... })`, where `db` is a `Db`.
#[macro_export]
macro_rules! on_both {
    (|$db:ident| $body:expr) => {
        for test_db in $crate::db::TestDb::both().await {
            eprintln!("on {}", test_db.kind());
            let $db = test_db.db().clone();
            $body;
            drop($db);
        }
    };
}

/// The migrations of all areas.
#[must_use]
pub fn migrations() -> Migrations {
    Migrations::of(&[
        heddle_store_identity::MIGRATIONS,
        heddle_store_workflows::MIGRATIONS,
        heddle_store_connections::MIGRATIONS,
        heddle_store_vectors::MIGRATIONS,
        heddle_store_models::MIGRATIONS,
    ])
}

/// A database that is gone when this is dropped.
pub struct TestDb {
    db: Db,
    address: String,
    kind: &'static str,
    _place: Place,
}

impl std::fmt::Debug for TestDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestDb").finish_non_exhaustive()
    }
}

enum Place {
    Folder { _folder: tempfile::TempDir },
    Schema { _schema: Schema },
}

/// The options of databases for tests: nothing needs to survive the loss of power.
#[must_use]
pub fn options() -> Options {
    Options { durability: Durability::Process, connections: 6, ..Options::default() }
}

impl TestDb {
    /// A migrated SQLite file.
    pub async fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        migrated_file(&folder.path().join(FILE)).await;
        Self::sqlite_in(folder).await
    }

    /// A SQLite file without tables.
    pub async fn sqlite_empty() -> Self {
        Self::sqlite_in(tempfile::tempdir().expect("a folder")).await
    }

    async fn sqlite_in(folder: tempfile::TempDir) -> Self {
        let address = format!("sqlite:{}", folder.path().join(FILE).display());
        let db = Db::open(&address, &options()).await.expect("a database");
        Self { db, address, kind: "sqlite", _place: Place::Folder { _folder: folder } }
    }

    /// A migrated PostgreSQL schema; none when PostgreSQL is not installed, which fails where `CI=true`.
    pub async fn postgres() -> Option<Self> {
        let empty = Self::postgres_empty().await?;
        empty.db.migrate(&migrations(), Timestamp::from_micros(0)).await.expect("migrates");
        Some(empty)
    }

    /// A migrated schema of a PostgreSQL that has pgvector, in the schema `public`; none, with a note, where that cannot be
    /// fetched.
    pub async fn postgres_with_vectors() -> Option<Self> {
        let server = vectors_address().await?;
        run(&server, WITH_VECTORS).await.expect("the extension vector");
        let empty = Self::schema_of(server).await;
        empty.db.migrate(&migrations(), Timestamp::from_micros(0)).await.expect("migrates");
        Some(empty)
    }

    /// A PostgreSQL schema without tables; none when PostgreSQL is not installed.
    pub async fn postgres_empty() -> Option<Self> {
        Some(Self::schema_of(server_address().await?).await)
    }

    async fn schema_of(server: String) -> Self {
        let name = format!("t_{}", uuid::Uuid::new_v4().simple());
        run(&server, &format!("CREATE SCHEMA {name}")).await.expect("a schema");
        let sign = if server.contains('?') { '&' } else { '?' };
        let address = format!("{server}{sign}options=-csearch_path%3D{name}");
        let db = Db::open(&address, &options()).await.expect("a database");
        Self { db, address, kind: "postgres", _place: Place::Schema { _schema: Schema { server, name } } }
    }

    /// A migrated database of each kind that is to be had here.
    pub async fn both() -> Vec<Self> {
        let mut all = vec![Self::sqlite().await];
        all.extend(Self::postgres().await);
        all
    }

    /// The database.
    #[must_use]
    pub const fn db(&self) -> &Db {
        &self.db
    }

    /// The address under which it was opened, as `--database-url` takes it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// `sqlite` or `postgres`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.kind
    }
}

/// Name of a test's SQLite file.
const FILE: &str = "test.db";

/// Puts a migrated SQLite file at a path. To apply all migrations takes longer than most tests do otherwise, so that they are
/// applied once for each build of a test program, and the file is copied.
pub(crate) async fn migrated_file(at: &Path) {
    let model = model();
    loop {
        match fs::copy(&model, at) {
            Ok(_) => return,
            Err(error) if error.kind() == ErrorKind::NotFound => make(&model).await,
            Err(error) => panic!("a copy of the migrated file: {error}"),
        }
    }
}

/// The file that is copied, in the build folder: named after the test program and when it was built.
fn model() -> PathBuf {
    let program = std::env::current_exe().expect("the program of the test");
    // That of one that was built anew meanwhile is not known any more.
    let built = fs::metadata(&program).and_then(|found| found.modified()).unwrap_or(UNIX_EPOCH);
    let built = built.duration_since(UNIX_EPOCH).expect("a time of this age").as_nanos();
    let name = program.file_name().expect("its name").to_string_lossy().into_owned();
    heddle_harness_kit::postgres::shared_folder("heddle-test-sqlite").join(format!("{name}.{built}.db"))
}

async fn make(model: &Path) {
    let folder = model.parent().expect("a folder");
    fs::create_dir_all(folder).expect("the folder of migrated files");
    let empty = TestDb::sqlite_empty().await;
    empty.db.migrate(&migrations(), Timestamp::from_micros(0)).await.expect("migrates");
    let from = empty.address.strip_prefix("sqlite:").expect("the address of a file").to_owned();
    // Whole under its name from the first moment on: other processes look for it meanwhile. On the same file system, since it
    // is renamed.
    let beside = tempfile::tempdir_in(folder).expect("a folder beside it");
    let made = beside.path().join(FILE);
    backup::copy(Path::new(&from), &made, &migrations()).expect("a copy of the migrated file");
    fs::rename(&made, model).expect("the migrated file in its place");
    // That of the same program as it was built before is of no use any more.
    let of_program = |path: &Path| path.with_extension("").with_extension("");
    for old in fs::read_dir(folder).expect("the folder of migrated files").flatten().map(|found| found.path())
    {
        if old != model && of_program(&old) == of_program(model) {
            // Another process may have been faster.
            let _ = fs::remove_file(old);
        }
    }
}

struct Schema {
    server: String,
    name: String,
}

impl Drop for Schema {
    /// Dropping can't wait on the test's runtime, so the statement runs on a thread with one of its own.
    fn drop(&mut self) {
        let statement = format!(
            "SET lock_timeout = '3s'; SET client_min_messages = warning; DROP SCHEMA {} CASCADE",
            self.name
        );
        let server = self.server.clone();
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(run(&server, &statement)).map_err(std::io::Error::other)
        });
        if !matches!(dropped.join(), Ok(Ok(()))) {
            eprintln!("the schema {} stays", self.name);
        }
    }
}

async fn run(server: &str, statements: &str) -> Result<(), String> {
    let db = Db::open(server, &options()).await.map_err(|error| error.to_string())?;
    let Db::Postgres(postgres) = &db else { return Err("not PostgreSQL".to_owned()) };
    postgres.execute_batch(statements).await.map_err(|error| error.to_string())?;
    postgres.close();
    Ok(())
}

/// The extension, once for all schemas: of two processes that make it, the second waits and finds it.
const WITH_VECTORS: &str =
    "SELECT pg_advisory_xact_lock(1212502094); CREATE EXTENSION IF NOT EXISTS vector SCHEMA public";

/// The server with pgvector: the one named by `HEDDLE_TEST_PGVECTOR_URL`, else one started here.
async fn vectors_address() -> Option<String> {
    if let Ok(address) = std::env::var("HEDDLE_TEST_PGVECTOR_URL") {
        return Some(address);
    }
    let shared = tokio::task::spawn_blocking(Cluster::shared_with_vectors).await;
    match shared.expect("the starting thread lives") {
        Ok(Some(address)) => Some(address),
        Ok(None) => {
            eprintln!("skipped on pgvector: PostgreSQL with pgvector is not to be had");
            None
        }
        Err(error) => panic!("PostgreSQL with pgvector does not start: {error}"),
    }
}

/// The server of this test run: the one named by `HEDDLE_TEST_PG_URL`, else one started here.
async fn server_address() -> Option<String> {
    if let Ok(address) = std::env::var("HEDDLE_TEST_PG_URL") {
        return Some(address);
    }
    let shared = tokio::task::spawn_blocking(Cluster::shared).await.expect("the starting thread lives");
    match shared {
        Ok(Some(address)) => Some(address),
        Ok(None) if std::env::var("CI").is_ok_and(|value| value == "true") => {
            panic!("PostgreSQL is not installed")
        }
        Ok(None) => {
            eprintln!("skipped on postgres: PostgreSQL is not installed");
            None
        }
        Err(error) => panic!("PostgreSQL does not start: {error}"),
    }
}
