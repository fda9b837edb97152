//! Work that can be compensated, and the compensations that run.

use super::{NodeInstance, ScopeState, State};
use crate::LocalId;
use crate::event::{BodyKind, CompensationStep, Event};
use heddle_kernel::UserId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A node instance that completed and can be compensated. Those of a scope that has closed are the content of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    #[serde(rename = "i")]
    pub id: LocalId,
    #[serde(rename = "n")]
    pub node: Arc<str>,
    /// The scope in which it completed.
    #[serde(rename = "s")]
    pub scope: LocalId,
    /// Whether it is one of the instances of a body.
    #[serde(rename = "r", default, skip_serializing_if = "std::ops::Not::not")]
    pub iteration: bool,
    /// Whether it is a body.
    #[serde(rename = "b", default, skip_serializing_if = "std::ops::Not::not")]
    pub body: bool,
    /// Variables of its own scope, as they were when it completed.
    #[serde(rename = "v", default, skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
}

/// Cancellation of a run that waits for its compensation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cancelling {
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserId>,
}

/// A compensation that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CompensationState {
    #[serde(rename = "i")]
    pub id: LocalId,
    /// The node instance that waits for it; none where nothing does.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<LocalId>,
    /// The scope in which it was thrown.
    #[serde(rename = "s")]
    pub scope: LocalId,
    /// Steps that are left, the next one last.
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<CompensationStep>,
    /// The node instance that does the present step.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub running: Option<LocalId>,
}

impl State {
    /// Keeps what the compensation of an active node instance will need; with its variables, where handlers see them.
    pub(crate) fn record(&mut self, id: LocalId, snapshot: bool) {
        let Some(own) = self.instance(id) else { return };
        let kept = self.scope(id).filter(|_| snapshot).map(|scope| scope.variables.clone());
        let record = Record {
            id,
            node: own.node.clone(),
            scope: own.scope,
            iteration: own.iteration.is_some(),
            body: own.body.as_ref().is_some_and(|body| body.kind != BodyKind::AdHoc),
            variables: kept.unwrap_or_default(),
        };
        self.flow.records.push(record);
    }

    /// The kept node instance of this id. What is asked for came last, mostly.
    pub(crate) fn recorded(&self, id: LocalId) -> Option<&Record> {
        self.flow.records.iter().rev().find(|record| record.id == id)
    }

    /// Whether something that completed in the scope can be compensated.
    pub(crate) fn has_records(&self, scope: LocalId) -> bool {
        self.flow.records.iter().rev().any(|record| record.scope == scope)
    }

    /// Takes the next step of the compensation that waits for it; gives the variables that were kept for it.
    pub(crate) fn take_step(&mut self, record: LocalId, node: &str, by: LocalId) -> Map<String, Value> {
        let next = |step: &CompensationStep| step.record == record && *step.node_id == *node;
        let waits = self.flow.compensations.iter_mut();
        let mut waits = waits.filter(|own| own.running.is_none());
        let Some(own) = waits.find(|own| own.steps.last().is_some_and(next)) else { return Map::new() };
        own.steps.pop();
        own.running = Some(by);
        // The handler of a sub-process comes behind what is in it.
        let again = own.steps.last().is_some_and(|step| step.record == record);
        let Some(place) = self.flow.records.iter().rposition(|own| own.id == record) else {
            return Map::new();
        };
        if again {
            let kept = self.flow.records.get_mut(place).map(|own| std::mem::take(&mut own.variables));
            return kept.unwrap_or_default();
        }
        self.flow.records.remove(place).variables
    }

    /// Opens the scope of a completed node instance again, for the compensation of what is in it.
    pub(crate) fn restore(&mut self, own: NodeInstance, record: LocalId) {
        let (id, parent, node) = (own.id, own.scope, own.node.clone());
        // Instances of a task hold nothing that can be compensated; a body of tasks holds them.
        let holds = own.element.is_sub_process() || self.recorded(record).is_some_and(|own| own.body);
        let variables = self.take_step(record, &node, id);
        self.flow.active.push(own);
        let place = self.scopes.partition_point(|other| other.id < id);
        let scope =
            ScopeState { id, node: Some(node), parent: Some(parent), variables, loops: Default::default() };
        self.scopes.insert(place, scope);
        if holds {
            for inner in self.flow.records.iter_mut().filter(|inner| inner.scope == record) {
                inner.scope = id;
            }
        }
    }

    /// The present step of a compensation is done, if the node instance did one.
    pub(crate) fn step_done(&mut self, id: LocalId) {
        for own in self.flow.compensations.iter_mut().filter(|own| own.running == Some(id)) {
            own.running = None;
        }
    }

    /// Forgets what completed in a scope whose own end cannot be compensated.
    pub(crate) fn forget(&mut self, scope: LocalId) {
        let mut gone = vec![scope];
        while let Some(scope) = gone.pop() {
            self.flow.records.retain(|record| {
                let goes = record.scope == scope;
                // Only what is a scope itself holds others.
                if goes {
                    gone.push(record.id);
                }
                !goes
            });
            if self.flow.records.is_empty() {
                return;
            }
        }
    }

    /// A compensation begins.
    pub(crate) fn begin_compensation(
        &mut self,
        event: &Event,
        id: LocalId,
        steps: &[CompensationStep],
        waits: bool,
    ) {
        self.flow.compensations.push(CompensationState {
            id,
            owner: event.node_instance_id.filter(|_| waits),
            scope: event.scope_id.unwrap_or(LocalId::ROOT),
            steps: steps.iter().rev().cloned().collect(),
            running: None,
        });
    }

    pub(crate) fn end_compensation(&mut self, id: LocalId) {
        self.flow.compensations.retain(|own| own.id != id);
    }
}
