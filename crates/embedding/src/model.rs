//! A model: one directory, opened.

use std::path::Path;

use crate::bert::Encoder;
use crate::catalogue::{CONFIG, TOKENIZER, WEIGHTS};
use crate::config::Config;
use crate::manifest::Manifest;
use crate::tokens::{Cut, Tokens};
use crate::weights::Weights;
use crate::{EmbedError, ModelError};

/// Tokens that are computed at once: the products gain nothing from more, and whoever waits for an answer waits for no
/// more than these.
pub(crate) const AT_ONCE: usize = 256;

/// A sentence encoder: BERT, the mean over the tokens, length 1. Threads share it; each call computes on its own thread
/// and no other.
#[derive(Debug)]
pub struct Model {
    manifest: Manifest,
    dimensions: usize,
    tokens: Tokens,
    encoder: Encoder,
}

/// The embedding of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// The vector: as many numbers as the model has dimensions, of length 1.
    pub vector: Vec<f32>,
    /// Number of tokens that it was made of, with those at the beginning and the end.
    pub tokens: usize,
    /// Whether the text had more tokens than the model takes, so that its end does not count.
    pub is_truncated: bool,
}

/// An embedding, and the place of its text in the request.
#[derive(Debug)]
pub(crate) struct Placed {
    pub at: usize,
    pub embedding: Embedding,
}

/// A text as the model takes it: what is waited for is sorted by its length.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub cut: Cut,
    /// Place of the text in its request.
    pub at: usize,
}

impl Model {
    /// Opens a directory with `manifest.json`, `config.json`, `tokenizer.json` and `model.safetensors`. Each file is read
    /// whole and held against its SHA-256, so that what is computed with is what was looked at. Takes the time of reading
    /// and twice the memory of the weights, half of which is given back.
    ///
    /// # Errors
    /// `Missing`: a file is not there. `Damaged`: a file is not the manifest's, or the manifest not that of the model whose
    /// id it has. `Unsupported`: it is whole, but another kind of network. `Unreadable`.
    pub fn open(directory: &Path) -> Result<Self, ModelError> {
        let manifest = Manifest::read(directory)?;
        let damaged = |name: &str, reason| ModelError::Damaged { file: directory.join(name), reason };
        let config: Config = serde_json::from_slice(&manifest.checked(directory, CONFIG)?)
            .map_err(|error| damaged(CONFIG, error.to_string()))?;
        config.check().map_err(ModelError::Unsupported)?;
        if manifest.max_tokens > config.max_position_embeddings {
            let most = config.max_position_embeddings;
            return Err(ModelError::Unsupported(format!(
                "it takes {most} tokens, fewer than its manifest says"
            )));
        }
        let tokenizer = manifest.checked(directory, TOKENIZER)?;
        let tokens = Tokens::read(&tokenizer, manifest.max_tokens, config.vocab_size)
            .map_err(|reason| damaged(TOKENIZER, reason))?;
        let weights = manifest.checked(directory, WEIGHTS)?;
        let weights = Weights::read(&weights, &config).map_err(|reason| damaged(WEIGHTS, reason))?;
        let dimensions = config.hidden_size;
        Ok(Self { manifest, dimensions, tokens, encoder: Encoder::new(config, weights) })
    }

    /// Id, such as `all-minilm-l6-v2`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.manifest.id
    }

    /// The manifest.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Length of an embedding.
    #[must_use]
    pub const fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Most tokens of a text that count, without those at the beginning and the end.
    #[must_use]
    pub fn most_tokens(&self) -> usize {
        self.tokens.room()
    }

    /// Number of a text's tokens, without those at the beginning and the end, however many they are.
    ///
    /// # Errors
    /// `Untokenizable`.
    pub fn count_tokens(&self, text: &str) -> Result<usize, EmbedError> {
        self.tokens.count(text)
    }

    /// Bytes at which a text's tokens begin, ascending, without those at the beginning and the end, however many they are;
    /// takes little more memory than what it gives.
    ///
    /// # Errors
    /// `Untokenizable`.
    pub fn token_starts(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        self.tokens.starts(text)
    }

    /// A text in parts that the model looks at in whole, in their order and with nothing left out; one where it looks at
    /// all of it. They have about as many tokens each, and begin at words where they can.
    ///
    /// # Errors
    /// `Untokenizable`.
    pub fn parts<'t>(&self, text: &'t str) -> Result<Vec<&'t str>, EmbedError> {
        let room = self.most_tokens();
        // A token has a byte at least.
        if text.len() <= room {
            return Ok(vec![text]);
        }
        let starts = self.token_starts(text)?;
        // A part that begins within a word may have some tokens more than the whole had there.
        let most = room.saturating_sub(room / 16).max(1);
        if starts.len() <= room {
            return Ok(vec![text]);
        }
        let each = starts.len().div_ceil(starts.len().div_ceil(most));
        let mut parts = Vec::with_capacity(starts.len() / each + 1);
        let (mut from, mut first) = (0, 0);
        while first + each < starts.len() {
            let place = |token: usize| starts.get(token).and_then(|start| usize::try_from(*start).ok());
            let begins_word =
                |at: &usize| text.get(..*at).is_some_and(|before| before.ends_with(char::is_whitespace));
            let next = (first + each / 2..=first + each).rev();
            let at_word =
                next.filter_map(|token| Some((token, place(token)?))).find(|(_, at)| begins_word(at));
            let cut = at_word.or_else(|| Some((first + each, place(first + each)?)));
            let Some((token, at)) = cut.filter(|(token, at)| *token > first && text.is_char_boundary(*at))
            else {
                break;
            };
            parts.extend(text.get(from..at).filter(|part| !part.trim().is_empty()));
            (from, first) = (at, token);
        }
        parts.extend(text.get(from..).filter(|part| !part.trim().is_empty()));
        Ok(parts)
    }

    /// Embeddings of texts, in their order. They are computed by length, as many at once as have some 256 tokens.
    ///
    /// # Errors
    /// `Untokenizable`; `Failed` when numbers came out that are none.
    pub fn embed<T: AsRef<str>>(&self, texts: &[T]) -> Result<Vec<Embedding>, EmbedError> {
        let mut all: Vec<Option<Embedding>> = texts.iter().map(|_| None).collect();
        for batch in batches(self.prepare(texts)?) {
            for Placed { at, embedding } in self.compute(batch)? {
                if let Some(place) = all.get_mut(at) {
                    *place = Some(embedding);
                }
            }
        }
        all.into_iter().map(|embedding| embedding.ok_or(EmbedError::Failed)).collect()
    }

    pub(crate) fn prepare<T: AsRef<str>>(&self, texts: &[T]) -> Result<Vec<Prepared>, EmbedError> {
        let prepared = texts.iter().enumerate().map(|(at, text)| {
            let cut = self.tokens.cut(text.as_ref())?;
            Ok(Prepared { cut, at })
        });
        prepared.collect()
    }

    /// Computes a batch.
    pub(crate) fn compute(&self, batch: Vec<Prepared>) -> Result<Vec<Placed>, EmbedError> {
        let mut ids = Vec::with_capacity(batch.len());
        let mut rest = Vec::with_capacity(batch.len());
        for Prepared { cut, at } in batch {
            rest.push((at, cut.ids.len(), cut.is_truncated));
            ids.push(cut.ids);
        }
        let vectors = self.encoder.embed(&ids);
        let whole = vectors.into_iter().zip(rest).map(|(vector, (at, tokens, is_truncated))| {
            let is_finite = vector.iter().all(|number| number.is_finite());
            let embedding = Embedding { vector, tokens, is_truncated };
            is_finite.then_some(Placed { at, embedding }).ok_or(EmbedError::Failed)
        });
        whole.collect()
    }
}

/// Texts by length, as many together as have [`AT_ONCE`] tokens; one alone may have more.
pub(crate) fn batches(mut texts: Vec<Prepared>) -> Vec<Vec<Prepared>> {
    texts.sort_by_key(|text| text.cut.ids.len());
    let mut batches: Vec<Vec<Prepared>> = Vec::new();
    let mut tokens = 0;
    for text in texts {
        let more = text.cut.ids.len();
        match batches.last_mut() {
            Some(batch) if tokens + more <= AT_ONCE => {
                tokens += more;
                batch.push(text);
            }
            Some(_) | None => {
                tokens = more;
                batches.push(vec![text]);
            }
        }
    }
    batches
}
