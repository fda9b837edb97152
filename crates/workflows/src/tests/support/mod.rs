//! Support of the tests: a world in memory, callers with roles, and small definitions.

pub(crate) mod definitions;
pub(crate) mod job_store;
mod memory;
mod people;
mod run_store;
mod work_store;
mod workflow_store;
pub(crate) mod world;

pub(crate) use definitions::{chain, event, model, receive, review, shown};
pub(crate) use world::{
    Caller, NOW, Notice, World, caller, input, journal, of_kind, on_run, on_workflow, reasons, unrecorded,
};

use serde_json::Value;
use uuid::Uuid;

/// An id that stands for nothing else.
pub(crate) const fn uuid(n: u128) -> Uuid {
    Uuid::from_u128(n)
}

/// Field and reason of a problem, as a caller reads them.
pub(crate) type Told = (Option<String>, &'static str);

/// Field and reason of one problem.
pub(crate) fn at(field: &str, reason: &'static str) -> Told {
    (Some(field.to_owned()), reason)
}

/// The reason of a problem of the whole request.
pub(crate) const fn whole(reason: &'static str) -> Told {
    (None, reason)
}

/// A node's value in a definition.
pub(crate) fn set(definition: &mut Value, pointer: &str, value: Value) {
    *definition.pointer_mut(pointer).unwrap() = value;
}
