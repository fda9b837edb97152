//! The licence over its life: its states and their edges, what is no licence, limits, and a clock that is set back.

use std::os::unix::fs::DirBuilderExt as _;

use heddle_identity::licence::testing;
use heddle_kernel::{Clock as _, Timestamp};
use heddle_policy::licence::Claims;
use heddle_server::{Config, Durability, KEY_FILE, KEYRING_FILE, Server, StartError};
use heddle_testkit::app::PASSWORD;
use heddle_testkit::{Answer, Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::{jobs, models};

const DAY: i64 = 24 * 3600;

/// The time of the server.
fn now(app: &TestApp) -> Timestamp {
    app.server().core().app.now()
}

pub(crate) async fn put(client: &Client, claims: &Claims) -> Answer {
    client.put("/api/licence", json!({ "licence": testing::issue(claims) })).await
}

/// A licence that begins now.
pub(crate) fn from_now(app: &TestApp) -> Claims {
    testing::claims(now(app))
}

/// Whatever tells of the licence must tell the same.
async fn stands(app: &TestApp, state: &str, reason: Option<&str>, warning: &str) {
    let licence = app.admin.get("/api/licence").await.expect(200);
    let header = licence.header("x-licence-warning").to_owned();
    let licence = licence.data();
    assert_eq!((&licence["state"], &licence["reason"]), (&json!(state), &json!(reason)), "{licence}");
    assert!(header.starts_with(warning) && header.is_empty() == warning.is_empty(), "{state}: {header}");
    let session = app.admin.get("/api/auth/session").await.expect(200).data();
    assert_eq!(session["licenceState"], state, "{session}");
    assert_eq!(session["licenceWarning"].as_str().unwrap_or_default(), header, "{session}");
    let workflows = app.admin.get("/api/workflows").await;
    match reason {
        None => drop(workflows.expect(200)),
        Some(reason) => {
            let detail = workflows.refused(423, "licenceRestricted")["details"][0].clone();
            assert_eq!(detail["cause"], reason, "{detail}");
            let remedy = detail["remedy"].as_str().unwrap();
            assert!(remedy.contains("PUT /api/licence") && remedy.contains("heddle run export"), "{remedy}");
            assert_eq!(remedy.contains("POST /api/licence/trial"), reason == "missing", "{remedy}");
        }
    }
}

#[tokio::test]
async fn a_licence_goes_through_its_states() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let claims = Claims { exp: now(&app).plus_seconds(40 * DAY), ..from_now(&app) };
        let _ = put(&app.admin, &claims).await.expect(200);
        stands(&app, "active", None, "").await;
        for (advance, state, reason, warning) in [
            ("P9DT23H", "active", None, ""),
            ("PT2H", "expiring", None, "expiring; ends in 29 days"),
            ("P29DT22H", "expiring", None, "expiring; ends in less than a day"),
            ("PT2H", "grace", None, "ended; works until "),
            ("P13DT22H", "grace", None, "ended; works until "),
            ("PT2H", "restricted", Some("expired"), "restricted: expired"),
        ] {
            app.advance(advance).await;
            stands(&app, state, reason, warning).await;
        }
        let changes = app.admin.get("/api/installation/audit-events?action=licence.state_changed").await;
        let _ = changes.expect(423);
        let _ = put(&app.admin, &from_now(&app)).await.expect(200);
        stands(&app, "active", None, "").await;
        let changes = app.admin.get("/api/installation/audit-events?action=licence.state_changed").await;
        let changes = changes.expect(200).data();
        let steps: Vec<_> =
            changes.as_array().into_iter().flatten().map(|one| &one["details"]["to"]).collect();
        assert_eq!(steps, ["restricted", "grace", "expiring"], "{changes}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_trial_is_warned_of_fourteen_days_before_its_end() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        for (advance, state, reason, warning) in [
            ("P15D", "trial", None, "trial; not for production; ends 20"),
            ("P1DT1H", "trial", None, "trial; not for production; ends in 13 days"),
            ("P13DT22H", "trial", None, "trial; not for production; ends in less than a day"),
            ("PT2H", "restricted", Some("expired"), "restricted: expired"),
        ] {
            app.advance(advance).await;
            stands(&app, state, reason, warning).await;
        }
        let _ = app.admin.post("/api/licence/trial", json!({})).await.refused(409, "trialUsed");
        let _ = put(&app.admin, &from_now(&app)).await.expect(200);
        stands(&app, "active", None, "").await;
        app.stop().await;
    });
}

/// The token of a licence, without its armour.
fn token(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("-----")).collect()
}

/// The licence with one character of its token changed, at places of each part: header, claims, signature, key's name.
fn changed(text: &str) -> Vec<String> {
    let token = token(text);
    let footer = token.rfind('.').unwrap();
    let mut places = vec![0, 1, 3, 9, 10, 40, footer / 2, footer - 90, footer - 40, footer - 2];
    places.extend([footer, footer + 1, footer + 5, token.len() - 2]);
    let change = |at: usize| {
        let mut bytes = token.clone().into_bytes();
        bytes[at] = if bytes[at] == b'Q' { b'R' } else { b'Q' };
        String::from_utf8(bytes).unwrap()
    };
    places.into_iter().map(change).collect()
}

#[tokio::test]
async fn what_is_no_licence_for_here_and_now_is_refused() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let good = from_now(&app);
        let later = now(&app).plus_seconds(DAY);
        let with = |change: &dyn Fn(&mut Claims)| {
            let mut claims = good.clone();
            change(&mut claims);
            testing::issue(&claims)
        };
        let mut cases: Vec<(String, &str, &str)> = vec![
            (
                with(&|claims: &mut Claims| claims.installation_id = "elsewhere".to_owned()),
                "wrong_installation",
                "elsewhere",
            ),
            (
                with(&|claims: &mut Claims| claims.exp = claims.iat.plus_seconds(-15 * DAY)),
                "expired",
                "ended at",
            ),
            (with(&|claims: &mut Claims| claims.nbf = later), "not_yet_valid", "holds from"),
            (with(&|claims: &mut Claims| claims.v = 2), "invalid_signature", "form 2"),
            (with(&|claims: &mut Claims| claims.revoked = vec![claims.jti.clone()]), "revoked", "revoked"),
            (testing::issue_as(&good, "2031z"), "invalid_signature", "not known here: `2031z`"),
            (testing::issue_as(&good, "installation"), "invalid_signature", "signature"),
            ("no licence at all".to_owned(), "invalid_signature", "not a licence"),
        ];
        cases.extend(
            changed(&testing::issue(&good)).into_iter().map(|text| (text, "invalid_signature", "licence")),
        );
        for (text, reason, message) in cases {
            let body = json!({ "licence": text });
            let dry = app.admin.post("/api/licence/validate", body.clone()).await.expect(200).data();
            assert_eq!((&dry["valid"], &dry["reason"]), (&json!(false), &json!(reason)), "{dry} {text}");
            let refused = app.admin.put("/api/licence", body).await.refused(400, reason);
            let told = refused["details"][0]["message"].as_str().unwrap();
            assert!(told.contains(message), "{reason}: {told}");
            assert_eq!(app.admin.get("/api/licence").await.expect(200).data()["state"], "trial");
        }
        let refusals =
            app.admin.get("/api/installation/audit-events?action=licence.rejected&limit=200").await;
        // What belongs to an organisation's caller stands in its trail.
        let own =
            app.admin.get("/api/audit-events?action=licence.rejected&limit=200").await.expect(200).data();
        let all = refusals.expect(200).data();
        let count = |list: &Value| list.as_array().map_or(0, Vec::len);
        assert!(count(&own) + count(&all) > 10, "{own} {all}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_licence_that_another_one_replaced_or_revoked_comes_back_no_more() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let first = Claims { jti: "first".to_owned(), ..from_now(&app) };
        let lost = Claims { jti: "lost".to_owned(), ..first.clone() };
        let second = Claims {
            jti: "second".to_owned(),
            iat: first.iat.plus_seconds(1),
            supersedes: vec!["first".to_owned()],
            revoked: vec!["lost".to_owned()],
            ..first.clone()
        };
        let _ = put(&app.admin, &first).await.expect(200);
        let _ = put(&app.admin, &second).await.expect(200);
        for old in [&first, &lost] {
            let _ = put(&app.admin, old).await.refused(409, "olderLicence");
            let forced = json!({ "licence": testing::issue(old), "force": true });
            let _ = app.admin.put("/api/licence", forced).await.refused(400, "revoked");
        }
        let licence = app.admin.get("/api/licence").await.expect(200).data();
        assert_eq!((&licence["licenceId"], &licence["state"]), (&json!("second"), &json!("active")));
        app.stop().await;
    });
}

/// The present number of something that the licence limits.
async fn used(app: &TestApp, name: &str) -> u64 {
    let licence = app.admin.get("/api/licence").await.expect(200).data();
    let found = licence["limits"].as_array().into_iter().flatten().find(|limit| limit["name"] == name);
    found.and_then(|limit| limit["used"].as_u64()).unwrap_or_else(|| panic!("no {name} in {licence}"))
}

#[tokio::test]
async fn of_two_that_are_made_at_the_limit_one_is_refused_and_what_is_there_goes_on() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["viewer"]).await;
        for (name, used) in [("nodes", 1), ("deployments", 0), ("vectorDatabases", 0)] {
            assert_eq!(self::used(&app, name).await, used, "{name}");
        }
        let mut claims = from_now(&app);
        for (name, path) in [
            ("users", "/api/users"),
            ("organizations", "/api/organizations"),
            ("vectorDatabases", "/api/vector-databases"),
        ] {
            let before = used(&app, name).await;
            claims.jti = format!("room for one of {name}");
            claims.iat = now(&app);
            claims.limits = [(name.to_owned(), before + 1)].into();
            let _ = put(&app.admin, &claims).await.expect(200);
            let make = |word: &str| match name {
                "users" => {
                    json!({ "email": format!("{word}@example.com"), "displayName": word, "password": PASSWORD,
                        "roles": [] })
                }
                "vectorDatabases" => json!({ "name": word, "embeddingModelId": null }),
                _ => json!({ "slug": word, "displayName": word }),
            };
            let (one, other) =
                tokio::join!(app.admin.post(path, make("one")), app.admin.post(path, make("other")));
            let (made, refused) = if one.status == 201 { (one, other) } else { (other, one) };
            let _ = made.expect(201);
            let detail = refused.refused(402, "limitReached")["details"][0].clone();
            assert_eq!(
                (&detail["limit"], &detail["licensed"], &detail["used"]),
                (&json!(name), &json!(before + 1), &json!(before + 1))
            );
            assert_eq!(used(&app, name).await, before + 1);
        }
        // What went is counted no more.
        let databases = app.admin.get("/api/vector-databases").await.expect(200).data();
        let there = databases[0]["name"].as_str().unwrap_or_default();
        let _ = app.admin.delete(&format!("/api/vector-databases/{there}")).await.expect(204);
        assert_eq!(used(&app, "vectorDatabases").await, 0);
        // A licence for fewer than there are ends nothing.
        claims.jti = "for less".to_owned();
        claims.iat = now(&app);
        claims.limits =
            [("users".to_owned(), 1), ("organizations".to_owned(), 1), ("nodes".to_owned(), 1)].into();
        let _ = put(&app.admin, &claims).await.expect(200);
        let _ = person.get("/api/workflows").await.expect(200);
        let renamed = json!({ "displayName": "Somebody" });
        let _ = app.admin.patch(&format!("/api/users/{id}"), renamed).await.expect(200);
        let more =
            json!({ "email": "more@example.com", "displayName": "More", "password": PASSWORD, "roles": [] });
        let _ = app.admin.post("/api/users", more).await.refused(402, "limitReached");
        app.restart().await;
        let _ = app.admin.get("/api/workflows").await.expect(200);
        app.stop().await;
    });
}

/// A second server on the database of the first, with its keys.
pub(crate) async fn second(
    app: &TestApp,
    address: &str,
    folder: &std::path::Path,
) -> Result<Server, StartError> {
    let data_dir = folder.join("second");
    if !data_dir.exists() {
        std::fs::DirBuilder::new().mode(0o700).create(&data_dir).unwrap();
        for name in [KEY_FILE, KEYRING_FILE] {
            std::fs::copy(app.data_dir().join(name), data_dir.join(name)).unwrap();
        }
    }
    let config = Config {
        data_dir,
        listen: ([127, 0, 0, 1], 0).into(),
        database_url: Some(address.to_owned()),
        durability: Durability::Process,
        workers: 1,
        ..Config::default()
    };
    Server::start(config).await
}

#[tokio::test]
async fn one_server_more_than_licensed_does_not_start() {
    with_both!(|db| {
        // A file has one server at a time anyway.
        if db.kind() == "postgres" {
            let mut app = TestApp::start(db).await;
            let folder = tempfile::tempdir().unwrap();
            let refused = second(&app, db.address(), folder.path()).await.map(|_| ()).unwrap_err();
            assert!(matches!(refused, StartError::Nodes { licensed: 1, used: 1, .. }), "{refused}");
            assert_eq!(refused.exit_code(), 6);
            let claims = Claims { limits: [("nodes".to_owned(), 2)].into(), ..from_now(&app) };
            let _ = put(&app.admin, &claims).await.expect(200);
            let other = second(&app, db.address(), folder.path()).await.unwrap();
            assert_eq!(used(&app, "nodes").await, 2);
            other.stop().await;
            assert_eq!(used(&app, "nodes").await, 1);
            app.stop().await;
        }
    });
}

#[tokio::test]
async fn a_clock_that_is_set_back_restricts_until_it_is_right_or_a_newer_licence_comes() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        app.advance("P3D").await;
        stands(&app, "trial", None, "trial").await;
        // The clock is the system's again, three days behind what was seen.
        app.restart().await;
        app.sign_in_again().await;
        stands(&app, "restricted", Some("clock_rollback"), "restricted: clock_rollback").await;
        app.advance("P2DT1H").await;
        stands(&app, "trial", None, "trial").await;
        app.restart().await;
        app.sign_in_again().await;
        stands(&app, "restricted", Some("clock_rollback"), "restricted: clock_rollback").await;
        let newer = from_now(&app);
        let _ = put(&app.admin, &newer).await.expect(200);
        stands(&app, "active", None, "").await;
        // Once more: a licence no newer than the one in place proves nothing.
        app.advance("P3D").await;
        app.restart().await;
        app.sign_in_again().await;
        let same = Claims { jti: "again".to_owned(), ..newer };
        let _ = put(&app.admin, &same).await.expect(200);
        stands(&app, "restricted", Some("clock_rollback"), "restricted: clock_rollback").await;
        let _ = put(&app.admin, &from_now(&app)).await.expect(200);
        stands(&app, "active", None, "").await;
        app.stop().await;
    });
}

/// A run of a workflow that waits for a time.
async fn timed(app: &TestApp, slug: &str, duration: &str) -> [String; 2] {
    let workflow = app.admin.publish_bpmn(slug, &models::timer(duration)).await;
    let run = app.admin.run(&workflow, json!({})).await;
    [workflow, run["id"].as_str().unwrap().to_owned()]
}

/// The instant at which a run's timer fired.
async fn fired(app: &TestApp, [workflow, run]: &[String; 2]) -> Timestamp {
    let _ = app.admin.run_in(workflow, run, "completed").await;
    let events = app.admin.events(workflow, run).await;
    let fired = events.iter().find(|event| event["type"] == "timer.fired").unwrap();
    fired["at"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn what_waits_while_the_installation_is_restricted_goes_on_after_the_cure() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let begun = now(&app);
        let (before, within) = (timed(&app, "before", "P20D").await, timed(&app, "within", "P35D").await);
        let workflow = app.admin.publish("with-a-job", jobs::with_job("a-type", json!({}))).await;
        let (held_run, open_run) =
            (app.admin.run(&workflow, json!({})).await, app.admin.run(&workflow, json!({})).await);
        let ask = json!({ "types": ["a-type"], "worker": "w", "lockMs": 60_000, "maxJobs": 1 });
        let held = app.admin.post("/api/jobs/activate", ask.clone()).await.expect(200).data()[0].clone();
        let complete = format!("/api/jobs/{}/complete", held["id"].as_str().unwrap());
        let done = json!({ "epoch": held["epoch"], "variables": {} });

        app.advance("P31D").await;
        stands(&app, "restricted", Some("expired"), "restricted: expired").await;
        for (path, body) in [
            (format!("/api/workflows/{workflow}/runs"), json!({})),
            ("/api/jobs/activate".to_owned(), ask.clone()),
            (complete.clone(), done.clone()),
            ("/api/signals".to_owned(), json!({ "name": "any" })),
        ] {
            let _ = app.admin.post(&path, body).await.refused(423, "licenceRestricted");
        }
        app.advance("P9D").await;
        let cured = now(&app);
        let _ = put(&app.admin, &from_now(&app)).await.expect(200);

        let early = fired(&app, &before).await.duration_since(begun).as_secs();
        assert_eq!(early / DAY.unsigned_abs(), 20, "it fired before the restriction, at its time");
        assert!(fired(&app, &within).await >= cured, "nothing fires while the installation is restricted");
        // Whoever held a job reports it after the cure; the open one is handed out.
        let _ = app.admin.post(&complete, done).await.expect(200);
        let taken = app.admin.post("/api/jobs/activate", ask).await.expect(200).data()[0].clone();
        let runs = [&held["runId"], &taken["runId"]];
        assert!(runs.contains(&&held_run["id"]) && runs.contains(&&open_run["id"]), "{runs:?}");
        let _ = app.admin.run_in(&workflow, held["runId"].as_str().unwrap(), "completed").await;
        app.stop().await;
    });
}

#[tokio::test]
async fn a_worker_in_line_gets_nothing_once_the_installation_is_restricted() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let job = jobs::one(&app.admin).await;
        let take =
            |wait: u32| json!({ "types": ["sample-type"], "worker": "w", "lockMs": 60_000, "waitMs": wait });
        let held = app.admin.post("/api/jobs/activate", take(0)).await.expect(200).data();
        assert_eq!(held[0]["id"], job["id"], "{held}");
        // The lock runs out with the moved clock, which opens the job again: not for who waits by then.
        let worker = app.admin.clone();
        let waiting = async { worker.post("/api/jobs/activate", take(20_000)).await };
        let (answer, ()) = tokio::join!(waiting, app.advance("P31D"));
        assert!(answer.status == 423 || answer.expect(200).data() == json!([]));
        let _ = put(&app.admin, &from_now(&app)).await.expect(200);
        let taken = app.admin.post("/api/jobs/activate", take(0)).await.expect(200).data();
        assert_eq!(taken[0]["id"], job["id"], "{taken}");
        app.stop().await;
    });
}

#[tokio::test]
async fn the_licence_of_the_configuration_is_in_force_when_the_server_is() {
    with_both!(|db| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("acme.licence");
        let claims = testing::claims(heddle_runtime::ServerClock::default().now());
        std::fs::write(&file, testing::issue(&claims)).unwrap();
        let mut app = TestApp::with(db, |config| config.licence_file = Some(file.clone())).await;
        stands(&app, "active", None, "").await;
        // What can't be taken stops no server.
        std::fs::write(&file, "no licence").unwrap();
        app.restart().await;
        stands(&app, "active", None, "").await;
        app.stop().await;
    });
}
