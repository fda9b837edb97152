//! Suites of retrieval: documents, questions and what is relevant, and how well an order of documents answers.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

/// Places of an answer that count.
pub(crate) const DEPTH: usize = 10;

/// A suite.
pub(crate) struct Suite {
    /// The documents, in the order of their file.
    pub documents: Vec<Document>,
    /// Questions by their id.
    pub queries: BTreeMap<String, String>,
    /// Grades of relevance: of a question's id, of a document's id.
    pub relevant: HashMap<String, HashMap<String, u32>>,
}

/// A document of a suite.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Document {
    /// Id within the suite.
    pub id: String,
    /// Title; may be empty.
    #[serde(default)]
    pub title: String,
    /// The text.
    pub text: String,
}

impl Document {
    /// The file that it is: its title is the file's, which stands in front of the text where that is embedded and indexed, as it
    /// does in all that is published of these collections.
    pub(crate) fn file(&self) -> Value {
        let mut file =
            json!({"name": format!("{}.txt", self.id), "mediaType": "text/plain", "text": self.text});
        if !self.title.is_empty() {
            file["title"] = json!(self.title);
        }
        file
    }
}

impl Suite {
    /// Reads `corpus.jsonl`, `queries.json` and `qrels.json` of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
        };
        let corpus = text("corpus.jsonl")?;
        let documents = corpus.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str);
        let documents = documents.collect::<Result<Vec<Document>, _>>().context("corpus.jsonl")?;
        let queries = serde_json::from_str(&text("queries.json")?).context("queries.json")?;
        let relevant = serde_json::from_str(&text("qrels.json")?).context("qrels.json")?;
        Ok(Self { documents, queries, relevant })
    }

    /// Questions for which something is relevant, with their ids.
    pub(crate) fn judged(&self) -> impl Iterator<Item = Judged<'_>> {
        self.queries.iter().filter_map(|(id, text)| {
            let grades = self.relevant.get(id)?;
            grades.values().any(|grade| *grade > 0).then_some(Judged { text, grades })
        })
    }
}

/// A question with the grades of what is relevant to it.
pub(crate) struct Judged<'a> {
    /// The question.
    pub text: &'a str,
    /// Grades by the document's id.
    pub grades: &'a HashMap<String, u32>,
}

impl Judged<'_> {
    /// nDCG@10 of documents in the order of an answer, with linear gains as trec_eval has them; each document counts at its
    /// first place.
    pub(crate) fn ndcg(&self, answer: &[String]) -> f64 {
        let mut seen: Vec<&str> = Vec::new();
        for id in answer {
            if !seen.contains(&id.as_str()) {
                seen.push(id);
            }
        }
        let gain = |id: &&str| f64::from(self.grades.get(*id).copied().unwrap_or_default());
        let found = gains(seen.iter().map(gain));
        let mut best: Vec<u32> = self.grades.values().copied().collect();
        best.sort_unstable_by(|one, other| other.cmp(one));
        let ideal = gains(best.into_iter().map(f64::from));
        if ideal > 0.0 { found / ideal } else { 0.0 }
    }
}

/// Discounted gains of the places that count.
fn gains(grades: impl Iterator<Item = f64>) -> f64 {
    let places = (2_u32..).map(|place| f64::from(place).log2());
    grades.zip(places).take(DEPTH).map(|(grade, discount)| grade / discount).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_order_is_one_and_a_later_place_counts_less() {
        let grades = HashMap::from([("a".to_owned(), 2), ("b".to_owned(), 1)]);
        let judged = Judged { text: "", grades: &grades };
        let of = |ids: &[&str]| judged.ndcg(&ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
        assert!((of(&["a", "b"]) - 1.0).abs() < 1e-9);
        assert!((of(&["a", "a", "b"]) - 1.0).abs() < 1e-9, "a document counts once");
        assert!((of(&["b", "a"]) - (1.0 + 2.0 / 3_f64.log2()) / (2.0 + 1.0 / 3_f64.log2())).abs() < 1e-9);
        assert!(of(&["c"]).abs() < 1e-9);
        let late: Vec<&str> = ["c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "a"].to_vec();
        assert!(of(&late).abs() < 1e-9, "the eleventh place does not count");
    }

    #[test]
    fn a_suite_is_read_and_a_document_is_a_file_with_its_title() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "corpus.jsonl",
            "{\"id\":\"1\",\"title\":\"t\",\"text\":\"t u\"}\n{\"id\":\"2\",\"text\":\"w\"}\n",
        );
        write("queries.json", "{\"q\":\"what\",\"r\":\"nothing\"}");
        write("qrels.json", "{\"q\":{\"2\":1},\"r\":{\"1\":0}}");
        let suite = Suite::read(folder.path()).unwrap();
        let files: Vec<Value> = suite.documents.iter().map(Document::file).collect();
        let file = |name, text| json!({"name": name, "mediaType": "text/plain", "text": text});
        let mut titled = file("1.txt", "t u");
        titled["title"] = json!("t");
        assert_eq!(files, [titled, file("2.txt", "w")]);
        let judged: Vec<&str> = suite.judged().map(|one| one.text).collect();
        assert_eq!(judged, ["what"]);
    }
}
