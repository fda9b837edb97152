//! One-time codes by time (RFC 6238: HMAC-SHA-1, six digits, steps of 30 seconds), and the recovery codes that stand in for
//! them.

use data_encoding::{BASE32, BASE32_NOPAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use subtle::ConstantTimeEq as _;

use heddle_kernel::{Timestamp, UserId};
use heddle_usecase::sha256_hex;

use crate::{UseCaseError, token};

/// Length of a secret in bytes: as long as the hash (RFC 4226, section 4).
pub(crate) const SECRET_BYTES: usize = 20;
/// Number of recovery codes that an enrolment gives.
pub(crate) const RECOVERY_CODES: usize = 10;

/// Seconds of a time step.
const STEP_SECONDS: i64 = 30;
/// Steps before and after the present one whose codes are taken: clocks differ, and people type slowly.
const WINDOW: i64 = 1;
/// Digits of a code.
const DIGITS: usize = 6;
/// Bytes of a recovery code: 120 bits, so that no slow hash is needed.
const RECOVERY_BYTES: usize = 15;
/// Letters of a recovery code.
const RECOVERY_LETTERS: usize = 24;
/// Letters of a recovery code between two hyphens.
const GROUP: usize = 4;

/// A code as somebody typed it, without spaces and hyphens.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum TypedCode {
    /// Six digits.
    Digits(String),
    /// Text of a recovery code, in capitals.
    Recovery(String),
}

impl std::fmt::Debug for TypedCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TypedCode(..)")
    }
}

impl TypedCode {
    /// Code of a text; none for one that can't be a code.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let bare = |letter: &char| !letter.is_whitespace() && *letter != '-';
        // One more than any code has is enough to tell that it is none.
        let typed: String = text.chars().filter(bare).take(RECOVERY_LETTERS + 1).collect();
        if typed.len() == DIGITS && typed.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Self::Digits(typed));
        }
        let typed = typed.to_ascii_uppercase();
        let is_base32 = |byte: u8| byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte);
        (typed.len() == RECOVERY_LETTERS && typed.bytes().all(is_base32)).then_some(Self::Recovery(typed))
    }
}

/// Earliest step behind `last` in the window around now whose code this is; none when there is no such step.
///
/// # Errors
/// `Internal` when the secret can't be used.
pub(crate) fn matching_step(
    secret: &[u8],
    code: &str,
    last: i64,
    now: Timestamp,
) -> Result<Option<i64>, UseCaseError> {
    let present = step_of(now);
    let mut found = None;
    for step in (present - WINDOW..=present + WINDOW).filter(|step| *step > last) {
        let fits: bool = code_at(secret, step)?.as_bytes().ct_eq(code.as_bytes()).into();
        found = found.or(fits.then_some(step));
    }
    Ok(found)
}

/// Time step of an instant.
fn step_of(now: Timestamp) -> i64 {
    now.micros().div_euclid(STEP_SECONDS * 1_000_000)
}

/// Code of a step (RFC 4226, section 5.3).
fn code_at(secret: &[u8], step: i64) -> Result<String, UseCaseError> {
    let mac = Hmac::<Sha1>::new_from_slice(secret);
    let mut mac = mac.map_err(|error| UseCaseError::Internal(format!("one-time codes: {error}")))?;
    mac.update(&step.to_be_bytes());
    let hash: [u8; 20] = mac.finalize().into_bytes().into();
    let offset = hash.last().map_or(0, |last| usize::from(last & 0x0f));
    let word = hash.iter().skip(offset).take(4).fold(0_u32, |word, byte| (word << 8) | u32::from(*byte));
    Ok(format!("{:06}", (word & 0x7fff_ffff) % 1_000_000))
}

/// Text of a secret, for typing it into an authenticator.
pub(crate) fn secret_text(secret: &[u8]) -> String {
    BASE32_NOPAD.encode(secret)
}

/// Address of a secret that authenticators read as a QR code.
pub(crate) fn otpauth_uri(secret: &[u8], email: &str) -> String {
    format!(
        "otpauth://totp/Heddle:{}?secret={}&issuer=Heddle&algorithm=SHA1&digits={DIGITS}&period={STEP_SECONDS}",
        percent_encoded(email),
        secret_text(secret),
    )
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// New recovery codes, in small letters with hyphens.
///
/// # Errors
/// `Internal` when the system gives no random bytes.
pub(crate) fn new_recovery_codes() -> Result<Vec<String>, UseCaseError> {
    let mut codes = Vec::with_capacity(RECOVERY_CODES);
    for _ in 0..RECOVERY_CODES {
        let bytes = token::random_bytes::<RECOVERY_BYTES>()?;
        codes.push(grouped(&BASE32.encode(&bytes)));
    }
    Ok(codes)
}

fn grouped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + text.len() / GROUP);
    for (at, letter) in text.chars().enumerate() {
        if at > 0 && at % GROUP == 0 {
            shown.push('-');
        }
        shown.push(letter.to_ascii_lowercase());
    }
    shown
}

/// SHA-256 under which a recovery code of an account is kept, in lower-case hex.
pub(crate) fn recovery_sha256(user: UserId, code: &str) -> String {
    sha256_hex(format!("recovery-code|{user}|{code}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"12345678901234567890";

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn codes_are_those_of_the_standard() {
        // RFC 6238, appendix B, the last six of its eight digits.
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(code_at(SECRET, step_of(at(seconds))).unwrap(), code, "{seconds}");
        }
    }

    #[test]
    fn a_code_counts_in_its_step_and_one_around_it_and_once() {
        let made = at(1_111_111_111);
        let step = step_of(made);
        let code = code_at(SECRET, step).unwrap();
        let found = |last: i64, now: Timestamp| matching_step(SECRET, &code, last, now).unwrap();
        for seconds in [-30, 0, 30] {
            assert_eq!(found(-1, made.plus_seconds(seconds)), Some(step), "{seconds}");
        }
        for seconds in [-60, 60] {
            assert_eq!(found(-1, made.plus_seconds(seconds)), None, "{seconds}");
        }
        assert_eq!(found(step, made), None, "used before");
        assert_eq!(matching_step(SECRET, "", -1, made).unwrap(), None);
        assert_eq!(matching_step(SECRET, &code[..5], -1, made).unwrap(), None);
    }

    #[test]
    fn a_code_is_read_however_it_is_typed() {
        assert_eq!(TypedCode::read(" 123 456"), Some(TypedCode::Digits("123456".to_owned())));
        for wrong in
            ["", "12345", "1234567", "12345a", "１２３４５６", "abcd-efgh", "abcd-efgh-ijkl-mnop-qrst-uvw1"]
        {
            assert_eq!(TypedCode::read(wrong), None, "{wrong}");
        }
        let code = &new_recovery_codes().unwrap()[0];
        let bare = code.replace('-', "").to_uppercase();
        assert_eq!(TypedCode::read(code), Some(TypedCode::Recovery(bare.clone())));
        assert_eq!(TypedCode::read(&bare), Some(TypedCode::Recovery(bare)));
    }

    #[test]
    fn recovery_codes_do_not_repeat_and_are_kept_for_one_account() {
        let codes: std::collections::BTreeSet<String> = new_recovery_codes().unwrap().into_iter().collect();
        assert_eq!(codes.len(), RECOVERY_CODES);
        assert!(codes.iter().all(|code| code.len() == 29 && code.split('-').all(|part| part.len() == 4)));
        let (one, other) = (UserId(uuid::Uuid::from_u128(1)), UserId(uuid::Uuid::from_u128(2)));
        assert_ne!(recovery_sha256(one, "A"), recovery_sha256(other, "A"));
    }

    #[test]
    fn an_authenticator_reads_the_address() {
        assert_eq!(secret_text(SECRET), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        let uri = otpauth_uri(SECRET, "ada+x@example.com");
        assert!(uri.starts_with("otpauth://totp/Heddle:ada%2Bx%40example.com?secret=GEZDGNBV"), "{uri}");
        assert!(uri.ends_with("&issuer=Heddle&algorithm=SHA1&digits=6&period=30"), "{uri}");
    }
}
