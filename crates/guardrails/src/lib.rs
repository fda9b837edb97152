//! Protection of what goes into a node of a workflow and what comes out of it: deterministic checks in linear time,
//! presets, actions, and the catalogue that tells of them. No I/O, no clock, no model.
//!
//! [`Policy`] is the protection of a definition as read; [`Policy::check`] holds a value against it and gives a
//! [`Verdict`]: the hits, without the text that they are about, and the value with what is to be redacted taken out.
//! Checks that ask a model are told by [`Policy::model_checks`]; whoever has a model asks it behind these, so that no
//! model sees what the deterministic checks take out.
//!
//! Texts are searched as they stand and, for patterns of injection and keywords, normalised: compatibility forms
//! (NFKC), without characters of no width, letters of other scripts that look like Latin ones as those.

pub mod catalog;
mod custom;
mod injection;
#[cfg(any(test, feature = "labelled"))]
pub mod labelled;
mod model;
mod personal;
mod policy;
mod preset;
mod rule;
mod run;
mod secrets;
mod text;
mod urls;
mod values;
mod words;

pub use custom::{CustomCheck, CustomKind};
pub use model::{Ground, ModelCheck, ModelRule, ModelVerdict, Undecided};
pub use personal::{card_is_valid, iban_is_valid};
pub use policy::{Limits, Policy, PolicyError};
pub use preset::Preset;
pub use rule::Rule;
pub use run::{Hit, SchemaCheck, Span, Subject, Verdict};
pub use secrets::find as find_secrets;
pub use text::Found;
pub use words::{Action, Engine, Stage};
