//! Rows: set-up, sign-in, sessions, tokens and the licence.

macro_rules! authentication_rows {
    ($next:ident $($others:ident)* ; $($rows:tt)*) => {
        $next! { $($others)* ; $($rows)*
            SetUpInstallation Post "/api/setup"
                Platform Authentication Preview "Set the installation up with the one-time token"
                security(public) entitlement(-) role(-)
                audit("installation.set_up")
                idempotent(no) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json CREDENTIALS_LIMIT sessions::SetUp)
                output(Data sessions::SetUpResult)
                success[201] errors[400 409 500 503];
            SignIn Post "/api/auth/sign-in"
                Platform Authentication Preview "Sign in"
                security(public) entitlement(-) role(-)
                audit("session.created")
                idempotent(no) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json CREDENTIALS_LIMIT sessions::SignIn)
                output(Data sessions::SignInResult)
                success[200] errors[400 401 429 500 503];
            StartOidcSignIn Get "/api/auth/oidc/{provider}/start"
                Platform Authentication Preview "Begin a sign-in by a provider (OpenID Connect)"
                security(public) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(sessions::ProviderPath) query(sessions::StartOidcQuery) body(-)
                output(-)
                success[302] errors[400 404 500 503];
            FinishOidcSignIn Get "/api/auth/oidc/{provider}/callback"
                Platform Authentication Preview "Finish a sign-in by a provider, which leads the browser here"
                security(public) entitlement(-) role(-)
                audit("session.created")
                idempotent(no) remediation(yes) ifmatch(no)
                path(sessions::ProviderPath) query(sessions::FinishOidcQuery) body(-)
                output(-)
                success[302] errors[400 401 404 500 503];
            SignOut Post "/api/auth/sign-out"
                Platform Authentication Preview "End the own session"
                security(session) entitlement(-) role(-)
                audit("session.ended")
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[401 403 500 503];
            GetSession Get "/api/auth/session"
                Platform Authentication Preview "Who is signed in, where, with which rights"
                security(session) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data sessions::SessionView)
                success[200] errors[401 500 503];
            ListSessions Get "/api/auth/sessions"
                Platform Authentication Preview "List the own sessions"
                security(session) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(List sessions::Session)
                success[200] errors[401 500 503];
            EndSession Delete "/api/auth/sessions/{sessionId}"
                Platform Authentication Preview "End a session"
                security(session Session End "sessionId") entitlement(-) role(-)
                audit("session.ended")
                idempotent(yes) remediation(yes) ifmatch(no)
                path(sessions::SessionPath) query(NoQuery) body(-)
                output(-)
                success[204] errors[401 403 404 500 503];
            ChangePassword Put "/api/auth/password"
                Platform Authentication Preview "Change the own password"
                security(session) entitlement(-) role(-)
                audit("user.password_changed")
                idempotent(no) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json CREDENTIALS_LIMIT sessions::ChangePassword)
                output(-)
                success[204] errors[400 401 403 409 500 503];
            ListApiTokens Get "/api/auth/tokens"
                Platform Authentication Preview "List the own API tokens, or those of a service account"
                security(session) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(ending) ifmatch(no)
                path(NoPath) query(sessions::TokenListQuery) body(-)
                output(List sessions::ApiToken)
                success[200] errors[400 401 403 423 500 503];
            CreateApiToken Post "/api/auth/tokens"
                Platform Authentication Preview "Create an API token; its secret is shown once"
                security(session) entitlement(-) role(-)
                audit("api_token.created")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json JSON_LIMIT sessions::CreateApiToken)
                output(Data sessions::CreatedApiToken)
                success[201] errors[400 401 403 409 423 500 503];
            DeleteApiToken Delete "/api/auth/tokens/{tokenId}"
                Platform Authentication Preview "Delete an API token"
                security(session ApiToken Delete "tokenId") entitlement(-) role(-)
                audit("api_token.deleted")
                idempotent(yes) remediation(ending) ifmatch(no)
                path(sessions::TokenPath) query(sessions::TokenQuery) body(-)
                output(-)
                success[204] errors[400 401 403 404 423 500 503];
            EnrolTotp Post "/api/auth/totp"
                Platform Authentication Preview "Enrol a second factor: the secret first, then with its code the recovery codes"
                security(session) entitlement(-) role(-)
                audit("user.totp_enrolled")
                idempotent(no) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json CREDENTIALS_LIMIT sessions::EnrolTotp)
                output(Data sessions::TotpEnrolment)
                success[200] errors[400 401 403 409 423 500 503];
            RemoveTotp Delete "/api/auth/totp"
                Platform Authentication Preview "Remove the own second factor, with a code or the password"
                security(session) entitlement(-) role(-)
                audit("user.totp_removed")
                idempotent(yes) remediation(no) ifmatch(no)
                path(NoPath) query(NoQuery) body(Json CREDENTIALS_LIMIT sessions::RemoveTotp)
                output(-)
                success[204] errors[400 401 403 404 423 500 503];
            GetLicence Get "/api/licence"
                Platform Licence Preview "The licence and its state"
                security(LicenceRead all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data licence::Licence)
                success[200] errors[401 403 500 503];
            InstallLicence Put "/api/licence"
                Platform Licence Preview "Install a licence"
                security(LicenceInstall all) entitlement(-) role(-)
                audit("licence.installed")
                idempotent(yes) remediation(yes) ifmatch(yes)
                path(NoPath) query(NoQuery) body(JsonOrText JSON_LIMIT licence::InstallLicence)
                output(Data licence::Licence)
                success[200] errors[400 401 403 409 500 503];
            ValidateLicence Post "/api/licence/validate"
                Platform Licence Preview "What installing a licence would do"
                security(LicenceInspect all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(JsonOrText JSON_LIMIT licence::InstallLicence)
                output(Data licence::LicenceValidation)
                success[200] errors[400 401 403 500 503];
            GetLicenceRequest Get "/api/licence/request"
                Platform Licence Preview "What the vendor needs to issue a licence"
                security(LicenceInspect all) entitlement(-) role(-)
                audit(-)
                idempotent(yes) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data licence::LicenceRequest)
                success[200] errors[401 403 500 503];
            StartTrial Post "/api/licence/trial"
                Platform Licence Preview "Start the trial"
                security(LicenceInstall all) entitlement(-) role(-)
                audit("licence.trial_started")
                idempotent(no) remediation(yes) ifmatch(no)
                path(NoPath) query(NoQuery) body(-)
                output(Data licence::Licence)
                success[201] errors[401 403 409 500 503];
        }
    };
}
