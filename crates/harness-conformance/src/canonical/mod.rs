//! Two BPMN or CMMN documents compared by what they say: names, values, text and order; not by how they are written.
//!
//! What counts as equal is decided strictly. Only these differ without a difference: prefixes, the order of
//! attributes, the kind of quotes, CDATA or references, indentation, and the lexical form of a boolean, a
//! number or a qualified name. An attribute that the source wrote with the schema's default value must be
//! written again, and one that the source left out must stay out.

mod tree;
mod values;

use std::borrow::Cow;

pub(crate) use tree::{Content, Document, Element, parse};
use values::{Kind, Lexical};

/// Namespace of the BPMN 2.0 model.
pub(crate) const MODEL: &str = "http://www.omg.org/spec/BPMN/20100524/MODEL";
/// Namespaces of the CMMN models 1.1 and 1.0.
pub(crate) const CASE_MODELS: [&str; 2] =
    ["http://www.omg.org/spec/CMMN/20151109/MODEL", "http://www.omg.org/spec/CMMN/20131201/MODEL"];
/// Namespace of BPMN diagram interchange.
const BPMNDI: &str = "http://www.omg.org/spec/BPMN/20100524/DI";

/// A part of an element's content that counts.
#[derive(Debug)]
enum Part<'t> {
    Element(&'t Element),
    Text(Cow<'t, str>),
    Comment(&'t str),
    Instruction(&'t str),
}

/// The first difference between a document and what became of it; none when they say the same.
///
/// A diagram that was added to a document without any is no difference: an export is drawn when its source is
/// not.
pub(crate) fn difference(source: &Document, export: &Document) -> Option<String> {
    if let Some(lost) = lost_declaration(source, export) {
        return Some(lost);
    }
    let drawn = source.root.children().any(is_diagram);
    let left = parts(&source.root);
    let mut right = parts(&export.root);
    if !drawn {
        right.retain(|part| !matches!(part, Part::Element(element) if is_diagram(element)));
    }
    let mut path = vec![label(&source.root)];
    let found = element(&source.root, &export.root, &mut path).or_else(|| content(&left, &right, &mut path));
    if found.is_some() {
        return found.map(|what| format!("{}: {what}", path.join("/")));
    }
    let (left, right) = (around(source), around(export));
    (left != right).then(|| format!("outside the root: {left:?} became {right:?}"))
}

/// A prefix of the root that the export binds to something else, so that names in content lose their meaning.
fn lost_declaration(source: &Document, export: &Document) -> Option<String> {
    let after = &export.root.scope;
    let lost = source.root.scope.iter().find(|(prefix, uri)| after.get(*prefix) != Some(uri));
    lost.map(|(prefix, uri)| {
        format!("definitions: the prefix {prefix:?} of {uri} became {:?}", after.get(prefix))
    })
}

fn is_diagram(element: &Element) -> bool {
    element.name.ns == BPMNDI && element.name.local == "BPMNDiagram"
}

fn around(document: &Document) -> Vec<&str> {
    let parts = document.around.iter().filter_map(|part| match part {
        Content::Comment(text) | Content::Instruction(text) => Some(text.as_str()),
        Content::Element(_) | Content::Text(_) => None,
    });
    parts.collect()
}

/// The name of an element with its id, for people.
fn label(element: &Element) -> String {
    let local = &element.name.local;
    match element.attribute("id").or_else(|| element.attribute("bpmnElement")) {
        Some(id) => format!("{local}[{id}]"),
        None => local.clone(),
    }
}

/// Compares two elements; the path leads to the difference when there is one.
fn compare(left: &Element, right: &Element, path: &mut Vec<String>) -> Option<String> {
    path.push(label(left));
    let found = element(left, right, path).or_else(|| content(&parts(left), &parts(right), path));
    if found.is_none() {
        path.pop();
    }
    found
}

/// Compares names and attributes.
fn element(left: &Element, right: &Element, _path: &mut Vec<String>) -> Option<String> {
    if left.name != right.name {
        return Some(format!("it became {{{}}}{}", right.name.ns, right.name.local));
    }
    for own in &left.attributes {
        let name = if own.name.ns.is_empty() {
            own.name.local.clone()
        } else {
            format!("{{{}}}{}", own.name.ns, own.name.local)
        };
        let Some(other) = right.attributes.iter().find(|other| other.name == own.name) else {
            return Some(format!("the attribute {name}={:?} is lost", own.value));
        };
        let kind = Kind::of_attribute(&left.name, &own.name);
        let before = Lexical { text: &own.value, scope: &left.scope };
        let after = Lexical { text: &other.value, scope: &right.scope };
        if !kind.same(before, after) {
            return Some(format!("the attribute {name}={:?} became {:?}", own.value, other.value));
        }
    }
    let added =
        right.attributes.iter().find(|other| !left.attributes.iter().any(|own| own.name == other.name));
    added.map(|other| format!("the attribute {}={:?} is added", other.name.local, other.value))
}

/// Compares contents in order.
fn content(left: &[Part<'_>], right: &[Part<'_>], path: &mut Vec<String>) -> Option<String> {
    for (own, other) in left.iter().zip(right) {
        match (own, other) {
            (Part::Element(own), Part::Element(other)) if alike(own, other) => {
                if let Some(found) = compare(own, other, path) {
                    return Some(found);
                }
            }
            (Part::Text(own), Part::Text(other)) if own == other => {}
            (Part::Comment(own), Part::Comment(other)) if own == other => {}
            (Part::Instruction(own), Part::Instruction(other)) if own == other => {}
            _ => return Some(misplaced(left, right, own, other)),
        }
    }
    match (left.get(right.len()), right.get(left.len())) {
        (Some(lost), _) => Some(format!("{} is lost", describe(lost))),
        (_, Some(added)) => Some(format!("{} is added", describe(added))),
        (None, None) => None,
    }
}

/// Whether two elements stand for each other, whatever else may differ.
fn alike(left: &Element, right: &Element) -> bool {
    left.name == right.name && left.attribute("id") == right.attribute("id")
}

fn matches(left: &Part<'_>, right: &Part<'_>) -> bool {
    match (left, right) {
        (Part::Element(left), Part::Element(right)) => alike(left, right),
        (Part::Text(left), Part::Text(right)) => left == right,
        (Part::Comment(left), Part::Comment(right)) | (Part::Instruction(left), Part::Instruction(right)) => {
            left == right
        }
        _ => false,
    }
}

/// Says of two parts at one place that do not belong together what is the matter.
fn misplaced(left: &[Part<'_>], right: &[Part<'_>], own: &Part<'_>, other: &Part<'_>) -> String {
    if !right.iter().any(|part| matches(own, part)) {
        return format!("{} is lost (there is {})", describe(own), describe(other));
    }
    if !left.iter().any(|part| matches(part, other)) {
        return format!("{} is added", describe(other));
    }
    format!("the order changed: {} stands where {} stood", describe(other), describe(own))
}

fn describe(part: &Part<'_>) -> String {
    match part {
        Part::Element(element) => label(element),
        Part::Text(text) => format!("the text {text:?}"),
        Part::Comment(text) => format!("the comment {text:?}"),
        Part::Instruction(text) => format!("the instruction {text:?}"),
    }
}

/// Parts of an element's content that count: everything but indentation.
fn parts(element: &Element) -> Vec<Part<'_>> {
    let nested = element.children().next().is_some();
    let style = values::TextStyle::of(&element.name);
    let mut found = Vec::with_capacity(element.content.len());
    for part in &element.content {
        match part {
            Content::Element(child) => found.push(Part::Element(child)),
            Content::Comment(text) => found.push(Part::Comment(text)),
            Content::Instruction(text) => found.push(Part::Instruction(text)),
            Content::Text(text) => {
                let blank = text.chars().all(|letter| matches!(letter, ' ' | '\t' | '\r' | '\n'));
                if !blank || (!nested && style == values::TextStyle::Exact) {
                    found.push(Part::Text(style.normal(text, &element.scope)));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(body: &str) -> Document {
        let source = format!(
            "<d:definitions xmlns:d=\"{MODEL}\" xmlns:di=\"{BPMNDI}\" xmlns:i=\"http://www.omg.org/spec/DD/20100524/DI\" \
             xmlns:v=\"urn:v\" xmlns:xsd=\"urn:s\" targetNamespace=\"urn:t\">{body}</d:definitions>"
        );
        parse(source.as_bytes()).unwrap()
    }

    fn found(left: &str, right: &str) -> String {
        difference(&document(left), &document(right)).unwrap_or_default()
    }

    #[test]
    fn every_loss_is_named_with_its_place() {
        let rows = [
            (
                "<d:process id=\"p\" name=\"n\"/>",
                "<d:process id=\"p\"/>",
                "process[p]: the attribute name=\"n\" is lost",
            ),
            (
                "<d:process id=\"p\"/>",
                "<d:process id=\"p\" isClosed=\"false\"/>",
                "the attribute isClosed=\"false\" is added",
            ),
            (
                "<d:process id=\"p\" v:x=\"1\"/>",
                "<d:process id=\"p\"/>",
                "the attribute {urn:v}x=\"1\" is lost",
            ),
            (
                "<d:process id=\"p\"><d:documentation>a</d:documentation></d:process>",
                "<d:process id=\"p\"><d:documentation/></d:process>",
                "definitions/process[p]/documentation: the text \"a\" is lost",
            ),
            (
                "<d:process><d:documentation> a</d:documentation></d:process>",
                "<d:process><d:documentation>a</d:documentation></d:process>",
                "the text \" a\" is lost",
            ),
            (
                "<d:x><i:waypoint x=\"1\" y=\"2\"/></d:x>",
                "<d:x><i:waypoint x=\"1\" y=\"2.5\"/></d:x>",
                "waypoint: the attribute y=\"2\" became \"2.5\"",
            ),
            (
                "<d:extensionElements><v:a>1</v:a></d:extensionElements>",
                "<d:extensionElements><v:a>2</v:a></d:extensionElements>",
                "the text \"1\" is lost",
            ),
            (
                "<d:extensionElements><v:a/><v:b/></d:extensionElements>",
                "<d:extensionElements><v:b/><v:a/></d:extensionElements>",
                "the order changed: b stands where a stood",
            ),
            ("<d:process id=\"p\"/>", "", "process[p] is lost"),
            ("", "<d:process id=\"p\"/>", "process[p] is added"),
            ("<!-- c --><d:process/>", "<d:process/>", "the comment \" c \" is lost"),
            (
                "<d:itemDefinition structureRef=\"xsd:string\"/>",
                "<d:itemDefinition xmlns:xsd=\"urn:other\" structureRef=\"xsd:string\"/>",
                "the attribute structureRef=\"xsd:string\" became \"xsd:string\"",
            ),
        ];
        for (left, right, expected) in rows {
            let found = found(left, right);
            assert!(found.contains(expected), "{left} against {right}: {found}");
        }
    }

    #[test]
    fn other_writing_is_no_difference() {
        let rows = [
            ("<d:process id=\"p\" name=\"a&#10;b\"/>", "<d:process name='a&#xA;b' id='p'></d:process>"),
            (
                "<d:process isClosed=\"1\"/>",
                "<process xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" isClosed=\"true\"/>",
            ),
            ("<i:waypoint x=\"1.0\" y=\"-0\"/>", "<i:waypoint x=\"1\" y=\"0\"/>"),
            (
                "<d:task>\n <d:incoming>a</d:incoming>\n</d:task>",
                "<d:task><d:incoming> a\n</d:incoming></d:task>",
            ),
            ("<d:script><![CDATA[a<b]]></d:script>", "<d:script>a&lt;b</d:script>"),
            (
                "<d:itemDefinition structureRef=\"xsd:string\"/>",
                "<d:itemDefinition xmlns:q=\"urn:s\" structureRef=\"q:string\"/>",
            ),
            ("<d:process/>", "<d:process/><di:BPMNDiagram/>"),
        ];
        for (left, right) in rows {
            assert_eq!(found(left, right), "", "{left} against {right}");
        }
    }

    #[test]
    fn a_root_prefix_must_stay() {
        let left = parse(format!("<definitions xmlns=\"{MODEL}\" xmlns:s=\"urn:s\"/>").as_bytes()).unwrap();
        let right = parse(format!("<definitions xmlns=\"{MODEL}\"/>").as_bytes()).unwrap();
        assert!(difference(&left, &right).unwrap().contains("the prefix \"s\" of urn:s"));
        assert_eq!(difference(&right, &left), None);
    }
}
