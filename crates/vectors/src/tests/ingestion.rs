//! Ingestion over mocked ports: whose options cut a file, what an upload makes, and what is ended when an errand is set aside.

use std::sync::Mutex;

use heddle_kernel::{BuildId, FixedClock, IngestionJobId};
use heddle_policy::capability::DocumentCreate;
use heddle_usecase::errand::{AsideReason, Errand, Executor as _, Outcome, Settled, Settlement};
use heddle_usecase::{InPlace, StoreError};
use serde_json::{Map, json};

use super::*;
use crate::bounds::{FixedQuotas, UploadBounds};
use crate::ports::{
    BuildEnd, ChunkedPassage, Claimed, DocumentText, MockBlobs, MockChunker, MockEmbedder, MockExtractor,
    MockIngestStore, MockPassageIndex, MockPassageStore, MockVectorStore, NodeIdentity, Quotas, StoredBlob,
    UploadType,
};
use crate::records::{
    Build, BuildState, File, FileOptions, FileProgress, FileState, Locator, NextGeneration, PassageRange,
    Stage,
};
use crate::{FilePorts, Indexer, IngestPorts, IngestSettings, IngestTask, Ingestion, NewFile, VectorFiles};

fn job_id() -> IngestionJobId {
    IngestionJobId(Uuid::from_u128(600))
}

fn build_id() -> BuildId {
    BuildId(Uuid::from_u128(800))
}

/// The database while it is built anew by another methodology.
fn anew() -> VectorDatabase {
    let mut database = database();
    let mut recipe = database.recipe.clone();
    recipe.chunking.id = "fixed".to_owned();
    recipe.chunking.options.insert("size".to_owned(), json!(9));
    database.next = Some(NextGeneration { generation: 2, recipe, job: job_id() });
    database
}

fn file(options: Option<FileOptions>) -> File {
    File {
        tenant: tenant(),
        database: database().id,
        database_name: database().name,
        id: file_id(1),
        name: "a.txt".to_owned(),
        title: None,
        media_type: "text/plain".to_owned(),
        charset: None,
        bytes: 4,
        sha256: "s".to_owned(),
        blob: "k".to_owned(),
        state: FileState::Running,
        stage: Stage::Fetching,
        progress: FileProgress::default(),
        passages: 0,
        language: None,
        metadata: Map::new(),
        enabled: true,
        options,
        error: None,
        warnings: Vec::new(),
        job: job_id(),
        generation: 1,
        revision: Revision::FIRST,
        created_at: START,
        created_by: UserId(Uuid::from_u128(200)),
        updated_at: START,
        indexed_at: None,
    }
}

fn build(generation: i64) -> Build {
    Build {
        tenant: tenant(),
        id: build_id(),
        database: database().id,
        database_name: database().name,
        file: file_id(1),
        job: job_id(),
        generation,
        state: BuildState::Running,
        stage: Stage::Queued,
        passages: None,
        done: 0,
        cut: None,
        error: None,
        created_at: START,
    }
}

fn claimed(generation: i64, options: Option<FileOptions>) -> Claimed {
    let asked_by = UserId(Uuid::from_u128(200));
    Claimed { build: build(generation), file: file(options), database: anew(), asked_by }
}

fn ingestion(store: MockIngestStore, chunker: MockChunker) -> Ingestion {
    let mut extractor = MockExtractor::new();
    extractor
        .expect_extract()
        .returning(|_| Ok(DocumentText { text: "text".to_owned(), ..DocumentText::default() }));
    let mut passages = MockPassageStore::new();
    passages.expect_position().returning(|_, _| Err(StoreError::NotFound));
    let passages = Arc::new(passages);
    let ports = IngestPorts {
        store: Arc::new(store),
        passages: passages.clone(),
        blobs: Arc::new(MockBlobs::new()),
        extractor: Arc::new(extractor),
        chunker: Arc::new(chunker),
        embedder: Arc::new(MockEmbedder::new()),
        compute: Arc::new(InPlace),
        quotas: Arc::new(FixedQuotas(Quotas::default())),
        indexer: Indexer::new(passages, Arc::new(MockPassageIndex::new())),
        ids: ids(),
        clock: Arc::new(FixedClock::at(START)),
    };
    let node = NodeIdentity { id: Uuid::from_u128(7), host_name: "h".to_owned(), version: "1".to_owned() };
    Ingestion::new(ports, IngestSettings { node, files: 1, file_passages: 10 })
}

fn errand(task: IngestTask) -> Errand {
    Errand { errand: task.errand(tenant(), START), epoch: 1, attempts: 0, crashes: 0, is_suspect: false }
}

/// The options by which a file is cut for a generation.
async fn cut_by(generation: i64, options: Option<FileOptions>) -> Map<String, serde_json::Value> {
    let mut store = MockIngestStore::new();
    store.expect_claim().returning(move |_, _, _, _| Ok(Some(claimed(generation, options.clone()))));
    store.expect_reached().returning(|_, _, _, _| Ok(()));
    store
        .expect_cut()
        .returning(|build, _, _| Ok(Build { passages: Some(PassageRange::of(1, 1)), ..build.clone() }));
    store.expect_write_passages().returning(|_, _, _, _| Ok(()));
    store.expect_end().returning(|_, _, _, _| Ok(()));
    let (mut chunker, seen) = (MockChunker::new(), Arc::new(Mutex::new(None)));
    let to = Arc::clone(&seen);
    chunker.expect_chunk().returning(move |_, _, settings| {
        *to.lock().unwrap() = Some(settings.chunking.options.clone());
        Ok(vec![ChunkedPassage {
            text: "text".to_owned(),
            prefix: String::new(),
            context: None,
            tokens: 1,
            locator: Locator::default(),
        }])
    });
    // What was kept without its methodology fits `recursive` alone.
    chunker.expect_check().returning(|id, options| match id {
        "recursive" => Ok(Chunking { id: id.to_owned(), options: options.clone() }),
        _ => Err(Vec::new()),
    });
    let outcome = ingestion(store, chunker).run(&errand(IngestTask::Build(build_id()))).await;
    assert_eq!(outcome, Outcome::Done);
    seen.lock().unwrap().take().unwrap()
}

#[tokio::test]
async fn a_file_is_cut_by_options_of_its_own_where_they_are_those_of_the_methodology() {
    let own: Map<_, _> = [("maxTokens".to_owned(), json!(64))].into_iter().collect();
    let other: Map<_, _> = [("size".to_owned(), json!(9))].into_iter().collect();
    let of = |methodology: Option<&str>| {
        Some(FileOptions { methodology: methodology.map(str::to_owned), options: own.clone() })
    };
    for (generation, options, expected) in [
        (1, of(Some("recursive")), &own),
        (1, of(Some("markdown")), &Map::new()),
        (2, of(Some("recursive")), &other),
        (2, of(Some("fixed")), &own),
        (1, of(None), &own),
        (2, of(None), &other),
        (2, None, &other),
    ] {
        let told = format!("{generation} {options:?}");
        assert_eq!(cut_by(generation, options).await, *expected, "{told}");
    }
}

#[tokio::test]
async fn an_upload_has_one_build_of_each_file_while_another_generation_is_built() {
    let mut store = MockVectorStore::new();
    store.expect_database().returning(|_, _| Ok(anew()));
    store.expect_same_content().returning(|_, _, _| Ok(Vec::new()));
    store.expect_usage().returning(|_| Ok(crate::ports::Usage::default()));
    store
        .expect_insert_files()
        .withf(|upload, _, _| {
            let generations: Vec<i64> = upload.builds.iter().map(|build| build.generation).collect();
            generations == [1, 1] && (upload.job.files.total, upload.job.files.queued) == (2, 2)
        })
        .returning(|_, _, _| Ok(Vec::new()));
    let mut extractor = MockExtractor::new();
    extractor.expect_types().returning(|| {
        let media_type = "text/plain".to_owned();
        vec![UploadType {
            media_type,
            extensions: vec!["txt".to_owned()],
            parser: "p".to_owned(),
            ocr: false,
        }]
    });
    let ports = FilePorts {
        store: Arc::new(store),
        blobs: Arc::new(MockBlobs::new()),
        extractor: Arc::new(extractor),
        chunker: Arc::new(MockChunker::new()),
        quotas: Arc::new(FixedQuotas(Quotas::default())),
        ids: ids(),
    };
    let new = |name: &str| NewFile {
        name: format!("{name}.txt"),
        media_type: None,
        title: None,
        metadata: Map::new(),
        blob: StoredBlob { key: name.to_owned(), sha256: name.to_owned(), bytes: 1 },
    };
    let context = context();
    let place = Within::<resource::VectorDatabase>::of(database().name);
    let authorized = context.snapshot().authorize_kind_within::<DocumentCreate>(place).unwrap();
    let files = VectorFiles::new(ports, UploadBounds::default());
    let uploaded = files.upload(&authorized, &context, vec![new("a"), new("b")], &nothing).await.unwrap();
    assert_eq!(uploaded.job.files.total, 2);
}

fn aside(task: IngestTask) -> Settled {
    let (reason, message) = (AsideReason::Crashed, "it ended the process".to_owned());
    let settlement = Settlement::Aside { reason, message, attempts: 0, crashes: 3 };
    Settled { errand: errand(task), settlement }
}

#[tokio::test]
async fn what_an_errand_was_for_fails_when_it_is_set_aside() {
    let mut store = MockIngestStore::new();
    store
        .expect_fail_reindex()
        .withf(|_, job, error, _| *job == job_id() && error.message == "it ended the process")
        .times(1)
        .returning(|_, _, _, _| Ok(()));
    ingestion(store, MockChunker::new()).ended(&aside(IngestTask::Spread(job_id()))).await;
    let mut store = MockIngestStore::new();
    store.expect_claim().returning(|_, _, _, _| Ok(Some(claimed(1, None))));
    store
        .expect_end()
        .withf(|build, end, _, _| {
            build.id == build_id()
                && matches!(end, BuildEnd::Failed(error) if error.message == "it ended the process")
        })
        .times(1)
        .returning(|_, _, _, _| Ok(()));
    ingestion(store, MockChunker::new()).ended(&aside(IngestTask::Build(build_id()))).await;
}
