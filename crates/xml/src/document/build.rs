//! From text to the tree.

use std::borrow::Cow;
use std::collections::HashSet;
use std::marker::PhantomData;

use super::scope::{Binding, declared};
use super::{AnyNames, Attribute, Document, El, Limits, NONE, Names, Ns, Part};
use crate::XmlError;
use crate::scan::{Inner, Scanner, Token};
use crate::text::{blank, control, expressible, undefined_reference, verbatim};

const MAX_ATTRIBUTES: usize = 256;

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}

/// Length of a name's prefix; names are too short for a search by blocks to pay.
fn colon(name: &str) -> usize {
    name.bytes().position(|byte| byte == b':').unwrap_or(0)
}

/// An element that is open, and the last of its children so far.
struct Open {
    el: El,
    last: El,
}

impl<'s> Document<'s> {
    /// Parses a document.
    ///
    /// # Errors
    ///
    /// When it is not well-formed, has a document type declaration, or exceeds a limit.
    pub fn parse(source: &'s str, limits: Limits) -> Result<Self, XmlError> {
        Document::<AnyNames>::parse_within(source, &[], limits)
    }
}

impl<'s, N: Names> Document<'s, N> {
    /// Parses a document whose surroundings bind these prefixes.
    ///
    /// # Errors
    ///
    /// When it is not well-formed, has a document type declaration, or exceeds a limit.
    pub fn parse_within(
        source: &'s str,
        around: &[(&'s str, &'s str)],
        limits: Limits,
    ) -> Result<Self, XmlError> {
        let mut document = Self::within(around, limits)?;
        // As much as there can be, so that nothing is moved while it grows: room that stays empty takes no memory.
        let room = |byte: u8| memchr::memchr_iter(byte, source.as_bytes()).count();
        document.parts.reserve_exact(room(b'<').min(limits.elements));
        document.attributes.reserve_exact(room(b'=').min(limits.elements));
        document.reparse(source)?;
        Ok(document)
    }

    /// An empty document whose surroundings bind these prefixes, for [`Self::reparse`].
    ///
    /// # Errors
    ///
    /// When the surroundings bind more than a document may.
    pub fn within(around: &[(&'s str, &'s str)], limits: Limits) -> Result<Self, XmlError> {
        let mut namespaces = Vec::with_capacity(2 + N::NAMESPACES.len() + around.len());
        namespaces.extend([Cow::Borrowed(""), Cow::Borrowed("http://www.w3.org/XML/1998/namespace")]);
        namespaces.extend(N::NAMESPACES.iter().copied().map(Cow::Borrowed));
        let mut document = Self {
            source: "",
            limits,
            parts: Vec::new(),
            attributes: Vec::new(),
            bindings: Vec::new(),
            namespaces,
            recent: ("", NONE, Ns::NONE),
            around: [Vec::new(), Vec::new()],
            outermost: (0, 0, NONE),
            format: PhantomData,
        };
        let mut scope = NONE;
        for &(prefix, uri) in around {
            scope =
                document.bind(Binding { name: "", raw: "", prefix, uri: Cow::Borrowed(uri) }, scope, 0)?;
        }
        document.outermost = (document.bindings.len(), document.namespaces.len(), scope);
        Ok(document)
    }

    /// Parses another document within the same surroundings.
    ///
    /// # Errors
    ///
    /// As [`Self::parse_within`].
    pub fn reparse(&mut self, source: &'s str) -> Result<(), XmlError> {
        let (bindings, namespaces, scope) = self.outermost;
        self.source = source;
        self.parts.clear();
        self.attributes.clear();
        self.bindings.truncate(bindings);
        self.namespaces.truncate(namespaces);
        let default = self.lookup("", scope).unwrap_or(Ns::NONE);
        self.recent = ("", scope, default);
        self.around.iter_mut().for_each(Vec::clear);
        if u32::try_from(source.len()).is_err() {
            return Err(self.error(0, "tooLarge", "The document has 4 GiB or more."));
        }
        if let Some(at) = control(source) {
            return Err(self.error(at, "malformed", "The document holds a control character."));
        }
        self.build(scope)
    }

    fn malformed(&self, at: usize, what: &str) -> XmlError {
        self.error(at, "malformed", format!("The document is not well-formed: {what}."))
    }

    fn build(&mut self, outermost: u32) -> Result<(), XmlError> {
        let mut scanner = Scanner::new(self.source);
        let mut open: Vec<Open> = Vec::new();
        loop {
            let start = scanner.at;
            match scanner.token().map_err(|what| self.malformed(start, what))? {
                Token::Open(name) => {
                    let scope = open.last().map_or(outermost, |parent| self.part(parent.el).scope);
                    let (part, empty) = self.open(name, &mut scanner, scope, start)?;
                    if !empty && open.len() >= self.limits.depth {
                        let message = format!("Elements are nested deeper than {}.", self.limits.depth);
                        return Err(self.error(start, "tooDeep", message));
                    }
                    let el = self.add(open.last_mut(), part)?;
                    if !empty {
                        open.push(Open { el, last: NONE });
                    }
                }
                Token::Close(name) => {
                    let part = open.pop().and_then(|open| self.parts.get_mut(open.el as usize));
                    match part.filter(|part| part.name == name) {
                        Some(part) => (part.close_start, part.end) = (index(start), index(scanner.at)),
                        None => return Err(self.malformed(start, "This tag closes no element that is open")),
                    }
                }
                Token::Text(refers) => self.character_data(open.last(), refers, start, scanner.at)?,
                Token::Data => match open.last() {
                    Some(open) => self.mark_text(open),
                    None => self.outside(start, scanner.at)?,
                },
                Token::DocumentType => {
                    let message = "A document type declaration is not allowed.";
                    return Err(self.error(start, "dtdForbidden", message));
                }
                Token::Aside => self.aside(open.last_mut(), start, scanner.at)?,
                Token::Declaration => {}
                Token::End => break,
            }
        }
        match open.last() {
            Some(unclosed) => {
                let part = self.part(unclosed.el);
                let message =
                    format!("The document ends within the element {:?} that starts here.", part.name);
                Err(self.error(part.start as usize, "unclosed", message))
            }
            None if self.parts.is_empty() => Err(self.error(0, "malformed", "The document has no element.")),
            None => Ok(()),
        }
    }

    /// Takes note of text, which white space alone is not.
    fn character_data(
        &mut self,
        open: Option<&Open>,
        refers: bool,
        start: usize,
        end: usize,
    ) -> Result<(), XmlError> {
        let Some(open) = open else { return self.outside(start, end) };
        if refers {
            self.references(start, end)?;
        }
        if refers || !blank(self.source.get(start..end).unwrap_or_default()) {
            self.mark_text(open);
        }
        Ok(())
    }

    fn mark_text(&mut self, open: &Open) {
        if let Some(part) = self.parts.get_mut(open.el as usize) {
            part.has_text = true;
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

    /// A comment or an instruction: a child without a name, or a part of the document outside the root.
    fn aside(&mut self, open: Option<&mut Open>, start: usize, end: usize) -> Result<(), XmlError> {
        let Some(parent) = open else {
            let [before, after] = &mut self.around;
            let side = if self.parts.is_empty() { before } else { after };
            side.push(self.source.get(start..end).unwrap_or_default());
            return Ok(());
        };
        let scope = self.part(parent.el).scope;
        self.add(Some(parent), Self::bare(scope, start, end))?;
        Ok(())
    }

    fn bare(scope: u32, start: usize, end: usize) -> Part<'s> {
        let (start, end) = (index(start), index(end));
        Part { start, open_end: end, close_start: end, end, scope, ..Part::ABSENT }
    }

    fn add(&mut self, parent: Option<&mut Open>, part: Part<'s>) -> Result<El, XmlError> {
        let at = index(self.parts.len());
        if self.parts.len() >= self.limits.elements {
            let message = format!("The document has more than {} elements.", thousands(self.limits.elements));
            return Err(self.error(part.start as usize, "tooManyElements", message));
        }
        match parent {
            Some(parent) => {
                let before = std::mem::replace(&mut parent.last, at);
                if let Some(before) = self.parts.get_mut(before as usize) {
                    before.next_sibling = at;
                } else if let Some(parent) = self.parts.get_mut(parent.el as usize) {
                    parent.has_children = true;
                }
            }
            None if !self.parts.is_empty() => {
                let message = "The document has a second root element.";
                return Err(self.error(part.start as usize, "malformed", message));
            }
            None => {}
        }
        self.parts.push(part);
        Ok(at)
    }

    /// Reads a tag whose name has been read: the element, and whether it is empty.
    fn open(
        &mut self,
        name: &'s str,
        scanner: &mut Scanner<'s>,
        outer: u32,
        start: usize,
    ) -> Result<(Part<'s>, bool), XmlError> {
        let (first, first_binding) = (self.attributes.len(), self.bindings.len());
        let (scope, qualified, empty) = self.read_attributes(scanner, outer, start)?;
        let prefix = colon(name);
        let ns = self.element_namespace(name.get(..prefix).unwrap_or_default(), scope, start)?;
        if qualified {
            self.resolve_attributes(first, scope, start)?;
        }
        // The colon belongs to what is not the local name.
        let prefix = if name.as_bytes().get(prefix) == Some(&b':') { index(prefix) + 1 } else { 0 };
        let bare = Self::bare(scope, start, scanner.at);
        let mut part = Part { name, prefix, ns, first_attribute: index(first), ..bare };
        let local = part.local();
        if !name_start(local) {
            return Err(self.error(start, "malformed", format!("{name:?} is no element name.")));
        }
        part.kind = N::kind(ns, local);
        part.attributes = u16::try_from(self.attributes.len() - first).unwrap_or(u16::MAX);
        part.declarations = u16::try_from(self.bindings.len() - first_binding).unwrap_or(u16::MAX);
        Ok((part, empty))
    }

    /// Finds the namespaces of a tag's attributes, which its declarations may bind behind them.
    fn resolve_attributes(&mut self, first: usize, scope: u32, start: usize) -> Result<(), XmlError> {
        for at in first..self.attributes.len() {
            let Some(&Attribute { name, prefix: length @ 1.., .. }) = self.attributes.get(at) else {
                continue;
            };
            let prefix = name.get(..length as usize - 1).unwrap_or_default();
            let ns = self.resolve(prefix, scope, start)?;
            if let Some(attribute) = self.attributes.get_mut(at) {
                attribute.ns = ns;
            }
        }
        Ok(())
    }

    /// Reads the attributes of a tag up to its end: the scope within the element, whether any has a prefix, and
    /// whether the element is empty.
    fn read_attributes(
        &mut self,
        scanner: &mut Scanner<'s>,
        outer: u32,
        start: usize,
    ) -> Result<(u32, bool, bool), XmlError> {
        let (first, first_binding) = (self.attributes.len(), self.bindings.len());
        let mut scope = outer;
        let mut qualified = false;
        let mut seen = HashSet::new();
        loop {
            let (name, raw) = match scanner.inner().map_err(|what| self.malformed(start, what))? {
                Inner::Attribute(name, raw) => (name, raw),
                Inner::Content => return Ok((scope, qualified, false)),
                Inner::Empty => return Ok((scope, qualified, true)),
            };
            let verbatim = verbatim(raw);
            if !verbatim {
                // Behind the value stands its quote.
                self.check_value(raw, scanner.at - 1 - raw.len())?;
            }
            if let Some(prefix) = declared(name) {
                let own = self.bindings.get(first_binding..).unwrap_or_default();
                if own.iter().any(|own| own.prefix == prefix) {
                    return Err(self.twice(name));
                }
                let uri = if verbatim { Cow::Borrowed(raw) } else { crate::text::attribute_value(raw) };
                scope = self.bind(Binding { name, raw, prefix, uri }, scope, start)?;
                continue;
            }
            // A set pays from some attributes on only.
            let before = self.attributes.get(first..).unwrap_or_default();
            if before.len() >= MAX_ATTRIBUTES {
                let message = "An element has more than 256 attributes.";
                return Err(self.error(start, "tooManyAttributes", message));
            }
            let twice = if before.len() < 16 {
                before.iter().any(|known| known.name == name)
            } else {
                if seen.is_empty() {
                    seen.extend(before.iter().map(|known| known.name));
                }
                !seen.insert(name)
            };
            if twice {
                return Err(self.twice(name));
            }
            let prefix = match colon(name) {
                0 => 0,
                length => index(length) + 1,
            };
            qualified |= prefix > 0;
            self.attributes.push(Attribute { name, raw, prefix, ns: Ns::NONE, verbatim });
        }
    }

    fn twice(&self, name: &str) -> XmlError {
        let at = (name.as_ptr() as usize).wrapping_sub(self.source.as_ptr() as usize);
        self.error(at, "malformed", format!("The attribute {name:?} stands twice in one element."))
    }

    /// Refuses a value of an attribute with `<` or an undefined reference.
    fn check_value(&self, raw: &str, value: usize) -> Result<(), XmlError> {
        if let Some((at, reference)) = undefined_reference(raw) {
            let message = format!("The entity {reference:?} is not defined.");
            return Err(self.error(value + at, "undefinedEntity", message));
        }
        if raw.contains('<') {
            return Err(self.error(value, "malformed", "An attribute holds a '<'."));
        }
        Ok(())
    }
}

/// Whether a name begins as one may.
fn name_start(local: &str) -> bool {
    match local.as_bytes().first() {
        Some(first) if first.is_ascii() => first.is_ascii_alphabetic() || *first == b'_',
        _ => local.chars().next().is_some_and(expressible),
    }
}

/// A number with a comma between its thousands.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
