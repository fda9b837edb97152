//! The public keys with which licences are signed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pasetors::keys::AsymmetricPublicKey;
use pasetors::version4::V4;

#[cfg(all(feature = "test-keys", not(debug_assertions)))]
compile_error!(
    "`test-keys` accepts licences that anybody can sign: it is for builds with debug assertions alone"
);

/// The name under which an installation signs its own trial.
pub(crate) const INSTALLATION_KEY_ID: &str = "installation";

/// The vendor's public keys, named when the binary is built: `2026a=<base64url> 2026b=<base64url>`. Two or more let
/// keys change without a gap. Without any, an installation has its trial alone.
const VENDOR_KEYS: Option<&str> = option_env!("HEDDLE_VENDOR_KEYS");

/// The vendor's key of that name.
pub(crate) fn vendor_key(key_id: &str) -> Option<AsymmetricPublicKey<V4>> {
    #[cfg(any(test, feature = "test-keys"))]
    if key_id == super::testing::KEY_ID {
        return super::testing::public_key();
    }
    find(VENDOR_KEYS.unwrap_or_default(), key_id)
}

fn find(keys: &str, key_id: &str) -> Option<AsymmetricPublicKey<V4>> {
    let named = |entry: &str| {
        entry.split_once('=').filter(|(name, _)| *name == key_id).map(|(_, key)| key.to_owned())
    };
    let key = keys.split_ascii_whitespace().find_map(named)?;
    let bytes = URL_SAFE_NO_PAD.decode(key.trim_end_matches('=')).ok()?;
    AsymmetricPublicKey::from(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_name() {
        let (first, second) = (URL_SAFE_NO_PAD.encode([1; 32]), URL_SAFE_NO_PAD.encode([2; 32]));
        let keys = format!("2026a={first} 2026b={second} short=AAAA");
        assert_eq!(find(&keys, "2026a").unwrap().as_bytes(), [1; 32]);
        assert_eq!(find(&keys, "2026b").unwrap().as_bytes(), [2; 32]);
        for absent in ["short", "2026", "", "2026c"] {
            assert!(find(&keys, absent).is_none(), "{absent}");
        }
    }
}
