//! Kinds of access as types: what a row of the operations table asks for, and the proof that it was given.

use std::fmt;
use std::marker::PhantomData;

use heddle_kernel::TenantId;

use crate::capability::{Capability, Lists};
use crate::filter::AccessFilter;
use crate::resource::{Key, PlaceOf, Resource};

/// Kind of access that a row of the table grants. A handler is bound to the row's kind: one of another kind
/// does not compile.
pub trait Access: Send + Sync + 'static {
    /// Proof that the gate hands over.
    type Proof: Send + Sync + 'static;
}

macro_rules! markers {
    ($($(#[$doc:meta])* $name:ident $(<$capability:ident: $bound:ident>)? => $proof:ty;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name $(<$capability: $bound>(PhantomData<fn() -> $capability>))?;

        impl $(<$capability: $bound>)? Access for $name $(<$capability>)? {
            type Proof = $proof;
        }
    )+};
}

markers! {
    /// Anybody.
    Public => ();
    /// Whoever is signed in; the operation is about the caller's own things.
    SignedIn => OwnAccount;
    /// Whoever may do `C` to all of its kind, such as create one.
    OnKind<C: Capability> => AuthorizedKind<C>;
    /// Whoever may do `C` to all of its kind within the thing that the path names, such as add one to it.
    OnKindWithin<C: Capability> => AuthorizedKindWithin<C>;
    /// Whoever may do `C` to the one thing that the path names.
    OnOne<C: Capability> => Authorized<C>;
    /// Whoever may do `C` to anything of its kind.
    OnList<C: Lists> => AuthorizedList<C>;
    /// Whoever may do `C` to anything of its kind within the thing that the path names.
    OnListWithin<C: Lists> => AuthorizedListWithin<C>;
    /// Whoever may do `C` to some thing of its kind, which is still to be found.
    OnSome<C: Capability> => AuthorizedSome<C>;
    /// Whoever may do `C` to the one thing that is found when what the path names is loaded.
    OnLoaded<C: Capability> => Authorized<C>;
    /// Whoever may do `C` to the one thing that is found by what the body names.
    OnNamed<C: Capability> => Authorized<C>;
}

/// Whoever may do `C`, or, where what the path names belongs to a thing of the other kind, `D`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnEither<C: Capability, D: Capability>(PhantomData<fn() -> (C, D)>);

impl<C: Capability, D: Capability> Access for OnEither<C, D> {
    type Proof = AuthorizedEither<C, D>;
}

/// Proof that a caller may do `C` to a thing, or `D` to one of another kind.
#[derive(Debug)]
pub enum AuthorizedEither<C: Capability, D: Capability> {
    /// The thing is of the kind of `C`.
    One(Authorized<C>),
    /// The thing is of the kind of `D`.
    Other(Authorized<D>),
}

/// Proof that the caller's account is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnAccount(pub(crate) ());

/// Proof that a caller may do `C` to one thing; it carries the thing's key. Only [`crate::Snapshot`] makes one.
pub struct Authorized<C: Capability> {
    pub(crate) key: Key<C::On>,
}

impl<C: Capability> Authorized<C> {
    /// The thing.
    #[must_use]
    pub const fn key(&self) -> &Key<C::On> {
        &self.key
    }

    /// The thing's id.
    #[must_use]
    pub fn id(&self) -> <C::On as Resource>::Id {
        self.key.id()
    }

    /// The organisation.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.key.tenant()
    }
}

impl<C: Capability> fmt::Debug for Authorized<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorized").field("of", &C::NAME).field("key", &self.key).finish_non_exhaustive()
    }
}

/// Proof that a caller may do `C` to all of its kind. Only [`crate::Snapshot`] makes one.
pub struct AuthorizedKind<C: Capability> {
    pub(crate) tenant: TenantId,
    pub(crate) of: PhantomData<fn() -> C>,
}

impl<C: Capability> AuthorizedKind<C> {
    /// The organisation.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }
}

impl<C: Capability> fmt::Debug for AuthorizedKind<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizedKind").field("of", &C::NAME).finish_non_exhaustive()
    }
}

/// Proof that a caller may do `C` to all of its kind that stands within one thing. Only [`crate::Snapshot`] makes one.
pub struct AuthorizedKindWithin<C: Capability> {
    pub(crate) kind: AuthorizedKind<C>,
    pub(crate) place: PlaceOf<C::On>,
}

impl<C: Capability> AuthorizedKindWithin<C> {
    /// The organisation.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.kind.tenant()
    }

    /// Place within which the things stand.
    #[must_use]
    pub const fn place(&self) -> &PlaceOf<C::On> {
        &self.place
    }
}

impl<C: Capability> fmt::Debug for AuthorizedKindWithin<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizedKindWithin")
            .field("of", &C::NAME)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// Proof that a caller may do `C` to what the filter lets through. Only [`crate::Snapshot`] makes one.
pub struct AuthorizedSome<C: Capability> {
    pub(crate) filter: AccessFilter<C::On>,
    pub(crate) tenant: TenantId,
}

impl<C: Capability> AuthorizedSome<C> {
    /// The things that `C` may be done to.
    #[must_use]
    pub const fn filter(&self) -> &AccessFilter<C::On> {
        &self.filter
    }

    /// The organisation.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }
}

impl<C: Capability> fmt::Debug for AuthorizedSome<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizedSome")
            .field("of", &C::NAME)
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}

/// Proof that a caller may list what the filter lets through. Only [`crate::Snapshot`] makes one.
pub struct AuthorizedList<C: Lists> {
    pub(crate) filter: AccessFilter<C::On>,
}

impl<C: Lists> AuthorizedList<C> {
    /// The things to show.
    #[must_use]
    pub const fn filter(&self) -> &AccessFilter<C::On> {
        &self.filter
    }
}

impl<C: Lists> fmt::Debug for AuthorizedList<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizedList")
            .field("of", &C::NAME)
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}

/// Proof that a caller may list what the filter lets through of what stands within one thing. Only
/// [`crate::Snapshot`] makes one.
pub struct AuthorizedListWithin<C: Lists> {
    pub(crate) list: AuthorizedList<C>,
    pub(crate) place: PlaceOf<C::On>,
}

impl<C: Lists> AuthorizedListWithin<C> {
    /// The things to show.
    #[must_use]
    pub const fn filter(&self) -> &AccessFilter<C::On> {
        self.list.filter()
    }

    /// Place within which the things stand.
    #[must_use]
    pub const fn place(&self) -> &PlaceOf<C::On> {
        &self.place
    }
}

impl<C: Lists> fmt::Debug for AuthorizedListWithin<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizedListWithin")
            .field("list", &self.list)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
