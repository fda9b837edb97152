//! Guards of organisations, accounts and the installation.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::{Value, json};

use crate::attack::judge::Judge;
use crate::attack::models;
use crate::attack::person::{KEEPER, PASSWORD, Person, data, id};
use crate::attack::scene::{Rule, Scene};

pub(super) async fn other(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let theirs = &scene.elsewhere;
    let slug = scene.name("theirs");
    let body = json!({"slug": slug, "displayName": slug, "description": "", "definition": models::task()});
    let workflow = id(theirs.post("/api/workflows", &body).await?)?;
    let path = format!("/api/workflows/{workflow}");
    data(theirs.post(&format!("{path}/publish"), &json!({})).await?)?;
    let run = id(theirs.post(&format!("{path}/runs"), &json!({})).await?)?;
    let role = id(theirs.post("/api/roles", &json!({"name": slug, "permissions": []})).await?)?;
    let user = scene.user(&["owner"]).await?;
    let (role_path, run_path) = (format!("/api/roles/{role}"), format!("{path}/runs/{run}"));
    let calls: Vec<(Method, String, Option<Value>)> = vec![
        (Method::GET, path.clone(), None),
        (Method::PATCH, path.clone(), Some(json!({"displayName": "Mine"}))),
        (Method::DELETE, path.clone(), None),
        (Method::GET, format!("{path}/versions"), None),
        (Method::GET, format!("{path}/export/bpmn"), None),
        (Method::POST, format!("{path}/publish"), Some(json!({}))),
        (Method::GET, format!("{path}/runs"), None),
        (Method::POST, format!("{path}/runs"), Some(json!({}))),
        (Method::GET, run_path.clone(), None),
        (Method::GET, format!("{run_path}/events"), None),
        (Method::GET, format!("{run_path}/events/stream"), None),
        (Method::POST, format!("{run_path}/human-tasks/work/complete"), Some(json!({}))),
        (Method::DELETE, format!("{run_path}?reason=mine"), None),
        (Method::GET, role_path.clone(), None),
        (Method::DELETE, role_path.clone(), None),
        (Method::GET, format!("/api/organizations/{}", scene.other), None),
        (Method::PATCH, format!("/api/organizations/{}", scene.other), Some(json!({"displayName": "Mine"}))),
    ];
    for person in [user.clone(), user.within(&scene.other)?] {
        for (method, path, body) in &calls {
            let mut request = person.request(method.clone(), path);
            if let Some(body) = body {
                request = request.json(body);
            }
            let answer = request.send().await?;
            judge.status(answer.asked, answer.status, &[403, 404]);
        }
    }
    for list in ["/api/workflows?limit=200", "/api/roles?limit=200", "/api/human-tasks?limit=200"] {
        let shown = user.get(list).await?.text();
        judge.must(
            ![&workflow, &run, &role].iter().any(|id| shown.contains(*id)),
            format_args!("{list} shows it"),
        );
    }
    let now = data(theirs.get(&path).await?)?;
    judge.must(now["displayName"] == json!(slug), format_args!("it is named {}", now["displayName"]));
    Ok(())
}

pub(super) async fn last_owner(scene: &Scene, judge: &mut Judge) -> Result<()> {
    // The owner of the scene is one, so that the race is among three.
    let (one, two) = (scene.user(&["owner"]).await?, scene.user(&["owner"]).await?);
    let viewer = scene.role(&scene.owner, "viewer").await?;
    let owner = scene.role(&scene.owner, "owner").await?;
    let paths = [&one, &two, &scene.owner].map(|person| format!("/api/members/{}", person.id));
    let body = json!({"roles": [viewer]});
    let calls = [(&one, &paths[1]), (&two, &paths[0]), (&one, &paths[2]), (&two, &paths[2])];
    let calls = calls.map(|(person, path)| person.put(path, &body));
    for answer in futures::future::join_all(calls).await {
        let status = answer?.status;
        judge.must(status < 500, format_args!("a removal: {status}"));
    }
    let mut active = 0;
    for person in [&one, &two, &scene.owner] {
        active += usize::from(person.get("/api/licence").await?.status == 200);
    }
    judge.must(active > 0, "no owner is left");
    for person in [&one, &two, &scene.owner] {
        let back = json!({"roles": [owner]});
        let _ = person.put(&paths[2], &back).await?;
    }
    judge.status("the scene's owner", scene.owner.get("/api/licence").await?.status, &[200]);
    for person in [&one, &two] {
        let _ = scene.owner.put(&format!("/api/members/{}", person.id), &body).await?;
    }
    for (method, path, body) in [
        (Method::PUT, paths[2].clone(), json!({"roles": [viewer]})),
        (Method::DELETE, paths[2].clone(), json!(null)),
        (Method::PATCH, format!("/api/users/{}", scene.owner.id), json!({"state": "disabled"})),
        (Method::DELETE, format!("/api/users/{}", scene.owner.id), json!(null)),
    ] {
        let mut request = scene.owner.request(method, &path);
        if !body.is_null() {
            request = request.json(&body);
        }
        let answer = request.send().await?;
        judge.status(answer.asked, answer.status, &[400, 403, 409]);
    }
    Ok(())
}

pub(super) async fn lock_out(scene: &Scene, judge: &mut Judge) -> Result<()> {
    for (resource, action) in [("grant", "*"), ("grant", "delete")] {
        let body = json!({"principal": {"kind": "everyone"}, "resourceType": resource, "action": action,
            "resourceId": "*", "effect": "deny"});
        let made = scene.owner.post("/api/grants", &body).await?;
        judge.status(format_args!("a deny of {resource}/{action}"), made.status, &[400, 403, 409]);
    }
    judge.status("listing grants", scene.owner.get("/api/grants").await?.status, &[200]);
    Ok(())
}

pub(super) async fn narrow_token(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&models::task()).await?;
    let body = json!({"name": scene.name("narrow"), "permissions": ["workflows.view"]});
    let made = data(scene.owner.post("/api/auth/tokens", &body).await?)?;
    let token = scene.owner.bearer(made["token"].as_str().context("no token")?)?;
    let path = format!("/api/workflows/{workflow}");
    judge.status("what it has", token.get(&path).await?.status, &[200]);
    let new = json!({"email": "n@example.com", "displayName": "N", "password": PASSWORD, "roles": []});
    let rule = Rule {
        kind: "user",
        principal: &scene.owner.id,
        effect: "allow",
        resource: "workflow",
        action: "*",
        on: "*",
    };
    let grant = json!({"principal": {"kind": rule.kind, "id": rule.principal}, "effect": rule.effect,
        "resourceType": rule.resource, "action": rule.action, "resourceId": rule.on});
    for (method, path, body) in [
        (Method::PATCH, path.clone(), json!({"displayName": "Mine"})),
        (Method::POST, format!("{path}/runs"), json!({})),
        (Method::POST, "/api/users".to_owned(), new),
        (Method::POST, "/api/grants".to_owned(), grant),
        (Method::POST, "/api/roles".to_owned(), json!({"name": "more", "permissions": ["workflows.manage"]})),
        (Method::POST, "/api/auth/tokens".to_owned(), json!({"name": "more"})),
    ] {
        let answer = token.request(method, &path).json(&body).send().await?;
        judge.status(answer.asked, answer.status, &[403]);
    }
    Ok(())
}

pub(super) async fn set_up(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let body = |token: &str, number: usize| {
        json!({"token": token, "organization": {"slug": format!("first-{number}"), "displayName": "First"},
            "administrator": {"email": format!("first-{number}@example.com"), "displayName": "First",
                "password": PASSWORD}})
    };
    let wrong = scene.stranger.post("/api/setup", &body("not the token at all", 0)).await?;
    judge.status("a wrong token", wrong.status, &[400, 401, 403, 429]);
    let count = if scene.quick { 6 } else { 20 };
    let calls = (0..count)
        .map(async |number| scene.stranger.post("/api/setup", &body(&scene.password, number)).await);
    let mut done = 0;
    for answer in futures::future::join_all(calls).await {
        let answer = answer?;
        judge.status("a set-up", answer.status, &[201, 401, 403, 409, 429, 503]);
        done += usize::from(answer.status == 201);
    }
    judge.must(done == 1, format_args!("{done} of {count} set-ups were done"));
    Ok(())
}

pub(super) async fn licence(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let before = data(scene.owner.get("/api/licence").await?)?;
    for text in [
        "v4.public.eyJ0ZXN0IjoxfQ",
        "v4.public.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.eyJraWQiOiJ0ZXN0In0",
        "v2.local.AAAA",
        "",
        "trial",
    ] {
        for (method, path) in [(Method::PUT, "/api/licence"), (Method::POST, "/api/licence/validate")] {
            let answer = scene.owner.request(method, path).json(&json!({"licence": text})).send().await?;
            let invalid = answer.status == 200 && answer.json()["data"]["valid"] == false;
            judge.must(
                invalid || matches!(answer.status, 400 | 402 | 403 | 409 | 422),
                format_args!("{}: {} {}", answer.asked, answer.status, answer.text()),
            );
        }
    }
    let now = data(scene.owner.get("/api/licence").await?)?;
    judge.must(now["licenceId"] == before["licenceId"], format_args!("the licence is {}", now["licenceId"]));
    Ok(())
}

pub(super) async fn unknown(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let account = scene.account(&["viewer"]).await?;
    let keeper = Person::stranger(&scene.base, KEEPER)?;
    let known = keeper.try_sign_in(&account.email, "not the password").await?;
    let unknown =
        keeper.try_sign_in(&format!("{}@example.com", scene.name("nobody")), "not the password").await?;
    judge.must(known.status == unknown.status, format_args!("{} and {}", known.status, unknown.status));
    let told = |answer: &heddle_harness_kit::http::Answer| answer.json()["error"]["message"].clone();
    judge.must(told(&known) == told(&unknown), format_args!("{} and {}", told(&known), told(&unknown)));
    Ok(())
}
