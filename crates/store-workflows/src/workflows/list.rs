//! Pages of workflows.

use crate::schema::{WorkflowHead, workflow_stars, workflows};
use diesel::EscapeExpressionMethods;
use diesel::dsl::{exists, not};
use diesel::{
    BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, SelectableHelper,
    TextExpressionMethods,
};
use diesel_async::RunQueryDsl;
use heddle_definitions::DefinitionAccess;
use heddle_kernel::{DefinitionKind, Page, PageRequest, TenantId, Timestamp, UserId, WorkflowId};
use heddle_store::{At, Db, Id, keyset, page, read, search, within};
use heddle_usecase::StoreError;
use heddle_workflows::ports::{WorkflowFilter, WorkflowSort};
use heddle_workflows::records::Workflow;
use serde::{Deserialize, Serialize};

use crate::words::{DefinitionKindWord, WorkflowStateWord};

use super::read::views;

/// Letters of a name that a cursor holds: a cursor has 1,024 bytes at most.
const LETTERS: usize = 80;

/// The place of a workflow in a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Key {
    /// Instant of creation in microseconds, and id.
    #[serde(rename = "c")]
    Created(i64, WorkflowId),
    /// Instant of the last change in microseconds, and id.
    #[serde(rename = "u")]
    Updated(i64, WorkflowId),
    /// Display name, and id.
    #[serde(rename = "n")]
    Name(String, WorkflowId),
    /// First letters of a longer display name, and id.
    #[serde(rename = "l")]
    LongName(String, WorkflowId),
}

impl Key {
    fn of(sort: WorkflowSort, workflow: &Workflow) -> Self {
        use WorkflowSort as S;
        match sort {
            S::CreatedDescending | S::CreatedAscending => {
                Self::Created(workflow.created_at.micros(), workflow.id)
            }
            S::UpdatedDescending | S::UpdatedAscending => {
                Self::Updated(workflow.updated_at.micros(), workflow.id)
            }
            S::DisplayName | S::DisplayNameDescending => {
                let name = &workflow.display_name;
                match name.char_indices().nth(LETTERS) {
                    Some((end, _)) => Self::LongName(name[..end].to_owned(), workflow.id),
                    None => Self::Name(name.clone(), workflow.id),
                }
            }
        }
    }

    /// Whether it is one of a list in this order.
    const fn fits(&self, sort: WorkflowSort) -> bool {
        use WorkflowSort as S;
        matches!(
            (self, sort),
            (Self::Created(..), S::CreatedDescending | S::CreatedAscending)
                | (Self::Updated(..), S::UpdatedDescending | S::UpdatedAscending)
                | (Self::Name(..) | Self::LongName(..), S::DisplayName | S::DisplayNameDescending)
        )
    }
}

/// A page of workflows.
pub(crate) async fn list(
    db: &Db,
    tenant: TenantId,
    user: UserId,
    filter: &WorkflowFilter,
    access: DefinitionAccess<'_>,
    page: &PageRequest,
) -> Result<Page<heddle_workflows::records::WorkflowView>, StoreError> {
    let from: Option<Key> = page::position(page)?;
    if from.as_ref().is_some_and(|key| !key.fits(filter.sort)) {
        return Err(StoreError::InvalidCursor);
    }
    if access.is_empty() {
        return Ok(page::empty());
    }
    let (by_time, by_name) = places(db, tenant, access.kind(), from).await?;
    let found = read!(db, |conn| {
        let mut query = workflows::table
            .filter(workflows::organization_id.eq(Id::from(tenant)))
            .filter(workflows::kind.eq(DefinitionKindWord(access.kind())))
            .limit(page::surplus(page))
            .select(WorkflowHead::as_select())
            .into_boxed();
        if let Some(q) = &filter.q {
            query = query.filter(workflows::search.like(search::anywhere(q)).escape('\\'));
        }
        if let Some(state) = filter.state {
            query = query.filter(workflows::state.eq(WorkflowStateWord(state)));
        }
        if let Some(folder) = &filter.folder_id {
            query = query.filter(workflows::folder_id.eq(folder));
        }
        if let Some(starred) = filter.starred {
            let stars = workflow_stars::table
                .filter(workflow_stars::organization_id.eq(workflows::organization_id))
                .filter(workflow_stars::workflow_id.eq(workflows::id))
                .filter(workflow_stars::user_id.eq(Id::from(user)));
            query = if starred { query.filter(exists(stars)) } else { query.filter(not(exists(stars))) };
        }
        let query = match access {
            DefinitionAccess::Workflows(filter) => within!(query, filter, workflows::id),
            DefinitionAccess::CaseTypes(filter) => within!(query, filter, workflows::id),
        };
        let query = match filter.sort {
            WorkflowSort::CreatedDescending => {
                keyset!(query, (workflows::created_at, workflows::id), by_time, descending)
            }
            WorkflowSort::CreatedAscending => {
                keyset!(query, (workflows::created_at, workflows::id), by_time, ascending)
            }
            WorkflowSort::UpdatedDescending => {
                keyset!(query, (workflows::updated_at, workflows::id), by_time, descending)
            }
            WorkflowSort::UpdatedAscending => {
                keyset!(query, (workflows::updated_at, workflows::id), by_time, ascending)
            }
            WorkflowSort::DisplayName => {
                keyset!(query, (workflows::display_name, workflows::id), by_name.clone(), ascending)
            }
            WorkflowSort::DisplayNameDescending => {
                keyset!(query, (workflows::display_name, workflows::id), by_name.clone(), descending)
            }
        };
        let rows: Vec<WorkflowHead> = query.load(conn).await?;
        Ok(rows.into_iter().map(Workflow::from).collect::<Vec<_>>())
    })?;
    let page = Page::from_surplus(found, page.limit, |workflow| Key::of(filter.sort, workflow));
    Ok(Page { items: views(db, tenant, user, page.items).await?, next: page.next })
}

/// A place by a time and one by a name: the list has one of them.
type Places = (Option<(At, Id)>, Option<(String, Id)>);

async fn places(
    db: &Db,
    tenant: TenantId,
    kind: DefinitionKind,
    from: Option<Key>,
) -> Result<Places, StoreError> {
    Ok(match from {
        None => (None, None),
        Some(Key::Created(micros, id) | Key::Updated(micros, id)) => {
            (Some((At(Timestamp::from_micros(micros)), id.into())), None)
        }
        Some(Key::Name(name, id)) => (None, Some((name, id.into()))),
        Some(Key::LongName(letters, id)) => {
            let whole = read!(db, |conn| {
                let name = workflows::table
                    .find((Id::from(tenant), Id::from(id)))
                    .filter(workflows::kind.eq(DefinitionKindWord(kind)))
                    .select(workflows::display_name);
                Ok(name.first::<String>(conn).await.optional()?)
            })?;
            // Gone or renamed in the meantime: the list goes on among the names with the same first letters.
            let name = whole.filter(|name| name.starts_with(&letters)).unwrap_or(letters);
            (None, Some((name, id.into())))
        }
    })
}
