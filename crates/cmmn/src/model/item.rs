//! Plan items, their definitions, item controls and planning tables.

use super::{Criterion, Parameter, ParameterMapping, Sentry};
use serde_json::{Map, Value};

shape! {
    /// The definition of plan items: a stage, a task, a milestone or an event listener (clause 5.4).
    ///
    /// Which members count is said by `type`: `casePlanModel`, `stage` and `planFragment` have items, sentries and
    /// definitions; tasks have parameters; listeners have what they listen to.
    struct PlanItemDefinition {
        /// Ids of the roles that may raise the event of a user event listener.
        authorized_role_refs: Vec<String>,
        /// Whether a stage completes by itself when nothing in it is active or required (default false).
        auto_complete: bool,
        /// Id of the case of a case task.
        case_ref: String,
        /// Expression that names the case of a case task.
        case_ref_expression: Expression,
        /// Settings of the task, the milestone, the listener or the stage.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Id of the decision of a decision task.
        decision_ref: String,
        /// Expression that names the decision of a decision task.
        decision_ref_expression: Expression,
        /// Item control of the items that have none of their own.
        default_control: ItemControl,
        /// Definitions within a stage.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        definitions: Vec<PlanItemDefinition>,
        /// Description, of CMMN 1.0.
        description: String,
        /// Documentation texts.
        documentation: Vec<String>,
        /// Exit criteria of a case plan model.
        exit_criteria: Vec<Criterion>,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id, unique within the definition.
        id: String,
        /// Input parameters of a task.
        inputs: Vec<Parameter>,
        /// Whether a task is waited for (default true).
        is_blocking: bool,
        /// Plan items of a stage.
        items: Vec<PlanItem>,
        /// Name.
        name: String,
        /// Output parameters of a task.
        outputs: Vec<Parameter>,
        /// Mappings of parameters of a process, case or decision task.
        parameter_mappings: Vec<ParameterMapping>,
        /// Id of the role that performs a human task.
        performer_ref: String,
        /// Planning table of a stage or a human task.
        planning_table: Box<PlanningTable>,
        /// Id of the process of a process task.
        process_ref: String,
        /// Expression that names the process of a process task.
        process_ref_expression: Expression,
        /// Sentries of a stage.
        sentries: Vec<Sentry>,
        /// Event with which a timer event listener starts to count.
        start_trigger: StartTrigger,
        /// Time of a timer event listener, ISO 8601 or an expression.
        timer_expression: Expression,
        /// `casePlanModel`, `stage`, `planFragment`, `task`, `humanTask`, `processTask`, `caseTask`, `decisionTask`,
        /// `milestone`, `eventListener`, `timerEventListener` or `userEventListener`.
        r#type: String,
    }

    /// A plan item (clause 5.4.5).
    #[cfg_attr(feature = "schema", schema(as = CaseDefinitionPlanItem))]
    struct PlanItem {
        /// Settings of the item.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Id of the definition.
        definition_ref: String,
        /// Description, of CMMN 1.0.
        description: String,
        /// Documentation texts.
        documentation: Vec<String>,
        /// Entry criteria, any of which is enough.
        entry_criteria: Vec<Criterion>,
        /// Exit criteria, any of which is enough.
        exit_criteria: Vec<Criterion>,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id, unique within the definition.
        id: String,
        /// Item control, in the place of the definition's.
        item_control: ItemControl,
        /// Name.
        name: String,
    }

    /// An item control (clause 5.4.11).
    struct ItemControl {
        /// Settings of the control.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id.
        id: String,
        /// Whether a person must start the item.
        manual_activation_rule: Rule,
        /// Whether the item comes again.
        repetition_rule: Rule,
        /// Whether its stage cannot complete without it.
        required_rule: Rule,
    }

    /// A rule of an item control; one without a condition holds.
    #[cfg_attr(feature = "schema", schema(as = CaseItemRule))]
    struct Rule {
        /// Condition.
        condition: Expression,
        /// Settings of the rule.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Id of the case file item that the condition is about.
        context_ref: String,
        /// Description, of CMMN 1.0.
        description: String,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id.
        id: String,
        /// Name.
        name: String,
    }

    /// An expression (clause 5.1.6).
    #[cfg_attr(feature = "schema", schema(as = CaseExpression))]
    struct Expression {
        /// The expression itself.
        body: String,
        /// Language, a URI; absent is the definition's.
        language: String,
    }

    /// The event with which a timer event listener starts to count (clause 5.4.8.2).
    struct StartTrigger {
        /// Id.
        id: String,
        /// Id of the plan item or of the case file item.
        source_ref: String,
        /// Standard event.
        standard_event: String,
        /// `planItemStartTrigger` or `caseFileItemStartTrigger`.
        r#type: String,
    }

    /// A planning table (clause 5.4.9).
    struct PlanningTable {
        /// Ids of the rules that must hold for anything of the table to be planned.
        applicability_rule_refs: Vec<String>,
        /// Applicability rules of the table.
        applicability_rules: Vec<ApplicabilityRule>,
        /// Ids of the roles that may plan.
        authorized_role_refs: Vec<String>,
        /// Settings of the table.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Discretionary items.
        discretionary_items: Vec<DiscretionaryItem>,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id.
        id: String,
        /// Planning tables within the table.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        planning_tables: Vec<PlanningTable>,
    }

    /// A discretionary item (clause 5.4.9.2).
    struct DiscretionaryItem {
        /// Ids of the rules that must hold for it to be planned.
        applicability_rule_refs: Vec<String>,
        /// Ids of the roles that may plan it.
        authorized_role_refs: Vec<String>,
        /// Settings of the item.
        #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
        configuration: Map<String, Value>,
        /// Id of the definition.
        definition_ref: String,
        /// Description, of CMMN 1.0.
        description: String,
        /// Documentation texts.
        documentation: Vec<String>,
        /// Entry criteria, any of which is enough.
        entry_criteria: Vec<Criterion>,
        /// Exit criteria, any of which is enough.
        exit_criteria: Vec<Criterion>,
        /// Extension elements, each as XML text.
        extension_xml: Vec<String>,
        /// Id, unique within the definition.
        id: String,
        /// Item control, in the place of the definition's.
        item_control: ItemControl,
        /// Name.
        name: String,
    }

    /// An applicability rule of a planning table (clause 5.4.9.3).
    struct ApplicabilityRule {
        /// Condition.
        condition: Expression,
        /// Id of the case file item that the condition is about.
        context_ref: String,
        /// Description, of CMMN 1.0.
        description: String,
        /// Id.
        id: String,
        /// Name.
        name: String,
    }
}
