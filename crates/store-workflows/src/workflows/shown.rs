//! One workflow as a reader sees it: from what is kept, or by one way to the database.

use std::sync::Arc;

use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper};
use heddle_definitions::DefinitionKey;
use heddle_kernel::UserId;
use heddle_store::{Db, Error, Id, PgConn, document};
use heddle_usecase::{Admission, Compute, StoreError, computed};
use heddle_workflows::records::{ShownWorkflow, VersionChoice, Workflow, WorkflowState, WorkflowView};
use serde_json::value::RawValue;

use crate::counts::{by_workflow, counts_of};
use crate::kept::{Kept, TextKey, TextOf, Written};
use crate::schema::{CountsRow, WorkflowHead, workflow_stars, workflow_versions, workflows};
use crate::words::WorkflowStateWord;

use super::read::definition;

/// Bytes of a stored definition from which on it is unpacked on the threads that compute.
const LARGE: usize = 16 << 10;

/// A workflow, its reader, and the definition that they want.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub key: DefinitionKey,
    pub user: UserId,
    pub choice: VersionChoice,
}

impl Asked {
    const fn view_key(&self) -> (DefinitionKey, UserId) {
        (self.key, self.user)
    }

    /// The text that is wanted of the workflow as it is now.
    fn text_key(&self, view: &WorkflowView) -> Result<TextKey, StoreError> {
        let which = match self.choice {
            VersionChoice::Draft => TextOf::Draft(view.definition.draft_revision.0),
            VersionChoice::Published => {
                TextOf::Version(view.definition.published_version.ok_or(StoreError::NotFound)?)
            }
            VersionChoice::Number(number) => TextOf::Version(number),
        };
        Ok(TextKey { definition: self.key, which })
    }
}

/// The row without what is large.
macro_rules! head {
    ($asked:expr) => {
        definition!($asked.key).select(WorkflowHead::as_select())
    };
}

/// The reader's star.
macro_rules! star {
    ($asked:expr) => {
        workflow_stars::table
            .find((Id::from($asked.key.tenant()), Id::from($asked.user), Id::from($asked.key.id())))
            .select(workflow_stars::workflow_id)
    };
}

/// Numbers of runs by state.
macro_rules! counts {
    ($asked:expr) => {
        counts_of!($asked.key.tenant(), [Id::from($asked.key.id())])
    };
}

/// The draft with the revision that it has by now.
macro_rules! draft {
    ($key:expr) => {
        definition!($key.definition).select((workflows::draft_revision, workflows::draft))
    };
}

/// The definition of a version.
macro_rules! version {
    ($key:expr, $number:expr) => {
        workflow_versions::table
            .find((Id::from($key.definition.tenant()), Id::from($key.definition.id()), $number))
            .select(workflow_versions::definition)
    };
}

/// State and active version of a workflow.
macro_rules! standing {
    ($key:expr) => {
        definition!($key).select((workflows::state, workflows::published_version))
    };
}

fn view(row: WorkflowHead, star: Option<Id>, counted: Vec<CountsRow>) -> WorkflowView {
    let run_counts = by_workflow(counted).remove(&row.id).unwrap_or_default();
    WorkflowView { definition: Workflow::from(row), starred: star.is_some(), counts: run_counts }
}

/// The wanted text: kept, or as it is stored.
enum Found {
    Kept(Option<Arc<RawValue>>),
    Stored(TextKey, Option<Vec<u8>>),
}

/// Text of a stored definition.
fn text(stored: Option<Vec<u8>>) -> Result<Option<Arc<RawValue>>, Error> {
    let damaged = |error: serde_json::Error| Error::Document(error.to_string());
    let raw = |bytes: Vec<u8>| RawValue::from_string(document::text(&bytes)?).map_err(damaged);
    Ok(stored.map(raw).transpose()?.map(Arc::from))
}

/// One workflow.
pub(crate) async fn shown(
    db: &Db,
    kept: &Arc<Kept>,
    compute: &dyn Compute,
    asked: Asked,
) -> Result<ShownWorkflow, StoreError> {
    let (view, found) = match db {
        Db::Sqlite(sqlite) => {
            let stamp = Kept::stamp(sqlite, asked.key);
            let known = kept.view(&asked.view_key(), stamp);
            if let Some(view) = &known
                && let Some(definition) = kept.text(&asked.text_key(view)?)
            {
                return Ok(ShownWorkflow { view: Arc::clone(view), document: definition });
            }
            let cache = Arc::clone(kept);
            let read = sqlite.read(move |conn| on_sqlite::shown(conn, &cache, asked, known)).await?;
            kept.keep_view(asked.view_key(), stamp, &read.0);
            read
        }
        Db::Postgres(postgres) => {
            let mut conn = postgres.conn().await?;
            on_postgres::shown(&mut conn, kept, asked).await?
        }
    };
    let (key, stored) = match found {
        Found::Kept(document) => return Ok(ShownWorkflow { view, document }),
        Found::Stored(key, stored) => (key, stored),
    };
    let definition = if stored.as_ref().is_some_and(|bytes| bytes.len() > LARGE) {
        let made = computed(compute, asked.key.tenant(), Admission::Take, move || text(stored)).await;
        // Only a panic or the end of the program gives no result.
        made.map_err(|error| StoreError::Unavailable(error.to_string()))??
    } else {
        text(stored)?
    };
    kept.keep_text(key, &definition);
    Ok(ShownWorkflow { view, document: definition })
}

/// State of a definition, and the number of its active version.
pub(crate) async fn standing(
    db: &Db,
    kept: &Kept,
    key: DefinitionKey,
) -> Result<(WorkflowState, Option<i32>), StoreError> {
    let written = Written::Workflow(key.tenant(), key.id());
    let generation = db.sqlite().map(|sqlite| sqlite.generation(&written));
    if let Some(known) = generation.and_then(|generation| kept.standing(&key, generation)) {
        return Ok(known);
    }
    let (state, active): (WorkflowStateWord, Option<i32>) = heddle_store::read!(db, |conn| {
        Ok(diesel_async::RunQueryDsl::first(standing!(key), conn).await?)
    })?;
    let standing = (state.0, active);
    if let Some(generation) = generation {
        kept.keep_standing(key, generation, standing);
    }
    Ok(standing)
}

/// SQLite: all statements in one call.
mod on_sqlite {
    use diesel::{RunQueryDsl, SqliteConnection};

    use super::*;

    pub(super) fn shown(
        conn: &mut SqliteConnection,
        kept: &Kept,
        asked: Asked,
        known: Option<Arc<WorkflowView>>,
    ) -> Result<(Arc<WorkflowView>, Found), Error> {
        let view = match known {
            Some(view) => view,
            None => {
                let row: WorkflowHead = head!(asked).first(conn)?;
                let star: Option<Id> = star!(asked).first(conn).optional()?;
                let counted: Vec<CountsRow> = counts!(asked).load(conn)?;
                Arc::new(view(row, star, counted))
            }
        };
        let key = asked.text_key(&view)?;
        if let Some(definition) = kept.text(&key) {
            return Ok((view, Found::Kept(definition)));
        }
        let found = match key.which {
            TextOf::Draft(_) => {
                let (revision, stored): (i64, Option<Vec<u8>>) = draft!(key).first(conn)?;
                Found::Stored(TextKey { which: TextOf::Draft(revision), ..key }, stored)
            }
            TextOf::Version(number) => Found::Stored(key, Some(version!(key, number).first(conn)?)),
        };
        Ok((view, found))
    }
}

/// PostgreSQL: the statements are sent one behind the other without waiting.
mod on_postgres {
    use diesel_async::RunQueryDsl;

    use super::*;

    pub(super) async fn shown(
        conn: &mut PgConn,
        kept: &Kept,
        asked: Asked,
    ) -> Result<(Arc<WorkflowView>, Found), Error> {
        let (row, star, counted) = {
            let shared: &PgConn = conn;
            let (mut first, mut second, mut third) = (shared, shared, shared);
            let star = async { star!(asked).first::<Id>(&mut second).await.optional() };
            futures::try_join!(
                head!(asked).first::<WorkflowHead>(&mut first),
                star,
                counts!(asked).load::<CountsRow>(&mut third)
            )?
        };
        let view = Arc::new(view(row, star, counted));
        let key = asked.text_key(&view)?;
        if let Some(definition) = kept.text(&key) {
            return Ok((view, Found::Kept(definition)));
        }
        let found = match key.which {
            TextOf::Draft(_) => {
                let (revision, stored): (i64, Option<Vec<u8>>) = draft!(key).first(conn).await?;
                Found::Stored(TextKey { which: TextOf::Draft(revision), ..key }, stored)
            }
            TextOf::Version(number) => Found::Stored(key, Some(version!(key, number).first(conn).await?)),
        };
        Ok((view, found))
    }
}
