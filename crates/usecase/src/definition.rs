//! Words about definitions that those who publish them and those who run them share.

/// Choice of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum VersionChoice {
    /// The draft.
    #[default]
    Draft,
    /// The active version.
    Published,
    /// Version of this number.
    Number(i32),
}
