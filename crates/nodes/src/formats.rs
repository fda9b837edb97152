//! Formats of answers that a node's settings ask for.

use serde_json::{Map, Value, json};

use crate::fault::WorkFault;
use crate::prompts;
use crate::work::Work;

/// Format of an answer.
pub(crate) enum Format {
    /// Any text.
    Text,
    /// Any JSON object.
    Object,
    /// JSON that fits a schema.
    Schema(Value),
}

impl Format {
    /// Tells a request what the answer has to be.
    pub(crate) fn tell(&self, request: &mut Map<String, Value>) {
        let format = match self {
            Self::Text => return,
            Self::Object => json!({ "type": "json_object" }),
            Self::Schema(schema) => prompts::format("answer", schema),
        };
        request.insert("response_format".to_owned(), format);
    }

    /// The schema that the answer has to fit; none where any text does.
    pub(crate) fn schema(self) -> Option<Value> {
        match self {
            Self::Text => None,
            Self::Object => Some(json!({ "type": "object" })),
            Self::Schema(schema) => Some(schema),
        }
    }
}

impl Work<'_> {
    /// The format of the setting `responseFormat`.
    pub(crate) fn format(&self) -> Result<Format, WorkFault> {
        let Some(own) = self.evaluator().value("responseFormat")?.filter(|own| !own.is_null()) else {
            return Ok(Format::Text);
        };
        let schema = own.get("schema").filter(|schema| schema.is_object());
        match (own.get("type").and_then(Value::as_str), schema) {
            (Some("text"), _) => Ok(Format::Text),
            (Some("json_object"), _) => Ok(Format::Object),
            (Some("json_schema"), Some(schema)) => Ok(Format::Schema(schema.clone())),
            (Some(_) | None, _) => {
                let told = "it gives no {type: text}, {type: json_object} or {type: json_schema, schema}";
                Err(WorkFault::setting("responseFormat", told))
            }
        }
    }
}
