//! Words of a node's settings beside its work: jobs, mappings, listeners and commit points.

use super::activity::{JobTask, Listener, ListenerPlace, ListenerWork, Listeners, Mappings};
use super::calculation::{self, Wrong, wrong};
use super::compile::Builder;
use super::settings::Setting;
use super::timer::{TimerDefinition, TimerKind};
use super::unsupported::asks;
use super::{Continuations, Element, NodeIx, Work};
use heddle_bpmn::diagnostic;
use heddle_bpmn::model::Node;
use heddle_feel::{Dialect, Expression};
use heddle_settings::service::is_own_type;
pub(super) use heddle_settings::{Script, script};
use heddle_settings::{number, setting};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The job of a task that the model gives a service: an operation, or the technology of its implementation (clause
/// 10.3.3.1). None where it has none, or the settings say what it does.
///
/// # Errors
/// Code, sentence and clause of each setting that is wrong.
pub(super) fn service(element: Element, node: &Node) -> Result<Option<JobTask>, Vec<Wrong>> {
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

impl Listeners {
    /// The listeners of a node; none when it has none.
    ///
    /// # Errors
    /// Code, sentence and clause of each one that is wrong.
    fn read(settings: &Map<String, Value>, element: Element) -> Result<Option<Self>, Vec<Wrong>> {
        let items = match settings.get("listeners") {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(items)) if items.is_empty() => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(vec![wrong("listeners: must be an array of listeners")]),
        };
        let (mut all, mut faults) = (Vec::with_capacity(items.len()), Vec::new());
        for (at, item) in items.iter().enumerate() {
            match listener(item, element) {
                Ok(listener) => all.push(listener),
                Err(told) => {
                    faults.extend(told.into_iter().map(|(code, sentence, clause)| {
                        (code, format!("listeners[{at}].{sentence}"), clause)
                    }))
                }
            }
        }
        if faults.is_empty() { Ok(Some(Self { all })) } else { Err(faults) }
    }
}

/// Members of a listener.
pub(super) const OF_A_LISTENER: &[&str] =
    &["on", "timer", "jobType", "source", "resultVariable", "retry", "retries", "headers", "priority"];

fn listener(item: &Value, element: Element) -> Result<Listener, Vec<Wrong>> {
    let Some(members) = item.as_object() else { return Err(vec![wrong("on: must be there")]) };
    let place = listener_place(members, element);
    let known = place.as_ref().ok().copied();
    // Without a place nobody knows whether it has a time.
    let timer = known.map_or(Ok(None), |place| timer(members, place));
    match (place, timer, listener_work(members, known)) {
        (Ok(place), Ok(timer), Ok(work)) => Ok(Listener { place, work, timer }),
        (place, timer, work) => {
            let first = place.err().into_iter().chain(timer.err());
            Err(first.chain(work.err().unwrap_or_default()).collect())
        }
    }
}

/// The moment at which a listener is called.
fn listener_place(members: &Map<String, Value>, element: Element) -> Result<ListenerPlace, Wrong> {
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
    Ok(place)
}

/// The job or the FEEL of a listener.
fn listener_work(
    members: &Map<String, Value>,
    place: Option<ListenerPlace>,
) -> Result<ListenerWork, Vec<Wrong>> {
    let (job_type, source) = (calculation::text(members, "jobType"), calculation::text(members, "source"));
    match (job_type, source) {
        (Ok(Some(own)), Ok(None)) => {
            if is_own_type(own) {
                let sentence = "jobType: the type is one of the service's own jobs, which no worker gets";
                return Err(vec![wrong(sentence)]);
            }
            if place == Some(ListenerPlace::Delete) {
                let sentence = "on: at a human task's withdrawal only FEEL is executed: the task is gone before a \
                                worker could do a job of it";
                return Err(vec![("unsupportedSetting", sentence.to_owned(), "10.3.4.1")]);
            }
            let job_type =
                setting(members, "jobType").map(|own| own.unwrap_or(Setting::Literal(Value::Null)));
            let rest = |job_type: Setting| JobTask::of(job_type, members);
            let job = match job_type {
                Ok(job_type) => rest(job_type),
                Err(fault) => {
                    let others = rest(Setting::Literal(Value::Null)).err().unwrap_or_default();
                    Err(std::iter::once(fault).chain(others).collect())
                }
            };
            match (job, number(members, "retries")) {
                (Ok(mut job), Ok(retries)) => {
                    if let Some(retries) = retries {
                        job.retries = Some(retries);
                    }
                    Ok(ListenerWork::Job(Arc::new(job)))
                }
                (job, retries) => Err(job.err().into_iter().flatten().chain(retries.err()).collect()),
            }
        }
        (Ok(None), Ok(Some(source))) => {
            let of_jobs = ["retry", "retries", "headers", "priority"].into_iter();
            let mut faults: Vec<Wrong> = of_jobs
                .filter(|own| members.get(*own).is_some_and(asks))
                .map(|member| wrong(format!("{member}: only a listener with a `jobType` has it")))
                .collect();
            let feel = source.strip_prefix('=').unwrap_or(source).trim();
            let compiled = Expression::compile(feel, Dialect::Heddle).map_err(|error| {
                ("expressionSyntax", format!("source: `{feel}` is no FEEL: {error}"), "8.4.6")
            });
            match (compiled, calculation::text(members, "resultVariable")) {
                (Ok(source), Ok(variable)) if faults.is_empty() => {
                    Ok(ListenerWork::Script { source, variable: variable.map(Arc::from) })
                }
                (source, variable) => {
                    faults.extend(source.err().into_iter().chain(variable.err()));
                    Err(faults)
                }
            }
        }
        (Ok(None), Ok(None)) | (Ok(Some(_)), Ok(Some(_))) => {
            Err(vec![wrong("jobType: a listener has either a job type or a FEEL `source`")])
        }
        (job_type, source) => Err(job_type.err().into_iter().chain(source.err()).collect()),
    }
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
        let lists = [mappings.as_ref().err(), listeners.as_ref().err()].into_iter().flatten().flatten();
        let flags = [before.as_ref().err(), after.as_ref().err()].into_iter().flatten();
        for (code, sentence, clause) in lists.chain(flags).cloned() {
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
    use serde_json::json;

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
        assert_eq!(told[0].0, "unsupportedSetting");
        for wrong in [
            json!([{"on": "timeout", "jobType": "a"}]),
            json!([{"on": "timeout", "jobType": "a", "timer": "PT1H"}]),
            json!([{"on": "timeout", "jobType": "a", "timer": {"duration": "1 +"}}]),
            json!([{"on": "timeout", "jobType": "a", "timer": {"duration": "PT1H", "date": "2024-01-01"}}]),
            json!([{"on": "update", "jobType": "a", "timer": {"duration": "PT1H"}}]),
        ] {
            let told = read(wrong.clone(), Element::UserTask).unwrap_err();
            assert!(told[0].1.starts_with("listeners[0].timer"), "{wrong}: {told:?}");
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
            assert!(told[0].1.starts_with("listeners"), "{wrong}: {told:?}");
        }
        let all = json!([
            {"on": "take", "jobType": "=1 +", "retry": "often", "priority": "high"},
            {"on": "start", "source": "1 +", "headers": {"a": 1}, "resultVariable": 1},
            {"on": "end", "jobType": "a"}
        ]);
        let told = read(all, Element::ServiceTask).unwrap_err();
        let places: Vec<&str> = told.iter().filter_map(|one| one.1.split(':').next()).collect();
        let expected = [
            "listeners[0].on",
            "listeners[0].jobType",
            "listeners[0].retry",
            "listeners[0].priority",
            "listeners[1].headers",
            "listeners[1].source",
            "listeners[1].resultVariable",
        ];
        assert_eq!(places, expected, "{told:?}");
    }
}
