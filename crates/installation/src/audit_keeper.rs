//! The keeper of the audit trail: seals what was committed, writes anchors, and drops what is kept no longer.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use heddle_identity::audit_chain::{AuditChain, SEALED_AT_ONCE};
use heddle_kernel::{Clock as _, TenantId};
use heddle_runtime::ServerClock;
use heddle_usecase::UseCaseError;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::anchors::Anchors;

/// Time between two looks for what is to be sealed.
const LOOK: Duration = Duration::from_secs(1);
/// Time between two looks while more is to be sealed: others write in between.
const BETWEEN: Duration = Duration::from_millis(10);
/// Time between two writings of anchors.
const ANCHOR: Duration = Duration::from_secs(10);
/// Time between two looks for what is over.
const DROP: Duration = Duration::from_secs(600);
/// Most transactions of a trail at one look for what is over: the next look goes on.
const DROPS_AT_ONCE: usize = 200;
/// Seconds of a day.
const DAY: i64 = 86_400;

/// The keeper, and what it keeps.
#[derive(Debug)]
pub struct AuditKeeper {
    /// The chains.
    pub chain: AuditChain,
    /// The newest checkpoint of each trail.
    pub anchors: Anchors,
    clock: Arc<ServerClock>,
    /// Days after which records are dropped; 0 for never.
    days: u32,
    /// Trails whose chains are not whole, which the log was told.
    told: Mutex<BTreeSet<TenantId>>,
}

impl AuditKeeper {
    /// Keeper of the chains; it drops records after so many days, and none for 0.
    #[must_use]
    pub const fn new(chain: AuditChain, anchors: Anchors, clock: Arc<ServerClock>, days: u32) -> Self {
        Self { chain, anchors, clock, days, told: Mutex::new(BTreeSet::new()) }
    }

    /// Seals what a trail has, within bounds: for whoever wants to see it now. A chain that is not whole is left as it is:
    /// what is wrong with it is the verification's to say.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn seal_now(&self, trail: TenantId) -> Result<(), UseCaseError> {
        let done = self.chain.seal_all(trail).await;
        if let Err(error) = &done
            && self.is_told(trail, error)
        {
            return Ok(());
        }
        done?.into_iter().for_each(|checkpoint| self.anchors.note(checkpoint));
        Ok(())
    }

    /// Whether the failure says that a chain is not whole, which the log is told once: its end is not what was signed, or
    /// somebody has taken the next place.
    fn is_told(&self, trail: TenantId, error: &UseCaseError) -> bool {
        let UseCaseError::Conflict(problems) = error else { return false };
        if self.told.lock().insert(trail) {
            let why: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
            tracing::error!(
                %trail, why = why.join(" "),
                "the audit trail is not whole: it is not sealed any further until its end is as it was"
            );
        }
        true
    }

    /// Seals the next events of every trail; whether there are more. A trail that is not whole is left out.
    ///
    /// # Errors
    /// `Unavailable`. What fails for one trail does not keep the others from being sealed.
    pub async fn seal(&self) -> Result<bool, UseCaseError> {
        let (mut after, mut is_more): (Option<TenantId>, bool) = (None, false);
        let mut failed = None;
        while let Some(trail) = self.chain.unsealed_trail(after).await? {
            match self.chain.seal(trail).await {
                Ok((sealed, checkpoint)) => {
                    is_more |= sealed == SEALED_AT_ONCE;
                    checkpoint.into_iter().for_each(|checkpoint| self.anchors.note(checkpoint));
                    self.told.lock().remove(&trail);
                }
                Err(error) if self.is_told(trail, &error) => {}
                Err(error) => failed = Some(error),
            }
            after = Some(trail);
        }
        failed.map_or(Ok(is_more), Err)
    }

    /// Drops what is older than the configuration says.
    ///
    /// # Errors
    /// `Unavailable`. A trail that is not whole keeps what it has, and the others go on.
    pub async fn drop_over(&self) -> Result<(), UseCaseError> {
        if self.days == 0 {
            return Ok(());
        }
        let before = self.clock.now().plus_seconds(-DAY * i64::from(self.days));
        let mut after = None;
        while let Some(trail) = self.chain.chain_after(after).await? {
            for _ in 0..DROPS_AT_ONCE {
                match self.chain.drop_before(trail, before).await {
                    Ok(SEALED_AT_ONCE) => {}
                    Ok(_) => break,
                    Err(error) => {
                        tracing::error!(%trail, %error, "old audit events were not dropped");
                        break;
                    }
                }
            }
            after = Some(trail);
        }
        Ok(())
    }

    /// Goes on until the server stops. However much there is to drop, what was done is sealed meanwhile.
    pub async fn keep(self: Arc<Self>, stop: watch::Receiver<bool>) {
        tokio::join!(self.keep_sealing(stop.clone()), self.keep_dropping(stop));
        if let Err(error) = self.seal().await {
            tracing::debug!(%error, "the last audit events are sealed at the next start");
        }
        self.anchors.write(&self.chain).await;
    }

    async fn keep_sealing(&self, mut stop: watch::Receiver<bool>) {
        let mut anchored = Instant::now();
        let mut is_failing = false;
        loop {
            let is_more = match self.seal().await {
                Ok(is_more) => {
                    is_failing = false;
                    is_more
                }
                Err(error) => {
                    if !is_failing {
                        tracing::warn!(%error, "audit events were not sealed; it is tried again each second");
                    }
                    is_failing = true;
                    false
                }
            };
            if anchored.elapsed() >= ANCHOR {
                self.anchors.write(&self.chain).await;
                anchored = Instant::now();
            }
            tokio::select! {
                () = tokio::time::sleep(if is_more { BETWEEN } else { LOOK }) => {}
                _ = stop.wait_for(|stopped| *stopped) => return,
            }
        }
    }

    async fn keep_dropping(&self, mut stop: watch::Receiver<bool>) {
        loop {
            let round = async {
                if let Err(error) = self.drop_over().await {
                    tracing::debug!(%error, "old audit events were not looked for");
                }
                tokio::time::sleep(DROP).await;
            };
            // Each transaction is whole or not there: it may be left at any place.
            tokio::select! {
                () = round => {}
                _ = stop.wait_for(|stopped| *stopped) => return,
            }
        }
    }
}
