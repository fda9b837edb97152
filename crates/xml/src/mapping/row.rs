//! Rows: which attributes and children a model type has, in the order of the schema.
//!
//! A row is data for the reader and the writer alike: an attribute is a pair of functions over the model value, a
//! child a pair of functions over the reader and the writer. An element without a member of its own stands in
//! the row with neither, so that the writer knows its place among the others.

use super::read::Reader;
use super::write::Writer;
use super::{Vocabulary, order};
use crate::text::{number, parse_number};
use crate::{El, Kind, XmlError};
use std::borrow::Cow;
use std::fmt;

/// Relation of an attribute's lexical form to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lexis {
    /// The value is the text itself.
    Text,
    /// The value is an id; a prefix of the model's own namespace is dropped.
    Reference,
    /// Several lexical forms mean one value.
    Typed,
    /// A number of a diagram: whole ones are written with or without a fraction throughout a document.
    Number,
}

/// Kind of an element's character data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// Text.
    Text,
    /// An expression.
    Expression,
    /// An id; a prefix of the model's own namespace is dropped.
    Reference,
}

/// An attribute of a model type.
pub struct Attr<T: 'static> {
    /// Name of the attribute.
    pub name: &'static str,
    /// Relation of its lexical form to its value.
    pub lexis: Lexis,
    /// Text of the attribute in a model value; none when absent.
    pub get: for<'t> fn(&'t T) -> Option<Cow<'t, str>>,
    /// Takes a text; answers whether it is a value of the attribute's type.
    pub set: fn(&mut T, Cow<'_, str>) -> bool,
}

/// Reads a child into the model value; answers whether it was taken.
pub type ReadChild<V, T> = fn(&mut Reader<'_, V>, &mut T, El) -> Result<bool, XmlError>;
/// Writes the children of one name.
pub type WriteChild<V, T> = fn(&mut Writer<'_, V>, &T);

/// Which elements a child stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match<C> {
    /// Those of one kind.
    Kind(Kind),
    /// Those of the groups of a choice.
    Choice(C),
}

/// A child of a model type.
pub struct Child<V: Vocabulary, T: 'static> {
    /// Which elements it stands for.
    pub matches: Match<V::Choice>,
    /// Reads one; none where it is preserved.
    pub read: Option<ReadChild<V, T>>,
    /// Writes all of them; none where they are put back as they were, or written with another child.
    pub write: Option<WriteChild<V, T>>,
}

/// A model type's attributes and children. The id comes first, where there is one.
pub struct Row<V: Vocabulary, T: 'static> {
    /// Attributes of the type, in parts that rows may share.
    pub attributes: &'static [&'static [Attr<T>]],
    /// Children of the type, in parts that rows may share.
    pub children: &'static [&'static [Child<V, T>]],
}

impl<T> fmt::Debug for Attr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attr").field("name", &self.name).field("lexis", &self.lexis).finish_non_exhaustive()
    }
}

impl<V: Vocabulary, T> fmt::Debug for Child<V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("matches", &self.matches).finish_non_exhaustive()
    }
}

impl<V: Vocabulary, T> fmt::Debug for Row<V, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { attributes, children } = self;
        f.debug_struct("Row").field("attributes", attributes).field("children", children).finish()
    }
}

impl<V: Vocabulary, T> Row<V, T> {
    pub(super) fn attribute(&self, name: &str) -> Option<&'static Attr<T>> {
        self.attributes.iter().find_map(|part| part.iter().find(|attribute| attribute.name == name))
    }

    /// The child for an element and its rank.
    pub(super) fn child(&self, kind: Kind) -> Option<(usize, &'static Child<V, T>)> {
        let group = V::group(kind);
        let mut all = self.children.iter().flat_map(|part| part.iter()).enumerate();
        all.find(|(_, child)| match child.matches {
            Match::Kind(own) => own == kind,
            Match::Choice(own) => V::takes(own, group),
        })
    }

    /// The rank of an element among the children.
    pub(super) fn rank(&self, kind: Kind) -> u16 {
        self.child(kind).map_or(order::OTHER, |(rank, _)| order::short(rank))
    }

    /// The words of the children in the note of their order.
    pub(super) fn words(&self) -> impl Iterator<Item = Option<&'static str>> {
        self.children.iter().flat_map(|part| part.iter()).map(|child| V::order_word(child.matches))
    }

    /// The rank of an attribute.
    pub(super) fn attribute_rank(&self, name: &str) -> usize {
        let mut all = self.attributes.iter().flat_map(|part| part.iter());
        all.position(|attribute| attribute.name == name).unwrap_or(usize::MAX)
    }

    /// Whether the model type has an id.
    pub(super) fn has_id(&self) -> bool {
        self.attributes.first().and_then(|part| part.first()).is_some_and(|first| first.name == "id")
    }

    /// The id of the model value, where the model value has one.
    pub(super) fn id<'t>(&self, model: &'t T) -> Option<Cow<'t, str>> {
        let first = self.attributes.first().and_then(|part| part.first())?;
        if first.name == "id" { (first.get)(model).filter(|id| !id.is_empty()) } else { None }
    }
}

/// A value with a lexical form.
pub trait Lexical: Sized {
    /// The value of a text; none where it is none of the type.
    fn parse(text: Cow<'_, str>) -> Option<Self>;
    /// The text of the value.
    fn print(&self) -> Cow<'_, str>;
}

impl Lexical for String {
    fn parse(text: Cow<'_, str>) -> Option<Self> {
        Some(text.into_owned())
    }
    fn print(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl Lexical for bool {
    fn parse(text: Cow<'_, str>) -> Option<Self> {
        match text.trim() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }
    fn print(&self) -> Cow<'_, str> {
        Cow::Borrowed(if *self { "true" } else { "false" })
    }
}

impl Lexical for i64 {
    fn parse(text: Cow<'_, str>) -> Option<Self> {
        text.trim().parse().ok()
    }
    fn print(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_string())
    }
}

impl Lexical for f64 {
    fn parse(text: Cow<'_, str>) -> Option<Self> {
        parse_number(&text)
    }
    fn print(&self) -> Cow<'_, str> {
        Cow::Owned(number(*self))
    }
}
