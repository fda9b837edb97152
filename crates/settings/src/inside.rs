//! Kinds of the service that ask models or judge values. Their settings are values, FEEL after `=`, or texts with FEEL
//! between `{{` and `}}`; they are evaluated when the work is done, over the variables that the element sees.

use super::calculation::{Wrong, wrong};
use super::job::JobTask;
pub use super::kinds::InsideKind;
use super::kinds::{KINDS, Member, ServiceKind, kind_of_name};
use super::setting::Setting;
use heddle_feel::{Dialect, Expression};
use heddle_guardrails::{Ground, ModelRule, Policy, Stage};
use serde_json::{Map, Value};

/// Header under which a job has its work.
pub const HEADER: &str = "heddle";
/// Member of what a turn of an agent gives: variables of the agent alone.
pub const TURN_LOCAL: &str = "local";
/// Member of what a turn of an agent gives: id of the inner activity that begins; with none the agent ends.
pub const TURN_NEXT: &str = "next";
/// Member of what a turn of an agent gives: whether another turn follows at once.
pub const TURN_AGAIN: &str = "again";
/// Member of what the last turn of an agent gives: variables that the agent leaves behind.
pub const TURN_VALUES: &str = "values";
/// Variable of an agent that has what it remembers between its turns: its own turns alone set it.
pub const AGENT_STATE: &str = "agent";
/// Variable of an agent in which a tool finds its call: `{id, name, arguments}`.
pub const TOOL_CALL: &str = "toolCall";
/// Variable of an agent by which a tool may give its result; else it is what the activity gives.
pub const TOOL_RESULT: &str = "toolCallResult";
/// Most turns of an agent.
pub const MOST_ITERATIONS: u64 = 200;
/// Most attempts at repairing an answer.
pub const MOST_REPAIRS: u64 = 10;

/// Attempts at repairing an answer where the settings say nothing.
pub const REPAIRS: u64 = 2;

/// Attempts at work that fails; answers that do not fit are asked for again beside them.
const ATTEMPTS: u64 = 3;
/// Milliseconds before each further one.
const BACK_OFF: [u64; 3] = [1_000, 5_000, 30_000];
/// Clause of the standard about service tasks.
pub(super) const CLAUSE: &str = "10.3.3.1";

impl InsideKind {
    /// The row of the table of kinds; none for a kind without one.
    fn row(self) -> Option<&'static ServiceKind> {
        KINDS.iter().find(|row| row.inside == Some(self))
    }

    /// The word in `configuration.kind`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.row().map(|row| row.name).unwrap_or_default()
    }

    /// The kind of this name, also of one that no node names.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        kind_of_name(name)?.inside
    }

    /// The job of a node with these settings. What is wrong is added to the faults.
    pub(super) fn job(
        self,
        row: &ServiceKind,
        node: &str,
        settings: &Map<String, Value>,
        faults: &mut Vec<Wrong>,
    ) -> Option<JobTask> {
        let given = |member: &str| settings.get(member).is_some_and(|value| !value.is_null());
        if self == Self::Chat && given("prompt") == given("messages") {
            faults.push(wrong("prompt: `llm.chat` needs either a `prompt` or `messages`"));
        }
        for Member { name: member, .. } in row.members {
            if let Some(value) = settings.get(*member).filter(|value| !value.is_null()) {
                let told = |sentence: String| ("expressionSyntax", format!("{member}: {sentence}"), "8.4.6");
                // What begins with `=` in a check is its condition.
                if *member != "checks" {
                    faults.extend(compiles(value, 0).err().map(told));
                }
                faults.extend(bounds(member, value).err().map(|told| wrong(format!("{member}: {told}"))));
            }
        }
        let mut task = match JobTask::of(Setting::Literal(row.job_type().into()), settings) {
            Ok(task) => task,
            Err(wrong) => {
                faults.extend(wrong);
                return None;
            }
        };
        if task.back_off.is_empty() && !given("retry") {
            task.back_off = BACK_OFF.to_vec();
        }
        if task.retries.is_none() {
            task.retries = Some(Setting::Literal(ATTEMPTS.into()));
        }
        let is_own = |name: &str| row.members.iter().any(|member| member.name == name);
        let own = settings.iter().filter(|(name, _)| is_own(name.as_str()));
        let own: Map<String, Value> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        Some(self.with_header(task, node, own))
    }

    /// The job with the header that says its work.
    fn with_header(self, mut task: JobTask, node: &str, settings: Map<String, Value>) -> JobTask {
        let mut header = Map::new();
        header.insert("kind".to_owned(), self.as_str().into());
        header.insert("node".to_owned(), node.into());
        header.insert("settings".to_owned(), Value::Object(settings));
        task.headers = Map::from_iter([(HEADER.to_owned(), Value::Object(header))]);
        task
    }

    /// The job of protection before (`input`) or after (`output`) a node: of the variables of these names, or of all that
    /// it sees.
    #[must_use]
    pub fn protection(node: &str, stage: &str, names: Option<&[String]>) -> Option<JobTask> {
        let job_type = Setting::Literal(Self::Protection.row()?.job_type().into());
        let task = JobTask::of(job_type, &Map::new()).ok()?;
        let mut settings = Map::new();
        settings.insert("stage".to_owned(), stage.into());
        if let Some(names) = names {
            settings.insert("names".to_owned(), names.to_vec().into());
        }
        Some(Self::Protection.with_header(task, node, settings))
    }
}

/// Fault of a setting with which a version is not published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingFault {
    /// The setting.
    pub member: &'static str,
    /// A sentence that begins with its name.
    pub sentence: String,
}

impl SettingFault {
    fn of(member: &'static str, told: impl std::fmt::Display) -> Self {
        Self { member, sentence: format!("{member}: {told}") }
    }
}

impl InsideKind {
    /// Faults of the settings of a node beyond those with which it does not compile: versions that were published with them
    /// run on. `protection` is that of the definition.
    #[must_use]
    pub fn unpublishable(
        self,
        node: &str,
        settings: &Map<String, Value>,
        protection: Option<&Policy>,
    ) -> Vec<SettingFault> {
        match self {
            Self::Guardrail => step_faults(node, settings, protection),
            Self::Agent => name_fault(settings).into_iter().collect(),
            Self::Moderate => categories_fault(settings).into_iter().collect(),
            Self::Chat | Self::Extract | Self::Classify | Self::Rerank | Self::Embed | Self::Protection => {
                Vec::new()
            }
        }
    }
}

impl JobTask {
    /// Faults of the settings in its header, as [`InsideKind::unpublishable`] tells them where no definition protects; none
    /// for the job of a worker.
    #[must_use]
    pub fn unpublishable(&self) -> Vec<SettingFault> {
        let header = self.headers.get(HEADER);
        let text = |member: &str| header.and_then(|own| own.get(member)).and_then(Value::as_str);
        let settings = header.and_then(|own| own.get("settings")).and_then(Value::as_object);
        let (Some(kind), Some(settings)) = (text("kind").and_then(InsideKind::of_name), settings) else {
            return Vec::new();
        };
        kind.unpublishable(text("node").unwrap_or_default(), settings, None)
    }
}

/// A setting that is there.
fn given<'s>(settings: &'s Map<String, Value>, member: &str) -> Option<&'s Value> {
    settings.get(member).filter(|value| !value.is_null())
}

/// Whether a value is FEEL, or a text with FEEL in it.
fn computes(value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    text.trim_start().starts_with('=') || text.split_once("{{").is_some_and(|parts| parts.1.contains("}}"))
}

/// The fault of a variable's name that is none.
fn name_fault(settings: &Map<String, Value>) -> Option<SettingFault> {
    let value = given(settings, "answerVariable")?;
    let is_name = value.as_str().is_some_and(|text| !text.trim().is_empty()) && !computes(value);
    let told = "must be the name of a variable, in which no FEEL is evaluated";
    (!is_name).then(|| SettingFault::of("answerVariable", told))
}

/// The fault of categories that are none.
fn categories_fault(settings: &Map<String, Value>) -> Option<SettingFault> {
    let value = given(settings, "categories")?;
    let names: Option<Vec<&str>> = value.as_array().and_then(|all| all.iter().map(Value::as_str).collect());
    let is_list =
        names.is_some_and(|names| !names.is_empty() && names.iter().all(|name| !name.trim().is_empty()));
    (!is_list && !computes(value)).then(|| SettingFault::of("categories", "must be a list of names"))
}

/// Faults of a step that holds a value against protection.
fn step_faults(node: &str, settings: &Map<String, Value>, protection: Option<&Policy>) -> Vec<SettingFault> {
    let (preset, checks) = (given(settings, "preset"), given(settings, "checks"));
    let own = if preset.is_none() && checks.is_none() {
        None
    } else {
        match step_policy(preset, checks) {
            Ok(policy) => Some(policy),
            Err(faults) => return faults,
        }
    };
    let Some(policy) = own.as_ref().or(protection).filter(|policy| policy.is_on()) else {
        return vec![SettingFault::of(
            "checks",
            "nothing is looked for: name checks, or a preset that has some",
        )];
    };
    let mut faults = Vec::new();
    let is_made =
        |rule: &heddle_guardrails::Rule| rule.is_for(node, Stage::Input) || rule.is_for(node, Stage::Output);
    let idle = own.iter().flat_map(Policy::custom).filter(|own| !is_made(&own.rule));
    faults.extend(idle.map(|own| {
        SettingFault::of(
            "checks",
            format!("the check `{}` is made for other nodes or at other stages alone", own.id),
        )
    }));
    let mut asked = policy.model_checks(node, Stage::Input);
    asked.extend(policy.without(Stage::Input).model_checks(node, Stage::Output));
    let names = |wanted: &dyn Fn(&ModelRule) -> bool| {
        let own = asked.iter().filter(|rule| wanted(rule)).map(|rule| format!("`{}`", rule.check.id));
        Some(own.collect::<Vec<_>>().join(", ")).filter(|names| !names.is_empty())
    };
    if given(settings, "model").is_none()
        && let Some(names) = names(&|rule| rule.check.model.is_none())
    {
        let told = format!("a model decides on {names}: name the deployment that is asked");
        faults.push(SettingFault::of("model", told));
    }
    if given(settings, "context").is_none()
        && let Some(names) = names(&|rule| rule.check.ground() != Ground::Nothing)
    {
        let told = format!("{names} holds the value against what it is to be about: give it");
        faults.push(SettingFault::of("context", told));
    }
    faults
}

/// Policy of a step, by its own settings.
fn step_policy(preset: Option<&Value>, checks: Option<&Value>) -> Result<Policy, Vec<SettingFault>> {
    let mut faults = Vec::new();
    let word = preset.and_then(Value::as_str).filter(|_| !preset.is_some_and(computes));
    if preset.is_some() && word.is_none() {
        let told = "must be the name of a preset; it is read when the version is published, and no FEEL is evaluated";
        faults.push(SettingFault::of("preset", told));
    }
    let texts = checks.map_or(Some(Vec::new()), step_checks);
    if texts.is_none() {
        let told = "must be a list of checks, each a name of the catalogue, FEEL that is true for a violation, or an object; \
                    it is read when the version is published";
        faults.push(SettingFault::of("checks", told));
    }
    match Policy::read(word, &texts.unwrap_or_default()) {
        Ok(policy) if faults.is_empty() => Ok(policy),
        Ok(_) => Err(faults),
        Err(wrong) => {
            faults.extend(wrong.into_iter().map(|wrong| match wrong.place.strip_prefix("customChecks") {
                Some(place) => {
                    SettingFault { member: "checks", sentence: format!("checks{place}: {}", wrong.message) }
                }
                None => SettingFault::of("preset", wrong.message),
            }));
            Err(faults)
        }
    }
}

/// The texts of a step's own checks; none for what is no list of texts and objects.
#[must_use]
pub fn step_checks(checks: &Value) -> Option<Vec<String>> {
    let text = |check: &Value| match check {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => Some(check.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    checks.as_array()?.iter().map(text).collect()
}

/// Adds a member to the header of a job that the service does itself.
pub fn add_to_header(task: &mut JobTask, name: &str, value: Value) {
    if let Some(Value::Object(header)) = task.headers.get_mut(HEADER) {
        header.insert(name.to_owned(), value);
    }
}

/// A tool of an agent, by the `tool` of an inner activity: `{name?, description, parameters?, approval?}`.
///
/// # Errors
/// Code, sentence and clause of what is wrong with it.
pub fn tool(node: &str, settings: &Value) -> Result<Value, Wrong> {
    const MEMBERS: [&str; 4] = ["name", "description", "parameters", "approval"];
    let wrong = |sentence: String| ("wrongTool", sentence, "10.3.5");
    let Some(members) = settings.as_object() else {
        return Err(wrong(
            "tool: must be an object of name, description, parameters and approval".to_owned(),
        ));
    };
    if let Some(other) = members.keys().find(|own| !MEMBERS.contains(&own.as_str())) {
        return Err(wrong(format!(
            "tool.{other}: there is no such member; there are {}",
            MEMBERS.join(", ")
        )));
    }
    let text = |member: &str| match members.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim())),
        Some(_) => Err(wrong(format!("tool.{member}: must be a text"))),
    };
    let name = text("name")?.unwrap_or(node);
    let is_named = (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if !is_named {
        let sentence = "tool.name: a tool needs a name of 1 to 64 letters, digits, `_` and `-`";
        return Err(wrong(sentence.to_owned()));
    }
    let description = text("description")?;
    let description = description
        .ok_or_else(|| wrong("tool.description: a tool needs one, by which a model knows it".to_owned()))?;
    let parameters = match members.get("parameters") {
        None | Some(Value::Null) => serde_json::json!({ "type": "object", "properties": {} }),
        Some(schema @ Value::Object(_)) => schema.clone(),
        Some(_) => return Err(wrong("tool.parameters: must be a JSON Schema of an object".to_owned())),
    };
    Ok(serde_json::json!({
        "element": node,
        "name": name,
        "description": description,
        "parameters": parameters,
        "approval": text("approval")?,
    }))
}

/// Parts of a text with FEEL between `{{` and `}}`.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text as it stands.
    Text(String),
    /// FEEL whose value stands there.
    Feel(Expression),
}

/// The parts of a text.
///
/// # Errors
/// A sentence for FEEL that cannot be read.
pub fn parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        // Two braces that nothing closes are text.
        let Some((source, after)) = behind.split_once("}}") else { break };
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        let compiled = Expression::compile(source.trim(), Dialect::Heddle);
        parts.push(Part::Feel(compiled.map_err(|error| format!("`{source}` is no FEEL: {error}"))?));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

/// Whether the FEEL in a setting reads.
fn compiles(value: &Value, depth: usize) -> Result<(), String> {
    if depth > 64 {
        return Err("the setting is nested too deeply".to_owned());
    }
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) if text.trim_start().starts_with('=') => Setting::read(value).map(drop),
        Value::String(text) => parts(text).map(drop),
        Value::Array(items) => items.iter().try_for_each(|item| compiles(item, depth + 1)),
        Value::Object(members) => members.values().try_for_each(|member| compiles(member, depth + 1)),
    }
}

/// Whether a literal setting is within its bounds; FEEL is looked at when it is evaluated.
fn bounds(member: &str, value: &Value) -> Result<(), String> {
    if value.as_str().is_some_and(|text| text.trim_start().starts_with('=')) {
        return Ok(());
    }
    let whole = |from: u64, to: u64| {
        let told = || format!("must be a whole number from {from} to {to}");
        value.as_u64().filter(|own| (from..=to).contains(own)).map(drop).ok_or_else(told)
    };
    let real = |from: f64, to: f64| {
        let told = || format!("must be a number from {from} to {to}");
        value.as_f64().filter(|own| (from..=to).contains(own)).map(drop).ok_or_else(told)
    };
    match member {
        "maxIterations" => whole(1, MOST_ITERATIONS),
        "maxToolCalls" => whole(0, 1_000),
        "maxTokens" => whole(1, 1_000_000),
        "maxTotalTokens" => whole(1, 100_000_000),
        "timeoutSeconds" => whole(1, 86_400),
        "repairAttempts" => whole(0, MOST_REPAIRS),
        "topK" => whole(1, 1_000),
        "dimensions" => whole(1, 65_536),
        "temperature" => real(0.0, 2.0),
        "topP" | "threshold" | "minScore" => real(0.0, 1.0),
        "model" if !value.is_string() => Err("must be the alias or id of a deployment".to_owned()),
        "multi" if !value.is_boolean() => Err("must be true or false".to_owned()),
        "schema" if !value.is_object() => Err("must be a JSON Schema".to_owned()),
        "classes" => classes(value),
        "onViolation" => match value.as_str() {
            Some("fail" | "continue") => Ok(()),
            Some(_) | None => Err("must be `fail` or `continue`".to_owned()),
        },
        "responseFormat" => match value.pointer("/type").and_then(Value::as_str) {
            Some("text" | "json_object") => Ok(()),
            Some("json_schema") if value.pointer("/schema").is_some_and(Value::is_object) => Ok(()),
            Some(_) | None => {
                Err("must be {type: text}, {type: json_object} or {type: json_schema, schema}".to_owned())
            }
        },
        _ => Ok(()),
    }
}

/// Whether classes are a list of names, or of `{name, description}`, each once.
fn classes(value: &Value) -> Result<(), String> {
    let told = || "must be a list of 2 to 200 names, or of {name, description}, each once".to_owned();
    let items = value.as_array().filter(|items| (2..=200).contains(&items.len())).ok_or_else(told)?;
    let name = |item: &Value| item.as_str().or_else(|| item.get("name")?.as_str()).map(str::to_owned);
    let mut names: Vec<String> =
        items.iter().filter_map(name).filter(|name| !name.trim().is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() == items.len() { Ok(()) } else { Err(told()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(kind: InsideKind, settings: &Value) -> Vec<String> {
        let settings = settings.as_object().cloned().unwrap_or_default();
        kind.row()
            .unwrap()
            .read("a", &settings)
            .err()
            .unwrap_or_default()
            .into_iter()
            .map(|fault| fault.1)
            .collect()
    }

    #[test]
    fn work_is_told_in_the_header_of_a_reserved_job() {
        let settings = json!({
            "kind": "llm.chat", "model": "fast", "prompt": "Hello {{ name }}", "maxTokens": 10,
            "retry": {"maxAttempts": 2}, "inputs": []
        });
        let task = InsideKind::Chat.row().unwrap().read("ask", settings.as_object().unwrap()).unwrap();
        assert!(matches!(&task.job_type, Setting::Literal(own) if own == "heddle:llm.chat"));
        let header = task.headers.get(HEADER).unwrap();
        assert_eq!(header["node"], "ask");
        assert_eq!(
            header["settings"],
            json!({"model": "fast", "prompt": "Hello {{ name }}", "maxTokens": 10})
        );
        assert_eq!(InsideKind::of_name("llm.chat"), Some(InsideKind::Chat));
        assert_eq!(InsideKind::of_name("heddle:llm.chat"), None);
    }

    #[test]
    fn what_is_missing_or_out_of_bounds_is_named() {
        for (kind, settings, told) in [
            (InsideKind::Chat, json!({"prompt": "a"}), "model:"),
            (InsideKind::Chat, json!({"model": "m"}), "prompt:"),
            (InsideKind::Chat, json!({"model": "m", "prompt": "{{ 1 + }}"}), "prompt:"),
            (InsideKind::Chat, json!({"model": "m", "prompt": "a", "temperature": 3}), "temperature:"),
            (InsideKind::Agent, json!({"model": "m", "goal": "g"}), "maxIterations:"),
            (InsideKind::Agent, json!({"model": "m", "goal": "g", "maxIterations": 0}), "maxIterations:"),
            (InsideKind::Extract, json!({"model": "m", "input": "a", "schema": "x"}), "schema:"),
            (InsideKind::Classify, json!({"model": "m", "input": "a", "classes": ["a", "a"]}), "classes:"),
        ] {
            let found = faults(kind, &settings);
            assert!(found.iter().any(|one| one.starts_with(told)), "{settings}: {found:?}");
        }
    }

    fn refused(settings: &Value, protection: Option<&Policy>) -> Vec<String> {
        let kind = InsideKind::of_name(settings["kind"].as_str().unwrap()).unwrap();
        let settings = settings.as_object().cloned().unwrap();
        kind.unpublishable("a", &settings, protection).into_iter().map(|fault| fault.sentence).collect()
    }

    #[test]
    fn a_step_of_protection_names_checks_that_it_can_make() {
        for (settings, told) in [
            (json!({}), Some("checks:")),
            (json!({"preset": "off"}), Some("checks:")),
            (json!({"preset": "basic"}), None),
            (json!({"preset": "severe"}), Some("preset:")),
            (json!({"preset": "= chosen"}), Some("preset:")),
            (json!({"checks": "= chosen"}), Some("checks:")),
            (json!({"checks": ["pii", "pji"]}), Some("checks[1]:")),
            (json!({"checks": ["= contains(text, \"x\")", {"id": "pii"}]}), None),
            (json!({"checks": ["toolCalls"]}), Some("checks:")),
            (json!({"checks": [{"id": "pii", "nodeIds": ["b"]}]}), Some("checks:")),
            (json!({"checks": ["nsfw"]}), Some("model:")),
            (json!({"checks": ["nsfw"], "model": "judge"}), None),
            (json!({"checks": [{"id": "nsfw", "configuration": {"model": "judge"}}]}), None),
            (json!({"checks": ["grounding"], "model": "judge"}), Some("context:")),
            (json!({"checks": ["grounding"], "model": "judge", "context": "= source"}), None),
        ] {
            let mut whole = settings.clone();
            whole["kind"] = json!("guardrail.check");
            whole["input"] = json!("= answer");
            let found = refused(&whole, None);
            let fits = match told {
                Some(told) => found.len() == 1 && found[0].starts_with(told),
                None => found.is_empty(),
            };
            assert!(fits, "{settings}: {found:?}");
        }
        let bare = json!({"kind": "guardrail.check", "input": "= answer"});
        let strict = Policy::read(Some("strict"), &[]).unwrap();
        let found = refused(&bare, Some(&strict));
        assert!(found[0].starts_with("model:") && found[1].starts_with("context:"), "{found:?}");
    }

    #[test]
    fn what_no_feel_is_evaluated_in_takes_none() {
        let agent = |name: &str| json!({"kind": "agent", "model": "m", "goal": "g", "maxIterations": 1, "answerVariable": name});
        for name in ["= chosen", "answer{{ n }}", " "] {
            assert!(refused(&agent(name), None)[0].starts_with("answerVariable:"), "{name}");
        }
        assert_eq!(refused(&agent("answer"), None), [""; 0]);
        let moderate =
            |of: Value| json!({"kind": "llm.moderate", "model": "m", "input": "i", "categories": of});
        assert!(refused(&moderate(json!("hate")), None)[0].starts_with("categories:"));
        assert!(refused(&moderate(json!(["hate", 1])), None)[0].starts_with("categories:"));
        assert_eq!(refused(&moderate(json!("= chosen")), None), [""; 0]);
    }

    #[test]
    fn repairs_are_no_attempts_of_the_job() {
        let settings =
            json!({"kind": "llm.extract", "model": "m", "input": "i", "schema": {}, "repairAttempts": 7});
        let task = InsideKind::Extract.row().unwrap().read("a", settings.as_object().unwrap()).unwrap();
        assert!(matches!(&task.retries, Some(Setting::Literal(own)) if *own == json!(3)));
    }

    #[test]
    fn a_tool_has_a_name_and_a_description() {
        assert!(tool("ask", &json!({"description": "asks"})).is_ok());
        assert!(tool("ask me", &json!({"description": "asks"})).is_err(), "the id is no name of a function");
        assert!(tool("ask", &json!({"name": "x"})).is_err());
        assert!(tool("ask", &json!({"description": "d", "nmae": "x"})).is_err());
    }
}
