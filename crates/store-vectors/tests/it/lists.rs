//! Lists and conditions: what is denied is not shown, and two organisations with the same names never meet.

use heddle_kernel::{DatabaseName, PageRequest, VectorDatabaseId};
use heddle_policy::{AccessFilter, resource};
use heddle_store_vectors::SqlVectorStore;
use heddle_testkit::on_both;
use heddle_usecase::StoreError;
use heddle_vectors::ports::{
    Cut, DatabaseFilter, FieldCondition, FieldTest, FieldValue, FileFilter, FileUpload, IngestStore,
    JobFilter, PassageStore, Quotas, Sort, VectorStore,
};
use heddle_vectors::records::{FileState, JobKind, VectorDatabase};

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
async fn a_text_that_few_names_contain_is_found_page_by_page() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let (first, _, _) = uploaded(&store, &of, "a needle.txt").await;
        copied(&db, &first, 10_500).await;
        let (last, _, _) = uploaded(&store, &of, "z needle.txt").await;
        for (sort, nearer, farther) in [(None, last.id, first.id), (Some(Sort::Name), first.id, last.id)] {
            let filter = FileFilter { q: Some("NEEDLE".to_owned()), sort, ..FileFilter::default() };
            let mut page = PageRequest { limit: 5, cursor: None };
            let mut pages = Vec::new();
            loop {
                let found = store.list_files(&of, &filter, &AccessFilter::everything(), &page).await.unwrap();
                pages.push(found.items.iter().map(|file| file.id).collect::<Vec<_>>());
                let Some(next) = found.next else { break };
                page.cursor = Some(next);
            }
            assert_eq!(pages, [[nearer], [farther]], "{sort:?}");
            // A page that is full ends where it is.
            let all = FileFilter { q: Some("txt".to_owned()), sort, ..FileFilter::default() };
            let page = PageRequest { limit: 5, cursor: None };
            let found = store.list_files(&of, &all, &AccessFilter::everything(), &page).await.unwrap();
            assert_eq!((found.items.len(), found.items[0].id), (5, nearer));
            let page = PageRequest { limit: 5, cursor: found.next };
            let next = store.list_files(&of, &all, &AccessFilter::everything(), &page).await.unwrap();
            assert_eq!(next.items.len(), 5);
            assert!(found.items.iter().all(|one| next.items.iter().all(|other| other.id != one.id)));
        }
    });
}

/// A text of 1,000 characters that no database packs small, in three bytes each.
fn long_text(seed: u32) -> String {
    let letter = |n: u32| {
        let mixed = (n + seed).wrapping_mul(2_654_435_761).rotate_left(n % 31);
        char::from_u32(0x4E00 + mixed % 20_000)
    };
    (0..1_000).filter_map(letter).collect()
}

#[tokio::test]
async fn the_longest_texts_are_kept_and_told_apart_to_their_ends() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let (one, _, _) = uploaded(&store, &of, "a.txt").await;
        let (other, _, _) = uploaded(&store, &of, "b.txt").await;
        let note = "metadata.note".to_owned();
        // Alike but for the last character, and both of them texts of one file.
        let (lower, higher) = (long_text(1) + "a", long_text(1) + "b");
        let value = |text: &str| FieldValue::Text(text.to_owned());
        for (file, texts) in [(&one, vec![&lower, &higher]), (&other, vec![&higher])] {
            let fields: Vec<_> = texts.into_iter().map(|text| (note.clone(), value(text))).collect();
            let mut changed = file.clone();
            changed.revision = file.revision.next();
            let write = patched(&changed, &fields, None);
            store.update_file(write, file.revision, &unit(of.tenant)).await.unwrap();
        }
        let is = |text: &str| FieldTest::In(vec![value(text)]);
        let holds = |text: &str| FieldTest::Contains(text.to_owned());
        let end: String = lower.chars().skip(990).collect();
        let (both, first, none) = (vec![one.id, other.id], vec![one.id], Vec::new());
        for (test, expected) in [
            (is(&lower), &first),
            (is(&higher), &both),
            (is(&long_text(1)), &none),
            (FieldTest::In(vec![value(&lower), value("x")]), &first),
            (FieldTest::Below(value(&higher), false), &first),
            (FieldTest::Below(value(&lower), true), &first),
            (FieldTest::Below(value(&lower), false), &none),
            (FieldTest::Above(value(&lower), false), &both),
            (FieldTest::Above(value(&higher), false), &none),
            (FieldTest::Above(value(&long_text(1)), true), &both),
            (holds(&end), &first),
            (holds("s:"), &none),
        ] {
            let condition = FieldCondition { field: note.clone(), test };
            let mut found = store.files_where(of.tenant, of.id, &condition).await.unwrap();
            found.sort_unstable();
            assert_eq!(&found, expected, "{condition:?}");
            let filter = FileFilter { metadata: vec![condition.clone()], ..FileFilter::default() };
            let everything = AccessFilter::everything();
            let listed = store.list_files(&of, &filter, &everything, &PageRequest::default()).await.unwrap();
            assert_eq!(listed.items.len(), expected.len(), "{condition:?}");
        }
    });
}

#[tokio::test]
async fn files_are_found_by_their_whole_name_and_by_the_title_that_they_say() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let (file, _, build) = uploaded(&store, &of, "a.txt").await;
        let _ = uploaded(&store, &of, "aa.txt").await;
        let found = async |filter: FileFilter| {
            let page = PageRequest::default();
            let listed = store.list_files(&of, &filter, &AccessFilter::everything(), &page).await.unwrap();
            listed.items.into_iter().map(|file| file.id).collect::<Vec<_>>()
        };
        let named = |name: &str| FileFilter { name: Some(name.to_owned()), ..FileFilter::default() };
        assert_eq!(found(named("a.txt")).await, [file.id], "of that name alone");
        assert_eq!(found(named("A.txt")).await, []);
        let about = |q: &str| FileFilter { q: Some(q.to_owned()), ..FileFilter::default() };
        assert_eq!(found(about("ÜBER Webst")).await, []);
        let claimed = store.claim(of.tenant, build.id, &node(), at(2)).await.unwrap().unwrap();
        let cut = Cut { title: Some("Über Webstühle".to_owned()), ..cut(3) };
        store.cut(&claimed.build, &cut, at(2)).await.unwrap();
        assert_eq!(found(about("ÜBER Webst")).await, [file.id]);
        assert_eq!(found(about("A.TXT")).await.len(), 2, "and by the name as before");
    });
}

#[tokio::test]
async fn files_of_one_value_come_page_by_page_and_a_change_of_values_is_counted() {
    on_both!(|db| {
        let store = SqlVectorStore::new(db.clone());
        let of = database(&store, organization(&db).await, "manuals").await;
        let job = job(&of, JobKind::Upload, 12);
        let files: Vec<_> = (0..12).map(|number| file(&of, &job, &format!("{number:02}.txt"))).collect();
        let builds: Vec<_> = files.iter().map(|file| build(file, &job, 1)).collect();
        let upload = FileUpload {
            database: of.id,
            files: &files,
            job: &job,
            builds: &builds,
            quotas: Quotas::default(),
        };
        let (kind, year) = ("metadata.kind".to_owned(), "metadata.year".to_owned());
        let named = |name: &str| FieldValue::Text(name.to_owned());
        let values = |number: usize| {
            // Every file has a second kind: one value of several is a value.
            let own = if number.is_multiple_of(3) { "rare" } else { "usual" };
            vec![
                (kind.clone(), named(own)),
                (kind.clone(), named("any")),
                (year.clone(), FieldValue::Number(number as f64)),
            ]
        };
        let fields: Vec<_> = (0..12).map(values).collect();
        let before = store.position(of.tenant, of.id).await.unwrap();
        store.insert_files(upload, &fields, &unit(of.tenant)).await.unwrap();
        let there = store.position(of.tenant, of.id).await.unwrap();
        assert_eq!((there.sequence, there.fields), (before.sequence, before.fields + 1));
        let is = |name: &str| FieldCondition { field: kind.clone(), test: FieldTest::In(vec![named(name)]) };
        let from = |number: f64| FieldCondition {
            field: year.clone(),
            test: FieldTest::Above(FieldValue::Number(number), true),
        };
        let everything = AccessFilter::<resource::Document>::everything;
        for (metadata, sort, access, expected) in [
            (vec![is("rare")], None, everything(), vec![9, 6, 3, 0]),
            (vec![is("any"), is("rare")], None, everything(), vec![9, 6, 3, 0]),
            (vec![from(5.0), is("rare")], None, everything(), vec![9, 6]),
            (vec![is("rare")], Some(Sort::Name), everything(), vec![0, 3, 6, 9]),
            (vec![is("rare")], None, everything().but([files[6].id]), vec![9, 3, 0]),
            (vec![is("none")], None, everything(), vec![]),
        ] {
            let filter = FileFilter { metadata, sort, ..FileFilter::default() };
            let (mut page, mut found) = (PageRequest { limit: 2, cursor: None }, Vec::new());
            loop {
                let listed = store.list_files(&of, &filter, &access, &page).await.unwrap();
                assert!(listed.items.len() <= 2);
                found.extend(listed.items.iter().map(|file| file.id));
                let Some(next) = listed.next else { break };
                page.cursor = Some(next);
            }
            let expected: Vec<_> = expected.into_iter().map(|number: usize| files[number].id).collect();
            assert_eq!(found, expected, "{filter:?}");
        }
        let queued =
            FileFilter { state: Some(FileState::Ready), metadata: vec![is("any")], ..FileFilter::default() };
        let none = store.list_files(&of, &queued, &everything(), &PageRequest::default()).await.unwrap();
        assert_eq!(none.items, []);
        // The same values once more are no change of them.
        let mut number = there.fields;
        let mut changed = files[1].clone();
        for (values, more) in [(values(1), 0), (values(3), 1), (Vec::new(), 1)] {
            let revision = changed.revision;
            changed.revision = revision.next();
            let write = patched(&changed, &values, None);
            store.update_file(write, revision, &unit(of.tenant)).await.unwrap();
            number += more;
            let there = store.position(of.tenant, of.id).await.unwrap();
            assert_eq!((there.sequence, there.fields), (before.sequence, number));
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
