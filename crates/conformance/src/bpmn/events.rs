//! Which event stands where, and whether it is executed there (clause 10.5, Table 10.93).

#![expect(clippy::indexing_slicing, reason = "places of constant tables")]

use super::features::In;
use super::probe::{SeenEvent, event};
use serde::Serialize;

/// An event's trigger or result, and the places that the standard gives it.
pub(super) struct EventType {
    pub name: &'static str,
    /// The XML of the event definitions.
    xml: &'static str,
    /// The attribute `parallelMultiple` of a catching event.
    parallel: bool,
    /// Start, event sub-process (interrupting, not), catch, boundary (interrupting, not), throw, end.
    places: [Option<In>; 8],
}

const A: Option<In> = Some(In::Analytic);
const D: Option<In> = Some(In::Descriptive);
const F: Option<In> = Some(In::Full);

const MULTIPLE: &str = r#"<messageEventDefinition messageRef="m"/><signalEventDefinition signalRef="g"/>"#;

/// Event types in the order of Table 10.93. The classes are those of Tables 2.1 and 2.2.
pub(super) const TYPES: &[EventType] = &[
    EventType { name: "none", xml: "", parallel: false, places: [D, None, None, None, None, None, F, D] },
    EventType {
        name: "message",
        xml: r#"<messageEventDefinition messageRef="m"/>"#,
        parallel: false,
        places: [D, F, F, A, A, A, A, D],
    },
    EventType {
        name: "timer",
        xml: "<timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition>",
        parallel: false,
        places: [D, F, F, A, A, A, None, None],
    },
    EventType {
        name: "error",
        xml: r#"<errorEventDefinition errorRef="r"/>"#,
        parallel: false,
        places: [None, F, None, None, A, None, None, A],
    },
    EventType {
        name: "escalation",
        xml: r#"<escalationEventDefinition escalationRef="x"/>"#,
        parallel: false,
        places: [None, F, F, None, F, A, A, A],
    },
    EventType {
        name: "cancel",
        xml: "<cancelEventDefinition/>",
        parallel: false,
        places: [None, None, None, None, F, None, None, F],
    },
    EventType {
        name: "compensation",
        xml: "<compensateEventDefinition/>",
        parallel: false,
        places: [None, F, None, None, F, None, F, F],
    },
    EventType {
        name: "conditional",
        xml: "<conditionalEventDefinition><condition>true</condition></conditionalEventDefinition>",
        parallel: false,
        places: [A, F, F, A, A, A, None, None],
    },
    EventType {
        name: "link",
        xml: r#"<linkEventDefinition name="l"/>"#,
        parallel: false,
        places: [None, None, None, A, None, None, A, None],
    },
    EventType {
        name: "signal",
        xml: r#"<signalEventDefinition signalRef="g"/>"#,
        parallel: false,
        places: [A, F, F, A, A, A, A, A],
    },
    EventType {
        name: "terminate",
        xml: "<terminateEventDefinition/>",
        parallel: false,
        places: [None, None, None, None, None, None, None, D],
    },
    EventType { name: "multiple", xml: MULTIPLE, parallel: false, places: [F; 8] },
    EventType {
        name: "parallelMultiple",
        xml: MULTIPLE,
        parallel: true,
        places: [F, F, F, F, F, F, None, None],
    },
];

/// An event type by place: `true` where it is executed, `false` where the standard has it and it is refused, null where
/// the standard has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EventRow {
    /// `none`, `message`, `timer`, `error`, `escalation`, `cancel`, `compensation`, `conditional`, `link`, `signal`,
    /// `terminate`, `multiple` or `parallelMultiple`.
    pub r#type: &'static str,
    /// Start event of a process.
    pub start: Option<bool>,
    /// Interrupting start event of an event sub-process.
    pub event_sub_interrupting: Option<bool>,
    /// Start event of an event sub-process that interrupts nothing.
    pub event_sub_non_interrupting: Option<bool>,
    /// Intermediate catch event.
    pub catch: Option<bool>,
    /// Interrupting boundary event.
    pub boundary: Option<bool>,
    /// Boundary event that interrupts nothing.
    pub boundary_non_interrupting: Option<bool>,
    /// Intermediate throw event.
    pub throw: Option<bool>,
    /// End event.
    pub end: Option<bool>,
}

/// An event at a place.
pub(super) struct Placed {
    /// The event's type.
    pub kind: &'static str,
    /// Index of the place.
    pub place: usize,
    /// The smallest modelling class that holds it.
    pub class: In,
    /// Whether Table 2.3 (Common Executable) holds it.
    pub common: bool,
    /// Whether clause 14 maps it to WS-BPEL.
    pub bpel: bool,
    /// Result of the trial at that place.
    pub seen: SeenEvent,
}

impl Placed {
    /// Name of the event at its place, for people.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.kind, PLACES[self.place])
    }
}

/// The elements of the eight places.
pub(super) const ELEMENTS: [&str; 8] = [
    "startEvent",
    "startEvent",
    "startEvent",
    "intermediateCatchEvent",
    "boundaryEvent",
    "boundaryEvent",
    "intermediateThrowEvent",
    "endEvent",
];

/// The members of [`EventRow`] for the eight places.
pub(super) const MEMBERS: [&str; 8] = [
    "start",
    "eventSubInterrupting",
    "eventSubNonInterrupting",
    "catch",
    "boundary",
    "boundaryNonInterrupting",
    "throw",
    "end",
];

/// The names of the eight places.
const PLACES: [&str; 8] = [
    "start event",
    "event sub-process start, interrupting",
    "event sub-process start, non-interrupting",
    "intermediate catch event",
    "boundary event, interrupting",
    "boundary event, non-interrupting",
    "intermediate throw event",
    "end event",
];

impl EventType {
    /// Results of trying the event at each place that the standard gives it.
    pub(super) fn seen(&self) -> impl Iterator<Item = Placed> + '_ {
        let places = self.places.iter().enumerate();
        places.filter_map(|(place, class)| Some(self.placed(place, (*class)?)))
    }

    fn placed(&self, place: usize, class: In) -> Placed {
        let mut elements = self.definitions();
        elements.push(ELEMENTS[place]);
        let seen = event(&self.content(place), &elements);
        Placed { kind: self.name, place, class, common: self.common(place), bpel: self.in_bpel(place), seen }
    }

    /// The elements of its event definitions.
    pub(super) fn definitions(&self) -> Vec<&'static str> {
        let tags = self
            .xml
            .split('<')
            .skip(1)
            .filter(|tag| tag.contains("EventDefinition") && !tag.starts_with('/'));
        tags.filter_map(|tag| tag.split([' ', '>', '/']).next()).collect()
    }

    /// Whether clause 14 maps the event at this place to WS-BPEL.
    fn in_bpel(&self, place: usize) -> bool {
        match self.name {
            "none" => matches!(place, 0 | 7),
            "message" => place != 5,
            "timer" => matches!(place, 1..=4),
            "error" | "compensation" | "terminate" => true,
            _ => false,
        }
    }

    /// Whether Table 2.3 (Common Executable) has the event at this place.
    fn common(&self, place: usize) -> bool {
        matches!(
            (self.name, place),
            ("none", 0 | 7) | ("message", 0 | 3 | 6 | 7) | ("terminate", 7) | ("timer", 3) | ("error", 4)
        )
    }

    fn content(&self, place: usize) -> String {
        let many = if self.parallel { r#" parallelMultiple="true""# } else { "" };
        match place {
            0 => {
                let event = format!(r#"<startEvent id="n"{many}>{}</startEvent>"#, self.xml);
                format!(r#"{event}{}<endEvent id="e"/>"#, flow("f", "n", "e"))
            }
            1 | 2 => {
                let interrupting = if place == 2 { r#" isInterrupting="false""# } else { "" };
                let event = format!(r#"<startEvent id="n"{many}{interrupting}>{}</startEvent>"#, self.xml);
                let inner = format!(r#"{event}{}<endEvent id="ie"/>"#, flow("i1", "n", "ie"));
                format!(r#"{}<subProcess id="es" triggeredByEvent="true">{inner}</subProcess>"#, waiting())
            }
            3 => self.caught(many),
            4 | 5 => self.attached(place, many),
            6 => self.thrown(),
            _ => self.ending(),
        }
    }

    fn caught(&self, many: &str) -> String {
        let catch = format!(
            r#"<intermediateCatchEvent id="n"{many}>{}</intermediateCatchEvent>{}<endEvent id="e"/>"#,
            self.xml,
            flow("f2", "n", "e")
        );
        if self.name != "link" {
            return format!(r#"<startEvent id="s"/>{}{catch}"#, flow("f1", "s", "n"));
        }
        let throw = format!(r#"<intermediateThrowEvent id="t">{}</intermediateThrowEvent>"#, self.xml);
        format!(r#"<startEvent id="s"/>{}{throw}{catch}"#, flow("f1", "s", "t"))
    }

    fn attached(&self, place: usize, many: &str) -> String {
        let cancel = if place == 5 { r#" cancelActivity="false""# } else { "" };
        let event =
            format!(r#"<boundaryEvent id="n" attachedToRef="t"{cancel}{many}>{}</boundaryEvent>"#, self.xml);
        let host = match self.name {
            "compensation" => {
                let handler = r#"<task id="u" isForCompensation="true"/><association id="a" sourceRef="n" targetRef="u"
                    associationDirection="One"/>"#;
                return format!("{}{event}{handler}", waiting());
            }
            "cancel" => transaction("ie", self.xml),
            _ => waiting(),
        };
        format!(r#"{host}{event}{}<endEvent id="be"/>"#, flow("f3", "n", "be"))
    }

    fn thrown(&self) -> String {
        let throw = format!(r#"<intermediateThrowEvent id="n">{}</intermediateThrowEvent>"#, self.xml);
        let start = format!(r#"<startEvent id="s"/>{}{throw}"#, flow("f1", "s", "n"));
        if self.name != "link" {
            return format!(r#"{start}{}<endEvent id="e"/>"#, flow("f2", "n", "e"));
        }
        let catch = format!(r#"<intermediateCatchEvent id="c">{}</intermediateCatchEvent>"#, self.xml);
        format!(r#"{start}{catch}{}<endEvent id="e"/>"#, flow("f2", "c", "e"))
    }

    fn ending(&self) -> String {
        if self.name == "cancel" {
            return transaction("n", self.xml);
        }
        format!(r#"<startEvent id="s"/>{}<endEvent id="n">{}</endEvent>"#, flow("f", "s", "n"), self.xml)
    }
}

fn flow(id: &str, from: &str, to: &str) -> String {
    format!(r#"<sequenceFlow id="{id}" sourceRef="{from}" targetRef="{to}"/>"#)
}

/// A process that waits at the task `t`.
fn waiting() -> String {
    let (before, after) = (flow("f1", "s", "t"), flow("f2", "t", "e"));
    format!(r#"<startEvent id="s"/>{before}<userTask id="t"/>{after}<endEvent id="e"/>"#)
}

/// A process with the transaction `t`, which ends with this event.
fn transaction(end: &str, xml: &str) -> String {
    let (before, after, inner) = (flow("f1", "s", "t"), flow("f2", "t", "e"), flow("i1", "is", end));
    format!(
        r#"<startEvent id="s"/>{before}<transaction id="t"><startEvent id="is"/>{inner}<endEvent id="{end}">{xml}
        </endEvent></transaction>{after}<endEvent id="e"/>"#
    )
}
