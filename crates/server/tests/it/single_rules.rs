//! Rules about one thing, tried on every operation that is about one: a deny on exactly it and a deny on what it stands
//! within refuse, an allow on exactly it is enough, and no spelling of its id passes a deny.

use std::collections::BTreeMap;

use heddle_api::operations::{
    Area, Document, Method, OperationId, OperationSpec, OutputKind, Security, Selector,
};
use heddle_testkit::{Client, TestApp, with_both};
use serde_json::json;

use crate::{models, samples};

/// Things of the caller's organisation, by the name of the path parameter, or the member, that holds their id.
type Things = BTreeMap<&'static str, String>;

async fn things(app: &TestApp) -> Things {
    let workflow = app.admin.publish_bpmn("single", &models::task()).await;
    let run = app.admin.run(&workflow, json!({})).await;
    let role = app.admin.post("/api/roles", json!({ "name": "single" })).await.expect(201).id();
    let group = app.admin.post("/api/groups", json!({ "name": "single-group" })).await.expect(201).id();
    // About a kind of which no operation here is.
    let rule = json!({ "principal": { "kind": "everyone" }, "resourceType": "model",
        "action": "list", "resourceId": "*", "effect": "allow" });
    let grant = app.admin.post("/api/grants", rule).await.expect(201).id();
    let _ = app.role("powerless", &[]).await;
    let (user, _) = app.user("subject", &["powerless"]).await;
    let letter = crate::dead_letters::one(&app.admin).await;
    let job = crate::jobs::one(&app.admin).await;
    let (connection, webhook) = crate::connections::two(&app.admin).await;
    let (case_type, case) = crate::cases::one(&app.admin).await;
    let vectors = crate::vectors::one(&app.admin, "single").await;
    let (provider, deployment) = crate::models_of_providers::two(&app.admin, "single").await;
    let hook = json!({ "name": "single", "eventType": "e", "correlationKey": "body.key" });
    let hook = app.admin.post("/api/incoming-hooks", hook).await.expect(201).id();
    BTreeMap::from([
        ("id", connection),
        ("webhookId", webhook),
        ("connectionId", provider),
        ("deploymentId", deployment),
        ("name", "single".to_owned()),
        ("fileId", vectors.file),
        ("ingestionJobId", vectors.job),
        ("hookId", hook),
        ("caseCaseTypeId", case_type),
        ("caseId", case),
        ("planItemId", "collect".to_owned()),
        ("itemId", "claimed".to_owned()),
        ("transition", "suspend".to_owned()),
        ("jobId", job["id"].as_str().unwrap().to_owned()),
        ("jobType", job["type"].as_str().unwrap().to_owned()),
        ("jobRunId", job["runId"].as_str().unwrap().to_owned()),
        ("workflowId", workflow),
        ("caseTypeId", crate::samples::case_type(&app.admin, "cases").await),
        ("runId", run["id"].as_str().unwrap().to_owned()),
        ("nodeId", "work".to_owned()),
        ("taskId", run["humanTasks"][0]["id"].as_str().unwrap().to_owned()),
        ("groupId", group),
        ("roleId", role),
        ("grantId", grant),
        ("userId", user),
        // The account signs in by none.
        ("provider", "mock".to_owned()),
        ("organizationId", app.organization.clone()),
        ("deadLetterId", letter["id"].as_str().unwrap().to_owned()),
        ("deadLetterWorkflowId", letter["workflowId"].as_str().unwrap().to_owned()),
    ])
}

/// Name of a path's parameter among the things: those of two kinds have the same.
fn known_as<'a>(spec: &OperationSpec, name: &'a str) -> &'a str {
    let is_ingestion = spec.area == Area::VectorDatabases && name == "jobId";
    if is_ingestion { "ingestionJobId" } else { name }
}

/// A thing that a rule can be about: its kind and its id.
type Thing<'a> = (&'static str, &'a str);

/// What an operation is about, and what that stands within; a row without a sample fails here.
fn subject<'a>(spec: &OperationSpec, things: &'a Things) -> Option<(Option<Thing<'a>>, Option<Thing<'a>>)> {
    let on = spec.resource_action?;
    let named = |name: &str| -> &'a str {
        assert!(things.contains_key(name), "{name} has no sample");
        &things[name]
    };
    let one = |name: &str| Some((on.resource.as_str(), named(name)));
    let above = |name: &str| on.resource.parent().map(|kind| (kind.as_str(), named(name)));
    match (spec.security, on.selector) {
        // Own things are nobody else's, whatever the rules say.
        (Security::Public | Security::Session, _) => None,
        (_, Selector::None | Selector::All | Selector::List { within: [] }) => None,
        // Jobs and starts by the names that other products have for them: tried in the tests of their faces.
        _ if spec.document == Document::Compatibility => None,
        (_, Selector::List { within: [near, ..] } | Selector::AllWithin { within: [near, ..] }) => {
            Some((None, above(near)))
        }
        (_, Selector::AllWithin { within: [] }) => None,
        (_, Selector::Loaded("jobId")) => Some((one("ingestionJobId"), above("name"))),
        (_, Selector::Path { name, within }) => {
            Some((one(name), within.first().and_then(|near| above(near))))
        }
        (_, Selector::Tenant(name)) => Some((one(name), None)),
        // A dead letter need not be of a run; it stands within its workflow.
        (_, Selector::Loaded("deadLetterId")) => {
            Some((one("deadLetterId"), Some(("workflow", named("deadLetterWorkflowId")))))
        }
        (_, Selector::Loaded("caseId")) => Some((one("caseId"), above("caseCaseTypeId"))),
        // A body names it; tried in the tests of models.
        (_, Selector::Loaded("deployment")) => None,
        // A job is named by its type, and stands within a run.
        (_, Selector::Loaded("jobType")) => Some((one("jobType"), above("jobRunId"))),
        (_, Selector::Loaded(member)) => Some((one(member), above("workflowId"))),
    }
}

/// The status, and the reason of a refusal.
async fn call(client: &Client, id: OperationId, path: &str) -> (u16, String) {
    let spec = id.spec();
    let request = client.request(spec.method.as_str(), path);
    if spec.output == OutputKind::EventStream {
        let opened = request.open().await.expect("an answer");
        return (opened.status().as_u16(), "denied".to_owned());
    }
    let answer = match samples::takes_json(spec) {
        true => request.json(&samples::body(id)).send().await,
        false => request.send().await,
    };
    let is_json = answer.header("content-type").starts_with("application/json");
    let reason = if is_json { answer.json()["error"]["details"][0]["reason"].clone() } else { json!("") };
    (answer.status, reason.as_str().unwrap_or_default().to_owned())
}

struct Rules<'a>(&'a TestApp);

impl Rules<'_> {
    async fn add(&self, user: &str, effect: &str, action: &str, (kind, id): Thing<'_>) -> String {
        let rule = json!({ "principal": { "kind": "user", "id": user }, "resourceType": kind,
            "action": action, "resourceId": id, "effect": effect });
        self.0.admin.post("/api/grants", rule).await.expect(201).id()
    }

    async fn remove(&self, grant: &str) {
        let _ = self.0.admin.delete(&format!("/api/grants/{grant}")).await.expect(204);
    }
}

/// Other spellings of an id, and the one that the path's encoding allows.
fn spellings(id: &str) -> [String; 5] {
    [
        id.to_uppercase(),
        id.replace('-', ""),
        format!("%7B{id}%7D"),
        format!("%20{id}"),
        format!("%{:02X}{}", id.as_bytes()[0], &id[1..]),
    ]
}

/// Every operation about one thing; those that remove something last.
fn about_one() -> Vec<(OperationId, &'static OperationSpec)> {
    let mut all: Vec<_> = OperationId::ALL.iter().map(|id| (*id, id.spec())).collect();
    all.sort_by_key(|(id, spec)| (spec.method == Method::Delete, *id == OperationId::DeleteUser));
    all
}

#[tokio::test]
async fn a_deny_on_exactly_one_thing_or_on_what_it_stands_within_refuses() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let things = things(&app).await;
        let (user, denied) = app.user("denied", &["owner"]).await;
        let rules = Rules(&app);
        for (id, spec) in about_one() {
            let Some((one, above)) = subject(spec, &things) else { continue };
            let path = samples::path(spec, |name| things[known_as(spec, name)].clone());
            for rule in [one, above].into_iter().flatten() {
                let grant = rules.add(&user, "deny", "*", rule).await;
                let (status, reason) = call(&denied, id, &path).await;
                assert_eq!((status, reason.as_str()), (403, "denied"), "{id:?} with a deny on {rule:?}");
                if let Some(parameter) = spec.selector().parameter() {
                    for spelling in spellings(&things[parameter]) {
                        let other = samples::path(spec, |name| match name == parameter {
                            true => spelling.clone(),
                            false => things[known_as(spec, name)].clone(),
                        });
                        let (status, _) = call(&denied, id, &other).await;
                        assert!(matches!(status, 403 | 404), "{id:?} {other}: {status}");
                    }
                }
                rules.remove(&grant).await;
            }
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn an_allow_on_exactly_one_thing_is_enough_for_it_and_for_nothing_else() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let things = things(&app).await;
        let everything: Vec<&str> =
            heddle_policy::Permission::ALL.iter().map(|permission| permission.as_str()).collect();
        let body = json!({ "name": "no-actions", "permissions": everything });
        let _ = app.admin.post("/api/roles", body).await.expect(201);
        let (user, single) = app.user("single", &["no-actions"]).await;
        let rules = Rules(&app);
        for (id, spec) in about_one() {
            let Some((one, above)) = subject(spec, &things) else { continue };
            // What adds one to a thing is allowed for all of its kind.
            if matches!(spec.selector(), Selector::AllWithin { .. }) {
                continue;
            }
            let on = spec.resource_action.unwrap();
            let path = samples::path(spec, |name| things[known_as(spec, name)].clone());
            let (status, reason) = call(&single, id, &path).await;
            assert_eq!((status, reason.as_str()), (403, "denied"), "{id:?} without a rule");
            let (kind, action) = (on.resource.as_str(), on.action.as_str());
            let elsewhere = rules.add(&user, "allow", action, (kind, samples::NOBODY)).await;
            if one.is_some() {
                let (status, reason) = call(&single, id, &path).await;
                assert_eq!((status, reason.as_str()), (403, "denied"), "{id:?} with an allow elsewhere");
            }
            rules.remove(&elsewhere).await;
            // A list shows what may be read, and is asked for within what is above it.
            let (rule, action) = match (one, above) {
                (Some(one), _) => (one, action),
                (None, Some(_)) => ((kind, things["runId"].as_str()), "read"),
                (None, None) => panic!("{id:?} is about nothing"),
            };
            let grant = rules.add(&user, "allow", action, rule).await;
            let (status, reason) = call(&single, id, &path).await;
            let refused = status == 403 && reason == "denied";
            // A definition without decisions has no decision model to export, whoever asks.
            let absent = status == 404 && call(&app.admin, id, &path).await.0 != 404;
            assert!(!refused && !absent, "{id:?} with an allow on {rule:?}: {status} {reason}");
            rules.remove(&grant).await;
        }
        app.stop().await;
    });
}

/// A repeat of a call must not pass the check of what is found only when it is loaded.
#[tokio::test]
async fn a_kept_answer_is_not_told_to_whom_the_run_is_denied_by_now() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let things = things(&app).await;
        let (user, person) = app.user("person", &["owner"]).await;
        let path = format!("/api/human-tasks/{}/assign", things["taskId"]);
        let repeated = person.with("idempotency-key", "once");
        let claim = || json!({ "assignee": "me" });
        let _ = repeated.post(&path, claim()).await.expect(200);
        let again = repeated.post(&path, claim()).await.expect(200);
        assert_eq!(again.header("idempotent-replayed"), "true");
        let rules = Rules(&app);
        for rule in [("run", "runId"), ("workflow", "workflowId")] {
            let grant = rules.add(&user, "deny", "*", (rule.0, &things[rule.1])).await;
            let _ = repeated.post(&path, claim()).await.refused(403, "denied");
            // Nor does the refusal tell whether there is such a task.
            let nowhere = format!("/api/human-tasks/{}/assign", samples::NOBODY);
            let (there, absent) = (person.post(&path, claim()).await, person.post(&nowhere, claim()).await);
            assert_eq!(absent.status, 403, "{}", absent.text());
            let told = |answer: &heddle_testkit::Answer| answer.json()["error"]["details"].clone();
            assert_eq!(told(&there), told(&absent));
            rules.remove(&grant).await;
        }
        let nowhere = format!("/api/human-tasks/{}/assign", samples::NOBODY);
        let _ = person.post(&nowhere, claim()).await.expect(404);
        app.stop().await;
    });
}
