//! Questions about rights over HTTP: single, in batches, all at once, and as AuthZEN asks them.

use heddle_policy::{Action, ResourceType};
use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::samples::NOBODY;

const CHECK: &str = "/api/authorization/check-access";
const EFFECTIVE: &str = "/api/authorization/effective-access";
/// Another id that nothing has.
const OTHER: &str = "018f0000-0000-7000-8000-000000000002";
const THIRD: &str = "018f0000-0000-7000-8000-000000000003";
const ASKING: [&str; 3] = ["authorization.check", "authorization.view", "workflows.view"];

async fn ask(client: &Client, body: Value) -> Value {
    client.post(CHECK, body).await.expect(200).data()
}

fn question(action: &str, kind: &str, id: &str) -> Value {
    json!({ "action": action, "resource": { "type": kind, "id": id } })
}

fn reason(told: &Value) -> (bool, &str) {
    (told["decision"].as_bool().unwrap(), told["context"]["reason"].as_str().unwrap())
}

async fn rule(app: &TestApp, user: &str, effect: &str, (kind, action, id): (&str, &str, &str)) -> String {
    let body = json!({ "principal": { "kind": "user", "id": user }, "resourceType": kind, "action": action,
        "resourceId": id, "effect": effect });
    app.admin.post("/api/grants", body).await.expect(201).id()
}

#[tokio::test]
async fn a_decision_tells_its_reason_and_what_it_rests_on() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let role = app.role("asker", &ASKING).await;
        let (user, person) = app.user("person", &["asker"]).await;
        let mut asked = question("read", "workflow", NOBODY);
        asked["permissions"] = json!(["workflows.manage", "workflows.view"]);
        let told = ask(&person, asked.clone()).await;
        assert_eq!(reason(&told), (true, "GRANTED"), "{told}");
        assert_eq!(told["context"]["permission"], "workflows.view");
        let by_role = json!([{ "effect": "allow", "source": "role", "sourceId": role }]);
        assert_eq!(told["context"]["via"], by_role);
        asked["permissions"] = json!(["workflows.manage"]);
        assert_eq!(reason(&ask(&person, asked).await), (false, "PERMISSION_MISSING"));
        for (action, kind, expected) in [
            ("read", "spaceship", (false, "UNKNOWN_RESOURCE_TYPE")),
            ("fly", "workflow", (false, "UNKNOWN_ACTION")),
            ("delete", "workflow", (true, "GRANTED")),
        ] {
            assert_eq!(reason(&ask(&person, question(action, kind, "*")).await), expected);
        }
        let before = told["context"]["authzRevision"].as_i64().unwrap();
        let deny = rule(&app, &user, "deny", ("workflow", "read", NOBODY)).await;
        let told = ask(&person, question("read", "workflow", NOBODY)).await;
        assert_eq!(reason(&told), (false, "EXPLICIT_DENY"));
        assert_eq!(told["context"]["via"], json!([{ "grantId": deny, "effect": "deny", "source": "user" }]));
        assert!(told["context"]["authzRevision"].as_i64().unwrap() > before);
        assert_eq!(reason(&ask(&person, question("read", "workflow", OTHER)).await), (true, "GRANTED"));
        // What stands within the denied thing is denied, and so is what may stand there; the answer tells of that.
        let mut run = question("read", "run", OTHER);
        let told = ask(&person, run.clone()).await;
        assert_eq!(reason(&told), (false, "EXPLICIT_DENY"));
        assert_eq!(told["context"]["via"][0]["grantId"], json!(deny));
        assert_eq!(told["context"]["unlessWithin"], json!([{ "type": "workflow", "id": NOBODY }]));
        run["resource"]["within"] = json!([{ "type": "workflow", "id": NOBODY }]);
        assert_eq!(reason(&ask(&person, run.clone()).await), (false, "EXPLICIT_DENY"));
        run["resource"]["within"] = json!([{ "type": "workflow", "id": OTHER }]);
        let told = ask(&person, run).await;
        assert_eq!((reason(&told), told["context"].get("unlessWithin")), ((true, "GRANTED"), None));
        let _ = app.admin.delete(&format!("/api/grants/{deny}")).await.expect(204);
        assert_eq!(reason(&ask(&person, question("read", "workflow", NOBODY)).await), (true, "GRANTED"));
        app.stop().await;
    });
}

#[tokio::test]
async fn every_step_is_explained_when_it_is_asked_for() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let _ = app.role("asker", &ASKING).await;
        let (user, person) = app.user("person", &["asker"]).await;
        let deny = rule(&app, &user, "deny", ("workflow", "publish", "*")).await;
        let mut asked = question("publish", "workflow", NOBODY);
        asked["permissions"] = json!(["workflows.manage"]);
        assert_eq!(ask(&person, asked.clone()).await["context"].get("steps"), None);
        asked["explain"] = json!(true);
        let told = ask(&person, asked).await;
        let steps = told["context"]["steps"].as_array().unwrap();
        let step = |at: usize| (steps[at]["step"].as_str().unwrap(), steps[at]["passed"].as_bool().unwrap());
        let all: Vec<_> = (0..steps.len()).map(step).collect();
        let expected = [
            ("accountInUse", true),
            ("member", true),
            ("registered", true),
            ("notDenied", false),
            ("permission", false),
            ("resourceAction", true),
        ];
        assert_eq!(all, expected, "{told}");
        assert_eq!(
            (&steps[3]["reason"], &steps[4]["reason"]),
            (&json!("EXPLICIT_DENY"), &json!("PERMISSION_MISSING"))
        );
        assert_eq!(steps[3]["via"][0]["grantId"], json!(deny));
        app.stop().await;
    });
}

#[tokio::test]
async fn about_others_asks_who_may_inspect_and_who_is_nobody_here_has_nothing() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let _ = app.role("asker", &ASKING).await;
        let _ = app
            .role("inspector", &["authorization.check", "authorization.inspect", "authorization.view"])
            .await;
        let (person_id, person) = app.user("person", &["asker"]).await;
        let (inspector_id, inspector) = app.user("inspector", &["inspector"]).await;
        let about = |kind: &str, id: &str| {
            let mut asked = question("read", "workflow", NOBODY);
            asked["subject"] = json!({ "type": kind, "id": id });
            asked
        };
        let error = person.post(CHECK, about("user", &inspector_id)).await.refused(403, "denied");
        assert_eq!(error["details"][0]["permissions"], json!(["authorization.inspect"]), "{error}");
        let subject = json!({ "subject": { "type": "user", "id": inspector_id } });
        let _ = person.post(EFFECTIVE, subject).await.refused(403, "denied");
        // Oneself by name is oneself.
        assert_eq!(reason(&ask(&person, about("user", &person_id)).await), (true, "GRANTED"));
        assert_eq!(reason(&ask(&inspector, about("user", &person_id)).await), (true, "GRANTED"));
        let (_, second) = app.second_organization("second").await;
        let (foreign_id, _) = app.user_in(&second, "foreign", &["owner"]).await;
        for (kind, id) in [
            ("user", foreign_id.as_str()),
            ("user", NOBODY),
            ("user", "nobody@example.com"),
            ("service-account", &person_id),
            ("spaceship", &person_id),
        ] {
            let told = ask(&inspector, about(kind, id)).await;
            assert_eq!(reason(&told), (false, "NOT_A_MEMBER"), "{kind} {id}: {told}");
            let body = json!({ "subject": { "type": kind, "id": id } });
            let rights = inspector.post(EFFECTIVE, body).await.expect(200).data();
            assert_eq!((&rights["permissions"], &rights["resources"]), (&json!([]), &json!([])), "{rights}");
        }
        let both =
            json!({ "evaluations": [about("user", &person_id), about("service-account", &person_id)] });
        let told = ask(&inspector, both).await;
        let reasons: Vec<_> = told["evaluations"].as_array().unwrap().iter().map(reason).collect();
        assert_eq!(reasons, [(true, "GRANTED"), (false, "NOT_A_MEMBER")]);
        let body = json!({ "state": "disabled" });
        let _ = app.admin.patch(&format!("/api/users/{person_id}"), body).await.expect(200);
        let told = ask(&inspector, about("user", &person_id)).await;
        assert_eq!(reason(&told), (false, "PRINCIPAL_INACTIVE"));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_service_account_is_a_subject_and_asks_about_itself() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let body = json!({ "email": "robot@example.com", "displayName": "Robot", "kind": "service",
            "roles": ["requester"] });
        let id = app.admin.post("/api/users", body).await.expect(201).id();
        let wanted = json!({ "name": "nightly", "userId": id });
        let made = app.admin.post("/api/auth/tokens", wanted).await.expect(201).data();
        let robot = app.anonymous().bearer(made["token"].as_str().unwrap());
        let (person, _) = app.user("person", &["requester"]).await;
        let about = |kind: &str, id: &str| {
            let mut asked = question("run", "workflow", NOBODY);
            asked["subject"] = json!({ "type": kind, "id": id });
            asked
        };
        for by in [&app.admin, &robot] {
            for kind in ["user", "service-account"] {
                assert_eq!(reason(&ask(by, about(kind, &id)).await), (true, "GRANTED"), "{kind}");
            }
        }
        let rights = robot.post(EFFECTIVE, json!({})).await.expect(200).data();
        assert_eq!(rights["subject"], json!({ "type": "service-account", "id": id }));
        assert_eq!(
            rights["resources"].as_array().unwrap().iter().filter(|one| one["type"] == "run").count(),
            1,
            "{rights}"
        );
        // A person is no service account, and who is neither asked about nor allowed to inspect is refused.
        assert_eq!(
            reason(&ask(&app.admin, about("service-account", &person)).await),
            (false, "NOT_A_MEMBER")
        );
        let _ = robot.post(CHECK, about("user", &person)).await.refused(403, "denied");
        app.stop().await;
    });
}

#[tokio::test]
async fn what_can_be_no_question_is_named() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let resource = json!({ "type": "workflow", "id": NOBODY });
        let within = |kind: &str, id: &str| {
            json!({ "action": "read", "resource": { "type": "run", "id": NOBODY,
                "within": [{ "type": kind, "id": id }] } })
        };
        let cases = [
            (json!({ "action": "read" }), "resource"),
            (question("read", "workflow", &NOBODY.to_uppercase()), "resource.id"),
            (question("read", "workflow", "my-slug"), "resource.id"),
            (
                json!({ "action": "read", "resource": resource, "permissions": ["workflows.fly"] }),
                "permissions[0]",
            ),
            (json!({ "action": "read", "resource": resource, "permissions": [] }), "permissions"),
            (json!({ "action": "read", "resource": resource, "permissions": null }), "permissions"),
            (json!({ "action": "read", "resource": resource, "context": { "ip": "::1" } }), "context"),
            (json!({ "action": "read", "resource": resource, "options": {} }), "options"),
            (json!({ "evaluations": [] }), "evaluations"),
            (
                json!({ "evaluations": [{ "action": "read", "resource": resource }, { "action": "read" }] }),
                "evaluations[1].resource",
            ),
            (
                json!({ "action": "read", "evaluations": [{ "resource": { "type": "run", "id": "x" } }] }),
                "evaluations[0].resource.id",
            ),
            (within("connection", NOBODY), "resource.within[0].type"),
            (within("workflow", "x"), "resource.within[0].id"),
        ];
        for (body, field) in cases {
            let answer = app.admin.post(CHECK, body.clone()).await.expect(400);
            assert_eq!(answer.fields(), [field], "{body}");
        }
        let nothing = app.admin.post(CHECK, json!({ "evaluations": [{}, {}] })).await.expect(400).fields();
        let all = [0, 1].map(|at| ["action", "resource"].map(|name| format!("evaluations[{at}].{name}")));
        assert_eq!(nothing, all.concat(), "all at once");
        let cases = [
            (json!({ "resourceTypes": ["workflow", "spaceship"] }), vec!["resourceTypes[1]"]),
            (json!({ "resourceTypes": [] }), vec!["resourceTypes"]),
            (json!({ "resourceTypes": ["run"], "resource": resource }), vec!["resourceTypes"]),
            (json!({ "resource": { "type": "workflow" } }), vec!["resource.id"]),
            (json!({ "resource": { "type": "spaceship", "id": "x" } }), vec!["resource.type"]),
            (json!({ "cursor": "nonsense" }), vec!["cursor"]),
            (json!({ "limit": 0 }), vec!["limit"]),
        ];
        for (body, fields) in cases {
            let answer = app.admin.post(EFFECTIVE, body.clone()).await.expect(400);
            assert_eq!(answer.fields(), fields, "{body}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_batch_takes_what_it_lacks_from_the_request_and_ends_as_it_says() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let _ = app.role("asker", &ASKING).await;
        let (user, person) = app.user("person", &["asker"]).await;
        let _ = rule(&app, &user, "deny", ("workflow", "read", OTHER)).await;
        let thing = |id: &str| json!({ "resource": { "type": "workflow", "id": id } });
        let mut update = thing(OTHER);
        update["action"] = json!({ "name": "update" });
        let mut body = json!({ "action": "read", "evaluations": [thing(NOBODY), thing(OTHER), update] });
        let decisions = async |body: &Value| {
            let told = ask(&person, body.clone()).await;
            let all = told["evaluations"].as_array().unwrap();
            all.iter().map(|one| one["decision"].as_bool().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(decisions(&body).await, [true, false, true]);
        for (semantic, expected) in [
            ("execute_all", vec![true, false, true]),
            ("deny_on_first_deny", vec![true, false]),
            ("permit_on_first_permit", vec![true]),
        ] {
            body["options"] = json!({ "evaluations_semantic": semantic });
            assert_eq!(decisions(&body).await, expected, "{semantic}");
        }
        app.stop().await;
    });
}

/// All pages of somebody's rights, by type and action: scope, ids and excepted ids.
async fn all_rights(client: &Client, limit: u32) -> Vec<Value> {
    let (mut rows, mut cursor): (Vec<Value>, Option<String>) = (Vec::new(), None);
    loop {
        let mut body = json!({ "limit": limit });
        if let Some(cursor) = &cursor {
            body["cursor"] = json!(cursor);
        }
        let page = client.post(EFFECTIVE, body).await.expect(200).data();
        for kind in page["resources"].as_array().unwrap() {
            for action in kind["actions"].as_array().unwrap() {
                let mut row = action.clone();
                row["type"] = kind["type"].clone();
                rows.push(row);
            }
        }
        cursor = page["page"]["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return rows;
        }
        assert!(rows.len() < 5_000, "the listing has no end");
    }
}

/// Whether a listing reaches a thing of which nobody said where it stands.
fn reaches(rows: &[Value], kind: &str, action: &str, id: &str) -> bool {
    let rows: Vec<&Value> = rows.iter().filter(|row| row["type"] == kind && row["name"] == action).collect();
    let named = |member: &str| {
        rows.iter().any(|row| row[member].as_array().is_some_and(|ids| ids.contains(&json!(id))))
    };
    let all = rows.iter().any(|row| row["scope"] == "all");
    let may_be_denied = rows.iter().any(|row| row.get("exceptWithin").is_some());
    (all || named("ids")) && !named("exceptIds") && !may_be_denied
}

#[tokio::test]
async fn all_rights_are_those_of_the_single_decisions() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let asking = json!({ "name": "asking", "permissions": ["authorization.check", "authorization.view"],
            "deniedPermissions": ["runs.view"],
            "grants": [
                { "resourceType": "authorization", "action": "*", "resourceId": "*", "effect": "allow" },
                { "resourceType": "*", "action": "list", "resourceId": "*", "effect": "allow" },
                { "resourceType": "run", "action": "*", "resourceId": "*", "effect": "allow" },
            ] });
        let _ = app.admin.post("/api/roles", asking).await.expect(201);
        let (user, person) = app.user("person", &["asking"]).await;
        for (effect, about) in [
            ("allow", ("workflow", "read", NOBODY)),
            ("allow", ("workflow", "read", OTHER)),
            ("allow", ("workflow", "*", THIRD)),
            ("deny", ("workflow", "read", OTHER)),
            ("deny", ("run", "cancel", OTHER)),
            ("deny", ("*", "list", THIRD)),
            ("deny", ("connection", "*", "*")),
            ("allow", ("connection", "read", NOBODY)),
        ] {
            let _ = rule(&app, &user, effect, about).await;
        }
        let rows = all_rights(&person, 1).await;
        assert_eq!(
            rows.len(),
            rows.iter().map(Value::to_string).collect::<std::collections::BTreeSet<_>>().len()
        );
        let mut seen = [0, 0];
        for kind in ResourceType::ALL {
            let ids = [NOBODY, OTHER, THIRD];
            let asked: Vec<(Action, &str)> =
                Action::ALL.iter().flat_map(|action| ids.map(|id| (*action, id))).collect();
            for part in asked.chunks(100) {
                let evaluations: Vec<Value> =
                    part.iter().map(|(action, id)| question(action.as_str(), kind.as_str(), id)).collect();
                let told = ask(&person, json!({ "evaluations": evaluations })).await;
                for ((action, id), told) in part.iter().zip(told["evaluations"].as_array().unwrap()) {
                    let listed = reaches(&rows, kind.as_str(), action.as_str(), id);
                    assert_eq!(told["decision"], json!(listed), "{kind} {action} {id}: {told}");
                    seen[usize::from(listed)] += 1;
                }
            }
        }
        assert!(seen[0] > 100 && seen[1] > 10, "{seen:?}");
        let whole = person.post(EFFECTIVE, json!({ "explain": true })).await.expect(200).data();
        assert_eq!(whole["deniedPermissions"], json!(["runs.view"]));
        let names: Vec<_> = whole["permissions"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["authorization.check", "authorization.view"]);
        assert_eq!(whole["entitlements"]["workflow.enabled"], true);
        assert_eq!(
            (&whole["subject"]["id"], &whole["organizationId"]),
            (&json!(user), &json!(app.organization))
        );
        let connection = json!({ "resource": { "type": "connection", "id": NOBODY } });
        let one = person.post(EFFECTIVE, connection).await.expect(200).data();
        let scopes = one["resources"][0]["actions"].as_array().unwrap();
        assert!(scopes.iter().all(|row| row["scope"] == "none"), "{one}");
        app.stop().await;
    });
}

#[tokio::test]
async fn what_hangs_on_whose_a_run_is_is_denied_and_says_so() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (user, person) = app.user("person", &["requester"]).await;
        let mut asked = question("read", "run", NOBODY);
        asked["explain"] = json!(true);
        let told = ask(&person, asked.clone()).await;
        assert_eq!(reason(&told), (false, "RESOURCE_ACTION_NOT_GRANTED"));
        let hangs = |told: &Value| (told["context"]["ifOwn"].clone(), told["context"]["ifNotOwn"].clone());
        assert_eq!(hangs(&told), (json!(true), Value::Null), "{told}");
        let step = told["context"]["steps"].as_array().unwrap().last().unwrap();
        assert_eq!((&step["step"], &step["passed"]), (&json!("ownership"), &json!(false)));
        assert_eq!(step["via"][0]["source"], "role");
        // Neither what is given to nobody nor what needs another permission hangs on it.
        assert_eq!(hangs(&ask(&person, question("cancel", "run", NOBODY)).await), (Value::Null, Value::Null));
        asked["permissions"] = json!(["workflows.manage"]);
        let told = ask(&person, asked).await;
        assert_eq!(
            (reason(&told), hangs(&told)),
            ((false, "PERMISSION_MISSING"), (Value::Null, Value::Null))
        );
        let row = |rights: &Value, name: &str| {
            let actions = rights["resources"][0]["actions"].as_array().unwrap();
            actions.iter().find(|row| row["name"] == name).unwrap().clone()
        };
        let rights = person.post(EFFECTIVE, json!({ "resourceTypes": ["run"] })).await.expect(200).data();
        assert_eq!(row(&rights, "read"), json!({ "name": "read", "scope": "listed", "own": true }));
        let one = json!({ "resource": { "type": "run", "id": NOBODY } });
        let rights = person.post(EFFECTIVE, one.clone()).await.expect(200).data();
        assert_eq!(row(&rights, "decide"), json!({ "name": "decide", "scope": "listed", "own": true }));
        // A deny of one's own, to who may read all.
        let (other, viewer) = app.user("viewer", &["viewer"]).await;
        for id in [&user, &other] {
            let _ = rule(&app, id, "deny", ("run", "read", "own")).await;
        }
        let told = ask(&viewer, question("read", "run", NOBODY)).await;
        assert_eq!(
            (reason(&told), hangs(&told)),
            ((false, "EXPLICIT_DENY"), (Value::Null, json!(true))),
            "{told}"
        );
        let rights = viewer.post(EFFECTIVE, json!({ "resourceTypes": ["run"] })).await.expect(200).data();
        assert_eq!(row(&rights, "read"), json!({ "name": "read", "scope": "all", "exceptOwn": true }));
        let rights = viewer.post(EFFECTIVE, one).await.expect(200).data();
        let excepted = json!({ "name": "read", "scope": "listed", "ids": [NOBODY], "exceptOwn": true });
        assert_eq!(row(&rights, "read"), excepted);
        let rights = person.post(EFFECTIVE, json!({ "resourceTypes": ["run"] })).await.expect(200).data();
        assert_eq!(row(&rights, "read"), json!({ "name": "read", "scope": "none" }));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_narrowed_token_asks_about_what_it_may_itself() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let body = json!({ "name": "narrow", "permissions": ["authorization.check"] });
        let made = app.admin.post("/api/auth/tokens", body).await.expect(201).data();
        let token = app.anonymous().bearer(made["token"].as_str().unwrap());
        let mut asked = question("read", "workflow", NOBODY);
        asked["permissions"] = json!(["workflows.view"]);
        assert_eq!(reason(&ask(&app.admin, asked.clone()).await), (true, "GRANTED"));
        assert_eq!(reason(&ask(&token, asked).await), (false, "PERMISSION_MISSING"));
        let _ = token.post(EFFECTIVE, json!({})).await.refused(403, "denied");
        app.stop().await;
    });
}

#[tokio::test]
async fn authzen_is_answered_in_its_own_shapes() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let known = app.anonymous().get("/.well-known/authzen-configuration").await.expect(200).json();
        let base = known["policy_decision_point"].as_str().unwrap();
        assert!(base.starts_with("http://127.0.0.1:"), "{known}");
        assert_eq!(known["access_evaluation_endpoint"], format!("{base}/access/v1/evaluation"));
        assert_eq!(known["access_evaluations_endpoint"], format!("{base}/access/v1/evaluations"));
        let _ = app.role("powerless", &[]).await;
        let (user, _) = app.user("person", &["powerless"]).await;
        let _ = rule(&app, &user, "allow", ("run", "read", "*")).await;
        let _ = rule(&app, &user, "deny", ("workflow", "read", NOBODY)).await;
        let mut asked = json!({
            "subject": { "type": "user", "id": user, "properties": { "department": "sales" } },
            "action": { "name": "read", "properties": {} },
            "resource": { "type": "run", "id": OTHER, "properties": { "owner": "me" } },
            "context": { "time": "2026-01-01T00:00:00Z" },
        });
        // Of which workflow the run is is not said, and one is denied: a client that reads nothing but the decision is safe.
        let told = app.admin.post("/access/v1/evaluation", asked.clone()).await.expect(200).json();
        assert_eq!((reason(&told), told.get("data")), ((false, "EXPLICIT_DENY"), None), "{told}");
        assert_eq!(told["context"]["unlessWithin"], json!([{ "type": "workflow", "id": NOBODY }]));
        let elsewhere = json!({ "within": [{ "type": "workflow", "id": OTHER }] });
        asked["resource"]["properties"] = elsewhere.clone();
        let told = app.admin.post("/access/v1/evaluation", asked.clone()).await.expect(200).json();
        assert_eq!(reason(&told), (true, "GRANTED"), "{told}");
        asked["resource"]["properties"]["within"] = json!([{ "type": "workflow", "id": NOBODY }]);
        let told = app.admin.post("/access/v1/evaluation", asked.clone()).await.expect(200).json();
        assert_eq!(reason(&told), (false, "EXPLICIT_DENY"));
        asked["resource"]["properties"]["within"] = json!("workflow");
        let refused = app.admin.post("/access/v1/evaluation", asked.clone()).await.expect(400);
        assert_eq!(refused.fields(), ["resource.properties.within"]);
        let things = json!([
            { "resource": { "type": "run", "id": OTHER, "properties": elsewhere } },
            { "resource": { "type": "workflow", "id": NOBODY } },
            { "resource": { "type": "todo", "id": "1" } },
        ]);
        let mut batch =
            json!({ "subject": asked["subject"], "action": { "name": "read" }, "evaluations": things });
        let told = app.admin.post("/access/v1/evaluations", batch.clone()).await.expect(200).json();
        let reasons: Vec<_> = told["evaluations"].as_array().unwrap().iter().map(reason).collect();
        let expected = [(true, "GRANTED"), (false, "EXPLICIT_DENY"), (false, "UNKNOWN_RESOURCE_TYPE")];
        assert_eq!(reasons, expected);
        batch["options"] = json!({ "evaluations_semantic": "deny_on_first_deny" });
        let told = app.admin.post("/access/v1/evaluations", batch.clone()).await.expect(200).json();
        assert_eq!(told["evaluations"].as_array().unwrap().len(), 2);
        // Without questions a batch is one itself; without somebody it is none.
        let _ = batch.as_object_mut().unwrap().remove("evaluations");
        batch["resource"] = json!({ "type": "run", "id": OTHER, "properties": elsewhere });
        let told = app.admin.post("/access/v1/evaluations", batch.clone()).await.expect(200).json();
        assert_eq!(reason(&told), (true, "GRANTED"));
        let _ = batch.as_object_mut().unwrap().remove("subject");
        assert_eq!(app.admin.post("/access/v1/evaluations", batch).await.expect(400).fields(), ["subject"]);
        app.stop().await;
    });
}
