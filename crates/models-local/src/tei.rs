//! text-embeddings-inference: `/info` tells its one model with the commit of its weights.

use serde_json::Value;

use crate::reply::{Call, LocalError, Reply, json_at, size, text};
use crate::{Features, LocalModel, Residence, Residency};

pub(crate) fn list() -> Vec<Call> {
    vec![Call::get("/info")]
}

pub(crate) fn listed(replies: &[Reply<'_>]) -> Result<Vec<LocalModel>, LocalError> {
    let told = json_at(replies, 0)?;
    let id = text(&told, "model_id").ok_or(LocalError::Malformed("it names no model"))?;
    let kind = told.get("model_type").unwrap_or(&Value::Null);
    let is = |word: &str| kind.get(word).is_some() || kind.as_str() == Some(word);
    Ok(vec![LocalModel {
        id,
        revision: text(&told, "model_sha"),
        context_length: size(&told, "max_input_length"),
        quantization: text(&told, "model_dtype"),
        features: Some(Features {
            embeddings: is("embedding"),
            rerank: is("reranker"),
            ..Features::default()
        }),
        residence: Some(Residence { state: Residency::Loaded, ..Residence::default() }),
        ..LocalModel::default()
    }])
}
