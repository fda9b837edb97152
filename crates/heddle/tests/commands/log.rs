//! The log of a server: its lines, and what is in none of them.

use super::*;

/// The first line of a server's log that holds this word, and all before it.
fn logged_until(lines: &mut impl Iterator<Item = std::io::Result<String>>, word: &str) -> String {
    lines
        .map(Result::unwrap)
        .find(|line| line.contains(word))
        .unwrap_or_else(|| panic!("no line with `{word}`"))
}

#[tokio::test]
async fn the_log_begins_with_a_line_and_has_one_for_each_request() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = heddle(folder.path())
        .args(["serve", "--demo", "--json", "--listen", "127.0.0.1:0"])
        .envs([
            ("HEDDLE_PORT", "tcp://10.0.0.1:8080"),
            ("HEDDLE_SERVICE_HOST", "10.0.0.1"),
            ("HEDDLE_LOG_FORMAT", "json"),
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut server = Server { facts: serde_json::from_str(&line).unwrap(), child };
    let mut lines = BufReader::new(server.child.stderr.take().unwrap()).lines();
    let unknown = logged_until(&mut lines, "HEDDLE_PORT");
    assert!(unknown.contains("HEDDLE_SERVICE_HOST") && unknown.contains("WARN"), "{unknown}");
    let started: Value = serde_json::from_str(&logged_until(&mut lines, "started")).unwrap();
    let fields = &started["fields"];
    assert!(fields["database"].as_str().unwrap().starts_with("SQLite at heddle-data"), "{started}");
    assert!(fields["licence"].as_str().unwrap().starts_with("trial, ends 20"), "{started}");
    assert!(fields["migrations"].as_u64().unwrap() > 5 && fields["version"].is_string(), "{started}");
    let client = reqwest::Client::new();
    for (path, id) in [("/api/workflows/xyz?secret=1", "mine-1"), ("/no/such/path?secret=2", "mine-2")] {
        client.get(server.url(path)).header("x-request-id", id).send().await.unwrap();
    }
    let known: Value = serde_json::from_str(&logged_until(&mut lines, "mine-1")).unwrap();
    let fields = &known["fields"];
    assert_eq!((&fields["method"], &fields["status"]), (&json!("GET"), &json!(401)), "{known}");
    assert_eq!(fields["route"], "/api/workflows/{workflowId}");
    assert!(fields["ms"].is_number() && !known.to_string().contains("secret"), "{known}");
    let unknown = logged_until(&mut lines, "mine-2");
    assert!(unknown.contains("\"status\":404") && !unknown.contains("secret"), "{unknown}");
    server.end("TERM");
}

/// What callers send stands in the log as its template, or not at all: no line is theirs, and no secret is in it.
#[tokio::test]
async fn asvs_16_2_5_and_16_4_1_the_log_has_no_secret_and_no_line_of_a_caller() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = heddle(folder.path())
        .args(["serve", "--demo", "--json", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut server = Server { facts: serde_json::from_str(&line).unwrap(), child };
    let (email, password) = (server.fact("email"), server.fact("password"));
    let token = server.token(&email, &password).await;
    let refused = server.sign_in(&email, "a guess\r\nforged line").await;
    assert_eq!(refused.status(), 401);
    let client = reqwest::Client::new();
    for path in ["/api/workflows/x%0D%0Aforged%20line", "/%1B%5B31mforged?q=x%0Aforged%20line"] {
        let asked = client.get(server.url(path)).header("user-agent", "forged line").bearer_auth(&token);
        assert_eq!(asked.send().await.unwrap().status(), 404, "{path}");
    }
    let body = json!({ "name": "x\nforged line\u{1b}[31m" });
    let _ = client.post(server.url("/api/roles")).bearer_auth(&token).json(&body).send().await.unwrap();
    let last = client.get(server.url("/health/live")).header("x-request-id", "the last one").send().await;
    assert_eq!(last.unwrap().status(), 200);
    let mut lines = BufReader::new(server.child.stderr.take().unwrap()).lines();
    let mut all = Vec::new();
    while !all.last().is_some_and(|line: &String| line.contains("the last one")) {
        all.push(lines.next().expect("a line of the last request").unwrap());
    }
    let all = all.join("\n");
    assert!(all.contains("/api/workflows/{workflowId}"), "{all}");
    for hidden in ["forged", "a guess", password.as_str(), token.as_str(), &token[4..]] {
        assert!(!all.contains(hidden), "`{hidden}` is in {all}");
    }
    server.end("TERM");
}
