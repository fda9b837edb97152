//! System roles of organisations: each has all of them, also those that came after it.

use heddle_kernel::{Revision, RoleId, TenantId, Timestamp};
use heddle_policy::system_roles::{SYSTEM_ROLES, SystemRole};
use heddle_usecase::{Outcome, StoreError};
use serde_json::json;

use crate::audit::{Event, system};
use crate::ports::NameTaken;
use crate::records::Role;
use crate::{Identity, UseCaseError};

impl Identity {
    /// The row of a system role in an organisation.
    pub(crate) fn system_role(&self, known: &SystemRole, tenant: TenantId, now: Timestamp) -> Role {
        Role {
            tenant,
            id: RoleId(self.new_id(now)),
            name: known.name.to_owned(),
            description: Some(known.description.to_owned()),
            system: true,
            rules: known.rules(),
            revision: Revision::FIRST,
            created_at: now,
            updated_at: now,
        }
    }

    /// Gives every organisation the system roles that came after it; returns the organisations that have a role of their own
    /// or a group under such a name, and do without until that has another. Repeated, it changes nothing.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn add_system_roles(&self) -> Result<Vec<(TenantId, &'static str)>, UseCaseError> {
        let mut taken = Vec::new();
        for known in SYSTEM_ROLES {
            for lacking in self.ports.directory.lacking_role(known.name).await? {
                match lacking {
                    (tenant, NameTaken::No) => self.add_system_role(known, tenant).await?,
                    (tenant, NameTaken::ByOwnRole | NameTaken::ByGroup) => taken.push((tenant, known.name)),
                }
            }
        }
        Ok(taken)
    }

    async fn add_system_role(&self, known: &SystemRole, tenant: TenantId) -> Result<(), UseCaseError> {
        let role = self.system_role(known, tenant, self.tools.clock.now());
        let event = Event {
            tenant: Some(tenant),
            actor: system(),
            action: "role.created",
            resource: ("role", Some(role.id.to_string())),
            outcome: Outcome::Succeeded,
            details: json!({ "name": known.name, "system": true }),
        };
        match self.ports.directory.insert_role(&role, &self.journal(&self.own_request(), event)).await {
            // Another node was faster, or the organisation is gone.
            Ok(()) | Err(StoreError::Duplicate(_) | StoreError::NotFound) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
