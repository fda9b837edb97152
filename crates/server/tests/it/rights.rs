//! Limits of delegation over HTTP: what roles are granted counts, resets reach no further than the caller, nobody is
//! locked out for good, and rules of before are read.

use heddle_identity::ports::DirectoryStore as _;
use heddle_identity::records::{GrantPrincipal, GrantRow};
use heddle_kernel::{GrantId, TenantId, Timestamp, UserId};
use heddle_policy::Effect;
use heddle_store::{Db, Options};
use heddle_store_identity::IdentityStore;
use heddle_testkit::app::PASSWORD;
use heddle_testkit::db::TestDb;
use heddle_testkit::{Client, TestApp, with_both};
use heddle_usecase::Journal;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::models;

fn grant_to_role(role: &str, about: [&str; 3], effect: &str) -> Value {
    let [resource, action, id] = about;
    json!({ "principal": { "kind": "role", "id": role }, "resourceType": resource, "action": action,
        "resourceId": id, "effect": effect })
}

async fn set_roles(by: &Client, user: &str, roles: &[&str]) -> heddle_testkit::Answer {
    by.put(&format!("/api/members/{user}"), json!({ "roles": roles })).await
}

#[tokio::test]
async fn what_is_granted_or_denied_to_a_role_counts_when_it_is_given_or_taken() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let kept = app.admin.publish_bpmn("kept", &models::task()).await;
        // A role of no rules, to which something is granted that an administrator is denied.
        let strong = app.role("strong", &[]).await;
        let allow = grant_to_role(&strong, ["workflow", "delete", &kept], "allow");
        let _ = app.admin.post("/api/grants", allow).await.expect(201);
        let (id, person) = app.user("person", &["administrator"]).await;
        let (other, _) = app.user("other", &["viewer"]).await;
        let deny = json!({ "principal": { "kind": "user", "id": id }, "resourceType": "workflow",
            "action": "delete", "resourceId": kept, "effect": "deny" });
        let _ = app.admin.post("/api/grants", deny).await.expect(201);
        for user in [&id, &other] {
            let roles = if *user == id { vec!["administrator", "strong"] } else { vec!["viewer", "strong"] };
            let _ = set_roles(&person, user, &roles).await.refused(403, "exceedsOwnRights");
        }
        let account = json!({ "email": "new@example.com", "displayName": "New", "roles": ["strong"] });
        let _ = person.post("/api/users", account).await.refused(403, "exceedsOwnRights");
        let _ = set_roles(&app.admin, &other, &["viewer", "strong"]).await.expect(200);

        // A role that holds its members back is not put off by them, nor is one of them removed by another.
        let held = app.role("held", &[]).await;
        let deny = grant_to_role(&held, ["workflow", "publish", "*"], "deny");
        let _ = app.admin.post("/api/grants", deny).await.expect(201);
        let (one, first) = app.user("first", &["administrator", "held"]).await;
        let (two, second) = app.user("second", &["administrator", "held"]).await;
        let _ = set_roles(&first, &one, &["administrator"]).await.refused(403, "exceedsOwnRights");
        let _ = set_roles(&second, &one, &["administrator"]).await.refused(403, "exceedsOwnRights");
        let _ = second.delete(&format!("/api/members/{one}")).await.refused(403, "exceedsOwnRights");
        let _ = set_roles(&app.admin, &two, &["administrator"]).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn nobody_lengthens_their_own_membership() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["administrator"]).await;
        let path = format!("/api/members/{id}");
        let set = |expires: Value| json!({ "roles": ["administrator"], "expiresAt": expires });
        let _ = app.admin.put(&path, set(json!("2100-01-01T00:00:00Z"))).await.expect(200);
        for longer in [json!(null), json!("2100-01-01T00:00:01Z")] {
            let _ = person.put(&path, set(longer)).await.refused(403, "ownMembership");
        }
        let _ = person.put(&path, json!({ "roles": ["administrator"] })).await.expect(200);
        let _ = person.put(&path, set(json!("2099-01-01T00:00:00Z"))).await.expect(200);
        let _ = app.admin.put(&path, set(json!(null))).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_reset_reaches_no_further_than_the_caller() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, there) = app.second_organization("second").await;
        let (id, owner) = app.user("elsewhere", &["viewer"]).await;
        let _ = set_roles(&there, &id, &["owner"]).await.expect(200);
        let (_, person) = app.user("person", &["administrator"]).await;
        let path = format!("/api/users/{id}");
        let changes = [
            json!({ "password": "a river under old stones" }),
            json!({ "email": "taken@example.com" }),
            json!({ "state": "disabled" }),
        ];
        for change in &changes {
            let _ = person.patch(&path, change.clone()).await.refused(403, "outrankedElsewhere");
        }
        let _ = person.delete(&path).await.refused(403, "outrankedElsewhere");
        let _ = owner.get("/api/auth/session").await.expect(200);
        let _ = person.patch(&path, json!({ "displayName": "Another" })).await.expect(200);
        // Whoever is somebody there as well may; and once the account is nobody there, so may the administrator.
        let _ = app.admin.patch(&path, changes[0].clone()).await.expect(200);
        let _ = there.delete(&format!("/api/members/{id}")).await.expect(204);
        let _ = person.patch(&path, changes[2].clone()).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn an_owner_does_not_lock_the_organisation_for_good() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let me = app.admin.get("/api/auth/session").await.expect(200).data();
        let me = me["user"]["id"].as_str().unwrap().to_owned();
        // What is denied to all owners, nobody is left to lift; what is denied to everyone, owners do.
        let owner = app.role_id(&app.admin, "owner").await;
        let mut deny = grant_to_role(&owner, ["workflow", "delete", "*"], "deny");
        let _ = app.admin.post("/api/grants", deny.clone()).await.refused(409, "lockOut");
        deny["principal"] = json!({ "kind": "user", "id": me });
        let _ = app.admin.post("/api/grants", deny.clone()).await.refused(409, "lockOut");
        deny["principal"] = json!({ "kind": "everyone" });
        let lifted = app.admin.post("/api/grants", deny).await.expect(201).id();
        let _ = app.admin.delete(&format!("/api/grants/{lifted}")).await.expect(204);
        let body = json!({ "name": "locker", "deniedPermissions": ["roles.manage"] });
        let role = app.admin.post("/api/roles", body).await.expect(201).id();
        let _ = set_roles(&app.admin, &me, &["owner", "locker"]).await.refused(409, "lockOut");
        // Nor anything else: who is held back by a role takes it off no more.
        let path = format!("/api/roles/{role}");
        let less = json!({ "deniedPermissions": ["vectors.manage"] });
        let _ = app.admin.patch(&path, less.clone()).await.expect(200);
        let _ = set_roles(&app.admin, &me, &["owner", "locker"]).await.refused(409, "lockOut");
        let _ = app.admin.patch(&path, json!({ "deniedPermissions": [] })).await.expect(200);
        let _ = set_roles(&app.admin, &me, &["owner", "locker"]).await.expect(200);
        let _ = app.admin.patch(&path, less).await.refused(409, "lockOut");
        let deny = grant_to_role(&role, ["grant", "*", "*"], "deny");
        let _ = app.admin.post("/api/grants", deny).await.refused(409, "lockOut");
        let _ = app.admin.get("/api/roles").await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_narrowed_token_is_not_its_owner() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["administrator"]).await;
        let make = async |body: Value| {
            let made = person.post("/api/auth/tokens", body).await.expect(201).data();
            app.anonymous().bearer(made["token"].as_str().unwrap())
        };
        let narrow = make(json!({ "name": "narrow", "permissions": ["members.manage"] })).await;
        let bound = make(json!({ "name": "bound", "organizationId": app.organization })).await;
        let full = make(json!({ "name": "full" })).await;
        for (token, name) in [(&narrow, "narrow"), (&bound, "bound")] {
            let email = json!({ "email": "other@example.com" });
            let _ = token.patch(&format!("/api/users/{id}"), email).await.refused(403, "limitedToken");
            let _ = set_roles(token, &id, &["viewer"]).await.refused(403, "limitedToken");
            assert_eq!(token.get("/api/auth/sessions").await.expect(200).data(), json!([]));
            let seen = token.get("/api/auth/tokens").await.expect(200).data();
            assert_eq!(seen.as_array().map(Vec::len), Some(1), "{seen}");
            assert_eq!(seen[0]["name"], *name);
        }
        assert_eq!(full.get("/api/auth/tokens").await.expect(200).data().as_array().map(Vec::len), Some(3));
        app.stop().await;
    });
}

#[tokio::test]
async fn access_is_taken_away_while_the_installation_is_restricted() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, _) = app.user("person", &["viewer"]).await;
        let made = app.admin.post("/api/auth/tokens", json!({ "name": "lost" })).await.expect(201).data();
        let token = app.anonymous().bearer(made["token"].as_str().unwrap());
        app.advance("P40D").await;
        assert_eq!(app.admin.get("/api/licence").await.expect(200).data()["state"], "restricted");
        let listed = app.admin.get("/api/auth/tokens").await.expect(200).data();
        let token_id = listed[0]["id"].as_str().unwrap().to_owned();
        let _ = app.admin.delete(&format!("/api/auth/tokens/{token_id}")).await.expect(204);
        let _ = token.get("/api/auth/session").await.expect(401);
        let _ = app.admin.post("/api/auth/tokens", json!({ "name": "more" })).await.expect(423);
        let users = app.admin.get("/api/users").await.expect(200).text();
        assert!(users.contains(&id), "{users}");
        let path = format!("/api/users/{id}");
        for more in [
            json!({ "displayName": "X" }),
            json!({ "state": "active" }),
            json!({ "state": "disabled", "password": "a river under old stones" }),
        ] {
            let _ = app.admin.patch(&path, more).await.expect(423);
        }
        let off = app.admin.patch(&path, json!({ "state": "disabled" })).await.expect(200).data();
        assert_eq!(off["state"], "disabled");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_key_of_another_caller_is_another_key() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, other) = app.user("other", &["administrator"]).await;
        let call = async |by: &Client, slug: &str| {
            let body = json!({ "slug": slug, "displayName": slug, "description": "" });
            by.with("idempotency-key", "one").post("/api/workflows", body).await
        };
        let mine = call(&app.admin, "mine").await.expect(201).id();
        let theirs = call(&other, "theirs").await.expect(201).id();
        assert_ne!(mine, theirs);
        let again = call(&app.admin, "mine").await.expect(201);
        assert_eq!((again.header("idempotent-replayed"), again.id()), ("true", mine));
        let _ = call(&app.admin, "theirs").await.refused(409, "idempotencyKeyReused");
        app.stop().await;
    });
}

#[tokio::test]
async fn names_hide_no_characters() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        for name in ["adm\u{200B}in", "\u{202E}nimda", "ad\u{200D}min", "x\u{2066}y"] {
            let account = json!({ "email": "new@example.com", "displayName": name });
            let _ = app.admin.post("/api/users", account).await.refused(400, "wrongFormat");
            let _ = app.admin.post("/api/roles", json!({ "name": name })).await.refused(400, "wrongFormat");
        }
        let account = json!({ "email": "adm\u{200B}in@example.com", "displayName": "New" });
        let _ = app.admin.post("/api/users", account).await.refused(400, "wrongFormat");
        let account = json!({ "email": "new@example.com", "displayName": "می\u{200C}خواهم" });
        let _ = app.admin.post("/api/users", account).await.expect(201);
        app.stop().await;
    });
}

/// A request with the mark of a device.
fn marked(client: &Client, mark: &str) -> Client {
    client.with("cookie", &format!("__Host-heddle-device={mark}"))
}

#[tokio::test]
async fn an_attacker_keeps_nobody_out_who_comes_from_elsewhere_or_is_known() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.trusted_proxies = vec![[127, 0, 0, 1].into()]).await;
        let _ = app.user("person", &["viewer"]).await;
        let anonymous = app.anonymous();
        let from = |address: &str| anonymous.with("x-forwarded-for", address);
        let sign_in = async |by: &Client, password: &str| {
            let body = json!({ "email": "person@example.com", "password": password });
            by.post("/api/auth/sign-in", body).await
        };
        let known = sign_in(&from("198.51.100.9"), PASSWORD).await.expect(200);
        let cookies: Vec<String> = known
            .headers
            .get_all("set-cookie")
            .iter()
            .map(|value| value.to_str().unwrap().to_owned())
            .collect();
        let mark = cookies.iter().find_map(|cookie| cookie.strip_prefix("__Host-heddle-device=")).unwrap();
        for part in ["; Path=/", "; Secure", "; HttpOnly", "; SameSite=Strict", "; Max-Age=15552000"] {
            assert!(mark.contains(part), "{mark}");
        }
        assert!(cookies.iter().any(|cookie| cookie.starts_with("__Host-heddle-session=")), "{cookies:?}");
        let mark = mark.split(';').next().unwrap().to_owned();
        let attacker = from("198.51.100.77");
        // So many that the next one has to wait for minutes.
        for _ in 0..12 {
            app.advance("PT10M").await;
            let _ = sign_in(&attacker, "a guess of somebody").await.expect(401);
        }
        let _ = sign_in(&attacker, PASSWORD).await.refused(429, "throttled");
        let _ = sign_in(&from("192.0.2.7"), PASSWORD).await.expect(200);
        let _ = sign_in(&marked(&attacker, &mark), PASSWORD).await.expect(200);
        let _ = sign_in(&marked(&attacker, "hdd_00.1800000000.00"), PASSWORD).await.refused(429, "throttled");
        app.stop().await;
    });
}

/// The database of a server that was stopped.
async fn stored(app: &TestApp, db: &TestDb) -> IdentityStore {
    let address = match db.kind() {
        "postgres" => db.address().to_owned(),
        _ => format!("sqlite:{}", app.data_dir().join("heddle.db").display()),
    };
    IdentityStore::new(Db::open(&address, &Options::default()).await.unwrap(), Vec::new())
}

#[tokio::test]
async fn selectors_of_before_are_read_at_the_start_and_the_rest_is_named() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["owner"]).await;
        let by_slug = app.admin.publish_bpmn("by-slug", &models::task()).await;
        let by_capitals = app.admin.publish_bpmn("by-capitals", &models::task()).await;
        let open = app.admin.publish_bpmn("open", &models::task()).await;
        app.stop().await;
        let store = stored(&app, db).await;
        let tenant: TenantId = app.organization.parse().unwrap();
        let user: UserId = id.parse().unwrap();
        let capitals = format!(" {}", by_capitals.to_uppercase());
        let rows = [("by-slug", Effect::Deny), (capitals.as_str(), Effect::Deny), ("gone", Effect::Allow)];
        for (selector, effect) in rows {
            let row = GrantRow {
                tenant,
                id: GrantId(Uuid::new_v4()),
                principal: GrantPrincipal::User(user),
                resource: "workflow".to_owned(),
                action: "*".to_owned(),
                selector: selector.to_owned(),
                effect,
                reason: None,
                expires_at: None,
                created_at: Timestamp::from_micros(1_700_000_000_000_000),
                created_by: user,
            };
            store.insert_grant(&row, &Journal::default()).await.unwrap();
        }
        drop(store);
        app.restart().await;
        let grants = app.admin.get("/api/grants").await.expect(200).data();
        let mut seen: Vec<(String, bool)> = grants
            .as_array()
            .unwrap()
            .iter()
            .map(|grant| {
                let selector = grant["resourceId"].as_str().unwrap().to_owned();
                (selector, grant["unreadable"].as_bool().unwrap())
            })
            .collect();
        seen.sort();
        let mut expected =
            vec![(by_slug.clone(), false), (by_capitals.clone(), false), ("gone".to_owned(), true)];
        expected.sort();
        assert_eq!(seen, expected);
        for (workflow, status) in [(&by_slug, 403), (&by_capitals, 403), (&open, 200)] {
            let _ = person.get(&format!("/api/workflows/{workflow}")).await.expect(status);
        }
        let told = app.admin.get("/api/audit-events?action=grant.selector_read").await.expect(200).data();
        assert_eq!(told.as_array().map(Vec::len), Some(2), "{told}");
        app.restart().await;
        let told = app.admin.get("/api/audit-events?action=grant.selector_read").await.expect(200).data();
        assert_eq!(told.as_array().map(Vec::len), Some(2), "{told}");
        app.stop().await;
    });
}
