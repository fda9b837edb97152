//! Claims about BPMN 2.0.2: classes, elements, events by place, languages, deviations.
//!
//! Nothing here is written by hand that the code could tell: each feature stands beside a small model, which is read,
//! written and compiled, so the claims can't say other than the reader, the writer and the compiler do.

#![expect(clippy::indexing_slicing, reason = "places of constant tables")]

mod choreography;
mod events;
mod features;
mod operational;
mod probe;
#[cfg(test)]
mod tests;

pub use events::EventRow;
pub(crate) use probe::{Tried, attempt};

use crate::{Deviation, Extent, Share};
use events::Placed;
use features::{FEATURES, Feature, In};
use heddle_bpmn::element::{ElementKind, ElementRow, Group};
use heddle_bpmn::elements::Elements;
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn::xml::{self, element_rows};
use probe::Seen;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The edition of the standard.
pub const SPECIFICATION: &str = "BPMN 2.0.2 (ISO/IEC 19510:2013)";

/// A conformance class (clause 2) or sub-class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Class {
    /// `processModeling.descriptive`, `processModeling.analytic`, `processModeling.commonExecutable`,
    /// `processModeling.full`, `processExecution`, `bpelProcessExecution` or `choreographyModeling`.
    pub id: &'static str,
    /// Criterion of the class: `modeling` (read and written without loss), `execution` (that, and executed
    /// where there is something to execute), or `bpel` (executed, and mapped to WS-BPEL where clause 14 has a
    /// mapping).
    pub judged: &'static str,
    /// Extent to which the class is met.
    pub status: Extent,
    /// Number of the class's features that are met, and of all.
    pub elements: Share,
    /// The features that are missing.
    pub missing: Vec<String>,
}

/// A feature of an element: whether it is read, written and executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FeatureRow {
    /// The element, with what tells the feature from others of the element.
    pub feature: &'static str,
    /// Whether the reader has a member for it.
    pub parse: bool,
    /// Whether it is written as it was read.
    pub export: bool,
    /// Extent to which the feature is executed.
    pub execute: Extent,
    /// Reason why it is not executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// An event at one of its places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// The event's type, as in the matrix.
    pub r#type: &'static str,
    /// The place, named as the matrix's member.
    pub place: &'static str,
    /// Whether it is read to members there, and written as it was read.
    pub modelled: bool,
    /// Whether it is executed there.
    pub executed: bool,
    /// Reason why it is not executed there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// An element of the standard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ElementClaim {
    /// Name of the element, such as `userTask`.
    pub element: &'static str,
    /// The clause of BPMN 2.0.2 that defines it; null where the element table names none.
    pub clause: Option<&'static str>,
    /// Of an event or an event definition: each type at each place that the standard gives it.
    pub positions: Vec<Position>,
    /// Whether it is read to members of its own; else it is kept as XML.
    pub parse: bool,
    /// Whether it is written as it was read.
    pub export: bool,
    /// Extent to which the element is executed.
    pub execute: Extent,
    /// The version of this program that the claim is made for.
    pub since: &'static str,
    /// Features of the element, each tried with a model; empty for a part of other elements.
    pub features: Vec<FeatureRow>,
}

/// Languages that the Common Executable sub-class demands (clause 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RequiredLanguages {
    /// Language of data types.
    pub r#type: &'static str,
    /// Language of service interfaces.
    pub service: &'static str,
    /// Language of data access.
    pub expression: &'static str,
}

/// Languages that are evaluated here beside or in place of the required ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct OtherLanguages {
    /// Languages of types that are checked at run time.
    pub r#type: &'static [&'static str],
    /// Languages of service interfaces that are called.
    pub service: &'static [&'static str],
    /// Languages of expressions that are evaluated.
    pub expression: &'static [&'static str],
}

/// The languages of types, services and expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Languages {
    /// Languages that the Common Executable sub-class demands; whether they are there, its class says.
    pub required: RequiredLanguages,
    /// Languages that are evaluated beside or in place of them.
    pub also: OtherLanguages,
}

/// All claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Claims {
    /// The edition of the standard.
    pub specification: &'static str,
    /// Conformance classes.
    pub classes: Vec<Class>,
    /// Every element of the standard.
    pub elements: Vec<ElementClaim>,
    /// Events by place.
    pub event_matrix: Vec<EventRow>,
    /// Languages.
    pub languages: Languages,
    /// Deviations.
    pub deviations: &'static [Deviation],
}

const LANGUAGES: Languages = Languages {
    required: RequiredLanguages { r#type: "XSD", service: "WSDL", expression: "XPath" },
    also: OtherLanguages { r#type: &[], service: &[], expression: &["FEEL"] },
};

const DEVIATIONS: &[Deviation] = &[
    Deviation {
        id: "D1",
        clause: "10.4",
        about: "data objects, data associations and input and output sets",
        text: Cow::Borrowed(
            "Data objects, properties, data inputs and outputs are variables in the scopes that the standard gives them. \
               A data store with a name is shared by all runs of the organisation, and of several runs that write it the \
               last commit counts. The types of item definitions are not checked.",
        ),
    },
    Deviation {
        id: "D2",
        clause: "10.3.1",
        about: "resource roles",
        text: Cow::Borrowed(
            "Human tasks are offered to the assignee and the candidates of their configuration; a task with \
               `laneCandidates` to the group named like its lane, while lanes by themselves give no candidates. \
               Resource roles name groups and users; who fits a resource is told by one bound parameter, which names them.",
        ),
    },
    Deviation {
        id: "D3",
        clause: "8.2.1",
        about: "expression language",
        text: Cow::Borrowed(
            "Conditions and expressions are FEEL, also where the model names no language (the standard's default is \
               XPath).",
        ),
    },
    Deviation {
        id: "D4",
        clause: "9.4, 11",
        about: "message flows and choreographies",
        text: Cow::Borrowed(
            "Participants run as processes of their own, and messages are correlated by name and key; message flows are \
               kept and lead no message. Messages out of a choreography's order are told as events of the runs that send \
               and receive them, and stop nothing.",
        ),
    },
    Deviation {
        id: "D5",
        clause: "10.3.3.1",
        about: "tasks without an implementation",
        text: Cow::Borrowed(
            "A service, send or script task without an implementation completes at once, and `validate` says so.",
        ),
    },
];

/// The claims; made once, in some milliseconds.
pub fn claims() -> &'static Claims {
    static CLAIMS: OnceLock<Claims> = OnceLock::new();
    CLAIMS.get_or_init(make)
}

/// The elements of the standard that a definition's document holds, by name; diagrams aside. None are found in a definition
/// that can't be written as XML.
pub fn elements_of(definition: &WorkflowDefinition) -> BTreeSet<&'static str> {
    let Ok(written) = xml::write(definition) else { return BTreeSet::new() };
    let Ok(tree) = Elements::parse(&written.xml) else { return BTreeSet::new() };
    let kinds = tree.all().filter_map(|el| tree.kind(el));
    kinds.filter(|kind| kind.group() != Group::Diagram).map(ElementKind::name).collect()
}

/// A feature as it was seen.
struct Judged {
    feature: &'static Feature,
    seen: Seen,
}

impl Judged {
    fn of(feature: &'static Feature) -> Self {
        Self { feature, seen: feature.probe.run(feature.element) }
    }

    fn modelled(&self) -> bool {
        self.seen.read && self.seen.written
    }

    fn is_operational(&self) -> bool {
        self.seen.executed != Extent::NotOperational
    }

    /// Whether the class is one of choreographies and conversations.
    fn is_choreography(&self) -> bool {
        let name = self.feature.name.to_ascii_lowercase();
        name.contains("choreography") || name.contains("conversation")
    }

    fn row(&self) -> FeatureRow {
        FeatureRow {
            feature: self.feature.name,
            parse: self.seen.read,
            export: self.seen.written,
            execute: self.seen.executed,
            notes: self.seen.reason.clone(),
        }
    }

    fn counted(&self, there: bool) -> (String, bool) {
        (self.feature.name.to_owned(), there)
    }
}

fn make() -> Claims {
    let features: Vec<Judged> = FEATURES.iter().chain(operational::all()).map(Judged::of).collect();
    let events: Vec<Placed> = events::TYPES.iter().flat_map(|kind| kind.seen()).collect();
    Claims {
        specification: SPECIFICATION,
        classes: classes(&features, &events),
        elements: elements(&features, &events),
        event_matrix: events::TYPES.iter().map(|kind| row(kind.name, &events)).collect(),
        languages: LANGUAGES,
        deviations: DEVIATIONS,
    }
}

fn row(name: &'static str, events: &[Placed]) -> EventRow {
    let at = |place: usize| {
        let found = events.iter().find(|one| one.kind == name && one.place == place);
        found.map(|one| one.seen.executed)
    };
    EventRow {
        r#type: name,
        start: at(0),
        event_sub_interrupting: at(1),
        event_sub_non_interrupting: at(2),
        catch: at(3),
        boundary: at(4),
        boundary_non_interrupting: at(5),
        throw: at(6),
        end: at(7),
    }
}

/// Counts what is there.
fn class(id: &'static str, judged: &'static str, all: impl Iterator<Item = (String, bool)>) -> Class {
    let (mut elements, mut missing) = (Share { supported: 0, total: 0 }, Vec::new());
    for (name, there) in all {
        elements.total += 1;
        if there {
            elements.supported += 1;
        } else {
            missing.push(name);
        }
    }
    let status = extent(elements.supported, elements.total);
    Class { id, judged, status, elements, missing }
}

fn extent(supported: usize, total: usize) -> Extent {
    match supported {
        _ if total == 0 => Extent::NotOperational,
        0 => Extent::None,
        all if all == total => Extent::Full,
        _ => Extent::Partial,
    }
}

/// Elements that clause 14 does not map to WS-BPEL, or that are languages of their own.
const NOT_IN_BPEL: &[&str] = &[
    "adHocSubProcess",
    "businessRuleTask",
    "complexGateway",
    "conditionExpression",
    "dataStore",
    "dataStoreReference",
    "escalation",
    "implicitThrowEvent",
    "import",
    "scriptTask",
    "signal",
    "transaction",
];

fn classes(features: &[Judged], events: &[Placed]) -> Vec<Class> {
    let modeling = |id, wanted: fn(In) -> bool| {
        let own = features.iter().filter(|one| wanted(one.feature.class));
        let placed = events.iter().filter(|one| wanted(one.class));
        let own = own.map(|one| one.counted(one.modelled()));
        class(id, "modeling", own.chain(placed.map(|one| (one.name(), one.seen.modelled))))
    };
    // What there is nothing to execute of is there when it is modelled.
    let common = features.iter().filter(|one| one.feature.common);
    let executed = |one: &Judged| matches!(one.seen.executed, Extent::Full | Extent::NotOperational);
    let common = common.map(|one| one.counted(one.modelled() && executed(one)));
    let common_events = events.iter().filter(|one| one.common);
    let common_events = common_events.map(|one| (one.name(), one.seen.modelled && one.seen.executed));
    let operational = || features.iter().filter(|one| one.is_operational());
    let execution = || {
        let own = operational().map(|one| one.counted(one.seen.executed == Extent::Full));
        own.chain(events.iter().map(|one| (one.name(), one.seen.executed)))
    };
    let mapped = operational().filter(|one| !NOT_IN_BPEL.contains(&one.feature.element));
    let mapped =
        mapped.map(|one| (format!("{} to WS-BPEL", one.feature.name), one.seen.mapped == Some(true)));
    let mapped_events = events.iter().filter(|one| one.bpel);
    let mapped_events = mapped_events.map(|one| (format!("{} to WS-BPEL", one.name()), one.seen.mapped));
    let choreography = features.iter().filter(|one| one.is_choreography());
    vec![
        modeling("processModeling.descriptive", |class| class == In::Descriptive),
        modeling("processModeling.analytic", |class| class != In::Full),
        class("processModeling.commonExecutable", "execution", common.chain(common_events)),
        modeling("processModeling.full", |_| true),
        class("processExecution", "execution", execution()),
        class("bpelProcessExecution", "bpel", execution().chain(mapped).chain(mapped_events)),
        class(
            "choreographyModeling",
            "modeling",
            choreography.map(|one| one.counted(one.modelled())).chain(choreography::sequencing()),
        ),
    ]
}

fn elements(features: &[Judged], events: &[Placed]) -> Vec<ElementClaim> {
    let rows = element_rows().iter().filter(|row| row.group != Group::Diagram);
    rows.filter_map(|row| element(row, features, events)).collect()
}

/// The claim of an element; none where the schema has no such element.
fn element(row: &ElementRow, features: &[Judged], events: &[Placed]) -> Option<ElementClaim> {
    let own: Vec<&Judged> = features.iter().filter(|one| one.feature.element == row.name).collect();
    let positions: Vec<Position> = positions(row.name, events);
    let (parse, export) = if own.is_empty() && positions.is_empty() {
        probe::part(row.name)?
    } else {
        let modelled = positions.iter().all(|one| one.modelled);
        (own.iter().all(|one| one.seen.read) && modelled, own.iter().all(|one| one.seen.written) && modelled)
    };
    Some(ElementClaim {
        element: row.name,
        clause: row.clause(),
        parse,
        export,
        execute: executed(row.name, features, events),
        since: env!("CARGO_PKG_VERSION"),
        features: own.iter().map(|one| one.row()).collect(),
        positions,
    })
}

/// Extent to which an element is executed: its features and events, or those of the element that it is a part
/// of.
fn executed(element: &'static str, features: &[Judged], events: &[Placed]) -> Extent {
    let owner = operational::owner(element);
    let own = features.iter().filter(|one| one.feature.element == owner && one.is_operational());
    let own = own.map(|one| one.seen.executed == Extent::Full);
    let told: Vec<bool> = own.chain(positions(owner, events).iter().map(|one| one.executed)).collect();
    extent(told.iter().filter(|executed| **executed).count(), told.len())
}

/// The places of an event, or of an event definition.
fn positions(element: &str, events: &[Placed]) -> Vec<Position> {
    let definition = |kind: &str| {
        let found = events::TYPES.iter().find(|one| one.name == kind);
        found.is_some_and(|one| one.definitions() == [element])
    };
    let own = events.iter().filter(|one| events::ELEMENTS[one.place] == element || definition(one.kind));
    let position = |one: &Placed| Position {
        r#type: one.kind,
        place: events::MEMBERS[one.place],
        modelled: one.seen.modelled,
        executed: one.seen.executed,
        notes: one.seen.reason.clone(),
    };
    own.map(position).collect()
}
