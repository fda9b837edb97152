//! Places: which row has the vector of a passage. Sixteen bytes per passage, and a small map of what changed lately.

use std::collections::HashMap;

use crate::AllowList;

/// Rows by passage.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Ascending, with the row of each beside it.
    ids: Vec<u64>,
    rows: Vec<u64>,
    /// What is not in them yet: another row, or none any more.
    fresh: HashMap<u64, Option<u64>>,
}

impl Places {
    /// Places of pairs of passage and row; none when a passage comes twice.
    pub(crate) fn of(mut pairs: Vec<(u64, u64)>) -> Option<Self> {
        pairs.sort_unstable();
        if !pairs.is_sorted_by(|one, next| one.0 < next.0) {
            return None;
        }
        let (ids, rows) = pairs.into_iter().unzip();
        Some(Self { ids, rows, fresh: HashMap::new() })
    }

    /// The row of a passage.
    pub(crate) fn get(&self, id: u64) -> Option<u64> {
        if let Some(fresh) = self.fresh.get(&id) {
            return *fresh;
        }
        self.ids.binary_search(&id).ok().and_then(|at| self.rows.get(at)).copied()
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
        for range in set.ranges() {
            let from = self.ids.partition_point(|id| *id < range.start);
            let settled = self.ids.iter().zip(&self.rows).skip(from).take_while(|(id, _)| **id < range.end);
            found.extend(settled.map(|(id, row)| (*id, *row)));
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
        let settled = self.ids.iter().copied().zip(self.rows.iter().copied());
        let fresh = self.fresh.iter().filter_map(|(id, row)| row.map(|row| (*id, row)));
        settled.filter(|(id, _)| !self.fresh.contains_key(id)).chain(fresh)
    }

    fn settle(&mut self) {
        let mut pairs: Vec<(u64, u64)> = self.iter().collect();
        pairs.sort_unstable();
        (self.ids, self.rows) = pairs.into_iter().unzip();
        self.fresh = HashMap::new();
    }
}
