//! Claims of conformance to the standards, by trial, and the recorded results of their suites.

pub mod bpmn;
mod claims;
pub mod cmmn;
pub mod dmn;
pub mod profile;
pub mod recorded;

pub use claims::{Deviation, Extent, Share};
