//! A licence of the vendor for tests, so that installing one can succeed: the program under test is built with the
//! feature `test-keys`, which accepts it.

use std::time::SystemTime;

use anyhow::{Context, Result};
use ed25519_compact::{KeyPair, Seed};
use heddle_kernel::Timestamp;
use pasetors::keys::AsymmetricSecretKey;
use pasetors::version4::{PublicToken, V4};
use serde_json::json;

const KEY_ID: &str = "test";
/// The seed of the key that builds for tests accept.
const SEED: [u8; 32] = [42; 32];
/// Binds a signature to the licence's form.
const ASSERTION: &[u8] = b"heddle/licence/v1";

/// A licence for any installation with everything, for a year from now on.
pub(crate) fn licence() -> Result<String> {
    licence_at(Timestamp::from(SystemTime::now()))
}

/// The same, issued at an instant.
pub(crate) fn licence_at(now: Timestamp) -> Result<String> {
    let pair = KeyPair::from_seed(Seed::new(SEED));
    let secret = AsymmetricSecretKey::<V4>::from(&*pair.sk).context("no key")?;
    let at = |days: i64| now.plus_seconds(24 * 3600 * days);
    let claims = json!({
        "v": 1, "jti": format!("licence-{}", now.micros() / 1000), "sub": "Test customer",
        "iat": at(0), "nbf": at(-1), "exp": at(365), "graceDays": 14, "installationId": "*",
        "kind": "production", "entitlements": {"workflow.enabled": true, "vector.enabled": true}, "limits": {},
    });
    let footer = json!({ "kid": KEY_ID }).to_string();
    let token =
        PublicToken::sign(&secret, claims.to_string().as_bytes(), Some(footer.as_bytes()), Some(ASSERTION))
            .context("the licence cannot be signed")?;
    Ok(format!("-----BEGIN HEDDLE LICENCE-----\n{token}\n-----END HEDDLE LICENCE-----\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pasetors::keys::AsymmetricPublicKey;

    #[test]
    fn licences_are_signed_with_the_key_for_tests() {
        let text = licence().unwrap();
        let token = text.lines().nth(1).unwrap();
        let token = pasetors::token::UntrustedToken::<pasetors::Public, V4>::try_from(token).unwrap();
        let pair = KeyPair::from_seed(Seed::new(SEED));
        let public = AsymmetricPublicKey::<V4>::from(&*pair.pk).unwrap();
        assert!(PublicToken::verify(&public, &token, None, Some(ASSERTION)).is_ok());
    }
}
