//! Ends of the service's own jobs, and what protection found at them.

use heddle_feel::size_of_json;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Data of `protection.violated`: a check of the definition's protection found something. The text is not told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProtectionViolated {
    /// The check.
    pub check_id: String,
    /// Stage at which it was made: `input`, `output`, `toolCall` or `toolResult`.
    pub stage: String,
    /// Action on it: `flag`, `redact`, `review` or `block`.
    pub action: String,
    /// A sentence without the text.
    pub message: String,
    /// Number of places.
    pub count: u64,
    /// The first of the places: path, first byte, byte behind the last one, and kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Value>,
}

/// End of an attempt at one of the service's own jobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum JobEnd {
    /// Completion.
    Completed {
        /// Variables of the node.
        variables: Map<String, Value>,
    },
    /// Failure.
    Failed {
        /// Reason.
        message: String,
        /// Attempts that are left; absent is one fewer than before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retries: Option<u32>,
        /// Milliseconds until it may be tried again; absent is what the model says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        /// Notes of the attempt for the next one; absent leaves those of before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notes: Option<Value>,
    },
    /// End with a BPMN error.
    Error {
        /// Code of the error.
        code: String,
        /// Message of the error.
        message: String,
        /// Set where the error is caught.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        variables: Map<String, Value>,
    },
}

impl JobEnd {
    /// Variables that it brings.
    #[must_use]
    pub const fn variables(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Completed { variables } | Self::Error { variables, .. } => Some(variables),
            Self::Failed { .. } => None,
        }
    }

    /// Estimated bytes of it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let values = self.variables().into_iter().flatten();
        let values: u64 = values.map(|(name, value)| name.len() as u64 + size_of_json(value)).sum();
        match self {
            Self::Completed { .. } => values,
            Self::Failed { message, notes, .. } => {
                message.len() as u64 + notes.as_ref().map_or(0, size_of_json)
            }
            Self::Error { code, message, .. } => values + (code.len() + message.len()) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_end_is_the_same_behind_its_text() {
        let variables = json!({ "text": "It weaves." }).as_object().cloned().unwrap();
        for end in [
            JobEnd::Completed { variables: variables.clone() },
            JobEnd::Failed {
                message: "away".to_owned(),
                retries: None,
                retry_after_ms: Some(5),
                notes: Some(json!({ "repairs": 1 })),
            },
            JobEnd::Error { code: "noText".to_owned(), message: String::new(), variables },
        ] {
            let text = serde_json::to_string(&end).unwrap();
            assert_eq!(serde_json::from_str::<JobEnd>(&text).unwrap(), end, "{text}");
            assert!(end.bytes() > 0);
        }
    }
}
