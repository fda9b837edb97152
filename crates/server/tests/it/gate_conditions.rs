//! Conditions of callers and installations, each tried on every operation of the table: the answer is the one that the
//! row promises. What is not here is in `gate.rs` (nobody, no right, another organisation, no licence, no role on the
//! node) and in `single_rules.rs` (a deny on one thing, and on what it stands within).

use heddle_api::operations::{OutputKind, Security};
use heddle_testkit::{Client, TestApp, with_both};
use serde_json::json;

use crate::{gate, groups, samples};

/// Statuses that the gate answers with must stand in the row of each operation that it stands before.
#[test]
fn every_row_names_the_statuses_of_the_gate() {
    for (id, spec) in gate::all() {
        let named = |status: u16| spec.errors.contains(&status);
        if spec.security != Security::Public {
            assert!(named(401), "{id:?} has a caller");
        }
        if matches!(spec.security, Security::Permissions(_)) {
            assert!(named(403), "{id:?} asks for a right");
            assert!(named(423) || spec.remediation || spec.takes_access, "{id:?} waits for a licence");
        }
        if spec.entitlement.is_some() {
            assert!(named(402), "{id:?} is a feature of the licence");
        }
        if spec.service_role.is_some() {
            assert!(named(503), "{id:?} runs on some nodes alone");
        }
    }
}

/// Credentials that were good, of a session, of its cookie and of an API token.
async fn credentials(app: &TestApp, person: &Client, until: Option<String>) -> Vec<Client> {
    let mut body = json!({ "name": "short" });
    if let Some(until) = until {
        body["expiresAt"] = json!(until);
    }
    let token = person.post("/api/auth/tokens", body).await.expect(201).data();
    let cookie = app.anonymous().cookie(&person.token()).with("sec-fetch-site", "same-origin");
    vec![person.clone(), cookie, app.anonymous().bearer(token["token"].as_str().unwrap())]
}

/// Every operation with a caller is closed to these callers, with the code for callers who are not known.
async fn closed(app: &TestApp, callers: &[Client], why: &str) {
    for caller in callers {
        for (id, spec) in gate::all().filter(|(_, spec)| spec.security != Security::Public) {
            let path = samples::within(spec, &app.organization);
            let answer = gate::call(caller, id, &path).await;
            assert_eq!(answer.status, 401, "{why}: {}: {}", spec.operation_id, answer.text());
            assert!(answer.header("www-authenticate").starts_with("Bearer"), "{}", spec.operation_id);
            let code = samples::code(spec, &answer);
            assert!(code.is_none_or(|code| code == "AUTHENTICATION_REQUIRED"), "{}", spec.operation_id);
        }
    }
}

#[tokio::test]
async fn what_has_ended_opens_nothing() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, signed_out) = app.user("signed-out", &["owner"]).await;
        let body = json!({ "name": "gone" });
        let token = signed_out.post("/api/auth/tokens", body).await.expect(201).data();
        let path = format!("/api/auth/tokens/{}", token["record"]["id"].as_str().unwrap());
        let _ = signed_out.delete(&path).await.expect(204);
        let _ = signed_out.post("/api/auth/sign-out", json!({})).await.expect(204);
        let gone = app.anonymous().bearer(token["token"].as_str().unwrap());
        closed(&app, &[signed_out, gone], "ended by its owner").await;

        let (id, disabled) = app.user("disabled", &["owner"]).await;
        let all = credentials(&app, &disabled, None).await;
        let off = json!({ "state": "disabled" });
        let _ = app.admin.patch(&format!("/api/users/{id}"), off).await.expect(200);
        closed(&app, &all, "a disabled account").await;

        let (_, idle) = app.user("idle", &["owner"]).await;
        let until = groups::in_seconds(&app, 600).await;
        let all = credentials(&app, &idle, Some(until)).await;
        for caller in &all {
            let _ = caller.get("/api/workflows").await.expect(200);
        }
        app.advance("PT31M").await;
        closed(&app, &all, "over").await;
        app.stop().await;
    });
}

/// An owner to whom all of a kind is denied is refused by every operation about it, lists as well.
#[tokio::test]
async fn a_deny_on_all_of_a_kind_closes_every_operation_about_it() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (user, denied) = app.user("denied", &["owner"]).await;
        for (id, spec) in gate::guarded() {
            let Some(on) = spec.resource_action else { continue };
            let rule = json!({ "principal": { "kind": "user", "id": user },
                "resourceType": on.resource.as_str(), "action": "*", "resourceId": "*", "effect": "deny" });
            let grant = app.admin.post("/api/grants", rule).await.expect(201).id();
            let path = samples::within(spec, &app.organization);
            if spec.output == OutputKind::EventStream {
                let opened = denied.request("GET", &path).open().await.expect("an answer");
                assert_eq!(opened.status().as_u16(), 403, "{}", spec.operation_id);
            } else {
                let answer = gate::call(&denied, id, &path).await;
                assert_eq!(answer.status, 403, "{}: {}", spec.operation_id, answer.text());
                let code = samples::code(spec, &answer);
                assert!(code.is_none_or(|code| code == "PERMISSION_REQUIRED"), "{}", spec.operation_id);
            }
            let _ = app.admin.delete(&format!("/api/grants/{grant}")).await.expect(204);
        }
        app.stop().await;
    });
}
