//! Nodes and edges of a graph.

use super::{
    DataAssociation, DataItem, EventDefinition, InputSet, LoopCharacteristics, OutputSet, Point, Process,
    Property, ResourceRole,
};
use serde_json::{Map, Value};

shape! {
    /// A node: a flow node of BPMN or a node kind of the editor's own.
    struct Node {
        /// BPMN attributes of the node.
        bpmn: Box<NodeBpmn>,
        /// Settings of the node's executor or of its human task.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Name shown to people; BPMN's `name`.
        display_name: String,
        /// Id, unique within the definition.
        id: String,
        /// Element name of BPMN, such as `userTask`, or a kind of the editor's own.
        r#type: String,
    }

    /// The BPMN side of a node.
    struct NodeBpmn {
        /// Activation condition of a complex gateway.
        activation_condition: String,
        /// Attributes of an activity.
        activity: Activity,
        /// Id of the activity a boundary event is attached to.
        attached_to_ref: String,
        /// Id of the process or global task that a call activity calls.
        called_element: String,
        /// Whether a boundary event interrupts its activity (default true).
        cancel_activity: bool,
        /// Data associations, inputs and outputs alike.
        data_associations: Vec<DataAssociation>,
        /// Data inputs of the activity's or event's specification.
        data_inputs: Vec<DataItem>,
        /// Data outputs of the activity's or event's specification.
        data_outputs: Vec<DataItem>,
        /// Id of the default sequence flow out of a gateway.
        default_flow: String,
        /// Documentation texts.
        documentation: Vec<String>,
        /// BPMN element name, where `type` of the node is an editor's own kind.
        element_type: String,
        /// Event definitions of an event, or references to definitions of the model's root.
        event_definitions: Vec<EventDefinition>,
        /// `Exclusive` or `Parallel`, for an event-based gateway.
        event_gateway_type: String,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// `Unspecified`, `Converging`, `Diverging` or `Mixed`.
        gateway_direction: String,
        /// BPMN id, where the node has none of its own.
        id: String,
        /// Technology of the implementation, such as `##WebService`.
        implementation: String,
        /// Input sets.
        input_sets: Vec<InputSet>,
        /// Whether the receive task or event-based gateway starts an instance.
        instantiate: bool,
        /// Id of the input output specification.
        io_specification_id: String,
        /// Whether a start event interrupts its event sub-process's scope (default true).
        is_interrupting: bool,
        /// Whether a sub-process is a transaction.
        is_transaction: bool,
        /// Id of the message of a send or receive task.
        message_ref: String,
        /// Id of the operation of a service, send or receive task.
        operation_ref: String,
        /// Output sets.
        output_sets: Vec<OutputSet>,
        /// Whether all event definitions must occur.
        parallel_multiple: bool,
        /// Properties of an activity or event.
        properties: Vec<Property>,
        /// Resource roles of an activity.
        resources: Vec<ResourceRole>,
        /// Content of a sub-process, a transaction or an ad-hoc sub-process.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        sub_process: Box<Process>,
        /// Method of a transaction, such as `##Compensate`.
        transaction_method: String,
        /// Whether a sub-process is an event sub-process.
        triggered_by_event: bool,
    }

    /// BPMN attributes of an activity beyond those of any flow node.
    struct Activity {
        /// Whether an ad-hoc sub-process cancels what is still running at its completion (default true).
        cancel_remaining_instances: bool,
        /// Completion condition of an ad-hoc sub-process.
        completion_condition: String,
        /// Tokens per outgoing flow at completion (default 1).
        completion_quantity: i64,
        /// Id of the default sequence flow out of the activity.
        default_flow: String,
        /// Whether the activity is a compensation handler.
        for_compensation: bool,
        /// Loop or multi-instance characteristics.
        r#loop: Box<LoopCharacteristics>,
        /// Method of the call of an external service.
        method: String,
        /// `Parallel` or `Sequential`, for an ad-hoc sub-process.
        ordering: String,
        /// Protocol of the call of an external service.
        protocol: String,
        /// Renderings of a user task, each as XML text.
        renderings: Vec<String>,
        /// Script of a script task.
        script: String,
        /// Media type of the script.
        script_format: String,
        /// Tokens that must arrive before the activity starts (default 1).
        start_quantity: i64,
    }

    /// An edge: a sequence flow unless its type says otherwise.
    struct Edge {
        /// BPMN attributes of the edge.
        bpmn: Box<EdgeBpmn>,
        /// Outcome of the human task before, or value of the decision before, for which the flow is taken; elsewhere it has no
        /// effect, and publishing says so.
        branch: String,
        /// Condition as operands and operator.
        condition: Condition,
        /// Id, unique within the definition.
        id: String,
        /// Bounded loop along this edge.
        r#loop: EdgeLoop,
        /// Id of the source node.
        source: String,
        /// Id of the target node.
        target: String,
        /// Element name of BPMN, `sequenceFlow` when absent.
        r#type: String,
    }

    /// The BPMN side of an edge.
    struct EdgeBpmn {
        /// Assignments of a data association, each as XML text.
        assignments: Vec<String>,
        /// `None`, `One` or `Both`, for an association.
        association_direction: String,
        /// Condition expression of a sequence flow.
        condition_expression: String,
        /// Language of the condition, a URI; absent is the model's expression language.
        condition_language: String,
        /// Ids of the correlation keys of a message flow.
        correlation_key_refs: Vec<String>,
        /// BPMN element name, where the edge's `type` is an editor's own kind.
        element_type: String,
        /// Whether nothing may come between source and target.
        is_immediate: bool,
        /// Id of the message of a message flow.
        message_ref: String,
        /// Name of the flow.
        name: String,
        /// Id of the operation of a message flow.
        operation_ref: String,
        /// Transformation expression of a data association.
        transformation: String,
        /// Way points in diagram units.
        waypoints: Vec<Point>,
    }

    /// A condition as `left operator value`.
    struct Condition {
        /// Label shown to people.
        label: String,
        /// Path or name of the left operand.
        left: String,
        /// Source that the condition reads: the variables or the last output.
        on: String,
        /// Operator, such as `equals`.
        operator: String,
        /// Right operand, as text.
        value: String,
    }

    /// A bounded loop along an edge.
    struct EdgeLoop {
        /// Data carried into the next iteration.
        carry: LoopCarry,
        /// Pause before the next iteration, in seconds.
        delay_seconds: i64,
        /// Most iterations.
        maximum_iterations: i64,
        /// Action after the last iteration.
        on_maximum: LoopLimitAction,
    }

    /// Data that a loop carries into its next iteration.
    struct LoopCarry {
        /// Whether the last error is carried.
        previous_error: bool,
        /// Whether the last output is carried.
        previous_output: bool,
        /// Whether the reviewer's feedback is carried.
        reviewer_feedback: bool,
        /// Whether the feedback of validation is carried.
        validation_feedback: bool,
        /// Names of variables.
        variables: Vec<String>,
    }

    /// Action of a loop that has run its most iterations.
    struct LoopLimitAction {
        /// Word of the action.
        action: String,
        /// Node id the action leads to.
        target: String,
    }
}

impl Node {
    /// The BPMN element name: `bpmn.elementType`, else `type`.
    pub fn element_type(&self) -> Option<&str> {
        self.bpmn.as_ref().and_then(|bpmn| bpmn.element_type.as_deref()).or(self.r#type.as_deref())
    }

    /// The id: `id`, else `bpmn.id`.
    pub fn element_id(&self) -> Option<&str> {
        self.id.as_deref().or_else(|| self.bpmn.as_ref().and_then(|bpmn| bpmn.id.as_deref()))
    }
}

impl Edge {
    /// The BPMN element name: `bpmn.elementType`, else `type`, else `sequenceFlow`.
    pub fn element_type(&self) -> &str {
        let own = self.bpmn.as_ref().and_then(|bpmn| bpmn.element_type.as_deref());
        own.or(self.r#type.as_deref()).unwrap_or("sequenceFlow")
    }
}
