use heddle_kernel::{GrantId, Patch};
use heddle_policy::capability::{
    GroupCreate, MemberDelete, MemberUpdate, OrganizationCreate, OrganizationDelete, RoleCreate, RoleDelete,
    RoleUpdate, UserCreate, UserDelete, UserUpdate,
};
use heddle_policy::{Effect, GrantFacts, Source};
use heddle_usecase::StoreError;

use super::*;
use crate::api_tokens::NewApiToken;
use crate::groups::NewGroup;
use crate::licence::testing;
use crate::members::SetMember;
use crate::organizations::CreateOrganization;
use crate::ports::{Change, Dependents, LimitOutcome, Tombstone};
use crate::records::{GrantPrincipal, GrantRow, InstallationState, Member};
use crate::roles::{NewRole, PatchRole};
use crate::users::{NewAccount, PatchUser};

fn member(number: u128, roles: &[&str]) -> Member {
    Member {
        membership: membership(number, roles),
        email: user(number).email,
        display_name: user(number).display_name,
        state: UserState::Active,
        roles: roles.iter().map(|name| (system_role(name).id, (*name).to_owned())).collect(),
        groups: Vec::new(),
    }
}

/// A world in which user 1 is a member with these roles.
fn world_with(roles: &'static [&'static str]) -> World {
    let mut world = World::new();
    world.access.expect_standing().returning(|_, _| Ok(Some((user(1), standing(1, roles)))));
    world.access.expect_tenants_of().returning(|_| Ok(vec![tenant()]));
    world.directory.expect_role_grants().returning(|_, _| Ok(Vec::new()));
    world.directory.expect_all_roles().returning(|_| Ok(all_system_roles()));
    world.directory.expect_member().returning(|_, _| Ok(member(1, roles)));
    world.directory.expect_user().returning(|_, _| Ok(user(1)));
    world
}

#[tokio::test]
async fn the_last_way_in_is_not_taken() {
    let unlinked = async |has_password: bool, linked: &'static [&'static str]| {
        let mut world = World::new();
        world.access.expect_standing().returning(|_, _| Ok(Some((user(1), standing(1, &["viewer"])))));
        world.access.expect_tenants_of().returning(|_| Ok(vec![tenant()]));
        world.directory.expect_user().returning(move |_, _| {
            let found = user(1);
            let password_hash = found.password_hash.clone().filter(|_| has_password);
            Ok(User { password_hash, ..found })
        });
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        world.directory.expect_providers_of().returning(move |_| Ok(names(linked)));
        world
            .directory
            .expect_unlink_provider()
            .withf(|user, provider, seen, _| provider == "a" && user.revision == seen.next())
            .returning(|_, _, _, _| Ok(()));
        let context = context("administrator");
        let about = one::<UserUpdate>(&context, user_id(1));
        let done = world.identity().unlink_user(&about, &context, "a", None, &Journal::default()).await;
        match done {
            Ok(()) => "done",
            Err(UseCaseError::NotFound) => "notFound",
            Err(error) => reason(&error),
        }
    };
    for (has_password, linked, expected) in [
        (true, &["a"][..], "done"),
        (false, &["a"], "lastWayIn"),
        (false, &["a", "a"], "lastWayIn"),
        (false, &["a", "b"], "done"),
        (true, &["b"], "notFound"),
    ] {
        assert_eq!(unlinked(has_password, linked).await, expected, "{has_password} {linked:?}");
    }
}

#[tokio::test]
async fn the_last_owner_stays() {
    let mut world = world_with(&["owner"]);
    world.directory.expect_remove_member().returning(|_, _, _, _| Ok(Change::LastOwner));
    world.directory.expect_set_member().returning(|_, _, _| Ok(Change::LastOwner));
    world.directory.expect_update_user().returning(|_, _, _| Ok(Change::LastOwner));
    world.directory.expect_delete_user().returning(|_, _, _, _| Ok(Change::LastOwner));
    let identity = world.identity();
    let context = context("owner");
    let journal = Journal::default();
    let removed =
        identity.remove_member(&one::<MemberDelete>(&context, user_id(1)), &context, None, &journal).await;
    assert_eq!(reason(&removed.unwrap_err()), "lastOwner");
    let set = SetMember { roles: vec!["viewer".to_owned()], ..SetMember::default() };
    let set = identity.set_member(&one::<MemberUpdate>(&context, user_id(1)), &context, set, &nothing).await;
    assert_eq!(reason(&set.unwrap_err()), "lastOwner");
    let patch = PatchUser { state: Some(UserState::Disabled), ..PatchUser::default() };
    let off = identity.update_user(&one::<UserUpdate>(&context, user_id(1)), &context, patch, &nothing).await;
    assert_eq!(reason(&off.unwrap_err()), "lastOwner");
    let deleted =
        identity.delete_user(&one::<UserDelete>(&context, user_id(1)), &context, None, &journal).await;
    assert_eq!(reason(&deleted.unwrap_err()), "lastOwner");
}

#[tokio::test]
async fn an_administrator_makes_no_owner_and_touches_none() {
    let context = context("administrator");
    let journal = Journal::default();
    let set = |roles: &[&str]| SetMember {
        roles: roles.iter().map(|name| (*name).to_owned()).collect(),
        ..SetMember::default()
    };
    // User 1 is a viewer: he can't be made an owner.
    let identity = world_with(&["viewer"]).identity();
    let made = identity
        .set_member(&one::<MemberUpdate>(&context, user_id(1)), &context, set(&["owner"]), &nothing)
        .await;
    assert_eq!(reason(&made.unwrap_err()), "exceedsOwnRights");
    let account = NewAccount {
        kind: None,
        email: "new@example.com".to_owned(),
        display_name: "New".to_owned(),
        password: None,
        roles: vec!["owner".to_owned()],
    };
    let made = identity.create_user(&kind::<UserCreate>(&context), &context, account, &nothing).await;
    assert_eq!(reason(&made.unwrap_err()), "exceedsOwnRights");
    // Neither is one made of oneself.
    let made = identity
        .set_member(&one::<MemberUpdate>(&context, user_id(0)), &context, set(&["owner"]), &nothing)
        .await;
    assert_eq!(reason(&made.unwrap_err()), "exceedsOwnRights");
    // User 1 is an owner: his account can't be taken over, his membership not be changed.
    let identity = world_with(&["owner"]).identity();
    let patch = PatchUser { password: Some("a river under old stones".to_owned()), ..PatchUser::default() };
    let taken =
        identity.update_user(&one::<UserUpdate>(&context, user_id(1)), &context, patch, &nothing).await;
    assert_eq!(reason(&taken.unwrap_err()), "exceedsOwnRights");
    let removed =
        identity.remove_member(&one::<MemberDelete>(&context, user_id(1)), &context, None, &journal).await;
    assert_eq!(reason(&removed.unwrap_err()), "exceedsOwnRights");
    let set = identity
        .set_member(&one::<MemberUpdate>(&context, user_id(1)), &context, set(&["viewer"]), &nothing)
        .await;
    assert_eq!(reason(&set.unwrap_err()), "exceedsOwnRights");
}

#[tokio::test]
async fn an_administrator_sets_the_roles_of_his_equals() {
    let mut world = world_with(&["viewer"]);
    world
        .directory
        .expect_set_member()
        .withf(|membership, expected, _| {
            membership.roles == [system_role("administrator").id, system_role("designer").id]
                && membership.expires_at == Some(START.plus_seconds(60))
                && membership.revision == Revision(6)
                && *expected == Some(Revision(5))
        })
        .times(1)
        .returning(|_, _, _| Ok(Change::Done));
    let context = context("administrator");
    let wanted = SetMember {
        // By name or id, in any order, once or twice.
        roles: vec![
            "designer".to_owned(),
            system_role("administrator").id.to_string(),
            "designer".to_owned(),
        ],
        role_expiries: Vec::new(),
        groups: None,
        expires_at: Patch::Value(START.plus_seconds(60)),
        revision: Some(Revision(5)),
    };
    let identity = world.identity();
    let set = identity
        .set_member(&one::<MemberUpdate>(&context, user_id(1)), &context, wanted, &nothing)
        .await
        .unwrap();
    assert_eq!(set.roles.len(), 2);
}

#[tokio::test]
async fn unknown_roles_passed_ends_and_stale_revisions_are_refused() {
    let context = context("administrator");
    let identity = world_with(&["viewer"]).identity();
    let viewer = || vec!["viewer".to_owned()];
    for (wanted, expected) in [
        (SetMember { roles: vec!["pilot".to_owned()], ..SetMember::default() }, "notFound"),
        (
            SetMember { roles: viewer(), expires_at: Patch::Value(START), ..SetMember::default() },
            "outOfRange",
        ),
        (
            SetMember { roles: viewer(), revision: Some(Revision(4)), ..SetMember::default() },
            "revisionMismatch",
        ),
    ] {
        let set =
            identity.set_member(&one::<MemberUpdate>(&context, user_id(1)), &context, wanted, &nothing).await;
        assert_eq!(reason(&set.unwrap_err()), expected);
    }
}

#[tokio::test]
async fn a_name_that_is_taken_is_told_at_its_member() {
    let duplicate = |columns: &str| Err(StoreError::Duplicate(columns.to_owned()));
    let mut world = world_with(&["owner"]);
    world.directory.expect_insert_role().returning(move |role, _| match role.name.as_str() {
        "team" => duplicate("groups.name"),
        _ => duplicate("roles.name"),
    });
    world.directory.expect_insert_group().returning(move |_, _| duplicate("groups.name"));
    world
        .directory
        .expect_insert_organization()
        .returning(|_, _, _| Err(StoreError::Duplicate("organizations.slug".to_owned())));
    world
        .sessions
        .expect_insert_token()
        .returning(move |_, _| duplicate("api_tokens.user_id, api_tokens.name"));
    let identity = world.identity();
    let context = context("owner");
    let told = |error: UseCaseError| {
        let UseCaseError::Conflict(problems) = error else { panic!("{error:?}") };
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        assert_eq!(problem.reason, "notUnique");
        (problem.field.clone().unwrap_or_default(), problem.message.clone())
    };
    for (name, sentence) in [
        ("viewer", "A system role has the name `viewer`."),
        ("clerk", "There is a role with the name `clerk` already."),
        ("team", "There is a group with the name `team` already."),
    ] {
        let new = NewRole { name: name.to_owned(), ..NewRole::default() };
        let made = identity.create_role(&kind::<RoleCreate>(&context), &context, new, &nothing).await;
        assert_eq!(told(made.unwrap_err()), ("name".to_owned(), sentence.to_owned()));
    }
    for (name, sentence) in [
        ("viewer", "A system role has the name `viewer`."),
        ("team", "There is a group with the name `team` already."),
    ] {
        let new = NewGroup { name: name.to_owned(), ..NewGroup::default() };
        let made = identity.create_group(&kind::<GroupCreate>(&context), &context, new, &nothing).await;
        assert_eq!(told(made.unwrap_err()), ("name".to_owned(), sentence.to_owned()));
    }
    let new = CreateOrganization { slug: "acme".to_owned(), display_name: "Acme".to_owned() };
    let made =
        identity.create_organization(&kind::<OrganizationCreate>(&context), &context, new, &nothing).await;
    let sentence = "Another organisation has the slug `acme`.";
    assert_eq!(told(made.unwrap_err()), ("slug".to_owned(), sentence.to_owned()));
    let new = NewApiToken {
        user: None,
        name: "ci".to_owned(),
        expires_at: None,
        organization: None,
        permissions: None,
    };
    let made = identity.create_token(&context, new, &nothing).await;
    let sentence = "The account has an API token `ci` already.";
    assert_eq!(told(made.unwrap_err()), ("name".to_owned(), sentence.to_owned()));
}

#[tokio::test]
async fn a_refusal_of_an_account_says_what_is_taken_and_which_roles_there_are() {
    let mut world = world_with(&["owner"]);
    world
        .directory
        .expect_insert_user()
        .returning(|_, _, _| Err(StoreError::Duplicate("users.email".to_owned())));
    let identity = world.identity();
    let context = context("owner");
    for (role, reason, field, words) in [
        ("viewer", "notUnique", "email", ["`new@example.com`", "already"]),
        ("king", "notFound", "roles[0]", ["`king`", "`designer`"]),
    ] {
        let account = NewAccount {
            kind: None,
            email: "New@example.com".to_owned(),
            display_name: "New".to_owned(),
            password: None,
            roles: vec![role.to_owned()],
        };
        let made = identity.create_user(&kind::<UserCreate>(&context), &context, account, &nothing).await;
        let (UseCaseError::Conflict(problems) | UseCaseError::Invalid(problems)) = made.unwrap_err() else {
            panic!("{role}")
        };
        let problem = &problems[0];
        assert_eq!((problem.reason, problem.field.as_deref()), (reason, Some(field)));
        assert!(words.iter().all(|word| problem.message.contains(word)), "{}", problem.message);
    }
}

#[tokio::test]
async fn an_account_is_changed_by_its_home_alone_and_nobody_switches_himself_off() {
    let context = context("owner");
    let mut world = World::new();
    let foreign = User { home: TenantId(Uuid::from_u128(9)), ..user(1) };
    world.directory.expect_user().withf(|_, id| *id == user_id(1)).returning(move |_, _| Ok(foreign.clone()));
    world.directory.expect_user().withf(|_, id| *id == user_id(0)).returning(|_, _| Ok(user(0)));
    world.access.expect_tenants_of().returning(|_| Ok(vec![tenant()]));
    let identity = world.identity();
    let change = async |id: UserId, patch: PatchUser| {
        let changed = identity.update_user(&one::<UserUpdate>(&context, id), &context, patch, &nothing).await;
        reason(&changed.unwrap_err())
    };
    let renamed = PatchUser { display_name: Some("X".to_owned()), ..PatchUser::default() };
    assert_eq!(change(user_id(1), renamed).await, "foreignAccount");
    let off = PatchUser { state: Some(UserState::Disabled), ..PatchUser::default() };
    assert_eq!(change(user_id(0), off).await, "ownAccount");
    let password =
        PatchUser { password: Some("a river under old stones".to_owned()), ..PatchUser::default() };
    assert_eq!(change(user_id(0), password).await, "ownPassword");
    let wrong = PatchUser { email: Some("nowhere".to_owned()), ..PatchUser::default() };
    assert_eq!(change(user_id(0), wrong).await, "wrongFormat");
    let stale = PatchUser { revision: Some(Revision(1)), ..PatchUser::default() };
    assert_eq!(change(user_id(0), stale).await, "revisionMismatch");
}

#[tokio::test]
async fn the_licence_limits_accounts_and_organisations() {
    let mut claims = testing::claims(START);
    claims.limits = [("users".to_owned(), 3), ("organizations".to_owned(), 1)].into();
    let mut world = World::new();
    let licence = Some(testing::issue(&claims));
    let state = super::licence::sealed(InstallationState { licence, ..super::licence::row() });
    world.installation.expect_load().returning(move || Ok(Some(state.clone())));
    world.directory.expect_all_roles().returning(|_| Ok(all_system_roles()));
    world.directory.expect_role_grants().returning(|_, _| Ok(Vec::new()));
    world
        .directory
        .expect_insert_user()
        .withf(|new, limit, _| *limit == Some(3) && new.user.password_hash.is_none())
        .returning(|_, _, _| Ok(LimitOutcome::LimitReached { used: 3 }));
    world
        .directory
        .expect_insert_organization()
        .withf(|new, limit, _| *limit == Some(1) && new.roles.len() == 9 && new.owner.user_id == user_id(0))
        .returning(|_, _, _| Ok(LimitOutcome::LimitReached { used: 1 }));
    let identity = world.identity();
    identity.start(crate::FirstLicence::None).await.unwrap();
    let context = context("owner");
    let account = NewAccount {
        kind: None,
        email: "new@example.com".to_owned(),
        display_name: "New".to_owned(),
        password: None,
        roles: vec!["viewer".to_owned()],
    };
    let refused = identity.create_user(&kind::<UserCreate>(&context), &context, account, &nothing).await;
    assert!(matches!(refused, Err(UseCaseError::LimitReached { limit: "users", licensed: 3, used: 3 })));
    let new = CreateOrganization { slug: "second".to_owned(), display_name: "Second".to_owned() };
    let refused =
        identity.create_organization(&kind::<OrganizationCreate>(&context), &context, new, &nothing).await;
    assert!(matches!(
        refused,
        Err(UseCaseError::LimitReached { limit: "organizations", licensed: 1, used: 1 })
    ));
}

#[tokio::test]
async fn system_roles_stay_as_they_are() {
    let mut world = World::new();
    world.directory.expect_role().returning(|_, _| Ok(system_role("viewer")));
    let identity = world.identity();
    let context = context("owner");
    let id = system_role("viewer").id;
    let changed = identity
        .update_role(&one::<RoleUpdate>(&context, id), &context, PatchRole::default(), &nothing)
        .await;
    assert_eq!(reason(&changed.unwrap_err()), "systemRole");
    let deleted =
        identity.delete_role(&one::<RoleDelete>(&context, id), &context, None, &Journal::default()).await;
    assert_eq!(reason(&deleted.unwrap_err()), "systemRole");
}

#[tokio::test]
async fn a_repeated_deletion_is_fine_and_one_of_nothing_is_not() {
    for (was, fine) in [(true, true), (false, false)] {
        let mut world = World::new();
        world.directory.expect_role().returning(|_, _| Err(StoreError::NotFound));
        world.directory.expect_member().returning(|_, _| Err(StoreError::NotFound));
        world.directory.expect_user().returning(|_, _| Err(StoreError::NotFound));
        world
            .directory
            .expect_was_deleted()
            .withf(|_, what| matches!(what, Tombstone::Role(_) | Tombstone::Member(_) | Tombstone::User(_)))
            .times(3)
            .returning(move |_, _| Ok(was));
        let identity = world.identity();
        let context = context("owner");
        let journal = Journal::default();
        let id = system_role("viewer").id;
        let role = identity.delete_role(&one::<RoleDelete>(&context, id), &context, None, &journal).await;
        let member = identity
            .remove_member(&one::<MemberDelete>(&context, user_id(1)), &context, None, &journal)
            .await;
        let user =
            identity.delete_user(&one::<UserDelete>(&context, user_id(1)), &context, None, &journal).await;
        for result in [role, member, user] {
            assert!(if fine { result.is_ok() } else { matches!(result, Err(UseCaseError::NotFound)) });
        }
    }
}

#[tokio::test]
async fn an_organisation_that_is_a_home_stays_and_another_one_is_not_there() {
    let mut world = World::new();
    let organization = own_organizations().remove(0).organization;
    world.directory.expect_organization().returning(move |_, _| Ok(organization.clone()));
    world
        .directory
        .expect_delete_organization()
        .returning(|_, _, _| Ok(Change::InUse(vec![Dependents { kind: "user", count: 4 }])));
    world.directory.expect_was_deleted().returning(|_, _| Ok(false));
    let identity = world.identity();
    let context = context("owner");
    let delete = async |id: TenantId| {
        identity
            .delete_organization(
                &one::<OrganizationDelete>(&context, id),
                &context,
                None,
                &Journal::default(),
            )
            .await
    };
    assert_eq!(reason(&delete(tenant()).await.unwrap_err()), "inUse");
    assert!(matches!(delete(TenantId(Uuid::from_u128(9))).await, Err(UseCaseError::NotFound)));
}

/// A grant of the role `helpers`, which has no rules of its own.
fn to_helpers(effect: Effect) -> GrantRow {
    GrantRow {
        tenant: tenant(),
        id: GrantId(Uuid::from_u128(602)),
        principal: GrantPrincipal::Role(helpers().id),
        resource: "licence".to_owned(),
        action: "install".to_owned(),
        selector: "*".to_owned(),
        effect,
        reason: None,
        expires_at: None,
        created_at: START,
        created_by: user_id(1),
    }
}

fn helpers() -> Role {
    role(70, "helpers", RoleRules::default())
}

/// A caller who may do all but install licences, by a deny of their own.
fn without_licences() -> RequestContext {
    let deny = GrantFacts {
        id: "g".to_owned(),
        source: Source::User,
        resource: "licence".to_owned(),
        action: "install".to_owned(),
        selector: "*".to_owned(),
        effect: Effect::Deny,
        expires_at: None,
    };
    context_of(&Facts::member(user_id(0), tenant()).with_system_role("owner").with_grant(deny), START)
}

/// A world in which a user has these roles and `helpers` this grant.
fn world_of_helpers(number: u128, had: Vec<Role>, effect: Effect) -> World {
    let mut world = World::new();
    let mut all = all_system_roles();
    all.push(helpers());
    let access = TenantAccess { roles: had.clone(), ..standing(number, &[]) };
    world.access.expect_standing().returning(move |_, _| Ok(Some((user(number), access.clone()))));
    world.access.expect_tenants_of().returning(|_| Ok(vec![tenant()]));
    world.directory.expect_all_roles().returning(move |_| Ok(all.clone()));
    world.directory.expect_role_grants().returning(move |_, roles| {
        Ok(if roles.contains(&helpers().id) { vec![to_helpers(effect)] } else { Vec::new() })
    });
    let roles = had.iter().map(|role| role.id).collect();
    let mut kept = member(number, &[]);
    kept.membership.roles = roles;
    world.directory.expect_member().returning(move |_, _| Ok(kept.clone()));
    world.directory.expect_set_member().returning(|_, _, _| Ok(Change::Done));
    world.directory.expect_remove_member().returning(|_, _, _, _| Ok(Change::Done));
    world.directory.expect_insert_user().returning(|_, _, _| Ok(LimitOutcome::Done));
    world
}

async fn set_roles(
    world: World,
    context: &RequestContext,
    user: UserId,
    roles: &[&str],
) -> Option<&'static str> {
    let roles = roles.iter().map(|name| (*name).to_owned()).collect();
    let wanted = SetMember { roles, ..SetMember::default() };
    let set =
        world.identity().set_member(&one::<MemberUpdate>(context, user), context, wanted, &nothing).await;
    set.err().map(|error| reason(&error))
}

#[tokio::test]
async fn what_is_granted_to_a_role_is_given_with_it() {
    for (context, effect, expected) in [
        (without_licences(), Effect::Allow, Some("exceedsOwnRights")),
        (without_licences(), Effect::Deny, None),
        (context("owner"), Effect::Allow, None),
    ] {
        for number in [0, 1] {
            let world = world_of_helpers(number, Vec::new(), effect);
            let set = set_roles(world, &context, user_id(number), &["helpers"]).await;
            assert_eq!(set, expected, "{number} {effect:?}");
        }
        let account = NewAccount {
            kind: None,
            email: "new@example.com".to_owned(),
            display_name: "New".to_owned(),
            password: None,
            roles: vec!["helpers".to_owned()],
        };
        let identity = world_of_helpers(1, Vec::new(), effect).identity();
        let made = identity.create_user(&kind::<UserCreate>(&context), &context, account, &nothing).await;
        assert_eq!(made.err().map(|error| reason(&error)), expected, "{effect:?}");
    }
}

#[tokio::test]
async fn what_is_denied_to_a_role_is_lifted_with_it() {
    for (context, effect, expected) in
        [(without_licences(), Effect::Deny, Some("exceedsOwnRights")), (context("owner"), Effect::Deny, None)]
    {
        for number in [0, 1] {
            let world = world_of_helpers(number, vec![helpers()], effect);
            let set = set_roles(world, &context, user_id(number), &[]).await;
            assert_eq!(set, expected, "{number}");
            let journal = Journal::default();
            let removed = world_of_helpers(number, vec![helpers()], effect)
                .identity()
                .remove_member(&one::<MemberDelete>(&context, user_id(number)), &context, None, &journal)
                .await;
            assert_eq!(removed.err().map(|error| reason(&error)), expected, "{number}");
        }
    }
}

#[tokio::test]
async fn nobody_lengthens_his_own_membership() {
    let ends = START.plus_seconds(60);
    for (wanted, expected) in [
        (Patch::Null, Some("ownMembership")),
        (Patch::Value(START.plus_seconds(61)), Some("ownMembership")),
        (Patch::Value(START.plus_seconds(59)), None),
        (Patch::Absent, None),
    ] {
        for number in [0, 1] {
            let mut world = World::new();
            let mut kept = member(number, &["viewer"]);
            kept.membership.expires_at = Some(ends);
            world
                .access
                .expect_standing()
                .returning(move |_, _| Ok(Some((user(1), standing(1, &["viewer"])))));
            world.directory.expect_role_grants().returning(|_, _| Ok(Vec::new()));
            world.directory.expect_all_roles().returning(|_| Ok(all_system_roles()));
            world.directory.expect_member().returning(move |_, _| Ok(kept.clone()));
            world.directory.expect_set_member().returning(|_, _, _| Ok(Change::Done));
            let context = context("administrator");
            let wanted = SetMember {
                roles: vec!["viewer".to_owned()],
                expires_at: wanted.clone(),
                ..SetMember::default()
            };
            let authorized = one::<MemberUpdate>(&context, user_id(number));
            let set = world.identity().set_member(&authorized, &context, wanted, &nothing).await;
            let expected = expected.filter(|_| number == 0);
            assert_eq!(set.err().map(|error| reason(&error)), expected, "{number}");
        }
    }
}

#[tokio::test]
async fn who_resets_an_account_outranks_it_wherever_it_is_somebody() {
    let elsewhere = TenantId(Uuid::from_u128(9));
    let patches = || {
        let reset =
            PatchUser { password: Some("a river under old stones".to_owned()), ..PatchUser::default() };
        let address = PatchUser { email: Some("x@example.com".to_owned()), ..PatchUser::default() };
        let off = PatchUser { state: Some(UserState::Disabled), ..PatchUser::default() };
        [reset, address, off]
    };
    let named = PatchUser { display_name: Some("Another".to_owned()), ..PatchUser::default() };
    // What the caller and the account are in the other organisation.
    for (own, theirs, fine) in [
        (None, &["owner"][..], false),
        (Some("administrator"), &["owner"][..], false),
        (Some("owner"), &["owner"][..], true),
        (Some("administrator"), &["viewer"][..], true),
        (None, &[][..], true),
    ] {
        let world = || {
            let mut world = World::new();
            world.access.expect_tenants_of().returning(move |_| Ok(vec![tenant(), elsewhere]));
            world.access.expect_standing().returning(move |organization, id| {
                let found = match (organization == elsewhere, id == user_id(0)) {
                    (true, true) => return Ok(own.map(|role| (user(0), standing(0, &[role])))),
                    (true, false) => standing(1, theirs),
                    (false, _) => standing(1, &["viewer"]),
                };
                Ok(Some((user(1), found)))
            });
            world.directory.expect_user().returning(|_, _| Ok(user(1)));
            world.directory.expect_update_user().returning(|_, _, _| Ok(Change::Done));
            world.directory.expect_delete_user().returning(|_, _, _, _| Ok(Change::Done));
            world
        };
        let expected = if fine { None } else { Some("outrankedElsewhere") };
        let context = context("administrator");
        for patch in patches() {
            let authorized = one::<UserUpdate>(&context, user_id(1));
            let changed = world().identity().update_user(&authorized, &context, patch, &nothing).await;
            assert_eq!(changed.err().map(|error| reason(&error)), expected, "{own:?} {theirs:?}");
        }
        let authorized = one::<UserDelete>(&context, user_id(1));
        let deleted = world().identity().delete_user(&authorized, &context, None, &Journal::default()).await;
        assert_eq!(deleted.err().map(|error| reason(&error)), expected, "{own:?} {theirs:?}");
        let authorized = one::<UserUpdate>(&context, user_id(1));
        world().identity().update_user(&authorized, &context, named.clone(), &nothing).await.unwrap();
    }
}

#[tokio::test]
async fn a_narrowed_token_is_not_its_owner() {
    let mut facts = Facts::member(user_id(0), tenant()).with_system_role("owner");
    facts.narrow_to = Some(vec!["members.manage".to_owned()]);
    let context = context_of(&facts, START);
    let mut world = World::new();
    world.directory.expect_user().returning(|_, _| Ok(user(0)));
    world.directory.expect_all_roles().returning(|_| Ok(all_system_roles()));
    world.directory.expect_member().returning(|_, _| Ok(member(0, &["owner"])));
    let identity = world.identity();
    let patch = PatchUser { email: Some("x@example.com".to_owned()), ..PatchUser::default() };
    let changed =
        identity.update_user(&one::<UserUpdate>(&context, user_id(0)), &context, patch, &nothing).await;
    assert_eq!(reason(&changed.unwrap_err()), "limitedToken");
    let viewer = SetMember { roles: vec!["viewer".to_owned()], ..SetMember::default() };
    let set =
        identity.set_member(&one::<MemberUpdate>(&context, user_id(0)), &context, viewer, &nothing).await;
    assert_eq!(reason(&set.unwrap_err()), "limitedToken");
    assert!(identity.sessions(&context).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_account_with_a_name_of_before_is_switched_off() {
    let mut world = World::new();
    world.access.expect_standing().returning(|_, _| Ok(Some((user(1), standing(1, &["viewer"])))));
    world.access.expect_tenants_of().returning(|_| Ok(vec![tenant()]));
    world
        .directory
        .expect_user()
        .returning(|_, _| Ok(User { display_name: "adm\u{200B}in\u{202E}".to_owned(), ..user(1) }));
    world.directory.expect_update_user().returning(|_, _, _| Ok(Change::Done));
    let identity = world.identity();
    let context = context("owner");
    let off = PatchUser { state: Some(UserState::Disabled), ..PatchUser::default() };
    identity.update_user(&one::<UserUpdate>(&context, user_id(1)), &context, off, &nothing).await.unwrap();
    let named = PatchUser { display_name: Some("adm\u{200B}in".to_owned()), ..PatchUser::default() };
    let changed =
        identity.update_user(&one::<UserUpdate>(&context, user_id(1)), &context, named, &nothing).await;
    assert_eq!(reason(&changed.unwrap_err()), "wrongFormat");
}
