//! The preview of a transformation.

use heddle_bpmn::model::Import;
use serde_json::Value;

use super::definition::Diagnostic;
use super::envelope::AnyJson;
use crate::contract::{MediaType, RequestBody};
use crate::decode::Problems;

words! {
    /// Format of a source.
    enum SourceFormat {
        /// BPMN 2.0 XML.
        Bpmn = "bpmn",
        /// DMN XML.
        Dmn = "dmn",
        /// The definition's JSON.
        Json = "json",
    }

    /// Format that a source is transformed to.
    enum TransformTarget {
        /// A workflow definition.
        Definition = "definition",
        /// BPMN 2.0 XML.
        Bpmn = "bpmn",
        /// DMN XML.
        Dmn = "dmn",
        /// WS-BPEL 2.0.
        Bpel = "bpel",
    }
}

request! {
    /// A file to transform: `content` as text, or `contentBase64` as bytes.
    struct TransformSource {
        /// Format of the file.
        format: SourceFormat,
        /// Name of the file.
        #[schema(nullable = false, min_length = 1, max_length = 255)]
        file_name: Option<String>,
        /// The file as text.
        #[schema(nullable = false)]
        content: Option<String>,
        /// The file's bytes in base64 (RFC 4648, 4).
        #[schema(nullable = false)]
        content_base64: Option<String>,
    }

    /// A transformation to preview.
    #[schema(examples(json!({"source": {"format": "bpmn", "fileName": "small.bpmn", "content":
        "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" id=\"d\" targetNamespace=\"urn:x\"><process id=\"p\" isExecutable=\"true\"><startEvent id=\"s\"/><sequenceFlow id=\"f\" sourceRef=\"s\" targetRef=\"e\"/><endEvent id=\"e\"/></process></definitions>"}})))]
    struct TransformRequest {
        /// The file.
        source: TransformSource,
        /// Format to transform it to; `definition` when absent.
        #[schema(nullable = false)]
        target: Option<TransformTarget>,
    }
}

response! {
    /// Preview of a transformation.
    struct TransformPreview {
        /// The definition, when that is the target.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = AnyJson)]
        definition: Option<Value>,
        /// The document, when the target is a file format.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        content: Option<String>,
        /// Report on the reading of the file.
        import: Import,
        /// Findings of the reader.
        diagnostics: Vec<Diagnostic>,
        /// Whether the target holds all that the source says.
        lossless: bool,
    }
}

/// The body of a preview: the request as JSON, or the XML file itself.
#[derive(Debug, Clone, PartialEq)]
pub enum TransformBody {
    /// A request.
    Json(TransformRequest),
    /// An XML file: BPMN or DMN by its root element.
    Xml(Vec<u8>),
}

impl RequestBody for TransformBody {
    type Json = TransformRequest;

    fn read(media: MediaType, bytes: &[u8]) -> Result<Self, Problems> {
        match media {
            MediaType::Xml => Ok(Self::Xml(bytes.to_vec())),
            MediaType::Json | MediaType::Text | MediaType::Files => {
                crate::decode::from_json(bytes).map(Self::Json)
            }
        }
    }
}
