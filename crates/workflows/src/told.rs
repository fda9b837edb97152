//! Members by which audit events tell changes. Definitions are told by their hashes.

use heddle_usecase::{AuditView, Audited};

use crate::records::Workflow;

impl Audited for Workflow {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("slug", &self.slug)
            .shown("displayName", &self.display_name)
            .hidden("description", &self.description)
            .hidden("folderId", format!("{:?}", self.folder_id))
            .shown("state", self.state)
            .shown("draftHash", &self.draft_hash)
            .shown("draftRevision", self.draft_revision)
            .shown("publishedVersion", self.published_version)
            .shown("publishedHash", &self.published_hash)
            .shown("revision", self.revision)
    }
}

/// Star of a caller on a workflow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Star(pub(crate) bool);

impl Audited for Star {
    fn view(&self) -> AuditView {
        AuditView::default().shown("starred", self.0)
    }
}
