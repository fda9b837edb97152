//! Members by which audit events tell changes. A secret is told by the instant at which it was set, and what may lead to
//! one (configuration, labels) by the names of its members.

use std::collections::BTreeMap;

use heddle_usecase::{AuditView, Audited};

use crate::records::{Connection, Hook, Webhook};

impl Audited for Connection {
    fn view(&self) -> AuditView {
        let secrets: BTreeMap<&String, _> =
            self.secrets.iter().map(|(name, state)| (name, state.updated_at)).collect();
        AuditView::default()
            .shown("name", &self.name)
            .shown("type", self.kind)
            .hidden("description", &self.description)
            .hidden("labels", &self.labels)
            .hidden("config", &self.config)
            .shown("secretsSetAt", secrets)
            .shown("revision", self.revision)
    }
}

impl Audited for Webhook {
    fn view(&self) -> AuditView {
        AuditView::default()
            .shown("name", &self.name)
            .shown("connectionId", self.connection_id)
            .shown("eventTypes", &self.event_types)
            .shown("workflows", &self.workflows)
            .shown("paused", self.paused)
            .shown("revision", self.revision)
    }
}

impl Audited for Hook {
    fn view(&self) -> AuditView {
        let settings = &self.settings;
        let signature = settings.signature.as_ref();
        AuditView::default()
            .shown("name", &self.name)
            .shown("eventType", &self.event_type)
            .shown("owner", self.owner())
            .hidden("mapping", &settings.mapping)
            .shown("signature", signature.map(|signature| signature.scheme))
            .shown("toleranceSeconds", signature.map(|signature| signature.tolerance_seconds))
            .shown("secretSetAt", signature.map(|signature| signature.secret.updated_at))
            .shown(
                "previousSecretSetAt",
                signature
                    .and_then(|signature| signature.previous_secret.as_ref())
                    .map(|state| state.updated_at),
            )
            .shown("requestsPerSecond", settings.requests_per_second)
            .shown("maxBytes", settings.max_bytes)
            .shown("revision", self.revision)
    }
}
