//! Which elements the models of the recorded suites use: a committed index, joined with the results in the claims.

use crate::folders::{models, suites};
use heddle_bpmn::xml;
use heddle_conformance::bpmn::elements_of;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Index = BTreeMap<String, BTreeSet<&'static str>>;

fn elements(path: &Path) -> BTreeSet<&'static str> {
    let bytes = std::fs::read(path).unwrap();
    xml::read(&bytes).map(|imported| elements_of(&imported.definition)).unwrap_or_default()
}

/// By the model's id in `expectations.json`.
fn execution(folder: &Path) -> Index {
    let text = std::fs::read(folder.join("expectations.json")).unwrap();
    let all: Vec<Value> = serde_json::from_slice(&text).unwrap();
    let model = |one: &Value| {
        let files = one["files"].as_array().unwrap().iter().filter_map(Value::as_str);
        let used = files.flat_map(|file| elements(&folder.join(file)));
        (one["id"].as_str().unwrap().to_owned(), used.collect())
    };
    all.iter().map(model).collect()
}

/// By the file's path below its folder.
fn round_trip(folders: &[PathBuf]) -> Index {
    let mut index = Index::new();
    for folder in folders {
        for path in models(folder) {
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            index.insert(name, elements(&path));
        }
    }
    index
}

/// The index as it is committed: each model's elements as places in one list.
fn text(suites: &[(&str, Index)]) -> String {
    let all: BTreeSet<&str> =
        suites.iter().flat_map(|(_, index)| index.values().flatten().copied()).collect();
    let all: Vec<&str> = all.into_iter().collect();
    let place = |name: &&str| all.binary_search(name).unwrap();
    let mut lines = format!("{{\n\"elements\": {},\n\"suites\": {{", json!(all));
    for (at, (suite, index)) in suites.iter().enumerate() {
        lines += if at > 0 { ",\n" } else { "\n" };
        lines += &format!("{}: {{", json!(suite));
        for (at, (model, used)) in index.iter().enumerate() {
            let places: Vec<usize> = used.iter().map(place).collect();
            lines += if at > 0 { ",\n" } else { "\n" };
            lines += &format!("{}: {}", json!(model), json!(places));
        }
        lines += "\n}";
    }
    lines + "\n}\n}\n"
}

#[test]
fn the_index_of_elements_is_that_of_the_suites() {
    let Some(suites) = suites() else { return };
    let bpmn = suites.join("bpmn");
    let now = text(&[
        ("bpmn-execution", execution(&bpmn.join("execution"))),
        ("bpmn-roundtrip", round_trip(&[bpmn.join("miwg"), bpmn.join("pool")])),
    ]);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded/elements.json");
    if std::env::var_os("HEDDLE_RECORD").is_some() {
        std::fs::write(&file, &now).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == now, "{} differs from the suites: HEDDLE_RECORD=1 writes it anew", file.display());
}
