//! The steps of a sign-in: the way to the provider, and the code that comes back.

use std::time::Duration;

use heddle_egress::{Egress, EgressError, HeaderValue, Limits, Method, OutRequest, StatusCode, header};
use openidconnect::core::{CoreAuthenticationFlow, CoreClient, CoreErrorResponseType, CoreTokenResponse};
use openidconnect::{
    AuthType, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointMaybeSet, EndpointNotSet,
    EndpointSet, Nonce, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope,
    StandardErrorResponse,
};
use serde_json::{Map, Value};
use url::Url;

use crate::error::OidcError;
use crate::metadata::{Known, Outward};
use crate::settings::{ClientAuthentication, Settings};

/// Secrets of a sign-in that was begun. They belong to one browser and one sign-in.
#[derive(Clone, PartialEq, Eq)]
pub struct Secrets {
    /// Text that comes back from the provider with the code.
    pub state: String,
    /// Text that comes back in the ID token.
    pub nonce: String,
    /// PKCE's verifier: 43 to 128 letters and digits, which only we know until the code is exchanged.
    pub verifier: String,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(..)")
    }
}

impl Secrets {
    fn verifier(&self) -> Result<PkceCodeVerifier, OidcError> {
        // The library panics on any other length.
        match (43..=128).contains(&self.verifier.len()) {
            true => Ok(PkceCodeVerifier::new(self.verifier.clone())),
            false => Err(OidcError::unbelieved("the verifier has a length that PKCE does not know")),
        }
    }
}

/// Answer of the authorization endpoint, as the browser brought it.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The code.
    pub code: &'a str,
    /// The issuer that the answer names (`iss`, RFC 9207).
    pub issuer: Option<&'a str>,
}

type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

fn client(settings: &Settings, known: &Known, redirect: &str) -> Result<Client, OidcError> {
    let redirect = RedirectUrl::new(redirect.to_owned())
        .map_err(|error| OidcError::Unavailable(format!("the address of this service: {error}")))?;
    let secret = settings.client_secret.as_ref().map(|secret| ClientSecret::new(secret.expose().to_owned()));
    let way = match settings.client_authentication {
        ClientAuthentication::Basic => AuthType::BasicAuth,
        ClientAuthentication::Post => AuthType::RequestBody,
    };
    let id = ClientId::new(settings.client_id.clone());
    let client = CoreClient::from_provider_metadata((*known.description).clone(), id, secret);
    Ok(client.set_redirect_uri(redirect).set_auth_type(way))
}

/// Address of the provider at which the person signs in.
pub(crate) fn way(
    settings: &Settings,
    known: &Known,
    redirect: &str,
    secrets: &Secrets,
) -> Result<Url, OidcError> {
    let client = client(settings, known, redirect)?;
    let challenge = PkceCodeChallenge::from_code_verifier_sha256(&secrets.verifier()?);
    let (state, nonce) = (secrets.state.clone(), secrets.nonce.clone());
    let mut request = client
        .authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            move || CsrfToken::new(state),
            move || Nonce::new(nonce),
        )
        .set_pkce_challenge(challenge);
    for scope in settings.scopes.iter().filter(|scope| *scope != "openid") {
        request = request.add_scope(Scope::new(scope.clone()));
    }
    let (url, _, _) = request.url();
    Ok(url)
}

/// Holds the issuer that an answer names against the one that was asked (RFC 9207, 2.4): the code of another provider
/// goes to no token endpoint of this one.
pub(crate) fn same_issuer(answer: Answer<'_>, known: &Known) -> Result<(), OidcError> {
    let asked = known.description.issuer().as_str();
    let always = known.description.additional_metadata().authorization_response_iss_parameter_supported;
    match answer.issuer {
        Some(told) if told == asked => Ok(()),
        None if !always => Ok(()),
        Some(_) | None => {
            let message = "The answer is not one of the provider that was asked.";
            let cause = "`iss` of the answer is missing or another".to_owned();
            Err(OidcError::Refused { reason: "otherIssuer", message, cause })
        }
    }
}

/// Exchanges a code for tokens.
pub(crate) async fn tokens<C: Outward>(
    settings: &Settings,
    known: &Known,
    redirect: &str,
    code: &str,
    secrets: &Secrets,
    outward: &C,
) -> Result<CoreTokenResponse, OidcError> {
    let client = client(settings, known, redirect)?;
    let request = client
        .exchange_code(AuthorizationCode::new(code.to_owned()))
        .map_err(|error| OidcError::Unavailable(error.to_string()))?;
    let verifier = secrets.verifier()?;
    let answer = request.set_pkce_verifier(verifier).request_async(outward).await;
    answer.map_err(refusal)
}

type TokenError = RequestTokenError<EgressError, StandardErrorResponse<CoreErrorResponseType>>;

fn refusal(error: TokenError) -> OidcError {
    match error {
        RequestTokenError::ServerResponse(told) if *told.error() == CoreErrorResponseType::InvalidGrant => {
            OidcError::unknown_code("invalid_grant")
        }
        // What else it says is about our own settings there: no fault of the person's.
        RequestTokenError::ServerResponse(told) => {
            OidcError::Unavailable(format!("the token endpoint refused this installation: {}", told.error()))
        }
        RequestTokenError::Request(cause) => OidcError::Unavailable(format!("the token endpoint: {cause}")),
        RequestTokenError::Parse(cause, _) => {
            OidcError::Unavailable(format!("the token endpoint's answer can't be read: {cause}"))
        }
        RequestTokenError::Other(cause) => OidcError::Unavailable(format!("the token endpoint: {cause}")),
    }
}

/// Claims that the provider tells beside the ID token (OpenID Connect Core 1.0, 5.3).
pub(crate) async fn user_info(
    egress: &Egress,
    scope: &str,
    known: &Known,
    access: &str,
) -> Result<Map<String, Value>, OidcError> {
    let Some(endpoint) = known.description.userinfo_endpoint() else { return Ok(Map::new()) };
    let away = |cause: String| OidcError::Unavailable(format!("the user info endpoint: {cause}"));
    let mut bearer = HeaderValue::from_str(&format!("Bearer {access}"))
        .map_err(|_illegal| away("the access token can't be sent".to_owned()))?;
    bearer.set_sensitive(true);
    let limits = Limits { total: Duration::from_secs(15), body_bytes: 1 << 20, ..Limits::default() };
    let request = OutRequest::new(Method::GET, endpoint.url().as_str())
        .map_err(|error| away(error.to_string()))?
        .with_header(header::AUTHORIZATION, bearer)
        .with_header(header::ACCEPT, HeaderValue::from_static("application/json"))
        .with_limits(limits)
        .with_scope(scope);
    let answer = egress.send(request).await.map_err(|error| away(error.to_string()))?;
    if answer.status != StatusCode::OK {
        return Err(away(format!("status {}", answer.status.as_u16())));
    }
    serde_json::from_slice(&answer.body).map_err(|error| away(error.to_string()))
}
