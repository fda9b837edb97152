//! Hash tables whose order of buckets no document can aim at, and which are faster than the standard ones.

/// A hash table.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::quality::RandomState>;
/// A set.
pub(crate) type HashSet<K> = std::collections::HashSet<K, foldhash::quality::RandomState>;
