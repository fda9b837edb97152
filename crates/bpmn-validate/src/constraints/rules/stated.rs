//! Constraints that the standard states beyond the published catalogue.

use super::RuleProfile::{Analytic, Descriptive};
use super::{Rule, rule};

/// Rules beyond the published catalogue, sorted by name.
pub(super) const STATED: &[Rule] = &[
    rule(
        "STD001",
        "throwEventMessage",
        Descriptive,
        "10.5.4",
        "An intermediate throw event that is the source of a message flow must have a message event definition.",
        "Give the event a message, or begin the message flow elsewhere.",
    ),
    rule(
        "STD002",
        "catchEventSends",
        Descriptive,
        "10.5.4",
        "An intermediate catch event or a boundary event must not be the source of a message flow.",
        "Turn the message flow round, or begin it at a throw event, an activity or a pool.",
    ),
    rule(
        "STD003",
        "catchEventMessage",
        Descriptive,
        "10.5.4",
        "An intermediate catch event or a boundary event that is the target of a message flow must have a message event definition.",
        "Give the event a message, or end the message flow elsewhere.",
    ),
    rule(
        "STD004",
        "linkMismatch",
        Analytic,
        "10.5.5",
        "Two links that are joined by source and target must name each other.",
        "Let the target of the throwing link and the source of the catching link name one pair.",
    ),
    rule(
        "STD005",
        "timerSyntax",
        Analytic,
        "10.5.5",
        "Of timeDate, timeCycle and timeDuration a timer must have at most one.",
        "Leave the date, the cycle or the duration, and take the others out.",
    ),
    rule(
        "STD006",
        "setMismatch",
        Analytic,
        "10.4.1",
        "An input set and an output set that refer to each other must do so both ways.",
        "Name the input set in inputSetRefs of the output set, and the output set in outputSetRefs of the input set.",
    ),
    rule(
        "STD007",
        "conditionMisplaced",
        Analytic,
        "8.4.13",
        "A conditional sequence flow must not leave a parallel gateway.",
        "Take the condition out, or use an inclusive gateway.",
    ),
    rule(
        "STD008",
        "conditionMisplaced",
        Analytic,
        "8.4.13",
        "A conditional sequence flow leaves an activity or a gateway, not an event.",
        "Take the condition out, or put an exclusive gateway behind the event.",
    ),
    rule(
        "STD009",
        "propertyMisplaced",
        Descriptive,
        "10.4.1",
        "Only processes, activities and events have properties.",
        "Move the property to the process, an activity or an event, or make it a data object.",
    ),
    rule(
        "STD010",
        "textFormat",
        Descriptive,
        "8.3.1",
        "The textFormat of a documentation must be a media type.",
        "Write the format as a media type, such as text/plain.",
    ),
    rule(
        "STD011",
        "resourceBinding",
        Descriptive,
        "10.3.1",
        "A resource role has parameter bindings only with a resourceRef.",
        "Name the resource of the bindings, or take them out.",
    ),
    rule(
        "STD012",
        "cancelOutsideTransaction",
        Analytic,
        "10.5.5",
        "A cancel event definition stands in an end event within a transaction or at its boundary.",
        "Give the event another trigger or result.",
    ),
];
