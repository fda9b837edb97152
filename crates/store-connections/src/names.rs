//! Columns that name a thing, by which access filters narrow lists.

use heddle_policy::resource::{Connection, Hook, Webhook};
use heddle_store::does_not_name;
use heddle_store::filter::Names;

use crate::schema::{connections, hooks, webhooks};

impl Names<Connection> for connections::id {}
impl Names<Hook> for hooks::id {}
impl Names<Webhook> for webhooks::id {}

// A webhook is not its connection: looked at whenever this is compiled.
const _: fn() = || {
    does_not_name!(webhooks::connection_id, Connection);
    does_not_name!(webhooks::id, Connection);
    does_not_name!(connections::id, Webhook);
};
