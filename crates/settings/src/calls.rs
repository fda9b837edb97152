//! Calls: what they call, in which version, and what passes.

use super::calculation::{self, Wrong};
use super::job::Mappings;
use super::juel;
use super::setting::Setting;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Target of a call: of an activity of BPMN (clause 10.3.6), or of a process or case task of CMMN. What passes one by one stands in its [`Mappings`].
#[derive(Debug, Clone)]
pub struct CallTask {
    /// Id of a process or of a global task, or id or slug of a workflow or case type.
    pub called: Setting,
    /// Version that is meant; absent is the caller's own for what stands in the same definition, else the latest.
    pub version: Option<CallVersion>,
    /// Whether it begins with all variables that the call sees, rather than with those of the activity alone.
    pub all_in: bool,
    /// Whether it leaves all of its variables behind.
    pub all_out: bool,
    /// Business key of the called run; absent is that of the caller, where it inherits one.
    pub business_key: Option<Setting>,
    /// Whether it has the business key of its caller unless its own gives one.
    pub inherit: bool,
    /// Correlation key of the called run; absent is that of the caller.
    pub correlation_key: Option<Setting>,
}

/// Version that a call activity means.
#[derive(Debug, Clone)]
pub enum CallVersion {
    /// The one that is active at the call.
    Latest,
    /// The one that was active when the caller's version was published.
    Deployment,
    /// The one of this number.
    Number(Setting),
    /// The last one with this tag.
    Tag(Setting),
}

const CLAUSE: &str = "10.3.6";

/// Content of a call activity's settings.
#[derive(Debug)]
pub struct ReadCall {
    /// Target of the call.
    pub task: CallTask,
    /// Values that go in and come out one by one; none where it has no such settings.
    pub mappings: Option<Arc<Mappings>>,
}

fn wrong(sentence: impl Into<String>) -> Wrong {
    ("wrongSetting", sentence.into(), CLAUSE)
}

impl ReadCall {
    /// Reads the settings; `called_element` is the model's own word. Without any mapping everything passes both ways; with
    /// one, what is mapped.
    ///
    /// # Errors
    /// Code, sentence and clause of each setting that is wrong.
    pub fn read(
        settings: Option<&Map<String, Value>>,
        called_element: Option<&str>,
    ) -> Result<Self, Vec<Wrong>> {
        let empty = Map::new();
        let settings = settings.unwrap_or(&empty);
        let mut refused = Vec::new();
        let mut keep = |problem: Wrong| refused.push(problem);
        let called = called(settings, called_element).map_err(&mut keep).ok();
        let version = version(settings).map_err(&mut keep).ok();
        let business_key = text(settings, "businessKey").map_err(&mut keep).ok();
        let inherit = flag(settings, "inheritBusinessKey").map_err(&mut keep).ok();
        let correlation_key = text(settings, "correlationKey").map_err(&mut keep).ok();
        let inputs = calculation::list(settings, "inputs").map_err(|all| all.into_iter().for_each(&mut keep));
        let outputs =
            calculation::list(settings, "outputs").map_err(|all| all.into_iter().for_each(&mut keep));
        let all_in = flag(settings, "propagateAllInputs").map_err(&mut keep).ok();
        let all_out = flag(settings, "propagateAllOutputs").map_err(&mut keep).ok();
        let keys = business_key.zip(inherit);
        match (called, version, keys, correlation_key, inputs.ok().zip(outputs.ok()), all_in.zip(all_out)) {
            (
                Some(called),
                Some(version),
                Some((business_key, inherit)),
                Some(correlation_key),
                Some((inputs, outputs)),
                Some((all_in, all_out)),
            ) => {
                let unmapped = inputs.is_empty() && outputs.is_empty();
                let (all_in, all_out) = (all_in.unwrap_or(unmapped), all_out.unwrap_or(unmapped));
                let task = CallTask {
                    called,
                    version,
                    all_in,
                    all_out,
                    business_key,
                    inherit: inherit.unwrap_or(true),
                    correlation_key,
                };
                let mappings = (!unmapped).then(|| Arc::new(Mappings { inputs, outputs }));
                Ok(Self { task, mappings })
            }
            _ => Err(refused),
        }
    }
}

fn given<'s>(settings: &'s Map<String, Value>, member: &str) -> Option<&'s Value> {
    settings.get(member).filter(|value| !value.is_null() && value.as_str() != Some(""))
}

/// Name of what is called: a setting, else the model's own word. `${…}` is an expression as it is after `=`.
fn called(settings: &Map<String, Value>, called_element: Option<&str>) -> Result<Setting, Wrong> {
    let member = ["ref", "calledElement"].into_iter().find(|member| given(settings, member).is_some());
    let text = match member {
        Some(member) => settings.get(member).and_then(Value::as_str).map(str::trim),
        None => called_element.map(str::trim),
    };
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        let sentence = match member {
            Some(member) => format!("{member}: must be a text"),
            None => "calledElement: the call activity names nothing to call".to_owned(),
        };
        return Err(wrong(sentence));
    };
    let text = if juel::is_juel(text) {
        let feel = juel::value(text).map_err(|error| {
            let sentence = format!("calledElement: `{text}` is JUEL and is not translated to FEEL: {error}");
            ("expressionLanguage", sentence, "8.4.6")
        })?;
        format!("={feel}")
    } else {
        text.to_owned()
    };
    Setting::read(&text.into()).map_err(|error| expression("calledElement", &error))
}

fn expression(member: &str, error: &str) -> Wrong {
    ("expressionSyntax", format!("{member}: {error}"), "8.4.6")
}

/// The version that is meant: a tag or a number, if one is given, else the policy's.
fn version(settings: &Map<String, Value>) -> Result<Option<CallVersion>, Wrong> {
    if let Some(tag) = text(settings, "versionTag")? {
        return Ok(Some(CallVersion::Tag(tag)));
    }
    if let Some(number) = given(settings, "version") {
        let read = Setting::read(number).map_err(|error| expression("version", &error))?;
        let counts = match &read {
            Setting::Literal(value) => version_number(value).is_some(),
            Setting::Expression(_) => true,
        };
        return if counts {
            Ok(Some(CallVersion::Number(read)))
        } else {
            Err(wrong(format!("version: {number} is no number of a version, which are counted from 1")))
        };
    }
    match given(settings, "versionPolicy").map(Value::as_str) {
        None => Ok(None),
        Some(Some("latest")) => Ok(Some(CallVersion::Latest)),
        Some(Some("deployment")) => Ok(Some(CallVersion::Deployment)),
        Some(Some("version")) => Err(wrong("versionPolicy: `version` needs a `version`")),
        Some(Some("versionTag")) => Err(wrong("versionPolicy: `versionTag` needs a `versionTag`")),
        Some(_) => Err(wrong("versionPolicy: must be one of latest, deployment, version, versionTag")),
    }
}

/// The number of a version that a value is: from 1, as a number or as a text of digits.
#[must_use]
pub fn version_number(value: &Value) -> Option<i32> {
    let number = match value {
        Value::Number(number) => number.as_i64()?,
        Value::String(text) => text.trim().parse().ok()?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    i32::try_from(number).ok().filter(|number| *number >= 1)
}

fn text(settings: &Map<String, Value>, member: &str) -> Result<Option<Setting>, Wrong> {
    match given(settings, member) {
        None => Ok(None),
        Some(value @ Value::String(_)) => {
            Setting::read(value).map(Some).map_err(|error| expression(member, &error))
        }
        Some(_) => Err(wrong(format!("{member}: must be a text"))),
    }
}

fn flag(settings: &Map<String, Value>, member: &str) -> Result<Option<bool>, Wrong> {
    match given(settings, member) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(wrong(format!("{member}: must be true or false"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_passes_everything_unless_it_maps_something() {
        let read = |settings: Value| ReadCall::read(settings.as_object(), Some("p")).unwrap();
        let plain = read(json!({}));
        assert!(plain.task.all_in && plain.task.all_out && plain.mappings.is_none());
        let mapped = read(json!({"inputs": [{"name": "a", "value": 1}]}));
        assert!(!mapped.task.all_in && !mapped.task.all_out);
        assert_eq!(mapped.mappings.unwrap().inputs.len(), 1);
        let both = read(json!({"outputs": [{"name": "a", "value": "=b"}], "propagateAllInputs": true}));
        assert!(both.task.all_in && !both.task.all_out);
        let named = read(json!({"ref": "q", "version": "3"}));
        assert!(matches!(&named.task.called, Setting::Literal(name) if name == "q"));
        assert!(matches!(&named.task.version, Some(CallVersion::Number(_))));
        assert!(plain.task.inherit && read(json!({"inheritBusinessKey": null})).task.inherit);
        assert!(!read(json!({"inheritBusinessKey": false})).task.inherit);
        let computed = ReadCall::read(None, Some("${which}")).unwrap();
        assert!(matches!(computed.task.called, Setting::Expression(_)));
    }

    #[test]
    fn settings_that_are_wrong_are_named() {
        for (settings, told) in [
            (json!({}), "calledElement: the call"),
            (json!({"ref": 1}), "ref: must"),
            (json!({"ref": "p", "version": "x"}), "version: "),
            (json!({"ref": "p", "version": 0}), "version: "),
            (json!({"ref": "p", "versionPolicy": "newest"}), "versionPolicy: must"),
            (json!({"ref": "p", "versionPolicy": "versionTag"}), "versionPolicy: `versionTag` needs"),
            (json!({"ref": "p", "businessKey": 1}), "businessKey: must"),
            (json!({"ref": "p", "inheritBusinessKey": "no"}), "inheritBusinessKey: must"),
            (json!({"ref": "p", "propagateAllInputs": "yes"}), "propagateAllInputs: must"),
            (json!({"ref": "p", "inputs": {}}), "inputs: must"),
        ] {
            let refused = ReadCall::read(settings.as_object(), None).unwrap_err();
            assert!(refused.iter().any(|one| one.1.starts_with(told)), "{settings}: {refused:?}");
        }
    }
}
