//! Places in the stream over all runs as a reader keeps them, with what is not told behind them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::{FeedPosition, FeedPositionError};

/// Most numbers that a mark carries; where there are more it carries none, and what they stand for may be told.
const MOST: usize = 40;

/// A place in the stream over all runs as a reader is told it and sends it back: with the numbers of commits behind it that
/// were there before the reader began. They stood behind a transaction that was still open, and are not told. Written
/// `commit.run.sequence`, and where there are such numbers `~` and the distance of each from the place's commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedMark {
    /// Place up to which the reader was told.
    pub place: FeedPosition,
    /// Numbers of commits that are not told.
    pub seen: Vec<i64>,
}

impl FeedMark {
    /// A place with those of the numbers that are not behind the reader yet.
    #[must_use]
    pub fn of(place: FeedPosition, seen: &BTreeSet<i64>) -> Self {
        let seen = seen.range(place.commit..).copied().take(MOST + 1).collect::<Vec<_>>();
        Self { place, seen: if seen.len() > MOST { Vec::new() } else { seen } }
    }
}

impl fmt::Display for FeedMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        for (at, number) in self.seen.iter().enumerate() {
            let distance = number.saturating_sub(self.place.commit);
            write!(f, "{}{distance}", if at == 0 { '~' } else { '.' })?;
        }
        Ok(())
    }
}

impl FromStr for FeedMark {
    type Err = FeedPositionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (place, distances) = match text.split_once('~') {
            Some((place, distances)) => (place, Some(distances)),
            None => (text, None),
        };
        let place: FeedPosition = place.parse()?;
        let number = |part: &str| {
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            let distance: Option<i64> = part.parse().ok().filter(|_| is_number);
            distance.and_then(|distance| place.commit.checked_add(distance)).ok_or(FeedPositionError)
        };
        let parts = distances.into_iter().flat_map(|distances| distances.split('.'));
        let seen = parts.take(MOST + 1).map(number).collect::<Result<Vec<_>, _>>()?;
        // One mark has one spelling.
        let in_order = seen.iter().zip(seen.iter().skip(1)).all(|(one, next)| one < next);
        if in_order && seen.len() <= MOST { Ok(Self { place, seen }) } else { Err(FeedPositionError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::RunId;
    use uuid::Uuid;

    #[test]
    fn a_mark_carries_what_is_not_told_behind_its_place_and_comes_back_as_it_was() {
        let place = |commit| FeedPosition { commit, run: RunId(Uuid::nil()), sequence: 0 };
        let nil = Uuid::nil();
        let seen = BTreeSet::from([3, 7, 9]);
        for (commit, text, left) in [
            (2, format!("2.{nil}.0~1.5.7"), vec![3, 7, 9]),
            (7, format!("7.{nil}.0~0.2"), vec![7, 9]),
            (10, format!("10.{nil}.0"), Vec::new()),
        ] {
            let mark = FeedMark::of(place(commit), &seen);
            assert_eq!((mark.to_string(), &mark.seen), (text.clone(), &left));
            assert_eq!(text.parse(), Ok(mark));
        }
        let many: BTreeSet<i64> = (1..1_000).collect();
        assert_eq!(FeedMark::of(place(1), &many).seen, Vec::<i64>::new());
        assert_eq!(FeedMark::of(place(960), &many).seen.len(), 40);
        let most = i64::MAX;
        for wrong in ["~", "~1.", "~-1", "~+1", "~2.1", "~1.1", "~1~2", "~a", &format!("~{most}")] {
            assert_eq!(format!("2.{nil}.0{wrong}").parse::<FeedMark>(), Err(FeedPositionError), "{wrong}");
        }
    }
}
