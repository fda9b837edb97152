//! Reranking: documents in order for a query.

use async_trait::async_trait;
use heddle_kernel::ModelDeploymentId;
use heddle_models_wire::{RerankBy, Usage, WireError, read_rerank, rerank, tokens_of_bytes};
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
    pub scores: Vec<f64>,
    /// The row of the call.
    pub usage: UsageRow,
}

struct Rerank {
    query: String,
    documents: Vec<String>,
}

struct Scores {
    scores: Vec<f64>,
    usage: Option<Usage>,
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
        let (by, base) = match route.connection.connection.kind {
            ProviderKind::HuggingfaceTei => (RerankBy::Texts, heddle_models_local::root(base)),
            _other => (RerankBy::Documents, base),
        };
        let request = rerank(by, &route.deployment.model, &self.query, &self.documents);
        let reply = gateway.send_to(route, base, request, route.waits.total, until).await?;
        let ranking = read_rerank(self.documents.len(), &whole(reply).await?)?;
        let mut scores = vec![0.0; self.documents.len()];
        for text in &ranking.texts {
            if let Some(score) = scores.get_mut(text.index) {
                *score = text.score;
            }
        }
        Ok(Scores { scores, usage: ranking.usage })
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
