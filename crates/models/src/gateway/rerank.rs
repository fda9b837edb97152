//! Reranking: documents in order for a query, by the interface that Jina, Cohere, vLLM, llama.cpp and LocalAI share
//! (`POST /rerank` with `query` and `documents`, answered by `results` with `index` and `relevance_score`), and that of
//! Text Embeddings Inference (`texts`, answered by a list with `index` and `score`).

use async_trait::async_trait;
use bytes::Bytes;
use heddle_kernel::ModelDeploymentId;
use heddle_models_wire::{AnswerFault, Header, Method, UpstreamRequest, Usage, WireError, tokens_of_bytes};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::call::{Estimate, Kind};
use super::error::{GatewayError, Missed};
use super::exchange::whole;
use super::route::Route;
use super::{CallJournal, Caller, Gateway};
use crate::records::{Capability, UsageRow};
use crate::types::ProviderKind;

/// The most documents of a call.
const DOCUMENTS: usize = 1_000;

/// Scores with what they took.
#[derive(Debug)]
pub struct RerankAnswer {
    /// Scores of the documents, in their order; the higher the better.
    pub scores: Vec<f32>,
    /// The row of the call.
    pub usage: UsageRow,
}

struct Rerank {
    query: String,
    documents: Vec<String>,
}

struct Scores {
    scores: Vec<f32>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Told {
    Listed {
        results: Vec<Scored>,
        #[serde(default)]
        usage: Option<ToldUsage>,
    },
    Bare(Vec<Scored>),
}

#[derive(Deserialize)]
struct Scored {
    index: usize,
    #[serde(alias = "relevance_score")]
    score: f32,
}

#[derive(Deserialize)]
struct ToldUsage {
    #[serde(default)]
    total_tokens: Option<u64>,
}

impl Rerank {
    fn request(&self, route: &Route) -> UpstreamRequest {
        let is_tei = route.connection.connection.kind == ProviderKind::HuggingfaceTei;
        let body = if is_tei {
            json!({ "query": self.query, "texts": self.documents, "raw_scores": false, "truncate": true })
        } else {
            json!({
                "model": route.deployment.model, "query": self.query, "documents": self.documents,
                "top_n": self.documents.len(), "return_documents": false,
            })
        };
        UpstreamRequest {
            method: Method::Post,
            path: "/rerank".to_owned(),
            headers: vec![Header { name: "content-type", value: "application/json" }],
            body: Bytes::from(body.to_string()),
        }
    }

    fn read(&self, body: &[u8]) -> Result<Scores, WireError> {
        let Ok(told) = serde_json::from_slice::<Told>(body) else { return Err(AnswerFault::Malformed.into()) };
        let (results, tokens) = match told {
            Told::Listed { results, usage } => (results, usage.and_then(|usage| usage.total_tokens)),
            Told::Bare(results) => (results, None),
        };
        let mut scores = vec![None; self.documents.len()];
        for one in results {
            match scores.get_mut(one.index) {
                Some(score @ None) if one.score.is_finite() => *score = Some(one.score),
                Some(_) | None => return Err(AnswerFault::Malformed.into()),
            }
        }
        let scores: Option<Vec<f32>> = scores.into_iter().collect();
        let usage = tokens.map(|input| Usage { input, ..Usage::default() });
        Ok(Scores { scores: scores.ok_or(AnswerFault::Malformed)?, usage })
    }
}

#[async_trait]
impl Kind for Rerank {
    type Got = Scores;
    const WORD: &'static str = "rerank";

    fn capability(&self) -> Capability {
        Capability::Rerank
    }

    fn estimate(&self, _route: &Route) -> Result<Estimate, GatewayError> {
        let query = tokens_of_bytes(self.query.len() as u64);
        let each = |document: &String| tokens_of_bytes(document.len() as u64).saturating_add(query);
        Ok(Estimate { input: self.documents.iter().map(each).sum(), output: Some(0) })
    }

    async fn exchange(&self, gateway: &Gateway, route: &Route, until: Instant) -> Result<Scores, Missed> {
        let base = route.connection.base_url().unwrap_or_default();
        // Text Embeddings Inference has it beside its version of OpenAI's interface, others below.
        let is_tei = route.connection.connection.kind == ProviderKind::HuggingfaceTei;
        let base = if is_tei { heddle_models_local::root(base) } else { base };
        let reply = gateway.send_to(route, base, self.request(route), route.waits.total, until).await?;
        Ok(self.read(&whole(reply).await?)?)
    }

    fn fits(&self, _named: &Route, _other: &Route) -> bool {
        true
    }
}

impl Gateway {
    /// Scores documents for a query, for a caller who was found to be allowed to.
    ///
    /// # Errors
    /// What stood against the call; `Request` for more than 1,000 documents, or none.
    pub async fn rerank_as(
        &self,
        caller: &Caller,
        id: ModelDeploymentId,
        query: String,
        documents: Vec<String>,
        journal: CallJournal,
    ) -> Result<RerankAnswer, GatewayError> {
        if !(1..=DOCUMENTS).contains(&documents.len()) {
            let reason = "must hold 1 to 1,000 documents";
            return Err(GatewayError::Request(WireError::member("documents", reason)));
        }
        let (scores, mut running) = self.run(caller, id, &Rerank { query, documents }, journal).await?;
        running.note(0, scores.usage);
        let ended = running.answered(b"").await?;
        Ok(RerankAnswer { scores: scores.scores, usage: ended.usage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_come_in_the_order_of_the_documents_and_each_once() {
        let of = |count: usize| Rerank { query: "q".to_owned(), documents: vec!["d".to_owned(); count] };
        let listed = br#"{"model":"m","results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}],"usage":{"total_tokens":7}}"#;
        let read = of(2).read(listed).unwrap();
        assert_eq!((read.scores, read.usage.map(|usage| usage.input)), (vec![0.1, 0.9], Some(7)));
        assert_eq!(of(1).read(br#"[{"index":0,"score":0.5}]"#).unwrap().scores, vec![0.5]);
        for wrong in ["{}", r#"[{"index":5,"score":1}]"#, r#"[{"index":0,"score":1},{"index":0,"score":1}]"#] {
            assert!(of(2).read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
