//! Attacks on giving: nobody gives, takes, lifts or lengthens more than they have.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use anyhow::{Context as _, Result};
use serde_json::json;

use super::judge::Judge;
use super::models;
use super::person::{KEEPER, PASSWORD, Person, data, id};
use super::scene::{Rule, Scene};

/// A manager of members who may otherwise use one workflow, and a workflow that they may not.
struct Manager {
    person: Person,
    own_role: String,
    /// A role without rules of its own that is granted everything about workflows.
    role: String,
    closed: String,
}

async fn manager(scene: &Scene) -> Result<Manager> {
    let open = scene.publish(&models::task()).await?;
    let closed = scene.publish(&models::task()).await?;
    let allow = |resource: &str, on: &str| json!({"resourceType": resource, "action": "*", "resourceId": on, "effect": "allow"});
    let permissions = ["members.view", "members.manage", "workflows.view", "workflows.manage", "roles.view"];
    let grants =
        json!([allow("user", "*"), allow("member", "*"), allow("role", "*"), allow("workflow", &open)]);
    let own_role = scene.new_role(&permissions, grants).await?;
    let role = scene.new_role(&[], json!([])).await?;
    let rule =
        Rule { kind: "role", principal: &role, effect: "allow", resource: "workflow", action: "*", on: "*" };
    data(scene.rule(&rule).await?)?;
    let person = scene.user(&[&own_role]).await?;
    let refused = person.get(&format!("/api/workflows/{closed}")).await?.status;
    anyhow::ensure!(refused == 403, "the manager may read what they should not: {refused}");
    Ok(Manager { person, own_role, role, closed })
}

pub(super) async fn role_for_oneself(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let Manager { person, own_role, role, closed } = manager(scene).await?;
    let body = json!({"roles": [own_role, role]});
    let taken = person.put(&format!("/api/members/{}", person.id), &body).await?;
    judge.status("taking the role", taken.status, &[403]);
    let path = format!("/api/workflows/{closed}");
    judge.status("reading afterwards", person.get(&path).await?.status, &[403]);
    judge.status("deleting afterwards", person.delete(&path).await?.status, &[403]);
    Ok(())
}

pub(super) async fn role_for_another(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let Manager { person, role, .. } = manager(scene).await?;
    let email = format!("{}@example.com", scene.name("accomplice"));
    let body = json!({"email": email, "displayName": "Accomplice", "password": PASSWORD, "roles": [role]});
    let made = person.post("/api/users", &body).await?;
    judge.status("making an account with the role", made.status, &[403]);
    if made.status == 201 {
        scene.forget_later(id(made)?);
    }
    let other = scene.account(&["viewer"]).await?;
    let given = person.put(&format!("/api/members/{}", other.id), &json!({"roles": [role]})).await?;
    judge.status("giving the role to a member", given.status, &[403]);
    Ok(())
}

pub(super) async fn drop_denied_role(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let denied = scene.publish(&models::task()).await?;
    let role = scene.new_role(&[], json!([])).await?;
    let rule = Rule {
        kind: "role",
        principal: &role,
        effect: "deny",
        resource: "workflow",
        action: "*",
        on: &denied,
    };
    data(scene.rule(&rule).await?)?;
    let person = scene.user(&["administrator", &role]).await?;
    let path = format!("/api/workflows/{denied}");
    judge.status("reading before", person.get(&path).await?.status, &[403]);
    let administrator = scene.role(&scene.owner, "administrator").await?;
    let body = json!({"roles": [administrator]});
    let dropped = person.put(&format!("/api/members/{}", person.id), &body).await?;
    judge.status("dropping the role", dropped.status, &[403]);
    judge.status("reading afterwards", person.get(&path).await?.status, &[403]);
    Ok(())
}

pub(super) async fn own_end(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let person = scene.user(&["administrator"]).await?;
    let administrator = scene.role(&scene.owner, "administrator").await?;
    let path = format!("/api/members/{}", person.id);
    let until = |end: serde_json::Value| json!({"roles": [administrator], "expiresAt": end});
    data(scene.owner.put(&path, &until(json!("2099-01-01T00:00:00Z"))).await?)?;
    for end in [json!(null), json!("2100-01-01T00:00:00Z")] {
        let longer = person.put(&path, &until(end.clone())).await?;
        judge.status(format_args!("an end of {end}"), longer.status, &[403]);
    }
    let members = scene.owner.get("/api/members?limit=200").await?.json();
    let all = members["data"].as_array().cloned().unwrap_or_default();
    let member =
        all.iter().find(|member| member.to_string().contains(&person.id)).context("no such member")?;
    judge.must(member.to_string().contains("2099-01-01"), format_args!("the membership is now {member}"));
    Ok(())
}

pub(super) async fn home_reset(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let administrator = scene.user(&["administrator"]).await?;
    let person = scene.account(&["viewer"]).await?;
    let owner = scene.role(&scene.elsewhere, "owner").await?;
    let path = format!("/api/members/{}", person.id);
    data(scene.elsewhere.put(&path, &json!({"roles": [owner]})).await?)?;
    let new = json!({"password": "another four wide looms"});
    let reset = administrator.patch(&format!("/api/users/{}", person.id), &new).await?;
    judge.status("the reset", reset.status, &[403]);
    let old = Person::stranger(&scene.base, KEEPER)?.try_sign_in(&person.email, PASSWORD).await?;
    judge.status("the old password", old.status, &[200]);
    let _ = scene.elsewhere.delete(&path).await?;
    Ok(())
}

pub(super) async fn lock_out(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let owner = scene.role(&scene.owner, "owner").await?;
    let denied =
        ["members.manage", "members.view", "roles.manage", "roles.view", "grants.manage", "grants.view"];
    let body = json!({"name": scene.name("lock"), "permissions": [], "deniedPermissions": denied});
    let made = scene.owner.post("/api/roles", &body).await?;
    if made.status == 201 {
        let body = json!({"roles": [owner, id(made)?]});
        let taken = scene.owner.put(&format!("/api/members/{}", scene.owner.id), &body).await?;
        judge.status("taking the role", taken.status, &[400, 403, 409]);
    } else {
        judge.status("making the role", made.status, &[400, 403, 409]);
    }
    judge.status("listing members afterwards", scene.owner.get("/api/members").await?.status, &[200]);
    let changed =
        scene.owner.put(&format!("/api/members/{}", scene.owner.id), &json!({"roles": [owner]})).await?;
    judge.status("one's own roles afterwards", changed.status, &[200]);
    Ok(())
}

pub(super) async fn narrow_token(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let person = scene.user(&["administrator"]).await?;
    let body = json!({"name": "narrow", "permissions": ["members.manage", "members.view"]});
    let made = data(person.post("/api/auth/tokens", &body).await?)?;
    let token = person.bearer(made["token"].as_str().context("no token")?)?;
    judge.status("listing members", token.get("/api/members").await?.status, &[200]);
    let user = format!("/api/users/{}", person.id);
    for change in [
        json!({"email": format!("{}@example.com", scene.name("taken"))}),
        json!({"password": "a new one for me to keep"}),
    ] {
        let changed = token.patch(&user, &change).await?;
        judge.status(format_args!("changing its owner's {change}"), changed.status, &[400, 403]);
    }
    let viewer = scene.role(&scene.owner, "viewer").await?;
    let roles = token.put(&format!("/api/members/{}", person.id), &json!({"roles": [viewer]})).await?;
    judge.status("changing its owner's roles", roles.status, &[403]);
    Ok(())
}
