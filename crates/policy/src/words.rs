//! Closed lists of names, each an enum whose literals the API, the database and people's rules know.

/// Makes enums of literals whose variants need no more description than the literal.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal,)+ })+) => {
        ::heddle_kernel::literals! {
            $($(#[$doc])* pub enum $name { $(#[doc = concat!("`", $word, "`.")] $variant = $word,)+ })+
        }
    };
}

pub(crate) use words;
