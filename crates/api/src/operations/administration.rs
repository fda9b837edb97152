//! Rows: organisations, users, members, groups, roles, grants and the audit trail.

macro_rules! administration_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            ListOrganizations Get "/api/organizations"
                Platform Administration Preview "List organisations"
                security(OrganizationList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(envelope::SearchQuery) body(-)
                output(List directory::Organization)
                success[200] errors[400 401 403 423 500 503];
            CreateOrganization Post "/api/organizations"
                Platform Administration Preview "Create an organisation"
                security(OrganizationCreate all) entitlement(-) role(-)
                audit("organization.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT directory::CreateOrganization)
                output(Data directory::Organization)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetOrganization Get "/api/organizations/{organizationId}"
                Platform Administration Preview "Read an organisation"
                security(OrganizationRead tenant "organizationId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(directory::OrganizationPath) query(NoQuery) body(-)
                output(Data directory::Organization)
                success[200] errors[400 401 403 404 423 500 503];
            UpdateOrganization Patch "/api/organizations/{organizationId}"
                Platform Administration Preview "Change an organisation"
                security(OrganizationUpdate tenant "organizationId") entitlement(-) role(-)
                audit("organization.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(directory::OrganizationPath) query(NoQuery) body(Json JSON_LIMIT directory::PatchOrganization)
                output(Data directory::Organization)
                success[200] errors[400 401 403 404 409 423 500 503];
            DeleteOrganization Delete "/api/organizations/{organizationId}"
                Platform Administration Preview "Delete an organisation"
                security(OrganizationDelete tenant "organizationId") entitlement(-) role(-)
                audit("organization.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(directory::OrganizationPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            ListUsers Get "/api/users"
                Platform Administration Preview "List users"
                security(UserList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(ending) ifmatch(no)
                path(NoPath) query(directory::UserListQuery) body(-)
                output(List directory::User)
                success[200] errors[400 401 403 423 500 503];
            CreateUser Post "/api/users"
                Platform Administration Preview "Create a user"
                security(UserCreate all) entitlement(-) role(-)
                audit("user.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT directory::CreateUser)
                output(Data directory::User)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetUser Get "/api/users/{userId}"
                Platform Administration Preview "Read a user"
                security(UserRead path "userId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(directory::UserPath) query(NoQuery) body(-)
                output(Data directory::User)
                success[200] errors[400 401 403 404 423 500 503];
            UpdateUser Patch "/api/users/{userId}"
                Platform Administration Preview "Change a user"
                security(UserUpdate path "userId") entitlement(-) role(-)
                audit("user.updated")
                idempotent(no) remediation(ending) ifmatch(yes)
                path(directory::UserPath) query(NoQuery) body(Json JSON_LIMIT directory::PatchUser)
                output(Data directory::User)
                success[200] errors[400 401 403 404 409 423 500 503];
            DeleteUser Delete "/api/users/{userId}"
                Platform Administration Preview "Delete a user"
                security(UserDelete path "userId") entitlement(-) role(-)
                audit("user.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(directory::UserPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            UnlinkUser Delete "/api/users/{userId}/providers/{provider}"
                Platform Administration Preview "Unlink a user from a provider of sign-ins"
                security(UserUpdate path "userId") entitlement(-) role(-)
                audit("user.identity_unlinked")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(directory::UserProviderPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            ListGroups Get "/api/groups"
                Platform Administration Preview "List groups"
                security(GroupList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(envelope::SearchQuery) body(-)
                output(List directory::Group)
                success[200] errors[400 401 403 423 500 503];
            CreateGroup Post "/api/groups"
                Platform Administration Preview "Create a group"
                security(GroupCreate all) entitlement(-) role(-)
                audit("group.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT directory::CreateGroup)
                output(Data directory::Group)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetGroup Get "/api/groups/{groupId}"
                Platform Administration Preview "Read a group"
                security(GroupRead path "groupId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(directory::GroupPath) query(NoQuery) body(-)
                output(Data directory::Group)
                success[200] errors[400 401 403 404 423 500 503];
            UpdateGroup Patch "/api/groups/{groupId}"
                Platform Administration Preview "Change a group, its roles and who is in it"
                security(GroupUpdate path "groupId") entitlement(-) role(-)
                audit("group.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(directory::GroupPath) query(NoQuery) body(Json JSON_LIMIT directory::PatchGroup)
                output(Data directory::Group)
                success[200] errors[400 401 403 404 409 423 500 503];
            DeleteGroup Delete "/api/groups/{groupId}"
                Platform Administration Preview "Delete a group without members"
                security(GroupDelete path "groupId") entitlement(-) role(-)
                audit("group.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(directory::GroupPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            ListRoles Get "/api/roles"
                Platform Administration Preview "List roles"
                security(RoleList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(envelope::SearchQuery) body(-)
                output(List access::Role)
                success[200] errors[400 401 403 423 500 503];
            CreateRole Post "/api/roles"
                Platform Administration Preview "Create a role"
                security(RoleCreate all) entitlement(-) role(-)
                audit("role.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT access::CreateRole)
                output(Data access::Role)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetRole Get "/api/roles/{roleId}"
                Platform Administration Preview "Read a role"
                security(RoleRead path "roleId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(access::RolePath) query(NoQuery) body(-)
                output(Data access::Role)
                success[200] errors[400 401 403 404 423 500 503];
            UpdateRole Patch "/api/roles/{roleId}"
                Platform Administration Preview "Change a role"
                security(RoleUpdate path "roleId") entitlement(-) role(-)
                audit("role.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(access::RolePath) query(NoQuery) body(Json JSON_LIMIT access::PatchRole)
                output(Data access::Role)
                success[200] errors[400 401 403 404 409 423 500 503];
            DeleteRole Delete "/api/roles/{roleId}"
                Platform Administration Preview "Delete a role"
                security(RoleDelete path "roleId") entitlement(-) role(-)
                audit("role.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(access::RolePath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            ListGrants Get "/api/grants"
                Platform Administration Preview "List grants and denies"
                security(GrantList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(access::GrantListQuery) body(-)
                output(List access::Grant)
                success[200] errors[400 401 403 423 500 503];
            CreateGrant Post "/api/grants"
                Platform Administration Preview "Create a grant or a deny"
                security(GrantCreate all) entitlement(-) role(-)
                audit("grant.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT access::CreateGrant)
                output(Data access::Grant)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetGrant Get "/api/grants/{grantId}"
                Platform Administration Preview "Read a grant or a deny"
                security(GrantRead path "grantId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(access::GrantPath) query(NoQuery) body(-)
                output(Data access::Grant)
                success[200] errors[400 401 403 404 423 500 503];
            DeleteGrant Delete "/api/grants/{grantId}"
                Platform Administration Preview "Delete a grant or a deny"
                security(GrantDelete path "grantId") entitlement(-) role(-)
                audit("grant.deleted")
                idempotent(yes) remediation(no) ifmatch(no)
                path(access::GrantPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            ListMembers Get "/api/members"
                Platform Administration Preview "List the members of the selected organisation"
                security(MemberList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(directory::MemberListQuery) body(-)
                output(List directory::Member)
                success[200] errors[400 401 403 423 500 503];
            SetMember Put "/api/members/{userId}"
                Platform Administration Preview "Set the roles and groups of a member, and their ends"
                security(MemberUpdate path "userId") entitlement(-) role(-)
                audit("member.set")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(directory::UserPath) query(NoQuery) body(Json JSON_LIMIT directory::SetMember)
                output(Data directory::Member)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            RemoveMember Delete "/api/members/{userId}"
                Platform Administration Preview "Remove a member"
                security(MemberDelete path "userId") entitlement(-) role(-)
                audit("member.removed")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(directory::UserPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            ListAuditEvents Get "/api/audit-events"
                Platform Audit Preview "List audit events, newest first"
                security(AuditList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(audit::AuditListQuery) body(-)
                output(ListOrLines audit::AuditEvent)
                success[200] errors[400 401 403 423 500 503];
            VerifyAuditEvents Get "/api/audit-events/verify"
                Platform Audit Preview "Verify the chain of the audit trail, part by part"
                security(AuditList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(audit::AuditVerifyQuery) body(-)
                output(Data audit::AuditVerification)
                success[200] errors[400 401 403 423 500 503];
            ListInstallationAuditEvents Get "/api/installation/audit-events"
                Platform Audit Preview "List the audit events that belong to no organisation, newest first"
                security(InstallationAuditList list) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(audit::AuditListQuery) body(-)
                output(ListOrLines audit::AuditEvent)
                success[200] errors[400 401 402 403 423 500 503];
        }
    };
}
