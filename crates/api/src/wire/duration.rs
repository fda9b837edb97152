//! Durations of days and time.

use heddle_kernel::IsoDuration;
use serde::{Deserialize, Deserializer};

/// An ISO 8601 duration of days and time, in milliseconds. The pattern of its member says which texts are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duration(i64);

impl Duration {
    /// The duration in milliseconds.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let nanos = IsoDuration::parse_strict(&text).and_then(|own| own.nanos()).filter(|nanos| *nanos >= 0);
        // Half a millisecond and more is one.
        let millis = nanos.and_then(|nanos| i64::try_from((nanos + 500_000) / 1_000_000).ok());
        let wrong = || serde::de::Error::custom("an ISO 8601 duration such as P3D or PT1H is needed");
        millis.map(Self).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn durations_of_days_and_time_are_read() {
        for (text, millis) in
            [("PT2S", 2000), ("PT1.5S", 1500), ("P3D", 259_200_000), ("P1DT1H1M", 90_060_000), ("PT0S", 0)]
        {
            assert_eq!(serde_json::from_value(json!(text)).ok(), Some(Duration(millis)), "{text}");
        }
        for wrong in ["", "P", "P1Y", "1D", "PT", "PT5", "P1M", "PTS", "-PT1S", "P1W"] {
            assert!(serde_json::from_value::<Duration>(json!(wrong)).is_err(), "{wrong}");
        }
    }
}
