//! Events of a run. They are its history: its state is their fold.

use crate::LocalId;
pub use crate::case_event::{ItemCreated, ItemState, ItemType, Pending};
pub use crate::event_data::{
    CancelReason, ChoreographyViolated, CompensationStep, DecisionEvaluated, IncidentCode, OutcomeValues,
    Phase, Resolution, RunError, RunStarted, SubscriptionKind, TaskCreated, Trigger,
};
use crate::stage::Stage;
pub use crate::work::{BodyKind, CalledVersion, JobCreated, JobKind, RunCalled};
use heddle_bpmn_graph::choreography::{ChoreographyState, Exchange};
use heddle_bpmn_graph::{Element, Recurrence};
use heddle_cmmn::plan::{FileEvent, ItemEvent};
use heddle_kernel::{JobId, RunId, TaskId, Timestamp, UserId};
use heddle_settings::JobEnd;
pub use heddle_settings::ProtectionViolated;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One event of a run: `RunEvent` of the API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Place in the run's history, from 1, without gaps.
    pub sequence: u64,
    /// Kind of the event: members `type` and `data`.
    #[serde(flatten)]
    pub kind: EventKind,
    /// Instant of the event, in milliseconds.
    pub at: Timestamp,
    /// The id of the node concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<Arc<str>>,
    /// The node instance concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_instance_id: Option<LocalId>,
    /// The scope in which it happened; absent for the run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<LocalId>,
    /// The attempt of the node instance, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// The types of events with their data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all_fields = "camelCase")]
pub enum EventKind {
    /// The run began.
    #[serde(rename = "run.started")]
    RunStarted(Box<RunStarted>),
    /// No token and no active node is left.
    #[serde(rename = "run.completed")]
    RunCompleted {
        /// The process's variables at the end.
        output: Map<String, Value>,
    },
    /// An error that nothing caught ended the run.
    #[serde(rename = "run.failed")]
    RunFailed {
        /// The error.
        error: RunError,
    },
    /// The run was cancelled.
    #[serde(rename = "run.cancelled")]
    RunCancelled {
        /// Reason given for the cancellation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// User who cancelled the run; absent for the service itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// The run is to be cancelled: what has completed in it is compensated first.
    #[serde(rename = "run.cancelling")]
    RunCancelling {
        /// Reason given for the cancellation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// User who cancels the run; absent for the service itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// The tokens stand still until the run is resumed.
    #[serde(rename = "run.suspended")]
    RunSuspended {
        /// User who suspended the run; absent for the service itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// The run goes on.
    #[serde(rename = "run.resumed")]
    RunResumed {
        /// User who resumed the run; absent for the service itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// A node instance came to be and consumed its tokens.
    #[serde(rename = "node.activated")]
    NodeActivated {
        /// The BPMN element.
        #[serde(rename = "type")]
        element: Element,
        /// The element's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<Arc<str>>,
        /// The flows whose tokens it consumed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        via: Vec<Arc<str>>,
        /// Number of the instance within its multi-instance body or loop, from 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        iteration: Option<u64>,
        /// The completed node instance that it compensates.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compensates: Option<LocalId>,
    },
    /// A completed node instance is there again, with its variables: what is in it is compensated.
    #[serde(rename = "node.restored")]
    NodeRestored {
        /// The BPMN element.
        #[serde(rename = "type")]
        element: Element,
        /// The completed node instance.
        compensates: LocalId,
    },
    /// All that was in a restored node instance is compensated.
    #[serde(rename = "node.compensated")]
    NodeCompensated {
        /// The BPMN element.
        #[serde(rename = "type")]
        element: Element,
    },
    /// Data that the compensation of a node instance will need are kept: it is about to complete.
    #[serde(rename = "compensation.recorded")]
    CompensationRecorded {
        /// Whether its variables are kept.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        snapshot: bool,
    },
    /// A compensation began; the event stands at the node instance that threw it.
    #[serde(rename = "compensation.started")]
    CompensationStarted {
        /// The compensation.
        compensation_id: LocalId,
        /// Steps of it, one after another.
        steps: Vec<CompensationStep>,
        /// Whether the node instance waits for its end.
        waits: bool,
    },
    /// A compensation ended.
    #[serde(rename = "compensation.ended")]
    CompensationEnded {
        /// The compensation.
        compensation_id: LocalId,
        /// Whether all of it was done; else what threw it was withdrawn.
        completed: bool,
    },
    /// An escalation was thrown; nothing in this run catches it, or an event does.
    #[serde(rename = "escalation.thrown")]
    EscalationThrown {
        /// Code of the escalation.
        code: Arc<str>,
        /// Variables for whoever catches it.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        values: Map<String, Value>,
        /// Whether an event of this run catches it.
        caught: bool,
    },
    /// A node instance came to another stage of its life, at which it waits.
    #[serde(rename = "node.staged")]
    NodeStaged {
        /// The stage.
        stage: Stage,
    },
    /// A node instance became the body of a loop, of several instances, or of an ad-hoc sub-process's activities.
    #[serde(rename = "body.opened")]
    BodyOpened {
        /// Kind of the body.
        #[serde(default, skip_serializing_if = "BodyKind::is_instances")]
        kind: BodyKind,
        /// Instances that there will be; of a standard loop the most that there may be, absent for any number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
        /// Items of the collection, or ids of the activities that begin one after another; empty where a number says how
        /// many instances there are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<Value>,
    },
    /// A body came further; the event stands at the body. An instance completed, or the next activity of an ad-hoc
    /// sub-process begins, or its completion condition holds.
    #[serde(rename = "body.advanced")]
    BodyAdvanced {
        /// Number of the instance.
        iteration: u64,
        /// Whether it completed; of an ad-hoc sub-process, whether no further activity begins.
        completed: bool,
        /// Value that it gave for the output collection.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
    },
    /// The body of a loop or of several instances ended as it should.
    #[serde(rename = "body.closed")]
    BodyClosed {
        /// The BPMN element.
        #[serde(rename = "type")]
        element: Element,
        /// Whether a decision skipped it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        skipped: bool,
        /// Output that the decision gave.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
    },
    /// A node instance ended as it should.
    #[serde(rename = "node.completed")]
    NodeCompleted {
        /// The BPMN element.
        #[serde(rename = "type")]
        element: Element,
        /// Whether a decision skipped it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        skipped: bool,
        /// Output that the decision gave.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
    },
    /// A node instance was withdrawn.
    #[serde(rename = "node.cancelled")]
    NodeCancelled {
        /// The BPMN element.
        #[serde(rename = "type")]
        element: Element,
        /// Reason for the withdrawal.
        reason: CancelReason,
    },
    /// A token went onto a flow.
    #[serde(rename = "flow.taken")]
    FlowTaken {
        /// The flow.
        flow_id: Arc<str>,
        /// Id of the flow's target node.
        target_id: Arc<str>,
        /// Times that a flow which leads back has been taken within its scope, this one among them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        iteration: Option<u32>,
    },
    /// Tokens were removed from the flows of a scope.
    #[serde(rename = "tokens.withdrawn")]
    TokensWithdrawn {
        /// The flows, one entry per token.
        flows: Vec<Arc<str>>,
    },
    /// A sub-process's scope was opened; its id is the sub-process's node instance.
    #[serde(rename = "scope.opened")]
    ScopeOpened {},
    /// A sub-process's scope was closed and its variables dropped.
    #[serde(rename = "scope.closed")]
    ScopeClosed {},
    /// Variables of a scope got values.
    #[serde(rename = "variables.set")]
    VariablesSet {
        /// The variables.
        values: Map<String, Value>,
    },
    /// A timer was set.
    #[serde(rename = "timer.scheduled")]
    TimerScheduled {
        /// The timer.
        timer_id: LocalId,
        /// Instant from which it may fire.
        due_at: Timestamp,
        /// Recurrence; absent for a timer that fires once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cycle: Option<Box<Recurrence>>,
        /// Number of the trigger, from 0, of an event with several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trigger: Option<u32>,
    },
    /// A timer fired and is gone.
    #[serde(rename = "timer.fired")]
    TimerFired {
        /// The timer.
        timer_id: LocalId,
        /// Due time of the timer.
        due_at: Timestamp,
        /// Whether nothing came of it: an incident of an earlier slot of the cycle is still open at the event.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        skipped: bool,
    },
    /// A timer was withdrawn.
    #[serde(rename = "timer.cancelled")]
    TimerCancelled {
        /// The timer.
        timer_id: LocalId,
    },
    /// The run waits for a message, a signal or a condition.
    #[serde(rename = "subscription.opened")]
    SubscriptionOpened {
        /// The subscription.
        subscription_id: LocalId,
        /// Message or signal.
        kind: SubscriptionKind,
        /// Name of the message or signal.
        name: Arc<str>,
        /// The key that a message must carry; absent when any does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_key: Option<String>,
        /// Number of the trigger, from 0, of an event with several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trigger: Option<u32>,
    },
    /// The condition of a conditional event began or ceased to hold; where it begins to, the event occurs.
    #[serde(rename = "condition.changed")]
    ConditionChanged {
        /// The subscription.
        subscription_id: LocalId,
        /// Whether it holds now.
        holds: bool,
    },
    /// The run waits no longer for a message or a signal.
    #[serde(rename = "subscription.closed")]
    SubscriptionClosed {
        /// The subscription.
        subscription_id: LocalId,
    },
    /// A message reached its subscription.
    #[serde(rename = "message.received")]
    MessageReceived {
        /// Name of the message.
        name: Arc<str>,
        /// Correlation key of the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_key: Option<String>,
        /// Payload of the message.
        payload: Value,
    },
    /// A message is to be delivered.
    #[serde(rename = "message.sent")]
    MessageSent {
        /// Name of the message.
        name: Arc<str>,
        /// Correlation key of the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_key: Option<String>,
        /// Id of the model's correlation key of which that is the value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_key_id: Option<Arc<str>>,
        /// Payload of the message.
        payload: Value,
    },
    /// A choreography came further by a message that the run sent or received.
    #[serde(rename = "choreography.advanced")]
    ChoreographyAdvanced {
        /// The choreography.
        choreography_id: Arc<str>,
        /// The message, with its participants.
        exchange: Exchange,
        /// Knowledge of the choreography's monitor by now; lost, when there are more possibilities than it keeps.
        state: ChoreographyState,
    },
    /// A message that the run sent or received is out of a choreography's order.
    #[serde(rename = "choreography.violation")]
    ChoreographyViolated(Box<ChoreographyViolated>),
    /// A signal reached its subscription.
    #[serde(rename = "signal.received")]
    SignalReceived {
        /// Name of the signal.
        name: Arc<str>,
        /// Payload of the signal.
        payload: Value,
    },
    /// A signal is to be broadcast to all other runs that listen; what listens in this run has received it.
    #[serde(rename = "signal.sent")]
    SignalSent {
        /// Name of the signal.
        name: Arc<str>,
        /// Payload of the signal.
        payload: Value,
    },
    /// A human task was created.
    #[serde(rename = "task.created")]
    TaskCreated(Box<TaskCreated>),
    /// A human task got another assignee.
    #[serde(rename = "task.assigned")]
    TaskAssigned {
        /// The task.
        task_id: TaskId,
        /// User who works on it now; absent when nobody does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assignee: Option<String>,
        /// User who assigned it; absent for the service itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// A human task was completed.
    #[serde(rename = "task.completed")]
    TaskCompleted {
        /// The task.
        task_id: TaskId,
        /// The outcome that was chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<String>,
        /// The values that were given.
        values: Map<String, Value>,
        /// A comment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// User who completed it; absent for the service itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// A human task was withdrawn.
    #[serde(rename = "task.cancelled")]
    TaskCancelled {
        /// The task.
        task_id: TaskId,
    },
    /// A job for external workers was opened.
    #[serde(rename = "job.created")]
    JobCreated(Box<JobCreated>),
    /// A worker completed a job.
    #[serde(rename = "job.completed")]
    JobCompleted {
        /// The job.
        job_id: JobId,
        /// Variables that the worker gave.
        variables: Map<String, Value>,
    },
    /// A worker failed at a job.
    #[serde(rename = "job.failed")]
    JobFailed {
        /// The job.
        job_id: JobId,
        /// Reason that the worker gave.
        message: String,
        /// More about it, such as a stack trace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<String>,
        /// Attempts that are left.
        retries: u32,
        /// Instant before which no worker gets it again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
        /// Notes of the attempt for the next one, of work that the service does itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notes: Option<Value>,
    },
    /// A worker ended a job with a BPMN error.
    #[serde(rename = "job.errorThrown")]
    JobErrorThrown {
        /// The job.
        job_id: JobId,
        /// Code of the error.
        code: String,
        /// Message of the error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Variables that the worker gave.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        variables: Map<String, Value>,
    },
    /// A job of the service ended while its run was suspended; what comes of it follows when the run goes on.
    #[serde(rename = "job.kept")]
    JobKept {
        /// The job.
        job_id: JobId,
        /// End of the job.
        end: JobEnd,
    },
    /// A job got another number of attempts.
    #[serde(rename = "job.retriesSet")]
    JobRetriesSet {
        /// The job.
        job_id: JobId,
        /// Attempts that are left.
        retries: u32,
    },
    /// A check of the definition's protection found something in what goes into the node or comes out of it.
    #[serde(rename = "protection.violated")]
    ProtectionViolated(Box<ProtectionViolated>),
    /// A job was withdrawn.
    #[serde(rename = "job.cancelled")]
    JobCancelled {
        /// The job.
        job_id: JobId,
    },
    /// Another run is to be started, for which the node instance waits.
    #[serde(rename = "run.called")]
    RunCalled(Box<RunCalled>),
    /// A called run completed.
    #[serde(rename = "call.completed")]
    CallCompleted {
        /// The called run.
        run_id: RunId,
        /// Variables of the called run at its end.
        output: Map<String, Value>,
    },
    /// A called run ended otherwise, or could not be started.
    #[serde(rename = "call.failed")]
    CallFailed {
        /// The called run.
        run_id: RunId,
        /// Code of the error that ended it; absent where it was cancelled or could not be started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// A sentence.
        message: String,
    },
    /// A called run is to be cancelled, since nothing waits for it any more.
    #[serde(rename = "call.cancelled")]
    CallCancelled {
        /// The called run.
        run_id: RunId,
    },
    /// A business rule task evaluated its decision.
    #[serde(rename = "decision.evaluated")]
    DecisionEvaluated(Box<DecisionEvaluated>),
    /// A script task evaluated its script.
    #[serde(rename = "script.evaluated")]
    ScriptEvaluated {
        /// Result of the script.
        result: Value,
        /// Reasons for null in parts of the result.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasons: Vec<String>,
    },
    /// A node wrote a data store of the organisation.
    #[serde(rename = "dataStore.written")]
    DataStoreWritten {
        /// Name of the store.
        store: Arc<str>,
        /// Value of the store from now on.
        value: Value,
    },
    /// A decision was taken about the run or a node of it, and somebody said why; what it did comes behind.
    #[serde(rename = "decision.taken")]
    DecisionTaken {
        /// The decision, such as `retry`.
        decision: Arc<str>,
        /// Reason of the decision, or what to do better.
        feedback: String,
        /// User who took it; absent for the service itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// Something went wrong; the run waits for a decision.
    #[serde(rename = "incident.raised")]
    IncidentRaised {
        /// The incident.
        incident_id: LocalId,
        /// Kind of the incident.
        code: IncidentCode,
        /// Cause of the incident, as a sentence.
        message: String,
        /// Phase that a retry repeats.
        phase: Phase,
        /// Failure of the node for which its flow has been taken most often: `{code, message, nodeId, attempt}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Value>,
    },
    /// An incident is settled.
    #[serde(rename = "incident.resolved")]
    IncidentResolved {
        /// The incident.
        incident_id: LocalId,
        /// Settlement of the incident.
        resolution: Resolution,
        /// User who settled it; absent for the service itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// A case began; what every kind of run tells of its start comes before.
    #[serde(rename = "case.opened")]
    CaseOpened {
        /// Users who fill the case's roles, by the ids of the roles.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        people: BTreeMap<Arc<str>, Vec<String>>,
    },
    /// A case that had ended goes on.
    #[serde(rename = "case.reactivated")]
    CaseReactivated {
        /// User who reactivated it; absent for the service itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// A case that had ended is closed: nothing happens in it any more.
    #[serde(rename = "case.closed")]
    CaseClosed {
        /// User who closed it; absent for the service itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// An instance of an item of a case came to be: it is available, or, of the case plan model, active.
    #[serde(rename = "item.created")]
    ItemCreated(Box<ItemCreated>),
    /// An instance of an item of a case came to another state.
    #[serde(rename = "item.transitioned")]
    ItemTransitioned {
        /// State before.
        from: ItemState,
        /// State from now on.
        to: ItemState,
        /// Transition of the standard.
        event: ItemEvent,
        /// Criterion that caused it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        criterion: Option<Arc<str>>,
        /// User who caused it; absent for what follows of itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserId>,
    },
    /// A sentry is satisfied at one of the criteria that refer to it; the event stands at what the criterion is kept for.
    #[serde(rename = "sentry.satisfied")]
    SentrySatisfied {
        /// The criterion.
        criterion: Arc<str>,
        /// The sentry.
        sentry: Arc<str>,
        /// Whether it has an if-part alone, and is satisfied again when that holds anew.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_condition: bool,
    },
    /// The if-part by which alone a sentry was satisfied holds no longer.
    #[serde(rename = "sentry.reset")]
    SentryReset {
        /// The criterion.
        criterion: Arc<str>,
    },
    /// An on-part of a sentry occurred, and is remembered until the sentry is satisfied.
    #[serde(rename = "onPart.occurred")]
    OnPartOccurred {
        /// The criterion.
        criterion: Arc<str>,
        /// Number of the on-part in its sentry, from 0.
        part: u32,
    },
    /// A budget stopped a round: what of it is left to do when that is settled, behind what was left before. With nothing
    /// the round goes on.
    #[serde(rename = "round.pending")]
    RoundPending {
        /// Standard events and entries, in their order.
        left: Vec<Pending>,
    },
    /// A case file item changed.
    #[serde(rename = "caseFile.changed")]
    CaseFileChanged {
        /// The item.
        item: Arc<str>,
        /// Transition of the standard.
        event: FileEvent,
        /// Path of the value from the case file on: names, and numbers where there are several.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        path: Vec<Value>,
        /// Value from now on, or the reference; null where it is gone.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        value: Value,
    },
    /// A called run goes on, and nothing waits for it: the task is one that is not waited for.
    #[serde(rename = "call.detached")]
    CallDetached {
        /// The called run.
        run_id: RunId,
    },
}
