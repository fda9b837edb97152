//! BPMN XML in and out, over the suites' models, hostile documents and definitions written by hand.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]

#[cfg(test)]
mod constraints;
mod definitions;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod roundtrip;
#[cfg(test)]
mod suites;
