//! Constraints on small models of our own, each with a model beside it that keeps the rule.

use heddle_bpmn::Diagnostic;
use heddle_bpmn::xml;
use heddle_bpmn_validate::{Profile, constraints};

use Profile::{CommonExecutable, Publication, Structural};

/// Findings about a document with these elements at its root.
pub(crate) fn found(root: &str, profile: Profile) -> Vec<Diagnostic> {
    let document = format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:t="urn:t"
            xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" targetNamespace="urn:t">{root}</definitions>"#
    );
    let imported = xml::read(document.as_bytes()).unwrap();
    constraints(&imported.definition, profile)
}

/// Whether a document breaks a rule.
pub(crate) fn breaks(rule: &str, root: &str, profile: Profile) -> bool {
    found(root, profile).iter().any(|one| one.is_error() && one.rule.as_deref() == Some(rule))
}

/// An executable process with this content.
pub(crate) fn process(content: &str) -> String {
    format!(r#"<process id="p" isExecutable="true">{content}</process>"#)
}

#[track_caller]
fn judged(profile: Profile, cases: &[(&str, bool, &str)]) {
    let wrong: Vec<_> = cases.iter().filter(|(rule, is, root)| breaks(rule, root, profile) != *is).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[track_caller]
fn judged_in_process(profile: Profile, cases: &[(&str, bool, &str)]) {
    let wrong = cases.iter().filter(|(rule, is, content)| breaks(rule, &process(content), profile) != *is);
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn rules_of_the_descriptive_and_analytic_classes_are_told_by_default_and_refuse_nothing() {
    let loose = process(
        r#"<startEvent id="s"/><task id="a"/><task id="b"/><endEvent id="e"/>
           <sequenceFlow id="f" sourceRef="s" targetRef="a"/><sequenceFlow id="g" sourceRef="b" targetRef="e"/>
           <task id="z"><incoming>f</incoming></task><dataObject id="d" name="Order"/>
           <dataObjectReference id="r" name="Bill" dataObjectRef="d"/>"#,
    );
    for rule in ["EXT023", "EXT076", "EXT101", "EXT150", "EXT151"] {
        assert!(breaks(rule, &loose, Structural), "{rule}");
        assert!(!breaks(rule, &loose, Publication), "{rule}");
    }
}

#[test]
fn an_incoming_flow_is_told_by_its_own_name() {
    let flow = |told: &str| {
        format!(
            r#"<startEvent id="s"><outgoing>f1</outgoing></startEvent><task id="a"><incoming>{told}</incoming></task>
               <sequenceFlow id="f1" sourceRef="s" targetRef="a"/>"#
        )
    };
    for (told, broken) in [("f1", false), ("t:f1", false), (" f1 ", false), ("xf1", true), ("f", true)] {
        assert_eq!(breaks("EXT023", &process(&flow(told)), Structural), broken, "{told}");
    }
}

#[test]
fn a_condition_of_an_executed_event_is_formal() {
    let event = |condition: &str| {
        format!(
            r#"<intermediateCatchEvent id="c"><conditionalEventDefinition id="d">{condition}</conditionalEventDefinition>
               </intermediateCatchEvent>"#
        )
    };
    for (condition, broken) in [
        (r#"<condition xsi:type="tFormalExpression">rain</condition>"#, false),
        (r#"<condition xsi:type="tFormalExpression"> </condition>"#, true),
        (r#"<condition xsi:type="tExpression">it rains</condition>"#, true),
        ("<condition>it rains</condition>", true),
    ] {
        assert_eq!(breaks("EXT123", &process(&event(condition)), Structural), broken, "{condition}");
        let drawn = format!(r#"<process id="p">{}</process>"#, event(condition));
        assert!(!breaks("EXT123", &drawn, Structural), "{condition}");
    }
}

#[test]
fn times_are_those_of_the_standard_or_computed() {
    let cases = [
        ("timeDate", "EXT132", "2030-01-31T12:00:00Z", false),
        ("timeDate", "EXT132", "2030-01-31T12:00:00+02:00", false),
        ("timeDate", "EXT132", "2014-13-45T99:00:00", true),
        ("timeDate", "EXT132", "10-10-2014 12:00", true),
        ("timeDate", "EXT132", "tomorrow at (noon)", true),
        ("timeDate", "EXT132", "= due", false),
        ("timeDate", "EXT132", "${due}", false),
        ("timeDate", "EXT132", r#"now() + duration("PT1H")"#, false),
        ("timeDuration", "EXT134", "P1Y2M3DT4H5M6S", false),
        ("timeDuration", "EXT134", "PT0S", false),
        ("timeDuration", "EXT134", "P${days}D", false),
        ("timeDuration", "EXT134", "PTT", true),
        ("timeDuration", "EXT134", "P1S", true),
        ("timeDuration", "EXT134", "PT1Y5", true),
        ("timeDuration", "EXT134", "5 minutes", true),
        ("timeCycle", "EXT133", "R3/PT10M", false),
        ("timeCycle", "EXT133", "R/2030-01-01T00:00:00Z/P1D", false),
        ("timeCycle", "EXT133", "R/INVALID", true),
        ("timeCycle", "EXT133", "Rx/PT5M", true),
        ("timeCycle", "EXT133", "every day just after the lunch", true),
    ];
    for (name, rule, text, broken) in cases {
        let event = format!(
            r#"<intermediateCatchEvent id="c"><timerEventDefinition id="d">
               <{name} xsi:type="tFormalExpression">{text}</{name}></timerEventDefinition></intermediateCatchEvent>"#
        );
        assert_eq!(breaks(rule, &process(&event), Structural), broken, "{name} {text}");
    }
    let other = r#"<intermediateCatchEvent id="c"><timerEventDefinition id="d">
        <timeDate xsi:type="tFormalExpression" language="urn:groovy">later(1)</timeDate></timerEventDefinition>
        </intermediateCatchEvent>"#;
    assert!(!breaks("EXT132", &process(other), Structural));
}

#[test]
fn expressions_are_formal_and_have_a_body_wherever_they_stand() {
    let by_reference = |condition: &str, executable: bool| {
        format!(
            r#"<conditionalEventDefinition id="d">{condition}</conditionalEventDefinition>
               <process id="p" isExecutable="{executable}"><intermediateCatchEvent id="c">
               <eventDefinitionRef>d</eventDefinitionRef></intermediateCatchEvent></process>"#
        )
    };
    let plain = "<condition>it rains</condition>";
    let empty = r#"<condition xsi:type="tFormalExpression"/>"#;
    judged(
        CommonExecutable,
        &[
            ("EXT012", true, &by_reference(plain, true)),
            ("EXT012", false, &by_reference(plain, false)),
            ("EXT013", true, &by_reference(empty, true)),
            ("EXT013", false, &by_reference(empty, false)),
        ],
    );
    judged_in_process(
        CommonExecutable,
        &[
            (
                "EXT012",
                true,
                r#"<userTask id="a"><performer id="r"><resourceAssignmentExpression><expression>the boss</expression>
                   </resourceAssignmentExpression></performer></userTask>"#,
            ),
            (
                "EXT012",
                false,
                r#"<userTask id="a"><performer id="r"><resourceAssignmentExpression>
                   <formalExpression>boss</formalExpression></resourceAssignmentExpression></performer></userTask>"#,
            ),
            (
                "EXT012",
                true,
                r#"<task id="a"><dataInputAssociation id="x"><targetRef>i</targetRef><assignment>
                   <from>the total</from><to xsi:type="tFormalExpression">i</to></assignment></dataInputAssociation></task>"#,
            ),
            (
                "EXT013",
                true,
                r#"<task id="a"><dataInputAssociation id="x"><targetRef>i</targetRef><assignment>
                   <from xsi:type="tFormalExpression">1</from><to xsi:type="tFormalExpression"/></assignment>
                   </dataInputAssociation></task>"#,
            ),
        ],
    );
}

#[test]
fn a_call_has_the_data_of_what_it_calls() {
    let spec = |inner: &str| format!(r#"<ioSpecification id="io">{inner}</ioSpecification>"#);
    let data = |id: &str, collection: bool, optional: &str| {
        format!(
            r#"<dataInput id="{id}" isCollection="{collection}"/><inputSet id="{id}s"><dataInputRefs>{id}</dataInputRefs>
               {optional}</inputSet><outputSet id="{id}o"/>"#
        )
    };
    let optional = |id: &str| format!("<optionalInputRefs>{id}</optionalInputRefs>");
    let call = |own: &str, called: &str| {
        format!(
            r#"<process id="p" isExecutable="true"><callActivity id="a" calledElement="q">{own}</callActivity></process>
               <process id="q">{called}<startEvent id="s"/></process>"#
        )
    };
    let (none, mine) = (String::new(), spec(&data("i", false, "")));
    judged(
        CommonExecutable,
        &[
            ("EXT063", false, &call(&none, &none)),
            ("EXT063", false, &call(&mine, &spec(&data("j", false, "")))),
            ("EXT063", false, &call(&none, &spec(r#"<inputSet id="x"/><outputSet id="y"/>"#))),
            ("EXT063", true, &call(&mine, &none)),
            ("EXT063", true, &call(&none, &mine.replace("\"i", "\"j").replace(">i<", ">j<"))),
            ("EXT063", true, &call(&mine, &spec(&data("j", true, "")))),
            ("EXT063", true, &call(&mine, &spec(&data("j", false, &optional("j"))))),
            (
                "EXT063",
                false,
                &call(&spec(&data("i", false, &optional("i"))), &spec(&data("j", false, &optional("j")))),
            ),
        ],
    );
}

const ITEMS: &str = r#"<itemDefinition id="one" structureRef="A"/><itemDefinition id="two" structureRef="B"/>
    <message id="typed" itemRef="one"/><message id="untyped"/>"#;

#[test]
fn what_is_typed_differs_from_what_is_not() {
    let service = |message: &str, data: &str| {
        format!(
            r#"{ITEMS}<interface id="i" name="i"><operation id="op" name="op"><inMessageRef>{message}</inMessageRef>
               <outMessageRef>{message}</outMessageRef></operation></interface>
               <process id="p" isExecutable="true"><serviceTask id="a" operationRef="op"><ioSpecification>
               <dataInput id="x" {data}/><dataOutput id="y" {data}/><inputSet><dataInputRefs>x</dataInputRefs></inputSet>
               <outputSet><dataOutputRefs>y</dataOutputRefs></outputSet></ioSpecification></serviceTask></process>"#
        )
    };
    let send = |message: &str, data: &str| {
        format!(
            r#"{ITEMS}<process id="p" isExecutable="true"><sendTask id="a" messageRef="{message}"><ioSpecification>
               <dataInput id="x" {data}/><inputSet><dataInputRefs>x</dataInputRefs></inputSet><outputSet/>
               </ioSpecification></sendTask></process>"#
        )
    };
    let event = |message: &str, data: &str| {
        format!(
            r#"{ITEMS}<process id="p"><startEvent id="s"><dataOutput id="x" {data}/>
               <messageEventDefinition messageRef="{message}"/></startEvent></process>"#
        )
    };
    let association = |source: &str, target: &str| {
        format!(
            r#"{ITEMS}<process id="p"><dataObject id="d" {source}/><task id="a"><ioSpecification><dataInput id="x" {target}/>
               <inputSet><dataInputRefs>x</dataInputRefs></inputSet><outputSet/></ioSpecification>
               <dataInputAssociation id="da"><sourceRef>d</sourceRef><targetRef>x</targetRef></dataInputAssociation>
               </task></process>"#
        )
    };
    let (one, two) = (r#"itemSubjectRef="one""#, r#"itemSubjectRef="two""#);
    for (message, data, broken) in [
        ("typed", one, false),
        ("untyped", "", false),
        ("typed", r#"itemSubjectRef="t:elsewhere""#, false),
        ("typed", two, true),
        ("typed", "", true),
        ("untyped", one, true),
    ] {
        for (rule, model) in [
            ("EXT044", service(message, data)),
            ("EXT045", service(message, data)),
            ("EXT048", send(message, data)),
            ("EXT094", event(message, data)),
        ] {
            assert_eq!(breaks(rule, &model, CommonExecutable), broken, "{rule} {message} {data}");
        }
    }
    for (source, target, broken) in
        [(one, one, false), ("", "", false), (one, two, true), (one, "", true), ("", one, true)]
    {
        let model = association(source, target);
        assert_eq!(breaks("EXT091", &model, Structural), broken, "{source} {target}");
        assert!(!breaks("EXT091", &model, Publication));
    }
}

#[test]
fn events_have_sets_of_their_own() {
    judged_in_process(
        CommonExecutable,
        &[
            ("EXT084", true, r#"<endEvent id="e"><dataInput id="x"/><inputSet/></endEvent>"#),
            (
                "EXT084",
                false,
                r#"<endEvent id="e"><dataInput id="x"/><inputSet><dataInputRefs>x</dataInputRefs></inputSet></endEvent>"#,
            ),
            (
                "EXT085",
                true,
                r#"<endEvent id="e"><dataInput id="x"/><inputSet><optionalInputRefs>x</optionalInputRefs></inputSet></endEvent>"#,
            ),
            (
                "EXT086",
                true,
                r#"<endEvent id="e"><dataInput id="x"/>
                   <inputSet><whileExecutingInputRefs>x</whileExecutingInputRefs></inputSet></endEvent>"#,
            ),
            ("EXT088", true, r#"<startEvent id="s"><dataOutput id="x"/><outputSet/></startEvent>"#),
            (
                "EXT089",
                true,
                r#"<startEvent id="s"><dataOutput id="x"/>
                   <outputSet><optionalOutputRefs>x</optionalOutputRefs></outputSet></startEvent>"#,
            ),
            (
                "EXT090",
                true,
                r#"<startEvent id="s"><dataOutput id="x"/>
                   <outputSet><whileExecutingOutputRefs>x</whileExecutingOutputRefs></outputSet></startEvent>"#,
            ),
        ],
    );
}

#[test]
fn a_boolean_has_two_spellings() {
    let flow = |value: &str| {
        format!(
            r#"<task id="a"/><task id="b"/><sequenceFlow id="f" sourceRef="a" targetRef="b" isImmediate="{value}"/>"#
        )
    };
    let boundary = |value: &str| {
        format!(
            r#"<task id="a"/><boundaryEvent id="b" attachedToRef="a" cancelActivity="{value}">
               <errorEventDefinition/></boundaryEvent>"#
        )
    };
    let start = |value: &str| {
        format!(
            r#"<subProcess id="e" triggeredByEvent="1"><startEvent id="s" isInterrupting="{value}">
               <errorEventDefinition/></startEvent></subProcess>"#
        )
    };
    for (value, broken) in [("0", true), ("false", true), ("1", false), ("true", false)] {
        judged_in_process(
            CommonExecutable,
            &[
                ("EXT024", broken, &flow(value)),
                ("EXT110", broken, &boundary(value)),
                ("EXT059", broken, &start(value)),
            ],
        );
    }
}

#[test]
fn a_compensation_handler_is_a_marked_task_or_sub_process() {
    let handled = |handler: &str| {
        format!(
            r#"<task id="a"/><boundaryEvent id="b" attachedToRef="a"><compensateEventDefinition/></boundaryEvent>
               {handler}<association id="x" sourceRef="b" targetRef="h"/>"#
        )
    };
    for (handler, missing, unfit) in [
        (r#"<task id="h" isForCompensation="true"/>"#, false, false),
        (r#"<subProcess id="h" isForCompensation="true"/>"#, false, false),
        (r#"<task id="h"/>"#, false, true),
        (r#"<callActivity id="h" isForCompensation="true"/>"#, false, true),
        (r#"<exclusiveGateway id="h"/>"#, true, true),
        (r#"<textAnnotation id="h"/>"#, true, false),
        ("", true, false),
    ] {
        let model = process(&handled(handler));
        assert_eq!(breaks("EXT143", &model, Structural), missing, "{handler}");
        assert_eq!(breaks("EXT144", &model, Structural), unfit, "{handler}");
    }
}

#[test]
fn collections_cancellations_and_messages() {
    let item = r#"<itemDefinition id="many" structureRef="A" isCollection="true"/>"#;
    let in_process = |content: &str| format!("{item}{}", process(content));
    let cancel = r#"<endEvent id="e"><cancelEventDefinition/></endEvent>"#;
    judged(
        CommonExecutable,
        &[
            ("EXT020", true, &in_process(r#"<property id="x" itemSubjectRef="many" isCollection="false"/>"#)),
            ("EXT020", false, &in_process(r#"<property id="x" itemSubjectRef="many"/>"#)),
            ("EXT020", false, &format!(r#"{item}<dataStore id="x" itemSubjectRef="many"/>"#)),
            (
                "EXT020",
                true,
                &in_process(
                    r#"<task id="a"><multiInstanceLoopCharacteristics><inputDataItem id="x" itemSubjectRef="many"/>
                       </multiInstanceLoopCharacteristics></task>"#,
                ),
            ),
            (
                "EXT020",
                false,
                &in_process(
                    r#"<task id="a"><multiInstanceLoopCharacteristics>
                       <outputDataItem id="x" itemSubjectRef="many" isCollection="1"/>
                       </multiInstanceLoopCharacteristics></task>"#,
                ),
            ),
        ],
    );
    judged_in_process(
        CommonExecutable,
        &[
            ("EXT106", false, &format!(r#"<transaction id="t">{cancel}</transaction>"#)),
            (
                "EXT106",
                true,
                &format!(r#"<transaction id="t"><subProcess id="u">{cancel}</subProcess></transaction>"#),
            ),
            ("EXT127", true, r#"<sendTask id="a"/>"#),
            ("EXT127", true, r#"<receiveTask id="a" operationRef="op"/>"#),
            ("EXT127", false, r#"<receiveTask id="a" messageRef="m"/>"#),
            ("EXT128", true, r#"<serviceTask id="a"/>"#),
            ("EXT128", true, r#"<sendTask id="a" messageRef="m"/>"#),
            ("EXT128", false, r#"<serviceTask id="a" operationRef="op"/>"#),
        ],
    );
}

#[test]
fn links_are_paired_by_level_and_name() {
    let throw = |id: &str, name: &str| {
        format!(
            r#"<intermediateThrowEvent id="{id}"><linkEventDefinition name="{name}"/></intermediateThrowEvent>"#
        )
    };
    let catch = |id: &str, name: &str| {
        format!(
            r#"<intermediateCatchEvent id="{id}"><linkEventDefinition name="{name}"/></intermediateCatchEvent>"#
        )
    };
    let sub = |content: &str| format!(r#"<subProcess id="sub">{content}</subProcess>"#);
    let pair = format!("{}{}{}", throw("a", "L"), throw("b", "L"), catch("c", "L"));
    let twice = format!("{}{}{}", throw("a", "L"), catch("b", "L"), catch("c", "L"));
    let apart = format!("{}{}", throw("a", "L"), sub(&catch("c", "L")));
    judged_in_process(
        Structural,
        &[
            ("EXT118", false, &pair),
            ("EXT124", false, &pair),
            ("EXT125", false, &pair),
            ("EXT125", true, &twice),
            ("EXT118", true, &throw("a", "L")),
            ("EXT124", true, &catch("c", "L")),
            ("EXT126", true, &apart),
            ("EXT126", false, &pair),
        ],
    );
}

#[test]
fn a_finding_says_where_its_element_stands() {
    let model = r#"<message id="m" itemRef="none"/>
        <collaboration id="co"><participant id="pa" processRef="none"><participantMultiplicity id="mu" minimum="-1"/>
        </participant><messageFlow id="mf" sourceRef="none" targetRef="pa"/></collaboration>
        <process id="p"><laneSet id="ls"><lane id="l"><flowNodeRef>none</flowNodeRef></lane></laneSet>
        <subProcess id="sub"><task id="a"><ioSpecification id="io"><dataInput id="x"/><inputSet id="is"/><outputSet/>
        </ioSpecification></task></subProcess></process>"#;
    let found = found(model, Structural);
    let path = |id: &str| {
        let one = found.iter().find(|one| one.element_id.as_deref() == Some(id));
        one.and_then(|one| one.path.as_deref()).unwrap_or_else(|| panic!("{id} in {found:#?}"))
    };
    assert_eq!(path("m"), "bpmn.messages[0]");
    assert_eq!(path("pa"), "bpmn.collaborations[0].participants[0]");
    assert_eq!(path("mf"), "bpmn.collaborations[0].messageFlows[0]");
    assert_eq!(path("l"), "bpmn.processes[0].laneSets[0].lanes[0]");
    assert_eq!(path("x"), "bpmn.processes[0].nodes[0].bpmn.subProcess.nodes[0].bpmn.dataInputs[0]");
}

#[test]
fn what_cannot_be_written_is_an_error_with_its_place() {
    let mut definition = xml::read(
        br#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:t">
            <process id="p"><task id="a"/></process></definitions>"#,
    )
    .unwrap()
    .definition;
    let process = &mut definition.bpmn.as_mut().unwrap().processes.as_mut().unwrap()[0];
    process.nodes.as_mut().unwrap()[0].display_name = Some("\u{1}".to_owned());
    for profile in [Publication, Structural, CommonExecutable] {
        let found = constraints(&definition, profile);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].is_error() && found[0].code == "notExportable" && found[0].path.is_some(),
            "{found:?}"
        );
    }
}

#[test]
fn names_beyond_the_published_catalogue_are_not_told() {
    let model = process(r#"<startEvent id="s"><signalEventDefinition signalRef="none"/></startEvent>"#);
    let found = found(&model, Structural);
    let dangling = found.iter().find(|one| one.code == "danglingReference").unwrap();
    assert_eq!(dangling.rule, None);
}
