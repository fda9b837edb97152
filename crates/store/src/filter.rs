//! Access filters as SQL: a list shows what its reader may read, and the database decides it row by row.

use heddle_policy::resource::{In, Resource};
use heddle_policy::{AccessFilter, resource};

use crate::schema::{audit_events, audit_unsealed};
use crate::types::Id;

/// Column that names a thing of the kind `R`, by which a filter of that kind, and of no other, narrows a query.
pub trait Names<R: Resource> {}

impl Names<resource::AuditEvent> for audit_events::id {}
impl Names<resource::AuditEvent> for audit_unsealed::id {}

/// Limits that a filter sets to a column: the ids that alone are allowed, unless all are, and those that are
/// denied.
#[must_use]
pub fn at<R, C>(_: C, access: &AccessFilter<R>) -> (Option<Vec<Id>>, Vec<Id>)
where
    R: Resource<Id: Into<Id>>,
    C: Names<R>,
{
    let ids = |ids: Vec<R::Id>| ids.into_iter().map(Into::into).collect();
    ((!access.all()).then(|| ids(access.listed())), ids(access.denied()))
}

/// Limit that a filter sets to a column that names what its things stand within: the ids that are denied.
#[must_use]
pub fn above<P, R, C>(_: C, access: &AccessFilter<R>) -> Vec<Id>
where
    P: Resource<Id: Into<Id>>,
    R: In<P>,
    C: Names<P>,
{
    access.denied_within::<P>().into_iter().map(Into::into).collect()
}

/// Narrows a boxed query to what an access filter permits: `within!(query, access, id)`, or
/// `within!(query, access, id, parent)` where rows of several parents are listed; `id` is the column that names the
/// filter's kind and `parent` the one that names what its things stand within: any other does not compile. A filter
/// that permits nothing at all (`is_empty`) is asked before there is a query.
#[macro_export]
macro_rules! within {
    ($query:expr, $access:expr, $id:expr) => {{
        let mut query = $query;
        let (listed, denied) = $crate::filter::at($id, $access);
        if let Some(listed) = listed {
            query = query.filter($id.eq_any(listed));
        }
        if !denied.is_empty() {
            query = query.filter($id.ne_all(denied));
        }
        query
    }};
    ($query:expr, $access:expr, $id:expr, $parent:expr) => {{
        let mut query = $crate::within!($query, $access, $id);
        let denied = $crate::filter::above($parent, $access);
        if !denied.is_empty() {
            query = query.filter($parent.ne_all(denied));
        }
        query
    }};
}

/// Compiles only when a column does not name a thing of a kind: otherwise two rules would apply, and neither is chosen.
#[macro_export]
macro_rules! does_not_name {
    ($column:ty, $kind:ty) => {{
        trait Either<Rule> {
            fn rule() {}
        }
        impl<C> Either<()> for C {}
        impl<C: $crate::filter::Names<$kind>> Either<u8> for C {}
        <$column as Either<_>>::rule();
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::EventId;
    use uuid::Uuid;

    #[test]
    fn a_filter_is_told_by_ids_of_its_own_kind() {
        let event = EventId(Uuid::from_u128(1));
        let access = AccessFilter::only([event]).but([event]);
        assert_eq!(at(audit_events::id, &access), (Some(vec![Id::from(event)]), vec![Id::from(event)]));
        assert_eq!(at(audit_events::id, &AccessFilter::everything()), (None, Vec::new()));
        does_not_name!(audit_events::organization_id, resource::AuditEvent);
        does_not_name!(audit_events::id, resource::Run);
    }
}
