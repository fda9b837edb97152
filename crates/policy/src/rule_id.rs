//! Ids as rules name them.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use uuid::Uuid;

use crate::facts::ANY;
use crate::ownership::OWN;
use crate::permission::ResourceType;

/// The longest name of a thing, in bytes.
const NAME_MAX: usize = 200;

/// Id of a thing of any kind, as rules name it: one that was made here, or a name that people gave.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleId {
    /// Made here.
    Uuid(Uuid),
    /// Given by people.
    Name(Arc<str>),
}

impl RuleId {
    /// Reads an id of a kind of thing; none when it is not spelled as ids of that kind are.
    #[must_use]
    pub fn read(kind: ResourceType, text: &str) -> Option<Self> {
        match Self::of_uuid(text) {
            Some(id) => Some(id),
            None if kind.is_named() => Self::of_name(text),
            None => None,
        }
    }

    /// Reads an id of a thing whose kind is open. An id in another spelling than its own is no name.
    #[must_use]
    pub fn read_any(text: &str) -> Option<Self> {
        match Self::of_uuid(text) {
            Some(id) => Some(id),
            None if Uuid::try_parse(text.trim()).is_ok() => None,
            None => Self::of_name(text),
        }
    }

    /// Stand-in for the ids of all things of a kind, as `*` is in rules: no thing has it.
    pub(crate) fn any() -> &'static Self {
        static EVERY: LazyLock<RuleId> = LazyLock::new(|| RuleId::Name(ANY.into()));
        &EVERY
    }

    /// Whether it stands for all things of a kind.
    pub(crate) fn is_any(&self) -> bool {
        matches!(self, Self::Name(name) if &**name == ANY)
    }

    /// Whether it is an id that was made here, and no name.
    pub(crate) const fn is_made_here(&self) -> bool {
        match self {
            Self::Uuid(_) => true,
            Self::Name(_) => false,
        }
    }

    // One id has one spelling, hyphenated and in small letters.
    fn of_uuid(text: &str) -> Option<Self> {
        let canonical = text.len() == 36 && !text.bytes().any(|byte| byte.is_ascii_uppercase());
        if canonical { Uuid::try_parse(text).ok().map(Self::Uuid) } else { None }
    }

    fn of_name(text: &str) -> Option<Self> {
        let fits = !text.is_empty() && text.len() <= NAME_MAX && text.trim() == text && text != ANY;
        (fits && !text.chars().any(char::is_control)).then(|| Self::Name(text.into()))
    }
}

/// Hash of the id alone, in one step for one that was made here: each decision looks some up.
impl Hash for RuleId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Uuid(id) => state.write_u128(id.as_u128()),
            Self::Name(name) => name.hash(state),
        }
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid(id) => id.hyphenated().fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// Selector of a stored rule: the things that the rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredSelector {
    /// All of its kind: `*`.
    All,
    /// The caller's own of its kind: `own`.
    Own,
    /// One thing.
    One(RuleId),
    /// A text that is no id of its kind: an allow of it is nothing, a deny of it denies all of its kind.
    Unreadable,
}

impl StoredSelector {
    /// Reads the selector of a rule about a kind of thing, or about things of every kind.
    #[must_use]
    pub fn read(kind: Option<ResourceType>, text: &str) -> Self {
        if text == ANY {
            return Self::All;
        }
        // Reserved for all kinds: where nothing is anybody's own it is no name either.
        if text == OWN {
            let has_own = kind.is_some_and(ResourceType::has_own);
            return if has_own { Self::Own } else { Self::Unreadable };
        }
        let id = match kind {
            Some(kind) => RuleId::read(kind, text),
            None => RuleId::read_any(text),
        };
        id.map_or(Self::Unreadable, Self::One)
    }

    /// Canonical text of a selector that was stored in another spelling than its own: with capitals, spaces or
    /// braces, or without hyphens. None for one that no spelling makes an id of its kind. A `*` or an `own` with spaces
    /// is none: an allow that was nothing does not become one of more.
    #[must_use]
    pub fn respelled(kind: Option<ResourceType>, text: &str) -> Option<String> {
        let trimmed = text.trim();
        let canonical = match Uuid::try_parse(trimmed) {
            Ok(id) => id.hyphenated().to_string(),
            Err(_) => trimmed.to_owned(),
        };
        match Self::read(kind, &canonical) {
            Self::One(id) => Some(id.to_string()),
            Self::All | Self::Own | Self::Unreadable => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    #[test]
    fn a_selector_of_before_is_read_from_any_spelling_of_its_id() {
        let kind = Some(ResourceType::Workflow);
        for text in [&ID.to_uppercase(), &ID.replace('-', ""), &format!("{{{ID}}}"), &format!(" {ID} "), ID] {
            assert_eq!(StoredSelector::respelled(kind, text).as_deref(), Some(ID), "{text}");
            assert_eq!(StoredSelector::respelled(None, text).as_deref(), Some(ID), "{text}");
        }
        for text in ["order-approval", " * ", "", "01890a5d"] {
            assert_eq!(StoredSelector::respelled(kind, text), None, "{text}");
        }
        let named = Some(ResourceType::VectorDatabase);
        assert_eq!(StoredSelector::respelled(named, " manuals ").as_deref(), Some("manuals"));
    }

    #[test]
    fn one_s_own_is_selected_where_there_is_such_a_thing_and_in_one_spelling() {
        let read = |kind, text| StoredSelector::read(kind, text);
        assert_eq!(read(Some(ResourceType::Run), OWN), StoredSelector::Own);
        for kind in ResourceType::ALL.iter().filter(|kind| !kind.has_own()) {
            assert_eq!(read(Some(*kind), OWN), StoredSelector::Unreadable, "{kind}");
        }
        assert_eq!(read(None, OWN), StoredSelector::Unreadable);
        for text in ["Own", "OWN", " own", "own "] {
            assert_eq!(read(Some(ResourceType::Run), text), StoredSelector::Unreadable, "{text}");
            assert_eq!(StoredSelector::respelled(Some(ResourceType::Run), text), None, "{text}");
        }
    }

    #[test]
    fn an_id_has_one_spelling_and_a_name_is_one_of_a_named_kind() {
        assert_eq!(RuleId::read(ResourceType::Run, ID).unwrap().to_string(), ID);
        assert_eq!(RuleId::read(ResourceType::VectorDatabase, ID), RuleId::read(ResourceType::Run, ID));
        let others =
            [&ID.to_uppercase(), &ID.replace('-', ""), &format!("{{{ID}}}"), &format!(" {ID}"), "r1"];
        for other in others {
            assert_eq!(RuleId::read(ResourceType::Run, other), None, "{other}");
            assert_eq!(StoredSelector::read(Some(ResourceType::Run), other), StoredSelector::Unreadable);
            assert_eq!(RuleId::read_any(other).is_some(), other == "r1", "{other}");
        }
        for no_name in ["", " a", "a\u{7}", "*", &"a".repeat(201)] {
            assert_eq!(RuleId::read(ResourceType::VectorDatabase, no_name), None, "{no_name}");
        }
        let name = RuleId::read(ResourceType::VectorDatabase, "manuals").unwrap();
        assert_eq!(StoredSelector::read(None, "manuals"), StoredSelector::One(name));
    }
}
