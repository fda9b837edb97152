//! Places of elements in the definition, by their ids.

use heddle_bpmn::model::{WorkflowDefinition, graphs, join};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Members that hold what people put there rather than elements of the model.
const FOREIGN: &[&str] = &["configuration", "condition", "layout", "diagrams"];

/// The JSON paths of the elements of these ids, as far as they have a member of their own.
pub(crate) struct Places<'w> {
    found: HashMap<&'w str, Option<String>>,
    missing: usize,
}

impl<'w> Places<'w> {
    /// Looks the ids up: nodes and edges first, which most findings are about, the rest where one is missing.
    pub(crate) fn of(definition: &WorkflowDefinition, wanted: impl Iterator<Item = &'w str>) -> Self {
        let found: HashMap<&str, Option<String>> = wanted.map(|id| (id, None)).collect();
        let missing = found.len();
        let mut places = Self { found, missing };
        for graph in graphs(definition) {
            for (at, node) in graph.nodes.iter().enumerate() {
                places.add(node.element_id(), || join(&graph.path, &format!("nodes[{at}]")));
            }
            for (at, edge) in graph.edges.iter().enumerate() {
                places.add(edge.id.as_deref(), || join(&graph.path, &format!("edges[{at}]")));
            }
        }
        if places.missing > 0
            && let Ok(Value::Object(members)) = serde_json::to_value(definition)
        {
            places.search(&members, "");
        }
        places
    }

    pub(crate) fn get(&self, id: &str) -> Option<&str> {
        self.found.get(id)?.as_deref()
    }

    fn add(&mut self, id: Option<&str>, path: impl FnOnce() -> String) {
        if let Some(place @ None) = id.and_then(|id| self.found.get_mut(id)) {
            *place = Some(path());
            self.missing -= 1;
        }
    }

    /// Definitions nest no deeper than documents do.
    fn search(&mut self, members: &Map<String, Value>, path: &str) {
        self.add(members.get("id").and_then(Value::as_str), || path.to_owned());
        for (name, member) in members.iter().filter(|(name, _)| !FOREIGN.contains(&name.as_str())) {
            match member {
                Value::Object(inner) => self.search(inner, &join(path, name)),
                Value::Array(items) => {
                    for (at, item) in items.iter().enumerate() {
                        if let Value::Object(inner) = item {
                            self.search(inner, &join(path, &format!("{name}[{at}]")));
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
