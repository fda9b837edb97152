//! Access filters as SQL: a list shows what its reader may read, and the database decides it row by row.

use heddle_kernel::EventId;

use crate::types::Id;

/// The ids among the names of an access filter, in the one spelling of an id; what is none names no row.
#[must_use]
pub fn ids(names: &[String]) -> Vec<Id> {
    names.iter().filter_map(|name| name.parse::<EventId>().ok()).map(Id::from).collect()
}

/// Narrows a boxed query to what an access filter permits: `within!(query, filter, id)`, or
/// `within!(query, filter, id, parent)` where rows of several parents are listed; `id` is the column that names the
/// filter's resource and `parent` the one that names what the resource belongs to. A filter that permits nothing at
/// all (`is_empty`) is asked before there is a query.
#[macro_export]
macro_rules! within {
    ($query:expr, $filter:expr, $id:expr) => {{
        let mut query = $query;
        if !$filter.all {
            query = query.filter($id.eq_any($crate::filter::ids(&$filter.listed)));
        }
        if !$filter.denied.is_empty() {
            query = query.filter($id.ne_all($crate::filter::ids(&$filter.denied)));
        }
        query
    }};
    ($query:expr, $filter:expr, $id:expr, $parent:expr) => {{
        let mut query = $crate::within!($query, $filter, $id);
        if !$filter.denied_parents.is_empty() {
            query = query.filter($parent.ne_all($crate::filter::ids(&$filter.denied_parents)));
        }
        query
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn an_id_has_one_spelling() {
        let id = Uuid::from_u128(0xabc);
        let names = [id.to_string(), id.to_string().to_uppercase(), id.simple().to_string(), "*".to_owned()];
        assert_eq!(ids(&names), [Id(id)]);
    }
}
