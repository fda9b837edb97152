//! The case definition, and CMMN 1.0 and 1.1 XML in and out.
//!
//! [`model`] is the definition's JSON document as types, [`xml`] reads and writes CMMN XML; [`validate()`] judges a
//! definition, [`compile()`] makes the executable [`plan`] of each case of it; [`life`] has the life cycles of its items.

// The words that rows are written with.
#[macro_use]
extern crate heddle_xml;

pub mod compile;
mod diagnostic;
mod finding;
pub mod life;
pub mod model;
pub mod plan;
mod remedy;
pub mod validate;
pub mod xml;

pub use compile::{Compiled, Meaning, compile, compile_with};
pub use validate::{examine, validate};
