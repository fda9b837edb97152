//! Grants to roles, stored selectors, and changes that would leave nobody who could undo them.

use heddle_identity::ports::{
    AccessStore, Change, DirectoryStore, LimitOutcome, NewOrganization, SessionStore,
};
use heddle_identity::records::{GrantPrincipal, GrantRow, Membership, Role, User, UserState};
use heddle_kernel::{GrantId, Revision, RoleId, TenantId};
use heddle_policy::{Effect, RoleRules};
use heddle_store::StoreError;
use heddle_store_identity::IdentityStore;
use heddle_testkit::on_both;
use heddle_usecase::{Journal, RightsSeen};
use uuid::Uuid;

use crate::world::*;

const TAKING: RoleId = RoleId(Uuid::from_u128(12));

fn taking(names: &[&str]) -> Role {
    let denied_permissions = names.iter().map(|name| (*name).to_owned()).collect();
    let rules = RoleRules { denied_permissions, ..RoleRules::default() };
    Role { rules, ..role(ACME, TAKING, "taking", false) }
}

fn with_roles(user: heddle_kernel::UserId, roles: &[RoleId], revision: i64) -> Membership {
    Membership { revision: Revision(revision), ..membership(ACME, user, roles) }
}

fn deny(n: u128, principal: GrantPrincipal, resource: &str) -> GrantRow {
    GrantRow {
        action: "*".to_owned(),
        resource: resource.to_owned(),
        effect: Effect::Deny,
        expires_at: None,
        ..grant(n, principal)
    }
}

#[tokio::test]
async fn the_last_owner_who_can_undo_things_is_not_locked_out() {
    on_both!(|db| {
        let store = world(&db).await;
        store.insert_role(&taking(&["roles.manage"]), &Journal::default()).await.unwrap();
        let locked = with_roles(ADA, &[OWNER, TAKING], 2);
        let set = store.set_member(&locked, Some(Revision::FIRST), &journal(80)).await;
        assert_eq!(set, Err(StoreError::LockOut));
        assert!(!was_written(&store, 80).await, "what is refused leaves no trace");
        assert_eq!(store.member(ACME, ADA).await.unwrap().membership, membership(ACME, ADA, &[OWNER]));
        // Nor from anything else: who is held back takes the role off no more.
        let less = Role { revision: Revision(2), ..taking(&["workflows.manage"]) };
        store.update_role(&less, Revision::FIRST, &Journal::default()).await.unwrap();
        let set = store.set_member(&locked, Some(Revision::FIRST), &journal(80)).await;
        assert_eq!(set, Err(StoreError::LockOut));
        // By a role that the owner has already, and by denies to it, to the owner and to everyone.
        let harmless = Role { revision: Revision(3), ..taking(&[]) };
        store.update_role(&harmless, Revision(2), &Journal::default()).await.unwrap();
        assert_eq!(store.set_member(&locked, Some(Revision::FIRST), &journal(81)).await, Ok(Change::Done));
        let worse = Role { revision: Revision(4), ..taking(&["grants.manage"]) };
        assert_eq!(store.update_role(&worse, Revision(3), &journal(82)).await, Err(StoreError::LockOut));
        for principal in [GrantPrincipal::Role(TAKING), GrantPrincipal::User(ADA), GrantPrincipal::Everyone] {
            for resource in ["role", "grant", "member", "*"] {
                let made = store.insert_grant(&deny(90, principal, resource), &journal(83)).await;
                assert_eq!(made, Err(StoreError::LockOut), "{principal:?} {resource}");
            }
        }
        store.insert_grant(&deny(91, GrantPrincipal::Everyone, "workflow"), &journal(84)).await.unwrap();
        assert!(!was_written(&store, 82).await && !was_written(&store, 83).await);

        // With a second owner the first may be held back; then the second can't go, nor be held back.
        add_bob(&store, &[OWNER]).await;
        assert_eq!(store.update_role(&worse, Revision(3), &journal(85)).await, Ok(()));
        let removed = store.remove_member(ACME, BOB, Revision::FIRST, &journal(86)).await;
        assert_eq!(removed, Err(StoreError::LockOut));
        let bob = SessionStore::user(&store, BOB).await.unwrap().unwrap();
        let off = User { state: UserState::Disabled, revision: Revision(2), ..bob.clone() };
        assert_eq!(store.update_user(&off, bob.revision, &journal(86)).await, Err(StoreError::LockOut));
        assert_eq!(store.delete_user(ACME, BOB, bob.revision, &journal(86)).await, Err(StoreError::LockOut));
        let made = store.insert_grant(&deny(92, GrantPrincipal::User(BOB), "grant"), &journal(86)).await;
        assert_eq!(made, Err(StoreError::LockOut));
        assert!(!was_written(&store, 86).await);
        assert_eq!(SessionStore::user(&store, BOB).await.unwrap(), Some(bob));
    });
}

#[tokio::test]
async fn a_deny_leaves_an_owner_who_can_lift_it() {
    on_both!(|db| {
        let store = world(&db).await;
        store.insert_role(&taking(&[]), &Journal::default()).await.unwrap();
        let alone = store.insert_grant(&deny(90, GrantPrincipal::User(ADA), "workflow"), &journal(80)).await;
        assert_eq!(alone, Err(StoreError::LockOut));
        add_bob(&store, &[OWNER]).await;
        // Of two owners the other one lifts it: they are not held back as well, by whatever way, and stay.
        store
            .insert_grant(&deny(90, GrantPrincipal::User(ADA), "workflow"), &Journal::default())
            .await
            .unwrap();
        for principal in [GrantPrincipal::Role(OWNER), GrantPrincipal::User(BOB)] {
            let made = store.insert_grant(&deny(91, principal, "run"), &journal(80)).await;
            assert_eq!(made, Err(StoreError::LockOut), "{principal:?}");
        }
        store
            .insert_grant(&deny(92, GrantPrincipal::Role(TAKING), "run"), &Journal::default())
            .await
            .unwrap();
        let taking_it = with_roles(BOB, &[OWNER, TAKING], 2);
        let given = store.set_member(&taking_it, Some(Revision::FIRST), &journal(80)).await;
        assert_eq!(given, Err(StoreError::LockOut));
        let removed = store.remove_member(ACME, BOB, Revision::FIRST, &journal(80)).await;
        assert_eq!(removed, Err(StoreError::LockOut));
        assert!(!was_written(&store, 80).await, "what is refused leaves no trace");

        // What is denied to everyone owners lift themselves.
        store.insert_grant(&deny(93, GrantPrincipal::Everyone, "run"), &Journal::default()).await.unwrap();
        store.delete_grant(ACME, GrantId(Uuid::from_u128(90)), &Journal::default()).await.unwrap();
        let removed = store.remove_member(ACME, BOB, Revision::FIRST, &Journal::default()).await;
        assert_eq!(removed, Ok(Change::Done));
    });
}

#[tokio::test]
async fn grants_to_roles_and_organisations_of_users_are_found() {
    on_both!(|db| {
        let store = world(&db).await;
        add_bob(&store, &[WORKER]).await;
        for (n, principal) in [
            (1, GrantPrincipal::Role(WORKER)),
            (2, GrantPrincipal::Role(OWNER)),
            (3, GrantPrincipal::User(BOB)),
            (4, GrantPrincipal::Everyone),
        ] {
            store.insert_grant(&grant(n, principal), &Journal::default()).await.unwrap();
        }
        let found = store.role_grants(ACME, &[WORKER]).await.unwrap();
        assert_eq!(found, [grant(1, GrantPrincipal::Role(WORKER))]);
        assert_eq!(store.role_grants(ACME, &[OWNER, WORKER]).await.unwrap().len(), 2);
        assert_eq!(store.role_grants(OTHER, &[WORKER]).await, Ok(Vec::new()));

        let owner = RoleId(Uuid::from_u128(20));
        let other = NewOrganization {
            organization: organization(OTHER, "other"),
            roles: vec![role(OTHER, owner, "owner", true)],
            owner: membership(OTHER, ADA, &[owner]),
        };
        assert_eq!(
            store.insert_organization(&other, None, &Journal::default()).await,
            Ok(LimitOutcome::Done)
        );
        assert_eq!(store.tenants_of(ADA).await.unwrap(), [ACME, OTHER]);
        // An ended membership counts as well: it can come back.
        let ended = Membership { expires_at: Some(NOW), ..with_roles(BOB, &[WORKER], 2) };
        store.set_member(&ended, Some(Revision::FIRST), &Journal::default()).await.unwrap();
        assert_eq!(store.tenants_of(BOB).await.unwrap(), [ACME]);
    });
}

async fn all_about_one(store: &IdentityStore) -> Vec<(u128, String)> {
    let mut found: Vec<GrantRow> = Vec::new();
    loop {
        let last = found.last().map(|grant| (grant.tenant, grant.id));
        let part = store.grants_about_one(last, 2).await.unwrap();
        if part.is_empty() {
            return found.into_iter().map(|grant| (grant.id.0.as_u128(), grant.selector)).collect();
        }
        found.extend(part);
    }
}

#[tokio::test]
async fn stored_selectors_are_found_and_spelled_anew() {
    on_both!(|db| {
        let store = world(&db).await;
        let about = |n: u128, selector: &str| GrantRow {
            id: GrantId(Uuid::from_u128(n)),
            selector: selector.to_owned(),
            effect: Effect::Allow,
            ..grant(n, GrantPrincipal::Everyone)
        };
        for (n, selector) in [(1, "a"), (2, "*"), (3, "b"), (4, "c"), (5, "d")] {
            store.insert_grant(&about(n, selector), &Journal::default()).await.unwrap();
        }
        let of = |n: u128, selector: &str| (n, selector.to_owned());
        assert_eq!(all_about_one(&store).await, [of(1, "a"), of(3, "b"), of(4, "c"), of(5, "d")]);
        let session = sign_in(&store, 1, ADA).await;
        let before = access(&store, &session).await.unwrap().standing;
        store.respell_grant(&about(3, "B"), "b", &journal(87)).await.unwrap();
        assert!(was_written(&store, 87).await);
        let after = access(&store, &session).await.unwrap().standing;
        assert!(after.revision > before.revision && after.grants.iter().any(|grant| grant.selector == "B"));
        let again = store.respell_grant(&about(3, "x"), "b", &journal(88)).await;
        assert_eq!(again, Err(StoreError::Stale));
        assert!(!was_written(&store, 88).await);
        store.insert_role(&taking(&[]), &Journal::default()).await.unwrap();
        let own = store.own_roles().await.unwrap();
        assert_eq!(own.iter().map(|role| role.id).collect::<Vec<_>>(), [TAKING]);
    });
}

#[tokio::test]
async fn a_change_is_written_while_the_rights_that_it_rests_on_are_the_present_ones() {
    on_both!(|db| {
        let store = world(&db).await;
        add_bob(&store, &[WORKER]).await;
        let rights = |of: &[(TenantId, i64)], everywhere| Journal {
            rights: RightsSeen { of: of.to_vec(), everywhere },
            ..Journal::default()
        };
        let seen = async |tenant| store.standing(tenant, BOB).await.unwrap().unwrap().1.revision;
        let before = seen(ACME).await;
        let mut member = membership(ACME, BOB, &[OWNER]);
        member.revision = Revision(2);
        // Somebody makes Bob an owner after he was looked at.
        store.set_member(&member, Some(Revision::FIRST), &rights(&[(ACME, before)], false)).await.unwrap();
        let off = User { state: UserState::Disabled, revision: Revision(2), ..user(BOB, ACME, "Bob") };
        let stale = rights(&[(ACME, before)], false);
        assert_eq!(store.update_user(&off, Revision::FIRST, &stale).await, Err(StoreError::Stale));
        assert_eq!(store.delete_user(ACME, BOB, Revision::FIRST, &stale).await, Err(StoreError::Stale));
        assert_eq!(store.remove_member(ACME, BOB, Revision(2), &stale).await, Err(StoreError::Stale));
        assert_eq!(store.set_member(&member, Some(Revision(2)), &stale).await, Err(StoreError::Stale));
        let granted = store.insert_grant(&grant(70, GrantPrincipal::User(BOB)), &stale).await;
        assert_eq!(granted, Err(StoreError::Stale));
        let now = seen(ACME).await;
        assert_eq!(now, before + 1, "what is not written raises nothing");
        // He became a member of another organisation, which nobody looked at.
        let nowhere = rights(&[], true);
        assert_eq!(store.update_user(&off, Revision::FIRST, &nowhere).await, Err(StoreError::Stale));
        let present = rights(&[(ACME, now)], true);
        assert_eq!(store.update_user(&off, Revision::FIRST, &present).await, Ok(Change::Done));
    });
}
