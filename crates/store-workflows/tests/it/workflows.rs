//! Workflows, versions, stars, files and deletion.

use heddle_definitions::{DefinitionAccess, DefinitionKey};
use heddle_kernel::{CaseTypeId, DefinitionKind, PageRequest, Patch, Revision, UserId, WorkflowId};
use heddle_policy::AccessFilter;
use heddle_policy::resource::CaseType;
use heddle_testkit::on_both;
use heddle_usecase::Journal;
use heddle_usecase::StoreError;
use heddle_workflows::ports::{
    DefinitionStore, Deleted, PublishWrite, RunStore, SourceQuota, WorkflowFilter, WorkflowWrite,
};
use heddle_workflows::records::{
    BindingKind, Draft, ImportSource, StartBinding, Version, VersionChoice, Workflow, WorkflowState,
};
use serde_json::json;

use crate::support::*;

fn next(workflow: &Workflow) -> Workflow {
    Workflow { revision: workflow.revision.next(), ..workflow.clone() }
}

#[tokio::test]
async fn a_workflow_is_read_as_it_was_written() {
    on_both!(|db| {
        let (workflows, _) = stores(&db);
        let t = tenant();
        let user = id(UserId);
        let definition = json!({"nodes": [{"id": "a", "label": null}], "zero": "\u{0}"});
        for (n, draft, folder) in [
            (0, Patch::Absent, Patch::Absent),
            (1, Patch::Null, Patch::Null),
            (2, Patch::Value(definition), Patch::Value("f".to_owned())),
        ] {
            let new = Workflow {
                description: "d".to_owned(),
                folder_id: folder,
                draft_hash: Some("h".to_owned()),
                ..workflow(t, &format!("w{n}"))
            };
            workflows.insert(write(&new, Some(&draft)), &unit(t, at(0))).await.unwrap();
            let view = workflows.get(key(t, new.id), user).await.unwrap();
            assert_eq!((&view.definition, view.starred), (&new, false));
            assert_eq!(workflows.draft(key(t, new.id)).await.unwrap(), draft);
            assert_eq!(workflows.standing(key(t, new.id)).await.unwrap(), (WorkflowState::Draft, None));
            let changed = Workflow {
                slug: format!("x{n}"),
                display_name: "Other".to_owned(),
                folder_id: Patch::Null,
                draft_revision: Revision(2),
                draft_hash: None,
                updated_at: at(5),
                updated_by: user,
                ..next(&new)
            };
            workflows.update(write(&changed, None), &unit(t, at(5))).await.unwrap();
            assert_eq!(workflows.get(key(t, new.id), user).await.unwrap().definition, changed);
            assert_eq!(workflows.draft(key(t, new.id)).await.unwrap(), draft, "stays");
            let cleared = next(&changed);
            workflows.update(write(&cleared, Some(&Draft::Absent)), &Journal::default()).await.unwrap();
            assert_eq!(workflows.draft(key(t, new.id)).await.unwrap(), Draft::Absent);
        }
        assert_eq!(count(&db, "audit_unsealed").await, 6);
    });
}

#[tokio::test]
async fn a_slug_is_the_organisations_own() {
    on_both!(|db| {
        let (workflows, _) = stores(&db);
        let t = tenant();
        let (a, b) = (workflow(t, "a"), workflow(t, "b"));
        for new in [&a, &b, &workflow(tenant(), "a")] {
            workflows.insert(write(new, None), &Journal::default()).await.unwrap();
        }
        let taken = Err(StoreError::Duplicate("slug".to_owned()));
        let unit = unit(t, at(0));
        assert_eq!(workflows.insert(write(&workflow(t, "a"), None), &unit).await, taken);
        let renamed = Workflow { slug: "a".to_owned(), ..next(&b) };
        assert_eq!(workflows.update(write(&renamed, None), &unit).await, taken);
        assert_eq!(count(&db, "audit_unsealed").await, 0);
        assert_eq!(workflows.get(key(t, b.id), id(UserId)).await.unwrap().definition, b);
    });
}

#[tokio::test]
async fn a_change_needs_the_present_revision_and_the_organisation() {
    on_both!(|db| {
        let (workflows, _) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (unit, user, foreign) = (unit(flow.tenant, at(0)), id(UserId), tenant());
        let stale = WorkflowWrite { expected: Some(Revision(5)), ..write(&flow, None) };
        assert_eq!(workflows.update(stale, &unit).await, Err(StoreError::Stale));
        let theirs = Workflow { tenant: foreign, ..next(&flow) };
        let unknown = Workflow { id: id(WorkflowId), ..next(&flow) };
        for lost in [&theirs, &unknown] {
            assert_eq!(workflows.update(write(lost, None), &unit).await, Err(StoreError::NotFound));
        }
        assert_eq!(workflows.get(key(foreign, flow.id), user).await.unwrap_err(), StoreError::NotFound);
        assert_eq!(workflows.draft(key(foreign, flow.id)).await, Err(StoreError::NotFound));
        assert_eq!(workflows.standing(key(foreign, flow.id)).await, Err(StoreError::NotFound));
        assert_eq!(workflows.source(key(foreign, flow.id)).await, Err(StoreError::NotFound));
        assert_eq!(workflows.versions(key(foreign, flow.id), &page(9)).await, Err(StoreError::NotFound));
        assert_eq!(workflows.version(key(foreign, flow.id), 1).await, Err(StoreError::NotFound));
        assert_eq!(workflows.star(key(foreign, flow.id), user, true, &unit).await, Err(StoreError::NotFound));
        assert_eq!(
            workflows.star(key(foreign, flow.id), user, false, &unit).await,
            Err(StoreError::NotFound)
        );
        assert_eq!(workflows.delete(key(foreign, flow.id), None, &unit).await, Err(StoreError::NotFound));
        assert_eq!(count(&db, "audit_unsealed").await, 0);
    });
}

pub(crate) fn version(number: i32) -> Version {
    Version {
        number,
        hash: format!("h{number}"),
        published_at: at(i64::from(number)),
        published_by: id(UserId),
        change_note: (number == 2).then(|| "note".to_owned()),
        active: true,
        lane_groups: number == 2,
        edition: if number == 2 { 1 } else { 2 },
    }
}

#[tokio::test]
async fn publishing_moves_the_active_version_and_the_starts() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let mut flow = workflow(tenant(), "a");
        workflows.insert(write(&flow, None), &Journal::default()).await.unwrap();
        let t = flow.tenant;
        for number in 1..=3 {
            let expected = flow.revision;
            flow = Workflow {
                state: WorkflowState::Published,
                published_version: Some(number),
                published_hash: Some(format!("h{number}")),
                ..next(&flow)
            };
            let binding = StartBinding { version: number, ..binding(&flow, BindingKind::Message, "m") };
            let publish = PublishWrite {
                definition: &flow,
                expected,
                version: &version(number),
                document: &json!({"n": number}),
                starts: &starts(std::slice::from_ref(&binding)),
                callable: &[],
            };
            workflows.publish(publish.clone(), &unit(t, at(0))).await.unwrap();
            assert_eq!(workflows.publish(publish, &Journal::default()).await, Err(StoreError::Stale));
            assert_eq!(runs.matching_starts(t, BindingKind::Message, "m").await.unwrap(), [binding]);
        }
        assert_eq!(workflows.get(key(t, flow.id), id(UserId)).await.unwrap().definition, flow);
        assert_eq!(workflows.standing(key(t, flow.id)).await.unwrap(), (WorkflowState::Published, Some(3)));
        let first = workflows.versions(key(t, flow.id), &page(2)).await.unwrap();
        let rest = PageRequest { limit: 2, cursor: first.next };
        let rest = workflows.versions(key(t, flow.id), &rest).await.unwrap();
        let all = first.items.iter().chain(&rest.items);
        let numbers: Vec<_> = all.map(|v| (v.number, v.active, v.lane_groups)).collect();
        assert_eq!(numbers, [(3, true, false), (2, false, true), (1, false, false)]);
        assert!(rest.next.is_none());
        let (second, definition) = workflows.version(key(t, flow.id), 2).await.unwrap();
        assert_eq!((second.change_note.as_deref(), definition), (Some("note"), json!({"n": 2})));
        assert!(second.lane_groups);
        assert_eq!((second.edition, first.items[0].edition), (1, 2));
        assert_eq!(workflows.version(key(t, flow.id), 4).await, Err(StoreError::NotFound));
        assert_eq!(count(&db, "audit_unsealed").await, 3);
    });
}

#[tokio::test]
async fn a_star_is_set_once_for_each_user() {
    on_both!(|db| {
        let (workflows, _) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let (ann, bob) = (id(UserId), id(UserId));
        for (user, starred, changes) in [
            (ann, true, true),
            (ann, true, false),
            (bob, false, false),
            (bob, true, true),
            (ann, false, true),
        ] {
            let unit = unit(flow.tenant, at(0));
            assert_eq!(workflows.star(key(flow.tenant, flow.id), user, starred, &unit).await, Ok(changes));
            assert_eq!(workflows.get(key(flow.tenant, flow.id), user).await.unwrap().starred, starred);
        }
        assert!(workflows.get(key(flow.tenant, flow.id), bob).await.unwrap().starred);
        assert_eq!(count(&db, "audit_unsealed").await, 3);
    });
}

fn file(letter: &str) -> ImportSource {
    ImportSource {
        sha256: letter.repeat(64),
        media_type: "application/xml".to_owned(),
        file_name: Some(format!("{letter}.bpmn")),
        bytes: vec![0, 255, 1],
    }
}

#[tokio::test]
async fn previewed_files_stay_within_the_quota_of_their_organisation() {
    on_both!(|db| {
        let (workflows, _) = stores(&db);
        let (t, other) = (tenant(), tenant());
        let keep = async |tenant, letter, length, second| {
            let file = ImportSource { bytes: vec![7; length], ..file(letter) };
            let quota = SourceQuota { files: 3, bytes: 100 };
            workflows.keep_source(tenant, &file, at(second), quota).await.unwrap();
        };
        // Whether a workflow that claims the file has it.
        let is_there = async |tenant, letter: &str, slug: &str| {
            let made = workflow(tenant, slug);
            let claims = [letter.repeat(64)];
            let write = WorkflowWrite { claims: &claims, ..write(&made, None) };
            workflows.insert(write, &Journal::default()).await.unwrap();
            workflows.source(key(tenant, made.id)).await.is_ok()
        };
        // What is claimed counts for nothing, however large it is.
        keep(t, "a", 90, 1).await;
        assert!(is_there(t, "a", "first").await);
        for (letter, second) in [("b", 2), ("c", 3), ("d", 4), ("e", 5)] {
            keep(t, letter, 10, second).await;
        }
        keep(other, "b", 10, 6).await;
        keep(t, "f", 85, 7).await;
        // `b` is the fourth of three; beside `f` there is room for `e` alone.
        for (letter, there) in
            [("a", true), ("b", false), ("c", false), ("d", false), ("e", true), ("f", true)]
        {
            assert_eq!(is_there(t, letter, &format!("of-{letter}")).await, there, "{letter}");
        }
        assert!(is_there(other, "b", "theirs").await, "another organisation has a quota of its own");
        keep(t, "g", 101, 8).await;
        assert!(is_there(t, "g", "large").await, "a file beyond the quota stands until the next one");
    });
}

#[tokio::test]
async fn a_claimed_file_stays_with_its_workflow() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let t = tenant();
        for letter in ["a", "b", "c"] {
            workflows.keep_source(t, &file(letter), at(10), SourceQuota::default()).await.unwrap();
        }
        let claims = ["a", "b", "x"].map(|letter| letter.repeat(64));
        let (one, two) = (workflow(t, "one"), workflow(t, "two"));
        let claiming = WorkflowWrite { claims: &claims, ..write(&one, None) };
        workflows.insert(claiming, &Journal::default()).await.unwrap();
        assert_eq!(workflows.source(key(t, one.id)).await.unwrap(), file("b"));
        workflows
            .insert(WorkflowWrite { claims: &claims[..1], ..write(&two, None) }, &Journal::default())
            .await
            .unwrap();
        // Previewing a claimed file again does not give it an end.
        workflows.keep_source(t, &file("a"), at(20), SourceQuota::default()).await.unwrap();
        workflows.keep_source(t, &file("c"), at(20), SourceQuota::default()).await.unwrap();
        assert_eq!(runs.sweep(at(10)).await.unwrap(), 0, "c was kept for longer");
        assert_eq!(runs.sweep(at(20)).await.unwrap(), 1);
        assert_eq!(workflows.source(key(t, two.id)).await.unwrap(), file("a"));
        let later = next(&one);
        let back = WorkflowWrite { claims: &claims[..1], ..write(&later, None) };
        workflows.update(back, &Journal::default()).await.unwrap();
        assert_eq!(workflows.source(key(t, one.id)).await.unwrap(), file("a"));
        // The other workflow's file outlives this one.
        assert_eq!(workflows.delete(key(t, one.id), None, &Journal::default()).await, Ok(Deleted::Now));
        assert_eq!(workflows.source(key(t, two.id)).await.unwrap(), file("a"));
        assert_eq!(count(&db, "import_sources").await, 1);
    });
}

#[tokio::test]
async fn a_previewed_file_is_claimed_no_more_when_its_time_is_over() {
    on_both!(|db| {
        let (workflows, _) = stores(&db);
        let t = tenant();
        workflows.keep_source(t, &file("a"), at(10), SourceQuota::default()).await.unwrap();
        let claims = ["a".repeat(64)];
        for (slug, second, is_claimed) in [("late", 10, false), ("later", 11, false), ("early", 9, true)] {
            let made = Workflow { updated_at: at(second), ..workflow(t, slug) };
            workflows
                .insert(WorkflowWrite { claims: &claims, ..write(&made, None) }, &Journal::default())
                .await
                .unwrap();
            assert_eq!(workflows.source(key(t, made.id)).await.is_ok(), is_claimed, "{slug}");
        }
    });
}

#[tokio::test]
async fn a_deleted_workflow_leaves_tombstones_alone() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let t = flow.tenant;
        let other = published(&workflows, t, "b").await;
        let spared = begun(&runs, ended(&other)).await;
        workflows.star(key(t, flow.id), id(UserId), true, &Journal::default()).await.unwrap();
        let starts = [binding(&flow, BindingKind::Message, "m")];
        let flow = bind(&workflows, &flow, &starts).await;
        let over = begun(&runs, ended(&flow)).await;
        let active = begun(&runs, run(&flow)).await;
        let unit = unit(t, at(9));
        assert_eq!(workflows.delete(key(t, flow.id), None, &unit).await, Ok(Deleted::InUse(1)));
        assert!(workflows.get(key(t, flow.id), id(UserId)).await.is_ok(), "nothing was deleted");
        assert_eq!(count(&db, "start_bindings").await, 1);
        let stop = step(&active);
        let stopped = heddle_workflows::records::Run {
            state: heddle_workflows::records::RunState::Cancelled,
            ended_at: Some(at(3)),
            ..stop.run.clone()
        };
        let stop = heddle_workflows::ports::RunWrite { run: stopped, ..stop };
        commit(&runs, unit_of(stop)).await.unwrap();
        let before = count(&db, "audit_unsealed").await;
        assert_eq!(workflows.delete(key(t, flow.id), Some(Revision(8)), &unit).await, Err(StoreError::Stale));
        assert_eq!(workflows.delete(key(t, flow.id), Some(flow.revision), &unit).await, Ok(Deleted::Now));
        assert_eq!(workflows.delete(key(t, flow.id), None, &unit).await, Ok(Deleted::Before));
        assert_eq!(workflows.delete(key(t, id(WorkflowId)), None, &unit).await, Err(StoreError::NotFound));
        assert_eq!(workflows.delete(key(tenant(), flow.id), None, &unit).await, Err(StoreError::NotFound));
        for run in [&over, &active] {
            assert!(runs.was_purged(&run.key()).await.unwrap());
            assert_eq!(runs.load_any(t, run.id).await.unwrap_err(), StoreError::NotFound);
        }
        assert!(runs.load_any(t, spared.id).await.is_ok());
        for (table, rows) in [
            ("workflows", 1),
            ("workflow_stars", 0),
            ("start_bindings", 0),
            ("runs", 1),
            ("run_events", 1),
            ("tombstones", 3),
            ("audit_unsealed", before + 1),
        ] {
            assert_eq!(count(&db, table).await, rows, "{table}");
        }
        // A run can't begin any more, alone or in a batch.
        assert_eq!(commit(&runs, unit_of(begin(run(&flow)))).await, Err(StoreError::NotFound));
        let both = vec![unit_of(begin(run(&flow))), unit_of(begin(run(&other)))];
        assert_eq!(runs.commit(both).await, [Err(StoreError::NotFound), Ok(())]);
    });
}

#[tokio::test]
async fn a_case_type_is_no_workflow_though_it_has_the_same_slug() {
    on_both!(|db| {
        let (store, _) = stores(&db);
        let (t, user) = (tenant(), id(UserId));
        let flow = published(&store, t, "a").await;
        let new = Workflow { kind: DefinitionKind::Case, ..workflow(t, "a") };
        store.insert(write(&new, Some(&Patch::Value(json!({"n": 1})))), &Journal::default()).await.unwrap();
        let again = Workflow { kind: DefinitionKind::Case, ..workflow(t, "a") };
        let taken = store.insert(write(&again, None), &Journal::default()).await;
        assert_eq!(taken, Err(StoreError::Duplicate("slug".to_owned())));

        let case_type = Workflow {
            state: WorkflowState::Published,
            published_version: Some(1),
            published_hash: Some("h".to_owned()),
            ..next(&new)
        };
        let callable = ["claim".to_owned()];
        let publish = PublishWrite {
            definition: &case_type,
            expected: new.revision,
            version: &version(1),
            document: &json!({"cases": []}),
            starts: &[],
            callable: &callable,
        };
        store.publish(publish, &Journal::default()).await.unwrap();
        let own = case_type.key();
        assert_eq!(store.get(own, user).await.unwrap().definition, case_type);
        assert_eq!(store.version(own, 1).await.unwrap().1, json!({"cases": []}));
        assert_eq!(store.draft(own).await.unwrap(), Patch::Value(json!({"n": 1})));

        // Under the other kind there is nothing of it, whoever asked for it before.
        for other in [key(t, case_type.id), DefinitionKey::of_stored(t, DefinitionKind::Case, flow.id)] {
            let missing = StoreError::NotFound;
            assert_eq!(store.get(other, user).await.unwrap_err(), missing);
            assert_eq!(store.shown(other, user, VersionChoice::Draft).await.unwrap_err(), missing);
            assert_eq!(store.standing(other).await, Err(missing.clone()));
            assert_eq!(store.draft(other).await, Err(missing.clone()));
            assert_eq!(store.versions(other, &page(9)).await.unwrap_err(), missing);
            assert_eq!(store.version(other, 1).await, Err(missing.clone()));
            assert_eq!(store.source(other).await, Err(missing.clone()));
            let unit = Journal::default();
            assert_eq!(store.star(other, user, true, &unit).await, Err(missing.clone()));
            assert_eq!(store.delete(other, None, &unit).await, Err(missing));
        }
        let foreign = Workflow { kind: DefinitionKind::Workflow, ..next(&case_type) };
        assert_eq!(store.update(write(&foreign, None), &Journal::default()).await, Err(StoreError::NotFound));

        let everything = AccessFilter::everything();
        let cases = DefinitionAccess::CaseTypes(&everything);
        let listed = store.list(t, user, &WorkflowFilter::default(), cases, &page(9)).await.unwrap();
        let slugs: Vec<_> =
            listed.items.iter().map(|view| (view.definition.id, &*view.definition.slug)).collect();
        assert_eq!(slugs, [(case_type.id, "a")]);
        let denied = AccessFilter::<CaseType>::everything().but([CaseTypeId::from(case_type.id)]);
        let cases = DefinitionAccess::CaseTypes(&denied);
        let none = store.list(t, user, &WorkflowFilter::default(), cases, &page(9)).await.unwrap();
        assert!(none.items.is_empty());

        let called =
            async |kind: DefinitionKind, name: &'static str| store.callable(t, kind, name).await.unwrap();
        assert_eq!(called(DefinitionKind::Case, "claim").await.processes, [case_type.id]);
        assert_eq!(called(DefinitionKind::Case, "a").await.slug, Some(case_type.id));
        assert!(called(DefinitionKind::Workflow, "claim").await.processes.is_empty());
        assert_eq!(called(DefinitionKind::Workflow, "a").await.slug, Some(flow.id));
        assert!(db.migrate_down(&heddle_testkit::db::migrations()).await.is_err(), "it would be a workflow");
        assert_eq!(store.delete(own, None, &Journal::default()).await, Ok(Deleted::Now));
    });
}
