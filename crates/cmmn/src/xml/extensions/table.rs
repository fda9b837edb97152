//! The words of the vendors' extension schemas, each with what becomes of it.
//!
//! Sources: the descriptor `camunda-cmmn-moddle`, and the constants of Flowable's CMMN converter.

/// Camunda 7.
pub(super) const CAMUNDA: u8 = 1;
/// Flowable.
pub(super) const FLOWABLE: u8 = 2;
const BOTH: u8 = CAMUNDA | FLOWABLE;

/// The vendors with their usual prefix and their namespaces.
pub(super) const VENDORS: &[(u8, &str, &str)] = &[
    (CAMUNDA, "camunda", "http://camunda.org/schema/1.0/cmmn"),
    (CAMUNDA, "camunda", "http://camunda.org/schema/1.0/bpmn"),
    (FLOWABLE, "flowable", "http://flowable.org/cmmn"),
    (FLOWABLE, "flowable", "http://flowable.org/bpmn"),
];

/// Place of a word in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An attribute of an element of CMMN.
    Attribute,
    /// An element within extension elements.
    Element,
}

/// Effect on the execution of leaving a word aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    Quiet,
    /// Nothing that is executed, but something that a reader may expect.
    Told,
    /// The element would do something else.
    Refused,
}

/// Mapping of a word to members of `configuration`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Map {
    /// No mapping.
    Keep,
    /// No need of a mapping at this value: the word then says what is so here anyway.
    Unless(&'static str),
    /// A text or an expression.
    Text,
    /// Names, or an expression.
    List,
    /// A whole number from 0 to 100, or an expression.
    Priority,
    /// A whole number from 1, `unlimited`, or an expression.
    Count,
    /// True or false.
    Flag,
    /// The name of a variable.
    Name,
    /// The value of a variable, or an expression.
    Variable,
    /// One of the words of a list that is parted by spaces.
    OneOf(&'static str),
    /// Which version is called.
    Binding,
    /// Whether the version called is that of the same deployment.
    SameDeployment,
    /// Kind of a task.
    TaskType,
    /// Topic of an external worker.
    Topic,
    /// Code of the other engine: the beginning of the type of its job.
    Code(&'static str),
    /// Kind of an event listener.
    ListenerType,
    /// A header of a job.
    HeaderText,
    In,
    Out,
    EventIn,
    EventOut,
    Correlation,
    EventType,
    StartEvent,
    Field,
    DecisionField,
    Listener,
    LifecycleListener,
    VariableOnPart,
    CompletionNeutral,
    ParentCompletion,
    Reactivation,
}

/// One word of vendors' extension schemas.
#[derive(Debug)]
pub(super) struct Word {
    /// The vendors that have it, as bits of the table.
    vendors: u8,
    /// Place in the document.
    kind: Kind,
    /// Local name.
    pub(super) name: &'static str,
    /// The elements that it may stand at, parted by spaces; none means any.
    on: &'static str,
    /// Mapping to members of `configuration`.
    pub(super) map: Map,
    /// The members of `configuration` that it gives; the first is the one that it always gives.
    pub(super) becomes: &'static [&'static str],
    /// Effect on the execution when it is not mapped.
    pub(super) effect: Effect,
    /// One sentence.
    pub(super) reason: &'static str,
}

/// The vendor of a namespace.
pub(super) fn vendor_of(uri: &str) -> Option<u8> {
    VENDORS.iter().find(|(_, _, own)| *own == uri).map(|(vendor, ..)| *vendor)
}

/// The row of a word at an element.
pub(super) fn find(vendor: u8, kind: Kind, name: &str, owner: &str) -> Option<&'static Word> {
    let fits = |word: &Word| word.on.is_empty() || word.on.split_ascii_whitespace().any(|own| own == owner);
    WORDS
        .iter()
        .find(|word| word.vendors & vendor != 0 && word.kind == kind && word.name == name && fits(word))
}

/// A mapped attribute; what cannot be mapped would change what the element does.
const fn to(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    map: Map,
    becomes: &'static [&'static str],
    reason: &'static str,
) -> Word {
    Word { vendors, kind: Kind::Attribute, name, on, map, becomes, effect: Effect::Refused, reason }
}

/// A mapped extension element; what cannot be mapped would change what the element does.
const fn child(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    map: Map,
    becomes: &'static [&'static str],
    reason: &'static str,
) -> Word {
    Word { vendors, kind: Kind::Element, name, on, map, becomes, effect: Effect::Refused, reason }
}

/// An attribute that is not mapped.
const fn kept(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    effect: Effect,
    reason: &'static str,
) -> Word {
    Word { vendors, kind: Kind::Attribute, name, on, map: Map::Keep, becomes: &[], effect, reason }
}

/// An extension element that is not mapped.
const fn kept_child(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    effect: Effect,
    reason: &'static str,
) -> Word {
    Word { vendors, kind: Kind::Element, name, on, map: Map::Keep, becomes: &[], effect, reason }
}

/// An attribute that asks for what is not there, unless it has the value that is the rule here.
const fn unless(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    value: &'static str,
    reason: &'static str,
) -> Word {
    to(vendors, name, on, Map::Unless(value), &[], reason)
}

const CALLS: &str = "processTask caseTask";
const TASKS: &str = "task humanTask processTask caseTask decisionTask";
const STAGES: &str = "casePlanModel stage";
const LISTENERS: &str = "eventListener userEventListener timerEventListener";
const DEFINITIONS: &str = "task humanTask processTask caseTask decisionTask casePlanModel stage planFragment milestone \
                           eventListener userEventListener timerEventListener";

const DURABLE: &str = "Where a transaction of that engine begins; here every step is durable anyway.";
const EDITOR: &str = "It belongs to an editor or to an overview that the other engine draws.";
const LABEL: &str = "A label without an effect.";
const FORM: &str = "It names a form outside the model; what is entered is not checked against it.";
const IDS: &str = "No variable takes the id.";
const TENANT: &str = "Calls reach the own organisation only.";
const CALLED: &str = "Becomes which version is called.";
const STARTERS: &str = "Who may start a case is a matter of roles and grants here.";
const LISTENER: &str = "Becomes a listener. An expression or a script is computed; code is kept as the type of a job, \
                        and what has it is not published.";
const CODE: &str = "Becomes a job for an external worker, of a type named after the code.";
const HEADER: &str = "Becomes a header of the job.";
const REPEATS: &str = "Becomes how the item repeats.";
const CHANNEL: &str = "Channels of the other engine are not there: events come in by the API and by hooks.";
const HANDLERS: &str = "It runs Java code of the other engine; the worker of the job does it here, and inputs and outputs map its values.";
const RESULT: &str = "Becomes the variable of the result.";
const AGGREGATED: &str = "What the instances of a repetition give is not gathered of itself; an output of each that appends to a \
                          list of the case (`=append(all, own)`) does that.";

/// Every attribute and extension element; the first row of a name whose elements fit counts.
static WORDS: &[Word] = &[
    // Human tasks.
    to(BOTH, "assignee", "humanTask", Map::Text, &["assignee"], "Becomes the assignee."),
    to(BOTH, "candidateUsers", "humanTask", Map::List, &["candidateUsers"], "Becomes the candidates."),
    to(
        BOTH,
        "candidateGroups",
        "humanTask",
        Map::List,
        &["candidateGroups"],
        "Becomes the candidate groups.",
    ),
    to(BOTH, "dueDate", "humanTask", Map::Text, &["dueDate"], "Becomes the due date."),
    to(BOTH, "followUpDate", "humanTask", Map::Text, &["followUpDate"], "Becomes the follow-up date."),
    to(BOTH, "priority", "humanTask", Map::Priority, &["priority"], "Becomes the priority, 0 to 100."),
    kept(FLOWABLE, "owner", "humanTask", Effect::Quiet, "Human tasks have no owner beside their assignee."),
    kept(FLOWABLE, "category", "humanTask", Effect::Quiet, LABEL),
    kept(BOTH, "formKey", "humanTask casePlanModel stage", Effect::Told, FORM),
    kept(FLOWABLE, "formFieldValidation", "", Effect::Told, FORM),
    kept(FLOWABLE, "validateFormFields", "", Effect::Told, FORM),
    kept(FLOWABLE, "sameDeployment", "humanTask casePlanModel stage", Effect::Quiet, FORM),
    kept(FLOWABLE, "taskIdVariableName", "", Effect::Refused, IDS),
    kept(
        FLOWABLE,
        "taskCompleterVariableName",
        "",
        Effect::Refused,
        "No variable takes who completed the task; the events of the case tell it.",
    ),
    kept_child(FLOWABLE, "formProperty", "", Effect::Told, FORM),
    // Calls.
    to(
        FLOWABLE,
        "businessKey",
        CALLS,
        Map::Text,
        &["businessKey"],
        "Becomes the business key of what is called.",
    ),
    to(
        FLOWABLE,
        "inheritBusinessKey",
        CALLS,
        Map::Flag,
        &["inheritBusinessKey"],
        "Becomes that what is called has the business key of the case.",
    ),
    to(
        FLOWABLE,
        "sameDeployment",
        "processTask caseTask decisionTask",
        Map::SameDeployment,
        &["versionPolicy"],
        CALLED,
    ),
    to(CAMUNDA, "processBinding", "processTask", Map::Binding, &["versionPolicy"], CALLED),
    to(CAMUNDA, "processVersion", "processTask", Map::Text, &["version"], CALLED),
    to(CAMUNDA, "caseBinding", "caseTask", Map::Binding, &["versionPolicy"], CALLED),
    to(CAMUNDA, "caseVersion", "caseTask", Map::Text, &["version"], CALLED),
    to(CAMUNDA, "decisionBinding", "decisionTask", Map::Binding, &["versionPolicy"], CALLED),
    to(CAMUNDA, "decisionVersion", "decisionTask", Map::Text, &["version"], CALLED),
    kept(CAMUNDA, "processTenantId", "", Effect::Told, TENANT),
    kept(CAMUNDA, "caseTenantId", "", Effect::Told, TENANT),
    kept(CAMUNDA, "decisionTenantId", "", Effect::Told, TENANT),
    unless(FLOWABLE, "fallbackToDefaultTenant", "", "false", TENANT),
    kept(FLOWABLE, "idVariableName", "", Effect::Refused, IDS),
    child(
        BOTH,
        "in",
        CALLS,
        Map::In,
        &["inputs", "propagateAllInputs", "businessKey", "inheritBusinessKey"],
        "Becomes an input of what is called.",
    ),
    child(
        BOTH,
        "out",
        CALLS,
        Map::Out,
        &["outputs", "propagateAllOutputs"],
        "Becomes an output of what is called.",
    ),
    // Decisions.
    to(
        CAMUNDA,
        "mapDecisionResult",
        "decisionTask",
        Map::OneOf("singleEntry singleResult collectEntries resultList"),
        &["resultMapping"],
        "Becomes the shape of the result.",
    ),
    to(BOTH, "resultVariable", "decisionTask task", Map::Name, &["resultVariable"], RESULT),
    to(FLOWABLE, "resultVariableName", "decisionTask task", Map::Name, &["resultVariable"], RESULT),
    child(FLOWABLE, "field", "decisionTask", Map::DecisionField, &["decisionRef"], "Becomes the decision."),
    // Tasks of other kinds.
    to(FLOWABLE, "type", "task", Map::TaskType, &["jobType"], "Becomes the type of the job."),
    to(FLOWABLE, "class", "task", Map::Code("java"), &["jobType"], CODE),
    to(FLOWABLE, "delegateExpression", "task", Map::Code("delegate"), &["jobType"], CODE),
    to(FLOWABLE, "expression", "task", Map::Code("expression"), &["jobType"], CODE),
    to(FLOWABLE, "topic", "task", Map::Topic, &["jobType"], "Becomes the type of the job."),
    to(FLOWABLE, "scriptFormat", "task", Map::Text, &["scriptFormat"], "Becomes the language of the script."),
    kept(
        FLOWABLE,
        "autoStoreVariables",
        "task",
        Effect::Told,
        "What a script sets is said by its result alone.",
    ),
    unless(
        FLOWABLE,
        "storeResultVariableAsTransient",
        "",
        "false",
        "Variables without a history are not there.",
    ),
    child(FLOWABLE, "field", "task", Map::Field, &["headers", "script"], HEADER),
    child(FLOWABLE, "eventType", "task", Map::HeaderText, &["headers"], HEADER),
    child(FLOWABLE, "sendSynchronously", "task", Map::HeaderText, &["headers"], HEADER),
    child(FLOWABLE, "channelKey", "task", Map::HeaderText, &["headers"], HEADER),
    child(FLOWABLE, "eventInParameter", "task", Map::EventIn, &["inputs"], "Becomes an input of the job."),
    child(
        FLOWABLE,
        "eventOutParameter",
        "task",
        Map::EventOut,
        &["outputs"],
        "Becomes an output of the job.",
    ),
    kept_child(FLOWABLE, "httpRequestHandler", "", Effect::Refused, HANDLERS),
    kept_child(FLOWABLE, "httpResponseHandler", "", Effect::Refused, HANDLERS),
    unless(FLOWABLE, "parallelInSameTransaction", "", "false", DURABLE),
    to(
        FLOWABLE,
        "isBlockingExpression",
        TASKS,
        Map::Text,
        &["blockingCondition"],
        "Becomes the condition on which the task is waited for.",
    ),
    // Stages and milestones.
    to(
        FLOWABLE,
        "autoCompleteCondition",
        STAGES,
        Map::Text,
        &["autoCompleteCondition"],
        "Becomes the condition on which the stage completes by itself.",
    ),
    to(
        FLOWABLE,
        "businessStatus",
        "casePlanModel stage milestone",
        Map::Text,
        &["businessStatus"],
        "Becomes the business status that the case takes.",
    ),
    to(
        FLOWABLE,
        "milestoneVariable",
        "milestone",
        Map::Name,
        &["milestoneVariable"],
        "Becomes the variable that is true when the milestone is reached.",
    ),
    // Event listeners.
    to(
        FLOWABLE,
        "eventType",
        LISTENERS,
        Map::ListenerType,
        &["listenerType"],
        "Becomes what the listener listens to.",
    ),
    to(
        FLOWABLE,
        "availableCondition",
        LISTENERS,
        Map::Text,
        &["availableCondition"],
        "Becomes the condition on which the listener is there.",
    ),
    to(FLOWABLE, "signalRef", "eventListener", Map::Text, &["signalName"], "Becomes the name of the signal."),
    to(FLOWABLE, "variableName", "eventListener", Map::Name, &["variableName"], "Becomes the variable."),
    to(
        FLOWABLE,
        "variableChangeType",
        "eventListener",
        Map::OneOf("all create update delete update-create"),
        &["variableChangeType"],
        "Becomes the change that is listened to.",
    ),
    child(
        FLOWABLE,
        "eventType",
        LISTENERS,
        Map::EventType,
        &["eventType"],
        "Becomes the type of the event that is listened to.",
    ),
    child(
        FLOWABLE,
        "eventCorrelationParameter",
        LISTENERS,
        Map::Correlation,
        &["correlationKey"],
        "Becomes the correlation key of the event.",
    ),
    child(
        FLOWABLE,
        "eventOutParameter",
        LISTENERS,
        Map::EventOut,
        &["outputs"],
        "Becomes a variable that takes a part of the event.",
    ),
    // Cases.
    to(
        FLOWABLE,
        "initiatorVariableName",
        "case",
        Map::Name,
        &["initiator"],
        "Becomes the variable that takes who started the case.",
    ),
    child(
        FLOWABLE,
        "eventType",
        "case casePlanModel",
        Map::StartEvent,
        &["startEvents"],
        "Becomes an event that starts the case.",
    ),
    kept_child(
        FLOWABLE,
        "eventOutParameter",
        "case casePlanModel",
        Effect::Told,
        "The members of the event's payload become variables.",
    ),
    kept_child(
        FLOWABLE,
        "eventCorrelationParameter",
        "case casePlanModel",
        Effect::Told,
        "The correlation key of the event becomes that of the case.",
    ),
    kept_child(FLOWABLE, "startEventCorrelationConfiguration", "", Effect::Told, STARTERS),
    kept(FLOWABLE, "candidateStarterUsers", "case", Effect::Told, STARTERS),
    kept(FLOWABLE, "candidateStarterGroups", "case", Effect::Told, STARTERS),
    kept(BOTH, "historyTimeToLive", "case", Effect::Quiet, "History is kept until a case is removed."),
    kept(BOTH, "versionTag", "case", Effect::Quiet, "A label; versions are numbered at publishing."),
    // Controls and rules.
    to(FLOWABLE, "counterVariable", "rule", Map::Name, &["counterVariable"], REPEATS),
    to(FLOWABLE, "maxInstanceCount", "rule", Map::Count, &["maxInstanceCount"], REPEATS),
    to(FLOWABLE, "collectionVariable", "rule", Map::Variable, &["collection"], REPEATS),
    to(FLOWABLE, "elementVariable", "rule", Map::Name, &["elementVariable"], REPEATS),
    to(FLOWABLE, "elementIndexVariable", "rule", Map::Name, &["elementIndexVariable"], REPEATS),
    to(CAMUNDA, "repeatOnStandardEvent", "rule", Map::Text, &["repeatOnStandardEvent"], REPEATS),
    kept_child(FLOWABLE, "variableAggregation", "", Effect::Refused, AGGREGATED),
    child(
        FLOWABLE,
        "completionNeutralRule",
        "itemControl planItem",
        Map::CompletionNeutral,
        &["completionNeutral"],
        "Becomes whether the stage completes as if the item were not there.",
    ),
    child(
        FLOWABLE,
        "parentCompletionRule",
        "itemControl planItem",
        Map::ParentCompletion,
        &["parentCompletion"],
        "Becomes whether the item holds its stage back.",
    ),
    child(
        FLOWABLE,
        "reactivationRule",
        "itemControl planItem",
        Map::Reactivation,
        &["reactivation"],
        "Becomes what the item does when the case is reactivated.",
    ),
    child(
        FLOWABLE,
        "defaultReactivationRule",
        LISTENERS,
        Map::Reactivation,
        &["reactivation"],
        "Becomes what items do when the case is reactivated.",
    ),
    // Criteria and sentries.
    to(
        FLOWABLE,
        "exitType",
        "criterion",
        Map::OneOf("default activeInstances activeAndEnabledInstances"),
        &["exitType"],
        "Becomes which instances the criterion ends.",
    ),
    to(
        FLOWABLE,
        "exitEventType",
        "criterion",
        Map::OneOf("exit complete forceComplete"),
        &["exitEventType"],
        "Becomes how the criterion ends the stage.",
    ),
    to(
        FLOWABLE,
        "triggerMode",
        "sentry",
        Map::OneOf("default onEvent"),
        &["triggerMode"],
        "Becomes whether on-parts are remembered.",
    ),
    child(
        CAMUNDA,
        "variableOnPart",
        "sentry",
        Map::VariableOnPart,
        &["variableOnParts"],
        "Becomes a part of the sentry that waits for a variable.",
    ),
    // Listeners.
    child(CAMUNDA, "caseExecutionListener", DEFINITIONS, Map::Listener, &["listeners"], LISTENER),
    child(
        CAMUNDA,
        "caseExecutionListener",
        "planItem discretionaryItem",
        Map::Listener,
        &["listeners"],
        LISTENER,
    ),
    child(BOTH, "taskListener", "humanTask", Map::Listener, &["listeners"], LISTENER),
    child(
        FLOWABLE,
        "planItemLifecycleListener",
        DEFINITIONS,
        Map::LifecycleListener,
        &["listeners"],
        LISTENER,
    ),
    child(
        FLOWABLE,
        "caseLifecycleListener",
        "case casePlanModel",
        Map::LifecycleListener,
        &["listeners"],
        LISTENER,
    ),
    kept_child(
        CAMUNDA,
        "variableListener",
        "",
        Effect::Refused,
        "Nothing listens to variables by code here; an event listener with `variableName` does, and tasks behind it.",
    ),
    // Transactions, channels, and what belongs to editors.
    kept(FLOWABLE, "async", "", Effect::Quiet, DURABLE),
    kept(FLOWABLE, "asyncActivate", "", Effect::Quiet, DURABLE),
    kept(FLOWABLE, "asyncActivateExclusive", "", Effect::Quiet, DURABLE),
    kept(FLOWABLE, "asyncComplete", "", Effect::Quiet, DURABLE),
    kept(FLOWABLE, "asyncLeave", "", Effect::Quiet, DURABLE),
    kept(FLOWABLE, "asyncLeaveExclusive", "", Effect::Quiet, DURABLE),
    kept(FLOWABLE, "exclusive", "", Effect::Quiet, DURABLE),
    kept_child(FLOWABLE, "channelKey", "", Effect::Told, CHANNEL),
    kept_child(FLOWABLE, "channelType", "", Effect::Told, CHANNEL),
    kept_child(FLOWABLE, "keyDetectionType", "", Effect::Told, CHANNEL),
    kept_child(FLOWABLE, "keyDetectionValue", "", Effect::Told, CHANNEL),
    kept(FLOWABLE, "displayOrder", "", Effect::Quiet, EDITOR),
    kept(FLOWABLE, "includeInStageOverview", "", Effect::Quiet, EDITOR),
    kept(FLOWABLE, "label", "", Effect::Quiet, EDITOR),
    kept(FLOWABLE, "icon", "", Effect::Quiet, EDITOR),
    kept_child(FLOWABLE, "localization", "", Effect::Quiet, "Texts in other languages."),
    kept_child(FLOWABLE, "eventName", "", Effect::Quiet, "A text for people."),
    kept_child(FLOWABLE, "historyLevel", "", Effect::Quiet, "The history is always whole."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_words_name_their_members() {
        for word in WORDS {
            let named = !word.becomes.is_empty();
            assert_eq!(named, !matches!(word.map, Map::Keep | Map::Unless(_)), "{}", word.name);
        }
    }

    #[test]
    fn no_row_is_hidden_by_one_before_it() {
        for (at, word) in WORDS.iter().enumerate() {
            let owners = if word.on.is_empty() {
                vec!["anything"]
            } else {
                word.on.split_ascii_whitespace().collect()
            };
            let vendors = [CAMUNDA, FLOWABLE].into_iter().filter(|vendor| word.vendors & vendor != 0);
            for vendor in vendors {
                let seen = owners.iter().any(|owner| {
                    find(vendor, word.kind, word.name, owner).is_some_and(|found| std::ptr::eq(found, word))
                });
                assert!(seen, "row {at}, {}", word.name);
            }
        }
    }
}
