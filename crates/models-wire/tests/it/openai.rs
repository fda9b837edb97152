//! OpenAI's wire, and those who speak it.

use bytes::Bytes;
use heddle_models_wire::{AnswerFault, ChatRequest, Failure, Family, FinishReason, Target, Usage, WireError};
use serde_json::json;

use crate::support::{answer, answered, hello, request, streamed, target, with};

#[test]
fn whatever_stands_in_a_request_passes_in_its_bytes_but_for_the_models_name() {
    let body = r#"{"messages":[{"role":"user","content":"Hi","x":1.50}],"model":"alias","new_member":{"b":[1, 2],"a":1e2},"seed":9007199254740993}"#;
    let request = ChatRequest::read(Bytes::from(body)).unwrap();
    let sent = target(Family::OpenAi).chat(&request).unwrap();
    assert_eq!(sent.path, "/chat/completions");
    assert_eq!(sent.body, body.replace("alias", "their-model"));
}

#[test]
fn a_stream_is_asked_for_its_usage_whether_the_caller_wants_it_or_not() {
    let streaming = with(hello(), json!({"stream": true, "stream_options": {"include_obfuscation": false}}));
    let sent = target(Family::OpenAi).chat(&request(streaming.clone())).unwrap();
    let body: serde_json::Value = serde_json::from_slice(&sent.body).unwrap();
    assert_eq!(body["stream_options"], json!({"include_obfuscation": false, "include_usage": true}));
    let shy = Target { stream_usage: false, ..target(Family::OpenAi) };
    let sent = shy.chat(&request(with(hello(), json!({"stream": true})))).unwrap();
    assert!(!sent.body.windows(14).any(|bytes| bytes == b"stream_options"));
}

#[test]
fn azure_is_called_at_its_addresses_with_its_header() {
    let mut azure = Target::new(Family::AzureOpenAi, "gpt 4/o");
    let path = |target: &Target| target.chat(&request(hello())).unwrap().path;
    assert_eq!(path(&azure), "/openai/v1/chat/completions");
    azure.azure_api_version = Some("2024-10-21".into());
    assert_eq!(path(&azure), "/openai/deployments/gpt%204%2Fo/chat/completions?api-version=2024-10-21");
    assert_eq!(Family::AzureOpenAi.key_header().name, "api-key");
    assert_eq!(Family::AzureOpenAi.key_header().scheme, None);
}

#[test]
fn heads_of_a_wrong_shape_are_told_by_their_member() {
    for (more, member) in [
        (json!({"model": ""}), "model"),
        (json!({"model": 1}), "model"),
        (json!({"messages": []}), "messages"),
        (json!({"messages": "Hi"}), "messages"),
        (json!({"stream": "yes"}), "stream"),
        (json!({"stream_options": 1}), "stream_options"),
        (json!({"n": 0}), "n"),
        (json!({"n": 1000}), "n"),
        (json!({"max_tokens": 0}), "max_tokens"),
        (json!({"max_tokens": 1.5}), "max_tokens"),
        (json!({"max_completion_tokens": -1}), "max_completion_tokens"),
        (
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"$ref": "#"}}}}),
            "response_format",
        ),
    ] {
        let error = ChatRequest::read(Bytes::from(with(hello(), more).to_string())).unwrap_err();
        assert_eq!(error.at(), Some(member));
        assert_eq!((error.failure().code(), error.failure().status()), ("INVALID_REQUEST_BODY", 400));
    }
}

#[test]
fn defaults_fill_what_a_request_leaves_open_and_nothing_else() {
    let defaults = json!({"temperature": 0.2, "max_tokens": 100, "seed": null});
    let defaults = defaults.as_object().unwrap();
    let filled = request(hello()).with_defaults(defaults).unwrap();
    assert_eq!((filled.member("temperature"), filled.max_tokens()), (Some("0.2"), Some(100)));
    let own = with(hello(), json!({"temperature": 1, "max_completion_tokens": 5}));
    let kept = request(own.clone()).with_defaults(defaults).unwrap();
    assert_eq!(kept, request(own));
    let wrong = json!({"n": "many"});
    assert_eq!(request(hello()).with_defaults(wrong.as_object().unwrap()).unwrap_err().at(), Some("n"));
}

#[test]
fn an_answer_passes_in_its_bytes_and_its_tokens_are_counted_once() {
    let body = json!({
        "id": "x", "object": "chat.completion", "timings": {"predicted_ms": 1.5},
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 60}, "completion_tokens_details": {"reasoning_tokens": 5}},
    });
    let response = answered(Family::OpenAi, &body).unwrap();
    assert_eq!(response.body, body.to_string());
    assert_eq!(response.finish, [FinishReason::Stop]);
    let usage = Usage { input: 100, output: 20, cached: 60, cache_written: 0, reasoning: 5 };
    assert_eq!(response.usage, Some(usage));
    assert_eq!(usage.total(), 120);
    let choice = &response.read().unwrap().choices[0];
    assert_eq!(choice.message.content.as_ref().unwrap().text(), "Hello");
}

#[test]
fn providers_with_other_sums_are_counted_once_as_well() {
    let usage = |usage: serde_json::Value| {
        let body = json!({
            "choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": usage,
        });
        answered(Family::OpenAi, &body).unwrap().usage.unwrap()
    };
    let apart = usage(json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 45,
        "completion_tokens_details": {"reasoning_tokens": 30}}));
    assert_eq!(
        (apart.output, apart.reasoning, apart.total()),
        (35, 30, 45),
        "reasoning beside the completion"
    );
    let older = usage(json!({"prompt_tokens": 10, "completion_tokens": 5, "prompt_cache_hit_tokens": 8}));
    assert_eq!((older.input, older.cached), (10, 8));
    let odd = usage(json!({"prompt_tokens": null, "completion_tokens": -4, "prompt_tokens_details": null}));
    assert_eq!(odd, Usage::default());
}

#[test]
fn answers_that_are_none_are_errors_by_name() {
    for (body, fault) in [
        (json!({}), AnswerFault::Malformed),
        (json!({"choices": []}), AnswerFault::Truncated),
        (json!({"choices": [{"message": {"content": "a"}}]}), AnswerFault::Truncated),
        (json!({"choices": [{"message": {"content": "a"}, "finish_reason": null}]}), AnswerFault::Truncated),
        (json!({"choices": [{"finish_reason": "stop"}]}), AnswerFault::Malformed),
        (json!("text"), AnswerFault::Malformed),
    ] {
        assert_eq!(answered(Family::OpenAi, &body).unwrap_err(), WireError::Answer(fault), "{body}");
    }
    let error =
        answered(Family::OpenAi, &json!({"error": {"code": 502, "message": "upstream"}})).unwrap_err();
    assert_eq!(error.failure(), Failure::Unavailable);
    let broken =
        target(Family::OpenAi).chat_response(&request(hello()), &answer(), Bytes::from("{\"choices\":[{"));
    assert_eq!(broken.unwrap_err(), WireError::Answer(AnswerFault::Malformed));
}

const STREAM: &str = concat!(
    ": OPENROUTER PROCESSING\n\n",
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m-2024\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}],\"usage\":null}\n\n",
    "data: {\"id\":\"c1\",\"model\":\"m-2024\",\"system_fingerprint\":\"fp\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n",
    "data: {\"id\":\"c1\",\"model\":\"m-2024\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\n\n",
    "data: {\"id\":\"c1\",\"model\":\"m-2024\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"id\":\"c1\",\"model\":\"m-2024\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"total_tokens\":9}}\n\n",
    "data: [DONE]\n\n",
);

#[test]
fn chunks_pass_as_they_are_and_the_usage_only_to_whoever_wants_it() {
    let plain = request(with(hello(), json!({"stream": true})));
    let out = streamed(&target(Family::OpenAi), &plain, STREAM.as_bytes(), 7);
    assert_eq!((out.chunks.len(), out.done, out.error), (4, true, None));
    assert_eq!(out.chunks[1]["system_fingerprint"], "fp");
    let asking = request(with(hello(), json!({"stream": true, "stream_options": {"include_usage": true}})));
    let out = streamed(&target(Family::OpenAi), &asking, STREAM.as_bytes(), 1000);
    assert_eq!(out.chunks.len(), 5);
    assert_eq!(out.chunks[4]["usage"]["total_tokens"], 9);
    let within =
        STREAM.replace("\"choices\":[],\"usage\"", "\"choices\":[{\"index\":0,\"delta\":{}}],\"usage\"");
    let out = streamed(&target(Family::OpenAi), &asking, within.as_bytes(), 1000);
    assert_eq!(out.chunks.len(), 6, "usage that came within a piece is said again as the last chunk");
    assert_eq!((&out.chunks[5]["choices"], &out.chunks[5]["id"]), (&json!([]), &json!("c1")));
    assert_eq!(out.chunks[5]["usage"]["total_tokens"], 9);
}

#[test]
fn a_stream_without_its_end_is_an_error() {
    let plain = request(with(hello(), json!({"stream": true})));
    let read = |stream: &str| streamed(&target(Family::OpenAi), &plain, stream.as_bytes(), 64);
    let cut_off = STREAM
        .split("data: {\"id\":\"c1\",\"model\":\"m-2024\",\"choices\":[{\"index\":0,\"delta\":{},")
        .next()
        .unwrap();
    for stream in [
        cut_off,
        &format!("{cut_off}data: [DONE]\n\n"),
        &format!("{cut_off}data: {{\"id\":"),
        "",
        "data: [DONE]\n\n",
    ] {
        let out = read(stream);
        assert_eq!(
            (out.done, out.error),
            (false, Some(WireError::Answer(AnswerFault::Truncated))),
            "{stream}"
        );
    }
    let ended = STREAM.split("data: [DONE]").next().unwrap();
    assert!(read(ended).done, "each choice has told its end");
    assert!(read(&format!("{ended}data: [DONE]")).done, "the last line's end may be missing");
    let out = read(&format!("{cut_off}data: {{\"id\": oops\n\ndata: [DONE]\n\n"));
    assert_eq!((out.chunks.len(), out.error), (3, Some(WireError::Answer(AnswerFault::Malformed))));
    let out = read(&format!("{cut_off}data: {{\"error\":{{\"message\":\"no\",\"code\":429}}}}\n\n"));
    assert_eq!((out.chunks.len(), out.error.map(|error| error.failure())), (3, Some(Failure::RateLimited)));
    let two = "data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"delta\":{}},{\"index\":1,\"delta\":{}}]}\n\ndata: [DONE]\n\n";
    assert_eq!(read(two).error, Some(WireError::Answer(AnswerFault::Truncated)), "one of two choices ended");
}

#[test]
fn neither_debug_nor_display_shows_a_prompt_or_an_answer() {
    let secret = with(hello(), json!({"messages": [{"role": "user", "content": "TOPSECRET"}]}));
    let asked = request(secret);
    let shown =
        format!("{asked:?} {:?} {:?}", asked.messages().unwrap(), target(Family::Anthropic).chat(&asked));
    assert!(!shown.contains("TOPSECRET"), "{shown}");
    let body = json!({"choices": [{"message": {"content": "TOPSECRET"}, "finish_reason": "stop"}]});
    let response = answered(Family::OpenAi, &body).unwrap();
    assert!(!format!("{response:?} {:?}", response.read().unwrap()).contains("TOPSECRET"));
    let error = refused_shape();
    assert!(!format!("{error:?} {error}").contains("TOPSECRET"));
}

fn refused_shape() -> WireError {
    let wrong = with(hello(), json!({"messages": [{"role": "user", "content": {"a": "TOPSECRET"}}]}));
    target(Family::Anthropic).chat(&request(wrong)).unwrap_err()
}
