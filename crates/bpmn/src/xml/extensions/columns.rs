//! Rows of the table of words, by what becomes of a word.

use super::{Effect, Kind, Map, Word};

/// A row with all of its columns.
#[expect(clippy::too_many_arguments, reason = "one for each column of the table")]
pub(super) const fn word(
    vendors: u8,
    kind: Kind,
    name: &'static str,
    on: &'static str,
    map: Map,
    becomes: &'static [&'static str],
    effect: Effect,
    reason: &'static str,
) -> Word {
    Word { vendors, kind, name, on, map, becomes, effect, reason }
}

/// A mapped attribute; what cannot be mapped would change what the element does.
pub(super) const fn to(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    map: Map,
    becomes: &'static [&'static str],
    reason: &'static str,
) -> Word {
    word(vendors, Kind::Attribute, name, on, map, becomes, Effect::Refused, reason)
}

/// A mapped extension element; what cannot be mapped would change what the element does.
pub(super) const fn child(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    map: Map,
    becomes: &'static [&'static str],
    reason: &'static str,
) -> Word {
    word(vendors, Kind::Element, name, on, map, becomes, Effect::Refused, reason)
}

/// A mapped attribute without which the element does the same: where it is not mapped, as in a definition of before it
/// was, publishing warns.
pub(super) const fn soft(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    map: Map,
    becomes: &'static [&'static str],
    reason: &'static str,
) -> Word {
    word(vendors, Kind::Attribute, name, on, map, becomes, Effect::Told, reason)
}

/// An attribute without a bearing on what is executed.
pub(super) const fn quiet(vendors: u8, name: &'static str, on: &'static str, reason: &'static str) -> Word {
    word(vendors, Kind::Attribute, name, on, Map::Keep, &[], Effect::Quiet, reason)
}

/// An attribute that asks for what is not there.
pub(super) const fn no(vendors: u8, name: &'static str, on: &'static str, reason: &'static str) -> Word {
    word(vendors, Kind::Attribute, name, on, Map::Keep, &[], Effect::Refused, reason)
}

/// An attribute that asks for what is not there, unless it has the value that is the rule here.
pub(super) const fn unless(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    value: &'static str,
    reason: &'static str,
) -> Word {
    word(vendors, Kind::Attribute, name, on, Map::Unless(value), &[], Effect::Refused, reason)
}

/// An attribute without an effect that a reader of the model may expect.
pub(super) const fn told(vendors: u8, name: &'static str, on: &'static str, reason: &'static str) -> Word {
    word(vendors, Kind::Attribute, name, on, Map::Keep, &[], Effect::Told, reason)
}

/// An extension element with this effect that is not mapped.
pub(super) const fn kept(
    vendors: u8,
    name: &'static str,
    on: &'static str,
    effect: Effect,
    reason: &'static str,
) -> Word {
    word(vendors, Kind::Element, name, on, Map::Keep, &[], effect, reason)
}
