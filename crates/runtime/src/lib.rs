//! Group commit, timers, message delivery and event fan-out.
