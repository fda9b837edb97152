//! Google's `generateContent`.

use heddle_models_wire::{AnswerFault, Failure, Family, FinishReason, Target, Usage, WireError};
use serde_json::{Value, json};

use crate::support::{answered, calls, ends, hello, refused, request, said, streamed, target, text, with};

const FAMILY: Family = Family::Gemini;

#[test]
fn a_conversation_with_tools_and_pictures_is_said_in_its_words() {
    let body = json!({
        "model": "m", "max_tokens": 64, "temperature": 0, "top_p": 0.9, "seed": 7, "n": 2, "stop": ["A", "B"],
        "presence_penalty": 0.5, "reasoning_effort": "low", "tool_choice": {"type": "function", "function": {"name": "look"}},
        "response_format": {"type": "json_object"},
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}},
                  {"type": "function", "function": {"name": "wait", "description": "Waits"}}],
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": [
                {"type": "text", "text": "What?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.JPG?x=1"}},
                {"type": "input_audio", "input_audio": {"format": "wav", "data": "AAAA"}}]},
            {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{\"a\":1}"},
                    "extra_content": {"google": {"thought_signature": "sig"}}},
                {"id": "their-2", "type": "function", "function": {"name": "wait", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "{\"seen\": true}"},
            {"role": "tool", "tool_call_id": "their-2", "content": "done"},
        ],
    });
    assert_eq!(
        said(FAMILY, body),
        json!({
            "systemInstruction": {"parts": [{"text": "Be short."}]},
            "contents": [
                {"role": "user", "parts": [
                    {"text": "What?"},
                    {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
                    {"fileData": {"fileUri": "https://example.com/a.JPG?x=1", "mimeType": "image/jpeg"}},
                    {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}]},
                {"role": "model", "parts": [
                    {"text": "hm", "thought": true},
                    {"functionCall": {"name": "look", "args": {"a": 1}}, "thoughtSignature": "sig"},
                    {"functionCall": {"name": "wait", "args": {}, "id": "their-2"}}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "look", "response": {"seen": true}}},
                    {"functionResponse": {"name": "wait", "response": {"output": "done"}, "id": "their-2"}}]},
            ],
            "generationConfig": {
                "maxOutputTokens": 64, "temperature": 0, "topP": 0.9, "seed": 7, "candidateCount": 2,
                "stopSequences": ["A", "B"], "presencePenalty": 0.5, "responseMimeType": "application/json",
                "thinkingConfig": {"thinkingBudget": 1024},
            },
            "tools": [{"functionDeclarations": [
                {"name": "look", "parametersJsonSchema": {"type": "object"}},
                {"name": "wait", "description": "Waits"}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look"]}},
        })
    );
    let path = |model: &str, body: Value| Target::new(FAMILY, model).chat(&request(body)).unwrap().path;
    assert_eq!(path("models/gemini-x", hello()), "/v1beta/models/gemini-x:generateContent");
    let stream = with(hello(), json!({"stream": true}));
    assert_eq!(path("a/../b", stream), "/v1beta/models/a%2F..%2Fb:streamGenerateContent?alt=sse");
}

#[test]
fn what_has_no_word_is_refused_by_its_name() {
    for (more, member) in [
        (json!({"user": "u"}), "user"),
        (json!({"logprobs": true}), "logprobs"),
        (json!({"parallel_tool_calls": false}), "parallel_tool_calls"),
        (json!({"reasoning_effort": "xhigh"}), "reasoning_effort"),
        (json!({"tool_choice": "required"}), "tool_choice"),
        (json!({"temperature": "hot"}), "temperature"),
        (json!({"stop": {"a": 1}}), "stop"),
        (json!({"response_format": {"type": "xml"}}), "response_format"),
        (
            json!({"messages": [{"role": "user", "content": "a"}, {"role": "developer", "content": "b"}]}),
            "messages[1].role",
        ),
    ] {
        assert_eq!(refused(FAMILY, with(hello(), more.clone())), member, "{more}");
    }
}

#[test]
fn an_answer_comes_in_openais_words_with_thoughts_counted_once() {
    let body = json!({
        "candidates": [
            {"index": 1, "content": {"parts": [{"text": "second"}]}, "finishReason": "MAX_TOKENS"},
            {"content": {"role": "model", "parts": [
                {"text": "hm", "thought": true}, {"text": "A "}, {"text": "cat"},
                {"functionCall": {"name": "look", "args": {"a": 1}}, "thoughtSignature": "sig"},
                {"functionCall": {"id": "their-2", "name": "wait"}},
                {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 10,
            "thoughtsTokenCount": 25, "toolUsePromptTokenCount": 3, "totalTokenCount": 138},
        "modelVersion": "gemini-x-001",
    });
    let response = answered(FAMILY, &body).unwrap();
    assert_eq!(
        response.usage,
        Some(Usage { input: 103, output: 35, cached: 40, cache_written: 0, reasoning: 25 })
    );
    assert_eq!(response.usage.unwrap().total(), 138);
    assert_eq!(response.finish, [FinishReason::ToolCalls, FinishReason::Length]);
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    let message = &body["choices"][0]["message"];
    assert_eq!((&message["content"], &message["reasoning_content"]), (&json!("A cat"), &json!("hm")));
    assert_eq!(message["images"][0]["image_url"]["url"], "data:image/png;base64,AAAA");
    let made = message["tool_calls"][0]["id"].as_str().unwrap();
    assert!(made.starts_with("call_") && made.ends_with("_0"), "{made}");
    assert_eq!(message["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "sig");
    assert_eq!(
        (&message["tool_calls"][1]["id"], &message["tool_calls"][1]["function"]["arguments"]),
        (&json!("their-2"), &json!("{}"))
    );
    assert_eq!(body["choices"][1]["message"]["content"], "second");
}

#[test]
fn what_a_filter_withholds_is_an_end_and_what_is_broken_an_error() {
    let ended = |reason: &str| {
        answered(
            FAMILY,
            &json!({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": reason}]}),
        )
    };
    for reason in
        ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "OTHER", "NEW_REASON"]
    {
        assert_eq!(ended(reason).unwrap().finish, [FinishReason::ContentFilter], "{reason}");
    }
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"] {
        assert_eq!(ended(reason).unwrap_err(), WireError::Answer(AnswerFault::Malformed));
    }
    let blocked =
        json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}});
    let response = answered(FAMILY, &blocked).unwrap();
    assert_eq!(
        (response.finish.as_slice(), response.usage.unwrap().input),
        ([FinishReason::ContentFilter].as_slice(), 4)
    );
    for body in [json!({}), json!({"candidates": [{"content": {"parts": []}}]})] {
        assert_eq!(answered(FAMILY, &body).unwrap_err(), WireError::Answer(AnswerFault::Truncated));
    }
    let error = json!({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}});
    assert_eq!(answered(FAMILY, &error).unwrap_err().failure(), Failure::Unavailable);
}

fn frames(frames: &[Value]) -> String {
    frames.iter().map(|frame| format!("data: {frame}\r\n\r\n")).collect()
}

#[test]
fn a_stream_comes_in_openais_chunks_and_ends_with_its_candidates() {
    let part =
        |part: Value| json!({"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}]});
    let mut all = vec![
        part(json!({"text": "hm", "thought": true})),
        part(json!({"text": "Hel"})),
        part(json!({"text": "lo"})),
        part(json!({"functionCall": {"name": "look", "args": {"a": [1, 2]}}})),
        part(json!({"functionCall": {"name": "look", "args": {}}})),
    ];
    let cut_off = frames(&all);
    all.push(
        json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 6}, "modelVersion": "gemini-x"}),
    );
    let asked = request(with(hello(), json!({"stream": true, "stream_options": {"include_usage": true}})));
    let out = streamed(&target(FAMILY), &asked, frames(&all).as_bytes(), 20);
    assert_eq!((out.done, &out.error), (true, &None));
    assert_eq!(
        (text(&out.chunks, "content"), text(&out.chunks, "reasoning_content")),
        ("Hello".into(), "hm".into())
    );
    let told = calls(&out.chunks);
    assert_eq!((told.len(), told[0][2].as_str()), (2, "{\"a\":[1,2]}"));
    assert_ne!(told[0][0], told[1][0], "each call has an id of its own");
    assert_eq!(ends(&out.chunks), ["tool_calls"]);
    assert_eq!(out.chunks.last().unwrap()["usage"]["total_tokens"], 11);
    let out = streamed(&target(FAMILY), &asked, cut_off.as_bytes(), 20);
    assert_eq!((out.done, out.error), (false, Some(WireError::Answer(AnswerFault::Truncated))));
    let failing =
        format!("{cut_off}data: {{\"error\": {{\"code\": 429, \"status\": \"RESOURCE_EXHAUSTED\"}}}}\n\n");
    let out = streamed(&target(FAMILY), &asked, failing.as_bytes(), 20);
    assert_eq!(out.error.map(|error| error.failure()), Some(Failure::RateLimited));
    let blocked = frames(&[json!({"promptFeedback": {"blockReason": "OTHER"}})]);
    let out = streamed(&target(FAMILY), &asked, blocked.as_bytes(), 20);
    assert_eq!((ends(&out.chunks), out.done), (vec!["content_filter".to_owned()], true));
}
