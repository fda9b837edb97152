//! The rows of all model types.

#[macro_use]
mod macros;

mod collaboration;
mod data;
mod definitions;
mod diagram;
mod event;
mod node;
mod process;

pub(super) use definitions::DEFINITIONS;

use super::names::kind;
use super::vocabulary::{Child, Row};
use serde::Serialize;

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

/// The data as text, unless it says nothing.
fn data_text<T: Serialize + Default + PartialEq>(data: &T) -> Option<String> {
    if *data == T::default() { None } else { serde_json::to_string(data).ok() }
}

/// The known name that is given, or else the first known one.
fn one_of(given: Option<&str>, known: &[&'static str]) -> &'static str {
    let found = known.iter().find(|name| Some(**name) == given).or(known.first());
    found.copied().unwrap_or_default()
}
