//! Decision models within definitions: the block `dmn` of a document, and the document of a block.

use heddle_bpmn::diagnostic::{Diagnostic, Severity};
use heddle_bpmn::model::{Bounds, Dmn, DmnElement, DmnRequirement, Point, WorkflowDefinition};
use heddle_dmn::diagram::{Drawing, drawing};
use heddle_dmn::extensions::dialect;
use heddle_dmn::model::{AuthorityRequirement, DecisionModel, InformationItem, KnowledgeRequirement};
use heddle_dmn::xml;

use super::bytes_hash;
use crate::decisions::finding;
use crate::{Problem, UseCaseError};

/// A document as a definition with a decision model alone.
pub(super) struct ReadDecisions {
    /// The definition.
    pub definition: WorkflowDefinition,
    /// Version of DMN, such as `1.5`.
    pub version: &'static str,
    /// Whether every decision can be evaluated.
    pub executable: bool,
    /// Findings of the reader and the compiler.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a DMN document.
///
/// # Errors
/// `Invalid` with line and column.
pub(super) fn read(bytes: &[u8], file_name: Option<&str>) -> Result<ReadDecisions, UseCaseError> {
    let imported = xml::read(bytes).map_err(|error| {
        let problem = Problem::at("source.content", "malformedSource", error.to_string())
            .with("cause", error.reason.to_string())
            .with("line", error.line)
            .with("column", error.column);
        UseCaseError::Invalid(vec![problem])
    })?;
    let compiled = {
        let models = std::slice::from_ref(&imported.model);
        heddle_dmn::compile_with(models, dialect(models))
    };
    let found = imported.diagnostics.iter().chain(&compiled.diagnostics);
    let diagnostics: Vec<Diagnostic> = found.map(|one| finding(one, "dmn.sourceXml")).collect();
    let executable = !imported.model.decisions.is_empty()
        && !diagnostics.iter().any(|one| one.severity == Severity::Error);
    let mut dmn = block(&imported.model);
    dmn.file_name = file_name.map(str::to_owned);
    dmn.source_sha256 = Some(bytes_hash(bytes));
    dmn.version = Some(imported.version.number().to_owned());
    let definition = WorkflowDefinition { dmn: Some(Box::new(dmn)), ..WorkflowDefinition::default() };
    Ok(ReadDecisions { definition, version: imported.version.number(), executable, diagnostics })
}

/// A decision model as a document.
pub(super) struct WrittenDecisions {
    /// The document.
    pub content: String,
    /// Whether the document, read again, says all that the definition does.
    pub lossless: bool,
}

/// The document of a definition's decision model, in DMN 1.5.
///
/// # Errors
/// `Invalid` when there is none, or its source is no DMN.
pub(super) fn write(
    definition: &WorkflowDefinition,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<WrittenDecisions, UseCaseError> {
    let source = definition.dmn.as_ref().and_then(|dmn| dmn.source_xml.as_deref());
    let Some(source) = source.filter(|source| !source.trim().is_empty()) else {
        let sentence =
            "The definition has no decision model (`dmn.sourceXml`), so that there is nothing to write.";
        return Err(UseCaseError::invalid("target", "notAllowed", sentence));
    };
    let imported = xml::read(source.as_bytes())
        .map_err(|error| UseCaseError::invalid("dmn.sourceXml", "malformedSource", error.to_string()))?;
    let content = xml::write(&imported.model)
        .map_err(|error| UseCaseError::conflict("notExportable", error.to_string()))?;
    let again = xml::read(content.as_bytes())
        .map_err(|error| UseCaseError::Internal(format!("what was written cannot be read: {error}")))?;
    diagnostics.extend(again.diagnostics.iter().map(|one| finding(one, "dmn.sourceXml")));
    let bare = |mut model: DecisionModel| {
        model.source_xml = None;
        model
    };
    let alone = WorkflowDefinition { dmn: None, ..definition.clone() } == WorkflowDefinition::default();
    let lossless = alone && bare(again.model) == bare(imported.model);
    Ok(WrittenDecisions { content, lossless })
}

/// The requirements graph of a model.
fn block(model: &DecisionModel) -> Dmn {
    let drawn = model.source_xml.as_deref().and_then(|source| drawing(source).ok()).unwrap_or_default();
    let mut graph = Graph { drawn, elements: Vec::new(), requirements: Vec::new() };
    for own in &model.decisions {
        graph.element("decision", (&own.id, &own.name), own.variable.as_ref());
        for one in &own.information_requirements {
            let source = one.required_decision.as_ref().or(one.required_input.as_ref());
            graph.requirement("informationRequirement", &one.id, source, &own.id);
        }
        graph.knowledge(&own.knowledge_requirements, &own.id);
        graph.authority(&own.authority_requirements, &own.id);
    }
    for own in &model.input_data {
        graph.element("inputData", (&own.id, &own.name), own.variable.as_ref());
    }
    for own in &model.business_knowledge_models {
        graph.element("businessKnowledgeModel", (&own.id, &own.name), own.variable.as_ref());
        graph.knowledge(&own.knowledge_requirements, &own.id);
        graph.authority(&own.authority_requirements, &own.id);
    }
    for own in &model.decision_services {
        graph.element("decisionService", (&own.id, &own.name), own.variable.as_ref());
    }
    for own in &model.knowledge_sources {
        graph.element("knowledgeSource", (&own.id, &own.name), None);
        graph.authority(&own.authority_requirements, &own.id);
    }
    Dmn {
        elements: Some(graph.elements),
        requirements: Some(graph.requirements),
        namespace: model.namespace.clone(),
        source_xml: model.source_xml.clone(),
        ..Dmn::default()
    }
}

struct Graph {
    drawn: Drawing,
    elements: Vec<DmnElement>,
    requirements: Vec<DmnRequirement>,
}

impl Graph {
    fn element(
        &mut self,
        kind: &str,
        (id, name): (&Option<String>, &Option<String>),
        variable: Option<&InformationItem>,
    ) {
        let shape = self.drawn.shapes.iter().find(|shape| Some(&shape.element_id) == id.as_ref());
        let bounds = shape.map(|shape| {
            let [x, y, width, height] = shape.bounds.map(Some);
            Bounds { x, y, width, height }
        });
        self.elements.push(DmnElement {
            bounds,
            id: id.clone(),
            name: name.clone(),
            r#type: Some(kind.to_owned()),
            type_ref: variable.and_then(|own| own.type_ref.clone()),
            variable_name: variable.and_then(|own| own.name.clone()),
            ..DmnElement::default()
        });
    }

    fn requirement(
        &mut self,
        kind: &str,
        id: &Option<String>,
        source: Option<&String>,
        target: &Option<String>,
    ) {
        let edge = self.drawn.edges.iter().find(|edge| Some(&edge.element_id) == id.as_ref());
        let point = |[x, y]: &[f64; 2]| Point { x: Some(*x), y: Some(*y) };
        self.requirements.push(DmnRequirement {
            id: id.clone(),
            // `#id`, or a namespace and `#id` for an element of another document.
            source_ref: source.map(|href| href.strip_prefix('#').unwrap_or(href).to_owned()),
            target_ref: target.clone(),
            r#type: Some(kind.to_owned()),
            waypoints: edge.map(|edge| edge.waypoints.iter().map(point).collect()),
        });
    }

    fn knowledge(&mut self, list: &[KnowledgeRequirement], target: &Option<String>) {
        for one in list {
            self.requirement("knowledgeRequirement", &one.id, one.required_knowledge.as_ref(), target);
        }
    }

    fn authority(&mut self, list: &[AuthorityRequirement], target: &Option<String>) {
        for one in list {
            let source = one.required_decision.as_ref().or(one.required_input.as_ref());
            let source = source.or(one.required_authority.as_ref());
            self.requirement("authorityRequirement", &one.id, source, target);
        }
    }
}
