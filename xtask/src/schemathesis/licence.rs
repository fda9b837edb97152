//! A vendor of our own, so that installing a licence can succeed: the program under test is built with its public
//! key, and the secret key stays in the target folder.

use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use pasetors::keys::{AsymmetricKeyPair, AsymmetricPublicKey, AsymmetricSecretKey, Generate};
use pasetors::version4::{PublicToken, V4};
use serde_json::json;

const KEY_ID: &str = "xtask";
/// Binds a signature to the licence's form.
const ASSERTION: &[u8] = b"heddle/licence/v1";

/// A key pair with which licences are signed.
pub struct Vendor {
    secret: AsymmetricSecretKey<V4>,
}

impl Vendor {
    /// The key pair of this checkout; made at its first use and kept, so that the program is not built anew each time.
    pub fn keep(folder: &Path) -> Result<Self> {
        let path = folder.join("vendor.key");
        let kept =
            std::fs::read_to_string(&path).ok().and_then(|text| URL_SAFE_NO_PAD.decode(text.trim()).ok());
        if let Some(secret) = kept.and_then(|bytes| AsymmetricSecretKey::from(&bytes).ok()) {
            return Ok(Self { secret });
        }
        let pair = AsymmetricKeyPair::<V4>::generate().context("no key pair")?;
        std::fs::write(&path, URL_SAFE_NO_PAD.encode(pair.secret.as_bytes()))
            .context("the key cannot be kept")?;
        Ok(Self { secret: pair.secret })
    }

    /// The public key as the build takes it.
    pub fn public(&self) -> Result<String> {
        let public = AsymmetricPublicKey::<V4>::try_from(&self.secret).context("no public key")?;
        Ok(format!("{KEY_ID}={}", URL_SAFE_NO_PAD.encode(public.as_bytes())))
    }

    /// A licence for any installation with everything, for a year.
    pub fn licence(&self) -> Result<String> {
        let now = Timestamp::now();
        let at = |days: i64| {
            let time = now + SignedDuration::from_hours(24 * days);
            time.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()
        };
        let claims = json!({
            "v": 1, "jti": format!("licence-{}", now.as_millisecond()), "sub": "Test customer",
            "iat": at(0), "nbf": at(-1), "exp": at(365), "graceDays": 14, "installationId": "*",
            "kind": "production", "entitlements": {"workflow.enabled": true, "vector.enabled": true}, "limits": {},
        });
        let footer = json!({ "kid": KEY_ID }).to_string();
        let token = PublicToken::sign(
            &self.secret,
            claims.to_string().as_bytes(),
            Some(footer.as_bytes()),
            Some(ASSERTION),
        )
        .context("the licence cannot be signed")?;
        Ok(format!("-----BEGIN HEDDLE LICENCE-----\n{token}\n-----END HEDDLE LICENCE-----\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_kept_and_licences_are_signed_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (Vendor::keep(folder.path()).unwrap(), Vendor::keep(folder.path()).unwrap());
        assert_eq!(first.public().unwrap(), second.public().unwrap());
        assert!(first.public().unwrap().starts_with("xtask="));
        let text = first.licence().unwrap();
        let token = text.lines().nth(1).unwrap();
        let token = pasetors::token::UntrustedToken::<pasetors::Public, V4>::try_from(token).unwrap();
        let public = AsymmetricPublicKey::<V4>::try_from(&first.secret).unwrap();
        assert!(PublicToken::verify(&public, &token, None, Some(ASSERTION)).is_ok());
    }
}
