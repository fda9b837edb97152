//! The catalogue of constraints: names, profiles and texts.
//!
//! `EXT` rules are constraints that the standard states in prose, `REF` rules are references that must lead to an element
//! of the right kind.

/// From which profile on a rule binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum RuleProfile {
    /// Binds on every model.
    Descriptive,
    /// Binds on every model that uses the elements of the analytic sub-class.
    Analytic,
    /// Binds on choreographies and conversations, and on how a model is written down: real models that lack it are read
    /// and executed all the same.
    Full,
    /// Binds on what claims to be of the Common Executable sub-class.
    CommonExecutable,
}

/// A constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Its name in the catalogue, such as `EXT096`.
    pub rule: &'static str,
    /// The code of findings about it.
    pub code: &'static str,
    /// From which profile on it binds.
    pub profile: RuleProfile,
    /// What must hold.
    pub constraint: &'static str,
}

/// Rules whose breach leaves no doubt about what a run does, so that publishing does not refuse it: real models leave out
/// start and end events, have gateways with one way in and out, or events that lead nowhere.
const HARMLESS: &[&str] = &[
    "EXT010", "EXT014", "EXT019", "EXT023", "EXT029", "EXT030", "EXT039", "EXT060", "EXT076", "EXT079",
    "EXT084", "EXT088", "EXT091", "EXT092", "EXT097", "EXT101", "EXT105", "EXT107", "EXT113", "EXT115",
    "EXT116", "EXT135", "EXT136", "EXT150", "EXT151", "REF002", "REF006", "REF015", "REF016", "REF024",
    "REF025", "REF027",
];

impl Rule {
    /// Whether the name is that of the published catalogue. Its references end at `REF017`; those beyond are named
    /// here only, and findings about them carry no name.
    #[must_use]
    pub fn is_published(&self) -> bool {
        !self.rule.starts_with("REF") || self.rule <= "REF017"
    }

    /// Whether a definition that breaks the rule can't be published.
    #[must_use]
    pub fn refuses_publication(&self) -> bool {
        self.profile <= RuleProfile::Analytic && !HARMLESS.contains(&self.rule)
    }
}

const fn rule(
    rule: &'static str,
    code: &'static str,
    profile: RuleProfile,
    constraint: &'static str,
) -> Rule {
    Rule { rule, code, profile, constraint }
}

use RuleProfile::{Analytic, CommonExecutable, Descriptive, Full};

/// By name.
pub(super) const RULES: &[Rule] = &[
    rule("EXT002", "duplicateId", Descriptive, "The id of an element must be unique within the definitions."),
    rule("EXT006", "artifactInFlow", Descriptive, "An Artifact MUST NOT be a target for a Sequence Flow."),
    rule("EXT007", "artifactInFlow", Descriptive, "An Artifact MUST NOT be a source for a Sequence Flow."),
    rule("EXT008", "artifactInFlow", Descriptive, "An Artifact MUST NOT be a target for a Message Flow."),
    rule("EXT009", "artifactInFlow", Descriptive, "An Artifact MUST NOT be a source for a Message Flow."),
    rule("EXT010", "textFormat", Descriptive, "The textFormat of a Text Annotation must be a media type."),
    rule(
        "EXT011",
        "escalationWithoutCode",
        CommonExecutable,
        "An escalationCode must be present if the escalation is used in an EndEvent or in an intermediate throw Event if the trigger is an Escalation.",
    ),
    rule(
        "EXT012",
        "informalExpression",
        CommonExecutable,
        "If natural-language expressions are used the process is not executable. A FormalExpression has to be provided or the process must be marked as isExecutable='false'.",
    ),
    rule(
        "EXT013",
        "emptyExpression",
        CommonExecutable,
        "According to constraint CARD.064 (see Sec. 3.1) body is a mandatory attribute of a FormalExpression. Therefore the element must contain any Expression as a string content.",
    ),
    rule("EXT014", "languageNotUri", Descriptive, "The language of an expression must be a URI."),
    rule(
        "EXT017",
        "gatewayDirection",
        CommonExecutable,
        "A converging Gateway must not have more than one outgoing Sequence Flow.",
    ),
    rule(
        "EXT018",
        "gatewayDirection",
        CommonExecutable,
        "A diverging Gateway must not have more than one incoming Sequence Flow.",
    ),
    rule(
        "EXT019",
        "gatewayDirection",
        Descriptive,
        "A Gateway with the direction Mixed must have several incoming and several outgoing Sequence Flows.",
    ),
    rule(
        "EXT020",
        "collectionMismatch",
        CommonExecutable,
        "The attribute isCollection must match the definition of the referenced itemDefinition.",
    ),
    rule(
        "EXT021",
        "wrongFlowSource",
        Descriptive,
        "For a Process: Of the types of FlowNode, only Activities, Gateways, and Events can be the source. However, Activities that are Event SubProcesses are not allowed to be a source.",
    ),
    rule(
        "EXT022",
        "wrongFlowTarget",
        Descriptive,
        "For a Process: Of the types of FlowNode, only Activities, Gateways, and Events can be the target. However, Activities that are Event SubProcesses are not allowed to be a target.",
    ),
    rule(
        "EXT023",
        "flowNotListed",
        Descriptive,
        "The target element of the sequence flow must reference the SequenceFlow definition using their incoming attribute.",
    ),
    rule(
        "EXT024",
        "notImmediate",
        CommonExecutable,
        "The optional attribute isImmediate must not be 'false' for executable processes.",
    ),
    rule(
        "EXT026",
        "defaultFlowNotOutgoing",
        Descriptive,
        "If an activity or gateway references a sequenceFlow as default flow - the referenced sequence flow must reference the activity/the gateway as sourceRef.",
    ),
    rule(
        "EXT027",
        "choreographyReference",
        Full,
        "A choreography or a GlobalConversation must not reference a choreography.",
    ),
    rule("EXT028", "flowCrossesBorder", Descriptive, "A Sequence Flow must not cross the border of a Pool."),
    rule(
        "EXT029",
        "multiplicity",
        Descriptive,
        "The minimum of a Participant Multiplicity must not be negative.",
    ),
    rule(
        "EXT030",
        "multiplicity",
        Descriptive,
        "The maximum of a Participant Multiplicity must be at least one and not less than the minimum.",
    ),
    rule(
        "EXT031",
        "messageFlowWithinPool",
        Descriptive,
        "A message flow must connect 'InteractionNodes' from different Pools.",
    ),
    rule(
        "EXT032",
        "globalConversationContent",
        Full,
        "A globalConversation must not contain any ConversationNodes, participantAssociations, messageFlowAssociations, conversationAssociations or artifacts.",
    ),
    rule(
        "EXT033",
        "closedMismatch",
        Full,
        "If a collaboration references a Choreography the value of the attribute isClosed must be equal for both elements.",
    ),
    rule("EXT035", "publicExecutable", CommonExecutable, "A Public process may not be marked as executable."),
    rule(
        "EXT036",
        "choreographyInProcess",
        Descriptive,
        "A Process must not contain Choreography Activities.",
    ),
    rule("EXT037", "quantity", Descriptive, "The startQuantity of an Activity must not be less than 1."),
    rule("EXT038", "quantity", Descriptive, "The completionQuantity of an Activity must not be less than 1."),
    rule(
        "EXT039",
        "resourceTwice",
        Descriptive,
        "A Resource Role must not have both a resourceRef and a resourceAssignmentExpression.",
    ),
    rule(
        "EXT041",
        "loopTwice",
        Analytic,
        "A Task must not have both a standard loop and a multi-instance marker.",
    ),
    rule(
        "EXT042",
        "inputSetCount",
        CommonExecutable,
        "If a ServiceTask references an operation, exactly one InputSet must be defined in the ioSpecification.",
    ),
    rule(
        "EXT043",
        "outputSetCount",
        CommonExecutable,
        "If a ServiceTask references an operation, at most one OutputSet can be defined in the ioSpecification.",
    ),
    rule(
        "EXT044",
        "itemMismatch",
        CommonExecutable,
        "The ItemDefinition of the DataInput of the ServiceTask and the inMessage itemDefinition of the referenced Operation must be equal.",
    ),
    rule(
        "EXT045",
        "itemMismatch",
        CommonExecutable,
        "If the operation defines a outMessage, the ItemDefinition of the DataOutput of the ServiceTask and the outMessage of the operation must be equal.",
    ),
    rule(
        "EXT046",
        "inputSetCount",
        CommonExecutable,
        "If a SendTask references a message, at most one InputSet must be defined in the ioSpecification.",
    ),
    rule(
        "EXT047",
        "dataInputCount",
        CommonExecutable,
        "If a SendTask references a message, at most one DataInput must be defined in the ioSpecification.",
    ),
    rule(
        "EXT048",
        "itemMismatch",
        CommonExecutable,
        "An Item must be referenced which must be declared in referenced Message definition.",
    ),
    rule(
        "EXT049",
        "instantiateWithIncoming",
        CommonExecutable,
        "A ReceiveTask with attribute instantiate set to true must not have any incoming sequence flow.",
    ),
    rule(
        "EXT050",
        "outputSetCount",
        CommonExecutable,
        "If a ReceiveTask references a message, at most one OutputSet must be defined in the ioSpecification.",
    ),
    rule(
        "EXT051",
        "dataOutputCount",
        CommonExecutable,
        "If a ReceiveTask references a message, at most one DataOutput must be defined in the ioSpecification.",
    ),
    rule(
        "EXT052",
        "itemMismatch",
        CommonExecutable,
        "An Item must be referenced which must be declared in referenced Message definition.",
    ),
    rule(
        "EXT053",
        "scriptWithoutFormat",
        CommonExecutable,
        "If a script is present the script type must be defined.",
    ),
    rule(
        "EXT054",
        "loopTwice",
        Analytic,
        "A Sub-Process must not have both a standard loop and a multi-instance marker.",
    ),
    rule(
        "EXT056",
        "choreographyInProcess",
        Descriptive,
        "A SubProcess must not contain Choreography Activities.",
    ),
    rule(
        "EXT057",
        "eventSubProcessInFlow",
        Analytic,
        "An Event Sub-Process MUST NOT have any incoming or outgoing Sequence Flows.",
    ),
    rule(
        "EXT058",
        "eventSubProcessStart",
        Analytic,
        "An Event Sub-Process MUST have exactly one Start Event.",
    ),
    rule(
        "EXT059",
        "eventSubProcessTrigger",
        Analytic,
        "An Event Sub-Process MUST define at least one of the following EventDefinitions: messageEventDefinition, errorEventDefinition, escalationEventDefinition, compensationEventDefinition, conditionalEventDefinition, signalEventDefinition. A linkEventDefinition is not allowed for Event Sub-Processes.",
    ),
    rule("EXT060", "transactionMethod", Analytic, "The method of a Transaction must be a URI."),
    rule("EXT061", "adHocEmpty", Analytic, "An Ad-Hoc Sub-Process must contain at least one Activity."),
    rule(
        "EXT062",
        "adHocContent",
        Analytic,
        "Start Event, End Event, Conversations, Conversation Links and Choreography Activities MUST NOT be used in an AdHocSubProcess.",
    ),
    rule(
        "EXT063",
        "callMismatch",
        CommonExecutable,
        "A Call Activity MUST fulfill the data requirements, as well as return the data produced by the CallableElement being invoked. This means that the elements contained in the Call Activity's InputOutputSpecification MUST exactly match the elements contained in the referenced CallableElement. This includes DataInputs, DataOutputs, InputSets, and OutputSets.",
    ),
    rule(
        "EXT064",
        "bindingMissing",
        CommonExecutable,
        "A Callable Element that supports an Interface must bind its inputs and outputs to the Operations of it.",
    ),
    rule(
        "EXT065",
        "bindingWrong",
        CommonExecutable,
        "An InputOutputBinding element must correctly bind one Input and one Output of the InputOutputSpecification to an Operation of a Service Interface.",
    ),
    rule(
        "EXT067",
        "multiInstanceBound",
        CommonExecutable,
        "If a multiInstance marker is used in an executable process either a loopCardinality or a loopDataInputRef must be present.",
    ),
    rule(
        "EXT068",
        "multiInstanceInput",
        CommonExecutable,
        "If a multiInstance task is used in an executable process loopDataInputReference must be resolvable to a DataInput defined in the InputOutputSpecification of the Task.",
    ),
    rule(
        "EXT069",
        "multiInstanceItem",
        CommonExecutable,
        "Type of DataOutput must be the scalar of the loopDataOutput type.",
    ),
    rule(
        "EXT070",
        "multiInstanceItem",
        CommonExecutable,
        "Type of DataInput must be the scalar of the loopDataInput type.",
    ),
    rule(
        "EXT071",
        "notACondition",
        Analytic,
        "The completionCondition of a multi-instance Activity must be a condition.",
    ),
    rule(
        "EXT072",
        "notACondition",
        Analytic,
        "The condition of a complex behaviour definition must be a condition.",
    ),
    rule(
        "EXT076",
        "dataReferenceName",
        Descriptive,
        "Naming Convention: name = Data Object Name [Data Object Reference State].",
    ),
    rule(
        "EXT079",
        "specificationInSubProcess",
        Descriptive,
        "InputOutputSpecifications are not allowed in SubProcesses.",
    ),
    rule(
        "EXT080",
        "dataInputTarget",
        Full,
        "A Data Input of a Process must not be the target of a Data Association.",
    ),
    rule(
        "EXT081",
        "collectionMismatch",
        CommonExecutable,
        "The attribute isCollection of a Data Input must match that of its Item Definition.",
    ),
    rule(
        "EXT082",
        "dataOutputSource",
        Full,
        "A Data Output of a Process must not be the source of a Data Association.",
    ),
    rule(
        "EXT083",
        "collectionMismatch",
        CommonExecutable,
        "The attribute isCollection of a Data Output must match that of its Item Definition.",
    ),
    rule(
        "EXT084",
        "dataInputUnlisted",
        Descriptive,
        "A DataInput must be referenced by at least one InputSet.",
    ),
    rule("EXT085", "inputSetMember", CommonExecutable, "An optionalInputRef must be listed as dataInputRef."),
    rule(
        "EXT086",
        "inputSetMember",
        CommonExecutable,
        "A whileExecutingInputRef must be listed as dataInputRef.",
    ),
    rule(
        "EXT088",
        "dataOutputUnlisted",
        Descriptive,
        "A DataOutput must be referenced by at least one OutputSet.",
    ),
    rule(
        "EXT089",
        "outputSetMember",
        CommonExecutable,
        "An optionalOutputRef must be listed as dataOutputRef.",
    ),
    rule(
        "EXT090",
        "outputSetMember",
        CommonExecutable,
        "A whileExecutingOutputRef must be listed as dataOutputRef.",
    ),
    rule(
        "EXT091",
        "itemMismatch",
        Analytic,
        "SourceRef and targetRef of a DataAssociation must have the same ItemDefinition or a transformation must be present.",
    ),
    rule(
        "EXT092",
        "severalSources",
        Analytic,
        "If a DataAssociation does not define a Transformation, only a single sourceRef is allowed.",
    ),
    rule(
        "EXT093",
        "eventDataMissing",
        CommonExecutable,
        "If dataInputs are used in an intermediateThrowEvent for each eventDefinition a DataInput must be defined.",
    ),
    rule(
        "EXT094",
        "itemMismatch",
        CommonExecutable,
        "The itemDefinition for each eventDefinition must be equivalent to the itemDefinition of the corresponding dataInput/dataOutput.",
    ),
    rule(
        "EXT095",
        "definitionShared",
        Descriptive,
        "EventDefinitions defined in a throw event are not allowed to be used somewhere else.",
    ),
    rule(
        "EXT096",
        "startEventIncoming",
        Descriptive,
        "A Start Event must not have an incoming sequence flow.",
    ),
    rule(
        "EXT097",
        "startEventMissing",
        Descriptive,
        "A Start event (or an instantiating ReceiveTask) must be present when an End event is used in the same process level.",
    ),
    rule(
        "EXT098",
        "startEventTrigger",
        Descriptive,
        "Only messageEventDefininitions, timerEventDefinitions, conditionalEventDefinitions and signalEventDefinitions are allowed for top-level process start events.",
    ),
    rule(
        "EXT099",
        "calledWithoutStart",
        Descriptive,
        "Referenced process must have at least one None Start Event.",
    ),
    rule(
        "EXT100",
        "startEventTrigger",
        Descriptive,
        "No EventDefinition is allowed for Start Events in Sub-Process definitions.",
    ),
    rule("EXT101", "startEventOutgoing", Descriptive, "A startEvent must have a outgoing subelement."),
    rule("EXT102", "startEventSends", Descriptive, "A Start Event MUST NOT be a source for a message flow."),
    rule(
        "EXT103",
        "startEventMessage",
        Descriptive,
        "If a Start Event is target of a MessageFlow definition, at least one messageEventDefinition must be present.",
    ),
    rule("EXT104", "endEventOutgoing", Descriptive, "An End Event must not have an outgoing sequence flow."),
    rule(
        "EXT105",
        "endEventMissing",
        Descriptive,
        "An end event must be present when a start event is used in the same process level.",
    ),
    rule(
        "EXT106",
        "cancelOutsideTransaction",
        Descriptive,
        "A cancel EndEvent is only allowed in a transaction sub-process.",
    ),
    rule(
        "EXT107",
        "endEventIncomingMissing",
        Descriptive,
        "An End Event MUST have at least one incoming Sequence Flow.",
    ),
    rule("EXT108", "endEventReceives", Descriptive, "An End Event MUST NOT be a target for a message flow."),
    rule(
        "EXT109",
        "endEventMessage",
        Descriptive,
        "If an end event is source of a MessageFlow definition, at least one messageEventDefinition must be present.",
    ),
    rule(
        "EXT110",
        "boundaryEventTrigger",
        Analytic,
        "A boundary event must have event definitions that may stand at a boundary; one that does not cancel its activity has no error, cancel or compensation event definition.",
    ),
    rule(
        "EXT111",
        "cancelOutsideTransaction",
        Analytic,
        "A cancel boundary event must be attached to a Transaction.",
    ),
    rule(
        "EXT112",
        "boundaryEventIncoming",
        Analytic,
        "A boundary event must not be target of a Sequence Flow.",
    ),
    rule(
        "EXT113",
        "boundaryEventOutgoingMissing",
        Analytic,
        "A boundary event must be a source of at least a SequenceFlow.",
    ),
    rule(
        "EXT114",
        "compensationOutgoing",
        Analytic,
        "A compensation boundary event MUST NOT have an outgoing Sequence Flow.",
    ),
    rule(
        "EXT115",
        "eventIncomingMissing",
        Analytic,
        "Intermediate Events MUST be a target of at least a Sequence Flow.",
    ),
    rule(
        "EXT116",
        "eventOutgoingMissing",
        Analytic,
        "Intermediate Events MUST be a source of at least a Sequence Flow.",
    ),
    rule(
        "EXT117",
        "linkInFlow",
        Analytic,
        "A Link Intermediate Event MUST NOT be both a target and a source of a Sequence Flow.",
    ),
    rule(
        "EXT118",
        "linkTargetMissing",
        Analytic,
        "For each source Link there must exist a corresponding target. There may be multiple sources for one target.",
    ),
    rule(
        "EXT119",
        "throwEventReceives",
        Analytic,
        "An intermediateThrowEvent must not be a target of a messageFlow.",
    ),
    rule("EXT120", "cancelOutsideTransaction", Analytic, "A cancel event must be attached to a Transaction."),
    rule(
        "EXT122",
        "catchCompensation",
        Analytic,
        "A intermediateCatchEvent in normal flow must not contain a compensateEventDefinition.",
    ),
    rule(
        "EXT123",
        "conditionMissing",
        Analytic,
        "For executable Processes (isExecutable = true), if the trigger is Conditional, then a FormalExpression MUST be entered.",
    ),
    rule("EXT124", "linkSourceMissing", Analytic, "For each target Link there must exist a source Link."),
    rule(
        "EXT125",
        "linkTargetCount",
        Analytic,
        "A LinkEventDefinition in a Throw Event must have exactly one target Element.",
    ),
    rule(
        "EXT126",
        "linkLevel",
        Analytic,
        "Links are only allowed to a target in the same process and process level.",
    ),
    rule(
        "EXT127",
        "messageMissing",
        CommonExecutable,
        "A messageRef must be present if the process should be executable.",
    ),
    rule(
        "EXT128",
        "operationMissing",
        CommonExecutable,
        "An operationRef must be present if the process should be executable.",
    ),
    rule(
        "EXT129",
        "eventSubProcessTrigger",
        Analytic,
        "The Start Event of an Event Sub-Process must have an event definition.",
    ),
    rule("EXT130", "boundaryEventTrigger", Analytic, "A boundary event must have an event definition."),
    rule("EXT132", "timerSyntax", Analytic, "A timeDate must be a date and time of ISO 8601."),
    rule("EXT133", "timerSyntax", Analytic, "A timeCycle must be a recurrence of ISO 8601."),
    rule("EXT134", "timerSyntax", Analytic, "A timeDuration must be a duration of ISO 8601."),
    rule(
        "EXT135",
        "gatewayUseless",
        Descriptive,
        "A Gateway must have several incoming or several outgoing Sequence Flows.",
    ),
    rule(
        "EXT136",
        "eventGatewayBranches",
        Analytic,
        "An Event-Based Gateway must have at least two outgoing Sequence Flows.",
    ),
    rule(
        "EXT137",
        "eventGatewayCondition",
        Analytic,
        "The outgoing Sequence Flows of the Event Gateway MUST NOT have a conditionExpression.",
    ),
    rule(
        "EXT138",
        "eventGatewayTarget",
        Analytic,
        "An eventBasedGateway may only be connected to a ReceiveTask or one of the following intermediate Events: Message, Signal, Timer, Conditional, and Multiple (which can only include the previous triggers).",
    ),
    rule(
        "EXT139",
        "eventGatewayMixed",
        Analytic,
        "If Message Intermediate Events are used in the configuration, then Receive Tasks MUST NOT be used in that configuration and vice versa.",
    ),
    rule(
        "EXT140",
        "eventGatewayBoundary",
        Analytic,
        "Receive Tasks used in an Event Gateway configuration MUST NOT have any attached Intermediate Events.",
    ),
    rule(
        "EXT141",
        "eventGatewayTargetShared",
        Analytic,
        "Targets of an EventBasedGateway must not have any other incoming SequenceFlow.",
    ),
    rule(
        "EXT142",
        "eventGatewayInstantiates",
        Analytic,
        "When an EventBasedGateway is used to instantiate a process instance no Incoming Sequence Flow is allowed.",
    ),
    rule(
        "EXT143",
        "compensationHandlerMissing",
        Analytic,
        "A compensateBoundaryEvent must be connected with an Association to a Compensation Activity.",
    ),
    rule(
        "EXT144",
        "compensationHandlerUnmarked",
        Analytic,
        "The associated Activity must be a Task or a Sub-Process which is marked for compensation (i.e., isForCompensation=true).",
    ),
    rule(
        "EXT146",
        "endEventResult",
        Descriptive,
        "Only messageEventDefininitions, escalationEventDefinitions, errorEventDefinitions, cancelEventDefinitions, compensationEventDefinitions, signalEventDefinitions and terminateEventDefinitions are allowed for end events.",
    ),
    rule(
        "EXT148",
        "catchEventTrigger",
        Analytic,
        "Only messageEventDefinitions, timerEventDefinitions, conditionalEventDefinitions, linkEventDefinitions and signalEventDefinitions are allowed for intermediate catch events.",
    ),
    rule(
        "EXT149",
        "throwEventResult",
        Analytic,
        "Only messageEventDefinitions, escalationEventDefinitions, compensationEventDefinitions, linkEventDefinitions and signalEventDefinitions are allowed for intermediate throw events.",
    ),
    rule(
        "EXT150",
        "nodeIncomingMissing",
        Descriptive,
        "If a start event is used to initiate a process, all flow nodes must have an incoming sequence flow.",
    ),
    rule(
        "EXT151",
        "nodeOutgoingMissing",
        Descriptive,
        "If end events are used, all flow nodes must have an outgoing sequence flow.",
    ),
    rule(
        "EXT152",
        "flowCrossesBorder",
        Descriptive,
        "A Sequence Flow must not cross the border of a Sub-Process.",
    ),
    rule("REF001", "danglingReference", Descriptive, "A messageRef must name a message."),
    rule("REF002", "danglingReference", Descriptive, "An itemRef of a message must name an item definition."),
    rule("REF003", "danglingReference", Descriptive, "A sequence flow must connect flow nodes."),
    rule("REF004", "danglingReference", Descriptive, "A default must name a sequence flow."),
    rule("REF005", "danglingReference", Descriptive, "An interfaceRef must name an interface."),
    rule("REF006", "danglingReference", Descriptive, "A partner must name a participant."),
    rule(
        "REF007",
        "danglingReference",
        Descriptive,
        "A message flow must connect participants, activities or events.",
    ),
    rule("REF008", "danglingReference", Descriptive, "An operationRef must name an operation."),
    rule("REF009", "danglingReference", Descriptive, "A dataInputRef must name a data input."),
    rule("REF010", "danglingReference", Descriptive, "A dataOutputRef must name a data output."),
    rule("REF011", "danglingReference", Descriptive, "A data association must connect data."),
    rule("REF012", "danglingReference", Descriptive, "An eventDefinitionRef must name an event definition."),
    rule("REF013", "danglingReference", Descriptive, "A boundary event must be attached to an activity."),
    rule("REF014", "danglingReference", Descriptive, "A link must name a link."),
    rule(
        "REF015",
        "danglingReference",
        Descriptive,
        "A definitionalCollaborationRef must name a collaboration.",
    ),
    rule(
        "REF016",
        "danglingReference",
        Descriptive,
        "A correlationPropertyRef must name a correlation property.",
    ),
    rule("REF017", "danglingReference", Descriptive, "An errorRef of an operation must name an error."),
    rule("REF018", "danglingReference", Descriptive, "A message of an operation must exist."),
    rule("REF019", "danglingReference", Descriptive, "A processRef must name a process."),
    rule("REF020", "danglingReference", Descriptive, "A signalRef must name a signal."),
    rule("REF021", "danglingReference", Descriptive, "An errorRef must name an error."),
    rule("REF022", "danglingReference", Descriptive, "An escalationRef must name an escalation."),
    rule("REF023", "danglingReference", Descriptive, "An activityRef must name an activity."),
    rule("REF024", "danglingReference", Descriptive, "A dataObjectRef must name a data object."),
    rule("REF025", "danglingReference", Descriptive, "A dataStoreRef must name a data store."),
    rule("REF026", "danglingReference", Descriptive, "A lane must hold flow nodes."),
    rule("REF027", "danglingReference", Descriptive, "A categoryValueRef must name a category value."),
    rule("REF028", "danglingReference", Descriptive, "A correlationKeyRef must name a correlation key."),
    rule(
        "REF029",
        "danglingReference",
        Descriptive,
        "A correlationPropertyRef must name a correlation property.",
    ),
    rule("REF030", "danglingReference", Descriptive, "An operationRef must name an operation."),
];
