//! Every command in all three ways: over the socket of a running server, over HTTP with a token, and without a server.

use super::*;

/// A process of one task with a job.
const WITH_A_JOB: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<b:definitions xmlns:b="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:z="http://camunda.org/schema/zeebe/1.0"
    targetNamespace="t" id="d">
  <b:process id="p" isExecutable="true">
    <b:startEvent id="s"/>
    <b:serviceTask id="work"><b:extensionElements><z:taskDefinition type="{type}"/></b:extensionElements></b:serviceTask>
    <b:endEvent id="e"/>
    <b:sequenceFlow id="f1" sourceRef="s" targetRef="work"/>
    <b:sequenceFlow id="f2" sourceRef="work" targetRef="e"/>
  </b:process>
</b:definitions>"#;

/// A process whose only start waits for a message.
const BY_A_MESSAGE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<b:definitions xmlns:b="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t" id="d">
  <b:message id="m" name="{message}"/>
  <b:process id="p" isExecutable="true">
    <b:startEvent id="order"><b:messageEventDefinition id="by" messageRef="m"/></b:startEvent>
    <b:endEvent id="e"/>
    <b:sequenceFlow id="f" sourceRef="order" targetRef="e"/>
  </b:process>
</b:definitions>"#;

/// Way by which commands reach the service.
struct Way<'a> {
    name: &'static str,
    folder: &'a Path,
    place: Vec<String>,
    token: Option<String>,
}

impl Way<'_> {
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = heddle(self.folder);
        if let Some(token) = &self.token {
            command.env("HEDDLE_TOKEN", token);
        }
        command.args(arguments).args(&self.place).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(code(&output), 0, "{}: {arguments:?}: {}", self.name, told(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs every command once, under names of its own.
    fn do_everything(&self) {
        let slug = format!("by-{}", self.name);
        let (slug, mail) = (slug.as_str(), format!("bob@{}.test", self.name));
        let made = self.json(&["workflow", "import", APPROVAL, "--slug", slug, "--publish"]);
        assert_eq!(
            (&made["workflows"][0]["slug"], &made["workflows"][0]["version"]),
            (&json!(slug), &json!(1))
        );
        let listed = self.json(&["workflow", "list", "--search", slug]);
        assert_eq!(listed["workflows"][0]["slug"], slug);
        assert_eq!(self.json(&["workflow", "get", slug])["state"], "published");
        assert_eq!(self.json(&["workflow", "validate", slug])["workflows"][0]["executable"], true);
        assert_eq!(self.json(&["workflow", "publish", slug])["number"], 1, "nothing has changed");
        for (format, word) in
            [("bpmn", "<bpmn:definitions"), ("json", "\"nodes\""), ("source", "<bpmn:definitions")]
        {
            let exported = self.json(&["workflow", "export", slug, "--format", format]);
            assert!(exported["content"].as_str().unwrap().contains(word), "{format}");
        }
        self.explain_access(slug);
        self.run_and_work(slug);
        self.work_as_a_worker();
        self.start_by_an_event();
        self.manage_people(&mail);
        assert_eq!(
            self.json(&["event", "send", "nobody-waits", "--correlation-key", "k"])["workflowRunIds"],
            json!([])
        );
        assert_eq!(self.json(&["event", "signal", "nobody-listens"])["workflowRunIds"], json!([]));
        assert_eq!(self.json(&["dead-letter", "list"])["deadLetters"], json!([]));
        assert_eq!(self.json(&["connection", "list"])["connections"], json!([]));
        assert_eq!(self.json(&["connection", "list", "--type", "smtp", "-q", "x"])["connections"], json!([]));
        assert_eq!(code(&self.run(&["connection", "test", "absent"])), 3);
        self.keep_documents();
        assert_eq!(self.json(&["licence", "show"])["state"], "trial");
        assert_eq!(self.json(&["workflow", "archive", slug])["state"], "archived");
        assert_eq!(self.json(&["workflow", "delete", slug])["deleted"], true);
        assert_eq!(code(&self.run(&["workflow", "get", slug])), 3);
    }

    fn keep_documents(&self) {
        let name = format!("docs-{}", self.name);
        let name = name.as_str();
        let file = self.folder.join(format!("{}.md", self.name));
        std::fs::write(&file, format!("# Note\n\nA loom of {} wood.", self.name)).unwrap();
        let create = ["vector-database", "create", name, "--model", "none", "--field", "year=number"];
        assert_eq!(self.json(&create)["name"], name);
        let listed = self.json(&["vector-database", "list", "-q", name]);
        assert_eq!(listed["vectorDatabases"][0]["name"], name);
        let update = ["vector-database", "update", name, "--display-name", "Documents"];
        assert_eq!(self.json(&update)["displayName"], "Documents");
        let upload = ["file", "upload", name, file.to_str().unwrap(), "--metadata", r#"{"year": 2024}"#];
        // Without a server nobody reads files.
        if self.name == "own" {
            let job = self.json(&upload)["job"]["id"].as_str().unwrap().to_owned();
            assert_eq!(self.json(&["ingestion-job", "get", &job])["state"], "queued");
            let _ = self.json(&["ingestion-job", "cancel", &job]);
            let jobs = self.json(&["ingestion-job", "list", "--database", name]);
            assert_eq!(jobs["ingestionJobs"][0]["state"], "cancelled");
        } else {
            let job = self.json(&[upload.as_slice(), &["--wait"]].concat());
            assert_eq!(job["state"], "completed", "{job}");
            let answer = self.json(&["query", name, "Of which wood is the loom?", "--limit", "1"]);
            assert_eq!(answer["passages"][0]["metadata"]["year"], 2024, "{answer}");
        }
        let shown = format!("{}.md", self.name);
        assert_eq!(self.json(&["file", "list", name])["files"][0]["name"], shown.as_str());
        assert_eq!(self.json(&["file", "show", name, &shown])["metadata"]["year"], 2024);
        let _ = self.json(&["file", "delete", name, &shown]);
        assert_eq!(code(&self.run(&["file", "show", name, &shown])), 3);
        let _ = self.json(&["vector-database", "delete", name]);
        assert_eq!(code(&self.run(&["vector-database", "get", name])), 3);
        std::fs::remove_file(file).unwrap();
    }

    fn explain_access(&self, slug: &str) {
        let thing = format!("workflow/{slug}");
        for user in ["me", ADMINISTRATOR] {
            let told = self.json(&["access", "explain", user, "delete", &thing]);
            assert_eq!((&told["decision"], &told["context"]["reason"]), (&json!(true), &json!("GRANTED")));
            assert_eq!(told["context"]["permission"], "workflows.manage", "{told}");
            assert!(told["context"]["steps"].as_array().unwrap().iter().all(|step| step["passed"] == true));
        }
        let refused = self.run(&["access", "explain", "me", "fly", &thing]);
        assert_eq!(code(&refused), 1, "{}", told(&refused));
        assert!(String::from_utf8_lossy(&refused.stdout).starts_with("denied: UNKNOWN_ACTION"));
        assert_eq!(code(&self.run(&["access", "explain", "nobody@nowhere.test", "read", "workflow"])), 3);
    }

    fn run_and_work(&self, slug: &str) {
        let input = r#"{"amount": 800}"#;
        let started = self.json(&["run", "start", slug, "--input", input, "--business-key", "k1"]);
        let id = started["id"].as_str().unwrap();
        assert_eq!(self.json(&["run", "list", slug, "--state", "waiting"])["runs"][0]["businessKey"], "k1");
        assert_eq!(self.json(&["run", "get", id])["variables"]["amount"], 800);
        let tasks = self.json(&["task", "list", "--run", id]);
        let task = tasks["tasks"][0]["id"].as_str().unwrap();
        self.assign(task, &["--nobody"], &json!(null));
        let other = self.run(&["task", "assign", task, "nobody@nowhere.test"]);
        assert!(code(&other) == 1 && told(&other).contains("nobody@nowhere.test"), "{}", told(&other));
        assert_eq!(code(&self.run(&["task", "assign", task, ADMINISTRATOR, "--nobody"])), 2);
        let colleague = format!("eve@{}.test", self.name);
        let _ = self.json(&["user", "invite", &colleague, "--role", "worker"]);
        self.assign(task, &[&colleague], &json!(colleague));
        let refused = self.run(&["task", "complete", task, "--outcome", "approved"]);
        let way = format!("heddle task assign {task}");
        assert!(code(&refused) == 1 && told(&refused).contains(&way), "{}", told(&refused));
        self.assign(task, &["--run", id], &json!(ADMINISTRATOR));
        let values = ["--values", r#"{"approved": true}"#];
        let done =
            self.json(&[&["task", "complete", task, "--outcome", "approved"], values.as_slice()].concat());
        assert_eq!(done["run"]["state"], "completed");
        let events = self.run(&["run", "tail", id, "--json"]);
        assert_eq!(code(&events), 0, "{}", told(&events));
        let text = String::from_utf8(events.stdout).unwrap();
        let kinds: Vec<_> =
            text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone()).collect();
        assert_eq!(
            (kinds.first(), kinds.last()),
            (Some(&json!("run.started")), Some(&json!("run.completed")))
        );
        // A run with an incident is looked at and cancelled.
        let other = self.json(&["run", "start", slug, "--input", input]);
        let id = other["id"].as_str().unwrap();
        let nothing = self.run(&["run", "retry", id, "--workflow", slug]);
        assert!(code(&nothing) == 1 && told(&nothing).contains("no incident"), "{}", told(&nothing));
        assert_eq!(self.json(&["run", "cancel", id, "--reason", "a test"])["state"], "cancelled");
        assert_eq!(self.json(&["run", "cancel", id, "--purge"])["removed"], true);
        assert_eq!(code(&self.run(&["run", "get", id])), 3);
    }

    /// Assigns a task, and finds its assignee.
    fn assign(&self, task: &str, to: &[&str], expected: &Value) {
        let task = self.json(&[&["task", "assign", task], to].concat());
        let users = self.json(&["user", "list"])["users"].take();
        let mut users = users.as_array().unwrap().iter();
        let found = expected.as_str().map(|mail| users.find(|user| user["email"] == mail).unwrap());
        assert_eq!(&task["assignee"], found.map_or(&Value::Null, |user| &user["id"]), "{task}");
    }

    /// Starts what waits for a message, by the ways that the refusal names.
    fn start_by_an_event(&self) {
        let (slug, message) = (format!("event-{}", self.name), format!("order-{}", self.name));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("event.bpmn");
        std::fs::write(&file, BY_A_MESSAGE.replace("{message}", &message)).unwrap();
        let _ = self.json(&["workflow", "import", file.to_str().unwrap(), "--slug", &slug, "--publish"]);
        let refused = self.run(&["run", "start", &slug]);
        assert_eq!(code(&refused), 1, "{}", told(&refused));
        for way in ["startNodeId", "--start-node ID", "heddle event send", "POST /api/case-events"] {
            assert!(told(&refused).contains(way), "{}", told(&refused));
        }
        let begun = self.json(&["run", "start", &slug, "--start-node", "order", "--wait", "completion"]);
        assert_eq!(begun["state"], "completed", "{begun}");
        let sent = self.json(&["event", "send", &message, "--correlation-key", "k"]);
        assert_eq!(sent["workflowRunIds"].as_array().unwrap().len(), 1, "{sent}");
    }

    /// Takes, fails at and completes the job of a run.
    fn work_as_a_worker(&self) {
        let (slug, kind) = (format!("jobs-{}", self.name), format!("ship-{}", self.name));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("jobs.bpmn");
        std::fs::write(&file, WITH_A_JOB.replace("{type}", &kind)).unwrap();
        let path = file.to_str().unwrap();
        let _ = self.json(&["workflow", "import", path, "--slug", &slug, "--publish"]);
        let run = self.json(&["run", "start", &slug])["id"].as_str().unwrap().to_owned();
        let listed = self.json(&["job", "list", "--type", &kind, "--run", &run, "--workflow", &slug]);
        let job = listed["jobs"][0]["id"].as_str().unwrap().to_owned();
        for (end, state) in [
            (
                vec!["fail", &job, "--message", "no carrier", "--retries", "1", "--retry-after-ms", "0"],
                "ready",
            ),
            (vec!["complete", &job, "--variables", r#"{"parcel": 7}"#], "completed"),
        ] {
            let taken = self.json(&["job", "activate", &kind, "--worker", "me"]);
            assert_eq!(taken["jobs"][0]["id"], job, "{taken}");
            assert_eq!(
                self.json(&["job", "list", "--worker", "me", "--state", "locked"])["jobs"][0]["id"],
                job
            );
            let epoch = taken["jobs"][0]["epoch"].to_string();
            let stale = self.run(&[&["job"], end.as_slice(), &["--epoch", "99"]].concat());
            assert!(code(&stale) != 0 && told(&stale).contains("epoch"), "{}", told(&stale));
            assert_eq!(self.json(&[&["job"], end.as_slice(), &["--epoch", &epoch]].concat())["state"], state);
        }
        assert_eq!(self.json(&["run", "get", &run])["variables"]["parcel"], 7);
    }

    fn manage_people(&self, mail: &str) {
        let invited = self.json(&["user", "invite", mail, "--role", "worker"]);
        assert!(invited["users"][0]["password"].is_string(), "{invited}");
        let again = self.json(&["user", "invite", mail, "--role", "designer"]);
        assert_eq!(again["users"][0]["roles"], json!(["worker", "designer"]), "{again}");
        assert!(self.json(&["user", "set-password", mail])["password"].is_string());
        assert_eq!(self.json(&["user", "disable", mail])["state"], "disabled");
        assert_eq!(self.json(&["user", "enable", mail])["state"], "active");
        assert_eq!(self.json(&["user", "list", "--search", mail])["users"][0]["email"], mail);
        assert_eq!(code(&self.run(&["user", "disable", "nobody@nowhere.test"])), 3);
    }
}

fn as_administrator() -> Vec<String> {
    vec!["--as".to_owned(), ADMINISTRATOR.to_owned()]
}

#[test]
fn every_command_does_the_same_with_and_without_a_server() {
    let (folder, _) = demo();
    let folder = folder.path();
    let own = Way { name: "own", folder, place: as_administrator(), token: None };
    own.do_everything();
    let left = std::fs::read_dir(folder.join("heddle-data")).unwrap();
    let left = left.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".sock"));
    assert_eq!(left.count(), 0, "a command leaves no socket behind");
    let token = own.json(&["token", "create", "for a test"])["token"].as_str().unwrap().to_owned();
    let server = Server::start(folder, &[]);
    let socket = Way { name: "socket", folder, place: as_administrator(), token: None };
    socket.do_everything();
    let place = vec!["--server".to_owned(), server.fact("address")];
    // It needs nothing of the installation but its address.
    let elsewhere = tempfile::tempdir().unwrap();
    Way { name: "network", folder: elsewhere.path(), place, token: Some(token) }.do_everything();
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    let tokens = socket.json(&["token", "list"]);
    assert_eq!(tokens["tokens"][0]["name"], "for a test");
    assert_eq!(socket.json(&["token", "delete", "for a test"])["deleted"], true);
}

#[tokio::test]
async fn the_socket_is_the_operators_alone_and_the_audit_tells_who_acted_over_it() {
    let (folder, password) = demo();
    let place = folder.path();
    let server = Server::start(place, &[]);
    let socket = place.join("heddle-data/heddle.sock");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    json_of(place, &["workflow", "archive", "onboarding", "--as", ADMINISTRATOR, "--json"]);
    let client = reqwest::Client::new();
    // What names an account over the socket names nobody over the network.
    let forged = client.get(server.url("/api/workflows")).header("x-heddle-as", ADMINISTRATOR).send();
    assert_eq!(forged.await.unwrap().status(), 401);
    let local = client.get(server.url("/local/installation")).send();
    assert_eq!(local.await.unwrap().status(), 404);
    let token = server.token(ADMINISTRATOR, &password).await;
    let trail = client.get(server.url("/api/audit-events?action=workflow.updated")).bearer_auth(&token);
    let trail: Value = trail.send().await.unwrap().json().await.unwrap();
    let event = &trail["data"][0];
    assert_eq!(event["actor"]["kind"], "commandLine", "{event}");
    assert!(event["actor"]["userId"].is_string() && event["ip"].is_null(), "{event}");
    // An account acts with its own rights, and one that is switched off not at all.
    for (invited, account, expected) in
        [("worker@demo.local", ADMINISTRATOR, 0), ("other@demo.local", "worker@demo.local", 1)]
    {
        let output = run(place, &["user", "invite", invited, "--role", "worker", "--as", account]);
        assert_eq!(code(&output), expected, "{invited}: {}", told(&output));
    }
    assert_eq!(code(&run(place, &["user", "disable", "worker@demo.local", "--as", ADMINISTRATOR])), 0);
    let off = run(place, &["task", "list", "--as", "worker@demo.local"]);
    assert!(code(&off) == 1 && told(&off).contains("switched off"), "{}", told(&off));
    // Who lost the only password gets in again from the machine itself.
    let set = json_of(place, &["user", "set-password", ADMINISTRATOR, "--as", ADMINISTRATOR, "--json"]);
    assert_eq!(server.sign_in(ADMINISTRATOR, &password).await.status(), 401);
    assert_eq!(server.sign_in(ADMINISTRATOR, set["password"].as_str().unwrap()).await.status(), 200);
    server.end("TERM");
    assert!(!socket.exists());
}

#[test]
fn an_installation_is_set_up_over_the_socket() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let _server = Server::start(place, &[]);
    let create = ["user", "create", "--email", "ada@weavers.test", "--json"];
    assert_eq!(code(&run(place, &create)), 2, "the organisation is needed");
    let owner =
        json_of(place, &[create.as_slice(), &["--organization", "weavers", "--role", "owner"]].concat());
    assert_eq!(owner["organization"], "weavers");
    assert_eq!(json_of(place, &["licence", "show", "--json"])["state"], "restricted");
    let list = ["task", "list", "--as", "ada@weavers.test"];
    assert_eq!(code(&run(place, &list)), 0, "one's own things can be read without a licence");
    let send = ["event", "send", "paid", "--correlation-key", "1", "--as", "ada@weavers.test"];
    assert_eq!(code(&run(place, &send)), 6, "nothing goes without a licence");
    assert_eq!(json_of(place, &["licence", "trial", "--json"])["state"], "trial");
    assert_eq!(code(&run(place, &list)), 0);
    assert_eq!(json_of(place, &["user", "unlock", "ada@weavers.test", "--json"])["forgotten"], json!(0));
}

#[test]
fn a_failure_has_its_exit_code_and_its_json() {
    let (folder, _) = demo();
    let place = folder.path();
    let own = ["--as", ADMINISTRATOR];
    let cases: [(&[&str], &str, i32, &str); 12] = [
        (&["workflow", "list"], "", 2, "--as"),
        (&["workflow", "list", "--as", "nobody@demo.local"], "", 3, "nobody@demo.local"),
        (&["workflow", "list", "--server", "https://127.0.0.1:9"], "", 2, "HEDDLE_TOKEN"),
        (&["workflow", "list", "--server", "https://127.0.0.1:9"], "hdt_x", 5, "127.0.0.1:9"),
        (&["workflow", "list", "--server", "heddle.test"], "hdt_x", 2, "https://HOST"),
        (&["workflow", "list", "--server", "http://127.0.0.1:9", "--ca-file", "a"], "hdt_x", 2, "--ca-file"),
        (&["workflow", "list", "--server", "http://127.0.0.1:9"], "", 2, "HEDDLE_TOKEN"),
        (&["workflow", "list", "--server", "http://127.0.0.1:9"], "hdt_x", 5, "127.0.0.1:9"),
        (&["workflow", "list"], "hdt_x", 2, "token"),
        (&["workflow", "get", "absent", "--as", ADMINISTRATOR], "", 3, "`absent`"),
        (&["run", "start", "absent", "--input", "@nowhere", "--as", ADMINISTRATOR], "", 3, "nowhere"),
        (&["run", "start", "absent", "--input", "5", "--as", ADMINISTRATOR], "", 2, "--input"),
    ];
    for (arguments, token, expected, word) in cases {
        let mut command = heddle(place);
        if !token.is_empty() {
            command.env("HEDDLE_TOKEN", token);
        }
        let output = command.args(arguments).arg("--json").output().unwrap();
        assert_eq!(code(&output), expected, "{arguments:?}: {}", told(&output));
        assert!(told(&output).contains(word), "{arguments:?}: {}", told(&output));
        let error: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(error["error"]["exitCode"], expected, "{arguments:?}");
        assert!(error["error"]["message"].as_str().unwrap().contains(word), "{error}");
    }
    // What the service says stands in the JSON as it said it.
    let refused = run(place, &[&["dead-letter", "list", "--kind", "odd", "--json"], own.as_slice()].concat());
    let error: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!((code(&refused), &error["error"]["code"]), (1, &json!("INVALID_REQUEST_BODY")));
    assert_eq!(error["error"]["details"][0]["field"], "kind");
    // So does what is wrong with the command line itself.
    let misused = run(place, &["workflow", "lst", "--json"]);
    let error: Value = serde_json::from_slice(&misused.stdout).unwrap();
    assert_eq!((code(&misused), &error["error"]["exitCode"]), (2, &json!(2)));
}

/// A server with a self-signed certificate: refused with what to do about it, and taken when it is named.
#[tokio::test]
async fn commands_speak_tls_and_check_the_certificate() {
    let (folder, _) = demo();
    let place = folder.path();
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(place.join("cert.pem"), own.cert.pem()).unwrap();
    std::fs::write(place.join("key.pem"), own.signing_key.serialize_pem()).unwrap();
    std::fs::set_permissions(place.join("key.pem"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(place.join("other.pem"), other.cert.pem()).unwrap();
    std::fs::write(place.join("none.pem"), "no certificate").unwrap();
    let created = json_of(place, &["token", "create", "tls", "--as", ADMINISTRATOR, "--json"]);
    let server = Server::start(place, &["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    let port = server.fact("address").rsplit(':').next().unwrap().trim_end_matches('/').to_owned();
    let call = |host: &str, rest: &[&str]| {
        let mut command = heddle(place);
        command.env("HEDDLE_TOKEN", created["token"].as_str().unwrap());
        let address = format!("https://{host}:{port}");
        command.args(["workflow", "list", "--json", "--server", &address]).args(rest).output().unwrap()
    };
    let taken = call("localhost", &["--ca-file", "cert.pem"]);
    assert_eq!(code(&taken), 0, "{}", told(&taken));
    let local = run(place, &["workflow", "list", "--json", "--as", ADMINISTRATOR]);
    assert_eq!(String::from_utf8_lossy(&taken.stdout), String::from_utf8_lossy(&local.stdout));
    let cases: [(&str, &[&str], &str); 4] = [
        ("localhost", &[], "--ca-file FILE"),
        ("localhost", &["--ca-file", "other.pem"], "--ca-file FILE"),
        ("127.0.0.1", &["--ca-file", "cert.pem"], "for another name"),
        ("localhost", &["--ca-file", "none.pem"], "no certificate"),
    ];
    for (host, rest, word) in cases {
        let refused = call(host, rest);
        assert!(code(&refused) == 2 && told(&refused).contains(word), "{host} {rest:?}: {}", told(&refused));
    }
    assert_eq!(code(&call("localhost", &["--ca-file", "absent.pem"])), 3);
    server.end("TERM");
}

#[test]
fn options_stand_only_where_they_work() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &str); 4] = [
        (&["workflow", "import", "--help"], "--listen"),
        (&["dmn", "eval", "--help"], "--insecure-http"),
        (&["config", "--help"], "--as"),
        (&["--help"], "wiring"),
    ];
    for (arguments, absent) in cases {
        let output = run(folder.path(), arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains(absent), "{arguments:?}: {text}");
    }
    let refused = run(folder.path(), &["completions", "bash", "--data-dir", "x"]);
    assert_eq!(code(&refused), 2);
    assert!(told(&refused).contains("--data-dir"), "{}", told(&refused));
}
