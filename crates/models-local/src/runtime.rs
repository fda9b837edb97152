//! Runtimes: one face for all of them.

use crate::reply::{Call, LocalError, Reply, cannot, done};
use crate::{
    ContextWish, Keep, LocalModel, Residence, Residency, Wish, Wishes, llama_cpp, lm_studio, ollama, tei,
    vllm,
};

/// Server of local models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    /// Ollama.
    Ollama,
    /// llama.cpp's server, with one model or as a router of many.
    LlamaCpp,
    /// LM Studio.
    LmStudio,
    /// vLLM.
    Vllm,
    /// Hugging Face's text-embeddings-inference.
    Tei,
}

/// The address of a runtime's own calls: that of a connection without the part of OpenAI's compatible ones.
#[must_use]
pub fn root(base_url: &str) -> &str {
    let base = base_url.trim_end_matches('/');
    let bare = ["/api/v0", "/api/v1", "/v1", "/api"].iter().find_map(|end| base.strip_suffix(end));
    bare.unwrap_or(base).trim_end_matches('/')
}

/// Whether a loaded model has another context than is wished.
fn is_otherwise(there: &Residence, wish: Wish) -> bool {
    wish.context_length.is_some_and(|wished| there.context_length.is_some_and(|has| has != wished))
}

impl Runtime {
    /// The runtime of a provider's type; none for types that are no local runtime.
    #[must_use]
    pub fn of_type(provider_type: &str) -> Option<Self> {
        match provider_type {
            "ollama" => Some(Self::Ollama),
            "llama-cpp" => Some(Self::LlamaCpp),
            "lm-studio" => Some(Self::LmStudio),
            "vllm" => Some(Self::Vllm),
            "huggingface-tei" => Some(Self::Tei),
            _other => None,
        }
    }

    /// Name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LlamaCpp => llama_cpp::NAME,
            Self::LmStudio => lm_studio::NAME,
            Self::Vllm => vllm::NAME,
            Self::Tei => "text-embeddings-inference",
        }
    }

    /// Whether callers may load models and put them away.
    #[must_use]
    pub const fn has_residency(self) -> bool {
        !matches!(self, Self::Tei)
    }

    /// Parts of a wish for a model in memory that it can be told.
    #[must_use]
    pub const fn wishes(self) -> Wishes {
        match self {
            Self::Ollama => Wishes { idle: true, context: ContextWish::Always, bytes: true },
            Self::LmStudio => Wishes { idle: false, context: ContextWish::WhenHeld, bytes: true },
            Self::LlamaCpp | Self::Vllm | Self::Tei => {
                Wishes { idle: false, context: ContextWish::Never, bytes: false }
            }
        }
    }

    /// Whether it tells a digest or a commit of its models.
    #[must_use]
    pub const fn has_revisions(self) -> bool {
        matches!(self, Self::Ollama | Self::Tei)
    }

    /// Calls whose replies [`Self::listed`] reads.
    #[must_use]
    pub fn list(self) -> Vec<Call> {
        match self {
            Self::Ollama => ollama::list(),
            Self::LlamaCpp => llama_cpp::list(),
            Self::LmStudio => lm_studio::list(),
            Self::Vllm => vllm::list(),
            Self::Tei => tei::list(),
        }
    }

    /// The models of a runtime, in its order, each with its residence where it is told.
    ///
    /// # Errors
    /// When a reply is a refusal, is absent, or cannot be read.
    pub fn listed(self, replies: &[Reply<'_>]) -> Result<Vec<LocalModel>, LocalError> {
        match self {
            Self::Ollama => ollama::listed(replies),
            Self::LlamaCpp => llama_cpp::listed(replies),
            Self::LmStudio => lm_studio::listed(replies),
            Self::Vllm => vllm::listed(replies),
            Self::Tei => tei::listed(replies),
        }
    }

    /// Call that tells more of one model than the list does: its abilities, context and vectors. None where nothing does.
    #[must_use]
    pub fn describe(self, model: &str) -> Option<Call> {
        match self {
            Self::Ollama => Some(ollama::describe(model)),
            Self::LlamaCpp | Self::LmStudio | Self::Vllm | Self::Tei => None,
        }
    }

    /// Adds what [`Self::describe`] told.
    ///
    /// # Errors
    /// When the reply is a refusal or cannot be read.
    pub fn described(self, model: &mut LocalModel, reply: &Reply<'_>) -> Result<(), LocalError> {
        match self {
            Self::Ollama => ollama::described(model, reply),
            Self::LlamaCpp | Self::LmStudio | Self::Vllm | Self::Tei => Ok(()),
        }
    }

    /// Calls that bring a model into memory, or see to it that one that is there is as it was wished; none where it is. Some
    /// runtimes answer when it is there, others at once: who wants to know asks for its residence until it is
    /// [`Loaded`](crate::Residency::Loaded).
    ///
    /// # Errors
    /// When the runtime leaves no choice to its callers, or cannot keep for that long.
    pub fn load(
        self,
        model: &str,
        residence: Option<&Residence>,
        wish: Wish,
    ) -> Result<Vec<Call>, LocalError> {
        let present = residence.filter(|residence| residence.state == Residency::Loaded);
        let load = match self {
            Self::Ollama => return Ok(vec![ollama::load(model, wish)]),
            Self::LlamaCpp => llama_cpp::load(model, wish)?,
            Self::LmStudio => lm_studio::load(model, wish)?,
            Self::Vllm => vllm::load(wish)?,
            Self::Tei => return Err(cannot(self.name(), "load models")),
        };
        Ok(match present {
            None => vec![load],
            // Loaded twice it would be there twice.
            Some(there) if is_otherwise(there, wish) => vec![self.unload(model, residence)?, load],
            Some(_as_wished) => Vec::new(),
        })
    }

    /// Call that leaves a model to the runtime again, which reads it when it is called and lets it go after the wished time,
    /// or its own; none where nothing has to be said. `was_pinned`: it was held until now.
    ///
    /// # Errors
    /// When the runtime leaves no choice to its callers.
    pub fn leave(
        self,
        model: &str,
        residence: Option<&Residence>,
        wish: Wish,
        was_pinned: bool,
    ) -> Result<Option<Call>, LocalError> {
        let is_loaded = residence.is_some_and(|residence| residence.state == Residency::Loaded);
        match self {
            // The time that was told last holds until another is told: there is no word for the usual one.
            Self::Ollama => Ok(is_loaded.then(|| {
                let keep = match wish.keep {
                    Keep::AsSetUp => Keep::IdleSeconds(ollama::USUAL),
                    Keep::Pinned | Keep::IdleSeconds(_) => wish.keep,
                };
                ollama::load(model, Wish { keep, ..wish })
            })),
            // One that was loaded by a call for that has no time at all; the next call reads it with the usual one.
            Self::LmStudio if is_loaded && was_pinned => self.unload(model, residence).map(Some),
            // No call wakes it.
            Self::Vllm if residence.is_some() && !is_loaded => vllm::load(wish).map(Some),
            Self::LmStudio | Self::LlamaCpp | Self::Vllm | Self::Tei => Ok(None),
        }
    }

    /// Call that puts a model away; its residence names the instance where the runtime has some.
    ///
    /// # Errors
    /// When the runtime leaves no choice to its callers.
    pub fn unload(self, model: &str, residence: Option<&Residence>) -> Result<Call, LocalError> {
        match self {
            Self::Ollama => Ok(ollama::unload(model)),
            Self::LlamaCpp => Ok(llama_cpp::unload(model)),
            Self::LmStudio => Ok(lm_studio::unload(model, residence)),
            Self::Vllm => Ok(vllm::unload()),
            Self::Tei => Err(cannot(self.name(), "put models away")),
        }
    }

    /// Reads the reply to [`Self::load`] or [`Self::unload`].
    ///
    /// # Errors
    /// When the runtime refused, or does not know the model.
    pub fn done(self, reply: &Reply<'_>) -> Result<(), LocalError> {
        match self {
            // A model that is loaded already, or away already, is as it was wished.
            Self::LlamaCpp => llama_cpp::done(reply),
            Self::Ollama | Self::LmStudio | Self::Vllm | Self::Tei => done(reply),
        }
    }
}
