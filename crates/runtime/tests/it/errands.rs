//! Errands in memory, as the store keeps them.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_kernel::{EventId, TenantId, Timestamp};
use heddle_usecase::StoreError;
use heddle_usecase::errand::{
    Backlog, Claim, Claimed, Errand, ErrandKind, ErrandStore, Held, Holder, Lane, Look, NewErrand, ReadyLane,
    Settled, Settlement, Written,
};
use parking_lot::Mutex;
use uuid::Uuid;

/// A row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub errand: Errand,
    pub due: Timestamp,
    pub node: Option<Uuid>,
    pub hastened: bool,
}

/// Rows in the order in which they were written, and what was set aside.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub rows: Mutex<Vec<Row>>,
    pub aside: Mutex<Vec<Settled>>,
}

/// Lane of a webhook.
pub(crate) fn lane(tenant: u128, line: u128) -> Lane {
    Lane {
        tenant: TenantId(Uuid::from_u128(tenant)),
        kind: ErrandKind::Webhook,
        target: format!("c{line}"),
        line: Some(Uuid::from_u128(line).to_string()),
    }
}

impl Kept {
    pub(crate) fn with(lanes: &[(Lane, usize)]) -> Arc<Self> {
        let kept = Self::default();
        for (lane, count) in lanes {
            let mut rows = kept.rows.lock();
            for _ in 0..*count {
                let number = rows.len();
                let errand = NewErrand {
                    id: EventId(Uuid::from_u128(number as u128 + 1)),
                    lane: lane.clone(),
                    workflow: None,
                    run: None,
                    name: "run.completed".to_owned(),
                    payload: number.to_string(),
                    created_at: Timestamp::from_micros(0),
                };
                let errand = Errand { errand, epoch: 0, attempts: 0, crashes: 0, is_suspect: false };
                rows.push(Row { errand, due: Timestamp::from_micros(0), node: None, hastened: false });
            }
        }
        Arc::new(kept)
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.lock().len()
    }

    fn on_held(&self, held: &Held, node: Uuid, change: impl FnOnce(&mut Vec<Row>, usize)) -> bool {
        let mut rows = self.rows.lock();
        let place = rows.iter().position(|row| Held::of(&row.errand) == *held && row.node == Some(node));
        if let Some(place) = place {
            change(&mut rows, place);
        }
        place.is_some()
    }
}

#[async_trait]
impl ErrandStore for Kept {
    async fn look(
        &self,
        _: ErrandKind,
        now: Timestamp,
        after: Option<Uuid>,
        lanes: i64,
    ) -> Result<Look, StoreError> {
        let rows = self.rows.lock();
        let mut heads = std::collections::BTreeMap::new();
        for row in rows.iter() {
            heads.entry(row.errand.errand.lane.id()).or_insert(row);
        }
        let most = usize::try_from(lanes).unwrap();
        let seen: Vec<_> =
            heads.into_iter().filter(|(id, _)| after.is_none_or(|after| *id > after)).take(most).collect();
        let mut look = Look {
            reached: seen.last().filter(|_| seen.len() == most).map(|(id, _)| *id),
            ..Look::default()
        };
        for (_, row) in seen {
            if row.due <= now {
                let is_suspect = row.errand.is_suspect || row.node.is_some();
                look.ready.push(ReadyLane { lane: row.errand.errand.lane.clone(), is_suspect });
            } else {
                look.next_due = look.next_due.into_iter().chain([row.due]).min();
            }
        }
        Ok(look)
    }

    async fn claim(&self, claims: &[Claim], holder: Holder) -> Result<Claimed, StoreError> {
        let mut rows = self.rows.lock();
        let mut taken = Vec::new();
        for claim in claims {
            let of = rows.iter_mut().filter(|row| row.errand.errand.lane == claim.lane);
            let due = of.take_while(|row| row.due <= holder.now);
            for row in due.take(usize::try_from(claim.most).unwrap()) {
                let lapsed = row.node.replace(holder.node).is_some();
                row.errand.crashes += u32::from(lapsed && row.errand.is_suspect);
                row.errand.is_suspect |= lapsed;
                row.errand.epoch += 1;
                row.due = holder.until;
                row.hastened = false;
                taken.push(row.errand.clone());
            }
        }
        Ok(Claimed { taken, unreadable: Vec::new() })
    }

    async fn renew(&self, held: &[Held], holder: Holder) -> Result<Vec<Held>, StoreError> {
        let mut renewed = Vec::new();
        for one in held {
            self.on_held(one, holder.node, |rows, place| {
                rows[place].due = holder.until;
                renewed.push(*one);
            });
        }
        Ok(renewed)
    }

    async fn settle(
        &self,
        settled: &[Settled],
        node: Uuid,
        now: Timestamp,
    ) -> Result<Vec<Written>, StoreError> {
        let mut written = Vec::new();
        for one in settled {
            let is_held = self.on_held(&Held::of(&one.errand), node, |rows, place| match &one.settlement {
                Settlement::Done => {
                    rows.remove(place);
                }
                Settlement::Later { not_before, attempts } => {
                    let row = &mut rows[place];
                    row.errand.attempts = *attempts;
                    row.errand.is_suspect = false;
                    row.due = if row.hastened { now } else { *not_before };
                    (row.hastened, row.node) = (false, None);
                }
                Settlement::Aside { .. } => {
                    rows.remove(place);
                    self.aside.lock().push(one.clone());
                }
            });
            written.push(if is_held { Written::Settled } else { Written::Lost });
        }
        Ok(written)
    }

    async fn release(&self, held: &[Held], node: Uuid, now: Timestamp) -> Result<(), StoreError> {
        for one in held {
            self.on_held(one, node, |rows, place| (rows[place].due, rows[place].node) = (now, None));
        }
        Ok(())
    }

    async fn recover(&self, node: Uuid, now: Timestamp) -> Result<u64, StoreError> {
        let mut rows = self.rows.lock();
        let mut count = 0;
        for row in rows.iter_mut().filter(|row| row.node == Some(node)) {
            row.due = now;
            count += 1;
        }
        Ok(count)
    }

    async fn hasten(&self, lane: &Lane, now: Timestamp) -> Result<(), StoreError> {
        let mut rows = self.rows.lock();
        if let Some(row) = rows.iter_mut().find(|row| row.errand.errand.lane.id() == lane.id()) {
            row.due = if row.node.is_none() { now } else { row.due };
            row.hastened = row.node.is_some();
        }
        Ok(())
    }

    async fn trim(&self, lane: &Lane, backlog: Option<Backlog>) -> Result<u64, StoreError> {
        let mut rows = self.rows.lock();
        let before = rows.len();
        let of_lane = |row: &Row| row.errand.errand.lane.id() == lane.id();
        let waiting = rows.iter().filter(|row| of_lane(row)).count();
        let most = backlog.map_or(0, |backlog| usize::try_from(backlog.most).unwrap());
        let mut surplus = waiting.saturating_sub(most);
        rows.retain(|row| {
            let goes = surplus > 0 && of_lane(row) && row.node.is_none();
            surplus -= usize::from(goes);
            !goes
        });
        Ok((before - rows.len()) as u64)
    }
}
