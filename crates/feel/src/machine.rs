//! State that all parts of one evaluation share.

use std::sync::atomic::Ordering;

use heddle_kernel::{Timestamp, shortened};

use crate::error::{LimitError, Note};
use crate::limits::Limits;
use crate::pattern::Meter;

/// State that all parts of one evaluation share: what is left of its limits, its notes, the present time.
#[derive(Debug)]
pub(crate) struct Machine {
    left: u64,
    /// Steps until the cancel flag is looked at again.
    unwatched: u32,
    depth: u32,
    quiet: u32,
    limits: Limits,
    now: Timestamp,
    /// Whether the present time was asked for.
    dated: bool,
    notes: Vec<Note>,
    /// Data that the program around FEEL keeps with the evaluation.
    pub(crate) extension: Option<Box<dyn std::any::Any>>,
}

impl Machine {
    pub(crate) const fn new(now: Timestamp, limits: Limits) -> Self {
        Self {
            left: limits.steps,
            unwatched: 0,
            depth: 0,
            quiet: 0,
            limits,
            now,
            dated: false,
            notes: Vec::new(),
            extension: None,
        }
    }

    /// Steps taken so far.
    pub(crate) const fn taken(&self) -> u64 {
        self.limits.steps.saturating_sub(self.left)
    }

    pub(crate) fn into_notes(self) -> Vec<Note> {
        self.notes
    }

    pub(crate) const fn notes(&mut self) -> &mut Vec<Note> {
        &mut self.notes
    }

    pub(crate) const fn now(&mut self) -> Timestamp {
        self.dated = true;
        self.now
    }

    /// Whether the result depends on the present time.
    pub(crate) const fn is_dated(&self) -> bool {
        self.dated
    }

    #[inline]
    pub(crate) fn enter(&mut self) -> Result<(), LimitError> {
        if self.depth >= self.limits.depth {
            return Err(LimitError::Depth(self.limits.depth));
        }
        self.depth += 1;
        self.charge(1)
    }

    #[inline]
    pub(crate) const fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Goes down several levels at once.
    #[inline]
    pub(crate) fn enter_levels(&mut self, levels: u32) -> Result<(), LimitError> {
        if self.limits.depth.saturating_sub(self.depth) < levels {
            return Err(LimitError::Depth(self.limits.depth));
        }
        self.depth += levels;
        self.charge(u64::from(levels))
    }

    #[inline]
    pub(crate) const fn leave_levels(&mut self, levels: u32) {
        self.depth -= levels;
    }

    /// Counts steps.
    #[inline]
    pub(crate) fn charge(&mut self, steps: u64) -> Result<(), LimitError> {
        if self.left < steps {
            return Err(LimitError::Steps(self.limits.steps));
        }
        self.left -= steps;
        if self.unwatched == 0 {
            self.unwatched = 1024;
            if self.limits.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                return Err(LimitError::Cancelled);
            }
        }
        self.unwatched -= 1;
        Ok(())
    }

    pub(crate) const fn string_size(&self) -> usize {
        self.limits.string_size
    }

    /// Checks that a list of that many items may be made.
    pub(crate) fn room(&mut self, items: usize) -> Result<(), LimitError> {
        if items > self.limits.list_size { Err(LimitError::ListSize(self.limits.list_size)) } else { Ok(()) }
    }

    /// Checks that a string of that many bytes may be made, and counts the work.
    pub(crate) fn text(&mut self, bytes: usize) -> Result<(), LimitError> {
        if bytes > self.limits.string_size {
            return Err(LimitError::StringSize(self.limits.string_size));
        }
        self.charge(bytes as u64 / 32)
    }

    /// Adds a note, unless there are enough or nobody wants to know.
    pub(crate) fn note(&mut self, offset: u32, reason: impl FnOnce() -> String) {
        if self.quiet == 0 && self.notes.len() < self.limits.notes {
            let message = shortened(&reason()).into_owned();
            self.notes.push(Note { message, offset: offset as usize });
        }
    }

    /// Number of notes.
    pub(crate) const fn noted(&self) -> usize {
        self.notes.len()
    }

    /// Begins or ends a part whose notes don't matter.
    pub(crate) fn quiet(&mut self, on: bool) {
        self.quiet = if on { self.quiet + 1 } else { self.quiet.saturating_sub(1) };
    }
}

impl Meter for Machine {
    type Exceeded = LimitError;

    #[inline]
    fn charge(&mut self, steps: u64) -> Result<(), LimitError> {
        Self::charge(self, steps)
    }

    fn exhausted(&self) -> LimitError {
        LimitError::Steps(self.limits.steps)
    }
}
