//! The calls of `pairs.txt`: how its lines are read, and how a call is prepared, made and looked at.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use heddle_api::operations::{OperationId, OperationSpec, OutputKind, Security, Selector};
use heddle_identity::licence::testing;
use heddle_kernel::{Clock as _, Timestamp};
use heddle_testkit::{Answer, Client, TestApp, eventually};
use serde_json::{Map, Value, json};
use uuid::Uuid;

const PAIRS: &str = include_str!("pairs.txt");
/// Times that a base and its variant are asked for, until the base says the same before and behind the variant.
const MOST_TIMES: usize = 100;
const DAY: i64 = 24 * 3600;

/// A block of the data.
pub(super) struct Block {
    pub operation: &'static str,
    lines: Vec<&'static str>,
}

pub(super) fn blocks() -> Vec<Block> {
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
    /// A block of an operation that none is written for.
    pub(super) fn empty(operation: &'static str) -> Self {
        Self { operation, lines: Vec::new() }
    }

    fn preparation(&self) -> impl Iterator<Item = &'static str> {
        self.lines.iter().copied().filter(|line| {
            let word = line.split(' ').next().unwrap();
            matches!(word, "def" | "let" | "do")
        })
    }

    pub(super) fn base(&self) -> Option<&'static str> {
        self.lines.iter().copied().find_map(|line| line.strip_prefix("base "))
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        let base = self.base();
        self.lines.iter().copied().filter_map(move |line| Pair::read(line, base))
    }
}

/// A call that differs from the base in one thing.
pub(super) struct Pair {
    pub place: &'static str,
    pub name: &'static str,
    text: &'static str,
    differs: &'static str,
    base: Option<&'static str>,
    further: Vec<(&'static str, &'static str)>,
}

impl Pair {
    fn read(line: &'static str, base: Option<&'static str>) -> Option<Self> {
        let mut parts = line.split(" | ");
        let (place, name) = parts.next()?.split_once(' ')?;
        if !matches!(place, "query" | "body" | "form" | "header") {
            return None;
        }
        let text = parts.next().unwrap_or_else(|| panic!("no call: {line}"));
        let differs = parts.next().unwrap_or_else(|| panic!("no difference: {line}"));
        let further: Vec<_> = parts.map(|part| part.split_once('=').unwrap()).collect();
        let own = further.iter().find(|(name, _)| *name == "base").map(|(_, body)| *body);
        Some(Self { place, name, text, differs, base: own.or(base), further })
    }

    /// What the base's call is: pairs of which it is the same have it in common.
    fn base_call(&self) -> String {
        format!("{} {:?} {:?}", self.place == "form", self.base, self.further)
    }
}

/// A running service, and what is known of it.
pub(super) struct World {
    client: Client,
    stranger: Client,
    known: BTreeMap<String, String>,
    definitions: Vec<(&'static str, &'static str)>,
    now: Timestamp,
    calls: usize,
}

/// Facts of one call: its names, and its own word.
#[derive(Clone)]
pub(super) struct Own {
    known: BTreeMap<String, String>,
    word: String,
}

impl World {
    pub(super) async fn of(app: &TestApp) -> Self {
        let now = heddle_runtime::ServerClock::default().now();
        let licence = testing::issue(&testing::claims(now));
        let older = testing::issue(&testing::claims(now.plus_seconds(-3600)));
        let (email, password) = app.account.clone();
        let text = |text: String| text.replace('\n', "\\n");
        let day = |days: i64| now.plus_seconds(days * DAY).to_string()[..10].to_owned();
        let known = [
            ("email", email),
            ("password", password),
            ("licence", text(licence)),
            ("older", text(older)),
            ("today", day(0)),
            ("afterwards", day(60)),
        ];
        let known = known.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let (client, stranger) = (app.admin.clone(), app.anonymous());
        let mut world = Self { client, stranger, known, definitions: Vec::new(), now, calls: 0 };
        let first = blocks().remove(0);
        assert_eq!(first.operation, "world");
        world.known = world.prepared(&first).await.known;
        world
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

    async fn send(&self, method: &str, path: &str, body: Body, headers: &[(&str, &str)]) -> Answer {
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
            Body::None => request.send().await,
            Body::Json(text) => request.body("application/json", text.into_bytes()).send().await,
            Body::Form(parts) => {
                request.body("multipart/form-data; boundary=b", form(&parts).into_bytes()).send().await
            }
        }
    }

    /// Carries the preparation of a block out.
    pub(super) async fn prepared(&mut self, block: &Block) -> Own {
        self.calls += 1;
        let mut own = Own { known: self.known.clone(), word: format!("x{}x", self.calls) };
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
            let value = eventually(line, async || {
                let answer = self.sent(call, &own).await;
                let told = (200..300).contains(&answer.status);
                assert!(told, "{line}: {} {}", answer.status, answer.text());
                if word == "do" { Some(Value::Null) } else { answer.json().pointer(pointer).cloned() }
            })
            .await;
            if word == "let" {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                own.known.insert(name.to_owned(), text);
            }
        }
        own
    }

    /// Sends `METHOD path body`.
    async fn sent(&self, call: &str, own: &Own) -> Answer {
        let mut words = call.splitn(3, ' ');
        let method = words.next().unwrap();
        let path = self.filled(words.next().unwrap(), own);
        let body = words.next().map_or(Body::None, |body| Body::Json(self.filled(body, own)));
        self.send(method, &path, body, &[]).await
    }

    fn path(&self, spec: &OperationSpec, own: &Own) -> String {
        let missing = |name: &str| !own.known.contains_key(name);
        if let Some(name) = spec.path_parameters().find(|name| missing(name)) {
            panic!("{}: pairs.txt does not say what {name} is", spec.operation_id);
        }
        self.filled(spec.path, own)
    }

    /// The pairs of a block that say nothing, and why: without its parameter, a variant is the base once more.
    ///
    /// What reads is asked for in one state, so that a filter that is ignored finds the same rows; what writes has a
    /// state of its own each time, and new ids and instants are left out of what is compared.
    pub(super) async fn faults(&mut self, block: &Block) -> Vec<String> {
        let pairs: Vec<Pair> = block.pairs().collect();
        let told = match pairs.is_empty() {
            true => Vec::new(),
            false if spec(block.operation).method.as_str() == "GET" => self.read(block, &pairs).await,
            false => self.written(block, &pairs).await,
        };
        let told = pairs.iter().zip(told).filter_map(|(pair, told)| Some((pair, told?)));
        told.map(|(pair, told)| format!("{} {} {}: {told}", block.operation, pair.place, pair.name)).collect()
    }

    async fn read(&mut self, block: &Block, pairs: &[Pair]) -> Vec<Option<String>> {
        let (spec, own) = (spec(block.operation), self.prepared(block).await);
        let mut all = Vec::new();
        for pair in pairs {
            let mut told = None;
            // What goes on behind the calls may come between them.
            for _ in 0..MOST_TIMES {
                let base = self.call(spec, pair, &own, false).await;
                let variant = self.call(spec, pair, &own, true).await;
                let again = self.call(spec, pair, &own, false).await;
                let [base, again] = [base, again].map(|answer| seen(&answer, pair.differs));
                told = judged(&base, &seen(&variant, pair.differs), &again, &variant, pair);
                if base == again {
                    break;
                }
            }
            all.push(told);
        }
        all
    }

    async fn written(&mut self, block: &Block, pairs: &[Pair]) -> Vec<Option<String>> {
        let spec = spec(block.operation);
        let (mut bases, mut variants) = (BTreeMap::new(), Vec::new());
        for pair in pairs {
            if let Entry::Vacant(place) = bases.entry(pair.base_call()) {
                let own = self.prepared(block).await;
                let answer = self.call(spec, pair, &own, false).await;
                place.insert((pair, answer, own));
            }
            let own = self.prepared(block).await;
            let answer = self.call(spec, pair, &own, true).await;
            variants.push((answer, own));
        }
        // Once more behind them all, so that nothing else has changed the outcome meanwhile.
        let mut again = BTreeMap::new();
        for (name, (pair, ..)) in &bases {
            let own = self.prepared(block).await;
            again.insert(name.clone(), (self.call(spec, pair, &own, false).await, own));
        }
        let told = pairs.iter().zip(&variants).map(|(pair, (variant, own))| {
            let seen = |answer: &Answer, own: &Own| self.without_what_is_new(seen(answer, pair.differs), own);
            let ((_, base, of_base), (once_more, of_it)) =
                (&bases[&pair.base_call()], &again[&pair.base_call()]);
            judged(&seen(base, of_base), &seen(variant, own), &seen(once_more, of_it), variant, pair)
        });
        told.collect()
    }

    /// Makes the call of a pair, or its base.
    async fn call(&self, spec: &OperationSpec, pair: &Pair, own: &Own, differs: bool) -> Answer {
        let mut own = own.clone();
        for (name, other) in &pair.further {
            if spec.path_parameters().any(|parameter| parameter == *name) {
                let value = own.known[*other].clone();
                own.known.insert((*name).to_owned(), value);
            }
        }
        let reads = spec.method.as_str() == "GET";
        let mut path = self.path(spec, &own);
        let (base, text) = (pair.base.map(|text| self.filled(text, &own)), self.filled(pair.text, &own));
        let mut headers = vec![];
        let accept = if spec.output == OutputKind::EventStream { "text/event-stream" } else { "*/*" };
        headers.push(("accept", accept));
        let mut body = Body::None;
        match pair.place {
            "query" => {
                let query = self.query(&path, pair, base.as_deref().filter(|_| reads), &text, differs).await;
                path.push_str(&query);
            }
            "header" if differs => headers.push((pair.name, text.as_str())),
            _ => {}
        }
        if let Some(base) = base.filter(|_| !reads) {
            let mut whole = parsed(&base);
            if differs && matches!(pair.place, "body" | "form") {
                merge(&mut whole, &parsed(&text));
            }
            body = if pair.place == "form" { Body::Form(whole) } else { Body::Json(whole.to_string()) };
        }
        let mut answer = self.send(spec.method.as_str(), &path, body, &headers).await;
        for (name, call) in &pair.further {
            match *name {
                "read" => answer = self.sent(&format!("GET {call}"), &own).await.expect(200),
                "then" => answer = self.sent(call, &own).await,
                "until" => {
                    let (pointer, call) = call.split_once(' ').unwrap();
                    answer = eventually(call, async || {
                        let answer = self.sent(call, &own).await.expect(200);
                        answer.json().pointer(pointer).is_some().then_some(answer)
                    })
                    .await;
                }
                _ => {}
            }
        }
        answer
    }

    /// The query of a call: the base's parameters, those of the pair in place of theirs.
    async fn query(&self, path: &str, pair: &Pair, base: Option<&str>, text: &str, differs: bool) -> String {
        let name_of = |part: &str| part.split('=').next().unwrap().to_owned();
        let first = pair.name == "cursor" && text.starts_with("limit=");
        let own: Vec<String> =
            if differs || first { text.split('&').map(name_of).collect() } else { Vec::new() };
        let kept = base.into_iter().flat_map(|base| base.split('&'));
        let mut parts: Vec<String> =
            kept.filter(|part| !own.contains(&name_of(part))).map(str::to_owned).collect();
        if differs || first {
            parts.push(text.to_owned());
        }
        // The second page against the first one.
        if differs && first {
            let page = self.send("GET", &format!("{path}?{}", parts.join("&")), Body::None, &[]).await;
            let page = page.expect(200).json();
            let next = page["page"]["nextCursor"].as_str().or(page["data"]["nextCursor"].as_str());
            parts.push(format!("cursor={}", next.unwrap_or_else(|| panic!("{path}: {page}"))));
        }
        if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) }
    }

    /// A value whose ids are named as the block names them, and whose instants of these days are alike.
    fn without_what_is_new(&self, value: Value, own: &Own) -> Value {
        match value {
            Value::Object(members) => {
                let named = members.into_iter().map(|(name, value)| {
                    (name.replace(&own.word, "%"), self.without_what_is_new(value, own))
                });
                Value::Object(named.collect::<Map<_, _>>())
            }
            Value::Array(items) => {
                items.into_iter().map(|item| self.without_what_is_new(item, own)).collect()
            }
            Value::String(text) if Uuid::parse_str(&text).is_ok() => {
                if self.known.values().any(|known| *known == text) {
                    return Value::String(text);
                }
                let named = own.known.iter().find(|(_, value)| **value == text);
                named.map_or_else(|| json!("an id"), |(name, _)| json!(format!("{{{name}}}")))
            }
            Value::String(text) => match text.parse::<Timestamp>() {
                Ok(at) if (at.micros() - self.now.micros()).abs() < DAY * 1_000_000 => json!("an instant"),
                Ok(_) | Err(_) => Value::String(text.replace(&own.word, "%")),
            },
            other => other,
        }
    }

    /// The call of a row as its block has it, with further headers and another value of a parameter, made twice.
    pub(super) async fn base_call(
        &mut self,
        block: &Block,
        spec: &OperationSpec,
        headers: &[(&str, &str)],
        other: Option<(&str, &str)>,
    ) -> (Answer, Answer) {
        let mut own = self.prepared(block).await;
        if let Some((name, value)) = other {
            own.known.insert(name.to_owned(), value.to_owned());
        }
        let mut path = self.path(spec, &own);
        let base = block.base().map(|text| self.filled(text, &own));
        let mut body = None;
        match base {
            Some(query) if spec.method.as_str() == "GET" => path = format!("{path}?{query}"),
            other => body = other,
        }
        let body = || body.clone().map_or(Body::None, Body::Json);
        let first = self.send(spec.method.as_str(), &path, body(), headers).await;
        let second = self.send(spec.method.as_str(), &path, body(), headers).await;
        (first, second)
    }

    /// A key that no call had.
    pub(super) fn key(&self) -> String {
        format!("key-{}", self.calls)
    }
}

/// A body as it is sent.
enum Body {
    None,
    Json(String),
    /// Members as the parts of a form.
    Form(Value),
}

/// Writes a form: a list is one of files, anything else a field.
fn form(parts: &Value) -> String {
    let mut whole = String::new();
    for (name, value) in parts.as_object().expect("parts") {
        let mut add = |more: &str, content: &str| {
            let head = format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"{more}\r\n\r\n");
            whole.push_str(&format!("{head}{content}\r\n"));
        };
        match value {
            Value::Array(files) => {
                for file in files {
                    let file_name = file["name"].as_str().unwrap();
                    add(&format!("; filename=\"{file_name}\""), file["text"].as_str().unwrap());
                }
            }
            Value::String(text) => add("", text),
            other => add("", &other.to_string()),
        }
    }
    whole + "--b--\r\n"
}

/// Why what is seen of base, variant and base once more shows no effect; none when it does.
fn judged(base: &Value, variant: &Value, again: &Value, answer: &Answer, pair: &Pair) -> Option<String> {
    if base != again {
        return Some(format!("the base differs from itself: {base} and {again}"));
    }
    if base == variant {
        return Some(format!("without effect: {base}"));
    }
    // What a pointer leads to in a refusal would be nothing, whatever was refused.
    if pair.differs.starts_with('/') && !(200..300).contains(&answer.status) {
        return Some(format!("refused: {} {}", answer.status, answer.text()));
    }
    if pair.differs != FEWER {
        return None;
    }
    let rows = |seen: &Value| seen.as_array().cloned().unwrap_or_default();
    let (all, kept) = (rows(base), rows(variant));
    let fewer = !kept.is_empty() && kept.len() < all.len() && kept.iter().all(|row| all.contains(row));
    (!fewer).then(|| format!("{} rows are not some of {}", kept.len(), all.len()))
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

/// Word for a difference: some of the base's rows stay, and some don't.
const FEWER: &str = "fewer";

/// Part of an answer that is looked at; null where there is none.
fn seen(answer: &Answer, place: &str) -> Value {
    if place == "status" {
        return json!(answer.status);
    }
    if let Some(name) = place.strip_prefix("header:") {
        return json!(answer.header(name));
    }
    match serde_json::from_slice::<Value>(&answer.bytes) {
        Ok(json) if place == "body" => lasting(json),
        Ok(json) if place == FEWER => json["data"].clone(),
        // What is not there and what is null are two things.
        Ok(json) => json.pointer(place).cloned().unwrap_or_else(|| json!("<none>")),
        Err(_) => json!(answer.text()),
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

pub(super) fn spec(operation: &str) -> &'static OperationSpec {
    OperationId::find(operation).unwrap_or_else(|| panic!("there is no {operation}")).spec()
}

/// Whether the organisation of a call is what its header says.
pub(super) fn has_organization(spec: &OperationSpec) -> bool {
    matches!(spec.security, Security::Permissions(_)) && !matches!(spec.selector(), Selector::Tenant(_))
}
