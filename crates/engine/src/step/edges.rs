//! Flows that lead back within bounds, and flows for the failure of their source.

use super::error::Thrown;
use super::leave::Completion;
use super::{At, Machine, StepFault};
use crate::event::{CancelReason, EventKind, IncidentCode, Phase, TaskCreated};
use crate::state::Stage;
use crate::{LocalId, Rejection};
use heddle_bpmn_graph::{AtMaximum, BackEdge, FlowIx, NodeIx, Schedule, Side};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Code of the error that a flow throws which has been taken most often.
pub(super) const LOOP_LIMIT: &str = "LOOP_LIMIT";

/// Way out of a node.
pub(super) enum Way {
    /// These flows.
    Flows(Vec<FlowIx>),
    /// The flow that leads back, for the time of this number.
    Back(FlowIx, u32),
    /// Another node, since the flow that leads back has been taken most often.
    Exit(NodeIx),
    /// None yet: the node waits for a review, or has failed.
    Stays,
}

/// Failure of a node that goes along a flow for it.
pub(super) struct NodeFailure {
    pub instance: LocalId,
    pub code: IncidentCode,
    pub message: String,
    pub phase: Phase,
}

impl Machine<'_> {
    fn leads_back(&self, ix: NodeIx) -> bool {
        self.graph.outgoing(ix).iter().any(|&flow| self.graph.flow(flow).back.is_some())
    }

    /// The way out of a node whose work is done, or that failed. A flow that leads back is taken alone.
    pub(super) fn way(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        ending: &Completion,
        failed: bool,
    ) -> Result<Way, StepFault> {
        let scope = self.instance(id)?.scope;
        if !self.leads_back(ix) {
            return self.choose_but(ix, scope, &[], failed).map(Way::Flows);
        }
        let graph = self.graph;
        let outgoing = graph.outgoing(ix);
        let at = |place: u32| usize::try_from(place).ok().and_then(|place| outgoing.get(place)).copied();
        let mut spent = Vec::new();
        let anew = self.anew.take_if(|own| *own == id).is_some();
        match self.instance(id)?.stage {
            Stage::Delay(place, times) => {
                if let Some(flow) = at(place) {
                    return Ok(Way::Back(flow, times));
                }
            }
            Stage::Review(place) => {
                let outcome = self.state.outputs.get(&*graph.node(ix).id).and_then(|own| own.get("outcome"));
                let outcome = outcome.and_then(Value::as_str).filter(|_| !ending.skipped);
                match (outcome, at(place)) {
                    (Some("revise"), Some(flow)) => return Ok(Way::Back(flow, 1)),
                    (Some("reject"), Some(flow)) if anew => return Ok(Way::Back(flow, 1)),
                    (Some("reject"), Some(flow)) => return self.fail_loop(ix, id, flow),
                    (_, flow) => spent.extend(flow),
                }
            }
            Stage::Before
            | Stage::StartListener(_)
            | Stage::Work
            | Stage::EndListener(_)
            | Stage::After
            | Stage::Depart => {}
        }
        loop {
            let flows = self.choose_but(ix, scope, &spent, failed)?;
            let Some(&flow) = flows.iter().find(|&&flow| graph.flow(flow).back.is_some()) else {
                return Ok(Way::Flows(flows));
            };
            let Some(back) = &graph.flow(flow).back else { return Ok(Way::Flows(flows)) };
            let times = if anew { 0 } else { self.times(scope, flow) };
            if times < back.maximum {
                return Ok(Way::Back(flow, times + 1));
            }
            match back.at_maximum {
                AtMaximum::Continue => spent.push(flow),
                AtMaximum::Exit(target) => return Ok(Way::Exit(target)),
                AtMaximum::Fail => return self.fail_loop(ix, id, flow),
                AtMaximum::HumanReview => {
                    self.review(ix, id, flow)?;
                    return Ok(Way::Stays);
                }
            }
        }
    }

    /// Times that a flow has been taken within its scope.
    fn times(&self, scope: LocalId, flow: FlowIx) -> u32 {
        let own = self.state.scope(scope).and_then(|own| own.loops.get(&self.graph.flow(flow).id));
        own.copied().unwrap_or_default()
    }

    /// A flow that has been taken most often throws its error; where nothing catches that, it is an incident.
    fn fail_loop(&mut self, ix: NodeIx, id: LocalId, flow: FlowIx) -> Result<Way, StepFault> {
        let (own, node) = (self.graph.flow(flow), &self.graph.node(ix).id);
        let most = own.back.as_ref().map_or(0, |back| back.maximum);
        let message = format!("the flow `{}` out of `{node}` has been taken {most} times", own.id);
        let thrown = Thrown { code: LOOP_LIMIT.into(), message: Some(message.clone()), values: Map::new() };
        if self.error_at(id, thrown)? {
            return Ok(Way::Stays);
        }
        Err(StepFault::Incident(IncidentCode::LoopLimit, message))
    }

    /// Asks a human what becomes of a flow that has been taken most often.
    fn review(&mut self, ix: NodeIx, id: LocalId, flow: FlowIx) -> Result<(), StepFault> {
        let place = self.place_of(ix, flow);
        let (_, at) = self.at(id)?;
        self.close_waits(id, false);
        self.withdraw_work(id, at);
        self.emit(at, EventKind::NodeStaged { stage: Stage::Review(place) });
        let node = self.graph.node(ix);
        // The number is none of the counter's: a human task of the node's own has its instance's.
        let number = LocalId((1 << 48) + self.state.sequence);
        let created = TaskCreated {
            task_id: number.task(self.cx.run_id),
            name: node.name.clone(),
            assignee: None,
            candidate_users: Vec::new(),
            candidate_groups: Vec::new(),
            due_at: None,
            follow_up_at: None,
            priority: None,
            form: None,
            outcomes: ["approve", "revise", "reject"].map(Arc::from).to_vec(),
            outcome_values: BTreeMap::new(),
            reasons: Vec::new(),
        };
        self.emit(at, EventKind::TaskCreated(Box::new(created)));
        Ok(())
    }

    fn place_of(&self, ix: NodeIx, flow: FlowIx) -> u32 {
        let place = self.graph.outgoing(ix).iter().position(|own| *own == flow);
        place.and_then(|place| u32::try_from(place).ok()).unwrap_or_default()
    }

    /// Takes a flow that leads back: with its data, and after its pause, during which the node instance stays.
    pub(super) fn take_back(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        flow: FlowIx,
        times: u32,
        ending: Completion,
    ) -> Result<(), StepFault> {
        let (_, at) = self.at(id)?;
        let scope = at.scope.unwrap_or(LocalId::ROOT);
        let graph = self.graph;
        let Some(back) = &graph.flow(flow).back else { return Ok(()) };
        if !matches!(self.instance(id)?.stage, Stage::Delay(..)) {
            let values = self.carried(ix, scope, back, times);
            self.admit_own(scope, &values)?;
            self.emit(At::scope(scope), EventKind::VariablesSet { values });
            if back.delay_seconds > 0 {
                self.close_waits(id, false);
                self.withdraw_work(id, at);
                self.empty_scope(id, CancelReason::Completed)?;
                let stage = Stage::Delay(self.place_of(ix, flow), times);
                self.emit(at, EventKind::NodeStaged { stage });
                let due_at = self.now.plus_seconds(back.delay_seconds);
                let at = self.wait_at(ix, id);
                self.schedule(at, Schedule { due_at, cycle: None });
                return Ok(());
            }
        }
        self.finish(id, ending)?;
        self.put_for(flow, scope, Some(times));
        self.ready.push_back((flow, scope));
        Ok(())
    }

    /// The variable `loop` of the next iteration.
    fn carried(&self, ix: NodeIx, scope: LocalId, back: &BackEdge, times: u32) -> Map<String, Value> {
        let mut own = Map::new();
        own.insert("iteration".to_owned(), times.into());
        own.insert("maximumIterations".to_owned(), back.maximum.into());
        let carry = &back.carry;
        if carry.previous_output {
            let entry = self.state.outputs.get(&*self.graph.node(ix).id);
            let output = entry.and_then(|entry| entry.get("output")).cloned().unwrap_or_default();
            own.insert("previousOutput".to_owned(), output);
        }
        if carry.previous_error {
            own.insert("previousError".to_owned(), self.failure.clone().unwrap_or_default());
        }
        if carry.reviewer_feedback {
            own.insert("reviewerFeedback".to_owned(), self.feedback.clone().unwrap_or_default());
        }
        if carry.validation_feedback {
            // What a form refuses never comes to the run: these are findings of protection and of a node's own schema.
            own.insert("validationFeedback".to_owned(), Value::Array(self.violations.clone()));
        }
        if !carry.variables.is_empty() {
            let variables = self.variables(scope);
            let value =
                |name: &Arc<str>| (name.to_string(), variables.find(name).cloned().unwrap_or_default());
            own.insert("variables".to_owned(), Value::Object(carry.variables.iter().map(value).collect()));
        }
        Map::from_iter([("loop".to_owned(), Value::Object(own))])
    }

    /// Goes on at another node, over a flow to it where there is one.
    pub(super) fn exit(&mut self, ix: NodeIx, scope: LocalId, target: NodeIx) -> Result<(), Rejection> {
        let leads = |flow: &&FlowIx| self.graph.flow(**flow).target == target;
        match self.graph.outgoing(ix).iter().find(leads) {
            Some(&flow) => {
                self.take(flow, scope);
                Ok(())
            }
            None => self.activate(target, scope, &[]),
        }
    }

    /// Whether a failure of a node is for one of its outgoing flows rather than an incident.
    pub(super) fn fails_along(&self, at: At, code: IncidentCode) -> bool {
        let failure = match code {
            IncidentCode::ExpressionError
            | IncidentCode::DecisionError
            | IncidentCode::JobFailed
            | IncidentCode::UnhandledError
            | IncidentCode::CallFailed => true,
            // The node itself has not failed.
            IncidentCode::LoopLimit
            | IncidentCode::SentryLoop
            | IncidentCode::NoMatchingFlow
            | IncidentCode::ActivationLimit
            | IncidentCode::Limit
            | IncidentCode::Deadlock => false,
        };
        let (Some(node), Some(_)) = (at.node.filter(|_| failure), at.instance) else { return false };
        self.graph.node(node).element.is_activity() && self.has_failure_flow(node)
    }

    /// Whether a flow out of a node is for its failure.
    pub(super) fn has_failure_flow(&self, ix: NodeIx) -> bool {
        let side = |&flow: &FlowIx| self.graph.flow(flow).condition.as_ref().map(|own| &own.side);
        self.graph.outgoing(ix).iter().any(|flow| matches!(side(flow), Some(Side::Failure | Side::Always)))
    }

    /// Lets a failed node leave along the flows for its failure; where none of them holds, it is an incident after all.
    pub(super) fn fail_over(&mut self, failure: NodeFailure) -> Result<(), Rejection> {
        if self.state.instance(failure.instance).is_none() {
            return Ok(());
        }
        if self.halted {
            let (_, at) = self.at(failure.instance)?;
            self.raise_now(at, failure.code, &failure.message, failure.phase);
            return Ok(());
        }
        let text = serde_json::to_value(failure.code).ok();
        let code = text.as_ref().and_then(Value::as_str).unwrap_or_default();
        // The failure of one instance of a body is that of the activity.
        let id = self.activity_of(failure.instance)?;
        if !self.fail_along(id, code, &failure.message)? {
            let (_, at) = self.at(failure.instance)?;
            self.raise_now(at, failure.code, &failure.message, failure.phase);
        }
        Ok(())
    }

    /// Lets an activity that failed leave along the flows for its failure; answers whether one of them holds.
    pub(super) fn fail_along(&mut self, id: LocalId, code: &str, message: &str) -> Result<bool, Rejection> {
        let (ix, at) = self.at(id)?;
        if !self.graph.node(ix).element.is_activity() || !self.has_failure_flow(ix) {
            return Ok(false);
        }
        let node = &*self.graph.node(ix).id;
        let error = json!({
            "code": code, "message": message, "nodeId": node, "attempt": at.attempt.unwrap_or(1)
        });
        self.failure = Some(error.clone());
        let left = match self.way(ix, id, &Completion::default(), true) {
            Ok(Way::Stays) => return Ok(true),
            Ok(way) => {
                self.empty_scope(id, CancelReason::Error)?;
                let told =
                    [("errorCode".to_owned(), code.into()), ("errorMessage".to_owned(), message.into())];
                self.set_values(at.scope.unwrap_or(LocalId::ROOT), Map::from_iter(told));
                let ending = Completion { skipped: false, output: Some(json!({ "error": error })) };
                self.follow(ix, id, way, ending)
            }
            Err(StepFault::Incident(IncidentCode::NoMatchingFlow, _)) => return Ok(false),
            Err(fault) => Err(fault),
        };
        match left {
            Ok(()) => {}
            Err(StepFault::Rejected(rejection)) => return Err(rejection),
            Err(StepFault::Incident(code, message)) => {
                let failure = (code == IncidentCode::LoopLimit).then_some(error);
                self.raise_for(at, code, &message, Phase::Leave, failure);
            }
        }
        Ok(true)
    }

    /// Lets a node whose flow for its failure has been taken most often leave along that flow once more, which is counted
    /// anew. Where no flow for it holds any more, it is an incident of that failure.
    pub(super) fn fail_anew(&mut self, id: LocalId, failure: &Value) -> Result<(), Rejection> {
        let text = |member: &str| failure.get(member).and_then(Value::as_str).unwrap_or_default();
        let (code, message) = (text("code"), text("message"));
        if !self.fail_along(id, code, message)? {
            let (_, at) = self.at(id)?;
            let known = serde_json::from_value(Value::from(code)).unwrap_or(IncidentCode::UnhandledError);
            self.raise_now(at, known, message, Phase::Enter);
        }
        Ok(())
    }

    /// Ends a node instance and follows its way out.
    pub(super) fn follow(
        &mut self,
        ix: NodeIx,
        id: LocalId,
        way: Way,
        ending: Completion,
    ) -> Result<(), StepFault> {
        let scope = self.instance(id)?.scope;
        match way {
            Way::Stays => {}
            Way::Back(flow, times) => self.take_back(ix, id, flow, times, ending)?,
            Way::Exit(target) => {
                self.finish(id, ending)?;
                self.exit(ix, scope, target)?;
            }
            Way::Flows(flows) => {
                self.finish(id, ending)?;
                if flows.is_empty() {
                    self.touched.push(scope);
                }
                let times = self.graph.node(ix).quantities.completion;
                for flow in flows {
                    for _ in 0..times {
                        self.take(flow, scope);
                    }
                }
            }
        }
        Ok(())
    }
}
