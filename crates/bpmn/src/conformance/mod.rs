//! What this implementation claims of BPMN 2.0.2: classes, elements, events by place, languages, deviations.
//!
//! Nothing here is written by hand that the code could tell: each feature stands beside a small model, which is read,
//! written and compiled, so the claims can't say other than the reader, the writer and the compiler do.

mod events;
mod features;
mod probe;
#[cfg(test)]
mod tests;

pub use events::EventRow;

use crate::xml::{Group, element_rows};
use features::{FEATURES, In};
use serde::Serialize;
use std::sync::OnceLock;

/// The edition of the standard.
pub const SPECIFICATION: &str = "BPMN 2.0.2 (ISO/IEC 19510:2013)";

/// How much of something there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum Extent {
    /// All of it.
    Full,
    /// Some of it.
    Partial,
    /// Nothing.
    None,
    /// The standard gives it no meaning at run time.
    NotOperational,
}

/// How many of the features of a class are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Share {
    /// How many are there.
    pub supported: usize,
    /// Of how many.
    pub total: usize,
}

/// A conformance class (clause 2) or sub-class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Class {
    /// `processModeling.descriptive`, `processModeling.analytic`, `processModeling.commonExecutable`,
    /// `processModeling.full`, `processExecution` or `choreographyModeling`.
    pub id: &'static str,
    /// What counts: `modeling` (read and written without loss) or `execution`.
    pub judged: &'static str,
    /// How much of it is there.
    pub status: Extent,
    /// Its features.
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
    /// Whether it is executed; null where there is nothing to execute.
    pub execute: Option<bool>,
    /// Why it is not executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// An element of the standard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ElementClaim {
    /// Its name.
    pub element: &'static str,
    /// Whether it is read to members of its own; else it is kept as XML.
    pub parse: bool,
    /// Whether it is written.
    pub export: bool,
    /// How much of it is executed.
    pub execute: Extent,
    /// Its features, where the element has several or a reason to give.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<FeatureRow>,
}

/// Where this implementation does other than the standard says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Deviation {
    /// Its id, such as `D1`.
    pub id: &'static str,
    /// What of the standard it is about.
    pub about: &'static str,
    /// What is done in its place.
    pub text: &'static str,
}

/// The languages of types, services and expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Languages {
    /// Languages of expressions that are evaluated.
    pub expression: &'static [&'static str],
    /// Languages of types that are checked at run time.
    pub r#type: &'static [&'static str],
    /// Languages of service interfaces that are called.
    pub service: &'static [&'static str],
    /// What the Common Executable sub-class demands.
    pub required: [&'static str; 3],
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

const LANGUAGES: Languages =
    Languages { expression: &["FEEL"], r#type: &[], service: &[], required: ["XPath", "XML Schema", "WSDL"] };

const DEVIATIONS: &[Deviation] = &[
    Deviation {
        id: "D1",
        about: "data objects, data associations and input and output sets",
        text: "A run has one set of variables, which every node sees; data associations move nothing, and no task waits \
               for an input set.",
    },
    Deviation {
        id: "D2",
        about: "resource roles",
        text: "Human tasks are offered to the assignee and the candidates of their configuration, else to the group named \
               like their lane; resource roles are kept and not evaluated.",
    },
    Deviation {
        id: "D3",
        about: "expression language",
        text: "Conditions and expressions are FEEL, also where the model names no language (the standard's default is \
               XPath).",
    },
    Deviation {
        id: "D4",
        about: "message flows and choreographies",
        text: "Participants run as processes of their own, and messages are correlated by name and key; message flows and \
               choreographies are kept and not enforced.",
    },
    Deviation {
        id: "D5",
        about: "tasks without an implementation",
        text: "A service, send or script task without an implementation completes at once, and `validate` says so.",
    },
];

/// The claims; made once, in a few milliseconds.
pub fn claims() -> &'static Claims {
    static CLAIMS: OnceLock<Claims> = OnceLock::new();
    CLAIMS.get_or_init(make)
}

/// A feature with its classes, as it was seen.
struct Judged {
    name: &'static str,
    element: &'static str,
    class: In,
    common: bool,
    choreography: bool,
    modelled: bool,
    row: FeatureRow,
}

fn judged() -> Vec<Judged> {
    let all = FEATURES.iter().map(|feature| {
        let seen = feature.probe.run(feature.element);
        Judged {
            name: feature.name,
            element: feature.element,
            class: feature.class,
            common: feature.common,
            choreography: feature.name.to_ascii_lowercase().contains("choreography")
                || feature.name.to_ascii_lowercase().contains("conversation"),
            modelled: seen.read && seen.written,
            row: FeatureRow {
                feature: feature.name,
                parse: seen.read,
                export: seen.written,
                execute: seen.executed,
                notes: seen.reason,
            },
        }
    });
    all.collect()
}

fn make() -> Claims {
    let features = judged();
    let events: Vec<_> = events::TYPES.iter().map(|kind| (kind, kind.seen())).collect();
    let event_matrix = events.iter().map(|(kind, seen)| row(kind.name, seen)).collect();
    Claims {
        specification: SPECIFICATION,
        classes: classes(&features, &events),
        elements: elements(&features, &events),
        event_matrix,
        languages: LANGUAGES,
        deviations: DEVIATIONS,
    }
}

type Events<'e> = [(&'e events::EventType, [Option<(In, bool)>; 8])];

fn row(name: &'static str, seen: &[Option<(In, bool)>; 8]) -> EventRow {
    let [
        start,
        event_sub_interrupting,
        event_sub_non_interrupting,
        catch,
        boundary,
        boundary_non_interrupting,
        throw,
        end,
    ] = seen.map(|one| one.map(|(_, executed)| executed));
    EventRow {
        r#type: name,
        start,
        event_sub_interrupting,
        event_sub_non_interrupting,
        catch,
        boundary,
        boundary_non_interrupting,
        throw,
        end,
    }
}

/// Counts the features that pass a filter.
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

fn classes(features: &[Judged], events: &Events<'_>) -> Vec<Class> {
    // The reader and the writer know every event definition at every place: one rule of the table serves them all.
    let placed = |wanted: fn(In) -> bool| {
        events.iter().flat_map(move |(kind, seen)| {
            seen.iter()
                .flatten()
                .filter(move |(class, _)| wanted(*class))
                .map(move |_| (kind.name.to_owned(), true))
        })
    };
    let modelled = |wanted: fn(In) -> bool| {
        features.iter().filter(move |one| wanted(one.class)).map(|one| (one.name.to_owned(), one.modelled))
    };
    let modeling = |id, wanted: fn(In) -> bool| class(id, "modeling", modelled(wanted).chain(placed(wanted)));
    let executed = |one: &Judged| Some((one.name.to_owned(), one.row.execute?));
    let runs = events.iter().flat_map(|(kind, seen)| {
        let places = seen.iter().zip(events::PLACES);
        places
            .filter_map(|(one, place)| one.map(|(_, executed)| (format!("{} {place}", kind.name), executed)))
    });
    let common = events.iter().flat_map(|(kind, seen)| {
        let places = seen.iter().enumerate().filter_map(|(place, one)| Some((place, (*one)?)));
        places
            .filter(|(place, _)| kind.common(*place))
            .map(move |(place, (_, executed))| (format!("{} {}", kind.name, events::PLACES[place]), executed))
    });
    let shared = features.iter().filter(|one| one.common);
    let shared = shared.map(|one| (one.name.to_owned(), one.modelled && one.row.execute != Some(false)));
    vec![
        modeling("processModeling.descriptive", |class| class == In::Descriptive),
        modeling("processModeling.analytic", |class| class != In::Full),
        class("processModeling.commonExecutable", "execution", shared.chain(common)),
        modeling("processModeling.full", |_| true),
        class("processExecution", "execution", features.iter().filter_map(executed).chain(runs)),
        class(
            "choreographyModeling",
            "modeling",
            features.iter().filter(|one| one.choreography).map(|one| (one.name.to_owned(), one.modelled)),
        ),
    ]
}

fn elements(features: &[Judged], events: &Events<'_>) -> Vec<ElementClaim> {
    let claim = |name: &'static str| {
        let own: Vec<&Judged> = features.iter().filter(|one| one.element == name).collect();
        let placed = events.iter().flat_map(|(_, seen)| {
            let at = seen.iter().zip(events::ELEMENTS).filter(move |(_, element)| *element == name);
            at.filter_map(|(one, _)| one.map(|(_, executed)| executed))
        });
        let typed = events.iter().filter(|(kind, _)| definition(kind.name) == name);
        let typed = typed.flat_map(|(_, seen)| seen.iter().flatten().map(|(_, executed)| *executed));
        let told: Vec<bool> =
            own.iter().filter_map(|one| one.row.execute).chain(placed).chain(typed).collect();
        let telling = own.len() > 1 || own.iter().any(|one| one.row.notes.is_some());
        ElementClaim {
            element: name,
            parse: own.iter().all(|one| one.row.parse),
            export: own.iter().all(|one| one.modelled),
            execute: extent(told.iter().filter(|executed| **executed).count(), told.len()),
            features: if telling { own.iter().map(|one| one.row.clone()).collect() } else { Vec::new() },
        }
    };
    element_rows().iter().filter(|row| row.group != Group::Diagram).map(|row| claim(row.name)).collect()
}

/// The element of an event type's definition.
fn definition(kind: &str) -> String {
    let kind = if kind == "compensation" { "compensate" } else { kind };
    format!("{kind}EventDefinition")
}
