//! Cache of the regular expressions of one program, since compiling takes far longer than matching.

use std::sync::{Arc, Mutex, MutexGuard};

use super::compile::{MAX_RANGES, compile, read, size};
use super::{Meter, Regex};

/// Regular expression with its text and flags; none when the text is not of XPath.
#[derive(Debug)]
struct Pattern {
    text: Box<str>,
    flags: Box<str>,
    regex: Option<Arc<Regex>>,
}

/// Regular expressions compiled so far.
#[derive(Debug, Default)]
pub(crate) struct Patterns(Mutex<Vec<Pattern>>);

impl Patterns {
    const KEPT: usize = 16;

    /// No regular expressions yet.
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The compiled pattern, counting the work of compiling it when it is new; none when it is not of XPath.
    pub(crate) fn compiled<M: Meter>(
        &self,
        meter: &mut M,
        text: &str,
        flags: &str,
    ) -> Result<Option<Arc<Regex>>, M::Exceeded> {
        if let Some(known) = self.find(text, flags) {
            return Ok(known);
        }
        // A class of two letters can stand for hundreds of ranges, be there ever so few places.
        meter.charge(200 + text.len() as u64 * 128)?;
        if let Some((_, hir)) = read(text, flags) {
            meter.charge(size(&hir).0.min(MAX_RANGES) * 8)?;
        }
        let regex = compile(text, flags).map(Arc::new);
        self.keep(text, flags, regex.clone());
        Ok(regex)
    }

    fn known(&self) -> MutexGuard<'_, Vec<Pattern>> {
        match self.0.lock() {
            Ok(known) => known,
            Err(poisoned) => poisoned.into_inner(),
        }
    }

    fn find(&self, text: &str, flags: &str) -> Option<Option<Arc<Regex>>> {
        let known = self.known();
        let found = known.iter().find(|known| &*known.text == text && &*known.flags == flags);
        found.map(|found| found.regex.clone())
    }

    fn keep(&self, text: &str, flags: &str, regex: Option<Arc<Regex>>) {
        let mut known = self.known();
        if known.len() >= Self::KEPT {
            known.clear();
        }
        known.push(Pattern { text: text.into(), flags: flags.into(), regex });
    }
}
