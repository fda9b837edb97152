//! Settings of human tasks: people, dates, form and outcomes.

use super::setting::Setting;
use super::timer::TimerDefinition;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The settings of a human task, from its node's `configuration`.
#[derive(Debug, Clone, Default)]
pub struct UserTask {
    /// User who is to work on it; absent leaves it unassigned.
    pub assignee: Option<Setting>,
    /// Users who may claim it.
    pub candidate_users: Option<Setting>,
    /// Groups whose members may claim it; with `laneCandidates`, or where lanes are groups and it names nobody, the group
    /// named like the task's innermost lane.
    pub candidate_groups: Option<Setting>,
    /// Due time: an ISO 8601 date or duration, or FEEL.
    pub due: Option<Arc<TimerDefinition>>,
    /// Time from which on somebody should look at it: an ISO 8601 date or duration, or FEEL.
    pub follow_up: Option<Arc<TimerDefinition>>,
    /// 0 to 100.
    pub priority: Option<Setting>,
    /// JSON Schema of the values of its completion.
    pub form: Option<Arc<Value>>,
    /// The outcomes among which its completion chooses; empty when it has none.
    pub outcomes: Vec<Arc<str>>,
    /// Variables that an outcome sets, by the outcome.
    pub outcome_values: BTreeMap<Arc<str>, Arc<Map<String, Value>>>,
}

impl UserTask {
    /// Reads the settings; `lane` is the task's innermost lane.
    ///
    /// # Errors
    /// One sentence per setting that is wrong.
    pub fn read(configuration: Option<&Map<String, Value>>, lane: Option<&str>) -> Result<Self, Vec<String>> {
        let mut task = Self::default();
        let mut wrong = Vec::new();
        for (name, value) in configuration.into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            if let Err(message) = task.set(name, value) {
                wrong.push(format!("{name}: {message}"));
            }
        }
        let by_lane = configuration.and_then(|own| own.get("laneCandidates")).and_then(Value::as_bool);
        if by_lane == Some(true) {
            match lane {
                _ if task.candidate_groups.is_some() => {
                    wrong.push("laneCandidates: candidateGroups names the groups already".to_owned());
                }
                Some(lane) => task.candidate_groups = Some(Setting::Literal(lane.into())),
                None => wrong.push("laneCandidates: the task stands in no lane with a name".to_owned()),
            }
        }
        if wrong.is_empty() { Ok(task) } else { Err(wrong) }
    }

    /// Whether the settings name nobody, so that the task is for everybody who may complete tasks.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.assignee.is_none() && self.candidate_users.is_none() && self.candidate_groups.is_none()
    }

    /// Users that it names literally: texts, perhaps with commas, or arrays of texts.
    pub fn users(&self) -> impl Iterator<Item = &Value> {
        [&self.assignee, &self.candidate_users].into_iter().flatten().filter_map(Setting::literal)
    }

    /// Groups that it names literally.
    pub fn groups(&self) -> impl Iterator<Item = &Value> {
        self.candidate_groups.iter().filter_map(Setting::literal)
    }

    /// The names of variables that its settings read, with repetitions.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let settings = [&self.assignee, &self.candidate_users, &self.candidate_groups, &self.priority];
        let named = settings.into_iter().flatten().flat_map(Setting::variables);
        named.chain([&self.due, &self.follow_up].into_iter().flatten().flat_map(|own| own.variables()))
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        match name {
            // Editors write the empty text where nobody is named.
            "assignee" | "candidateUsers" | "candidateGroups" if is_empty(value) => {}
            "assignee" => self.assignee = Some(text(value)?),
            "candidateUsers" => self.candidate_users = Some(texts(value)?),
            "candidateGroups" => self.candidate_groups = Some(texts(value)?),
            "dueDate" => self.due = Some(Arc::new(due(value)?)),
            "followUpDate" => self.follow_up = Some(Arc::new(due(value)?)),
            "priority" => self.priority = Some(priority(value)?),
            "form" if value.is_object() || value.is_boolean() => self.form = Some(Arc::new(value.clone())),
            "form" => return Err("must be a JSON Schema".to_owned()),
            "laneCandidates" if !value.is_boolean() => return Err("must be true or false".to_owned()),
            "outcomes" => (self.outcomes, self.outcome_values) = outcomes(value)?,
            _ => {}
        }
        Ok(())
    }
}

fn text(value: &Value) -> Result<Setting, String> {
    if value.is_string() { Setting::read(value) } else { Err("must be a text".to_owned()) }
}

/// An array of texts, or one text with commas.
fn texts(value: &Value) -> Result<Setting, String> {
    match value {
        Value::String(_) => Setting::read(value),
        Value::Array(items) if items.iter().all(Value::is_string) => Ok(Setting::Literal(value.clone())),
        _ => Err("must be a text or an array of texts".to_owned()),
    }
}

fn due(value: &Value) -> Result<TimerDefinition, String> {
    use super::timer::TimerKind::{Date, Duration};
    let Some(text) = value.as_str() else { return Err("must be a text".to_owned()) };
    let kind = if text.trim_start().starts_with('P') { Duration } else { Date };
    TimerDefinition::parse(kind, text).map_err(|error| error.0)
}

fn priority(value: &Value) -> Result<Setting, String> {
    match value {
        Value::Number(number) if number.as_i64().is_some_and(|n| (0..=100).contains(&n)) => {
            Ok(Setting::Literal(value.clone()))
        }
        // Editors of BPMN XML keep numbers as texts.
        Value::String(text) => match text.trim().parse::<i64>() {
            Ok(n) if (0..=100).contains(&n) => Ok(Setting::Literal(n.into())),
            Err(_) if text.trim_start().starts_with('=') => Setting::read(value),
            _ => Err("must be a whole number from 0 to 100".to_owned()),
        },
        _ => Err("must be a whole number from 0 to 100".to_owned()),
    }
}

/// Outcomes in order, and the variables that some of them set.
type Outcomes = (Vec<Arc<str>>, BTreeMap<Arc<str>, Arc<Map<String, Value>>>);

/// Outcomes: each a text, or `{"name": …, "values": {…}}` with the variables that it sets.
fn outcomes(value: &Value) -> Result<Outcomes, String> {
    let wrong = || "must be an array of texts, or of objects with `name` and `values`".to_owned();
    let Some(items) = value.as_array() else { return Err(wrong()) };
    let (mut names, mut sets): Outcomes = (Vec::with_capacity(items.len()), BTreeMap::new());
    for item in items {
        let (name, values) = match item {
            Value::String(name) => (name.as_str(), None),
            Value::Object(members) => {
                if let Some(other) =
                    members.keys().find(|member| !matches!(member.as_str(), "name" | "values"))
                {
                    return Err(format!("an outcome has no member `{other}`; it has `name` and `values`"));
                }
                let values = match members.get("values") {
                    None => None,
                    Some(Value::Object(values)) => Some(values),
                    Some(_) => return Err("the `values` of an outcome must be an object".to_owned()),
                };
                (members.get("name").and_then(Value::as_str).ok_or_else(wrong)?, values)
            }
            _ => return Err(wrong()),
        };
        let name: Arc<str> = name.into();
        if names.contains(&name) {
            return Err(format!("the outcome `{name}` is there twice"));
        }
        if let Some(values) = values.filter(|values| !values.is_empty()) {
            sets.insert(Arc::clone(&name), Arc::new(values.clone()));
        }
        names.push(name);
    }
    Ok((names, sets))
}

/// Whether a setting names nobody: an empty text or list.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_human_task_reads_its_configuration() {
        let configuration = json!({
            "assignee": "ada", "candidateUsers": ["bob"], "candidateGroups": "x,y", "dueDate": "P2D",
            "priority": "70", "form": {"type": "object"}, "outcomes": ["approve", "reject"], "kind": "human.review"
        });
        let task = UserTask::read(configuration.as_object(), Some("Sales")).unwrap();
        assert!(matches!(&task.assignee, Some(Setting::Literal(Value::String(name))) if name == "ada"));
        assert!(
            matches!(&task.candidate_groups, Some(Setting::Literal(Value::String(names))) if names == "x,y")
        );
        assert!(matches!(&task.priority, Some(Setting::Literal(n)) if *n == json!(70)));
        assert_eq!(task.outcomes.len(), 2);
    }

    #[test]
    fn an_outcome_may_set_variables_and_an_empty_name_is_none() {
        let configuration = json!({
            "assignee": "", "candidateGroups": [],
            "outcomes": ["later", {"name": "approved", "values": {"approved": true}}]
        });
        let task = UserTask::read(configuration.as_object(), None).unwrap();
        assert!(task.assignee.is_none() && task.candidate_groups.is_none());
        assert_eq!(task.outcomes.iter().map(|name| &**name).collect::<Vec<_>>(), ["later", "approved"]);
        assert_eq!(Value::Object((*task.outcome_values["approved"]).clone()), json!({"approved": true}));
        assert_eq!(task.outcome_values.len(), 1);
    }

    #[test]
    fn the_lane_is_the_candidate_group_of_a_task_that_says_so() {
        assert!(UserTask::read(None, Some("Sales")).unwrap().is_open());
        let no = json!({"laneCandidates": false});
        assert!(UserTask::read(no.as_object(), Some("Sales")).unwrap().is_open());
        let yes = json!({"laneCandidates": true, "assignee": "ada"});
        let task = UserTask::read(yes.as_object(), Some("Sales")).unwrap();
        assert!(matches!(&task.candidate_groups, Some(Setting::Literal(name)) if name == "Sales"));
        let both = json!({"laneCandidates": true, "candidateGroups": "x"});
        for (wrong, lane) in
            [(&yes, None), (&both, Some("Sales")), (&json!({"laneCandidates": 1}), Some("Sales"))]
        {
            let told = UserTask::read(wrong.as_object(), lane).unwrap_err();
            assert!(told[0].starts_with("laneCandidates: "), "{told:?}");
        }
    }

    #[test]
    fn wrong_settings_are_named() {
        for (name, value) in [
            ("assignee", json!(1)),
            ("candidateUsers", json!([1])),
            ("dueDate", json!("soon enough")),
            ("followUpDate", json!("some day")),
            ("priority", json!(101)),
            ("form", json!("x")),
            ("outcomes", json!("approve")),
            ("outcomes", json!(["approve", "approve"])),
            ("outcomes", json!([{"values": {}}])),
            ("outcomes", json!([{"name": "approve", "sets": {}}])),
            ("outcomes", json!([{"name": "approve", "values": 1}])),
        ] {
            let configuration = json!({ name: value });
            let wrong = UserTask::read(configuration.as_object(), None).unwrap_err();
            assert!(wrong[0].starts_with(name), "{wrong:?}");
        }
    }
}
