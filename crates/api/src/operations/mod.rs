//! The table of operations: declared once, it drives routing, the gate, the documents and the tests.
//!
//! Each area's file holds its rows; the module `table` turns them into [`OperationId`], [`OperationSpec`] and one unit
//! type per operation in [`ops`].

#[macro_use]
mod administration;
#[macro_use]
mod authentication;
#[macro_use]
mod authorization;
#[macro_use]
mod case_types;
#[macro_use]
mod cases;
#[macro_use]
mod compatibility;
#[macro_use]
mod connections;
#[macro_use]
mod dead_letters;
#[macro_use]
mod health;
#[macro_use]
mod jobs;
#[macro_use]
mod models;
#[macro_use]
mod platform;
#[macro_use]
mod vectors;
#[macro_use]
mod workflows;
mod operation;
mod operation_id;
mod spec;
mod table;

pub use operation::{Operation, Visitor, decode_body, decode_path, decode_query};
pub use spec::{
    Area, BodyMedia, Document, Method, OperationSpec, OutputKind, ResourceAction, Security, Selector,
    Stability, TRANSPORT_STATUSES,
};
pub use table::{OperationId, ops};

/// The most bytes of a JSON body, unless a row says otherwise: 1 MiB.
pub const JSON_LIMIT: usize = 1024 * 1024;
/// The most bytes of a body of credentials, which anybody may send.
pub const CREDENTIALS_LIMIT: usize = 8 * 1024;
/// The most bytes of what a worker gives for a job: 8 MiB.
pub const COMPLETION_LIMIT: usize = 8 * 1024 * 1024;
/// The most bytes of a body with a definition: 16 MiB.
pub const DEFINITION_LIMIT: usize = 16 * 1024 * 1024;

/// The most bytes of what a model is asked: 32 MiB, which holds several images.
pub const INFERENCE_LIMIT: usize = 32 * 1024 * 1024;

/// Operations whose work grows with a definition or a decision: they run on the threads that compute, so that the
/// threads that answer stay free. A workflow's own members are none of them: who archives it because its runs compute
/// for ever must not wait in the turn of those runs.
const COMPUTING: &[OperationId] = &[
    OperationId::CreateWorkflow,
    OperationId::SaveDraft,
    OperationId::ValidateWorkflow,
    OperationId::PublishWorkflow,
    OperationId::PreviewTransform,
    OperationId::ExportBpmn,
    OperationId::ExportBpel,
    OperationId::ExportDmn,
    OperationId::GetDecisionLogic,
    OperationId::SaveDecisionLogic,
    OperationId::CreateCaseType,
    OperationId::SaveCaseTypeDraft,
    OperationId::ValidateCaseType,
    OperationId::PublishCaseType,
    OperationId::ImportCaseType,
    OperationId::PreviewCaseTypeImport,
    OperationId::ExportCmmn,
];

/// Operations that end what a worker does, or change how long it holds it: carried out to their end whoever hangs up, since
/// what follows a commit is told to others behind it.
const SETTLING: &[OperationId] = &[
    OperationId::CompleteJob,
    OperationId::FailJob,
    OperationId::ThrowJobError,
    OperationId::ExtendJob,
    OperationId::CompleteExternalTask,
    OperationId::FailExternalTask,
    OperationId::ThrowExternalTaskError,
    OperationId::ExtendExternalTaskLock,
    OperationId::UnlockExternalTask,
    OperationId::CompleteCamundaJob,
    OperationId::FailCamundaJob,
    OperationId::ThrowCamundaJobError,
    OperationId::UpdateCamundaJob,
];

/// Operations that ask a model, or about one: who hangs up wants no answer, and what makes it costs.
const INFERRING: &[OperationId] = &[
    OperationId::Chat,
    OperationId::CreateEmbeddings,
    OperationId::CreateChatCompletion,
    OperationId::CreateOpenAiEmbeddings,
    OperationId::CreateMessage,
    OperationId::CountMessageTokens,
];

impl OperationId {
    /// Whether the operation asks a model, and is given up as soon as its caller hangs up.
    #[must_use]
    pub fn infers(self) -> bool {
        INFERRING.contains(&self)
    }

    /// Whether the operation is carried out to its end whoever hangs up, although its row names no audit event.
    #[must_use]
    pub fn settles(self) -> bool {
        SETTLING.contains(&self)
    }

    /// Whether the operation's work grows with a definition or a decision.
    #[must_use]
    pub fn computes(self) -> bool {
        COMPUTING.contains(&self)
    }

    /// The row of the table with this operation id.
    #[must_use]
    pub fn find(operation_id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|id| id.spec().operation_id == operation_id)
    }
}

/// SHA-256 over the table's text, in hex: it changes when any column of any row changes.
#[must_use]
pub fn source_digest() -> String {
    use sha2::{Digest as _, Sha256};
    use std::fmt::Write as _;
    let mut text = String::new();
    for id in OperationId::ALL {
        // Writing to a String can't fail.
        let _ = writeln!(text, "{:?}", id.spec());
    }
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
