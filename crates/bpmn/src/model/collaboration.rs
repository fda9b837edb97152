//! Collaborations, conversations and choreographies.

use super::{Artifact, Edge};

shape! {
    /// A collaboration (clause 9).
    struct Collaboration {
        /// Text annotations, groups and associations.
        artifacts: Vec<Artifact>,
        /// Whether the message flows are all modelled.
        closed: bool,
        /// Conversation links.
        conversation_links: Vec<ConversationLink>,
        /// Conversations.
        conversations: Vec<Conversation>,
        /// Correlation keys.
        correlation_keys: Vec<CorrelationKey>,
        /// Id.
        id: String,
        /// Message flows.
        message_flows: Vec<MessageFlow>,
        /// Name.
        name: String,
        /// Participants.
        participants: Vec<Participant>,
    }

    /// A participant (clause 9.3).
    struct Participant {
        /// Id.
        id: String,
        /// Most participants of the kind.
        multiplicity_maximum: i64,
        /// Least participants of the kind.
        multiplicity_minimum: i64,
        /// Name.
        name: String,
        /// Id of the partner entity.
        partner_entity_ref: String,
        /// Id of the partner role.
        partner_role_ref: String,
        /// Id of the process.
        process_ref: String,
    }

    /// A message flow (clause 9.4).
    struct MessageFlow {
        /// Id.
        id: String,
        /// Id of the message.
        message_ref: String,
        /// Name.
        name: String,
        /// Id of the source.
        source_ref: String,
        /// Id of the target.
        target_ref: String,
    }

    /// A conversation node (clause 9.5).
    struct Conversation {
        /// Id of the collaboration that a call conversation calls.
        called_collaboration_ref: String,
        /// Conversations within a sub-conversation.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        conversations: Vec<Conversation>,
        /// Correlation keys.
        correlation_keys: Vec<CorrelationKey>,
        /// Id.
        id: String,
        /// Ids of the message flows.
        message_flow_refs: Vec<String>,
        /// Name.
        name: String,
        /// Ids of the participants.
        participant_refs: Vec<String>,
        /// `conversation`, `subConversation` or `callConversation`.
        r#type: String,
    }

    /// A conversation link (clause 9.5.6).
    struct ConversationLink {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Id of the source.
        source_ref: String,
        /// Id of the target.
        target_ref: String,
    }

    /// A correlation key (clause 8.4.2).
    struct CorrelationKey {
        /// Ids of the correlation properties.
        correlation_property_refs: Vec<String>,
        /// Id.
        id: String,
        /// Name.
        name: String,
    }

    /// A choreography (clause 11).
    struct Choreography {
        /// Choreography activities, gateways and events.
        activities: Vec<ChoreographyActivity>,
        /// Text annotations, groups and associations.
        artifacts: Vec<Artifact>,
        /// Sequence flows.
        edges: Vec<Edge>,
        /// Id.
        id: String,
        /// Id of the initiating participant.
        initiating_participant_ref: String,
        /// Name.
        name: String,
        /// Participants.
        participants: Vec<Participant>,
    }

    /// A choreography activity, or a gateway or event between such activities.
    struct ChoreographyActivity {
        /// Activities within a sub-choreography.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        activities: Vec<ChoreographyActivity>,
        /// Id of the choreography that a call choreography calls.
        called_choreography_ref: String,
        /// Correlation keys.
        correlation_keys: Vec<CorrelationKey>,
        /// Sequence flows within a sub-choreography.
        edges: Vec<Edge>,
        /// Id.
        id: String,
        /// Id of the initiating participant.
        initiating_participant_ref: String,
        /// `None`, `Standard`, `MultiInstanceSequential` or `MultiInstanceParallel`.
        loop_type: String,
        /// Ids of the message flows.
        message_flow_refs: Vec<String>,
        /// Name.
        name: String,
        /// Ids of the participants.
        participant_refs: Vec<String>,
        /// BPMN element name, such as `choreographyTask`.
        r#type: String,
    }
}
