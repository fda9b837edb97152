//! The order of texts by how well they answer a question, as reranking models give it.
//!
//! Sources: the references of `/v1/rerank` (vLLM, llama.cpp, LocalAI, Jina) and of `/rerank` (Hugging Face's server of
//! embeddings).

use serde::Deserialize;
use serde_json::{Value, json as value};

use crate::error::{AnswerFault, WireError};
use crate::family::Family;
use crate::refusal;
use crate::spoken::json;
use crate::upstream::UpstreamRequest;
use crate::usage::{OpenAiUsage, Usage};

/// The words in which a server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RerankBy {
    /// `documents`, at `/rerank` under a base address with its version (`http://host/v1`).
    Documents,
    /// `texts`, at `/rerank` under a base address without one (`http://host`): Hugging Face's server.
    Texts,
}

/// A text's place and score; the higher, the better. Scores of two models are not comparable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Place in the request.
    pub index: usize,
    /// Score.
    pub score: f64,
}

/// The texts, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Texts, each once.
    pub texts: Vec<Ranked>,
    /// Tokens; none when the server tells none.
    pub usage: Option<Usage>,
}

/// The request.
#[must_use]
pub fn rerank(by: RerankBy, model: &str, query: &str, texts: &[String]) -> UpstreamRequest {
    let body = match by {
        RerankBy::Documents => value!({
            "model": model, "query": query, "documents": texts, "top_n": texts.len(), "return_documents": false,
        }),
        RerankBy::Texts => value!({"query": query, "texts": texts, "truncate": false}),
    };
    UpstreamRequest::post("/rerank", body.to_string())
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    results: Option<Vec<Scored>>,
    #[serde(default)]
    usage: Option<OpenAiUsage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Scored {
    index: usize,
    #[serde(alias = "relevance_score")]
    score: f64,
}

/// Reads the answer of a request with `count` texts.
///
/// # Errors
/// `Answer(Malformed)`: places that are none, or twice, scores that are no numbers; `Answer(Truncated)`: not all texts;
/// `Refused`.
pub fn read_rerank(count: usize, body: &[u8]) -> Result<Ranking, WireError> {
    let body = match json::<Vec<Scored>>(body) {
        Ok(results) => Body { results: Some(results), usage: None, error: None },
        Err(_not_bare) => json::<Body>(body)?,
    };
    if let Some(error) = body.error {
        return Err(refusal::of_error(Family::OpenAi, &error));
    }
    let scored = body.results.ok_or(AnswerFault::Malformed)?;
    let mut seen = vec![false; count];
    for text in &scored {
        match seen.get_mut(text.index) {
            Some(place) if !*place && text.score.is_finite() => *place = true,
            Some(_) | None => return Err(AnswerFault::Malformed.into()),
        }
    }
    if scored.len() < count {
        return Err(AnswerFault::Truncated.into());
    }
    let mut texts: Vec<Ranked> =
        scored.into_iter().map(|text| Ranked { index: text.index, score: text.score }).collect();
    texts.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.index.cmp(&other.index)));
    Ok(Ranking { texts, usage: body.usage.map(|usage| usage.counted()) })
}
