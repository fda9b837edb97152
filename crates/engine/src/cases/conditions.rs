//! Rules of items, and if-parts of sentries.

use super::CaseMachine;
use crate::LocalId;
use crate::core::eval::{brief, prefixed};
use crate::core::{StepFault, expression};
use heddle_cmmn::plan::{Condition, FileIx, Rule};
use heddle_feel::{Layers, Ref, Scope, to_json};
use serde_json::Value;

/// A case file item as the context of a condition: its value under its name, and its members.
pub(super) struct FileContext<'f> {
    pub name: &'f str,
    pub value: &'f Value,
}

impl Scope for FileContext<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        let member = self.value.as_object().and_then(|members| members.get(name));
        member.or_else(|| (name == self.name).then_some(self.value)).map(Ref::Json)
    }
}

impl CaseMachine<'_> {
    /// Whether a rule holds. Only true and false decide that.
    pub(super) fn rule(&self, rule: &Rule, scope: LocalId) -> Result<bool, StepFault> {
        match rule {
            Rule::No => Ok(false),
            Rule::Yes => Ok(true),
            Rule::When(condition) => match self.value_of(condition, scope)? {
                (heddle_feel::Value::Boolean(truth), _) => Ok(truth),
                (other, notes) => Err(undecided(condition, &other, &notes)),
            },
        }
    }

    /// Whether a condition holds that is looked at again: null is data that is not there yet.
    pub(super) fn part(&self, condition: &Condition, scope: LocalId) -> Result<bool, StepFault> {
        match self.value_of(condition, scope)? {
            (heddle_feel::Value::Boolean(truth), _) => Ok(truth),
            (heddle_feel::Value::Null, _) => Ok(false),
            (other, notes) => Err(undecided(condition, &other, &notes)),
        }
    }

    fn value_of(
        &self,
        condition: &Condition,
        scope: LocalId,
    ) -> Result<(heddle_feel::Value, Vec<String>), StepFault> {
        let variables = self.variables(scope);
        let context = condition.context.and_then(|ix| {
            let name = &*self.plan.file.get(ix as usize)?.name;
            Some(FileContext { name, value: self.file_value(ix)? })
        });
        match context {
            Some(context) => self.evaluate(&condition.expression, &Layers(&[&context, &variables])),
            None => self.evaluate(&condition.expression, &variables),
        }
    }

    /// The value of a case file item; none where it is not there, or where there are several of those around it.
    pub(super) fn file_value(&self, ix: FileIx) -> Option<&Value> {
        let item = self.plan.file.get(ix as usize)?;
        let around = match item.parent {
            Some(parent) => self.file_value(parent)?,
            None => &self.state.case.as_deref()?.file,
        };
        around.get(&*item.name).filter(|value| !value.is_null())
    }
}

/// The fault of a condition that is neither true nor false.
fn undecided(condition: &Condition, value: &heddle_feel::Value, notes: &[String]) -> StepFault {
    expression(format!(
        "the condition `{}` gives {}, not true or false{}",
        condition.text,
        brief(&to_json(value)),
        prefixed(notes)
    ))
}
