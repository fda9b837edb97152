//! Events, and what may start, catch, throw and end.

use super::{Doc, Out};
use heddle_bpmn::element::ElementKind as K;
use heddle_bpmn::elements::El;
use heddle_bpmn_graph::{TimerDefinition, TimerKind};
use heddle_feel::{Dialect, Expression};
use heddle_kernel::IsoDuration;

pub(super) fn check(doc: &Doc<'_>, out: &mut Out) {
    doc.all(K::StartEvent).iter().for_each(|event| start(doc, *event, out));
    doc.all(K::EndEvent).iter().for_each(|event| end(doc, *event, out));
    doc.all(K::BoundaryEvent).iter().for_each(|event| boundary(doc, *event, out));
    for &event in doc.all(K::IntermediateCatchEvent) {
        let allowed = [
            K::MessageEventDefinition,
            K::TimerEventDefinition,
            K::ConditionalEventDefinition,
            K::LinkEventDefinition,
            K::SignalEventDefinition,
        ];
        if !doc.defines_only(event, &allowed) || !doc.has_definition(event) {
            out.add("EXT148", event);
        }
        if doc.defines(event, K::CompensateEventDefinition) {
            out.add("EXT122", event);
        }
        caught_messages(doc, event, out);
        intermediate(doc, event, out);
    }
    for &event in doc.all(K::IntermediateThrowEvent) {
        let allowed = [
            K::MessageEventDefinition,
            K::EscalationEventDefinition,
            K::CompensateEventDefinition,
            K::LinkEventDefinition,
            K::SignalEventDefinition,
        ];
        if !doc.defines_only(event, &allowed) {
            out.add("EXT149", event);
        }
        let [source, target] = doc.messages(event);
        if target {
            out.add("EXT119", event);
        }
        if source && !doc.defines(event, K::MessageEventDefinition) {
            out.add("STD001", event);
        }
        intermediate(doc, event, out);
    }
    definitions(doc, out);
    event_sub_processes(doc, out);
    cancellations(doc, out);
}

/// Message flows at an event that catches in the flow or at a boundary.
fn caught_messages(doc: &Doc<'_>, event: El, out: &mut Out) {
    let [source, target] = doc.messages(event);
    if source {
        out.add("STD002", event);
    }
    if target && !doc.defines(event, K::MessageEventDefinition) {
        out.add("STD003", event);
    }
}

/// Cancel events in forms that have no rule of their own: in start and intermediate events, in the event of a loop's
/// behaviour, and at a boundary of nothing.
fn cancellations(doc: &Doc<'_>, out: &mut Out) {
    let never = [
        K::StartEvent,
        K::IntermediateCatchEvent,
        K::IntermediateThrowEvent,
        K::Event,
        K::ImplicitThrowEvent,
    ];
    for event in doc.each(&never).filter(|event| doc.defines(*event, K::CancelEventDefinition)) {
        out.add("STD012", event);
    }
    let loose = doc.all(K::BoundaryEvent).iter().filter(|event| doc.attr(**event, "attachedToRef").is_none());
    for &event in loose.filter(|event| doc.defines(**event, K::CancelEventDefinition)) {
        out.add("STD012", event);
    }
}

fn start(doc: &Doc<'_>, event: El, out: &mut Out) {
    if !doc.incoming(event).is_empty() {
        out.add("EXT096", event);
    }
    if doc.outgoing(event).is_empty() || doc.kid(event, K::Outgoing).is_none() {
        out.add("EXT101", event);
    }
    let [source, target] = doc.messages(event);
    if source {
        out.add("EXT102", event);
    }
    if target && !doc.defines(event, K::MessageEventDefinition) {
        out.add("EXT103", event);
    }
    let Some(container) = doc.parent(event) else { return };
    match doc.kind(container) {
        Some(K::Process) => {
            let allowed = [
                K::MessageEventDefinition,
                K::TimerEventDefinition,
                K::ConditionalEventDefinition,
                K::SignalEventDefinition,
            ];
            if !doc.defines_only(event, &allowed) {
                out.add("EXT098", event);
            }
        }
        Some(K::SubProcess | K::Transaction | K::AdHocSubProcess)
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
    if source && !doc.defines(event, K::MessageEventDefinition) {
        out.add("EXT109", event);
    }
    let in_transaction = || doc.parent(event).is_some_and(|around| doc.is_a(around, K::Transaction));
    if doc.defines(event, K::CancelEventDefinition) && !in_transaction() {
        out.add("EXT106", event);
    }
    let allowed = [
        K::MessageEventDefinition,
        K::EscalationEventDefinition,
        K::ErrorEventDefinition,
        K::CancelEventDefinition,
        K::CompensateEventDefinition,
        K::SignalEventDefinition,
        K::TerminateEventDefinition,
    ];
    if !doc.defines_only(event, &allowed) {
        out.add("EXT146", event);
    }
}

fn boundary(doc: &Doc<'_>, event: El, out: &mut Out) {
    let defined = doc.has_definition(event);
    let interrupting = !doc.untrue(event, "cancelActivity");
    let mut allowed = vec![
        K::MessageEventDefinition,
        K::TimerEventDefinition,
        K::EscalationEventDefinition,
        K::ConditionalEventDefinition,
        K::SignalEventDefinition,
    ];
    if interrupting {
        allowed.extend([K::ErrorEventDefinition, K::CancelEventDefinition, K::CompensateEventDefinition]);
    }
    if !defined {
        out.add("EXT130", event);
    }
    if !defined || !doc.defines_only(event, &allowed) {
        out.add("EXT110", event);
    }
    if doc.defines(event, K::CancelEventDefinition) {
        let host = doc.refers(event, "attachedToRef");
        if host.is_some_and(|host| !doc.is_a(host, K::Transaction)) {
            out.add("EXT111", event);
            out.add("EXT120", event);
        }
    }
    caught_messages(doc, event, out);
    if !doc.incoming(event).is_empty() {
        out.add("EXT112", event);
    }
    if !doc.defines(event, K::CompensateEventDefinition) {
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
            && !doc.is_a(handler, K::CallActivity)
            && doc.truth(handler, "isForCompensation")
    };
    if handlers().any(|handler| !fit(*handler)) {
        out.add("EXT144", event);
    }
}

fn intermediate(doc: &Doc<'_>, event: El, out: &mut Out) {
    let link = doc.defines(event, K::LinkEventDefinition);
    let catches = doc.is_a(event, K::IntermediateCatchEvent);
    let loose = doc.parent(event).is_some_and(|parent| doc.is_a(parent, K::AdHocSubProcess));
    if doc.incoming(event).is_empty() && !(link && catches) && !loose {
        out.add("EXT115", event);
    }
    if doc.outgoing(event).is_empty() && (!link || catches) && !loose {
        out.add("EXT116", event);
    }
}

fn definitions(doc: &Doc<'_>, out: &mut Out) {
    let events =
        [K::StartEvent, K::EndEvent, K::BoundaryEvent, K::IntermediateCatchEvent, K::IntermediateThrowEvent];
    for event in doc.each(&events) {
        for definition in doc.referred(event, K::EventDefinitionRef).flatten() {
            let throws = doc.parent(definition).is_some_and(|around| {
                around != event && doc.is(around, &[K::EndEvent, K::IntermediateThrowEvent])
            });
            if throws {
                out.add("EXT095", event);
            }
        }
        let throws = doc.is(event, &[K::EndEvent, K::IntermediateThrowEvent]);
        for definition in doc.definitions(event) {
            definition_of(doc, event, throws, definition, out);
        }
    }
}

fn definition_of(doc: &Doc<'_>, event: El, throws: bool, definition: El, out: &mut Out) {
    match doc.kind(definition) {
        Some(K::MessageEventDefinition) if doc.executable(event) => {
            if doc.attr(definition, "messageRef").is_none() {
                out.add("EXT127", event);
            }
            if doc.kid(definition, K::OperationRef).is_none() {
                out.add("EXT128", event);
            }
        }
        Some(K::EscalationEventDefinition) if throws => {
            let coded = |one: El| doc.attr(one, "escalationCode").is_some_and(|code| !code.trim().is_empty());
            // A reference that leads nowhere is told as such.
            let named = doc.refers(definition, "escalationRef");
            if named.map_or_else(|| doc.attr(definition, "escalationRef").is_none(), |one| !coded(one)) {
                out.add("EXT011", event);
            }
        }
        Some(K::ConditionalEventDefinition) if doc.executable(event) => {
            let condition = doc.kid(definition, K::Condition);
            let formal = |condition: El| doc.formal(condition) && !doc.text(condition).is_empty();
            if !condition.is_some_and(formal) {
                out.add("EXT123", event);
            }
        }
        Some(K::TimerEventDefinition) => {
            let times = [K::TimeDate, K::TimeCycle, K::TimeDuration];
            if doc.children(definition).filter(|kid| doc.is(*kid, &times)).count() > 1 {
                out.add("STD005", event);
            }
            for (name, rule, kind) in [
                (K::TimeDate, "EXT132", TimerKind::Date),
                (K::TimeCycle, "EXT133", TimerKind::Cycle),
                (K::TimeDuration, "EXT134", TimerKind::Duration),
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
        || (kind == TimerKind::Duration && IsoDuration::parse(text).is_some())
        || (computes(text) && Expression::compile(text, Dialect::Heddle).is_ok())
}

/// Whether a text speaks of times as FEEL does: a plain word or two might be FEEL as well, and say nothing.
fn computes(text: &str) -> bool {
    let calls = ["duration(", "now(", "today(", "date(", "time("];
    text.contains('"') || calls.iter().any(|call| text.contains(call))
}

fn event_sub_processes(doc: &Doc<'_>, out: &mut Out) {
    for &sub in doc.all(K::SubProcess) {
        if !doc.is_event_sub_process(sub) {
            continue;
        }
        if !doc.incoming(sub).is_empty() || !doc.outgoing(sub).is_empty() {
            out.add("EXT057", sub);
        }
        if doc.kids(sub, K::StartEvent).count() != 1 {
            out.add("EXT058", sub);
        }
        for start in doc.kids(sub, K::StartEvent) {
            let mut allowed = vec![
                K::MessageEventDefinition,
                K::EscalationEventDefinition,
                K::ConditionalEventDefinition,
                K::SignalEventDefinition,
                K::TimerEventDefinition,
            ];
            // What is over can't be handled beside the scope.
            if !doc.untrue(start, "isInterrupting") {
                allowed.extend([K::ErrorEventDefinition, K::CompensateEventDefinition]);
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
