//! The root of a case definition.

use super::{Callable, Case, CaseDiagram, CaseDiagramStyle, CaseFileItemDefinition, Import, Layout};
use std::collections::BTreeMap;

shape! {
    /// A whole case definition: the content of CMMN's `definitions` (clause 5.1).
    #[cfg_attr(feature = "schema", schema(as = CaseDefinitionRequest))]
    struct CaseDefinition {
        /// Text annotations and associations.
        artifacts: Vec<Artifact>,
        /// Author of the model.
        author: String,
        /// Case file item definitions.
        case_file_item_definitions: Vec<CaseFileItemDefinition>,
        /// Cases.
        cases: Vec<Case>,
        /// Version of CMMN in which the model is written as XML: `1.1`, or `1.0`; absent is `1.1`.
        cmmn_version: String,
        /// Date and time of the model's making.
        creation_date: String,
        /// Decisions that decision tasks refer to.
        decisions: Vec<Callable>,
        /// Id of the element that holds the diagrams.
        diagram_interchange_id: String,
        /// Diagrams.
        diagrams: Vec<CaseDiagram>,
        /// Tool that wrote the model.
        exporter: String,
        /// Version of that tool.
        exporter_version: String,
        /// Default language of expressions, a URI.
        expression_language: String,
        /// Extension elements of the root, each as XML text.
        extension_xml: Vec<String>,
        /// Content without a member of its own: fragments `heddle:residue`, one per element.
        fragments: Vec<String>,
        /// Id.
        id: String,
        /// Documents that the model imports.
        imported_documents: Vec<CmmnImport>,
        /// Sources from which the definition was imported.
        imports: Vec<Import>,
        /// Kind of definition: `case`.
        kind: String,
        /// Editor layout.
        layout: Layout,
        /// Name.
        name: String,
        /// Namespaces by prefix; the default namespace has the empty prefix.
        namespaces: BTreeMap<String, String>,
        /// Id of the case that is started when none is named; absent is the first.
        primary_case_id: String,
        /// Processes that process tasks refer to.
        processes: Vec<Callable>,
        /// Relationships.
        relationships: Vec<Relationship>,
        /// Definition schema version.
        schema_version: i64,
        /// Styles of the diagrams.
        styles: Vec<CaseDiagramStyle>,
        /// Namespace of the model's own names.
        target_namespace: String,
    }

    /// An imported document of a CMMN model (clause 5.1.2).
    struct CmmnImport {
        /// Id, of CMMN 1.0 alone.
        id: String,
        /// Kind of document, a URI.
        import_type: String,
        /// Location of the document.
        location: String,
        /// Namespace of the imported elements.
        namespace: String,
    }

    /// A relationship between elements of models.
    #[cfg_attr(feature = "schema", schema(as = CaseRelationship))]
    struct Relationship {
        /// `None`, `Forward`, `Backward` or `Both`.
        direction: String,
        /// Id.
        id: String,
        /// Names of the sources.
        sources: Vec<String>,
        /// Names of the targets.
        targets: Vec<String>,
        /// Kind of relationship.
        r#type: String,
    }

    /// A text annotation or an association (clause 5.1.5).
    #[cfg_attr(feature = "schema", schema(as = CaseArtifact))]
    struct Artifact {
        /// `None`, `One` or `Both`, for an association.
        association_direction: String,
        /// Id.
        id: String,
        /// Id of an association's source.
        source_ref: String,
        /// Id of an association's target.
        target_ref: String,
        /// Text of an annotation.
        text: String,
        /// Media type of the text.
        text_format: String,
        /// `textAnnotation` or `association`.
        r#type: String,
    }
}
