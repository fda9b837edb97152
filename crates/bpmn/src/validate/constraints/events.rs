//! Events, and what may start, catch, throw and end.

use super::{Doc, Out};
use crate::graph::{TimerDefinition, TimerKind};
use crate::xml::tree::El;
use heddle_feel::{Dialect, Expression};

pub(super) fn check(doc: &Doc<'_>, out: &mut Out) {
    doc.all("startEvent").iter().for_each(|event| start(doc, *event, out));
    doc.all("endEvent").iter().for_each(|event| end(doc, *event, out));
    doc.all("boundaryEvent").iter().for_each(|event| boundary(doc, *event, out));
    for &event in doc.all("intermediateCatchEvent") {
        let allowed = [
            "messageEventDefinition",
            "timerEventDefinition",
            "conditionalEventDefinition",
            "linkEventDefinition",
            "signalEventDefinition",
        ];
        if !doc.defines_only(event, &allowed) || !doc.has_definition(event) {
            out.add("EXT148", event);
        }
        if doc.defines(event, "compensateEventDefinition") {
            out.add("EXT122", event);
        }
        intermediate(doc, event, out);
    }
    for &event in doc.all("intermediateThrowEvent") {
        let allowed = [
            "messageEventDefinition",
            "escalationEventDefinition",
            "compensateEventDefinition",
            "linkEventDefinition",
            "signalEventDefinition",
        ];
        if !doc.defines_only(event, &allowed) {
            out.add("EXT149", event);
        }
        if doc.messages(event)[1] {
            out.add("EXT119", event);
        }
        intermediate(doc, event, out);
    }
    definitions(doc, out);
    event_sub_processes(doc, out);
}

fn start(doc: &Doc<'_>, event: El, out: &mut Out) {
    if !doc.incoming(event).is_empty() {
        out.add("EXT096", event);
    }
    if doc.outgoing(event).is_empty() || doc.kid(event, "outgoing").is_none() {
        out.add("EXT101", event);
    }
    let [source, target] = doc.messages(event);
    if source {
        out.add("EXT102", event);
    }
    if target && !doc.defines(event, "messageEventDefinition") {
        out.add("EXT103", event);
    }
    let Some(container) = doc.parent(event) else { return };
    match doc.name(container) {
        "process" => {
            let allowed = [
                "messageEventDefinition",
                "timerEventDefinition",
                "conditionalEventDefinition",
                "signalEventDefinition",
            ];
            if !doc.defines_only(event, &allowed) {
                out.add("EXT098", event);
            }
        }
        "subProcess" | "transaction" | "adHocSubProcess"
            if !doc.is_event_sub_process(container) && doc.has_definition(event) =>
        {
            out.add("EXT100", event);
        }
        _ => {}
    }
}

fn end(doc: &Doc<'_>, event: El, out: &mut Out) {
    if !doc.outgoing(event).is_empty() {
        out.add("EXT104", event);
    }
    if doc.incoming(event).is_empty() {
        out.add("EXT107", event);
    }
    let [source, target] = doc.messages(event);
    if target {
        out.add("EXT108", event);
    }
    if source && !doc.defines(event, "messageEventDefinition") {
        out.add("EXT109", event);
    }
    let in_transaction = || doc.parent(event).is_some_and(|around| doc.name(around) == "transaction");
    if doc.defines(event, "cancelEventDefinition") && !in_transaction() {
        out.add("EXT106", event);
    }
    let allowed = [
        "messageEventDefinition",
        "escalationEventDefinition",
        "errorEventDefinition",
        "cancelEventDefinition",
        "compensateEventDefinition",
        "signalEventDefinition",
        "terminateEventDefinition",
    ];
    if !doc.defines_only(event, &allowed) {
        out.add("EXT146", event);
    }
}

fn boundary(doc: &Doc<'_>, event: El, out: &mut Out) {
    let defined = doc.has_definition(event);
    let interrupting = !doc.untrue(event, "cancelActivity");
    let mut allowed = vec![
        "messageEventDefinition",
        "timerEventDefinition",
        "escalationEventDefinition",
        "conditionalEventDefinition",
        "signalEventDefinition",
    ];
    if interrupting {
        allowed.extend(["errorEventDefinition", "cancelEventDefinition", "compensateEventDefinition"]);
    }
    if !defined {
        out.add("EXT130", event);
    }
    if !defined || !doc.defines_only(event, &allowed) {
        out.add("EXT110", event);
    }
    if doc.defines(event, "cancelEventDefinition") {
        let host = doc.refers(event, "attachedToRef");
        if host.is_some_and(|host| doc.name(host) != "transaction") {
            out.add("EXT111", event);
            out.add("EXT120", event);
        }
    }
    if !doc.incoming(event).is_empty() {
        out.add("EXT112", event);
    }
    if !doc.defines(event, "compensateEventDefinition") {
        if doc.outgoing(event).is_empty() {
            out.add("EXT113", event);
        }
        return;
    }
    if !doc.outgoing(event).is_empty() {
        out.add("EXT114", event);
    }
    // A note may hang on the event as well.
    let handlers = || doc.associated(event).iter().filter(|end| doc.is_flow_node(**end));
    if !handlers().any(|handler| doc.is_activity(*handler)) {
        out.add("EXT143", event);
    }
    let fit = |handler: El| {
        doc.is_activity(handler)
            && doc.name(handler) != "callActivity"
            && doc.truth(handler, "isForCompensation")
    };
    if handlers().any(|handler| !fit(*handler)) {
        out.add("EXT144", event);
    }
}

fn intermediate(doc: &Doc<'_>, event: El, out: &mut Out) {
    let link = doc.defines(event, "linkEventDefinition");
    let catches = doc.name(event) == "intermediateCatchEvent";
    let loose = doc.parent(event).is_some_and(|parent| doc.name(parent) == "adHocSubProcess");
    if doc.incoming(event).is_empty() && !(link && catches) && !loose {
        out.add("EXT115", event);
    }
    if doc.outgoing(event).is_empty() && (!link || catches) && !loose {
        out.add("EXT116", event);
    }
}

fn definitions(doc: &Doc<'_>, out: &mut Out) {
    let events =
        ["startEvent", "endEvent", "boundaryEvent", "intermediateCatchEvent", "intermediateThrowEvent"];
    for event in doc.each(&events) {
        for definition in doc.referred(event, "eventDefinitionRef").flatten() {
            let throws = doc.parent(definition).is_some_and(|around| {
                around != event && doc.is(around, &["endEvent", "intermediateThrowEvent"])
            });
            if throws {
                out.add("EXT095", event);
            }
        }
        let throws = doc.is(event, &["endEvent", "intermediateThrowEvent"]);
        for definition in doc.definitions(event) {
            definition_of(doc, (event, throws), definition, out);
        }
    }
}

fn definition_of(doc: &Doc<'_>, (event, throws): (El, bool), definition: El, out: &mut Out) {
    match doc.name(definition) {
        "messageEventDefinition" if doc.executable(event) => {
            if doc.attr(definition, "messageRef").is_none() {
                out.add("EXT127", event);
            }
            if doc.kid(definition, "operationRef").is_none() {
                out.add("EXT128", event);
            }
        }
        "escalationEventDefinition" if throws => {
            let coded = |one: El| doc.attr(one, "escalationCode").is_some_and(|code| !code.trim().is_empty());
            // A reference that leads nowhere is told as such.
            let named = doc.refers(definition, "escalationRef");
            if named.map_or_else(|| doc.attr(definition, "escalationRef").is_none(), |one| !coded(one)) {
                out.add("EXT011", event);
            }
        }
        "conditionalEventDefinition" if doc.executable(event) => {
            let condition = doc.kid(definition, "condition");
            let formal = |condition: El| doc.formal(condition) && !doc.text(condition).is_empty();
            if !condition.is_some_and(formal) {
                out.add("EXT123", event);
            }
        }
        "timerEventDefinition" => {
            for (name, rule, kind) in [
                ("timeDate", "EXT132", TimerKind::Date),
                ("timeCycle", "EXT133", TimerKind::Cycle),
                ("timeDuration", "EXT134", TimerKind::Duration),
            ] {
                let Some(time) = doc.kid(definition, name) else { continue };
                let language = doc.attr(time, "language").is_some_and(|own| !own.trim().is_empty());
                let told = doc.text(time);
                if !told.is_empty() && !language && !is_time(kind, &told) {
                    out.add(rule, event);
                }
            }
        }
        _ => {}
    }
}

/// Whether a text is a time as the engine reads it, or says how one is computed.
fn is_time(kind: TimerKind, text: &str) -> bool {
    text.starts_with('=')
        || text.contains("${")
        || text.contains("#{")
        || TimerDefinition::parse(kind, text).is_ok_and(|timer| timer.is_literal())
        // The engine refuses to wait for no time at all, but the text is a duration.
        || (kind == TimerKind::Duration && text.trim_start_matches('-').starts_with('P') && text.parse::<jiff::Span>().is_ok())
        || (computes(text) && Expression::compile(text, Dialect::Heddle).is_ok())
}

/// Whether a text speaks of times as FEEL does: a plain word or two might be FEEL as well, and say nothing.
fn computes(text: &str) -> bool {
    let calls = ["duration(", "now(", "today(", "date(", "time("];
    text.contains('"') || calls.iter().any(|call| text.contains(call))
}

fn event_sub_processes(doc: &Doc<'_>, out: &mut Out) {
    for &sub in doc.all("subProcess") {
        if !doc.is_event_sub_process(sub) {
            continue;
        }
        if !doc.incoming(sub).is_empty() || !doc.outgoing(sub).is_empty() {
            out.add("EXT057", sub);
        }
        if doc.kids(sub, "startEvent").count() != 1 {
            out.add("EXT058", sub);
        }
        for start in doc.kids(sub, "startEvent") {
            let mut allowed = vec![
                "messageEventDefinition",
                "escalationEventDefinition",
                "conditionalEventDefinition",
                "signalEventDefinition",
                "timerEventDefinition",
            ];
            // What is over can't be handled beside the scope.
            if !doc.untrue(start, "isInterrupting") {
                allowed.extend(["errorEventDefinition", "compensateEventDefinition"]);
            }
            if !doc.has_definition(start) {
                out.add("EXT059", start);
                out.add("EXT129", start);
            } else if !doc.defines_only(start, &allowed) {
                out.add("EXT059", start);
            }
        }
    }
}
