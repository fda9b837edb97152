//! Signatures of calls that come in: Standard Webhooks, GitHub and Stripe. Compared in constant time; a time that a signature
//! carries is held against the clock, so that a call that was overheard is of no use later.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heddle_kernel::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::records::SignatureScheme;
use crate::secret::Secret;
use crate::types::signing_key;

/// Most signatures of one call that are looked at.
const SIGNATURES: usize = 10;

/// Reason for which a signature is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    /// A header is missing, or is not of its form.
    #[error("the call has no signature of the manner that the hook asks for")]
    Missing,
    /// The signature's time is too far from now.
    #[error("the signature's time is too far from the present time")]
    Stale,
    /// No signature is of one of the secrets.
    #[error("the signature does not fit the call")]
    Wrong,
}

/// A call as it is signed.
#[derive(Clone, Copy)]
pub(super) struct SignedCall<'a> {
    /// Headers, by their names in small letters.
    pub headers: &'a [(String, String)],
    /// The body as it came.
    pub body: &'a [u8],
    /// Instant of the call.
    pub now: Timestamp,
}

impl<'a> SignedCall<'a> {
    /// The value of a header that stands in the call once; of one that is repeated nobody knows which counts.
    pub(super) fn header(self, name: &str) -> Option<&'a str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value);
        found.next().filter(|_| found.next().is_none()).map(String::as_str)
    }

    /// The sender's own id of the message, where the signature is over it: by another one a call that was overheard would
    /// be a new one.
    pub(super) fn message_id(self, scheme: Option<SignatureScheme>) -> Option<&'a str> {
        let id = match scheme? {
            SignatureScheme::StandardWebhooks => self.header("webhook-id"),
            // GitHub signs the body alone, and no time; Stripe's id stands in the body.
            SignatureScheme::Github | SignatureScheme::Stripe => None,
        };
        id.filter(|id| !id.is_empty())
    }

    /// Checks the signature with each of the secrets.
    ///
    /// # Errors
    /// [`SignatureFault`].
    pub(super) fn verify(
        self,
        scheme: SignatureScheme,
        tolerance_seconds: u32,
        secrets: &[Secret],
    ) -> Result<(), SignatureFault> {
        match scheme {
            SignatureScheme::StandardWebhooks => self.standard_webhooks(tolerance_seconds, secrets),
            SignatureScheme::Github => self.github(secrets),
            SignatureScheme::Stripe => self.stripe(tolerance_seconds, secrets),
        }
    }

    fn standard_webhooks(self, tolerance: u32, secrets: &[Secret]) -> Result<(), SignatureFault> {
        let header = |name| self.header(name).ok_or(SignatureFault::Missing);
        let (id, time, given) =
            (header("webhook-id")?, header("webhook-timestamp")?, header("webhook-signature")?);
        self.is_fresh(time, tolerance)?;
        let given: Vec<Vec<u8>> = given
            .split(' ')
            .filter_map(|one| one.strip_prefix("v1,"))
            .take(SIGNATURES)
            .filter_map(|text| STANDARD.decode(text).ok())
            .collect();
        let keys = secrets.iter().filter_map(|secret| signing_key(secret.expose()));
        let parts = [id.as_bytes(), b".", time.as_bytes(), b".", self.body];
        fits(keys, &parts, &given)
    }

    fn github(self, secrets: &[Secret]) -> Result<(), SignatureFault> {
        let text = self.header("x-hub-signature-256").and_then(|text| text.strip_prefix("sha256="));
        let given = text.and_then(unhex).ok_or(SignatureFault::Missing)?;
        let keys = secrets.iter().map(|secret| secret.expose().as_bytes());
        fits(keys, &[self.body], &[given])
    }

    fn stripe(self, tolerance: u32, secrets: &[Secret]) -> Result<(), SignatureFault> {
        let text = self.header("stripe-signature").ok_or(SignatureFault::Missing)?;
        let parts = || text.split(',').filter_map(|part| part.trim().split_once('='));
        let time = parts().find(|(name, _)| *name == "t").ok_or(SignatureFault::Missing)?.1;
        self.is_fresh(time, tolerance)?;
        let given: Vec<Vec<u8>> = parts()
            .filter(|(name, _)| *name == "v1")
            .take(SIGNATURES)
            .filter_map(|(_, text)| unhex(text))
            .collect();
        let keys = secrets.iter().map(|secret| secret.expose().as_bytes());
        fits(keys, &[time.as_bytes(), b".", self.body], &given)
    }

    /// Checks that a time in seconds since 1970 is near to now.
    fn is_fresh(self, time: &str, tolerance: u32) -> Result<(), SignatureFault> {
        let Ok(seconds) = time.parse::<i64>() else {
            return Err(SignatureFault::Missing);
        };
        let now = self.now.micros().div_euclid(1_000_000);
        match now.abs_diff(seconds) <= u64::from(tolerance) {
            true => Ok(()),
            false => Err(SignatureFault::Stale),
        }
    }
}

/// Whether one of the given signatures is that of the parts with one of the keys.
fn fits<K: AsRef<[u8]>>(
    keys: impl Iterator<Item = K>,
    parts: &[&[u8]],
    given: &[Vec<u8>],
) -> Result<(), SignatureFault> {
    if given.is_empty() {
        return Err(SignatureFault::Missing);
    }
    for key in keys {
        // HMAC takes a key of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_ref()) else { continue };
        for part in parts {
            mac.update(part);
        }
        if given.iter().any(|one| mac.clone().verify_slice(one).is_ok()) {
            return Ok(());
        }
    }
    Err(SignatureFault::Wrong)
}

/// Bytes of a text in hex; none when it is not one.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some((digit(*high)? << 4) | digit(*low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call<'a>(headers: &'a [(String, String)], body: &'a [u8], seconds: i64) -> SignedCall<'a> {
        SignedCall { headers, body, now: Timestamp::from_micros(seconds * 1_000_000) }
    }

    fn headers(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_example_of_standard_webhooks_is_taken_and_no_change_of_it() {
        let secret = [Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
        let body: &[u8] = br#"{"test": 2432232314}"#;
        let signed = headers(&[
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            ("webhook-timestamp", "1614265330"),
            ("webhook-signature", "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        ]);
        let verify = |body: &[u8], now| {
            call(&signed, body, now).verify(SignatureScheme::StandardWebhooks, 300, &secret)
        };
        assert_eq!(verify(body, 1_614_265_330), Ok(()));
        assert_eq!(verify(body, 1_614_265_630), Ok(()));
        assert_eq!(verify(body, 1_614_265_631), Err(SignatureFault::Stale));
        assert_eq!(verify(body, 1_614_265_029), Err(SignatureFault::Stale));
        assert_eq!(verify(b"{}", 1_614_265_330), Err(SignatureFault::Wrong));
        let other = [Secret::new("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")];
        let wrong = call(&signed, body, 1_614_265_330).verify(SignatureScheme::StandardWebhooks, 300, &other);
        assert_eq!(wrong, Err(SignatureFault::Wrong));
        let bare = call(&[], body, 0).verify(SignatureScheme::StandardWebhooks, 300, &secret);
        assert_eq!(bare, Err(SignatureFault::Missing));
    }

    #[test]
    fn the_example_of_github_is_taken_also_with_the_secret_of_before() {
        let signed = headers(&[(
            "x-hub-signature-256",
            "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        )]);
        let secret = Secret::new("It's a Secret to Everybody");
        let verify = |body: &[u8], secrets: &[Secret]| {
            call(&signed, body, 0).verify(SignatureScheme::Github, 300, secrets)
        };
        assert_eq!(verify(b"Hello, World!", std::slice::from_ref(&secret)), Ok(()));
        assert_eq!(verify(b"Hello, World!", &[Secret::new("new"), secret.clone()]), Ok(()));
        assert_eq!(verify(b"Hello, World?", &[secret]), Err(SignatureFault::Wrong));
        assert_eq!(verify(b"Hello, World!", &[]), Err(SignatureFault::Wrong));
        let twice = headers(&[("x-hub-signature-256", "sha256=00"), ("x-hub-signature-256", "sha256=01")]);
        let doubled = call(&twice, b"", 0).verify(SignatureScheme::Github, 300, &[Secret::new("s")]);
        assert_eq!(doubled, Err(SignatureFault::Missing));
    }

    #[test]
    fn stripe_signs_its_time() {
        let (secret, body) = (Secret::new("whsec_test"), b"{\"id\":\"evt_1\"}");
        let mut mac = Hmac::<Sha256>::new_from_slice(b"whsec_test").unwrap();
        mac.update(b"1700000000.");
        mac.update(body);
        let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        let signed = headers(&[("stripe-signature", &format!("t=1700000000, v1=00, v1={hex}, v0=ff"))]);
        let verify =
            |now| call(&signed, body, now).verify(SignatureScheme::Stripe, 60, std::slice::from_ref(&secret));
        assert_eq!(verify(1_700_000_060), Ok(()));
        assert_eq!(verify(1_700_000_061), Err(SignatureFault::Stale));
        let other = headers(&[("stripe-signature", &format!("t=1700000001,v1={hex}"))]);
        let moved = call(&other, body, 1_700_000_000).verify(SignatureScheme::Stripe, 60, &[secret]);
        assert_eq!(moved, Err(SignatureFault::Wrong));
    }
}
