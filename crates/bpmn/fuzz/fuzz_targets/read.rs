//! Any bytes as a BPMN file: they are refused, or read, written, judged and compiled; what was written is read again to
//! the same definition.
#![no_main]

use heddle_bpmn::{graph, validate, xml};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(imported) = xml::read(bytes) else { return };
    let _ = validate::structure(&imported.definition);
    let _ = graph::compile(&imported.definition);
    let written = xml::write(&imported.definition).expect("what was read can be written");
    let again = xml::read(written.xml.as_bytes()).expect("what was written can be read");
    let unique = validate::structure(&imported.definition).iter().all(|found| found.code != "duplicateId");
    if unique {
        assert_eq!(again.definition, imported.definition, "{}", written.xml);
    }
});
