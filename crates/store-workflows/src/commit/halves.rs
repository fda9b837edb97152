//! Groups of units that are tried together. One that fails is halved, so that a unit that can't be written costs the
//! others of its batch a few tries more, and never their own way through.

/// Groups of units, by their places in the batch, in its order.
pub(super) struct Groups(Vec<Vec<usize>>);

impl Groups {
    /// All of them as one group.
    pub(super) fn of(all: Vec<usize>) -> Self {
        Self(if all.is_empty() { Vec::new() } else { vec![all] })
    }

    /// The next group to try.
    pub(super) fn next(&mut self) -> Option<Vec<usize>> {
        self.0.pop()
    }

    /// Puts the halves of a group that failed where it stood; a single unit has none.
    pub(super) fn halve(&mut self, mut group: Vec<usize>) {
        let behind = group.split_off(group.len().div_ceil(2));
        self.0.extend([behind, group].into_iter().filter(|half| !half.is_empty()));
    }
}

/// The only unit of a group.
pub(super) fn only(group: &[usize]) -> Option<usize> {
    if let [place] = group { Some(*place) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_fails_is_found_in_few_tries_and_the_order_stays() {
        for (count, bad) in [(1, 0), (2, 1), (7, 3), (1000, 0), (1000, 999), (1024, 500)] {
            let mut groups = Groups::of((0..count).collect());
            let (mut written, mut failed, mut tries) = (Vec::new(), Vec::new(), 0);
            while let Some(group) = groups.next() {
                tries += 1;
                match (group.contains(&bad), group.as_slice()) {
                    (false, _) => written.extend(group),
                    (true, [only]) => failed.push(*only),
                    (true, _) => groups.halve(group),
                }
            }
            assert!(written.is_sorted() && written.len() == count - 1, "{count}");
            assert_eq!(failed, [bad]);
            assert!(tries <= 2 * count.ilog2() as usize + 3, "{tries} tries of {count}");
        }
        assert!(Groups::of(Vec::new()).next().is_none());
    }
}
