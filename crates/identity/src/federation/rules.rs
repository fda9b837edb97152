//! Rules of a provider: whom it lets in, and which roles its groups give. The operator sets them.

use std::collections::{BTreeMap, BTreeSet};

use heddle_kernel::RoleId;
use heddle_policy::system_roles::OWNER;

use crate::records::Role;

/// Domain that stands for every domain.
const EVERY_DOMAIN: &str = "*";

/// Roles that a provider gives in one organisation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaceRules {
    /// Slug of the organisation.
    pub slug: String,
    /// Names of the roles that everybody gets who signs in by the provider.
    pub default_roles: Vec<String>,
    /// Names of roles by group.
    pub roles: BTreeMap<String, Vec<String>>,
}

/// Rules of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProviderRules {
    /// Name of the provider.
    pub name: String,
    /// Organisations in which the provider's people have roles. A new account is at home in the first that gives one.
    pub places: Vec<PlaceRules>,
    /// Whether somebody without an account gets one.
    pub create_users: bool,
    /// Domains of e-mail addresses by which accounts are made and linked; `*` for every domain.
    pub email_domains: Vec<String>,
    /// Whether an account that is there is linked by its e-mail address.
    pub link_accounts: bool,
    /// Whether that holds for accounts that manage people, roles, grants, the organisation or the licence, too.
    pub link_administrators: bool,
    /// Whether a group may give the owner role.
    pub allow_owner: bool,
    /// Methods (`amr`) of which the person must have used one; none: the provider decides.
    pub required_methods: Vec<String>,
}

/// A rule that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {message}")]
pub struct RulesError {
    /// Name of the setting.
    pub field: &'static str,
    /// Sentence that says what is needed.
    pub message: String,
}

impl ProviderRules {
    /// Checks them as far as they can be checked without the organisations.
    ///
    /// # Errors
    /// The first rule that can't be used.
    pub fn check(&self) -> Result<(), RulesError> {
        let wrong = |field, message: &str| Err(RulesError { field, message: message.to_owned() });
        if self.places.is_empty() {
            return wrong("organization", "at least one organisation is needed");
        }
        let slugs: BTreeSet<&str> = self.places.iter().map(|place| place.slug.as_str()).collect();
        if slugs.len() != self.places.len() || slugs.contains("") {
            return wrong("organization.slug", "each organisation stands once, by its slug");
        }
        let names = || self.places.iter().flat_map(PlaceRules::names);
        if names().any(|name| name.trim().is_empty()) {
            return wrong("organization.roles", "the name of a role is empty");
        }
        if !self.allow_owner && names().any(|name| name == OWNER) {
            return wrong("organization.roles", "no group gives the owner role unless `allow_owner` is true");
        }
        let by_address = self.create_users || self.link_accounts;
        if by_address && self.email_domains.is_empty() {
            let message =
                "domains are needed where accounts are made or linked by their address; `*` is every domain";
            return wrong("email_domains", message);
        }
        let domain = |text: &String| {
            text == EVERY_DOMAIN
                || (text.contains('.') && !text.contains('@') && *text == text.trim().to_lowercase())
        };
        if !self.email_domains.iter().all(domain) {
            return wrong("email_domains", "domains in small letters are needed, such as example.com");
        }
        if self.link_administrators && !self.link_accounts {
            return wrong("link_administrators", "it says nothing while `link_accounts` is false");
        }
        if self.required_methods.iter().any(String::is_empty) {
            return wrong("required_amr", "the name of a method is empty");
        }
        Ok(())
    }

    /// Whether an account is made or linked by this address.
    pub(crate) fn takes_address(&self, email: &str) -> bool {
        let Some((_, domain)) = email.rsplit_once('@') else { return false };
        self.email_domains.iter().any(|one| one == EVERY_DOMAIN || one == domain)
    }

    /// Whether one of the methods is among those that are asked for.
    pub(crate) fn takes_methods(&self, used: &[String]) -> bool {
        self.required_methods.is_empty() || used.iter().any(|one| self.required_methods.contains(one))
    }
}

impl PlaceRules {
    fn names(&self) -> impl Iterator<Item = &String> {
        self.default_roles.iter().chain(self.roles.values().flatten())
    }

    /// Names of the roles of somebody with these groups.
    pub(crate) fn wanted(&self, groups: &[String]) -> BTreeSet<&str> {
        let by_group = groups.iter().filter_map(|group| self.roles.get(group)).flatten();
        self.default_roles.iter().chain(by_group).map(String::as_str).collect()
    }
}

fn has(list: &[RoleId], id: &RoleId) -> bool {
    list.contains(id)
}

/// Roles of a member, and by whom they were given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Present<'a> {
    /// All roles.
    pub(crate) roles: &'a [RoleId],
    /// Those that this provider gave.
    pub(crate) own: &'a [RoleId],
    /// Those that other providers gave.
    pub(crate) others: &'a [RoleId],
}

/// Roles of a member as they shall be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Next {
    /// All roles, sorted.
    pub(crate) roles: Vec<RoleId>,
    /// Those that this provider gives, sorted.
    pub(crate) mapped: Vec<RoleId>,
    /// Those that come.
    pub(crate) added: Vec<RoleId>,
    /// Those that go.
    pub(crate) removed: Vec<RoleId>,
}

impl Next {
    /// Roles of a member whose groups now give `wanted`. What a provider gave it takes again, unless another gives it as
    /// well; what somebody gave by hand stays. With `keeps` nothing is taken.
    pub(crate) fn of(present: &Present<'_>, wanted: &[RoleId], keeps: bool) -> Self {
        let taken =
            |id: &&RoleId| has(present.own, id) && !has(wanted, id) && !has(present.others, id) && !keeps;
        let removed: Vec<RoleId> = present.roles.iter().filter(taken).copied().collect();
        let mut added: Vec<RoleId> = wanted.iter().filter(|id| !has(present.roles, id)).copied().collect();
        added.sort_unstable();
        added.dedup();
        let mut roles: Vec<RoleId> =
            present.roles.iter().filter(|id| !has(&removed, id)).chain(&added).copied().collect();
        roles.sort_unstable();
        roles.dedup();
        // A role that somebody gave by hand does not become the provider's.
        let given = |id: &&RoleId| has(&added, id) || has(present.own, id) || has(present.others, id);
        let kept = present.own.iter().filter(|id| keeps && has(present.roles, id));
        let mut mapped: Vec<RoleId> = wanted.iter().filter(given).chain(kept).copied().collect();
        mapped.sort_unstable();
        mapped.dedup();
        Self { roles, mapped, added, removed }
    }

    /// Whether nothing changes for the member.
    pub(crate) fn is_same(&self, present: &Present<'_>) -> bool {
        let mut own = present.own.to_vec();
        own.sort_unstable();
        self.added.is_empty() && self.removed.is_empty() && self.mapped == own
    }
}

/// Whether a role is the one that owners have.
pub(crate) fn is_owner(role: &Role) -> bool {
    role.system && role.name == OWNER
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> RoleId {
        RoleId(Uuid::from_u128(number))
    }

    fn next(roles: &[u128], own: &[u128], others: &[u128], wanted: &[u128], keeps: bool) -> [Vec<u128>; 2] {
        let ids = |numbers: &[u128]| numbers.iter().copied().map(id).collect::<Vec<_>>();
        let (roles, own, others) = (ids(roles), ids(own), ids(others));
        let present = Present { roles: &roles, own: &own, others: &others };
        let found = Next::of(&present, &ids(wanted), keeps);
        [found.roles, found.mapped].map(|ids| ids.into_iter().map(|id| id.0.as_u128()).collect())
    }

    #[test]
    fn groups_add_and_remove_what_they_gave_and_nothing_else() {
        // Present roles, of them the provider's, others', wanted; all after, and the provider's after.
        assert_eq!(next(&[], &[], &[], &[1, 2], false), [vec![1, 2], vec![1, 2]]);
        assert_eq!(next(&[1, 2], &[1, 2], &[], &[2], false), [vec![2], vec![2]]);
        assert_eq!(next(&[1, 9], &[1], &[], &[], false), [vec![9], vec![]]);
        // Given by hand before the group gave it: it stays when the group goes.
        assert_eq!(next(&[1], &[], &[], &[1], false), [vec![1], vec![]]);
        // Taken by hand while the group gives it: it comes again, and is the group's.
        assert_eq!(next(&[], &[1], &[], &[1], false), [vec![1], vec![1]]);
        // Taken by hand, and the group went: the mark goes, too.
        assert_eq!(next(&[9], &[1], &[], &[], false), [vec![9], vec![]]);
        // Another provider gives it as well: it stays, and is that one's.
        assert_eq!(next(&[1], &[1], &[1], &[], false), [vec![1], vec![]]);
        assert_eq!(next(&[1], &[], &[1], &[1], false), [vec![1], vec![1]]);
        // Nothing is taken where it can't be, and the mark stays for the next time.
        assert_eq!(next(&[1, 9], &[1], &[], &[2], true), [vec![1, 2, 9], vec![1, 2]]);
    }

    #[test]
    fn a_member_with_the_roles_of_their_groups_is_left_alone() {
        let (roles, own) = ([id(1), id(9)], [id(1)]);
        let present = Present { roles: &roles, own: &own, others: &[] };
        assert!(Next::of(&present, &[id(1)], false).is_same(&present));
        assert!(!Next::of(&present, &[], false).is_same(&present));
        assert!(!Next::of(&present, &[id(1), id(2)], false).is_same(&present));
    }

    fn rules() -> ProviderRules {
        let place = PlaceRules {
            slug: "acme".to_owned(),
            default_roles: vec!["viewer".to_owned()],
            roles: BTreeMap::from([("ops".to_owned(), vec!["operator".to_owned(), "worker".to_owned()])]),
        };
        ProviderRules { name: "corporate".to_owned(), places: vec![place], ..ProviderRules::default() }
    }

    #[test]
    fn groups_that_are_known_give_roles_beside_those_of_everybody() {
        let rules = rules();
        let wanted = |groups: &[&str]| {
            let groups: Vec<String> = groups.iter().map(|group| (*group).to_owned()).collect();
            rules.places[0].wanted(&groups).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(wanted(&[]), ["viewer"]);
        assert_eq!(wanted(&["ops", "OPS", "other"]), ["operator", "viewer", "worker"]);
    }

    #[test]
    fn rules_that_open_in_silence_are_refused() {
        assert_eq!(rules().check(), Ok(()));
        let of = |change: fn(&mut ProviderRules)| {
            let mut rules = rules();
            change(&mut rules);
            rules.check().unwrap_err().field
        };
        assert_eq!(of(|it| it.places.clear()), "organization");
        assert_eq!(of(|it| it.places.push(it.places[0].clone())), "organization.slug");
        assert_eq!(of(|it| it.places[0].default_roles.push(OWNER.to_owned())), "organization.roles");
        assert_eq!(of(|it| it.create_users = true), "email_domains");
        assert_eq!(of(|it| it.link_accounts = true), "email_domains");
        assert_eq!(of(|it| it.email_domains = vec!["Example.com".to_owned()]), "email_domains");
        assert_eq!(of(|it| it.email_domains = vec!["@example.com".to_owned()]), "email_domains");
        assert_eq!(of(|it| it.link_administrators = true), "link_administrators");
        let mut owners = rules();
        owners.places[0].default_roles.push(OWNER.to_owned());
        owners.allow_owner = true;
        assert_eq!(owners.check(), Ok(()));
    }

    #[test]
    fn an_address_is_taken_by_its_whole_domain() {
        let of = |domains: &[&str], email: &str| {
            let email_domains = domains.iter().map(|domain| (*domain).to_owned()).collect();
            ProviderRules { email_domains, ..ProviderRules::default() }.takes_address(email)
        };
        assert!(of(&["example.com"], "ada@example.com"));
        assert!(!of(&["example.com"], "ada@evil-example.com"));
        assert!(!of(&["example.com"], "ada@sub.example.com"));
        assert!(!of(&["example.com"], "ada@example.com@evil.test"));
        assert!(of(&["*"], "ada@anywhere.test") && !of(&["*"], "nobody") && !of(&[], "ada@example.com"));
    }
}
