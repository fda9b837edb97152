//! Standing quotas of one organisation: how much it may have stored, so that one that never tidies up leaves room for
//! the others.

use heddle_usecase::StoreError;

/// Quotas of one organisation. Beyond a quota nothing new is begun; what is there goes on and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quotas {
    /// Runs, ended ones included.
    pub runs: u64,
    /// Open tasks for people.
    pub open_tasks: u64,
    /// Bytes of definitions, runs with their events, tasks, events from outside and dead letters.
    pub stored_bytes: u64,
    /// Dead letters.
    pub dead_letters: u64,
}

/// Numbers of an organisation: stored, or to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// Runs.
    pub runs: u64,
    /// Open tasks.
    pub open_tasks: u64,
    /// Bytes.
    pub stored_bytes: u64,
    /// Dead letters.
    pub dead_letters: u64,
}

/// Quota with its name, as configuration, licence and errors have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// The quota.
    pub most: u64,
}

/// Quotas that hold at this moment: those of the configuration, or lower ones of the licence.
pub trait QuotaSource: Send + Sync {
    /// The quotas.
    fn quotas(&self) -> Quotas;
}

impl QuotaSource for Quotas {
    fn quotas(&self) -> Quotas {
        *self
    }
}

impl Default for Quotas {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Quotas {
    /// The default quotas.
    pub const DEFAULT: Self =
        Self { runs: 20_000_000, open_tasks: 5_000_000, stored_bytes: 512 << 30, dead_letters: 100_000 };

    /// The quotas with their names, in the order of their documentation.
    #[must_use]
    pub const fn named(&self) -> [Named; 4] {
        [
            Named { name: "runs", most: self.runs },
            Named { name: "openTasks", most: self.open_tasks },
            Named { name: "storedBytes", most: self.stored_bytes },
            Named { name: "deadLetters", most: self.dead_letters },
        ]
    }

    /// The same with another value for the quota of that name; none when there is no such quota.
    #[must_use]
    pub fn with(mut self, name: &str, most: u64) -> Option<Self> {
        match name {
            "runs" => self.runs = most,
            "openTasks" => self.open_tasks = most,
            "storedBytes" => self.stored_bytes = most,
            "deadLetters" => self.dead_letters = most,
            _ => return None,
        }
        Some(self)
    }

    /// These quotas, or the lower ones that are set by name elsewhere (in a licence).
    #[must_use]
    pub fn at_most(self, limit: impl Fn(&str) -> Option<u64>) -> Self {
        let lower = |own: Named| limit(own.name).map_or(own.most, |other| own.most.min(other));
        let [runs, open_tasks, stored_bytes, dead_letters] = self.named().map(lower);
        Self { runs, open_tasks, stored_bytes, dead_letters }
    }

    /// Looks whether more has room beside what is used. Only what is added counts: who is beyond a quota may still do
    /// what adds nothing to it.
    ///
    /// # Errors
    /// `QuotaExceeded` for the first quota that would be exceeded.
    pub fn room_for(&self, more: Used, used: Used) -> Result<(), StoreError> {
        let quotas = self.named().into_iter();
        let numbers = used.numbers().into_iter().zip(more.numbers());
        for (quota, (used, more)) in quotas.zip(numbers) {
            if more > 0 && used.saturating_add(more) > quota.most {
                return Err(StoreError::QuotaExceeded { limit: quota.name, most: quota.most, used });
            }
        }
        Ok(())
    }

    /// Whether so much more than what is used would come near a quota: an eighth of it is left, or less. As in
    /// [`Self::room_for`] only what is added counts.
    #[must_use]
    pub fn is_near(&self, more: Used, used: Used) -> bool {
        let numbers = used.numbers().into_iter().zip(more.numbers());
        self.named()
            .into_iter()
            .zip(numbers)
            .any(|(quota, (used, more))| more > 0 && used.saturating_add(more) >= quota.most - quota.most / 8)
    }
}

impl Used {
    /// The numbers in the order of [`Quotas::named`].
    const fn numbers(&self) -> [u64; 4] {
        [self.runs, self.open_tasks, self.stored_bytes, self.dead_letters]
    }

    /// Both together.
    #[must_use]
    pub const fn plus(self, more: Self) -> Self {
        Self {
            runs: self.runs.saturating_add(more.runs),
            open_tasks: self.open_tasks.saturating_add(more.open_tasks),
            stored_bytes: self.stored_bytes.saturating_add(more.stored_bytes),
            dead_letters: self.dead_letters.saturating_add(more.dead_letters),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_adds_to_a_full_quota_is_refused_by_its_name_and_the_rest_goes_on() {
        let quotas = Quotas { runs: 2, open_tasks: 3, ..Quotas::DEFAULT };
        let used = Used { runs: 2, open_tasks: 1, ..Used::default() };
        let (run, task) = (Used { runs: 1, ..Used::default() }, Used { open_tasks: 1, ..Used::default() });
        assert_eq!(
            quotas.room_for(run, used),
            Err(StoreError::QuotaExceeded { limit: "runs", most: 2, used: 2 })
        );
        assert_eq!(quotas.room_for(task, used), Ok(()));
        assert_eq!(quotas.room_for(Used::default(), Used { runs: 9, ..used }), Ok(()), "nothing is added");
        let tasks = Used { open_tasks: 3, ..Used::default() };
        assert_eq!(
            quotas.room_for(tasks, used),
            Err(StoreError::QuotaExceeded { limit: "openTasks", most: 3, used: 1 })
        );
        assert!(quotas.is_near(run, used) && !Quotas::DEFAULT.is_near(run, used));
        // Who has many dead letters begins runs as before: the numbers are not looked at for each.
        let quotas = Quotas { dead_letters: 8, ..Quotas::DEFAULT };
        let used = Used { dead_letters: 8, ..Used::default() };
        let letter = Used { dead_letters: 1, ..Used::default() };
        assert!(!quotas.is_near(run, used) && quotas.is_near(run.plus(letter), used));
        let fewer = |dead_letters| Used { dead_letters, ..used };
        assert!(
            quotas.is_near(letter, fewer(6)) && !quotas.is_near(letter, fewer(5)),
            "seven eighths with it"
        );
    }

    #[test]
    fn a_licence_lowers_quotas_by_name_and_raises_none() {
        let own = Quotas { runs: 100, ..Quotas::DEFAULT };
        for (name, licensed, runs) in [("runs", 10, 10), ("runs", 1_000, 100), ("users", 1, 100)] {
            let lowered = own.at_most(|asked| (asked == name).then_some(licensed));
            assert_eq!(lowered.runs, runs, "{name}");
        }
        for quota in own.named() {
            assert_eq!(own.with(quota.name, quota.most), Some(own));
        }
        assert_eq!(own.with("rnus", 1), None);
    }
}
