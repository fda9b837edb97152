//! Members by which audit events tell changes. A key is told by the instant at which it was set, and what may lead to one
//! by the names of its members.

use heddle_usecase::{AuditView, Audited};

use crate::records::{Deployment, ModelConnection};

impl Audited for ModelConnection {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("name", &self.name)
            .shown("type", self.kind)
            .hidden("baseUrl", &self.settings.base_url)
            .hidden("headers", &self.settings.headers)
            .shown("apiVersion", &self.settings.api_version)
            .hidden("certificateAuthority", &self.settings.certificate_authority)
            .shown("apiKeySetAt", self.api_key.as_ref().map(|state| state.updated_at))
            .shown("timeouts", self.timeouts)
            .shown("limits", &self.limits)
            .shown("enabled", self.enabled)
            .shown("revision", self.revision)
    }
}

impl Audited for Deployment {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("alias", &self.alias)
            .shown("connectionId", self.connection_id)
            .shown("model", &self.model)
            .shown("capabilities", &self.capabilities)
            .shown("contextLength", self.context_length)
            .shown("dimensions", self.dimensions)
            .hidden("defaults", &self.defaults)
            .shown("limits", &self.limits)
            .shown("timeouts", self.timeouts)
            .shown("fallbacks", &self.fallbacks)
            .shown("prices", &self.prices)
            .shown("memory", &self.memory)
            .shown("preload", self.preload)
            .shown("enabled", self.enabled)
            .shown("modelRevision", &self.model_revision)
            .shown("revision", self.revision)
    }
}
