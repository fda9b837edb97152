//! Families of wires, and the deployment at which a call is aimed.

use std::fmt;

/// A family: how requests are written, answers are read, and keys are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// Chat completions as OpenAI has them, which most providers and local runtimes speak.
    OpenAi,
    /// The same, at the addresses and with the key header of Azure.
    AzureOpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's own `/api`.
    Ollama,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 5] = [Self::OpenAi, Self::AzureOpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The literal in stored rows and answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai-compatible",
            Self::AzureOpenAi => "azure-openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The family of a literal, in this spelling alone.
    #[must_use]
    pub fn parse(literal: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.as_str() == literal)
    }

    /// The header that carries the key. The value is `scheme`, when there is one, a blank, and the key.
    #[must_use]
    pub const fn key_header(self) -> KeyHeader {
        match self {
            Self::OpenAi | Self::Ollama => KeyHeader { name: "authorization", scheme: Some("Bearer") },
            Self::AzureOpenAi => KeyHeader { name: "api-key", scheme: None },
            Self::Anthropic => KeyHeader { name: "x-api-key", scheme: None },
            Self::Gemini => KeyHeader { name: "x-goog-api-key", scheme: None },
        }
    }

    /// Inputs that one embedding request may carry, by the strictest provider of the family that says so (OpenAI 2,048,
    /// Gemini 100); Ollama names no bound. A deployment may have a lower one.
    #[must_use]
    pub const fn embedding_batch(self) -> usize {
        match self {
            Self::OpenAi | Self::AzureOpenAi => 2048,
            Self::Gemini => 100,
            Self::Ollama => 512,
            Self::Anthropic => 1,
        }
    }

    /// Tells whether requests and answers are in OpenAI's words, so that they pass as they are.
    #[must_use]
    pub const fn is_openai(self) -> bool {
        match self {
            Self::OpenAi | Self::AzureOpenAi => true,
            Self::Anthropic | Self::Gemini | Self::Ollama => false,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The header of a family's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHeader {
    /// Name, in lower case.
    pub name: &'static str,
    /// Word before the key, such as `Bearer`.
    pub scheme: Option<&'static str>,
}

/// The way of saying a JSON schema for the answer where a family has two (Anthropic).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SchemaBy {
    /// The wire's own member: `output_config.format`.
    #[default]
    Native,
    /// A tool that the model has to call, whose arguments become the answer: for models and runtimes without the member.
    Tool,
}

/// The deployment at which a call is aimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Family.
    pub family: Family,
    /// Name of the model as the provider knows it.
    pub model: String,
    /// Azure: the `api-version` of the addresses by deployment; none for the addresses under `/openai/v1`.
    pub azure_api_version: Option<String>,
    /// Way of a JSON schema.
    pub schema: SchemaBy,
    /// Whether an OpenAI-compatible provider takes `stream_options.include_usage`; most do, some refuse it.
    pub stream_usage: bool,
    /// Tokens of an answer when the request has no bound, where the wire demands one (Anthropic).
    pub max_tokens: u64,
    /// Seconds for which the model stays in memory behind a call that says nothing of it, -1 for good; none: as the runtime is
    /// set up (Ollama).
    pub keep_alive: Option<i64>,
    /// Tokens of context with which the model is read for a call that says nothing of it; none: as the runtime is set up
    /// (Ollama).
    pub context_length: Option<u32>,
}

impl Target {
    /// Tokens of an answer when neither the request nor the deployment says otherwise and the wire demands a bound.
    pub const MAX_TOKENS: u64 = 4096;

    /// A target with the family's usual ways.
    #[must_use]
    pub fn new(family: Family, model: impl Into<String>) -> Self {
        Self {
            family,
            model: model.into(),
            azure_api_version: None,
            schema: SchemaBy::Native,
            stream_usage: true,
            max_tokens: Self::MAX_TOKENS,
            keep_alive: None,
            context_length: None,
        }
    }
}
