//! The mapping engine: one table of attributes and children per element drives a format's reader and its writer;
//! content without a member is preserved for the way back.
//!
//! A format is a [`Vocabulary`]: its elements, its namespaces, and what it does itself. Its model types each have a
//! [`Row`], written with the macros of this module ([`attr!`](crate::attr), [`leaf!`](crate::leaf),
//! [`one!`](crate::one), [`many!`](crate::many) and the others). A macro that names an element calls the function
//! `kind`, a `const fn(&str) -> Kind`, that is in sight where the macro is used, so that a name that the format does
//! not have fails the build.
//!
//! Preserved content stands in fragments beside the model, each an element `residue` of the product's own namespace
//! that names the element it belongs to by its id or, without one, by its path below the nearest element with an id.
//! These spellings stand in stored documents and are read for ever.

mod document;
mod macros;
mod order;
mod prefixes;
mod preserved;
mod read;
mod row;
mod write;

pub use document::Bindings;
pub use prefixes::Prefixes;
pub use preserved::{Preserved, PreservedChild, PreservedContent, collect, is_preserved, surroundings};
pub use read::{Extensions, Finding, Reader};
pub use row::{Attr, Child, Leaf, Lexical, Lexis, Match, ReadChild, Row, WriteChild};
pub use write::{Origin, WriteError, Writer, Written};

use std::fmt::Debug;

use crate::{Attribute, COMMENT, El, Kind, Limits, Names, Ns};

/// Kind of character data where the format has none, among preserved children.
pub(crate) const TEXT: Kind = COMMENT - 1;

/// A format: the elements and namespaces that its rows speak of, and what it does itself.
pub trait Vocabulary: Names + Sized {
    /// The prefix of each of [`Names::NAMESPACES`] where a document binds none.
    const PREFIXES: &'static [&'static str];
    /// The namespace of the format's elements.
    const MODEL: Ns;
    /// The namespace of schema instances.
    const XSI: Ns;
    /// The namespace of the product's own attributes and elements, which no document's root keeps a binding of.
    const OWN: Ns;
    /// The root element. Its name is its address where it has no id.
    const ROOT: Kind;
    /// The element that holds extensions.
    const EXTENSION_ELEMENTS: Kind;
    /// The name in the model's namespace that expressions give as their `xsi:type`; none where they have no type.
    const EXPRESSION_TYPE: Option<&'static str>;
    /// The bounds of a document and of a fragment.
    const LIMITS: Limits;
    /// Deepest nesting of what is read with [`Reader::deepen`], in levels of the model's JSON.
    const MAX_NESTING: usize;
    /// The sentence for what is nested deeper.
    const TOO_DEEP: &'static str;

    /// The group of an element, by its place in the format.
    type Group: Copy + Eq + Debug + 'static;
    /// A choice of groups that one child of a row stands for.
    type Choice: Copy + Eq + Debug + 'static;
    /// Notes of the format while it reads one document.
    type Reading<'s>;
    /// Notes of the format while it writes one document.
    type Writing<'d>;

    /// Namespace and local name of an element; none for a kind that is none of the format's.
    fn element(kind: Kind) -> Option<(Ns, &'static str)>;

    /// The group of an element; for a kind that is none of the format's, the one that no choice has.
    fn group(kind: Kind) -> Self::Group;

    /// Whether a child of a row stands for the elements of a group.
    fn takes(choice: Self::Choice, group: Self::Group) -> bool;

    /// The word of a child in the note of its siblings' order, which stored documents hold; none for a child that the
    /// note does not tell from the others.
    fn order_word(matches: Match<Self::Choice>) -> Option<&'static str> {
        match matches {
            Match::Kind(kind) => Self::element(kind).map(|(_, name)| name),
            Match::Choice(_) => None,
        }
    }

    /// The namespace that the elements of another are written in: formats whose versions differ in their namespace
    /// alone answer that of the document's version.
    fn written_as(_: &Self::Writing<'_>, ns: Ns) -> Ns {
        ns
    }

    /// Whether an element of this name carries the numbers of a diagram.
    fn is_measured(local: &str) -> bool {
        matches!(local, "Bounds" | "waypoint")
    }

    /// Takes an attribute of the root in the product's own namespace; answers whether it did.
    fn own_attribute(_: &mut Reader<'_, Self>, _: &Attribute<'_>) -> bool {
        false
    }

    /// Whether the format writes an attribute without a member by itself, so that it need not be preserved.
    fn derives(_: &mut Reader<'_, Self>, _: &Attribute<'_>) -> bool {
        false
    }

    /// Reports what the reader found.
    fn found(reader: &mut Reader<'_, Self>, finding: Finding);

    /// Reports a preserved attribute of a namespace that the format does not know, on the element that is being read.
    fn preserves_attribute(_: &mut Reader<'_, Self>, _: &str) {}

    /// Reports a preserved child of the element that is being read.
    fn preserves_child(_: &mut Reader<'_, Self>, _: El) {}
}

/// The URI of a namespace that the format knows.
fn uri<V: Vocabulary>(ns: Ns) -> &'static str {
    known(ns).and_then(|index| V::NAMESPACES.get(index)).copied().unwrap_or_default()
}

/// The prefix used where a document binds none.
fn usual_prefix<V: Vocabulary>(ns: Ns) -> &'static str {
    known(ns).and_then(|index| V::PREFIXES.get(index)).copied().unwrap_or_default()
}

/// The index of a namespace among those that the format knows.
fn known(ns: Ns) -> Option<usize> {
    ns.index().checked_sub(Ns::known(0).index())
}
