//! Anthropic's messages.

use heddle_models_wire::{AnswerFault, Failure, Family, FinishReason, SchemaBy, Target, Usage, WireError};
use serde_json::{Value, json};

use crate::support::{
    answer, answered, calls, ends, hello, refused, request, said, streamed, target, text, with,
};

const FAMILY: Family = Family::Anthropic;

#[test]
fn a_conversation_with_tools_and_pictures_is_said_in_its_words() {
    let body = json!({
        "model": "m", "max_completion_tokens": 64, "temperature": 0.5, "stop": "END", "user": "u-1", "n": 1,
        "tool_choice": "required", "parallel_tool_calls": false, "logprobs": false, "seed": null,
        "tools": [{"type": "function", "function": {"name": "look", "description": "Looks",
            "parameters": {"type": "object", "properties": {"z": {}, "a": {}}}}}],
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "developer", "content": [{"type": "text", "text": "And kind.", "cache_control": {"type": "ephemeral"}}]},
            {"role": "user", "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"}},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}}]},
            {"role": "assistant", "content": "", "refusal": null, "annotations": [], "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{\"a\": 1}"}},
                {"id": "t2", "type": "function", "function": {"name": "look", "arguments": ""}}]},
            {"role": "tool", "tool_call_id": "t1", "content": "a cat"},
            {"role": "tool", "tool_call_id": "t2", "content": [{"type": "text", "text": "a dog"}]},
            {"role": "user", "content": "And?"},
        ],
    });
    let sent = target(FAMILY).chat(&request(body.clone())).unwrap();
    assert_eq!(sent.path, "/v1/messages");
    assert!(
        sent.headers.iter().any(|header| header.name == "anthropic-version" && header.value == "2023-06-01")
    );
    let written = String::from_utf8(sent.body.to_vec()).unwrap();
    assert!(written.contains(r#""properties":{"a":{},"z":{}}"#) || written.contains(r#"{"z":{},"a":{}}"#));
    assert_eq!(
        said(FAMILY, body),
        json!({
            "model": "their-model", "max_tokens": 64, "temperature": 0.5, "stop_sequences": ["END"],
            "metadata": {"user_id": "u-1"},
            "tool_choice": {"type": "any", "disable_parallel_tool_use": true},
            "tools": [{"name": "look", "description": "Looks",
                "input_schema": {"type": "object", "properties": {"z": {}, "a": {}}}}],
            "system": [{"type": "text", "text": "Be short."},
                {"type": "text", "text": "And kind.", "cache_control": {"type": "ephemeral"}}],
            "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "What is it?"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
                    {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                    {"type": "document", "title": "a.pdf",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}}]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}},
                    {"type": "tool_use", "id": "t2", "name": "look", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a cat"}]},
                    {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "a dog"}]},
                    {"type": "text", "text": "And?"}]},
            ],
        })
    );
}

#[test]
fn a_schema_keeps_the_order_of_its_members() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"a","description":"An \"answer\"","schema":{"type":"object","properties":{"thought":{},"answer":{}}}}}}"#;
    let request = heddle_models_wire::ChatRequest::read(body.into()).unwrap();
    for family in [Family::Anthropic, Family::Gemini, Family::Ollama] {
        let sent = target(family).chat(&request).unwrap();
        let written = String::from_utf8(sent.body.to_vec()).unwrap();
        let schema =
            r#"{"description":"An \"answer\"","type":"object","properties":{"thought":{},"answer":{}}}"#;
        assert!(written.contains(schema), "{family}: {written}");
    }
}

#[test]
fn bounds_thoughts_and_efforts_are_said() {
    assert_eq!(said(FAMILY, hello())["max_tokens"], 4096, "the wire demands a bound");
    let thinking =
        json!({"thinking": {"type": "enabled", "budget_tokens": 2048}, "stream": true, "top_k": 5});
    let body = said(FAMILY, with(hello(), thinking));
    assert_eq!(
        (&body["thinking"]["budget_tokens"], &body["stream"], &body["top_k"]),
        (&json!(2048), &json!(true), &json!(5))
    );
    let schema = json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}});
    let body = said(FAMILY, with(hello(), json!({"reasoning_effort": "low", "response_format": schema})));
    assert_eq!(
        body["output_config"],
        json!({"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}})
    );
    let again = json!({"messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello", "reasoning_content": "hm",
            "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
        {"role": "user", "content": "So?"}]});
    let body = said(FAMILY, with(hello(), again));
    assert_eq!(body["messages"][1]["content"][0]["signature"], "s");
}

#[test]
fn what_has_no_word_is_refused_by_its_name() {
    let user = |part: Value| json!({"messages": [{"role": "user", "content": [part]}]});
    let said = |message: Value| json!({"messages": [{"role": "user", "content": "Hi"}, message]});
    for (more, member) in [
        (json!({"seed": 1}), "seed"),
        (json!({"n": 2}), "n"),
        (json!({"logit_bias": {"1": 2}}), "logit_bias"),
        (json!({"frequency_penalty": 0.5}), "frequency_penalty"),
        (json!({"made_up": true}), "made_up"),
        (json!({"metadata": {"a": "b"}}), "metadata"),
        (json!({"reasoning_effort": "minimal"}), "reasoning_effort"),
        (json!({"service_tier": "flex"}), "service_tier"),
        (json!({"stream_options": {"include_obfuscation": true}}), "stream_options.include_obfuscation"),
        (json!({"tool_choice": "required"}), "tool_choice"),
        (json!({"tools": [{"type": "custom", "custom": {"name": "a"}}]}), "tools[0].type"),
        (json!({"tools": [{"type": "function"}]}), "tools[0].type"),
        (
            json!({"tools": [{"type": "function", "function": {"name": "a", "odd": 1}}]}),
            "tools[0].function.odd",
        ),
        (said(json!({"role": "system", "content": "late"})), "messages[1].role"),
        (said(json!({"role": "user", "name": "Ann", "content": "a"})), "messages[1].name"),
        (said(json!({"role": "user", "content": "a", "odd": "x"})), "messages[1].odd"),
        (said(json!({"role": "robot", "content": "a"})), "messages[1]"),
        (said(json!({"role": "user"})), "messages[1].content"),
        (said(json!({"role": "assistant", "content": ""})), "messages[1].content"),
        (said(json!({"role": "assistant", "content": "a", "audio": {"id": "x"}})), "messages[1].audio"),
        (
            said(json!({"role": "assistant", "content": "a", "reasoning_content": "b"})),
            "messages[1].reasoning_content",
        ),
        (said(json!({"role": "tool", "content": "a"})), "messages[1].tool_call_id"),
        (said(json!({"role": "tool", "content": "a", "tool_call_id": "none"})), "messages[1].tool_call_id"),
        (
            said(
                json!({"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "not json"}}]}),
            ),
            "messages[1].tool_calls[0].function.arguments",
        ),
        (
            said(
                json!({"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "[1]"}}]}),
            ),
            "messages[1].tool_calls[0].function.arguments",
        ),
        (
            user(json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,###"}})),
            "messages[0].content[0]",
        ),
        (
            user(json!({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}})),
            "messages[0].content[0].image_url.url",
        ),
        (
            user(json!({"type": "image_url", "image_url": {"url": "https://a/b", "detail": "high"}})),
            "messages[0].content[0].image_url.detail",
        ),
        (
            user(json!({"type": "input_audio", "input_audio": {"format": "wav", "data": "AAAA"}})),
            "messages[0].content[0].input_audio",
        ),
        (user(json!({"type": "file", "file": {"file_id": "f-1"}})), "messages[0].content[0]"),
        (user(json!({"type": "hologram"})), "messages[0].content[0]"),
    ] {
        assert_eq!(refused(FAMILY, with(hello(), more.clone())), member, "{more}");
    }
}

fn whole(content: Value, reason: &str) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": content,
        "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 5, "output_tokens": 7},
    })
}

#[test]
fn an_answer_comes_in_openais_words_with_tokens_beside_the_cache_added_once() {
    let content = json!([
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "text", "text": "Let me "}, {"type": "text", "text": "look."},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}}]);
    let response = answered(FAMILY, &whole(content, "tool_use")).unwrap();
    assert_eq!(
        response.usage,
        Some(Usage { input: 45, output: 7, cached: 30, cache_written: 5, reasoning: 0 })
    );
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(
        (&body["object"], &body["model"], &body["id"]),
        (&json!("chat.completion"), &json!("claude-x"), &json!("chatcmpl-1"))
    );
    let message = &body["choices"][0]["message"];
    assert_eq!(message["content"], "Let me look.");
    assert_eq!(message["reasoning_content"], "hm");
    assert_eq!(message["thinking_blocks"][0]["signature"], "sig");
    assert_eq!(message["tool_calls"][0]["function"], json!({"name": "look", "arguments": "{\"a\":1}"}));
    assert_eq!(body["usage"]["prompt_tokens"], 45);
    assert_eq!(body["usage"]["prompt_tokens_details"]["cached_tokens"], 30);
    assert_eq!(body["usage"]["total_tokens"], 52);
    for (theirs, ours) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
        ("tool_use", FinishReason::ToolCalls),
    ] {
        let response = answered(FAMILY, &whole(json!([{"type": "text", "text": "a"}]), theirs)).unwrap();
        assert_eq!(response.finish, [ours], "{theirs}");
    }
    for (body, fault) in [
        (json!({"content": [{"type": "text", "text": "a"}]}), AnswerFault::Truncated),
        (json!({"stop_reason": "end_turn"}), AnswerFault::Malformed),
        (whole(json!([{"type": "riddle"}]), "end_turn"), AnswerFault::Malformed),
        (
            whole(json!([{"type": "tool_use", "id": "a", "name": "b", "input": "text"}]), "tool_use"),
            AnswerFault::Malformed,
        ),
    ] {
        assert_eq!(answered(FAMILY, &body).unwrap_err(), WireError::Answer(fault), "{body}");
    }
}

#[test]
fn the_text_that_ended_an_answer_stands_beside_the_reason() {
    let asked = request(with(hello(), json!({"stream": true, "stop": ["END"]})));
    for (reason, sequence, told) in [
        ("stop_sequence", json!("END"), json!("END")),
        ("stop_sequence", Value::Null, Value::Null),
        ("end_turn", json!("END"), Value::Null),
    ] {
        let mut body = whole(json!([{"type": "text", "text": "a"}]), reason);
        body["stop_sequence"] = sequence.clone();
        let response = answered(FAMILY, &body).unwrap();
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        let choice = &body["choices"][0];
        assert_eq!((&choice["finish_reason"], &choice["stop_reason"]), (&json!("stop"), &told), "{reason}");
        let mut pieces = stream();
        pieces.truncate(10);
        let delta = json!({"stop_reason": reason, "stop_sequence": sequence});
        pieces.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 15}}));
        pieces.push(json!({"type": "message_stop"}));
        let out = streamed(&target(FAMILY), &asked, events(&pieces).as_bytes(), 40);
        let last = &out.chunks.last().unwrap()["choices"][0];
        assert_eq!((&last["finish_reason"], &last["stop_reason"]), (&json!("stop"), &told), "{reason}");
        assert!(
            out.done
                && out.chunks[..out.chunks.len() - 1]
                    .iter()
                    .all(|chunk| { chunk["choices"][0].get("stop_reason").is_none() })
        );
    }
}

#[test]
fn json_by_a_tool_comes_back_as_the_answers_text() {
    let schema = json!({"type": "json_schema", "json_schema": {"name": "a", "strict": true, "schema": {"type": "object"}}});
    let asked = request(with(hello(), json!({"response_format": schema})));
    let by_tool = Target { schema: SchemaBy::Tool, ..target(FAMILY) };
    let sent: Value = serde_json::from_slice(&by_tool.chat(&asked).unwrap().body).unwrap();
    let name = sent["tools"][0]["name"].as_str().unwrap();
    assert_eq!(sent["tool_choice"], json!({"type": "tool", "name": name}));
    assert_eq!((&sent["tools"][0]["strict"], sent.get("output_config")), (&json!(true), None));
    let content = json!([{"type": "text", "text": "Here:"}, {"type": "tool_use", "id": "1", "name": name, "input": {"a": 1}}]);
    let response =
        by_tool.chat_response(&asked, &answer(), whole(content, "tool_use").to_string().into()).unwrap();
    assert_eq!(response.finish, [FinishReason::Stop]);
    let message = &response.read().unwrap().choices[0].message;
    assert_eq!((message.content.as_ref().unwrap().text().as_str(), message.calls().len()), (r#"{"a":1}"#, 0));

    let stream = events(&[
        json!({"type": "message_start", "message": {"model": "claude-x", "usage": {"input_tokens": 1, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Here:"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "1", "name": name, "input": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"a\""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ":1}"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]);
    let out = streamed(&by_tool, &asked, stream.as_bytes(), 11);
    assert_eq!(
        (text(&out.chunks, "content").as_str(), ends(&out.chunks), out.done),
        (r#"{"a":1}"#, vec!["stop".to_owned()], true)
    );
    let any = request(with(hello(), json!({"response_format": {"type": "json_object"}})));
    let sent: Value = serde_json::from_slice(&target(FAMILY).chat(&any).unwrap().body).unwrap();
    assert_eq!(sent["tool_choice"]["type"], "tool", "an object without a schema has no other way");
}

fn events(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

fn stream() -> Vec<Value> {
    vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "model": "claude-x", "content": [],
            "usage": {"input_tokens": 25, "cache_read_input_tokens": 5, "output_tokens": 1}}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hel"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "lo \u{1f600}"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t1", "name": "look", "input": {}}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ""}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"a\":"}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": " 1}"}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "t2", "name": "wait", "input": {}}}),
        json!({"type": "content_block_stop", "index": 3}),
        json!({"type": "something_new", "x": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null}, "usage": {"output_tokens": 15}}),
        json!({"type": "message_stop"}),
    ]
}

#[test]
fn a_stream_comes_in_openais_chunks() {
    let asked = request(with(hello(), json!({"stream": true, "stream_options": {"include_usage": true}})));
    let out = streamed(&target(FAMILY), &asked, events(&stream()).as_bytes(), 33);
    assert_eq!((out.done, &out.error), (true, &None));
    assert_eq!(out.chunks[0]["choices"][0]["delta"]["role"], "assistant");
    assert!(out.chunks[1..].iter().all(|chunk| chunk["choices"][0]["delta"]["role"].is_null()));
    assert_eq!(text(&out.chunks, "content"), "Hello \u{1f600}");
    assert_eq!(text(&out.chunks, "reasoning_content"), "hm");
    let signed =
        out.chunks.iter().find_map(|chunk| chunk["choices"][0]["delta"]["thinking_blocks"].as_array());
    assert_eq!(signed.unwrap()[0], json!({"type": "thinking", "thinking": "hm", "signature": "sig"}));
    let call = |id: &str, name: &str, arguments: &str| [id, name, arguments].map(str::to_owned);
    assert_eq!(calls(&out.chunks), [call("t1", "look", "{\"a\": 1}"), call("t2", "wait", "{}")]);
    assert_eq!(ends(&out.chunks), ["tool_calls"]);
    let last = out.chunks.last().unwrap();
    assert_eq!((&last["choices"], &last["usage"]["prompt_tokens"]), (&json!([]), &json!(30)));
    assert_eq!((&last["usage"]["completion_tokens"], &last["model"]), (&json!(15), &json!("claude-x")));
}

#[test]
fn streams_that_are_cut_or_break_are_errors_and_keep_the_tokens_told() {
    let asked = request(with(hello(), json!({"stream": true})));
    let all = stream();
    for kept in 0..all.len() {
        let out = streamed(&target(FAMILY), &asked, events(&all[..kept]).as_bytes(), 50);
        assert_eq!(out.error, Some(WireError::Answer(AnswerFault::Truncated)), "{kept} events");
    }
    let mut failing = all[..8].to_vec();
    failing.push(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}));
    let out = streamed(&target(FAMILY), &asked, events(&failing).as_bytes(), 50);
    assert_eq!(out.error.map(|error| error.failure()), Some(Failure::Unavailable));
    assert_eq!(text(&out.chunks, "content"), "Hel");
    let wrong = [
        all[0].clone(),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}),
    ];
    let out = streamed(&target(FAMILY), &asked, events(&wrong).as_bytes(), 50);
    assert_eq!(out.error, Some(WireError::Answer(AnswerFault::Malformed)), "a piece of no block");
    let unended = [all[0].clone(), json!({"type": "message_stop"})];
    let out = streamed(&target(FAMILY), &asked, events(&unended).as_bytes(), 50);
    assert_eq!(out.error, Some(WireError::Answer(AnswerFault::Truncated)), "an end without a reason");
    let mut decoder = target(FAMILY).stream(&asked, answer());
    decoder.push(events(&all[..9]).as_bytes(), &mut Vec::new()).unwrap();
    assert_eq!(decoder.usage().map(|usage| usage.input), Some(30), "what was told before an abort counts");
}
