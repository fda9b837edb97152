//! CMMN XML in and out, over the suites' models, hostile documents and documents of every element.

#[cfg(test)]
#[path = "../../../bpmn/tests/it/folders.rs"]
mod folders;
#[cfg(test)]
mod hostile;
#[cfg(test)]
#[path = "../../../bpmn/tests/it/lines.rs"]
mod lines;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod roundtrip;
#[cfg(test)]
mod suites;
#[cfg(test)]
mod versions;
