//! Documents, their imports, and what names and references in them stand for.

use crate::model::{BoxedExpression, DecisionModel, ItemDefinition};
use heddle_xml::hash::HashMap;

/// A document among those compiled together.
pub(super) struct Document<'m> {
    pub model: &'m DecisionModel,
    pub namespace: &'m str,
    /// Names of imports, and the documents that they mean.
    pub imports: Vec<(String, usize)>,
}

/// The documents with their imports resolved, and the imports that none of them is.
pub(super) fn documents(models: &[DecisionModel]) -> (Vec<Document<'_>>, Vec<(usize, String)>) {
    let mut by_namespace = HashMap::default();
    for (at, model) in models.iter().enumerate() {
        by_namespace.entry(model.namespace.as_deref().unwrap_or_default()).or_insert(at);
    }
    let mut missing = Vec::new();
    let documents = models.iter().enumerate().map(|(at, model)| {
        let mut imports = Vec::new();
        for import in &model.imports {
            let kind = import.import_type.as_deref().unwrap_or_default();
            let namespace = import.namespace.as_deref().unwrap_or_default();
            match by_namespace.get(namespace) {
                Some(&target) => {
                    imports.push((import.name.as_deref().unwrap_or_default().trim().to_owned(), target));
                }
                None if kind.is_empty() || kind.contains("/DMN/") => missing.push((at, namespace.to_owned())),
                None => {}
            }
        }
        Document { model, namespace: model.namespace.as_deref().unwrap_or_default(), imports }
    });
    (documents.collect(), missing)
}

/// The document and id that a reference (`#id`, `namespace#id`) means.
pub(super) fn reference<'r>(
    documents: &[Document<'_>],
    from: usize,
    href: &'r str,
) -> Option<(usize, &'r str)> {
    let Some((namespace, id)) = href.rsplit_once('#') else { return Some((from, href)) };
    if namespace.is_empty() || documents.get(from).is_some_and(|document| document.namespace == namespace) {
        return Some((from, id));
    }
    let at = documents.iter().position(|document| document.namespace == namespace)?;
    Some((at, id))
}

/// Collects the names of members that contexts of the model may have.
pub(super) fn members(model: &DecisionModel) -> Vec<String> {
    let mut names = Vec::new();
    let mut left: Vec<&ItemDefinition> = model.item_definitions.iter().collect();
    while let Some(item) = left.pop() {
        for component in &item.item_components {
            names.extend(component.name.clone());
            left.push(component);
        }
    }
    for decision in &model.decisions {
        names.extend(decision.name.clone());
        if let Some(expression) = &decision.expression {
            within(expression, &mut names);
        }
    }
    names.extend(model.input_data.iter().filter_map(|input| input.name.clone()));
    names.extend(model.decision_services.iter().filter_map(|service| service.name.clone()));
    for function in &model.business_knowledge_models {
        names.extend(function.name.clone());
        if let Some(body) = function.encapsulated_logic.as_ref().and_then(|logic| logic.body.as_ref()) {
            within(body, &mut names);
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

fn within(expression: &BoxedExpression, names: &mut Vec<String>) {
    let mut left = vec![expression];
    while let Some(expression) = left.pop() {
        match expression {
            BoxedExpression::LiteralExpression(_) => {}
            BoxedExpression::Context(context) => {
                for entry in &context.entries {
                    names.extend(entry.variable.as_ref().and_then(|item| item.name.clone()));
                    left.extend(&entry.value);
                }
            }
            BoxedExpression::List(list) => left.extend(&list.items),
            BoxedExpression::Relation(relation) => {
                names.extend(relation.columns.iter().filter_map(|column| column.name.clone()));
                left.extend(relation.rows.iter().flat_map(|row| &row.items));
            }
            BoxedExpression::Invocation(call) => {
                left.extend(&call.called_function);
                left.extend(call.bindings.iter().filter_map(|binding| binding.expression.as_ref()));
            }
            BoxedExpression::FunctionDefinition(function) => left.extend(&function.body),
            BoxedExpression::DecisionTable(table) => {
                names.extend(table.outputs.iter().filter_map(|output| output.name.clone()));
            }
            BoxedExpression::Conditional(it) => left.extend(it.r#if.iter().chain(&it.then).chain(&it.r#else)),
            BoxedExpression::Filter(it) => left.extend(it.r#in.iter().chain(&it.r#match)),
            BoxedExpression::For(it) => left.extend(it.r#in.iter().chain(&it.r#return)),
            BoxedExpression::Some(it) | BoxedExpression::Every(it) => {
                left.extend(it.r#in.iter().chain(&it.satisfies));
            }
        }
    }
}
