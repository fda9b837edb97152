//! The features of BPMN 2.0.2, by conformance class, each with a model that uses it.
//!
//! The classes are those of clause 2; the lists those of Tables 2.1 to 2.3 and of clause 13.

use super::probe::Probe;

/// A conformance class that a feature belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum In {
    /// Table 2.1.
    Descriptive,
    /// Table 2.2, which holds Table 2.1.
    Analytic,
    /// None of the sub-classes.
    Full,
}

/// A feature.
#[derive(Debug, Clone, Copy)]
pub(super) struct Feature {
    /// Name of the feature: the element with what tells it from others of the element.
    pub name: &'static str,
    /// The element.
    pub element: &'static str,
    /// The smallest modelling class that holds it.
    pub class: In,
    /// Whether Table 2.3 (Common Executable) holds it.
    pub common: bool,
    /// A model that uses it.
    pub probe: Probe,
}

const fn feature(
    name: &'static str,
    element: &'static str,
    class: In,
    common: bool,
    probe: Probe,
) -> Feature {
    Feature { name, element, class, common, probe }
}

use In::{Analytic, Descriptive, Full};
use Probe::{Collaboration, Content, Model, Node};

/// Events stand in [`super::events`].
pub(super) const FEATURES: &[Feature] = &[
    feature("task", "task", Descriptive, false, Node(r#"<task id="n"/>"#)),
    feature("userTask", "userTask", Descriptive, true, Node(r#"<userTask id="n"/>"#)),
    feature(
        "serviceTask",
        "serviceTask",
        Descriptive,
        true,
        Node(r#"<serviceTask id="n" operationRef="o"/>"#),
    ),
    feature("sendTask", "sendTask", Analytic, false, Node(r#"<sendTask id="n" messageRef="m"/>"#)),
    feature("receiveTask", "receiveTask", Analytic, false, Node(r#"<receiveTask id="n" messageRef="m"/>"#)),
    feature(
        "receiveTask instantiate",
        "receiveTask",
        Full,
        false,
        Content(
            r#"<receiveTask id="n" messageRef="m" instantiate="true"/><sequenceFlow id="f" sourceRef="n" targetRef="e"/>
        <endEvent id="e"/>"#,
        ),
    ),
    feature(
        "scriptTask",
        "scriptTask",
        Full,
        false,
        Node(
            r#"<scriptTask id="n" scriptFormat="application/javascript"><script>x = 1</script></scriptTask>"#,
        ),
    ),
    feature(
        "scriptTask in FEEL",
        "scriptTask",
        Full,
        false,
        Node(r#"<scriptTask id="n" scriptFormat="feel"><script>1 + 1</script></scriptTask>"#),
    ),
    feature("businessRuleTask", "businessRuleTask", Full, false, Node(r#"<businessRuleTask id="n"/>"#)),
    feature("manualTask", "manualTask", Full, false, Node(r#"<manualTask id="n"/>"#)),
    feature(
        "callActivity",
        "callActivity",
        Descriptive,
        true,
        Node(r#"<callActivity id="n" calledElement="q"/>"#),
    ),
    feature(
        "callActivity of a global task",
        "callActivity",
        Full,
        false,
        Node(r#"<callActivity id="n" calledElement="globalUserTask"/>"#),
    ),
    feature(
        "standard loop",
        "standardLoopCharacteristics",
        Analytic,
        true,
        Node(
            r#"<task id="n"><standardLoopCharacteristics loopMaximum="2"><loopCondition>true</loopCondition>
        </standardLoopCharacteristics></task>"#,
        ),
    ),
    feature(
        "multi-instance",
        "multiInstanceLoopCharacteristics",
        Analytic,
        true,
        Node(
            r#"<task id="n"><multiInstanceLoopCharacteristics isSequential="true"><loopCardinality>2</loopCardinality>
        </multiInstanceLoopCharacteristics></task>"#,
        ),
    ),
    feature(
        "compensation handler",
        "association",
        Full,
        false,
        Content(
            r#"<startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="n"/><task id="n"/>
        <boundaryEvent id="b" attachedToRef="n"><compensateEventDefinition/></boundaryEvent>
        <task id="undo" isForCompensation="true"/>
        <association id="a" sourceRef="b" targetRef="undo" associationDirection="One"/>
        <sequenceFlow id="f2" sourceRef="n" targetRef="e"/><endEvent id="e"/>"#,
        ),
    ),
    feature(
        "startQuantity and completionQuantity",
        "task",
        Full,
        false,
        Node(r#"<task id="n" startQuantity="2" completionQuantity="2"/>"#),
    ),
    feature(
        "subProcess",
        "subProcess",
        Descriptive,
        true,
        Node(
            r#"<subProcess id="n"><startEvent id="is"/><sequenceFlow id="i1" sourceRef="is" targetRef="ie"/>
        <endEvent id="ie"/></subProcess>"#,
        ),
    ),
    feature(
        "event sub-process",
        "subProcess",
        Full,
        false,
        Content(
            r#"<startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="t"/><userTask id="t"/>
        <sequenceFlow id="f2" sourceRef="t" targetRef="e"/><endEvent id="e"/>
        <subProcess id="n" triggeredByEvent="true"><startEvent id="is"><messageEventDefinition messageRef="m"/>
        </startEvent><sequenceFlow id="i1" sourceRef="is" targetRef="ie"/><endEvent id="ie"/></subProcess>"#,
        ),
    ),
    feature(
        "transaction",
        "transaction",
        Full,
        false,
        Node(
            r#"<transaction id="n"><startEvent id="is"/><sequenceFlow id="i1" sourceRef="is" targetRef="ie"/>
        <endEvent id="ie"/></transaction>"#,
        ),
    ),
    feature(
        "adHocSubProcess",
        "adHocSubProcess",
        Full,
        false,
        Node(
            r#"<adHocSubProcess id="n"><task id="i"/><completionCondition>true</completionCondition>
        </adHocSubProcess>"#,
        ),
    ),
    feature(
        "exclusiveGateway",
        "exclusiveGateway",
        Descriptive,
        true,
        Content(
            r#"<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="n"/><exclusiveGateway id="n" default="f2"/>
        <sequenceFlow id="f1" sourceRef="n" targetRef="e1"><conditionExpression>true</conditionExpression></sequenceFlow>
        <sequenceFlow id="f2" sourceRef="n" targetRef="e2"/><endEvent id="e1"/><endEvent id="e2"/>"#,
        ),
    ),
    feature("parallelGateway", "parallelGateway", Descriptive, true, Node(r#"<parallelGateway id="n"/>"#)),
    feature("inclusiveGateway", "inclusiveGateway", Analytic, false, Node(r#"<inclusiveGateway id="n"/>"#)),
    feature(
        "complexGateway",
        "complexGateway",
        Full,
        false,
        Node(r#"<complexGateway id="n"><activationCondition>true</activationCondition></complexGateway>"#),
    ),
    feature(
        "eventBasedGateway",
        "eventBasedGateway",
        Analytic,
        true,
        Content(
            r#"<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="n"/><eventBasedGateway id="n"/>
        <sequenceFlow id="f1" sourceRef="n" targetRef="c"/><intermediateCatchEvent id="c">
        <messageEventDefinition messageRef="m"/></intermediateCatchEvent><sequenceFlow id="f2" sourceRef="c"
        targetRef="e"/><endEvent id="e"/>"#,
        ),
    ),
    feature(
        "eventBasedGateway instantiate",
        "eventBasedGateway",
        Full,
        false,
        Content(
            r#"<eventBasedGateway id="n" instantiate="true"/><sequenceFlow id="f1" sourceRef="n" targetRef="c"/>
        <intermediateCatchEvent id="c"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>
        <sequenceFlow id="f2" sourceRef="c" targetRef="e"/><endEvent id="e"/>"#,
        ),
    ),
    feature(
        "eventBasedGateway parallel",
        "eventBasedGateway",
        Full,
        false,
        Content(
            r#"<eventBasedGateway id="n" instantiate="true" eventGatewayType="Parallel"/>
        <sequenceFlow id="f1" sourceRef="n" targetRef="c"/><intermediateCatchEvent id="c">
        <messageEventDefinition messageRef="m"/></intermediateCatchEvent><sequenceFlow id="f2" sourceRef="c"
        targetRef="e"/><sequenceFlow id="f3" sourceRef="n" targetRef="c2"/><intermediateCatchEvent id="c2">
        <messageEventDefinition messageRef="m"/></intermediateCatchEvent><sequenceFlow id="f4" sourceRef="c2"
        targetRef="e"/><endEvent id="e"/>"#,
        ),
    ),
    feature("sequenceFlow", "sequenceFlow", Descriptive, true, Node(r#"<task id="n"/>"#)),
    feature(
        "sequenceFlow with condition",
        "sequenceFlow",
        Analytic,
        true,
        Content(
            r#"<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="n"/><task id="n"/>
        <sequenceFlow id="f1" sourceRef="n" targetRef="e"><conditionExpression>true</conditionExpression></sequenceFlow>
        <endEvent id="e"/>"#,
        ),
    ),
    feature(
        "default flow",
        "sequenceFlow",
        Analytic,
        true,
        Content(
            r#"<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="n"/><task id="n" default="f2"/>
        <sequenceFlow id="f1" sourceRef="n" targetRef="e"><conditionExpression>true</conditionExpression></sequenceFlow>
        <sequenceFlow id="f2" sourceRef="n" targetRef="e"/><endEvent id="e"/>"#,
        ),
    ),
    feature(
        "implicitThrowEvent",
        "implicitThrowEvent",
        Full,
        false,
        Node(r#"<implicitThrowEvent id="n"><signalEventDefinition signalRef="g"/></implicitThrowEvent>"#),
    ),
    feature(
        "laneSet",
        "laneSet",
        Descriptive,
        false,
        Model(
            r#"<process id="p"><laneSet id="ls"><lane id="l" name="l"><flowNodeRef>s</flowNodeRef></lane></laneSet>
        <startEvent id="s"/></process>"#,
        ),
    ),
    feature(
        "association",
        "association",
        Descriptive,
        false,
        Model(
            r#"<process id="p"><task id="t"/><textAnnotation id="a"><text>x</text></textAnnotation>
        <association id="n" sourceRef="t" targetRef="a"/></process>"#,
        ),
    ),
    feature(
        "textAnnotation",
        "textAnnotation",
        Descriptive,
        true,
        Model(r#"<process id="p"><textAnnotation id="n"><text>x</text></textAnnotation></process>"#),
    ),
    feature(
        "group",
        "group",
        Descriptive,
        false,
        Model(
            r#"<category id="c"><categoryValue id="v" value="x"/></category>
        <process id="p"><group id="n" categoryValueRef="v"/></process>"#,
        ),
    ),
    feature(
        "documentation",
        "documentation",
        Descriptive,
        false,
        Model(r#"<process id="p"><documentation>x</documentation></process>"#),
    ),
    feature(
        "participant",
        "participant",
        Descriptive,
        false,
        Collaboration(r#"<participant id="n" name="x"/>"#),
    ),
    feature(
        "conversation",
        "conversation",
        Full,
        false,
        Collaboration(
            r#"<participant id="a"/><participant id="b"/><conversation id="n"><participantRef>a</participantRef>
        <participantRef>b</participantRef></conversation>"#,
        ),
    ),
    feature(
        "subConversation",
        "subConversation",
        Full,
        false,
        Collaboration(
            r#"<participant id="a"/><participant id="b"/><subConversation id="n"><participantRef>a</participantRef>
        <participantRef>b</participantRef></subConversation>"#,
        ),
    ),
    feature(
        "callConversation",
        "callConversation",
        Full,
        false,
        Collaboration(
            r#"<participant id="a"/><participant id="b"/><callConversation id="n"><participantRef>a</participantRef>
        <participantRef>b</participantRef></callConversation>"#,
        ),
    ),
    feature(
        "conversationLink",
        "conversationLink",
        Full,
        false,
        Collaboration(
            r#"<participant id="a"/><participant id="b"/><conversation id="c"><participantRef>a</participantRef>
        <participantRef>b</participantRef></conversation><conversationLink id="n" sourceRef="a" targetRef="c"/>"#,
        ),
    ),
    feature(
        "choreographyTask",
        "choreographyTask",
        Full,
        false,
        Model(
            r#"<choreography id="c"><participant id="a"/><participant id="b"/><choreographyTask id="n"
        initiatingParticipantRef="a"><participantRef>a</participantRef><participantRef>b</participantRef>
        </choreographyTask></choreography>"#,
        ),
    ),
    feature(
        "subChoreography",
        "subChoreography",
        Full,
        false,
        Model(
            r#"<choreography id="c"><participant id="a"/><participant id="b"/><subChoreography id="n"
        initiatingParticipantRef="a"><participantRef>a</participantRef><participantRef>b</participantRef>
        </subChoreography></choreography>"#,
        ),
    ),
    feature(
        "callChoreography",
        "callChoreography",
        Full,
        false,
        Model(
            r#"<choreography id="c"><participant id="a"/><participant id="b"/><callChoreography id="n"
        initiatingParticipantRef="a"><participantRef>a</participantRef><participantRef>b</participantRef>
        </callChoreography></choreography>"#,
        ),
    ),
    feature("category", "category", Full, false, Model(r#"<category id="n" name="x"/>"#)),
    feature(
        "relationship",
        "relationship",
        Full,
        false,
        Model(r#"<relationship id="n" type="x"><source>m</source><target>g</target></relationship>"#),
    ),
];
