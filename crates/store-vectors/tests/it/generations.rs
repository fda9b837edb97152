//! Generations: what is built beside the one that serves loses no file, leaves nothing open, and is never mixed up with one
//! that was given up.

use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_kernel::{BuildId, IngestionJobId, PageRequest};
use heddle_policy::{AccessFilter, resource};
use heddle_store::{Db, Id, StoreError, read, write_tx};
use heddle_store_vectors::SqlVectorStore;
use heddle_testkit::on_both;
use heddle_vectors::ports::{
    BuildEnd, Cut, DatabaseUpdate, Deleted, FileFilter, FilePatchWrite, IngestStore, PassageStore, Reprocess,
    VectorStore,
};
use heddle_vectors::records::{
    Build, DatabaseState, File, FileError, FileFault, FileOptions, FileState, Job, JobKind, JobState,
    NextGeneration, VectorDatabase,
};
use serde_json::{Map, json};

use crate::support::*;

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::DbUuid;

    vector_builds (organization_id, id) {
        organization_id -> DbUuid,
        id -> DbUuid,
        database_id -> DbUuid,
        generation -> BigInt,
        state -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::DbUuid;

    vector_purges (organization_id, id) {
        organization_id -> DbUuid,
        id -> DbUuid,
        database_id -> DbUuid,
        generation -> Nullable<BigInt>,
    }
}

/// The builds of a generation that nobody has taken yet.
async fn queued(db: &Db, of: &VectorDatabase, generation: i64) -> Vec<BuildId> {
    let ids: Result<Vec<Id>, StoreError> = read!(db, |conn| {
        Ok(vector_builds::table
            .filter(vector_builds::organization_id.eq(Id::from(of.tenant)))
            .filter(vector_builds::database_id.eq(Id::from(of.id)))
            .filter(vector_builds::generation.eq(generation))
            .filter(vector_builds::state.eq("queued"))
            .order(vector_builds::id)
            .select(vector_builds::id)
            .load(conn)
            .await?)
    });
    ids.unwrap().into_iter().map(BuildId::from).collect()
}

/// Moves a build to a generation, as earlier versions of the program made them.
async fn moved(db: &Db, build: &Build, generation: i64) {
    let row = vector_builds::table.find((Id::from(build.tenant), Id::from(build.id)));
    write_tx!(db, |conn| {
        Ok(diesel::update(row).set(vector_builds::generation.eq(generation)).execute(conn).await?)
    })
    .unwrap();
}

/// Removes the errands of an organisation, as a process does that ends behind the end of an errand.
async fn without_errands(db: &Db, of: &VectorDatabase) {
    let errands = heddle_store::schema::errands::table
        .filter(heddle_store::schema::errands::organization_id.eq(Id::from(of.tenant)));
    write_tx!(db, |conn| Ok(diesel::delete(errands).execute(conn).await?)).unwrap();
}

/// Takes a build, and writes so many passages; it is not ended.
async fn written(store: &SqlVectorStore, of: &VectorDatabase, build: BuildId, passages: u64) -> Build {
    let held = store.claim(of.tenant, build, &node(), at(10)).await.unwrap().unwrap().build;
    let held = store.cut(&held, &cut(passages), at(10)).await.unwrap();
    store.write_passages(&held, &next(&held, passages), node().id, at(10)).await.unwrap();
    held
}

/// Makes a build ready, of so many passages.
async fn made(store: &SqlVectorStore, of: &VectorDatabase, build: BuildId, passages: u64) {
    let held = written(store, of, build, passages).await;
    store.end(&held, &BuildEnd::Ready, node().id, at(11)).await.unwrap();
}

/// A file that can be found, of so many passages.
async fn found(store: &SqlVectorStore, of: &VectorDatabase, name: &str, passages: u64) -> File {
    let (file, _, build) = uploaded(store, of, name).await;
    made(store, of, build.id, passages).await;
    file
}

/// Begins a generation of a number, by a methodology.
async fn begun(
    store: &SqlVectorStore,
    of: &VectorDatabase,
    generation: i64,
    methodology: &str,
) -> Result<Job, StoreError> {
    let job = job(of, JobKind::Reindex, 0);
    let mut database = store.database(of.tenant, &of.name).await?;
    let revision = database.revision;
    database.revision = revision.next();
    let mut recipe = of.recipe.clone();
    recipe.chunking.id = methodology.to_owned();
    let next = NextGeneration { generation, recipe, job: job.id };
    let update = DatabaseUpdate { database: &database, reindex: Some((&next, &job)) };
    store.update_database(update, revision, &unit(of.tenant)).await?;
    Ok(job)
}

/// Begins a generation, and gathers the files of it.
async fn spread(store: &SqlVectorStore, of: &VectorDatabase, generation: i64) -> Job {
    let job = begun(store, of, generation, "recursive").await.unwrap();
    gathered(store, of, &job).await;
    job
}

async fn gathered(store: &SqlVectorStore, of: &VectorDatabase, job: &Job) {
    let ids: Vec<BuildId> = (0..9).map(|_| id(BuildId)).collect();
    assert_eq!(store.spread(of.tenant, job.id, &ids, at(9)).await, Ok(false));
}

/// Removes all that is left to the background of an organisation.
async fn cleaned(store: &SqlVectorStore, of: &VectorDatabase) {
    let purges = store.purges(1_000).await.unwrap();
    for purge in purges.iter().filter(|purge| purge.tenant == of.tenant) {
        assert!(store.purge(purge, 1_000).await.unwrap(), "{purge:?}");
    }
}

/// The generation that serves, the state of the database and of a job.
async fn standing(
    store: &SqlVectorStore,
    of: &VectorDatabase,
    job: IngestionJobId,
) -> (i64, DatabaseState, JobState) {
    let database = store.database(of.tenant, &of.name).await.unwrap();
    assert_eq!(database.next.is_some(), database.state == DatabaseState::Building);
    (database.generation, database.state, store.job(of.tenant, job).await.unwrap().state)
}

async fn waiting(store: &SqlVectorStore, of: &VectorDatabase) -> u64 {
    store.usage(of.tenant).await.unwrap().waiting
}

async fn state(store: &SqlVectorStore, of: &VectorDatabase, file: &File) -> FileState {
    store.file(of.tenant, &of.name, file.id).await.unwrap().state
}

#[tokio::test]
async fn a_generation_behind_one_that_was_given_up_keeps_all_that_is_made_for_it() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        found(&store, &of, "a.txt", 2).await;
        found(&store, &of, "b.txt", 2).await;
        let first = spread(&store, &of, 2).await;
        made(&store, &of, queued(&db, &of, 2).await[0], 3).await;
        store.cancel_job(of.tenant, first.id, &unit(of.tenant)).await.unwrap();
        assert_eq!(standing(&store, &of, first.id).await, (1, DatabaseState::Ready, JobState::Cancelled));
        assert_eq!(begun(&store, &of, 2, "recursive").await.unwrap_err(), StoreError::Stale);
        let last = store.database(of.tenant, &of.name).await.unwrap().last_generation;
        assert_eq!(last, 2, "a number is given once");
        let second = spread(&store, &of, 3).await;
        let [one, two] = queued(&db, &of, 3).await[..] else { panic!("two files") };
        made(&store, &of, one, 3).await;
        cleaned(&store, &of).await;
        made(&store, &of, two, 4).await;
        assert_eq!(standing(&store, &of, second.id).await, (3, DatabaseState::Ready, JobState::Completed));
        cleaned(&store, &of).await;
        let live = store.live(of.tenant, of.id, 3, None, 10).await.unwrap();
        let passages: Vec<u64> = live.iter().map(|file| file.passages.len()).collect();
        assert_eq!(passages.iter().sum::<u64>(), 7, "{passages:?}");
        for file in &live {
            let stored = store.passages(of.tenant, of.id, file.passages).await.unwrap();
            assert_eq!(stored.len() as u64, file.passages.len());
        }
        assert_eq!(store.live(of.tenant, of.id, 1, None, 10).await.unwrap(), []);
    });
}

#[tokio::test]
async fn a_leftover_of_the_number_of_what_serves_is_none() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        found(&store, &of, "a.txt", 2).await;
        let leftover = (
            vector_purges::organization_id.eq(Id::from(of.tenant)),
            vector_purges::id.eq(Id(uuid::Uuid::now_v7())),
            vector_purges::database_id.eq(Id::from(of.id)),
            vector_purges::generation.eq(Some(1_i64)),
        );
        write_tx!(&db, |conn| {
            Ok(diesel::insert_into(vector_purges::table).values(&leftover).execute(conn).await?)
        })
        .unwrap();
        for _ in 0..2 {
            let purges = store.purges(1_000).await.unwrap();
            assert!(purges.iter().all(|purge| purge.tenant != of.tenant), "{purges:?}");
        }
        assert_eq!(store.live(of.tenant, of.id, 1, None, 10).await.unwrap().len(), 1);
    });
}

#[tokio::test]
async fn a_file_that_comes_while_another_generation_is_built_is_in_that_as_well() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        found(&store, &of, "a.txt", 2).await;
        let (before, _, early) = uploaded(&store, &of, "b.txt").await;
        let early = written(&store, &of, early.id, 3).await;
        let job = spread(&store, &of, 2).await;
        let (after, upload, late) = uploaded(&store, &of, "c.txt").await;
        made(&store, &of, queued(&db, &of, 2).await[0], 5).await;
        assert_eq!(standing(&store, &of, job.id).await, (1, DatabaseState::Building, JobState::Running));
        store.end(&early, &BuildEnd::Ready, node().id, at(12)).await.unwrap();
        made(&store, &of, late.id, 3).await;
        let upload = store.job(of.tenant, upload.id).await.unwrap();
        assert_eq!((upload.state, upload.files.total, upload.files.ready), (JobState::Completed, 1, 1));
        for build in queued(&db, &of, 2).await {
            assert_eq!(standing(&store, &of, job.id).await.0, 1, "what serves has files that it lacks");
            made(&store, &of, build, 5).await;
        }
        assert_eq!(standing(&store, &of, job.id).await, (2, DatabaseState::Ready, JobState::Completed));
        let job = store.job(of.tenant, job.id).await.unwrap();
        assert_eq!((job.files.total, job.files.ready, job.bytes), (3, 3, 30));
        assert_eq!(store.live(of.tenant, of.id, 2, None, 10).await.unwrap().len(), 3);
        for file in [&before, &after] {
            let file = store.file(of.tenant, &of.name, file.id).await.unwrap();
            assert_eq!((file.state, file.passages), (FileState::Ready, 5));
            assert_eq!((file.progress.passages_done, file.progress.passages_total), (5, Some(5)));
        }
        let usage = store.usage(of.tenant).await.unwrap();
        assert_eq!((usage.passages, usage.waiting), (15, 0));
    });
}

#[tokio::test]
async fn a_database_whose_first_file_is_on_its_way_waits_for_it() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let (file, upload, build) = uploaded(&store, &of, "a.txt").await;
        let job = spread(&store, &of, 2).await;
        let (generation, database, _) = standing(&store, &of, job.id).await;
        assert_eq!((generation, database), (1, DatabaseState::Building));
        made(&store, &of, build.id, 2).await;
        made(&store, &of, queued(&db, &of, 2).await[0], 3).await;
        assert_eq!(standing(&store, &of, job.id).await, (2, DatabaseState::Ready, JobState::Completed));
        assert_eq!(store.job(of.tenant, upload.id).await.unwrap().state, JobState::Completed);
        let file = store.file(of.tenant, &of.name, file.id).await.unwrap();
        assert_eq!((file.state, file.passages), (FileState::Ready, 3));
        assert_eq!(store.live(of.tenant, of.id, 2, None, 10).await.unwrap().len(), 1);
        assert_eq!(waiting(&store, &of).await, 0);
    });
}

#[tokio::test]
async fn what_is_cancelled_holds_up_no_generation_and_leaves_nothing_open() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let file = found(&store, &of, "a.txt", 2).await;
        let again = job(&of, JobKind::Reprocess, 1);
        let build = build(&file, &again, 1);
        let mut changed = store.file(of.tenant, &of.name, file.id).await.unwrap();
        let revision = changed.revision;
        (changed.revision, changed.job) = (revision.next(), again.id);
        let reprocess = Some(Reprocess { job: &again, build: &build });
        let write = patched(&changed, &[], reprocess);
        store.update_file(write, revision, &unit(of.tenant)).await.unwrap();
        let job = spread(&store, &of, 2).await;
        made(&store, &of, queued(&db, &of, 2).await[0], 5).await;
        assert_eq!(standing(&store, &of, job.id).await, (1, DatabaseState::Building, JobState::Running));
        assert_eq!(state(&store, &of, &file).await, FileState::Queued);
        store.cancel_job(of.tenant, again.id, &unit(of.tenant)).await.unwrap();
        assert_eq!(standing(&store, &of, job.id).await, (2, DatabaseState::Ready, JobState::Completed));
        assert_eq!((state(&store, &of, &file).await, waiting(&store, &of).await), (FileState::Ready, 0));
        assert_eq!(store.claim(of.tenant, build.id, &node(), at(20)).await, Ok(None));
        let counts = store.database(of.tenant, &of.name).await.unwrap().counts;
        assert_eq!((counts.ready_files, counts.passages), (1, 5));
    });
}

#[tokio::test]
async fn with_a_generation_that_is_given_up_all_that_works_on_it_ends() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let there = found(&store, &of, "a.txt", 2).await;
        let reindex = spread(&store, &of, 2).await;
        let (file, upload, build) = uploaded(&store, &of, "b.txt").await;
        moved(&db, &build, 2).await;
        store.cancel_job(of.tenant, reindex.id, &unit(of.tenant)).await.unwrap();
        assert_eq!(standing(&store, &of, reindex.id).await, (1, DatabaseState::Ready, JobState::Cancelled));
        let upload = store.job(of.tenant, upload.id).await.unwrap();
        assert_eq!((upload.state, upload.files.cancelled, upload.files.queued), (JobState::Cancelled, 1, 0));
        assert_eq!((state(&store, &of, &file).await, waiting(&store, &of).await), (FileState::Cancelled, 0));
        assert_eq!(state(&store, &of, &there).await, FileState::Ready);
        // One of a generation that is gone, as earlier versions of the program left it.
        let (file, upload, build) = uploaded(&store, &of, "c.txt").await;
        moved(&db, &build, 2).await;
        assert_eq!(store.claim(of.tenant, build.id, &node(), at(20)).await, Ok(None));
        assert_eq!(store.job(of.tenant, upload.id).await.unwrap().state, JobState::Cancelled);
        assert_eq!((state(&store, &of, &file).await, waiting(&store, &of).await), (FileState::Cancelled, 0));
    });
}

#[tokio::test]
async fn a_file_that_goes_while_another_generation_is_built_does_not_hold_that_up() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        found(&store, &of, "a.txt", 2).await;
        let gone = found(&store, &of, "b.txt", 2).await;
        let job = spread(&store, &of, 2).await;
        let [one, _] = queued(&db, &of, 2).await[..] else { panic!("two files") };
        made(&store, &of, one, 5).await;
        let deleted = store.delete_file(of.tenant, &of.name, gone.id, None, &unit(of.tenant)).await;
        assert_eq!(deleted, Ok(Deleted::Now));
        assert_eq!(standing(&store, &of, job.id).await, (2, DatabaseState::Ready, JobState::Completed));
        let counts = store.database(of.tenant, &of.name).await.unwrap().counts;
        assert_eq!((counts.files, counts.ready_files, counts.passages), (1, 1, 5));
        let usage = store.usage(of.tenant).await.unwrap();
        assert_eq!((usage.passages, usage.waiting), (5, 0));
    });
}

#[tokio::test]
async fn options_of_a_file_go_with_the_methodology_that_they_were_given_for() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let file = found(&store, &of, "a.txt", 2).await;
        let mut changed = store.file(of.tenant, &of.name, file.id).await.unwrap();
        let (revision, mut options) = (changed.revision, Map::new());
        options.insert("maxTokens".to_owned(), json!(64));
        changed.revision = revision.next();
        changed.options = Some(FileOptions { methodology: Some("recursive".to_owned()), options });
        let write = patched(&changed, &[], None);
        store.update_file(write, revision, &unit(of.tenant)).await.unwrap();
        for (generation, methodology, stay) in [(2, "recursive", true), (3, "fixed", false)] {
            let job = begun(&store, &of, generation, methodology).await.unwrap();
            gathered(&store, &of, &job).await;
            let there = store.file(of.tenant, &of.name, file.id).await.unwrap();
            assert_eq!(there.options, changed.options, "until then the one before serves");
            made(&store, &of, queued(&db, &of, generation).await[0], 2).await;
            let there = store.file(of.tenant, &of.name, file.id).await.unwrap();
            assert_eq!(there.options, changed.options.clone().filter(|_| stay), "{methodology}");
        }
    });
}

#[tokio::test]
async fn a_change_leaves_what_ingestion_found_or_took_away_while_it_was_made() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let (seen, _, build) = uploaded(&store, &of, "a.pdf").await;
        let claimed = store.claim(of.tenant, build.id, &node(), at(2)).await.unwrap().unwrap();
        let title = Some("Pumps and valves".to_owned());
        let found = Cut { title: title.clone(), ..cut(2) };
        store.cut(&claimed.build, &found, at(2)).await.unwrap();
        let mut changed = File { enabled: false, revision: seen.revision.next(), ..seen.clone() };
        let kept =
            FilePatchWrite { names_title: false, names_options: false, ..patched(&changed, &[], None) };
        store.update_file(kept, seen.revision, &unit(of.tenant)).await.unwrap();
        let there = store.file(of.tenant, &of.name, seen.id).await.unwrap();
        assert_eq!((&there.title, there.enabled), (&title, false));
        let filter = FileFilter { q: Some("valves".to_owned()), ..FileFilter::default() };
        let all = AccessFilter::<resource::Document>::everything();
        let listed = store.list_files(&of, &filter, &all, &PageRequest::default()).await.unwrap();
        assert_eq!(listed.items.iter().map(|one| one.id).collect::<Vec<_>>(), [seen.id]);
        changed.revision = there.revision.next();
        changed.title = Some("Mine".to_owned());
        store.update_file(patched(&changed, &[], None), there.revision, &unit(of.tenant)).await.unwrap();
        let named = store.file(of.tenant, &of.name, seen.id).await.unwrap();
        assert_eq!(named.title.as_deref(), Some("Mine"));
    });
}

fn cut_with(passages: u64, most: u64) -> Cut {
    Cut { most: Some(most), ..cut(passages) }
}

#[tokio::test]
async fn the_quota_of_passages_holds_for_what_is_built_and_for_what_is_at_work() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        for name in ["a.txt", "b.txt", "c.txt"] {
            found(&store, &of, name, 10).await;
        }
        let job = spread(&store, &of, 2).await;
        let builds = queued(&db, &of, 2).await;
        for build in &builds[..2] {
            let held = store.claim(of.tenant, *build, &node(), at(10)).await.unwrap().unwrap().build;
            let held = store.cut(&held, &cut_with(20, 40), at(10)).await.unwrap();
            store.write_passages(&held, &next(&held, 20), node().id, at(10)).await.unwrap();
            store.end(&held, &BuildEnd::Ready, node().id, at(11)).await.unwrap();
        }
        let third = store.claim(of.tenant, builds[2], &node(), at(12)).await.unwrap().unwrap().build;
        let refused = store.cut(&third, &cut_with(20, 40), at(12)).await.unwrap_err();
        assert_eq!(refused, StoreError::QuotaExceeded { limit: "passages", most: 40, used: 40 });
        let error = FileError { code: FileFault::LimitExceeded, message: "x".to_owned(), retryable: true };
        store.end(&third, &BuildEnd::Failed(error), node().id, at(13)).await.unwrap();
        let (generation, database, _) = standing(&store, &of, job.id).await;
        assert_eq!((generation, database), (1, DatabaseState::Degraded));
        assert_eq!(store.usage(of.tenant).await.unwrap().passages, 30);
        // What was given up counts no more, and of two at a time the second sees the first.
        let (_, _, one) = uploaded(&store, &of, "d.txt").await;
        let (_, _, two) = uploaded(&store, &of, "e.txt").await;
        let one = store.claim(of.tenant, one.id, &node(), at(14)).await.unwrap().unwrap().build;
        let two = store.claim(of.tenant, two.id, &node(), at(14)).await.unwrap().unwrap().build;
        store.cut(&one, &cut_with(8, 40), at(14)).await.unwrap();
        let refused = store.cut(&two, &cut_with(8, 40), at(14)).await.unwrap_err();
        assert_eq!(refused, StoreError::QuotaExceeded { limit: "passages", most: 40, used: 38 });
        store.cut(&two, &cut_with(2, 40), at(14)).await.unwrap();
    });
}

#[tokio::test]
async fn what_lost_its_errand_is_ended_and_what_has_one_is_left() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        found(&store, &of, "a.txt", 2).await;
        let (file, upload, _) = uploaded(&store, &of, "b.txt").await;
        let reindex = begun(&store, &of, 2, "recursive").await.unwrap();
        let error =
            FileError { code: FileFault::ParseFailed, message: "given up".to_owned(), retryable: true };
        store.end_unattended(&error, 10, at(20)).await.unwrap();
        assert_eq!(state(&store, &of, &file).await, FileState::Queued);
        assert_eq!(store.job(of.tenant, reindex.id).await.unwrap().state, JobState::Queued);
        without_errands(&db, &of).await;
        assert!(store.end_unattended(&error, 10, at(21)).await.unwrap() >= 2);
        let failed = store.file(of.tenant, &of.name, file.id).await.unwrap();
        assert_eq!((failed.state, failed.error), (FileState::Failed, Some(error.clone())));
        assert_eq!(store.job(of.tenant, upload.id).await.unwrap().state, JobState::Failed);
        assert_eq!(standing(&store, &of, reindex.id).await, (1, DatabaseState::Degraded, JobState::Failed));
        assert_eq!(store.job(of.tenant, reindex.id).await.unwrap().error, Some(error.clone()));
        assert_eq!(waiting(&store, &of).await, 0);
        let over = store.fail_reindex(of.tenant, reindex.id, &error, at(22)).await;
        assert_eq!(over, Err(StoreError::NotFound));
    });
}

#[tokio::test]
async fn a_reindex_that_fails_as_a_whole_is_given_up_with_its_reason() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let file = found(&store, &of, "a.txt", 2).await;
        let reindex = spread(&store, &of, 2).await;
        let held = written(&store, &of, queued(&db, &of, 2).await[0], 3).await;
        let error =
            FileError { code: FileFault::ParseFailed, message: "set aside".to_owned(), retryable: false };
        store.fail_reindex(of.tenant, reindex.id, &error, at(20)).await.unwrap();
        assert_eq!(standing(&store, &of, reindex.id).await, (1, DatabaseState::Degraded, JobState::Failed));
        let job = store.job(of.tenant, reindex.id).await.unwrap();
        assert_eq!((job.error, job.files.running, job.files.cancelled), (Some(error), 0, 1));
        let late = store.end(&held, &BuildEnd::Ready, node().id, at(21)).await;
        assert_eq!(late, Err(StoreError::NotFound));
        assert_eq!((state(&store, &of, &file).await, waiting(&store, &of).await), (FileState::Ready, 0));
        cleaned(&store, &of).await;
        assert_eq!(store.passages(of.tenant, of.id, held.passages.unwrap()).await.unwrap(), []);
    });
}
