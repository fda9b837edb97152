//! Allow-lists: the ids that a query may answer with.

use std::ops::Range;
use std::sync::Arc;

/// An exact set of passage ids, kept as ranges: the passages of a file stand in a row. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllowList {
    /// Ascending, none empty, none touching another.
    ranges: Arc<[Range<u64>]>,
}

impl AllowList {
    /// The ids of ranges, in any order, also of such that overlap; the end of each is not in it.
    #[must_use]
    pub fn of_ranges(mut ranges: Vec<Range<u64>>) -> Self {
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        let mut whole: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match whole.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                Some(_) | None => whole.push(range),
            }
        }
        Self { ranges: whole.into() }
    }

    /// Whether the id is in the set.
    #[must_use]
    pub fn contains(&self, id: u64) -> bool {
        let after = self.ranges.partition_point(|range| range.start <= id);
        after.checked_sub(1).and_then(|at| self.ranges.get(at)).is_some_and(|range| range.contains(&id))
    }

    /// The ranges: ascending, none empty, none touching another.
    #[must_use]
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// Whether nothing is allowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

impl FromIterator<u64> for AllowList {
    /// The set of single ids, in any order. The greatest number of all is no id.
    fn from_iter<T: IntoIterator<Item = u64>>(ids: T) -> Self {
        Self::of_ranges(ids.into_iter().map(|id| id..id.saturating_add(1)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "a list of ranges that has one")]
    fn ranges_are_joined_and_exact() {
        let allow = AllowList::of_ranges(vec![10..12, 3..5, 5..6, 11..15, 20..20]);
        assert_eq!(allow.ranges(), [3..6, 10..15]);
        let found: Vec<u64> = (0..30).filter(|id| allow.contains(*id)).collect();
        assert_eq!(found, [3, 4, 5, 10, 11, 12, 13, 14]);
        assert_eq!(AllowList::from_iter([9, 7, 8, 7]).ranges(), [7..10]);
        assert!(!AllowList::default().contains(0) && AllowList::default().is_empty());
    }
}
