//! Hash tables whose order of buckets no document can aim at, at a third of the cost of the standard library's.

/// A map.
pub type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::quality::RandomState>;
/// A set.
pub type HashSet<K> = std::collections::HashSet<K, foldhash::quality::RandomState>;
