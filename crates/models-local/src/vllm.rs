//! vLLM: `/v1/models`, and its sleep (`/sleep`, `/wake_up`, `/is_sleeping`), which it has only when it was started with
//! `--enable-sleep-mode` and `VLLM_SERVER_DEV_MODE=1`.

use serde_json::Value;

use crate::reply::{Call, LocalError, Reply, cannot, json_at, objects, optional_at, size, text};
use crate::{Keep, LocalModel, Residence, Residency, Wish};

/// Name for people.
pub(crate) const NAME: &str = "vLLM";

pub(crate) fn list() -> Vec<Call> {
    vec![Call::get("/v1/models"), Call::get("/is_sleeping").if_there()]
}

pub(crate) fn listed(replies: &[Reply<'_>]) -> Result<Vec<LocalModel>, LocalError> {
    let told = json_at(replies, 0)?;
    let sleeps = optional_at(replies, 1)?.and_then(|told| told.get("is_sleeping").and_then(Value::as_bool));
    let residence = sleeps.map(|sleeps| Residence {
        state: if sleeps { Residency::Unloaded } else { Residency::Loaded },
        ..Residence::default()
    });
    let model = |item: &Value| {
        Some(LocalModel {
            id: text(item, "id")?,
            context_length: size(item, "max_model_len"),
            // What it was started with; an adapter's parent is its own model, and no revision.
            family: text(item, "root").filter(|root| Some(root) != text(item, "id").as_ref()),
            residence: residence.clone(),
            ..LocalModel::default()
        })
    };
    Ok(objects(&told, "data")?.into_iter().filter_map(model).collect())
}

pub(crate) fn load(wish: Wish) -> Result<Call, LocalError> {
    match (wish.keep, wish.context_length) {
        (Keep::IdleSeconds(_), _) => Err(cannot(NAME, "keep a model for a time that a caller names")),
        (_, Some(_)) => Err(cannot(NAME, "take a context length from a caller")),
        (Keep::Pinned | Keep::AsSetUp, None) => Ok(Call::post("/wake_up", None)),
    }
}

/// Level 1 keeps the weights in the memory of the processor, from where the same model wakes in a moment.
pub(crate) fn unload() -> Call {
    Call::post("/sleep?level=1", None)
}
