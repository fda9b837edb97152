//! Words of a node's settings beside its work: jobs, mappings, listeners and commit points.

use super::activity::{JobTask, Listener, ListenerPlace, ListenerWork, Listeners, Mappings};
use super::calculation::{self, ScriptError, ScriptTask, Wrong, wrong};
use super::compile::Builder;
use super::settings::Setting;
use super::timer::{TimerDefinition, TimerKind};
use super::unsupported::asks;
use super::{Continuations, Element, NodeIx, Work};
use heddle_bpmn::diagnostic;
use heddle_bpmn::juel::script;
use heddle_bpmn::model::Node;
use heddle_feel::{Dialect, Expression};
use heddle_kernel::IsoDuration;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Most back-offs that are told one by one.
const MAX_BACK_OFFS: usize = 20;
/// Longest back-off, a year in milliseconds.
const MAX_BACK_OFF: f64 = 366.0 * 86_400_000.0;

/// A script that is not in FEEL.
pub(super) enum Script {
    /// Computation as FEEL.
    Feel(ScriptTask),
    /// A worker runs it.
    Job(JobTask),
}

fn setting(settings: &Map<String, Value>, member: &str) -> Result<Option<Setting>, Wrong> {
    match settings.get(member).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => match Setting::read(value) {
            Ok(setting) => Ok(Some(setting)),
            Err(message) => Err(("expressionSyntax", format!("{member}: {message}"), "8.4.6")),
        },
    }
}

/// A whole number, as such, as a text, or as FEEL.
fn number(settings: &Map<String, Value>, member: &str) -> Result<Option<Setting>, Wrong> {
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
    /// Code, sentence and clause of the first setting that is wrong.
    fn of(job_type: Setting, settings: &Map<String, Value>) -> Result<Self, Wrong> {
        let (retries, back_off) = retry(settings.get("retry"))?;
        let headers = match settings.get("headers") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(headers)) => headers.clone(),
            Some(_) => return Err(wrong("headers: must be an object of names and values")),
        };
        Ok(Self {
            job_type,
            retries,
            back_off,
            priority: number(settings, "priority")?,
            headers,
            result_variable: calculation::text(settings, "resultVariable")?.map(Arc::from),
        })
    }

    /// The job that a node's settings ask for by `jobType`; none when they ask for none.
    ///
    /// # Errors
    /// Code, sentence and clause of the first setting that is wrong.
    pub(super) fn read(settings: &Map<String, Value>) -> Result<Option<Self>, Wrong> {
        match calculation::text(settings, "jobType")? {
            None => Ok(None),
            Some(_) => match setting(settings, "jobType")? {
                Some(job_type) => Self::of(job_type, settings).map(Some),
                None => Ok(None),
            },
        }
    }
}

/// The job of a task that the model gives a service: an operation, or the technology of its implementation (clause
/// 10.3.3.1). None where it has none, or the settings say what it does.
///
/// # Errors
/// Code, sentence and clause of the first setting that is wrong.
pub(super) fn service(element: Element, node: &Node) -> Result<Option<JobTask>, Wrong> {
    let tasks = matches!(element, Element::ServiceTask | Element::SendTask | Element::BusinessRuleTask);
    let Some(bpmn) = node.bpmn.as_deref().filter(|_| tasks) else { return Ok(None) };
    let empty = Map::new();
    let settings = node.configuration.as_ref().unwrap_or(&empty);
    let given = |member: &str| settings.get(member).is_some_and(|value| !value.is_null());
    if given("source") || given("decisionRef") || bpmn.message_ref.is_some() {
        return Ok(None);
    }
    let named = |text: &&str| !text.trim().is_empty();
    // `##unspecified` and the default `##WebService` name no technology to call.
    let implementation = bpmn.implementation.as_deref().filter(named).filter(|own| !own.starts_with("##"));
    let job_type = match (bpmn.operation_ref.as_deref().filter(named), implementation) {
        (Some(operation), _) => format!("operation:{operation}"),
        (None, Some(implementation)) => format!("implementation:{implementation}"),
        (None, None) => return Ok(None),
    };
    JobTask::of(Setting::Literal(job_type.into()), settings).map(Some)
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
    /// Code, sentence and clause of the first one that is wrong.
    fn read(settings: &Map<String, Value>) -> Result<Option<Self>, Wrong> {
        let (inputs, outputs) =
            (calculation::list(settings, "inputs")?, calculation::list(settings, "outputs")?);
        let any = !inputs.is_empty() || !outputs.is_empty();
        Ok(any.then_some(Self { inputs, outputs }))
    }
}

impl Listeners {
    /// The listeners of a node; none when it has none.
    ///
    /// # Errors
    /// Code, sentence and clause of the first one that is wrong.
    fn read(settings: &Map<String, Value>, element: Element) -> Result<Option<Self>, Wrong> {
        let items = match settings.get("listeners") {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(items)) if items.is_empty() => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(wrong("listeners: must be an array of listeners")),
        };
        let mut all = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let listener = listener(item, element);
            all.push(
                listener.map_err(|(code, sentence, clause)| {
                    (code, format!("listeners[{at}].{sentence}"), clause)
                })?,
            );
        }
        Ok(Some(Self { all }))
    }
}

/// Members of a listener.
pub(super) const OF_A_LISTENER: &[&str] =
    &["on", "timer", "jobType", "source", "resultVariable", "retry", "retries", "headers", "priority"];

fn listener(item: &Value, element: Element) -> Result<Listener, Wrong> {
    let Some(members) = item.as_object() else { return Err(wrong("on: must be there")) };
    let place = match calculation::text(members, "on")?.unwrap_or_default() {
        "start" => ListenerPlace::Start,
        "end" => ListenerPlace::End,
        "create" => ListenerPlace::Create,
        "assignment" => ListenerPlace::Assignment,
        "update" => ListenerPlace::Update,
        "timeout" => ListenerPlace::Timeout,
        "complete" => ListenerPlace::Complete,
        "delete" => ListenerPlace::Delete,
        other => {
            let sentence = format!(
                "on: must be start or end, or at a human task create, assignment, update, timeout, complete or delete, not `{other}`"
            );
            return Err(wrong(sentence));
        }
    };
    if !matches!(place, ListenerPlace::Start | ListenerPlace::End) && element != Element::UserTask {
        return Err(wrong("on: only a human task is created, assigned, changed, completed or withdrawn"));
    }
    let timer = timer(members, place)?;
    let job_type = calculation::text(members, "jobType")?;
    let source = calculation::text(members, "source")?;
    let work = match (job_type, source) {
        (Some(_), None) if place == ListenerPlace::Delete => {
            let sentence = "on: at a human task's withdrawal only FEEL is executed: the task is gone before a worker could \
                            do a job of it";
            return Err(("unsupportedSetting", sentence.to_owned(), "10.3.4.1"));
        }
        (Some(_), None) => {
            let job_type = setting(members, "jobType")?.unwrap_or(Setting::Literal(Value::Null));
            let mut job = JobTask::of(job_type, members)?;
            if let Some(retries) = number(members, "retries")? {
                job.retries = Some(retries);
            }
            ListenerWork::Job(Arc::new(job))
        }
        (None, Some(source)) => {
            let of_jobs = ["retry", "retries", "headers", "priority"];
            if let Some(member) = of_jobs.into_iter().find(|own| members.get(*own).is_some_and(asks)) {
                return Err(wrong(format!("{member}: only a listener with a `jobType` has it")));
            }
            let feel = source.strip_prefix('=').unwrap_or(source).trim();
            let compiled = Expression::compile(feel, Dialect::Heddle);
            let source = compiled.map_err(|error| {
                ("expressionSyntax", format!("source: `{feel}` is no FEEL: {error}"), "8.4.6")
            })?;
            let variable = calculation::text(members, "resultVariable")?.map(Arc::from);
            ListenerWork::Script { source, variable }
        }
        (None, None) | (Some(_), Some(_)) => {
            return Err(wrong("jobType: a listener has either a job type or a FEEL `source`"));
        }
    };
    Ok(Listener { place, work, timer })
}

/// The time of a listener: `{duration}`, `{date}` or `{cycle}`.
fn timer(members: &Map<String, Value>, place: ListenerPlace) -> Result<Option<Arc<TimerDefinition>>, Wrong> {
    let told = || wrong("timer: must be {duration}, {date} or {cycle}, with a text");
    let own = match (members.get("timer").filter(|own| asks(own)), place) {
        (None, ListenerPlace::Timeout) => return Err(wrong("timer: a `timeout` needs one")),
        (None, _) => return Ok(None),
        (Some(_), place) if place != ListenerPlace::Timeout => {
            return Err(wrong("timer: only a listener on `timeout` has one"));
        }
        (Some(own), _) => own.as_object().ok_or_else(told)?,
    };
    let mut parts = own.iter();
    let (Some((form, Value::String(text))), None) = (parts.next(), parts.next()) else { return Err(told()) };
    let kind = match form.as_str() {
        "duration" => TimerKind::Duration,
        "date" => TimerKind::Date,
        "cycle" => TimerKind::Cycle,
        _ => return Err(told()),
    };
    let read = TimerDefinition::parse(kind, text.trim());
    read.map(|own| Some(Arc::new(own))).map_err(|error| wrong(format!("timer.{form}: {error}")))
}

/// A script of the model in another language: translated where that is exact, else the job of a worker. None where there
/// is none, or FEEL in its place.
///
/// # Errors
/// Code, sentence and clause of each setting that is wrong.
pub(super) fn script(
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
    let mut job = JobTask::of(Setting::Literal(script::job_type(format).into()), settings)
        .map_err(|wrong| vec![wrong])?;
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

impl Builder<'_> {
    /// Gives a node what stands around its work.
    pub(super) fn around(&mut self, ix: NodeIx, settings: Option<&Map<String, Value>>, work: Option<&Work>) {
        let Some(settings) = settings else { return };
        let place = ix as usize;
        let Some((id, element)) = self.nodes.get(place).map(|node| (Arc::clone(&node.id), node.element))
        else {
            return;
        };
        // Tasks that compute, and calls, have mappings of their own.
        let own = matches!(work, Some(Work::Script(_) | Work::Decision(_) | Work::Call(_)));
        let mappings = if own { Ok(None) } else { Mappings::read(settings) };
        let listeners = Listeners::read(settings, element);
        let before = flag(settings, "asyncBefore");
        let after = flag(settings, "asyncAfter");
        let wrong = [
            mappings.as_ref().err().cloned(),
            listeners.as_ref().err().cloned(),
            before.as_ref().err().cloned(),
            after.as_ref().err().cloned(),
        ];
        for (code, sentence, clause) in wrong.into_iter().flatten() {
            self.refuse(&id, code, sentence, clause);
        }
        if let Some(node) = self.nodes.get_mut(place) {
            if !own {
                node.mappings = mappings.ok().flatten().map(Arc::new);
            }
            node.listeners = listeners.ok().flatten().map(Arc::new);
            node.continuations =
                Continuations { before: before.unwrap_or_default(), after: after.unwrap_or_default() };
        }
    }

    /// Says of a job that takes the place of what another engine does itself that it needs a worker.
    pub(super) fn needs_worker(&mut self, id: &str, job: &JobTask) {
        let Setting::Literal(Value::String(job_type)) = &job.job_type else { return };
        let named = [
            "java:",
            "delegate:",
            "expression:",
            "connector:",
            "task:",
            "script:",
            "case:",
            "operation:",
            "implementation:",
        ];
        if named.iter().any(|prefix| job_type.starts_with(prefix)) {
            let sentence = format!(
                "the step is a job of the type `{}`: a worker takes the place of what the other engine runs",
                heddle_kernel::shortened(job_type)
            );
            let found = diagnostic::info("workerNeeded", sentence).with_clause("10.3.3.1");
            self.diagnostics.push(found.with_element(id));
        }
    }
}

fn flag(settings: &Map<String, Value>, member: &str) -> Result<bool, Wrong> {
    match settings.get(member) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => Err(wrong(format!("{member}: must be true or false"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn listeners_are_jobs_or_feel() {
        let read = |listeners: Value, element| {
            let settings = json!({ "listeners": listeners });
            Listeners::read(settings.as_object().unwrap(), element)
        };
        let found = read(
            json!([
                {"on": "start", "jobType": "java:a.B", "retries": 2},
                {"on": "complete", "source": "{done: true}"},
                {"on": "update", "jobType": "a"},
                {"on": "timeout", "timer": {"duration": "PT1H"}, "jobType": "a"}
            ]),
            Element::UserTask,
        );
        let found = found.unwrap().unwrap();
        assert_eq!(found.at(ListenerPlace::Start).count(), 1);
        assert_eq!(found.at(ListenerPlace::Complete).count(), 1);
        assert_eq!(found.at(ListenerPlace::Update).count(), 1);
        assert!(found.at(ListenerPlace::Timeout).all(|own| own.timer.is_some()));
        let gone = read(json!([{"on": "delete", "source": "{gone: true}"}]), Element::UserTask);
        assert_eq!(gone.unwrap().unwrap().at(ListenerPlace::Delete).count(), 1);
        let told = read(json!([{"on": "delete", "jobType": "a"}]), Element::UserTask).unwrap_err();
        assert_eq!(told.0, "unsupportedSetting");
        for wrong in [
            json!([{"on": "timeout", "jobType": "a"}]),
            json!([{"on": "timeout", "jobType": "a", "timer": "PT1H"}]),
            json!([{"on": "timeout", "jobType": "a", "timer": {"duration": "1 +"}}]),
            json!([{"on": "timeout", "jobType": "a", "timer": {"duration": "PT1H", "date": "2024-01-01"}}]),
            json!([{"on": "update", "jobType": "a", "timer": {"duration": "PT1H"}}]),
        ] {
            let told = read(wrong.clone(), Element::UserTask).unwrap_err();
            assert!(told.1.starts_with("listeners[0].timer"), "{wrong}: {told:?}");
        }
        for wrong in [
            json!([{"on": "take", "jobType": "a"}]),
            json!([{"on": "create", "jobType": "a"}]),
            json!([{"on": "start"}]),
            json!([{"on": "start", "jobType": "a", "source": "1"}]),
            json!([{"on": "start", "source": "1 +"}]),
            json!({}),
        ] {
            let told = read(wrong.clone(), Element::ServiceTask).unwrap_err();
            assert!(told.1.starts_with("listeners"), "{wrong}: {told:?}");
        }
    }

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
