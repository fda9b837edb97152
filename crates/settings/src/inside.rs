//! Kinds of the service that ask models or judge values. Their settings are values, FEEL after `=`, or texts with FEEL
//! between `{{` and `}}`; they are evaluated when the work is done, over the variables that the element sees.

use super::calculation::{Wrong, wrong};
use super::job::JobTask;
pub use super::kinds::InsideKind;
use super::kinds::{KINDS, Member, ServiceKind, kind_of_name};
use super::setting::Setting;
use heddle_feel::{Dialect, Expression};
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

/// Attempts at work that fails.
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
                faults.extend(compiles(value, 0).err().map(told));
                faults.extend(bounds(member, value).err().map(|told| wrong(format!("{member}: {told}"))));
            }
        }
        let mut task = match JobTask::of(Setting::Literal(row.job_type().into()), settings) {
            Ok(task) => task,
            Err(fault) => {
                faults.push(fault);
                return None;
            }
        };
        if task.back_off.is_empty() && !given("retry") {
            task.back_off = BACK_OFF.to_vec();
        }
        if task.retries.is_none() {
            let repairs = settings.get("repairAttempts").and_then(Value::as_u64).unwrap_or(REPAIRS);
            let repairs = if self == Self::Extract { repairs } else { 0 };
            task.retries = Some(Setting::Literal((ATTEMPTS + repairs).into()));
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

    #[test]
    fn a_tool_has_a_name_and_a_description() {
        assert!(tool("ask", &json!({"description": "asks"})).is_ok());
        assert!(tool("ask me", &json!({"description": "asks"})).is_err(), "the id is no name of a function");
        assert!(tool("ask", &json!({"name": "x"})).is_err());
        assert!(tool("ask", &json!({"description": "d", "nmae": "x"})).is_err());
    }
}
