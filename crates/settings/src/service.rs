//! Node kinds of the service: work of a node that the service does by itself, with no worker outside.
//!
//! One way serves all of them. A node (a service task of BPMN, a task without a type of CMMN) has the `kind` of one in its
//! `configuration`, beside members that are values or FEEL after `=`. It compiles to a [`JobTask`] like that of a worker,
//! so that attempts, back-off, cancellation, incidents and the history are those of jobs; its type is
//! `heddle:<kind>` and its members are its `arguments`: the engine evaluates them when the job opens, and they are the
//! job's headers in the event `job.created` and in its row. The commit that opens such a job, or gives it another
//! attempt, asks for an errand in the same transaction. Its executor takes the job under a lock as any worker does, hands
//! it to the `ServiceWork` of the kind, and completes it, ends it with a BPMN error, or fails at it. What is answered
//! stands in `job.completed`: nothing that was recorded is asked for again.
//!
//! A kind to come is a row of [`KINDS`], an implementation of `ServiceWork` (a port of execution) that knows its name,
//! and its mention in the composition.

use super::calculation::{Wrong, wrong};
pub use super::job::is_own_type;
use super::job::{JobTask, OWN, setting};
use super::setting::Setting;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Members that every kind may have: they are read as those of a job are.
const EVERYWHERE: &[&str] =
    &["kind", "retry", "priority", "resultVariable", "inputs", "outputs", "listeners", "loop"];

/// Members of a worker's job that no kind has.
const OF_WORKERS: &[&str] = &["jobType", "headers"];

/// Shape of a literal value; an expression's value is looked at when the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Text,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// An object.
    Object,
    /// A list.
    List,
    /// A text, or a list of texts.
    Texts,
    /// Any value.
    Any,
}

/// A member of a kind's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Name.
    pub name: &'static str,
    /// Shape of a literal.
    pub shape: Shape,
    /// Whether the kind can do nothing without it.
    pub is_needed: bool,
}

/// A node kind of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceKind {
    /// Name: the `kind` of the node's settings.
    pub name: &'static str,
    /// Members of its settings.
    pub members: &'static [Member],
    /// Sets of members of which one must be given.
    pub one_of: &'static [&'static str],
    /// Entitlement of the licence that its work needs; none where every licence has it.
    pub entitlement: Option<&'static str>,
}

const fn needed(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, is_needed: true }
}

const fn optional(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, is_needed: false }
}

/// Entitlement to vector databases.
const VECTORS: &str = "vector.enabled";

/// All node kinds of the service.
pub const KINDS: &[ServiceKind] = &[
    ServiceKind {
        name: "vector.query",
        members: &[
            needed("database", Shape::Text),
            needed("query", Shape::Text),
            optional("limit", Shape::Number),
            optional("mode", Shape::Text),
            optional("filter", Shape::Object),
            optional("minScore", Shape::Number),
            optional("includeNeighbours", Shape::Number),
            optional("rerank", Shape::Object),
            optional("allowDegraded", Shape::Flag),
        ],
        one_of: &[],
        entitlement: Some(VECTORS),
    },
    ServiceKind {
        name: "vector.upsert",
        members: &[needed("database", Shape::Text), needed("items", Shape::List)],
        one_of: &[],
        entitlement: Some(VECTORS),
    },
    ServiceKind {
        name: "vector.delete",
        members: &[
            needed("database", Shape::Text),
            optional("fileIds", Shape::Texts),
            optional("names", Shape::Texts),
        ],
        one_of: &["fileIds", "names"],
        entitlement: Some(VECTORS),
    },
    ServiceKind {
        name: "document.extract",
        members: &[
            needed("name", Shape::Text),
            optional("mediaType", Shape::Text),
            optional("text", Shape::Text),
            optional("contentBase64", Shape::Text),
        ],
        one_of: &["text", "contentBase64"],
        entitlement: Some(VECTORS),
    },
    ServiceKind {
        name: "document.chunk",
        members: &[
            needed("text", Shape::Text),
            optional("title", Shape::Text),
            optional("methodologyId", Shape::Text),
            optional("methodologyOptions", Shape::Object),
            optional("embeddingModelId", Shape::Text),
        ],
        one_of: &[],
        entitlement: Some(VECTORS),
    },
];

/// The kind that a node's settings name; none where they name none of the service's.
#[must_use]
pub fn service_kind(settings: &Map<String, Value>) -> Option<&'static ServiceKind> {
    let name = settings.get("kind")?.as_str()?;
    KINDS.iter().find(|kind| kind.name == name)
}

/// Entitlement that the work of a kind needs.
#[must_use]
pub fn entitlement_of(kind: &str) -> Option<&'static str> {
    KINDS.iter().find(|one| one.name == kind)?.entitlement
}

/// The kind of the service's own jobs of a type; none for the jobs of workers.
#[must_use]
pub fn kind_of_type(job_type: &str) -> Option<&str> {
    job_type.strip_prefix(OWN)
}

/// The vector database that a node's settings name by a literal; none where an expression gives it, or they name none.
#[must_use]
pub fn database_of(settings: &Map<String, Value>) -> Option<&str> {
    let kind = service_kind(settings)?;
    let has = kind.members.iter().any(|member| member.name == "database");
    let name = settings.get("database").and_then(Value::as_str).map(str::trim);
    name.filter(|name| has && !name.is_empty() && !name.starts_with('='))
}

impl ServiceKind {
    /// Whether the settings of a node of the kind may have a member.
    #[must_use]
    pub fn has(&self, member: &str) -> bool {
        EVERYWHERE.contains(&member) || self.members.iter().any(|own| own.name == member)
    }

    /// The job of a node of the kind.
    ///
    /// # Errors
    /// Code, sentence and clause of the first setting that is wrong, missing, or none of the kind's.
    pub fn read(&self, settings: &Map<String, Value>) -> Result<JobTask, Wrong> {
        let given = |member: &str| settings.get(member).filter(|value| !value.is_null());
        let kind = self.name;
        if let Some(member) = OF_WORKERS.iter().find(|member| given(member).is_some()) {
            let sentence = format!("{member}: a node of the kind `{kind}` is no job of a worker");
            return Err(wrong(sentence));
        }
        let mut members = self.members.iter().filter(|member| member.is_needed);
        if let Some(missing) = members.find(|member| given(member.name).is_none()) {
            return Err(wrong(format!("{}: the kind `{kind}` needs it", missing.name)));
        }
        if !self.one_of.is_empty() && !self.one_of.iter().any(|member| given(member).is_some()) {
            return Err(wrong(format!("{}: the kind `{kind}` needs one of them", self.one_of.join(", "))));
        }
        let mut arguments: Vec<(Arc<str>, Setting)> = Vec::new();
        for member in self.members {
            let Some(read) = setting(settings, member.name)? else { continue };
            if let Some(value) = read.literal() {
                member.fits(value)?;
            }
            arguments.push((member.name.into(), read));
        }
        let job_type = Setting::Literal(format!("{OWN}{kind}").into());
        Ok(JobTask { arguments: Some(arguments), ..JobTask::of(job_type, settings)? })
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

    fn read(settings: &Value) -> Result<JobTask, Wrong> {
        let settings = settings.as_object().unwrap();
        service_kind(settings).unwrap().read(settings)
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
        ] {
            let (_, sentence, _) = read(&settings).unwrap_err();
            assert!(sentence.starts_with(told), "{settings}: {sentence}");
        }
        assert!(service_kind(json!({"kind": "vector.paint"}).as_object().unwrap()).is_none());
    }
}
