//! Any bytes as a BPMN file: they are refused, or read, judged, laid out, compiled, mapped to BPEL and written; what was
//! written is read again with the same nodes and edges.
#![no_main]

use heddle_bpmn::model::{WorkflowDefinition, graphs};
use heddle_bpmn_validate::Profile;
use heddle_bpel as bpel;
use heddle_bpmn::xml;
use heddle_bpmn_graph as graph;
use heddle_bpmn_layout as layout;
use heddle_bpmn_validate as validate;
use libfuzzer_sys::fuzz_target;

/// Ids of nodes and edges, graph by graph.
fn ids(definition: &WorkflowDefinition) -> Vec<Option<String>> {
    let all = |one: &heddle_bpmn::model::GraphRef<'_>| {
        let nodes = one.nodes.iter().map(|node| node.id.clone());
        nodes.chain(one.edges.iter().map(|edge| edge.id.clone())).collect::<Vec<_>>()
    };
    graphs(definition).iter().flat_map(all).collect()
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(imported) = xml::read(bytes) else { return };
    let definition = &imported.definition;
    let found = validate::structure(definition);
    let _ = validate::constraints(definition, Profile::Full);
    let _ = validate::soundness(definition);
    let _ = layout::lay_out(definition);
    let _ = bpel::check(definition);
    let _ = graph::compile(definition);
    let _ = graph::expression_items(definition);
    let written = xml::write(definition).expect("what was read can be written");
    let again = xml::read(written.xml.as_bytes()).expect("what was written can be read");
    if found.iter().all(|one| one.code != "duplicateId") {
        assert_eq!(ids(&again.definition), ids(definition), "{}", written.xml);
    }
});
