//! Guards of sessions: other sites, other places for a token, and sessions that have ended.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::json;

use crate::attack::judge::Judge;
use crate::attack::person::{KEEPER, PASSWORD, Person};
use crate::attack::scene::Scene;

/// A caller with nothing but the cookie of a session.
fn with_cookie(scene: &Scene, token: &str) -> Result<Person> {
    Person::stranger(&scene.base, KEEPER)?.with("cookie", &format!("__Host-heddle-session={token}"))
}

pub(super) async fn cross_site(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let user = scene.user(&["designer"]).await?;
    let browser = with_cookie(scene, user.token())?;
    let body = || json!({"slug": scene.name("by-cookie"), "displayName": "By cookie", "description": ""});
    let host = format!("http://{}.evil.example", browser.host());
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("sec-fetch-site", ""),
        ("origin", "null"),
        ("origin", ""),
        ("origin", "https://evil.example"),
        ("origin", host.as_str()),
    ] {
        let answer = browser.with(name, value)?.post("/api/workflows", &body()).await?;
        judge.status(format_args!("{name}: {value}"), answer.status, &[403]);
    }
    for media in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let asked = browser.request(Method::POST, "/api/auth/sign-out").body(media, b"{}".to_vec());
        judge.status(media, asked.send().await?.status, &[403, 415]);
    }
    let own = browser.with("sec-fetch-site", "same-origin")?.post("/api/workflows", &body()).await?;
    judge.status("the same origin", own.status, &[201]);
    Ok(())
}

pub(super) async fn elsewhere(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let token = scene.owner.token().to_owned();
    let keeper = Person::stranger(&scene.base, KEEPER)?;
    let browser = with_cookie(scene, &token)?;
    let path = "/api/workflows";
    for (what, answer) in [
        ("in the query", keeper.get(&format!("{path}?access_token={token}&token={token}")).await?),
        ("as Basic", keeper.with("authorization", &format!("Basic {token}"))?.get(path).await?),
        ("without a scheme", keeper.with("authorization", &token)?.get(path).await?),
        ("in x-api-key", keeper.with("x-api-key", &token)?.get(path).await?),
        ("in another cookie", keeper.with("cookie", &format!("heddle-session={token}"))?.get(path).await?),
        ("cut short", keeper.bearer(token.get(..token.len() - 1).unwrap_or_default())?.get(path).await?),
        ("beside another", browser.bearer("hdl_other")?.get(path).await?),
    ] {
        // An unknown member of a query is refused, too.
        judge.status(format_args!("a token {what}"), answer.status, &[400, 401]);
        judge.must(!answer.text().contains(&token), format_args!("a token {what} is repeated"));
    }
    Ok(())
}

pub(super) async fn signed_out(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let user = scene.user(&["viewer"]).await?;
    let other = Person::stranger(&scene.base, KEEPER)?;
    let answer = other.try_sign_in(&user.email, PASSWORD).await?;
    let cookie = answer.header("set-cookie").to_owned();
    for part in ["__Host-heddle-session=", "Secure", "HttpOnly", "SameSite=Lax", "Path=/"] {
        judge.must(cookie.contains(part), format_args!("the cookie lacks {part}"));
    }
    judge.must(!cookie.contains("Domain"), "the cookie has a domain");
    let token = answer.json()["data"]["token"].as_str().context("no token")?.to_owned();
    let session = other.bearer(&token)?;
    judge.status("signing out", session.post("/api/auth/sign-out", &json!({})).await?.status, &[204]);
    judge.status("after signing out", session.get("/api/workflows").await?.status, &[401]);
    judge.status("the other session", user.get("/api/workflows").await?.status, &[200]);
    let off = json!({"state": "disabled"});
    let off = scene.owner.patch(&format!("/api/users/{}", user.id), &off).await?;
    judge.status("switching off", off.status, &[200]);
    judge.status("after switching off", user.get("/api/workflows").await?.status, &[401]);
    Ok(())
}

pub(super) async fn origins(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let page = scene.owner.with("origin", "https://evil.example")?;
    let asked = page.request(Method::OPTIONS, "/api/workflows");
    let flight = asked.header("access-control-request-method", "POST").send().await?;
    judge.status("a preflight", flight.status, &[403, 404, 405]);
    for answer in [flight, page.get("/api/workflows").await?, page.get("/health/live").await?] {
        let allowed = answer.header("access-control-allow-origin");
        judge.must(allowed.is_empty(), format_args!("{}: {allowed} is allowed", answer.asked));
    }
    Ok(())
}
