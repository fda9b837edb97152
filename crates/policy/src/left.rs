//! Answers that are found out once.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::index::{PLACES, place};
use crate::permission::{Action, ResourceType};

/// Answers to whether some thing is left of those that are allowed one by one or as one's own, each found out when it is
/// first asked for: else a list would cost more with every grant.
#[derive(Debug)]
pub(crate) struct Left(Box<[AtomicU8]>);

impl Default for Left {
    fn default() -> Self {
        Self((0..PLACES).map(|_| AtomicU8::new(Self::OPEN)).collect())
    }
}

impl Left {
    const OPEN: u8 = 0;
    const NONE: u8 = 1;
    const SOME: u8 = 2;

    /// The answer for a type and an action, found out if nobody asked before.
    pub(crate) fn or_find(
        &self,
        resource: ResourceType,
        action: Action,
        find: impl FnOnce() -> bool,
    ) -> bool {
        let Some(known) = self.0.get(place(Some(resource), Some(action))) else { return find() };
        match known.load(Ordering::Relaxed) {
            Self::NONE => false,
            Self::SOME => true,
            // Two that ask at once find the same.
            _ => {
                let found = find();
                known.store(if found { Self::SOME } else { Self::NONE }, Ordering::Relaxed);
                found
            }
        }
    }
}
