//! Guards of what is read: JSON, queries, XML, expressions and schemas.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use crate::attack::judge::Judge;
use crate::attack::models;
use crate::attack::scene::Scene;

pub(super) async fn json(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let named = |rest: &str| format!(r#"{{"slug": "odd", "displayName": "Odd", "description": ""{rest}}}"#);
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let bodies: Vec<(&str, Vec<u8>)> = vec![
        ("a name twice", named(r#", "slug": "other""#).into_bytes()),
        ("a name twice, escaped", named(r#", "\u0073lug": "other""#).into_bytes()),
        ("depth", named(&format!(r#", "definition": {{"layout": {deep}}}"#)).into_bytes()),
        ("a lone surrogate", named(r#", "folderId": "\ud800""#).into_bytes()),
        ("a zero byte", named(r#", "folderId": "\u0000""#).into_bytes()),
        ("bad UTF-8", [named("").into_bytes(), vec![0xff]].concat()),
        ("UTF-16", named("").encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("an unknown member", named(r#", "owner": true"#).into_bytes()),
        ("a read-only member", named(r#", "id": "x""#).into_bytes()),
        ("nothing", Vec::new()),
        ("a list", b"[]".to_vec()),
        ("two values", b"{} {}".to_vec()),
        ("a number without end", named(&format!(r#", "folderId": {}"#, "9".repeat(10_000))).into_bytes()),
    ];
    for (name, body) in bodies {
        let asked = scene.owner.request(Method::POST, "/api/workflows").body("application/json", body);
        judge.status(name, asked.send().await?.status, &[400, 413]);
    }
    for media in ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"] {
        let asked = scene.owner.request(Method::POST, "/api/workflows").body(media, named("").into_bytes());
        judge.status(format_args!("as {media}"), asked.send().await?.status, &[400, 415]);
    }
    let asked = scene.owner.request(Method::POST, "/api/workflows").header("content-encoding", "gzip");
    let packed = asked.body("application/json", vec![0x1f, 0x8b, 8, 0]).send().await?;
    judge.status("packed", packed.status, &[400, 415]);
    let stranger = scene.stranger.request(Method::POST, "/api/workflows");
    let first = stranger.body("application/json", b"{".to_vec()).send().await?;
    judge.status("a stranger's broken body", first.status, &[401, 429]);
    Ok(())
}

pub(super) async fn cursors(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let cursors = [
        "",
        "x",
        "%00",
        "null",
        "IiI",
        "W10",
        "eyJhIjoxfQ",
        "LTkyMjMzNzIwMzY4NTQ3NzU4MDg",
        "MTg0NDY3NDQwNzM3MDk1NTE2MTU",
        "JyBPUiAxPTEgLS0",
        "%27%20OR%201%3D1%20--",
        "WyJhIiwiYiIsImMiXQ",
    ];
    let queries = [
        "limit=0",
        "limit=-1",
        "limit=1e9",
        "limit=999999999999999999999",
        "limit=a",
        "limit=1&limit=2",
        "sort=id;DROP",
        "search=%25%25",
        "search=%27%22%5C",
        "state=%00",
        "unknown=1",
    ];
    for list in
        ["workflows", "users", "roles", "grants", "members", "human-tasks", "audit-events", "organizations"]
    {
        let cursors = cursors.iter().map(|cursor| format!("cursor={cursor}"));
        for query in cursors.chain(queries.iter().map(|query| (*query).to_owned())) {
            let answer = scene.owner.get(&format!("/api/{list}?{query}")).await?;
            let text = answer.text().to_lowercase();
            judge.must(
                answer.status < 500 && !text.contains("sqlite") && !text.contains("postgres"),
                format_args!("{}: {} {text}", answer.asked, answer.status),
            );
        }
    }
    Ok(())
}

pub(super) async fn xml(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let size = if scene.quick { 20_000 } else { 200_000 };
    let process = |inner: &str| {
        format!(
            r#"<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:x"><process
            id="p" name="{inner}"><startEvent id="s"/></process></definitions>"#
        )
    };
    let with_type = |declared: &str, used: &str| {
        format!("<?xml version=\"1.0\"?><!DOCTYPE d [{declared}]>{}", process(used))
    };
    let laughs =
        "<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\">";
    let attributes: String = (0..size).map(|number| format!(" a{number}=\"x\"")).collect();
    let spaces: String = (0..size).map(|number| format!(" xmlns:n{number}=\"urn:{number}\"")).collect();
    let wide: Vec<u8> = with_type(laughs, "&c;").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("a file", with_type("<!ENTITY f SYSTEM \"file:///etc/passwd\">", "&f;").into_bytes()),
        ("the network", with_type("<!ENTITY f SYSTEM \"http://127.0.0.1:1/\">", "&f;").into_bytes()),
        ("an outer type", format!("<!DOCTYPE d SYSTEM \"file:///etc/passwd\">{}", process("x")).into_bytes()),
        ("growing entities", with_type(laughs, "&c;").into_bytes()),
        ("growing entities in UTF-16", [vec![0xff, 0xfe], wide].concat()),
        ("a parameter", with_type("<!ENTITY % p SYSTEM \"file:///etc/passwd\">%p;", "x").into_bytes()),
        ("nesting", format!("{}{}", "<a>".repeat(size), "</a>".repeat(size)).into_bytes()),
        ("attributes", format!("<definitions{attributes}/>").into_bytes()),
        ("namespaces", format!("<definitions{spaces}/>").into_bytes()),
        ("UTF-7", b"<?xml version=\"1.0\" encoding=\"UTF-7\"?>+ADw-definitions/+AD4-".to_vec()),
        ("a comment", process(&"x".repeat(size * 10)).into_bytes()),
    ];
    for (name, file) in files {
        let asked = scene.owner.request(Method::POST, "/api/workflows/transform/preview");
        let answer = asked.body("application/xml", file).send().await?;
        judge.status(name, answer.status, &[200, 400, 413, 429, 503]);
        judge.must(!answer.text().contains("root:"), format_args!("{name} shows a file"));
    }
    Ok(())
}

pub(super) async fn feel(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let sources = [
        "1..1000000000000".to_owned(),
        "for i in 1..100000, j in 1..100000 return i".to_owned(),
        "count(for a in 1..1000, b in 1..1000, c in 1..1000, d in 1..1000 return a)".to_owned(),
        "9 ** 9 ** 9 ** 9".to_owned(),
        "for i in 1..64 return if i = 1 then [1] else concatenate(partial[-1], partial[-1])".to_owned(),
        "{f: function(x) f(x) + f(x), r: f(1)}.r".to_owned(),
        "string join(for i in 1..900000 return \"aaaaaaaaaaaaaaaaaaaa\")".to_owned(),
        "matches(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\", \"(a+)+$\")".to_owned(),
        "replace(\"a\", \"(((((a{100}){100}){100}){100}){100})\", \"b\")".to_owned(),
        format!("{}1{}", "(".repeat(20_000), ")".repeat(20_000)),
        format!("{}1", "-".repeat(20_000)),
        format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000)),
        format!("1{}", " + 1".repeat(50_000)),
    ];
    for source in sources {
        let short: String = source.chars().take(60).collect();
        let definition = models::chain(json!({}), &[("work", "scriptTask", models::script(&source))]);
        let (workflow, published) = scene.try_publish(&definition).await?;
        judge.status(format_args!("publishing {short}"), published.status, &[200, 400, 413]);
        if published.status == 200 {
            let started = scene.start(&workflow, &json!({})).await?;
            judge.must(started.is_some(), format_args!("{short} is not answered"));
            if let Some(started) = started {
                judge.status(format_args!("running {short}"), started.status, &[201, 429, 503]);
            }
        }
    }
    Ok(())
}

pub(super) async fn fork_bomb(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let bomb = models::model(
        &[
            ("start", "startEvent", json!({})),
            ("join", "exclusiveGateway", json!({})),
            ("fork", "parallelGateway", json!({})),
            ("more", "exclusiveGateway", json!({})),
        ],
        &[("start", "join"), ("join", "fork"), ("fork", "more"), ("fork", "join"), ("more", "join")],
    );
    let circle = models::model(
        &[
            ("start", "startEvent", json!({})),
            ("one", "exclusiveGateway", json!({})),
            ("two", "exclusiveGateway", json!({})),
        ],
        &[("start", "one"), ("one", "two"), ("two", "one")],
    );
    for (name, definition) in [("a fork bomb", bomb), ("a circle", circle)] {
        let (workflow, published) = scene.try_publish(&definition).await?;
        judge.status(format_args!("publishing {name}"), published.status, &[200, 400]);
        if published.status != 200 {
            continue;
        }
        let started = scene.owner.post(&format!("/api/workflows/{workflow}/runs"), &json!({})).await?;
        judge.status(format_args!("starting {name}"), started.status, &[201, 429, 503]);
        if started.status == 201 {
            let incidents = started.json()["data"]["incidents"].to_string();
            judge.must(incidents.contains("LIMIT"), format_args!("{name}: {incidents}"));
        }
    }
    Ok(())
}

pub(super) async fn schemas(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let recursive =
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": {"$ref": "#/$defs/a"}}}}});
    let schemas: [(&str, Value); 5] = [
        ("a file", json!({"$ref": "file:///etc/passwd"})),
        ("the network", json!({"$ref": "http://127.0.0.1:1/schema"})),
        ("itself", json!({"$ref": "#"})),
        ("a part in itself", recursive),
        ("a slow pattern", json!({"properties": {"a": {"pattern": "^(a+)+$"}}})),
    ];
    for (name, schema) in schemas {
        let start = json!({"configuration": {"inputSchema": schema}});
        let (workflow, published) = scene.try_publish(&models::chain(start, &[])).await?;
        judge.status(format_args!("publishing {name}"), published.status, &[200, 400]);
        judge.must(!published.text().contains("root:"), format_args!("{name} is shown"));
        if published.status == 200 {
            let input = json!({"input": {"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}});
            let started = scene.start(&workflow, &input).await?;
            judge.must(started.is_some(), format_args!("{name} is not answered"));
            if let Some(started) = started {
                judge.status(format_args!("starting with {name}"), started.status, &[201, 400, 409]);
            }
        }
    }
    Ok(())
}
