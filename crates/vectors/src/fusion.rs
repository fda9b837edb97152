//! Fusion of what both legs found into one order, and diversification of it.

use std::collections::BTreeMap;

use crate::ports::PassageHit;
use crate::records::PassageId;

/// Manner of a fusion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fusion {
    /// Scores of each leg, brought to the range from 0 to 1; meaning weighs `alpha`, words the rest.
    MinMax {
        /// Weight of meaning, from 0 to 1.
        alpha: f32,
    },
    /// Sum of `1 / (k + rank)` over the legs.
    Rrf {
        /// The constant, at least 1.
        k: u32,
    },
}

impl Default for Fusion {
    fn default() -> Self {
        Self::MinMax { alpha: 0.5 }
    }
}

type Scored = Vec<(PassageId, f32)>;

/// Passages of one leg, the best first; equal ones by their ids.
fn leg(hits: &[PassageHit], score: impl Fn(&PassageHit) -> Option<f32>) -> Scored {
    let found = hits.iter().filter_map(|hit| Some((hit.id, score(hit).filter(|score| score.is_finite())?)));
    let mut found: Scored = found.collect();
    best_first(&mut found);
    found
}

fn best_first(found: &mut Scored) {
    found.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
}

/// Scores of a leg in the range from 0 to 1. One passage alone, or all alike, have 1.
fn ranged(leg: Scored) -> Scored {
    let most = leg.first().map_or(0.0, |best| best.1);
    let least = leg.last().map_or(0.0, |last| last.1);
    let width = most - least;
    let to_range = |score: f32| if width > 0.0 { (score - least) / width } else { 1.0 };
    leg.into_iter().map(|(id, score)| (id, to_range(score))).collect()
}

/// The passages of both legs in one order, the best first.
#[must_use]
pub fn fused(hits: &[PassageHit], fusion: Fusion) -> Vec<(PassageId, f32)> {
    let semantic = leg(hits, |hit| hit.scores.semantic);
    let keyword = leg(hits, |hit| hit.scores.keyword);
    let mut scores: BTreeMap<PassageId, f32> = BTreeMap::new();
    match fusion {
        Fusion::MinMax { alpha } => {
            for (leg, weight) in [(semantic, alpha), (keyword, 1.0 - alpha)] {
                for (id, score) in ranged(leg) {
                    *scores.entry(id).or_default() += weight * score;
                }
            }
        }
        Fusion::Rrf { k } => {
            for leg in [semantic, keyword] {
                for (rank, (id, _)) in leg.into_iter().enumerate() {
                    *scores.entry(id).or_default() += 1.0 / (k as f32 + rank as f32 + 1.0);
                }
            }
        }
    }
    let mut all: Scored = scores.into_iter().collect();
    best_first(&mut all);
    all
}

/// The passages of one leg in order, the best first.
#[must_use]
pub fn single(hits: &[PassageHit], is_semantic: bool) -> Vec<(PassageId, f32)> {
    leg(hits, |hit| if is_semantic { hit.scores.semantic } else { hit.scores.keyword })
}

/// Maximal marginal relevance: at most `most` places of the given passages, each the best by
/// `lambda * score - (1 - lambda) * its greatest likeness to one before`. Scores are brought to the range from 0 to 1.
#[must_use]
pub fn diverse(passages: &[(f32, &[f32])], lambda: f32, most: usize) -> Vec<usize> {
    let highest = passages.iter().map(|one| one.0).fold(f32::NEG_INFINITY, f32::max);
    let lowest = passages.iter().map(|one| one.0).fold(f32::INFINITY, f32::min);
    let width = highest - lowest;
    let scores: Vec<f32> =
        passages.iter().map(|one| if width > 0.0 { (one.0 - lowest) / width } else { 1.0 }).collect();
    let mut nearest = vec![0.0_f32; passages.len()];
    let mut left: Vec<usize> = (0..passages.len()).collect();
    let mut chosen = Vec::with_capacity(most.min(passages.len()));
    while chosen.len() < most {
        let gain = |place: usize| {
            let score = scores.get(place).copied().unwrap_or_default();
            let near = nearest.get(place).copied().unwrap_or_default();
            lambda * score - (1.0 - lambda) * near
        };
        let best = left
            .iter()
            .copied()
            .enumerate()
            .max_by(|one, other| gain(one.1).total_cmp(&gain(other.1)).then(other.1.cmp(&one.1)));
        let Some((at, place)) = best else { break };
        left.remove(at);
        chosen.push(place);
        let Some((_, vector)) = passages.get(place) else { break };
        for other in &left {
            if let (Some(near), Some((_, of))) = (nearest.get_mut(*other), passages.get(*other)) {
                *near = near.max(dot(vector, of));
            }
        }
    }
    chosen
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::LegScores;

    fn hit(id: u64, semantic: Option<f32>, keyword: Option<f32>) -> PassageHit {
        PassageHit { id: PassageId(id), scores: LegScores { semantic, keyword } }
    }

    fn order(scored: &[(PassageId, f32)]) -> Vec<u64> {
        scored.iter().map(|one| one.0.0).collect()
    }

    #[test]
    fn both_legs_count_by_their_weight() {
        let hits = [
            hit(1, Some(0.9), None),
            hit(2, Some(0.8), Some(4.0)),
            hit(3, None, Some(10.0)),
            hit(4, Some(0.1), Some(1.0)),
        ];
        assert_eq!(order(&fused(&hits, Fusion::MinMax { alpha: 1.0 }))[..2], [1, 2]);
        assert_eq!(order(&fused(&hits, Fusion::MinMax { alpha: 0.0 }))[0], 3);
        assert_eq!(order(&fused(&hits, Fusion::default()))[0], 2);
        assert_eq!(order(&fused(&hits, Fusion::Rrf { k: 60 }))[0], 2);
        assert_eq!(order(&single(&hits, true)), [1, 2, 4]);
        assert_eq!(order(&single(&[hit(1, Some(f32::NAN), None)], true)), Vec::<u64>::new());
    }

    #[test]
    fn a_passage_like_the_one_before_comes_later() {
        let (one, other) = ([1.0, 0.0], [0.0, 1.0]);
        let passages: [(f32, &[f32]); 3] = [(1.0, &one), (0.9, &one), (0.5, &other)];
        assert_eq!(diverse(&passages, 1.0, 3), [0, 1, 2]);
        assert_eq!(diverse(&passages, 0.3, 3), [0, 2, 1]);
        assert_eq!(diverse(&passages, 0.3, 1), [0]);
    }
}
