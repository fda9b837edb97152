//! Calls: what is called, and with which variables.

use super::{Core, StepFault, expression};
use crate::event::{CalledVersion, RunCalled};
use crate::{LocalId, size};
use heddle_kernel::DefinitionKind;
use heddle_settings::{CallTask, CallVersion, Setting, version_number};
use serde_json::{Map, Value};

/// Most characters of a key of a called run, as of one that somebody starts.
const MOST_OF_A_KEY: usize = 200;

impl Core<'_> {
    /// Gives a planned call its number: what was opened since it was planned has taken some.
    pub(crate) fn number(&self, called: &mut RunCalled) {
        called.number = self.next_id();
        called.run_id = called.number.called(self.cx.run_id);
    }

    /// Target of a call, and its variables. Its ids are those that the next event would bring.
    pub(crate) fn planned_call(
        &mut self,
        id: LocalId,
        call: &CallTask,
        scope: LocalId,
    ) -> Result<RunCalled, StepFault> {
        // A call that calls itself without end goes one hop deeper with each.
        self.admit_hop()?;
        let called = self.text(Some(&call.called), scope)?;
        let Some(called) = called.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()) else {
            return Err(expression("calledElement gives no name: there is nothing to call"));
        };
        let version = match &call.version {
            None => None,
            Some(version) => Some(self.called_version(version, scope)?),
        };
        let business_key = self.key("businessKey", call.business_key.as_ref(), scope)?;
        let correlation_key = self.key("correlationKey", call.correlation_key.as_ref(), scope)?;
        let correlation_key = correlation_key.or_else(|| self.state.correlation_key.clone());
        let input = self.passed(id, call, scope)?;
        self.admit_told(size::of_members(&input))?;
        let number = self.next_id();
        let run_id = number.called(self.cx.run_id);
        Ok(RunCalled {
            run_id,
            number,
            kind: DefinitionKind::Workflow,
            called: called.into(),
            version,
            input,
            business_key,
            inherit_business_key: call.inherit,
            correlation_key,
        })
    }

    fn called_version(&self, version: &CallVersion, scope: LocalId) -> Result<CalledVersion, StepFault> {
        Ok(match version {
            CallVersion::Latest => CalledVersion::Latest,
            CallVersion::Deployment => CalledVersion::Deployment,
            CallVersion::Number(setting) => {
                let value = self.setting(setting, scope)?;
                let number = version_number(&value);
                CalledVersion::Number(number.ok_or_else(|| {
                    expression(format!(
                        "version: {value} is no number of a version, which are counted from 1"
                    ))
                })?)
            }
            CallVersion::Tag(setting) => match self.text(Some(setting), scope)? {
                Some(tag) if !tag.trim().is_empty() => CalledVersion::Tag(tag.trim().to_owned()),
                _ => return Err(expression("versionTag gives no tag")),
            },
        })
    }

    /// A key for the called run; null is none that was meant.
    fn key(
        &self,
        member: &str,
        setting: Option<&Setting>,
        scope: LocalId,
    ) -> Result<Option<String>, StepFault> {
        let Some(setting) = setting else { return Ok(None) };
        match self.text(Some(setting), scope)? {
            None => Err(expression(format!("{member}: the key of the called run is null"))),
            Some(key) if key.is_empty() || key.chars().count() > MOST_OF_A_KEY => {
                let count = key.chars().count();
                Err(expression(format!(
                    "{member}: a key has 1 to {MOST_OF_A_KEY} characters and not {count}"
                )))
            }
            key => Ok(key),
        }
    }

    /// Variables with which the called run begins.
    fn passed(&self, id: LocalId, call: &CallTask, inner: LocalId) -> Result<Map<String, Value>, StepFault> {
        let mut found = Map::new();
        let mut next = if call.all_in { Some(inner) } else { Some(id) };
        while let Some(scope) = next.and_then(|scope| self.state.scope(scope)) {
            for (name, value) in &scope.variables {
                if !found.contains_key(name) {
                    self.charge_copy(value)?;
                    found.insert(name.clone(), value.clone());
                }
            }
            next = scope.parent.filter(|_| call.all_in);
        }
        Ok(found)
    }
}
