//! Trials of the sequencing rules of choreographies (clause 2.5): their monitors follow messages in order, and refuse others.

use heddle_bpmn::xml;
use heddle_bpmn_graph::choreography::{ChoreographyState, Exchange, Refused, compile};
use std::sync::Arc;

/// Choreography with a trace that it allows, and the messages that it refuses at the trace's end.
struct Trial {
    name: &'static str,
    /// Elements between the first task, which sends `m1` from a to b, and the last one, which sends `m9`: they lead from
    /// `first` and to `last`.
    between: &'static str,
    trace: &'static [&'static str],
    refused: &'static [&'static str],
}

const TRIALS: &[Trial] = &[
    Trial {
        name: "sequence of choreographyTask",
        between: r#"<sequenceFlow id="f1" sourceRef="first" targetRef="last"/>"#,
        trace: &["m1", "m9"],
        refused: &["m1", "m9"],
    },
    Trial {
        name: "sequence of subChoreography",
        between: r#"<subChoreography id="n" initiatingParticipantRef="a"><participantRef>a</participantRef>
            <participantRef>b</participantRef>TASK2</subChoreography><sequenceFlow id="f1" sourceRef="first" targetRef="n"/>
            <sequenceFlow id="f2" sourceRef="n" targetRef="last"/>"#,
        trace: &["m1"],
        refused: &["m1", "m9"],
    },
    Trial {
        name: "sequence of callChoreography",
        between: r#"<callChoreography id="n" initiatingParticipantRef="a" calledChoreographyRef="other">
            <participantRef>a</participantRef><participantRef>b</participantRef></callChoreography>
            <sequenceFlow id="f1" sourceRef="first" targetRef="n"/><sequenceFlow id="f2" sourceRef="n" targetRef="last"/>"#,
        trace: &["m1", "m5"],
        refused: &["m1", "m5"],
    },
    Trial {
        name: "exclusiveGateway in choreographies",
        between: r#"<exclusiveGateway id="x"/><sequenceFlow id="f0" sourceRef="first" targetRef="x"/>BRANCHES"#,
        trace: &["m1", "m2"],
        refused: &["m3"],
    },
    Trial {
        name: "eventBasedGateway in choreographies",
        between: r#"<eventBasedGateway id="x"/><sequenceFlow id="f0" sourceRef="first" targetRef="x"/>BRANCHES"#,
        trace: &["m1", "m3"],
        refused: &["m2"],
    },
    Trial {
        name: "inclusiveGateway in choreographies",
        between: r#"<inclusiveGateway id="x"/><sequenceFlow id="f0" sourceRef="first" targetRef="x"/>BRANCHES"#,
        trace: &["m1", "m3", "m2"],
        refused: &["m1", "m3"],
    },
    Trial {
        name: "parallelGateway in choreographies",
        between: r#"<parallelGateway id="x"/><sequenceFlow id="f0" sourceRef="first" targetRef="x"/>BRANCHES"#,
        trace: &["m1", "m3", "m2"],
        refused: &["m1", "m3"],
    },
    Trial {
        name: "complexGateway in choreographies",
        between: r#"<complexGateway id="x"/><sequenceFlow id="f0" sourceRef="first" targetRef="x"/>BRANCHES"#,
        trace: &["m1", "m3", "m2"],
        refused: &["m1", "m3"],
    },
];

/// Result of each trial.
pub(super) fn sequencing() -> impl Iterator<Item = (String, bool)> {
    TRIALS.iter().map(|trial| (trial.name.to_owned(), trial.holds()))
}

impl Trial {
    fn holds(&self) -> bool {
        let Ok(read) = xml::read(self.document().as_bytes()) else { return false };
        let Ok(monitor) = compile(&read.definition, "c") else { return false };
        let exchange = |message: &str| {
            let (from, to): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
            Exchange { from, to, message: message.into() }
        };
        let mut state = ChoreographyState::default();
        for message in self.trace {
            match monitor.observe(&state, &exchange(message)) {
                Ok(next) => state = next,
                Err(_) => return false,
            }
        }
        self.refused
            .iter()
            .all(|message| matches!(monitor.observe(&state, &exchange(message)), Err(Refused::Violation(_))))
    }

    fn document(&self) -> String {
        let branch = |id: &str, number: u32| {
            format!(r#"{}<sequenceFlow id="b{number}" sourceRef="x" targetRef="{id}"/>"#, task(id, number))
        };
        let between = self
            .between
            .replace("TASK2", &task("t2", 2))
            .replace("BRANCHES", &(branch("t2", 2) + &branch("t3", 3)));
        let numbers = [1, 2, 3, 5, 9];
        let messages: String =
            numbers.iter().map(|n| format!(r#"<message id="m{n}" name="m{n}"/>"#)).collect();
        let flows: String = numbers
            .iter()
            .map(|n| format!(r#"<messageFlow id="mf{n}" sourceRef="a" targetRef="b" messageRef="m{n}"/>"#))
            .collect();
        format!(
            r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:probe">{messages}
            <choreography id="c"><participant id="a" name="a"/><participant id="b" name="b"/>{flows}{}{between}{}</choreography>
            <choreography id="other"><participant id="oa" name="a"/><participant id="ob" name="b"/>
            <messageFlow id="of" sourceRef="oa" targetRef="ob" messageRef="m5"/><choreographyTask id="ot"
            initiatingParticipantRef="oa"><participantRef>oa</participantRef><participantRef>ob</participantRef>
            <messageFlowRef>of</messageFlowRef></choreographyTask></choreography></definitions>"#,
            task("first", 1),
            task("last", 9)
        )
    }
}

/// A task in which a sends b the message of this number.
fn task(id: &str, number: u32) -> String {
    format!(
        r#"<choreographyTask id="{id}" initiatingParticipantRef="a"><participantRef>a</participantRef>
        <participantRef>b</participantRef><messageFlowRef>mf{number}</messageFlowRef></choreographyTask>"#
    )
}
