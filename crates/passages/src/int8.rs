//! Scan: an exhaustive search over vectors of one byte per dimension, with exact scores for the best.
//!
//! A few lines without an index, a file or an unsafe kernel: what the index is held against in tests and measurements.

use crate::vector::{dot, unit};
use crate::{AllowList, Error};

/// An exhaustive scan in memory: of each vector its code and its exact form.
#[derive(Debug)]
pub struct Scan {
    dims: usize,
    ids: Vec<u64>,
    codes: Vec<i8>,
    scales: Vec<f32>,
    vectors: Vec<f32>,
}

impl Scan {
    /// An empty scan over vectors of `dims` dimensions, at least one.
    #[must_use]
    pub fn new(dims: usize) -> Self {
        Self { dims: dims.max(1), ids: vec![], codes: vec![], scales: vec![], vectors: vec![] }
    }

    /// Adds a vector, or replaces the one of the same id.
    ///
    /// # Errors
    /// [`Error::BadVector`].
    pub fn put(&mut self, id: u64, vector: &[f32]) -> Result<(), Error> {
        unit(vector, self.dims, || format!("passage {id}"))?;
        self.remove(id);
        self.append(id, vector)
    }

    /// Adds a vector of an id that isn't there yet.
    ///
    /// # Errors
    /// [`Error::BadVector`].
    pub fn append(&mut self, id: u64, vector: &[f32]) -> Result<(), Error> {
        let vector = unit(vector, self.dims, || format!("passage {id}"))?;
        let (codes, scale) = quantize(&vector);
        self.ids.push(id);
        self.codes.extend(codes);
        self.scales.push(scale);
        self.vectors.extend(vector);
        Ok(())
    }

    /// Removes a vector; tells whether it was there. Linear in the number of vectors.
    pub fn remove(&mut self, id: u64) -> bool {
        let Some(at) = self.ids.iter().position(|other| *other == id) else { return false };
        let range = at * self.dims..(at + 1) * self.dims;
        self.ids.remove(at);
        self.scales.remove(at);
        self.codes.drain(range.clone());
        self.vectors.drain(range);
        true
    }

    /// The `limit` nearest by cosine, best first: found by their codes, `candidates` of them scored exactly.
    ///
    /// # Errors
    /// [`Error::BadVector`].
    pub fn search(
        &self,
        query: &[f32],
        limit: usize,
        candidates: usize,
        allow: Option<&AllowList>,
    ) -> Result<Vec<(u64, f32)>, Error> {
        let query = unit(query, self.dims, || "the query".to_owned())?;
        let (codes, _) = quantize(&query);
        let mut rough: Vec<(f32, usize)> =
            (self.ids.iter().zip(self.codes.chunks(self.dims)).zip(&self.scales))
                .enumerate()
                .filter(|(_, ((id, _), _))| allow.is_none_or(|allow| allow.contains(**id)))
                .map(|(at, ((_, other), scale))| (product(&codes, other) * scale, at))
                .collect();
        rough.sort_unstable_by(|one, other| other.0.total_cmp(&one.0));
        rough.truncate(candidates.max(limit));
        let vectors: Vec<&[f32]> = self.vectors.chunks(self.dims).collect();
        let mut exact: Vec<(u64, f32)> = rough
            .into_iter()
            .filter_map(|(_, at)| Some((*self.ids.get(at)?, dot(&query, vectors.get(at)?))))
            .collect();
        exact.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        exact.truncate(limit);
        Ok(exact)
    }
}

/// One byte per dimension, and what a unit of it is worth.
fn quantize(vector: &[f32]) -> (Vec<i8>, f32) {
    let greatest = vector.iter().fold(f32::MIN_POSITIVE, |greatest, value| greatest.max(value.abs()));
    let codes = vector.iter().map(|value| (value / greatest * 127.0).round() as i8).collect();
    (codes, greatest / 127.0)
}

fn product(left: &[i8], right: &[i8]) -> f32 {
    left.iter().zip(right).map(|(left, right)| i32::from(*left) * i32::from(*right)).sum::<i32>() as f32
}
