//! Partition of one index: its making, its filling, and the number of the commit that it has.

use std::sync::Arc;

use diesel::sql_types::{Array, BigInt, Binary, Integer, Nullable, Text};
use diesel_async::{RunQueryDsl as _, SimpleAsyncConnection as _};
use heddle_store::{DbUuid, Error, Id, PgConn, PgDb, StoreError, lock};
use heddle_vectors::ports::{Given, IndexError, IndexedPassage};
use heddle_vectors::records::{IndexKey, PassageRange};

use super::fault::Fault;
use super::rows::{FoundExtension, Rows, State, Yes, multirange};

/// Passages from which a graph is worth its building.
pub(super) const GRAPH_FROM: i64 = 20_000;
/// Most dimensions of a vector that stays within its row: a page has 8 kB.
const INLINE: u32 = 3_000;
/// Most dimensions that the extension's graph takes.
const GRAPH_DIMENSIONS: u32 = 4_000;
/// Rows of one statement.
const PART: usize = 500;
/// Lock for the making and removing of partitions, and for the building of graphs.
const GRAPHS: i32 = 1_212_502_095;

const FIND: &str = "SELECT quote_ident(n.nspname) AS schema, e.extversion AS version \
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'";

const STATE: &str = "SELECT s.model, s.dimensions, s.sequence, s.passages, s.epoch, \
    s.touched_at < now() - make_interval(secs => 60) AS idle, \
    EXISTS (SELECT 1 FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid \
        WHERE c.relname = $4 AND c.relnamespace = current_schema()::regnamespace AND i.indisvalid) AS graph \
    FROM vector_partitions s \
    WHERE s.organization_id = $1 AND s.database_id = $2 AND s.generation = $3";

const BEGIN: &str = "INSERT INTO vector_partitions \
    (organization_id, database_id, generation, model, dimensions, sequence, passages, epoch, touched_at) \
    VALUES ($1, $2, $3, $4, $5, NULL, 0, 1, now()) \
    ON CONFLICT (organization_id, database_id, generation) DO UPDATE SET model = excluded.model, \
    dimensions = excluded.dimensions, sequence = NULL, passages = 0, epoch = vector_partitions.epoch + 1, \
    touched_at = now()";

/// The extension, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extension {
    /// Schema of its types and operators, quoted.
    pub schema: String,
}

impl Extension {
    /// The extension, or the sentence for an operator on why there is none.
    pub(super) async fn find(postgres: &PgDb) -> Result<Result<Self, String>, StoreError> {
        let mut conn = postgres.conn().await?;
        let found: Result<Vec<FoundExtension>, _> = diesel::sql_query(FIND).load(&mut *conn).await;
        let found = found.map_err(|error| StoreError::from(Error::from(error)))?;
        let Some(found) = found.into_iter().next() else {
            let why = "the database has no extension `vector`: install pgvector 0.8 or later, and let an administrator \
                       of the database say `CREATE EXTENSION vector`";
            return Ok(Err(why.to_owned()));
        };
        if !scans_on(&found.version) {
            let why = format!(
                "the database has pgvector {}: 0.8 or later is needed, which `ALTER EXTENSION vector UPDATE` brings \
                 where it is installed",
                found.version
            );
            return Ok(Err(why));
        }
        Ok(Ok(Self { schema: found.schema }))
    }
}

/// Whether a version scans a graph on until a filter has enough.
fn scans_on(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    major > 0 || minor >= 8
}

/// Partition of one index.
#[derive(Debug, Clone)]
pub(super) struct Partition {
    pub(super) postgres: PgDb,
    pub(super) key: IndexKey,
    pub(super) dimensions: u32,
    pub(super) names: Arc<Names>,
    model: String,
    extension: Extension,
}

/// Outcome of a beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    /// Whole partition, which stays: the number of the last commit that is in it.
    Kept(i64),
    /// Empty partition: the epoch under which it is filled.
    Anew(i64),
}

/// Names of a partition's table and graph, both without anything to quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names {
    /// Value by which it is a partition.
    pub value: String,
    /// The table.
    pub table: String,
    /// The graph.
    pub graph: String,
}

impl Names {
    pub(super) fn of(key: IndexKey) -> Self {
        let value = format!("{}_{}", key.database.0.simple(), key.generation);
        Self { table: format!("vector_dense_{value}"), graph: format!("vector_graph_{value}"), value }
    }
}

impl Partition {
    pub(super) fn new(
        postgres: PgDb,
        extension: Extension,
        key: IndexKey,
        model: String,
        dimensions: u32,
    ) -> Result<Self, IndexError> {
        if key.generation < 0 || dimensions == 0 {
            return Err(IndexError::Unfit("no generation, or no dimensions".to_owned()));
        }
        Ok(Self { postgres, key, dimensions, names: Arc::new(Names::of(key)), model, extension })
    }

    /// The type of the vectors that are scanned.
    pub(super) fn kind(&self) -> String {
        format!("{}.halfvec({})", self.extension.schema, self.dimensions)
    }

    /// The distance by cosine.
    pub(super) fn distance(&self) -> String {
        format!("OPERATOR({}.<=>)", self.extension.schema)
    }

    /// State of it, if there is one.
    pub(super) async fn state(&self, conn: &mut PgConn, locked: bool) -> Result<Option<State>, Fault> {
        let text = if locked { format!("{STATE} FOR UPDATE OF s") } else { STATE.to_owned() };
        let query = diesel::sql_query(text)
            .bind::<DbUuid, _>(Id::from(self.key.tenant))
            .bind::<DbUuid, _>(Id(self.key.database.0))
            .bind::<BigInt, _>(self.key.generation)
            .bind::<Text, _>(&self.names.graph);
        let found: Vec<State> = query.load(conn).await?;
        Ok(found.into_iter().next())
    }

    /// Number of the last commit that a whole partition has.
    pub(super) fn whole(&self, state: Option<&State>) -> Result<i64, IndexError> {
        let Some(state) = state else {
            return Err(IndexError::Rebuild("there are no vectors yet".to_owned()));
        };
        if state.model != self.model || i64::from(state.dimensions) != i64::from(self.dimensions) {
            return Err(IndexError::Rebuild("the vectors are of another model".to_owned()));
        }
        state.sequence.ok_or_else(|| IndexError::Rebuild("the vectors are not all there yet".to_owned()))
    }

    /// Number of the last commit that it has; while another node builds it anew it is not available.
    pub(super) async fn sequence(&self, own: Option<i64>) -> Result<i64, Fault> {
        let mut conn = self.postgres.conn().await?;
        let state = self.state(&mut conn, false).await?;
        if state.as_ref().is_some_and(|state| state.is_anothers(own)) {
            return Err(building());
        }
        Ok(self.whole(state.as_ref())?)
    }

    /// Whether it is whole and its graph is there.
    pub(super) async fn has_graph(&self) -> Result<bool, Fault> {
        let mut conn = self.postgres.conn().await?;
        let state = self.state(&mut conn, false).await?;
        self.whole(state.as_ref())?;
        Ok(state.is_some_and(|state| state.graph))
    }

    /// Begins anew, unless it is whole and has a commit behind the one that is `stale`. `own` is the epoch that this node began
    /// before.
    pub(super) async fn begin(&self, own: Option<i64>, stale: Option<i64>) -> Result<Beginning, Fault> {
        let mut conn = self.postgres.conn().await?;
        PgDb::begin(&mut conn).await?;
        let result = self.begin_within(&mut conn, own, stale).await;
        finish(&mut conn, result).await
    }

    async fn begin_within(
        &self,
        conn: &mut PgConn,
        own: Option<i64>,
        stale: Option<i64>,
    ) -> Result<Beginning, Fault> {
        lock::serialise(conn, "vector partitions").await?;
        let state = self.state(conn, true).await?;
        if let Ok(has) = self.whole(state.as_ref())
            && stale.is_none_or(|stale| has > stale)
        {
            return Ok(Beginning::Kept(has));
        }
        if state.as_ref().is_some_and(|state| state.is_anothers(own)) {
            return Err(building());
        }
        let dimensions = i32::try_from(self.dimensions)
            .map_err(|_beyond| IndexError::Unfit("so many dimensions".to_owned()))?;
        diesel::sql_query(BEGIN)
            .bind::<DbUuid, _>(Id::from(self.key.tenant))
            .bind::<DbUuid, _>(Id(self.key.database.0))
            .bind::<BigInt, _>(self.key.generation)
            .bind::<Text, _>(&self.model)
            .bind::<Integer, _>(dimensions)
            .execute(conn)
            .await?;
        conn.batch_execute(&self.making()).await?;
        let begun = self.state(conn, false).await?;
        let begun = begun.ok_or_else(|| IndexError::Rebuild("what was begun is gone".to_owned()))?;
        Ok(Beginning::Anew(begun.epoch))
    }

    /// The statements that make an empty partition in the place of whatever is there.
    fn making(&self) -> String {
        let Names { value, table, graph: _ } = &*self.names;
        let (schema, dimensions) = (&self.extension.schema, self.dimensions);
        let tenant = self.key.tenant.0;
        let inline = if dimensions <= INLINE {
            format!("ALTER TABLE {table} ALTER COLUMN embedding SET STORAGE PLAIN;")
        } else {
            String::new()
        };
        format!(
            "CREATE TABLE IF NOT EXISTS vector_dense (organization_id uuid NOT NULL, partition text COLLATE \"C\" NOT NULL, \
             passage_id bigint NOT NULL, embedding {schema}.halfvec NOT NULL, exact bytea NOT NULL) \
             PARTITION BY LIST (partition); \
             DROP TABLE IF EXISTS {table}; \
             CREATE TABLE {table} (LIKE vector_dense, PRIMARY KEY (passage_id), \
             CHECK (partition = '{value}'), CHECK (organization_id = '{tenant}'), \
             CHECK ({schema}.vector_dims(embedding) = {dimensions})); \
             {inline} \
             ALTER TABLE {table} ALTER COLUMN exact SET STORAGE EXTERNAL; \
             ALTER TABLE vector_dense ATTACH PARTITION {table} FOR VALUES IN ('{value}')"
        )
    }

    /// Adds passages to what was begun under an epoch.
    pub(super) async fn add(&self, epoch: i64, add: &[IndexedPassage]) -> Result<(), Fault> {
        let mut conn = self.postgres.conn().await?;
        PgDb::begin(&mut conn).await?;
        let result = self.add_within(&mut conn, epoch, add).await;
        finish(&mut conn, result).await
    }

    async fn add_within(&self, conn: &mut PgConn, epoch: i64, add: &[IndexedPassage]) -> Result<(), Fault> {
        self.mine(conn, epoch).await?;
        let grown = self.replace(conn, &[], add).await?;
        self.note(conn, None, grown).await
    }

    /// Ends what was begun under an epoch: it has that commit from then on.
    pub(super) async fn end(&self, epoch: i64, sequence: i64) -> Result<(), Fault> {
        let mut conn = self.postgres.conn().await?;
        PgDb::begin(&mut conn).await?;
        let result = self.end_within(&mut conn, epoch, sequence).await;
        finish(&mut conn, result).await?;
        drop(conn);
        self.grow().await
    }

    async fn end_within(&self, conn: &mut PgConn, epoch: i64, sequence: i64) -> Result<(), Fault> {
        self.mine(conn, epoch).await?;
        self.note(conn, Some(sequence), 0).await
    }

    /// Sees that nobody began anew since.
    async fn mine(&self, conn: &mut PgConn, epoch: i64) -> Result<(), Fault> {
        match self.state(conn, true).await? {
            Some(state) if state.epoch == epoch && state.sequence.is_none() => Ok(()),
            Some(_) | None => Err(IndexError::Rebuild("somebody else began it anew".to_owned()).into()),
        }
    }

    /// Applies the commits behind one up to another, or a part of what they changed, unless it has them. It may be ahead of
    /// the one by which it is given them, which is a node's that comes later.
    pub(super) async fn apply(
        &self,
        remove: &[PassageRange],
        add: &[IndexedPassage],
        given: Given,
    ) -> Result<(), Fault> {
        let mut conn = self.postgres.conn().await?;
        PgDb::begin(&mut conn).await?;
        let result = self.apply_within(&mut conn, remove, add, given).await;
        let grew = finish(&mut conn, result).await?;
        drop(conn);
        if grew { self.grow().await } else { Ok(()) }
    }

    /// Whether it has so many passages now that a graph is worth it, and has none.
    async fn apply_within(
        &self,
        conn: &mut PgConn,
        remove: &[PassageRange],
        add: &[IndexedPassage],
        given: Given,
    ) -> Result<bool, Fault> {
        let state = self.state(conn, true).await?;
        // Another node was here first.
        if self.whole(state.as_ref())? >= given.until {
            return Ok(false);
        }
        let grown = self.replace(conn, remove, add).await?;
        self.note(conn, given.is_last.then_some(given.until), grown).await?;
        Ok(state.is_some_and(|state| !state.graph && state.passages + grown >= GRAPH_FROM))
    }

    /// Notes how many passages came, and perhaps the commit that it has.
    async fn note(&self, conn: &mut PgConn, sequence: Option<i64>, grown: i64) -> Result<(), Fault> {
        let text = "UPDATE vector_partitions SET sequence = coalesce($4, sequence), passages = passages + $5, \
                    touched_at = now() WHERE organization_id = $1 AND database_id = $2 AND generation = $3";
        let query = diesel::sql_query(text)
            .bind::<DbUuid, _>(Id::from(self.key.tenant))
            .bind::<DbUuid, _>(Id(self.key.database.0))
            .bind::<BigInt, _>(self.key.generation)
            .bind::<Nullable<BigInt>, _>(sequence)
            .bind::<BigInt, _>(grown);
        query.execute(conn).await?;
        Ok(())
    }

    /// Removes passages and puts others in, in place of those that are there; gives how many more there are.
    async fn replace(
        &self,
        conn: &mut PgConn,
        remove: &[PassageRange],
        add: &[IndexedPassage],
    ) -> Result<i64, Fault> {
        let Names { table, value, graph: _ } = &*self.names;
        let mut grown = 0_i64;
        if !remove.is_empty() {
            let text = format!(
                "DELETE FROM {table} AS d USING unnest($1::int8multirange) AS r(span) \
                 WHERE d.passage_id >= lower(r.span) AND d.passage_id < upper(r.span)"
            );
            let query = diesel::sql_query(text).bind::<Text, _>(multirange(remove)?);
            grown -= count(query.execute(conn).await?);
        }
        let replaced = format!("DELETE FROM {table} WHERE passage_id = ANY ($1)");
        let added = format!(
            "INSERT INTO {table} (organization_id, partition, passage_id, embedding, exact) \
             SELECT $1, $2, i.id, i.embedding::{kind}, i.exact \
             FROM unnest($3::bigint[], $4::text[], $5::bytea[]) AS i(id, embedding, exact)",
            kind = self.kind()
        );
        for part in add.chunks(PART) {
            let rows = Rows::of(part, self.dimensions)?;
            let gone = diesel::sql_query(&replaced).bind::<Array<BigInt>, _>(&rows.ids);
            grown -= count(gone.execute(conn).await?);
            let query = diesel::sql_query(&added)
                .bind::<DbUuid, _>(Id::from(self.key.tenant))
                .bind::<Text, _>(value)
                .bind::<Array<BigInt>, _>(&rows.ids)
                .bind::<Array<Text>, _>(&rows.embeddings)
                .bind::<Array<Binary>, _>(&rows.exact);
            grown += count(query.execute(conn).await?);
        }
        Ok(grown)
    }

    /// Builds the graph beside, where it is worth it and there is none: whoever asked waits for nothing.
    async fn grow(&self) -> Result<(), Fault> {
        if self.dimensions > GRAPH_DIMENSIONS {
            return Ok(());
        }
        let mut conn = self.postgres.conn().await?;
        let state = self.state(&mut conn, false).await?;
        drop(conn);
        if state.is_none_or(|state| state.graph || state.passages < GRAPH_FROM) {
            return Ok(());
        }
        let own = self.clone();
        tokio::spawn(async move {
            if let Err(error) = own.build_graph().await {
                let error = IndexError::from(error);
                // Every vector is looked at until then, which is right and slower; the next commit tries again.
                tracing::warn!(%error, table = own.names.table, "the graph of a vector index was not built");
            }
        });
        Ok(())
    }

    /// Builds the graph while others read and write. Of several nodes one does.
    async fn build_graph(&self) -> Result<(), Fault> {
        let Names { table, graph, value: _ } = &*self.names;
        let mut conn = self.postgres.conn().await?;
        let text = "SELECT pg_try_advisory_lock($1, hashtext($2)) AS yes";
        let taken: Yes = diesel::sql_query(text)
            .bind::<Integer, _>(GRAPHS)
            .bind::<Text, _>(graph)
            .get_result(&mut *conn)
            .await?;
        if !taken.yes {
            return Ok(());
        }
        let (kind, schema) = (self.kind(), &self.extension.schema);
        // Each is a statement of its own: no transaction may be open. The building waits for every transaction that runs, for
        // longer than others may wait for a lock.
        conn.batch_execute("SET lock_timeout = '10min'").await?;
        // One that broke off stays behind without being valid.
        let gone = conn.batch_execute(&format!("DROP INDEX CONCURRENTLY IF EXISTS {graph}")).await;
        let built = match gone {
            Ok(()) => {
                let text = format!(
                    "CREATE INDEX CONCURRENTLY {graph} ON {table} USING hnsw \
                     ((embedding::{kind}) {schema}.halfvec_cosine_ops) WITH (m = 16, ef_construction = 128)"
                );
                conn.batch_execute(&text).await
            }
            Err(error) => Err(error),
        };
        // As every connection has it when it is made.
        conn.batch_execute("SET lock_timeout = '10s'").await?;
        let open = diesel::sql_query("SELECT pg_advisory_unlock($1, hashtext($2))")
            .bind::<Integer, _>(GRAPHS)
            .bind::<Text, _>(graph)
            .execute(&mut *conn)
            .await;
        built?;
        open?;
        Ok(())
    }

    /// Removes the partition of a key with its state; one that is not there is no fault.
    pub(super) async fn remove(postgres: &PgDb, key: IndexKey) -> Result<(), Fault> {
        let mut conn = postgres.conn().await?;
        PgDb::begin(&mut conn).await?;
        let result = Self::remove_within(&mut conn, key).await;
        finish(&mut conn, result).await
    }

    async fn remove_within(conn: &mut PgConn, key: IndexKey) -> Result<(), Fault> {
        let text = "DELETE FROM vector_partitions \
                    WHERE organization_id = $1 AND database_id = $2 AND generation = $3";
        let gone = diesel::sql_query(text)
            .bind::<DbUuid, _>(Id::from(key.tenant))
            .bind::<DbUuid, _>(Id(key.database.0))
            .bind::<BigInt, _>(key.generation)
            .execute(conn)
            .await?;
        if gone > 0 {
            lock::serialise(conn, "vector partitions").await?;
            conn.batch_execute(&format!("DROP TABLE IF EXISTS {}", Names::of(key).table)).await?;
        }
        Ok(())
    }
}

/// Commits when it went well, else rolls back.
pub(super) async fn finish<T>(conn: &mut PgConn, result: Result<T, Fault>) -> Result<T, Fault> {
    match result {
        Ok(value) => Ok(PgDb::finish(conn, Ok(value)).await?),
        Err(Fault::Store(error)) => Ok(PgDb::finish(conn, Err(error)).await?),
        Err(fault @ Fault::Index(_)) => {
            // Whatever is given for an error comes back, once all is rolled back.
            let _rolled_back: Result<(), Error> =
                PgDb::finish(conn, Err(Error::Unavailable(fault.to_string()))).await;
            Err(fault)
        }
    }
}

fn building() -> Fault {
    Fault::Index(IndexError::Unavailable("another server builds the index anew".to_owned()))
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
