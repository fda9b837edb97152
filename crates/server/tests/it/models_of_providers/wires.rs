//! What goes to providers and comes back, in each wire.

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

use super::upstream::{Reply, Upstream};
use super::{connect, deploy, events, question, said, service, small, streamed};

#[tokio::test]
async fn what_is_asked_reaches_a_provider_of_openais_wire_as_it_came() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        small(&app.admin, &provider).await;
        let mut body = question("small");
        let more = json!({ "temperature": 0.5, "top_p": 0.9, "seed": 7, "tool_choice": "auto", "user": "u",
            "metadata": { "team": "a" }, "reasoning_effort": "high", "deep": { "unknown": [1, { "x": null }] } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = app.admin.post("/api/chat", body.clone()).await.expect(200).data();
        assert_eq!(answer["choices"][0]["message"]["content"], "It weaves.");
        assert_eq!(answer["system_fingerprint"], "fp", "what nobody knows comes back, too");
        let asked = provider.last();
        assert!(asked.head.starts_with("POST /v1/chat/completions "), "{}", asked.head);
        assert!(asked.head.to_lowercase().contains("authorization: bearer a-key-of-some-length"));
        body["model"] = json!("m");
        assert_eq!(asked.body, body);
        // The same without the envelope, and at the address of OpenAI's clients.
        let bare = app.admin.post("/api/chat?format=openai", question("small")).await.expect(200).json();
        assert_eq!(bare["object"], "chat.completion");
        let bare = app.admin.post("/v1/chat/completions", question("small")).await.expect(200).json();
        assert_eq!(bare["choices"][0]["finish_reason"], "stop");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_stream_comes_piece_by_piece_with_its_usage_and_its_end() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::words(&["It ", "weaves."])).await;
        small(&app.admin, &provider).await;
        let answer = app.admin.post("/api/chat", streamed("small")).await.expect(200);
        assert_eq!(answer.header("content-type"), "text/event-stream");
        let told = events(&answer.text());
        assert_eq!((said(&told).as_str(), told.last().map(String::as_str)), ("It weaves.", Some("[DONE]")));
        assert_eq!(provider.last().body["stream_options"]["include_usage"], true, "usage is asked for");
        // Who says that they want none gets none.
        let mut body = streamed("small");
        body["stream_options"] = json!({ "include_usage": false });
        let told = events(&app.admin.post("/api/chat", body).await.expect(200).text());
        let has_usage = |event: &String| {
            serde_json::from_str::<Value>(event).is_ok_and(|event| event["usage"].is_object())
        };
        assert!(!told.iter().any(has_usage), "{told:?}");
        app.stop().await;
    });
}

#[tokio::test]
async fn providers_of_other_wires_are_asked_in_theirs() {
    with_both!(|db| {
        let mut app = service(db).await;
        let admin = app.admin.clone();
        let cases = [
            (
                "anthropic",
                "/v1/messages",
                "x-api-key: ",
                json!({ "id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                    "content": [{ "type": "text", "text": "It weaves." }],
                    "usage": { "input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 3 } }),
            ),
            (
                "gemini",
                ":generateContent",
                "x-goog-api-key: ",
                json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "It weaves." }] },
                    "finishReason": "STOP", "index": 0 }],
                    "usageMetadata": { "promptTokenCount": 8, "candidatesTokenCount": 2, "totalTokenCount": 10 } }),
            ),
            (
                "ollama",
                "/api/chat",
                "",
                json!({ "model": "m", "message": { "role": "assistant", "content": "It weaves." }, "done": true,
                    "done_reason": "stop", "prompt_eval_count": 8, "eval_count": 2 }),
            ),
        ];
        for (kind, path, key, body) in cases {
            let provider = Upstream::answering(Reply::json(&body)).await;
            let mut settings = json!({ "type": kind, "baseUrl": provider.url() });
            if !key.is_empty() {
                settings["apiKey"] = json!("a-key-of-some-length");
            }
            let connection = connect(&admin, kind, settings).await;
            deploy(
                &admin,
                &connection,
                json!({ "model": "m", "alias": kind, "capabilities": ["chat", "stream"] }),
            )
            .await;
            let answer = admin.post("/api/chat", question(kind)).await.expect(200).data();
            assert_eq!(answer["choices"][0]["message"]["content"], "It weaves.", "{kind}: {answer}");
            let usage = &answer["usage"];
            assert_eq!(
                (&usage["prompt_tokens"], &usage["completion_tokens"]),
                (&json!(8), &json!(2)),
                "{kind}"
            );
            let asked = provider.last();
            assert!(asked.head.lines().next().unwrap().contains(path), "{kind}: {}", asked.head);
            assert!(asked.head.to_lowercase().contains(key), "{kind}: {}", asked.head);
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn texts_are_embedded_in_their_order() {
    with_both!(|db| {
        let mut app = service(db).await;
        let body = json!({ "object": "list", "model": "m", "usage": { "prompt_tokens": 4, "total_tokens": 4 }, "data": [
            { "object": "embedding", "index": 0, "embedding": [1.0, 0.0] },
            { "object": "embedding", "index": 1, "embedding": [0.0, 1.0] }] });
        let provider = Upstream::answering(Reply::json(&body)).await;
        small(&app.admin, &provider).await;
        let ask = json!({ "model": "small", "input": ["a", "b"], "user": "u" });
        let answer = app.admin.post("/api/embeddings", ask.clone()).await.expect(200).data();
        assert_eq!(answer["data"][1]["embedding"], json!([0.0, 1.0]));
        assert_eq!(provider.last().body["user"], "u");
        for path in ["/api/embeddings?format=openai", "/v1/embeddings"] {
            let bare = app.admin.post(path, ask.clone()).await.expect(200).json();
            assert_eq!(bare["object"], "list", "{path}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn models_are_listed_as_each_kind_of_clients_reads_them() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("")).await;
        let id = small(&app.admin, &provider).await;
        let own = app.admin.get("/api/models").await.expect(200).data();
        assert_eq!((&own[0]["id"], &own[0]["deploymentId"]), (&json!("small"), &json!(id)));
        for path in ["/v1/models", "/api/models?format=openai"] {
            let list = app.admin.get(path).await.expect(200).json();
            assert_eq!(
                (&list["object"], &list["data"][0]["id"]),
                (&json!("list"), &json!("small")),
                "{path}"
            );
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_demonstration_chats_without_a_key_and_a_network() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.models.demo = true).await;
        let ask = json!({ "model": "built-in-answers", "messages": [
            { "role": "system", "content": "Context:\n[1] A loom weaves cloth of wool." },
            { "role": "user", "content": "What does a loom weave?" }] });
        let answer = app.admin.post("/api/chat", ask).await.expect(200).data();
        let text = answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
        assert!(text.contains("loom weaves cloth"), "{text}");
        assert_eq!(answer["heddle"]["extractive"], true, "it says what it is");
        app.stop().await;
    });
}
