//! Layouts of the suites' models and of random flows.

#[cfg(test)]
#[path = "../../../bpmn/tests/it/folders.rs"]
mod folders;
#[cfg(test)]
mod layout;
