//! The weights of an encoder, from a file in the format safetensors.

use safetensors::{Dtype, SafeTensors};

use crate::config::Config;
use crate::math::Norm;
use crate::matmul::Panels;

/// A linear layer: `y = x · W + b`.
#[derive(Debug)]
pub(crate) struct Linear {
    /// Weights, packed for products.
    pub weights: Panels,
    /// Bias of each column.
    pub bias: Vec<f32>,
}

/// One layer of the encoder.
#[derive(Debug)]
pub(crate) struct Layer {
    /// Query, key and value beside each other: three times the width.
    pub query_key_value: Linear,
    /// Output of attention.
    pub attended: Linear,
    /// Norm after attention.
    pub attended_norm: Norm,
    /// First half of the feed-forward part.
    pub widened: Linear,
    /// Second half of the feed-forward part.
    pub narrowed: Linear,
    /// Norm after the feed-forward part.
    pub narrowed_norm: Norm,
}

/// All weights.
#[derive(Debug)]
pub(crate) struct Weights {
    /// Vectors of tokens, a row each.
    pub words: Vec<f32>,
    /// Vectors of positions, a row each, with that of the only type of token in them.
    pub positions: Vec<f32>,
    /// Norm of the sums of both.
    pub norm: Norm,
    /// The layers, in order.
    pub layers: Vec<Layer>,
}

impl Weights {
    /// Reads the weights.
    ///
    /// # Errors
    /// A sentence about the first tensor that is not there, has another shape or type, or holds what is no number.
    pub(crate) fn read(bytes: &[u8], config: &Config) -> Result<Self, String> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let prefix = if tensors.tensor("embeddings.word_embeddings.weight").is_ok() { "" } else { "bert." };
        let source = Source { tensors, prefix, epsilon: config.layer_norm_eps as f32 };
        let width = config.hidden_size;
        let words = source.matrix("embeddings.word_embeddings.weight", config.vocab_size, width)?;
        let mut positions =
            source.matrix("embeddings.position_embeddings.weight", config.max_position_embeddings, width)?;
        let types = source.rows("embeddings.token_type_embeddings.weight", width)?;
        for row in positions.chunks_exact_mut(width) {
            for (value, kind) in row.iter_mut().zip(&types) {
                *value += kind;
            }
        }
        let norm = source.norm("embeddings.LayerNorm", width)?;
        let layers =
            (0..config.num_hidden_layers).map(|at| source.layer(at, config)).collect::<Result<_, _>>()?;
        Ok(Self { words, positions, norm, layers })
    }
}

struct Source<'a> {
    tensors: SafeTensors<'a>,
    prefix: &'static str,
    epsilon: f32,
}

impl Source<'_> {
    fn layer(&self, at: usize, config: &Config) -> Result<Layer, String> {
        let (width, wide) = (config.hidden_size, config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{at}.{part}");
        let (mut weights, mut bias) = (Vec::with_capacity(3 * width * width), Vec::with_capacity(3 * width));
        for part in ["query", "key", "value"] {
            let part = name(&format!("attention.self.{part}"));
            weights.extend(self.matrix(&format!("{part}.weight"), width, width)?);
            bias.extend(self.vector(&format!("{part}.bias"), width)?);
        }
        Ok(Layer {
            query_key_value: Linear { weights: Panels::of_weights(&weights, width), bias },
            attended: self.linear(&name("attention.output.dense"), width, width)?,
            attended_norm: self.norm(&name("attention.output.LayerNorm"), width)?,
            widened: self.linear(&name("intermediate.dense"), wide, width)?,
            narrowed: self.linear(&name("output.dense"), width, wide)?,
            narrowed_norm: self.norm(&name("output.LayerNorm"), width)?,
        })
    }

    fn linear(&self, name: &str, columns: usize, depth: usize) -> Result<Linear, String> {
        let weights = self.matrix(&format!("{name}.weight"), columns, depth)?;
        let bias = self.vector(&format!("{name}.bias"), columns)?;
        Ok(Linear { weights: Panels::of_weights(&weights, depth), bias })
    }

    fn norm(&self, name: &str, width: usize) -> Result<Norm, String> {
        let scale = self.vector(&format!("{name}.weight"), width)?;
        let shift = self.vector(&format!("{name}.bias"), width)?;
        Ok(Norm { scale, shift, epsilon: self.epsilon })
    }

    fn vector(&self, name: &str, width: usize) -> Result<Vec<f32>, String> {
        self.read(name, |shape| shape == [width])
    }

    fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Vec<f32>, String> {
        self.read(name, |shape| shape == [rows, columns])
    }

    /// A matrix with any number of rows.
    fn rows(&self, name: &str, columns: usize) -> Result<Vec<f32>, String> {
        self.read(name, |shape| matches!(shape, [rows, found] if *rows > 0 && *found == columns))
    }

    fn read(&self, name: &str, fits: impl Fn(&[usize]) -> bool) -> Result<Vec<f32>, String> {
        let full = format!("{}{name}", self.prefix);
        let tensor = self.tensors.tensor(&full).map_err(|error| format!("`{full}`: {error}"))?;
        if tensor.dtype() != Dtype::F32 {
            return Err(format!("`{full}` is of type {:?}, and only F32 is read", tensor.dtype()));
        }
        if !fits(tensor.shape()) {
            return Err(format!("`{full}` has the shape {:?}", tensor.shape()));
        }
        let (numbers, _) = tensor.data().as_chunks::<4>();
        let numbers: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if numbers.iter().any(|number| !number.is_finite()) {
            return Err(format!("`{full}` holds what is no number"));
        }
        Ok(numbers)
    }
}
