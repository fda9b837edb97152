//! The flow node elements of BPMN 2.0.2.

use heddle_bpmn::element::ElementKind;
use serde::{Deserialize, Serialize};

macro_rules! elements {
    ($($(#[$doc:meta])* $name:ident = $word:literal),+ $(,)?) => {
        /// A flow node element that can be executed; its JSON is the element's name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Element {
            $($(#[$doc])* #[serde(rename = $word)] $name,)+
        }

        impl Element {
            /// The element of the standard.
            #[must_use]
            pub const fn kind(self) -> ElementKind {
                match self { $(Self::$name => ElementKind::$name,)+ }
            }

            /// The element as one that can be executed.
            #[must_use]
            pub const fn of(kind: ElementKind) -> Option<Self> {
                match kind { $(ElementKind::$name => Some(Self::$name),)+ _ => None }
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
    /// Clause 10.3.5.
    Transaction = "transaction",
    /// Clause 10.3.5.
    AdHocSubProcess = "adHocSubProcess",
    /// Clause 10.3.6.
    CallActivity = "callActivity",
    /// Clause 10.6.2.
    ExclusiveGateway = "exclusiveGateway",
    /// Clause 10.6.3.
    InclusiveGateway = "inclusiveGateway",
    /// Clause 10.6.4.
    ParallelGateway = "parallelGateway",
    /// Clause 10.6.5.
    ComplexGateway = "complexGateway",
    /// Clause 10.6.6.
    EventBasedGateway = "eventBasedGateway",
}

impl Element {
    /// The element's name in BPMN 2.0.2.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.kind().name()
    }

    /// Whether it is an activity: a task or a sub-process.
    #[must_use]
    pub const fn is_activity(self) -> bool {
        self.kind().is_activity()
    }

    /// Whether it has a content of its own: a sub-process of any form.
    #[must_use]
    pub const fn is_sub_process(self) -> bool {
        matches!(self, Self::SubProcess | Self::Transaction | Self::AdHocSubProcess)
    }
}

/// Reason for not executing an element of the standard; none for one that is executed or is no flow node.
pub(super) const fn refusal(kind: ElementKind) -> Option<&'static str> {
    Some(match kind {
        ElementKind::Event | ElementKind::ImplicitThrowEvent => {
            "this event cannot stand in an executable process"
        }
        ElementKind::ChoreographyTask | ElementKind::SubChoreography | ElementKind::CallChoreography => {
            "a choreography activity cannot stand in an executable process"
        }
        _ => return None,
    })
}
