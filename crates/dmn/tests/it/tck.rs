//! The DMN Technology Compatibility Kit, used where it lies.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use heddle_dmn::model::DecisionModel;
use heddle_dmn::tck::{self, Verdict};
use heddle_dmn::{EvalOptions, compile, xml};
use heddle_kernel::Timestamp;

/// The kit's folder; a missing one fails under CI and skips by hand.
pub(crate) fn suite() -> Option<PathBuf> {
    let suites = std::env::var_os("HEDDLE_SUITES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites"), PathBuf::from);
    let folder = suites.join("dmn-tck");
    assert!(folder.is_dir() || std::env::var("CI").as_deref() != Ok("true"), "the kit's folder is missing");
    folder.is_dir().then_some(folder)
}

/// The models below a folder.
pub(crate) fn model_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(model_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "dmn") {
            found.push(path);
        }
    }
    found
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the suite is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "xml")
            && path.file_name().is_some_and(|name| name.to_string_lossy().contains("-test-"))
        {
            found.push(path);
        }
    }
}

fn model(path: &Path) -> DecisionModel {
    let bytes = fs::read(path).expect("a model");
    xml::read(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display())).model
}

/// The model that a test file names, then the others beside it.
fn models(test: &Path, name: &str) -> Vec<DecisionModel> {
    let folder = test.parent().expect("a folder");
    let mut models = vec![model(&folder.join(name))];
    let mut others: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "dmn"))
        .filter(|path| path.file_name().is_some_and(|file| file != name))
        .collect();
    others.sort();
    models.extend(others.iter().map(|path| model(path)));
    models
}

#[derive(Default)]
struct Level {
    passed: usize,
    skipped: Vec<String>,
    failed: Vec<String>,
}

fn run(suite: &Path) -> BTreeMap<String, Level> {
    let mut tests = Vec::new();
    files(suite, &mut tests);
    let options = EvalOptions::new(Timestamp::from_micros(1_710_498_600_000_000));
    let mut levels: BTreeMap<String, Level> = BTreeMap::new();
    for path in tests {
        let file = tck::read(&fs::read(&path).expect("a test")).expect("test cases");
        let relative = path.strip_prefix(suite).expect("within the suite");
        let level = relative.iter().next().expect("a level").to_string_lossy().into_owned();
        let level = levels.entry(level).or_default();
        let compiled = compile(&models(&path, &file.model_name));
        for case in tck::run(&file, &compiled.model, &options) {
            let name = format!("{} {}", path.file_stem().expect("a name").to_string_lossy(), case.id);
            match case.verdict {
                Verdict::Passed => level.passed += 1,
                Verdict::Skipped(reason) => level.skipped.push(format!("{name}: {reason}")),
                Verdict::Failed(reason) => level.failed.push(format!("{name}: {reason}")),
            }
        }
    }
    levels
}

#[test]
fn the_kit_is_passed() {
    let Some(suite) = suite() else { return };
    let levels = run(&suite);
    let mut report = Vec::new();
    for (name, level) in &levels {
        let (passed, failed, skipped) = (level.passed, level.failed.len(), level.skipped.len());
        report.push(format!("{name}: {passed} passed, {failed} failed, {skipped} skipped"));
        report.extend(level.failed.iter().cloned());
    }
    let report = report.join("\n");
    let two = &levels["compliance-level-2"];
    assert!(two.failed.is_empty() && two.skipped.is_empty() && two.passed > 100, "{report}");
    let three = &levels["compliance-level-3"];
    assert!(three.failed.is_empty() && three.passed > 2000, "{report}");
    assert!(three.skipped.len() <= 14, "{:?}", three.skipped);
    assert!(three.skipped.iter().all(|name| name.contains("external-java")), "{:?}", three.skipped);
    let other = &levels["non-compliant"];
    assert!(other.failed.is_empty() && other.passed > 40, "{report}");
}
