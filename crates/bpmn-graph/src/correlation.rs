//! Correlation keys of messages (clause 8.4.2): properties, the paths by which they are found in messages, and the
//! subscriptions that bind them to a process's data.

use super::compile::Builder;
use super::condition;
use super::events::Refused;
use heddle_bpmn::model::{Bpmn, Conversation, CorrelationKey, Process};
use heddle_bpmn::xml::extensions::around;
use heddle_feel::Expression;
use heddle_xml::{AnyNames, Document, Limits};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Bounds of one preserved fragment.
const LIMITS: Limits = Limits { depth: 64, elements: 100_000 };

/// Way to find the key of a message.
#[derive(Debug, Clone)]
pub struct MessageKey {
    /// Id of the correlation key.
    pub id: Arc<str>,
    /// One expression over the payload of a message for each property of the key.
    pub from_message: Vec<Expression>,
    /// One expression over the process's data for each property, where a subscription binds all of them.
    pub from_data: Option<Vec<Expression>>,
}

/// An expression as it stands in the model.
#[derive(Debug, Clone)]
struct Path {
    text: String,
    language: Option<String>,
}

/// The correlation keys of a definition.
#[derive(Debug, Default)]
pub(super) struct Correlations {
    /// Keys with the ids of their properties.
    keys: Vec<(Arc<str>, Vec<String>)>,
    /// Path of a property in a message, by the ids of both.
    paths: HashMap<(String, String), Path>,
}

impl Correlations {
    /// Reads what a definition says of correlation.
    pub(super) fn of(bpmn: Option<&Bpmn>) -> Self {
        let mut found = Self::default();
        let Some(bpmn) = bpmn else { return found };
        for key in keys(bpmn) {
            let (Some(id), Some(properties)) = (key.id.as_deref(), &key.correlation_property_refs) else {
                continue;
            };
            if !id.is_empty() && !properties.is_empty() {
                found.keys.push((id.into(), properties.clone()));
            }
        }
        if found.keys.is_empty() {
            return found;
        }
        // The model's root keeps its correlation properties as it found them.
        let none = BTreeMap::new();
        let namespaces = around(bpmn.namespaces.as_ref().unwrap_or(&none));
        for fragment in bpmn.extension_elements_xml.iter().flatten() {
            if fragment.contains("correlationProperty")
                && let Ok(tree) = Document::<AnyNames>::parse_within(fragment, &namespaces, LIMITS)
            {
                found.read(&tree);
            }
        }
        found
    }

    fn read(&mut self, tree: &Document<'_, AnyNames>) {
        for property in tree.all().filter(|el| tree.local(*el) == "correlationProperty") {
            let Some(id) = tree.attribute(property, "id") else { continue };
            for retrieval in tree.children(property) {
                if tree.local(retrieval) != "correlationPropertyRetrievalExpression" {
                    continue;
                }
                let Some(message) = tree.attribute(retrieval, "messageRef") else { continue };
                let message = message.rsplit(':').next().unwrap_or_default().to_owned();
                for path in tree.children(retrieval).filter(|el| tree.local(*el) == "messagePath") {
                    let text = tree.text(path).into_owned();
                    let language = tree.attribute(path, "language").map(|own| own.into_owned());
                    self.paths.insert((id.to_string(), message.clone()), Path { text, language });
                }
            }
        }
    }

    fn path(&self, property: &str, message: &str) -> Option<&Path> {
        self.paths.get(&(property.to_owned(), message.to_owned()))
    }

    /// Whether a message can tell the key of this id.
    pub(super) fn is_used(&self, key: &str) -> bool {
        let Some((_, properties)) = self.keys.iter().find(|(id, _)| **id == *key) else { return false };
        let Some(first) = properties.first() else { return false };
        let messages = self.paths.keys().filter(|(property, _)| property == first);
        messages
            .map(|(_, message)| message)
            .any(|message| properties.iter().all(|own| self.path(own, message).is_some()))
    }
}

/// The correlation keys of collaborations and conversations.
pub(super) fn keys(bpmn: &Bpmn) -> Vec<&CorrelationKey> {
    let mut keys: Vec<&CorrelationKey> = Vec::new();
    let mut open: Vec<&Conversation> = bpmn.conversations.iter().flatten().collect();
    for collaboration in bpmn.collaborations.iter().flatten() {
        keys.extend(collaboration.correlation_keys.iter().flatten());
        open.extend(collaboration.conversations.iter().flatten());
    }
    while let Some(conversation) = open.pop() {
        keys.extend(conversation.correlation_keys.iter().flatten());
        open.extend(conversation.conversations.iter().flatten());
    }
    keys
}

/// Paths over the data of a process by the ids of key and property, as its subscriptions bind them.
pub(super) fn data_paths(process: &Process) -> HashMap<(&str, &str), &str> {
    let mut found = HashMap::new();
    for binding in process.correlations.iter().flatten() {
        let key = binding.name.as_deref().unwrap_or_default();
        let path = binding.retrieval_expressions.as_deref().unwrap_or_default().first();
        if let (Some(property), Some(path)) = (binding.correlation_property_ref.as_deref(), path) {
            found.insert((key, property), path.as_str());
        }
    }
    found
}

impl Builder<'_> {
    /// Way to find the key of a message; none where the model has no correlation key for it.
    pub(super) fn message_key(&self, message: &str) -> Result<Option<Arc<MessageKey>>, Refused> {
        let all = self.correlations;
        let of_message =
            |properties: &[String]| properties.iter().all(|own| all.path(own, message).is_some());
        let Some((id, properties)) = all.keys.iter().find(|(_, properties)| of_message(properties)) else {
            return Ok(None);
        };
        let paths = properties.iter().filter_map(|own| all.path(own, message));
        let from_message =
            paths.map(|path| self.path(&path.text, path.language.as_deref())).collect::<Result<_, _>>()?;
        let bound = properties.iter().map(|own| self.data_paths.get(&(&**id, own.as_str())).copied());
        let from_data = match bound.collect::<Option<Vec<&str>>>() {
            None => None,
            Some(paths) => {
                Some(paths.into_iter().map(|path| self.path(path, None)).collect::<Result<_, _>>()?)
            }
        };
        Ok(Some(Arc::new(MessageKey { id: id.clone(), from_message, from_data })))
    }

    fn path(&self, text: &str, own: Option<&str>) -> Result<Expression, Refused> {
        let text = text.trim();
        let compiled = condition::juel(text, own).and_then(|translated| match translated {
            Some(translated) => condition::feel(&translated, None),
            None => condition::feel(text, own.or(self.language)),
        });
        compiled.map_err(|wrong| (wrong.code, format!("correlation: {}", wrong.sentence), "8.4.2"))
    }
}
