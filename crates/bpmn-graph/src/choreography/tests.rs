//! Tests of monitors: traces that a choreography allows, and what is refused of others.

use super::{ChoreographyState, Direction, Exchange, Monitor, Refused, compile};
use heddle_bpmn::diagnostic::Severity;
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn::xml;
use std::fmt::Write;

/// A definition of these root elements.
fn definition(roots: &str) -> WorkflowDefinition {
    let text = format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:t">{roots}</definitions>"#
    );
    xml::read(text.as_bytes()).unwrap().definition
}

/// Elements of a choreography, one a line: `task id A>B m [B>A n] [loopType]`, `sub id [loopType] {` to `}`,
/// `flows a>b>c; d>e`, a boundary event `at id host`, or the name of an element and an id.
fn elements(text: &str, flows: &mut String, messages: &mut String) -> String {
    let mut out = String::new();
    let mut count = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["task", id, rest @ ..] => {
                let own = rest
                    .last()
                    .copied()
                    .filter(|word| word.starts_with(char::is_uppercase) && !word.contains('>'));
                let mut refs = String::new();
                for (number, leg) in rest.chunks(2).filter(|leg| leg.len() == 2).enumerate() {
                    let (from, to) = leg[0].split_once('>').unwrap();
                    let message = leg[1];
                    if !messages.contains(&format!("\"{message}\"")) {
                        write!(messages, "<message id=\"{message}\" name=\"{message}\"/>").unwrap();
                    }
                    write!(flows, "<messageFlow id=\"mf-{id}-{number}\" sourceRef=\"{from}\" targetRef=\"{to}\" messageRef=\"{message}\"/>").unwrap();
                    write!(refs, "<messageFlowRef>mf-{id}-{number}</messageFlowRef>").unwrap();
                }
                let (from, to) = rest[0].split_once('>').unwrap();
                let kind = own.map(|own| format!(" loopType=\"{own}\"")).unwrap_or_default();
                write!(
                    out,
                    "<choreographyTask id=\"{id}\" initiatingParticipantRef=\"{from}\"{kind}>\
                     <participantRef>{from}</participantRef><participantRef>{to}</participantRef>{refs}\
                     </choreographyTask>"
                )
                .unwrap();
            }
            ["sub", id, rest @ ..] => {
                let kind = rest.first().filter(|word| **word != "{");
                let kind = kind.map(|own| format!(" loopType=\"{own}\"")).unwrap_or_default();
                write!(out, "<subChoreography id=\"{id}\" initiatingParticipantRef=\"A\"{kind}>").unwrap();
            }
            ["}"] => out.push_str("</subChoreography>"),
            ["flows", ..] => {
                for chain in line.trim_start_matches("flows").split(';') {
                    let names: Vec<&str> = chain.split('>').map(str::trim).collect();
                    for pair in names.windows(2) {
                        count += 1;
                        let (from, to) = (pair[0], pair[1]);
                        write!(out, "<sequenceFlow id=\"{from}-{to}-{count}\" sourceRef=\"{from}\" targetRef=\"{to}\"/>").unwrap();
                    }
                }
            }
            ["at", id, host] => write!(
                out,
                "<boundaryEvent id=\"{id}\" attachedToRef=\"{host}\"><timerEventDefinition/></boundaryEvent>"
            )
            .unwrap(),
            ["terminate", id] => {
                write!(out, "<endEvent id=\"{id}\"><terminateEventDefinition/></endEvent>").unwrap();
            }
            [kind, id] => write!(out, "<{kind} id=\"{id}\"/>").unwrap(),
            other => panic!("{other:?}"),
        }
    }
    out
}

/// Root elements: messages, and a choreography `c` among participants A to D.
fn roots(text: &str, attributes: &str) -> String {
    let (mut flows, mut messages) = (String::new(), String::new());
    let content = elements(text, &mut flows, &mut messages);
    let participants: String =
        ["A", "B", "C", "D"].iter().map(|id| format!("<participant id=\"{id}\" name=\"{id}\"/>")).collect();
    format!("{messages}<choreography id=\"c\" {attributes}>{participants}{flows}{content}</choreography>")
}

fn monitor(text: &str) -> Monitor {
    compile(&definition(&roots(text, "")), "c").unwrap()
}

fn exchange(text: &str) -> Exchange {
    let (ends, message) = text.trim().split_once(' ').unwrap();
    let (from, to) = ends.split_once('>').unwrap();
    Exchange { from: from.into(), to: to.into(), message: message.trim().into() }
}

/// Number of exchanges of a trace that were accepted, and the state behind them.
fn follow(monitor: &Monitor, trace: &str) -> (usize, ChoreographyState) {
    let mut state = ChoreographyState::default();
    for (number, text) in trace.split(',').filter(|text| !text.trim().is_empty()).enumerate() {
        match monitor.observe(&state, &exchange(text)) {
            Ok(next) => state = next,
            Err(Refused::Violation(_)) => return (number, state),
            Err(Refused::TooManyPossibilities) => panic!("too many possibilities: {trace}"),
        }
    }
    (usize::MAX, state)
}

struct Case {
    name: &'static str,
    text: &'static str,
    good: &'static [&'static str],
    /// Traces whose last exchange is out of order.
    bad: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        name: "sequence with a reply",
        text: "startEvent s
               task t1 A>B ask B>A answer
               task t2 B>C tell
               endEvent e
               flows s>t1>t2>e",
        good: &["A>B ask, B>A answer, B>C tell", "A>B ask"],
        bad: &[
            "B>A answer",
            "A>B ask, B>C tell",
            "A>B ask, A>B ask",
            "A>B ask, B>A answer, B>C tell, A>B ask",
        ],
    },
    Case {
        name: "exclusive choice and merge",
        text: "startEvent s
               exclusiveGateway x
               task t1 A>B one
               task t2 A>B two
               exclusiveGateway y
               task t3 B>A three
               flows s>x; x>t1>y; x>t2>y; y>t3",
        good: &["A>B one, B>A three", "A>B two, B>A three"],
        bad: &["B>A three", "A>B one, A>B two"],
    },
    Case {
        name: "the same message on two branches stays open until what follows",
        text: "startEvent s
               eventBasedGateway x
               task t1 A>B go
               task t2 A>B go
               task u1 B>A left
               task u2 B>A right
               flows s>x; x>t1>u1; x>t2>u2",
        good: &["A>B go, B>A left", "A>B go, B>A right"],
        bad: &["A>B go, B>A left, B>A right"],
    },
    Case {
        name: "parallel branches in any order, then a join",
        text: "startEvent s
               parallelGateway x
               task t1 A>B one
               task t2 A>C two
               parallelGateway y
               task t3 A>D three
               flows s>x; x>t1>y; x>t2>y; y>t3",
        good: &["A>B one, A>C two, A>D three", "A>C two, A>B one, A>D three"],
        bad: &["A>B one, A>D three", "A>B one, A>B one"],
    },
    Case {
        name: "inclusive: any branches, and the join waits for those that were taken",
        text: "startEvent s
               inclusiveGateway x
               task t1 A>B one
               task t2 A>B two
               task v2 B>A back
               inclusiveGateway y
               task t3 B>A three
               flows s>x; x>t1>y; x>t2>v2>y; y>t3",
        good: &[
            "A>B one, B>A three",
            "A>B one, A>B two, B>A back, B>A three",
            "A>B two, B>A back, B>A three",
        ],
        bad: &["B>A three", "A>B one, A>B two, B>A three", "A>B two, B>A three"],
    },
    Case {
        name: "complex: what has come may be enough, what comes late is taken",
        text: "startEvent s
               parallelGateway x
               task t1 A>B one
               task t2 A>C two
               complexGateway y
               task t3 A>D three
               flows s>x; x>t1>y; x>t2>y; y>t3",
        good: &["A>B one, A>D three, A>C two", "A>B one, A>C two, A>D three"],
        bad: &["A>D three", "A>B one, A>D three, A>D three"],
    },
    Case {
        name: "loops of tasks: in turn with their replies, at once without order",
        text: "startEvent s
               task t1 A>B ask B>A answer Standard
               task t2 A>C ask2 C>A answer2 MultiInstanceParallel
               task t3 A>D end
               flows s>t1>t2>t3",
        good: &[
            "A>B ask, B>A answer, A>B ask, B>A answer, A>C ask2, A>C ask2, C>A answer2, C>A answer2, A>D end",
            "A>B ask, B>A answer, A>C ask2, C>A answer2, A>D end",
        ],
        bad: &[
            "A>C ask2",
            "A>B ask, A>B ask",
            "A>B ask, B>A answer, A>C ask2, A>C ask2, C>A answer2, A>D end",
            "A>B ask, B>A answer, A>C ask2, C>A answer2, C>A answer2",
        ],
    },
    Case {
        name: "a sub-choreography that is repeated",
        text: "startEvent s
               sub p Standard {
               startEvent i
               task t1 A>B one
               task t2 B>A two
               endEvent f
               flows i>t1>t2>f
               }
               task t3 A>B three
               flows s>p>t3",
        good: &["A>B one, B>A two, A>B three", "A>B one, B>A two, A>B one, B>A two, A>B three"],
        bad: &["A>B three", "A>B one, A>B three", "A>B one, B>A two, B>A two"],
    },
    Case {
        name: "a sub-choreography several times at once",
        text: "startEvent s
               sub p MultiInstanceParallel {
               task t1 A>B one
               task t2 B>A two
               flows t1>t2
               }
               task t3 A>B three
               flows s>p>t3",
        good: &["A>B one, A>B one, B>A two, B>A two, A>B three"],
        bad: &["A>B one, A>B one, B>A two, A>B three"],
    },
    Case {
        name: "a timer at the border of a sub-choreography",
        text: "startEvent s
               sub p {
               task t1 A>B one
               task t2 B>A two
               flows t1>t2
               }
               at b p
               task t3 A>B three
               task t4 A>B late
               flows s>p>t3; b>t4",
        good: &["A>B one, B>A two, A>B three", "A>B one, A>B late", "A>B late"],
        bad: &["A>B one, A>B three", "A>B one, A>B late, B>A two", "A>B one, B>A two, A>B late"],
    },
    Case {
        name: "terminate ends what is parallel to it",
        text: "startEvent s
               parallelGateway x
               task t1 A>B stop
               task t2 A>B go
               terminate e
               flows s>x; x>t1>e; x>t2",
        good: &["A>B go, A>B stop"],
        bad: &["A>B stop, A>B go"],
    },
    Case {
        name: "a loop by gateways",
        text: "startEvent s
               exclusiveGateway x
               task t1 A>B ask
               task t2 B>A answer
               exclusiveGateway y
               task t3 A>B done
               flows s>x>t1>t2>y; y>x; y>t3",
        good: &["A>B ask, B>A answer, A>B ask, B>A answer, A>B done"],
        bad: &["A>B ask, A>B ask", "A>B ask, A>B done"],
    },
];

#[test]
fn traces_are_accepted_in_order_and_refused_out_of_it() {
    for case in CASES {
        let own = monitor(case.text);
        for trace in case.good {
            assert_eq!(follow(&own, trace).0, usize::MAX, "{}: {trace}", case.name);
        }
        for trace in case.bad {
            assert_eq!(follow(&own, trace).0, trace.split(',').count() - 1, "{}: {trace}", case.name);
        }
    }
}

#[test]
fn random_traces_of_what_is_expected_are_accepted_and_anything_else_is_refused() {
    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    for case in CASES {
        let own = monitor(case.text);
        let all: Vec<Exchange> =
            own.legs_of_tests().map(|(from, to, message)| Exchange { from, to, message }).collect();
        for _ in 0..40 {
            let mut state = ChoreographyState::default();
            for _ in 0..12 {
                let expected = own.expected(&state);
                for other in &all {
                    let is_expected = expected.iter().any(|one| {
                        one.from == other.from
                            && one.to == other.to
                            && one.message.as_ref() == Some(&other.message)
                    });
                    let accepted = own.observe(&state, other);
                    assert_eq!(accepted.is_ok(), is_expected, "{}: {other:?} of {expected:?}", case.name);
                    if let Err(Refused::Violation(violation)) = accepted {
                        assert_eq!(violation.expected, expected, "{}", case.name);
                        assert!(!violation.task_ids.is_empty());
                    }
                }
                if expected.is_empty() {
                    break;
                }
                let one = &expected[random(expected.len())];
                let message = one.message.clone().unwrap();
                let next = Exchange { from: one.from.clone(), to: one.to.clone(), message };
                state = own.observe(&state, &next).unwrap();
                let text = serde_json::to_string(&state).unwrap();
                assert_eq!(serde_json::from_str::<ChoreographyState>(&text).unwrap(), state);
            }
        }
    }
}

#[test]
fn a_participant_sees_its_own_messages_alone() {
    let own = monitor(CASES[0].text);
    let of_c = own.of_participant("C");
    assert_eq!(follow(&of_c, "B>C tell").0, usize::MAX, "what A and B say to each other is not its matter");
    assert_eq!(follow(&of_c, "B>C tell, B>C tell").0, 1);
    assert_eq!(follow(&of_c, "B>A answer").0, usize::MAX);
    let of_a = own.of_participant("A");
    assert_eq!(follow(&of_a, "A>B ask, B>A answer, A>B ask").0, 2);
}

#[test]
fn messages_that_are_not_modelled_may_happen_unless_the_choreography_is_closed() {
    let open = monitor(CASES[0].text);
    assert_eq!(follow(&open, "A>B ask, A>B hello, B>A answer").0, usize::MAX);
    let closed = compile(&definition(&roots(CASES[0].text, "isClosed=\"true\"")), "c").unwrap();
    assert_eq!(follow(&closed, "A>B ask, A>B hello").0, 1);
}

#[test]
fn a_called_choreography_is_part_of_the_caller_with_its_participants() {
    let called = r#"<message id="m"/><choreography id="in"><participant id="X" name="x"/><participant id="Y" name="B"/>
        <messageFlow id="f" sourceRef="X" targetRef="Y" messageRef="m"/>
        <choreographyTask id="i" initiatingParticipantRef="X"><participantRef>X</participantRef>
        <participantRef>Y</participantRef><messageFlowRef>f</messageFlowRef></choreographyTask></choreography>"#;
    let caller = r#"<choreography id="c"><participant id="A" name="A"/><participant id="B" name="B"/>
        <callChoreography id="k" initiatingParticipantRef="A" calledChoreographyRef="in"><participantRef>A</participantRef>
        <participantRef>B</participantRef><participantAssociation><innerParticipantRef>X</innerParticipantRef>
        <outerParticipantRef>A</outerParticipantRef></participantAssociation></callChoreography></choreography>"#;
    let own = compile(&definition(&format!("{called}{caller}")), "c").unwrap();
    assert_eq!(follow(&own, "A>B m").0, usize::MAX);
    assert_eq!(follow(&own, "A>B m, A>B m").0, 1);
    let circle = caller.replace("\"in\"", "\"c\"");
    let fault = compile(&definition(&circle), "c").unwrap_err();
    assert_eq!((fault.element.as_str(), fault.clause), ("k", "11.5.3"));
}

#[test]
fn what_cannot_be_monitored_says_why() {
    let wide: String = (0..9).map(|n| format!("task t{n} A>B m{n}\nflows x>t{n}\n")).collect();
    for (text, element) in [
        ("userTask u".to_owned(), "u"),
        ("exclusiveGateway x\nexclusiveGateway y\nstartEvent s\nflows s>x>y>x".to_owned(), "c"),
        (format!("startEvent s\ninclusiveGateway x\nflows s>x\n{wide}"), "x"),
        ("task t A>B m Often".to_owned(), "t"),
        ("task t A>B m A>B n".to_owned(), "t"),
    ] {
        let fault = compile(&definition(&roots(&text, "")), "c").unwrap_err();
        assert_eq!(fault.element, element, "{fault}");
    }
}

#[test]
fn many_possibilities_are_given_up_in_bounded_time() {
    // Each message may be that of any of seventy branches, and each branch goes on by itself.
    let mut text = "startEvent s\neventBasedGateway x\nflows s>x\n".to_owned();
    for n in 0..70 {
        writeln!(text, "task t{n} A>B m\ntask u{n} B>A n{n}\nflows x>t{n}>u{n}").unwrap();
    }
    let own = monitor(&text);
    let refused = own.observe(&ChoreographyState::default(), &exchange("A>B m"));
    assert_eq!(refused, Err(Refused::TooManyPossibilities));
    let mut work = 0;
    let small = monitor("task t A>B m");
    let _ = small.observe_counted(&ChoreographyState::default(), &exchange("A>B m"), &mut work);
    let mut much = 0;
    let _ = own.observe_counted(&ChoreographyState::default(), &exchange("A>B m"), &mut much);
    assert!(work > 0 && much > 10 * work, "what it costs is counted: {work}, {much}");
    let lost = ChoreographyState::lost();
    assert_eq!(own.observe(&lost, &exchange("B>A n3")), Ok(lost.clone()), "it judges nothing any more");
}

#[test]
fn a_state_of_another_choreography_is_the_beginning() {
    let long = monitor(CASES[6].text);
    let (_, state) = follow(&long, "A>B ask, B>A answer, A>C ask2");
    let short = monitor("task t A>B m");
    assert!(short.observe(&state, &exchange("A>B m")).is_ok());
}

#[test]
fn a_process_plays_the_participant_that_its_pool_is() {
    let text = roots(CASES[0].text, "");
    let process = r#"<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="x"/>
        <intermediateThrowEvent id="x"><messageEventDefinition messageRef="ask"/></intermediateThrowEvent></process>"#;
    let pools = |more: &str| {
        format!(
            r#"<collaboration id="k"><participant id="PA" name="A" processRef="p"/><participant id="PB" name="B"/>
            <participant id="PC" name="C"/><participant id="PD" name="D"/>
            <messageFlow id="mf" sourceRef="x" targetRef="PB"/>{more}</collaboration>"#
        )
    };
    let renamed = pools("").replace("name=\"A\"", "name=\"Buyer\"");
    let associated = renamed.replace(
        "</collaboration>",
        "<participantAssociation><innerParticipantRef>A</innerParticipantRef><outerParticipantRef>PA</outerParticipantRef>\
         </participantAssociation><choreographyRef>c</choreographyRef></collaboration>",
    );
    for (collaboration, plays) in [
        (pools(""), true),
        (pools("<choreographyRef>c</choreographyRef>"), true),
        (renamed, false),
        (associated, true),
    ] {
        let compiled = crate::compile(&definition(&format!("{text}{collaboration}{process}")));
        let graph = compiled.process("p").unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        assert_eq!(graph.choreographies().len(), usize::from(plays), "{collaboration}");
        for own in graph.choreographies() {
            assert_eq!(own.exchange("x", Direction::Sent, "ask"), Some(exchange("A>B ask")));
            let by_name = own.exchange("elsewhere", Direction::Received, "answer");
            assert_eq!(by_name, Some(exchange("B>A answer")));
            assert_eq!(own.exchange("elsewhere", Direction::Sent, "unheard of"), None);
        }
    }
}

#[test]
fn a_choreography_without_a_monitor_is_a_warning() {
    let process = r#"<process id="p" isExecutable="true"><startEvent id="s"/></process>"#;
    let compiled = crate::compile(&definition(&format!("{}{process}", roots("userTask u", ""))));
    let found: Vec<_> = compiled
        .diagnostics
        .iter()
        .filter(|own| own.severity == Severity::Warning)
        .map(|own| (own.code.as_str(), own.element_id.as_deref()))
        .collect();
    assert!(found.contains(&("choreographyNotMonitored", Some("u"))), "{found:?}");
}
