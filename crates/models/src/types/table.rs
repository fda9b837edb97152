//! The table of types.

use heddle_models_wire::Family;

use super::{KeyNeed, Provider, ProviderKind, Residency};
use crate::records::Capability;

const HOSTED: &[Capability] = &[
    Capability::Chat,
    Capability::Embeddings,
    Capability::JsonSchema,
    Capability::Stream,
    Capability::Tools,
    Capability::Vision,
];
const CHAT_ALONE: &[Capability] =
    &[Capability::Chat, Capability::JsonSchema, Capability::Stream, Capability::Tools, Capability::Vision];
const RANKING: &[Capability] = &[
    Capability::Chat,
    Capability::Embeddings,
    Capability::JsonSchema,
    Capability::Rerank,
    Capability::Stream,
    Capability::Tools,
    Capability::Vision,
];

/// A hosted service that speaks OpenAI's wire, has one address and asks for a key.
const fn hosted(
    kind: ProviderKind,
    display_name: &'static str,
    description: &'static str,
    url: &'static str,
) -> Provider {
    Provider {
        kind,
        display_name,
        description,
        family: Some(Family::OpenAi),
        capabilities: HOSTED,
        discovers: true,
        residency: None,
        tells_revision: false,
        default_base_url: Some(url),
        key: KeyNeed::Required,
        takes_api_version: false,
        is_local: false,
    }
}

/// A runtime on the organisation's own machines that speaks OpenAI's wire.
const fn runtime(
    kind: ProviderKind,
    display_name: &'static str,
    description: &'static str,
    url: &'static str,
) -> Provider {
    Provider {
        capabilities: RANKING,
        key: KeyNeed::Optional,
        is_local: true,
        ..hosted(kind, display_name, description, url)
    }
}

const OPENAI: Provider = hosted(
    ProviderKind::Openai,
    "OpenAI",
    "OpenAI's models by their interface of chat completions.",
    "https://api.openai.com/v1",
);

const AZURE: Provider = Provider {
    family: Some(Family::AzureOpenAi),
    default_base_url: None,
    takes_api_version: true,
    ..hosted(
        ProviderKind::AzureOpenai,
        "Azure OpenAI",
        "OpenAI's models on Azure: `https://NAME.openai.azure.com`, with deployments as models.",
        "",
    )
};

const ANTHROPIC: Provider = Provider {
    family: Some(Family::Anthropic),
    capabilities: CHAT_ALONE,
    takes_api_version: false,
    ..hosted(
        ProviderKind::Anthropic,
        "Anthropic",
        "Anthropic's models by their interface of messages.",
        "https://api.anthropic.com",
    )
};

const GEMINI: Provider = Provider {
    family: Some(Family::Gemini),
    ..hosted(
        ProviderKind::Gemini,
        "Google Gemini",
        "Google's models by a key of AI Studio.",
        "https://generativelanguage.googleapis.com",
    )
};

const OLLAMA: Provider = Provider {
    family: Some(Family::Ollama),
    capabilities: HOSTED,
    residency: Some(Residency::Ollama),
    tells_revision: true,
    ..runtime(
        ProviderKind::Ollama,
        "Ollama",
        "Models of an Ollama server, by its own interface.",
        "http://127.0.0.1:11434",
    )
};

const LLAMA_CPP: Provider = Provider {
    residency: Some(Residency::LlamaCpp),
    ..runtime(
        ProviderKind::LlamaCpp,
        "llama.cpp",
        "The server of llama.cpp, alone or as a router of models.",
        "http://127.0.0.1:8080/v1",
    )
};

const LM_STUDIO: Provider = Provider {
    residency: Some(Residency::LmStudio),
    ..runtime(
        ProviderKind::LmStudio,
        "LM Studio",
        "Models of LM Studio's local server.",
        "http://127.0.0.1:1234/v1",
    )
};

const VLLM: Provider = Provider {
    residency: Some(Residency::Vllm),
    ..runtime(ProviderKind::Vllm, "vLLM", "A vLLM server.", "http://127.0.0.1:8000/v1")
};

const LOCALAI: Provider =
    runtime(ProviderKind::Localai, "LocalAI", "A LocalAI server.", "http://127.0.0.1:8080/v1");

const TEI: Provider = Provider {
    capabilities: &[Capability::Embeddings, Capability::Rerank],
    tells_revision: true,
    ..runtime(
        ProviderKind::HuggingfaceTei,
        "Text Embeddings Inference",
        "A server of Hugging Face for embeddings and reranking.",
        "http://127.0.0.1:3000/v1",
    )
};

const LITELLM: Provider = Provider {
    is_local: false,
    ..runtime(ProviderKind::Litellm, "LiteLLM", "A LiteLLM proxy.", "http://127.0.0.1:4000/v1")
};

const CUSTOM: Provider = Provider {
    capabilities: RANKING,
    default_base_url: None,
    key: KeyNeed::Optional,
    ..hosted(
        ProviderKind::Custom,
        "OpenAI-compatible",
        "Any service that speaks OpenAI's wire, at an address with its version (`https://host/v1`).",
        "",
    )
};

const LOCAL: Provider = Provider {
    kind: ProviderKind::Local,
    display_name: "Built in",
    description: "Models inside this service: no key, no network.",
    family: None,
    capabilities: &[Capability::Chat, Capability::Embeddings, Capability::Stream],
    discovers: true,
    residency: None,
    tells_revision: true,
    default_base_url: None,
    key: KeyNeed::None,
    takes_api_version: false,
    is_local: true,
};

const DEEPSEEK: Provider = Provider {
    capabilities: CHAT_ALONE,
    ..hosted(ProviderKind::Deepseek, "DeepSeek", "DeepSeek's models.", "https://api.deepseek.com/v1")
};
const FIREWORKS: Provider = hosted(
    ProviderKind::Fireworks,
    "Fireworks",
    "Open models that Fireworks hosts.",
    "https://api.fireworks.ai/inference/v1",
);
const GROQ: Provider = Provider {
    capabilities: CHAT_ALONE,
    ..hosted(ProviderKind::Groq, "Groq", "Open models that Groq hosts.", "https://api.groq.com/openai/v1")
};
const MISTRAL: Provider =
    hosted(ProviderKind::Mistral, "Mistral", "Mistral's models.", "https://api.mistral.ai/v1");
const OPENROUTER: Provider = Provider {
    capabilities: CHAT_ALONE,
    ..hosted(
        ProviderKind::Openrouter,
        "OpenRouter",
        "Models of many providers by one key.",
        "https://openrouter.ai/api/v1",
    )
};
const TOGETHER: Provider = hosted(
    ProviderKind::Together,
    "Together",
    "Open models that Together hosts.",
    "https://api.together.xyz/v1",
);
const XAI: Provider =
    Provider { capabilities: CHAT_ALONE, ..hosted(ProviderKind::Xai, "xAI", "Grok.", "https://api.x.ai/v1") };

/// The row of a type.
pub(super) const fn of(kind: ProviderKind) -> &'static Provider {
    match kind {
        ProviderKind::Anthropic => &ANTHROPIC,
        ProviderKind::AzureOpenai => &AZURE,
        ProviderKind::Custom => &CUSTOM,
        ProviderKind::Deepseek => &DEEPSEEK,
        ProviderKind::Fireworks => &FIREWORKS,
        ProviderKind::Gemini => &GEMINI,
        ProviderKind::Groq => &GROQ,
        ProviderKind::HuggingfaceTei => &TEI,
        ProviderKind::Litellm => &LITELLM,
        ProviderKind::LlamaCpp => &LLAMA_CPP,
        ProviderKind::LmStudio => &LM_STUDIO,
        ProviderKind::Local => &LOCAL,
        ProviderKind::Localai => &LOCALAI,
        ProviderKind::Mistral => &MISTRAL,
        ProviderKind::Ollama => &OLLAMA,
        ProviderKind::Openai => &OPENAI,
        ProviderKind::Openrouter => &OPENROUTER,
        ProviderKind::Together => &TOGETHER,
        ProviderKind::Vllm => &VLLM,
        ProviderKind::Xai => &XAI,
    }
}

#[cfg(test)]
mod tests {
    use heddle_models_local::Runtime;

    use super::*;

    #[test]
    fn a_type_promises_what_its_runtime_tells_and_takes() {
        for kind in ProviderKind::ALL {
            let Some(runtime) = Runtime::of_type(kind.as_str()) else { continue };
            let row = kind.provider();
            assert_eq!(row.tells_revision, runtime.has_revisions(), "{kind}");
            assert_eq!(row.residency.is_some(), runtime.has_residency(), "{kind}");
        }
        let told = |kind: ProviderKind| (kind.provider().tells_revision, kind.provider().residency.is_some());
        assert_eq!(
            told(ProviderKind::LlamaCpp),
            (false, true),
            "neither a date nor a digest of its file is told"
        );
        assert_eq!(told(ProviderKind::Local), (true, false), "nobody loads a model inside the service");
    }

    #[test]
    fn each_kind_has_its_own_row_and_an_address_that_can_be_used() {
        for kind in ProviderKind::ALL {
            let row = kind.provider();
            assert_eq!(row.kind, *kind);
            if let Some(url) = row.default_base_url {
                let url = url::Url::parse(url).unwrap();
                assert!(!url.path().ends_with('/') || url.path() == "/", "{kind}");
            }
            // Whoever has no preset address is asked for one, or has none at all.
            let asks = row.default_base_url.is_none() && row.family.is_some();
            assert_eq!(asks, matches!(kind, ProviderKind::AzureOpenai | ProviderKind::Custom), "{kind}");
        }
    }
}
