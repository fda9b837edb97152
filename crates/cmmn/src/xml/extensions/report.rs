//! Items of an import: outcomes for single words and elements.

use super::table::{self, Effect, Map};
use super::{Hit, Members};
use crate::diagnostic::{self, Diagnostic};
use crate::model::ImportItem;
use crate::xml::Group;
use crate::xml::names::{Cmmn, Ns, UNKNOWN, ns};
use crate::xml::read::note;
use crate::xml::vocabulary::{Reader, group};
use heddle_xml::{El, Names as _};
use serde_json::{Map as Object, Value};

/// The items of the words of one element; `settled` is what they came to together, `own` the document's own settings,
/// which count in the place of words for the same members.
pub(super) fn items(
    reader: &Reader<'_>,
    element_type: &str,
    name: Option<&str>,
    hits: &[Hit],
    settled: &Object<String, Value>,
    own: Option<&Object<String, Value>>,
) -> Vec<ImportItem> {
    let id = reader.nearest_id().map(str::to_owned);
    let item = |hit: &Hit| {
        let (outcome, reason, members) = outcome(hit, element_type, settled);
        let (outcome, reason) = match outcome {
            "unsupported" if replaced(hit, own) => {
                ("preserved", "The element has the setting itself, which counts.".to_owned())
            }
            _ => (outcome, reason),
        };
        let members = members.filter(|members| !members.is_empty());
        let configuration = members.map(|members| {
            members.iter().map(|(member, value)| ((*member).to_owned(), value.clone())).collect()
        });
        ImportItem {
            configuration,
            element_id: id.clone(),
            element_type: Some(element_type.to_owned()),
            message: Some(format!("{}: {reason}", hit.name)),
            name: name.map(str::to_owned),
            outcome: Some(outcome.to_owned()),
            source_id: id.clone(),
            source_kind: Some(hit.name.clone()),
        }
    };
    hits.iter().map(item).collect()
}

/// Whether the element has the setting that a word fails to give.
fn replaced(hit: &Hit, own: Option<&Object<String, Value>>) -> bool {
    let member = hit.word.and_then(|word| word.becomes.first());
    member.is_some_and(|member| own.is_some_and(|own| own.contains_key(*member)))
}

fn outcome<'h>(
    hit: &'h Hit,
    element_type: &str,
    settled: &Object<String, Value>,
) -> (&'static str, String, Option<&'h Members>) {
    let unmapped = |word: &table::Word| match word.effect {
        Effect::Refused => "unsupported",
        Effect::Quiet | Effect::Told => "preserved",
    };
    match (hit.word, &hit.verdict) {
        (Some(word), Ok(_)) if matches!(word.map, Map::Unless(_)) => {
            ("mapped", "It says what is so here anyway.".to_owned(), None)
        }
        (Some(word), Ok(members)) if members.iter().all(|(member, _)| settled.contains_key(*member)) => {
            ("mapped", word.reason.to_owned(), Some(members))
        }
        (Some(_), Ok(_)) => {
            let sentence = "Another word for the same setting cannot be mapped, so that none is.";
            ("unsupported", sentence.to_owned(), None)
        }
        (Some(word), Err(_)) if word.map == Map::Keep => (unmapped(word), word.reason.to_owned(), None),
        (Some(word), Err(reason)) => (unmapped(word), format!("It is not mapped: {reason}."), None),
        (None, _) => {
            let sentence =
                format!("It has no known meaning at {element_type}; it is kept and exported again.");
            ("preserved", sentence, None)
        }
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

/// Whether the vendors' words of an element are reported with its settings.
fn has_settings(reader: &Reader<'_>) -> bool {
    let own = group(reader.tree.part(reader.current()).kind);
    matches!(own, Group::PlanItemDefinition | Group::OnPart | Group::Element)
}

/// Notes an attribute of another namespace on the element that is being read.
pub(in crate::xml) fn note_attribute(reader: &mut Reader<'_>, name: &str) {
    let tree = reader.tree;
    let el = reader.current();
    let element = tree.part(el);
    if group(element.kind) == Group::Diagram {
        return;
    }
    let attribute = tree.attributes(el).iter().find(|attribute| attribute.name == name);
    let vendor = attribute.and_then(|attribute| table::vendor_of(tree.uri(attribute.ns)));
    if vendor.is_none() || !has_settings(reader) {
        let item = kept(reader, element.local(), name);
        reader.state.push_item(item);
    }
}

/// Notes an element that has no place in the definition's members.
pub(in crate::xml) fn note_child(reader: &mut Reader<'_>, child: El) {
    let tree = reader.tree;
    let element = tree.part(child);
    let parent = tree.part(reader.current());
    let of_the_model = element.ns == ns::MODEL || element.ns == ns::MODEL_10;
    if group(element.kind) == Group::Diagram || group(parent.kind) == Group::Diagram {
        return;
    }
    if of_the_model && element.local() == "extensionElements" {
        for extension in tree.parts_of(child) {
            note_extension(reader, extension);
        }
    } else if of_the_model && element.kind == UNKNOWN {
        unknown(reader, child);
    } else if of_the_model {
        if element.local() != "documentation" {
            misplaced(reader, child);
        }
    } else if element.ns != Ns::NONE && element.ns != Ns::XML && !Cmmn::knows(element.ns) {
        note_extension(reader, child);
    }
}

/// An element of the standard where the standard does not have it.
fn misplaced(reader: &mut Reader<'_>, child: El) {
    let (name, around) = (reader.tree.local(child), reader.tree.local(reader.current()));
    let message = format!(
        "{name} stands in {around}, where CMMN does not have it, or once too often; it is kept, but has no effect."
    );
    let item = standard_item(reader, child, "preserved", message);
    reader.state.push_item(item);
}

fn unknown(reader: &mut Reader<'_>, child: El) {
    let message = format!("CMMN has no element {}; it is kept, but has no effect.", reader.tree.local(child));
    let item = standard_item(reader, child, "unsupported", message.clone());
    let element_id = item.element_id.clone().or_else(|| reader.nearest_id().map(str::to_owned));
    note(reader, Diagnostic { element_id, ..diagnostic::warning("unknownElement", message) });
    reader.state.push_item(item);
}

/// An item about an element of the standard's namespace.
fn standard_item(reader: &Reader<'_>, el: El, outcome: &str, message: String) -> ImportItem {
    let (id, name) = (reader.tree.attribute(el, "id").map(|id| id.into_owned()), reader.tree.local(el));
    ImportItem {
        element_id: id.clone(),
        element_type: Some(name.to_owned()),
        outcome: Some(outcome.to_owned()),
        message: Some(message),
        source_id: id,
        source_kind: Some(format!("cmmn:{name}")),
        ..ImportItem::default()
    }
}

/// Notes an extension element below the element that is being read.
pub(in crate::xml) fn note_extension(reader: &mut Reader<'_>, child: El) {
    let tree = reader.tree;
    let element = tree.part(child);
    let vendor = table::vendor_of(tree.uri(element.ns));
    if element.ns == ns::HEDDLE || element.name.is_empty() || (vendor.is_some() && has_settings(reader)) {
        return;
    }
    let owner = tree.part(reader.current()).local();
    let item = kept(reader, owner, element.name);
    reader.state.push_item(item);
}
