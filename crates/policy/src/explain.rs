//! Explanation of a decision: each of its steps, whatever the others say.

use heddle_kernel::literals;

use crate::decision::{DeterminingRule, Question, Reason};
use crate::permission::{Action, Permission, ResourceType};
use crate::snapshot::{Snapshot, told};

literals! {
    /// Step of a decision.
    pub enum Step {
        /// The account is in use.
        Account = "accountInUse",
        /// The caller belongs to the organisation.
        Membership = "member",
        /// Type and action are registered.
        Registered = "registered",
        /// No deny applies to the action on the thing.
        Denies = "notDenied",
        /// One of the permissions is held.
        Permission = "permission",
        /// A grant gives the action on the thing.
        ResourceAction = "resourceAction",
        /// Rules about one's own things decide nothing here, or it is known whose the thing is.
        Ownership = "ownership",
    }
}

/// Outcome of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// The step.
    pub step: Step,
    /// Reason for which it refuses; none when it passes.
    pub refused: Option<Reason>,
    /// The permission that is held, in the step about permissions.
    pub permission: Option<Permission>,
    /// The rules that counted.
    pub via: Vec<DeterminingRule>,
}

impl Explained {
    const fn without_rules(step: Step, refused: Option<Reason>) -> Self {
        Self { step, refused, permission: None, via: Vec::new() }
    }
}

impl Snapshot {
    /// Every step of a decision in its order, also those behind the first that refuses, as far as they can be told: who is
    /// nobody in the organisation has no rules in it. The decision is the first refusal's reason.
    #[must_use]
    pub fn explain(&self, question: &Question<'_>) -> Vec<Explained> {
        let outside = self.outside();
        let of = |step, reason| Explained::without_rules(step, outside.filter(|outside| *outside == reason));
        let mut steps = vec![of(Step::Account, Reason::PrincipalInactive)];
        if outside == Some(Reason::PrincipalInactive) {
            return steps;
        }
        steps.push(of(Step::Membership, Reason::NotAMember));
        if outside.is_some() {
            return steps;
        }
        let unknown = match (ResourceType::parse(question.resource), Action::parse(question.action)) {
            (None, _) => Some(Reason::UnknownResourceType),
            (Some(_), None) => Some(Reason::UnknownAction),
            (Some(_), Some(_)) => None,
        };
        steps.push(Explained::without_rules(Step::Registered, unknown));
        let Some(weighed) = self.weighed(question) else { return steps };
        let denied = (!weighed.denies.is_empty()).then_some(Reason::ExplicitDeny);
        steps.push(Explained { via: weighed.denies, ..Explained::without_rules(Step::Denies, denied) });
        steps.extend(self.about_permissions(question.permissions));
        let refused = (!weighed.allowed).then_some(Reason::ResourceActionNotGranted);
        steps.push(Explained {
            via: weighed.allows,
            ..Explained::without_rules(Step::ResourceAction, refused)
        });
        steps.extend(self.about_ownership(question));
        steps
    }

    /// The step about whose one thing is; none where no rule asks for that. It refuses where another step does only since
    /// nobody looked, permissions apart.
    fn about_ownership(&self, question: &Question<'_>) -> Option<Explained> {
        question.target.id.as_ref()?;
        let (resource, action) = (ResourceType::parse(question.resource)?, Action::parse(question.action)?);
        let action = if question.lists { Action::List } else { action };
        let via = told(self.about_own(resource, action));
        if via.is_empty() {
            return None;
        }
        let by_rules = Question { permissions: &[], ..*question };
        let refused = self.granted_if(&by_rules).map(|_| self.verdict(&by_rules));
        Some(Explained { via, ..Explained::without_rules(Step::Ownership, refused) })
    }

    /// The step about permissions; none where the question asks for none.
    fn about_permissions(&self, permissions: &[Permission]) -> Option<Explained> {
        if permissions.is_empty() {
            return None;
        }
        if let Some(held) = permissions.iter().copied().find(|name| self.holds(*name)) {
            let via = self.giving(&[held]);
            let step = Explained::without_rules(Step::Permission, None);
            return Some(Explained { permission: Some(held), via, ..step });
        }
        let via = self.taken(permissions);
        let reason = if via.is_empty() { Reason::PermissionMissing } else { Reason::ExplicitDeny };
        Some(Explained { via, ..Explained::without_rules(Step::Permission, Some(reason)) })
    }
}
