//! Activities: quantities, loops, scripts, sub-processes, and who does the work.

use super::data::Item;
use super::{Doc, Out};
use crate::xml::tree::El;

const SUB_PROCESSES: &[&str] = &["subProcess", "transaction", "adHocSubProcess"];

pub(super) fn check(doc: &Doc<'_>, out: &mut Out) {
    for node in doc.activities() {
        quantities(doc, node, out);
        loops(doc, node, out);
    }
    for role in doc.each(&["resourceRole", "performer", "humanPerformer", "potentialOwner"]) {
        if doc.kid(role, "resourceRef").is_some() && doc.kid(role, "resourceAssignmentExpression").is_some() {
            out.add("EXT039", role);
        }
    }
    for task in doc.each(&["scriptTask", "globalScriptTask"]) {
        let language = if doc.name(task) == "scriptTask" { "scriptFormat" } else { "scriptLanguage" };
        if doc.kid(task, "script").is_some() && doc.attr(task, language).is_none_or(|word| word.is_empty()) {
            out.add("EXT053", task);
        }
    }
    for task in doc.each(&["sendTask", "receiveTask", "serviceTask"]).filter(|task| doc.executable(*task)) {
        if doc.name(task) != "serviceTask" && doc.attr(task, "messageRef").is_none() {
            out.add("EXT127", task);
        }
        if doc.attr(task, "operationRef").is_none() {
            out.add("EXT128", task);
        }
    }
    for &transaction in doc.all("transaction") {
        let method = doc.attr(transaction, "method");
        if method.is_some_and(|method| !super::models::is_uri(&method)) {
            out.add("EXT060", transaction);
        }
    }
    for &ad_hoc in doc.all("adHocSubProcess") {
        if !doc.children(ad_hoc).any(|kid| doc.is_activity(kid)) {
            out.add("EXT061", ad_hoc);
        }
        let barred = [
            "startEvent",
            "endEvent",
            "conversation",
            "subConversation",
            "callConversation",
            "conversationLink",
            "choreographyTask",
            "subChoreography",
            "callChoreography",
        ];
        if doc.children(ad_hoc).any(|kid| doc.is(kid, &barred)) {
            out.add("EXT062", ad_hoc);
        }
    }
}

fn quantities(doc: &Doc<'_>, node: El, out: &mut Out) {
    for (name, rule) in [("startQuantity", "EXT037"), ("completionQuantity", "EXT038")] {
        let told = doc.attr(node, name).and_then(|text| text.trim().parse::<i64>().ok());
        if told.is_some_and(|quantity| quantity < 1) {
            out.add(rule, node);
        }
    }
}

fn loops(doc: &Doc<'_>, node: El, out: &mut Out) {
    let standard = doc.kid(node, "standardLoopCharacteristics");
    let Some(multi) = doc.kid(node, "multiInstanceLoopCharacteristics") else { return };
    if standard.is_some() {
        out.add(if doc.is(node, SUB_PROCESSES) { "EXT054" } else { "EXT041" }, node);
    }
    let data_input = doc.kid(multi, "loopDataInputRef");
    if doc.executable(node) {
        if data_input.is_none() && doc.kid(multi, "loopCardinality").is_none() {
            out.add("EXT067", node);
        }
        let spec = doc.kid(node, "ioSpecification");
        let resolved = |name: &str, kind: &str| {
            let held = doc.referred(multi, name).next().flatten();
            held.filter(|el| doc.name(*el) == kind && doc.parent(*el) == spec && spec.is_some())
        };
        if data_input.is_some()
            && !doc.is(node, SUB_PROCESSES)
            && resolved("loopDataInputRef", "dataInput").is_none()
        {
            out.add("EXT068", node);
        }
        let sides = [
            (resolved("loopDataOutputRef", "dataOutput"), "outputDataItem", "EXT069"),
            (resolved("loopDataInputRef", "dataInput"), "inputDataItem", "EXT070"),
        ];
        for (list, one, rule) in sides {
            if let (Some(list), Some(one)) = (list, doc.kid(multi, one))
                && !is_scalar_of(doc, one, list)
            {
                out.add(rule, node);
            }
        }
    }
    let conditions = doc.kids(multi, "completionCondition").map(|el| (el, "EXT071"));
    let complex = doc.kids(multi, "complexBehaviorDefinition").flat_map(|one| doc.kids(one, "condition"));
    for (condition, rule) in conditions.chain(complex.map(|el| (el, "EXT072"))) {
        if is_no_condition(&doc.text(condition)) {
            out.add(rule, node);
        }
    }
}

/// Whether an item's type is that of the elements of a list.
fn is_scalar_of(doc: &Doc<'_>, one: El, list: El) -> bool {
    let item = |el: El| Item::named(doc, el, "itemSubjectRef");
    let told = |el: El| doc.attr(el, "structureRef").unwrap_or_default();
    match (item(one), item(list)) {
        (Item::Unknown, _) | (_, Item::Unknown) | (Item::Untyped, Item::Untyped) => true,
        (Item::Of(one), Item::Of(list)) => {
            !doc.truth(one, "isCollection") && doc.truth(list, "isCollection") && told(one) == told(list)
        }
        _ => false,
    }
}

/// Whether a text can't be true or false: a number or a string alone.
fn is_no_condition(text: &str) -> bool {
    let quoted = |mark: char| {
        text.len() > 1 && text.starts_with(mark) && text.ends_with(mark) && text.matches(mark).count() == 2
    };
    text.parse::<f64>().is_ok() || quoted('"') || quoted('\'')
}
