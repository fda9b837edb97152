//! The decision model of a workflow as a structure.

use std::borrow::Cow;

use heddle_dmn::model::{
    Association, Binding, BusinessKnowledgeModel, ConditionalExpression, ContextEntry, ContextExpression,
    Decision, DecisionModel, DecisionRule, DecisionService, DecisionTable, ElementCollection,
    FilterExpression, ForExpression, FunctionDefinition, Group, Import, InformationItem, InputClause,
    InputData, Invocation, ItemDefinition, KnowledgeSource, ListExpression, LiteralExpression,
    OrganizationUnit, OutputClause, PerformanceIndicator, QuantifiedExpression, Relation, RelationRow,
    RuleAnnotationClause, TextAnnotation, UnaryTestsText,
};
use serde::Deserialize;
use serde_json::Value;
use utoipa::openapi::schema::{SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::definition::Diagnostic;
use super::definition::collect;
use super::envelope::{AnyJson, JsonObject};
use crate::contract::{MediaType, RequestBody, json_bodies};
use crate::decode::Problems;

/// The schema of a decision with those of all boxed expressions, which stand in each other.
struct DecisionShape;

impl PartialSchema for DecisionShape {
    fn schema() -> RefOr<Schema> {
        Decision::schema()
    }
}

impl ToSchema for DecisionShape {
    fn name() -> Cow<'static, str> {
        Decision::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Decision::schemas(schemas);
        // The model breaks its circles at these members, so that nothing else brings their types in.
        collect::<heddle_dmn::model::BoxedExpression>(schemas);
        collect::<LiteralExpression>(schemas);
        collect::<ContextExpression>(schemas);
        collect::<ContextEntry>(schemas);
        collect::<ListExpression>(schemas);
        collect::<Relation>(schemas);
        collect::<RelationRow>(schemas);
        collect::<Invocation>(schemas);
        collect::<Binding>(schemas);
        collect::<FunctionDefinition>(schemas);
        collect::<DecisionTable>(schemas);
        collect::<InputClause>(schemas);
        collect::<OutputClause>(schemas);
        collect::<RuleAnnotationClause>(schemas);
        collect::<DecisionRule>(schemas);
        collect::<UnaryTestsText>(schemas);
        collect::<ConditionalExpression>(schemas);
        collect::<FilterExpression>(schemas);
        collect::<ForExpression>(schemas);
        collect::<QuantifiedExpression>(schemas);
        collect::<InformationItem>(schemas);
    }
}

response! {
    /// A document that a decision model imports.
    struct ImportedDecisions {
        /// Namespace.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        namespace: Option<String>,
        /// File name.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        file_name: Option<String>,
    }

    /// The decision model of a workflow's definition. A definition without one has empty lists.
    struct DecisionLogic {
        /// Id of the document's element.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        id: Option<String>,
        /// Name.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        name: Option<String>,
        /// Description of the model's purpose.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        description: Option<String>,
        /// Namespace of the elements.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        namespace: Option<String>,
        /// Label.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        label: Option<String>,
        /// Language of expressions; FEEL when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        expression_language: Option<String>,
        /// Language of types; FEEL when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        type_language: Option<String>,
        /// Tool that wrote the document.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        exporter: Option<String>,
        /// Version of that tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        exporter_version: Option<String>,
        /// The document: what the lists say, with diagrams, extensions and comments.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        source_xml: Option<String>,
        /// Version of DMN that the document is written in.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        version: Option<String>,
        /// Other models whose elements are used.
        imports: Vec<Import>,
        /// Types.
        item_definitions: Vec<ItemDefinition>,
        /// Inputs.
        input_data: Vec<InputData>,
        /// Decisions.
        #[schema(value_type = Vec<DecisionShape>)]
        decisions: Vec<Decision>,
        /// Functions that decisions call.
        business_knowledge_models: Vec<BusinessKnowledgeModel>,
        /// Groups of decisions that are called like a function.
        decision_services: Vec<DecisionService>,
        /// Authorities.
        knowledge_sources: Vec<KnowledgeSource>,
        /// Notes in diagrams.
        text_annotations: Vec<TextAnnotation>,
        /// Lines between artifacts and elements.
        associations: Vec<Association>,
        /// Frames around elements.
        groups: Vec<Group>,
        /// Elements by a common name.
        element_collections: Vec<ElementCollection>,
        /// Measures of the performance of decisions.
        performance_indicators: Vec<PerformanceIndicator>,
        /// Parts of the organisation that make or own decisions.
        organization_units: Vec<OrganizationUnit>,
        /// The documents of imports that the definition holds (`dmn.importedDocuments`).
        imported_documents: Vec<ImportedDecisions>,
        /// Findings of reading, compiling and analysing, each with line and column in `sourceXml` and, where
        /// it is about one, in the text of FEEL.
        diagnostics: Vec<Diagnostic>,
        /// The workflow's revision; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
        /// The draft's revision.
        #[schema(minimum = 0)]
        draft_revision: i64,
    }
}

request! {
    /// A decision model for the draft: the members of the structure, or `sourceXml`. With both, they must say the same.
    /// JSON is read to 64 levels, which is some 20 boxed contexts in each other; deeper logic comes as `sourceXml`.
    #[schema(examples(json!({"name": "Discount", "namespace": "urn:discount",
        "inputData": [{"id": "customer", "name": "customer", "variable": {"name": "customer", "typeRef": "string"}}],
        "decisions": [{"id": "discount", "name": "discount", "variable": {"name": "discount", "typeRef": "number"},
            "informationRequirements": [{"id": "r1", "requiredInput": "#customer"}],
            "expression": {"type": "literalExpression", "text": "if customer = \"gold\" then 10 else 0"}}]})))]
    struct SaveDecisionLogic {
        /// Id of the document's element.
        #[schema(nullable = false)]
        id: Option<String>,
        /// Name; when absent the present one, or that of the workflow.
        #[schema(nullable = false)]
        name: Option<String>,
        /// Description of the model's purpose.
        #[schema(nullable = false)]
        description: Option<String>,
        /// Namespace of the elements; when absent the present one, or one made of the workflow's slug.
        #[schema(nullable = false)]
        namespace: Option<String>,
        /// Label.
        #[schema(nullable = false)]
        label: Option<String>,
        /// Language of expressions; FEEL when absent.
        #[schema(nullable = false)]
        expression_language: Option<String>,
        /// Language of types; FEEL when absent.
        #[schema(nullable = false)]
        type_language: Option<String>,
        /// Tool that wrote the document.
        #[schema(nullable = false)]
        exporter: Option<String>,
        /// Version of that tool.
        #[schema(nullable = false)]
        exporter_version: Option<String>,
        /// The document.
        #[schema(nullable = false)]
        source_xml: Option<String>,
        /// Other models whose elements are used.
        #[schema(nullable = false)]
        imports: Option<Vec<Import>>,
        /// Types.
        #[schema(nullable = false)]
        item_definitions: Option<Vec<ItemDefinition>>,
        /// Inputs.
        #[schema(nullable = false)]
        input_data: Option<Vec<InputData>>,
        /// Decisions.
        #[schema(nullable = false, value_type = Option<Vec<DecisionShape>>)]
        decisions: Option<Vec<Decision>>,
        /// Functions that decisions call.
        #[schema(nullable = false)]
        business_knowledge_models: Option<Vec<BusinessKnowledgeModel>>,
        /// Groups of decisions that are called like a function.
        #[schema(nullable = false)]
        decision_services: Option<Vec<DecisionService>>,
        /// Authorities.
        #[schema(nullable = false)]
        knowledge_sources: Option<Vec<KnowledgeSource>>,
        /// Notes in diagrams.
        #[schema(nullable = false)]
        text_annotations: Option<Vec<TextAnnotation>>,
        /// Lines between artifacts and elements.
        #[schema(nullable = false)]
        associations: Option<Vec<Association>>,
        /// Frames around elements.
        #[schema(nullable = false)]
        groups: Option<Vec<Group>>,
        /// Elements by a common name.
        #[schema(nullable = false)]
        element_collections: Option<Vec<ElementCollection>>,
        /// Measures of the performance of decisions.
        #[schema(nullable = false)]
        performance_indicators: Option<Vec<PerformanceIndicator>>,
        /// Parts of the organisation that make or own decisions.
        #[schema(nullable = false)]
        organization_units: Option<Vec<OrganizationUnit>>,
        /// The workflow's revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }
}

impl SaveDecisionLogic {
    /// The model, and whether any of its members but the document was given.
    #[must_use]
    pub fn model(self) -> (DecisionModel, bool) {
        let source_xml = self.source_xml;
        let has_lists = self.imports.is_some()
            || self.item_definitions.is_some()
            || self.input_data.is_some()
            || self.decisions.is_some()
            || self.business_knowledge_models.is_some()
            || self.decision_services.is_some()
            || self.knowledge_sources.is_some()
            || self.text_annotations.is_some()
            || self.associations.is_some()
            || self.groups.is_some()
            || self.element_collections.is_some()
            || self.performance_indicators.is_some()
            || self.organization_units.is_some();
        let model = DecisionModel {
            id: self.id,
            name: self.name,
            description: self.description,
            namespace: self.namespace,
            label: self.label,
            expression_language: self.expression_language,
            type_language: self.type_language,
            exporter: self.exporter,
            exporter_version: self.exporter_version,
            imports: self.imports.unwrap_or_default(),
            item_definitions: self.item_definitions.unwrap_or_default(),
            input_data: self.input_data.unwrap_or_default(),
            decisions: self.decisions.unwrap_or_default(),
            business_knowledge_models: self.business_knowledge_models.unwrap_or_default(),
            decision_services: self.decision_services.unwrap_or_default(),
            knowledge_sources: self.knowledge_sources.unwrap_or_default(),
            text_annotations: self.text_annotations.unwrap_or_default(),
            associations: self.associations.unwrap_or_default(),
            groups: self.groups.unwrap_or_default(),
            element_collections: self.element_collections.unwrap_or_default(),
            performance_indicators: self.performance_indicators.unwrap_or_default(),
            organization_units: self.organization_units.unwrap_or_default(),
            ..DecisionModel::default()
        };
        let given = has_lists || model != DecisionModel::default();
        (DecisionModel { source_xml, ..model }, given)
    }
}

/// The body that a decision model is saved with: the request as JSON, or the DMN document itself.
#[derive(Debug, Clone, PartialEq)]
pub enum DecisionLogicBody {
    /// A request.
    Json(Box<SaveDecisionLogic>),
    /// A document.
    Xml(Vec<u8>),
}

impl RequestBody for DecisionLogicBody {
    type Json = SaveDecisionLogic;

    fn read(media: MediaType, bytes: &[u8]) -> Result<Self, Problems> {
        match media {
            MediaType::Xml => Ok(Self::Xml(bytes.to_vec())),
            MediaType::Json | MediaType::Text | MediaType::Files => {
                crate::decode::from_json(bytes).map(|request| Self::Json(Box::new(request)))
            }
        }
    }
}

/// A version of a workflow: its number, `draft` or `published`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum VersionName {
    /// A number.
    Number(i64),
    /// A word, or a number as a text.
    Word(String),
}

impl PartialSchema for VersionName {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::Integer, Type::String]))
            .pattern(Some("^(draft|published|[1-9][0-9]{0,8})$"))
            .description(Some("A version's number, `draft` or `published`."))
            .into()
    }
}

impl ToSchema for VersionName {}

words! {
    /// Kind of element that was evaluated.
    enum DecisionKind {
        /// A decision.
        Decision = "decision",
        /// A decision service.
        DecisionService = "decisionService",
    }
}

request! {
    /// An evaluation of a decision without a run.
    #[schema(examples(json!({"decision": "discount", "input": {"customer": "gold"}, "explain": true})))]
    struct EvaluateDecision {
        /// Id or name of a decision or decision service.
        #[schema(min_length = 1, max_length = 500)]
        decision: String,
        /// A version's number, `published` (default), or `draft` for those who may read the workflow.
        #[schema(nullable = false)]
        version: Option<VersionName>,
        /// Values of the inputs by name.
        #[schema(value_type = Object)]
        input: JsonObject,
        /// Whether to tell how the result came about.
        #[schema(nullable = false)]
        explain: Option<bool>,
    }
}

response! {
    /// Element that was evaluated.
    struct DecisionElement {
        /// Id; null where the model gives none.
        #[schema(required = true)]
        id: Option<String>,
        /// Name.
        name: String,
        /// Kind of element.
        kind: DecisionKind,
    }

    /// Explanation of a result: the decisions evaluated on the way.
    struct DecisionsExplained {
        /// Decisions in their order, each with its inputs, its output, and its tables with the rules that matched.
        #[schema(value_type = Vec<Object>)]
        decisions: Vec<Value>,
        /// Whether some are left out because they are too many; those nearest to the result are told.
        truncated: bool,
    }

    /// The result of a decision.
    struct EvaluatedDecision {
        /// Workflow that has the decision.
        workflow_id: String,
        /// Number of the version; null for the draft.
        #[schema(required = true, minimum = 1)]
        version: Option<i32>,
        /// Element that was evaluated.
        decision: DecisionElement,
        /// Result; null when it has none.
        #[schema(value_type = AnyJson)]
        output: Value,
        /// Reasons why parts of the result are null, each with `message` and, where known, its place in the model.
        #[schema(value_type = Vec<Object>)]
        reasons: Vec<Value>,
        /// Explanation, when one was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        explanation: Option<DecisionsExplained>,
    }
}

json_bodies!(EvaluateDecision);
