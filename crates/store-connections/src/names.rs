//! Columns that name a thing, by which access filters narrow lists.

use heddle_policy::resource::{Connection, Hook, Webhook};
use heddle_store::filter::Names;

use crate::schema::{connections, hooks, webhooks};

impl Names<Connection> for connections::id {}
impl Names<Hook> for hooks::id {}
impl Names<Webhook> for webhooks::id {}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_store::does_not_name;

    #[test]
    fn a_webhook_is_not_its_connection() {
        does_not_name!(webhooks::connection_id, Connection);
        does_not_name!(webhooks::id, Connection);
        does_not_name!(connections::id, Webhook);
    }
}
