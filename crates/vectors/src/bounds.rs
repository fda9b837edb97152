//! Bounds: the very limits that an upload is held to, and what a caller is told of them.

use std::time::Duration;

use heddle_kernel::TenantId;
use heddle_usecase::StoreError;

use crate::UseCaseError;
use crate::ports::{Quotas, UploadType, Usage};

/// Time that an upload has from its first byte to its last, however it comes: after it nothing holds on to what was stored
/// of it.
pub const UPLOAD_TIME: Duration = Duration::from_hours(12);

/// Bounds of uploads; configuration gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UploadBounds {
    /// The most bytes of a file.
    pub file_bytes: u64,
    /// The most files of one upload.
    pub files: u32,
    /// The most bytes of a file's metadata, as JSON.
    pub metadata_bytes: u64,
    /// The most passages of a file.
    pub file_passages: u64,
}

impl Default for UploadBounds {
    fn default() -> Self {
        Self { file_bytes: 100 * 1024 * 1024, files: 100, metadata_bytes: 16 * 1024, file_passages: 100_000 }
    }
}

/// Quotas of organisations, by the configuration and the licence.
#[cfg_attr(any(test, feature = "mock"), mockall::automock)]
pub trait QuotaSource: Send + Sync {
    /// Quotas of an organisation at this moment, the lower of both.
    fn quotas(&self, tenant: TenantId) -> Quotas;
}

/// The same quotas for every organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FixedQuotas(pub Quotas);

impl QuotaSource for FixedQuotas {
    fn quotas(&self, _: TenantId) -> Quotas {
        self.0
    }
}

/// Limits of an upload as they are enforced, with what is used of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadPolicy {
    /// Bounds of one upload.
    pub bounds: UploadBounds,
    /// Types that are read here.
    pub types: Vec<UploadType>,
    /// The most pages of a file.
    pub pages: u32,
    /// Quotas of the organisation.
    pub quotas: Quotas,
    /// Usage of the organisation.
    pub usage: Usage,
}

/// Files of an upload that have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Come {
    /// Number of the files.
    pub files: u64,
    /// Bytes of the files.
    pub bytes: u64,
}

impl UploadPolicy {
    /// The most bytes of the next file of an upload, behind those that have come.
    ///
    /// # Errors
    /// `QueueFull`, and `Conflict` (`quotaExceeded`) where there is no room for another file.
    pub fn next_file(&self, come: Come) -> Result<u64, UseCaseError> {
        let (quotas, usage) = (&self.quotas, &self.usage);
        let next = come.files.saturating_add(1);
        if quotas.waiting.is_some_and(|most| usage.waiting.saturating_add(next) > most) {
            return Err(UseCaseError::QueueFull { limit: "vectors.waitingFiles" });
        }
        if let Some(most) = quotas.files.filter(|most| usage.files.saturating_add(next) > *most) {
            return Err(StoreError::QuotaExceeded { limit: "files", most, used: usage.files }.into());
        }
        match self.bytes_left(come) {
            Some(0) => Err(self.no_bytes()),
            Some(left) => Ok(self.bounds.file_bytes.min(left)),
            None => Ok(self.bounds.file_bytes),
        }
    }

    /// Refusal of a file that has more bytes than it may, where the quota is the reason and not the bound of a file.
    #[must_use]
    pub fn beyond(&self, come: Come) -> Option<UseCaseError> {
        self.bytes_left(come).filter(|left| *left < self.bounds.file_bytes).map(|_| self.no_bytes())
    }

    /// Bytes that the quota leaves.
    fn bytes_left(&self, come: Come) -> Option<u64> {
        let used = self.usage.bytes.saturating_add(come.bytes);
        self.quotas.bytes.map(|most| most.saturating_sub(used))
    }

    fn no_bytes(&self) -> UseCaseError {
        let (most, used) = (self.quotas.bytes.unwrap_or(u64::MAX), self.usage.bytes);
        StoreError::QuotaExceeded { limit: "storedBytes", most, used }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_room_that_the_quotas_leave_behind_those_before_it() {
        let policy = |quotas| UploadPolicy {
            bounds: UploadBounds { file_bytes: 100, ..UploadBounds::default() },
            types: Vec::new(),
            pages: 1,
            quotas,
            usage: Usage { files: 3, bytes: 150, waiting: 2, ..Usage::default() },
        };
        let none = Come::default();
        let one = Come { files: 1, bytes: 30 };
        let bytes = policy(Quotas { bytes: Some(200), ..Quotas::default() });
        assert_eq!((bytes.next_file(none).unwrap(), bytes.next_file(one).unwrap()), (50, 20));
        let word = |refused: UseCaseError| match refused {
            UseCaseError::Conflict(problems) => (problems[0].reason, problems[0].extra["limit"].clone()),
            other => panic!("{other:?}"),
        };
        assert_eq!(word(bytes.beyond(one).unwrap()), ("quotaExceeded", "storedBytes".into()));
        let full = bytes.next_file(Come { files: 2, bytes: 50 });
        assert_eq!(word(full.unwrap_err()), ("quotaExceeded", "storedBytes".into()));
        let files = policy(Quotas { files: Some(4), bytes: Some(1_000), ..Quotas::default() });
        assert_eq!(files.next_file(none).unwrap(), 100);
        assert!(files.beyond(none).is_none(), "the bound of a file is the reason");
        assert_eq!(word(files.next_file(one).unwrap_err()), ("quotaExceeded", "files".into()));
        let waiting = policy(Quotas { waiting: Some(3), ..Quotas::default() });
        assert_eq!(waiting.next_file(none).unwrap(), 100);
        assert!(matches!(waiting.next_file(one), Err(UseCaseError::QueueFull { .. })));
    }
}
