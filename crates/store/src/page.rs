//! Pages of a list by key (keyset): where a page goes on, how many rows it reads, and in which order.

use heddle_kernel::{Page, PageRequest, Timestamp};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::StoreError;
use crate::types::{At, Id};

/// The sort key of the last row seen, from the page's cursor.
///
/// # Errors
/// When the cursor is one of another list.
pub fn position<K: DeserializeOwned>(page: &PageRequest) -> Result<Option<K>, StoreError> {
    page.cursor.as_ref().map(|cursor| cursor.key().or(Err(StoreError::InvalidCursor))).transpose()
}

/// The sort key of the last row seen in a list by an instant and an id.
///
/// # Errors
/// As [`position`].
pub fn position_in_time(page: &PageRequest) -> Result<Option<(At, Id)>, StoreError> {
    let key: Option<(i64, Uuid)> = position(page)?;
    Ok(key.map(|(micros, id)| (At(Timestamp::from_micros(micros)), Id(id))))
}

/// The number of rows to read for a page: one more than it holds, which says that there are more.
#[must_use]
pub fn surplus(page: &PageRequest) -> i64 {
    i64::from(page.limit) + 1
}

/// A page without rows.
#[must_use]
pub const fn empty<T>() -> Page<T> {
    Page { items: Vec::new(), next: None }
}

/// Keyset paging of a boxed query: `keyset!(query, (column, id), from, ascending)` (or `descending`) adds the order
/// by column and id, and the place behind `from`, an `Option` of the last row's two values.
#[macro_export]
macro_rules! keyset {
    ($query:expr, ($column:expr, $id:expr), $from:expr, ascending) => {
        $crate::keyset!(@ $query, ($column, $id), $from, asc, gt, ge)
    };
    ($query:expr, ($column:expr, $id:expr), $from:expr, descending) => {
        $crate::keyset!(@ $query, ($column, $id), $from, desc, lt, le)
    };
    (@ $query:expr, ($column:expr, $id:expr), $from:expr, $order:ident, $beyond:ident, $from_there:ident) => {{
        let query = $query.order(($column.$order(), $id.$order()));
        match $from {
            // The bound by itself says the same once more: behind an `OR` alone SQLite reads the index from its end.
            Some((at, id)) => query
                .filter($column.$from_there(at.clone()))
                .filter($column.$beyond(at.clone()).or($column.eq(at).and($id.$beyond(id)))),
            None => query,
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::Cursor;

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let page = |cursor| PageRequest { limit: 2, cursor };
        assert_eq!(position_in_time(&page(None)), Ok(None));
        assert_eq!(surplus(&page(None)), 3);
        let here = page(Some(Cursor::after(&(5_i64, Uuid::nil()))));
        assert_eq!(position_in_time(&here), Ok(Some((At(Timestamp::from_micros(5)), Id(Uuid::nil())))));
        for foreign in [Cursor::after(&"name"), Cursor::from_text("!".to_owned())] {
            assert!(position_in_time(&page(Some(foreign))).is_err());
        }
    }
}
