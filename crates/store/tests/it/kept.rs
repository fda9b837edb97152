//! Statements whose plan the connection keeps.

use diesel::sql_types::{BigInt, Text};
use diesel::{ExpressionMethods, QueryDsl, QueryableByName, sql_query};
use diesel_async::RunQueryDsl;
use heddle_kernel::Timestamp;
use heddle_store::schema::tombstones;
use heddle_store::{At, DbUuid, Id, fixed, read, update, write_tx};
use heddle_testkit::on_both;
use uuid::Uuid;

const TENANT: Id = Id(Uuid::from_u128(1));

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    rows: i64,
}

#[tokio::test]
async fn an_update_and_fixed_words_do_what_they_say_and_are_planned_once() {
    on_both!(|db| {
        let at = |number: i64| At(Timestamp::from_micros(number));
        write_tx!(&db, |conn| {
            for number in 1..=3 {
                let row = (
                    tombstones::organization_id.eq(TENANT),
                    tombstones::kind.eq("workflow"),
                    tombstones::id.eq(Id(Uuid::from_u128(number))),
                    tombstones::deleted_at.eq(at(1)),
                );
                diesel::insert_into(tombstones::table).values(row).execute(conn).await?;
            }
            for number in [1, 2] {
                let row = tombstones::table.find((TENANT, "workflow", Id(Uuid::from_u128(number))));
                let met = update(row).set(tombstones::deleted_at.eq(at(7))).execute(conn).await?;
                assert_eq!(met, 1);
            }
            let none = tombstones::table.filter(tombstones::kind.eq("none"));
            assert_eq!(update(none).set(tombstones::deleted_at.eq(at(9))).execute(conn).await?, 0);
            Ok(())
        })
        .unwrap();
        let changed = read!(&db, |conn| {
            let changed = tombstones::table.filter(tombstones::deleted_at.eq(at(7)));
            Ok(changed.count().get_result::<i64>(conn).await?)
        });
        assert_eq!(changed.unwrap(), 2);
        for (kind, expected) in [("workflow", 3), ("workflow' OR '' = '", 0)] {
            let found: Count = read!(&db, |conn| {
                let rows = fixed("SELECT count(*) AS rows FROM tombstones WHERE organization_id = ")
                    .bind::<DbUuid, _>(TENANT, " AND kind = ")
                    .bind::<Text, _>(kind, " AND 1 = 1");
                Ok(rows.get_result(conn).await?)
            })
            .unwrap();
            assert_eq!(found.rows, expected, "{kind}");
        }
        if db.postgres().is_some() {
            let kept: Count = read!(&db, |conn| {
                let of_row = update(tombstones::table.find((TENANT, "workflow", TENANT)));
                of_row.set(tombstones::deleted_at.eq(at(8))).execute(conn).await?;
                let count = fixed("SELECT count(*) AS rows FROM tombstones WHERE kind = ");
                count.bind::<Text, _>("kind", "").get_result::<Count>(conn).await?;
                let text = "SELECT count(*) AS rows FROM pg_prepared_statements \
                     WHERE statement LIKE 'UPDATE \"tombstones\"%\"id\" = %' \
                         OR statement LIKE '% FROM tombstones WHERE kind = $1'";
                Ok(sql_query(text).get_result(conn).await?)
            })
            .unwrap();
            assert_eq!(kept.rows, 2);
        }
    });
}
