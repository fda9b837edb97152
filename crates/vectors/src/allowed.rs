//! Passages that alone may be answered: as much is read for them as there are files that they are of, or that they are not
//! of, and not as the database has; and that once for each commit that changes what can be found, however many ask.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use heddle_kernel::{FileId, VectorDatabaseId};
use heddle_usecase::StoreError;
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::filter::{Filter, Reach};
use crate::ports::{PassageStore, Position};
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

/// Allowances that are kept at most.
const KEPT: usize = 64;
/// Ranges and files that the allowances which are kept have together at most: 8 MB.
const MOST: usize = 500_000;
/// Bytes of a filter from which on nothing is kept for it.
const LONG: usize = 16 << 10;

/// Passages that alone may be answered to those who ask the same.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// Their ids, in rising order and apart from each other; none: all.
    pub(crate) passages: Option<Arc<[PassageRange]>>,
    /// Files of which nothing may be answered, what they got since included. Where files are named that alone may be
    /// answered from there are none: an id is of one file for ever.
    pub(crate) but: BTreeSet<FileId>,
}

/// Conditions under which somebody asks of a database: they decide what may be answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Place at which the database stands: each number of it that a kept one was made at is the same.
    pub(crate) at: Position,
    /// Filter of the query.
    pub(crate) filter: Option<&'a Filter>,
    /// Files that are denied to whoever asks.
    pub(crate) denied: &'a BTreeSet<FileId>,
}

/// An allowance under what it was made for. Those that ask while it is made wait for it.
#[derive(Debug)]
struct Kept {
    database: VectorDatabaseId,
    at: Position,
    filter: Option<Filter>,
    denied: BTreeSet<FileId>,
    made: Arc<OnceCell<Arc<Allowance>>>,
}

impl Kept {
    fn is_for(&self, database: &VectorDatabase, asked: Asked<'_>) -> bool {
        self.database == database.id
            && self.at == asked.at
            && self.filter.as_ref() == asked.filter
            && self.denied == *asked.denied
    }

    /// Whether nobody asks for it any more, since the database has gone on.
    fn is_before(&self, database: &VectorDatabase, asked: Asked<'_>) -> bool {
        let (one, other) = (self.at, asked.at);
        self.database == database.id
            && one != other
            && one.generation <= other.generation
            && one.sequence <= other.sequence
            && one.fields <= other.fields
    }

    /// Ranges and files that it has.
    fn size(&self) -> usize {
        let made = self.made.get().map_or(0, |allowance| {
            allowance.passages.as_ref().map_or(0, |passages| passages.len()) + allowance.but.len()
        });
        made + self.denied.len()
    }
}

/// Allowances of late, the one that was asked for last at the end.
#[derive(Debug, Default)]
pub(crate) struct Allowances {
    kept: Mutex<VecDeque<Kept>>,
}

impl Allowances {
    /// The allowance of a database for what is asked.
    ///
    /// # Errors
    /// `Unavailable`. What failed is tried again by whoever asks next.
    pub(crate) async fn of(
        &self,
        store: &dyn PassageStore,
        database: &VectorDatabase,
        asked: Asked<'_>,
    ) -> Result<Arc<Allowance>, StoreError> {
        if asked.filter.is_none() && asked.denied.is_empty() {
            return Ok(Arc::new(Allowance { passages: None, but: BTreeSet::new() }));
        }
        if asked.filter.is_some_and(|filter| filter.size() > LONG) {
            return made(store, database, asked).await;
        }
        let place = self.place(database, asked);
        if let Some(made) = place.get() {
            return Ok(Arc::clone(made));
        }
        let made = place.get_or_try_init(|| made(store, database, asked)).await.cloned();
        self.shorten();
        made
    }

    fn place(&self, database: &VectorDatabase, asked: Asked<'_>) -> Arc<OnceCell<Arc<Allowance>>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|one| one.is_for(database, asked)).and_then(|at| kept.remove(at));
        let one = found.unwrap_or_else(|| {
            kept.retain(|one| !one.is_before(database, asked));
            Kept {
                database: database.id,
                at: asked.at,
                filter: asked.filter.cloned(),
                denied: asked.denied.clone(),
                made: Arc::default(),
            }
        });
        let place = Arc::clone(&one.made);
        kept.push_back(one);
        place
    }

    /// Drops those that were asked for longest ago, until what stays is within bounds.
    fn shorten(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut size: usize = kept.iter().map(Kept::size).sum();
        while kept.len() > KEPT || size > MOST {
            let Some(oldest) = kept.pop_front() else { return };
            size = size.saturating_sub(oldest.size());
        }
    }
}

async fn made(
    store: &dyn PassageStore,
    database: &VectorDatabase,
    asked: Asked<'_>,
) -> Result<Arc<Allowance>, StoreError> {
    let seen = Reach::But(asked.denied.clone());
    let reach = match asked.filter {
        None => seen,
        Some(filter) => filter.files(store, database.tenant, database.id).await?.and(seen),
    };
    let passages = allowed(store, database, &reach).await?.map(Arc::from);
    let but = match reach {
        Reach::Only(_) => BTreeSet::new(),
        Reach::But(files) => files,
    };
    Ok(Arc::new(Allowance { passages, but }))
}

/// The passages that alone may be answered, in rising order and apart from each other; none: all.
async fn allowed(
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
    use crate::ports::{FieldCondition, FieldTest, FieldValue, LiveFile, MockPassageStore};
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

    const fn at(sequence: i64, fields: i64) -> Position {
        Position { sequence, generation: 0, fields }
    }

    fn of_files(numbers: &[u64]) -> Filter {
        let values = numbers.iter().map(|number| FieldValue::Text(file(*number).to_string())).collect();
        Filter::One(FieldCondition { field: "fileId".to_owned(), test: FieldTest::In(values) })
    }

    #[tokio::test]
    async fn a_filter_is_read_once_for_each_commit_and_for_each_who_asks_it() {
        let (rows, reads) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut store = store(100, &rows);
        let count = Arc::clone(&reads);
        store.expect_files_where().returning(move |_, _, condition| {
            count.fetch_add(1, Ordering::Relaxed);
            let FieldTest::In(values) = &condition.test else { panic!("{condition:?}") };
            Ok((0..100).map(file).filter(|one| values.contains(&FieldValue::Text(one.to_string()))).collect())
        });
        let (kept, database) = (Allowances::default(), database(100));
        let (one, other) = (of_files(&[3, 4]), of_files(&[5]));
        let (nothing, four) = (BTreeSet::new(), files([4]));
        let mut looks = Vec::new();
        for (at, filter, denied) in [
            (at(1, 1), &one, &nothing),
            (at(1, 1), &one, &nothing),
            // Another filter, another caller, another commit of the one kind or the other.
            (at(1, 1), &other, &nothing),
            (at(1, 1), &one, &four),
            (at(1, 1), &one, &four),
            (at(2, 1), &one, &nothing),
            (at(2, 1), &one, &nothing),
            (at(2, 2), &one, &nothing),
            (at(2, 2), &one, &nothing),
        ] {
            let asked = Asked { at, filter: Some(filter), denied };
            let found = kept.of(&store, &database, asked).await.unwrap();
            looks.push((found.passages.as_deref().unwrap().to_vec(), reads.load(Ordering::Relaxed)));
        }
        let of = |first: u64, files: u64| vec![PassageRange::of(first * EACH, files * EACH)];
        assert_eq!(
            looks,
            [
                (of(3, 2), 1),
                (of(3, 2), 1),
                (of(5, 1), 2),
                (of(3, 1), 3),
                (of(3, 1), 3),
                (of(3, 2), 4),
                (of(3, 2), 4),
                (of(3, 2), 5),
                (of(3, 2), 5)
            ]
        );
        assert_eq!(kept.kept.lock().unwrap().len(), 1, "what is of earlier commits is given up");
    }

    #[tokio::test]
    async fn denied_files_stay_denied_whatever_they_get_and_all_is_all() {
        let rows = Arc::new(AtomicUsize::new(0));
        let (store, kept, denied) = (store(10, &rows), Allowances::default(), files([2]));
        let asked = Asked { at: at(1, 1), filter: None, denied: &denied };
        let found = kept.of(&store, &database(10), asked).await.unwrap();
        assert_eq!(found.but, denied);
        assert_eq!(found.passages.as_deref().unwrap(), gaps(&[passages(2)]));
        let all = Asked { denied: &BTreeSet::new(), ..asked };
        let found = kept.of(&store, &database(10), all).await.unwrap();
        assert_eq!((&found.passages, found.but.len()), (&None, 0));
    }

    #[tokio::test]
    async fn what_failed_is_tried_again_and_what_is_kept_is_bounded() {
        let rows = Arc::new(AtomicUsize::new(0));
        let (mut broken, kept) = (MockPassageStore::new(), Allowances::default());
        broken.expect_files_where().returning(|_, _, _| Err(StoreError::Unavailable("away".to_owned())));
        let (filter, nothing) = (of_files(&[1]), BTreeSet::new());
        let asked = Asked { at: at(1, 1), filter: Some(&filter), denied: &nothing };
        kept.of(&broken, &database(10), asked).await.unwrap_err();
        let mut store = store(200_000, &rows);
        let reads = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&reads);
        store.expect_files_where().returning(move |_, _, condition| {
            count.fetch_add(1, Ordering::Relaxed);
            let FieldTest::In(values) = &condition.test else { panic!("{condition:?}") };
            // Every second file, as many ranges as files, where two are asked for; else those that are.
            Ok(match values.len() {
                2 => (0..200_000).step_by(2).map(file).collect(),
                _ => values.iter().take(1).map(|_| file(7)).collect(),
            })
        });
        let database = database(200_000);
        let ask = async |numbers: &[u64]| {
            let filter = of_files(numbers);
            kept.of(&store, &database, Asked { filter: Some(&filter), ..asked }).await.unwrap();
            let held = kept.kept.lock().unwrap();
            assert!(held.len() <= KEPT && held.iter().map(Kept::size).sum::<usize>() <= MOST);
            reads.load(Ordering::Relaxed)
        };
        assert_eq!(ask(&[1]).await, 1, "what failed is tried again");
        for number in 0..6 {
            ask(&[number, number + 1]).await;
        }
        assert_eq!(ask(&[5, 6]).await, 7, "the last is kept");
        assert_eq!(ask(&[0, 1]).await, 8, "the first is not");
        for number in 0..=KEPT as u64 {
            ask(&[number]).await;
        }
        let before = reads.load(Ordering::Relaxed);
        assert_eq!(ask(&[1]).await, before);
        assert_eq!(ask(&[0]).await, before + 1);
        // One that is long itself is not kept.
        let long: Vec<u64> = (0..1_000).collect();
        assert_eq!((ask(&long).await, ask(&long).await), (before + 2, before + 3));
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
