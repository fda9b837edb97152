//! Requests to a provider, by the one way out.

use futures::future::BoxFuture;
use heddle_egress::{Egress, EgressError, Limits, OutRequest};
use openidconnect::{HttpRequest, HttpResponse};
use std::time::Duration;

/// Bounds of a request to a provider: somebody waits for it in a browser.
fn limits() -> Limits {
    Limits {
        first_byte: Duration::from_secs(10),
        idle: Duration::from_secs(10),
        total: Duration::from_secs(15),
        body_bytes: 1 << 20,
        unpacked_bytes: 1 << 20,
        ..Limits::default()
    }
}

/// Scope of a provider's connections.
pub(crate) fn scope(provider: &str) -> String {
    format!("oidc/{provider}")
}

/// The client of HTTP as the library takes it. A provider shares its connections with nothing else.
pub(crate) fn client(
    egress: &Egress,
    provider: &str,
) -> impl Fn(HttpRequest) -> BoxFuture<'static, Result<HttpResponse, EgressError>> + Send + Sync + 'static {
    let (egress, scope) = (egress.clone(), scope(provider));
    move |request: HttpRequest| -> BoxFuture<'static, Result<HttpResponse, EgressError>> {
        let (egress, scope) = (egress.clone(), scope.clone());
        Box::pin(async move { send(&egress, scope, request).await })
    }
}

async fn send(egress: &Egress, scope: String, request: HttpRequest) -> Result<HttpResponse, EgressError> {
    let (parts, body) = request.into_parts();
    let mut out = OutRequest::new(parts.method, &parts.uri.to_string())?;
    out.headers = parts.headers;
    let answer = egress.send(out.with_body(body).with_limits(limits()).with_scope(scope)).await?;
    let mut response = HttpResponse::new(answer.body.to_vec());
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    Ok(response)
}
