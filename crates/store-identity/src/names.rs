//! Columns of identity that name a thing, by which access filters narrow lists.

use heddle_policy::resource::{Grant, Group, Member, Organization, Role, User};
use heddle_store::does_not_name;
use heddle_store::filter::Names;

use crate::schema::{grants, groups, members, organizations, roles, users};

impl Names<Grant> for grants::id {}
impl Names<Group> for groups::id {}
impl Names<Member> for members::user_id {}
impl Names<Organization> for organizations::id {}
impl Names<Role> for roles::id {}
impl Names<User> for users::id {}

// Members and users are two kinds, although their ids are one: looked at whenever this is compiled.
const _: fn() = || {
    does_not_name!(users::id, Member);
    does_not_name!(members::user_id, User);
};
