//! The directory of people: who is meant by a name, and which groups there are.

use async_trait::async_trait;
use heddle_kernel::{TenantId, UserId};
use heddle_usecase::StoreError;

/// A member of an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The user.
    pub id: UserId,
    /// E-mail address of the user, in lower case.
    pub email: String,
    /// Names and ids of the roles that they have in the organisation; a human task may name them as candidates.
    pub groups: Vec<String>,
}

impl Person {
    /// The names by which a task may mean them: id and e-mail address.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        vec![self.id.to_string(), self.email.clone()]
    }
}

/// Knows the members of organisations. All methods answer `Unavailable` when the database does not.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
#[async_trait]
pub trait Directory: Send + Sync {
    /// The member of the organisation with this id or e-mail address, letters of either case; none when nobody is.
    async fn person(&self, tenant: TenantId, name: &str) -> Result<Option<Person>, StoreError>;
    /// Names and ids of all roles and groups of the organisation.
    async fn groups(&self, tenant: TenantId) -> Result<Vec<String>, StoreError>;
}
