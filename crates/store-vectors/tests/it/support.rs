//! Records for tests.

use std::sync::LazyLock;

use diesel::ExpressionMethods;
use diesel_async::RunQueryDsl;
use heddle_kernel::{
    BuildId, DatabaseName, EventId, FileId, IdSource, IngestionJobId, Revision, SequentialIds, TenantId,
    Timestamp, UserId, VectorDatabaseId,
};
use heddle_store::{At, Db, Id, write_tx};
use heddle_store_vectors::SqlVectorStore;
use heddle_usecase::{Actor, AuditEntry, Journal, Outcome};
use heddle_vectors::ports::{
    Cut, FieldValue, FilePatchWrite, FileUpload, IngestStore as _, NodeIdentity, Quotas, Reprocess,
    VectorStore as _,
};
use heddle_vectors::records::{
    Backend, Build, BuildState, Chunking, Counts, DatabaseState, File, FileProgress, FileState, Job,
    JobFiles, JobKind, JobState, Locator, Passage, PassageId, QueryDefaults, Recipe, Stage, VectorDatabase,
};
use serde_json::{Map, json};

static IDS: LazyLock<SequentialIds> = LazyLock::new(SequentialIds::default);

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    organizations (id) {
        id -> DbUuid,
        slug -> Text,
        display_name -> Text,
        revision -> BigInt,
        created_at -> DbInstant,
        updated_at -> DbInstant,
        search -> Text,
    }
}

/// An instant, in seconds.
pub(crate) const fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_700_000_000 + seconds) * 1_000_000)
}

pub(crate) fn id<T>(make: fn(uuid::Uuid) -> T) -> T {
    make(IDS.next(at(0)))
}

/// A new organisation.
pub(crate) async fn organization(db: &Db) -> TenantId {
    let tenant = id(TenantId);
    write_tx!(db, |conn| {
        diesel::insert_into(organizations::table)
            .values((
                organizations::id.eq(Id::from(tenant)),
                organizations::slug.eq(tenant.to_string()),
                organizations::display_name.eq("Acme"),
                organizations::revision.eq(1),
                organizations::created_at.eq(At(at(0))),
                organizations::updated_at.eq(At(at(0))),
                organizations::search.eq(""),
            ))
            .execute(conn)
            .await?;
        Ok(())
    })
    .unwrap();
    tenant
}

/// A journal with an audit event.
pub(crate) fn unit(tenant: TenantId) -> Journal {
    let audit = AuditEntry {
        id: id(EventId),
        tenant: Some(tenant),
        at: at(5),
        actor: Actor::system("test"),
        action: "tested".to_owned(),
        resource_type: "vector-database".to_owned(),
        resource_id: None,
        target: None,
        outcome: Outcome::Succeeded,
        request_id: "r".to_owned(),
        client_ip: None,
        details: json!({}),
    };
    Journal { audit: Some(audit), ..Journal::default() }
}

pub(crate) fn node() -> NodeIdentity {
    NodeIdentity { id: uuid::Uuid::from_u128(7), host_name: "host".to_owned(), version: "1".to_owned() }
}

/// A database that is there, for words alone.
pub(crate) async fn database(store: &SqlVectorStore, tenant: TenantId, name: &str) -> VectorDatabase {
    let user = id(UserId);
    let chunking = Chunking { id: "recursive".to_owned(), options: Map::new() };
    let database = VectorDatabase {
        tenant,
        id: id(VectorDatabaseId),
        name: DatabaseName::parse(name).unwrap(),
        display_name: name.to_owned(),
        description: None,
        state: DatabaseState::Ready,
        backend: Backend::Embedded,
        generation: 1,
        last_generation: 1,
        recipe: Recipe { model: None, chunking },
        next: None,
        schema: heddle_vectors::records::MetadataSchema::new(),
        defaults: QueryDefaults::default(),
        sequence: 0,
        counts: Counts::default(),
        revision: Revision::FIRST,
        created_at: at(0),
        created_by: user,
        updated_at: at(0),
        updated_by: user,
        last_ingested_at: None,
    };
    store.insert_database(&database, &Quotas::default(), &unit(tenant)).await.unwrap();
    database
}

pub(crate) fn job(of: &VectorDatabase, kind: JobKind, total: u64) -> Job {
    Job {
        tenant: of.tenant,
        id: id(IngestionJobId),
        database: of.id,
        database_name: of.name.clone(),
        kind,
        state: JobState::Queued,
        stage: Stage::Queued,
        files: JobFiles { total, queued: total, ..JobFiles::default() },
        passages_done: 0,
        passages_total: 0,
        files_cut: 0,
        bytes: 0,
        attempts: 0,
        error: None,
        created_at: at(1),
        created_by: of.created_by,
        started_at: None,
        heartbeat_at: None,
        finished_at: None,
    }
}

pub(crate) fn file(of: &VectorDatabase, job: &Job, name: &str) -> File {
    File {
        tenant: of.tenant,
        database: of.id,
        database_name: of.name.clone(),
        id: id(FileId),
        name: name.to_owned(),
        title: None,
        media_type: "text/plain".to_owned(),
        charset: None,
        bytes: 10,
        sha256: format!("digest of {name}"),
        blob: format!("key of {name}"),
        state: FileState::Queued,
        stage: Stage::Queued,
        progress: FileProgress::default(),
        passages: 0,
        language: None,
        metadata: Map::new(),
        enabled: true,
        options: None,
        error: None,
        warnings: Vec::new(),
        job: job.id,
        generation: 1,
        revision: Revision::FIRST,
        created_at: at(1),
        created_by: of.created_by,
        updated_at: at(1),
        indexed_at: None,
    }
}

/// A change of all that can be changed of a file.
pub(crate) fn patched<'a>(
    file: &'a File,
    fields: &'a [(String, FieldValue)],
    reprocess: Option<Reprocess<'a>>,
) -> FilePatchWrite<'a> {
    FilePatchWrite { file, names_title: true, names_options: true, fields, reprocess }
}

pub(crate) fn build(file: &File, job: &Job, generation: i64) -> Build {
    Build {
        tenant: file.tenant,
        id: id(BuildId),
        database: file.database,
        database_name: file.database_name.clone(),
        file: file.id,
        job: job.id,
        generation,
        state: BuildState::Queued,
        stage: Stage::Queued,
        passages: None,
        done: 0,
        cut: None,
        error: None,
        created_at: at(1),
    }
}

/// A file that was uploaded, with its job and build.
pub(crate) async fn uploaded(store: &SqlVectorStore, of: &VectorDatabase, name: &str) -> (File, Job, Build) {
    let job = job(of, JobKind::Upload, 1);
    let file = file(of, &job, name);
    let build = build(&file, &job, 1);
    let upload = FileUpload {
        database: of.id,
        files: std::slice::from_ref(&file),
        job: &job,
        builds: std::slice::from_ref(&build),
        quotas: Quotas::default(),
    };
    store.insert_files(upload, &[Vec::new()], &unit(of.tenant)).await.unwrap();
    (file, job, build)
}

pub(crate) fn cut(passages: u64) -> Cut {
    Cut {
        passages,
        digest: format!("cut into {passages}"),
        pages: None,
        language: None,
        title: None,
        warnings: Vec::new(),
        most: None,
    }
}

/// Takes a build and cuts its file.
pub(crate) async fn cut_into(store: &SqlVectorStore, build: &Build, passages: u64) -> Build {
    let claimed = store.claim(build.tenant, build.id, &node(), at(2)).await.unwrap().unwrap();
    store.cut(&claimed.build, &cut(passages), at(2)).await.unwrap()
}

/// So many passages of a build that come next.
pub(crate) fn next(build: &Build, count: u64) -> Vec<Passage> {
    let first = build.passages.unwrap().first + build.done;
    let passage = |n: u64| Passage {
        id: PassageId(first + n),
        file: build.file,
        build: build.id,
        ordinal: u32::try_from(build.done + n).unwrap(),
        text: format!("passage {}", build.done + n),
        prefix: String::new(),
        context: None,
        tokens: 2,
        locator: Locator::default(),
        vector: Some(vec![1.0, 0.0]),
    };
    (0..count).map(passage).collect()
}

/// Adds so many copies of the row of a file, named `copy NUMBER.txt`, behind it.
pub(crate) async fn copied(db: &Db, file: &File, count: u32) {
    const COLUMNS: [&str; 28] = [
        "organization_id",
        "database_id",
        "database_name",
        "title",
        "media_type",
        "bytes",
        "blob",
        "state",
        "stage",
        "pages",
        "passages_done",
        "passages_total",
        "passages",
        "language",
        "metadata",
        "enabled",
        "options",
        "error",
        "job_id",
        "build_id",
        "generation",
        "revision",
        "created_at",
        "created_by",
        "updated_at",
        "indexed_at",
        "options_methodology",
        "warnings",
    ];
    let same = COLUMNS.join(", ");
    // Ids behind the one of the file and before those that come.
    let base = file.id.0.as_u128() & u128::from(u32::MAX);
    for _ in 0..=count {
        IDS.next(at(0));
    }
    let insert = |number: &str, id: &str, rows: &str| {
        format!(
            "INSERT INTO vector_files ({same}, id, name, search, sha256) SELECT {same}, {id}, \
             'copy ' || {number} || '.txt', 'copy ' || {number} || '.txt', 'copy ' || {number} FROM vector_files, {rows} \
             WHERE name = '{}'",
            file.name
        )
    };
    write_tx!(db, |conn| {
        match heddle_store::AsConn::as_conn(conn) {
            heddle_store::Conn::Sqlite(conn) => {
                let rows = format!(
                    "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) SELECT i FROM n) numbers"
                );
                let text = insert("i", &format!("unhex(substr(hex(vector_files.id), 1, 24) || printf('%08x', {base} + i))"), &rows);
                diesel::sql_query(text).execute(conn).await?;
            }
            heddle_store::Conn::Postgres(conn) => {
                let rows = format!("generate_series(1, {count}) i");
                let id = format!(
                    "(substr(replace(vector_files.id::text, '-', ''), 1, 24) || lpad(to_hex({base} + i), 8, '0'))::uuid"
                );
                diesel::sql_query(insert("i", &id, &rows)).execute(conn).await?;
            }
        }
        Ok(())
    })
    .unwrap();
}
