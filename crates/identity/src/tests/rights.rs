use heddle_kernel::GrantId;
use heddle_policy::capability::{GrantCreate, GrantDelete, RoleCreate, RoleUpdate};
use heddle_policy::{Effect, GrantFacts, PermissionSet, ResourceRule, Source};

use super::*;
use crate::Hold;
use crate::grants::NewGrant;
use crate::records::{GrantPrincipal, GrantRow};
use crate::roles::{NewRole, PatchRole};

const W1: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
const W2: &str = "01890a5d-ac96-774b-bcce-b302099a8058";

fn new_grant(principal: GrantPrincipal, about: (&str, &str, &str), effect: Effect) -> NewGrant {
    NewGrant {
        principal,
        resource: about.0.to_owned(),
        action: about.1.to_owned(),
        selector: about.2.to_owned(),
        effect,
        expires_at: None,
        reason: None,
    }
}

/// An administrator from whom one workflow is kept.
fn held_back() -> RequestContext {
    let deny = GrantFacts {
        id: "g1".to_owned(),
        source: Source::User,
        resource: "workflow".to_owned(),
        action: "delete".to_owned(),
        selector: W1.to_owned(),
        effect: Effect::Deny,
        expires_at: None,
    };
    context_of(&Facts::member(user_id(0), tenant()).with_system_role("administrator").with_grant(deny), START)
}

fn denying(selector: &str) -> ResourceRule {
    ResourceRule {
        resource: "workflow".to_owned(),
        actions: vec!["delete".to_owned()],
        selector: selector.to_owned(),
        effect: Effect::Deny,
    }
}

#[tokio::test]
async fn nobody_grants_more_than_he_has() {
    let mut world = World::new();
    world.directory.expect_insert_grant().times(1).returning(|_, _| Ok(()));
    let identity = world.identity();
    let context = held_back();
    let give = async |about: (&str, &str, &str)| {
        let new = new_grant(GrantPrincipal::User(user_id(0)), about, Effect::Allow);
        identity.create_grant(&kind::<GrantCreate>(&context), &context, new, &nothing).await
    };
    for about in
        [("workflow", "delete", W1), ("workflow", "delete", "*"), ("workflow", "*", W1), ("*", "*", "*")]
    {
        assert_eq!(reason(&give(about).await.unwrap_err()), "exceedsOwnRights", "{about:?}");
    }
    give(("workflow", "delete", W2)).await.unwrap();
}

#[tokio::test]
async fn nobody_lifts_the_deny_that_holds_him_back() {
    let row = |selector: &str| GrantRow {
        tenant: tenant(),
        id: GrantId(Uuid::from_u128(600)),
        principal: GrantPrincipal::User(user_id(0)),
        resource: "workflow".to_owned(),
        action: "delete".to_owned(),
        selector: selector.to_owned(),
        effect: Effect::Deny,
        reason: None,
        expires_at: None,
        created_at: START,
        created_by: user_id(1),
    };
    for (selector, expected) in [(W1, Some("exceedsOwnRights")), (W2, None)] {
        let mut world = World::new();
        let kept = row(selector);
        world.directory.expect_grant().returning(move |_, _| Ok(kept.clone()));
        world.directory.expect_delete_grant().returning(|_, _, _| Ok(()));
        let context = held_back();
        let id = GrantId(Uuid::from_u128(600));
        let lifted = world
            .identity()
            .delete_grant(&one::<GrantDelete>(&context, id), &context, &Journal::default())
            .await;
        assert_eq!(lifted.err().map(|error| reason(&error)), expected);
    }
}

#[tokio::test]
async fn what_everyone_is_denied_is_lifted_by_who_could_deny_it_and_holds_nobody_from_giving() {
    let deny = |source: Source| GrantFacts {
        id: "g1".to_owned(),
        source,
        resource: "workflow".to_owned(),
        action: "delete".to_owned(),
        selector: W1.to_owned(),
        effect: Effect::Deny,
        expires_at: None,
    };
    let of = |role: &str, source: Source| {
        context_of(
            &Facts::member(user_id(0), tenant()).with_system_role(role).with_grant(deny(source)),
            START,
        )
    };
    for (context, lifted, given) in [
        (of("owner", Source::Everyone), None, None),
        (of("administrator", Source::Everyone), Some("exceedsOwnRights"), None),
        (of("owner", Source::User), Some("exceedsOwnRights"), Some("exceedsOwnRights")),
    ] {
        let row = granted(GrantPrincipal::Everyone, ("workflow", "delete", W1), Effect::Deny);
        let id = row.id;
        let mut world = World::new();
        world.directory.expect_grant().returning(move |_, _| Ok(row.clone()));
        world.directory.expect_delete_grant().returning(|_, _, _| Ok(()));
        world.directory.expect_insert_grant().returning(|_, _| Ok(()));
        let identity = world.identity();
        let outcome =
            identity.delete_grant(&one::<GrantDelete>(&context, id), &context, &Journal::default()).await;
        assert_eq!(outcome.err().map(|error| reason(&error)), lifted);
        // Whoever gets it is held back as well.
        let new = new_grant(GrantPrincipal::User(user_id(1)), ("workflow", "delete", "*"), Effect::Allow);
        let made = identity.create_grant(&kind::<GrantCreate>(&context), &context, new, &nothing).await;
        assert_eq!(made.err().map(|error| reason(&error)), given);
    }
}

#[tokio::test]
async fn nobody_takes_from_the_stronger_and_nobody_locks_everybody_out() {
    let mut world = World::new();
    world.access.expect_standing().returning(|_, _| Ok(Some((user(1), standing(1, &["owner"])))));
    world.directory.expect_role().returning(|_, _| Ok(system_role("owner")));
    world.directory.expect_role_grants().returning(|_, _| Ok(Vec::new()));
    world.directory.expect_insert_grant().times(1).returning(|_, _| Ok(()));
    let identity = world.identity();
    let deny = async |context: &RequestContext, principal: GrantPrincipal, about: (&str, &str, &str)| {
        let new = new_grant(principal, about, Effect::Deny);
        let made = identity.create_grant(&kind::<GrantCreate>(context), context, new, &nothing).await;
        made.err().map(|error| reason(&error))
    };
    let (administrator, owner) = (context("administrator"), context("owner"));
    let workflows = ("workflow", "delete", "*");
    for principal in [
        GrantPrincipal::User(user_id(1)),
        GrantPrincipal::Role(system_role("owner").id),
        GrantPrincipal::Everyone,
    ] {
        assert_eq!(
            deny(&administrator, principal, workflows).await,
            Some("exceedsOwnRights"),
            "{principal:?}"
        );
    }
    for about in [("*", "*", "*"), ("grant", "delete", W1), ("*", "delete", "*")] {
        assert_eq!(deny(&owner, GrantPrincipal::Everyone, about).await, Some("lockOut"), "{about:?}");
        assert_eq!(deny(&owner, GrantPrincipal::Role(system_role("owner").id), about).await, Some("lockOut"));
    }
    // Of whatever it is: no owner is left who is free of it.
    let all_owners = GrantPrincipal::Role(system_role("owner").id);
    assert_eq!(deny(&owner, all_owners, workflows).await, Some("lockOut"));
    assert_eq!(deny(&owner, GrantPrincipal::Everyone, workflows).await, None);
}

#[tokio::test]
async fn grants_name_what_there_is() {
    let identity = World::new().identity();
    let context = context("owner");
    for (about, expected) in [
        (("spaceship", "read", "*"), "unknownResourceType"),
        (("workflow", "fly", "*"), "unknownAction"),
        (("workflow", "read", ""), "wrongFormat"),
        (("workflow", "read", "w1"), "wrongFormat"),
        (("workflow", "read", "01890A5D-AC96-774B-BCCE-B302099A8057"), "wrongFormat"),
    ] {
        let new = new_grant(GrantPrincipal::Everyone, about, Effect::Allow);
        let made = identity.create_grant(&kind::<GrantCreate>(&context), &context, new, &nothing).await;
        assert_eq!(reason(&made.unwrap_err()), expected);
    }
}

#[tokio::test]
async fn a_role_gives_no_more_than_its_maker_has() {
    let mut world = World::new();
    world.directory.expect_insert_role().times(1).returning(|_, _| Ok(()));
    let identity = world.identity();
    let make = async |context: &RequestContext, rules: RoleRules| {
        let new = NewRole { name: "helpers".to_owned(), description: None, rules };
        identity
            .create_role(&kind::<RoleCreate>(context), context, new, &nothing)
            .await
            .err()
            .map(|error| reason(&error))
    };
    let of = |names: &[&str]| RoleRules { permissions: PermissionSet::of(names), ..RoleRules::default() };
    let administrator = context("administrator");
    assert_eq!(make(&administrator, of(&["licence.manage"])).await, Some("exceedsOwnRights"));
    assert_eq!(make(&administrator, of(&["*"])).await, Some("exceedsOwnRights"));
    assert_eq!(make(&administrator, of(&["pilot"])).await, Some("unknownPermission"));
    assert_eq!(make(&administrator, of(&["runs.view"])).await, None);
}

#[tokio::test]
async fn a_role_s_denies_are_lifted_by_who_is_free_of_them() {
    let kept = role(50, "restricted", RoleRules { resources: vec![denying(W1)], ..RoleRules::default() });
    for (context, resources, expected) in [
        (held_back(), Vec::new(), Some("exceedsOwnRights")),
        (context("administrator"), Vec::new(), None),
        // More denies are an owner's business, for an owner may have the role.
        (context("administrator"), vec![denying(W1), denying(W2)], Some("exceedsOwnRights")),
        (context("owner"), vec![denying(W1), denying(W2)], None),
    ] {
        let mut world = World::new();
        let kept = kept.clone();
        let id = kept.id;
        world.directory.expect_role().returning(move |_, _| Ok(kept.clone()));
        world.directory.expect_update_role().returning(|_, _, _| Ok(()));
        let patch = PatchRole { resources: Some(resources), ..PatchRole::default() };
        let changed =
            world.identity().update_role(&one::<RoleUpdate>(&context, id), &context, patch, &nothing).await;
        assert_eq!(changed.err().map(|error| reason(&error)), expected);
    }
}

#[tokio::test]
async fn what_a_role_gives_is_taken_from_it_by_who_has_it() {
    let rules = RoleRules { permissions: PermissionSet::of(&["licence.manage"]), ..RoleRules::default() };
    for (maker, expected) in [("administrator", Some("exceedsOwnRights")), ("owner", None)] {
        let kept = role(51, "licensing", rules.clone());
        let id = kept.id;
        let mut world = World::new();
        world.directory.expect_role().returning(move |_, _| Ok(kept.clone()));
        world.directory.expect_update_role().returning(|_, _, _| Ok(()));
        let context = context(maker);
        let patch = PatchRole { permissions: Some(PermissionSet::default()), ..PatchRole::default() };
        let changed =
            world.identity().update_role(&one::<RoleUpdate>(&context, id), &context, patch, &nothing).await;
        assert_eq!(changed.err().map(|error| reason(&error)), expected, "{maker}");
    }
}

#[tokio::test]
async fn a_role_is_denied_something_by_who_has_all_that_was_granted_to_it() {
    for (effect, ends, expected) in [
        (Effect::Allow, None, Some("exceedsOwnRights")),
        (Effect::Allow, Some(START), None),
        (Effect::Deny, None, None),
    ] {
        let kept = role(52, "helpers", RoleRules::default());
        let id = kept.id;
        let mut world = World::new();
        world.directory.expect_role().returning(move |_, _| Ok(kept.clone()));
        world.directory.expect_role_grants().returning(move |_, roles| {
            let grant = granted(GrantPrincipal::Role(roles[0]), ("licence", "install", "*"), effect);
            Ok(vec![GrantRow { expires_at: ends, ..grant }])
        });
        world.directory.expect_insert_grant().returning(|_, _| Ok(()));
        let context =
            context_of(&Facts::member(user_id(0), tenant()).with_role("r", "own", all_but_licences()), START);
        let new = new_grant(GrantPrincipal::Role(id), ("workflow", "delete", "*"), Effect::Deny);
        let made =
            world.identity().create_grant(&kind::<GrantCreate>(&context), &context, new, &nothing).await;
        assert_eq!(made.err().map(|error| reason(&error)), expected, "{effect:?} {ends:?}");
    }
}

#[tokio::test]
async fn an_ended_grant_is_deleted_by_anybody_and_a_living_one_by_who_has_it() {
    for (ends, expected) in [(None, Some("exceedsOwnRights")), (Some(START), None)] {
        let row = granted(GrantPrincipal::User(user_id(1)), ("workflow", "delete", W1), Effect::Allow);
        let (row, id) = (GrantRow { expires_at: ends, ..row.clone() }, row.id);
        let mut world = World::new();
        world.directory.expect_grant().returning(move |_, _| Ok(row.clone()));
        world.directory.expect_delete_grant().returning(|_, _, _| Ok(()));
        let context = held_back();
        let deleted = world
            .identity()
            .delete_grant(&one::<GrantDelete>(&context, id), &context, &Journal::default())
            .await;
        assert_eq!(deleted.err().map(|error| reason(&error)), expected, "{ends:?}");
    }
}

#[tokio::test]
async fn a_change_that_locks_everybody_out_is_told_so() {
    let mut world = World::new();
    world.directory.expect_insert_grant().returning(|_, _| Err(heddle_usecase::StoreError::LockOut));
    let context = context("owner");
    let new = new_grant(GrantPrincipal::Everyone, ("role", "update", "*"), Effect::Deny);
    let made = world.identity().create_grant(&kind::<GrantCreate>(&context), &context, new, &nothing).await;
    assert_eq!(reason(&made.unwrap_err()), "lockOut");
}

#[test]
fn the_keys_are_held_by_owners_from_whom_nothing_of_them_is_taken() {
    let holds = |taken: RoleRules, grants: Vec<GrantRow>| {
        let mut access = standing(1, &["owner"]);
        access.roles.push(role(60, "taking", taken));
        access.grants = grants;
        crate::hold_of(&user(1), tenant(), &access, START)
    };
    let taking = |names: &[&str]| RoleRules {
        denied_permissions: names.iter().map(|name| (*name).to_owned()).collect(),
        ..RoleRules::default()
    };
    assert_eq!(holds(RoleRules::default(), Vec::new()), Hold::All);
    assert_eq!(holds(taking(&["workflows.manage"]), Vec::new()), Hold::Keys);
    for name in ["roles.manage", "grants.manage", "members.manage", "licence.manage"] {
        assert_eq!(holds(taking(&[name]), Vec::new()), Hold::Nothing, "{name}");
    }
    let to_role = GrantPrincipal::Role(role(60, "taking", RoleRules::default()).id);
    let deny = granted(to_role, ("role", "update", W1), Effect::Deny);
    assert_eq!(holds(RoleRules::default(), vec![deny.clone()]), Hold::Nothing);
    assert_eq!(holds(RoleRules::default(), vec![GrantRow { expires_at: Some(START), ..deny }]), Hold::All);
    // What else is denied to an owner they can't lift themselves; what is denied to everyone they can.
    for (principal, expected) in [
        (to_role, Hold::Keys),
        (GrantPrincipal::User(user_id(1)), Hold::Keys),
        (GrantPrincipal::Everyone, Hold::All),
    ] {
        let deny = granted(principal, ("workflow", "read", W1), Effect::Deny);
        assert_eq!(holds(RoleRules::default(), vec![deny]), expected, "{principal:?}");
    }
}

#[tokio::test]
async fn selectors_of_before_are_read_once_and_the_rest_is_named() {
    let slug = granted(GrantPrincipal::Everyone, ("workflow", "read", "order-approval"), Effect::Deny);
    let capitals = granted(GrantPrincipal::Everyone, ("run", "read", &W1.to_uppercase()), Effect::Deny);
    let lost = granted(GrantPrincipal::Everyone, ("workflow", "read", "gone"), Effect::Deny);
    let rows = [slug, capitals, lost].into_iter().zip(0..);
    let rows: Vec<GrantRow> =
        rows.map(|(row, n)| GrantRow { id: GrantId(Uuid::from_u128(700 + n)), ..row }).collect();
    let rule = |selector: &str| denying(selector);
    let resources = vec![rule("order-approval"), rule(&format!(" {W2}")), rule("gone"), rule(W2)];
    let kept = role(53, "old", RoleRules { resources, ..RoleRules::default() });
    let mut world = World::new();
    world.directory.expect_grants_about_one().returning(move |_, _| Ok(rows.clone()));
    world.directory.expect_own_roles().returning(move || Ok(vec![kept.clone()]));
    let respelt = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&respelt);
    world.directory.expect_respell_grant().returning(move |grant, before, journal| {
        assert!(journal.audit.is_some());
        seen.lock().unwrap().push((before.to_owned(), grant.selector.clone()));
        Ok(())
    });
    world
        .directory
        .expect_update_role()
        .times(1)
        .withf(|role, expected, journal| {
            let selectors: Vec<_> = role.rules.resources.iter().map(|rule| rule.selector.as_str()).collect();
            selectors == [W1, W2, "gone", W2] && role.revision == expected.next() && journal.audit.is_some()
        })
        .returning(|_, _, _| Ok(()));
    let left = world.identity().read_stored_selectors(&Slugs).await.unwrap();
    let expected = [("order-approval".to_owned(), W1.to_owned()), (W1.to_uppercase(), W1.to_owned())];
    assert_eq!(*respelt.lock().unwrap(), expected);
    // The mock still has what was there: what is named is what can't be read.
    assert_eq!(left.len(), 6);
    assert!(left.iter().all(|rule| rule.tenant == tenant()));
}

/// The slugs of one workflow.
struct Slugs;

#[async_trait::async_trait]
impl crate::FindBySlug for Slugs {
    async fn find(
        &self,
        organization: TenantId,
        kind: heddle_policy::ResourceType,
        slug: &str,
    ) -> Result<Option<Uuid>, UseCaseError> {
        assert_eq!((organization, kind), (tenant(), heddle_policy::ResourceType::Workflow));
        Ok((slug == "order-approval").then(|| W1.parse().unwrap()))
    }
}

fn granted(principal: GrantPrincipal, about: (&str, &str, &str), effect: Effect) -> GrantRow {
    GrantRow {
        tenant: tenant(),
        id: GrantId(Uuid::from_u128(601)),
        principal,
        resource: about.0.to_owned(),
        action: about.1.to_owned(),
        selector: about.2.to_owned(),
        effect,
        reason: None,
        expires_at: None,
        created_at: START,
        created_by: user_id(1),
    }
}

/// Everything but to install licences.
fn all_but_licences() -> RoleRules {
    let licence = ResourceRule {
        resource: "licence".to_owned(),
        actions: vec!["install".to_owned()],
        selector: "*".to_owned(),
        effect: Effect::Deny,
    };
    let mut rules = system_role("owner").rules;
    rules.resources.push(licence);
    rules
}

#[tokio::test]
async fn an_organisation_without_a_system_role_gets_it_unless_its_name_is_taken() {
    let (lacking, taken) = (tenant(), TenantId(Uuid::from_u128(99)));
    let mut world = World::new();
    world.directory.expect_lacking_role().returning(move |name| match name {
        "requester" => {
            Ok(vec![(lacking, crate::ports::NameTaken::No), (taken, crate::ports::NameTaken::ByOwnRole)])
        }
        _ => Ok(Vec::new()),
    });
    world
        .directory
        .expect_insert_role()
        .times(1)
        .withf(move |role, journal| {
            let known = (role.tenant, role.name.as_str(), role.system) == (lacking, "requester", true);
            known && role.rules == system_role("requester").rules && journal.audit.is_some()
        })
        .returning(|_, _| Ok(()));
    let left = world.identity().add_system_roles().await.unwrap();
    assert_eq!(left, [(taken, "requester")]);
}
