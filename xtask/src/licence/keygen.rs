//! New keys.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use heddle_harness_kit::out;
use heddle_licence::{KEY_LENGTH, PublicKeys, SecretKey};

use super::{outside, write_new};

/// The list of the public keys, which the build is given.
const LIST: &str = "vendor-keys";

/// `licence keygen`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder of the keys, outside of the checkout; it is made if it is not there.
    #[arg(long)]
    out: PathBuf,
    /// Names of the keys, two or more so that one can be given up without a gap: `--name 2026a --name 2026b`.
    #[arg(long = "name", required = true)]
    names: Vec<String>,
}

/// Makes the keys and adds the public ones to the list. Keys that are there stay.
pub(crate) fn run(options: &Options, checkout: &Path) -> Result<bool> {
    let folder = &options.out;
    outside(folder, checkout)?;
    let list = folder.join(LIST);
    let before = match std::fs::read_to_string(&list) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("`{}` can't be read", list.display())),
    };
    let mut keys = Vec::new();
    for name in &options.names {
        let mut seed = [0; KEY_LENGTH];
        getrandom::fill(&mut seed).map_err(|error| anyhow!("the system gives no random bytes: {error}"))?;
        keys.push(SecretKey::new(name, seed)?);
    }
    let lines: Vec<String> = keys.iter().map(SecretKey::public_text).collect();
    let after = format!("{before}{}\n", lines.join("\n"));
    // Everything is looked at before anything is written.
    let all = PublicKeys::parse(&after).with_context(|| format!("`{}`", list.display()))?;
    for key in &keys {
        if file(folder, key).exists() {
            bail!("`{}` is there already", file(folder, key).display());
        }
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("`{}` can't be made", folder.display()))?;
    for key in &keys {
        write_new(&file(folder, key), &key.to_text(), 0o600)?;
    }
    let unfinished = folder.join(format!(".{LIST}.{}", std::process::id()));
    write_new(&unfinished, &after, 0o644)?;
    std::fs::rename(&unfinished, &list).with_context(|| format!("`{}` can't be written", list.display()))?;
    for key in &keys {
        out::line(format_args!("{}  {}", key.id(), file(folder, key).display()));
    }
    out::line(format_args!("build with HEDDLE_VENDOR_KEYS={}", std::path::absolute(&list)?.display()));
    if all.names().count() < 2 {
        out::note(
            "a program that knows one key alone can't get another without an update everywhere: make a second",
        );
    }
    Ok(true)
}

fn file(folder: &Path, key: &SecretKey) -> PathBuf {
    folder.join(format!("{}.secret", key.id()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn keys_are_added_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (out, checkout) = (folder.path().join("keys"), folder.path().join("checkout"));
        std::fs::create_dir(&checkout).unwrap();
        let make = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            run(&Options { out: out.clone(), names }, &checkout)
        };
        assert!(make(&["2026a", "2026b"]).unwrap());
        let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
        let first = read("2026a.secret");
        assert!(make(&["2026c"]).unwrap());
        let list = PublicKeys::parse(&read(LIST)).unwrap();
        assert_eq!(list.names().collect::<Vec<_>>(), ["2026a", "2026b", "2026c"]);
        let secret = SecretKey::parse(&first).unwrap();
        assert!(read(LIST).contains(&secret.public_text()));
        assert_eq!(std::fs::metadata(out.join("2026a.secret")).unwrap().permissions().mode() & 0o777, 0o600);
        // A name that is taken, in the list or by a file, makes nothing at all.
        for wrong in [&["2026d", "2026a"][..], &["2026d", "2026d"], &["test"], &["a/b"]] {
            assert!(make(wrong).is_err(), "{wrong:?}");
            assert!(!out.join("2026d.secret").exists());
        }
        assert_eq!(read("2026a.secret"), first);
        let inside = Options { out: checkout.join("keys"), names: vec!["x".to_owned()] };
        assert!(run(&inside, &checkout).is_err() && !checkout.join("keys").exists());
    }
}
