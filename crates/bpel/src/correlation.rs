//! Correlation keys as correlation sets, and correlation properties with their aliases.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::names::{Names, clean};
use heddle_bpmn::elements::Elements;
use heddle_bpmn::model::{Conversation, CorrelationKey, WorkflowDefinition};
use heddle_bpmn::xml::extensions::around;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A correlation property (clause 8.4.2).
#[derive(Debug, Default)]
pub(super) struct Property {
    pub name: String,
    /// Path into each message, by the message's id.
    pub paths: BTreeMap<String, String>,
}

/// A correlation set.
#[derive(Debug)]
pub(super) struct Set {
    pub name: String,
    /// Names of the properties.
    pub properties: Vec<String>,
    /// Ids of the nodes that exchange a message of the conversation; absent is every node.
    nodes: Option<HashSet<String>>,
}

pub(super) struct Correlations {
    sets: Vec<Set>,
    pub properties: BTreeMap<String, Property>,
    /// Sets that were used, by name.
    pub used: BTreeSet<String>,
    /// Messages in which each used property must be found.
    pub aliases: BTreeSet<(String, String)>,
}

impl Correlations {
    pub(crate) fn new(definition: &WorkflowDefinition, process_id: &str) -> Self {
        let mut made = Self {
            sets: Vec::new(),
            properties: BTreeMap::new(),
            used: BTreeSet::new(),
            aliases: BTreeSet::new(),
        };
        let Some(bpmn) = definition.bpmn.as_deref() else { return made };
        let mut names = Names::default();
        let no_namespaces = BTreeMap::new();
        let around = around(bpmn.namespaces.as_ref().unwrap_or(&no_namespaces));
        for fragment in bpmn.extension_elements_xml.iter().flatten() {
            for (id, mut property) in properties(fragment, &around) {
                property.name = names.unique(if property.name.is_empty() { &id } else { &property.name });
                made.properties.insert(id, property);
            }
        }
        let processes = bpmn.processes.iter().flatten();
        let own = processes.filter(|process| process.id.as_deref() == Some(process_id));
        let subscriptions: Vec<_> = own.flat_map(|process| process.correlations.iter().flatten()).collect();
        let subscribed =
            |key: &CorrelationKey| subscriptions.iter().any(|one| one.name.is_some() && one.name == key.id);
        let mut keys: Vec<(&CorrelationKey, Option<HashSet<String>>)> = Vec::new();
        for collaboration in bpmn.collaborations.iter().flatten() {
            let ends: HashMap<&str, [Option<&String>; 2]> = collaboration
                .message_flows
                .iter()
                .flatten()
                .filter_map(|flow| {
                    Some((flow.id.as_deref()?, [flow.source_ref.as_ref(), flow.target_ref.as_ref()]))
                })
                .collect();
            let all: HashSet<String> = ends.values().flatten().flatten().map(|id| (*id).clone()).collect();
            for key in collaboration.correlation_keys.iter().flatten() {
                keys.push((key, (!all.is_empty()).then(|| all.clone())));
            }
            for conversation in flattened(collaboration.conversations.as_deref().unwrap_or_default()) {
                let flows = conversation.message_flow_refs.iter().flatten();
                let nodes: HashSet<String> = flows
                    .filter_map(|id| ends.get(id.as_str()))
                    .flatten()
                    .flatten()
                    .map(|id| (*id).clone())
                    .collect();
                for key in conversation.correlation_keys.iter().flatten() {
                    keys.push((key, (!nodes.is_empty()).then(|| nodes.clone())));
                }
            }
        }
        for conversation in flattened(bpmn.conversations.as_deref().unwrap_or_default()) {
            keys.extend(conversation.correlation_keys.iter().flatten().map(|key| (key, None)));
        }
        for (key, nodes) in keys {
            let nodes = if subscribed(key) { None } else { nodes };
            made.add(key, nodes, &mut names);
        }
        made
    }

    fn add(&mut self, key: &CorrelationKey, nodes: Option<HashSet<String>>, names: &mut Names) {
        let mut properties = Vec::new();
        for id in key.correlation_property_refs.iter().flatten() {
            let property = self.properties.entry(id.clone()).or_default();
            if property.name.is_empty() {
                property.name = names.unique(id);
            }
            properties.push(property.name.clone());
        }
        // A key without a property says nothing that could be compared.
        if !properties.is_empty() {
            let name = key.name.as_deref().filter(|name| !name.trim().is_empty()).or(key.id.as_deref());
            let name = names.unique(&clean(name.unwrap_or("correlation")));
            self.sets.push(Set { name, properties, nodes });
        }
    }

    /// The sets of a node's exchange. The first message of a conversation gives the values, the later ones must
    /// have the same.
    pub(crate) fn of(&mut self, node: &str, message: Option<&str>) -> Vec<(String, &'static str)> {
        let mut found = Vec::new();
        for set in &self.sets {
            if set.nodes.as_ref().is_some_and(|nodes| !nodes.contains(node)) {
                continue;
            }
            found.push((set.name.clone(), "join"));
            self.used.insert(set.name.clone());
            for property in &set.properties {
                self.aliases.insert((property.clone(), message.unwrap_or_default().to_owned()));
            }
        }
        found
    }

    /// The used sets.
    pub(crate) fn used_sets(&self) -> impl Iterator<Item = &Set> {
        self.sets.iter().filter(|set| self.used.contains(&set.name))
    }

    /// The path of a property in a message.
    pub(crate) fn path(&self, property: &str, message: &str) -> Option<&str> {
        let property = self.properties.values().find(|one| one.name == property)?;
        property.paths.get(message).map(String::as_str)
    }
}

/// The conversations with the ones in them, outer ones first.
fn flattened(list: &[Conversation]) -> Vec<&Conversation> {
    let mut found: Vec<&Conversation> = list.iter().collect();
    let mut at = 0;
    while at < found.len() {
        found.extend(found[at].conversations.iter().flatten());
        at += 1;
    }
    found
}

/// The correlation properties of a fragment that the definition keeps as XML.
fn properties(fragment: &str, around: &[(&str, &str)]) -> Vec<(String, Property)> {
    let mut found: Vec<(String, Property)> = Vec::new();
    if !fragment.contains("correlationProperty") {
        return found;
    }
    let Ok(tree) = Elements::parse_within(fragment, around) else { return found };
    let attribute = |el, name: &str| tree.attribute(el, name).map(Cow::into_owned);
    let mut message = None;
    for el in tree.all() {
        match tree.name(el) {
            "correlationProperty" => {
                let name = attribute(el, "name").unwrap_or_default();
                if let Some(id) = attribute(el, "id") {
                    found.push((id, Property { name, paths: BTreeMap::new() }));
                }
            }
            "correlationPropertyRetrievalExpression" => message = attribute(el, "messageRef"),
            "messagePath" if !tree.text(el).is_empty() => {
                if let (Some(message), Some((_, property))) = (message.take(), found.last_mut()) {
                    let message = message.rsplit(':').next().unwrap_or_default().to_owned();
                    property.paths.insert(message, tree.text(el).trim().to_owned());
                }
            }
            _ => {}
        }
    }
    found
}
