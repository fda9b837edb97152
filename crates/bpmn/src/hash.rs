//! Hash tables of this crate: seeded at random for each table like the standard library's, at a third of the cost.

/// A map.
pub type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::quality::RandomState>;
/// A set.
pub type HashSet<K> = std::collections::HashSet<K, foldhash::quality::RandomState>;
