//! Lists and conditions: what is denied is not shown, and two organisations with the same names never meet.

use heddle_kernel::{DatabaseName, PageRequest, VectorDatabaseId};
use heddle_policy::{AccessFilter, resource};
use heddle_store_vectors::SqlVectorStore;
use heddle_testkit::on_both;
use heddle_usecase::StoreError;
use heddle_vectors::ports::{
    DatabaseFilter, FieldCondition, FieldTest, FieldValue, FileFilter, FileUpload, JobFilter, PassageStore,
    Quotas, VectorStore,
};
use heddle_vectors::records::{JobKind, VectorDatabase};

use crate::support::*;

#[tokio::test]
async fn what_is_denied_is_not_listed_and_organisations_are_apart() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let (own, other) = (organization(&db).await, organization(&db).await);
        let page = PageRequest { limit: 1, cursor: None };
        let of = database(&store, own, "manuals").await;
        database(&store, other, "manuals").await;
        let (one, _, _) = uploaded(&store, &of, "a.txt").await;
        let (two, _, _) = uploaded(&store, &of, "b.txt").await;
        let everything = AccessFilter::<resource::Document>::everything();
        let files = store.list_files(&of, &FileFilter::default(), &everything, &page).await.unwrap();
        assert_eq!((files.items[0].id, files.next.is_some()), (two.id, true), "the newest first");
        let denied = AccessFilter::<resource::Document>::everything().but([two.id]);
        let files = store.list_files(&of, &FileFilter::default(), &denied, &page).await.unwrap();
        assert_eq!((files.items[0].id, files.next), (one.id, None));
        let within = AccessFilter::<resource::Document>::everything()
            .but_within::<resource::VectorDatabase>([of.name.clone()]);
        let files = store.list_files(&of, &FileFilter::default(), &within, &page).await.unwrap();
        assert_eq!(files.items, []);
        let all = AccessFilter::<resource::VectorDatabase>::everything();
        let databases = store.list_databases(own, &DatabaseFilter::default(), &all, &page).await.unwrap();
        assert_eq!((databases.items[0].id, databases.next.is_some()), (of.id, false));
        let none = AccessFilter::only([DatabaseName::parse("others").unwrap()]);
        let databases = store.list_databases(own, &DatabaseFilter::default(), &none, &page).await.unwrap();
        assert_eq!(databases.items, []);
        let jobs = AccessFilter::<resource::IngestionJob>::everything()
            .but_within::<resource::VectorDatabase>([of.name.clone()]);
        let jobs = store.list_jobs(own, &JobFilter::default(), &jobs, &page).await.unwrap();
        assert_eq!(jobs.items, []);
    });
}

#[tokio::test]
async fn files_are_found_by_the_values_of_their_metadata() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let job = job(&of, JobKind::Upload, 1);
        let file = file(&of, &job, "a.txt");
        let build = build(&file, &job, 1);
        let upload = FileUpload {
            database: of.id,
            files: std::slice::from_ref(&file),
            job: &job,
            builds: std::slice::from_ref(&build),
            quotas: Quotas::default(),
        };
        let year = "metadata.year".to_owned();
        let tag = "metadata.tag".to_owned();
        let fields = vec![
            (year.clone(), FieldValue::Number(2024.0)),
            (tag.clone(), FieldValue::Text("50%_off".to_owned())),
        ];
        store.insert_files(upload, &[fields], &unit(of.tenant)).await.unwrap();
        let text = |text: &str| FieldTest::Contains(text.to_owned());
        for (field, test, is_found) in [
            (&year, FieldTest::Above(FieldValue::Number(2024.0), true), true),
            (&year, FieldTest::Above(FieldValue::Number(2024.0), false), false),
            (&year, FieldTest::Below(FieldValue::Number(-1.0), false), false),
            (&year, FieldTest::In(vec![FieldValue::Text("2024".to_owned())]), false),
            (&year, FieldTest::Exists, true),
            (&tag, text("0%_o"), true),
            (&tag, text("0xxo"), false),
            (&tag, text("OFF"), false),
        ] {
            let condition = FieldCondition { field: field.clone(), test };
            let found = store.files_where(of.tenant, of.id, &condition).await.unwrap();
            assert_eq!(found.contains(&file.id), is_found, "{condition:?}");
            let page = PageRequest::default();
            let filter = FileFilter { metadata: vec![condition.clone()], ..FileFilter::default() };
            let listed = store.list_files(&of, &filter, &AccessFilter::everything(), &page).await.unwrap();
            assert_eq!(listed.items.len(), usize::from(is_found), "{condition:?}");
        }
    });
}

#[tokio::test]
async fn databases_of_all_organisations_are_counted_as_they_come_and_go() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let before = store.databases_in_all().await.unwrap();
        let (own, other) = (organization(&db).await, organization(&db).await);
        let of = database(&store, own, "manuals").await;
        database(&store, other, "manuals").await;
        assert_eq!(store.databases_in_all().await.unwrap(), before + 2);
        let most = Quotas { licensed_databases: Some(before + 2), ..Quotas::default() };
        let third =
            VectorDatabase { id: id(VectorDatabaseId), name: DatabaseName::parse("third").unwrap(), ..of };
        let refused = store.insert_database(&third, &most, &unit(own)).await;
        assert!(
            matches!(refused, Err(StoreError::QuotaExceeded { limit: "licensedDatabases", .. })),
            "{refused:?}"
        );
        let name = DatabaseName::parse("manuals").unwrap();
        store.delete_database(own, &name, None, &unit(own)).await.unwrap();
        assert_eq!(store.databases_in_all().await.unwrap(), before + 1);
        store.insert_database(&third, &most, &unit(own)).await.unwrap();
    });
}
