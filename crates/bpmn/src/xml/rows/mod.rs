//! The rows of all model types.

mod collaboration;
mod data;
mod definitions;
mod diagram;
mod event;
mod node;
mod process;

pub(super) use definitions::DEFINITIONS;

use super::names::{COMMENT, ns};
use super::read::Reader;
use super::row::{Child, Row};
use super::tree::El;
use serde::{Serialize, de::DeserializeOwned};

/// An element that has nothing but a name.
#[derive(Default)]
pub(super) struct Named {
    pub name: Option<String>,
}

pub(super) static NAMED: Row<Named> = Row { attributes: &[&[attr!(Text "name" name)]], children: &[] };

/// The row of an element that says something with its content only; documentation and extensions are kept.
const fn kept_head<T>() -> [Child<T>; 2] {
    [kept!("documentation"), kept!("extensionElements")]
}

/// What extension elements hold.
struct Extensions<T> {
    /// The definition's own data.
    data: Option<T>,
    /// The other elements.
    others: Vec<El>,
    /// The same as XML text, with the comments before each.
    fragments: Vec<String>,
}

/// Reads extension elements; none when they hold what is no element and must be kept as a whole.
fn extension_data<T: DeserializeOwned>(reader: &mut Reader<'_>, el: El) -> Option<Extensions<T>> {
    let tree = reader.tree;
    if tree.part(el).has_text {
        return None;
    }
    let mut found = Extensions { data: None, others: Vec::new(), fragments: Vec::new() };
    let mut comments = String::new();
    for child in tree.parts_of(el) {
        let element = tree.part(child);
        if element.kind == COMMENT {
            comments.push_str(&tree.fragment(child));
        } else if element.ns != ns::HEDDLE || element.local() != "data" {
            found.others.push(child);
            found.fragments.push(std::mem::take(&mut comments) + &tree.fragment(child));
        } else {
            match serde_json::from_str(&tree.text(child)) {
                Ok(value) => found.data = Some(value),
                Err(error) => {
                    let message = format!("The element heddle:data is not understood: {error}.");
                    reader.note(crate::diagnostic::Diagnostic::warning("invalidData", message));
                }
            }
        }
    }
    if !comments.is_empty() {
        found.fragments.last_mut()?.push_str(&comments);
    }
    Some(found)
}

/// Keeps the attributes of an element that is read without a row.
fn keep_attributes(reader: &mut Reader<'_>, el: El) {
    let tree = reader.tree;
    if tree.attributes(el).is_empty() && tree.declarations(el).is_empty() {
        return;
    }
    reader.enter(el, false);
    for attribute in tree.attributes(el) {
        reader.keep_attribute(usize::MAX, attribute.name, attribute.raw, attribute.ns);
    }
    reader.leave();
}

/// The data as text, unless it says nothing.
fn data_text<T: Serialize + Default + PartialEq>(data: &T) -> Option<String> {
    if *data == T::default() { None } else { serde_json::to_string(data).ok() }
}

/// The known name that is given, or else the first known one.
fn one_of(given: Option<&str>, known: &[&'static str]) -> &'static str {
    let found = known.iter().find(|name| Some(**name) == given).or(known.first());
    found.copied().unwrap_or_default()
}
