//! Helpers that tests and runners share: the place of the workspace, one starter of PostgreSQL, one HTTP
//! client, one starter of the built program, and what runners alone share: libraries of other languages,
//! scattered numbers, small models, a connection that costs next to nothing, figures, what a process used. It knows
//! the program by its command line and its HTTP API alone.

#[cfg(feature = "client")]
pub mod client;
pub mod figures;
#[cfg(feature = "client")]
pub mod http;
#[cfg(feature = "process")]
pub mod http1;
pub mod npm;
pub mod out;
pub mod pip;
pub mod postgres;
#[cfg(feature = "client")]
pub mod prepare;
pub mod process;
pub mod random;
#[cfg(feature = "process")]
pub mod server;
pub mod workspace;
