//! Types of providers.

use heddle_kernel::literals;

literals! {
    /// Type of a provider.
    pub enum ProviderKind {
        /// Anthropic.
        Anthropic = "anthropic",
        /// OpenAI's models on Azure.
        AzureOpenai = "azure-openai",
        /// Another service that speaks OpenAI's wire.
        Custom = "custom",
        /// DeepSeek.
        Deepseek = "deepseek",
        /// Fireworks.
        Fireworks = "fireworks",
        /// Google's Gemini, by a key of AI Studio.
        Gemini = "gemini",
        /// Groq.
        Groq = "groq",
        /// Text Embeddings Inference.
        HuggingfaceTei = "huggingface-tei",
        /// The LiteLLM proxy.
        Litellm = "litellm",
        /// The server of llama.cpp.
        LlamaCpp = "llama-cpp",
        /// LM Studio.
        LmStudio = "lm-studio",
        /// Models inside this service.
        Local = "local",
        /// `LocalAI`.
        Localai = "localai",
        /// Mistral.
        Mistral = "mistral",
        /// Ollama.
        Ollama = "ollama",
        /// OpenAI.
        Openai = "openai",
        /// `OpenRouter`.
        Openrouter = "openrouter",
        /// Together.
        Together = "together",
        /// vLLM.
        Vllm = "vllm",
        /// xAI.
        Xai = "xai",
    }
}
