//! Ingestion: resumed at the first missing passage, findable at once and as a whole, gone at once.

use heddle_kernel::FileId;
use heddle_store::StoreError;
use heddle_store_vectors::SqlVectorStore;
use heddle_testkit::on_both;
use heddle_vectors::ports::{
    BuildEnd, ChangesSince, Cut, Deleted, FileUpload, IngestStore, PassageStore, Quotas, VectorStore,
};
use heddle_vectors::records::{Build, FileError, FileFault, FileState, JobKind, JobState, PassageId};

use crate::support::*;

#[tokio::test]
async fn a_build_goes_on_at_the_first_passage_that_is_missing() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let (file, job, build) = uploaded(&store, &of, "a.txt").await;
        let mut build = cut_into(&store, &build, 200).await;
        store.write_passages(&build, &next(&build, 64), node().id, at(3)).await.unwrap();
        // The process ended; the same batch comes once more and is not written twice.
        let again = store.write_passages(&build, &next(&build, 64), node().id, at(3)).await;
        assert_eq!(again, Err(StoreError::Stale));
        build = cut_into(&store, &build, 200).await;
        assert_eq!(build.done, 64);
        assert_eq!(
            store.end(&build, &BuildEnd::Ready, node().id, at(4)).await,
            Err(StoreError::Stale),
            "half a file is never found"
        );
        store.write_passages(&build, &next(&build, 136), node().id, at(4)).await.unwrap();
        store.end(&build, &BuildEnd::Ready, node().id, at(5)).await.unwrap();
        let live = store.live(of.tenant, of.id, 1, None, 10).await.unwrap();
        assert_eq!((live.len(), live[0].passages.len()), (1, 200));
        let other = id(heddle_kernel::FileId);
        assert_eq!(store.live_of(of.tenant, of.id, 1, &[other, file.id]).await.unwrap(), live);
        assert_eq!(store.live_of(of.tenant, of.id, 2, &[file.id]).await.unwrap(), []);
        let ended = store.file(of.tenant, &of.name, file.id).await.unwrap();
        assert_eq!((ended.state, ended.passages, ended.progress.passages_done), (FileState::Ready, 200, 200));
        let job = store.job(of.tenant, job.id).await.unwrap();
        assert_eq!((job.state, job.files.ready, job.passages_done), (JobState::Completed, 1, 200));
        let counts = store.database(of.tenant, &of.name).await.unwrap().counts;
        assert_eq!((counts.files, counts.ready_files, counts.passages), (1, 1, 200));
        let servers = store.job_servers(of.tenant, job.id, at(6)).await.unwrap();
        assert_eq!((servers.len(), servers[0].files_completed, servers[0].passages_written), (1, 1, 200));
    });
}

#[tokio::test]
async fn what_is_left_out_is_told_of_what_can_be_found() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let (file, _, first) = uploaded(&store, &of, "a.txt").await;
        let told = async || store.file(of.tenant, &of.name, file.id).await.unwrap().warnings;
        let read = async |build: &Build, warning: &str| {
            let claimed = store.claim(build.tenant, build.id, &node(), at(2)).await.unwrap().unwrap();
            let warnings = vec![warning.to_owned()];
            let cut = Cut { warnings, digest: warning.to_owned(), ..cut(2) };
            let build = store.cut(&claimed.build, &cut, at(2)).await.unwrap();
            store.write_passages(&build, &next(&build, 2), node().id, at(3)).await.unwrap();
            build
        };
        let build = read(&first, "page 3: damaged").await;
        assert_eq!(told().await, Vec::<String>::new(), "nothing can be found yet");
        store.end(&build, &BuildEnd::Ready, node().id, at(4)).await.unwrap();
        assert_eq!(told().await, ["page 3: damaged"]);
        // Another generation tells its own, once it serves.
        let job = job(&of, JobKind::Reindex, 0);
        let (generation, recipe) = (2, of.recipe.clone());
        let another = heddle_vectors::records::NextGeneration { generation, recipe, job: job.id };
        let mut changed = store.database(of.tenant, &of.name).await.unwrap();
        changed.revision = changed.revision.next();
        let update =
            heddle_vectors::ports::DatabaseUpdate { database: &changed, reindex: Some((&another, &job)) };
        store.update_database(update, of.revision, &unit(of.tenant)).await.unwrap();
        let second = id(heddle_kernel::BuildId);
        let _ = store.spread(of.tenant, job.id, &[second, id(heddle_kernel::BuildId)], at(5)).await.unwrap();
        let held = store.claim(of.tenant, second, &node(), at(6)).await.unwrap().unwrap().build;
        let build = read(&held, "page 4: no OCR").await;
        assert_eq!(told().await, ["page 3: damaged"]);
        store.end(&build, &BuildEnd::Ready, node().id, at(8)).await.unwrap();
        assert_eq!(told().await, ["page 4: no OCR"]);
    });
}

#[tokio::test]
async fn a_deleted_file_is_found_no_more_and_its_rows_and_bytes_go() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let (file, _, build) = uploaded(&store, &of, "a.txt").await;
        let build = cut_into(&store, &build, 3).await;
        store.write_passages(&build, &next(&build, 3), node().id, at(3)).await.unwrap();
        store.end(&build, &BuildEnd::Ready, node().id, at(4)).await.unwrap();
        let ids: Vec<PassageId> = build.passages.unwrap().ids().map(PassageId).collect();
        assert_eq!(store.found(of.tenant, of.id, 1, &ids, false).await.unwrap().len(), 3);
        let before = store.position(of.tenant, of.id).await.unwrap().sequence;
        let other = Some(file.revision.next());
        let stale = store.delete_file(of.tenant, &of.name, file.id, other, &unit(of.tenant)).await;
        assert_eq!(stale, Err(StoreError::Stale), "the revision is looked at where nobody changes it");
        let deleted = store.delete_file(of.tenant, &of.name, file.id, None, &unit(of.tenant)).await;
        assert_eq!(deleted, Ok(Deleted::Now));
        assert_eq!(store.found(of.tenant, of.id, 1, &ids, false).await.unwrap(), []);
        let ChangesSince::All(changes) = store.changes(of.tenant, of.id, before, 10).await.unwrap() else {
            panic!("a gap");
        };
        assert_eq!(changes.len(), 1);
        assert_eq!((changes[0].removed, changes[0].added), (build.passages, None));
        let again = store.delete_file(of.tenant, &of.name, file.id, None, &unit(of.tenant)).await;
        assert_eq!(again, Ok(Deleted::Before));
        let mine = |one: &heddle_vectors::ports::Purge| one.tenant == of.tenant;
        let purges: Vec<_> = store.purges(100).await.unwrap().into_iter().filter(mine).collect();
        assert!(purges.iter().any(|one| one.blob.as_deref() == Some("key of a.txt")), "{purges:?}");
        for purge in &purges {
            assert!(store.purge(purge, 100).await.unwrap());
        }
        assert_eq!(store.passages(of.tenant, of.id, build.passages.unwrap()).await.unwrap(), []);
        let usage = store.usage(of.tenant).await.unwrap();
        assert_eq!((usage.files, usage.passages, usage.bytes, usage.waiting), (0, 0, 0, 0));
    });
}

#[tokio::test]
async fn what_works_on_a_file_that_is_gone_or_cancelled_writes_nothing() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let (file, _, build) = uploaded(&store, &of, "a.txt").await;
        let held = cut_into(&store, &build, 2).await;
        store.delete_file(of.tenant, &of.name, file.id, None, &unit(of.tenant)).await.unwrap();
        let late = store.write_passages(&held, &next(&held, 2), node().id, at(3)).await;
        assert_eq!(late, Err(StoreError::NotFound));
        assert_eq!(store.claim(of.tenant, build.id, &node(), at(3)).await, Ok(None));
        let (file, job, build) = uploaded(&store, &of, "b.txt").await;
        let held = cut_into(&store, &build, 2).await;
        let cancelled = store.cancel_job(of.tenant, job.id, &unit(of.tenant)).await.unwrap();
        assert_eq!((cancelled.state, cancelled.files.cancelled), (JobState::Cancelled, 1));
        let late = store.end(&held, &BuildEnd::Ready, node().id, at(4)).await;
        assert_eq!(late, Err(StoreError::NotFound));
        let file = store.file(of.tenant, &of.name, file.id).await.unwrap();
        assert_eq!(file.state, FileState::Cancelled);
        assert_eq!(store.usage(of.tenant).await.unwrap().waiting, 0);
    });
}

#[tokio::test]
async fn a_job_knows_its_files_and_those_of_no_other() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let (own, elsewhere) = (organization(&db).await, organization(&db).await);
        let of = database(&store, own, "manuals").await;
        let (one, job, _) = uploaded(&store, &of, "a.txt").await;
        let (other, _, _) = uploaded(&store, &of, "b.txt").await;
        let mut many: Vec<FileId> = (0..1_200).map(|_| id(FileId)).collect();
        many.push(one.id);
        let cases = [
            (own, vec![other.id, one.id], true),
            (own, vec![other.id], false),
            (own, Vec::new(), false),
            (own, many, true),
            (elsewhere, vec![one.id], false),
        ];
        for (tenant, files, has) in cases {
            assert_eq!(store.job_has(tenant, job.id, &files).await, Ok(has), "{} files", files.len());
        }
    });
}

#[tokio::test]
async fn a_content_is_there_once_and_quotas_hold() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let (file, _, build) = uploaded(&store, &of, "a.txt").await;
        let held = store.claim(of.tenant, build.id, &node(), at(2)).await.unwrap().unwrap();
        let error = FileError { code: FileFault::NoText, message: "no text".to_owned(), retryable: false };
        let end = BuildEnd::Failed(error.clone());
        store.end(&held.build, &end, node().id, at(3)).await.unwrap();
        let failed = store.file(of.tenant, &of.name, file.id).await.unwrap();
        assert_eq!((failed.state, failed.error), (FileState::Failed, Some(error)));
        let there = store.same_content(of.tenant, of.id, std::slice::from_ref(&file.sha256)).await.unwrap();
        assert_eq!(there, [(file.sha256.clone(), file.id)]);
        let job = job(&of, JobKind::Upload, 1);
        let (same, other) = (self::file(&of, &job, "a.txt"), self::file(&of, &job, "b.txt"));
        for (file, quotas, is_duplicate) in [
            (&same, Quotas::default(), true),
            (&other, Quotas { files: Some(1), ..Quotas::default() }, false),
            (&other, Quotas { bytes: Some(19), ..Quotas::default() }, false),
        ] {
            let build = self::build(file, &job, 1);
            let upload = FileUpload {
                database: of.id,
                files: std::slice::from_ref(file),
                job: &job,
                builds: std::slice::from_ref(&build),
                quotas,
            };
            let refused = store.insert_files(upload, &[Vec::new()], &unit(of.tenant)).await.unwrap_err();
            match refused {
                StoreError::Duplicate(columns) => assert!(is_duplicate && columns.contains("sha256")),
                StoreError::QuotaExceeded { used, .. } => assert!(!is_duplicate && used > 0),
                other => panic!("{other}"),
            }
        }
        assert_eq!(store.usage(of.tenant).await.unwrap().files, 1, "all or nothing");
    });
}

#[tokio::test]
async fn another_generation_is_built_beside_the_one_that_serves() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let (_, _, build) = uploaded(&store, &of, "a.txt").await;
        let build = cut_into(&store, &build, 2).await;
        store.write_passages(&build, &next(&build, 2), node().id, at(3)).await.unwrap();
        store.end(&build, &BuildEnd::Ready, node().id, at(4)).await.unwrap();
        let job = job(&of, JobKind::Reindex, 0);
        let next_generation =
            heddle_vectors::records::NextGeneration { generation: 2, recipe: of.recipe.clone(), job: job.id };
        let mut changed = store.database(of.tenant, &of.name).await.unwrap();
        changed.revision = changed.revision.next();
        let reindex = Some((&next_generation, &job));
        let update = heddle_vectors::ports::DatabaseUpdate { database: &changed, reindex };
        store.update_database(update, of.revision, &unit(of.tenant)).await.unwrap();
        let second = id(heddle_kernel::BuildId);
        let more = store.spread(of.tenant, job.id, &[second, id(heddle_kernel::BuildId)], at(5)).await;
        assert_eq!(more, Ok(false));
        assert_eq!(store.position(of.tenant, of.id).await.unwrap().generation, 1, "the one before serves");
        let held = store.claim(of.tenant, second, &node(), at(6)).await.unwrap().unwrap().build;
        let held = store.cut(&held, &cut(5), at(6)).await.unwrap();
        store.write_passages(&held, &next(&held, 5), node().id, at(7)).await.unwrap();
        store.end(&held, &BuildEnd::Ready, node().id, at(8)).await.unwrap();
        let after = store.database(of.tenant, &of.name).await.unwrap();
        assert_eq!((after.generation, after.next, after.counts.passages), (2, None, 5));
        let job = store.job(of.tenant, job.id).await.unwrap();
        assert_eq!(job.state, JobState::Completed);
        assert_eq!(store.usage(of.tenant).await.unwrap().passages, 5);
    });
}
