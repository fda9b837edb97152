//! The built program as its users meet it: commands, exit codes, start and end.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test"
)]
#![expect(clippy::disallowed_methods, reason = "tests are clients of the server that they start")]

#[path = "commands/case_types.rs"]
mod case_types;
#[path = "commands/client.rs"]
mod client;
#[path = "commands/imports.rs"]
mod imports;
#[path = "commands/log.rs"]
mod log;
#[path = "commands/models.rs"]
mod models;
#[path = "commands/readme.rs"]
mod readme;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const APPROVAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/demo/approval.bpmn");
const ADMINISTRATOR: &str = "admin@demo.local";

/// The program in a folder of its own, without the caller's configuration.
fn heddle(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HEDDLE_") {
            command.env_remove(name);
        }
    }
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    heddle(folder).args(arguments).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The one JSON line of a command that succeeds.
fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    let output = run(folder, arguments);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", told(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A server that ends with this value.
struct Server {
    child: Child,
    facts: Value,
}

impl Server {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let ready = folder.join("ready.json");
        let mut command = heddle(folder);
        command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--ready-file", "ready.json"]);
        let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        // A server that ends instead closes its output, and there is no line.
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let facts: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{:?}", child.wait()));
        let written: Value = serde_json::from_slice(&std::fs::read(&ready).unwrap()).unwrap();
        assert_eq!(written, facts);
        assert_eq!(std::fs::metadata(&ready).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(facts["pid"], child.id());
        Self { child, facts }
    }

    fn fact(&self, name: &str) -> String {
        self.facts[name].as_str().unwrap_or_else(|| panic!("no {name} in {}", self.facts)).to_owned()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.fact("address"))
    }

    /// Ends it with a signal; how long that took.
    fn end(mut self, signal: &str) -> Duration {
        let asked = Instant::now();
        let kill = Command::new("sh").args(["-c", &format!("kill -{signal} {}", self.child.id())]).status();
        assert!(kill.unwrap().success());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
        asked.elapsed()
    }

    async fn sign_in(&self, email: &str, password: &str) -> reqwest::Response {
        let body = json!({ "email": email, "password": password });
        reqwest::Client::new().post(self.url("/api/auth/sign-in")).json(&body).send().await.unwrap()
    }

    async fn token(&self, email: &str, password: &str) -> String {
        let answer = self.sign_in(email, password).await;
        assert_eq!(answer.status(), 200);
        let body: Value = answer.json().await.unwrap();
        body["data"]["token"].as_str().unwrap().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder with a demo installation, and its administrator's password.
fn demo() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--demo"]);
    let password = server.fact("password");
    server.end("TERM");
    (folder, password)
}

#[test]
fn a_wrong_configuration_ends_the_start_with_the_keys_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.toml"), "workers = 0\n").unwrap();
    let cases: [(&[&str], &str, &[&str]); 5] = [
        (&["serve", "--listen", "nowhere"], "", &["--listen", "`listen`"]),
        (&["serve", "--config", "bad.toml"], "", &["bad.toml", "`workers`"]),
        (&["config", "--config", "absent.toml"], "", &["absent.toml"]),
        (&["serve"], "HEDDLE_WORKERS", &["HEDDLE_WORKERS", "`workers`"]),
        (&["serve", "--listen", "0.0.0.0:0"], "", &["0.0.0.0", "--insecure-http"]),
    ];
    for (arguments, variable, words) in cases {
        let mut command = heddle(folder.path());
        if !variable.is_empty() {
            command.env(variable, "none");
        }
        let output = command.args(arguments).output().unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(words.iter().all(|word| told(&output).contains(word)), "{arguments:?}: {}", told(&output));
    }
    assert!(!folder.path().join("heddle-data").exists(), "a refused start leaves nothing behind");
}

#[test]
fn the_effective_configuration_is_shown_without_passwords() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("heddle.toml"),
        "session_hours = 3\nlisten = \"127.0.0.1:1\"\nbudgets = \"hops=7, steps=30000000\"\n",
    )
    .unwrap();
    let mut command = heddle(folder.path());
    command.env("HEDDLE_DATABASE_URL", "postgres://heddle:s3cret@db/heddle");
    let output = command.args(["config", "--json", "--listen", "127.0.0.1:2"]).output().unwrap();
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["session_hours"]["value"], "3");
    assert_eq!(shown["session_hours"]["source"], "file");
    assert_eq!(shown["budgets"]["value"], "hops=7", "a budget that is the default is not shown");
    assert_eq!(shown["listen"]["value"], "127.0.0.1:2");
    assert_eq!(shown["database_url"]["value"], "postgres://heddle:***@db/heddle");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("s3cret"));
}

#[test]
fn a_second_server_on_the_same_directory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--demo"]);
    let output = run(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(code(&output), 4);
    assert!(told(&output).contains("heddle-data"), "{}", told(&output));
    // The same holds for the address.
    let address = server.fact("address").replace("http://", "");
    let output = run(folder.path(), &["serve", "--data-dir", "other", "--listen", &address]);
    assert_eq!(code(&output), 4);
    assert!(!folder.path().join("other").exists());
    // Looking at it is possible.
    let seen = json_of(folder.path(), &["doctor", "--json"]);
    let database = &seen["checks"][0];
    assert_eq!((database["name"].as_str(), database["status"].as_str()), (Some("database"), Some("ok")));
    assert!(database["message"].as_str().unwrap().contains(&address), "{database}");
}

#[test]
fn a_wrong_or_missing_key_refuses_to_start() {
    let (folder, _) = demo();
    let key = folder.path().join("heddle-data/heddle.key");
    let kept = std::fs::read(&key).unwrap();
    for (text, word) in
        [("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n", "belong"), ("not a key", "base64")]
    {
        std::fs::write(&key, text).unwrap();
        let output = run(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!(code(&output), 6, "{text}: {}", told(&output));
        assert!(told(&output).contains(word), "{}", told(&output));
        let doctor = run(folder.path(), &["doctor"]);
        assert_eq!(code(&doctor), 7);
        assert!(String::from_utf8_lossy(&doctor.stdout).contains("key       failed"));
    }
    std::fs::remove_file(&key).unwrap();
    let output = run(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(code(&output), 6);
    assert!(!key.exists(), "no new key is made for an old database");
    // The right one brings all back.
    std::fs::write(&key, kept).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(json_of(folder.path(), &["doctor", "--json"])["healthy"], true);
    // The keyring is looked at, too.
    std::fs::write(folder.path().join("heddle-data/heddle.keyring"), "no ring").unwrap();
    let doctor = run(folder.path(), &["doctor"]);
    assert_eq!(code(&doctor), 7);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("keyring   failed"));
}

#[tokio::test]
async fn a_signal_ends_it_in_under_five_seconds_with_a_stream_open() {
    let folder = tempfile::tempdir().unwrap();
    for signal in ["TERM", "INT"] {
        let data = ["--demo", "--data-dir", signal];
        let server = Server::start(folder.path(), &data);
        let token = server.token(ADMINISTRATOR, &server.fact("password")).await;
        let client = reqwest::Client::new();
        let list: Value = client
            .get(server.url("/api/workflows?q=purchase-approval"))
            .bearer_auth(&token)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        let runs = server.url(&format!("/api/workflows/{}/runs", list["data"][0]["id"].as_str().unwrap()));
        let run = client.post(&runs).bearer_auth(&token).json(&json!({ "input": { "amount": 800 } }));
        let run: Value = run.send().await.unwrap().json().await.unwrap();
        let stream = format!("{runs}/{}/events/stream", run["data"]["id"].as_str().unwrap());
        let mut stream = client.get(stream).bearer_auth(&token).send().await.unwrap();
        let first = stream.chunk().await.unwrap().unwrap();
        assert!(first.starts_with(b"id: 1\nevent: run.started\n"), "{first:?}");
        let took = tokio::task::spawn_blocking(move || server.end(signal)).await.unwrap();
        assert!(took < Duration::from_secs(5), "{took:?}");
        // The stream was closed in order, not cut off.
        while stream.chunk().await.unwrap().is_some() {}
    }
}

#[tokio::test]
async fn without_the_demo_a_one_time_token_sets_it_up() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    assert!(server.facts.get("password").is_none() && server.facts.get("email").is_none());
    let token = server.fact("setupToken");
    let password = "a lantern over the loom";
    let body = |token: &str| {
        json!({
            "token": token,
            "organization": { "slug": "weavers", "displayName": "Weavers" },
            "administrator": { "email": "ada@weavers.test", "displayName": "Ada", "password": password },
        })
    };
    let send = async |token: &str| {
        let client = reqwest::Client::new();
        client.post(server.url("/api/setup")).json(&body(token)).send().await.unwrap().status().as_u16()
    };
    assert_eq!(send("hds_wrong").await, 400);
    assert_eq!(send(&token).await, 201);
    assert_eq!(send(&token).await, 409);
    assert_eq!(server.sign_in("ada@weavers.test", password).await.status(), 200);
    server.end("TERM");
    // The next start has nothing left to set up.
    let again = Server::start(folder.path(), &[]);
    assert!(again.facts.get("setupToken").is_none());
}

#[tokio::test]
async fn users_are_created_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    // Without an installation nothing is made for a command that asks for none.
    let nowhere = run(place, &["workflow", "list", "--as", "ada@weavers.test"]);
    assert_eq!(code(&nowhere), 3, "{}", told(&nowhere));
    assert_eq!(code(&run(place, &["user", "create", "--email", "ada@weavers.test"])), 2);
    assert!(!place.join("heddle-data").exists());
    // The first one sets the installation up, and can be nothing but its owner.
    let first = ["user", "create", "--email", "Ada@Weavers.test", "--organization", "weavers", "--json"];
    let output = run(place, &first);
    assert_eq!(code(&output), 1, "{}", told(&output));
    assert!(told(&output).contains("--role owner"), "{}", told(&output));
    let owner = json_of(place, &[first.as_slice(), &["--role", "owner"]].concat());
    assert_eq!((&owner["email"], &owner["organization"]), (&json!("ada@weavers.test"), &json!("weavers")));
    assert_eq!(json_of(place, &["licence", "trial", "--json"])["state"], json!("trial"));
    // Later ones are created in the name of one who is there.
    std::fs::write(place.join("password"), "a lantern over the loom\n").unwrap();
    let common = ["user", "create", "--email", "bob@weavers.test", "--password-file", "password", "--json"];
    let with = |rest: &[&str]| run(place, &[common.as_slice(), rest].concat());
    assert_eq!(code(&with(&[])), 2, "--as is needed");
    assert_eq!(code(&with(&["--as", "nobody@weavers.test"])), 3);
    assert_eq!(code(&with(&["--as", "ada@weavers.test", "--organization", "other"])), 3);
    let king = with(&["--as", "ada@weavers.test", "--role", "king"]);
    assert_eq!(code(&king), 1);
    assert!(
        ["`king`", "`designer`", "`owner`"].iter().all(|word| told(&king).contains(word)),
        "{}",
        told(&king)
    );
    let made =
        json_of(place, &[common.as_slice(), &["--as", "ada@weavers.test", "--role", "designer"]].concat());
    assert!(made.get("password").is_none(), "a given password is not shown: {made}");
    let taken = with(&["--as", "ada@weavers.test"]);
    assert_eq!(code(&taken), 1, "the address is taken");
    assert!(told(&taken).contains("`bob@weavers.test`"), "{}", told(&taken));
    let server = Server::start(place, &[]);
    let password = owner["password"].as_str().unwrap();
    while server.sign_in("ada@weavers.test", "a guess of somebody").await.status() != 429 {}
    server.end("TERM");
    // The operator has the failures forgotten.
    assert_eq!(code(&run(place, &["user", "unlock", "nobody@weavers.test"])), 3);
    let unlocked = json_of(place, &["user", "unlock", "Ada@weavers.test", "--json"]);
    assert_eq!(unlocked["forgotten"], json!(2), "of the account, and of it from this network");
    assert_eq!(json_of(place, &["user", "unlock", "ada@weavers.test", "--json"])["forgotten"], json!(0));
    let server = Server::start(place, &[]);
    assert_eq!(server.sign_in("ada@weavers.test", password).await.status(), 200);
    let token = server.token("bob@weavers.test", "a lantern over the loom").await;
    let get = async |path: &str| {
        let request = reqwest::Client::new().get(server.url(path)).bearer_auth(&token);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!((get("/api/workflows").await, get("/api/users").await), (200, 403));
}

#[test]
fn a_workflow_survives_export_and_import() {
    let (folder, _) = demo();
    let place = folder.path();
    let export = |workflow: &str, rest: &[&str]| {
        run(place, &[&["workflow", "export", workflow, "--as", ADMINISTRATOR], rest].concat())
    };
    let published = export("purchase-approval", &["--of", "published"]);
    assert_eq!(code(&published), 0, "{}", told(&published));
    std::fs::write(place.join("Second Approval.bpmn"), &published.stdout).unwrap();
    let import = ["workflow", "import", "--publish", "--json", "--as", ADMINISTRATOR];
    let made = json_of(place, &[import.as_slice(), &["Second Approval.bpmn", APPROVAL]].concat());
    let slugs: Vec<_> = made["workflows"].as_array().unwrap().iter().map(|row| row["slug"].clone()).collect();
    assert_eq!(slugs, ["second-approval", "approval"]);
    let id = made["workflows"][0]["id"].as_str().unwrap();
    let again = export(id, &["--of", "1", "--output", "again.bpmn"]);
    assert_eq!(code(&again), 0, "{}", told(&again));
    let again = std::fs::read_to_string(place.join("again.bpmn")).unwrap();
    assert_eq!(again.trim_end(), String::from_utf8(published.stdout).unwrap().trim_end());
    assert!(again.contains("<bpmn:userTask id=\"review\""));
    // What is not there is told by the exit code; what is no BPMN, with the file's name.
    assert_eq!(code(&export("absent", &[])), 3);
    assert_eq!(code(&export("approval", &["--of", "9"])), 3);
    std::fs::write(place.join("broken.bpmn"), "<definitions>").unwrap();
    let broken = run(place, &["workflow", "import", "broken.bpmn", "--as", ADMINISTRATOR]);
    assert_eq!(code(&broken), 1);
    assert!(told(&broken).contains("broken.bpmn"), "{}", told(&broken));
    // A file comes only once under a slug.
    assert_eq!(code(&run(place, &["workflow", "import", APPROVAL, "--as", ADMINISTRATOR])), 1);
}

#[test]
fn what_its_own_background_ends_is_cured_without_it() {
    let (folder, _) = demo();
    let place = folder.path();
    const NOBODY: &str = "018f0000-0000-7000-8000-000000000001";
    fn own<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
        [arguments, &["--json", "--as", ADMINISTRATOR]].concat()
    }
    let archived = json_of(place, &own(&["workflow", "archive", "purchase-approval"]));
    assert_eq!(archived["state"], "archived");
    assert_eq!(json_of(place, &own(&["dead-letter", "list"]))["deadLetters"], json!([]));
    let cases: [(&[&str], i32); 6] = [
        (&["workflow", "archive", "absent"], 3),
        (&["run", "cancel", NOBODY], 3),
        (&["run", "cancel", "no-id"], 1),
        (&["dead-letter", "drop", NOBODY], 3),
        (&["dead-letter", "retry", NOBODY], 3),
        (&["dead-letter", "list", "--kind", "odd"], 1),
    ];
    for (arguments, expected) in cases {
        let output = run(place, &own(arguments));
        assert_eq!(code(&output), expected, "{arguments:?}: {}", told(&output));
    }
    Server::start(place, &["--no-background"]).end("TERM");
}

#[test]
fn the_keys_of_secrets_are_rotated_with_and_without_a_server() {
    let (folder, _) = demo();
    let place = folder.path();
    let ring = || {
        let text = std::fs::read_to_string(place.join("heddle-data/heddle.keyring")).unwrap();
        text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count()
    };
    assert_eq!(ring(), 1);
    let alone = json_of(place, &["key", "rotate", "--json"]);
    assert_eq!((&alone["wrapped"], &alone["unreadable"], ring()), (&json!(0), &json!(0), 2));
    let server = Server::start(place, &[]);
    let beside = json_of(place, &["key", "rotate", "--json"]);
    assert_ne!((&beside["key"], ring()), (&alone["key"], 2));
    // What was broken off goes on without another key.
    assert_eq!(json_of(place, &["key", "rotate", "--continue", "--json"])["key"], beside["key"]);
    assert_eq!(ring(), 3);
    // An earlier key under which nothing is sealed is forgotten; the current one and a stranger stay what they are.
    let listed = json_of(place, &["key", "list", "--json"]);
    let states: Vec<_> = listed["keys"].as_array().unwrap().iter().map(|key| &key["current"]).collect();
    assert_eq!(states, [&json!(true), &json!(false), &json!(false)]);
    let (current, earlier) = (beside["key"].as_str().unwrap(), alone["key"].as_str().unwrap());
    for (key, expected) in [(current, 1), ("k000000000000", 3)] {
        let output = run(place, &["key", "forget", key]);
        assert!(code(&output) == expected && told(&output).contains(key), "{}", told(&output));
    }
    assert_eq!(json_of(place, &["key", "forget", earlier, "--json"])["current"], current);
    assert_eq!((ring(), code(&run(place, &["key", "forget", earlier]))), (2, 3));
    assert_eq!(json_of(place, &["key", "rotate", "--json"])["wrapped"], 0);
    assert_eq!(ring(), 3);
    server.end("TERM");
    // The keys are the operator's: no server elsewhere is asked for them.
    assert_eq!(code(&run(place, &["key", "rotate", "--server", "http://127.0.0.1:9"])), 2);
    // A ring of the configuration is changed there.
    let text = std::fs::read_to_string(place.join("heddle-data/heddle.keyring")).unwrap();
    let given = heddle(place).env("HEDDLE_KEYRING", text.trim()).args(["key", "rotate"]).output().unwrap();
    assert!(code(&given) == 1 && told(&given).contains("keyring"), "{}", told(&given));
    assert_eq!(ring(), 3);
    let shown = heddle(place).env("HEDDLE_KEYRING", text.trim()).args(["config"]).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(text.split_whitespace().all(|part| !shown.contains(part)), "{shown}");
}

#[test]
fn migrate_doctor_and_licence_tell_how_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let status = |seen: &Value, name: &str| {
        let checks = seen["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap()["status"].as_str().unwrap().to_owned()
    };
    let empty = run(place, &["doctor", "--json"]);
    assert_eq!(code(&empty), 7);
    let seen: Value = serde_json::from_slice(&empty.stdout).unwrap();
    assert_eq!((status(&seen, "database"), status(&seen, "licence")), ("failed".into(), "skipped".into()));
    assert!(!place.join("heddle-data").exists(), "looking makes nothing");
    let applied = json_of(place, &["migrate", "--json"]);
    assert!(!applied["applied"].as_array().unwrap().is_empty());
    assert_eq!(json_of(place, &["migrate", "--json"])["applied"], json!([]));
    let licence = json_of(place, &["licence", "show", "--json"]);
    assert_eq!((&licence["state"], &licence["reason"]), (&json!("restricted"), &json!("missing")));
    assert_eq!((code(&run(place, &["doctor"])), &licence["trialAvailable"]), (7, &json!(true)));
    let file = place.join("no.licence");
    std::fs::write(&file, "-----BEGIN HEDDLE LICENCE-----\nx\n-----END HEDDLE LICENCE-----\n").unwrap();
    assert_eq!(code(&run(place, &["licence", "install", file.to_str().unwrap()])), 6);
    assert_eq!(code(&run(place, &["licence", "install", "absent.licence"])), 3);
    assert_eq!(json_of(place, &["licence", "trial", "--json"])["state"], json!("trial"));
    assert_eq!(code(&run(place, &["licence", "trial"])), 1, "a trial is once");
    let seen = json_of(place, &["doctor", "--json"]);
    for name in ["database", "key", "files", "licence", "rules", "disk", "clock"] {
        assert!(matches!(status(&seen, name).as_str(), "ok" | "warning"), "{name}: {seen}");
    }
    let key = place.join("heddle-data/heddle.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let exposed = run(place, &["doctor", "--json"]);
    let seen: Value = serde_json::from_slice(&exposed.stdout).unwrap();
    assert_eq!((code(&exposed), status(&seen, "key")), (7, "failed".to_owned()));
}

#[test]
fn completions_are_printed_for_every_shell() {
    let folder: PathBuf = std::env::temp_dir();
    for (shell, word) in [
        ("bash", "complete -F _heddle"),
        ("zsh", "#compdef heddle"),
        ("fish", "complete -c heddle"),
        ("elvish", "heddle"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let output = run(&folder, &["completions", shell]);
        assert_eq!(code(&output), 0);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(word) && text.contains("ready-file"), "{shell}");
    }
}

#[test]
fn a_decision_is_evaluated_without_a_server() {
    let folder = TempDir::new().unwrap();
    let model = r#"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="m" namespace="urn:m">
        <decision id="d" name="Discount in percent"><variable name="Discount in percent"/><decisionTable>
        <input><inputExpression><text>customer.kind</text></inputExpression></input><output/>
        <rule><inputEntry><text>"gold"</text></inputEntry><outputEntry><text>10</text></outputEntry></rule>
        <rule><inputEntry><text>-</text></inputEntry><outputEntry><text>1 + </text></outputEntry></rule>
        </decisionTable></decision></definitions>"#;
    std::fs::write(folder.path().join("m.dmn"), model).unwrap();
    let eval = |input: &str| run(folder.path(), &["dmn", "eval", "m.dmn", "--input", input]);
    let gold = eval(r#"{"customer": {"kind": "gold"}}"#);
    assert_eq!(
        (code(&gold), String::from_utf8_lossy(&gold.stdout).trim()),
        (1, "null"),
        "two rules hit, and one is no FEEL"
    );
    assert!(told(&gold).contains("m.dmn:5:"), "what is no FEEL is told with its place: {}", told(&gold));
    let model = model.replace("<text>-</text>", "<text>not(\"gold\")</text>").replace("1 + ", "1");
    std::fs::write(folder.path().join("m.dmn"), model).unwrap();
    let arguments =
        ["dmn", "eval", "m.dmn", "--decision", "d", "--input", r#"{"customer": {"kind": "gold"}}"#];
    assert_eq!(json_of(folder.path(), &[&arguments[..], &["--json"]].concat())["value"], 10);
    for (input, word) in [("5", "object"), ("{", "JSON"), ("@nowhere", "nowhere")] {
        let refused = eval(input);
        assert!(code(&refused) != 0 && told(&refused).contains(word), "{}", told(&refused));
    }
    let unknown = run(folder.path(), &["dmn", "eval", "m.dmn", "--decision", "x"]);
    assert!(code(&unknown) == 3 && told(&unknown).contains("Discount in percent"), "{}", told(&unknown));
}

#[tokio::test]
async fn a_backup_beside_the_server_is_restored_into_an_empty_directory() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let server = Server::start(place, &["--demo"]);
    let password = server.fact("password");
    let connection = json!({
        "name": "orders", "type": "http", "secrets": {"token": "the token of the service"},
        "config": {"baseUrl": "https://orders.test", "authentication": "bearer"},
    });
    let token = server.token(ADMINISTRATOR, &password).await;
    let answer = reqwest::Client::new()
        .post(server.url("/api/connections"))
        .bearer_auth(&token)
        .json(&connection)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
    let made = json_of(
        place,
        &["backup", "copy.db", "--key-file", "copy.key", "--keyring-file", "copy.ring", "--json"],
    );
    assert_eq!(made["database"], "copy.db");
    assert!(made["bytes"].as_u64().unwrap() > 100_000 && made["installationId"].is_string(), "{made}");
    for file in ["copy.db", "copy.key", "copy.ring"] {
        assert_eq!(
            std::fs::metadata(place.join(file)).unwrap().permissions().mode() & 0o777,
            0o600,
            "{file}"
        );
    }
    let again = run(place, &["backup", "copy.db"]);
    assert!(code(&again) == 1 && told(&again).contains("copy.db"), "{}", told(&again));
    let without = run(place, &["backup", "other.db"]);
    let text = String::from_utf8_lossy(&without.stdout).into_owned();
    assert!(code(&without) == 0 && text.contains("key (heddle.key) was not copied"), "{text}");
    // What is there already is left alone, and so is what is no backup.
    let taken = run(place, &["restore", "copy.db"]);
    assert!(code(&taken) == 1 && told(&taken).contains("not empty"), "{}", told(&taken));
    assert_eq!(code(&run(place, &["restore", "none.db", "--data-dir", "new"])), 3);
    assert_eq!(code(&run(place, &["restore", "ready.json", "--data-dir", "new"])), 1);
    std::fs::write(place.join("wrong.key"), "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n").unwrap();
    std::fs::set_permissions(place.join("wrong.key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let wrong = run(place, &["restore", "copy.db", "--data-dir", "new", "--key-file", "wrong.key"]);
    assert_eq!(code(&wrong), 6, "{}", told(&wrong));
    assert!(!place.join("new").exists(), "a failed restore leaves nothing");
    // A ring that does not open what is sealed is refused, with the key that it lacks.
    let sealed_by = std::fs::read_to_string(place.join("copy.ring")).unwrap();
    let sealed_by = sealed_by.split_whitespace().next().unwrap();
    for (id, word) in [("k0", "lacks the key"), (sealed_by, "is not the key of this name")] {
        let ring = format!("{id} BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n");
        std::fs::write(place.join("wrong.ring"), ring).unwrap();
        std::fs::set_permissions(place.join("wrong.ring"), std::fs::Permissions::from_mode(0o600)).unwrap();
        let wrong = run(place, &["restore", "copy.db", "--data-dir", "new", "--keyring-file", "wrong.ring"]);
        assert_eq!(code(&wrong), 6, "{}", told(&wrong));
        assert!(told(&wrong).contains(word) && told(&wrong).contains(sealed_by), "{}", told(&wrong));
        assert!(!place.join("new").exists(), "nothing is written");
    }
    // Whoever holds the directory keeps it as it is, though nothing is in it yet; a lock alone is nobody's data.
    std::fs::create_dir(place.join("new")).unwrap();
    let lock = std::fs::File::create(place.join("new/heddle.lock")).unwrap();
    lock.lock().unwrap();
    let held = run(place, &["restore", "copy.db", "--data-dir", "new", "--key-file", "copy.key"]);
    assert!(code(&held) != 0 && told(&held).contains("another server"), "{}", told(&held));
    let left: Vec<_> =
        std::fs::read_dir(place.join("new")).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["heddle.lock"]);
    drop(lock);
    let keys = ["--key-file", "copy.key", "--keyring-file", "copy.ring"];
    let restore = ["restore", "copy.db", "--data-dir", "new", "--json"];
    let done = json_of(place, &[restore.as_slice(), &keys].concat());
    assert_eq!(done["installationId"], made["installationId"]);
    let restored = Server::start(place, &["--data-dir", "new"]);
    assert_eq!(restored.sign_in(ADMINISTRATOR, &password).await.status(), 200);
    // PostgreSQL has its own programs.
    for command in [["backup", "a.db"], ["restore", "copy.db"]] {
        let output =
            heddle(place).args(command).env("HEDDLE_DATABASE_URL", "postgres://db/heddle").output().unwrap();
        assert!(code(&output) == 2 && told(&output).contains("pg_"), "{}", told(&output));
    }
}

#[test]
fn a_demo_that_is_there_already_is_told() {
    let (folder, _) = demo();
    let server = Server::start(folder.path(), &["--demo"]);
    assert_eq!(server.facts["demo"], "kept");
    assert!(server.facts.get("password").is_none());
}

#[test]
fn a_failed_first_user_leaves_no_installation() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    std::fs::write(place.join("short"), "short\n").unwrap();
    let create = ["user", "create", "--email", "ada@weavers.test"];
    for (rest, expected) in [
        (vec![], 2),
        (vec!["--organization", "weavers"], 1),
        (vec!["--organization", "weavers", "--role", "owner", "--password-file", "short"], 1),
        (vec!["--organization", "weavers", "--role", "owner", "--password-file", "absent"], 3),
    ] {
        let output = run(place, &[create.as_slice(), &rest].concat());
        assert_eq!(code(&output), expected, "{rest:?}: {}", told(&output));
        assert!(!place.join("heddle-data").exists(), "{rest:?}");
    }
}

#[test]
fn a_data_directory_that_may_not_be_used_is_a_wrong_setting() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let output = run(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--data-dir", "file"]);
    assert_eq!(code(&output), 2, "{}", told(&output));
    assert!(told(&output).contains("`file`"), "{}", told(&output));
}

const DISCOUNT: &str = r##"<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="m" namespace="urn:m">
    <inputData id="a" name="amount"><variable name="amount" typeRef="number"/></inputData>
    <decision id="d" name="Discount"><variable name="Discount"/>
    <informationRequirement id="r"><requiredInput href="#a"/></informationRequirement>
    <decisionTable id="t" hitPolicy="UNIQUE">
    <input id="i"><inputExpression typeRef="number"><text>amount</text></inputExpression></input><output id="o"/>
    <rule id="one"><inputEntry id="e1"><text>&lt; 100</text></inputEntry><outputEntry id="x1"><text>0</text></outputEntry></rule>
    <rule id="two"><inputEntry id="e2"><text>&gt;= 100</text></inputEntry><outputEntry id="x2"><text>5</text></outputEntry></rule>
    </decisionTable></decision></definitions>"##;

#[test]
fn decisions_are_checked_as_the_server_does_and_against_cases() {
    let folder = TempDir::new().unwrap();
    let place = folder.path();
    std::fs::write(place.join("good.dmn"), DISCOUNT).unwrap();
    std::fs::write(place.join("overlap.dmn"), DISCOUNT.replace("&gt;= 100", "&gt;= 50")).unwrap();
    let good = json_of(place, &["decision", "check", "good.dmn", "--strict", "--json"]);
    assert_eq!((&good["errors"], &good["warnings"]), (&json!(0), &json!(0)), "{good}");
    let overlap = run(place, &["decision", "check", "overlap.dmn"]);
    let text = String::from_utf8_lossy(&overlap.stdout).into_owned();
    assert!(
        text.contains("overlap.dmn:") && text.contains("tableOverlap") && text.contains("[rules 1, 2]"),
        "{text}"
    );
    let cases = json!([
        {"name": "small", "input": {"amount": 10}, "expected": 0.0},
        {"decision": "Discount", "input": {"amount": 100}, "expected": 7},
        {"name": "unknown", "decision": "Other", "expected": null},
    ]);
    std::fs::write(place.join("cases.json"), cases.to_string()).unwrap();
    let checked = run(place, &["decision", "check", "good.dmn", "--cases", "cases.json"]);
    let text = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert_eq!(code(&checked), 1, "{text}");
    for line in
        ["passed: small", "FAILED: case 2: expected 7, got 5", "FAILED: unknown", "1 of 3 cases passed"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
    std::fs::write(place.join("odd.json"), r#"[{"inputs": {}, "expected": 1}]"#).unwrap();
    let odd = run(place, &["decision", "check", "good.dmn", "--cases", "odd.json"]);
    assert!(code(&odd) == 1 && told(&odd).contains("inputs"), "{}", told(&odd));
    assert_eq!(code(&run(place, &["decision", "check", "absent.dmn"])), 3);
    // Standard input, one document with the explanation, and what counts as no success.
    let mut child = heddle(place)
        .args(["decision", "eval", "good.dmn", "--input", "-", "--explain"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), br#"{"amount": 200}"#).unwrap();
    let output = child.wait_with_output().unwrap();
    let explained: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&explained["value"], &explained["decision"]), (&json!(5), &json!("Discount")));
    assert!(explained["explanation"]["decisions"].is_array(), "{explained}");
    let null = ["decision", "eval", "good.dmn", "--input", "{}"];
    assert_eq!(code(&run(place, &null)), 0);
    assert_eq!(code(&run(place, &[null.as_slice(), &["--strict"]].concat())), 1);
}

#[test]
fn a_manual_page_is_written_for_each_command() {
    let folder = TempDir::new().unwrap();
    let out = json_of(folder.path(), &["man", "--out", "pages", "--json"]);
    assert_eq!(out["directory"], "pages");
    for (page, word) in
        [("heddle.1", "SUBCOMMANDS"), ("heddle-serve.1", "ready"), ("heddle-decision-check.1", "cases")]
    {
        let text = std::fs::read_to_string(folder.path().join("pages").join(page)).unwrap();
        assert!(text.contains(word), "{page}");
    }
}

#[tokio::test]
async fn ones_own_models_come_out_whatever_the_licence_says() {
    let folder = TempDir::new().unwrap();
    let place = folder.path();
    let server = Server::start(place, &["--demo", "--test-clock"]);
    let password = server.fact("password");
    let token = server.token(ADMINISTRATOR, &password).await;
    let client = reqwest::Client::new();
    let own = |arguments: &[&str]| run(place, &[arguments, &["--as", ADMINISTRATOR]].concat());
    let listed = json_of(place, &["workflow", "list", "--json", "--as", ADMINISTRATOR]);
    let id = listed["workflows"][0]["id"].as_str().unwrap();
    let start = ["run", "start", "purchase-approval", "--input", "{\"amount\":800}", "--json"];
    let begun = json_of(place, &[start.as_slice(), &["--as", ADMINISTRATOR]].concat());
    let begun = begun["id"].as_str().unwrap();
    let later = client.post(server.url("/api/test/clock")).bearer_auth(&token);
    assert_eq!(later.json(&json!({ "advance": "P31D" })).send().await.unwrap().status(), 200);
    assert_eq!(json_of(place, &["licence", "show", "--json"])["state"], "restricted");
    // Over the network they wait for a licence; on the machine itself they don't, and whatever else there is does.
    let token = server.token(ADMINISTRATOR, &password).await;
    let export = client.get(server.url(&format!("/api/workflows/{id}/export/bpmn"))).bearer_auth(&token);
    let refused = export.send().await.unwrap();
    assert_eq!(refused.status(), 423);
    let refused: Value = refused.json().await.unwrap();
    let remedy = refused["error"]["details"][0]["remedy"].as_str().unwrap();
    for way in ["PUT /api/licence", "heddle licence install", "heddle workflow export", "heddle run export"] {
        assert!(remedy.contains(way), "{remedy}");
    }
    assert_eq!(code(&run(place, &["licence", "keys"])), 0);
    let over_network = heddle(place)
        .args(["workflow", "list", "--server", &server.fact("address")])
        .env("HEDDLE_TOKEN", &token)
        .output()
        .unwrap();
    assert_eq!(code(&over_network), 6, "{}", told(&over_network));
    let export = ["workflow", "export", "purchase-approval"];
    let look = || {
        let cases: [(&[&str], i32); 9] = [
            (&["workflow", "list"], 0),
            (&["workflow", "get", id], 0),
            (&["workflow", "archive", id], 6),
            (&["run", "start", id], 6),
            (&["run", "list", "purchase-approval"], 0),
            (&["run", "get", begun], 0),
            (&["run", "cancel", begun], 6),
            (&["task", "list"], 0),
            (&["licence", "request"], 0),
        ];
        for (arguments, expected) in cases {
            let output = own(arguments);
            assert_eq!(code(&output), expected, "{arguments:?}: {}", told(&output));
        }
        let model = own(&[export.as_slice(), &["--of", "published"]].concat());
        assert_eq!(code(&model), 0, "{}", told(&model));
        assert!(String::from_utf8_lossy(&model.stdout).contains("<bpmn:userTask id=\"review\""));
        assert_eq!(code(&own(&[export.as_slice(), &["--format", "json"]].concat())), 0);
        let runs = own(&["run", "export", "purchase-approval", "--output", "runs.jsonl"]);
        assert_eq!(code(&runs), 0, "{}", told(&runs));
        let lines = std::fs::read_to_string(place.join("runs.jsonl")).unwrap();
        let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let one = rows.iter().find(|row| row["run"]["id"] == begun).unwrap();
        assert_eq!(one["run"]["variables"]["amount"], 800, "{one}");
        assert!(!one["events"].as_array().unwrap().is_empty(), "{one}");
    };
    look();
    server.end("TERM");
    assert_eq!(code(&run(place, &["backup", "all.db"])), 0);
}
