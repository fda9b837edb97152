//! Migrations go up, down and up again, and make the same schema on both databases.

use std::collections::{BTreeMap, BTreeSet};

use diesel::sql_query;
use diesel::sql_types::{Bool, Nullable, Text};
use diesel_async::RunQueryDsl;
use heddle_kernel::Timestamp;
use heddle_store::{Db, MigrateError, read, write_tx};
use heddle_testkit::db::{TestDb, migrations};

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

#[tokio::test]
async fn up_down_up() {
    let mut all = vec![TestDb::sqlite_empty().await];
    all.extend(TestDb::postgres_empty().await);
    for test_db in all {
        let db = test_db.db();
        assert_eq!(
            db.migrations_pending(&migrations()).await.unwrap(),
            migrations().names(),
            "{}",
            test_db.kind()
        );
        assert_eq!(db.migrate(&migrations(), NOW).await.unwrap(), migrations().names());
        assert!(
            db.migrate(&migrations(), NOW).await.unwrap().is_empty(),
            "a second time there is nothing to do"
        );
        let first = introspect(db).await;
        db.migrate_down(&migrations()).await.unwrap();
        assert_eq!(introspect(db).await.keys().collect::<Vec<_>>(), ["schema_migrations"]);
        db.migrate(&migrations(), NOW).await.unwrap();
        assert_eq!(introspect(db).await, first);
        assert!(db.migrations_pending(&migrations()).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn several_that_migrate_at_once_do_it_once() {
    let mut all = vec![TestDb::sqlite_empty().await];
    all.extend(TestDb::postgres_empty().await);
    for test_db in all {
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let db = test_db.db().clone();
                tokio::spawn(async move { db.migrate(&migrations(), NOW).await.unwrap().len() })
            })
            .collect();
        let mut done = 0;
        for task in tasks {
            done += task.await.unwrap();
        }
        assert_eq!(done, migrations().names().len(), "{}", test_db.kind());
    }
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    for test_db in TestDb::both().await {
        let db = test_db.db();
        let insert = "INSERT INTO schema_migrations SELECT '20991231000000_later', applied_at FROM schema_migrations LIMIT 1";
        write_tx!(db, |conn| Ok(sql_query(insert).execute(conn).await?)).unwrap();
        assert!(
            matches!(db.migrate(&migrations(), NOW).await, Err(MigrateError::Newer(names)) if names.len() == 1)
        );
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    /// Name and type word, with `?` where null is taken.
    columns: Vec<String>,
    primary_key: String,
    /// Unique or not, columns, condition.
    indexes: BTreeSet<String>,
    foreign_keys: BTreeSet<String>,
}

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Text)]
    in_table: String,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    detail: String,
    #[diesel(sql_type = Nullable<Bool>)]
    flag: Option<bool>,
    #[diesel(sql_type = Nullable<Text>)]
    condition: Option<String>,
}

/// Columns in order, keys and indexes of each table, in words that are the same for both databases.
async fn introspect(db: &Db) -> BTreeMap<String, Table> {
    let query = if db.sqlite().is_some() { SQLITE } else { POSTGRES };
    let rows: Vec<Row> = read!(db, |conn| Ok(sql_query(query).load(conn).await?)).unwrap();
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    for row in rows {
        let table = tables.entry(row.in_table).or_default();
        match row.kind.as_str() {
            "column" => {
                let null = if row.flag == Some(true) { "" } else { "?" };
                table.columns.push(format!("{} {}{null}", row.name, word(&row.detail)));
            }
            "primary" => table.primary_key = row.detail,
            "index" => {
                let unique = if row.flag == Some(true) { "unique " } else { "" };
                // SQLite keeps the statement, PostgreSQL the condition, in parentheses of its own.
                let condition = row.condition.unwrap_or_default();
                let condition = condition.split(" WHERE ").last().filter(|text| !text.starts_with("CREATE"));
                let condition = condition.unwrap_or_default().replace("::text", "").replace(['(', ')'], "");
                table.indexes.insert(format!("{unique}({}) {condition}", row.detail));
            }
            "foreign" => {
                table.foreign_keys.insert(row.detail);
            }
            other => panic!("{other}"),
        }
    }
    tables
}

fn word(sql_type: &str) -> &str {
    match sql_type {
        "BLOB" | "uuid" | "bytea" => "bytes",
        "INTEGER" | "integer" | "bigint" | "boolean" | "timestamp with time zone" => "number",
        "TEXT" | "text C" | "jsonb" => "text",
        other => other,
    }
}

const SQLITE: &str = "
    SELECT 'column' AS kind, t.name AS in_table, c.name, c.type AS detail, c.\"notnull\" AS flag, NULL AS condition
    FROM (SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%') t,
        pragma_table_info(t.name) c
    UNION ALL
    SELECT 'primary', name, '', (SELECT group_concat(c.name, ', ' ORDER BY c.pk) FROM pragma_table_info(m.name) c
        WHERE c.pk > 0), NULL, NULL
    FROM sqlite_master m WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
    UNION ALL
    SELECT 'index', m.name, i.name,
        (SELECT group_concat(x.name || CASE x.\"desc\" WHEN 1 THEN ' DESC' ELSE '' END, ', ' ORDER BY x.seqno)
         FROM pragma_index_xinfo(i.name) x WHERE x.key = 1),
        i.\"unique\", (SELECT s.sql FROM sqlite_master s WHERE s.name = i.name)
    FROM sqlite_master m, pragma_index_list(m.name) i
    WHERE m.type = 'table' AND i.origin <> 'pk'
    UNION ALL
    SELECT 'foreign', m.name, '',
        (SELECT group_concat(g.\"from\", ', ' ORDER BY g.seq) || ' > ' || max(g.\"table\") || ' '
            || group_concat(g.\"to\", ', ' ORDER BY g.seq) || ' ' || max(g.on_delete)
         FROM pragma_foreign_key_list(m.name) g WHERE g.id = f.id), NULL, NULL
    FROM sqlite_master m, pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table' AND f.seq = 0";

const POSTGRES: &str = "
    SELECT 'column' AS kind, c.table_name::text AS in_table, c.column_name::text AS name,
        concat_ws(' ', c.data_type, c.collation_name) AS detail, c.is_nullable = 'NO' AS flag, NULL::text AS condition
    FROM (SELECT * FROM information_schema.columns WHERE table_schema = current_schema()
          ORDER BY table_name, ordinal_position) c
    UNION ALL
    SELECT CASE WHEN i.indisprimary THEN 'primary' ELSE 'index' END, i.indrelid::regclass::text, i.indexrelid::regclass::text,
        (SELECT string_agg(a.attname || CASE WHEN pg_index_column_has_property(i.indexrelid, k.n::int, 'desc')
            THEN ' DESC' ELSE '' END, ', ' ORDER BY k.n)
         FROM unnest(i.indkey::int[]) WITH ORDINALITY k(attnum, n)
         JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum),
        i.indisunique, pg_get_expr(i.indpred, i.indrelid)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    WHERE c.relnamespace = current_schema()::regnamespace
    UNION ALL
    SELECT 'foreign', f.conrelid::regclass::text, '',
        (SELECT string_agg(a.attname, ', ' ORDER BY k.n) FROM unnest(f.conkey) WITH ORDINALITY k(attnum, n)
         JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.attnum)
        || ' > ' || f.confrelid::regclass::text || ' ' ||
        (SELECT string_agg(a.attname, ', ' ORDER BY k.n) FROM unnest(f.confkey) WITH ORDINALITY k(attnum, n)
         JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.attnum)
        || CASE f.confdeltype WHEN 'c' THEN ' CASCADE' ELSE ' NO ACTION' END, NULL, NULL
    FROM pg_constraint f
    WHERE f.contype = 'f' AND f.connamespace = current_schema()::regnamespace";

#[tokio::test]
async fn both_databases_have_the_same_tables_columns_keys_and_indexes() {
    let Some(postgres) = TestDb::postgres().await else { return };
    let postgres = introspect(postgres.db()).await;
    let sqlite = TestDb::sqlite().await;
    let sqlite = introspect(sqlite.db()).await;
    assert!(sqlite.len() > 15, "{:?}", sqlite.keys());
    assert_eq!(sqlite.keys().collect::<Vec<_>>(), postgres.keys().collect::<Vec<_>>());
    for (name, table) in &sqlite {
        assert!(!table.primary_key.is_empty(), "{name} has a key");
        assert_eq!(table, &postgres[name], "{name}");
    }
}

#[tokio::test]
async fn every_key_of_a_tenants_table_begins_with_the_organisation() {
    let sqlite = TestDb::sqlite().await;
    for (name, table) in introspect(sqlite.db()).await {
        if table.columns[0].starts_with("organization_id ") {
            assert!(table.primary_key.starts_with("organization_id"), "{name}: {}", table.primary_key);
        }
    }
}
