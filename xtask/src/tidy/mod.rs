//! Sizes, lints, names, white space, comments, arguments, circles of modules, callers and doubled dependencies, over the whole
//! checkout.

mod arguments;
mod callers;
mod circles;
mod comments;
mod doubles;
mod functions;
mod manifests;
mod mappings;
mod migrations;
mod sizes;
mod source;
mod tables;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use heddle_harness_kit::{out, workspace};

/// Checks the checkout; prints each finding with its place.
pub(crate) fn run() -> Result<bool> {
    let root = workspace::root();
    let (mut found, calls) = findings(&root)?;
    calls.check(&mut found);
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).context("cannot read Cargo.lock")?;
    doubles::check(&lock, &workspace::metadata()?, &mut found)?;
    for finding in &found {
        out::line(finding);
    }
    out::line(format_args!("tidy: {} finding(s)", found.len()));
    Ok(found.is_empty())
}

/// Findings about the files, and the guarded calls in them.
fn findings(root: &Path) -> Result<(Vec<String>, callers::Calls)> {
    let mut found = Vec::new();
    let mut calls = callers::Calls::default();
    let mut crates: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
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
            arguments::check(&place, &content, &mut found);
            if !text::is_test(&place) {
                comments::check(&place, &content, &mut found);
            }
            calls.read(&place, &content);
            mappings::check(&place, &content, &mut found);
            if let Some((name, path)) =
                place.strip_prefix("crates/").and_then(|place| place.split_once("/src/"))
            {
                crates.entry(name.to_owned()).or_default().push((path.to_owned(), content));
                continue;
            }
        }
        if place.ends_with("Cargo.toml") && place != "Cargo.toml" {
            manifests::check(&place, &content, &mut found);
        }
    }
    let tables = tables::read(&root.join("migrations"))?;
    for (name, files) in &crates {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, content)| (&**path, &**content)).collect();
        circles::check(name, &files, &mut found);
        sizes::check(name, &files, &mut found);
        tables::check(name, &files, &tables, &mut found);
    }
    migrations::check(&root.join("migrations"), &mut found)?;
    Ok((found, calls))
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
        let (found, _) = findings(root.path()).unwrap();
        let said = |part: &str| found.iter().filter(|finding| finding.contains(part)).count();
        assert_eq!(said("crates/one/Cargo.toml: lints"), 1, "{found:?}");
        assert_eq!(said("crates/one/src/lib.rs:1: white space"), 1, "{found:?}");
        assert_eq!(said("bytes.rs: is not UTF-8"), 1, "{found:?}");
        assert_eq!(said("1_a"), 2, "{found:?}");
        assert_eq!(said("target/"), 0, "{found:?}");
    }
}
