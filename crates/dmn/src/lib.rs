//! DMN 1.1 to 1.5: decision models in and out, compiled, evaluated, analysed.

mod diagnostic;
pub mod model;
pub mod xml;

pub use diagnostic::{Diagnostic, ExpressionPosition, Severity};
pub use heddle_xml::XmlError;
