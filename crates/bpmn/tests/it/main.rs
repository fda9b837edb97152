//! BPMN XML in and out, over the suites' models, hostile documents and definitions written by hand.

#[cfg(test)]
mod definitions;
#[cfg(test)]
mod folders;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod roundtrip;
#[cfg(test)]
mod suites;
#[cfg(test)]
mod vendors;
