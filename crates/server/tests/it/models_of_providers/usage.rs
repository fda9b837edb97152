//! What is counted of calls, and what holds them back.

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

use super::upstream::{Reply, Upstream};
use super::{over, question, service, streamed};
use crate::vectors::{DATABASES, ingested, made, text_file};

/// The one row along an axis.
async fn row(app: &TestApp, by: &str) -> Value {
    app.admin.get(&format!("/api/usage?by={by}")).await.expect(200).data()[0].clone()
}

#[tokio::test]
async fn each_call_is_counted_with_tokens_and_costs_and_nothing_of_it_is_told_elsewhere() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("canary of an answer")).await;
        let prices = json!({ "prices": { "currency": "EUR", "input": 1_000_000, "output": 2_000_000 } });
        let id = over(&app.admin, &provider, "small", prices).await;
        let _ = app.admin.post("/api/chat", question("small")).await.expect(200);
        let _ = app.admin.post("/v1/chat/completions", question("small")).await.expect(200);
        let day = row(&app, "day").await;
        assert_eq!(
            (&day["calls"], &day["inputTokens"], &day["outputTokens"]),
            (&json!(2), &json!(22), &json!(14))
        );
        // 11 tokens at one unit and 7 at two for each million, in millionths.
        assert_eq!(day["costMicros"], 2 * (11 + 14), "{day}");
        assert_eq!(row(&app, "deployment").await["key"], id);
        let events = app.admin.get("/api/audit-events?limit=200").await.expect(200).text();
        assert!(events.contains("model.chat_completed"));
        assert!(
            !events.contains("canary") && !events.contains("What is a loom"),
            "no word of a call in the trail"
        );
        app.stop().await;
    });
}

#[tokio::test]
async fn a_rate_holds_calls_back_and_says_for_how_long() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        let limits = json!({ "limits": { "requestsPerMinute": 1 } });
        over(&app.admin, &provider, "small", limits).await;
        let _ = app.admin.post("/api/chat", question("small")).await.expect(200);
        let held = app.admin.post("/api/chat", question("small")).await;
        assert!(held.header("retry-after").parse::<u64>().unwrap() > 0);
        let detail = held.refused(429, "rateLimited")["details"][0].clone();
        assert_eq!((&detail["limit"], &detail["of"]), (&json!("requestsPerMinute"), &json!("deployment")));
        assert_eq!(provider.asked().len(), 1);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_budget_that_does_not_hold_a_call_refuses_it_before_anybody_is_asked() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::words(&["It weaves."])).await;
        let limits = json!({ "limits": { "budget": { "period": "day", "tokens": 1 } } });
        over(&app.admin, &provider, "small", limits).await;
        let held = app.admin.post("/api/chat", streamed("small")).await;
        let detail = held.refused(429, "budgetExhausted")["details"][0].clone();
        assert_eq!(detail["of"], "deployment", "{detail}");
        assert!(provider.asked().is_empty());
        app.stop().await;
    });
}

#[tokio::test]
async fn one_organisation_at_its_limits_holds_no_other_back() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| {
            config.egress_loopback = true;
            config.models.limits.requests_per_minute = Some(1);
        })
        .await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        over(&app.admin, &provider, "small", json!({})).await;
        let (_, elsewhere) = app.second_organization("second").await;
        over(&elsewhere, &provider, "small", json!({})).await;
        let _ = app.admin.post("/api/chat", question("small")).await.expect(200);
        let held = app.admin.post("/api/chat", question("small")).await;
        assert_eq!(held.refused(429, "rateLimited")["details"][0]["of"], "organization");
        let _ = elsewhere.post("/api/chat", question("small")).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn what_a_vector_database_embeds_is_accounted_to_whoever_asks_for_it() {
    with_both!(|db| {
        let mut app = service(db).await;
        let body = json!({ "object": "list", "model": "m", "usage": { "prompt_tokens": 4, "total_tokens": 4 },
            "data": [{ "object": "embedding", "index": 0, "embedding": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] }] });
        let provider = Upstream::answering(Reply::json(&body)).await;
        let more = json!({ "capabilities": ["embeddings"], "dimensions": 8 });
        let deployment = over(&app.admin, &provider, "vectors", more).await;
        let new = json!({ "name": "papers", "embeddingModelId": deployment });
        let _ = app.admin.post("/api/vector-databases", new).await.expect(201);
        let (uploader, clerk) = app.user("uploader", &["librarian"]).await;
        let (asker, reader) = app.user("asker", &["librarian"]).await;
        let _ = ingested(&clerk, "papers", text_file("loom.txt", "A loom weaves.")).await;
        let query = "/api/vector-databases/papers/query";
        let found =
            reader.post(query, json!({ "query": "loom", "mode": "semantic" })).await.expect(200).data();
        assert_eq!(found["passages"].as_array().unwrap().len(), 1, "{found}");
        let by = app.admin.get("/api/usage?by=user").await.expect(200).data();
        let calls = |user: &str| {
            let row = by.as_array().unwrap().iter().find(|row| row["key"] == user);
            row.map_or(json!(0), |row| row["calls"].clone())
        };
        assert_eq!((calls(&uploader), calls(&asker)), (json!(1), json!(1)), "{by}");
        // Who names a deployment to rerank by needs the right to use it, and learns nothing without.
        for named in ["vectors", "absent"] {
            let rerank = json!({ "query": "loom", "mode": "keyword", "rerank": { "deployment": named } });
            let refused = reader.post(query, rerank).await.refused(409, "modelMissing");
            let told = format!("there is no deployment `{named}`");
            assert!(refused.to_string().contains(&told), "{refused}");
            assert_eq!(refused["details"][0]["field"], "rerank.deployment");
        }
        // Of nothing that was found nothing is put in order.
        let nothing = json!({ "query": "zebra", "mode": "keyword", "rerank": { "deployment": "vectors" } });
        let none = app.admin.post(query, nothing).await.expect(200).data();
        assert_eq!(none["passages"], json!([]));
        assert_eq!(provider.asked().len(), 2);
        app.stop().await;
    });
}

/// Order of a deployment that reranks, and how many passages it puts in order.
#[tokio::test]
async fn a_deployment_puts_as_many_of_the_best_passages_in_order_as_are_asked_for() {
    with_both!(|db| {
        let mut app = service(db).await;
        let ranked = |scores: &[f64]| {
            let of = |(index, score): (usize, &f64)| json!({ "index": index, "relevance_score": score });
            Reply::json(&json!({ "results": scores.iter().enumerate().map(of).collect::<Vec<_>>() }))
        };
        let provider = Upstream::answering(ranked(&[0.1, 0.9])).await;
        let _ = over(&app.admin, &provider, "judge", json!({ "capabilities": ["rerank"] })).await;
        let _ = made(&app.admin, "papers").await;
        let files = json!({ "files": [{ "name": "a.txt", "text": "A loom, a loom." },
            { "name": "b.txt", "text": "Of all that stands in the mill by the river the loom is the oldest." }] });
        let _ = ingested(&app.admin, "papers", files).await;
        let asked = async |more: Value| {
            let mut body = json!({ "query": "loom" });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let answer = app.admin.post(&format!("{DATABASES}/papers/query"), body).await.expect(200).data();
            let passages = answer["passages"].as_array().unwrap().clone();
            passages.iter().map(|one| one["fileName"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(asked(json!({})).await, ["a.txt", "b.txt"]);
        assert_eq!(asked(json!({ "rerank": { "deployment": "judge" } })).await, ["b.txt", "a.txt"]);
        provider.then([ranked(&[0.5])]);
        let one = json!({ "rerank": { "deployment": "judge", "candidates": 1 } });
        assert_eq!(asked(one).await, ["a.txt"]);
        app.stop().await;
    });
}

/// Fusion of what is found by meaning and by words, and passages that differ.
#[tokio::test]
async fn passages_are_put_in_order_by_the_fusion_and_the_diversity_that_are_asked_for() {
    with_both!(|db| {
        let mut app = service(db).await;
        let meaning = |[one, other]: [f64; 2]| {
            Reply::json(
                &json!({ "object": "list", "model": "m", "usage": { "prompt_tokens": 4, "total_tokens": 4 },
                "data": [{ "object": "embedding", "index": 0, "embedding": [one, other, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] }] }),
            )
        };
        let provider = Upstream::answering(meaning([1.0, 0.0])).await;
        let more = json!({ "capabilities": ["embeddings"], "dimensions": 8 });
        let deployment = over(&app.admin, &provider, "meanings", more).await;
        let new = json!({ "name": "papers", "embeddingModelId": deployment });
        let _ = app.admin.post(DATABASES, new).await.expect(201);
        for (name, text, vector) in [
            ("words.txt", "A loom, a loom.", [0.6, 0.8]),
            ("sense.txt", "Of all that stands in the mill by the river the loom is the oldest.", [1.0, 0.0]),
            (
                "like.txt",
                "Of all that stands in the barn by the road the loom is the youngest.",
                [0.99, 0.14],
            ),
        ] {
            provider.then([meaning(vector)]);
            let _ = ingested(&app.admin, "papers", text_file(name, text)).await;
        }
        let asked = async |more: Value| {
            let mut body = json!({ "query": "loom" });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let answer = app.admin.post(&format!("{DATABASES}/papers/query"), body).await.expect(200).data();
            let passages = answer["passages"].as_array().unwrap().clone();
            let name = |one: &Value| one["fileName"].as_str().unwrap().to_owned();
            (passages.iter().map(name).collect::<Vec<_>>(), passages[0]["score"].as_f64().unwrap())
        };
        for (alpha, first) in [(0.0, "words.txt"), (1.0, "sense.txt")] {
            let (found, _) = asked(json!({ "fusion": { "method": "minMax", "alpha": alpha } })).await;
            assert_eq!(found[0], first, "{alpha}: {found:?}");
        }
        // The first by ranks has at most two shares of the first place.
        for (k, most) in [(1, 1.0), (60, 2.0 / 61.0)] {
            let (_, score) = asked(json!({ "fusion": { "method": "rrf", "k": k } })).await;
            assert!(score > most / 2.0 && score < most + 1e-6, "{k}: {score}");
        }
        for (lambda, second) in [(1.0, "like.txt"), (0.0, "words.txt")] {
            let body = json!({ "mode": "semantic", "diversity": { "mmrLambda": lambda } });
            let (found, _) = asked(body).await;
            assert_eq!((found[0].as_str(), found[1].as_str()), ("sense.txt", second), "{lambda}: {found:?}");
        }
        app.stop().await;
    });
}
