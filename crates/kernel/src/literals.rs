//! Enums of literals: closed sets of values, each with one spelling that the API, the database and documents share.

use serde::de::{Deserializer, Error, Visitor};

/// Enums whose variants are literals.
///
/// ```ignore
/// literals! {
///     /// Lifecycle state of a task.
///     pub enum TaskState {
///         /// Somebody can take it.
///         Open = "open",
///     }
/// }
/// ```
///
/// makes the enum with `ALL` (in the order of the list), `as_str`, `parse` (this spelling alone), and `Display`,
/// `Serialize` and `Deserialize` by the literal.
#[macro_export]
macro_rules! literals {
    ($($(#[$outer:meta])* $vis:vis enum $name:ident {
        $( $(#[$inner:meta])* $variant:ident = $literal:literal ),+ $(,)?
    })+) => {$(
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name {
            $( $(#[$inner])* $variant, )+
        }

        impl $name {
            /// Every literal, in the order of the list.
            $vis const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The literal.
            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $literal,)+
                }
            }

            /// The value of a literal, in this spelling alone.
            #[must_use]
            $vis fn parse(literal: &str) -> Option<Self> {
                match literal {
                    $($literal => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        // What a crate keeps to itself need not use it.
        const _: &[$name] = $name::ALL;

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                $crate::deserialize_literal(deserializer, Self::parse, &[$($literal),+])
            }
        }
    )+};
}

/// A literal as it was stored. A later version may have written one that this version does not know; where one such
/// must not hide all others (a trail of events), it is shown as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored<T> {
    /// One that this version knows.
    Known(T),
    /// Another one.
    Other(String),
}

impl<T> Stored<T> {
    /// Reads a stored literal by a `parse` of [`literals!`](crate::literals); an unknown one is kept as it
    /// is.
    pub fn read(literal: &str, parse: fn(&str) -> Option<T>) -> Self {
        parse(literal).map_or_else(|| Self::Other(literal.to_owned()), Self::Known)
    }
}

/// Reads one of these literals.
///
/// # Errors
/// When it is no text, or another one.
#[doc(hidden)]
pub fn deserialize_literal<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    parse: fn(&str) -> Option<T>,
    known: &'static [&'static str],
) -> Result<T, D::Error> {
    struct Literal<T>(fn(&str) -> Option<T>, &'static [&'static str]);

    impl<T> Visitor<'_> for Literal<T> {
        type Value = T;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("one of ")?;
            f.write_str(&self.1.join(", "))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            self.0(text).ok_or_else(|| E::unknown_variant(text, self.1))
        }
    }

    deserializer.deserialize_str(Literal(parse, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    literals! {
        /// A state.
        enum State {
            /// Open.
            Open = "open",
            /// No more.
            ClosedForGood = "closed for good",
        }
    }

    #[test]
    fn a_literal_has_one_spelling_everywhere() {
        assert_eq!(State::ALL, [State::Open, State::ClosedForGood]);
        for state in State::ALL.iter().copied() {
            assert_eq!(State::parse(state.as_str()), Some(state));
            assert_eq!(state.to_string(), state.as_str());
            let json = serde_json::to_string(&state).unwrap();
            assert_eq!(json, format!("\"{state}\""));
            assert_eq!(serde_json::from_str::<State>(&json).unwrap(), state);
        }
        for other in ["Open", "open ", "", "closedForGood"] {
            assert_eq!(State::parse(other), None, "{other}");
            assert!(serde_json::from_value::<State>(other.into()).is_err(), "{other}");
        }
        assert_eq!(Stored::read("open", State::parse), Stored::Known(State::Open));
        assert_eq!(Stored::read("ajar", State::parse), Stored::Other("ajar".to_owned()));
        let told = serde_json::from_str::<State>("1").unwrap_err().to_string();
        assert!(told.contains("expected one of open, closed for good"), "{told}");
    }
}
