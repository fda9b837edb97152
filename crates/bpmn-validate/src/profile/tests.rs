use super::*;
use heddle_bpmn::xml;

fn found(around: &str, content: &str) -> Vec<(String, String)> {
    let text = format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:x">{around}
        <process id="p" isExecutable="true">{content}</process></definitions>"#
    );
    let imported = xml::read(text.as_bytes()).unwrap();
    let found = outside_common_executable(&imported.definition);
    found.into_iter().map(|one| (one.element_id.unwrap_or_default(), one.message)).collect()
}

fn outside(content: &str) -> Vec<String> {
    found("", content).into_iter().map(|(id, _)| id).collect()
}

#[test]
fn what_the_tables_have_lies_inside() {
    let around = r#"<itemDefinition id="it" structureRef="x"/><message id="m" name="m" itemRef="it"/>
        <error id="r" structureRef="it"/><messageEventDefinition id="md" messageRef="m" ><operationRef>o</operationRef>
        </messageEventDefinition><interface id="i" name="i"><operation id="o" name="o"><inMessageRef>m</inMessageRef>
        </operation></interface><import importType="http://www.w3.org/2001/XMLSchema" location="x" namespace="urn:x"/>"#;
    let content = r#"<startEvent id="s" name="s"><eventDefinitionRef>md</eventDefinitionRef></startEvent>
        <sequenceFlow id="f0" sourceRef="s" targetRef="g"/>
        <exclusiveGateway id="g" name="g" gatewayDirection="Diverging" default="f2"/>
        <sequenceFlow id="f1" sourceRef="g" targetRef="u"><conditionExpression language="http://www.w3.org/1999/XPath"
        >x</conditionExpression></sequenceFlow><sequenceFlow id="f2" sourceRef="g" targetRef="w"/>
        <userTask id="u" name="u" implementation="urn:x"><standardLoopCharacteristics id="l"><loopCondition>x</loopCondition>
        </standardLoopCharacteristics></userTask><boundaryEvent id="b" name="b" attachedToRef="u"><errorEventDefinition
        id="ed" errorRef="r"/></boundaryEvent><serviceTask id="w" name="w" implementation="urn:x" operationRef="o"/>
        <intermediateCatchEvent id="c" name="c"><timerEventDefinition id="td"><timeDate>x</timeDate></timerEventDefinition>
        </intermediateCatchEvent><subProcess id="sp" name="sp"><startEvent id="is" name="is"/></subProcess>
        <endEvent id="e" name="e"><terminateEventDefinition id="te"/></endEvent><dataObject id="do" name="x"
        itemSubjectRef="it"/><textAnnotation id="ta"><text>x</text></textAnnotation>"#;
    assert_eq!(found(around, content), Vec::new());
}

#[test]
fn what_the_tables_lack_lies_outside() {
    let beyond = r#"<startEvent id="s" name="s"><timerEventDefinition id="td"><timeDate>x</timeDate></timerEventDefinition>
        </startEvent><scriptTask id="x"/><subProcess id="sp" name="sp"><inclusiveGateway id="g"/><task id="it"/></subProcess>
        <boundaryEvent id="b" name="b" attachedToRef="x"><messageEventDefinition id="md" messageRef="m">
        <operationRef>o</operationRef></messageEventDefinition></boundaryEvent>
        <intermediateThrowEvent id="t" name="t"/><dataStoreReference id="ds"/><laneSet id="ls"/>
        <subProcess id="es" name="es" triggeredByEvent="true"><startEvent id="eis" name="x"/></subProcess>"#;
    let mut ids = outside(beyond);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids, ["b", "ds", "es", "g", "it", "ls", "s", "sp", "t", "x"]);
    let roots = r#"<collaboration id="co"><participant id="pa"/></collaboration><choreography id="ch"/><signal id="si"/>
        <dataStore id="dst"/><category id="ca"/>"#;
    let ids: Vec<_> = found(roots, "").into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), 5, "{ids:?}");
    let referred = r#"<signalEventDefinition id="root"/>"#;
    let event = r#"<startEvent id="s" name="s"><eventDefinitionRef>root</eventDefinitionRef></startEvent>"#;
    assert!(found(referred, event).iter().any(|(id, text)| id == "s" && text.contains("`signal`")));
}

#[test]
fn what_an_element_lacks_is_named() {
    let lacks = |content: &str, word: &str| {
        let found = found("", content);
        assert!(found.iter().any(|(_, text)| text.contains(word)), "{word}: {found:?}");
    };
    lacks(r#"<startEvent id="s"/>"#, "`name`");
    lacks(r#"<startEvent name="s"/>"#, "`id`");
    lacks(r#"<serviceTask id="t" name="t" implementation="urn:x"/>"#, "`operationRef`");
    lacks(r#"<userTask id="t" name="t"/>"#, "`implementation`");
    lacks(r#"<callActivity id="t" name="t"/>"#, "`calledElement`");
    lacks(r#"<parallelGateway id="g" name="g"/>"#, "`Unspecified`");
    lacks(r#"<parallelGateway id="g" name="g" gatewayDirection="Mixed"/>"#, "`Mixed`");
    lacks(r#"<dataObject id="o" name="o"/>"#, "`itemSubjectRef`");
    lacks(
        r#"<userTask id="t" name="t" implementation="urn:x"><multiInstanceLoopCharacteristics id="l">
        <loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics></userTask>"#,
        "`loopDataInput`",
    );
    lacks(
        r#"<intermediateCatchEvent id="t" name="t"><timerEventDefinition id="l"><timeCycle>R/PT1S</timeCycle>
        </timerEventDefinition></intermediateCatchEvent>"#,
        "`timeCycle`",
    );
    let flow = r#"<userTask id="t" name="t" implementation="urn:x" default="f"/><endEvent id="e" name="e"/>
        <sequenceFlow id="f" sourceRef="t" targetRef="e"><conditionExpression language="urn:other">x</conditionExpression>
        </sequenceFlow>"#;
    lacks(flow, "only a flow out of an exclusive gateway");
    lacks(flow, "only a gateway has a default flow");
    lacks(flow, "`urn:other`");
    let around = r#"<import importType="urn:json-schema" location="x" namespace="urn:x"/>"#;
    assert_eq!(found(around, "").len(), 1);
}

#[test]
fn the_schema_speaks_of_every_node_of_the_tables() {
    let schema = common_executable_schema();
    let node = &schema["$defs"]["node"];
    let service = node["allOf"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["if"]["properties"]["type"]["const"] == "serviceTask");
    let text = service.unwrap().to_string();
    for member in ["displayName", "implementation", "operationRef"] {
        assert!(text.contains(member), "{member}: {text}");
    }
    assert_eq!(
        node["properties"]["type"]["enum"].as_array().unwrap().len(),
        node["allOf"].as_array().unwrap().len()
    );
    assert_eq!(schema["properties"]["bpmn"]["properties"]["collaborations"]["maxItems"], 0);
    assert_eq!(schema["$defs"]["edge"]["required"], serde_json::json!(["id", "source", "target"]));
}
