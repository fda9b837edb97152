//! Opaque tokens: a prefix, 43 random letters and digits (256 bits), and a CRC32 of these in six letters and digits, by
//! which a scanner for leaked secrets knows one without asking anybody: `\bhd[hlks]_[0-9A-Za-z]{49}\b`. Only their SHA-256
//! is kept: with 256 random bits there is nothing to guess, so no slow hash is needed.
//!
//! Tokens of before have 43 characters of base64url and end in six of their SHA-256; they go on working.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use heddle_usecase::sha256_hex;

use crate::UseCaseError;
use crate::ports::TokenKind;

/// Prefix of a session's token.
pub const SESSION_PREFIX: &str = "hdl_";
/// Prefix of an API token.
pub const API_TOKEN_PREFIX: &str = "hdk_";
/// Prefix of the token in the address of a hook.
pub const HOOK_PREFIX: &str = "hdh_";
/// Prefix of the set-up token.
pub const SETUP_PREFIX: &str = "hds_";

const SECRET_LENGTH: usize = 43;
const CHECK_LENGTH: usize = 6;
/// Number of digits of the checksum's notation: `0` to `9`, `A` to `Z`, `a` to `z`.
const BASE: u8 = 62;
/// Bytes below this are shared out evenly among the digits.
const FAIR: u8 = BASE * 4;

/// A token in the clear. It is shown once and never kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new one with this prefix.
    ///
    /// # Errors
    /// `Internal` when the system gives no random bytes.
    pub fn random(prefix: &str) -> Result<Self, UseCaseError> {
        let secret = random_text()?;
        let check = checksum(&secret);
        Ok(Self(format!("{prefix}{secret}{check}")))
    }

    /// The text for its owner.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// SHA-256 in lower-case hex.
    #[must_use]
    pub fn sha256(&self) -> String {
        sha256_hex(self.0.as_bytes())
    }

    /// The last four characters.
    #[must_use]
    pub fn hint(&self) -> String {
        self.0.chars().skip(self.0.len().saturating_sub(4)).collect()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Kind of token that a text is, and its SHA-256; none for what can't be one, so that no database is asked.
#[must_use]
pub fn read(text: &str) -> Option<(TokenKind, String)> {
    let kind = match text.get(..SESSION_PREFIX.len())? {
        SESSION_PREFIX => TokenKind::Session,
        API_TOKEN_PREFIX => TokenKind::ApiToken,
        _ => return None,
    };
    has_form(text).then(|| (kind, sha256_hex(text.as_bytes())))
}

/// SHA-256 of a set-up token's text, if it can be one.
#[must_use]
pub(crate) fn read_setup(text: &str) -> Option<String> {
    (text.starts_with(SETUP_PREFIX) && has_form(text)).then(|| sha256_hex(text.as_bytes()))
}

/// Whether a text ends in the checksum of what stands before it, as tokens do, or as those of before did.
fn has_form(text: &str) -> bool {
    let body_length = SESSION_PREFIX.len() + SECRET_LENGTH;
    if text.len() != body_length + CHECK_LENGTH || !text.is_ascii() {
        return false;
    }
    let (body, check) = text.split_at(body_length);
    let (_, secret) = body.split_at(SESSION_PREFIX.len());
    let is = |right: String| bool::from(right.as_bytes().ct_eq(check.as_bytes()));
    is(checksum(secret)) || is(check_of_before(body))
}

/// CRC32 of a token's random part in six digits of base 62.
fn checksum(secret: &str) -> String {
    let mut left = crc32fast::hash(secret.as_bytes());
    let mut digits = ['0'; CHECK_LENGTH];
    for place in digits.iter_mut().rev() {
        *place = digit(u8::try_from(left % u32::from(BASE)).unwrap_or(0));
        left /= u32::from(BASE);
    }
    digits.iter().collect()
}

/// Digit of base 62.
fn digit(value: u8) -> char {
    char::from(match value {
        0..=9 => b'0' + value,
        10..=35 => b'A' + (value - 10),
        _ => b'a' + (value - 36),
    })
}

/// Random letters and digits.
fn random_text() -> Result<String, UseCaseError> {
    let mut text = String::with_capacity(SECRET_LENGTH);
    while text.len() < SECRET_LENGTH {
        let missing = SECRET_LENGTH - text.len();
        let fair = random_bytes::<64>()?.into_iter().filter(|byte| *byte < FAIR);
        text.extend(fair.take(missing).map(|byte| digit(byte % BASE)));
    }
    Ok(text)
}

/// Check of a token of before.
fn check_of_before(body: &str) -> String {
    let mut check = URL_SAFE_NO_PAD.encode(Sha256::digest(body.as_bytes()));
    check.truncate(CHECK_LENGTH);
    check
}

/// Bytes from the system's generator.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], UseCaseError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| UseCaseError::Internal(format!("no random bytes: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_what_it_is() {
        for (prefix, kind) in [(SESSION_PREFIX, TokenKind::Session), (API_TOKEN_PREFIX, TokenKind::ApiToken)]
        {
            let token = Token::random(prefix).unwrap();
            assert_eq!(token.expose().len(), 53);
            assert_eq!(read(token.expose()), Some((kind, token.sha256())));
            assert!(token.expose().ends_with(&token.hint()));
            assert!(!format!("{token:?}").contains(token.expose()));
        }
        let setup = Token::random(SETUP_PREFIX).unwrap();
        assert_eq!(read(setup.expose()), None);
        assert_eq!(read_setup(setup.expose()), Some(setup.sha256()));
    }

    #[test]
    fn a_checksum_is_the_one_that_scanners_compute() {
        // CRC32 of the text `123456789` is 0xCBF43926, by definition of the code.
        assert_eq!(crc32fast::hash(b"123456789"), 0xCBF4_3926);
        assert_eq!(checksum("123456789"), "3jZRME");
        let token = Token::random(API_TOKEN_PREFIX).unwrap();
        let (prefix, rest) = token.expose().split_at(4);
        assert!(prefix == "hdk_" && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{rest}");
        assert_eq!(checksum(&rest[..43]), rest[43..]);
    }

    #[test]
    fn a_token_of_before_is_read_and_mistyped_it_is_not() {
        let body = format!("{API_TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode([7_u8; 32]));
        let text = format!("{body}{}", check_of_before(&body));
        assert_eq!(read(&text), Some((TokenKind::ApiToken, sha256_hex(text.as_bytes()))));
        assert_eq!(read(&text.replacen("hdk_B", "hdk_C", 1)), None);
        // The check of one form is not that of the other's text.
        assert_eq!(read(&format!("{body}{}", &check_of_before(&text)[..6])), None);
    }

    #[test]
    fn tokens_do_not_repeat_and_mistyped_ones_are_known_by_their_check() {
        let tokens: std::collections::BTreeSet<String> =
            (0..1000).map(|_| Token::random(SESSION_PREFIX).unwrap().expose().to_owned()).collect();
        assert_eq!(tokens.len(), 1000);
        let token = tokens.first().unwrap();
        for at in 4..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(read(std::str::from_utf8(&changed).unwrap()), None, "at {at}");
        }
        for wrong in ["", "hdl_", "hdx_abc", "é", &token[1..], &format!("{token}A")] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
