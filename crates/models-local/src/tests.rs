//! Tests by the shapes that runtimes answer in.

use serde_json::{Value, json};

use super::*;

fn listed(runtime: Runtime, answers: &[(u16, Value)]) -> Result<Vec<LocalModel>, LocalError> {
    let bodies: Vec<(u16, Vec<u8>)> =
        answers.iter().map(|(status, body)| (*status, body.to_string().into_bytes())).collect();
    let replies: Vec<Reply<'_>> =
        bodies.iter().map(|(status, body)| Reply { status: *status, body }).collect();
    assert_eq!(runtime.list().len(), answers.len());
    runtime.listed(&replies)
}

#[test]
fn ollama_tells_what_it_has_and_what_is_in_memory() {
    let tags = json!({"models": [
        {"name": "llama3.2:3b", "model": "llama3.2:3b", "modified_at": "2026-05-01T10:00:00.5+02:00", "size": 2_019_393_189_u64,
         "digest": "a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72",
         "details": {"parent_model": "", "format": "gguf", "family": "llama", "families": ["llama"],
                     "parameter_size": "3.2B", "quantization_level": "Q4_K_M"}},
        {"name": "nomic-embed-text:latest", "size": 274_302_450, "digest": "sha256:0a109f422b47", "details": null},
        {"size": 3}]});
    let ps = json!({"models": [{"name": "llama3.2:3b", "model": "llama3.2:3b", "size": 3_461_349_376_u64, "digest": "a80c",
        "expires_at": "2026-05-01T10:05:00.5+02:00", "size_vram": 0, "context_length": 4096}]});
    let models = listed(Runtime::Ollama, &[(200, tags.clone()), (200, ps)]).unwrap();
    let [llama, nomic] = models.as_slice() else { panic!("{models:?}") };
    assert_eq!(llama.revision.as_deref().map(str::len), Some(64));
    assert_eq!((llama.parameters.as_deref(), llama.quantization.as_deref()), (Some("3.2B"), Some("Q4_K_M")));
    let residence = llama.residence.clone().unwrap();
    assert_eq!(
        (residence.state, residence.vram_bytes, residence.context_length),
        (Residency::Loaded, Some(0), Some(4096))
    );
    assert_eq!(nomic.revision.as_deref(), Some("0a109f422b47"));
    assert_eq!(nomic.residence.clone().unwrap().state, Residency::Unloaded);
    // Without `/api/ps` nothing is known about memory.
    let models = listed(Runtime::Ollama, &[(200, tags), (404, json!("404 page not found"))]).unwrap();
    assert_eq!(models[0].residence, None);
}

#[test]
fn ollama_describes_abilities_and_vectors() {
    let show = json!({"capabilities": ["embedding"], "model_info": {"general.architecture": "nomic-bert",
        "nomic-bert.context_length": 2048, "nomic-bert.embedding_length": 768}});
    let body = show.to_string();
    let mut model = LocalModel { id: "nomic".to_owned(), ..LocalModel::default() };
    Runtime::Ollama.described(&mut model, &Reply { status: 200, body: body.as_bytes() }).unwrap();
    assert_eq!((model.context_length, model.dimensions), (Some(2048), Some(768)));
    let alone = Features { embeddings: true, tools: Some(false), vision: Some(false), ..Features::default() };
    assert_eq!(model.features, Some(alone));
    let missing = Reply { status: 404, body: br#"{"error":"model 'nomic' not found"}"# };
    assert_eq!(Runtime::Ollama.described(&mut model, &missing), Err(LocalError::UnknownModel));
}

#[test]
fn the_router_of_llama_cpp_tells_states_and_settings() {
    let models = json!({"object": "list", "data": [
        {"id": "ggml-org/gemma-3-4b-it-GGUF:Q4_K_M", "object": "model", "status": {"value": "loaded",
            "args": ["llama-server", "--ctx-size", "8192", "--mmproj", "m.gguf"]},
         "meta": {"n_ctx": 8192, "n_ctx_train": 131_072, "n_embd": 2560, "n_params": 3_880_263_168_u64, "size": 2_489_757_856_u64, "ftype": "Q4_K_M"}},
        {"id": "embed", "object": "model", "status": {"value": "unloaded", "args": ["llama-server", "--embeddings"]}},
        {"id": "big", "object": "model", "status": {"value": "loading", "args": []}},
        {"id": "broken", "object": "model", "status": {"value": "unloaded", "failed": true, "exit_code": 137}}]});
    let props = (
        400,
        json!({"error": {"code": 400, "message": "model name is missing", "type": "invalid_request_error"}}),
    );
    let found = listed(Runtime::LlamaCpp, &[(200, models.clone()), (200, models), props]).unwrap();
    let states: Vec<Residency> = found.iter().map(|model| model.residence.clone().unwrap().state).collect();
    assert_eq!(states, [Residency::Loaded, Residency::Unloaded, Residency::Loading, Residency::Unloaded]);
    let first = found[0].features.unwrap();
    assert_eq!((first.chat, first.vision), (true, Some(true)));
    // No argument and no list says whether a model calls tools.
    assert_eq!((first.tools, found[1].features.unwrap().vision), (None, None));
    assert_eq!(found[1].features.map(|features| (features.chat, features.embeddings)), Some((false, true)));
    assert_eq!(found[3].residence.clone().unwrap().failure.as_deref(), Some("it ended with code 137"));
}

#[test]
fn a_llama_cpp_without_router_has_its_model_in_memory() {
    let plain = json!({"object": "list", "data": [{"id": "smollm2", "object": "model", "created": 1, "owned_by": "llamacpp",
        "meta": {"vocab_type": 2, "n_vocab": 49152, "n_ctx_train": 8192, "n_embd": 576, "n_params": 134_515_008, "size": 90_000_000}}]});
    let props = json!({"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1, "modalities": {"vision": false}});
    let found =
        listed(Runtime::LlamaCpp, &[(404, json!({"error": {"code": 404}})), (200, plain), (200, props)])
            .unwrap();
    let residence = found[0].residence.clone().unwrap();
    assert_eq!((residence.state, residence.context_length), (Residency::Loaded, Some(4096)));
    assert_eq!(found[0].context_length, Some(8192));
}

#[test]
fn lm_studio_is_read_in_both_versions() {
    let now = json!({"models": [
        {"type": "llm", "key": "google/gemma-4-26b-a4b", "architecture": "gemma4", "quantization": {"name": "Q4_K_M"},
         "size_bytes": 17_990_911_801_u64, "params_string": "26B-A4B", "max_context_length": 262_144,
         "loaded_instances": [{"id": "gemma:2", "config": {"context_length": 4096}}],
         "capabilities": {"vision": true, "trained_for_tool_use": true, "reasoning": {"default": "on"}}},
        {"type": "embedding", "key": "nomic", "loaded_instances": [], "max_context_length": 2048}]});
    let found = listed(Runtime::LmStudio, &[(200, now), (404, Value::Null)]).unwrap();
    let residence = found[0].residence.clone();
    assert_eq!(residence.as_ref().and_then(|one| one.instance.as_deref()), Some("gemma:2"));
    let call = Runtime::LmStudio.unload(&found[0].id, residence.as_ref()).unwrap();
    assert_eq!(call.body, Some(json!({"instance_id": "gemma:2"})));
    let can = found[0].features.unwrap();
    assert_eq!((can.tools, can.vision, can.reasoning), (Some(true), Some(true), true));
    assert!(found[1].features.is_some_and(|features| features.embeddings && !features.chat));
    let before = json!({"object": "list", "data": [{"id": "qwen2-vl-7b-instruct", "object": "model", "type": "vlm",
        "arch": "qwen2_vl", "compatibility_type": "mlx", "quantization": "4bit", "state": "not-loaded", "max_context_length": 32768}]});
    let found =
        listed(Runtime::LmStudio, &[(404, json!({"error": "Unexpected endpoint"})), (200, before)]).unwrap();
    assert_eq!(found[0].residence.clone().unwrap().state, Residency::Unloaded);
    let can = found[0].features.unwrap();
    assert_eq!((can.vision, can.tools), (Some(true), None), "of tools this version tells nothing");
}

#[test]
fn vllm_sleeps_and_wakes() {
    let models = json!({"object": "list", "data": [{"id": "chat", "object": "model", "owned_by": "vllm",
        "root": "Qwen/Qwen3-8B", "parent": null, "max_model_len": 40960}]});
    for (sleeps, expected) in [
        ((200, json!({"is_sleeping": true})), Some(Residency::Unloaded)),
        ((200, json!({"is_sleeping": false})), Some(Residency::Loaded)),
        ((404, json!({"detail": "Not Found"})), None),
    ] {
        let found = listed(Runtime::Vllm, &[(200, models.clone()), sleeps]).unwrap();
        assert_eq!(found[0].residence.as_ref().map(|residence| residence.state), expected);
        assert_eq!(found[0].context_length, Some(40960));
    }
}

#[test]
fn text_embeddings_inference_tells_its_commit() {
    let info = json!({"model_id": "thenlper/gte-base", "model_sha": "fca14538aa9956a46526bd1d0d11d69e19b5a101",
        "model_dtype": "float16", "model_type": {"embedding": {"pooling": "mean"}}, "max_concurrent_requests": 512,
        "max_input_length": 512, "max_batch_tokens": 16384, "version": "1.9.4"});
    let found = listed(Runtime::Tei, &[(200, info)]).unwrap();
    assert_eq!(found[0].revision.as_deref().map(str::len), Some(40));
    assert!(found[0].features.is_some_and(|features| features.embeddings && !features.chat));
    assert!(Runtime::Tei.load("a", None, wish(Keep::Pinned, None)).is_err());
    assert!(!Runtime::Tei.has_residency());
}

const fn wish(keep: Keep, context_length: Option<u64>) -> Wish {
    Wish { keep, context_length, embeds: false }
}

/// A model in memory with a context.
fn loaded(context_length: u64) -> Residence {
    Residence { state: Residency::Loaded, context_length: Some(context_length), ..Residence::default() }
}

#[test]
fn wishes_become_calls_and_what_cannot_be_wished_is_said() {
    let body = |runtime: Runtime, wish: Wish| {
        runtime.load("m", None, wish).map(|mut calls| {
            let call = calls.remove(0);
            (call.path, call.body)
        })
    };
    assert_eq!(
        body(Runtime::Ollama, wish(Keep::Pinned, Some(8192))).unwrap().1,
        Some(json!({"model": "m", "stream": false, "keep_alive": -1, "options": {"num_ctx": 8192}}))
    );
    assert_eq!(
        body(Runtime::Ollama, wish(Keep::IdleSeconds(0), None)).unwrap().1,
        Some(json!({"model": "m", "stream": false, "keep_alive": 1}))
    );
    assert_eq!(
        body(Runtime::Ollama, wish(Keep::AsSetUp, None)).unwrap().1,
        Some(json!({"model": "m", "stream": false}))
    );
    // A model for embeddings "does not support generate".
    assert_eq!(
        body(Runtime::Ollama, Wish { embeds: true, ..wish(Keep::Pinned, Some(512)) }).unwrap(),
        (
            "/api/embed".to_owned(),
            Some(json!({"model": "m", "input": "", "keep_alive": -1, "options": {"num_ctx": 512}}))
        )
    );
    assert_eq!(Runtime::Ollama.unload("m", None).unwrap().body.unwrap()["keep_alive"], 0);
    assert_eq!(body(Runtime::LlamaCpp, wish(Keep::Pinned, None)).unwrap().0, "/models/load");
    assert_eq!(body(Runtime::Vllm, wish(Keep::AsSetUp, None)).unwrap(), ("/wake_up".to_owned(), None));
    for (runtime, keep, context) in [
        (Runtime::LlamaCpp, Keep::IdleSeconds(60), None),
        (Runtime::LlamaCpp, Keep::Pinned, Some(1)),
        (Runtime::LmStudio, Keep::IdleSeconds(60), None),
        (Runtime::Vllm, Keep::IdleSeconds(60), None),
    ] {
        let refused = body(runtime, wish(keep, context));
        assert!(matches!(refused, Err(LocalError::Unsupported { .. })), "{runtime:?}");
        let told = runtime.wishes();
        let is_told = if context.is_some() { told.context != ContextWish::Never } else { told.idle };
        assert!(!is_told, "{runtime:?}");
    }
}

#[test]
fn a_model_that_is_there_is_not_loaded_twice_and_one_with_another_context_anew() {
    let paths = |runtime: Runtime, there: &Residence, wish: Wish| -> Vec<String> {
        runtime.load("m", Some(there), wish).unwrap().into_iter().map(|call| call.path).collect()
    };
    let pinned = |context| wish(Keep::Pinned, context);
    assert_eq!(paths(Runtime::Ollama, &loaded(4096), pinned(Some(8192))), ["/api/generate"]);
    assert!(paths(Runtime::LlamaCpp, &loaded(4096), pinned(None)).is_empty());
    assert!(paths(Runtime::Vllm, &loaded(4096), pinned(None)).is_empty());
    assert!(paths(Runtime::LmStudio, &loaded(4096), pinned(Some(4096))).is_empty());
    assert_eq!(
        paths(Runtime::LmStudio, &loaded(4096), pinned(Some(8192))),
        ["/api/v1/models/unload", "/api/v1/models/load"]
    );
}

#[test]
fn what_was_held_is_left_to_the_runtime_again() {
    let away = Residence::default();
    let leave = |runtime: Runtime, there: &Residence, keep, was_pinned| {
        runtime
            .leave("m", Some(there), wish(keep, Some(2048)), was_pinned)
            .map(|call| call.map(|call| call.body))
    };
    // What was told last holds at Ollama until another time is told: saying nothing would leave it pinned.
    for (keep, seconds) in [(Keep::AsSetUp, 300), (Keep::IdleSeconds(60), 60)] {
        assert_eq!(
            leave(Runtime::Ollama, &loaded(4096), keep, true).unwrap(),
            Some(Some(
                json!({"model": "m", "stream": false, "keep_alive": seconds, "options": {"num_ctx": 2048}})
            ))
        );
    }
    assert_eq!(leave(Runtime::Ollama, &away, Keep::IdleSeconds(60), true).unwrap(), None);
    let told = leave(Runtime::LmStudio, &loaded(1), Keep::AsSetUp, true).unwrap();
    assert_eq!(told, Some(Some(json!({"instance_id": "m"}))));
    assert_eq!(leave(Runtime::LmStudio, &loaded(1), Keep::AsSetUp, false).unwrap(), None);
    let asleep = Runtime::Vllm.leave("m", Some(&away), wish(Keep::AsSetUp, None), false).unwrap().unwrap();
    assert_eq!(asleep.path, "/wake_up", "no call wakes it");
    assert_eq!(leave(Runtime::LlamaCpp, &loaded(1), Keep::AsSetUp, true).unwrap(), None);
}

#[test]
fn what_is_as_it_was_wished_is_done() {
    let refusal = |text: &str| json!({"error": {"code": 400, "message": text}}).to_string();
    let done = |text: &str| Runtime::LlamaCpp.done(&Reply { status: 400, body: refusal(text).as_bytes() });
    assert_eq!(done("model is already loaded"), Ok(()));
    assert_eq!(done("model is not running"), Ok(()));
    assert!(matches!(done("out of memory"), Err(LocalError::Refused { status: 400, .. })));
}

#[test]
fn bad_answers_are_named_and_never_a_panic() {
    for runtime in [Runtime::Ollama, Runtime::LlamaCpp, Runtime::LmStudio, Runtime::Vllm, Runtime::Tei] {
        assert_eq!(runtime.listed(&[]), Err(LocalError::Missing), "{runtime:?}");
        for body in
            ["", "<html>", "[]", "null", "{\"models\":3}", "{\"data\":[1,null,{}]}", "{\"models\":[[]]}"]
        {
            let reply = Reply { status: 200, body: body.as_bytes() };
            let told = runtime.listed(&[reply, reply, reply]);
            assert!(told.is_err() || told.is_ok_and(|models| models.is_empty()), "{runtime:?} {body}");
        }
        let long = format!("{{\"error\":\"{}\"}}", "secret\\n".repeat(1_000));
        let refused = runtime.done(&Reply { status: 500, body: long.as_bytes() });
        let Err(LocalError::Refused { status: 500, message }) = refused else { panic!("{refused:?}") };
        assert!(message.len() <= 200 && !message.contains('\n'));
    }
}

#[test]
fn roots_are_the_addresses_without_the_compatible_part() {
    for (given, expected) in [
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434"),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("http://host/llm/v1", "http://host/llm"),
        ("http://host:1234/api/v0", "http://host:1234"),
    ] {
        assert_eq!(root(given), expected);
    }
}
