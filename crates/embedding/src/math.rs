//! Arithmetic between the products: activations, norms and weights of attention. Each function runs over whole slices
//! within one dispatch, so that the compiler uses the vector instructions of the processor at hand.

use pulp::Arch;

/// Lanes of a sum: more sums than one let the processor add without waiting, and the order is the same everywhere.
const LANES: usize = 16;

/// Adds a bias to each row.
pub(crate) fn add_bias(arch: Arch, rows: &mut [f32], bias: &[f32]) {
    arch.dispatch(|| {
        for row in rows.chunks_exact_mut(bias.len().max(1)) {
            for (value, bias) in row.iter_mut().zip(bias) {
                *value += bias;
            }
        }
    });
}

/// Adds a bias to each row and takes `x · Φ(x)` of it (GELU, exact: D. Hendrycks and K. Gimpel, arXiv 1606.08415).
pub(crate) fn add_bias_gelu(arch: Arch, rows: &mut [f32], bias: &[f32]) {
    arch.dispatch(|| {
        for row in rows.chunks_exact_mut(bias.len().max(1)) {
            for (value, bias) in row.iter_mut().zip(bias) {
                let x = *value + bias;
                *value = 0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2));
            }
        }
    });
}

/// Adds bias and residual to each row and brings it to mean 0 and variance 1, times `scale` plus `shift`.
pub(crate) fn add_and_normalise(arch: Arch, rows: &mut [f32], bias: &[f32], residual: &[f32], norm: &Norm) {
    arch.dispatch(|| {
        let width = norm.scale.len().max(1);
        for (row, residual) in rows.chunks_exact_mut(width).zip(residual.chunks_exact(width)) {
            for ((value, bias), residual) in row.iter_mut().zip(bias).zip(residual) {
                *value += bias + residual;
            }
            normalise(row, norm);
        }
    });
}

/// Brings each row to mean 0 and variance 1, times `scale` plus `shift`.
pub(crate) fn normalise_rows(arch: Arch, rows: &mut [f32], norm: &Norm) {
    arch.dispatch(|| {
        for row in rows.chunks_exact_mut(norm.scale.len().max(1)) {
            normalise(row, norm);
        }
    });
}

/// Parameters of a layer norm (J. L. Ba and others, arXiv 1607.06450).
#[derive(Debug)]
pub(crate) struct Norm {
    /// Factor of each column.
    pub scale: Vec<f32>,
    /// Summand of each column.
    pub shift: Vec<f32>,
    /// Summand of the variance.
    pub epsilon: f32,
}

#[inline(always)]
fn normalise(row: &mut [f32], norm: &Norm) {
    let count = row.len() as f32;
    let mean = sum(row, |value| value) / count;
    let variance = sum(row, |value| (value - mean) * (value - mean)) / count;
    let factor = 1.0 / (variance + norm.epsilon).sqrt();
    for ((value, scale), shift) in row.iter_mut().zip(&norm.scale).zip(&norm.shift) {
        *value = (*value - mean) * factor * scale + shift;
    }
}

/// Turns rows of scores into weights whose sum is 1: `exp(factor · (score − greatest))`, divided by their sum.
pub(crate) fn softmax_rows(arch: Arch, rows: &mut [f32], width: usize, factor: f32) {
    arch.dispatch(|| {
        for row in rows.chunks_exact_mut(width.max(1)) {
            let greatest = greatest(row);
            for value in row.iter_mut() {
                *value = exp((*value - greatest) * factor);
            }
            let all = 1.0 / sum(row, |value| value);
            for value in row.iter_mut() {
                *value *= all;
            }
        }
    });
}

/// The mean of rows, of length 1; of no rows, and of rows whose mean is 0, zeros.
pub(crate) fn pooled(arch: Arch, rows: &[f32], width: usize) -> Vec<f32> {
    let mut mean = vec![0.0_f32; width];
    arch.dispatch(|| {
        for row in rows.chunks_exact(width.max(1)) {
            for (sum, value) in mean.iter_mut().zip(row) {
                *sum += value;
            }
        }
        let count = (rows.len() / width.max(1)).max(1) as f32;
        for value in &mut mean {
            *value /= count;
        }
        let length = sum(&mean, |value| value * value).sqrt().max(1e-12);
        for value in &mut mean {
            *value /= length;
        }
    });
    mean
}

#[inline(always)]
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += of(*value);
        }
    }
    let mut total = 0.0;
    for value in sums {
        total += value;
    }
    for value in rest {
        total += of(*value);
    }
    total
}

#[inline(always)]
fn greatest(row: &[f32]) -> f32 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut greatest = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for (most, value) in greatest.iter_mut().zip(chunk) {
            *most = if *value > *most { *value } else { *most };
        }
    }
    greatest.iter().chain(rest).fold(f32::NEG_INFINITY, |most, value| most.max(*value))
}

/// `e` to the power of `x ≤ 0`, with a relative error below 2e-7 and 0 below −87 (S. Moshier's polynomial of Cephes).
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// The number that leaves an integer in the low bits of the sum: 1.5 · 2^23.
    const MAGIC: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + MAGIC;
    let whole = shifted - MAGIC;
    // ln 2 in two parts, so that the rest is exact.
    let r = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let mut poly = 1.987_569_1e-4;
    poly = poly * r + 1.398_2e-3;
    poly = poly * r + 8.333_452e-3;
    poly = poly * r + 4.166_579_6e-2;
    poly = poly * r + 1.666_666_6e-1;
    poly = poly * r + 0.5;
    let value = poly * r * r + r + 1.0;
    let power = shifted.to_bits().wrapping_sub(MAGIC.to_bits()).wrapping_add(127) << 23;
    value * f32::from_bits(power)
}

/// The error function with an absolute error below 5e-7: an odd rational function on −4 to 4, beyond which it is ±1 in
/// single precision (the coefficients are Eigen's, `generic_fast_erf_float`).
#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let mut above = -2.726_142_3e-10;
    above = above * square + 2.770_681_5e-8;
    above = above * square - 2.101_024e-6;
    above = above * square - 5.692_506_4e-5;
    above = above * square - 7.349_906_3e-4;
    above = above * square - 2.954_6e-3;
    above = above * square - 1.609_603_3e-2;
    let mut below = -1.456_607_2e-5;
    below = below * square - 2.133_740_6e-4;
    below = below * square - 1.682_827e-3;
    below = below * square - 7.373_329_3e-3;
    below = below * square - 1.426_473_9e-2;
    x * above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error function by its series, in double precision.
    fn series(x: f64) -> f64 {
        let (mut term, mut total) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            total += term / f64::from(2 * n + 1);
        }
        total * std::f64::consts::FRAC_2_SQRT_PI
    }

    #[test]
    fn the_error_function_and_the_power_are_exact_to_single_precision() {
        for step in -3500..=3500 {
            let x = step as f32 / 1000.0;
            assert!((f64::from(erf(x)) - series(f64::from(x))).abs() < 1e-6, "erf {x}");
        }
        assert!((erf(9.0) - 1.0).abs() < 1e-6 && (erf(-9.0) + 1.0).abs() < 1e-6);
        for step in 0..=8000 {
            let x = -(step as f32) / 100.0;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) - expected).abs() <= 5e-7 * expected, "exp {x}");
        }
    }

    #[test]
    fn weights_of_attention_sum_to_one_for_scores_of_any_size() {
        let mut rows = vec![1000.0, -1000.0, 1000.0, 3.0, 3.0, 3.0];
        softmax_rows(Arch::new(), &mut rows, 3, 1.0);
        for row in rows.chunks(3) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{row:?}");
        }
        assert!((rows[0] - 0.5).abs() < 1e-6 && rows[1] < 1e-30);
    }

    #[test]
    fn a_mean_of_nothing_is_no_nan() {
        assert_eq!(pooled(Arch::new(), &[], 4), [0.0; 4]);
        assert_eq!(pooled(Arch::new(), &[0.0; 8], 4), [0.0; 4]);
        assert_eq!(pooled(Arch::new(), &[3.0, 0.0, 5.0, 0.0], 2), [1.0, 0.0]);
    }
}
