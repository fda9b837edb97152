//! Cases, their plan items and their file.

use std::collections::BTreeMap;
use std::str::FromStr;

use heddle_kernel::{CaseId, Timestamp};
use serde_json::Value;

use super::envelope::{AnyJson, Instant, JsonObject};
use super::runs::{Incident, RunEventType, WaitingFor};
use super::tasks::HumanTask;
use crate::contract::{json_bodies, path_params};

words! {
    /// Lifecycle state of a case.
    enum CaseState {
        /// Something can happen in it.
        Active = "active",
        /// Ended by itself, or by hand.
        Completed = "completed",
        /// Ended from outside, or by an exit criterion.
        Terminated = "terminated",
        /// Ended by an error.
        Failed = "failed",
        /// Held.
        Suspended = "suspended",
        /// Ended for good: it cannot be reactivated.
        Closed = "closed",
    }

    /// Lifecycle state of a plan item.
    enum PlanItemState {
        /// Waits for its entry criteria, or, of a milestone or an event listener, to occur.
        Available = "available",
        /// Can be started by hand.
        Enabled = "enabled",
        /// Not to be done for now.
        Disabled = "disabled",
        /// Being done.
        Active = "active",
        /// Held.
        Suspended = "suspended",
        /// Met an error.
        Failed = "failed",
        /// Done.
        Completed = "completed",
        /// Ended before it was done.
        Terminated = "terminated",
    }

    /// Transition of a plan item that a caller asks for.
    enum PlanItemTransition {
        /// Starts an enabled item.
        ManualStart = "manualStart",
        /// Enables an available item.
        Enable = "enable",
        /// Disables an enabled item.
        Disable = "disable",
        /// Enables a disabled item again.
        Reenable = "reenable",
        /// Completes an active stage or task.
        Complete = "complete",
        /// Ends an active stage or task, or an available milestone or event listener.
        Terminate = "terminate",
        /// Lets a milestone or an event listener occur.
        Occur = "occur",
        /// Holds an item.
        Suspend = "suspend",
        /// Ends its suspension.
        Resume = "resume",
        /// Takes up an item that failed.
        Reactivate = "reactivate",
        /// Puts a discretionary item into the plan.
        Plan = "plan",
    }

    /// Transition of a case that a caller asks for.
    enum CaseTransition {
        /// Holds it.
        Suspend = "suspend",
        /// Ends its suspension.
        Resume = "resume",
        /// Completes it by hand, when what is required is done.
        Complete = "complete",
        /// Takes up a case that ended or is suspended.
        Reactivate = "reactivate",
        /// Closes a case that ended or is suspended, for good.
        Close = "close",
        /// Ends it.
        Terminate = "terminate",
    }

    /// Change of a case file item.
    enum CaseFileTransition {
        /// Puts a value where there is none.
        Create = "create",
        /// Changes the value.
        Update = "update",
        /// Puts another value in its place.
        Replace = "replace",
        /// Takes the value away.
        Delete = "delete",
        /// Adds a child.
        AddChild = "addChild",
        /// Takes a child away.
        RemoveChild = "removeChild",
        /// Adds a reference.
        AddReference = "addReference",
        /// Takes a reference away.
        RemoveReference = "removeReference",
    }

    /// Order of a list of cases.
    enum CaseSort {
        /// Newest first.
        Newest = "newest",
        /// Those with an incident first.
        Incidents = "incidents",
    }
}

/// A transition that is no word of the table names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownTransition;

macro_rules! from_path {
    ($($name:ident)+) => {$(
        impl FromStr for $name {
            type Err = UnknownTransition;

            fn from_str(word: &str) -> Result<Self, UnknownTransition> {
                Self::parse(word).ok_or(UnknownTransition)
            }
        }
    )+};
}

from_path! { PlanItemTransition CaseTransition }

path_params! {
    /// Path of a case.
    CasePath { case_id "caseId": CaseId }
    /// Path of a transition of a case.
    CaseTransitionPath { case_id "caseId": CaseId, transition "transition": CaseTransition }
    /// Path of a transition of a plan item.
    PlanItemPath {
        case_id "caseId": CaseId,
        plan_item_id "planItemId": String,
        transition "transition": PlanItemTransition,
    }
    /// Path of a case file item.
    CaseFilePath { case_id "caseId": CaseId, item_id "itemId": String }
}

response! {
    /// A case: an instance of a case type.
    struct Case {
        /// Stable identifier.
        id: String,
        /// Case type that the case is of.
        case_type_id: String,
        /// The version it follows, for good.
        #[schema(minimum = 1)]
        version: i32,
        /// The case within the definition.
        definition_id: String,
        /// Lifecycle state.
        state: CaseState,
        /// Whether somebody has to look at it.
        has_incident: bool,
        /// Grows by one with every commit; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
        /// The caller's own name for it.
        #[schema(required = true)]
        business_key: Option<String>,
        /// Correlation key by which case events find it.
        #[schema(required = true)]
        correlation_key: Option<String>,
        /// The run whose call activity started it; null where none did.
        #[schema(required = true)]
        parent_run_id: Option<String>,
        /// The case whose task started it; null where none did.
        #[schema(required = true)]
        parent_case_id: Option<String>,
        /// The run or case at the top; its own id without a parent.
        root_id: String,
        /// Values of the case file; not in lists.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Object, nullable = false, required = false)]
        file: Option<JsonObject>,
        /// Variables of the case; not in lists.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Object, nullable = false, required = false)]
        variables: Option<JsonObject>,
        /// Items of its plan, in the order in which they came to be; not in lists.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        plan_items: Option<Vec<PlanItem>>,
        /// Discretionary items in the planning tables of what is active; not in lists.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        planning: Option<Vec<PlannableItem>>,
        /// Human tasks that are open.
        human_tasks: Vec<HumanTask>,
        /// Incidents that are open.
        incidents: Vec<Incident>,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// User who started it, or whose event did; null when no user did.
        #[schema(required = true)]
        created_by: Option<String>,
        /// Instant of the last change.
        #[schema(value_type = Instant)]
        updated_at: Timestamp,
        /// Instant of the end; null before it.
        #[schema(required = true, value_type = Option<Instant>)]
        ended_at: Option<Timestamp>,
    }

    /// An item of a case's plan.
    struct PlanItem {
        /// Id of this instance of the item, by which transitions name it.
        id: String,
        /// Id of the plan item or discretionary item in the definition.
        plan_item_id: String,
        /// Id of the item's definition.
        definition_id: String,
        /// Name; null where it has none.
        #[schema(required = true)]
        name: Option<String>,
        /// Type of the item, such as `humanTask`, `stage` or `milestone`.
        r#type: String,
        /// Lifecycle state.
        state: PlanItemState,
        /// The instance of the stage that it is in; null where that is the case itself.
        #[schema(required = true)]
        parent_id: Option<String>,
        /// Whether its stage cannot complete without it.
        required: bool,
        /// Number among the instances of the item in its stage, from 1.
        #[schema(minimum = 1)]
        number: u32,
        /// Whether somebody planned it: it is a discretionary item.
        planned: bool,
        /// Since when it is in its state.
        #[schema(value_type = Instant)]
        since: Timestamp,
        /// Thing that it waits for; null where it waits for nothing in particular.
        #[schema(required = true)]
        waiting_for: Option<WaitingFor>,
        /// Reasons for which it is not there yet: of each entry criterion what is missing. Any one of them is enough.
        missing: Vec<MissingCriterion>,
        /// Transitions that a caller may ask for now.
        options: Vec<PlanItemTransition>,
    }

    /// Entry criterion that is not met, with the parts that it still lacks.
    struct MissingCriterion {
        /// The criterion.
        criterion_id: String,
        /// On-parts that have not occurred.
        on_parts: Vec<MissingOnPart>,
        /// The condition, where it does not hold now; null where there is none or it holds.
        #[schema(required = true)]
        if_part: Option<MissingIfPart>,
    }

    /// An on-part that has not occurred.
    struct MissingOnPart {
        /// Id of the plan item or case file item that it waits for.
        source: String,
        /// Standard event of the source.
        event: String,
    }

    /// A condition that does not hold.
    struct MissingIfPart {
        /// The condition.
        text: String,
        /// Present value of the condition: false, or null where it has none.
        #[schema(value_type = AnyJson)]
        value: Value,
    }

    /// A discretionary item that may be planned.
    struct PlannableItem {
        /// Id of the discretionary item, by which the transition `plan` names it.
        plan_item_id: String,
        /// Name; null where it has none.
        #[schema(required = true)]
        name: Option<String>,
        /// Type of the item.
        r#type: String,
        /// The instance of the stage or human task that it is planned into.
        host_id: String,
        /// Lists of case roles, of each of which the planner fills one; empty is everyone who may work on the case.
        roles: Vec<Vec<String>>,
        /// Whether it may be planned now, by whoever fills the roles.
        applicable: bool,
        /// Reason for which it may not; null where it may.
        #[schema(required = true)]
        reason: Option<String>,
    }

    /// Something that happened in a case: the history is the event log itself.
    struct CaseHistoryEvent {
        /// Counted from 1 without a gap.
        #[schema(minimum = 1)]
        sequence: i64,
        /// Type of the event, such as `item.transitioned`.
        r#type: String,
        /// Instant of the event.
        #[schema(value_type = Instant)]
        at: Timestamp,
        /// The item, where the event is about one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        node_id: Option<String>,
        /// The instance of the item.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        node_instance_id: Option<String>,
        /// Members by the type of the event.
        #[schema(value_type = Object)]
        data: JsonObject,
    }
}

request! {
    /// A case to start.
    #[schema(examples(json!({"caseTypeId": "018f0000-0000-7000-8000-000000000001", "businessKey": "claim-7",
        "correlationKey": "claim-7", "file": {"claim": {"amount": 120}}, "roles": {"adjuster": ["ada@example.com"]}})))]
    struct StartCase {
        /// The case type.
        #[schema(min_length = 1, max_length = 200)]
        case_type_id: String,
        /// The version; the active one when absent.
        #[schema(nullable = false, minimum = 1)]
        version: Option<i32>,
        /// Id of the case within the definition; the primary one, or the only one, when absent.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        definition_id: Option<String>,
        /// The caller's own name for it.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        business_key: Option<String>,
        /// Correlation key by which case events find it.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        correlation_key: Option<String>,
        /// Values of case file items, by their names or ids.
        #[schema(value_type = Object, nullable = false, required = false)]
        file: Option<JsonObject>,
        /// Values of the case's input parameters, by their names; they become variables.
        #[schema(value_type = Object, nullable = false, required = false)]
        input: Option<JsonObject>,
        /// Users who fill roles of the case: lists of ids or e-mail addresses by the ids or names of the roles. Groups and roles of
        /// the organisation that are called as a role fill it besides.
        #[schema(nullable = false)]
        roles: Option<BTreeMap<String, Vec<String>>>,
    }

    /// Details of a transition of a plan item.
    #[schema(examples(json!({"host": "5"})))]
    struct ChangePlanItem {
        /// With `plan`: the instance of the stage or human task to plan it into; the only one that has it when absent.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        host: Option<String>,
        /// With `occur`: data of the event; members that are called as case file items are change those, others become variables.
        #[schema(value_type = AnyJson, nullable = false, required = false)]
        payload: Option<Value>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Details of a transition of a case.
    #[schema(examples(json!({"reason": "The customer withdrew."})))]
    struct ChangeCase {
        /// Reason, kept in the history; with `terminate`.
        #[schema(nullable = false, min_length = 1, max_length = 1000)]
        reason: Option<String>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// A value of a case file item.
    #[schema(examples(json!({"value": {"amount": 120}})))]
    struct PutCaseFileItem {
        /// The value; null deletes it. Of `addChild` and `removeChild` the child, of references the reference.
        #[schema(value_type = AnyJson)]
        value: Value,
        /// Change that is meant. Absent is `create` where there is no value, else `replace`, and `delete` for null. `update`
        /// lets members stay that the new value does not have.
        #[schema(nullable = false)]
        transition: Option<CaseFileTransition>,
        /// Numbers of the instances, from 0, where there may be several: of those around it, outermost first, and its own.
        #[schema(nullable = false, max_items = 20)]
        at: Option<Vec<u32>>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Which cases.
    struct CaseListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those of this case type.
        #[schema(min_length = 1, max_length = 200)]
        case_type_id: Option<String>,
        /// Only those in this state.
        state: Option<CaseState>,
        /// Only those with an incident, or only the others.
        has_incident: Option<bool>,
        /// Only those with this business key.
        #[schema(min_length = 1, max_length = 200)]
        business_key: Option<String>,
        /// Only those with this correlation key.
        #[schema(min_length = 1, max_length = 200)]
        correlation_key: Option<String>,
        /// Only those that this user started; `me` is the caller.
        #[schema(min_length = 1, max_length = 200)]
        started_by: Option<String>,
        /// Created at or after this instant.
        #[schema(value_type = Option<Instant>)]
        from: Option<Timestamp>,
        /// Created before this instant.
        #[schema(value_type = Option<Instant>)]
        to: Option<Timestamp>,
        /// The order; newest first when absent.
        sort: Option<CaseSort>,
    }

    /// Which events of a case.
    struct CaseEventsQuery {
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
        /// Only those about this item.
        #[schema(min_length = 1, max_length = 500)]
        item_id: Option<String>,
    }
}

json_bodies!(StartCase, ChangePlanItem, ChangeCase, PutCaseFileItem);
