//! Questions about rights: in the service's own form, and in that of AuthZEN 1.0. One use case answers both.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_api::wire::authorization as shapes;
use heddle_api::{ApiError, Detail};
use heddle_identity::authorization::{
    AccessAnswer, AccessQuestion, AccessQuestions, AskedPlace, AskedThing, Rights, RightsQuestion, Semantic,
    Subject,
};
use heddle_kernel::Cursor;
use heddle_policy::{
    DeniedPlace, DeterminingRule, Effect, Explained, ListedAction, Ownership, Scope, Source,
};

use crate::call::{Call, PublicCall};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// The most ids of a page when the caller names no number, and the most at all.
const MOST: u32 = 1_000;
/// The longest host, with its port, that is given back.
const LONGEST_HOST: usize = 255;

/// POST /api/authorization/check-access
pub(crate) async fn check(call: Call<ops::CheckAccess>) -> HandlerResult {
    let body = call.body;
    let explain = body.explain.unwrap_or(false);
    let defaults = Parts {
        subject: body.subject.map(subject),
        permissions: body.permissions,
        action: body.action.map(shapes::AskedAction::name),
        thing: body.resource.map(thing),
    };
    let mut asked = Asked::default();
    let is_batch = body.evaluations.is_some();
    if !is_batch && body.options.is_some() {
        let message = "Options are those of a batch: `evaluations` is needed beside them.";
        return Err(Failure::at("options", "contradiction", message));
    }
    match body.evaluations {
        None => asked.add(defaults, String::new()),
        Some(items) => {
            for (at, item) in items.into_iter().enumerate() {
                let own = Parts {
                    subject: item.subject.map(subject),
                    permissions: item.permissions,
                    action: item.action.map(shapes::AskedAction::name),
                    thing: item.resource.map(thing),
                };
                asked.add(own.or(&defaults), format!("evaluations[{at}]."));
            }
        }
    }
    let questions = asked.questions(semantic(body.options), explain)?;
    let answers = call.app.identity.check_access(&call.authorized, &call.context, &questions).await?;
    Response::data(200, checked(answers, is_batch)?)
}

/// POST /api/authorization/effective-access
pub(crate) async fn effective(call: Call<ops::GetEffectiveAccess>) -> HandlerResult {
    let body = call.body;
    let (limit, explain) = (body.limit.unwrap_or(MOST), body.explain.unwrap_or(false));
    let question = RightsQuestion {
        subject: body.subject.map(subject),
        types: body.resource_types,
        thing: body.resource.map(thing),
        most: limit as usize,
        cursor: body.cursor.map(Cursor::from_text),
    };
    let rights = call.app.identity.effective_access(&call.authorized, &call.context, &question).await?;
    Response::data(200, effective_access(rights, limit, explain))
}

/// GET /.well-known/authzen-configuration
pub(crate) async fn configuration(call: PublicCall<ops::GetAuthzenConfiguration>) -> HandlerResult {
    let config = &call.app.config;
    // Proxies that are trusted stand between callers and a server that speaks plain HTTP itself.
    let is_secure = config.speaks_tls() || !config.trusted_proxies.is_empty();
    let scheme = if is_secure { "https" } else { "http" };
    let host = call.meta.host.filter(|host| is_host(host)).unwrap_or_else(|| config.listen.to_string());
    let base = format!("{scheme}://{host}");
    let answer = shapes::AuthzenConfiguration {
        access_evaluation_endpoint: format!("{base}/access/v1/evaluation"),
        access_evaluations_endpoint: format!("{base}/access/v1/evaluations"),
        policy_decision_point: base,
    };
    Response::json(200, &answer)
}

/// POST /access/v1/evaluation
pub(crate) async fn evaluate(call: Call<ops::EvaluateAccess>) -> HandlerResult {
    let body = call.body;
    let mut asked = Asked::default();
    let parts = Parts {
        subject: Some(authzen_subject(body.subject)),
        permissions: None,
        action: Some(body.action.name),
        thing: Some(asked.authzen_thing(body.resource, "")),
    };
    asked.add(parts, String::new());
    let questions = asked.questions(Semantic::All, false)?;
    let answers = call.app.identity.check_access(&call.authorized, &call.context, &questions).await?;
    Response::json(200, &checked(answers, false)?)
}

/// POST /access/v1/evaluations
pub(crate) async fn evaluate_all(call: Call<ops::EvaluateAccesses>) -> HandlerResult {
    let body = call.body;
    let mut asked = Asked::default();
    let defaults = Parts {
        subject: body.subject.map(authzen_subject),
        permissions: None,
        action: body.action.map(|action| action.name),
        thing: body.resource.map(|resource| asked.authzen_thing(resource, "")),
    };
    let items = body.evaluations.unwrap_or_default();
    let is_batch = !items.is_empty();
    for (at, item) in items.into_iter().enumerate() {
        let place = format!("evaluations[{at}].");
        let own = Parts {
            subject: item.subject.map(authzen_subject),
            permissions: None,
            action: item.action.map(|action| action.name),
            thing: item.resource.map(|resource| asked.authzen_thing(resource, &place)),
        };
        asked.add_of_somebody(own.or(&defaults), place);
    }
    // A request without questions is one itself (AuthZEN 1.0, Access Evaluations Request).
    if !is_batch {
        asked.add_of_somebody(defaults, String::new());
    }
    let questions = asked.questions(semantic(body.options), false)?;
    let answers = call.app.identity.check_access(&call.authorized, &call.context, &questions).await?;
    Response::json(200, &checked(answers, is_batch)?)
}

/// Parts of a question, of which those that a question of a batch lacks are the batch's.
struct Parts {
    subject: Option<Subject>,
    permissions: Option<Vec<String>>,
    action: Option<String>,
    thing: Option<AskedThing>,
}

impl Parts {
    fn or(self, defaults: &Self) -> Self {
        Self {
            subject: self.subject.or_else(|| defaults.subject.clone()),
            permissions: self.permissions.or_else(|| defaults.permissions.clone()),
            action: self.action.or_else(|| defaults.action.clone()),
            thing: self.thing.or_else(|| defaults.thing.clone()),
        }
    }
}

/// Questions of a request, and all that is wrong with them.
#[derive(Default)]
struct Asked {
    all: Vec<AccessQuestion>,
    wrong: Vec<Detail>,
}

impl Asked {
    /// Adds the question of all parts, which stands at this place of the request.
    fn add(&mut self, parts: Parts, place: String) {
        if parts.action.is_none() {
            self.lacks(&place, "action");
        }
        if parts.thing.is_none() {
            self.lacks(&place, "resource");
        }
        if let (Some(action), Some(thing)) = (parts.action, parts.thing) {
            let permissions = parts.permissions.unwrap_or_default();
            self.all.push(AccessQuestion { place, subject: parts.subject, permissions, action, thing });
        }
    }

    /// The same, where a question must say about whom it is.
    fn add_of_somebody(&mut self, parts: Parts, place: String) {
        if parts.subject.is_none() {
            self.lacks(&place, "subject");
        }
        self.add(parts, place);
    }

    fn lacks(&mut self, place: &str, name: &str) {
        let message = format!("The member `{name}` is required.");
        self.wrong.push(Detail::at(format!("{place}{name}"), "required", message));
    }

    /// A resource of AuthZEN, whose place stands among its attributes.
    fn authzen_thing(&mut self, resource: shapes::AuthzenResource, at: &str) -> AskedThing {
        let given = resource.properties.and_then(|mut properties| properties.remove("within"));
        let read: Result<Option<Vec<shapes::AccessPlace>>, _> = given.map(serde_json::from_value).transpose();
        let mut within = Vec::new();
        match read {
            Ok(places) => within = places.unwrap_or_default(),
            Err(error) => {
                let field = format!("{at}resource.properties.within");
                let message = format!("A list of objects with `type` and `id` is needed: {error}.");
                self.wrong.push(Detail::at(field, "wrongType", message));
            }
        }
        if within.len() > heddle_policy::resource::DEPTH {
            let field = format!("{at}resource.properties.within");
            self.wrong.push(Detail::at(field, "tooLong", "Nothing stands within so many things."));
            within.clear();
        }
        let within = within.into_iter().map(place).collect();
        AskedThing { kind: resource.r#type, id: Some(resource.id), within }
    }

    /// All of them.
    ///
    /// # Errors
    /// 400 with all that is wrong.
    fn questions(self, semantic: Semantic, explain: bool) -> Result<AccessQuestions, Failure> {
        match self.wrong.is_empty() {
            true => Ok(AccessQuestions { all: self.all, semantic, explain }),
            false => Err(ApiError::invalid(self.wrong).into()),
        }
    }
}

fn subject(subject: shapes::AccessSubject) -> Subject {
    Subject { kind: subject.r#type, id: subject.id }
}

fn authzen_subject(subject: shapes::AuthzenSubject) -> Subject {
    Subject { kind: subject.r#type, id: subject.id }
}

fn thing(resource: shapes::AskedResource) -> AskedThing {
    let within = resource.within.unwrap_or_default().into_iter().map(place).collect();
    AskedThing { kind: resource.r#type, id: resource.id, within }
}

fn place(place: shapes::AccessPlace) -> AskedPlace {
    AskedPlace { kind: place.r#type, id: place.id }
}

fn semantic(options: Option<shapes::EvaluationOptions>) -> Semantic {
    match options.and_then(|options| options.evaluations_semantic) {
        None | Some(shapes::EvaluationsSemantic::ExecuteAll) => Semantic::All,
        Some(shapes::EvaluationsSemantic::DenyOnFirstDeny) => Semantic::UntilDenied,
        Some(shapes::EvaluationsSemantic::PermitOnFirstPermit) => Semantic::UntilPermitted,
    }
}

/// Whether a text is a host, perhaps with a port, and nothing else that an address can hold.
fn is_host(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    !text.is_empty() && text.len() <= LONGEST_HOST && text.bytes().all(fits)
}

fn checked(answers: Vec<AccessAnswer>, is_batch: bool) -> Result<shapes::CheckedAccess, Failure> {
    let mut decisions = answers.into_iter().map(decision);
    if is_batch {
        return Ok(shapes::CheckedAccess::Batch(shapes::AccessDecisions {
            evaluations: decisions.collect(),
        }));
    }
    let one = decisions.next().ok_or_else(|| Failure::internal("a question without an answer"))?;
    Ok(shapes::CheckedAccess::One(Box::new(one)))
}

fn decision(answer: AccessAnswer) -> shapes::AccessDecision {
    let AccessAnswer { decision, unless_within, granted_if, steps, revision } = answer;
    shapes::AccessDecision {
        decision: decision.allowed(),
        context: shapes::DecisionContext {
            reason: decision.reason.code().to_owned(),
            permission: decision.permission.map(|name| name.as_str().to_owned()),
            via: decision.via.into_iter().map(rule).collect(),
            unless_within: unless_within.into_iter().map(told_place).collect(),
            if_own: granted_if == Some(Ownership::Own),
            if_not_own: granted_if == Some(Ownership::Other),
            steps: steps.map(|steps| steps.into_iter().map(step).collect()),
            authz_revision: revision,
        },
    }
}

fn step(step: Explained) -> shapes::DecisionStep {
    shapes::DecisionStep {
        step: step.step.as_str().to_owned(),
        passed: step.refused.is_none(),
        reason: step.refused.map(|reason| reason.code().to_owned()),
        permission: step.permission.map(|name| name.as_str().to_owned()),
        via: step.via.into_iter().map(rule).collect(),
    }
}

fn rule(rule: DeterminingRule) -> shapes::DecidingRule {
    let source_id = rule.source.id().map(str::to_owned);
    shapes::DecidingRule {
        grant_id: rule.grant_id,
        effect: match rule.effect {
            Effect::Allow => wire::access::Effect::Allow,
            Effect::Deny => wire::access::Effect::Deny,
        },
        source: match rule.source {
            Source::User => wire::access::PrincipalKind::User,
            Source::Group(_) => wire::access::PrincipalKind::Group,
            Source::Role(_) => wire::access::PrincipalKind::Role,
            Source::Everyone => wire::access::PrincipalKind::Everyone,
        },
        source_id,
    }
}

fn told_place(place: DeniedPlace) -> shapes::AccessPlace {
    shapes::AccessPlace { r#type: place.resource.as_str().to_owned(), id: place.id.to_string() }
}

fn effective_access(rights: Rights, limit: u32, explain: bool) -> shapes::EffectiveAccess {
    let snapshot = &rights.snapshot;
    let mut resources: Vec<shapes::TypeAccess> = Vec::new();
    for listed in rights.actions {
        let kind = listed.resource.as_str();
        let via = explain.then(|| snapshot.listed_by(&listed).into_iter().map(rule).collect());
        let action = shapes::ActionAccess { via, ..action_access(listed) };
        match resources.last_mut().filter(|last| last.r#type == kind) {
            Some(last) => last.actions.push(action),
            None => resources.push(shapes::TypeAccess { r#type: kind.to_owned(), actions: vec![action] }),
        }
    }
    let held = snapshot.held_permissions().into_iter();
    let taken = snapshot.taken_permissions().into_iter();
    let entitlements = rights.entitlements.iter();
    shapes::EffectiveAccess {
        subject: shapes::AccessSubject { r#type: rights.subject.kind, id: rights.subject.id },
        organization_id: snapshot.tenant().to_string(),
        authz_revision: rights.revision,
        permissions: held
            .map(|(name, via)| shapes::HeldPermission { name: name.as_str().to_owned(), via })
            .collect(),
        denied_permissions: taken.map(|name| name.as_str().to_owned()).collect(),
        resources,
        entitlements: entitlements.map(|one| (one.entitlement.as_str().to_owned(), one.included)).collect(),
        page: shapes::AccessPage { next_cursor: rights.next.map(|cursor| cursor.as_str().to_owned()), limit },
    }
}

fn action_access(listed: ListedAction) -> shapes::ActionAccess {
    let ids = |ids: Vec<heddle_policy::RuleId>| ids.iter().map(ToString::to_string).collect();
    shapes::ActionAccess {
        name: listed.action.as_str().to_owned(),
        scope: match listed.scope {
            Scope::All => shapes::AccessScope::All,
            Scope::Listed => shapes::AccessScope::Listed,
            Scope::Nothing => shapes::AccessScope::Nothing,
        },
        ids: ids(listed.ids),
        own: listed.own,
        except_ids: ids(listed.except),
        except_own: listed.except_own,
        except_within: listed.except_within.into_iter().map(told_place).collect(),
        more: listed.more,
        via: None,
    }
}

#[cfg(test)]
mod tests {
    use super::is_host;

    #[test]
    fn a_host_is_given_back_only_as_one() {
        for host in ["localhost", "127.0.0.1:8080", "[::1]:8080", "heddle.example.com"] {
            assert!(is_host(host), "{host}");
        }
        for other in ["", "a/b", "a b", "a\"b", "user@host", "a\r\nb", "ä.example", &"a".repeat(256)] {
            assert!(!is_host(other), "{other}");
        }
    }
}
