//! Import items of a decision model: outcomes for its parts.

use std::collections::HashMap;

use heddle_bpmn::model::ImportItem;
use heddle_dmn::extensions::extensions;
use heddle_dmn::model::DecisionModel;
use heddle_dmn::{Diagnostic, Severity};

/// One item for each element with logic, `mapped` or, with the first reason, `unsupported`; and one for each vendor's
/// word, `preserved`.
pub(super) fn items(model: &DecisionModel, found: &[Diagnostic]) -> Vec<ImportItem> {
    let mut wrong: HashMap<&str, &Diagnostic> = HashMap::new();
    for one in found.iter().filter(|one| one.severity == Severity::Error) {
        for owner in [one.element_name.as_deref(), one.element_id.as_deref()].into_iter().flatten() {
            wrong.entry(owner).or_insert(one);
        }
    }
    let item = |kind: &str, id: &Option<String>, name: &Option<String>| {
        let reason = [id, name].into_iter().flatten().find_map(|own| wrong.get(own.as_str()));
        let (outcome, message) = match reason {
            None => ("mapped", "It is evaluated as it stands.".to_owned()),
            Some(one) => {
                let place = one.line.map(|line| format!(" (line {line})")).unwrap_or_default();
                let reason = one.message.trim_end_matches('.');
                ("unsupported", format!("It is kept, but cannot be evaluated: {reason}{place}."))
            }
        };
        ImportItem {
            configuration: None,
            element_id: id.clone(),
            element_type: Some(kind.to_owned()),
            message: Some(message),
            name: name.clone(),
            outcome: Some(outcome.to_owned()),
            source_id: id.clone(),
            source_kind: Some(format!("dmn:{kind}")),
        }
    };
    let mut items = Vec::new();
    items.extend(model.decisions.iter().map(|own| item("decision", &own.id, &own.name)));
    let functions = model.business_knowledge_models.iter();
    items.extend(functions.map(|own| item("businessKnowledgeModel", &own.id, &own.name)));
    items.extend(model.decision_services.iter().map(|own| item("decisionService", &own.id, &own.name)));
    let words = model.source_xml.as_deref().and_then(|source| extensions(source).ok()).unwrap_or_default();
    items.extend(words.into_iter().map(|word| ImportItem {
        configuration: None,
        element_id: word.element_id.clone(),
        element_type: Some(word.element_type),
        message: Some("It is kept and written again; decisions are evaluated without it.".to_owned()),
        name: None,
        outcome: Some("preserved".to_owned()),
        source_id: word.element_id,
        source_kind: Some(word.word),
    }));
    items
}
