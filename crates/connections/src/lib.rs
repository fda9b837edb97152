//! Use cases around connections to services outside: their records, types and secrets, their tests, the webhooks that
//! send events over them, the hooks at which calls of others come in, and the rotation of the keys under which secrets
//! are sealed; and the ports through which they reach storage, sealing and the world.
//!
//! A secret goes in and never comes out: what is shown of one says that it is there, since when, and its last four
//! characters where it is long. Whoever points a connection elsewhere sends its secrets again, so that nobody who may
//! change a connection learns what is sealed in it.

mod hooks;
mod manage;
mod opening;
pub mod ports;
pub mod records;
pub mod rotation;
pub mod secret;
mod sending;
mod told;
pub mod types;
mod webhooks;

pub use hooks::{
    HookCall, HookEvent, HookPatch, HookRefusal, Hooked, Hooks, NewHook, NewSignature, SignatureFault,
};
pub use manage::{ConnectionOption, ConnectionPatch, Connections, NewConnection, UpdatedConnection};
pub use opening::Opening;
pub use records::{Hook, HookMapping, HookSettings, HookSignature, SignatureScheme};
pub use types::{ConnectionKind, ConnectionType};
pub use webhooks::{NewWebhook, Ports as WebhookPorts, Receiver, UpdatedWebhook, WebhookPatch, Webhooks};

pub(crate) use heddle_usecase::{JournalFor, Problem, Problems, UseCaseError};

#[cfg(test)]
mod tests;
