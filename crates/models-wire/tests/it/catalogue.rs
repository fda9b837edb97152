//! Lists of models, and the order of texts.

use heddle_models_wire::catalogue::{list, read_list};
use heddle_models_wire::{AnswerFault, Family, RerankBy, WireError, read_rerank, rerank};
use serde_json::{Value, json};

#[test]
fn lists_of_every_family_are_read() {
    let of = |family: Family, body: Value| read_list(family, 0, body.to_string().as_bytes()).unwrap();
    let openai = of(
        Family::OpenAi,
        json!({"object": "list", "data": [
        {"id": "SmolLM2", "object": "model", "meta": {"n_ctx_train": 8192, "size": 98_362_432}},
        {"id": "v", "max_model_len": 4096}, {"id": ""}, {"no": "id"}]}),
    );
    assert_eq!(openai.models.len(), 2);
    assert_eq!((openai.models[0].context_length, openai.models[0].bytes), (Some(8192), Some(98_362_432)));
    assert_eq!(openai.models[1].context_length, Some(4096));
    let bare = of(Family::OpenAi, json!([{"id": "t", "type": "embedding", "context_length": 512}]));
    assert_eq!((bare.models[0].embeds, bare.models[0].chats), (Some(true), Some(false)));
    let claude = of(
        Family::Anthropic,
        json!({"data": [{"id": "claude-x", "display_name": "Claude X"}], "has_more": true, "last_id": "claude-x"}),
    );
    assert_eq!(claude.next.unwrap().path, "/v1/models?limit=1000&after_id=claude-x");
    let gemini = of(
        Family::Gemini,
        json!({"models": [{"name": "models/g", "displayName": "G", "version": "001",
        "inputTokenLimit": 1000, "supportedGenerationMethods": ["embedContent"]}], "nextPageToken": "a&b"}),
    );
    assert_eq!(
        (gemini.models[0].model.as_str(), gemini.models[0].embeds, gemini.models[0].chats),
        ("g", Some(true), Some(false))
    );
    assert_eq!(gemini.next.unwrap().path, "/v1beta/models?pageSize=1000&pageToken=a%26b");
    let ollama = of(
        Family::Ollama,
        json!({"models": [{"name": "l:1b", "model": "l:1b", "digest": "abc", "size": 5}]}),
    );
    assert_eq!((ollama.models[0].revision.as_deref(), ollama.models[0].bytes), (Some("abc"), Some(5)));
    assert_eq!(list(Family::Ollama).path, "/api/tags");
    let endless = json!({"data": [], "has_more": true, "last_id": "x"}).to_string();
    assert_eq!(read_list(Family::Anthropic, 49, endless.as_bytes()).unwrap().next, None);
    for body in ["{}", "<html>", "{\"data\":[1]}"] {
        assert_eq!(
            read_list(Family::OpenAi, 0, body.as_bytes()).unwrap_err(),
            WireError::Answer(AnswerFault::Malformed)
        );
    }
}

#[test]
fn a_ranking_has_each_text_once_and_the_best_first() {
    let texts = ["a".to_owned(), "b".to_owned()];
    let sent: Value = serde_json::from_slice(&rerank(RerankBy::Documents, "m", "q", &texts).body).unwrap();
    assert_eq!((&sent["documents"], &sent["top_n"]), (&json!(["a", "b"]), &json!(2)));
    let body = json!({"results": [{"index": 0, "relevance_score": -2.5}, {"index": 1, "relevance_score": 0.5}], "usage": {"prompt_tokens": 9, "total_tokens": 9}});
    let ranking = read_rerank(2, body.to_string().as_bytes()).unwrap();
    assert_eq!(ranking.texts.iter().map(|text| text.index).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(ranking.usage.unwrap().input, 9);
    let bare = read_rerank(1, br#"[{"index":0,"score":0.25}]"#).unwrap();
    assert_eq!(bare.texts[0].score, 0.25);
    for (body, fault) in [
        (r#"[{"index":0,"score":1}]"#, AnswerFault::Truncated),
        (r#"[{"index":0,"score":1},{"index":0,"score":1}]"#, AnswerFault::Malformed),
        (r#"[{"index":0,"score":1},{"index":7,"score":1}]"#, AnswerFault::Malformed),
        (r#"{"results":null}"#, AnswerFault::Malformed),
    ] {
        assert_eq!(read_rerank(2, body.as_bytes()).unwrap_err(), WireError::Answer(fault), "{body}");
    }
}
