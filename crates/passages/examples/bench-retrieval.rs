//! Quality of retrieval: `bench-retrieval --data FOLDER`, where each folder within has `corpus.jsonl`, `queries.json` and
//! `qrels.json`, and, for what needs vectors, `minilm_docs.npy` and `minilm_q.npy` in the order of both. Prints a JSON
//! object per line: nDCG at 10 over the queries that have relevant documents, and CPU milliseconds per query.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use heddle_passages::{Hit, Index, Key, Language, Passage, Query, Settings, Shape, Shelf};
use heddle_vectors::ports::{LegScores, PassageHit};
use heddle_vectors::records::PassageId;
use heddle_vectors::{Fusion, fused};
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, de::Error as _};
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

const AT: usize = 10;
/// Candidates of each leg, as many as a query of the service asks for.
const CANDIDATES: usize = 100;

/// CPU time of this process, with all its threads.
fn cpu() -> Result<Duration, Failure> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').ok_or("the status of the process has another form")?.1;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

#[derive(Deserialize)]
struct Document {
    id: String,
    title: String,
    text: String,
}

/// Members of an object in their order.
struct Members<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
            type Value = Members<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<T>, A::Error> {
                let mut members = vec![];
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                if members.is_empty() {
                    return Err(A::Error::custom("an object without members"));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder(std::marker::PhantomData))
    }
}

fn json_file<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    Ok(serde_json::from_slice(&fs::read(path)?).map_err(|error| format!("{}: {error}", path.display()))?)
}

/// The rows of a file of NumPy with numbers of four bytes in two dimensions
/// (<https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>).
fn npy(path: &Path) -> Result<Vec<Vec<f32>>, Failure> {
    let bytes = fs::read(path)?;
    let (magic, rest) = bytes.split_first_chunk::<8>().ok_or("the file is too short")?;
    if !magic.starts_with(b"\x93NUMPY\x01") {
        return Err("the file is none of NumPy, or of another version".into());
    }
    let (length, rest) = rest.split_first_chunk::<2>().ok_or("the file is too short")?;
    let length = usize::from(u16::from_le_bytes(*length));
    let (head, data) = rest.split_at_checked(length).ok_or("the file is too short")?;
    let head = str::from_utf8(head)?;
    if !head.contains("'descr': '<f4'") || !head.contains("'fortran_order': False") {
        return Err(format!("numbers of another form: {head}").into());
    }
    let shape = head.split_once("'shape': (").and_then(|(_, shape)| shape.split_once(')'));
    let (shape, _) = shape.ok_or("no shape")?;
    let shape = shape.split(',').map(|side| side.trim().parse::<usize>()).collect::<Result<Vec<_>, _>>()?;
    let [rows, columns] = shape.as_slice() else {
        return Err("another number of dimensions than two".into());
    };
    let numbers: Vec<f32> = data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    if numbers.len() != rows * columns {
        return Err("the file has another length than its shape".into());
    }
    Ok(numbers.chunks((*columns).max(1)).map(<[f32]>::to_vec).collect())
}

/// Vectors in the order of what they were made of.
type Vectors = Vec<Vec<f32>>;

/// A collection with what is relevant in it.
struct Collection {
    documents: Vec<Document>,
    queries: Vec<(String, String)>,
    grades: HashMap<String, HashMap<String, f64>>,
    /// Vectors of the documents and of the queries.
    vectors: Option<(Vectors, Vectors)>,
}

fn load(folder: &Path) -> Result<Collection, Failure> {
    let lines = fs::read_to_string(folder.join("corpus.jsonl"))?;
    let documents = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Document>, _>>()?;
    let queries: Members<String> = json_file(&folder.join("queries.json"))?;
    let (docs, asked) = (folder.join("minilm_docs.npy"), folder.join("minilm_q.npy"));
    let vectors = if docs.exists() { Some((npy(&docs)?, npy(&asked)?)) } else { None };
    if let Some((docs, asked)) = &vectors
        && (docs.len() != documents.len() || asked.len() != queries.0.len())
    {
        return Err("there are not as many vectors as texts".into());
    }
    Ok(Collection { documents, queries: queries.0, grades: json_file(&folder.join("qrels.json"))?, vectors })
}

fn build(shelf: &Shelf, name: &str, collection: &Collection) -> Result<std::sync::Arc<Index>, Failure> {
    let first = collection.vectors.as_ref().and_then(|(docs, _)| docs.first());
    let dims = first.map(|vector| u32::try_from(vector.len())).transpose()?;
    let settings = Settings { dims, language: Language::English };
    let passages = (0_u64..).zip(&collection.documents).map(|(id, document)| {
        let at = usize::try_from(id)?;
        let vector = collection.vectors.as_ref().and_then(|(docs, _)| docs.get(at)).cloned();
        Ok::<_, Failure>(Passage { id, text: format!("{} {}", document.title, document.text), vector })
    });
    let key = Key::new("bench", name, 1)?;
    Ok(shelf.rebuild(&key, settings, 1, passages).map_err(|error| format!("{error:?}"))?)
}

/// Normalized discounted cumulative gain at 10, the gain being the grade.
fn ndcg(found: &[&str], grades: &HashMap<String, f64>) -> f64 {
    let discounted = |gains: &[f64]| -> f64 {
        (2_u32..).zip(gains).map(|(place, gain)| gain / f64::from(place).log2()).sum()
    };
    let gains: Vec<f64> = found.iter().map(|id| grades.get(*id).copied().unwrap_or(0.0)).collect();
    let mut best: Vec<f64> = grades.values().copied().collect();
    best.sort_by(|one, other| other.total_cmp(one));
    best.truncate(AT);
    discounted(&gains) / discounted(&best)
}

/// The mean over the queries, and the CPU time of one.
fn measure(
    collection: &Collection,
    search: impl Fn(&str, &[f32]) -> Result<Vec<u64>, Failure>,
) -> Result<(f64, f64), Failure> {
    let (mut sum, mut count) = (0.0, 0_u32);
    let start = cpu()?;
    for (at, (id, text)) in collection.queries.iter().enumerate() {
        let Some(grades) =
            collection.grades.get(id).filter(|grades| grades.values().any(|grade| *grade > 0.0))
        else {
            continue;
        };
        let vector = collection.vectors.as_ref().and_then(|(_, asked)| asked.get(at));
        let found = search(text, vector.map_or(&[], Vec::as_slice))?;
        let mut names = Vec::with_capacity(found.len());
        for id in found {
            let document = collection.documents.get(usize::try_from(id)?).ok_or("no such document")?;
            names.push(document.id.as_str());
        }
        sum += ndcg(&names, grades);
        count += 1;
    }
    let spent = cpu()?.saturating_sub(start).as_secs_f64() * 1e3;
    Ok((sum / f64::from(count.max(1)), spent / f64::from(count.max(1))))
}

/// The passages of both legs, each once.
fn merged(near: Vec<Hit>, words: Vec<Hit>) -> Vec<PassageHit> {
    let mut found: HashMap<u64, LegScores> = HashMap::new();
    for hit in near.into_iter().chain(words) {
        let scores = found.entry(hit.id).or_default();
        scores.semantic = scores.semantic.or(hit.semantic.map(|leg| leg.score));
        scores.keyword = scores.keyword.or(hit.keyword.map(|leg| leg.score));
    }
    found.into_iter().map(|(id, scores)| PassageHit { id: PassageId(id), scores }).collect()
}

fn report(name: &str, collection: &Collection, index: &Index) -> Result<(), Failure> {
    let ask = |shape: Shape<'_>| -> Result<Vec<u64>, Failure> {
        Ok(index.search(&Query::new(shape, AT))?.into_iter().map(|hit| hit.id).collect())
    };
    let print = |mode: &str, (ndcg, ms): (f64, f64)| {
        let line = json!({"collection": name, "mode": mode, "ndcg": ndcg, "ms": ms});
        writeln!(std::io::stdout(), "{line}")
    };
    print("keyword", measure(collection, |text, _| ask(Shape::Keyword(text)))?)?;
    if collection.vectors.is_some() {
        print("semantic", measure(collection, |_, vector| ask(Shape::Semantic(vector)))?)?;
        let both = |text: &str, vector: &[f32], fusion| -> Result<Vec<u64>, Failure> {
            let legs = index.legs(Some(vector), Some(text), CANDIDATES, None)?;
            let order = fused(&merged(legs.0, legs.1), fusion);
            Ok(order.into_iter().take(AT).map(|(id, _)| id.0).collect())
        };
        let hybrid = |fusion| measure(collection, |text, vector| both(text, vector, fusion));
        print("hybrid", hybrid(Fusion::default())?)?;
        print("hybrid-rrf", hybrid(Fusion::Rrf { k: 60 })?)?;
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().filter(|name| name == "--data").ok_or("--data FOLDER is missing")?;
    let data = arguments.next().ok_or("the folder of the collections is missing")?;
    heddle_passages::search_on_calling_thread();
    let root = tempfile::tempdir()?;
    let shelf = Shelf::open(root.path(), u64::MAX)?;
    let mut folders: Vec<_> = fs::read_dir(data)?.collect::<Result<_, _>>()?;
    folders.sort_by_key(fs::DirEntry::path);
    for folder in folders.into_iter().map(|folder| folder.path()) {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { continue };
        if folder.join("corpus.jsonl").exists() {
            let collection = load(&folder)?;
            let index = build(&shelf, name, &collection)?;
            report(name, &collection, &index)?;
        }
    }
    Ok(())
}
