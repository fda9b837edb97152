//! The decision model (DMN 1.5, clauses 6 and 7) as types: what the API reads and writes as JSON.
//!
//! Members are named as the attributes and elements of the standard. Everything may be absent, because a draft may be
//! incomplete; an unknown member is refused.

/// Declares shapes of the model: `Option`s and lists are left out when empty.
macro_rules! shape {
    ($(
        $(#[$outer:meta])*
        struct $name:ident {
            $( $(#[$inner:meta])* $field:ident : $ty:ty, )*
            $( + lists { $( $(#[$list_meta:meta])* $list:ident : $item:ty, )* } )?
            $( @ $at:ident )?
        }
    )*) => { $(
        #[derive(Debug, Clone, PartialEq, Default, ::serde::Serialize, ::serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        $(#[$outer])*
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            $( $(#[$inner])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $field: Option<$ty>, )*
            $( $( $(#[$list_meta])* #[serde(default, skip_serializing_if = "Vec::is_empty")] pub $list: Vec<$item>, )* )?
            $(
                /// Position in the document that it was read from.
                #[serde(skip)]
                pub $at: $crate::model::At,
            )?
        }
    )* };
}

mod context;
mod expression;
mod table;

pub use context::{
    Association, AssociationDirection, ElementCollection, Group, OrganizationUnit, PerformanceIndicator,
    TextAnnotation,
};
pub use expression::{
    Binding, BoxedExpression, ConditionalExpression, ContextEntry, ContextExpression, FilterExpression,
    ForExpression, FunctionDefinition, FunctionKind, ImportedValues, Invocation, ListExpression,
    LiteralExpression, QuantifiedExpression, Relation, RelationRow,
};
pub use table::{
    Aggregation, DecisionRule, DecisionTable, HitPolicy, InputClause, Orientation, OutputClause,
    RuleAnnotationClause, UnaryTestsText,
};

/// Position in the XML that something was read from; 0 when it was not. It does not count when models are
/// compared.
#[derive(Debug, Clone, Copy, Default, Eq)]
pub struct At {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

shape! {
    /// A decision model: one `definitions` document.
    struct DecisionModel {
        /// Id of the document's element.
        id: String,
        /// Name.
        name: String,
        /// Description of the model's purpose.
        description: String,
        /// Namespace of the elements; imports and references from other documents name it.
        namespace: String,
        /// Label.
        label: String,
        /// Language of expressions; FEEL when absent.
        expression_language: String,
        /// Language of types; FEEL when absent.
        type_language: String,
        /// Tool that wrote the document.
        exporter: String,
        /// Version of that tool.
        exporter_version: String,
        /// The document that the model was read from. When a model is written, what this shape has no member for is
        /// taken from it: diagrams and extensions.
        source_xml: String,
        + lists {
            /// Other models whose elements are used.
            imports: Import,
            /// Types.
            item_definitions: ItemDefinition,
            /// Inputs.
            input_data: InputData,
            /// Decisions.
            decisions: Decision,
            /// Functions that decisions call.
            business_knowledge_models: BusinessKnowledgeModel,
            /// Groups of decisions that are called like a function.
            decision_services: DecisionService,
            /// Authorities.
            knowledge_sources: KnowledgeSource,
            /// Notes in diagrams.
            text_annotations: TextAnnotation,
            /// Lines between artifacts and elements.
            associations: Association,
            /// Frames around elements.
            groups: Group,
            /// Elements by a common name.
            element_collections: ElementCollection,
            /// Measures of business performance that decisions affect.
            performance_indicators: PerformanceIndicator,
            /// Organisational units that make or own decisions.
            organization_units: OrganizationUnit,
        }
        @ at
    }

    /// Another model, by its namespace.
    #[cfg_attr(feature = "schema", schema(as = DmnImport))]
    struct Import {
        /// Id.
        id: String,
        /// Name by which its elements are qualified.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Namespace of the model imported.
        namespace: String,
        /// URI of the document with the model.
        location_uri: String,
        /// Kind of what is imported: the namespace of its schema.
        import_type: String,
        @ at
    }

    /// A variable: its name and type.
    struct InformationItem {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type: of FEEL, of the model, or of an import by its qualified name.
        type_ref: String,
        @ at
    }

    /// An input of the model.
    struct InputData {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// The variable that holds its value.
        variable: InformationItem,
        @ at
    }

    /// A decision.
    #[cfg_attr(feature = "schema", schema(as = DmnDecision))]
    struct Decision {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// The question that the decision answers.
        question: String,
        /// The possible answers, in words.
        allowed_answers: String,
        /// The variable that holds its result.
        variable: InformationItem,
        /// Decision logic: the expression that gives the result.
        expression: BoxedExpression,
        + lists {
            /// Decisions and inputs whose values it uses.
            information_requirements: InformationRequirement,
            /// Functions that it calls.
            knowledge_requirements: KnowledgeRequirement,
            /// Authorities that it follows.
            authority_requirements: AuthorityRequirement,
            /// References to what it is made for.
            supported_objectives: String,
            /// References to the performance indicators that it changes.
            impacted_performance_indicators: String,
            /// References to who makes it.
            decision_makers: String,
            /// References to who answers for it.
            decision_owners: String,
            /// References to the processes that it is made in.
            using_processes: String,
            /// References to the tasks that it is made in.
            using_tasks: String,
        }
        @ at
    }

    /// Use of a decision's or an input's value; exactly one member beside the id is given.
    struct InformationRequirement {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Reference to a decision: `#id`, or namespace and `#id`.
        required_decision: String,
        /// Reference to input data.
        required_input: String,
        @ at
    }

    /// Use of a function.
    struct KnowledgeRequirement {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Reference to a business knowledge model or a decision service.
        required_knowledge: String,
        @ at
    }

    /// Dependence on an authority; exactly one reference is given.
    struct AuthorityRequirement {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Reference to a decision.
        required_decision: String,
        /// Reference to input data.
        required_input: String,
        /// Reference to a knowledge source.
        required_authority: String,
        @ at
    }

    /// A function that decisions call.
    struct BusinessKnowledgeModel {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// The variable that holds the function.
        variable: InformationItem,
        /// The function.
        encapsulated_logic: FunctionDefinition,
        + lists {
            /// Functions that it calls.
            knowledge_requirements: KnowledgeRequirement,
            /// Authorities that it follows.
            authority_requirements: AuthorityRequirement,
        }
        @ at
    }

    /// Decisions that are called together like a function. The lists hold references: `#id`, or namespace and `#id`.
    struct DecisionService {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// The variable that holds the function.
        variable: InformationItem,
        + lists {
            /// Decisions whose results are the service's.
            output_decisions: String,
            /// Decisions within.
            encapsulated_decisions: String,
            /// Decisions whose results are arguments of the service.
            input_decisions: String,
            /// Input data that are arguments of the service.
            input_data: String,
        }
        @ at
    }

    /// An authority for decisions.
    struct KnowledgeSource {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Kind of source.
        r#type: String,
        /// Reference to its owner.
        owner: String,
        /// URI of the source.
        location_uri: String,
        + lists {
            /// Requirements: decisions, inputs and other sources that it depends on.
            authority_requirements: AuthorityRequirement,
        }
        @ at
    }

    /// A type (DMN 1.5, 7.3.3).
    #[cfg_attr(feature = "schema", schema(as = DmnItemDefinition))]
    struct ItemDefinition {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Language of types.
        type_language: String,
        /// Whether values are lists of the type described.
        is_collection: bool,
        /// The type that this one refines.
        type_ref: String,
        /// Tests that each value, or each item of a collection, passes.
        allowed_values: UnaryTestsText,
        /// Tests that the value as a whole passes (since DMN 1.5).
        type_constraint: UnaryTestsText,
        /// Signature, when values are functions.
        function_item: FunctionItem,
        + lists {
            /// Members, when values are contexts.
            #[cfg_attr(feature = "schema", schema(no_recursion))]
            item_components: ItemDefinition,
        }
        @ at
    }

    /// A function's signature.
    struct FunctionItem {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        output_type_ref: String,
        + lists {
            /// Parameters.
            parameters: InformationItem,
        }
        @ at
    }
}
