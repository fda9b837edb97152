//! Jobs of external workers, and the mappings of values that go into an activity and come out of it.

use super::calculation::{self, Target, Wrong, wrong};
use super::setting::Setting;
use heddle_kernel::IsoDuration;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Most back-offs that are told one by one.
const MAX_BACK_OFFS: usize = 20;
/// Longest back-off, a year in milliseconds.
const MAX_BACK_OFF: f64 = 366.0 * 86_400_000.0;

/// Beginning of the types of the service's own jobs: no worker gets them, and no `jobType` may begin so.
pub(super) const OWN: &str = "heddle:";

/// Whether jobs of a type are the service's own.
#[must_use]
pub fn is_own_type(job_type: &str) -> bool {
    job_type.starts_with(OWN)
}

/// Values that go into an activity and come out of it by its settings: `inputs` and `outputs`.
#[derive(Debug, Clone, Default)]
pub struct Mappings {
    /// Variables of the activity alone, in order.
    pub inputs: Vec<(Target, Setting)>,
    /// Variables that it leaves behind, in order.
    pub outputs: Vec<(Target, Setting)>,
}

/// Work that external workers do.
#[derive(Debug, Clone)]
pub struct JobTask {
    /// Type of the job, by which workers ask for it.
    pub job_type: Setting,
    /// Attempts; absent is three.
    pub retries: Option<Setting>,
    /// Milliseconds before each further attempt, the last one for all that follow.
    pub back_off: Vec<u64>,
    /// The higher, the sooner.
    pub priority: Option<Setting>,
    /// Settings for the worker.
    pub headers: Map<String, Value>,
    /// Variable that takes all that the worker gives, as one.
    pub result_variable: Option<Arc<str>>,
    /// Settings that the engine evaluates and adds to the headers, of work that the service does itself (see
    /// [`crate::service`]); none where a worker does it.
    pub arguments: Option<Vec<(Arc<str>, Setting)>>,
}

/// A value, or FEEL after `=`; none where it is absent or null.
///
/// # Errors
/// Code, sentence and clause of FEEL that cannot be read.
pub fn setting(settings: &Map<String, Value>, member: &str) -> Result<Option<Setting>, Wrong> {
    match settings.get(member).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => match Setting::read(value) {
            Ok(setting) => Ok(Some(setting)),
            Err(message) => Err(("expressionSyntax", format!("{member}: {message}"), "8.4.6")),
        },
    }
}

/// A whole number, as such, as a text, or as FEEL.
///
/// # Errors
/// Code, sentence and clause of what is none.
pub fn number(settings: &Map<String, Value>, member: &str) -> Result<Option<Setting>, Wrong> {
    let told = || wrong(format!("{member}: must be a whole number, or FEEL after `=`"));
    match settings.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => {
            Ok(Some(Setting::Literal(Value::Number(number.clone()))))
        }
        Some(Value::String(text)) if text.trim_start().starts_with('=') => setting(settings, member),
        Some(Value::String(text)) => match text.trim().parse::<i64>() {
            Ok(number) => Ok(Some(Setting::Literal(number.into()))),
            Err(_) => Err(told()),
        },
        Some(_) => Err(told()),
    }
}

impl JobTask {
    /// A job of a type, with the rest of its settings.
    ///
    /// # Errors
    /// Code, sentence and clause of each setting that is wrong.
    pub fn of(job_type: Setting, settings: &Map<String, Value>) -> Result<Self, Vec<Wrong>> {
        let headers = match settings.get("headers") {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(headers)) => Ok(headers.clone()),
            Some(_) => Err(wrong("headers: must be an object of names and values")),
        };
        let result_variable = calculation::text(settings, "resultVariable");
        match (retry(settings.get("retry")), headers, number(settings, "priority"), result_variable) {
            (Ok((retries, back_off)), Ok(headers), Ok(priority), Ok(result_variable)) => Ok(Self {
                job_type,
                retries,
                back_off,
                priority,
                headers,
                result_variable: result_variable.map(Arc::from),
                arguments: None,
            }),
            (retry, headers, priority, result_variable) => {
                let first = retry.err().into_iter().chain(headers.err());
                Err(first.chain(priority.err()).chain(result_variable.err()).collect())
            }
        }
    }

    /// The job that a node's settings ask for by `jobType`; none when they ask for none.
    ///
    /// # Errors
    /// Code, sentence and clause of each setting that is wrong.
    pub fn read(settings: &Map<String, Value>) -> Result<Option<Self>, Vec<Wrong>> {
        let job_type = match calculation::text(settings, "jobType") {
            Ok(None) => return Ok(None),
            Ok(Some(own)) if is_own_type(own) => Err(wrong(format!(
                "jobType: `{own}` is a type of the service's own jobs, which no worker gets"
            ))),
            Ok(Some(_)) => setting(settings, "jobType"),
            Err(fault) => Err(fault),
        };
        match job_type {
            Ok(None) => Ok(None),
            Ok(Some(job_type)) => Self::of(job_type, settings).map(Some),
            Err(fault) => {
                let rest = Self::of(Setting::Literal(Value::Null), settings).err().unwrap_or_default();
                Err(std::iter::once(fault).chain(rest).collect())
            }
        }
    }
}

/// Attempts and the milliseconds before each further one.
fn retry(value: Option<&Value>) -> Result<(Option<Setting>, Vec<u64>), Wrong> {
    let told = || {
        wrong(
            "retry: must be {maxAttempts, initialSeconds, multiplier}, or durations by ISO 8601 parted by commas",
        )
    };
    match value {
        None | Some(Value::Null) => Ok((None, Vec::new())),
        Some(Value::Number(own)) if own.as_u64().is_some_and(|own| own > 0) => {
            Ok((Some(Setting::Literal(Value::Number(own.clone()))), Vec::new()))
        }
        Some(Value::Number(_)) => Err(told()),
        Some(Value::String(text)) => {
            let back_off: Option<Vec<u64>> = text.split(',').map(|part| millis(part.trim())).collect();
            let back_off = back_off.ok_or_else(told)?;
            // As many further attempts as there are pauses.
            Ok((Some(Setting::Literal((back_off.len() + 1).into())), back_off))
        }
        Some(Value::Object(members)) => {
            const MEMBERS: [&str; 3] = ["maxAttempts", "initialSeconds", "multiplier"];
            let attempts = number(members, "maxAttempts")?;
            let none = |own: &Setting| matches!(own, Setting::Literal(own) if own.as_i64().is_some_and(|own| own < 1));
            if members.keys().any(|own| !MEMBERS.contains(&own.as_str()))
                || attempts.as_ref().is_some_and(none)
            {
                return Err(told());
            }
            let part = |name: &str, usual: f64| match members.get(name) {
                None | Some(Value::Null) => Ok(usual),
                Some(value) => value.as_f64().filter(|own| *own >= 0.0).ok_or_else(told),
            };
            let (first, multiplier) = (part("initialSeconds", 0.0)? * 1000.0, part("multiplier", 1.0)?);
            if first == 0.0 {
                return Ok((attempts, Vec::new()));
            }
            let mut back_off = vec![first.min(MAX_BACK_OFF) as u64];
            let mut next = first;
            while multiplier > 1.0 && back_off.len() < MAX_BACK_OFFS && next < MAX_BACK_OFF {
                next = (next * multiplier).min(MAX_BACK_OFF);
                back_off.push(next as u64);
            }
            Ok((attempts, back_off))
        }
        Some(Value::Bool(_) | Value::Array(_)) => Err(told()),
    }
}

fn millis(text: &str) -> Option<u64> {
    let nanos = IsoDuration::parse(text)?.nanos()?;
    u64::try_from(nanos / 1_000_000).ok()
}

impl Mappings {
    /// The mappings of a node; none when it has none.
    ///
    /// # Errors
    /// Code, sentence and clause of each one that is wrong.
    pub fn read(settings: &Map<String, Value>) -> Result<Option<Self>, Vec<Wrong>> {
        match (calculation::list(settings, "inputs"), calculation::list(settings, "outputs")) {
            (Ok(inputs), Ok(outputs)) => {
                let any = !inputs.is_empty() || !outputs.is_empty();
                Ok(any.then_some(Self { inputs, outputs }))
            }
            (inputs, outputs) => {
                let first = inputs.err().unwrap_or_default().into_iter();
                Err(first.chain(outputs.err().unwrap_or_default()).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_job_reads_its_settings() {
        let settings = json!({
            "jobType": "pay", "priority": "50", "headers": {"method": "card"},
            "retry": {"maxAttempts": 5, "initialSeconds": 2, "multiplier": 2}
        });
        let job = JobTask::read(settings.as_object().unwrap()).unwrap().unwrap();
        assert!(matches!(&job.job_type, Setting::Literal(Value::String(name)) if name == "pay"));
        assert!(matches!(&job.retries, Some(Setting::Literal(n)) if *n == json!(5)));
        assert!(matches!(&job.priority, Some(Setting::Literal(n)) if *n == json!(50)));
        assert_eq!(job.back_off.get(..3), Some(&[2000, 4000, 8000][..]));
        let (retries, back_off) = retry(Some(&json!("PT10S,PT1M"))).unwrap();
        assert!(matches!(retries, Some(Setting::Literal(n)) if n == json!(3)));
        assert_eq!(back_off, [10_000, 60_000]);
        for wrong in [
            json!({"jobType": 1}),
            json!({"jobType": "=1 +"}),
            json!({"jobType": "a", "retry": "often"}),
            json!({"jobType": "a", "retry": {"maxAttempts": "many"}}),
            json!({"jobType": "a", "headers": []}),
            json!({"jobType": "a", "priority": "high"}),
        ] {
            assert!(JobTask::read(wrong.as_object().unwrap()).is_err(), "{wrong}");
        }
        assert!(JobTask::read(&Map::new()).unwrap().is_none());
    }

    #[test]
    fn each_setting_that_is_wrong_is_told() {
        let begins = |told: Vec<Wrong>| -> Vec<String> {
            told.iter().map(|one| one.1.split(": ").next().unwrap_or_default().to_owned()).collect()
        };
        for job_type in [json!("a"), json!(1), json!("=1 +"), json!("heddle:llm.chat")] {
            let settings = json!({
                "jobType": job_type, "retry": "often", "headers": [], "priority": "high", "resultVariable": 1
            });
            let told = JobTask::read(settings.as_object().unwrap()).unwrap_err();
            let mut expected = vec!["retry", "headers", "priority", "resultVariable"];
            if job_type != "a" {
                expected.insert(0, "jobType");
            }
            assert_eq!(begins(told), expected, "{job_type}");
        }
        let settings = json!({
            "inputs": [{"name": "a", "value": "=)"}, {"value": 1}, {"name": "b", "value": 1}], "outputs": 1
        });
        let told = Mappings::read(settings.as_object().unwrap()).unwrap_err();
        assert_eq!(begins(told), ["inputs[0].value", "inputs[1].name", "outputs"]);
    }
}
