//! Never accepted and ignored: for each parameter and each member of a body that the documents name there is a call in
//! which it changes the outcome. `pairs.txt` has the calls.
//!
//! A block begins with `@` and an operation's id (`@world` is carried out once, first). Its lines:
//! - `def NAME text`: `$NAME` stands for the text from here on;
//! - `let name pointer METHOD path body`: sends it, and `{name}` stands for what the answer has there; `let name =other`
//!   and `let name ="text"` give a name to what is known;
//! - `do METHOD path body`: sends it;
//! - `base body`: the body of the call that each line below differs from;
//! - `query name | text | where`, `body name | text | where`, `header name | text | where`: the call with the query, with
//!   these members in its body (`"<none>"` takes one out), or with the header. The outcome differs from the base's `where`:
//!   `status`, `body`, `header:name`, or a pointer into the answer. Further parts: `base=body` another base;
//!   `name=other` another value of a path's parameter; `read=path` looks there instead of at the answer; `then=METHOD path
//!   body` sends that and looks at its answer.
//!
//! `let` and `do` of a block are carried out anew for each call, and `%` is a word of the call's own.

mod definition;

use std::collections::{BTreeMap, BTreeSet};

use heddle_api::openapi::{contract_json, platform_json};
use heddle_api::operations::{Document, OperationId, OperationSpec, OutputKind, Security, Selector};
use heddle_identity::licence::testing;
use heddle_kernel::Clock as _;
use heddle_testkit::db::TestDb;
use heddle_testkit::{Answer, Client, TestApp};
use serde_json::{Map, Value};

use crate::samples::NOBODY;

const PAIRS: &str = include_str!("pairs.txt");

/// Parameters that are tried in tests of their own, with the test.
const ELSEWHERE: [(&str, &str); 51] = [
    // models_of_providers/wires.rs, whose provider tells what it was sent.
    ("postapiChat", "body stream_options"),
    ("postapiChat", "body stream_options.include_usage"),
    ("postapiChat", "body temperature"),
    ("postapiChat", "body top_p"),
    ("postapiChat", "body seed"),
    ("postapiChat", "body tool_choice"),
    ("postapiChat", "body metadata"),
    ("postapiChat", "body user"),
    ("postapiEmbeddings", "body user"),
    ("postapiEmbeddings", "query format"),
    // vectors/queries.rs and vectors/rights.rs, which wait until passages are found.
    ("postapiVectorDatabasesNameQuery", "body limit"),
    ("postapiVectorDatabasesNameQuery", "body minScore"),
    ("postapiVectorDatabasesNameQuery", "body includeText"),
    ("postapiVectorDatabasesNameQuery", "body includeNeighbours"),
    ("postapiVectorDatabasesNameQuery", "body includeScores"),
    // vectors/files.rs, which waits until a file is read.
    ("patchapiVectorDatabasesNameFilesFileId", "body reprocess"),
    ("patchapiVectorDatabasesNameFilesFileId", "body methodologyOptions"),
    // second_factor.rs, which has an authenticator.
    ("postapiAuthTotp", "body password"),
    ("postapiAuthTotp", "body code"),
    ("deleteapiAuthTotp", "body password"),
    ("deleteapiAuthTotp", "body code"),
    // sign_ins/mod.rs, which has a provider.
    ("getapiAuthOidcProviderStart", "path provider"),
    ("getapiAuthOidcProviderStart", "query returnTo"),
    ("getapiAuthOidcProviderCallback", "path provider"),
    ("getapiAuthOidcProviderCallback", "query state"),
    ("getapiAuthOidcProviderCallback", "query code"),
    ("getapiAuthOidcProviderCallback", "query iss"),
    ("getapiAuthOidcProviderCallback", "query error"),
    ("deleteapiUsersUserIdProvidersProvider", "path userId"),
    ("deleteapiUsersUserIdProvidersProvider", "path provider"),
    // all_runs.rs: the stream over all runs has no end.
    ("getapiRunsEventsStream", "query workflowId"),
    ("getapiRunsEventsStream", "query types"),
    // dead_letters.rs, which makes a dead letter.
    ("postapiDeadLettersDeadLetterIdRetry", "path deadLetterId"),
    ("deleteapiDeadLettersDeadLetterId", "path deadLetterId"),
    // jobs.rs, which has workers.
    ("postapiJobsJobIdComplete", "path jobId"),
    ("postapiJobsJobIdComplete", "body epoch"),
    ("postapiJobsJobIdComplete", "body variables"),
    ("postapiJobsJobIdFail", "path jobId"),
    ("postapiJobsJobIdFail", "body epoch"),
    ("postapiJobsJobIdFail", "body message"),
    ("postapiJobsJobIdFail", "body details"),
    ("postapiJobsJobIdFail", "body retries"),
    ("postapiJobsJobIdFail", "body retryAfterMs"),
    ("postapiJobsJobIdError", "path jobId"),
    ("postapiJobsJobIdError", "body epoch"),
    ("postapiJobsJobIdError", "body code"),
    ("postapiJobsJobIdError", "body message"),
    ("postapiJobsJobIdError", "body variables"),
    ("postapiJobsJobIdExtend", "path jobId"),
    ("postapiJobsJobIdExtend", "body epoch"),
    ("postapiJobsJobIdExtend", "body lockMs"),
];

/// A block of the data.
struct Block {
    operation: &'static str,
    lines: Vec<&'static str>,
}

fn blocks() -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in PAIRS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('@') {
            Some(operation) => blocks.push(Block { operation, lines: Vec::new() }),
            None => blocks.last_mut().expect("a block").lines.push(line),
        }
    }
    blocks
}

impl Block {
    fn preparation(&self) -> impl Iterator<Item = &'static str> {
        self.lines.iter().copied().filter(|line| {
            let word = line.split(' ').next().unwrap();
            matches!(word, "def" | "let" | "do")
        })
    }

    fn base(&self) -> Option<&'static str> {
        self.lines.iter().copied().find_map(|line| line.strip_prefix("base "))
    }

    fn pairs(&self) -> impl Iterator<Item = Pair> {
        let base = self.base();
        self.lines.iter().copied().filter_map(move |line| Pair::read(line, base))
    }
}

/// A call that differs from the base in one thing.
struct Pair {
    place: &'static str,
    name: &'static str,
    text: &'static str,
    differs: &'static str,
    base: Option<&'static str>,
    further: Vec<(&'static str, &'static str)>,
}

impl Pair {
    fn read(line: &'static str, base: Option<&'static str>) -> Option<Self> {
        let mut parts = line.split(" | ");
        let (place, name) = parts.next()?.split_once(' ')?;
        if !matches!(place, "query" | "body" | "header") {
            return None;
        }
        let text = parts.next().unwrap_or_else(|| panic!("no call: {line}"));
        let differs = parts.next().unwrap_or_else(|| panic!("no difference: {line}"));
        let further: Vec<_> = parts.map(|part| part.split_once('=').unwrap()).collect();
        let own = further.iter().find(|(name, _)| *name == "base").map(|(_, body)| *body);
        Some(Self { place, name, text, differs, base: own.or(base), further })
    }

    fn further(&self, name: &str) -> Option<&'static str> {
        self.further.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// A running service, and what is known of it.
struct World {
    client: Client,
    stranger: Client,
    known: BTreeMap<String, String>,
    definitions: Vec<(&'static str, &'static str)>,
    calls: usize,
}

/// Facts of one call: its names, and its own word.
#[derive(Clone)]
struct Own {
    known: BTreeMap<String, String>,
    word: String,
}

impl World {
    async fn of(app: &TestApp) -> Self {
        let now = heddle_runtime::ServerClock::default().now();
        let licence = testing::issue(&testing::claims(now));
        let older = testing::issue(&testing::claims(now.plus_seconds(-3600)));
        let (email, password) = app.account.clone();
        let text = |text: String| text.replace('\n', "\\n");
        let known =
            [("email", email), ("password", password), ("licence", text(licence)), ("older", text(older))];
        let known = known.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let (client, stranger) = (app.admin.clone(), app.anonymous());
        let mut world = Self { client, stranger, known, definitions: Vec::new(), calls: 0 };
        let first = blocks().remove(0);
        assert_eq!(first.operation, "world");
        let mut own = world.own();
        world.prepare(&first, &mut own).await;
        world.known = own.known;
        world
    }

    fn own(&mut self) -> Own {
        self.calls += 1;
        Own { known: self.known.clone(), word: format!("x{}x", self.calls) }
    }

    /// The text with what its names stand for.
    fn filled(&self, text: &str, own: &Own) -> String {
        let mut filled = text.to_owned();
        for (name, value) in self.definitions.iter().rev() {
            filled = filled.replace(&format!("${name}"), value);
        }
        for (name, value) in &own.known {
            filled = filled.replace(&format!("{{{name}}}"), value);
        }
        // What follows the sign in an escape is no word.
        let mut parts = filled.split('%');
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let escape = part.len() >= 2 && part.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit);
            whole.push_str(if escape { "%" } else { &own.word });
            whole.push_str(part);
        }
        whole
    }

    async fn send(&self, method: &str, path: &str, body: Option<String>, headers: &[(&str, &str)]) -> Answer {
        // Whoever signs in is nobody yet; with a session it would take the place of that.
        let by = match path {
            "/api/auth/sign-in" | "/api/setup" => &self.stranger,
            _ => &self.client,
        };
        let mut request = by.request(method, path);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        match body {
            Some(body) => request.body("application/json", body.into_bytes()).send().await,
            None => request.send().await,
        }
    }

    async fn prepare(&mut self, block: &Block, own: &mut Own) {
        for line in block.preparation() {
            let (word, rest) = line.split_once(' ').unwrap();
            let (name, rest) = match word {
                "do" => ("", rest),
                _ => rest.split_once(' ').unwrap(),
            };
            if word == "def" {
                self.definitions.push((name, rest));
                continue;
            }
            if let Some(other) = rest.strip_prefix('=') {
                let value = match other.strip_prefix('"') {
                    Some(text) => text.trim_end_matches('"').to_owned(),
                    None => own.known[other].clone(),
                };
                own.known.insert(name.to_owned(), value);
                continue;
            }
            let (pointer, call) = if word == "let" { rest.split_once(' ').unwrap() } else { ("", rest) };
            let answer = self.sent(call, own).await;
            assert!((200..300).contains(&answer.status), "{line}: {} {}", answer.status, answer.text());
            if word == "let" {
                let json = answer.json();
                let value = json.pointer(pointer).unwrap_or_else(|| panic!("{line}: {json}"));
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                own.known.insert(name.to_owned(), text);
            }
        }
    }

    /// Sends `METHOD path body`.
    async fn sent(&self, call: &str, own: &Own) -> Answer {
        let mut words = call.splitn(3, ' ');
        let method = words.next().unwrap();
        let path = self.filled(words.next().unwrap(), own);
        self.send(method, &path, words.next().map(|body| self.filled(body, own)), &[]).await
    }

    fn path(&self, spec: &OperationSpec, own: &Own) -> String {
        let missing = |name: &str| !own.known.contains_key(name);
        if let Some(name) = spec.path_parameters().find(|name| missing(name)) {
            panic!("{}: pairs.txt does not say what {name} is", spec.operation_id);
        }
        self.filled(spec.path, own)
    }

    /// Makes the call of a pair, or its base.
    async fn outcome(&mut self, block: &Block, spec: &OperationSpec, pair: &Pair, differs: bool) -> String {
        let mut own = self.own();
        self.prepare(block, &mut own).await;
        for (name, other) in &pair.further {
            if name.ends_with("Id") {
                let value = own.known[*other].clone();
                own.known.insert((*name).to_owned(), value);
            }
        }
        let mut path = self.path(spec, &own);
        let mut body = pair.base.map(|text| parsed(&self.filled(text, &own)));
        let mut headers = vec![];
        let accept = if spec.output == OutputKind::EventStream { "text/event-stream" } else { "*/*" };
        headers.push(("accept", accept));
        let text = self.filled(pair.text, &own);
        match pair.place {
            // The second page against the first one.
            "query" if pair.name == "cursor" && text.starts_with("limit=") => {
                path = format!("{path}?{text}");
                if differs {
                    let first = self.send("GET", &path, None, &[]).await.expect(200).json();
                    let next = first["page"]["nextCursor"].as_str().or(first["data"]["nextCursor"].as_str());
                    let next = next.unwrap_or_else(|| panic!("{path}: {first}"));
                    path = format!("{path}&cursor={next}");
                }
            }
            "query" if differs => path = format!("{path}?{text}"),
            "body" if differs => merge(body.as_mut().expect("a base"), &parsed(&text)),
            "header" if differs => headers.push((pair.name, text.as_str())),
            _ => {}
        }
        let body = body.map(|body| body.to_string());
        let mut answer = self.send(spec.method.as_str(), &path, body, &headers).await;
        if let Some(path) = pair.further("read") {
            answer = self.sent(&format!("GET {path}"), &own).await.expect(200);
        }
        if let Some(call) = pair.further("then") {
            answer = self.sent(call, &own).await;
        }
        seen(&answer, pair.differs).replace(&own.word, "%")
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Puts members into an object, and into the objects in it.
fn merge(into: &mut Value, members: &Value) {
    let Value::Object(members) = members else { panic!("no object: {members}") };
    let into = into.as_object_mut().expect("an object");
    for (name, value) in members {
        match (into.get_mut(name), value) {
            (_, Value::String(word)) if word == "<none>" => {
                into.remove(name);
            }
            (Some(inner @ Value::Object(_)), Value::Object(_)) => merge(inner, value),
            _ => {
                into.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Part of an answer that is looked at.
fn seen(answer: &Answer, place: &str) -> String {
    if place == "status" {
        return answer.status.to_string();
    }
    if let Some(name) = place.strip_prefix("header:") {
        return answer.header(name).to_owned();
    }
    match serde_json::from_slice::<Value>(&answer.bytes) {
        Ok(json) if place == "body" => lasting(json).to_string(),
        Ok(json) => json.pointer(place).map(ToString::to_string).unwrap_or_default(),
        Err(_) => answer.text(),
    }
}

/// A value without what is new in every answer.
fn lasting(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let stays = |name: &String| !matches!(name.as_str(), "requestId" | "at" | "id" | "taskId");
            let kept = members.into_iter().filter(|(name, _)| stays(name));
            Value::Object(kept.map(|(name, value)| (name, lasting(value))).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.into_iter().map(lasting).collect(),
        other => other,
    }
}

fn spec(operation: &str) -> &'static OperationSpec {
    OperationId::find(operation).unwrap_or_else(|| panic!("there is no {operation}")).spec()
}

/// The members of a body, with those of the objects in it, each by its path. A definition has a table of its own.
fn members(
    document: &Value,
    schema: &Value,
    prefix: &str,
    within: &BTreeSet<String>,
    all: &mut BTreeSet<String>,
) {
    let mut within = within.clone();
    let schema = match schema["$ref"].as_str() {
        Some(reference) => {
            let name = reference.rsplit('/').next().unwrap().to_owned();
            if definition::ROOTS.contains(&name.as_str()) || !within.insert(name.clone()) {
                return;
            }
            &document["components"]["schemas"][name]
        }
        None => schema,
    };
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        all.insert(format!("{prefix}{name}"));
        members(document, member, &format!("{prefix}{name}."), &within, all);
    }
    members_of_parts(document, schema, prefix, &within, all);
}

fn members_of_parts(
    document: &Value,
    schema: &Value,
    prefix: &str,
    within: &BTreeSet<String>,
    all: &mut BTreeSet<String>,
) {
    if schema["items"].is_object() {
        members(document, &schema["items"], prefix, within, all);
    }
    for choices in ["allOf", "anyOf", "oneOf"] {
        for choice in schema[choices].as_array().into_iter().flatten() {
            members(document, choice, prefix, within, all);
        }
    }
}

/// Each query parameter and each member of a body that the documents name, as `operation place name`.
fn named() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for document in [contract_json(), platform_json()] {
        for operation in document["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|item| item.as_object().unwrap().values())
        {
            let id = operation["operationId"].as_str().unwrap();
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            for parameter in parameters.filter(|parameter| parameter["in"] == "query") {
                all.insert(format!("{id} query {}", parameter["name"].as_str().unwrap()));
            }
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let mut body = BTreeSet::new();
            members(document, schema, "", &BTreeSet::new(), &mut body);
            all.extend(body.iter().map(|name| format!("{id} body {name}")));
        }
    }
    all
}

#[test]
fn each_parameter_and_each_member_has_its_pair_and_no_pair_is_left_over() {
    let mut paired = BTreeSet::new();
    for block in blocks().iter().skip(1) {
        let id = spec(block.operation).operation_id;
        for pair in block.pairs().filter(|pair| pair.place != "header") {
            assert!(paired.insert(format!("{id} {} {}", pair.place, pair.name)), "{id} {} twice", pair.name);
        }
    }
    // The parameters of paths are in no pair.
    let elsewhere = ELSEWHERE.iter().filter(|(_, what)| !what.starts_with("path "));
    paired.extend(elsewhere.map(|(operation, what)| format!("{operation} {what}")));
    let named = named();
    let unpaired: Vec<_> = named.difference(&paired).collect();
    let left_over: Vec<_> = paired.difference(&named).collect();
    assert!(
        unpaired.is_empty() && left_over.is_empty(),
        "without a pair: {unpaired:#?}; gone: {left_over:#?}"
    );
}

/// One database is enough: what reaches the database is tried on both by the tests of its kind.
#[tokio::test]
async fn each_parameter_and_each_member_changes_an_outcome() {
    let db = TestDb::sqlite().await;
    let mut app = TestApp::start(&db).await;
    let mut world = World::of(&app).await;
    let mut without = Vec::new();
    for block in blocks().iter().skip(1) {
        let spec = spec(block.operation);
        for pair in block.pairs() {
            let base = world.outcome(block, spec, &pair, false).await;
            let other = world.outcome(block, spec, &pair, true).await;
            if base == other {
                without.push(format!("{} {} {}: {base}", block.operation, pair.place, pair.name));
            }
        }
    }
    app.stop().await;
    assert!(without.is_empty(), "without effect: {without:#?}");
}

/// The headers and the path's parameters of every row, which work alike everywhere.
#[tokio::test]
async fn each_header_and_each_id_of_a_path_changes_an_outcome() {
    let db = TestDb::sqlite().await;
    let mut app = TestApp::start(&db).await;
    let mut world = World::of(&app).await;
    let blocks = blocks();
    let mut without = Vec::new();
    for id in OperationId::ALL {
        let spec = id.spec();
        let empty = Block { operation: spec.operation_id, lines: Vec::new() };
        let block = blocks.iter().find(|block| block.operation == spec.operation_id).unwrap_or(&empty);
        let elsewhere = ELSEWHERE.iter().any(|(operation, _)| *operation == spec.operation_id);
        // What clients of other products send is tried in the tests of their faces.
        if elsewhere || spec.document == Document::Compatibility {
            continue;
        }
        without.extend(tried(&mut world, block, spec).await);
    }
    app.stop().await;
    assert!(without.is_empty(), "without effect: {without:#?}");
}

/// The call of a row as its block has it, with further headers and another value of a parameter.
async fn base_call(
    world: &mut World,
    block: &Block,
    spec: &OperationSpec,
    headers: &[(&str, &str)],
    other: Option<(&str, &str)>,
) -> (Answer, Answer) {
    let mut own = world.own();
    world.prepare(block, &mut own).await;
    if let Some((name, value)) = other {
        own.known.insert(name.to_owned(), value.to_owned());
    }
    let path = world.path(spec, &own);
    let body = block.base().map(|text| world.filled(text, &own));
    let first = world.send(spec.method.as_str(), &path, body.clone(), headers).await;
    let second = world.send(spec.method.as_str(), &path, body, headers).await;
    (first, second)
}

async fn tried(world: &mut World, block: &Block, spec: &OperationSpec) -> Vec<String> {
    // It would end the caller's own session.
    if spec.id == OperationId::SignOut {
        return Vec::new();
    }
    let mut without = Vec::new();
    let mut note = |works: bool, what: &str, answer: &Answer| {
        if !works {
            without.push(format!("{} {what}: {} {}", spec.operation_id, answer.status, answer.text()));
        }
    };
    let (base, _) = base_call(world, block, spec, &[], None).await;
    let (named, _) = base_call(world, block, spec, &[("x-request-id", "a-name")], None).await;
    note(
        named.header("x-request-id") == "a-name" && base.header("x-request-id") != "a-name",
        "x-request-id",
        &named,
    );
    if matches!(spec.security, Security::Permissions(_)) && !matches!(spec.selector(), Selector::Tenant(_)) {
        let (elsewhere, _) = base_call(world, block, spec, &[("x-organization-id", NOBODY)], None).await;
        note(elsewhere.status == 403 && base.status != 403, "x-organization-id", &elsewhere);
    }
    for name in spec.path_parameters() {
        let (other, _) = base_call(world, block, spec, &[], Some((name, NOBODY))).await;
        note(other.status != base.status, &format!("path {name}"), &other);
    }
    if spec.if_match {
        let (stale, _) = base_call(world, block, spec, &[("if-match", "\"999999\"")], None).await;
        note(stale.status == 409 && base.status != 409, "If-Match", &stale);
    }
    if spec.accepts_idempotency_key() {
        let key = format!("key-{}", world.calls);
        let (_, again) = base_call(world, block, spec, &[("idempotency-key", &key)], None).await;
        let long = "k".repeat(201);
        let (unusable, _) = base_call(world, block, spec, &[("idempotency-key", &long)], None).await;
        let told = again.header("idempotent-replayed") == "true" || again.fields() == ["Idempotency-Key"];
        let refused = unusable.fields() == ["Idempotency-Key"];
        // The demo's trial runs already.
        let trial = spec.id == OperationId::StartTrial;
        note((told || trial) && refused, "Idempotency-Key", &again);
    }
    let answers = !matches!(spec.output, OutputKind::None) && (200..300).contains(&base.status);
    if answers {
        let (picture, _) = base_call(world, block, spec, &[("accept", "image/png")], None).await;
        note(picture.status == 406, "Accept", &picture);
    }
    without
}
