//! Groups, rules for everyone, ends, and service accounts over HTTP: what they give and take, until when, and to whom
//! nobody may give it.

use heddle_kernel::Timestamp;
use heddle_testkit::app::PASSWORD;
use heddle_testkit::{Answer, Client, TestApp, sse, with_both};
use serde_json::{Value, json};

use crate::models;

async fn group(by: &Client, body: Value) -> String {
    by.post("/api/groups", body).await.expect(201).id()
}

async fn own_id(client: &Client) -> String {
    let session = client.get("/api/auth/session").await.expect(200).data();
    session["user"]["id"].as_str().unwrap().to_owned()
}

/// An instant so many seconds behind the present of the server.
pub(crate) async fn in_seconds(app: &TestApp, seconds: i64) -> String {
    let name = format!("clock {seconds}");
    let made = app.admin.post("/api/roles", json!({ "name": name })).await.expect(201).data();
    let now: Timestamp = made["createdAt"].as_str().unwrap().parse().unwrap();
    let _ = app.admin.delete(&format!("/api/roles/{}", made["id"].as_str().unwrap())).await.expect(204);
    now.plus_seconds(seconds).to_string()
}

async fn member(by: &Client, user: &str) -> Value {
    let all = by.get("/api/members?limit=200").await.expect(200).data();
    let found = all.as_array().unwrap().iter().find(|member| member["userId"] == user);
    found.unwrap_or_else(|| panic!("{user} is no member")).clone()
}

async fn set(by: &Client, user: &str, body: Value) -> Answer {
    by.put(&format!("/api/members/{user}"), body).await
}

/// Whether somebody may make a role.
async fn makes_roles(client: &Client, name: &str) -> bool {
    let answer = client.post("/api/roles", json!({ "name": name })).await;
    assert!(matches!(answer.status, 201 | 403), "{}", answer.text());
    answer.status == 201
}

#[tokio::test]
async fn a_group_is_made_read_changed_and_deleted() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (ada, _) = app.user("ada", &["viewer"]).await;
        let (bob, _) = app.user("bob", &["viewer"]).await;
        let worker = app.role_id(&app.admin, "worker").await;
        let body = json!({ "name": "accounting", "description": "Pays Invoices", "roles": ["worker"], "members": [ada] });
        let made = app.admin.post("/api/groups", body.clone()).await.expect(201);
        let (id, path) = (made.id(), format!("/api/groups/{}", made.id()));
        assert_eq!(made.header("location"), path);
        let shown = app.admin.get(&path).await.expect(200);
        assert_eq!(shown.header("etag"), made.header("etag"));
        assert_eq!(
            shown.data()["roles"],
            json!([{ "id": worker, "name": "worker", "expiresAt": null, "state": "active" }])
        );
        for list in ["/api/groups", "/api/groups?q=invoices"] {
            let listed = app.admin.get(list).await.expect(200).data();
            assert_eq!(listed.as_array().map(Vec::len), Some(1), "{list}: {listed}");
        }
        assert_eq!(app.admin.get("/api/groups?q=nothing").await.expect(200).data(), json!([]));
        let _ = app.admin.post("/api/groups", body).await.refused(409, "notUnique");

        // One word stands for a role or a group, whichever came first; an id is no name.
        for taken in ["worker", "owner"] {
            let _ = app.admin.post("/api/groups", json!({ "name": taken })).await.refused(409, "notUnique");
        }
        let _ = app.admin.post("/api/groups", json!({ "name": worker })).await.refused(400, "notAllowed");
        let _ = app.admin.post("/api/roles", json!({ "name": "accounting" })).await.refused(409, "notUnique");
        let role = app.role("clerk", &[]).await;
        let _ = app.admin.patch(&path, json!({ "name": "clerk" })).await.refused(409, "notUnique");
        let renamed = json!({ "name": "accounting" });
        let _ = app.admin.patch(&format!("/api/roles/{role}"), renamed).await.refused(409, "notUnique");

        // Whoever comes and goes has another membership, so that what was seen of it before is stale.
        let before = member(&app.admin, &bob).await["revision"].clone();
        let change = json!({ "addMembers": [bob], "removeMembers": [ada], "revision": 1 });
        let changed = app.admin.patch(&path, change.clone()).await.expect(200).data();
        assert_eq!(changed["revision"], 2);
        let _ = app.admin.patch(&path, change).await.refused(409, "revisionMismatch");
        let body = json!({ "roles": ["viewer"], "revision": before });
        let _ = set(&app.admin, &bob, body).await.refused(409, "revisionMismatch");
        let listed = app.admin.get(&format!("/api/members?groupId={id}")).await.expect(200).data();
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        assert_eq!(listed[0]["groups"], json!([{ "id": id, "name": "accounting" }]));
        assert_eq!(listed[0]["userId"], bob);
        let _ = app.admin.get("/api/members?groupId=x").await.refused(400, "wrongType");

        // A role that a group gives is in use, and so is a group that has members.
        let _ = app.admin.patch(&path, json!({ "roles": ["clerk"] })).await.expect(200);
        let _ = app.admin.delete(&format!("/api/roles/{role}")).await.refused(409, "inUse");
        let _ = app.admin.delete(&path).await.refused(409, "inUse");
        let _ = set(&app.admin, &bob, json!({ "roles": ["viewer"] })).await.expect(200);
        assert_eq!(member(&app.admin, &bob).await["groups"][0]["id"], id, "they stay when absent");
        let _ = set(&app.admin, &bob, json!({ "roles": ["viewer"], "groups": [] })).await.expect(200);
        let rule = json!({ "principal": { "kind": "group", "id": id }, "resourceType": "workflow",
            "action": "read", "resourceId": "*", "effect": "allow" });
        let grant = app.admin.post("/api/grants", rule.clone()).await.expect(201).id();
        let listed = app.admin.get(&format!("/api/grants?principalId={id}")).await.expect(200).data();
        assert_eq!(listed[0]["id"], grant);
        for _ in 0..2 {
            let _ = app.admin.delete(&path).await.expect(204);
        }
        let _ = app.admin.get(&path).await.expect(404);
        let _ = app.admin.get(&format!("/api/grants/{grant}")).await.expect(404);
        let _ = app.admin.post("/api/grants", rule).await.refused(400, "notFound");
        let _ = app.admin.delete(&format!("/api/roles/{role}")).await.expect(204);
        let events =
            app.admin.get(&format!("/api/audit-events?resource=group/{id}")).await.expect(200).data();
        let actions: Vec<_> =
            events.as_array().unwrap().iter().map(|event| event["action"].clone()).collect();
        assert_eq!(actions.first(), Some(&json!("group.deleted")), "{actions:?}");
        assert_eq!(actions.last(), Some(&json!("group.created")), "{actions:?}");
        app.stop().await;
    });
}

#[tokio::test]
async fn what_a_group_has_its_members_have_from_the_next_request_on() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["viewer"]).await;
        let admins = group(&app.admin, json!({ "name": "admins", "roles": ["administrator"] })).await;
        let path = format!("/api/groups/{admins}");
        assert!(!makes_roles(&person, "one").await);
        let _ = app.admin.patch(&path, json!({ "addMembers": [id] })).await.expect(200);
        assert!(makes_roles(&person, "two").await);
        let session = person.get("/api/auth/session").await.expect(200).data();
        assert_eq!(session["organizations"][0]["roles"], json!(["administrator", "viewer"]));
        let _ = app.admin.patch(&path, json!({ "roles": [] })).await.expect(200);
        assert!(!makes_roles(&person, "three").await);
        let _ = app.admin.patch(&path, json!({ "roles": ["administrator"] })).await.expect(200);
        assert!(makes_roles(&person, "four").await);
        let _ = app.admin.patch(&path, json!({ "removeMembers": [id] })).await.expect(200);
        assert!(!makes_roles(&person, "five").await);
        let body = json!({ "roles": ["viewer"], "groups": ["admins"] });
        let _ = set(&app.admin, &id, body).await.expect(200);
        assert!(makes_roles(&person, "six").await);
        let _ = app.admin.delete(&format!("/api/members/{id}")).await.expect(204);
        let _ = person.get("/api/roles").await.expect(403);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_8_3_1_a_deny_holds_for_every_kind_of_principal_and_an_allow_gives() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish_bpmn("ruled", &models::task()).await;
        let path = format!("/api/workflows/{workflow}");
        let role = app.role("reader", &[]).await;
        let body = json!({ "permissions": ["workflows.view"] });
        let _ = app.admin.patch(&format!("/api/roles/{role}"), body).await.expect(200);
        let (id, person) = app.user("person", &["reader"]).await;
        let team = group(&app.admin, json!({ "name": "team", "members": [id] })).await;
        let principals = [
            json!({ "kind": "user", "id": id }),
            json!({ "kind": "group", "id": team }),
            json!({ "kind": "role", "id": role }),
            json!({ "kind": "everyone" }),
        ];
        let rule = |principal: &Value, effect: &str| {
            json!({ "principal": principal, "resourceType": "workflow", "action": "read",
                "resourceId": workflow, "effect": effect })
        };
        for principal in &principals {
            let _ = person.get(&path).await.expect(403);
            let allow = app.admin.post("/api/grants", rule(principal, "allow")).await.expect(201).id();
            let _ = person.get(&path).await.expect(200);
            for denied in &principals {
                let mut body = rule(denied, "deny");
                body["expiresAt"] = json!(in_seconds(&app, 60).await);
                let deny = app.admin.post("/api/grants", body).await.expect(201).id();
                let _ = person.get(&path).await.refused(403, "denied");
                // Also one that holds whoever lifts it.
                let _ = app.admin.delete(&format!("/api/grants/{deny}")).await.expect(204);
                let _ = person.get(&path).await.expect(200);
            }
            let _ = app.admin.delete(&format!("/api/grants/{allow}")).await.expect(204);
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn what_has_an_end_ends_on_time_and_is_listed_with_its_state() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish_bpmn("ending", &models::task()).await;
        let path = format!("/api/workflows/{workflow}");
        let end = in_seconds(&app, 600).await;
        let (role_user, by_role) = app.user("by-role", &["viewer"]).await;
        let (group_user, by_group) = app.user("by-group", &["viewer"]).await;
        let (ending, by_membership) = app.user("by-membership", &["administrator"]).await;
        let (_, by_grant) = app.user("by-grant", &["viewer"]).await;

        let past = json!([{ "role": "administrator", "expiresAt": "2020-01-01T00:00:00Z" }]);
        let roles = json!(["viewer", "administrator"]);
        let body = json!({ "roles": roles, "roleExpiries": past });
        let _ = set(&app.admin, &role_user, body.clone()).await.refused(400, "outOfRange");
        let _ = app
            .admin
            .post("/api/groups", json!({ "name": "x", "roles": ["administrator"], "roleExpiries": past }))
            .await
            .refused(400, "outOfRange");
        let other = json!({ "roles": ["viewer"], "roleExpiries": [{ "role": "owner", "expiresAt": end }] });
        let _ = set(&app.admin, &role_user, other).await.refused(400, "notFound");
        let untold = json!({ "roles": ["viewer"], "roleExpiries": [{ "role": "viewer" }] });
        let _ = set(&app.admin, &role_user, untold).await.refused(400, "required");

        let expiries = json!([{ "role": "administrator", "expiresAt": end }]);
        let body = json!({ "roles": roles, "roleExpiries": expiries });
        let _ = set(&app.admin, &role_user, body).await.expect(200);
        let body = json!({ "name": "for a while", "roles": ["administrator"], "roleExpiries": expiries, "members": [group_user] });
        let short = group(&app.admin, body).await;
        let body = json!({ "roles": ["administrator"], "expiresAt": end });
        let _ = set(&app.admin, &ending, body).await.expect(200);
        // A later call that does not name the role leaves its end.
        let _ = set(&app.admin, &role_user, json!({ "roles": roles })).await.expect(200);
        let deny = json!({ "principal": { "kind": "everyone" }, "resourceType": "workflow", "action": "read",
            "resourceId": workflow, "effect": "deny", "expiresAt": end });
        let deny = app.admin.post("/api/grants", deny).await.expect(201).id();
        for (at, client) in [&by_role, &by_group, &by_membership].into_iter().enumerate() {
            assert!(makes_roles(client, &format!("before {at}")).await, "{at}");
        }
        let _ = by_grant.get(&path).await.refused(403, "denied");
        let shown = app.admin.get(&format!("/api/grants/{deny}")).await.expect(200).data();
        assert_eq!(shown["state"], "active");
        app.advance("PT10M").await;
        for (at, client) in [&by_role, &by_group].into_iter().enumerate() {
            assert!(!makes_roles(client, &format!("after {at}")).await, "{at}");
        }
        let _ = by_membership.get("/api/roles").await.expect(403);
        let _ = by_grant.get(&path).await.expect(200);
        let shown = app.admin.get(&format!("/api/grants/{deny}")).await.expect(200).data();
        assert_eq!(shown["state"], "expired");
        let shown = app.admin.get(&format!("/api/groups/{short}")).await.expect(200).data();
        assert_eq!(shown["roles"][0]["state"], "expired");
        let shown = member(&app.admin, &role_user).await;
        let states: Vec<_> =
            shown["roles"].as_array().unwrap().iter().map(|role| role["state"].clone()).collect();
        assert_eq!(states, ["expired", "active"], "administrator, viewer");
        assert_eq!(member(&app.admin, &ending).await["state"], "expired");
        let session = by_role.get("/api/auth/session").await.expect(200).data();
        assert_eq!(session["organizations"][0]["roles"], json!(["viewer"]));

        // It comes back only by being given again.
        let _ = set(&app.admin, &role_user, json!({ "roles": roles })).await.expect(200);
        assert!(!makes_roles(&by_role, "again").await);
        let for_good =
            json!({ "roles": roles, "roleExpiries": [{ "role": "administrator", "expiresAt": null }] });
        let _ = set(&app.admin, &role_user, for_good).await.expect(200);
        assert!(makes_roles(&by_role, "at last").await);
        app.stop().await;
    });
}

#[tokio::test]
async fn nobody_gives_by_a_group_what_they_do_not_have() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["administrator"]).await;
        let owner = own_id(&app.admin).await;
        let owners = group(&app.admin, json!({ "name": "owners", "roles": ["owner"] })).await;
        let plain = group(&app.admin, json!({ "name": "plain" })).await;
        let (owners, plain) = (format!("/api/groups/{owners}"), format!("/api/groups/{plain}"));
        for refused in [json!({ "roles": ["owner"] }), json!({ "addMembers": [owner] })] {
            let _ = person.patch(&plain, refused).await.refused(403, "exceedsOwnRights");
        }
        let _ = person.patch(&owners, json!({ "addMembers": [id] })).await.refused(403, "exceedsOwnRights");
        let _ = person.patch(&owners, json!({ "roles": [] })).await.refused(403, "exceedsOwnRights");
        let body = json!({ "name": "mine", "roles": ["owner"] });
        let _ = person.post("/api/groups", body).await.refused(403, "exceedsOwnRights");
        let body = json!({ "roles": ["administrator"], "groups": ["owners"] });
        let _ = set(&person, &id, body).await.refused(403, "exceedsOwnRights");

        // What is granted to a group counts when somebody comes into it.
        let kept = app.admin.publish_bpmn("kept", &models::task()).await;
        let plain_id = plain.trim_start_matches("/api/groups/");
        let rule = |principal: Value, action: &str, effect: &str| {
            json!({ "principal": principal, "resourceType": "workflow", "action": action,
                "resourceId": kept, "effect": effect })
        };
        let to_plain = || json!({ "kind": "group", "id": plain_id });
        let _ = app.admin.post("/api/grants", rule(to_plain(), "delete", "allow")).await.expect(201);
        let to_person = json!({ "kind": "user", "id": id });
        let _ = app.admin.post("/api/grants", rule(to_person, "delete", "deny")).await.expect(201);
        let (other, _) = app.user("other", &["viewer"]).await;
        let come = json!({ "addMembers": [other] });
        let _ = person.patch(&plain, come.clone()).await.refused(403, "exceedsOwnRights");
        let _ = app.admin.patch(&plain, come).await.expect(200);

        // Nobody leaves a group that holds them back, nor lets another one out of it, nor is denied by who has less.
        let held = group(&app.admin, json!({ "name": "held", "members": [id] })).await;
        let deny = rule(json!({ "kind": "group", "id": held }), "publish", "deny");
        let _ = app.admin.post("/api/grants", deny.clone()).await.expect(201);
        let held_path = format!("/api/groups/{held}");
        let _ = set(&person, &id, json!({ "roles": ["administrator"], "groups": [] }))
            .await
            .refused(403, "exceedsOwnRights");
        let _ =
            person.patch(&held_path, json!({ "removeMembers": [id] })).await.refused(403, "exceedsOwnRights");
        let (_, second) = app.user("second", &["administrator"]).await;
        // The only owner is held back by nothing.
        let only = json!({ "addMembers": [owner] });
        let _ = app.admin.patch(&held_path, only).await.refused(409, "lockOut");
        let (chief, _) = app.user("chief", &["owner"]).await;
        let _ = app.admin.patch(&held_path, json!({ "addMembers": [chief] })).await.expect(200);
        let _ = second.post("/api/grants", deny).await.refused(403, "exceedsOwnRights");
        app.stop().await;
    });
}

#[tokio::test]
async fn nobody_makes_their_own_rights_last_longer() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["viewer"]).await;
        let end = in_seconds(&app, 600).await;
        let sooner = in_seconds(&app, 300).await;
        let roles = json!(["administrator", "viewer"]);
        let until = |end: Value| json!([{ "role": "administrator", "expiresAt": end }]);
        let body = json!({ "roles": roles, "roleExpiries": until(json!(end)) });
        let _ = set(&app.admin, &id, body).await.expect(200);
        let longer = json!({ "roles": roles, "roleExpiries": until(json!(null)) });
        let _ = set(&person, &id, longer).await.refused(403, "outlastsOwnRights");
        let _ = set(&person, &id, json!({ "roles": roles })).await.expect(200);

        // By no other way either: a group, a role of their own, or a grant.
        let body = json!({ "name": "mine", "roles": ["administrator"], "members": [id] });
        let _ = person.post("/api/groups", body).await.refused(403, "outlastsOwnRights");
        let mine = group(&person, json!({ "name": "mine", "members": [id] })).await;
        let path = format!("/api/groups/{mine}");
        let _ = person
            .patch(&path, json!({ "roles": ["administrator"] }))
            .await
            .refused(403, "outlastsOwnRights");
        let body = json!({ "roles": ["administrator"], "roleExpiries": until(json!(end)) });
        let _ = person.patch(&path, body).await.expect(200);
        let _ = person
            .patch(&path, json!({ "roleExpiries": until(json!(null)) }))
            .await
            .refused(403, "outlastsOwnRights");
        for principal in [
            json!({ "kind": "user", "id": id }),
            json!({ "kind": "group", "id": mine }),
            json!({ "kind": "everyone" }),
        ] {
            let rule = |end: Value| {
                json!({ "principal": principal, "resourceType": "workflow", "action": "delete",
                "resourceId": "*", "effect": "allow", "expiresAt": end })
            };
            let _ = person.post("/api/grants", rule(json!(null))).await.refused(403, "outlastsOwnRights");
            let _ = person.post("/api/grants", rule(json!(sooner))).await.expect(201);
        }
        // Nor by an account of theirs.
        let account =
            json!({ "email": "mine@example.com", "displayName": "Mine", "roles": ["administrator"] });
        let _ = person.post("/api/users", account).await.refused(403, "outlastsOwnRights");
        // Nor by acting as one that has it for longer.
        let (other, _) = app.user("other", &["administrator"]).await;
        let taken = json!({ "password": "another password for the other" });
        let _ = person.patch(&format!("/api/users/{other}"), taken).await.refused(403, "outlastsOwnRights");
        let robot = json!({
            "email": "robot@example.com", "displayName": "Robot", "kind": "service", "roles": ["administrator"],
        });
        let robot = app.admin.post("/api/users", robot).await.expect(201).id();
        let token = json!({ "name": "kept", "userId": robot });
        let _ = person.post("/api/auth/tokens", token).await.refused(403, "outlastsOwnRights");
        let token = json!({ "name": "lent", "userId": robot, "expiresAt": sooner });
        let _ = person.post("/api/auth/tokens", token).await.expect(201);
        let own = app.role("own", &[]).await;
        let _ =
            set(&app.admin, &id, json!({ "roles": ["administrator", "viewer", "own"] })).await.expect(200);
        let more = json!({ "permissions": ["roles.manage"] });
        let _ = person.patch(&format!("/api/roles/{own}"), more).await.refused(403, "outlastsOwnRights");
        let shorter =
            json!({ "roles": ["administrator", "viewer", "own"], "roleExpiries": until(json!(sooner)) });
        let _ = set(&person, &id, shorter).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn who_belongs_to_the_organisation_for_a_time_gives_nothing_for_longer() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["administrator"]).await;
        let (other, _) = app.user("other", &[]).await;
        let (end, sooner, later) =
            (in_seconds(&app, 600).await, in_seconds(&app, 300).await, in_seconds(&app, 900).await);
        let body = json!({ "roles": ["administrator"], "expiresAt": end });
        let _ = set(&app.admin, &id, body).await.expect(200);
        let rule = |end: Value| {
            json!({ "principal": { "kind": "user", "id": other }, "resourceType": "workflow", "action": "delete",
                "resourceId": "*", "effect": "allow", "expiresAt": end })
        };
        for end in [json!(null), json!(later)] {
            let _ = person.post("/api/grants", rule(end)).await.refused(403, "outlastsOwnRights");
        }
        for end in [&end, &sooner] {
            let _ = person.post("/api/grants", rule(json!(end))).await.expect(201);
        }
        // A role ends by itself, or with the membership that it is given with.
        let viewer = json!({ "roles": ["viewer"] });
        let _ = set(&person, &other, viewer.clone()).await.refused(403, "outlastsOwnRights");
        let ending = json!({ "roles": ["viewer"], "roleExpiries": [{ "role": "viewer", "expiresAt": end }] });
        let _ = set(&person, &other, ending).await.expect(200);
        let (third, _) = app.user("third", &[]).await;
        let member = json!({ "roles": ["viewer"], "expiresAt": sooner });
        let _ = set(&person, &third, member).await.expect(200);
        // Whoever lengthens a membership gives what it has for longer.
        for end in [json!(null), json!(later)] {
            let longer = json!({ "roles": ["viewer"], "expiresAt": end });
            let _ = set(&person, &third, longer).await.refused(403, "outlastsOwnRights");
        }
        let _ = set(&person, &third, json!({ "roles": ["viewer"], "expiresAt": end })).await.expect(200);
        // A group gives somebody no more than until they leave the organisation.
        let readers = json!({ "name": "readers", "roles": ["viewer"] });
        let _ = person.post("/api/groups", readers.clone()).await.refused(403, "outlastsOwnRights");
        let readers = group(&app.admin, readers).await;
        let path = format!("/api/groups/{readers}");
        let _ = person.patch(&path, json!({ "addMembers": [other] })).await.refused(403, "outlastsOwnRights");
        let _ = person.patch(&path, json!({ "addMembers": [third] })).await.expect(200);
        // An account comes without a role, or gets one by a member's end.
        let account =
            |roles: Value| json!({ "email": "new@example.com", "displayName": "New", "roles": roles });
        let _ = person.post("/api/users", account(json!(["viewer"]))).await.refused(403, "outlastsOwnRights");
        let _ = person.post("/api/users", account(json!([]))).await.expect(201);
        app.stop().await;
    });
}

#[tokio::test]
async fn the_last_owner_is_a_person_of_their_own_role_without_an_end() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let me = own_id(&app.admin).await;
        let end = in_seconds(&app, 600).await;
        let ending = json!({ "roles": ["owner"], "roleExpiries": [{ "role": "owner", "expiresAt": end }] });
        let _ = set(&app.admin, &me, ending.clone()).await.refused(409, "lastOwner");
        // Neither who has the role by a group, nor a service account, takes the place of an owner.
        let (by_group, _) = app.user("by-group", &["viewer"]).await;
        let _ = group(&app.admin, json!({ "name": "owners", "roles": ["owner"], "members": [by_group, me] }))
            .await;
        let service = json!({ "email": "robot@example.com", "displayName": "Robot", "kind": "service", "roles": ["owner"] });
        let _ = app.admin.post("/api/users", service).await.expect(201);
        let _ = set(&app.admin, &me, ending.clone()).await.refused(409, "lastOwner");
        let _ = set(&app.admin, &me, json!({ "roles": ["viewer"] })).await.refused(409, "lastOwner");
        let _ = app.user("second", &["owner"]).await;
        let _ = set(&app.admin, &me, ending).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn changes_of_groups_and_of_who_is_in_them_tell_before_and_after() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (user, _) = app.user("person", &[]).await;
        let worker = app.role_id(&app.admin, "worker").await;
        let id = group(&app.admin, json!({ "name": "accounting" })).await;
        let end = in_seconds(&app, 3600).await;
        let change = async |action: &str| {
            let path = format!("/api/audit-events?limit=1&action={action}");
            app.admin.get(&path).await.expect(200).data()[0]["details"]["change"].clone()
        };
        let path = format!("/api/groups/{id}");
        let body = json!({ "roles": ["worker"], "roleExpiries": [{ "role": "worker", "expiresAt": end }] });
        let _ = app.admin.patch(&path, body).await.expect(200);
        let told = change("group.updated").await;
        assert_eq!(
            (&told["before"]["roles"], &told["after"]["roles"]),
            (&json!([]), &json!([worker])),
            "{told}"
        );
        assert!(!told["after"]["roleEnds"][&worker].is_null(), "{told}");
        let ends = json!([{ "role": "worker", "expiresAt": end }]);
        let body = json!({ "roles": ["worker"], "roleExpiries": ends, "groups": ["accounting"] });
        let _ = set(&app.admin, &user, body).await.expect(200);
        let told = change("member.set").await;
        assert_eq!(
            (&told["before"]["groups"], &told["after"]["groups"]),
            (&json!([]), &json!([id])),
            "{told}"
        );
        assert!(!told["after"]["roleEnds"][&worker].is_null(), "{told}");
        let _ = set(&app.admin, &user, json!({ "roles": [], "groups": [] })).await.expect(200);
        let _ = app.admin.delete(&path).await.expect(204);
        let told = change("group.deleted").await;
        assert_eq!((&told["before"]["name"], &told["after"]), (&json!("accounting"), &Value::Null), "{told}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_service_account_has_tokens_and_no_password() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let new = |more: Value| {
            let mut body = json!({ "email": "robot@example.com", "displayName": "Robot", "kind": "service", "roles": ["viewer"] });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        let refused = app.admin.post("/api/users", new(json!({ "password": PASSWORD }))).await;
        assert_eq!(refused.fields(), ["password"], "{}", refused.text());
        let _ = refused.refused(400, "notAllowed");
        let id = app.admin.post("/api/users", new(json!({}))).await.expect(201).id();
        let path = format!("/api/users/{id}");
        assert_eq!(app.admin.get(&path).await.expect(200).data()["kind"], "service");
        let listed = app.admin.get("/api/users?kind=service").await.expect(200).data();
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        let password = json!({ "password": PASSWORD });
        let _ = app.admin.patch(&path, password).await.refused(400, "notAllowed");
        let _ = app.try_sign_in("robot@example.com", PASSWORD).await.expect(401);

        let wanted = json!({ "name": "nightly", "userId": id });
        let made = app.admin.post("/api/auth/tokens", wanted.clone()).await.expect(201).data();
        assert_eq!(made["record"]["organizationId"], app.organization);
        let robot = app.anonymous().bearer(made["token"].as_str().unwrap());
        let _ = robot.get("/api/workflows").await.expect(200);
        let _ = robot.post("/api/roles", json!({ "name": "no" })).await.expect(403);
        let _ =
            robot.post("/api/auth/tokens", json!({ "name": "more" })).await.refused(403, "sessionRequired");
        let own = app.admin.get("/api/auth/tokens").await.expect(200).data();
        assert_eq!(own, json!([]), "it is not the maker's");
        let tokens = format!("/api/auth/tokens?userId={id}");
        assert_eq!(app.admin.get(&tokens).await.expect(200).data()[0]["name"], "nightly");

        // For who manages it, and has what it has; people make their own.
        let (person, viewer) = app.user("viewer", &["viewer"]).await;
        let _ = viewer.post("/api/auth/tokens", wanted.clone()).await.refused(403, "managesNoService");
        let _ = viewer.get(&tokens).await.refused(403, "managesNoService");
        let theirs = json!({ "name": "theirs", "userId": person });
        let _ = app.admin.post("/api/auth/tokens", theirs).await.refused(400, "notFound");
        let (_, there) = app.second_organization("second").await;
        let _ = there.post("/api/auth/tokens", wanted.clone()).await.refused(400, "notFound");
        let elsewhere =
            json!({ "name": "x", "userId": id, "organizationId": "018f0000-0000-7000-8000-000000000001" });
        let _ = app.admin.post("/api/auth/tokens", elsewhere).await.refused(400, "notAllowed");
        let _ = set(&app.admin, &id, json!({ "roles": ["owner"] })).await.expect(200);
        let (_, lesser) = app.user("lesser", &["administrator"]).await;
        let _ = lesser
            .post("/api/auth/tokens", json!({ "name": "taken", "userId": id }))
            .await
            .refused(403, "exceedsOwnRights");

        // What it does stands in the trail as a service's.
        let _ = robot.post("/api/roles", json!({ "name": "by robot" })).await.expect(201);
        let events = app.admin.get("/api/audit-events?action=role.created").await.expect(200).data();
        assert_eq!(events[0]["actor"]["kind"], "service");
        assert_eq!(events[0]["actor"]["userId"], id);
        assert_eq!(events[0]["actor"]["tokenId"], made["record"]["id"]);

        let token = format!("/api/auth/tokens/{}?userId={id}", made["record"]["id"].as_str().unwrap());
        let _ = viewer.delete(&token).await.refused(403, "managesNoService");
        for _ in 0..2 {
            let _ = app.admin.delete(&token).await.expect(204);
        }
        let _ = robot.get("/api/workflows").await.expect(401);
        let events = app.admin.get("/api/audit-events?action=api_token.deleted").await.expect(200).data();
        let change = &events[0]["details"]["change"];
        assert_eq!(
            (&change["before"]["name"], &change["after"]),
            (&json!("nightly"), &Value::Null),
            "{events}"
        );
        let made = app.admin.post("/api/auth/tokens", wanted.clone()).await.expect(201).data();
        let robot = app.anonymous().bearer(made["token"].as_str().unwrap());
        let _ = app.admin.patch(&path, json!({ "state": "disabled" })).await.expect(200);
        let _ = robot.get("/api/workflows").await.expect(401);
        let _ = app.admin.post("/api/auth/tokens", wanted).await.refused(409, "switchedOff");
        let _ = app.admin.delete(&path).await.expect(204);
        let _ = app.admin.get(&path).await.expect(404);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_human_task_names_a_group_as_it_names_a_role() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["worker"]).await;
        let approvers = group(&app.admin, json!({ "name": "approvers" })).await;
        let definition = |name: &str| {
            json!({
                "nodes": [{ "id": "s", "type": "startEvent" },
                    { "id": "work", "type": "userTask", "configuration": { "candidateGroups": [name] } },
                    { "id": "e", "type": "endEvent" }],
                "edges": [{ "id": "a", "source": "s", "target": "work" }, { "id": "b", "source": "work", "target": "e" }],
            })
        };
        for (slug, name) in [("by-name", "approvers"), ("by-id", approvers.as_str())] {
            let workflow = app.admin.publish(slug, definition(name)).await;
            let run = app.admin.run(&workflow, json!({})).await;
            let task = run["humanTasks"][0]["id"].as_str().unwrap().to_owned();
            let mine = async || {
                let listed = person.get("/api/human-tasks?candidate=me").await.expect(200).data();
                listed.as_array().unwrap().iter().any(|one| one["id"] == task)
            };
            assert!(!mine().await, "{slug}");
            let come = json!({ "addMembers": [id] });
            let path = format!("/api/groups/{approvers}");
            let _ = app.admin.patch(&path, come).await.expect(200);
            assert!(mine().await, "{slug}");
            let _ = app.admin.patch(&path, json!({ "removeMembers": [id] })).await.expect(200);
            assert!(!mine().await, "{slug}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_of_another_organisation_is_in_no_group() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, there) = app.second_organization("second").await;
        let (stranger, _) = app.user_in(&there, "stranger", &["viewer"]).await;
        let theirs = group(&there, json!({ "name": "theirs" })).await;
        let (id, _) = app.user("person", &["viewer"]).await;
        let ours = group(&app.admin, json!({ "name": "ours" })).await;
        let path = format!("/api/groups/{ours}");
        let _ = app.admin.patch(&path, json!({ "addMembers": [stranger] })).await.refused(400, "notFound");
        let _ = app
            .admin
            .post("/api/groups", json!({ "name": "x", "members": [stranger] }))
            .await
            .refused(400, "notFound");
        let answer = set(&app.admin, &id, json!({ "roles": ["viewer"], "groups": [theirs] })).await;
        assert_eq!(answer.fields(), ["groups[0]"], "{}", answer.text());
        let _ = answer.refused(400, "notFound");
        let role = there.post("/api/roles", json!({ "name": "only there" })).await.expect(201).id();
        let _ = app.admin.patch(&path, json!({ "roles": [role] })).await.refused(400, "notFound");
        let deny = json!({ "principal": { "kind": "group", "id": theirs }, "resourceType": "workflow",
            "action": "read", "resourceId": "*", "effect": "deny" });
        let _ = app.admin.post("/api/grants", deny).await.refused(400, "notFound");
        assert_eq!(
            app.admin.get(&format!("/api/members?groupId={theirs}")).await.expect(200).data(),
            json!([])
        );
        let both = json!({ "addMembers": [id], "removeMembers": [id] });
        let _ = app.admin.patch(&path, both).await.refused(400, "notAllowed");
        app.stop().await;
    });
}

#[tokio::test]
async fn an_open_stream_tells_nothing_once_a_right_has_ended() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish_bpmn("told", &models::task()).await;
        let run = app.admin.run(&workflow, json!({})).await["id"].as_str().unwrap().to_owned();
        let (id, person) = app.user("person", &["worker"]).await;
        let end = in_seconds(&app, 600).await;
        let readers = json!({ "name": "readers", "roles": ["viewer"], "members": [id],
            "roleExpiries": [{ "role": "viewer", "expiresAt": end }] });
        let _ = group(&app.admin, readers).await;
        let _ = set(&app.admin, &id, json!({ "roles": [] })).await.expect(200);
        let mut open = sse::Stream::open(&person, &workflow, &run, None).await;
        app.advance("PT10M").await;
        let _ = app.admin.complete(&workflow, &run, "work", json!({})).await.expect(200);
        let told = open.rest().await;
        let late = told.iter().any(|event| matches!(event.event.as_str(), "run.completed" | "end"));
        assert!(!late, "{told:?}");
        app.stop().await;
    });
}
