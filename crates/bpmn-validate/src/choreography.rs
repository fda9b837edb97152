//! Whether choreographies can be enforced: no one stands above them, so that each participant must know by what it has sent and
//! received when it is its turn (clauses 11.5.6 and 11.7).

use crate::constraints::doc::Doc;
use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::element::{ElementKind as K, Group};
use heddle_bpmn::elements::{El, Elements};
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn::xml;
use std::collections::BTreeSet;

/// Most findings.
const MOST: usize = 200;
/// Most steps along sequence flows.
const MAX_STEPS: usize = 1_000_000;

const ACTIVITIES: &[K] = &[K::ChoreographyTask, K::SubChoreography, K::CallChoreography];
const CONTAINERS: &[K] = &[K::Choreography, K::SubChoreography];

/// Obstacles to enforcing the choreographies of a definition, each a warning with clause and remedy. A definition that
/// can't be written as XML has none: the checks of the constraints tell of it.
#[must_use]
pub fn enforceability(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let bpmn = definition.bpmn.as_deref();
    if bpmn.and_then(|bpmn| bpmn.choreographies.as_ref()).is_none_or(Vec::is_empty) {
        return Vec::new();
    }
    let Ok(written) = xml::write_undrawn(definition) else { return Vec::new() };
    let Ok(tree) = Elements::parse(&written.xml) else { return Vec::new() };
    let doc = Doc::new(&tree);
    let mut check = Check { doc: &doc, steps: MAX_STEPS, found: Vec::new() };
    for container in doc.each(CONTAINERS) {
        for node in doc.children(container) {
            check.node(node);
        }
    }
    check.found
}

struct Check<'d> {
    doc: &'d Doc<'d>,
    /// Steps along flows that are left.
    steps: usize,
    found: Vec<Diagnostic>,
}

impl Check<'_> {
    fn tell(&mut self, el: El, code: &str, clause: &str, sentence: String) {
        if self.found.len() < MOST {
            let finding = diagnostic::warning(code, sentence).with_clause(clause);
            let id = self.doc.near_id(el);
            self.found.push(match id {
                Some(id) => finding.with_element(id),
                None => finding,
            });
        }
    }

    fn node(&mut self, node: El) {
        match self.doc.kind(node) {
            Some(K::ChoreographyTask) => {
                self.message_flows(node);
                self.initiator(node);
            }
            Some(K::SubChoreography | K::CallChoreography) => self.initiator(node),
            Some(K::EventBasedGateway) => self.event_gateway(node),
            Some(K::ExclusiveGateway | K::InclusiveGateway) => self.decision(node),
            Some(K::StartEvent | K::IntermediateCatchEvent | K::IntermediateThrowEvent | K::EndEvent) => {
                self.event(node)
            }
            _ => {}
        }
    }

    fn participants(&self, activity: El) -> BTreeSet<El> {
        let named = self.doc.referred(activity, K::ParticipantRef).flatten();
        named.chain(self.initiating(activity)).collect()
    }

    fn initiating(&self, activity: El) -> Option<El> {
        self.doc.refers(activity, "initiatingParticipantRef")
    }

    /// The participants of an activity that do not initiate it.
    fn receiving(&self, activity: El) -> BTreeSet<El> {
        let initiating = self.initiating(activity);
        self.participants(activity).into_iter().filter(|own| Some(*own) != initiating).collect()
    }

    /// The activities that can be the last ones before a node, those before a sub-choreography for what begins in it.
    fn before(&mut self, node: El) -> BTreeSet<El> {
        let doc = self.doc;
        let (mut found, mut known, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![node]);
        while let Some(el) = open.pop() {
            let mut sources: Vec<El> =
                doc.incoming(el).iter().filter_map(|flow| doc.ends(*flow)[0]).collect();
            sources.extend(doc.refers(el, "attachedToRef"));
            if sources.is_empty() {
                // What comes before a sub-choreography comes before what it begins with.
                let around = doc.parent(el).filter(|around| doc.is_a(*around, K::SubChoreography));
                open.extend(around.filter(|around| known.insert(*around)));
            }
            for source in sources {
                self.steps = self.steps.saturating_sub(1);
                if self.steps == 0 {
                    return found;
                }
                if doc.is(source, ACTIVITIES) {
                    found.insert(source);
                } else if known.insert(source) {
                    open.push(source);
                }
            }
        }
        found
    }

    /// The activities that a node's outgoing flows lead to, through events and gateways.
    fn after(&mut self, node: El) -> BTreeSet<El> {
        let doc = self.doc;
        let (mut found, mut known, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![node]);
        while let Some(el) = open.pop() {
            for flow in doc.outgoing(el) {
                self.steps = self.steps.saturating_sub(1);
                let Some(target) = doc.ends(*flow)[1].filter(|_| self.steps > 0) else { continue };
                if doc.is(target, ACTIVITIES) {
                    found.insert(target);
                } else if known.insert(target) {
                    open.push(target);
                }
            }
        }
        found
    }

    /// The initiator of an activity took part in what came before it (clause 11.5.6).
    fn initiator(&mut self, activity: El) {
        let Some(initiator) = self.initiating(activity) else { return };
        for before in self.before(activity) {
            if !self.participants(before).contains(&initiator) {
                let doc = self.doc;
                let (own, other, who) = (doc.label(activity), doc.label(before), doc.label(initiator));
                let sentence = format!(
                    "{own} comes after {other}, in which its initiating {who} takes no part: it cannot know that it is its turn"
                );
                self.tell(activity, "choreographyInitiator", "11.5.6", sentence);
            }
        }
    }

    /// Behind an event-based gateway all senders or all receivers are the same, and a timer is known to all (clause 11.7.2).
    fn event_gateway(&mut self, gateway: El) {
        let doc = self.doc;
        let targets: Vec<El> = doc.outgoing(gateway).iter().filter_map(|flow| doc.ends(*flow)[1]).collect();
        let activities: Vec<El> = targets.iter().copied().filter(|el| doc.is(*el, ACTIVITIES)).collect();
        let senders: BTreeSet<Option<El>> = activities.iter().map(|el| self.initiating(*el)).collect();
        let receivers: BTreeSet<BTreeSet<El>> = activities.iter().map(|el| self.receiving(*el)).collect();
        if senders.len() > 1 && receivers.len() > 1 {
            let own = doc.label(gateway);
            let sentence =
                format!("behind {own} neither all senders nor all receivers are the same participant");
            self.tell(gateway, "choreographyEventGateway", "11.7.2", sentence);
        }
        let timer = targets.iter().copied().find(|el| doc.defines(*el, K::TimerEventDefinition));
        let Some(timer) = timer else { return };
        let after = self.after(gateway);
        for before in self.before(gateway) {
            let known = self.participants(before);
            let unknowing =
                after.iter().flat_map(|el| self.participants(*el)).find(|own| !known.contains(own));
            if let Some(who) = unknowing {
                let (own, other) = (doc.label(who), doc.label(before));
                let sentence = format!(
                    "{own} takes part behind the gateway, but not in {other} before it: it cannot know when the timer began"
                );
                self.tell(timer, "choreographyTimer", "11.7.2", sentence);
            }
        }
    }

    /// A choice that several participants make by themselves needs conditions that all of them can evaluate (clauses 11.7.1
    /// and 11.7.3).
    fn decision(&mut self, gateway: El) {
        let doc = self.doc;
        let flows = doc.outgoing(gateway);
        if flows.len() < 2 {
            return;
        }
        let after = self.after(gateway);
        let initiators: BTreeSet<Option<El>> = after.iter().map(|el| self.initiating(*el)).collect();
        let default = doc.refers(gateway, "default");
        let open = flows
            .iter()
            .filter(|flow| Some(**flow) != default && doc.kid(**flow, K::ConditionExpression).is_none())
            .count();
        if initiators.len() < 2 || open == 0 {
            return;
        }
        let clause = if doc.is_a(gateway, K::InclusiveGateway) { "11.7.3" } else { "11.7.1" };
        let own = doc.label(gateway);
        let sentence = format!(
            "several participants decide at {own}, and {open} of its flows say by no condition when they are taken"
        );
        self.tell(gateway, "choreographyDecision", clause, sentence);
    }

    /// The message flows of a task connect its participants (clause 11.5.1).
    fn message_flows(&mut self, task: El) {
        let doc = self.doc;
        let participants = self.participants(task);
        let flows: Vec<Option<El>> = doc.referred(task, K::MessageFlowRef).collect();
        for flow in flows.into_iter().flatten() {
            let ends = [doc.refers(flow, "sourceRef"), doc.refers(flow, "targetRef")];
            if ends.into_iter().any(|end| end.is_none_or(|end| !participants.contains(&end))) {
                let (own, other) = (doc.label(flow), doc.label(task));
                let sentence = format!("{own} does not connect the participants of {other}");
                self.tell(task, "choreographyMessageFlow", "11.5.1", sentence);
            }
        }
        let initiates = |own: El| doc.refers(own, "sourceRef") == self.initiating(task);
        let mut all = doc.referred(task, K::MessageFlowRef).flatten().peekable();
        if all.peek().is_some() && !all.any(initiates) {
            let own = doc.label(task);
            let sentence = format!("the initiating participant of {own} sends none of its messages");
            self.tell(task, "choreographyMessageFlow", "11.5.1", sentence);
        }
    }

    /// Events of kinds that no participant can see, or that nobody is there to handle (clause 11.6).
    fn event(&mut self, event: El) {
        let doc = self.doc;
        let (allowed, clause): (&[K], &str) = match doc.kind(event) {
            Some(K::StartEvent) => (
                &[K::TimerEventDefinition, K::SignalEventDefinition, K::ConditionalEventDefinition],
                "11.6.1",
            ),
            Some(K::IntermediateCatchEvent) => (
                &[
                    K::TimerEventDefinition,
                    K::SignalEventDefinition,
                    K::ConditionalEventDefinition,
                    K::LinkEventDefinition,
                ],
                "11.6.2",
            ),
            Some(K::IntermediateThrowEvent) => (&[K::LinkEventDefinition], "11.6.2"),
            _ => (&[K::TerminateEventDefinition], "11.6.3"),
        };
        let other = doc.definitions(event).find(|own| !doc.is(*own, allowed));
        if let Some(other) = other.filter(|own| doc.group(*own) == Some(Group::EventDefinition)) {
            let (own, kind) = (doc.label(event), doc.name(other));
            let sentence = format!("{own} has a {kind}, which a choreography has at no such event");
            self.tell(event, "choreographyEvent", clause, sentence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::enforceability;
    use heddle_bpmn::xml;

    const HEAD: &str =
        r#"<participant id="A"/><participant id="B"/><participant id="C"/><participant id="D"/>"#;

    fn task(id: &str, from: &str, to: &str) -> String {
        format!(
            r#"<messageFlow id="m{id}" sourceRef="{from}" targetRef="{to}"/><choreographyTask id="{id}"
            initiatingParticipantRef="{from}"><participantRef>{from}</participantRef><participantRef>{to}</participantRef>
            <messageFlowRef>m{id}</messageFlowRef></choreographyTask>"#
        )
    }

    fn flow(from: &str, to: &str) -> String {
        format!(r#"<sequenceFlow id="{from}-{to}" sourceRef="{from}" targetRef="{to}"/>"#)
    }

    fn found(parts: &[String]) -> Vec<(String, String, String)> {
        let text = format!(
            r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:t"><choreography
            id="c">{HEAD}{}</choreography></definitions>"#,
            parts.concat()
        );
        let definition = xml::read(text.as_bytes()).unwrap().definition;
        let found = enforceability(&definition);
        assert!(found.iter().all(|own| own.remedy.is_some()), "{found:?}");
        let told = found
            .into_iter()
            .map(|own| (own.code, own.element_id.unwrap_or_default(), own.clause.unwrap_or_default()));
        told.collect()
    }

    #[test]
    fn each_rule_speaks_where_it_is_broken_and_nowhere_else() {
        let node = |kind: &str, id: &str| format!("<{kind} id=\"{id}\"/>");
        let sub = |content: &str| {
            format!(
                "<subChoreography id=\"p\" initiatingParticipantRef=\"C\"><participantRef>C</participantRef>\
                 <participantRef>D</participantRef>{content}</subChoreography>"
            )
        };
        // Message flows stand beside the sub-choreographies.
        let inner = task("i", "C", "D");
        let (flows_of_inner, inner) = inner.split_at(inner.find("<choreographyTask").unwrap());
        let when = |from: &str, to: &str| {
            flow(from, to).replace("/>", "><conditionExpression>x</conditionExpression></sequenceFlow>")
        };
        type Case<'t> = (Vec<String>, &'t [(&'t str, &'t str, &'t str)]);
        let cases: Vec<Case<'_>> = vec![
            (vec![task("a", "A", "B"), task("b", "B", "C"), flow("a", "b")], &[]),
            (
                vec![task("a", "A", "B"), task("b", "C", "D"), flow("a", "b")],
                &[("choreographyInitiator", "b", "11.5.6")],
            ),
            (
                vec![
                    task("a", "A", "B"),
                    task("b", "A", "C"),
                    node("parallelGateway", "g"),
                    task("e", "B", "A"),
                    flow("a", "g"),
                    flow("b", "g"),
                    flow("g", "e"),
                ],
                &[("choreographyInitiator", "e", "11.5.6")],
            ),
            (
                vec![task("a", "A", "B"), flows_of_inner.to_owned(), sub(inner), flow("a", "p")],
                &[("choreographyInitiator", "p", "11.5.6"), ("choreographyInitiator", "i", "11.5.6")],
            ),
            (
                vec![
                    task("a", "A", "B"),
                    node("eventBasedGateway", "g"),
                    task("b", "A", "C"),
                    task("e", "B", "A"),
                    flow("a", "g"),
                    flow("g", "b"),
                    flow("g", "e"),
                ],
                &[("choreographyEventGateway", "g", "11.7.2")],
            ),
            (
                vec![
                    task("a", "A", "B"),
                    node("eventBasedGateway", "g"),
                    task("b", "B", "A"),
                    "<intermediateCatchEvent id=\"t\"><timerEventDefinition/></intermediateCatchEvent>"
                        .to_owned(),
                    task("e", "A", "C"),
                    flow("a", "g"),
                    flow("g", "b"),
                    flow("g", "t"),
                    flow("t", "e"),
                ],
                &[("choreographyTimer", "t", "11.7.2")],
            ),
            (
                vec![
                    task("a", "A", "B"),
                    node("exclusiveGateway", "g"),
                    task("b", "B", "A"),
                    task("e", "A", "B"),
                    flow("a", "g"),
                    flow("g", "b"),
                    when("g", "e"),
                ],
                &[("choreographyDecision", "g", "11.7.1")],
            ),
            (
                vec![
                    task("a", "A", "B"),
                    node("exclusiveGateway", "g"),
                    task("b", "B", "A"),
                    task("e", "A", "B"),
                    flow("a", "g"),
                    when("g", "b"),
                    when("g", "e"),
                ],
                &[],
            ),
            (
                vec![task("a", "A", "B").replace("targetRef=\"B\"", "targetRef=\"C\"")],
                &[("choreographyMessageFlow", "a", "11.5.1")],
            ),
            (
                vec![
                    task("a", "A", "B")
                        .replace("initiatingParticipantRef=\"A\"", "initiatingParticipantRef=\"B\""),
                ],
                &[("choreographyMessageFlow", "a", "11.5.1")],
            ),
            (
                vec![
                    "<startEvent id=\"s\"><messageEventDefinition/></startEvent>".to_owned(),
                    task("a", "A", "B"),
                    "<endEvent id=\"e\"><terminateEventDefinition/></endEvent>".to_owned(),
                    flow("s", "a"),
                    flow("a", "e"),
                ],
                &[("choreographyEvent", "s", "11.6.1")],
            ),
        ];
        for (parts, wanted) in cases {
            let told = found(&parts);
            let told: Vec<(&str, &str, &str)> =
                told.iter().map(|(code, el, clause)| (code.as_str(), el.as_str(), clause.as_str())).collect();
            assert_eq!(told, wanted, "{parts:?}");
        }
    }
}
