//! Verification of a chain, record by record.

use heddle_kernel::{EventId, TenantId, literals};

use super::checkpoint::{Checkpoint, CheckpointKind, PublicKey};
use super::record::{ChainRow, Content, Hash, link, sealed_text};

literals! {
    /// Reason for which a chain is not whole.
    pub enum FaultReason {
        /// The record is not there.
        Missing = "missing",
        /// The record is not what was sealed.
        Changed = "changed",
        /// The record can't be read any more.
        Unreadable = "unreadable",
        /// The record stands at a place that another one has, or that comes before.
        Misplaced = "misplaced",
        /// The chain is not the one that a signed checkpoint tells of.
        Rewritten = "rewritten",
        /// A checkpoint has no right signature.
        Forged = "forged",
        /// The chain ends before a record that a signed checkpoint tells of.
        Truncated = "truncated",
        /// No checkpoint tells of the record.
        Unsigned = "unsigned",
    }
}

impl FaultReason {
    /// The reason in words.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Missing => "the record is not there",
            Self::Changed => "the record is not what was sealed: a column or its hash was changed",
            Self::Unreadable => "the record can't be read any more",
            Self::Misplaced => "the record stands out of its order",
            Self::Rewritten => "the records up to a signed checkpoint are not those that it tells of",
            Self::Forged => "a checkpoint was not signed by the installation",
            Self::Truncated => "the chain ends before a record that a signed checkpoint tells of",
            Self::Unsigned => "no signed checkpoint tells of the record: it was added to the chain",
        }
    }
}

/// First thing that is wrong with a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Number of the first record that is wrong, or of the first of which nothing can be said.
    pub sequence: i64,
    /// Number of the last record that it may be instead.
    pub through: i64,
    /// Id of the record, where there is one.
    pub event: Option<EventId>,
    /// The reason.
    pub reason: FaultReason,
}

/// A verification that goes along a chain. It keeps nothing but its place.
#[derive(Debug, Clone)]
pub struct Verifier {
    tenant: TenantId,
    /// Number of the last record that was held to be good.
    reached: i64,
    /// Hash of that record.
    hash: Hash,
    /// Number up to which signed checkpoints tell the same.
    vouched: i64,
    key: PublicKey,
}

impl Verifier {
    /// A verification that goes on behind a record with this number and hash; with 0 and [`Hash::NONE`] from the start.
    #[must_use]
    pub const fn after(tenant: TenantId, sequence: i64, hash: Hash, key: PublicKey) -> Self {
        Self { tenant, reached: sequence, hash, vouched: sequence, key }
    }

    /// Number of the last record that was held to be good.
    #[must_use]
    pub const fn reached(&self) -> i64 {
        self.reached
    }

    /// Hash of that record.
    #[must_use]
    pub const fn hash(&self) -> Hash {
        self.hash
    }

    /// Looks at the next record.
    ///
    /// # Errors
    /// The fault; the verification stands where it stood.
    pub fn record(&mut self, row: &ChainRow) -> Result<(), Fault> {
        let next = self.reached + 1;
        let sequence = row.sequence.unwrap_or(0);
        let fault = |sequence, event, reason| Fault { sequence, through: sequence, event, reason };
        if sequence > next {
            return Err(Fault { through: sequence - 1, ..fault(next, None, FaultReason::Missing) });
        }
        if sequence < next {
            return Err(fault(next, Some(row.id), FaultReason::Misplaced));
        }
        let hash = link(&sealed_text(self.tenant, row, sequence, &self.hash));
        if row.hash.as_deref() != Some(hash.bytes().as_slice()) {
            let reason = match row.content {
                Content::Readable(_) => FaultReason::Changed,
                Content::Unreadable(_) => FaultReason::Unreadable,
            };
            return Err(fault(sequence, Some(row.id), reason));
        }
        (self.reached, self.hash) = (sequence, hash);
        Ok(())
    }

    /// Looks at a checkpoint of the record that was looked at last, or of one before the place where it began.
    ///
    /// # Errors
    /// `Forged`, `Rewritten`.
    pub fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), Fault> {
        let statement = &checkpoint.statement;
        let first = (self.vouched + 1).min(self.reached.max(1));
        let fault = |reason| Fault { sequence: first, through: self.reached.max(first), event: None, reason };
        if !self.is_signed(checkpoint) {
            let sequence = statement.sequence;
            return Err(Fault { sequence, through: sequence, ..fault(FaultReason::Forged) });
        }
        if statement.sequence != self.reached {
            return Ok(());
        }
        if statement.hash != self.hash {
            return Err(fault(FaultReason::Rewritten));
        }
        self.vouched = self.reached;
        Ok(())
    }

    /// Whether a checkpoint is one of this trail, signed by the installation.
    #[must_use]
    pub fn is_signed(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.statement.tenant == self.tenant && checkpoint.is_signed_by(&self.key)
    }

    /// Looks at the end: a checkpoint that was there before the records were read must have been reached.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn reaches(&self, before: &Checkpoint) -> Result<(), Fault> {
        let told = before.statement.sequence;
        if told > self.reached {
            let sequence = self.reached + 1;
            return Err(Fault { sequence, through: told, event: None, reason: FaultReason::Truncated });
        }
        Ok(())
    }

    /// Looks at the end: the newest checkpoint, read after the records, must tell of the last of them.
    ///
    /// # Errors
    /// `Unsigned`.
    pub fn is_told_by(&self, newest: Option<&Checkpoint>) -> Result<(), Fault> {
        let told = newest
            .filter(|newest| newest.statement.kind == CheckpointKind::Head)
            .map_or(0, |newest| newest.statement.sequence);
        if told < self.reached {
            let sequence = told.max(self.vouched).min(self.reached - 1) + 1;
            return Err(Fault {
                sequence,
                through: self.reached,
                event: None,
                reason: FaultReason::Unsigned,
            });
        }
        Ok(())
    }
}
