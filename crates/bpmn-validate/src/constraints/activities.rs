//! Activities: quantities, loops, scripts, sub-processes, and who does the work.

use super::data::Item;
use super::{Doc, Out};
use heddle_bpmn::element::ElementKind as K;
use heddle_bpmn::elements::El;

const SUB_PROCESSES: &[K] = &[K::SubProcess, K::Transaction, K::AdHocSubProcess];

pub(super) fn check(doc: &Doc<'_>, out: &mut Out) {
    for node in doc.activities() {
        quantities(doc, node, out);
        loops(doc, node, out);
    }
    let roles = [K::ResourceRole, K::Performer, K::HumanPerformer, K::PotentialOwner, K::PartitionElement];
    for role in doc.each(&roles) {
        let resource = doc.kid(role, K::ResourceRef).is_some();
        if resource && doc.kid(role, K::ResourceAssignmentExpression).is_some() {
            out.add("EXT039", role);
        }
        if !resource && doc.kid(role, K::ResourceParameterBinding).is_some() {
            out.add("STD011", role);
        }
    }
    for task in doc.each(&[K::ScriptTask, K::GlobalScriptTask]) {
        let language = if doc.is_a(task, K::ScriptTask) { "scriptFormat" } else { "scriptLanguage" };
        let format = doc.attr(task, language).filter(|word| !word.trim().is_empty());
        if doc.kid(task, K::Script).is_some() && format.is_none() {
            out.add("EXT053", task);
        }
        if format.is_some_and(|format| !super::models::is_media_type(&format) && !is_language(&format)) {
            out.add("STD013", task);
        }
    }
    for task in doc.each(&[K::SendTask, K::ReceiveTask, K::ServiceTask]).filter(|task| doc.executable(*task))
    {
        if !doc.is_a(task, K::ServiceTask) && doc.attr(task, "messageRef").is_none() {
            out.add("EXT127", task);
        }
        if doc.attr(task, "operationRef").is_none() {
            out.add("EXT128", task);
        }
    }
    for &transaction in doc.all(K::Transaction) {
        let method = doc.attr(transaction, "method");
        if method.is_some_and(|method| !super::models::is_uri(&method)) {
            out.add("EXT060", transaction);
        }
    }
    for &ad_hoc in doc.all(K::AdHocSubProcess) {
        if !doc.children(ad_hoc).any(|kid| doc.is_activity(kid)) {
            out.add("EXT061", ad_hoc);
        }
        let barred = [
            K::StartEvent,
            K::EndEvent,
            K::Conversation,
            K::SubConversation,
            K::CallConversation,
            K::ConversationLink,
            K::ChoreographyTask,
            K::SubChoreography,
            K::CallChoreography,
        ];
        if doc.children(ad_hoc).any(|kid| doc.is(kid, &barred)) {
            out.add("EXT062", ad_hoc);
        }
    }
}

/// Whether a text is the plain name of a language, as `feel`, `C++` or `graal.js`.
fn is_language(text: &str) -> bool {
    let text = text.trim();
    let name = |letter: char| letter.is_alphanumeric() || "+#._-".contains(letter);
    text.starts_with(char::is_alphanumeric) && text.chars().all(name)
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
    let standard = doc.kid(node, K::StandardLoopCharacteristics);
    let Some(multi) = doc.kid(node, K::MultiInstanceLoopCharacteristics) else { return };
    if standard.is_some() {
        out.add(if doc.is(node, SUB_PROCESSES) { "EXT054" } else { "EXT041" }, node);
    }
    let data_input = doc.kid(multi, K::LoopDataInputRef);
    if doc.executable(node) {
        if data_input.is_none() && doc.kid(multi, K::LoopCardinality).is_none() {
            out.add("EXT067", node);
        }
        let spec = doc.kid(node, K::IoSpecification);
        let resolved = |name: K, kind: K| {
            let held = doc.referred(multi, name).next().flatten();
            held.filter(|el| doc.is_a(*el, kind) && doc.parent(*el) == spec && spec.is_some())
        };
        if data_input.is_some()
            && !doc.is(node, SUB_PROCESSES)
            && resolved(K::LoopDataInputRef, K::DataInput).is_none()
        {
            out.add("EXT068", node);
        }
        let sides = [
            (resolved(K::LoopDataOutputRef, K::DataOutput), K::OutputDataItem, "EXT069"),
            (resolved(K::LoopDataInputRef, K::DataInput), K::InputDataItem, "EXT070"),
        ];
        for (list, one, rule) in sides {
            if let (Some(list), Some(one)) = (list, doc.kid(multi, one))
                && !is_scalar_of(doc, one, list)
            {
                out.add(rule, node);
            }
        }
    }
    let conditions = doc.kids(multi, K::CompletionCondition).map(|el| (el, "EXT071"));
    let complex = doc.kids(multi, K::ComplexBehaviorDefinition).flat_map(|one| doc.kids(one, K::Condition));
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
