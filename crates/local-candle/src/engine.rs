//! The engine: a model of a GGUF file, and its words one by one.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::quantized::tokenizer::TokenizerFromGguf as _;
use candle_core::{Device, Tensor};
use candle_transformers::generation::{LogitsProcessor, Sampling};
use candle_transformers::models::quantized_llama::ModelWeights;
use tokenizers::Tokenizer;

use crate::ChatError;
use crate::template::{Template, Turn, held_back};

/// Tokens that this engine reads at most, whatever the model says: its tables of positions end there.
const MOST_TOKENS: usize = 4_096;
/// Architecture that it computes: Llama and its like (SmolLM2 among them).
const ARCHITECTURE: &str = "llama";
/// Seed where none is given: the same question has the same answer.
const SEED: u64 = 42;

/// Wishes for an answer.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Tokens at most; up to the end of the context when absent.
    pub most_tokens: Option<usize>,
    /// Temperature; 0, the likeliest words, when absent.
    pub temperature: Option<f64>,
    /// Share of the likeliest words that is drawn from; all when absent.
    pub top_p: Option<f64>,
    /// Seed of what is drawn.
    pub seed: Option<u64>,
    /// Words at which the answer ends, without them.
    pub stop: Vec<String>,
}

/// Reason why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model ended it, or a stop word did.
    Stop,
    /// Limit of tokens that was reached.
    Length,
    /// Whoever asked wants it no more.
    Cancelled,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Said {
    /// The text.
    pub text: String,
    /// Reason why it ends.
    pub end: End,
    /// Tokens of the conversation.
    pub prompt_tokens: usize,
    /// Tokens of the answer.
    pub completion_tokens: usize,
}

/// A model in memory.
pub(crate) struct Loaded {
    weights: ModelWeights,
    tokenizer: Tokenizer,
    template: Template,
    ends: Vec<u32>,
    most_tokens: usize,
}

/// Bytes that a model takes in memory: its weights as they stand in the file, its embeddings unpacked, and the kept
/// keys and values of a whole context.
pub(crate) fn needed(path: &Path, bytes: u64) -> Result<u64, ChatError> {
    let content = Content::read(&mut File::open(path)?).map_err(unusable)?;
    let embeddings =
        content.tensor_infos.get("token_embd.weight").map_or(0, |info| info.shape.elem_count() as u64 * 4);
    let number =
        |key: &str| u64::from(content.metadata.get(key).and_then(|value| value.to_u32().ok()).unwrap_or(0));
    let heads = number("llama.attention.head_count").max(1);
    let width = number("llama.embedding_length") / heads * number("llama.attention.head_count_kv");
    let kept = number("llama.block_count") * 2 * width * 4 * MOST_TOKENS as u64;
    Ok(bytes + embeddings + kept)
}

impl Loaded {
    /// Reads a file.
    pub(crate) fn open(path: &Path) -> Result<Self, ChatError> {
        let mut file = File::open(path)?;
        let content = Content::read(&mut file).map_err(unusable)?;
        let text = |key: &str| content.metadata.get(key).and_then(|value| value.to_string().ok()).cloned();
        let architecture = text("general.architecture").unwrap_or_default();
        if architecture != ARCHITECTURE {
            return Err(ChatError::Unusable(format!(
                "its architecture is `{architecture}`, not `{ARCHITECTURE}`"
            )));
        }
        let tokenizer = Tokenizer::from_gguf(&content).map_err(unusable)?;
        let template = Template::of(&text("tokenizer.chat_template").unwrap_or_default());
        let own_end =
            content.metadata.get("tokenizer.ggml.eos_token_id").and_then(|value: &Value| value.to_u32().ok());
        let mut ends: Vec<u32> =
            template.ends().iter().filter_map(|end| tokenizer.token_to_id(end)).collect();
        ends.extend(own_end);
        let context = content.metadata.get("llama.context_length").and_then(|value| value.to_u32().ok());
        let most_tokens = context.map_or(MOST_TOKENS, |most| MOST_TOKENS.min(most as usize));
        let weights = ModelWeights::from_gguf(content, &mut file, &Device::Cpu).map_err(unusable)?;
        Ok(Self { weights, tokenizer, template, ends, most_tokens })
    }

    /// Tokens of a text.
    pub(crate) fn count(&self, text: &str) -> Option<usize> {
        self.tokenizer.encode(text, false).ok().map(|encoded| encoded.len())
    }

    /// Answers a conversation. `said` gets the text piece by piece; set `cancelled` and it ends behind the next token.
    pub(crate) fn chat(
        &mut self,
        turns: &[Turn],
        options: &Options,
        cancelled: &AtomicBool,
        said: &mut dyn FnMut(&str),
    ) -> Result<Said, ChatError> {
        let written = self.template.written(turns);
        let encoded =
            self.tokenizer.encode(written, false).map_err(|_text| failed("the text has no tokens"))?;
        let prompt = encoded.get_ids();
        if prompt.len() >= self.most_tokens {
            return Err(ChatError::TooLong { tokens: prompt.len(), most: self.most_tokens });
        }
        let room = self.most_tokens - prompt.len();
        let most = options.most_tokens.unwrap_or(room).min(room);
        self.weights.clear_kv_cache();
        let mut answer = Answer { text: String::new(), told: 0, tokens: Vec::new(), stop: &options.stop };
        let mut sampler = LogitsProcessor::from_sampling(options.seed.unwrap_or(SEED), sampling(options));
        let (mut input, mut at) = (prompt.to_vec(), 0);
        let end = loop {
            if cancelled.load(Ordering::Relaxed) {
                break End::Cancelled;
            }
            if answer.tokens.len() >= most {
                break End::Length;
            }
            let token = self.next(&input, at, &mut sampler)?;
            if self.ends.contains(&token) {
                break End::Stop;
            }
            at += input.len();
            input = vec![token];
            if answer.add(token, &self.tokenizer, said)? {
                break End::Stop;
            }
        };
        answer.finish(said);
        self.weights.clear_kv_cache();
        Ok(Said {
            end,
            prompt_tokens: prompt.len(),
            completion_tokens: answer.tokens.len(),
            text: answer.text,
        })
    }

    fn next(&mut self, input: &[u32], at: usize, sampler: &mut LogitsProcessor) -> Result<u32, ChatError> {
        let computed = Tensor::new(input, &Device::Cpu)
            .and_then(|tensor| tensor.unsqueeze(0))
            .and_then(|tensor| self.weights.forward(&tensor, at))
            .and_then(|logits| logits.squeeze(0))
            .and_then(|logits| sampler.sample(&logits));
        computed.map_err(|error| ChatError::Failed(error.to_string()))
    }
}

fn sampling(options: &Options) -> Sampling {
    match (options.temperature.filter(|temperature| *temperature > 0.0), options.top_p) {
        (None, _) => Sampling::ArgMax,
        (Some(temperature), None) => Sampling::All { temperature },
        (Some(temperature), Some(p)) => Sampling::TopP { p, temperature },
    }
}

/// An answer in the making.
struct Answer<'a> {
    text: String,
    /// Bytes of the text that were told.
    told: usize,
    tokens: Vec<u32>,
    stop: &'a [String],
}

impl Answer<'_> {
    /// Adds a token; whether a stop word ends the answer.
    fn add(
        &mut self,
        token: u32,
        tokenizer: &Tokenizer,
        said: &mut dyn FnMut(&str),
    ) -> Result<bool, ChatError> {
        self.tokens.push(token);
        let text =
            tokenizer.decode(&self.tokens, true).map_err(|_tokens| failed("the tokens have no text"))?;
        // Half a letter waits for its other half.
        if text.ends_with('\u{fffd}') {
            return Ok(false);
        }
        self.text = text;
        let stopped = self
            .stop
            .iter()
            .filter(|word| !word.is_empty())
            .filter_map(|word| self.text.find(word.as_str()))
            .min();
        if let Some(at) = stopped {
            self.text.truncate(at);
            return Ok(true);
        }
        let end = self.text.len() - held_back(&self.text, self.stop);
        self.tell(end, said);
        Ok(false)
    }

    fn finish(&mut self, said: &mut dyn FnMut(&str)) {
        self.tell(self.text.len(), said);
    }

    fn tell(&mut self, end: usize, said: &mut dyn FnMut(&str)) {
        if let Some(piece) = self.text.get(self.told..end).filter(|piece| !piece.is_empty()) {
            said(piece);
            self.told = end;
        }
    }
}

fn unusable(error: candle_core::Error) -> ChatError {
    ChatError::Unusable(error.to_string())
}

fn failed(why: &str) -> ChatError {
    ChatError::Failed(why.to_owned())
}
