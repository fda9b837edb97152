//! The executable plan of a case: what the engine runs.
//!
//! [`compile`](crate::compile) turns each case of a definition into a [`CasePlan`] of dense indexes, or says for every
//! element that is not executed why not. A plan holds no state: cases of the same version share it.

use heddle_feel::Expression;
use heddle_settings::{
    CallTask, DecisionTask, JobTask, Mappings, ScriptTask, Setting, Target, TimerDefinition, UserTask,
};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Index of an item in [`CasePlan::items`].
pub type ItemIx = u32;
/// Index of a sentry in [`CasePlan::sentries`].
pub type SentryIx = u32;
/// Index of a criterion in [`CasePlan::criteria`].
pub type CriterionIx = u32;
/// Index of a case file item in [`CasePlan::file`].
pub type FileIx = u32;

/// The case plan model's own item.
pub const PLAN_MODEL: ItemIx = 0;

/// One startable case, compiled.
#[derive(Debug)]
pub struct CasePlan {
    /// Id of the case.
    pub id: Arc<str>,
    /// Name of the case.
    pub name: Option<String>,
    /// The case plan model, then every plan item and discretionary item, each behind the stage around it.
    pub items: Vec<Item>,
    /// Criteria of all items, in document order.
    pub criteria: Vec<Criterion>,
    /// Sentries.
    pub sentries: Vec<Sentry>,
    /// Case file items, each behind the one around it.
    pub file: Vec<FileItem>,
    /// Case roles, in document order.
    pub roles: Vec<Role>,
    /// Parameters of the case (clause 5.2.1): names of variables that a caller may give, and that it gets back.
    pub inputs: Vec<Parameter>,
    /// Output parameters of the case.
    pub outputs: Vec<Parameter>,
    /// Events from outside that start the case: `eventType`, and the variable that the payload goes into, if any.
    pub starts: Vec<StartEvent>,
    /// Index of items by the id of the plan item or discretionary item; the case plan model by its own.
    pub item_ids: HashMap<Arc<str>, ItemIx>,
    /// Index of case file items by id, and by name where the name is no id.
    pub file_ids: HashMap<Arc<str>, FileIx>,
    /// Criteria that have an on-part on a plan item's transition, by that item: what is looked at when it moves.
    pub on_item: HashMap<ItemIx, Vec<CriterionIx>>,
    /// Criteria that have an on-part on a case file item's transition, by that item.
    pub on_file: HashMap<FileIx, Vec<CriterionIx>>,
    /// Criteria whose sentry has an if-part that is not decided by its text: looked at in every round.
    pub on_data: Vec<CriterionIx>,
    /// Rules, in a case that is reactivated, of items of which their own say nothing; an extension. Absent where the model
    /// has no such rule at any item either: what waits for events and criteria is there anew then.
    pub reactivation: Option<Reactivation>,
}

impl CasePlan {
    /// Decisions of its tasks, each with the definition of the task: by the name that its text gives, or none where that is
    /// known when the task is done.
    pub fn named_decisions(&self) -> impl Iterator<Item = (Option<String>, &str)> {
        self.items.iter().filter_map(|item| {
            let Work::Decision { decision } = &item.work else { return None };
            let name = match &decision.decision {
                Setting::Literal(Value::String(name)) => Some(name.clone()),
                Setting::Literal(_) => return None,
                Setting::Expression(expression) => match expression.constant() {
                    Some(heddle_feel::Value::String(name)) => Some(name.to_string()),
                    Some(_) | None => None,
                },
            };
            Some((name, &*item.definition))
        })
    }
}

/// A plan item, a discretionary item or the case plan model.
#[derive(Debug)]
pub struct Item {
    /// Id of the plan item or discretionary item; of the case plan model its own id.
    pub id: Arc<str>,
    /// Id of the definition.
    pub definition: Arc<str>,
    /// Name, of the item or else of the definition.
    pub name: Option<Arc<str>>,
    /// Stage around it; none for the case plan model.
    pub parent: Option<ItemIx>,
    /// Work of the item.
    pub work: Work,
    /// Entry criteria, any of which is enough.
    pub entry: Vec<CriterionIx>,
    /// Exit criteria, any of which is enough.
    pub exit: Vec<CriterionIx>,
    /// Item control: each rule of the item, or else the default of its definition.
    pub control: Control,
    /// Discretionary: not there until somebody plans it.
    pub discretionary: Option<Discretion>,
    /// Children of a stage: plan items and discretionary items, in document order.
    pub children: Vec<ItemIx>,
    /// Planning table of a stage, of the case plan model or of a human task: items that may be planned into it.
    pub table: Vec<ItemIx>,
    /// Demands on it by vendors' words: see each member.
    pub extra: Extra,
}

/// Work of an item.
#[derive(Debug)]
pub enum Work {
    /// Case plan model or stage.
    Stage {
        /// Completes by itself when nothing active or required is left (clause 8.6.1).
        auto_complete: bool,
    },
    /// Milestone.
    Milestone {
        /// Variable that is set to true when it occurs; an extension.
        variable: Option<Arc<str>>,
    },
    /// Timer event listener.
    Timer {
        /// The timer; FEEL over the case's variables where it is no ISO 8601 text.
        timer: Arc<TimerDefinition>,
        /// Starts to run with this transition rather than at once.
        start: Option<OnPart>,
    },
    /// User event listener.
    UserEvent {
        /// Ids of the case roles that may raise it; empty is everyone who may work on the case.
        roles: Vec<Arc<str>>,
    },
    /// Listener for an event from outside: `eventType` of a case event, which is the name of a message; an extension.
    Message {
        /// Name of the message.
        name: Setting,
        /// Correlation key; absent is that of the case.
        key: Option<Setting>,
    },
    /// Listener for a signal; an extension.
    Signal {
        /// Name of the signal.
        name: Setting,
    },
    /// Listener for changes of a variable; an extension. Occurs when the variable gets another value.
    Variable {
        /// Name of the variable.
        name: Arc<str>,
        /// Kind of change: `create`, `update`, `delete`, `update-create`; absent is any.
        change: Option<Arc<str>>,
    },
    /// Listener that is there while the case is completed, and reactivates it when it occurs; an extension.
    Reactivation {
        /// Condition of being there; absent is always.
        available: Option<Expression>,
    },
    /// Human task.
    Human {
        /// People, dates, form and outcomes.
        task: Arc<UserTask>,
        /// Id of the case role of its performer. Where the task names nobody, its candidate groups are the role's name.
        performer: Option<Arc<str>>,
    },
    /// Process task: a run of a workflow.
    Process {
        /// The run.
        call: Arc<CallTask>,
    },
    /// Case task: another case.
    Case {
        /// The case.
        call: Arc<CallTask>,
    },
    /// Decision task: a decision of the definition or of a workflow.
    Decision {
        /// The decision.
        decision: Arc<DecisionTask>,
    },
    /// Job of an external worker: service, http and send tasks; an extension.
    Job {
        /// The job.
        job: Arc<JobTask>,
    },
    /// Script; an extension.
    Script {
        /// The script.
        script: Arc<ScriptTask>,
    },
    /// A task without a type: somebody completes it, or, where it does not block, it completes at once.
    Task,
}

/// Item control (clause 5.4.11): the rules of an item. Absent is no; present without a condition is yes.
#[derive(Debug, Clone, Default)]
pub struct Control {
    /// Whether its stage cannot complete without it; asked when it is created, and kept.
    pub required: Rule,
    /// Whether somebody must start it by hand; asked when its entry criterion is met.
    pub manual: Rule,
    /// Whether it comes again; asked when its entry criterion fires again, or, without one, when it ends.
    pub repetition: Rule,
    /// Manner in which it repeats; an extension.
    pub repeats: Repeats,
    /// Whether its stage may complete as if it were not there; an extension.
    pub completion_neutral: Option<Rule>,
    /// Whether it holds its parent back; an extension.
    pub parent_completion: ParentCompletion,
    /// Fate of it in a case that is reactivated; an extension.
    pub reactivation: Option<Box<Reactivation>>,
}

/// Rules of what becomes of an item in a case that was reactivated; an extension. The first that holds counts, in this
/// order; where none does, the item is there as in a new case.
#[derive(Debug, Clone, Default)]
pub struct Reactivation {
    /// Whether it begins at once, whatever its entry criteria wait for.
    pub activate: Rule,
    /// Whether it does not come to be.
    pub ignore: Rule,
    /// Whether it is there as in a new case.
    pub anew: Rule,
}

/// A rule of item control.
#[derive(Debug, Clone, Default)]
pub enum Rule {
    /// The rule is not there.
    #[default]
    No,
    /// The rule is there without a condition.
    Yes,
    /// The rule holds when its condition does.
    When(Box<Condition>),
}

/// Condition of a rule, an applicability rule or an if-part.
#[derive(Debug, Clone)]
pub struct Condition {
    /// FEEL over the case's variables, `caseFile` and, where there is a context, its item's value.
    pub expression: Expression,
    /// Case file item whose value is the context (clause 5.4.10).
    pub context: Option<FileIx>,
    /// The text as the model has it.
    pub text: Arc<str>,
}

/// Manner in which an item repeats; extensions of the repetition rule.
#[derive(Debug, Clone, Default)]
pub struct Repeats {
    /// Most instances that there are at once: none is any number.
    pub max_instances: Option<u32>,
    /// Collection of which each item makes one instance.
    pub collection: Option<Setting>,
    /// Variable of an instance that has its item.
    pub element_variable: Option<Arc<str>>,
    /// Variable of an instance that has its number, from 0.
    pub index_variable: Option<Arc<str>>,
    /// Variable of an instance that counts, from 1.
    pub counter_variable: Option<Arc<str>>,
}

/// Whether an item holds its stage back; an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ParentCompletion {
    /// As the standard says.
    #[default]
    Standard,
    /// The item never holds it back.
    Ignore,
    /// The item does not while it is available.
    IgnoreIfAvailable,
    /// The item does not when it has completed once.
    IgnoreAfterFirstCompletion,
    /// The item does not while it is available or enabled.
    IgnoreIfAvailableOrEnabled,
    /// The item does not while it is available or enabled, when it has completed once.
    IgnoreAfterFirstCompletionIfAvailableOrEnabled,
}

/// Discretionary item (clause 5.4.9).
#[derive(Debug, Clone, Default)]
pub struct Discretion {
    /// Rules that must all hold for it to be planned.
    pub applicable: Vec<Condition>,
    /// Ids of the case roles that may plan it; empty is everyone who may work on the case. Those of its planning table and of the
    /// tables around it count too, each of which must be met.
    pub roles: Vec<Vec<Arc<str>>>,
}

/// Members of an item beside the standard, or beside its work.
#[derive(Debug, Default)]
pub struct Extra {
    /// Whether a task is waited for (clause 5.4.12); a task that is not completes at once.
    pub blocking: bool,
    /// Values that go into a task and come out of it: parameter mappings (clause 5.4.10.1) and vendors' in and out. Those
    /// of a decision and of a script stand in their `data`. What is bound to the case file is read before the inputs, and
    /// written behind the outputs.
    pub mappings: Mappings,
    /// Case file items that parameters are bound to: they are read at the start of the task and written at its end.
    pub bound_inputs: Vec<(FileIx, Arc<str>)>,
    /// Output parameters with the case file items that take them.
    pub bound_outputs: Vec<(Arc<str>, FileIx)>,
    /// Instances that an exit criterion ends in a stage; an extension.
    pub exit: ExitKind,
    /// Fate of a stage by its exit; an extension.
    pub exit_event: ExitEvent,
    /// Condition of an event listener's being there; an extension.
    pub available: Option<Condition>,
    /// Listeners of life cycle transitions, which compute variables; an extension.
    pub listeners: Vec<LifecycleListener>,
    /// Settings that have no member of their own: `initiator` (variable that takes who started the case) and
    /// `businessStatus` of the case plan model, `category` of a human task, `businessStatus` of a stage, a task or a
    /// milestone, which the case has from the item's completion on.
    pub settings: Map<String, Value>,
}

/// Instances that an exit criterion ends in a stage; an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExitKind {
    /// All that is in it.
    #[default]
    All,
    /// Active instances alone.
    Active,
    /// Active and enabled instances.
    ActiveAndEnabled,
}

/// Fate of a stage or a case by its exit; an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExitEvent {
    /// The stage or case is terminated.
    #[default]
    Exit,
    /// The stage or case completes, if it may.
    Complete,
    /// The stage or case completes, whatever is in it.
    ForceComplete,
}

/// Listener of a life cycle transition; an extension.
#[derive(Debug, Clone)]
pub struct LifecycleListener {
    /// Standard events that it is told of; none is any.
    pub events: Vec<ItemEvent>,
    /// State before; absent is any, and that there was none.
    pub from: Option<Arc<str>>,
    /// State behind; absent is any.
    pub to: Option<Arc<str>>,
    /// Expression whose value goes into the variable; a context without one sets its members.
    pub source: Expression,
    /// The variable.
    pub variable: Option<Target>,
}

/// Entry or exit criterion (clause 5.4.3).
#[derive(Debug)]
pub struct Criterion {
    /// Id of the criterion.
    pub id: Arc<str>,
    /// Item that it stands at.
    pub item: ItemIx,
    /// Whether it is an exit criterion.
    pub is_exit: bool,
    /// Sentry of the criterion.
    pub sentry: SentryIx,
}

/// Sentry (clause 5.4.7): all on-parts and the if-part.
#[derive(Debug)]
pub struct Sentry {
    /// Id of the sentry.
    pub id: Arc<str>,
    /// On-parts.
    pub on: Vec<OnPart>,
    /// If-part.
    pub condition: Option<Condition>,
    /// Whether all on-parts must occur in one round; an extension. Otherwise those that have occurred are remembered until
    /// the sentry fires.
    pub on_event: bool,
}

/// On-part (clause 5.4.7.1), and start trigger of a timer.
#[derive(Debug, Clone)]
pub struct OnPart {
    /// Id of the on-part.
    pub id: Option<Arc<str>>,
    /// Item or case file item whose transition it waits for.
    pub source: Source,
}

/// Source of an on-part.
#[derive(Debug, Clone)]
pub enum Source {
    /// Transition of a plan item.
    Item {
        /// The item.
        item: ItemIx,
        /// The transition.
        event: ItemEvent,
        /// Exit criterion by which it must have ended.
        exit: Option<CriterionIx>,
    },
    /// Transition of a case file item.
    File {
        /// The item.
        item: FileIx,
        /// The transition.
        event: FileEvent,
    },
}

/// State of an instance of an item (clause 8.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ItemState {
    /// Wait for an entry criterion, or, of a listener, for its event.
    Available,
    /// Wait for somebody to start it.
    Enabled,
    /// Refusal by somebody: it is not to be started.
    Disabled,
    /// Work that is being done.
    Active,
    /// Suspension of it or of what is around it.
    Suspended,
    /// Failure of its work.
    Failed,
    /// Completion of its work, or occurrence.
    Completed,
    /// Termination before its end.
    Terminated,
    /// End of a case for good.
    Closed,
}

impl ItemState {
    /// The word of the standard.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Failed => "failed",
            Self::Completed => "completed",
            Self::Terminated => "terminated",
            Self::Closed => "closed",
        }
    }

    /// Whether nothing can happen to an item in it any more; that of a case may be reactivated still.
    #[must_use]
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Terminated | Self::Closed)
    }
}

/// Type of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the words of the standard and of its extensions")]
pub enum ItemType {
    CasePlanModel,
    Stage,
    Milestone,
    TimerEventListener,
    UserEventListener,
    MessageEventListener,
    SignalEventListener,
    VariableEventListener,
    ReactivationEventListener,
    HumanTask,
    ProcessTask,
    CaseTask,
    DecisionTask,
    JobTask,
    ScriptTask,
    Task,
}

/// Standard event of a plan item (clause 5.4.7.3, `PlanItemTransition`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the words of the standard")]
pub enum ItemEvent {
    Close,
    Complete,
    Create,
    Disable,
    Enable,
    Exit,
    Fault,
    ManualStart,
    Occur,
    ParentResume,
    ParentSuspend,
    ParentTerminate,
    Reactivate,
    Reenable,
    Resume,
    Start,
    Suspend,
    Terminate,
}

/// Standard event of a case file item (clause 5.4.7.4, `CaseFileItemTransition`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the words of the standard")]
pub enum FileEvent {
    AddChild,
    AddReference,
    Create,
    Delete,
    RemoveChild,
    RemoveReference,
    Replace,
    Update,
}

/// Case file item (clause 5.3.2).
#[derive(Debug)]
pub struct FileItem {
    /// Id of it.
    pub id: Arc<str>,
    /// Name: the member of `caseFile` in which its value stands; the id where it has none.
    pub name: Arc<str>,
    /// Item around it.
    pub parent: Option<FileIx>,
    /// Items in it.
    pub children: Vec<FileIx>,
    /// Items that it refers to.
    pub targets: Vec<FileIx>,
    /// Number of values that there may be.
    pub multiplicity: Multiplicity,
    /// Names of the properties of its definition, with their types; empty where nothing is said.
    pub properties: Vec<(Arc<str>, Option<Arc<str>>)>,
}

/// Multiplicity of a case file item (clause 5.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Multiplicity {
    /// None or one.
    ZeroOrOne,
    /// Any number.
    ZeroOrMore,
    /// One.
    ExactlyOne,
    /// One or more.
    OneOrMore,
    /// Not said: taken as one, whose value may be a list.
    #[default]
    Unspecified,
    /// Unknown: taken as one, whose value may be a list.
    Unknown,
}

/// Case role (clause 5.2.2).
#[derive(Debug, Clone)]
pub struct Role {
    /// Id of it.
    pub id: Arc<str>,
    /// Name: of the organisation's role or group that fills it.
    pub name: Arc<str>,
}

/// Parameter of a case or task.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Name of the variable; the id where it has none.
    pub name: Arc<str>,
    /// Case file item that it is bound to.
    pub bound: Option<FileIx>,
    /// Of an output, part of the bound item or value that is computed of it; of an input, value that is written into the
    /// bound item, computed of the parameter's own.
    pub refinement: Option<Expression>,
}

/// Event from outside that starts a case; an extension.
#[derive(Debug, Clone)]
pub struct StartEvent {
    /// Type of the event.
    pub event_type: Arc<str>,
    /// Variable or case file item that takes the payload; absent is that the members of an object become variables.
    pub target: Option<Target>,
}
