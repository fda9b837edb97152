//! The proof of an ID token.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use heddle_kernel::Timestamp;
use openidconnect::core::{CoreIdToken, CoreIdTokenVerifier, CoreJwsSigningAlgorithm};
use openidconnect::{
    AccessToken, AccessTokenHash, ClaimsVerificationError, ClientId, IssuerUrl, Nonce,
    SignatureVerificationError,
};
use serde_json::{Map, Value};

use crate::error::OidcError;
use crate::metadata::Known;
use crate::settings::Settings;

/// Algorithms that are taken: of two keys, none that is a shared secret, and never none.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// Seconds by which the provider's clock may differ from ours.
const LEEWAY_SECONDS: i64 = 60;
/// Seconds that may lie between the making of a token and its use: it comes straight from the provider.
const OLDEST_SECONDS: i64 = 300;

/// Outcome of a proof that failed.
pub(crate) enum Unproved {
    /// None of the known keys can have signed it.
    UnknownKey,
    /// Refusal.
    Refused(OidcError),
}

/// A token to prove.
pub(crate) struct Presented<'a> {
    pub(crate) token: &'a CoreIdToken,
    pub(crate) access: &'a AccessToken,
    pub(crate) nonce: &'a str,
    pub(crate) now: Timestamp,
}

fn refused(cause: impl Into<String>) -> Unproved {
    Unproved::Refused(OidcError::unbelieved(cause))
}

fn instant(at: Timestamp, seconds: i64) -> Result<DateTime<Utc>, Unproved> {
    DateTime::from_timestamp_micros(at.plus_seconds(seconds).micros())
        .ok_or_else(|| refused("the present time is out of range"))
}

/// Proves a token; gives all of its claims.
pub(crate) fn prove(
    presented: &Presented<'_>,
    known: &Known,
    settings: &Settings,
) -> Result<Map<String, Value>, Unproved> {
    let Presented { token, access, nonce, now } = *presented;
    let issuer = IssuerUrl::new(settings.issuer.clone()).map_err(|error| refused(error.to_string()))?;
    let client = ClientId::new(settings.client_id.clone());
    let (late, soon) = (instant(now, -LEEWAY_SECONDS)?, instant(now, LEEWAY_SECONDS)?);
    let earliest = instant(now, -OLDEST_SECONDS)?;
    let verifier = CoreIdTokenVerifier::new_public_client(client.clone(), issuer, (*known.keys).clone())
        .set_allowed_algs(ALGORITHMS)
        .set_time_fn(move || late)
        .set_issue_time_verifier_fn(move |issued| match issued {
            issued if issued > soon => Err("the token was made in the future".to_owned()),
            issued if issued < earliest => Err("the token was made long ago".to_owned()),
            _ => Ok(()),
        });
    let claims = token.claims(&verifier, &Nonce::new(nonce.to_owned())).map_err(|error| match error {
        ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey) => {
            Unproved::UnknownKey
        }
        other => refused(other.to_string()),
    })?;
    if claims.authorized_party().is_some_and(|party| party.as_str() != client.as_str()) {
        return Err(refused("the token was made for another client (azp)"));
    }
    if let Some(told) = claims.access_token_hash() {
        let algorithm = token.signing_alg().map_err(|error| refused(error.to_string()))?;
        let key = token.signing_key(&verifier).map_err(|error| refused(error.to_string()))?;
        let right = AccessTokenHash::from_token(access, algorithm, key);
        let right = right.map_err(|error| refused(error.to_string()))?;
        if right.as_str() != told.as_str() {
            return Err(refused("the access token is not the one of the ID token (at_hash)"));
        }
    }
    let all = payload(token).ok_or_else(|| refused("the claims can't be read"))?;
    let starts = all.get("nbf").and_then(Value::as_f64);
    if starts.is_some_and(|starts| starts > soon.timestamp() as f64) {
        return Err(refused("the token does not hold yet (nbf)"));
    }
    Ok(all)
}

/// All claims of a token: the text whose signature was proved.
fn payload(token: &CoreIdToken) -> Option<Map<String, Value>> {
    let text = token.to_string();
    let bytes = URL_SAFE_NO_PAD.decode(text.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&bytes).ok()
}
