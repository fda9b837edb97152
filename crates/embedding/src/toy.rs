//! A small model of the same format with weights from a seed: what tests compute with where the real one is not at hand.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::catalogue::{CONFIG, TOKENIZER, WEIGHTS};
use crate::manifest::{FileSum, MANIFEST, Manifest, hex};

/// Id of the model.
pub const TOY: &str = "toy";
/// Length of an embedding of it.
pub const TOY_DIMENSIONS: usize = 32;
/// Most tokens of a text of it, with those at the beginning and the end.
pub const TOY_TOKENS: usize = 32;

const LAYERS: usize = 2;
const INNER: usize = 64;

/// Numbers from a seed (S. Vigna's SplitMix64).
#[derive(Debug, Clone)]
pub struct Seeded(u64);

impl Seeded {
    /// The numbers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number from −1 to 1.
    pub fn float(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        // Forty bits more than a float has are dropped.
        ((bits >> 40) as f32 / 8_388_608.0) - 1.0
    }
}

/// Writes a model with two layers into a directory, which is made: letters and digits are its tokens, alone and within a
/// word. The same seed gives the same files.
///
/// # Errors
/// Those of the file system.
pub fn write(directory: &Path, seed: u64) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let vocabulary = vocabulary();
    let config = json!({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": TOY_DIMENSIONS, "intermediate_size": INNER,
        "num_hidden_layers": LAYERS, "num_attention_heads": 4, "max_position_embeddings": TOY_TOKENS,
        "vocab_size": vocabulary.len(), "layer_norm_eps": 1e-12,
    });
    let weights = weights(vocabulary.len(), seed)?;
    let files = [
        (CONFIG, config.to_string().into_bytes()),
        (WEIGHTS, weights),
        (TOKENIZER, tokenizer(&vocabulary).to_string().into_bytes()),
    ];
    let mut sums = Vec::new();
    for (name, bytes) in files {
        let sha256 = hex(&Sha256::digest(&bytes));
        sums.push(FileSum { name: name.to_owned(), bytes: bytes.len() as u64, sha256 });
        fs::write(directory.join(name), bytes)?;
    }
    let manifest = Manifest {
        id: TOY.to_owned(),
        display_name: "Toy".to_owned(),
        licence: "MIT".to_owned(),
        max_tokens: TOY_TOKENS,
        files: sums,
    };
    fs::write(directory.join(MANIFEST), serde_json::to_vec(&manifest)?)
}

fn vocabulary() -> Vec<String> {
    let letters = || ('a'..='z').chain('0'..='9').chain(['.', ',', '-']);
    let special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"].map(str::to_owned);
    let alone = letters().map(|letter| letter.to_string());
    let within = letters().map(|letter| format!("##{letter}"));
    special.into_iter().chain(alone).chain(within).collect()
}

fn tokenizer(vocabulary: &[String]) -> Value {
    let numbers: BTreeMap<&str, usize> =
        vocabulary.iter().enumerate().map(|(number, token)| (token.as_str(), number)).collect();
    let special: Vec<Value> = vocabulary
        .iter()
        .enumerate()
        .take(4)
        .map(|(id, content)| {
            json!({ "id": id, "special": true, "content": content, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false })
        })
        .collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": special,
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" }, "post_processor": null, "decoder": null,
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": numbers },
    })
}

fn weights(vocabulary: usize, seed: u64) -> io::Result<Vec<u8>> {
    let mut random = Seeded::new(seed);
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    let mut add = |name: String, shape: &[usize], around: f32, by: f32| {
        let numbers = (0..shape.iter().product::<usize>()).map(|_| around + by * random.float());
        let bytes = numbers.flat_map(f32::to_le_bytes).collect();
        tensors.push((name, shape.to_vec(), bytes));
    };
    let width = TOY_DIMENSIONS;
    for (name, rows) in [("word", vocabulary), ("position", TOY_TOKENS), ("token_type", 2)] {
        let by = if name == "word" { 1.0 } else { 0.1 };
        add(format!("embeddings.{name}_embeddings.weight"), &[rows, width], 0.0, by);
    }
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in 0..LAYERS {
        let linear = [
            ("attention.self.query", width, width),
            ("attention.self.key", width, width),
            ("attention.self.value", width, width),
            ("attention.output.dense", width, width),
            ("intermediate.dense", INNER, width),
            ("output.dense", width, INNER),
        ];
        for (name, columns, depth) in linear {
            add(format!("encoder.layer.{layer}.{name}.weight"), &[columns, depth], 0.0, 0.3);
            add(format!("encoder.layer.{layer}.{name}.bias"), &[columns], 0.0, 0.1);
        }
        norms.extend(
            ["attention.output", "output"].map(|part| format!("encoder.layer.{layer}.{part}.LayerNorm")),
        );
    }
    for name in norms {
        add(format!("{name}.weight"), &[width], 1.0, 0.1);
        add(format!("{name}.bias"), &[width], 0.0, 0.1);
    }
    let views = tensors
        .iter()
        .map(|(name, shape, bytes)| {
            let view = TensorView::new(Dtype::F32, shape.clone(), bytes).map_err(io::Error::other)?;
            Ok((name.as_str(), view))
        })
        .collect::<io::Result<Vec<_>>>()?;
    safetensors::serialize(views, None).map_err(io::Error::other)
}
