//! Any bytes are DMN documents or are refused: what is read is written and read again as the same model, and is
//! compiled, analysed and evaluated within its limits, the same with an explanation as without one.
//!
//! The input is a document, or several with a line of `====` between them, of which the first imports the others.
//! `cargo +nightly fuzz run model corpus/model seeds/model -- -dict=dmn.dict`

#![no_main]

use heddle_dmn::model::DecisionModel;
use heddle_dmn::{ElementKind, ElementRef, EvalOptions, analyse, compile, xml};
use heddle_feel::{Limits, to_json};
use heddle_kernel::Timestamp;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fn read(text: &str) -> Option<DecisionModel> {
    match xml::read(text.as_bytes()) {
        Ok(imported) => Some(imported.model),
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
            None
        }
    }
}

/// Writes the model and reads it again.
fn again(model: &DecisionModel) -> DecisionModel {
    let written = xml::write(model).expect("what was read can be written");
    let read = xml::read(written.as_bytes()).unwrap_or_else(|error| panic!("{error}: {written}"));
    DecisionModel { source_xml: None, ..read.model }
}

fuzz_target!(|input: &str| {
    let models: Vec<DecisionModel> = input.split("\n====\n").take(4).filter_map(read).collect();
    for model in &models {
        let bare = DecisionModel { source_xml: None, ..model.clone() };
        assert_eq!(again(model), bare, "from its source");
        assert_eq!(again(&bare), bare, "anew");
    }
    if models.is_empty() {
        return;
    }
    let model = compile(&models).model;
    let _ = analyse(&model);
    let limits = Limits { steps: 20_000, list_size: 2_000, string_size: 1 << 12, ..Limits::default() };
    let plain = EvalOptions { limits, ..EvalOptions::new(Timestamp::from_micros(1_710_498_600_000_000)) };
    let explained = EvalOptions { explain: true, ..plain.clone() };
    let json = json!({
        "a": 3, "b": 2.5, "s": "text", "t": true, "n": null, "l": [3, 1, 2], "Applicant Age": 17, "d": "2024-02-29",
        "x": {"y": {"z": 1}, "k": [1, 2]}, "rows": [{"v": 1, "w": "p"}, {"v": 2, "w": "q"}, {"w": null}]
    });
    let Some(members) = json.as_object() else { return };
    let elements: Vec<(ElementRef, ElementKind)> = model.elements().map(|(at, kind, _, _)| (at, kind)).take(16).collect();
    for (element, _) in &elements {
        let first = model.evaluate_element(*element, members, &plain);
        let second = model.evaluate_element(*element, members, &explained);
        // An explanation costs no steps, but limits of values may strike on the way to it.
        if let (Ok(first), Ok(second)) = (first, second) {
            let _ = to_json(&first.value);
            assert_eq!(first.value.to_string(), second.value.to_string());
        }
    }
    let decisions: Vec<ElementRef> =
        elements.iter().filter(|(_, kind)| *kind == ElementKind::Decision).map(|(element, _)| *element).collect();
    let _ = model.evaluate_all(&decisions, members, &plain);
});
