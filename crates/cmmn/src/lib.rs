//! The case definition, and CMMN 1.0 and 1.1 XML in and out.
//!
//! [`model`] is the definition's JSON document as types; [`validate`] judges one, [`compile`] makes the executable
//! [`plan`] of each case of it.

pub mod compile;
mod finding;
pub mod model;
pub mod plan;
mod remedy;

pub use compile::{Compiled, compile};
