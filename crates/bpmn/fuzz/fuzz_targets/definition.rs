//! Any bytes as a definition's JSON: it is refused, or judged, compiled and, where its texts can be XML, written and read.
#![no_main]

use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn::xml;
use heddle_bpmn_graph as graph;
use heddle_bpmn_validate as validate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(definition) = serde_json::from_slice::<WorkflowDefinition>(bytes) else { return };
    let _ = validate::structure(&definition);
    let _ = graph::compile(&definition);
    if let Ok(written) = xml::write(&definition) {
        let _ = xml::read(written.xml.as_bytes());
    }
});
