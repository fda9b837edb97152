//! A started server with the organisation that is attacked, its owner, and everybody that an attack needs.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use heddle_harness_kit::http::{Answer, Base};
use heddle_harness_kit::server::Server;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::honest::Shared;
use super::measure::resident_mb;
use super::person::{ATTACKER, KEEPER, PASSWORD, Person, data, id};

/// Longest wait for an answer of a server that is under attack.
const PATIENCE: Duration = Duration::from_secs(20);

/// A grant or a deny.
pub(crate) struct Rule<'a> {
    /// `user` or `role`.
    pub kind: &'a str,
    /// Id of the principal.
    pub principal: &'a str,
    /// `allow` or `deny`.
    pub effect: &'a str,
    /// Kind of the thing.
    pub resource: &'a str,
    /// The action, or `*`.
    pub action: &'a str,
    /// Id of the thing, or `*`.
    pub on: &'a str,
}

/// Everything that an attack works with.
pub(crate) struct Scene {
    /// The server.
    pub server: Mutex<Server>,
    /// Address of the server.
    pub base: Base,
    /// An owner of the attacked organisation.
    pub owner: Person,
    /// The same account in the honest organisation.
    pub elsewhere: Person,
    /// Somebody who is not signed in, from the attackers' address.
    pub stranger: Person,
    /// The attacked organisation.
    pub organization: String,
    /// The honest organisation.
    pub other: String,
    /// Password of the owner; of a server that nobody has set up the token for it.
    pub password: String,
    /// Time for which pressure is kept up.
    pub pressure: Duration,
    /// Whether what only a clock decides is left out.
    pub quick: bool,
    honest: RefCell<Option<Arc<Shared>>>,
    made: RefCell<Vec<String>>,
    number: Cell<u32>,
}

impl Scene {
    /// Signs in to a server that was started for the first time, and makes the honest organisation.
    pub(crate) async fn of(server: Server, pressure: Duration, quick: bool) -> Result<Self> {
        let facts = server.facts().clone();
        let base: Base = Arc::new(RwLock::new(facts.address));
        let email = facts.email.context("the ready file names no administrator")?;
        let password = facts.password.context("the ready file names no password")?;
        let owner = Person::stranger(&base, KEEPER)?.sign_in(&email, &password).await?;
        let session = data(owner.get("/api/auth/session").await?)?;
        let organization = session["organizationId"].as_str().context("no organisation")?.to_owned();
        let body = json!({"slug": "honest", "displayName": "Honest"});
        let other = id(owner.post("/api/organizations", &body).await?)?;
        Ok(Self {
            server: Mutex::new(server),
            elsewhere: owner.within(&other)?,
            stranger: Person::stranger(&base, ATTACKER)?,
            base,
            owner,
            organization,
            other,
            password,
            pressure,
            quick,
            honest: RefCell::default(),
            made: RefCell::default(),
            number: Cell::new(0),
        })
    }

    /// A server with nobody in it; the password is the token of its set-up.
    pub(crate) fn unsigned(
        server: Server,
        base: Base,
        nobody: Person,
        token: String,
        pressure: Duration,
        quick: bool,
    ) -> Self {
        Self {
            server: Mutex::new(server),
            base,
            owner: nobody.clone(),
            elsewhere: nobody.clone(),
            stranger: nobody,
            organization: String::new(),
            other: String::new(),
            password: token,
            pressure,
            quick,
            honest: RefCell::default(),
            made: RefCell::default(),
            number: Cell::new(0),
        }
    }

    /// The honest organisation that is told when the server is taken away.
    pub(crate) fn follow(&self, honest: &Arc<Shared>) {
        *self.honest.borrow_mut() = Some(Arc::clone(honest));
    }

    /// The honest organisation's ledger and state; none where it does not work.
    pub(crate) fn honest(&self) -> Option<Arc<Shared>> {
        self.honest.borrow().clone()
    }

    /// A name that is new.
    pub(crate) fn name(&self, word: &str) -> String {
        self.number.set(self.number.get() + 1);
        format!("{word}-{}", self.number.get())
    }

    /// The id of a role of an organisation.
    pub(crate) async fn role(&self, within: &Person, name: &str) -> Result<String> {
        let roles = data(within.get("/api/roles?limit=200").await?)?;
        let found = roles.as_array().into_iter().flatten().find(|role| role["name"] == name);
        let id = found.and_then(|role| role["id"].as_str()).with_context(|| format!("no role {name}"))?;
        Ok(id.to_owned())
    }

    /// Makes an account of the attacked organisation with these roles (names, or ids), without signing it in.
    pub(crate) async fn account(&self, roles: &[&str]) -> Result<Person> {
        let mut ids = Vec::new();
        for role in roles {
            let known = role.len() == 36 && role.contains('-');
            ids.push(if known { (*role).to_owned() } else { self.role(&self.owner, role).await? });
        }
        let email = format!("{}@example.com", self.name("mallory"));
        let body = json!({"email": email, "displayName": "Mallory", "password": PASSWORD, "roles": ids});
        let id = id(self.owner.post("/api/users", &body).await?)?;
        self.made.borrow_mut().push(id.clone());
        Ok(self.stranger.named(id, email))
    }

    /// Lets an account that an attack made itself be deleted after it.
    pub(crate) fn forget_later(&self, user: String) {
        self.made.borrow_mut().push(user);
    }

    /// Makes an account of the attacked organisation with these roles and signs it in.
    pub(crate) async fn user(&self, roles: &[&str]) -> Result<Person> {
        let account = self.account(roles).await?;
        // From the keeper's address: how often the attackers' may sign in is a matter of its own.
        let session = Person::stranger(&self.base, KEEPER)?.sign_in(&account.email, PASSWORD).await?;
        account.bearer(session.token())
    }

    /// Makes a role; its id.
    pub(crate) async fn new_role(&self, permissions: &[&str], grants: Value) -> Result<String> {
        let body = json!({"name": self.name("role"), "permissions": permissions, "grants": grants});
        id(self.owner.post("/api/roles", &body).await?)
    }

    /// Makes a rule; the answer.
    pub(crate) async fn rule(&self, rule: &Rule<'_>) -> Result<Answer> {
        let body = json!({"principal": {"kind": rule.kind, "id": rule.principal}, "effect": rule.effect,
            "resourceType": rule.resource, "action": rule.action, "resourceId": rule.on});
        self.owner.post("/api/grants", &body).await
    }

    /// Denies somebody everything about one thing.
    pub(crate) async fn deny(&self, user: &Person, resource: &str, on: &str) -> Result<()> {
        let rule = Rule { kind: "user", principal: &user.id, effect: "deny", resource, action: "*", on };
        data(self.rule(&rule).await?)?;
        Ok(())
    }

    /// Makes and publishes a workflow of a definition; the answer of the last step.
    pub(crate) async fn try_publish(&self, definition: &Value) -> Result<(String, Answer)> {
        let slug = self.name("attack");
        let body = json!({"slug": slug, "displayName": slug, "description": "", "definition": definition});
        let created = self.owner.post("/api/workflows", &body).await?;
        if created.status != 201 {
            return Ok((String::new(), created));
        }
        let workflow = id(created)?;
        let published = self.owner.post(&format!("/api/workflows/{workflow}/publish"), &json!({})).await?;
        Ok((workflow, published))
    }

    /// Makes and publishes a workflow of a definition; its id.
    pub(crate) async fn publish(&self, definition: &Value) -> Result<String> {
        let (workflow, published) = self.try_publish(definition).await?;
        data(published)?;
        Ok(workflow)
    }

    /// Starts a run; the answer, or none when there was none while the pressure is kept up.
    pub(crate) async fn start(&self, workflow: &str, body: &Value) -> Result<Option<Answer>> {
        let path = format!("/api/workflows/{workflow}/runs");
        let asked = self.owner.post(&path, body);
        tokio::time::timeout(self.pressure, asked).await.ok().transpose()
    }

    /// A run of a workflow with a human task; its id.
    pub(crate) async fn run(&self, workflow: &str) -> Result<String> {
        id(self.owner.post(&format!("/api/workflows/{workflow}/runs"), &json!({})).await?)
    }

    /// Puts a workflow aside, so that nothing starts it any more.
    pub(crate) async fn archive(&self, workflow: &str) -> Result<()> {
        let path = format!("/api/workflows/{workflow}");
        let body = json!({"archived": true});
        let archived = self.owner.patch(&path, &body);
        tokio::time::timeout(PATIENCE, archived).await.context("the workflow cannot be archived")??;
        Ok(())
    }

    /// Codes of the open incidents of a workflow's runs, as far as a page of them reaches.
    pub(crate) async fn incidents(&self, workflow: &str) -> Result<Vec<String>> {
        let path = format!("/api/workflows/{workflow}/runs?hasIncident=true&limit=50");
        let asked = tokio::time::timeout(PATIENCE, self.owner.get(&path));
        let runs = data(asked.await.context("the runs are not listed")??)?;
        let incidents = runs.as_array().into_iter().flatten().filter_map(|run| run["incidents"].as_array());
        Ok(incidents.flatten().filter_map(|one| one["code"].as_str().map(str::to_owned)).collect())
    }

    /// Ids of the newest dead letters; none while there are no such pages. A new one is told by its id: of more than a page
    /// the number says nothing.
    pub(crate) async fn letters(&self) -> BTreeSet<String> {
        let asked = tokio::time::timeout(PATIENCE, self.owner.get("/api/dead-letters?limit=200")).await;
        let letters = asked.ok().and_then(Result::ok).map(|answer| answer.json());
        let letters = letters.as_ref().and_then(|letters| letters["data"].as_array()).into_iter().flatten();
        letters.filter_map(|letter| letter["id"].as_str().map(str::to_owned)).collect()
    }

    /// Asks until there is an answer; an unoptimised server gets more time for it than the pressure lasts.
    pub(crate) async fn eventually<T>(&self, mut ask: impl AsyncFnMut() -> Option<T>) -> Option<T> {
        let began = Instant::now();
        loop {
            if let Some(found) = ask().await {
                return Some(found);
            }
            if began.elapsed() > self.pressure.max(PATIENCE) {
                return None;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Whether the process runs and `/health/live` answers; a server under attack gets time for it.
    pub(crate) async fn alive(&self) -> bool {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if !self.server.lock().await.runs() {
                return false;
            }
            let Ok(keeper) = Person::stranger(&self.base, KEEPER) else { return false };
            let asked = tokio::time::timeout(Duration::from_secs(5), keeper.get("/health/live")).await;
            if matches!(asked, Ok(Ok(answer)) if answer.status == 200) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        false
    }

    /// Resident memory of the server in MB.
    pub(crate) async fn resident_mb(&self) -> u64 {
        resident_mb(self.server.lock().await.facts().pid)
    }

    /// The server's data folder.
    pub(crate) async fn data_dir(&self) -> PathBuf {
        self.server.lock().await.data_dir()
    }

    /// Starts the server again, however it ended; false when it does not come up. The honest organisation loses
    /// nothing by calls that were under way.
    pub(crate) async fn restart(&self) -> Result<bool> {
        let honest = self.honest();
        if let Some(honest) = &honest {
            honest.pause(true);
        }
        let mut server = self.server.lock().await;
        let _ = server.stop().await;
        server.kill().await.ok();
        let up = server.launch().await;
        let facts = server.facts().clone();
        *self.base.write().unwrap_or_else(PoisonError::into_inner) = facts.address;
        if let Some(honest) = honest {
            honest.watch(facts.pid);
            // A call that broke off with the old server has told so by then.
            tokio::time::sleep(Duration::from_millis(300)).await;
            honest.pause(false);
        }
        Ok(up.is_ok())
    }

    /// Deletes the accounts that an attack made: a trial has few of them.
    pub(crate) async fn clean(&self) {
        let made = std::mem::take(&mut *self.made.borrow_mut());
        for id in made {
            let path = format!("/api/users/{id}");
            let _ = tokio::time::timeout(PATIENCE, self.owner.delete(&path)).await;
        }
    }
}
