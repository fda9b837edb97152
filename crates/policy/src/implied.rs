//! Actions by which rules count: the one place that knows what implies what.

use crate::facts::Effect;
use crate::permission::{Action, ResourceType, WITHOUT_READ};

/// The actions of rules that count for an action on things of a type. What may be read may be listed, and who may not
/// read, or not list, sees nothing in a list. A type without `read` is listed by the action `list` as well.
#[must_use]
pub(crate) fn counting(effect: Effect, resource: ResourceType, action: Action) -> &'static [Action] {
    match (effect, action) {
        (Effect::Deny, Action::List) => &[Action::List, Action::Read],
        (Effect::Allow, Action::List) if WITHOUT_READ.contains(&resource) => &[Action::List, Action::Read],
        (Effect::Allow, Action::List) => &[Action::Read],
        (Effect::Allow | Effect::Deny, other) => {
            Action::ALL.get(other as usize).map_or(&[], std::slice::from_ref)
        }
    }
}

/// Whether a rule that names an action is about another one: by what it names, or by what that implies.
#[must_use]
pub(crate) fn is_about(effect: Effect, resource: ResourceType, named: Action, action: Action) -> bool {
    named == action || counting(effect, resource, action).contains(&named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_stands_at_its_own_place() {
        for (at, action) in Action::ALL.iter().enumerate() {
            assert_eq!(*action as usize, at, "{action}");
            if *action != Action::List {
                for effect in [Effect::Allow, Effect::Deny] {
                    assert_eq!(counting(effect, ResourceType::Run, *action), [*action]);
                }
            }
        }
        for (at, kind) in ResourceType::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, at, "{kind}");
        }
    }

    #[test]
    fn reading_implies_listing_and_nothing_else_does() {
        let about = |effect, kind, named| is_about(effect, kind, named, Action::List);
        assert!(about(Effect::Allow, ResourceType::Workflow, Action::Read));
        assert!(about(Effect::Deny, ResourceType::Workflow, Action::Read));
        assert!(about(Effect::Deny, ResourceType::Workflow, Action::List));
        assert!(!about(Effect::Allow, ResourceType::Workflow, Action::Run));
        assert!(!is_about(Effect::Allow, ResourceType::Workflow, Action::List, Action::Read));
        let by_list = |kind| counting(Effect::Allow, kind, Action::List).contains(&Action::List);
        assert!(by_list(ResourceType::Member) && !by_list(ResourceType::Workflow));
    }
}
