//! Tests of the index against plain reckoning, and of what it does with damaged files.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail the test")]

mod damage;
mod near;
mod oracle;
mod shelf;
mod words;

use std::path::Path;

use heddle_passages::{Key, Language, Passage, Settings, Shelf};

/// A few dimensions that are no multiple of what the codes ask for.
const DIMS: u32 = 12;

const SETTINGS: Settings = Settings { dims: Some(DIMS), language: Language::English };
const WORDS_ALONE: Settings = Settings { dims: None, language: Language::English };

fn key() -> Key {
    Key::new("organisation", "database", 1).unwrap()
}

fn shelf(root: &Path) -> Shelf {
    Shelf::open(root, 1 << 30).unwrap()
}

/// The directory in which the index of [`key`] lies.
fn directory(root: &Path) -> std::path::PathBuf {
    root.join("organisation/database/1")
}

/// Numbers that look random and are the same each time.
#[derive(Clone)]
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// About normally distributed.
    fn normal(&mut self) -> f32 {
        (0..6).map(|_| self.below(1 << 20) as f32 / (1 << 19) as f32 - 1.0).sum()
    }

    fn vector(&mut self, dims: u32) -> Vec<f32> {
        (0..dims).map(|_| self.normal()).collect()
    }
}

const VOCABULARY: [&str; 8] = ["loom", "weft", "warp", "shuttle", "treadle", "selvedge", "bobbin", "reed"];

/// A passage whose content is another with each version.
fn passage(id: u64, version: u64) -> Passage {
    let mut numbers = Numbers(id * 1_000_003 + version);
    let words = 1 + numbers.below(6);
    let text = (0..words).map(|_| VOCABULARY[numbers.below(8) as usize]).collect::<Vec<_>>().join(" ");
    Passage { id, text, vector: Some(numbers.vector(DIMS)) }
}

fn passages(ids: std::ops::Range<u64>) -> Vec<Passage> {
    ids.map(|id| passage(id, 0)).collect()
}

/// An index with the given passages as of change 1.
fn built(root: &Path, passages: Vec<Passage>) -> std::sync::Arc<heddle_passages::Index> {
    let passages = passages.into_iter().map(Ok::<_, std::convert::Infallible>);
    shelf(root).rebuild(&key(), SETTINGS, 1, passages).unwrap()
}
