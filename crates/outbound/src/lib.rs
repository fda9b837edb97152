//! Speech to the other side of a connection, over the one way out: the test of each type, the delivery of signed
//! webhooks, and the sealing of secrets by the installation's keyring.
//!
//! What comes back says the phase, a code and a sentence of ours: never what the service answered (whoever configures a
//! connection would read through it what they may not reach), and never a secret.

mod failure;
mod http;
mod postgres;
mod retry_after;
mod s3;
mod sealer;
mod signing;
mod sigv4;
mod smtp;
mod tester;
mod webhook;

pub use sealer::KeyringSealer;
pub use signing::{Signed, sign};
pub use tester::Outbound;
pub use webhook::{Delivered, Message};
