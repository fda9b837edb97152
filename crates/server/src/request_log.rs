//! The request log: one line for each request, with neither query nor body. A stream's line comes at its end.

use actix_web::http::Method;
use heddle_api::ErrorCode;
use heddle_kernel::RequestId;
use tokio::time::Instant;

/// Route of a request that none takes.
pub(crate) const NO_ROUTE: &str = "-";

/// Line of the request log.
#[derive(Debug)]
pub(crate) struct Line {
    /// Method of the request.
    pub method: Method,
    /// Template of the path, such as `/api/workflows/{workflowId}`.
    pub route: &'static str,
    /// Status of the answer.
    pub status: u16,
    /// Id of the request, as the caller was told it.
    pub id: RequestId,
    /// Instant at which the request's head had come.
    pub begun: Instant,
    /// Cause of a failure, which the caller was not told.
    pub cause: Option<String>,
}

impl Line {
    /// Writes it. What was refused because there was too much of it is told at `debug` alone, or a flood would fill the
    /// log.
    pub(crate) fn write(&self) {
        let Self { method, route, status, id, begun, cause } = self;
        let (method, request_id) = (method.as_str(), id.as_str());
        let ms = begun.elapsed().as_micros() as f64 / 1000.0;
        match (*status, cause) {
            (status, Some(cause)) => tracing::error!(method, route, status, ms, request_id, cause, "request"),
            (status @ 500.., None) => tracing::warn!(method, route, status, ms, request_id, "request"),
            (status, None) if status == ErrorCode::RateLimited.status() => {
                tracing::debug!(method, route, status, ms, request_id, "request");
            }
            (status, None) => tracing::info!(method, route, status, ms, request_id, "request"),
        }
    }
}

/// Line that is written when the answer is over, however it ends.
#[derive(Debug)]
pub(crate) struct AtTheEnd(pub Line);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        self.0.write();
    }
}
