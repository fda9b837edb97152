//! The words of the vendors' extension schemas, each with what becomes of it.
//!
//! Sources: the descriptors `camunda-bpmn-moddle` and `zeebe-bpmn-moddle`, and Flowable's extension schema with the
//! constants of its converter; Activiti's words are Flowable's of the time before the two parted.

use super::{Effect, Kind, Map, Word};

/// Camunda 7.
pub(crate) const CAMUNDA: u8 = 1;
/// Flowable.
pub(crate) const FLOWABLE: u8 = 2;
/// Activiti, and Camunda 7 before 7.0 under another prefix.
pub(crate) const ACTIVITI: u8 = 4;
/// Camunda 8.
pub(crate) const ZEEBE: u8 = 8;
/// The three engines of one descent.
const SEVEN: u8 = CAMUNDA | FLOWABLE | ACTIVITI;
const FLA: u8 = FLOWABLE | ACTIVITI;

/// The vendors with their usual prefix and their namespace.
pub(crate) const VENDORS: &[(u8, &str, &str)] = &[
    (CAMUNDA, "camunda", "http://camunda.org/schema/1.0/bpmn"),
    (ZEEBE, "zeebe", "http://camunda.org/schema/zeebe/1.0"),
    (FLOWABLE, "flowable", "http://flowable.org/bpmn"),
    (ACTIVITI, "activiti", "http://activiti.org/bpmn"),
];

const JOBS: &str = "serviceTask sendTask businessRuleTask scriptTask messageEventDefinition intermediateThrowEvent \
                    endEvent adHocSubProcess";
const DELEGATES: &str = "serviceTask sendTask businessRuleTask messageEventDefinition";
const FORMS: &str = "userTask startEvent";

const DURABLE: &str = "Where a transaction of that engine begins; here every step is durable anyway.";
const JAVA: &str = "It runs Java code of the other engine.";
const CODE: &str = "It runs code beside the flow, which is not there here.";
const EDITOR: &str =
    "It tells an editor which template was used; what the template set stands in other words.";
const DRAWN: &str = "It tells an editor what was chosen in its form; what was chosen stands in other words.";
const ORDER: &str = "It orders the jobs of that engine; work is taken in the order of its arrival here.";
const BUILT_IN: &str = "It sets up a built-in task or channel of the other engine.";
const STARTERS: &str = "Who may start a workflow is a matter of roles and grants here.";
const FORM_KEY: &str = "It names a form outside the model; what is entered is not checked against it.";
const CALLED: &str = "Becomes which version of the called process is run.";
const TENANT: &str = "Calls reach the own organisation only.";
const CASE: &str = "Cases are not called from processes yet.";
const CATCHES: &str = "Variables that carry a caught error or escalation are not set yet.";
const SCRIPTS: &str = "Scripts are executed in FEEL alone, with the text in the model.";
const RESULT: &str = "It names the variable of a result of Java code or of a built-in task.";

#[expect(clippy::too_many_arguments, reason = "one for each column of the table")]
const fn word(
    vendors: u8,
    kind: Kind,
    name: &'static str,
    on: &'static str,
    map: Map,
    becomes: &'static [&'static str],
    effect: Effect,
    reason: &'static str,
) -> Word {
    Word { vendors, kind, name, on, map, becomes, effect, reason }
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
    word(vendors, Kind::Attribute, name, on, map, becomes, Effect::Refused, reason)
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
    word(vendors, Kind::Element, name, on, map, becomes, Effect::Refused, reason)
}

/// An attribute without a bearing on what is executed.
const fn quiet(vendors: u8, name: &'static str, on: &'static str, reason: &'static str) -> Word {
    word(vendors, Kind::Attribute, name, on, Map::Keep, &[], Effect::Quiet, reason)
}

/// An attribute that asks for what is not there.
const fn no(vendors: u8, name: &'static str, on: &'static str, reason: &'static str) -> Word {
    word(vendors, Kind::Attribute, name, on, Map::Keep, &[], Effect::Refused, reason)
}

/// An attribute that asks for what is not there, unless it has the value that is the rule here.
const fn unless(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    value: &'static str,
    reason: &'static str,
) -> Word {
    word(vendors, Kind::Attribute, name, on, Map::Unless(value), &[], Effect::Refused, reason)
}

/// An attribute without an effect that a reader of the model may expect.
const fn told(vendors: u8, name: &'static str, on: &'static str, reason: &'static str) -> Word {
    word(vendors, Kind::Attribute, name, on, Map::Keep, &[], Effect::Told, reason)
}

/// An extension element with this effect that is not mapped.
const fn kept(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    effect: Effect,
    reason: &'static str,
) -> Word {
    word(vendors, Kind::Element, name, on, Map::Keep, &[], effect, reason)
}

/// Every attribute and extension element; the first row of a name whose elements fit counts.
pub(crate) static WORDS: &[Word] = &[
    // Human tasks.
    to(SEVEN, "assignee", "userTask", Map::Text, &["assignee"], "Becomes the assignee."),
    to(SEVEN, "candidateUsers", "userTask", Map::List, &["candidateUsers"], "Becomes the candidates."),
    to(
        SEVEN,
        "candidateGroups",
        "userTask",
        Map::List,
        &["candidateGroups"],
        "Becomes the candidate groups.",
    ),
    to(SEVEN, "dueDate", "userTask", Map::Due, &["dueDate"], "Becomes the due date."),
    word(
        SEVEN,
        Kind::Attribute,
        "followUpDate",
        "userTask",
        Map::Due,
        &["followUpDate"],
        Effect::Told,
        "Becomes the follow-up date, which work lists do not show yet.",
    ),
    to(SEVEN, "priority", "userTask", Map::Priority, &["priority"], "Becomes the priority, 0 to 100."),
    quiet(FLA, "owner", "userTask", "Human tasks have no owner beside their assignee."),
    quiet(FLA, "category", "userTask startEvent", "A label without an effect."),
    no(
        FLA,
        "businessCalendarName",
        "userTask timerEventDefinition timeCycle timeDuration timeDate",
        "Business calendars are not there.",
    ),
    no(FLA, "taskIdVariableName", "userTask", "No variable takes the id of the human task."),
    no(FLA, "activeTaskIdVariableName", "userTask", "No variable takes the id of the human task."),
    no(FLA, "taskCompleterVariableName", "userTask", "No variable takes who completed the human task."),
    told(FLA, "formFieldValidation", FORMS, FORM_KEY),
    told(FLA, "validateFormFields", FORMS, FORM_KEY),
    told(SEVEN, "formKey", FORMS, FORM_KEY),
    told(CAMUNDA, "formRef", FORMS, FORM_KEY),
    told(CAMUNDA, "formRefBinding", FORMS, FORM_KEY),
    told(CAMUNDA, "formRefVersion", FORMS, FORM_KEY),
    no(SEVEN, "formHandlerClass", FORMS, JAVA),
    word(
        SEVEN,
        Kind::Element,
        "formData",
        "userTask",
        Map::FormData,
        &["form"],
        Effect::Told,
        "Becomes the form, a JSON Schema.",
    ),
    word(
        SEVEN,
        Kind::Element,
        "formData",
        "startEvent",
        Map::FormData,
        &["inputSchema"],
        Effect::Told,
        "Becomes the schema of the start's input, a JSON Schema.",
    ),
    word(
        SEVEN,
        Kind::Element,
        "formProperty",
        "userTask",
        Map::FormProperty,
        &["form"],
        Effect::Told,
        "Becomes a field of the form, a JSON Schema.",
    ),
    word(
        SEVEN,
        Kind::Element,
        "formProperty",
        "startEvent",
        Map::FormProperty,
        &["inputSchema"],
        Effect::Told,
        "Becomes a field of the schema of the start's input, a JSON Schema.",
    ),
    kept(
        FLA,
        "customResource",
        "userTask",
        Effect::Refused,
        "Links of people to a task are assignee and candidates.",
    ),
    child(
        ZEEBE,
        "assignmentDefinition",
        "userTask",
        Map::Assignment,
        &["assignee", "candidateGroups", "candidateUsers"],
        "Becomes the assignee and the candidates.",
    ),
    child(
        ZEEBE,
        "taskSchedule",
        "userTask",
        Map::Schedule,
        &["dueDate", "followUpDate"],
        "Becomes the due date and the follow-up date.",
    ),
    child(
        ZEEBE,
        "priorityDefinition",
        "userTask",
        Map::PriorityDefinition,
        &["priority"],
        "Becomes the priority, 0 to 100.",
    ),
    word(
        ZEEBE,
        Kind::Element,
        "formDefinition",
        "userTask",
        Map::FormDefinition,
        &["form"],
        Effect::Told,
        "Becomes the form, a JSON Schema, when the model holds it.",
    ),
    word(
        ZEEBE,
        Kind::Element,
        "formDefinition",
        "startEvent",
        Map::FormDefinition,
        &["inputSchema"],
        Effect::Told,
        "Becomes the schema of the start's input, a JSON Schema, when the model holds it.",
    ),
    word(
        ZEEBE,
        Kind::Element,
        "userTask",
        "userTask",
        Map::Same,
        &[],
        Effect::Quiet,
        "Human tasks are the engine's own here, too.",
    ),
    kept(
        ZEEBE,
        "userTaskForm",
        "process",
        Effect::Quiet,
        "The form itself; the human tasks that name it take it over.",
    ),
    // Jobs and delegates.
    to(
        SEVEN,
        "type",
        DELEGATES,
        Map::TaskType,
        &["jobType"],
        "Becomes the type of the job for an external worker.",
    ),
    to(
        SEVEN,
        "topic",
        DELEGATES,
        Map::Topic,
        &["jobType"],
        "Becomes the type of the job for an external worker.",
    ),
    quiet(SEVEN, "taskPriority", "", ORDER),
    no(SEVEN, "class", DELEGATES, JAVA),
    no(SEVEN, "class", "multiInstanceLoopCharacteristics", JAVA),
    no(SEVEN, "delegateExpression", DELEGATES, JAVA),
    no(SEVEN, "expression", DELEGATES, JAVA),
    no(SEVEN, "expression", "conditionalEventDefinition", JAVA),
    to(
        SEVEN,
        "resultVariable",
        "businessRuleTask scriptTask",
        Map::Text,
        &["resultVariable"],
        "Becomes the variable of the result.",
    ),
    no(SEVEN, "resultVariable", DELEGATES, RESULT),
    no(FLA, "resultVariableName", "", RESULT),
    no(FLA, "useLocalScopeForResultVariable", "", RESULT),
    no(FLA, "storeResultVariableAsTransient", "", RESULT),
    unless(FLA, "triggerable", "", "false", "A task that waits for a trigger is a receive task here."),
    no(FLA, "extensionId", "", BUILT_IN),
    no(FLA, "skipExpression", "", "Nothing is skipped by an expression; a gateway says the same."),
    unless(FLA, "autoStoreVariables", "scriptTask", "false", SCRIPTS),
    unless(FLA, "doNotIncludeVariables", "", "false", SCRIPTS),
    no(SEVEN, "resource", "scriptTask conditionExpression formalExpression expression", SCRIPTS),
    no(FLA, "alfrescoScriptType", "", SCRIPTS),
    kept(SEVEN, "field", "", Effect::Refused, "It fills a field of a Java class or of a built-in task."),
    kept(CAMUNDA, "connector", "", Effect::Refused, BUILT_IN),
    kept(
        SEVEN,
        "errorEventDefinition",
        "",
        Effect::Refused,
        "It turns the failure of an external job into an error.",
    ),
    kept(FLA, "mapException", "", Effect::Refused, "It maps Java exceptions."),
    kept(FLA, "httpRequestHandler", "", Effect::Refused, JAVA),
    kept(FLA, "httpResponseHandler", "", Effect::Refused, JAVA),
    child(
        ZEEBE,
        "taskDefinition",
        JOBS,
        Map::TaskDefinition,
        &["jobType", "retry"],
        "Becomes the type of the job for an external worker, and how often it is tried.",
    ),
    word(
        ZEEBE,
        Kind::Element,
        "taskHeaders",
        JOBS,
        Map::Headers,
        &["headers"],
        Effect::Refused,
        "Becomes the headers of the job.",
    ),
    kept(ZEEBE, "taskHeaders", "", Effect::Quiet, "Names and values for other programs."),
    kept(ZEEBE, "jobPriorityDefinition", "", Effect::Quiet, ORDER),
    kept(ZEEBE, "linkedResources", "", Effect::Refused, "Files linked to a job are not there."),
    kept(ZEEBE, "agentDefinition", "", Effect::Refused, BUILT_IN),
    quiet(ZEEBE, "retryCounter", "", "A count that an editor shows."),
    word(
        SEVEN,
        Kind::Element,
        "failedJobRetryTimeCycle",
        "",
        Map::Retry,
        &["retry"],
        Effect::Told,
        "Becomes how often and when a failed job is tried again.",
    ),
    // Scripts and decisions.
    child(
        ZEEBE,
        "script",
        "scriptTask",
        Map::Script,
        &["source", "kind", "resultVariable"],
        "Becomes the FEEL expression of the script task and the variable of its result.",
    ),
    child(
        ZEEBE,
        "calledDecision",
        "businessRuleTask",
        Map::CalledDecision,
        &["decisionRef", "kind", "resultVariable", "versionPolicy", "versionTag"],
        "Becomes the decision and the variable of its result.",
    ),
    to(
        CAMUNDA,
        "decisionRef",
        "businessRuleTask",
        Map::Decision,
        &["decisionRef", "kind", "resultMapping"],
        "Becomes the decision; without `mapDecisionResult` its result is a list of contexts, as there.",
    ),
    to(
        CAMUNDA,
        "decisionRefBinding",
        "businessRuleTask",
        Map::Binding,
        &["versionPolicy"],
        "Becomes which version of the decision is evaluated.",
    ),
    to(
        CAMUNDA,
        "decisionRefVersion",
        "businessRuleTask",
        Map::Text,
        &["version"],
        "Becomes which version of the decision is evaluated.",
    ),
    to(
        CAMUNDA,
        "decisionRefVersionTag",
        "businessRuleTask",
        Map::Text,
        &["versionTag"],
        "Becomes which version of the decision is evaluated.",
    ),
    to(
        CAMUNDA,
        "mapDecisionResult",
        "businessRuleTask",
        Map::DecisionResult,
        &["resultMapping"],
        "Becomes the shape of the decision's result.",
    ),
    no(CAMUNDA, "decisionRefTenantId", "businessRuleTask", TENANT),
    no(
        FLA,
        "ruleVariablesInput",
        "businessRuleTask",
        "Rules of the other engine are not there; use a decision.",
    ),
    no(FLA, "rules", "businessRuleTask", "Rules of the other engine are not there; use a decision."),
    no(FLA, "exclude", "businessRuleTask", "Rules of the other engine are not there; use a decision."),
    // Data in and out.
    child(
        ZEEBE,
        "ioMapping",
        "",
        Map::IoMapping,
        &["inputs", "outputs"],
        "Becomes the input and output mappings.",
    ),
    child(
        CAMUNDA,
        "inputOutput",
        "",
        Map::InputOutput,
        &["inputs", "outputs"],
        "Becomes the input and output mappings.",
    ),
    child(
        SEVEN,
        "in",
        "callActivity",
        Map::In,
        &["inputs", "propagateAllInputs", "businessKey"],
        "Becomes an input of the called process.",
    ),
    child(
        SEVEN,
        "out",
        "callActivity",
        Map::Out,
        &["outputs", "propagateAllOutputs"],
        "Becomes an output of the called process.",
    ),
    kept(SEVEN, "in", "", Effect::Refused, "Data is passed to called processes only."),
    kept(SEVEN, "out", "", Effect::Refused, "Data is taken from called processes only."),
    // Calls.
    child(
        ZEEBE,
        "calledElement",
        "callActivity",
        Map::CalledElement,
        &[
            "ref",
            "kind",
            "propagateAllInputs",
            "propagateAllOutputs",
            "versionPolicy",
            "versionTag",
            "businessKey",
        ],
        "Becomes the called process, its version and whether all variables are passed.",
    ),
    to(CAMUNDA, "calledElementBinding", "callActivity", Map::Binding, &["versionPolicy"], CALLED),
    to(CAMUNDA, "calledElementVersion", "callActivity", Map::Text, &["version"], CALLED),
    to(CAMUNDA, "calledElementVersionTag", "callActivity", Map::Text, &["versionTag"], CALLED),
    no(CAMUNDA, "calledElementTenantId", "callActivity", TENANT),
    no(CAMUNDA, "caseRef", "callActivity", CASE),
    no(CAMUNDA, "caseBinding", "callActivity", CASE),
    no(CAMUNDA, "caseVersion", "callActivity", CASE),
    no(CAMUNDA, "caseTenantId", "callActivity", CASE),
    no(FLA, "caseDefinitionKey", "", CASE),
    no(FLA, "caseInstanceName", "", CASE),
    no(CAMUNDA, "variableMappingClass", "callActivity", JAVA),
    no(CAMUNDA, "variableMappingDelegateExpression", "callActivity", JAVA),
    unless(FLA, "calledElementType", "callActivity", "key", "A process is called by its id in the model."),
    to(
        FLA,
        "inheritVariables",
        "callActivity",
        Map::Flag,
        &["propagateAllInputs"],
        "Becomes whether all variables are passed.",
    ),
    to(FLA, "sameDeployment", "callActivity", Map::SameDeployment, &["versionPolicy"], CALLED),
    quiet(FLA, "sameDeployment", "", "Forms and decisions are those of the same definition."),
    to(
        FLA,
        "businessKey",
        "callActivity",
        Map::Text,
        &["businessKey"],
        "Becomes the business key of the called run.",
    ),
    to(
        FLA,
        "inheritBusinessKey",
        "callActivity",
        Map::InheritKey,
        &["businessKey"],
        "Becomes the business key of the called run.",
    ),
    quiet(FLA, "processInstanceName", "callActivity", "Runs have no name of their own."),
    no(FLA, "idVariableName", "", "No variable takes the id of the called run."),
    unless(
        FLA,
        "useLocalScopeForOutParameters",
        "callActivity",
        "false",
        "Outputs of a call reach the scope around it.",
    ),
    quiet(FLA, "completeAsync", "callActivity", DURABLE),
    unless(FLA, "fallbackToDefaultTenant", "", "false", TENANT),
    // Loops.
    to(
        SEVEN,
        "collection",
        "multiInstanceLoopCharacteristics",
        Map::Collection,
        &["loop"],
        "Becomes the collection of the loop.",
    ),
    to(
        SEVEN,
        "elementVariable",
        "multiInstanceLoopCharacteristics",
        Map::LoopItem,
        &["loop"],
        "Becomes the variable of one item of the loop.",
    ),
    no(
        FLA,
        "elementIndexVariable",
        "multiInstanceLoopCharacteristics",
        "The index of a loop has a fixed name.",
    ),
    kept(FLA, "collection", "multiInstanceLoopCharacteristics", Effect::Refused, JAVA),
    kept(
        FLA,
        "variableAggregation",
        "multiInstanceLoopCharacteristics",
        Effect::Refused,
        "Variables of the instances are not gathered.",
    ),
    unless(FLA, "noWaitStatesAsyncLeave", "", "false", DURABLE),
    child(
        ZEEBE,
        "loopCharacteristics",
        "multiInstanceLoopCharacteristics",
        Map::Loop,
        &["loop"],
        "Becomes the collection, the item and the output of the loop.",
    ),
    kept(
        ZEEBE,
        "adHoc",
        "adHocSubProcess",
        Effect::Refused,
        "The inner activities are not chosen by a collection.",
    ),
    // Events.
    child(
        ZEEBE,
        "subscription",
        "message",
        Map::Subscription,
        &["correlationKey"],
        "Becomes the correlation key of the events and receive tasks that wait for the message.",
    ),
    kept(ZEEBE, "subscription", "receiveTask", Effect::Refused, "It stands at the message."),
    kept(ZEEBE, "conditionalFilter", "", Effect::Refused, "Conditional events are not executed yet."),
    no(CAMUNDA, "variableName", "conditionalEventDefinition", "Conditional events are not executed yet."),
    no(CAMUNDA, "variableEvents", "conditionalEventDefinition", "Conditional events are not executed yet."),
    no(SEVEN, "errorCodeVariable", "errorEventDefinition", CATCHES),
    no(SEVEN, "errorMessageVariable", "errorEventDefinition", CATCHES),
    no(SEVEN, "escalationCodeVariable", "escalationEventDefinition", CATCHES),
    no(FLA, "errorVariableName", "", CATCHES),
    no(FLA, "errorVariableTransient", "", CATCHES),
    no(FLA, "errorVariableLocalScope", "", CATCHES),
    quiet(CAMUNDA, "errorMessage", "error", "A text for people; errors are caught by their code."),
    unless(FLA, "scope", "signal", "global", "Signals reach every listener, not one run alone."),
    no(FLA, "messageExpression", "", "The name of a message is not computed."),
    no(FLA, "signalExpression", "", "The name of a signal is not computed."),
    no(FLA, "endDate", "timeCycle", "The end of a cycle stands in its ISO 8601 text here."),
    unless(FLA, "terminateAll", "terminateEventDefinition", "false", "A terminate event ends its own scope."),
    unless(
        FLA,
        "terminateMultiInstance",
        "terminateEventDefinition",
        "false",
        "A terminate event ends its own scope.",
    ),
    no(SEVEN, "initiator", "startEvent", "No variable takes who started the run."),
    // Event registry of Flowable.
    kept(FLA, "eventType", "", Effect::Refused, BUILT_IN),
    kept(FLA, "eventName", "", Effect::Quiet, "A text for people."),
    kept(FLA, "triggerEventType", "", Effect::Refused, BUILT_IN),
    kept(FLA, "triggerEventName", "", Effect::Quiet, "A text for people."),
    kept(FLA, "sendSynchronously", "", Effect::Refused, BUILT_IN),
    kept(FLA, "eventInParameter", "", Effect::Refused, BUILT_IN),
    kept(FLA, "eventOutParameter", "", Effect::Refused, BUILT_IN),
    kept(FLA, "eventCorrelationParameter", "", Effect::Refused, BUILT_IN),
    kept(FLA, "triggerEventCorrelationParameter", "", Effect::Refused, BUILT_IN),
    kept(FLA, "startEventCorrelationConfiguration", "", Effect::Refused, BUILT_IN),
    kept(FLA, "channelKey", "", Effect::Refused, BUILT_IN),
    kept(FLA, "channelName", "", Effect::Refused, BUILT_IN),
    kept(FLA, "channelType", "", Effect::Refused, BUILT_IN),
    kept(FLA, "channelDestination", "", Effect::Refused, BUILT_IN),
    kept(FLA, "triggerChannelKey", "", Effect::Refused, BUILT_IN),
    kept(FLA, "triggerChannelName", "", Effect::Refused, BUILT_IN),
    kept(FLA, "triggerChannelType", "", Effect::Refused, BUILT_IN),
    kept(FLA, "triggerChannelDestination", "", Effect::Refused, BUILT_IN),
    kept(FLA, "keyDetectionType", "", Effect::Refused, BUILT_IN),
    kept(FLA, "keyDetectionValue", "", Effect::Refused, BUILT_IN),
    kept(FLA, "businessCalendarName", "", Effect::Refused, "Business calendars are not there."),
    // Listeners.
    kept(SEVEN, "executionListener", "", Effect::Refused, CODE),
    kept(SEVEN, "taskListener", "", Effect::Refused, CODE),
    kept(FLA, "eventListener", "", Effect::Refused, CODE),
    kept(ZEEBE, "executionListeners", "", Effect::Refused, CODE),
    kept(ZEEBE, "taskListeners", "", Effect::Refused, CODE),
    // Processes.
    told(SEVEN, "candidateStarterUsers", "process", STARTERS),
    told(SEVEN, "candidateStarterGroups", "process", STARTERS),
    kept(SEVEN, "potentialStarter", "", Effect::Told, STARTERS),
    quiet(SEVEN, "versionTag", "process", "A label; versions are numbered at publishing."),
    kept(ZEEBE, "versionTag", "process", Effect::Quiet, "A label; versions are numbered at publishing."),
    quiet(
        SEVEN,
        "historyTimeToLive",
        "process",
        "History is kept until a run is removed; nothing removes it by itself.",
    ),
    quiet(SEVEN, "history", "", "The history is always whole."),
    quiet(FLA, "includeInHistory", "", "The history is always whole."),
    quiet(SEVEN, "isStartableInTasklist", "process", "Every published process can be started."),
    quiet(FLA, "isEagerExecutionFetching", "process", "How that engine loads its rows."),
    // Transactions, order of jobs, and what belongs to editors.
    quiet(SEVEN, "async", "", DURABLE),
    quiet(SEVEN, "asyncBefore", "", DURABLE),
    quiet(SEVEN, "asyncAfter", "", DURABLE),
    quiet(FLA, "asyncLeave", "", DURABLE),
    quiet(FLA, "asyncLeaveExclusive", "", DURABLE),
    quiet(SEVEN, "exclusive", "", DURABLE),
    quiet(FLA, "parallelInSameTransaction", "", DURABLE),
    quiet(SEVEN, "jobPriority", "", ORDER),
    kept(FLA, "jobCategory", "", Effect::Quiet, ORDER),
    quiet(CAMUNDA, "diagramRelationId", "definitions", "It links the file to a modeler's store."),
    kept(FLOWABLE, "historyLevel", "process", Effect::Quiet, "The history is always whole."),
    kept(FLOWABLE, "task-candidates-type", "userTask", Effect::Quiet, DRAWN),
    kept(FLOWABLE, "work-form-field-validation", "startEvent", Effect::Quiet, DRAWN),
    quiet(CAMUNDA | ZEEBE, "modelerTemplate", "", EDITOR),
    quiet(CAMUNDA | ZEEBE, "modelerTemplateVersion", "", EDITOR),
    quiet(ZEEBE, "modelerTemplateIcon", "", EDITOR),
    kept(SEVEN | ZEEBE, "properties", "", Effect::Quiet, "Names and values for other programs."),
    kept(FLA, "localization", "", Effect::Quiet, "Texts in other languages."),
    kept(FLA, "value", "dataObject", Effect::Refused, "Data objects have no value at the start."),
];

/// The attributes and elements within extension elements: the vendors, the element around, attributes, children.
/// What becomes of the element around becomes of them.
pub(crate) static PARTS: &[(u8, &str, &str, &str)] = &[
    (SEVEN, "formData", "businessKey", "formField"),
    (SEVEN, "formField", "id label type datePattern defaultValue", "properties validation value"),
    (SEVEN, "validation", "", "constraint"),
    (SEVEN, "constraint", "name config", ""),
    (SEVEN, "properties", "", "property"),
    (SEVEN, "property", "id name value", ""),
    (
        SEVEN,
        "formProperty",
        "id name type required readable writable variable expression datePattern default value",
        "value",
    ),
    (SEVEN, "value", "id name", ""),
    (SEVEN, "field", "name stringValue expression", "string expression"),
    (CAMUNDA, "connector", "", "connectorId inputOutput"),
    (CAMUNDA, "inputOutput", "", "inputParameter outputParameter"),
    (CAMUNDA, "inputParameter", "name", "list map script"),
    (CAMUNDA, "outputParameter", "name", "list map script"),
    (CAMUNDA, "list", "", "list map script value"),
    (CAMUNDA, "map", "", "entry"),
    (CAMUNDA, "entry", "key", "list map script"),
    (CAMUNDA, "script", "scriptFormat resource", ""),
    (
        SEVEN,
        "in",
        "source sourceExpression target targetExpression businessKey local variables transient",
        "",
    ),
    (SEVEN, "out", "source sourceExpression target targetExpression local variables transient", ""),
    (SEVEN, "errorEventDefinition", "id errorRef expression errorCodeVariable errorMessageVariable", ""),
    (
        SEVEN,
        "executionListener",
        "expression class delegateExpression event onTransaction customPropertiesResolverClass \
         customPropertiesResolverExpression customPropertiesResolverDelegateExpression",
        "script field",
    ),
    (
        SEVEN,
        "taskListener",
        "id expression class delegateExpression event onTransaction customPropertiesResolverClass \
         customPropertiesResolverExpression customPropertiesResolverDelegateExpression",
        "script field",
    ),
    (
        FLA,
        "eventListener",
        "events onTransaction entityType throwEvent signalName messageName errorCode class delegateExpression",
        "",
    ),
    (FLA, "mapException", "errorCode includeChildExceptions rootCause", ""),
    (FLA, "httpRequestHandler", "class delegateExpression type", "field script"),
    (FLA, "httpResponseHandler", "class delegateExpression type", "field script"),
    (FLA, "eventInParameter", "source sourceExpression target targetExpression", ""),
    (FLA, "eventOutParameter", "source sourceExpression sourceType target transient", ""),
    (FLA, "eventCorrelationParameter", "name value", ""),
    (FLA, "triggerEventCorrelationParameter", "name value", ""),
    (FLA, "customResource", "name", ""),
    (FLA, "collection", "class delegateExpression", "string expression"),
    (
        FLA,
        "variableAggregation",
        "target targetExpression class delegateExpression storeAsTransientVariable \
        createOverviewVariable",
        "variable",
    ),
    (FLA, "variable", "source sourceExpression target targetExpression", ""),
    (FLA, "localization", "locale name", "documentation"),
    (ZEEBE, "ioMapping", "", "input output"),
    (ZEEBE, "input", "source target modelerConfigurationTemplate modelerConfigurationName", ""),
    (ZEEBE, "output", "source target", ""),
    (ZEEBE, "subscription", "correlationKey", ""),
    (ZEEBE, "taskHeaders", "", "header"),
    (ZEEBE, "header", "id key value", ""),
    (ZEEBE, "taskDefinition", "type retries", ""),
    (ZEEBE, "loopCharacteristics", "inputCollection inputElement outputCollection outputElement", ""),
    (
        ZEEBE,
        "calledElement",
        "processId processIdExpression propagateAllChildVariables propagateAllParentVariables businessId \
         bindingType versionTag",
        "",
    ),
    (ZEEBE, "userTaskForm", "id", ""),
    (ZEEBE, "formDefinition", "formKey formId externalReference bindingType versionTag", ""),
    (ZEEBE, "linkedResources", "", "linkedResource"),
    (ZEEBE, "linkedResource", "resourceId resourceType linkName bindingType versionTag", ""),
    (ZEEBE, "calledDecision", "decisionId resultVariable bindingType versionTag", ""),
    (ZEEBE, "assignmentDefinition", "assignee candidateGroups candidateUsers", ""),
    (ZEEBE, "priorityDefinition", "priority", ""),
    (ZEEBE, "jobPriorityDefinition", "priority", ""),
    (ZEEBE, "taskSchedule", "dueDate followUpDate", ""),
    (ZEEBE, "properties", "", "property"),
    (ZEEBE, "property", "name value modelerConfigurationTemplate modelerConfigurationName", ""),
    (ZEEBE, "script", "expression resultVariable", ""),
    (ZEEBE, "executionListeners", "", "executionListener"),
    (ZEEBE, "executionListener", "eventType retries type", "taskHeaders"),
    (ZEEBE, "taskListeners", "", "taskListener"),
    (ZEEBE, "taskListener", "eventType retries type", "taskHeaders"),
    (ZEEBE, "versionTag", "value", ""),
    (ZEEBE, "adHoc", "activeElementsCollection outputCollection outputElement", ""),
    (ZEEBE, "conditionalFilter", "variableNames variableEvents", ""),
    (ZEEBE, "agentDefinition", "agentType", ""),
];
