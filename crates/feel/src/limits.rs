//! The bounds within which an evaluation stays.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bounds of one evaluation; the defaults end every evaluation within about 100 ms.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Evaluation steps: operators, calls, iterations and items looked at.
    pub steps: u64,
    /// Depth of nested operators and calls, in levels of evaluation. A level takes up to 4 kB of stack without
    /// optimisation, and the default leaves half of a stack of 2 MB to the caller.
    pub depth: u32,
    /// Items of one list or entries of one context.
    pub list_size: usize,
    /// Bytes of one string.
    pub string_size: usize,
    /// Number of notes kept; later ones are dropped.
    pub notes: usize,
    /// Set to true from another thread to end the evaluation.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Limits {
    pub(crate) const DEFAULT: Self = Self {
        steps: 3_000_000,
        depth: 320,
        list_size: 1_000_000,
        string_size: 1 << 20,
        notes: 50,
        cancel: None,
    };

    /// Whether so many steps, none of which makes anything large, stay within these limits.
    #[inline]
    pub(crate) const fn allow(&self, steps: u32) -> bool {
        self.steps >= steps as u64 && self.depth > 0 && self.cancel.is_none()
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
