//! Changes, as their audit events tell them: members with their values before and after it, and of those whose
//! values are a person's or a secret's the names alone.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{Journal, StoreError};

/// A thing whose changes are told.
pub trait Audited {
    /// Members of the thing that a change is told by.
    fn view(&self) -> AuditView;
}

/// Members of a thing at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AuditView(Vec<Member>);

#[derive(Debug, Clone, PartialEq)]
struct Member {
    name: &'static str,
    value: Value,
    is_shown: bool,
}

impl AuditView {
    /// The same with a member whose value is shown. A value that has no JSON form is shown as null.
    #[must_use]
    pub fn shown(self, name: &'static str, value: impl Serialize) -> Self {
        self.with(name, serde_json::to_value(value).unwrap_or_default(), true)
    }

    /// The same with a member whose value is compared and never shown.
    #[must_use]
    pub fn hidden(self, name: &'static str, value: impl Serialize) -> Self {
        self.with(name, serde_json::to_value(value).unwrap_or_default(), false)
    }

    fn with(mut self, name: &'static str, value: Value, is_shown: bool) -> Self {
        self.0.push(Member { name, value, is_shown });
        self
    }

    fn value(&self, name: &str) -> &Value {
        self.0.iter().find(|member| member.name == name).map_or(&Value::Null, |member| &member.value)
    }
}

/// The change from one view to another: of what was made there is none before, of what was deleted none after.
fn change(before: Option<&AuditView>, after: Option<&AuditView>) -> Value {
    let none = AuditView::default();
    let (from, to) = (before.unwrap_or(&none), after.unwrap_or(&none));
    let members = if after.is_some() { &to.0 } else { &from.0 };
    let differing = || members.iter().filter(move |member| from.value(member.name) != to.value(member.name));
    let told = |view: Option<&AuditView>| {
        let view = view?;
        let shown = differing().filter(|member| member.is_shown);
        let shown = shown.map(|member| (member.name.to_owned(), view.value(member.name).clone()));
        Some(Value::Object(shown.collect::<Map<_, _>>()))
    };
    let names: Vec<&str> = differing().map(|member| member.name).collect();
    json!({ "before": told(before), "after": told(after), "members": names })
}

impl Journal {
    /// The same with what a deletion took away, where it was there.
    ///
    /// # Errors
    /// Those of the look at the thing, but for `NotFound`: a deletion of what is gone changes nothing.
    pub fn deleting<T: Audited>(&self, found: Result<T, StoreError>) -> Result<Self, StoreError> {
        match found {
            Ok(before) => Ok(self.clone().changing(Some(&before), None)),
            Err(StoreError::NotFound) => Ok(self.clone()),
            Err(error) => Err(error),
        }
    }

    /// The same with what the change did, in `change` of the event's details.
    #[must_use]
    pub fn changing<T: Audited>(mut self, before: Option<&T>, after: Option<&T>) -> Self {
        let Some(entry) = &mut self.audit else { return self };
        let (before, after) = (before.map(Audited::view), after.map(Audited::view));
        let told = change(before.as_ref(), after.as_ref());
        match &mut entry.details {
            Value::Object(members) => {
                members.insert("change".to_owned(), told);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                entry.details = json!({ "change": told });
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(state: &str, email: &str) -> AuditView {
        AuditView::default().shown("state", state).hidden("email", email)
    }

    #[test]
    fn only_what_differs_is_told_and_no_hidden_value() {
        let (one, other) = (account("active", "a@example.com"), account("disabled", "a@example.com"));
        assert_eq!(
            change(Some(&one), Some(&other)),
            json!({ "before": { "state": "active" }, "after": { "state": "disabled" }, "members": ["state"] })
        );
        let moved = change(Some(&one), Some(&account("active", "b@example.com")));
        assert_eq!(moved, json!({ "before": {}, "after": {}, "members": ["email"] }));
    }

    #[test]
    fn what_was_made_has_no_before_and_what_was_deleted_no_after() {
        let one = account("active", "a@example.com");
        let members = json!(["state", "email"]);
        assert_eq!(
            change(None, Some(&one)),
            json!({ "before": null, "after": { "state": "active" }, "members": members })
        );
        assert_eq!(
            change(Some(&one), None),
            json!({ "before": { "state": "active" }, "after": null, "members": members })
        );
    }
}
