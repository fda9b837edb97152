//! Who may call what: a deployment is authorized after the body names it.

use heddle_testkit::{TestApp, with_both};
use serde_json::json;

use super::upstream::{Reply, Upstream};
use super::{over, question, service};

/// A rule about one deployment.
async fn rule(app: &TestApp, user: &str, effect: &str, action: &str, deployment: &str) {
    let body = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "deployment",
        "action": action, "resourceId": deployment, "effect": effect });
    let _ = app.admin.post("/api/grants", body).await.expect(201);
}

#[tokio::test]
async fn a_deny_on_exactly_one_deployment_refuses_it_by_each_name_and_hides_it() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        let closed = over(&app.admin, &provider, "closed", json!({ "capabilities": ["chat"] })).await;
        over(&app.admin, &provider, "open", json!({})).await;
        let (user, person) = app.user("person", &["designer"]).await;
        let _ = person.post("/api/chat", question("closed")).await.expect(200);
        rule(&app, &user, "deny", "chat", &closed).await;
        for name in ["closed", closed.as_str()] {
            let denied = person.post("/api/chat", question(name)).await;
            let _ = denied.refused(403, "denied");
            let bare = person.post("/v1/chat/completions", question(name)).await.expect(403).json();
            assert_eq!(bare["error"]["type"], "permission_error", "{bare}");
        }
        let _ = person.post("/api/chat", question("open")).await.expect(200);
        // What nobody may call for anything that it can do is in no list of what may be called.
        for list in ["/api/models", "/api/models?format=openai", "/v1/models"] {
            let listed = person.get(list).await.expect(200).text();
            assert!(listed.contains("open") && !listed.contains("closed"), "{list}: {listed}");
        }
        // A deployment that is not there and one that is denied are told alike.
        let absent = person.post("/api/chat", question("nowhere")).await;
        assert_eq!(absent.status, 403, "{}", absent.text());
        assert_eq!(app.admin.post("/api/chat", question("nowhere")).await.status, 404);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_deny_on_exactly_one_deployment_is_heard_by_vector_databases() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        let vectors = json!({ "capabilities": ["embeddings"], "dimensions": 2 });
        let closed = over(&app.admin, &provider, "closed", vectors).await;
        let (user, person) = app.user("person", &["librarian"]).await;
        let databases = "/api/vector-databases";
        let models = format!("{databases}/embedding-models");
        assert!(person.get(&models).await.expect(200).text().contains(&closed));
        rule(&app, &user, "deny", "embed", &closed).await;
        assert!(!person.get(&models).await.expect(200).text().contains(&closed));
        let by_it = json!({ "name": "papers", "embeddingModelId": closed });
        let refused = person.post(databases, by_it).await.expect(400);
        assert!(!refused.text().contains(&closed), "{}", refused.text());
        let words = json!({ "name": "papers", "embeddingModelId": null });
        let _ = person.post(databases, words).await.expect(201);
        for name in ["closed", closed.as_str(), "nowhere"] {
            let query = json!({ "query": "loom", "rerank": { "deployment": name } });
            let answer = person.post(&format!("{databases}/papers/query"), query).await;
            if name == "nowhere" {
                // Nothing was found that could be put in order.
                assert!(matches!(answer.status, 200 | 409), "{}", answer.text());
            } else {
                let _ = answer.refused(409, "modelMissing");
            }
        }
        assert!(provider.asked().is_empty());
        app.stop().await;
    });
}

#[tokio::test]
async fn an_allow_on_exactly_one_deployment_is_enough() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        let one = over(&app.admin, &provider, "one", json!({})).await;
        over(&app.admin, &provider, "other", json!({})).await;
        let caller = json!({ "name": "caller", "permissions": ["models.use"], "grants": [] });
        let _ = app.admin.post("/api/roles", caller).await.expect(201);
        let (user, person) = app.user("person", &["caller"]).await;
        let _ = person.post("/api/chat", question("one")).await.expect(403);
        rule(&app, &user, "allow", "chat", &one).await;
        let _ = person.post("/api/chat", question("one")).await.expect(200);
        let _ = person.post("/api/chat", question("other")).await.expect(403);
        app.stop().await;
    });
}

#[tokio::test]
async fn another_organisation_has_models_of_its_own() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        let id = over(&app.admin, &provider, "ours", json!({})).await;
        let (_, elsewhere) = app.second_organization("second").await;
        for name in ["ours", id.as_str()] {
            let _ = elsewhere.post("/api/chat", question(name)).await.expect(404);
        }
        assert_eq!(elsewhere.get("/api/models").await.expect(200).data(), json!([]));
        assert!(provider.asked().is_empty());
        app.stop().await;
    });
}

#[tokio::test]
async fn a_repeat_under_a_key_gets_the_first_answer_and_asks_nobody() {
    with_both!(|db| {
        let mut app = service(db).await;
        let provider = Upstream::answering(Reply::chat("It weaves.")).await;
        over(&app.admin, &provider, "small", json!({})).await;
        let once = app.admin.with("idempotency-key", "once");
        let first = once.post("/api/chat", question("small")).await.expect(200);
        let again = once.post("/api/chat", question("small")).await.expect(200);
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!((again.text(), provider.asked().len()), (first.text(), 1));
        app.stop().await;
    });
}
