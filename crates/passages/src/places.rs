//! Places: which row has the vector of a passage. Sixteen bytes per passage, eight in an index that was just built, and a
//! small map of what changed lately.

use std::collections::HashMap;

use crate::AllowList;

/// Rows by passage.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Ascending, with the row of each beside it.
    ids: Vec<u64>,
    rows: Numbers,
    /// Changes that are not in them yet: another row, or none any more.
    fresh: HashMap<u64, Option<u64>>,
}

/// Rows in the order of their passages.
#[derive(Debug)]
enum Numbers {
    /// Rows that count up from this one, as in an index that was just built.
    From(u64),
    Each(Vec<u64>),
}

impl Default for Numbers {
    fn default() -> Self {
        Self::From(0)
    }
}

impl Numbers {
    fn of(rows: Vec<u64>) -> Self {
        let first = rows.first().copied().unwrap_or_default();
        match rows.iter().zip(first..).all(|(row, counted)| *row == counted) {
            true => Self::From(first),
            false => Self::Each(rows),
        }
    }

    /// The row at a place; there is one wherever there is an id.
    fn at(&self, place: usize) -> Option<u64> {
        match self {
            Self::From(first) => first.checked_add(u64::try_from(place).ok()?),
            Self::Each(rows) => rows.get(place).copied(),
        }
    }
}

impl Places {
    /// Places of pairs of passage and row; none when a passage comes twice.
    pub(crate) fn of(mut pairs: Vec<(u64, u64)>) -> Option<Self> {
        pairs.sort_unstable();
        if !pairs.is_sorted_by(|one, next| one.0 < next.0) {
            return None;
        }
        let (ids, rows) = pairs.into_iter().unzip();
        Some(Self { ids, rows: Numbers::of(rows), fresh: HashMap::new() })
    }

    /// The row of a passage.
    pub(crate) fn get(&self, id: u64) -> Option<u64> {
        if let Some(fresh) = self.fresh.get(&id) {
            return *fresh;
        }
        self.ids.binary_search(&id).ok().and_then(|at| self.rows.at(at))
    }

    /// Says which row a passage has from now on.
    pub(crate) fn set(&mut self, id: u64, row: Option<u64>) {
        self.fresh.insert(id, row);
        if self.fresh.len() > 1024 + self.ids.len() / 8 {
            self.settle();
        }
    }

    /// The pairs of passage and row of those that a set has, in no order.
    pub(crate) fn among(&self, set: &AllowList) -> Vec<(u64, u64)> {
        let mut found = vec![];
        let mut from = 0;
        for range in set.ranges() {
            let ids = self.ids.get(from..).unwrap_or_default();
            let skipped = first_from(ids, range.start);
            from += skipped;
            let ids = ids.get(skipped..).unwrap_or_default().iter().take_while(|id| **id < range.end);
            found.extend(ids.zip(from..).filter_map(|(id, place)| Some((*id, self.rows.at(place)?))));
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
        let settled = self.ids.iter().zip(0..).filter_map(|(id, place)| Some((*id, self.rows.at(place)?)));
        let fresh = self.fresh.iter().filter_map(|(id, row)| row.map(|row| (*id, row)));
        settled.filter(|(id, _)| !self.fresh.contains_key(id)).chain(fresh)
    }

    fn settle(&mut self) {
        let mut pairs: Vec<(u64, u64)> = self.iter().collect();
        pairs.sort_unstable();
        let rows;
        (self.ids, rows) = pairs.into_iter().unzip();
        self.rows = Numbers::of(rows);
        self.fresh = HashMap::new();
    }
}

/// The place of the first id that is at least `wanted`. Ids ascend by one or more, so it is not behind the place that it
/// had if none were missing, which is nearly always the place itself.
fn first_from(ids: &[u64], wanted: u64) -> usize {
    let Some(ahead) = ids.first().and_then(|first| wanted.checked_sub(*first)) else { return 0 };
    let guess = usize::try_from(ahead).unwrap_or(usize::MAX).min(ids.len());
    if ids.get(guess) == Some(&wanted) {
        return guess;
    }
    ids.get(..guess).unwrap_or_default().partition_point(|id| *id < wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_count_up_are_not_kept_and_found_all_the_same() {
        let mut places = Places::of((10..20).map(|id| (id * 3, id)).collect()).unwrap();
        assert!(matches!(places.rows, Numbers::From(10)));
        assert_eq!((places.get(33), places.get(34), places.get(60)), (Some(11), None, None));
        places.set(33, Some(40));
        places.settle();
        assert!(matches!(places.rows, Numbers::Each(_)));
        assert_eq!((places.get(30), places.get(33), places.get(57)), (Some(10), Some(40), Some(19)));
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
