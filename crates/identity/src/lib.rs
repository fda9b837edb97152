//! Use cases: organisations, users, sessions, sign-in, set-up, licence; and their ports.
