//! Where the suites' models are; the test programs of the crates of BPMN and CMMN share this file.

use std::path::{Path, PathBuf};

/// The suites' folder; a missing one fails under CI and skips by hand.
pub(crate) fn suites() -> Option<PathBuf> {
    let given = std::env::var_os("HEDDLE_SUITES").map(PathBuf::from);
    let folder =
        given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites"));
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "the suites' folder is missing");
    println!("skipped: the suites' folder is missing");
    None
}

/// The models below a folder.
pub(crate) fn models(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(models(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "bpmn" || extension == "cmmn" || extension == "xml")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}
