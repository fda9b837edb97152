//! The structure of decision models against the models of the compatibility kit.

#![expect(clippy::unwrap_used, reason = "helpers of a test program may fail loudly")]

use std::path::{Path, PathBuf};

use heddle_api::decode::from_json;
use heddle_api::wire::decisions::SaveDecisionLogic;
use heddle_dmn::model::DecisionModel;

fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "dmn") {
            found.push(path);
        }
    }
}

/// What reading a model as JSON gives can be sent back, and its document says the same.
#[test]
fn every_model_of_the_kit_is_the_same_as_json_and_back() {
    let suites = std::env::var_os("HEDDLE_SUITES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites"), PathBuf::from);
    let folder = suites.join("dmn-tck");
    if !folder.is_dir() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "the kit's folder is not at hand");
        return;
    }
    let mut paths = Vec::new();
    models(&folder, &mut paths);
    let mut seen = 0;
    for path in paths {
        let Ok(read) = heddle_dmn::xml::read(&std::fs::read(&path).unwrap()) else { continue };
        let model = DecisionModel { source_xml: None, ..read.model };
        let sent = serde_json::to_vec(&model).unwrap();
        let taken = from_json::<SaveDecisionLogic>(&sent);
        let (taken, given) =
            taken.unwrap_or_else(|problems| panic!("{}: {problems:?}", path.display())).model();
        assert!(given && taken == model, "{} is another as JSON", path.display());
        let written = heddle_dmn::xml::write(&taken).unwrap();
        let again = heddle_dmn::xml::read(written.as_bytes()).unwrap().model;
        assert!(
            DecisionModel { source_xml: None, ..again } == model,
            "{} is written otherwise",
            path.display()
        );
        seen += 1;
    }
    assert!(seen > 100, "{seen}");
}
