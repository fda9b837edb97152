//! The rules for which the suite at hand has no model, each on a small model of our own.

use heddle_bpmn_validate::Profile::{self, CommonExecutable, Publication, Structural};

use crate::constraint_cases::{breaks, found, process};

/// A start, an activity and an end, with flows that both sides list, and more beside them.
fn around(activity: &str, more: &str) -> String {
    process(&format!(
        r#"<startEvent id="s"><outgoing>f</outgoing></startEvent>{activity}
           <endEvent id="e"><incoming>g</incoming></endEvent>
           <sequenceFlow id="f" sourceRef="s" targetRef="a"/><sequenceFlow id="g" sourceRef="a" targetRef="e"/>{more}"#
    ))
}

const TASK: &str = r#"<task id="a"><incoming>f</incoming><outgoing>g</outgoing></task>"#;

#[test]
fn a_plain_process_breaks_no_rule() {
    for profile in [Structural, Profile::Full, CommonExecutable] {
        assert_eq!(found(&around(TASK, ""), profile), []);
    }
}

#[test]
fn flows_and_pools() {
    let note = r#"<textAnnotation id="n"><text>x</text></textAnnotation>"#;
    let event_sub = r#"<subProcess id="es" triggeredByEvent="true"><startEvent id="es1"><timerEventDefinition>
        <timeDuration xsi:type="tFormalExpression">PT1H</timeDuration></timerEventDefinition></startEvent></subProcess>"#;
    let pool = |source: &str, target: &str| {
        format!(
            r#"<collaboration id="co"><participant id="one" processRef="p"/><participant id="two"/>
               <messageFlow id="m" sourceRef="{source}" targetRef="{target}"/>{note}</collaboration>{}"#,
            around(TASK, "")
        )
    };
    let flow = |source: &str, target: &str, beside: &str| {
        around(TASK, &format!(r#"{beside}<sequenceFlow id="x" sourceRef="{source}" targetRef="{target}"/>"#))
    };
    for (rule, model) in [
        ("EXT006", flow("a", "n", note)),
        ("EXT007", flow("n", "a", note)),
        ("EXT008", pool("two", "n")),
        ("EXT009", pool("n", "two")),
        ("EXT021", flow("es", "a", event_sub)),
        ("EXT022", flow("a", "es", event_sub)),
        ("EXT031", pool("a", "one")),
        ("EXT031", pool("s", "a")),
        ("EXT057", flow("a", "es", event_sub)),
        ("EXT102", pool("s", "two")),
        ("EXT103", pool("two", "s")),
        ("EXT108", pool("two", "e")),
        ("EXT109", pool("e", "two")),
        ("EXT036", around(TASK, r#"<choreographyTask id="c" initiatingParticipantRef="one"/>"#)),
    ] {
        assert!(breaks(rule, &model, Publication), "{rule} {model}");
    }
    assert!(!breaks("EXT031", &pool("a", "two"), Structural));
    for content in ["participant", "conversation", "textAnnotation"] {
        let model = format!(r#"<globalConversation id="g"><{content} id="x"/></globalConversation>"#);
        assert_eq!(breaks("EXT032", &model, Profile::Full), content != "participant", "{content}");
    }
}

#[test]
fn starts_and_ends_of_a_level() {
    for (rule, content) in [
        ("EXT097", r#"<task id="a"/><endEvent id="e"/><sequenceFlow id="g" sourceRef="a" targetRef="e"/>"#),
        ("EXT105", r#"<startEvent id="s"/><task id="a"/><sequenceFlow id="f" sourceRef="s" targetRef="a"/>"#),
        ("EXT107", r#"<startEvent id="s"/><endEvent id="e"/>"#),
    ] {
        assert!(breaks(rule, &process(content), Structural), "{rule}");
        assert!(!breaks(rule, &around(TASK, ""), Structural), "{rule}");
    }
}

const ITEMS: &str = r#"<itemDefinition id="one" structureRef="A"/><itemDefinition id="list" structureRef="A" isCollection="true"/>
    <message id="m" itemRef="one"/><escalation id="bare"/><escalation id="coded" escalationCode="7"/>
    <interface id="if" name="if"><operation id="op" name="op"><inMessageRef>m</inMessageRef></operation></interface>"#;

#[test]
fn tasks_and_their_data() {
    let io = |inputs: usize, outputs: usize, input_sets: usize, output_sets: usize| {
        let each = |count: usize, text: &str| {
            (0..count).map(|at| text.replace('#', &at.to_string())).collect::<String>()
        };
        format!(
            "<ioSpecification>{}{}{}{}</ioSpecification>",
            each(inputs, r#"<dataInput id="i#" itemSubjectRef="one"/>"#),
            each(outputs, r#"<dataOutput id="o#" itemSubjectRef="one"/>"#),
            each(input_sets, "<inputSet><dataInputRefs>i#</dataInputRefs></inputSet>"),
            each(output_sets, "<outputSet><dataOutputRefs>o#</dataOutputRefs></outputSet>"),
        )
    };
    let task = |name: &str, reference: &str, io: &str| {
        let activity = format!(
            r#"<{name} id="a" {reference}><incoming>f</incoming><outgoing>g</outgoing>{io}</{name}>"#
        );
        format!("{ITEMS}{}", around(&activity, ""))
    };
    let (operation, message) = (r#"operationRef="op""#, r#"messageRef="m""#);
    for (rule, broken, model) in [
        ("EXT042", true, task("serviceTask", operation, "")),
        ("EXT042", true, task("serviceTask", operation, &io(2, 0, 2, 1))),
        ("EXT042", false, task("serviceTask", operation, &io(1, 0, 1, 1))),
        ("EXT043", true, task("serviceTask", operation, &io(1, 2, 1, 2))),
        ("EXT043", false, task("serviceTask", operation, &io(1, 1, 1, 1))),
        ("EXT046", true, task("sendTask", message, &io(1, 0, 2, 1))),
        ("EXT047", true, task("sendTask", message, &io(2, 0, 1, 1))),
        ("EXT049", true, task("receiveTask", r#"instantiate="1""#, "")),
        ("EXT049", false, task("receiveTask", message, "")),
        ("EXT050", true, task("receiveTask", message, &io(0, 2, 1, 2))),
        ("EXT050", false, task("receiveTask", message, &io(0, 1, 1, 1))),
        ("EXT051", true, task("receiveTask", message, &io(0, 2, 1, 1))),
        ("EXT051", false, task("receiveTask", message, &io(0, 1, 1, 1))),
        ("EXT053", true, task("scriptTask", "", "<script>x</script>")),
        ("EXT053", false, task("scriptTask", r#"scriptFormat="text/x""#, "<script>x</script>")),
        ("EXT079", true, task("subProcess", "", &io(1, 1, 1, 1))),
        ("EXT079", false, task("task", "", &io(1, 1, 1, 1))),
    ] {
        assert_eq!(breaks(rule, &model, CommonExecutable), broken, "{rule} {model}");
    }
}

#[test]
fn the_format_of_a_script_is_a_media_type_or_names_a_language() {
    let told = |format: &str, profile: Profile| {
        let script = format!(
            r#"<scriptTask id="a" scriptFormat="{format}"><incoming>f</incoming><outgoing>g</outgoing><script>x</script>
               </scriptTask>"#
        );
        let all = found(&around(&script, ""), profile);
        let about: Vec<_> = all.into_iter().filter(|one| one.code == "scriptFormat").collect();
        assert!(about.iter().all(|one| !one.is_error() && one.remedy.is_some()), "{about:?}");
        !about.is_empty()
    };
    // What models of the suites have is no fault.
    for format in
        ["javascript", "JavaScript", "groovy", "feel", "freemarker", "C++", "text/x-groovy", "text/js; v=1"]
    {
        assert!(!told(format, CommonExecutable), "{format}");
    }
    for format in ["text/", "text/x/y", "java script", "=language", "/groovy", "text/js; v"] {
        assert!(told(format, Structural), "{format}");
        assert!(!told(format, Publication), "{format}");
    }
    let global = r#"<globalScriptTask id="g" scriptLanguage="text/"><script>x</script></globalScriptTask>"#;
    let all = found(&format!("{global}{}", around(TASK, "")), Structural);
    assert!(all.iter().any(|one| one.code == "scriptFormat"), "{all:?}");
}

#[test]
fn loops_and_associations() {
    let multi = |list: &str, one: &str| {
        let activity = format!(
            r#"<task id="a"><incoming>f</incoming><outgoing>g</outgoing><ioSpecification>
               <dataInput id="i" itemSubjectRef="{list}" isCollection="true"/><inputSet><dataInputRefs>i</dataInputRefs>
               </inputSet><outputSet/></ioSpecification><multiInstanceLoopCharacteristics><loopDataInputRef>i</loopDataInputRef>
               <inputDataItem id="n" {one}/></multiInstanceLoopCharacteristics></task>"#
        );
        format!("{ITEMS}{}", around(&activity, ""))
    };
    for (one, broken) in [
        (r#"itemSubjectRef="one""#, false),
        (r#"itemSubjectRef="list" isCollection="true""#, true),
        ("", true),
    ] {
        assert_eq!(breaks("EXT070", &multi("list", one), CommonExecutable), broken, "{one}");
    }
    let sources = |sources: &str, more: &str| {
        let activity = format!(
            r#"<task id="a"><incoming>f</incoming><outgoing>g</outgoing><ioSpecification><dataInput id="i"/><inputSet>
               <dataInputRefs>i</dataInputRefs></inputSet><outputSet/></ioSpecification>
               <dataInputAssociation id="da">{sources}<targetRef>i</targetRef>{more}</dataInputAssociation></task>"#
        );
        around(&activity, r#"<dataObject id="d1"/><dataObject id="d2"/>"#)
    };
    let (one, two) = ("<sourceRef>d1</sourceRef>", "<sourceRef>d1</sourceRef><sourceRef>d2</sourceRef>");
    assert!(breaks("EXT092", &sources(two, ""), Structural));
    assert!(!breaks("EXT092", &sources(two, "<transformation>d1 + d2</transformation>"), Structural));
    assert!(!breaks("EXT092", &sources(one, ""), Structural));
}

#[test]
fn events_of_all_kinds() {
    let throw = |definition: &str| {
        format!(
            "{ITEMS}{}",
            around(&format!(r#"<intermediateThrowEvent id="a">{definition}</intermediateThrowEvent>"#), "")
        )
    };
    let boundary = |host: &str, definition: &str, more: &str| {
        let host = format!(r#"<{host} id="a"><incoming>f</incoming><outgoing>g</outgoing></{host}>"#);
        let event = format!(r#"<boundaryEvent id="b" attachedToRef="a">{definition}</boundaryEvent>{more}"#);
        around(&host, &event)
    };
    let link = r#"<intermediateThrowEvent id="a"><linkEventDefinition name="L"/></intermediateThrowEvent>"#;
    let catch = r#"<intermediateCatchEvent id="c"><linkEventDefinition name="L"/></intermediateCatchEvent>"#;
    let flow = r#"<task id="t"/><sequenceFlow id="x" sourceRef="b" targetRef="t"/>"#;
    let shared = r#"<intermediateThrowEvent id="t"><signalEventDefinition id="sd"/></intermediateThrowEvent>
        <intermediateCatchEvent id="u"><eventDefinitionRef>sd</eventDefinitionRef></intermediateCatchEvent>"#;
    let to_throw = format!(
        r#"<collaboration id="co"><participant id="two"/><messageFlow id="m1" sourceRef="two" targetRef="a"/>
           </collaboration>{}"#,
        throw(r#"<signalEventDefinition/>"#)
    );
    for (rule, broken, model) in [
        ("EXT011", true, throw(r#"<escalationEventDefinition escalationRef="bare"/>"#)),
        ("EXT011", true, throw("<escalationEventDefinition/>")),
        ("EXT011", false, throw(r#"<escalationEventDefinition escalationRef="coded"/>"#)),
        ("EXT095", true, around(TASK, shared)),
        ("EXT111", true, boundary("task", "<cancelEventDefinition/>", "")),
        ("EXT111", false, boundary("transaction", "<cancelEventDefinition/>", "")),
        ("EXT114", true, boundary("task", "<compensateEventDefinition/>", flow)),
        ("EXT114", false, boundary("task", "<timerEventDefinition/>", flow)),
        ("EXT117", true, around(link, catch)),
        ("EXT118", false, around(link, catch)),
        ("EXT119", true, to_throw),
    ] {
        assert_eq!(breaks(rule, &model, CommonExecutable), broken, "{rule} {model}");
    }
}

#[test]
fn what_an_event_based_gateway_leads_to() {
    let gateway = |targets: [&str; 2], more: &str| {
        let [one, two] = targets;
        around(
            r#"<eventBasedGateway id="a"/>"#,
            &format!(
                r#"{one}{two}<sequenceFlow id="x" sourceRef="a" targetRef="t1"/>
                   <sequenceFlow id="y" sourceRef="a" targetRef="t2"/>{more}"#
            ),
        )
    };
    let receive = r#"<receiveTask id="t1"/>"#;
    let message = r#"<intermediateCatchEvent id="t2"><messageEventDefinition/></intermediateCatchEvent>"#;
    let timer = r#"<intermediateCatchEvent id="t2"><timerEventDefinition/></intermediateCatchEvent>"#;
    let more = r#"<sequenceFlow id="z" sourceRef="s" targetRef="t2"/>"#;
    for (rule, model) in [
        ("EXT138", gateway([r#"<task id="t1"/>"#, timer], "")),
        ("EXT138", gateway([r#"<intermediateCatchEvent id="t1"/>"#, timer], "")),
        ("EXT139", gateway([receive, message], "")),
        ("EXT141", gateway([receive, timer], more)),
    ] {
        assert!(breaks(rule, &model, Publication), "{rule} {model}");
        // The gateway's third flow, to the end event, is no part of the question.
        if rule != "EXT138" {
            assert!(!breaks(rule, &gateway([receive, timer], ""), Publication), "{rule}");
        }
    }
}
