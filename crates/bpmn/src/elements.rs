//! A written definition as a tree of typed elements, for what judges the document rather than the typed members.

use crate::element::ElementKind;
use crate::xml::XmlError;
use crate::xml::names::{ns, row};
use crate::xml::tree::{self, Tree};
use std::borrow::Cow;

/// Number of an element, in document order from 0.
pub type El = u32;

/// The elements of a document.
#[derive(Debug)]
pub struct Elements<'s>(Tree<'s>);

impl<'s> Elements<'s> {
    /// The elements of a document's text.
    ///
    /// # Errors
    ///
    /// When the text is no well-formed document.
    pub fn parse(xml: &'s str) -> Result<Self, XmlError> {
        Self::parse_within(xml, &[])
    }

    /// The elements of a fragment whose surroundings bind these prefixes.
    ///
    /// # Errors
    ///
    /// When the text is no well-formed document.
    pub fn parse_within(xml: &'s str, around: &[(&'s str, &'s str)]) -> Result<Self, XmlError> {
        Ok(Self(tree::parse(xml, around)?))
    }

    /// Number of elements.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// All elements in document order.
    pub fn all(&self) -> impl Iterator<Item = El> + use<> {
        self.0.all()
    }

    /// Whether the element is of the model's namespace.
    #[must_use]
    pub fn is_of_the_model(&self, el: El) -> bool {
        self.0.part(el).ns == ns::MODEL
    }

    /// The kind of an element; none for one that the standard does not know.
    #[must_use]
    pub fn kind(&self, el: El) -> Option<ElementKind> {
        row(self.0.part(el).kind).map(|row| row.kind)
    }

    /// Local name of an element.
    #[must_use]
    pub fn name(&self, el: El) -> &'s str {
        self.0.part(el).local()
    }

    /// The children of an element.
    pub fn children(&self, el: El) -> impl Iterator<Item = El> + '_ {
        self.0.parts_of(el)
    }

    /// Value of an attribute without a namespace.
    #[must_use]
    pub fn attribute(&self, el: El, name: &str) -> Option<Cow<'s, str>> {
        self.0.attribute(el, name)
    }

    /// Value of the attribute `xsi:type`.
    #[must_use]
    pub fn instance_type(&self, el: El) -> Option<Cow<'s, str>> {
        let mut own = self.0.attributes(el).iter();
        own.find(|own| own.ns == ns::XSI && own.local() == "type").map(|own| own.value())
    }

    /// The character data of an element.
    #[must_use]
    pub fn text(&self, el: El) -> Cow<'s, str> {
        self.0.text(el)
    }
}
