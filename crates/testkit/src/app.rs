//! A server for tests, in this process.

#![expect(clippy::indexing_slicing, reason = "members of JSON: an absent one reads as null")]
#![expect(clippy::expect_used, clippy::panic, reason = "a test whose server does not start must fail")]

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use heddle_server::{Config, DATABASE_FILE, Durability, EdgeLimits, Server};
use serde_json::{Value, json};

use crate::client::{Answer, Base, Client};
use crate::db::{TestDb, migrated_file};

/// The password of every user that a test makes.
pub const PASSWORD: &str = "four wide looms at night";
/// Longest wait of a test for what has to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server with the demo's organisation, and its administrator signed in.
pub struct TestApp {
    server: Option<Server>,
    config: Config,
    base: Base,
    /// The demo's administrator, an owner.
    pub admin: Client,
    /// The administrator's address and password.
    pub account: (String, String),
    /// The demo's organisation.
    pub organization: String,
    _data: tempfile::TempDir,
}

impl std::fmt::Debug for TestApp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestApp").finish_non_exhaustive()
    }
}

impl TestApp {
    /// Starts a server on a database.
    pub async fn start(db: &TestDb) -> Self {
        Self::with(db, |_| {}).await
    }

    /// Starts a server with another configuration.
    pub async fn with(db: &TestDb, change: impl FnOnce(&mut Config)) -> Self {
        // A SQLite file has one owner: the server's is in its data directory, where an operator's is.
        let url = (db.kind() == "postgres").then(|| db.address().to_owned());
        Self::at(url, change).await
    }

    /// Starts a server on the database of an address; without one, on a SQLite file in its data directory.
    pub async fn at(database_url: Option<String>, change: impl FnOnce(&mut Config)) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let own = data.path().join("data");
        let mut config = Config {
            data_dir: own.clone(),
            listen: ([127, 0, 0, 1], 0).into(),
            database_url,
            durability: Durability::Process,
            test_clock: true,
            demo: true,
            workers: 2,
            // All tests come from one address.
            edge: EdgeLimits { anonymous_per_second: 0, ..EdgeLimits::default() },
            ..Config::default()
        };
        // The program of a test reads no files.
        config.vectors.reader = Some(reader());
        // Each test makes its own.
        config.vectors.demo = false;
        config.models.demo = false;
        change(&mut config);
        // A test that brings a directory of its own asks what becomes of that.
        if config.database_url.is_none() && config.data_dir == own {
            DirBuilder::new().mode(0o700).create(&own).expect("a data directory");
            migrated_file(&own.join(DATABASE_FILE)).await;
        }
        let server = Server::start(config.clone()).await.unwrap_or_else(|error| panic!("{error}"));
        let base: Base = Arc::new(RwLock::new(format!("http://{}", server.address())));
        let first = server.first().clone();
        let (email, password) = first.administrator.expect("a new database");
        let organization = first.organization.expect("the demo").to_string();
        let mut app = Self {
            server: Some(server),
            config,
            admin: Client::anonymous(Arc::clone(&base)),
            base,
            account: (email.clone(), password.clone()),
            organization,
            _data: data,
        };
        app.admin = app.sign_in(&email, &password).await;
        app
    }

    /// Somebody who is not signed in.
    #[must_use]
    pub fn anonymous(&self) -> Client {
        Client::anonymous(Arc::clone(&self.base))
    }

    /// Somebody who is not signed in and follows no redirect.
    #[must_use]
    pub fn browser(&self) -> Client {
        Client::that_stays(Arc::clone(&self.base))
    }

    /// The running server.
    #[must_use]
    pub fn server(&self) -> &Server {
        self.server.as_ref().expect("a running server")
    }

    /// The data directory.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.config.data_dir
    }

    /// Signs in; the answer.
    pub async fn try_sign_in(&self, email: &str, password: &str) -> Answer {
        self.anonymous().post("/api/auth/sign-in", json!({ "email": email, "password": password })).await
    }

    /// Signs in.
    pub async fn sign_in(&self, email: &str, password: &str) -> Client {
        let answer = self.try_sign_in(email, password).await.expect(200).data();
        self.anonymous().bearer(answer["token"].as_str().expect("a token"))
    }

    /// Signs the administrator in again.
    pub async fn sign_in_again(&mut self) {
        let (email, password) = self.account.clone();
        self.admin = self.sign_in(&email, &password).await;
    }

    /// Stops the server.
    pub async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop().await;
        }
    }

    /// Stops the server and starts it again on the same database and data directory. Tokens stay good.
    pub async fn restart(&mut self) {
        self.stop().await;
        let server = Server::start(self.config.clone()).await.unwrap_or_else(|error| panic!("{error}"));
        *self.base.write().expect("an address") = format!("http://{}", server.address());
        self.server = Some(server);
    }

    /// Moves the test clock forward by an ISO 8601 duration, and signs the administrator in again when their
    /// session ended by that.
    pub async fn advance(&mut self, duration: &str) {
        let _ = self.admin.post("/api/test/clock", json!({ "advance": duration })).await.expect(200);
        if self.admin.get("/api/auth/session").await.status == 401 {
            self.sign_in_again().await;
        }
    }

    /// The id of a role of the caller's organisation.
    pub async fn role_id(&self, client: &Client, name: &str) -> String {
        let roles = client.get("/api/roles?limit=200").await.expect(200).data();
        let found = roles.as_array().into_iter().flatten().find(|role| role["name"] == name);
        found.and_then(|role| role["id"].as_str()).unwrap_or_else(|| panic!("no role {name}")).to_owned()
    }

    /// Makes a user of the demo's organisation with these roles and signs them in; their id and client.
    pub async fn user(&self, name: &str, roles: &[&str]) -> (String, Client) {
        self.user_in(&self.admin, name, roles).await
    }

    /// Makes a user of the maker's organisation with these roles and signs them in.
    pub async fn user_in(&self, maker: &Client, name: &str, roles: &[&str]) -> (String, Client) {
        let mut ids = Vec::new();
        for role in roles {
            ids.push(self.role_id(maker, role).await);
        }
        let email = format!("{name}@example.com");
        let body = json!({ "email": email, "displayName": name, "password": PASSWORD, "roles": ids });
        let id = maker.post("/api/users", body).await.expect(201).id();
        (id, self.sign_in(&email, PASSWORD).await)
    }

    /// Makes a role of these permissions that may do everything else to everything.
    pub async fn role(&self, name: &str, permissions: &[&str]) -> String {
        let everything = json!({"resourceType": "*", "action": "*", "resourceId": "*", "effect": "allow"});
        let grants = if permissions.is_empty() { json!([]) } else { json!([everything]) };
        let body = json!({ "name": name, "permissions": permissions, "grants": grants });
        self.admin.post("/api/roles", body).await.expect(201).id()
    }

    /// Makes a second organisation, of which the administrator is an owner; its id, and the administrator in it.
    pub async fn second_organization(&self, slug: &str) -> (String, Client) {
        let body = json!({ "slug": slug, "displayName": slug });
        let id = self.admin.post("/api/organizations", body).await.expect(201).id();
        (id.clone(), self.admin.within(&id))
    }
}

/// The program that reads files, beside the tests' own; built where it is not there.
fn reader() -> PathBuf {
    let own = std::env::current_exe().expect("the program of the test");
    let folder = own.ancestors().nth(2).expect("the folder of programs").to_owned();
    let program = folder.join("parse-worker");
    if !program.exists() {
        let mut cargo = heddle_harness_kit::workspace::cargo();
        cargo.args(["build", "--package", "heddle-extract", "--bin", "parse-worker"]);
        cargo.arg("--target-dir").arg(folder.parent().expect("the target folder"));
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().expect("cargo").success(), "the program that reads files can't be built");
    }
    program
}

/// Actions of a caller on workflows and runs.
impl Client {
    /// Makes a workflow of a definition; its id.
    pub async fn create(&self, slug: &str, definition: Value) -> String {
        let body = json!({ "slug": slug, "displayName": slug, "description": "", "definition": definition });
        self.post("/api/workflows", body).await.expect(201).id()
    }

    /// Makes and publishes a workflow of a definition; its id.
    pub async fn publish(&self, slug: &str, definition: Value) -> String {
        let id = self.create(slug, definition).await;
        let _ = self.post(&format!("/api/workflows/{id}/publish"), json!({})).await.expect(200);
        id
    }

    /// Previews a BPMN file; what it becomes, with its claim to the source.
    pub async fn preview(&self, file_name: &str, xml: &str) -> Value {
        let source = json!({ "format": "bpmn", "fileName": file_name, "content": xml });
        let preview = self.post("/api/workflows/transform/preview", json!({ "source": source })).await;
        let mut preview = preview.expect(200).data();
        let mut definition = preview["definition"].take();
        definition["imports"] = json!([preview["import"].take()]);
        definition
    }

    /// Makes and publishes a workflow of a BPMN file; its id.
    pub async fn publish_bpmn(&self, slug: &str, xml: &str) -> String {
        let definition = self.preview(&format!("{slug}.bpmn"), xml).await;
        self.publish(slug, definition).await
    }

    /// Starts a run; the run.
    pub async fn run(&self, workflow: &str, body: Value) -> Value {
        self.post(&format!("/api/workflows/{workflow}/runs"), body).await.expect(201).data()
    }

    /// A run as it is now.
    pub async fn run_now(&self, workflow: &str, run: &str) -> Value {
        self.get(&format!("/api/workflows/{workflow}/runs/{run}?include=variables")).await.expect(200).data()
    }

    /// Waits until a run is in a state; the run.
    pub async fn run_in(&self, workflow: &str, run: &str, state: &str) -> Value {
        eventually(&format!("run {state}"), async || {
            let now = self.run_now(workflow, run).await;
            (now["state"] == state).then_some(now)
        })
        .await
    }

    /// The events of a run from its start.
    pub async fn events(&self, workflow: &str, run: &str) -> Vec<Value> {
        let page =
            self.get(&format!("/api/workflows/{workflow}/runs/{run}/events?limit=200")).await.expect(200);
        page.data().as_array().cloned().unwrap_or_default()
    }

    /// Decides on a run.
    pub async fn decide(&self, workflow: &str, run: &str, body: Value) -> Answer {
        self.post(&format!("/api/workflows/{workflow}/runs/{run}/decision"), body).await
    }

    /// Completes the human task of a node.
    pub async fn complete(&self, workflow: &str, run: &str, node: &str, body: Value) -> Answer {
        let path = format!("/api/workflows/{workflow}/runs/{run}/human-tasks/{node}/complete");
        self.post(&path, body).await
    }

    /// The workflow of the caller's organisation with a slug.
    pub async fn workflow(&self, slug: &str) -> String {
        let all = self.get("/api/workflows?limit=200").await.expect(200).data();
        let found = all.as_array().into_iter().flatten().find(|workflow| workflow["slug"] == slug);
        found.and_then(|workflow| workflow["id"].as_str()).unwrap_or_else(|| panic!("no {slug}")).to_owned()
    }
}

/// Asks until there is an answer; fails the test when there is none for long.
pub async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let end = tokio::time::Instant::now() + PATIENCE;
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(tokio::time::Instant::now() < end, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
