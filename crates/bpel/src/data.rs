//! Data objects, properties, inputs and outputs as variables, and data associations as assignments.

use super::body::Info;
use super::context::Context;
use super::expression::Expr;
use super::tree::{Activity, Copy, From, To, What};
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{DataAssociation, DataItem, Node, Process};

/// Declares the variables of a process or sub-process in the innermost scope.
pub(super) fn declare<'d>(context: &mut Context<'d>, process: &'d Process) {
    let items = |list: &'d Option<Vec<DataItem>>| list.iter().flatten();
    let all = items(&process.data_objects)
        .chain(items(&process.data_stores))
        .chain(items(&process.data_inputs))
        .chain(items(&process.data_outputs));
    let (references, objects): (Vec<&DataItem>, Vec<&DataItem>) =
        all.partition(|item| item.original_ref.as_deref().is_some_and(|original| !original.is_empty()));
    for item in objects {
        let Some(id) = item.id.as_deref() else { continue };
        variable(context, id, item.name.as_deref(), item.item_subject_ref.as_deref());
    }
    for property in process.properties.iter().flatten() {
        let Some(id) = property.id.as_deref() else { continue };
        variable(context, id, property.name.as_deref(), property.item_subject_ref.as_deref());
    }
    for reference in references {
        let (Some(id), Some(original)) = (reference.id.as_deref(), reference.original_ref.as_deref()) else {
            continue;
        };
        let known = context.data.get(original).cloned();
        match known {
            Some(name) => {
                context.data.insert(id, name);
            }
            // A data store lives outside of the process; within, it is a variable like any other.
            None => variable(context, id, reference.name.as_deref(), reference.item_subject_ref.as_deref()),
        }
    }
}

/// Declares the variables of a node's own properties, inputs and outputs.
pub(super) fn declare_own<'d>(context: &mut Context<'d>, node: &'d Node) {
    let Some(bpmn) = node.bpmn.as_deref() else { return };
    for property in bpmn.properties.iter().flatten() {
        let Some(id) = property.id.as_deref() else { continue };
        variable(context, id, property.name.as_deref(), property.item_subject_ref.as_deref());
    }
    let associated = |id: &str| {
        let associations = bpmn.data_associations.iter().flatten();
        associations.into_iter().any(|one| {
            one.target.as_deref() == Some(id) || one.sources.iter().flatten().any(|source| source == id)
        })
    };
    for item in bpmn.data_inputs.iter().flatten().chain(bpmn.data_outputs.iter().flatten()) {
        let Some(id) = item.id.as_deref() else { continue };
        if associated(id) {
            variable(context, id, item.name.as_deref(), item.item_subject_ref.as_deref());
        }
    }
}

fn variable<'d>(context: &mut Context<'d>, id: &'d str, name: Option<&str>, item: Option<&str>) {
    if context.data.contains_key(id) {
        return;
    }
    let name = name.filter(|name| !name.trim().is_empty()).unwrap_or(id);
    let name = context.names.unique(name);
    let variable = context.contract.data_variable(name.clone(), item);
    context.declare(variable);
    context.data.insert(id, name);
}

/// Copies before and after a node's activity. The message that is sent is filled from the inputs, and the
/// outputs from the message that comes.
pub(super) fn copies(
    context: &mut Context,
    info: &Info<'_>,
    sent: Option<&str>,
    received: Option<&str>,
) -> (Vec<Copy>, Vec<Copy>) {
    let Some(bpmn) = info.node.bpmn.as_deref() else { return (Vec::new(), Vec::new()) };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for association in bpmn.data_associations.iter().flatten() {
        let is_input = association.element_type.as_deref().and_then(ElementKind::named)
            != Some(ElementKind::DataOutputAssociation);
        match copy(context, association) {
            Ok(made) if is_input => before.extend(made),
            Ok(made) => after.extend(made),
            Err(message) => context.refuse([info.element], "dataAssociation", message),
        }
    }
    if let (Some(message), Some(input)) =
        (sent, bpmn.data_inputs.iter().flatten().find_map(|item| known(context, item)))
    {
        before.push(Copy {
            from: From::Expr(Expr::xpath(format!("${input}"))),
            to: To::Payload(message.to_owned()),
        });
    }
    if let (Some(message), Some(output)) =
        (received, bpmn.data_outputs.iter().flatten().find_map(|item| known(context, item)))
    {
        let from = From::Expr(Expr::xpath(format!("${message}.payload")));
        after.insert(0, Copy { from, to: To::Variable(output) });
    }
    (before, after)
}

fn known(context: &Context, item: &DataItem) -> Option<String> {
    context.data.get(item.id.as_deref()?).cloned()
}

fn copy(context: &Context, association: &DataAssociation) -> Result<Vec<Copy>, String> {
    let name = |id: &str| context.data.get(id).cloned();
    if association.assignments.as_ref().is_some_and(|list| !list.is_empty()) {
        return Err("assignments that are no expressions have no mapping".to_owned());
    }
    let mut made = Vec::new();
    for assignment in association.assignment_expressions.iter().flatten() {
        let side = |text: &Option<String>, language: &Option<String>| {
            context.expression(text.as_deref().unwrap_or_default(), language.as_deref())
        };
        let from = From::Expr(side(&assignment.from, &assignment.from_language)?);
        let to = side(&assignment.to, &assignment.to_language)?;
        made.push(Copy { from, to: To::Expr(to) });
    }
    if !made.is_empty() {
        return Ok(made);
    }
    let Some(target) = association.target.as_deref().and_then(name) else { return Ok(made) };
    let from = match association.transformation.as_deref().filter(|text| !text.trim().is_empty()) {
        Some(text) => context.expression(text, None)?,
        None => {
            let sources: Vec<&String> = association.sources.iter().flatten().collect();
            let [source] = sources[..] else {
                return if sources.is_empty() {
                    Ok(made)
                } else {
                    Err("a data association with several sources needs a transformation".to_owned())
                };
            };
            let Some(source) = name(source) else { return Ok(made) };
            Expr::xpath(format!("${source}"))
        }
    };
    made.push(Copy { from: From::Expr(from), to: To::Variable(target) });
    Ok(made)
}

/// The copies as an activity.
pub(super) fn assign(copies: Vec<Copy>) -> Option<Activity> {
    (!copies.is_empty()).then(|| Activity::new(What::Assign(copies)))
}
