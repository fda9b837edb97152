//! Makes the fixtures with a given program: `EARLIER_PROGRAM=PROGRAM cargo test -p heddle-server --test it makes_the_data
//! -- --ignored`. They are made once, by the program of the day that they stand for.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, RwLock};

use heddle_store::{Db, Options};
use heddle_testkit::app::PASSWORD as PERSONS;
use heddle_testkit::db::Cluster;
use heddle_testkit::{Client, eventually};
use serde_json::{Value, json};

use super::cases::{self, Case};
use super::opened::SCHEMA;
use super::told::Told;
use super::{PASSWORD, Record, folder};

/// A started program with its data.
struct Program {
    child: Child,
    data: PathBuf,
    ready: Value,
    _folder: tempfile::TempDir,
}

impl Program {
    async fn start(program: &Path, database_url: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (data, ready) = (folder.path().join("data"), folder.path().join("ready.json"));
        let mut command = Command::new(program);
        command.env("HEDDLE_LOG", "warn");
        command.args(["serve", "--demo", "--test-clock", "--listen", "127.0.0.1:0", "--data-dir"]).arg(&data);
        command.arg("--ready-file").arg(&ready).stdout(Stdio::null());
        if let Some(url) = database_url {
            command.args(["--database-url", url]);
        }
        let child = command.spawn().unwrap();
        let ready = eventually("the program", async || {
            let text = std::fs::read_to_string(&ready).ok()?;
            serde_json::from_str::<Value>(&text).ok()
        })
        .await;
        Self { child, data, ready, _folder: folder }
    }

    /// Ends it in order, so that the database is one whole file.
    fn stop(&mut self) {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(asked.success());
        assert!(self.child.wait().unwrap().success());
        let log = self.data.join("heddle.db-wal");
        assert!(std::fs::metadata(log).map_or(0, |log| log.len()) == 0, "the log is not in the database");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
#[ignore = "makes the fixtures anew with the program that EARLIER_PROGRAM names"]
async fn makes_the_data() {
    let program =
        PathBuf::from(std::env::var_os("EARLIER_PROGRAM").expect("EARLIER_PROGRAM names a program"));
    for kind in ["sqlite", "postgres"] {
        std::fs::create_dir_all(folder(kind)).unwrap();
        let cluster = (kind == "postgres").then(|| Cluster::private().unwrap().expect("PostgreSQL"));
        let url = match &cluster {
            Some(cluster) => {
                execute(&cluster.address(), &format!("CREATE SCHEMA {SCHEMA}")).await;
                Some(format!("{}&options=-csearch_path%3D{SCHEMA}", cluster.address()))
            }
            None => None,
        };
        let mut running = Program::start(&program, url.as_deref()).await;
        let address = running.ready["address"].as_str().unwrap().to_owned();
        let client = Client::anonymous(Arc::new(RwLock::new(address)));
        let (record, told) = fill(&client, &running.ready).await;
        running.stop();
        for name in ["heddle.key", "heddle.keyring"] {
            let key = folder(kind).join(name);
            std::fs::copy(running.data.join(name), &key).unwrap();
            std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        match &cluster {
            Some(cluster) => std::fs::write(folder(kind).join("dump.sql"), dump(cluster)).unwrap(),
            None => {
                let bytes = std::fs::read(running.data.join("heddle.db")).unwrap();
                let packed = zstd::encode_all(bytes.as_slice(), 19).unwrap();
                std::fs::write(folder(kind).join("heddle.db.zst"), packed).unwrap();
            }
        }
        let text = serde_json::to_string_pretty(&record).unwrap();
        std::fs::write(folder(kind).join("record.json"), text + "\n").unwrap();
        Told::write(kind, &told);
    }
}

async fn execute(address: &str, statements: &str) {
    let Db::Postgres(postgres) = Db::open(address, &Options::default()).await.unwrap() else {
        unreachable!()
    };
    postgres.execute_batch(statements).await.unwrap();
    postgres.close();
}

/// The dump without psql's own commands, so that any driver can run it in a schema that is there.
fn dump(cluster: &Cluster) -> String {
    let mut command = Command::new("pg_dump");
    command.args(["--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=100", "--schema", SCHEMA]);
    let output = command.arg(format!("--dbname={}", cluster.address())).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let kept = text.lines().filter(|line| !line.starts_with('\\') && !line.starts_with("CREATE SCHEMA "));
    let kept: String = kept.flat_map(|line| [line, "\n"]).collect();
    format!("{}\n", kept.trim_end())
}

/// Makes everything, and asks for all of it.
async fn fill(anonymous: &Client, ready: &Value) -> (Record, Vec<Told>) {
    let text = |name: &str| ready[name].as_str().unwrap().to_owned();
    let mut record = Record { email: text("email"), ..Record::default() };
    record.organizations[0] = text("organizationId");
    let signing = json!({ "email": record.email, "password": text("password") });
    let token = anonymous.post("/api/auth/sign-in", signing).await.expect(200).data()["token"].take();
    let admin = anonymous.bearer(token.as_str().unwrap());
    let change = json!({ "currentPassword": text("password"), "newPassword": PASSWORD });
    let _ = admin.put("/api/auth/password", change).await.expect(204);
    workflows(&admin, &mut record).await;
    people(&admin, &mut record).await;
    let other = elsewhere(&admin, &mut record).await;
    rights(&admin, anonymous, &mut record).await;
    tokens(&admin, &mut record).await;
    for case in cases::all() {
        run(&admin, &mut record, &case).await;
    }
    kept_answers(&admin, &mut record).await;
    let moment = admin.post("/api/test/clock", json!({ "advance": "PT0S" })).await.expect(200).data();
    record.made_at = moment["now"].as_str().unwrap().to_owned();
    let told = ask(&admin, &record, &other).await;
    (record, told)
}

async fn workflows(admin: &Client, record: &mut Record) {
    let demos = ["purchase-approval", "onboarding", "answer-deadline"];
    for slug in demos {
        record.workflows.insert(slug.to_owned(), admin.workflow(slug).await);
    }
    let imported = [
        "task",
        "assigned",
        "timers",
        "messages",
        "later",
        "signals",
        "throws",
        "race",
        "nested",
        "parallel",
        "inclusive",
        "incident",
        "failing",
        "by-timer",
        "by-message",
        "by-signal",
    ];
    for slug in imported {
        let id = admin.publish_bpmn(slug, &cases::model(&format!("{slug}.bpmn"))).await;
        record.workflows.insert(slug.to_owned(), id);
    }
    // Drafts that can't be published, with what has no member of its own; one of which lost the element of it.
    for slug in ["preserved", "connections"] {
        let definition = admin.preview(&format!("{slug}.bpmn"), &cases::model(&format!("{slug}.bpmn"))).await;
        assert!(definition.to_string().contains("heddle:residue"));
        record.workflows.insert(slug.to_owned(), admin.create(slug, definition).await);
    }
    let mut orphaned = admin.preview("orphaned.bpmn", &cases::model("preserved.bpmn")).await;
    let nodes = orphaned["bpmn"]["processes"][0]["nodes"].as_array_mut().unwrap();
    nodes.retain(|node| node["id"] != "check" && node["id"] != "late");
    record.workflows.insert("orphaned".to_owned(), admin.create("orphaned", orphaned).await);
    record.workflows.insert("decide".to_owned(), admin.publish("decide", cases::deciding()).await);
    let fees = json!({ "dmn": { "fileName": "fees.dmn", "sourceXml": cases::model("fees.dmn") } });
    record.workflows.insert("fees".to_owned(), admin.publish("fees", fees).await);
    let versions = admin.publish("versions", cases::chain(&["first", "second"])).await;
    let path = format!("/api/workflows/{versions}");
    for (tasks, note) in [(&["second"][..], "without the first"), (&["third"][..], "another")] {
        let body = json!({ "definition": cases::chain(tasks) });
        let _ = admin.put(&format!("{path}/draft"), body).await.expect(200);
        let _ = admin.post(&format!("{path}/publish"), json!({ "changeNote": note })).await.expect(200);
    }
    let body = json!({ "definition": cases::chain(&["third", "fourth"]) });
    let _ = admin.put(&format!("{path}/draft"), body).await.expect(200);
    let _ = admin.put(&format!("{path}/star"), json!({})).await;
    record.workflows.insert("versions".to_owned(), versions);
    places(admin, record).await;
}

/// Folders, absent and null and gone, an archived workflow, a deleted one.
async fn places(admin: &Client, record: &mut Record) {
    let new = |slug: &str| json!({ "slug": slug, "displayName": "Ä name", "description": "Über \u{1f9f5}" });
    let mut in_folder = new("in-folder");
    (in_folder["folderId"], in_folder["definition"]) = (json!("finance/2026"), Value::Null);
    let mut in_none = new("in-none");
    (in_none["folderId"], in_none["definition"]) = (Value::Null, json!({ "nodes": [], "edges": [] }));
    for body in [in_folder, in_none, new("no-draft")] {
        let id = admin.post("/api/workflows", body.clone()).await.expect(201).id();
        record.workflows.insert(body["slug"].as_str().unwrap().to_owned(), id);
    }
    let archived = admin.publish("archived", cases::chain(&["work"])).await;
    let _ = admin.run(&archived, json!({})).await;
    let _ = admin.patch(&format!("/api/workflows/{archived}"), json!({ "archived": true })).await.expect(200);
    record.workflows.insert("archived".to_owned(), archived);
    let gone = admin.create("gone", json!({ "nodes": [], "edges": [] })).await;
    let _ = admin.delete(&format!("/api/workflows/{gone}")).await.expect(204);
}

async fn people(admin: &Client, record: &mut Record) {
    let reader = json!({ "name": "reader", "description": "Reads what it is granted",
        "permissions": ["workflows.view"], "deniedPermissions": ["audit.view"],
        "grants": [{ "resourceType": "workflow", "action": "export", "resourceId": "*", "effect": "deny" }] });
    let reader = admin.post("/api/roles", reader).await.expect(201).id();
    let roles = admin.get("/api/roles?limit=200").await.expect(200).data();
    let id_of = |name: &str| {
        let found = roles.as_array().unwrap().iter().find(|role| role["name"] == name).unwrap();
        found["id"].as_str().unwrap().to_owned()
    };
    record.people.insert("reader".to_owned(), reader.clone());
    let all = [
        ("ada", vec![reader]),
        ("bob", vec![id_of("worker")]),
        ("eve", vec![id_of("designer"), id_of("worker")]),
        ("dan", vec![id_of("viewer")]),
        ("uma", vec![id_of("viewer")]),
    ];
    for (name, roles) in all {
        let body = json!({ "email": format!("{name}@example.com"), "displayName": name, "password": PERSONS,
            "roles": roles });
        record.people.insert(name.to_owned(), admin.post("/api/users", body).await.expect(201).id());
    }
    // Tasks are for who belongs to a group, and the administrator takes them all.
    let own = admin.get("/api/auth/session").await.expect(200).data()["user"]["id"].take();
    let groups = json!({ "roles": [id_of("owner"), id_of("worker"), id_of("designer")] });
    let _ = admin.put(&format!("/api/members/{}", own.as_str().unwrap()), groups).await.expect(200);
    let until = json!({ "roles": [id_of("operator")], "expiresAt": "2100-01-01T00:00:00Z" });
    let _ = admin.put(&format!("/api/members/{}", record.people["uma"]), until).await.expect(200);
    let off = json!({ "state": "disabled" });
    let _ = admin.patch(&format!("/api/users/{}", record.people["dan"]), off).await.expect(200);
}

/// A second organisation with a workflow of the same slug and a waiting run.
async fn elsewhere(admin: &Client, record: &mut Record) -> Client {
    let body = json!({ "slug": "second", "displayName": "Second" });
    record.organizations[1] = admin.post("/api/organizations", body).await.expect(201).id();
    let other = admin.within(&record.organizations[1]);
    let task = other.publish("task", cases::chain(&["work"])).await;
    let run = other.run(&task, json!({})).await["id"].as_str().unwrap().to_owned();
    record.runs.insert("elsewhere".to_owned(), [task, run]);
    other
}

/// A deny and a grant for one workflow, and a refusal that the audit trail holds.
async fn rights(admin: &Client, anonymous: &Client, record: &mut Record) {
    let grant = |person: &str, workflow: &str, action: &str, effect: &str| {
        json!({ "principal": { "kind": "user", "id": record.people[person] }, "resourceType": "workflow",
            "action": action, "resourceId": record.workflows[workflow], "effect": effect, "reason": "For a while",
            "expiresAt": "2100-01-01T00:00:00Z" })
    };
    for body in [grant("eve", "parallel", "*", "deny"), grant("ada", "messages", "read", "allow")] {
        let _ = admin.post("/api/grants", body).await.expect(201);
    }
    let all = json!({ "principal": { "kind": "everyone" }, "resourceType": "workflow", "action": "delete",
        "resourceId": record.workflows["versions"], "effect": "deny" });
    let _ = admin.post("/api/grants", all).await.expect(201);
    let signing = json!({ "email": "eve@example.com", "password": PERSONS });
    let signed = anonymous.post("/api/auth/sign-in", signing).await.expect(200).data();
    let eve = anonymous.bearer(signed["token"].as_str().unwrap());
    let _ = eve.get(&format!("/api/workflows/{}", record.workflows["parallel"])).await.expect(403);
    let wrong = json!({ "email": "bob@example.com", "password": "not the password" });
    let _ = anonymous.post("/api/auth/sign-in", wrong).await.expect(401);
}

async fn tokens(admin: &Client, record: &mut Record) {
    let far = "2100-01-01T00:00:00Z";
    let make = async |body: Value| {
        admin.post("/api/auth/tokens", body).await.expect(201).data()["token"].as_str().unwrap().to_owned()
    };
    record.token = make(json!({ "name": "all", "expiresAt": far })).await;
    let organization = &record.organizations[0];
    let narrow = json!({ "name": "looks", "permissions": ["workflows.view"], "organizationId": organization,
        "expiresAt": far });
    record.narrow_token = make(narrow).await;
}

async fn run(admin: &Client, record: &mut Record, case: &Case) {
    let workflow = record.workflows[case.workflow].clone();
    let started = admin.run(&workflow, case.start.clone()).await;
    let id = started["id"].as_str().unwrap().to_owned();
    for step in &case.before {
        cases::take(admin, (&workflow, &id), step, &format!("{}-before", case.name)).await;
    }
    let now = admin.run_in(&workflow, &id, case.state).await;
    assert_eq!(now["state"], case.state, "{}: {now}", case.name);
    record.runs.insert(case.name.to_owned(), [workflow, id]);
}

/// A run that a message started, an event that is kept for who will wait, a start whose repeats get its answer.
async fn kept_answers(admin: &Client, record: &mut Record) {
    let event = |name: &str, key: &str| {
        json!({ "correlationKey": key, "eventType": name, "idempotencyKey": format!("{name}-{key}"),
            "payload": { "amount": 12.50, "text": "\u{1f9f5}" } })
    };
    let begun = admin.post("/api/case-events", event("ordered", "b-1")).await.expect(202).data();
    let run = begun["workflowRunIds"][0].as_str().unwrap().to_owned();
    let workflow = record.workflows["by-message"].clone();
    record.runs.insert("begun".to_owned(), [workflow, run]);
    let kept = admin.post("/api/case-events", event("announced", "l-1")).await.expect(202).data();
    record.buffered = format!("/api/case-events/{}", kept["event"]["id"].as_str().unwrap());
    let keyed = admin.with("idempotency-key", "first");
    let path = format!("/api/workflows/{}/runs", record.workflows["task"]);
    record.first_answer = keyed.post(&path, json!({ "businessKey": "first" })).await.expect(201).json();
}

/// Asks for everything that later programs have to answer as well.
async fn ask(admin: &Client, record: &Record, other: &Client) -> Vec<Told> {
    let mut paths = vec![
        "/api/workflows?limit=200&sort=createdAt".to_owned(),
        "/api/organizations?limit=200".to_owned(),
        "/api/users?limit=200".to_owned(),
        "/api/members?limit=200".to_owned(),
        "/api/grants?limit=200".to_owned(),
        "/api/auth/tokens?limit=200".to_owned(),
        "/api/human-tasks?limit=200".to_owned(),
        "/api/human-tasks?limit=200&state=completed".to_owned(),
        "/api/human-tasks?limit=200&assignee=me".to_owned(),
        format!("/api/audit-events?limit=200&to={}", record.made_at),
        format!("/api/roles/{}", record.people["reader"]),
        "/api/licence".to_owned(),
        record.buffered.clone(),
    ];
    for id in record.workflows.values() {
        let path = format!("/api/workflows/{id}");
        let versions = admin.get(&format!("{path}/versions?limit=200")).await.expect(200).data();
        let numbers = versions.as_array().unwrap().iter().map(|version| version["number"].to_string());
        for version in numbers.chain(["draft".to_owned()]) {
            paths.push(format!("{path}/export/bpmn?version={version}"));
            paths.push(format!("{path}/export/dmn?version={version}"));
        }
        paths.extend(
            ["/versions?limit=200", "/import-source", "/runs?limit=200"].map(|end| format!("{path}{end}")),
        );
        paths.push(path);
    }
    let [first, second] = &record.organizations;
    let mut told = Vec::new();
    for path in &paths {
        told.push(Told::ask(admin, first, path).await);
    }
    for (name, [workflow, run]) in &record.runs {
        let within = if name == "elsewhere" { second } else { first };
        let path = format!("/api/workflows/{workflow}/runs/{run}");
        told.push(Told::ask(admin, within, &format!("{path}?include=variables")).await);
        told.push(Told::ask(admin, within, &format!("{path}/events?limit=200")).await);
    }
    for path in ["/api/workflows?limit=200", "/api/human-tasks?limit=200", "/api/members?limit=200"] {
        told.push(Told::ask(other, second, path).await);
    }
    told
}
