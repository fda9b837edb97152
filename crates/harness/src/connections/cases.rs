//! The cases, type by type.

use serde_json::{Value, json};

use super::SECRET;

/// A connection, and how its test must end.
pub(super) struct Case {
    /// Name of the case, which becomes the connection's.
    pub name: &'static str,
    /// Connection to make.
    pub body: Value,
    /// Phases in one of which it must fail; it must not when there are none.
    pub fails: &'static [&'static str],
}

impl Case {
    const fn of(name: &'static str, body: Value, fails: &'static [&'static str]) -> Self {
        Self { name, body, fails }
    }

    /// Outcome that it must have, in words.
    pub(super) fn expected(&self) -> String {
        match self.fails {
            [] => "succeed".to_owned(),
            phases => format!("fail at {}", phases.join(" or ")),
        }
    }
}

const AUTH: &[&str] = &["auth"];
const TLS: &[&str] = &["tls"];
const CONNECT: &[&str] = &["connect"];
const REQUEST: &[&str] = &["request"];
const GOOD: &[&str] = &[];
/// Port on which nobody listens.
const NOBODY: u16 = 9;

/// Every case.
pub(super) fn all(facts: &Value, database: u16) -> Vec<Case> {
    let mut all = http(facts);
    all.extend(tls(facts));
    all.extend(smtp(facts));
    all.extend(postgresql(facts, database));
    all.extend(s3(facts));
    all.extend(webhook(facts));
    all
}

/// A connection of a type.
fn of(kind: &str, config: Value, secrets: Value) -> Value {
    json!({ "type": kind, "config": config, "secrets": secrets })
}

fn http(facts: &Value) -> Vec<Case> {
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", facts["http"]);
    let with = |path: &str, authentication: Value, secrets: Value| {
        let mut config = authentication;
        config["baseUrl"] = json!(url(""));
        config["testPath"] = json!(path);
        of("http", config, secrets)
    };
    let basic = |password: &str| {
        with(
            "/basic",
            json!({ "authentication": "basic", "username": "caller" }),
            json!({ "password": password }),
        )
    };
    let bearer =
        |token: &str| with("/bearer", json!({ "authentication": "bearer" }), json!({ "token": token }));
    let header = |value: &str| {
        with(
            "/header",
            json!({ "authentication": "header", "headerName": "x-key" }),
            json!({ "headerValue": value }),
        )
    };
    let oauth = |client: &str, secret: &str| {
        let config = json!({ "authentication": "oauth2ClientCredentials", "tokenUrl": url("/token"),
            "clientId": "client", "clientAuthentication": client });
        with("/oauth", config, json!({ "clientSecret": secret }))
    };
    vec![
        Case::of("http none", with("/none", json!({}), json!({})), GOOD),
        Case::of("http basic", basic(SECRET), GOOD),
        Case::of("http basic, wrong", basic("wrong"), AUTH),
        Case::of("http bearer", bearer(SECRET), GOOD),
        Case::of("http bearer, wrong", bearer("wrong"), AUTH),
        Case::of("http header", header(SECRET), GOOD),
        Case::of("http header, wrong", header("wrong"), AUTH),
        Case::of("http oauth2, client in the header", oauth("basic", SECRET), GOOD),
        Case::of("http oauth2, client in the body", oauth("post", SECRET), GOOD),
        Case::of("http oauth2, wrong", oauth("basic", "wrong"), AUTH),
        // A redirect is an answer; it is not followed.
        Case::of("http redirect to metadata", with("/redirect", json!({}), json!({})), GOOD),
        Case::of("http slow", with("/slow", json!({}), json!({})), REQUEST),
        Case::of(
            "http down",
            of("http", json!({ "baseUrl": format!("http://127.0.0.1:{NOBODY}") }), json!({})),
            CONNECT,
        ),
    ]
}

fn tls(facts: &Value) -> Vec<Case> {
    let at = |service: &str, trusted: bool| {
        let mut config =
            json!({ "baseUrl": format!("https://127.0.0.1:{}", facts[service]), "testPath": "/none" });
        if trusted {
            config["certificateAuthority"] = facts["authority"].clone();
        }
        of("http", config, json!({}))
    };
    let plain = json!({ "baseUrl": format!("https://127.0.0.1:{}", facts["http"]) });
    vec![
        Case::of("tls", at("https", true), GOOD),
        Case::of("tls, authority not trusted", at("https", false), TLS),
        Case::of("tls, name of another host", at("elsewhere", true), TLS),
        Case::of("tls, expired", at("expired", true), TLS),
        Case::of("tls, server without it", of("http", plain, json!({})), TLS),
    ]
}

fn smtp(facts: &Value) -> Vec<Case> {
    let at = |port: &Value, trusted: bool, password: &str| {
        let mut config = json!({ "host": "127.0.0.1", "port": port, "username": "mailer" });
        if trusted {
            config["certificateAuthority"] = facts["authority"].clone();
        }
        of("smtp", config, json!({ "password": password }))
    };
    vec![
        Case::of("smtp", at(&facts["mail"], true, SECRET), GOOD),
        Case::of("smtp, wrong password", at(&facts["mail"], true, "wrong"), AUTH),
        Case::of("smtp, authority not trusted", at(&facts["mail"], false, SECRET), TLS),
        Case::of("smtp, name of another host", at(&facts["mailElsewhere"], true, SECRET), TLS),
        Case::of("smtp, expired", at(&facts["mailExpired"], true, SECRET), TLS),
        Case::of("smtp, slow", at(&facts["stalled"], true, SECRET), REQUEST),
        Case::of("smtp, down", at(&json!(NOBODY), true, SECRET), CONNECT),
    ]
}

fn postgresql(facts: &Value, port: u16) -> Vec<Case> {
    let secured = |service: &str, trusted: bool| {
        let mut config = json!({ "host": "127.0.0.1", "port": facts[service], "database": "postgres",
            "username": "keeper" });
        if trusted {
            config["certificateAuthority"] = facts["authority"].clone();
        }
        of("postgresql", config, json!({ "password": SECRET }))
    };
    let slow = json!({ "host": "127.0.0.1", "port": facts["stalled"], "database": "postgres",
        "username": "keeper", "tls": "disable" });
    let at = |port: u16, database: &str, tls: &str, password: &str| {
        let config = json!({ "host": "127.0.0.1", "port": port, "database": database, "username": "keeper",
            "tls": tls });
        of("postgresql", config, json!({ "password": password }))
    };
    vec![
        Case::of("postgresql", at(port, "postgres", "disable", SECRET), GOOD),
        Case::of("postgresql, wrong password", at(port, "postgres", "disable", "wrong"), AUTH),
        Case::of(
            "postgresql, no such database",
            at(port, "nowhere", "disable", SECRET),
            &["auth", "request"],
        ),
        Case::of("postgresql, server without TLS", at(port, "postgres", "verifyFull", SECRET), TLS),
        Case::of("postgresql, authority not trusted", secured("database", false), TLS),
        Case::of("postgresql, name of another host", secured("databaseElsewhere", true), TLS),
        Case::of("postgresql, expired", secured("databaseExpired", true), TLS),
        Case::of("postgresql, slow", of("postgresql", slow, json!({ "password": SECRET })), AUTH),
        Case::of("postgresql, slow with TLS", secured("stalled", true), AUTH),
        Case::of("postgresql, down", at(NOBODY, "postgres", "disable", SECRET), CONNECT),
    ]
}

fn s3(facts: &Value) -> Vec<Case> {
    let own = &facts["bucket"];
    let at = |url: &Value, bucket: &str, secret: &Value| {
        let config =
            json!({ "endpoint": url, "region": "us-east-1", "bucket": bucket, "accessKeyId": own["id"] });
        of("s3", config, json!({ "secretAccessKey": secret }))
    };
    let down = json!(format!("http://127.0.0.1:{NOBODY}"));
    let slow = json!(format!("http://127.0.0.1:{}", facts["stalled"]));
    let secured = |service: &str, trusted: bool| {
        let url = json!(format!("https://127.0.0.1:{}", facts[service]));
        let mut made = at(&url, "archive", &own["secret"]);
        if trusted {
            made["config"]["certificateAuthority"] = facts["authority"].clone();
        }
        made
    };
    vec![
        Case::of("s3, authority not trusted", secured("https", false), TLS),
        Case::of("s3, name of another host", secured("elsewhere", true), TLS),
        Case::of("s3, expired", secured("expired", true), TLS),
        Case::of("s3, slow", at(&slow, "archive", &own["secret"]), REQUEST),
        Case::of("s3", at(&own["url"], "archive", &own["secret"]), GOOD),
        Case::of("s3, wrong secret", at(&own["url"], "archive", &json!("wrong")), AUTH),
        Case::of("s3, no such bucket", at(&own["url"], "nowhere", &own["secret"]), &["auth", "request"]),
        Case::of("s3, down", at(&down, "archive", &own["secret"]), CONNECT),
    ]
}

fn webhook(facts: &Value) -> Vec<Case> {
    let at = |url: String| {
        let key = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";
        of("webhook", json!({ "url": url }), json!({ "signingSecret": key }))
    };
    vec![
        Case::of("webhook", at(format!("http://127.0.0.1:{}/hook", facts["http"])), GOOD),
        Case::of("webhook, gone", at(format!("http://127.0.0.1:{}/gone", facts["http"])), REQUEST),
        Case::of(
            "webhook, authority not trusted",
            at(format!("https://127.0.0.1:{}/hook", facts["https"])),
            TLS,
        ),
        Case::of("webhook, slow", at(format!("http://127.0.0.1:{}/hook", facts["stalled"])), REQUEST),
        Case::of("webhook, down", at(format!("http://127.0.0.1:{NOBODY}/hook")), CONNECT),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_type_has_a_good_case_and_bad_ones_and_a_name_for_each() {
        let all = all(&json!({ "http": 1, "bucket": { "secret": "s" } }), 1);
        let names: BTreeSet<_> = all.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), all.len());
        for kind in ["http", "smtp", "postgresql", "s3", "webhook"] {
            let of: Vec<_> = all.iter().filter(|case| case.body["type"] == kind).collect();
            assert!(of.iter().any(|case| case.fails.is_empty()), "{kind}");
            for phase in [TLS, CONNECT] {
                assert!(of.iter().any(|case| case.fails == phase), "{kind}: {phase:?}");
            }
            assert!(of.iter().any(|case| case.name.contains("slow")), "{kind}");
        }
    }
}
