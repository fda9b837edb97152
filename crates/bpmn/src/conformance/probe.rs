//! Models that tell what the reader, the writer and the compiler do with a feature.

use crate::model::WorkflowDefinition;
use crate::{graph, xml};

/// Which part of a model a feature's text is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Probe {
    /// A flow node `n` between a start and an end event.
    Node(&'static str),
    /// The content of a process.
    Content(&'static str),
    /// The content of a collaboration.
    Collaboration(&'static str),
    /// The content of the definitions; not executed by itself.
    Model(&'static str),
}

/// What was seen of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// The element is read to a member of the definition.
    pub read: bool,
    /// What was read is written, and read again it is the same.
    pub written: bool,
    /// Whether a process with it can be published; none where there is nothing to execute.
    pub executed: Option<bool>,
    /// Why it can't.
    pub reason: Option<String>,
}

impl Probe {
    /// Reads, writes and compiles the model.
    pub(super) fn run(self, element: &str) -> Seen {
        let text = self.document();
        let Ok(imported) = xml::read(text.as_bytes()) else {
            return Seen { read: false, written: false, executed: None, reason: None };
        };
        let definition = imported.definition;
        let kept = definition.bpmn.as_ref().and_then(|bpmn| bpmn.extension_elements_xml.as_deref());
        let start = format!("<{element}");
        let read = !kept.unwrap_or_default().iter().any(|fragment| fragment.contains(&start));
        let (executed, reason) = self.executed(&definition);
        Seen { read, written: written(&definition, element), executed, reason }
    }

    fn executed(self, definition: &WorkflowDefinition) -> (Option<bool>, Option<String>) {
        if matches!(self, Self::Model(_) | Self::Collaboration(_)) {
            return (None, None);
        }
        let compiled = graph::compile(definition);
        let reason = compiled.diagnostics.into_iter().find(crate::Diagnostic::is_error);
        (Some(reason.is_none()), reason.map(|found| found.message))
    }

    fn document(self) -> String {
        let content = match self {
            Self::Node(node) => process(&format!(
                r#"<startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="n"/>{node}
                <sequenceFlow id="f2" sourceRef="n" targetRef="e"/><endEvent id="e"/>"#
            )),
            Self::Content(content) => process(content),
            Self::Collaboration(content) => format!(r#"<collaboration id="co">{content}</collaboration>"#),
            Self::Model(content) => content.to_owned(),
        };
        document(&content)
    }
}

fn process(content: &str) -> String {
    format!(r#"<process id="p" isExecutable="true">{content}</process>"#)
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

/// Whether a process with this content can be published.
pub(super) fn publishable(content: &str) -> bool {
    let read = xml::read(document(&process(content)).as_bytes());
    read.is_ok_and(|imported| graph::compile(&imported.definition).is_executable())
}

fn written(definition: &WorkflowDefinition, element: &str) -> bool {
    let Ok(out) = xml::write(definition) else { return false };
    let again = xml::read(out.xml.as_bytes());
    out.xml.contains(element) && again.is_ok_and(|again| again.definition == *definition)
}
