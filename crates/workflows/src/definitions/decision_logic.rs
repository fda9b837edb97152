//! The decision model of a definition as a structure: read, and replaced in the draft.

use std::collections::HashMap;

use heddle_bpmn::Diagnostic;
use heddle_bpmn::model::{Dmn, DmnElement, Point, WorkflowDefinition};
use heddle_definitions::{DefinitionKey, claims};
use heddle_dmn::diagram;
use heddle_dmn::model::DecisionModel;
use heddle_dmn::xml::{self, Imported, WriteError};
use heddle_kernel::Revision;
use heddle_policy::capability::{WorkflowRead, WorkflowUpdate};
use heddle_policy::{Authorized, RequestContext};
use serde_json::{Map, Value};

use super::{Definitions, VersionChoice, decision};
use crate::decisions::findings;
use crate::models::typed;
use crate::ports::WorkflowWrite;
use crate::records::{Draft, WorkflowView};
use crate::{JournalFor, Problem, UseCaseError};
use heddle_usecase::{canonical_sha256, check_revision, sha256_hex};

/// The most bytes of a definition's JSON: what a body may have that sends it.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The decision model of a definition.
#[derive(Debug, Clone)]
pub struct DecisionLogic {
    /// The model; without any member when the definition has none or its document can't be read, which a diagnostic says.
    pub model: DecisionModel,
    /// Version of DMN that its document is written in.
    pub version: Option<String>,
    /// Namespace and file name of the documents that it imports.
    pub imported: Vec<(Option<String>, Option<String>)>,
    /// Findings of reading, compiling and analysing it, with their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// A model to be put into the draft.
#[derive(Debug, Clone)]
pub enum LogicSource {
    /// A structure. Its `sourceXml`, when it has one, must say the same.
    Structure(Box<DecisionModel>),
    /// A document.
    Document(Vec<u8>),
}

/// A change of the draft's decision model.
#[derive(Debug, Clone)]
pub struct SavedLogic {
    /// The model.
    pub source: LogicSource,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

impl Definitions {
    /// The decision model of the chosen definition. A definition without one has an empty model.
    ///
    /// # Errors
    /// `NotFound` also when the chosen version is not there, `Unavailable`.
    pub async fn decision_logic(
        &self,
        authorized: &Authorized<WorkflowRead>,
        context: &RequestContext,
        choice: VersionChoice,
    ) -> Result<(WorkflowView, DecisionLogic), UseCaseError> {
        let view = self.store.get(DefinitionKey::of(authorized.key()), context.user_id()).await?;
        let definition = match self.shared.chosen(&view, choice).await?.value() {
            Some(document) => typed(document)?,
            None => WorkflowDefinition::default(),
        };
        Ok((view, logic(&definition)))
    }

    /// Replaces the decision model of the draft; a draft without a definition gets one. The documents that the model
    /// imports, its file name, and the nodes and places of elements whose ids are the same are kept. A model may be
    /// incomplete: what is wrong in it is told, not refused.
    ///
    /// # Errors
    /// `NotFound`, `Conflict` (`revisionMismatch`), `Invalid` when the document can't be read, with line and column, or
    /// the structure can't be written.
    pub async fn save_decision_logic(
        &self,
        authorized: &Authorized<WorkflowUpdate>,
        context: &RequestContext,
        saved: SavedLogic,
        record: &JournalFor<'_, (WorkflowView, DecisionLogic)>,
    ) -> Result<(WorkflowView, DecisionLogic), UseCaseError> {
        let key = DefinitionKey::of(authorized.key());
        let mut view = self.store.get(key, context.user_id()).await?;
        let whole = view.definition.clone();
        check_revision(saved.revision, whole.revision)?;
        let draft = self.store.draft(key).await?;
        let mut document = match draft.value() {
            Some(Value::Object(members)) => members.clone(),
            _ => Map::new(),
        };
        let present = draft.value().map(typed).transpose()?.and_then(|definition| definition.dmn);
        let present = present.map(|dmn| *dmn).unwrap_or_default();
        let imported = match saved.source {
            LogicSource::Document(bytes) => read(&bytes)?,
            LogicSource::Structure(model) => written(*model, &present, &view)?,
        };
        let block = replaced(&imported, present);
        let block =
            serde_json::to_value(&block).map_err(|error| UseCaseError::Internal(error.to_string()))?;
        document.insert("dmn".to_owned(), block);
        let document = Value::Object(document);
        if document.to_string().len() > MOST_BYTES {
            let sentence = "The definition with this decision model is larger than 16 MiB.";
            return Err(UseCaseError::invalid("sourceXml", "tooLarge", sentence));
        }
        let definition = typed(&document)?;
        let draft = Draft::Value(document);
        view.definition.draft_hash = draft.value().map(canonical_sha256);
        view.definition.draft_revision = view.definition.draft_revision.next();
        view.definition.touch(context);
        let claims = claims(draft.value());
        let result = (view, logic(&definition));
        let journal = record(&result).changing(Some(&whole), Some(&result.0.definition));
        let write = WorkflowWrite {
            definition: &result.0.definition,
            expected: Some(whole.revision),
            draft: Some(&draft),
            claims: &claims,
            starts: None,
        };
        self.store.update(write, &journal).await?;
        Ok(result)
    }
}

fn logic(definition: &WorkflowDefinition) -> DecisionLogic {
    let mut logic = DecisionLogic {
        model: DecisionModel::default(),
        version: None,
        imported: Vec::new(),
        diagnostics: Vec::new(),
    };
    let Some(dmn) = definition.dmn.as_deref() else { return logic };
    logic.diagnostics = findings(definition);
    let documents = dmn.imported_documents.iter().flatten();
    logic.imported = documents.map(|own| (own.namespace.clone(), own.file_name.clone())).collect();
    match decision::model(dmn) {
        Ok(Some(imported)) => {
            logic.version = imported.model.source_xml.is_some().then(|| imported.version.number().to_owned());
            logic.model = imported.model;
        }
        // A finding tells what is wrong with the document, which stands here as it is.
        Ok(None) | Err(_) => logic.model.source_xml.clone_from(&dmn.source_xml),
    }
    logic
}

fn read(bytes: &[u8]) -> Result<Imported, UseCaseError> {
    xml::read(bytes).map_err(|error| {
        let problem = Problem::at("sourceXml", "malformedSource", error.to_string())
            .with("cause", error.reason)
            .with("line", error.line)
            .with("column", error.column);
        UseCaseError::Invalid(vec![problem])
    })
}

fn bare(model: &DecisionModel) -> DecisionModel {
    DecisionModel { source_xml: None, ..model.clone() }
}

/// A structure with its document: its own, else the present one as it is when it says the same, else one written anew
/// with what the present one has beyond the structure.
fn written(model: DecisionModel, present: &Dmn, view: &WorkflowView) -> Result<Imported, UseCaseError> {
    if let Some(source) = &model.source_xml {
        let imported = read(source.as_bytes())?;
        if bare(&imported.model) == bare(&model) {
            return Ok(imported);
        }
        let sentence = "`sourceXml` says something else than the structure beside it: send one of them.";
        return Err(UseCaseError::invalid("sourceXml", "contradiction", sentence));
    }
    let base = present.source_xml.as_deref().and_then(|source| xml::read(source.as_bytes()).ok());
    let mut model = model;
    if let Some(base) = base {
        if bare(&base.model) == model {
            return Ok(base);
        }
        model.source_xml = base.model.source_xml;
        model.name = model.name.or(base.model.name);
        model.namespace = model.namespace.or(base.model.namespace);
    }
    // A document must have both.
    let workflow = &view.definition;
    let namespace =
        || present.namespace.clone().unwrap_or_else(|| format!("urn:heddle:workflow:{}", workflow.slug));
    model.namespace.get_or_insert_with(namespace);
    model.name.get_or_insert_with(|| workflow.display_name.clone());
    let text = xml::write(&model).map_err(|error| match error {
        WriteError::Character { path } => UseCaseError::invalid(
            &path,
            "notAllowed",
            "A member of this name holds a character that XML 1.0 cannot express.",
        ),
        error @ WriteError::Source(_) => UseCaseError::Internal(error.to_string()),
    })?;
    // Elements that are gone are no longer shown.
    let text = diagram::without_missing(&text).unwrap_or_default().unwrap_or(text);
    let imported = xml::read(text.as_bytes()).map_err(|error| {
        UseCaseError::invalid(
            "decisions",
            "notWritable",
            format!("The structure gives no document: {}", error.message),
        )
    })?;
    if let Some(field) = difference(&imported.model, &model) {
        let sentence = "A document says this in another way, so that it would be lost: blanks around a reference or a type, \
                        a type's prefix, or a language of an older version of DMN.";
        return Err(UseCaseError::invalid(&field, "notWritable", sentence));
    }
    Ok(imported)
}

/// The first member in which two models differ.
fn difference(one: &DecisionModel, other: &DecisionModel) -> Option<String> {
    fn list<T: PartialEq>(name: &str, one: &[T], other: &[T]) -> Option<String> {
        let at = one.iter().zip(other).position(|(one, other)| one != other);
        let at = at.or_else(|| (one.len() != other.len()).then(|| one.len().min(other.len())));
        at.map(|at| format!("{name}[{at}]"))
    }
    list("imports", &one.imports, &other.imports)
        .or_else(|| list("itemDefinitions", &one.item_definitions, &other.item_definitions))
        .or_else(|| list("inputData", &one.input_data, &other.input_data))
        .or_else(|| list("decisions", &one.decisions, &other.decisions))
        .or_else(|| {
            list("businessKnowledgeModels", &one.business_knowledge_models, &other.business_knowledge_models)
        })
        .or_else(|| list("decisionServices", &one.decision_services, &other.decision_services))
        .or_else(|| list("knowledgeSources", &one.knowledge_sources, &other.knowledge_sources))
        .or_else(|| list("textAnnotations", &one.text_annotations, &other.text_annotations))
        .or_else(|| list("associations", &one.associations, &other.associations))
        .or_else(|| list("groups", &one.groups, &other.groups))
        .or_else(|| list("elementCollections", &one.element_collections, &other.element_collections))
        .or_else(|| list("performanceIndicators", &one.performance_indicators, &other.performance_indicators))
        .or_else(|| list("organizationUnits", &one.organization_units, &other.organization_units))
        .or_else(|| (bare(one) != bare(other)).then(|| "expressionLanguage".to_owned()))
}

/// The block of a model in the place of another one.
fn replaced(imported: &Imported, present: Dmn) -> Dmn {
    let mut block = decision::block(&imported.model);
    let known: HashMap<&str, &DmnElement> =
        present.elements.iter().flatten().filter_map(|own| Some((own.id.as_deref()?, own))).collect();
    for element in block.elements.iter_mut().flatten() {
        let Some(before) = element.id.as_deref().and_then(|id| known.get(id)) else { continue };
        element.node_id.clone_from(&before.node_id);
        if element.bounds.is_none() {
            element.bounds = before.bounds.clone();
        }
    }
    let lines: HashMap<&str, &Vec<Point>> = present
        .requirements
        .iter()
        .flatten()
        .filter_map(|own| Some((own.id.as_deref()?, own.waypoints.as_ref()?)))
        .collect();
    for requirement in block.requirements.iter_mut().flatten().filter(|own| own.waypoints.is_none()) {
        let before = requirement.id.as_deref().and_then(|id| lines.get(id));
        requirement.waypoints = before.map(|points| (*points).clone());
    }
    block.source_sha256 = block.source_xml.as_ref().map(|source| sha256_hex(source.as_bytes()));
    block.version = Some(imported.version.number().to_owned());
    block.file_name = present.file_name;
    block.imported_documents = present.imported_documents;
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SOURCE: &str = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="m" name="m" namespace="urn:m">
        <decision id="a" name="A"><variable id="v" name="A"/><literalExpression id="l"><text>1</text></literalExpression></decision>
        </definitions>"#;

    #[test]
    fn a_block_keeps_what_the_model_does_not_tell() {
        let present: Dmn = serde_json::from_value(json!({
            "fileName": "m.dmn", "version": "1.1", "sourceXml": "old",
            "importedDocuments": [{ "namespace": "urn:x", "sourceXml": "<a/>" }],
            "elements": [{ "id": "a", "nodeId": "task", "bounds": { "x": 1, "y": 2, "width": 3, "height": 4 } },
                { "id": "gone", "nodeId": "other" }],
        }))
        .unwrap();
        let imported = xml::read(SOURCE.as_bytes()).unwrap();
        let block = replaced(&imported, present);
        let elements = block.elements.unwrap();
        assert_eq!((elements.len(), elements[0].node_id.as_deref()), (1, Some("task")));
        assert_eq!(elements[0].bounds.as_ref().unwrap().width, Some(3.0));
        assert_eq!((block.file_name.as_deref(), block.version.as_deref()), (Some("m.dmn"), Some("1.3")));
        assert_eq!(block.source_sha256, Some(sha256_hex(SOURCE.as_bytes())));
        assert_eq!(block.imported_documents.unwrap().len(), 1);
    }

    #[test]
    fn what_a_document_would_change_is_named() {
        let model = xml::read(SOURCE.as_bytes()).unwrap().model;
        let mut other = model.clone();
        assert_eq!(difference(&model, &other), None);
        other.decisions.push(model.decisions[0].clone());
        assert_eq!(difference(&model, &other).as_deref(), Some("decisions[1]"));
        other.decisions[0].name = None;
        assert_eq!(difference(&model, &other).as_deref(), Some("decisions[0]"));
        let other = DecisionModel { type_language: Some("x".to_owned()), ..model.clone() };
        assert!(difference(&model, &other).is_some());
    }

    #[test]
    fn an_unreadable_document_is_given_back_with_its_place() {
        let definition: WorkflowDefinition =
            serde_json::from_value(json!({ "dmn": { "sourceXml": "<definitions>\n <" } })).unwrap();
        let logic = logic(&definition);
        assert_eq!(logic.model.source_xml.as_deref(), Some("<definitions>\n <"));
        assert_eq!((logic.diagnostics.len(), logic.diagnostics[0].line), (1, Some(2)));
    }
}
