//! Records on the wire: what callers are shown of runs, cases, human tasks, audit trails and the recorded results of suites,
//! and the literals and typed values that they send. It decides nothing and asks nobody.

pub mod audit_view;
pub mod case_view;
pub mod evidence;
pub mod literals;
pub mod run_view;
pub mod typed_values;
