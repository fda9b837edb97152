//! CMMN as a vocabulary of the mapping engine: its groups, the words of its order, and what it does itself.

use super::names::{Cmmn, kind, ns, row};
use super::read::Reading;
use super::write::Writing;
use super::{Group, LIMITS, MAX_JSON_DEPTH, extensions};
use crate::diagnostic::{self, Diagnostic};
use heddle_xml::mapping::{Finding, Match, Vocabulary};
use heddle_xml::{Attribute, El, Kind, Limits, Ns};

/// The reader of CMMN documents.
pub(super) type Reader<'s> = heddle_xml::mapping::Reader<'s, Cmmn>;
/// The writer of CMMN documents.
pub(super) type Writer<'d> = heddle_xml::mapping::Writer<'d, Cmmn>;
/// A model type's attributes and children.
pub(super) type Row<T> = heddle_xml::mapping::Row<Cmmn, T>;
/// A child of a model type.
pub(super) type Child<T> = heddle_xml::mapping::Child<Cmmn, T>;

/// The elements of a group.
pub(super) const fn any_of(group: Group) -> Match<Group> {
    Match::Choice(group)
}

/// The group of a kind; a part when the table does not hold it.
pub(super) fn group(kind: Kind) -> Group {
    row(kind).map_or(Group::Part, |row| row.group)
}

impl Vocabulary for Cmmn {
    const PREFIXES: &'static [&'static str] = &["cmmn", "cmmndi", "dc", "di", "xsi", "heddle", "cmmn"];
    const MODEL: Ns = ns::MODEL;
    const XSI: Ns = ns::XSI;
    const OWN: Ns = ns::HEDDLE;
    const ROOT: Kind = kind("definitions");
    const EXTENSION_ELEMENTS: Kind = kind("extensionElements");
    const EXPRESSION_TYPE: Option<&'static str> = None;
    const LIMITS: Limits = LIMITS;
    const MAX_NESTING: usize = MAX_JSON_DEPTH;
    const TOO_DEEP: &'static str =
        "Stages, planning tables or case file items are nested too deep (at most 24 within each other).";

    type Group = Group;
    type Choice = Group;
    type Reading<'s> = Reading<'s>;
    type Writing<'d> = Writing<'d>;

    fn element(kind: Kind) -> Option<(Ns, &'static str)> {
        row(kind).map(|row| (row.ns(), row.name))
    }

    fn group(kind: Kind) -> Group {
        group(kind)
    }

    fn takes(choice: Group, group: Group) -> bool {
        choice == group
    }

    /// Items, sentries, definitions, shapes and edges are many, so that their words are short.
    fn order_word(matches: Match<Group>) -> Option<&'static str> {
        Some(match matches {
            Match::Kind(own) if own == const { kind("CMMNShape") } => "s",
            Match::Kind(own) if own == const { kind("CMMNEdge") } => "e",
            Match::Kind(own) if own == const { kind("planItem") } => "i",
            Match::Kind(own) if own == const { kind("sentry") } => "y",
            Match::Kind(own) => row(own)?.name,
            Match::Choice(Group::PlanItemDefinition) => "d",
            Match::Choice(Group::OnPart) => "on",
            Match::Choice(Group::StartTrigger) => "trigger",
            Match::Choice(Group::Artifact) => "artifact",
            Match::Choice(Group::Element | Group::Diagram | Group::Part) => return None,
        })
    }

    fn written_as(state: &Writing<'_>, own: Ns) -> Ns {
        if state.is_10 && own == ns::MODEL { ns::MODEL_10 } else { own }
    }

    fn own_attribute(reader: &mut Reader<'_>, attribute: &Attribute<'_>) -> bool {
        let is_data = attribute.local() == "data";
        if is_data {
            super::read::own_data(reader, &attribute.value());
        }
        is_data
    }

    /// The type that all way points share is noted once, at the root.
    fn derives(reader: &mut Reader<'_>, attribute: &Attribute<'_>) -> bool {
        attribute.name == reader.xsi_type() && std::mem::take(&mut reader.state.same_waypoint_type)
    }

    fn found(reader: &mut Reader<'_>, finding: Finding) {
        let Finding { reason, message, element_id } = finding;
        super::read::note(reader, Diagnostic { element_id, ..diagnostic::warning(reason, message) });
    }

    fn preserves_attribute(reader: &mut Reader<'_>, name: &str) {
        extensions::note_attribute(reader, name);
    }

    fn preserves_child(reader: &mut Reader<'_>, child: El) {
        extensions::note_child(reader, child);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_stored_orders_stay() {
        let words = [
            (any_of(Group::PlanItemDefinition), Some("d")),
            (any_of(Group::OnPart), Some("on")),
            (any_of(Group::StartTrigger), Some("trigger")),
            (any_of(Group::Artifact), Some("artifact")),
            (any_of(Group::Part), None),
            (Match::Kind(kind("planItem")), Some("i")),
            (Match::Kind(kind("sentry")), Some("y")),
            (Match::Kind(kind("CMMNShape")), Some("s")),
            (Match::Kind(kind("CMMNEdge")), Some("e")),
            (Match::Kind(kind("caseRoles")), Some("caseRoles")),
        ];
        for (matches, word) in words {
            assert_eq!(Cmmn::order_word(matches), word, "{matches:?}");
        }
    }
}
