//! Checks of a definition that need nothing but the definition.
//!
//! [`structure`] judges ids, references and connection rules in time linear in the definition's size. Whether
//! a process can be executed is the judgement of [`heddle_bpmn_graph`].

mod choreography;
mod constraints;
mod flow;
mod head;
mod index;
mod members;
pub mod profile;
mod references;
pub mod soundness;
#[cfg(test)]
mod tests;

pub use choreography::enforceability;
pub use constraints::{Profile, Rule, RuleProfile, constraints, rules};
pub use profile::{common_executable_schema, outside_common_executable};
pub use soundness::{Soundness, soundness};

use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::model::{WorkflowDefinition, graphs, join};
use heddle_xml::hash::HashMap as Map;
use index::Index;

/// Most findings reported; a definition with more is broken beyond reading them all.
const MAX_FINDINGS: usize = 1_000;

/// Findings up to a cap, with the number of those beyond it.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    found: Vec<Diagnostic>,
    more: usize,
}

impl Findings {
    /// Adds a finding; the path is made only when there is room.
    fn add(&mut self, diagnostic: Diagnostic, id: Option<&str>, path: impl FnOnce() -> String) {
        if self.found.len() == MAX_FINDINGS {
            self.more += 1;
            return;
        }
        let mut diagnostic = diagnostic.with_path(path());
        diagnostic.element_id = id.map(str::to_owned);
        self.found.push(diagnostic);
    }
}

/// Checks ids, references and the rules of connection.
pub fn structure(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let graphs = graphs(definition);
    let mut findings = Findings::default();
    let index = Index::new(definition, &graphs, &mut findings);
    for (number, graph) in graphs.iter().enumerate() {
        flow::check(number, graph, &index, &mut findings);
        references::check_graph(graph, &index, &mut findings);
        members::check(graph, &mut findings);
    }
    references::check_model(definition, &index, &mut findings);
    head::check(definition, &mut findings);
    if findings.more > 0 {
        let message = format!("{} more findings are left out.", findings.more);
        findings.found.push(diagnostic::info("moreFindings", message));
    }
    findings.found
}

/// A path below a graph.
fn below(head: &str, list: &str, number: usize, member: &str) -> String {
    let place = join(head, &format!("{list}[{number}]"));
    if member.is_empty() { place } else { format!("{place}.{member}") }
}
