//! The judge of an attack: complaints of what must be so and is not.

use std::fmt::Display;

/// Collected complaints of one attack.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    /// One sentence for each thing that is not as it must be.
    pub broken: Vec<String>,
    /// Number of things that were looked at.
    pub looked: usize,
}

impl Judge {
    /// A status must be one of these.
    pub(crate) fn status(&mut self, what: impl Display, found: u16, wanted: &[u16]) {
        self.must(wanted.contains(&found), format_args!("{what}: {found}, must be one of {wanted:?}"));
    }

    /// Takes what was found elsewhere.
    pub(crate) fn take(&mut self, broken: Vec<String>, looked: usize) {
        self.looked += looked;
        self.broken.extend(broken);
    }

    /// Something must be so; otherwise the sentence tells what is.
    pub(crate) fn must(&mut self, holds: bool, otherwise: impl Display) {
        self.looked += 1;
        if !holds {
            self.broken.push(otherwise.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_as_it_must_be_is_told() {
        let mut judge = Judge::default();
        judge.status("a read", 403, &[403, 404]);
        judge.status("a write", 200, &[403, 404]);
        judge.must(true, "never");
        assert_eq!((judge.looked, judge.broken.len()), (3, 1));
        assert_eq!(judge.broken, ["a write: 200, must be one of [403, 404]"]);
    }
}
