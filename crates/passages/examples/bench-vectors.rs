//! CPU time and recall of nearest vectors: `bench-vectors [COUNT [QUERIES [FOLDER]]]`, by default 100,000 vectors of 384
//! dimensions around 1,000 centres and 1,000 queries. With a folder the vectors (`docs.f32`), the queries (`queries.f32`)
//! and the ten nearest of each (`truth.u64`) are written there, for others to be measured by. Prints one JSON object:
//! CPU milliseconds per query, and of ten nearest how many are found.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use heddle_passages::{
    AllowList, Index, Key, Language, Passage, Query, Scan, Settings, Shape, Shelf, dot, unit,
};
use serde_json::json;

/// Allocator of the program, so that the memory is what the program would hold.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

type Failure = Box<dyn std::error::Error>;

const DIMS: u32 = 384;
const CENTRES: u64 = 1_000;
const NEAREST: usize = 10;
/// CPU time that a figure takes at least: the system counts it in hundredths of a second.
const LONG: Duration = Duration::from_secs(2);
const SETTINGS: Settings = Settings { dims: Some(DIMS), language: Language::Plain };

/// CPU time of this process, with all its threads.
fn cpu() -> Result<Duration, Failure> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').ok_or("the status of the process has another form")?.1;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

/// Bytes of memory that are resident, without those of files.
fn resident() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).ok_or("no RssAnon")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

/// Numbers that look random and are the same each time (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// About normally distributed: the sum of four sixteenths of the bits.
    fn normal(&mut self) -> f32 {
        let bits = self.next();
        let sum: u64 = (0..4).map(|part| bits >> (16 * part) & 0xffff).sum();
        sum as f32 / 37_837.0 - 3.464
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMS).map(|_| self.normal()).collect()
    }
}

/// Vectors by number: each is made when it is asked for, so that a million need no memory.
struct Vectors {
    centres: Vec<Vec<f32>>,
}

impl Vectors {
    fn new() -> Self {
        let mut numbers = Numbers(1);
        Self { centres: (0..CENTRES).map(|_| numbers.vector()).collect() }
    }

    fn of(&self, id: u64) -> Result<Vec<f32>, Failure> {
        let mut numbers = Numbers(id.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5bd1_e995);
        let at = usize::try_from(numbers.next() % CENTRES)?;
        let centre = self.centres.get(at).ok_or("no such centre")?;
        let vector: Vec<f32> = centre.iter().map(|value| value + 0.8 * numbers.normal()).collect();
        Ok(unit(&vector, DIMS as usize, || id.to_string())?)
    }

    fn passage(&self, id: u64) -> Result<Passage, Failure> {
        Ok(Passage { id, text: String::new(), vector: Some(self.of(id)?) })
    }
}

/// The nearest of each query, by reckoning.
type Truth = Vec<Vec<u64>>;

fn truth(vectors: &Vectors, queries: &[Vec<f32>], ids: impl Iterator<Item = u64>) -> Result<Truth, Failure> {
    let mut best: Vec<Vec<(f32, u64)>> = vec![vec![]; queries.len()];
    for id in ids {
        let vector = vectors.of(id)?;
        for (query, best) in queries.iter().zip(&mut best) {
            let score = dot(query, &vector);
            if best.len() == NEAREST && best.last().is_some_and(|last| last.0 >= score) {
                continue;
            }
            let at = best.partition_point(|other| other.0 >= score);
            best.insert(at, (score, id));
            best.truncate(NEAREST);
        }
    }
    Ok(best.into_iter().map(|best| best.into_iter().map(|(_, id)| id).collect()).collect())
}

/// Cost of a search, and how much it finds.
fn figure(
    queries: &[Vec<f32>],
    truth: &Truth,
    mut search: impl FnMut(&[f32]) -> Result<Vec<u64>, Failure>,
) -> Result<serde_json::Value, Failure> {
    let (mut right, mut wanted) = (0_u32, 0_u32);
    for (query, truth) in queries.iter().zip(truth) {
        let found = search(query)?;
        right += u32::try_from(truth.iter().filter(|id| found.contains(id)).count())?;
        wanted += u32::try_from(truth.len())?;
    }
    let (start, mut times) = (cpu()?, 0_u32);
    let spent = loop {
        for query in queries {
            search(query)?;
        }
        times += u32::try_from(queries.len())?;
        let spent = cpu()?.saturating_sub(start);
        if spent >= LONG {
            break spent;
        }
    };
    let ms = spent.as_secs_f64() * 1e3 / f64::from(times);
    Ok(json!({"recall": f64::from(right) / f64::from(wanted.max(1)), "ms": ms}))
}

fn search(index: &Index, query: &[f32], allow: Option<&AllowList>) -> Result<Vec<u64>, Failure> {
    let query = Query { allow, ..Query::new(Shape::Semantic(query), NEAREST) };
    Ok(index.search(&query)?.into_iter().map(|hit| hit.id).collect())
}

fn write(
    folder: &Path,
    vectors: &Vectors,
    count: u64,
    queries: &[Vec<f32>],
    truth: &Truth,
) -> Result<(), Failure> {
    let file = |name| Ok::<_, Failure>(BufWriter::new(File::create(folder.join(name))?));
    let floats = |file: &mut BufWriter<File>, vector: &[f32]| {
        vector.iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))
    };
    let (mut docs, mut asked, mut right) = (file("docs.f32")?, file("queries.f32")?, file("truth.u64")?);
    for id in 0..count {
        floats(&mut docs, &vectors.of(id)?)?;
    }
    queries.iter().try_for_each(|query| floats(&mut asked, query))?;
    truth.iter().flatten().try_for_each(|id| right.write_all(&id.to_le_bytes()))?;
    for mut file in [docs, asked, right] {
        file.flush()?;
    }
    Ok(())
}

/// The same by an exhaustive scan of one byte per dimension; of no more vectors than fit into memory well.
fn scanned(
    vectors: &Vectors,
    count: u64,
    queries: &[Vec<f32>],
    truth: &Truth,
) -> Result<serde_json::Value, Failure> {
    if count > 200_000 {
        return Ok(serde_json::Value::Null);
    }
    let mut scan = Scan::new(DIMS as usize);
    for id in 0..count {
        scan.append(id, &vectors.of(id)?)?;
    }
    let few = queries.get(..queries.len().min(100)).unwrap_or_default();
    figure(few, truth, |query| {
        Ok(scan.search(query, NEAREST, 30, None)?.into_iter().map(|(id, _)| id).collect())
    })
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().map_or(Ok(100_000), |count| count.parse())?;
    let asked: u64 = arguments.next().map_or(Ok(1_000), |count| count.parse())?;
    let folder = arguments.next().map(PathBuf::from);
    heddle_passages::search_on_calling_thread();
    let vectors = Vectors::new();
    // Queries are of the same kind, and none of them is among the vectors.
    let queries = (1 << 40..(1 << 40) + asked).map(|id| vectors.of(id)).collect::<Result<Vec<_>, _>>()?;
    let before = truth(&vectors, &queries, 0..count)?;
    if let Some(folder) = &folder {
        write(folder, &vectors, count, &queries, &before)?;
    }
    let allow: AllowList = (0..count).filter(|id| id % 100 == 7).collect();
    let allowed = truth(&vectors, &queries, (0..count).filter(|id| allow.contains(*id)))?;
    let root = tempfile::tempdir()?;
    let shelf = Shelf::open(root.path(), u64::MAX)?;
    let key = Key::new("bench", "vectors", 1)?;
    // What it costs to make the vectors is none of the index's.
    let start = cpu()?;
    for id in 0..count {
        black_box(vectors.of(id)?);
    }
    let made = cpu()?.saturating_sub(start);
    let (memory, start) = (resident()?, cpu()?);
    let index = shelf.rebuild(&key, SETTINGS, 1, (0..count).map(|id| vectors.passage(id)));
    let index = index.map_err(|error| format!("{error:?}"))?;
    let built = cpu()?.saturating_sub(start + made);
    let plain = figure(&queries, &before, |query| search(&index, query, None))?;
    let held = resident()?.saturating_sub(memory);
    let rough = figure(&queries, &before, |query| {
        Ok(index.nearest_by_code(query, NEAREST)?.into_iter().map(|(id, _)| id).collect())
    })?;
    let filtered = figure(&queries, &allowed, |query| search(&index, query, Some(&allow)))?;
    // A tenth goes, a tenth of others comes.
    let gone: AllowList = (0..count).filter(|id| id % 10 == 3).collect();
    let come = (count..count + count / 10).map(|id| vectors.passage(id)).collect::<Result<Vec<_>, _>>()?;
    let after = (0..count + count / 10).filter(|id| *id >= count || id % 10 != 3);
    let after = truth(&vectors, &queries, after)?;
    let start = cpu()?;
    index.apply(1, 2, gone, come)?;
    let applied = cpu()?.saturating_sub(start);
    let changed = figure(&queries, &after, |query| search(&index, query, None))?;
    let figures = json!({
        "count": count, "dims": DIMS, "build_s": built.as_secs_f64(), "memory_mb": held / 1_000_000,
        "disk_mb": shelf.disk_bytes(&key)? / 1_000_000, "rescored": plain, "codes": rough, "filter_1_percent": filtered,
        "apply_s": applied.as_secs_f64(), "changed": changed, "int8_scan": scanned(&vectors, count, &queries, &before)?,
    });
    writeln!(std::io::stdout(), "{figures}")?;
    Ok(())
}
