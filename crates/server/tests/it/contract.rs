//! The contract's rules that hold for many operations: searches, preconditions, repeats, deletes, negotiation.

use heddle_testkit::{Answer, Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::models;
use crate::samples::NOBODY;

fn names(list: &Value, member: &str) -> Vec<String> {
    let rows = list.as_array().into_iter().flatten();
    rows.filter_map(|row| row[member].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_search_finds_what_has_the_text_in_any_case_and_nothing_else() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let _ =
            admin.post("/api/organizations", json!({ "slug": "ueber", "displayName": "Überbau 100%" })).await;
        let role = json!({ "name": "weavers", "description": "Für die WEBEREI" });
        let _ = admin.post("/api/roles", role).await.expect(201);
        let _ = app.user("olga", &["viewer"]).await;
        for (path, member, cases) in [
            ("/api/organizations", "slug", [("üBERB", "ueber"), ("100%25", "ueber"), ("UEB", "ueber")]),
            ("/api/roles", "name", [("WEAV", "weavers"), ("für", "weavers"), ("weberei", "weavers")]),
            ("/api/members", "displayName", [("OLGA", "olga"), ("olga@ex", "olga"), ("LG", "olga")]),
        ] {
            for (text, found) in cases {
                let list = admin.get(&format!("{path}?q={text}")).await.expect(200).data();
                assert_eq!(names(&list, member), [found], "{path} {text}");
            }
            for nothing in ["zzznothere", "_%25_", "100_"] {
                let list = admin.get(&format!("{path}?q={nothing}")).await.expect(200).data();
                assert_eq!(list, json!([]), "{path} {nothing}");
            }
        }
        // What is found stays found under its new name.
        let list = admin.get("/api/roles?q=weavers").await.data();
        let path = format!("/api/roles/{}", list[0]["id"].as_str().unwrap());
        let _ = admin.patch(&path, json!({ "name": "spinners" })).await.expect(200);
        assert_eq!(admin.get("/api/roles?q=weavers").await.data(), json!([]));
        assert_eq!(names(&admin.get("/api/roles?q=SPIN").await.data(), "name"), ["spinners"]);
        app.stop().await;
    });
}

async fn with_tag(client: &Client, method: &str, path: &str, tag: &str, body: Option<Value>) -> Answer {
    let request = client.request(method, path).header("if-match", tag);
    match body {
        Some(body) => request.json(&body).send().await,
        None => request.send().await,
    }
}

#[tokio::test]
async fn a_precondition_holds_wherever_it_is_taken_and_is_refused_elsewhere() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let work = admin.publish_bpmn("work", &models::task()).await;
        let run = admin.run(&work, json!({})).await;
        let path = format!("/api/workflows/{work}/runs/{}", run["id"].as_str().unwrap());
        for stale in ["\"99\"", "W/\"1\"", "W/\"99\", \"98\""] {
            let refused =
                with_tag(&admin, "DELETE", &path, stale, None).await.refused(409, "revisionMismatch");
            assert_eq!(refused["details"][0]["currentRevision"], 1, "{stale}: {refused}");
        }
        for unreadable in ["nonsense", "\"1\", \"2\"", "", "\"-1\""] {
            let answer = with_tag(&admin, "DELETE", &path, unreadable, None).await.expect(400);
            assert_eq!(answer.fields(), ["If-Match"], "{unreadable}");
        }
        assert_eq!(admin.get(&path).await.data()["state"], "waiting");
        let _ = with_tag(&admin, "DELETE", &path, "\"1\"", None).await.expect(204);
        let purge = format!("{path}?purge=true");
        let _ = with_tag(&admin, "DELETE", &purge, "\"1\"", None).await.refused(409, "revisionMismatch");
        let _ = with_tag(&admin, "DELETE", &purge, "*", None).await.expect(204);

        let (id, _) = app.user("person", &["viewer"]).await;
        let member = format!("/api/members/{id}");
        let roles = json!({ "roles": ["worker"] });
        let refused = with_tag(&admin, "PUT", &member, "\"99\"", Some(roles.clone())).await;
        assert_eq!(refused.refused(409, "revisionMismatch")["details"][0]["currentRevision"], 1);
        let _ =
            with_tag(&admin, "PUT", &member, "\"7\", \"7\", W/\"1\"", Some(roles.clone())).await.expect(409);
        let _ = with_tag(&admin, "PUT", &member, "\"1\"", Some(roles.clone())).await.expect(200);
        // Who is no member yet has no revision that could be the one.
        let (_, there) = app.second_organization("second").await;
        let _ = with_tag(&there, "PUT", &member, "\"1\"", Some(roles.clone()))
            .await
            .refused(409, "revisionMismatch");
        let _ = there.get("/api/members?q=person").await.expect(200);

        // What has no revision takes no precondition.
        for (method, path) in
            [("PUT", format!("/api/workflows/{work}/star")), ("DELETE", format!("/api/grants/{NOBODY}"))]
        {
            let answer = with_tag(&admin, method, &path, "\"1\"", None).await.expect(400);
            assert_eq!(answer.fields(), ["If-Match"], "{method} {path}");
        }
        let path = format!("/api/workflows/{work}");
        let refused =
            with_tag(&admin, "DELETE", &path, "\"99\"", None).await.refused(409, "revisionMismatch");
        assert_eq!(refused["details"][0]["currentRevision"], 2, "{refused}");
        app.stop().await;
    });
}

#[tokio::test]
async fn of_those_who_name_one_revision_one_wins_and_the_others_are_told_the_present_one() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let role = format!("/api/roles/{}", app.role("raced", &[]).await);
        let workflow = admin.create("raced", json!({ "nodes": [], "edges": [] })).await;
        for (path, member) in [(role, "description"), (format!("/api/workflows/{workflow}"), "displayName")] {
            let calls = (0..8).map(|n| {
                let (admin, path) = (admin.clone(), path.clone());
                let body = json!({ member: format!("Name {n}") });
                tokio::spawn(async move { with_tag(&admin, "PATCH", &path, "\"1\"", Some(body)).await })
            });
            let mut won = 0;
            for call in calls.collect::<Vec<_>>() {
                let answer = call.await.unwrap();
                if answer.status == 200 {
                    won += 1;
                    continue;
                }
                let refused = answer.refused(409, "revisionMismatch");
                assert_eq!(refused["details"][0]["currentRevision"], 2, "{path}: {refused}");
            }
            assert_eq!(won, 1, "{path}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_token_ends_no_session() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let made = admin.post("/api/auth/tokens", json!({ "name": "ci" })).await.expect(201).data();
        let token = app.anonymous().bearer(made["token"].as_str().unwrap());
        let session = admin.get("/api/auth/sessions").await.data()[0]["id"].as_str().unwrap().to_owned();
        let _ = token.post("/api/auth/sign-out", json!({})).await.refused(403, "sessionRequired");
        let path = format!("/api/auth/sessions/{session}");
        let _ = token.delete(&path).await.refused(403, "sessionRequired");
        let _ = admin.get("/api/auth/session").await.expect(200);
        let _ = token.get("/api/auth/session").await.expect(200);
        let _ = admin.delete(&path).await.expect(204);
        let _ = admin.get("/api/auth/session").await.expect(401);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_validation_that_does_not_play_the_tokens_says_so_and_one_without_a_profile_is_that_of_publishing()
{
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let work = admin.create("work", nodes()).await;
        let path = format!("/api/workflows/{work}/validate");
        let validate = async |body: Value| admin.post(&path, body).await.expect(200).data();
        for profile in ["structural", "bpel"] {
            let told = validate(json!({ "profile": profile })).await;
            assert_eq!(told.get("soundness"), Some(&Value::Null), "{profile}: {told}");
        }
        assert!(validate(json!({ "profile": "full" })).await["soundness"].is_object());
        let (absent, published) = (
            validate(json!({})).await,
            admin.post(&format!("/api/workflows/{work}/publish"), json!({})).await,
        );
        let published = published.expect(200).data();
        assert_eq!(absent["diagnostics"], published["diagnostics"], "{absent}");
        // A case type is imported by an operation of its own.
        let cmmn =
            json!({ "source": { "format": "cmmn", "content": "<definitions/>" }, "target": "definition" });
        let refused = admin.post("/api/workflows/transform/preview", cmmn).await.expect(400);
        assert_eq!(refused.fields(), ["source.format"]);
        app.stop().await;
    });
}

/// Start, a human task, end.
fn nodes() -> Value {
    json!({
        "nodes": [{ "id": "s", "type": "startEvent" }, { "id": "work", "type": "userTask", "displayName": "Work" },
            { "id": "e", "type": "endEvent" }],
        "edges": [{ "id": "a", "source": "s", "target": "work" }, { "id": "b", "source": "work", "target": "e" }],
    })
}

#[tokio::test]
async fn changes_without_a_precondition_are_all_made() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let workflow = admin.create("busy", json!({ "nodes": [], "edges": [] })).await;
        let role = app.role("busy", &[]).await;
        let (user, _) = app.user("busy", &["viewer"]).await;
        for path in
            [format!("/api/workflows/{workflow}"), format!("/api/roles/{role}"), format!("/api/users/{user}")]
        {
            let name = if path.contains("roles") { "description" } else { "displayName" };
            let calls = (0..12).map(|n| {
                let (admin, path) = (admin.clone(), path.clone());
                tokio::spawn(async move { admin.patch(&path, json!({ name: format!("Name {n}") })).await })
            });
            for call in calls.collect::<Vec<_>>() {
                let _ = call.await.unwrap().expect(200);
            }
            let now = admin.get(&path).await.data();
            assert_eq!(now["revision"], 13, "{path}: each change is one");
            // A change that changes nothing is none.
            let same = admin.patch(&path, json!({ name: now[name] })).await.expect(200).data();
            assert_eq!(
                (&same["revision"], &same["updatedAt"]),
                (&now["revision"], &now["updatedAt"]),
                "{path}"
            );
        }
        let organization = format!("/api/organizations/{}", app.organization);
        let before = admin.get(&organization).await.data();
        assert_eq!(admin.patch(&organization, json!({})).await.expect(200).data(), before);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_repeat_is_the_first_answer() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let work = admin.publish_bpmn("work", &models::task()).await;
        let starts = format!("/api/workflows/{work}/runs");
        let grant = json!({ "principal": { "kind": "everyone" }, "resourceType": "workflow", "action": "read",
            "resourceId": "*", "effect": "allow" });
        for (path, body) in [
            ("/api/workflows", json!({ "slug": "one", "displayName": "One", "description": "" })),
            (starts.as_str(), json!({ "businessKey": "b" })),
            ("/api/users", json!({ "email": "one@example.com", "displayName": "One" })),
            ("/api/roles", json!({ "name": "one" })),
            ("/api/grants", grant),
            ("/api/organizations", json!({ "slug": "one", "displayName": "One" })),
        ] {
            let keyed = admin.with("idempotency-key", "once");
            let first = keyed.post(path, body.clone()).await.expect(201);
            let again = keyed.post(path, body).await.expect(201);
            assert_eq!(again.header("idempotent-replayed"), "true", "{path}");
            assert_eq!(first.bytes, again.bytes, "{path}");
            for name in ["location", "etag"] {
                assert_eq!(first.header(name), again.header(name), "{path} {name}");
            }
            assert!(!again.header("location").is_empty(), "{path}");
        }
        // A secret is shown once, and what holds it is made once.
        let keyed = admin.with("idempotency-key", "secret");
        let first = keyed.post("/api/auth/tokens", json!({ "name": "once" })).await.expect(201);
        let again = keyed.post("/api/auth/tokens", json!({ "name": "once" })).await;
        let told = again.refused(409, "secretShownOnce");
        assert_eq!(told["details"][0]["location"], first.header("location"), "{told}");
        let _ = keyed
            .post("/api/auth/tokens", json!({ "name": "other" }))
            .await
            .refused(409, "idempotencyKeyReused");
        let tokens = admin.get("/api/auth/tokens").await.data();
        assert_eq!(names(&tokens, "name"), ["once"]);
        // The trial is there already: the key is read all the same.
        let long = admin.with("idempotency-key", &"k".repeat(201));
        let answer = long.request("POST", "/api/licence/trial").send().await.expect(409);
        assert_eq!(answer.fields(), ["Idempotency-Key"]);
        app.stop().await;
    });
}

#[tokio::test]
async fn the_repeat_of_a_start_that_waits_waits_for_the_same_run() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let work = admin.publish_bpmn("work", &models::task()).await;
        let path = format!("/api/workflows/{work}/runs");
        let keyed = admin.with("idempotency-key", "waits");
        let body = json!({ "wait": "completion", "timeoutMs": 30 });
        let first = keyed.post(&path, body.clone()).await.expect(201);
        let run = first.id();
        let _ = admin.complete(&work, &run, "work", json!({})).await.expect(200);
        let again = keyed.post(&path, body.clone()).await.expect(201);
        assert_eq!((again.id(), &again.data()["state"]), (run.clone(), &json!("completed")));
        assert_eq!(
            (again.header("idempotent-replayed"), again.header("location")),
            ("true", first.header("location"))
        );
        let _ = admin.delete(&format!("{path}/{run}?purge=true")).await.expect(204);
        assert_eq!(keyed.post(&path, body).await.expect(201).id(), run, "no other run is started");
        assert_eq!(admin.get(&path).await.data(), json!([]));
        app.stop().await;
    });
}

#[tokio::test]
async fn the_same_event_again_gets_the_first_answer() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let later = admin.publish_bpmn("later", &models::message(true)).await;
        let run = admin.run(&later, json!({ "correlationKey": "order" })).await;
        let event =
            json!({ "correlationKey": "order", "eventType": "paid", "idempotencyKey": "e", "payload": {} });
        let first = admin.post("/api/case-events", event.clone()).await.expect(202);
        assert_eq!(first.data()["workflowRunIds"], json!([]));
        let run = run["id"].as_str().unwrap();
        let _ = admin.complete(&later, run, "work", json!({})).await.expect(200);
        let _ = admin.run_in(&later, run, "completed").await;
        let again = admin.post("/api/case-events", event).await.expect(202);
        assert_eq!((again.header("idempotent-replayed"), &again.bytes), ("true", &first.bytes));
        assert_eq!(again.header("location"), first.header("location"));
        let now = admin.get(first.header("location")).await.data();
        assert_eq!(now["workflowRunIds"], json!([run]), "what became of it is told by its own operation");
        let signal = json!({ "name": "s", "idempotencyKey": "s", "payload": {} });
        let first = admin.post("/api/signals", signal.clone()).await.expect(202);
        let again = admin.post("/api/signals", signal).await.expect(202);
        assert_eq!((again.header("idempotent-replayed"), &again.bytes), ("true", &first.bytes));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_done_delete_is_done_for_who_did_it() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (_, other) = app.user("other", &["owner"]).await;

        let session = app.try_sign_in(&app.account.0, &app.account.1).await.data();
        let path = format!("/api/auth/sessions/{}", session["session"]["id"].as_str().unwrap());
        for _ in 0..2 {
            let _ = admin.delete(&path).await.expect(204);
        }
        let _ = other.delete(&path).await.expect(404);
        let _ = admin.delete(&format!("/api/auth/sessions/{NOBODY}")).await.expect(404);

        let (id, there) = app.second_organization("second").await;
        let path = format!("/api/organizations/{id}");
        let workflow = there.create("kept", json!({ "nodes": [], "edges": [] })).await;
        let refused = admin.delete(&path).await.refused(409, "inUse");
        assert_eq!(refused["details"][0]["usedBy"], json!([{ "type": "workflow", "count": 1 }]), "{refused}");
        let _ = there.delete(&format!("/api/workflows/{workflow}")).await.expect(204);
        for _ in 0..2 {
            let _ = admin.delete(&path).await.expect(204);
        }
        let _ = other.delete(&path).await.expect(404);
        let _ = admin.get(&path).await.expect(404);
        let _ = admin.delete(&format!("/api/organizations/{NOBODY}")).await.expect(404);

        let work = admin.publish_bpmn("work", &models::task()).await;
        let elsewhere = admin.publish_bpmn("elsewhere", &models::task()).await;
        let run = admin.run(&work, json!({})).await["id"].as_str().unwrap().to_owned();
        let path = format!("/api/workflows/{work}/runs/{run}");
        let _ = admin.delete(&path).await.expect(204);
        for purge in ["?purge=true", "?purge=true", ""] {
            let _ = admin.delete(&format!("{path}{purge}")).await.expect(204);
        }
        for purge in ["?purge=true", ""] {
            let _ = admin.delete(&format!("/api/workflows/{elsewhere}/runs/{run}{purge}")).await.expect(404);
        }
        let _ = admin.delete(&format!("{path}?compensate=true")).await.expect(204);
        app.stop().await;
    });
}

#[tokio::test]
async fn an_answer_is_of_a_media_type_that_the_caller_takes() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let nodes = json!([{ "id": "s", "type": "startEvent" }, { "id": "e", "type": "endEvent" }]);
        let edges = json!([{ "id": "f", "source": "s", "target": "e" }]);
        let work = admin.create("plain", json!({ "nodes": nodes, "edges": edges })).await;
        let bpmn = format!("/api/workflows/{work}/export/bpmn");
        let bpel = format!("/api/workflows/{work}/export/bpel?format=zip");
        let (xml, json) = ("application/xml", "application/json");
        for (path, accept, media) in [
            (bpmn.as_str(), "*/*", xml),
            (&bpmn, json, json),
            (&bpmn, "application/json;q=0.1, application/xml", xml),
            (&bpmn, "application/xml;q=0.1, application/*", json),
            (&bpmn, "application/zip, application/json;q=0.1", json),
            (&bpel, "application/zip", "application/zip"),
            ("/api/audit-events", "application/x-ndjson, application/json;q=0.5", "application/x-ndjson"),
            ("/api/workflows", "application/problem+json", json),
            ("/api/workflows/bpmn/conformance/report", "text/html", "text/html; charset=utf-8"),
            ("/api/workflows/bpmn/conformance/report", "*/*", json),
        ] {
            let answer = admin.with("accept", accept).get(path).await.expect(200);
            assert_eq!(answer.header("content-type"), media, "{path} {accept}");
        }
        for (path, accept) in [
            (bpmn.as_str(), "application/zip"),
            (&bpel, "application/xml"),
            ("/api/workflows", "image/png"),
            ("/api/workflows", "application/json;q=0"),
            ("/health", "text/html"),
            ("/api/workflows/bpmn/conformance/report?format=html", "application/json"),
        ] {
            let answer = admin.with("accept", accept).get(path).await;
            assert_eq!(
                answer.refused(406, "notAcceptable")["details"][0]["field"],
                "Accept",
                "{path} {accept}"
            );
        }
        // The gate decides first.
        let stranger = app.anonymous().with("accept", "image/png");
        let _ = stranger.get("/api/workflows").await.expect(401);
        app.stop().await;
    });
}

#[tokio::test]
async fn what_a_caller_sends_counts_or_is_refused_by_name() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let work = admin.publish_bpmn("work", &models::task()).await;
        let run = admin.run(&work, json!({})).await["id"].as_str().unwrap().to_owned();
        let star = format!("/api/workflows/{work}/star");
        let events = format!("/api/workflows/{work}/runs/{run}/events");
        let new = json!({ "slug": "new", "displayName": "New", "description": "" });

        let answer = admin.post("/api/workflows?foo=1&bar=2", new).await;
        let mut fields = answer.fields();
        fields.sort_unstable();
        assert_eq!(fields, ["bar", "foo"]);
        let _ = answer.refused(400, "unknownField");
        let _ = admin.put(&star, json!({ "starred": false })).await.refused(415, "notAllowed");
        let _ = admin.put(&star, json!({})).await.expect(200);

        let everyone = json!({ "principal": { "kind": "everyone", "id": "abc" }, "resourceType": "workflow",
            "action": "read", "resourceId": "*", "effect": "allow" });
        assert_eq!(admin.post("/api/grants", everyone).await.expect(400).fields(), ["principal.id"]);

        for wrong in ["abc", "-1", "", "1.5"] {
            let request = admin.request("GET", &format!("{events}/stream")).header("last-event-id", wrong);
            assert_eq!(request.send().await.expect(400).fields(), ["Last-Event-ID"], "{wrong}");
        }
        let answer = admin.get(&format!("{events}?types=run.started,nothing")).await.expect(400);
        assert_eq!(answer.fields(), ["types[1]"]);

        let text = r#"{"input":{"n":12345678901234567890123}}"#;
        let request = admin.request("POST", &format!("/api/workflows/{work}/runs"));
        let answer = request.body("application/json", text.into()).send().await;
        assert_eq!(answer.fields(), ["input.n"]);
        let _ = answer.refused(400, "outOfRange");
        // A whole number with a point is an integer where one is asked for, and stays as it is elsewhere.
        let text = r#"{"version":1.0,"input":{"n":1.0}}"#;
        let request = admin.request("POST", &format!("/api/workflows/{work}/runs"));
        let started = request.body("application/json", text.into()).send().await.expect(201);
        assert_eq!(started.data()["input"]["n"].as_f64(), Some(1.0));

        for (path, body, field) in [
            ("/api/roles", json!({ "name": "twice" }), "name"),
            ("/api/groups", json!({ "name": "twice-over" }), "name"),
            ("/api/users", json!({ "email": "twice@example.com", "displayName": "T" }), "email"),
            ("/api/organizations", json!({ "slug": "twice", "displayName": "T" }), "slug"),
            ("/api/auth/tokens", json!({ "name": "twice" }), "name"),
        ] {
            let _ = admin.post(path, body.clone()).await.expect(201);
            let answer = admin.post(path, body).await;
            assert_eq!(answer.fields(), [field], "{path}");
            assert!(!answer.text().contains("constraint"), "{}", answer.text());
            let _ = answer.refused(409, "notUnique");
        }
        for path in ["/api/roles", "/api/groups"] {
            let answer = admin.post(path, json!({ "name": "viewer" })).await;
            assert_eq!(answer.fields(), ["name"], "{path}");
            let _ = answer.refused(409, "notUnique");
        }
        let allow = admin.delete("/api/workflows").await.expect(405);
        assert_eq!(allow.header("allow"), "GET, POST, HEAD");
        app.stop().await;
    });
}
