//! Who may do what with which connection.

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::json;

use super::{at, bearer, members};

/// Statuses of everything that can be done with a connection; the deletion last.
async fn statuses(client: &Client, id: &str) -> Vec<u16> {
    let tested = client.post(&format!("{}/test", at(id)), json!({})).await.status;
    let read = client.get(&at(id)).await.status;
    let changed = client.patch(&at(id), json!({ "description": "D" })).await.status;
    vec![tested, read, changed]
}

#[tokio::test]
async fn a_deny_on_exactly_one_connection_hides_it_and_no_other() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (user, person) = app.user("person", &["administrator"]).await;
        let hidden = bearer(&app.admin, "hidden", "http://127.0.0.1:9").await;
        let open = bearer(&app.admin, "open", "http://127.0.0.1:9").await;
        let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "connection",
            "action": "*", "resourceId": hidden, "effect": "deny" });
        let grant = app.admin.post("/api/grants", deny).await.expect(201).id();
        let listed = person.get("/api/connections").await.expect(200).data();
        assert_eq!(members(&listed, "name"), ["open"]);
        let options = person.get("/api/connections/options").await.expect(200).data();
        assert_eq!(members(&options["connections"], "name"), ["open"]);
        assert_eq!(statuses(&person, &hidden).await, [403, 403, 403]);
        let _ = person.delete(&at(&hidden)).await.refused(403, "denied");
        assert_eq!(statuses(&person, &open).await, [200, 200, 200]);
        // Nobody makes a webhook over what they may not read.
        let over = super::receiver_of(&app.admin, "receiver", "https://example.com").await;
        let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "connection",
            "action": "read", "resourceId": over, "effect": "deny" });
        let _ = app.admin.post("/api/grants", deny).await.expect(201);
        let body = json!({ "name": "w", "connectionId": over, "eventTypes": ["*"] });
        let _ = person.post("/api/webhooks", body).await.refused(403, "exceedsOwnRights");
        let _ = app.admin.delete(&format!("/api/grants/{grant}")).await.expect(204);
        assert_eq!(statuses(&person, &hidden).await, [200, 200, 200]);
        app.stop().await;
    });
}

#[tokio::test]
async fn the_roles_see_and_do_what_they_are_for() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let id = bearer(&app.admin, "one", "http://127.0.0.1:9").await;
        for (role, expected) in [
            ("administrator", [200, 200, 200]),
            ("designer", [403, 200, 403]),
            ("viewer", [403, 200, 403]),
            ("operator", [403, 403, 403]),
            ("worker", [403, 403, 403]),
        ] {
            let (_, person) = app.user(role, &[role]).await;
            assert_eq!(statuses(&person, &id).await, expected, "{role}");
        }
        // Whoever may only test learns whether it works, and nothing else.
        let _ = app.role("tester", &["connections.test"]).await;
        let (_, tester) = app.user("tester", &["tester"]).await;
        assert_eq!(statuses(&tester, &id).await, [200, 403, 403]);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_connection_of_another_organisation_is_not_there() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, elsewhere) = app.second_organization("second").await;
        let theirs = bearer(&elsewhere, "theirs", "http://127.0.0.1:9").await;
        assert_eq!(statuses(&app.admin, &theirs).await, [404, 404, 404]);
        let _ = app.admin.delete(&at(&theirs)).await.expect(404);
        assert_eq!(app.admin.get("/api/connections").await.expect(200).data(), json!([]));
        // The same name is free here, and a webhook here does not go over theirs.
        let _ = bearer(&app.admin, "theirs", "http://127.0.0.1:9").await;
        let body = json!({ "name": "w", "connectionId": theirs, "eventTypes": ["*"] });
        let refused = app.admin.post("/api/webhooks", body).await.refused(400, "notFound");
        assert_eq!(refused["details"][0]["field"], "connectionId");
        let _ = elsewhere.get(&at(&theirs)).await.expect(200);
        app.stop().await;
    });
}
