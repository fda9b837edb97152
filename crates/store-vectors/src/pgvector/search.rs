//! Search among the vectors of a partition.

use diesel::sql_types::{BigInt, Text};
use diesel_async::{RunQueryDsl as _, SimpleAsyncConnection as _};
use heddle_store::{DbUuid, Id, PgConn, PgDb};
use heddle_vectors::ports::{IndexError, LegScores, PassageHit, Search};
use heddle_vectors::records::{PassageId, PassageRange};

use super::fault::Fault;
use super::partition::{GRAPH_FROM, Partition, finish};
use super::rows::{Candidate, check, cosine, multirange, text_of};

/// Most candidates of a search.
const MOST: u32 = 10_000;
/// Candidates beyond those asked for, since half the digits order those at the end otherwise.
const MORE: u32 = 32;
/// Least and most breadth of a scan of the graph.
const BREADTH: (u32, u32) = (128, 1_000);

/// Manner of looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Along the graph.
    Graph,
    /// At each vector.
    Every,
}

impl Partition {
    /// The nearest passages with their exact cosine, the nearest first.
    pub(super) async fn search(&self, vector: &[f32], search: &Search) -> Result<Vec<PassageHit>, Fault> {
        check(vector, self.dimensions)?;
        let allow = search.allow.as_deref();
        let reach = allow.map(|allow| allow.iter().map(|range| range.len()).sum::<u64>());
        if reach == Some(0) || search.candidates == 0 {
            return Ok(Vec::new());
        }
        let most = search.candidates.min(MOST);
        let mut conn = self.postgres.conn().await?;
        PgDb::begin(&mut conn).await?;
        let asked = Asked { vector, allow, reach, most: most + MORE };
        let result = self.candidates(&mut conn, &asked).await;
        let candidates = finish(&mut conn, result).await?;
        drop(conn);
        let mut hits: Vec<PassageHit> = candidates
            .into_iter()
            .filter_map(|one| {
                let id = PassageId(u64::try_from(one.passage_id?).ok()?);
                let semantic = Some(cosine(vector, &one.exact?));
                Some(PassageHit { id, scores: LegScores { semantic, keyword: None } })
            })
            .collect();
        hits.sort_by(|one, other| {
            let score = |hit: &PassageHit| hit.scores.semantic.unwrap_or(f32::NEG_INFINITY);
            score(other).total_cmp(&score(one)).then(one.id.cmp(&other.id))
        });
        hits.truncate(most as usize);
        Ok(hits)
    }

    /// Candidates, by the graph where that is worth it and gives enough.
    async fn candidates(&self, conn: &mut PgConn, asked: &Asked<'_>) -> Result<Vec<Candidate>, Fault> {
        let state = self.state(conn, false).await?;
        self.whole(state.as_ref())?;
        let Some(state) = state else { return Ok(Vec::new()) };
        let wide = asked.reach.is_none_or(|reach| i64::try_from(reach).is_ok_and(|reach| reach > GRAPH_FROM));
        if state.graph && wide {
            // How many a filter allows is guessed too low, and the graph passed over: no order by sorting where there is one.
            let (least, most) = BREADTH;
            let breadth = asked.most.clamp(least, most);
            conn.batch_execute(&format!(
                "SET LOCAL hnsw.iterative_scan = strict_order; SET LOCAL hnsw.ef_search = {breadth}; \
                 SET LOCAL enable_sort = off"
            ))
            .await?;
            let found = self.look(conn, asked, Way::Graph).await?;
            let enough = i64::from(asked.most).min(state.passages);
            if i64::try_from(found.len()).is_ok_and(|found| found >= enough) {
                return Ok(found);
            }
            // The scan ends after so many vectors, however few of them are allowed.
        }
        self.look(conn, asked, Way::Every).await
    }

    /// Looks, and reads in the same statement whether it is whole: it may be begun anew at any time.
    async fn look(&self, conn: &mut PgConn, asked: &Asked<'_>, way: Way) -> Result<Vec<Candidate>, Fault> {
        let ranges = asked.allow.map(multirange).transpose()?.unwrap_or_default();
        let query = diesel::sql_query(self.text(way, asked))
            .bind::<DbUuid, _>(Id::from(self.key.tenant))
            .bind::<DbUuid, _>(Id(self.key.database.0))
            .bind::<BigInt, _>(self.key.generation)
            .bind::<Text, _>(text_of(asked.vector));
        let found: Vec<Candidate> = match asked.allow {
            Some(_) => query.bind::<Text, _>(ranges).load(conn).await?,
            None => query.load(conn).await?,
        };
        if found.as_slice().first().is_none_or(|first| first.sequence.is_none()) {
            return Err(IndexError::Rebuild("the vectors are not all there".to_owned()).into());
        }
        Ok(found.into_iter().filter(|one| one.passage_id.is_some()).collect())
    }

    fn text(&self, way: Way, asked: &Asked<'_>) -> String {
        let (table, kind, most) = (&self.names.table, self.kind(), asked.most);
        let distance = format!("(d.embedding::{kind}) {} $4::{kind}", self.distance());
        // An order that is a sum is none of the graph's.
        let order = match way {
            Way::Graph => distance,
            Way::Every => format!("({distance}) + 0"),
        };
        let from = match (asked.allow, way) {
            (None, _) => format!("{table} d"),
            (Some(_), Way::Graph) => format!("{table} d WHERE d.passage_id <@ $5::int8multirange"),
            (Some(_), Way::Every) => format!(
                "unnest($5::int8multirange) AS r(span) \
                 JOIN {table} d ON d.passage_id >= lower(r.span) AND d.passage_id < upper(r.span)"
            ),
        };
        format!(
            "SELECT s.sequence, f.passage_id, f.exact FROM vector_partitions s LEFT JOIN LATERAL \
             (SELECT d.passage_id, d.exact FROM {from} ORDER BY {order} LIMIT {most}) f ON true \
             WHERE s.organization_id = $1 AND s.database_id = $2 AND s.generation = $3"
        )
    }
}

/// Search of one vector.
struct Asked<'a> {
    vector: &'a [f32],
    allow: Option<&'a [PassageRange]>,
    /// Number of ids that are allowed.
    reach: Option<u64>,
    /// Most candidates.
    most: u32,
}
