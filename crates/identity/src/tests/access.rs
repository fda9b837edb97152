use std::collections::VecDeque;
use std::sync::Arc;

use heddle_kernel::TokenId;
use heddle_policy::{Permission, PermissionSet, Reason};
use heddle_usecase::StoreError;

use super::*;
use crate::api_tokens::NewApiToken;
use crate::ports::{Access, Credential, TenantAccess, TokenKind};
use crate::records::ApiToken;
use crate::token::{API_TOKEN_PREFIX, SESSION_PREFIX, Token};

fn api_token() -> ApiToken {
    ApiToken {
        id: TokenId(Uuid::from_u128(500)),
        user_id: user_id(1),
        tenant: Some(tenant()),
        name: "build".to_owned(),
        token_sha256: "00".repeat(32),
        hint: "abcd".to_owned(),
        permissions: None,
        checksum: true,
        created_at: START,
        last_used_at: Some(START),
        expires_at: Some(START.plus_seconds(3600)),
    }
}

fn access(credential: Credential) -> Access {
    Access { credential, user: user(1), tenant: tenant(), standing: Arc::new(standing(1, &["designer"])) }
}

/// An identity whose store knows one token.
fn knowing(access: Access, touches: usize) -> Identity {
    let mut world = World::new();
    world.access.expect_access().returning(move |_, _, _| Ok(Some(access.clone())));
    world.access.expect_touch().times(touches).returning(|_, _, _| Ok(()));
    world.identity()
}

async fn caller(identity: &Identity, now: Timestamp) -> Option<crate::Authenticated> {
    let token = Token::random(SESSION_PREFIX).unwrap();
    identity.authenticate(token.expose(), None, now).await.unwrap()
}

#[tokio::test]
async fn a_session_stands_for_its_user_with_his_roles() {
    let identity = knowing(access(Credential::Session(session(1))), 0);
    let caller = caller(&identity, START.plus_seconds(30)).await.unwrap();
    assert_eq!((caller.principal.user_id, caller.tenant()), (user_id(1), Some(tenant())));
    assert_eq!(caller.session_id(), Some(session(1).id));
    assert_eq!(caller.principal.groups[0], "designer");
    let context = caller.context(request_at(START));
    assert!(context.holds(Permission::WorkflowsManage) && !context.holds(Permission::RunsOperate));
}

#[tokio::test]
async fn sessions_end_idle_after_half_an_hour_and_in_any_case_after_twelve() {
    let at = |last_seen: i64, now: i64| {
        let session = Session { last_seen_at: START.plus_seconds(last_seen), ..session(1) };
        (session, START.plus_seconds(now))
    };
    for ((session, now), lives) in [
        (at(0, 59), true),
        (at(0, 1799), true),
        (at(0, 1800), false),
        (at(42_000, 43_199), true),
        (at(42_900, 43_200), false),
    ] {
        let mut world = World::new();
        let found = access(Credential::Session(session));
        world.access.expect_access().returning(move |_, _, _| Ok(Some(found.clone())));
        world.access.expect_touch().returning(|_, _, _| Ok(()));
        assert_eq!(caller(&world.identity(), now).await.is_some(), lives, "{now}");
    }
}

#[tokio::test]
async fn use_is_noted_once_a_minute_and_a_failure_of_that_is_no_refusal() {
    let identity = knowing(access(Credential::Session(session(1))), 1);
    assert!(caller(&identity, START.plus_seconds(59)).await.is_some());
    assert!(caller(&identity, START.plus_seconds(60)).await.is_some());
    let mut world = World::new();
    world.access.expect_access().returning(|_, _, _| Ok(Some(access(Credential::Session(session(1))))));
    world.access.expect_touch().returning(|_, _, _| Err(StoreError::Unavailable("full".to_owned())));
    assert!(caller(&world.identity(), START.plus_seconds(60)).await.is_some());
}

#[tokio::test]
async fn an_account_switched_off_is_nobody() {
    let mut found = access(Credential::Session(session(1)));
    found.user.state = UserState::Disabled;
    assert!(caller(&knowing(found, 0), START).await.is_none());
}

#[tokio::test]
async fn texts_that_are_no_tokens_do_not_reach_the_database_and_a_dead_one_lets_nobody_in() {
    let identity = World::new().identity();
    for text in ["", "hdl_", "Bearer", "hdl_0123456789"] {
        assert!(identity.authenticate(text, None, START).await.unwrap().is_none(), "{text}");
    }
    let mut world = World::new();
    world.access.expect_access().returning(|_, _, _| Err(StoreError::Unavailable("gone".to_owned())));
    let token = Token::random(SESSION_PREFIX).unwrap();
    let failed = world.identity().authenticate(token.expose(), None, START).await;
    assert!(matches!(failed, Err(UseCaseError::Unavailable(_))));
}

#[tokio::test]
async fn an_api_token_is_narrowed_bound_and_ends() {
    let narrowed = ApiToken { permissions: Some(vec!["workflows.view".to_owned()]), ..api_token() };
    let mut world = World::new();
    let found = access(Credential::ApiToken(narrowed.clone()));
    world
        .access
        .expect_access()
        .withf(|kind, _, _| *kind == TokenKind::ApiToken)
        .returning(move |_, _, _| Ok(Some(found.clone())));
    let identity = world.identity();
    let token = Token::random(API_TOKEN_PREFIX).unwrap();
    let caller = identity.authenticate(token.expose(), None, START).await.unwrap().unwrap();
    let context = caller.context(request_at(START));
    assert!(context.holds(Permission::WorkflowsView) && !context.holds(Permission::WorkflowsManage));
    let end = START.plus_seconds(3600);
    assert!(identity.authenticate(token.expose(), None, end).await.unwrap().is_none());
    // What only the owner in person may do.
    let new = NewApiToken {
        user: None,
        name: "more".to_owned(),
        expires_at: None,
        organization: None,
        permissions: None,
    };
    let created = |token: &crate::CreatedToken| nothing(token);
    let refused = identity.create_token(&context, new, &created).await.unwrap_err();
    assert_eq!(reason(&refused), "sessionRequired");
    let refused = identity.change_password(&context, PASSWORD, "x", &Journal::default()).await.unwrap_err();
    assert_eq!(reason(&refused), "sessionRequired");
    // Bound to one organisation it is nobody in another, although its user belongs there.
    let elsewhere = Access { tenant: TenantId(Uuid::from_u128(9)), ..access(Credential::ApiToken(narrowed)) };
    let caller = self::caller(&knowing(elsewhere, 0), START).await.unwrap();
    assert!(!caller.is_member() && caller.tenant().is_none());
}

#[tokio::test]
async fn the_code_s_table_counts_for_system_roles_and_the_row_for_others() {
    let everything = RoleRules { permissions: PermissionSet::of(&["*"]), ..RoleRules::default() };
    let mut found = access(Credential::Session(session(1)));
    let with = |role: Role| Arc::new(TenantAccess { roles: vec![role], ..standing(1, &[]) });
    found.standing = with(Role { rules: everything.clone(), ..system_role("worker") });
    let caller = self::caller(&knowing(found, 0), START).await.unwrap();
    assert!(!caller.snapshot.holds(Permission::MembersManage), "a row can't make a system role stronger");
    let mut found = access(Credential::Session(session(1)));
    found.standing = with(role(1, "owner", everything));
    let caller = self::caller(&knowing(found, 0), START).await.unwrap();
    let workflow = heddle_kernel::WorkflowId(Uuid::from_u128(7));
    let read = caller.snapshot.authorize_one::<heddle_policy::capability::WorkflowRead>(workflow, ());
    let denial = read.unwrap_err();
    assert_eq!(
        denial.reason,
        Reason::ResourceActionNotGranted,
        "an own role is not the system role of its name"
    );
}

/// Rights are compiled once for what was read, and never outlive it.
#[tokio::test]
async fn kept_rights_end_with_whatever_they_were_made_of() {
    let first = access(Credential::Session(session(1)));
    let with = |roles: &[&str]| Arc::new(standing(1, roles));
    let brief = |seconds: i64| {
        let mut own = standing(1, &["designer"]);
        own.membership = own
            .membership
            .map(|one| crate::records::Membership { expires_at: Some(START.plus_seconds(seconds)), ..one });
        Arc::new(own)
    };
    let ending = Access { standing: brief(20), ..first.clone() };
    let narrowed = ApiToken { permissions: Some(vec!["workflows.view".to_owned()]), ..api_token() };
    // What the store answers, seconds after the start, and whether the caller may change workflows then.
    let cases = [
        (first.clone(), 0, Some(true)),
        (first.clone(), 1, Some(true)),
        (Access { standing: with(&["viewer"]), ..first.clone() }, 2, Some(false)),
        (first.clone(), 3, Some(true)),
        (Access { user: User { state: UserState::Disabled, ..user(1) }, ..first.clone() }, 4, None),
        (
            Access { tenant: TenantId(Uuid::from_u128(9)), standing: with(&[]), ..first.clone() },
            5,
            Some(false),
        ),
        (Access { credential: Credential::ApiToken(narrowed), ..first.clone() }, 6, Some(false)),
        (ending.clone(), 19, Some(true)),
        (ending, 20, Some(false)),
        (first, 21, Some(true)),
    ];
    let mut answers: VecDeque<Access> = cases.iter().map(|(answer, ..)| answer.clone()).collect();
    let mut world = World::new();
    world.access.expect_access().returning(move |_, _, _| Ok(answers.pop_front()));
    world.access.expect_touch().returning(|_, _, _| Ok(()));
    let identity = world.identity();
    let token = Token::random(SESSION_PREFIX).unwrap();
    for (_, seconds, expected) in cases {
        let now = START.plus_seconds(seconds);
        let caller = identity.authenticate(token.expose(), None, now).await.unwrap();
        let may = caller.map(|caller| caller.snapshot.holds(Permission::WorkflowsManage));
        assert_eq!(may, expected, "after {seconds} s");
    }
}

#[tokio::test]
async fn a_session_in_use_is_noted_before_it_counts_as_unused() {
    let mut world = World::new();
    world.settings.idle_seconds = 60;
    world.access.expect_access().returning(|_, _, _| Ok(Some(access(Credential::Session(session(1))))));
    world.access.expect_touch().times(1).returning(|_, _, _| Ok(()));
    let identity = world.identity();
    assert!(caller(&identity, START.plus_seconds(14)).await.is_some());
    assert!(caller(&identity, START.plus_seconds(15)).await.is_some());
}

#[tokio::test]
async fn a_narrowed_or_bound_token_sees_itself_alone() {
    for (permissions, bound, sees) in
        [(Some(vec!["workflows.view".to_owned()]), None, 1), (None, Some(tenant()), 1), (None, None, 2)]
    {
        let own = ApiToken { permissions, tenant: bound, ..api_token() };
        let other = ApiToken { id: TokenId(Uuid::from_u128(501)), ..api_token() };
        let mut world = World::new();
        let found = access(Credential::ApiToken(own.clone()));
        world.access.expect_access().returning(move |_, _, _| Ok(Some(found.clone())));
        world.sessions.expect_tokens().returning(move |_, _| {
            Ok(heddle_kernel::Page { items: vec![other.clone(), own.clone()], next: None })
        });
        world.sessions.expect_sessions().returning(|_, _| Ok(vec![session(1)]));
        let identity = world.identity();
        let token = Token::random(API_TOKEN_PREFIX).unwrap();
        let caller = identity.authenticate(token.expose(), None, START).await.unwrap().unwrap();
        let context = caller.context(request_at(START));
        let tokens = identity.tokens(&context, None, &heddle_kernel::PageRequest::default()).await.unwrap();
        assert_eq!(tokens.items.len(), sees);
        assert_eq!(identity.sessions(&context).await.unwrap().len(), sees - 1);
    }
}

#[test]
fn calls_are_remembered_under_codes_that_only_the_key_makes() {
    let identity = World::new().identity();
    let code = |user: u128, body: &str| identity.call_code(user_id(user), &[b"/x", body.as_bytes()]).unwrap();
    assert_eq!(code(1, "a"), code(1, "a"));
    assert_ne!(code(1, "a"), code(1, "b"));
    assert_ne!(code(1, "a"), code(2, "a"), "a key is its caller's");
    assert_ne!(code(1, "a"), heddle_usecase::sha256_hex(b"/xa"));
}
