//! The element table: every element of BPMN 2.0.2 and where it goes.

#![expect(clippy::indexing_slicing, reason = "tables and slots of the same length, made at compile time")]

pub use crate::element::{ElementRow, Group};
use heddle_xml::Names;
pub(crate) use heddle_xml::{COMMENT, Kind, Ns, UNKNOWN};

use super::{BPMNDI_NS, DC_NS, DI_NS, HEDDLE_NS, MODEL_NS, XSI_NS};

/// The names of BPMN, its diagrams, and this product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bpmn;

impl Names for Bpmn {
    const NAMESPACES: &'static [&'static str] = &[MODEL_NS, BPMNDI_NS, DC_NS, DI_NS, XSI_NS, HEDDLE_NS];

    fn kind(namespace: Ns, local: &str) -> Kind {
        kind_of(namespace, local)
    }
}

/// The namespaces of [`Bpmn`].
pub(crate) mod ns {
    use heddle_xml::Ns;

    pub(crate) const MODEL: Ns = Ns::known(0);
    pub(crate) const BPMN_DI: Ns = Ns::known(1);
    pub(crate) const DC: Ns = Ns::known(2);
    pub(crate) const DI: Ns = Ns::known(3);
    pub(crate) const XSI: Ns = Ns::known(4);
    pub(crate) const HEDDLE: Ns = Ns::known(5);
}

/// Whether a namespace is one of the standard's or this product's own.
pub(crate) fn is_known(uri: &str) -> bool {
    uri.is_empty() || Bpmn::NAMESPACES.contains(&uri)
}

/// All elements of the standard that the table holds.
pub fn element_rows() -> &'static [ElementRow] {
    ELEMENTS
}

/// The row of an element name of the BPMN model namespace.
pub fn element_row(name: &str) -> Option<&'static ElementRow> {
    row(kind_of(ns::MODEL, name))
}

/// The row of a kind.
pub(crate) fn row(kind: Kind) -> Option<&'static ElementRow> {
    ELEMENTS.get(usize::from(kind))
}

/// The table's index of an element.
pub(crate) fn kind_of(ns: Ns, local: &str) -> Kind {
    if !(ns::MODEL..=ns::DI).contains(&ns) {
        return UNKNOWN;
    }
    let kind = kind_named(local);
    if row(kind).is_some_and(|row| row.ns() == ns) { kind } else { UNKNOWN }
}

/// The table's index of an element name, whatever its namespace.
pub(crate) fn kind_named(name: &str) -> Kind {
    let mut slot = slot(name.as_bytes());
    loop {
        let Some(row) = row(SLOTS[slot]) else { return UNKNOWN };
        if row.name == name {
            return SLOTS[slot];
        }
        slot = (slot + 1) % SLOTS.len();
    }
}

/// First slot of the search for a name: its length and three of its bytes tell the table's names apart well.
const fn slot(name: &[u8]) -> usize {
    let length = name.len();
    if length == 0 {
        return 0;
    }
    let (first, middle, last) = (name[0] as usize, name[length / 2] as usize, name[length - 1] as usize);
    let fourth = name[length / 4] as usize;
    (length * 97 + first * 31 + middle * 7 + last * 57 + fourth * 131) % SLOT_COUNT
}

const SLOT_COUNT: usize = 1024;

/// The elements by [`slot`], each in the next free place; never full, so that every search ends.
static SLOTS: [Kind; SLOT_COUNT] = {
    let mut slots = [UNKNOWN; SLOT_COUNT];
    let mut index = 0;
    while index < SORTED.len() {
        let mut at = slot(SORTED[index].name.as_bytes());
        while slots[at] != UNKNOWN {
            at = (at + 1) % SLOT_COUNT;
        }
        slots[at] = index as Kind;
        index += 1;
    }
    slots
};

/// The table's index of an element name that a row of children names; the name must stand in the table.
#[expect(clippy::panic, reason = "evaluated at compile time only, where it fails the build")]
pub(crate) const fn kind(name: &str) -> Kind {
    let mut index = 0;
    while index < ELEMENTS.len() {
        if same(ELEMENTS[index].name.as_bytes(), name.as_bytes()) {
            return index as Kind;
        }
        index += 1;
    }
    panic!("the element table lacks a name")
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// Elements by name in byte order, so that a binary search finds a row.
static ELEMENTS: &[ElementRow] = &SORTED;

const UNSORTED: &[ElementRow] = crate::element::ROWS;

const SORTED: [ElementRow; UNSORTED.len()] = sorted();

/// Insertion sort at compile time.
const fn sorted() -> [ElementRow; UNSORTED.len()] {
    let mut rows = [UNSORTED[0]; UNSORTED.len()];
    let mut index = 0;
    while index < UNSORTED.len() {
        let mut at = index;
        while at > 0 && less(UNSORTED[index].name.as_bytes(), rows[at - 1].name.as_bytes()) {
            rows[at] = rows[at - 1];
            at -= 1;
        }
        rows[at] = UNSORTED[index];
        index += 1;
    }
    rows
}

const fn less(left: &[u8], right: &[u8]) -> bool {
    let mut index = 0;
    while index < left.len() && index < right.len() {
        if left[index] != right[index] {
            return left[index] < right[index];
        }
        index += 1;
    }
    left.len() < right.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_name() {
        for (index, row) in ELEMENTS.iter().enumerate() {
            assert_eq!(usize::from(kind_of(row.ns(), row.name)), index, "{}", row.name);
        }
        assert_eq!(kind_of(ns::MODEL, "Bounds"), UNKNOWN);
        assert_eq!(kind_of(Ns::NONE, "task"), UNKNOWN);
    }
}
