//! The settings of one flow node.

use super::map::context_of;
use super::{Context, Hit, Map, Members, attribute_hit, element_hit};
use crate::element::ElementKind;
use crate::model::{ImportItem, Node};
use crate::xml::Group;
use crate::xml::names::{UNKNOWN, kind, kind_named};
use crate::xml::tree::{self, El, Tree};
use crate::xml::vocabulary::Writer;
use crate::xml::vocabulary::{Reader, group};
use serde_json::{Map as Object, Value};
use std::collections::BTreeSet;

/// The parts of a node that carry words.
struct Parts<'n> {
    node: El,
    extensions: Vec<El>,
    /// Loop marker and event definitions: the name of each, its element and its extensions.
    inner: Vec<(&'n str, El, Vec<El>)>,
}

const MULTI_INSTANCE: &str = "multiInstanceLoopCharacteristics";

/// Reads the settings of the node that is being read, and reports its words. What the document itself says as the
/// definition's own data counts before them.
pub(in crate::xml) fn read(reader: &mut Reader<'_>, node: &mut Node, el: El, inner_event: bool) {
    let tree = reader.tree;
    let inside = |el: El| -> Vec<El> {
        let all = tree.parts_of(el).filter(|&child| tree.part(child).kind == kind("extensionElements"));
        all.flat_map(|part| tree.parts_of(part)).collect()
    };
    let marker = tree.parts_of(el).find(|&child| group(tree.part(child).kind) == Group::LoopCharacteristics);
    let mut inner: Vec<(&str, El, Vec<El>)> =
        marker.into_iter().map(|marker| (MULTI_INSTANCE, marker, inside(marker))).collect();
    let events = tree.parts_of(el).filter(|&child| group(tree.part(child).kind) == Group::EventDefinition);
    for event in events {
        let name = tree.part(event).local();
        // What is put back at a definition without an id is found by its name, so that only the first one counts.
        let first = inner.iter().all(|(own, ..)| *own != name);
        if first || tree.attribute(event, "id").is_some_and(|id| !id.is_empty()) {
            inner.push((name, event, inside(event)));
        }
    }
    let parts = Parts { node: el, extensions: inside(el), inner };
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
    put_events(writer, node, &mut source);
    source.push_str("</node>");
    if source.len() == "<node></node>".len() {
        return settle(&[], subscribed(node, owner, writer.state.inner_event, &writer.state.extensions));
    }
    let key = subscribed(node, owner, writer.state.inner_event, &writer.state.extensions);
    let Ok(tree) = tree::parse(&source, writer.around()) else { return settle(&[], key) };
    let (mut extensions, mut inner) = (Vec::new(), Vec::new());
    for child in tree.parts_of(0) {
        let name = tree.part(child).name;
        let marker = (name == "marker").then_some(MULTI_INSTANCE);
        match marker.or_else(|| name.strip_prefix(DEFINITION)) {
            Some(owner) => {
                let parts = tree.parts_of(child).flat_map(|part| tree.parts_of(part));
                inner.push((owner, child, parts.collect()));
            }
            None => extensions.push(child),
        }
    }
    let parts = Parts { node: 0, extensions, inner };
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

/// Beginning of the names of elements that stand for event definitions.
const DEFINITION: &str = "definition-";

/// Appends what is put back at the event definitions of the node that is being written, each as an element of its own.
fn put_events(writer: &Writer<'_>, node: &Node, out: &mut String) {
    let events = node.bpmn.as_ref().and_then(|bpmn| bpmn.event_definitions.as_deref()).unwrap_or_default();
    let mut names: Vec<&str> = Vec::new();
    for event in events {
        let Some(name) = event.kind() else { continue };
        let id = event.id.as_deref().filter(|id| !id.is_empty());
        let first = !names.contains(&name);
        names.push(name);
        let own = kind_named(&format!("{name}EventDefinition"));
        if own == UNKNOWN || (id.is_none() && !first) {
            continue;
        }
        let Some(preserved) = writer.preserved_below(id, own) else { continue };
        out.push_str(&format!("<{DEFINITION}{name}EventDefinition"));
        preserved.put_attributes(out);
        out.push('>');
        for child in preserved.children.iter().filter(|child| child.kind == kind("extensionElements")) {
            out.push_str(&child.xml);
        }
        out.push_str(&format!("</{DEFINITION}{name}EventDefinition>"));
    }
}

fn hits(tree: &Tree<'_>, parts: &Parts<'_>, owner: &str, context: &Context) -> Vec<Hit> {
    let mut found = Vec::new();
    let mut at = |el: El, extensions: &[El], owner: &str| {
        found
            .extend((0..tree.attributes(el).len()).filter_map(|index| attribute_hit(tree, el, index, owner)));
        let children = extensions.iter().enumerate();
        found.extend(children.filter_map(|(order, &child)| element_hit(tree, child, order, owner, context)));
    };
    at(parts.node, &parts.extensions, owner);
    for (name, el, extensions) in &parts.inner {
        at(*el, extensions, name);
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
    // Members of a signal's payload are gathered one by one, and it is one expression.
    if let Some(Value::Object(members)) = found.get("payload") {
        let entries: Vec<(String, Value)> =
            members.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        found.insert("payload".to_owned(), format!("={}", context_of(&entries)).into());
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
