//! Hits: what the legs of a query find.

/// A place in the ranking of one leg.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leg {
    /// The leg's own score: a cosine, or BM25.
    pub score: f32,
    /// 1 for the best.
    pub rank: u32,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The passage.
    pub id: u64,
    /// The score of the leg that found it: a cosine, or BM25.
    pub score: f32,
    /// Place among the nearest vectors, where it is one of the candidates.
    pub semantic: Option<Leg>,
    /// Place among the fitting words, where it is one of the candidates.
    pub keyword: Option<Leg>,
}

/// The candidates of one leg as hits, best first.
pub(crate) fn single(scores: impl Iterator<Item = (u64, f32)>, semantic: bool) -> Vec<Hit> {
    let hits = (1_u32..).zip(scores).map(|(rank, (id, score))| {
        let leg = Some(Leg { score, rank });
        let (semantic, keyword) = if semantic { (leg, None) } else { (None, leg) };
        Hit { id, score, semantic, keyword }
    });
    hits.collect()
}
