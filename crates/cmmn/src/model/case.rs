//! Cases with their file, roles and parameters, and what their tasks call.

use super::{Expression, PlanItemDefinition};
use serde_json::{Map, Value};

shape! {
    /// A case (clause 5.2).
    #[cfg_attr(feature = "schema", schema(as = CaseDefinitionCase))]
    struct Case {
        /// Case file.
        case_file: CaseFile,
        /// Case plan model: a stage, of the type `casePlanModel`.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        case_plan_model: Box<PlanItemDefinition>,
        /// Settings of the case, such as the events that start it.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Description, of CMMN 1.0.
        description: String,
        /// Documentation texts.
        documentation: Vec<String>,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id, unique within the definition.
        id: String,
        /// Input parameters.
        inputs: Vec<Parameter>,
        /// Name.
        name: String,
        /// Output parameters.
        outputs: Vec<Parameter>,
        /// Roles.
        roles: Vec<CaseRole>,
        /// Id of the element that holds the roles.
        roles_id: String,
    }

    /// A role of a case (clause 5.2.2).
    struct CaseRole {
        /// Settings of the role.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Description, of CMMN 1.0.
        description: String,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id.
        id: String,
        /// Name: of the organisation's role or group that fills it.
        name: String,
    }

    /// A case file (clause 5.3.1).
    struct CaseFile {
        /// Id.
        id: String,
        /// Items.
        items: Vec<CaseFileItem>,
        /// Name.
        name: String,
    }

    /// An item of a case file (clause 5.3.2).
    struct CaseFileItem {
        /// Items in it.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        children: Vec<CaseFileItem>,
        /// Settings of the item.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Id of the definition.
        definition_ref: String,
        /// Description, of CMMN 1.0.
        description: String,
        /// Documentation texts.
        documentation: Vec<String>,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id.
        id: String,
        /// `ZeroOrOne`, `ZeroOrMore`, `ExactlyOne`, `OneOrMore`, `Unspecified` (the default) or `Unknown`.
        multiplicity: String,
        /// Name.
        name: String,
        /// Id of the item that refers to this one.
        source_ref: String,
        /// Ids of the items that this one refers to.
        target_refs: Vec<String>,
    }

    /// The definition of case file items (clause 5.1.3).
    struct CaseFileItemDefinition {
        /// Settings of the definition.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Kind of the content, a URI.
        definition_type: String,
        /// Description, of CMMN 1.0.
        description: String,
        /// Documentation texts.
        documentation: Vec<String>,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id.
        id: String,
        /// Qualified name of the import that brings the structure.
        import_ref: String,
        /// Name.
        name: String,
        /// Properties.
        properties: Vec<CaseFileItemProperty>,
        /// Qualified name of the structure.
        structure_ref: String,
    }

    /// A property of a case file item definition (clause 5.1.3.2).
    struct CaseFileItemProperty {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Type, a URI.
        r#type: String,
    }

    /// A parameter of a case, a task, a process or a decision.
    #[cfg_attr(feature = "schema", schema(as = CaseParameter))]
    struct Parameter {
        /// Id of the case file item that it is bound to.
        binding_ref: String,
        /// Expression over the bound item.
        binding_refinement: Expression,
        /// Id.
        id: String,
        /// Name.
        name: String,
    }

    /// The mapping of one parameter to another (clause 5.4.10.1).
    #[cfg_attr(feature = "schema", schema(as = CaseParameterMapping))]
    struct ParameterMapping {
        /// Id.
        id: String,
        /// Id of the parameter that gives the value.
        source_ref: String,
        /// Id of the parameter that takes it.
        target_ref: String,
        /// Expression over the value.
        transformation: Expression,
    }

    /// A process or a decision that tasks refer to (clauses 5.4.10.3 and 5.4.10.5).
    #[cfg_attr(feature = "schema", schema(as = CaseCallable))]
    struct Callable {
        /// Documentation texts.
        documentation: Vec<String>,
        /// Qualified name of what is called.
        external_ref: String,
        /// Id.
        id: String,
        /// Kind of process or decision, a URI.
        implementation_type: String,
        /// Input parameters.
        inputs: Vec<Parameter>,
        /// Name.
        name: String,
        /// Output parameters.
        outputs: Vec<Parameter>,
    }
}
