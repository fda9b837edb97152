//! Items of an import: outcomes for single words and elements.

use super::{Hit, Map, attribute_hit, element_hit, node};
use crate::diagnostic;
use crate::model::ImportItem;
use crate::xml::Group;
use crate::xml::names::{Bpmn, Ns, UNKNOWN, ns};
use crate::xml::read::note;
use crate::xml::tree::El;
use crate::xml::vocabulary::{Reader, group};
use heddle_xml::Names as _;
use serde_json::{Map as Object, Value};

/// The item of one word; `settled` is what the element's words came to together.
pub(super) fn item(
    reader: &Reader<'_>,
    element_type: &str,
    hit: &Hit,
    name: Option<&str>,
    settled: &Object<String, Value>,
) -> ImportItem {
    let (outcome, reason, members) = match (&hit.word, &hit.verdict) {
        (Some(word), Ok(_)) if matches!(word.map, Map::Unless(_)) => {
            (word.outcome(), "It says what is so here anyway.".to_owned(), None)
        }
        (Some(word), Ok(members)) if node::stands(members, settled) => {
            (word.outcome(), word.reason.to_owned(), Some(members))
        }
        (Some(_), Ok(_)) => {
            let sentence = "Another word for the same setting cannot be mapped, so that none is.";
            ("unsupported", sentence.to_owned(), None)
        }
        (Some(word), Err(_)) if node::fixed(word.map) => (word.outcome(), word.reason.to_owned(), None),
        (Some(word), Err(reason)) => (word.outcome_unmapped(), format!("It is not mapped: {reason}."), None),
        (None, _) => {
            let sentence =
                format!("It has no known meaning at {element_type}; it is kept and exported again.");
            ("preserved", sentence, None)
        }
    };
    let members = members.filter(|members| !members.is_empty());
    let configuration = members.map(|members| {
        members.iter().map(|(member, value)| ((*member).to_owned(), value.clone())).collect::<Object<_, _>>()
    });
    let id = reader.nearest_id().map(str::to_owned);
    ImportItem {
        configuration,
        element_id: id.clone(),
        element_type: Some(element_type.to_owned()),
        message: Some(format!("{}: {reason}", hit.name)),
        name: name.map(str::to_owned),
        outcome: Some(outcome.to_owned()),
        source_id: id,
        source_kind: Some(hit.name.clone()),
    }
}

/// An item of what is only kept.
fn kept(reader: &Reader<'_>, element_type: &str, name: &str) -> ImportItem {
    let id = reader.nearest_id().map(str::to_owned);
    ImportItem {
        element_id: id.clone(),
        element_type: Some(element_type.to_owned()),
        outcome: Some("preserved".to_owned()),
        message: Some(format!("{name} is kept and exported again; it has no effect here.")),
        source_id: id,
        source_kind: Some(if name.contains(':') { name.to_owned() } else { format!(":{name}") }),
        ..ImportItem::default()
    }
}

/// Whether the words of an element are reported with its node.
fn with_node(reader: &Reader<'_>) -> bool {
    let element = reader.tree.part(reader.current());
    let own = group(element.kind);
    let inner = own == Group::EventDefinition && group(reader.tree.part(reader.outer()).kind).is_flow_node();
    element.ns == ns::MODEL && (own.is_flow_node() || own == Group::LoopCharacteristics || inner)
}

fn alone(reader: &mut Reader<'_>, owner: &str, hit: &Hit) {
    if !with_node(reader) {
        let members = hit.verdict.iter().flatten();
        let settled = members.map(|(member, value)| ((*member).to_owned(), value.clone())).collect();
        let item = item(reader, owner, hit, None, &settled);
        reader.state.push_item(item);
    }
}

/// Notes a vendor's attribute on the element that is being read.
pub(in crate::xml) fn note_attribute(reader: &mut Reader<'_>, name: &str) {
    let tree = reader.tree;
    let el = reader.current();
    let element = tree.part(el);
    if group(element.kind) == Group::Diagram {
        return;
    }
    let index = tree.attributes(el).iter().position(|attribute| attribute.name == name);
    match index.and_then(|index| attribute_hit(tree, el, index, element.local())) {
        Some(hit) => alone(reader, element.local(), &hit),
        None => {
            let item = kept(reader, element.local(), name);
            reader.state.push_item(item);
        }
    }
}

/// Notes an element that has no place in the definition's members.
pub(in crate::xml) fn note_child(reader: &mut Reader<'_>, child: El) {
    let tree = reader.tree;
    let element = tree.part(child);
    let parent = tree.part(reader.current());
    match (element.ns, group(element.kind)) {
        (_, Group::Diagram) => {}
        _ if group(parent.kind) == Group::Diagram => {}
        (ns::MODEL, _) if element.kind == UNKNOWN => unknown(reader, child),
        (ns::MODEL, _) if element.local() == "extensionElements" => {
            for extension in tree.parts_of(child) {
                note_extension(reader, extension);
            }
        }
        (ns::MODEL, Group::Part) => {}
        (ns::MODEL, _) => {
            let message = format!("{} is kept and exported again; it has no effect here.", element.local());
            let item = ImportItem {
                element_id: tree.attribute(child, "id").map(|id| id.into_owned()),
                element_type: Some(element.local().to_owned()),
                outcome: Some("preserved".to_owned()),
                message: Some(message),
                source_id: tree.attribute(child, "id").map(|id| id.into_owned()),
                source_kind: Some(format!("bpmn:{}", element.local())),
                ..ImportItem::default()
            };
            reader.state.push_item(item);
        }
        (ns, _) if ns == Ns::NONE || ns == Ns::XML || (Bpmn::knows(ns) && ns != ns::HEDDLE) => {}
        _ => note_extension(reader, child),
    }
}

fn unknown(reader: &mut Reader<'_>, child: El) {
    let tree = reader.tree;
    let element = tree.part(child);
    let id = tree.attribute(child, "id").map(|id| id.into_owned());
    let message = format!("BPMN 2.0 has no element {}; it is kept, but has no effect.", element.local());
    let mut diagnostic = diagnostic::warning("unknownElement", message.clone());
    diagnostic.element_id = id.clone().or_else(|| reader.nearest_id().map(str::to_owned));
    note(reader, diagnostic);
    reader.state.push_item(ImportItem {
        element_id: id.clone(),
        element_type: Some(element.local().to_owned()),
        outcome: Some("unsupported".to_owned()),
        message: Some(message),
        source_id: id,
        source_kind: Some(format!("bpmn:{}", element.local())),
        ..ImportItem::default()
    });
}

/// Notes a vendor's extension element below the element that is being read.
pub(in crate::xml) fn note_extension(reader: &mut Reader<'_>, child: El) {
    let tree = reader.tree;
    let element = tree.part(child);
    if element.ns == ns::HEDDLE {
        return;
    }
    let owner = tree.part(reader.current()).local();
    match element_hit(tree, child, 0, owner, &reader.state.extensions) {
        Some(hit) => alone(reader, owner, &hit),
        None => {
            let item = kept(reader, owner, element.name);
            reader.state.push_item(item);
        }
    }
}
