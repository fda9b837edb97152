//! The constraints of BPMN 2.0.2 beyond its schema, by the names of their published catalogue.
//!
//! The definition is judged as the document that it is exported as. A rule binds from a profile on: what is only demanded
//! of the Common Executable sub-class is no fault of another model.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

mod activities;
mod data;
pub(crate) mod doc;
mod events;
mod flows;
mod models;
pub(crate) mod places;
mod rules;
#[cfg(test)]
mod tests;

pub use rules::{Rule, RuleProfile};

use doc::Doc;
use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::elements::{El, Elements};
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn::xml;
use places::Places;
use rules::RULES;
use std::borrow::Cow;
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

/// Breaches of the rules that bind in a profile, each with the rule's name: errors, but for rules that real models break.
///
/// A definition that can't be written as XML has one finding, `notExportable`, with the place that stands in the way.
pub fn constraints(definition: &WorkflowDefinition, profile: Profile) -> Vec<Diagnostic> {
    let written = match xml::write_undrawn(definition) {
        Ok(written) => written,
        Err(error) => return vec![not_exportable(&error)],
    };
    let tree = match Elements::parse(&written.xml) {
        Ok(tree) => tree,
        Err(error) => return vec![diagnostic::error("notExportable", error.to_string())],
    };
    let doc = Doc::new(&tree);
    let mut out = Out::default();
    flows::check(&doc, &mut out);
    events::check(&doc, &mut out);
    activities::check(&doc, &mut out);
    data::check(&doc, &mut out);
    models::check(&doc, &mut out);
    out.finish(&doc, definition, profile)
}

fn not_exportable(error: &xml::WriteError) -> Diagnostic {
    let (xml::WriteError::Fragment { path, .. } | xml::WriteError::Character { path }) = error;
    diagnostic::error("notExportable", error.to_string()).with_path(path)
}

/// Findings: the rule and the element of each.
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
        let around: Vec<Vec<Cow<'_, str>>> = bound.iter().map(|(_, el)| doc.ids_around(*el)).collect();
        let places = Places::of(definition, around.iter().flatten().map(|id| &**id));
        let diagnostic = |((rule, el), around): (&(&Rule, El), &Vec<Cow<'_, str>>)| {
            let message = format!("{}: {}", doc.label(*el), rule.constraint);
            let mut found = diagnostic::new(rule.severity(), rule.code, message)
                .with_clause(rule.clause)
                .with_remedy(rule.remedy);
            found.rule = rule.is_published().then(|| rule.rule.to_owned());
            found.element_id = around.first().map(|id| id.clone().into_owned());
            // What has no member of its own stands within what is around it.
            found.path = around.iter().find_map(|id| places.get(id)).map(str::to_owned);
            found
        };
        bound.iter().zip(&around).map(diagnostic).collect()
    }
}
