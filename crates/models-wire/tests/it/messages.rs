//! Anthropic's messages as its clients speak them.

use bytes::Bytes;
use heddle_models_wire::{AnswerFault, ChatChunk, Failure, Family, Messages, StreamEvent, WireError};
use serde_json::{Value, json};

use crate::support::{answer, target, with};

fn read(body: &Value) -> Result<Messages, WireError> {
    Messages::read(Bytes::from(body.to_string()))
}

fn hello() -> Value {
    json!({"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": "Hi"}]})
}

/// The chat that a request becomes.
fn chat(body: &Value) -> Value {
    serde_json::from_slice(read(body).unwrap().request.body()).unwrap()
}

/// A conversation with all that the interface and a chat both have words for.
fn conversation() -> Value {
    let cache = json!({"type": "ephemeral"});
    json!({
        "model": "m", "max_tokens": 64, "temperature": 0.5, "top_p": 0.9, "top_k": 5, "stop_sequences": ["END"],
        "stream": true, "metadata": {"user_id": "u-1"}, "container": null,
        "system": [{"type": "text", "text": "Be short."}, {"type": "text", "text": "And kind.", "cache_control": cache}],
        "tools": [{"name": "look", "description": "Looks", "cache_control": cache,
            "input_schema": {"type": "object", "properties": {"a": {}}}}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": true},
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                {"type": "document", "title": "a.pdf",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "text", "text": "I look.", "citations": null},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}},
                {"type": "tool_use", "id": "t2", "name": "look", "input": {}, "cache_control": cache}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "a cat"},
                {"type": "tool_result", "tool_use_id": "t2", "is_error": true, "cache_control": cache,
                    "content": [{"type": "text", "text": "no dog"}]},
                {"type": "text", "text": "And?"}]},
        ],
    })
}

#[test]
fn a_conversation_becomes_a_chat() {
    let cache = json!({"type": "ephemeral"});
    assert_eq!(
        chat(&conversation()),
        json!({
            "model": "m", "max_tokens": 64, "temperature": 0.5, "top_p": 0.9, "top_k": 5, "stop": ["END"],
            "stream": true, "stream_options": {"include_usage": true}, "user": "u-1",
            "tools": [{"type": "function", "cache_control": cache, "function": {"name": "look", "description": "Looks",
                "parameters": {"type": "object", "properties": {"a": {}}}}}],
            "tool_choice": "required", "parallel_tool_calls": false,
            "messages": [
                {"role": "system", "content": [{"type": "text", "text": "Be short."},
                    {"type": "text", "text": "And kind.", "cache_control": cache}]},
                {"role": "user", "content": [
                    {"type": "text", "text": "What is it?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                    {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}}]},
                {"role": "assistant", "content": "I look.",
                    "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "sig"}],
                    "tool_calls": [
                        {"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{\"a\":1}"}},
                        {"id": "t2", "type": "function", "cache_control": cache,
                            "function": {"name": "look", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "t1", "content": "a cat"},
                {"role": "tool", "tool_call_id": "t2", "is_error": true,
                    "content": [{"type": "text", "text": "no dog", "cache_control": cache}]},
                {"role": "user", "content": "And?"},
            ],
        })
    );
}

#[test]
fn what_goes_to_a_provider_of_the_same_wire_is_what_came() {
    let request = read(&conversation()).unwrap().request;
    let sent = target(Family::Anthropic).chat(&request).unwrap();
    let sent: Value = serde_json::from_slice(&sent.body).unwrap();
    let mut came = conversation();
    let members = came.as_object_mut().unwrap();
    members.remove("container");
    came["model"] = json!("their-model");
    // Texts and contents may be blocks in either form.
    came["messages"][1]["content"][1].as_object_mut().unwrap().remove("citations");
    came["messages"][2]["content"][0]["content"] = json!([{"type": "text", "text": "a cat"}]);
    let result = came["messages"][2]["content"][1].as_object_mut().unwrap();
    let cache = result.remove("cache_control").unwrap();
    result["content"][0]["cache_control"] = cache;
    assert_eq!(sent, came);
}

/// Members of a message that are about its answer alone.
const ABOUT_THE_ANSWER: [&str; 8] =
    ["max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "stream", "metadata", "service_tier"];

#[test]
fn a_prompt_is_counted_without_what_is_about_its_answer() {
    let count = |body: &Value| Messages::prompt(Bytes::from(body.to_string()));
    let mut body = conversation();
    for member in ABOUT_THE_ANSWER {
        body.as_object_mut().unwrap().remove(member);
    }
    let (prompt, whole) = (count(&body).unwrap(), read(&conversation()).unwrap().request);
    assert_eq!(prompt.estimated_tokens(), whole.estimated_tokens());
    for member in ["messages", "tools", "tool_choice"] {
        assert_eq!(prompt.member(member), whole.member(member), "{member}");
    }
    // A default of the deployment counts as far as it is a part of the prompt.
    let thinking = json!({"type": "enabled", "budget_tokens": 1024});
    let defaults = json!({"temperature": 0.5, "max_tokens": 9, "user": "u", "thinking": thinking});
    let filled = prompt.with_defaults(defaults.as_object().unwrap()).unwrap();
    let sent = target(Family::Anthropic).count(&filled).unwrap().unwrap();
    assert_eq!(sent.path, "/v1/messages/count_tokens");
    assert!(sent.headers.iter().any(|header| header.name == "anthropic-version"));
    let sent: Value = serde_json::from_slice(&sent.body).unwrap();
    let mut names: Vec<&str> = sent.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["messages", "model", "system", "thinking", "tool_choice", "tools"]);
    let asked: Value = serde_json::from_slice(&target(Family::Anthropic).chat(&whole).unwrap().body).unwrap();
    assert_eq!((&sent["messages"], &sent["model"]), (&asked["messages"], &json!("their-model")));
    for family in Family::ALL.into_iter().filter(|family| *family != Family::Anthropic) {
        assert_eq!(target(family).count(&prompt), Ok(None), "{family}");
    }
    for member in ABOUT_THE_ANSWER {
        let error = count(&with(body.clone(), json!({member: 1}))).unwrap_err();
        assert_eq!((error.at(), error.failure()), (Some(member), Failure::InvalidRequest));
    }
    for (more, place) in [
        (json!({"container": "c"}), "container"),
        (json!({"model": ""}), "model"),
        (json!({"messages": []}), "messages"),
        (json!({"thinking": {}}), "thinking.type"),
    ] {
        assert_eq!(count(&with(body.clone(), more)).unwrap_err().at(), Some(place));
    }
}

#[test]
fn a_count_that_is_no_number_is_a_failure() {
    let target = target(Family::Anthropic);
    assert_eq!(target.count_response(br#"{"input_tokens": 14, "context_management": null}"#), Ok(14));
    for body in ["{}", "{\"input_tokens\": -1}", "[]", "14", ""] {
        let told = target.count_response(body.as_bytes());
        assert_eq!(told, Err(AnswerFault::Malformed.into()), "{body}");
    }
    let refused = br#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#;
    assert_eq!(target.count_response(refused).unwrap_err().failure(), Failure::Unavailable);
}

#[test]
fn each_choice_format_and_thought_has_its_word() {
    let tool = json!({"tools": [{"type": "custom", "name": "look", "input_schema": {}, "strict": true}]});
    for (choice, word) in [
        (json!({"type": "auto"}), json!("auto")),
        (json!({"type": "none"}), json!("none")),
        (json!({"type": "any"}), json!("required")),
        (json!({"type": "tool", "name": "look"}), json!({"type": "function", "function": {"name": "look"}})),
    ] {
        let body = with(with(hello(), tool.clone()), json!({"tool_choice": choice}));
        let chat = chat(&body);
        assert_eq!((&chat["tool_choice"], &chat["tools"][0]["function"]["strict"]), (&word, &json!(true)));
        assert_eq!(chat["parallel_tool_calls"], Value::Null);
    }
    let later = saying("system", json!([{"type": "text", "text": "Be kind."}]));
    assert_eq!(chat(&later)["messages"], json!([{"role": "system", "content": "Be kind."}]));
    let schema = json!({"type": "object", "properties": {}});
    let more = json!({"system": "Be short.", "thinking": {"type": "enabled", "budget_tokens": 1024},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": schema}}});
    let chat = chat(&with(hello(), more));
    assert_eq!(chat["messages"][0], json!({"role": "system", "content": "Be short."}));
    assert_eq!(chat["thinking"], json!({"type": "enabled", "budget_tokens": 1024}));
    assert_eq!(chat["reasoning_effort"], "low");
    assert_eq!(chat["response_format"]["type"], "json_schema");
    assert_eq!(chat["response_format"]["json_schema"]["schema"], schema);
}

/// A body whose one message has this content.
fn saying(role: &str, content: Value) -> Value {
    with(hello(), json!({"messages": [{"role": role, "content": content}]}))
}

#[test]
fn what_a_chat_has_no_word_for_is_refused_by_its_place() {
    let tool = |tool: Value| with(hello(), json!({"tools": [tool]}));
    let image = |source: Value| saying("user", json!([{"type": "image", "source": source}]));
    let result = json!({"type": "tool_result", "tool_use_id": "t"});
    for (body, place) in [
        (with(hello(), json!({"max_tokens": null})), "max_tokens"),
        (with(hello(), json!({"max_tokens": 0})), "max_tokens"),
        (with(hello(), json!({"model": ""})), "model"),
        (with(hello(), json!({"messages": []})), "messages"),
        (with(hello(), json!({"container": "c"})), "container"),
        (with(hello(), json!({"mcp_servers": [{}]})), "mcp_servers"),
        (with(hello(), json!({"metadata": {"team": "a"}})), "metadata.team"),
        (with(hello(), json!({"metadata": {"user_id": 7}})), "metadata.user_id"),
        (with(hello(), json!({"thinking": {}})), "thinking.type"),
        (with(hello(), json!({"temperature": "hot"})), "temperature"),
        (with(hello(), json!({"stop_sequences": "END"})), "stop_sequences"),
        (with(hello(), json!({"tool_choice": {"type": "any"}})), "tool_choice"),
        (with(hello(), json!({"tool_choice": {"type": "some"}})), "tool_choice"),
        (
            with(hello(), json!({"output_config": {"format": {"type": "xml", "schema": {}}}})),
            "output_config.format.type",
        ),
        (with(hello(), json!({"output_config": {"speed": 1}})), "output_config.speed"),
        (with(hello(), json!({"system": [{"type": "image"}]})), "system[0].type"),
        (tool(json!({"type": "web_search_20250305", "name": "web_search"})), "tools[0].type"),
        (tool(json!({"name": "look"})), "tools[0].input_schema"),
        (tool(json!({"name": "look", "input_schema": {}, "defer_loading": true})), "tools[0].defer_loading"),
        (tool(json!({"input_schema": {}})), "tools[0]"),
        (saying("tool", json!("Be short.")), "messages[0].role"),
        (saying("system", json!([{"type": "image"}])), "messages[0].content[0].type"),
        (saying("user", json!([])), "messages[0].content"),
        (saying("user", json!([{"type": "text"}])), "messages[0].content[0].text"),
        (
            saying("user", json!([{"type": "text", "text": "a", "citations": [{}]}])),
            "messages[0].content[0].citations",
        ),
        (saying("user", json!([{"type": "search_result"}])), "messages[0].content[0].type"),
        (saying("user", json!([{"type": "text", "text": "a"}, result])), "messages[0].content[1]"),
        (saying("assistant", json!([{"type": "image"}])), "messages[0].content[0].type"),
        (
            saying("assistant", json!([{"type": "tool_use", "id": "t", "name": "n", "input": "x"}])),
            "messages[0].content[0].input",
        ),
        (image(json!({"type": "file", "file_id": "f"})), "messages[0].content[0].source.type"),
        (image(json!({"type": "url"})), "messages[0].content[0].source.url"),
        (
            saying(
                "user",
                json!([{"type": "document", "source": {"type": "url", "url": "https://a"},
                "citations": {"enabled": true}}]),
            ),
            "messages[0].content[0].citations",
        ),
    ] {
        let error = read(&body).unwrap_err();
        assert_eq!((error.at(), error.failure()), (Some(place), Failure::InvalidRequest), "{body}: {error}");
        assert!(!format!("{error} {error:?}").contains("Be short"), "{error}");
    }
}

/// A `chat.completion` with one choice.
fn completion(message: &Value, finish: &str) -> Value {
    json!({"id": "c1", "object": "chat.completion", "created": 1, "model": "their-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18,
            "prompt_tokens_details": {"cached_tokens": 4}}})
}

fn message(asked: &Value, completion: &Value) -> Result<Value, WireError> {
    let whole = read(asked).unwrap().form.whole(completion.to_string().as_bytes())?;
    Ok(serde_json::from_slice(&whole).unwrap())
}

#[test]
fn an_answer_is_a_message_with_its_blocks_its_end_and_its_tokens() {
    let call =
        json!([{"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{\"a\":1}"}}]);
    let text = json!({"type": "text", "text": "It weaves."});
    let used = json!({"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}});
    for (said, finish, blocks, end) in [
        (json!({"content": "It weaves."}), "stop", json!([text]), "end_turn"),
        (json!({"content": "It weaves."}), "length", json!([text]), "max_tokens"),
        (json!({"content": null, "tool_calls": call}), "tool_calls", json!([used]), "tool_use"),
        (json!({"content": "It weaves.", "tool_calls": call}), "stop", json!([text, used]), "tool_use"),
        (json!({"content": ""}), "content_filter", json!([]), "refusal"),
        (json!({"content": null, "refusal": "It weaves."}), "stop", json!([text]), "refusal"),
        (json!({"content": "It weaves.", "reasoning_content": "hm"}), "stop", json!([text]), "end_turn"),
    ] {
        let told = message(&hello(), &completion(&said, finish)).unwrap();
        let expected = json!({"id": "c1", "type": "message", "role": "assistant", "model": "their-model",
            "content": blocks, "stop_reason": end, "stop_sequence": null,
            "usage": {"input_tokens": 7, "output_tokens": 7, "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 0}});
        assert_eq!(told, expected, "{said}");
    }
}

#[test]
fn the_text_that_ended_an_answer_is_told_where_it_is_one_of_the_callers() {
    let asked = with(hello(), json!({"stop_sequences": ["END", "###"]}));
    let told = |asked: &Value, finish: &str, stop: &Value| {
        let mut answer = completion(&json!({"content": "It weaves."}), finish);
        answer["choices"][0]["stop_reason"] = stop.clone();
        let whole = message(asked, &answer).unwrap();
        let mut last = piece(json!({}), Some(finish));
        last["choices"][0]["stop_reason"] = stop.clone();
        let pieces = [piece(json!({"content": "It weaves."}), None), last];
        let streamed = together(&events(asked, &pieces).unwrap());
        let end = |message: &Value| (message["stop_reason"].clone(), message["stop_sequence"].clone());
        assert_eq!(end(&whole), end(&streamed), "{finish} {stop}");
        end(&whole)
    };
    assert_eq!(told(&asked, "stop", &json!("###")), (json!("stop_sequence"), json!("###")));
    // Words of a provider's own, and numbers of tokens, are no texts of the caller's.
    for stop in [json!("eos"), json!(128_001), Value::Null] {
        assert_eq!(told(&asked, "stop", &stop), (json!("end_turn"), Value::Null), "{stop}");
    }
    assert_eq!(told(&hello(), "stop", &json!("###")), (json!("end_turn"), Value::Null));
    assert_eq!(told(&asked, "length", &json!("###")), (json!("max_tokens"), Value::Null));
    // As a provider of the same wire tells it.
    let Messages { request, form } = read(&asked).unwrap();
    let said = json!({"model": "claude-x", "content": [{"type": "text", "text": "It weaves."}],
        "stop_reason": "stop_sequence", "stop_sequence": "END", "usage": {"input_tokens": 1, "output_tokens": 2}});
    let response =
        target(Family::Anthropic).chat_response(&request, &answer(), said.to_string().into()).unwrap();
    let told: Value = serde_json::from_slice(&form.whole(&response.body).unwrap()).unwrap();
    assert_eq!((&told["stop_reason"], &told["stop_sequence"]), (&json!("stop_sequence"), &json!("END")));
    assert!(!format!("{form:?}").contains("END"));
}

#[test]
fn thoughts_are_told_to_who_asks_for_them() {
    let asked = with(hello(), json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}));
    let plain = json!({"content": "a", "reasoning_content": "hm"});
    let told = message(&asked, &completion(&plain, "stop")).unwrap();
    assert_eq!(told["content"][0], json!({"type": "thinking", "thinking": "hm", "signature": ""}));
    let block = json!({"type": "thinking", "thinking": "hm", "signature": "sig"});
    let signed = json!({"content": "a", "reasoning_content": "hm", "thinking_blocks": [block]});
    let told = message(&asked, &completion(&signed, "stop")).unwrap();
    assert_eq!((&told["content"][0], &told["content"][1]["text"]), (&block, &json!("a")));
    let disabled = with(hello(), json!({"thinking": {"type": "disabled"}}));
    assert_eq!(message(&disabled, &completion(&signed, "stop")).unwrap()["content"][0]["type"], "text");
    // Sent back, thoughts without a signature go as the provider said them.
    let echo =
        json!([{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": "a"}]);
    let said = &chat(&saying("assistant", echo))["messages"][0];
    assert_eq!(said, &json!({"role": "assistant", "content": "a", "reasoning_content": "hm"}));
}

#[test]
fn answers_that_are_no_messages_are_failures_and_tokens_that_nobody_told_are_estimates() {
    let call = json!([{"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{\"a\""}}]);
    let broken = completion(&json!({"content": null, "tool_calls": call}), "tool_calls");
    assert_eq!(message(&hello(), &broken), Err(AnswerFault::Malformed.into()));
    let mut endless = completion(&json!({"content": "a"}), "stop");
    endless["choices"][0]["finish_reason"] = Value::Null;
    assert_eq!(message(&hello(), &endless), Err(AnswerFault::Truncated.into()));
    assert_eq!(message(&hello(), &json!({"choices": []})), Err(AnswerFault::Malformed.into()));
    let mut untold = completion(&json!({"content": "It weaves cloth."}), "stop");
    untold.as_object_mut().unwrap().remove("usage");
    let usage = &message(&hello(), &untold).unwrap()["usage"];
    assert_eq!(usage["output_tokens"], 4);
    assert!(usage["input_tokens"].as_u64().unwrap() > 0, "{usage}");
}

/// An event of a stream of a message.
#[derive(Debug, PartialEq)]
struct Event {
    name: String,
    data: Value,
}

/// The events that pieces become, as a reader of `text/event-stream` sees them; with the end, unless it is a failure.
fn events(asked: &Value, pieces: &[Value]) -> Result<Vec<Event>, WireError> {
    let mut stream = read(asked).unwrap().form.stream();
    let chunk =
        |piece: &Value| StreamEvent::Chunk(ChatChunk { json: Bytes::from(piece.to_string()), weight: 8 });
    let mut text = String::new();
    for event in pieces.iter().map(chunk).chain([StreamEvent::Done]) {
        text.push_str(std::str::from_utf8(&stream.event(&event)?).unwrap());
    }
    let frames = text.split_terminator("\n\n").map(|frame| {
        let (name, data) = frame.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        let name = name.strip_prefix("event: ").unwrap().to_owned();
        assert_eq!(data["type"], name.as_str());
        Event { name, data }
    });
    Ok(frames.collect())
}

fn piece(delta: Value, finish: Option<&str>) -> Value {
    json!({"id": "c1", "model": "their-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

fn call(index: u32, more: Value) -> Value {
    let call = with(json!({"index": index}), more);
    piece(json!({"tool_calls": [call]}), None)
}

/// The message that a client puts together, with the numbers of its blocks in order.
fn together(events: &[Event]) -> Value {
    let mut message = events[0].data["message"].clone();
    let mut blocks: Vec<Value> = Vec::new();
    let mut inputs: Vec<String> = Vec::new();
    let mut open = false;
    for Event { name, data } in &events[1..] {
        match name.as_str() {
            "content_block_start" => {
                assert!(!open && data["index"] == blocks.len());
                blocks.push(data["content_block"].clone());
                inputs.push(String::new());
                open = true;
            }
            "content_block_delta" => {
                assert!(open && data["index"] == blocks.len() - 1);
                let (block, delta) = (blocks.last_mut().unwrap(), &data["delta"]);
                for member in ["text", "thinking", "signature"] {
                    if let Some(text) = delta[member].as_str() {
                        block[member] = json!(block[member].as_str().unwrap().to_owned() + text);
                    }
                }
                inputs.last_mut().unwrap().push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            "content_block_stop" => {
                assert!(std::mem::take(&mut open));
                let input = inputs.last().unwrap();
                if !input.is_empty() {
                    blocks.last_mut().unwrap()["input"] = serde_json::from_str(input).unwrap();
                }
            }
            "message_delta" => {
                message["stop_reason"] = data["delta"]["stop_reason"].clone();
                message["stop_sequence"] = data["delta"]["stop_sequence"].clone();
                message["usage"] = data["usage"].clone();
            }
            other => assert_eq!(other, "message_stop"),
        }
    }
    assert!(!open && events.last().unwrap().name == "message_stop");
    message["content"] = json!(blocks);
    message
}

#[test]
fn a_stream_is_a_message_in_pieces() {
    let usage = json!({"id": "c1", "model": "their-model", "choices": [],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}});
    let pieces = [
        piece(json!({"role": "assistant", "content": ""}), None),
        piece(json!({"content": "It "}), None),
        piece(json!({"content": "weaves."}), None),
        call(0, json!({"id": "t1", "type": "function", "function": {"name": "look", "arguments": ""}})),
        call(0, json!({"function": {"arguments": "{\"a\""}})),
        call(0, json!({"function": {"arguments": ":1}"}})),
        call(1, json!({"id": "t2", "function": {"name": "look", "arguments": "{}"}})),
        piece(json!({}), Some("tool_calls")),
        usage,
    ];
    let events = events(&hello(), &pieces).unwrap();
    assert_eq!(events[0].name, "message_start");
    assert!(events[0].data["message"]["usage"]["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(
        together(&events),
        json!({"id": "c1", "type": "message", "role": "assistant", "model": "their-model",
            "content": [{"type": "text", "text": "It weaves."},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}},
                {"type": "tool_use", "id": "t2", "name": "look", "input": {}}],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 0}})
    );
}

#[test]
fn streamed_thoughts_come_with_their_signature_to_who_asks_for_them() {
    let pieces = [
        piece(json!({"reasoning_content": "h"}), None),
        piece(json!({"reasoning_content": "m"}), None),
        piece(json!({"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "sig"}]}), None),
        piece(json!({"thinking_blocks": [{"type": "redacted_thinking", "data": "x"}]}), None),
        piece(json!({"content": "a"}), None),
        piece(json!({}), Some("stop")),
    ];
    let asked = with(hello(), json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}));
    let told = together(&events(&asked, &pieces).unwrap());
    assert_eq!(
        told["content"],
        json!([{"type": "thinking", "thinking": "hm", "signature": "sig"}, {"type": "redacted_thinking", "data": "x"},
            {"type": "text", "text": "a"}])
    );
    let told = together(&events(&hello(), &pieces).unwrap());
    assert_eq!(
        (&told["content"], &told["stop_reason"]),
        (&json!([{"type": "text", "text": "a"}]), &json!("end_turn"))
    );
}

#[test]
fn streams_in_no_order_or_without_an_end_are_failures() {
    let named = json!({"id": "t1", "function": {"name": "look", "arguments": "{"}});
    let more = json!({"function": {"arguments": "}"}});
    for (pieces, fault) in [
        (vec![], AnswerFault::Truncated),
        (vec![piece(json!({"content": "a"}), None)], AnswerFault::Truncated),
        (vec![call(0, more.clone())], AnswerFault::Malformed),
        (
            vec![call(0, named.clone()), call(1, with(named, json!({"id": "t2"}))), call(0, more)],
            AnswerFault::Malformed,
        ),
        (vec![json!({"choices": 7})], AnswerFault::Malformed),
    ] {
        assert_eq!(events(&hello(), &pieces), Err(fault.into()), "{pieces:?}");
    }
}
