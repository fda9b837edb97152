//! Table of the node kinds of the service: names, members, places, entitlements, and the service roles of the nodes of an
//! installation that do their work.

use super::job::OWN;
pub use super::job::is_own_type;
use serde_json::{Map, Value};

/// Members that every kind may have: they are read as those of a job are.
const EVERYWHERE: &[&str] =
    &["kind", "retry", "priority", "resultVariable", "inputs", "outputs", "listeners", "loop"];

/// Shape of a literal value; an expression's value is looked at when the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Text,
    /// A number.
    Number,
    /// A truth value.
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

/// Place of a kind's nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Service tasks of BPMN, and tasks without a type of CMMN.
    Task,
    /// Ad-hoc sub-processes of BPMN.
    AdHoc,
    /// Moments before and behind the work of other nodes; no node of its own.
    Beside,
}

/// Kind that asks models or judges values. Its settings stand in the job's header as they are written, and are evaluated when
/// the work is done: what a model is asked is not written twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InsideKind {
    /// Question to a model.
    Chat,
    /// Values of a schema out of a text.
    Extract,
    /// One or several of some classes for a text.
    Classify,
    /// Documents in the order in which they fit a query.
    Rerank,
    /// Judgement on a text.
    Moderate,
    /// Vectors of texts.
    Embed,
    /// Protection of a value as a step of its own.
    Guardrail,
    /// Turns of an agent.
    Agent,
    /// Protection before or after a node.
    Protection,
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
    /// Service role of the nodes of an installation that do its work; none where all do.
    pub role: Option<&'static str>,
    /// Place of its nodes.
    pub place: Place,
    /// Form of those whose settings are evaluated when the work is done; none where the engine does so when the job opens.
    pub inside: Option<InsideKind>,
}

const fn needed(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, is_needed: true }
}

const fn optional(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, is_needed: false }
}

/// Entitlement to vector databases.
const VECTORS: &str = "vector.enabled";

/// Common members of the kinds about vector databases and their files.
const OF_VECTORS: ServiceKind = ServiceKind {
    name: "",
    members: &[],
    one_of: &[],
    entitlement: Some(VECTORS),
    role: Some("vector"),
    place: Place::Task,
    inside: None,
};

/// Common members of the kinds that ask models or judge values.
const OF_MODELS: ServiceKind = ServiceKind { entitlement: None, role: None, ..OF_VECTORS };

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
            optional("fusion", Shape::Object),
            optional("diversity", Shape::Object),
            optional("includeNeighbours", Shape::Number),
            optional("rerank", Shape::Object),
            optional("allowDegraded", Shape::Flag),
        ],
        ..OF_VECTORS
    },
    ServiceKind {
        name: "vector.upsert",
        members: &[needed("database", Shape::Text), needed("items", Shape::List)],
        ..OF_VECTORS
    },
    ServiceKind {
        name: "vector.delete",
        members: &[
            needed("database", Shape::Text),
            optional("fileIds", Shape::Texts),
            optional("names", Shape::Texts),
        ],
        one_of: &["fileIds", "names"],
        ..OF_VECTORS
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
        ..OF_VECTORS
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
        ..OF_VECTORS
    },
    ServiceKind {
        name: "llm.chat",
        members: &[
            needed("model", Shape::Any),
            optional("system", Shape::Any),
            optional("prompt", Shape::Any),
            optional("messages", Shape::Any),
            optional("temperature", Shape::Any),
            optional("topP", Shape::Any),
            optional("maxTokens", Shape::Any),
            optional("seed", Shape::Any),
            optional("stop", Shape::Any),
            optional("responseFormat", Shape::Any),
            optional("timeoutSeconds", Shape::Any),
        ],
        inside: Some(InsideKind::Chat),
        ..OF_MODELS
    },
    ServiceKind {
        name: "llm.extract",
        members: &[
            needed("model", Shape::Any),
            optional("instructions", Shape::Any),
            needed("input", Shape::Any),
            needed("schema", Shape::Any),
            optional("repairAttempts", Shape::Any),
            optional("maxTokens", Shape::Any),
            optional("temperature", Shape::Any),
            optional("timeoutSeconds", Shape::Any),
        ],
        inside: Some(InsideKind::Extract),
        ..OF_MODELS
    },
    ServiceKind {
        name: "llm.classify",
        members: &[
            needed("model", Shape::Any),
            optional("instructions", Shape::Any),
            needed("input", Shape::Any),
            needed("classes", Shape::Any),
            optional("multi", Shape::Any),
            optional("maxTokens", Shape::Any),
            optional("temperature", Shape::Any),
            optional("timeoutSeconds", Shape::Any),
        ],
        inside: Some(InsideKind::Classify),
        ..OF_MODELS
    },
    ServiceKind {
        name: "llm.rerank",
        members: &[
            needed("model", Shape::Any),
            needed("query", Shape::Any),
            needed("documents", Shape::Any),
            optional("topK", Shape::Any),
            optional("minScore", Shape::Any),
            optional("maxTokens", Shape::Any),
            optional("timeoutSeconds", Shape::Any),
        ],
        inside: Some(InsideKind::Rerank),
        ..OF_MODELS
    },
    ServiceKind {
        name: "llm.moderate",
        members: &[
            needed("model", Shape::Any),
            needed("input", Shape::Any),
            optional("categories", Shape::Any),
            optional("threshold", Shape::Any),
            optional("maxTokens", Shape::Any),
            optional("timeoutSeconds", Shape::Any),
        ],
        inside: Some(InsideKind::Moderate),
        ..OF_MODELS
    },
    ServiceKind {
        name: "embedding.create",
        members: &[
            needed("model", Shape::Any),
            needed("input", Shape::Any),
            optional("dimensions", Shape::Any),
            optional("timeoutSeconds", Shape::Any),
        ],
        inside: Some(InsideKind::Embed),
        ..OF_MODELS
    },
    ServiceKind {
        name: "guardrail.check",
        members: &[
            needed("input", Shape::Any),
            optional("preset", Shape::Any),
            optional("checks", Shape::Any),
            optional("onViolation", Shape::Any),
            optional("model", Shape::Any),
            optional("context", Shape::Any),
        ],
        inside: Some(InsideKind::Guardrail),
        ..OF_MODELS
    },
    ServiceKind {
        name: "agent",
        place: Place::AdHoc,
        members: &[
            needed("model", Shape::Any),
            optional("system", Shape::Any),
            needed("goal", Shape::Any),
            optional("temperature", Shape::Any),
            optional("maxTokens", Shape::Any),
            needed("maxIterations", Shape::Any),
            optional("maxToolCalls", Shape::Any),
            optional("maxTotalTokens", Shape::Any),
            optional("timeoutSeconds", Shape::Any),
            optional("answerVariable", Shape::Any),
            optional("responseFormat", Shape::Any),
        ],
        inside: Some(InsideKind::Agent),
        ..OF_MODELS
    },
    ServiceKind {
        name: "protection",
        place: Place::Beside,
        inside: Some(InsideKind::Protection),
        ..OF_MODELS
    },
];

/// The kind that a node's settings name; none where they name none that a node can have.
#[must_use]
pub fn service_kind(settings: &Map<String, Value>) -> Option<&'static ServiceKind> {
    let name = settings.get("kind")?.as_str()?;
    kind_of_name(name).filter(|kind| kind.place != Place::Beside)
}

/// The kind of a name.
#[must_use]
pub fn kind_of_name(name: &str) -> Option<&'static ServiceKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Entitlement that the work of a kind needs.
#[must_use]
pub fn entitlement_of(kind: &str) -> Option<&'static str> {
    kind_of_name(kind)?.entitlement
}

/// The kind of the service's own jobs of a type; none for the jobs of workers.
#[must_use]
pub fn kind_of_type(job_type: &str) -> Option<&str> {
    job_type.strip_prefix(OWN)
}

/// The vector database that a node's settings name by a literal; none where an expression gives it, or they name none.
#[must_use]
pub fn database_of(settings: &Map<String, Value>) -> Option<&str> {
    named(settings, "database")
}

/// The deployment of models that a node's settings name by a literal, by its alias or its id; none where an expression gives
/// it, or they name none.
#[must_use]
pub fn deployment_of(settings: &Map<String, Value>) -> Option<&str> {
    named(settings, "model").filter(|name| !name.contains("{{"))
}

/// The literal text that a node's settings have for a member of their kind.
fn named<'s>(settings: &'s Map<String, Value>, member: &str) -> Option<&'s str> {
    let kind = service_kind(settings)?;
    let has = kind.members.iter().any(|own| own.name == member);
    let name = settings.get(member).and_then(Value::as_str).map(str::trim);
    name.filter(|name| has && !name.is_empty() && !name.starts_with('='))
}

impl ServiceKind {
    /// Whether the settings of a node of the kind may have a member.
    #[must_use]
    pub fn has(&self, member: &str) -> bool {
        EVERYWHERE.contains(&member) || self.members.iter().any(|own| own.name == member)
    }

    /// Type of its jobs.
    #[must_use]
    pub fn job_type(&self) -> String {
        format!("{OWN}{}", self.name)
    }
}
