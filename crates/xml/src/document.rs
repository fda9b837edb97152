//! A document as an arena of elements and comments that borrow from its text.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::XmlError;
use crate::decode::position;
use crate::scan::{Inner, Scanner, Token};
use crate::text::{attribute_value, content_text, control, undefined_reference, verbatim};

/// No element.
const NONE: El = El::MAX;
const MAX_ATTRIBUTES: usize = 256;
const MAX_BINDINGS: usize = 256;

/// Index of an element or comment.
pub type El = u32;

/// Bounds of a document.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Deepest nesting of elements.
    pub depth: usize,
    /// Most elements and comments.
    pub elements: usize,
}

/// An attribute; declarations of namespaces are attributes too.
#[derive(Debug)]
pub struct Attribute<'s> {
    /// Name with prefix.
    pub name: &'s str,
    /// Index of its namespace in [`Document::namespace`]; `None` for an attribute without prefix.
    namespace: Option<u32>,
    /// Value as it stands in the source.
    pub raw: &'s str,
}

impl<'s> Attribute<'s> {
    /// Name without prefix.
    #[must_use]
    pub fn local(&self) -> &'s str {
        self.name.split_once(':').map_or(self.name, |(_, local)| local)
    }

    /// The value, references resolved.
    #[must_use]
    pub fn value(&self) -> Cow<'s, str> {
        attribute_value(self.raw)
    }

    /// Whether it declares a namespace, and the prefix that it binds (empty: the default).
    #[must_use]
    pub fn binds(&self) -> Option<&'s str> {
        match self.name.strip_prefix("xmlns") {
            Some("") => Some(""),
            Some(rest) => rest.strip_prefix(':'),
            None => None,
        }
    }

    /// Whether it has a namespace of its own.
    #[must_use]
    pub const fn is_qualified(&self) -> bool {
        self.namespace.is_some()
    }
}

/// An element, or a comment or instruction, which has no name.
#[derive(Debug)]
pub struct Part<'s> {
    /// Name with prefix; empty for a comment or an instruction.
    pub name: &'s str,
    /// Bytes of the name that are its prefix and the colon.
    prefix: u32,
    namespace: u32,
    start: u32,
    open_end: u32,
    close_start: u32,
    end: u32,
    attributes: (u32, u32),
    first_child: El,
    next_sibling: El,
    last_child: El,
    /// The binding before which those in sight begin.
    scope: u32,
}

#[derive(Debug)]
struct Binding<'s> {
    prefix: &'s str,
    namespace: u32,
    outer: u32,
}

/// A parsed document.
#[derive(Debug)]
pub struct Document<'s> {
    /// The text that it was read from.
    pub source: &'s str,
    parts: Vec<Part<'s>>,
    attributes: Vec<Attribute<'s>>,
    bindings: Vec<Binding<'s>>,
    namespaces: Vec<Cow<'s, str>>,
    /// The prefix resolved last, where, and its namespace: most elements have that of the one before.
    recent: (&'s str, u32, u32),
    root: El,
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}

/// Length of a name's prefix; names are too short for a search by blocks to pay.
fn colon(name: &str) -> usize {
    name.bytes().position(|byte| byte == b':').unwrap_or(0)
}

impl<'s> Document<'s> {
    /// Parses a document.
    ///
    /// # Errors
    ///
    /// When it is not well-formed, has a document type declaration, or exceeds a limit.
    pub fn parse(source: &'s str, limits: Limits) -> Result<Self, XmlError> {
        // As much as there can be, so that nothing is moved while it grows: room that stays empty takes no memory.
        let room = |byte: u8| memchr::memchr_iter(byte, source.as_bytes()).count();
        let mut document = Self {
            source,
            parts: Vec::with_capacity(room(b'<').min(limits.elements)),
            attributes: Vec::with_capacity(room(b'=').min(limits.elements)),
            bindings: Vec::new(),
            namespaces: vec![Cow::Borrowed(""), Cow::Borrowed("http://www.w3.org/XML/1998/namespace")],
            recent: ("", NONE, 0),
            root: NONE,
        };
        if u32::try_from(source.len()).is_err() {
            return Err(document.error(0, "tooLarge", "The document has 4 GiB or more."));
        }
        if let Some(at) = control(source) {
            return Err(document.error(at, "malformed", "The document holds a control character."));
        }
        document.build(limits)?;
        Ok(document)
    }

    fn error(&self, at: usize, reason: &'static str, message: impl Into<String>) -> XmlError {
        let (line, column) = position(self.source, at);
        XmlError { message: message.into(), line, column, reason }
    }

    fn malformed(&self, at: usize, what: &str) -> XmlError {
        self.error(at, "malformed", format!("The document is not well-formed: {what}."))
    }

    fn build(&mut self, limits: Limits) -> Result<(), XmlError> {
        let mut scanner = Scanner::new(self.source);
        let mut open: Vec<El> = Vec::new();
        loop {
            let start = scanner.at;
            match scanner.token().map_err(|what| self.malformed(start, what))? {
                Token::Text(_) if open.is_empty() => self.outside(start, scanner.at)?,
                Token::Text(true) => self.references(start, scanner.at)?,
                Token::Open(name) => {
                    let (part, empty) = self.open(name, &mut scanner, open.last().copied(), start, limits)?;
                    if !empty {
                        if open.len() >= limits.depth {
                            let message = format!("Elements are nested deeper than {}.", limits.depth);
                            return Err(self.error(start, "tooDeep", message));
                        }
                        open.push(part);
                    }
                }
                Token::Close(name) => {
                    let part = open.pop().and_then(|at| self.parts.get_mut(at as usize));
                    match part.filter(|part| part.name == name) {
                        Some(part) => (part.close_start, part.end) = (index(start), index(scanner.at)),
                        None => return Err(self.malformed(start, "This tag closes no element that is open")),
                    }
                }
                Token::Data if open.is_empty() => self.outside(start, scanner.at)?,
                Token::DocumentType => {
                    let message = "A document type declaration is not allowed.";
                    return Err(self.error(start, "dtdForbidden", message));
                }
                Token::Aside => {
                    if let Some(&parent) = open.last() {
                        let scope = self.part(parent).scope;
                        self.add(Some(parent), Self::bare(scope, (start, scanner.at)), limits)?;
                    }
                }
                Token::Text(false) | Token::Data | Token::Declaration => {}
                Token::End => break,
            }
        }
        match open.last() {
            Some(&unclosed) => {
                let part = self.part(unclosed);
                let message =
                    format!("The document ends within the element {:?} that starts here.", part.name);
                Err(self.error(part.start as usize, "unclosed", message))
            }
            None if self.root == NONE => Err(self.error(0, "malformed", "The document has no element.")),
            None => Ok(()),
        }
    }

    fn bare(scope: u32, (start, end): (usize, usize)) -> Part<'s> {
        let (start, end) = (index(start), index(end));
        Part {
            name: "",
            prefix: 0,
            namespace: 0,
            start,
            open_end: end,
            close_start: end,
            end,
            attributes: (0, 0),
            first_child: NONE,
            next_sibling: NONE,
            last_child: NONE,
            scope,
        }
    }

    /// Refuses text with an undefined reference.
    fn references(&self, start: usize, end: usize) -> Result<(), XmlError> {
        let text = self.source.get(start..end).unwrap_or_default();
        let Some((at, name)) = undefined_reference(text) else { return Ok(()) };
        let after = text.get(at + 1..).unwrap_or_default();
        if after.find(['&', ';']).and_then(|end| after.as_bytes().get(end)) != Some(&b';') {
            return Err(self.malformed(start + at, "A reference has no end"));
        }
        let message = format!("The entity {name:?} is not defined.");
        Err(self.error(start + at, "undefinedEntity", message))
    }

    /// Only white space may stand outside the root.
    fn outside(&self, start: usize, end: usize) -> Result<(), XmlError> {
        let text = self.source.get(start..end).unwrap_or_default();
        self.references(start, end)?;
        match text.find(|letter: char| !letter.is_ascii_whitespace() && letter != '\u{feff}') {
            Some(at) => Err(self.error(start + at, "malformed", "Text stands outside the root element.")),
            None => Ok(()),
        }
    }

    fn add(&mut self, parent: Option<El>, part: Part<'s>, limits: Limits) -> Result<El, XmlError> {
        let at = index(self.parts.len());
        if self.parts.len() >= limits.elements {
            let message = format!("The document has more than {} elements.", limits.elements);
            return Err(self.error(part.start as usize, "tooManyElements", message));
        }
        match parent {
            Some(parent) => {
                let last = self.parts.get_mut(parent as usize).map_or(NONE, |parent| {
                    let last = std::mem::replace(&mut parent.last_child, at);
                    if parent.first_child == NONE {
                        parent.first_child = at;
                    }
                    last
                });
                if let Some(before) = self.parts.get_mut(last as usize) {
                    before.next_sibling = at;
                }
            }
            None if self.root != NONE => {
                let message = "The document has more than one root element.";
                return Err(self.error(part.start as usize, "malformed", message));
            }
            None => self.root = at,
        }
        self.parts.push(part);
        Ok(at)
    }

    /// Reads a tag whose name has been read: the element, and whether it is empty.
    fn open(
        &mut self,
        name: &'s str,
        scanner: &mut Scanner<'s>,
        parent: Option<El>,
        start: usize,
        limits: Limits,
    ) -> Result<(El, bool), XmlError> {
        let outer = parent.map_or(NONE, |parent| self.part(parent).scope);
        let first = self.attributes.len();
        let (scope, empty) = self.read_attributes(scanner, outer, start)?;
        let prefix = colon(name);
        let namespace = self.element_namespace(name.get(..prefix).unwrap_or_default(), scope, start)?;
        for at in first..self.attributes.len() {
            let Some(attribute) = self.attributes.get(at) else { break };
            let name = attribute.name;
            let prefix = colon(name);
            if prefix > 0 && attribute.binds().is_none() {
                let namespace = self.resolve(name.get(..prefix).unwrap_or_default(), scope, start)?;
                if let Some(attribute) = self.attributes.get_mut(at) {
                    attribute.namespace = Some(namespace);
                }
            }
        }
        let attributes = (index(first), index(self.attributes.len()));
        // The colon belongs to what is not the local name.
        let prefix = if name.as_bytes().get(prefix) == Some(&b':') { index(prefix) + 1 } else { 0 };
        let part = Part { name, prefix, namespace, attributes, ..Self::bare(scope, (start, scanner.at)) };
        Ok((self.add(parent, part, limits)?, empty))
    }

    /// Reads the attributes of a tag up to its end: the scope within the element, and whether the element is empty.
    fn read_attributes(
        &mut self,
        scanner: &mut Scanner<'s>,
        outer: u32,
        start: usize,
    ) -> Result<(u32, bool), XmlError> {
        let first = self.attributes.len();
        let mut scope = outer;
        let mut seen = HashSet::new();
        loop {
            let (name, raw) = match scanner.inner().map_err(|what| self.malformed(start, what))? {
                Inner::Attribute(name, raw) => (name, raw),
                Inner::Content => return Ok((scope, false)),
                Inner::Empty => return Ok((scope, true)),
            };
            if !verbatim(raw) {
                // Behind the value stands its quote.
                self.check_value(raw, start, scanner.at - 1 - raw.len())?;
            }
            if self.attributes.len() - first >= MAX_ATTRIBUTES {
                let message = "An element has more than 256 attributes.";
                return Err(self.error(start, "tooManyAttributes", message));
            }
            // A set pays from some attributes on only.
            let before = self.attributes.get(first..).unwrap_or_default();
            let twice = if before.len() < 16 {
                before.iter().any(|known| known.name == name)
            } else {
                if seen.is_empty() {
                    seen.extend(before.iter().map(|known| known.name));
                }
                !seen.insert(name)
            };
            if twice {
                return Err(self.error(
                    start,
                    "malformed",
                    format!("The attribute {name:?} is there twice."),
                ));
            }
            let attribute = Attribute { name, namespace: None, raw };
            if let Some(prefix) = attribute.binds() {
                scope = self.bind(prefix, attribute.value(), scope, start)?;
            }
            self.attributes.push(attribute);
        }
    }

    /// Refuses a value of an attribute with `<` or an undefined reference.
    fn check_value(&self, raw: &str, tag: usize, value: usize) -> Result<(), XmlError> {
        if let Some((at, reference)) = undefined_reference(raw) {
            let message = format!("The entity {reference:?} is not defined.");
            return Err(self.error(value + at, "undefinedEntity", message));
        }
        if raw.contains('<') {
            return Err(self.error(tag, "malformed", "A value of an attribute holds `<`."));
        }
        Ok(())
    }

    fn bind(&mut self, prefix: &'s str, uri: Cow<'s, str>, outer: u32, at: usize) -> Result<u32, XmlError> {
        if self.bindings.len() >= MAX_BINDINGS {
            return Err(self.error(
                at,
                "tooManyNamespaces",
                "The document declares more than 256 namespaces.",
            ));
        }
        let namespace = self.namespaces.iter().position(|known| *known == uri).unwrap_or_else(|| {
            self.namespaces.push(uri);
            self.namespaces.len() - 1
        });
        self.bindings.push(Binding { prefix, namespace: index(namespace), outer });
        Ok(index(self.bindings.len() - 1))
    }

    fn lookup(&self, prefix: &str, scope: u32) -> Option<u32> {
        let mut at = scope;
        while let Some(binding) = self.bindings.get(at as usize) {
            if binding.prefix == prefix {
                return Some(binding.namespace);
            }
            at = binding.outer;
        }
        match prefix {
            "" => Some(0),
            "xml" => Some(1),
            _ => None,
        }
    }

    fn element_namespace(&mut self, prefix: &'s str, scope: u32, at: usize) -> Result<u32, XmlError> {
        let (known, within, namespace) = self.recent;
        if within == scope && known == prefix {
            return Ok(namespace);
        }
        let namespace = self.resolve(prefix, scope, at)?;
        self.recent = (prefix, scope, namespace);
        Ok(namespace)
    }

    fn resolve(&self, prefix: &str, scope: u32, at: usize) -> Result<u32, XmlError> {
        self.lookup(prefix, scope).ok_or_else(|| {
            self.error(at, "unboundPrefix", format!("The prefix {prefix:?} is not bound to a namespace."))
        })
    }

    /// The root element.
    #[must_use]
    pub const fn root(&self) -> El {
        self.root
    }

    /// The element or comment; of an index that is none the root.
    #[must_use]
    pub fn part(&self, el: El) -> &Part<'s> {
        self.parts.get(el as usize).unwrap_or(&self.parts[0])
    }

    /// The element's namespace.
    #[must_use]
    pub fn namespace(&self, el: El) -> &str {
        self.namespaces.get(self.part(el).namespace as usize).map_or("", |uri| uri)
    }

    /// The namespaces of the document by their index.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.namespaces.iter().map(|uri| &**uri)
    }

    /// The index of the element's namespace: two elements have the same namespace when they have the same index.
    #[must_use]
    pub fn namespace_index(&self, el: El) -> u32 {
        self.part(el).namespace
    }

    /// The element's name without prefix; empty for a comment.
    #[must_use]
    pub fn local(&self, el: El) -> &'s str {
        let part = self.part(el);
        part.name.get(part.prefix as usize..).unwrap_or_default()
    }

    /// The namespace that the prefix (empty: none) is bound to where the element stands.
    #[must_use]
    pub fn bound(&self, el: El, prefix: &str) -> Option<&str> {
        let at = self.lookup(prefix, self.part(el).scope)?;
        self.namespaces.get(at as usize).map(|uri| &**uri)
    }

    /// The attributes, declarations of namespaces among them.
    #[must_use]
    pub fn attributes(&self, el: El) -> &[Attribute<'s>] {
        let (from, to) = self.part(el).attributes;
        self.attributes.get(from as usize..to as usize).unwrap_or_default()
    }

    /// The value of the attribute of that name without a prefix.
    #[must_use]
    pub fn attribute(&self, el: El, name: &str) -> Option<Cow<'s, str>> {
        self.attributes(el).iter().find(|attribute| attribute.name == name).map(Attribute::value)
    }

    /// The value of the attribute of that namespace and local name.
    #[must_use]
    pub fn attribute_of(&self, el: El, namespace: &str, local: &str) -> Option<Cow<'s, str>> {
        let of = |attribute: &&Attribute<'s>| {
            let uri = attribute.namespace.and_then(|at| self.namespaces.get(at as usize));
            attribute.local() == local && uri.is_some_and(|uri| uri == namespace)
        };
        self.attributes(el).iter().find(of).map(Attribute::value)
    }

    /// The child elements and comments in order.
    pub fn parts_of(&self, el: El) -> impl Iterator<Item = El> + '_ {
        let mut at = self.part(el).first_child;
        std::iter::from_fn(move || {
            let child = at;
            let part = self.parts.get(child as usize)?;
            at = part.next_sibling;
            Some(child)
        })
    }

    /// The child elements in order.
    pub fn children(&self, el: El) -> impl Iterator<Item = El> + '_ {
        self.parts_of(el).filter(|&child| !self.part(child).name.is_empty())
    }

    /// The character data within the element, tags and comments left out, references resolved.
    #[must_use]
    pub fn text(&self, el: El) -> Cow<'s, str> {
        content_text(self.inner(el))
    }

    /// The source between the element's tags.
    #[must_use]
    pub fn inner(&self, el: El) -> &'s str {
        let part = self.part(el);
        self.source.get(part.open_end as usize..part.close_start as usize).unwrap_or_default()
    }

    /// The source of the element from tag to tag.
    #[must_use]
    pub fn outer(&self, el: El) -> &'s str {
        let part = self.part(el);
        self.source.get(part.start as usize..part.end as usize).unwrap_or_default()
    }

    /// Where the element lies in the source, in bytes.
    #[must_use]
    pub fn span(&self, el: El) -> std::ops::Range<usize> {
        let part = self.part(el);
        part.start as usize..part.end as usize
    }

    /// Where the element's content begins in the source, in bytes.
    #[must_use]
    pub fn content_start(&self, el: El) -> usize {
        self.part(el).open_end as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { depth: 5, elements: 20 };

    #[test]
    fn names_namespaces_and_text() {
        let source = "<?xml version='1.0'?><a xmlns='u' xmlns:p='v' id='1&amp;2'><!-- c --><p:b p:x='y'>1 &lt; <![CDATA[<2>]]></p:b><c/></a>";
        let document = Document::parse(source, LIMITS).unwrap();
        let root = document.root();
        assert_eq!((document.local(root), document.namespace(root)), ("a", "u"));
        assert_eq!(document.attribute(root, "id").as_deref(), Some("1&2"));
        let children: Vec<El> = document.children(root).collect();
        assert_eq!(children.len(), 2);
        assert_eq!((document.local(children[0]), document.namespace(children[0])), ("b", "v"));
        assert_eq!(document.text(children[0]), "1 < <2>");
        assert_eq!(document.attribute_of(children[0], "v", "x").as_deref(), Some("y"));
        assert_eq!(document.outer(children[1]), "<c/>");
    }

    #[test]
    fn what_is_refused() {
        for (source, reason) in [
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "dtdForbidden"),
            ("<a>&b;</a>", "undefinedEntity"),
            ("<a b='&c;'/>", "undefinedEntity"),
            ("<a><b></a>", "malformed"),
            ("<a><b>", "unclosed"),
            ("<p:a/>", "unboundPrefix"),
            ("<a b='1' b='2'/>", "malformed"),
            ("<a/><b/>", "malformed"),
            ("<a/>text", "malformed"),
            ("<a><a><a><a><a><a/><a></a></a></a></a></a></a>", "tooDeep"),
            (
                "<a><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/></a>",
                "tooManyElements",
            ),
        ] {
            assert_eq!(
                Document::parse(source, LIMITS).map_err(|error| error.reason).err(),
                Some(reason),
                "{source}"
            );
        }
    }
}
