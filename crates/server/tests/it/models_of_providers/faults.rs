//! Faults of providers: each is told by its kind, nothing of it is taken for an answer, and nothing waits for ever.

use std::time::Duration;

use heddle_testkit::{Answer, TestApp, eventually, with_both};
use serde_json::json;

use super::upstream::{Reply, Upstream, chunk};
use super::{events, over, question, said, service, small, streamed};
use crate::raw::{HERE, Raw};

/// Machine word of a failure.
fn reason(answer: &Answer) -> String {
    answer.json()["error"]["details"][0]["reason"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn each_fault_of_a_provider_has_its_status_and_its_word() {
    with_both!(|db| {
        let mut app = service(db).await;
        let admin = app.admin.clone();
        let cases = [
            ("400 Bad Request", 400, "providerRefused"),
            ("401 Unauthorized", 503, "providerAuthFailed"),
            ("404 Not Found", 409, "modelNotFound"),
            ("429 Too Many Requests", 429, "providerRateLimited"),
            ("500 Internal Server Error", 503, "providerUnavailable"),
        ];
        for (at, (status, told, word)) in cases.into_iter().enumerate() {
            let reply = Reply::failing(status, "canary of a provider").with("retry-after", "0");
            let provider = Upstream::answering(reply).await;
            let alias = format!("fault-{at}");
            over(&admin, &provider, &alias, json!({})).await;
            let answer = admin.post("/api/chat", question(&alias)).await.expect(told);
            assert_eq!(reason(&answer), word, "{status}: {}", answer.text());
            let detail = &answer.json()["error"]["details"][0];
            assert_eq!(detail["provider"], "custom");
            let bare = admin.post("/v1/chat/completions", question(&alias)).await.expect(told).json();
            assert!(bare["error"]["message"].is_string() && bare["error"]["code"] == word, "{bare}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_passing_failure_is_tried_again_before_the_first_piece_and_a_fallback_is_asked_behind_it() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        provider.then([Reply::failing("503 Service Unavailable", "busy").with("retry-after", "0")]);
        small(&app.admin, &provider).await;
        let answer = app.admin.post("/api/chat", question("small")).await.expect(200).data();
        assert_eq!(answer["choices"][0]["message"]["content"], "It weaves.");
        assert_eq!(provider.asked().len(), 2);

        let broken = Upstream::answering(Reply::failing("401 Unauthorized", "no")).await;
        let other = Upstream::answering(Reply::words(&["From ", "the other."])).await;
        let fallback = over(&app.admin, &other, "other", json!({})).await;
        over(&app.admin, &broken, "first", json!({ "fallbacks": [fallback] })).await;
        let told = events(&app.admin.post("/api/chat", streamed("first")).await.expect(200).text());
        assert_eq!(said(&told), "From the other.");
        assert_eq!((broken.asked().len(), other.asked().len()), (1, 1));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_stream_that_breaks_ends_with_an_error_and_without_done() {
    with_both!(|db| {
        let mut app = service(db).await;
        let piece = chunk("It ");
        let cases = [
            ("cut", Reply::events(&[&piece]).cut(), "providerAnswerInvalid"),
            ("endless", Reply::events(&[&piece]), "providerAnswerInvalid"),
            ("malformed", Reply::events(&[&piece, "data: {oops"]), "providerAnswerInvalid"),
            ("stalled", Reply::events(&[&piece]).stalled(), "providerTimeout"),
        ];
        for (alias, reply, word) in cases {
            let provider = Upstream::answering(reply).await;
            over(&app.admin, &provider, alias, json!({ "timeouts": { "betweenTokensMs": 300 } })).await;
            let told = events(&app.admin.post("/api/chat", streamed(alias)).await.expect(200).text());
            assert_eq!(said(&told), "It ", "{alias}: {told:?}");
            let last = told.last().unwrap();
            assert!(last.contains("\"error\"") && !last.contains("[DONE]"), "{alias}: {last}");
            let broke =
                word == "providerTimeout" || last.contains(word) || last.contains("providerUnavailable");
            assert!(broke, "{alias}: {last}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_slow_first_piece_is_given_up_in_time() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::words(&["late"]).late(Duration::from_secs(60))).await;
        let timeouts = json!({ "timeouts": { "firstTokenMs": 200, "totalMs": 1000 } });
        over(&app.admin, &provider, "slow", timeouts).await;
        let answer = app.admin.post("/api/chat", streamed("slow")).await.expect(503);
        assert_eq!(reason(&answer), "providerTimeout", "{}", answer.text());
        app.stop().await;
    });
}

#[tokio::test]
async fn who_hangs_up_stops_the_provider_at_once() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::events(&[&chunk("It ")]).stalled()).await;
        small(&app.admin, &provider).await;
        for (at, body) in [streamed("small"), question("small")].into_iter().enumerate() {
            let body = body.to_string();
            let mut raw = Raw::connect(&app, HERE).await;
            let (length, token) = (body.len(), app.admin.token());
            raw.send(&format!(
                "POST /api/chat HTTP/1.1\r\nhost: h\r\nauthorization: Bearer {token}\r\n\
                 content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
            ))
            .await;
            eventually("the provider is asked", async || (provider.asked().len() > at).then_some(())).await;
            if at == 0 {
                raw.until("data: ").await;
            }
            drop(raw);
            eventually("the provider is left", async || (provider.left() > at).then_some(())).await;
        }
        let aborted = async || {
            let usage = app.admin.get("/api/usage").await.expect(200).data();
            (usage[0]["aborted"] == 2).then_some(())
        };
        eventually("both are counted as aborted", aborted).await;
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_too_long_is_refused_before_it_is_read() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let mut raw = Raw::connect(&app, HERE).await;
        let token = app.admin.token();
        raw.send(&format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: h\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: 104857600\r\n\r\n"
        ))
        .await;
        let told = raw.until("}").await;
        assert!(told.starts_with("HTTP/1.1 413 ") && told.contains("33554432"), "{told}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_request_that_is_wrong_is_told_with_its_place() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("")).await;
        small(&app.admin, &provider).await;
        for (member, value) in [
            ("messages", json!([])),
            ("temperature", json!(3)),
            ("stream", json!("yes")),
            ("max_tokens", json!(0)),
        ] {
            let mut body = question("small");
            body[member] = value;
            let answer = app.admin.post("/api/chat", body.clone()).await.expect(400);
            assert_eq!(answer.fields(), [member]);
            let bare = app.admin.post("/v1/chat/completions", body).await.expect(400).json();
            assert_eq!(
                (&bare["error"]["param"], &bare["error"]["type"]),
                (&json!(member), &json!("invalid_request_error"))
            );
        }
        assert!(provider.asked().is_empty(), "nothing of it was sent");
        app.stop().await;
    });
}
