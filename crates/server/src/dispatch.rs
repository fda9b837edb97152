//! Place where a call's handler runs: on the thread that answers, or in its organisation's turn on the compute pool.

use std::sync::Arc;

use futures::future::BoxFuture;
use heddle_api::operations::OperationSpec;
use heddle_kernel::TenantId;
use heddle_runtime::{ComputeError, QUEUE_LIMIT};

use crate::app::App;
use crate::failure::Failure;
use crate::reply::HandlerResult;

/// Length of a body from which on decoding alone is worth a turn on the pool, in bytes.
const LONG_BODY: usize = 64 * 1024;

/// Facts that decide the place of a call.
pub(crate) struct Placed {
    /// Row of the operation.
    pub spec: &'static OperationSpec,
    /// Organisation in whose turn it runs; none before anybody is signed in.
    pub tenant: Option<TenantId>,
    /// Length of the body, in bytes.
    pub body: usize,
}

/// Runs a handler to its end. A caller that hangs up cuts nothing in half that may write; it cancels the rest.
pub(crate) async fn dispatch(
    app: &Arc<App>,
    placed: Placed,
    work: BoxFuture<'static, HandlerResult>,
) -> HandlerResult {
    // What a model is asked ends with the caller; what it has cost is settled by whoever lets go of the call.
    let ends_with_caller = placed.spec.id.infers();
    let may_write = (placed.spec.audit_event.is_some() || placed.spec.id.settles()) && !ends_with_caller;
    if placed.spec.id.computes() || placed.body > LONG_BODY {
        let job = app.compute.spawn(placed.tenant, work).map_err(unplaced)?;
        let job = if may_write { job.to_the_end() } else { job };
        return job.await.map_err(unplaced)?;
    }
    if !may_write {
        return work.await;
    }
    tokio::spawn(work).await.unwrap_or_else(|error| Err(Failure::internal(error.to_string())))
}

fn unplaced(error: ComputeError) -> Failure {
    match error {
        ComputeError::Full => Failure::queue_full(QUEUE_LIMIT),
        ComputeError::Stopped | ComputeError::Panicked => Failure::internal(error.to_string()),
    }
}
