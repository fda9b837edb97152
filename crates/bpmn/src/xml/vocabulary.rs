//! BPMN as a vocabulary of the mapping engine: its groups, the words of its order, and what it does itself.

use super::names::{self, Bpmn, kind, ns, row};
use super::read::Reading;
use super::write::Writing;
use super::{Group, MAX_JSON_DEPTH, extensions, tree};
use crate::diagnostic::{self, Diagnostic};
use heddle_xml::mapping::{Finding, Match, Vocabulary};
use heddle_xml::{Attribute, El, Kind, Limits, Ns};

/// The reader of BPMN documents.
pub(super) type Reader<'s> = heddle_xml::mapping::Reader<'s, Bpmn>;
/// The writer of BPMN documents.
pub(super) type Writer<'d> = heddle_xml::mapping::Writer<'d, Bpmn>;
/// A model type's attributes and children.
pub(super) type Row<T> = heddle_xml::mapping::Row<Bpmn, T>;
/// A child of a model type.
pub(super) type Child<T> = heddle_xml::mapping::Child<Bpmn, T>;

/// The groups that one child of a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Group(Group),
    FlowNode,
}

/// The elements of a group.
pub(super) const fn any_of(group: Group) -> Match<Choice> {
    Match::Choice(Choice::Group(group))
}

/// The nodes of a process.
pub(super) const FLOW_NODES: Match<Choice> = Match::Choice(Choice::FlowNode);

/// The group of a kind; a part when the table does not hold it.
pub(super) fn group(kind: Kind) -> Group {
    row(kind).map_or(Group::Part, |row| row.group)
}

impl Vocabulary for Bpmn {
    const PREFIXES: &'static [&'static str] = &["bpmn", "bpmndi", "dc", "di", "xsi", "heddle"];
    const MODEL: Ns = ns::MODEL;
    const XSI: Ns = ns::XSI;
    const OWN: Ns = ns::HEDDLE;
    const ROOT: Kind = kind("definitions");
    const EXTENSION_ELEMENTS: Kind = kind("extensionElements");
    const EXPRESSION_TYPE: Option<&'static str> = Some("tFormalExpression");
    const LIMITS: Limits = tree::LIMITS;
    const MAX_NESTING: usize = MAX_JSON_DEPTH;
    const TOO_DEEP: &'static str = "Sub-processes, lanes, conversations or choreographies are nested too deep \
                                    (at most 12 sub-processes within each other).";

    type Group = Group;
    type Choice = Choice;
    type Reading<'s> = Reading<'s>;
    type Writing<'d> = Writing<'d>;

    fn element(kind: Kind) -> Option<(Ns, &'static str)> {
        row(kind).map(|row| (row.ns(), row.name))
    }

    fn group(kind: Kind) -> Group {
        group(kind)
    }

    fn takes(choice: Choice, group: Group) -> bool {
        match choice {
            Choice::Group(own) => own == group,
            Choice::FlowNode => group.is_flow_node(),
        }
    }

    /// Flow nodes, sequence flows, shapes and edges are many, so that their words are short.
    fn order_word(matches: Match<Choice>) -> Option<&'static str> {
        Some(match matches {
            Match::Kind(own) if own == const { kind("BPMNShape") } => "s",
            Match::Kind(own) if own == const { kind("BPMNEdge") } => "e",
            Match::Kind(own) => names::row(own)?.name,
            Match::Choice(Choice::FlowNode) => "n",
            Match::Choice(Choice::Group(group)) => match group {
                Group::SequenceFlow => "f",
                Group::DataObject => "data",
                Group::Artifact => "artifact",
                Group::EventDefinition => "definition",
                Group::ResourceRole => "role",
                Group::LoopCharacteristics => "loop",
                Group::Conversation => "conversations",
                Group::ChoreographyActivity => "activity",
                Group::DataStoreReference => "store",
                Group::Root => "root",
                Group::Activity
                | Group::SubProcess
                | Group::Gateway
                | Group::CatchEvent
                | Group::ThrowEvent
                | Group::Diagram
                | Group::Part => return None,
            },
        })
    }

    fn own_attribute(reader: &mut Reader<'_>, attribute: &Attribute<'_>) -> bool {
        if attribute.local() != "data" {
            return false;
        }
        match serde_json::from_str(&attribute.value()) {
            Ok(data) => reader.state.data = data,
            Err(error) => {
                let message = format!("The attribute heddle:data is not understood: {error}.");
                super::read::note(reader, diagnostic::warning("invalidData", message));
            }
        }
        true
    }

    /// The type that all way points share is noted once, at the root.
    fn derives(reader: &mut Reader<'_>, attribute: &Attribute<'_>) -> bool {
        if !reader.state.same_waypoint_type || attribute.name != reader.xsi_type() {
            return false;
        }
        reader.state.same_waypoint_type = false;
        true
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
    use crate::xml::HEDDLE_NS;
    use heddle_xml::mapping::collect;

    #[test]
    fn stored_fragments_are_read_by_the_name_that_they_have() {
        let fragments = [
            r#"<heddle:residue for="a" heddle:order="n f*2 other" v:color="red"><v:note/></heddle:residue>"#
                .to_owned(),
            "<v:own/>".to_owned(),
        ];
        let (preserved, plain) =
            collect::<Bpmn>(&fragments, &[("heddle", HEDDLE_NS), ("v", "urn:v")]).unwrap();
        let kept = preserved.peek("a").unwrap();
        assert_eq!((kept.marker("order"), kept.attribute("v:color")), (Some("n f*2 other"), Some("red")));
        assert_eq!(kept.children.iter().map(|child| &*child.xml).collect::<Vec<_>>(), ["<v:note/>"]);
        assert_eq!(plain, ["<v:own/>"]);
        assert_eq!(preserved.orphaned(), ["a"], "nothing has been written for it");
    }

    #[test]
    fn the_words_of_stored_orders_stay() {
        let words = [
            (FLOW_NODES, Some("n")),
            (any_of(Group::SequenceFlow), Some("f")),
            (Match::Kind(kind("BPMNShape")), Some("s")),
            (Match::Kind(kind("BPMNEdge")), Some("e")),
            (Match::Kind(kind("laneSet")), Some("laneSet")),
            (any_of(Group::DataObject), Some("data")),
            (any_of(Group::Artifact), Some("artifact")),
            (any_of(Group::EventDefinition), Some("definition")),
            (any_of(Group::ResourceRole), Some("role")),
            (any_of(Group::LoopCharacteristics), Some("loop")),
            (any_of(Group::Conversation), Some("conversations")),
            (any_of(Group::ChoreographyActivity), Some("activity")),
            (any_of(Group::DataStoreReference), Some("store")),
            (any_of(Group::Root), Some("root")),
            (any_of(Group::Part), None),
        ];
        for (matches, word) in words {
            assert_eq!(Bpmn::order_word(matches), word, "{matches:?}");
        }
    }
}
