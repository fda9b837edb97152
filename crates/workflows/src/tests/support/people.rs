//! A directory of four members of the first organisation, each in `buyers`.

use async_trait::async_trait;
use heddle_kernel::TenantId;
use heddle_usecase::StoreError;

use super::{Caller, uuid};
use crate::ports::{Directory, Person};

/// Members of the first organisation.
const MEMBERS: [&str; 4] = ["ada", "bob", "olga", "will"];

/// The directory.
#[derive(Debug)]
pub(crate) struct People;

#[async_trait]
impl Directory for People {
    async fn person(&self, tenant: TenantId, name: &str) -> Result<Option<Person>, StoreError> {
        let mut members = MEMBERS.iter().filter(|_| tenant == TenantId(uuid(1))).map(|member| Person {
            id: Caller::id(member),
            email: format!("{member}@example.test"),
            groups: vec!["buyers".to_owned()],
        });
        let wanted = name.to_lowercase();
        Ok(members.find(|person| person.names().contains(&wanted)))
    }

    async fn groups(&self, _: TenantId) -> Result<Vec<String>, StoreError> {
        Ok(vec!["buyers".to_owned(), "clerks".to_owned()])
    }
}
