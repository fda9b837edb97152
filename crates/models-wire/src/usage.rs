//! Tokens of a call, each counted once.

use serde::{Deserialize, Serialize};

/// Tokens of a call. `cached`, `cache_written` are parts of `input`, `reasoning` is a part of `output`, whatever the wire
/// calls a sum: OpenAI's `cached_tokens` stand within the prompt's, Anthropic's beside; Gemini's thoughts stand beside
/// the candidates'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Usage {
    /// Tokens of the prompt, all of them.
    pub input: u64,
    /// Tokens of the answer, all of them.
    pub output: u64,
    /// Tokens of the prompt that came from a cache.
    pub cached: u64,
    /// Tokens of the prompt that were written to a cache.
    pub cache_written: u64,
    /// Tokens of the answer that were thought and not said.
    pub reasoning: u64,
}

impl Usage {
    /// Prompt and answer.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The sum of two calls, such as those of the batches of one request.
    #[must_use]
    pub const fn plus(&self, other: &Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
            cache_written: self.cache_written.saturating_add(other.cache_written),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

/// Usage in OpenAI's words, in and out. Members that a provider leaves out or sets to null are zero.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct OpenAiUsage {
    #[serde(default, deserialize_with = "count")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    completion_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    total_tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's older word for cached tokens.
    #[serde(default, skip_serializing)]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct PromptDetails {
    #[serde(default, deserialize_with = "count")]
    cached_tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache_creation_tokens: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct CompletionDetails {
    #[serde(default, deserialize_with = "count")]
    reasoning_tokens: u64,
}

/// A count, with null and negative numbers as zero.
pub(crate) fn count<'de, D: serde::Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    let number = Option::<f64>::deserialize(input)?.unwrap_or(0.0);
    Ok(whole(number))
}

/// A number as a count: no less than nothing, no more than is exact.
fn whole(number: f64) -> u64 {
    if number.is_finite() { number.clamp(0.0, 9_007_199_254_740_992.0) as u64 } else { 0 }
}

impl OpenAiUsage {
    /// The tokens, once each. Providers that keep reasoning beside the completion tell so by their total.
    pub(crate) fn counted(&self) -> Usage {
        let cached = self
            .prompt_tokens_details
            .map(|details| details.cached_tokens)
            .filter(|tokens| *tokens > 0)
            .or(self.prompt_cache_hit_tokens)
            .unwrap_or(0);
        let reasoning = self.completion_tokens_details.map_or(0, |details| details.reasoning_tokens);
        let said = self.prompt_tokens.saturating_add(self.completion_tokens);
        let apart = reasoning > 0 && self.total_tokens == said.saturating_add(reasoning);
        let output =
            if apart { self.completion_tokens.saturating_add(reasoning) } else { self.completion_tokens };
        Usage {
            input: self.prompt_tokens,
            output,
            cached: cached.min(self.prompt_tokens),
            cache_written: self
                .prompt_tokens_details
                .and_then(|details| details.cache_creation_tokens)
                .unwrap_or(0)
                .min(self.prompt_tokens),
            reasoning: reasoning.min(output),
        }
    }
}

impl From<Usage> for OpenAiUsage {
    fn from(usage: Usage) -> Self {
        Self {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.total(),
            prompt_tokens_details: Some(PromptDetails {
                cached_tokens: usage.cached,
                cache_creation_tokens: Some(usage.cache_written).filter(|tokens| *tokens > 0),
            }),
            completion_tokens_details: Some(CompletionDetails { reasoning_tokens: usage.reasoning }),
            prompt_cache_hit_tokens: None,
        }
    }
}
