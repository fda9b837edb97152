//! Types: their checks, and that their schemas say the same.

use serde_json::{Value, json};

use super::object;
use crate::Problems;
use crate::secret::Secret;
use crate::types::{ConnectionKind, ConnectionType, signing_key};

fn found(of: ConnectionKind, config: &Value) -> Vec<String> {
    let mut problems = Problems::default();
    ConnectionType::of(of).check_config(&mut problems, &object(config.clone()));
    let one = |problem: crate::Problem| format!("{}: {}", problem.field.unwrap_or_default(), problem.reason);
    problems.into_iter().map(one).collect()
}

#[test]
fn every_type_is_in_the_table_and_its_presets_fit_their_forms() {
    let kinds: Vec<_> = ConnectionType::ALL.iter().map(|of| of.kind).collect();
    assert_eq!(kinds, ConnectionKind::ALL);
    for of in ConnectionType::ALL {
        assert_eq!(ConnectionType::of(of.kind).title, of.title);
        for schema in [of.config_schema(), of.secrets_schema()] {
            assert!(jsonschema::validator_for(&schema).is_ok(), "{schema:#}");
        }
        for field in of.config {
            if let Some(word) = field.preset.and_then(|preset| preset.text()) {
                let told = found(of.kind, &json!({ (field.name): word }));
                let wrong = |one: &String| {
                    one.starts_with(&format!("config.{}:", field.name)) && !one.ends_with("notAllowed")
                };
                assert!(!told.iter().any(wrong), "{told:?}");
            }
        }
    }
}

#[test]
fn configurations_are_held_against_table_and_schema_alike() {
    use ConnectionKind::{Http, Postgresql, S3, Smtp, Webhook};
    let base = "https://a.test/api";
    let cases: Vec<(ConnectionKind, Value, &[&str])> = vec![
        (Http, json!({"baseUrl": base}), &[]),
        (Http, json!({}), &["config.baseUrl: required"]),
        (Http, json!({"baseUrl": 1}), &["config.baseUrl: wrongType"]),
        (Http, json!({"baseUrl": base, "url": "x"}), &["config.url: unknownField"]),
        (
            Http,
            json!({"baseUrl": base, "authentication": "digest"}),
            &["config.authentication: unknownValue"],
        ),
        (Http, json!({"baseUrl": base, "authentication": "basic"}), &["config.username: required"]),
        (Http, json!({"baseUrl": base, "authentication": "basic", "username": "ada"}), &[]),
        (Http, json!({"baseUrl": base, "username": "ada"}), &["config.username: notAllowed"]),
        (Http, json!({"baseUrl": base, "scopes": ["a"]}), &["config.scopes: notAllowed"]),
        (Http, json!({"baseUrl": base, "testPath": "//evil.test"}), &["config.testPath: wrongFormat"]),
        (
            Http,
            json!({"baseUrl": base, "authentication": "oauth2ClientCredentials", "tokenUrl": base, "clientId": "c",
                   "scopes": ["a", "b"], "clientAuthentication": "post"}),
            &[],
        ),
        (Smtp, json!({"host": "mx.test"}), &[]),
        (Smtp, json!({"host": "mx.test", "port": 0}), &["config.port: outOfRange"]),
        (Smtp, json!({"host": "mx.test", "port": "25"}), &["config.port: wrongType"]),
        (Postgresql, json!({"host": "db.test", "database": "d", "username": "u", "tls": "disable"}), &[]),
        (
            Postgresql,
            json!({"host": "db.test", "tls": "prefer"}),
            &["config.database: required", "config.username: required", "config.tls: unknownValue"],
        ),
        (S3, json!({"endpoint": "https://s3.test", "region": "r", "bucket": "b", "accessKeyId": "k"}), &[]),
        (
            S3,
            json!({"endpoint": "https://s3.test", "region": "a b", "bucket": "b", "accessKeyId": "k"}),
            &["config.region: wrongFormat"],
        ),
        (Webhook, json!({"url": "https://a.test/hook?x=1"}), &[]),
        (Webhook, json!({"url": "ftp://a.test/"}), &["config.url: wrongFormat"]),
    ];
    for (of, config, expected) in cases {
        assert_eq!(found(of, &config), expected, "{config}");
        let validator = jsonschema::validator_for(&ConnectionType::of(of).config_schema()).unwrap();
        assert_eq!(validator.is_valid(&config), expected.is_empty(), "the schema on {config}");
    }
}

#[test]
fn what_no_schema_can_say_is_checked_too() {
    use ConnectionKind::{Http, S3, Smtp, Webhook};
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let s3 = |bucket: &str, addressing: &str| {
        json!({"endpoint": "https://s3.test", "region": "r", "bucket": bucket, "accessKeyId": "k",
               "addressing": addressing})
    };
    let cases: Vec<(ConnectionKind, Value, &[&str])> = vec![
        (Http, json!({"baseUrl": "https://ada:secret@a.test"}), &["config.baseUrl: notAllowed"]),
        (Http, json!({"baseUrl": "https://a.test/?x"}), &["config.baseUrl: notAllowed"]),
        (
            Http,
            json!({"baseUrl": "https://a.test/api", "testPath": "/.."}),
            &["config.testPath: wrongFormat"],
        ),
        (
            Http,
            json!({"baseUrl": "https://a.test/api", "testPath": "/x/../../admin?y=1"}),
            &["config.testPath: wrongFormat"],
        ),
        (
            Http,
            json!({"baseUrl": "https://a.test/api", "testPath": "/%2e%2E/admin"}),
            &["config.testPath: wrongFormat"],
        ),
        (
            Http,
            json!({"baseUrl": "https://a.test/api", "testPath": "/.%2e/admin"}),
            &["config.testPath: wrongFormat"],
        ),
        (
            Http,
            json!({"baseUrl": "https://a.test/api", "testPath": "/./"}),
            &["config.testPath: wrongFormat"],
        ),
        (Http, json!({"baseUrl": "https://a.test/api", "testPath": "/v1.2/...?from=/../x"}), &[]),
        (Http, json!({"baseUrl": "https://a.test/#x"}), &["config.baseUrl: notAllowed"]),
        (Http, json!({"baseUrl": "https://a.test\\@evil.test"}), &["config.baseUrl: wrongFormat"]),
        (Http, json!({"baseUrl": "https://"}), &["config.baseUrl: wrongFormat"]),
        (
            Http,
            json!({"baseUrl": "http://a.test", "certificateAuthority": pem}),
            &["config.certificateAuthority: notAllowed"],
        ),
        (
            Http,
            json!({"baseUrl": "https://a.test", "authentication": "basic", "username": "a:b"}),
            &["config.username: wrongFormat"],
        ),
        (
            Http,
            json!({"baseUrl": "https://a.test", "authentication": "header", "headerName": "Host"}),
            &["config.headerName: notAllowed"],
        ),
        (
            Smtp,
            json!({"host": "mx.test", "security": "none", "username": "ada"}),
            &["config.security: notAllowed"],
        ),
        (Smtp, json!({"host": "mx.test:25"}), &["config.host: wrongFormat"]),
        (Smtp, json!({"host": "a@b"}), &["config.host: wrongFormat"]),
        (Smtp, json!({"host": "::1"}), &[]),
        (Smtp, json!({"host": "[::1]"}), &["config.host: wrongFormat"]),
        (
            Webhook,
            json!({"url": "https://a.test", "certificateAuthority": "PRIVATE KEY"}),
            &["config.certificateAuthority: wrongFormat"],
        ),
        (S3, s3("My_Bucket", "path"), &[]),
        (S3, s3("My_Bucket", "virtualHost"), &["config.bucket: wrongFormat"]),
        (S3, s3("a/../b", "path"), &["config.bucket: wrongFormat"]),
        (S3, s3("..", "path"), &["config.bucket: wrongFormat"]),
    ];
    for (of, config, expected) in cases {
        assert_eq!(found(of, &config), expected, "{config}");
    }
}

#[test]
fn a_problem_with_a_secret_tells_nothing_of_it() {
    let of = ConnectionType::of(ConnectionKind::Webhook);
    let good = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    assert_eq!(signing_key(good).map(|key| key.len()), Some(24));
    for (text, reason) in [
        (good, None),
        ("", Some("required")),
        ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", Some("wrongFormat")),
        ("whsec_c2hvcnQ=", Some("wrongFormat")),
        ("whsec_canary", Some("wrongFormat")),
        (&"x".repeat(9_000), Some("tooLong")),
    ] {
        let mut problems = Problems::default();
        of.check_secret(&mut problems, "signingSecret", &Secret::new(text));
        let told: Vec<_> = problems.into_iter().collect();
        assert_eq!(told.first().map(|problem| problem.reason), reason, "{text:.40}");
        assert!(!format!("{told:?}").contains("canary"));
    }
}

#[test]
fn what_is_left_out_counts_as_its_preset() {
    let of = ConnectionType::of(ConnectionKind::Smtp);
    let changed = |before: Value, after: Value| of.targets_changed(&object(before), &object(after));
    let host = json!({"host": "mx.test"});
    assert!(
        changed(host.clone(), json!({"host": "mx.test", "port": 587, "security": "starttls"})).is_empty()
    );
    assert_eq!(changed(host.clone(), json!({"host": "mx.test", "port": 25})), ["port"]);
    assert_eq!(changed(host, json!({"host": "evil.test", "security": "none"})), ["host", "security"]);
    // What the secrets of a bucket sign goes to a bucket of another owner as well as to another service.
    let of = ConnectionType::of(ConnectionKind::S3);
    let bucket = |name: &str, more: Value| {
        let mut config = object(json!({"endpoint": "https://s3.test", "bucket": name}));
        config.extend(object(more));
        config
    };
    let changed = |after| of.targets_changed(&bucket("ours", json!({})), &after);
    assert!(changed(bucket("ours", json!({"addressing": "path", "region": "r"}))).is_empty());
    assert_eq!(changed(bucket("theirs", json!({}))), ["bucket"]);
    assert_eq!(changed(bucket("ours", json!({"addressing": "virtualHost"}))), ["addressing"]);
}
