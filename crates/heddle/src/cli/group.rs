//! `heddle group`.

use clap::{Args, Subcommand};

use super::Place;

/// `heddle group`.
#[derive(Debug, Subcommand)]
pub(crate) enum GroupCommand {
    /// List the groups of the organisation with the roles that they give.
    List(ListGroups),
    /// Create a group.
    Create(CreateGroup),
    /// List who is in a group.
    Members(OneGroup),
    /// Let members of the organisation come into a group, all of them or none.
    Add(GroupUsers),
    /// Let members leave a group, all of them or none.
    Remove(GroupUsers),
    /// Delete a group without members, with the roles that it gives and the grants to it.
    Delete(OneGroup),
}

/// `heddle group list`.
#[derive(Debug, Args)]
pub(crate) struct ListGroups {
    /// Only those whose name or description has this text.
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle group create`.
#[derive(Debug, Args)]
pub(crate) struct CreateGroup {
    /// Name of the group, which no other group and no role has.
    pub name: String,
    /// Purpose of the group.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Name of a role that its members have by it; may be given several times.
    #[arg(long = "role", value_name = "ROLE")]
    pub roles: Vec<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle group members` and `heddle group delete`.
#[derive(Debug, Args)]
pub(crate) struct OneGroup {
    /// The group's name or id.
    pub group: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle group add` and `heddle group remove`.
#[derive(Debug, Args)]
pub(crate) struct GroupUsers {
    /// The group's name or id.
    pub group: String,
    /// The users' e-mail addresses or ids.
    #[arg(required = true, value_name = "USER")]
    pub users: Vec<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}
