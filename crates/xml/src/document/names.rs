//! Namespaces and element kinds: what a format knows of the names in a document.

/// A namespace of a document, small enough to copy; two elements have the same namespace when theirs are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ns(pub(super) u16);

impl Ns {
    /// No namespace.
    pub const NONE: Self = Self(0);
    /// The namespace of the prefix `xml`.
    pub const XML: Self = Self(1);

    /// The namespace at an index of [`Names::NAMESPACES`].
    #[must_use]
    pub const fn known(index: u16) -> Self {
        Self(2 + index)
    }

    /// Index of the namespace in [`crate::Document::namespaces`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of an element in its format's table of elements, or [`UNKNOWN`].
pub type Kind = u16;
/// Kind of an element that its format does not know.
pub const UNKNOWN: Kind = u16::MAX;
/// Kind of a comment or a processing instruction.
pub const COMMENT: Kind = u16::MAX - 1;

/// The names that one format knows. A document resolves them while it is parsed.
pub trait Names: 'static {
    /// The namespaces that it knows, each at the index of its [`Ns::known`].
    const NAMESPACES: &'static [&'static str];

    /// The kind of an element.
    fn kind(namespace: Ns, local: &str) -> Kind;

    /// Whether a namespace is one of those that it knows.
    #[must_use]
    fn knows(namespace: Ns) -> bool {
        (2..2 + Self::NAMESPACES.len()).contains(&namespace.index())
    }
}

/// No names at all: every element is [`UNKNOWN`], every namespace as good as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnyNames;

impl Names for AnyNames {
    const NAMESPACES: &'static [&'static str] = &[];

    fn kind(_: Ns, _: &str) -> Kind {
        UNKNOWN
    }
}
