//! Tasks and sub-processes, with their loops.

use super::body::{self, Content, Info, Level};
use super::context::Context;
use super::contract::Side;
use super::data;
use super::events;
use super::expression::{Expr, quoted};
use super::graph::own_variable;
use super::structure::assign;
use super::tree::{Activity, Extension, ForEach, Scope, What};
use heddle_bpmn::element::ElementKind as K;
use heddle_bpmn::model::{LoopCharacteristics, NodeBpmn};

/// The activity of a task or sub-process, without what its boundary events add.
pub(super) fn activity<'d>(
    context: &mut Context<'d>,
    info: &Info<'d>,
    compensation: Option<Activity>,
) -> Activity {
    quantities(context, info);
    let bpmn = info.node.bpmn.as_deref();
    let own = bpmn.and_then(|bpmn| bpmn.activity.as_ref());
    let Some(of) = own.and_then(|own| own.r#loop.as_deref()) else {
        let core = core(context, info);
        return with_compensation(core, compensation);
    };
    if of.kind.as_deref() == Some("multiInstance") {
        return instances(context, info, of, compensation);
    }
    let core = core(context, info);
    standard_loop(context, info, of, with_compensation(core, compensation))
}

/// The activity in a scope with its compensation handler.
fn with_compensation(core: Activity, compensation: Option<Activity>) -> Activity {
    let Some(handler) = compensation else { return core };
    let mut core = core.in_scope();
    if let What::Scope(scope) = &mut core.what
        && scope.compensation.is_none()
    {
        scope.compensation = Some(handler);
    }
    core
}

fn quantities(context: &mut Context, info: &Info) {
    let Some(own) = info.node.bpmn.as_deref().and_then(|bpmn| bpmn.activity.as_ref()) else { return };
    if [own.start_quantity, own.completion_quantity].into_iter().flatten().any(|quantity| quantity != 1) {
        let message = "a start or completion quantity other than one has no mapping to WS-BPEL";
        context.refuse([info.element], "quantity", message);
    }
}

fn core<'d>(context: &mut Context<'d>, info: &Info<'d>) -> Activity {
    let bpmn = info.node.bpmn.as_deref();
    let operation = bpmn.and_then(|bpmn| bpmn.operation_ref.as_deref()).filter(|id| !id.is_empty());
    let message = bpmn.and_then(|bpmn| bpmn.message_ref.as_deref()).filter(|id| !id.is_empty());
    match info.kind {
        Some(K::Task | K::ManualTask) => plain(context, info),
        Some(K::ServiceTask) => {
            let input = operation.and_then(|id| context.contract.operation(id));
            let message = input.and_then(|(_, operation)| operation.input_message_ref.as_deref()).or(message);
            events::send(context, info, operation, message, Side::Asks)
        }
        Some(K::UserTask) => {
            let message = "a human task becomes the call of a service, as WS-BPEL knows no people";
            context.inform(info.element, "humanTask", message);
            events::send(context, info, None, None, Side::Asks)
        }
        Some(K::SendTask) => events::send(context, info, operation, message, Side::Sends),
        Some(K::ReceiveTask) => {
            let call = events::receive(context, info, operation, message);
            events::received(context, info, call, false)
        }
        Some(K::ScriptTask) => script(context, info),
        Some(K::BusinessRuleTask) => decision(context, info),
        Some(K::CallActivity) => called(context, info),
        Some(K::SubProcess) if bpmn.is_none_or(|bpmn| bpmn.is_transaction != Some(true)) => {
            sub_process(context, info)
        }
        _ => {
            let (code, message) = no_mapping(info);
            context.refuse([info.element], code, message);
            Activity::default()
        }
    }
}

/// Code and sentence that tell why an element has no mapping.
pub(super) fn no_mapping(info: &Info<'_>) -> (&'static str, String) {
    match info.kind {
        Some(K::SubProcess | K::Transaction) => {
            ("transaction", "a transaction has no mapping to WS-BPEL: it has no cancellation".to_owned())
        }
        Some(K::AdHocSubProcess) => (
            K::AdHocSubProcess.name(),
            "the order of an ad-hoc sub-process is decided while it runs; WS-BPEL has no such thing"
                .to_owned(),
        ),
        Some(K::ComplexGateway) => {
            (K::ComplexGateway.name(), "a complex gateway has no mapping to WS-BPEL".to_owned())
        }
        Some(kind) if kind.is_choreography() => {
            ("choreography", "a choreography is no process of one participant".to_owned())
        }
        _ => ("unknownElement", format!("`{}` is no element of a process that has a mapping", info.word)),
    }
}

/// A task without an implementation, with what is copied around it.
fn plain<'d>(context: &mut Context<'d>, info: &Info<'d>) -> Activity {
    around(context, info, |context, info| info.activity(context, What::Empty))
}

fn around<'d>(
    context: &mut Context<'d>,
    info: &Info<'d>,
    make: impl FnOnce(&mut Context<'d>, &Info<'d>) -> Activity,
) -> Activity {
    data::declare_own(context, info.node);
    let (before, after) = data::copies(context, info, None, None);
    let made = make(context, info);
    Activity::sequence(data::assign(before).into_iter().chain([made]).chain(data::assign(after)))
}

fn script<'d>(context: &mut Context<'d>, info: &Info<'d>) -> Activity {
    let own = info.node.bpmn.as_deref().and_then(|bpmn| bpmn.activity.as_ref());
    let text = own.and_then(|own| own.script.clone()).unwrap_or_default();
    let format = own.and_then(|own| own.script_format.clone());
    let attributes = format.map(|format| ("scriptFormat", format)).into_iter().collect();
    extension(context, info, Extension { element: "script", attributes, text })
}

fn decision<'d>(context: &mut Context<'d>, info: &Info<'d>) -> Activity {
    let configured = |name: &str| {
        let value = info.node.configuration.as_ref().and_then(|all| all.get(name));
        value.and_then(|value| value.as_str()).map(str::to_owned)
    };
    let implementation = info.node.bpmn.as_deref().and_then(|bpmn| bpmn.implementation.clone());
    let attributes = [
        ("decision", configured("decisionRef").or_else(|| configured("decision"))),
        ("implementation", implementation),
    ];
    let attributes = attributes.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    extension(context, info, Extension { element: "decision", attributes, text: String::new() })
}

fn extension<'d>(context: &mut Context<'d>, info: &Info<'d>, extension: Extension) -> Activity {
    context.extended = true;
    let message = format!(
        "WS-BPEL has no mapping for a {}: it became the extension activity `{}` of {}, which the engine must know",
        info.word,
        extension.element,
        super::EXTENSION_NS
    );
    context.warn(info.element, "extensionActivity", message);
    around(context, info, |context, info| info.activity(context, What::Extension(extension)))
}

fn content<'d>(bpmn: Option<&'d NodeBpmn>, path: &str) -> Content<'d> {
    let process = bpmn.and_then(|bpmn| bpmn.sub_process.as_deref());
    Content {
        nodes: process.and_then(|process| process.nodes.as_deref()).unwrap_or_default(),
        edges: process.and_then(|process| process.edges.as_deref()).unwrap_or_default(),
        process,
        path: format!("{path}.bpmn.subProcess"),
    }
}

fn sub_process<'d>(context: &mut Context<'d>, info: &Info<'d>) -> Activity {
    let content = content(info.node.bpmn.as_deref(), &info.path);
    let scope = body::scope(context, &content, Level::SubProcess);
    around(context, info, |context, info| info.activity(context, What::Scope(Box::new(scope))))
}

/// A called process of the same definition is put in the place of the call.
fn called<'d>(context: &mut Context<'d>, info: &Info<'d>) -> Activity {
    let id = info.node.bpmn.as_deref().and_then(|bpmn| bpmn.called_element.as_deref()).unwrap_or_default();
    let bare = id.rsplit(':').next().unwrap_or_default();
    let processes = context.bpmn.and_then(|bpmn| bpmn.processes.as_deref()).unwrap_or_default();
    let found = processes.iter().enumerate().find(|(_, process)| {
        process.id.as_deref().is_some_and(|own| !own.is_empty() && (own == id || own == bare))
    });
    let Some((at, process)) =
        found.filter(|(_, process)| process.nodes.as_ref().is_some_and(|all| !all.is_empty()))
    else {
        let message =
            format!("the called process `{id}` is not in the definition, and WS-BPEL calls services only");
        context.refuse([info.element], "callActivity", message);
        return Activity::default();
    };
    let own = process.id.as_deref().unwrap_or_default();
    if context.calling.contains(&own) || context.calling.len() > 8 {
        let message =
            "the call leads back to its own process or goes too deep, so that it cannot be put in place";
        context.refuse([info.element], "callActivity", message);
        return Activity::default();
    }
    context.calling.push(own);
    let content = Content {
        nodes: process.nodes.as_deref().unwrap_or_default(),
        edges: process.edges.as_deref().unwrap_or_default(),
        process: Some(process),
        path: format!("bpmn.processes[{at}]"),
    };
    let scope = body::scope(context, &content, Level::SubProcess);
    context.calling.pop();
    let message = format!("the called process `{own}` is put in the place of the call");
    context.inform(info.element, "callActivity", message);
    around(context, info, |context, info| info.activity(context, What::Scope(Box::new(scope))))
}

fn standard_loop<'d>(
    context: &mut Context<'d>,
    info: &Info<'d>,
    of: &'d LoopCharacteristics,
    done: Activity,
) -> Activity {
    let text = of.loop_condition.as_deref().filter(|text| !text.trim().is_empty());
    let condition = match text.map(|text| context.expression(text, None)).transpose() {
        Ok(condition) => condition,
        Err(message) => {
            context.refuse([info.element], "expressionLanguage", message);
            return Activity::default();
        }
    };
    let counter = of.loop_maximum.map(|_| events::counter(context, &format!("{}_counter", info.id)));
    let made = limited(condition, of.loop_maximum, counter.as_deref(), of.test_before == Some(true));
    let Some(test) = made else {
        let message = "the loop has neither a condition nor a maximum, or its condition cannot be negated or limited in its language";
        context.refuse([info.element], "loop", message);
        return Activity::default();
    };
    let counted = counter.as_ref().map(|name| assign(name, &format!("${name} + 1")));
    let done = Activity::sequence([done].into_iter().chain(counted));
    let what = if of.test_before == Some(true) {
        What::While(test, Box::new(done))
    } else {
        What::RepeatUntil(Box::new(done), test)
    };
    let first = counter.as_ref().map(|name| assign(name, "0"));
    Activity::sequence(first.into_iter().chain([Activity::new(what)]))
}

/// The condition with its limit: to go on when it is tested before, to stop when after.
fn limited(
    condition: Option<Expr>,
    maximum: Option<i64>,
    counter: Option<&str>,
    before: bool,
) -> Option<Expr> {
    let language = condition.as_ref().map_or(super::expression::XPATH, |own| own.language.as_str());
    let dollar = if language == super::expression::XPATH { "$" } else { "" };
    let limit = maximum.zip(counter).map(|(maximum, counter)| {
        // FEEL takes names as they are; others need their back quotes.
        let plain = counter.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let name = if dollar.is_empty() && !plain { format!("`{counter}`") } else { counter.to_owned() };
        Expr { text: format!("{dollar}{name} < {maximum}"), language: language.to_owned() }
    });
    let parts: Vec<Expr> = condition.into_iter().chain(limit).collect();
    let goes_on = Expr::all(&parts)?;
    if before { Some(goes_on) } else { goes_on.negated() }
}

fn instances<'d>(
    context: &mut Context<'d>,
    info: &Info<'d>,
    of: &'d LoopCharacteristics,
    compensation: Option<Activity>,
) -> Activity {
    if of.behavior.as_deref().is_some_and(|behavior| !matches!(behavior, "All" | "")) {
        let message = "instances that throw events as they end have no mapping to WS-BPEL";
        context.refuse([info.element], "multiInstanceBehavior", message);
    }
    let last = match last_instance(context, of) {
        Ok(last) => last,
        Err(message) => {
            context.refuse([info.element], "multiInstance", message);
            Expr::xpath("0")
        }
    };
    let branches = match of.completion_condition.as_deref().filter(|text| !text.trim().is_empty()) {
        None => None,
        Some(text) => {
            let found = branches(text);
            if found.is_none() {
                let message = "WS-BPEL ends instances early only by their number, such as numberOfCompletedInstances >= 2";
                context.refuse([info.element], "completionCondition", message);
            }
            found
        }
    };
    let counter = context.names.unique(&format!("{}_instance", info.id));
    context.frames.push(super::context::Frame::default());
    let item = of.element_variable.as_deref().filter(|item| !item.is_empty()).zip(of.collection.as_deref());
    let first = item.map(|(item, collection)| {
        let name = context.names.unique(item);
        context.declare(own_variable(&name, "xsd:anyType"));
        let collection = collection_name(context, collection);
        assign(&name, &format!("${collection}/*[position() = ${counter}]"))
    });
    let core = core(context, info);
    let done = Activity::sequence(first.into_iter().chain([core]));
    let frame = context.frames.pop().unwrap_or_default();
    let mut scope = Scope { variables: frame.variables, body: done, compensation, ..Scope::default() };
    if let Some(fault) = frame.terminate {
        // A terminate event belongs to a sub-process of its own, which has caught it.
        scope.faults.push((Some(super::tree::Fault::Own(fault)), Activity::default()));
    }
    let each = ForEach {
        parallel: of.sequential != Some(true),
        counter,
        last,
        branches,
        scope: Activity::new(What::Scope(Box::new(scope))),
    };
    Activity::new(What::ForEach(Box::new(each)))
}

fn collection_name(context: &Context, collection: &str) -> String {
    context.data.get(collection).cloned().unwrap_or_else(|| super::names::clean(collection))
}

/// The number of the instances: the cardinality, else the length of the collection.
fn last_instance(context: &mut Context, of: &LoopCharacteristics) -> Result<Expr, String> {
    if let Some(text) = of.loop_condition.as_deref().filter(|text| !text.trim().is_empty()) {
        let number = text.trim().trim_start_matches('=').trim();
        if !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit()) {
            return Ok(Expr::xpath(number));
        }
        return context.expression(text, None);
    }
    let Some(collection) = of.collection.as_deref().filter(|text| !text.trim().is_empty()) else {
        return Err("the instances have neither a cardinality nor a collection".to_owned());
    };
    if context.data.contains_key(collection) {
        let name = collection_name(context, collection);
        return Ok(Expr::xpath(format!("count(${name}/*)")));
    }
    Err(format!("the collection {} is no data of the process", quoted(collection)))
}

/// The number of instances after which the rest is not waited for.
fn branches(text: &str) -> Option<Expr> {
    let text = text.trim().trim_start_matches("${").trim_start_matches('=').trim_end_matches('}').trim();
    let rest = ["numberOfCompletedInstances", "nrOfCompletedInstances"]
        .iter()
        .find_map(|name| text.trim_start_matches('$').strip_prefix(name))?;
    let rest = rest.trim_start();
    let number = [">=", "==", "="].iter().find_map(|operator| rest.strip_prefix(operator))?.trim();
    let positive = number.parse::<u32>().is_ok_and(|number| number > 0);
    positive.then(|| Expr::xpath(number))
}
