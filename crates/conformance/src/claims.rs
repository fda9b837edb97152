//! Types that the claims about every standard share.

use serde::Serialize;
use std::borrow::Cow;

/// Extent to which something is supported.
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

/// Share of the features of a class or level that are supported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Share {
    /// Number of features supported.
    pub supported: usize,
    /// Number of features in all.
    pub total: usize,
}

/// Deviation of this implementation from a standard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Deviation {
    /// Id of the deviation, such as `D1`.
    pub id: &'static str,
    /// The clause of the standard.
    pub clause: &'static str,
    /// Part of the standard that it is about.
    pub about: &'static str,
    /// Behaviour in place of what the standard says.
    pub text: Cow<'static, str>,
}
