//! Points of the Application Security Verification Standard 5.0 about what callers send: texts that mean something to a
//! database, a page, a header or a terminal, requests that two readers take apart differently, methods, and what answers
//! say about themselves.

use std::fmt::Write as _;

use heddle_api::Face;
use heddle_api::operations::{Method, OutputKind, Security};
use heddle_testkit::db::TestDb;
use heddle_testkit::{Answer, TestApp, with_both};
use serde_json::{Value, json};

use crate::raw::{HERE, Raw};
use crate::{gate, samples};

/// Texts that end a statement, a header, a line of a log, or a tag, or that a terminal obeys.
const NASTY: [&str; 3] = [
    "x' OR '1'='1'; DROP TABLE workflows; --",
    "x\r\nx-injected: yes\r\n\r\n<script>alert(1)</script>",
    "x\u{1b}[2J\u{1b}[31m\u{202e}%00\" OR \"\"=\"",
];

/// Every byte of a text as the encoding of addresses has it.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        let _ = write!(all, "%{byte:02X}");
        all
    })
}

/// The places of all texts of a body.
fn texts(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                texts(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                texts(member, &format!("{at}/{name}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Nothing of what was sent became a header, a control character of the answer, or a fault of ours.
#[track_caller]
fn holds(answer: &Answer) {
    assert!(answer.status < 500, "{}: {} {}", answer.asked, answer.status, answer.text());
    assert_eq!(answer.header("x-injected"), "", "{}", answer.asked);
    assert!(!answer.bytes.contains(&0x1b) && !answer.bytes.contains(&b'\r'), "{}", answer.asked);
}

#[tokio::test]
async fn asvs_1_2_4_and_16_4_1_no_text_of_a_body_is_more_than_a_text() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let mut tried = 0;
        for (id, spec) in gate::all().filter(|(_, spec)| samples::takes_json(spec)) {
            let (body, path) = (samples::body(id), samples::nobody(spec));
            let mut places = Vec::new();
            texts(&body, "", &mut places);
            for place in &places {
                for nasty in NASTY {
                    let mut sent = body.clone();
                    *sent.pointer_mut(place).unwrap() = json!(nasty);
                    let answer = app.admin.request(spec.method.as_str(), &path).json(&sent).send().await;
                    holds(&answer);
                    tried += 1;
                }
            }
        }
        assert!(tried > 150, "{tried}");
        // What was kept of it stands in the trail as a text, one event a line.
        let lines = app.admin.with("accept", "application/x-ndjson");
        let lines = lines.get("/api/audit-events?limit=200").await.expect(200).text();
        assert!(!lines.contains('\u{1b}') && !lines.contains('\r'));
        for line in lines.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            assert!(event["action"].is_string(), "{event}");
        }
        let listed = app.admin.get("/api/workflows?limit=200").await.expect(200).data();
        assert!(listed.as_array().is_some_and(|all| all.len() >= 3), "{listed}");
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_1_2_4_and_16_4_1_no_text_of_an_address_is_more_than_a_text() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        for (id, spec) in gate::all().filter(|(_, spec)| spec.path.contains('{')) {
            for nasty in NASTY {
                let path = samples::path(spec, |_| encoded(nasty));
                let answer = gate::call(&app.admin, id, &path).await;
                holds(&answer);
                assert!(answer.status >= 400, "{path}: {}", answer.text());
            }
        }
        let mut tried = 0;
        for name in ["openapi", "openapi-platform"] {
            let document = app.anonymous().get(&format!("/{name}.json")).await.expect(200).json();
            for (path, item) in document["paths"].as_object().unwrap() {
                if path.ends_with("/stream") {
                    continue;
                }
                let parameters = item["get"]["parameters"].as_array().cloned().unwrap_or_default();
                let path = path.split('/').map(|part| match part.starts_with('{') {
                    true => samples::NOBODY,
                    false => part,
                });
                let path = path.collect::<Vec<_>>().join("/");
                let query = parameters.iter().filter(|parameter| parameter["in"] == "query");
                for parameter in query.filter_map(|parameter| parameter["name"].as_str()) {
                    for nasty in NASTY {
                        let answer = app.admin.get(&format!("{path}?{parameter}={}", encoded(nasty))).await;
                        holds(&answer);
                        tried += 1;
                    }
                }
            }
        }
        assert!(tried > 60, "{tried}");
        // A condition that is always true finds no more than the text does.
        for list in ["/api/roles", "/api/members", "/api/organizations"] {
            for always in ["' OR '1'='1", "' OR 1=1 --", "%' OR '%'='", "\\' OR 1=1 --"] {
                let found = app.admin.get(&format!("{list}?q={}", encoded(always))).await.expect(200).data();
                assert_eq!(found, json!([]), "{list} {always}");
            }
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_2_2_1_and_2_2_2_a_member_of_another_type_is_refused_by_name() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        for (id, spec) in gate::all().filter(|(_, spec)| samples::takes_json(spec)) {
            let (body, path) = (samples::body(id), samples::within(spec, &app.organization));
            for (member, value) in body.as_object().unwrap() {
                // What is to be embedded may be lists of lists.
                if !value.is_string() || (id.infers() && member == "input") {
                    continue;
                }
                let mut sent = body.clone();
                sent[member] = json!([[]]);
                let answer = app.admin.request(spec.method.as_str(), &path).json(&sent).send().await;
                assert_eq!(answer.status, 400, "{} {member}: {}", spec.operation_id, answer.text());
                if spec.area.face() == Face::Own {
                    let fields = answer.fields();
                    let named = fields.iter().any(|field| field.starts_with(member.as_str()));
                    assert!(named, "{} {member}: {}", spec.operation_id, answer.text());
                }
            }
        }
        app.stop().await;
    });
}

/// A line that ends in `\r\n`, and what an unwary reader would take for the next request.
const SMUGGLED: &str = "GET /health/live HTTP/1.1\r\nhost: test\r\n\r\n";

/// Requests of which two readers would see different ends, each with all of its head but the request line.
const PAIRS: [(&str, &str); 16] = [
    ("CL.TE", "host: t\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n"),
    ("TE.CL", "host: t\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n"),
    ("two lengths", "host: t\r\ncontent-length: 5\r\ncontent-length: 6\r\n"),
    ("one length twice", "host: t\r\ncontent-length: 5\r\ncontent-length: 5\r\n"),
    ("a list of lengths", "host: t\r\ncontent-length: 5, 5\r\n"),
    ("a sign before the length", "host: t\r\ncontent-length: +5\r\n"),
    ("a negative length", "host: t\r\ncontent-length: -5\r\n"),
    ("a length of another base", "host: t\r\ncontent-length: 0x5\r\n"),
    ("two encodings", "host: t\r\ntransfer-encoding: chunked, identity\r\n"),
    ("an encoding twice", "host: t\r\ntransfer-encoding: chunked\r\ntransfer-encoding: identity\r\n"),
    ("an unknown encoding", "host: t\r\ntransfer-encoding: xchunked\r\n"),
    ("a space before the colon", "host: t\r\ntransfer-encoding : chunked\r\n"),
    ("a control character", "host: t\r\ntransfer-encoding:\u{b}chunked\r\n"),
    ("a folded line", "host: t\r\ntransfer-encoding:\r\n chunked\r\n"),
    ("no host", "content-length: 5\r\n"),
    ("two hosts", "host: t\r\nhost: u\r\ncontent-length: 5\r\n"),
];

#[tokio::test]
async fn asvs_4_2_1_a_request_with_two_ends_is_refused_and_nothing_behind_it_is_answered() {
    let mut app = TestApp::start(&TestDb::sqlite().await).await;
    for (what, head) in PAIRS {
        let mut raw = Raw::connect(&app, HERE).await;
        let line = "POST /api/auth/sign-in HTTP/1.1\r\n";
        let head = format!("{line}content-type: application/json\r\n{head}\r\n0\r\n\r\n{SMUGGLED}");
        raw.send(&head).await;
        let told = raw.rest().await;
        assert!(told.starts_with("HTTP/1.1 400"), "{what}: {told}");
        assert_eq!(told.matches("HTTP/1.").count(), 1, "{what}: {told}");
    }
    // Chunks whose size is none, and an encoding that an older version does not have.
    for (what, sent) in [
        (
            "a size beyond all bounds",
            "POST /api/auth/sign-in HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n",
        ),
        (
            "a size that is no number",
            "POST /api/auth/sign-in HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\n2z\r\n{}\r\n0\r\n\r\n",
        ),
        (
            "an older version",
            "POST /api/auth/sign-in HTTP/1.0\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        ),
    ] {
        let mut raw = Raw::connect(&app, HERE).await;
        raw.send(&format!("{sent}{SMUGGLED}")).await;
        let told = raw.rest().await;
        // The broken body may be told of once more, as the end of the connection; nothing else is answered.
        let refusals = told.matches(" 400 Bad Request").count();
        assert!(refusals >= 1, "{what}: {told}");
        assert_eq!(told.matches("HTTP/1.").count(), refusals, "{what}: {told}");
    }
    app.stop().await;
}

#[tokio::test]
async fn asvs_16_4_1_a_header_with_a_line_break_is_refused() {
    let mut app = TestApp::start(&TestDb::sqlite().await).await;
    for value in ["a\rx-injected: b", "a\u{0}b", "a\u{1b}[31mb"] {
        let mut raw = Raw::connect(&app, HERE).await;
        raw.send(&format!(
            "GET /health/live HTTP/1.1\r\nhost: t\r\nx-request-id: {value}\r\nconnection: close\r\n\r\n"
        ))
        .await;
        let told = raw.rest().await;
        assert!(told.starts_with("HTTP/1.1 400"), "{value:?}: {told}");
        assert!(!told.contains("x-injected") && !told.contains('\u{1b}'), "{told:?}");
    }
    app.stop().await;
}

#[tokio::test]
async fn asvs_13_4_4_trace_and_what_no_row_has_are_told_the_right_methods() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        for (_, spec) in gate::all() {
            let path = spec.path.replace(['{', '}'], "");
            for method in ["TRACE", "TRACK", "OPTIONS", "PROPFIND"] {
                let asked = app.admin.request(method, &path).header("x-echo", "mirrored");
                let answer = asked.send().await.expect(405);
                assert!(!answer.text().contains("mirrored"), "{path}");
                let allowed: Vec<_> = answer.header("allow").split(", ").collect();
                assert!(allowed.contains(&spec.method.as_str()) && !allowed.contains(&method), "{allowed:?}");
                assert_eq!(answer.header("access-control-allow-origin"), "");
            }
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_15_3_7_what_stands_twice_is_refused_at_every_depth_and_in_every_spelling() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        for (_, spec) in gate::all() {
            let reads = spec.method == Method::Get && spec.errors.contains(&400);
            if !reads || spec.security == Security::Public {
                continue;
            }
            let path = samples::within(spec, &app.organization);
            for query in ["limit=1&limit=2", "limit=1&lim%69t=1", "a=1&b=2&a=3"] {
                let answer = app.admin.get(&format!("{path}?{query}")).await;
                match spec.area.face() {
                    Face::Own => drop(answer.refused(400, "duplicateKey")),
                    Face::Camunda7 | Face::Camunda8 | Face::OpenAi | Face::Anthropic => {
                        drop(answer.expect(400));
                    }
                }
            }
        }
        let rule = r#""resourceType":"workflow","action":"read","resourceId":"*","effect":"deny""#;
        for (path, body) in [
            ("/api/roles", r#"{"name":"a","name":"a"}"#.to_owned()),
            ("/api/roles", r#"{"name":"a","n\u0061me":"b"}"#.to_owned()),
            ("/api/roles", format!(r#"{{"name":"a","grants":[{{{rule},"effect":"allow"}}]}}"#)),
            ("/api/grants", format!(r#"{{"principal":{{"kind":"user","kind":"everyone"}},{rule}}}"#)),
            (
                "/api/case-events",
                r#"{"correlationKey":"k","eventType":"e","idempotencyKey":"i","payload":{"a":{"b":1,"b":2}}}"#
                    .to_owned(),
            ),
        ] {
            let sent = app.admin.request("POST", path).body("application/json", body.into_bytes());
            let _ = sent.send().await.refused(400, "duplicateKey");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_4_1_1_and_3_4_3_and_3_4_4_and_3_4_6_and_14_3_2_every_answer_says_what_it_is() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["owner"]).await;
        for caller in [&person, &app.anonymous()] {
            for (id, spec) in gate::all() {
                // Known ids would change what the other rows are tried on.
                let path = samples::nobody(spec);
                let ends = spec.path.ends_with("/sign-out") || spec.path.ends_with("/clock");
                if spec.output == OutputKind::EventStream || ends {
                    continue;
                }
                let answer = gate::call(caller, id, &path).await;
                let what = &answer.asked;
                assert_eq!(answer.header("x-content-type-options"), "nosniff", "{what}");
                assert_eq!(answer.header("cache-control"), "no-store", "{what}");
                assert_eq!(answer.header("referrer-policy"), "no-referrer", "{what}");
                let policy = answer.header("content-security-policy");
                assert!(policy.contains("frame-ancestors 'none'"), "{what}: {policy}");
                assert_eq!(answer.header("access-control-allow-origin"), "", "{what}");
                assert_eq!((answer.header("server"), answer.header("x-powered-by")), ("", ""), "{what}");
                let media = answer.header("content-type");
                assert_eq!(answer.bytes.is_empty(), media.is_empty(), "{what}: {media}");
                if answer.status >= 400 {
                    let is_json = ["application/json", "application/problem+json"].contains(&media);
                    assert!(is_json, "{what}: {media}");
                }
            }
        }
        app.stop().await;
    });
}

/// What gets into histories and logs of proxies must not be worth stealing. Of an OpenID Connect sign-in the code and the
/// state are in the address, as its protocol has it: each counts once, and in the browser that began alone.
#[tokio::test]
async fn asvs_14_2_1_no_operation_takes_a_secret_in_its_address() {
    let mut app = TestApp::start(&TestDb::sqlite().await).await;
    let mut seen = 0;
    for name in ["openapi", "openapi-platform", "openapi-compatibility"] {
        let document = app.anonymous().get(&format!("/{name}.json")).await.expect(200).json();
        for (path, item) in document["paths"].as_object().unwrap() {
            for operation in item.as_object().unwrap().values() {
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    let within = parameter["in"].as_str().unwrap_or_default();
                    let name = parameter["name"].as_str().unwrap_or_default().to_lowercase();
                    let is_secret = ["token", "password", "secret", "apikey", "session"];
                    let is_secret = is_secret.iter().any(|word| name == *word || name.ends_with(word));
                    assert!(within != "query" || !is_secret, "{path}: {name}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 60, "{seen}");
    app.stop().await;
}
