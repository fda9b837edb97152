//! Signing in and out, sessions, tokens, and denies.

use heddle_testkit::app::PASSWORD;
use heddle_testkit::{TestApp, with_both};
use serde_json::json;

use crate::models;

#[tokio::test]
async fn wrong_passwords_are_refused_and_slow_the_account_down() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let _ = app.user("known", &["viewer"]).await;
        let mut messages = Vec::new();
        for email in ["known@example.com", "unknown@example.com"] {
            let mut refused = 0;
            let throttled = loop {
                let answer = app.try_sign_in(email, "not the password").await;
                if answer.status == 429 {
                    break answer;
                }
                messages.push(answer.refused(401, "signInRefused")["message"].clone());
                refused += 1;
                assert!(refused < 12, "{email} is never slowed down");
            };
            assert!(refused >= 5, "{email}: slowed down after {refused}");
            let seconds: u64 = throttled.header("retry-after").parse().unwrap();
            assert!((1..=900).contains(&seconds));
            let _ = throttled.refused(429, "throttled");
        }
        assert!(messages.windows(2).all(|pair| pair[0] == pair[1]), "{messages:?}");
        // The wait holds for the right password too, and ends.
        app.advance("PT16M").await;
        let _ = app.sign_in("known@example.com", PASSWORD).await;
        app.stop().await;
    });
}

#[tokio::test]
async fn the_cookie_of_a_session_is_worth_nothing_to_another_site() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (email, password) = app.account.clone();
        let answer = app.try_sign_in(&email, &password).await.expect(200);
        let set = answer.header("set-cookie").to_owned();
        for part in ["__Host-heddle-session=", "Path=/", "Secure", "HttpOnly", "SameSite=Lax"] {
            assert!(set.contains(part), "{set}");
        }
        let browser = app.anonymous().cookie(answer.data()["token"].as_str().unwrap());
        let _ = browser.get("/api/auth/session").await.expect(200);
        let body = || json!({ "slug": "by-cookie", "displayName": "By cookie", "description": "" });
        for (name, value) in
            [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"), ("origin", "null")]
        {
            let _ =
                browser.with(name, value).post("/api/workflows", body()).await.refused(403, "csrfRejected");
        }
        let _ =
            browser.with("origin", "https://evil.example").post("/api/workflows", body()).await.expect(403);
        let form =
            browser.request("POST", "/api/auth/sign-out").body("text/plain", b"x".to_vec()).send().await;
        let _ = form.refused(403, "csrfRejected");
        let _ =
            browser.with("sec-fetch-site", "same-origin").post("/api/workflows", body()).await.expect(201);
        let _ = browser
            .with("authorization", "Bearer other")
            .get("/api/workflows")
            .await
            .refused(401, "contradiction");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_new_password_and_a_sign_out_end_sessions_at_once() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, here) = app.user("person", &["viewer"]).await;
        let there = app.sign_in("person@example.com", PASSWORD).await;
        let sessions = here.get("/api/auth/sessions").await.expect(200).data();
        assert_eq!(sessions.as_array().map(Vec::len), Some(2), "{sessions}");
        let new = "another four wide looms";
        let change = |current: &str| json!({ "currentPassword": current, "newPassword": new });
        let wrong = here.put("/api/auth/password", change("not the password")).await;
        assert!(matches!(wrong.status, 400 | 401 | 409), "{}", wrong.text());
        let _ = there.get("/api/auth/session").await.expect(200);
        let _ = here.put("/api/auth/password", change(PASSWORD)).await.expect(204);
        let _ = there.get("/api/auth/session").await.expect(401);
        let _ = here.get("/api/auth/session").await.expect(200);
        let _ = app.try_sign_in("person@example.com", PASSWORD).await.expect(401);
        let second = app.sign_in("person@example.com", new).await;
        let _ = second.post("/api/auth/sign-out", json!({})).await.expect(204);
        let _ = second.get("/api/workflows").await.expect(401);
        let _ = here.get("/api/workflows").await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn sessions_end_by_time_and_by_their_owner() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, here) = app.user("person", &["viewer"]).await;
        let there = app.sign_in("person@example.com", PASSWORD).await;
        let sessions = here.get("/api/auth/sessions").await.expect(200).data();
        let other = sessions.as_array().unwrap().iter().find(|session| session["current"] == false).unwrap();
        let path = format!("/api/auth/sessions/{}", other["id"].as_str().unwrap());
        let _ = here.delete(&path).await.expect(204);
        let _ = there.get("/api/auth/session").await.expect(401);
        let _ = here.get("/api/auth/session").await.expect(200);
        app.advance("PT31M").await;
        let _ = here.get("/api/auth/session").await.expect(401);
        app.stop().await;
    });
}

#[tokio::test]
async fn an_api_token_may_do_what_it_was_narrowed_to() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["designer"]).await;
        let body = json!({ "name": "ci", "permissions": ["workflows.view"] });
        let made = person.post("/api/auth/tokens", body.clone()).await.expect(201).data();
        let _ = person.post("/api/auth/tokens", body).await.refused(409, "notUnique");
        let token = app.anonymous().bearer(made["token"].as_str().unwrap());
        let _ = token.get("/api/workflows").await.expect(200);
        let _ = token.post("/api/workflows", json!({})).await.expect(403);
        let _ =
            token.post("/api/auth/tokens", json!({ "name": "more" })).await.refused(403, "sessionRequired");
        let listed = person.get("/api/auth/tokens").await.expect(200);
        assert!(!listed.text().contains(made["token"].as_str().unwrap()), "a secret is shown once");
        assert_eq!(listed.data()[0]["permissions"], json!(["workflows.view"]));
        assert_eq!(listed.data()[0]["expiresAt"], json!(null), "no end but one that is asked for");
        let id = made["record"]["id"].as_str().unwrap();
        let _ = person.delete(&format!("/api/auth/tokens/{id}")).await.expect(204);
        let _ = token.get("/api/workflows").await.expect(401);
        let ends = json!({ "name": "short", "expiresAt": "2000-01-01T00:00:00Z" });
        let _ = person.post("/api/auth/tokens", ends).await.expect(400);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_deny_stands_above_every_role_from_the_next_request_on() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, other) = app.user("other", &["owner"]).await;
        let hidden = app.admin.publish_bpmn("hidden", &models::task()).await;
        let open = app.admin.publish_bpmn("open", &models::task()).await;
        let run = other.run(&hidden, json!({})).await["id"].as_str().unwrap().to_owned();
        let run_path = format!("/api/workflows/{hidden}/runs/{run}");
        let paths = [
            format!("/api/workflows/{hidden}"),
            format!("/api/workflows/{hidden}/versions"),
            run_path.clone(),
            format!("{run_path}/events"),
            format!("{run_path}/events/stream"),
        ];
        for path in &paths[..4] {
            let _ = other.get(path).await.expect(200);
        }
        let deny = json!({
            "principal": { "kind": "user", "id": id }, "resourceType": "workflow", "action": "*",
            "resourceId": hidden, "effect": "deny",
        });
        let grant = app.admin.post("/api/grants", deny).await.expect(201).id();
        for path in &paths {
            let _ = other.get(path).await.expect(403);
        }
        let _ = other.complete(&hidden, &run, "work", json!({})).await.expect(403);
        let _ = other.delete(&run_path).await.expect(403);
        let _ = other.post(&format!("/api/workflows/{hidden}/runs"), json!({})).await.expect(403);
        let listed = other.get("/api/workflows?limit=200").await.expect(200).text();
        assert!(!listed.contains(&hidden) && listed.contains(&open), "{listed}");
        let work = other.get("/api/human-tasks").await.expect(200).text();
        assert!(!work.contains(&run), "{work}");
        let _ = other.get(&format!("/api/workflows/{open}")).await.expect(200);
        let _ = app.admin.get(&paths[0]).await.expect(200);
        let _ = app.admin.delete(&format!("/api/grants/{grant}")).await.expect(204);
        for path in &paths[..4] {
            let _ = other.get(path).await.expect(200);
        }
        app.stop().await;
    });
}

/// An id is one text: whoever writes it otherwise names nothing, and no deny is passed by it.
#[tokio::test]
async fn a_deny_is_not_passed_by_another_spelling_of_the_id() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, other) = app.user("other", &["owner"]).await;
        let hidden = app.admin.publish_bpmn("hidden", &models::task()).await;
        let run = other.run(&hidden, json!({})).await["id"].as_str().unwrap().to_owned();
        let deny = json!({
            "principal": { "kind": "user", "id": id }, "resourceType": "workflow", "action": "*",
            "resourceId": hidden, "effect": "deny",
        });
        let _ = app.admin.post("/api/grants", deny).await.expect(201);
        let capitals = hidden.to_uppercase();
        let spellings = [
            capitals.clone(),
            hidden.replace('-', ""),
            format!("%7B{hidden}%7D"),
            format!("%20{hidden}"),
            format!("%30{}", &hidden[1..]),
        ];
        for spelling in &spellings {
            for path in ["", "/versions", "/export/bpmn", &format!("/runs/{run}"), "/runs"] {
                let status = other.get(&format!("/api/workflows/{spelling}{path}")).await.status;
                assert!(matches!(status, 403 | 404), "{spelling}{path}: {status}");
            }
            let status = other.post(&format!("/api/workflows/{spelling}/runs"), json!({})).await.status;
            assert!(matches!(status, 403 | 404), "{spelling}: {status}");
        }
        let _ = app.admin.get(&format!("/api/workflows/{capitals}")).await.expect(404);
        app.stop().await;
    });
}

/// The work list and the assignment of a task ask for the task's run and workflow, as reading and completing do.
#[tokio::test]
async fn a_rule_about_a_run_holds_in_the_work_list_and_for_assignments() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish_bpmn("flow", &models::task()).await;
        let mut runs = Vec::new();
        for _ in 0..2 {
            runs.push(app.admin.run(&workflow, json!({})).await["id"].as_str().unwrap().to_owned());
        }
        let work = app.admin.get("/api/human-tasks").await.expect(200).data();
        let task_of = |run: &str| {
            let task = work.as_array().unwrap().iter().find(|task| task["runId"] == run).unwrap();
            task["id"].as_str().unwrap().to_owned()
        };
        let assign = |run: &str| format!("/api/human-tasks/{}/assign", task_of(run));
        let me = json!({ "assignee": "me" });
        for (name, kind, action, resource) in [
            ("run-all", "run", "*", &runs[0]),
            ("run-complete", "run", "complete-task", &runs[0]),
            ("workflow-all", "workflow", "*", &workflow),
        ] {
            let (id, person) = app.user(name, &["owner"]).await;
            let deny = json!({ "principal": { "kind": "user", "id": id }, "resourceType": kind,
                "action": action, "resourceId": resource, "effect": "deny" });
            let _ = app.admin.post("/api/grants", deny).await.expect(201);
            let _ = person.post(&assign(&runs[0]), me.clone()).await.refused(403, "denied");
            let listed = person.get("/api/human-tasks").await.expect(200).text();
            assert_eq!(listed.contains(&runs[0]), action == "complete-task", "{name}: {listed}");
            let other = person.post(&assign(&runs[1]), json!({ "assignee": null })).await;
            assert_eq!(other.status, if kind == "workflow" { 403 } else { 200 }, "{name}: {}", other.text());
        }
        // An allow on one run alone shows and gives that run's tasks.
        let role = json!({ "name": "tasks", "permissions": ["tasks.work", "runs.view"] });
        let role =
            app.admin.post("/api/roles", role).await.expect(201).data()["name"].as_str().unwrap().to_owned();
        let (id, person) = app.user("single", &[&role]).await;
        for action in ["read", "complete-task"] {
            let allow = json!({ "principal": { "kind": "user", "id": id }, "resourceType": "run",
                "action": action, "resourceId": runs[1], "effect": "allow" });
            let _ = app.admin.post("/api/grants", allow).await.expect(201);
        }
        let listed = person.get("/api/human-tasks").await.expect(200).text();
        assert!(listed.contains(&runs[1]) && !listed.contains(&runs[0]), "{listed}");
        let _ = person.post(&assign(&runs[0]), me.clone()).await.refused(403, "denied");
        let nobody = "/api/human-tasks/01890a5d-ac96-774b-bcce-b302099a8057/assign";
        let _ = person.post(nobody, me.clone()).await.refused(403, "denied");
        let _ = app.admin.post(nobody, me.clone()).await.expect(404);
        let _ = person.post(&assign(&runs[1]), me).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_right_taken_is_gone_at_the_next_request() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["designer"]).await;
        let workflow = person.create("theirs", json!({ "nodes": [], "edges": [] })).await;
        let path = format!("/api/workflows/{workflow}");
        let _ =
            app.admin.put(&format!("/api/members/{id}"), json!({ "roles": ["viewer"] })).await.expect(200);
        let _ = person.patch(&path, json!({ "displayName": "Two" })).await.expect(403);
        let _ = person.get(&path).await.expect(200);
        let _ = app.admin.delete(&format!("/api/members/{id}")).await.expect(204);
        let _ = person.get(&path).await.expect(403);
        let owner = app.admin.get("/api/auth/session").await.expect(200).data();
        let owner = owner["user"]["id"].as_str().unwrap();
        let _ = app.admin.delete(&format!("/api/members/{owner}")).await.expect(409);
        app.stop().await;
    });
}
