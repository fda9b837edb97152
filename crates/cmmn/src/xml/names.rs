//! The element table: every element of CMMN 1.1, of its diagrams, and of CMMN 1.0.

#![expect(clippy::indexing_slicing, reason = "a table and its index, made at compile time")]

use super::{CMMNDI_NS, DC_NS, DI_NS, HEDDLE_NS, MODEL_10_NS, MODEL_NS, XSI_NS};
use heddle_xml::Names;
pub(crate) use heddle_xml::{Kind, Ns, UNKNOWN};

/// The names of CMMN, its diagrams, and this product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cmmn;

impl Names for Cmmn {
    const NAMESPACES: &'static [&'static str] =
        &[MODEL_NS, CMMNDI_NS, DC_NS, DI_NS, XSI_NS, HEDDLE_NS, MODEL_10_NS];

    fn kind(namespace: Ns, local: &str) -> Kind {
        let namespace = if namespace == ns::MODEL_10 { ns::MODEL } else { namespace };
        match ELEMENTS.binary_search_by(|row| row.name.cmp(local)) {
            Ok(at) if ELEMENTS[at].ns == namespace => Kind::try_from(at).unwrap_or(UNKNOWN),
            Ok(_) | Err(_) => UNKNOWN,
        }
    }
}

/// The namespaces of [`Cmmn`].
pub(crate) mod ns {
    use heddle_xml::Ns;

    pub(crate) const MODEL: Ns = Ns::known(0);
    pub(crate) const CMMN_DI: Ns = Ns::known(1);
    pub(crate) const DC: Ns = Ns::known(2);
    pub(crate) const DI: Ns = Ns::known(3);
    pub(crate) const XSI: Ns = Ns::known(4);
    pub(crate) const HEDDLE: Ns = Ns::known(5);
    pub(crate) const MODEL_10: Ns = Ns::known(6);
}

/// Class of an element by its place in the definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// A definition of plan items: a stage, a task, a milestone, an event listener.
    PlanItemDefinition,
    /// An on-part of a sentry.
    OnPart,
    /// The event with which a timer starts.
    StartTrigger,
    /// A text annotation or an association.
    Artifact,
    /// An element that carries settings.
    Element,
    /// An element of diagram interchange.
    Diagram,
    /// A part of other elements.
    Part,
}

/// One element of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementRow {
    /// Local name.
    pub name: &'static str,
    /// Class of its place in the definition.
    pub group: Group,
    ns: Ns,
}

impl ElementRow {
    /// The namespace.
    pub(crate) const fn ns(&self) -> Ns {
        self.ns
    }

    /// Whether it is of the model, and not of its diagrams.
    #[must_use]
    pub fn is_of_the_model(&self) -> bool {
        self.ns == ns::MODEL
    }
}

/// All elements that the table holds, by name.
#[must_use]
pub fn element_rows() -> &'static [ElementRow] {
    ELEMENTS
}

/// The row of a kind.
pub(crate) fn row(kind: Kind) -> Option<&'static ElementRow> {
    ELEMENTS.get(usize::from(kind))
}

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

const fn of(ns: Ns, group: Group, name: &'static str) -> ElementRow {
    ElementRow { name, group, ns }
}

const fn part(name: &'static str) -> ElementRow {
    of(ns::MODEL, Group::Part, name)
}

const fn element(name: &'static str) -> ElementRow {
    of(ns::MODEL, Group::Element, name)
}

const fn definition(name: &'static str) -> ElementRow {
    of(ns::MODEL, Group::PlanItemDefinition, name)
}

const fn drawn(name: &'static str) -> ElementRow {
    of(ns::CMMN_DI, Group::Diagram, name)
}

/// Elements by name in byte order, so that a binary search finds a row.
const ELEMENTS: &[ElementRow] = &[
    of(ns::DC, Group::Diagram, "Bounds"),
    drawn("CMMNDI"),
    drawn("CMMNDiagram"),
    drawn("CMMNEdge"),
    drawn("CMMNLabel"),
    drawn("CMMNShape"),
    drawn("CMMNStyle"),
    drawn("FillColor"),
    drawn("FontColor"),
    drawn("Size"),
    drawn("StrokeColor"),
    part("applicabilityRule"),
    of(ns::MODEL, Group::Artifact, "association"),
    part("bindingRefinement"),
    part("body"),
    element("case"),
    element("caseFileItem"),
    element("caseFileItemDefinition"),
    of(ns::MODEL, Group::OnPart, "caseFileItemOnPart"),
    of(ns::MODEL, Group::StartTrigger, "caseFileItemStartTrigger"),
    part("caseFileModel"),
    element("casePlanModel"),
    part("caseRefExpression"),
    part("caseRoles"),
    definition("caseTask"),
    part("children"),
    part("condition"),
    part("decision"),
    part("decisionRefExpression"),
    definition("decisionTask"),
    element("defaultControl"),
    part("definitions"),
    element("discretionaryItem"),
    part("documentation"),
    element("entryCriterion"),
    definition("eventListener"),
    element("exitCriterion"),
    of(ns::DI, Group::Diagram, "extension"),
    part("extensionElements"),
    definition("humanTask"),
    part("ifPart"),
    part("import"),
    part("input"),
    part("inputs"),
    element("itemControl"),
    element("manualActivationRule"),
    definition("milestone"),
    part("output"),
    part("outputs"),
    part("parameterMapping"),
    definition("planFragment"),
    element("planItem"),
    of(ns::MODEL, Group::OnPart, "planItemOnPart"),
    of(ns::MODEL, Group::StartTrigger, "planItemStartTrigger"),
    element("planningTable"),
    part("process"),
    part("processRefExpression"),
    definition("processTask"),
    part("property"),
    part("relationship"),
    element("repetitionRule"),
    element("requiredRule"),
    element("role"),
    element("sentry"),
    part("source"),
    definition("stage"),
    part("standardEvent"),
    part("target"),
    definition("task"),
    part("text"),
    of(ns::MODEL, Group::Artifact, "textAnnotation"),
    definition("timerEventListener"),
    part("timerExpression"),
    part("transformation"),
    definition("userEventListener"),
    of(ns::DI, Group::Diagram, "waypoint"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_by_its_name() {
        for (index, row) in ELEMENTS.iter().enumerate() {
            assert_eq!(usize::from(Cmmn::kind(row.ns(), row.name)), index, "{}", row.name);
            assert_eq!(kind(row.name), Cmmn::kind(row.ns(), row.name));
        }
        assert_eq!(Cmmn::kind(ns::MODEL_10, "stage"), kind("stage"));
        assert_eq!(Cmmn::kind(ns::MODEL, "Bounds"), UNKNOWN);
        assert_eq!(Cmmn::kind(Ns::NONE, "task"), UNKNOWN);
    }
}
