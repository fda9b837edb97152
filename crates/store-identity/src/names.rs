//! Columns of identity that name a thing, by which access filters narrow lists.

use heddle_policy::resource::{Grant, Group, Member, Organization, Role, User};
use heddle_store::filter::Names;

use crate::schema::{grants, groups, members, organizations, roles, users};

impl Names<Grant> for grants::id {}
impl Names<Group> for groups::id {}
impl Names<Member> for members::user_id {}
impl Names<Organization> for organizations::id {}
impl Names<Role> for roles::id {}
impl Names<User> for users::id {}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_store::does_not_name;

    #[test]
    fn members_and_users_are_two_kinds_although_their_ids_are_one() {
        does_not_name!(users::id, Member);
        does_not_name!(members::user_id, User);
    }
}
