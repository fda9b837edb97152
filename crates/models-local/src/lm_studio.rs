//! LM Studio: `/api/v1/models` with its instances, and `/api/v0/models` of versions before 0.4, which tell no instance and
//! load by asking.

use serde_json::{Value, json};

use crate::reply::{Call, LocalError, Reply, cannot, objects, optional_at, size, text};
use crate::{Features, Keep, LocalModel, Residence, Residency, Wish};

/// Name for people.
pub(crate) const NAME: &str = "LM Studio";

pub(crate) fn list() -> Vec<Call> {
    vec![Call::get("/api/v1/models").if_there(), Call::get("/api/v0/models").if_there()]
}

pub(crate) fn listed(replies: &[Reply<'_>]) -> Result<Vec<LocalModel>, LocalError> {
    if let Some(told) = optional_at(replies, 0)?.filter(|told| told.get("models").is_some()) {
        return Ok(objects(&told, "models")?.into_iter().filter_map(model).collect());
    }
    let told = optional_at(replies, 1)?.ok_or(LocalError::Malformed("it has no list of models"))?;
    Ok(objects(&told, "data")?.into_iter().filter_map(earlier).collect())
}

fn model(item: &Value) -> Option<LocalModel> {
    let can = item.get("capabilities").unwrap_or(&Value::Null);
    let kind = text(item, "type").unwrap_or_default();
    let told = |member: &str| can.get(member).and_then(Value::as_bool);
    Some(LocalModel {
        id: text(item, "key")?,
        bytes: size(item, "size_bytes"),
        context_length: size(item, "max_context_length"),
        family: text(item, "architecture"),
        parameters: text(item, "params_string"),
        quantization: item.get("quantization").and_then(|form| text(form, "name")),
        features: Some(Features {
            chat: kind != "embedding",
            embeddings: kind == "embedding",
            // Tools are taken for models that were not trained for them, too.
            tools: told("trained_for_tool_use").filter(|trained| *trained),
            vision: told("vision"),
            reasoning: can.get("reasoning").is_some_and(Value::is_object),
            rerank: false,
        }),
        residence: Some(
            item.get("loaded_instances").and_then(Value::as_array).and_then(|all| all.first()).map_or_else(
                Residence::default,
                |instance| Residence {
                    state: Residency::Loaded,
                    context_length: instance.get("config").and_then(|config| size(config, "context_length")),
                    instance: text(instance, "id").or_else(|| text(instance, "identifier")),
                    ..Residence::default()
                },
            ),
        ),
        ..LocalModel::default()
    })
}

fn earlier(item: &Value) -> Option<LocalModel> {
    let kind = text(item, "type").unwrap_or_default();
    let state = match item.get("state").and_then(Value::as_str) {
        Some("loaded") => Residency::Loaded,
        Some("loading") => Residency::Loading,
        None | Some(_) => Residency::Unloaded,
    };
    let context_length = size(item, "loaded_context_length");
    Some(LocalModel {
        id: text(item, "id")?,
        context_length: size(item, "max_context_length"),
        family: text(item, "arch"),
        quantization: text(item, "quantization"),
        features: Some(Features {
            chat: kind != "embeddings",
            embeddings: kind == "embeddings",
            vision: Some(kind == "vlm"),
            tools: crate::reply::has(item, "capabilities", "tool_use").then_some(true),
            ..Features::default()
        }),
        residence: Some(Residence { state, context_length, ..Residence::default() }),
        ..LocalModel::default()
    })
}

/// Call of its own for loading: it keeps a model until it is put away; a time is taken only with the first call that loads it (`ttl`).
pub(crate) fn load(model: &str, wish: Wish) -> Result<Call, LocalError> {
    match wish.keep {
        Keep::IdleSeconds(_) => Err(cannot(NAME, "keep a model for a time that a caller names")),
        Keep::Pinned | Keep::AsSetUp => {
            let mut body = json!({ "model": model });
            if let Some(members) = body.as_object_mut() {
                members
                    .extend(wish.context_length.map(|length| ("context_length".to_owned(), json!(length))));
            }
            Ok(Call::post("/api/v1/models/load", Some(body)))
        }
    }
}

pub(crate) fn unload(model: &str, residence: Option<&Residence>) -> Call {
    let instance = residence.and_then(|residence| residence.instance.as_deref()).unwrap_or(model);
    Call::post("/api/v1/models/unload", Some(json!({ "instance_id": instance })))
}
