//! Vendors' extensions that would change what a node does. They are kept and exported again, but not executed:
//! publishing a node that carries one would ignore it silently.

use crate::model::{Bpmn, Node};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;

/// Attributes that name an implementation.
const IMPLEMENTATIONS: &[&str] = &[
    "class",
    "delegateExpression",
    "expression",
    "type",
    "topic",
    "decisionRef",
    "caseRef",
    "serviceName",
    "packageName",
    "taskName",
    "workItemDefinition",
    "modelerTemplate",
];
/// Elements that name an implementation, map data, or run code beside the flow.
const ELEMENTS: &[&str] = &[
    "taskDefinition",
    "calledElement",
    "calledDecision",
    "script",
    "connector",
    "inputOutput",
    "ioMapping",
    "executionListener",
    "executionListeners",
    "taskListener",
    "taskListeners",
    "eventListener",
    "in",
    "out",
    "errorEventDefinition",
    "onEntry-script",
    "onExit-script",
    "eventType",
    "loopCharacteristics",
    "field",
];

/// The vendors' words found at elements, by the address of the element.
#[derive(Debug, Default)]
pub(super) struct Vendors {
    by_address: HashMap<String, Vec<String>>,
}

impl Vendors {
    /// Reads the residue fragments of a model.
    pub(super) fn of(bpmn: Option<&Bpmn>) -> Self {
        let mut by_address: HashMap<String, Vec<String>> = HashMap::new();
        let fragments = bpmn.and_then(|bpmn| bpmn.extension_elements_xml.as_deref()).unwrap_or_default();
        for fragment in fragments {
            let mut address = None;
            let mut found = Vec::new();
            walk(fragment, |tag, depth| {
                if depth == 0 && local(name(tag)) == "residue" {
                    address = attribute(tag, "for");
                }
                collect(tag, &mut found);
            });
            if let Some(address) = address
                && !found.is_empty()
            {
                // `id/documentation[1]` is a place below the element with the id.
                let id = address.split('/').next().unwrap_or_default().to_owned();
                by_address.entry(id).or_default().extend(found);
            }
        }
        Self { by_address }
    }

    /// The words at a node and at its event definitions.
    pub(super) fn at(&self, node: &Node) -> Vec<String> {
        let mut found = Vec::new();
        let bpmn = node.bpmn.as_deref();
        let events = bpmn.and_then(|bpmn| bpmn.event_definitions.as_deref()).unwrap_or_default();
        let ids = events.iter().filter_map(|event| event.id.as_deref()).chain(node.element_id());
        for id in ids {
            found.extend(self.by_address.get(id).into_iter().flatten().cloned());
        }
        for fragment in bpmn.and_then(|bpmn| bpmn.extension_xml.as_deref()).unwrap_or_default() {
            walk(fragment, |tag, _| collect(tag, &mut found));
        }
        found.sort();
        found.dedup();
        found
    }
}

fn walk(fragment: &str, mut visit: impl FnMut(&BytesStart<'_>, usize)) {
    let mut reader = Reader::from_str(fragment);
    let mut depth = 0usize;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                visit(&tag, depth);
                depth += 1;
            }
            Ok(Event::Empty(tag)) => visit(&tag, depth),
            Ok(Event::End(_)) => depth = depth.saturating_sub(1),
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
}

fn collect(tag: &BytesStart<'_>, found: &mut Vec<String>) {
    let element = name(tag);
    if foreign(element) && ELEMENTS.contains(&local(element)) {
        found.push(element.to_owned());
    }
    for attribute in tag.attributes().flatten() {
        let name = attribute.key.into_inner();
        if foreign(name) && IMPLEMENTATIONS.contains(&local(name)) {
            found.push(name.to_owned());
        }
    }
}

/// Whether a name has a vendor's prefix.
fn foreign(name: &str) -> bool {
    match name.split_once(':') {
        Some((prefix, _)) => {
            !matches!(prefix, "heddle" | "xml" | "xmlns" | "xsi" | "bpmn" | "bpmn2" | "semantic" | "model")
        }
        None => false,
    }
}

fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

fn name<'t>(tag: &'t BytesStart<'_>) -> &'t str {
    tag.name().into_inner()
}

fn attribute(tag: &BytesStart<'_>, wanted: &str) -> Option<String> {
    let found = tag.attributes().flatten().find(|attribute| attribute.key.into_inner() == wanted)?;
    Some(found.value.as_ref().to_owned())
}
