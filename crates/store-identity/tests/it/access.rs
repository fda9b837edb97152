//! Who a token stands for; and that a change of rights is seen at once, whatever is cached.

use heddle_identity::ports::{AccessStore, Credential, DirectoryStore, SessionStore, TokenKind};
use heddle_identity::records::{GrantPrincipal, Role, User, UserState};
use heddle_kernel::Revision;
use heddle_store_identity::IdentityStore;
use heddle_testkit::on_both;
use heddle_usecase::Journal;
use uuid::Uuid;

use crate::world::*;

#[tokio::test]
async fn a_session_leads_to_its_user_and_his_rights() {
    on_both!(|db| {
        let store = world(&db).await;
        add_bob(&store, &[WORKER]).await;
        for (n, principal) in [
            (1, GrantPrincipal::User(BOB)),
            (2, GrantPrincipal::Role(WORKER)),
            (3, GrantPrincipal::Everyone),
            (4, GrantPrincipal::User(ADA)),
            (5, GrantPrincipal::Role(OWNER)),
        ] {
            store.insert_grant(&grant(n, principal), &Journal::default()).await.unwrap();
        }
        let session = sign_in(&store, 50, BOB).await;
        for _ in 0..2 {
            let found = access(&store, &session).await.unwrap();
            assert_eq!(found.credential, Credential::Session(session.clone()));
            assert_eq!(found.user, user(BOB, ACME, "Bob"));
            assert_eq!(found.tenant, ACME);
            assert_eq!(found.standing.membership, Some(membership(ACME, BOB, &[WORKER])));
            assert_eq!(found.standing.roles, [role(ACME, WORKER, "worker", true)]);
            let grants: Vec<_> = found.standing.grants.iter().map(|grant| grant.id.0.as_u128()).collect();
            assert_eq!(grants, [1, 2, 3]);
            assert_eq!(found.standing.grants[0], grant(1, GrantPrincipal::User(BOB)));
            // Founded at 1, raised by Bob and five grants.
            assert_eq!(found.standing.revision, 7);
        }
        let elsewhere =
            store.access(TokenKind::Session, &session.token_sha256, Some(OTHER)).await.unwrap().unwrap();
        assert_eq!(elsewhere.tenant, OTHER);
        assert_eq!((elsewhere.standing.membership.clone(), elsewhere.standing.revision), (None, 0));
        assert_eq!(store.access(TokenKind::ApiToken, &session.token_sha256, None).await, Ok(None));
        assert_eq!(store.access(TokenKind::Session, "unknown", None).await, Ok(None));
    });
}

#[tokio::test]
async fn an_api_token_works_where_it_is_asked_for_where_it_belongs_or_at_home() {
    on_both!(|db| {
        let store = world(&db).await;
        store.insert_token(&token(1, ADA, None), &Journal::default()).await.unwrap();
        store.insert_token(&token(2, ADA, Some(ACME)), &Journal::default()).await.unwrap();
        for (n, tenant, asked, counts, revision) in [
            (1, None, None, ACME, 1),
            (1, None, Some(OTHER), OTHER, 0),
            (2, Some(ACME), None, ACME, 1),
            (2, Some(ACME), Some(OTHER), OTHER, 0),
        ] {
            let found =
                store.access(TokenKind::ApiToken, &format!("token-{n}"), asked).await.unwrap().unwrap();
            assert_eq!(found.credential, Credential::ApiToken(token(n, ADA, tenant)));
            assert_eq!((found.tenant, found.standing.revision), (counts, revision), "{n} {asked:?}");
        }
    });
}

#[tokio::test]
async fn a_standing_is_for_those_who_belong() {
    on_both!(|db| {
        let store = world(&db).await;
        let (ada, standing) = store.standing(ACME, ADA).await.unwrap().unwrap();
        assert_eq!((ada.id, standing.roles.len(), standing.revision), (ADA, 1, 1));
        assert_eq!(store.standing(OTHER, ADA).await, Ok(None));
        assert_eq!(store.standing(ACME, BOB).await, Ok(None));
    });
}

#[tokio::test]
async fn a_use_is_noted_and_seen_in_the_cache() {
    on_both!(|db| {
        let store = world(&db).await;
        let session = sign_in(&store, 50, ADA).await;
        store.insert_token(&token(1, ADA, None), &Journal::default()).await.unwrap();
        access(&store, &session).await.unwrap();
        store.access(TokenKind::ApiToken, "token-1", None).await.unwrap();
        let later = NOW.plus_seconds(61);
        store.touch(TokenKind::Session, &session.token_sha256, later).await.unwrap();
        store.touch(TokenKind::ApiToken, "token-1", later).await.unwrap();
        let fresh = IdentityStore::new(db.clone(), Vec::new());
        for store in [&store, &fresh] {
            let Credential::Session(seen) = access(store, &session).await.unwrap().credential else {
                panic!()
            };
            assert_eq!(seen.last_seen_at, later);
            let found = store.access(TokenKind::ApiToken, "token-1", None).await.unwrap().unwrap();
            let Credential::ApiToken(used) = found.credential else { panic!() };
            assert_eq!(used.last_used_at, Some(later));
        }
    });
}

/// After each change the very next access tells it. On PostgreSQL a second node (a second store) sees it too.
#[tokio::test]
async fn every_change_is_seen_by_the_next_request() {
    on_both!(|db| {
        let store = world(&db).await;
        let node =
            if db.postgres().is_some() { IdentityStore::new(db.clone(), Vec::new()) } else { store.clone() };
        add_bob(&store, &[WORKER]).await;
        let session = sign_in(&store, 50, BOB).await;
        let journal = Journal::default();
        let mut revision = 0;
        let mut look = async |what: &str| {
            let found = access(&node, &session).await.unwrap();
            assert!(found.standing.revision > revision, "{what}");
            revision = found.standing.revision;
            found
        };
        look("first").await;

        store.insert_grant(&grant(1, GrantPrincipal::Everyone), &journal).await.unwrap();
        assert_eq!(look("grant").await.standing.grants.len(), 1);
        store.delete_grant(ACME, grant(1, GrantPrincipal::Everyone).id, &journal).await.unwrap();
        assert!(look("no grant").await.standing.grants.is_empty());

        let changed = Role { name: "doer".to_owned(), revision: Revision(2), ..role(ACME, WORKER, "", true) };
        store.update_role(&changed, Revision::FIRST, &journal).await.unwrap();
        assert_eq!(look("role").await.standing.roles[0].name, "doer");

        let mut member = membership(ACME, BOB, &[OWNER, WORKER]);
        member.revision = Revision(2);
        store.set_member(&member, Some(Revision::FIRST), &journal).await.unwrap();
        assert_eq!(look("member").await.standing.roles.len(), 2);
        store.remove_member(ACME, BOB, Revision(2), &journal).await.unwrap();
        let outside = look("no member").await.standing;
        assert_eq!((outside.membership.clone(), outside.roles.len()), (None, 0));

        store.set_member(&membership(ACME, BOB, &[]), None, &journal).await.unwrap();
        look("member again").await;
        let renamed =
            User { display_name: "Robert".to_owned(), revision: Revision(2), ..user(BOB, ACME, "Bob") };
        store.update_user(&renamed, Revision::FIRST, &journal).await.unwrap();
        assert_eq!(look("renamed").await.user.display_name, "Robert");
        let off = User { state: UserState::Disabled, revision: Revision(3), ..renamed };
        store.update_user(&off, Revision(2), &journal).await.unwrap();
        assert_eq!(access(&node, &session).await, None, "the session is gone");

        let session = sign_in(&store, 51, ADA).await;
        assert!(access(&node, &session).await.is_some());
        store.end(session.id, &journal).await.unwrap();
        assert_eq!(access(&node, &session).await, None, "the session has ended");
    });
}

/// Rights never mix two states while they change: the two grants are always both there or both not.
#[tokio::test(flavor = "multi_thread")]
async fn rights_are_read_of_one_state() {
    on_both!(|db| {
        let store = world(&db).await;
        let session = sign_in(&store, 50, ADA).await;
        let writer = {
            let store = store.clone();
            tokio::spawn(async move {
                for n in 0..30_u128 {
                    let mut member = membership(ACME, ADA, &[OWNER, WORKER]);
                    // The role and the membership's revision change together.
                    let even = n % 2 == 1;
                    member.roles.truncate(if even { 1 } else { 2 });
                    member.revision = Revision(i64::try_from(n).unwrap() + 2);
                    store
                        .set_member(&member, Some(Revision(member.revision.0 - 1)), &Journal::default())
                        .await
                        .unwrap();
                }
            })
        };
        let mut last = 0;
        while !writer.is_finished() {
            let Ok(Some(found)) = store.access(TokenKind::Session, &session.token_sha256, None).await else {
                continue;
            };
            let member = found.standing.membership.clone().unwrap();
            assert_eq!(member.roles.len(), found.standing.roles.len());
            let wanted = if member.revision.0 == 1 || member.revision.0 % 2 == 1 { 1 } else { 2 };
            assert_eq!(member.roles.len(), wanted, "{:?}", member.revision);
            assert!(member.revision.0 >= last, "time does not run backwards");
            last = member.revision.0;
        }
        writer.await.unwrap();
        let found = access(&store, &session).await.unwrap();
        assert_eq!(found.standing.membership.clone().unwrap().revision, Revision(31));
        assert_ne!(found.user.id.0, Uuid::nil());
    });
}
