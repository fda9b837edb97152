//! Fusion: one ranking of two, and a choice that does not repeat itself.

use std::collections::BTreeMap;

use crate::vector::dot;

/// How the legs of a hybrid query become one ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fusion {
    /// Each leg's scores stretched to 0 to 1 over its candidates, then `alpha` of the semantic ones and the rest of the
    /// keywords'. What a leg did not find counts 0 in it.
    MinMax {
        /// Weight of the semantic leg, 0 to 1.
        alpha: f32,
    },
    /// Reciprocal ranks: the sum of `1 / (k + rank)` over the legs (Cormack, Clarke, Büttcher 2009).
    Reciprocal {
        /// The greater, the less the first ranks stand out.
        k: f32,
    },
}

impl Default for Fusion {
    fn default() -> Self {
        Self::MinMax { alpha: 0.5 }
    }
}

impl Fusion {
    /// Reciprocal ranks with the constant of the paper.
    pub const RECIPROCAL: Self = Self::Reciprocal { k: 60.0 };

    /// Whether its number is one that it can work with.
    pub(crate) fn is_sound(self) -> bool {
        match self {
            Self::MinMax { alpha } => (0.0..=1.0).contains(&alpha),
            Self::Reciprocal { k } => (0.0..=1e6).contains(&k),
        }
    }
}

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
    /// The score of the mode: a cosine, BM25, or what the fusion made of both.
    pub score: f32,
    /// Its place among the nearest vectors, where it is one of the candidates.
    pub semantic: Option<Leg>,
    /// Its place among the fitting words, where it is one of the candidates.
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

/// One ranking of the candidates of both legs, best first; of equals the one with the smaller id.
pub(crate) fn fuse(semantic: Vec<Hit>, keyword: Vec<Hit>, fusion: Fusion) -> Vec<Hit> {
    let stretch = (Stretch::of(&semantic), Stretch::of(&keyword));
    let mut hits: BTreeMap<u64, Hit> = semantic.into_iter().map(|hit| (hit.id, hit)).collect();
    for other in keyword {
        hits.entry(other.id).and_modify(|hit| hit.keyword = other.keyword).or_insert(other);
    }
    let mut hits: Vec<Hit> = hits.into_values().collect();
    for hit in &mut hits {
        hit.score = match fusion {
            Fusion::MinMax { alpha } => {
                alpha * stretch.0.apply(hit.semantic) + (1.0 - alpha) * stretch.1.apply(hit.keyword)
            }
            Fusion::Reciprocal { k } => {
                [hit.semantic, hit.keyword].into_iter().flatten().map(|leg| reciprocal(leg, k)).sum()
            }
        };
    }
    hits.sort_unstable_by(|one, other| other.score.total_cmp(&one.score).then(one.id.cmp(&other.id)));
    hits
}

#[expect(clippy::cast_precision_loss, reason = "ranks are far below where floats skip numbers")]
fn reciprocal(leg: Leg, k: f32) -> f32 {
    1.0 / (k + leg.rank as f32)
}

/// The scores of a leg on a scale from 0 to 1.
#[derive(Clone, Copy)]
struct Stretch {
    least: f32,
    width: f32,
}

impl Stretch {
    fn of(hits: &[Hit]) -> Self {
        let scores = || hits.iter().map(|hit| hit.score);
        let least = scores().fold(f32::INFINITY, f32::min);
        Self { least, width: scores().fold(f32::NEG_INFINITY, f32::max) - least }
    }

    /// Where all are equal, each is the best.
    fn apply(self, leg: Option<Leg>) -> f32 {
        match leg {
            None => 0.0,
            Some(leg) if self.width > 0.0 => (leg.score - self.least) / self.width,
            Some(_) => 1.0,
        }
    }
}

/// Up to `limit` hits, each the best of what is left by `lambda` of its score (stretched to 0 to 1) less the rest of its
/// likeness to what is chosen already (maximal marginal relevance, Carbonell and Goldstein 1998). `vectors` are the unit
/// vectors of the hits, in their order.
pub(crate) fn diversify(hits: Vec<Hit>, vectors: Vec<Vec<f32>>, limit: usize, lambda: f32) -> Vec<Hit> {
    let stretch = Stretch::of(&hits);
    let relevance = |hit: &Hit| stretch.apply(Some(Leg { score: hit.score, rank: 1 }));
    let mut left: Vec<Open> = (hits.into_iter().zip(vectors))
        .map(|(hit, vector)| Open { relevance: relevance(&hit), likeness: 0.0, hit, vector })
        .collect();
    let mut chosen: Vec<Hit> = Vec::with_capacity(limit.min(left.len()));
    while chosen.len() < limit {
        let worth = |open: &Open| lambda * open.relevance - (1.0 - lambda) * open.likeness;
        // Of equals the first: `max_by` would take the last.
        let best = left.iter().enumerate().rev().max_by(|one, other| worth(one.1).total_cmp(&worth(other.1)));
        let Some(at) = best.map(|(at, _)| at) else { break };
        let open = left.remove(at);
        let first = chosen.is_empty();
        for other in &mut left {
            let likeness = dot(&open.vector, &other.vector);
            other.likeness = if first { likeness } else { other.likeness.max(likeness) };
        }
        chosen.push(open.hit);
    }
    chosen
}

/// A hit that is not chosen yet.
struct Open {
    hit: Hit,
    vector: Vec<f32>,
    relevance: f32,
    /// The greatest cosine with one that is chosen.
    likeness: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leg(pairs: &[(u64, f32)], semantic: bool) -> Vec<Hit> {
        single(pairs.iter().copied(), semantic)
    }

    fn order(hits: &[Hit]) -> Vec<u64> {
        hits.iter().map(|hit| hit.id).collect()
    }

    #[test]
    fn scores_are_stretched_and_weighted() {
        let semantic = leg(&[(1, 0.9), (2, 0.8), (3, 0.7)], true);
        let keyword = leg(&[(3, 12.0), (4, 6.0)], false);
        let hits = fuse(semantic.clone(), keyword.clone(), Fusion::default());
        assert_eq!(order(&hits), [1, 3, 2, 4]);
        assert_eq!(hits[1].score, 0.5);
        assert_eq!(hits[1].semantic, Some(Leg { score: 0.7, rank: 3 }));
        assert_eq!(hits[1].keyword, Some(Leg { score: 12.0, rank: 1 }));
        let hits = fuse(semantic, keyword, Fusion::MinMax { alpha: 0.2 });
        assert_eq!(order(&hits), [3, 1, 2, 4]);
    }

    #[test]
    fn one_candidate_or_equals_count_whole() {
        let hits = fuse(leg(&[(1, 0.4)], true), leg(&[(2, 3.0), (3, 3.0)], false), Fusion::default());
        assert_eq!(order(&hits), [1, 2, 3]);
        assert!(hits.iter().all(|hit| hit.score == 0.5));
        assert_eq!(fuse(vec![], vec![], Fusion::default()), []);
    }

    #[test]
    fn reciprocal_ranks_reward_agreement() {
        let semantic = leg(&[(1, 0.9), (2, 0.8)], true);
        let keyword = leg(&[(3, 9.0), (2, 8.0)], false);
        let hits = fuse(semantic, keyword, Fusion::RECIPROCAL);
        assert_eq!(order(&hits), [2, 1, 3]);
        assert!((hits[0].score - 2.0 / 62.0).abs() < 1e-6);
    }

    #[test]
    fn what_repeats_the_chosen_comes_later() {
        let hits = leg(&[(1, 1.0), (2, 0.99), (3, 0.5)], true);
        let vectors = vec![vec![1.0, 0.0], vec![1.0, 0.0], vec![0.0, 1.0]];
        assert_eq!(order(&diversify(hits.clone(), vectors.clone(), 2, 0.4)), [1, 3]);
        assert_eq!(order(&diversify(hits.clone(), vectors.clone(), 3, 1.0)), [1, 2, 3]);
        assert_eq!(order(&diversify(hits, vectors, 9, 0.4)), [1, 3, 2]);
    }
}
