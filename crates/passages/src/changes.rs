//! Changes: passages that leave an index and that come into it.

use std::collections::HashSet;

use crate::key::Settings;
use crate::vector::unit;
use crate::{AllowList, Error};

/// A passage as it is indexed.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// Unique within the database, and below the greatest number of all.
    pub id: u64,
    /// Text that is found by words.
    pub text: String,
    /// Vector that is found by likeness: as many numbers as the settings say, of any length; none in an index of words.
    pub vector: Option<Vec<f32>>,
}

/// Changes in the form in which they are applied: first what leaves, then what comes.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) removed: AllowList,
    /// Each id once.
    pub(crate) puts: Vec<u64>,
    pub(crate) texts: Vec<String>,
    /// The unit vectors of the puts, one after the other.
    pub(crate) vectors: Vec<f32>,
}

impl Changes {
    /// Checks passages. Of one that comes twice the last counts.
    pub(crate) fn of(removed: AllowList, puts: Vec<Passage>, settings: Settings) -> Result<Self, Error> {
        let mut changes = Self { removed, ..Self::default() };
        let mut seen = HashSet::with_capacity(puts.len());
        for passage in puts.into_iter().rev().filter(|passage| seen.insert(passage.id)) {
            if let Some(vector) = checked(&passage, settings)? {
                changes.vectors.extend(vector);
            }
            changes.puts.push(passage.id);
            changes.texts.push(passage.text);
        }
        Ok(changes)
    }
}

/// The unit vector of a passage; none in an index of words.
fn checked(passage: &Passage, settings: Settings) -> Result<Option<Vec<f32>>, Error> {
    let subject = || format!("passage {}", passage.id);
    let bad = |why| Err(Error::BadVector { subject: subject(), why });
    if passage.id == u64::MAX {
        return bad("its id is the greatest number of all");
    }
    match (settings.dims, &passage.vector) {
        (None, None) => Ok(None),
        (None, Some(_)) => bad("the index is of words alone"),
        (Some(_), None) => bad("there is none"),
        (Some(dims), Some(vector)) => unit(vector, dims as usize, subject).map(Some),
    }
}
