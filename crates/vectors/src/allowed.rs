//! Passages that alone may be answered: as much is read for them as there are files that they are of, or that they are not
//! of, and not as the database has.

use std::collections::BTreeSet;
use std::ops::Bound;

use heddle_kernel::FileId;
use heddle_usecase::StoreError;
use uuid::Uuid;

use crate::filter::Reach;
use crate::ports::PassageStore;
use crate::records::{PassageRange, VectorDatabase};

/// Files that are looked up by their ids at once.
const AT_ONCE: usize = 5_000;
/// Files that are read in a row.
const IN_A_ROW: u32 = 10_000;
/// Share of a database's files, as one in so many, from which on files are read in a row and the others passed over: one
/// that is looked up by its id costs as much as these.
const SHARE: usize = 4;
/// End of the ids of passages.
const END: u64 = i64::MAX.unsigned_abs();

/// The passages that alone may be answered, in rising order and apart from each other; none: all.
pub(crate) async fn allowed(
    store: &dyn PassageStore,
    database: &VectorDatabase,
    reach: &Reach,
) -> Result<Option<Vec<PassageRange>>, StoreError> {
    Ok(match reach {
        Reach::But(files) if files.is_empty() => None,
        Reach::But(files) => Some(gaps(&joined(ranges(store, database, files).await?))),
        Reach::Only(files) => Some(joined(ranges(store, database, files).await?)),
    })
}

/// The passages of files that can be found.
async fn ranges(
    store: &dyn PassageStore,
    database: &VectorDatabase,
    files: &BTreeSet<FileId>,
) -> Result<Vec<PassageRange>, StoreError> {
    let all = usize::try_from(database.counts.files).unwrap_or(usize::MAX);
    let are_many = files.len() > AT_ONCE && files.len().saturating_mul(SHARE) >= all;
    if are_many { in_a_row(store, database, files).await } else { by_id(store, database, files).await }
}

async fn by_id(
    store: &dyn PassageStore,
    database: &VectorDatabase,
    files: &BTreeSet<FileId>,
) -> Result<Vec<PassageRange>, StoreError> {
    let (mut found, mut rest) = (Vec::with_capacity(files.len()), files.iter().copied());
    loop {
        let some: Vec<FileId> = rest.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            return Ok(found);
        }
        let live = store.live_of(database.tenant, database.id, database.generation, &some).await?;
        found.extend(live.into_iter().map(|one| one.passages));
    }
}

/// Reads files from the first that is wanted on, and behind each page from the next such.
async fn in_a_row(
    store: &dyn PassageStore,
    database: &VectorDatabase,
    files: &BTreeSet<FileId>,
) -> Result<Vec<PassageRange>, StoreError> {
    let (mut found, mut next) = (Vec::with_capacity(files.len()), files.first().copied());
    while let Some(first) = next {
        let (tenant, id, generation) = (database.tenant, database.id, database.generation);
        let page = store.live(tenant, id, generation, before(first), IN_A_ROW).await?;
        let last = page.last().map(|one| one.file).filter(|_| page.len() >= IN_A_ROW as usize);
        found.extend(page.into_iter().filter(|one| files.contains(&one.file)).map(|one| one.passages));
        let behind = |last: FileId| files.range((Bound::Excluded(last), Bound::Unbounded)).next().copied();
        next = last.and_then(behind);
    }
    Ok(found)
}

/// The id in front of a file's; none: it is the first of all.
fn before(file: FileId) -> Option<FileId> {
    file.0.as_u128().checked_sub(1).map(|id| FileId(Uuid::from_u128(id)))
}

/// Ranges in rising order, those that touch made one.
fn joined(mut ranges: Vec<PassageRange>) -> Vec<PassageRange> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable();
    let mut all: Vec<PassageRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.first <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => all.push(range),
        }
    }
    all
}

/// The ids that are in none of some ranges, which come in rising order and do not touch.
fn gaps(ranges: &[PassageRange]) -> Vec<PassageRange> {
    let (mut all, mut first) = (Vec::with_capacity(ranges.len() + 1), 0);
    for range in ranges {
        all.push(PassageRange { first, end: range.first });
        first = range.end;
    }
    all.push(PassageRange { first, end: END });
    all.retain(|range| !range.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::{LiveFile, MockPassageStore};
    use crate::records::{Counts, PassageId};
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Passages of each file.
    const EACH: u64 = 3;

    fn file(number: u64) -> FileId {
        FileId(Uuid::from_u128(u128::from(number) * 10 + 1))
    }

    fn files(numbers: impl IntoIterator<Item = u64>) -> BTreeSet<FileId> {
        numbers.into_iter().map(file).collect()
    }

    fn passages(number: u64) -> PassageRange {
        PassageRange::of(number * EACH, EACH)
    }

    /// A database of so many files.
    fn database(files: u64) -> VectorDatabase {
        VectorDatabase { counts: Counts { files, ..Counts::default() }, ..crate::tests::database() }
    }

    /// A store of so many files that counts the rows which it gives or is asked for.
    fn store(count: u64, rows: &Arc<AtomicUsize>) -> MockPassageStore {
        let live: Arc<BTreeMap<FileId, PassageRange>> =
            Arc::new((0..count).map(|number| (file(number), passages(number))).collect());
        let mut store = MockPassageStore::new();
        let (there, read) = (Arc::clone(&live), Arc::clone(rows));
        store.expect_live().returning(move |_, _, _, after, most| {
            let from = after.map_or(Bound::Unbounded, Bound::Excluded);
            let page: Vec<LiveFile> = there
                .range((from, Bound::Unbounded))
                .take(most as usize)
                .map(|(file, passages)| LiveFile { file: *file, passages: *passages })
                .collect();
            read.fetch_add(page.len(), Ordering::Relaxed);
            Ok(page)
        });
        let read = Arc::clone(rows);
        store.expect_live_of().returning(move |_, _, _, asked| {
            assert!(asked.len() <= AT_ONCE, "{} at once", asked.len());
            read.fetch_add(asked.len(), Ordering::Relaxed);
            let found = |file: &FileId| live.get(file).map(|of| LiveFile { file: *file, passages: *of });
            Ok(asked.iter().filter_map(found).collect())
        });
        store
    }

    /// Passages that are allowed, and the rows that were read for it.
    async fn asked(count: u64, reach: &Reach) -> (Vec<PassageRange>, usize) {
        let rows = Arc::new(AtomicUsize::new(0));
        let found = allowed(&store(count, &rows), &database(count), reach).await.unwrap();
        (found.unwrap(), rows.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn files_beyond_five_thousand_are_not_looked_for_among_all() {
        let count = 100_000;
        let wanted = files((0..count).step_by(16));
        assert!(wanted.len() > AT_ONCE);
        let (found, rows) = asked(count, &Reach::Only(wanted.clone())).await;
        let expected: Vec<PassageRange> = (0..count).step_by(16).map(passages).collect();
        assert_eq!(found, expected);
        assert_eq!(rows, wanted.len());
        let (_, rows) = asked(count, &Reach::But(wanted.clone())).await;
        assert_eq!(rows, wanted.len());
    }

    #[tokio::test]
    async fn files_in_a_row_are_read_without_those_before_and_behind_them() {
        let count = 100_000;
        let (found, rows) = asked(count, &Reach::Only(files(60_000..90_000))).await;
        assert_eq!(found, [PassageRange { first: 60_000 * EACH, end: 90_000 * EACH }]);
        assert!(rows <= 30_000 + IN_A_ROW as usize, "{rows} rows");
    }

    #[tokio::test]
    async fn few_files_and_many_allow_exactly_their_passages() {
        let count = 30_000;
        // The last of them are not there, or can't be found.
        let sets = [
            files([]),
            files([7]),
            files((0..count).step_by(5)),
            files((0..count).step_by(3)),
            files((0..count).filter(|number| *number != 12_345)),
            files(0..count + 5_000),
        ];
        for wanted in sets {
            let is_in = |ranges: &[PassageRange], number: u64| {
                let id = PassageId(number * EACH + 1);
                ranges.iter().any(|range| range.contains(id))
            };
            let (only, rows) = asked(count, &Reach::Only(wanted.clone())).await;
            assert!(rows <= wanted.len() * SHARE + IN_A_ROW as usize, "{rows} of {}", wanted.len());
            let but = match wanted.is_empty() {
                true => vec![PassageRange { first: 0, end: END }],
                false => asked(count, &Reach::But(wanted.clone())).await.0,
            };
            assert!(only.windows(2).all(|pair| pair[0].end < pair[1].first));
            for number in [0, 1, 6, 7, 8, 12_344, 12_345, 12_346, count - 1] {
                let is_wanted = wanted.contains(&file(number));
                assert_eq!((is_in(&only, number), is_in(&but, number)), (is_wanted, !is_wanted), "{number}");
            }
        }
    }

    #[test]
    fn ranges_that_touch_are_one() {
        let ranges = [PassageRange::of(10, 5), PassageRange::of(0, 5), PassageRange::of(5, 5)];
        assert_eq!(joined(ranges.to_vec()), [PassageRange::of(0, 15)]);
        assert_eq!(joined(vec![PassageRange::of(3, 0)]), []);
        let of = |first, end| PassageRange { first, end };
        assert_eq!(gaps(&[]), [of(0, END)]);
        assert_eq!(gaps(&[of(0, 5), of(7, 9)]), [of(5, 7), of(9, END)]);
    }
}
