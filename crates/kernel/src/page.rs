//! Keyset pages: a cursor names the last row seen, so that inserts shift nothing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Serialize, de::DeserializeOwned};

/// Rows of a page when the caller names no limit.
pub const DEFAULT_LIMIT: u32 = 50;
/// The most rows of a page.
pub const MAX_LIMIT: u32 = 200;

/// A cursor that was not given out by this service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one of this list")]
pub struct CursorError;

/// An opaque place in a list: base64url over the JSON of the last row's sort key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(String);

impl Cursor {
    /// The longest cursor taken, in bytes.
    pub const MAX_LENGTH: usize = 1024;

    /// From the text that a caller sent.
    #[must_use]
    pub const fn from_text(text: String) -> Self {
        Self(text)
    }

    /// A cursor behind the row with this key.
    #[must_use]
    pub fn after<K: Serialize>(key: &K) -> Self {
        // A key is made of texts and numbers: it always has a JSON form.
        Self(URL_SAFE_NO_PAD.encode(serde_json::to_vec(key).unwrap_or_default()))
    }

    /// The key of the last row seen.
    ///
    /// # Errors
    /// When the text is not a cursor over such a key.
    pub fn key<K: DeserializeOwned>(&self) -> Result<K, CursorError> {
        if self.0.len() > Self::MAX_LENGTH {
            return Err(CursorError);
        }
        let Ok(bytes) = URL_SAFE_NO_PAD.decode(&self.0) else { return Err(CursorError) };
        serde_json::from_slice(&bytes).or(Err(CursorError))
    }

    /// The text for the caller.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Part of a list that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// The most rows wanted, 1 to [`MAX_LIMIT`].
    pub limit: u32,
    /// Cursor to go on from; absent at the start.
    pub cursor: Option<Cursor>,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { limit: DEFAULT_LIMIT, cursor: None }
    }
}

/// A part of a list, never silently cut: `next` is there when more rows are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Cursor of the next page; none at the end.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// From rows of which one more than the limit was read: the surplus row only tells that there is more.
    #[must_use]
    pub fn from_surplus<K: Serialize>(mut rows: Vec<T>, limit: u32, key: impl Fn(&T) -> K) -> Self {
        let limit = limit as usize;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = if more { rows.last().map(|row| Cursor::after(&key(row))) } else { None };
        Self { items: rows, next }
    }

    /// The same page with each item changed.
    #[must_use]
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(change).collect(), next: self.next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surplus_row_becomes_a_cursor_behind_the_last_one() {
        let page = Page::from_surplus(vec![1, 2, 3], 2, |n| *n);
        assert_eq!(page.items, [1, 2]);
        assert_eq!(page.next.unwrap().key::<i32>().unwrap(), 2);
        assert!(Page::from_surplus(vec![1, 2], 2, |n| *n).next.is_none());
    }

    #[test]
    fn foreign_cursors_are_refused() {
        for text in ["", "!", "bnVsbA", &"A".repeat(2000)] {
            assert!(Cursor::from_text(text.to_owned()).key::<(String, i64)>().is_err(), "{text}");
        }
    }
}
