//! The way in for commands on the machine itself: HTTP over a socket file that only the user of the server opens. Who may
//! read the data directory and its key may do everything; so nobody is asked to sign in there, and the caller names the
//! account in whose name a thing is done. It is done with that account's rights and audited as the command line's.

mod listener;
mod routes;
mod service;

pub(crate) use listener::LocalListener;
pub use service::LocalService;
