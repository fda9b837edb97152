//! DMN 1.1 to 1.5: decision models in and out, compiled, evaluated, analysed.

mod analysis;
mod compile;
mod diagnostic;
pub mod diagram;
mod eval;
pub mod extensions;
pub mod layout;
pub mod model;
#[cfg(feature = "tck")]
pub mod tck;
pub mod xml;

pub use analysis::{TableFinding, analyse};
pub use compile::{Compiled, Model, compile, compile_with};
pub use diagnostic::{Diagnostic, ExpressionPosition, Severity};
pub use eval::{
    DecisionExplanation, ElementKind, ElementRef, EvalOptions, EvaluateError, Explanation, Misfit, Outcome,
    Reason, TableExplanation, TableHit, TableInput,
};
pub use heddle_xml::XmlError;
