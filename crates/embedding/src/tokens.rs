//! Texts as numbers of tokens.

use tokenizers::Tokenizer;

use crate::EmbedError;

/// Bytes of a text beyond which nothing is looked at when it is embedded: tokens have some four letters, and a model
/// takes some hundreds of them.
const LONGEST: usize = 64 * 1024;

/// Bytes of a text that are cut into tokens at once: a token takes some hundred bytes while it is made, so that a text
/// in one piece would take many times its size.
const PIECE: usize = 64 * 1024;

/// A tokenizer that neither pads nor cuts.
pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    begin: Option<u32>,
    end: Option<u32>,
    most: usize,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("most", &self.most).finish_non_exhaustive()
    }
}

/// A text as the model takes it.
#[derive(Debug)]
pub(crate) struct Cut {
    /// Numbers of the tokens, with those at the beginning and the end.
    pub ids: Vec<u32>,
    /// Whether the text went on.
    pub is_truncated: bool,
}

impl Tokens {
    /// Reads a `tokenizer.json`, whose texts have `most` tokens at most, with those at the beginning and the end.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn read(bytes: &[u8], most: usize, vocabulary: usize) -> Result<Self, String> {
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| error.to_string())?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
        let found = tokenizer.get_vocab_size(true);
        if found > vocabulary {
            return Err(format!("it has {found} tokens, and the model {vocabulary}"));
        }
        let (begin, end) = (tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]"));
        if most < 3 {
            return Err(format!("a text of {most} tokens holds nothing"));
        }
        Ok(Self { tokenizer, begin, end, most })
    }

    /// Numbers of a text's tokens, cut to what the model takes.
    ///
    /// # Errors
    /// `Untokenizable`.
    pub(crate) fn cut(&self, text: &str) -> Result<Cut, EmbedError> {
        let looked_at = text.get(..text.floor_char_boundary(LONGEST)).unwrap_or(text);
        let encoding =
            self.tokenizer.encode_fast(looked_at, false).map_err(|_reason| EmbedError::Untokenizable)?;
        let around = usize::from(self.begin.is_some()) + usize::from(self.end.is_some());
        let room = self.most - around;
        let inner = encoding.get_ids();
        let is_truncated = inner.len() > room || looked_at.len() < text.len();
        let inner = inner.iter().copied().take(room);
        let ids = self.begin.into_iter().chain(inner).chain(self.end).collect();
        Ok(Cut { ids, is_truncated })
    }

    /// Number of a text's tokens, without those at the beginning and the end.
    ///
    /// # Errors
    /// `Untokenizable`.
    pub(crate) fn count(&self, text: &str) -> Result<usize, EmbedError> {
        let counted = pieces(text).map(|(_, piece)| {
            let encoding = self.tokenizer.encode_fast(piece, false);
            Ok(encoding.map_err(|_reason| EmbedError::Untokenizable)?.len())
        });
        counted.sum()
    }

    /// Bytes of a text at which its tokens begin, ascending; none is told that begins behind the first 4 GiB.
    ///
    /// # Errors
    /// `Untokenizable`.
    pub(crate) fn starts(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let mut starts = Vec::new();
        for (at, piece) in pieces(text) {
            let encoding =
                self.tokenizer.encode(piece, false).map_err(|_reason| EmbedError::Untokenizable)?;
            starts.extend(
                encoding.get_offsets().iter().filter_map(|(start, _)| u32::try_from(at + start).ok()),
            );
        }
        Ok(starts)
    }

    /// Most tokens of a text that the model looks at, without those at the beginning and the end.
    pub(crate) fn room(&self) -> usize {
        self.most - usize::from(self.begin.is_some()) - usize::from(self.end.is_some())
    }
}

/// Pieces of a text and where they begin, each of at most [`PIECE`] bytes and up to white space where it holds some: no
/// token reaches over white space.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let most = rest.get(..rest.floor_char_boundary(PIECE))?;
        let is_last = most.len() == rest.len();
        let end = most.rfind(char::is_whitespace).filter(|end| !is_last && *end > 0).unwrap_or(most.len());
        let piece = most.get(..end)?;
        let begun = at;
        at += end;
        Some((begun, piece))
    })
}
