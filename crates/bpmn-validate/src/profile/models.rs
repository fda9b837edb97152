//! A model for each row of the tables, whose attributes and parts can be left out one by one.

/// The row's feature, and its model: an attribute or a part stands in braces after its name; with `!` it is there also when
/// another one is tried. `@` is what stands before a flow node `n`, `~` what stands after it.
const MODELS: &[(&str, &str)] = &[
    (
        "sequenceFlow (unconditional)",
        r#"<process id="p" isExecutable="true"><startEvent id="s"/><endEvent id="e"/><sequenceFlow{!id| id="n"}{name| name="nx"}{!sourceRef| sourceRef="s"}{!targetRef| targetRef="e"}/></process>"#,
    ),
    (
        "sequenceFlow (conditional)",
        r#"<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="g"/><exclusiveGateway id="g" default="f2"/><endEvent id="e"/><endEvent id="e2"/><sequenceFlow id="f2" sourceRef="g" targetRef="e2"/><sequenceFlow{!id| id="n"}{name| name="nx"}{!sourceRef| sourceRef="g"}{!targetRef| targetRef="e"}>{!conditionExpression|<conditionExpression>x = 1</conditionExpression>}</sequenceFlow></process>"#,
    ),
    (
        "sequenceFlow (default)",
        r#"<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="g"/><exclusiveGateway id="g"{!default| default="n"}/><endEvent id="e"/><endEvent id="e2"/><sequenceFlow id="f2" sourceRef="g" targetRef="e2"><conditionExpression>x = 1</conditionExpression></sequenceFlow><sequenceFlow{!id| id="n"}{name| name="nx"}{!sourceRef| sourceRef="g"}{!targetRef| targetRef="e"}/></process>"#,
    ),
    (
        "subProcess (expanded)",
        r#"@<subProcess{!id| id="n"}{name| name="nx"}>{loopCharacteristics|<standardLoopCharacteristics id="lc"/>}{!flowElement|<userTask id="is"/>}</subProcess>{boundaryEventRefs|<boundaryEvent id="be" attachedToRef="n"><errorEventDefinition errorRef="r"/></boundaryEvent><endEvent id="e3"/><sequenceFlow id="f3" sourceRef="be" targetRef="e3"/>}~"#,
    ),
    (
        "exclusiveGateway",
        r#"<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="n"/><exclusiveGateway{!id| id="n"}{name| name="nx"}{gatewayDirection| gatewayDirection="Diverging"}{default| default="f1"}/><sequenceFlow id="f1" sourceRef="n" targetRef="e"/><endEvent id="e"/><sequenceFlow id="f2" sourceRef="n" targetRef="e2"><conditionExpression>x = 1</conditionExpression></sequenceFlow><endEvent id="e2"/></process>"#,
    ),
    (
        "parallelGateway",
        r#"@<parallelGateway{!id| id="n"}{name| name="nx"}{gatewayDirection| gatewayDirection="Diverging"}/>~"#,
    ),
    (
        "startEvent (none)",
        r#"<process id="p" isExecutable="true"><startEvent{!id| id="n"}{name| name="nx"}/><sequenceFlow id="f" sourceRef="n" targetRef="e"/><endEvent id="e"/></process>"#,
    ),
    (
        "endEvent (none)",
        r#"<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="n"/><endEvent{!id| id="n"}{name| name="nx"}/></process>"#,
    ),
    (
        "eventBasedGateway",
        r#"<process id="p" isExecutable="true"><eventBasedGateway{!id| id="n"}{name| name="nx"}{gatewayDirection| gatewayDirection="Diverging"} instantiate="true"{eventGatewayType| eventGatewayType="Parallel"}/><sequenceFlow id="f1" sourceRef="n" targetRef="c"/><intermediateCatchEvent id="c"><messageEventDefinition messageRef="m"/></intermediateCatchEvent><sequenceFlow id="f2" sourceRef="c" targetRef="e"/><endEvent id="e"/></process>"#,
    ),
    (
        "userTask",
        r#"<resource id="r1" name="r"/>@<userTask{!id| id="n"}{name| name="nx"}{implementation| implementation="urn:x"}>{ioSpecification|<ioSpecification id="io"><dataInput id="di"/><inputSet><dataInputRefs>di</dataInputRefs></inputSet><outputSet/></ioSpecification>}{dataInputAssociations|<dataInputAssociation id="da"><targetRef>di</targetRef></dataInputAssociation>}{dataOutputAssociations|<dataOutputAssociation id="da"><targetRef>di</targetRef></dataOutputAssociation>}{resources|<potentialOwner id="po"><resourceRef>r1</resourceRef></potentialOwner>}{loopCharacteristics|<standardLoopCharacteristics id="lc"/>}{renderings|<rendering id="re"/>}</userTask>{boundaryEventRefs|<boundaryEvent id="be" attachedToRef="n"><errorEventDefinition errorRef="r"/></boundaryEvent><endEvent id="e3"/><sequenceFlow id="f3" sourceRef="be" targetRef="e3"/>}~"#,
    ),
    (
        "serviceTask",
        r#"@<serviceTask{!id| id="n"}{name| name="nx"}{implementation| implementation="urn:x"}{operationRef| operationRef="o"}>{ioSpecification|<ioSpecification id="io"><dataInput id="di"/><inputSet><dataInputRefs>di</dataInputRefs></inputSet><outputSet/></ioSpecification>}{dataInputAssociations|<dataInputAssociation id="da"><targetRef>di</targetRef></dataInputAssociation>}{dataOutputAssociations|<dataOutputAssociation id="da"><targetRef>di</targetRef></dataOutputAssociation>}{loopCharacteristics|<standardLoopCharacteristics id="lc"/>}</serviceTask>{boundaryEventRefs|<boundaryEvent id="be" attachedToRef="n"><errorEventDefinition errorRef="r"/></boundaryEvent><endEvent id="e3"/><sequenceFlow id="f3" sourceRef="be" targetRef="e3"/>}~"#,
    ),
    (
        "callActivity",
        r#"@<callActivity{!id| id="n"}{name| name="nx"}{!calledElement| calledElement="q"}>{ioSpecification|<ioSpecification id="io"><dataInput id="di"/><inputSet><dataInputRefs>di</dataInputRefs></inputSet><outputSet/></ioSpecification>}{dataInputAssociations|<dataInputAssociation id="da"><targetRef>di</targetRef></dataInputAssociation>}{dataOutputAssociations|<dataOutputAssociation id="da"><targetRef>di</targetRef></dataOutputAssociation>}{loopCharacteristics|<standardLoopCharacteristics id="lc"/>}</callActivity>{boundaryEventRefs|<boundaryEvent id="be" attachedToRef="n"><errorEventDefinition errorRef="r"/></boundaryEvent><endEvent id="e3"/><sequenceFlow id="f3" sourceRef="be" targetRef="e3"/>}~"#,
    ),
    (
        "dataObject",
        r#"<itemDefinition id="it" structureRef="x"/>@<userTask id="n"/><dataObject{!id| id="do"}{name| name="nx"}{isCollection| isCollection="true"}{itemSubjectRef| itemSubjectRef="it"}/>~"#,
    ),
    (
        "textAnnotation",
        r#"@<userTask id="n"/><textAnnotation{!id| id="ta"}>{text|<text>x</text>}</textAnnotation>~"#,
    ),
    (
        "dataAssociation (input)",
        r#"@<dataObject id="do"/><userTask id="n"><ioSpecification id="io"><dataInput id="di"/><inputSet><dataInputRefs>di</dataInputRefs></inputSet><outputSet/></ioSpecification><dataInputAssociation{!id| id="da"}{name| name="nx"}>{!sourceRef|<sourceRef>do</sourceRef>}{!targetRef|<targetRef>di</targetRef>}{assignment|<assignment id="as"><from>x</from><to>y</to></assignment>}</dataInputAssociation></userTask>~"#,
    ),
    (
        "dataAssociation (output)",
        r#"@<dataObject id="do"/><userTask id="n"><ioSpecification id="io"><dataOutput id="di"/><inputSet/><outputSet><dataOutputRefs>di</dataOutputRefs></outputSet></ioSpecification><dataOutputAssociation{!id| id="da"}{name| name="nx"}>{!sourceRef|<sourceRef>di</sourceRef>}{!targetRef|<targetRef>do</targetRef>}{assignment|<assignment id="as"><from>x</from><to>y</to></assignment>}</dataOutputAssociation></userTask>~"#,
    ),
    (
        "messageStartEvent",
        r#"<process id="p" isExecutable="true"><startEvent{!id| id="n"}{name| name="nx"}>{dataOutput|<dataOutput id="do"/>}{dataOutputAssociations|<dataOutputAssociation id="da"><targetRef>x</targetRef></dataOutputAssociation>}{!messageEventDefinition|<messageEventDefinition messageRef="m"/>}</startEvent><sequenceFlow id="f" sourceRef="n" targetRef="e"/><endEvent id="e"/></process>"#,
    ),
    (
        "messageEndEvent",
        r#"<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="n"/><endEvent{!id| id="n"}{name| name="nx"}>{dataInput|<dataInput id="di"/>}{dataInputAssociations|<dataInputAssociation id="da"><targetRef>di</targetRef></dataInputAssociation>}{!messageEventDefinition|<messageEventDefinition messageRef="m"/>}</endEvent></process>"#,
    ),
    (
        "terminateEndEvent",
        r#"<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="n"/><endEvent{!id| id="n"}{name| name="nx"}>{!terminateEventDefinition|<terminateEventDefinition/>}</endEvent></process>"#,
    ),
    (
        "catching message intermediateEvent",
        r#"@<intermediateCatchEvent{!id| id="n"}{name| name="nx"}>{dataOutput|<dataOutput id="do"/>}{dataOutputAssociations|<dataOutputAssociation id="da"><targetRef>x</targetRef></dataOutputAssociation>}{!messageEventDefinition|<messageEventDefinition messageRef="m"/>}</intermediateCatchEvent>~"#,
    ),
    (
        "throwing message intermediateEvent",
        r#"@<intermediateThrowEvent{!id| id="n"}{name| name="nx"}>{dataInput|<dataInput id="di"/>}{dataInputAssociations|<dataInputAssociation id="da"><targetRef>di</targetRef></dataInputAssociation>}{!messageEventDefinition|<messageEventDefinition messageRef="m"/>}</intermediateThrowEvent>~"#,
    ),
    (
        "catching timer intermediateEvent",
        r#"@<intermediateCatchEvent{!id| id="n"}{name| name="nx"}>{!timerEventDefinition|<timerEventDefinition><timeDate>2030-01-01T00:00:00Z</timeDate></timerEventDefinition>}</intermediateCatchEvent>~"#,
    ),
    (
        "boundary error intermediateEvent",
        r#"@<userTask id="n"/><boundaryEvent{!id| id="be"}{name| name="nx"}{!attachedToRef| attachedToRef="n"}>{dataOutput|<dataOutput id="do"/>}{dataOutputAssociations|<dataOutputAssociation id="da"><targetRef>x</targetRef></dataOutputAssociation>}{!errorEventDefinition|<errorEventDefinition errorRef="r"/>}</boundaryEvent><sequenceFlow id="f3" sourceRef="be" targetRef="e3"/><endEvent id="e3"/>~"#,
    ),
    (
        "StandardLoopCharacteristics",
        r#"@<userTask id="n"><standardLoopCharacteristics{!id| id="lc"}>{loopCondition|<loopCondition>true</loopCondition>}</standardLoopCharacteristics></userTask>~"#,
    ),
    (
        "MultiInstanceLoopCharacteristics",
        r#"@<userTask id="n"><multiInstanceLoopCharacteristics{!id| id="lc"}{isSequential| isSequential="true"}>{loopDataInput|<loopDataInputRef>di</loopDataInputRef>}{inputDataItem|<inputDataItem name="x"/>}</multiInstanceLoopCharacteristics></userTask>~"#,
    ),
    ("Rendering", ""),
    ("Resource", r#"<resource{!id| id="r1"}{name| name="nx"}/>@<userTask id="n"/>~"#),
    (
        "ResourceRole",
        r#"<resource id="r1" name="r"/>@<userTask id="n"><resourceRole{!id| id="rr"}>{resourceRef|<resourceRef>r1</resourceRef>}{resourceAssignmentExpression|<resourceAssignmentExpression><formalExpression>x</formalExpression></resourceAssignmentExpression>}</resourceRole></userTask>~"#,
    ),
    (
        "InputOutputSpecification",
        r#"@<userTask id="n"><ioSpecification{!id| id="io"}>{dataInputs|<dataInput id="di"/>}{dataOutputs|<dataOutput id="dx"/>}<inputSet/><outputSet/></ioSpecification></userTask>~"#,
    ),
    (
        "DataInput",
        r#"@<userTask id="n"><ioSpecification><dataInput{!id| id="di"}{name| name="nx"}{isCollection| isCollection="true"}{itemSubjectRef| itemSubjectRef="it"}/><inputSet/><outputSet/></ioSpecification></userTask>~"#,
    ),
    (
        "DataOutput",
        r#"@<userTask id="n"><ioSpecification><dataOutput{!id| id="di"}{name| name="nx"}{isCollection| isCollection="true"}{itemSubjectRef| itemSubjectRef="it"}/><inputSet/><outputSet/></ioSpecification></userTask>~"#,
    ),
    (
        "ItemDefinition",
        r#"{import|<import importType="http://www.w3.org/2001/XMLSchema" location="x.xsd" namespace="urn:x"/>}<itemDefinition{!id| id="it"}{structure| structureRef="sx"}/>@<dataObject id="do" itemSubjectRef="it"/><userTask id="n"/>~"#,
    ),
    (
        "Operation",
        r#"<interface id="i2" name="i"><operation{!id| id="o2"}{name| name="nx"}>{inMessageRef|<inMessageRef>m</inMessageRef>}{outMessageRef|<outMessageRef>m</outMessageRef>}{errorRefs|<errorRef>r</errorRef>}</operation></interface>@<serviceTask id="n" operationRef="o2"/>~"#,
    ),
    (
        "Message",
        r#"<itemDefinition id="it"/><message{!id| id="m2"}{!name| name="nx"}{structureRef| itemRef="it"}/>@<receiveTask id="n" messageRef="m2"/>~"#,
    ),
    (
        "Error",
        r#"<itemDefinition id="it"/><error{!id| id="r2"}{structureRef| structureRef="it"} errorCode="c"/>@<userTask id="n"/><boundaryEvent id="be" attachedToRef="n"><errorEventDefinition errorRef="r2"/></boundaryEvent><sequenceFlow id="f3" sourceRef="be" targetRef="e3"/><endEvent id="e3"/>~"#,
    ),
    (
        "Assignment",
        r#"@<userTask id="n"><dataInputAssociation id="da"><targetRef>di</targetRef><assignment{!id| id="as"}>{!from|<from>x</from>}{!to|<to>y</to>}</assignment></dataInputAssociation></userTask>~"#,
    ),
    (
        "MessageEventDefinition",
        r#"@<intermediateThrowEvent id="n"><messageEventDefinition{!id| id="md"}{!messageRef| messageRef="m"}>{operationRef|<operationRef>o</operationRef>}</messageEventDefinition></intermediateThrowEvent>~"#,
    ),
    (
        "TerminateEventDefinition",
        r#"<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="n"/><endEvent id="n"><terminateEventDefinition{!id| id="td"}/></endEvent></process>"#,
    ),
    (
        "TimerEventDefinition",
        r#"@<intermediateCatchEvent id="n"><timerEventDefinition{!id| id="td"}>{!timeDate|<timeDate>2030-01-01T00:00:00Z</timeDate>}</timerEventDefinition></intermediateCatchEvent>~"#,
    ),
];

const BEFORE: &str = r#"<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="n"/>"#;
const AFTER: &str = r#"<sequenceFlow id="f2" sourceRef="n" targetRef="e"/><endEvent id="e"/></process>"#;

/// The model of a row's feature.
#[must_use]
pub fn model(feature: &str) -> Option<&'static str> {
    MODELS.iter().find(|(own, _)| *own == feature).map(|(_, model)| *model)
}

/// The model with the parts in braces that are wanted.
#[must_use]
pub fn rendered(model: &str, wanted: impl Fn(&str, bool) -> bool) -> String {
    let mut text = String::with_capacity(model.len());
    for (at, piece) in model.split('{').enumerate() {
        let Some((part, rest)) = piece.split_once('}').filter(|_| at > 0) else {
            text.push_str(piece);
            continue;
        };
        if let Some((word, xml)) = part.split_once('|')
            && wanted(word.trim_start_matches('!'), word.starts_with('!'))
        {
            text.push_str(xml);
        }
        text.push_str(rest);
    }
    text.replace('@', BEFORE).replace('~', AFTER)
}

/// Mark of an attribute or part in the XML: the attribute with its value, or the name of the part's element.
#[must_use]
pub fn mark(model: &'static str, word: &str) -> Option<&'static str> {
    let parts = model.split('{').skip(1).filter_map(|piece| piece.split_once('}')?.0.split_once('|'));
    let (_, xml) = parts.into_iter().find(|(own, _)| own.trim_start_matches('!') == word)?;
    match xml.strip_prefix('<') {
        Some(tag) => tag.split([' ', '/', '>']).next(),
        None => Some(xml.trim()),
    }
}
