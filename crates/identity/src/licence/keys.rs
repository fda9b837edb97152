//! The public keys with which licences are signed.

use std::sync::OnceLock;

use heddle_licence::{PublicKey, PublicKeys};

/// The vendor's public keys, named when the program is built (`HEDDLE_VENDOR_KEYS`): `2026a=<base64url> 2026b=<base64url>`.
/// Two or more let keys change without a gap. Without any, an installation has its trial alone.
const VENDOR_KEYS: &str = env!("HEDDLE_VENDOR_KEYS_COMPILED");

fn vendor_keys() -> &'static PublicKeys {
    static KEYS: OnceLock<PublicKeys> = OnceLock::new();
    // The build looked at each of them: a list that does not read ends it.
    KEYS.get_or_init(|| PublicKeys::parse(VENDOR_KEYS).unwrap_or_default())
}

/// The vendor's key of that name.
pub(crate) fn vendor_key(key_id: &str) -> Option<PublicKey> {
    #[cfg(any(test, feature = "test-keys"))]
    if key_id == heddle_licence::TEST_KEY_ID {
        return super::testing::public_key();
    }
    vendor_keys().find(key_id)
}

/// The names of the keys whose licences this program accepts; none when it was built without any. A build for tests
/// accepts `test` as well.
#[must_use]
pub fn vendor_key_names() -> Vec<String> {
    let own = vendor_keys().names().map(str::to_owned);
    #[cfg(any(test, feature = "test-keys"))]
    let own = own.chain([heddle_licence::TEST_KEY_ID.to_owned()]);
    own.collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_keys_of_the_build_are_all_there() {
        let given = VENDOR_KEYS.split_ascii_whitespace().count();
        assert_eq!(vendor_keys().names().count(), given);
        assert_eq!(vendor_key_names().len(), given + 1);
        assert!(vendor_key("test").is_some() && vendor_key("nobody").is_none() && vendor_key("").is_none());
    }

    #[test]
    fn an_optimised_build_with_the_keys_for_tests_ends() {
        let guard = concat!(env!("CARGO_MANIFEST_DIR"), "/src/licence/guard.rs");
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let folder = std::env::temp_dir().join(format!("heddle-guard-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (feature, assertions, builds) in [(true, "no", false), (true, "yes", true), (false, "no", true)] {
            let mut command = Command::new(&compiler);
            command.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata"]);
            command.args(["--crate-name", "guard", "-C", &format!("debug-assertions={assertions}")]);
            if feature {
                command.args(["--cfg", "feature=\"test-keys\""]);
            }
            let output = command.arg("--out-dir").arg(&folder).arg(guard).output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.success(), builds, "{feature} {assertions}: {told}");
            assert!(builds || told.contains("licences that anybody can sign"), "{told}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
