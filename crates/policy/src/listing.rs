//! Listing of all rights, in pages: what each action reaches of each type, such that it agrees with the decisions.

use serde::{Deserialize, Serialize};

use crate::decision::{DeniedPlace, DeterminingRule, Question, Reason, Target};
use crate::facts::ANY;
use crate::ownership::Ownership;
use crate::permission::{Action, ResourceType};
use crate::resource::{Parents, is_open, may_be_within};
use crate::rule_id::RuleId;
use crate::snapshot::Snapshot;

/// Scope of an action on things of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everything, but for what is excepted.
    All,
    /// The things that are listed and, where it is said, what is one's own, but for what is excepted.
    Listed,
    /// Nothing, for denies take away all that is allowed.
    Nothing,
}

/// Entry of an action's reach: a thing that is allowed or excepted, or one within which things are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Entry {
    Allowed(RuleId),
    Excepted(RuleId),
    Within(DeniedPlace),
}

/// Reach of an action on things of a type: of a whole listing, or of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedAction {
    /// The type.
    pub resource: ResourceType,
    /// The action.
    pub action: Action,
    /// Reach of the action.
    pub scope: Scope,
    /// The things that are allowed, when they are listed.
    pub ids: Vec<RuleId>,
    /// Permission for what is one's own beside them; not said when all is.
    pub own: bool,
    /// The things that are excepted.
    pub except: Vec<RuleId>,
    /// Exception of what is one's own.
    pub except_own: bool,
    /// The things within which everything is excepted.
    pub except_within: Vec<DeniedPlace>,
    /// Whether the next page goes on with this action.
    pub more: bool,
}

impl ListedAction {
    /// Whether a thing in this place is reached, by what is known of whose it is. By-place types (jobs) may also be named by
    /// what they stand within. Where it is not said within which thing of a kind it stands, an exception of any takes it.
    #[must_use]
    pub fn permits(&self, id: &RuleId, parents: &Parents, ownership: Ownership) -> bool {
        let above = || {
            let by_place = self.resource.is_selected_by_place();
            parents.iter().flatten().map(|(_, above)| above).filter(move |_| by_place)
        };
        let among = |ids: &[RuleId]| ids.contains(id) || above().any(|above| ids.contains(above));
        let allowed = match self.scope {
            Scope::All => true,
            Scope::Listed => among(&self.ids) || (self.own && ownership.gives()),
            Scope::Nothing => false,
        };
        let is_open =
            self.resource.is_selected_by_place() && self.resource.places().any(|kind| is_open(parents, kind));
        let excepted = among(&self.except)
            || (is_open && self.except.iter().any(RuleId::is_made_here))
            || (self.except_own && ownership.takes())
            || self.except_within.iter().any(|place| may_be_within(parents, place.resource, &place.id));
        allowed && !excepted
    }
}

/// Place in a listing: behind an entry of an action, or before its first one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListingPlace {
    #[serde(rename = "t")]
    resource: String,
    #[serde(rename = "a")]
    action: String,
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    entry: Option<StoredEntry>,
}

/// Entry as a place keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum StoredEntry {
    #[serde(rename = "i")]
    Allowed(String),
    #[serde(rename = "x")]
    Excepted(String),
    #[serde(rename = "w")]
    Within(String, String),
}

impl StoredEntry {
    fn of(entry: &Entry) -> Self {
        match entry {
            Entry::Allowed(id) => Self::Allowed(id.to_string()),
            Entry::Excepted(id) => Self::Excepted(id.to_string()),
            Entry::Within(place) => Self::Within(place.resource.to_string(), place.id.to_string()),
        }
    }

    fn read(&self, kind: ResourceType) -> Option<Entry> {
        // Rules about things of every type name them as those of no type are named.
        let id_of = |kind, id: &str| RuleId::read(kind, id).or_else(|| RuleId::read_any(id));
        Some(match self {
            Self::Allowed(id) => Entry::Allowed(id_of(kind, id)?),
            Self::Excepted(id) => Entry::Excepted(id_of(kind, id)?),
            Self::Within(above, id) => {
                let resource = ResourceType::parse(above)?;
                let id = if id == ANY { RuleId::any().clone() } else { id_of(resource, id)? };
                Entry::Within(DeniedPlace { resource, id })
            }
        })
    }
}

/// A place that no listing has given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the place is none of a listing")]
pub struct UnknownPlace;

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Actions that reach something, or would but for denies, by type and action.
    pub actions: Vec<ListedAction>,
    /// Place from which the next page goes on; none at the end.
    pub next: Option<ListingPlace>,
}

/// Start of a page within the listing.
struct Start {
    resource: ResourceType,
    action: Action,
    behind: Option<Entry>,
}

impl Start {
    fn read(place: &ListingPlace) -> Result<Self, UnknownPlace> {
        let read = || {
            let (resource, action) = (ResourceType::parse(&place.resource)?, Action::parse(&place.action)?);
            let behind = match &place.entry {
                Some(entry) => Some(entry.read(resource)?),
                None => None,
            };
            Some(Self { resource, action, behind })
        };
        read().ok_or(UnknownPlace)
    }
}

/// Reach of an action: what is told on each of its pages, and entries of one.
struct Reach {
    scope: Scope,
    own: bool,
    except_own: bool,
    entries: Vec<Entry>,
}

impl Reach {
    const fn without_entries(scope: Scope) -> Self {
        Self { scope, own: false, except_own: false, entries: Vec::new() }
    }
}

impl Snapshot {
    /// Reach of an action without its entries, and whether it has any; none for what nothing gives.
    fn reach_of(&self, pair: Pair) -> Option<(Reach, bool)> {
        let Pair { kind, action } = pair;
        let outline = self.outline(kind, action);
        let is_given = outline.all || outline.own || self.listed_ids(kind, action).next().is_some();
        if !is_given {
            return None;
        }
        if outline.deny_all || !(outline.all || self.is_some_left(kind, action)) {
            return Some((Reach::without_entries(Scope::Nothing), false));
        }
        let scope = if outline.all { Scope::All } else { Scope::Listed };
        let own = outline.own && !outline.denied_own;
        Some((Reach { scope, own, except_own: outline.denied_own, entries: Vec::new() }, true))
    }

    /// Entries of an action's reach in their order, behind one of them.
    fn entries<'a>(
        &'a self,
        pair: Pair,
        reach: &Reach,
        behind: Option<&'a Entry>,
    ) -> impl Iterator<Item = Entry> + use<'a> {
        let Pair { kind, action } = pair;
        let by_place = kind.is_selected_by_place();
        let lists = reach.scope == Scope::Listed && matches!(behind, None | Some(Entry::Allowed(_)));
        let allowed = lists.then(|| match behind {
            Some(Entry::Allowed(id)) => self.listed_ids(kind, action).behind(id),
            Some(Entry::Excepted(_) | Entry::Within(_)) | None => self.listed_ids(kind, action),
        });
        // What is selected by its place may be denied by another id than the one that is allowed.
        let is_left = move |id: &&RuleId| by_place || !self.is_denied_by_id(kind, action, id);
        // What is one's own may be denied by its id as well.
        let excepts =
            (reach.scope == Scope::All || by_place || reach.own) && !matches!(behind, Some(Entry::Within(_)));
        let excepted = excepts.then(|| match behind {
            Some(Entry::Excepted(id)) => self.denied_ids(kind, action).behind(id),
            Some(Entry::Allowed(_) | Entry::Within(_)) | None => self.denied_ids(kind, action),
        });
        let place = match behind {
            Some(Entry::Within(place)) => Some(place),
            Some(Entry::Allowed(_) | Entry::Excepted(_)) | None => None,
        };
        let within = self.denied_within(kind, action, place).map(Entry::Within);
        let allowed = allowed.into_iter().flatten().filter(is_left).cloned().map(Entry::Allowed);
        allowed.chain(excepted.into_iter().flatten().cloned().map(Entry::Excepted)).chain(within)
    }

    /// A page of all rights on things of these types: at most `most` ids, one at the least, from a place on. Nobody but an
    /// active member has any.
    ///
    /// # Errors
    /// [`UnknownPlace`].
    pub fn listing(
        &self,
        kinds: &[ResourceType],
        most: usize,
        from: Option<&ListingPlace>,
    ) -> Result<Listing, UnknownPlace> {
        let start = from.map(Start::read).transpose()?;
        let mut listing = Listing { actions: Vec::new(), next: None };
        if !self.is_member() {
            return Ok(listing);
        }
        let mut room = most.max(1);
        let pairs = ResourceType::ALL.iter().filter(|kind| kinds.contains(*kind));
        let pairs = pairs
            .flat_map(|kind| Action::ALL.iter().map(move |action| Pair { kind: *kind, action: *action }));
        for pair in pairs.skip_while(|pair| start.as_ref().is_some_and(|start| pair.is_before(start))) {
            let Some((reach, has_entries)) = self.reach_of(pair) else { continue };
            let behind =
                start.as_ref().filter(|start| pair.is_at(start)).and_then(|start| start.behind.as_ref());
            let entries = has_entries.then(|| self.entries(pair, &reach, behind));
            let mut entries = entries.into_iter().flatten().peekable();
            // It was told whole, on the page before.
            if behind.is_some() && entries.peek().is_none() {
                continue;
            }
            if room == 0 && entries.peek().is_some() {
                listing.next = Some(pair.place(None));
                break;
            }
            let page: Vec<Entry> = entries.by_ref().take(room).collect();
            room -= page.len();
            let more = entries.peek().is_some();
            if more {
                listing.next = Some(pair.place(page.last()));
            }
            let reach = Reach { entries: page, ..reach };
            listing.actions.push(pair.listed(reach, more));
            if more {
                break;
            }
        }
        Ok(listing)
    }

    /// Actions that may be done to one thing, and those that a deny takes: the same answer for each as a decision's. Where
    /// nobody looked whose the thing is, those that hang on that alone say so, and so do those that hang on where it stands.
    #[must_use]
    pub fn listing_of_one(&self, kind: ResourceType, target: &Target) -> Vec<ListedAction> {
        let decided = Action::ALL.iter().filter_map(|action| {
            let question = Question {
                permissions: &[],
                resource: kind.as_str(),
                action: action.as_str(),
                lists: false,
                target,
            };
            let reach = self.reach_of_one(&question)?;
            Some(Pair { kind, action: *action }.listed(reach, false))
        });
        decided.collect()
    }

    fn reach_of_one(&self, question: &Question<'_>) -> Option<Reach> {
        let unless = if question.target.id.is_some() { self.granted_unless(question) } else { Vec::new() };
        let depends_on_place = !unless.is_empty();
        let listed = |mut entries: Vec<Entry>| {
            entries.extend(unless.into_iter().map(Entry::Within));
            Reach { entries, ..Reach::without_entries(Scope::Listed) }
        };
        let itself = || -> Vec<Entry> { question.target.id.iter().cloned().map(Entry::Allowed).collect() };
        match self.granted_if(question) {
            Some(Ownership::Own) => return Some(Reach { own: true, ..listed(Vec::new()) }),
            Some(Ownership::Other) => return Some(Reach { except_own: true, ..listed(itself()) }),
            Some(Ownership::Unknown) | None => {}
        }
        match (self.verdict(question), &question.target.id) {
            (Reason::Granted, Some(_)) => Some(listed(itself())),
            (Reason::Granted, None) => Some(Reach::without_entries(Scope::All)),
            (Reason::ExplicitDeny, Some(_)) if depends_on_place => Some(listed(itself())),
            (Reason::ExplicitDeny, _) => Some(Reach::without_entries(Scope::Nothing)),
            (
                Reason::PrincipalInactive
                | Reason::NotAMember
                | Reason::UnknownResourceType
                | Reason::UnknownAction
                | Reason::PermissionMissing
                | Reason::ResourceActionNotGranted,
                _,
            ) => None,
        }
    }

    /// Those through whom rules about a listed action give it or take it, each once.
    #[must_use]
    pub fn listed_by(&self, listed: &ListedAction) -> Vec<DeterminingRule> {
        self.sources(listed.resource, listed.action)
    }
}

/// A type and an action.
#[derive(Clone, Copy)]
struct Pair {
    kind: ResourceType,
    action: Action,
}

impl Pair {
    fn is_at(self, start: &Start) -> bool {
        (self.kind, self.action) == (start.resource, start.action)
    }

    fn is_before(self, start: &Start) -> bool {
        (self.kind, self.action) < (start.resource, start.action)
    }

    fn place(self, behind: Option<&Entry>) -> ListingPlace {
        ListingPlace {
            resource: self.kind.to_string(),
            action: self.action.to_string(),
            entry: behind.map(StoredEntry::of),
        }
    }

    fn listed(self, reach: Reach, more: bool) -> ListedAction {
        let Self { kind: resource, action } = self;
        let Reach { scope, own, except_own, entries } = reach;
        let (mut ids, mut except, mut except_within) = (Vec::new(), Vec::new(), Vec::new());
        for entry in entries {
            match entry {
                Entry::Allowed(id) => ids.push(id),
                Entry::Excepted(id) => except.push(id),
                Entry::Within(place) => except_within.push(place),
            }
        }
        ListedAction { resource, action, scope, ids, own, except, except_own, except_within, more }
    }
}
