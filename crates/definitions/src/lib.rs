//! Use cases around anything that is drafted, published and versioned: workflows and case types. What a definition says
//! is its [`kind::Kind`]'s; that it is drafted, named, published, archived, starred and deleted is the same for all.
//!
//! Each method about one definition takes a [`DefinitionKey`], which comes from a proof, and a
//! [`heddle_policy::RequestContext`] for who does it; so no use case can be called past the gate.

pub mod kind;
pub mod ports;
pub mod records;

mod change;
mod findings;
mod key;
mod publish;
mod read;
mod transform;

pub use change::{DefinitionPatch, NewDefinition, SavedDraft, claims};
pub use findings::is_error;
pub use key::{Defines, DefinitionAccess, DefinitionKey};
pub use publish::{PublishRequest, Published, ValidationReport};
pub use transform::{Exported, ImportRequest, ImportedDefinition, Suggested};

use std::sync::Arc;

use heddle_kernel::{DefinitionKind, IdSource, Timestamp};
use heddle_usecase::{Compute, InPlace};

use crate::kind::Kind;
use crate::ports::DefinitionStore;
use crate::records::Start;

/// Bell of those who wait for timers.
pub trait Alarm: Send + Sync {
    /// A timer is due at this instant, maybe before all others.
    fn timer_set(&self, due_at: Timestamp);
}

/// The use cases of definitions of one kind.
pub struct Definitions {
    store: Arc<dyn DefinitionStore>,
    kind: Arc<dyn Kind>,
    ids: Arc<dyn IdSource>,
    alarm: Arc<dyn Alarm>,
    compute: Arc<dyn Compute>,
}

impl std::fmt::Debug for Definitions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Definitions").field("kind", &self.kind.kind()).finish_non_exhaustive()
    }
}

impl Definitions {
    /// Builds the use cases of a kind on their ports.
    #[must_use]
    pub fn new(
        store: Arc<dyn DefinitionStore>,
        kind: Arc<dyn Kind>,
        ids: Arc<dyn IdSource>,
        alarm: Arc<dyn Alarm>,
    ) -> Self {
        Self { store, kind, ids, alarm, compute: Arc::new(InPlace) }
    }

    /// The same with threads on which versions are compiled.
    #[must_use]
    pub fn with_compute(self, compute: Arc<dyn Compute>) -> Self {
        Self { compute, ..self }
    }

    /// The same over another form of the kind.
    #[must_use]
    pub fn with_kind(self, kind: Arc<dyn Kind>) -> Self {
        Self { kind, ..self }
    }

    /// Tells those who wait for timers of start bindings that were just written.
    fn tell_timers(&self, starts: &[Start]) {
        if let Some(due) = starts.iter().filter_map(|start| start.next_due_at).min() {
            self.alarm.timer_set(due);
        }
    }
}

/// Words by which messages name what stands under a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words {
    /// One definition.
    pub definition: &'static str,
    /// One instance, as `usedBy` names it.
    pub instance: &'static str,
    /// Several instances.
    pub instances: &'static str,
    /// Words on instances that keep a definition from being deleted, and on how they are ended.
    pub in_use: &'static str,
}

impl Words {
    /// The words of a kind.
    #[must_use]
    pub(crate) const fn of(kind: DefinitionKind) -> Self {
        match kind {
            DefinitionKind::Workflow => Self {
                definition: "workflow",
                instance: "run",
                instances: "runs",
                in_use: "are active; cancel them first",
            },
            DefinitionKind::Case => Self {
                definition: "case type",
                instance: "case",
                instances: "cases",
                in_use: "are open; terminate or close them first",
            },
        }
    }
}
