//! People as things name them, and whether a thing is somebody's own.

use heddle_kernel::UserId;

/// The selector that stands for what is the caller's own.
pub const OWN: &str = "own";

/// Person as things name them: who started a run, and whom its tasks are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The user.
    pub id: UserId,
    /// Names of the user: their id and e-mail address, in small letters.
    pub names: Vec<String>,
    /// Names and ids of the groups and roles that they have.
    pub groups: Vec<String>,
}

impl Person {
    /// A user by their id, e-mail address and groups.
    #[must_use]
    pub fn new(id: UserId, email: &str, groups: &[String]) -> Self {
        let mut names = vec![id.to_string()];
        if !email.is_empty() {
            names.push(email.to_ascii_lowercase());
        }
        let mut groups = groups.to_vec();
        groups.sort_unstable();
        groups.dedup();
        Self { id, names, groups }
    }
}

/// Relation of a thing to the caller. Where it is not known, nothing is given by it, and what it may take is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ownership {
    /// Nobody looked.
    #[default]
    Unknown,
    /// The caller's own.
    Own,
    /// Not the caller's.
    Other,
}

impl Ownership {
    /// Relation of a thing of which it was looked up.
    #[must_use]
    pub const fn of(is_own: bool) -> Self {
        if is_own { Self::Own } else { Self::Other }
    }

    /// Whether an allow of one's own counts.
    pub(crate) const fn gives(self) -> bool {
        matches!(self, Self::Own)
    }

    /// Whether a deny of one's own counts.
    pub(crate) const fn takes(self) -> bool {
        matches!(self, Self::Own | Self::Unknown)
    }
}
