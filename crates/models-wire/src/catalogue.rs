//! Models that providers offer, by the lists of their wires.
//!
//! Sources: the references of `/v1/models` (OpenAI, Anthropic, llama.cpp, vLLM, LM Studio, Together), `models.list`
//! (Gemini) and `/api/tags` (Ollama).

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::{AnswerFault, WireError};
use crate::family::Family;
use crate::refusal;
use crate::spoken::json;
use crate::upstream::{Header, UpstreamRequest};

/// Models that one provider may list.
const MOST_MODELS: usize = 5_000;

/// Pages that one list may have.
const MOST_PAGES: usize = 50;

/// A model as a provider lists it. What a provider does not tell is none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListedModel {
    /// Name by which it is called.
    pub model: String,
    /// Name for people.
    pub display_name: Option<String>,
    /// Whether it chats.
    pub chats: Option<bool>,
    /// Whether it makes embeddings.
    pub embeds: Option<bool>,
    /// Whether it sees pictures.
    pub sees: Option<bool>,
    /// Whether it calls tools.
    pub calls_tools: Option<bool>,
    /// Tokens of its context.
    pub context_length: Option<u64>,
    /// Digest or revision.
    pub revision: Option<String>,
    /// Bytes of its weights.
    pub bytes: Option<u64>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Models.
    pub models: Vec<ListedModel>,
    /// The request of the next page; none after the last one.
    pub next: Option<UpstreamRequest>,
}

/// The request of the first page of a provider's models.
#[must_use]
pub fn list(family: Family) -> UpstreamRequest {
    page(family, None)
}

fn page(family: Family, after: Option<&str>) -> UpstreamRequest {
    let after =
        after.map(|cursor| percent_encoding::utf8_percent_encode(cursor, crate::openai::SEGMENT).to_string());
    match family {
        Family::OpenAi => UpstreamRequest::get("/models"),
        Family::AzureOpenAi => UpstreamRequest::get("/openai/v1/models"),
        Family::Anthropic => {
            let after = after.map(|cursor| format!("&after_id={cursor}")).unwrap_or_default();
            UpstreamRequest::get(format!("/v1/models?limit=1000{after}"))
                .with(Header { name: "anthropic-version", value: "2023-06-01" })
        }
        Family::Gemini => {
            let after = after.map(|cursor| format!("&pageToken={cursor}")).unwrap_or_default();
            UpstreamRequest::get(format!("/v1beta/models?pageSize=1000{after}"))
        }
        Family::Ollama => UpstreamRequest::get("/api/tags"),
    }
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    data: Option<Vec<Map<String, Value>>>,
    #[serde(default)]
    models: Option<Vec<Map<String, Value>>>,
    #[serde(default)]
    has_more: bool,
    #[serde(default)]
    last_id: Option<String>,
    #[serde(default, rename = "nextPageToken")]
    next_page_token: Option<String>,
    #[serde(default)]
    error: Option<Value>,
}

/// Reads a page. `pages` counts those read before it: after fifty there is no next one.
///
/// # Errors
/// `Answer(Malformed)`, `Answer(Oversized)` for more than 5,000 models on it, `Refused`.
pub fn read_list(family: Family, pages: usize, body: &[u8]) -> Result<Listing, WireError> {
    // Together's list is a bare one.
    let page_read: Page = match json::<Vec<Map<String, Value>>>(body) {
        Ok(data) => Page {
            data: Some(data),
            models: None,
            has_more: false,
            last_id: None,
            next_page_token: None,
            error: None,
        },
        Err(_not_bare) => json(body)?,
    };
    if let Some(error) = page_read.error {
        return Err(refusal::of_error(family, &error));
    }
    let listed = match family {
        Family::OpenAi | Family::AzureOpenAi | Family::Anthropic => page_read.data,
        Family::Gemini => Some(page_read.models.unwrap_or_default()),
        Family::Ollama => page_read.models,
    };
    let listed = listed.ok_or(AnswerFault::Malformed)?;
    if listed.len() > MOST_MODELS {
        return Err(AnswerFault::Oversized.into());
    }
    let cursor = match family {
        Family::Anthropic => page_read.last_id.filter(|_| page_read.has_more),
        Family::Gemini => page_read.next_page_token,
        Family::OpenAi | Family::AzureOpenAi | Family::Ollama => None,
    };
    let next = cursor
        .filter(|cursor| !cursor.is_empty() && pages + 1 < MOST_PAGES)
        .map(|cursor| page(family, Some(&cursor)));
    let models = listed.iter().filter_map(|model| of_model(family, model)).collect();
    Ok(Listing { models, next })
}

fn of_model(family: Family, model: &Map<String, Value>) -> Option<ListedModel> {
    let text = |name: &str| model.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let number = |name: &str| model.get(name).and_then(Value::as_u64);
    let digest = |name: &str| text(name).map(str::to_owned);
    match family {
        Family::OpenAi | Family::AzureOpenAi => {
            let meta = |name: &str| model.get("meta")?.get(name)?.as_u64();
            let kind = text("type");
            Some(ListedModel {
                model: text("id")?.to_owned(),
                display_name: text("display_name").or(text("name")).map(str::to_owned),
                chats: kind.map(|kind| matches!(kind, "chat" | "llm" | "vlm" | "language")),
                embeds: kind.map(|kind| matches!(kind, "embedding" | "embeddings")),
                sees: kind.filter(|kind| *kind == "vlm").map(|_| true),
                calls_tools: None,
                context_length: number("context_length")
                    .or_else(|| number("max_model_len"))
                    .or_else(|| number("context_window"))
                    .or_else(|| number("max_context_length"))
                    .or_else(|| meta("n_ctx_train")),
                revision: digest("revision"),
                bytes: meta("size"),
            })
        }
        Family::Anthropic => Some(ListedModel {
            model: text("id")?.to_owned(),
            display_name: text("display_name").map(str::to_owned),
            chats: Some(true),
            embeds: Some(false),
            context_length: number("max_input_tokens"),
            ..ListedModel::default()
        }),
        Family::Gemini => {
            let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
            let has =
                |method: &str| methods.map(|list| list.iter().any(|known| known.as_str() == Some(method)));
            let name = text("name")?;
            Some(ListedModel {
                model: name.strip_prefix("models/").unwrap_or(name).to_owned(),
                display_name: text("displayName").map(str::to_owned),
                chats: has("generateContent"),
                embeds: has("embedContent"),
                context_length: number("inputTokenLimit"),
                revision: digest("version"),
                ..ListedModel::default()
            })
        }
        Family::Ollama => {
            let abilities = model.get("capabilities").and_then(Value::as_array);
            let has = |ability: &str| {
                abilities.map(|list| list.iter().any(|known| known.as_str() == Some(ability)))
            };
            Some(ListedModel {
                model: text("model").or(text("name"))?.to_owned(),
                display_name: text("name").map(str::to_owned),
                chats: has("completion"),
                embeds: has("embedding"),
                sees: has("vision"),
                calls_tools: has("tools"),
                context_length: None,
                revision: digest("digest"),
                bytes: number("size"),
            })
        }
    }
}
