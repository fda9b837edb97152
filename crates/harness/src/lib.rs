//! Helpers that tests and runners share: the place of the workspace, one starter of PostgreSQL, one HTTP
//! client, and one starter of the built program. It knows the program by its command line and its HTTP API
//! alone.

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
pub mod http;
pub mod out;
pub mod postgres;
#[cfg(feature = "process")]
pub mod server;
pub mod workspace;
