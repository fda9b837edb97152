//! Ids: UUIDv7 behind one type per kind, so that a run's id can't stand where a workflow's is meant.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Timestamp;

/// The text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id")]
pub struct IdError(pub String);

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                // One id has one spelling, hyphenated and in small letters: rules are compared by it.
                let canonical = text.len() == 36 && !text.bytes().any(|byte| byte.is_ascii_uppercase());
                match Uuid::try_parse(text) {
                    Ok(uuid) if canonical => Ok(Self(uuid)),
                    Ok(_) | Err(_) => Err(IdError(text.chars().take(80).collect())),
                }
            }
        }
    )+};
}

ids! {
    /// An organisation: the tenant to whom every row belongs.
    TenantId,
    /// A user of the installation.
    UserId,
    /// A signed-in session.
    SessionId,
    /// An API token.
    TokenId,
    /// A role of an organisation.
    RoleId,
    /// A group of an organisation's members.
    GroupId,
    /// A grant or a deny on resources.
    GrantId,
    /// A licence.
    LicenceId,
    /// A workflow.
    WorkflowId,
    /// A run of a workflow: one process instance.
    RunId,
    /// A case: an instance of a case type.
    CaseId,
    /// A case type.
    CaseTypeId,
    /// A human task.
    TaskId,
    /// A job for external workers.
    JobId,
    /// A connection: the way to a service outside.
    ConnectionId,
    /// A webhook: a subscription of a receiver outside.
    WebhookId,
    /// A hook: an address at which events of a service outside are taken in.
    HookId,
    /// A vector database, behind its name.
    VectorDatabaseId,
    /// A file of a vector database: a document.
    FileId,
    /// A job that takes files into a vector database.
    IngestionJobId,
    /// A build: the work that makes the passages of one file.
    BuildId,
    /// A connection to a provider of models.
    ModelConnectionId,
    /// A deployment of a model: what callers name.
    ModelDeploymentId,
    /// A case event, an audit event or another record of something that happened.
    EventId,
}

/// Ids of instances and definitions of both kinds stand in the same tables, and one engine steps both.
macro_rules! same_ids {
    ($($case:ident <=> $workflow:ident),+ $(,)?) => {$(
        impl From<$case> for $workflow {
            fn from(id: $case) -> Self {
                Self(id.0)
            }
        }

        impl From<$workflow> for $case {
            fn from(id: $workflow) -> Self {
                Self(id.0)
            }
        }
    )+};
}

same_ids! { CaseId <=> RunId, CaseTypeId <=> WorkflowId }

/// Source of new ids. Ids rise with time, so that rows are appended to an index, not scattered over it.
pub trait IdSource: Send + Sync {
    /// A new id, never given out before.
    fn next(&self, now: Timestamp) -> Uuid;
}

/// A UUIDv7 (RFC 9562, 5.7) from a time and ten random bytes.
#[must_use]
pub fn uuid_v7(now: Timestamp, random: [u8; 10]) -> Uuid {
    let millis = u64::try_from(now.micros() / 1000).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

/// Ids that count up from 1: for tests.
#[derive(Debug, Default)]
pub struct SequentialIds(AtomicU64);

impl IdSource for SequentialIds {
    fn next(&self, now: Timestamp) -> Uuid {
        let n = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        let mut random = [0; 10];
        random[2..].copy_from_slice(&n.to_be_bytes());
        uuid_v7(now, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        assert_eq!(id.parse::<RunId>().unwrap().to_string(), id);
        let others = [
            "",
            "x",
            "01890A5D-AC96-774B-BCCE-B302099A8057",
            "01890a5d-ac96-774b-bcce-b302099a805A",
            "01890a5dac96774bbcceb302099a8057",
            "{01890a5d-ac96-774b-bcce-b302099a8057}",
            "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057",
            " 01890a5d-ac96-774b-bcce-b302099a8057",
            "01890a5d-ac96-774b-bcce-b302099a805",
        ];
        for other in others {
            assert!(other.parse::<RunId>().is_err(), "{other}");
        }
    }

    #[test]
    fn later_ids_sort_after_earlier_ones() {
        let ids = SequentialIds::default();
        let a = ids.next(Timestamp::from_micros(1_000_000));
        let b = ids.next(Timestamp::from_micros(1_000_000));
        let c = ids.next(Timestamp::from_micros(2_000_000));
        assert!(a < b && b < c);
        assert_eq!(a.get_version_num(), 7);
    }
}
