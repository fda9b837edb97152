//! Tests of compilation: definitions that compile, and refusals with their reasons.

use super::{
    Compiled, Lanes, ListenerPlace, Marker, Meaning, Setting, StartKind, Work, compile, compile_with,
};
use heddle_bpmn::diagnostic::Severity;
use heddle_bpmn::model::WorkflowDefinition;
use serde_json::{Value, json};

fn compiled(definition: Value) -> Compiled {
    let definition: WorkflowDefinition = serde_json::from_value(definition).unwrap();
    compile(&definition)
}

/// A process `s > x > e` around one node.
fn around(node: Value) -> Value {
    let mut node = node;
    node["id"] = "x".into();
    json!({
        "nodes": [{"id": "s", "type": "startEvent"}, node, {"id": "e", "type": "endEvent"}],
        "edges": [{"id": "f1", "source": "s", "target": "x"}, {"id": "f2", "source": "x", "target": "e"}],
        "bpmn": {"messages": [{"id": "m1", "name": "order placed"}]}
    })
}

fn codes(compiled: &Compiled, severity: Severity) -> Vec<(&str, Option<&str>)> {
    let found = compiled.diagnostics.iter().filter(|own| own.severity == severity);
    found.map(|own| (own.code.as_str(), own.element_id.as_deref())).collect()
}

fn event(definition: Value) -> Value {
    json!({"type": "intermediateCatchEvent", "bpmn": {"eventDefinitions": [definition]}})
}

#[test]
fn a_node_that_is_not_executed_is_refused_with_its_id() {
    let task = |activity: Value| json!({"type": "task", "bpmn": {"activity": activity}});
    for (node, code) in [
        (json!({"type": "scriptTask", "bpmn": {"activity": {"script": "x = 1"}}}), "unsupportedScript"),
        (json!({"type": "businessRuleTask", "configuration": {"resultVariable": "x"}}), "wrongSetting"),
        (json!({"type": "businessRuleTask", "configuration": {"kind": "dmn"}}), "wrongSetting"),
        (
            json!({"type": "businessRuleTask", "configuration": {"decisionRef": "d", "version": "2"}}),
            "unsupportedSetting",
        ),
        (
            json!({"type": "businessRuleTask", "configuration": {"decisionRef": "d", "versionPolicy": "pinned"}}),
            "unsupportedSetting",
        ),
        (json!({"type": "serviceTask", "configuration": {"decisionRef": "d"}}), "unsupportedSetting"),
        (json!({"type": "scriptTask", "configuration": {"source": "1 +"}}), "expressionSyntax"),
        (json!({"type": "scriptTask", "configuration": {"kind": "feel"}}), "wrongSetting"),
        (json!({"type": "task", "configuration": {"source": "1"}}), "unsupportedSetting"),
        (json!({"type": "callActivity"}), "wrongSetting"),
        (json!({"type": "adHocSubProcess", "bpmn": {"triggeredByEvent": true}}), "wrongAdHoc"),
        (json!({"type": "adHocSubProcess", "bpmn": {"activity": {"ordering": "Random"}}}), "wrongAdHoc"),
        (json!({"type": "adHocSubProcess", "configuration": {"activeElements": 5}}), "wrongSetting"),
        (
            json!({"type": "subProcess", "bpmn": {"isTransaction": true, "triggeredByEvent": true}}),
            "unsupportedElement",
        ),
        (json!({"type": "teleport"}), "unknownElement"),
        (json!({}), "unknownElement"),
        (
            json!({"type": "serviceTask", "configuration": {"kind": "http.request"}}),
            "unsupportedImplementation",
        ),
        (json!({"type": "task", "configuration": {"kind": "llm.chat"}}), "unsupportedImplementation"),
        (json!({"type": "userTask", "configuration": {"kind": "http.request"}}), "unsupportedImplementation"),
        (json!({"type": "serviceTask", "configuration": {"jobType": "=1 +"}}), "expressionSyntax"),
        (json!({"type": "serviceTask", "configuration": {"jobType": "a", "retry": "often"}}), "wrongSetting"),
        (json!({"type": "userTask", "configuration": {"jobType": "a"}}), "unsupportedSetting"),
        (
            json!({"type": "exclusiveGateway", "configuration": {"inputs": [{"name": "a"}]}}),
            "unsupportedSetting",
        ),
        (json!({"type": "task", "configuration": {"listeners": [{"on": "take"}]}}), "wrongSetting"),
        (json!({"type": "task", "configuration": {"asyncBefore": "yes"}}), "wrongSetting"),
        (json!({"type": "sendTask", "bpmn": {"messageRef": "m2"}}), "danglingReference"),
        (json!({"type": "receiveTask", "bpmn": {"instantiate": true}}), "missingMessage"),
        (json!({"type": "eventBasedGateway", "bpmn": {"instantiate": true}}), "wrongFlow"),
        (json!({"type": "eventBasedGateway", "bpmn": {"eventGatewayType": "Parallel"}}), "wrongGateway"),
        (task(json!({"loop": {"kind": "standard", "loopMaximum": -1}})), "wrongLoop"),
        (task(json!({"loop": {"kind": "multiInstance"}})), "wrongLoop"),
        (task(json!({"forCompensation": true})), "wrongFlow"),
        (task(json!({"startQuantity": 10_001})), "quantity"),
        (task(json!({"completionQuantity": 0})), "quantity"),
        (json!({"type": "userTask", "configuration": {"priority": 1000}}), "wrongSetting"),
        (json!({"type": "intermediateCatchEvent"}), "unsupportedEvent"),
        (event(json!({"type": "conditional", "expression": "x >"})), "expressionSyntax"),
        (event(json!({"type": "conditional"})), "expressionSyntax"),
        (event(json!({"type": "link"})), "missingLink"),
        (event(json!({"type": "error"})), "unsupportedEvent"),
        (event(json!({"type": "escalation"})), "unsupportedEvent"),
        (event(json!({"type": "escalation", "reference": "nowhere"})), "danglingReference"),
        (event(json!({"type": "compensate"})), "unsupportedEvent"),
        (event(json!({"type": "cancel"})), "unsupportedEvent"),
        (event(json!({"type": "message"})), "missingMessage"),
        (event(json!({"type": "message", "reference": "m2"})), "danglingReference"),
        (event(json!({"type": "signal"})), "missingSignal"),
        (event(json!({"type": "reference", "reference": "nowhere"})), "danglingReference"),
        (event(json!({"type": "timer"})), "timerSyntax"),
        (event(json!({"type": "timer", "timeDuration": "5 minutes or so"})), "timerSyntax"),
        (event(json!({"type": "timer", "timeDuration": "PT1S", "timeDate": "2024-01-01"})), "timerSyntax"),
        (event(json!({"type": "timer", "timeCycle": "R/PT1S"})), "unsupportedEvent"),
        (json!({"type": "boundaryEvent"}), "danglingReference"),
    ] {
        let compiled = compiled(around(node.clone()));
        let found = codes(&compiled, Severity::Error);
        assert!(found.contains(&(code, Some("x"))), "{node}: {:?}", compiled.diagnostics);
        assert!(compiled.processes.is_empty(), "{node}");
    }
}

#[test]
fn what_another_engine_runs_is_the_job_of_a_worker() {
    let script = |format: &str, text: &str| json!({"type": "scriptTask", "bpmn": {"activity": {"scriptFormat": format, "script": text}}});
    for (node, expected) in [
        (json!({"type": "serviceTask", "configuration": {"jobType": "java:a.B"}}), Some("java:a.B")),
        (json!({"type": "serviceTask", "bpmn": {"operationRef": "op"}}), Some("operation:op")),
        (
            json!({"type": "serviceTask", "bpmn": {"implementation": "urn:connector"}}),
            Some("implementation:urn:connector"),
        ),
        (json!({"type": "sendTask", "configuration": {"jobType": "mail"}}), Some("mail")),
        (script("groovy", "x.foo()"), Some("script:groovy")),
        (script("groovy", "x = y + 1"), None),
        (json!({"type": "serviceTask", "configuration": {"source": "1 + 1"}}), None),
    ] {
        let compiled = compiled(around(node.clone()));
        assert!(compiled.is_executable(), "{node}: {:?}", compiled.diagnostics);
        let graph = &compiled.processes[0];
        let job = match &graph.node(graph.find("x").unwrap()).work {
            Work::Job(job) => match &job.job_type {
                Setting::Literal(name) => name.as_str().map(str::to_owned),
                Setting::Expression(_) => None,
            },
            Work::Script(_) => None,
            other => panic!("{node}: {other:?}"),
        };
        assert_eq!(job.as_deref(), expected, "{node}");
    }
}

#[test]
fn a_node_has_what_stands_around_its_work() {
    let node = json!({"type": "userTask", "configuration": {
        "inputs": [{"name": "a", "value": 1}], "outputs": [{"name": "b", "value": "=a"}],
        "listeners": [{"on": "create", "jobType": "java:a.L"}, {"on": "end", "source": "{done: true}"}],
        "asyncBefore": true
    }});
    let compiled = compiled(around(node));
    assert!(compiled.is_executable(), "{:?}", compiled.diagnostics);
    let graph = &compiled.processes[0];
    let node = graph.node(graph.find("x").unwrap());
    let mappings = node.mappings.as_ref().unwrap();
    assert_eq!((mappings.inputs.len(), mappings.outputs.len()), (1, 1));
    assert_eq!(node.listeners.as_ref().unwrap().all.len(), 2);
    assert!(node.continuations.before && !node.continuations.after && !node.is_plain());
}

#[test]
fn a_wrong_condition_tells_its_place_in_the_text() {
    for (text, place) in [("= a >", (1, 6)), ("a >\n  )", (2, 3)), ("=\n  1 +", (2, 6))] {
        let mut definition = around(json!({"type": "exclusiveGateway"}));
        definition["edges"][1]["bpmn"] = json!({ "conditionExpression": text });
        let found = compiled(definition).diagnostics;
        let at = found[0].expression.unwrap();
        assert_eq!((found[0].element_id.as_deref(), (at.line, at.column)), (Some("f2"), place), "{found:?}");
    }
}

#[test]
fn a_plain_value_means_the_same_in_every_language_and_xpath_is_translated() {
    const XPATH: &str = "http://www.w3.org/1999/XPath";
    let looped = |language: &str, cardinality: &str| {
        let own = json!({"kind": "multiInstance", "loopCondition": cardinality});
        let mut definition = around(json!({"type": "userTask", "bpmn": {"activity": {"loop": own}}}));
        definition["bpmn"]["expressionLanguage"] = language.into();
        compiled(definition)
    };
    for (language, cardinality, feel) in [
        (XPATH, "2", "2"),
        ("urn:other", " 2 ", "2"),
        (XPATH, "count(getDataObject('lines'))", "(if lines = null then 0 else count(lines))"),
    ] {
        let compiled = looped(language, cardinality);
        assert!(compiled.is_executable(), "{cardinality}: {:?}", compiled.diagnostics);
        let graph = &compiled.processes[0];
        let node = graph.node(graph.find("x").unwrap());
        let Some(Marker::Multi(own)) = node.marker.as_deref() else { panic!("{cardinality}") };
        let Some(Setting::Expression(own)) = &own.cardinality else { panic!("{cardinality}") };
        assert_eq!(own.source(), feel);
    }
    for (language, cardinality, told) in
        [(XPATH, "/lines/count", "`/` is a step"), ("urn:other", "lines", "the language urn:other")]
    {
        let found = looped(language, cardinality).diagnostics;
        let refused = found.iter().find(|own| own.severity == Severity::Error).unwrap();
        assert_eq!(refused.element_id.as_deref(), Some("x"));
        assert!(refused.message.contains(told), "{}", refused.message);
    }
}

#[test]
fn a_setting_of_another_form_of_its_element_is_named() {
    let dead = |node: Value| {
        let compiled = compiled(around(node));
        assert!(compiled.is_executable(), "{:?}", compiled.diagnostics);
        let found = compiled.diagnostics.iter().filter(|own| own.code == "settingUnused");
        let names = found.map(|own| own.message.split(':').next().unwrap_or_default().to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    let node = |kind: &str, configuration: Value| json!({"type": kind, "configuration": configuration});
    for (node, named) in [
        (
            node("scriptTask", json!({"source": "1", "retry": 3, "priority": 5, "headers": {"a": 1}})),
            "retry headers priority",
        ),
        (
            node("callActivity", json!({"ref": "p", "version": 2, "retry": 3, "priority": 5})),
            "retry priority",
        ),
        (node("callActivity", json!({"ref": "p", "version": 2, "jobType": "a", "retry": 3})), "ref version"),
        (node("serviceTask", json!({"jobType": "a", "retry": 3, "priority": 5, "headers": {"a": 1}})), ""),
        (node("serviceTask", json!({"jobType": "a", "source": "1"})), "source"),
        (node("businessRuleTask", json!({"decisionRef": "d", "retry": "PT1S"})), "retry"),
        (node("userTask", json!({"priority": 5, "retry": 3})), "retry"),
    ] {
        assert_eq!(dead(node.clone()), named, "{node}");
    }
}

#[test]
fn one_wrong_definition_of_several_refuses_the_event() {
    let second = |definition: Value| {
        let two = json!([{"type": "timer", "timeDuration": "PT1S"}, definition]);
        json!({"type": "intermediateCatchEvent", "bpmn": {"eventDefinitions": two}})
    };
    let right = second(json!({"type": "message", "reference": "m1"}));
    assert!(compiled(around(right)).is_executable());
    for (wrong, code) in [
        (json!({"type": "message", "reference": "m2"}), "danglingReference"),
        (json!({"type": "error"}), "unsupportedEvent"),
        (json!({"type": "link", "reference": "on"}), "unsupportedEvent"),
    ] {
        let found = compiled(around(second(wrong)));
        assert_eq!(codes(&found, Severity::Error), [(code, Some("x"))]);
    }
}

#[test]
fn vendors_implementations_are_refused_wherever_they_stand() {
    let service = json!({"type": "serviceTask"});
    let with_extension = |xml: &str| json!({"type": "serviceTask", "bpmn": {"extensionXml": [xml]}});
    let mut residue = around(service.clone());
    residue["bpmn"]["extensionElementsXml"] = json!([r#"<heddle:residue for="x" camunda:class="a.B"/>"#]);
    let mut elsewhere = around(service.clone());
    elsewhere["bpmn"]["extensionElementsXml"] = json!([
        r#"<heddle:residue for="y" camunda:class="a.B"/>"#,
        r#"<heddle:residue for="x" camunda:note="n"/>"#
    ]);
    let refused = [("unsupportedExtension", Some("x"))];
    for definition in [
        residue,
        around(with_extension(r#"<zeebe:taskDefinition type="pay"/>"#)),
        around(with_extension(
            "<camunda:connector><camunda:connectorId>http</camunda:connectorId></camunda:connector>",
        )),
        around(with_extension(r#"<a:b><camunda:executionListener event="start"/></a:b>"#)),
    ] {
        assert_eq!(codes(&compiled(definition.clone()), Severity::Error), refused, "{definition}");
    }
    for definition in [elsewhere, around(with_extension("<camunda:properties/>")), around(service)] {
        let compiled = compiled(definition);
        assert!(compiled.is_executable(), "{:?}", compiled.diagnostics);
        assert_eq!(codes(&compiled, Severity::Info), [("taskCompletesAtOnce", Some("x"))]);
    }
}

#[test]
fn flows_that_cannot_be_taken_are_refused() {
    let with = |edge: Value| {
        let mut definition = around(json!({"type": "exclusiveGateway"}));
        let mut edge = edge;
        edge["id"] = "f3".into();
        definition["edges"].as_array_mut().unwrap().push(edge);
        compiled(definition)
    };
    let to_end = |more: Value| {
        let mut edge = json!({"source": "x", "target": "e"});
        edge.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        edge
    };
    let expression = |text: &str| to_end(json!({"bpmn": {"conditionExpression": text}}));
    for (edge, code) in [
        (json!({"source": "x", "target": "nowhere"}), "danglingReference"),
        (json!({"source": "x"}), "danglingReference"),
        (to_end(json!({"type": "teleport"})), "unknownElement"),
        (to_end(json!({"loop": {"maximumIterations": -3}})), "wrongLoop"),
        (expression("${x.check() > 3}"), "expressionLanguage"),
        (expression("${x} and ${y}"), "expressionLanguage"),
        (expression(" "), "expressionSyntax"),
        (expression("1 +"), "expressionSyntax"),
        (
            to_end(
                json!({"bpmn": {"conditionExpression": "x", "conditionLanguage": "http://www.w3.org/1999/XPath"}}),
            ),
            "expressionLanguage",
        ),
        (to_end(json!({"condition": {"left": "x", "operator": "is", "value": "1"}})), "wrongCondition"),
        (to_end(json!({"condition": {"left": "x"}})), "wrongCondition"),
        (to_end(json!({"condition": {"on": "outcome:ok"}})), "wrongCondition"),
        (to_end(json!({"condition": {"on": "failure"}})), "wrongCondition"),
    ] {
        let compiled = with(edge.clone());
        assert_eq!(codes(&compiled, Severity::Error), [(code, Some("f3"))], "{edge}");
    }
    for edge in [
        expression("= x > 3"),
        expression("\n x > 3 \n"),
        expression("${x.size() > 3}"),
        to_end(json!({"condition": {"on": "always"}})),
    ] {
        assert!(with(edge.clone()).is_executable(), "{edge}");
    }
    let translated = with(expression(" ${x > 3 && !y} "));
    assert!(translated.is_executable());
    assert_eq!(codes(&translated, Severity::Info), [("translatedCondition", Some("f3"))]);
    // Lines that carry no token may lead anywhere.
    assert!(with(json!({"source": "x", "target": "note", "type": "association"})).is_executable());
}

#[test]
fn the_shape_of_a_graph_is_checked() {
    let nodes = |nodes: Value, edges: Value| compiled(json!({"nodes": nodes, "edges": edges}));
    let loop_only = nodes(
        json!([{"id": "a", "type": "task"}, {"id": "b", "type": "task"}]),
        json!([{"id": "f", "source": "a", "target": "b"}, {"id": "g", "source": "b", "target": "a"}]),
    );
    assert_eq!(codes(&loop_only, Severity::Error), [("noStart", Some("main"))]);
    let twice = nodes(json!([{"id": "a", "type": "task"}, {"id": "a", "type": "task"}]), json!([]));
    assert_eq!(codes(&twice, Severity::Error), [("duplicateId", Some("a"))]);
    let into_start = nodes(
        json!([{"id": "s", "type": "startEvent"}, {"id": "a", "type": "task"}]),
        json!([{"id": "f", "source": "a", "target": "s"}]),
    );
    assert_eq!(codes(&into_start, Severity::Error), [("wrongFlow", Some("s"))]);
    let gateway = nodes(
        json!([{"id": "g", "type": "eventBasedGateway"}, {"id": "a", "type": "task"}]),
        json!([{"id": "f", "source": "g", "target": "a"}]),
    );
    assert_eq!(codes(&gateway, Severity::Error), [("wrongFlow", Some("g"))]);
    assert_eq!(codes(&compiled(json!({})), Severity::Error), [("noExecutableProcess", None)]);
    let default = json!({"type": "exclusiveGateway", "bpmn": {"defaultFlow": "f1"}});
    assert_eq!(codes(&compiled(around(default)), Severity::Error), [("danglingReference", Some("x"))]);
    let inner =
        json!({"nodes": [{"id": "i", "type": "task"}], "edges": [{"id": "f", "source": "i", "target": "e"}]});
    let across = around(json!({"type": "subProcess", "bpmn": {"subProcess": inner}}));
    assert_eq!(codes(&compiled(across), Severity::Error), [("flowCrossesBorder", Some("f"))]);
}

#[test]
fn each_process_is_a_graph_of_its_own() {
    let task = json!([{"id": "a", "type": "task"}]);
    let compiled =
        compiled(json!({"nodes": [{"id": "t", "type": "task"}], "bpmn": {"name": "All", "processes": [
            {"id": "p1", "name": "One", "nodes": task, "executable": true},
            {"id": "p2", "nodes": task},
            {"id": "drawn", "nodes": [{"id": "c", "type": "complexGateway"}], "executable": false},
            {"id": "black-box"}
        ]}}));
    let ids: Vec<_> = compiled.processes.iter().map(|graph| (&*graph.id, graph.name.as_deref())).collect();
    assert_eq!(ids, [("main", Some("All")), ("p1", Some("One")), ("p2", None)]);
    assert_eq!(codes(&compiled, Severity::Info), [("processNotExecutable", Some("drawn"))]);
    assert!(compiled.is_executable() && compiled.process("p2").is_some());
}

#[test]
fn start_events_bind_to_the_outside() {
    let start = |id: &str, definition: Value| json!({"id": id, "type": "startEvent", "bpmn": {"eventDefinitions": [definition]}});
    let compiled = compiled(json!({
        "nodes": [
            {"id": "plain", "type": "startEvent"},
            start("m", json!({"type": "message", "reference": "m1"})),
            start("s", json!({"type": "signal", "reference": "s1"})),
            start("t", json!({"type": "timer", "timeCycle": "R/PT1H"})),
        ],
        "bpmn": {"messages": [{"id": "m1", "name": "order placed"}], "signals": [{"id": "s1"}]}
    }));
    let bindings = compiled.processes[0].start_bindings();
    let found: Vec<_> = bindings.iter().map(|own| (own.kind, own.name.as_deref(), &*own.node_id)).collect();
    let expected = [
        (StartKind::Message, Some("order placed"), "m"),
        (StartKind::Signal, Some("s1"), "s"),
        (StartKind::Timer, None, "t"),
    ];
    assert_eq!(found, expected);
    let timer = serde_json::to_value(&bindings[2]).unwrap();
    assert_eq!(timer, json!({"kind": "timer", "nodeId": "t", "timer": ["cycle", "R/PT1H"]}));
}

#[test]
fn the_innermost_lane_is_the_candidate_group_where_the_task_says_so() {
    let lanes = json!([{"id": "ls", "lanes": [{"id": "l1", "name": "Office", "flowNodeRefs": ["u"], "childLaneSet":
        {"id": "inner", "lanes": [{"id": "l2", "name": "Front desk", "flowNodeRefs": ["u"]}]}}]}]);
    let with = |settings: Value| {
        compiled(json!({"bpmn": {"processes": [
            {"id": "p", "nodes": [{"id": "u", "type": "userTask", "configuration": settings}], "laneSets": lanes}
        ]}}))
    };
    let told = with(json!({"laneCandidates": true}));
    let super::Work::User(task) = &told.processes[0].node(0).work else { panic!("no user task") };
    assert!(matches!(&task.candidate_groups, Some(Setting::Literal(name)) if name == "Front desk"));
    assert_eq!(told.diagnostics, []);
    // A lane that nobody asks says nothing, and who reads the model is told so.
    let silent = with(json!({}));
    let super::Work::User(task) = &silent.processes[0].node(0).work else { panic!("no user task") };
    assert!(task.is_open());
    assert_eq!(codes(&silent, Severity::Info), [("laneNotCandidates", Some("u"))]);
    assert_eq!(codes(&with(json!({"assignee": "ada"})), Severity::Info), []);
}

#[test]
fn where_lanes_are_groups_the_innermost_one_is_the_candidate_group_of_a_task_that_names_nobody() {
    let lanes = json!([{"id": "ls", "lanes": [{"id": "l1", "name": "Office", "flowNodeRefs": ["u"], "childLaneSet":
        {"id": "inner", "lanes": [{"id": "l2", "name": "Front desk", "flowNodeRefs": ["u"]}]}}]}]);
    for (settings, expected) in [
        (json!({}), Some("Front desk")),
        (json!({"assignee": "", "laneCandidates": false}), Some("Front desk")),
        (json!({"assignee": "ada"}), None),
        (json!({"candidateUsers": ["ada"]}), None),
        (json!({"candidateGroups": "clerks"}), Some("clerks")),
    ] {
        let definition = json!({"bpmn": {"processes": [
            {"id": "p", "nodes": [{"id": "u", "type": "userTask", "configuration": settings}], "laneSets": lanes}
        ]}});
        let definition: WorkflowDefinition = serde_json::from_value(definition).unwrap();
        let compiled = compile_with(&definition, Meaning { lanes: Lanes::Groups, ..Meaning::NOW });
        let super::Work::User(task) = &compiled.processes[0].node(0).work else { panic!("no user task") };
        let groups = task.candidate_groups.as_ref().map(|groups| match groups {
            Setting::Literal(Value::String(name)) => name.as_str(),
            other => panic!("{other:?}"),
        });
        assert_eq!(groups, expected, "{settings}");
        assert_eq!(compiled.diagnostics, [], "{settings}");
    }
}

/// A model of one node between start and end, read from XML with the vendors' prefixes.
fn imported(node: &str, rest: &str) -> heddle_bpmn::model::WorkflowDefinition {
    let xml = format!(
        "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" targetNamespace=\"urn:x\" \
         xmlns:camunda=\"http://camunda.org/schema/1.0/bpmn\" xmlns:zeebe=\"http://camunda.org/schema/zeebe/1.0\" \
         xmlns:flowable=\"http://flowable.org/bpmn\" xmlns:drools=\"http://www.jboss.org/drools\">{rest}\
         <process id=\"p\" isExecutable=\"true\"><startEvent id=\"s\"/>{node}<endEvent id=\"e\"/>\
         <sequenceFlow id=\"f1\" sourceRef=\"s\" targetRef=\"x\"/>\
         <sequenceFlow id=\"f2\" sourceRef=\"x\" targetRef=\"e\"/></process></definitions>"
    );
    heddle_bpmn::xml::read(xml.as_bytes()).unwrap().definition
}

#[test]
fn a_vendors_word_is_honoured_or_refused_with_its_reason() {
    let extended = |element: &str, inner: &str| {
        format!("<{element} id=\"x\"><extensionElements>{inner}</extensionElements></{element}>")
    };
    let mapping = "<zeebe:ioMapping><zeebe:input source=\"=a\" target=\"b\"/></zeebe:ioMapping>";
    let message = "<message id=\"m\" name=\"paid\"><extensionElements>\
                   <zeebe:subscription correlationKey=\"=order.id\"/></extensionElements></message>";
    for (node, expected) in [
        ("<userTask id=\"x\" camunda:assignee=\"${boss}\" camunda:asyncBefore=\"true\"/>".to_owned(), ""),
        ("<userTask id=\"x\" camunda:assignee=\"${bean.boss()}\"/>".to_owned(), "method call"),
        ("<userTask id=\"x\" camunda:priority=\"500\"/>".to_owned(), "0 to 100"),
        ("<serviceTask id=\"x\" camunda:class=\"org.Foo\"/>".to_owned(), ""),
        (
            "<callActivity id=\"x\" calledElement=\"q\" camunda:variableMappingClass=\"org.Foo\"/>"
                .to_owned(),
            "Java code",
        ),
        ("<serviceTask id=\"x\" camunda:type=\"external\" camunda:topic=\"pay\"/>".to_owned(), ""),
        ("<serviceTask id=\"x\" camunda:type=\"external\"/>".to_owned(), "no topic"),
        (
            "<serviceTask id=\"x\" camunda:class=\"org.Foo\" camunda:taskPriority=\"${bean.rank()}\"/>"
                .to_owned(),
            "",
        ),
        ("<serviceTask id=\"x\" flowable:type=\"mail\"/>".to_owned(), ""),
        (extended("serviceTask", "<zeebe:agentDefinition agentType=\"a\"/>"), "built-in task"),
        ("<task id=\"x\" flowable:skipExpression=\"${a}\"/>".to_owned(), ""),
        ("<task id=\"x\" drools:taskName=\"a\"/>".to_owned(), "drools:taskName would be ignored"),
        (extended("serviceTask", "<zeebe:taskDefinition type=\"pay\"/>"), ""),
        (extended("userTask", mapping), ""),
        (extended("exclusiveGateway", mapping), "no variables of its own"),
        (extended("userTask", "<zeebe:userTask/><zeebe:properties/>"), ""),
        (extended("task", "<camunda:executionListener event=\"start\" class=\"a.B\"/>"), ""),
        (extended("task", "<camunda:executionListener event=\"take\" class=\"a.B\"/>"), "nothing listens"),
        (extended("userTask", "<camunda:taskListener event=\"complete\" class=\"a.B\"/>"), ""),
        (extended("userTask", "<camunda:taskListener event=\"delete\" class=\"a.B\"/>"), "withdrawal"),
        (extended("userTask", "<camunda:taskListener event=\"update\" class=\"a.B\"/>"), ""),
        (extended("userTask", "<camunda:taskListener event=\"timeout\" class=\"a.B\"/>"), "has no timer"),
        (
            extended(
                "userTask",
                "<camunda:taskListener id=\"t\" event=\"timeout\" class=\"a.B\"><timerEventDefinition>\
                 <timeDuration>PT1H</timeDuration></timerEventDefinition></camunda:taskListener>",
            ),
            "",
        ),
        (extended("adHocSubProcess", "<zeebe:taskDefinition type=\"a\"/>"), "no worker chooses"),
        ("<receiveTask id=\"x\" messageRef=\"m\"/>".to_owned(), ""),
        ("<sendTask id=\"x\" messageRef=\"m\"/>".to_owned(), ""),
    ] {
        let compiled = compile(&imported(&node, message));
        let errors: Vec<&str> = compiled
            .diagnostics
            .iter()
            .filter(|own| own.is_error())
            .map(|own| own.message.as_str())
            .collect();
        match expected {
            "" => assert!(errors.is_empty(), "{node}: {errors:?}"),
            _ => assert!(errors.iter().any(|own| own.contains(expected)), "{node}: {errors:?}"),
        }
    }
    let definition = imported("<receiveTask id=\"x\" messageRef=\"m\"/>", message);
    let compiled = compile(&definition);
    let graph = &compiled.processes[0];
    let work = &graph.node(graph.find("x").unwrap()).work;
    assert!(matches!(work, super::Work::Receive(Some(own)) if own.correlation_key.is_some()), "{work:?}");
}

#[test]
fn a_setting_of_the_configuration_counts_more_than_the_vendors_word() {
    let mut definition = imported("<userTask id=\"x\" camunda:assignee=\"${bean.boss()}\"/>", "");
    let nodes = definition.bpmn.as_mut().unwrap().processes.as_mut().unwrap()[0].nodes.as_mut().unwrap();
    nodes[1].configuration = json!({"assignee": "ada"}).as_object().cloned();
    assert!(compile(&definition).is_executable());
    let written = heddle_bpmn::xml::write(&definition).unwrap().xml;
    assert!(written.contains("camunda:assignee=\"${bean.boss()}\""), "{written}");
    let again = heddle_bpmn::xml::read(written.as_bytes()).unwrap().definition;
    let nodes = again.bpmn.unwrap().processes.unwrap()[0].nodes.clone().unwrap();
    assert_eq!(nodes[1].configuration, json!({"assignee": "ada"}).as_object().cloned());

    // Words removed from the settings stay removed.
    let mut definition = imported("<userTask id=\"x\" camunda:assignee=\"ada\"/>", "");
    let nodes = definition.bpmn.as_mut().unwrap().processes.as_mut().unwrap()[0].nodes.as_mut().unwrap();
    nodes[1].configuration = None;
    let again = heddle_bpmn::xml::read(heddle_bpmn::xml::write(&definition).unwrap().xml.as_bytes())
        .unwrap()
        .definition;
    let nodes = again.bpmn.unwrap().processes.unwrap()[0].nodes.clone().unwrap();
    assert_eq!(nodes[1].configuration, Some(serde_json::Map::new()));
}

#[test]
fn what_was_imported_before_a_word_gave_a_setting_runs_on() {
    let prioritised = "<zeebe:taskDefinition type=\"a\"/><zeebe:jobPriorityDefinition priority=\"7\"/>";
    for (node, settings) in [
        (
            "<userTask id=\"x\" camunda:assignee=\"ada\" camunda:asyncBefore=\"true\"/>".to_owned(),
            json!({"assignee": "ada"}),
        ),
        ("<task id=\"x\" flowable:async=\"true\"/>".to_owned(), json!({})),
        ("<task id=\"x\" camunda:asyncAfter=\"true\"/>".to_owned(), json!({})),
        (
            "<businessRuleTask id=\"x\" camunda:decisionRef=\"d\" camunda:taskPriority=\"7\"/>".to_owned(),
            json!({"decisionRef": "d", "kind": "dmn", "resultMapping": "resultList"}),
        ),
        (
            format!(
                "<serviceTask id=\"x\"><extensionElements>{prioritised}</extensionElements></serviceTask>"
            ),
            json!({"jobType": "a"}),
        ),
    ] {
        let mut definition = imported(&node, "");
        let nodes = definition.bpmn.as_mut().unwrap().processes.as_mut().unwrap()[0].nodes.as_mut().unwrap();
        nodes[1].configuration = settings.as_object().cloned();
        let compiled = compile(&definition);
        assert!(compiled.is_executable(), "{node}: {:?}", compiled.diagnostics);
        assert_eq!(codes(&compiled, Severity::Warning), [("extensionUnused", Some("x"))], "{node}");
    }
}

#[test]
fn words_at_flows_processes_and_signals_count() {
    for (process, expected) in [
        (
            "<extensionElements><flowable:executionListener class=\"a.B\"/></extensionElements>",
            "flowable:executionListener",
        ),
        (
            "<dataObject id=\"d\"><extensionElements><flowable:value>1</flowable:value></extensionElements></dataObject>",
            "flowable:value",
        ),
    ] {
        let xml = format!(
            "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" targetNamespace=\"urn:x\" \
             xmlns:flowable=\"http://flowable.org/bpmn\"><process id=\"p\" isExecutable=\"true\">{process}\
             <startEvent id=\"s\"/></process></definitions>"
        );
        let compiled = compile(&heddle_bpmn::xml::read(xml.as_bytes()).unwrap().definition);
        assert!(
            compiled.diagnostics.iter().any(|own| own.is_error() && own.message.contains(expected)),
            "{process}"
        );
    }
    let signal = "<signal id=\"g\" name=\"go\" flowable:scope=\"processInstance\"/>";
    let catch = "<intermediateCatchEvent id=\"x\"><signalEventDefinition id=\"d\" signalRef=\"g\"/></intermediateCatchEvent>";
    assert_eq!(
        codes(&compile(&imported(catch, signal)), Severity::Error),
        [("unsupportedExtension", Some("x"))]
    );
    let signal = signal.replace("processInstance", "global");
    assert!(compile(&imported(catch, &signal)).is_executable());
}

#[test]
fn data_and_correlations_that_do_nothing_are_told_element_by_element() {
    let mut definition = around(json!({"type": "task", "bpmn": {
        "dataAssociations": [{"id": "a", "sources": ["d"], "target": "i"}],
        "dataInputs": [{"id": "i"}], "inputSets": [{"id": "is", "dataInputRefs": ["i"]}]
    }}));
    let key = |id: &str| json!([{"id": id}]);
    definition["bpmn"]["collaborations"] = json!([{
        "correlationKeys": key("k1"),
        "conversations": [{"type": "subConversation", "conversations": [{"correlationKeys": key("k2")}]}]
    }]);
    let subscription =
        json!([{"id": "sub", "correlationPropertyRef": "x"}, {"id": "sub", "correlationPropertyRef": "y"}]);
    definition["bpmn"]["processes"] = json!([{
        "id": "p", "nodes": [{"id": "n", "type": "startEvent", "bpmn": {"dataOutputs": [{"id": "o"}]}}],
        "inputSets": [{"id": "ps"}], "correlations": subscription
    }]);
    let compiled = compiled(definition);
    assert!(compiled.processes.len() == 2, "{:?}", compiled.diagnostics);
    assert_eq!(
        codes(&compiled, Severity::Warning),
        [
            ("dataAssociationsUnused", Some("x")),
            ("dataSetsUnused", Some("x")),
            ("correlationUnused", Some("sub")),
            ("dataSetsUnused", Some("n")),
            ("correlationUnused", Some("k1")),
            ("correlationUnused", Some("k2")),
        ]
    );
    assert!(compiled.diagnostics.iter().all(|one| one.clause.is_some() && one.remedy.is_some()));
}

#[test]
fn every_reason_for_which_a_node_is_refused_is_told_at_once() {
    let settings = json!({
        "jobType": "a", "retry": "often", "headers": [], "priority": "high", "resultVariable": 1,
        "inputs": [{"name": "", "value": "=)"}], "outputs": 1, "asyncBefore": "yes",
        "listeners": [{"on": "take", "jobType": "a"}, {"on": "end", "source": "1 +"}]
    });
    let worded = json!({"correlationKey": "=)", "payload": "=1 +", "errorCodeVariable": 1});
    let data = json!([
        {"sources": ["d"], "target": "o", "transformation": "1 +", "assignmentExpressions": [
            {"from": "=)", "to": "a..b"}, {"from": "1", "to": ""}
        ]},
        {"sources": ["d", "o"], "target": "d"}
    ]);
    let several = json!([
        {"type": "timer"}, {"type": "message", "reference": "m2"}, {"type": "compensate"}, {"type": "signal"}
    ]);
    let thrown = json!([{"type": "signal"}, {"type": "message"}, {"type": "link", "reference": "l"}]);
    let multi =
        json!({"cardinality": "=)", "elementVariable": 1, "sequential": "no", "odd": 1, "outputElement": 1});
    for (node, expected) in [
        (
            json!({"type": "serviceTask", "configuration": settings}),
            &[
                "retry: ",
                "headers: ",
                "priority: ",
                "resultVariable: ",
                "inputs[0].name: ",
                "inputs[0].value: ",
                "outputs: ",
                "listeners[0].on: ",
                "listeners[1].source: ",
                "asyncBefore: ",
            ][..],
        ),
        (
            json!({"type": "intermediateCatchEvent", "configuration": worded, "bpmn": {"eventDefinitions": several}}),
            &[
                "errorCodeVariable: 1 is no name",
                "the timer has neither",
                "there is no message with the id `m2`",
                "correlationKey: ",
                "payload: ",
                "a compensation cannot be one of several",
                "the event names no signal",
            ],
        ),
        (
            json!({"type": "intermediateThrowEvent", "configuration": {"payload": "=)"},
                "bpmn": {"eventDefinitions": thrown}}),
            &[
                "the event names no signal",
                "payload: ",
                "the event names no message",
                "beside messages and signals",
            ],
        ),
        (
            json!({"type": "boundaryEvent", "bpmn": {"attachedToRef": "gone", "eventDefinitions": [{"type": "link"}]}}),
            &["the link has no name", "the boundary event is attached to no activity"],
        ),
        (
            json!({"type": "task", "configuration": {"loop": multi}}),
            &["loop.odd: ", "loop.cardinality: ", "loop.elementVariable: ", "loop.sequential: "],
        ),
        (
            json!({"type": "task", "bpmn": {"dataAssociations": data}}),
            &[
                "transformation: ",
                "assignment: ",
                "the place `a..b`",
                "the place ``",
                "a data association with several",
            ],
        ),
    ] {
        let mut definition = around(node);
        definition["bpmn"]["processes"] = json!([{"id": "p", "dataObjects": [{"id": "d"}, {"id": "o"}]}]);
        let compiled = compiled(definition);
        let told = compiled
            .diagnostics
            .iter()
            .filter(|own| own.is_error() && own.element_id.as_deref() == Some("x"));
        let told: Vec<&str> = told.map(|own| own.message.as_str()).collect();
        for sentence in expected {
            let times = told.iter().filter(|one| one.starts_with(sentence)).count();
            assert_eq!(times, 1, "{sentence}: {told:#?}");
        }
        assert!(compiled.diagnostics.iter().all(|one| one.code != "dataAssociationsUnused"), "{told:?}");
    }
}

/// A definition of a start event, a node and an end event, with protection.
fn protected(node: &Value, protection: &Value) -> WorkflowDefinition {
    let mut node = node.clone();
    node["id"] = json!("x");
    let definition = json!({
        "protection": protection,
        "nodes": [{ "id": "s", "type": "startEvent" }, node, { "id": "e", "type": "endEvent" }],
        "edges": [
            { "id": "f", "source": "s", "target": "x" }, { "id": "g", "source": "x", "target": "e" },
        ],
    });
    serde_json::from_value(definition).unwrap()
}

#[test]
fn what_the_service_does_itself_is_a_job_of_a_reserved_type_with_what_protects_it() {
    let settings = json!({ "kind": "llm.chat", "model": "m", "prompt": "p" });
    let node = json!({ "type": "serviceTask", "configuration": settings });
    let compiled = compile(&protected(&node, &json!({ "preset": "standard" })));
    assert!(compiled.is_executable(), "{:?}", compiled.diagnostics);
    let graph = &compiled.processes[0];
    let own = graph.nodes().iter().find(|node| &*node.id == "x").unwrap();
    let Work::Job(job) = &own.work else { panic!("{:?}", own.work) };
    assert_eq!(job.headers["heddle"]["protection"], json!({ "preset": "standard" }));
    assert!(own.listeners.is_none(), "it is protected where it is done");
}

#[test]
fn settings_that_could_only_fail_are_refused_when_a_version_is_published_and_run_on_in_those_of_before() {
    let told = |settings: Value, protection: Value| -> Vec<String> {
        let node = json!({ "type": "serviceTask", "configuration": settings });
        let definition = protected(&node, &protection);
        assert!(compile(&definition).is_executable());
        let found = crate::service_settings(&definition);
        assert!(found.iter().all(|one| one.is_error() && one.element_id.as_deref() == Some("x")));
        found.into_iter().filter_map(|one| one.path).collect()
    };
    let step = json!({ "kind": "guardrail.check", "input": "= a" });
    let place = |member: &str| format!("nodes[1].configuration.{member}");
    assert_eq!(told(step.clone(), json!({ "preset": "basic" })), [""; 0]);
    assert_eq!(told(step.clone(), json!({})), [place("checks")]);
    assert_eq!(told(step.clone(), json!({ "preset": "strict" })), [place("model"), place("context")]);
    let mut wrong = step;
    wrong["preset"] = json!("= chosen");
    assert_eq!(told(wrong, json!({})), [place("preset")]);
}

#[test]
fn any_other_node_is_protected_before_and_behind_its_work() {
    let node = json!({ "type": "userTask", "configuration": { "listeners": [{ "on": "start", "source": "{a: 1}" }] } });
    let sides = |protection: Value| -> Vec<ListenerPlace> {
        let compiled = compile(&protected(&node, &protection));
        let graph = &compiled.processes[0];
        let own = graph.nodes().iter().find(|node| &*node.id == "x").unwrap();
        own.listeners.iter().flat_map(|own| own.all.iter().map(|one| one.place)).collect()
    };
    let (start, end) = (ListenerPlace::Start, ListenerPlace::End);
    assert_eq!(sides(json!({})), [start]);
    assert_eq!(sides(json!({ "preset": "basic" })), [end, start, start]);
    let check = json!({ "id": "a", "kind": "keywords", "stage": "input", "nodeIds": ["x"],
        "configuration": { "words": ["b"] } });
    assert_eq!(sides(json!({ "customChecks": [check.to_string()] })), [start, start]);
}

#[test]
fn an_agent_has_tools_with_descriptions_and_approvals_that_can_say_no() {
    let agent = |tool: Value| {
        let event = json!([{ "type": "timer", "timeDuration": "PT1H" }]);
        let bpmn = json!({ "attachedToRef": "late", "eventDefinitions": event });
        let outcomes = json!({ "outcomes": ["approve", "reject"] });
        let content = json!({ "nodes": [
            { "id": "look", "type": "userTask", "configuration": { "tool": tool } },
            { "id": "agree", "type": "userTask", "configuration": outcomes },
            { "id": "late", "type": "userTask", "configuration": outcomes },
            { "id": "hour", "type": "boundaryEvent", "bpmn": bpmn },
        ] });
        let settings = json!({ "kind": "agent", "model": "m", "goal": "g", "maxIterations": 3 });
        let node = json!({ "type": "adHocSubProcess", "configuration": settings, "bpmn": { "subProcess": content } });
        compile(&protected(&node, &json!({})))
    };
    let fine = agent(json!({ "description": "looks", "approval": "agree" }));
    assert!(fine.is_executable(), "{:?}", fine.diagnostics);
    for wrong in [
        json!({}),
        json!({ "description": "looks", "approval": "look" }),
        json!({ "description": "looks", "approval": "late" }),
        json!({ "description": 1 }),
    ] {
        let found = agent(wrong.clone());
        assert!(
            found.diagnostics.iter().any(|one| one.code == "wrongTool"),
            "{wrong}: {:?}",
            found.diagnostics
        );
    }
}
