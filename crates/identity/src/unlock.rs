//! Forgetting the failed sign-ins of an account, for the operator.

use heddle_usecase::Outcome;
use serde_json::json;

use crate::audit::{Event, system};
use crate::{Identity, UseCaseError, tries, validate};

impl Identity {
    /// Forgets all failed sign-ins of an account; says in how many buckets they were counted.
    ///
    /// # Errors
    /// `NotFound` for the account; `Unavailable`.
    pub async fn unlock(&self, email: &str) -> Result<u64, UseCaseError> {
        let email = validate::email_form(email);
        let user = self.ports.sessions.user_by_email(&email).await?.ok_or(UseCaseError::NotFound)?;
        let keys = [tries::account_key(&email), tries::password_key(user.id), tries::code_key(user.id)];
        let event = Event {
            tenant: Some(user.home),
            actor: system(),
            action: "user.unlocked",
            resource: ("user", Some(user.id.to_string())),
            outcome: Outcome::Succeeded,
            details: json!({}),
        };
        let journal = self.journal(&self.own_request(), event);
        Ok(self.ports.sessions.forget(&keys, &journal).await?)
    }
}
