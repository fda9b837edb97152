//! A document as a tree of expanded names; read with a parser of its own, so that a fault of the product's
//! reader cannot hide itself.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

/// Namespace of `xml:` attributes.
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// Prefixes in scope; the default namespace has the empty prefix.
pub(crate) type Scope = Rc<BTreeMap<String, String>>;

/// An expanded name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    /// Namespace; empty for none.
    pub ns: String,
    /// Local name.
    pub local: String,
}

/// An attribute with its value as XML normalises it.
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    /// Name of the attribute.
    pub name: Name,
    /// Value as XML normalises it.
    pub value: String,
}

/// An element.
#[derive(Debug)]
pub(crate) struct Element {
    /// Name of the element.
    pub name: Name,
    /// Attributes, sorted by name, declarations left out.
    pub attributes: Vec<Attribute>,
    /// The prefixes in scope.
    pub scope: Scope,
    /// Content of the element, in document order.
    pub content: Vec<Content>,
}

/// A part of an element's content.
#[derive(Debug)]
pub(crate) enum Content {
    /// A child.
    Element(Element),
    /// Character data with references resolved.
    Text(String),
    /// A comment.
    Comment(String),
    /// A processing instruction.
    Instruction(String),
}

/// A document.
#[derive(Debug)]
pub(crate) struct Document {
    /// Root element.
    pub root: Element,
    /// Comments and instructions before and after the root.
    pub around: Vec<Content>,
}

impl Element {
    /// The value of an attribute without namespace.
    pub(crate) fn attribute(&self, local: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|own| own.name.ns.is_empty() && own.name.local == local);
        found.map(|own| own.value.as_str())
    }

    /// The child elements.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Self> {
        self.content.iter().filter_map(|part| match part {
            Content::Element(child) => Some(child),
            Content::Text(_) | Content::Comment(_) | Content::Instruction(_) => None,
        })
    }
}

/// Parses a document.
///
/// # Errors
///
/// When the bytes are no well-formed document with namespaces, or carry a document type declaration.
pub(crate) fn parse(bytes: &[u8]) -> Result<Document> {
    let text = decode(bytes)?;
    let mut reader = Reader::from_str(&text);
    reader.config_mut().trim_markup_names_in_closing_tags = true;
    reader.config_mut().expand_empty_elements = true;
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    let mut around = Vec::new();
    let outermost = Scope::default();
    loop {
        match reader.read_event().with_context(|| format!("at byte {}", reader.error_position()))? {
            Event::Start(tag) => {
                let scope = open.last().map_or(&outermost, |parent| &parent.scope);
                let element = element(&tag, scope)?;
                open.push(element);
            }
            Event::End(_) => {
                let element = open.pop().context("an end tag without a start tag")?;
                match open.last_mut() {
                    Some(parent) => parent.content.push(Content::Element(element)),
                    None if root.is_none() => root = Some(element),
                    None => bail!("a second root element"),
                }
            }
            Event::Text(text) => push_text(&mut open, &text.xml10_content())?,
            Event::CData(text) => push_text(&mut open, &text.xml10_content())?,
            Event::GeneralRef(reference) => {
                let resolved = unescape(&format!("&{};", &*reference))?.into_owned();
                push_text(&mut open, &resolved)?;
            }
            Event::Comment(text) => {
                let part = Content::Comment(text.xml10_content().into_owned());
                open.last_mut().map_or(&mut around, |element| &mut element.content).push(part);
            }
            Event::PI(text) => {
                let part = Content::Instruction(text.replace("\r\n", "\n"));
                open.last_mut().map_or(&mut around, |element| &mut element.content).push(part);
            }
            Event::DocType(_) => bail!("a document type declaration"),
            Event::Decl(_) | Event::Empty(_) => {}
            Event::Eof => break,
        }
    }
    if let Some(unclosed) = open.last() {
        bail!("the element {} is not closed", unclosed.name.local);
    }
    Ok(Document { root: root.context("no element")?, around })
}

fn push_text(open: &mut [Element], text: &str) -> Result<()> {
    let Some(element) = open.last_mut() else {
        if text.trim().is_empty() {
            return Ok(());
        }
        bail!("text outside the root element");
    };
    match element.content.last_mut() {
        Some(Content::Text(before)) => before.push_str(text),
        _ => element.content.push(Content::Text(text.to_owned())),
    }
    Ok(())
}

fn element(tag: &BytesStart<'_>, outer: &Scope) -> Result<Element> {
    let mut scope = outer.clone();
    let mut found = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute?;
        let name = attribute.key.into_inner().to_owned();
        let spaced = attribute.value.replace("\r\n", " ").replace(['\r', '\n', '\t'], " ");
        let value = unescape(&spaced)?.into_owned();
        match name.strip_prefix("xmlns") {
            Some("") => {
                Rc::make_mut(&mut scope).insert(String::new(), value);
            }
            Some(prefix) if prefix.starts_with(':') => {
                Rc::make_mut(&mut scope).insert(prefix[1..].to_owned(), value);
            }
            _ => found.push((name, value)),
        }
    }
    let mut attributes = Vec::with_capacity(found.len());
    for (name, value) in found {
        attributes.push(Attribute { name: expand(&name, &scope, false)?, value });
    }
    attributes.sort_by(|left, right| left.name.cmp(&right.name));
    let name = expand(tag.name().into_inner(), &scope, true)?;
    Ok(Element { name, attributes, scope, content: Vec::new() })
}

/// The expanded name; the default namespace counts for elements only.
fn expand(name: &str, scope: &Scope, element: bool) -> Result<Name> {
    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
    let ns = match prefix {
        "xml" => XML,
        "" if !element => "",
        "" => scope.get("").map_or("", String::as_str),
        _ => scope.get(prefix).with_context(|| format!("the prefix {prefix} is not declared"))?,
    };
    Ok(Name { ns: ns.to_owned(), local: local.to_owned() })
}

/// Text by byte order mark, by the look of the first bytes, or by the declared encoding.
fn decode(bytes: &[u8]) -> Result<Cow<'_, str>> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return as_text(encoding, &bytes[length..]);
    }
    match bytes {
        [b'<', 0, ..] => return as_text(UTF_16LE, bytes),
        [0, b'<', ..] => return as_text(UTF_16BE, bytes),
        _ => {}
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(256)]);
    let declaration = head.split("?>").next().filter(|head| head.starts_with("<?xml"));
    let label = declaration.and_then(|head| head.split("encoding").nth(1)).and_then(|rest| {
        let rest = rest.trim_start().strip_prefix('=')?.trim_start();
        let quote = rest.chars().next()?;
        rest[1..].split(quote).next()
    });
    let encoding = match label {
        None => UTF_8,
        Some(label) => Encoding::for_label(label.as_bytes()).context("an unknown encoding")?,
    };
    let encoding = if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding };
    as_text(encoding, bytes)
}

fn as_text<'b>(encoding: &'static Encoding, bytes: &'b [u8]) -> Result<Cow<'b, str>> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
    text.with_context(|| format!("bytes that are not {}", encoding.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_values_and_text_are_resolved() {
        let source = "<?xml version='1.0'?><!--a--><p:r xmlns:p='urn:p' xmlns='urn:d' b='1&#10;\n&amp;' p:a='2'>\
                      x<![CDATA[<y>]]>&lt;<c xml:lang='de'/></p:r>";
        let document = parse(source.as_bytes()).unwrap();
        let root = &document.root;
        assert_eq!((root.name.ns.as_str(), root.name.local.as_str()), ("urn:p", "r"));
        assert_eq!(root.attribute("b"), Some("1\n &"));
        assert_eq!(root.attributes[1].name.ns, "urn:p");
        assert!(matches!(&root.content[0], Content::Text(text) if text == "x<y><"));
        let child = root.children().next().unwrap();
        assert_eq!((child.name.ns.as_str(), child.attributes[0].name.ns.as_str()), ("urn:d", XML));
        assert_eq!(document.around.len(), 1);
    }

    #[test]
    fn encodings_are_read_and_broken_documents_refused() {
        let utf16: Vec<u8> = "\u{feff}<a b='\u{e9}'/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(parse(&utf16).unwrap().root.attribute("b"), Some("é"));
        let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a b=\"\xe9\"/>";
        assert_eq!(parse(latin).unwrap().root.attribute("b"), Some("é"));
        for broken in
            ["<a>", "<a/><b/>", "<x:a/>", "a", "<!DOCTYPE a><a/>", "<a>&nbsp;</a>", "<a b='1' b='2'/>"]
        {
            assert!(parse(broken.as_bytes()).is_err(), "{broken}");
        }
    }
}
