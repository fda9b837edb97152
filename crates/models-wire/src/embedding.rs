//! Requests for embeddings and their answers, in OpenAI's words.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::error::{AnswerFault, WireError};
use crate::estimate;
use crate::members::{Change, Members};
use crate::usage::Usage;

/// Inputs that one request may hold; it is split into the provider's batches.
const MOST_INPUTS: usize = 8192;

/// Components of one vector.
const MOST_COMPONENTS: usize = 65_536;

/// Form in which vectors come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Lists of numbers.
    #[default]
    Float,
    /// Base64 of 32-bit floats, lowest byte first.
    Base64,
}

/// A request for embeddings. `Debug` shows no input.
#[derive(Clone, PartialEq, Eq)]
pub struct EmbeddingRequest {
    members: Members,
    model: String,
    /// Texts of JSON, an input each.
    inputs: Vec<String>,
    tokens: bool,
    dimensions: Option<u32>,
    encoding: Encoding,
}

impl fmt::Debug for EmbeddingRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddingRequest")
            .field("model", &self.model)
            .field("inputs", &self.inputs.len())
            .finish_non_exhaustive()
    }
}

impl EmbeddingRequest {
    /// Reads a body.
    ///
    /// # Errors
    /// `Member`: no JSON object; `model`, `input`, `dimensions` or `encoding_format` of another shape; no input, an empty
    /// one, or more than 8,192.
    pub fn read(body: Bytes) -> Result<Self, WireError> {
        let members = Members::read(body)?;
        let model: String = members
            .read_as("model", "must be a text")?
            .filter(|name: &String| !name.is_empty())
            .ok_or_else(|| WireError::member("model", "must name a deployment"))?;
        let dimensions: Option<u32> = members
            .read_as("dimensions", "must be a positive integer")?
            .map(|count: u32| {
                if count == 0 {
                    Err(WireError::member("dimensions", "must be a positive integer"))
                } else {
                    Ok(count)
                }
            })
            .transpose()?;
        let word: Option<String> = members.read_as("encoding_format", "must be `float` or `base64`")?;
        let encoding = match word.as_deref() {
            None | Some("float") => Encoding::Float,
            Some("base64") => Encoding::Base64,
            Some(_) => return Err(WireError::member("encoding_format", "must be `float` or `base64`")),
        };
        let Inputs { inputs, tokens } = Inputs::read(members.get("input"))?;
        Ok(Self { members, model, inputs, tokens, dimensions, encoding })
    }

    /// A request for texts, for callers within the program.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of_texts(model: &str, texts: &[String], dimensions: Option<u32>) -> Result<Self, WireError> {
        let mut body = Map::new();
        body.insert("model".into(), model.into());
        body.insert("input".into(), texts.into());
        if let Some(count) = dimensions {
            body.insert("dimensions".into(), count.into());
        }
        Self::read(Bytes::from(Value::Object(body).to_string()))
    }

    /// The deployment: an id or an alias.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Number of inputs.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there is none; a request that was read has one at least.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Dimensions that are asked for.
    #[must_use]
    pub const fn dimensions(&self) -> Option<u32> {
        self.dimensions
    }

    /// Form in which the vectors are to come.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The JSON text of a member; none when it is absent or null.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&str> {
        self.members.get(name)
    }

    /// The request with a deployment's defaults where it says nothing itself.
    ///
    /// # Errors
    /// As [`read`](Self::read): a default of a wrong shape is told by its name.
    pub fn with_defaults(&self, defaults: &Map<String, Value>) -> Result<Self, WireError> {
        let missing: Vec<Change<'_>> = defaults
            .iter()
            .filter(|(name, value)| !value.is_null() && self.members.get(name).is_none())
            .map(|(name, value)| Change::json(name, value.to_string()))
            .collect();
        if missing.is_empty() { Ok(self.clone()) } else { Self::read(self.members.with(&missing)) }
    }

    /// The inputs as texts.
    ///
    /// # Errors
    /// `Member` when they are tokens, which only the provider's own tokenizer can read.
    pub fn texts(&self) -> Result<Vec<String>, WireError> {
        let wrong = || WireError::member("input", "must be texts: tokens are not known to this model");
        if self.tokens {
            return Err(wrong());
        }
        self.inputs.iter().map(|input| serde_json::from_str(input).map_err(|_unread| wrong())).collect()
    }

    /// Tokens that the inputs are likely to have; exact for tokens.
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        let of = |input: &String| {
            if self.tokens {
                input.bytes().filter(|byte| *byte == b',').count() as u64 + 1
            } else {
                estimate::tokens_of_json(input)
            }
        };
        self.inputs.iter().map(of).sum()
    }

    /// Inputs by places, at most `batch` at once.
    pub(crate) fn batches(&self, batch: usize) -> Vec<Range<usize>> {
        let batch = batch.max(1);
        (0..self.inputs.len())
            .step_by(batch)
            .map(|from| from..(from + batch).min(self.inputs.len()))
            .collect()
    }

    /// Inputs of a batch, as texts of JSON.
    pub(crate) fn inputs(&self, places: Range<usize>) -> &[String] {
        self.inputs.get(places).unwrap_or_default()
    }

    pub(crate) const fn members(&self) -> &Members {
        &self.members
    }
}

struct Inputs {
    inputs: Vec<String>,
    tokens: bool,
}

impl Inputs {
    fn read(json: Option<&str>) -> Result<Self, WireError> {
        let wrong =
            || WireError::member("input", "must be a text, a list of texts, tokens, or a list of tokens");
        let json = json.ok_or_else(wrong)?;
        if json.starts_with('"') {
            return Self { inputs: vec![json.to_owned()], tokens: false }.checked();
        }
        let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(json) else { return Err(wrong()) };
        let all =
            |first: fn(u8) -> bool| items.iter().all(|item| item.get().bytes().next().is_some_and(first));
        if items.is_empty() {
            return Err(WireError::member("input", "must hold an input at least"));
        }
        if all(|byte| byte.is_ascii_digit()) {
            return Self { inputs: vec![json.to_owned()], tokens: true }.checked();
        }
        let tokens = all(|byte| byte == b'[');
        if !tokens && !all(|byte| byte == b'"') {
            return Err(wrong());
        }
        if items.len() > MOST_INPUTS {
            return Err(WireError::member("input", "holds more than 8192 inputs"));
        }
        Self { inputs: items.iter().map(|item| item.get().to_owned()).collect(), tokens }.checked()
    }

    /// Inputs, none of which is empty or of another shape.
    fn checked(self) -> Result<Self, WireError> {
        for (place, input) in self.inputs.iter().enumerate() {
            let right = if self.tokens {
                serde_json::from_str::<Vec<u32>>(input).is_ok_and(|tokens| !tokens.is_empty())
            } else {
                input != "\"\""
            };
            if !right {
                return Err(WireError::member(format!("input[{place}]"), "must hold something"));
            }
        }
        Ok(self)
    }
}

/// Embeddings. `body` is what the client gets. `Debug` shows no vector.
#[derive(Clone, PartialEq, Eq)]
pub struct EmbeddingResponse {
    /// JSON of OpenAI's list, in the order of the inputs.
    pub body: Bytes,
    /// Tokens; none when the provider tells none.
    pub usage: Option<Usage>,
}

impl fmt::Debug for EmbeddingResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddingResponse")
            .field("bytes", &self.body.len())
            .field("usage", &self.usage)
            .finish()
    }
}

#[derive(Deserialize)]
pub(crate) struct Listed<'a> {
    #[serde(borrow)]
    pub(crate) data: Vec<Item<'a>>,
    #[serde(default, borrow)]
    pub(crate) model: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(crate) usage: Option<crate::usage::OpenAiUsage>,
}

#[derive(Deserialize)]
pub(crate) struct Item<'a> {
    #[serde(default)]
    pub(crate) index: usize,
    #[serde(borrow)]
    pub(crate) embedding: &'a RawValue,
}

impl EmbeddingResponse {
    /// Makes an answer of vectors.
    ///
    /// # Errors
    /// `Answer(Malformed)`: vectors of different lengths, none, too long ones, or components that are no numbers.
    pub fn of_vectors(
        model: &str,
        vectors: &[Vec<f32>],
        encoding: Encoding,
        usage: Option<Usage>,
    ) -> Result<Self, WireError> {
        check_vectors(vectors)?;
        let data: Vec<Value> = vectors
            .iter()
            .enumerate()
            .map(|(index, vector)| {
                let embedding = match encoding {
                    Encoding::Float => Value::from(vector.clone()),
                    Encoding::Base64 => Value::from(to_base64(vector)),
                };
                serde_json::json!({"object": "embedding", "index": index, "embedding": embedding})
            })
            .collect();
        let mut body = serde_json::json!({"object": "list", "data": data, "model": model});
        if let Some(members) = body.as_object_mut() {
            let tokens = usage.map_or(0, |usage| usage.input);
            members
                .insert("usage".into(), serde_json::json!({"prompt_tokens": tokens, "total_tokens": tokens}));
        }
        Ok(Self { body: Bytes::from(body.to_string()), usage })
    }

    /// The vectors, in the order of the inputs.
    ///
    /// # Errors
    /// `Answer(Malformed)`.
    pub fn vectors(&self) -> Result<Vec<Vec<f32>>, WireError> {
        let Ok(listed) = serde_json::from_slice::<Listed<'_>>(&self.body) else {
            return Err(AnswerFault::Malformed.into());
        };
        listed.data.iter().map(|item| vector(item.embedding)).collect()
    }
}

/// Refuses vectors of different lengths, none, too long ones, and components that are no numbers.
pub(crate) fn check_vectors(vectors: &[Vec<f32>]) -> Result<(), WireError> {
    let length = vectors.first().map_or(0, Vec::len);
    let whole =
        |vector: &Vec<f32>| vector.len() == length && vector.iter().all(|component| component.is_finite());
    if length == 0 || length > MOST_COMPONENTS || !vectors.iter().all(whole) {
        return Err(AnswerFault::Malformed.into());
    }
    Ok(())
}

/// Refuses vectors of other dimensions than were asked for.
pub(crate) fn check_dimensions(request: &EmbeddingRequest, vectors: &[Vec<f32>]) -> Result<(), WireError> {
    match request.dimensions() {
        Some(count) if vectors.iter().any(|vector| vector.len() != count as usize) => {
            Err(AnswerFault::Malformed.into())
        }
        Some(_) | None => Ok(()),
    }
}

/// A vector in either encoding.
pub(crate) fn vector(json: &RawValue) -> Result<Vec<f32>, WireError> {
    let malformed = || WireError::from(AnswerFault::Malformed);
    let text = json.get();
    if text.starts_with('"') {
        let base64: Cow<'_, str> = serde_json::from_str(text).map_err(|_unread| malformed())?;
        let bytes = STANDARD.decode(base64.as_bytes()).map_err(|_unread| malformed())?;
        let (floats, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || floats.is_empty() {
            return Err(malformed());
        }
        return Ok(floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect());
    }
    serde_json::from_str(text).map_err(|_unread| malformed())
}

fn to_base64(vector: &[f32]) -> String {
    let bytes: Vec<u8> = vector.iter().flat_map(|component| component.to_le_bytes()).collect();
    STANDARD.encode(bytes)
}
