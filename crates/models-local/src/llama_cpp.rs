//! llama.cpp's server: `/models` of its router, `/v1/models` and `/props` of a server with one model, `/models/load` and
//! `/models/unload`.

use serde_json::{Value, json};

use crate::reply::{Call, LocalError, Reply, cannot, has, number, objects, optional_at, short, size, text};
use crate::{Features, Keep, LocalModel, Residence, Residency, Wish, reply};

/// Name for people.
pub(crate) const NAME: &str = "llama.cpp";

pub(crate) fn list() -> Vec<Call> {
    vec![Call::get("/models").if_there(), Call::get("/v1/models").if_there(), Call::get("/props").if_there()]
}

pub(crate) fn listed(replies: &[Reply<'_>]) -> Result<Vec<LocalModel>, LocalError> {
    let (router, plain, props) =
        (optional_at(replies, 0)?, optional_at(replies, 1)?, optional_at(replies, 2));
    let told = router.as_ref().filter(|told| told.get("data").is_some()).or(plain.as_ref());
    let told = told.ok_or(LocalError::Malformed("it has no list of models"))?;
    // A router without a model in memory answers `/props` with an error, and the list tells all that is needed.
    let props =
        props.ok().flatten().filter(|props| props.get("role").and_then(Value::as_str) != Some("router"));
    let vision = props.as_ref().and_then(|props| props.get("modalities")?.get("vision")?.as_bool());
    let loaded_context =
        props.as_ref().and_then(|props| size(props.get("default_generation_settings")?, "n_ctx"));
    let only = objects(told, "data")?.len() == 1;
    let models = objects(told, "data")?.into_iter().filter_map(|item| {
        let mut model = model(item)?;
        if only && let Some(residence) = &mut model.residence {
            residence.context_length = residence.context_length.or(loaded_context);
        }
        if let (true, Some(vision), Some(features)) = (only, vision, &mut model.features) {
            features.vision = Some(vision);
        }
        Some(model)
    });
    Ok(models.collect())
}

fn model(item: &Value) -> Option<LocalModel> {
    let meta = item.get("meta").unwrap_or(&Value::Null);
    let status = item.get("status").unwrap_or(&Value::Null);
    let words = status.get("args").and_then(Value::as_array);
    let arguments: Vec<&str> = words.into_iter().flatten().filter_map(Value::as_str).collect();
    let given = |names: &[&str]| {
        let at = arguments.iter().position(|argument| names.contains(argument))?;
        arguments.get(at + 1)?.parse::<u64>().ok().filter(|number| *number > 0)
    };
    let flagged = |names: &[&str]| arguments.iter().any(|argument| names.contains(argument));
    let (embeddings, rerank) =
        (flagged(&["--embedding", "--embeddings"]), flagged(&["--reranking", "--rerank"]));
    let told_abilities = !arguments.is_empty() || item.get("architecture").is_some();
    let features = Features {
        chat: !embeddings && !rerank,
        embeddings,
        rerank,
        vision: if flagged(&["--mmproj"]) {
            Some(true)
        } else {
            // A model that was fetched brings its projector along, and no argument names that.
            item.get("architecture").map(|told| has(told, "input_modalities", "image"))
        },
        ..Features::default()
    };
    Some(LocalModel {
        id: text(item, "id")?,
        bytes: size(meta, "size"),
        context_length: size(meta, "n_ctx_train"),
        dimensions: size(meta, "n_embd").filter(|_| embeddings),
        parameters: number(meta, "n_params").map(|count| count.to_string()),
        quantization: text(meta, "ftype"),
        features: told_abilities.then_some(features),
        residence: Some(Residence {
            context_length: size(meta, "n_ctx").or_else(|| given(&["--ctx-size", "-c"])),
            ..residence(status)
        }),
        ..LocalModel::default()
    })
}

/// A server without a router has its only model in memory and tells no status.
fn residence(status: &Value) -> Residence {
    let word = status.get("value").and_then(Value::as_str).or_else(|| status.as_str());
    let state = match word {
        None | Some("loaded" | "sleeping") => Residency::Loaded,
        Some("loading") => Residency::Loading,
        Some(_unloaded_or_failed) => Residency::Unloaded,
    };
    let failed = status.get("failed").and_then(Value::as_bool) == Some(true) || word == Some("failed");
    let failure = failed.then(|| {
        let code = status.get("exit_code").and_then(Value::as_i64);
        short(&code.map_or_else(
            || "it ended while it was loaded".to_owned(),
            |code| format!("it ended with code {code}"),
        ))
    });
    Residence { state, failure, ..Residence::default() }
}

/// The router keeps models until another takes their place (`--models-max`): there is no time to ask for.
pub(crate) fn load(model: &str, wish: Wish) -> Result<Call, LocalError> {
    match (wish.keep, wish.context_length) {
        (Keep::IdleSeconds(_), _) => Err(cannot(NAME, "keep a model for a time that a caller names")),
        (_, Some(_)) => Err(cannot(NAME, "take a context length from a caller")),
        (Keep::Pinned | Keep::AsSetUp, None) => {
            Ok(Call::post("/models/load", Some(json!({ "model": model }))))
        }
    }
}

pub(crate) fn unload(model: &str) -> Call {
    Call::post("/models/unload", Some(json!({ "model": model })))
}

pub(crate) fn done(reply: &Reply<'_>) -> Result<(), LocalError> {
    match reply::done(reply) {
        Err(LocalError::Refused { status: 400, message })
            if ["already loaded", "already running", "not loaded", "not running"]
                .iter()
                .any(|words| message.contains(words)) =>
        {
            Ok(())
        }
        other => other,
    }
}
