//! What each construct of BPMN becomes in WS-BPEL, and what is refused for which reason.

use heddle_bpel::{self as bpel, Exported};
use heddle_bpmn::xml::{self, MODEL_NS};

fn definition(body: &str) -> heddle_bpmn::model::WorkflowDefinition {
    let document = format!(
        "<definitions xmlns=\"{MODEL_NS}\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" \
         targetNamespace=\"urn:test\" expressionLanguage=\"http://www.w3.org/1999/XPath\">{body}</definitions>"
    );
    xml::read(document.as_bytes()).unwrap().definition
}

/// A process with a start event `s`, an end event `e` and these flows, `a>b` or `a>b:condition`, among the elements.
fn process(elements: &str, flows: &str) -> String {
    let mut text = format!(
        "<process id=\"p\" name=\"Order handling\"><startEvent id=\"s\"/>{elements}<endEvent id=\"e\"/>"
    );
    text.push_str(&sequence_flows(flows, "f"));
    text.push_str("</process>");
    text
}

fn sequence_flows(flows: &str, prefix: &str) -> String {
    let mut text = String::new();
    for (at, flow) in flows.split_whitespace().enumerate() {
        let (ends, condition) =
            flow.split_once(':').map_or((flow, None), |(ends, condition)| (ends, Some(condition)));
        let (source, target) = ends.split_once('>').unwrap();
        let condition = condition
            .map(|text| format!("<conditionExpression>${text}</conditionExpression>"))
            .unwrap_or_default();
        text.push_str(&format!(
            "<sequenceFlow id=\"{prefix}{at}\" sourceRef=\"{source}\" targetRef=\"{target}\">{condition}</sequenceFlow>"
        ));
    }
    text
}

fn exported(body: &str) -> Exported {
    bpel::export(&definition(body), None).unwrap_or_else(|error| panic!("{error}: {:?}", error.regions))
}

/// The process without the head that every process has.
fn activities(body: &str) -> String {
    let made = exported(body);
    let text = &made.processes[0].bpel;
    let after = text.find("</partnerLinks>").map_or(0, |at| at + "</partnerLinks>\n".len());
    text[after..].to_owned()
}

const MESSAGES: &str = "<itemDefinition id=\"i\" structureRef=\"xsd:string\"/><message id=\"m\" name=\"Order\" itemRef=\"i\"/>\
    <message id=\"n\" name=\"Answer\"/><error id=\"x\" errorCode=\"Rejected\"/>\
    <interface id=\"if\" name=\"Shop\"><operation id=\"op\" name=\"order\"><inMessageRef>m</inMessageRef>\
    <outMessageRef>n</outMessageRef></operation></interface>";
const MESSAGE: &str = "<messageEventDefinition messageRef=\"m\"/>";
const TIMER: &str = "<timerEventDefinition><timeDuration>P1D</timeDuration></timerEventDefinition>";
const ERROR: &str = "<errorEventDefinition errorRef=\"x\"/>";
const GATES: &str = "<exclusiveGateway id=\"g\" default=\"f1\"/><exclusiveGateway id=\"h\"/>";

#[test]
fn a_sequence_with_a_service_call_and_data() {
    let elements = "<dataObject id=\"d\" name=\"Order form\" itemSubjectRef=\"i\"/><property id=\"pr\" name=\"State\"/>\
        <serviceTask id=\"a\" name=\"Check it\" operationRef=\"op\"><ioSpecification><dataInput id=\"in\"/>\
        <inputSet><dataInputRefs>in</dataInputRefs></inputSet><outputSet/></ioSpecification>\
        <dataInputAssociation><sourceRef>d</sourceRef><targetRef>in</targetRef></dataInputAssociation></serviceTask>\
        <task id=\"b\" name=\"File &lt;it&gt;\"/>";
    let made = exported(&(MESSAGES.to_owned() + &process(elements, "s>a a>b b>e")));
    insta::assert_snapshot!("sequence", made.processes[0].bpel);
    insta::assert_snapshot!("sequence_wsdl", made.processes[0].wsdl);
    assert!(made.processes[0].xsd.as_ref().unwrap().contains("xsd:anyType"));
}

#[test]
fn gateways() {
    let tasks = "<task id=\"a\"/><task id=\"b\"/>";
    let with = |gates: &str| format!("{gates}{tasks}");
    let parallel = "<parallelGateway id=\"g\"/><parallelGateway id=\"h\"/>";
    let inclusive = "<inclusiveGateway id=\"g\" default=\"f1\"/><inclusiveGateway id=\"h\"/>";
    let events = format!(
        "<eventBasedGateway id=\"g\"/><intermediateCatchEvent id=\"a\">{MESSAGE}</intermediateCatchEvent>\
         <intermediateCatchEvent id=\"b\">{TIMER}</intermediateCatchEvent><exclusiveGateway id=\"h\"/>"
    );
    let diamond = "s>g g>b g>a:c a>h b>h h>e";
    insta::assert_snapshot!("if", activities(&process(&with(GATES), diamond)));
    insta::assert_snapshot!("flow", activities(&process(&with(parallel), "s>g g>a g>b a>h b>h h>e")));
    insta::assert_snapshot!("inclusive", activities(&process(&with(inclusive), diamond)));
    let pick = format!("{MESSAGES}{}", process(&events, "s>g g>a g>b a>h b>h h>e"));
    insta::assert_snapshot!("pick", activities(&pick));
    // Two parallel branches, with a way from one into the other.
    let crossed =
        format!("{parallel}{tasks}<task id=\"c\"/><parallelGateway id=\"k\"/><parallelGateway id=\"l\"/>");
    let flows = "s>g g>a g>b a>k k>c k>l b>l c>h l>h h>e";
    insta::assert_snapshot!("links", activities(&process(&crossed, flows)));
}

#[test]
fn loops() {
    let back = format!("{}<task id=\"a\"/>", GATES.replace("f1", "f9"));
    insta::assert_snapshot!(
        "while",
        activities(&process(&back.replace("f9", "f3"), "s>h h>g g>a:c g>e a>h"))
    );
    insta::assert_snapshot!(
        "repeat_until",
        activities(&process(&back.replace("f9", "f3"), "s>h h>a a>g g>h g>e:c"))
    );
    let both = format!("{back}<task id=\"b\"/>").replace("f9", "f5");
    insta::assert_snapshot!("loop_with_two_bodies", activities(&process(&both, "s>h h>a a>g g>b:c b>h g>e")));
    let standard = "<task id=\"a\"><standardLoopCharacteristics testBefore=\"true\" loopMaximum=\"3\">\
        <loopCondition>$again</loopCondition></standardLoopCharacteristics></task>\
        <task id=\"b\"><standardLoopCharacteristics><loopCondition>$again</loopCondition>\
        </standardLoopCharacteristics></task>";
    insta::assert_snapshot!("standard_loop", activities(&process(standard, "s>a a>b b>e")));
    let many = "<subProcess id=\"a\"><multiInstanceLoopCharacteristics><loopCardinality>$count</loopCardinality>\
        <completionCondition>numberOfCompletedInstances >= 2</completionCondition>\
        </multiInstanceLoopCharacteristics><task id=\"t\"/></subProcess>\
        <task id=\"b\"><multiInstanceLoopCharacteristics isSequential=\"true\"><loopCardinality>3</loopCardinality>\
        </multiInstanceLoopCharacteristics></task>";
    insta::assert_snapshot!("for_each", activities(&process(many, "s>a a>b b>e")));
}

#[test]
fn handlers() {
    let inner = format!(
        "<subProcess id=\"a\"><task id=\"t\"/><exclusiveGateway id=\"k\" default=\"i1\"/>\
         <endEvent id=\"bad\">{ERROR}</endEvent><endEvent id=\"good\"/><endEvent id=\"stop\"><terminateEventDefinition/></endEvent>{}</subProcess>",
        sequence_flows("t>k k>good k>bad:c k>stop:d", "i")
    );
    let fault = format!(
        "{inner}<boundaryEvent id=\"catch\" attachedToRef=\"a\">{ERROR}</boundaryEvent>\
         <boundaryEvent id=\"late\" attachedToRef=\"a\">{TIMER}</boundaryEvent><task id=\"b\"/><task id=\"c\"/>"
    );
    let text = format!("{MESSAGES}{}", process(&fault, "s>a a>b catch>c c>e late>e b>e"));
    insta::assert_snapshot!("fault_handler", activities(&text));

    let events = format!(
        "<task id=\"a\"/><subProcess id=\"more\" triggeredByEvent=\"true\">\
         <startEvent id=\"ms\" isInterrupting=\"false\">{MESSAGE}</startEvent><task id=\"mt\"/>{}</subProcess>\
         <subProcess id=\"late\" triggeredByEvent=\"true\"><startEvent id=\"ls\">{TIMER}</startEvent><task id=\"lt\"/>{}</subProcess>\
         <boundaryEvent id=\"hint\" attachedToRef=\"a\" cancelActivity=\"false\"><timerEventDefinition>\
         <timeCycle>R/PT1H</timeCycle></timerEventDefinition></boundaryEvent><task id=\"tell\"/>",
        sequence_flows("ms>mt", "m"),
        sequence_flows("ls>lt", "l")
    );
    let text = format!("{MESSAGES}{}", process(&events, "s>a a>e hint>tell"));
    insta::assert_snapshot!("event_handlers", activities(&text));

    let undo = "<task id=\"a\"/><boundaryEvent id=\"u\" attachedToRef=\"a\"><compensateEventDefinition/></boundaryEvent>\
        <task id=\"undo\" isForCompensation=\"true\"/><association id=\"as\" associationDirection=\"One\" sourceRef=\"u\" targetRef=\"undo\"/>\
        <exclusiveGateway id=\"g\" default=\"f2\"/><endEvent id=\"all\"><compensateEventDefinition/></endEvent>\
        <endEvent id=\"one\"><compensateEventDefinition activityRef=\"a\"/></endEvent>";
    insta::assert_snapshot!("compensation", activities(&process(undo, "s>a a>g g>e g>all:c g>one:d")));
}

#[test]
fn conversations_and_answers() {
    let text = format!(
        "{MESSAGES}<correlationProperty id=\"cp\" name=\"Order number\"><correlationPropertyRetrievalExpression messageRef=\"m\">\
         <messagePath>/number</messagePath></correlationPropertyRetrievalExpression></correlationProperty>\
         <collaboration id=\"c\"><participant id=\"us\" name=\"Shop floor\" processRef=\"p\"/><participant id=\"them\" name=\"Customer\"/>\
         <messageFlow id=\"mf\" sourceRef=\"them\" targetRef=\"s0\"/><messageFlow id=\"mg\" sourceRef=\"them\" targetRef=\"r\"/>\
         <correlationKey id=\"ck\" name=\"By number\"><correlationPropertyRef>cp</correlationPropertyRef></correlationKey></collaboration>\
         <process id=\"p\"><startEvent id=\"s0\"><messageEventDefinition messageRef=\"m\"><operationRef>op</operationRef>\
         </messageEventDefinition></startEvent><sendTask id=\"answer\" messageRef=\"n\" operationRef=\"op\"/>\
         <receiveTask id=\"r\" messageRef=\"m\"/><intermediateCatchEvent id=\"w\"><timerEventDefinition>\
         <timeDate>2030-01-01T00:00:00Z</timeDate></timerEventDefinition></intermediateCatchEvent><endEvent id=\"z\">\
         <terminateEventDefinition/></endEvent>{}</process>",
        sequence_flows("s0>answer answer>r r>w w>z", "f")
    );
    let made = exported(&text);
    insta::assert_snapshot!("correlation", made.processes[0].bpel);
    insta::assert_snapshot!("correlation_wsdl", made.processes[0].wsdl);
}

#[test]
fn several_starts_are_one_pick_and_scripts_are_extensions() {
    let elements = format!(
        "<startEvent id=\"other\">{MESSAGE}</startEvent><scriptTask id=\"a\" scriptFormat=\"text/x\"><script>x &lt; 1</script></scriptTask>\
         <businessRuleTask id=\"b\"/>"
    );
    let text = format!("{MESSAGES}{}", process(&elements, "s>a other>a a>b b>e"));
    insta::assert_snapshot!("starts_and_extensions", exported(&text).processes[0].bpel);
    let told: Vec<String> = exported(&text).diagnostics.into_iter().map(|found| found.code).collect();
    assert_eq!(told, ["extensionActivity", "extensionActivity", "generatedOperation"]);
}

#[test]
fn conditions_of_the_editor_become_feel() {
    for (condition, text) in [
        (r#"{"left": "order.items[0].price", "operator": "gt", "value": "5"}"#, "order.items[1].price > 5"),
        (r#"{"left": "state", "operator": "eq", "value": "a\"b"}"#, r#"(state = "a\"b")"#),
        (
            r#"{"left": "n", "operator": "neq", "value": "5"}"#,
            r#"not((n = 5) = true) and not((n = "5") = true)"#,
        ),
        (r#"{"left": "my name", "operator": "isTrue"}"#, "`my name` = true"),
        (r#"{"on": "outcome:approve"}"#, r#"nodes.a.output.outcome = "approve""#),
    ] {
        let json = format!(
            r#"{{"nodes": [{{"id": "a", "type": "userTask"}}, {{"id": "b", "type": "task"}}, {{"id": "e", "type": "task"}}],
            "edges": [{{"id": "1", "source": "a", "target": "b", "condition": {condition}}}]}}"#
        );
        let definition = serde_json::from_str(&json).unwrap();
        let made = bpel::export(&definition, Some("main")).unwrap();
        let escaped = text.replace('>', "&gt;");
        let wanted = format!(
            "<condition expressionLanguage=\"http://www.omg.org/spec/DMN/20230324/FEEL/\">{escaped}<"
        );
        let text = &made.processes[0].bpel;
        assert!(text.contains(&wanted), "{wanted}\n{text}");
    }
}

#[test]
fn what_has_no_mapping_is_refused_with_its_elements_and_the_reason() {
    let signal = "<signalEventDefinition signalRef=\"q\"/>";
    let catching = |inner: &str| format!("<intermediateCatchEvent id=\"a\">{inner}</intermediateCatchEvent>");
    let line = "s>a a>e";
    let rows: Vec<(String, &str, &str, &[&str])> = vec![
        ("<complexGateway id=\"a\"/>".into(), line, "complexGateway", &["a"]),
        ("<adHocSubProcess id=\"a\"/>".into(), line, "adHocSubProcess", &["a"]),
        ("<transaction id=\"a\"/>".into(), line, "transaction", &["a"]),
        (catching(signal), line, "signal", &["a"]),
        (catching("<conditionalEventDefinition><condition>x</condition></conditionalEventDefinition>"), line, "conditional", &["a"]),
        (catching("<linkEventDefinition name=\"l\"/>"), "s>e a>e", "linkToAnotherLevel", &["a"]),
        ("<callActivity id=\"a\" calledElement=\"elsewhere\"/>".into(), line, "callActivity", &["a"]),
        ("<task id=\"a\" startQuantity=\"2\"/>".into(), line, "quantity", &["a"]),
        ("<startEvent id=\"t\"><timerEventDefinition><timeCycle>R3/PT1H</timeCycle></timerEventDefinition></startEvent><task id=\"a\"/>".into(),
            "s>a t>a a>e", "timerStart", &["t"]),
        // A parallel split whose branches meet at an exclusive join.
        ("<parallelGateway id=\"g\"/><task id=\"a\"/><task id=\"b\"/><exclusiveGateway id=\"h\"/>".into(),
            "s>g g>a g>b a>h b>h h>e", "lackOfSynchronization", &["g", "a", "b", "h"]),
        ("<exclusiveGateway id=\"g\"/><task id=\"a\"/><task id=\"b\"/><parallelGateway id=\"h\"/>".into(),
            "s>g g>a:c g>b:d a>h b>h h>e", "deadlock", &["g", "a", "b", "h"]),
        // A cycle with two entries.
        ("<exclusiveGateway id=\"g\"/><exclusiveGateway id=\"h\"/><exclusiveGateway id=\"k\"/><task id=\"a\"/>".into(),
            "s>g g>h:c g>k:d h>a a>k k>h:x k>e:y", "unstructuredCycle", &["h", "k", "a"]),
    ];
    for (elements, flows, code, ids) in rows {
        let error = bpel::export(&definition(&process(&elements, flows)), None).unwrap_err();
        let found = error.regions.iter().find(|region| region.code == code);
        let found = found.unwrap_or_else(|| panic!("{code}: {:?}", error.regions));
        assert_eq!(found.element_ids, ids, "{code}");
        assert!(found.path.as_ref().unwrap().starts_with("bpmn.processes[0].nodes["), "{found:?}");
    }
}

#[test]
fn all_regions_are_told_at_once() {
    let elements = "<adHocSubProcess id=\"a\"/><parallelGateway id=\"g\"/><exclusiveGateway id=\"h\"/>\
        <intermediateThrowEvent id=\"b\"><signalEventDefinition/></intermediateThrowEvent>";
    let error = bpel::export(&definition(&process(elements, "s>a a>g g>h g>b b>h h>e")), None).unwrap_err();
    let codes: Vec<&str> = error.regions.iter().map(|region| region.code).collect();
    assert_eq!(codes, ["adHocSubProcess", "signal", "lackOfSynchronization"]);
    assert!(bpel::export(&definition(""), None).unwrap_err().is_nothing());
}

#[test]
fn large_and_deep_graphs_end_soon() {
    // A hundred thousand tasks in a row, and splits nested as deep as there are.
    let count = 100_000;
    let nodes: Vec<_> =
        (0..count).map(|at| serde_json::json!({"id": format!("n{at}"), "type": "task"})).collect();
    let edge = |from: usize, to: usize| {
        serde_json::json!({"id": format!("e{from}-{to}"), "source": format!("n{from}"), "target": format!("n{to}"),
            "bpmn": {"conditionExpression": "x"}})
    };
    let row: Vec<_> = (1..count)
        .map(|at| serde_json::json!({"id": format!("e{at}"), "source": format!("n{}", at - 1), "target": format!("n{at}")}))
        .collect();
    let made = bpel::export(
        &serde_json::from_value(serde_json::json!({"nodes": nodes, "edges": row})).unwrap(),
        None,
    );
    assert_eq!(made.unwrap().processes[0].bpel.matches("<empty ").count(), count);
    // Each gateway leads to the next one and to the last.
    let gates: Vec<_> = (0..20_000)
        .map(|at| serde_json::json!({"id": format!("n{at}"), "type": "exclusiveGateway"}))
        .collect();
    let deep: Vec<_> = (1..19_999)
        .flat_map(|at| [edge(at - 1, at), edge(at - 1, 19_999)])
        .chain([edge(19_998, 19_999)])
        .collect();
    let error = bpel::export(
        &serde_json::from_value(serde_json::json!({"nodes": gates, "edges": deep})).unwrap(),
        None,
    );
    assert_eq!(error.unwrap_err().regions[0].code, "tooDeep");
    // Every gateway leads to the three after it: nothing is a block, everything is one region.
    let mesh: Vec<_> = (0..19_996)
        .flat_map(|at| (1..4).map(move |step| (at, at + step)))
        .map(|(from, to)| edge(from, to))
        .collect();
    let error = bpel::export(
        &serde_json::from_value(serde_json::json!({"nodes": gates, "edges": mesh})).unwrap(),
        None,
    );
    assert!(error.is_err());
}
