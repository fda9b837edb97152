//! The `config.json` of a model: the members that decide how it is computed.

use serde::Deserialize;

/// Configuration of a BERT encoder, as its `config.json` has it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Config {
    model_type: String,
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
    /// Width of a token's vector, and of the embedding.
    pub hidden_size: usize,
    /// Width of the inner layer of the feed-forward part.
    pub intermediate_size: usize,
    /// Number of layers.
    pub num_hidden_layers: usize,
    /// Number of heads of attention.
    pub num_attention_heads: usize,
    /// Most tokens of a text.
    pub max_position_embeddings: usize,
    /// Number of different tokens.
    pub vocab_size: usize,
    /// Summand of variances.
    pub layer_norm_eps: f64,
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl Config {
    /// Tells what of the configuration is not run here.
    ///
    /// # Errors
    /// A sentence about the first such member.
    pub(crate) fn check(&self) -> Result<(), String> {
        let words = [
            ("model_type", &self.model_type, "bert"),
            ("hidden_act", &self.hidden_act, "gelu"),
            ("position_embedding_type", &self.position_embedding_type, "absolute"),
        ];
        if let Some((name, found, needed)) = words.iter().find(|(_, found, needed)| found.as_str() != *needed)
        {
            return Err(format!("`{name}` is `{found}`, and only `{needed}` is run"));
        }
        let sizes = [
            ("hidden_size", self.hidden_size, 4096),
            ("intermediate_size", self.intermediate_size, 16_384),
            ("num_hidden_layers", self.num_hidden_layers, 64),
            ("num_attention_heads", self.num_attention_heads, 64),
            ("max_position_embeddings", self.max_position_embeddings, 65_536),
            ("vocab_size", self.vocab_size, 1 << 20),
        ];
        if let Some((name, size, most)) = sizes.iter().find(|(_, size, most)| !(1..=*most).contains(size)) {
            return Err(format!("`{name}` is {size}, and must be from 1 to {most}"));
        }
        if !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Err("`num_attention_heads` does not divide `hidden_size`".to_owned());
        }
        if !(self.layer_norm_eps.is_finite() && self.layer_norm_eps > 0.0) {
            return Err("`layer_norm_eps` is no positive number".to_owned());
        }
        Ok(())
    }

    /// Width of a head of attention.
    pub(crate) const fn head_width(&self) -> usize {
        self.hidden_size / self.num_attention_heads
    }
}
