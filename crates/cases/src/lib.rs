//! Use cases of cases: a typed face of the use cases of anything that is defined and of anything that runs.

pub mod definitions;
pub mod versions;
