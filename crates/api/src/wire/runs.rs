//! Runs, their events, and decisions.

use super::duration::Duration;
use heddle_kernel::{RunId, Timestamp, WorkflowId};
use serde_json::Value;

use super::envelope::{AnyJson, Instant, JsonObject};
use super::tasks::HumanTask;
use crate::contract::{json_bodies, path_params};

words! {
    /// Type of an event of a run or of a case.
    enum RunEventType {
        /// Run: started.
        RunStarted = "run.started",
        /// Run: completed.
        RunCompleted = "run.completed",
        /// Run: failed.
        RunFailed = "run.failed",
        /// Run: to be cancelled when what was done is compensated.
        RunCancelling = "run.cancelling",
        /// Run: cancelled.
        RunCancelled = "run.cancelled",
        /// Run: suspended.
        RunSuspended = "run.suspended",
        /// Run: resumed.
        RunResumed = "run.resumed",
        /// Node instance: activated.
        NodeActivated = "node.activated",
        /// Node instance: came to another stage of its life, at which it waits.
        NodeStaged = "node.staged",
        /// Node instance: completed.
        NodeCompleted = "node.completed",
        /// Node instance: cancelled.
        NodeCancelled = "node.cancelled",
        /// Body of a loop, of several instances or of an ad-hoc sub-process: opened.
        BodyOpened = "body.opened",
        /// Body: came further.
        BodyAdvanced = "body.advanced",
        /// Body of a loop or of several instances: closed.
        BodyClosed = "body.closed",
        /// Completed node instance: there again, for the compensation of what is in it.
        NodeRestored = "node.restored",
        /// Restored node instance: all that was in it is compensated.
        NodeCompensated = "node.compensated",
        /// Completed node instance: can be compensated.
        CompensationRecorded = "compensation.recorded",
        /// Compensation: started.
        CompensationStarted = "compensation.started",
        /// Compensation: ended.
        CompensationEnded = "compensation.ended",
        /// Escalation: thrown.
        EscalationThrown = "escalation.thrown",
        /// Sequence flow: taken.
        FlowTaken = "flow.taken",
        /// Tokens: withdrawn.
        TokensWithdrawn = "tokens.withdrawn",
        /// Scope: opened.
        ScopeOpened = "scope.opened",
        /// Scope: closed.
        ScopeClosed = "scope.closed",
        /// Variables: set.
        VariablesSet = "variables.set",
        /// Timer: scheduled.
        TimerScheduled = "timer.scheduled",
        /// Timer: fired.
        TimerFired = "timer.fired",
        /// Timer: cancelled.
        TimerCancelled = "timer.cancelled",
        /// Subscription: opened.
        SubscriptionOpened = "subscription.opened",
        /// Subscription: closed.
        SubscriptionClosed = "subscription.closed",
        /// Condition of an event: begins or ceases to hold.
        ConditionChanged = "condition.changed",
        /// Message: received.
        MessageReceived = "message.received",
        /// Message: sent.
        MessageSent = "message.sent",
        /// Choreography: came further by a message of the run.
        ChoreographyAdvanced = "choreography.advanced",
        /// Message of the run: out of a choreography's order.
        ChoreographyViolation = "choreography.violation",
        /// Signal: received.
        SignalReceived = "signal.received",
        /// Signal: sent.
        SignalSent = "signal.sent",
        /// Human task: created.
        TaskCreated = "task.created",
        /// Human task: assigned.
        TaskAssigned = "task.assigned",
        /// Human task: completed.
        TaskCompleted = "task.completed",
        /// Human task: cancelled.
        TaskCancelled = "task.cancelled",
        /// Job: created.
        JobCreated = "job.created",
        /// Job: completed.
        JobCompleted = "job.completed",
        /// Job: failed.
        JobFailed = "job.failed",
        /// Job: ended with a BPMN error.
        JobErrorThrown = "job.errorThrown",
        /// Job: ended while its run was suspended.
        JobKept = "job.kept",
        /// Job: given another number of attempts.
        JobRetriesSet = "job.retriesSet",
        /// Protection: found something.
        ProtectionViolated = "protection.violated",
        /// Job: cancelled.
        JobCancelled = "job.cancelled",
        /// Decision: evaluated.
        DecisionEvaluated = "decision.evaluated",
        /// Script: evaluated.
        ScriptEvaluated = "script.evaluated",
        /// Data store: written.
        DataStoreWritten = "dataStore.written",
        /// Run: called by a call activity of this one.
        RunCalled = "run.called",
        /// Called run: completed.
        CallCompleted = "call.completed",
        /// Called run: ended otherwise, or not started.
        CallFailed = "call.failed",
        /// Called run: cancelled by this one.
        CallCancelled = "call.cancelled",
        /// Decision about a run: taken.
        DecisionTaken = "decision.taken",
        /// Incident: raised.
        IncidentRaised = "incident.raised",
        /// Incident: resolved.
        IncidentResolved = "incident.resolved",
        /// Called run or case: goes on, and nobody waits for it.
        CallDetached = "call.detached",
        /// Case: opened.
        CaseOpened = "case.opened",
        /// Case that had ended: goes on.
        CaseReactivated = "case.reactivated",
        /// Case that had ended: closed for good.
        CaseClosed = "case.closed",
        /// Instance of a plan item: created.
        ItemCreated = "item.created",
        /// Instance of a plan item: came to another state.
        ItemTransitioned = "item.transitioned",
        /// On-part of a sentry: occurred.
        OnPartOccurred = "onPart.occurred",
        /// Sentry: satisfied.
        SentrySatisfied = "sentry.satisfied",
        /// Condition of a sentry: holds no longer.
        SentryReset = "sentry.reset",
        /// Round that a budget stopped: what of it is left to do.
        RoundPending = "round.pending",
        /// Case file item: changed.
        CaseFileChanged = "caseFile.changed",
    }

    /// Lifecycle state of a run.
    enum RunState {
        /// Accepted, not begun.
        Queued = "queued",
        /// A token can move.
        Running = "running",
        /// Every token waits.
        Waiting = "waiting",
        /// Ended by itself.
        Completed = "completed",
        /// Ended by an error.
        Failed = "failed",
        /// Ended from outside.
        Cancelled = "cancelled",
        /// Held.
        Suspended = "suspended",
    }

    /// Kind of trigger that began a run.
    enum TriggerKind {
        /// A caller.
        Manual = "manual",
        /// A message.
        Message = "message",
        /// A signal.
        Signal = "signal",
        /// A timer.
        Timer = "timer",
        /// A call activity of another run.
        Call = "call",
    }

    /// Kind of thing that a node waits for.
    enum WaitingKind {
        /// A human task.
        HumanTask = "humanTask",
        /// A timer.
        Timer = "timer",
        /// A message.
        Message = "message",
        /// A signal.
        Signal = "signal",
        /// A condition on the run's own data.
        Condition = "condition",
        /// Somebody who looks at an incident.
        Incident = "incident",
        /// A decision.
        Decision = "decision",
        /// A job, a child run or something else that goes on by itself.
        Job = "job",
        /// Tokens on the other flows into a join.
        Join = "join",
    }

    /// Moment up to which the answer to a start waits.
    enum WaitFor {
        /// Not at all: the state that the first transaction reached.
        None = "none",
        /// Until nothing can move.
        FirstWait = "firstWait",
        /// Until the run has ended.
        Completion = "completion",
    }

    /// Decision about a run, or about a node, a task or an incident of it.
    enum Decision {
        /// Yes.
        Approve = "approve",
        /// No.
        Reject = "reject",
        /// Once more, with feedback.
        Revise = "revise",
        /// Try again.
        Retry = "retry",
        /// Go on as if it were done.
        Skip = "skip",
        /// Go on.
        Continue = "continue",
        /// End a suspension.
        Resume = "resume",
        /// Hold the run.
        Suspend = "suspend",
        /// Put the token on another node.
        Move = "move",
    }

}

path_params! {
    /// Path of a run.
    RunPath { workflow_id "workflowId": WorkflowId, run_id "runId": RunId }
}

response! {
    /// A run: one process instance.
    struct Run {
        /// Stable identifier.
        id: String,
        /// Workflow that the run is of.
        workflow_id: String,
        /// The version it runs, for good.
        #[schema(minimum = 1)]
        version: i32,
        /// The process within the definition.
        process_id: String,
        /// Lifecycle state of the run.
        state: RunState,
        /// Whether somebody has to look at it.
        has_incident: bool,
        /// Grows by one with every commit; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
        /// The caller's own name for it.
        #[schema(required = true)]
        business_key: Option<String>,
        /// Correlation key by which messages find it.
        #[schema(required = true)]
        correlation_key: Option<String>,
        /// The run whose call activity started it; null where a case did.
        #[schema(required = true)]
        parent_run_id: Option<String>,
        /// The run, or the case, at the top; its own id without a parent.
        root_run_id: String,
        /// The case it belongs to: the nearest one whose task started it, or a run on the way to it.
        #[schema(required = true)]
        case_id: Option<String>,
        /// Trigger that began it.
        trigger: RunTrigger,
        /// The input it was started with; not in lists.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = AnyJson, nullable = false, required = false)]
        input: Option<Value>,
        /// Output that it ended with, null before; not in lists.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = AnyJson, nullable = false, required = false)]
        output: Option<Value>,
        /// Variables of the run; with `include=variables`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Object, nullable = false, required = false)]
        variables: Option<JsonObject>,
        /// Error that it failed with; null unless it failed.
        #[schema(required = true)]
        error: Option<RunError>,
        /// Elements at which its tokens are.
        active_nodes: Vec<ActiveNode>,
        /// Incidents that are open.
        incidents: Vec<Incident>,
        /// Human tasks that are open.
        human_tasks: Vec<HumanTask>,
        /// Runs that it started; with `include=children`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        children: Option<Vec<RunChild>>,
        /// Usage so far.
        usage: RunUsage,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// User who started it, or whose message or signal did; null when no user did.
        #[schema(required = true)]
        created_by: Option<String>,
        /// Instant of the first step; null before it.
        #[schema(required = true, value_type = Option<Instant>)]
        started_at: Option<Timestamp>,
        /// Instant of the last change.
        #[schema(value_type = Instant)]
        updated_at: Timestamp,
        /// Instant of the end; null before it.
        #[schema(required = true, value_type = Option<Instant>)]
        ended_at: Option<Timestamp>,
    }

    /// Trigger of a run.
    struct RunTrigger {
        /// Kind of trigger.
        kind: TriggerKind,
        /// The message's or signal's name.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        name: Option<String>,
        /// The start event.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        node_id: Option<String>,
        /// The event that brought it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        event_id: Option<String>,
    }

    /// Error that a run failed with.
    struct RunError {
        /// The BPMN error code or a machine word.
        code: String,
        /// One sentence.
        message: String,
        /// Element at which the run failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        node_id: Option<String>,
    }

    /// A place where a token is.
    struct ActiveNode {
        /// The element's id.
        node_id: String,
        /// The instance of the element in this run; null for a join that waits for its other tokens.
        #[schema(required = true)]
        node_instance_id: Option<String>,
        /// The element's type, such as `userTask`.
        r#type: String,
        /// State of the instance.
        state: String,
        /// Since when.
        #[schema(value_type = Instant)]
        since: Timestamp,
        /// Which turn of a loop or instance of a multi-instance, from 0; null outside of one.
        #[schema(required = true, minimum = 0)]
        iteration: Option<i64>,
        /// Thing that it waits for; null while it moves.
        #[schema(required = true)]
        waiting_for: Option<WaitingFor>,
    }

    /// Thing that a node waits for.
    struct WaitingFor {
        /// The kind of thing.
        kind: WaitingKind,
        /// Name of the message or signal.
        #[schema(required = true)]
        name: Option<String>,
        /// Correlation key that a message must match.
        #[schema(required = true)]
        correlation_key: Option<String>,
        /// Instant at which it is due.
        #[schema(required = true, value_type = Option<Instant>)]
        due_at: Option<Timestamp>,
        /// The human task.
        #[schema(required = true)]
        task_id: Option<String>,
        /// Which attempt, from 1.
        #[schema(required = true, minimum = 0)]
        attempt: Option<i64>,
        /// Decisions that are possible.
        options: Vec<String>,
    }

    /// Something that somebody has to look at.
    struct Incident {
        /// Id of the incident within the run.
        id: String,
        /// Element at which it was raised.
        node_id: String,
        /// The instance of the element.
        #[schema(required = true)]
        node_instance_id: Option<String>,
        /// A machine word.
        code: String,
        /// One sentence.
        message: String,
        /// Number of attempts.
        #[schema(minimum = 0)]
        attempts: i64,
        /// Instant at which it was raised.
        #[schema(value_type = Instant)]
        raised_at: Timestamp,
        /// Decisions that are possible.
        options: Vec<String>,
    }

    /// A run or a case that a run started.
    struct RunChild {
        /// The run, or the case.
        id: String,
        /// Workflow that the run is of; absent for a case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        workflow_id: Option<String>,
        /// Case type that the case is of; absent for a run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_type_id: Option<String>,
        /// The call activity's id.
        node_id: String,
        /// Lifecycle state, of a case in the words of runs.
        state: RunState,
    }

    /// Usage of a run, counted in events.
    struct RunUsage {
        /// Events so far.
        #[schema(minimum = 0)]
        events: i64,
    }

    /// Something that happened in a run: the history is the event log itself.
    struct RunEvent {
        /// Counted from 1 without a gap.
        #[schema(minimum = 1)]
        sequence: i64,
        /// Type of the event, such as `node.activated`.
        r#type: String,
        /// Instant of the event.
        #[schema(value_type = Instant)]
        at: Timestamp,
        /// The element.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        node_id: Option<String>,
        /// The instance of the element.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        node_instance_id: Option<String>,
        /// The scope it happened in.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        scope_id: Option<String>,
        /// Which attempt of the instance, from 2; absent for the first.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false, minimum = 2)]
        attempt: Option<i64>,
        /// More about it, by type.
        #[schema(value_type = AnyJson)]
        data: Value,
    }
}

response! {
    /// Something that happened in a run, as the stream over all runs tells it.
    struct OrganizationEvent {
        /// Run that it happened in.
        run_id: String,
        /// Workflow that the run is of.
        workflow_id: String,
        /// Counted in the run from 1 without a gap.
        #[schema(minimum = 1)]
        sequence: i64,
        /// Type of the event, such as `node.activated`.
        r#type: String,
        /// Instant of the event.
        #[schema(value_type = Instant)]
        at: Timestamp,
        /// The element.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        node_id: Option<String>,
        /// The instance of the element.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        node_instance_id: Option<String>,
        /// The scope it happened in.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        scope_id: Option<String>,
        /// Which attempt of the instance, from 2; absent for the first.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false, minimum = 2)]
        attempt: Option<i64>,
        /// More about it, by type.
        #[schema(value_type = AnyJson)]
        data: Value,
    }
}

words! {
    /// The order of the list of all runs.
    enum AllRunsSort {
        /// Newest first.
        Newest = "-createdAt",
        /// Those with an incident first, each part newest first.
        Incidents = "-hasIncident",
    }
}

request! {
    /// Which runs of all workflows.
    struct AllRunsQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// The order; newest first when absent.
        sort: Option<AllRunsSort>,
        /// Only those of this workflow.
        #[schema(min_length = 1, max_length = 200)]
        workflow_id: Option<String>,
        /// Only those in this state.
        state: Option<RunState>,
        /// Only those with an incident, or only the others.
        has_incident: Option<bool>,
        /// Only those with this business key.
        #[schema(min_length = 1, max_length = 200)]
        business_key: Option<String>,
        /// Only those with this correlation key.
        #[schema(min_length = 1, max_length = 200)]
        correlation_key: Option<String>,
        /// Only those that wait at this element.
        #[schema(min_length = 1, max_length = 500)]
        node_id: Option<String>,
        /// Only those that this user started, by id; `me` is the caller.
        #[schema(min_length = 1, max_length = 200)]
        started_by: Option<String>,
        /// Only those created at or after this instant.
        #[schema(value_type = Option<Instant>)]
        from: Option<Timestamp>,
        /// Only those created before this instant.
        #[schema(value_type = Option<Instant>)]
        to: Option<Timestamp>,
        /// Only those that have waited since before this instant.
        #[schema(value_type = Option<Instant>)]
        waiting_before: Option<Timestamp>,
    }

    /// Which events of all runs, and of all cases that the caller may read: an event has `runId` and `workflowId`, or
    /// `caseId` and `caseTypeId`. The stream begins with what is committed from now on, or behind the event that
    /// `Last-Event-ID` names.
    struct AllEventsQuery {
        /// Only those of the runs of this workflow, or of the cases of this case type.
        #[schema(min_length = 1, max_length = 200)]
        workflow_id: Option<String>,
        /// Only those of these types, comma-separated.
        types: Option<Vec<RunEventType>>,
    }
}

request! {
    /// A start.
    #[schema(examples(json!({"input": {"days": 3}})))]
    struct StartRun {
        /// The variables to start with.
        #[schema(value_type = Object, nullable = false, required = false)]
        input: Option<JsonObject>,
        /// The version; the active one when absent.
        #[schema(nullable = false, minimum = 1)]
        version: Option<i32>,
        /// The process within the definition; the primary or only one when absent.
        #[schema(nullable = false, min_length = 1, max_length = 500)]
        process_id: Option<String>,
        /// A name of the caller's own.
        #[schema(min_length = 1, max_length = 200)]
        business_key: Option<String>,
        /// Correlation key by which messages find the run.
        #[schema(min_length = 1, max_length = 200)]
        correlation_key: Option<String>,
        /// The start event, where there are several.
        #[schema(nullable = false, min_length = 1, max_length = 500)]
        start_node_id: Option<String>,
        /// Moment up to which the answer waits; `none` when absent.
        #[schema(nullable = false)]
        wait: Option<WaitFor>,
        /// The longest wait for `completion` in milliseconds; 10,000 when absent. No other `wait` takes it.
        #[schema(nullable = false, minimum = 1, maximum = 60000)]
        timeout_ms: Option<u32>,
    }

    /// A decision.
    #[schema(examples(json!({"decision": "suspend"})))]
    struct DecideRun {
        /// Decision; those that are taken stand in `activeNodes[].waitingFor.options`. One takes the further members that
        /// it can use, and no others.
        decision: Decision,
        /// The element it is about.
        #[schema(nullable = false, min_length = 1, max_length = 500)]
        node_id: Option<String>,
        /// The instance of the element it is about.
        #[schema(nullable = false, min_length = 1, max_length = 500)]
        node_instance_id: Option<String>,
        /// The incident it is about.
        #[schema(nullable = false, min_length = 1, max_length = 500)]
        incident_id: Option<String>,
        /// Reason of the decision, or what to do better; kept in the run's history and in the audit log.
        #[schema(nullable = false, max_length = 4000)]
        feedback: Option<String>,
        /// Variables to set with it.
        #[schema(value_type = Object, nullable = false, required = false)]
        variables: Option<JsonObject>,
        /// Element that a token is moved to.
        #[schema(nullable = false, min_length = 1, max_length = 500)]
        target: Option<String>,
    }

    /// Which runs; newest first.
    struct RunListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those in this state.
        state: Option<RunState>,
        /// Only those with an incident, or only the others.
        has_incident: Option<bool>,
        /// Only those of this version.
        #[schema(minimum = 1)]
        version: Option<i32>,
        /// Only those that wait at this element.
        #[schema(min_length = 1, max_length = 500)]
        node_id: Option<String>,
        /// Only those with this correlation key.
        #[schema(min_length = 1, max_length = 200)]
        correlation_key: Option<String>,
        /// Only those that have waited longer: an ISO 8601 duration of days and time, such as `PT1H`.
        #[schema(value_type = Option<String>, pattern = "^P(?=.)([0-9]{1,6}D)?(T(?=.)([0-9]{1,6}H)?([0-9]{1,6}M)?([0-9]{1,6}S)?)?$")]
        waiting_longer_than: Option<Duration>,
    }

    /// Extent of the answer about a run.
    struct RunQuery {
        /// Further members, comma-separated.
        include: Option<Vec<RunInclude>>,
    }

    /// Manner in which a run is ended.
    struct CancelRunQuery {
        /// Reason of the cancellation, or of the removal; kept in the audit log, and that of a cancellation in the run's
        /// history, too.
        #[schema(max_length = 4000)]
        reason: Option<String>,
        /// Whether what was done is compensated first; the run ends when that is done.
        compensate: Option<bool>,
        /// Whether an ended run is removed with its history.
        purge: Option<bool>,
    }

    /// Which events.
    struct RunEventsQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those behind this sequence number.
        #[schema(minimum = 0)]
        after: Option<i64>,
        /// Only those of these types, comma-separated.
        types: Option<Vec<RunEventType>>,
        /// Only those of this element.
        #[schema(min_length = 1, max_length = 500)]
        node_id: Option<String>,
    }

    /// Start of an event stream.
    struct RunStreamQuery {
        /// Behind this sequence number; the header `Last-Event-ID` wins.
        #[schema(minimum = 0)]
        after: Option<i64>,
    }
}

words! {
    /// A member that is told on request.
    enum RunInclude {
        /// The variables.
        Variables = "variables",
        /// The runs that it started.
        Children = "children",
    }
}

json_bodies!(StartRun, DecideRun);
