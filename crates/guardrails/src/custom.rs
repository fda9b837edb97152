//! Checks of a definition's own.

use heddle_feel::{Dialect, Expression};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use crate::catalog;
use crate::model::ModelCheck;
use crate::personal::KINDS;
use crate::rule::{MOST_BYTES, Rule, Test};
use crate::text::Folded;
use crate::urls::Hosts;
use crate::words::{Action, Engine, Stage};

/// Most bytes of one check's text.
const MOST_TEXT: usize = 64 << 10;
/// Bytes that a compiled pattern may take.
const PATTERN_BYTES: usize = 1 << 20;

/// Kind of a check of a definition's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomKind {
    /// A check of the catalogue with other settings.
    Catalog,
    /// A regular expression.
    Regex,
    /// Words.
    Keywords,
    /// A JSON Schema.
    Schema,
    /// A condition in FEEL.
    Feel,
    /// A question to a model.
    Llm,
}

/// A check of a definition's own.
#[derive(Debug, Clone)]
pub struct CustomCheck {
    /// Name in events.
    pub id: String,
    /// Kind of it.
    pub kind: CustomKind,
    /// Rule that it holds values against.
    pub rule: Rule,
    pub(crate) is_named: bool,
    pub(crate) is_enabled: bool,
}

const MEMBERS: [&str; 8] = ["id", "stage", "stages", "kind", "configuration", "action", "nodeIds", "enabled"];

/// Reads a check; `at` is its place in the list.
pub(crate) fn read(text: &str, at: usize) -> Result<CustomCheck, String> {
    let text = text.trim();
    if text.len() > MOST_TEXT {
        return Err(format!("The check has more than {MOST_TEXT} bytes."));
    }
    if let Some(condition) = text.strip_prefix('=') {
        let rule = Rule { test: feel(condition.trim())?, check: "feel", ..usual("feel") };
        let id = format!("feel{}", at + 1);
        return Ok(CustomCheck { id, kind: CustomKind::Feel, rule, is_named: false, is_enabled: true });
    }
    if text.starts_with('{') {
        let members: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| format!("The check is no JSON object: {error}."))?;
        return object(&members, at);
    }
    let Some(entry) = catalog::check(text) else {
        return Err(format!(
            "There is no check {text:?} in the catalogue; a check is a name of it, FEEL behind `=`, or a JSON object."
        ));
    };
    if needs_settings(entry.id) {
        return Err(format!("The check `{text}` needs a `configuration`: write it as a JSON object."));
    }
    let (id, rule) = (text.to_owned(), usual(entry.id));
    Ok(CustomCheck { id, kind: CustomKind::Catalog, rule, is_named: true, is_enabled: true })
}

/// Whether a check of the catalogue means nothing without settings.
fn needs_settings(id: &str) -> bool {
    matches!(id, "keywords" | "regex" | "schema" | "feel" | "llm" | "topicalAlignment")
}

fn object(members: &Map<String, Value>, at: usize) -> Result<CustomCheck, String> {
    if let Some(other) = members.keys().find(|own| !MEMBERS.contains(&own.as_str())) {
        return Err(format!("A check has no member `{other}`; there are {}.", MEMBERS.join(", ")));
    }
    let text = |member: &str| match members.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.as_str())),
        Some(_) => Err(format!("`{member}` must be a text.")),
    };
    let empty = Map::new();
    let settings = match members.get("configuration") {
        None | Some(Value::Null) => &empty,
        Some(Value::Object(settings)) => settings,
        Some(_) => return Err("`configuration` must be an object.".to_owned()),
    };
    let (given, kind) = (text("id")?, text("kind")?);
    let check = match (kind, given) {
        (Some("regex" | "keywords" | "schema" | "feel" | "llm"), _) => kind,
        (Some(other @ ("dmn" | "http")), _) => {
            return Err(format!(
                "A check of the kind `{other}` is not made here: put the decision or the call into a node before this one."
            ));
        }
        (Some(other), _) => {
            return Err(format!(
                "There is no kind of checks `{other}`; there are regex, keywords, schema, feel and llm."
            ));
        }
        (None, Some(id)) => Some(id),
        (None, None) => None,
    };
    let entry = check.and_then(catalog::check);
    let entry = entry.ok_or("A check needs a `kind`, or an `id` of the catalogue.".to_owned())?;
    let is_named = kind.is_none();
    let mut rule = Rule { test: test(entry.id, settings)?, ..usual(entry.id) };
    if let Some(word) = text("action")? {
        let known = Action::parse(word).filter(|action| entry.actions.contains(action));
        rule.action = known.ok_or_else(|| format!("The check `{}` has no action `{word}`.", entry.id))?;
    }
    if let Some(stages) = stages(members)? {
        if let Some(other) = stages.iter().find(|stage| !entry.stages.contains(stage)) {
            return Err(format!("The check `{}` is not made at the stage `{}`.", entry.id, other.as_str()));
        }
        rule.stages = stages;
    }
    rule.nodes = match members.get("nodeIds") {
        None | Some(Value::Null) => None,
        Some(value) => Some(texts(value).ok_or("`nodeIds` must be a list of ids.")?),
    };
    let is_enabled = match members.get("enabled") {
        None | Some(Value::Null) => true,
        Some(Value::Bool(own)) => *own,
        Some(_) => return Err("`enabled` must be true or false.".to_owned()),
    };
    let kind = match kind {
        Some("regex") => CustomKind::Regex,
        Some("keywords") => CustomKind::Keywords,
        Some("schema") => CustomKind::Schema,
        Some("feel") => CustomKind::Feel,
        Some("llm") => CustomKind::Llm,
        Some(_) | None => CustomKind::Catalog,
    };
    let id = given.map_or_else(|| format!("{}{}", entry.id, at + 1), str::to_owned);
    Ok(CustomCheck { id, kind, rule, is_named, is_enabled })
}

fn stages(members: &Map<String, Value>) -> Result<Option<Vec<Stage>>, String> {
    let read = |word: &str| Stage::parse(word).ok_or_else(|| format!("There is no stage `{word}`."));
    match (members.get("stage"), members.get("stages")) {
        (None | Some(Value::Null), None | Some(Value::Null)) => Ok(None),
        (Some(Value::String(word)), None | Some(Value::Null)) => Ok(Some(vec![read(word)?])),
        (None | Some(Value::Null), Some(value)) => {
            let words = texts(value).filter(|words| !words.is_empty());
            let words = words.ok_or("`stages` must be a list of stages.")?;
            words.iter().map(|word| read(word)).collect::<Result<_, _>>().map(Some)
        }
        _ => Err("A check has either a `stage`, which is a text, or a list of `stages`.".to_owned()),
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn test(check: &'static str, settings: &Map<String, Value>) -> Result<Test, String> {
    let known = catalog::check(check).and_then(|entry| entry.configuration_schema.pointer("/properties"));
    let is_known = |name: &str| known.and_then(Value::as_object).is_some_and(|own| own.contains_key(name));
    if let Some(other) = settings.keys().find(|name| !is_known(name)) {
        return Err(format!("The `configuration` of `{check}` has no member `{other}`."));
    }
    let text = |member: &str| settings.get(member).and_then(Value::as_str);
    let named =
        |member: &str| text(member).ok_or_else(|| format!("`configuration.{member}` must be a text."));
    let list = |member: &str| match settings.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            texts(value).map(Some).ok_or_else(|| format!("`configuration.{member}` must be a list of texts."))
        }
    };
    match check {
        "size" => match settings.get("maxBytes") {
            None => Ok(usual(check).test),
            Some(value) => {
                let most = value.as_u64().and_then(|most| usize::try_from(most).ok());
                let most = most.filter(|most| (1..=MOST_BYTES).contains(most));
                most.map(Test::Size)
                    .ok_or_else(|| format!("`configuration.maxBytes` is from 1 to {MOST_BYTES}."))
            }
        },
        "pii" => personal(list("kinds")?),
        "promptInjection" => Ok(Test::Injection(threshold(settings)?.unwrap_or(0.8))),
        "urls" => {
            let lower =
                |hosts: Vec<String>| hosts.iter().map(|host| host.trim().to_ascii_lowercase()).collect();
            let allowed = list("allowed")?.map(lower);
            Ok(Test::Urls(Hosts { allowed, denied: list("denied")?.map(lower).unwrap_or_default() }))
        }
        "keywords" => {
            let pattern = words(&list("words")?.unwrap_or_default());
            let pattern = pattern.ok_or("`configuration.words` must be a list of words, not too many.")?;
            Ok(Test::Keywords(Some(pattern)))
        }
        "regex" => {
            let built = RegexBuilder::new(named("pattern")?)
                .size_limit(PATTERN_BYTES)
                .dfa_size_limit(PATTERN_BYTES)
                .build();
            built.map(Test::Regex).map_err(|error| format!("`configuration.pattern` is no pattern: {error}."))
        }
        "schema" => match settings.get("schema") {
            Some(schema @ (Value::Object(_) | Value::Bool(_))) => Ok(Test::Schema(Some(schema.clone()))),
            Some(_) | None => Err("`configuration.schema` must be a JSON Schema.".to_owned()),
        },
        "feel" => {
            let condition = named("condition")?.trim();
            feel(condition.strip_prefix('=').unwrap_or(condition).trim())
        }
        "topicalAlignment" | "nsfw" | "jailbreak" | "grounding" | "llm" => {
            let mut own = ModelCheck::preset(check);
            own.model = text("model").map(str::to_owned);
            own.threshold = threshold(settings)?.unwrap_or(own.threshold);
            own.topics = list("topics")?.unwrap_or_default();
            own.question = match check {
                "llm" => Some(named("question")?.to_owned()),
                _ => None,
            };
            Ok(Test::Model(own))
        }
        _ => Ok(usual(check).test),
    }
}

fn personal(kinds: Option<Vec<String>>) -> Result<Test, String> {
    let Some(kinds) = kinds else { return Ok(Test::Personal(KINDS.to_vec())) };
    let read = |own: &String| {
        let known = KINDS.iter().copied().find(|kind| kind == own);
        known.ok_or_else(|| {
            format!("There is no kind of personal data `{own}`; there are {}.", KINDS.join(", "))
        })
    };
    kinds.iter().map(read).collect::<Result<_, _>>().map(Test::Personal)
}

fn threshold(settings: &Map<String, Value>) -> Result<Option<f64>, String> {
    match settings.get("threshold") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let own = value.as_f64().filter(|own| (0.0..=1.0).contains(own));
            own.map(Some).ok_or_else(|| "`configuration.threshold` is from 0 to 1.".to_owned())
        }
    }
}

fn feel(condition: &str) -> Result<Test, String> {
    let compiled = Expression::compile(condition, Dialect::Heddle);
    compiled.map(Test::Feel).map_err(|error| format!("`{condition}` is no FEEL: {error}."))
}

/// The usual rule of a check of the catalogue, without settings.
fn usual(check: &'static str) -> Rule {
    let entry = catalog::check(check);
    let mut stages = entry.map(|entry| entry.stages.clone()).unwrap_or_default();
    if check == "promptInjection" {
        stages.retain(|stage| matches!(stage, Stage::Input | Stage::ToolResult));
    }
    if check == "grounding" {
        // What goes in is what the rest is held against.
        stages.retain(|stage| *stage == Stage::Output);
    }
    let redacts = matches!(check, "secretKeys" | "pii" | "urls");
    let action = match check {
        "toolCalls" => Action::Review,
        _ if redacts => Action::Redact,
        _ => Action::Block,
    };
    let is_asked = entry.is_some_and(|entry| entry.engine == Engine::Model);
    let test = match check {
        "size" => Test::Size(1 << 20),
        "secretKeys" => Test::Secrets,
        "pii" => Test::Personal(KINDS.to_vec()),
        "promptInjection" => Test::Injection(0.8),
        "urls" => Test::Urls(Hosts::default()),
        "keywords" => Test::Keywords(None),
        "toolCalls" => Test::ToolCalls,
        _ if is_asked => Test::Model(ModelCheck::preset(check)),
        _ => Test::Schema(None),
    };
    Rule { check, stages, action, nodes: None, except: Vec::new(), test }
}

/// The pattern of a list of words, folded as texts are.
fn words(words: &[String]) -> Option<Regex> {
    let part = |word: &String| {
        let own = Folded::of(word).text;
        let own = own.trim();
        (!own.is_empty()).then(|| {
            // Letters of scripts without spaces have no bounds of words.
            let bound = |letter: Option<char>| letter.is_some_and(|own| own.is_ascii_alphanumeric());
            let before = if bound(own.chars().next()) { r"\b" } else { "" };
            let behind = if bound(own.chars().next_back()) { r"\b" } else { "" };
            format!("{before}{}{behind}", regex::escape(own))
        })
    };
    let parts: Vec<String> = words.iter().filter_map(part).collect();
    if parts.is_empty() {
        return None;
    }
    RegexBuilder::new(&parts.join("|")).size_limit(4 << 20).build().ok()
}
