//! The decision model of a definition: compiled with the documents that it imports, judged, and, where there is no
//! process beside it, made runnable.

use std::borrow::Cow;

use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::model::{Bpmn, Dmn, Process, WorkflowDefinition};
use heddle_dmn::extensions::{dialect, extensions};
use heddle_dmn::{ElementKind, Model, xml};
use serde_json::json;

/// A decision model, ready to be evaluated.
#[derive(Debug, Clone)]
pub struct Decisions {
    /// The model. What is wrong in it is null when evaluated.
    pub model: Model,
    /// Diagnostics of reading and compiling.
    pub diagnostics: Vec<Diagnostic>,
}

/// A document of a definition's decision model, with its place in the definition.
struct Source<'d> {
    path: String,
    text: &'d str,
}

fn sources(dmn: &Dmn) -> Vec<Source<'_>> {
    let told = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    let mut found = Vec::new();
    if told(&dmn.source_xml) {
        let text = dmn.source_xml.as_deref().unwrap_or_default();
        found.push(Source { path: "dmn.sourceXml".to_owned(), text });
    }
    for (at, document) in dmn.imported_documents.iter().flatten().enumerate() {
        if told(&document.source_xml) {
            let text = document.source_xml.as_deref().unwrap_or_default();
            found.push(Source { path: format!("dmn.importedDocuments[{at}].sourceXml"), text });
        }
    }
    found
}

/// Reads and compiles the decision model of a definition; none when it has none. What cannot be read at all leaves no
/// model, but findings.
///
/// # Errors
/// The findings, when a document cannot be read.
pub fn compile(definition: &WorkflowDefinition) -> Result<Option<Decisions>, Vec<Diagnostic>> {
    let Some(dmn) = definition.dmn.as_deref() else { return Ok(None) };
    let sources = sources(dmn);
    if sources.is_empty() {
        let elements = dmn.elements.iter().flatten();
        let drawn = elements.filter(|element| element.r#type.as_deref() == Some("decision")).count();
        if drawn == 0 {
            return Ok(None);
        }
        let sentence =
            "The decision model shows decisions, but has no document (`sourceXml`) with their logic.";
        return Err(vec![diagnostic::error("decisionSourceMissing", sentence).with_path("dmn.sourceXml")]);
    }
    let mut models = Vec::new();
    let mut diagnostics = Vec::new();
    for source in &sources {
        match xml::read(source.text.as_bytes()) {
            Ok(read) => {
                diagnostics.extend(read.diagnostics.iter().map(|one| finding(one, &source.path)));
                models.push(read.model);
            }
            Err(error) => {
                let found = diagnostic::error("malformedSource", error.to_string()).with_path(&source.path);
                diagnostics.push(Diagnostic { line: Some(error.line), column: Some(error.column), ..found });
            }
        }
    }
    if models.len() < sources.len() {
        return Err(diagnostics);
    }
    diagnostics.extend(sources.iter().flat_map(unheeded));
    let compiled = heddle_dmn::compile_with(&models, dialect(&models));
    diagnostics.extend(compiled.diagnostics.iter().map(|one| finding(one, place(one, &sources))));
    Ok(Some(Decisions { model: compiled.model, diagnostics }))
}

/// Names that another engine gives to the value that a table's entry tests, which here is `?`.
fn unheeded<'s>(source: &'s Source<'_>) -> impl Iterator<Item = Diagnostic> + 's {
    let named = extensions(source.text).unwrap_or_default().into_iter();
    let named = named.filter(|one| one.word.ends_with(":inputVariable")).map(|one| {
        let sentence =
            "The name that `inputVariable` gives to the input's value is not known to entries: write `?`.";
        let found = diagnostic::warning("inputVariableUnused", sentence);
        Diagnostic { element_id: one.element_id, ..found }
    });
    let sentence = "`cellInput` is no name here: write `?` for the value that an entry tests.";
    let cell =
        source.text.contains("cellInput").then(|| diagnostic::warning("inputVariableUnused", sentence));
    named.chain(cell).map(|found| found.with_path(&source.path))
}

/// The document that a finding is about: the first one with its element.
fn place<'s>(one: &Diagnostic, sources: &'s [Source<'_>]) -> &'s str {
    let [first, others @ ..] = sources else { return "dmn.sourceXml" };
    let mark = one.element_id.as_ref().map(|id| format!("\"{id}\""));
    let holds = |source: &&Source<'_>| mark.as_ref().is_some_and(|mark| source.text.contains(mark.as_str()));
    if others.is_empty() || mark.is_none() || holds(&first) {
        return &first.path;
    }
    others.iter().find(holds).map_or(&first.path, |source| &source.path)
}

/// A finding of a decision model as one of the definition: at a document, with the remedy of its code.
pub fn finding(one: &Diagnostic, path: &str) -> Diagnostic {
    // What has no id is known by its name.
    let message = match (&one.element_id, &one.element_name) {
        (None, Some(name)) => format!("`{name}`: {}", one.message),
        _ => one.message.clone(),
    };
    diagnostic::with_remedy(Diagnostic { message, element_name: None, ..one.clone() }).with_path(path)
}

/// Diagnostics on the decisions of a definition, and on the tasks that evaluate them.
pub fn findings(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let (mut found, model) = match compile(definition) {
        Ok(None) => (Vec::new(), None),
        Ok(Some(decisions)) => (decisions.diagnostics, Some(decisions.model)),
        // What is not there cannot be missing a decision.
        Err(found) => return found,
    };
    if let Some(model) = &model {
        found.extend(analysed(model));
    }
    found.extend(references(definition, model.as_ref()));
    found
}

/// Diagnostics on the rules of the tables, each with an example.
fn analysed(model: &Model) -> impl Iterator<Item = Diagnostic> {
    heddle_dmn::analyse(model).into_iter().map(|one| {
        let mut found = finding(&one.diagnostic, "dmn.sourceXml");
        found.rules = one.rules;
        found.example = (!one.example.is_empty()).then_some(one.example);
        found
    })
}

/// Tasks whose decision is not there.
fn references(definition: &WorkflowDefinition, model: Option<&Model>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for at in heddle_bpmn::model::nodes(definition) {
        if !at.node.is(heddle_bpmn::ElementKind::BusinessRuleTask) {
            continue;
        }
        let settings = at.node.configuration.as_ref();
        let Some(wanted) = settings.and_then(|own| own.get("decisionRef")).and_then(|own| own.as_str())
        else {
            continue;
        };
        // An expression tells its decision when it is evaluated.
        if wanted.trim_start().starts_with('=') {
            continue;
        }
        let kind = model.and_then(|model| model.kind(model.find(wanted.trim())?));
        if matches!(kind, Some(ElementKind::Decision | ElementKind::DecisionService)) {
            continue;
        }
        let known: Vec<String> =
            model.into_iter().flat_map(callable).map(|(id, _)| format!("`{id}`")).collect();
        let sentence = match (kind, known.as_slice()) {
            (Some(_), _) => format!("`{wanted}` is no decision and no decision service"),
            (None, []) => format!("there is no decision `{wanted}`: the definition has none"),
            (None, known) => format!("there is no decision `{wanted}`; there are {}", known.join(", ")),
        };
        // Of a definition without decisions the file may be put beside it later; else the name is wrong.
        let one = if kind.is_none() && known.is_empty() {
            diagnostic::warning("unknownDecision", sentence)
        } else {
            diagnostic::error("unknownDecision", sentence)
        };
        let one = one
            .with_element(at.node.element_id().unwrap_or_default())
            .with_path(format!("{}.configuration.decisionRef", at.path))
            .with_clause("10.3.3.1");
        found.push(one);
    }
    found
}

/// Decisions and decision services: ids, or names where there is none, and names.
pub(crate) fn callable(model: &Model) -> impl Iterator<Item = (&str, &str)> {
    model
        .elements()
        .filter(|(_, kind, ..)| matches!(kind, ElementKind::Decision | ElementKind::DecisionService))
        .map(|(_, _, name, id)| (id.unwrap_or(name), name))
}

/// Ids and names of the decisions and decision services of a model.
pub(crate) fn names(model: &Model) -> impl Iterator<Item = &str> {
    callable(model).flat_map(|(id, name)| [id, name])
}

/// The definition as it is run: decisions without a process beside them become processes of their ids, which evaluate
/// the decision and end.
pub fn runnable<'d>(
    definition: &'d WorkflowDefinition,
    model: Option<&Model>,
) -> Cow<'d, WorkflowDefinition> {
    let processes = definition.bpmn.iter().flat_map(|bpmn| bpmn.processes.iter().flatten());
    let beside = definition.nodes.as_ref().is_some_and(|nodes| !nodes.is_empty())
        || processes.into_iter().any(|process| process.nodes.as_ref().is_some_and(|nodes| !nodes.is_empty()));
    let Some(model) = model.filter(|_| !beside) else { return Cow::Borrowed(definition) };
    let mut processes: Vec<Process> = Vec::new();
    for (id, name) in callable(model) {
        // Documents that are imported may use an id again; the first one counts.
        if !processes.iter().any(|known| known.id.as_deref() == Some(id)) {
            processes.extend(process(id, name));
        }
    }
    let primary = match roots(definition).as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    let bpmn = Bpmn { processes: Some(processes), primary_process_id: primary, ..Bpmn::default() };
    Cow::Owned(WorkflowDefinition { bpmn: Some(Box::new(bpmn)), ..definition.clone() })
}

fn process(id: &str, name: &str) -> Option<Process> {
    let made = json!({"id": id, "name": name,
        "nodes": [{"id": "start", "type": "startEvent"},
            {"id": "decision", "type": "businessRuleTask", "displayName": name,
             "configuration": {"kind": "dmn", "decisionRef": id}},
            {"id": "end", "type": "endEvent"}],
        "edges": [{"id": "asked", "source": "start", "target": "decision"},
            {"id": "decided", "source": "decision", "target": "end"}]});
    serde_json::from_value(made).ok()
}

/// The decisions of the first document that no other decision needs.
fn roots(definition: &WorkflowDefinition) -> Vec<String> {
    let source = definition.dmn.as_ref().and_then(|dmn| dmn.source_xml.as_deref());
    let Some(Ok(read)) = source.map(|source| xml::read(source.as_bytes())) else { return Vec::new() };
    let needed = |id: &str| {
        let mut needs = read.model.decisions.iter().flat_map(|own| &own.information_requirements);
        needs.any(|one| {
            one.required_decision.as_deref().is_some_and(|href| href.trim_start_matches('#') == id)
        })
    };
    let named = read.model.decisions.iter().filter_map(|own| own.id.clone().or_else(|| own.name.clone()));
    named.filter(|id| !needed(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = r##"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" id="m" name="m" namespace="urn:m">
     <decision id="base" name="Base"><variable name="Base"/><literalExpression><text>amount * 2</text></literalExpression></decision>
     <decision id="top" name="Top"><variable name="Top"/><informationRequirement><requiredDecision href="#base"/>
      </informationRequirement><literalExpression><text>Base + 1</text></literalExpression></decision></definitions>"##;

    fn definition(value: serde_json::Value) -> WorkflowDefinition {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn decisions_alone_become_processes_of_their_ids() {
        let definition = definition(json!({"dmn": {"sourceXml": MODEL}}));
        let model = compile(&definition).unwrap().unwrap().model;
        let runnable = runnable(&definition, Some(&model));
        let compiled = heddle_bpmn_graph::compile(&runnable);
        assert!(compiled.is_executable(), "{:?}", compiled.diagnostics);
        assert!(compiled.process("base").is_some() && compiled.process("top").is_some());
        assert_eq!(runnable.bpmn.as_ref().unwrap().primary_process_id.as_deref(), Some("top"));
    }

    #[test]
    fn a_definition_with_a_process_is_run_as_it_is() {
        let definition =
            definition(json!({"dmn": {"sourceXml": MODEL}, "nodes": [{"id": "a", "type": "task"}]}));
        let model = compile(&definition).unwrap().unwrap().model;
        assert!(matches!(runnable(&definition, Some(&model)), Cow::Borrowed(_)));
    }

    #[test]
    fn a_task_names_a_decision_that_is_there() {
        let task = |wanted: &str, dmn: serde_json::Value| {
            let definition = definition(json!({"dmn": dmn, "nodes": [{"id": "t", "type": "businessRuleTask",
                "configuration": {"kind": "dmn", "decisionRef": wanted}}]}));
            findings(&definition)
                .iter()
                .map(|one| (one.code.clone(), one.path.clone().unwrap()))
                .collect::<Vec<_>>()
        };
        let known = json!({"sourceXml": MODEL});
        for good in ["top", "Top", "= if true then \"top\" else null"] {
            assert_eq!(task(good, known.clone()), [], "{good}");
        }
        let wrong = [("unknownDecision".to_owned(), "nodes[0].configuration.decisionRef".to_owned())];
        assert_eq!(task("bottom", known), wrong);
        assert_eq!(task("top", json!(null)), wrong);
    }

    #[test]
    fn findings_name_element_line_column_and_document() {
        let broken = MODEL.replace("amount * 2", "\n  amount *\n )");
        let dmn = json!({"dmn": {"sourceXml": MODEL.replace("urn:m", "urn:n"), "importedDocuments": [{"sourceXml": broken.replace("base", "other")}]}});
        let found = findings(&definition(dmn));
        assert_eq!(found[0].code, "feelSyntax", "{found:?}");
        assert_eq!(found[0].element_id.as_deref(), Some("other"));
        assert_eq!(found[0].path.as_deref(), Some("dmn.importedDocuments[0].sourceXml"));
        assert_eq!(found[0].expression, Some(heddle_bpmn::ExpressionPosition { line: 3, column: 2 }));
        assert_eq!((found[0].line, found[0].column), (Some(4), Some(2)));
        let found = findings(&definition(json!({"dmn": {"sourceXml": "<definitions>"}})));
        assert_eq!((found[0].code.as_str(), found[0].line), ("malformedSource", Some(1)));
        let drawn = json!({"dmn": {"elements": [{"id": "d", "type": "decision"}]}});
        assert_eq!(findings(&definition(drawn))[0].code, "decisionSourceMissing");
        assert_eq!(findings(&definition(json!({"dmn": {}}))), []);
    }
}
