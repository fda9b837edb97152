//! The audit trail: what was done to which thing, and what was refused to whom.

use heddle_server::{Config, Durability, Server};
use heddle_testkit::app::PASSWORD;
use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::models;

/// The events of a list, newest first.
async fn events(client: &Client, query: &str) -> Vec<Value> {
    let found = client.get(&format!("/api/audit-events?limit=200&{query}")).await.expect(200).data();
    found.as_array().cloned().unwrap_or_default()
}

async fn installation_events(client: &Client, query: &str) -> Vec<Value> {
    let path = format!("/api/installation/audit-events?limit=200&{query}");
    client.get(&path).await.expect(200).data().as_array().cloned().unwrap_or_default()
}

/// The event of a request.
#[track_caller]
fn of_request<'a>(events: &'a [Value], request: &str) -> &'a Value {
    let found = events.iter().find(|event| event["requestId"] == request);
    found.unwrap_or_else(|| panic!("{request} is not in the trail: {events:#?}"))
}

#[tokio::test]
async fn what_a_use_case_refuses_is_in_the_trail_with_what_was_asked() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["administrator"]).await;
        let owner = app.role_id(&app.admin, "owner").await;
        let session = person.get("/api/auth/session").await.expect(200).data()["session"]["id"].clone();
        let token = person.post("/api/auth/tokens", json!({ "name": "t" })).await.expect(201).data();
        let by_token = app.anonymous().bearer(token["token"].as_str().unwrap());
        let named = |client: &Client, request: &str| client.with("x-request-id", request);
        let asks = json!({ "roles": [owner] });
        let _ = named(&person, "r-owner")
            .put(&format!("/api/members/{id}"), asks)
            .await
            .refused(403, "exceedsOwnRights");
        let wrong = json!({ "currentPassword": "not mine at all", "newPassword": "seven new looms at dawn" });
        let _ = named(&person, "r-password").put("/api/auth/password", wrong).await.expect(400);
        let weak = json!({ "currentPassword": PASSWORD, "newPassword": "short" });
        let _ = named(&person, "r-weak").put("/api/auth/password", weak).await.expect(400);
        let another = json!({ "name": "u" });
        let _ = named(&by_token, "r-token")
            .post("/api/auth/tokens", another)
            .await
            .refused(403, "sessionRequired");
        let denied = events(&app.admin, "action=access.denied").await;
        for (request, kind, resource, reason) in [
            ("r-owner", "member", json!(id), "exceedsOwnRights"),
            ("r-password", "user", Value::Null, "wrong"),
            ("r-token", "api-token", Value::Null, "sessionRequired"),
        ] {
            let event = of_request(&denied, request);
            assert_eq!(
                (&event["resourceType"], &event["resourceId"], &event["reason"], &event["outcome"]),
                (&json!(kind), &resource, &json!(reason), &json!("denied")),
                "{event}"
            );
            assert_eq!(
                (&event["actor"]["userId"], &event["ip"]),
                (&json!(id), &json!("127.0.0.1")),
                "{event}"
            );
        }
        let actor = &of_request(&denied, "r-owner")["actor"];
        assert_eq!((&actor["kind"], &actor["sessionId"]), (&json!("user"), &session), "{actor}");
        let actor = &of_request(&denied, "r-token")["actor"];
        assert_eq!(
            (&actor["kind"], &actor["tokenId"]),
            (&json!("apiToken"), &token["record"]["id"]),
            "{actor}"
        );
        assert!(!denied.iter().any(|event| event["requestId"] == "r-weak"), "a weak password is no refusal");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_refusal_at_the_gate_names_what_was_asked() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish_bpmn("flow", &models::task()).await;
        let run = app.admin.run(&workflow, json!({})).await;
        let (run, task) = (run["id"].as_str().unwrap(), run["humanTasks"][0]["id"].as_str().unwrap());
        let (_, nobody) = app.user("nobody", &[]).await;
        let path = format!("/api/workflows/{workflow}");
        let _ = nobody.with("x-request-id", "r-read").get(&path).await.expect(403);
        let _ = nobody.with("x-request-id", "r-run").get(&format!("{path}/runs/{run}")).await.expect(403);
        let assign = format!("/api/human-tasks/{task}/assign");
        let _ = nobody
            .with("x-request-id", "r-task")
            .post(&assign, json!({ "assignee": "me" }))
            .await
            .expect(403);
        for (asked, request) in [(workflow.as_str(), "r-read"), (run, "r-run"), (task, "r-task")] {
            let found = events(&app.admin, &format!("action=access.denied&resource={asked}")).await;
            assert_eq!(found.len(), 1, "{asked}: {found:#?}");
            let _ = of_request(&found, request);
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn an_event_names_the_thing_and_what_was_made_and_is_found_by_both() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let me = admin.get("/api/auth/session").await.expect(200).data();
        let (me, session) = (me["user"]["id"].as_str().unwrap(), &me["session"]["id"]);
        let as_ = |request: &str| admin.with("x-request-id", request);
        let workflow = admin.publish_bpmn("flow", &models::task()).await;
        let run = as_("r-run").run(&workflow, json!({})).await;
        let (run, task) = (run["id"].as_str().unwrap(), run["humanTasks"][0]["id"].as_str().unwrap());
        let assign = format!("/api/human-tasks/{task}/assign");
        let _ = as_("r-assign").post(&assign, json!({ "assignee": "me" })).await.expect(200);
        let _ = as_("r-done").complete(&workflow, run, "work", json!({})).await.expect(200);
        let token = as_("r-token").post("/api/auth/tokens", json!({ "name": "t" })).await.expect(201).data();
        let token = token["record"]["id"].as_str().unwrap();
        let event = json!({ "correlationKey": "k", "eventType": "e", "idempotencyKey": "i", "payload": {} });
        let event = as_("r-event").post("/api/case-events", event).await.expect(202).data();
        let event = event["event"]["id"].as_str().unwrap();
        let signal = json!({ "name": "s", "payload": {}, "idempotencyKey": "i" });
        let signal = as_("r-signal").post("/api/signals", signal).await.expect(202).data();
        let signal = signal["signal"]["id"].as_str().unwrap();
        for (request, kind, resource, target) in [
            ("r-run", "workflow", Some(workflow.as_str()), Some(("run", run))),
            ("r-assign", "run", Some(run), Some(("human-task", task))),
            ("r-done", "run", Some(run), Some(("human-task", task))),
            ("r-token", "api-token", Some(token), None),
            ("r-event", "case", None, Some(("case-event", event))),
            ("r-signal", "case", None, Some(("signal", signal))),
        ] {
            let target_shown = target.map_or(Value::Null, |(kind, id)| json!({ "kind": kind, "id": id }));
            let things = resource.map(|id| (kind, id)).into_iter().chain(target);
            for (kind_asked, id) in things {
                for query in [format!("resource={id}"), format!("resource={kind_asked}/{id}")] {
                    let found = events(&admin, &query).await;
                    let event = of_request(&found, request);
                    assert_eq!(
                        (&event["resourceType"], &event["resourceId"], &event["target"]),
                        (&json!(kind), &json!(resource), &target_shown),
                        "{query}: {event}"
                    );
                    assert_eq!(
                        (&event["actor"]["userId"], &event["actor"]["sessionId"], &event["ip"]),
                        (&json!(me), session, &json!("127.0.0.1")),
                        "{event}"
                    );
                }
            }
        }
        assert!(events(&admin, &format!("resource=role/{workflow}")).await.is_empty());
        assert!(events(&admin, "resource=run").await.iter().all(|event| event["resourceType"] == "run"));
        app.stop().await;
    });
}

#[tokio::test]
async fn an_event_says_what_changed_and_never_a_secret() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (id, person) = app.user("person", &["viewer"]).await;
        let as_ = |request: &str| admin.with("x-request-id", request);
        let roles = json!({ "roles": ["designer"] });
        let _ = as_("r-member").put(&format!("/api/members/{id}"), roles).await.expect(200);
        let secret = "nine quiet looms by day";
        let change = json!({ "password": secret });
        let _ = as_("r-reset").patch(&format!("/api/users/{id}"), change).await.expect(200);
        let grant = json!({ "principal": { "kind": "user", "id": id }, "resourceType": "workflow",
            "action": "read", "resourceId": "*", "effect": "deny" });
        let grant = as_("r-grant").post("/api/grants", grant).await.expect(201).id();
        let role = json!({ "name": "reader", "permissions": ["workflows.view"] });
        let _ = as_("r-role").post("/api/roles", role).await.expect(201);
        drop(person);
        let person = app.sign_in("person@example.com", secret).await;
        let own = json!({ "currentPassword": secret, "newPassword": "ten loud looms by night" });
        let _ = person.with("x-request-id", "r-own").put("/api/auth/password", own).await.expect(204);

        let all = events(&admin, "").await;
        let details = |request: &str| of_request(&all, request)["details"].clone();
        assert_eq!(details("r-member")["roles"][0]["name"], "designer");
        assert_eq!(details("r-reset")["set"], json!(["password"]));
        assert_eq!(
            (&details("r-grant")["effect"], &details("r-grant")["resourceType"]),
            (&json!("deny"), &json!("workflow"))
        );
        assert_eq!(details("r-role")["permissions"], json!(["workflows.view"]));
        let own = of_request(&all, "r-own");
        assert_eq!(
            (&own["action"], &own["resourceType"], &own["resourceId"]),
            (&json!("user.password_changed"), &json!("user"), &json!(id))
        );
        // What concerns a person is found by the person's id: their membership, their account, the deny.
        let theirs = events(&admin, &format!("resource={id}")).await;
        for request in ["r-member", "r-reset", "r-grant", "r-own"] {
            let _ = of_request(&theirs, request);
        }
        let _ = of_request(&events(&admin, &format!("resource=grant/{grant}")).await, "r-grant");
        let text = serde_json::to_string(&all).unwrap();
        for word in [secret, "ten loud looms by night", PASSWORD, &person.token()] {
            assert!(!text.contains(word), "the trail holds `{word}`");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn what_belongs_to_no_organisation_is_shown_to_who_manages_the_licence() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (other, elsewhere) = app.second_organization("second").await;
        let (id, person) = app.user("person", &["viewer", "operator"]).await;
        let outside = person.within(&other).with("x-request-id", "r-outside");
        let _ = outside.get("/api/workflows").await.refused(403, "notAMember");
        let stranger = app.anonymous().bearer("hds_nonsense").with("x-request-id", "r-stranger");
        let _ = stranger.get("/api/workflows").await.expect(401);
        let sign_in = json!({ "email": "nobody@example.com", "password": "whatever it is" });
        let unknown = app.anonymous().with("x-request-id", "r-unknown");
        let _ = unknown.post("/api/auth/sign-in", sign_in.clone()).await.expect(401);
        let throttled = loop {
            let again = app.anonymous().with("x-request-id", "r-throttled");
            let answer = again.post("/api/auth/sign-in", sign_in.clone()).await;
            if answer.status == 429 {
                break answer;
            }
        };
        let _ = throttled.refused(429, "throttled");
        let all = installation_events(&app.admin, "").await;
        let crossed = of_request(&all, "r-outside");
        assert_eq!(
            (&crossed["actor"]["userId"], &crossed["details"]["organizationId"]),
            (&json!(id), &json!(other))
        );
        assert_eq!((&crossed["organizationId"], &crossed["reason"]), (&Value::Null, &json!("notAMember")));
        let refused = of_request(&all, "r-stranger");
        assert_eq!((&refused["actor"]["kind"], &refused["ip"]), (&json!("anonymous"), &json!("127.0.0.1")));
        assert_eq!(of_request(&all, "r-unknown")["action"], "session.refused");
        let reasons: Vec<_> = installation_events(&app.admin, "action=session.refused")
            .await
            .into_iter()
            .map(|event| event["reason"].clone())
            .collect();
        assert!(reasons.contains(&json!("throttled")), "{reasons:?}");
        // None of it stands in an organisation's own trail, and not everybody may read it.
        for trail in [events(&app.admin, "").await, events(&elsewhere, "").await] {
            assert!(
                !trail
                    .iter()
                    .any(|event| event["requestId"] == "r-outside" || event["requestId"] == "r-stranger")
            );
        }
        let _ = person.get("/api/installation/audit-events").await.refused(403, "denied");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_flood_of_refusals_makes_few_events_that_count_them() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let stranger = app.anonymous().bearer("hds_nonsense");
        let paths = [
            "workflows",
            "roles",
            "members",
            "users",
            "grants",
            "human-tasks",
            "organizations",
            "audit-events",
        ];
        let asked = 40 * paths.len();
        for round in 0..40 {
            for path in paths {
                let path = format!("/api/{path}?limit={}", round + 1);
                let _ = stranger.get(&path).await.expect(401);
            }
        }
        let all = installation_events(&app.admin, "action=access.denied").await;
        assert!(all.len() <= 4, "{} events of {asked} refusals", all.len());
        let counted: u64 = all.iter().map(|event| event["details"]["count"].as_u64().unwrap_or(1)).sum();
        assert_eq!(counted, u64::try_from(asked).unwrap(), "{all:#?}");
        app.stop().await;
    });
}

#[tokio::test]
async fn tries_of_the_set_up_token_are_in_the_trail() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        data_dir: folder.path().join("data"),
        listen: ([127, 0, 0, 1], 0).into(),
        durability: Durability::Process,
        ..Config::default()
    };
    let server = Server::start(config).await.unwrap();
    let base = std::sync::Arc::new(std::sync::RwLock::new(format!("http://{}", server.address())));
    let stranger = Client::anonymous(base);
    let body = |token: &str| {
        json!({ "token": token, "organization": { "slug": "acme", "displayName": "Acme" },
            "administrator": { "email": "a@example.com", "displayName": "A", "password": PASSWORD } })
    };
    let _ = stranger
        .with("x-request-id", "r-wrong")
        .post("/api/setup", body("nonsense"))
        .await
        .refused(400, "invalidToken");
    let token = server.first().setup_token.clone().unwrap();
    let _ = stranger.post("/api/setup", body(&token)).await.expect(201);
    let signed_in = json!({ "email": "a@example.com", "password": PASSWORD });
    let signed_in = stranger.post("/api/auth/sign-in", signed_in).await.expect(200).data();
    let owner = stranger.bearer(signed_in["token"].as_str().unwrap());
    // The installation has no licence yet, so the trial comes first.
    let keyed = owner.with("idempotency-key", "trial");
    let begun = keyed.post("/api/licence/trial", json!({})).await.expect(201);
    let again = keyed.post("/api/licence/trial", json!({})).await.expect(201);
    assert_eq!(again.data(), begun.data(), "the repeat is the first answer");
    let all = installation_events(&owner, "").await;
    let tried = of_request(&all, "r-wrong");
    assert_eq!((&tried["outcome"], &tried["reason"]), (&json!("denied"), &json!("invalidToken")), "{tried}");
    let text = serde_json::to_string(&all).unwrap();
    assert!(!text.contains("nonsense") && !text.contains(&token));
    server.stop().await;
}
