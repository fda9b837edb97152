//! What claims of every standard have in common.

use serde::Serialize;
use std::borrow::Cow;

/// How much of something there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub enum Extent {
    /// All of it.
    Full,
    /// Some of it.
    Partial,
    /// Nothing.
    None,
    /// There is nothing to execute: the standard gives it no meaning at run time.
    NotOperational,
}

/// How many of the features of a class or level are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Share {
    /// How many are there.
    pub supported: usize,
    /// Of how many.
    pub total: usize,
}

/// Where this implementation does other than the standard says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Deviation {
    /// Its id, such as `D1`.
    pub id: &'static str,
    /// The clause of the standard.
    pub clause: &'static str,
    /// What of the standard it is about.
    pub about: &'static str,
    /// What is done in its place.
    pub text: Cow<'static, str>,
}
