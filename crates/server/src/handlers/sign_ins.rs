//! Sign-in by a provider: the way there, and the way back.

use heddle_api::ErrorCode;
use heddle_api::operations::ops;
use heddle_identity::records::ExternalIdentity;
use heddle_identity::{FederationError, ProvenPerson, SIGN_IN_SECONDS, Visit};
use heddle_oidc::{Answer, Claims, OidcError, Secrets};

use crate::call::PublicCall;
use crate::credentials::{COOKIE, SIGN_IN_COOKIE};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// GET /api/auth/oidc/{provider}/start
pub(crate) async fn start(call: PublicCall<ops::StartOidcSignIn>) -> HandlerResult {
    let (sign_ins, name) = (&call.app.sign_ins, &call.path.provider);
    let provider = sign_ins.provider(name).ok_or_else(Failure::not_found)?;
    let return_to = call.query.return_to.as_deref().unwrap_or("/");
    let begun = sign_ins.federation.begin(name, return_to, call.facts.now)?;
    let redirect = sign_ins.redirect(name, call.meta.host.as_deref()).ok_or_else(unnamed)?;
    let secrets = Secrets { state: begun.state, nonce: begun.nonce, verifier: begun.verifier };
    let url = provider.begin(&redirect, &secrets).await.map_err(failure)?;
    Ok(led_to(url.as_str()).with("set-cookie", cookie(&begun.cookie, SIGN_IN_SECONDS)))
}

/// GET /api/auth/oidc/{provider}/callback
pub(crate) async fn finish(call: PublicCall<ops::FinishOidcSignIn>) -> HandlerResult {
    let (sign_ins, name, now) = (&call.app.sign_ins, &call.path.provider, call.facts.now);
    let provider = sign_ins.provider(name).ok_or_else(Failure::not_found)?;
    let redirect = sign_ins.redirect(name, call.meta.host.as_deref()).ok_or_else(unnamed)?;
    let query = &call.query;
    let state = query.state.as_deref().ok_or_else(|| missing("state"))?;
    let resumed = sign_ins.federation.resume(name, state, call.meta.sign_in.as_deref(), now).await?;
    if query.error.is_some() {
        let message = "The provider did not sign the person in.";
        return Err(Failure::because(ErrorCode::AuthenticationRequired, "providerRefused", message));
    }
    let code = query.code.as_deref().ok_or_else(|| missing("code"))?;
    let answer = Answer { code, issuer: query.iss.as_deref() };
    let secrets = Secrets { state: resumed.state, nonce: resumed.nonce, verifier: resumed.verifier };
    let claims = provider.finish(answer, &redirect, &secrets, now).await.map_err(failure)?;
    let visit = Visit { user_agent: call.meta.user_agent.clone(), presented: call.meta.token.clone() };
    let person = person(name, claims);
    let signed_in = sign_ins.federation.sign_in(&person, &visit, &call.facts).await.map_err(refusal)?;
    let seconds = i64::from(call.app.config.session_hours) * 3600;
    let token = signed_in.token.expose();
    let session = format!("{COOKIE}={token}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={seconds}");
    Ok(led_to(&resumed.return_to).with("set-cookie", session).with("set-cookie", cookie("", 0)))
}

/// Refusal of a name of which nobody knows whether it is this service's.
fn unnamed() -> Failure {
    let message = "Sign-in by a provider under this name takes `public_url` in the configuration.";
    Failure::at("Host", "notAllowed", message)
}

fn led_to(place: &str) -> Response {
    Response { status: 302, ..Response::none() }.with("location", place)
}

/// The cookie with a sign-in that was begun: the provider leads the browser back from another site, so it is lax.
fn cookie(value: &str, seconds: i64) -> String {
    format!("{SIGN_IN_COOKIE}={value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={seconds}")
}

fn missing(parameter: &str) -> Failure {
    Failure::at(parameter, "required", "The provider's answer has no such parameter.")
}

fn person(provider: &str, claims: Claims) -> ProvenPerson {
    let Claims { issuer, subject, verified_email, name, groups, methods } = claims;
    let identity = ExternalIdentity { provider: provider.to_owned(), issuer, subject };
    ProvenPerson { identity, verified_email, name, groups, methods }
}

fn failure(error: OidcError) -> Failure {
    match error {
        OidcError::Unavailable(cause) => {
            let message = "The provider does not answer, or not as it should; try again.";
            let code = ErrorCode::DependencyUnavailable;
            let failure = Failure::because(code, "providerUnavailable", message);
            Failure { cause: Some(cause), retry_after: Some(5), ..failure }
        }
        OidcError::Refused { reason, message, cause } => {
            let failure = Failure::because(ErrorCode::AuthenticationRequired, reason, message);
            Failure { cause: Some(cause), ..failure }
        }
    }
}

fn refusal(error: FederationError) -> Failure {
    match error {
        FederationError::Refused { reason, message } => {
            Failure::because(ErrorCode::AuthenticationRequired, reason, message)
        }
        FederationError::Failed(error) => error.into(),
    }
}
