//! Tasks that compute: decisions of business rule tasks and FEEL of script tasks, with what goes in and out.

use super::Setting;
use heddle_feel::{Dialect, Expression};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Settings of a business rule task: the decision that it evaluates (clause 10.3.3.1).
#[derive(Debug, Clone)]
pub struct DecisionTask {
    /// Id or name of a decision or decision service of the definition.
    pub decision: Setting,
    /// The shape of the result.
    pub mapping: ResultMapping,
    /// Inputs and outputs of the task.
    pub data: DataMapping,
}

/// Settings of a script task: the script that it evaluates (clause 10.3.3.1).
#[derive(Debug, Clone)]
pub struct ScriptTask {
    /// The script.
    pub source: Expression,
    /// Inputs and outputs of the task.
    pub data: DataMapping,
    /// Error that the script throws; absent for one that computes.
    pub throws: Option<ScriptError>,
}

/// A BPMN error that is all that a script throws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    /// Error code.
    pub code: Arc<str>,
    /// Message of the error.
    pub message: Option<Arc<str>>,
}

impl ScriptError {
    /// Reads a script of the one statement `throw new BpmnError("code", "message")`; none for any other.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let rest = text.trim().trim_end_matches(';').trim_end().strip_prefix("throw")?;
        let rest = rest.trim_start().strip_prefix("new ")?.trim_start();
        let (name, rest) = rest.split_once('(')?;
        (name.trim().rsplit('.').next() == Some("BpmnError")).then_some(())?;
        let mut parts = rest.strip_suffix(')')?.splitn(2, ',').map(literal);
        let code = parts.next()??.into();
        let message = match parts.next() {
            None => None,
            Some(message) => Some(message?.into()),
        };
        Some(Self { code, message })
    }
}

/// The text of a literal in plain quotes.
fn literal(text: &str) -> Option<&str> {
    let text = text.trim();
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains([quote, '\\', '\n', '$'])).then_some(inner)
}

/// The shape in which a decision's result is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ResultMapping {
    /// As the decision gives it.
    #[default]
    Plain,
    /// One result: the item of a list with one item, null for an empty one; several are an incident.
    Single,
    /// As `Single`, and always a context: a value without a name gets that of its output.
    SingleResult,
    /// A list of results: null is none, one that is no list the only one.
    Collect,
    /// As `Collect`, and each result is a context by output.
    All,
}

impl ResultMapping {
    /// The names that a definition may use.
    pub const NAMES: &[&str] =
        &["single", "singleEntry", "singleResult", "collect", "collectEntries", "all", "resultList"];

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "single" | "singleEntry" => Self::Single,
            "singleResult" => Self::SingleResult,
            "collect" | "collectEntries" => Self::Collect,
            "all" | "resultList" => Self::All,
            _ => return None,
        })
    }
}

/// Data mapping of a task that computes: variables that it sees besides those of its scope, and variables
/// that it leaves behind.
#[derive(Debug, Clone, Default)]
pub struct DataMapping {
    /// Variables of the task alone, evaluated in their order; each sees those before it.
    pub inputs: Vec<(Target, Setting)>,
    /// The variable of the result. With outputs it is one of the task alone.
    pub result_variable: Option<Arc<str>>,
    /// Variables set at the end, evaluated in their order over the result and the inputs.
    pub outputs: Vec<(Target, Setting)>,
}

/// A variable, or a member of a context in one, as `order.total`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The variable.
    pub variable: Arc<str>,
    /// The members from there, outermost first.
    pub members: Vec<String>,
}

impl Target {
    /// Reads a name with members behind points.
    #[must_use]
    pub fn read(name: &str) -> Option<Self> {
        let mut steps = name.split('.').map(str::trim);
        let variable = steps.next().filter(|step| !step.is_empty())?.into();
        let members: Vec<String> = steps.map(str::to_owned).collect();
        members.iter().all(|step| !step.is_empty()).then_some(Self { variable, members })
    }

    /// Puts the value where the target says; `variable` is the variable's value before. What is no context on the way
    /// becomes one.
    #[must_use]
    pub fn put(&self, variable: Option<&Value>, value: Value) -> Value {
        let mut whole = if self.members.is_empty() { None } else { variable.cloned() }.unwrap_or_default();
        let mut place = &mut whole;
        for member in &self.members {
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            place = &mut place[member.as_str()];
        }
        *place = value;
        whole
    }
}

/// Code, sentence and clause of a setting that is wrong; the clause is that of BPMN.
pub type Wrong = (&'static str, String, &'static str);

const CLAUSE: &str = "10.3.3.1";

/// A setting that is wrong.
pub fn wrong(sentence: impl Into<String>) -> Wrong {
    ("wrongSetting", sentence.into(), CLAUSE)
}

fn given<'s>(settings: &'s Map<String, Value>, member: &str) -> Option<&'s Value> {
    settings.get(member).filter(|value| !value.is_null())
}

/// The text of a setting, trimmed; none where it is absent or null.
///
/// # Errors
/// When it is no text, or an empty one.
pub fn text<'s>(settings: &'s Map<String, Value>, member: &str) -> Result<Option<&'s str>, Wrong> {
    match given(settings, member) {
        None => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim())),
        Some(_) => Err(wrong(format!("{member}: must be a text"))),
    }
}

impl DecisionTask {
    /// Reads the settings; `linked` is the decision whose element names the node. None when the task names no decision.
    ///
    /// # Errors
    /// Code, sentence and clause of each setting that is wrong.
    pub fn read(
        settings: Option<&Map<String, Value>>,
        linked: Option<&str>,
    ) -> Result<Option<Self>, Vec<Wrong>> {
        let empty = Map::new();
        let settings = settings.unwrap_or(&empty);
        let decision = match (text(settings, "decisionRef"), linked) {
            (Err(wrong), _) => Err(wrong),
            (Ok(Some(own)), _) => {
                Setting::read(&own.into()).map_err(|error| expression("decisionRef", &error))
            }
            (Ok(None), Some(linked)) => Ok(Setting::Literal(linked.into())),
            (Ok(None), None) => {
                let asked = ["kind", "resultVariable", "resultMapping", "inputs", "outputs"];
                return match asked.iter().find(|member| given(settings, member).is_some()) {
                    None => Ok(None),
                    Some(member) => Err(vec![wrong(format!("decisionRef: `{member}` needs a decision"))]),
                };
            }
        };
        let mapping = match text(settings, "resultMapping") {
            Err(wrong) => Err(wrong),
            Ok(None) => Ok(ResultMapping::default()),
            Ok(Some(name)) => ResultMapping::named(name).ok_or_else(|| {
                wrong(format!("resultMapping: must be one of {}", ResultMapping::NAMES.join(", ")))
            }),
        };
        match (decision, mapping, DataMapping::read(settings)) {
            (Ok(decision), Ok(mapping), Ok(data)) => Ok(Some(Self { decision, mapping, data })),
            (decision, mapping, data) => {
                let first = decision.err().into_iter().chain(mapping.err());
                Err(first.chain(data.err().unwrap_or_default()).collect())
            }
        }
    }
}

impl ScriptTask {
    /// Reads the settings, and the script of the model. None when there is no script.
    ///
    /// # Errors
    /// Code, sentence and clause of each setting that is wrong.
    pub fn read(
        settings: Option<&Map<String, Value>>,
        script: Option<&str>,
        format: Option<&str>,
    ) -> Result<Option<Self>, Vec<Wrong>> {
        let empty = Map::new();
        let settings = settings.unwrap_or(&empty);
        let data = DataMapping::read(settings);
        let source = match Self::source(settings, script, format) {
            Ok(Some(source)) => source,
            Ok(None) => {
                let asked = ["kind", "resultVariable", "inputs", "outputs"];
                return match asked.iter().find(|member| given(settings, member).is_some()) {
                    None => Ok(None),
                    Some(member) => Err(vec![wrong(format!("source: `{member}` needs a script"))]),
                };
            }
            Err(wrong) => {
                return Err(std::iter::once(wrong).chain(data.err().unwrap_or_default()).collect());
            }
        };
        Ok(Some(Self { source, data: data?, throws: None }))
    }

    /// The script in FEEL: that of the settings, else that of the model.
    fn source(
        settings: &Map<String, Value>,
        script: Option<&str>,
        format: Option<&str>,
    ) -> Result<Option<Expression>, Wrong> {
        let script = script.filter(|script| !script.trim().is_empty());
        let source = match (text(settings, "source")?, script) {
            (Some(source), _) => source,
            (None, Some(script)) if is_feel(format) => script.trim(),
            (None, Some(_)) => {
                let language =
                    format.filter(|format| !format.trim().is_empty()).unwrap_or("no named language");
                let sentence =
                    format!("scripts in {language} are not executed; FEEL is (`scriptFormat` feel)");
                return Err(("unsupportedScript", sentence, CLAUSE));
            }
            (None, None) => return Ok(None),
        };
        let feel = source.strip_prefix('=').unwrap_or(source).trim();
        let compiled = Expression::compile(feel, Dialect::Heddle);
        compiled.map(Some).map_err(|error| expression("source", &format!("`{feel}` is no FEEL: {error}")))
    }
}

fn expression(member: &str, message: &str) -> Wrong {
    ("expressionSyntax", format!("{member}: {message}"), "8.4.6")
}

/// Whether the name of a language means FEEL.
#[must_use]
pub fn is_feel(format: Option<&str>) -> bool {
    format.is_some_and(|format| format.to_ascii_lowercase().contains("feel"))
}

impl DataMapping {
    /// Reads `inputs`, `resultVariable` and `outputs`.
    ///
    /// # Errors
    /// Code, sentence and clause of each of them that is wrong.
    pub fn read(settings: &Map<String, Value>) -> Result<Self, Vec<Wrong>> {
        match (list(settings, "inputs"), text(settings, "resultVariable"), list(settings, "outputs")) {
            (Ok(inputs), Ok(result), Ok(outputs)) => {
                Ok(Self { inputs, result_variable: result.map(Arc::from), outputs })
            }
            (inputs, result, outputs) => {
                let first = inputs.err().unwrap_or_default().into_iter().chain(result.err());
                Err(first.chain(outputs.err().unwrap_or_default()).collect())
            }
        }
    }
}

/// Targets and values of `[{name, value}]`.
///
/// # Errors
/// Code, sentence and clause of each one that is wrong.
pub fn list(settings: &Map<String, Value>, member: &str) -> Result<Vec<(Target, Setting)>, Vec<Wrong>> {
    let items = match given(settings, member) {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(vec![wrong(format!("{member}: must be an array of {{name, value}}"))]),
    };
    let (mut read, mut faults) = (Vec::with_capacity(items.len()), Vec::new());
    for (place, item) in items.iter().enumerate() {
        let target = item.get("name").and_then(Value::as_str).and_then(Target::read);
        let value = Setting::read(item.get("value").unwrap_or(&Value::Null));
        if target.is_none() {
            faults.push(wrong(format!("{member}[{place}].name: must be a variable's name")));
        }
        match (target, value) {
            (Some(target), Ok(value)) => read.push((target, value)),
            (None, Ok(_)) => {}
            (Some(_) | None, Err(error)) => {
                faults.push(expression(&format!("{member}[{place}].value"), &error));
            }
        }
    }
    if faults.is_empty() { Ok(read) } else { Err(faults) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_of_variables_are_put_where_they_belong() {
        let target = |name: &str| Target::read(name).unwrap();
        assert_eq!(target("a").put(Some(&json!({"x": 1})), json!(2)), json!(2));
        assert_eq!(
            target("a.b.c").put(Some(&json!({"x": 1, "b": 3})), json!(2)),
            json!({"x": 1, "b": {"c": 2}})
        );
        assert_eq!(target("a.b").put(None, json!(2)), json!({"b": 2}));
        assert!(Target::read("").is_none() && Target::read("a..b").is_none() && Target::read("a.").is_none());
    }

    #[test]
    fn settings_that_are_wrong_are_named() {
        for (settings, told) in [
            (json!({"decisionRef": 1}), "decisionRef"),
            (json!({"decisionRef": "=1 +"}), "decisionRef"),
            (json!({"resultVariable": "x"}), "decisionRef: `resultVariable`"),
            (json!({"decisionRef": "d", "resultMapping": "some"}), "resultMapping: must be one of single,"),
            (json!({"decisionRef": "d", "resultVariable": ""}), "resultVariable"),
            (json!({"decisionRef": "d", "inputs": {}}), "inputs"),
            (
                json!({"decisionRef": "d", "inputs": [{"name": "a", "value": 1}, {"value": 1}]}),
                "inputs[1].name",
            ),
            (json!({"decisionRef": "d", "outputs": [{"name": "a", "value": "=)"}]}), "outputs[0].value"),
        ] {
            let error = DecisionTask::read(settings.as_object(), None).unwrap_err();
            assert!(error[0].1.starts_with(told), "{settings}: {error:?}");
        }
        let error = ScriptTask::read(None, Some("1 +\n)"), Some("FEEL")).unwrap_err();
        assert!(error[0].1.contains("line 2, column 1"), "{error:?}");
        assert!(ScriptTask::read(None, Some("x = 1"), Some("groovy")).unwrap_err()[0].1.contains("groovy"));
        // Each is told beside the others.
        let all = json!({"decisionRef": "=1 +", "resultMapping": "some", "inputs": 1, "resultVariable": 1, "outputs": 1});
        assert_eq!(DecisionTask::read(all.as_object(), None).unwrap_err().len(), 5);
        let all = json!({"source": "1 +", "inputs": 1, "outputs": [{"value": 1}]});
        assert_eq!(ScriptTask::read(all.as_object(), None, None).unwrap_err().len(), 3);
    }
}
