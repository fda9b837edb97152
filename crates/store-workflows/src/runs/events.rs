//! Stored events of a run, read by bytes.

use diesel::dsl::case_when;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};
use diesel_async::RunQueryDsl;
use heddle_policy::InstanceKey;
use heddle_store::{Db, Id, read};
use heddle_usecase::StoreError;
use heddle_workflows::ports::EventSlice;

use super::octet_length;
use crate::rows::{counted, sequence};
use crate::schema::{run_events, runs};
use crate::words::DefinitionKindWord;

/// Most bytes of a slice that is read together with others.
const SMALL: i32 = 16 * 1024;

/// The slices behind a sequence number: some small ones, or a single large one.
pub(crate) async fn behind(
    db: &Db,
    key: &InstanceKey,
    after: u64,
    limit: i64,
) -> Result<Vec<EventSlice>, StoreError> {
    read!(db, |conn| {
        let (tenant, run) = (Id::from(key.tenant()), Id::from(key.id()));
        let there = runs::table
            .find((&tenant, &run))
            .filter(runs::kind.eq(DefinitionKindWord(key.kind())))
            .filter(runs::workflow_id.eq(Id::from(key.within())))
            .select(runs::id);
        if there.first::<Id>(conn).await.optional()?.is_none() {
            return Ok(Vec::new());
        }
        let small = case_when(octet_length(run_events::events).le(SMALL), run_events::events);
        // The slice that has the next event begins at or before it: all before that slice are passed over unread.
        let next = sequence(after.saturating_add(1));
        let first: Option<i64> = run_events::table
            .filter(run_events::organization_id.eq(&tenant))
            .filter(run_events::run_id.eq(&run))
            .filter(run_events::first_sequence.le(next))
            .order(run_events::first_sequence.desc())
            .select(run_events::first_sequence)
            .first(conn)
            .await
            .optional()?;
        let rows: Vec<(i64, i64, Option<Vec<u8>>)> = run_events::table
            .filter(run_events::organization_id.eq(&tenant))
            .filter(run_events::run_id.eq(&run))
            .filter(run_events::first_sequence.ge(first.unwrap_or(next)))
            .filter(run_events::last_sequence.gt(sequence(after)))
            .order(run_events::first_sequence)
            .limit(limit)
            .select((run_events::first_sequence, run_events::last_sequence, small))
            .load(conn)
            .await?;
        let mut slices = Vec::with_capacity(rows.len());
        for (first, last, events) in rows {
            let (events, alone) = match events {
                Some(events) => (events, false),
                // The large one has its turn when nothing stands before it.
                None if !slices.is_empty() => break,
                None => {
                    let large = run_events::table.find((&tenant, &run, first)).select(run_events::events);
                    (large.first(conn).await?, true)
                }
            };
            slices.push(EventSlice { first_sequence: counted(first), last_sequence: counted(last), events });
            if alone {
                break;
            }
        }
        Ok(slices)
    })
}
