//! Context of what the installation does by itself, where nobody calls.

use heddle_kernel::{IdSource as _, RequestId, SessionId, TenantId, Timestamp, UserId};
use heddle_policy::{OwnReason, RequestContext, RequestFacts};
use heddle_runtime::RandomIds;

/// A context for what the installation does by itself at an instant, for a reason: for the demo and the command line,
/// where nobody calls.
#[must_use]
pub fn own_context(reason: OwnReason, now: Timestamp, tenant: TenantId, user: UserId) -> RequestContext {
    let session = SessionId(RandomIds.next(now));
    let request = RequestFacts { request_id: RequestId::made(RandomIds.next(now)), now, client_ip: None };
    RequestContext::of_the_installation(reason, tenant, user, session, request)
}
