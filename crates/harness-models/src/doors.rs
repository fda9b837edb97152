//! Doors of the gateway: the paths at which models are asked, each with the words that are spoken there.

use serde_json::{Value, json};

/// Words of a door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    /// OpenAI's chat completions.
    Chat,
    /// Anthropic's messages.
    Messages,
    /// The same without what is about the answer.
    Prompt,
}

/// A path at which models are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Door {
    /// The path.
    pub(crate) path: &'static str,
    /// Word for it in names of deployments.
    pub(crate) word: &'static str,
    words: Words,
}

/// The service's own door.
pub(crate) const OWN: Door = Door { path: "/api/chat", word: "chat", words: Words::Chat };
/// The door of OpenAI's clients.
pub(crate) const COMPLETIONS: Door =
    Door { path: "/v1/chat/completions", word: "completions", words: Words::Chat };
/// The door of Anthropic's clients.
pub(crate) const MESSAGES: Door = Door { path: "/v1/messages", word: "messages", words: Words::Messages };
/// The door at which tokens are counted, and nobody answers.
pub(crate) const COUNT: Door =
    Door { path: "/v1/messages/count_tokens", word: "count", words: Words::Prompt };

/// Doors behind which a model answers.
pub(crate) const DOORS: [Door; 3] = [OWN, COMPLETIONS, MESSAGES];

impl Door {
    /// A question in one message.
    pub(crate) fn question(self, alias: &str, text: &str) -> Value {
        self.asked(alias, text, json!({}))
    }

    /// The same as a stream.
    pub(crate) fn streamed(self, alias: &str, text: &str) -> Value {
        self.asked(alias, text, json!({"stream": true}))
    }

    /// A question with further members, or with others in their place.
    pub(crate) fn asked(self, alias: &str, text: &str, more: Value) -> Value {
        let mut body = json!({"model": alias, "messages": [{"role": "user", "content": text}]});
        if let Some(members) = body.as_object_mut() {
            if self.words == Words::Messages {
                members.insert("max_tokens".to_owned(), json!(64));
            }
            if let Value::Object(more) = more {
                members.extend(more);
            }
        }
        body
    }

    /// Members that ask for an answer by a schema.
    pub(crate) fn formatted(self, schema: Value) -> Value {
        match self.words {
            Words::Chat => {
                json!({"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}})
            }
            Words::Messages | Words::Prompt => {
                json!({"output_config": {"format": {"type": "json_schema", "schema": schema}}})
            }
        }
    }

    /// Whether a stream says that it broke, and nothing behind which it would be taken for whole.
    pub(crate) fn broke(self, stream: &str) -> bool {
        let end = match self.words {
            Words::Chat => "[DONE]",
            Words::Messages | Words::Prompt => "message_stop",
        };
        stream.contains("\"error\"") && !stream.contains(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_door_is_asked_in_its_words() {
        let of = |door: Door| door.asked("a", "Hello?", json!({"model": "b", "stream": true}));
        let chat = json!({"model": "b", "stream": true, "messages": [{"role": "user", "content": "Hello?"}]});
        assert_eq!((of(OWN), of(COMPLETIONS), of(COUNT)), (chat.clone(), chat.clone(), chat));
        assert_eq!(of(MESSAGES)["max_tokens"], 64);
        assert_eq!(MESSAGES.formatted(json!(7))["output_config"]["format"]["schema"], 7);
        assert!(OWN.broke("data: {\"error\": {}}") && !OWN.broke("data: {\"error\": {}}\n\ndata: [DONE]"));
        assert!(MESSAGES.broke("event: error\ndata: {\"type\":\"error\"}"));
        assert!(!MESSAGES.broke("event: message_stop\ndata: {\"type\":\"error\"}"));
    }
}
