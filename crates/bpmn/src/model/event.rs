//! Event definitions and loop characteristics.

shape! {
    /// An event definition, in an event or at the model's root.
    struct EventDefinition {
        /// Id of the activity that a compensation is for.
        activity_ref: String,
        /// Condition of a conditional event.
        expression: String,
        /// Id.
        id: String,
        /// Language of the expression or of the time, a URI.
        language: String,
        /// Id of the operation of a message event.
        operation_ref: String,
        /// Id of the message, signal, error or escalation, the name of a link, or, for the type `reference`,
        /// the id of the event definition at the model's root.
        reference: String,
        /// Ids of the throwing links.
        sources: Vec<String>,
        /// Id of the catching link.
        target: String,
        /// Recurring time, ISO 8601.
        time_cycle: String,
        /// Point in time, ISO 8601.
        time_date: String,
        /// Duration, ISO 8601.
        time_duration: String,
        /// `message`, `timer`, `error`, `escalation`, `cancel`, `compensate`, `conditional`, `link`, `signal`,
        /// `terminate`, or `reference`.
        r#type: String,
        /// Whether a compensation throw waits for the compensation to end (default true).
        wait_for_completion: bool,
        /// Whether `waitForCompletion` was given.
        wait_for_completion_specified: bool,
    }

    /// Loop or multi-instance characteristics of an activity (clause 10.3.8).
    struct LoopCharacteristics {
        /// `None`, `One`, `All` or `Complex`: when a multi-instance activity throws events.
        behavior: String,
        /// Id of the data input that holds the collection.
        collection: String,
        /// Condition that ends a multi-instance activity early.
        completion_condition: String,
        /// Events of the behavior `Complex`.
        complex_behavior_definitions: Vec<ComplexBehaviorDefinition>,
        /// Name or id of the item of one instance.
        element_variable: String,
        /// Id.
        id: String,
        /// `standard` or `multiInstance`.
        kind: String,
        /// Condition of a standard loop, or cardinality expression of a multi-instance activity.
        loop_condition: String,
        /// Most iterations of a standard loop.
        loop_maximum: i64,
        /// Id of the event definition thrown at every completion.
        none_behavior_event_ref: String,
        /// Id of the event definition thrown at the first completion.
        one_behavior_event_ref: String,
        /// Whether the instances run one after the other.
        sequential: bool,
        /// Whether a standard loop tests before the first iteration.
        test_before: bool,
    }

    /// An event that a multi-instance activity throws on a condition.
    struct ComplexBehaviorDefinition {
        /// Condition.
        condition: String,
        /// Event definitions of the implicit throw event.
        event_definitions: Vec<EventDefinition>,
        /// Id.
        id: String,
    }
}

impl EventDefinition {
    /// The type without the suffix `EventDefinition` of the BPMN element name.
    pub fn kind(&self) -> Option<&str> {
        self.r#type.as_deref().map(|name| name.strip_suffix("EventDefinition").unwrap_or(name))
    }
}
