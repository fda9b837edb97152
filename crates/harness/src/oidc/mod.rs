//! Sign-in by a provider that other people wrote, in a process of its own, walked as a browser walks it.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

mod browser;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use anyhow::{Context, Result, bail, ensure};
use reqwest::Url;
use serde_json::{Value, json};

use heddle_harness_kit::client::Client;
use heddle_harness_kit::npm::Package;
use heddle_harness_kit::out;
use heddle_harness_kit::postgres::Postgres;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server, Surroundings};

use self::browser::{Browser, Page};

/// Options of `oidc`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
}

/// Secret that the server shares with the provider.
const SECRET: &str = "canary-of-a-client";

/// A running provider.
struct Provider {
    child: Child,
    issuer: String,
    /// Output of the process, kept open: notices that nobody takes would end it.
    _output: BufReader<ChildStdout>,
}

impl Provider {
    fn start() -> Result<Self> {
        let package = Package::install("oidc-provider", "oidc-provider@^9")?;
        let mut node = package.node("provider.mjs", include_str!("provider.mjs"))?;
        node.env("CLIENT_SECRET", SECRET).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = node.spawn().context("the provider cannot be started")?;
        let mut line = String::new();
        let output = child.stdout.take().context("the provider has no output")?;
        let mut output = BufReader::new(output);
        output.read_line(&mut line).context("the provider says nothing")?;
        let facts: Value = serde_json::from_str(&line).context("the provider does not start")?;
        let issuer = facts["issuer"].as_str().context("the provider names no issuer")?.to_owned();
        Ok(Self { child, issuer, _output: output })
    }

    fn stop(&mut self) {
        // One that is gone needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A server and the provider that it asks.
struct Scene {
    provider: Provider,
    server: Server,
    admin: Client,
    /// Held while the server runs.
    _postgres: Option<Postgres>,
}

impl Scene {
    async fn start(options: &Options) -> Result<Self> {
        let binary = server::binary(Build::Debug)?;
        let provider = Provider::start()?;
        let folder = tempfile::tempdir().context("no temporary folder")?;
        let file = folder.path().join("oidc.toml");
        std::fs::write(&file, description(&provider.issuer)).context("the file of providers")?;
        let postgres = server::postgres_for(options.backend)?;
        let variables = vec![("HEDDLE_OIDC_FILE", file.display().to_string())];
        let surroundings = Surroundings { variables, ..Surroundings::default() };
        let mode = Mode { demo: true, test_clock: true };
        let server = Server::start_in(&binary, mode, surroundings, postgres.as_ref()).await?;
        let facts = server.facts().clone();
        let email = facts.email.context("the ready file names no administrator")?;
        let password = facts.password.context("the ready file names no password")?;
        let admin = Client::sign_in(&facts.address, &email, &password).await?;
        Ok(Self { provider, server, admin, _postgres: postgres })
    }

    fn at(&self, path: &str) -> Result<Url> {
        Ok(Url::parse(&format!("{}{path}", self.admin.address()))?)
    }

    /// Groups of a person from now on.
    async fn groups(&self, id: &str, groups: &[&str]) -> Result<()> {
        let list = groups.iter().map(|group| format!("&group={group}")).collect::<String>();
        let url = Url::parse(&format!("{}/control?id={id}{list}", self.provider.issuer))?;
        let page = Browser::new()?.open(&url).await?;
        ensure!(page.status == 200, "the groups are not changed: {}", page.text);
        Ok(())
    }

    /// Begins a sign-in and signs in at the provider; the address that the provider leads back to.
    async fn come_back(&self, browser: &mut Browser, login: &str) -> Result<Url> {
        let begun = browser.open(&self.at("/api/auth/oidc/real/start?returnTo=/docs")?).await?;
        let Some(way) = begun.led_to else { bail!("status {}: {}", begun.status, begun.text) };
        browser.sign_in(&way, login).await
    }

    async fn sign_in(&self, browser: &mut Browser, login: &str) -> Result<Page> {
        let back = self.come_back(browser, login).await?;
        browser.open(&back).await
    }

    /// Names of the roles of who is signed in.
    async fn roles(&self, browser: &mut Browser) -> Result<Value> {
        let page = browser.open(&self.at("/api/auth/session")?).await?;
        ensure!(page.status == 200, "status {}: {}", page.status, page.text);
        let session: Value = serde_json::from_str(&page.text)?;
        Ok(session["data"]["organizations"][0]["roles"].clone())
    }
}

fn description(issuer: &str) -> String {
    format!(
        r#"
[[provider]]
name = "real"
issuer = "{issuer}"
client_id = "heddle"
client_secret = "{SECRET}"
scopes = ["email", "profile", "groups"]
create_users = true
email_domains = ["example.com"]

[[provider.organization]]
slug = "demo"

[provider.organization.roles]
ops = ["operator"]
all = ["viewer"]
"#
    )
}

/// Refusal with a reason.
fn refused(page: &Page, status: u16, reason: &str) -> Result<()> {
    let told: Value = serde_json::from_str(&page.text).unwrap_or_default();
    let found = &told["error"]["details"][0]["reason"];
    ensure!(
        page.status == status && found == reason,
        "must be {status} {reason}: {} {}",
        page.status,
        page.text
    );
    Ok(())
}

async fn groups_give_and_take(scene: &Scene) -> Result<()> {
    scene.groups("ada", &["ops", "unknown"]).await?;
    let mut first = Browser::new()?;
    let page = scene.sign_in(&mut first, "ada").await?;
    let place = page.led_to.map(|url| url.path().to_owned());
    ensure!(page.status == 302 && place.as_deref() == Some("/docs"), "{}: {}", page.status, page.text);
    ensure!(scene.roles(&mut first).await? == json!(["operator"]), "the group gives its role");
    scene.groups("ada", &["all"]).await?;
    let mut second = Browser::new()?;
    let page = scene.sign_in(&mut second, "ada").await?;
    ensure!(page.status == 302, "{}: {}", page.status, page.text);
    ensure!(scene.roles(&mut second).await? == json!(["viewer"]), "the new group gives its role");
    ensure!(scene.roles(&mut first).await? == json!(["viewer"]), "the old group takes its role everywhere");
    Ok(())
}

async fn nothing_comes_twice_or_elsewhere(scene: &Scene) -> Result<()> {
    let mut browser = Browser::new()?;
    let back = scene.come_back(&mut browser, "ada").await?;
    refused(&Browser::new()?.open(&back).await?, 400, "unknownSignIn").context("another browser")?;
    ensure!(browser.open(&back).await?.status == 302, "the first time it is taken");
    refused(&browser.open(&back).await?, 400, "unknownSignIn").context("again")?;

    let mut browser = Browser::new()?;
    let mut other = scene.come_back(&mut browser, "ada").await?;
    let pairs: Vec<(String, String)> = other.query_pairs().into_owned().collect();
    let forged = pairs.iter().map(|(name, value)| match name.as_str() {
        "state" => (name.as_str(), "forged"),
        _ => (name.as_str(), value.as_str()),
    });
    other.query_pairs_mut().clear().extend_pairs(forged);
    refused(&browser.open(&other).await?, 400, "unknownSignIn").context("another state")
}

/// The code of one sign-in within another: the verifier, and the nonce behind it, are not its own.
async fn a_code_stays_with_its_sign_in(scene: &Scene) -> Result<()> {
    let (mut mine, mut theirs) = (Browser::new()?, Browser::new()?);
    let mut own = scene.come_back(&mut mine, "ada").await?;
    let stolen = scene.come_back(&mut theirs, "bob").await?;
    let code = stolen.query_pairs().find(|(name, _)| name == "code").context("a code")?.1.into_owned();
    let pairs: Vec<(String, String)> = own.query_pairs().into_owned().collect();
    let mixed = pairs.iter().map(|(name, value)| match name.as_str() {
        "code" => (name.as_str(), code.as_str()),
        _ => (name.as_str(), value.as_str()),
    });
    own.query_pairs_mut().clear().extend_pairs(mixed);
    refused(&mine.open(&own).await?, 401, "codeRefused")
}

async fn an_unverified_address_makes_nobody(scene: &Scene) -> Result<()> {
    scene.groups("mallory", &["ops"]).await?;
    refused(&scene.sign_in(&mut Browser::new()?, "mallory").await?, 401, "emailNotVerified")
}

/// The last of the cases: the provider is gone, and then the time of a sign-in is over.
async fn gone_and_late(scene: &mut Scene) -> Result<()> {
    let (mut browser, mut late) = (Browser::new()?, Browser::new()?);
    let back = scene.come_back(&mut browser, "ada").await?;
    let over = scene.come_back(&mut late, "ada").await?;
    scene.provider.stop();
    refused(&browser.open(&back).await?, 503, "providerUnavailable").context("the provider is gone")?;
    let moved = scene.admin.post("/api/test/clock", &json!({ "advance": "PT11M" })).await?;
    ensure!(moved.ok(), "the clock is not moved: {}", moved.refusal());
    refused(&late.open(&over).await?, 400, "unknownSignIn").context("the time is over")
}

/// Walks the cases; `false` when one of them ended other than it must, or a secret was seen.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let mut scene = Scene::start(&options).await?;
    let mut all = true;
    let mut tell = |name: &str, outcome: Result<()>| {
        let said = outcome.as_ref().map_or_else(|error| format!("FAILED {error:#}"), |()| "ok".to_owned());
        out::line(format_args!("{name}: {said}"));
        all &= outcome.is_ok();
    };
    tell("groups give and take roles", groups_give_and_take(&scene).await);
    tell("nothing comes twice or elsewhere", nothing_comes_twice_or_elsewhere(&scene).await);
    tell("a code stays with its sign-in", a_code_stays_with_its_sign_in(&scene).await);
    tell("an unverified address makes nobody", an_unverified_address_makes_nobody(&scene).await);
    tell("a provider that is gone, and a sign-in that took too long", gone_and_late(&mut scene).await);
    let seen = scene.server.log_text().contains(SECRET);
    tell("the log shows no secret", if seen { Err(anyhow::anyhow!("it does")) } else { Ok(()) });
    scene.server.stop().await?;
    Ok(all)
}
