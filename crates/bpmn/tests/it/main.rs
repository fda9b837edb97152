//! BPMN XML in and out, over the suites' models, hostile documents and definitions written by hand.

#[cfg(test)]
mod bpel;
#[cfg(test)]
mod bpel_mapping;
#[cfg(test)]
mod bpel_traces;
#[cfg(test)]
mod constraint_cases;
#[cfg(test)]
mod constraint_rules;
#[cfg(test)]
mod constraints;
#[cfg(test)]
mod definitions;
#[cfg(test)]
mod elements;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod roundtrip;
#[cfg(test)]
mod soundness;
#[cfg(test)]
mod suites;
#[cfg(test)]
mod vendors;
