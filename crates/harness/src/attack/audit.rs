//! Attacks on what is known afterwards: refusals that nobody writes down, and floods that hide them.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::time::Instant;

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::{Value, json};

use super::edge::audited;
use super::judge::Judge;
use super::person::{KEEPER, PASSWORD, Person, data};
use super::place::Place;
use super::scene::Scene;
use super::{Attack, models};

/// The most records of an anonymous flood.
const ROWS: usize = 200;

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "refusals-not-audited",
        finding: "M5",
        does: "is refused inside of use cases: a reset, a role, a grant, a token by a token, a wrong password",
        after: "each refusal is in the audit",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(use_cases(scene, judge)),
    },
    Attack {
        name: "refusals-without-thing",
        finding: "M5",
        does: "is refused a denied workflow",
        after: "the record names the workflow, the address and the session",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(names_the_thing(scene, judge)),
    },
    Attack {
        name: "deeds-without-details",
        finding: "M5",
        does: "sets roles and a password",
        after: "the records say which, and by which token",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(details(scene, judge)),
    },
    Attack {
        name: "strangers-not-audited",
        finding: "M5",
        does: "signs in with an unknown account and calls into another organisation",
        after: "the installation's audit has both",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(strangers(scene, judge)),
    },
    Attack {
        name: "anonymous-flood",
        finding: "M2",
        does: "calls every kind of operation without a credential, again and again",
        after: "each is 401 or 429, and few records tell of it",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(flood(scene, judge)),
    },
];

async fn use_cases(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let person = scene.user(&["administrator"]).await?;
    let body = json!({"name": scene.name("own"), "permissions": ["workflows.view"]});
    let token = data(person.post("/api/auth/tokens", &body).await?)?["token"].take();
    let token = person.bearer(token.as_str().context("no token")?)?;
    let owner_role = scene.role(&scene.owner, "owner").await?;
    let reset = json!({"password": "another four wide looms"});
    let licence = json!({"name": scene.name("licence"), "permissions": ["licence.manage"]});
    let wrong = json!({"currentPassword": "not the password", "newPassword": "another four wide looms"});
    let mine = format!("/api/members/{}", person.id);
    for (name, who, method, path, body) in [
        ("reset", &person, Method::PATCH, format!("/api/users/{}", scene.owner.id), reset),
        ("owner", &person, Method::PUT, mine, json!({"roles": [owner_role]})),
        ("licence", &person, Method::POST, "/api/roles".to_owned(), licence),
        ("token", &token, Method::POST, "/api/auth/tokens".to_owned(), json!({"name": "more"})),
        ("wrong", &person, Method::PUT, "/api/auth/password".to_owned(), wrong),
    ] {
        let marker = scene.name(name);
        let asked = who.request(method, &path).header("x-request-id", &marker).json(&body);
        let refused = asked.send().await?;
        judge.status(format_args!("{name}: {path}"), refused.status, &[400, 403]);
        let row = audited(scene, &marker).await?;
        let told = row.as_ref().is_some_and(|row| row["outcome"] != "success");
        judge.must(told, format_args!("{name}: the refusal of {path} is not in the audit: {row:?}"));
    }
    Ok(())
}

async fn names_the_thing(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&models::task()).await?;
    let user = scene.user(&["owner"]).await?;
    scene.deny(&user, "workflow", &workflow).await?;
    let marker = scene.name("thing");
    let asked = user.request(Method::GET, &format!("/api/workflows/{workflow}"));
    let refused = asked.header("x-request-id", &marker).send().await?;
    judge.status("the read", refused.status, &[403]);
    let row = audited(scene, &marker).await?.context("the refusal is not in the audit")?;
    judge.must(row["resourceId"] == json!(workflow), format_args!("the record names no workflow: {row}"));
    judge.must(row.to_string().contains("127."), format_args!("the record has no address: {row}"));
    let session = row["actor"]["sessionId"].is_string();
    judge.must(session, format_args!("the record names no session: {row}"));
    Ok(())
}

async fn details(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let account = scene.account(&["viewer"]).await?;
    let worker = scene.role(&scene.owner, "worker").await?;
    let made = data(scene.owner.post("/api/auth/tokens", &json!({"name": scene.name("deeds")})).await?)?;
    let record = made["record"]["id"].as_str().unwrap_or_default().to_owned();
    let token = scene.owner.bearer(made["token"].as_str().context("no token")?)?;
    let (roles, reset) = (scene.name("roles"), scene.name("reset"));
    let asked = token.request(Method::PUT, &format!("/api/members/{}", account.id));
    let set = asked.header("x-request-id", &roles).json(&json!({"roles": [worker]})).send().await?;
    judge.status("the roles", set.status, &[200]);
    let asked = scene.owner.request(Method::PATCH, &format!("/api/users/{}", account.id));
    let new = json!({"password": "another four wide looms"});
    let changed = asked.header("x-request-id", &reset).json(&new).send().await?;
    judge.status("the reset", changed.status, &[200]);
    let row = audited(scene, &roles).await?.context("the roles are not in the audit")?;
    judge.must(
        row["details"].to_string().contains(&worker) || row["details"].to_string().contains("worker"),
        format_args!("the record does not say which roles: {row}"),
    );
    judge.must(row["actor"]["tokenId"] == json!(record), format_args!("the record names no token: {row}"));
    let row = audited(scene, &reset).await?.context("the reset is not in the audit")?;
    judge.must(
        row["details"].to_string().contains("password"),
        format_args!("the record does not say that it was the password: {row}"),
    );
    Ok(())
}

/// Records of the installation that no organisation has.
async fn of_installation(scene: &Scene) -> Result<Vec<Value>> {
    let page = data(scene.owner.get("/api/installation/audit-events?limit=200").await?)?;
    Ok(page.as_array().cloned().unwrap_or_default())
}

async fn strangers(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let unknown = format!("{}@example.com", scene.name("unknown"));
    let marker = scene.name("unknown");
    // An address that is not slowed down for another attack.
    let stranger = Person::stranger(&scene.base, [127, 3, 3, 3].into())?.with("x-request-id", &marker)?;
    judge.status("an unknown account", stranger.try_sign_in(&unknown, "no").await?.status, &[401, 429]);
    let user = scene.user(&["owner"]).await?;
    let across = scene.name("across");
    let asked = user.within(&scene.other)?.request(Method::GET, "/api/workflows");
    judge.status("another organisation", asked.header("x-request-id", &across).send().await?.status, &[403]);
    let mut all = Vec::new();
    for _ in 0..20 {
        all = of_installation(scene).await?;
        if [&marker, &across].iter().all(|id| all.iter().any(|row| row["requestId"] == json!(id))) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    for id in [&marker, &across] {
        let told = all.iter().any(|row| row["requestId"] == json!(id));
        judge.must(told, format_args!("{id} is not in the installation's audit"));
    }
    Ok(())
}

async fn flood(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let nobody = "01a20043-0207-72fc-ac6d-e6c4d2099e8c";
    let paths: Vec<String> = ["", "/versions", "/runs", "/export/bpmn", "/export/dmn", "/import-source"]
        .iter()
        .map(|end| format!("/api/workflows/{nobody}{end}"))
        .chain(
            [
                "workflows",
                "users",
                "groups",
                "roles",
                "grants",
                "members",
                "licence",
                "organizations",
                "human-tasks",
                "audit-events",
                "auth/session",
                "auth/sessions",
                "auth/tokens",
            ]
            .map(|path| format!("/api/{path}")),
        )
        .collect();
    // An address of its own, by which its records are told from others.
    let stranger = Person::stranger(&scene.base, [127, 9, 9, 9].into())?;
    let callers = [
        stranger.clone(),
        stranger.bearer("hdl_nonsense")?,
        stranger.with("cookie", "__Host-heddle-session=nonsense")?,
    ];
    let began = Instant::now();
    let mut asked = 0;
    while began.elapsed() < scene.pressure {
        for path in &paths {
            let calls = callers.iter().map(|caller| caller.get(path));
            for answer in futures::future::join_all(calls).await {
                judge.status("an anonymous call", answer?.status, &[401, 404, 429]);
                asked += 1;
            }
        }
    }
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    let rows = of_installation(scene).await?;
    let of_flood = rows.iter().filter(|row| row.to_string().contains("127.9.9.9")).count();
    judge.must(of_flood > 0, "the flood is not in the installation's audit");
    judge.must(of_flood < ROWS, format_args!("{of_flood} records or more tell of {asked} anonymous calls"));
    let known = scene.account(&["viewer"]).await?;
    let keeper = Person::stranger(&scene.base, KEEPER)?;
    let sign_in = keeper.try_sign_in(&known.email, PASSWORD).await?;
    judge.status("a sign-in from elsewhere meanwhile", sign_in.status, &[200]);
    Ok(())
}
