//! Methodologies, their options and what is said of them.

use serde_json::{Map, Value, json};

/// Option of a methodology: a whole number within bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Name.
    pub name: &'static str,
    /// Meaning of the option, for a reader.
    pub description: &'static str,
    /// Least value.
    pub minimum: u32,
    /// Greatest value.
    pub maximum: u32,
    /// Value where none is given.
    pub default: u32,
}

/// Reason for which options can't be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OptionError {
    /// Name of the option; empty where it is the methodology or the whole.
    pub path: String,
    /// Fault of the option, for a reader.
    pub message: String,
}

/// Declares the options of a methodology: a struct, its defaults and its fields.
macro_rules! options {
    (
        $(#[doc = $doc:literal])* $name:ident {
            $($(#[doc = $about:literal])* $field:ident $json:literal: $default:literal in $minimum:literal to $maximum:literal,)+
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $about])* pub $field: u32,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl $name {
            /// The options, with their bounds.
            pub const FIELDS: &'static [Field] = &[$(Field {
                name: $json,
                description: concat!($($about,)* ""),
                minimum: $minimum,
                maximum: $maximum,
                default: $default,
            },)+];

            fn read(options: &Value) -> Result<Self, OptionError> {
                let given = given(options, Self::FIELDS)?;
                let mut read = Self::default();
                $(if let Some(value) = given.get($json) {
                    read.$field = number(value, $json, Self::FIELDS)?;
                })+
                Ok(read)
            }

            fn write(self) -> Value {
                json!({ $($json: self.$field,)+ })
            }
        }
    };
}

options! {
    /// Options of `recursive`.
    Recursive {
        /// Tokens of a passage at most.
        max_tokens "maxTokens": 200 in 16 to 8192,
        /// Tokens of a passage that repeat the end of the one before; at most half of them.
        overlap_tokens "overlapTokens": 20 in 0 to 1024,
    }
}

options! {
    /// Options of `markdown`.
    Sections {
        /// Tokens of a passage at most.
        max_tokens "maxTokens": 200 in 16 to 8192,
        /// Tokens of a passage that repeat the end of the one before in the same section; at most half of them.
        overlap_tokens "overlapTokens": 0 in 0 to 1024,
        /// Deepest level of a heading at which a passage begins.
        heading_level "headingLevel": 6 in 1 to 6,
    }
}

options! {
    /// Options of `sentence-window`.
    SentenceWindow {
        /// Tokens of a sentence at most; a longer one is cut.
        max_tokens "maxTokens": 200 in 16 to 8192,
        /// Sentences on either side that are given with a passage.
        window_sentences "windowSentences": 2 in 0 to 10,
    }
}

options! {
    /// Options of `parent-child`.
    ParentChild {
        /// Tokens of the text that is given at most.
        parent_tokens "parentTokens": 800 in 64 to 8192,
        /// Tokens of the text that is searched at most; not more than the parent's.
        child_tokens "childTokens": 150 in 16 to 8192,
        /// Tokens of a child that repeat the end of the one before in the same parent; at most half of them.
        overlap_tokens "overlapTokens": 20 in 0 to 1024,
    }
}

options! {
    /// Options of `fixed`.
    Fixed {
        /// Tokens of a passage.
        tokens "tokens": 200 in 16 to 8192,
        /// Tokens of a passage that repeat the end of the one before; at most half of them.
        overlap_tokens "overlapTokens": 20 in 0 to 1024,
    }
}

options! {
    /// Options of `whole-document`.
    WholeDocument {
        /// Tokens of the document at most; a longer one is cut like `recursive`.
        max_tokens "maxTokens": 8192 in 64 to 200000,
    }
}

options! {
    /// Options of `table-rows`.
    TableRows {
        /// Rows of a passage at most.
        rows "rows": 1 in 1 to 100,
        /// Tokens of a passage at most; what stands outside of tables is cut like `recursive`.
        max_tokens "maxTokens": 200 in 16 to 8192,
    }
}

/// Way of cutting a text into passages, with its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Methodology {
    /// Pieces cut at the best places, each as full as its limit allows.
    Recursive(Recursive),
    /// Sections between headings.
    Markdown(Sections),
    /// Sentences, given with their neighbours.
    SentenceWindow(SentenceWindow),
    /// Small pieces to search, larger ones to give.
    ParentChild(ParentChild),
    /// Windows of tokens, whatever the text is.
    Fixed(Fixed),
    /// Document in one piece.
    WholeDocument(WholeDocument),
    /// Rows of tables.
    TableRows(TableRows),
}

/// Row of the table of methodologies.
#[derive(Debug, Clone, Copy)]
pub struct MethodologyInfo {
    /// Id.
    pub id: &'static str,
    /// Name for a reader.
    pub display_name: &'static str,
    /// Effect of the methodology, for a reader.
    pub description: &'static str,
    /// Whether it is taken where none is named.
    pub is_default: bool,
    /// Options that it takes.
    pub fields: &'static [Field],
}

/// All methodologies of cutting.
pub const METHODOLOGIES: &[MethodologyInfo] = &[
    MethodologyInfo {
        id: "recursive",
        display_name: "Recursive",
        description: "Cuts at headings, then paragraphs, list items, lines, sentences and words, the best place \
                      first, and fills each passage. Good for most texts.",
        is_default: true,
        fields: Recursive::FIELDS,
    },
    MethodologyInfo {
        id: "markdown",
        display_name: "By headings",
        description: "One passage for each section under a heading, cut further where it is long; no passage \
                      reaches into another section. Good for manuals.",
        is_default: false,
        fields: Sections::FIELDS,
    },
    MethodologyInfo {
        id: "sentence-window",
        display_name: "Sentence window",
        description: "Searches single sentences and gives each with its neighbours. Good for facts in dense prose.",
        is_default: false,
        fields: SentenceWindow::FIELDS,
    },
    MethodologyInfo {
        id: "parent-child",
        display_name: "Parent and child",
        description: "Searches small pieces and gives the larger piece around the one found. Good for long \
                      explanations.",
        is_default: false,
        fields: ParentChild::FIELDS,
    },
    MethodologyInfo {
        id: "fixed",
        display_name: "Fixed size",
        description: "Cuts every so many tokens between words, without regard to structure. Good for text without \
                      any, as transcripts.",
        is_default: false,
        fields: Fixed::FIELDS,
    },
    MethodologyInfo {
        id: "whole-document",
        display_name: "Whole document",
        description: "One passage for each file. Good for short texts, as abstracts and tickets: a long one has one \
                      vector for all that it says.",
        is_default: false,
        fields: WholeDocument::FIELDS,
    },
    MethodologyInfo {
        id: "table-rows",
        display_name: "Table rows",
        description: "One passage for each row of a table, or for several, embedded with the table's head; other \
                      text is cut as by `recursive`. Good for CSV and spreadsheets.",
        is_default: false,
        fields: TableRows::FIELDS,
    },
];

impl MethodologyInfo {
    /// JSON Schema (2020-12) of the options.
    #[must_use]
    pub fn schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .fields
            .iter()
            .map(|field| {
                let schema = json!({
                    "type": "integer",
                    "description": field.description.trim(),
                    "minimum": field.minimum,
                    "maximum": field.maximum,
                    "default": field.default,
                });
                (field.name.to_owned(), schema)
            })
            .collect();
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "properties": properties,
        })
    }

    /// Options where none are given.
    #[must_use]
    pub fn defaults(&self) -> Value {
        self.fields.iter().map(|field| (field.name.to_owned(), Value::from(field.default))).collect()
    }
}

impl Default for Methodology {
    fn default() -> Self {
        Self::Recursive(Recursive::default())
    }
}

impl Methodology {
    /// Reads a methodology from its id and its options: an object, or null for the defaults. What is not given has its
    /// default.
    ///
    /// # Errors
    /// [`OptionError`] that names the option.
    pub fn read(id: &str, options: &Value) -> Result<Self, OptionError> {
        let read = match id {
            "recursive" => Self::Recursive(Recursive::read(options)?),
            "markdown" => Self::Markdown(Sections::read(options)?),
            "sentence-window" => Self::SentenceWindow(SentenceWindow::read(options)?),
            "parent-child" => Self::ParentChild(ParentChild::read(options)?),
            "fixed" => Self::Fixed(Fixed::read(options)?),
            "whole-document" => Self::WholeDocument(WholeDocument::read(options)?),
            "table-rows" => Self::TableRows(TableRows::read(options)?),
            other => return Err(wrong("", format!("there is no methodology `{other}`"))),
        };
        read.checked()
    }

    /// Id.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Self::Recursive(_) => "recursive",
            Self::Markdown(_) => "markdown",
            Self::SentenceWindow(_) => "sentence-window",
            Self::ParentChild(_) => "parent-child",
            Self::Fixed(_) => "fixed",
            Self::WholeDocument(_) => "whole-document",
            Self::TableRows(_) => "table-rows",
        }
    }

    /// All options, the defaults among them; [`Methodology::read`] gives the same methodology back.
    #[must_use]
    pub fn options(&self) -> Value {
        match *self {
            Self::Recursive(options) => options.write(),
            Self::Markdown(options) => options.write(),
            Self::SentenceWindow(options) => options.write(),
            Self::ParentChild(options) => options.write(),
            Self::Fixed(options) => options.write(),
            Self::WholeDocument(options) => options.write(),
            Self::TableRows(options) => options.write(),
        }
    }

    /// Most tokens of a passage's own text.
    #[must_use]
    pub const fn max_tokens(&self) -> u32 {
        match self {
            Self::Recursive(options) => options.max_tokens,
            Self::Markdown(options) => options.max_tokens,
            Self::SentenceWindow(options) => options.max_tokens,
            Self::ParentChild(options) => options.child_tokens,
            Self::Fixed(options) => options.tokens,
            Self::WholeDocument(options) => options.max_tokens,
            Self::TableRows(options) => options.max_tokens,
        }
    }

    /// Checks what two options say of each other.
    fn checked(self) -> Result<Self, OptionError> {
        if let Self::ParentChild(options) = self
            && options.child_tokens > options.parent_tokens
        {
            return Err(wrong(
                "childTokens",
                "`childTokens` must not be more than `parentTokens`".to_owned(),
            ));
        }
        let overlap = match self {
            Self::Recursive(options) => options.overlap_tokens,
            Self::Markdown(options) => options.overlap_tokens,
            Self::ParentChild(options) => options.overlap_tokens,
            Self::Fixed(options) => options.overlap_tokens,
            Self::SentenceWindow(_) | Self::WholeDocument(_) | Self::TableRows(_) => 0,
        };
        if overlap * 2 > self.max_tokens() {
            let message =
                format!("`overlapTokens` must be at most {}, half of a passage", self.max_tokens() / 2);
            return Err(wrong("overlapTokens", message));
        }
        Ok(self)
    }
}

fn given<'v>(
    options: &'v Value,
    fields: &[Field],
) -> Result<std::borrow::Cow<'v, Map<String, Value>>, OptionError> {
    let map = match options {
        Value::Null => return Ok(std::borrow::Cow::Owned(Map::new())),
        Value::Object(map) => map,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(wrong("", "the options must be an object".to_owned()));
        }
    };
    if let Some(unknown) = map.keys().find(|name| fields.iter().all(|field| field.name != name.as_str())) {
        let known: Vec<_> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
        return Err(wrong(
            unknown,
            format!("there is no option `{unknown}`; there are {}", known.join(", ")),
        ));
    }
    Ok(std::borrow::Cow::Borrowed(map))
}

fn number(value: &Value, name: &str, fields: &[Field]) -> Result<u32, OptionError> {
    let bounds = fields
        .iter()
        .find(|field| field.name == name)
        .map_or((0, u32::MAX), |field| (field.minimum, field.maximum));
    value
        .as_u64()
        .and_then(|value| u32::try_from(value).ok())
        .filter(|value| (bounds.0..=bounds.1).contains(value))
        .ok_or_else(|| {
            wrong(name, format!("`{name}` must be a whole number from {} to {}", bounds.0, bounds.1))
        })
}

fn wrong(path: &str, message: String) -> OptionError {
    OptionError { path: path.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_methodology_reads_its_defaults_and_writes_what_it_read() {
        for info in METHODOLOGIES {
            let read = Methodology::read(info.id, &Value::Null).unwrap();
            assert_eq!((read.id(), read.options()), (info.id, info.defaults()));
            assert_eq!(Methodology::read(info.id, &read.options()), Ok(read));
            assert_eq!(info.schema()["properties"].as_object().unwrap().len(), info.fields.len());
        }
        assert_eq!(METHODOLOGIES.iter().filter(|info| info.is_default).count(), 1);
    }

    #[test]
    fn a_wrong_option_is_named() {
        for (id, options, path) in [
            ("recursive", json!({ "maxToken": 5 }), "maxToken"),
            ("recursive", json!({ "maxTokens": 5 }), "maxTokens"),
            ("recursive", json!({ "maxTokens": 20.5 }), "maxTokens"),
            ("recursive", json!({ "maxTokens": 20, "overlapTokens": 11 }), "overlapTokens"),
            ("parent-child", json!({ "childTokens": 900 }), "childTokens"),
            ("fixed", json!([]), ""),
            ("none", json!({}), ""),
        ] {
            assert_eq!(Methodology::read(id, &options).unwrap_err().path, path, "{id} {options}");
        }
    }
}
