//! Lanes: the first errand of each, found by one look into an index for each, however much waits in it.

use diesel::QueryableByName;
use diesel::sql_types::{Bool, Integer, Nullable, Text};
use diesel_async::RunQueryDsl;
use heddle_kernel::Timestamp;
use heddle_store::{At, Db, DbInstant, DbUuid, Id, errands, fixed, read};
use heddle_usecase::StoreError;
use heddle_usecase::errand::{ErrandKind, Look, ReadyLane};
use uuid::Uuid;

/// Words of a look at the lanes of a kind behind one of them: the next one behind the last, again and again. A value stands
/// between each two of them.
const LOWEST: &str = "WITH RECURSIVE own(lane, number) AS (
        SELECT * FROM (SELECT lane, 1 FROM errands WHERE kind = ";
const BEHIND: &str = " AND lane > ";
const NEXT: &str = " ORDER BY lane LIMIT 1) AS lowest
        UNION ALL
        SELECT (SELECT lane FROM errands WHERE kind = ";
const UP_TO: &str = " AND lane > own.lane ORDER BY lane LIMIT 1), own.number + 1
        FROM own WHERE own.lane IS NOT NULL AND own.number < ";

/// Words that find the first errand of a lane on SQLite, by the row's number.
const FIRST_SQLITE: [&str; 2] = [
    ")
    SELECT head.organization_id, head.lane, head.target, head.line, head.due_at, head.node, head.suspect
    FROM own CROSS JOIN errands AS head ON head.position = (
        SELECT earliest.position FROM errands AS earliest WHERE earliest.kind = ",
    " AND earliest.lane = own.lane ORDER BY earliest.turn, earliest.position LIMIT 1
    ) WHERE own.lane IS NOT NULL",
];

/// The same on PostgreSQL.
const FIRST_POSTGRES: [&str; 2] = [
    ")
    SELECT head.organization_id, head.lane, head.target, head.line, head.due_at, head.node, head.suspect
    FROM own CROSS JOIN LATERAL (
        SELECT * FROM errands AS earliest WHERE earliest.kind = ",
    " AND earliest.lane = own.lane ORDER BY earliest.turn, earliest.position LIMIT 1
    ) AS head WHERE own.lane IS NOT NULL",
];

/// The first errand of a lane.
#[derive(QueryableByName)]
struct Head {
    #[diesel(sql_type = DbUuid)]
    organization_id: Id,
    #[diesel(sql_type = DbUuid)]
    lane: Id,
    #[diesel(sql_type = Text)]
    target: String,
    #[diesel(sql_type = Text)]
    line: String,
    #[diesel(sql_type = DbInstant)]
    due_at: At,
    #[diesel(sql_type = Nullable<DbUuid>)]
    node: Option<Id>,
    #[diesel(sql_type = Bool)]
    suspect: bool,
}

/// A look at the lanes of a kind behind one of them.
pub(super) async fn look(
    db: &Db,
    kind: ErrandKind,
    now: Timestamp,
    after: Option<Uuid>,
    lanes: i64,
) -> Result<Look, StoreError> {
    let [heads, first] = if db.sqlite().is_some() { FIRST_SQLITE } else { FIRST_POSTGRES };
    let (after, most) = (Id(after.unwrap_or_default()), i32::try_from(lanes).unwrap_or(i32::MAX));
    let mut heads: Vec<Head> = read!(db, |conn| {
        let query = fixed(LOWEST)
            .bind::<Text, _>(kind.as_str(), BEHIND)
            .bind::<DbUuid, _>(after, NEXT)
            .bind::<Text, _>(kind.as_str(), UP_TO)
            .bind::<Integer, _>(most, heads)
            .bind::<Text, _>(kind.as_str(), first);
        Ok(query.load(conn).await?)
    })?;
    heads.sort_unstable_by_key(|head| head.lane);
    let full = i64::try_from(heads.len()).unwrap_or(i64::MAX) >= lanes;
    let mut look = Look { reached: heads.last().filter(|_| full).map(|head| head.lane.0), ..Look::default() };
    for head in heads {
        let due = Timestamp::from(head.due_at);
        if due > now {
            look.next_due = look.next_due.into_iter().chain([due]).min();
            continue;
        }
        // The kind is known, since it was asked for.
        let lane = errands::lane_of(head.organization_id.into(), kind.as_str(), head.target, head.line)?;
        look.ready.push(ReadyLane { lane, is_suspect: head.suspect || head.node.is_some() });
    }
    Ok(look)
}
