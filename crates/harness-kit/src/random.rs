//! Numbers that need to be scattered, not secret: kill moments and think times. Seeded, so a run can be repeated.

use std::time::{SystemTime, UNIX_EPOCH};

/// An xorshift64* generator.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed; zero is replaced, since the generator would stay there.
    pub const fn new(seed: u64) -> Self {
        Self(if seed == 0 { 0x9E37_79B9_7F4A_7C15 } else { seed })
    }

    /// The next number.
    pub const fn number(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number of the range, both ends included.
    pub const fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.number() % (high - low + 1)
    }
}

/// A seed out of the clock.
pub fn seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |passed| {
        u64::from(passed.subsec_nanos()) ^ passed.as_secs().rotate_left(24) ^ u64::from(std::process::id())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_within_the_range() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        for _ in 0..1_000 {
            let number = one.between(200, 1_500);
            assert_eq!(number, two.between(200, 1_500));
            assert!((200..=1_500).contains(&number));
        }
        assert_ne!(Random::new(1).number(), Random::new(2).number());
    }
}
