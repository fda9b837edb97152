//! The workflow definition, BPMN 2.0 XML in and out, validation, and the executable graph.
//!
//! [`model`] is the definition's JSON document as types, [`xml`] reads and writes BPMN 2.0.2 XML,
//! [`conformance`] tells what is claimed of the standard, [`validate`] judges a definition, [`graph`] compiles its processes for execution.

pub mod bpel;
pub mod conformance;
pub mod diagnostic;
pub mod element;
pub mod graph;
mod hash;
mod juel;
pub mod layout;
pub mod model;
mod remedy;
pub mod validate;
pub mod xml;

pub use diagnostic::{Diagnostic, ExpressionPosition, Severity};
pub use element::ElementKind;
