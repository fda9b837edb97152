//! Places: which row has the vector of a passage. Twenty bytes for each stretch of passages that follow upon each other, as
//! those of files do, and a small map of what changed lately.

use std::collections::HashMap;

use crate::AllowList;

/// Rows by passage.
#[derive(Debug, Default)]
pub(crate) struct Places {
    stretches: Stretches,
    /// Changes that are not in them yet: another row, or none any more.
    fresh: HashMap<u64, Option<u64>>,
}

/// Stretches in which passages and rows count up together, ascending by passage.
#[derive(Debug, Default)]
struct Stretches {
    /// First passage of each.
    ids: Vec<u64>,
    /// Row of that passage.
    rows: Vec<u64>,
    /// Number of passages of each; one at least.
    lengths: Vec<u32>,
    /// Number of passages of all.
    passages: usize,
}

impl Stretches {
    /// Stretches of pairs in the order of their passages, each of which comes once.
    fn of(pairs: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut all = Self::default();
        for (id, row) in pairs {
            all.passages += 1;
            if let (Some(first), Some(first_row), Some(length)) =
                (all.ids.last(), all.rows.last(), all.lengths.last_mut())
                && let Some(longer) = length.checked_add(1)
                && first.checked_add(u64::from(*length)) == Some(id)
                && first_row.checked_add(u64::from(*length)) == Some(row)
            {
                *length = longer;
                continue;
            }
            all.ids.push(id);
            all.rows.push(row);
            all.lengths.push(1);
        }
        all.ids.shrink_to_fit();
        all.rows.shrink_to_fit();
        all.lengths.shrink_to_fit();
        all
    }

    /// First passage, its row and the length of the stretch at a place.
    fn at(&self, place: usize) -> Option<(u64, u64, u64)> {
        let length = u64::from(*self.lengths.get(place)?);
        Some((*self.ids.get(place)?, *self.rows.get(place)?, length))
    }

    fn get(&self, id: u64) -> Option<u64> {
        let place = self.ids.partition_point(|first| *first <= id).checked_sub(1)?;
        let (first, row, length) = self.at(place)?;
        let ahead = id.checked_sub(first).filter(|ahead| *ahead < length)?;
        row.checked_add(ahead)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..self.ids.len()).filter_map(|place| self.at(place)).flat_map(|(first, row, length)| {
            let last = first.saturating_add(length);
            (first..last).zip(row..)
        })
    }
}

impl Places {
    /// Places of pairs of passage and row; none when a passage comes twice.
    pub(crate) fn of(mut pairs: Vec<(u64, u64)>) -> Option<Self> {
        pairs.sort_unstable();
        if !pairs.is_sorted_by(|one, next| one.0 < next.0) {
            return None;
        }
        Some(Self { stretches: Stretches::of(pairs), fresh: HashMap::new() })
    }

    /// The row of a passage.
    pub(crate) fn get(&self, id: u64) -> Option<u64> {
        match self.fresh.get(&id) {
            Some(fresh) => *fresh,
            None => self.stretches.get(id),
        }
    }

    /// Says which row a passage has from now on.
    pub(crate) fn set(&mut self, id: u64, row: Option<u64>) {
        self.fresh.insert(id, row);
        if self.fresh.len() > 1024 + self.stretches.passages / 8 {
            self.settle();
        }
    }

    /// The pairs of passage and row of those that a set has, in no order.
    pub(crate) fn among(&self, set: &AllowList) -> Vec<(u64, u64)> {
        let mut found = vec![];
        let mut from = 0;
        for range in set.ranges() {
            // The first stretch that does not end before the range: most often the one at which the last range ended.
            let is_before = |place: usize| {
                self.stretches
                    .at(place)
                    .is_some_and(|(first, _, length)| first.saturating_add(length) <= range.start)
            };
            if is_before(from) {
                let ahead = self.stretches.ids.get(from..).unwrap_or_default();
                from += ahead.partition_point(|first| *first <= range.start).saturating_sub(1);
                from += usize::from(is_before(from));
            }
            let mut place = from;
            while let Some((first, row, length)) = self.stretches.at(place)
                && first < range.end
            {
                let (begin, end) = (range.start.max(first), range.end.min(first.saturating_add(length)));
                found.extend((begin..end).zip(row.saturating_add(begin.saturating_sub(first))..));
                from = place;
                place += 1;
            }
        }
        if !self.fresh.is_empty() {
            found.retain(|(id, _)| !self.fresh.contains_key(id));
            let fresh = self.fresh.iter().filter(|(id, _)| set.contains(**id));
            found.extend(fresh.filter_map(|(id, row)| row.map(|row| (*id, row))));
        }
        found
    }

    /// All pairs of passage and row, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let fresh = self.fresh.iter().filter_map(|(id, row)| row.map(|row| (*id, row)));
        self.stretches.iter().filter(|(id, _)| !self.fresh.contains_key(id)).chain(fresh)
    }

    fn settle(&mut self) {
        let mut pairs: Vec<(u64, u64)> = self.iter().collect();
        pairs.sort_unstable();
        self.stretches = Stretches::of(pairs);
        self.fresh = HashMap::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_up_is_kept_as_one_and_found_all_the_same() {
        let mut places = Places::of((10..20).map(|id| (id + 20, id)).collect()).unwrap();
        assert_eq!(places.stretches.ids, [30]);
        assert_eq!(
            (places.get(29), places.get(30), places.get(39), places.get(40)),
            (None, Some(10), Some(19), None)
        );
        // Moved, gone, and one behind the others.
        places.set(33, Some(40));
        places.set(36, None);
        places.set(40, Some(20));
        places.settle();
        assert_eq!(places.stretches.ids, [30, 33, 34, 37]);
        assert_eq!(places.stretches.passages, 10);
        let rows: Vec<Option<u64>> = (29..42).map(|id| places.get(id)).collect();
        let wanted = [
            None,
            Some(10),
            Some(11),
            Some(12),
            Some(40),
            Some(14),
            Some(15),
            None,
            Some(17),
            Some(18),
            Some(19),
            Some(20),
            None,
        ];
        assert_eq!(rows, wanted);
        // Passages without a gap whose rows have one, and the other way round.
        assert_eq!(Places::of(vec![(1, 1), (2, 3), (4, 4), (5, 5)]).unwrap().stretches.ids, [1, 2, 4]);
    }

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "a list of ranges that has one")]
    fn ranges_are_found_with_and_without_gaps() {
        let pairs = |ids: &[u64]| ids.iter().map(|id| (*id, id * 2)).collect::<Vec<_>>();
        for ids in [&[0, 1, 2, 3, 4, 5, 6][..], &[2, 3, 7, 8, 900, 901, u64::MAX / 4], &[5], &[]] {
            let mut places = Places::of(pairs(ids)).unwrap();
            for set in [vec![0..1], vec![2..4, 5..6, 7..901], vec![3..3, 6..u64::MAX], vec![900..902], vec![]]
            {
                let set = AllowList::of_ranges(set);
                let expected: Vec<u64> = ids.iter().copied().filter(|id| set.contains(*id)).collect();
                assert_eq!(places.among(&set), pairs(&expected));
            }
            places.set(3, None);
            places.set(4, Some(1));
            let all = AllowList::of_ranges(vec![0..u64::MAX]);
            let mut expected: Vec<u64> = ids.iter().copied().filter(|id| !matches!(id, 3 | 4)).collect();
            expected.push(4);
            let mut found: Vec<u64> = places.among(&all).into_iter().map(|(id, _)| id).collect();
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected);
        }
        assert!(Places::of(vec![(1, 1), (1, 2)]).is_none());
    }
}
