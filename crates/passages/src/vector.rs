//! Arithmetic of vectors: directions, products, and the form in which they lie on disk.

use crate::Error;

/// The greatest magnitude that a coordinate may have before it is scaled: beyond it, squares overflow.
const GREATEST: f32 = 1e16;

/// The direction of a vector: the same, scaled to length 1.
///
/// # Errors
/// [`Error::BadVector`] for another length than `dims`, for what is no number, and for a vector without a direction.
pub fn unit(vector: &[f32], dims: usize, subject: impl Fn() -> String) -> Result<Vec<f32>, Error> {
    let bad = |why| Err(Error::BadVector { subject: subject(), why });
    if vector.len() != dims {
        return bad("it has another number of dimensions than the index");
    }
    if !vector.iter().all(|value| value.abs() < GREATEST) {
        return bad("not all of it are numbers within bounds");
    }
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if length < f64::from(f32::MIN_POSITIVE) {
        return bad("it has no direction");
    }
    Ok(vector.iter().map(|value| (f64::from(*value) / length) as f32).collect())
}

/// The inner product of two vectors of one length; of unit vectors the cosine. Eight sums, so that it is done by lanes.
#[must_use]
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks::<8>(), right.as_chunks::<8>());
    let mut sums = [0.0_f32; 8];
    for (left, right) in left.iter().zip(right) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f32>() + rest
}

/// Appends coordinates as they lie on disk: four bytes each, least significant first.
pub(crate) fn encode(vector: &[f32], bytes: &mut Vec<u8>) {
    vector.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
}

/// Coordinates from what lies on disk.
pub(crate) fn decode(bytes: &[u8], vector: &mut Vec<f32>) {
    vector.clear();
    vector.extend(bytes.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)));
}
