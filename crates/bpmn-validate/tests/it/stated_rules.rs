//! Rules that the standard states beyond the published catalogue, as documents and as definitions.

use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn_validate::Profile::{Publication, Structural};
use heddle_bpmn_validate::constraints;
use serde_json::{Value, json};

use crate::constraint_cases::{found, process};

/// Whether a document has a finding of this code about this element; one without a rule of the catalogue.
fn tells(code: &str, id: &str, root: &str) -> bool {
    let of = |one: &heddle_bpmn::Diagnostic| one.code == code && one.element_id.as_deref() == Some(id);
    found(root, Structural).iter().any(|one| one.is_error() && of(one) && one.rule.is_none())
}

#[track_caller]
fn judged(cases: &[(&str, &str, bool, String)]) {
    let wrong: Vec<_> = cases.iter().filter(|(code, id, is, root)| tells(code, id, root) != *is).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_message_flow_goes_the_way_of_its_events() {
    let pools = |event: &str, source: &str, target: &str| {
        format!(
            r#"<collaboration id="co"><participant id="one" processRef="p"/><participant id="two"/>
               <messageFlow id="m" sourceRef="{source}" targetRef="{target}"/></collaboration>{}"#,
            process(&format!(r#"<task id="a"/>{event}"#))
        )
    };
    let event = |name: &str, definition: &str| {
        let host = if name == "boundaryEvent" { r#" attachedToRef="a""# } else { "" };
        format!(r#"<{name} id="x"{host}><{definition}EventDefinition id="d"/></{name}>"#)
    };
    let mut cases = Vec::new();
    for catches in ["intermediateCatchEvent", "boundaryEvent"] {
        for definition in ["message", "signal"] {
            let event = event(catches, definition);
            cases.push(("catchEventSends", "x", true, pools(&event, "x", "two")));
            cases.push(("catchEventMessage", "x", definition == "signal", pools(&event, "two", "x")));
            cases.push(("catchEventSends", "x", false, pools(&event, "two", "x")));
        }
    }
    for definition in ["message", "signal"] {
        let event = event("intermediateThrowEvent", definition);
        cases.push(("throwEventMessage", "x", definition == "signal", pools(&event, "x", "two")));
    }
    judged(&cases);
}

#[test]
fn links_name_each_other() {
    let pair = |target: &str, source: &str| {
        let reference = |name: &str, id: &str| match id {
            "" => String::new(),
            id => format!("<{name}>{id}</{name}>"),
        };
        process(&format!(
            r#"<intermediateThrowEvent id="t"><linkEventDefinition id="lt" name="L">{}</linkEventDefinition>
               </intermediateThrowEvent>
               <intermediateCatchEvent id="c"><linkEventDefinition id="lc" name="L">{}</linkEventDefinition>
               </intermediateCatchEvent>
               <intermediateThrowEvent id="u"><linkEventDefinition id="lu" name="L"/></intermediateThrowEvent>"#,
            reference("target", target),
            reference("source", source),
        ))
    };
    judged(&[
        ("linkMismatch", "t", false, pair("lc", "lt")),
        ("linkMismatch", "t", false, pair("lc", "")),
        ("linkMismatch", "c", false, pair("", "lt")),
        ("linkMismatch", "t", true, pair("lc", "lu")),
        ("linkMismatch", "c", false, pair("lc", "lt")),
        // A throwing link leads to no throwing one.
        ("linkMismatch", "t", true, pair("lu", "")),
    ]);
}

#[test]
fn timers_and_cancellations() {
    let timer = |times: &str| {
        process(&format!(
            r#"<intermediateCatchEvent id="x"><timerEventDefinition id="d">{times}</timerEventDefinition>
               </intermediateCatchEvent>"#
        ))
    };
    let (date, wait) = ("<timeDate>2030-01-31T12:00:00Z</timeDate>", "<timeDuration>PT1H</timeDuration>");
    let cycle = "<timeCycle>R3/PT1H</timeCycle>";
    let event =
        |name: &str, more: &str| format!(r#"<{name} id="x"{more}><cancelEventDefinition id="d"/></{name}>"#);
    judged(&[
        ("timerSyntax", "x", false, timer(date)),
        ("timerSyntax", "x", true, timer(&format!("{date}{wait}"))),
        ("timerSyntax", "x", true, timer(&format!("{wait}{cycle}"))),
        ("timerSyntax", "x", true, timer(&format!("{date}{cycle}"))),
        ("cancelOutsideTransaction", "x", true, process(&event("startEvent", ""))),
        ("cancelOutsideTransaction", "x", true, process(&event("intermediateCatchEvent", ""))),
        ("cancelOutsideTransaction", "x", true, process(&event("intermediateThrowEvent", ""))),
        ("cancelOutsideTransaction", "x", true, process(&event("boundaryEvent", ""))),
        (
            "cancelOutsideTransaction",
            "x",
            false,
            process(&format!(r#"<transaction id="t"/>{}"#, event("boundaryEvent", r#" attachedToRef="t""#))),
        ),
    ]);
    // A definition that stands at the root counts as one of the event that refers to it.
    let referred = r#"<cancelEventDefinition id="d"/><process id="p"><startEvent id="x">
        <eventDefinitionRef>d</eventDefinitionRef></startEvent></process>"#;
    assert!(tells("cancelOutsideTransaction", "x", referred));
}

#[test]
fn sets_point_back_at_each_other() {
    let task = |input: &str, output: &str| {
        process(&format!(
            r#"<task id="a"><ioSpecification id="io"><inputSet id="is">{input}</inputSet>
               <outputSet id="os">{output}</outputSet></ioSpecification></task>"#
        ))
    };
    let (out, back) = ("<outputSetRefs>os</outputSetRefs>", "<inputSetRefs>is</inputSetRefs>");
    judged(&[
        ("setMismatch", "is", false, task("", "")),
        ("setMismatch", "is", false, task(out, back)),
        ("setMismatch", "is", true, task(out, "")),
        ("setMismatch", "os", true, task("", back)),
        ("setMismatch", "is", true, task("<outputSetRefs>none</outputSetRefs>", back)),
    ]);
}

#[test]
fn conditions_properties_roles_and_formats() {
    let flow = |source: &str| {
        process(&format!(
            r#"{source}<task id="a"/><sequenceFlow id="f" sourceRef="s" targetRef="a"><conditionExpression>x
               </conditionExpression></sequenceFlow>"#
        ))
    };
    let role = |content: &str| {
        process(&format!(r#"<userTask id="u"><potentialOwner id="r">{content}</potentialOwner></userTask>"#))
    };
    let binding = r#"<resourceParameterBinding parameterRef="q"><formalExpression>1</formalExpression>
        </resourceParameterBinding>"#;
    let documented = |format: &str| {
        process(&format!(
            r#"<task id="a"><documentation id="d" textFormat="{format}">x</documentation></task>"#
        ))
    };
    judged(&[
        ("conditionMisplaced", "f", true, flow(r#"<parallelGateway id="s"/>"#)),
        ("conditionMisplaced", "f", true, flow(r#"<startEvent id="s"/>"#)),
        ("conditionMisplaced", "f", true, flow(r#"<intermediateCatchEvent id="s"/>"#)),
        ("conditionMisplaced", "f", false, flow(r#"<exclusiveGateway id="s"/>"#)),
        ("conditionMisplaced", "f", false, flow(r#"<task id="s"/>"#)),
        (
            "propertyMisplaced",
            "x",
            true,
            process(r#"<exclusiveGateway id="g"><property id="x"/></exclusiveGateway>"#),
        ),
        ("propertyMisplaced", "x", false, process(r#"<task id="g"><property id="x"/></task>"#)),
        ("propertyMisplaced", "x", false, process(r#"<startEvent id="g"><property id="x"/></startEvent>"#)),
        ("propertyMisplaced", "x", false, process(r#"<property id="x"/>"#)),
        ("resourceBinding", "r", true, role(binding)),
        ("resourceBinding", "r", false, role(&format!("<resourceRef>q</resourceRef>{binding}"))),
        ("textFormat", "d", false, documented("text/plain; charset=utf-8")),
        ("textFormat", "d", true, documented("plain text")),
        ("textFormat", "d", true, documented("text/pl@in")),
        ("textFormat", "d", true, documented("text/")),
        ("textFormat", "d", true, documented("a/b/c")),
    ]);
}

#[test]
fn definitions_are_held_to_the_same_rules() {
    let node = |id: &str, element: &str, bpmn: Value| json!({"id": id, "type": element, "bpmn": bpmn});
    let catch =
        |definition: Value| node("x", "intermediateCatchEvent", json!({"eventDefinitions": [definition]}));
    let sets = json!({"inputSets": [{"id": "is", "outputSetRefs": ["os"]}], "outputSets": [{"id": "os"}]});
    for (code, id, nodes) in [
        (
            "timerSyntax",
            "x",
            json!([catch(
                json!({"type": "timer", "timeDate": "2030-01-31T12:00:00Z", "timeDuration": "PT1H"})
            )]),
        ),
        ("cancelOutsideTransaction", "x", json!([catch(json!({"type": "cancel"}))])),
        ("setMismatch", "is", json!([node("x", "task", sets)])),
        (
            "linkMismatch",
            "x",
            json!([
                catch(json!({"id": "l1", "type": "link", "reference": "L", "sources": ["l2"]})),
                node(
                    "y",
                    "intermediateThrowEvent",
                    json!({"eventDefinitions":
                    [{"id": "l2", "type": "link", "reference": "L", "target": "l3"}]})
                ),
                node(
                    "z",
                    "intermediateCatchEvent",
                    json!({"eventDefinitions":
                    [{"id": "l3", "type": "link", "reference": "L"}]})
                ),
            ]),
        ),
    ] {
        let definition: WorkflowDefinition = serde_json::from_value(json!({"nodes": nodes})).unwrap();
        let found = constraints(&definition, Publication);
        let one = found.iter().find(|one| one.code == code && one.element_id.as_deref() == Some(id));
        assert!(one.is_some_and(|one| one.is_error() && one.remedy.is_some()), "{code}: {found:#?}");
    }
}
