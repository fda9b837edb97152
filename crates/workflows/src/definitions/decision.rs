//! Decision models within definitions: the block `dmn` of a document, and the document of a block.

use std::collections::HashMap;

use heddle_bpmn::diagnostic::{Diagnostic, Severity};
use heddle_bpmn::model::{Bounds, Dmn, DmnElement, DmnRequirement, ImportItem, Point, WorkflowDefinition};
use heddle_dmn::XmlError;
use heddle_dmn::diagram::{Drawing, Edge, Shape, drawing};
use heddle_dmn::extensions::dialect;
use heddle_dmn::model::{
    AuthorityRequirement, BusinessKnowledgeModel, Decision, DecisionModel, DecisionService, InformationItem,
    InformationRequirement, InputData, KnowledgeRequirement, KnowledgeSource,
};
use heddle_dmn::xml::{self, Imported, Version};

use super::decision_items::items;
use crate::decisions::{finding, findings};
use crate::{Problem, UseCaseError};
use heddle_usecase::sha256_hex;

/// A document as a definition with a decision model alone.
pub(super) struct ReadDecisions {
    /// The definition.
    pub definition: WorkflowDefinition,
    /// Version of DMN, such as `1.5`.
    pub version: &'static str,
    /// Whether every decision can be evaluated.
    pub executable: bool,
    /// Outcomes for its parts.
    pub items: Vec<ImportItem>,
    /// Findings, as publishing has them.
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
    let items = items(&imported.model, &compiled.diagnostics);
    let mut dmn = block(&imported.model);
    dmn.file_name = file_name.map(str::to_owned);
    dmn.source_sha256 = Some(sha256_hex(bytes));
    dmn.version = Some(imported.version.number().to_owned());
    let definition = WorkflowDefinition { dmn: Some(Box::new(dmn)), ..WorkflowDefinition::default() };
    let diagnostics = findings(&definition);
    let executable = !imported.model.decisions.is_empty()
        && !diagnostics.iter().any(|one| one.severity == Severity::Error);
    Ok(ReadDecisions { definition, version: imported.version.number(), executable, items, diagnostics })
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
    let read = definition.dmn.as_deref().map(model).transpose();
    let read = read
        .map_err(|error| UseCaseError::invalid("dmn.sourceXml", "malformedSource", error.to_string()))?
        .flatten();
    let Some(imported) = read else {
        let sentence = "The definition has no decision model (`dmn`), so that there is nothing to write.";
        return Err(UseCaseError::invalid("target", "notAllowed", sentence));
    };
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

/// The model of a block: that of its document, or, when it has none, what its graph says. None when it says nothing.
///
/// # Errors
/// When the document can't be read.
pub(super) fn model(dmn: &Dmn) -> Result<Option<Imported>, XmlError> {
    if let Some(source) = dmn.source_xml.as_deref().filter(|source| !source.trim().is_empty()) {
        return xml::read(source.as_bytes()).map(Some);
    }
    if dmn.elements.as_ref().is_none_or(Vec::is_empty) {
        return Ok(None);
    }
    Ok(Some(Imported { model: outline(dmn), version: Version::V1_5, diagnostics: Vec::new() }))
}

/// The model that a graph without a document shows: elements and requirements without logic.
fn outline(dmn: &Dmn) -> DecisionModel {
    let mut model = DecisionModel { namespace: dmn.namespace.clone(), ..DecisionModel::default() };
    let kinds: HashMap<&str, &str> = dmn
        .elements
        .iter()
        .flatten()
        .filter_map(|own| Some((own.id.as_deref()?, own.r#type.as_deref()?)))
        .collect();
    let mut requirements: HashMap<&str, Vec<&DmnRequirement>> = HashMap::new();
    for one in dmn.requirements.iter().flatten() {
        if let Some(target) = one.target_ref.as_deref() {
            requirements.entry(target).or_default().push(one);
        }
    }
    for own in dmn.elements.iter().flatten() {
        let (id, name) = (own.id.clone(), own.name.clone());
        let variable = (own.variable_name.is_some() || own.type_ref.is_some()).then(|| InformationItem {
            name: own.variable_name.clone().or_else(|| own.name.clone()),
            type_ref: own.type_ref.clone(),
            ..InformationItem::default()
        });
        let needs = own.id.as_deref().and_then(|id| requirements.get(id)).map_or(&[][..], Vec::as_slice);
        let needs = Needs::of(needs, &kinds);
        match own.r#type.as_deref() {
            Some("decision") => model.decisions.push(Decision {
                id,
                name,
                variable,
                information_requirements: needs.information,
                knowledge_requirements: needs.knowledge,
                authority_requirements: needs.authority,
                ..Decision::default()
            }),
            Some("inputData") => {
                model.input_data.push(InputData { id, name, variable, ..InputData::default() });
            }
            Some("businessKnowledgeModel") => model.business_knowledge_models.push(BusinessKnowledgeModel {
                id,
                name,
                variable,
                knowledge_requirements: needs.knowledge,
                authority_requirements: needs.authority,
                ..BusinessKnowledgeModel::default()
            }),
            Some("decisionService") => {
                model.decision_services.push(DecisionService {
                    id,
                    name,
                    variable,
                    ..DecisionService::default()
                });
            }
            Some("knowledgeSource") => model.knowledge_sources.push(KnowledgeSource {
                id,
                name,
                authority_requirements: needs.authority,
                ..KnowledgeSource::default()
            }),
            _ => {}
        }
    }
    model
}

/// Requirements of an element by kind.
#[derive(Default)]
struct Needs {
    information: Vec<InformationRequirement>,
    knowledge: Vec<KnowledgeRequirement>,
    authority: Vec<AuthorityRequirement>,
}

impl Needs {
    fn of(requirements: &[&DmnRequirement], kinds: &HashMap<&str, &str>) -> Self {
        let mut needs = Self::default();
        for one in requirements {
            let id = one.id.clone();
            let kind = one.source_ref.as_deref().and_then(|source| kinds.get(source)).copied();
            let href = one.source_ref.as_ref().map(|source| match source.contains('#') {
                true => source.clone(),
                false => format!("#{source}"),
            });
            let only = |wanted: bool| href.clone().filter(|_| wanted);
            match one.r#type.as_deref() {
                Some("informationRequirement") => needs.information.push(InformationRequirement {
                    id,
                    required_input: only(kind == Some("inputData")),
                    required_decision: only(kind != Some("inputData")),
                    ..InformationRequirement::default()
                }),
                Some("knowledgeRequirement") => needs.knowledge.push(KnowledgeRequirement {
                    id,
                    required_knowledge: href,
                    ..KnowledgeRequirement::default()
                }),
                Some("authorityRequirement") => needs.authority.push(AuthorityRequirement {
                    id,
                    required_input: only(kind == Some("inputData")),
                    required_decision: only(kind == Some("decision")),
                    required_authority: only(!matches!(kind, Some("inputData" | "decision"))),
                    ..AuthorityRequirement::default()
                }),
                _ => {}
            }
        }
        needs
    }
}

/// The bounds and lines that a block knows.
pub(super) fn drawn(dmn: &Dmn) -> Drawing {
    let shape = |own: &DmnElement| {
        let bounds = own.bounds.as_ref()?;
        let bounds = [bounds.x?, bounds.y?, bounds.width?, bounds.height?];
        Some(Shape { element_id: own.id.clone()?, bounds })
    };
    let edge = |own: &DmnRequirement| {
        let points = own.waypoints.iter().flatten().map(|point| Some([point.x?, point.y?]));
        Some(Edge { element_id: own.id.clone()?, waypoints: points.collect::<Option<_>>()? })
    };
    Drawing {
        shapes: dmn.elements.iter().flatten().filter_map(shape).collect(),
        edges: dmn.requirements.iter().flatten().filter_map(edge).collect(),
    }
}

/// The requirements graph of a model.
pub(super) fn block(model: &DecisionModel) -> Dmn {
    let drawn = model.source_xml.as_deref().and_then(|source| drawing(source).ok()).unwrap_or_default();
    let mut graph = Graph { drawn, elements: Vec::new(), requirements: Vec::new() };
    for own in &model.decisions {
        graph.element("decision", &own.id, &own.name, own.variable.as_ref());
        for one in &own.information_requirements {
            let source = one.required_decision.as_ref().or(one.required_input.as_ref());
            graph.requirement("informationRequirement", &one.id, source, &own.id);
        }
        graph.knowledge(&own.knowledge_requirements, &own.id);
        graph.authority(&own.authority_requirements, &own.id);
    }
    for own in &model.input_data {
        graph.element("inputData", &own.id, &own.name, own.variable.as_ref());
    }
    for own in &model.business_knowledge_models {
        graph.element("businessKnowledgeModel", &own.id, &own.name, own.variable.as_ref());
        graph.knowledge(&own.knowledge_requirements, &own.id);
        graph.authority(&own.authority_requirements, &own.id);
    }
    for own in &model.decision_services {
        graph.element("decisionService", &own.id, &own.name, own.variable.as_ref());
    }
    for own in &model.knowledge_sources {
        graph.element("knowledgeSource", &own.id, &own.name, None);
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
        id: &Option<String>,
        name: &Option<String>,
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
