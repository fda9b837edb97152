//! Types of providers: the wire that each speaks, its abilities, and what a connection to it is told.

mod check;
mod schema;
mod table;

pub(crate) use check::{check_key, check_settings};

use heddle_kernel::literals;
use heddle_models_wire::Family;
use serde_json::Value;

pub use crate::records::ProviderKind;

use crate::records::Capability;

literals! {
    /// Manner in which a runtime is told which models to hold in memory.
    pub enum Residency {
        /// Ollama's `keep_alive`.
        Ollama = "ollama",
        /// The router of llama.cpp: `/models/load` and `/models/unload`.
        LlamaCpp = "llamaCpp",
        /// LM Studio's calls for loading and unloading.
        LmStudio = "lmStudio",
        /// vLLM's sleep and wake-up.
        Vllm = "vllm",
    }

    /// Need of a key.
    pub enum KeyNeed {
        /// Key that a connection must have.
        Required = "required",
        /// Key that a connection may have.
        Optional = "optional",
        /// Absence of a key.
        None = "none",
    }
}

/// A type of provider: a row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    /// The type.
    pub kind: ProviderKind,
    /// Name for people.
    pub display_name: &'static str,
    /// Sentence that tells what the type is.
    pub description: &'static str,
    /// The wire; none for models inside this service.
    pub family: Option<Family>,
    /// Abilities that models of it may have.
    pub capabilities: &'static [Capability],
    /// Whether it lists its models.
    pub discovers: bool,
    /// Manner in which residency is set; none: it can't be.
    pub residency: Option<Residency>,
    /// Whether it tells the revision or digest of a model.
    pub tells_revision: bool,
    /// Address where none is given; none: one must be.
    pub default_base_url: Option<&'static str>,
    /// Need of a key.
    pub key: KeyNeed,
    /// Whether a connection may name a version of the interface.
    pub takes_api_version: bool,
    /// Whether it runs on the organisation's own machines, so that sync-local looks at it.
    pub is_local: bool,
}

impl ProviderKind {
    /// The row of the type.
    #[must_use]
    pub const fn provider(self) -> &'static Provider {
        table::of(self)
    }
}

impl Provider {
    /// Every type that a connection may be of, in the order of their words; models inside the service are there by
    /// themselves, and their type is in the list as well.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        ProviderKind::ALL.iter().map(|kind| kind.provider())
    }

    /// Whether models of it may have an ability.
    #[must_use]
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// JSON Schema (draft 2020-12) of what a connection of the type is told, its key aside.
    #[must_use]
    pub fn config_schema(&self) -> Value {
        schema::of(self)
    }

    /// Names of the secrets of a connection of the type.
    #[must_use]
    pub const fn secret_fields(&self) -> &'static [&'static str] {
        match self.key {
            KeyNeed::Required | KeyNeed::Optional => &[SECRET],
            KeyNeed::None => &[],
        }
    }
}

/// Name of the one secret of a connection.
pub const SECRET: &str = "apiKey";
