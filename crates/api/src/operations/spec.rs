//! Declaration of an operation: the columns of a row of the table.

use crate::contract::MediaType;
use heddle_policy::licence::{Entitlement, ServiceRole};
use heddle_policy::{Action, Permission, ResourceType};

use super::OperationId;
use crate::face::Face;

/// An HTTP method that operations have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates or acts.
    Post,
    /// Replaces or sets.
    Put,
    /// Applies the supplied changes.
    Patch,
    /// Removes or retires.
    Delete,
}

impl Method {
    /// As it stands in a request line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Which of the OpenAPI documents has the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Document {
    /// The customer contract.
    Contract,
    /// Additions of the platform.
    Platform,
    /// Operations that clients of other products call.
    Compatibility,
}

/// A part of the service; the tag in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    /// Liveness and readiness.
    Health,
    /// Workflow definitions and runs.
    Workflows,
    /// Events from outside.
    CaseEvents,
    /// Case types.
    CaseTypes,
    /// Set-up, sign-in, sessions, tokens.
    Authentication,
    /// The licence and its remediation.
    Licence,
    /// Organisations, users, members, roles, grants.
    Administration,
    /// The audit trail.
    Audit,
    /// Questions about rights.
    Authorization,
    /// The work list and signals.
    Work,
    /// Jobs for external workers.
    Jobs,
    /// Dead letters.
    Operations,
    /// Connections and webhooks.
    Connections,
    /// Vector databases.
    VectorDatabases,
    /// Providers of models, their deployments, chat and embeddings.
    ModelsAndInference,
    /// Usage of models by their calls.
    Models,
    /// Cases.
    Cases,
    /// The documents and the test clock.
    Platform,
    /// The external task protocol of Camunda 7.
    Camunda7,
    /// The job operations of Camunda 8, and those that go with them.
    Camunda8,
    /// Chat, embeddings and models as OpenAI's clients call them.
    OpenAi,
    /// Messages as Anthropic's clients call them.
    Anthropic,
}

impl Area {
    /// The tag's name, as in the table of operations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Health => "health",
            Self::Workflows => "workflows",
            Self::CaseEvents => "case-events",
            Self::CaseTypes => "case-types",
            Self::Authentication => "authentication",
            Self::Licence => "licence",
            Self::Administration => "administration",
            Self::Audit => "audit",
            Self::Authorization => "authorization",
            Self::Work => "work",
            Self::Jobs => "jobs",
            Self::Operations => "operations",
            Self::Connections => "connections",
            Self::VectorDatabases => "vector-databases",
            Self::ModelsAndInference => "models-and-inference",
            Self::Models => "models",
            Self::Cases => "cases",
            Self::Platform => "platform",
            Self::Camunda7 => "camunda7",
            Self::Camunda8 => "camunda8",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// Form in which the area's clients read failures.
    #[must_use]
    pub const fn face(self) -> Face {
        match self {
            Self::Camunda7 => Face::Camunda7,
            Self::Camunda8 => Face::Camunda8,
            Self::OpenAi => Face::OpenAi,
            Self::Anthropic => Face::Anthropic,
            Self::Health
            | Self::Workflows
            | Self::CaseEvents
            | Self::CaseTypes
            | Self::Authentication
            | Self::Licence
            | Self::Administration
            | Self::Audit
            | Self::Authorization
            | Self::Work
            | Self::Jobs
            | Self::Operations
            | Self::Connections
            | Self::VectorDatabases
            | Self::ModelsAndInference
            | Self::Models
            | Self::Cases
            | Self::Platform => Face::Own,
        }
    }

    /// The tag's description.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Health => "Liveness and readiness.",
            Self::Workflows => "Workflow definitions, versions, runs, run events and human tasks.",
            Self::CaseEvents => "Events from outside, correlated to cases and workflow runs.",
            Self::CaseTypes => "Case types: drafts, versions, and CMMN files in and out.",
            Self::Authentication => "Set-up, sign-in, sessions and API tokens.",
            Self::Licence => "The licence; open while the installation is restricted.",
            Self::Administration => "Organisations, users, members, roles and grants.",
            Self::Audit => "The audit trail.",
            Self::Authorization => {
                "Questions about rights: single decisions, batches, and all that somebody may do."
            }
            Self::Work => "The work list over runs and cases, and signals.",
            Self::Jobs => "Jobs for external workers: taken, completed, failed.",
            Self::Operations => "Background work that was set aside.",
            Self::Connections => {
                "Connections to services outside, webhooks to receivers there, and hooks for their calls."
            }
            Self::VectorDatabases => {
                "Vector databases: files in, cited passages out; ingestion jobs, upload policy, embedding models."
            }
            Self::ModelsAndInference => {
                "Providers of models, their connections and deployments; chat and embeddings."
            }
            Self::Models => "What calls of models have used: calls, tokens and costs.",
            Self::Cases => "Cases, their plan items and file, the status of case events, and calls at hooks.",
            Self::Platform => "The documents and the test clock.",
            Self::Camunda7 => "Workers written for the external tasks of Camunda 7.",
            Self::Camunda8 => "Workers and callers written for the REST interface of Camunda 8.",
            Self::OpenAi => {
                "Clients written for the interface of OpenAI: chat completions, embeddings, models."
            }
            Self::Anthropic => "Clients written for the interface of Anthropic: messages.",
        }
    }
}

/// The feature state of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stability {
    /// May not change.
    Stable,
    /// May change.
    Preview,
}

impl Stability {
    /// The word of the table of operations.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Preview => "preview",
        }
    }
}

/// Source of the id of the resource that an action is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Selector {
    /// None is named: the same as all.
    None,
    /// All of the type: `*`.
    All,
    /// All of the type within a thing: `*`.
    AllWithin {
        /// The path parameters with the ids of what the things stand within, the nearest first.
        within: &'static [&'static str],
    },
    /// Whatever of the type the caller may read.
    List {
        /// The path parameters with the ids of what the things stand within, the nearest first.
        within: &'static [&'static str],
    },
    /// A path parameter.
    Path {
        /// Name of the parameter.
        name: &'static str,
        /// The path parameters with the ids of what the thing stands within, the nearest first.
        within: &'static [&'static str],
    },
    /// The path parameter of this name, which selects the organisation as well: its own operations work in it.
    Tenant(&'static str),
    /// The member of this name of what the path names, known when that is loaded.
    Loaded(&'static str),
}

impl Selector {
    /// The path parameters with the ids of what the thing stands within, the nearest first.
    #[must_use]
    pub const fn within(self) -> &'static [&'static str] {
        match self {
            Self::List { within } | Self::AllWithin { within } | Self::Path { within, .. } => within,
            Self::None | Self::All | Self::Tenant(_) | Self::Loaded(_) => &[],
        }
    }

    /// The path parameter with the id of the thing.
    #[must_use]
    pub const fn parameter(self) -> Option<&'static str> {
        match self {
            Self::Path { name, .. } | Self::Tenant(name) => Some(name),
            Self::None | Self::All | Self::AllWithin { .. } | Self::List { .. } | Self::Loaded(_) => None,
        }
    }
}

/// A resource type, what is done to it, and where its id comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResourceAction {
    /// The type.
    pub resource: ResourceType,
    /// The action.
    pub action: Action,
    /// Which resource.
    pub selector: Selector,
}

impl std::fmt::Display for ResourceAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} / {}", self.resource, self.action)?;
        match self.selector {
            Selector::None => Ok(()),
            Selector::All | Selector::AllWithin { .. } | Selector::List { .. } => write!(f, " / *"),
            Selector::Path { name, .. } | Selector::Tenant(name) | Selector::Loaded(name) => {
                write!(f, " / <{name}>")
            }
        }
    }
}

/// Callers that an operation admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// Anybody.
    Public,
    /// Whoever is signed in; the operation is about the caller's own things.
    Session,
    /// Whoever has one of the permissions and the resource action in the selected organisation.
    Permissions(&'static [Permission]),
}

/// Which bodies an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyMedia {
    /// None; one that is sent is not read.
    None,
    /// `application/json`.
    Json,
    /// `application/json`, or no body at all, which reads as `{}`.
    OptionalJson,
    /// `application/json`, `application/xml` or `text/xml`.
    JsonOrXml,
    /// `application/json` or `text/plain`.
    JsonOrText,
    /// `multipart/form-data`, whose files are stored as they come, or `application/json`.
    JsonOrFiles,
}

impl BodyMedia {
    /// The media types, the first one preferred.
    #[must_use]
    pub const fn media_types(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Json | Self::OptionalJson => &["application/json"],
            Self::JsonOrXml => &["application/json", "application/xml", "text/xml"],
            Self::JsonOrText => &["application/json", "text/plain"],
            Self::JsonOrFiles => &["application/json", "multipart/form-data"],
        }
    }

    /// Whether a call without a body is one with `{}`.
    #[must_use]
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::OptionalJson)
    }

    /// Media type that a `Content-Type` stands for here; none when the operation doesn't take it (415).
    /// Parameters such as `charset` are ignored; a suffix `+json` or `+xml` is as good as the plain type. A
    /// request without the header is read as JSON where a body is taken; where none is taken, the header does
    /// not matter.
    #[must_use]
    pub fn accepts(self, content_type: Option<&str>) -> Option<MediaType> {
        let (Some(content_type), false) = (content_type, self == Self::None) else {
            return Some(MediaType::Json);
        };
        let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let media = match essence.as_str() {
            "application/json" | "text/json" => MediaType::Json,
            "application/xml" | "text/xml" => MediaType::Xml,
            "text/plain" => MediaType::Text,
            "multipart/form-data" => MediaType::Files,
            other if other.starts_with("application/") && other.ends_with("+json") => MediaType::Json,
            other if other.starts_with("application/") && other.ends_with("+xml") => MediaType::Xml,
            _ => return None,
        };
        let taken = match self {
            Self::None => true,
            Self::Json | Self::OptionalJson => media == MediaType::Json,
            Self::JsonOrXml => matches!(media, MediaType::Json | MediaType::Xml),
            Self::JsonOrText => matches!(media, MediaType::Json | MediaType::Text),
            Self::JsonOrFiles => matches!(media, MediaType::Json | MediaType::Files),
        };
        taken.then_some(media)
    }
}

/// Kind of answer that a successful operation gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// No body.
    None,
    /// `{"data": Output}`.
    Data,
    /// The Output itself, as clients of other products read it.
    Bare,
    /// `[Output]`, as clients of other products read it.
    BareList,
    /// `{"data": [Output], "page": {...}}`.
    List,
    /// As a list, or one JSON document per line (`application/x-ndjson`) when the caller accepts that.
    ListOrLines,
    /// The document itself in one of these media types, or `{"data": Output}` with `Accept: application/json`.
    Document(&'static [&'static str]),
    /// The document itself in this media type.
    Raw(&'static str),
    /// `text/event-stream`; each event's data is an Output.
    EventStream,
    /// `{"data": Output}`, the Output itself where the query asks for OpenAI's format, or `text/event-stream` of its pieces
    /// where the body asks for a stream.
    DataOrStream,
    /// The Output itself, or `text/event-stream` of its pieces where the body asks for a stream.
    BareOrStream,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationSpec {
    /// The row's name.
    pub id: OperationId,
    /// The id in the document, such as `postapiWorkflows`.
    pub operation_id: &'static str,
    /// The method.
    pub method: Method,
    /// The path with its parameters in braces.
    pub path: &'static str,
    /// Which document has it.
    pub document: Document,
    /// Which part of the service it is of.
    pub area: Area,
    /// Stability: the operation's feature state.
    pub stability: Stability,
    /// One line for people.
    pub summary: &'static str,
    /// Callers that it admits.
    pub security: Security,
    /// Resource type, action and selector that it is guarded by.
    pub resource_action: Option<ResourceAction>,
    /// The entitlement that the licence must have.
    pub entitlement: Option<Entitlement>,
    /// The role that a node must have to serve it.
    pub service_role: Option<ServiceRole>,
    /// The audit event of a success.
    pub audit_event: Option<&'static str>,
    /// Whether a repeat changes nothing more.
    pub idempotent: bool,
    /// Whether it can be called while the installation is restricted.
    pub remediation: bool,
    /// Whether it serves to take access away, which does not wait for a licence: it can be called while the
    /// installation is restricted, as far as it does that and nothing else.
    pub takes_access: bool,
    /// Whether `If-Match` is read.
    pub if_match: bool,
    /// Which bodies it takes.
    pub body: BodyMedia,
    /// The most bytes of a body.
    pub body_limit: usize,
    /// Kind of answer on success.
    pub output: OutputKind,
    /// The statuses of success.
    pub success: &'static [u16],
    /// The statuses of failure, but for those of the transport.
    pub errors: &'static [u16],
}

/// Statuses that the transport can answer with on every operation: wrong method, no acceptable
/// representation, body too large, wrong media type, too many requests.
pub const TRANSPORT_STATUSES: [u16; 5] = [405, 406, 413, 415, 429];

impl OperationSpec {
    /// The status of a success.
    #[must_use]
    pub const fn success_status(&self) -> u16 {
        match self.success {
            [first, ..] => *first,
            [] => 200,
        }
    }

    /// Whether `Idempotency-Key` is read: a POST of somebody who is signed in that changes something and can tell of a
    /// used key.
    #[must_use]
    pub fn accepts_idempotency_key(&self) -> bool {
        let known_caller = self.security != Security::Public;
        let tells_of_it = self.errors.contains(&409);
        self.method == Method::Post && self.audit_event.is_some() && known_caller && tells_of_it
    }

    /// Whether a success shows a secret, which is never kept: a repeat under the same `Idempotency-Key` is told that it
    /// was shown.
    #[must_use]
    pub const fn answers_with_secret(&self) -> bool {
        matches!(self.id, OperationId::CreateApiToken | OperationId::CreateHook | OperationId::EnrolTotp)
    }

    /// Whether parameters that are not known are ignored: a provider of sign-ins adds its own (RFC 6749, 4.1.2), and what
    /// calls at a hook have the hook's expressions know.
    #[must_use]
    pub const fn ignores_unknown_parameters(&self) -> bool {
        matches!(self.id, OperationId::FinishOidcSignIn | OperationId::ReceiveHook)
    }

    /// Source of the id of the thing, if the row is about one.
    #[must_use]
    pub fn selector(&self) -> Selector {
        self.resource_action.map_or(Selector::None, |on| on.selector)
    }

    /// The names of the path's parameters, in order.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('{').skip(1).filter_map(|rest| rest.split('}').next())
    }

    /// The permissions of which the caller needs one.
    #[must_use]
    pub const fn permissions(&self) -> &'static [Permission] {
        match self.security {
            Security::Permissions(permissions) => permissions,
            Security::Public | Security::Session => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_type_is_taken_or_not() {
        let cases = [
            (BodyMedia::Json, None, Some(MediaType::Json)),
            (BodyMedia::Json, Some("Application/JSON; charset=utf-8"), Some(MediaType::Json)),
            (BodyMedia::Json, Some("application/merge-patch+json"), Some(MediaType::Json)),
            (BodyMedia::Json, Some("text/plain"), None),
            (BodyMedia::Json, Some("application/xml"), None),
            (BodyMedia::JsonOrXml, Some("text/xml; charset=windows-1252"), Some(MediaType::Xml)),
            (BodyMedia::JsonOrXml, Some("application/bpmn+xml"), Some(MediaType::Xml)),
            (BodyMedia::JsonOrXml, Some("application/zip"), None),
            (BodyMedia::JsonOrText, Some("text/plain"), Some(MediaType::Text)),
            (BodyMedia::JsonOrText, Some("text/html"), None),
            (BodyMedia::JsonOrText, Some("multipart/form-data; boundary=x"), None),
            (BodyMedia::JsonOrFiles, Some("Multipart/Form-Data; boundary=x"), Some(MediaType::Files)),
            (BodyMedia::JsonOrFiles, Some("multipart/mixed; boundary=x"), None),
            (BodyMedia::JsonOrFiles, None, Some(MediaType::Json)),
            (BodyMedia::OptionalJson, Some(""), None),
            (BodyMedia::None, Some("image/png"), Some(MediaType::Json)),
        ];
        for (body, content_type, expected) in cases {
            assert_eq!(body.accepts(content_type), expected, "{body:?} {content_type:?}");
        }
    }

    #[test]
    fn a_resource_action_reads_as_in_the_table() {
        let spec = OperationId::DeleteWorkflow.spec();
        assert_eq!(spec.resource_action.unwrap().to_string(), "workflow / delete / <workflowId>");
        assert_eq!(
            OperationId::CreateWorkflow.spec().resource_action.unwrap().to_string(),
            "workflow / create"
        );
        let path: Vec<_> = OperationId::GetRun.spec().path_parameters().collect();
        assert_eq!(path, ["workflowId", "runId"]);
    }
}
