//! Points of the Application Security Verification Standard 5.0 about rights and tenants. Those about single operations
//! are in `gate.rs` and `single_rules.rs`, which try every row of the operations table.

use std::time::Duration;

use heddle_api::Face;
use heddle_api::operations::{OperationId, OutputKind, Selector};
use heddle_testkit::{Client, TestApp, with_both};
use serde_json::json;

use crate::raw::{HERE, Raw, get};
use crate::{gate, models, samples};

/// Members that only the service itself sets.
const OWN_MEMBERS: [&str; 5] = ["tenantId", "createdBy", "updatedAt", "passwordHash", "isOwner"];

#[tokio::test]
async fn asvs_8_2_3_and_15_3_3_what_only_the_service_sets_is_taken_from_no_body() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        for (id, spec) in gate::all().filter(|(_, spec)| samples::knows_members(spec)) {
            // Clients of other products send an organisation's id by their own rules.
            if spec.area.face() != Face::Own {
                continue;
            }
            let path = samples::within(spec, &app.organization);
            for member in OWN_MEMBERS {
                let mut body = samples::body(id);
                body[member] = json!("mine");
                let answer = app.admin.request(spec.method.as_str(), &path).json(&body).send().await;
                gate::refused_at(spec, answer, "unknownField", Some(member));
            }
        }
        let shown = app.admin.get("/api/workflows?limit=200").await.expect(200).data();
        assert_eq!(shown.as_array().map(Vec::len), Some(3), "the demo's and no more: {shown}");
        app.stop().await;
    });
}

/// Lists that show all that an organisation has.
const LISTS: [&str; 14] = [
    "/api/workflows",
    "/api/runs",
    "/api/human-tasks",
    "/api/jobs",
    "/api/dead-letters",
    "/api/roles",
    "/api/groups",
    "/api/grants",
    "/api/members",
    "/api/connections",
    "/api/webhooks",
    "/api/incoming-hooks",
    "/api/case-types",
    "/api/cases",
];

/// All that an organisation has, as text, with the actions of its audit trail.
async fn shown(client: &Client, run: &str) -> Vec<String> {
    let mut all = Vec::new();
    for list in LISTS {
        let rows = client.get(&format!("{list}?limit=200")).await.expect(200).data();
        assert!(rows.as_array().is_some_and(|rows| !rows.is_empty()), "{list} shows nothing");
        all.push(format!("{list} {rows}"));
    }
    all.push(client.get(run).await.expect(200).data().to_string());
    let trail = client.get("/api/audit-events?limit=200").await.expect(200).data();
    let events = trail.as_array().into_iter().flatten();
    all.extend(events.map(|event| format!("{} {}", event["id"], event["action"])));
    all
}

/// Calls that would end what makes them, or that move everybody's clock.
fn is_apart(id: OperationId) -> bool {
    matches!(id, OperationId::SignOut | OperationId::AdvanceTestClock)
}

#[tokio::test]
async fn asvs_8_4_1_whatever_one_organisation_calls_the_other_stays_as_it_is() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (organization, elsewhere) = app.second_organization("second").await;
        let mut theirs = gate::things(&app, &elsewhere).await;
        theirs.insert("organizationId", organization.clone());
        let run = format!("/api/workflows/{}/runs/{}", theirs["workflowId"], theirs["runId"]);
        let before = shown(&elsewhere, &run).await;
        let (_, owner) = app.user("owner", &["owner"]).await;
        for caller in [owner.clone(), owner.within(&organization)] {
            for (id, spec) in gate::all().filter(|(id, _)| !is_apart(*id)) {
                // Whoever knows a user's id may make him a member of their own organisation.
                if id == OperationId::SetMember {
                    continue;
                }
                let path = samples::path(spec, |name| theirs[name].clone());
                if spec.output == OutputKind::EventStream {
                    let opened = caller.request("GET", &path).open().await.expect("an answer");
                    assert!(opened.status().as_u16() < 500, "{path}");
                    continue;
                }
                let answer = gate::call(&caller, id, &path).await;
                assert!(answer.status < 500 || answer.status == 503, "{path}: {}", answer.text());
            }
        }
        assert_eq!(shown(&elsewhere, &run).await, before);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_8_2_2_a_token_of_another_organisation_opens_nothing_here() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (foreign, elsewhere) = app.second_organization("second").await;
        // One of somebody who belongs there alone, and one of a member of both that was narrowed to the other.
        let (_, outsider) = app.user_in(&elsewhere, "outsider", &["owner"]).await;
        let whole = outsider.post("/api/auth/tokens", json!({ "name": "whole" })).await.expect(201).data();
        let body = json!({ "name": "narrow", "organizationId": foreign });
        let narrow = app.admin.post("/api/auth/tokens", body).await.expect(201).data();
        for token in [&whole, &narrow] {
            let caller = app.anonymous().bearer(token["token"].as_str().unwrap());
            let _ = caller.within(&foreign).get("/api/workflows").await.expect(200);
            let here = caller.within(&app.organization);
            for (id, spec) in gate::guarded() {
                let path = samples::within(spec, &app.organization);
                let answer = gate::call(&here, id, &path).await;
                let about_one = matches!(spec.selector(), Selector::Tenant(_));
                let expected = if about_one { 404 } else { 403 };
                assert_eq!(answer.status, expected, "{}: {}", spec.operation_id, answer.text());
            }
        }
        app.stop().await;
    });
}

/// A deny stands above the allow of the role on the thing itself, on all of its kind, on what it stands within, and on
/// everything.
#[tokio::test]
async fn asvs_8_3_1_a_deny_wins_at_every_level_of_what_it_is_about() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish_bpmn("levels", &models::task()).await;
        let run = app.admin.run(&workflow, json!({})).await["id"].as_str().unwrap().to_owned();
        let path = format!("/api/workflows/{workflow}/runs/{run}");
        let (user, person) = app.user("person", &["owner"]).await;
        for (kind, action, id) in [
            ("run", "read", run.as_str()),
            ("run", "*", run.as_str()),
            ("run", "read", "*"),
            ("run", "*", "*"),
            ("workflow", "*", workflow.as_str()),
            ("workflow", "*", "*"),
            ("*", "*", "*"),
        ] {
            let _ = person.get(&path).await.expect(200);
            let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": kind,
                "action": action, "resourceId": id, "effect": "deny" });
            let grant = app.admin.post("/api/grants", deny).await.expect(201).id();
            let _ = person.get(&path).await.refused(403, "denied");
            let _ = app.admin.delete(&format!("/api/grants/{grant}")).await.expect(204);
        }
        app.stop().await;
    });
}

/// Ways in which the right to read a run is taken away.
#[derive(Debug, Clone, Copy)]
enum Taken {
    Role,
    Membership,
    Account,
    Session,
    RunDenied,
    WorkflowDenied,
}

async fn take(app: &TestApp, taken: Taken, user: &str, reader: &Client, (workflow, run): (&str, &str)) {
    let deny = async |kind: &str, id: &str| {
        let rule = json!({ "principal": { "kind": "user", "id": user }, "resourceType": kind, "action": "*",
            "resourceId": id, "effect": "deny" });
        let _ = app.admin.post("/api/grants", rule).await.expect(201);
    };
    let member = format!("/api/members/{user}");
    match taken {
        Taken::Role => drop(app.admin.put(&member, json!({ "roles": ["librarian"] })).await.expect(200)),
        Taken::Membership => drop(app.admin.delete(&member).await.expect(204)),
        Taken::Account => {
            let off = json!({ "state": "disabled" });
            drop(app.admin.patch(&format!("/api/users/{user}"), off).await.expect(200));
        }
        Taken::Session => drop(reader.post("/api/auth/sign-out", json!({})).await.expect(204)),
        Taken::RunDenied => deny("run", run).await,
        Taken::WorkflowDenied => deny("workflow", workflow).await,
    }
}

#[tokio::test]
async fn asvs_8_3_2_an_open_stream_ends_when_the_right_is_taken_away() {
    with_both!(|db| {
        let check = |config: &mut heddle_server::Config| {
            config.edge.stream_check = Duration::from_millis(20);
        };
        let mut app = TestApp::with(db, check).await;
        let workflow = app.admin.publish_bpmn("told", &models::task()).await;
        let run = app.admin.run(&workflow, json!({})).await["id"].as_str().unwrap().to_owned();
        let own = format!("/api/workflows/{workflow}/runs/{run}/events/stream");
        let all = "/api/runs/events/stream".to_owned();
        let opened = async |client: &Client, path: &str| {
            let mut stream = Raw::connect(&app, HERE).await;
            let headers = format!("authorization: Bearer {}\r\nconnection: close\r\n", client.token());
            stream.send(&get(path, &headers)).await;
            stream.until(": heartbeat").await;
            stream
        };
        let mut kept = opened(&app.admin, &own).await;
        for (number, (taken, path)) in [
            (Taken::Role, &own),
            (Taken::Role, &all),
            (Taken::Membership, &own),
            (Taken::Membership, &all),
            (Taken::Account, &own),
            (Taken::Account, &all),
            (Taken::Session, &own),
            (Taken::Session, &all),
            // Over all runs a stream goes on, and is silent about the denied one (`all_runs.rs`).
            (Taken::RunDenied, &own),
            (Taken::WorkflowDenied, &own),
        ]
        .into_iter()
        .enumerate()
        {
            let (user, reader) = app.user(&format!("reader-{number}"), &["viewer"]).await;
            let mut stream = opened(&reader, path).await;
            take(&app, taken, &user, &reader, (&workflow, &run)).await;
            eprintln!("{taken:?} {path}");
            stream.rest().await;
            kept.until(": heartbeat").await;
        }
        // Whose right was not taken goes on.
        let _ = app.admin.complete(&workflow, &run, "work", json!({})).await.expect(200);
        kept.until("event: run.completed").await;
        app.stop().await;
    });
}

/// Tokens that are in no answer and no event, whatever was refused with them.
#[tokio::test]
async fn asvs_16_2_5_the_trail_shows_no_token_and_no_password() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &[]).await;
        let token = person.post("/api/auth/tokens", json!({ "name": "t" })).await.expect(201).data();
        let secret = token["token"].as_str().unwrap().to_owned();
        let by_token = app.anonymous().bearer(&secret);
        let _ = by_token.get("/api/workflows").await.expect(403);
        let last = if secret.ends_with('x') { 'y' } else { 'x' };
        let forged = format!("{}{last}", &secret[..secret.len() - 1]);
        let _ = app.anonymous().bearer(&forged).get("/api/workflows").await.expect(401);
        let _ = app.try_sign_in("person@example.com", "a guess of somebody").await.expect(401);
        let _ = app.try_sign_in("stranger@example.com", "a guess of a stranger").await.expect(401);
        let mut told = String::new();
        for list in ["/api/audit-events", "/api/installation/audit-events"] {
            told += &app.admin.get(&format!("{list}?limit=200")).await.expect(200).text();
        }
        told += &person.get("/api/auth/tokens").await.expect(200).text();
        let passwords = ["a guess of somebody", "a guess of a stranger", heddle_testkit::app::PASSWORD];
        for hidden in [secret, forged, person.token(), app.admin.token()] {
            assert!(!told.contains(&hidden), "a token is told");
        }
        assert!(passwords.iter().all(|password| !told.contains(password)), "a password is told");
        app.stop().await;
    });
}
