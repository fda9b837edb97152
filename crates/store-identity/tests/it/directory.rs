//! Organisations, users, members, roles and grants.

use heddle_identity::ports::{
    Change, Dependents, DirectoryStore, GrantFilter, InstallationStore, LimitOutcome, MemberFilter,
    NewOrganization, NewUser, SessionStore, Tombstone, UserFilter,
};
use heddle_identity::records::{GrantPrincipal, Organization, Role, User, UserState};
use heddle_kernel::{GrantId, PageRequest, Revision, RoleId, TenantId, UserId};
use heddle_policy::AccessFilter;
use heddle_store::tenant::{self, InUse, TenantContents};
use heddle_store::{Conn, StoreError, write_tx};
use heddle_store_identity::IdentityStore;
use heddle_testkit::on_both;
use heddle_usecase::Journal;
use uuid::Uuid;

use crate::world::*;

/// All pages of a list, two rows each.
macro_rules! all_of {
    (|$page:ident| $call:expr) => {{
        let mut found = Vec::new();
        let mut request = page(2);
        loop {
            let $page = &request;
            let part = $call.await.unwrap();
            found.extend(part.items);
            let Some(next) = part.next else { break };
            request = PageRequest { cursor: Some(next), ..request };
        }
        found
    }};
}

fn other() -> NewOrganization {
    let (owner, worker) = (RoleId(Uuid::from_u128(20)), RoleId(Uuid::from_u128(21)));
    NewOrganization {
        organization: organization(OTHER, "other"),
        roles: vec![role(OTHER, owner, "owner", true), role(OTHER, worker, "worker", true)],
        owner: membership(OTHER, ADA, &[owner]),
    }
}

fn in_use(kind: &'static str, count: u64) -> Change {
    Change::InUse(vec![Dependents { kind, count }])
}

fn duplicate<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Err(StoreError::Duplicate(what)) => what,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn organisations_come_change_and_go() {
    on_both!(|db| {
        let store = world(&db).await;
        let none = Journal::default();
        assert_eq!(
            store.insert_organization(&other(), Some(1), &journal(50)).await,
            Ok(LimitOutcome::LimitReached { used: 1 })
        );
        assert_eq!(store.insert_organization(&other(), Some(2), &none).await, Ok(LimitOutcome::Done));
        let mut same = other();
        same.organization.id.0 = Uuid::from_u128(300);
        assert_eq!(
            duplicate(store.insert_organization(&same, None, &journal(51)).await),
            "organizations.slug"
        );

        let everything = AccessFilter::everything();
        let listed = all_of!(|page| store.organizations(ADA, None, &everything, page));
        assert_eq!(listed, [organization(ACME, "acme"), organization(OTHER, "other")]);
        let only = AccessFilter::only([OTHER]);
        assert_eq!(
            all_of!(|page| store.organizations(ADA, None, &only, page)),
            [organization(OTHER, "other")]
        );
        assert!(all_of!(|page| store.organizations(BOB, None, &everything, page)).is_empty());
        let found = all_of!(|page| store.organizations(ADA, Some("OTH"), &everything, page));
        assert_eq!(found, [organization(OTHER, "other")]);
        assert!(all_of!(|page| store.organizations(ADA, Some("o_her"), &everything, page)).is_empty());
        assert_eq!(store.organization(ADA, OTHER).await, Ok(organization(OTHER, "other")));
        assert_eq!(store.organization(BOB, OTHER).await, Err(StoreError::NotFound));

        let renamed =
            Organization { slug: "third".to_owned(), revision: Revision(2), ..organization(OTHER, "x") };
        store.update_organization(&renamed, Revision::FIRST, &journal(52)).await.unwrap();
        assert_eq!(store.organization(ADA, OTHER).await.unwrap().slug, "third");
        assert_eq!(store.update_organization(&renamed, Revision::FIRST, &none).await, Err(StoreError::Stale));
        let taken = Organization { slug: "acme".to_owned(), ..renamed };
        let clash = store.update_organization(&taken, Revision(2), &none).await;
        assert_eq!(duplicate(clash), "organizations.slug");
        let unknown = Organization { id: heddle_kernel::TenantId(Uuid::from_u128(9)), ..taken };
        assert_eq!(store.update_organization(&unknown, Revision(2), &none).await, Err(StoreError::NotFound));

        assert_eq!(store.delete_organization(ACME, Revision::FIRST, &none).await, Ok(in_use("user", 1)));
        assert_eq!(store.delete_organization(OTHER, Revision::FIRST, &none).await, Err(StoreError::Stale));
        assert_eq!(store.delete_organization(OTHER, Revision(2), &journal(53)).await, Ok(Change::Done));
        assert_eq!(store.delete_organization(OTHER, Revision(2), &none).await, Err(StoreError::NotFound));
        assert_eq!(store.was_deleted(OTHER, Tombstone::Organization(OTHER)).await, Ok(true));
        assert_eq!(store.has_deleted_organization(ADA, OTHER).await, Ok(true));
        assert_eq!(store.has_deleted_organization(BOB, OTHER).await, Ok(false));
        assert_eq!(store.was_deleted(ACME, Tombstone::Organization(ACME)).await, Ok(false));
        assert_eq!(store.usage().await.unwrap().organizations, 1);
        for (n, written) in [(50, false), (51, false), (52, true), (53, true)] {
            assert_eq!(was_written(&store, n).await, written, "{n}");
        }
    });
}

#[tokio::test]
async fn users_are_listed_by_creation_and_filtered() {
    on_both!(|db| {
        let store = world(&db).await;
        store.insert_organization(&other(), None, &Journal::default()).await.unwrap();
        for (n, name) in [(2, "Bob"), (3, "Cä_cilie"), (4, "Dan%")] {
            let id = UserId(Uuid::from_u128(n));
            let new = NewUser { user: user(id, ACME, name), membership: membership(ACME, id, &[WORKER]) };
            store.insert_user(&new, None, &Journal::default()).await.unwrap();
        }
        let off = User { state: UserState::Disabled, revision: Revision(2), ..user(BOB, ACME, "Bob") };
        store.update_user(&off, Revision::FIRST, &Journal::default()).await.unwrap();
        let everything = AccessFilter::everything();
        let but_ada = AccessFilter::everything().but([ADA]);
        let q = |q: &str| UserFilter { q: Some(q.to_owned()), ..UserFilter::default() };
        for (tenant, filter, reach, wanted) in [
            (ACME, UserFilter::default(), &everything, vec![1, 2, 3, 4]),
            (ACME, UserFilter::default(), &but_ada, vec![2, 3, 4]),
            (ACME, q("EXAMPLE"), &everything, vec![1, 2, 3, 4]),
            (ACME, q("cÄ"), &everything, vec![3]),
            (ACME, q("_"), &everything, vec![3]),
            (ACME, q("%"), &everything, vec![4]),
            (ACME, q("\\"), &everything, vec![]),
            (
                ACME,
                UserFilter { state: Some(UserState::Disabled), ..UserFilter::default() },
                &everything,
                vec![2],
            ),
            // Ada is at home elsewhere, but a member.
            (OTHER, UserFilter::default(), &everything, vec![1]),
        ] {
            let found = all_of!(|page| store.users(tenant, &filter, reach, page));
            let found: Vec<_> = found.iter().map(|user| user.id.0.as_u128()).collect();
            assert_eq!(found, wanted, "{filter:?}");
        }
        assert_eq!(DirectoryStore::user(&store, OTHER, ADA).await.unwrap(), user(ADA, ACME, "Ada"));
        assert_eq!(DirectoryStore::user(&store, OTHER, BOB).await, Err(StoreError::NotFound));
    });
}

#[tokio::test]
async fn users_are_added_changed_and_deleted() {
    on_both!(|db| {
        let store = world(&db).await;
        let none = Journal::default();
        let bob = NewUser { user: user(BOB, ACME, "Bob"), membership: membership(ACME, BOB, &[WORKER]) };
        assert_eq!(
            store.insert_user(&bob, Some(1), &journal(50)).await,
            Ok(LimitOutcome::LimitReached { used: 1 })
        );
        assert_eq!(store.insert_user(&bob, Some(2), &journal(51)).await, Ok(LimitOutcome::Done));
        let mut clash = bob.clone();
        clash.user.id.0 = Uuid::from_u128(3);
        clash.membership.user_id = clash.user.id;
        assert_eq!(duplicate(store.insert_user(&clash, None, &none).await), "users.email");
        assert!(!was_written(&store, 50).await && was_written(&store, 51).await);

        sign_in(&store, 60, BOB).await;
        store.insert_token(&token(61, BOB, None), &none).await.unwrap();
        let mut changed =
            User { display_name: "Robert".to_owned(), revision: Revision(2), ..bob.user.clone() };
        assert_eq!(store.update_user(&changed, Revision::FIRST, &none).await, Ok(Change::Done));
        assert_eq!(store.sessions(BOB, NOW).await.unwrap().len(), 1, "a new name ends no session");
        assert_eq!(store.update_user(&changed, Revision::FIRST, &none).await, Err(StoreError::Stale));
        changed.password_hash = Some("other".to_owned());
        changed.revision = Revision(3);
        store.update_user(&changed, Revision(2), &none).await.unwrap();
        assert!(store.sessions(BOB, NOW).await.unwrap().is_empty(), "a new password does");
        assert_eq!(store.tokens(BOB, &page(5)).await.unwrap().items.len(), 1);
        changed.state = UserState::Disabled;
        changed.revision = Revision(4);
        store.update_user(&changed, Revision(3), &none).await.unwrap();
        assert!(store.tokens(BOB, &page(5)).await.unwrap().items.is_empty());
        assert_eq!(DirectoryStore::user(&store, ACME, BOB).await, Ok(changed.clone()));

        let elsewhere = User { home: OTHER, ..changed };
        assert_eq!(store.update_user(&elsewhere, Revision(4), &none).await, Err(StoreError::NotFound));
        store.insert_grant(&grant(70, GrantPrincipal::User(BOB)), &none).await.unwrap();
        assert_eq!(store.delete_user(OTHER, BOB, Revision(4), &none).await, Err(StoreError::NotFound));
        assert_eq!(store.delete_user(ACME, BOB, Revision(1), &none).await, Err(StoreError::Stale));
        assert_eq!(store.delete_user(ACME, BOB, Revision(4), &journal(52)).await, Ok(Change::Done));
        assert!(was_written(&store, 52).await);
        assert_eq!(DirectoryStore::user(&store, ACME, BOB).await, Err(StoreError::NotFound));
        assert_eq!(store.grant(ACME, GrantId(Uuid::from_u128(70))).await, Err(StoreError::NotFound));
        for what in [Tombstone::User(BOB), Tombstone::Member(BOB)] {
            assert_eq!(store.was_deleted(ACME, what).await, Ok(true), "{what:?}");
        }
    });
}

#[tokio::test]
async fn somebody_stays_in_charge() {
    on_both!(|db| {
        let store = world(&db).await;
        let none = Journal::default();
        let mut demoted = membership(ACME, ADA, &[WORKER]);
        demoted.revision = Revision(2);
        let mut ending = membership(ACME, ADA, &[OWNER]);
        ending.expires_at = Some(NOW.plus_seconds(1));
        let off = User { state: UserState::Disabled, revision: Revision(2), ..user(ADA, ACME, "Ada") };
        let first = Some(Revision::FIRST);
        let refused = async || {
            assert_eq!(store.set_member(&demoted, first, &journal(50)).await, Ok(Change::LastOwner));
            assert_eq!(store.set_member(&ending, first, &journal(50)).await, Ok(Change::LastOwner));
            assert_eq!(
                store.remove_member(ACME, ADA, Revision::FIRST, &journal(50)).await,
                Ok(Change::LastOwner)
            );
            assert_eq!(store.update_user(&off, Revision::FIRST, &journal(50)).await, Ok(Change::LastOwner));
            assert_eq!(
                store.delete_user(ACME, ADA, Revision::FIRST, &journal(50)).await,
                Ok(Change::LastOwner)
            );
            assert!(!was_written(&store, 50).await);
        };
        refused().await;
        // A second owner whose membership ends, or who is switched off, does not count.
        add_bob(&store, &[OWNER]).await;
        let mut bob = membership(ACME, BOB, &[OWNER]);
        bob.expires_at = Some(NOW.plus_seconds(1));
        bob.revision = Revision(2);
        store.set_member(&bob, first, &none).await.unwrap();
        refused().await;
        bob.expires_at = None;
        bob.revision = Revision(3);
        store.set_member(&bob, Some(Revision(2)), &none).await.unwrap();
        let bob_off = User { state: UserState::Disabled, revision: Revision(2), ..user(BOB, ACME, "Bob") };
        store.update_user(&bob_off, Revision::FIRST, &none).await.unwrap();
        refused().await;
        let bob_on = User { state: UserState::Active, revision: Revision(3), ..bob_off };
        store.update_user(&bob_on, Revision(2), &none).await.unwrap();
        assert_eq!(store.set_member(&demoted, first, &none).await, Ok(Change::Done));
        assert_eq!(store.remove_member(ACME, BOB, Revision(3), &none).await, Ok(Change::LastOwner));
        assert_eq!(store.remove_member(ACME, ADA, Revision(2), &none).await, Ok(Change::Done));
    });
}

/// Two owners who leave at the same time: one of them stays.
#[tokio::test(flavor = "multi_thread")]
async fn two_owners_can_not_both_leave_at_once() {
    on_both!(|db| {
        let store = world(&db).await;
        add_bob(&store, &[OWNER]).await;
        let leave = |user| {
            let store = store.clone();
            tokio::spawn(async move {
                store.remove_member(ACME, user, Revision::FIRST, &Journal::default()).await
            })
        };
        let (ada, bob) = (leave(ADA), leave(BOB));
        let mut ends = [ada.await.unwrap().unwrap(), bob.await.unwrap().unwrap()];
        ends.sort_by_key(|end| *end == Change::Done);
        assert_eq!(ends, [Change::LastOwner, Change::Done]);
    });
}

#[tokio::test]
async fn members_are_listed_set_and_removed() {
    on_both!(|db| {
        let store = world(&db).await;
        let none = Journal::default();
        add_bob(&store, &[WORKER, OWNER]).await;
        let everything = AccessFilter::everything();
        let listed = all_of!(|page| store.members(ACME, &MemberFilter::default(), &everything, page));
        assert_eq!(listed.len(), 2);
        assert_eq!(listed[1], store.member(ACME, BOB).await.unwrap());
        assert_eq!(listed[1].membership, membership(ACME, BOB, &[OWNER, WORKER]));
        assert_eq!(listed[1].roles, [(OWNER, "owner".to_owned()), (WORKER, "worker".to_owned())]);
        assert_eq!((listed[1].email.as_str(), listed[1].state), ("bob@example.org", UserState::Active));
        let only = AccessFilter::only([ADA]);
        assert_eq!(all_of!(|page| store.members(ACME, &MemberFilter::default(), &only, page)), listed[..1]);
        assert!(all_of!(|page| store.members(OTHER, &MemberFilter::default(), &everything, page)).is_empty());

        let bob = membership(ACME, BOB, &[WORKER]);
        assert_eq!(duplicate(store.set_member(&bob, None, &none).await), "members.user_id");
        assert_eq!(store.set_member(&bob, Some(Revision(9)), &none).await, Err(StoreError::Stale));
        let mut unknown_role = bob.clone();
        unknown_role.roles = vec![RoleId(Uuid::from_u128(99))];
        let unknown = store.set_member(&unknown_role, Some(Revision::FIRST), &none).await;
        assert_eq!(unknown, Err(StoreError::NotFound));
        let nobody = membership(ACME, UserId(Uuid::from_u128(99)), &[]);
        assert_eq!(store.set_member(&nobody, None, &none).await, Err(StoreError::NotFound));
        assert_eq!(store.set_member(&nobody, Some(Revision::FIRST), &none).await, Err(StoreError::NotFound));
        let nowhere = membership(OTHER, BOB, &[]);
        assert_eq!(store.set_member(&nowhere, None, &none).await, Err(StoreError::NotFound));

        store.insert_token(&token(60, BOB, Some(ACME)), &none).await.unwrap();
        store.insert_token(&token(61, BOB, None), &none).await.unwrap();
        store.insert_grant(&grant(62, GrantPrincipal::User(BOB)), &none).await.unwrap();
        assert_eq!(store.remove_member(ACME, BOB, Revision(9), &none).await, Err(StoreError::Stale));
        assert_eq!(store.remove_member(ACME, BOB, Revision::FIRST, &journal(50)).await, Ok(Change::Done));
        assert_eq!(store.remove_member(ACME, BOB, Revision::FIRST, &none).await, Err(StoreError::NotFound));
        assert!(was_written(&store, 50).await);
        assert_eq!(store.tokens(BOB, &page(5)).await.unwrap().items, [token(61, BOB, None)]);
        assert_eq!(store.grant(ACME, GrantId(Uuid::from_u128(62))).await, Err(StoreError::NotFound));
        assert_eq!(store.member(ACME, BOB).await, Err(StoreError::NotFound));
        assert_eq!(store.was_deleted(ACME, Tombstone::Member(BOB)).await, Ok(true));
        store.set_member(&bob, None, &none).await.unwrap();
        assert_eq!(store.was_deleted(ACME, Tombstone::Member(BOB)).await, Ok(false));
    });
}

#[tokio::test]
async fn roles_are_listed_added_changed_and_deleted() {
    on_both!(|db| {
        let store = world(&db).await;
        let none = Journal::default();
        let id = RoleId(Uuid::from_u128(30));
        let designer = role(ACME, id, "designer", false);
        store.insert_role(&designer, &journal(50)).await.unwrap();
        let same = role(ACME, RoleId(Uuid::from_u128(31)), "designer", false);
        assert_eq!(duplicate(store.insert_role(&same, &none).await), "roles.name");
        let everything = AccessFilter::everything();
        let names = |roles: Vec<Role>| roles.into_iter().map(|role| role.name).collect::<Vec<_>>();
        assert_eq!(
            names(all_of!(|page| store.roles(ACME, None, &everything, page))),
            ["designer", "owner", "worker"]
        );
        assert_eq!(names(store.all_roles(ACME).await.unwrap()), ["designer", "owner", "worker"]);
        let only = AccessFilter::only([id]);
        assert_eq!(all_of!(|page| store.roles(ACME, None, &only, page)), std::slice::from_ref(&designer));
        assert!(all_of!(|page| store.roles(ACME, None, &AccessFilter::default(), page)).is_empty());
        assert_eq!(store.role(ACME, id).await, Ok(designer.clone()));
        assert_eq!(store.role(OTHER, id).await, Err(StoreError::NotFound));

        let changed = Role {
            description: Some("draws".to_owned()),
            rules: Default::default(),
            revision: Revision(2),
            ..designer
        };
        store.update_role(&changed, Revision::FIRST, &none).await.unwrap();
        assert_eq!(store.role(ACME, id).await, Ok(changed.clone()));
        assert_eq!(store.update_role(&changed, Revision::FIRST, &none).await, Err(StoreError::Stale));
        let clash = Role { name: "owner".to_owned(), ..changed.clone() };
        assert_eq!(duplicate(store.update_role(&clash, Revision(2), &none).await), "roles.name");
        let unknown = Role { id: same.id, ..changed };
        assert_eq!(store.update_role(&unknown, Revision(2), &none).await, Err(StoreError::NotFound));

        add_bob(&store, &[id]).await;
        store.insert_grant(&grant(60, GrantPrincipal::Role(id)), &none).await.unwrap();
        assert_eq!(store.delete_role(ACME, id, Revision(1), &none).await, Err(StoreError::Stale));
        assert_eq!(store.delete_role(ACME, id, Revision(2), &journal(51)).await, Ok(in_use("member", 1)));
        let mut bob = membership(ACME, BOB, &[]);
        bob.revision = Revision(2);
        store.set_member(&bob, Some(Revision::FIRST), &none).await.unwrap();
        assert_eq!(store.delete_role(ACME, id, Revision(2), &journal(52)).await, Ok(Change::Done));
        assert_eq!(store.delete_role(ACME, id, Revision(2), &none).await, Err(StoreError::NotFound));
        assert_eq!(store.grant(ACME, GrantId(Uuid::from_u128(60))).await, Err(StoreError::NotFound));
        assert_eq!(store.was_deleted(ACME, Tombstone::Role(id)).await, Ok(true));
        for (n, written) in [(50, true), (51, false), (52, true)] {
            assert_eq!(was_written(&store, n).await, written, "{n}");
        }
    });
}

#[tokio::test]
async fn grants_are_listed_added_and_deleted() {
    on_both!(|db| {
        let store: IdentityStore = world(&db).await;
        let none = Journal::default();
        let mut on_one = grant(63, GrantPrincipal::Role(WORKER));
        on_one.selector = "x".to_owned();
        on_one.resource = "run".to_owned();
        on_one.created_at = NOW.plus_seconds(1);
        let rows = [grant(61, GrantPrincipal::User(ADA)), grant(62, GrantPrincipal::Everyone), on_one];
        for row in &rows {
            store.insert_grant(row, &journal(row.id.0.as_u128())).await.unwrap();
            assert_eq!(store.grant(ACME, row.id).await, Ok(row.clone()));
        }
        for principal in [GrantPrincipal::User(BOB), GrantPrincipal::Role(RoleId(Uuid::from_u128(99)))] {
            assert_eq!(
                store.insert_grant(&grant(64, principal), &journal(64)).await,
                Err(StoreError::NotFound)
            );
        }
        let everything = AccessFilter::everything();
        let but_last = AccessFilter::everything().but([rows[2].id]);
        let filter = GrantFilter::default;
        for (filter, reach, wanted) in [
            (filter(), &everything, vec![63, 62, 61]),
            (filter(), &but_last, vec![62, 61]),
            (GrantFilter { principal: Some(GrantPrincipal::User(ADA)), ..filter() }, &everything, vec![61]),
            (GrantFilter { principal: Some(GrantPrincipal::Everyone), ..filter() }, &everything, vec![62]),
            (GrantFilter { resource: Some("run".to_owned()), ..filter() }, &everything, vec![63]),
            (GrantFilter { selector: Some("*".to_owned()), ..filter() }, &everything, vec![62, 61]),
        ] {
            let found = all_of!(|page| store.grants(ACME, &filter, reach, page));
            let found: Vec<_> = found.iter().map(|grant| grant.id.0.as_u128()).collect();
            assert_eq!(found, wanted, "{filter:?}");
        }
        store.delete_grant(ACME, rows[0].id, &journal(65)).await.unwrap();
        assert_eq!(store.delete_grant(ACME, rows[0].id, &none).await, Err(StoreError::NotFound));
        assert_eq!(store.delete_grant(OTHER, rows[1].id, &none).await, Err(StoreError::NotFound));
        assert_eq!(store.was_deleted(ACME, Tombstone::Grant(rows[0].id)).await, Ok(true));
        for (n, written) in [(61, true), (64, false), (65, true)] {
            assert_eq!(was_written(&store, n).await, written, "{n}");
        }
    });
}

/// An area that keeps two things of every organisation.
struct Area;

#[async_trait::async_trait]
impl TenantContents for Area {
    async fn in_use(&self, _: Conn<'_>, _: TenantId) -> Result<Vec<InUse>, heddle_store::Error> {
        Ok(vec![InUse { kind: "thing", count: 2 }])
    }
}

#[tokio::test]
async fn an_organisation_stays_while_an_area_keeps_something_of_it_and_is_closed_once_it_went() {
    on_both!(|db| {
        let store = world(&db).await;
        let none = Journal::default();
        let keep_open = async |tenant| write_tx!(&db, |conn| tenant::keep_open(conn, tenant).await);
        store.insert_organization(&other(), None, &none).await.unwrap();
        let asking = IdentityStore::new(db.clone(), vec![std::sync::Arc::new(Area)]);
        let refused = asking.delete_organization(OTHER, Revision::FIRST, &none).await;
        assert_eq!(refused, Ok(in_use("thing", 2)));
        assert_eq!(keep_open(OTHER).await, Ok(()));
        assert_eq!(store.delete_organization(OTHER, Revision::FIRST, &none).await, Ok(Change::Done));
        assert_eq!(keep_open(OTHER).await, Err(StoreError::NotFound));
        assert_eq!(Tombstone::Organization(OTHER).parts(), (tenant::KIND, OTHER.0));
    });
}
