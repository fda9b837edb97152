//! Models that tell what the reader, the writer, the compiler and the mapping to WS-BPEL do with a feature.

use crate::Extent;
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn::{Diagnostic, xml};
use heddle_bpmn_graph as graph;
use std::sync::OnceLock;

/// Which part of a model a feature's text is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Probe {
    /// A flow node `n` between a start and an end event.
    Node(&'static str),
    /// The content of a process.
    Content(&'static str),
    /// The content of a collaboration; not operational.
    Collaboration(&'static str),
    /// The content of the definitions; not operational.
    Model(&'static str),
    /// The content of the definitions with a process to run.
    Run(&'static str),
    /// Content around a process, and its flow node `n`: executed if the compiled process is another without the feature.
    Effect(Effect),
}

/// A feature that a process runs with or without.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effect {
    /// XML around the process, and the content of the process, with the feature.
    pub with: [&'static str; 2],
    /// The same without it.
    pub without: [&'static str; 2],
    /// Reason why it is not executed, where it is not.
    pub why: &'static str,
}

/// Result of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// Whether the element is read to a member of the definition.
    pub read: bool,
    /// Whether the definition is written, and is the same when read again.
    pub written: bool,
    /// Extent to which it is executed.
    pub executed: Extent,
    /// Reason why it is not executed.
    pub reason: Option<String>,
    /// Whether it has a mapping to WS-BPEL; none where there is nothing to map.
    pub mapped: Option<bool>,
}

impl Probe {
    /// Reads, writes, compiles and maps the model.
    pub(super) fn run(self, element: &str) -> Seen {
        let Some(definition) = definition(&self.document()) else {
            let reason = Some("the reader refuses the model".to_owned());
            return Seen { read: false, written: false, executed: Extent::None, reason, mapped: None };
        };
        let (executed, reason) = self.executed(&definition);
        let operational = executed != Extent::NotOperational;
        let mapped = operational.then(|| !heddle_bpel::check(&definition).iter().any(Diagnostic::is_error));
        let read = read(&definition, element);
        Seen { read, written: written(&definition, element), executed, reason, mapped }
    }

    fn executed(self, definition: &WorkflowDefinition) -> (Extent, Option<String>) {
        if matches!(self, Self::Model(_) | Self::Collaboration(_)) {
            return (Extent::NotOperational, None);
        }
        let (graph, refused) = compiled(definition);
        match (refused, self) {
            (Some(refused), _) => (Extent::None, Some(refused)),
            (None, Self::Effect(effect)) => {
                let bare = definition_of_run(effect.without);
                if bare.is_some_and(|bare| compiled(&bare).0 == graph) {
                    (Extent::None, Some(effect.why.to_owned()))
                } else {
                    (Extent::Full, None)
                }
            }
            (None, _) => (Extent::Full, None),
        }
    }

    fn document(self) -> String {
        let content = match self {
            Self::Node(node) => process(&chain(node)),
            Self::Content(content) => process(content),
            Self::Collaboration(content) => format!(r#"<collaboration id="co">{content}</collaboration>"#),
            Self::Model(content) | Self::Run(content) => content.to_owned(),
            Self::Effect(effect) => run_text(effect.with),
        };
        document(&content)
    }
}

fn chain(node: &str) -> String {
    format!(
        r#"<startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="n"/>{node}
        <sequenceFlow id="f2" sourceRef="n" targetRef="e"/><endEvent id="e"/>"#
    )
}

fn process(content: &str) -> String {
    format!(r#"<process id="p" isExecutable="true">{content}</process>"#)
}

fn run_text([around, node]: [&str; 2]) -> String {
    format!("{around}{}", process(&chain(node)))
}

fn definition_of_run(text: [&str; 2]) -> Option<WorkflowDefinition> {
    definition(&document(&run_text(text)))
}

fn definition(text: &str) -> Option<WorkflowDefinition> {
    xml::read(text.as_bytes()).ok().map(|imported| imported.definition)
}

/// The whole document around a model's content, with the elements that events refer to.
fn document(content: &str) -> String {
    format!(
        r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:probe">
        <message id="m" name="m"/><signal id="g" name="g"/><error id="r" name="r" errorCode="r"/>
        <escalation id="x" name="x" escalationCode="x"/>
        <interface id="i" name="i"><operation id="o" name="o"><inMessageRef>m</inMessageRef></operation></interface>
        {content}</definitions>"#
    )
}

/// The compiled processes as text, and why the definition can't be published. Where maps would stand is left out: their
/// order says nothing.
fn compiled(definition: &WorkflowDefinition) -> (String, Option<String>) {
    let compiled = graph::compile(definition);
    let text = compiled.processes.iter().map(|graph| {
        let settings = (&graph.scopes, graph.nodes(), graph.flows());
        format!("{settings:?}")
    });
    let refused = compiled.diagnostics.iter().find(|found| found.is_error());
    (text.collect(), refused.map(|found| found.message.clone()))
}

/// Result of trying an event at its place.
pub(super) struct SeenEvent {
    /// Whether event and definition are read to members, and written as they were.
    pub modelled: bool,
    /// Whether a process with it can be published.
    pub executed: bool,
    /// Reason why it cannot be published.
    pub reason: Option<String>,
    /// Whether it has a mapping to WS-BPEL.
    pub mapped: bool,
}

/// Tries a process with this content, of which it is about these elements.
pub(super) fn event(content: &str, elements: &[&str]) -> SeenEvent {
    let Some(definition) = definition(&document(&process(content))) else {
        return SeenEvent { modelled: false, executed: false, reason: None, mapped: false };
    };
    let kept = |element: &&str| read(&definition, element) && written(&definition, element);
    let (_, reason) = compiled(&definition);
    SeenEvent {
        modelled: elements.iter().all(kept),
        executed: reason.is_none(),
        reason,
        mapped: !heddle_bpel::check(&definition).iter().any(Diagnostic::is_error),
    }
}

/// Number of an element's start tags in a text.
fn tags(text: &str, element: &str) -> usize {
    let tag = format!("<{element}");
    let ends = |at: usize| text[at..].chars().next().is_some_and(|next| " />\n".contains(next));
    text.match_indices(&tag).filter(|(at, _)| ends(at + tag.len())).count()
}

fn residue(definition: &WorkflowDefinition) -> &[String] {
    let kept = definition.bpmn.as_ref().and_then(|bpmn| bpmn.extension_elements_xml.as_deref());
    kept.unwrap_or_default()
}

fn read(definition: &WorkflowDefinition, element: &str) -> bool {
    residue(definition).iter().all(|fragment| tags(fragment, element) == 0)
}

fn written(definition: &WorkflowDefinition, element: &str) -> bool {
    let Ok(out) = xml::write(definition) else { return false };
    let again = xml::read(out.xml.as_bytes());
    tags(&out.xml.replace("<bpmn:", "<"), element) > 0
        && again.is_ok_and(|again| again.definition == *definition)
}

/// Result of trying an attribute or part of an element.
pub(crate) struct Tried {
    /// Whether it is read to a member.
    pub read: bool,
    /// Whether it is written as it was read.
    pub written: bool,
    /// Extent to which it is executed.
    pub executed: Extent,
}

/// Tries the content of a model with an attribute or a part and without it. `mark` is the attribute as it stands in the
/// text, or the name of the part's element.
pub(crate) fn attempt(with: &str, without: &str, mark: &str) -> Tried {
    let Some(own) = definition(&document(with)) else {
        return Tried { read: false, written: false, executed: Extent::None };
    };
    let stands = |text: &str| {
        if mark.contains('=') { text.contains(mark) } else { tags(&text.replace("<bpmn:", "<"), mark) > 0 }
    };
    let again = |text: &str| xml::read(text.as_bytes()).is_ok_and(|again| again.definition == own);
    let out = xml::write(&own);
    let (graph, refused) = compiled(&own);
    let same = definition(&document(without)).is_some_and(|bare| compiled(&bare) == (graph, None));
    Tried {
        read: residue(&own).iter().all(|fragment| !stands(fragment)),
        written: out.is_ok_and(|out| stands(&out.xml) && again(&out.xml)),
        executed: if refused.is_none() && !same { Extent::Full } else { Extent::None },
    }
}

/// A document with every element of the schema, and one with the usual form of what is part of others.
const PARTS: [&str; 2] = [include_str!("everything.bpmn"), include_str!("parts.bpmn")];

/// A document, what of it is kept as XML, and what it is written as; the model's elements without prefixes.
type Survey = [String; 3];

fn survey(source: &str) -> Option<Survey> {
    let source = source.replace("<bpmn:", "<").replace("</bpmn:", "</").replace("xmlns:bpmn=", "xmlns=");
    let definition = definition(&source)?;
    let written = xml::write(&definition).ok()?;
    Some([source, residue(&definition).concat(), written.xml.replace("<bpmn:", "<")])
}

/// Result of trying an element that is part of others: read to a member in one of its places at least,
/// written in each. None where the standard's schema has no such element.
pub(super) fn part(element: &str) -> Option<(bool, bool)> {
    static SEEN: OnceLock<Vec<Survey>> = OnceLock::new();
    let seen = SEEN.get_or_init(|| PARTS.iter().filter_map(|source| survey(source)).collect());
    let mut found = None;
    for [source, kept, written] in seen {
        let total = tags(source, element);
        if total > 0 {
            let (read, whole) = found.unwrap_or((false, true));
            found = Some((read || tags(kept, element) < total, whole && tags(written, element) == total));
        }
    }
    found
}
