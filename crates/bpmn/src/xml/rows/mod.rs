//! The rows of all shapes.

mod collaboration;
mod data;
mod definitions;
mod diagram;
mod event;
mod node;
mod process;

pub(super) use definitions::DEFINITIONS;

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

/// Reads the definition's own data out of extension elements; the other children are answered.
fn extension_data<T: DeserializeOwned>(reader: &mut Reader<'_>, el: El) -> (Option<T>, Vec<El>) {
    use super::names::Ns;
    let tree = reader.tree;
    let mut data = None;
    let mut others = Vec::new();
    for child in tree.children(el) {
        let element = tree.get(child);
        if element.ns != Ns::Heddle || element.local != "data" {
            others.push(child);
            continue;
        }
        match serde_json::from_str(&tree.text(child)) {
            Ok(value) => data = Some(value),
            Err(error) => {
                let message = format!("The element heddle:data is not understood: {error}.");
                reader.note(crate::diagnostic::Diagnostic::warning("invalidData", message));
            }
        }
    }
    (data, others)
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
