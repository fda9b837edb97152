//! Queries of vector databases, and the passages that they find.

use super::envelope::JsonObject;
use super::vector_databases::QueryMode;
use crate::contract::json_bodies;

words! {
    /// Manner of putting what was found by meaning and by words into one order.
    enum FusionMethod {
        /// Scores of each, brought to the range from 0 to 1 and weighted.
        MinMax = "minMax",
        /// Places of each.
        Rrf = "rrf",
    }
}

response! {
    /// Scores of a passage by what gave them.
    struct PassageScores {
        /// Likeness of meaning; null when it was not found by meaning.
        #[schema(required = true)]
        semantic: Option<f64>,
        /// Score of the words; null when it was not found by words.
        #[schema(required = true)]
        keyword: Option<f64>,
        /// Score of the reranking; null without one.
        #[schema(required = true)]
        rerank: Option<f64>,
        /// Place in the answer, from 1.
        #[schema(minimum = 1)]
        rank: u32,
    }

    /// Place of a passage in its file. Offsets count characters of the text that was read from the file.
    struct PassageLocator {
        /// Page, from 1; null where there are none.
        #[schema(required = true, minimum = 1)]
        page: Option<u32>,
        /// Sheet; null where there are none.
        #[schema(required = true)]
        sheet: Option<String>,
        /// Slide, from 1; null where there are none.
        #[schema(required = true, minimum = 1)]
        slide: Option<u32>,
        /// Headings above it, the outermost first.
        heading_path: Vec<String>,
        /// Offset of its first character.
        #[schema(minimum = 0)]
        start_char: u64,
        /// Offset behind its last character.
        #[schema(minimum = 0)]
        end_char: u64,
    }

    /// Citation of a passage.
    struct Citation {
        /// Text for people: file, page and heading.
        label: String,
        /// File.
        file_id: String,
        /// Page, from 1; null where there are none.
        #[schema(required = true, minimum = 1)]
        page: Option<u32>,
        /// Headings above it, the outermost first.
        heading_path: Vec<String>,
        /// Offset of the first character of the text that is answered: that of the larger piece around the passage where the methodology gives such.
        #[schema(minimum = 0)]
        start_char: u64,
        /// Offset behind the last character of that text.
        #[schema(minimum = 0)]
        end_char: u64,
    }

    /// A passage beside one that was found.
    struct Neighbour {
        /// Identifier of the passage within its database.
        id: String,
        /// Distance in passages: negative ones stand before it.
        offset: i32,
        /// Text.
        text: String,
        /// Place in the file.
        locator: PassageLocator,
    }

    /// A passage that was found.
    struct FoundPassage {
        /// Identifier within its database.
        id: String,
        /// Score by which it is in its place.
        score: f64,
        /// Scores by what gave them; absent unless they are asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        scores: Option<PassageScores>,
        /// Text; absent when it is not asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        text: Option<String>,
        /// File.
        file_id: String,
        /// Name of the file.
        file_name: String,
        /// Title of the file; null when it has none.
        #[schema(required = true)]
        title: Option<String>,
        /// Place in the file.
        locator: PassageLocator,
        /// Citation.
        citation: Citation,
        /// Metadata of the file.
        #[schema(value_type = Object)]
        metadata: JsonObject,
        /// Passages beside it; absent unless they are asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        neighbours: Option<Vec<Neighbour>>,
    }

    /// Time that a query took, in milliseconds.
    struct QueryTime {
        /// Embedding of the query.
        #[schema(minimum = 0)]
        embed_ms: f64,
        /// Search.
        #[schema(minimum = 0)]
        search_ms: f64,
        /// All of it.
        #[schema(minimum = 0)]
        total_ms: f64,
    }

    /// Answer to a query.
    struct QueryAnswer {
        /// Passages, the best first.
        passages: Vec<FoundPassage>,
        /// Manner in which they were found.
        mode: QueryMode,
        /// Model that embedded the query; null when none did.
        #[schema(required = true)]
        embedding_model_id: Option<String>,
        /// Place in the database's changes up to which all is seen.
        #[schema(minimum = 0)]
        index_sequence: u64,
        /// Time that it took.
        took: QueryTime,
        /// Whether something was left out; an answer is never partial without a word.
        partial: bool,
        /// Reason for which words alone were looked for, as the caller allows; absent otherwise.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        degraded: Option<String>,
    }
}

request! {
    /// Manner of putting what was found into one order.
    struct Fusion {
        /// Manner.
        method: FusionMethod,
        /// Weight of meaning against words from 0 to 1; 0.5 when absent. Of `minMax` alone: refused with `rrf`.
        #[schema(nullable = false, minimum = 0, maximum = 1)]
        alpha: Option<f64>,
        /// Constant; 60 when absent. Of `rrf` alone: refused with `minMax`.
        #[schema(nullable = false, minimum = 1, maximum = 1000)]
        k: Option<u32>,
    }

    /// Preference for passages that differ from each other.
    struct Diversity {
        /// Weight of likeness to the query against difference from each other, from 0 to 1.
        #[schema(minimum = 0, maximum = 1)]
        mmr_lambda: f64,
    }

    /// Reranking by a deployment.
    struct Rerank {
        /// Alias of the deployment.
        #[schema(min_length = 1, max_length = 200)]
        deployment: String,
        /// Number of passages that are put in order anew, and so the most that are answered; 50 when absent, or `limit` where that is
        /// more.
        #[schema(nullable = false, minimum = 1, maximum = 200)]
        candidates: Option<u32>,
    }

    /// A query.
    #[schema(examples(json!({"query": "How is the filter cleaned?", "limit": 5, "mode": "keyword"})))]
    struct QueryRequest {
        /// Text to look for; it is a text and has no syntax.
        #[schema(min_length = 1, max_length = 4000)]
        query: String,
        /// The most passages; the database's default when absent.
        #[schema(nullable = false, minimum = 1, maximum = 100)]
        limit: Option<u32>,
        /// Manner of finding them; the database's default when absent.
        #[schema(nullable = false)]
        mode: Option<QueryMode>,
        /// Filter over `metadata.*`, `fileId`, `mediaType` and `createdAt`: `{and|or: [...]}`, `{not: {...}}`, or `{field}` with one
        /// of `eq`, `ne`, `in`, `gt`, `gte`, `lt`, `lte`, `exists`, `contains`.
        #[schema(nullable = false, required = false, value_type = Object)]
        filter: Option<JsonObject>,
        /// Least score.
        #[schema(nullable = false)]
        min_score: Option<f64>,
        /// Manner of putting what was found by meaning and by words into one order. Of `hybrid` alone: refused in another mode.
        #[schema(nullable = false)]
        fusion: Option<Fusion>,
        /// Preference for passages that differ from each other, by their vectors: refused where the database has no model.
        #[schema(nullable = false)]
        diversity: Option<Diversity>,
        /// Reranking by a deployment.
        #[schema(nullable = false)]
        rerank: Option<Rerank>,
        /// Whether the texts are in the answer; they are when absent.
        #[schema(nullable = false)]
        include_text: Option<bool>,
        /// Number of passages before and behind each; none when absent.
        #[schema(nullable = false, minimum = 0, maximum = 3)]
        include_neighbours: Option<u32>,
        /// Whether each passage has its scores by what gave them; it has none when absent.
        #[schema(nullable = false)]
        include_scores: Option<bool>,
        /// Whether words alone may be looked for when the model does not answer; they may not when absent.
        #[schema(nullable = false)]
        allow_degraded: Option<bool>,
    }
}

json_bodies!(QueryRequest);
