//! Work of items: stages, tasks, milestones and event listeners, with what their settings ask for.

use super::control::OF_CONTROLS;
use super::parameters::{Called, Passed};
use super::sentries::is_change;
use super::{At, Builder, Node, local};
use crate::finding::Severity;
use crate::model::{Callable, PlanItemDefinition};
use crate::plan::{Extra, Work};
use heddle_settings::service::{Place, service_kind};
use heddle_settings::{
    DecisionTask, JobTask, Mappings, ReadCall, Script, ScriptTask, Setting, Target, TimerDefinition,
    TimerKind, UserTask, Wrong, expression, juel,
};
use serde_json::{Map, Value};
use std::sync::Arc;

const CLAUSE: &str = "5.4.10";

/// Mark of a fault that was told.
struct Reported;

/// Settings that every item and definition may have.
const EVERYWHERE: &[&str] = &["listeners", "kind"];
/// Settings that only show something.
const SHOWN: &[&str] = &["displayOrder", "includeInStageOverview"];
const OF_STAGES: &[&str] = &["autoCompleteCondition", "businessStatus"];
const OF_TASKS: &[&str] = &["blockingCondition"];
const OF_HUMAN: &[&str] = &[
    "assignee",
    "candidateUsers",
    "candidateGroups",
    "dueDate",
    "followUpDate",
    "priority",
    "form",
    "outcomes",
    "category",
    "formKey",
    "inputs",
    "outputs",
];
const OF_CALLS: &[&str] = &[
    "ref",
    "version",
    "versionTag",
    "versionPolicy",
    "propagateAllInputs",
    "propagateAllOutputs",
    "businessKey",
    "inheritBusinessKey",
    "correlationKey",
    "inputs",
    "outputs",
];
const OF_DECISIONS: &[&str] =
    &["decisionRef", "resultVariable", "resultMapping", "inputs", "outputs", "version", "versionPolicy"];
const OF_JOBS: &[&str] = &["jobType", "headers", "retry", "priority", "resultVariable", "inputs", "outputs"];
const OF_SCRIPTS: &[&str] = &[
    "source",
    "script",
    "scriptFormat",
    "resultVariable",
    "inputs",
    "outputs",
    "headers",
    "retry",
    "priority",
];
const OF_LISTENERS: &[&str] = &[
    "availableCondition",
    "correlationKey",
    "eventType",
    "listenerType",
    "outputs",
    "signalName",
    "variableChangeType",
    "variableName",
];

/// Place and settings of what is read.
struct Own<'a, 'm> {
    /// The item.
    item: At<'a>,
    /// Definition of the item.
    at: At<'a>,
    definition: &'m PlanItemDefinition,
    settings: Map<String, Value>,
}

impl<'m> Builder<'m> {
    /// Work of the case plan model.
    pub(super) fn plan_model(&mut self, model: &'m PlanItemDefinition, at: At<'_>) -> (Work, Extra) {
        // The settings of the case are looked at with its start events.
        let case = self.merged(at, None, self.case.configuration.as_ref());
        let settings = self.merged(at, None, model.configuration.as_ref());
        self.only_settings(
            at,
            &settings,
            "the case plan model",
            &[EVERYWHERE, SHOWN, OF_STAGES, &["startEvents"]],
        );
        let mut extra = Extra { blocking: true, ..Extra::default() };
        for name in ["initiator", "businessStatus"] {
            let found = settings.get(name).or_else(|| case.get(name)).filter(|own| !own.is_null());
            extra.settings.extend(found.map(|own| (name.to_owned(), own.clone())));
        }
        self.listeners(at, &settings, "casePlanModel", &mut extra);
        self.listeners(at, &case, "casePlanModel", &mut extra);
        (self.stage_work(at, model, &settings), extra)
    }

    /// A stage, or the case plan model.
    fn stage_work(
        &mut self,
        at: At<'_>,
        definition: &PlanItemDefinition,
        settings: &Map<String, Value>,
    ) -> Work {
        let auto_complete = self
            .constant(at, "autoCompleteCondition", settings.get("autoCompleteCondition"))
            .unwrap_or_else(|| definition.auto_complete.unwrap_or_default());
        Work::Stage { auto_complete }
    }

    /// A condition that its text decides; none where there is none, or it was refused.
    fn constant(&mut self, at: At<'_>, name: &str, value: Option<&Value>) -> Option<bool> {
        let found = match value? {
            Value::Bool(own) => return Some(*own),
            Value::String(text) => {
                self.text_condition(at, &format!("configuration.{name}"), text)?.expression.constant()
            }
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        };
        if let Some(heddle_feel::Value::Boolean(own)) = found {
            return Some(own);
        }
        let message = format!(
            "configuration.{name}: it is decided before the case runs, and cannot depend on its data"
        );
        self.error(at, ("unsupportedSetting", "5.4"), message);
        None
    }

    /// Work of an item, and what else is asked of it.
    pub(super) fn work(
        &mut self,
        node: &Node<'m>,
        definition: &'m PlanItemDefinition,
        item: At<'_>,
        defined: &str,
    ) -> (Work, Extra) {
        let settings = self.merged(item, node.configuration, definition.configuration.as_ref());
        let at = At { id: node.definition_ref, path: defined };
        let mut extra = Extra { blocking: definition.is_blocking.unwrap_or(true), ..Extra::default() };
        if let Some(blocking) = self.constant(item, "blockingCondition", settings.get("blockingCondition")) {
            extra.blocking = blocking;
        }
        for name in ["businessStatus", "category", "formKey"].iter().chain(SHOWN) {
            extra.settings.extend(settings.get(*name).map(|own| ((*name).to_owned(), own.clone())));
        }
        let kind = definition.r#type.as_deref().unwrap_or_default();
        self.listeners(item, &settings, kind, &mut extra);
        let own = Own { item, at, definition, settings };
        let known: &[&[&str]] = match kind {
            "stage" => &[SHOWN, OF_STAGES],
            "milestone" => &[SHOWN, &["milestoneVariable", "businessStatus"]],
            "timerEventListener" | "userEventListener" | "eventListener" => &[OF_LISTENERS],
            "humanTask" => &[OF_HUMAN, OF_TASKS],
            "processTask" | "caseTask" => &[OF_CALLS, OF_TASKS],
            "decisionTask" => &[OF_DECISIONS, OF_TASKS],
            "task" => &[OF_JOBS, OF_SCRIPTS, OF_TASKS],
            _ => &[],
        };
        let service = service_kind(&own.settings).filter(|own| kind == "task" && own.place == Place::Task);
        let members: Vec<&str> =
            service.iter().flat_map(|kind| kind.members.iter().map(|member| member.name)).collect();
        let known: Vec<&[&str]> =
            known.iter().copied().chain([EVERYWHERE, OF_CONTROLS, members.as_slice()]).collect();
        self.only_settings(item, &own.settings, &format!("a {kind}"), &known);
        let work = match kind {
            "stage" => Some(self.stage_work(item, definition, &own.settings)),
            "milestone" => {
                let variable = own.settings.get("milestoneVariable");
                let variable =
                    variable.and_then(|value| self.name(value, item, "configuration.milestoneVariable"));
                Some(Work::Milestone { variable })
            }
            "timerEventListener" => {
                self.alone(&own);
                self.timer(&own)
            }
            "userEventListener" => {
                self.alone(&own);
                let roles = definition.authorized_role_refs.as_deref().unwrap_or_default();
                Some(Work::UserEvent { roles: self.role_ids(at, "authorizedRoleRefs", roles) })
            }
            "eventListener" => self.listener(&own, &mut extra),
            "humanTask" => self.human(&own, &mut extra),
            "processTask" => self.process(&own, &mut extra),
            "caseTask" => self.case(&own, &mut extra),
            "decisionTask" => self.decision(&own, &mut extra),
            "task" => self.plain(&own, &mut extra),
            other => {
                let message = match other {
                    "" => "the definition has no type".to_owned(),
                    "planFragment" => "a plan fragment is not executed".to_owned(),
                    other => format!("{other} is no definition of a plan item"),
                };
                self.error(at, ("unsupportedElement", "5.4.1"), message);
                None
            }
        };
        if kind.ends_with("Listener")
            && let Some(text) = own.settings.get("availableCondition").and_then(Value::as_str)
        {
            extra.available = self.text_condition(item, "configuration.availableCondition", text);
        }
        (work.unwrap_or(Work::Task), extra)
    }

    /// Tells of settings that are wrong.
    fn wrong(&mut self, at: At<'_>, wrong: Vec<Wrong>) {
        for (code, sentence, _) in wrong {
            self.error(at, (code, CLAUSE), format!("configuration.{sentence}"));
        }
    }

    fn timer(&mut self, own: &Own<'_, 'm>) -> Option<Work> {
        let Some(text) = Self::text(own.definition.timer_expression.as_ref()) else {
            self.error(own.at, ("required", "5.4.8.2"), "the timer event listener has no timer expression");
            return None;
        };
        match TimerDefinition::parse(TimerKind::Any, text) {
            Ok(timer) => Some(Work::Timer { timer: Arc::new(timer), start: None }),
            Err(error) => {
                self.error(own.at, ("timerSyntax", "5.4.8.2"), format!("timerExpression: {error}"));
                None
            }
        }
    }

    /// Tells of settings by which a timer or user event listener would listen to something else.
    fn alone(&mut self, own: &Own<'_, 'm>) {
        for name in OF_LISTENERS.iter().filter(|name| **name != "availableCondition") {
            if own.settings.contains_key(*name) {
                let message = format!("configuration.{name}: only an event listener without a type has it");
                self.error(own.item, ("settingUnused", "5.4.2"), message);
            }
        }
    }

    /// A listener of an extension; one without settings is the standard's, whose event somebody raises.
    fn listener(&mut self, own: &Own<'_, 'm>, extra: &mut Extra) -> Option<Work> {
        match Mappings::read(&own.settings) {
            Ok(mappings) => extra.mappings = mappings.unwrap_or_default(),
            Err(wrong) => self.wrong(own.item, wrong),
        }
        match listens(&own.settings) {
            Ok(work) => Some(work),
            Err(sentence) => {
                self.error(own.item, ("wrongSetting", "5.4.2"), format!("configuration.{sentence}"));
                None
            }
        }
    }

    fn human(&mut self, own: &Own<'_, 'm>, extra: &mut Extra) -> Option<Work> {
        let performer = own.definition.performer_ref.as_deref().filter(|id| !id.is_empty());
        let performer = performer
            .and_then(|id| self.role_ids(own.at, "performerRef", &[id.to_owned()]).into_iter().next());
        let passed = self.parameters(own.definition, Called::default(), own.at);
        self.mapped(own, passed, extra);
        let mut task = match UserTask::read(Some(&own.settings), None) {
            Ok(task) => task,
            Err(wrong) => {
                for sentence in wrong {
                    self.error(own.item, ("wrongSetting", CLAUSE), format!("configuration.{sentence}"));
                }
                return None;
            }
        };
        if task.is_open()
            && let Some(role) =
                performer.as_ref().and_then(|id| self.plan.roles.iter().find(|role| role.id == *id))
        {
            task.candidate_groups = Some(Setting::Literal(Value::Array(vec![(*role.name).into()])));
        }
        Some(Work::Human { task: Arc::new(task), performer })
    }

    /// Mappings of settings and of parameters of a task that has none in its work.
    fn mapped(&mut self, own: &Own<'_, 'm>, passed: Passed, extra: &mut Extra) {
        match Mappings::read(&own.settings) {
            Ok(mappings) => extra.mappings = mappings.unwrap_or_default(),
            Err(wrong) => self.wrong(own.item, wrong),
        }
        extra.mappings.inputs.extend(passed.inputs);
        extra.mappings.outputs.extend(passed.outputs);
        (extra.bound_inputs, extra.bound_outputs) = (passed.bound_inputs, passed.bound_outputs);
    }

    /// Reference to what a process or case task calls: an expression, else the element's own name for it.
    fn reference(
        &mut self,
        at: At<'_>,
        name: Option<&'m str>,
        computed: Option<&'m crate::model::Expression>,
    ) -> Option<String> {
        match self.value(at, "refExpression", computed) {
            Some(expression) => Some(format!("={}", expression.source())),
            None => name.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned),
        }
    }

    fn process(&mut self, own: &Own<'_, 'm>, extra: &mut Extra) -> Option<Work> {
        let definition = own.definition;
        let named = definition.process_ref.as_deref();
        let processes = self.definition.processes.as_deref().unwrap_or_default();
        let known = named.and_then(|id| callable(processes, id));
        let name = known.map_or(named.map(referred), called_name);
        let called = known.map_or(Called::default(), |own| Called {
            inputs: own.inputs.as_deref(),
            outputs: own.outputs.as_deref(),
        });
        let name = self.reference(own.at, name, definition.process_ref_expression.as_ref());
        let call = self.call(own, name.as_deref(), called, extra)?;
        Some(Work::Process { call })
    }

    fn case(&mut self, own: &Own<'_, 'm>, extra: &mut Extra) -> Option<Work> {
        let definition = own.definition;
        let named = definition.case_ref.as_deref().map(referred);
        let cases = self.definition.cases.as_deref().unwrap_or_default();
        let known = cases.iter().find(|case| case.id.is_some() && case.id.as_deref() == named);
        let called = known.map_or(Called::default(), |case| Called {
            inputs: Some(case.inputs.as_deref().unwrap_or_default()),
            outputs: Some(case.outputs.as_deref().unwrap_or_default()),
        });
        let name = self.reference(own.at, named, definition.case_ref_expression.as_ref());
        let call = self.call(own, name.as_deref(), called, extra)?;
        Some(Work::Case { call })
    }

    fn call(
        &mut self,
        own: &Own<'_, 'm>,
        name: Option<&str>,
        called: Called<'m>,
        extra: &mut Extra,
    ) -> Option<Arc<heddle_settings::CallTask>> {
        let passed = self.parameters(own.definition, called, own.at);
        let has_none = passed.is_empty();
        self.mapped(own, passed, extra);
        match ReadCall::read(Some(&own.settings), name) {
            Ok(ReadCall { mut task, .. }) => {
                // With parameters only these pass, as the standard says, unless the settings say otherwise.
                let said = |name: &str| own.settings.get(name).is_some_and(Value::is_boolean);
                task.all_in = task.all_in && (has_none || said("propagateAllInputs"));
                task.all_out = task.all_out && (has_none || said("propagateAllOutputs"));
                Some(Arc::new(task))
            }
            Err(wrong) => {
                for (code, sentence, _) in wrong {
                    self.error(own.item, (code, CLAUSE), sentence.replace("call activity", "task"));
                }
                None
            }
        }
    }

    fn decision(&mut self, own: &Own<'_, 'm>, extra: &mut Extra) -> Option<Work> {
        let definition = own.definition;
        let named = definition.decision_ref.as_deref();
        let decisions = self.definition.decisions.as_deref().unwrap_or_default();
        let known = named.and_then(|id| callable(decisions, id));
        let name = known.map_or(named.map(referred), called_name);
        let called = known.map_or(Called::default(), |own| Called {
            inputs: own.inputs.as_deref(),
            outputs: own.outputs.as_deref(),
        });
        let passed = self.parameters(definition, called, own.at);
        match own.settings.get("versionPolicy").map(|own| own.as_str().unwrap_or_default()) {
            _ if own.settings.contains_key("version") => {
                let message = "configuration.version: a decision is that of its workflow's active version";
                self.error(own.item, ("unsupportedSetting", CLAUSE), message);
            }
            None | Some("latest") => {}
            Some("deployment") => {
                let message = "configuration.versionPolicy: the decision is that of its workflow's active version, \
                    not that of the time at which the case type was published";
                self.tell(Severity::Warning, own.item, ("decisionVersion", CLAUSE), message);
            }
            Some(_) => {
                let message = "configuration.versionPolicy: only `latest` is known for a decision";
                self.error(own.item, ("unsupportedSetting", CLAUSE), message);
            }
        }
        let computed =
            self.value(own.at, "decisionRefExpression", definition.decision_ref_expression.as_ref());
        let mut settings = own.settings.clone();
        if let Some(text) = name.filter(|name| juel::is_juel(name) && !settings.contains_key("decisionRef")) {
            match super::translated(&text.into()) {
                Ok(value) => {
                    settings.insert("decisionRef".to_owned(), value);
                }
                Err(error) => {
                    self.error(own.at, ("expressionLanguage", CLAUSE), format!("decisionRef: {error}"));
                    return None;
                }
            }
        }
        let mut task = match DecisionTask::read(Some(&settings), name.filter(|name| !name.is_empty())) {
            Ok(Some(task)) => task,
            Ok(None) if computed.is_some() => DecisionTask {
                decision: Setting::Literal(Value::Null),
                mapping: heddle_settings::ResultMapping::default(),
                data: heddle_settings::DataMapping::default(),
            },
            Ok(None) => {
                self.error(own.at, ("required", CLAUSE), "decisionRef: the task names no decision");
                return None;
            }
            Err(wrong) => {
                self.wrong(own.item, wrong);
                return None;
            }
        };
        if let Some(computed) = computed {
            task.decision = Setting::Expression(computed);
        }
        (extra.bound_inputs, extra.bound_outputs) = (passed.bound_inputs, passed.bound_outputs);
        task.data.inputs.extend(passed.inputs);
        self.results(own, &passed.results, passed.outputs, &mut task.data);
        Some(Work::Decision { decision: Arc::new(task) })
    }

    /// Output parameters of a decision: one is its result; of several each is a member of it.
    fn results(
        &mut self,
        own: &Own<'_, 'm>,
        results: &[Arc<str>],
        outputs: Vec<(Target, Setting)>,
        data: &mut heddle_settings::DataMapping,
    ) {
        if data.result_variable.is_none()
            && let Some(first) = results.first()
        {
            if results.iter().all(|name| name == first) {
                data.result_variable = Some(Arc::clone(first));
            } else {
                let message = "outputs: a decision gives one result; name its variable in `resultVariable` and take its members \
                               in `outputs`";
                self.error(own.at, ("wrongParameter", "5.4.10.1"), message);
            }
        }
        data.outputs.extend(outputs);
    }

    /// A task without a type of the standard: the job of a worker, a script, or nothing.
    fn plain(&mut self, own: &Own<'_, 'm>, extra: &mut Extra) -> Option<Work> {
        let passed = self.parameters(own.definition, Called::default(), own.at);
        let text = own.settings.get("script").and_then(Value::as_str);
        let format = own.settings.get("scriptFormat").and_then(Value::as_str);
        let computed = computed_code(&own.settings);
        let own = &Own { settings: computed, ..*own };
        match self.service(own) {
            Ok(None) => {}
            Ok(Some(job)) => {
                self.mapped(own, passed, extra);
                return Some(Work::Job { job: Arc::new(job) });
            }
            Err(Reported) => return None,
        }
        match JobTask::read(&own.settings) {
            Ok(Some(job)) => {
                self.mapped(own, passed, extra);
                return Some(Work::Job { job: Arc::new(job) });
            }
            Ok(None) if text.is_none() && !own.settings.contains_key("source") => {
                self.mapped(own, passed, extra);
                for name in ["resultVariable", "headers", "retry", "priority"] {
                    if own.settings.get(name).is_some_and(|value| !value.is_null()) {
                        let message = format!("configuration.{name}: only a job or a script has it");
                        self.error(own.item, ("settingUnused", CLAUSE), message);
                    }
                }
                return Some(Work::Task);
            }
            Ok(None) => {}
            Err(wrong) => {
                self.wrong(own.item, wrong);
                self.mapped(own, passed, extra);
                return None;
            }
        }
        let read = match heddle_settings::script(Some(&own.settings), text, format) {
            Ok(None) => ScriptTask::read(Some(&own.settings), text, format).map(|own| own.map(Script::Feel)),
            other => other,
        };
        match read {
            Ok(Some(Script::Feel(mut script))) => {
                (extra.bound_inputs, extra.bound_outputs) = (passed.bound_inputs, passed.bound_outputs);
                script.data.inputs.extend(passed.inputs);
                script.data.outputs.extend(passed.outputs);
                Some(Work::Script { script: Arc::new(script) })
            }
            Ok(Some(Script::Job(job))) => {
                self.mapped(own, passed, extra);
                Some(Work::Job { job: Arc::new(job) })
            }
            Ok(None) => {
                self.error(own.item, ("wrongSetting", CLAUSE), "configuration.script: there is no script");
                None
            }
            Err(wrong) => {
                self.wrong(own.item, wrong);
                None
            }
        }
    }

    /// The job of a task whose kind is one of the service's; none where it has no kind.
    fn service(&mut self, own: &Own<'_, 'm>) -> Result<Option<JobTask>, Reported> {
        match (service_kind(&own.settings), own.settings.get("kind").and_then(Value::as_str)) {
            (Some(kind), _) if kind.place == Place::Task => {
                kind.read(own.item.id, &own.settings).map(Some).map_err(|wrong| {
                    self.wrong(own.item, wrong);
                    Reported
                })
            }
            (None, Some("feel")) | (_, None) => Ok(None),
            (_, Some(kind)) => {
                let message = format!("configuration.kind: there is no executor for the kind `{kind}` yet");
                self.error(own.item, ("unsupportedImplementation", CLAUSE), message);
                Err(Reported)
            }
        }
    }
}

/// Work of an event listener by its settings.
fn listens(settings: &Map<String, Value>) -> Result<Work, String> {
    let given = |name: &str| settings.get(name).filter(|value| !value.is_null());
    let kind = match given("listenerType").map(|value| value.as_str()) {
        Some(kind) => kind.unwrap_or_default(),
        None if given("signalName").is_some() => "signal",
        None if given("variableName").is_some() => "variable",
        None if given("eventType").is_some() => "message",
        None => "generic",
    };
    let read = |name: &str| match given(name) {
        Some(value @ Value::String(text)) if !text.trim().is_empty() => Setting::read(value),
        Some(_) | None => Err(format!("{name}: must be a text")),
    };
    match kind {
        "generic" => Ok(Work::UserEvent { roles: Vec::new() }),
        "message" => {
            let key = given("correlationKey").map(|_| read("correlationKey")).transpose()?;
            Ok(Work::Message { name: read("eventType")?, key })
        }
        "signal" => Ok(Work::Signal { name: read("signalName")? }),
        "variable" => {
            let name = given("variableName").and_then(Value::as_str).map(str::trim).unwrap_or_default();
            let change = match given("variableChangeType").map(|own| own.as_str()) {
                None | Some(Some("" | "all")) => None,
                Some(Some(word)) if is_change(word) => Some(word.into()),
                Some(_) => {
                    return Err(
                        "variableChangeType: must be all, create, update, delete or update-create".to_owned()
                    );
                }
            };
            if name.is_empty() {
                return Err("variableName: must be the name of a variable".to_owned());
            }
            Ok(Work::Variable { name: name.into(), change })
        }
        "reactivate" => {
            let available = match given("availableCondition").map(|own| own.as_str()) {
                None => None,
                Some(Some(text)) => Some(
                    expression::condition(text.trim(), None, None)
                        .map_err(|wrong| format!("availableCondition: {}", wrong.sentence))?,
                ),
                Some(None) => return Err("availableCondition: must be a text".to_owned()),
            };
            Ok(Work::Reactivation { available })
        }
        other => Err(format!("listenerType: must be message, signal, variable or reactivate, not {other:?}")),
    }
}

/// Settings in which an expression of the other engine that is FEEL as well is computed, rather than a job.
fn computed_code(settings: &Map<String, Value>) -> Map<String, Value> {
    let mut found = settings.clone();
    let code =
        settings.get("jobType").and_then(Value::as_str).and_then(|own| own.strip_prefix("expression:"));
    if let Some(feel) = code.filter(|code| juel::is_juel(code)).and_then(|code| juel::value(code).ok()) {
        found.remove("jobType");
        found.insert("source".to_owned(), format!("={feel}").into());
    }
    found
}

/// The process or decision that a reference names, in the definition.
fn callable<'m>(all: &'m [Callable], reference: &str) -> Option<&'m Callable> {
    let by = |id: &str| all.iter().find(|own| own.id.as_deref() == Some(id));
    by(reference).or_else(|| by(local(reference)))
}

/// The name that a reference gives: without the prefix of its namespace, where it is no expression.
fn referred(reference: &str) -> &str {
    if juel::is_juel(reference) || reference.starts_with('=') { reference } else { local(reference) }
}

/// Name of what a process or decision element stands for.
fn called_name(own: &Callable) -> Option<&str> {
    let given = |text: Option<&'_ String>| text.is_some_and(|text| !text.trim().is_empty());
    if given(own.external_ref.as_ref()) {
        own.external_ref.as_deref().map(referred)
    } else if given(own.name.as_ref()) {
        own.name.as_deref()
    } else {
        own.id.as_deref()
    }
}
