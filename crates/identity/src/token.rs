//! Opaque tokens: a prefix, 32 random bytes in base64url, and six characters by which a scanner for leaked secrets
//! knows one. Only their SHA-256 is kept: with 256 random bits there is nothing to guess, so no slow hash is needed.

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
/// Prefix of the set-up token.
pub const SETUP_PREFIX: &str = "hds_";

const SECRET_LENGTH: usize = 43;
const CHECK_LENGTH: usize = 6;

/// A token in the clear. It is shown once and never kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new one with this prefix.
    ///
    /// # Errors
    /// `Internal` when the system gives no random bytes.
    pub fn random(prefix: &str) -> Result<Self, UseCaseError> {
        let bytes = random_bytes::<32>()?;
        let body = format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes));
        let check = check_of(&body);
        Ok(Self(body + &check))
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

fn has_form(text: &str) -> bool {
    let body_length = SESSION_PREFIX.len() + SECRET_LENGTH;
    if text.len() != body_length + CHECK_LENGTH || !text.is_ascii() {
        return false;
    }
    let (body, check) = text.split_at(body_length);
    check_of(body).as_bytes().ct_eq(check.as_bytes()).into()
}

fn check_of(body: &str) -> String {
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
