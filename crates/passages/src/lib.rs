//! The embedded index of passages: nearest vectors with exact scores, words by BM25, exact filters. What
//! becomes one order of both is for whoever asks.
//!
//! It is a cache. The rows of the database are the truth; each index carries the change up to which it has applied them,
//! and one that is missing, damaged, another's or of another version says [`Error::Rebuild`] and answers nothing. There
//! is one directory for each organisation, database and generation under the root of a [`Shelf`], which holds the opened
//! ones within a budget of bytes.
//!
//! The parts: codes of four bits per dimension (turbovec) find candidates, vectors in a file give them exact cosines;
//! words are tantivy's. Filters are exact sets of ids that count in both legs before the cut. All of it blocks: call it
//! where computing may block.

mod allow;
mod changes;
mod dense;
mod error;
mod files;
mod hit;
mod index;
mod int8;
mod key;
mod keyword;
mod manifest;
mod places;
mod rows;
mod shelf;
mod text;
mod vector;

pub use allow::AllowList;
pub use changes::Passage;
pub use error::{BuildError, Error, Rebuild};
pub use hit::{Hit, Leg};
pub use index::{Index, Query, Shape};
pub use int8::Scan;
pub use key::{Key, Settings};
pub use shelf::{Builder, Shelf};
pub use text::Language;
pub use vector::{dot, unit};

/// Keeps each search on the thread that calls it, for the whole process: what shares the cores fairly between callers has
/// to see the work, and a search that is split over all cores takes more of them. Encoding then uses one core at a time.
/// Tells whether it could: the pool is made at its first use, so call it as the program starts.
pub fn search_on_calling_thread() -> bool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().is_ok()
}
