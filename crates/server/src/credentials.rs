//! Credentials of a request: the session cookie or a bearer token, and the check against cross-site requests.

use heddle_api::operations::{Method, OperationSpec};
use heddle_api::{ApiError, ErrorCode};
use heddle_identity::Authenticated;
use heddle_kernel::TenantId;
use heddle_policy::RequestFacts;

use crate::app::App;
use crate::failure::Failure;
use crate::incoming::{Headers, RequestCredentials};

/// The session cookie's name.
pub(crate) const COOKIE: &str = "__Host-heddle-session";
/// The name of the cookie that marks a device.
pub(crate) const DEVICE_COOKIE: &str = "__Host-heddle-device";

/// The name of the cookie with a sign-in by a provider that was begun in the browser.
pub(crate) const SIGN_IN_COOKIE: &str = "__Host-heddle-oidc";

/// Resolves the credential.
///
/// # Errors
/// 401 without a valid one, 403 for a cross-site call with a cookie.
pub(crate) async fn authenticate(
    app: &App,
    headers: &Headers,
    spec: &OperationSpec,
    tenant: Option<TenantId>,
    facts: &RequestFacts,
) -> Result<Authenticated, Failure> {
    let presented = &headers.presented;
    let required =
        |reason: &str, message: &str| Failure::because(ErrorCode::AuthenticationRequired, reason, message);
    let token = match (&presented.bearer, &presented.cookie) {
        (Some(bearer), Some(cookie)) if bearer != cookie => {
            return Err(required("contradiction", "The cookie and the bearer token differ."));
        }
        (Some(bearer), _) => bearer,
        (None, Some(cookie)) => cookie,
        (None, None) => {
            return match &headers.local {
                Some(local) => crate::command_line::caller(app, local, spec, tenant, facts).await,
                None => Err(ApiError::new(ErrorCode::AuthenticationRequired).into()),
            };
        }
    };
    let Some(caller) = app.identity.authenticate(token, tenant, facts.now).await? else {
        return Err(required("invalidToken", "The session or token is unknown or has ended."));
    };
    if presented.bearer.is_none() {
        same_site(presented, spec, headers.content_type.as_deref())?;
    }
    Ok(caller)
}

/// A browser sends the cookie along with what other sites make it send; what changes something must come from here.
/// The order is that of Go's `CrossOriginProtection`: `Sec-Fetch-Site`, then `Origin` against `Host`.
fn same_site(
    presented: &RequestCredentials,
    spec: &OperationSpec,
    content_type: Option<&str>,
) -> Result<(), Failure> {
    if spec.method == Method::Get {
        return Ok(());
    }
    let host_of = |origin: &str| origin.split_once("://").map(|(_, host)| host.to_owned());
    let same = match (presented.fetch_site.as_deref(), presented.origin.as_deref()) {
        (Some(site), _) => matches!(site, "same-origin" | "none"),
        (None, Some(origin)) => host_of(origin).is_some_and(|host| Some(host) == presented.host),
        // A form of another site can't send JSON without asking first.
        (None, None) => content_type.is_some_and(|media| media.starts_with("application/json")),
    };
    if same {
        return Ok(());
    }
    let message = "A call with the session cookie must come from this site.";
    Err(Failure::because(ErrorCode::PermissionRequired, "csrfRejected", message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_api::operations::OperationId;

    fn presented(site: Option<&str>, origin: Option<&str>) -> RequestCredentials {
        RequestCredentials {
            cookie: Some("t".to_owned()),
            fetch_site: site.map(str::to_owned),
            origin: origin.map(str::to_owned),
            host: Some("heddle.test".to_owned()),
            ..RequestCredentials::default()
        }
    }

    #[test]
    fn a_cookie_alone_changes_nothing_from_another_site() {
        let spec = OperationId::CreateWorkflow.spec();
        let cases = [
            (Some("same-origin"), None, None, true),
            (Some("none"), None, None, true),
            (Some("cross-site"), Some("https://heddle.test"), None, false),
            (Some("same-site"), None, None, false),
            (None, Some("https://heddle.test"), None, true),
            (None, Some("https://evil.test"), Some("application/json"), false),
            (None, Some("null"), None, false),
            (None, None, Some("application/json"), true),
            (None, None, Some("text/plain"), false),
            (None, None, None, false),
        ];
        for (site, origin, media, allowed) in cases {
            let result = same_site(&presented(site, origin), spec, media);
            assert_eq!(result.is_ok(), allowed, "{site:?} {origin:?} {media:?}");
        }
        assert!(
            same_site(&presented(Some("cross-site"), None), OperationId::ListWorkflows.spec(), None).is_ok()
        );
    }
}
