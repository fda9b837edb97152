//! Called runs and their callers, and the names by which workflows are called.

use heddle_kernel::{DefinitionKind, Revision};
use heddle_testkit::on_both;
use heddle_usecase::{Journal, StoreError};
use heddle_workflows::ports::{Callable, DefinitionStore, PublishWrite, RunStore, RunWrite, Transaction};
use heddle_workflows::records::{
    CalledRun, Caller, Outgoing, Run, RunState, ThrownKind, TriggerKind, TriggerRecord, Workflow,
    WorkflowState,
};
use heddle_workflows::runs::process_number;
use serde_json::json;

use crate::commit::thrown;
use crate::support::*;
use crate::workflows::version;

fn called(by: &Run, of: &Workflow) -> Run {
    let parent = Caller {
        run: by.id,
        case: None,
        node_id: "call".to_owned(),
        node_instance_id: "n2".to_owned(),
        root: by.root(),
        depth: by.depth() + 1,
    };
    let new = run(of);
    Run {
        trigger: TriggerRecord { kind: TriggerKind::Call, parent: Some(parent), ..new.trigger.clone() },
        ..new
    }
}

fn unit(write: RunWrite, delivered: Option<&Outgoing>) -> Transaction {
    Transaction { runs: vec![write], delivered: delivered.map(|one| one.id), ..Transaction::default() }
}

#[tokio::test]
async fn a_called_run_starts_once_with_its_call_and_is_found_by_its_caller() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let caller = run(&flow);
        let call = Outgoing { kind: ThrownKind::Call, ..thrown(&caller, "p") };
        let write = RunWrite { outgoing: vec![call.clone()], ..begin(caller.clone()) };
        assert_eq!(runs.commit(vec![unit(write, None)]).await, [Ok(())]);
        let child = called(&caller, &flow);
        assert_eq!(runs.commit(vec![unit(begin(child.clone()), Some(&call))]).await, [Ok(())]);
        // Another node, which had seen the row before: neither a second run nor a second start.
        let twice = runs.commit(vec![unit(begin(called(&caller, &flow)), Some(&call))]).await;
        assert_eq!(twice, [Err(StoreError::Stale)]);
        let read = runs.load_any(flow.tenant, child.id).await.unwrap();
        assert_eq!(
            (read.trigger.parent, read.trigger.kind),
            (child.trigger.parent.clone(), TriggerKind::Call)
        );
        let expected = CalledRun {
            kind: DefinitionKind::Workflow,
            id: child.id,
            workflow: flow.id,
            node_id: "call".to_owned(),
            state: RunState::Waiting,
        };
        assert_eq!(runs.called_by(&caller.key(), 10).await.unwrap(), [expected]);
        assert_eq!(runs.called_by(&run(&flow).key(), 10).await.unwrap(), []);
    });
}

#[tokio::test]
async fn the_end_of_a_called_run_and_the_step_of_its_caller_are_one_unit() {
    on_both!(|db| {
        let (workflows, runs) = stores(&db);
        let flow = published(&workflows, tenant(), "a").await;
        let caller = run(&flow);
        let child = called(&caller, &flow);
        assert_eq!(runs.commit(vec![unit(begin(caller.clone()), None)]).await, [Ok(())]);
        let end = Outgoing { kind: ThrownKind::CallEnd, ..thrown(&child, "") };
        let write = RunWrite { outgoing: vec![end.clone()], ..begin(child) };
        assert_eq!(runs.commit(vec![unit(write, None)]).await, [Ok(())]);
        let step = |run: &Run| RunWrite {
            expected: Some(run.revision),
            events: None,
            first_sequence: run.last_sequence + 1,
            ..begin(Run { revision: run.revision.next(), ..run.clone() })
        };
        // A step on a state that is not there any more takes the row not away.
        let stale = Run { revision: Revision(9), ..caller.clone() };
        assert_eq!(runs.commit(vec![unit(step(&stale), Some(&end))]).await, [Err(StoreError::Stale)]);
        assert_eq!(runs.commit(vec![unit(step(&caller), Some(&end))]).await, [Ok(())]);
        let moved = runs.load_any(flow.tenant, caller.id).await.unwrap();
        assert_eq!(runs.commit(vec![unit(step(&moved), Some(&end))]).await, [Err(StoreError::Stale)]);
    });
}

#[tokio::test]
async fn workflows_are_called_by_their_processes_and_slugs() {
    on_both!(|db| {
        let (workflows, _) = stores(&db);
        let mut flow = workflow(tenant(), "billing");
        workflows.insert(write(&flow, None), &Journal::default()).await.unwrap();
        let t = flow.tenant;
        assert_eq!(
            workflows.callable(t, DefinitionKind::Workflow, "billing").await.unwrap(),
            Callable::default()
        );
        for (number, process) in [(1, "old"), (2, "invoice")] {
            let expected = flow.revision;
            flow = Workflow {
                state: WorkflowState::Published,
                published_version: Some(number),
                published_hash: Some(format!("h{number}")),
                revision: flow.revision.next(),
                ..flow
            };
            let definition = json!({ "bpmn": { "processes": [
                { "id": process, "nodes": [{ "id": "n" }] }, { "id": "drawn", "executable": false, "nodes": [{}] }
            ] } });
            let publish = PublishWrite {
                definition: &flow,
                expected,
                version: &version(number),
                document: &definition,
                starts: &[],
                callable: &heddle_workflows::models::process_ids(&definition),
            };
            workflows.publish(publish, &Journal::default()).await.unwrap();
        }
        let by_process = Callable { processes: vec![flow.id], slug: None };
        let by_slug = Callable { processes: vec![], slug: Some(flow.id) };
        for (name, expected) in [
            ("invoice", &by_process),
            ("billing", &by_slug),
            ("old", &Callable::default()),
            ("drawn", &Callable::default()),
        ] {
            assert_eq!(
                &workflows.callable(t, DefinitionKind::Workflow, name).await.unwrap(),
                expected,
                "{name}"
            );
        }
        // One of before has no rows until somebody looks for a name.
        execute(&db, "DELETE FROM callable_processes").await;
        let (workflows, _) = stores(&db);
        assert_eq!(workflows.callable(t, DefinitionKind::Workflow, "invoice").await.unwrap(), by_process);
        let archived =
            Workflow { state: WorkflowState::Archived, revision: flow.revision.next(), ..flow.clone() };
        workflows.update(write(&archived, None), &Journal::default()).await.unwrap();
        assert_eq!(
            workflows.callable(t, DefinitionKind::Workflow, "invoice").await.unwrap(),
            Callable::default()
        );
    });
}

#[tokio::test]
async fn versions_are_found_by_the_numbers_of_their_processes_and_by_their_tags() {
    on_both!(|db| {
        let (workflows, _) = stores(&db);
        let mut flow = workflow(tenant(), "billing");
        workflows.insert(write(&flow, None), &Journal::default()).await.unwrap();
        let (t, of) = (flow.tenant, flow.id);
        for (number, tag) in [(1, "a"), (2, "b"), (3, "a"), (4, "c")] {
            let expected = flow.revision;
            flow = Workflow {
                state: WorkflowState::Published,
                published_version: Some(number),
                published_hash: Some(format!("h{number}")),
                revision: flow.revision.next(),
                ..flow
            };
            let definition = json!({ "bpmn": { "processes": [{ "id": "invoice",
                "nodes": [{ "id": "n", "type": "startEvent", "displayName": "n" }],
                "extensionXml": [format!("<zeebe:versionTag value=\"{tag}\"/>")] }] }, "nodes": [], "edges": [] });
            assert_eq!(heddle_workflows::models::version_tags(&definition), [tag]);
            let publish = PublishWrite {
                definition: &flow,
                expected,
                version: &version(number),
                document: &definition,
                starts: &[],
                callable: &heddle_workflows::models::process_ids(&definition),
            };
            workflows.publish(publish, &Journal::default()).await.unwrap();
        }
        // Those of before have no rows until somebody looks.
        for before in [false, true] {
            if before {
                execute(&db, "DELETE FROM process_numbers").await;
                execute(&db, "DELETE FROM version_tags WHERE number < 4").await;
            }
            let (workflows, _) = stores(&db);
            for (versions, tag, expected) in [
                (1..=4, "a", Some(3)),
                (1..=2, "a", Some(1)),
                (1..=4, "b", Some(2)),
                (3..=4, "b", None),
                (1..=4, "none", None),
                (1..=4, "", None),
            ] {
                let found = workflows.tagged(key(t, of), versions.clone(), tag).await.unwrap();
                assert_eq!(found, expected, "{tag} in {versions:?}, {before}");
            }
            for version in 1..=4 {
                let number = process_number(of, version, "invoice");
                assert_eq!(workflows.numbered(t, number).await.unwrap(), [of], "{version}, {before}");
            }
            let unknown = process_number(of, 5, "invoice");
            assert!(workflows.numbered(t, unknown).await.unwrap().is_empty());
            let other = tenant();
            assert!(workflows.numbered(other, process_number(of, 1, "invoice")).await.unwrap().is_empty());
        }
    });
}
