//! What BPMN adds to an instance: tokens and node instances.

use super::{CompensationState, Record, TaskState, first, is_first};
use crate::LocalId;
use heddle_bpmn_graph::Element;
use heddle_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The flow of a run: where its tokens are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Flow {
    #[serde(rename = "t", default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<Token>,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub active: Vec<NodeInstance>,
    /// What completed and can be compensated, in the order of completion.
    #[serde(rename = "r", default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<Record>,
    /// The compensations that run.
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub compensations: Vec<CompensationState>,
}

impl Flow {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Removes the human tasks of a snapshot of before from their node instances.
    pub fn earlier_tasks(&mut self) -> Vec<TaskState> {
        let lift = |own: &mut NodeInstance| {
            let mut task = *own.earlier_task.take()?;
            task.owner = own.id;
            Some(task)
        };
        self.active.iter_mut().filter_map(lift).collect()
    }
}

/// A token on a flow. At rest only joins hold tokens, or a budget has stopped them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Token {
    #[serde(rename = "f")]
    pub flow: Arc<str>,
    #[serde(rename = "s")]
    pub scope: LocalId,
    #[serde(rename = "a")]
    pub since: Timestamp,
    /// Node before which it stands; absent in runs from before it was kept.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Arc<str>>,
}

/// A node instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct NodeInstance {
    #[serde(rename = "i")]
    pub id: LocalId,
    #[serde(rename = "n")]
    pub node: Arc<str>,
    #[serde(rename = "e")]
    pub element: Element,
    #[serde(rename = "s")]
    pub scope: LocalId,
    #[serde(rename = "a")]
    pub since: Timestamp,
    #[serde(rename = "t", default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// Place in its life, where it waits at another than its work.
    #[serde(rename = "g", default, skip_serializing_if = "Stage::is_work")]
    pub stage: Stage,
    /// Number of the instance within its multi-instance body or loop, from 0. Its scope is then that of the body.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u64>,
    /// Loop or multi-instance body that the instance is.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Box<BodyState>>,
    /// The completed node instance that it compensates.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub compensates: Option<LocalId>,
    /// Whether it is that one again, open for the compensation of what is in it.
    #[serde(rename = "o", default, skip_serializing_if = "std::ops::Not::not")]
    pub restored: bool,
    /// Human task of a snapshot of before, when tasks stood in their node instances.
    #[serde(rename = "h", default, skip_serializing)]
    earlier_task: Option<Box<TaskState>>,
}

impl NodeInstance {
    /// Node instance that has just come to be.
    pub fn new(id: LocalId, node: Arc<str>, element: Element, scope: LocalId, since: Timestamp) -> Self {
        Self {
            id,
            node,
            element,
            scope,
            since,
            attempt: 1,
            stage: Stage::Work,
            iteration: None,
            body: None,
            compensates: None,
            restored: false,
            earlier_task: None,
        }
    }
}

impl NodeInstance {
    /// Whether it waits at an asynchronous continuation.
    pub const fn waits_to_continue(&self) -> bool {
        matches!(self.stage, Stage::Before | Stage::After)
    }
}

/// Stage of a node instance's life at which it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// Asynchronous continuation before it.
    Before,
    /// Job of the start listener at this place.
    StartListener(u32),
    /// Work of the node itself.
    #[default]
    Work,
    /// Job of the end listener at this place.
    EndListener(u32),
    /// Asynchronous continuation after it.
    After,
    /// Choice of the flows: all else is done.
    Depart,
}

impl Stage {
    /// Whether it is the node's own work.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(crate) const fn is_work(&self) -> bool {
        matches!(self, Self::Work)
    }
}

/// State of a loop or multi-instance body.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct BodyState {
    /// Items of a collection, as they were at the start; empty where a number says how many instances there are.
    #[serde(rename = "i", default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Value>,
    /// Instances that there will be; of a standard loop the most that there may be.
    #[serde(rename = "n", default)]
    pub total: u64,
    /// Instances that were started.
    #[serde(rename = "s", default)]
    pub started: u64,
    /// Instances that completed.
    #[serde(rename = "c", default)]
    pub completed: u64,
    /// What the instances gave, by their numbers.
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Value>,
}
