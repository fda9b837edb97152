//! The check of the revision that a caller saw.

use heddle_kernel::Revision;

use crate::{Problem, UseCaseError};

/// Compares the revision that a caller saw, if they name one, with the present one.
///
/// # Errors
/// `Conflict` (`revisionMismatch` at `revision`, with `currentRevision`) when they differ.
pub fn check_revision(seen: Option<Revision>, present: Revision) -> Result<(), UseCaseError> {
    match seen {
        Some(seen) if seen != present => Err(UseCaseError::Conflict(vec![
            Problem::at("revision", "revisionMismatch", format!("The present revision is {present}."))
                .with("currentRevision", present.0),
        ])),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_revision_is_a_conflict() {
        assert!(
            check_revision(None, Revision(3)).is_ok()
                && check_revision(Some(Revision(3)), Revision(3)).is_ok()
        );
        let Err(UseCaseError::Conflict(problems)) = check_revision(Some(Revision(2)), Revision(3)) else {
            panic!("no conflict");
        };
        assert_eq!(
            (problems[0].field.as_deref(), problems[0].reason),
            (Some("revision"), "revisionMismatch")
        );
        assert_eq!(problems[0].extra["currentRevision"], 3);
    }
}
