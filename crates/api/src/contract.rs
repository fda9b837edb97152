//! Contract between the rows of the table and the wire types: how parameters and bodies are read.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use utoipa::ToSchema;

use crate::decode::Problems;

/// A media type of a request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaType {
    /// `application/json`.
    Json,
    /// `application/xml` or `text/xml`.
    Xml,
    /// `text/plain`.
    Text,
    /// `multipart/form-data` whose files the service has stored: what is read then is a list of them that it made.
    Files,
}

/// The parameters of a path.
pub trait PathParams: Sized + Send + Sync + 'static {
    /// The parameters' names.
    const NAMES: &'static [&'static str];

    /// Reads them; none when one is missing or is no id.
    fn read(get: &dyn Fn(&str) -> Option<String>) -> Option<Self>;
}

/// A request's body.
pub trait RequestBody: Sized + Send + Sync + 'static {
    /// Type of the JSON form, whose schema the body is checked against.
    type Json: ToSchema + DeserializeOwned + 'static;

    /// Reads the body.
    ///
    /// # Errors
    /// Every problem with its place.
    fn read(media: MediaType, bytes: &[u8]) -> Result<Self, Problems>;
}

/// No path parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoPath;

impl PathParams for NoPath {
    const NAMES: &'static [&'static str] = &[];

    fn read(_: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        Some(Self)
    }
}

/// No query parameters: any is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NoQuery {}

/// No body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NoBody {}

impl RequestBody for NoBody {
    type Json = Self;

    fn read(_: MediaType, _: &[u8]) -> Result<Self, Problems> {
        Ok(Self {})
    }
}

/// No output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Nothing {}

/// Makes types that are read from JSON alone.
macro_rules! json_bodies {
    ($($name:ty),+ $(,)?) => {$(
        impl $crate::contract::RequestBody for $name {
            type Json = Self;

            fn read(_: $crate::contract::MediaType, bytes: &[u8]) -> Result<Self, $crate::decode::Problems> {
                $crate::decode::from_json(bytes)
            }
        }
    )+};
}

/// Makes types of path parameters: the parameter's name in the path and its type.
macro_rules! path_params {
    ($($(#[$doc:meta])* $name:ident { $($field:ident $param:literal : $ty:ty),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name {
            $(#[doc = concat!("`{", $param, "}`.")] pub $field: $ty,)+
        }

        impl $crate::contract::PathParams for $name {
            const NAMES: &'static [&'static str] = &[$($param),+];

            fn read(get: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
                Some(Self { $($field: get($param)?.parse().ok()?,)+ })
            }
        }
    )+};
}

pub(crate) use {json_bodies, path_params};
