//! Node kinds of the service: work of a node that the service does by itself, with no worker outside.
//!
//! One way serves all of them. A node (a service task of BPMN, a task without a type of CMMN) has the `kind` of one in its
//! `configuration`, beside members that are values or FEEL after `=`. It compiles to a [`JobTask`] like that of a worker,
//! so that attempts, back-off, cancellation, incidents and the history are those of jobs; its type is
//! `heddle:<kind>`. Most kinds have their members as `arguments`: the engine evaluates them when the job opens, and they are
//! the job's headers in the event `job.created` and in its row. Those that ask models or judge values
//! ([`InsideKind`]) have their settings as they are written in one header instead, with the protection of the definition and
//! the tools of an agent, and evaluate them when the work is done. The commit that opens such a job, or gives it another
//! attempt, asks for an errand in the same transaction. Its executor takes the job under a lock as any worker does, hands
//! it to the `ServiceWork` of the kind, and completes it, ends it with a BPMN error, or fails at it. What is answered
//! stands in `job.completed`: nothing that was recorded is asked for again.
//!
//! A kind to come is a row of [`KINDS`], an implementation of `ServiceWork` (a port of execution) that knows its name,
//! and its mention in the composition.

use super::calculation::{Wrong, wrong};
use super::inside::{CLAUSE, MOST_ITERATIONS};
use super::job::JobTask;
pub use super::kinds::{
    InsideKind, KINDS, Member, Place, ServiceKind, Shape, database_of, deployment_of, entitlement_of,
    is_own_type, kind_of_name, kind_of_type, service_kind,
};
use super::setting::Setting;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Members of a worker's job that no kind has.
const OF_WORKERS: &[&str] = &["jobType", "headers"];

impl ServiceKind {
    /// The job of a node of the kind, by the node's id.
    ///
    /// # Errors
    /// Code, sentence and clause of each setting that is wrong, missing, or none of the kind's.
    pub fn read(&self, node: &str, settings: &Map<String, Value>) -> Result<JobTask, Vec<Wrong>> {
        let given = |member: &str| settings.get(member).is_some_and(|value| !value.is_null());
        let kind = self.name;
        let mut faults = Vec::new();
        for member in OF_WORKERS.iter().filter(|member| given(member)) {
            faults.push(wrong(format!("{member}: a node of the kind `{kind}` is no job of a worker")));
        }
        for missing in self.members.iter().filter(|member| member.is_needed && !given(member.name)) {
            faults.push(absent(kind, missing.name));
        }
        if !self.one_of.is_empty() && !self.one_of.iter().any(|member| given(member)) {
            faults.push(wrong(format!("{}: the kind `{kind}` needs one of them", self.one_of.join(", "))));
        }
        let read = match self.inside {
            Some(inside) => inside.job(self, node, settings, &mut faults),
            None => self.job(settings, &mut faults),
        };
        match read {
            Some(task) if faults.is_empty() => Ok(task),
            Some(_) | None => Err(faults),
        }
    }

    /// The job whose settings the engine evaluates when it opens.
    fn job(&self, settings: &Map<String, Value>, faults: &mut Vec<Wrong>) -> Option<JobTask> {
        let mut arguments: Vec<(Arc<str>, Setting)> = Vec::new();
        for member in self.members {
            let Some(value) = settings.get(member.name).filter(|value| !value.is_null()) else { continue };
            match Setting::read_nested(value) {
                Ok(read) => {
                    // What holds expressions is an object or a list all the same.
                    let is_known = read.literal().is_some() || !value.is_string();
                    faults.extend(is_known.then(|| member.fits(value).err()).flatten());
                    arguments.push((member.name.into(), read));
                }
                Err(message) => {
                    faults.push(("expressionSyntax", format!("{}: {message}", member.name), "8.4.6"));
                }
            }
        }
        let job_type = Setting::Literal(self.job_type().into());
        match JobTask::of(job_type, settings) {
            Ok(task) => Some(JobTask { arguments: Some(arguments), ..task }),
            Err(wrong) => {
                faults.extend(wrong);
                None
            }
        }
    }
}

/// The fault that a kind's member is not given.
fn absent(kind: &str, member: &str) -> Wrong {
    match member {
        "maxIterations" => {
            let sentence =
                format!("maxIterations: an `{kind}` needs a cap on its turns, from 1 to {MOST_ITERATIONS}");
            ("capMissing", sentence, CLAUSE)
        }
        member => wrong(format!("{member}: the kind `{kind}` needs it")),
    }
}

impl Member {
    fn fits(&self, value: &Value) -> Result<(), Wrong> {
        let texts = |value: &Value| {
            value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(Value::is_string))
        };
        let (fits, told) = match self.shape {
            Shape::Text => (value.as_str().is_some_and(|text| !text.is_empty()), "a text"),
            Shape::Number => (value.is_number(), "a number"),
            Shape::Flag => (value.is_boolean(), "true or false"),
            Shape::Object => (value.is_object(), "an object"),
            Shape::List => (value.is_array(), "a list"),
            Shape::Texts => (value.is_string() || texts(value), "a text or a list of texts"),
            Shape::Any => (true, "a value"),
        };
        if fits { Ok(()) } else { Err(wrong(format!("{}: must be {told}, or FEEL after `=`", self.name))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(settings: &Value) -> Result<JobTask, Vec<Wrong>> {
        let settings = settings.as_object().unwrap();
        service_kind(settings).unwrap().read("ask", settings)
    }

    #[test]
    fn a_kind_is_a_job_with_arguments() {
        let settings = json!({
            "kind": "vector.query", "database": "manuals", "query": "= question", "limit": 3,
            "retry": {"maxAttempts": 2}, "resultVariable": "found"
        });
        let job = read(&settings).unwrap();
        assert!(
            matches!(&job.job_type, Setting::Literal(Value::String(name)) if name == "heddle:vector.query")
        );
        let arguments = job.arguments.unwrap();
        assert_eq!(
            arguments.iter().map(|(name, _)| &**name).collect::<Vec<_>>(),
            ["database", "query", "limit"]
        );
        assert!(matches!(arguments[1].1, Setting::Expression(_)));
        assert_eq!(job.result_variable.as_deref(), Some("found"));
        assert!(is_own_type("heddle:vector.query") && !is_own_type("vector.query"));
        assert_eq!(database_of(settings.as_object().unwrap()), Some("manuals"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (settings, told) in [
            (json!({"kind": "vector.query", "database": "a"}), "query: "),
            (json!({"kind": "vector.query", "database": 1, "query": "q"}), "database: must be a text"),
            (json!({"kind": "vector.query", "database": "= 1 +", "query": "q"}), "database: "),
            (json!({"kind": "vector.delete", "database": "a"}), "fileIds, names: "),
            (json!({"kind": "vector.delete", "database": "a", "names": []}), "names: must"),
            (
                json!({"kind": "vector.query", "database": "a", "query": "q", "headers": {"a": 1}}),
                "headers: ",
            ),
            (json!({"kind": "document.extract", "name": "a.pdf"}), "text, contentBase64: "),
            (
                json!({"kind": "vector.query", "database": "a", "query": "q", "filter": ["= a"]}),
                "filter: must be an object",
            ),
            (
                json!({"kind": "vector.upsert", "database": "a", "items": [{"name": "= 1 +"}]}),
                "items: [0].name: ",
            ),
        ] {
            let faults = read(&settings).unwrap_err();
            assert!(faults.iter().any(|fault| fault.1.starts_with(told)), "{settings}: {faults:?}");
        }
        assert!(service_kind(json!({"kind": "vector.paint"}).as_object().unwrap()).is_none());
    }

    #[test]
    fn each_kind_has_a_name_of_its_own_and_a_form_of_its_own() {
        for (place, kind) in KINDS.iter().enumerate() {
            let others = KINDS.iter().skip(place + 1);
            assert!(others.clone().all(|other| other.name != kind.name), "{}", kind.name);
            assert!(kind.inside.is_none() || others.clone().all(|other| other.inside != kind.inside));
            assert_eq!(kind_of_type(&kind.job_type()), Some(kind.name));
        }
        assert!(service_kind(json!({"kind": "protection"}).as_object().unwrap()).is_none());
        let asks = json!({"kind": "llm.chat", "model": "fast", "prompt": "p"});
        assert_eq!(deployment_of(asks.as_object().unwrap()), Some("fast"));
        let computed = json!({"kind": "llm.chat", "model": "{{ which }}", "prompt": "p"});
        assert_eq!(deployment_of(computed.as_object().unwrap()), None);
    }
}
