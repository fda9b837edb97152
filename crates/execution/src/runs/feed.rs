//! The stream over all runs and cases of an organisation.

use heddle_kernel::{DefinitionKind, TenantId, WorkflowId};
use heddle_policy::{InstanceFilter, InstanceKey};
use serde_json::value::RawValue;

use super::Runs;
use super::read::Head;
use crate::UseCaseError;
use crate::ports::{FeedEnd, FeedPosition, FeedRest, FeedSlice};

/// Events of the stream that a reader asks for.
#[derive(Debug, Clone, Default)]
pub struct FeedFilter {
    /// Workflow of the runs, or case type of the cases; all when absent.
    pub workflow: Option<WorkflowId>,
    /// Types of the events; all when empty.
    pub types: Vec<String>,
}

/// An event of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    /// Place of the event: a reader goes on behind it.
    pub position: FeedPosition,
    /// Type of the event, such as `node.activated`.
    pub kind: String,
    /// All of the event, with its run and its workflow, or its case and its case type, as the text of an object.
    pub json: String,
}

/// Result of a look into the stream.
#[derive(Debug, Clone)]
pub struct FeedLook {
    /// The events.
    pub events: Vec<FeedEvent>,
    /// Place up to which the stream was read, whether there was anything for the reader or not.
    pub reached: FeedPosition,
    /// Rest of the stream behind it.
    pub rest: FeedRest,
}

impl Runs {
    /// The place in the stream behind which lies what is committed from now on, and what lies there already.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn feed_end(&self, tenant: TenantId) -> Result<FeedEnd, UseCaseError> {
        Ok(self.ports.runs.feed_end(tenant).await?)
    }

    /// The next events behind a place of the stream, of so many bytes of stored slices or of a single larger one: of runs
    /// and cases that the reader may list by one of the filters of `access`, and read by one of `reads`. The reader's rights
    /// are asked for anew with each look. A slice that does not read is left out.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn feed(
        &self,
        tenant: TenantId,
        access: &[InstanceFilter],
        reads: &[InstanceFilter],
        filter: &FeedFilter,
        after: FeedPosition,
        bytes: usize,
    ) -> Result<FeedLook, UseCaseError> {
        let read = self.ports.runs.feed(tenant, filter.workflow, access, after, bytes).await?;
        let mut events = Vec::new();
        for slice in &read.slices {
            let key = InstanceKey::of_stored(tenant, slice.kind, slice.run, slice.workflow);
            if !reads.iter().any(|filter| filter.permits_owned(&key, slice.ownership)) {
                continue;
            }
            let before = events.len();
            if let Err(error) = events_of(slice, filter, after, &mut events) {
                tracing::error!(%error, run = %slice.run, "events do not read, and are left out of the stream");
                events.truncate(before);
            }
        }
        Ok(FeedLook { events, reached: read.reached, rest: read.rest })
    }
}

/// Adds the events of a slice that are wanted and lie behind a place.
fn events_of(
    slice: &FeedSlice,
    filter: &FeedFilter,
    after: FeedPosition,
    events: &mut Vec<FeedEvent>,
) -> serde_json::Result<()> {
    for event in serde_json::from_slice::<Vec<&RawValue>>(&slice.events.events)? {
        let head: Head<'_> = serde_json::from_str(event.get())?;
        let position = FeedPosition { commit: slice.commit, run: slice.run, sequence: head.sequence };
        let wanted = filter.types.is_empty() || filter.types.iter().any(|kind| *kind == head.kind);
        if position <= after || !wanted {
            continue;
        }
        // A stored event is an object with members.
        let members = event.get().trim_start().trim_start_matches('{');
        let (instance, definition) = match slice.kind {
            DefinitionKind::Workflow => ("runId", "workflowId"),
            DefinitionKind::Case => ("caseId", "caseTypeId"),
        };
        let json =
            format!("{{\"{instance}\":\"{}\",\"{definition}\":\"{}\",{members}", slice.run, slice.workflow);
        events.push(FeedEvent { position, kind: head.kind.into_owned(), json });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::EventSlice;
    use heddle_kernel::RunId;
    use heddle_policy::Ownership;
    use serde_json::{Value, json};
    use uuid::Uuid;

    #[test]
    fn events_are_told_with_their_run_behind_a_place_and_by_type() {
        let events = json!([{"sequence": 4, "type": "node.activated", "at": "x", "data": {}},
            {"sequence": 5, "type": "run.completed", "at": "x", "data": {"a": [1]}}]);
        let (run, workflow) = (RunId(Uuid::from_u128(1)), WorkflowId(Uuid::from_u128(2)));
        let slice =
            EventSlice { first_sequence: 4, last_sequence: 5, events: events.to_string().into_bytes() };
        let slice = FeedSlice {
            commit: 9,
            kind: DefinitionKind::Workflow,
            run,
            workflow,
            ownership: Ownership::Unknown,
            events: slice,
        };
        let of = |types: &[&str], commit, sequence| {
            let filter =
                FeedFilter { workflow: None, types: types.iter().map(|one| (*one).to_owned()).collect() };
            let mut found = Vec::new();
            events_of(&slice, &filter, FeedPosition { commit, run, sequence }, &mut found).unwrap();
            found
        };
        let all = of(&[], 8, 9);
        assert_eq!(all.iter().map(|event| event.position.sequence).collect::<Vec<_>>(), [4, 5]);
        let told: Value = serde_json::from_str(&all[1].json).unwrap();
        assert_eq!(
            told,
            json!({"runId": run.to_string(), "workflowId": workflow.to_string(), "sequence": 5,
                "type": "run.completed", "at": "x", "data": {"a": [1]}})
        );
        assert_eq!(of(&[], 9, 4).len(), 1, "the rest of a slice of which some was told");
        assert_eq!((of(&["run.completed"], 8, 0).len(), of(&["run.failed"], 8, 0).len()), (1, 0));
    }
}
