//! Groups: what they give to a member, what their members have together, and what a change of them leaves.

use heddle_identity::ports::{
    AccessStore, Change, Dependents, DirectoryStore, GroupChange, MemberFilter, Tombstone,
};
use heddle_identity::records::{GrantPrincipal, Group, GroupRole, Membership, RoleEnds};
use heddle_kernel::{GroupId, Revision, UserId};
use heddle_policy::AccessFilter;
use heddle_store::StoreError;
use heddle_testkit::on_both;
use heddle_usecase::Journal;
use uuid::Uuid;

use crate::world::*;

const TEAM: GroupId = GroupId(Uuid::from_u128(300));

fn team(roles: Vec<GroupRole>, revision: i64) -> Group {
    Group {
        tenant: ACME,
        id: TEAM,
        name: "team".to_owned(),
        description: None,
        roles,
        revision: Revision(revision),
        created_at: NOW,
        updated_at: NOW,
    }
}

fn worker(end: Option<i64>) -> GroupRole {
    let expires_at = end.map(|seconds| NOW.plus_seconds(seconds));
    GroupRole { id: WORKER, name: "worker".to_owned(), expires_at }
}

fn change(group: Group, added: &[UserId], removed: &[UserId]) -> GroupChange {
    GroupChange { group, added: added.to_vec(), removed: removed.to_vec() }
}

#[tokio::test]
async fn a_member_has_what_the_group_gives_and_the_later_of_two_ends() {
    on_both!(|db| {
        let store = world(&db).await;
        add_bob(&store, &[]).await;
        let none = Journal::default();
        let new = change(team(vec![worker(Some(60))], 1), &[BOB], &[]);
        store.insert_group(&new, &journal(80)).await.unwrap();
        assert!(was_written(&store, 80).await);
        store.insert_grant(&grant(90, GrantPrincipal::Group(TEAM)), &none).await.unwrap();
        let (_, standing) = store.standing(ACME, BOB).await.unwrap().unwrap();
        assert_eq!(standing.roles.iter().map(|role| role.id).collect::<Vec<_>>(), [WORKER]);
        assert_eq!(standing.role_ends, RoleEnds::from([(WORKER, NOW.plus_seconds(60))]));
        assert_eq!(standing.groups, [(TEAM, "team".to_owned())]);
        assert_eq!(standing.grants.len(), 1);
        assert_eq!(standing.candidate_of(NOW).len(), 4);
        assert_eq!(standing.candidate_of(NOW.plus_seconds(60)), ["team".to_owned(), TEAM.to_string()]);
        let membership_now = standing.membership.unwrap();
        assert_eq!((membership_now.roles.len(), membership_now.groups.as_slice()), (0, &[TEAM][..]));
        assert_eq!(membership_now.revision, Revision(2), "who comes into a group has another membership");
        let (_, ada) = store.standing(ACME, ADA).await.unwrap().unwrap();
        assert!(ada.grants.is_empty() && ada.groups.is_empty());

        // The same role of their own, for longer and for good.
        for (seconds, revision) in [(Some(90), 3), (None, 4)] {
            let ends: RoleEnds =
                seconds.map(|seconds| (WORKER, NOW.plus_seconds(seconds))).into_iter().collect();
            let own = Membership {
                role_ends: ends.clone(),
                groups: vec![TEAM],
                revision: Revision(revision),
                ..membership(ACME, BOB, &[WORKER])
            };
            let set = store.set_member(&own, Some(Revision(revision - 1)), &none).await;
            assert_eq!(set, Ok(Change::Done));
            let (_, standing) = store.standing(ACME, BOB).await.unwrap().unwrap();
            assert_eq!((standing.roles.len(), standing.role_ends), (1, ends));
        }
        let all = store.standing_of_group(ACME, TEAM, NOW).await.unwrap();
        assert_eq!((all.roles.len(), all.grants.len(), all.membership), (1, 1, None));
        let in_it = MemberFilter { group: Some(TEAM), ..MemberFilter::default() };
        let listed = store.members(ACME, &in_it, &AccessFilter::everything(), &page(10)).await.unwrap();
        assert_eq!(listed.items.iter().map(|one| one.membership.user_id).collect::<Vec<_>>(), [BOB]);
        assert_eq!(listed.items[0].groups, [(TEAM, "team".to_owned())]);
    });
}

#[tokio::test]
async fn a_group_is_written_with_its_members_or_not_at_all() {
    on_both!(|db| {
        let store = world(&db).await;
        add_bob(&store, &[]).await;
        let none = Journal::default();
        let nobody = UserId(Uuid::from_u128(99));
        let refused =
            store.insert_group(&change(team(Vec::new(), 1), &[BOB, nobody], &[]), &journal(80)).await;
        assert_eq!(refused, Err(StoreError::NotFound));
        assert!(!was_written(&store, 80).await);
        assert_eq!(store.group(ACME, TEAM).await, Err(StoreError::NotFound));
        let named = Group { name: "worker".to_owned(), ..team(Vec::new(), 1) };
        let refused = store.insert_group(&change(named, &[], &[]), &none).await;
        assert_eq!(refused, Err(StoreError::Duplicate("roles.name".to_owned())));

        store.insert_group(&change(team(vec![worker(None)], 1), &[BOB], &[]), &none).await.unwrap();
        assert_eq!(store.group(ACME, TEAM).await, Ok(team(vec![worker(None)], 1)));
        assert_eq!(store.group(OTHER, TEAM).await, Err(StoreError::NotFound));
        let by_id = store.groups_named(ACME, &[TEAM.to_string(), "nothing".to_owned()]).await.unwrap();
        assert_eq!(by_id, [team(vec![worker(None)], 1)]);
        assert_eq!(store.groups_named(OTHER, &["team".to_owned()]).await, Ok(Vec::new()));
        let stale = change(team(Vec::new(), 3), &[], &[]);
        assert_eq!(store.update_group(&stale, Revision(2), &none).await, Err(StoreError::Stale));
        let in_use = store.delete_role(ACME, WORKER, Revision::FIRST, &none).await;
        assert_eq!(in_use, Ok(Change::InUse(vec![Dependents { kind: "group", count: 1 }])));
        let used = Ok(Change::InUse(vec![Dependents { kind: "member", count: 1 }]));
        assert_eq!(store.delete_group(ACME, TEAM, Revision::FIRST, &none).await, used);

        let empty = change(team(Vec::new(), 2), &[], &[BOB]);
        store.update_group(&empty, Revision::FIRST, &none).await.unwrap();
        assert_eq!(store.member(ACME, BOB).await.unwrap().membership.revision, Revision(3));
        store.insert_grant(&grant(90, GrantPrincipal::Group(TEAM)), &none).await.unwrap();
        assert_eq!(store.delete_group(ACME, TEAM, Revision(2), &journal(81)).await, Ok(Change::Done));
        assert_eq!(store.was_deleted(ACME, Tombstone::Group(TEAM)).await, Ok(true));
        assert_eq!(store.group_grants(ACME, &[TEAM]).await, Ok(Vec::new()));
    });
}
