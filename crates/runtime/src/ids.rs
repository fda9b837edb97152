//! Ids from time and the system's randomness.

use heddle_kernel::{IdSource, Timestamp, uuid_v7};
use uuid::Uuid;

/// UUIDv7 with random bits from the system.
#[derive(Debug, Default, Clone, Copy)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn next(&self, now: Timestamp) -> Uuid {
        // `Uuid::now_v7` would read the system's clock; the instant comes from the clock port, which a test moves.
        let random = Uuid::new_v4().into_bytes();
        let mut tail = [0; 10];
        tail.copy_from_slice(&random[..10]);
        // The bytes that carry a v4's version and variant are not random; two others take their place.
        tail[6] = random[10];
        tail[8] = random[11];
        uuid_v7(now, tail)
    }
}
