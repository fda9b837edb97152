//! Messages as Anthropic's clients ask for them, over a provider that speaks as OpenAI does.

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use super::upstream::{Reply, Upstream, chunk};
use super::{connect, deploy, over, service, small};

const MESSAGES: &str = "/v1/messages";
const COUNT: &str = "/v1/messages/count_tokens";

/// The administrator as such a client comes: with a token in a header of its own.
fn caller(app: &TestApp) -> Client {
    let token = app.admin.token();
    app.admin.without("authorization").with("x-api-key", &token).with("anthropic-version", "2023-06-01")
}

fn asking(model: &str) -> Value {
    json!({ "model": model, "max_tokens": 64, "messages": [{ "role": "user", "content": "What is a loom?" }] })
}

fn more(mut body: Value, members: Value) -> Value {
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    body
}

/// The same question as its tokens are counted.
fn prompt(model: &str) -> Value {
    let mut body = asking(model);
    body.as_object_mut().unwrap().remove("max_tokens");
    body
}

/// Tokens of a prompt, as they are told.
async fn count(app: &TestApp, body: Value) -> u64 {
    let told = caller(app).post(COUNT, body).await.expect(200).json();
    assert_eq!(told.as_object().unwrap().len(), 1, "{told}");
    told["input_tokens"].as_u64().unwrap()
}

/// A deployment over a provider that speaks as Anthropic does.
async fn of_anthropic(app: &TestApp, provider: &Upstream, alias: &str) {
    let settings =
        json!({ "type": "anthropic", "baseUrl": provider.url(), "apiKey": "a-key-of-some-length" });
    let connection = connect(&app.admin, alias, settings).await;
    let body = json!({ "model": "m", "alias": alias, "capabilities": ["chat", "stream"], "defaults": { "temperature": 0.5 } });
    deploy(&app.admin, &connection, body).await;
}

/// Names of a stream's events, and their data.
fn told(text: &str) -> Vec<(String, Value)> {
    let frames = text.split_terminator("\n\n").map(|frame| {
        let (name, data) = frame.split_once('\n').unwrap();
        let data = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        (name.strip_prefix("event: ").unwrap().to_owned(), data)
    });
    frames.filter(|(name, _)| name != "ping").collect()
}

#[tokio::test]
async fn a_question_in_anthropics_words_is_a_call_like_any_other() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        small(&app.admin, &provider).await;
        let body =
            more(asking("small"), json!({ "system": "Be short.", "top_k": 3, "stop_sequences": ["END"] }));
        let answer = caller(&app).post(MESSAGES, body).await.expect(200);
        assert_eq!(answer.header("request-id"), answer.header("x-request-id"));
        assert_eq!(
            answer.json(),
            json!({ "id": "up-1", "type": "message", "role": "assistant", "model": "m",
                "content": [{ "type": "text", "text": "It weaves." }],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": { "input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 0,
                    "cache_creation_input_tokens": 0 } })
        );
        assert_eq!(
            provider.last().body,
            json!({ "model": "m", "max_tokens": 64, "top_k": 3, "stop": ["END"], "messages": [
                { "role": "system", "content": "Be short." },
                { "role": "user", "content": "What is a loom?" }] })
        );
        assert!(!provider.last().head.contains(&app.admin.token()), "no token of a caller leaves");
        let usage = app.admin.get("/api/usage?by=deployment").await.expect(200).data();
        assert_eq!((&usage[0]["calls"], &usage[0]["inputTokens"]), (&json!(1), &json!(11)));
        let trail = app.admin.get("/api/audit-events?action=model.chat_completed").await.expect(200).text();
        assert!(trail.contains("model.chat_completed") && !trail.contains("loom"), "{trail}");
        let once = caller(&app).with("idempotency-key", "once");
        let first = once.post(MESSAGES, asking("small")).await.expect(200);
        let again = once.post(MESSAGES, asking("small")).await.expect(200);
        assert_eq!((again.header("idempotent-replayed"), again.text()), ("true", first.text()));
        assert_eq!(provider.asked().len(), 2);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_stream_comes_as_events_of_a_message_and_one_that_breaks_as_an_error() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::words(&["It ", "weaves."])).await;
        small(&app.admin, &provider).await;
        let streamed = |model: &str| more(asking(model), json!({ "stream": true }));
        let answer = caller(&app).post(MESSAGES, streamed("small")).await.expect(200);
        assert_eq!(answer.header("content-type"), "text/event-stream");
        let events = told(&answer.text());
        let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
        let expected = [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ];
        assert_eq!(names, expected);
        assert!(events.iter().all(|(name, data)| data["type"] == name.as_str()));
        let text: String = events.iter().filter_map(|(_, data)| data["delta"]["text"].as_str()).collect();
        assert_eq!((text.as_str(), &events[5].1["delta"]["stop_reason"]), ("It weaves.", &json!("end_turn")));
        assert!(events[5].1["usage"]["output_tokens"].as_u64().unwrap() > 0, "{}", events[5].1);
        assert_eq!(provider.last().body["stream_options"]["include_usage"], true, "usage is asked for");

        let broken = Upstream::answering(Reply::events(&[&chunk("It ")]).cut()).await;
        over(&app.admin, &broken, "broken", json!({})).await;
        let events = told(&caller(&app).post(MESSAGES, streamed("broken")).await.expect(200).text());
        let (name, data) = events.last().unwrap();
        assert_eq!(
            (name.as_str(), &data["type"], &data["error"]["type"]),
            ("error", &json!("error"), &json!("api_error"))
        );
        assert!(data["request_id"].is_string() && !events.iter().any(|(name, _)| name == "message_stop"));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_goes_back() {
    with_both!(|db| {
        let mut app = service(db).await;
        let call = json!([{ "id": "t1", "type": "function",
            "function": { "name": "weave", "arguments": "{\"what\":\"wool\"}" } }]);
        let answer = |arguments: &Value| {
            json!({ "id": "up-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{ "index": 0,
                "message": { "role": "assistant", "content": null, "tool_calls": arguments }, "finish_reason": "tool_calls" }] })
        };
        let provider = Upstream::answering(Reply::chat("Done.")).await;
        provider.then([Reply::json(&answer(&call))]);
        small(&app.admin, &provider).await;
        let tools = json!({ "tools": [{ "name": "weave", "input_schema": { "type": "object" } }] });
        let first =
            caller(&app).post(MESSAGES, more(asking("small"), tools.clone())).await.expect(200).json();
        let used = json!({ "type": "tool_use", "id": "t1", "name": "weave", "input": { "what": "wool" } });
        assert_eq!((&first["content"], &first["stop_reason"]), (&json!([used]), &json!("tool_use")));
        assert_eq!(provider.last().body["tools"][0]["function"]["name"], "weave");
        let mut next = more(asking("small"), tools.clone());
        let result = json!({ "type": "tool_result", "tool_use_id": "t1", "content": "cloth" });
        let turns = [
            json!({ "role": "assistant", "content": first["content"] }),
            json!({ "role": "user", "content": [result] }),
        ];
        next["messages"].as_array_mut().unwrap().extend(turns);
        let last = caller(&app).post(MESSAGES, next).await.expect(200).json();
        assert_eq!(last["content"][0]["text"], "Done.");
        let sent = provider.last().body;
        assert_eq!(sent["messages"][1]["tool_calls"], call);
        assert_eq!(sent["messages"][2], json!({ "role": "tool", "tool_call_id": "t1", "content": "cloth" }));
        // A call that is no JSON is no message, and is told as the provider's failure.
        let broken =
            json!([{ "id": "t1", "type": "function", "function": { "name": "weave", "arguments": "{" } }]);
        provider.then([Reply::json(&answer(&broken))]);
        let failed = caller(&app).post(MESSAGES, more(asking("small"), tools)).await.expect(503).json();
        assert_eq!(failed["error"]["type"], "api_error", "{failed}");
        app.stop().await;
    });
}

/// The kind and the words of a failure.
async fn failure(client: &Client, body: Value, status: u16) -> (String, String) {
    failure_at(client, MESSAGES, body, status).await
}

/// The same at a path.
async fn failure_at(client: &Client, path: &str, body: Value, status: u16) -> (String, String) {
    let answer = client.post(path, body).await.expect(status);
    let told = answer.json();
    assert_eq!((&told["type"], &told["request_id"]), (&json!("error"), &json!(answer.header("request-id"))));
    let text = |member: &str| told["error"][member].as_str().unwrap_or_default().to_owned();
    (text("type"), text("message"))
}

#[tokio::test]
async fn each_refusal_is_told_as_anthropics_clients_read_it() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        let closed = over(&app.admin, &provider, "small", json!({})).await;
        let client = caller(&app);
        let mut unbound = asking("small");
        unbound.as_object_mut().unwrap().remove("max_tokens");
        for (body, place) in [
            (unbound, "max_tokens"),
            (more(asking("small"), json!({ "container": "c" })), "container"),
            (
                more(asking("small"), json!({ "tools": [{ "type": "bash_20250124", "name": "bash" }] })),
                "tools[0].type",
            ),
            (
                more(asking("small"), json!({ "messages": [{ "role": "tool", "content": "a" }] })),
                "messages[0].role",
            ),
        ] {
            let (kind, words) = failure(&client, body, 400).await;
            assert!(kind == "invalid_request_error" && words.contains(place), "{place}: {words}");
        }
        assert_eq!(failure(&client, asking("nowhere"), 404).await.0, "not_found_error");
        let (user, person) = app.user("person", &["designer"]).await;
        let _ = person.post(MESSAGES, asking("small")).await.expect(200);
        let rule = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "deployment",
            "action": "chat", "resourceId": closed, "effect": "deny" });
        let _ = app.admin.post("/api/grants", rule).await.expect(201);
        for name in ["small", closed.as_str(), "nowhere"] {
            assert_eq!(failure(&person, asking(name), 403).await.0, "permission_error");
        }
        assert_eq!(provider.asked().len(), 1, "nothing of what was refused was sent");
        app.stop().await;
    });
}

#[tokio::test]
async fn the_tokens_of_a_prompt_are_counted_by_its_provider_or_by_the_length_of_its_texts() {
    with_both!(|db| {
        let mut app = service(db).await;
        let plain = Upstream::answering(Reply::chat("It weaves.")).await;
        small(&app.admin, &plain).await;
        let short = count(&app, prompt("small")).await;
        let long = count(&app, more(prompt("small"), json!({ "system": "Be short. ".repeat(100) }))).await;
        assert!(short > 0 && long > short + 200, "{short} {long}");
        assert!(plain.asked().is_empty(), "it is an estimate");

        let counting = Upstream::answering(Reply::json(&json!({ "input_tokens": 14 }))).await;
        of_anthropic(&app, &counting, "counting").await;
        assert_eq!(count(&app, prompt("counting")).await, 14);
        let asked = counting.last();
        assert!(asked.head.starts_with("POST /v1/messages/count_tokens "), "{}", asked.head);
        assert!(!asked.head.contains(&app.admin.token()), "no token of a caller leaves");
        let text = json!([{ "type": "text", "text": "What is a loom?" }]);
        assert_eq!(
            asked.body,
            json!({ "model": "m", "messages": [{ "role": "user", "content": text }] }),
            "nothing of the answer, such as a default of the deployment, goes along"
        );
        // A service on this wire without a count.
        counting.then([Reply::failing("404 Not Found", "no such path")]);
        assert_eq!(count(&app, prompt("counting")).await, short);
        let client = caller(&app);
        for (status, told, kind) in [
            ("429 Too Many Requests", 429, "rate_limit_error"),
            ("529 Overloaded", 503, "api_error"),
            ("400 Bad Request", 400, "invalid_request_error"),
        ] {
            let before = counting.asked().len();
            counting.then([Reply::failing(status, "no")]);
            assert_eq!(failure_at(&client, COUNT, prompt("counting"), told).await.0, kind, "{status}");
            assert_eq!(counting.asked().len(), before + 1, "{status}: it is asked once");
        }
        // Nothing was made of any of them.
        assert_eq!(app.admin.get("/api/usage?by=deployment").await.expect(200).data(), json!([]));
        let trail = app.admin.get("/api/audit-events?limit=200").await.expect(200).text();
        assert!(!trail.contains("model.chat_completed") && !trail.contains("loom"), "{trail}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_count_takes_the_rights_of_a_chat_and_is_a_request_among_the_others() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        let closed = over(&app.admin, &provider, "small", json!({})).await;
        let client = caller(&app);
        for (body, place) in [
            (asking("small"), "max_tokens"),
            (more(prompt("small"), json!({ "stream": true })), "stream"),
            (
                more(prompt("small"), json!({ "messages": [{ "role": "tool", "content": "a" }] })),
                "messages[0].role",
            ),
        ] {
            let (kind, words) = failure_at(&client, COUNT, body, 400).await;
            assert!(kind == "invalid_request_error" && words.contains(place), "{place}: {words}");
        }
        assert_eq!(failure_at(&client, COUNT, prompt("nowhere"), 404).await.0, "not_found_error");
        let nobody = client.without("x-api-key");
        assert_eq!(failure_at(&nobody, COUNT, prompt("small"), 401).await.0, "authentication_error");
        over(&app.admin, &provider, "vectors", json!({ "capabilities": ["embeddings"] })).await;
        assert_eq!(failure_at(&client, COUNT, prompt("vectors"), 409).await.0, "invalid_request_error");
        let (user, person) = app.user("person", &["designer"]).await;
        let _ = person.post(COUNT, prompt("small")).await.expect(200);
        let rule = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "deployment",
            "action": "chat", "resourceId": closed, "effect": "deny" });
        let _ = app.admin.post("/api/grants", rule).await.expect(201);
        for name in ["small", closed.as_str(), "nowhere"] {
            assert_eq!(failure_at(&person, COUNT, prompt(name), 403).await.0, "permission_error");
        }
        over(&app.admin, &provider, "held", json!({ "limits": { "requestsPerMinute": 2 } })).await;
        let _ = count(&app, prompt("held")).await;
        let _ = client.post(MESSAGES, asking("held")).await.expect(200);
        let held = client.post(COUNT, prompt("held")).await.expect(429);
        assert!(held.header("retry-after").parse::<u64>().unwrap() > 0);
        assert_eq!(failure(&client, asking("held"), 429).await.0, "rate_limit_error");
        assert_eq!(provider.asked().len(), 1, "the one message alone was sent");
        app.stop().await;
    });
}

#[tokio::test]
async fn the_text_that_ended_an_answer_is_told_where_the_provider_tells_it() {
    with_both!(|db| {
        let mut app = service(db).await;
        let said = json!({ "id": "m", "type": "message", "role": "assistant", "model": "m",
            "stop_reason": "stop_sequence", "stop_sequence": "END",
            "content": [{ "type": "text", "text": "It weaves." }],
            "usage": { "input_tokens": 5, "output_tokens": 2 } });
        let provider = Upstream::answering(Reply::json(&said)).await;
        of_anthropic(&app, &provider, "told").await;
        let ending = |body: Value| more(body, json!({ "stop_sequences": ["END", "###"] }));
        let whole = caller(&app).post(MESSAGES, ending(asking("told"))).await.expect(200).json();
        let end = |told: &Value| (told["stop_reason"].clone(), told["stop_sequence"].clone());
        assert_eq!(end(&whole), (json!("stop_sequence"), json!("END")));
        let pieces = [
            json!({ "type": "message_start", "message": { "model": "m", "usage": { "input_tokens": 5 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "It weaves." } }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "stop_sequence", "stop_sequence": "###" },
                "usage": { "output_tokens": 2 } }),
            json!({ "type": "message_stop" }),
        ];
        let pieces = pieces.map(|piece| format!("data: {piece}"));
        provider.then([Reply::events(&pieces.each_ref().map(String::as_str))]);
        let body = more(ending(asking("told")), json!({ "stream": true }));
        let events = told(&caller(&app).post(MESSAGES, body).await.expect(200).text());
        let (_, last) = events.iter().find(|(name, _)| name == "message_delta").unwrap();
        assert_eq!(end(&last["delta"]), (json!("stop_sequence"), json!("###")));
        // Who asks in OpenAI's words is told beside `finish_reason`, and who asked for no such text has an end as any other.
        let plain = more(asking("told"), json!({ "stop": ["END"] }));
        let plain = app.admin.post("/v1/chat/completions", plain).await.expect(200).json();
        let choice = &plain["choices"][0];
        assert_eq!((&choice["finish_reason"], &choice["stop_reason"]), (&json!("stop"), &json!("END")));
        let unasked = caller(&app).post(MESSAGES, asking("told")).await.expect(200).json();
        assert_eq!(end(&unasked), (json!("end_turn"), Value::Null));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_token_in_the_header_of_anthropics_clients_signs_in_there_alone() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        small(&app.admin, &provider).await;
        let client = caller(&app);
        for wrong in ["wrong", ""] {
            let (kind, _) = failure(&client.with("x-api-key", wrong), asking("small"), 401).await;
            assert_eq!(kind, "authentication_error", "{wrong:?}");
        }
        let (kind, _) = failure(&client.without("x-api-key"), asking("small"), 401).await;
        assert_eq!(kind, "authentication_error");
        // Two that differ are not weighed against each other; the same twice is one.
        let (kind, words) = failure(&app.admin.with("x-api-key", "wrong"), asking("small"), 400).await;
        assert!(kind == "invalid_request_error" && words.contains("x-api-key"), "{words}");
        let other = client.with("authorization", "Basic bm9ib2R5Og==");
        assert_eq!(failure(&other, asking("small"), 400).await.0, "invalid_request_error");
        let both = app.admin.with("x-api-key", &app.admin.token());
        let _ = both.post(MESSAGES, asking("small")).await.expect(200);
        // Elsewhere the header says nothing.
        for path in ["/v1/chat/completions", "/api/chat"] {
            let _ = client.post(path, asking("small")).await.expect(401);
        }
        let _ = client.get("/v1/models").await.expect(401);
        assert_eq!(provider.asked().len(), 1);
        app.stop().await;
    });
}
