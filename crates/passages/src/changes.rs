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
    /// Checks passages. Of one that comes twice the last counts. They stay in their order, so that passages that count up
    /// lie in rows that do, too: [`Places`](crate::places::Places) keeps these as one.
    pub(crate) fn of(removed: AllowList, puts: Vec<Passage>, settings: Settings) -> Result<Self, Error> {
        let mut changes = Self { removed, ..Self::default() };
        let mut seen = HashSet::with_capacity(puts.len());
        let mut last: Vec<Passage> =
            puts.into_iter().rev().filter(|passage| seen.insert(passage.id)).collect();
        last.reverse();
        for passage in last {
            if let Some(vector) = checked(&passage, settings)? {
                changes.vectors.extend(vector);
            }
            changes.puts.push(passage.id);
            changes.texts.push(passage.text);
        }
        Ok(changes)
    }

    /// Whether nothing is removed or put.
    pub(crate) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.puts.is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    #[test]
    fn passages_stay_in_their_order_and_the_last_of_one_counts() {
        let passage =
            |id: u64, text: &str| Passage { id, text: text.to_owned(), vector: Some(vec![3.0, 4.0]) };
        let puts = vec![passage(1, "old"), passage(2, "two"), passage(1, "new"), passage(3, "three")];
        let settings = Settings { dims: Some(2), language: Language::Plain };
        let changes = Changes::of(AllowList::default(), puts, settings).unwrap();
        assert_eq!(changes.puts, [2, 1, 3]);
        assert_eq!(changes.texts, ["two", "new", "three"]);
        assert_eq!(changes.vectors, [0.6, 0.8].repeat(3));
    }
}
