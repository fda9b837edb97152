//! Sizes, lints, names and white space, over the whole checkout.

mod functions;
mod manifests;
mod migrations;
mod text;

use std::path::Path;

use anyhow::{Context, Result};

use crate::{out, workspace};

/// Checks the checkout; prints each finding with its place.
pub fn run() -> Result<bool> {
    let found = findings(&workspace::root())?;
    for finding in &found {
        out::line(finding);
    }
    out::line(format_args!("tidy: {} finding(s)", found.len()));
    Ok(found.is_empty())
}

fn findings(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for path in workspace::files(root)? {
        let place = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        if !text::is_text(&place) {
            continue;
        }
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {place}"))?;
        let Ok(content) = String::from_utf8(bytes) else {
            found.push(format!("{place}: is not UTF-8"));
            continue;
        };
        text::check(&place, &content, &mut found);
        if place.ends_with(".rs") {
            functions::check(&place, &content, &mut found);
        }
        if place.ends_with("Cargo.toml") && place != "Cargo.toml" {
            manifests::check(&place, &content, &mut found);
        }
    }
    migrations::check(&root.join("migrations"), &mut found)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_is_walked_and_each_finding_names_its_file() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, content: &[u8]| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        put("crates/one/Cargo.toml", b"[package]\nname = \"one\"\n");
        put("crates/one/src/lib.rs", b"fn one() { } \n");
        put("crates/one/src/bytes.rs", b"\xFF\xFE");
        put("target/debug/skipped.rs", b"not Rust at all \n");
        put("migrations/sqlite/1_a/up.sql", b"select 1;\n");
        let found = findings(root.path()).unwrap();
        let said = |part: &str| found.iter().filter(|finding| finding.contains(part)).count();
        assert_eq!(said("crates/one/Cargo.toml: lints"), 1, "{found:?}");
        assert_eq!(said("crates/one/src/lib.rs:1: white space"), 1, "{found:?}");
        assert_eq!(said("bytes.rs: is not UTF-8"), 1, "{found:?}");
        assert_eq!(said("1_a"), 2, "{found:?}");
        assert_eq!(said("target/"), 0, "{found:?}");
    }
}
