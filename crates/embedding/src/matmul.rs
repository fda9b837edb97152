//! Product of matrices, for one thread. The workspace has no unsafe code, so the kernel is written on `pulp`, whose
//! vectors are safe: panels of [`WIDTH`] columns and [`HEIGHT`] rows, of which a tile stays in registers.
//!
//! The blocks are those of K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (ACM TOMS
//! 34:3, 2008): a panel of the right side stays in the first cache while the left side goes by.

#![expect(
    clippy::indexing_slicing,
    reason = "the shapes are checked where the operands are packed; a check in a loop that runs billions of times costs"
)]

use pulp::{Arch, Simd, WithSimd};

/// Columns of a panel of the right side.
pub(crate) const WIDTH: usize = 16;
/// Rows of a panel of the left side.
const HEIGHT: usize = 6;
/// Depth up to which a panel is multiplied at once: 384 × 16 floats fill three quarters of a first cache of 32 KiB.
const DEPTH: usize = 384;

/// A row of zeros, for panels that are not full.
static NOTHING: [f32; DEPTH] = [0.0; DEPTH];

/// A place of a matrix within a slice: element (row, column) stands at `start + row * row_step + column * column_step`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// Place of the first element.
    pub start: usize,
    /// Distance of rows.
    pub row_step: usize,
    /// Distance of columns.
    pub column_step: usize,
}

/// The right side of a product, `depth` × `columns`, in panels.
#[derive(Debug, Default)]
pub(crate) struct Panels {
    depth: usize,
    columns: usize,
    data: Vec<f32>,
}

impl Panels {
    /// Packs a matrix; what was there goes, its memory stays.
    pub(crate) fn pack(&mut self, source: &[f32], view: View, depth: usize, columns: usize) {
        let (depth_before, columns_before) = (self.depth, self.columns);
        (self.depth, self.columns) = (depth, columns);
        let panels = columns.div_ceil(WIDTH);
        if (depth_before, columns_before) != (depth, columns) {
            self.data.clear();
            self.data.resize(panels * WIDTH * depth, 0.0);
        }
        let mut places = self.data.chunks_exact_mut(WIDTH);
        for from in (0..depth).step_by(DEPTH) {
            for panel in 0..panels {
                let first = panel * WIDTH;
                let width = WIDTH.min(columns - first);
                for row in from..depth.min(from + DEPTH) {
                    let Some(place) = places.next() else { return };
                    let at = view.start + row * view.row_step + first * view.column_step;
                    for (column, value) in place.iter_mut().take(width).enumerate() {
                        *value = source[at + column * view.column_step];
                    }
                }
            }
        }
    }

    /// Packs weights that stand as `columns` rows of `depth`, as linear layers store them.
    pub(crate) fn of_weights(weights: &[f32], depth: usize) -> Self {
        let mut panels = Self::default();
        let columns = weights.len() / depth.max(1);
        panels.pack(weights, View { start: 0, row_step: 1, column_step: depth }, depth, columns);
        panels
    }

    /// Number of columns.
    pub(crate) const fn columns(&self) -> usize {
        self.columns
    }
}

/// The left side of a product in panels: memory that is used again.
#[derive(Debug, Default)]
pub(crate) struct Left {
    data: Vec<f32>,
}

impl Left {
    /// Packs `rows` × `depth`; columns stand beside each other.
    fn pack(&mut self, source: &[f32], start: usize, row_step: usize, rows: usize, depth: usize) {
        let panels = rows.div_ceil(HEIGHT);
        // Each place is written, so that what was there needs no clearing.
        self.data.resize(panels * HEIGHT * depth, 0.0);
        let mut rest = self.data.as_mut_slice();
        for from in (0..depth).step_by(DEPTH) {
            let deep = DEPTH.min(depth - from);
            for panel in 0..panels {
                let (place, after) = rest.split_at_mut(deep * HEIGHT);
                rest = after;
                let of = |within: usize| {
                    let row = panel * HEIGHT + within;
                    let at = start + row * row_step + from;
                    if row < rows { &source[at..at + deep] } else { &NOTHING[..deep] }
                };
                let values: [&[f32]; HEIGHT] = std::array::from_fn(of);
                for (column, slots) in place.as_chunks_mut::<HEIGHT>().0.iter_mut().enumerate() {
                    for (slot, row) in slots.iter_mut().zip(&values) {
                        *slot = row[column];
                    }
                }
            }
        }
    }
}

/// The left operand of a product: rows of a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    /// The slice.
    pub source: &'a [f32],
    /// Place of the first element.
    pub start: usize,
    /// Distance of rows.
    pub step: usize,
    /// Number of rows.
    pub count: usize,
}

/// A place for a product: element (row, column) stands at `start + row * step + column`.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    /// The slice.
    pub target: &'a mut [f32],
    /// Place of the first element.
    pub start: usize,
    /// Distance of rows.
    pub step: usize,
}

/// Writes the product of rows and panels.
pub(crate) fn multiply(arch: Arch, left: &mut Left, rows: Rows<'_>, right: &Panels, into: Target<'_>) {
    left.pack(rows.source, rows.start, rows.step, rows.count, right.depth);
    arch.dispatch(Product { rows: rows.count, left: &left.data, right, into });
}

struct Product<'a> {
    rows: usize,
    left: &'a [f32],
    right: &'a Panels,
    into: Target<'a>,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, left, right, into } = self;
        let (high, wide) = (rows.div_ceil(HEIGHT), right.columns.div_ceil(WIDTH));
        let (mut left, mut panels) = (left, right.data.as_slice());
        for from in (0..right.depth).step_by(DEPTH) {
            let deep = DEPTH.min(right.depth - from);
            let (left_block, left_rest) = left.split_at(high * HEIGHT * deep);
            let (right_block, right_rest) = panels.split_at(wide * WIDTH * deep);
            (left, panels) = (left_rest, right_rest);
            for (across, right_panel) in right_block.chunks_exact(deep * WIDTH).enumerate() {
                let column = across * WIDTH;
                let width = WIDTH.min(right.columns - column);
                for (down, left_panel) in left_block.chunks_exact(deep * HEIGHT).enumerate() {
                    let tile = tile_of(simd, left_panel, right_panel);
                    let row = down * HEIGHT;
                    for (within, values) in tile.iter().enumerate().take(HEIGHT.min(rows - row)) {
                        let at = into.start + (row + within) * into.step + column;
                        put(&mut into.target[at..at + width], values, from == 0);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn put(place: &mut [f32], values: &[f32; WIDTH], is_first: bool) {
    if is_first {
        place.copy_from_slice(&values[..place.len()]);
    } else {
        for (sum, value) in place.iter_mut().zip(values) {
            *sum += value;
        }
    }
}

/// A tile by the number of vectors that [`WIDTH`] takes on this processor.
#[inline(always)]
fn tile_of<S: Simd>(simd: S, left: &[f32], right: &[f32]) -> [[f32; WIDTH]; HEIGHT] {
    match S::F32_LANES {
        16 => tile::<S, 1>(simd, left, right),
        8 => tile::<S, 2>(simd, left, right),
        4 => tile::<S, 4>(simd, left, right),
        _ => scalar_tile(left, right),
    }
}

#[inline(always)]
fn tile<S: Simd, const VECTORS: usize>(simd: S, left: &[f32], right: &[f32]) -> [[f32; WIDTH]; HEIGHT] {
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; HEIGHT];
    for (column, row) in left.as_chunks::<HEIGHT>().0.iter().zip(right.as_chunks::<WIDTH>().0) {
        let (vectors, _) = S::as_simd_f32s(row);
        for (sums, value) in sums.iter_mut().zip(column) {
            let value = simd.splat_f32s(*value);
            for (sum, vector) in sums.iter_mut().zip(vectors) {
                *sum = simd.mul_add_e_f32s(value, *vector, *sum);
            }
        }
    }
    let mut tile = [[0.0; WIDTH]; HEIGHT];
    for (row, sums) in tile.iter_mut().zip(&sums) {
        let (vectors, _) = S::as_mut_simd_f32s(row);
        for (place, sum) in vectors.iter_mut().zip(sums) {
            *place = *sum;
        }
    }
    tile
}

#[inline(always)]
fn scalar_tile(left: &[f32], right: &[f32]) -> [[f32; WIDTH]; HEIGHT] {
    let mut tile = [[0.0; WIDTH]; HEIGHT];
    for (column, row) in left.as_chunks::<HEIGHT>().0.iter().zip(right.as_chunks::<WIDTH>().0) {
        for (sums, value) in tile.iter_mut().zip(column) {
            for (sum, other) in sums.iter_mut().zip(row) {
                *sum += value * other;
            }
        }
    }
    tile
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Seeded;

    fn plain(left: &[f32], right: &[f32], rows: usize, depth: usize, columns: usize) -> Vec<f32> {
        let mut out = vec![0.0; rows * columns];
        for row in 0..rows {
            for column in 0..columns {
                let terms = (0..depth)
                    .map(|at| f64::from(left[row * depth + at]) * f64::from(right[column * depth + at]));
                out[row * columns + column] = terms.sum::<f64>() as f32;
            }
        }
        out
    }

    #[test]
    fn a_product_is_the_plain_one_for_every_shape() {
        let mut random = Seeded::new(7);
        for (rows, depth, columns) in
            [(1, 1, 1), (6, 16, 16), (7, 384, 17), (13, 385, 33), (5, 800, 3), (30, 32, 128)]
        {
            let left: Vec<f32> = (0..rows * depth).map(|_| random.float()).collect();
            let right: Vec<f32> = (0..columns * depth).map(|_| random.float()).collect();
            let panels = Panels::of_weights(&right, depth);
            let expected = plain(&left, &right, rows, depth, columns);
            for arch in [Arch::new(), Arch::Scalar] {
                let mut out = vec![9.0; rows * columns];
                let operand = Rows { source: &left, start: 0, step: depth, count: rows };
                let into = Target { target: &mut out, start: 0, step: columns };
                multiply(arch, &mut Left::default(), operand, &panels, into);
                for (found, expected) in out.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-3, "{rows} {depth} {columns}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn panels_that_are_packed_again_keep_nothing_of_before() {
        let mut panels = Panels::default();
        panels.pack(&[1.0; 64], View { start: 0, row_step: 1, column_step: 2 }, 2, 20);
        panels.pack(&[2.0; 64], View { start: 0, row_step: 1, column_step: 2 }, 2, 3);
        let mut out = vec![0.0; 3];
        let operand = Rows { source: &[1.0, 1.0], start: 0, step: 2, count: 1 };
        multiply(
            Arch::new(),
            &mut Left::default(),
            operand,
            &panels,
            Target { target: &mut out, start: 0, step: 3 },
        );
        assert_eq!(out, [4.0, 4.0, 4.0]);
    }
}
