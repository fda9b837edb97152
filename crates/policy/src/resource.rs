//! Kinds of things as types, so that the key of one can't stand where another's is meant.

mod instance;

pub use instance::{Definition, Instance, InstanceKey};

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use heddle_kernel::{
    CaseId, CaseTypeId, ConnectionId, DatabaseName, EventId, FileId, GrantId, GroupId, HookId,
    IngestionJobId, LicenceId, ModelConnectionId, ModelDeploymentId, RoleId, RunId, SessionId, TenantId,
    TokenId, UserId, WebhookId, WorkflowId,
};

use crate::ownership::Person;
use crate::permission::ResourceType;
use crate::rule_id::RuleId;

/// The most kinds of things that one thing stands within: a job in a run, and that in a workflow.
pub const DEPTH: usize = 2;

/// The things that a thing stands within, the nearest first.
pub type Parents = [Option<(ResourceType, RuleId)>; DEPTH];

/// Whether what stands within these things surely stands within none of a kind: what belongs to a run or a workflow belongs
/// to no case, and the other way round.
pub(crate) fn is_elsewhere(parents: &Parents, kind: ResourceType) -> bool {
    let Some(own) = kind.definition_kind() else { return false };
    let named = || parents.iter().flatten().filter_map(|(known, _)| known.definition_kind());
    named().next().is_some() && named().all(|known| known != own)
}

/// Whether what stands within these things may stand within one of a kind of which nobody said which.
pub(crate) fn is_open(parents: &Parents, kind: ResourceType) -> bool {
    !parents.iter().flatten().any(|(known, _)| *known == kind) && !is_elsewhere(parents, kind)
}

/// Whether what stands within these things stands within the one of this kind and id, or within any where it is `*`, or
/// may: nobody said within which of the kind.
pub(crate) fn may_be_within(parents: &Parents, kind: ResourceType, id: &RuleId) -> bool {
    let named = || parents.iter().flatten().find(|(known, _)| *known == kind);
    !is_elsewhere(parents, kind) && (id.is_any() || named().is_none_or(|(_, known)| known == id))
}

/// Id of one kind of thing.
pub trait ResourceId: Clone + fmt::Debug + fmt::Display + Eq + Send + Sync + 'static {
    /// Reads it; none when it is not spelled as its kind is.
    fn read(text: &str) -> Option<Self>;
    /// As rules name it.
    fn rule_id(&self) -> RuleId;
    /// From how rules name it.
    fn of_rule(id: &RuleId) -> Option<Self>;
}

macro_rules! uuid_ids {
    ($($id:ident)+) => {$(
        impl ResourceId for $id {
            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn rule_id(&self) -> RuleId {
                RuleId::Uuid(self.0)
            }

            fn of_rule(id: &RuleId) -> Option<Self> {
                match id {
                    RuleId::Uuid(id) => Some(Self(*id)),
                    RuleId::Name(_) => None,
                }
            }
        }
    )+};
}

uuid_ids! {
    CaseId CaseTypeId ConnectionId EventId FileId GrantId GroupId HookId IngestionJobId LicenceId
    ModelConnectionId ModelDeploymentId RoleId RunId SessionId TenantId TokenId UserId WebhookId WorkflowId
}

/// Name of a vector database: no such name reads as an id that is made here.
impl ResourceId for DatabaseName {
    fn read(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }

    fn rule_id(&self) -> RuleId {
        RuleId::Name(self.as_str().into())
    }

    fn of_rule(id: &RuleId) -> Option<Self> {
        match id {
            RuleId::Uuid(_) => None,
            RuleId::Name(name) => Self::parse(name).ok(),
        }
    }
}

/// Id of any kind, for kinds whose things have no use case yet.
impl ResourceId for RuleId {
    fn read(text: &str) -> Option<Self> {
        Self::read_any(text)
    }

    fn rule_id(&self) -> RuleId {
        self.clone()
    }

    fn of_rule(id: &RuleId) -> Option<Self> {
        Some(id.clone())
    }
}

/// Kind of thing that a rule can be about.
pub trait Resource: Sized + Send + Sync + 'static {
    /// The kind's word.
    const TYPE: ResourceType;
    /// Type of the ids of its things.
    type Id: ResourceId;
    /// Parent: the kind that its things belong to, or [`Top`].
    type Parent: Ancestor;
}

/// Parent of a kind of things: another kind, or [`Top`].
pub trait Ancestor {
    /// Type of the place of a thing.
    type Place: Place;
}

/// Type of the place of a thing of the kind `R`: nowhere, or within a thing of its parent's kind.
pub type PlaceOf<R> = <<R as Resource>::Parent as Ancestor>::Place;

/// Parent of the kinds that belong to none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Top {}

impl Ancestor for Top {
    type Place = ();
}

impl<P: Resource> Ancestor for P {
    type Place = Within<P>;
}

/// Parent of the kinds whose things belong to one of the kind `A`, or to one of the kind `B`.
#[derive(Debug)]
pub struct OneOf<A, B>(PhantomData<fn() -> (A, B)>);

impl<A: Resource, B: Resource> Ancestor for OneOf<A, B> {
    type Place = EitherPlace<Within<A>, Within<B>>;
}

/// Place in one of two manners.
#[derive(Debug, Clone, PartialEq)]
pub enum EitherPlace<A, B> {
    /// Place in the manner of most.
    One(A),
    /// Place in the other manner.
    Other(B),
}

impl<A: Place, B: Place> Place for EitherPlace<A, B> {
    const DEPTH: usize = A::DEPTH;

    fn read<'a>(ids: impl Iterator<Item = &'a str>) -> Option<Self> {
        A::read(ids).map(Self::One)
    }

    fn parents(&self) -> Parents {
        match self {
            Self::One(place) => place.parents(),
            Self::Other(place) => place.parents(),
        }
    }
}

/// Place of a thing: the things that it stands within.
pub trait Place: Clone + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// Number of things that it is within.
    const DEPTH: usize;

    /// Reads it from the ids of the things, the nearest first.
    fn read<'a>(ids: impl Iterator<Item = &'a str>) -> Option<Self>;
    /// The things, the nearest first.
    fn parents(&self) -> Parents;
}

impl Place for () {
    const DEPTH: usize = 0;

    fn read<'a>(_: impl Iterator<Item = &'a str>) -> Option<Self> {
        Some(())
    }

    fn parents(&self) -> Parents {
        [const { None }; DEPTH]
    }
}

/// Place within a thing of the kind `P`.
pub struct Within<P: Resource> {
    id: P::Id,
    place: PlaceOf<P>,
}

impl<P: Resource<Parent = Top>> Within<P> {
    /// Within a thing that stands nowhere itself.
    #[must_use]
    pub const fn of(id: P::Id) -> Self {
        Self { id, place: () }
    }
}

impl<P: Resource> Within<P> {
    /// Within a thing with its own place.
    #[must_use]
    pub const fn at(id: P::Id, place: PlaceOf<P>) -> Self {
        Self { id, place }
    }

    /// The nearest thing.
    #[must_use]
    pub fn id(&self) -> P::Id {
        self.id.clone()
    }

    /// Place of that thing.
    #[must_use]
    pub const fn place(&self) -> &PlaceOf<P> {
        &self.place
    }
}

impl<P: Resource> Clone for Within<P> {
    fn clone(&self) -> Self {
        Self { id: self.id.clone(), place: self.place.clone() }
    }
}

impl<P: Resource> PartialEq for Within<P> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.place == other.place
    }
}

impl<P: Resource> fmt::Debug for Within<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in {} {} {:?}", P::TYPE, self.id, self.place)
    }
}

impl<P: Resource> Place for Within<P> {
    const DEPTH: usize = 1 + <PlaceOf<P> as Place>::DEPTH;

    fn read<'a>(mut ids: impl Iterator<Item = &'a str>) -> Option<Self> {
        let id = P::Id::read(ids.next()?)?;
        Some(Self { id, place: PlaceOf::<P>::read(ids)? })
    }

    fn parents(&self) -> Parents {
        let [above, _] = self.place.parents();
        [Some((P::TYPE, self.id.rule_id())), above]
    }
}

/// Kind whose things stand, near or far, within things of the kind `P`.
pub trait In<P: Resource>: Resource {}

macro_rules! resources {
    ($($name:ident $id:ident $(in $parent:ident $($far:ident)* $(/ $other:ident $($beyond:ident)*)?)?;)+) => {$(
        #[doc = concat!("The kind `", stringify!($name), "`.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {}

        impl Resource for $name {
            const TYPE: ResourceType = ResourceType::$name;
            type Id = $id;
            type Parent = resources!(@parent $($parent $(/ $other)?)?);
        }

        $(
            impl In<$parent> for $name {}
            $(impl In<$far> for $name {})*
            $(
                impl In<$other> for $name {}
                $(impl In<$beyond> for $name {})*
            )?
        )?
    )+

        /// Every kind that is a type: its word, and the words of what it may belong to, the nearest first.
        pub const KINDS: &[(ResourceType, &[ResourceType])] = &[
            $((ResourceType::$name, &[$(
                ResourceType::$parent
                $(, ResourceType::$far)*
                $(, ResourceType::$other $(, ResourceType::$beyond)*)?
            )?])),+
        ];
    };
    (@parent) => { Top };
    (@parent $parent:ident) => { $parent };
    (@parent $parent:ident / $other:ident) => { OneOf<$parent, $other> };
}

resources! {
    ApiToken TokenId;
    AuditEvent EventId;
    Authorization RuleId;
    Case CaseId in CaseType;
    CaseType CaseTypeId;
    Connection ConnectionId;
    DeadLetter EventId in Run Workflow / Case CaseType;
    Deployment ModelDeploymentId;
    Document FileId in VectorDatabase;
    Grant GrantId;
    Group GroupId;
    Hook HookId;
    IngestionJob IngestionJobId in VectorDatabase;
    Job RuleId in Run Workflow / Case CaseType;
    Licence LicenceId;
    Member UserId;
    Model ModelDeploymentId;
    ModelConnection ModelConnectionId;
    ModelProvider RuleId;
    Organization TenantId;
    Role RoleId;
    Run RunId in Workflow;
    Session SessionId;
    User UserId;
    VectorDatabase DatabaseName;
    Webhook WebhookId;
    Workflow WorkflowId;
}

/// Key of one thing: its organisation, its id, and where it stands. It comes from a proof, or from a row.
///
/// Where a thing stands is only claimed by whoever asks for it, so what loads by a key filters by all of it. That holds
/// for whose it is as well: a proof that rests on that alone carries it on, and who loads the thing looks again.
pub struct Key<R: Resource> {
    tenant: TenantId,
    id: R::Id,
    place: PlaceOf<R>,
    owner: Option<Arc<Person>>,
}

impl<R: Resource> Key<R> {
    /// The key of a thing that was loaded: for stores, and for work that nobody asked for.
    #[must_use]
    pub const fn of_stored(tenant: TenantId, id: R::Id, place: PlaceOf<R>) -> Self {
        Self { tenant, id, place, owner: None }
    }

    pub(crate) const fn of_claimed(tenant: TenantId, id: R::Id, place: PlaceOf<R>) -> Self {
        Self { tenant, id, place, owner: None }
    }

    pub(crate) fn resting_on(self, owner: Option<Arc<Person>>) -> Self {
        Self { owner, ..self }
    }

    /// The person whose own the thing must still be when it is loaded; none where nothing depends on it.
    #[must_use]
    pub fn owner(&self) -> Option<&Person> {
        self.owner.as_deref()
    }

    /// The organisation.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> R::Id {
        self.id.clone()
    }

    /// Place of the thing.
    #[must_use]
    pub const fn place(&self) -> &PlaceOf<R> {
        &self.place
    }
}

impl<R: Resource<Parent = P>, P: Resource> Key<R> {
    /// The id of the thing that it stands within.
    #[must_use]
    pub fn within(&self) -> P::Id {
        self.place.id()
    }
}

impl<R: Resource> Clone for Key<R> {
    fn clone(&self) -> Self {
        let owner = self.owner.clone();
        Self { tenant: self.tenant, id: self.id.clone(), place: self.place.clone(), owner }
    }
}

/// Keys of the same thing in the same place.
impl<R: Resource> PartialEq for Key<R> {
    fn eq(&self, other: &Self) -> bool {
        self.tenant == other.tenant && self.id == other.id && self.place == other.place
    }
}

impl<R: Resource> fmt::Debug for Key<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?} of {}", R::TYPE, self.id, self.place, self.tenant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_types_belong_to_what_the_table_says() {
        for (kind, parents) in KINDS {
            assert!(kind.places().eq(parents.iter().copied()), "{kind}");
            assert!(kind.ancestors().count() <= DEPTH, "{kind}");
        }
        let deepest = ResourceType::ALL.iter().map(|kind| kind.ancestors().count()).max();
        assert_eq!(deepest, Some(DEPTH));
    }

    #[test]
    fn a_vector_database_is_known_by_its_name_and_by_no_id() {
        let name = DatabaseName::read("user-manuals").unwrap();
        assert_eq!(DatabaseName::of_rule(&name.rule_id()), Some(name.clone()));
        let id = RuleId::read_any("01890a5d-ac96-774b-bcce-b302099a8057").unwrap();
        assert_eq!(DatabaseName::of_rule(&id), None);
        let [near, far] = PlaceOf::<Document>::read(["user-manuals"].into_iter()).unwrap().parents();
        assert_eq!((near, far), (Some((ResourceType::VectorDatabase, name.rule_id())), None));
    }

    #[test]
    fn a_place_is_read_from_its_ids_the_nearest_first() {
        let (run, workflow) =
            ("01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8058");
        let place = PlaceOf::<Job>::read([run, workflow].into_iter()).unwrap();
        let [near, far] = place.parents();
        assert_eq!(near, Some((ResourceType::Run, RuleId::read_any(run).unwrap())));
        assert_eq!(far, Some((ResourceType::Workflow, RuleId::read_any(workflow).unwrap())));
        assert_eq!(PlaceOf::<Job>::read([run].into_iter()), None);
        assert_eq!(PlaceOf::<Run>::read([workflow.to_uppercase().as_str()].into_iter()), None);
    }

    #[test]
    fn what_belongs_to_a_run_belongs_to_no_case() {
        let id = |n: u128| RuleId::Uuid(uuid::Uuid::from_u128(n));
        let of_run = [Some((ResourceType::Run, id(1))), Some((ResourceType::Workflow, id(2)))];
        let of_case = [Some((ResourceType::Case, id(1))), Some((ResourceType::CaseType, id(2)))];
        let nowhere: Parents = [None, None];
        let within = |parents: &Parents, kind| (1..4).map(|n| may_be_within(parents, kind, &id(n))).collect();
        let all = |parents: &Parents, kind| may_be_within(parents, kind, RuleId::any());
        let (none, any) = (vec![false; 3], vec![true; 3]);
        let told: Vec<Vec<bool>> = vec![
            within(&of_run, ResourceType::Run),
            within(&of_run, ResourceType::Case),
            within(&of_case, ResourceType::CaseType),
            within(&of_case, ResourceType::Workflow),
            within(&nowhere, ResourceType::Case),
        ];
        assert_eq!(told, [vec![true, false, false], none.clone(), vec![false, true, false], none, any]);
        assert!(all(&of_run, ResourceType::Workflow) && !all(&of_run, ResourceType::Case));
        assert!(all(&of_case, ResourceType::Case) && !all(&of_case, ResourceType::Run));
        assert!(all(&nowhere, ResourceType::Run) && all(&nowhere, ResourceType::Case));
        // Of a case alone it is still open within which case type it is.
        let of_some = [Some((ResourceType::Case, id(1))), None];
        assert!(is_open(&of_some, ResourceType::CaseType) && !is_open(&of_some, ResourceType::Workflow));
    }
}
