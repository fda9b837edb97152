//! Ingestion jobs: wire types to domain types and back, around the use cases.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_faces::literals::{
    ingestion_kind, ingestion_kind_of, ingestion_state, ingestion_state_of, server_state, stage,
};
use heddle_kernel::{DatabaseName, Timestamp};
use heddle_vectors::ports::JobFilter;
use heddle_vectors::records::{Job, JobServer};

use super::vector_files::error_shown;
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// GET /api/vector-databases/ingestion-jobs
pub(crate) async fn list(call: Call<ops::ListIngestionJobs>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let database = query.vector_database.as_deref().map(DatabaseName::parse).transpose();
    let database = database.map_err(|fault| {
        Failure::at(
            "vectorDatabase",
            "wrongFormat",
            format!("The name of a vector database is needed: {fault}."),
        )
    })?;
    let filter = JobFilter {
        database,
        state: query.state.map(ingestion_state_of),
        kind: query.kind.map(ingestion_kind_of),
        since: query.since,
    };
    let found = call.app.vectors.jobs.list(&call.authorized, &call.context, &filter, &page).await?;
    let now = call.context.now();
    Response::list(found, page.limit, |job| shown(&job, now))
}

/// GET /api/vector-databases/ingestion-jobs/{jobId}
pub(crate) async fn get(call: Call<ops::GetIngestionJob>) -> HandlerResult {
    let found = call.app.vectors.jobs.get(&call.authorized, &call.context).await?;
    Response::data(200, shown(&found, call.context.now()))
}

/// DELETE /api/vector-databases/ingestion-jobs/{jobId}
pub(crate) async fn cancel(call: Call<ops::CancelIngestionJob>) -> HandlerResult {
    let journal = call.audited(&call.authorized.id().to_string());
    call.app.vectors.jobs.cancel(&call.authorized, &call.context, &journal).await?;
    Ok(Response::none())
}

/// GET /api/vector-databases/ingestion-jobs/{jobId}/servers
pub(crate) async fn servers(call: Call<ops::ListIngestionServers>) -> HandlerResult {
    let found = call.app.vectors.jobs.servers(&call.authorized, &call.context).await?;
    Response::data(200, wire::vector_jobs::IngestionServers(found.iter().map(server).collect()))
}

/// A job on the wire, as of an instant.
pub(super) fn shown(job: &Job, now: Timestamp) -> wire::vector_jobs::IngestionJob {
    use wire::vector_jobs::{IngestionJobFiles, IngestionJobPassages};
    let files = job.files;
    wire::vector_jobs::IngestionJob {
        id: job.id.to_string(),
        vector_database: job.database_name.to_string(),
        kind: ingestion_kind(job.kind),
        state: ingestion_state(job.state),
        stage: stage(job.stage),
        files: IngestionJobFiles {
            total: files.total,
            queued: files.queued,
            running: files.running,
            ready: files.ready,
            failed: files.failed,
            cancelled: files.cancelled,
        },
        passages: IngestionJobPassages { done: job.passages_done, total: job.passages_known() },
        bytes: job.bytes,
        progress: job.progress(),
        attempts: job.attempts,
        error: job.error.as_ref().map(error_shown),
        created_at: job.created_at,
        created_by: job.created_by.to_string(),
        started_at: job.started_at,
        heartbeat_at: job.heartbeat_at,
        finished_at: job.finished_at,
        eta_seconds: job.eta_seconds(now),
    }
}

fn server(server: &JobServer) -> wire::vector_jobs::IngestionServer {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    wire::vector_jobs::IngestionServer {
        server_id: server.server.to_string(),
        host_name: known(&server.host_name),
        version: known(&server.version),
        role: "worker".to_owned(),
        state: server_state(server.state),
        stages: server.stages.iter().copied().map(stage).collect(),
        files_claimed: server.files_claimed,
        files_completed: server.files_completed,
        files_failed: server.files_failed,
        passages_written: server.passages_written,
        first_seen_at: server.first_seen_at,
        last_heartbeat_at: server.last_heartbeat_at,
        current_file_id: server.current_file.map(|file| file.to_string()),
    }
}
