//! Trial of an element: a case of its model is started and brought to where the element shows what it does.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_cmmn::compile;
use heddle_cmmn::model::CaseDefinition;
use heddle_cmmn::plan::{CasePlan, FileEvent, ItemEvent};
use heddle_engine::{
    Actor, Budget, Command, ItemTarget, Rejection, RunContext, State, Trigger, case_view, step,
};
use heddle_kernel::{RunId, Timestamp, UserId};
use serde_json::{Map, Value, json};

/// Something that is done in the case.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// Somebody completes an item.
    Complete(&'static str),
    /// Somebody raises the event of a listener.
    Occur(&'static str),
    /// Somebody plans a discretionary item.
    Plan(&'static str),
    /// A case file item is created.
    File(&'static str),
    /// Two hours go by.
    Wait,
}

/// Acts, and the state in which an item is found after them.
struct Trial {
    acts: &'static [Act],
    item: &'static str,
    state: &'static str,
    /// Whether the last thing is refused to who does not fill the role, and let through to who does.
    by_role: bool,
}

const fn ends(acts: &'static [Act], item: &'static str, state: &'static str) -> Trial {
    Trial { acts, item, state, by_role: false }
}

const fn by_role(acts: &'static [Act], item: &'static str, state: &'static str) -> Trial {
    Trial { acts, item, state, by_role: true }
}

/// Trial of an element's model; of most it is enough that the item begins.
fn trial_of(name: &str) -> Trial {
    match name {
        "caseRoles" | "role" | "userEventListener" => by_role(&[Act::Occur("i")], "i", "completed"),
        "authorizedRoleRefs" => by_role(&[Act::Plan("di")], "di", "active"),
        "planningTable" | "discretionaryItem" | "applicabilityRule" => {
            ends(&[Act::Plan("di")], "di", "active")
        }
        "caseFileModel"
        | "caseFileItem"
        | "caseFileItemDefinition"
        | "children"
        | "property"
        | "caseFileItemOnPart" => ends(&[Act::File("f")], "i", "active"),
        "caseFileItemStartTrigger" => ends(&[Act::File("f"), Act::Wait], "i", "completed"),
        "stage" => ends(&[], "j", "active"),
        "task" | "milestone" => ends(&[], "i", "completed"),
        "eventListener" => ends(&[Act::Occur("i")], "i", "completed"),
        "timerEventListener" => ends(&[Act::Wait], "i", "completed"),
        "planItemStartTrigger" => ends(&[Act::Complete("h"), Act::Wait], "i", "completed"),
        "sentry" | "entryCriterion" | "planItemOnPart" => ends(&[Act::Complete("h")], "i", "active"),
        "exitCriterion" => ends(&[Act::Complete("h")], "i", "terminated"),
        "exitCriterionRef" => ends(&[Act::Complete("g")], "i", "active"),
        "repetitionRule" => ends(&[Act::Complete("i")], "i", "active"),
        "manualActivationRule" => ends(&[], "i", "enabled"),
        _ => ends(&[], "i", "active"),
    }
}

/// Reason why an element is not executed; none where its trial ends as it should.
pub(super) fn failure(name: &str, definition: &CaseDefinition) -> Option<String> {
    let compiled = compile(definition);
    let Some(plan) = compiled.cases.first() else { return Some("it is not compiled".to_owned()) };
    match tried(trial_of(name), plan) {
        Ok(()) => None,
        // A decision is looked up in the organisation, which a trial has none of.
        Err(Fault::Rejected(Rejection::DecisionNeeded(_))) if name == "decisionTask" => None,
        Err(Fault::Rejected(rejection)) => Some(rejection.to_string()),
        Err(Fault::Other(sentence)) => Some(sentence),
    }
}

/// Failure of a trial.
enum Fault {
    Rejected(Rejection),
    Other(String),
}

impl From<Rejection> for Fault {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

fn tried(trial: Trial, plan: &Arc<CasePlan>) -> Result<(), Fault> {
    let mut case = Case { plan, state: State::new(), now: Timestamp::from_micros(0), roles: Vec::new() };
    let input = Map::from_iter([("amount".to_owned(), json!(11))]);
    case.give(Command::Start { trigger: Trigger::Manual { start_node: None }, input })?;
    for (at, act) in trial.acts.iter().enumerate() {
        if trial.by_role && at + 1 == trial.acts.len() {
            if case.act(*act).is_ok() {
                return Err(Fault::Other("who does not fill the role may do it".to_owned()));
            }
            case.roles.push("adjuster".to_owned());
        }
        case.act(*act)?;
    }
    if case.state.has_incident() {
        return Err(Fault::Other("the case stops at an incident".to_owned()));
    }
    match case.state_of(trial.item) {
        Some(state) if state == trial.state => Ok(()),
        found => {
            let found = found.unwrap_or("not there");
            Err(Fault::Other(format!("`{}` is {found}, not {}", trial.item, trial.state)))
        }
    }
}

/// A case in memory.
struct Case<'p> {
    plan: &'p Arc<CasePlan>,
    state: State,
    now: Timestamp,
    roles: Vec<String>,
}

impl Case<'_> {
    fn give(&mut self, command: Command) -> Result<(), Rejection> {
        let nobody = uuid::Uuid::nil();
        let cx = RunContext {
            run_id: RunId(nobody),
            now: self.now,
            correlation_key: None,
            actor: Some(Actor { user_id: UserId(nobody) }),
            decisions: None,
            elsewhere: Some(BTreeMap::new()),
            hops: 0,
            budget: Budget::DEFAULT,
            remark: None,
            stores: BTreeMap::new(),
            roles: self.roles.clone(),
            people: BTreeMap::new(),
        };
        self.state = step(self.plan, &self.state, command, &cx)?.state;
        Ok(())
    }

    fn act(&mut self, act: Act) -> Result<(), Rejection> {
        let item = |id: &str| ItemTarget::Item(id.to_owned());
        match act {
            Act::Complete(id) => {
                self.give(Command::Transition { target: item(id), transition: ItemEvent::Complete })
            }
            Act::Occur(id) => self.give(Command::RaiseEvent { target: item(id), payload: Value::Null }),
            Act::Plan(id) => self.give(Command::PlanItem { host: None, item: id.to_owned() }),
            Act::File(id) => {
                let (item, event, at) = (id.to_owned(), FileEvent::Create, Vec::new());
                self.give(Command::SetFile { item, event, at, value: json!({ "sum": 5 }) })
            }
            Act::Wait => {
                self.now = self.now.plus_seconds(7_200);
                for timer in self.state.timers() {
                    self.give(Command::FireTimer { timer_id: timer.id })?;
                }
                Ok(())
            }
        }
    }

    /// State of the last instance of an item.
    fn state_of(&self, id: &str) -> Option<&'static str> {
        let view = case_view(self.plan, &self.state, self.now)?;
        view.items.iter().rfind(|own| *own.item_id == *id).map(|own| own.state.as_str())
    }
}
