//! Built-in models: what is told before any is there, and what is not taken for one.

use std::os::unix::fs::PermissionsExt as _;

use crate::{code, json_of, run, told};

#[test]
fn a_model_that_is_missing_unknown_or_another_one_is_told_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let listed = json_of(folder.path(), &["models", "list", "--json"]);
    assert_eq!(listed["data"][0]["state"], "missing");
    assert_eq!(listed["data"][0]["dimensions"], 384);
    assert!(!folder.path().join("heddle-data").exists());
    let verified = run(folder.path(), &["models", "verify"]);
    assert_eq!(code(&verified), 3, "{}", told(&verified));
    assert!(told(&verified).contains("heddle models fetch"), "{}", told(&verified));
    let unknown = run(folder.path(), &["models", "fetch", "other"]);
    assert_eq!(code(&unknown), 3, "{}", told(&unknown));
    assert!(told(&unknown).contains("all-minilm-l6-v2"), "{}", told(&unknown));
    std::fs::write(folder.path().join("some.whl"), "no archive").unwrap();
    let wrong = run(folder.path(), &["models", "fetch", "--from", "some.whl"]);
    assert_eq!(code(&wrong), 1, "{}", told(&wrong));
    assert!(told(&wrong).contains("some.whl"), "{}", told(&wrong));
    let data = folder.path().join("heddle-data");
    assert_eq!(data.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(std::fs::read_dir(data.join("models")).unwrap().count(), 0);
}

#[test]
fn a_damaged_model_ends_verification_with_its_own_code() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("place/all-minilm-l6-v2");
    std::fs::create_dir_all(&model).unwrap();
    std::fs::write(model.join("manifest.json"), "{}").unwrap();
    let listed = json_of(folder.path(), &["models", "list", "--model-dir", "place", "--json"]);
    assert_eq!(listed["data"][0]["state"], "damaged");
    let verified = run(folder.path(), &["models", "verify", "--model-dir", "place"]);
    assert_eq!(code(&verified), 7, "{}", told(&verified));
    // The directory in which the server looks is the commands' own, too.
    std::fs::write(folder.path().join("heddle.toml"), "[vectors]\nmodel_dir = \"place\"\n").unwrap();
    let listed = json_of(folder.path(), &["models", "list", "--json"]);
    assert_eq!(listed["data"][0]["state"], "damaged");
}

#[test]
fn a_backup_can_be_restored_beside_models() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("heddle-data/models")).unwrap();
    std::fs::write(folder.path().join("none.db"), "no database").unwrap();
    let restored = run(folder.path(), &["restore", "none.db"]);
    assert_ne!(code(&restored), 0);
    assert!(!told(&restored).contains("not empty"), "{}", told(&restored));
    std::fs::write(folder.path().join("heddle-data/other"), "").unwrap();
    let refused = run(folder.path(), &["restore", "none.db"]);
    assert!(told(&refused).contains("not empty"), "{}", told(&refused));
}
