//! Memory of workflows between requests: views and standings as long as nobody wrote them (on SQLite, where this
//! process alone writes), and texts of definitions, which never change under their key, on both databases.

use std::sync::Arc;

use heddle_definitions::DefinitionKey;
use heddle_kernel::{TenantId, UserId, WorkflowId};
use heddle_store::{Db, SqliteDb, Writing};
use heddle_workflows::records::{WorkflowState, WorkflowView};
use serde_json::value::RawValue;

/// Most bytes of texts that are kept.
const TEXT_BYTES: u64 = 64 << 20;
/// A longer text is not kept, in bytes: one definition must not push out those of everybody else.
const LONGEST_TEXT: usize = 2 << 20;
/// Most bytes of views that are kept.
const VIEW_BYTES: u64 = 16 << 20;
/// Most standings that are kept, each of some bytes.
const STANDINGS: u64 = 20_000;

/// A thing with a generation: whatever is written to it raises that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Written {
    /// A workflow: its row, its versions, its stars.
    Workflow(TenantId, WorkflowId),
    /// The runs of a workflow, of which it shows the numbers.
    RunsOf(TenantId, WorkflowId),
}

/// Guard of a write to a workflow; none on PostgreSQL.
pub(crate) fn writing(db: &Db, tenant: TenantId, workflow: WorkflowId) -> Option<Writing> {
    writing_to(db, [Written::Workflow(tenant, workflow), Written::RunsOf(tenant, workflow)])
}

/// Guard of a write to several things; none on PostgreSQL.
pub(crate) fn writing_to(db: &Db, things: impl IntoIterator<Item = Written>) -> Option<Writing> {
    db.sqlite().map(|sqlite| sqlite.writing(things))
}

/// Text of a definition: a draft by its own revision, or a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TextKey {
    pub definition: DefinitionKey,
    pub which: TextOf,
}

/// Which of a workflow's definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TextOf {
    /// The draft at a revision of its own.
    Draft(i64),
    /// The version of this number.
    Version(i32),
}

/// Generations that a view was read at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    workflow: u64,
    runs: u64,
}

type ViewKey = (DefinitionKey, UserId);
type Standing = (WorkflowState, Option<i32>);

/// Views, standings and texts, shared by all clones of a store.
pub(crate) struct Kept {
    views: moka::sync::Cache<ViewKey, (Stamp, Arc<WorkflowView>)>,
    standings: moka::sync::Cache<DefinitionKey, (u64, Standing)>,
    texts: moka::sync::Cache<TextKey, Option<Arc<RawValue>>>,
}

impl Default for Kept {
    fn default() -> Self {
        let text_weight = |_: &TextKey, text: &Option<Arc<RawValue>>| {
            u32::try_from(128 + text.as_ref().map_or(0, |text| text.get().len())).unwrap_or(u32::MAX)
        };
        let view_weight = |_: &ViewKey, (_, view): &(Stamp, Arc<WorkflowView>)| {
            let workflow = &view.definition;
            let texts = workflow.slug.len() + workflow.display_name.len() + workflow.description.len();
            u32::try_from(1024 + texts).unwrap_or(u32::MAX)
        };
        Self {
            views: moka::sync::Cache::builder().weigher(view_weight).max_capacity(VIEW_BYTES).build(),
            standings: moka::sync::Cache::new(STANDINGS),
            texts: moka::sync::Cache::builder().weigher(text_weight).max_capacity(TEXT_BYTES).build(),
        }
    }
}

impl Kept {
    /// The present generations of what a view shows.
    pub(crate) fn stamp(db: &SqliteDb, key: DefinitionKey) -> Stamp {
        let (tenant, workflow) = (key.tenant(), key.id());
        Stamp {
            workflow: db.generation(&Written::Workflow(tenant, workflow)),
            runs: db.generation(&Written::RunsOf(tenant, workflow)),
        }
    }

    /// The view that was read at this stamp.
    pub(crate) fn view(&self, key: &ViewKey, stamp: Stamp) -> Option<Arc<WorkflowView>> {
        self.views.get(key).filter(|(at, _)| *at == stamp).map(|(_, view)| view)
    }

    /// Keeps a view that was read after its stamp was looked at.
    pub(crate) fn keep_view(&self, key: ViewKey, stamp: Stamp, view: &Arc<WorkflowView>) {
        self.views.insert(key, (stamp, Arc::clone(view)));
    }

    /// The standing that was read at this generation of the workflow.
    pub(crate) fn standing(&self, key: &DefinitionKey, generation: u64) -> Option<Standing> {
        self.standings.get(key).filter(|(at, _)| *at == generation).map(|(_, standing)| standing)
    }

    /// Keeps a standing that was read after the generation was looked at.
    pub(crate) fn keep_standing(&self, key: DefinitionKey, generation: u64, standing: Standing) {
        self.standings.insert(key, (generation, standing));
    }

    /// A text, if it is kept; the inner one is none for a draft that is not there.
    pub(crate) fn text(&self, key: &TextKey) -> Option<Option<Arc<RawValue>>> {
        self.texts.get(key)
    }

    /// Keeps a text, unless it is too long.
    pub(crate) fn keep_text(&self, key: TextKey, text: &Option<Arc<RawValue>>) {
        if text.as_ref().is_none_or(|text| text.get().len() <= LONGEST_TEXT) {
            self.texts.insert(key, text.clone());
        }
    }
}
