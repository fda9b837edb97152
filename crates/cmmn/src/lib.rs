//! The case definition, CMMN 1.1 XML in and out, and the executable plan of a case.

pub mod plan;
