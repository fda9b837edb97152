//! Definitions as they come in, and documents as they go out.

use std::borrow::Cow;

use heddle_bpmn::model::{
    ChoreographyActivity, Conversation, Lane, LaneSet, LoopCharacteristics, Node, NodeBpmn, Process,
    WorkflowDefinition,
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

pub use super::diagnostic::Diagnostic;

/// A definition: the document as it was sent, so that absent and null stay apart, and its typed view.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The document, member for member.
    pub json: Value,
    /// The typed view.
    pub typed: WorkflowDefinition,
}

impl<'de> Deserialize<'de> for Definition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(deserializer)?;
        let typed = WorkflowDefinition::deserialize(&json).map_err(serde::de::Error::custom)?;
        Ok(Self { json, typed })
    }
}

impl PartialSchema for Definition {
    fn schema() -> RefOr<Schema> {
        WorkflowDefinition::schema()
    }
}

impl ToSchema for Definition {
    fn name() -> Cow<'static, str> {
        WorkflowDefinition::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        WorkflowDefinition::schemas(schemas);
        // The model breaks its circles at these members, so that nothing else brings their types in.
        collect::<ChoreographyActivity>(schemas);
        collect::<Conversation>(schemas);
        collect::<Lane>(schemas);
        collect::<LaneSet>(schemas);
        collect::<LoopCharacteristics>(schemas);
        collect::<Node>(schemas);
        collect::<NodeBpmn>(schemas);
        collect::<Process>(schemas);
    }
}

/// Adds a type's schema and those of its members.
pub(super) fn collect<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>) {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
}

request! {
    /// Which version.
    struct VersionQuery {
        /// A version's number, `draft` or `published`.
        #[schema(pattern = "^(draft|published|[1-9][0-9]{0,8})$")]
        version: Option<String>,
    }
}

words! {
    /// The form of an export to WS-BPEL.
    enum BpelFormat {
        /// The process alone.
        Xml = "xml",
        /// All files in an archive.
        Zip = "zip",
    }
}

request! {
    /// Which version, which process, and in which form.
    struct BpelQuery {
        /// A version's number, `draft` or `published`.
        #[schema(pattern = "^(draft|published|[1-9][0-9]{0,8})$")]
        version: Option<String>,
        /// Id of the process; needed for `xml` when there are several.
        #[schema(min_length = 1, max_length = 500)]
        process: Option<String>,
        /// `xml` (default) or `zip`, which adds WSDL and schema.
        format: Option<BpelFormat>,
    }
}

words! {
    /// The form of an export of a decision model.
    enum DmnFormat {
        /// One document.
        Xml = "xml",
        /// The model and the documents that it imports in an archive.
        Zip = "zip",
    }
}

request! {
    /// Which version, which document, and in which form.
    struct DmnQuery {
        /// A version's number, `draft` or `published`.
        #[schema(pattern = "^(draft|published|[1-9][0-9]{0,8})$")]
        version: Option<String>,
        /// Namespace or file name of a document that the model imports; the model itself when absent.
        #[schema(min_length = 1, max_length = 1000)]
        document: Option<String>,
        /// `xml` (default) or `zip`.
        format: Option<DmnFormat>,
    }
}

response! {
    /// A document inside JSON.
    struct ExportedDocument {
        /// The document, if it is text.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        content: Option<String>,
        /// The document in base64, if it isn't UTF-8 text.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        content_base64: Option<String>,
        /// Media type of the document.
        media_type: String,
        /// File name of the document.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        file_name: Option<String>,
        /// SHA-256 of its bytes in hex.
        #[schema(min_length = 64, max_length = 64)]
        sha256: String,
        /// Findings of the writer.
        diagnostics: Vec<Diagnostic>,
    }
}
