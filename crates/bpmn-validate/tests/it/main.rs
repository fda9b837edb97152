//! The rules of the standard and soundness, over models of our own and the suites'.

#[cfg(test)]
mod choreographies;
#[cfg(test)]
mod constraint_cases;
#[cfg(test)]
mod constraint_rules;
#[cfg(test)]
mod constraints;
#[cfg(test)]
#[path = "../../../bpmn/tests/it/folders.rs"]
mod folders;
#[cfg(test)]
mod soundness;
#[cfg(test)]
mod stated_rules;
