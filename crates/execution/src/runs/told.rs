//! Events that subscribers are told of: errands in the transaction that writes the events.

use heddle_kernel::{DefinitionKind, EventId, IdSource};
use heddle_settings::service::kind_of_type;
use heddle_usecase::StoreError;
use heddle_usecase::errand::{ErrandKind, Lane, NewErrand};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Runs;
use super::read::Head;
use crate::ports::{EventSubscriber, JobChange, RunWrite, Transaction};
use crate::records::JobState;

/// Longest event that is told whole, in bytes; a longer one is told without its data.
const LONGEST: usize = 64 << 10;

impl Runs {
    /// Adds the errands that tell the subscribers of a unit's events.
    pub(super) async fn add_errands(&self, unit: &mut Transaction) -> Result<(), StoreError> {
        unit.errands.extend(unit.runs.iter().flat_map(|write| own_jobs(write, &*self.ports.ids)));
        let Some(subscribers) = &self.subscribers else { return Ok(()) };
        for write in &unit.runs {
            if write.events.is_none() {
                continue;
            }
            let all = subscribers.of(write.run.tenant).await?;
            if all.is_empty() {
                continue;
            }
            let before = unit.errands.len();
            if let Err(error) = errands_of(write, &all, &*self.ports.ids, &mut unit.errands) {
                // Events that do not read here do not read in the stream either; the run goes on.
                tracing::error!(%error, run = %write.run.id, "events do not read, and no subscriber is told of them");
                unit.errands.truncate(before);
            }
        }
        Ok(())
    }

    /// Whether there is somebody for whom an errand was.
    pub(super) async fn is_wanted(&self, errand: &NewErrand) -> Result<bool, StoreError> {
        let Some(subscribers) = &self.subscribers else { return Ok(false) };
        let all = subscribers.of(errand.lane.tenant).await?;
        let line = errand.lane.line.as_deref();
        Ok(match errand.lane.kind {
            ErrandKind::Webhook => all.iter().any(|one| Some(one.id.to_string().as_str()) == line),
            // The file has failed with it; it is made anew by a job of its own.
            ErrandKind::Ingestion => false,
            // The job has an incident, and its next attempts are asked for there.
            ErrandKind::Service => false,
        })
    }
}

/// The errands of the service's own jobs that a step opens, or gives another attempt.
fn own_jobs(write: &RunWrite, ids: &dyn IdSource) -> Vec<NewErrand> {
    let run = &write.run;
    let free = |change: &JobChange| {
        let (job, job_type, state, due) = match change {
            JobChange::Open(job) => (job.id, &job.job_type, job.state, job.due_at),
            JobChange::Stand { job, job_type, stand, .. } => (*job, job_type, stand.state, stand.due_at),
            JobChange::End(_) | JobChange::Withdraw(_) => return None,
        };
        let kind = kind_of_type(job_type)?;
        match state {
            JobState::Ready | JobState::Delayed => {}
            // What is suspended or has no attempt left changes before it is done.
            JobState::Suspended | JobState::Failed | JobState::Locked => return None,
        }
        Some(NewErrand {
            id: EventId(ids.next(run.updated_at)),
            lane: Lane { tenant: run.tenant, kind: ErrandKind::Service, target: kind.to_owned(), line: None },
            workflow: Some(run.workflow),
            run: Some(run.id),
            name: kind.to_owned(),
            payload: job.to_string(),
            // An errand is due from its creation on: that of a later attempt comes into being when it may begin.
            created_at: due.unwrap_or(run.updated_at),
        })
    };
    write.jobs.iter().filter_map(free).collect()
}

/// Adds the errands that tell subscribers of the events of a step, in the order of the events.
fn errands_of(
    write: &RunWrite,
    subscribers: &[EventSubscriber],
    ids: &dyn IdSource,
    errands: &mut Vec<NewErrand>,
) -> serde_json::Result<()> {
    let (run, Some(events)) = (&write.run, &write.events) else { return Ok(()) };
    let concerned: Vec<_> = subscribers.iter().filter(|one| one.concerns(run.kind, run.workflow)).collect();
    if concerned.is_empty() {
        return Ok(());
    }
    let (instance, definition) = match run.kind {
        DefinitionKind::Workflow => ("runId", "workflowId"),
        DefinitionKind::Case => ("caseId", "caseTypeId"),
    };
    for event in serde_json::from_slice::<Vec<&RawValue>>(events)? {
        let head: Head<'_> = serde_json::from_str(event.get())?;
        for subscriber in concerned.iter().filter(|one| one.wants(&head.kind)) {
            let id = EventId(ids.next(run.updated_at));
            let before = format!(
                "\"id\":\"{id}\",\"webhookId\":\"{}\",\"organizationId\":\"{}\",\"{instance}\":\"{}\",\"{definition}\":\"{}\"",
                subscriber.id, run.tenant, run.id, run.workflow
            );
            errands.push(NewErrand {
                id,
                lane: Lane {
                    tenant: run.tenant,
                    kind: ErrandKind::Webhook,
                    target: subscriber.target.clone(),
                    line: Some(subscriber.id.to_string()),
                },
                workflow: Some(run.workflow),
                run: Some(run.id),
                name: head.kind.clone().into_owned(),
                payload: told(&before, event)?,
                created_at: run.updated_at,
            });
        }
    }
    Ok(())
}

/// An event as the stream over all runs has it, with members before its own. A long one says that its data is left out:
/// whoever needs it reads it by run and sequence number.
fn told(before: &str, event: &RawValue) -> serde_json::Result<String> {
    let text = event.get().trim_start().trim_start_matches('{');
    if event.get().len() <= LONGEST {
        return Ok(format!("{{{before},{text}"));
    }
    let mut members: Map<String, Value> = serde_json::from_str(event.get())?;
    members.insert("data".to_owned(), Value::Null);
    members.insert("dataOmitted".to_owned(), Value::Bool(true));
    let short = serde_json::to_string(&members)?;
    Ok(format!("{{{before},{}", short.trim_start_matches('{')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{JobStand, Run};
    use crate::runs::recent::tests::run as waiting;
    use heddle_kernel::{JobId, SequentialIds, WorkflowId};
    use serde_json::json;
    use uuid::Uuid;

    fn subscriber(id: u128, types: Option<&[&str]>, workflows: Option<Vec<WorkflowId>>) -> EventSubscriber {
        EventSubscriber {
            id: Uuid::from_u128(id),
            target: "c".to_owned(),
            types: types.map(|types| types.iter().map(|&one| one.to_owned()).collect()),
            workflows,
        }
    }

    fn write_of(run: &Run, events: &Value) -> RunWrite {
        RunWrite {
            events: Some(events.to_string().into_bytes()),
            run: run.clone(),
            packed: None,
            expected: None,
            first_sequence: 1,
            timers_added: Vec::new(),
            timers_removed: Vec::new(),
            subscriptions_added: Vec::new(),
            subscriptions_removed: Vec::new(),
            tasks: Vec::new(),
            jobs: Vec::new(),
            outgoing: Vec::new(),
            stores: Vec::new(),
        }
    }

    #[test]
    fn an_attempt_at_a_job_of_the_service_is_an_errand_and_no_other() {
        let run = waiting(1, "");
        let due = run.updated_at.plus_seconds(60);
        let stand = |number: u128, job_type: &str, state: JobState, due_at| JobChange::Stand {
            job: JobId(Uuid::from_u128(number)),
            job_type: job_type.to_owned(),
            stand: JobStand { state, retries: 1, attempt: 2, due_at },
            message: None,
            epoch: None,
            stays: false,
        };
        let mut write = write_of(&run, &json!([]));
        write.jobs = vec![
            stand(1, "heddle:vector.query", JobState::Ready, None),
            stand(2, "heddle:vector.query", JobState::Delayed, Some(due)),
            stand(3, "heddle:vector.query", JobState::Suspended, None),
            stand(4, "heddle:vector.query", JobState::Failed, None),
            stand(5, "vector.query", JobState::Ready, None),
        ];
        let errands = own_jobs(&write, &SequentialIds::default());
        let told: Vec<_> = errands.iter().map(|one| (one.payload.clone(), one.created_at)).collect();
        let id = |number| Uuid::from_u128(number).to_string();
        assert_eq!(told, [(id(1), run.updated_at), (id(2), due)]);
        assert!(errands.iter().all(|one| one.lane.target == "vector.query" && !one.lane.is_in_order()));
    }

    #[test]
    fn a_case_is_told_to_those_alone_that_name_its_type() {
        let run = Run { kind: DefinitionKind::Case, ..waiting(1, "") };
        let write = write_of(&run, &json!([{"sequence": 1, "type": "case.opened", "data": {}, "at": "x"}]));
        let all = [subscriber(1, None, None), subscriber(2, None, Some(vec![run.workflow]))];
        let mut errands = Vec::new();
        errands_of(&write, &all, &SequentialIds::default(), &mut errands).unwrap();
        let id = Uuid::from_u128(2).to_string();
        assert_eq!(errands.iter().map(|one| one.lane.line.clone()).collect::<Vec<_>>(), [Some(id.clone())]);
        let payload: Value = serde_json::from_str(&errands[0].payload).unwrap();
        assert_eq!(
            payload,
            json!({"id": errands[0].id.to_string(), "webhookId": id, "organizationId": run.tenant.to_string(),
                "caseId": run.id.to_string(), "caseTypeId": run.workflow.to_string(),
                "sequence": 1, "type": "case.opened", "data": {}, "at": "x"})
        );
        // What waits is not sent once the webhook is one of all workflows.
        assert_eq!(all.each_ref().map(|one| one.still_wants(&errands[0])), [false, true]);
    }

    #[test]
    fn each_subscriber_is_told_in_order_of_what_it_wants_and_no_other_workflow() {
        let run = waiting(1, "");
        let events = json!([{"sequence": 1, "type": "run.started", "data": {"a": 1}, "at": "x"},
            {"sequence": 2, "type": "node.activated", "data": {}, "at": "x", "nodeId": "ask"},
            {"sequence": 3, "type": "run.completed", "data": {"big": "y".repeat(LONGEST)}, "at": "x"}]);
        let write = write_of(&run, &events);
        let all = [
            subscriber(1, None, None),
            subscriber(2, Some(&["run.completed"]), Some(vec![run.workflow])),
            subscriber(3, None, Some(vec![WorkflowId(Uuid::from_u128(9))])),
        ];
        let mut errands = Vec::new();
        errands_of(&write, &all, &SequentialIds::default(), &mut errands).unwrap();
        let told: Vec<_> = errands
            .iter()
            .map(|one| (one.lane.line.clone().unwrap_or_default(), one.name.as_str()))
            .collect();
        let id = |number| Uuid::from_u128(number).to_string();
        assert_eq!(
            told,
            [
                (id(1), "run.started"),
                (id(1), "node.activated"),
                (id(1), "run.completed"),
                (id(2), "run.completed")
            ]
        );
        let payload: Value = serde_json::from_str(&errands[0].payload).unwrap();
        assert_eq!(
            payload,
            json!({"id": errands[0].id.to_string(), "webhookId": id(1), "organizationId": run.tenant.to_string(),
                "runId": run.id.to_string(), "workflowId": run.workflow.to_string(),
                "sequence": 1, "type": "run.started", "data": {"a": 1}, "at": "x"})
        );
        let long: Value = serde_json::from_str(&errands[2].payload).unwrap();
        assert_eq!(
            (&long["data"], &long["dataOmitted"], &long["sequence"]),
            (&Value::Null, &json!(true), &json!(3))
        );
        assert!(errands.iter().all(|one| one.lane.tenant == run.tenant && one.run == Some(run.id)));
        assert!(errands.iter().all(|one| all[0].still_wants(one) && !all[2].still_wants(one)));
    }
}
