//! Macros that declare wire types.

/// Response types: camelCase, written only.
macro_rules! response {
    ($($(#[$outer:meta])* struct $name:ident { $( $(#[$inner:meta])* $field:ident : $ty:ty, )* })+) => {$(
        #[derive(Debug, Clone, PartialEq, ::serde::Serialize, ::utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        $(#[$outer])*
        pub struct $name { $( $(#[$inner])* pub $field: $ty, )* }
    )+};
}

/// Request types: camelCase, read only, unknown members refused.
macro_rules! request {
    ($($(#[$outer:meta])* struct $name:ident { $( $(#[$inner:meta])* $field:ident : $ty:ty, )* })+) => {$(
        #[derive(Debug, Clone, PartialEq, ::serde::Deserialize, ::utoipa::ToSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        $(#[$outer])*
        pub struct $name { $( $(#[$inner])* pub $field: $ty, )* }
    )+};
}

/// Closed sets of words. The words are `tt`, for the derives read no `literal` fragments.
macro_rules! words {
    ($($(#[$outer:meta])* enum $name:ident { $( $(#[$inner:meta])* $variant:ident = $word:tt, )* })+) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ::serde::Serialize, ::serde::Deserialize, ::utoipa::ToSchema)]
        $(#[$outer])*
        pub enum $name { $( $(#[$inner])* #[serde(rename = $word)] $variant, )* }

        impl $name {
            /// Every word.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// From the word.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word)
            }
        }
    )+};
}
