//! Data items, sets, associations and resource roles.

shape! {
    /// Anything that holds data: a data object, input, output, store, or a reference to one.
    struct DataItem {
        /// Capacity of a data store.
        capacity: i64,
        /// Whether the item holds a collection.
        collection: bool,
        /// State, such as `approved`.
        data_state: String,
        /// BPMN element name, such as `dataObjectReference`.
        element_type: String,
        /// Id.
        id: String,
        /// Id of the item definition.
        item_subject_ref: String,
        /// Name.
        name: String,
        /// Id of what a reference refers to.
        original_ref: String,
        /// Whether a data store's capacity is unlimited.
        unlimited: bool,
    }

    /// An input set (clause 10.4.1).
    struct InputSet {
        /// Ids of the data inputs.
        data_input_refs: Vec<String>,
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Ids of the data inputs that may be missing.
        optional_input_refs: Vec<String>,
        /// Ids of the output sets that this set leads to.
        output_set_refs: Vec<String>,
        /// Ids of the data inputs that are read while executing.
        while_executing_input_refs: Vec<String>,
    }

    /// An output set (clause 10.4.1).
    struct OutputSet {
        /// Ids of the data outputs.
        data_output_refs: Vec<String>,
        /// Id.
        id: String,
        /// Ids of the input sets that lead to this set.
        input_set_refs: Vec<String>,
        /// Name.
        name: String,
        /// Ids of the data outputs that may be missing.
        optional_output_refs: Vec<String>,
        /// Ids of the data outputs that are written while executing.
        while_executing_output_refs: Vec<String>,
    }

    /// A property of a process, an activity or an event.
    struct Property {
        /// State.
        data_state: String,
        /// Id.
        id: String,
        /// Id of the item definition.
        item_subject_ref: String,
        /// Name.
        name: String,
    }

    /// A data association (clause 10.4.2).
    struct DataAssociation {
        /// Assignments.
        assignment_expressions: Vec<AssignmentExpression>,
        /// Assignments as text, where there are no expressions of their own.
        assignments: Vec<String>,
        /// `dataInputAssociation` or `dataOutputAssociation`.
        element_type: String,
        /// Id.
        id: String,
        /// Ids of the sources.
        sources: Vec<String>,
        /// Id of the target.
        target: String,
        /// Transformation expression.
        transformation: String,
    }

    /// An assignment of a data association.
    struct AssignmentExpression {
        /// Expression that gives the value.
        from: String,
        /// Language of `from`, a URI.
        from_language: String,
        /// Id.
        id: String,
        /// Expression that gives the place.
        to: String,
        /// Language of `to`, a URI.
        to_language: String,
    }

    /// A resource role of an activity or a process (clause 10.3.1).
    struct ResourceRole {
        /// Expression that names the resource.
        assignment_expression: String,
        /// Id.
        id: String,
        /// Id of the resource.
        resource_ref: String,
        /// BPMN element name: `resourceRole`, `performer`, `humanPerformer` or `potentialOwner`.
        role: String,
    }
}
