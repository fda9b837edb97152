//! From what a caller asks for to the engine's commands.

use heddle_cmmn::plan::{CasePlan, FileEvent, FileItem, FileIx, ItemEvent, Multiplicity, PLAN_MODEL};
use heddle_engine::{Command, ItemTarget};
use heddle_execution::records::Run;
use serde_json::Value;

use crate::UseCaseError;

/// Transition of a case that a caller asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseTransition {
    /// Holds it.
    Suspend,
    /// Ends its suspension.
    Resume,
    /// Completes it by hand.
    Complete,
    /// Takes up a case that ended or is suspended.
    Reactivate,
    /// Closes a case that ended or is suspended, for good.
    Close,
    /// Ends it.
    Terminate {
        /// Reason, which the history keeps.
        reason: Option<String>,
    },
}

impl From<CaseTransition> for Command {
    fn from(transition: CaseTransition) -> Self {
        match transition {
            CaseTransition::Suspend => Self::Suspend,
            CaseTransition::Resume => Self::Resume,
            CaseTransition::Complete => Self::CompleteCase,
            CaseTransition::Reactivate => Self::ReactivateCase,
            CaseTransition::Close => Self::CloseCase,
            CaseTransition::Terminate { reason } => Self::Cancel { reason },
        }
    }
}

/// Transition of a plan item that a caller asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemTransition {
    /// Starts an enabled item.
    ManualStart,
    /// Enables an available item.
    Enable,
    /// Disables an enabled item.
    Disable,
    /// Enables a disabled item again.
    Reenable,
    /// Completes an active stage or task.
    Complete,
    /// Ends an item.
    Terminate,
    /// Lets a milestone or an event listener occur.
    Occur,
    /// Holds an item.
    Suspend,
    /// Ends its suspension.
    Resume,
    /// Takes up an item that failed.
    Reactivate,
    /// Puts a discretionary item into the plan.
    Plan,
}

impl ItemTransition {
    /// The standard's word; none for planning, which is no transition of an item that is there.
    const fn event(self) -> Option<ItemEvent> {
        Some(match self {
            Self::ManualStart => ItemEvent::ManualStart,
            Self::Enable => ItemEvent::Enable,
            Self::Disable => ItemEvent::Disable,
            Self::Reenable => ItemEvent::Reenable,
            Self::Complete => ItemEvent::Complete,
            Self::Terminate => ItemEvent::Terminate,
            Self::Occur => ItemEvent::Occur,
            Self::Suspend => ItemEvent::Suspend,
            Self::Resume => ItemEvent::Resume,
            Self::Reactivate => ItemEvent::Reactivate,
            Self::Plan => return None,
        })
    }
}

/// Change of a plan item.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemChange {
    /// The instance of the item, or the item where only one of its instances can make the transition; of a discretionary item
    /// the item.
    pub item: String,
    /// The transition.
    pub transition: ItemTransition,
    /// Instance of the stage or human task into which a discretionary item is planned; none is the only one that has it.
    pub host: Option<String>,
    /// Data of an event that occurs.
    pub payload: Option<Value>,
}

impl ItemChange {
    /// The engine's command.
    ///
    /// # Errors
    /// `Invalid` for a member that the transition does not take; `Conflict` (`ambiguous`) for a text that names an item and an
    /// instance of another.
    pub(crate) fn command(&self, plan: &CasePlan) -> Result<Command, UseCaseError> {
        let not_taken = |field: &str, by: &str| {
            Err(UseCaseError::invalid(field, "notAllowed", format!("Only `{by}` takes it.")))
        };
        match (self.transition.event(), &self.host, &self.payload) {
            (Some(_), Some(_), _) => not_taken("host", "plan"),
            (None, _, Some(_)) => not_taken("payload", "occur"),
            (None, host, None) => {
                let host = host.as_deref().map(|host| target(plan, host)).transpose()?;
                Ok(Command::PlanItem { host, item: self.item.clone() })
            }
            (Some(ItemEvent::Occur), None, Some(payload)) => {
                Ok(Command::RaiseEvent { target: target(plan, &self.item)?, payload: payload.clone() })
            }
            (Some(_), None, Some(_)) => not_taken("payload", "occur"),
            (Some(transition), None, None) => {
                Ok(Command::Transition { target: target(plan, &self.item)?, transition })
            }
        }
    }
}

/// Target that a text names: an instance by its own id, else an item by that of the definition. A definition may have items
/// that are called as instances are; nobody guesses then which is meant.
fn target(plan: &CasePlan, text: &str) -> Result<ItemTarget, UseCaseError> {
    match (text.parse(), plan.item_ids.contains_key(text)) {
        (Ok(instance), false) => Ok(ItemTarget::Instance(instance)),
        (Err(_), _) => Ok(ItemTarget::Item(text.to_owned())),
        (Ok(_), true) => {
            let message = format!("`{text}` is an item of the definition and may be an instance of another.");
            Err(UseCaseError::conflict("ambiguous", message))
        }
    }
}

/// Change of a case file item that a caller asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileTransition {
    /// Puts a value where there is none.
    Create,
    /// Changes the value.
    Update,
    /// Puts another value in its place.
    Replace,
    /// Takes the value away.
    Delete,
    /// Adds a child.
    AddChild,
    /// Takes a child away.
    RemoveChild,
    /// Adds a reference.
    AddReference,
    /// Takes a reference away.
    RemoveReference,
}

impl From<FileTransition> for FileEvent {
    fn from(transition: FileTransition) -> Self {
        match transition {
            FileTransition::Create => Self::Create,
            FileTransition::Update => Self::Update,
            FileTransition::Replace => Self::Replace,
            FileTransition::Delete => Self::Delete,
            FileTransition::AddChild => Self::AddChild,
            FileTransition::RemoveChild => Self::RemoveChild,
            FileTransition::AddReference => Self::AddReference,
            FileTransition::RemoveReference => Self::RemoveReference,
        }
    }
}

/// A change of the case file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileChange {
    /// Id of the case file item, or its name.
    pub item: String,
    /// Change that is meant; none is told by what is there: `create` where there is no value, `delete` for null, else
    /// `replace`.
    pub transition: Option<FileTransition>,
    /// Numbers of the instances, from 0, where there may be several.
    pub at: Vec<u32>,
    /// The value, the child or the reference.
    pub value: Value,
}

impl FileChange {
    /// The engine's command on a case as it is; none when there is nothing to do: a value that is gone already is deleted, or
    /// the same one is put again.
    ///
    /// # Errors
    /// `NotFound` for an item that the case file does not have; `Invalid` for a value that the change does not take.
    pub(crate) fn command(&self, plan: &CasePlan, case: &Run) -> Result<Option<Command>, UseCaseError> {
        let id = plan.file_ids.get(self.item.as_str()).ok_or(UseCaseError::NotFound)?;
        let item = plan.file.get(*id as usize).ok_or(UseCaseError::NotFound)?;
        let event = match self.transition {
            Some(FileTransition::Delete) if !self.value.is_null() => {
                let message = "What is deleted has no value: null is needed.";
                return Err(UseCaseError::invalid("value", "notAllowed", message));
            }
            Some(transition) => FileEvent::from(transition),
            None if self.at.is_empty() && may_be_several(item) => {
                let message =
                    "There may be several of it: say which one by its number, or `create` to add one.";
                return Err(UseCaseError::invalid("at", "required", message));
            }
            None => {
                let file = case.snapshot.case_file().unwrap_or(&Value::Null);
                match (present(plan, file, *id, &self.at), self.value.is_null()) {
                    (None, true) => return Ok(None),
                    (Some(_), true) => FileEvent::Delete,
                    (None, false) => FileEvent::Create,
                    (Some(present), false) if *present == self.value => return Ok(None),
                    (Some(_), false) => FileEvent::Replace,
                }
            }
        };
        let (item, at, value) = (item.id.to_string(), self.at.clone(), self.value.clone());
        Ok(Some(Command::SetFile { item, event, at, value }))
    }
}

/// Whether there may be several instances of a case file item.
const fn may_be_several(item: &FileItem) -> bool {
    matches!(item.multiplicity, Multiplicity::ZeroOrMore | Multiplicity::OneOrMore)
}

/// Present value of a case file item; none where there is none.
fn present<'v>(plan: &CasePlan, file: &'v Value, id: FileIx, at: &[u32]) -> Option<&'v Value> {
    let item = |id: FileIx| plan.file.get(id as usize);
    let mut chain: Vec<&FileItem> =
        std::iter::successors(item(id), |own| own.parent.and_then(item)).collect();
    chain.reverse();
    let mut numbers = at.iter();
    let mut place = file;
    for own in chain {
        place = place.get(&*own.name)?;
        let number = if may_be_several(own) { numbers.next() } else { None };
        if let Some(number) = number {
            place = place.get(usize::try_from(*number).ok()?)?;
        }
    }
    Some(place).filter(|value| !value.is_null())
}

/// Whether the plan's own item is meant, which the transitions of the case are for.
pub(crate) fn is_plan_model(plan: &CasePlan, item: &str) -> bool {
    plan.item_ids.get(item) == Some(&PLAN_MODEL)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use serde_json::json;

    fn change(transition: ItemTransition) -> ItemChange {
        ItemChange { item: "approve".to_owned(), transition, host: None, payload: None }
    }

    /// A plan with an item that is called as an instance is.
    fn plan() -> CasePlan {
        CasePlan {
            id: "case".into(),
            name: None,
            items: Vec::new(),
            criteria: Vec::new(),
            sentries: Vec::new(),
            file: Vec::new(),
            roles: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            starts: Vec::new(),
            item_ids: [("plan".into(), PLAN_MODEL), ("n9".into(), 1)].into(),
            file_ids: HashMap::new(),
            on_item: HashMap::new(),
            on_file: HashMap::new(),
            on_data: Vec::new(),
            reactivation: None,
        }
    }

    #[test]
    fn an_item_is_named_by_its_instance_or_by_itself() {
        let plan = plan();
        let by_item = change(ItemTransition::ManualStart).command(&plan).unwrap();
        let target = ItemTarget::Item("approve".to_owned());
        assert_eq!(by_item, Command::Transition { target, transition: ItemEvent::ManualStart });
        let by_instance = ItemChange { item: "n7".to_owned(), ..change(ItemTransition::Disable) };
        let Ok(Command::Transition { target: ItemTarget::Instance(id), .. }) = by_instance.command(&plan)
        else {
            panic!("an instance is meant")
        };
        assert_eq!(id.to_string(), "n7");
        let either = ItemChange { item: "n9".to_owned(), ..change(ItemTransition::Disable) };
        assert!(matches!(either.command(&plan), Err(UseCaseError::Conflict(_))));
        assert!(is_plan_model(&plan, "plan") && !is_plan_model(&plan, "n9"));
    }

    #[test]
    fn a_value_is_found_by_its_names_and_numbers() {
        let item = |name: &str, parent, multiplicity| FileItem {
            id: name.into(),
            name: name.into(),
            parent,
            children: Vec::new(),
            targets: Vec::new(),
            multiplicity,
            properties: Vec::new(),
        };
        let file = vec![
            item("claim", None, Multiplicity::ExactlyOne),
            item("document", Some(0), Multiplicity::ZeroOrMore),
        ];
        let plan = CasePlan { file, ..plan() };
        let values = json!({"claim": {"document": [{"page": 1}, {"page": 2}]}});
        assert_eq!(present(&plan, &values, 1, &[1]), Some(&json!({"page": 2})));
        assert_eq!(present(&plan, &values, 1, &[2]), None);
        assert_eq!(present(&plan, &values, 0, &[]), values.get("claim"));
        assert_eq!(present(&plan, &json!({"claim": null}), 0, &[]), None);
    }

    #[test]
    fn a_member_that_a_transition_does_not_take_is_refused() {
        let (plan, host) = (plan(), Some("n3".to_owned()));
        let refused = [
            ItemChange { host: host.clone(), ..change(ItemTransition::Complete) },
            ItemChange { payload: Some(json!({})), ..change(ItemTransition::Complete) },
            ItemChange { host, payload: Some(json!(1)), ..change(ItemTransition::Plan) },
        ];
        for one in refused {
            assert!(matches!(one.command(&plan), Err(UseCaseError::Invalid(_))), "{one:?}");
        }
        let raised = ItemChange { payload: Some(json!(1)), ..change(ItemTransition::Occur) };
        assert!(matches!(raised.command(&plan), Ok(Command::RaiseEvent { .. })));
        let planned = ItemChange { host: Some("n3".to_owned()), ..change(ItemTransition::Plan) };
        assert!(matches!(planned.command(&plan), Ok(Command::PlanItem { host: Some(_), .. })));
    }
}
