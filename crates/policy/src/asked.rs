//! Questions in registered words.

use crate::capability::Capability;
use crate::decision::{Question, Reason, Target};
use crate::permission::{Action, Permission, ResourceType};
use crate::resource::Resource;
use crate::rule_id::RuleId;

/// Question in registered words.
pub(crate) struct Asked<'a> {
    /// Permissions of which one is needed.
    pub(crate) permissions: &'a [Permission],
    /// The type.
    pub(crate) resource: ResourceType,
    /// The action.
    pub(crate) action: Action,
    /// Whether it is enough that some thing of the type is reached.
    pub(crate) some: bool,
    /// Whether a thing of which it is not said within what it stands is taken to stand within nothing that is denied.
    pub(crate) elsewhere: bool,
}

impl Asked<'static> {
    /// Question of a capability about an action on its kind.
    pub(crate) fn of<C: Capability>(action: Action) -> Self {
        let resource = <C::On as Resource>::TYPE;
        Self { permissions: C::PERMISSIONS, resource, action, some: action == Action::List, elsewhere: false }
    }
}

impl<'q> Asked<'q> {
    /// A question in registered words.
    pub(crate) fn read(question: &Question<'q>) -> Result<Self, Reason> {
        let resource = ResourceType::parse(question.resource).ok_or(Reason::UnknownResourceType)?;
        let action = Action::parse(question.action).ok_or(Reason::UnknownAction)?;
        let action = if question.lists { Action::List } else { action };
        let some = action == Action::List;
        Ok(Self { permissions: question.permissions, resource, action, some, elsewhere: false })
    }

    /// Whether some thing of the kind is enough, and none is named.
    pub(crate) const fn is_some_of(&self, target: &Target) -> bool {
        self.some && target.id.is_none()
    }
}

impl Asked<'_> {
    /// Ids by which a rule about the kind selects a thing.
    pub(crate) fn selectors<'t>(&self, target: &'t Target) -> impl Iterator<Item = &'t RuleId> {
        let by_place = self.resource.is_selected_by_place();
        let above = target.parents.iter().flatten().map(|(_, id)| id).filter(move |_| by_place);
        target.id.iter().chain(above)
    }
}
