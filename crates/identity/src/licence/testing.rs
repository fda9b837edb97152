//! A vendor for tests. Licences that it issues are accepted only by builds with the feature `test-keys`.

use std::collections::BTreeMap;

use ed25519_compact::{KeyPair, Seed};
use heddle_kernel::Timestamp;
use heddle_licence::{PublicKey, SigningKey};
use heddle_policy::licence::{ANY_INSTALLATION, CLAIMS_VERSION, Claims, Entitlement, Kind};

/// The name of the test vendor's key.
pub const KEY_ID: &str = heddle_licence::TEST_KEY_ID;

fn pair() -> KeyPair {
    KeyPair::from_seed(Seed::new([42; 32]))
}

pub(crate) fn public_key() -> Option<PublicKey> {
    PublicKey::from(&*pair().pk).ok()
}

/// Claims of a production licence for any installation with everything, for 365 days from then on.
#[must_use]
pub fn claims(from: Timestamp) -> Claims {
    Claims {
        v: CLAIMS_VERSION,
        jti: format!("lic-{}", from.micros()),
        sub: "Test customer".to_owned(),
        iat: from,
        nbf: from,
        exp: from.plus_seconds(365 * 24 * 3600),
        grace_days: 14,
        installation_id: ANY_INSTALLATION.to_owned(),
        kind: Kind::Production,
        entitlements: Entitlement::ALL.iter().map(|one| (one.as_str().to_owned(), true)).collect(),
        limits: BTreeMap::new(),
        supersedes: Vec::new(),
        revoked: Vec::new(),
    }
}

/// The licence file with these claims; empty when they can't be signed.
#[must_use]
pub fn issue(claims: &Claims) -> String {
    issue_as(claims, KEY_ID)
}

/// The licence file with these claims, signed by the test vendor under another name of a key.
#[must_use]
pub fn issue_as(claims: &Claims, key_id: &str) -> String {
    let Ok(key) = SigningKey::from(&*pair().sk) else { return String::new() };
    super::sign(claims, key_id, &key).unwrap_or_default()
}
