//! The way in for commands on the machine itself: HTTP over a socket file that only the user of the server opens. Who may
//! read the data directory and its key may do everything; so nobody is asked to sign in there, and the caller names the
//! account in whose name a thing is done. It is done with that account's rights and audited as the command line's.

mod call;
mod listener;
mod routes;
mod service;
mod socket;

pub(crate) use call::{LocalCall, LocalPeer, caller};
pub(crate) use listener::LocalListener;
pub use service::LocalService;
pub use socket::SocketPath;

/// Name of the socket file within the data directory.
pub const SOCKET_FILE: &str = "heddle.sock";
/// Header that names the account, by its e-mail address, in whose name a call over the socket is made.
pub const ACCOUNT_HEADER: &str = "x-heddle-as";
/// Header that names the organisation of such a call by its slug, where the account belongs to several.
pub const ORGANIZATION_HEADER: &str = "x-heddle-organization";
