//! HTTP services: each kind of authentication, and their test.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heddle_connections::records::{OpenConnection, Phase};
use heddle_egress::{Egress, HeaderName, HeaderValue, Limits, Method, OutRequest, StatusCode, header};
use serde::Deserialize;
use tokio::time::timeout_at;
use url::{Url, form_urlencoded};

use crate::failure::{Failure, deadline, needed, needed_secret, tls_choice};

/// Bounds of a call whose answer is of no interest beyond its status.
pub(crate) fn limits() -> Limits {
    Limits { body_bytes: 64 << 10, unpacked_bytes: 64 << 10, ..Limits::default() }
}

/// A request to a connection's service.
pub(crate) fn request(connection: &OpenConnection, method: Method, url: &str) -> Result<OutRequest, Failure> {
    let request = OutRequest::new(method, url)?;
    let scope = connection.id.to_string();
    Ok(request.with_limits(limits()).with_tls(tls_choice(connection)?).with_scope(scope))
}

/// A header's value that no log shows.
pub(crate) fn sensitive(text: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_illegal| {
        Failure::lasting(Phase::Auth, "a secret has characters that no header can carry")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn basic(username: &str, password: &str) -> Result<HeaderValue, Failure> {
    sensitive(&format!("Basic {}", STANDARD.encode(format!("{username}:{password}"))))
}

/// The request with the connection's authentication.
pub(crate) async fn authenticated(
    egress: &Egress,
    connection: &OpenConnection,
    request: OutRequest,
) -> Result<OutRequest, Failure> {
    Ok(match connection.text("authentication").unwrap_or("none") {
        "none" => request,
        "basic" => {
            let password = needed_secret(connection, "password")?;
            request.with_header(header::AUTHORIZATION, basic(needed(connection, "username")?, password)?)
        }
        "bearer" => {
            let token = needed_secret(connection, "token")?;
            request.with_header(header::AUTHORIZATION, sensitive(&format!("Bearer {token}"))?)
        }
        "header" => {
            let name =
                HeaderName::from_bytes(needed(connection, "headerName")?.as_bytes()).map_err(|_illegal| {
                    Failure::lasting(Phase::Auth, "`config.headerName` is no header's name")
                })?;
            request.with_header(name, sensitive(needed_secret(connection, "headerValue")?)?)
        }
        "oauth2ClientCredentials" => {
            let token =
                token(egress, connection).await.map_err(|failure| failure.of("the token endpoint"))?;
            request.with_header(header::AUTHORIZATION, token)
        }
        other => {
            let message = format!("the authentication `{other}` is not one that this version knows");
            return Err(Failure::lasting(Phase::Auth, message));
        }
    })
}

/// The part of a token endpoint's answer that counts (RFC 6749, 5.1 and 5.2).
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    access_token: Option<String>,
    #[serde(default)]
    token_type: Option<String>,
    #[serde(default)]
    error: Option<String>,
}

/// Errors of RFC 6749, 5.2: words of the standard, which can be told.
const ERRORS: &[&str] = &[
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
];

/// The body of a token request (RFC 6749, 4.4.2).
fn form(connection: &OpenConnection) -> Result<String, Failure> {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("grant_type", "client_credentials");
    let scopes = connection.texts("scopes").join(" ");
    if !scopes.is_empty() {
        form.append_pair("scope", &scopes);
    }
    if let Some(audience) = connection.text("audience") {
        form.append_pair("audience", audience);
    }
    if connection.text("clientAuthentication") == Some("post") {
        form.append_pair("client_id", needed(connection, "clientId")?);
        form.append_pair("client_secret", needed_secret(connection, "clientSecret")?);
    }
    Ok(form.finish())
}

/// A token by the client credentials grant (RFC 6749, 4.4), as the value of the header.
async fn token(egress: &Egress, connection: &OpenConnection) -> Result<HeaderValue, Failure> {
    let mut request = request(connection, Method::POST, needed(connection, "tokenUrl")?)?
        .with_header(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"))
        .with_header(header::ACCEPT, HeaderValue::from_static("application/json"))
        .with_body(form(connection)?);
    if connection.text("clientAuthentication") != Some("post") {
        // Both are encoded as a form is, before they are joined (RFC 6749, 2.3.1).
        let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let client = encoded(needed(connection, "clientId")?);
        let secret = encoded(needed_secret(connection, "clientSecret")?);
        request = request.with_header(header::AUTHORIZATION, basic(&client, &secret)?);
    }
    let answer = egress.send(request).await?;
    let told: Option<Answer> = serde_json::from_slice(&answer.body).ok();
    if answer.status != StatusCode::OK {
        let word = told.and_then(|told| told.error).filter(|error| ERRORS.contains(&error.as_str()));
        let word = word.map(|word| format!(", `{word}`")).unwrap_or_default();
        let message = format!("no token was given (status {}{word})", answer.status.as_u16());
        return Err(match answer.status.is_server_error() {
            true => Failure::passing(Phase::Auth, message),
            false => Failure::lasting(Phase::Auth, message),
        });
    }
    let bearer = |kind: &str| kind.eq_ignore_ascii_case("bearer");
    match told {
        Some(Answer { access_token: Some(token), token_type, .. })
            if !token.is_empty() && token_type.as_deref().is_none_or(bearer) =>
        {
            sensitive(&format!("Bearer {token}"))
        }
        _ => Err(Failure::lasting(Phase::Auth, "the answer holds no bearer token")),
    }
}

/// Asks for the test path with the authentication.
pub(crate) async fn test(egress: &Egress, connection: &OpenConnection) -> Result<String, Failure> {
    let url = address(needed(connection, "baseUrl")?, connection.text("testPath").unwrap_or("/"))?;
    let request = request(connection, Method::GET, &url)?;
    // The token is a call of its own: both together have the time of one.
    let ends = deadline();
    let request = timeout_at(ends, authenticated(egress, connection, request))
        .await
        .map_err(|_elapsed| Failure::late(Phase::Auth))??;
    // The body is neither read nor kept.
    let answer =
        timeout_at(ends, egress.open(request)).await.map_err(|_elapsed| Failure::late(Phase::Request))??;
    judged(answer.status)
}

/// The address with a path: `/` is the address itself. What the path makes of it stays at its origin and below it.
fn address(base: &str, path: &str) -> Result<String, Failure> {
    let unusable = |message: &str| Failure::lasting(Phase::Request, message);
    let text = match path {
        "/" => base.to_owned(),
        path => format!("{}{path}", base.trim_end_matches('/')),
    };
    let parsed = |text: &str| Url::parse(text).map_err(|_reason| unusable("`config.baseUrl` is no address"));
    let (base, found) = (parsed(base)?, parsed(&text)?);
    let below = found.path().strip_prefix(base.path().trim_end_matches('/'));
    match below {
        Some(rest) if found.origin() == base.origin() && (rest.is_empty() || rest.starts_with('/')) => {
            Ok(text)
        }
        Some(_) | None => Err(unusable("`config.testPath` leads out of `config.baseUrl`")),
    }
}

/// Meaning of a status for a test.
pub(crate) fn judged(status: StatusCode) -> Result<String, Failure> {
    let code = status.as_u16();
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            Err(Failure::lasting(Phase::Auth, format!("the service refused the credentials (status {code})")))
        }
        StatusCode::TOO_MANY_REQUESTS => {
            Err(Failure::passing(Phase::Request, format!("the service wants fewer calls (status {code})")))
        }
        status if status.is_server_error() => {
            Err(Failure::passing(Phase::Request, format!("the service failed (status {code})")))
        }
        status if status.is_client_error() => {
            Err(Failure::lasting(Phase::Request, format!("the service refused the request (status {code})")))
        }
        _ => Ok(format!("the service answered (status {code})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_path_stands_below_the_address() {
        for (base, path, url) in [
            ("https://a.test", "/", "https://a.test"),
            ("https://a.test/api/", "/", "https://a.test/api/"),
            ("https://a.test/api/", "/health?x=1", "https://a.test/api/health?x=1"),
            ("https://a.test", "/@evil.test/", "https://a.test/@evil.test/"),
        ] {
            assert_eq!(address(base, path).unwrap(), url);
        }
        for (base, path) in [
            ("https://a.test/api", "/.."),
            ("https://a.test/api", "/../admin"),
            ("https://a.test/api", "/x/%2E%2e/.%2e/admin?x=1"),
            ("https://a.test/api", "/../apis"),
            ("https://a.test", "@evil.test/"),
            ("https://a.test", ".evil.test/"),
        ] {
            assert!(address(base, path).is_err(), "{base}{path}");
        }
    }

    #[test]
    fn a_status_says_the_phase() {
        for (code, phase) in [
            (200, None),
            (302, None),
            (401, Some(Phase::Auth)),
            (403, Some(Phase::Auth)),
            (404, Some(Phase::Request)),
            (429, Some(Phase::Request)),
            (503, Some(Phase::Request)),
        ] {
            let found = judged(StatusCode::from_u16(code).unwrap());
            assert_eq!(found.err().map(|failure| failure.phase), phase, "{code}");
        }
    }
}
