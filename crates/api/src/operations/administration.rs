//! Rows: organisations, users, members, roles, grants and the audit trail.

macro_rules! administration_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            GetapiOrganizations "getapiOrganizations" Get "/api/organizations"
                Platform Administration Preview "List organisations"
                security(OrganizationList all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(SearchQuery) body(-)
                output(List Organization)
                success[200] errors[400 401 403 423 500 503];
            PostapiOrganizations "postapiOrganizations" Post "/api/organizations"
                Platform Administration Preview "Create an organisation"
                security(OrganizationCreate all) entitlement(-) role(-)
                audit("organization.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT CreateOrganization)
                output(Data Organization)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetapiOrganizationsOrganizationId "getapiOrganizationsOrganizationId" Get "/api/organizations/{organizationId}"
                Platform Administration Preview "Read an organisation"
                security(OrganizationRead path "organizationId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(OrganizationPath) query(NoQuery) body(-)
                output(Data Organization)
                success[200] errors[400 401 403 404 423 500 503];
            PatchapiOrganizationsOrganizationId "patchapiOrganizationsOrganizationId" Patch "/api/organizations/{organizationId}"
                Platform Administration Preview "Change an organisation"
                security(OrganizationUpdate path "organizationId") entitlement(-) role(-)
                audit("organization.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(OrganizationPath) query(NoQuery) body(Json JSON_LIMIT PatchOrganization)
                output(Data Organization)
                success[200] errors[400 401 403 404 409 423 500 503];
            DeleteapiOrganizationsOrganizationId "deleteapiOrganizationsOrganizationId" Delete "/api/organizations/{organizationId}"
                Platform Administration Preview "Delete an organisation"
                security(OrganizationDelete path "organizationId") entitlement(-) role(-)
                audit("organization.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(OrganizationPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            GetapiUsers "getapiUsers" Get "/api/users"
                Platform Administration Preview "List users"
                security(UserList all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(UserListQuery) body(-)
                output(List User)
                success[200] errors[400 401 403 423 500 503];
            PostapiUsers "postapiUsers" Post "/api/users"
                Platform Administration Preview "Create a user"
                security(UserCreate all) entitlement(-) role(-)
                audit("user.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT CreateUser)
                output(Data User)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetapiUsersUserId "getapiUsersUserId" Get "/api/users/{userId}"
                Platform Administration Preview "Read a user"
                security(UserRead path "userId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(UserPath) query(NoQuery) body(-)
                output(Data User)
                success[200] errors[400 401 403 404 423 500 503];
            PatchapiUsersUserId "patchapiUsersUserId" Patch "/api/users/{userId}"
                Platform Administration Preview "Change a user"
                security(UserUpdate path "userId") entitlement(-) role(-)
                audit("user.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(UserPath) query(NoQuery) body(Json JSON_LIMIT PatchUser)
                output(Data User)
                success[200] errors[400 401 403 404 409 423 500 503];
            DeleteapiUsersUserId "deleteapiUsersUserId" Delete "/api/users/{userId}"
                Platform Administration Preview "Delete a user"
                security(UserDelete path "userId") entitlement(-) role(-)
                audit("user.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(UserPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            GetapiRoles "getapiRoles" Get "/api/roles"
                Platform Administration Preview "List roles"
                security(RoleList all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(SearchQuery) body(-)
                output(List Role)
                success[200] errors[400 401 403 423 500 503];
            PostapiRoles "postapiRoles" Post "/api/roles"
                Platform Administration Preview "Create a role"
                security(RoleCreate all) entitlement(-) role(-)
                audit("role.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT CreateRole)
                output(Data Role)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetapiRolesRoleId "getapiRolesRoleId" Get "/api/roles/{roleId}"
                Platform Administration Preview "Read a role"
                security(RoleRead path "roleId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(RolePath) query(NoQuery) body(-)
                output(Data Role)
                success[200] errors[400 401 403 404 423 500 503];
            PatchapiRolesRoleId "patchapiRolesRoleId" Patch "/api/roles/{roleId}"
                Platform Administration Preview "Change a role"
                security(RoleUpdate path "roleId") entitlement(-) role(-)
                audit("role.updated")
                idempotent(no) remediation(no) ifmatch(yes)
                path(RolePath) query(NoQuery) body(Json JSON_LIMIT PatchRole)
                output(Data Role)
                success[200] errors[400 401 403 404 409 423 500 503];
            DeleteapiRolesRoleId "deleteapiRolesRoleId" Delete "/api/roles/{roleId}"
                Platform Administration Preview "Delete a role"
                security(RoleDelete path "roleId") entitlement(-) role(-)
                audit("role.deleted")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(RolePath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            GetapiGrants "getapiGrants" Get "/api/grants"
                Platform Administration Preview "List grants and denies"
                security(GrantList all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(GrantListQuery) body(-)
                output(List Grant)
                success[200] errors[400 401 403 423 500 503];
            PostapiGrants "postapiGrants" Post "/api/grants"
                Platform Administration Preview "Create a grant or a deny"
                security(GrantCreate all) entitlement(-) role(-)
                audit("grant.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT CreateGrant)
                output(Data Grant)
                success[201] errors[400 401 402 403 409 423 500 503];
            GetapiGrantsGrantId "getapiGrantsGrantId" Get "/api/grants/{grantId}"
                Platform Administration Preview "Read a grant or a deny"
                security(GrantRead path "grantId") entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(GrantPath) query(NoQuery) body(-)
                output(Data Grant)
                success[200] errors[400 401 403 404 423 500 503];
            DeleteapiGrantsGrantId "deleteapiGrantsGrantId" Delete "/api/grants/{grantId}"
                Platform Administration Preview "Delete a grant or a deny"
                security(GrantDelete path "grantId") entitlement(-) role(-)
                audit("grant.deleted")
                idempotent(yes) remediation(no) ifmatch(no)
                path(GrantPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            GetapiMembers "getapiMembers" Get "/api/members"
                Platform Administration Preview "List the members of the selected organisation"
                security(MemberList all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(SearchQuery) body(-)
                output(List Member)
                success[200] errors[400 401 403 423 500 503];
            PutapiMembersUserId "putapiMembersUserId" Put "/api/members/{userId}"
                Platform Administration Preview "Set the roles of a member"
                security(MemberUpdate path "userId") entitlement(-) role(-)
                audit("member.set")
                idempotent(yes) remediation(no) ifmatch(no)
                path(UserPath) query(NoQuery) body(Json JSON_LIMIT SetMember)
                output(Data Member)
                success[200] errors[400 401 402 403 404 409 423 500 503];
            DeleteapiMembersUserId "deleteapiMembersUserId" Delete "/api/members/{userId}"
                Platform Administration Preview "Remove a member"
                security(MemberDelete path "userId") entitlement(-) role(-)
                audit("member.removed")
                idempotent(yes) remediation(no) ifmatch(yes)
                path(UserPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 409 423 500 503];
            GetapiAuditEvents "getapiAuditEvents" Get "/api/audit-events"
                Platform Audit Preview "List audit events, newest first"
                security(AuditList all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(AuditListQuery) body(-)
                output(ListOrLines AuditEvent)
                success[200] errors[400 401 403 423 500 503];
        }
    };
}
