//! The workflow definition, and BPMN 2.0 XML in and out.
//!
//! [`model`] is the definition's JSON document as types, [`element`] the standard's elements with their groups and token
//! rules, [`xml`] reads and writes BPMN 2.0.2 XML, [`elements`] is a written definition as typed elements.

// The words that rows are written with.
#[macro_use]
extern crate heddle_xml;

pub mod diagnostic;
pub mod element;
pub mod elements;
pub mod model;
mod remedy;
pub mod xml;

pub use diagnostic::{Diagnostic, ExpressionPosition, Severity};
pub use element::ElementKind;
pub use heddle_settings::{juel, xpath};
