//! Messages as Anthropic's clients ask for them, over a provider that speaks as OpenAI does.

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use super::upstream::{Reply, Upstream, chunk};
use super::{over, service, small};

const MESSAGES: &str = "/v1/messages";

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
    let answer = client.post(MESSAGES, body).await.expect(status);
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
