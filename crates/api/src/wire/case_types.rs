//! Case types, their drafts and versions, and CMMN files.

use std::borrow::Cow;

use heddle_cmmn::model::{CaseDefinition, ImportItem};
use heddle_conformance::Deviation;
use heddle_conformance::cmmn::CmmnClaim;
use heddle_kernel::{CaseTypeId, Patch, Timestamp};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::definition::{Diagnostic, collect};
use super::envelope::{AnyJson, Document, Instant};
use super::workflows::{VersionState, WorkflowSort, WorkflowState};
use crate::contract::{MediaType, RequestBody, json_bodies, path_params};
use crate::decode::Problems;

/// A case definition: the document as it was sent, so that absent and null stay apart; it reads as its typed view.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseModel {
    /// The document, member for member.
    pub json: Value,
}

impl<'de> Deserialize<'de> for CaseModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(deserializer)?;
        CaseDefinition::deserialize(&json).map_err(serde::de::Error::custom)?;
        Ok(Self { json })
    }
}

impl PartialSchema for CaseModel {
    fn schema() -> RefOr<Schema> {
        CaseDefinition::schema()
    }
}

impl ToSchema for CaseModel {
    fn name() -> Cow<'static, str> {
        CaseDefinition::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        CaseDefinition::schemas(schemas);
        // The model breaks its circles at these members, so that nothing else brings their types in.
        collect::<heddle_cmmn::model::PlanItemDefinition>(schemas);
        collect::<heddle_cmmn::model::CaseFileItem>(schemas);
        collect::<heddle_cmmn::model::PlanningTable>(schemas);
    }
}

path_params! {
    /// Path of a case type.
    CaseTypePath { case_type_id "caseTypeId": CaseTypeId }
}

response! {
    /// Number of a case type's cases by state.
    struct CaseTypeCounts {
        /// Active, suspended, or not closed yet.
        #[schema(minimum = 0)]
        active: i64,
        /// Active with an incident.
        #[schema(minimum = 0)]
        incidents: i64,
        /// Completed.
        #[schema(minimum = 0)]
        completed: i64,
        /// Failed.
        #[schema(minimum = 0)]
        failed: i64,
        /// Terminated.
        #[schema(minimum = 0)]
        terminated: i64,
    }

    /// Result of the validation of a case definition.
    struct CaseValidation {
        /// Whether no rule is broken.
        valid: bool,
        /// Whether it could be published.
        executable: bool,
        /// Every finding.
        diagnostics: Vec<Diagnostic>,
    }

    /// A case type that was made from a file.
    struct ImportedCaseType {
        /// The case type with its definition.
        #[serde(flatten)]
        case_type: CaseType,
        /// Findings of the reader.
        diagnostics: Vec<Diagnostic>,
    }

    /// Preview of a CMMN file as a case type; nothing is stored.
    struct CmmnPreview {
        /// Slug of the case type that an import makes of it.
        slug: String,
        /// Display name of that.
        display_name: String,
        /// The case definition.
        #[schema(value_type = AnyJson)]
        definition: Value,
        /// Outcome for each element that is not simply CMMN.
        items: Vec<ImportItem>,
        /// Findings of the reader, and what speaks against a publication.
        diagnostics: Vec<Diagnostic>,
        /// Whether it could be published as it is.
        executable: bool,
    }

    /// Claims of conformance to CMMN 1.1.
    struct CmmnConformance {
        /// The edition of the standard.
        specification: String,
        /// The version of this program.
        engine_version: String,
        /// Every element of the standard: whether it is read, validated, executed and exported.
        elements: Vec<CmmnClaim>,
        /// Deviations of this program from the standard.
        deviations: Vec<Deviation>,
    }
}

drafted! {
    definition CaseModel
    thing [
        /// A case type.
    ] CaseType {} {
        /// Number of its cases by state.
        case_counts: CaseTypeCounts,
    }
    saved [
        /// A saved draft of a case type.
    ] SavedCaseTypeDraft {
        /// The case type with its new revision and its definition.
        case_type: CaseType,
    }
    version [
        /// A published version of a case type; immutable but for its state.
    ] CaseTypeVersion
    create [
        /// A new case type.
        #[schema(examples(json!({"slug": "claim", "displayName": "Claim", "description": ""})))]
    ] CreateCaseType
    patch [
        /// Changes of a case type; absent members stay.
        #[schema(examples(json!({"displayName": "Claim"})))]
    ] PatchCaseType
    save [
        /// A whole draft of a case type.
        #[schema(examples(json!({"definition": {"cases": [{"id": "claim", "casePlanModel": {
            "id": "plan", "type": "casePlanModel", "items": [{"id": "item", "definitionRef": "assess"}],
            "definitions": [{"id": "assess", "type": "humanTask", "name": "Assess"}]}}]}})))]
    ] SaveCaseTypeDraft
    publish [
        /// A publication of a case type.
        #[schema(examples(json!({"changeNote": "First version"})))]
    ] PublishCaseType
    query [
        /// Which case types.
    ] CaseTypeListQuery {}
}

request! {
    /// Case definition to validate.
    #[schema(examples(json!({})))]
    struct ValidateCaseType {
        /// The definition; the draft when absent.
        #[schema(nullable = false)]
        definition: Option<CaseModel>,
    }

    /// A CMMN file; what is not said of the case type comes from the file.
    #[schema(examples(json!({"fileName": "claim.cmmn", "content":
        "<definitions xmlns=\"http://www.omg.org/spec/CMMN/20151109/MODEL\" targetNamespace=\"urn:x\"><case id=\"claim\" name=\"Claim\"><casePlanModel id=\"plan\"><planItem id=\"item\" definitionRef=\"assess\"/><humanTask id=\"assess\" name=\"Assess\"/></casePlanModel></case></definitions>"})))]
    struct ImportCmmn {
        /// The file as text.
        content: String,
        /// Name of the file.
        #[schema(nullable = false, min_length = 1, max_length = 255)]
        file_name: Option<String>,
        /// Slug of the case type; made of its name when absent.
        #[schema(nullable = false, min_length = 1, max_length = 100, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
        slug: Option<String>,
        /// Display name; that of the file when absent.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        display_name: Option<String>,
        /// Description; empty when absent.
        #[schema(nullable = false, max_length = 4000)]
        description: Option<String>,
        /// Folder: a free label.
        #[serde(default)]
        #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
        folder_id: Patch<String>,
    }

    /// A CMMN file to look at.
    #[schema(examples(json!({"fileName": "claim.cmmn", "content":
        "<definitions xmlns=\"http://www.omg.org/spec/CMMN/20151109/MODEL\" targetNamespace=\"urn:x\"><case id=\"claim\"><casePlanModel id=\"plan\"/></case></definitions>"})))]
    struct PreviewCmmn {
        /// The file as text.
        content: String,
        /// Name of the file.
        #[schema(nullable = false, min_length = 1, max_length = 255)]
        file_name: Option<String>,
    }
}

json_bodies!(ValidateCaseType);

/// The body of an import: the request as JSON, or the XML file itself.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportCmmnBody {
    /// A request.
    Json(ImportCmmn),
    /// A CMMN file.
    Xml(Vec<u8>),
}

impl RequestBody for ImportCmmnBody {
    type Json = ImportCmmn;

    fn read(media: MediaType, bytes: &[u8]) -> Result<Self, Problems> {
        match media {
            MediaType::Xml => Ok(Self::Xml(bytes.to_vec())),
            MediaType::Json | MediaType::Text | MediaType::Files => {
                crate::decode::from_json(bytes).map(Self::Json)
            }
        }
    }
}

/// The body of a preview: the request as JSON, or the XML file itself.
#[derive(Debug, Clone, PartialEq)]
pub enum PreviewCmmnBody {
    /// A request.
    Json(PreviewCmmn),
    /// A CMMN file.
    Xml(Vec<u8>),
}

impl RequestBody for PreviewCmmnBody {
    type Json = PreviewCmmn;

    fn read(media: MediaType, bytes: &[u8]) -> Result<Self, Problems> {
        match media {
            MediaType::Xml => Ok(Self::Xml(bytes.to_vec())),
            MediaType::Json | MediaType::Text | MediaType::Files => {
                crate::decode::from_json(bytes).map(Self::Json)
            }
        }
    }
}
