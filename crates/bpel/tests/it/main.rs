//! The export to WS-BPEL: single constructs, the suites' models, and random graphs against an interpreter.

#[cfg(test)]
mod bpel;
#[cfg(test)]
mod bpel_mapping;
#[cfg(test)]
mod bpel_traces;
#[cfg(test)]
#[path = "../../../bpmn/tests/it/folders.rs"]
mod folders;
