//! Port to embedding models: the built-in one, and deployments.

use async_trait::async_trait;
use heddle_kernel::{TenantId, UserId, literals};
use heddle_policy::RequestContext;

use crate::records::ModelUse;

literals! {
    /// Source of a model.
    pub enum ModelSource {
        /// The service itself.
        BuiltIn = "builtIn",
        /// A deployment of the organisation.
        Deployment = "deployment",
    }

    /// State of a model.
    pub enum ModelState {
        /// Model that answers.
        Ready = "ready",
        /// Model whose weights are not here.
        Missing = "missing",
        /// Model whose weights are being read.
        Loading = "loading",
        /// Model that can't be used.
        Error = "error",
    }
}

/// An embedding model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingModel {
    /// Id, dimensions and revision.
    pub model: ModelUse,
    /// Name for people.
    pub display_name: String,
    /// Source.
    pub source: ModelSource,
    /// Alias of the deployment, where it is one.
    pub deployment_alias: Option<String>,
    /// The most tokens of a text; more is cut off.
    pub max_input_tokens: u32,
    /// Codes of languages.
    pub languages: Vec<String>,
    /// State.
    pub state: ModelState,
    /// The reason of the state, and the command that helps.
    pub state_detail: Option<String>,
    /// Whether it is taken where none is named.
    pub is_default: bool,
    /// SHA-256 of the weights, where they are here.
    pub sha256: Option<String>,
    /// Licence of the weights.
    pub licence: String,
}

/// Priority of an embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Work in the background.
    Background,
    /// Somebody waits for the answer: it goes in front.
    Interactive,
}

/// Whoever has texts embedded: the calls of deployments are accounted to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// The organisation.
    pub tenant: TenantId,
    /// The user who asks, or who asked for the ingestion.
    pub user: UserId,
    /// The request, or the ingestion job, that it belongs to.
    pub request: String,
}

impl Asker {
    /// Whoever makes a request.
    #[must_use]
    pub fn of_request(context: &RequestContext) -> Self {
        let request = context.request_id().to_string();
        Self { tenant: context.tenant(), user: context.user_id(), request }
    }
}

/// Reason for which texts were not embedded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// There is no such model, or its weights are not here; the text says how to get them.
    #[error("{0}")]
    Missing(String),
    /// Model that does not answer for the moment: another try may do.
    #[error("{message}")]
    Unavailable {
        /// The reason, in words, without secrets.
        message: String,
        /// Seconds before another try, where it said so.
        retry_after_seconds: Option<u64>,
    },
    /// Texts that the model can't embed, now or later.
    #[error("{0}")]
    Refused(String),
}

/// Embeds texts.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The models that an organisation may use, the preset one first.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn models(&self, tenant: TenantId) -> Result<Vec<EmbeddingModel>, EmbedError>;

    /// Vectors of texts, in their order, each of length 1 and of the model's dimensions. Waits while the model has as much
    /// as it can hold. A database embeds by its own model, whatever rights on it the asker has.
    ///
    /// # Errors
    /// `Missing` also when the model is of another revision; `Unavailable`, `Refused`.
    async fn embed(
        &self,
        asker: &Asker,
        model: &ModelUse,
        texts: &[String],
        priority: Priority,
    ) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Puts passages in order by a deployment that compares each with the query.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Scores of texts, in their order; the higher the better. The deployment is one that the caller names, so their rights
    /// on it count.
    ///
    /// # Errors
    /// `Missing` when there is no such deployment, the caller may not have it embed, or it can't do this; `Unavailable`,
    /// `Refused`.
    async fn rerank(
        &self,
        context: &RequestContext,
        deployment: &str,
        query: &str,
        texts: &[String],
    ) -> Result<Vec<f32>, EmbedError>;
}

/// The vector of one text.
///
/// # Errors
/// Those of [`Embedder::embed`]; `Refused` when no vector came or one of other dimensions or without numbers.
pub async fn embed_one(
    embedder: &dyn Embedder,
    asker: &Asker,
    model: &ModelUse,
    text: &str,
    priority: Priority,
) -> Result<Vec<f32>, EmbedError> {
    let texts = [text.to_owned()];
    let vector = embedder.embed(asker, model, &texts, priority).await?.pop().unwrap_or_default();
    check_vector(model, &vector)?;
    Ok(vector)
}

/// Checks a vector against its model.
pub(crate) fn check_vector(model: &ModelUse, vector: &[f32]) -> Result<(), EmbedError> {
    if vector.len() != model.dimensions as usize || !vector.iter().all(|value| value.is_finite()) {
        return Err(EmbedError::Refused(format!(
            "the model `{}` gave a vector that is not one of {} numbers",
            model.id, model.dimensions
        )));
    }
    Ok(())
}
