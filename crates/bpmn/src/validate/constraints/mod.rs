//! The constraints of BPMN 2.0.2 beyond its schema, by the names of their published catalogue.
//!
//! The definition is judged as the document that it is exported as. A rule binds from a profile on: what is only demanded
//! of the Common Executable sub-class is no fault of another model.

mod activities;
mod data;
pub(super) mod doc;
mod events;
mod flows;
mod models;
mod rules;
#[cfg(test)]
mod tests;

pub use rules::{Rule, RuleProfile};

use crate::diagnostic::Diagnostic;
use crate::model::{WorkflowDefinition, graphs, join};
use crate::xml;
use crate::xml::tree::{El, Tree};
use doc::Doc;
use rules::RULES;
use std::collections::{HashMap, HashSet};

/// Most findings of one kind that are reported.
const MOST: usize = 200;

/// Which rules bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Those whose breach leaves in doubt what a run does.
    Publication,
    /// Those of the descriptive and analytic sub-classes.
    Structural,
    /// Those of choreographies, conversations and interchange as well.
    Full,
    /// All, also those of the Common Executable sub-class.
    CommonExecutable,
}

impl Profile {
    fn binds(self, rule: &Rule) -> bool {
        if self == Self::Publication {
            return rule.refuses_publication();
        }
        match rule.profile {
            RuleProfile::Descriptive | RuleProfile::Analytic => true,
            RuleProfile::Full => self != Self::Structural,
            RuleProfile::CommonExecutable => self == Self::CommonExecutable,
        }
    }
}

/// All rules, by name.
pub fn rules() -> &'static [Rule] {
    RULES
}

/// Breaches of the rules that bind in a profile, each an error with the rule's name.
///
/// Nothing is found in a definition that can't be written as XML; the writer says why.
pub fn constraints(definition: &WorkflowDefinition, profile: Profile) -> Vec<Diagnostic> {
    let Ok(written) = xml::write(definition) else { return Vec::new() };
    let Ok(tree) = Tree::parse(&written.xml, &[]) else { return Vec::new() };
    let doc = Doc::new(&tree);
    let mut out = Out::default();
    flows::check(&doc, &mut out);
    events::check(&doc, &mut out);
    activities::check(&doc, &mut out);
    data::check(&doc, &mut out);
    models::check(&doc, &mut out);
    out.finish(&doc, definition, profile)
}

/// What is found: the rule and the element.
#[derive(Default)]
struct Out {
    found: Vec<(&'static str, El)>,
    seen: HashSet<(&'static str, El)>,
    counts: HashMap<&'static str, usize>,
}

impl Out {
    fn add(&mut self, rule: &'static str, el: El) {
        let count = self.counts.entry(rule).or_default();
        if *count < MOST && self.seen.insert((rule, el)) {
            *count += 1;
            self.found.push((rule, el));
        }
    }

    fn finish(mut self, doc: &Doc<'_>, definition: &WorkflowDefinition, profile: Profile) -> Vec<Diagnostic> {
        self.found.sort_unstable_by_key(|(rule, el)| (*el, *rule));
        let bound = self.found.iter().filter_map(|(name, el)| {
            let at = RULES.binary_search_by(|rule| rule.rule.cmp(name)).ok()?;
            Some((&RULES[at], *el)).filter(|(rule, _)| profile.binds(rule))
        });
        let bound: Vec<(&Rule, El)> = bound.collect();
        if bound.is_empty() {
            return Vec::new();
        }
        let places = places(definition);
        let diagnostic = |(rule, el): (&Rule, El)| {
            let message = format!("{}: {}", doc.label(el), rule.constraint);
            let mut found = Diagnostic::error(rule.code, message).with_rule(rule.rule);
            found.element_id = doc.near_id(el);
            found.path = found.element_id.as_deref().and_then(|id| places.get(id).cloned());
            found
        };
        bound.into_iter().map(diagnostic).collect()
    }
}

/// The JSON paths of nodes and edges.
pub(super) fn places(definition: &WorkflowDefinition) -> HashMap<String, String> {
    let mut places = HashMap::new();
    for graph in graphs(definition) {
        for (at, node) in graph.nodes.iter().enumerate() {
            if let Some(id) = node.element_id() {
                places.insert(id.to_owned(), join(&graph.path, &format!("nodes[{at}]")));
            }
        }
        for (at, edge) in graph.edges.iter().enumerate() {
            if let Some(id) = &edge.id {
                places.insert(id.clone(), join(&graph.path, &format!("edges[{at}]")));
            }
        }
    }
    places
}
