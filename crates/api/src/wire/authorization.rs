//! Questions about rights, and their answers: in the service's own form, and in that of AuthZEN 1.0.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::{Effect, PrincipalKind};
use super::envelope::JsonObject;
use crate::contract::json_bodies;

words! {
    /// Order in which a batch is carried out.
    enum EvaluationsSemantic {
        /// Every question is answered.
        ExecuteAll = "execute_all",
        /// The first denial ends it.
        DenyOnFirstDeny = "deny_on_first_deny",
        /// The first permission ends it.
        PermitOnFirstPermit = "permit_on_first_permit",
    }

    /// Reach of an action.
    enum AccessScope {
        /// Everything of the type, but for what is excepted.
        All = "all",
        /// The things of `ids` and, with `own`, the subject's own, but for what is excepted.
        Listed = "listed",
        /// Nothing, for denies take away all that is allowed.
        Nothing = "none",
    }
}

/// A thing within which others stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AccessPlace {
    /// The type, such as `workflow` for a run.
    #[schema(min_length = 1, max_length = 100)]
    pub r#type: String,
    /// The id; in an answer `*` stands for all of the type.
    #[schema(min_length = 1, max_length = 200)]
    pub id: String,
}

/// Somebody whose rights are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AccessSubject {
    /// `user`, which means every account, or `service-account`.
    #[schema(min_length = 1, max_length = 100)]
    pub r#type: String,
    /// The id.
    #[schema(min_length = 1, max_length = 200)]
    pub id: String,
}

/// An action: its name, or an object with it.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum AskedAction {
    /// The name.
    Name(String),
    /// An object with the name.
    Object(NamedAction),
}

impl AskedAction {
    /// The name.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Name(name) | Self::Object(NamedAction { name }) => name,
        }
    }
}

request! {
    /// An action with its name.
    struct NamedAction {
        /// The name, such as `read`.
        #[schema(min_length = 1, max_length = 100)]
        name: String,
    }

    /// Context of a question: nothing, for no rule has conditions.
    struct NoContext {
    }

    /// A thing, or all of a type.
    struct AskedResource {
        /// The type, such as `workflow`.
        #[schema(min_length = 1, max_length = 100)]
        r#type: String,
        /// The id; all of the type when it is `*` or absent.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        id: Option<String>,
        /// Things within which it stands, such as the workflow of a run. It is not looked up: where it is not
        /// said, a deny on anything within which it may stand counts, and `unlessWithin` tells of such denies.
        #[schema(nullable = false, max_items = 2)]
        within: Option<Vec<AccessPlace>>,
    }

    /// Options of a batch.
    struct EvaluationOptions {
        /// Order in which it is carried out; `execute_all` when absent.
        #[serde(rename = "evaluations_semantic")]
        #[schema(nullable = false)]
        evaluations_semantic: Option<EvaluationsSemantic>,
    }

    /// One question of a batch; a member that is absent is that of the request.
    struct AskedEvaluation {
        /// Somebody else than the caller.
        #[schema(nullable = false)]
        subject: Option<AccessSubject>,
        /// Permissions of which one is needed.
        #[schema(nullable = false, min_items = 1, max_items = 50)]
        permissions: Option<Vec<String>>,
        /// Action on the thing.
        #[schema(nullable = false)]
        action: Option<AskedAction>,
        /// The thing.
        #[schema(nullable = false)]
        resource: Option<AskedResource>,
        /// Context, which is empty.
        #[schema(nullable = false)]
        context: Option<NoContext>,
    }

    /// A question about rights: `action` and `resource`; or a batch of them, to which the other members are defaults.
    #[schema(examples(json!({"permissions": ["workflows.manage"], "action": {"name": "delete"},
        "resource": {"type": "workflow", "id": "01890a5d-ac96-774b-bcce-b302099a8057"}, "explain": true})))]
    struct CheckAccess {
        /// Somebody else than the caller, for who has `authorization.inspect`.
        #[schema(nullable = false)]
        subject: Option<AccessSubject>,
        /// Permissions of which one is needed. Without them only the action on the thing is asked for, and an operation
        /// that needs a permission as well may be refused nevertheless.
        #[schema(nullable = false, min_items = 1, max_items = 50)]
        permissions: Option<Vec<String>>,
        /// Action on the thing.
        #[schema(nullable = false)]
        action: Option<AskedAction>,
        /// The thing.
        #[schema(nullable = false)]
        resource: Option<AskedResource>,
        /// Context, which is empty.
        #[schema(nullable = false)]
        context: Option<NoContext>,
        /// Questions of a batch.
        #[schema(nullable = false, min_items = 1, max_items = 100)]
        evaluations: Option<Vec<AskedEvaluation>>,
        /// Options of a batch.
        #[schema(nullable = false)]
        options: Option<EvaluationOptions>,
        /// Whether to tell every step of the decision.
        #[schema(nullable = false)]
        explain: Option<bool>,
    }

    /// A question about all rights.
    #[schema(examples(json!({"resourceTypes": ["workflow", "run"], "limit": 200})))]
    struct GetEffectiveAccess {
        /// Somebody else than the caller, for who has `authorization.inspect`.
        #[schema(nullable = false)]
        subject: Option<AccessSubject>,
        /// Types of things; all when absent.
        #[schema(nullable = false, min_items = 1, max_items = 50)]
        resource_types: Option<Vec<String>>,
        /// One thing, instead of types.
        #[schema(nullable = false)]
        resource: Option<AskedResource>,
        /// Whether to tell through whom each action is given or taken.
        #[schema(nullable = false)]
        explain: Option<bool>,
        /// The most ids of a page: of things that are allowed or excepted.
        #[schema(nullable = false, minimum = 1, maximum = 1000, default = 1000)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(nullable = false, min_length = 1, max_length = 1024)]
        cursor: Option<String>,
    }

    /// A subject as AuthZEN names it.
    struct AuthzenSubject {
        /// `user`, which means every account, or `service-account`.
        #[schema(min_length = 1, max_length = 100)]
        r#type: String,
        /// The id.
        #[schema(min_length = 1, max_length = 200)]
        id: String,
        /// Attributes; no rule looks at them.
        #[schema(value_type = Object, nullable = false, required = false)]
        properties: Option<JsonObject>,
    }

    /// An action as AuthZEN names it.
    struct AuthzenAction {
        /// The name, such as `read`.
        #[schema(min_length = 1, max_length = 100)]
        name: String,
        /// Attributes; no rule looks at them.
        #[schema(value_type = Object, nullable = false, required = false)]
        properties: Option<JsonObject>,
    }

    /// A resource as AuthZEN names it.
    struct AuthzenResource {
        /// The type, such as `workflow`.
        #[schema(min_length = 1, max_length = 100)]
        r#type: String,
        /// The id; all of the type when it is `*`.
        #[schema(min_length = 1, max_length = 200)]
        id: String,
        /// Attributes, of which one counts: `within`, a list of `{type, id}` of what it stands within.
        #[schema(value_type = Object, nullable = false, required = false)]
        properties: Option<JsonObject>,
    }

    /// A question of AuthZEN 1.0.
    #[schema(examples(json!({"subject": {"type": "user", "id": "01890a5d-ac96-774b-bcce-b302099a8057"},
        "action": {"name": "read"}, "resource": {"type": "workflow", "id": "01890a5d-ac96-774b-bcce-b302099a8058"}})))]
    struct AuthzenEvaluation {
        /// Somebody whose rights are asked for.
        subject: AuthzenSubject,
        /// Action on the resource.
        action: AuthzenAction,
        /// The resource.
        resource: AuthzenResource,
        /// Attributes of the surroundings; no rule looks at them.
        #[schema(value_type = Object, nullable = false, required = false)]
        context: Option<JsonObject>,
    }

    /// One question of a batch of AuthZEN 1.0; a member that is absent is that of the request.
    struct AuthzenItem {
        /// Somebody whose rights are asked for.
        #[schema(nullable = false)]
        subject: Option<AuthzenSubject>,
        /// Action on the resource.
        #[schema(nullable = false)]
        action: Option<AuthzenAction>,
        /// The resource.
        #[schema(nullable = false)]
        resource: Option<AuthzenResource>,
        /// Attributes of the surroundings; no rule looks at them.
        #[schema(value_type = Object, nullable = false, required = false)]
        context: Option<JsonObject>,
    }

    /// A batch of AuthZEN 1.0: its members are defaults of its questions; without questions it is one itself.
    #[schema(examples(json!({"subject": {"type": "user", "id": "01890a5d-ac96-774b-bcce-b302099a8057"},
        "action": {"name": "read"},
        "evaluations": [{"resource": {"type": "workflow", "id": "01890a5d-ac96-774b-bcce-b302099a8058"}}]})))]
    struct AuthzenEvaluations {
        /// Somebody whose rights are asked for.
        #[schema(nullable = false)]
        subject: Option<AuthzenSubject>,
        /// Action on the resource.
        #[schema(nullable = false)]
        action: Option<AuthzenAction>,
        /// The resource.
        #[schema(nullable = false)]
        resource: Option<AuthzenResource>,
        /// Attributes of the surroundings; no rule looks at them.
        #[schema(value_type = Object, nullable = false, required = false)]
        context: Option<JsonObject>,
        /// The questions.
        #[schema(nullable = false, max_items = 100)]
        evaluations: Option<Vec<AuthzenItem>>,
        /// Options.
        #[schema(nullable = false)]
        options: Option<EvaluationOptions>,
    }
}

response! {
    /// A rule on which a decision rests.
    struct DecidingRule {
        /// Id of the grant or deny; absent for a rule of a role.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        grant_id: Option<String>,
        /// Allowed or denied.
        effect: Effect,
        /// Through whom it applies.
        source: PrincipalKind,
        /// Id of the role or group; absent for others.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        source_id: Option<String>,
    }

    /// A step of a decision.
    struct DecisionStep {
        /// The step: `accountInUse`, `member`, `registered`, `notDenied`, `permission`, `resourceAction` or, where a rule asks
        /// whose the thing is, `ownership`, which refuses where the decision hangs on that.
        step: String,
        /// Whether it passes.
        passed: bool,
        /// Reason for which it does not.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        reason: Option<String>,
        /// Permission that is held.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        permission: Option<String>,
        /// Rules that counted, at most 100.
        via: Vec<DecidingRule>,
    }

    /// Reasons of a decision.
    struct DecisionContext {
        /// `GRANTED`, `PRINCIPAL_INACTIVE`, `NOT_A_MEMBER`, `UNKNOWN_RESOURCE_TYPE`, `UNKNOWN_ACTION`, `EXPLICIT_DENY`,
        /// `PERMISSION_MISSING` or `RESOURCE_ACTION_NOT_GRANTED`.
        reason: String,
        /// Permission that counted.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        permission: Option<String>,
        /// Rules that counted, at most 100.
        via: Vec<DecidingRule>,
        /// Things within which a deny takes it away, at most 100; there when the question does not say where the thing
        /// stands. One thing is denied then, and allowed nevertheless if it stands within none of them (and, where `ifOwn` or
        /// `ifNotOwn` is true, if that holds as well); all of a type is allowed, but for what stands within them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        unless_within: Vec<AccessPlace>,
        /// Allowed nevertheless if the thing is the subject's own, which nobody looked up.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        if_own: bool,
        /// Allowed nevertheless if the thing is not the subject's own, which nobody looked up.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        if_not_own: bool,
        /// Every step of the decision, when they are asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        steps: Option<Vec<DecisionStep>>,
        /// State of the organisation's rights that was looked at; it grows with every change of them.
        authz_revision: i64,
    }

    /// A decision.
    struct AccessDecision {
        /// Whether it is allowed.
        decision: bool,
        /// Reasons.
        context: DecisionContext,
    }

    /// Decisions of a batch, in its order.
    struct AccessDecisions {
        /// The decisions; fewer than there were questions when one of them ended it.
        evaluations: Vec<AccessDecision>,
    }

    /// A permission that is held.
    struct HeldPermission {
        /// Name of the permission.
        name: String,
        /// Ids of the roles that give it.
        via: Vec<String>,
    }

    /// Reach of an action.
    struct ActionAccess {
        /// The action.
        name: String,
        /// Reach of it.
        scope: AccessScope,
        /// Things that it reaches, when they are listed; those of a job are types of jobs, or ids of what it stands within.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        ids: Vec<String>,
        /// Reach over what is the subject's own, beside `ids`.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        own: bool,
        /// Things that it does not reach.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        except_ids: Vec<String>,
        /// Exception of what is the subject's own.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        except_own: bool,
        /// Things within which it reaches nothing.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        except_within: Vec<AccessPlace>,
        /// Whether the next page goes on with this action; until then it is not told whole.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        more: bool,
        /// Those through whom it is given or taken, when they are asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        via: Option<Vec<DecidingRule>>,
    }

    /// Actions on things of a type.
    struct TypeAccess {
        /// The type.
        r#type: String,
        /// Actions that reach something, or would but for denies; all others reach nothing.
        actions: Vec<ActionAccess>,
    }

    /// Position of a page of rights.
    struct AccessPage {
        /// The `cursor` of the next page; null at the end.
        #[schema(required = true)]
        next_cursor: Option<String>,
        /// The most ids of a page.
        #[schema(minimum = 1, maximum = 1000)]
        limit: u32,
    }

    /// All rights of somebody in the organisation.
    struct EffectiveAccess {
        /// Somebody whose rights they are.
        subject: AccessSubject,
        /// The organisation.
        organization_id: String,
        /// State of the organisation's rights that was looked at: pages with different ones do not belong together.
        authz_revision: i64,
        /// Permissions that are held.
        permissions: Vec<HeldPermission>,
        /// Permissions that are taken.
        denied_permissions: Vec<String>,
        /// Actions on things, by type.
        resources: Vec<TypeAccess>,
        /// Parts of the service, and whether the licence includes them.
        entitlements: BTreeMap<String, bool>,
        /// Position of the page.
        page: AccessPage,
    }
}

/// A decision, or those of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum CheckedAccess {
    /// One.
    One(Box<AccessDecision>),
    /// A batch.
    Batch(AccessDecisions),
}

/// Metadata of the decision point, as AuthZEN 1.0 has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AuthzenConfiguration {
    /// Address of the service.
    pub policy_decision_point: String,
    /// Address for one question.
    pub access_evaluation_endpoint: String,
    /// Address for a batch.
    pub access_evaluations_endpoint: String,
}

json_bodies!(CheckAccess, GetEffectiveAccess, AuthzenEvaluation, AuthzenEvaluations);
