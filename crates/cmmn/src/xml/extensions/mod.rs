//! Vendors' extensions: one table of their words, what is mapped to `configuration`, and what is reported.
//!
//! Everything stays in the definition as it was read (`extensionXml` and preserved content), so that export writes it
//! back. What has the same meaning here becomes a member of `configuration` besides; where the two disagree after an
//! edit, `configuration` counts. Expressions of vendors stay as they are written: what compiles a case translates them.

mod map;
mod owner;
mod report;
mod table;
#[cfg(test)]
mod tests;

pub(super) use owner::Extended;
pub(super) use report::{note_attribute, note_child, note_extension};

use super::names::kind;
use super::vocabulary::{Reader, Row, Writer};
use super::{Tree, XmlError};
use crate::diagnostic::{self, Diagnostic};
use crate::model::CaseDefinition;
use heddle_xml::El;
use heddle_xml::mapping::Extensions;
use serde::{Deserialize, Serialize};
use serde_json::{Map as Object, Value};
use std::collections::BTreeSet;

/// Members of `configuration` with their values.
type Members = Vec<(&'static str, Value)>;

/// Settings of an element that CMMN has no place for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Data {
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration: Option<Object<String, Value>>,
}

/// A word found at an element, with what it becomes.
#[derive(Debug)]
struct Hit {
    /// Name as written.
    name: String,
    /// Row of the word; none when the table has none for this element.
    word: Option<&'static table::Word>,
    /// The members that it becomes, or why it becomes none.
    verdict: Result<Members, String>,
}

/// The namespaces of the vendors whose words are known.
pub fn namespaces() -> impl Iterator<Item = &'static str> {
    table::VENDORS.iter().map(|(_, _, uri)| *uri)
}

/// Findings about words of vendors that ask for what is not done here, since what has such a word would do something
/// else than its author meant, and about elements that CMMN does not have.
#[must_use]
pub fn unsupported(definition: &CaseDefinition) -> Vec<Diagnostic> {
    if definition.fragments.is_none() && !names_a_vendor(definition) {
        return Vec::new();
    }
    // The words are looked for where they would be written.
    let written = match super::write(definition) {
        Ok(written) => written.xml,
        Err(error) => return vec![diagnostic::error("notExportable", error.to_string())],
    };
    let items = match super::read(written.as_bytes()) {
        Ok(read) => read.items,
        Err(error) => return vec![diagnostic::error("notExportable", error.to_string())],
    };
    let refused = items.into_iter().filter(|item| item.outcome.as_deref() == Some("unsupported"));
    let found = refused.map(|item| {
        let message = item.message.unwrap_or_default();
        let of_the_standard = item.source_kind.is_some_and(|kind| kind.starts_with("cmmn:"));
        let finding = if of_the_standard {
            diagnostic::warning("unknownElement", message)
        } else {
            diagnostic::error("unsupportedExtension", message)
        };
        // What stands beside the elements of the standard is the base element's (clause 5.1.1).
        let finding = finding.with_clause("5.1.1");
        let path = path_of(definition, item.element_id.as_deref());
        Diagnostic { element_id: item.element_id, path, ..finding }
    });
    found.collect()
}

/// JSON path of the element with an id; that of the preserved content where no member has it.
fn path_of(definition: &CaseDefinition, id: Option<&str>) -> Option<String> {
    let document = serde_json::to_value(definition).ok()?;
    let mut open = vec![(String::new(), &document)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(members) => {
                if id.is_some() && members.get("id").and_then(Value::as_str) == id {
                    return Some(path);
                }
                let dot = if path.is_empty() { "" } else { "." };
                open.extend(members.iter().map(|(name, inner)| (format!("{path}{dot}{name}"), inner)));
            }
            Value::Array(items) => {
                let numbered = items.iter().enumerate();
                open.extend(numbered.map(|(number, inner)| (format!("{path}[{number}]"), inner)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Some("fragments".to_owned())
}

/// Whether the namespace of a vendor stands anywhere in a definition.
fn names_a_vendor(definition: &CaseDefinition) -> bool {
    let text = serde_json::to_string(definition);
    text.is_ok_and(|text| namespaces().any(|uri| text.contains(uri)))
}

/// Reads an element into its model type, with the settings that its words give.
pub(super) fn read<T: Extended>(
    reader: &mut Reader<'_>,
    row: &'static Row<T>,
    model: &mut T,
    el: El,
) -> Result<(), XmlError> {
    reader.enter(el, true);
    reader.fill(row, model, el)?;
    read_settings(reader, model, el);
    reader.leave();
    Ok(())
}

/// Settings that the document itself gives as the definition's own data; they count before the words.
fn read_settings<T: Extended>(reader: &mut Reader<'_>, model: &mut T, el: El) {
    let tree = reader.tree;
    let holders = tree.parts_of(el).filter(|&child| tree.part(child).kind == kind("extensionElements"));
    let extensions: Vec<El> = holders.flat_map(|holder| tree.parts_of(holder)).collect();
    let hits = hits(tree, el, &extensions, model.owner());
    if hits.is_empty() {
        return;
    }
    let settled = settle(&hits);
    if !reader.is_muted() {
        let own = model.configuration();
        let items = report::items(reader, tree.local(el), model.label(), &hits, &settled, own);
        items.into_iter().for_each(|item| reader.state.push_item(item));
    }
    if model.configuration().is_none() && !settled.is_empty() {
        *model.configuration_mut() = Some(settled);
    }
}

/// Reads the extension elements of an element with settings.
pub(super) fn read_elements<T: Extended>(
    reader: &mut Reader<'_>,
    model: &mut T,
    el: El,
) -> Result<bool, XmlError> {
    if model.extension_xml().is_some() || model.configuration().is_some() {
        return Ok(false);
    }
    let Some(Extensions { data, others, fragments }) = reader.extensions::<Data>(el) else {
        return Ok(false);
    };
    if data.is_none() || !others.is_empty() {
        *model.extension_xml_mut() = Some(fragments);
    }
    reader.keep_attributes(el);
    for child in others {
        note_extension(reader, child);
    }
    *model.configuration_mut() = data.and_then(|data| data.configuration);
    Ok(true)
}

/// Writes the extension elements of an element with settings.
pub(super) fn write_elements<T: Extended>(writer: &mut Writer<'_>, model: &T) {
    let fragments = model.extension_xml().as_deref();
    let derived = derived(writer, model, fragments.unwrap_or_default());
    let configuration = match model.configuration() {
        Some(configuration) if *configuration != derived => Some(configuration.clone()),
        // Words that say something would be read as settings again.
        None if !derived.is_empty() => Some(Object::new()),
        _ => None,
    };
    let data = configuration.and_then(|own| serde_json::to_string(&Data { configuration: Some(own) }).ok());
    writer.extensions(data, fragments);
}

/// Settings that the vendors' words on the element that is being written give by themselves.
fn derived<T: Extended>(writer: &Writer<'_>, model: &T, fragments: &[String]) -> Object<String, Value> {
    let mut source = String::from("<own");
    writer.put_attributes(&mut source);
    source.push('>');
    fragments.iter().for_each(|fragment| source.push_str(fragment));
    source.push_str("</own>");
    if source.len() == "<own></own>".len() {
        return Object::new();
    }
    let Ok(tree) = super::parse(&source, writer.around()) else { return Object::new() };
    let extensions: Vec<El> = tree.parts_of(0).collect();
    settle(&hits(&tree, 0, &extensions, model.owner()))
}

/// The words of an element and of its extensions.
fn hits(tree: &Tree<'_>, el: El, extensions: &[El], owner: &str) -> Vec<Hit> {
    let mut found = Vec::new();
    for attribute in tree.attributes(el) {
        let Some(vendor) = table::vendor_of(tree.uri(attribute.ns)) else { continue };
        let word = table::find(vendor, table::Kind::Attribute, attribute.local(), owner);
        let verdict = match word {
            Some(word) => map::Place { tree, el, holder: el, word }.attribute(&attribute.value()),
            None => Err(misplaced(owner)),
        };
        found.push(Hit { name: attribute.name.to_owned(), word, verdict });
    }
    for &child in extensions {
        let element = tree.part(child);
        let Some(vendor) = table::vendor_of(tree.uri(element.ns)) else { continue };
        let word = table::find(vendor, table::Kind::Element, element.local(), owner);
        let verdict = match word {
            Some(word) => map::Place { tree, el: child, holder: el, word }.element(),
            None => Err(misplaced(owner)),
        };
        found.push(Hit { name: element.name.to_owned(), word, verdict });
    }
    found
}

fn misplaced(owner: &str) -> String {
    format!("it has no known meaning at {owner}")
}

/// Gathers the members. Where one of the words for a member cannot be mapped, none of them is: half of the inputs
/// would look like all.
fn settle(hits: &[Hit]) -> Object<String, Value> {
    let failing = hits.iter().filter(|hit| hit.verdict.is_err());
    let failed: BTreeSet<&str> = failing.filter_map(|hit| hit.word?.becomes.first().copied()).collect();
    let mut found = Object::new();
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
