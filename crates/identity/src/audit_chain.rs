//! The sealing of the audit trail, its verification, and the end of what is kept no longer.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_kernel::{Clock, TenantId, Timestamp};

use crate::UseCaseError;
use crate::chain::{
    ChainRow, Checkpoint, CheckpointKey, CheckpointKind, Content, Fault, FaultReason, Hash, PublicKey,
    Statement, Verifier, link, sealed_text, time_of_id,
};
use crate::key::InstallationKey;
use crate::ports::{AuditChainStore, ChainLink};

/// Most events that one transaction seals or drops.
pub const SEALED_AT_ONCE: usize = 500;
/// Events that a verification reads at once.
const READ_AT_ONCE: usize = 1_000;
/// Most transactions that a caller waits for who wants all to be sealed.
const CALLER_BATCHES: usize = 20;
/// Reason of a conflict with a chain that was tampered with.
const NOT_WHOLE: &str = "notWhole";
/// Times that a verification begins anew because events were dropped under it.
const ANEW: usize = 3;

/// Part of a chain to verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Number of the record behind which to begin: one that was verified before; 0 for the beginning.
    pub after: i64,
    /// Most records to look at.
    pub most: u64,
}

/// Result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Number of the record behind which it began.
    pub after: i64,
    /// Number of the last record that was held to be good.
    pub through: i64,
    /// Number of records that were held to be good.
    pub checked: u64,
    /// Whether records follow that were not looked at.
    pub is_more: bool,
    /// First thing that is wrong.
    pub fault: Option<Fault>,
    /// The newest checkpoint of the head.
    pub head: Option<Checkpoint>,
    /// The newest checkpoint of what was dropped.
    pub dropped: Option<Checkpoint>,
    /// Number of events that have no place in the chain yet.
    pub unsealed: u64,
}

/// The chains of an installation.
pub struct AuditChain {
    store: Arc<dyn AuditChainStore>,
    public: PublicKey,
    /// Key that signs; none where chains are only verified.
    key: Option<CheckpointKey>,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for AuditChain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditChain").field("public", &self.public).finish_non_exhaustive()
    }
}

/// Place to begin at, and what is known there.
struct Beginning {
    dropped: Option<Checkpoint>,
    head: Option<Checkpoint>,
    sequence: i64,
    hash: Hash,
}

/// Way that a verification has gone.
struct Progress {
    most: u64,
    checked: u64,
    is_more: bool,
}

impl AuditChain {
    /// The chains, signed by a key of the installation.
    ///
    /// # Errors
    /// `Internal` when the key can't be used.
    pub fn new(
        store: Arc<dyn AuditChainStore>,
        key: &InstallationKey,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, UseCaseError> {
        let key = key.checkpoints()?;
        Ok(Self { store, public: key.public(), key: Some(key), clock })
    }

    /// The chains of a copy, which are verified by a public key and never sealed.
    #[must_use]
    pub fn of_copy(store: Arc<dyn AuditChainStore>, public: PublicKey, clock: Arc<dyn Clock>) -> Self {
        Self { store, public, key: None, clock }
    }

    fn signed(&self, statement: Statement) -> Result<Checkpoint, UseCaseError> {
        let missing =
            || UseCaseError::Internal("nothing is sealed without the installation's key".to_owned());
        Ok(self.key.as_ref().ok_or_else(missing)?.sign(statement))
    }

    /// The key by which checkpoints are verified.
    #[must_use]
    pub const fn public_key(&self) -> PublicKey {
        self.public
    }

    /// Store of the chains.
    #[must_use]
    pub fn store(&self) -> &dyn AuditChainStore {
        &*self.store
    }

    /// The first trail behind one with events to seal.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn unsealed_trail(&self, after: Option<TenantId>) -> Result<Option<TenantId>, UseCaseError> {
        Ok(self.store.unsealed_trail(after).await?)
    }

    /// The first chain behind one.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn chain_after(&self, after: Option<TenantId>) -> Result<Option<TenantId>, UseCaseError> {
        Ok(self.store.chain(after).await?)
    }

    /// Seals the events of a trail that come next, at most [`SEALED_AT_ONCE`]; gives their number and the checkpoint. Where
    /// another node was faster it is none.
    ///
    /// # Errors
    /// `Unavailable`; `Conflict` for a chain whose end is not what the installation signed.
    pub async fn seal(&self, trail: TenantId) -> Result<(usize, Option<Checkpoint>), UseCaseError> {
        let head = self.store.head(trail).await?;
        let rows = self.store.unsealed(trail, None, SEALED_AT_ONCE).await?;
        if rows.is_empty() {
            return Ok((0, None));
        }
        self.may_go_on(trail, head.as_ref()).await?;
        let expected = head.as_ref().map(|head| head.statement.sequence);
        let (mut sequence, mut hash) =
            head.as_ref().map_or((0, Hash::NONE), |head| (head.statement.sequence, head.statement.hash));
        let mut links = Vec::with_capacity(rows.len());
        for row in &rows {
            if let Content::Unreadable(why) = &row.content {
                tracing::warn!(event = %row.id, why, "an audit event can't be read: it is sealed as such");
            }
            sequence += 1;
            hash = link(&sealed_text(trail, row, sequence, &hash));
            links.push(ChainLink { event: row.id, sequence, hash });
        }
        let kind = CheckpointKind::Head;
        let at = self.clock.now();
        let checkpoint = self.signed(Statement { tenant: trail, kind, sequence, hash, dropped: 0, at })?;
        if self.store.seal(&links, expected, &checkpoint).await? {
            Ok((links.len(), Some(checkpoint)))
        } else {
            Ok((0, None))
        }
    }

    /// Whether a chain may be gone on with: a checkpoint that the next batch brings vouches for all that stands before it,
    /// so that the signature of an end that somebody else made must never come from us.
    async fn may_go_on(&self, trail: TenantId, head: Option<&Checkpoint>) -> Result<(), UseCaseError> {
        let not_whole = |reason: FaultReason| {
            let message = format!("The end of the chain: {}.", reason.in_words());
            Err(UseCaseError::conflict(NOT_WHOLE, message))
        };
        let Some(head) = head else {
            let is_new = self.store.dropped(trail).await?.is_none()
                && self.store.sealed(trail, i64::MIN, 1).await?.is_empty();
            // Another node may have been the first in between.
            let may = is_new || self.store.head(trail).await?.is_some();
            return if may { Ok(()) } else { not_whole(FaultReason::Unsigned) };
        };
        if head.statement.tenant != trail || !head.is_signed_by(&self.public) {
            return not_whole(FaultReason::Forged);
        }
        // Looked at once more: what is over may be dropped between the two reads.
        if self.holds(head).await? || self.holds(head).await? {
            return Ok(());
        }
        not_whole(FaultReason::Rewritten)
    }

    /// Seals what a trail has, within bounds: for whoever wants to see it. Gives the newest checkpoint that it made.
    ///
    /// # Errors
    /// As [`Self::seal`].
    pub async fn seal_all(&self, trail: TenantId) -> Result<Option<Checkpoint>, UseCaseError> {
        let mut newest = None;
        for _ in 0..CALLER_BATCHES {
            let (sealed, checkpoint) = self.seal(trail).await?;
            newest = checkpoint.or(newest);
            if sealed < SEALED_AT_ONCE {
                break;
            }
        }
        Ok(newest)
    }

    /// Whether a chain still holds the record of a checkpoint as it was, or has dropped it since.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn holds(&self, checkpoint: &Checkpoint) -> Result<bool, UseCaseError> {
        let Statement { tenant, sequence, hash, .. } = checkpoint.statement;
        let dropped = self.store.dropped(tenant).await?;
        if dropped.is_some_and(|dropped| dropped.statement.sequence >= sequence) {
            return Ok(true);
        }
        let found = self.store.sealed(tenant, sequence - 1, 1).await?;
        let same = |row: &ChainRow| {
            row.sequence == Some(sequence) && row.hash.as_deref() == Some(hash.bytes().as_slice())
        };
        Ok(found.first().is_some_and(same))
    }

    /// Verifies a part of a chain. A checkpoint that was kept elsewhere, the anchor, shows an end that was cut off.
    ///
    /// # Errors
    /// `Unavailable`; `Invalid` when the chain has no record of the number behind which to begin.
    pub async fn verify(
        &self,
        trail: TenantId,
        part: Part,
        anchor: Option<&Checkpoint>,
    ) -> Result<Verification, UseCaseError> {
        let mut found = self.verified(trail, part, anchor).await?;
        for _ in 1..ANEW {
            if found.fault.is_none() || self.store.dropped(trail).await? == found.dropped {
                break;
            }
            found = self.verified(trail, part, anchor).await?;
        }
        found.unsealed = self.store.unsealed_count(trail).await?;
        Ok(found)
    }

    async fn verified(
        &self,
        trail: TenantId,
        part: Part,
        anchor: Option<&Checkpoint>,
    ) -> Result<Verification, UseCaseError> {
        let begin = self.beginning(trail, part, anchor).await?;
        let mut verifier = Verifier::after(trail, begin.sequence, begin.hash, self.public);
        let mut progress = Progress { most: part.most, checked: 0, is_more: false };
        let walked = self.walk(trail, &begin, anchor, &mut verifier, &mut progress).await?;
        Ok(Verification {
            after: begin.sequence,
            through: verifier.reached(),
            checked: progress.checked,
            is_more: progress.is_more,
            fault: walked.err(),
            head: begin.head,
            dropped: begin.dropped,
            unsealed: 0,
        })
    }

    async fn beginning(
        &self,
        trail: TenantId,
        part: Part,
        anchor: Option<&Checkpoint>,
    ) -> Result<Beginning, UseCaseError> {
        let dropped = self.store.dropped(trail).await?;
        let head = self.store.head(trail).await?;
        let (floor, floor_hash) = dropped
            .as_ref()
            .map_or((0, Hash::NONE), |dropped| (dropped.statement.sequence, dropped.statement.hash));
        if part.after <= floor {
            return Ok(Beginning { dropped, head, sequence: floor, hash: floor_hash });
        }
        let before = self.store.sealed(trail, part.after - 1, 1).await?;
        let found = before.first().filter(|row| row.sequence == Some(part.after));
        let hash = found.and_then(|row| Hash::of(row.hash.as_deref().unwrap_or_default()));
        if let Some(hash) = hash {
            return Ok(Beginning { dropped, head, sequence: part.after, hash });
        }
        // A record that a checkpoint tells of was there: the chain is walked from the beginning, and says what is wrong.
        let told = [head.as_ref(), anchor].into_iter().flatten().map(|one| one.statement.sequence).max();
        if told.is_some_and(|told| told >= part.after) {
            return Ok(Beginning { dropped, head, sequence: floor, hash: floor_hash });
        }
        Err(UseCaseError::invalid("after", "outOfRange", "The chain has no record of this number."))
    }

    /// A record with a number that is before those of the chain: a walk along it would not meet it.
    async fn before_the_beginning(
        &self,
        trail: TenantId,
        dropped: Option<&Checkpoint>,
    ) -> Result<Option<Fault>, UseCaseError> {
        let floor = dropped.map_or(0, |dropped| dropped.statement.sequence);
        let first = self.store.sealed(trail, i64::MIN, 1).await?;
        let early = |row: &ChainRow| {
            let sequence = row.sequence.filter(|sequence| *sequence <= floor)?;
            let reason = FaultReason::Misplaced;
            Some(Fault { sequence, through: sequence, event: Some(row.id), reason })
        };
        Ok(first.first().and_then(early))
    }

    /// Goes along the chain; the inner error is the fault.
    async fn walk(
        &self,
        trail: TenantId,
        begin: &Beginning,
        anchor: Option<&Checkpoint>,
        verifier: &mut Verifier,
        progress: &mut Progress,
    ) -> Result<Result<(), Fault>, UseCaseError> {
        if let Some(fault) = self.before_the_beginning(trail, begin.dropped.as_ref()).await? {
            return Ok(Err(fault));
        }
        let mut told = [begin.dropped.as_ref(), begin.head.as_ref(), anchor].into_iter().flatten();
        if let Some(forged) = told.find(|one| !verifier.is_signed(one)) {
            let sequence = forged.statement.sequence;
            let reason = FaultReason::Forged;
            return Ok(Err(Fault { sequence, through: sequence, event: None, reason }));
        }
        loop {
            let left = usize::try_from(progress.most.saturating_sub(progress.checked)).unwrap_or(usize::MAX);
            let rows = self.store.sealed(trail, verifier.reached(), left.min(READ_AT_ONCE) + 1).await?;
            let Some(last) = rows.iter().filter_map(|row| row.sequence).max() else { break };
            let stored = self.store.checkpoints(trail, verifier.reached(), last).await?;
            let mut checkpoints: BTreeMap<i64, Vec<Checkpoint>> = BTreeMap::new();
            for one in stored.into_iter().chain(anchor.cloned()) {
                checkpoints.entry(one.statement.sequence).or_default().push(one);
            }
            for row in rows {
                if progress.checked >= progress.most {
                    progress.is_more = true;
                    return Ok(Ok(()));
                }
                if let Err(fault) = step(verifier, &row, &checkpoints) {
                    return Ok(Err(fault));
                }
                progress.checked += 1;
            }
        }
        let newest = self.store.head(trail).await?;
        Ok([begin.head.as_ref(), anchor]
            .into_iter()
            .flatten()
            .try_for_each(|told| verifier.reaches(told))
            .and_then(|()| verifier.is_told_by(newest.as_ref())))
    }

    /// Drops the records of a chain that are older than an instant, at most [`SEALED_AT_ONCE`], behind a signed checkpoint
    /// that tells of them; gives their number. What does not verify is not dropped: nobody could tell any more.
    ///
    /// # Errors
    /// `Unavailable`; `Conflict` with the fault of the records to drop.
    pub async fn drop_before(&self, trail: TenantId, before: Timestamp) -> Result<usize, UseCaseError> {
        let dropped = self.store.dropped(trail).await?;
        let (floor, hash, count) = dropped.as_ref().map_or((0, Hash::NONE, 0), |dropped| {
            (dropped.statement.sequence, dropped.statement.hash, dropped.statement.dropped)
        });
        let rows = self.store.sealed(trail, floor, SEALED_AT_ONCE).await?;
        let over: Vec<ChainRow> = rows.into_iter().take_while(|row| is_before(row, before)).collect();
        if over.is_empty() {
            return Ok(0);
        }
        let mut verifier = Verifier::after(trail, floor, hash, self.public);
        let last = over.iter().filter_map(|row| row.sequence).max().unwrap_or(floor);
        let mut checkpoints: BTreeMap<i64, Vec<Checkpoint>> = BTreeMap::new();
        let stored = self.store.checkpoints(trail, floor, last).await?;
        for one in stored {
            checkpoints.entry(one.statement.sequence).or_default().push(one);
        }
        if dropped.as_ref().is_some_and(|dropped| !verifier.is_signed(dropped)) {
            let message = format!("The checkpoint of what was dropped: {}.", FaultReason::Forged.in_words());
            return Err(UseCaseError::conflict(NOT_WHOLE, message));
        }
        for row in &over {
            if let Err(fault) = step(&mut verifier, row, &checkpoints) {
                let message = format!("Record {}: {}.", fault.sequence, fault.reason.in_words());
                return Err(UseCaseError::conflict(NOT_WHOLE, message));
            }
        }
        // The checkpoint of what is dropped vouches for it: some checkpoint must have done so before.
        let head = self.store.head(trail).await?;
        let is_told =
            |head: &Checkpoint| head.statement.sequence >= verifier.reached() && verifier.is_signed(head);
        if !head.as_ref().is_some_and(is_told) {
            let message = format!("Record {}: {}.", verifier.reached(), FaultReason::Unsigned.in_words());
            return Err(UseCaseError::conflict(NOT_WHOLE, message));
        }
        let (kind, at) = (CheckpointKind::Dropped, self.clock.now());
        let sum = count.saturating_add(i64::try_from(over.len()).unwrap_or(i64::MAX));
        let statement = Statement {
            tenant: trail,
            kind,
            sequence: verifier.reached(),
            hash: verifier.hash(),
            dropped: sum,
            at,
        };
        let expected = dropped.map(|dropped| dropped.statement.sequence);
        let done = self.store.drop_through(expected, &self.signed(statement)?).await?;
        Ok(if done { over.len() } else { 0 })
    }
}

fn step(
    verifier: &mut Verifier,
    row: &ChainRow,
    checkpoints: &BTreeMap<i64, Vec<Checkpoint>>,
) -> Result<(), Fault> {
    verifier.record(row)?;
    let told = checkpoints.get(&verifier.reached()).into_iter().flatten();
    for checkpoint in told {
        verifier.checkpoint(checkpoint)?;
    }
    Ok(())
}

/// Whether a record is older than an instant. Of one that can't be read its id tells the time.
fn is_before(row: &ChainRow, before: Timestamp) -> bool {
    let at = match &row.content {
        Content::Readable(record) => record.at,
        Content::Unreadable(_) => time_of_id(row.id.0),
    };
    at < before
}
