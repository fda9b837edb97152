//! Ids within a run: one counter for node instances, scopes, timers, subscriptions and incidents.

use heddle_kernel::{JobId, RunId, TaskId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The id of something within a run, unique in the run; its text is `n` and the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LocalId(pub u64);

/// The text is no id of something within a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id within a run")]
pub struct LocalIdError(pub String);

impl LocalId {
    /// The process's own scope.
    pub const ROOT: Self = Self(0);

    /// The id of the human task of this node instance. The run's time stays in front, so that ids of tasks
    /// are appended to an index; the rest mixes the run's id and the counter.
    #[must_use]
    pub fn task(self, run: RunId) -> TaskId {
        TaskId(self.derived(run))
    }

    /// The id of the job of this number; derived as that of a human task is.
    #[must_use]
    pub fn job(self, run: RunId) -> JobId {
        JobId(self.derived(run))
    }

    /// The id of the run that this node instance calls; derived as that of a human task is.
    #[must_use]
    pub fn called(self, run: RunId) -> RunId {
        RunId(self.derived(run))
    }

    fn derived(self, run: RunId) -> uuid::Uuid {
        let run = run.0.as_u128();
        let mix = |mut x: u64| {
            // The finaliser of splitmix64.
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        };
        let [high, low] = [(run >> 64) as u64, run as u64];
        let own = mix(low ^ mix(high ^ mix(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15))));
        let salt = mix(own ^ low) & 0xffff;
        let bits = (u128::from(high >> 16) << 80) | (u128::from(salt) << 64) | u128::from(own);
        uuid::Builder::from_custom_bytes(bits.to_be_bytes()).into_uuid()
    }
}

impl fmt::Display for LocalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl FromStr for LocalId {
    type Err = LocalIdError;

    fn from_str(text: &str) -> Result<Self, LocalIdError> {
        let digits = text.strip_prefix('n').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        match digits.map(str::parse) {
            Some(Ok(number)) => Ok(Self(number)),
            _ => Err(LocalIdError(text.chars().take(80).collect())),
        }
    }
}

impl Serialize for LocalId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LocalId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_text() {
        assert_eq!("n12".parse(), Ok(LocalId(12)));
        assert_eq!(LocalId(12).to_string(), "n12");
        for wrong in ["", "n", "12", "n-1", "n+1", "m1", "n99999999999999999999"] {
            assert!(wrong.parse::<LocalId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn task_ids_differ_by_run_and_by_counter() {
        let runs = ["01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8058"];
        let mut seen = std::collections::HashSet::new();
        for run in runs {
            let run: RunId = run.parse().unwrap();
            for n in 0..500 {
                let task = LocalId(n).task(run);
                assert_eq!(task, LocalId(n).task(run));
                assert_eq!(task.to_string()[..13], run.to_string()[..13]);
                assert_eq!(task.0.get_version_num(), 8);
                assert!(seen.insert(task));
            }
        }
    }
}
