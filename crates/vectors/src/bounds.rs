//! Bounds: the very limits that an upload is held to, and what a caller is told of them.

use heddle_kernel::TenantId;

use crate::ports::{Quotas, UploadType, Usage};

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

impl UploadPolicy {
    /// The most bytes of the next file: the bound of one, or what the quota leaves.
    #[must_use]
    pub fn next_file_bytes(&self) -> u64 {
        let left = self.quotas.bytes.map_or(u64::MAX, |most| most.saturating_sub(self.usage.bytes));
        self.bounds.file_bytes.min(left)
    }
}
