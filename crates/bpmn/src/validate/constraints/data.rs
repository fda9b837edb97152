//! Data: item definitions, inputs and outputs, sets, associations, and what tasks and events do with them.

use super::{Doc, Out};
use crate::xml::tree::El;

pub(super) fn check(doc: &Doc<'_>, out: &mut Out) {
    for item in doc.each(&["dataObject", "dataInput", "dataOutput", "dataStore", "property"]) {
        collection(doc, item, out);
    }
    for &reference in doc.all("dataObjectReference") {
        name_of_reference(doc, reference, out);
    }
    doc.all("ioSpecification").iter().for_each(|spec| specification(doc, *spec, out));
    for association in doc.each(&["dataInputAssociation", "dataOutputAssociation"]) {
        self::association(doc, association, out);
    }
    doc.all("serviceTask").iter().for_each(|task| service_task(doc, *task, out));
    doc.all("sendTask").iter().for_each(|task| send_task(doc, *task, out));
    doc.all("receiveTask").iter().for_each(|task| receive_task(doc, *task, out));
    let events =
        ["startEvent", "endEvent", "boundaryEvent", "intermediateCatchEvent", "intermediateThrowEvent"];
    doc.each(&events).for_each(|event| event_data(doc, event, out));
    doc.all("callActivity").iter().for_each(|call| call_activity(doc, *call, out));
    let callable = [
        "process",
        "globalTask",
        "globalUserTask",
        "globalManualTask",
        "globalScriptTask",
        "globalBusinessRuleTask",
    ];
    doc.each(&callable).for_each(|one| exposed(doc, one, out));
}

fn item(doc: &Doc<'_>, el: El) -> Option<El> {
    doc.refers(el, "itemSubjectRef").filter(|item| doc.name(*item) == "itemDefinition")
}

/// Whether two item definitions are one, or say the same.
fn same(doc: &Doc<'_>, one: El, other: El) -> bool {
    let told = |el: El| doc.attr(el, "structureRef").filter(|text| !text.is_empty());
    let many = |el: El| doc.truth(el, "isCollection");
    one == other || (told(one).is_some() && told(one) == told(other) && many(one) == many(other))
}

/// Whether both are known and differ.
fn differ(doc: &Doc<'_>, one: Option<El>, other: Option<El>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if !same(doc, one, other))
}

fn collection(doc: &Doc<'_>, el: El, out: &mut Out) {
    let Some(item) = item(doc, el) else { return };
    let Some(own) =
        doc.attr(el, "isCollection").map(|value| matches!(value.trim(), "true" | "1")).or_else(|| {
            // An absent attribute means `false`, but only a definition that says `true` contradicts it.
            doc.truth(item, "isCollection").then_some(false)
        })
    else {
        return;
    };
    if doc.name(el) == "property" || own == doc.truth(item, "isCollection") {
        return;
    }
    out.add("EXT020", el);
    match doc.name(el) {
        "dataInput" => out.add("EXT081", el),
        "dataOutput" => out.add("EXT083", el),
        _ => {}
    }
}

fn name_of_reference(doc: &Doc<'_>, reference: El, out: &mut Out) {
    let Some(object) = doc.refers(reference, "dataObjectRef") else { return };
    let (Some(own), Some(name)) = (doc.attr(reference, "name"), doc.attr(object, "name")) else { return };
    let state = doc.kid(reference, "dataState").and_then(|state| doc.attr(state, "name"));
    let wanted = match state {
        Some(state) if !state.is_empty() => format!("{name} [{state}]"),
        _ => name.clone().into_owned(),
    };
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    if squeezed(&own) != squeezed(&wanted) {
        out.add("EXT076", reference);
    }
}

fn specification(doc: &Doc<'_>, spec: El, out: &mut Out) {
    if doc
        .parent(spec)
        .is_some_and(|around| doc.is(around, &["subProcess", "transaction", "adHocSubProcess"]))
    {
        out.add("EXT079", spec);
    }
    let sides = [
        (
            "dataInput",
            "inputSet",
            ["dataInputRefs", "optionalInputRefs", "whileExecutingInputRefs"],
            ["EXT084", "EXT085", "EXT086"],
        ),
        (
            "dataOutput",
            "outputSet",
            ["dataOutputRefs", "optionalOutputRefs", "whileExecutingOutputRefs"],
            ["EXT088", "EXT089", "EXT090"],
        ),
    ];
    for (data, set, [listed, optional, executing], rules) in sides {
        let sets: Vec<El> = doc.kids(spec, set).collect();
        for item in doc.kids(spec, data) {
            if !sets.iter().any(|set| doc.referred(*set, listed).any(|one| one == Some(item))) {
                out.add(rules[0], item);
            }
        }
        for set in sets {
            let all: Vec<Option<El>> = doc.referred(set, listed).collect();
            for (name, rule) in [(optional, rules[1]), (executing, rules[2])] {
                if doc.referred(set, name).any(|one| !all.contains(&one)) {
                    out.add(rule, set);
                }
            }
        }
    }
}

fn association(doc: &Doc<'_>, association: El, out: &mut Out) {
    let sources: Vec<Option<El>> = doc.referred(association, "sourceRef").collect();
    let target = doc.referred(association, "targetRef").next().flatten();
    let top = |el: El, name: &str| {
        doc.name(el) == name
            && doc
                .parent(el)
                .and_then(|spec| doc.parent(spec))
                .is_some_and(|around| doc.name(around) == "process")
    };
    if target.is_some_and(|target| top(target, "dataInput")) {
        out.add("EXT080", association);
    }
    if sources.iter().flatten().any(|source| top(*source, "dataOutput")) {
        out.add("EXT082", association);
    }
    if doc.kid(association, "transformation").is_some() {
        return;
    }
    if sources.len() > 1 {
        out.add("EXT092", association);
    }
    let typed = |el: El| {
        let held = match doc.name(el) {
            "dataObjectReference" => doc.refers(el, "dataObjectRef"),
            "dataStoreReference" => doc.refers(el, "dataStoreRef"),
            _ => None,
        };
        item(doc, el).or_else(|| held.and_then(|held| item(doc, held)))
    };
    let source = sources.first().copied().flatten().and_then(typed);
    if doc.kid(association, "assignment").is_none() && differ(doc, source, target.and_then(typed)) {
        out.add("EXT091", association);
    }
}

/// How many of a name stand in the activity's specification.
fn count(doc: &Doc<'_>, task: El, name: &str) -> Option<usize> {
    doc.kid(task, "ioSpecification").map(|spec| doc.kids(spec, name).count())
}

fn first_item(doc: &Doc<'_>, task: El, name: &str) -> Option<El> {
    let spec = doc.kid(task, "ioSpecification")?;
    item(doc, doc.kid(spec, name)?)
}

fn message_item(doc: &Doc<'_>, message: Option<El>) -> Option<El> {
    message.and_then(|message| doc.refers(message, "itemRef"))
}

fn service_task(doc: &Doc<'_>, task: El, out: &mut Out) {
    let operation = doc.refers(task, "operationRef").filter(|el| doc.name(*el) == "operation");
    let Some(operation) = operation else { return };
    if count(doc, task, "inputSet") != Some(1) {
        out.add("EXT042", task);
    }
    if count(doc, task, "outputSet").is_some_and(|count| count > 1) {
        out.add("EXT043", task);
    }
    let message = |name: &str| doc.referred(operation, name).next().flatten();
    if differ(doc, first_item(doc, task, "dataInput"), message_item(doc, message("inMessageRef"))) {
        out.add("EXT044", task);
    }
    if differ(doc, first_item(doc, task, "dataOutput"), message_item(doc, message("outMessageRef"))) {
        out.add("EXT045", task);
    }
}

fn send_task(doc: &Doc<'_>, task: El, out: &mut Out) {
    let Some(message) = doc.refers(task, "messageRef") else { return };
    if count(doc, task, "inputSet").is_some_and(|count| count > 1) {
        out.add("EXT046", task);
    }
    if count(doc, task, "dataInput").is_some_and(|count| count > 1) {
        out.add("EXT047", task);
    }
    if unlike(doc, task, "dataInput", message) {
        out.add("EXT048", task);
    }
}

/// Whether the task's data is not of the message's item.
fn unlike(doc: &Doc<'_>, task: El, data: &str, message: El) -> bool {
    let Some(wanted) = message_item(doc, Some(message)) else { return false };
    let data = doc.kid(task, "ioSpecification").and_then(|spec| doc.kid(spec, data));
    data.is_some_and(|data| item(doc, data).is_none_or(|own| !same(doc, own, wanted)))
}

fn receive_task(doc: &Doc<'_>, task: El, out: &mut Out) {
    if doc.truth(task, "instantiate") && !doc.incoming(task).is_empty() {
        out.add("EXT049", task);
    }
    let Some(message) = doc.refers(task, "messageRef") else { return };
    if count(doc, task, "outputSet").is_some_and(|count| count > 1) {
        out.add("EXT050", task);
    }
    if count(doc, task, "dataOutput").is_some_and(|count| count > 1) {
        out.add("EXT051", task);
    }
    if unlike(doc, task, "dataOutput", message) {
        out.add("EXT052", task);
    }
}

fn event_data(doc: &Doc<'_>, event: El, out: &mut Out) {
    let data =
        if doc.is(event, &["endEvent", "intermediateThrowEvent"]) { "dataInput" } else { "dataOutput" };
    let items: Vec<El> = doc.kids(event, data).collect();
    if items.is_empty() {
        return;
    }
    let definitions = doc.definitions(event);
    if definitions.len() > items.len() {
        out.add("EXT093", event);
    }
    for (definition, own) in definitions.iter().zip(items) {
        let wanted = match doc.name(*definition) {
            "messageEventDefinition" => message_item(doc, doc.refers(*definition, "messageRef")),
            "signalEventDefinition" => structure(doc, *definition, "signalRef"),
            "errorEventDefinition" => structure(doc, *definition, "errorRef"),
            "escalationEventDefinition" => structure(doc, *definition, "escalationRef"),
            _ => None,
        };
        if differ(doc, item(doc, own), wanted) {
            out.add("EXT094", event);
            return;
        }
    }
}

fn structure(doc: &Doc<'_>, definition: El, reference: &str) -> Option<El> {
    doc.refers(doc.refers(definition, reference)?, "structureRef")
}

fn call_activity(doc: &Doc<'_>, call: El, out: &mut Out) {
    let Some(called) = doc.refers(call, "calledElement") else { return };
    if doc.name(called) == "process" {
        let mut starts = doc.kids(called, "startEvent");
        if !starts.any(|start| doc.definitions(start).is_empty()) && doc.children(called).next().is_some() {
            out.add("EXT099", call);
        }
    }
    let (Some(own), Some(wanted)) = (doc.kid(call, "ioSpecification"), doc.kid(called, "ioSpecification"))
    else {
        return;
    };
    for name in ["dataInput", "dataOutput", "inputSet", "outputSet"] {
        let (mine, theirs): (Vec<El>, Vec<El>) =
            (doc.kids(own, name).collect(), doc.kids(wanted, name).collect());
        let mut pairs = mine.iter().zip(&theirs);
        if mine.len() != theirs.len()
            || pairs.any(|(one, other)| differ(doc, item(doc, *one), item(doc, *other)))
        {
            out.add("EXT063", call);
            return;
        }
    }
}

/// A callable element that is offered as a service.
fn exposed(doc: &Doc<'_>, callable: El, out: &mut Out) {
    let bindings: Vec<El> = doc.kids(callable, "ioBinding").collect();
    if doc.kid(callable, "supportedInterfaceRef").is_some() && bindings.is_empty() {
        out.add("EXT064", callable);
    }
    let spec = doc.kid(callable, "ioSpecification");
    for binding in bindings {
        let operation = doc.refers(binding, "operationRef").filter(|el| doc.name(*el) == "operation");
        let known = |attribute: &str, names: [&str; 2]| {
            let data = doc.refers(binding, attribute)?;
            let inside = doc.parent(data) == spec && doc.is(data, &names);
            inside.then_some(data)
        };
        let (input, output) = (
            known("inputDataRef", ["dataInput", "inputSet"]),
            known("outputDataRef", ["dataOutput", "outputSet"]),
        );
        let message = |name: &str| {
            operation.and_then(|operation| message_item(doc, doc.referred(operation, name).next().flatten()))
        };
        let wrong = differ(doc, input.and_then(|el| item(doc, el)), message("inMessageRef"))
            || differ(doc, output.and_then(|el| item(doc, el)), message("outMessageRef"));
        if operation.is_none() || input.is_none() || output.is_none() || wrong {
            out.add("EXT065", callable);
        }
    }
}
