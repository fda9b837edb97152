//! The elements of BPMN 2.0.2 as a type, derived once from their names, and how tokens pass each of them.

use crate::model::{Edge, Node};
use crate::xml::names::{Ns, kind_named, ns, row};

/// Class of an element by its place in the definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// A task or call activity.
    Activity,
    /// An activity with content of its own.
    SubProcess,
    /// A gateway.
    Gateway,
    /// A start event or another catching event.
    CatchEvent,
    /// An end event or another throwing event.
    ThrowEvent,
    /// A sequence flow.
    SequenceFlow,
    /// A data object or a reference to one.
    DataObject,
    /// A data store reference.
    DataStoreReference,
    /// A text annotation, a group or an association.
    Artifact,
    /// An event definition.
    EventDefinition,
    /// A resource role.
    ResourceRole,
    /// Loop characteristics.
    LoopCharacteristics,
    /// A conversation node.
    Conversation,
    /// A choreography activity.
    ChoreographyActivity,
    /// An element that stands below `definitions` only.
    Root,
    /// An element of diagram interchange.
    Diagram,
    /// A part of other elements.
    Part,
}

impl Group {
    /// Whether elements of the group are nodes of a process.
    pub fn is_flow_node(self) -> bool {
        matches!(
            self,
            Self::Activity | Self::SubProcess | Self::Gateway | Self::CatchEvent | Self::ThrowEvent
        )
    }
}

/// One element of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementRow {
    /// Local name.
    pub name: &'static str,
    /// Kind of the element.
    pub kind: ElementKind,
    /// Class of its place in the definition.
    pub group: Group,
    ns: Ns,
    clause: &'static str,
}

impl ElementRow {
    /// The namespace.
    pub(crate) const fn ns(&self) -> Ns {
        self.ns
    }

    /// The clause of BPMN 2.0.2 that defines it, where a source at hand names one.
    pub fn clause(&self) -> Option<&'static str> {
        (!self.clause.is_empty()).then_some(self.clause)
    }
}

/// Namespace, group, clause (empty where no source at hand names one), kinds with their names.
macro_rules! elements {
    ($($ns:ident $group:ident $clause:literal: $($kind:ident = $name:ident),+;)+) => {
        /// An element of the standard.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ElementKind {
            $($(#[doc = concat!("`", stringify!($name), "`.")] $kind,)+)+
        }

        impl ElementKind {
            /// Local name of the element.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($(Self::$kind => stringify!($name),)+)+ }
            }

            /// Place of the element in a definition.
            #[must_use]
            pub const fn group(self) -> Group {
                match self { $($(Self::$kind => Group::$group,)+)+ }
            }
        }

        /// The rows of all elements, in the order of the table.
        pub(crate) const ROWS: &[ElementRow] = &[$($(ElementRow {
            name: stringify!($name),
            kind: ElementKind::$kind,
            group: Group::$group,
            ns: ns::$ns,
            clause: $clause,
        },)+)+];
    };
}

elements! {
    MODEL Activity "10.3.3": Task = task;
    MODEL Activity "10.3.3.1": UserTask = userTask, ServiceTask = serviceTask, ScriptTask = scriptTask,
        BusinessRuleTask = businessRuleTask, SendTask = sendTask, ReceiveTask = receiveTask,
        ManualTask = manualTask;
    MODEL Activity "": CallActivity = callActivity;
    MODEL SubProcess "10.3.5": SubProcess = subProcess, AdHocSubProcess = adHocSubProcess,
        Transaction = transaction;
    MODEL Gateway "10.6.2": ExclusiveGateway = exclusiveGateway;
    MODEL Gateway "10.6.3": InclusiveGateway = inclusiveGateway;
    MODEL Gateway "10.6.4": ParallelGateway = parallelGateway;
    MODEL Gateway "10.6.5": ComplexGateway = complexGateway;
    MODEL Gateway "10.6.6": EventBasedGateway = eventBasedGateway;
    MODEL CatchEvent "10.5.2": StartEvent = startEvent;
    MODEL CatchEvent "10.5.4": IntermediateCatchEvent = intermediateCatchEvent,
        BoundaryEvent = boundaryEvent;
    MODEL ThrowEvent "10.5.3": EndEvent = endEvent;
    MODEL ThrowEvent "10.5.4": IntermediateThrowEvent = intermediateThrowEvent;
    MODEL ThrowEvent "": ImplicitThrowEvent = implicitThrowEvent;
    MODEL SequenceFlow "8.4.13": SequenceFlow = sequenceFlow;
    MODEL DataObject "10.4.1": DataObject = dataObject, DataObjectReference = dataObjectReference;
    MODEL DataStoreReference "10.4.1": DataStoreReference = dataStoreReference;
    MODEL Artifact "": Association = association, Group = group, TextAnnotation = textAnnotation;
    MODEL EventDefinition "10.5.5": CancelEventDefinition = cancelEventDefinition,
        CompensateEventDefinition = compensateEventDefinition,
        ConditionalEventDefinition = conditionalEventDefinition,
        ErrorEventDefinition = errorEventDefinition, EscalationEventDefinition = escalationEventDefinition,
        LinkEventDefinition = linkEventDefinition, TerminateEventDefinition = terminateEventDefinition;
    MODEL EventDefinition "10.5.5.3": MessageEventDefinition = messageEventDefinition;
    MODEL EventDefinition "10.5.5.5": SignalEventDefinition = signalEventDefinition;
    MODEL EventDefinition "10.5.5.6": TimerEventDefinition = timerEventDefinition;
    MODEL ResourceRole "10.3.1": ResourceRole = resourceRole, Performer = performer;
    MODEL ResourceRole "10.3.4.1": HumanPerformer = humanPerformer, PotentialOwner = potentialOwner;
    MODEL LoopCharacteristics "10.3.8": StandardLoopCharacteristics = standardLoopCharacteristics,
        MultiInstanceLoopCharacteristics = multiInstanceLoopCharacteristics;
    MODEL Conversation "9.5": Conversation = conversation, SubConversation = subConversation,
        CallConversation = callConversation;
    MODEL ChoreographyActivity "11": ChoreographyTask = choreographyTask, SubChoreography = subChoreography,
        CallChoreography = callChoreography;
    MODEL Root "": Category = category, Collaboration = collaboration, EndPoint = endPoint, Error = error,
        Escalation = escalation, GlobalBusinessRuleTask = globalBusinessRuleTask,
        GlobalConversation = globalConversation, GlobalManualTask = globalManualTask,
        GlobalScriptTask = globalScriptTask, GlobalTask = globalTask, GlobalUserTask = globalUserTask,
        Import = import, Message = message, PartnerEntity = partnerEntity, PartnerRole = partnerRole,
        Signal = signal, Extension = extension;
    MODEL Root "8.4.2": CorrelationProperty = correlationProperty;
    MODEL Root "8.4.10": ItemDefinition = itemDefinition;
    MODEL Root "8.4.12": Resource = resource;
    MODEL Root "8.5": Interface = interface;
    MODEL Root "10.2": Process = process;
    MODEL Root "10.4.1": DataStore = dataStore;
    MODEL Root "11": Choreography = choreography, GlobalChoreographyTask = globalChoreographyTask;
    MODEL Part "8.2.1": Definitions = definitions;
    MODEL Part "8.4.2": CorrelationKey = correlationKey,
        CorrelationPropertyBinding = correlationPropertyBinding,
        CorrelationPropertyRef = correlationPropertyRef,
        CorrelationPropertyRetrievalExpression = correlationPropertyRetrievalExpression,
        CorrelationSubscription = correlationSubscription, DataPath = dataPath, MessagePath = messagePath;
    MODEL Part "8.4.6": Expression = expression, FormalExpression = formalExpression;
    MODEL Part "8.4.12": ResourceParameter = resourceParameter;
    MODEL Part "8.4.13": ConditionExpression = conditionExpression;
    MODEL Part "8.5": ErrorRef = errorRef, InMessageRef = inMessageRef, Operation = operation,
        OutMessageRef = outMessageRef;
    MODEL Part "9.3": Participant = participant, ParticipantMultiplicity = participantMultiplicity;
    MODEL Part "9.4": MessageFlow = messageFlow;
    MODEL Part "9.5": MessageFlowRef = messageFlowRef;
    MODEL Part "9.5.6": ConversationLink = conversationLink;
    MODEL Part "10.3.1": ResourceAssignmentExpression = resourceAssignmentExpression,
        ResourceParameterBinding = resourceParameterBinding, ResourceRef = resourceRef;
    MODEL Part "10.3.8": ComplexBehaviorDefinition = complexBehaviorDefinition,
        InputDataItem = inputDataItem, LoopCardinality = loopCardinality, LoopCondition = loopCondition,
        LoopDataInputRef = loopDataInputRef, LoopDataOutputRef = loopDataOutputRef,
        OutputDataItem = outputDataItem;
    MODEL Part "10.4.1": DataInput = dataInput, DataInputRefs = dataInputRefs, DataOutput = dataOutput,
        DataOutputRefs = dataOutputRefs, DataState = dataState, InputSet = inputSet,
        InputSetRefs = inputSetRefs, IoSpecification = ioSpecification,
        OptionalInputRefs = optionalInputRefs, OptionalOutputRefs = optionalOutputRefs,
        OutputSet = outputSet, OutputSetRefs = outputSetRefs, Property = property,
        WhileExecutingInputRefs = whileExecutingInputRefs,
        WhileExecutingOutputRefs = whileExecutingOutputRefs;
    MODEL Part "10.4.2": Assignment = assignment, DataInputAssociation = dataInputAssociation,
        DataOutputAssociation = dataOutputAssociation, From = from, To = to,
        Transformation = transformation;
    MODEL Part "10.5.5.6": TimeCycle = timeCycle, TimeDate = timeDate, TimeDuration = timeDuration;
    MODEL Part "10.6.5": ActivationCondition = activationCondition;
    MODEL Part "": Auditing = auditing, CategoryValue = categoryValue, CategoryValueRef = categoryValueRef,
        ChildLaneSet = childLaneSet, ChoreographyRef = choreographyRef,
        CompletionCondition = completionCondition, Condition = condition,
        ConversationAssociation = conversationAssociation, Documentation = documentation,
        EndPointRef = endPointRef, Event = event, EventDefinitionRef = eventDefinitionRef,
        ExtensionElements = extensionElements, FlowNodeRef = flowNodeRef, Incoming = incoming,
        InnerConversationNodeRef = innerConversationNodeRef, InnerParticipantRef = innerParticipantRef,
        InnerMessageFlowRef = innerMessageFlowRef, InterfaceRef = interfaceRef, IoBinding = ioBinding,
        Lane = lane, LaneSet = laneSet, MessageFlowAssociation = messageFlowAssociation,
        Monitoring = monitoring, OperationRef = operationRef,
        OuterConversationNodeRef = outerConversationNodeRef, OuterMessageFlowRef = outerMessageFlowRef,
        OuterParticipantRef = outerParticipantRef, Outgoing = outgoing,
        ParticipantAssociation = participantAssociation, ParticipantRef = participantRef,
        PartitionElement = partitionElement, Relationship = relationship, Rendering = rendering,
        Script = script, Source = source, SourceRef = sourceRef,
        SupportedInterfaceRef = supportedInterfaceRef, Supports = supports, Target = target,
        TargetRef = targetRef, Text = text;
    BPMN_DI Diagram "12": BpmnDiagram = BPMNDiagram, BpmnEdge = BPMNEdge, BpmnLabel = BPMNLabel,
        BpmnLabelStyle = BPMNLabelStyle, BpmnPlane = BPMNPlane, BpmnShape = BPMNShape;
    DC Diagram "12": Bounds = Bounds, Font = Font;
    DI Diagram "12": Waypoint = waypoint;
}

/// Behaviour of a token that arrives at an element (clause 13.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Joining {
    /// Each token goes on by itself.
    Pass,
    /// A token of every incoming flow is waited for.
    All,
    /// The tokens that can still arrive are waited for.
    Inclusive,
    /// An expression over the incoming flows decides.
    Complex,
}

/// Rule by which outgoing flows of an element take a token (clauses 8.4.13 and 13.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Splitting {
    /// Every flow that holds, straight out of an element that is no gateway.
    Direct,
    /// Every flow that holds.
    Every,
    /// The first flow that holds.
    First,
    /// All flows, whatever their conditions.
    All,
    /// The flow of the event that occurs first.
    Events,
    /// Every flow that holds, in each of the two phases of a complex gateway.
    Complex,
}

impl ElementKind {
    /// The element of the model namespace with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        row(kind_named(name)).filter(|row| row.ns == ns::MODEL).map(|row| row.kind)
    }

    /// Rules for arriving and leaving tokens.
    #[must_use]
    pub const fn token_rules(self) -> (Joining, Splitting) {
        match self {
            Self::ExclusiveGateway => (Joining::Pass, Splitting::First),
            Self::ParallelGateway => (Joining::All, Splitting::All),
            Self::InclusiveGateway => (Joining::Inclusive, Splitting::Every),
            Self::ComplexGateway => (Joining::Complex, Splitting::Complex),
            Self::EventBasedGateway => (Joining::Pass, Splitting::Events),
            _ => (Joining::Pass, Splitting::Direct),
        }
    }

    /// Whether it is a gateway.
    #[must_use]
    pub const fn is_gateway(self) -> bool {
        matches!(self.group(), Group::Gateway)
    }

    /// Whether it is an event.
    #[must_use]
    pub const fn is_event(self) -> bool {
        matches!(self.group(), Group::CatchEvent | Group::ThrowEvent)
    }

    /// Whether it is an activity: a task, a call activity or a sub-process of any form.
    #[must_use]
    pub const fn is_activity(self) -> bool {
        matches!(self.group(), Group::Activity | Group::SubProcess)
    }

    /// Whether it is a choreography activity.
    #[must_use]
    pub const fn is_choreography(self) -> bool {
        matches!(self.group(), Group::ChoreographyActivity)
    }

    /// Whether it stands beside the flow and is never executed.
    #[must_use]
    pub const fn is_beside_the_flow(self) -> bool {
        matches!(
            self,
            Self::DataObject
                | Self::DataObjectReference
                | Self::DataStoreReference
                | Self::DataStore
                | Self::DataInput
                | Self::DataOutput
                | Self::TextAnnotation
                | Self::Group
                | Self::Lane
        )
    }

    /// Whether it connects two elements without carrying tokens.
    #[must_use]
    pub const fn is_no_flow(self) -> bool {
        matches!(
            self,
            Self::Association
                | Self::MessageFlow
                | Self::DataInputAssociation
                | Self::DataOutputAssociation
                | Self::ConversationLink
        )
    }
}

/// Kinds of node that are an editor's own and stand beside the flow.
const NOTES: &[&str] = &["note"];
/// Kinds of edge that are an editor's own and carry no token.
const LINKS: &[&str] = &["dataAssociation"];

impl Node {
    /// The BPMN element; none for an editor's own kind and for a node without a type.
    #[must_use]
    pub fn kind(&self) -> Option<ElementKind> {
        self.element_type().and_then(ElementKind::named)
    }

    /// Whether the node is this element.
    #[must_use]
    pub fn is(&self, kind: ElementKind) -> bool {
        self.kind() == Some(kind)
    }

    /// Rules for arriving and leaving tokens; at an editor's own kind they pass.
    #[must_use]
    pub fn token_rules(&self) -> (Joining, Splitting) {
        self.kind().map_or((Joining::Pass, Splitting::Direct), ElementKind::token_rules)
    }

    /// Whether the node stands beside the flow and is never executed.
    #[must_use]
    pub fn is_beside_the_flow(&self) -> bool {
        match self.kind() {
            Some(kind) => kind.is_beside_the_flow(),
            None => self.element_type().is_some_and(|word| NOTES.contains(&word)),
        }
    }
}

impl Edge {
    /// The BPMN element; none for an editor's own kind.
    #[must_use]
    pub fn kind(&self) -> Option<ElementKind> {
        ElementKind::named(self.element_type())
    }

    /// Whether the edge carries no token.
    #[must_use]
    pub fn is_no_flow(&self) -> bool {
        match self.kind() {
            Some(kind) => kind.is_no_flow(),
            None => LINKS.contains(&self.element_type()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_row_and_its_name() {
        for row in ROWS {
            assert_eq!((row.kind.name(), row.kind.group()), (row.name, row.group));
            let named = ElementKind::named(row.name);
            assert_eq!(named, (row.ns == ns::MODEL).then_some(row.kind), "{}", row.name);
        }
        assert_eq!(ElementKind::named("teleport"), None);
    }

    #[test]
    fn only_gateways_hold_tokens_back_or_choose() {
        for row in ROWS {
            let plain = row.kind.token_rules() == (Joining::Pass, Splitting::Direct);
            assert_eq!(plain, !row.kind.is_gateway(), "{}", row.name);
        }
    }
}
