//! Comparison of rights with rules: nobody gives what they lack, nor lifts what holds them back. Where two are compared, what is
//! denied to everyone is left out: it holds both of them alike, so that nobody gives or gets round it, and counted it would
//! keep all from giving a role, and from lifting the deny itself.

use crate::decision::PrivilegeEscalation;
use crate::denies::Denies;
use crate::facts::{ANY, Effect, ResourceRule, RoleRules};
use crate::implied::is_about;
use crate::permission::{Action, Permission, ResourceType};
use crate::rule_id::StoredSelector;
use crate::snapshot::Snapshot;

impl Snapshot {
    /// Whether the caller has all that these rules give, what is denied to everyone apart.
    ///
    /// # Errors
    /// With the first right that the caller lacks.
    pub fn covers(&self, rules: &RoleRules) -> Result<(), PrivilegeEscalation> {
        self.has_what_is_given(rules, Denies::OfSome)
    }

    /// Whether the caller can do all that these rules give: every deny counts.
    ///
    /// # Errors
    /// With the first right that the caller lacks.
    pub fn has(&self, rules: &RoleRules) -> Result<(), PrivilegeEscalation> {
        self.has_what_is_given(rules, Denies::All)
    }

    fn has_what_is_given(&self, rules: &RoleRules, denies: Denies) -> Result<(), PrivilegeEscalation> {
        if let Some(missing) = rules.permissions.names().find(|name| !self.holds(*name)) {
            return Err(PrivilegeEscalation::Permission(missing));
        }
        rules
            .resources
            .iter()
            .filter(|rule| rule.effect == Effect::Allow)
            .try_for_each(|rule| self.has_rule(rule, denies))
    }

    /// Whether the caller would be untouched if the denies among these rules were no more, what is denied to everyone apart:
    /// who is held back by a deny can't lift it.
    ///
    /// # Errors
    /// With the first right that the caller lacks.
    pub fn covers_denies(&self, rules: &RoleRules) -> Result<(), PrivilegeEscalation> {
        let mut denied = rules.denied_permissions.iter().filter_map(|name| Permission::parse(name));
        if let Some(missing) = denied.find(|name| !self.holds(*name)) {
            return Err(PrivilegeEscalation::Permission(missing));
        }
        rules
            .resources
            .iter()
            .filter(|rule| rule.effect == Effect::Deny)
            .try_for_each(|rule| self.has_rule(rule, Denies::OfSome))
    }

    fn has_rule(&self, rule: &ResourceRule, denies: Denies) -> Result<(), PrivilegeEscalation> {
        let is_meant = |kind: &&ResourceType| rule.resource == ANY || rule.resource == kind.as_str();
        let selector = StoredSelector::read(ResourceType::parse(&rule.resource), &rule.selector);
        for resource in ResourceType::ALL.iter().filter(is_meant) {
            let concerns = |name: &str, action: Action| {
                let named = Action::parse(name);
                name == ANY || named.is_some_and(|named| is_about(rule.effect, *resource, named, action))
            };
            let wanted = |action: &&Action| rule.actions.iter().any(|name| concerns(name, **action));
            for action in Action::ALL.iter().filter(wanted) {
                let has = match &selector {
                    // What is somebody else's own is not the caller's.
                    StoredSelector::All | StoredSelector::Own | StoredSelector::Unreadable => {
                        self.reaches_all(*resource, *action, denies)
                    }
                    StoredSelector::One(id) => self.reaches(*resource, *action, id, denies),
                };
                if !has || !self.is_member() {
                    return Err(PrivilegeEscalation::Action {
                        resource: *resource,
                        action: *action,
                        selector: rule.selector.clone(),
                    });
                }
            }
        }
        Ok(())
    }
}
