//! Rows of partitions, and vectors as the database takes and gives them.

use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
use heddle_vectors::ports::{IndexError, IndexedPassage};
use heddle_vectors::records::PassageRange;

/// The extension as the catalogue has it.
#[derive(Debug, QueryableByName)]
pub(super) struct FoundExtension {
    /// Schema, quoted.
    #[diesel(sql_type = Text)]
    pub(super) schema: String,
    /// Version, such as `0.8.6`.
    #[diesel(sql_type = Text)]
    pub(super) version: String,
}

/// State of a partition.
#[derive(Debug, QueryableByName)]
pub(super) struct State {
    /// Id and revision of the model.
    #[diesel(sql_type = Text)]
    pub(super) model: String,
    /// Dimensions of its vectors.
    #[diesel(sql_type = Integer)]
    pub(super) dimensions: i32,
    /// Number of the last commit that it has; none while it is built anew.
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(super) sequence: Option<i64>,
    /// Passages in it.
    #[diesel(sql_type = BigInt)]
    pub(super) passages: i64,
    /// Times that it was begun anew.
    #[diesel(sql_type = BigInt)]
    pub(super) epoch: i64,
    /// Whether nobody has written to it for a minute.
    #[diesel(sql_type = Bool)]
    pub(super) idle: bool,
    /// Whether its graph is there and whole.
    #[diesel(sql_type = Bool)]
    pub(super) graph: bool,
}

impl State {
    /// Whether another node is building it anew; `own` is the epoch that this one began.
    pub(super) fn is_anothers(&self, own: Option<i64>) -> bool {
        self.sequence.is_none() && !self.idle && own != Some(self.epoch)
    }
}

/// Answer of one truth.
#[derive(Debug, QueryableByName)]
pub(super) struct Yes {
    /// The truth.
    #[diesel(sql_type = Bool)]
    pub(super) yes: bool,
}

/// Candidate of a search, beside the number of the commit that the partition had then; without an id there is none.
#[derive(Debug, QueryableByName)]
pub(super) struct Candidate {
    /// Number of the commit; none while it is built anew.
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(super) sequence: Option<i64>,
    /// Id of the passage.
    #[diesel(sql_type = Nullable<BigInt>)]
    pub(super) passage_id: Option<i64>,
    /// The vector in full: 32-bit floats, the low byte first.
    #[diesel(sql_type = Nullable<Binary>)]
    pub(super) exact: Option<Vec<u8>>,
}

/// Columns of passages to add.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Ids.
    pub(super) ids: Vec<i64>,
    /// Vectors as the extension reads them.
    pub(super) embeddings: Vec<String>,
    /// The same in full.
    pub(super) exact: Vec<Vec<u8>>,
}

impl Rows {
    /// Columns of passages, each with a vector of so many dimensions.
    pub(super) fn of(add: &[IndexedPassage], dimensions: u32) -> Result<Self, IndexError> {
        let mut rows = Self::default();
        for one in add {
            let vector = one.vector.as_deref().unwrap_or_default();
            check(vector, dimensions)?;
            rows.ids.push(number(one.id.0)?);
            rows.embeddings.push(text_of(vector));
            rows.exact.push(bytes_of(vector));
        }
        Ok(rows)
    }
}

/// Refuses a vector of other dimensions, or with what is no number.
pub(super) fn check(vector: &[f32], dimensions: u32) -> Result<(), IndexError> {
    if vector.len() != dimensions as usize {
        return Err(IndexError::Unfit(format!(
            "a vector of {} dimensions, where there are {dimensions}",
            vector.len()
        )));
    }
    if !vector.iter().all(|value| value.is_finite()) {
        return Err(IndexError::Unfit("a vector with what is no number".to_owned()));
    }
    Ok(())
}

fn number(id: u64) -> Result<i64, IndexError> {
    i64::try_from(id).map_err(|_beyond| IndexError::Unfit(format!("{id} is no id of a passage")))
}

/// A vector as the extension reads it: `[0.5,-0.25]`.
pub(super) fn text_of(vector: &[f32]) -> String {
    let mut text = String::with_capacity(vector.len() * 12 + 2);
    let mut before = '[';
    for value in vector {
        text.push(before);
        text.push_str(&value.to_string());
        before = ',';
    }
    text.push(']');
    text
}

/// A vector in full.
pub(super) fn bytes_of(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Cosine of a vector and of one in full, both of length 1.
pub(super) fn cosine(vector: &[f32], exact: &[u8]) -> f32 {
    let others = exact.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    let sum: f64 = vector.iter().zip(others).map(|(one, other)| f64::from(*one) * f64::from(other)).sum();
    sum as f32
}

/// Ranges as PostgreSQL's `int8multirange` reads them: `{[1,5),[7,9)}`.
pub(super) fn multirange(ranges: &[PassageRange]) -> Result<String, IndexError> {
    let mut text = String::from("{");
    for range in ranges.iter().filter(|range| !range.is_empty()) {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&format!("[{},{})", number(range.first)?, number(range.end)?));
    }
    text.push('}');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use heddle_vectors::records::PassageId;

    use super::*;

    #[test]
    fn vectors_are_written_so_that_they_are_read_alike() {
        assert_eq!(text_of(&[0.5, -0.25, 1e-7]), "[0.5,-0.25,0.0000001]");
        let vector = [0.6, -0.8];
        assert!((cosine(&vector, &bytes_of(&vector)) - 1.0).abs() < 1e-6);
        assert!((cosine(&vector, &bytes_of(&[0.8, 0.6]))).abs() < 1e-6);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let passage = |vector| IndexedPassage { id: PassageId(1), text: String::new(), vector };
        for (vector, fits) in [
            (Some(vec![0.6, 0.8]), true),
            (Some(vec![1.0]), false),
            (Some(vec![f32::NAN, 0.8]), false),
            (Some(vec![f32::INFINITY, 0.8]), false),
            (None, false),
        ] {
            assert_eq!(Rows::of(&[passage(vector)], 2).is_ok(), fits);
        }
        let beyond = IndexedPassage { id: PassageId(u64::MAX), text: String::new(), vector: Some(vec![1.0]) };
        assert!(Rows::of(&[beyond], 1).is_err());
    }

    #[test]
    fn ranges_are_written_without_the_empty_ones() {
        let ranges = [PassageRange::of(1, 4), PassageRange::of(6, 0), PassageRange::of(7, 2)];
        assert_eq!(multirange(&ranges).unwrap(), "{[1,5),[7,9)}");
        assert_eq!(multirange(&[]).unwrap(), "{}");
        assert!(multirange(&[PassageRange { first: 0, end: u64::MAX }]).is_err());
    }
}
