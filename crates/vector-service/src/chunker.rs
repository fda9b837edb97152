//! The cutting of texts as ingestion asks for it: sizes in tokens of the model that embeds the passages.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_embedding::Model;
use heddle_extract::{
    Chunk, Document, EstimatedTokens, FileKind, METHODOLOGIES, Markup, Methodology as Manner, Part,
    PartKind as TheirPart, TokenCounter, TooMuch, chunk_within,
};
use heddle_vectors::ports::{
    ChunkSettings, ChunkedPassage, Chunker, DocumentText, ExtractError, Methodology, MethodologyKind,
    OptionFault, PartKind,
};
use heddle_vectors::records::{Chunking, FileFault, Locator, Span};
use serde_json::{Map, Value};

use super::embedder::BuiltInModels;

/// The most bytes of a file's passages, with the larger pieces around each: a piece that many small ones share is stored
/// with each of them.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// The cutter of this node.
pub(crate) struct ModelChunker {
    models: BuiltInModels,
}

impl ModelChunker {
    /// With the models whose tokens count.
    pub(crate) const fn new(models: BuiltInModels) -> Self {
        Self { models }
    }

    /// The tokens of a model; an estimate where there is none, or it is elsewhere.
    fn counter(&self, model: Option<&str>) -> Result<Box<dyn TokenCounter>, ExtractError> {
        let Some(id) = model else { return Ok(Box::new(EstimatedTokens)) };
        match (self.models.model(id), heddle_embedding::find(id)) {
            (Some(model), _) => Ok(Box::new(ModelTokens(model))),
            (None, None) => Ok(Box::new(EstimatedTokens)),
            // The same text must be cut alike at each try.
            (None, Some(_)) => {
                Err(ExtractError::Unavailable(format!("the embedding model `{id}` is not ready")))
            }
        }
    }
}

/// Tokens of a model.
struct ModelTokens(Arc<Model>);

impl TokenCounter for ModelTokens {
    fn token_starts(&self, text: &str) -> Vec<u32> {
        // What can't be told by the model is estimated, each time alike.
        self.0.token_starts(text).unwrap_or_else(|_| EstimatedTokens.token_starts(text))
    }
}

/// Value of an offset that the text's length allows.
fn offset(at: u64) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn document_of(document: &DocumentText, title: &str) -> Document {
    let part = |part: &heddle_vectors::ports::DocumentPart| Part {
        kind: match part.kind {
            PartKind::Page => TheirPart::Page,
            PartKind::Sheet => TheirPart::Sheet,
            PartKind::Slide => TheirPart::Slide,
            PartKind::Section => TheirPart::Section,
        },
        number: part.number,
        name: part.name.clone(),
        start_char: offset(part.start),
        end_char: offset(part.end),
    };
    let heading = |heading: &heddle_vectors::ports::Heading| heddle_extract::Heading {
        level: heading.level,
        text: heading.text.clone(),
        start_char: offset(heading.start),
    };
    Document {
        kind: FileKind::Text,
        markup: if document.is_markdown { Markup::Markdown } else { Markup::Plain },
        title: Some(title.to_owned()).filter(|title| !title.is_empty()),
        language: document.language.clone(),
        text: document.text.clone(),
        characters: document.text.chars().count() as u64,
        parts: document.parts.iter().map(part).collect(),
        headings: document.headings.iter().map(heading).collect(),
        metadata: BTreeMap::new(),
        attachments: Vec::new(),
        warnings: Vec::new(),
    }
}

fn passage(chunk: Chunk) -> ChunkedPassage {
    let place = chunk.locator;
    let context = chunk.context.as_ref();
    let around = context.map(|context| Span { start_char: context.start_char, end_char: context.end_char });
    ChunkedPassage {
        text: chunk.text,
        prefix: chunk.prefix,
        context: chunk.context.map(|context| context.text),
        tokens: chunk.tokens,
        locator: Locator {
            page: place.page,
            sheet: place.sheet,
            slide: place.slide,
            heading_path: place.heading_path,
            start_char: place.start_char,
            end_char: place.end_char,
            context: around,
        },
    }
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

impl Chunker for ModelChunker {
    fn methodologies(&self) -> Vec<Methodology> {
        let row = |row: &heddle_extract::MethodologyInfo| Methodology {
            id: row.id.to_owned(),
            kind: MethodologyKind::Chunking,
            display_name: row.display_name.to_owned(),
            description: row.description.to_owned(),
            is_default: row.is_default,
            requires_embedding: false,
            options_schema: row.schema(),
            defaults: members(row.defaults()),
        };
        let mut rows: Vec<_> = METHODOLOGIES.iter().map(row).collect();
        rows.sort_by_key(|row| !row.is_default);
        rows
    }

    fn check(&self, id: &str, options: &Map<String, Value>) -> Result<Chunking, Vec<OptionFault>> {
        match Manner::read(id, &Value::Object(options.clone())) {
            Ok(manner) => Ok(Chunking { id: id.to_owned(), options: members(manner.options()) }),
            Err(error) => {
                let reason = if error.path.is_empty() { "notAllowed" } else { "outOfRange" };
                Err(vec![OptionFault { path: error.path, reason, message: error.message }])
            }
        }
    }

    fn chunk(
        &self,
        document: &DocumentText,
        title: &str,
        settings: &ChunkSettings,
    ) -> Result<Vec<ChunkedPassage>, ExtractError> {
        let options = Value::Object(settings.chunking.options.clone());
        let unread = |error: heddle_extract::OptionError| ExtractError::File {
            fault: FileFault::ParseFailed,
            message: format!("the methodology can't be used: {error}"),
        };
        let manner = Manner::read(&settings.chunking.id, &options).map_err(unread)?;
        let counter = self.counter(settings.model.as_deref())?;
        let document = document_of(document, title);
        let chunks = chunk_within(&document, &manner, &*counter, settings.most, MOST_BYTES);
        let chunks = chunks.map_err(|too_much| {
            let message = match too_much {
                TooMuch::Passages(many) => {
                    format!("the file makes {many} passages; {} are allowed", settings.most)
                }
                TooMuch::Bytes(bytes) => {
                    let (has, may) = (bytes >> 20, MOST_BYTES >> 20);
                    format!("the passages of the file have {has} MiB with the pieces around them; {may} are allowed")
                }
            };
            ExtractError::File { fault: FileFault::LimitExceeded, message }
        })?;
        if chunks.is_empty() {
            let message = "the file holds no text".to_owned();
            return Err(ExtractError::File { fault: FileFault::NoText, message });
        }
        Ok(chunks.into_iter().map(passage).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cutter() -> ModelChunker {
        let folder = tempfile::tempdir().unwrap();
        ModelChunker::new(BuiltInModels::of(folder.path(), 1))
    }

    fn settings(id: &str, most: u64) -> ChunkSettings {
        let chunking = Chunking { id: id.to_owned(), options: Map::new() };
        ChunkSettings { chunking, model: None, most }
    }

    #[tokio::test]
    async fn a_text_is_cut_with_its_places_and_its_title() {
        let text = "# Filter\n\nTake it out.\n\n# Oil\n\nChange it.".to_owned();
        let headings = vec![
            heddle_vectors::ports::Heading { level: 1, text: "Filter".to_owned(), start: 0 },
            heddle_vectors::ports::Heading { level: 1, text: "Oil".to_owned(), start: 24 },
        ];
        let document =
            DocumentText { text: text.clone(), is_markdown: true, headings, ..DocumentText::default() };
        let passages = cutter().chunk(&document, "Manual", &settings("markdown", 10)).unwrap();
        assert_eq!(passages.len(), 2);
        for one in &passages {
            let (start, end) = (one.locator.start_char as usize, one.locator.end_char as usize);
            assert_eq!(one.text, text.chars().skip(start).take(end - start).collect::<String>());
            assert!(one.prefix.contains("Manual"), "{one:?}");
        }
        let few = cutter().chunk(&document, "Manual", &settings("markdown", 1));
        assert!(matches!(few, Err(ExtractError::File { fault: FileFault::LimitExceeded, .. })));
    }

    #[tokio::test]
    async fn options_are_checked_and_filled_in() {
        let one = cutter().check("recursive", &Map::new()).unwrap();
        assert!(one.options.contains_key("maxTokens"), "{one:?}");
        assert_eq!(cutter().check("none", &Map::new()).unwrap_err()[0].path, "");
        let wrong = members(serde_json::json!({ "maxTokens": 0 }));
        assert_eq!(cutter().check("recursive", &wrong).unwrap_err()[0].path, "maxTokens");
        assert!(cutter().methodologies()[0].is_default);
    }
}
