//! The stream over all runs and cases of an organisation, read in the order of commits.
//!
//! Each slice of events has the number of its commit: on SQLite one that the writer counts, on PostgreSQL that of its
//! transaction, raised by an offset. Transactions end in another order than they begin, so that on PostgreSQL only what
//! lies below the oldest one that is still open is told: nothing comes before it any more. A database that was put back
//! into a new cluster begins with small numbers of transactions: the offset is raised at the start, so that what comes is
//! behind what is stored.

use std::collections::{HashMap, HashSet};

use diesel::dsl::case_when;
use diesel::sql_types::BigInt;
use diesel::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, QueryableByName};
use diesel_async::RunQueryDsl;
use heddle_kernel::{DefinitionKind, RunId, TenantId, WorkflowId};
use heddle_policy::{InstanceFilter, InstanceKey, Ownership};
use heddle_store::{AsConn, Conn, Db, Error, Id, read, write_tx};
use heddle_usecase::StoreError;
use heddle_workflows::ports::{EventSlice, FeedEnd, FeedPosition, FeedRead, FeedRest, FeedSlice};
use uuid::Uuid;

use super::{octet_length, own};
use crate::rows::{counted, sequence};
use crate::schema::{run_commits, run_feed, runs};
use crate::words::DefinitionKindWord;

/// Most slices that one look reads, whether they are let through or not.
const WINDOW: i64 = 128;
/// Most commits behind the end of the stream that are named as there already.
const SEEN: i64 = 10_000;
/// Most bytes of a slice that is read together with others.
const SMALL: i32 = 16 * 1024;

/// Kind and definition of a run.
type Of = (DefinitionKind, WorkflowId);

/// Head of a slice, with its events where they are small.
type Row = (i64, Id, i64, i64, Option<Vec<u8>>);

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// Raises the offset of the numbers of transactions where what is stored is not behind the present one. What is seen
/// here was written by transactions with numbers below this one's, unless they are those of another cluster: beside
/// other nodes that write it changes nothing.
const GO_ON: &str = "UPDATE run_commits SET number = stored.last + 1 - pg_current_xact_id()::text::bigint \
    FROM (SELECT max((SELECT max(run_events.commit_number) FROM run_events \
        WHERE run_events.organization_id = own.organization_id)) AS last \
        FROM (SELECT DISTINCT organization_id FROM workflows) AS own) AS stored \
    WHERE stored.last >= run_commits.number + pg_current_xact_id()::text::bigint";

/// Has the numbers of commits go on behind those that are stored.
pub(crate) async fn go_on(db: &Db) -> Result<(), StoreError> {
    let raised = write_tx!(db, |conn| {
        match conn.as_conn() {
            // They are counted in a row that a copy has, too.
            Conn::Sqlite(_) => Ok(0),
            Conn::Postgres(conn) => Ok(diesel::sql_query(GO_ON).execute(conn).await?),
        }
    })?;
    if raised > 0 {
        tracing::warn!("the database is that of another cluster: the numbers of commits were raised");
    }
    Ok(())
}

/// The place behind which lies what is committed from now on. A transaction that is still open holds it back: what the
/// organisation has committed behind it meanwhile is named.
pub(crate) async fn end(db: &Db, tenant: TenantId) -> Result<FeedEnd, StoreError> {
    let (commit, seen) = read!(db, |conn| {
        let commit = last(conn).await?.saturating_add(1);
        let seen = run_feed::table
            .filter(run_feed::organization_id.eq(Id::from(tenant)))
            .filter(run_feed::commit_number.ge(commit))
            .order(run_feed::commit_number)
            .select(run_feed::commit_number)
            .distinct()
            .limit(SEEN)
            .load::<i64>(conn)
            .await?;
        Ok((commit, seen))
    })?;
    // Whoever has a place keeps it: a commit of its number must not come again.
    db.settled().await?;
    Ok(FeedEnd { place: FeedPosition { commit, run: RunId(Uuid::nil()), sequence: 0 }, seen })
}

/// Number of the last commit below which nothing comes any more.
async fn last<C: AsConn>(conn: &mut C) -> Result<i64, Error> {
    match conn.as_conn() {
        Conn::Sqlite(conn) => Ok(run_commits::table.select(run_commits::number).first(conn).await?),
        Conn::Postgres(conn) => {
            let oldest = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + run_commit_offset() \
                          AS number";
            let oldest: Number = diesel::sql_query(oldest).get_result(conn).await?;
            Ok(oldest.number.saturating_sub(1))
        }
    }
}

/// A look into the stream.
pub(crate) struct Look<'a> {
    pub tenant: TenantId,
    /// Definition of the instances; all when absent.
    pub workflow: Option<WorkflowId>,
    /// Instances that are wanted: those that one of the filters lets through.
    pub access: &'a [InstanceFilter],
    pub after: FeedPosition,
    /// Bytes of events that are read; one slice is read whatever its size.
    pub bytes: usize,
}

impl Look<'_> {
    /// Whether a slice of a run is wanted.
    fn wants(&self, run: RunId, (kind, workflow): Of, ownership: Ownership) -> bool {
        let is_of_it = self.workflow.is_none_or(|wanted| wanted == workflow);
        let key = InstanceKey::of_stored(self.tenant, kind, run, workflow);
        is_of_it && self.access.iter().any(|filter| filter.permits_owned(&key, ownership))
    }
}

/// Part of the stream as it is stored.
struct Window {
    /// Number of the last commit below which nothing comes any more.
    last: i64,
    rows: Vec<Row>,
    /// Kinds and definitions of the rows' runs.
    workflows: HashMap<Id, (DefinitionKindWord, Id)>,
    /// Those of the rows' runs that are the reader's own; none where their filter does not ask.
    own: Option<HashSet<Id>>,
}

impl Window {
    fn ownership(&self, run: Id) -> Ownership {
        self.own.as_ref().map_or(Ownership::Unknown, |own| Ownership::of(own.contains(&run)))
    }
}

/// The slices behind a place.
pub(crate) async fn behind(db: &Db, look: &Look<'_>) -> Result<FeedRead, StoreError> {
    let mut window = window(db, look).await?;
    let (last, rows) = (window.last, std::mem::take(&mut window.rows));
    let full = i64::try_from(rows.len()).is_ok_and(|count| count >= WINDOW);
    let rest = if full { FeedRest::More } else { FeedRest::Nothing };
    let mut read = FeedRead { slices: Vec::new(), reached: look.after, rest };
    let mut bytes = 0;
    for (commit, run, first, end, small) in rows {
        if commit > last {
            read.rest = FeedRest::Held;
            break;
        }
        let here = FeedPosition { commit, run: run.into(), sequence: counted(end) };
        // What belongs to a run that was removed in between is gone, too.
        let of = window.workflows.get(&run).map(|(kind, id)| (kind.0, WorkflowId::from(*id)));
        let ownership = window.ownership(run);
        let Some((kind, workflow)) = of.filter(|of| look.wants(here.run, *of, ownership)) else {
            read.reached = here;
            continue;
        };
        let events = match small {
            Some(events) => Some(events),
            // The large one has its turn when nothing stands before it.
            None if !read.slices.is_empty() => {
                read.rest = FeedRest::More;
                break;
            }
            None => large(db, look.tenant, run, first).await?,
        };
        let Some(events) = events else {
            read.reached = here;
            continue;
        };
        bytes += events.len();
        if bytes > look.bytes && !read.slices.is_empty() {
            read.rest = FeedRest::More;
            break;
        }
        read.reached = here;
        let events = EventSlice { first_sequence: counted(first), last_sequence: counted(end), events };
        read.slices.push(FeedSlice { commit, kind, run: here.run, workflow, ownership, events });
    }
    if read.rest != FeedRest::More {
        read.reached = behind_commit(read.reached, last);
    }
    if read.reached != look.after {
        db.settled().await?;
    }
    Ok(read)
}

/// The place behind the commit of a place of which all was read. It names no run: a reader is told the place that was
/// reached, and what was passed over may be of a run that is denied to them.
fn behind_commit(reached: FeedPosition, last: i64) -> FeedPosition {
    if reached.run.0.is_nil() || reached.commit > last {
        return reached;
    }
    FeedPosition { commit: reached.commit.saturating_add(1), run: RunId(Uuid::nil()), sequence: 0 }
}

/// The events of a large slice; none when its run was removed in between.
async fn large(db: &Db, tenant: TenantId, run: Id, first: i64) -> Result<Option<Vec<u8>>, StoreError> {
    read!(db, |conn| {
        let slice = run_feed::table.find((Id::from(tenant), run, first)).select(run_feed::events);
        Ok(slice.first::<Vec<u8>>(conn).await.optional()?)
    })
}

async fn window(db: &Db, look: &Look<'_>) -> Result<Window, StoreError> {
    let (tenant, after) = (Id::from(look.tenant), look.after);
    read!(db, |conn| {
        // Looked up before the slices: what is below it is seen by the read that follows.
        let last = last(conn).await?;
        let run = Id::from(after.run);
        let further = run_feed::commit_number
            .gt(after.commit)
            .or(run_feed::run_id.gt(run))
            .or(run_feed::run_id.eq(run).and(run_feed::last_sequence.gt(sequence(after.sequence))));
        let small = case_when(octet_length(run_feed::events).le(SMALL), run_feed::events);
        let rows: Vec<Row> = run_feed::table
            .filter(run_feed::organization_id.eq(tenant))
            .filter(run_feed::commit_number.ge(after.commit))
            .filter(further)
            .order((run_feed::commit_number, run_feed::run_id, run_feed::first_sequence))
            .limit(WINDOW)
            .select((
                run_feed::commit_number,
                run_feed::run_id,
                run_feed::first_sequence,
                run_feed::last_sequence,
                small,
            ))
            .load(conn)
            .await?;
        let ids: Vec<Id> = rows.iter().map(|(_, run, ..)| *run).collect();
        let (mut workflows, mut theirs) = (HashMap::new(), None);
        if let Some(person) = look.access.iter().find_map(|filter| filter.person()) {
            let mut found = HashSet::new();
            if !ids.is_empty() {
                let rows: Vec<(Id,)> = own::among(look.tenant, person, &ids).load(conn).await?;
                found.extend(rows.into_iter().map(|(id,)| id));
            }
            theirs = Some(found);
        }
        if !ids.is_empty() {
            let found: Vec<(Id, DefinitionKindWord, Id)> = runs::table
                .filter(runs::organization_id.eq(tenant))
                .filter(runs::id.eq_any(ids))
                .select((runs::id, runs::kind, runs::workflow_id))
                .load(conn)
                .await?;
            workflows.extend(found.into_iter().map(|(run, kind, of)| (run, (kind, of))));
        }
        Ok(Window { last, rows, workflows, own: theirs })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_behind_what_was_read_names_no_run_and_passes_nothing_over() {
        let place =
            |commit, run, sequence| FeedPosition { commit, run: RunId(Uuid::from_u128(run)), sequence };
        let cases = [
            (place(7, 3, 12), 7, place(8, 0, 0)),
            (place(7, 3, 12), 9, place(8, 0, 0)),
            // A commit that may not be there whole as yet, and a place that names no run, stay.
            (place(7, 3, 12), 6, place(7, 3, 12)),
            (place(8, 0, 0), 9, place(8, 0, 0)),
        ];
        for (reached, last, expected) in cases {
            assert_eq!(behind_commit(reached, last), expected, "{reached} up to {last}");
        }
        assert!(place(7, 3, 12) < place(8, 0, 0) && place(8, 0, 0) < place(8, 1, 1));
    }
}
