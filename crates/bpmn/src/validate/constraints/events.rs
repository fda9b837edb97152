//! Events, and what may start, catch, throw and end.

use super::{Doc, Out};
use crate::xml::tree::El;

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
        if !doc.defines_only(event, &allowed) || doc.definitions(event).is_empty() {
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
            if !doc.is_event_sub_process(container) && !doc.definitions(event).is_empty() =>
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
    let inside = |name: &str| doc.around(event).any(|around| doc.name(around) == name);
    if doc.defines(event, "cancelEventDefinition") && !inside("transaction") {
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
    let definitions = doc.definitions(event);
    let interrupting = doc.attr(event, "cancelActivity").is_none_or(|value| value.trim() != "false");
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
    if definitions.is_empty() {
        out.add("EXT130", event);
    }
    if definitions.is_empty() || !doc.defines_only(event, &allowed) {
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
    let ends = |association: &El| {
        let (source, target) = (doc.refers(*association, "sourceRef"), doc.refers(*association, "targetRef"));
        if source == Some(event) { target } else { source.filter(|_| target == Some(event)) }
    };
    let handlers: Vec<El> = doc.all("association").iter().filter_map(ends).collect();
    if !handlers.iter().any(|handler| doc.is_activity(*handler)) {
        out.add("EXT143", event);
    }
    let mut activities = handlers.iter().filter(|handler| doc.is_activity(**handler));
    if activities.any(|handler| !doc.truth(*handler, "isForCompensation")) {
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
            let named = doc.refers(definition, "escalationRef");
            if named.is_some_and(|one| doc.attr(one, "escalationCode").is_none_or(|code| code.is_empty())) {
                out.add("EXT011", event);
            }
        }
        "conditionalEventDefinition" if doc.executable(event) => {
            let condition = doc.kid(definition, "condition");
            if condition.is_none_or(|condition| doc.text(condition).is_empty()) {
                out.add("EXT123", event);
            }
        }
        "timerEventDefinition" => {
            for (name, rule, fits) in [
                ("timeDate", "EXT132", is_date as fn(&str) -> bool),
                ("timeCycle", "EXT133", is_cycle),
                ("timeDuration", "EXT134", is_duration),
            ] {
                let told = doc.kid(definition, name).map(|time| doc.text(time)).unwrap_or_default();
                if !told.is_empty() && !is_expression(&told) && !fits(&told) {
                    out.add(rule, event);
                }
            }
        }
        _ => {}
    }
}

/// Whether a time is computed rather than written.
fn is_expression(text: &str) -> bool {
    text.starts_with(['=', '$', '#']) || text.contains('(')
}

fn is_date(text: &str) -> bool {
    text.len() >= 10 && text.starts_with(|letter: char| letter.is_ascii_digit()) && text.contains('-')
}

fn is_duration(text: &str) -> bool {
    let text = text.trim_start_matches('-');
    text.len() > 1
        && text.starts_with('P')
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"PYMWDTHS.,".contains(&byte))
}

/// An ISO 8601 recurrence, a duration, or the six or seven fields of a cron expression, which engines take too.
fn is_cycle(text: &str) -> bool {
    let recurrence = text.starts_with('R') && text.contains('/');
    let fields = text.split_whitespace().count();
    recurrence || is_duration(text) || is_date(text) || (5..=7).contains(&fields) || text.starts_with('@')
}

fn event_sub_processes(doc: &Doc<'_>, out: &mut Out) {
    for &sub in doc.all("subProcess") {
        if !doc.is_event_sub_process(sub) {
            continue;
        }
        if !doc.incoming(sub).is_empty() || !doc.outgoing(sub).is_empty() {
            out.add("EXT057", sub);
        }
        let starts: Vec<El> = doc.kids(sub, "startEvent").collect();
        if starts.len() != 1 {
            out.add("EXT058", sub);
        }
        for start in starts {
            let mut allowed = vec![
                "messageEventDefinition",
                "escalationEventDefinition",
                "conditionalEventDefinition",
                "signalEventDefinition",
                "timerEventDefinition",
            ];
            // What is over can't be handled beside the scope.
            if doc.attr(start, "isInterrupting").is_none_or(|value| value.trim() != "false") {
                allowed.extend(["errorEventDefinition", "compensateEventDefinition"]);
            }
            if doc.definitions(start).is_empty() {
                out.add("EXT059", start);
                out.add("EXT129", start);
            } else if !doc.defines_only(start, &allowed) {
                out.add("EXT059", start);
            }
        }
    }
}
