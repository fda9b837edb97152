//! The forms of names and addresses.

use heddle_kernel::Timestamp;
use heddle_policy::capability::actions;
use heddle_policy::facts::ANY;
use heddle_policy::{Action, Permission, PermissionSet, ResourceRule, ResourceType, StoredSelector};

use heddle_usecase::{Problems, StoreError, UseCaseError};

/// The longest e-mail address, in bytes (RFC 5321, 4.5.3.1).
const EMAIL_MAX: usize = 254;

/// An e-mail address as it is kept: without surrounding spaces, in small letters.
pub(crate) fn email_form(text: &str) -> String {
    text.trim().to_lowercase()
}

/// An e-mail address has a local part and a domain; whether it exists only a message can tell.
pub(crate) fn email(problems: &mut Problems, field: &str, text: &str) {
    let parts = text.rsplit_once('@');
    let good =
        parts.is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty() && !local.contains('@'));
    let legal = text.len() <= EMAIL_MAX
        && !text.chars().any(|c| c.is_whitespace())
        && !heddle_usecase::has_hidden(text);
    if !good || !legal {
        problems.add(field, "wrongFormat", "An e-mail address is needed: name@domain, at most 254 bytes.");
    }
}

/// An instant that is still to come.
pub(crate) fn future(problems: &mut Problems, field: &str, at: Option<Timestamp>, now: Timestamp) {
    if at.is_some_and(|at| at <= now) {
        problems.add(field, "outOfRange", "The instant has passed.");
    }
}

/// Registered permissions.
pub(crate) fn permissions<T: AsRef<str>>(problems: &mut Problems, field: &str, names: &[T]) {
    for (at, name) in names.iter().enumerate() {
        if Permission::parse(name.as_ref()).is_none() {
            problems.add(&format!("{field}[{at}]"), "unknownPermission", "There is no such permission.");
        }
    }
}

/// A set of permissions of a role.
pub(crate) fn permission_set(problems: &mut Problems, field: &str, set: &PermissionSet) {
    permissions(problems, field, &set.listed);
    permissions(problems, field, &set.except);
}

/// A rule about resources; `*` stands for all.
pub(crate) fn rule(problems: &mut Problems, field: &str, rule: &ResourceRule) {
    let at = |member: &str| if field.is_empty() { member.to_owned() } else { format!("{field}.{member}") };
    let kind = ResourceType::parse(&rule.resource);
    if rule.resource != ANY && kind.is_none() {
        problems.add(&at("resourceType"), "unknownResourceType", "There is no such resource type.");
    }
    if rule.actions.is_empty() || rule.actions.iter().any(|name| name != ANY && Action::parse(name).is_none())
    {
        problems.add(&at("action"), "unknownAction", "There is no such action.");
    }
    for name in &rule.actions {
        let (Some(kind), Some(action)) = (kind, Action::parse(name)) else { continue };
        if !actions(rule.effect, kind).any(|one| one == action) {
            let there: Vec<&str> = actions(rule.effect, kind).map(Action::as_str).collect();
            let message = format!("`{name}` says nothing of `{kind}`; one of: {}.", there.join(", "));
            problems.add(&at("action"), "notAllowed", message);
        }
    }
    if StoredSelector::read(kind, &rule.selector) == StoredSelector::Unreadable {
        let message = match kind.is_some_and(ResourceType::has_own) {
            true => {
                "An id of the type in its one spelling (an UUID with hyphens and small letters), `own`, or `*`."
            }
            false => {
                "An id of the type in its one spelling (an UUID with hyphens and small letters), or `*`."
            }
        };
        problems.add(&at("resourceId"), "wrongFormat", message);
    }
}

/// The store's error, with the name that another role or group has: one word stands for either.
pub(crate) fn name_taken(error: StoreError, name: &str) -> UseCaseError {
    match error {
        StoreError::Duplicate(columns) if columns.ends_with(".name") => {
            let what = if columns.starts_with("groups") { "group" } else { "role" };
            UseCaseError::not_unique("name", format!("There is a {what} with the name `{name}` already."))
        }
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use heddle_policy::Effect;

    use super::*;

    fn is_fine(check: impl FnOnce(&mut Problems)) -> bool {
        let mut problems = Problems::default();
        check(&mut problems);
        problems.finish().is_ok()
    }

    #[test]
    fn one_s_own_is_a_selector_where_there_is_such_a_thing() {
        let of = |kind: &str, selector: &str| ResourceRule {
            resource: kind.to_owned(),
            actions: vec!["read".to_owned()],
            selector: selector.to_owned(),
            effect: Effect::Allow,
        };
        assert!(is_fine(|problems| rule(problems, "", &of("run", "own"))));
        for (kind, selector) in
            [("workflow", "own"), ("job", "own"), ("vector-database", "own"), ("*", "own"), ("run", "Own")]
        {
            assert!(!is_fine(|problems| rule(problems, "", &of(kind, selector))), "{kind} {selector}");
        }
    }

    #[test]
    fn an_action_that_nothing_asks_for_is_no_rule() {
        for (kind, action, effect, fine) in [
            ("document", "query", Effect::Deny, true),
            ("document", "query", Effect::Allow, false),
            ("document", "publish", Effect::Deny, false),
            ("workflow", "complete-task", Effect::Deny, true),
            ("workflow", "complete-task", Effect::Allow, false),
            ("*", "publish", Effect::Deny, true),
            ("document", "*", Effect::Deny, true),
        ] {
            let of = ResourceRule {
                resource: kind.to_owned(),
                actions: vec![action.to_owned()],
                selector: "*".to_owned(),
                effect,
            };
            assert_eq!(is_fine(|problems| rule(problems, "", &of)), fine, "{effect:?} {kind} / {action}");
        }
    }

    #[test]
    fn forms_of_addresses_and_names() {
        for (text, fine) in [
            ("ada@example.com", true),
            ("ada+x@localhost", true),
            ("ada", false),
            ("@example.com", false),
            ("ada@", false),
            ("a b@example.com", false),
            ("a@b@c", false),
            (&format!("{}@example.com", "x".repeat(250)), false),
        ] {
            assert_eq!(is_fine(|problems| email(problems, "email", text)), fine, "{text}");
        }
        assert_eq!(email_form(" Ada@Example.COM "), "ada@example.com");
    }
}
