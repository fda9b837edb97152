//! The Common Executable sub-class of BPMN 2.0.2 (clause 2.2), each attribute of its tables tried with a model.

use crate::Extent;
use crate::bpmn::{Tried, attempt};
use heddle_bpmn_validate::profile::models::{mark, model, rendered};
use heddle_bpmn_validate::profile::{ELEMENTS, Row, SUPPORTING, words};
use serde::Serialize;
use std::sync::OnceLock;

/// Attributes and parts that the standard gives no meaning at run time, or that only repeat what the flow
/// says.
const NOT_OPERATIONAL: &[&str] = &["id", "name", "gatewayDirection", "text", "renderings"];

/// An attribute or part of an element of the sub-class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProfileAttribute {
    /// Name of the attribute or part in the standard's table.
    pub name: &'static str,
    /// Whether the element must have it.
    pub required: bool,
    /// Whether the reader has a member for it.
    pub readable: bool,
    /// Whether it is written as it was read.
    pub writable: bool,
    /// Extent to which it is executed: whether a process with it runs, and runs in another way than one
    /// without it.
    pub executed: Extent,
}

/// An element of the sub-class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProfileElement {
    /// Name of the element in the standard's table.
    pub feature: &'static str,
    /// The BPMN element.
    pub element: &'static str,
    /// The standard's table.
    pub table: &'static str,
    /// Attributes and parts of the element.
    pub attributes: Vec<ProfileAttribute>,
    /// Whether the reader has members for all of it.
    pub readable: bool,
    /// Whether all of it is written as it was read.
    pub writable: bool,
}

fn attribute(feature: &str, name: &'static str, required: bool) -> ProfileAttribute {
    let tried = tried(feature, name);
    ProfileAttribute {
        name,
        required,
        readable: tried.read,
        writable: tried.written,
        executed: tried.executed,
    }
}

/// The elements of Tables 2.3 and 2.4, each attribute tried with a model; made once.
pub fn common_executable() -> Vec<ProfileElement> {
    static MADE: OnceLock<Vec<ProfileElement>> = OnceLock::new();
    MADE.get_or_init(tables).clone()
}

fn tables() -> Vec<ProfileElement> {
    let tables = [("2.3", ELEMENTS), ("2.4", SUPPORTING)];
    let rows = tables.into_iter().flat_map(|(table, rows)| rows.iter().map(move |row| (table, row)));
    let element = |(table, (feature, element, attributes)): (&'static str, &Row)| {
        let attributes: Vec<_> =
            words(attributes).map(|(name, required)| attribute(feature, name, required)).collect();
        ProfileElement {
            feature,
            element: element.name(),
            table,
            readable: attributes.iter().all(|one| one.readable),
            writable: attributes.iter().all(|one| one.writable),
            attributes,
        }
    };
    rows.map(element).collect()
}

/// Tries an attribute of a row.
fn tried(feature: &str, word: &str) -> Tried {
    let nothing = Tried { read: false, written: false, executed: Extent::None };
    let Some(model) = model(feature) else { return nothing };
    let Some(mark) = mark(model, word) else { return nothing };
    let with = rendered(model, |own, always| always || own == word);
    let without = rendered(model, |own, always| always && own != word);
    let tried = attempt(&with, &without, mark);
    let operational = !NOT_OPERATIONAL.contains(&word);
    Tried { executed: if operational { tried.executed } else { Extent::NotOperational }, ..tried }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_of_the_tables_is_tried() {
        let all = common_executable();
        assert_eq!(all.iter().filter(|one| one.table == "2.3").count(), 23);
        let mut text = String::new();
        for one in &all {
            assert!(model(one.feature).is_some(), "{} has no model", one.feature);
            for attribute in &one.attributes {
                let own = model(one.feature).unwrap();
                assert!(mark(own, attribute.name).is_some(), "{} {}", one.feature, attribute.name);
                assert!(attribute.writable, "{} {} is lost", one.feature, attribute.name);
                let marks = [(attribute.required, '!'), (attribute.readable, 'r'), (attribute.writable, 'w')];
                let marks = marks.map(|(there, mark)| if there { mark } else { '-' });
                let marks: String = marks.iter().collect();
                text += &format!(
                    "{marks} {:14} {} / {}\n",
                    format!("{:?}", attribute.executed),
                    one.feature,
                    attribute.name
                );
            }
        }
        insta::assert_snapshot!(text);
    }
}
