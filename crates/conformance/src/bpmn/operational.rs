//! Features beside the flow that have operational semantics: data, resources, correlation, services, languages, callables.
//!
//! What a process does with them is told by compiling it with and without.

use super::features::{Feature, In};
use super::probe::{Effect, Probe};
use In::{Analytic, Descriptive, Full};
use Probe::{Content, Model, Run};

const fn feature(
    name: &'static str,
    element: &'static str,
    class: In,
    common: bool,
    probe: Probe,
) -> Feature {
    Feature { name, element, class, common, probe }
}

const fn effect(with: [&'static str; 2], without: [&'static str; 2], why: &'static str) -> Probe {
    Probe::Effect(Effect { with, without, why })
}

const TASK: &str = r#"<userTask id="n"/>"#;
/// A task with an input, and with an output.
const TAKES: &str = r#"<userTask id="n"><ioSpecification><dataInput id="di" name="in"/><inputSet><dataInputRefs>di</dataInputRefs>
    </inputSet><outputSet/></ioSpecification></userTask>"#;
const GIVES: &str = r#"<userTask id="n"><ioSpecification><dataOutput id="do" name="out"/><inputSet/><outputSet>
    <dataOutputRefs>do</dataOutputRefs></outputSet></ioSpecification></userTask>"#;
/// A message that is correlated by a property of it.
const CORRELATED: [&str; 2] = [
    r#"<correlationProperty id="cp" name="x"><correlationPropertyRetrievalExpression messageRef="m">
        <messagePath>x</messagePath></correlationPropertyRetrievalExpression></correlationProperty>
        <collaboration id="co"><participant id="a" processRef="p"/><participant id="b"/>
        <messageFlow id="mf" sourceRef="b" targetRef="n" messageRef="m"/>
        <correlationKey id="k" name="k"><correlationPropertyRef>cp</correlationPropertyRef></correlationKey>
        </collaboration>"#,
    r#"<correlationSubscription id="cs" correlationKeyRef="k"><correlationPropertyBinding correlationPropertyRef="cp">
        <dataPath>x</dataPath></correlationPropertyBinding></correlationSubscription>
        <receiveTask id="n" messageRef="m"/>"#,
];
const UNCORRELATED: [&str; 2] = [
    r#"<collaboration id="co"><participant id="a" processRef="p"/><participant id="b"/>
        <messageFlow id="mf" sourceRef="b" targetRef="n" messageRef="m"/></collaboration>"#,
    r#"<receiveTask id="n" messageRef="m"/>"#,
];
const DATA: &str = "The process is the same without it: nothing is read from it or written to it.";
const MOVES: &str = "The process is the same without it: the data association moves nothing.";
const SETS: &str =
    "The process is the same without it: no activity waits for an input set, and none is filled.";
const ROLES: &str = "The process is the same without it: the resource role names nobody.";
const KEYS: &str = "The process is the same without it: messages are correlated by name and key alone.";
const FLOWS: &str = "Messages are correlated by name and key; message flows are kept and not enforced (D4).";
const TYPES: &str = "Types are kept, and no value is checked against them.";

/// Data and its associations.
const DATA_FEATURES: &[Feature] = &[
    feature(
        "dataObject",
        "dataObject",
        Descriptive,
        true,
        effect(
            [
                "",
                r#"<dataObject id="o1" name="x"/><userTask id="n"><ioSpecification><dataInput id="di" name="in"/><inputSet>
                <dataInputRefs>di</dataInputRefs></inputSet><outputSet/></ioSpecification><dataInputAssociation>
                <sourceRef>o1</sourceRef><targetRef>di</targetRef></dataInputAssociation></userTask>"#,
            ],
            ["", TAKES],
            DATA,
        ),
    ),
    feature(
        "dataObjectReference",
        "dataObjectReference",
        Full,
        false,
        effect(
            [
                "",
                r#"<dataObject id="o1"/><dataObjectReference id="o2" dataObjectRef="o1"/>
                <userTask id="n"><ioSpecification><dataInput id="di" name="in"/><inputSet>
                <dataInputRefs>di</dataInputRefs></inputSet><outputSet/></ioSpecification><dataInputAssociation>
                <sourceRef>o2</sourceRef><targetRef>di</targetRef></dataInputAssociation></userTask>"#,
            ],
            ["", TAKES],
            DATA,
        ),
    ),
    feature(
        "dataStoreReference",
        "dataStoreReference",
        Descriptive,
        false,
        effect(
            [
                r#"<dataStore id="ds" name="x"/>"#,
                r#"<dataStoreReference id="o1" name="x" dataStoreRef="ds"/><userTask id="n"><ioSpecification>
                <dataOutput id="do" name="out"/><inputSet/><outputSet><dataOutputRefs>do</dataOutputRefs></outputSet>
                </ioSpecification><dataOutputAssociation><sourceRef>do</sourceRef><targetRef>o1</targetRef>
                </dataOutputAssociation></userTask>"#,
            ],
            ["", GIVES],
            DATA,
        ),
    ),
    feature(
        "dataStore",
        "dataStore",
        Full,
        false,
        effect(
            [
                r#"<dataStore id="ds" name="x"/>"#,
                r#"<userTask id="n"><ioSpecification><dataOutput id="do" name="out"/><inputSet/><outputSet>
                <dataOutputRefs>do</dataOutputRefs></outputSet></ioSpecification><dataOutputAssociation>
                <sourceRef>do</sourceRef><targetRef>ds</targetRef></dataOutputAssociation></userTask>"#,
            ],
            ["", GIVES],
            DATA,
        ),
    ),
    feature(
        "property",
        "property",
        Full,
        false,
        effect(
            [
                "",
                r#"<userTask id="n"><ioSpecification><dataInput id="di" name="in"/><inputSet>
                <dataInputRefs>di</dataInputRefs></inputSet><outputSet/></ioSpecification><property id="pr" name="x"/>
                <dataInputAssociation><sourceRef>di</sourceRef><targetRef>pr</targetRef></dataInputAssociation>
                </userTask>"#,
            ],
            ["", TAKES],
            DATA,
        ),
    ),
    feature(
        "ioSpecification",
        "ioSpecification",
        Full,
        true,
        effect(
            [
                "",
                r#"<userTask id="n"><ioSpecification id="io"><dataInput id="di" name="x"/><dataOutput id="do" name="y"/>
                <inputSet><dataInputRefs>di</dataInputRefs></inputSet><outputSet><dataOutputRefs>do</dataOutputRefs>
                </outputSet></ioSpecification></userTask>"#,
            ],
            ["", TASK],
            SETS,
        ),
    ),
    feature(
        "dataAssociation (input)",
        "dataInputAssociation",
        Descriptive,
        true,
        effect(
            [
                "",
                r#"<dataObject id="o1"/><userTask id="n"><ioSpecification><dataInput id="di"/><inputSet>
                <dataInputRefs>di</dataInputRefs></inputSet><outputSet/></ioSpecification><dataInputAssociation id="da">
                <sourceRef>o1</sourceRef><targetRef>di</targetRef></dataInputAssociation></userTask>"#,
            ],
            ["", TASK],
            MOVES,
        ),
    ),
    feature(
        "dataAssociation (output)",
        "dataOutputAssociation",
        Descriptive,
        true,
        effect(
            [
                "",
                r#"<dataObject id="o1"/><userTask id="n"><ioSpecification><dataOutput id="do"/><inputSet/><outputSet>
                <dataOutputRefs>do</dataOutputRefs></outputSet></ioSpecification><dataOutputAssociation id="da">
                <sourceRef>do</sourceRef><targetRef>o1</targetRef></dataOutputAssociation></userTask>"#,
            ],
            ["", TASK],
            MOVES,
        ),
    ),
    feature(
        "ioBinding",
        "ioBinding",
        Full,
        false,
        Run(r#"<process id="q" isExecutable="true"><ioSpecification><dataInput id="di"/><inputSet id="is"/>
            <outputSet id="os"/></ioSpecification><ioBinding operationRef="o" inputDataRef="is" outputDataRef="os"/>
            <startEvent id="s1"/><sequenceFlow id="g1" sourceRef="s1" targetRef="e1"/><endEvent id="e1"/></process>
            <process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="n"/>
            <callActivity id="n" calledElement="q"/><sequenceFlow id="f2" sourceRef="n" targetRef="e"/>
            <endEvent id="e"/></process>"#),
    ),
];

/// Features of resource roles and of correlation.
const ROLE_FEATURES: &[Feature] = &[
    feature(
        "resource",
        "resource",
        Full,
        true,
        effect([r#"<resource id="r1" name="x"/>"#, TASK], ["", TASK], ROLES),
    ),
    feature(
        "resourceRole",
        "resourceRole",
        Full,
        true,
        effect(
            [
                r#"<resource id="r1" name="x"/>"#,
                r#"<userTask id="n"><resourceRole id="rr"><resourceRef>r1</resourceRef></resourceRole></userTask>"#,
            ],
            ["", TASK],
            ROLES,
        ),
    ),
    feature(
        "performer",
        "performer",
        Full,
        false,
        effect(
            [
                r#"<resource id="r1" name="x"/>"#,
                r#"<userTask id="n"><performer id="rr"><resourceRef>r1</resourceRef></performer></userTask>"#,
            ],
            ["", TASK],
            ROLES,
        ),
    ),
    feature(
        "humanPerformer",
        "humanPerformer",
        Full,
        false,
        effect(
            [
                r#"<resource id="r1" name="x"/>"#,
                r#"<userTask id="n"><humanPerformer id="rr"><resourceRef>r1</resourceRef></humanPerformer></userTask>"#,
            ],
            ["", TASK],
            ROLES,
        ),
    ),
    feature(
        "potentialOwner",
        "potentialOwner",
        Full,
        true,
        effect(
            [
                r#"<resource id="r1" name="x"/>"#,
                r#"<userTask id="n"><potentialOwner id="rr"><resourceRef>r1</resourceRef></potentialOwner></userTask>"#,
            ],
            ["", TASK],
            ROLES,
        ),
    ),
    feature(
        "correlationProperty",
        "correlationProperty",
        Full,
        false,
        effect(CORRELATED, UNCORRELATED, KEYS),
    ),
    feature("correlationKey", "correlationKey", Full, false, effect(CORRELATED, UNCORRELATED, KEYS)),
    feature(
        "correlationSubscription",
        "correlationSubscription",
        Full,
        false,
        effect(CORRELATED, UNCORRELATED, KEYS),
    ),
    feature(
        "messageFlow",
        "messageFlow",
        Descriptive,
        false,
        effect(
            [
                r#"<collaboration id="co"><participant id="a"/><participant id="b" processRef="p"/><messageFlow id="mf"
                sourceRef="a" targetRef="n" messageRef="m"/></collaboration>"#,
                r#"<receiveTask id="n"/>"#,
            ],
            ["", r#"<receiveTask id="n"/>"#],
            FLOWS,
        ),
    ),
    feature(
        "partnerEntity",
        "partnerEntity",
        Full,
        false,
        Model(r#"<partnerEntity id="n" name="x"><participantRef>a</participantRef></partnerEntity>"#),
    ),
    feature(
        "partnerRole",
        "partnerRole",
        Full,
        false,
        Model(r#"<partnerRole id="n" name="x"><participantRef>a</participantRef></partnerRole>"#),
    ),
];

/// Features of root elements that events, services and types refer to.
const ROOT_FEATURES: &[Feature] = &[
    feature(
        "message",
        "message",
        Analytic,
        true,
        effect(
            [r#"<message id="m2" name="x"/>"#, r#"<receiveTask id="n" messageRef="m2"/>"#],
            ["", r#"<receiveTask id="n" messageRef="m2"/>"#],
            FLOWS,
        ),
    ),
    feature(
        "error",
        "error",
        Full,
        true,
        Content(
            r#"<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="n"/><endEvent id="n">
            <errorEventDefinition errorRef="r"/></endEvent>"#,
        ),
    ),
    feature(
        "escalation",
        "escalation",
        Full,
        false,
        Content(
            r#"<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="n"/><endEvent id="n">
            <escalationEventDefinition escalationRef="x"/></endEvent>"#,
        ),
    ),
    feature(
        "signal",
        "signal",
        Full,
        false,
        Content(
            r#"<startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="n"/><endEvent id="n">
            <signalEventDefinition signalRef="g"/></endEvent>"#,
        ),
    ),
    feature(
        "itemDefinition",
        "itemDefinition",
        Full,
        true,
        effect(
            [
                r#"<itemDefinition id="it" structureRef="x"/>"#,
                r#"<property id="pr" itemSubjectRef="it"/><userTask id="n"/>"#,
            ],
            ["", TASK],
            TYPES,
        ),
    ),
    feature("interface", "interface", Full, true, Probe::Node(r#"<serviceTask id="n" operationRef="o"/>"#)),
    feature("operation", "operation", Full, true, Probe::Node(r#"<serviceTask id="n" operationRef="o"/>"#)),
    feature(
        "endPoint",
        "endPoint",
        Full,
        false,
        effect(
            [
                r#"<endPoint id="ep"/><collaboration id="co"><participant id="a" processRef="p">
                <endPointRef>ep</endPointRef></participant></collaboration>"#,
                TASK,
            ],
            ["", TASK],
            "Services are called at the address in the node's configuration; end points are kept.",
        ),
    ),
];

/// The languages that the Common Executable sub-class demands (clause 2.2).
const LANGUAGE_FEATURES: &[Feature] = &[
    feature(
        "types in XML Schema",
        "import",
        Full,
        true,
        effect(
            [
                r#"<import importType="http://www.w3.org/2001/XMLSchema" location="x.xsd" namespace="urn:x"/>
                <itemDefinition id="it" structureRef="x"/>"#,
                r#"<dataObject id="o1" itemSubjectRef="it"/><userTask id="n"/>"#,
            ],
            ["", r#"<dataObject id="o1"/><userTask id="n"/>"#],
            TYPES,
        ),
    ),
    feature(
        "interfaces in WSDL",
        "import",
        Full,
        true,
        Run(r#"<import importType="http://schemas.xmlsoap.org/wsdl/" location="x.wsdl" namespace="urn:x"/>
            <interface id="i2" name="x" implementationRef="port"><operation id="o2" name="x" implementationRef="call">
            <inMessageRef>m</inMessageRef></operation></interface>
            <process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="n"/>
            <serviceTask id="n" operationRef="o2"/>
            <sequenceFlow id="f2" sourceRef="n" targetRef="e"/><endEvent id="e"/></process>"#),
    ),
    feature(
        "expressions in XPath",
        "conditionExpression",
        Full,
        true,
        Content(
            r#"<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="n"/><exclusiveGateway id="n" default="f2"/>
            <sequenceFlow id="f1" sourceRef="n" targetRef="e1"><conditionExpression
            language="http://www.w3.org/1999/XPath">/x/y = 1</conditionExpression></sequenceFlow>
            <sequenceFlow id="f2" sourceRef="n" targetRef="e2"/><endEvent id="e1"/><endEvent id="e2"/>"#,
        ),
    ),
    feature(
        "expressions in FEEL",
        "conditionExpression",
        Full,
        false,
        Content(
            r#"<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="n"/><exclusiveGateway id="n" default="f2"/>
            <sequenceFlow id="f1" sourceRef="n" targetRef="e1"><conditionExpression>x = 1</conditionExpression>
            </sequenceFlow><sequenceFlow id="f2" sourceRef="n" targetRef="e2"/><endEvent id="e1"/><endEvent id="e2"/>"#,
        ),
    ),
];

macro_rules! called {
    ($name:literal) => {
        feature(
            $name,
            $name,
            Full,
            false,
            Run(concat!(
                "<",
                $name,
                r#" id="gt" name="x"/><process id="p" isExecutable="true"><startEvent id="s"/>
                <sequenceFlow id="f1" sourceRef="s" targetRef="n"/><callActivity id="n" calledElement="gt"/>
                <sequenceFlow id="f2" sourceRef="n" targetRef="e"/><endEvent id="e"/></process>"#
            )),
        )
    };
}

/// Global tasks, called; and what is global without being operational.
const GLOBAL_FEATURES: &[Feature] = &[
    called!("globalTask"),
    called!("globalUserTask"),
    called!("globalManualTask"),
    called!("globalScriptTask"),
    called!("globalBusinessRuleTask"),
    feature(
        "globalChoreographyTask",
        "globalChoreographyTask",
        Full,
        false,
        Model(r#"<globalChoreographyTask id="n" name="x"/>"#),
    ),
    feature(
        "globalConversation",
        "globalConversation",
        Full,
        false,
        Model(r#"<globalConversation id="n" name="x"/>"#),
    ),
];

/// All of them.
pub(super) fn all() -> impl Iterator<Item = &'static Feature> {
    let groups = [DATA_FEATURES, ROLE_FEATURES, ROOT_FEATURES, LANGUAGE_FEATURES, GLOBAL_FEATURES];
    groups.into_iter().flatten()
}

/// Elements that are executed as far as another element's features are, of which they are parts.
const PARTS: &[(&str, &[&str])] = &[
    (
        "ioSpecification",
        &[
            "dataInput",
            "dataOutput",
            "inputSet",
            "outputSet",
            "dataInputRefs",
            "dataOutputRefs",
            "optionalInputRefs",
            "optionalOutputRefs",
            "whileExecutingInputRefs",
            "whileExecutingOutputRefs",
            "inputSetRefs",
            "outputSetRefs",
        ],
    ),
    ("dataInputAssociation", &["assignment", "from", "to", "transformation"]),
    ("resourceRole", &["resourceAssignmentExpression", "resourceRef"]),
    ("resource", &["resourceParameter", "resourceParameterBinding"]),
    ("correlationProperty", &["correlationPropertyRetrievalExpression", "messagePath"]),
    ("correlationKey", &["correlationPropertyRef"]),
    ("correlationSubscription", &["correlationPropertyBinding", "dataPath"]),
    ("operation", &["inMessageRef", "outMessageRef", "errorRef"]),
    ("serviceTask", &["operationRef"]),
    ("standardLoopCharacteristics", &["loopCondition"]),
    (
        "multiInstanceLoopCharacteristics",
        &[
            "loopCardinality",
            "loopDataInputRef",
            "loopDataOutputRef",
            "inputDataItem",
            "outputDataItem",
            "complexBehaviorDefinition",
            "event",
        ],
    ),
    ("complexGateway", &["activationCondition"]),
    ("adHocSubProcess", &["completionCondition"]),
    ("scriptTask", &["script"]),
    ("sequenceFlow", &["incoming", "outgoing", "process", "definitions", "formalExpression"]),
    ("timerEventDefinition", &["timeDate", "timeDuration", "timeCycle"]),
    ("conditionalEventDefinition", &["condition"]),
    ("linkEventDefinition", &["source", "target"]),
    ("startEvent", &["eventDefinitionRef"]),
    ("endPoint", &["endPointRef"]),
    ("interface", &["interfaceRef", "supportedInterfaceRef"]),
];

/// The element whose features tell how far this one is executed.
pub(super) fn owner(part: &'static str) -> &'static str {
    PARTS.iter().find(|(_, parts)| parts.contains(&part)).map_or(part, |(owner, _)| owner)
}
