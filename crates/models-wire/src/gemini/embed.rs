//! Embeddings: one input by `embedContent`, several by `batchEmbedContents`.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json as value};

use super::{name, path};
use crate::embedding::{EmbeddingRequest, EmbeddingResponse, check_dimensions};
use crate::error::{AnswerFault, WireError};
use crate::family::{Family, Target};
use crate::refusal;
use crate::spoken::json;
use crate::upstream::UpstreamRequest;
use crate::usage::{Usage, count};

const FAMILY: Family = Family::Gemini;

/// Members with a word here; `taskType` and `title` are the wire's own.
const SAID: [&str; 6] = ["model", "input", "dimensions", "encoding_format", "taskType", "title"];

/// The requests.
pub(crate) fn embeddings(
    target: &Target,
    request: &EmbeddingRequest,
    batch: usize,
) -> Result<Vec<UpstreamRequest>, WireError> {
    if let Some(other) = request.members().names().find(|name| !SAID.contains(name)) {
        return Err(WireError::inexpressible(other, FAMILY));
    }
    let mut common = Map::new();
    common.insert("model".into(), format!("models/{}", name(target)).into());
    if let Some(count) = request.dimensions() {
        common.insert("outputDimensionality".into(), count.into());
    }
    for name in ["taskType", "title"] {
        if let Some(text) = request.members().read_as::<String>(name, "must be a text")? {
            common.insert(name.into(), text.into());
        }
    }
    let texts = request.texts()?;
    let one = |text: &String| {
        let mut body = common.clone();
        body.insert("content".into(), value!({"parts": [{"text": text}]}));
        Value::Object(body)
    };
    Ok(request
        .batches(batch)
        .into_iter()
        .map(|places| {
            let single = places.len() == 1;
            let mut bodies: Vec<Value> = texts.get(places).unwrap_or_default().iter().map(one).collect();
            match bodies.pop() {
                Some(body) if single => UpstreamRequest::post(path(target, "embedContent"), body.to_string()),
                last => {
                    bodies.extend(last);
                    let body = value!({"requests": bodies});
                    UpstreamRequest::post(path(target, "batchEmbedContents"), body.to_string())
                }
            }
        })
        .collect())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    #[serde(default)]
    embedding: Option<Values>,
    #[serde(default)]
    embeddings: Vec<Values>,
    #[serde(default)]
    usage_metadata: Option<Tokens>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Values {
    values: Vec<f32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    #[serde(default, deserialize_with = "count")]
    prompt_token_count: u64,
}

/// The embeddings.
pub(crate) fn embedding_response(
    target: &Target,
    request: &EmbeddingRequest,
    batch: usize,
    bodies: &[Bytes],
) -> Result<EmbeddingResponse, WireError> {
    let batches = request.batches(batch);
    if bodies.len() != batches.len() {
        return Err(AnswerFault::Truncated.into());
    }
    let mut vectors = Vec::with_capacity(request.len());
    let mut usage: Option<Usage> = None;
    for (body, places) in bodies.iter().zip(batches) {
        let body: Body = json(body)?;
        if let Some(error) = body.error {
            return Err(refusal::of_error(FAMILY, &error));
        }
        let before = vectors.len();
        vectors.extend(body.embedding.into_iter().chain(body.embeddings).map(|item| item.values));
        if vectors.len() - before != places.len() {
            return Err(AnswerFault::Truncated.into());
        }
        if let Some(tokens) = body.usage_metadata {
            let told = Usage { input: tokens.prompt_token_count, ..Usage::default() };
            usage = Some(usage.unwrap_or_default().plus(&told));
        }
    }
    check_dimensions(request, &vectors)?;
    EmbeddingResponse::of_vectors(&target.model, &vectors, request.encoding(), usage)
}
