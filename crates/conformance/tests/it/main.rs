//! Which elements the models of the recorded suites use, and what the claims about DMN rest on.

#[cfg(test)]
mod claims;
#[cfg(test)]
mod elements;
#[cfg(test)]
#[path = "../../../bpmn/tests/it/folders.rs"]
mod folders;
