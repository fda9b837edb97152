//! Keyword: the leg of words, ranked by BM25 (tantivy). Texts themselves are not kept.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use tantivy::collector::{FilterCollector, TopDocs};
use tantivy::columnar::Column;
use tantivy::merge_policy::LogMergePolicy;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, RangeQuery, TermQuery};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{
    Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term,
};

use crate::changes::Changes;
use crate::files::Files;
use crate::text::Side;
use crate::{AllowList, Error, Language};

const ID: &str = "id";
const TEXT: &str = "text";
/// The name under which the schema knows how texts become words.
const ANALYZER: &str = "words";
/// Bytes that a writer gathers before it writes; the least that tantivy takes.
const GATHERED: usize = 15_000_000;
/// Bytes that a writer gathers while a whole index is built.
const GATHERED_BUILDING: usize = 64_000_000;

/// Share of removed passages beyond which those that are left are written anew: until then the removed ones count for how
/// rare a word is, and how long passages are. So do those that a filter or a deny leaves out, as they do everywhere.
const DEAD: f32 = 0.2;

/// Ids of a range that are removed one by one.
const FEW: u64 = 8;

/// The words of an index.
#[derive(Debug)]
pub(crate) struct Keyword {
    directory: PathBuf,
    index: Index,
    reader: IndexReaderBox,
    queries: Queries,
    id: Field,
    text: Field,
}

/// The analyzer of queries, which says nothing about itself.
struct Queries(TextAnalyzer);

impl std::fmt::Debug for Queries {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Queries")
    }
}

/// A reader, which says nothing about itself.
struct IndexReaderBox(IndexReader);

impl std::fmt::Debug for IndexReaderBox {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("IndexReader")
    }
}

/// One state of the words: what queries see until the next is put in its place.
#[derive(Clone)]
pub(crate) struct View {
    searcher: Searcher,
    /// Ids by segment and document.
    ids: Vec<Column<u64>>,
}

impl std::fmt::Debug for View {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "View({} segments)", self.ids.len())
    }
}

/// A passage that was found, with its BM25.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Worded {
    pub(crate) id: u64,
    pub(crate) score: f32,
}

/// Words that are being written.
pub(crate) struct Writing {
    writer: IndexWriter,
    id: Field,
    text: Field,
}

impl std::fmt::Debug for Writing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Writing")
    }
}

impl Keyword {
    /// No words yet, in a directory that is made.
    pub(crate) fn create(directory: &Path, language: Language) -> Result<Self, Error> {
        fs::create_dir_all(directory)?;
        let (schema, _, _) = schema();
        let index = Index::create(Files::new(directory), schema, IndexSettings::default())?;
        Self::over(directory, index, language)
    }

    /// The words of a directory, every byte of them checked, with the number of their commit.
    pub(crate) fn open(directory: &Path, language: Language) -> Result<(Self, u64), Error> {
        let damaged = |why: String| Error::damaged(format!("the words: {why}"));
        let engine = |error: tantivy::TantivyError| damaged(error.to_string());
        if !directory.join(".managed.json").try_exists()? {
            return Err(damaged("the list of files is missing".to_owned()));
        }
        let index = Index::open(Files::new(directory)).map_err(engine)?;
        if index.schema() != schema().0 {
            return Err(damaged("another schema".to_owned()));
        }
        let metas = index.load_metas().map_err(engine)?;
        let number = metas.payload.as_deref().and_then(|payload| payload.parse().ok());
        let number = number.ok_or_else(|| damaged("no commit is named".to_owned()))?;
        if let Some(path) = index.validate_checksum().map_err(engine)?.into_iter().next() {
            return Err(damaged(path.display().to_string()));
        }
        let keyword = Self::over(directory, index, language).map_err(|error| damaged(error.to_string()))?;
        Ok((keyword, number))
    }

    fn over(directory: &Path, index: Index, language: Language) -> Result<Self, Error> {
        let (_, id, text) = schema();
        index.tokenizers().register(ANALYZER, language.analyzer(Side::Passage));
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let queries = Queries(language.analyzer(Side::Query));
        let directory = directory.to_owned();
        Ok(Self { directory, index, reader: IndexReaderBox(reader), queries, id, text })
    }

    /// The state that was committed last.
    pub(crate) fn view(&self) -> Result<View, Error> {
        self.reader.0.reload()?;
        let searcher = self.reader.0.searcher();
        let columns = searcher.segment_readers().iter().map(|segment| segment.fast_fields().u64(ID));
        Ok(View { ids: columns.collect::<Result<_, _>>()?, searcher })
    }

    /// Begins to write; `building` takes more memory.
    pub(crate) fn write(&self, building: bool) -> Result<Writing, Error> {
        let bytes = if building { GATHERED_BUILDING } else { GATHERED };
        let writer = self.index.writer_with_num_threads(1, bytes)?;
        let mut merging = LogMergePolicy::default();
        merging.set_del_docs_ratio_before_merge(DEAD);
        writer.set_merge_policy(Box::new(merging));
        Ok(Writing { writer, id: self.id, text: self.text })
    }

    /// The `wanted` passages that fit the words of a text best, best first. A filter counts before the cut.
    ///
    /// The text is words and nothing else: no sign in it means anything.
    pub(crate) fn search(
        &self,
        view: &View,
        text: &str,
        wanted: usize,
        allow: Option<&AllowList>,
    ) -> Result<Vec<Worded>, Error> {
        let query = self.query(text);
        if wanted == 0 || allow.is_some_and(AllowList::is_empty) {
            return Ok(vec![]);
        }
        let best = TopDocs::with_limit(wanted).order_by_score();
        let best = match allow.cloned() {
            None => view.searcher.search(&query, &best)?,
            Some(allow) => {
                let allowed = FilterCollector::new(ID.to_owned(), move |id: u64| allow.contains(id), best);
                view.searcher.search(&query, &allowed)?
            }
        };
        let mut found = Vec::with_capacity(best.len());
        for (score, place) in best {
            let ids = usize::try_from(place.segment_ord).ok().and_then(|at| view.ids.get(at));
            let id = ids.and_then(|ids| ids.first(place.doc_id));
            found.push(Worded { id: id.ok_or_else(|| Error::damaged("the words name no passage"))?, score });
        }
        found.sort_unstable_by(|one, other| other.score.total_cmp(&one.score).then(one.id.cmp(&other.id)));
        Ok(found)
    }

    /// Any of the words; one that comes twice counts twice.
    fn query(&self, text: &str) -> BooleanQuery {
        let mut analyzer = self.queries.0.clone();
        let mut words: BTreeMap<String, f32> = BTreeMap::new();
        analyzer.token_stream(text).process(&mut |token| match words.get_mut(&token.text) {
            Some(count) => *count += 1.0,
            None => {
                words.insert(token.text.clone(), 1.0);
            }
        });
        let clauses = words.into_iter().map(|(word, count)| {
            let term = Term::from_field_text(self.text, &word);
            let term = TermQuery::new(term, IndexRecordOption::WithFreqs);
            let clause: Box<dyn Query> =
                if count > 1.0 { Box::new(BoostQuery::new(Box::new(term), count)) } else { Box::new(term) };
            (Occur::Should, clause)
        });
        BooleanQuery::new(clauses.collect())
    }

    /// Bytes of memory, about.
    pub(crate) fn memory(&self) -> u64 {
        Files::new(&self.directory).memory()
    }
}

impl Writing {
    /// Removes and adds what changed.
    pub(crate) fn apply(&mut self, changes: &Changes) -> Result<(), Error> {
        let term = |id| Term::from_field_u64(self.id, id);
        for range in changes.removed.ranges() {
            if range.end - range.start <= FEW {
                range.clone().for_each(|id| _ = self.writer.delete_term(term(id)));
            } else {
                let range =
                    RangeQuery::new(Bound::Included(term(range.start)), Bound::Excluded(term(range.end)));
                self.writer.delete_query(Box::new(range))?;
            }
        }
        for id in &changes.puts {
            self.writer.delete_term(term(*id));
        }
        for (id, text) in changes.puts.iter().zip(&changes.texts) {
            self.add(*id, text)?;
        }
        Ok(())
    }

    /// Adds a passage that isn't there yet.
    pub(crate) fn add(&mut self, id: u64, text: &str) -> Result<(), Error> {
        let mut document = TantivyDocument::new();
        document.add_u64(self.id, id);
        document.add_text(self.text, text);
        self.writer.add_document(document)?;
        Ok(())
    }

    /// Makes what was written the state, under the number of the commit.
    pub(crate) fn commit(mut self, number: u64) -> Result<(), Error> {
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&number.to_string());
        commit.commit()?;
        Ok(self.writer.wait_merging_threads()?)
    }
}

fn schema() -> (Schema, Field, Field) {
    let mut schema = Schema::builder();
    let id = schema.add_u64_field(ID, INDEXED | FAST);
    let words = TextFieldIndexing::default()
        .set_tokenizer(ANALYZER)
        .set_fieldnorms(true)
        .set_index_option(IndexRecordOption::WithFreqs);
    let text = schema.add_text_field(TEXT, TextOptions::default().set_indexing_options(words));
    (schema.build(), id, text)
}
