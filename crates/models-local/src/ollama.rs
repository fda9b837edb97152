//! Ollama: `/api/tags`, `/api/ps`, `/api/show`, `/api/generate` without a prompt, which loads and puts away, and `/api/embed`
//! without an input, which loads what does not generate.

use serde_json::{Value, json};

use crate::reply::{Call, LocalError, Reply, has, json_at, objects, size, text};
use crate::{Features, Keep, LocalModel, Residence, Residency, Wish};

/// Seconds behind the last call after which Ollama lets a model go where nothing else is said (`OLLAMA_KEEP_ALIVE`).
pub(crate) const USUAL: u64 = 300;

pub(crate) fn list() -> Vec<Call> {
    vec![Call::get("/api/tags"), Call::get("/api/ps").if_there()]
}

pub(crate) fn listed(replies: &[Reply<'_>]) -> Result<Vec<LocalModel>, LocalError> {
    let tags = json_at(replies, 0)?;
    let running = crate::reply::optional_at(replies, 1)?;
    let running = running.as_ref().map(|running| objects(running, "models")).transpose()?;
    let models = objects(&tags, "models")?.into_iter().filter_map(|item| model(item, running.as_deref()));
    Ok(models.collect())
}

fn model(item: &Value, running: Option<&[&Value]>) -> Option<LocalModel> {
    let id = text(item, "model").or_else(|| text(item, "name"))?;
    let details = item.get("details").unwrap_or(&Value::Null);
    let named = |other: &&&Value| text(other, "model").or_else(|| text(other, "name")).as_ref() == Some(&id);
    let residence =
        running.map(|running| running.iter().find(named).map(|item| residence(item)).unwrap_or_default());
    Some(LocalModel {
        revision: text(item, "digest").map(|digest| digest.trim_start_matches("sha256:").to_owned()),
        bytes: size(item, "size"),
        family: text(details, "family"),
        parameters: text(details, "parameter_size"),
        quantization: text(details, "quantization_level"),
        residence,
        id,
        ..LocalModel::default()
    })
}

fn residence(item: &Value) -> Residence {
    Residence {
        state: Residency::Loaded,
        bytes: size(item, "size"),
        vram_bytes: item.get("size_vram").and_then(Value::as_u64),
        expires_at: text(item, "expires_at"),
        context_length: size(item, "context_length"),
        ..Residence::default()
    }
}

pub(crate) fn describe(model: &str) -> Call {
    Call::post("/api/show", Some(json!({ "model": model })))
}

pub(crate) fn described(model: &mut LocalModel, reply: &Reply<'_>) -> Result<(), LocalError> {
    let told = json_at(std::slice::from_ref(reply), 0)?;
    let info = told.get("model_info").unwrap_or(&Value::Null);
    let architecture = text(info, "general.architecture").unwrap_or_default();
    model.context_length = size(info, &format!("{architecture}.context_length")).or(model.context_length);
    if told.get("capabilities").is_some_and(Value::is_array) {
        let can = |word: &str| has(&told, "capabilities", word);
        model.features = Some(Features {
            chat: can("completion"),
            embeddings: can("embedding"),
            tools: Some(can("tools")),
            vision: Some(can("vision")),
            reasoning: can("thinking"),
            rerank: false,
        });
    }
    if model.features.is_some_and(|features| features.embeddings) {
        model.dimensions = size(info, &format!("{architecture}.embedding_length"));
    }
    Ok(())
}

/// An empty prompt, or an empty input, loads, and tells a model that is loaded how long it stays; `keep_alive` is seconds,
/// or -1 for ever. OpenAI's paths take no such member, and a model for embeddings does not generate.
pub(crate) fn load(model: &str, wish: Wish) -> Call {
    let (path, mut body) = if wish.embeds {
        ("/api/embed", json!({ "model": model, "input": "" }))
    } else {
        ("/api/generate", json!({ "model": model, "stream": false }))
    };
    if let Some(members) = body.as_object_mut() {
        let seconds = match wish.keep {
            Keep::Pinned => Some(json!(-1)),
            Keep::IdleSeconds(seconds) => Some(json!(seconds.max(1))),
            Keep::AsSetUp => None,
        };
        members.extend(seconds.map(|seconds| ("keep_alive".to_owned(), seconds)));
        let context = wish.context_length;
        members.extend(context.map(|length| ("options".to_owned(), json!({ "num_ctx": length }))));
    }
    Call::post(path, Some(body))
}

pub(crate) fn unload(model: &str) -> Call {
    Call::post("/api/generate", Some(json!({ "model": model, "keep_alive": 0, "stream": false })))
}
