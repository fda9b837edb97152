//! The flow node elements of BPMN 2.0.2.

use serde::{Deserialize, Serialize};

macro_rules! elements {
    ($($(#[$doc:meta])* $name:ident = $word:literal),+ $(,)?) => {
        /// A flow node element that can be executed; its JSON is the element's name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Element {
            $($(#[$doc])* #[serde(rename = $word)] $name,)+
        }

        impl Element {
            /// The element's name in BPMN 2.0.2.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// The element of this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name { $($word => Some(Self::$name),)+ _ => None }
            }
        }
    };
}

elements! {
    /// Clause 10.5.2.
    StartEvent = "startEvent",
    /// Clause 10.5.3.
    EndEvent = "endEvent",
    /// Clause 10.5.4.
    IntermediateCatchEvent = "intermediateCatchEvent",
    /// Clause 10.5.4.
    IntermediateThrowEvent = "intermediateThrowEvent",
    /// Clause 10.5.4.
    BoundaryEvent = "boundaryEvent",
    /// Clause 10.3.3.
    Task = "task",
    /// Clause 10.3.3.1.
    ServiceTask = "serviceTask",
    /// Clause 10.3.3.1.
    SendTask = "sendTask",
    /// Clause 10.3.3.1.
    ReceiveTask = "receiveTask",
    /// Clause 10.3.3.1.
    UserTask = "userTask",
    /// Clause 10.3.3.1.
    ManualTask = "manualTask",
    /// Clause 10.3.3.1.
    ScriptTask = "scriptTask",
    /// Clause 10.3.3.1.
    BusinessRuleTask = "businessRuleTask",
    /// Clause 10.3.5.
    SubProcess = "subProcess",
    /// Clause 10.6.2.
    ExclusiveGateway = "exclusiveGateway",
    /// Clause 10.6.3.
    InclusiveGateway = "inclusiveGateway",
    /// Clause 10.6.4.
    ParallelGateway = "parallelGateway",
    /// Clause 10.6.6.
    EventBasedGateway = "eventBasedGateway",
}

impl Element {
    /// Whether it is an activity: a task or a sub-process.
    #[must_use]
    pub const fn is_activity(self) -> bool {
        matches!(
            self,
            Self::Task
                | Self::ServiceTask
                | Self::SendTask
                | Self::ReceiveTask
                | Self::UserTask
                | Self::ManualTask
                | Self::ScriptTask
                | Self::BusinessRuleTask
                | Self::SubProcess
        )
    }
}

/// Whether nodes of this type stand beside the flow and are never executed.
pub(crate) fn is_beside_the_flow(word: &str) -> bool {
    matches!(
        word,
        "dataObject"
            | "dataObjectReference"
            | "dataStoreReference"
            | "dataStore"
            | "dataInput"
            | "dataOutput"
            | "textAnnotation"
            | "group"
            | "lane"
            | "note"
    )
}

/// Whether edges of this type carry no token.
pub(crate) fn is_no_flow(word: &str) -> bool {
    matches!(
        word,
        "association"
            | "messageFlow"
            | "dataAssociation"
            | "dataInputAssociation"
            | "dataOutputAssociation"
            | "conversationLink"
    )
}

/// Elements of the standard that are not executed, with the reason.
pub(super) fn refusal(word: &str) -> Option<&'static str> {
    Some(match word {
        "callActivity" => "call activities are not executed yet",
        "adHocSubProcess" => "ad-hoc sub-processes are not executed yet",
        "transaction" => "transactions are not executed yet",
        "complexGateway" => "complex gateways are not executed yet",
        "event" | "implicitThrowEvent" => "this event cannot stand in an executable process",
        "choreographyTask" | "subChoreography" | "callChoreography" => {
            "a choreography activity cannot stand in an executable process"
        }
        _ => return None,
    })
}
