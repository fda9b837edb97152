//! Choreographies (clause 11) as monitors of what their participants send each other.
//!
//! [`compile`] turns a choreography into a [`Monitor`]: an automaton over sets of tokens whose visible steps are exchanges of
//! messages. What a choice was shows in the message that comes next, so that a [`ChoreographyState`] is a bounded set of
//! markings: all those that what was seen so far allows. A monitor is pure and knows no run; [`Participation`] says which
//! exchanges the messages of a process are.

mod automaton;
mod fault;
mod moves;
mod net;
mod roles;
#[cfg(test)]
mod tests;
mod tree;

pub use automaton::{ChoreographyState, ChoreographyViolation, Exchange, ExpectedExchange, Monitor, Refused};
pub use fault::ChoreographyFault;
pub use roles::{Direction, Participation};

use super::Compiled;
use heddle_bpmn::diagnostic;
use heddle_bpmn::elements::Elements;
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn::xml;
use std::sync::Arc;
use tree::Tree;

/// Compiles the choreography of this id to its monitor.
///
/// # Errors
/// What the choreography holds that it may not, or that it exceeds the bounds of a monitor.
pub fn compile(definition: &WorkflowDefinition, choreography: &str) -> Result<Monitor, ChoreographyFault> {
    with_tree(definition, |tree| {
        let el = tree.choreographies().find(|el| tree.id(*el) == choreography);
        let missing = || {
            let sentence = format!("there is no choreography with the id `{choreography}`");
            ChoreographyFault::new(choreography, sentence, "11")
        };
        Monitor::of(tree, el.ok_or_else(missing)?)
    })?
}

/// Gives each compiled process the choreographies in which it plays a participant. One that can't be monitored is a warning.
pub(super) fn attach(definition: &WorkflowDefinition, compiled: &mut Compiled) {
    let Some(bpmn) = definition.bpmn.as_deref() else { return };
    if bpmn.choreographies.as_ref().is_none_or(Vec::is_empty) {
        return;
    }
    let warn = |fault: &ChoreographyFault| {
        let sentence = format!("messages are not compared with the choreography: {}", fault.sentence);
        let found = diagnostic::warning("choreographyNotMonitored", sentence).with_clause(fault.clause);
        if fault.element.is_empty() { found } else { found.with_element(&fault.element) }
    };
    let processes = &mut compiled.processes;
    let told = with_tree(definition, |tree| {
        let found = roles::Choreographies::of(tree);
        for graph in processes.iter_mut().filter_map(Arc::get_mut) {
            graph.choreographies = found.of_process(tree, &graph.id);
        }
        found.faults.iter().map(warn).collect::<Vec<_>>()
    });
    match told {
        Ok(told) => compiled.diagnostics.extend(told),
        Err(fault) => compiled.diagnostics.push(warn(&fault)),
    }
}

/// The definition as the document that it is exported as: a choreography's message flows, event definitions and associations
/// stand there alone.
fn with_tree<T>(
    definition: &WorkflowDefinition,
    read: impl FnOnce(&Tree<'_>) -> T,
) -> Result<T, ChoreographyFault> {
    let unreadable = |error: String| ChoreographyFault::new("", error, "11");
    let written = xml::write_undrawn(definition).map_err(|error| unreadable(error.to_string()))?;
    let elements = Elements::parse(&written.xml).map_err(|error| unreadable(error.to_string()))?;
    Ok(read(&Tree::new(&elements)))
}
