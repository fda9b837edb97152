//! Port to threads that compute for long, so that those that answer stay free.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use heddle_kernel::TenantId;

use crate::UseCaseError;

/// Synchronous work that holds no lock.
pub type Work = Box<dyn FnOnce() + Send>;

/// End of a piece of work, to be waited for.
pub type Done<'a> = Pin<Box<dyn Future<Output = Result<(), UseCaseError>> + Send + 'a>>;

/// Treatment of work for which an organisation's queue has no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Refused with `QueueFull`: somebody waits for the answer and can come again.
    Refuse,
    /// Taken nevertheless: nobody asked for it at this moment, and its number is bounded where it is made.
    Take,
}

/// Threads for work that computes for long, fair between organisations.
pub trait Compute: Send + Sync {
    /// Carries the work out in the organisation's turn.
    ///
    /// # Errors
    /// `QueueFull`, when too much of the organisation waits already; `Internal`, when the work panicked.
    fn run(&self, tenant: TenantId, admission: Admission, work: Work) -> Done<'_>;
}

/// Result of work that is carried out on the threads of a pool.
///
/// # Errors
/// As [`Compute::run`].
pub async fn computed<T: Send + 'static>(
    pool: &dyn Compute,
    tenant: TenantId,
    admission: Admission,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, UseCaseError> {
    let place = Arc::new(Mutex::new(None));
    let result = Arc::clone(&place);
    let boxed: Work = Box::new(move || {
        let value = work();
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    });
    pool.run(tenant, admission, boxed).await?;
    let value = place.lock().unwrap_or_else(PoisonError::into_inner).take();
    value.ok_or_else(|| UseCaseError::Internal("the work ended without a result".to_owned()))
}

/// Threads of the caller: the work is done where it is asked for. For tests and tools.
#[derive(Debug, Clone, Copy, Default)]
pub struct InPlace;

impl Compute for InPlace {
    fn run(&self, _: TenantId, _: Admission, work: Work) -> Done<'_> {
        work();
        Box::pin(std::future::ready(Ok(())))
    }
}
