//! Ollama's own wire.

use heddle_models_wire::{
    AnswerFault, EmbeddingRequest, Failure, Family, FinishReason, Target, UpstreamRequest, Usage, WireError,
};
use serde_json::{Value, json};

use crate::support::{answered, calls, ends, hello, refused, request, said, streamed, target, text, with};

const FAMILY: Family = Family::Ollama;

#[test]
fn a_conversation_with_tools_and_pictures_is_said_in_its_words() {
    let body = json!({
        "model": "m", "max_tokens": 64, "temperature": 0.5, "seed": 7, "stop": "END", "keep_alive": "5m",
        "options": {"num_ctx": 8192}, "reasoning_effort": "high",
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}},
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "developer", "content": "Be short."},
            {"role": "user", "content": [
                {"type": "text", "text": "What?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]},
            {"role": "assistant", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"a\":1}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
        ],
    });
    assert_eq!(
        said(FAMILY, body),
        json!({
            "model": "their-model", "stream": false, "keep_alive": "5m", "think": "high", "format": {"type": "object"},
            "options": {"num_ctx": 8192, "num_predict": 64, "temperature": 0.5, "seed": 7, "stop": ["END"]},
            "tools": [{"type": "function", "function": {"name": "look", "description": "", "parameters": {"type": "object"}}}],
            "messages": [
                {"role": "system", "content": "Be short."},
                {"role": "user", "content": "What?", "images": ["iVBORw0KGgo="]},
                {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {"a": 1}}}]},
                {"role": "tool", "content": "a cat", "tool_name": "look"},
            ],
        })
    );
    let none = json!({"tool_choice": "none", "tools": [{"type": "function", "function": {"name": "look"}}]});
    assert_eq!(said(FAMILY, with(hello(), none)).get("tools"), None, "no choice is said by no tools");
}

#[test]
fn calls_say_for_how_long_and_with_which_context_the_model_stays() {
    let held = Target { keep_alive: Some(-1), context_length: Some(8192), ..target(FAMILY) };
    let body = |sent: UpstreamRequest| -> Value { serde_json::from_slice(&sent.body).unwrap() };
    let chat = |more: Value| body(held.chat(&request(with(hello(), more))).unwrap());
    let told = chat(json!({}));
    assert_eq!((&told["keep_alive"], &told["options"]), (&json!(-1), &json!({"num_ctx": 8192})));
    // What a call says itself stands.
    let own = chat(json!({"keep_alive": "5m", "temperature": 0.5, "options": {"num_ctx": 512}}));
    assert_eq!(own["keep_alive"], "5m");
    assert_eq!(own["options"], json!({"num_ctx": 512, "temperature": 0.5}));
    let texts = EmbeddingRequest::of_texts("m", &["a".to_owned()], None).unwrap();
    let told = body(held.embeddings(&texts, 512).unwrap().remove(0));
    assert_eq!((&told["keep_alive"], &told["options"]), (&json!(-1), &json!({"num_ctx": 8192})));
    let plain = body(target(FAMILY).embeddings(&texts, 512).unwrap().remove(0));
    assert_eq!((plain.get("keep_alive"), plain.get("options")), (None, None));
}

#[test]
fn what_has_no_word_is_refused_by_its_name() {
    let picture = json!([{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]);
    let strict = json!([{"type": "function", "function": {"name": "look", "strict": true}}]);
    for (more, member) in [
        (json!({"tool_choice": "required"}), "tool_choice"),
        (json!({"n": 2}), "n"),
        (json!({"user": "u"}), "user"),
        (json!({"tools": strict}), "tools[0].function.strict"),
        (json!({"messages": [{"role": "user", "content": picture}]}), "messages[0].content[0].image_url.url"),
    ] {
        assert_eq!(refused(FAMILY, with(hello(), more.clone())), member, "{more}");
    }
}

#[test]
fn an_answer_comes_in_openais_words() {
    let body = json!({
        "model": "llama", "created_at": "2026-01-01T00:00:00Z", "done": true, "done_reason": "stop",
        "message": {"role": "assistant", "content": "A cat", "thinking": "hm",
            "tool_calls": [{"function": {"name": "look", "arguments": {"a": 1}}}]},
        "prompt_eval_count": 11, "eval_count": 18,
    });
    let response = answered(FAMILY, &body).unwrap();
    assert_eq!(response.usage, Some(Usage { input: 11, output: 18, ..Usage::default() }));
    assert_eq!(response.finish, [FinishReason::ToolCalls]);
    let told: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(told["choices"][0]["message"]["reasoning_content"], "hm");
    assert_eq!(told["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], "{\"a\":1}");
    let unfinished = with(body.clone(), json!({"done": false}));
    assert_eq!(answered(FAMILY, &unfinished).unwrap_err(), WireError::Answer(AnswerFault::Truncated));
    let length = json!({"message": {"content": "a"}, "done": true, "done_reason": "length"});
    assert_eq!(answered(FAMILY, &length).unwrap().finish, [FinishReason::Length]);
    assert_eq!(answered(FAMILY, &json!({"error": "boom"})).unwrap_err().failure(), Failure::Unavailable);
}

#[test]
fn a_stream_of_lines_comes_in_openais_chunks() {
    let lines = [
        json!({"model": "llama", "message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": false}),
        json!({"model": "llama", "message": {"role": "assistant", "content": "Hel"}, "done": false}),
        json!({"model": "llama", "message": {"role": "assistant", "content": "lo\n"}, "done": false}),
        json!({"model": "llama", "message": {"content": "", "tool_calls": [{"function": {"name": "look", "arguments": {}}}]}, "done": false}),
        json!({"model": "llama", "message": {"content": ""}, "done": true, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 4}),
    ];
    let write = |lines: &[Value]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let asked = request(with(hello(), json!({"stream": true, "stream_options": {"include_usage": true}})));
    let out = streamed(&target(FAMILY), &asked, write(&lines).as_bytes(), 9);
    assert_eq!((out.done, &out.error), (true, &None));
    assert_eq!(
        (text(&out.chunks, "content"), text(&out.chunks, "reasoning_content")),
        ("Hello\n".into(), "hm".into())
    );
    assert_eq!((calls(&out.chunks).len(), ends(&out.chunks)), (1, vec!["tool_calls".to_owned()]));
    assert_eq!(out.chunks.last().unwrap()["usage"]["total_tokens"], 7);
    let unended = write(&lines);
    let out = streamed(&target(FAMILY), &asked, unended.trim_end().as_bytes(), 9);
    assert!(out.done, "the last line's end may be missing");
    for kept in 0..4 {
        let out = streamed(&target(FAMILY), &asked, write(&lines[..kept]).as_bytes(), 9);
        assert_eq!(out.error, Some(WireError::Answer(AnswerFault::Truncated)));
    }
    let out = streamed(&target(FAMILY), &asked, b"{\"error\":\"model runner has stopped\"}\n", 9);
    assert_eq!(out.error.map(|error| error.failure()), Some(Failure::Unavailable));
    let out = streamed(&target(FAMILY), &asked, b"{\"message\": oops}\n", 9);
    assert_eq!(out.error, Some(WireError::Answer(AnswerFault::Malformed)));
}
