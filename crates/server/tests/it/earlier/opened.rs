//! The present program on the data of the earlier one.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, RwLock};

use heddle_kernel::Timestamp;
use heddle_server::{Config, Durability, Server};
use heddle_store::Db;
use heddle_testkit::Client;
use heddle_testkit::app::PASSWORD as PERSONS;
use heddle_testkit::db::TestDb;
use serde_json::{Value, json};

use super::cases::{self, Case};
use super::told::{Change, Told};
use super::{PASSWORD, Record, folder};

/// The schema's name in the dump of PostgreSQL.
pub(crate) const SCHEMA: &str = "heddle_earlier";

/// A running server on a copy of the fixture, at the time at which it was made.
pub(crate) struct Opened {
    kind: String,
    record: Record,
    server: Server,
    anonymous: Client,
    admin: Client,
    _data: tempfile::TempDir,
    _db: Option<TestDb>,
}

impl Opened {
    /// Copies the fixture, migrates it and starts; none when there is no PostgreSQL here.
    pub(crate) async fn open(kind: &str) -> Option<Self> {
        let record = std::fs::read_to_string(folder(kind).join("record.json")).unwrap();
        let record: Record = serde_json::from_str(&record).unwrap();
        let made_at: Timestamp = record.made_at.parse().unwrap();
        let data = tempfile::tempdir().unwrap();
        let data_dir = data.path().join("data");
        std::fs::create_dir(&data_dir).unwrap();
        // A fixture of before connections has no keyring.
        for name in ["heddle.key", "heddle.keyring"].iter().filter(|name| folder(kind).join(name).exists()) {
            let key = data_dir.join(name);
            std::fs::copy(folder(kind).join(name), &key).unwrap();
            std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        let db = match kind {
            "postgres" => Some(restored(kind).await?),
            _ => {
                let packed = std::fs::read(folder(kind).join("heddle.db.zst")).unwrap();
                let bytes = zstd::decode_all(packed.as_slice()).unwrap();
                std::fs::write(data_dir.join("heddle.db"), bytes).unwrap();
                None
            }
        };
        let config = Config {
            data_dir,
            listen: ([127, 0, 0, 1], 0).into(),
            database_url: db.as_ref().map(|db| db.address().to_owned()),
            durability: Durability::Process,
            test_clock: true,
            clock_begins: Some(made_at.plus_seconds(1)),
            workers: 2,
            ..Config::default()
        };
        let server = Server::start(config).await.unwrap();
        let anonymous = Client::anonymous(Arc::new(RwLock::new(format!("http://{}", server.address()))));
        let admin = sign_in(&anonymous, &record.email, PASSWORD).await;
        Some(Self { kind: kind.to_owned(), record, server, anonymous, admin, _data: data, _db: db })
    }

    /// Stops the server.
    pub(crate) async fn stop(self) {
        self.server.stop().await;
    }

    /// What the earlier program answered is answered still: lists, definitions, versions, exports, runs, events, rights.
    pub(crate) async fn says_what_was_said(&self, meant: &[Change]) {
        let told = Told::read(&self.kind);
        assert!(told.len() > 200, "{}", told.len());
        let mut wrong = String::new();
        for then in told {
            let now = Told::ask(&self.admin, &then.within, &then.path).await;
            let path = then.path.clone();
            let then = then.changed(meant).without(super::LEFT_OUT).open_alone().with_new_limits();
            let differences = then.differences(&now);
            if !differences.is_empty() {
                wrong.push_str(&format!("{path}:\n  {}\n", differences.join("\n  ")));
            }
        }
        assert!(wrong.is_empty(), "on {}, what was said before is no longer said:\n{wrong}", self.kind);
    }

    /// API tokens, passwords, roles, grants and denies hold.
    pub(crate) async fn knows_people_and_their_rights(&self) {
        let record = &self.record;
        let path = |slug: &str| format!("/api/workflows/{}", record.workflows[slug]);
        let token = self.anonymous.bearer(&record.token);
        let _ = token.get("/api/users").await.expect(200);
        let narrow = self.anonymous.bearer(&record.narrow_token);
        let _ = narrow.get(&path("task")).await.expect(200);
        let _ = narrow.post("/api/workflows", json!({})).await.expect(403);
        let _ = narrow.within(&record.organizations[1]).get("/api/workflows").await.expect(403);

        let eve = sign_in(&self.anonymous, "eve@example.com", PERSONS).await;
        let _ = eve.get(&path("task")).await.expect(200);
        let _ = eve.get(&path("parallel")).await.expect(403);
        let (workflow, run) = record.run("parallel");
        let _ = eve.get(&format!("/api/workflows/{workflow}/runs/{run}")).await.expect(403);
        let listed = eve.get("/api/workflows?limit=200").await.expect(200).text();
        assert!(!listed.contains(workflow) && listed.contains(&record.workflows["task"]), "{listed}");

        let ada = sign_in(&self.anonymous, "ada@example.com", PERSONS).await;
        let _ = ada.get(&path("messages")).await.expect(200);
        let _ = ada.get(&path("task")).await.expect(403);
        let _ = ada.get(&format!("{}/export/bpmn", path("messages"))).await.expect(403);
        let listed = ada.get("/api/workflows?limit=200").await.expect(200).data();
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        let _ = self.admin.delete(&path("versions")).await.expect(403);

        let off = json!({ "email": "dan@example.com", "password": PERSONS });
        let _ = self.anonymous.post("/api/auth/sign-in", off).await.expect(401);
        let bob = sign_in(&self.anonymous, "bob@example.com", PERSONS).await;
        let (_, open) = record.run("unassigned");
        let work = bob.get("/api/human-tasks?candidate=me&limit=200").await.expect(200).text();
        assert!(work.contains(open), "{work}");
    }

    /// A repeat gets the answer that the earlier program gave; so does one of an event.
    pub(crate) async fn repeats_first_answers(&self) {
        let keyed = self.admin.with("idempotency-key", "first");
        let path = format!("/api/workflows/{}/runs", self.record.workflows["task"]);
        let again = keyed.post(&path, json!({ "businessKey": "first" })).await.expect(201);
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!(again.json(), self.record.first_answer);
        let _ =
            keyed.post(&path, json!({ "businessKey": "other" })).await.refused(409, "idempotencyKeyReused");
        let kept = self.admin.get(&self.record.buffered).await.expect(200).data();
        assert_eq!(kept["state"], "buffered", "{kept}");
        let mut body = json!({ "payload": kept["event"]["payload"] });
        for name in ["correlationKey", "eventType", "idempotencyKey"] {
            body[name] = kept["event"][name].clone();
        }
        let again = self.admin.post("/api/case-events", body).await.expect(202).data();
        assert_eq!(again["event"]["id"], kept["event"]["id"]);
    }

    /// A draft that is saved as it was read stays what it was; a draft becomes the next version; an old version starts.
    pub(crate) async fn keeps_drafts_and_versions(&self) {
        for slug in ["preserved", "connections", "orphaned"] {
            let path = format!("/api/workflows/{}", self.record.workflows[slug]);
            let before = self.admin.get(&path).await.expect(200).data();
            let export = format!("{path}/export/bpmn?version=draft");
            let exported = self.admin.get(&export).await.expect(200).text();
            let body = json!({ "definition": before["definition"] });
            let saved = self.admin.put(&format!("{path}/draft"), body).await.expect(200).data();
            assert!(saved["diagnostics"].is_array(), "{saved}");
            let after = self.admin.get(&path).await.expect(200).data();
            assert_eq!(before["definition"], after["definition"], "{slug}");
            assert_eq!(self.admin.get(&export).await.expect(200).text(), exported, "{slug}");
        }
        let versions = &self.record.workflows["versions"];
        let path = format!("/api/workflows/{versions}");
        let next = self.admin.post(&format!("{path}/publish"), json!({})).await.expect(200).data();
        assert_eq!(next["number"], 4, "{next}");
        let old = self.admin.run(versions, json!({ "version": 2 })).await;
        assert_eq!(old["humanTasks"][0]["nodeId"], "second", "{old}");
        // What is published already is the same text still, and no version more.
        for slug in ["task", "messages", "nested", "fees", "purchase-approval"] {
            let path = format!("/api/workflows/{}/publish", self.record.workflows[slug]);
            let same = self.admin.post(&path, json!({})).await.expect(200).data();
            assert_eq!(same["number"], 1, "{slug}: {same}");
        }
        // What it asks for and never got is refused by name since; its version runs on.
        let asks = &self.record.workflows["decide"];
        let path = format!("/api/workflows/{asks}/publish");
        let refused = self.admin.post(&path, json!({})).await.refused(400, "notExecutable");
        let fields = refused["details"].as_array().unwrap().iter().map(|detail| &detail["field"]);
        assert_eq!(
            fields.collect::<Vec<_>>(),
            ["definition.protection.customChecks[0]", "definition.nodes[4].configuration.own"]
        );
        let _ = self.admin.run(asks, json!({})).await;
        self.keeps_tasks_with_their_lanes().await;
    }

    /// A version of the earlier program offers its open tasks to their lanes; the same text published by now opens them.
    async fn keeps_tasks_with_their_lanes(&self) {
        let parallel = &self.record.workflows["parallel"];
        let started = async |body: Value| {
            let run = self.admin.run(parallel, body).await;
            let tasks = run["humanTasks"].as_array().unwrap();
            let groups = |node: &str| {
                let own = tasks.iter().find(|task| task["nodeId"] == node);
                own.map(|task| task["candidateGroups"].clone())
            };
            [groups("one"), groups("two")]
        };
        let by_lane = [Some(json!(["worker"])), Some(json!(["designer"]))];
        assert_eq!(started(json!({})).await, by_lane, "before it is published again");
        for number in [2, 2] {
            let path = format!("/api/workflows/{parallel}/publish");
            let next = self.admin.post(&path, json!({})).await.expect(200).data();
            assert_eq!(next["number"], number, "{next}");
        }
        assert_eq!(started(json!({})).await, [Some(json!([])), Some(json!([]))]);
        assert_eq!(started(json!({ "version": 1 })).await, by_lane);
    }

    /// Every run goes on to its end: by people, messages and signals at once, by time when days have passed.
    pub(crate) async fn runs_on(&self) {
        let all = cases::all();
        for case in &all {
            self.steps(&self.admin, case, &case.now, "now").await;
        }
        let status = self.admin.get(&self.record.buffered).await.expect(200).data();
        assert_eq!(status["workflowRunIds"], json!([self.record.run("kept-for").1]), "{status}");
        self.starts().await;
        let advance = |by: &str| json!({ "advance": by });
        let _ = self.admin.post("/api/test/clock", advance("PT8H")).await.expect(200);
        // Sessions end by time.
        let admin = sign_in(&self.anonymous, &self.record.email, PASSWORD).await;
        assert_eq!(self.count(&admin, "by-timer").await, 1, "runs that the timer began");
        let _ = admin.post("/api/test/clock", advance("P4D")).await.expect(200);
        let admin = sign_in(&self.anonymous, &self.record.email, PASSWORD).await;
        for case in &all {
            self.steps(&admin, case, &case.later, "later").await;
            let (workflow, run) = self.record.run(case.name);
            let ended = admin.run_in(workflow, run, case.ends).await;
            for (name, value) in case.output.as_object().unwrap() {
                assert_eq!(&ended["output"][name], value, "{}: {ended}", case.name);
            }
        }
        self.histories(&admin, &all).await;
    }

    async fn steps(&self, client: &Client, case: &Case, steps: &[cases::Step], when: &str) {
        for step in steps {
            eprintln!("{} {when}", case.name);
            cases::take(client, self.record.run(case.name), step, &format!("{}-{when}", case.name)).await;
        }
    }

    /// What begins runs of the versions that the earlier program published, and what one of those began.
    async fn starts(&self) {
        let (workflow, run) = self.record.run("begun");
        let _ = self.admin.complete(workflow, run, "work", json!({})).await.expect(200);
        let _ = self.admin.run_in(workflow, run, "completed").await;
        let event =
            json!({ "correlationKey": "b-2", "eventType": "ordered", "idempotencyKey": "b-2", "payload": 1 });
        let sent = self.admin.post("/api/case-events", event).await.expect(202).data();
        assert_eq!(sent["workflowRunIds"].as_array().map(Vec::len), Some(1), "{sent}");
        let signal = json!({ "name": "opening", "payload": {}, "idempotencyKey": "opening" });
        let _ = self.admin.post("/api/signals", signal).await.expect(202);
        assert_eq!(
            (self.count(&self.admin, "by-message").await, self.count(&self.admin, "by-signal").await),
            (2, 1)
        );
        let other = self.admin.within(&self.record.organizations[1]);
        let (workflow, run) = self.record.run("elsewhere");
        let _ = other.complete(workflow, run, "work", json!({})).await.expect(200);
        let refused = self.admin.post(&self.path("archived", "/runs"), json!({})).await;
        assert_eq!(refused.status, 409, "{}", refused.text());
    }

    /// The events of a run are counted on from where the earlier program left them.
    async fn histories(&self, client: &Client, all: &[Case]) {
        for case in all {
            let (workflow, run) = self.record.run(case.name);
            let events = client.events(workflow, run).await;
            let numbers: Vec<_> = events.iter().map(|event| event["sequence"].clone()).collect();
            let expected: Vec<_> = (1..=events.len()).map(Value::from).collect();
            assert_eq!(numbers, expected, "{}", case.name);
        }
    }

    fn path(&self, slug: &str, end: &str) -> String {
        format!("/api/workflows/{}{end}", self.record.workflows[slug])
    }

    async fn count(&self, client: &Client, slug: &str) -> usize {
        let runs = client.get(&self.path(slug, "/runs?limit=200")).await.expect(200).data();
        runs.as_array().map_or(0, Vec::len)
    }
}

/// The dump in a schema of its own.
async fn restored(kind: &str) -> Option<TestDb> {
    let empty = TestDb::postgres_empty().await?;
    let dump = std::fs::read_to_string(folder(kind).join("dump.sql")).unwrap();
    let (_, schema) = empty.address().split_once("search_path%3D").unwrap();
    let Db::Postgres(postgres) = empty.db() else { unreachable!() };
    postgres.execute_batch(&dump.replace(SCHEMA, schema)).await.unwrap();
    Some(empty)
}

async fn sign_in(anonymous: &Client, email: &str, password: &str) -> Client {
    let body = json!({ "email": email, "password": password });
    let answer = anonymous.post("/api/auth/sign-in", body).await.expect(200).data();
    anonymous.bearer(answer["token"].as_str().unwrap())
}
