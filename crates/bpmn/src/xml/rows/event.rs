//! Event definitions and loop characteristics.

use super::kept_head;
use crate::model::{ComplexBehaviorDefinition, DataItem, EventDefinition, LoopCharacteristics};
use crate::xml::Group;
use crate::xml::XmlError;
use crate::xml::names::{kind, kind_named};
use crate::xml::tree::El;
use crate::xml::vocabulary::{Child, Reader, Row, Writer, any_of, group};
use crate::xml::write;
use heddle_xml::mapping::{Attr, Leaf, Lexical, Lexis, Match};

const HEAD: &[Child<EventDefinition>] = &kept_head();
const ID: &[Attr<EventDefinition>] = &[attr!(Text "id" id)];

macro_rules! definition {
    ($name:ident: [$($attribute:expr),*] [$($child:expr),*]) => {
        static $name: Row<EventDefinition> =
            Row { attributes: &[ID, &[$($attribute),*]], children: &[HEAD, &[$($child),*]] };
    };
}

definition!(MESSAGE: [attr!(Reference "messageRef" reference)]
    [leaf!(EventDefinition: Reference "operationRef" operation_ref)]);
definition!(TIMER: [] [
    expression!(EventDefinition: "timeDate" time_date, language),
    expression!(EventDefinition: "timeDuration" time_duration, language),
    expression!(EventDefinition: "timeCycle" time_cycle, language)
]);
definition!(ERROR: [attr!(Reference "errorRef" reference)] []);
definition!(ESCALATION: [attr!(Reference "escalationRef" reference)] []);
definition!(SIGNAL: [attr!(Reference "signalRef" reference)] []);
definition!(PLAIN: [] []);
definition!(COMPENSATE: [
    attr!(Reference "activityRef" activity_ref),
    Attr {
        name: "waitForCompletion",
        lexis: Lexis::Typed,
        get: |definition| definition.wait_for_completion.as_ref().map(Lexical::print),
        set: |definition, text| {
            definition.wait_for_completion = Lexical::parse(text);
            definition.wait_for_completion_specified = definition.wait_for_completion.map(|_| true);
            definition.wait_for_completion.is_some()
        },
    }
] []);
definition!(CONDITIONAL: [] [expression!(EventDefinition: "condition" expression, language)]);
definition!(LINK: [attr!(Text "name" reference)] [
    leaves!(EventDefinition: Reference "source" sources),
    leaf!(EventDefinition: Reference "target" target)
]);

/// Types of event definitions with their element names and rows.
static TYPES: &[(&str, &str, &Row<EventDefinition>)] = &[
    ("message", "messageEventDefinition", &MESSAGE),
    ("timer", "timerEventDefinition", &TIMER),
    ("error", "errorEventDefinition", &ERROR),
    ("escalation", "escalationEventDefinition", &ESCALATION),
    ("signal", "signalEventDefinition", &SIGNAL),
    ("terminate", "terminateEventDefinition", &PLAIN),
    ("cancel", "cancelEventDefinition", &PLAIN),
    ("compensate", "compensateEventDefinition", &COMPENSATE),
    ("conditional", "conditionalEventDefinition", &CONDITIONAL),
    ("link", "linkEventDefinition", &LINK),
];

/// Reads an event definition, or a reference to one of the model's root.
pub(in crate::xml) fn read_definition(
    reader: &mut Reader<'_>,
    definitions: &mut Option<Vec<EventDefinition>>,
    el: El,
) -> Result<bool, XmlError> {
    let tree = reader.tree;
    let mut definition = EventDefinition::default();
    if tree.part(el).kind == kind("eventDefinitionRef") {
        let id = reader.leaf(el, Leaf::Reference);
        let found = reader.state.root_events.get(&*id).copied();
        match found.and_then(|root| Some((root, of_element(tree.part(root).local())?))) {
            Some((root, (name, row))) => {
                reader.read_muted(row, &mut definition, root)?;
                definition.r#type = Some(name.to_owned());
            }
            None => {
                definition.r#type = Some("reference".to_owned());
                definition.reference = Some(id);
            }
        }
    } else {
        let Some((name, row)) = of_element(tree.part(el).local()) else { return Ok(false) };
        definition.r#type = Some(name.to_owned());
        reader.read(row, &mut definition, el)?;
    }
    definitions.get_or_insert_default().push(definition);
    Ok(true)
}

fn of_element(local: &str) -> Option<(&'static str, &'static Row<EventDefinition>)> {
    TYPES.iter().find(|(_, element, _)| *element == local).map(|(name, _, row)| (*name, *row))
}

/// Writes event definitions.
pub(in crate::xml) fn write_definitions(writer: &mut Writer<'_>, definitions: &[EventDefinition]) {
    for definition in definitions {
        let name = definition.kind();
        let root = definition.id.as_deref().filter(|id| write::flows::at_root(writer, id));
        let reference = if name == Some("reference") { definition.reference.as_deref() } else { root };
        if let Some(reference) = reference {
            writer.leaf(const { kind("eventDefinitionRef") }, Leaf::Reference, reference, None);
            continue;
        }
        let found = TYPES.iter().find(|(own, ..)| Some(*own) == name);
        match found {
            Some((_, element, row)) => writer.element(kind_named(element), row, definition),
            None => {
                let message =
                    format!("An event definition of the type {:?} is not exported.", definition.r#type);
                writer.state.diagnostics.push(crate::diagnostic::warning("unknownEventDefinition", message));
            }
        }
    }
}

const LOOP_HEAD: &[Child<LoopCharacteristics>] = &kept_head();

static STANDARD_LOOP: Row<LoopCharacteristics> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Typed "testBefore" test_before),
        attr!(Typed "loopMaximum" loop_maximum),
    ]],
    children: &[LOOP_HEAD, &[leaf!(LoopCharacteristics: Expression "loopCondition" loop_condition)]],
};

/// A data input that is known by its name alone.
static LOOP_ITEM: Row<DataItem> =
    Row { attributes: &[&[attr!(Text "name" name)]], children: &[&kept_head(), &[kept!("dataState")]] };

static MULTI_INSTANCE: Row<LoopCharacteristics> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Typed "isSequential" sequential),
        attr!(Text "behavior" behavior),
        attr!(Reference "oneBehaviorEventRef" one_behavior_event_ref),
        attr!(Reference "noneBehaviorEventRef" none_behavior_event_ref),
    ]],
    children: &[
        LOOP_HEAD,
        &[
            leaf!(LoopCharacteristics: Expression "loopCardinality" loop_condition),
            leaf!(LoopCharacteristics: Reference "loopDataInputRef" collection),
            kept!("loopDataOutputRef"),
            child!(
                "inputDataItem",
                |reader, characteristics: &mut LoopCharacteristics, el| {
                    let name = reader.tree.attribute(el, "name").or_else(|| reader.tree.attribute(el, "id"));
                    let Some(name) = name.filter(|_| characteristics.element_variable.is_none()) else {
                        return Ok(false);
                    };
                    characteristics.element_variable = Some(name.into_owned());
                    if reader.tree.attribute(el, "name").is_none() {
                        reader.enter(el, false);
                        reader.mark("plain", "true".to_owned());
                        reader.fill(&LOOP_ITEM, &mut DataItem::default(), el)?;
                        reader.leave();
                        return Ok(true);
                    }
                    reader.read(&LOOP_ITEM, &mut DataItem::default(), el)?;
                    Ok(true)
                },
                |writer, characteristics: &LoopCharacteristics| {
                    if let Some(name) = &characteristics.element_variable {
                        writer.enter(const { kind("inputDataItem") }, None);
                        let name = if writer.marked("plain") { None } else { Some(name.clone()) };
                        writer.contents(&LOOP_ITEM, &DataItem { name, ..DataItem::default() });
                        writer.leave();
                    }
                }
            ),
            kept!("outputDataItem"),
            many!(LoopCharacteristics: "complexBehaviorDefinition" COMPLEX_BEHAVIOR complex_behavior_definitions),
            leaf!(LoopCharacteristics: Expression "completionCondition" completion_condition),
        ],
    ],
};

static COMPLEX_BEHAVIOR: Row<ComplexBehaviorDefinition> = Row {
    attributes: &[&[attr!(Text "id" id)]],
    children: &[
        &kept_head(),
        &[
            leaf!(ComplexBehaviorDefinition: Expression "condition" condition),
            child!(
                "event",
                |reader, behavior: &mut ComplexBehaviorDefinition, el| {
                    if behavior.event_definitions.is_some() {
                        return Ok(false);
                    }
                    behavior.event_definitions = Some(Vec::new());
                    reader.enter(el, false);
                    reader.fill(&IMPLICIT_EVENT, behavior, el)?;
                    reader.leave();
                    Ok(true)
                },
                |writer, behavior: &ComplexBehaviorDefinition| {
                    if behavior.event_definitions.is_some() {
                        writer.enter(const { kind("event") }, None);
                        writer.contents(&IMPLICIT_EVENT, behavior);
                        writer.leave();
                    }
                }
            ),
        ],
    ],
};

/// The event within a complex behavior definition.
static IMPLICIT_EVENT: Row<ComplexBehaviorDefinition> = Row {
    attributes: &[],
    children: &[
        &kept_head(),
        &[
            Child {
                matches: any_of(Group::EventDefinition),
                read: Some(|reader, behavior, el| {
                    read_definition(reader, &mut behavior.event_definitions, el)
                }),
                write: Some(|writer, behavior| {
                    write_definitions(writer, behavior.event_definitions.as_deref().unwrap_or_default());
                }),
            },
            Child {
                matches: Match::Kind(kind("eventDefinitionRef")),
                read: Some(|reader, behavior, el| {
                    read_definition(reader, &mut behavior.event_definitions, el)
                }),
                write: None,
            },
        ],
    ],
};

/// Reads loop characteristics.
pub(in crate::xml) fn read_loop(
    reader: &mut Reader<'_>,
    place: &mut Option<Box<LoopCharacteristics>>,
    el: El,
) -> Result<bool, XmlError> {
    if place.is_some() || group(reader.tree.part(el).kind) != Group::LoopCharacteristics {
        return Ok(false);
    }
    let mut characteristics = Box::<LoopCharacteristics>::default();
    let standard = reader.tree.part(el).kind == kind("standardLoopCharacteristics");
    characteristics.kind = Some(if standard { "standard" } else { "multiInstance" }.to_owned());
    reader.read(if standard { &STANDARD_LOOP } else { &MULTI_INSTANCE }, &mut *characteristics, el)?;
    *place = Some(characteristics);
    Ok(true)
}

/// Writes loop characteristics.
pub(in crate::xml) fn write_loop(writer: &mut Writer<'_>, characteristics: &LoopCharacteristics) {
    match characteristics.kind.as_deref() {
        Some("multiInstance") => writer.element(
            const { kind("multiInstanceLoopCharacteristics") },
            &MULTI_INSTANCE,
            characteristics,
        ),
        _ => writer.element(const { kind("standardLoopCharacteristics") }, &STANDARD_LOOP, characteristics),
    }
}
