//! Events: what is received, waited for, thrown and ended.

use super::body::Info;
use super::context::{Context, Thrown};
use super::contract::{Exchange, Side};
use super::data;
use super::expression::{repeating, timer};
use super::graph::own_variable;
use super::names::clean;
use super::tree::{Activity, Call, Copy, Fault, From, On, To, Trigger, Variable, What};
use heddle_bpmn::model::EventDefinition;

type Refusal = (&'static str, String);

/// The event definitions of a node.
pub(super) fn definitions<'d>(info: &Info<'d>) -> &'d [EventDefinition] {
    let bpmn = info.node.bpmn.as_deref();
    bpmn.and_then(|bpmn| bpmn.event_definitions.as_deref()).unwrap_or_default()
}

/// A receiving exchange, with a variable that the innermost scope declares.
pub(super) fn receive<'d>(
    context: &mut Context<'d>,
    info: &Info<'d>,
    operation: Option<&'d str>,
    message: Option<&str>,
) -> Call {
    let mut call = incoming(context, info, operation, message);
    let name = context.names.unique(&format!("{}_received", clean(info.id)));
    let of = ("messageType", format!("own:{}", call.message_type));
    context.declare(Variable { name: name.clone(), of });
    call.output = Some(name);
    call
}

fn incoming<'d>(
    context: &mut Context<'d>,
    info: &Info<'d>,
    operation: Option<&'d str>,
    message: Option<&str>,
) -> Call {
    let of = Exchange { operation, message, name: info.label() };
    context.contract.call(info.id, of, Side::Receives)
}

/// A sending exchange with its message, filled from the node's data: what comes before the activity, and the
/// activity itself.
pub(super) fn send<'d>(
    context: &mut Context<'d>,
    info: &Info<'d>,
    operation: Option<&'d str>,
    message: Option<&str>,
    side: Side,
) -> Activity {
    data::declare_own(context, info.node);
    let reply = side == Side::Sends && context.contract.is_reply(operation, message);
    let of = Exchange { operation, message, name: info.label() };
    let mut call =
        if reply { context.contract.answer(info.id, of) } else { context.contract.call(info.id, of, side) };
    let answer = call.output.take().filter(|_| !reply);
    let sent_type = if reply { context.contract.reply_type(&call) } else { call.message_type.clone() };
    let sent = variable(context, info, "sent", &sent_type);
    let received = answer.map(|message_type| variable(context, info, "answer", &message_type));
    let (before, after) = data::copies(context, info, Some(&sent), received.as_deref());
    let empty = if context.contract.is_untyped(&sent_type) { From::Payload } else { From::Nothing };
    let first = Copy { from: empty, to: To::Payload(sent.clone()) };
    call.input = Some(sent);
    call.output = received;
    let what = if reply { What::Reply(call) } else { What::Invoke(call) };
    let activity = info.activity(context, what);
    let before = data::assign([first].into_iter().chain(before).collect());
    Activity::sequence(before.into_iter().chain([activity]).chain(data::assign(after)))
}

fn variable(context: &mut Context, info: &Info, word: &str, message_type: &str) -> String {
    let name = context.names.unique(&format!("{}_{word}", clean(info.id)));
    context.declare(Variable { name: name.clone(), of: ("messageType", format!("own:{message_type}")) });
    name
}

/// A received message, with what is copied out of it.
pub(super) fn received<'d>(context: &mut Context<'d>, info: &Info<'d>, call: Call, create: bool) -> Activity {
    data::declare_own(context, info.node);
    let (_, after) = data::copies(context, info, None, call.output.as_deref());
    let mut call = call;
    if create {
        first_of_conversation(&mut call);
    }
    let activity = info.activity(context, What::Receive(call, create));
    Activity::sequence([activity].into_iter().chain(data::assign(after)))
}

/// The one message that starts the process gives the values of its correlation sets.
fn first_of_conversation(call: &mut Call) {
    for (_, initiate) in &mut call.correlations {
        *initiate = "yes";
    }
}

/// Trigger that a catching event waits for. A message's variable is declared by the innermost scope, or by
/// the handler itself.
pub(super) fn trigger<'d>(
    context: &mut Context<'d>,
    info: &Info<'d>,
    definition: &'d EventDefinition,
    in_handler: bool,
) -> Result<Trigger, Refusal> {
    let on = match definition.kind() {
        Some("message") => {
            let message = definition.reference.as_deref();
            let operation = definition.operation_ref.as_deref();
            if in_handler {
                let mut call = incoming(context, info, operation, message);
                call.output = Some(context.names.unique(&format!("{}_received", clean(info.id))));
                On::Message(call)
            } else {
                On::Message(receive(context, info, operation, message))
            }
        }
        Some("timer") => match repeating(definition) {
            Some(every) if in_handler => On::Every(every),
            _ => On::Alarm(timer(definition, context.language()).map_err(|message| ("timer", message))?),
        },
        kind => return Err(no_event(kind, "waited for")),
    };
    Ok(Trigger { element: Some(info.id.to_owned()), on })
}

fn no_event(kind: Option<&str>, how: &str) -> Refusal {
    match kind {
        Some("signal") => ("signal", "a signal has no mapping: WS-BPEL has no broadcast".to_owned()),
        Some("conditional") => {
            ("conditional", "a conditional event has no mapping: WS-BPEL watches no data".to_owned())
        }
        Some("escalation") => ("escalation", "an escalation has no mapping to WS-BPEL".to_owned()),
        Some("cancel") => {
            ("transaction", "the cancellation of a transaction has no mapping to WS-BPEL".to_owned())
        }
        Some("link") => ("linkToAnotherLevel", "the link has no other end on its own level".to_owned()),
        Some("reference") => {
            ("eventDefinition", "the event definition at the model's root is not resolved".to_owned())
        }
        Some(kind) => ("event", format!("an event of the kind `{kind}` cannot be {how} here")),
        None => ("event", format!("an event without a definition cannot be {how}")),
    }
}

/// A catching event in the flow.
pub(super) fn catch<'d>(context: &mut Context<'d>, info: &Info<'d>, create: bool) -> Activity {
    let list = definitions(info);
    let bpmn = info.node.bpmn.as_deref();
    if list.len() > 1 && bpmn.and_then(|bpmn| bpmn.parallel_multiple) == Some(true) {
        let message = "a parallel multiple event has no mapping to WS-BPEL";
        context.refuse([info.element], "parallelMultiple", message);
        return Activity::default();
    }
    let mut triggers = Vec::new();
    for definition in list {
        match trigger(context, info, definition, false) {
            Ok(trigger) => triggers.push(trigger),
            Err((code, message)) => context.refuse([info.element], code, message),
        }
    }
    if list.is_empty() {
        let (code, message) = no_event(None, "waited for");
        context.refuse([info.element], code, message);
    }
    if triggers.len() == 1 && list.len() == 1 {
        return match triggers.remove(0).on {
            On::Message(call) => received(context, info, call, create),
            On::Alarm(timer) | On::Every(timer) => info.activity(context, What::Wait(timer)),
        };
    }
    if !triggers.is_empty() && !triggers.iter().any(|trigger| matches!(trigger.on, On::Message(_))) {
        let message = "WS-BPEL has no choice among times alone: one of the events must be a message";
        context.refuse([info.element], "noMessage", message);
    }
    let branches = triggers.into_iter().map(|trigger| (trigger, Activity::default())).collect();
    info.activity(context, What::Pick(create, branches))
}

/// The message that starts the process where the model names none.
pub(super) fn generated_start<'d>(context: &mut Context<'d>, info: &Info<'d>, alone: bool) -> Trigger {
    let name = if alone { "start".to_owned() } else { format!("start_{}", clean(info.label())) };
    let of = Exchange { operation: None, message: None, name: &name };
    let mut call = context.contract.call(info.id, of, Side::Receives);
    let variable = context.names.unique(&format!("{}_received", clean(info.id)));
    context.declare(Variable {
        name: variable.clone(),
        of: ("messageType", format!("own:{}", call.message_type)),
    });
    call.output = Some(variable);
    context.inform(
        info.element,
        "generatedOperation",
        format!("a process of WS-BPEL starts by a message: the operation `{}` was added", call.operation),
    );
    Trigger { element: Some(info.id.to_owned()), on: On::Message(call) }
}

/// A throwing intermediate event or an end event.
pub(super) fn throw<'d>(context: &mut Context<'d>, info: &Info<'d>, is_end: bool) -> Activity {
    let list = definitions(info);
    if list.is_empty() {
        return info.activity(context, What::Empty);
    }
    let mut made = Vec::new();
    for definition in list {
        match throw_one(context, info, definition, is_end) {
            Ok(activity) => made.push(activity),
            Err((code, message)) => context.refuse([info.element], code, message),
        }
    }
    // What ends the scope comes after the messages.
    made.sort_by_key(|one| matches!(one.what, What::Throw(_) | What::Exit));
    Activity::sequence(made)
}

fn throw_one<'d>(
    context: &mut Context<'d>,
    info: &Info<'d>,
    definition: &'d EventDefinition,
    is_end: bool,
) -> Result<Activity, Refusal> {
    match definition.kind() {
        Some("message") => {
            let message = definition.reference.as_deref();
            Ok(send(context, info, definition.operation_ref.as_deref(), message, Side::Sends))
        }
        Some("error") if is_end => {
            let name =
                error_name(context, definition.reference.as_deref()).unwrap_or_else(|| "error".to_owned());
            Ok(info.activity(context, What::Throw(Fault::Error(name))))
        }
        Some("terminate") if is_end => Ok(terminate(context, info)),
        Some("compensate" | "compensation") => compensate(context, info, definition, is_end),
        kind => Err(no_event(kind, "thrown")),
    }
}

/// A terminate event ends the process, or only the sub-process in which it stands.
fn terminate<'d>(context: &mut Context<'d>, info: &Info<'d>) -> Activity {
    let Some(frame) = context.frames.last_mut() else { return Activity::default() };
    if frame.is_process {
        return info.activity(context, What::Exit);
    }
    let name = match &frame.terminate {
        Some(name) => name.clone(),
        None => {
            let name = context.names.unique("terminate");
            frame.terminate = Some(name.clone());
            name
        }
    };
    info.activity(context, What::Throw(Fault::Own(name)))
}

/// WS-BPEL compensates within handlers only: a fault leads there.
fn compensate<'d>(
    context: &mut Context<'d>,
    info: &Info<'d>,
    definition: &'d EventDefinition,
    is_end: bool,
) -> Result<Activity, Refusal> {
    if definition.wait_for_completion == Some(false) {
        let message = "WS-BPEL always waits for a compensation to end".to_owned();
        return Err(("waitForCompletion", message));
    }
    let what = match definition.activity_ref.as_deref().filter(|id| !id.is_empty()) {
        None => What::Compensate,
        Some(id) => match context.scopes.get(id) {
            Some(scope) => What::CompensateScope(scope.clone()),
            None => {
                let message = format!("the activity `{id}` is not on this level or cannot be compensated");
                return Err(("compensation", message));
            }
        },
    };
    let handler = info.activity(context, what);
    let fault = context.names.unique("compensation");
    let throw = Activity::new(What::Throw(Fault::Own(fault.clone())));
    if let Some(frame) = context.frames.last_mut() {
        frame.compensations.push(Thrown { fault, handler, element: info.element, is_end });
    }
    Ok(throw)
}

/// The NCName of an error: its code, else its name, else its id.
pub(super) fn error_name(context: &Context, reference: Option<&str>) -> Option<String> {
    let id = reference.filter(|id| !id.is_empty())?;
    let error = context.errors.get(id);
    let given = |text: Option<&String>| text.filter(|text| !text.trim().is_empty()).cloned();
    let code = error.and_then(|error| given(error.code.as_ref()).or_else(|| given(error.name.as_ref())));
    Some(clean(&code.unwrap_or_else(|| id.to_owned())))
}

/// A counter or flag of the mapping's own in the innermost scope.
pub(super) fn counter(context: &mut Context, name: &str) -> String {
    let name = context.names.unique(name);
    context.declare(own_variable(&name, "xsd:unsignedInt"));
    name
}
