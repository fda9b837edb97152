//! Sign-in by a provider, over mocked storage.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use heddle_kernel::{RoleId, TenantId};
use heddle_usecase::{Journal, StoreError};
use uuid::Uuid;

use super::{
    START, World, all_system_roles, membership, own_organizations, request_at, standing, system_role, tenant,
    user, user_id,
};
use crate::ports::{MockFederationStore, ProviderAccount, ProviderOutcome, ProviderSession};
use crate::records::{ExternalIdentity, MappedRole, Member, User, UserState};
use crate::{
    Federation, FederationError, PlaceRules, ProvenPerson, ProviderRules, ProviderSignedIn, UseCaseError,
    Visit,
};

const PROVIDER: &str = "corporate";

/// What the store was given.
type Written = Arc<Mutex<Vec<(ProviderSession, Vec<Journal>)>>>;

fn rules() -> ProviderRules {
    let place = PlaceRules {
        slug: "acme".to_owned(),
        default_roles: Vec::new(),
        roles: BTreeMap::from([
            ("ops".to_owned(), vec!["operator".to_owned()]),
            ("all".to_owned(), vec!["viewer".to_owned(), "no-such-role".to_owned()]),
            ("boss".to_owned(), vec!["owner".to_owned()]),
        ]),
    };
    ProviderRules {
        name: PROVIDER.to_owned(),
        places: vec![place],
        create_users: true,
        link_accounts: true,
        email_domains: vec!["example.com".to_owned()],
        ..ProviderRules::default()
    }
}

fn person(groups: &[&str]) -> ProvenPerson {
    ProvenPerson {
        identity: ExternalIdentity {
            provider: PROVIDER.to_owned(),
            issuer: "https://login.example.com".to_owned(),
            subject: "s-1".to_owned(),
        },
        verified_email: Some("User1@Example.com".to_owned()),
        name: Some("Ada".to_owned()),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        methods: vec!["pwd".to_owned()],
    }
}

/// A world with the organisation and its roles, in which the person's id belongs to `linked`.
fn world(linked: Option<User>) -> (World, MockFederationStore, Written) {
    let (mut world, mut store) = (World::new(), MockFederationStore::new());
    let written = Written::default();
    let id = linked.as_ref().map(|user| user.id);
    store.expect_linked_user().returning(move |_| Ok(id));
    store
        .expect_organization_named()
        .returning(|slug| Ok((slug == "acme").then(|| own_organizations().remove(0).organization)));
    world.directory.expect_all_roles().returning(|_| Ok(all_system_roles()));
    world.sessions.expect_organizations_of().returning(|_, _| Ok(own_organizations()));
    if let Some(user) = linked {
        world.sessions.expect_user().returning(move |_| Ok(Some(user.clone())));
    }
    let given = Arc::clone(&written);
    store.expect_open_by_provider().returning(move |new, journals| {
        given.lock().unwrap().push((new.clone(), journals.to_vec()));
        Ok(ProviderOutcome::Done)
    });
    (world, store, written)
}

fn member_of(number: u128, roles: &[&str]) -> Member {
    Member {
        membership: membership(number, roles),
        email: String::new(),
        display_name: String::new(),
        state: UserState::Active,
        roles: Vec::new(),
        groups: Vec::new(),
    }
}

async fn sign_in(
    world: World,
    store: MockFederationStore,
    rules: ProviderRules,
    person: &ProvenPerson,
) -> Result<ProviderSignedIn, FederationError> {
    let federation = Federation::new(Arc::new(world.identity()), Arc::new(store), vec![rules]);
    federation.sign_in(person, &Visit::default(), &request_at(START)).await
}

#[track_caller]
fn word(result: Result<ProviderSignedIn, FederationError>) -> &'static str {
    match result {
        Err(FederationError::Refused { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

fn actions(journals: &[Journal]) -> Vec<&str> {
    journals.iter().filter_map(|journal| journal.audit.as_ref()).map(|entry| entry.action.as_str()).collect()
}

fn role_id(name: &str) -> RoleId {
    system_role(name).id
}

#[tokio::test]
async fn somebody_new_gets_an_account_with_the_roles_of_their_groups() {
    let (mut world, store, written) = world(None);
    world.sessions.expect_user_by_email().returning(|email| {
        assert_eq!(email, "user1@example.com");
        Ok(None)
    });
    let signed_in = sign_in(world, store, rules(), &person(&["ops", "all", "unknown"])).await.unwrap();
    assert_eq!(signed_in.session.provider.as_deref(), Some(PROVIDER));
    let all = written.lock().unwrap();
    let (new, journals) = &all[0];
    let ProviderAccount::Made { user, .. } = &new.account else { panic!("{:?}", new.account) };
    assert_eq!((user.email.as_str(), user.display_name.as_str()), ("user1@example.com", "Ada"));
    assert_eq!((user.home, user.password_hash.is_none()), (tenant(), true));
    let [one] = new.memberships.as_slice() else { panic!("{:?}", new.memberships) };
    let mut wanted = vec![role_id("operator"), role_id("viewer")];
    wanted.sort_unstable();
    assert_eq!((&one.membership.roles, &one.mapped, one.expected), (&wanted, &wanted, None));
    let told = ["user.created", "user.identity_linked", "member.set", "session.created"];
    assert_eq!(actions(journals), told);
}

#[tokio::test]
async fn nobody_is_made_without_a_role_a_verified_address_or_leave() {
    let refused = async |rules: ProviderRules, person: ProvenPerson| {
        let (mut world, store, written) = world(None);
        world.sessions.expect_user_by_email().returning(|_| Ok(None));
        let reason = word(sign_in(world, store, rules, &person).await);
        assert!(written.lock().unwrap().is_empty());
        reason
    };
    assert_eq!(refused(rules(), person(&["unknown"])).await, "noRole");
    // A group may not give the owner role by itself.
    assert_eq!(refused(rules(), person(&["boss"])).await, "noRole");
    let unverified = ProvenPerson { verified_email: None, ..person(&["ops"]) };
    assert_eq!(refused(rules(), unverified).await, "emailNotVerified");
    let foreign = ProvenPerson { verified_email: Some("ada@evil.test".to_owned()), ..person(&["ops"]) };
    assert_eq!(refused(rules(), foreign).await, "emailDomain");
    let closed = ProviderRules { create_users: false, ..rules() };
    assert_eq!(refused(closed, person(&["ops"])).await, "unknownPerson");
    let strict = ProviderRules { required_methods: vec!["mfa".to_owned()], ..rules() };
    assert_eq!(refused(strict, person(&["ops"])).await, "secondFactorRequired");
}

/// An account that is there, with these roles in the organisation.
async fn link(rules: ProviderRules, roles: &'static [&'static str], home: TenantId) -> &'static str {
    link_with(rules, roles, home, Vec::new(), UserState::Active).await
}

async fn link_with(
    rules: ProviderRules,
    roles: &'static [&'static str],
    home: TenantId,
    identities: Vec<ExternalIdentity>,
    state: UserState,
) -> &'static str {
    let (mut world, mut store, written) = world(None);
    let account = User { home, state, ..user(1) };
    world.sessions.expect_user_by_email().returning(move |_| Ok(Some(account.clone())));
    store.expect_identities_of().returning(move |_| Ok(identities.clone()));
    store.expect_mapped_roles().returning(|_| Ok(Vec::new()));
    world.access.expect_tenants_of().returning(|_| Ok(vec![tenant()]));
    world.access.expect_standing().returning(move |_, _| Ok(Some((user(1), standing(1, roles)))));
    world.directory.expect_member().returning(move |_, _| Ok(member_of(1, roles)));
    let result = sign_in(world, store, rules, &person(&["ops"])).await;
    if result.is_err() {
        return word(result);
    }
    let all = written.lock().unwrap();
    let (new, journals) = &all[0];
    let ProviderAccount::Linked { rights, .. } = &new.account else { panic!("{:?}", new.account) };
    assert!(rights.everywhere && rights.revision(tenant()) == Some(1));
    assert_eq!(actions(journals), ["user.identity_linked", "member.set", "session.created"]);
    "linked"
}

#[tokio::test]
async fn an_account_is_linked_by_its_address_only_where_nothing_is_won_by_it() {
    const OF_ADMINISTRATORS: [&[&str]; 2] = [&["owner"], &["administrator"]];
    let elsewhere = TenantId(Uuid::from_u128(7777));
    assert_eq!(link(rules(), &["viewer"], tenant()).await, "linked");
    for roles in OF_ADMINISTRATORS {
        assert_eq!(link(rules(), roles, tenant()).await, "accountOfAdministrator");
        let open = ProviderRules { link_administrators: true, ..rules() };
        assert_eq!(link(open, roles, tenant()).await, "linked");
    }
    assert_eq!(link(rules(), &["viewer"], elsewhere).await, "accountElsewhere");
    let closed = ProviderRules { link_accounts: false, ..rules() };
    assert_eq!(link(closed, &["viewer"], tenant()).await, "accountExists");
    // The address was somebody else's before.
    let other = ExternalIdentity { subject: "s-0".to_owned(), ..person(&[]).identity };
    let found = link_with(rules(), &["viewer"], tenant(), vec![other], UserState::Active).await;
    assert_eq!(found, "accountLinked");
    let found = link_with(rules(), &["viewer"], tenant(), Vec::new(), UserState::Disabled).await;
    assert_eq!(found, "accountDisabled");
}

#[tokio::test]
async fn an_address_alone_opens_no_account_with_a_second_factor() {
    let opened = async |rules: ProviderRules| {
        let (mut world, mut store, written) = world(None);
        let account = User { home: tenant(), totp_enrolled_at: Some(START), ..user(1) };
        world.sessions.expect_user_by_email().returning(move |_| Ok(Some(account.clone())));
        store.expect_identities_of().returning(|_| Ok(Vec::new()));
        store.expect_mapped_roles().returning(|_| Ok(Vec::new()));
        world.access.expect_tenants_of().returning(|_| Ok(vec![tenant()]));
        world.access.expect_standing().returning(|_, _| Ok(Some((user(1), standing(1, &["viewer"])))));
        world.directory.expect_member().returning(|_, _| Ok(member_of(1, &["viewer"])));
        let result = sign_in(world, store, rules, &person(&["ops"])).await;
        (result, written.lock().unwrap().len())
    };
    let (result, written) = opened(rules()).await;
    assert_eq!((word(result), written), ("secondFactorEnrolled", 0));
    let asked = ProviderRules { required_methods: vec!["pwd".to_owned()], ..rules() };
    let (result, written) = opened(asked).await;
    assert!(result.is_ok() && written == 1, "{result:?}");
}

#[tokio::test]
async fn an_account_that_is_switched_off_stays_out() {
    let (world, store, written) = world(Some(User { state: UserState::Disabled, ..user(1) }));
    assert_eq!(word(sign_in(world, store, rules(), &person(&["ops"])).await), "accountDisabled");
    assert!(written.lock().unwrap().is_empty());
}

fn mark(role: &str) -> MappedRole {
    MappedRole { tenant: tenant(), role: role_id(role), provider: PROVIDER.to_owned() }
}

#[tokio::test]
async fn groups_that_went_take_their_roles_and_what_was_given_by_hand_stays() {
    let (mut world, mut store, written) = world(Some(user(1)));
    store.expect_mapped_roles().returning(|id| {
        assert_eq!(id, user_id(1));
        Ok(vec![mark("operator")])
    });
    world.directory.expect_member().returning(|_, _| Ok(member_of(1, &["operator", "designer"])));
    let _ = sign_in(world, store, rules(), &person(&["all"])).await.unwrap();
    let all = written.lock().unwrap();
    let (new, journals) = &all[0];
    let [one] = new.memberships.as_slice() else { panic!("{:?}", new.memberships) };
    let mut wanted = vec![role_id("designer"), role_id("viewer")];
    wanted.sort_unstable();
    assert_eq!((&one.membership.roles, &one.mapped), (&wanted, &vec![role_id("viewer")]));
    assert_eq!(one.expected.map(heddle_kernel::Revision::next), Some(one.membership.revision));
    let set = journals[0].audit.as_ref().unwrap();
    assert_eq!(
        (&set.details["added"][0], &set.details["removed"][0]),
        (&"viewer".into(), &"operator".into())
    );
}

#[tokio::test]
async fn a_role_that_has_ended_is_given_anew_by_its_group() {
    let (mut world, mut store, written) = world(Some(user(1)));
    store.expect_mapped_roles().returning(|_| Ok(Vec::new()));
    world.directory.expect_member().returning(|_, _| {
        let mut member = member_of(1, &["operator", "designer"]);
        let ends = [("operator", -1), ("designer", -1)];
        member.membership.role_ends =
            ends.map(|(name, seconds)| (role_id(name), START.plus_seconds(seconds))).into();
        Ok(member)
    });
    let _ = sign_in(world, store, rules(), &person(&["ops"])).await.unwrap();
    let all = written.lock().unwrap();
    let (new, journals) = &all[0];
    let [one] = new.memberships.as_slice() else { panic!("{:?}", new.memberships) };
    let mut both = vec![role_id("operator"), role_id("designer")];
    both.sort_unstable();
    assert_eq!((&one.membership.roles, &one.mapped), (&both, &vec![role_id("operator")]));
    // What somebody gave by hand for a time stays ended.
    let ended: Vec<RoleId> = one.membership.role_ends.keys().copied().collect();
    assert_eq!(ended, [role_id("designer")]);
    let told = &journals[0].audit.as_ref().unwrap().details["change"]["members"];
    assert_eq!(*told, serde_json::json!(["roleEnds", "revision"]));
}

#[tokio::test]
async fn a_sign_in_that_changes_nothing_writes_no_membership() {
    let (mut world, mut store, written) = world(Some(user(1)));
    store.expect_mapped_roles().returning(|_| Ok(vec![mark("operator")]));
    world.directory.expect_member().returning(|_, _| Ok(member_of(1, &["operator", "designer"])));
    let _ = sign_in(world, store, rules(), &person(&["ops"])).await.unwrap();
    let all = written.lock().unwrap();
    assert!(all[0].0.memberships.is_empty(), "{:?}", all[0].0);
    assert_eq!(actions(&all[0].1), ["session.created"]);
}

#[tokio::test]
async fn the_last_owner_keeps_the_role_and_gets_in() {
    let (mut world, _, _) = world(Some(user(1)));
    let mut store = MockFederationStore::new();
    store.expect_linked_user().returning(|_| Ok(Some(user_id(1))));
    store.expect_organization_named().returning(|_| Ok(Some(own_organizations().remove(0).organization)));
    store.expect_mapped_roles().returning(|_| Ok(vec![mark("owner")]));
    store.expect_open_by_provider().returning(|new, _| match new.memberships.as_slice() {
        [] => Ok(ProviderOutcome::Done),
        [one] if one.membership.roles.contains(&role_id("owner")) => Ok(ProviderOutcome::Done),
        _ => Err(StoreError::LockOut),
    });
    world.directory.expect_member().returning(|_, _| Ok(member_of(1, &["owner"])));
    assert!(sign_in(world, store, rules(), &person(&[])).await.is_ok());
}

#[tokio::test]
async fn a_sign_in_is_taken_once_and_in_its_own_browser() {
    let mut store = MockFederationStore::new();
    let mut seen = Vec::new();
    store.expect_take().returning(move |state, _| {
        let is_new = !seen.contains(&state.to_owned());
        seen.push(state.to_owned());
        Ok(is_new)
    });
    let federation = Federation::new(Arc::new(World::new().identity()), Arc::new(store), vec![rules()]);
    let begun = federation.begin(PROVIDER, "/docs", START).unwrap();
    let resume = async |state: &str, cookie: Option<&str>| {
        federation.resume(PROVIDER, state, cookie, START).await.map(|resumed| resumed.return_to)
    };
    assert!(matches!(resume(&begun.state, None).await, Err(UseCaseError::Invalid(_))));
    assert!(matches!(resume("other", Some(&begun.cookie)).await, Err(UseCaseError::Invalid(_))));
    assert_eq!(resume(&begun.state, Some(&begun.cookie)).await.unwrap(), "/docs");
    assert!(matches!(resume(&begun.state, Some(&begun.cookie)).await, Err(UseCaseError::Invalid(_))));
    assert!(matches!(federation.begin("nobody", "/", START), Err(UseCaseError::NotFound)));
    assert!(matches!(federation.begin(PROVIDER, "//evil.test", START), Err(UseCaseError::Invalid(_))));
}
