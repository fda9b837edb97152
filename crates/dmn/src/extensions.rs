//! Extensions of editors and vendors beside the standard: kept and written again, without effect.

use heddle_feel::Dialect;
use heddle_xml::{Document, El, Limits, XmlError};

use crate::model::DecisionModel;
use crate::xml::{MAX_DEPTH, MAX_ELEMENTS, Version};

/// FEEL as the model's author knows it: Camunda's modeller offers functions beyond the standard.
#[must_use]
pub fn dialect(models: &[DecisionModel]) -> Dialect {
    let extended = |model: &DecisionModel| {
        model.exporter.as_deref().is_some_and(|exporter| exporter.to_ascii_lowercase().contains("camunda"))
    };
    if models.iter().any(extended) { Dialect::Heddle } else { Dialect::Standard }
}

/// The most words that are told of one document.
const MAX_WORDS: usize = 1_000;

/// A word of a vendor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// Id of the nearest element that has one.
    pub element_id: Option<String>,
    /// Name of that element, as `decision`.
    pub element_type: String,
    /// The word as it stands, as `camunda:historyTimeToLive`.
    pub word: String,
    /// Namespace of the word.
    pub namespace: String,
}

/// The vendors' words of a document, each once for each element, in document order.
///
/// # Errors
/// When the document is no well-formed XML or exceeds a limit.
pub fn extensions(source: &str) -> Result<Vec<Extension>, XmlError> {
    let document = Document::parse(source, Limits { depth: MAX_DEPTH, elements: MAX_ELEMENTS })?;
    let mut found: Vec<Extension> = Vec::new();
    let root = document.root();
    // Elements with the nearest element that has an id.
    let mut left: Vec<(El, El)> = vec![(root, root)];
    while let Some((el, around)) = left.pop() {
        let owner = if document.attribute(el, "id").is_some() { el } else { around };
        for attribute in document.attributes(el) {
            let uri = attribute.name.split_once(':').and_then(|(prefix, _)| document.bound(el, prefix));
            if let Some(uri) = uri.filter(|uri| is_foreign(uri)) {
                tell(&document, owner, attribute.name, uri, &mut found);
            }
        }
        let uri = document.namespace(el);
        if is_foreign(uri) {
            tell(&document, owner, name(&document, el), uri, &mut found);
            // What lies within belongs to the vendor's word.
            continue;
        }
        let below: Vec<(El, El)> = document.children(el).map(|child| (child, owner)).collect();
        left.extend(below.into_iter().rev());
    }
    Ok(found)
}

/// The element's name as it stands.
fn name<'s>(document: &Document<'s>, el: El) -> &'s str {
    let tag = document.outer(el).trim_start_matches('<');
    tag.split(|c: char| c.is_whitespace() || matches!(c, '/' | '>')).next().unwrap_or_default()
}

/// Whether a namespace is neither DMN's nor XML's own.
fn is_foreign(uri: &str) -> bool {
    let standard = uri.is_empty()
        || Version::of(uri).is_some()
        || uri.contains("www.omg.org/spec/")
        || uri.starts_with("http://www.w3.org/");
    !standard
}

fn tell(document: &Document<'_>, owner: El, word: &str, uri: &str, found: &mut Vec<Extension>) {
    let element_id = document.attribute(owner, "id").map(std::borrow::Cow::into_owned);
    let known = |one: &Extension| one.element_id == element_id && one.word == word;
    // One element's words stand together.
    if found.len() >= MAX_WORDS || found.iter().rev().take(50).any(known) {
        return;
    }
    found.push(Extension {
        element_id,
        element_type: document.local(owner).to_owned(),
        word: word.to_owned(),
        namespace: uri.to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_told_once_with_its_element() {
        let source = r#"<definitions xmlns="http://www.omg.org/spec/DMN/20151101/dmn.xsd" id="m"
            xmlns:camunda="http://camunda.org/schema/1.0/dmn" xmlns:biodi="http://bpmn.io/schema/dmn/biodi/1.0">
          <decision id="d" camunda:historyTimeToLive="5"><extensionElements><biodi:bounds x="1"><biodi:inner/>
           </biodi:bounds><biodi:bounds x="2"/></extensionElements>
           <decisionTable><input id="i" camunda:inputVariable="age"/></decisionTable></decision></definitions>"#;
        let told: Vec<String> = extensions(source)
            .unwrap()
            .into_iter()
            .map(|one| format!("{} {} {}", one.element_id.unwrap(), one.element_type, one.word))
            .collect();
        assert_eq!(
            told,
            [
                "d decision camunda:historyTimeToLive",
                "d decision biodi:bounds",
                "i input camunda:inputVariable"
            ]
        );
    }
}
