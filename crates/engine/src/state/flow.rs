//! State that BPMN adds to an instance: tokens and node instances.

use super::{Cancelling, CompensationState, Record, TaskState, first, is_first};
use crate::LocalId;
use crate::event::BodyKind;
use crate::stage::Stage;
use heddle_bpmn_graph::Element;
use heddle_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;

/// The flow of a run: where its tokens are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Flow {
    /// Tokens in the order in which they came; they mostly go in it, too.
    #[serde(rename = "t", default, skip_serializing_if = "VecDeque::is_empty")]
    pub tokens: VecDeque<Token>,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    pub active: Vec<NodeInstance>,
    /// Node instances that completed and can be compensated, in the order of completion.
    #[serde(rename = "r", default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<Record>,
    /// The compensations that run.
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub compensations: Vec<CompensationState>,
    /// Cancellation that comes when they are done.
    #[serde(rename = "x", default, skip_serializing_if = "Option::is_none")]
    pub cancelling: Option<Cancelling>,
}

impl Flow {
    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Removes the human tasks of a snapshot of before from their node instances.
    pub(crate) fn earlier_tasks(&mut self) -> Vec<TaskState> {
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
    /// Flows whose tokens a complex gateway consumed, until it is reset.
    #[serde(rename = "v", default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<Arc<str>>,
    /// Human task of a snapshot of before, when tasks stood in their node instances.
    #[serde(rename = "h", default, skip_serializing)]
    earlier_task: Option<Box<TaskState>>,
}

impl NodeInstance {
    /// Node instance that has just come to be.
    pub(crate) fn new(
        id: LocalId,
        node: Arc<str>,
        element: Element,
        scope: LocalId,
        since: Timestamp,
    ) -> Self {
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
            via: Vec::new(),
            earlier_task: None,
        }
    }
}

impl NodeInstance {
    /// Whether it waits for a timer of its own: at an asynchronous continuation, or before a flow that leads back.
    pub(crate) const fn waits_to_continue(&self) -> bool {
        matches!(self.stage, Stage::Before | Stage::After | Stage::Delay(..))
    }
}

/// State of the body of a loop, a multi-instance activity or an ad-hoc sub-process.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct BodyState {
    #[serde(rename = "k", default, skip_serializing_if = "BodyKind::is_instances")]
    pub kind: BodyKind,
    /// Items of a collection, as they were at the start, until all instances are started; or ids of the activities that
    /// begin one after another.
    #[serde(rename = "i", default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Value>,
    /// Instances that there will be; of a standard loop the most that there may be, absent for any number.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Instances that were started.
    #[serde(rename = "s", default)]
    pub started: u64,
    /// Instances that completed.
    #[serde(rename = "c", default)]
    pub completed: u64,
    /// Instances that were withdrawn.
    #[serde(rename = "w", default, skip_serializing_if = "super::is_zero")]
    pub withdrawn: u64,
    /// Estimated bytes of what the instances gave.
    #[serde(rename = "b", default, skip_serializing_if = "super::is_zero")]
    pub bytes: u64,
    /// Values that the instances gave, by their numbers.
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Value>,
}

impl BodyState {
    /// Instances that have begun and not ended.
    pub(crate) const fn running(&self) -> u64 {
        self.started.saturating_sub(self.completed).saturating_sub(self.withdrawn)
    }

    /// Whether there is an instance to be started.
    pub(crate) fn has_more(&self) -> bool {
        self.total.is_none_or(|total| self.started < total)
    }

    /// Variables of the body that tell about its instances: the names of the standard (Table 10.31) and those that other
    /// engines use.
    pub(crate) fn counters(&self) -> Vec<(&'static str, Value)> {
        match self.kind {
            BodyKind::AdHoc => Vec::new(),
            BodyKind::Loop => vec![("loopCounter", self.completed.into())],
            BodyKind::Instances => {
                let (total, running) = (self.total.unwrap_or_default(), self.running());
                vec![
                    ("numberOfInstances", total.into()),
                    ("numberOfActiveInstances", running.into()),
                    ("numberOfCompletedInstances", self.completed.into()),
                    ("numberOfTerminatedInstances", self.withdrawn.into()),
                    ("nrOfInstances", total.into()),
                    ("nrOfActiveInstances", running.into()),
                    ("nrOfCompletedInstances", self.completed.into()),
                ]
            }
        }
    }
}
