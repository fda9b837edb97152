//! Places within a JSON document: `definition.nodes[3].bpmn`.

use std::fmt;

/// A place; each part points to the one around it, so that walking a document allocates nothing.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a>(Option<(&'a Place<'a>, Part<'a>)>);

#[derive(Clone, Copy)]
enum Part<'a> {
    Member(&'a str),
    Item(usize),
}

impl<'a> Place<'a> {
    /// The document itself.
    pub(crate) const ROOT: Self = Self(None);

    /// A member of the object here.
    pub(crate) const fn member(&'a self, name: &'a str) -> Self {
        Self(Some((self, Part::Member(name))))
    }

    /// An item of the array here, counted from 0.
    pub(crate) const fn item(&'a self, index: usize) -> Self {
        Self(Some((self, Part::Item(index))))
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((around, part)) = &self.0 else { return Ok(()) };
        around.fmt(f)?;
        match part {
            Part::Item(index) => write!(f, "[{index}]"),
            Part::Member(name) => write_member(f, around.0.is_none(), name),
        }
    }
}

/// At most 80 characters of a name that a caller sent.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(80).collect()
}

/// Writes a member's step: `.name`, or `["odd name"]` where a plain one could be misread.
pub(crate) fn write_member(out: &mut impl fmt::Write, first: bool, name: &str) -> fmt::Result {
    let plain =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$-".contains(&byte));
    match (plain, first) {
        (true, true) => write!(out, "{}", shown(name)),
        (true, false) => write!(out, ".{}", shown(name)),
        (false, _) => write!(out, "[{:?}]", shown(name)),
    }
}
