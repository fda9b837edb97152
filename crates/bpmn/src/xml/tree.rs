//! A document as an arena of elements that borrow from the source.

use super::decode::position;
use super::names::{self, Kind, Ns};
use super::text::{
    attribute_value, content_text, control, expressible, known_reference, undefined_reference, verbatim,
};
use super::{MAX_DEPTH, MAX_ELEMENTS, XmlError};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;

const MAX_ATTRIBUTES: usize = 256;
const MAX_BINDINGS: usize = 256;
/// No element.
pub(crate) const NONE: u32 = u32::MAX;

/// Index of an element.
pub(crate) type El = u32;

#[derive(Debug)]
pub(crate) struct Element<'s> {
    /// Name with prefix, as in the source.
    pub name: &'s str,
    /// Local name.
    pub local: &'s str,
    pub ns: Ns,
    /// Place in the element table; [`names::COMMENT`] for a comment or an instruction, which has no name.
    pub kind: Kind,
    /// Whether character data other than white space stands directly in it.
    pub has_text: bool,
    start: usize,
    open_end: usize,
    close_start: usize,
    end: usize,
    attributes: (u32, u32),
    pub first_child: El,
    pub next_sibling: El,
    last_child: El,
    scope: u32,
    outer_scope: u32,
}

#[derive(Debug)]
pub(crate) struct Attribute<'s> {
    /// Name with prefix, as in the source.
    pub name: &'s str,
    pub local: &'s str,
    pub ns: Ns,
    /// Value as in the source.
    pub raw: &'s str,
    /// Whether the source's value is the value.
    verbatim: bool,
}

impl<'s> Attribute<'s> {
    pub(crate) fn value(&self) -> Cow<'s, str> {
        if self.verbatim { Cow::Borrowed(self.raw) } else { attribute_value(self.raw) }
    }
}

#[derive(Debug)]
struct Binding<'s> {
    prefix: &'s str,
    uri: Cow<'s, str>,
    ns: Ns,
    outer: u32,
    count: u32,
}

/// A parsed document.
#[derive(Debug)]
pub(crate) struct Tree<'s> {
    pub source: &'s str,
    elements: Vec<Element<'s>>,
    attributes: Vec<Attribute<'s>>,
    bindings: Vec<Binding<'s>>,
    others: Vec<String>,
    /// Scope, prefix and namespace of the element before: most elements have those of their neighbour.
    resolved: (u32, &'s str, Ns),
    /// Comments and instructions before and after the root.
    around: [Vec<&'s str>; 2],
    /// How many bindings and namespaces the surroundings have, and the innermost binding.
    outermost: (usize, usize, u32),
}

impl<'s> Tree<'s> {
    /// Parses a document whose surroundings bind these prefixes.
    pub(crate) fn parse(source: &'s str, around: &[(&'s str, &'s str)]) -> Result<Self, XmlError> {
        let mut tree = Self::within(around)?;
        let guess = source.len() / 64;
        tree.elements.reserve(guess);
        tree.attributes.reserve(guess * 2);
        tree.reparse(source)?;
        Ok(tree)
    }

    /// An empty tree whose surroundings bind these prefixes, for [`Self::reparse`].
    pub(crate) fn within(around: &[(&'s str, &'s str)]) -> Result<Self, XmlError> {
        let mut tree = Self {
            source: "",
            elements: Vec::new(),
            attributes: Vec::new(),
            bindings: Vec::new(),
            others: Vec::new(),
            resolved: (NONE, "", Ns::None),
            around: [Vec::new(), Vec::new()],
            outermost: (0, 0, NONE),
        };
        let mut scope = NONE;
        for &(prefix, uri) in around {
            scope = tree.bind(prefix, Cow::Borrowed(uri), scope, 0)?;
        }
        tree.outermost = (tree.bindings.len(), tree.others.len(), scope);
        Ok(tree)
    }

    /// Parses another document within the same surroundings.
    pub(crate) fn reparse(&mut self, source: &'s str) -> Result<(), XmlError> {
        let (bindings, others, scope) = self.outermost;
        self.source = source;
        self.elements.clear();
        self.attributes.clear();
        self.bindings.truncate(bindings);
        self.others.truncate(others);
        self.resolved = (NONE, "", Ns::None);
        self.around.iter_mut().for_each(Vec::clear);
        if let Some(at) = control(source) {
            return Err(self.error(at, "malformed", "The document holds a control character.".to_owned()));
        }
        self.build(scope)
    }

    fn build(&mut self, outermost: u32) -> Result<(), XmlError> {
        let mut reader = Reader::from_str(self.source);
        reader.config_mut().trim_markup_names_in_closing_tags = true;
        let mut open: Vec<El> = Vec::new();
        loop {
            let start = offset(reader.buffer_position());
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => {
                    let at = offset(reader.error_position()).max(start);
                    return Err(self.error(
                        at,
                        "malformed",
                        format!("The document is not well-formed: {error}."),
                    ));
                }
            };
            let end = offset(reader.buffer_position());
            match event {
                Event::Start(tag) => {
                    if open.len() == MAX_DEPTH {
                        return Err(self.error(
                            start,
                            "tooDeep",
                            "Elements are nested deeper than 256.".to_owned(),
                        ));
                    }
                    let element = self.push(&tag, &open, outermost, (start, end))?;
                    open.push(element);
                }
                Event::Empty(tag) => {
                    self.push(&tag, &open, outermost, (start, end))?;
                }
                Event::End(_) => {
                    if let Some(element) = open.pop() {
                        let element = &mut self.elements[element as usize];
                        (element.close_start, element.end) = (start, end);
                    }
                }
                Event::DocType(_) => {
                    let message = "A document type declaration is not allowed.".to_owned();
                    return Err(self.error(start, "dtdForbidden", message));
                }
                Event::GeneralRef(reference) if open.is_empty() || !known_reference(&reference) => {
                    let message = format!("The entity {:?} is not defined.", &*reference);
                    return Err(self.error(start, "undefinedEntity", message));
                }
                Event::Text(_) | Event::CData(_) if open.is_empty() => self.outside(start, end)?,
                Event::Text(_) if blank(&self.source[start..end]) => {}
                Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                    if let Some(&element) = open.last() {
                        self.elements[element as usize].has_text = true;
                    }
                }
                Event::Comment(_) | Event::PI(_) => self.comment(&open, (start, end))?,
                Event::Eof => break,
                Event::Decl(_) => {}
            }
        }
        let Some(&unclosed) = open.last() else {
            return if self.elements.is_empty() {
                Err(self.error(0, "malformed", "The document has no element.".to_owned()))
            } else {
                Ok(())
            };
        };
        let element = &self.elements[unclosed as usize];
        let message = format!("The document ends within the element {:?} that starts here.", element.name);
        Err(self.error(element.start, "unclosed", message))
    }

    /// Only white space may stand outside the root.
    fn outside(&self, start: usize, end: usize) -> Result<(), XmlError> {
        let text = &self.source[start..end];
        match text.find(|letter: char| !letter.is_ascii_whitespace() && letter != '\u{feff}') {
            Some(at) => {
                Err(self.error(start + at, "malformed", "Text stands outside the root element.".to_owned()))
            }
            None => Ok(()),
        }
    }

    /// A comment or an instruction: a child without a name, or a part of the document outside the root.
    fn comment(&mut self, open: &[El], (start, end): (usize, usize)) -> Result<(), XmlError> {
        let Some(&parent) = open.last() else {
            let after = usize::from(!self.elements.is_empty());
            self.around[after].push(&self.source[start..end]);
            return Ok(());
        };
        let scope = self.elements[parent as usize].scope;
        self.add(
            Some(parent),
            Element {
                name: "",
                local: "",
                ns: Ns::None,
                kind: names::COMMENT,
                has_text: false,
                start,
                open_end: end,
                close_start: end,
                end,
                attributes: (0, 0),
                first_child: NONE,
                next_sibling: NONE,
                last_child: NONE,
                scope,
                outer_scope: scope,
            },
        )?;
        Ok(())
    }

    fn add(&mut self, parent: Option<El>, element: Element<'s>) -> Result<El, XmlError> {
        if self.elements.len() == MAX_ELEMENTS {
            return Err(self.error(
                element.start,
                "tooManyElements",
                "The document has more than 250,000 elements.".to_owned(),
            ));
        }
        let index = El::try_from(self.elements.len()).unwrap_or(NONE);
        self.elements.push(element);
        if let Some(parent) = parent {
            let last = std::mem::replace(&mut self.elements[parent as usize].last_child, index);
            match last {
                NONE => self.elements[parent as usize].first_child = index,
                last => self.elements[last as usize].next_sibling = index,
            }
        }
        Ok(index)
    }

    fn push(
        &mut self,
        tag: &BytesStart<'_>,
        open: &[El],
        outermost: u32,
        (start, end): (usize, usize),
    ) -> Result<El, XmlError> {
        let parent = open.last().copied();
        if parent.is_none() && !self.elements.is_empty() {
            return Err(self.error(start, "malformed", "The document has a second root element.".to_owned()));
        }
        let outer_scope = parent.map_or(outermost, |parent| self.elements[parent as usize].scope);
        let (attributes, scope) = self.attributes_of(tag, outer_scope, start)?;
        let name = self.slice(tag.name().into_inner(), start)?;
        // Most elements have their neighbour's prefix.
        let usual = self.resolved.1;
        let (prefix, local) = match name.strip_prefix(usual).and_then(|rest| rest.strip_prefix(':')) {
            Some(local) if !usual.is_empty() => (usual, local),
            _ => split(name),
        };
        if local.is_empty() || !name_start(local) {
            return Err(self.error(start, "malformed", format!("{name:?} is no element name.")));
        }
        let ns = if self.resolved.0 == scope && self.resolved.1 == prefix {
            self.resolved.2
        } else {
            let Some(ns) = self.resolve(scope, prefix) else { return Err(self.unbound(start, prefix)) };
            self.resolved = (scope, prefix, ns);
            ns
        };
        self.add(
            parent,
            Element {
                name,
                local,
                ns,
                kind: names::kind_of(ns, local),
                has_text: false,
                start,
                open_end: end,
                close_start: end,
                end,
                attributes,
                first_child: NONE,
                next_sibling: NONE,
                last_child: NONE,
                scope,
                outer_scope,
            },
        )
    }

    fn attributes_of(
        &mut self,
        tag: &BytesStart<'_>,
        outer: u32,
        start: usize,
    ) -> Result<((u32, u32), u32), XmlError> {
        let first = self.attributes.len();
        let mut scope = outer;
        for attribute in tag.attributes().with_checks(false) {
            let attribute = match attribute {
                Ok(attribute) => attribute,
                Err(error) => {
                    let message = format!("An attribute is not well-formed: {error}.");
                    return Err(self.error(start, "malformed", message));
                }
            };
            let name = self.slice(attribute.key.into_inner(), start)?;
            let raw = self.slice(&attribute.value, start)?;
            let verbatim = verbatim(raw);
            if !verbatim && let Some((at, entity)) = undefined_reference(raw) {
                let at = self.offset_of(raw) + at;
                return Err(self.error(
                    at,
                    "undefinedEntity",
                    format!("The entity {entity:?} is not defined."),
                ));
            }
            if !verbatim && raw.contains('<') {
                return Err(self.error(
                    self.offset_of(raw),
                    "malformed",
                    "An attribute holds a '<'.".to_owned(),
                ));
            }
            if name.starts_with("xmlns") && matches!(name.as_bytes().get(5), None | Some(b':')) {
                let prefix = name.strip_prefix("xmlns:").unwrap_or_default();
                scope = self.bind(prefix, attribute_value(raw), scope, start)?;
                continue;
            }
            let earlier = &self.attributes[first..];
            if earlier.len() == MAX_ATTRIBUTES {
                let message = "An element has more than 256 attributes.".to_owned();
                return Err(self.error(start, "tooManyAttributes", message));
            }
            if earlier.iter().any(|earlier| earlier.name == name) {
                let message = format!("The attribute {name:?} stands twice in one element.");
                return Err(self.error(self.offset_of(name), "malformed", message));
            }
            let (_, local) = split(name);
            self.attributes.push(Attribute { name, local, ns: Ns::None, raw, verbatim });
        }
        for index in first..self.attributes.len() {
            let Attribute { name, local, .. } = self.attributes[index];
            if name.len() != local.len() {
                let (prefix, _) = split(name);
                let Some(ns) = self.resolve(scope, prefix) else { return Err(self.unbound(start, prefix)) };
                self.attributes[index].ns = ns;
            }
        }
        let range = |at: usize| u32::try_from(at).unwrap_or(NONE);
        Ok(((range(first), range(self.attributes.len())), scope))
    }

    fn unbound(&self, at: usize, prefix: &str) -> XmlError {
        self.error(at, "unboundPrefix", format!("The namespace prefix {prefix:?} is not declared."))
    }

    fn bind(&mut self, prefix: &'s str, uri: Cow<'s, str>, outer: u32, at: usize) -> Result<u32, XmlError> {
        let count = if outer == NONE { 1 } else { self.bindings[outer as usize].count + 1 };
        if count as usize > MAX_BINDINGS {
            let message = "More than 256 namespace declarations are in scope.".to_owned();
            return Err(self.error(at, "tooManyNamespaces", message));
        }
        let ns = match Ns::known(&uri) {
            Some(ns) => ns,
            None => match self.others.iter().position(|other| *other == uri) {
                Some(index) => Ns::Other(u16::try_from(index).unwrap_or(u16::MAX)),
                None if self.others.len() == MAX_BINDINGS * 4 => {
                    let message = "The document uses more than 1,024 namespaces.".to_owned();
                    return Err(self.error(at, "tooManyNamespaces", message));
                }
                None => {
                    self.others.push(uri.clone().into_owned());
                    Ns::Other(u16::try_from(self.others.len() - 1).unwrap_or(u16::MAX))
                }
            },
        };
        self.bindings.push(Binding { prefix, uri, ns, outer, count });
        Ok(u32::try_from(self.bindings.len() - 1).unwrap_or(NONE))
    }

    fn resolve(&self, mut scope: u32, prefix: &str) -> Option<Ns> {
        if prefix == "xml" {
            return Some(Ns::Xml);
        }
        while scope != NONE {
            let binding = &self.bindings[scope as usize];
            if binding.prefix == prefix {
                return (prefix.is_empty() || !binding.uri.is_empty()).then_some(binding.ns);
            }
            scope = binding.outer;
        }
        prefix.is_empty().then_some(Ns::None)
    }

    fn offset_of(&self, part: &str) -> usize {
        (part.as_ptr() as usize).wrapping_sub(self.source.as_ptr() as usize)
    }

    /// The same text as a part of the source.
    fn slice(&self, part: &str, at: usize) -> Result<&'s str, XmlError> {
        let from = self.offset_of(part);
        let found = self.source.get(from..from.wrapping_add(part.len()));
        found.ok_or_else(|| self.error(at, "malformed", "The tag is not well-formed.".to_owned()))
    }

    fn error(&self, at: usize, reason: &'static str, message: String) -> XmlError {
        let (line, column) = position(self.source, at);
        XmlError { message, line, column, reason }
    }

    /// An error at an element.
    pub(crate) fn error_at(&self, el: El, reason: &'static str, message: String) -> XmlError {
        self.error(self.get(el).start, reason, message)
    }

    pub(crate) fn get(&self, el: El) -> &Element<'s> {
        &self.elements[el as usize]
    }

    pub(crate) fn attributes(&self, el: El) -> &[Attribute<'s>] {
        let (from, to) = self.get(el).attributes;
        &self.attributes[from as usize..to as usize]
    }

    /// The value of an attribute without namespace.
    pub(crate) fn attribute(&self, el: El, name: &str) -> Option<Cow<'s, str>> {
        let found =
            self.attributes(el).iter().find(|attribute| attribute.ns == Ns::None && attribute.local == name);
        found.map(Attribute::value)
    }

    pub(crate) fn children(&self, el: El) -> impl Iterator<Item = El> + '_ {
        let first = self.get(el).first_child;
        std::iter::successors((first != NONE).then_some(first), |&child| {
            let next = self.get(child).next_sibling;
            (next != NONE).then_some(next)
        })
    }

    /// The source between an element's tags.
    pub(crate) fn inner(&self, el: El) -> &'s str {
        let element = self.get(el);
        &self.source[element.open_end..element.close_start]
    }

    /// The character data of an element.
    pub(crate) fn text(&self, el: El) -> Cow<'s, str> {
        content_text(self.inner(el))
    }

    /// The URI of a namespace.
    pub(crate) fn uri(&self, ns: Ns) -> &str {
        match ns {
            Ns::Other(index) => self.others.get(usize::from(index)).map_or("", String::as_str),
            known => known.uri(),
        }
    }

    /// The prefixes that the root binds.
    pub(crate) fn root_bindings(&self) -> Vec<(&'s str, &str)> {
        let mut found = Vec::new();
        let mut scope = self.get(0).scope;
        while scope != NONE {
            let binding = &self.bindings[scope as usize];
            found.push((binding.prefix, binding.uri.as_ref()));
            scope = binding.outer;
        }
        found.reverse();
        found
    }

    /// The prefixes that an element itself binds.
    pub(crate) fn own_bindings(&self, el: El) -> impl Iterator<Item = (&'s str, Ns, &str)> + '_ {
        let element = self.get(el);
        let (mut scope, outer) = (element.scope, element.outer_scope);
        std::iter::from_fn(move || {
            if scope == outer || scope == NONE {
                return None;
            }
            let binding = &self.bindings[scope as usize];
            scope = binding.outer;
            Some((binding.prefix, binding.ns, binding.uri.as_ref()))
        })
    }

    /// Every prefix that is bound anywhere, with its URI.
    pub(crate) fn all_bindings(&self) -> impl Iterator<Item = (&'s str, &str)> + '_ {
        self.bindings.iter().map(|binding| (binding.prefix, binding.uri.as_ref()))
    }

    /// The namespace and local name of a qualified name in the scope of an element.
    pub(crate) fn qualified<'v>(&self, el: El, name: &'v str) -> Option<(Ns, &'v str)> {
        let (prefix, local) = split(name);
        Some((self.resolve(self.get(el).scope, prefix)?, local))
    }

    /// Comments and instructions before and after the root.
    pub(crate) fn around(&self) -> [&[&'s str]; 2] {
        [&self.around[0], &self.around[1]]
    }

    /// The character data directly in an element, each piece with the child that it stands before.
    pub(crate) fn stray(&self, el: El) -> impl Iterator<Item = (El, &'s str)> + '_ {
        let element = self.get(el);
        let mut at = element.open_end;
        let ends = self.children(el).map(|child| (child, self.get(child).start, self.get(child).end));
        let pieces =
            ends.chain([(NONE, element.close_start, element.end)]).map(move |(child, start, end)| {
                let piece = &self.source[at..start];
                at = end;
                (child, piece)
            });
        pieces.filter(|(_, piece)| !blank(piece))
    }

    /// The namespaces of the standard that are bound anywhere.
    pub(crate) fn standard_namespaces(&self) -> Vec<Ns> {
        let mut found: Vec<Ns> = self
            .bindings
            .iter()
            .map(|binding| binding.ns)
            .filter(|ns| ns.standard() && *ns != Ns::None)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// How many elements there are.
    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    /// All elements in document order.
    pub(crate) fn all(&self) -> impl Iterator<Item = El> + use<> {
        0..El::try_from(self.elements.len()).unwrap_or(NONE)
    }

    /// The values of all attributes `id` without namespace that are not empty.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Cow<'s, str>> + '_ {
        let ids = self
            .attributes
            .iter()
            .filter(|own| own.ns == Ns::None && own.name == "id" && !own.raw.is_empty());
        ids.map(Attribute::value)
    }

    /// Whether the document holds an element of the kind.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.elements.iter().any(|element| element.kind == kind)
    }

    /// An element with its content as in the source, with the declarations between it and the root added.
    pub(crate) fn fragment(&self, el: El) -> Cow<'s, str> {
        let element = self.get(el);
        let source = &self.source[element.start..element.end];
        let root = self.get(0).scope;
        if element.outer_scope == root || element.kind == names::COMMENT {
            return Cow::Borrowed(source);
        }
        let mut prefixes: Vec<&str> = Vec::new();
        let mut scope = element.scope;
        while scope != element.outer_scope && scope != NONE {
            prefixes.push(self.bindings[scope as usize].prefix);
            scope = self.bindings[scope as usize].outer;
        }
        let mut declarations = String::new();
        while scope != root && scope != NONE {
            let binding = &self.bindings[scope as usize];
            if !prefixes.contains(&binding.prefix) {
                prefixes.push(binding.prefix);
                // Many declarations are not worth a search each.
                if prefixes.len() < 16 && !mentions(source, binding.prefix) {
                    scope = binding.outer;
                    continue;
                }
                declarations.push_str(if binding.prefix.is_empty() { " xmlns" } else { " xmlns:" });
                declarations.push_str(binding.prefix);
                declarations.push_str("=\"");
                super::text::escape_attribute(&binding.uri, &mut declarations);
                declarations.push('"');
            }
            scope = binding.outer;
        }
        let at = 1 + element.name.len();
        Cow::Owned(format!("{}{declarations}{}", &source[..at], &source[at..]))
    }
}

/// Whether a prefix may be in use; the default namespace always is.
fn mentions(source: &str, prefix: &str) -> bool {
    let at = |rest: &str| rest.starts_with(':');
    prefix.is_empty() || source.match_indices(prefix).any(|(from, _)| at(&source[from + prefix.len()..]))
}

/// Whether text is white space only.
pub(crate) fn blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

fn offset(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// Prefix and local name.
pub(crate) fn split(name: &str) -> (&str, &str) {
    match name.bytes().position(|byte| byte == b':') {
        Some(at) => (&name[..at], &name[at + 1..]),
        None => ("", name),
    }
}

fn name_start(local: &str) -> bool {
    let first = local.chars().next();
    first.is_some_and(|letter| {
        (letter.is_alphabetic() || letter == '_' || !letter.is_ascii()) && expressible(letter)
    })
}
