//! The HTTP server: authentication, the gate, handlers, errors, event streams.
