//! What every operation's row demands, tried on every operation.

use std::collections::BTreeMap;
use std::time::Duration;

use heddle_api::Face;
use heddle_api::operations::{Method, OperationId, OperationSpec, Security, Selector};
use heddle_identity::licence::testing;
use heddle_kernel::Clock as _;
use heddle_testkit::{Answer, Client, TestApp, with_both};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::{models, samples};

/// Every operation with its row.
pub(crate) fn all() -> impl Iterator<Item = (OperationId, &'static OperationSpec)> {
    OperationId::ALL.iter().map(|id| (*id, id.spec()))
}

/// Every operation that asks for a right.
pub(crate) fn guarded() -> impl Iterator<Item = (OperationId, &'static OperationSpec)> {
    all().filter(|(_, spec)| matches!(spec.security, Security::Permissions(_)))
}

/// A well-formed call.
pub(crate) async fn call(client: &Client, id: OperationId, path: &str) -> Answer {
    let spec = id.spec();
    let request = client.request(spec.method.as_str(), path);
    match samples::takes_json(spec) {
        true => request.json(&samples::body(id)).send().await,
        false => request.send().await,
    }
}

fn is_about_one_organization(spec: &OperationSpec) -> bool {
    matches!(spec.selector(), Selector::Tenant(_))
}

#[tokio::test]
async fn nobody_comes_in_without_a_credential() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let browser = app.anonymous().cookie("nonsense").with("sec-fetch-site", "same-origin");
        let strangers = [app.anonymous(), app.anonymous().bearer("hds_nonsense"), browser];
        for (id, spec) in all() {
            for stranger in &strangers {
                let answer = call(stranger, id, &samples::nobody(spec)).await;
                let wanted = spec.security != Security::Public;
                let refused = answer.status == 401 && answer.header("www-authenticate").starts_with("Bearer");
                let signs_in = id == OperationId::SignIn;
                assert!(
                    signs_in || refused == wanted,
                    "{}: {} {}",
                    spec.operation_id,
                    answer.status,
                    answer.text()
                );
                if wanted {
                    assert!(
                        samples::code(spec, &answer).is_none_or(|code| code == "AUTHENTICATION_REQUIRED")
                    );
                }
            }
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_8_2_1_a_member_without_the_right_is_refused_and_an_outsider_too() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (foreign, _) = app.second_organization("second").await;
        let _ = app.role("nothing", &[]).await;
        let (_, powerless) = app.user("powerless", &["nothing"]).await;
        let (_, owner) = app.user("owner", &["owner"]).await;
        for (id, spec) in guarded() {
            let path = samples::within(spec, &app.organization);
            let answer = call(&powerless, id, &path).await;
            assert_eq!(answer.status, 403, "{}: {}", spec.operation_id, answer.text());
            assert!(samples::code(spec, &answer).is_none_or(|code| code == "PERMISSION_REQUIRED"));
            if is_about_one_organization(spec) {
                let path = samples::path(spec, |_| foreign.clone());
                assert_eq!(call(&owner, id, &path).await.status, 404, "{}", spec.operation_id);
            } else {
                for other in [foreign.as_str(), samples::NOBODY, "nonsense"] {
                    let answer = call(&owner.within(other), id, &path).await;
                    match spec.area.face() {
                        Face::Own => drop(answer.refused(403, "notAMember")),
                        Face::Camunda7 | Face::Camunda8 | Face::OpenAi | Face::Anthropic => {
                            drop(answer.expect(403));
                        }
                    }
                }
            }
        }
        app.stop().await;
    });
}

/// Things of an organisation, by the name of the path parameter that holds their id.
pub(crate) async fn things(app: &TestApp, owner: &Client) -> BTreeMap<&'static str, String> {
    let workflow = owner.publish_bpmn("theirs", &models::task()).await;
    let run = owner.run(&workflow, json!({})).await;
    let event = json!({ "correlationKey": "k", "eventType": "e", "idempotencyKey": "theirs", "payload": {} });
    let event = owner.post("/api/case-events", event).await.expect(202).data();
    let role = owner.post("/api/roles", json!({ "name": "theirs" })).await.expect(201).id();
    let group = owner.post("/api/groups", json!({ "name": "their-group" })).await.expect(201).id();
    let grant = owner.post("/api/grants", samples::body(OperationId::CreateGrant)).await.expect(201).id();
    let (user, them) = app.user_in(owner, "theirs", &["viewer"]).await;
    let token = them.post("/api/auth/tokens", json!({ "name": "theirs" })).await.expect(201).data();
    let session = them.get("/api/auth/session").await.expect(200).data();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let letter = crate::dead_letters::one(owner).await;
    let job = crate::jobs::one(owner).await;
    let (connection, webhook) = crate::connections::two(owner).await;
    let vectors = crate::vectors::one(owner, "theirs").await;
    let (_, case) = crate::cases::one(owner).await;
    let hook = json!({ "name": "theirs", "eventType": "e", "correlationKey": "body.key" });
    let hook = owner.post("/api/incoming-hooks", hook).await.expect(201).id();
    let (provider, deployment) = crate::models_of_providers::two(owner, "theirs").await;
    BTreeMap::from([
        ("caseId", case),
        ("planItemId", "collect".to_owned()),
        ("transition", "suspend".to_owned()),
        ("itemId", "claimed".to_owned()),
        ("hookId", hook),
        // Whoever knows the address of a hook may call it: that is what it is for. Nothing has this one.
        ("token", samples::NOBODY.to_owned()),
        ("name", "theirs".to_owned()),
        ("fileId", vectors.file),
        ("jobId", text(&job["id"])),
        ("deadLetterId", text(&letter["id"])),
        ("workflowId", workflow),
        ("caseTypeId", samples::case_type(owner, "their-cases").await),
        ("runId", text(&run["id"])),
        ("nodeId", "work".to_owned()),
        // A provider is nobody's own: there is none of this name.
        ("provider", samples::NOBODY.to_owned()),
        // Of jobs by the names that other products have for them, the tests of their faces tell.
        ("id", connection),
        ("webhookId", webhook),
        ("connectionId", provider),
        ("deploymentId", deployment),
        // A number that stands in no list by chance.
        ("jobKey", i64::MAX.to_string()),
        ("taskId", text(&run["humanTasks"][0]["id"])),
        ("eventId", text(&event["event"]["id"])),
        ("groupId", group),
        ("roleId", role),
        ("grantId", grant),
        ("userId", user),
        ("tokenId", text(&token["record"]["id"])),
        ("sessionId", text(&session["session"]["id"])),
    ])
}

/// Path parameters that hold words of a definition, which are no ids of anything that somebody has.
const WORDS: [&str; 4] = ["nodeId", "planItemId", "itemId", "transition"];

#[tokio::test]
async fn asvs_8_2_2_what_belongs_to_another_organisation_is_not_there() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (organization, elsewhere) = app.second_organization("second").await;
        let mut theirs = things(&app, &elsewhere).await;
        theirs.insert("organizationId", organization);
        let (_, owner) = app.user("owner", &["owner"]).await;
        for (id, spec) in all().filter(|(_, spec)| spec.path.contains('{')) {
            if id == OperationId::SetMember {
                // Whoever knows a user's id may make him a member: that is how he comes to a second organisation.
                continue;
            }
            let path = samples::path(spec, |name| theirs[name].clone());
            let answer = call(&owner, id, &path).await;
            assert_eq!(answer.status, 404, "{} {path}: {}", spec.operation_id, answer.text());
            assert!(samples::code(spec, &answer).is_none_or(|code| code == "NOT_FOUND"));
            let absent = call(&owner, id, &samples::nobody(spec)).await;
            assert_eq!(absent.status, 404, "{}: {}", spec.operation_id, absent.text());
            if spec.area.face() == Face::Own {
                let theirs = answer.json()["error"]["message"].clone();
                assert_eq!(theirs, absent.json()["error"]["message"], "{}", spec.operation_id);
            }
        }
        // Nothing of theirs changed, and no list shows it.
        for list in [
            "/api/workflows",
            "/api/roles",
            "/api/grants",
            "/api/users",
            "/api/members",
            "/api/human-tasks",
            "/api/connections",
            "/api/webhooks",
            "/api/incoming-hooks",
            "/api/case-types",
            "/api/cases",
        ] {
            let shown = owner.get(list).await.expect(200).text();
            for (name, id) in theirs.iter().filter(|(name, _)| !WORDS.contains(name)) {
                assert!(!shown.contains(id.as_str()), "{list} shows {name}");
            }
        }
        let run = elsewhere.run_now(&theirs["workflowId"], &theirs["runId"]).await;
        assert_eq!(run["state"], "waiting");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_restricted_installation_opens_what_remedies_it() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        app.advance("P40D").await;
        let licence = app.admin.get("/api/licence").await.expect(200).data();
        assert_eq!(licence["state"], "restricted", "{licence}");
        // A call may end the session that makes it.
        let (email, password) = app.account.clone();
        for (id, spec) in all() {
            if matches!(id, OperationId::SignOut | OperationId::AdvanceTestClock) {
                continue;
            }
            let path = samples::within(spec, &app.organization);
            let answer = call(&app.admin, id, &path).await;
            // What takes access away is open; a change of an account only as far as it switches it off.
            let open = spec.takes_access && id != OperationId::UpdateUser;
            let expected = spec.errors.contains(&423) && !open;
            assert_eq!(
                answer.status == 423,
                expected,
                "{}: {} {}",
                spec.operation_id,
                answer.status,
                answer.text()
            );
            if expected {
                assert!(
                    samples::code(spec, &answer).is_none_or(|code| code == "LICENCE_REMEDIATION_REQUIRED")
                );
            }
        }
        let again = app.sign_in(&email, &password).await;
        let _ = again.post("/api/auth/sign-out", json!({})).await.expect(204);
        app.stop().await;
    });
}

#[tokio::test]
async fn what_the_licence_leaves_out_is_told() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let mut claims = testing::claims(heddle_runtime::ServerClock::default().now());
        claims.entitlements = [("workflow.enabled".to_owned(), false)].into();
        let body = json!({ "licence": testing::issue(&claims) });
        let installed = app.admin.put("/api/licence", body).await.expect(200).data();
        assert_eq!((&installed["state"], &installed["kind"]), (&json!("active"), &json!("production")));
        let mut left_out = 0;
        for (id, spec) in guarded() {
            let answer = call(&app.admin, id, &samples::nobody(spec)).await;
            assert_eq!(
                answer.status == 402,
                spec.entitlement.is_some(),
                "{}: {} {}",
                spec.operation_id,
                answer.status,
                answer.text()
            );
            if let (Some(entitlement), Face::Own) = (spec.entitlement, spec.area.face()) {
                let error = &answer.json()["error"];
                assert_eq!(
                    (&error["code"], &error["details"][0]["entitlement"]),
                    (&json!("FEATURE_NOT_LICENSED"), &json!(entitlement.as_str()))
                );
                left_out += 1;
            }
        }
        assert!(left_out > 20, "{left_out}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_limit_of_the_licence_is_told() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        for number in 1..5 {
            let _ = app.second_organization(&format!("more-{number}")).await;
        }
        let body = json!({ "slug": "one-more", "displayName": "One more" });
        let refused = app.admin.post("/api/organizations", body).await.refused(402, "limitReached");
        assert_eq!(
            (&refused["code"], &refused["details"][0]["licensed"]),
            (&json!("FEATURE_NOT_LICENSED"), &json!(5))
        );
        app.stop().await;
    });
}

#[tokio::test]
async fn a_node_without_the_role_says_so() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.roles = Vec::new()).await;
        for (id, spec) in guarded() {
            let answer = call(&app.admin, id, &samples::nobody(spec)).await;
            let expected = spec.service_role.is_some();
            assert_eq!(
                answer.status == 503,
                expected,
                "{}: {} {}",
                spec.operation_id,
                answer.status,
                answer.text()
            );
            if expected && spec.area.face() == Face::Own {
                let _ = answer.refused(503, "roleNotOnNode");
            }
        }
        let _ = app.anonymous().get("/health/ready").await.expect(503);
        let _ = app.anonymous().get("/health/live").await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_2_2_1_and_15_2_2_a_body_is_refused_with_its_place() {
    let deep = format!("{}1{}", "[".repeat(65), "]".repeat(65));
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let send = |id: OperationId, media: &'static str, body: Vec<u8>| {
            let spec = id.spec();
            let path = samples::within(spec, &app.organization);
            admin.request(spec.method.as_str(), &path).body(media, body).send()
        };
        for (id, spec) in all().filter(|(_, spec)| samples::takes_members(spec)) {
            let mut unknown = samples::body(id);
            unknown["surprise"] = json!(1);
            let twice = samples::body(id).to_string();
            let twice = format!("{{\"surprise\":1,\"surprise\":2,{}", twice.strip_prefix('{').unwrap())
                .replace(",}", "}");
            let unknown = (unknown.to_string(), "unknownField", Some("surprise"));
            let cases = [
                (twice, "duplicateKey", Some("surprise")),
                ("{\"a\":".to_owned(), "malformed", None),
                ("[]".to_owned(), "wrongType", None),
                (format!("{{\"surprise\":{deep}}}"), "tooDeep", None),
            ];
            let unknown = samples::knows_members(spec).then_some(unknown);
            for (body, reason, field) in cases.into_iter().chain(unknown) {
                let answer = send(id, "application/json", body.into_bytes()).await;
                refused_at(spec, answer, reason, field);
            }
            let zip = send(id, "application/zip", b"PK\x03\x04".to_vec()).await;
            assert_eq!(zip.status, 415, "{}: {}", spec.operation_id, zip.text());
        }
        app.stop().await;
    });
}

/// Asserts that a body is refused for a reason, with its member where there is one, as the operation's clients read it.
pub(crate) fn refused_at(spec: &OperationSpec, answer: Answer, reason: &str, field: Option<&str>) {
    let (word, text) = match spec.area.face() {
        Face::Own => {
            let fields = answer.fields();
            assert!(field.is_none_or(|field| fields.iter().any(|named| named == field)), "{fields:?}");
            assert_eq!(answer.refused(400, reason)["code"], "INVALID_REQUEST_BODY");
            return;
        }
        // They have no words for the reasons: a text tells the member, and what is wrong with it.
        Face::Camunda7 => ("/type", "/message"),
        Face::Camunda8 => ("/title", "/detail"),
        Face::OpenAi | Face::Anthropic => ("/error/type", "/error/message"),
    };
    let error = answer.expect(400).json();
    let at = |pointer: &str| error.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let words = ["InvalidRequestException", "INVALID_ARGUMENT", "invalid_request_error"];
    assert!(words.contains(&at(word).as_str()), "{error}");
    let told = at(text);
    assert!(!told.is_empty() && field.is_none_or(|field| told.contains(field)), "{reason}: {error}");
}

#[tokio::test]
async fn asvs_5_2_1_a_body_that_is_too_long_is_not_read() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        for (_, spec) in all().filter(|(_, spec)| samples::takes_json(spec)) {
            let length = match spec.body_limit >> 20 {
                0 | 1 => 1024 * 1024 + 1,
                2..=16 => 17 * 1024 * 1024,
                _ => 33 * 1024 * 1024,
            };
            assert!(length > spec.body_limit);
            let answer = announced(&app, spec, length).await;
            assert!(answer.starts_with("HTTP/1.1 413 "), "{}: {answer}", spec.operation_id);
            let word = match spec.area.face() {
                Face::Own => "PAYLOAD_TOO_LARGE",
                Face::Camunda7 => "InvalidRequestException",
                Face::Camunda8 => "INVALID_ARGUMENT",
                Face::OpenAi => "invalid_request_error",
                Face::Anthropic => "request_too_large",
            };
            assert!(answer.contains(word), "{}: {answer}", spec.operation_id);
        }
        // A body of unknown length is cut off where the limit is.
        let spec = OperationId::CreateWorkflow.spec();
        let mut stream = open(&app, spec, "transfer-encoding: chunked").await;
        let (mut reading, mut writing) = stream.split();
        let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 0x10_0000], b"\r\n"].concat();
        let sending = async {
            for _ in 0..17 {
                // The server may have heard enough.
                if writing.write_all(&chunk).await.is_err() {
                    break;
                }
            }
            std::future::pending::<()>().await;
        };
        let answer = tokio::select! {
            answer = answer(&mut reading) => answer,
            () = sending => String::new(),
        };
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        let listed = app.admin.get("/api/workflows").await.expect(200).data();
        assert_eq!(listed.as_array().map(Vec::len), Some(3), "the demo's and no more");
        app.stop().await;
    });
}

/// The answer to a request whose body is announced and never sent.
async fn announced(app: &TestApp, spec: &OperationSpec, length: usize) -> String {
    answer(&mut open(app, spec, &format!("content-length: {length}")).await).await
}

/// A connection on which the head of a request was sent.
#[expect(clippy::disallowed_methods, reason = "tests are clients of the server that they start")]
async fn open(app: &TestApp, spec: &OperationSpec, length: &str) -> TcpStream {
    let mut stream = TcpStream::connect(app.server().address()).await.unwrap();
    let head = format!(
        "{} {} HTTP/1.1\r\nhost: heddle\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n{length}\r\n\r\n",
        spec.method.as_str(),
        samples::nobody(spec),
        app.admin.token(),
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// An error's answer.
async fn answer(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while !String::from_utf8_lossy(&answer).contains("requestId") {
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut part)).await;
        match read.expect("an answer in time").unwrap() {
            0 => break,
            length => answer.extend_from_slice(&part[..length]),
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let mut paths: BTreeMap<&str, (_, Vec<Method>)> = BTreeMap::new();
        for (_, spec) in all() {
            paths.entry(spec.path).or_insert((spec, Vec::new())).1.push(spec.method);
        }
        for (path, (spec, methods)) in paths {
            let wrong = [Method::Patch, Method::Put, Method::Delete, Method::Post, Method::Get]
                .into_iter()
                .find(|method| !methods.contains(method))
                .unwrap();
            let path = path.replace(['{', '}'], "");
            let answer = app.admin.request(wrong.as_str(), &path).send().await.expect(405);
            assert!(samples::code(spec, &answer).is_none_or(|code| code == "METHOD_NOT_ALLOWED"));
            let allowed: Vec<_> = answer.header("allow").split(", ").collect();
            for method in &methods {
                assert!(allowed.contains(&method.as_str()), "{path}: {allowed:?}");
            }
            assert!(!allowed.contains(&wrong.as_str()), "{path}: {allowed:?}");
        }
        let answer = app.admin.get("/api/no-such-thing").await.expect(404);
        assert_eq!(answer.json()["error"]["code"], "NOT_FOUND");
        app.stop().await;
    });
}

#[tokio::test]
async fn every_answer_has_a_request_id() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let long = "x".repeat(201);
        for path in ["/health/live", "/api/workflows", "/api/no-such-thing", "/api/workflows/none/runs"] {
            for (sent, kept) in [("mine-1", true), (long.as_str(), false), ("", false), ("tab\there", false)]
            {
                let answer = app.admin.with("x-request-id", sent).get(path).await;
                let effective = answer.header("x-request-id").to_owned();
                assert_eq!(effective == sent, kept, "{path} {sent:?}: {effective}");
                assert!((1..=200).contains(&effective.len()));
                if answer.status >= 400 {
                    assert_eq!(answer.json()["error"]["requestId"], json!(effective));
                }
            }
        }
        let problem =
            app.admin.with("accept", "application/problem+json").get("/api/workflows/none").await.expect(404);
        assert_eq!(problem.header("content-type"), "application/problem+json");
        assert_eq!(problem.json()["status"], 404);
        app.stop().await;
    });
}

#[tokio::test]
async fn what_changes_something_and_what_is_refused_is_audited() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, nobody) = app.user("nobody", &[]).await;
        let admin = app.admin.clone();
        let audited = async |action: &str, request: &str| {
            let found =
                admin.get(&format!("/api/audit-events?action={action}&limit=200")).await.expect(200).data();
            found.as_array().into_iter().flatten().find(|event| event["requestId"] == request).cloned()
        };
        let as_ = |request: &str| admin.with("x-request-id", request);
        let workflow = as_("r-create").create("audited", json!({ "nodes": [], "edges": [] })).await;
        let path = format!("/api/workflows/{workflow}");
        let definition = admin.preview("task.bpmn", &models::task()).await;
        let _ = as_("r-draft")
            .put(&format!("{path}/draft"), json!({ "definition": definition }))
            .await
            .expect(200);
        let _ = as_("r-patch").patch(&path, json!({ "displayName": "Two" })).await.expect(200);
        let _ = as_("r-publish").post(&format!("{path}/publish"), json!({})).await.expect(200);
        let _ = as_("r-star").put(&format!("{path}/star"), json!({})).await.expect(200);
        let run = as_("r-run").run(&workflow, json!({})).await;
        let run = run["id"].as_str().unwrap();
        let _ = as_("r-complete").complete(&workflow, run, "work", json!({})).await.expect(200);
        let role = as_("r-role").post("/api/roles", json!({ "name": "r" })).await.expect(201).id();
        let _ = as_("r-unrole").delete(&format!("/api/roles/{role}")).await.expect(204);
        let _ = as_("r-delete").delete(&path).await.expect(204);
        for (request, action) in [
            ("r-create", "workflow.created"),
            ("r-draft", "workflow.draft_saved"),
            ("r-patch", "workflow.updated"),
            ("r-publish", "workflow.published"),
            ("r-star", "workflow.starred"),
            ("r-run", "workflow.run_started"),
            ("r-complete", "workflow.human_task_completed"),
            ("r-role", "role.created"),
            ("r-unrole", "role.deleted"),
            ("r-delete", "workflow.deleted"),
        ] {
            let event = audited(action, request).await.unwrap_or_else(|| panic!("{action} is not audited"));
            assert_eq!(
                (&event["outcome"], &event["actor"]["kind"]),
                (&json!("success"), &json!("user")),
                "{event}"
            );
        }
        // What changed nothing is no change; what was refused is a refusal.
        let _ = as_("r-conflict").post("/api/roles", json!({ "name": "viewer" })).await.expect(409);
        assert_eq!(audited("role.created", "r-conflict").await, None);
        let _ = nobody.with("x-request-id", "r-denied").delete(&path).await.expect(403);
        let denied = audited("access.denied", "r-denied").await.expect("a refusal is audited");
        assert_eq!(
            (&denied["outcome"], &denied["actor"]["userId"]),
            (&json!("denied"), &json!(id)),
            "{denied}"
        );
        app.stop().await;
    });
}
