//! Named values that keep the order in which they were entered.

use std::collections::HashMap;
use std::sync::Arc;

use super::{MAX_VALUE_DEPTH, Value};

/// Number of entries from which on names are found by hash instead of by looking through them.
const INDEXED: usize = 12;

/// Named values in the order of their first entry.
#[derive(Debug, Clone, Default)]
pub struct Context {
    entries: Vec<(Arc<str>, Value)>,
    index: Option<HashMap<Arc<str>, usize>>,
    depth: u32,
    weight: u32,
}

impl Context {
    /// An empty context.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A context of entries whose names are known to differ.
    pub(super) fn of_distinct(entries: impl Iterator<Item = (Arc<str>, Value)>) -> Self {
        let mut context = Self::default();
        context.entries = entries.collect();
        for (_, value) in &context.entries {
            context.depth = context.depth.max(value.depth());
            context.weight = context.weight.saturating_add(value.weight());
        }
        context.build_index();
        context
    }

    fn build_index(&mut self) {
        if self.index.is_none() && self.entries.len() >= INDEXED {
            let names = self.entries.iter().enumerate().map(|(at, (name, _))| (name.clone(), at));
            self.index = Some(names.collect());
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(name).copied(),
            None => self.entries.iter().position(|(known, _)| &**known == name),
        }
    }

    /// The value of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.position(name).and_then(|at| self.entries.get(at)).map(|(_, value)| value)
    }

    /// Enters the value, in place of one of the same name.
    pub fn put(&mut self, name: impl Into<Arc<str>>, value: Value) {
        let name = name.into();
        self.depth = self.depth.max(value.depth());
        self.weight = self.weight.saturating_add(value.weight());
        match self.position(&name).and_then(|at| self.entries.get_mut(at)) {
            Some(entry) => entry.1 = value,
            None => {
                if let Some(index) = &mut self.index {
                    index.insert(name.clone(), self.entries.len());
                }
                self.entries.push((name, value));
                self.build_index();
            }
        }
    }

    pub(super) fn into_values(mut self) -> Vec<Value> {
        self.index = None;
        std::mem::take(&mut self.entries).into_iter().map(|(_, value)| value).collect()
    }

    /// The entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Value)> {
        self.entries.iter().map(|(name, value)| (name, value))
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) const fn depth(&self) -> u32 {
        self.depth + 1
    }

    pub(crate) const fn weight(&self) -> u32 {
        self.weight.saturating_add(1)
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Deep values are freed level by level, as those of lists are.
impl Drop for Context {
    fn drop(&mut self) {
        if self.depth > MAX_VALUE_DEPTH {
            let entries = std::mem::take(&mut self.entries);
            super::free(entries.into_iter().map(|(_, value)| value).collect());
        }
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, Value)> for Context {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(entries: I) -> Self {
        let mut context = Self::new();
        for (name, value) in entries {
            context.put(name, value);
        }
        context
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_kept_and_names_replaced() {
        let mut context = Context::new();
        for i in 0..40 {
            context.put(format!("n{}", i % 30), Value::integer(i));
        }
        assert_eq!(context.len(), 30);
        assert_eq!(context.get("n5"), Some(&Value::integer(35)));
        assert_eq!(context.get("n29"), Some(&Value::integer(29)));
        assert_eq!(context.iter().next().map(|(name, _)| &**name), Some("n0"));
        assert!(context.get("n30").is_none());
    }
}
