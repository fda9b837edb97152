//! A sign-in that was begun and not finished: it is in the browser that began it, under a code that only the installation's
//! key makes. The server keeps nothing of it until it comes back, so that strangers who begin many fill nothing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use heddle_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::UseCaseError;
use crate::key::InstallationKey;
use crate::token::random_bytes;

/// Seconds in which a sign-in that was begun can be finished.
pub const SIGN_IN_SECONDS: i64 = 600;

/// The longest path to which somebody is led after a sign-in, in bytes.
const LONGEST_PATH: usize = 1_000;

/// A sign-in that was begun.
#[derive(Clone, PartialEq, Eq)]
pub struct BegunSignIn {
    /// Cookie that the browser keeps of it until it comes back.
    pub cookie: String,
    /// Text that comes back from the provider.
    pub state: String,
    /// Text that comes back in the provider's token.
    pub nonce: String,
    /// PKCE's verifier.
    pub verifier: String,
}

/// A sign-in that came back to the browser that began it.
#[derive(Clone, PartialEq, Eq)]
pub struct ResumedSignIn {
    /// Text that came back from the provider.
    pub state: String,
    /// Text that must be in the provider's token.
    pub nonce: String,
    /// PKCE's verifier.
    pub verifier: String,
    /// Path of this service to which the browser is led.
    pub return_to: String,
    pub(super) until: Timestamp,
}

impl std::fmt::Debug for BegunSignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BegunSignIn(..)")
    }
}

impl std::fmt::Debug for ResumedSignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResumedSignIn").field("return_to", &self.return_to).finish_non_exhaustive()
    }
}

#[derive(Serialize, Deserialize)]
struct Pending {
    provider: String,
    state: String,
    seed: String,
    return_to: String,
    until: i64,
}

/// Whether a text is a path of this service: nothing that a browser would take for another place.
pub(super) fn is_own_path(text: &str) -> bool {
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    plain && text.len() <= LONGEST_PATH && text.starts_with('/') && !text.starts_with("//")
}

/// Begins a sign-in.
pub(super) fn begin(
    key: &InstallationKey,
    provider: &str,
    return_to: &str,
    now: Timestamp,
) -> Result<BegunSignIn, UseCaseError> {
    let random = || Ok::<_, UseCaseError>(URL_SAFE_NO_PAD.encode(random_bytes::<32>()?));
    let pending = Pending {
        provider: provider.to_owned(),
        state: random()?,
        seed: random()?,
        return_to: return_to.to_owned(),
        until: now.plus_seconds(SIGN_IN_SECONDS).micros(),
    };
    let json = serde_json::to_vec(&pending)
        .map_err(|error| UseCaseError::Internal(format!("a sign-in can't be written: {error}")))?;
    let payload = URL_SAFE_NO_PAD.encode(json);
    let code = key.sign_in_code(&[b"pending", payload.as_bytes()])?;
    Ok(BegunSignIn {
        cookie: format!("{payload}.{code}"),
        nonce: derived(key, b"nonce", &pending)?,
        verifier: derived(key, b"verifier", &pending)?,
        state: pending.state,
    })
}

/// A secret of a sign-in. Neither the browser nor whoever reads the database can make it.
fn derived(key: &InstallationKey, purpose: &[u8], pending: &Pending) -> Result<String, UseCaseError> {
    key.sign_in_code(&[purpose, pending.seed.as_bytes(), pending.state.as_bytes()])
}

/// The sign-in of a cookie: begun here, with this provider and this state, and not too long ago.
pub(super) fn resume(
    key: &InstallationKey,
    provider: &str,
    state: &str,
    cookie: &str,
    now: Timestamp,
) -> Result<Option<ResumedSignIn>, UseCaseError> {
    let Some((payload, code)) = cookie.split_once('.') else { return Ok(None) };
    let right = key.sign_in_code(&[b"pending", payload.as_bytes()])?;
    let genuine: bool = right.as_bytes().ct_eq(code.as_bytes()).into();
    let bytes = URL_SAFE_NO_PAD.decode(payload).ok().filter(|_| genuine);
    let pending = bytes.and_then(|bytes| serde_json::from_slice::<Pending>(&bytes).ok());
    let Some(pending) = pending else { return Ok(None) };
    let same: bool = pending.state.as_bytes().ct_eq(state.as_bytes()).into();
    let until = Timestamp::from_micros(pending.until);
    if !same || pending.provider != provider || now >= until {
        return Ok(None);
    }
    Ok(Some(ResumedSignIn {
        nonce: derived(key, b"nonce", &pending)?,
        verifier: derived(key, b"verifier", &pending)?,
        state: pending.state,
        return_to: pending.return_to,
        until,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn key(byte: u8) -> InstallationKey {
        InstallationKey::new([byte; 32]).unwrap()
    }

    #[test]
    fn a_sign_in_comes_back_to_its_browser_its_provider_and_in_time() {
        let begun = begin(&key(7), "corporate", "/docs", NOW).unwrap();
        let of = |byte, provider: &str, state: &str, cookie: &str, now| {
            resume(&key(byte), provider, state, cookie, now).unwrap()
        };
        let found = of(7, "corporate", &begun.state, &begun.cookie, NOW).unwrap();
        assert_eq!((&found.nonce, &found.verifier), (&begun.nonce, &begun.verifier));
        assert_eq!((found.return_to.as_str(), found.verifier.len()), ("/docs", 64));
        let late = NOW.plus_seconds(SIGN_IN_SECONDS);
        assert_eq!(of(7, "corporate", &begun.state, &begun.cookie, late), None);
        assert_eq!(of(7, "other", &begun.state, &begun.cookie, NOW), None);
        assert_eq!(of(7, "corporate", "another", &begun.cookie, NOW), None);
        assert_eq!(of(7, "corporate", "", &begun.cookie, NOW), None);
        assert_eq!(of(8, "corporate", &begun.state, &begun.cookie, NOW), None);
        let other = begin(&key(7), "corporate", "/docs", NOW).unwrap();
        assert_eq!(of(7, "corporate", &begun.state, &other.cookie, NOW), None);
        for forged in ["", ".", "e30.00", &begun.cookie[1..], &format!("{}0", begun.cookie)] {
            assert_eq!(of(7, "corporate", &begun.state, forged, NOW), None, "{forged}");
        }
    }

    #[test]
    fn the_browser_does_not_learn_the_verifier() {
        let begun = begin(&key(7), "corporate", "/docs", NOW).unwrap();
        let payload = URL_SAFE_NO_PAD.decode(begun.cookie.split('.').next().unwrap()).unwrap();
        let text = String::from_utf8(payload).unwrap();
        assert!(!text.contains(&begun.verifier) && !text.contains(&begun.nonce), "{text}");
        assert!(!begun.cookie.contains(&begun.verifier));
        assert_ne!(begun.verifier, begun.nonce);
    }

    #[test]
    fn only_paths_of_this_service_are_led_to() {
        for own in ["/", "/docs", "/docs?signed-in=1#a", "/a//b", "/%5Cevil.test"] {
            assert!(is_own_path(own), "{own}");
        }
        let long = format!("/{}", "a".repeat(LONGEST_PATH));
        for other in [
            "",
            "docs",
            "//evil.test",
            "/\\evil.test",
            "\\\\evil.test",
            "https://evil.test",
            "/\t/evil.test",
            "/a\r\nset-cookie: a=b",
            "/ a",
            "/ä",
            "javascript:alert(1)",
            &long,
        ] {
            assert!(!is_own_path(other), "{other:?}");
        }
    }
}
