//! The clock of a server: the system's, with an offset that only a server started for tests lets anybody move.

use std::sync::atomic::{AtomicI64, Ordering};

use heddle_kernel::{Clock, Timestamp};

/// The system's clock and an offset.
#[derive(Debug, Default)]
pub struct ServerClock {
    offset_micros: AtomicI64,
}

impl ServerClock {
    /// A clock that begins at an instant, which may have passed, and goes on from there: for tests.
    #[must_use]
    pub fn beginning_at(instant: Timestamp) -> Self {
        let ahead = instant.micros().saturating_sub(system_now().micros());
        Self { offset_micros: AtomicI64::new(ahead) }
    }

    /// Moves the clock to an instant; never back.
    pub fn move_to(&self, instant: Timestamp) {
        let ahead = instant.micros().saturating_sub(system_now().micros());
        self.offset_micros.fetch_max(ahead, Ordering::SeqCst);
    }
}

fn system_now() -> Timestamp {
    std::time::SystemTime::now().into()
}

impl Clock for ServerClock {
    fn now(&self) -> Timestamp {
        let offset = self.offset_micros.load(Ordering::SeqCst);
        Timestamp::from_micros(system_now().micros().saturating_add(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_where_it_is_told_and_goes_on() {
        let past = Timestamp::from_micros(1_000_000);
        let clock = ServerClock::beginning_at(past);
        assert!(clock.now() >= past && clock.now() < past.plus_seconds(60));
        clock.move_to(past.plus_seconds(3600));
        assert!(clock.now() >= past.plus_seconds(3600) && clock.now() < past.plus_seconds(3660));
    }

    #[test]
    fn moves_forward_only() {
        let clock = ServerClock::default();
        let later = clock.now().plus_seconds(3600);
        clock.move_to(later);
        assert!(clock.now() >= later);
        clock.move_to(later.plus_seconds(-7200));
        assert!(clock.now() >= later);
    }
}
