//! A document as an arena of elements and comments that borrow from its text.

mod build;
mod fragment;
mod names;
mod scope;
#[cfg(test)]
mod tests;

pub use names::{AnyNames, COMMENT, Kind, Names, Ns, UNKNOWN};
pub use scope::Declaration;

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

use crate::XmlError;
use crate::decode::position;
use crate::text::{attribute_value, content_text};

/// No element.
const NONE: El = El::MAX;

/// Index of an element or comment, in document order; the root's is 0.
pub type El = u32;

/// Bounds of a document.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Deepest nesting of elements.
    pub depth: usize,
    /// Most elements and comments.
    pub elements: usize,
}

/// An attribute; a declaration of a namespace is none, see [`Document::declarations`].
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'s> {
    /// Name with prefix.
    pub name: &'s str,
    /// Value as it stands in the source.
    pub raw: &'s str,
    /// Bytes of the name that are its prefix and the colon.
    prefix: u32,
    /// Namespace; [`Ns::NONE`] for an attribute without prefix.
    pub ns: Ns,
    /// Whether the source's value is the value.
    verbatim: bool,
}

impl<'s> Attribute<'s> {
    /// Name without prefix.
    #[must_use]
    pub fn local(&self) -> &'s str {
        self.name.get(self.prefix as usize..).unwrap_or_default()
    }

    /// The value, references resolved.
    #[must_use]
    pub fn value(&self) -> Cow<'s, str> {
        if self.verbatim { Cow::Borrowed(self.raw) } else { attribute_value(self.raw) }
    }

    /// Whether it has a namespace of its own.
    #[must_use]
    pub fn is_qualified(&self) -> bool {
        self.prefix > 0
    }
}

/// An element, or a comment or instruction, which has no name.
#[derive(Debug, Clone, Copy)]
pub struct Part<'s> {
    /// Name with prefix; empty for a comment or an instruction.
    pub name: &'s str,
    /// Bytes of the name that are its prefix and the colon.
    prefix: u32,
    /// Kind; [`COMMENT`] for a comment or an instruction.
    pub kind: Kind,
    /// Namespace.
    pub ns: Ns,
    start: u32,
    open_end: u32,
    close_start: u32,
    end: u32,
    first_attribute: u32,
    attributes: u16,
    /// Number of namespaces that its own tag declares.
    declarations: u16,
    next_sibling: El,
    /// The innermost binding in sight.
    scope: u32,
    /// Whether character data other than white space stands directly in it.
    pub has_text: bool,
    /// Whether elements or comments stand in it; the first of them is the next part.
    has_children: bool,
}

impl<'s> Part<'s> {
    /// Stands for what is not there.
    const ABSENT: Part<'static> = Part {
        name: "",
        prefix: 0,
        kind: COMMENT,
        ns: Ns::NONE,
        start: 0,
        open_end: 0,
        close_start: 0,
        end: 0,
        first_attribute: 0,
        attributes: 0,
        declarations: 0,
        next_sibling: NONE,
        scope: NONE,
        has_text: false,
        has_children: false,
    };

    /// Name without prefix; empty for a comment.
    #[must_use]
    pub fn local(&self) -> &'s str {
        self.name.get(self.prefix as usize..).unwrap_or_default()
    }
}

/// A parsed document whose names are those of the format `N`.
#[derive(Debug)]
pub struct Document<'s, N = AnyNames> {
    /// The text that it was read from.
    pub source: &'s str,
    limits: Limits,
    parts: Vec<Part<'s>>,
    attributes: Vec<Attribute<'s>>,
    bindings: Vec<Declaration<'s>>,
    namespaces: Vec<Cow<'s, str>>,
    /// The prefix resolved last, where, and its namespace: most elements have that of the one before.
    recent: (&'s str, u32, Ns),
    /// Comments and instructions before and after the root.
    around: [Vec<&'s str>; 2],
    /// Number of bindings and of namespaces in the surroundings, and the innermost binding.
    outermost: (usize, usize, u32),
    format: PhantomData<N>,
}

impl<'s, N: Names> Document<'s, N> {
    fn error(&self, at: usize, reason: &'static str, message: impl Into<String>) -> XmlError {
        let (line, column) = position(self.source, at);
        XmlError { message: message.into(), line, column, reason }
    }

    /// An error at an element.
    pub fn error_at(&self, el: El, reason: &'static str, message: impl Into<String>) -> XmlError {
        self.error(self.part(el).start as usize, reason, message)
    }

    /// The root element.
    #[must_use]
    pub const fn root(&self) -> El {
        0
    }

    /// Number of parts: elements, comments and instructions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there is nothing, as before the first document is parsed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// All elements and comments in document order.
    pub fn all(&self) -> Range<El> {
        0..El::try_from(self.parts.len()).unwrap_or(NONE)
    }

    /// The element or comment; a nameless one for an index that is none.
    #[must_use]
    pub fn part(&self, el: El) -> &Part<'s> {
        self.parts.get(el as usize).unwrap_or(&Part::ABSENT)
    }

    /// The element's namespace.
    #[must_use]
    pub fn namespace(&self, el: El) -> &str {
        self.uri(self.part(el).ns)
    }

    /// The element's name without prefix; empty for a comment.
    #[must_use]
    pub fn local(&self, el: El) -> &'s str {
        self.part(el).local()
    }

    /// The attributes in order.
    #[must_use]
    pub fn attributes(&self, el: El) -> &[Attribute<'s>] {
        let Part { first_attribute, attributes, .. } = *self.part(el);
        let first = first_attribute as usize;
        self.attributes.get(first..first + usize::from(attributes)).unwrap_or_default()
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
            attribute.is_qualified() && attribute.local() == local && self.uri(attribute.ns) == namespace
        };
        self.attributes(el).iter().find(of).map(Attribute::value)
    }

    /// The values of all attributes `id` without a prefix that are not empty.
    pub fn ids(&self) -> impl Iterator<Item = Cow<'s, str>> + '_ {
        let ids = self.attributes.iter().filter(|own| own.name == "id" && !own.raw.is_empty());
        ids.map(Attribute::value)
    }

    /// The child elements and comments in order.
    pub fn parts_of(&self, el: El) -> impl Iterator<Item = El> + '_ {
        let mut at = if self.part(el).has_children { el + 1 } else { NONE };
        std::iter::from_fn(move || {
            let child = at;
            at = self.parts.get(child as usize)?.next_sibling;
            Some(child)
        })
    }

    /// Whether elements or comments stand within the element.
    #[must_use]
    pub fn has_parts(&self, el: El) -> bool {
        self.part(el).has_children
    }

    /// The element or comment behind this one within the same parent.
    #[must_use]
    pub fn next(&self, el: El) -> Option<El> {
        Some(self.part(el).next_sibling).filter(|&next| next != NONE)
    }

    /// The child elements in order.
    pub fn children(&self, el: El) -> impl Iterator<Item = El> + '_ {
        self.parts_of(el).filter(|&child| self.part(child).kind != COMMENT)
    }

    /// Comments and instructions before and after the root.
    #[must_use]
    pub fn around(&self) -> [&[&'s str]; 2] {
        self.around.each_ref().map(Vec::as_slice)
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
        self.source.get(self.span(el)).unwrap_or_default()
    }

    /// Byte range of the element in the source.
    #[must_use]
    pub fn span(&self, el: El) -> Range<usize> {
        let part = self.part(el);
        part.start as usize..part.end as usize
    }

    /// Byte offset of the element's content in the source.
    #[must_use]
    pub fn content_start(&self, el: El) -> usize {
        self.part(el).open_end as usize
    }
}
