//! Budgets and sums: exact under callers at the same time, over expiry, and over a repeat.

use heddle_models::day_at;
use heddle_models::ports::{Reserved, UsageQuery, UsageStore};
use heddle_models::records::{BudgetScope, UsageAxis, UsageKey};
use heddle_policy::{AccessFilter, resource};
use heddle_store_models::SqlModelStore;
use heddle_testkit::on_both;

use crate::support::*;

#[tokio::test(flavor = "multi_thread")]
async fn callers_at_the_same_time_never_exceed_a_budget_together() {
    on_both!(|db| {
        let store = SqlModelStore::new(db.clone());
        let tenant = organization(&db).await;
        let of = deployment(&connection(&store, tenant, "one").await, "a");
        inserted(&store, std::slice::from_ref(&of)).await;
        let mut tasks = Vec::new();
        for _ in 0..20 {
            let (store, wanted) = (store.clone(), reservation(&of, 100, 30, 1));
            tasks.push(tokio::spawn(async move { (store.reserve(&wanted).await.unwrap(), wanted) }));
        }
        let mut held = Vec::new();
        for task in tasks {
            if let (Reserved::Yes, reservation) = task.await.unwrap() {
                held.push(reservation);
            }
        }
        assert_eq!(held.len(), 3, "three times thirty fit into a hundred");
        store.settle(&[end(&of, 10, held.pop())]).await.unwrap();
        assert_eq!(store.reserve(&reservation(&of, 100, 30, 2)).await.unwrap(), Reserved::Yes);
        assert!(matches!(
            store.reserve(&reservation(&of, 100, 10, 3)).await.unwrap(),
            Reserved::Exhausted(_)
        ));
        store.release(&held.pop().unwrap()).await.unwrap();
        // What nobody settled comes back when its time is over, and what is settled behind that is spent all the same.
        assert_eq!(store.reserve(&reservation(&of, 100, 90, 200)).await.unwrap(), Reserved::Yes);
        store.settle(&[end(&of, 10, held.pop())]).await.unwrap();
        assert!(matches!(
            store.reserve(&reservation(&of, 100, 1, 201)).await.unwrap(),
            Reserved::Exhausted(_)
        ));
        assert_eq!(store.expire(at(10_000), 10).await.unwrap(), 1);
        assert_eq!(store.reserve(&reservation(&of, 100, 80, 202)).await.unwrap(), Reserved::Yes);
    });
}

#[tokio::test]
async fn sums_are_those_of_the_calls_and_a_repeat_counts_once() {
    on_both!(|db| {
        let store = SqlModelStore::new(db.clone());
        let tenant = organization(&db).await;
        let over = connection(&store, tenant, "one").await;
        let (one, two) = (deployment(&over, "a"), deployment(&over, "b"));
        inserted(&store, &[one.clone(), two.clone()]).await;
        let mut ends = vec![end(&one, 5, None), end(&one, 7, None), end(&two, 11, None)];
        store.settle(&ends).await.unwrap();
        store.settle(&ends[..1]).await.unwrap();
        // Old ones and a new one together: the new one counts, the old ones do not again.
        ends.push(end(&two, 0, None));
        store.settle(&ends).await.unwrap();
        // A call of an organisation that is gone holds up no other.
        let gone = end(&deployment(&connection(&store, organization(&db).await, "x").await, "x"), 1, None);
        let mut gone = gone;
        gone.usage.tenant = heddle_kernel::TenantId(uuid());
        store.settle(&[gone, end(&two, 1, None)]).await.unwrap();
        let day = day_at(at(10));
        let everything = AccessFilter::<resource::Deployment>::everything();
        let query = |by, deployment| UsageQuery { by, from_day: day, to_day: day, deployment };
        let all = store.usage(tenant, &query(UsageAxis::Day, None), &everything, &page(10)).await.unwrap();
        assert_eq!((all.items[0].sums.calls, all.items[0].sums.tokens.input), (5, 24));
        let own = query(UsageAxis::Day, Some(one.id));
        let own = store.usage(tenant, &own, &everything, &page(10)).await.unwrap();
        assert_eq!((own.items[0].sums.calls, own.items[0].sums.cost_micros), (2, 6));
        let by = query(UsageAxis::Deployment, None);
        let first = store.usage(tenant, &by, &everything, &page(1)).await.unwrap();
        assert_eq!((&first.items[0].key, first.next.is_some()), (&UsageKey::Id(one.id.0), true));
        let hidden = AccessFilter::<resource::Deployment>::everything().but([one.id]);
        let shown = store.usage(tenant, &by, &hidden, &page(10)).await.unwrap();
        assert_eq!((shown.items.len(), shown.items[0].sums.tokens.input), (1, 12));
        let users = store.usage(tenant, &query(UsageAxis::User, None), &everything, &page(10)).await.unwrap();
        assert_eq!((users.items.len(), users.items[0].sums.calls), (1, 5));
        assert_eq!(store.forget(at(1_000), 3).await.unwrap(), 3);
        // A budget that comes later begins with what was spent.
        let late = reservation(&two, 15, 4, 20);
        assert!(matches!(store.reserve(&late).await.unwrap(), Reserved::Exhausted(_)));
        assert_eq!(store.reserve(&reservation(&two, 15, 3, 21)).await.unwrap(), Reserved::Yes);
    });
}

#[tokio::test]
async fn a_budget_counts_what_its_own_period_cost_whenever_it_was_set() {
    on_both!(|db| {
        let store = SqlModelStore::new(db.clone());
        let tenant = organization(&db).await;
        let of = deployment(&connection(&store, tenant, "one").await, "a");
        inserted(&store, std::slice::from_ref(&of)).await;
        // A day's budget on the first day of a period.
        let first = reservation(&of, 100, 30, 1);
        assert_eq!(store.reserve(&first).await.unwrap(), Reserved::Yes);
        store.settle(&[end(&of, 30, Some(first))]).await.unwrap();
        // It is taken away, calls go on, and it is set again.
        store.settle(&[end(&of, 50, None)]).await.unwrap();
        let again = |tokens| reservation(&of, 100, tokens, 20);
        assert!(matches!(store.reserve(&again(21)).await.unwrap(), Reserved::Exhausted(_)));
        let fits = again(20);
        assert_eq!(store.reserve(&fits).await.unwrap(), Reserved::Yes);
        store.release(&fits).await.unwrap();
        // Two days later it becomes one of the month, which began with the same instant.
        let mut later = end(&of, 15, None);
        later.usage.at = at(2 * 86_400);
        store.settle(&[later]).await.unwrap();
        let month = |tokens| reservation(&of, 100, tokens, 2 * 86_400 + 1);
        assert!(matches!(store.reserve(&month(6)).await.unwrap(), Reserved::Exhausted(_)));
        assert_eq!(store.reserve(&month(5)).await.unwrap(), Reserved::Yes);
        // The day that began meanwhile has spent its own calls alone.
        let mut day = reservation(&of, 100, 80, 2 * 86_400 + 2);
        day.caps[0].period_start = at(2 * 86_400);
        assert_eq!(store.reserve(&day).await.unwrap(), Reserved::Yes);
        // All of an organisation's calls count towards its own.
        let mut whole = reservation(&of, 95, 1, 2 * 86_400 + 3);
        whole.caps[0].scope = BudgetScope::Organisation;
        assert!(matches!(
            store.reserve(&whole).await.unwrap(),
            Reserved::Exhausted(BudgetScope::Organisation)
        ));
    });
}
