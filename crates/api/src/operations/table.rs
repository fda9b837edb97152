//! From the rows to types.

use heddle_policy::capability::{self, Capability};
use heddle_policy::licence::{Entitlement, ServiceRole};
use heddle_policy::resource::Place as _;
use heddle_policy::{Action, PlaceOf, Resource, ResourceType};

use super::operation_id::DerivedId;
use super::spec::{
    Area, BodyMedia, Document, Method, OperationSpec, OutputKind, ResourceAction, Security, Selector,
    Stability,
};
use super::{
    COMPLETION_LIMIT, CREDENTIALS_LIMIT, DEFINITION_LIMIT, INFERENCE_LIMIT, JSON_LIMIT, Operation, Visitor,
};
use crate::contract::{NoBody, NoPath, NoQuery, Nothing};

/// Stops the compiler at a row that does not say where its thing stands.
const fn hold(whole: bool) {
    assert!(whole, "the row does not say within what its thing stands");
}

/// Number of things that a thing of a capability's kind stands within.
const fn depth<C: Capability>() -> usize {
    <PlaceOf<C::On>>::DEPTH
}

macro_rules! security {
    (public) => { (Security::Public, None::<ResourceAction>) };
    (session) => { (Security::Session, None::<ResourceAction>) };
    (session $resource:ident $action:ident $param:literal) => {
        (
            Security::Session,
            Some(ResourceAction {
                resource: ResourceType::$resource,
                action: Action::$action,
                selector: Selector::Path { name: $param, within: &[] },
            }),
        )
    };
    ($capability:ident or $other:ident $($selector:tt)+) => { security!($capability $($selector)+) };
    ($capability:ident $($selector:tt)+) => {
        (
            Security::Permissions(<capability::$capability as Capability>::PERMISSIONS),
            Some(ResourceAction {
                resource: <<capability::$capability as Capability>::On as Resource>::TYPE,
                action: <capability::$capability as Capability>::ACTION,
                selector: security!(@selector $($selector)+),
            }),
        )
    };
    (@selector kind) => { Selector::None };
    (@selector all) => { Selector::All };
    (@selector all within $($parent:literal)+) => { Selector::AllWithin { within: &[$($parent),+] } };
    (@selector some) => { Selector::List { within: &[] } };
    (@selector list) => { Selector::List { within: &[] } };
    (@selector list within $($parent:literal)+) => { Selector::List { within: &[$($parent),+] } };
    (@selector path $param:literal) => { Selector::Path { name: $param, within: &[] } };
    (@selector path $param:literal within $($parent:literal)+) => {
        Selector::Path { name: $param, within: &[$($parent),+] }
    };
    (@selector tenant $param:literal) => { Selector::Tenant($param) };
    (@selector loaded $member:literal) => { Selector::Loaded($member) };
    (@selector named $member:literal) => { Selector::Loaded($member) };
}

macro_rules! access {
    (public) => { heddle_policy::Public };
    (session $($rest:tt)*) => { heddle_policy::SignedIn };
    ($capability:ident kind) => { heddle_policy::OnKind<capability::$capability> };
    ($capability:ident all) => { heddle_policy::OnKind<capability::$capability> };
    ($capability:ident all within $($parent:literal)+) => {
        heddle_policy::OnKindWithin<capability::$capability>
    };
    ($capability:ident some) => { heddle_policy::OnSome<capability::$capability> };
    ($capability:ident list) => { heddle_policy::OnList<capability::$capability> };
    ($capability:ident list within $($parent:literal)+) => {
        heddle_policy::OnListWithin<capability::$capability>
    };
    ($capability:ident path $($rest:tt)+) => { heddle_policy::OnOne<capability::$capability> };
    ($capability:ident tenant $($rest:tt)+) => { heddle_policy::OnOne<capability::$capability> };
    ($capability:ident or $other:ident loaded $($rest:tt)+) => {
        heddle_policy::OnEither<capability::$capability, capability::$other>
    };
    ($capability:ident loaded $($rest:tt)+) => { heddle_policy::OnLoaded<capability::$capability> };
    ($capability:ident named $($rest:tt)+) => { heddle_policy::OnNamed<capability::$capability> };
}

/// Whether a row names as many things around its own as things of its kind stand within.
macro_rules! is_whole {
    ($capability:ident path $param:literal within $($parent:literal)+) => {
        depth::<capability::$capability>() == [$($parent),+].len()
    };
    ($capability:ident path $param:literal) => { depth::<capability::$capability>() == 0 };
    ($capability:ident tenant $param:literal) => { depth::<capability::$capability>() == 0 };
    ($capability:ident all within $($parent:literal)+) => {
        depth::<capability::$capability>() == [$($parent),+].len()
    };
    ($capability:ident list within $($parent:literal)+) => {
        depth::<capability::$capability>() == [$($parent),+].len()
    };
    // Anybody's, the caller's own, all of a kind, a list over all places, and what is found by loading a row.
    (public) => { true };
    (session $($rest:tt)*) => { true };
    ($capability:ident kind) => { true };
    ($capability:ident all) => { true };
    ($capability:ident some) => { true };
    ($capability:ident list) => { true };
    ($capability:ident loaded $member:literal) => { true };
    ($capability:ident or $other:ident loaded $member:literal) => { true };
    ($capability:ident named $member:literal) => { true };
}

macro_rules! option {
    (-) => {
        None
    };
    ($text:literal) => {
        Some($text)
    };
    ($of:ident $word:ident) => {
        Some($of::$word)
    };
    ($of:ident -) => {
        None
    };
}

macro_rules! yes {
    (yes) => {
        true
    };
    (no) => {
        false
    };
}

/// Whether an operation is open while the installation is restricted: altogether, or as far as it takes access away.
macro_rules! opening {
    (yes) => {
        (true, false)
    };
    (no) => {
        (false, false)
    };
    (ending) => {
        (false, true)
    };
}

macro_rules! body {
    (@type -) => {
        NoBody
    };
    (@type $media:ident $limit:ident $ty:ty) => {
        $ty
    };
    (@media -) => {
        BodyMedia::None
    };
    (@media $media:ident $limit:ident $ty:ty) => {
        BodyMedia::$media
    };
    (@limit -) => {
        JSON_LIMIT
    };
    (@limit $media:ident $limit:ident $ty:ty) => {
        $limit
    };
}

macro_rules! output {
    (@type -) => { Nothing };
    (@type Raw $media:literal) => { Nothing };
    (@type Document [$($media:literal)+] $ty:ty) => { $ty };
    (@type $kind:ident $ty:ty) => { $ty };
    (@kind -) => { OutputKind::None };
    (@kind Raw $media:literal) => { OutputKind::Raw($media) };
    (@kind Document [$($media:literal)+] $ty:ty) => { OutputKind::Document(&[$($media),+]) };
    (@kind $kind:ident $ty:ty) => { OutputKind::$kind };
}

macro_rules! operations {
    (; $(
        $name:ident $method:ident $path:literal $document:ident $area:ident $stability:ident
        $summary:literal
        security($($security:tt)+) entitlement($entitlement:tt) role($role:tt) audit($audit:tt)
        idempotent($idempotent:ident) remediation($remediation:ident) ifmatch($if_match:ident)
        path($params:ty) query($query:ty) body($($body:tt)+) output($($output:tt)+)
        success[$($success:literal)+] errors[$($error:literal)+];
    )+) => {
        /// An operation: a row of the table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum OperationId {
            $(#[doc = concat!("`", stringify!($method), " ", $path, "`: ", $summary)] $name,)+
        }

        impl OperationId {
            /// Every operation.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The row.
            #[must_use]
            pub const fn spec(self) -> &'static OperationSpec {
                match self {
                    $(Self::$name => {
                        const SPEC: &OperationSpec = &OperationSpec {
                            id: OperationId::$name,
                            operation_id: {
                                const DERIVED: DerivedId = DerivedId::of(Method::$method, $path);
                                DERIVED.as_str()
                            },
                            method: Method::$method,
                            path: $path,
                            document: Document::$document,
                            area: Area::$area,
                            stability: Stability::$stability,
                            summary: $summary,
                            security: {
                                hold(is_whole!($($security)+));
                                security!($($security)+).0
                            },
                            resource_action: security!($($security)+).1,
                            entitlement: option!(Entitlement $entitlement),
                            service_role: option!(ServiceRole $role),
                            audit_event: option!($audit),
                            idempotent: yes!($idempotent),
                            remediation: opening!($remediation).0,
                            takes_access: opening!($remediation).1,
                            if_match: yes!($if_match),
                            body: body!(@media $($body)+),
                            body_limit: body!(@limit $($body)+),
                            output: output!(@kind $($output)+),
                            success: &[$($success),+],
                            errors: &[$($error),+],
                        };
                        SPEC
                    })+
                }
            }

            /// Visits the operation as a type.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$name => visitor.visit::<ops::$name>(),)+
                }
            }
        }

        /// Every operation as a type.
        pub mod ops {
            use super::{NoBody, NoPath, NoQuery, Nothing, Operation, OperationId, capability};
            use crate::wire::{access, audit, authorization, camunda7, camunda8, case_events, case_types, cases, conformance, connections, dead_letters, decisions, definition, directory, envelope, health, hooks, inference, jobs, licence, messages, model_connections, model_deployments, protection, runs, sessions, tasks, transform, usage, vector_databases, vector_files, vector_jobs, vector_query, webhooks, workflows};
            $(
                #[doc = concat!("`", stringify!($method), " ", $path, "`: ", $summary)]
                #[derive(Debug, Clone, Copy, PartialEq, Eq)]
                pub struct $name;

                impl Operation for $name {
                    type Access = access!($($security)+);
                    type Path = $params;
                    type Query = $query;
                    type Body = body!(@type $($body)+);
                    type Output = output!(@type $($output)+);
                    const ID: OperationId = OperationId::$name;
                }
            )+
        }
    };
}

// Each file of rows adds its own to those it is given and hands them to the next.
health_rows! { workflow_rows case_type_rows authentication_rows administration_rows job_rows dead_letter_rows connection_rows vector_rows model_rows platform_rows case_rows authorization_rows compatibility_rows operations ; }
