//! Product of matrices, for one thread. The workspace has no unsafe code, so the kernel is written on `pulp`, whose
//! vectors are safe: the right side stands in panels of [`WIDTH`] columns, of which a tile of [`HEIGHT`] rows stays in
//! registers. The left side is read where it stands: packing it won nothing.
//!
//! The blocks are those of K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (ACM TOMS
//! 34:3, 2008): a panel of the right side stays in the first cache while the left side goes by.

#![expect(
    clippy::indexing_slicing,
    reason = "the shapes are checked where a tile takes its operands; a check in a loop that runs billions of times costs"
)]

use pulp::{Arch, Simd, WithSimd};

/// Columns of a panel of the right side.
pub(crate) const WIDTH: usize = 16;
/// Rows of a tile.
const HEIGHT: usize = 6;
/// Depth up to which a panel is multiplied at once: a pair of panels, for vectors of 16 lanes, has 2 × 192 × 16 floats, which
/// fill three quarters of a first cache of 32 KiB.
const DEPTH: usize = 192;

/// A row of zeros, where a tile has more rows than the left side.
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
pub(crate) fn multiply(arch: Arch, rows: Rows<'_>, right: &Panels, into: Target<'_>) {
    arch.dispatch(Product { rows, right, into });
}

struct Product<'a> {
    rows: Rows<'a>,
    right: &'a Panels,
    into: Target<'a>,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Twelve vectors of sums, or more, leave no unit of the processor waiting for the sum before: a panel that is left
        // over of a pair has six, and there is one at most.
        match S::F32_LANES {
            16 => self.blocks(
                |left, right: [&[f32]; 2]| tile::<S, 1, 2>(simd, left, right),
                |left, right| tile::<S, 1, 1>(simd, left, right),
            ),
            8 => self.blocks(
                |left, right| tile::<S, 2, 1>(simd, left, right),
                |left, right| tile::<S, 2, 1>(simd, left, right),
            ),
            4 => self.blocks(
                |left, right| tile::<S, 4, 1>(simd, left, right),
                |left, right| tile::<S, 4, 1>(simd, left, right),
            ),
            _ => self.blocks(scalar_tile, scalar_tile),
        }
    }
}

/// Sums of [`HEIGHT`] rows for the columns of some panels.
type Tile<const PANELS: usize> = [[[f32; WIDTH]; PANELS]; HEIGHT];

impl Product<'_> {
    /// Goes over the blocks of the depth and, in each, over the panels of the right side: `several` at once, and what is
    /// left of them `one` by one.
    #[inline(always)]
    fn blocks<const PANELS: usize>(
        mut self,
        several: impl Fn([&[f32]; HEIGHT], [&[f32]; PANELS]) -> Tile<PANELS>,
        one: impl Fn([&[f32]; HEIGHT], [&[f32]; 1]) -> Tile<1>,
    ) {
        let wide = self.right.columns.div_ceil(WIDTH);
        let mut panels = self.right.data.as_slice();
        for from in (0..self.right.depth).step_by(DEPTH) {
            let deep = DEPTH.min(self.right.depth - from);
            let (block, rest) = panels.split_at(wide * WIDTH * deep);
            panels = rest;
            let mut groups = block.chunks_exact(deep * WIDTH * PANELS);
            let mut column = 0;
            for group in &mut groups {
                let panel = |at| &group[at * deep * WIDTH..(at + 1) * deep * WIDTH];
                self.down(from, deep, column, std::array::from_fn(panel), &several);
                column += PANELS * WIDTH;
            }
            for panel in groups.remainder().chunks_exact(deep * WIDTH) {
                self.down(from, deep, column, [panel], &one);
                column += WIDTH;
            }
        }
    }

    /// Goes over the rows with some panels that stay in the cache.
    #[inline(always)]
    fn down<const PANELS: usize>(
        &mut self,
        from: usize,
        deep: usize,
        column: usize,
        panels: [&[f32]; PANELS],
        tile: impl Fn([&[f32]; HEIGHT], [&[f32]; PANELS]) -> Tile<PANELS>,
    ) {
        let Rows { source, start, step, count } = self.rows;
        let width = (PANELS * WIDTH).min(self.right.columns - column);
        for row in (0..count).step_by(HEIGHT) {
            let of = |within: usize| {
                let at = start + (row + within) * step + from;
                if row + within < count { &source[at..at + deep] } else { &NOTHING[..deep] }
            };
            let tile = tile(std::array::from_fn(of), panels);
            for (within, values) in tile.iter().enumerate().take(count - row) {
                let at = self.into.start + (row + within) * self.into.step + column;
                put(&mut self.into.target[at..at + width], values.as_flattened(), from == 0);
            }
        }
    }
}

#[inline(always)]
fn put(place: &mut [f32], values: &[f32], is_first: bool) {
    if is_first {
        place.copy_from_slice(&values[..place.len()]);
    } else {
        for (sum, value) in place.iter_mut().zip(values) {
            *sum += value;
        }
    }
}

/// A tile, with the number of vectors that [`WIDTH`] takes on this processor.
#[inline(always)]
fn tile<S: Simd, const VECTORS: usize, const PANELS: usize>(
    simd: S,
    left: [&[f32]; HEIGHT],
    right: [&[f32]; PANELS],
) -> Tile<PANELS> {
    let deep = left[0].len();
    // Of one length that the loop knows, so that it looks nowhere whether a place is within.
    let left = left.map(|row| &row[..deep]);
    let right = right.map(|panel| &panel.as_chunks::<WIDTH>().0[..deep]);
    let mut sums = [[[simd.splat_f32s(0.0); VECTORS]; PANELS]; HEIGHT];
    for at in 0..deep {
        let vectors = right.map(|panel| S::as_simd_f32s(&panel[at]).0);
        for (sums, row) in sums.iter_mut().zip(&left) {
            let value = simd.splat_f32s(row[at]);
            for (sums, vectors) in sums.iter_mut().zip(&vectors) {
                for (sum, vector) in sums.iter_mut().zip(*vectors) {
                    *sum = simd.mul_add_e_f32s(value, *vector, *sum);
                }
            }
        }
    }
    let mut tile = [[[0.0; WIDTH]; PANELS]; HEIGHT];
    for (row, sums) in tile.iter_mut().zip(&sums) {
        for (values, sums) in row.iter_mut().zip(sums) {
            let (vectors, _) = S::as_mut_simd_f32s(values);
            for (place, sum) in vectors.iter_mut().zip(sums) {
                *place = *sum;
            }
        }
    }
    tile
}

#[inline(always)]
fn scalar_tile(left: [&[f32]; HEIGHT], [right]: [&[f32]; 1]) -> Tile<1> {
    let mut tile = [[[0.0; WIDTH]]; HEIGHT];
    for ([sums], row) in tile.iter_mut().zip(left) {
        for (value, others) in row.iter().zip(right.as_chunks::<WIDTH>().0) {
            for (sum, other) in sums.iter_mut().zip(others) {
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

    /// The kinds of vectors that this processor has, and none.
    fn kinds() -> Vec<Arch> {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "elsewhere there is one kind"))]
        let mut kinds = vec![Arch::new(), Arch::Scalar];
        #[cfg(target_arch = "x86_64")]
        kinds.extend(pulp::x86::V3::try_new().map(Arch::V3));
        kinds
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
            for arch in kinds() {
                let mut out = vec![9.0; rows * columns];
                let operand = Rows { source: &left, start: 0, step: depth, count: rows };
                let into = Target { target: &mut out, start: 0, step: columns };
                multiply(arch, operand, &panels, into);
                for (found, expected) in out.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-3, "{rows} {depth} {columns}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn panels_in_pairs_and_operands_among_others_give_the_plain_product() {
        let mut random = Seeded::new(11);
        for (rows, depth, columns) in [(7, 5, 16), (6, 385, 31), (13, 384, 33), (5, 770, 70)] {
            let right: Vec<f32> = (0..columns * depth).map(|_| random.float()).collect();
            let panels = Panels::of_weights(&right, depth);
            let (start, step) = (3, depth + 2);
            let source: Vec<f32> = (0..start + rows * step).map(|_| random.float()).collect();
            let left: Vec<f32> =
                (0..rows * depth).map(|at| source[start + at / depth * step + at % depth]).collect();
            let expected = plain(&left, &right, rows, depth, columns);
            let (begin, wide) = (4, columns + 3);
            let mut out = vec![9.0; begin + rows * wide];
            let product = Product {
                rows: Rows { source: &source, start, step, count: rows },
                right: &panels,
                into: Target { target: &mut out, start: begin, step: wide },
            };
            // Vectors of 16 lanes take panels in pairs, which not every processor has.
            product.blocks(
                |left, [one, other]: [&[f32]; 2]| {
                    let (one, other) = (scalar_tile(left, [one]), scalar_tile(left, [other]));
                    std::array::from_fn(|row| [one[row][0], other[row][0]])
                },
                scalar_tile,
            );
            for (at, found) in out.iter().enumerate() {
                let within = at.checked_sub(begin).map(|at| (at / wide, at % wide));
                match within.filter(|(_, column)| *column < columns) {
                    Some((row, column)) => {
                        let expected = expected[row * columns + column];
                        assert!(
                            (found - expected).abs() < 1e-3,
                            "{rows} {depth} {columns}: {found} {expected}"
                        );
                    }
                    None => assert_eq!(*found, 9.0, "{at} is none of the product's"),
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
        multiply(Arch::new(), operand, &panels, Target { target: &mut out, start: 0, step: 3 });
        assert_eq!(out, [4.0, 4.0, 4.0]);
    }
}
