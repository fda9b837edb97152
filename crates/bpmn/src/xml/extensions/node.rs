//! The settings of one flow node.

use super::{Context, Hit, Map, Members, attribute_hit, element_hit};
use crate::element::ElementKind;
use crate::model::{ImportItem, Node};
use crate::xml::Group;
use crate::xml::names::kind;
use crate::xml::tree::{self, El, Tree};
use crate::xml::vocabulary::Writer;
use crate::xml::vocabulary::{Reader, group};
use serde_json::{Map as Object, Value};
use std::collections::BTreeSet;

/// The parts of a node that carry words.
struct Parts {
    node: El,
    extensions: Vec<El>,
    marker: Option<(El, Vec<El>)>,
}

/// Reads the settings of the node that is being read, and reports its words. What the document itself says as the
/// definition's own data counts before them.
pub(in crate::xml) fn read(reader: &mut Reader<'_>, node: &mut Node, el: El, inner_event: bool) {
    let tree = reader.tree;
    let inside = |el: El| -> Vec<El> {
        let all = tree.parts_of(el).filter(|&child| tree.part(child).kind == kind("extensionElements"));
        all.flat_map(|part| tree.parts_of(part)).collect()
    };
    let marker = tree.parts_of(el).find(|&child| group(tree.part(child).kind) == Group::LoopCharacteristics);
    let marker = marker.map(|marker| (marker, inside(marker)));
    let parts = Parts { node: el, extensions: inside(el), marker };
    let owner = tree.part(el).local();
    let hits = hits(tree, &parts, owner, &reader.state.extensions);
    let key = subscribed(node, owner, inner_event, &reader.state.extensions);
    if hits.is_empty() && key.is_none() {
        return;
    }
    let configuration = settle(&hits, key);
    if !reader.is_muted() {
        report(reader, node, owner, &hits, &configuration);
    }
    if node.configuration.is_none() && !configuration.is_empty() {
        node.configuration = Some(configuration);
    }
}

/// Settings that the vendors' words on the node that is being written give by themselves.
pub(in crate::xml) fn derived(
    writer: &Writer<'_>,
    node: &Node,
    owner: &str,
    fragments: &[String],
) -> Object<String, Value> {
    if node.configuration.is_none() && !writer.state.extensions.any {
        return Object::new();
    }
    let mut source = String::from("<node");
    writer.put_attributes(&mut source);
    source.push('>');
    fragments.iter().for_each(|fragment| source.push_str(fragment));
    put_marker(writer, node, &mut source);
    source.push_str("</node>");
    if source.len() == "<node></node>".len() {
        return settle(&[], subscribed(node, owner, writer.state.inner_event, &writer.state.extensions));
    }
    let key = subscribed(node, owner, writer.state.inner_event, &writer.state.extensions);
    let Ok(tree) = tree::parse(&source, writer.around()) else { return settle(&[], key) };
    let (mut extensions, mut marker) = (Vec::new(), None);
    for child in tree.parts_of(0) {
        if tree.part(child).name == "marker" {
            let parts = tree.parts_of(child).flat_map(|part| tree.parts_of(part));
            marker = Some((child, parts.collect()));
        } else {
            extensions.push(child);
        }
    }
    let parts = Parts { node: 0, extensions, marker };
    settle(&hits(&tree, &parts, owner, &writer.state.extensions), key)
}

/// Appends what is put back at the loop marker of the node that is being written, as an element `marker`.
fn put_marker(writer: &Writer<'_>, node: &Node, out: &mut String) {
    let activity = node.bpmn.as_ref().and_then(|bpmn| bpmn.activity.as_ref());
    let Some(own) = activity.and_then(|activity| activity.r#loop.as_deref()) else { return };
    let marker = const { kind("multiInstanceLoopCharacteristics") };
    let Some(preserved) = writer.preserved_below(own.id.as_deref(), marker) else { return };
    out.push_str("<marker");
    preserved.put_attributes(out);
    out.push('>');
    for child in preserved.children.iter().filter(|child| child.kind == kind("extensionElements")) {
        out.push_str(&child.xml);
    }
    out.push_str("</marker>");
}

fn hits(tree: &Tree<'_>, parts: &Parts, owner: &str, context: &Context) -> Vec<Hit> {
    let mut found = Vec::new();
    let mut at = |el: El, extensions: &[El], owner: &str| {
        found
            .extend((0..tree.attributes(el).len()).filter_map(|index| attribute_hit(tree, el, index, owner)));
        let children = extensions.iter().enumerate();
        found.extend(children.filter_map(|(order, &child)| element_hit(tree, child, order, owner, context)));
    };
    at(parts.node, &parts.extensions, owner);
    if let Some((marker, extensions)) = &parts.marker {
        at(*marker, extensions, "multiInstanceLoopCharacteristics");
    }
    found
}

/// The correlation key of the message that a node waits for. A message that starts a process is correlated with no
/// run.
fn subscribed(node: &Node, owner: &str, inner_event: bool, context: &Context) -> Option<Value> {
    if context.subscriptions.is_empty() {
        return None;
    }
    let bpmn = node.bpmn.as_deref()?;
    let waits = match ElementKind::named(owner) {
        Some(ElementKind::ReceiveTask) => {
            return context.subscriptions.get(bpmn.message_ref.as_deref()?).cloned();
        }
        Some(ElementKind::IntermediateCatchEvent | ElementKind::BoundaryEvent) => true,
        Some(ElementKind::StartEvent) => inner_event,
        _ => false,
    };
    let [event] = bpmn.event_definitions.as_deref().filter(|_| waits)? else { return None };
    context
        .subscriptions
        .get(event.reference.as_deref().filter(|_| event.kind() == Some("message"))?)
        .cloned()
}

/// Gathers the members. Where one of the words for a member cannot be mapped, none of them is: half of the inputs
/// would look like all.
fn settle(hits: &[Hit], key: Option<Value>) -> Object<String, Value> {
    let failing = hits.iter().filter(|hit| hit.verdict.is_err());
    let failed: BTreeSet<&str> = failing.filter_map(Hit::member).collect();
    let mut found = Object::new();
    found.extend(key.map(|key| ("correlationKey".to_owned(), key)));
    for (member, value) in hits.iter().filter_map(|hit| hit.verdict.as_ref().ok()).flatten() {
        if !failed.contains(member) {
            merge(found.entry(*member).or_insert(Value::Null), value.clone());
        }
    }
    found
}

fn merge(into: &mut Value, value: Value) {
    match (into, value) {
        (Value::Array(items), Value::Array(more)) => items.extend(more),
        (Value::Object(members), Value::Object(more)) => {
            for (name, value) in more {
                merge(members.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, value) => *into = value,
    }
}

/// One item per word of the node.
fn report(reader: &mut Reader<'_>, node: &Node, owner: &str, hits: &[Hit], settled: &Object<String, Value>) {
    let mut items: Vec<ImportItem> = Vec::new();
    for hit in hits {
        let item = super::report::item(reader, owner, hit, node.display_name.as_deref(), settled);
        // The kind of one vendor is looked for among few words of one node; beyond that each counts alone.
        let same = items.iter_mut().rev().take(64).find(|own| own.source_kind == item.source_kind);
        match same {
            Some(same) if same.outcome.as_deref() == Some("mapped") && item.outcome != same.outcome => {
                *same = item
            }
            // The word that fails says why; the others of its name fail with it.
            Some(same) if same.configuration.is_none() && hit.verdict.is_err() => *same = item,
            Some(same) if same.outcome == item.outcome => {
                if let (Some(into), Some(more)) = (same.configuration.as_mut(), item.configuration) {
                    let mut whole = Value::Object(std::mem::take(into));
                    merge(&mut whole, Value::Object(more));
                    if let Value::Object(members) = whole {
                        *into = members;
                    }
                }
            }
            Some(_) => {}
            None => items.push(item),
        }
    }
    items.into_iter().for_each(|item| reader.state.push_item(item));
}

/// Whether the members of a word stand in what was settled.
pub(super) fn stands(members: &Members, settled: &Object<String, Value>) -> bool {
    members.iter().all(|(member, _)| settled.contains_key(*member))
}

/// Whether a word's outcome does not depend on its value.
pub(super) fn fixed(map: Map) -> bool {
    map == Map::Keep
}
