//! Licences, for whoever distributes the program: keys, licences, and a look into one. Nothing here runs in a server, and
//! no secret key stands in the checkout.

mod inspect;
mod issue;
mod keygen;

use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use heddle_harness_kit::workspace;

/// `licence`.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Makes keys: a file of its own for each secret one, and the list of the public ones for the build.
    Keygen(keygen::Options),
    /// Signs a licence.
    Issue(issue::Options),
    /// Shows what a licence says, who signed it, and how it would stand.
    Inspect(inspect::Options),
}

/// Does what was asked for; `false` for a licence that would not hold.
pub(crate) fn run(options: &Options) -> Result<bool> {
    match &options.verb {
        Verb::Keygen(options) => keygen::run(options, &workspace::root()),
        Verb::Issue(options) => issue::run(options, &workspace::root()),
        Verb::Inspect(options) => inspect::run(options),
    }
}

/// Refuses a path within the checkout: what is secret there is in the next commit.
fn outside(path: &Path, checkout: &Path) -> Result<()> {
    let whole = std::path::absolute(path).with_context(|| format!("`{}` is no path", path.display()))?;
    // The part that is there already, so that no link leads into the checkout.
    let there = whole.ancestors().find_map(|part| part.canonicalize().ok()).unwrap_or_else(|| whole.clone());
    let checkout = checkout.canonicalize().context("the checkout is not there")?;
    if there.starts_with(&checkout) || whole.starts_with(&checkout) {
        bail!("`{}` is within the checkout: keys and licences stand elsewhere", path.display());
    }
    Ok(())
}

/// Writes a new file; one that is there is left as it is.
fn write_new(path: &Path, text: &str, mode: u32) -> Result<()> {
    let place = || format!("`{}` can't be written", path.display());
    let mut open = std::fs::OpenOptions::new();
    let mut file = open.write(true).create_new(true).mode(mode).open(path).with_context(place)?;
    file.write_all(text.as_bytes()).with_context(place)?;
    file.sync_all().with_context(place)
}

/// Reads a file that its owner alone may read.
fn read_secret(path: &PathBuf) -> Result<String> {
    let place = || format!("`{}` can't be read", path.display());
    let mode = std::fs::metadata(path).with_context(place)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        bail!("`{}` has the mode {mode:04o}: a secret key is its owner's alone (chmod 600)", path.display());
    }
    std::fs::read_to_string(path).with_context(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_stays_out_of_the_checkout() {
        let folder = tempfile::tempdir().unwrap();
        let checkout = folder.path().join("checkout");
        std::fs::create_dir_all(checkout.join("inner")).unwrap();
        std::os::unix::fs::symlink(&checkout, folder.path().join("link")).unwrap();
        let cases = [
            ("checkout", false),
            ("checkout/keys", false),
            ("checkout/inner/deep/keys", false),
            ("link/keys", false),
            ("checkout-keys", true),
            ("keys/deep", true),
        ];
        for (path, allowed) in cases {
            assert_eq!(outside(&folder.path().join(path), &checkout).is_ok(), allowed, "{path}");
        }
    }

    #[test]
    fn a_secret_that_others_may_read_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.secret");
        write_new(&path, "x", 0o600).unwrap();
        assert_eq!(read_secret(&path).unwrap(), "x");
        assert!(write_new(&path, "y", 0o600).is_err());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let told = format!("{:#}", read_secret(&path).unwrap_err());
        assert!(told.contains("0640") && told.contains("chmod 600"), "{told}");
    }

    /// The features of a package that a build without options has.
    fn defaults(package: &serde_json::Value) -> Vec<&str> {
        let named = package["features"]["default"].as_array();
        named.into_iter().flatten().filter_map(serde_json::Value::as_str).collect()
    }

    #[test]
    fn no_build_takes_the_licences_of_tests_by_itself() {
        let metadata = workspace::metadata().unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        let mut guarded = 0;
        for package in packages {
            let name = package["name"].as_str().unwrap();
            guarded += usize::from(package["features"].get("test-keys").is_some());
            assert!(!defaults(package).iter().any(|feature| feature.contains("test-keys")), "{name}");
            for dependency in package["dependencies"].as_array().unwrap() {
                let features = dependency["features"].as_array().unwrap();
                let asks = features.iter().any(|feature| feature == "test-keys");
                assert!(!asks || dependency["kind"] == "dev", "{name} turns `test-keys` on");
            }
        }
        assert!(guarded >= 1, "the feature has another name now");
    }
}
