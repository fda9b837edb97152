//! Scripts in other languages than FEEL: computed where the translation is exact, else done by workers.

use super::calculation::{self, ScriptError, ScriptTask, Wrong};
use super::job::JobTask;
use super::juel::script;
use super::setting::Setting;
use serde_json::{Map, Value, json};

/// A script that is not in FEEL.
#[derive(Debug)]
pub enum Script {
    /// Computation as FEEL.
    Feel(ScriptTask),
    /// A worker runs it.
    Job(JobTask),
}

/// A script of the model in another language: translated where that is exact, else the job of a worker. None where there
/// is none, or FEEL in its place.
///
/// # Errors
/// Code, sentence and clause of each setting that is wrong.
pub fn script(
    settings: Option<&Map<String, Value>>,
    text: Option<&str>,
    format: Option<&str>,
) -> Result<Option<Script>, Vec<Wrong>> {
    let empty = Map::new();
    let settings = settings.unwrap_or(&empty);
    let own = settings.get("source").is_some_and(|source| !source.is_null());
    if own || calculation::is_feel(format) {
        return Ok(None);
    }
    let (text, format) = (text.unwrap_or_default().trim(), format.unwrap_or_default());
    let elsewhere = settings.get("headers").and_then(|headers| headers.get("resource")).is_some();
    // Of a script in no named language nobody knows how to run it.
    if !elsewhere && (text.is_empty() || format.trim().is_empty()) {
        return Ok(None);
    }
    if !elsewhere
        && script::is_known(format)
        && let Some(error) = ScriptError::read(text)
    {
        let mut own = settings.clone();
        own.insert("source".to_owned(), "null".into());
        let task = ScriptTask::read(Some(&own), None, None)?;
        return Ok(task.map(|task| Script::Feel(ScriptTask { throws: Some(error), ..task })));
    }
    let translated = if elsewhere { None } else { script::translate(format, text).ok() };
    if let Some(settings) = translated.and_then(|script| computed(settings, script)) {
        let task = ScriptTask::read(Some(&settings), None, None)?;
        return Ok(task.map(Script::Feel));
    }
    let mut job = JobTask::of(Setting::Literal(script::job_type(format).into()), settings)?;
    if !text.is_empty() {
        job.headers.insert("script".to_owned(), text.into());
    }
    // A script gives its result by that name; a worker sets variables by theirs.
    if let Some(name) = job.result_variable.take() {
        job.headers.insert("resultVariable".to_owned(), (*name).into());
    }
    Ok(Some(Script::Job(job)))
}

/// The settings of a script task that computes the same; none where it is not known what the script leaves behind.
fn computed(settings: &Map<String, Value>, script: script::Script) -> Option<Map<String, Value>> {
    let mut own = settings.clone();
    let wanted = settings.get("resultVariable").filter(|name| !name.is_null());
    let script::Script { mut variables, globals, result } = script;
    if wanted.is_some() && (result.is_none() || !globals.is_empty()) {
        return None;
    }
    variables.extend(globals);
    let mapped = settings.get("outputs").and_then(Value::as_array).is_some_and(|own| !own.is_empty());
    if mapped && !variables.is_empty() {
        return None;
    }
    let kept = wanted.is_some() || mapped;
    own.insert("source".to_owned(), result.filter(|_| kept).unwrap_or_else(|| "null".to_owned()).into());
    if !variables.is_empty() {
        let outputs = variables.into_iter();
        let mut outputs: Vec<Value> =
            outputs.map(|(name, feel)| json!({"name": name, "value": format!("={feel}")})).collect();
        if let Some(name) = wanted.and_then(Value::as_str) {
            // With outputs the result is a variable of the task alone.
            outputs.push(json!({"name": name, "value": format!("={name}")}));
        }
        own.insert("outputs".to_owned(), Value::Array(outputs));
    }
    Some(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_script_is_computed_where_it_can_be() {
        let read = |settings: Value, text: &str| {
            script(settings.as_object(), Some(text), Some("javascript")).unwrap()
        };
        assert!(
            matches!(read(json!({}), "x = x + 1"), Some(Script::Feel(task)) if task.data.outputs.len() == 1)
        );
        let result = read(json!({"resultVariable": "y"}), "a * 2");
        assert!(
            matches!(result, Some(Script::Feel(task)) if task.data.result_variable.as_deref() == Some("y"))
        );
        let Some(Script::Job(job)) = read(json!({"resultVariable": "y"}), "a.foo()") else { panic!() };
        assert!(matches!(&job.job_type, Setting::Literal(own) if own == "script:javascript"));
        assert_eq!(job.headers["resultVariable"], "y");
        assert!(script(None, Some("1"), Some("feel")).unwrap().is_none());
        assert!(script(None, None, Some("groovy")).unwrap().is_none());
    }
}
