//! Processes and the content of sub-processes.

use super::{DataItem, Edge, InputSet, Layout, Node, OutputSet, Point, Property, ResourceRole};

shape! {
    /// A process, or the content of a sub-process.
    struct Process {
        /// Text annotations, groups and associations.
        artifacts: Vec<Artifact>,
        /// Auditing element, as XML text.
        auditing_xml: String,
        /// Whether flows in and out of the process are all modelled.
        closed: bool,
        /// Correlation subscriptions, one entry per property binding.
        correlations: Vec<Correlation>,
        /// Data inputs of the process.
        data_inputs: Vec<DataItem>,
        /// Data objects and references to them.
        data_objects: Vec<DataItem>,
        /// Data outputs of the process.
        data_outputs: Vec<DataItem>,
        /// Data store references.
        data_stores: Vec<DataItem>,
        /// Documentation texts.
        documentation: Vec<String>,
        /// Sequence flows.
        edges: Vec<Edge>,
        /// Whether the process may be executed.
        executable: bool,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id, unique within the definition.
        id: String,
        /// Input sets.
        input_sets: Vec<InputSet>,
        /// Id of the input output specification.
        io_specification_id: String,
        /// Lane sets.
        lane_sets: Vec<LaneSet>,
        /// Editor layout.
        layout: Layout,
        /// Monitoring element, as XML text.
        monitoring_xml: String,
        /// Name.
        name: String,
        /// Flow nodes.
        nodes: Vec<Node>,
        /// Output sets.
        output_sets: Vec<OutputSet>,
        /// `None`, `Public` or `Private`.
        process_type: String,
        /// Properties.
        properties: Vec<Property>,
        /// Resource roles.
        resources: Vec<ResourceRole>,
        /// Ids of the processes that this one supports.
        supports: Vec<String>,
    }

    /// A text annotation, a group or an association.
    struct Artifact {
        /// `None`, `One` or `Both`, for an association.
        association_direction: String,
        /// Id of the category value of a group.
        category_value_ref: String,
        /// `textAnnotation`, `group` or `association`.
        element_type: String,
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Place in an editor without diagram interchange.
        position: Point,
        /// Id of an association's source.
        source_ref: String,
        /// Id of an association's target.
        target_ref: String,
        /// Text of an annotation.
        text: String,
    }

    /// One property binding of a correlation subscription (clause 8.4.2).
    struct Correlation {
        /// Id of the correlation property.
        correlation_property_ref: String,
        /// Id of the subscription; bindings of one subscription share it.
        id: String,
        /// Id of the correlation key that the subscription is for.
        name: String,
        /// Data paths.
        retrieval_expressions: Vec<String>,
    }

    /// A set of lanes.
    struct LaneSet {
        /// Id.
        id: String,
        /// Lanes.
        lanes: Vec<Lane>,
        /// Name.
        name: String,
    }

    /// A lane.
    struct Lane {
        /// Lanes within the lane.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        child_lane_set: Box<LaneSet>,
        /// Ids of the nodes in the lane.
        flow_node_refs: Vec<String>,
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Id of the element that the lane stands for.
        partition_element_ref: String,
        /// Resource roles of the lane.
        resources: Vec<ResourceRole>,
    }
}
