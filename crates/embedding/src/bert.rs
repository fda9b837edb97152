//! The encoder: BERT (J. Devlin and others, arXiv 1810.04805) over texts of any length beside each other. No text is
//! padded: their tokens stand in one matrix, and attention goes over each text's rows alone.

use pulp::Arch;

use crate::config::Config;
use crate::math;
use crate::matmul::{Panels, Rows, Target, View, multiply};
use crate::weights::{Layer, Linear, Weights};

/// An encoder, which any number of threads use at once.
#[derive(Debug)]
pub(crate) struct Encoder {
    config: Config,
    weights: Weights,
    arch: Arch,
}

/// Memory of a computation, for the layers in turn.
#[derive(Debug, Default)]
struct Scratch {
    keys: Panels,
    values: Panels,
    query_key_value: Vec<f32>,
    scores: Vec<f32>,
    context: Vec<f32>,
    wide: Vec<f32>,
    next: Vec<f32>,
}

impl Encoder {
    pub(crate) fn new(config: Config, weights: Weights) -> Self {
        Self { config, weights, arch: Arch::new() }
    }

    /// Embeddings of texts that are given as numbers of tokens, each of length 1; those of no tokens are zeros. Of a text
    /// only as many tokens count as there are positions; a token that is none counts as the first.
    pub(crate) fn embed(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let width = self.config.hidden_size;
        let lengths: Vec<usize> =
            texts.iter().map(|text| text.len().min(self.config.max_position_embeddings)).collect();
        let mut hidden = self.looked_up(texts, &lengths);
        let mut scratch = Scratch::default();
        for layer in &self.weights.layers {
            self.attend(layer, &mut hidden, &lengths, &mut scratch);
            self.feed(layer, &mut hidden, &mut scratch);
        }
        let mut rest = hidden.as_slice();
        let pooled = lengths.iter().map(|length| {
            let (rows, after) = rest.split_at((length * width).min(rest.len()));
            rest = after;
            math::pooled(self.arch, rows, width)
        });
        pooled.collect()
    }

    /// The sums of the vectors of tokens and positions, normalised.
    fn looked_up(&self, texts: &[Vec<u32>], lengths: &[usize]) -> Vec<f32> {
        let width = self.config.hidden_size;
        let mut hidden = Vec::with_capacity(lengths.iter().sum::<usize>() * width);
        for text in texts {
            for (token, position) in text.iter().zip(self.weights.positions.chunks_exact(width)) {
                let at = usize::try_from(*token).unwrap_or(0).saturating_mul(width);
                let row = self.weights.words.get(at..at.saturating_add(width));
                let Some(row) = row.or_else(|| self.weights.words.get(..width)) else { continue };
                hidden.extend(row.iter().zip(position).map(|(word, position)| word + position));
            }
        }
        math::normalise_rows(self.arch, &mut hidden, &self.weights.norm);
        hidden
    }

    /// Attention, its output layer, residual and norm.
    fn attend(&self, layer: &Layer, hidden: &mut Vec<f32>, lengths: &[usize], scratch: &mut Scratch) {
        let (width, head) = (self.config.hidden_size, self.config.head_width());
        let Scratch { keys, values, query_key_value, scores, context, next, .. } = scratch;
        self.linear(&layer.query_key_value, hidden, width, query_key_value);
        math::add_bias(self.arch, query_key_value, &layer.query_key_value.bias);
        // What is written as a whole needs no clearing: the products below, and this.
        context.resize(hidden.len(), 0.0);
        let step = 3 * width;
        let factor = 1.0 / (head as f32).sqrt();
        let mut first = 0;
        for &length in lengths {
            scores.resize(length * length, 0.0);
            for column in (0..width).step_by(head) {
                let start = first * step + column;
                let key = View { start: start + width, row_step: 1, column_step: step };
                keys.pack(query_key_value, key, head, length);
                let queries = Rows { source: query_key_value, start, step, count: length };
                let into = Target { target: scores, start: 0, step: length };
                multiply(self.arch, queries, keys, into);
                math::softmax_rows(self.arch, scores, length, factor);
                let value = View { start: start + 2 * width, row_step: step, column_step: 1 };
                values.pack(query_key_value, value, length, head);
                let weights = Rows { source: scores, start: 0, step: length, count: length };
                let into = Target { target: context, start: first * width + column, step: width };
                multiply(self.arch, weights, values, into);
            }
            first += length;
        }
        self.linear(&layer.attended, context, width, next);
        math::add_and_normalise(self.arch, next, &layer.attended.bias, hidden, &layer.attended_norm);
        std::mem::swap(hidden, next);
    }

    /// The feed-forward part, residual and norm.
    fn feed(&self, layer: &Layer, hidden: &mut Vec<f32>, scratch: &mut Scratch) {
        let (width, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let Scratch { wide, next, .. } = scratch;
        self.linear(&layer.widened, hidden, width, wide);
        math::add_bias_gelu(self.arch, wide, &layer.widened.bias);
        self.linear(&layer.narrowed, wide, inner, next);
        math::add_and_normalise(self.arch, next, &layer.narrowed.bias, hidden, &layer.narrowed_norm);
        std::mem::swap(hidden, next);
    }

    /// The product of rows and a layer's weights, without its bias.
    fn linear(&self, layer: &Linear, rows: &[f32], depth: usize, out: &mut Vec<f32>) {
        let count = rows.len() / depth.max(1);
        let columns = layer.weights.columns();
        out.resize(count * columns, 0.0);
        let rows = Rows { source: rows, start: 0, step: depth, count };
        multiply(self.arch, rows, &layer.weights, Target { target: out, start: 0, step: columns });
    }
}
