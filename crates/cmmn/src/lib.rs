//! The case definition, and CMMN 1.0 and 1.1 XML in and out.
//!
//! [`model`] is the definition's JSON document as types.

pub mod model;
