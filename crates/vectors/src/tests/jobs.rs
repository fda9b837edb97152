//! Jobs: what a reader learns of documents that they may not see.

use heddle_kernel::{IngestionJobId, Page, PageRequest};
use heddle_policy::PermissionSet;
use heddle_policy::capability::{IngestionJobList, IngestionJobRead};

use super::*;
use crate::IngestionJobs;
use crate::databases::new_job;
use crate::ports::{JobFilter, MockVectorStore};
use crate::records::{FileError, FileFault, Job, JobKind, JobServer, ServerState, Stage};

fn job_id() -> IngestionJobId {
    IngestionJobId(Uuid::from_u128(600))
}

/// A job of which the first file failed and the second is worked on.
fn job() -> Job {
    let mut job = new_job(&database(), job_id(), JobKind::Upload, &context());
    let message = "the first file is damaged".to_owned();
    job.error = Some(FileError { code: FileFault::ParseFailed, message, retryable: false });
    job
}

fn server(current: Option<FileId>) -> JobServer {
    JobServer {
        server: Uuid::from_u128(7),
        host_name: "host".to_owned(),
        version: "1".to_owned(),
        state: ServerState::Active,
        stages: vec![Stage::Parsing],
        files_claimed: 2,
        files_completed: 0,
        files_failed: 1,
        passages_written: 0,
        first_seen_at: START,
        last_heartbeat_at: START,
        current_file: current,
    }
}

/// The use cases over a store with the job, whose files are these.
fn jobs(files: &'static [u128]) -> IngestionJobs {
    let mut store = MockVectorStore::new();
    store.expect_job().returning(|_, _| Ok(job()));
    store.expect_list_jobs().returning(|_, _, _, _| Ok(Page { items: vec![job()], next: None }));
    store.expect_job_servers().returning(move |_, _, _| {
        let current = files.last().map(|number| file_id(*number));
        Ok(vec![server(current), server(None)])
    });
    store
        .expect_job_has()
        .returning(move |_, _, asked| Ok(files.iter().any(|number| asked.contains(&file_id(*number)))));
    IngestionJobs::new(Arc::new(store))
}

async fn current(jobs: &IngestionJobs, context: &RequestContext) -> Vec<Option<FileId>> {
    let authorized = within::<IngestionJobRead>(context, job_id());
    let servers = jobs.servers(&authorized, context).await.unwrap();
    assert_eq!(servers.len(), 2, "the servers themselves are told");
    servers.into_iter().map(|server| server.current_file).collect()
}

/// Whether the failure is told by the job itself, and in the list of jobs.
async fn failure_is_told(jobs: &IngestionJobs, context: &RequestContext) -> [bool; 2] {
    let authorized = within::<IngestionJobRead>(context, job_id());
    let one = jobs.get(&authorized, context).await.unwrap();
    let listed = context.snapshot().authorize_list::<IngestionJobList>().unwrap();
    let page = PageRequest::default();
    let all = jobs.list(&listed, context, &JobFilter::default(), &page).await.unwrap();
    [one.error.is_some(), all.items[0].error.is_some()]
}

#[tokio::test]
async fn the_file_that_a_server_is_at_is_told_to_those_who_may_see_it() {
    let jobs = jobs(&[1, 2]);
    assert_eq!(current(&jobs, &context()).await, [Some(file_id(2)), None]);
    let other = context_denied("document", "list", &file_id(1).to_string());
    assert_eq!(current(&jobs, &other).await, [Some(file_id(2)), None]);
    let second = file_id(2).to_string();
    for (action, selector) in [("list", second.as_str()), ("*", second.as_str()), ("list", "*")] {
        let denied = context_denied("document", action, selector);
        assert_eq!(current(&jobs, &denied).await, [None, None], "{action} {selector}");
    }
}

#[tokio::test]
async fn a_right_to_jobs_alone_tells_no_document() {
    let jobs = jobs(&[1, 2]);
    let resources = vec![
        rule("ingestion-job", "read", "*", Effect::Allow),
        rule("ingestion-job", "list", "*", Effect::Allow),
    ];
    let permissions = PermissionSet::of(&["documents.view"]);
    let reader = context_with(RoleRules { permissions, resources, ..RoleRules::default() });
    assert_eq!(current(&jobs, &reader).await, [None, None]);
    assert_eq!(failure_is_told(&jobs, &reader).await, [false, false]);
}

#[tokio::test]
async fn a_failure_that_may_be_that_of_a_denied_document_is_not_told() {
    let jobs = jobs(&[1, 2]);
    assert_eq!(failure_is_told(&jobs, &context()).await, [true, true]);
    let denied = context_denied("document", "list", &file_id(1).to_string());
    assert_eq!(failure_is_told(&jobs, &denied).await, [false, false]);
    let elsewhere = context_denied("document", "list", &file_id(3).to_string());
    assert_eq!(failure_is_told(&jobs, &elsewhere).await, [true, true]);
}
