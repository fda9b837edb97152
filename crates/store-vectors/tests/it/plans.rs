//! Plans of SQLite: what is asked for of one file is found by the file, however many the database has.

use heddle_testkit::on_both;

#[derive(diesel::QueryableByName)]
struct Step {
    #[diesel(sql_type = diesel::sql_types::Text)]
    detail: String,
}

/// Left to itself SQLite takes an index that has all columns of a query, be it by the database alone: each upload, change and
/// deletion of a file went through the values of all files then.
#[tokio::test]
async fn sqlite_finds_what_is_of_a_file_by_the_file() {
    on_both!(|db| {
        if db.sqlite().is_none() {
            return;
        }
        for (query, wanted) in [
            (
                "SELECT field, value FROM vector_fields WHERE organization_id = ? AND database_id = ? AND file_id = ?",
                "(organization_id=? AND database_id=? AND file_id=?)",
            ),
            (
                "SELECT * FROM vector_live WHERE organization_id = ? AND database_id = ? AND file_id = ?",
                "(organization_id=? AND database_id=? AND file_id=?)",
            ),
            (
                "SELECT * FROM vector_builds WHERE organization_id = ? AND database_id = ? AND file_id = ? AND state IN ('queued', 'running')",
                "(organization_id=? AND database_id=? AND file_id=?)",
            ),
            (
                "SELECT id FROM vector_passages WHERE organization_id = ? AND database_id = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?",
                "(organization_id=? AND database_id=? AND id>? AND id<?)",
            ),
        ] {
            let plan: Vec<Step> = heddle_store::read!(&db, |conn| {
                let explained = diesel::sql_query(format!("EXPLAIN QUERY PLAN {query}"));
                Ok(diesel_async::RunQueryDsl::load(explained, conn).await?)
            })
            .unwrap();
            let first = plan.first().map_or("", |step| step.detail.as_str());
            assert!(first.starts_with("SEARCH") && first.contains(wanted), "{query}: {first}");
        }
    });
}
