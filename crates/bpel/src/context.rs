//! State of the mapping of a process: lookups, and the findings so far.

use super::contract::Contract;
use super::names::Names;
use super::tree::{Activity, Variable};
use super::{Region, expression::Expr};
use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::model::{Bpmn, EventReference, WorkflowDefinition};
use std::collections::{HashMap, HashSet};

/// The clause of BPMN 2.0.2 about the mapping.
pub(super) const CLAUSE: &str = "14";

pub(super) struct Context<'d> {
    pub bpmn: Option<&'d Bpmn>,
    pub names: Names,
    pub contract: Contract<'d>,
    pub regions: Vec<Region>,
    pub diagnostics: Vec<Diagnostic>,
    pub errors: HashMap<&'d str, &'d EventReference>,
    /// Processes that are being put in the place of call activities.
    pub calling: Vec<&'d str>,
    /// State of each open scope, the innermost last.
    pub frames: Vec<Frame>,
    /// Names of variables by id of the data object, property, input or output.
    pub data: HashMap<&'d str, String>,
    /// Names of the scopes of activities that can be compensated.
    pub scopes: HashMap<&'d str, String>,
    /// Whether an extension activity was needed.
    pub extended: bool,
    /// Elements that are gateways: a split or join of another element is not the element itself.
    pub gateways: HashSet<u32>,
    elements: Vec<(String, String)>,
}

/// State of one open scope.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub variables: Vec<Variable>,
    /// The fault by which a terminate event ends the scope, once it is used; the process itself exits.
    pub terminate: Option<String>,
    /// Whether the scope is the process.
    pub is_process: bool,
    /// Compensations that are thrown in the scope: fault, activity of the handler, and the element.
    pub compensations: Vec<Thrown>,
}

/// A compensation that is thrown in the normal flow.
#[derive(Debug)]
pub(super) struct Thrown {
    pub fault: String,
    pub handler: Activity,
    pub element: u32,
    /// Whether nothing follows it.
    pub is_end: bool,
}

impl<'d> Context<'d> {
    pub(crate) fn new(definition: &'d WorkflowDefinition, contract: Contract<'d>) -> Self {
        let bpmn = definition.bpmn.as_deref();
        let errors = bpmn.and_then(|bpmn| bpmn.errors.as_deref()).unwrap_or_default();
        Self {
            bpmn,
            names: Names::default(),
            contract,
            regions: Vec::new(),
            diagnostics: Vec::new(),
            errors: errors.iter().filter_map(|error| Some((error.id.as_deref()?, error))).collect(),
            calling: Vec::new(),
            frames: Vec::new(),
            data: HashMap::new(),
            scopes: HashMap::new(),
            extended: false,
            gateways: HashSet::new(),
            elements: Vec::new(),
        }
    }

    /// The language of expressions that name none.
    pub(crate) fn language(&self) -> Option<&'d str> {
        self.bpmn.and_then(|bpmn| bpmn.expression_language.as_deref())
    }

    /// An expression of the model in its language.
    pub(crate) fn expression(&self, text: &str, language: Option<&str>) -> Result<Expr, String> {
        Expr::of_model(text, language, self.language())
    }

    /// Gives an element a number.
    pub(crate) fn element(&mut self, id: &str, path: String) -> u32 {
        let at = super::graph::place(self.elements.len());
        self.elements.push((id.to_owned(), path));
        at
    }

    pub(crate) fn element_id(&self, element: u32) -> &str {
        self.elements.get(element as usize).map_or("", |(id, _)| id)
    }

    /// The id of a gateway.
    pub(crate) fn gateway_id(&self, element: Option<u32>) -> Option<String> {
        let element = element.filter(|element| self.gateways.contains(element))?;
        Some(self.element_id(element).to_owned())
    }

    fn element_path(&self, element: u32) -> Option<&str> {
        self.elements.get(element as usize).map(|(_, path)| path.as_str())
    }

    /// Says that the elements cannot be mapped, and why.
    pub(crate) fn refuse(
        &mut self,
        elements: impl IntoIterator<Item = u32>,
        code: &'static str,
        message: impl Into<String>,
    ) {
        let mut elements: Vec<u32> = elements.into_iter().collect();
        elements.sort_unstable();
        elements.dedup();
        let path = elements.first().and_then(|first| self.element_path(*first)).map(str::to_owned);
        let mut element_ids: Vec<String> =
            elements.iter().map(|element| self.element_id(*element).to_owned()).collect();
        element_ids.dedup();
        let message = message.into();
        self.regions.push(Region { element_ids, code, message, path, clause: CLAUSE });
    }

    /// Declares a variable in the innermost scope.
    pub(crate) fn declare(&mut self, variable: Variable) {
        if let Some(frame) = self.frames.last_mut() {
            frame.variables.push(variable);
        }
    }

    pub(crate) fn warn(&mut self, element: u32, code: &str, message: impl Into<String>) {
        self.note(diagnostic::warning(code, message), element);
    }

    pub(crate) fn inform(&mut self, element: u32, code: &str, message: impl Into<String>) {
        self.note(diagnostic::info(code, message), element);
    }

    fn note(&mut self, diagnostic: Diagnostic, element: u32) {
        let id = self.element_id(element).to_owned();
        let mut diagnostic = diagnostic.with_element(id).with_clause(CLAUSE);
        diagnostic.path = self.element_path(element).map(str::to_owned);
        self.diagnostics.push(diagnostic);
    }
}
