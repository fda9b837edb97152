//! Commands to a run, and the reasons for their rejection.

use crate::{Budget, LocalId, ProtectionViolated, Trigger};
use heddle_cmmn::plan::{FileEvent, ItemEvent};
use heddle_kernel::{JobId, RunId, TaskId, Timestamp, UserId};
use heddle_settings::JobEnd;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Context of a command, given from outside.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// The run.
    pub run_id: RunId,
    /// The present time; events carry it in milliseconds.
    pub now: Timestamp,
    /// The run's correlation key, taken at its start.
    pub correlation_key: Option<String>,
    /// User who asks; absent for the service itself.
    pub actor: Option<Actor>,
    /// The decisions of the definition, for business rule tasks.
    pub decisions: Option<heddle_dmn::Model>,
    /// Decisions of other definitions, by the names that tasks give them, each with the reason where there is none. A name that
    /// nobody has looked up yet is asked for by [`Rejection::DecisionNeeded`]; none where no other definition counts.
    pub elsewhere: Option<BTreeMap<String, Result<DecisionElsewhere, String>>>,
    /// Messages and signals thrown one for another before this step; 0 for what a user, a timer or a call from outside
    /// asks for.
    pub hops: u32,
    /// Budgets of the step and of the run.
    pub budget: Budget,
    /// Remark of the caller on the decision that the command carries out.
    pub remark: Option<Remark>,
    /// Present values of the organisation's data stores that the process uses, by the name of the store; one that was never
    /// written is absent.
    pub stores: BTreeMap<String, Value>,
    /// Ids or names of the case roles that the user fills; those of whom the case itself knows it count besides.
    pub roles: Vec<String>,
    /// Users who fill the roles of a case from its start on, by the ids of the roles.
    pub people: BTreeMap<String, Vec<String>>,
}

/// Decision of another definition.
#[derive(Debug, Clone)]
pub struct DecisionElsewhere {
    /// The model that it is in.
    pub model: heddle_dmn::Model,
    /// Id or name of it there.
    pub decision: String,
}

/// Remark on a decision, kept in the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The decision, such as `retry`.
    pub decision: &'static str,
    /// Reason of the decision, or what to do better.
    pub feedback: String,
}

/// User behind a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The user.
    pub user_id: UserId,
}

/// Command to a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Start it.
    Start {
        /// Trigger of the start.
        trigger: Trigger,
        /// Variables at the start.
        input: Map<String, Value>,
    },
    /// Complete a human task. The caller has validated the values against the form.
    CompleteTask {
        /// The task.
        task_id: TaskId,
        /// One of the task's outcomes.
        outcome: Option<String>,
        /// Merged into the variables, and the output of the node: with what the outcome sets.
        values: Map<String, Value>,
        /// Kept in the history.
        comment: Option<String>,
    },
    /// Complete a job.
    CompleteJob {
        /// The job.
        job_id: JobId,
        /// Given to the node: through its output mapping, else merged into the variables.
        variables: Map<String, Value>,
    },
    /// A worker failed at a job.
    FailJob {
        /// The job.
        job_id: JobId,
        /// Reason.
        message: String,
        /// More about it.
        details: Option<String>,
        /// Attempts that are left; absent is one fewer than before.
        retries: Option<u32>,
        /// Milliseconds until it may be tried again; absent is what the model says.
        retry_after_ms: Option<u64>,
        /// Notes of the attempt for the next one, of work that the service does itself; absent leaves those of before.
        notes: Option<Value>,
    },
    /// A worker ends a job with a BPMN error.
    ThrowJobError {
        /// The job.
        job_id: JobId,
        /// Code of the error.
        code: String,
        /// Message of the error.
        message: Option<String>,
        /// Set where the error is caught.
        variables: Map<String, Value>,
    },
    /// Do what a job's end or failure is, behind what protection found at it.
    Guarded {
        /// The job.
        job_id: JobId,
        /// Findings of the checks, in order.
        hits: Vec<ProtectionViolated>,
        /// Command that decides on the job.
        then: Box<Command>,
    },
    /// End a job of the service: at once, or when its suspended run goes on.
    EndJob {
        /// The job.
        job_id: JobId,
        /// End of the job.
        end: JobEnd,
    },
    /// Give a job another number of attempts.
    SetJobRetries {
        /// The job.
        job_id: JobId,
        /// Attempts that are left.
        retries: u32,
    },
    /// A called run completed.
    CompleteCall {
        /// The called run.
        run_id: RunId,
        /// Variables of the called run at its end.
        output: Map<String, Value>,
    },
    /// A called run ended otherwise, or could not be started.
    FailCall {
        /// The called run.
        run_id: RunId,
        /// Code of the error that ended it; absent where it was cancelled or could not be started.
        code: Option<String>,
        /// A sentence.
        message: String,
        /// Variables of the called run at its end.
        output: Map<String, Value>,
    },
    /// A called run threw an escalation that nothing in it catches; it goes on.
    EscalateCall {
        /// The called run.
        run_id: RunId,
        /// Code of the escalation.
        code: String,
        /// Set where the escalation is caught.
        variables: Map<String, Value>,
    },
    /// Give a human task to somebody, or to nobody.
    AssignTask {
        /// The task.
        task_id: TaskId,
        /// Assignee from now on; absent for nobody.
        assignee: Option<String>,
    },
    /// A timer is due.
    FireTimer {
        /// The timer.
        timer_id: LocalId,
    },
    /// A message for a subscription.
    DeliverMessage {
        /// The subscription.
        subscription_id: LocalId,
        /// An object's members are merged into the variables; it is the output of the node.
        payload: Value,
    },
    /// A signal for a subscription.
    DeliverSignal {
        /// The subscription.
        subscription_id: LocalId,
        /// Payload of the signal; used as that of a message.
        payload: Value,
    },
    /// A receive task without a message goes on.
    Continue {
        /// The waiting node instance.
        node_instance_id: LocalId,
        /// Payload; used as that of a message.
        payload: Value,
    },
    /// End the run.
    Cancel {
        /// Kept in the history.
        reason: Option<String>,
    },
    /// End the run when what has completed in it is compensated; again, or with [`Command::Cancel`], at once.
    CancelCompensating {
        /// Kept in the history.
        reason: Option<String>,
    },
    /// Let nothing happen until it is resumed.
    Suspend,
    /// Go on.
    Resume,
    /// Try again what an incident stopped.
    Retry {
        /// The incident.
        incident_id: LocalId,
        /// Set before the next attempt.
        variables: Map<String, Value>,
    },
    /// Go on as if the node had completed; a join goes on with the tokens that it has.
    Skip {
        /// An incident or a waiting node instance.
        target: SkipTarget,
        /// Merged into the variables, and the output of the node.
        output: Map<String, Value>,
    },
    /// Withdraw a node instance and activate another node of the same scope.
    Move {
        /// Node instance that is withdrawn.
        node_instance_id: LocalId,
        /// The id of the node that is activated.
        target_node: String,
    },
    /// Let an item of a case make a transition of the standard.
    Transition {
        /// The item.
        target: ItemTarget,
        /// The transition.
        transition: ItemEvent,
    },
    /// Put a discretionary item into the plan of a case.
    PlanItem {
        /// Stage or human task with the planning table; absent is the only active one that has the item.
        host: Option<ItemTarget>,
        /// Id of the discretionary item.
        item: String,
    },
    /// Change a case file item.
    SetFile {
        /// Id of it, or its name.
        item: String,
        /// Transition of the standard.
        event: FileEvent,
        /// Numbers of the instances, from 0, where there may be several: of those around it, outermost first, and its own.
        at: Vec<u32>,
        /// Value, or reference.
        value: Value,
    },
    /// Let a listener of a case occur with data.
    RaiseEvent {
        /// The listener.
        target: ItemTarget,
        /// Members that are called as case file items are change those, the others become variables.
        payload: Value,
    },
    /// Complete a case by hand.
    CompleteCase,
    /// Close a case that has ended or is suspended.
    CloseCase,
    /// Let a case that has ended go on.
    ReactivateCase,
    /// Set variables.
    SetVariables {
        /// The scope; absent is the process's own.
        scope: Option<LocalId>,
        /// The variables.
        values: Map<String, Value>,
    },
}

impl Command {
    /// Command that ends a job so.
    pub(crate) fn ending(job_id: JobId, end: JobEnd) -> Self {
        match end {
            JobEnd::Completed { variables } => Self::CompleteJob { job_id, variables },
            JobEnd::Failed { message, retries, retry_after_ms, notes } => {
                Self::FailJob { job_id, message, details: None, retries, retry_after_ms, notes }
            }
            JobEnd::Error { code, message, variables } => {
                Self::ThrowJobError { job_id, code, message: Some(message), variables }
            }
        }
    }
}

/// Item of a case that a command is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemTarget {
    /// An instance of an item.
    Instance(LocalId),
    /// The instance of the item of this id from which the transition is possible: the first one, if there are several.
    Item(String),
}

/// Target of a skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipTarget {
    /// Incident, with the node that it stopped.
    Incident(LocalId),
    /// A waiting node instance.
    Node(LocalId),
}

/// Kind of answer that a rejection gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RejectionKind {
    /// There is no such thing.
    NotFound,
    /// Conflict with the run's state.
    Conflict,
    /// The command itself is wrong.
    Invalid,
    /// The user may not do that.
    Forbidden,
}

/// Rejection of a command. The run is as it was before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The run has not begun.
    #[error("the run has not been started")]
    NotStarted,
    /// The run has begun before.
    #[error("the run has been started already")]
    AlreadyStarted,
    /// The run is over.
    #[error("the run has ended")]
    AlreadyEnded,
    /// The run is suspended.
    #[error("the run is suspended")]
    Suspended,
    /// The item of a case for which it is, is suspended; the case need not be.
    #[error("the item `{0}` is suspended")]
    ItemSuspended(String),
    /// The run is not suspended.
    #[error("the run is not suspended")]
    NotSuspended,
    /// The process cannot be started without naming one of its start events.
    #[error("the process has no single start event without a trigger: name one of {0:?}")]
    StartNotDetermined(Vec<String>),
    /// There is no such start event.
    #[error("`{0}` is not a start event of the process that this trigger can start")]
    UnknownStart(String),
    /// None of the conditions by which the process starts holds.
    #[error("none of the conditions by which the process starts holds for this input: {0:?}")]
    NoConditionHolds(Vec<String>),
    /// A condition by which the process starts is neither true nor false for the input.
    #[error("the start event `{node}`: {message}")]
    WrongCondition {
        /// The start event.
        node: String,
        /// Value that the condition gives.
        message: String,
    },
    /// None of the input sets of the process is whole.
    #[error("no input set of the process is whole: it needs {0:?}")]
    NoInputSet(Vec<String>),
    /// There is no such open human task.
    #[error("there is no open human task {0}")]
    UnknownTask(TaskId),
    /// There is no such open job.
    #[error("there is no open job {0}")]
    UnknownJob(JobId),
    /// The run waits for no such called run.
    #[error("the run does not wait for the run {0}")]
    UnknownCall(RunId),
    /// The task does not know the outcome, or needs one.
    #[error("the outcome must be one of {allowed:?}")]
    UnknownOutcome {
        /// The task's outcomes; empty when it has none.
        allowed: Vec<String>,
    },
    /// The timer has fired or was withdrawn.
    #[error("there is no timer {0}")]
    UnknownTimer(LocalId),
    /// The timer may not fire yet.
    #[error("the timer is due at {0}")]
    NotDue(Timestamp),
    /// The subscription was used or withdrawn.
    #[error("there is no subscription {0}")]
    UnknownSubscription(LocalId),
    /// There is no such incident.
    #[error("there is no open incident {0}")]
    UnknownIncident(LocalId),
    /// There is no such node instance or scope.
    #[error("there is no active node instance {0}")]
    UnknownInstance(LocalId),
    /// The node instance does not wait for that.
    #[error("the node instance {0} does not wait for this")]
    NotWaiting(LocalId),
    /// The incident cannot be skipped.
    #[error("the incident {0} cannot be skipped")]
    CannotSkip(LocalId),
    /// The token cannot be moved there.
    #[error("a token cannot be moved to `{0}`")]
    InvalidTarget(String),
    /// The state belongs to another version of the process.
    #[error("the process has no element `{0}`")]
    WrongGraph(String),
    /// The command is for the other kind of instance: for a case, or for a run of a process.
    #[error("this is not for {0}")]
    OtherKind(&'static str),
    /// There is no such item.
    #[error("the case has no item `{0}` that this could be about")]
    UnknownItem(String),
    /// There is no such case file item.
    #[error("the case file has no item `{0}`")]
    UnknownFileItem(String),
    /// The item cannot make the transition from its state.
    #[error("the item `{item}` is {state}: the transition `{transition}` is not possible")]
    WrongTransition {
        /// The item.
        item: String,
        /// State of it.
        state: &'static str,
        /// The transition.
        transition: String,
    },
    /// The stage or case cannot be completed.
    #[error("the stage `{item}` cannot be completed: {waits_for:?} must be done first")]
    NotCompletable {
        /// The stage.
        item: String,
        /// Items that are active, or required and not done.
        waits_for: Vec<String>,
    },
    /// The user fills none of the roles that may do that.
    #[error("`{item}` is for the roles {roles:?}")]
    NotAllowed {
        /// The item.
        item: String,
        /// Roles of which one is needed.
        roles: Vec<String>,
    },
    /// The item cannot be planned.
    #[error("the item `{item}` cannot be planned: {reason}")]
    NotPlannable {
        /// The item.
        item: String,
        /// Reason.
        reason: String,
    },
    /// The case file item cannot be changed so.
    #[error("the case file item `{item}` cannot be changed so: {reason}")]
    WrongFileChange {
        /// The case file item.
        item: String,
        /// Reason.
        reason: String,
    },
    /// A task means a decision of another definition, which is to be looked up before the command is given again.
    #[error("the decision `{0}` is to be looked up first")]
    DecisionNeeded(String),
    /// The values that the command brings are more than the run may hold.
    #[error("the budget `{budget}` of the run allows {most} and not {value}")]
    TooLarge {
        /// Name of the budget.
        budget: &'static str,
        /// The most that it allows.
        most: u64,
        /// Amount that it would have come to.
        value: u64,
    },
    /// The run has used up one of its budgets and takes nothing more.
    #[error("the run has used up its budget `{budget}` of {most}")]
    Full {
        /// Name of the budget.
        budget: &'static str,
        /// The most that it allows.
        most: u64,
    },
}

impl Rejection {
    /// Kind of answer that the rejection gets.
    #[must_use]
    pub const fn kind(&self) -> RejectionKind {
        match self {
            Self::UnknownTask(_)
            | Self::UnknownJob(_)
            | Self::UnknownCall(_)
            | Self::UnknownTimer(_)
            | Self::UnknownSubscription(_)
            | Self::UnknownIncident(_)
            | Self::UnknownItem(_)
            | Self::UnknownFileItem(_)
            | Self::DecisionNeeded(_)
            | Self::UnknownInstance(_) => RejectionKind::NotFound,
            Self::NotAllowed { .. } => RejectionKind::Forbidden,
            Self::StartNotDetermined(_)
            | Self::NoConditionHolds(_)
            | Self::NoInputSet(_)
            | Self::WrongCondition { .. }
            | Self::UnknownStart(_)
            | Self::UnknownOutcome { .. }
            | Self::TooLarge { .. }
            | Self::OtherKind(_)
            | Self::WrongFileChange { .. }
            | Self::InvalidTarget(_) => RejectionKind::Invalid,
            Self::NotStarted
            | Self::AlreadyStarted
            | Self::AlreadyEnded
            | Self::Suspended
            | Self::ItemSuspended(_)
            | Self::NotSuspended
            | Self::NotDue(_)
            | Self::NotWaiting(_)
            | Self::CannotSkip(_)
            | Self::WrongTransition { .. }
            | Self::NotCompletable { .. }
            | Self::NotPlannable { .. }
            | Self::Full { .. }
            | Self::WrongGraph(_) => RejectionKind::Conflict,
        }
    }
}
