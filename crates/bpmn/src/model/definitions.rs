//! The root of a BPMN model and its reusable elements.

use super::{Choreography, Collaboration, Conversation, DataItem, Diagram, Process};
use std::collections::BTreeMap;

shape! {
    /// A BPMN model: the content of `definitions` (clause 8.2.1).
    struct Bpmn {
        /// Categories.
        categories: Vec<Category>,
        /// Choreographies.
        choreographies: Vec<Choreography>,
        /// Collaborations.
        collaborations: Vec<Collaboration>,
        /// Conformance profile that the model claims.
        conformance_profile: String,
        /// Conversations outside a collaboration.
        conversations: Vec<Conversation>,
        /// Data stores.
        data_stores: Vec<DataItem>,
        /// Diagrams.
        diagrams: Vec<Diagram>,
        /// Errors.
        errors: Vec<EventReference>,
        /// Escalations.
        escalations: Vec<EventReference>,
        /// Tool that wrote the model.
        exporter: String,
        /// Version of that tool.
        exporter_version: String,
        /// Default language of expressions, a URI.
        expression_language: String,
        /// Content without a member of its own: fragments `heddle:residue`, one per element, and the
        /// extension elements of the root.
        extension_elements_xml: Vec<String>,
        /// Id.
        id: String,
        /// Imported documents.
        imports: Vec<BpmnImport>,
        /// Interfaces.
        interfaces: Vec<Interface>,
        /// Item definitions.
        item_definitions: Vec<ItemDefinition>,
        /// Messages.
        messages: Vec<EventReference>,
        /// Name.
        name: String,
        /// Namespaces by prefix; the default namespace has the empty prefix.
        namespaces: BTreeMap<String, String>,
        /// Id of the process that a run starts when it names none.
        primary_process_id: String,
        /// Processes.
        processes: Vec<Process>,
        /// Relationships.
        relationships: Vec<Relationship>,
        /// Resources.
        resources: Vec<Resource>,
        /// Signals.
        signals: Vec<EventReference>,
        /// Namespace of the model's own names.
        target_namespace: String,
        /// Default language of types, a URI.
        type_language: String,
    }

    /// A message, signal, error or escalation.
    struct EventReference {
        /// Error or escalation code.
        code: String,
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Id of the item definition.
        structure_ref: String,
    }

    /// An imported document of a BPMN model.
    struct BpmnImport {
        /// Kind of document, a URI.
        import_type: String,
        /// Location of the document.
        location: String,
        /// Namespace of the imported elements.
        namespace: String,
    }

    /// A service interface (clause 8.5).
    struct Interface {
        /// Id.
        id: String,
        /// Qualified name of the implementation.
        implementation_ref: String,
        /// Name.
        name: String,
        /// Operations.
        operations: Vec<Operation>,
    }

    /// An operation of an interface.
    struct Operation {
        /// Ids of the errors.
        error_refs: Vec<String>,
        /// Id.
        id: String,
        /// Qualified name of the implementation.
        implementation_ref: String,
        /// Id of the message in.
        input_message_ref: String,
        /// Name.
        name: String,
        /// Id of the message out.
        output_message_ref: String,
    }

    /// An item definition (clause 8.4.10).
    struct ItemDefinition {
        /// Id.
        id: String,
        /// Whether the item is a collection.
        is_collection: bool,
        /// `Information` or `Physical`.
        item_kind: String,
        /// Qualified name of the structure.
        structure_ref: String,
    }

    /// A category of category values.
    struct Category {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Values.
        values: Vec<CategoryValue>,
    }

    /// A category value.
    struct CategoryValue {
        /// Id.
        id: String,
        /// Value.
        value: String,
    }

    /// A resource (clause 8.4.12).
    struct Resource {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Parameters.
        parameters: Vec<ResourceParameter>,
    }

    /// A parameter of a resource.
    struct ResourceParameter {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Whether the parameter must be bound.
        required: bool,
        /// Id of the item definition.
        r#type: String,
    }

    /// A relationship between elements of models.
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
}
