//! The case definition, and CMMN 1.0 and 1.1 XML in and out.
//!
//! [`model`] is the definition's JSON document as types, [`xml`] reads and writes CMMN XML.

// The words that rows are written with.
#[macro_use]
extern crate heddle_xml;

mod diagnostic;
pub mod model;
pub mod xml;
