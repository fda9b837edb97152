//! Event sub-processes and compensations as handlers of their scope.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::body::{self, Content, Info, Level};
use super::context::{Context, Thrown};
use super::events;
use super::tree::{Activity, Fault, On, Scope, What};
use heddle_bpmn::element::ElementKind;

/// Adds the handlers that the event sub-process stands for.
pub(super) fn event_sub_process<'d>(
    context: &mut Context<'d>,
    info: &Info<'d>,
    scope: &mut Scope,
    is_process: bool,
) {
    let process = info.node.bpmn.as_deref().and_then(|bpmn| bpmn.sub_process.as_deref());
    let nodes = process.and_then(|process| process.nodes.as_deref()).unwrap_or_default();
    let starts: Vec<usize> = (0..nodes.len()).filter(|at| nodes[*at].is(ElementKind::StartEvent)).collect();
    let [start] = starts[..] else {
        let message = "an event sub-process needs exactly one start event";
        context.refuse([info.element], "eventSubProcess", message);
        return;
    };
    let content = Content {
        nodes,
        edges: process.and_then(|process| process.edges.as_deref()).unwrap_or_default(),
        process,
        path: format!("{}.bpmn.subProcess", info.path),
    };
    let start_info = Info::new(context, &nodes[start], format!("{}.nodes[{start}]", content.path));
    let definitions = events::definitions(&start_info);
    let [definition] = definitions else {
        let message =
            "the start event of an event sub-process needs exactly one event definition to be mapped";
        context.refuse([start_info.element], "multipleEvent", message);
        return;
    };
    let interrupting = nodes[start].bpmn.as_deref().and_then(|bpmn| bpmn.is_interrupting) != Some(false);
    match definition.kind() {
        Some("error") => {
            let fault = events::error_name(context, definition.reference.as_deref()).map(Fault::Error);
            let handler = handler(context, info, &content);
            add_fault(context, info.element, scope, fault, handler);
        }
        Some("compensate" | "compensation") if !is_process => {
            scope.compensation = Some(handler(context, info, &content));
        }
        Some("message" | "timer") => match events::trigger(context, &start_info, definition, true) {
            Err((code, message)) => context.refuse([start_info.element], code, message),
            Ok(trigger) => {
                let handler = handler(context, info, &content);
                if !interrupting {
                    scope.events.push((trigger, handler.in_scope()));
                    return;
                }
                if matches!(trigger.on, On::Every(_)) {
                    context.refuse([start_info.element], "timer", "a recurring time cannot interrupt");
                }
                let fault = Fault::Own(context.names.unique("interrupt"));
                let throw = Activity::new(What::Throw(fault.clone()));
                scope.events.push((trigger, throw.in_scope()));
                scope.faults.push((Some(fault), handler));
            }
        },
        kind => {
            let kind = kind.unwrap_or("none").to_owned();
            let message = format!("an event sub-process that starts by `{kind}` has no mapping here");
            context.refuse([info.element, start_info.element], "eventSubProcess", message);
        }
    }
}

fn handler<'d>(context: &mut Context<'d>, info: &Info<'d>, content: &Content<'d>) -> Activity {
    let scope = body::scope(context, content, Level::Handler);
    info.activity(context, What::Scope(Box::new(scope)))
}

/// Adds a catch; one fault is caught once.
pub(super) fn add_fault(
    context: &mut Context,
    element: u32,
    scope: &mut Scope,
    fault: Option<Fault>,
    handler: Activity,
) {
    if scope.faults.iter().any(|(known, _)| *known == fault) {
        let message = "the same error is caught twice on one level";
        context.refuse([element], "duplicateCatch", message);
        return;
    }
    scope.faults.push((fault, handler));
}

/// WS-BPEL compensates in handlers only: what was done so far goes into a scope whose fault handler compensates.
/// That says the same only where no other token is on its way and, unless nothing follows at all, where the
/// event stands in the outermost sequence.
pub(super) fn compensations(context: &mut Context, body: Activity, thrown: Vec<Thrown>) -> Activity {
    if thrown.is_empty() {
        return body;
    }
    let mut body = body;
    let (ends, inner): (Vec<Thrown>, Vec<Thrown>) = thrown.into_iter().partition(|one| one.is_end);
    if inner.len() > 1 {
        let message = "several compensations in the flow of one level have no mapping: each needs the scopes of all before it";
        context.refuse(inner.iter().map(|one| one.element), "compensation", message);
        return body;
    }
    for one in inner {
        let element = one.element;
        let (made, found) = wrap_head(body, one);
        body = made;
        if !found {
            let message =
                "a compensation in the flow can be mapped in the outermost sequence of its level only";
            context.refuse([element], "compensation", message);
        }
    }
    if ends.is_empty() {
        return body;
    }
    let mut reachable = Vec::new();
    sequential_faults(&body, &mut reachable);
    let mut scope = Scope { body, ..Scope::default() };
    for Thrown { fault, handler, element, .. } in ends {
        if !reachable.contains(&fault) {
            let message = "a compensation beside other branches, or within a loop's instances, has no mapping: the fault that leads to its handler would end them";
            context.refuse([element], "compensation", message);
        }
        scope.faults.push((Some(Fault::Own(fault)), handler));
    }
    Activity::new(What::Scope(Box::new(scope)))
}

/// The sequence with all before and with the throw in a scope that catches it; whether the throw was there.
fn wrap_head(body: Activity, one: Thrown) -> (Activity, bool) {
    let is_throw =
        |activity: &Activity| matches!(&activity.what, What::Throw(Fault::Own(name)) if *name == one.fault);
    let mut list = match body.what {
        What::Sequence(list) => list,
        _ => return (body, false),
    };
    let Some(at) = list.iter().position(is_throw) else { return (Activity::sequence(list), false) };
    let rest = list.split_off(at + 1);
    let scope = Scope {
        faults: vec![(Some(Fault::Own(one.fault)), one.handler)],
        body: Activity::sequence(list),
        ..Scope::default()
    };
    let first = Activity::new(What::Scope(Box::new(scope)));
    (Activity::sequence([first].into_iter().chain(rest)), true)
}

/// The mapping's own faults that are thrown while no other token is on its way.
fn sequential_faults(body: &Activity, found: &mut Vec<String>) {
    let mut open = vec![body];
    while let Some(one) = open.pop() {
        match &one.what {
            What::Throw(Fault::Own(name)) => found.push(name.clone()),
            What::Sequence(list) => open.extend(list),
            What::If(branches, otherwise) => {
                open.extend(branches.iter().map(|(_, one)| one));
                open.extend(otherwise.as_deref());
            }
            What::Pick(_, branches) => open.extend(branches.iter().map(|(_, one)| one)),
            What::While(_, one) | What::RepeatUntil(one, _) => open.push(one),
            // The handlers of an activity's boundary events run after it has ended.
            What::Scope(scope) => open.extend(scope.faults.iter().map(|(_, one)| one)),
            _ => {}
        }
    }
}
